package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"oomscan/remedies/memory"
)

// part is one stretch of a memory bar. Without a label of its own it has the word for its ink.
type part struct {
	ink   ink
	label string
	bytes int64
}

// writeMemory shows where the memory was: the host's as a table of who held it where the log names processes, else as a bar.
func writeMemory(p *page, in *Incident) {
	if in.Resource == "host" && writeHolders(p, in) {
		return
	}
	if name, parts, capacity := memoryParts(in); len(parts) > 1 {
		writeBar(p, name, parts, capacity)
	}
}

// memoryParts is what the card or the host's limit is called, how it was used, and its size; no parts where the log does not
// show that.
func memoryParts(in *Incident) (string, []part, int64) {
	if in.Resource == "host" {
		limit := cmp.Or(in.Root.Limit, in.Root.Total)
		if limit == nil || *limit <= 0 {
			return "", nil, 0
		}
		return wordHost, hostParts(in, *limit), *limit
	}
	l := in.Ledger
	if l == nil || l.Capacity == nil || l.Free == nil || *l.Capacity <= 0 || *l.Free < 0 || *l.Free > *l.Capacity {
		return "", nil, 0
	}
	parts, sound := ledgerParts(l, &in.Root)
	if l.Contradiction != nil || !sound {
		parts = []part{{partAllocated, wordInUseShort, *l.Capacity - *l.Free}, {partFree, "", *l.Free}}
	}
	name := "GPU"
	if in.Root.Device != nil {
		name = fmt.Sprintf("GPU %d", *in.Root.Device)
	}
	return in.device(name), parts, *l.Capacity
}

// mostLibraries is the most that a process holds outside PyTorch for its CUDA context and NCCL: more is something else's, an engine's.
const mostLibraries = 3 << 30

// ledgerParts are the ledger's parts in the order of the bar. It gives false when they do not fit into the capacity.
func ledgerParts(l *memory.Ledger, root *Root) ([]part, bool) {
	var parts []part
	sum, sound := 0.0, true
	add := func(k ink, label string, n *int64) {
		if n == nil {
			return
		}
		sound = sound && *n >= 0
		sum += float64(*n)
		if *n > 0 && column(*n, *l.Capacity) != column(0, *l.Capacity) {
			parts = append(parts, part{k, label, *n})
		}
	}
	add(partAllocated, "", l.Allocated)
	add(partReserved, "", l.ReservedUnallocated)
	rest, label := l.ProcessRest, ""
	if rest != nil && (*rest > mostLibraries || otherMakers.MatchString(root.Message)) {
		label = wordOutside
	}
	if own := root.OwnBytes; rest == nil && own != nil {
		// The process's total is known but not all of its parts: what the known parts leave is its rest.
		n := *own
		for _, x := range []*int64{l.Allocated, l.ReservedUnallocated} {
			if x != nil {
				n, label = n-*x, wordRest
			}
		}
		if len(parts) == 0 {
			label = wordThisProcess
		}
		rest = &n
	}
	add(partProcess, label, rest)
	add(partOthers, "", l.OtherProcesses)
	sum += float64(*l.Free)
	left := float64(*l.Capacity) - sum
	if left < -float64(max(l.Rounding, *l.Capacity/1000)) {
		sound = false
	}
	// What the figures leave open is worth a stretch of its own when it is more than their rounding.
	if left > float64(max(l.Rounding, *l.Capacity/1000)) {
		label := ""
		if len(parts) == 0 {
			label = wordInUse
		}
		parts = append(parts, part{partUnknown, label, int64(left)})
	}
	return append(parts, part{partFree, "", *l.Free}), sound
}

// holderFigures is how wide the column of figures of the processes is.
const holderFigures = 10

// writeHolders lists the processes that held the host's memory, the largest first, and how the limit was used up. It gives
// false when the log names no process with its size.
func writeHolders(p *page, in *Incident) bool {
	rows := holders(in)
	if len(rows) == 0 {
		return false
	}
	unit, per := unitFor(slices.MaxFunc(rows, func(a, b holder) int { return cmp.Compare(a.Bytes, b.Bytes) }).Bytes)
	width := len(wordHolders)
	for _, x := range rows[:min(len(rows), maxHolders)] {
		width = max(width, measure(x.Name))
	}
	width = min(width, p.prose-30)
	p.section(wordHolders, span{dim, pad("", width+holderFigures-len(unit)-len(wordHolders)+2) + unit})
	row := func(name string, bytes int64, note string) {
		p.para(block{indent: 3, hang: 5, lines: 1}, span{plain, pad(cut(p.g, unbroken(name), width, false), width)},
			span{bold, unbroken(fmt.Sprintf("%*.1f", holderFigures, float64(bytes)/per))}, span{dim, pad("", 3) + note})
	}
	listed := int64(0)
	for i, x := range rows {
		listed += x.Bytes
		if i == maxHolders {
			p.more(len(rows)-i, wordProcess, wordProcesses)
		} else if i < maxHolders {
			row(x.Name, x.Bytes, x.Note)
		}
	}
	if l := in.Ledger; l != nil && limitOf(in) != nil && l.Contradiction == nil && l.Anon != nil && l.Shmem != nil && l.File != nil && l.Unexplained != nil {
		if rest := *l.Anon - listed; rest > *limitOf(in)/10 {
			row(wordNotListed, rest, "")
		}
		writeSum(p, *limitOf(in), []part{{0, wordProcesses, *l.Anon}, {0, wordShm, *l.Shmem}, {0, wordPageCache, *l.File}, {0, wordKernel, *l.Unexplained}})
	}
	return true
}

// unitFor is the unit in which a list is printed whose largest entry has n bytes, and its bytes.
func unitFor(n int64) (name string, bytes float64) {
	if n < 1<<30 {
		return "MiB", 1 << 20
	}
	return "GiB", 1 << 30
}

// holder is a process and the memory that it held.
type holder struct {
	Name  string
	Bytes int64
	Note  string
}

// holders are the victims of a kill and the largest processes beside them.
func holders(in *Incident) []holder {
	killed := map[int]bool{}
	var out []holder
	add := func(name string, pid *int, bytes int64, note string) {
		if pid != nil {
			name = fmt.Sprintf("%s %d", cmp.Or(name, "pid"), *pid)
		}
		out = append(out, holder{name, bytes, note})
	}
	for i := range in.Victims {
		v := &in.Victims[i]
		if v.Resident == nil || *v.Resident <= 0 {
			continue
		}
		note := wordKilled
		if v.PID != nil {
			killed[*v.PID] = true
			if in.Root.PID != nil && *in.Root.PID == *v.PID && in.Root.Rank != nil {
				note += fmt.Sprintf(" (rank %d)", *in.Root.Rank)
			}
		}
		add(deref(v.Name), v.PID, *v.Resident, note)
	}
	for _, g := range othersByName(in, killed) {
		if g.count == 1 {
			add(g.name, g.pid, g.bytes, "")
		} else {
			n := others(g.count)
			if g.name != killedName(in) && !slices.ContainsFunc(in.Victims, func(v Victim) bool { return deref(v.Name) == g.name }) {
				n = count(g.count, wordProcess, wordProcesses)
			}
			out = append(out, holder{g.name + ", " + n, g.bytes, ""})
		}
	}
	if len(out) < 2 {
		return nil // one process alone is in the headline
	}
	return out
}

// processGroup is processes of one name.
type processGroup struct {
	name  string
	pid   *int // of the first
	count int
	bytes int64
}

// othersByName are the largest processes that were not killed, those of one name together, in the order of the first of each.
func othersByName(in *Incident, killed map[int]bool) []processGroup {
	var out []processGroup
	if in.Ledger == nil {
		return nil
	}
	for _, x := range in.Ledger.Tasks {
		if x.PID != nil && killed[*x.PID] {
			continue
		}
		i := slices.IndexFunc(out, func(g processGroup) bool { return g.name == x.Name })
		if i < 0 {
			out = append(out, processGroup{name: x.Name, pid: x.PID})
			i = len(out) - 1
		}
		out[i].count++
		out[i].bytes += x.Bytes
	}
	return out
}

func writeSum(p *page, limit int64, parts []part) {
	_, per := unitFor(limit)
	spans := []span{{bold, fmt.Sprintf("%.0f", float64(limit)/per)}, {plain, " = "}}
	for i, x := range parts {
		if i > 0 {
			spans = append(spans, span{plain, " + "})
		}
		spans = append(spans, span{plain, unbroken(fmt.Sprintf("%.1f %s", float64(x.bytes)/per, x.word()))})
	}
	p.para(block{indent: 3, hang: 5}, spans...)
}

// hostParts are the parts of a host's memory in the order of the bar, none when nothing but the limit is known.
func hostParts(in *Incident, limit int64) []part {
	r, process := &in.Root, wordThisProcess
	if in.Kind == "oom_kill" {
		process = wordKilledProcess
	}
	taken := int64(-1)
	switch {
	case r.Used != nil && *r.Used >= 0:
		taken = min(*r.Used, limit) // the limit may be overshot for a moment
	case r.Free != nil && *r.Free >= 0 && *r.Free <= limit:
		taken = limit - *r.Free
	}
	own := int64(0)
	if r.OwnBytes != nil && *r.OwnBytes > 0 && *r.OwnBytes <= limit {
		own = *r.OwnBytes
	}
	var parts []part
	l := in.Ledger
	switch {
	case l != nil && l.Contradiction == nil && l.Anon != nil && l.Shmem != nil && l.File != nil && l.Unexplained != nil && l.Free != nil:
		heaps := []part{{partAllocated, wordProcesses, *l.Anon}}
		if own > 0 && own <= *l.Anon {
			heaps = []part{{partAllocated, process, own}, {partUnknown, wordOtherProcesses, *l.Anon - own}}
		}
		parts = append(heaps, []part{
			{partReserved, wordShm, *l.Shmem},
			{partOthers, wordPageCache, *l.File},
			{partProcess, wordKernel, *l.Unexplained},
			{partFree, "", *l.Free},
		}...)
	case taken >= 0 && own > 0 && own <= taken:
		parts = []part{{partAllocated, process, own}, {partOthers, wordOthers, taken - own}, {partFree, "", limit - taken}}
	case taken >= 0:
		parts = []part{{partAllocated, wordInUseShort, taken}, {partFree, "", limit - taken}}
	case own > 0:
		parts = []part{{partAllocated, process, own}, {partUnknown, wordOthersOrFree, limit - own}}
	}
	return slices.DeleteFunc(parts, func(x part) bool { return x.bytes == 0 })
}

// writeBar draws the parts to scale behind their name, and says below what each sign stands for.
func writeBar(p *page, name string, parts []part, capacity int64) {
	p.blank()
	indent := 1 + measure(name) + 2
	whole := column(capacity, capacity)
	cells := share(parts, max(8, min(p.prose, maxBar)-indent-measure(whole)-2))
	spans := []span{{bold, unbroken(name + "  ")}}
	for i, x := range parts {
		spans = append(spans, span{x.ink, strings.Repeat(p.g.bar[x.ink], cells[i])})
	}
	p.para(block{indent: 1, hang: 1, full: true}, append(spans, span{plain, unbroken("  " + whole)})...)
	var legend [][]span
	for _, x := range parts {
		figure := strings.TrimSuffix(column(x.bytes, capacity), string(nbsp)+"GiB")
		legend = append(legend, []span{{dim, "["}, {x.ink, p.g.bar[x.ink]}, {dim, "]" + string(nbsp)}, {plain, unbroken(figure + " " + x.word())}})
	}
	p.para(block{indent: indent, hang: indent}, between(legend, span{plain, "  "})...)
}

func (x *part) word() string {
	if x.label != "" {
		return x.label
	}
	return partWords[x.ink]
}

// share divides cells among the parts by size. Every part gets at least one, so that nothing known is invisible.
func share(parts []part, cells int) []int {
	sum := 0.0
	for _, x := range parts {
		sum += float64(x.bytes)
	}
	out := make([]int, len(parts))
	edge, done := 0.0, 0
	for i, x := range parts {
		if x.bytes <= 0 || sum <= 0 {
			continue
		}
		edge += float64(x.bytes)
		n := max(1, int(math.Round(edge/sum*float64(cells)))-done)
		out[i], done = n, done+n
	}
	for done > cells {
		most := 0
		for i := range out {
			if out[i] > out[most] {
				most = i
			}
		}
		if out[most] <= 1 {
			break
		}
		out[most]--
		done--
	}
	return out
}
