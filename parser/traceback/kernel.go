package traceback

import (
	"bytes"
	"cmp"
	"strconv"

	"oomscan/parser/ascii"
	"oomscan/parser/lazyre"
)

const (
	maxKernelPath  = 512
	maxComm        = 15 // TASK_COMM_LEN of the kernel, without its NUL
	maxConstraint  = 32
	maxTrigger     = 16    // bytes of the name before "invoked oom-killer", which the kernel cuts to 15
	maxKernelLines = 20000 // lines of one report: task tables can have thousands of rows
	maxPendingGap  = 16    // lines between the constraint and the kill
	maxKernelKills = 64    // kills kept until Take
)

// Unknown is the value of a byte quantity that the kernel did not print.
const Unknown int64 = -1

// KernelGroup is the rows of the report's task table that have one name and hold more than half of what all rows do.
type KernelGroup struct {
	Comm  string
	Count int
	RSS   int64 // bytes, of all of them
}

// KernelTask is a row of the report's task table, with pages of 4096 bytes as on x86-64.
type KernelTask struct {
	PID  int
	Comm string
	RSS  int64 // resident bytes, without pages of files where the table tells them apart: those do not keep memory from others
}

// KernelKill is a process that the kernel's OOM killer killed, and what the report says about the control group.
// Quantities are in bytes, [Unknown] if not printed. Texts are copies with limited length. PIDs are the host's.
type KernelKill struct {
	Line       int    // 1-based: the `Killed process` line, or the constraint line if there is none
	PID        int    // 0 if the report ends before the line with the victim
	Comm       string // at most 15 bytes, as the kernel cuts it; may be a thread's name
	TotalVM    int64
	AnonRSS    int64
	FileRSS    int64
	ShmemRSS   int64
	Constraint string // "CONSTRAINT_MEMCG"; empty before Linux 5.0
	OOMMemcg   string // the group at its limit; empty if the node ran out
	TaskMemcg  string // the victim's group
	Job        string // Slurm job id from either path
	Step       string // Slurm step id from either path: "0", "batch"
	Task       int    // the step's task, which is its rank; -1 if unknown or not a step of srun

	TriggerComm string // the process that requested memory, not the victim
	Usage       int64  // of the control group
	Limit       int64  // of the control group; [Unknown] also if it has none
	Anon        int64  // the group's anonymous memory
	File        int64  // its page cache without shared memory
	Shmem       int64  // its shared memory, including tmpfs and /dev/shm
	Tasks       []KernelTask
	Biggest     KernelGroup
}

// KernelReport assembles the kernel's OOM reports (mm/oom_kill.c, mm/memcontrol.c, Linux 3.10 to 6.18). Lines come
// without the line prefixes of dmesg or the journal; a remaining time in brackets is accepted. The zero value is
// ready to use.
type KernelReport struct {
	active  bool
	report  KernelKill // the open report without its victim
	tasks   taskTable
	stats   memcgStats
	inStats bool
	pending *KernelKill // a victim that no `Killed process` line has confirmed yet
	left    int         // lines in which that may happen
	group   bool        // the whole control group is killed: more victims share the report
	used    bool        // the report's victim is known
	lines   int
	done    []KernelKill
}

var (
	stampLead  = lazyre.New(`^(?:kernel: ?)?(?:<\d+>)?\[ *\d+\.\d+\] ?`)
	invoked    = []byte(" invoked oom-killer: ")
	constraint = []byte("oom-kill:constraint=")
	killedProc = []byte("Killed process ")
	killProc   = []byte("Kill process ")
	statsFor   = []byte("Memory cgroup stats for ")
	taskIn     = []byte("Task in ")
	asResult   = []byte(" killed as a result of limit of ")
	slurmJob   = lazyre.New(`/job_(\d{1,12})(?:/step_([\w.+]{1,32}))?(?:(?:/user)?/task_(\d{1,6}|special))?`)
)

// Feed reads a line and reports whether it belongs to an OOM report.
func (k *KernelReport) Feed(line int, text []byte) bool {
	body, _ := split(text)
	if len(body) > 2<<10 {
		body = body[:2<<10]
	}
	body = body[len(stampLead().Find(body)):]
	if k.pending != nil {
		if k.left--; k.left < 0 {
			k.emitPending()
		}
	}
	if k.active {
		if k.lines++; k.lines > maxKernelLines {
			k.reset()
		}
	}
	switch {
	case bytes.Contains(body, invoked) && bytes.Index(body, invoked) < maxTrigger:
		k.begin(line, body)
	case bytes.Contains(body, constraint):
		k.constrained(line, body)
	case isKilled(body):
		k.killed(line, body)
	case bytes.Contains(body, killProc) && bytes.Contains(body, []byte(" or sacrifice child")):
		k.announced(line, body)
	case bytes.HasPrefix(body, []byte("oom_reaper: ")):
	case bytes.Contains(body, []byte("are going to be killed due to memory.oom.group set")):
		k.group = true
	case k.active && !k.used:
		return k.inside(line, body)
	case bytes.HasPrefix(body, taskIn) && bytes.Contains(body, asResult):
		k.ensure()
		return k.inside(line, body)
	default:
		return false
	}
	return true
}

// Open reports whether the report's victim, or its confirmation, is still missing. A nil report is valid and never
// open.
func (k *KernelReport) Open() bool { return k != nil && (k.active && !k.used || k.pending != nil) }

// Held estimates how many bytes the report keeps until the next line.
func (k *KernelReport) Held() int {
	if k == nil || !k.active && k.pending == nil {
		return 0
	}
	return 4 << 10 // paths, names and twenty tasks at most
}

// Take returns the kills completed since the last call, in the order of their lines. The caller owns them.
func (k *KernelReport) Take() []KernelKill {
	d := k.done
	k.done = nil
	return d
}

// Close ends the input and returns the remaining kills.
func (k *KernelReport) Close() []KernelKill {
	if k == nil {
		return nil
	}
	k.emitPending()
	if k.active && !k.used && k.report.Line > 0 { // the line with the victim was cut off
		k.emit(newVictim(k.report.Line))
	}
	d := k.Take()
	*k = KernelReport{}
	return d
}

func (k *KernelReport) reset() {
	*k = KernelReport{done: k.done, pending: k.pending, left: k.left}
	k.report = newKill()
}

func newKill() KernelKill {
	return KernelKill{
		Task: -1, TotalVM: Unknown, AnonRSS: Unknown, FileRSS: Unknown, ShmemRSS: Unknown,
		Usage: Unknown, Limit: Unknown, Anon: Unknown, File: Unknown, Shmem: Unknown,
	}
}

// begin opens a report at `python invoked oom-killer: gfp_mask=..`.
func (k *KernelReport) begin(line int, body []byte) {
	k.emitPending()
	k.reset()
	k.active, k.report.Line = true, line
	comm, _, _ := bytes.Cut(body, invoked)
	k.report.TriggerComm = clip(bytes.TrimSpace(comm), maxComm)
}

// ensure opens a report without its beginning, or a new one if the last one's victim is known.
func (k *KernelReport) ensure() {
	if !k.active || k.used && !k.group {
		k.reset()
		k.active = true
	}
}

// constrained reads `oom-kill:constraint=..,oom_memcg=..,task_memcg=..,task=..,pid=..,uid=..` (Linux 5.0 and later).
func (k *KernelReport) constrained(line int, body []byte) {
	k.emitPending()
	k.group = false
	k.ensure()
	_, rest, _ := bytes.Cut(body, constraint)
	c, rest, _ := bytes.Cut(rest, []byte(","))
	k.report.Constraint = clip(c, maxConstraint)
	head, tail := rest, []byte(nil)
	if i := bytes.LastIndex(rest, []byte(",pid=")); i >= 0 {
		head, tail = rest[:i], rest[i+1:]
	}
	p := newVictim(line)
	// task= is any text up to ",pid=".
	if i := bytes.Index(head, []byte(",task=")); i >= 0 {
		p.Comm = clip(head[i+len(",task="):], maxComm)
		head = head[:i]
	}
	p.PID = numberAfter(tail, "pid=", 0)
	k.report.OOMMemcg = pathAfter(head, "oom_memcg=")
	k.report.TaskMemcg = pathAfter(head, "task_memcg=")
	k.waitForKill(p)
}

// announced reads `Kill process 1 (python) score 9 or sacrifice child` (up to 4.19), which the line with the actual
// victim follows.
func (k *KernelReport) announced(line int, body []byte) {
	k.emitPending()
	k.group = false
	k.ensure()
	p := newVictim(line)
	_, rest, _ := bytes.Cut(body, killProc)
	p.PID = number(rest, 0)
	if i := bytes.LastIndex(rest, []byte(") score ")); i >= 0 {
		p.Comm = between(rest[:i+1])
	}
	k.waitForKill(p)
}

// killed reads `Killed process 1 (python) total-vm:1kB, anon-rss:1kB, file-rss:1kB, shmem-rss:0kB, UID:0 ..`, and the
// older `Killed process 1 (python), UID 0, total-vm:..`.
func (k *KernelReport) killed(line int, body []byte) {
	_, rest, _ := bytes.Cut(body, killedProc)
	pid := number(rest, 0)
	if pid == 0 {
		return
	}
	if k.pending == nil {
		k.ensure()
	}
	p := newVictim(line)
	k.pending = nil // in the old form, a child may have died in its parent's place
	p.PID = pid
	name, sizes := rest, []byte(nil)
	if i := firstIndex(rest, " total-", ", UID", " anon-rss:"); i >= 0 {
		name, sizes = rest[:i], rest[i:]
	}
	p.Comm = between(name)
	p.TotalVM = kilobytes(sizes, "total-vm:")
	p.AnonRSS = kilobytes(sizes, "anon-rss:")
	p.FileRSS = kilobytes(sizes, "file-rss:")
	p.ShmemRSS = kilobytes(sizes, "shmem-rss:")
	k.emit(p)
}

// inside reads the report's other lines.
func (k *KernelReport) inside(line int, body []byte) bool {
	if k.inStats && k.stats.line(body) {
		return true
	}
	switch {
	case bytes.HasPrefix(body, []byte("memory: usage ")):
		k.report.Usage = kilobytes(body, "usage ")
		k.report.Limit = kilobytes(body, "limit ")
		if k.report.Limit >= 1<<60 { // PAGE_COUNTER_MAX: no limit
			k.report.Limit = Unknown
		}
	case bytes.HasPrefix(body, []byte("CPU: ")), bytes.HasPrefix(body, []byte("memory+swap: ")), bytes.HasPrefix(body, []byte("swap: ")), bytes.HasPrefix(body, []byte("kmem: ")):
	case bytes.HasPrefix(body, statsFor):
		k.inStats = true
		k.stats.heading(body[len(statsFor):])
	case bytes.HasPrefix(body, taskIn):
		task, limit, ok := bytes.Cut(body[len(taskIn):], asResult)
		if !ok {
			return false
		}
		k.report.Line = cmp.Or(k.report.Line, line)
		k.report.TaskMemcg, k.report.OOMMemcg = clip(task, maxKernelPath), clip(limit, maxKernelPath)
	default:
		if !k.tasks.line(body) {
			return false
		}
		k.inStats = false
	}
	return true
}

// isKilled reports whether a line is the kernel's, as opposed to a launcher's report of a process that it killed.
func isKilled(body []byte) bool {
	before, rest, ok := bytes.Cut(body, killedProc)
	return ok && (bytes.Contains(before, []byte("ut of memory")) || bytes.Contains(rest, []byte("anon-rss:")))
}

// newVictim returns a kill without numbers.
func newVictim(line int) *KernelKill {
	p := newKill()
	p.Line = line
	return &p
}

// waitForKill keeps a victim until a `Killed process` line confirms it.
func (k *KernelReport) waitForKill(p *KernelKill) { k.pending, k.left = p, maxPendingGap }

func (k *KernelReport) emitPending() {
	if p := k.pending; p != nil {
		k.pending = nil
		k.emit(p)
	}
}

// emit completes a kill with the rest of its report.
func (k *KernelReport) emit(p *KernelKill) {
	r := &k.report
	p.Constraint, p.OOMMemcg, p.TaskMemcg = r.Constraint, r.OOMMemcg, r.TaskMemcg
	p.TriggerComm, p.Usage, p.Limit = r.TriggerComm, r.Usage, r.Limit
	p.Anon, p.File, p.Shmem = k.stats.anon(), k.stats.file(), k.stats.shmem()
	p.Tasks, p.Biggest = k.tasks.sorted(), k.tasks.biggest()
	for _, path := range []string{p.TaskMemcg, p.OOMMemcg} {
		if m := slurmJob().FindStringSubmatch(path); m != nil {
			p.Job, p.Step = cmp.Or(p.Job, m[1]), cmp.Or(p.Step, m[2])
			if n, err := strconv.Atoi(m[3]); err == nil && p.Task < 0 && m[2] != "" && m[2][0] <= '9' {
				p.Task = n
			}
		}
	}
	if len(k.done) < maxKernelKills {
		k.done = append(k.done, *p)
	}
	k.used = true
}

// between returns the text between the first and the last parenthesis, because a name may contain parentheses.
func between(b []byte) string {
	i, j := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if i < 0 || j <= i {
		return ""
	}
	return clip(b[i+1:j], maxComm)
}

// pathAfter returns the value after key up to the next comma.
func pathAfter(b []byte, key string) string {
	_, rest, _ := bytes.Cut(b, []byte(","+key))
	path, _, _ := bytes.Cut(rest, []byte(","))
	return clip(path, maxKernelPath)
}

// kilobytes returns the number of kB after label, in bytes.
func kilobytes(b []byte, label string) int64 {
	_, rest, ok := bytes.Cut(b, []byte(label))
	if !ok {
		return Unknown
	}
	n, size := leadingInt64(rest)
	if size == 0 || !bytes.HasPrefix(rest[size:], []byte("kB")) || n > 1<<53 {
		return Unknown
	}
	return n << 10
}

// leadingInt64 reads the decimal digits that b begins with. size is 0 if they overflow.
func leadingInt64(b []byte) (n int64, size int) {
	for size < len(b) && size < 19 && ascii.IsDigit(b[size]) {
		n = n*10 + int64(b[size]-'0')
		size++
	}
	if n < 0 { // 19 digits may overflow
		return 0, 0
	}
	return n, size
}

// firstIndex returns the first index of any of the texts in b, or -1.
func firstIndex(b []byte, texts ...string) int {
	first := -1
	for _, t := range texts {
		if i := bytes.Index(b, []byte(t)); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	return first
}
