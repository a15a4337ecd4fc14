package parser

import (
	_ "embed" // plan.bin
	"sync"

	"oomscan/parser/anchor"
)

// care says what becomes of a line for a needle that it holds.
type care uint16

const (
	// reads: the line is read at once, by the parser that keeps the state of every writer.
	reads care = 1 << iota
	// tries: the same if one of the line's patterns matches.
	tries
	// marks: the line opens or closes a printed sample. Where the input can be read again, such lines are not searched for.
	marks
	// The others only tell where the run is. Such lines may be common, and nothing needs to know before something
	// happens: they are kept as they are, the last of each kind, and read then.
	tellsWho
	tellsPhase
	tellsTimer
	tellsStep
	tellsStart
	tellsGauge
	// These are so common that they are not even searched for where the input can be read again.
	commonPhase
	commonStep
	// hopeless: none of the line's patterns would match.
	hopeless
)

// compiled is the pattern table with its gate.
type compiled struct {
	gate
	patterns  *catalogue
	finder    *anchor.Finder
	headLines int
	lookBack  int64 // how far off a common line may be
	markBack  int64 // and the mark of a sample
}

// gate says what becomes of a line, by its needles. That of the pattern table is a part of the program: to make it takes
// longer than to read a short log. What is in it is not to be changed.
type gate struct {
	needles   []string
	owners    [][]int32 // needle id -> patterns that own it, ascending; none: a needle that only opens a report
	cares     []care    // of each needle
	settings  []bool    // needles that open dumps of settings
	traceback int       // the needle of a traceback's header
	frame     int       // and of its frames
	traits    []trait   // of each pattern
	followers [][]int32 // by pattern, those that are tried on the lines behind it
}

// trait is what is asked of patterns that need not be made for it.
type trait uint8

const (
	yieldsEvent trait = 1 << iota
	isVeto
	isWhole
	isGauge
	isSpare // its lines say the same again and again; see spare.go
	closes  // the end of a stage
)

func traitsOf(p *Pattern) (t trait) {
	if p.Kind != "" {
		t |= yieldsEvent
	}
	if p.Veto {
		t |= isVeto
	}
	if p.Whole {
		t |= isWhole
	}
	if p.Gauge {
		t |= isGauge
	}
	if spareable(p) {
		t |= isSpare
	}
	if p.Set["edge"] == "close" {
		t |= closes
	}
	return t
}

//go:generate go test -run ^TestPlanIsFresh$ . -args -plan

// planImage is the finder of the pattern table.
//
//go:embed plan.bin
var planImage []byte

// table is the pattern table, for all scanners.
var table = sync.OnceValue(newTable)

// newTable puts the table together out of what go generate made of it: next to nothing is left to do.
func newTable() *compiled {
	t := newCompiled(planGate, lazyCatalogue(len(planGate.traits), planParts))
	f, err := anchor.Load(t.needles, t.classes(), planImage)
	if err != nil {
		panic("parser: the finder is not that of the pattern table: " + err.Error()) // proven not to happen by TestPlanIsFresh
	}
	t.finder = f
	return t
}

func newCompiled(g gate, patterns *catalogue) *compiled {
	return &compiled{gate: g, patterns: patterns, headLines: headLines, lookBack: maxLookBack, markBack: maxMarkBack}
}

// compile makes the gate of patterns.
func compile(patterns []Pattern) *compiled {
	return newCompiled(gateOf(patterns), catalogueOf(patterns))
}

func gateOf(patterns []Pattern) gate {
	g := gate{traits: make([]trait, len(patterns)), followers: make([][]int32, len(patterns))}
	ids := map[string]int{}
	id := func(n string) int {
		i, ok := ids[n]
		if !ok {
			i = len(g.needles)
			ids[n] = i
			g.needles = append(g.needles, n)
			g.owners = append(g.owners, nil)
			g.cares = append(g.cares, 0)
			g.settings = append(g.settings, false)
		}
		return i
	}
	leaders := map[string][]int32{} // by name, who follows on them
	for p := range patterns {
		for _, after := range patterns[p].After {
			leaders[after] = append(leaders[after], int32(p))
		}
	}
	for p := range patterns {
		pat := &patterns[p]
		g.traits[p] = traitsOf(pat)
		g.followers[p] = leaders[pat.Name]
		c := careOf(pat, len(g.followers[p]) > 0)
		for _, n := range pat.Needles {
			i := id(n)
			g.owners[i] = append(g.owners[i], int32(p))
			g.cares[i] |= c
		}
	}
	for _, n := range reportNeedles {
		g.cares[id(n)] |= reads
	}
	g.traceback, g.frame = ids[headerNeedle], ids[frameNeedle]
	for _, m := range sampleMarks {
		if m.needle {
			g.cares[id(m.mark)] |= marks
		}
	}
	for _, n := range settingNeedles {
		i := id(n)
		g.cares[i] |= reads
		g.settings[i] = true
	}
	return g
}

// build makes the finder of a table that is not part of the program, as tests have them.
func (t *compiled) build() *compiled {
	classes := t.classes()
	f, err := anchor.Planned(t.needles, classes, anchor.Choose(t.needles, classes, quickTries))
	if err != nil {
		panic("parser: the pattern table holds a needle that cannot be searched: " + err.Error())
	}
	t.finder = f
	return t
}

// quickTries is how long a plan's multiplier is looked for while somebody waits.
const quickTries = 32

// classes says for each needle how it is searched for: everywhere, backwards, or only in lines that hold another one.
func (g *gate) classes() []anchor.Class {
	classes := make([]anchor.Class, len(g.needles))
	for i, c := range g.cares {
		switch {
		case c&^(common|marks) != 0:
			classes[i] = anchor.First
		case c&common != 0:
			classes[i] = commonClass
		case c != 0:
			classes[i] = markClass
		default:
			classes[i] = anchor.Third
		}
	}
	return classes
}

// careOf says what becomes of the lines that one pattern might match.
func careOf(p *Pattern, leads bool) care {
	switch {
	case p.Veto:
		return 0 // matters on an event's line, which has a needle of its own
	case leads || p.Kind != "":
		return tries
	case p.Gauge:
		return tellsGauge
	case p.Common && p.Marker == "step":
		return commonStep
	case p.Common:
		return commonPhase
	}
	return careFor(p.Marker)
}

// careFor is the kind of a marker's lines.
func careFor(marker string) care {
	switch marker {
	case "identity":
		return tellsWho
	case "phase":
		return tellsPhase
	case "timer":
		return tellsTimer
	case "step", "progress":
		return tellsStep
	}
	return tellsStart // launch, ready
}

// The needles that a traceback cannot do without.
const (
	headerNeedle = "Traceback (most recent call last)"
	frameNeedle  = `", line `
)

// reportNeedles open or continue reports of many lines; see package traceback.
var reportNeedles = []string{
	headerNeedle, frameNeedle, "() (pid=", "Exception occurred while running ", "terminated with the following error",
	"Fatal Python error", "(most recent call first)", "ChildFailedError", "observed failure):", " invoked oom-killer: ",
}

// settingNeedles open dumps of settings after the head of an input; see package settings.
var settingNeedles = []string{
	"server_args=ServerArgs(", "non-default args:", " with config: ", "executing job with overrides", "- arguments -",
	"Namespace(", "namespace(", "Overrides: [", "Final config:", "#SBATCH ", "python3 -m ", "python -m ", "torchrun ",
	"Launch command", "TrainingArguments(", "GRPOConfig(", "SFTConfig(", "Running training", "{'actor_rollout_ref'",
	"Model config {", "DeepSpeedEngine configuration", "accelerate launch", "mpirun ", "local process with command",
	"Config param ", string(childCommand), "MasterConfig(", "llama_context: n_ctx", ": Args { ",
}
