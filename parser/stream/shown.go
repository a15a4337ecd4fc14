package stream

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/lazyre"
)

// Programs show texts in forms that no failure has: their own help, manuals, what a search found, a table of samples, passages of
// documents, what a tool of an agent printed, what the tests that passed did, and comments of configuration files.

// isShown reports whether the lines above an event show that it is such a text.
func (r *Reader) isShown(e *parser.Event, at int) bool {
	own, _, _ := bytes.Cut(r.buf[at:], newline)
	placed, _ := r.inPlaces(own, at)
	return placed || r.inUsage(at) || r.isFound(own, at) || r.inFrame(own, at) || r.isRanked(own, at) || r.inPassage(at) || r.inToolOutput(own, at) || r.isObserved(own, at) || r.inCommand(at) || r.inPasses(at) ||
		r.inDrawn(own, at) || r.isLabeled(own, at) || r.inColumn(own, at) || r.inProfile(own, at) || r.inPatch(own, at) || r.inConfiguration(e, own, at) || r.isTextRow(own, at)
}

// usage is the first line of the help of a program as argparse prints it (argparse.py, HelpFormatter) or click (click/formatting.py), and
// sectionOfUsage a heading in it.
var (
	usage          = lazyre.New(`^(?:usage: |Usage: \S.* \[OPTIONS\])`)
	sectionOfUsage = lazyre.New(`^(?:[a-z][\w ]{1,40}|Options|Commands):$`)
)

// pageName and pageSection are the name of a page of a manual, as its head shows it at both ends, and the heading of a section.
var (
	pageName    = lazyre.New(`^[A-Za-z][\w.:+-]{0,60}\([1-9]\w{0,4}\)$`)
	pageSection = lazyre.New(`^[A-Z][A-Z ,/-]{2,40}$`)
)

// isPageHead reports whether a line is the head of a page of a manual as man prints it.
func isPageHead(line []byte) bool {
	first, rest, _ := bytes.Cut(line, []byte("  "))
	return bytes.HasSuffix(rest, first) && len(rest) > len(first) && pageName().Match(first)
}

// A section of a page is shown without its head as well. Then so many lines of it are words as in sentences, all of them as far from the edge
// as man puts them: what a program reports below a heading has few words.
const (
	pageIndent = 7
	leastWords = 5
)

// words is such a line: it has no figures and few signs.
var words = lazyre.New(`^ {7,}(?:[(“"'‘]?[A-Za-z][a-z'’-]{0,20}(?:\.[a-z]\.)?[”"'’]?[),;:]{0,2} ){3,}[A-Za-z'’-]{1,20}[.,;:)]{0,3}$`)

// inUsage reports whether an event is indented below the first line of a help, or of a page of a manual, and nothing but headings of sections
// is between, or in a section of a page.
func (r *Reader) inUsage(at int) bool {
	margin := indentOf(r.buf[at:])
	if margin < 2 {
		return false
	}
	inPage, said := false, 0
	for line := range r.above(at) {
		if indent := indentOf(line); indent > 0 {
			margin = min(margin, indent)
		}
		switch {
		case words().Match(line):
			said++
		case len(line) == 0 || indentOf(line) >= 2 || bytes.HasPrefix(line, bytes.TrimSpace(quoted)): // the last stands for a row that was broken
		case isPageHead(line):
			return true
		case usage().Match(line):
			return !inPage
		case pageSection().Match(line):
			if !inPage && margin >= pageIndent && said >= leastWords {
				return true
			}
			inPage = true
		case !sectionOfUsage().Match(line):
			return false
		}
	}
	return false
}

// numbered is a line as ripgrep and ag print it below the name of its file, and searched a file that is no log. Behind a label of srun -l is one
// blank, and in a time a digit. finding is what ShellCheck prints right above a line of a script.
var (
	numbered = lazyre.New(`^([1-9]\d{0,6})[:-](?:$|[^\s\d]|[ \t]{2})`)
	finding  = lazyre.New(`^(?:In \S{1,200} line \d{1,6}:|Did you mean:)$`)
	searched = lazyre.New(`^[\w./+-]{1,200}\.(?:py|pyx|md|rst|c|cc|cpp|cu|cuh|h|hpp|go|rs|ts|js|sh|ya?ml|toml|ipynb)$`)
)

// isFound reports whether an event is a line that a search found in a source or a document, or ShellCheck in a script: the numbers grow from the
// file's name on.
func (r *Reader) isFound(own []byte, at int) bool {
	m := numbered().FindSubmatch(own)
	if m == nil {
		before, ok := r.lineBefore(at)
		return ok && finding().Match(bytes.TrimRight(r.buf[before:at], " \r\n"))
	}
	last, _ := strconv.Atoi(string(m[1]))
	for line := range r.above(at) {
		if m := numbered().FindSubmatch(line); m != nil {
			n, _ := strconv.Atoi(string(m[1]))
			if n >= last {
				return false
			}
			last = n
		} else if string(line) != "--" {
			return searched().Match(line)
		}
	}
	return false
}

// accounted is the column that sacct has in each of its tables: other rows are of other jobs than the one that prints them.
const accounted = "JobID"

// indexed is a row of a table that pandas prints. textColumns are the names of columns of samples, and ofRun those of what became of a run.
var (
	indexed     = lazyre.New(`^(\d{1,6}) +\S`)
	textColumns = []string{"prompt", "completion", "response", "question", "answer", "instruction", "chosen", "rejected", "document", "representative_docs"}
	ofRun       = lazyre.New(`(?i)err|exc|fail|status|state|reason|message|rank|host|node|trial|log\b`)
)

// inFrame reports whether an event is in a row of a table of samples, below the heads of the columns and the rows before.
func (r *Reader) inFrame(own []byte, at int) bool {
	m := indexed().FindSubmatch(own)
	if m == nil {
		return false // as most events
	}
	n, _ := strconv.Atoi(string(m[1]))
	for line := range r.above(at) {
		n--
		if m := indexed().FindSubmatch(line); n >= 0 && m != nil && string(m[1]) == strconv.Itoa(n) {
			continue
		}
		heads := bytes.Fields(line)
		return n < 0 && indentOf(line) > 1 && slices.ContainsFunc(heads, func(head []byte) bool {
			return string(head) == accounted || !ofRun().Match(line) && slices.Contains(textColumns, string(bytes.ToLower(head)))
		})
	}
	return false
}

// passage heads what a search by meaning found: its number, its score, and the document that it is from; the score and the document, where one of
// seconds has fewer digits or names no such file; or what a search calls what it found, with its id and its score, and where that is from.
var passage = lazyre.New(`^ {0,8}\[-?[01]?\.\d{3,8}\] \S{1,200}\.(?:mdx?|rst|adoc|pdf)$|^ {0,8}(?:hit|neighbou?r) #?[\w-]{1,40}:? {1,4}-?[01]?\.\d{3,8} {1,4}[\w.-]{1,100}/\S{1,200}$|^ {0,8}\[?\d{1,3}[\]).:] .{0,80}\b(?:score|sim(?:ilarity)?|distance)\b[=: ]{1,3}-?[01]?\.\d{1,8}\b.{0,200}\.(?:mdx?|rst|adoc|html?|pdf|ipynb)\b`)

// inPassage reports whether an event is indented below such a heading.
func (r *Reader) inPassage(at int) bool {
	indent := indentOf(r.buf[at:])
	if indent == 0 {
		return false
	}
	return passage().Match(r.lineOver(at, indent))
}

// ranked is a row of a list of texts, the best or most frequent first: its score or number, and the text. ranking heads such a list.
// A list of counts alone, as uniq -c prints it, needs none: no run dies of one error as often as the least of them says.
var (
	ranked  = lazyre.New(`^\s{1,8}(?:([01]\.\d{2,6})|n=(\d{1,8})|(\d{5,12}))\s{1,8}\S`)
	ranking = lazyre.New(`(?i)\b(?:nearest|closest|similar|relevant|retrieved|neighbou?rs|passages|documents|duplicates|members?)\b.{0,80}$`)
)

// isRanked reports whether an event is in such a row, below others or its heading.
func (r *Reader) isRanked(row []byte, at int) bool {
	body, _ := envelope.Peel(row)
	m := ranked().FindSubmatch(body)
	if m == nil {
		return false // as most events
	}
	width, counted, rows := len(m[0]), len(m[3]) > 0, 1
	own := numberOf(m)
	last := own
	for line := range r.above(at) {
		body, _ := envelope.Peel(line)
		m := ranked().FindSubmatch(body)
		if m == nil {
			if counted { // the ids of processes may fall, too, but are near to each other
				return rows >= leastCounted && last > 1.5*own
			}
			return ranking().Match(body)
		}
		n := numberOf(m)
		if n < last || counted && (n == last || len(m[0]) != width) {
			return false // these grow, as times do, or come again
		}
		last = n
		rows++
	}
	return false
}

// leastCounted is how many rows make a list of counts.
const leastCounted = 3

// numberOf is the number of such a row.
func numberOf(m [][]byte) float64 {
	n, _ := strconv.ParseFloat(string(m[1])+string(m[2])+string(m[3]), 64)
	return n
}

// placing is a row of a list of passages that has the place of each, its score and the text (ColBERT): columns with more than a blank between them.
var placing = lazyre.New(`^\s{1,8}(\[?)(\d{1,3})([\]).]\s{2,8})(\d{1,4}\.\d{1,8})\s{2,8}\S`)

// placeIn is the place and the score of such a row, 0 where it is none.
func placeIn(row []byte) (place int, score float64) {
	body, _ := envelope.Peel(row)
	m := placing().FindSubmatch(body)
	if m == nil {
		return 0, 0
	}
	place, _ = strconv.Atoi(string(m[2]))
	score, _ = strconv.ParseFloat(string(m[4]), 64)
	return place, score
}

// inPlaces reports whether an event is in such a row, below all those of better places, which come behind an empty line: a table of trials has a
// head. first: it is the first row, so the next one decides.
func (r *Reader) inPlaces(own []byte, at int) (placed, first bool) {
	place, score := placeIn(own)
	if place == 0 {
		return false, false // as most events
	}
	first = place == 1
	for line := range r.above(at) {
		if place--; place == 0 {
			return !first && len(line) == 0, first && len(line) == 0
		}
		above, better := placeIn(line)
		if above != place || better < score {
			return false, false
		}
		score = better
	}
	return false, false
}

// toolConsole begins what a tool printed in the console of a coding agent (Claude Code; GitHub's Copilot), which indents the other lines.
// toolCall is right above all of it, with the arguments of the tool (llm/cli.py, _debug_tool_call), and toolFailed is how the tool itself did.
var (
	toolConsole = lazyre.New(`^  (?:⎿ |└ \d{1,6} lines?$)`)
	toolCall    = lazyre.New(`^Tool (?:call|result|output|response)(?: \d{1,4})?: [\w.-]{1,100}\(.*\):?(?:\x1b\[0m)?$`)
	toolFailed  = lazyre.New(`^  (?:Error|Exception): `)
)

// inToolOutput reports whether an event is in such an output.
func (r *Reader) inToolOutput(own []byte, at int) bool {
	const below, inConsole = 2, 5
	own = allUncolored(own)
	switch indent := indentOf(own); {
	case indent < below:
		return false // as most events
	case indent == below && toolConsole().Match(own):
		return true
	case indent >= inConsole && toolConsole().Match(r.lineOver(at, inConsole)):
		return true
	}
	return toolCall().Match(r.lineOver(at, below)) && !toolFailed().Match(own)
}

// observed heads what a tool printed, where an agent shows the first line of that behind it.
var observed = lazyre.New(`(?:^|[\]:>] )(?:O(?:bservation|BSERVATION)s?|[Tt]ool[ _](?:[Oo]utput|[Rr]esult|[Rr]esponse)): ?$`)

// isObserved reports whether an event is in a traceback with a label before each of its lines, the first of which stands behind such a heading: no
// process writes that before its own label.
func (r *Reader) isObserved(own []byte, at int) bool {
	body, _ := envelope.Peel(own)
	label := bytes.TrimRight(own[:len(own)-len(body)], " ")
	if len(label) == 0 || !r.holdsAbove(at, ": "+string(label)) {
		return false // as most events
	}
	for line := range r.above(at) {
		if !bytes.HasPrefix(line, label) {
			head, first, ok := bytes.Cut(line, label)
			return ok && observed().Match(head) && ofTrace().Match(first)
		}
	}
	return false
}

// lineOver is the nearest line above that is indented less than that far, nil where there is none.
func (r *Reader) lineOver(at, indent int) []byte {
	for line := range r.above(at) {
		if line = allUncolored(line); len(line) > 0 && indentOf(line) < indent {
			return line
		}
	}
	return nil
}

// allUncolored leaves out all the colors with which a line begins.
func allUncolored(line []byte) []byte {
	for rest := uncolored(line); len(rest) < len(line); rest = uncolored(line) {
		line = rest
	}
	return line
}

// What Codex prints of a command that succeeded: a line that ends with how long it took, and this many lines of its output at most. Each of
// its other lines begins with a time, or with the name of what comes (codex-rs/exec/src/event_processor_with_human_output.rs).
const outputOfCommand = 20

var (
	succeeded = lazyre.New(`(?:^|-l?c .{1,900}) succeeded in [\d.]{1,8}(?:ms|s|m ?\d\ds):$`)
	saidNext  = lazyre.New(`^(?:\[\d{4}-\d\d-\d\dT[\d:]{8}\] |(?:exec|codex|thinking|user|tokens used.{0,20})$)`)
)

// inCommand reports whether an event is in such an output.
func (r *Reader) inCommand(at int) bool {
	if !r.holdsAbove(at, " succeeded in ") {
		return false // as most events
	}
	below := 0
	for line := range r.above(at) {
		if below++; bytes.HasSuffix(line, []byte("s:")) && succeeded().Match(line) {
			return true
		}
		if below == outputOfCommand || len(line) > 0 && saidNext().Match(line) {
			return false
		}
	}
	return false
}

// passed is how a program shows what the tests that passed printed: below a line that says so, and at most up to a line that ends it.
type passed struct {
	sign  string // somewhere in between, or in the first of the two
	heads func() *regexp.Regexp
	ends  func() *regexp.Regexp
	shows func() *regexp.Regexp // what must stand between; nil: nothing
}

// passes are those of pytest -rP, and of LLVM's lit -a (llvm/utils/lit/lit/display.py, TestRunner.py).
var passes = []passed{
	{
		sign:  "= PASSES =",
		heads: lazyre.New(`= PASSES =.*===$`),
		ends:  lazyre.New(`== .*===$`),
	},
	{
		sign:  "Command Output (std",
		heads: lazyre.New(`^(?:PASS|XFAIL|FLAKYPASS): .{1,200} :: .{1,300} \(\d{1,7} of \d{1,7}\)$`),
		ends:  lazyre.New(`^\*{20}$|^[A-Z]{4,12}: .{1,200} :: .{1,300} \(\d{1,7} of \d{1,7}\)$`),
		shows: lazyre.New(`^Command Output \(std(?:out|err)\):$`),
	},
}

// inPasses reports whether an event is in what a test that passed printed.
func (r *Reader) inPasses(at int) bool {
	return slices.ContainsFunc(passes, func(p passed) bool { return r.holdsAbove(at, p.sign) && r.isPassed(&p, at) })
}

// isPassed reports whether the line at a place is in the output of such a test.
func (r *Reader) isPassed(p *passed, at int) bool {
	shown := p.shows == nil
	for line := range r.above(at) {
		if p.heads().Match(line) {
			return shown
		}
		if p.ends().Match(line) {
			return false
		}
		shown = shown || p.shows().Match(line)
	}
	return false
}

// profiled ends the heading of a source whose lines are listed with what each took (line_profiler, memory_profiler).
const profiled = " Line Contents"

// inProfile reports whether an event is in such a line: its number is at the beginning of it and of those above.
func (r *Reader) inProfile(own []byte, at int) bool {
	if !r.holdsAbove(at, profiled) || !inListing().Match(own) {
		return false // as most events
	}
	for line := range r.above(at) {
		if bytes.HasSuffix(line, []byte(profiled)) {
			return true
		}
		if !inListing().Match(line) {
			return false
		}
	}
	return false
}

// inListing is a line of a listing, or the rule above it.
var inListing = lazyre.New(`^(?:\s{0,8}\d{1,7}(?:\s|$)|={20,}$)`)

// section and assignment are the lines of a configuration file that are no comments, as systemd has it, or any program that reads INI or TOML.
var (
	section    = lazyre.New(`^\[\[?[A-Za-z][\w. :"/-]{0,60}\]\]?$`)
	assignment = lazyre.New(`^[A-Za-z][\w.-]{0,60} ?= ?`)
)

// inConfiguration reports whether a kill is told in a comment below a section of such a file, and nothing else is between. What a runtime or a
// script prints as comments of its own failure may follow such a file as well, but no kill.
func (r *Reader) inConfiguration(e *parser.Event, own []byte, at int) bool {
	if e.Kind != parser.OOMKill || !isRemark(own) {
		return false // as most events
	}
	assigned := false
	for line := range r.above(at) {
		switch {
		case len(line) == 0 || isRemark(line):
		case section().Match(line):
			return assigned
		case assignment().Match(line):
			assigned = true
		default:
			return false
		}
	}
	return false
}

// isRemark reports whether a line is a comment of a configuration file.
func isRemark(line []byte) bool { return len(line) > 0 && (line[0] == '#' || line[0] == ';') }
