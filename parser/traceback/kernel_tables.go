package traceback

import (
	"bytes"
	"cmp"
	"slices"
)

const (
	maxTasks  = 20
	pageBytes = 4096
)

// taskTable keeps the largest rows of the report's task table, by resident size.
type taskTable struct {
	columns int // numbers after the pid in brackets and before the name; 0 before the header
	mapped  int // the column of the pages of files among the resident ones, since Linux 6.8; 0 if there is none
	rows    []KernelTask
	names   map[string]KernelGroup // of all rows, by the name
	all     int64                  // resident bytes of all rows
}

// maxNames bounds the names that a table is summed up by.
const maxNames = 512

// line reads the table's title, its header or a row:
//
//	[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name
//	[ 104858] 20417 104858  3204801   718899  9830400        0             0 python
//
// Linux 6.8 and later break rss down: rss_anon rss_file rss_shmem.
func (t *taskTable) line(body []byte) bool {
	if bytes.HasPrefix(body, []byte("Tasks state (memory values in pages)")) {
		return true
	}
	inner, rest, ok := bytes.Cut(body, []byte("]"))
	if !ok || len(body) > 512 || body[0] != '[' {
		return false
	}
	inner = bytes.TrimSpace(inner[1:])
	if string(inner) == "pid" {
		if names := bytes.Fields(rest); len(names) >= 6 && string(names[len(names)-1]) == "name" {
			*t = taskTable{columns: len(names) - 1, mapped: max(0, slices.IndexFunc(names, func(n []byte) bool { return string(n) == "rss_file" }))}
			return true
		}
		return false
	}
	pid, size := leadingInt(inner)
	if t.columns == 0 || size == 0 || size != len(inner) {
		return false
	}
	return t.row(pid, rest)
}

func (t *taskTable) row(pid int, rest []byte) bool {
	var values [12]int64
	n := 0
	for n < t.columns {
		rest = bytes.TrimLeft(rest, " ")
		negative := len(rest) > 0 && rest[0] == '-'
		if negative {
			rest = rest[1:]
		}
		v, size := leadingInt64(rest)
		if size == 0 || n == len(values) || v > 1<<50 {
			return false
		}
		if negative {
			v = -v
		}
		values[n], rest = v, rest[size:]
		n++
	}
	if n < 5 {
		return false
	}
	resident := values[3]
	if t.mapped > 3 && t.mapped < n {
		resident -= min(resident, values[t.mapped])
	}
	k := KernelTask{PID: pid, Comm: clip(bytes.TrimSpace(rest), maxComm), RSS: resident * pageBytes}
	t.keep(k)
	t.count(k)
	return true
}

// count adds a row to the sum of its name.
func (t *taskTable) count(k KernelTask) {
	t.all += k.RSS
	c, known := t.names[k.Comm]
	if !known && len(t.names) >= maxNames {
		return
	}
	if t.names == nil {
		t.names = map[string]KernelGroup{}
	}
	t.names[k.Comm] = KernelGroup{Comm: k.Comm, Count: c.Count + 1, RSS: c.RSS + k.RSS}
}

// biggest returns the processes of one name that hold most of all rows together, or none.
func (t *taskTable) biggest() KernelGroup {
	for _, c := range t.names {
		if c.Count > 1 && c.RSS > t.all/2 {
			return c
		}
	}
	return KernelGroup{}
}

// keep adds a row, replacing the smallest one if the table is full.
func (t *taskTable) keep(k KernelTask) {
	if len(t.rows) < maxTasks {
		t.rows = append(t.rows, k)
		return
	}
	least := 0
	for i := range t.rows {
		if t.rows[i].RSS < t.rows[least].RSS {
			least = i
		}
	}
	if k.RSS > t.rows[least].RSS {
		t.rows[least] = k
	}
}

// sorted returns a copy of the rows, the largest first.
func (t *taskTable) sorted() []KernelTask {
	rows := slices.Clone(t.rows)
	slices.SortStableFunc(rows, func(a, b KernelTask) int {
		return cmp.Or(cmp.Compare(b.RSS, a.RSS), cmp.Compare(a.PID, b.PID))
	})
	return rows
}

// memcgStats collects the control group's statistics. There are three forms: `anon 4096` lines (cgroup v2, and 5.x on
// v1), `rss 0` and `total_rss 4096` lines (4.19 and later on v1), and up to 4.18 a line of `rss:4KB` pairs for each
// group below the limit.
type memcgStats struct {
	values [statCount]int64
	known  [statCount]bool
}

type stat uint8

const (
	statAnon stat = iota
	statFile
	statShmem
	statRSS
	statCache
	statTotalRSS
	statTotalCache
	statTotalShmem
	statCount
)

var statNames = map[string]stat{
	"anon": statAnon, "file": statFile, "shmem": statShmem, "rss": statRSS, "cache": statCache,
	"total_rss": statTotalRSS, "total_cache": statTotalCache, "total_shmem": statTotalShmem,
}

// line reads a `name value` line. It returns false at the end of the statistics.
func (m *memcgStats) line(body []byte) bool {
	name, value, ok := bytes.Cut(body, []byte(" "))
	if !ok || !isName(name) {
		return false
	}
	n, size := leadingInt64(value)
	if size == 0 || size != len(value) {
		return false
	}
	if s, ok := statNames[string(name)]; ok {
		m.values[s], m.known[s] = n, true
	}
	return true
}

// heading reads the pairs after `Memory cgroup stats for /path:`. The values of the groups are added.
func (m *memcgStats) heading(rest []byte) {
	_, pairs, _ := bytes.Cut(rest, []byte(": "))
	for _, pair := range bytes.Fields(pairs) {
		name, value, ok := bytes.Cut(pair, []byte(":"))
		n, size := leadingInt64(value)
		if s, found := statNames[string(name)]; ok && found && size > 0 && n < 1<<50 && string(value[size:]) == "KB" {
			m.values[s] += n << 10
			m.known[s] = true
		}
	}
}

// get returns the first of the statistics that was printed.
func (m *memcgStats) get(names ...stat) int64 {
	for _, s := range names {
		if m.known[s] {
			return m.values[s]
		}
	}
	return Unknown
}

func (m *memcgStats) anon() int64  { return m.get(statAnon, statTotalRSS, statRSS) }
func (m *memcgStats) shmem() int64 { return m.get(statTotalShmem, statShmem) }

// file returns the page cache without shared memory, which cgroup v2's file and v1's cache include.
func (m *memcgStats) file() int64 {
	all, shared := m.get(statFile, statTotalCache, statCache), m.shmem()
	if all == Unknown || shared == Unknown {
		return all
	}
	return max(all-shared, 0)
}
