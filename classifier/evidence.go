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
func (c *conclusion) lines(v phase.Verdict) []Evidence {
	e := c.root
	out := []Evidence{{At: e.At, Text: clean(e.Text, 400), Why: reason(e), Pattern: e.Pattern, Fields: e.fields}}
	if v.Frame != nil && c.trace != nil {
		out = append(out, Evidence{
			At:   parser.Position{Source: c.tracedBy.At.Source, Line: c.trace.Line},
			Text: clean(fmt.Sprintf("%s:%d in %s", v.Frame.File, v.Frame.Line, v.Frame.Func), 300), Why: "phase: " + v.Why,
		})
	}
	for _, d := range e.details {
		if len(out) < maxEvidence {
			out = append(out, Evidence{At: d.At, Text: clean(d.Text, 300), Why: "memory figures", Pattern: d.Pattern, Fields: d.fields})
		}
	}
	for _, x := range c.evidence {
		if x != e && len(out) < maxEvidence && (x.Pattern != e.Pattern || x.file != e.file) {
			out = append(out, Evidence{At: x.At, Text: clean(x.Text, 300), Why: "same error", Pattern: x.Pattern, Fields: x.fields})
		}
	}
	return out
}

// proofs say what a root line proves, by kind.
var proofs = map[parser.Kind]string{
	parser.GPUOOM: "a GPU allocation failed", parser.GPUDriverOOM: "the GPU driver reported out of memory", parser.KVCache: "no room for the KV cache",
	parser.NCCLOOM: "NCCL could not allocate memory", parser.HostOOM: "a host memory allocation failed", parser.SHMExhausted: "/dev/shm is full",
	parser.OOMKill: "killed because memory ran out",
}

// reason returns what a root line proves.
func reason(e *event) string {
	if e.Kind == parser.OOMKill && e.Role == parser.Suspicion {
		return "killed with SIGKILL; the log does not say by whom"
	}
	return cmp.Or(proofs[e.Kind], "first failure")
}

// findings returns conclusions from the figures.
func (c *conclusion) findings(in *Incident) []string {
	var out []string
	r := &in.Root
	if left, ok := c.root.fields.Int("available"); ok && in.Kind == parser.KVCache && r.Requested != nil {
		out = append(out, fmt.Sprintf("The engine has %s left for its KV cache, and needs %s.", GiB(left), GiB(*r.Requested)))
	}
	if want, ok := c.root.fields["tokens"]; ok && in.Kind == parser.KVCache && r.Requested == nil {
		s := "The figures are tokens of the KV cache, not bytes: " + want + " needed"
		if have := c.root.fields["tokens_available"]; have != "" {
			s += ", " + have + " free"
		}
		out = append(out, s+".")
	}
	if r.Allocated != nil && r.Total != nil && *r.Allocated > *r.Total {
		s := fmt.Sprintf("The figures contradict each other: PyTorch counts %s as allocated, but the GPU has only %s. "+
			"A sleeping inference engine (vLLM sleep mode, torch_memory_saver) frees its pages without updating PyTorch's counters. ",
			GiB(*r.Allocated), GiB(*r.Total))
		if r.Free != nil {
			s += fmt.Sprintf("In use is the total minus what is free: %s.", GiB(*r.Total-*r.Free))
		}
		out = append(out, s)
	}
	if r.Requested != nil && r.Total != nil && *r.Requested > *r.Total && in.Resource == "gpu" {
		out = append(out, fmt.Sprintf("The request alone (%s) is larger than the GPU (%s): freeing memory cannot help, the tensor itself must shrink.", GiB(*r.Requested), GiB(*r.Total)))
	}
	if r.OtherProcesses != nil && r.Requested != nil && r.Free != nil && *r.OtherProcesses >= *r.Requested-*r.Free && *r.OtherProcesses > 1<<30 && r.ProcessBytes != nil {
		out = append(out, fmt.Sprintf("Other processes hold %s on this GPU: the engine or trainer beside this one, or a leftover process (check with nvidia-smi).", GiB(*r.OtherProcesses)))
	}
	// Every allocator keeps some slack: up to a twentieth of the card means nothing.
	slack := r.Total != nil && r.ReservedUnallocated != nil && *r.ReservedUnallocated < *r.Total/20
	if r.ReservedUnallocated != nil && !slack && r.Requested != nil && r.Free != nil && *r.Requested > *r.Free && *r.ReservedUnallocated >= *r.Requested-*r.Free {
		out = append(out, fmt.Sprintf("PyTorch has %s reserved but unallocated, more than the %s that was missing: fragmentation plays a part.", GiB(*r.ReservedUnallocated), GiB(*r.Requested-*r.Free)))
	}
	if s := c.largest(); s != "" {
		out = append(out, s)
	}
	if r.Requested != nil && r.Free != nil && *r.Free >= *r.Requested && in.Resource == "gpu" && in.Kind == parser.GPUOOM {
		out = append(out, fmt.Sprintf("%s was free and only %s was requested: a limit below the GPU's size (memory fraction, allocator margin) or fragmentation refused it.", GiB(*r.Free), GiB(*r.Requested)))
	}
	return out
}

// largest names the processes of a host with the memory that they held, the largest first.
func (c *conclusion) largest() string {
	if c.root.Kind.Resource() != "host" {
		return ""
	}
	const most = 3
	found := c.processes()
	if len(found) == 0 {
		return ""
	}
	parts := make([]string, 0, most)
	for i, p := range found {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(found)-most))
			break
		}
		who := p.Name
		if p.PID > 0 {
			who += fmt.Sprintf(" (pid %d)", p.PID)
		}
		parts = append(parts, who+" "+GiB(p.RSS))
	}
	return "Largest processes in the log: " + strings.Join(parts, ", ") + "."
}

// processes returns the processes of a host with the memory that they held, the largest first: the kernel's table lists those
// of the node, or of the control group.
func (c *conclusion) processes() []Task {
	const most = 100
	var found []Task
	add := func(t Task) {
		if t.RSS > 0 && t.Name != "" && len(found) < most && !slices.ContainsFunc(found, func(x Task) bool { return x.PID == t.PID }) {
			found = append(found, t)
		}
	}
	of := func(e *event) Task {
		n, ok := e.Fields.Int("process")
		if !ok {
			n, _ = resident(e)
		}
		pid, _ := strconv.Atoi(e.Fields["pid"])
		return Task{PID: pid, Name: clean(cmp.Or(e.Fields["cmd"], e.Fields["comm"]), 60), RSS: n}
	}
	for _, e := range c.evidence {
		for _, d := range e.details {
			add(of(d))
		}
		add(of(e))
	}
	for _, t := range tasks(c.root.fields["tasks"]) {
		add(t)
	}
	slices.SortStableFunc(found, func(a, b Task) int { return cmp.Compare(b.RSS, a.RSS) })
	return found
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
	if f == 1 {
		return neg + "1 byte"
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
		s = strings.ToValidUTF8(s[:n], "")
		if i := strings.LastIndexByte(s, ' '); i > 0 && len(s)-i <= maxWord {
			s = s[:i]
		}
		s += " ..."
	}
	return s
}
