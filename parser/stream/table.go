package stream

import (
	"slices"
	"sync"

	"oomscan/parser/literal"
	"oomscan/parser/messages"
	"oomscan/parser/pattern"
	"oomscan/parser/sample"
)

// fate is what becomes of a line for a literal that it holds. The zero value is to ignore it.
type fate uint16

const (
	// read: the line is read now.
	read fate = 1 << iota
	// The others only tell where the run is, again and again. The latest lines of each kind are kept and read when an event
	// makes them matter; see deferred.
	keepSampleMark
	keepIdentity
	keepPhase
	keepTimer
	keepStart
	keepStep
	keepGauge
	keepCommonPhase
	keepCommonStep
)

// table is the pattern table, compiled for reading.
type table struct {
	finder    *literal.Finder
	patterns  []pattern.Matcher
	literals  []literalUse
	followers [][]int32 // by pattern, those that are tried on the lines after it
	headLines int
}

// literalUse is what a literal is good for.
type literalUse struct {
	text     string
	patterns []int32 // whose literal it is, ascending; none: it opens or continues a report of several lines
	fate     fate
	settings bool // it opens a dump of settings
}

// builtin is the table of all messages, for all readers.
var builtin = sync.OnceValue(func() *table { return newTable(messages.All()) })

func newTable(patterns []pattern.Pattern) *table {
	t := &table{headLines: headLines, patterns: make([]pattern.Matcher, len(patterns)), followers: make([][]int32, len(patterns))}
	ids := map[string]int{}
	use := func(lit string) *literalUse {
		i, ok := ids[lit]
		if !ok {
			i = len(t.literals)
			ids[lit] = i
			t.literals = append(t.literals, literalUse{text: lit})
		}
		return &t.literals[i]
	}
	byName := make(map[string]int, len(patterns))
	for i := range patterns {
		t.patterns[i].Pattern = &patterns[i]
		byName[patterns[i].Name] = i
	}
	for i := range patterns {
		for _, leader := range patterns[i].After {
			if l, ok := byName[leader]; ok {
				t.followers[l] = append(t.followers[l], int32(i))
			}
		}
	}
	for i := range patterns {
		for _, lit := range patterns[i].Literals {
			u := use(lit)
			u.patterns = append(u.patterns, int32(i))
			u.fate |= fateOf(&patterns[i], len(t.followers[i]) > 0)
		}
	}
	for _, lit := range reportLiterals {
		use(lit).fate |= read
	}
	for _, lit := range settingLiterals {
		u := use(lit)
		u.fate |= read
		u.settings = true
	}
	for _, m := range sample.Marks {
		if m.Searched {
			use(m.Text).fate |= keepSampleMark
		}
	}
	texts := make([]string, len(t.literals))
	for i := range t.literals {
		texts[i] = t.literals[i].text
	}
	f, err := literal.NewFinder(texts)
	if err != nil {
		panic("stream: the pattern table cannot be searched: " + err.Error()) // TestPatterns checks every literal
	}
	t.finder = f
	return t
}

// fateOf says what becomes of the lines that a pattern might match.
func fateOf(p *pattern.Pattern, leads bool) fate {
	switch {
	case p.Veto:
		return 0 // it matters on an event's line, which has a literal of its own
	case leads || p.Kind != "":
		return read
	case p.Gauge:
		return keepGauge
	case p.Common && p.Marker == "step":
		return keepCommonStep
	case p.Common:
		return keepCommonPhase
	}
	return fateOfMarker(p.Marker)
}

func fateOfMarker(name string) fate {
	switch name {
	case "identity":
		return keepIdentity
	case "phase":
		return keepPhase
	case "timer":
		return keepTimer
	case "step", "progress":
		return keepStep
	}
	return keepStart // launch, ready
}

// candidates appends the patterns that have a literal among those of a message, ascending.
func (t *table) candidates(to []int32, literals []int) []int32 {
	for _, id := range literals {
		to = append(to, t.literals[id].patterns...)
	}
	slices.Sort(to)
	return slices.Compact(to)
}

const (
	tracebackLiteral = "Traceback (most recent call last)"
	frameLiteral     = `", line `
)

// reportLiterals open or continue reports of several lines; see package traceback.
var reportLiterals = []string{
	tracebackLiteral, frameLiteral, "() (pid=", "Exception occurred while running ", "terminated with the following error",
	"Fatal Python error", "(most recent call first)", "ChildFailedError", "observed failure):", " invoked oom-killer: ",
}

// settingLiterals open dumps of settings after the head of an input; see package settings.
var settingLiterals = []string{
	"server_args=ServerArgs(", "non-default args:", " with config: ", "executing job with overrides", "- arguments -",
	"Namespace(", "namespace(", "Overrides: [", "Final config:", "#SBATCH ", "python3 -m ", "python -m ", "torchrun ",
	"Launch command", "TrainingArguments(", "GRPOConfig(", "SFTConfig(", "Running training", "{'actor_rollout_ref'",
	"Model config {", "DeepSpeedEngine configuration", "accelerate launch", "mpirun ", "local process with command",
	"Config param ", string(childCommand), "MasterConfig(", "llama_context: n_ctx", ": Args { ",
}

// headLines and headBytes bound the part of each input in which every line is read: programs print their settings first, in
// too many forms to know them by a literal.
const (
	headLines = 600
	headBytes = 192 << 10
)
