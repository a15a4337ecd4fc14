package classifier

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"oomscan/parser"
)

// The position of these messages matters.
const (
	rayProcess   = "ray.top_process"         // a row of the table of a node's largest processes
	rayAdvice    = "ray.memory_advice"       // the last part of a kill report by Ray's memory monitor
	kubeMemory   = "kubernetes.memory_limit" // the memory among the limits or requests listed above it
	kubeLimits   = "kubernetes.limits"
	kubeRequests = "kubernetes.requests"
	kernelVictim = "kernel.constraint" // the process that the kernel is about to kill
	cppBackward  = "torch.cpp_backward"
)

// describedReason is how kubectl describe begins the reason of a container's end; in a manifest it has a small letter.
const describedReason = "Reason:"

// dedupe returns copies of the events of one input, drops duplicates and adds details to the evidence that they belong to.
func dedupe(f *file) []*event {
	var out []*event
	for _, e := range f.Events {
		c := e
		if !f.once {
			c = new(*e)
		}
		if c.fields = e.Fields; c.fields == nil {
			c.fields = parser.Fields{}
		}
		if !mergeDuplicate(out, c) {
			out = append(out, c)
		}
	}
	out = withoutAdvice(out)
	for i, d := range out {
		if d.Role == parser.Detail && !requested(out[:i], d) {
			if e := ownerOf(out, d); e != nil {
				e.details = append(e.details, d)
				if d.Pattern != rayProcess || d.fields["pid"] == victim(e) { // else it is beside the killed one
					e.complete(d.fields)
				}
			}
		}
	}
	return out
}

// victim is the pid of the process that an event says was killed, or whose task failed, empty if it says none.
func victim(e *event) string {
	if t := e.Trace; e.fields["pid"] == "" && t != nil && t.Origin != nil && t.Origin.PID > 0 {
		return strconv.Itoa(t.Origin.PID)
	}
	return e.fields["pid"]
}

// complete adds the fields that are not known yet, to a copy: the event that e was copied from has the same ones.
func (e *event) complete(from parser.Fields) {
	for k := range from {
		if _, known := e.fields[k]; !known {
			e.fields = maps.Clone(e.fields)
			complete(e.fields, from)
			return
		}
	}
}

// complete adds the fields that are not known yet.
func complete(to, from parser.Fields) {
	for k, v := range from {
		if _, known := to[k]; !known {
			to[k] = v
		}
	}
}

// withoutAdvice drops Ray's advice after a kill that is reported elsewhere.
func withoutAdvice(events []*event) []*event {
	if !slices.ContainsFunc(events, func(e *event) bool { return e.Pattern == rayAdvice }) {
		return events
	}
	var kept []*event
	for _, e := range events {
		if e.Pattern != rayAdvice || !repeated(events, e) {
			kept = append(kept, e)
		}
	}
	return kept
}

// repeated reports whether another event reports the kill of that end: a fuller message of Ray, or the same end further
// down, where the stage is known as well. A driver repeats the text. The first copy in a log without its head has lost most,
// and may seem another attempt's because of the job's status above it.
func repeated(events []*event, advice *event) bool {
	return slices.ContainsFunc(events, func(e *event) bool {
		if e.Pattern == rayAdvice {
			return e.At.Offset > advice.At.Offset
		}
		return e.Kind == parser.OOMKill && e.Role == parser.Evidence && e.pattern.Program.Name == "ray"
	})
}

// requested reports whether kubectl printed a container's memory request, not its limit.
func requested(before []*event, d *event) bool {
	if d.Pattern != kubeMemory {
		return false
	}
	for _, e := range slices.Backward(before) {
		switch {
		case d.At.Behind(e.At) > maxResources:
			return false
		case e.Pattern == kubeRequests && e.Header.Stream == d.Header.Stream:
			return true
		case e.Pattern == kubeLimits && e.Header.Stream == d.Header.Stream:
			return false
		}
	}
	return false
}

// maxResources is how many lines a container's requests or limits have: a resource each.
const maxResources = 8

// mergeDuplicate merges an event into one that the same line already gave: a report of many lines and the pattern of one of
// them, or a piece of a long line read twice.
func mergeDuplicate(out []*event, e *event) bool {
	for i := len(out) - 1; i >= 0 && i >= len(out)-64; i-- {
		o := out[i]
		if o.At.Line != e.At.Line || o.Kind != e.Kind || o.Role != e.Role || o.Pattern != e.Pattern && o.fields["pid"] != e.fields["pid"] {
			continue
		}
		o.complete(e.fields)
		o.Trace = cmp.Or(o.Trace, e.Trace)
		return true
	}
	return false
}

// ownerOf finds the evidence that a detail belongs to: of the same kind, by the same writer, the nearest before it,
// else the nearest after it.
func ownerOf(events []*event, d *event) *event {
	reach := nearLines
	switch {
	case d.Kind == parser.OOMKill:
		reach = reportLines
	case d.Pattern == cppBackward:
		reach = abortLines // a frame of a stack
	}
	var best *event
	for _, e := range events {
		if e.Role != parser.Evidence || e.Kind != d.Kind || e.Attempt != d.Attempt {
			continue
		}
		dist := e.At.Behind(d.At)
		same := e.Header.Stream == d.Header.Stream
		switch {
		case d.Pattern == kernelVictim && e.fields["pid"] != "" && d.fields["pid"] != e.fields["pid"]:
			continue // it comes before its own kill
		case d.Pattern == kubeMemory && dist > 0 && strings.HasPrefix(strings.TrimLeft(e.Text, " "), describedReason):
			continue // a container's limits stand below its state
		case !same && d.Kind != parser.OOMKill:
			continue
		case dist <= 0 && -dist <= reach: // prefer the last one before
			best = e
		case dist > 0 && dist <= reach && best == nil:
			return e
		}
		if dist > reach {
			break
		}
	}
	return best
}
