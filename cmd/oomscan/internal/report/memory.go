package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"oomscan/remedies/memory"
)

// part is one stretch of a memory bar.
type part struct {
	ink   ink
	label string
	bytes int64
}

// writeMemory draws where the memory was: the device's ledger, or a host's use against its limit.
func writeMemory(p *page, in *Incident) {
	if in.Resource == "host" {
		writeHostMemory(p, in)
		return
	}
	l := in.Ledger
	if l == nil || l.Capacity == nil || l.Free == nil || *l.Capacity <= 0 || *l.Free < 0 || *l.Free > *l.Capacity {
		return
	}
	parts, sound := ledgerParts(l, in.Root.OwnBytes)
	contradiction := deref(l.Contradiction)
	if contradiction != "" || !sound {
		parts = []part{{partAllocated, "in use (capacity minus free)", *l.Capacity - *l.Free}, {partFree, "free", *l.Free}}
	}
	name := "GPU memory"
	if in.Root.Device != nil {
		name = fmt.Sprintf("Memory of GPU %d", *in.Root.Device)
	}
	p.heading(name, span{dim, " (" + size(*l.Capacity) + ") when the request failed"})
	writeBar(p, parts, *l.Capacity, l.Requested)
	writeLegend(p, parts, *l.Capacity)
	noted := slices.ContainsFunc(in.Findings, func(f string) bool { return strings.Contains(f, "contradict") })
	switch {
	case contradiction != "" && noted, contradiction == "" && !sound:
		p.para(block{indent: 4, hang: 4}, span{plain, "The printed parts contradict each other, so only what is free is drawn."})
	case contradiction != "":
		p.para(block{indent: 4, hang: 4}, span{plain, "The printed figures contradict each other, so only what is free is drawn: " + strings.TrimSuffix(contradiction, ".") + "."})
	}
}

// ledgerParts are the ledger's parts in the order of the bar. It gives false when they do not fit into the capacity.
func ledgerParts(l *memory.Ledger, own *int64) ([]part, bool) {
	var parts []part
	sum, sound := 0.0, true
	add := func(k ink, label string, n *int64) {
		if n == nil {
			return
		}
		sound = sound && *n >= 0
		sum += float64(*n)
		if *n > 0 {
			parts = append(parts, part{k, label, *n})
		}
	}
	add(partAllocated, "allocated by PyTorch", l.Allocated)
	add(partReserved, "reserved by PyTorch, unallocated", l.ReservedUnallocated)
	rest, label := l.ProcessRest, "rest of this process (CUDA context, NCCL ...)"
	if rest == nil && own != nil {
		// The process's total is known but not all of its parts: what the known parts leave is its rest.
		n := *own
		for _, x := range []*int64{l.Allocated, l.ReservedUnallocated} {
			if x != nil {
				n, label = n-*x, "rest of this process"
			}
		}
		if len(parts) == 0 {
			label = "this process"
		}
		rest = &n
	}
	add(partProcess, label, rest)
	add(partOthers, "other processes", l.OtherProcesses)
	sum += float64(*l.Free)
	left := float64(*l.Capacity) - sum
	if left < -float64(max(l.Rounding, *l.Capacity/1000)) {
		sound = false
	}
	// What the figures leave open is worth a stretch of its own when it is more than their rounding.
	if left > float64(max(l.Rounding, *l.Capacity/1000)) {
		label := "not explained by the log"
		if len(parts) == 0 {
			label = "in use, by whom is not printed"
		}
		parts = append(parts, part{partUnknown, label, int64(left)})
	}
	return append(parts, part{partFree, "free", *l.Free}), sound
}

// writeHostMemory draws the use of a host's memory against its limit, as far as it is known.
func writeHostMemory(p *page, in *Incident) {
	r := &in.Root
	limit := r.Limit
	if limit == nil {
		limit = r.Total
	}
	if limit == nil || *limit <= 0 {
		return
	}
	parts := hostParts(in, *limit)
	if len(parts) == 0 {
		return
	}
	name := "Host memory"
	if h := deref(r.Host); h != "" {
		name += " of " + h
	}
	p.heading(name, span{dim, " against its limit"})
	writeBar(p, parts, *limit, nil)
	writeLegend(p, parts, *limit)
}

// hostParts are the parts of a host's memory in the order of the bar, none when nothing but the limit is known.
func hostParts(in *Incident, limit int64) []part {
	r, process := &in.Root, "this process"
	if in.Kind == "oom_kill" {
		process = "the killed process"
	}
	taken := int64(-1)
	switch {
	case used(in) != nil:
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
		heaps := []part{{partAllocated, "processes' own memory (anonymous)", *l.Anon}}
		if own > 0 && own <= *l.Anon {
			heaps = []part{{partAllocated, process, own}, {partUnknown, "other processes' own memory", *l.Anon - own}}
		}
		parts = append(heaps, []part{
			{partReserved, "shared memory (/dev/shm, tmpfs)", *l.Shmem},
			{partOthers, "page cache", *l.File},
			{partProcess, "the kernel's own", *l.Unexplained},
			{partFree, "free", *l.Free},
		}...)
	case taken >= 0 && own > 0 && own <= taken:
		parts = []part{{partAllocated, process, own}, {partOthers, "others", taken - own}, {partFree, "free", limit - taken}}
	case taken >= 0:
		parts = []part{{partAllocated, "in use", taken}, {partFree, "free", limit - taken}}
	case own > 0:
		parts = []part{{partAllocated, process, own}, {partUnknown, "others, or free: not printed", limit - own}}
	}
	return slices.DeleteFunc(parts, func(x part) bool { return x.bytes == 0 })
}

// barIndent is where the bar and its legend begin, and shortMark what stands beside a request that overshoots.
const (
	barIndent = 4
	shortMark = " too much"
)

// writeBar draws the parts to scale, and under it the request: as far as it fits into what is free, and how far it
// overshoots. An overshoot of more than a third of the capacity ends in an arrow.
func writeBar(p *page, parts []part, capacity int64, request *int64) {
	room := p.prose - barIndent
	free := 0.0
	if n := len(parts); n > 0 && parts[n-1].ink == partFree {
		free = float64(parts[n-1].bytes)
	}
	over := 0.0
	if request != nil && *request > 0 {
		over = max(0, float64(*request)-free)
	}
	drawn := min(over, float64(capacity)/3)
	if over > 0 {
		room -= len(shortMark)
	}
	whole := max(4, int(math.Round(float64(room)*float64(capacity)/(float64(capacity)+drawn))))
	if over > 0 {
		whole = min(whole, room-1)
	}
	cells := share(parts, whole)
	var spans []span
	start := whole
	for i, x := range parts {
		spans = append(spans, span{x.ink, strings.Repeat(p.g.bar[x.ink], cells[i])})
		if x.ink == partFree {
			start = whole - cells[i]
		}
	}
	p.para(block{indent: barIndent, full: true}, spans...)
	if request == nil || *request <= 0 {
		return
	}
	within := whole - start
	if over == 0 && free > 0 {
		within = max(1, int(math.Round(float64(within)*float64(*request)/free)))
	}
	mark := []span{{bold, strings.Repeat(p.g.within, within)}}
	if over > 0 {
		line := strings.Repeat(p.g.over, max(1, room-whole))
		if drawn < over {
			line = strings.Repeat(p.g.over, max(0, room-whole-1)) + p.g.beyond
		}
		mark = append(mark, span{short, line + unbroken(shortMark)})
	}
	const label = "the request "
	if start >= len(label) {
		p.para(block{indent: barIndent + start - len(label), full: true}, append([]span{{dim, unbroken(label)}}, mark...)...)
		return
	}
	p.para(block{indent: barIndent + start, full: true}, mark...)
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

// writeLegend lists the parts with their figures right-aligned.
func writeLegend(p *page, parts []part, capacity int64) {
	labels, figures := 0, 0
	for _, x := range parts {
		labels = max(labels, measure(x.label))
		figures = max(figures, measure(column(x.bytes, capacity)))
	}
	labels = min(labels, p.width-barIndent-2-2-figures-6)
	for _, x := range parts {
		figure := column(x.bytes, capacity)
		p.para(
			block{indent: barIndent, hang: barIndent + 2, full: true},
			span{x.ink, p.g.bar[x.ink]}, span{plain, " " + pad(x.label, labels) + pad("", 2+figures-measure(figure)) + figure},
			span{dim, unbroken(fmt.Sprintf("%5.0f %%", 100*float64(x.bytes)/float64(capacity)))},
		)
	}
}
