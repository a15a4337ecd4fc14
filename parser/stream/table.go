package stream

import (
	"sync"

	"oomscan/parser/envelope"
	"oomscan/parser/literal"
	"oomscan/parser/messages"
	"oomscan/parser/pattern"
	"oomscan/parser/prefilter"
	"oomscan/parser/sample"
)

// fate is what becomes of a line for a literal that it holds. The zero value is to ignore it.
type fate uint16

const (
	// read: the line is read now.
	read fate = 1 << iota
	// Lines of the others only show where the run is. The latest lines of each kind are kept and read when an event
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

// Table is a pattern table, compiled for reading. It serves any number of readers.
type Table struct {
	finder    *literal.Finder
	patterns  []pattern.Matcher
	literals  []literalUse
	vetoes    pattern.Vetoes
	followers [][]int32 // by pattern, those that are tried on the lines after it
	headLines int
	skips     func() *prefilter.Table // of the same patterns; large inputs alone need it
}

// literalUse is what a literal is good for.
type literalUse struct {
	text     string
	patterns []int32 // whose literal it is, ascending; none: it opens or continues a report of several lines
	fate     fate
	settings bool // it opens a dump of settings
}

// builtin is the table of the messages that oomscan knows itself, for all readers that are given no other.
var builtin = sync.OnceValue(func() *Table {
	t, err := NewTable(messages.All())
	if err != nil {
		panic("stream: the pattern table cannot be searched: " + err.Error()) // TestPatterns checks every literal
	}
	return t
})

// NewTable returns the table of patterns, which are tried in their order and must not change. It fails if a literal cannot be
// searched for.
func NewTable(patterns []pattern.Pattern) (*Table, error) {
	t := &Table{headLines: headLines, patterns: make([]pattern.Matcher, len(patterns)), followers: make([][]int32, len(patterns))}
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
		if patterns[i].Veto {
			t.vetoes.Add(&t.patterns[i])
			if !patterns[i].Whole {
				continue
			}
		}
		for _, lit := range patterns[i].Literals {
			u := use(lit)
			u.patterns = append(u.patterns, int32(i))
			u.fate |= fateOf(&patterns[i], len(t.followers[i]) > 0)
		}
	}
	for _, lit := range reportLiterals {
		use(lit).fate |= read
	}
	for _, lit := range partLiterals {
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
	for _, turn := range sample.Turns {
		use(turn.Text).fate |= keepSampleMark
	}
	for _, opener := range sample.Openers {
		use(opener).fate |= keepSampleMark
	}
	use(author).fate |= read
	use(fileHead).fate |= read
	use(ofMerge).fate |= read
	use(mailHead).fate |= read
	for i := range t.literals { // those that are added have nothing to escape
		if t.literals[i].fate&read == 0 {
			continue
		}
		for _, escaped := range envelope.Escaped(t.literals[i].text) {
			use(escaped).fate |= read
		}
	}
	texts := make([]string, len(t.literals))
	for i := range t.literals {
		texts[i] = t.literals[i].text
	}
	t.skips = sync.OnceValue(func() *prefilter.Table {
		skips, _ := prefilter.NewTable(patterns, author, fileHead, ofMerge, mailHead) // its literals are some of those below
		return skips
	})
	var err error
	t.finder, err = literal.NewFinder(texts)
	return t, err
}

// fateOf is what becomes of the lines that a pattern might match.
func fateOf(p *pattern.Pattern, leads bool) fate {
	switch {
	case p.Veto:
		return 0 // it matters only on lines that are read for another literal
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

const (
	tracebackLiteral = "Traceback (most recent call last)"
	frameLiteral     = `", line `
)

// reportLiterals open or continue reports of several lines; see package traceback.
var reportLiterals = []string{
	tracebackLiteral, frameLiteral, "() (pid=", "()\x1b[39m (pid=", "Exception occurred while running ", "terminated with the following error",
	"Fatal Python error", "(most recent call first)", "ChildFailedError", "observed failure):", " invoked oom-killer: ",
	"______ ", "_ _ _ _ _ _ ",
}

// partLiterals are in the parts of a line that a container's runtime cut, but in the last: those of containerd, Fluent Bit and Docker.
var partLiterals = []string{" stderr P ", " stdout P ", `"logtag":"P"`, `"partial_message":"true"`}

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
