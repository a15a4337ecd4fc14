package report

import (
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/remedies"
)

// PlanSchema names the JSON contract of a plan.
const PlanSchema = "oomscan.plan/v1"

// Plan is a run's memory budget, before and after a change. Its keys are always present.
type Plan struct {
	Schema    string            `json:"schema"`
	Version   string            `json:"version"`
	Framework *string           `json:"framework"`
	Trainer   *string           `json:"trainer"`
	Engine    *string           `json:"engine"`
	Model     *string           `json:"model"`
	Card      *int64            `json:"card_bytes"`
	Node      *int64            `json:"node_bytes"`
	Changes   map[string]string `json:"changes"`
	Before    []PlanPhase       `json:"before"`
	After     []PlanPhase       `json:"after"` // nothing was changed when empty
	Missing   []PlanMissing     `json:"missing"`
}

// What package remedies says is encoded as it is.
type (
	PlanPhase   = remedies.PlanPhase
	PlanSum     = remedies.PlanSum
	PlanMissing = remedies.PlanMissing
)

// NewPlan makes the page of a plan; after is nil when nothing was changed.
func NewPlan(version string, before remedies.Plan, after *remedies.Plan, changes map[string]string) *Plan {
	p := Plan{
		Schema: PlanSchema, Version: version, Framework: str(before.Framework), Trainer: str(before.Trainer), Engine: str(before.Engine), Model: str(before.Model),
		Card: before.Card, Node: before.Node, Changes: changes, Before: before.Phases, Missing: before.Missing,
	}
	if after != nil {
		p.After, p.Missing = after.Phases, after.Missing
	}
	p = withoutNil(p)
	mask(reflect.ValueOf(&p))
	return &p
}

// PlanFormats are the ways to print a plan.
func PlanFormats() map[string]func(io.Writer, *Plan, Style) error {
	return map[string]func(io.Writer, *Plan, Style) error{
		"text": planText,
		"json": func(w io.Writer, p *Plan, _ Style) error { return writeJSON(w, p, "  ") },
	}
}

// planText lays a plan out for people.
func planText(w io.Writer, p *Plan, st Style) error {
	return write(w, st, func(pg *page) {
		name := []string{}
		for _, s := range []*string{p.Framework, p.Trainer, p.Engine, p.Model} {
			if s != nil && *s != "unknown" && !slices.Contains(name, *s) {
				name = append(name, *s)
			}
		}
		pg.para(block{indent: 1}, span{bold, wordPlan}, span{plain, "  " + strings.Join(name, ", ")})
		if len(p.Before) == 0 {
			pg.para(block{indent: 1}, span{plain, wordNoBudget})
			return
		}
		pg.para(block{indent: 1}, span{dim, wordEstimated})
		for _, k := range slices.Sorted(maps.Keys(p.Changes)) {
			pg.para(block{indent: 1, hang: 4}, span{plain, labelChanged}, span{code, k + "=" + p.Changes[k]})
		}
		writePlanTable(pg, p, wordEachGPU, p.Card, func(x *PlanPhase) *PlanSum { return &x.Card })
		writePlanTable(pg, p, wordEachNode, p.Node, func(x *PlanPhase) *PlanSum { return &x.Node })
		writePlanParts(pg, p)
		writePlanMissing(pg, p)
	})
}

// planBar is how many columns the bar of a phase has.
const planBar = 24

// writePlanTable is a line and a bar for each phase, and another for what the change makes of it.
func writePlanTable(pg *page, p *Plan, title string, size *int64, of func(*PlanPhase) *PlanSum) {
	note := "  " + wordSizeUnknown
	if size != nil {
		note = "  " + classifier.GiB(*size)
	}
	full := int64(0)
	for _, list := range [][]PlanPhase{p.Before, p.After} {
		for i := range list {
			full = max(full, of(&list[i]).Bytes)
		}
	}
	if full == 0 {
		return
	}
	pg.heading(title, span{dim, note})
	pg.line(2, flatten([]span{{dim, fmt.Sprintf("%-14s %-*s %7s  %-15s %s", "", planBar, "", "GiB", "range", "fits")}}))
	for i := range p.Before {
		x := &p.Before[i]
		writePlanLine(pg, strings.ReplaceAll(x.Phase, "_", " "), of(x), size, full)
		k := slices.IndexFunc(p.After, func(y PlanPhase) bool { return y.Phase == x.Phase })
		if k >= 0 {
			writePlanLine(pg, labelAfterward, of(&p.After[k]), size, full)
		}
	}
}

// writePlanLine is one phase. What could not be computed comes on top of the sum, and a plus sign says so. The bar is as long as the
// size, or as the largest sum if that is unknown.
func writePlanLine(pg *page, name string, s *PlanSum, size *int64, largest int64) {
	full := largest
	if size != nil {
		full = *size
	}
	n := min(int(s.Bytes*planBar/full), planBar)
	bar := strings.Repeat(pg.g.bar[partAllocated], n) + strings.Repeat(pg.g.bar[partFree], planBar-n)
	more := " "
	if !s.Whole {
		more = "+"
	}
	pg.line(2, flatten([]span{
		{plain, fmt.Sprintf("%-14s ", name)},
		{partAllocated, bar},
		{plain, fmt.Sprintf(" %7s%s %-15s ", gib(s.Bytes), more, gib(s.Low)+" to "+gib(s.High))},
		fitsWord(s, size),
	}))
}

// fitsWord says whether a sum fits. Where the range leaves it open, its middle decides what is likely.
func fitsWord(s *PlanSum, size *int64) span {
	switch {
	case size == nil:
		return span{plain, ""}
	case s.Fits != nil && *s.Fits:
		return span{good, fitsYes}
	case s.Fits != nil:
		return span{short, fitsNo}
	case s.Bytes > *size: // what is not counted only adds to it
		return span{short, fitsUnlikely}
	case s.Whole:
		return span{good, fitsLikely}
	}
	return span{dim, fitsUnsure}
}

// writePlanParts lists the parts of the fullest phase of a card.
func writePlanParts(pg *page, p *Plan) {
	list, when := p.Before, ""
	if len(p.After) > 0 {
		list, when = p.After, wordAfterChange
	}
	if len(list) == 0 {
		return
	}
	x := slices.MaxFunc(list, func(a, b PlanPhase) int { return int((a.Card.Bytes - b.Card.Bytes) >> 20) })
	pg.heading(wordFullest+strings.ReplaceAll(x.Phase, "_", " "), span{dim, when})
	for _, part := range x.Card.Parts {
		label := strings.ReplaceAll(fmt.Sprintf("%-21s %6s  ", strings.ReplaceAll(part.Part, "_", " "), gib(part.Bytes)), " ", string(nbsp))
		pg.para(block{indent: 2, hang: 32}, span{plain, label}, span{dim, part.How})
	}
}

// writePlanMissing says which inputs are unknown and how to give them.
func writePlanMissing(pg *page, p *Plan) {
	if len(p.Missing) == 0 {
		return
	}
	pg.heading(wordNotCounted, span{dim, wordToCount})
	for _, m := range p.Missing {
		pg.para(block{indent: 2, hang: 4}, span{plain, m.Input}, span{dim, " (for " + strings.ReplaceAll(strings.Join(m.Parts, ", "), "_", " ") + ")"})
		if len(m.Settings) == 0 {
			continue
		}
		how := "--set " + remedies.ExampleOf(m.Settings[len(m.Settings)-1])
		if m.Input == modelSizes {
			how = modelFlag + how
		}
		pg.para(block{indent: 6, hang: 12}, span{code, how})
	}
}

// gib is a number of GiB with one decimal.
func gib(n int64) string { return fmt.Sprintf("%.1f", float64(n)/(1<<30)) }
