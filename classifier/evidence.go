package classifier

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"oomscan/classifier/phase"
	"oomscan/parser"
)

// lines are the evidence of an incident, the root first.
func (c *conclusion) lines(v phase.Verdict, in *Incident) []Evidence {
	e := c.root
	out := []Evidence{{At: e.At, Text: clean(e.Text, 400), Why: reason(e), Pattern: e.Pattern, Fields: e.fields}}
	if v.Frame != nil && c.trace != nil {
		out = append(out, Evidence{
			At:   parser.Position{Source: c.tracedBy.At.Source, Line: c.trace.Line},
			Text: clean(fmt.Sprintf("%s:%d in %s", v.Frame.File, v.Frame.Line, v.Frame.Func), 300), Why: "tells the phase: " + v.Why,
		})
	}
	for _, d := range e.details {
		if len(out) < maxEvidence {
			out = append(out, Evidence{At: d.At, Text: clean(d.Text, 300), Why: "gives figures", Pattern: d.Pattern, Fields: d.fields})
		}
	}
	for _, x := range c.evidence {
		if x != e && len(out) < maxEvidence && (x.Pattern != e.Pattern || x.file != e.file) {
			out = append(out, Evidence{At: x.At, Text: clean(x.Text, 300), Why: "reports the same failure", Pattern: x.Pattern, Fields: x.fields})
		}
	}
	return out
}

// reason is what a root line proves.
func reason(e *event) string {
	switch e.Kind {
	case parser.GPUOOM:
		return "the GPU allocator could not serve a request"
	case parser.GPUDriverOOM:
		return "the GPU driver or runtime had no memory left"
	case parser.KVCache:
		return "the inference engine found no room for its KV cache"
	case parser.NCCLOOM:
		return "the collective library's own allocation failed"
	case parser.HostOOM:
		return "an allocation in host memory failed"
	case parser.SHMExhausted:
		return "/dev/shm ran full"
	case parser.OOMKill:
		if e.Role == parser.Suspicion {
			return "killed by SIGKILL, by whom is not said"
		}
		return "a process was killed because memory ran out"
	}
	return "the first evidence"
}

// findings are what the figures say beyond themselves.
func (c *conclusion) findings(in *Incident) []string {
	var out []string
	r := &in.Root
	if left, ok := c.root.fields.Int("available"); ok && in.Kind == parser.KVCache && r.Requested != nil {
		out = append(out, fmt.Sprintf("The engine has %s left for its KV cache; what it is asked to hold needs %s.", GiB(left), GiB(*r.Requested)))
	}
	if want, ok := c.root.fields["tokens"]; ok && in.Kind == parser.KVCache && r.Requested == nil {
		s := "The amounts are tokens of the KV cache, not bytes: " + want + " were asked for"
		if have := c.root.fields["tokens_available"]; have != "" {
			s += ", " + have + " were free"
		}
		out = append(out, s+".")
	}
	if r.Allocated != nil && r.Total != nil && *r.Allocated > *r.Total {
		s := fmt.Sprintf("The figures contradict each other: PyTorch counts %s as allocated, but the device has only %s. "+
			"A sleeping inference engine (vLLM sleep mode, torch_memory_saver) gives its pages back without PyTorch's counters noticing; ",
			GiB(*r.Allocated), GiB(*r.Total))
		if r.Free != nil {
			s += fmt.Sprintf("what is really occupied is capacity minus free: %s.", GiB(*r.Total-*r.Free))
		}
		out = append(out, s)
	}
	if r.Requested != nil && r.Total != nil && *r.Requested > *r.Total && in.Resource == "gpu" {
		out = append(out, fmt.Sprintf("The request alone (%s) is larger than the device (%s): freeing memory cannot help, the tensor itself must shrink.", GiB(*r.Requested), GiB(*r.Total)))
	}
	if r.OtherProcesses != nil && r.Requested != nil && r.Free != nil && *r.OtherProcesses >= *r.Requested-*r.Free && *r.OtherProcesses > 1<<30 && r.ProcessBytes != nil {
		out = append(out, fmt.Sprintf("Other processes hold %s of this device: the engine or trainer beside this one, or a stray process (nvidia-smi tells).", GiB(*r.OtherProcesses)))
	}
	// Every allocator keeps some slack: up to a twentieth of the card is no sign of anything.
	slack := r.Total != nil && r.ReservedUnallocated != nil && *r.ReservedUnallocated < *r.Total/20
	if r.ReservedUnallocated != nil && !slack && r.Requested != nil && r.Free != nil && *r.Requested > *r.Free && *r.ReservedUnallocated >= *r.Requested-*r.Free {
		out = append(out, fmt.Sprintf("PyTorch has %s reserved but unallocated, more than the %s that were missing: fragmentation plays a part.", GiB(*r.ReservedUnallocated), GiB(*r.Requested-*r.Free)))
	}
	if s := c.largest(); s != "" {
		out = append(out, s)
	}
	if r.Requested != nil && r.Free != nil && *r.Free >= *r.Requested && in.Resource == "gpu" && in.Kind == parser.GPUOOM {
		out = append(out, fmt.Sprintf("%s were free although only %s were asked for: a limit set below the card's size (memory fraction, allocator margin) or fragmentation refused it.", GiB(*r.Free), GiB(*r.Requested)))
	}
	return out
}

// largest names the processes of a host that were reported with what they held, the largest first.
func (c *conclusion) largest() string {
	if resource(c.root.Kind) != "host" {
		return ""
	}
	const most = 3
	type process struct {
		name, pid string
		bytes     int64
	}
	var found []process
	add := func(e *event) {
		n, ok := e.Fields.Int("process")
		if !ok {
			n, ok = resident(e)
		}
		p := process{clean(cmp.Or(e.Fields["cmd"], e.Fields["comm"]), 60), e.Fields["pid"], n}
		if ok && n > 0 && p.name != "" && len(found) < 100 && !slices.ContainsFunc(found, func(x process) bool { return x.pid == p.pid }) {
			found = append(found, p)
		}
	}
	for _, e := range c.evidence {
		for _, d := range e.details {
			add(d)
		}
		add(e)
	}
	for _, t := range tasks(c.root.fields["tasks"]) { // the whole node's, or the group's, by the kernel's table
		pid := strconv.Itoa(t.PID)
		if !slices.ContainsFunc(found, func(x process) bool { return x.pid == pid }) {
			found = append(found, process{t.Name, pid, t.RSS})
		}
	}
	if len(found) == 0 {
		return ""
	}
	slices.SortStableFunc(found, func(a, b process) int { return cmp.Compare(b.bytes, a.bytes) })
	parts := make([]string, 0, most)
	for i, p := range found {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(found)-most))
			break
		}
		who := p.name
		if p.pid != "" {
			who += " (pid " + p.pid + ")"
		}
		parts = append(parts, who+" "+GiB(p.bytes))
	}
	return "Largest processes that the log reports: " + strings.Join(parts, ", ") + "."
}

// GiB prints bytes for people, in GiB or the unit that fits.
func GiB(n int64) string {
	f, neg := float64(n), ""
	if n < 0 {
		f, neg = -f, "-"
	}
	switch {
	case f >= 1<<30:
		return fmt.Sprintf("%s%.2f GiB", neg, f/(1<<30))
	case f >= 1<<20:
		return fmt.Sprintf("%s%.1f MiB", neg, f/(1<<20))
	case f >= 1<<10:
		return fmt.Sprintf("%s%.0f KiB", neg, f/(1<<10))
	}
	return fmt.Sprintf("%s%.0f bytes", neg, f)
}

// maxWord is the longest word that clean leaves out as a whole rather than cut it.
const maxWord = 256

// clean makes log text safe to show: no control characters, at most n bytes, one line. It cuts between words: half a key
// no longer looks like one, and would not be masked.
func clean(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return ' '
		case r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.TrimSpace(s)
	if len(s) > n {
		cut := n
		for cut > 0 && s[cut]&0xc0 == 0x80 {
			cut--
		}
		if i := strings.LastIndexByte(s[:cut], ' '); i > 0 && cut-i <= maxWord {
			cut = i
		}
		s = s[:cut] + " ..."
	}
	return s
}
