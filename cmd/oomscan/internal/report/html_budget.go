package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// htmlStacks are the budget with the run's settings and after the first change, to one scale, and what there is.
type htmlStacks struct {
	Bars      []htmlStack
	CapacityX float64 // in percent; 0: unknown
	Capacity  string
	Parts     []htmlPart // of the first bar, for the key
}

// htmlStack is the budget of the failed phase as one bar, in percent.
type htmlStack struct {
	Title string
	Parts []htmlPart
}

// stacksOf is the budget of the memory that ran out, before and after the first change. Nil: what is known of it is less than half
// of what there is.
func stacksOf(in *Incident) *htmlStacks {
	total := int64(0)
	var parts []BudgetPart
	for _, x := range in.Budget {
		if x.Bytes > 0 && (x.Resource == in.Resource || x.Resource == "") {
			parts, total = append(parts, x), total+x.Bytes
		}
	}
	name, _, capacity := memoryParts(in)
	if len(parts) < 2 || 2*total < capacity {
		return nil
	}
	slices.SortStableFunc(parts, func(a, b BudgetPart) int { return cmp.Compare(b.Bytes, a.Bytes) })
	parts = fewParts(parts)
	percent := 100 / float64(max(total, capacity))
	out := &htmlStacks{}
	x := 0.0
	for i, p := range parts {
		w := float64(p.Bytes) * percent
		text := size(p.Bytes) + " " + strings.ReplaceAll(p.Part, "_", " ")
		out.Parts = append(out.Parts, htmlPart{Class: fmt.Sprintf("b%d", i), Text: text, X: x, Width: w})
		x += w
	}
	if n := in.Unexplained; n != nil && *n > 0 && total+*n <= max(total, capacity) {
		out.Parts = append(out.Parts, htmlPart{Class: "free", Text: size(*n) + " " + partWords[partUnknown], X: x, Width: float64(*n) * percent})
	}
	out.Bars = append(out.Bars, htmlStack{budgetTitle(false, total), out.Parts})
	if capacity > 0 {
		out.CapacityX, out.Capacity = float64(capacity)*percent, name+" has "+size(capacity)
	}
	if len(in.Proposals) > 0 {
		if frees := in.Proposals[0].FreesBytes; frees != nil && *frees > 0 && *frees < total {
			left := total - *frees
			out.Bars = append(out.Bars, htmlStack{budgetTitle(true, left), []htmlPart{{Class: "good", Text: size(left), Width: float64(left) * percent}}})
		}
	}
	return out
}

// fewParts are the largest parts, the others as one: the page's list has them part by part.
func fewParts(parts []BudgetPart) []BudgetPart {
	const most = 6
	if len(parts) <= most {
		return parts
	}
	rest := BudgetPart{Part: wordOtherParts}
	for _, p := range parts[most-1:] {
		rest.Bytes += p.Bytes
	}
	return append(slices.Clone(parts[:most-1]), rest)
}
