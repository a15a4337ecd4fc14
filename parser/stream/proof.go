package stream

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"oomscan/parser"
	"oomscan/parser/pattern"
	"oomscan/parser/prefilter"
)

// prefixes are what loggers, launchers and collectors put around a line.
var prefixes = []struct{ name, before, after string }{
	{"nothing", "", ""},
	{"rank", "[rank3]: ", ""},
	{"ray", "(WorkerDict pid=4711, ip=10.0.0.7) ", ""},
	{"ray coloured", "\x1b[36m(WorkerDict pid=4711, ip=10.0.0.7)\x1b[0m ", ""},
	{"ray repeated", "\x1b[36m(WorkerDict pid=4711)\x1b[0m ", "\x1b[32m [repeated 7x across cluster]\x1b[0m"},
	{"ray and engine", "\x1b[36m(vLLMHttpServer pid=20788)\x1b[0m (EngineCore_DP0 pid=21402) ", ""},
	{"ray, engine and logger", "(vLLMHttpServer pid=20788) (EngineCore_DP0 pid=21402) ERROR 12-03 11:22:31 [core.py:844] ", ""},
	{"srun and rank", "3: [rank3]: ", ""},
	{"torchrun", "[default3]:", ""},
	{"journald", "Jun 01 10:00:00 node01 python[123]: ", ""},
	{"cri", "2025-06-01T10:00:00.123456789Z stderr F ", ""},
	{"crlf", "", "\r"},
	{"behind a progress bar", "  3%|3         | 40/1171 [39:20<18:32:22, 59.01s/it]\r", ""},
	{"sgr inside", "\x1b[31m", "\x1b[0m"},
}

// filler is what a healthy run prints before.
const filler = "the run goes on\nand on\n"

// Prove returns what is wrong with a pattern of the table as a reader meets it: past the head of an input, so that only literals
// lead to a line, and behind every line prefix. Each sample must come out with its fields, and a sample of an event must be
// found in a part of a large input that is searched before it is read.
func (t *Table) Prove(p *pattern.Pattern) []pattern.Fault {
	if p.Veto {
		return nil
	}
	headless := *t
	headless.headLines = 0
	var faults []pattern.Fault
	for i, s := range p.Match {
		part := fmt.Sprintf("match[%d]", i)
		for _, c := range prefixes {
			text, line := filler, 3
			if len(p.After) > 0 {
				text, line = text+c.before+t.sampleOf(p.After[0])+c.after+"\n", line+1
			}
			if found, claims := headless.finds(p, p.Yields(s), text+c.before+s.Line+c.after+"\n", line); !found {
				faults = append(faults, pattern.Fault{Part: part, What: fmt.Sprintf("behind %s, %q is read as %s", c.name, s.Line, cmp.Or(claims, "nothing"))})
				break
			}
		}
		if p.Kind != "" && len(p.After) == 0 && p.Kind != parser.Pressure && !t.searches(filler+s.Line+"\n") {
			faults = append(faults, pattern.Fault{Part: part, What: fmt.Sprintf("a search of a large input passes over %q", s.Line)})
		}
	}
	return faults
}

// sampleOf is a line that the pattern of that name matches.
func (t *Table) sampleOf(name string) string {
	for i := range t.patterns {
		if t.patterns[i].Name == name {
			return t.patterns[i].Match[0].Line
		}
	}
	return ""
}

// finds reports whether a pattern matches a line of a text with these fields, and names what else does.
func (t *Table) finds(p *pattern.Pattern, want parser.Fields, text string, line int) (found bool, claims string) {
	_, _ = Read("proof", strings.NewReader(text), func(o parser.Observation) {
		switch o := o.(type) {
		case parser.Event:
			if o.At.Line == line {
				claims = o.Pattern
				found = found || o.Pattern == p.Name && o.Kind == p.Kind && o.Role == p.Role && maps.Equal(o.Fields, want)
			}
		case parser.Marker:
			found = found || o.At.Line == line && o.Name == p.Marker && maps.Equal(o.Fields, want)
		case parser.Gauge:
			found = found || o.At.Line == line && o.Name == p.Name && maps.Equal(o.Fields, want)
		}
	}, Patterns(t))
	return found, claims
}

func (t *Table) searches(text string) bool {
	return t.skips().Search(strings.NewReader(text), prefilter.Stretch{To: int64(len(text))}, 1, DefaultLine).Found
}
