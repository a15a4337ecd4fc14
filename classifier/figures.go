package classifier

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"oomscan/parser"
	"oomscan/parser/lazyre"
)

// joined are the root's fields, completed: for a kill by every other report of the kill, else by further prints of
// the same failure.
func (c *conclusion) joined() parser.Fields {
	out := maps.Clone(c.root.fields)
	for _, e := range c.evidence {
		if e == c.root {
			continue
		}
		beside := e.Kind == c.root.Kind && out["requested"] == "" && (sameWriter(c.root, e) || c.isRest(e)) && e.At.Behind(c.root.At) <= nearLines
		if c.root.Kind == parser.OOMKill && e.Kind == parser.OOMKill || echo(c.root, e) || beside || reprint(c.root, e) || inFull(c.root, e) {
			complete(out, e.fields)
		}
		if c.root.Kind == parser.SHMExhausted && e.Kind == parser.SHMExhausted && out["pid"] == "" && e.fields["pid"] != "" {
			out["pid"] = e.fields["pid"] // the worker that died, as its parent names it
		}
	}
	if c.root.Kind == parser.KVCache {
		for _, e := range c.announced {
			complete(out, e.fields)
		}
	}
	if c.root.Kind == parser.OOMKill {
		for _, e := range c.job.index.suspected {
			if e.Attempt == c.root.Attempt {
				complete(out, e.fields)
			}
		}
	}
	return out
}

// isRest reports whether a report goes on with the root's message, as where torch_npu prints what CANN says below the error of a call
// (NPUException.h): the label of a message of several lines is on the first one only. No other labelled writer reported a failure between.
func (c *conclusion) isRest(e *event) bool {
	labelled := func(x *event) bool { return x.file == e.file && isBelow(x.Header.Stream, e.Header.Stream) }
	between := func(x *event) bool { return labelled(x) && x.At.Line > c.root.At.Line && x.At.Line < e.At.Line }
	return labelled(c.root) && e.At.Line > c.root.At.Line && !slices.ContainsFunc(c.evidence, between)
}

// reprint reports whether b repeats a on the next line and adds the device.
func reprint(a, b *event) bool {
	f := b.figures
	f.device = ""
	return a.Kind == b.Kind && f.requested != "" && f == a.figures && sameWriter(a, b) && b.At.Line > a.At.Line && b.At.Behind(a.At) <= nearLines
}

// inFull reports whether b prints all figures of a and goes on where a was cut, as a logger's line is above its traceback.
func inFull(a, b *event) bool {
	f := b.figures
	f.allocated = ""
	return a.Kind == b.Kind && f == a.figures && f.requested != "" && f.free != "" && b.figures.allocated != ""
}

// readFigures reads the sizes among a failure's fields.
func (r *Root) readFigures(fields parser.Fields) {
	ownProcess(fields)
	slurmFigures(fields)
	if n, ok := fields.Int("needed"); ok && fields["library"] == "xla" {
		r.Needed = &n
	}
	for _, t := range []struct {
		key string
		to  **int64
	}{
		{"requested", &r.Requested},
		{"total", &r.Total},
		{"free", &r.Free},
		{"allocated", &r.Allocated},
		{"reserved_unallocated", &r.ReservedUnallocated},
		{"process", &r.ProcessBytes},
		{"others", &r.OtherProcesses},
		{"limit", &r.Limit},
		{"reserved", &r.Reserved},
		{"used", &r.Used},
		{"anon", &r.Anon},
		{"file", &r.File},
		{"shmem", &r.Shmem},
	} {
		if n, ok := fields.Int(t.key); ok {
			*t.to = &n
		}
	}
}

// tasks reads the rows that the parser took from the kernel's table.
func tasks(rows string) []Task {
	var out []Task
	for row := range strings.Lines(rows) {
		p := strings.SplitN(strings.TrimRight(row, "\n"), " ", 3)
		if len(p) != 3 {
			continue
		}
		pid, err1 := strconv.Atoi(p[0])
		rss, err2 := strconv.ParseInt(p[1], 10, 64)
		if err1 == nil && err2 == nil && rss > 0 {
			out = append(out, Task{PID: pid, Name: clean(p[2], 60), RSS: rss})
		}
	}
	return out
}

// resident returns the resident memory of a killed process, as the kernel reports it. Mapped files count unless the sum exceeds the
// limit of its group: then other groups were charged with them.
func resident(e *event) (int64, bool) {
	if e.Kind != parser.OOMKill {
		return 0, false
	}
	sum, known := e.fields.Int("anon_rss")
	for _, k := range []string{"file_rss", "shmem_rss"} {
		n, _ := e.fields.Int(k)
		sum += n
	}
	if limit, ok := e.fields.Int("limit"); ok && sum > limit {
		files, _ := e.fields.Int("file_rss")
		sum -= files
	}
	return sum, known && sum > 0
}

// ownProcess reads a message that lists one process and does not call it "this process": inside a container the
// driver's pids mean nothing to PyTorch, and the one listed is this process itself when it holds all that PyTorch
// counts in it.
func ownProcess(f parser.Fields) {
	others, ok := f.Int("others")
	allocated, known := f.Int("allocated")
	if !ok || !known || f["gpu_pid"] == "" || f["process"] != "" {
		return
	}
	unallocated, _ := f.Int("reserved_unallocated")
	if others+1<<28 >= allocated+unallocated {
		f["process"] = f["others"]
		delete(f, "others")
	}
}

// listedProcess matches a process in PyTorch's message that it does not call its own.
var listedProcess = lazyre.New(`Process \d{1,10} has ([\d.]{1,20}) ([MG])iB memory in use`)

// findItself finds the failed process where PyTorch's message lists several and calls none "this process", or one that holds less
// than the failed one allocated, as inside a container: the only one that holds what PyTorch reserved, and a context. Where the
// listed processes account for the whole card, the failed one is among them, however much it holds outside of PyTorch.
func (r *Root) findItself() {
	const context, rounding = 2 << 30, 1 << 30 / 100
	if r.OtherProcesses == nil || r.Allocated == nil || r.ReservedUnallocated == nil || r.ProcessBytes != nil && *r.ProcessBytes >= *r.Allocated {
		return
	}
	reserved := *r.Allocated + *r.ReservedUnallocated
	var like, larger []int64
	for _, m := range listedProcess().FindAllStringSubmatch(r.Message, 64) {
		size, err := strconv.ParseFloat(m[1], 64)
		n := int64(size * float64(map[string]int64{"M": 1 << 20, "G": 1 << 30}[m[2]]))
		switch {
		case err != nil || n < reserved-rounding:
		case n <= reserved+context:
			like = append(like, n)
		default:
			larger = append(larger, n)
		}
	}
	if len(like) == 0 && r.ProcessBytes == nil && r.Total != nil && r.Free != nil && *r.OtherProcesses+*r.Free >= *r.Total-context/2 {
		like = larger
	}
	if len(like) != 1 {
		return
	}
	if own := like[0]; *r.OtherProcesses > own {
		rest := *r.OtherProcesses - own
		r.ProcessBytes, r.OtherProcesses = &own, &rest
	}
}

// slurmFigures reads the use and the limit of a Slurm of 14.11 to 20.02, which prints them without their unit: KB up to 17.11,
// bytes since 18.08. Only one of the two is a memory limit that anybody sets, except between 1 and 4 GiB of bytes.
func slurmFigures(f parser.Fields) {
	n, ok := f.Int("limit_raw")
	shift := 0
	switch {
	case !ok || f["limit"] != "" || n <= 0 || n >= 1<<30 && n < 1<<32:
		return
	case n < 1<<30:
		shift = 10
	}
	f["limit"] = strconv.FormatInt(n<<shift, 10)
	if used, ok := f.Int("used_raw"); ok && used > n && used < 1<<53 {
		f["used"] = strconv.FormatInt(used<<shift, 10)
	}
}
