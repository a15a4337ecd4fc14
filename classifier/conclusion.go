package classifier

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"oomscan/parser"
	"oomscan/parser/lazyre"
	"oomscan/parser/traceback"
)

// conclusion is a cluster with its root.
type conclusion struct {
	*cluster
	root     *event
	trace    *traceback.Trace // of the root, or of a report of the same failure
	tracedBy *event           // whose trace it is
	next     int              // line of the next incident's first evidence in the root's input, 0 when there is none
	// announced are reports that the failure was near: no failures of their own, but they may have its figures.
	announced []*event
}

// conclude picks a cluster's root and its traceback.
func (c *cluster) conclude(next int) *conclusion {
	out := &conclusion{cluster: c, root: c.chooseRoot(), next: next}
	if out.root.Kind != parser.OOMKill { // the announcement of a failure is not another failure
		c.evidence = slices.DeleteFunc(c.evidence, func(e *event) bool {
			announces := e.Kind == out.root.Kind && e.pattern.Authority < out.root.pattern.Authority
			if announces {
				out.announced = append(out.announced, e)
			}
			return announces
		})
	}
	out.tracedBy = out.root
	if out.root.Trace == nil || out.root.Pattern == classAlone { // a class alone has the driver's, and the worker's may be cut
		if e := out.adoptTrace(); e != nil && (out.root.Trace == nil || e.Trace.EndLine == 0) {
			out.tracedBy = e
		}
	}
	if e := c.wholeTrace(out.root); e != nil {
		out.tracedBy = e
	}
	if out.trace = out.tracedBy.Trace; out.trace == nil {
		out.trace = traceback.Within(out.root.At.Line, []byte(out.root.Text))
	}
	return out
}

// wholeTrace finds a report of the root's failure whose traceback ends in the same place and, unlike the root's, begins in the log. It
// returns nil if there is none.
func (c *cluster) wholeTrace(root *event) *event {
	if root.Trace == nil || !root.Trace.Headless {
		return nil
	}
	i := slices.IndexFunc(c.evidence, func(e *event) bool {
		return e.Trace != nil && !e.Trace.Headless && echo(root, e) && leaf(e) == leaf(root)
	})
	if i < 0 {
		return nil
	}
	return c.evidence[i]
}

// incident describes a cluster.
func (c *conclusion) incident() Incident {
	in := Incident{
		Verdict: Memory, Kind: c.root.Kind, Root: c.rootFacts(), Reports: c.places(), Survived: c.survived(), Repeats: c.repeats(),
		Consequences: c.consequences(),
	}
	full, proven := c.hostFull()
	if c.suspect && !proven {
		in.Verdict = Suspect
	}
	if c.pinned() {
		in.Kind = parser.HostOOM
	}
	in.Resource = cmp.Or(c.root.fields["resource"], in.Kind.Resource())
	if in.Resource == "host" && in.Root.Total == nil {
		in.Root.Total = in.Root.Limit
	}
	v := c.phase()
	in.Phase, in.Confidence, in.PhaseWhy = v.Phase, v.Confidence, v.Why
	in.Shortfall, in.Node = c.shortfall(&in), c.node()
	in.Findings = c.findings(&in)
	in.Evidence = c.lines(v)
	if proven {
		in.Evidence = append(in.Evidence, full)
	}
	in.Kill, in.Killed = c.kill(&in), c.killed(&in)
	in.Summary = summary(&in)
	return in
}

// repeats is how many further reports of the root's failure there are.
func (c *conclusion) repeats() int {
	n := len(c.evidence) - 1
	for _, e := range c.evidence {
		n += e.More
	}
	return n
}

// shortfall returns how many bytes were missing, nil if that is unknown or zero.
func (c *conclusion) shortfall(in *Incident) *int64 {
	request, free := in.Root.Requested, in.Root.Free
	if left, ok := in.Root.Fields.Int("available"); ok && in.Kind == parser.KVCache {
		switch n, before := in.Root.Fields.Int("needed"); {
		case before && n > left: // before any cache
			return new(n - left)
		case request == nil && left < 0:
			return new(-left) // the least that is missing: without any cache
		case request != nil && *request > left:
			left = max(left, 0) // the engine prints a negative rest when the weights alone overrun its share
			free = &left
		}
	}
	if n, t := in.Root.Needed, in.Root.Total; request == nil && n != nil && t != nil && *n > *t {
		return new(*n - *t)
	}
	if request == nil || free == nil || *request <= *free {
		return nil
	}
	return new(*request - *free)
}

// hostFull finds the reading that makes a bare SIGKILL a kill for memory: the host's memory was used up at the last
// reading, or the control group's counter of such kills is not zero.
func (c *conclusion) hostFull() (Evidence, bool) {
	if c.suspect && c.evidence[0].Kind == parser.SHMExhausted {
		return c.defaultSHM()
	}
	if !c.suspect || c.evidence[0].Kind.Resource() != "host" {
		return Evidence{}, false
	}
	for _, f := range c.job.files {
		for _, name := range slices.Sorted(maps.Keys(f.Gauges)) {
			g := f.Gauges[name]
			used, err := strconv.ParseFloat(g.Fields["percent"], 64)
			total, known := g.Fields.Int("host_total")
			left, told := g.Fields.Int("host_available")
			if n, ok := g.Fields.Int("used"); ok && known && !told {
				left, told = total-n, true
			}
			if n, ok := g.Fields.Int("used"); ok && told && !known {
				total, known = n+left, c.isRAM(n+left)
			}
			if err != nil && known && told && total > 0 {
				used, err = 100*(1-float64(left)/float64(total)), nil
			}
			if n := g.Fields["kills"]; n != "" {
				return Evidence{At: g.At, Text: clean(g.Text, 300), Why: "the control group counts processes killed for memory: " + n}, true
			}
			if err == nil && used >= hostFullPercent && used <= 100 {
				return Evidence{At: g.At, Text: clean(g.Text, 300), Why: fmt.Sprintf("%.0f %% of the host's memory was in use", used)}, true
			}
			if why := momentsOverflow(&g, f.Trends[name], used); err == nil && why != "" {
				return Evidence{At: g.At, Text: clean(g.Text, 300), Why: why}, true
			}
		}
	}
	return Evidence{}, false
}

// defaultSHM finds what makes a bare SIGBUS a full /dev/shm: df shows that it is full or has the 64 MB of a container that asked for no more, or
// the command before it that started the container gave it no size, and none of the log did.
func (c *conclusion) defaultSHM() (Evidence, bool) {
	var proof parser.Gauge
	if slices.ContainsFunc(c.job.events, func(e *event) bool { return e.fields["reason"] == "hardware" }) {
		return Evidence{}, false
	}
	why, own := "", false
	for _, f := range c.job.files {
		for _, name := range slices.Sorted(maps.Keys(f.Gauges)) {
			switch g := f.Gauges[name]; {
			case g.Name == "docker.own_shm":
				own = true
			case g.Name == "docker.default_shm" && f == c.root.file && g.At.Line < c.root.At.Line && g.At.Line > proof.At.Line && why == "":
				proof = g
			case g.Name == "shm.mounted" && (g.Header.Host == "" || g.Header.Host == c.root.Header.Host):
				if said := smallSHM(&g); said != "" {
					proof, why = g, said
				}
			}
		}
	}
	if own && why == "" {
		return Evidence{}, false
	}
	return Evidence{At: proof.At, Text: clean(proof.Text, 300), Why: cmp.Or(why, "without --shm-size, /dev/shm has 64 MB in a container")}, proof.Name != ""
}

// isRAM reports whether free printed about this size as that of the host's memory, and not a disk's. What is in use and what is available
// add up to a little less.
func (c *conclusion) isRAM(size int64) bool {
	for _, f := range c.job.files {
		for _, g := range f.Gauges {
			if total, ok := g.Fields.Int("host_total"); ok && g.Name == "reading.free" && size <= total && size >= total-total/20 {
				return true
			}
		}
	}
	return false
}

// smallSHM says that /dev/shm, as df shows it, is full or as small as container runtimes make it. After a crash it may be empty again.
func smallSHM(g *parser.Gauge) string {
	used, _ := g.Fields.Int("shm_percent")
	size, _ := g.Fields.Int("shm")
	switch {
	case used >= hostFullPercent && used <= 100:
		return fmt.Sprintf("%d %% of /dev/shm was in use", used)
	case size == 64<<20:
		return "/dev/shm has 64 MB, which containers get that ask for no more"
	}
	return ""
}

// momentsOverflow reports whether Adam's two moments could not fit on the host: DeepSpeed makes each as large as the 32-bit copy
// before it (runtime/zero/stage3.py), and less was left. By default it reads host memory only at start-up, so readings that
// rise and fall are from later.
func momentsOverflow(g *parser.Gauge, t Trend, percent float64) string {
	grown, left := t.Last-t.First, int64(float64(t.Last)*(100/percent-1))
	if g.Name != "deepspeed.host_memory" || t.Falls > 0 || grown < 16<<30 || 2*grown <= left {
		return ""
	}
	return fmt.Sprintf("the host had %s left, and Adam's two moments take twice the %s that its copy of the weights took", GiB(left), GiB(grown))
}

// node returns the last reading of the host's memory before the root, in its file.
func (c *conclusion) node() *Reading {
	if c.root.Kind.Resource() != "host" {
		return nil
	}
	var last *Reading
	for _, g := range c.root.file.Gauges {
		used, ok := g.Fields.Int("used")
		total, known := g.Fields.Int("host_total")
		if left, told := g.Fields.Int("host_available"); told {
			used, ok = total-left, known
		}
		if ok && known && used > 0 && used <= total && g.At.Line < c.root.At.Line && (last == nil || g.At.Line > last.At.Line) {
			last = &Reading{Used: used, Total: total, At: g.At}
		}
	}
	return last
}

// hostFullPercent is the use at which a host counts as full: Ray's monitor kills there, and the kernel's OOM killer is near.
const hostFullPercent = 95

// chooseRoot picks the root: the first evidence, by time where it is known. Of several reports of one kill the
// kernel's is the first-hand one.
func (c *cluster) chooseRoot() *event {
	best := c.evidence[0]
	for _, e := range c.evidence[1:] {
		if earlier(e, best) || c.job.diedEarlier(e, best) || e.Kind == best.Kind && e.pattern.Authority > best.pattern.Authority {
			best = e
		}
	}
	for _, e := range c.evidence {
		if e.file != best.file && echo(best, e) && best.nameless() && !e.nameless() {
			return e
		}
	}
	if e := c.endedBy(best); e != nil {
		return e
	}
	if strings.Contains(best.Text, "runner process has terminated: ") { // Ollama's client repeats the end of what its server says
		for _, e := range c.evidence {
			if e.Kind == best.Kind && e.file == best.file && e.fields["requested"] != "" && !c.progress(best, e) {
				return e
			}
		}
	}
	if best.Kind == parser.NCCLOOM && memoryOf(best) == "gpu" {
		for _, e := range c.evidence {
			if e.Kind == parser.GPUOOM && e.file == best.file && e.fields["free"] != "" && c.job.traceOf(e) != nil && !c.progress(best, e) {
				return e // the cards are full, and this rank's allocator shows where and by how much
			}
		}
	}
	return best
}

// endedBy finds what the process died of where the first report is PyTorch's, has no traceback and cannot be about the same failure: the
// process caught that, or only quotes it. It returns nil if there is none. A server's own report stands before the traceback of what it calls.
func (c *cluster) endedBy(first *event) *event {
	if first.pattern.Program.Name != "torch" || first.Kind.Resource() != "gpu" || c.job.traceOf(first) != nil {
		return nil
	}
	for _, e := range c.evidence {
		dies := e.Kind == parser.OOMKill || e.Trace != nil && len(e.Trace.Frames) > 0
		if dies && e.file == first.file && e.At.Line > first.At.Line && incompatible(first, e) {
			return e
		}
	}
	return nil
}

// nameless reports whether a failure's line has neither a label nor a time stamp. It may quote another log, and its time is
// only that of the last stamp before it.
func (e *event) nameless() bool {
	return e.Header.Stream == "" && e.Header.Time.IsZero() && (e.Trace == nil || e.Trace.Origin == nil)
}

// pinned reports whether a driver's failure was about pinned host memory, which prints the same words.
func (c *conclusion) pinned() bool {
	if c.root.Kind != parser.GPUDriverOOM || c.trace == nil {
		return false
	}
	frames := c.trace.Frames
	for _, f := range frames[max(0, len(frames)-3):] {
		if strings.Contains(f.Func, "pin_memory") || strings.Contains(f.Code, "pin_memory") || strings.Contains(f.Code, "cudaHost") || f.Func == "_allocate_kv_cache" && strings.HasSuffix(f.File, "worker/cache_engine.py") { // PyTorch's allocator would report the cache on the card
			return true
		}
	}
	for i := len(frames) - 1; i >= 0; i-- {
		if code := frames[i].Code; !strings.Contains(frames[i].File, "nn/modules/module.py") && !strings.Contains(frames[i].File, `nn\modules\module.py`) {
			return toHost().MatchString(code)
		}
	}
	return false
}

// toHost is a copy of a module to host memory that the program does not wait for: its target is pinned.
var toHost = lazyre.New(`\.to\((?:device=)?(?:self\.)?(?:offload_device|"cpu"|'cpu'|torch\.device\(["']cpu["']\)),\s?non_blocking\s?=\s?(?:True|\w[\w.]{0,60}non_blocking)`)

// adoptTrace finds a traceback for a root without one, from another report of the same failure or from a later error of the
// same process. It returns nil if there is none.
func (c *conclusion) adoptTrace() *event {
	best, score := (*event)(nil), 0
	for _, e := range c.job.index.traced {
		if e.Attempt != c.root.Attempt || e.file == c.root.file && c.root.At.Behind(e.At) > nearLines {
			continue
		}
		if s := c.traceScore(e); s > score || s > 0 && s == score && isPartOf(best.Trace, e.Trace) {
			best, score = e, s
		}
		if score == surelyTheRoots {
			break
		}
	}
	if best == nil && c.root.Kind == parser.OOMKill { // the parent's words come before Slurm's
		for _, e := range c.job.index.traced {
			if e.Role == parser.Suspicion && e.Attempt == c.root.Attempt {
				return e
			}
		}
	}
	return best
}

// isPartOf reports whether another traceback has the same calls and goes on: what wraps an exception shows its own traceback first.
func isPartOf(t, longer *traceback.Trace) bool {
	n := len(t.Frames)
	return n > 0 && n < len(longer.Frames) && slices.Equal(t.Frames, longer.Frames[:n])
}

// surelyTheRoots is the highest score of a traceback.
const surelyTheRoots = 5

// traceScore ranks a traceback as the root's; 0 means that it is not.
func (c *conclusion) traceScore(e *event) int {
	root, pid := c.root, c.root.Header.PID
	switch {
	case echo(root, e):
		return surelyTheRoots
	case pid > 0 && e.Trace.Origin != nil && e.Trace.Origin.PID == pid:
		return 4
	case pid > 0 && e.Header.PID == pid && e.Kind != parser.Exception && !(e.file == root.file && c.progress(root, e)), renamed(root, e):
		return 3 // a process that went on failed anew
	case e.fields["class"] == "Fatal Python error" && sameWriter(root, e) && e.At.Line >= root.At.Line && e.At.Behind(root.At) <= abortLines:
		return 3 // the allocation failed in a library that aborts, and the interpreter shows where it was
	case root.Kind == parser.NCCLOOM && e.Kind == parser.NCCLFailure && e.file == root.file && e.At.Line < root.At.Line && root.At.Behind(e.At) <= reprintLines:
		return 3 // PyTorch's error quotes what NCCL said last
	case e.Role == parser.Evidence && e.Kind == root.Kind && e.file == root.file && (e.cluster == c.cluster || e.cluster == nil && !labelled(root, e)):
		return 2
	case e.Role == parser.Evidence && e.Kind == root.Kind && e.cluster == c.cluster && slices.Contains(c.job.before[e.file], root.file): // a log that was rotated in between
		return 2
	case e.Trace.EndLine == 0 && sameWriter(root, e) && e.At.Line >= root.At.Line && e.At.Behind(root.At) <= reprintLines:
		return 1 // its end was cut off
	case root.Kind == parser.OOMKill && e.Role == parser.Suspicion:
		return 1
	}
	return 0
}
