package stream

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/lazyre"
)

// A line above a failure may say what prints it: a test, which provokes failures, or the heading of what a model wrote or was given. What
// follows decides. A test that passes shows that the failure was part of it, and so does a run that counts on behind such a heading.

// testRunner is how a program runs tests. Where a test has a name, it is the first group of begins, and of passes and fails.
type testRunner struct {
	sign    string // in each line that begins a test
	begins  func() *regexp.Regexp
	passes  func() *regexp.Regexp
	fails   func() *regexp.Regexp
	mark    string // before each line that a test prints
	numbers bool   // its number is the name of a test and stands before each of its lines, as a label of srun does, but not before its result
	labels  bool   // the label of its lines names it instead
}

// sessionSign is in the first line of a session of pytest.
const sessionSign = "test session starts"

// testRunners are pytest for a test and for a session that does not name its tests, unittest, which shows the first line of a test's docstring
// before the result, doctest -v, which shows what a test runs and what it must print before it runs it, go test, GoogleTest, cargo test,
// ctest -V, Jest, which names the file behind what its tests print, Playwright, MkDocs, which runs none, but may print the pages that it builds, and what
// prints TAP: there a line between two results may be of the test before it or of the one behind it, so both must pass.
var testRunners = []testRunner{
	{
		sign:   "::",
		begins: lazyre.New(`^\S+\.py::\w`),
		passes: lazyre.New(`^(?:PASSED|SKIPPED|XFAIL|XPASS)\s*(?:\[ *\d+%\])?$`),
		fails:  lazyre.New(`^(?:FAILED|ERROR)\s*(?:\[ *\d+%\])?$`),
	},
	{
		sign:   sessionSign,
		begins: lazyre.New(`^=+ test session starts =+$`),
		passes: lazyre.New(`^=+ (?:\d+ (?:passed|skipped|deselected|xfailed|xpassed|warnings?),? ?)+ in [\d.]+s\b.*=+$`),
		fails:  lazyre.New(`^=+ .*\b\d+ (?:failed|errors?)\b.* =+$`),
	},
	{
		sign:   " (",
		begins: lazyre.New(`^(?:\w+ \([\w.<>]+\) \.\.\. |test\w* \(\w+(?:\.\w+)+\)$)`),
		passes: lazyre.New(`^(?:.+ \.\.\. )?(?:ok|skipped .*|expected failure)$`),
		fails:  lazyre.New(`^(?:.+ \.\.\. )?(?:FAIL|ERROR|unexpected success)$`),
	},
	{
		sign:   "Trying:",
		begins: lazyre.New(`^Trying:$`),
		passes: lazyre.New(`^ok$`),
		fails:  lazyre.New(`^Failed example:$`),
	},
	{
		sign:   "=== ",
		begins: lazyre.New(`^\s*=== (?:RUN|CONT|NAME) +(\S+)$`),
		passes: lazyre.New(`^\s*--- (?:PASS|SKIP): (\S+) \(`),
		fails:  lazyre.New(`^\s*--- FAIL: (\S+) \(`),
	},
	{
		sign:   "[ RUN ",
		begins: lazyre.New(`^\[ RUN      \] (\S+)$`),
		passes: lazyre.New(`^\[ (?:      OK| SKIPPED) \] (\S+)`),
		fails:  lazyre.New(`^\[  FAILED  \] (\S+)`),
	},
	{
		sign:   "running ",
		begins: lazyre.New(`^running \d+ tests?$`),
		passes: lazyre.New(`^test result: ok\. `),
		fails:  lazyre.New(`^test result: FAILED\. `),
	},
	{
		sign:    ": Test command: ",
		begins:  lazyre.New(`^(\d+): Test command: `),
		passes:  lazyre.New(`^ *\d+/\d+ Test +#(\d+): \S.* Passed +[\d.]+ sec`),
		fails:   lazyre.New(`^ *\d+/\d+ Test +#(\d+): \S.*\*{3}`),
		numbers: true,
	},
	{
		sign:   "console.",
		begins: lazyre.New(`^ *console\.(?:log|debug|info|warn|error)$`),
		passes: lazyre.New(`^PASS \S+\.[cm]?[jt]sx?(?: \([\d.]+ m?s\))?$`),
		fails:  lazyre.New(`^FAIL \S+\.[cm]?[jt]sx?(?: \([\d.]+ m?s\))?$`),
	},
	{
		sign:   "Running ",
		begins: lazyre.New(`^Running \d+ tests? using \d+ workers?\b`),
		passes: lazyre.New(`^ *\d+ passed \([\d.]+m?s\)`),
		fails:  lazyre.New(`^ *\d+ failed$`),
	},
	{
		// MkDocs warns where the code of a page fails, and builds the others.
		sign:   "Building documentation",
		begins: lazyre.New(`^INFO {4}-  Building documentation(?: to directory: .*|\.\.\.)$`),
		passes: lazyre.New(`^INFO {4}-  Documentation built in [\d.]+ seconds$`),
		fails:  lazyre.New(`^(?:(?:WARNING|ERROR  ) -  \S|Aborted with )`),
	},
	{
		sign:   "ok ",
		begins: lazyre.New(`^\s*(ok) \d+\b`),
		passes: lazyre.New(`^\s*(ok) \d+\b`),
		fails:  lazyre.New(`^\s*not (ok) \d+\b`),
		mark:   "#",
	},
}

// builder is BuildKit (docker build --progress=plain) for a step of a build. What a step printed did no harm if the step is done. Only a pipe
// hides how a program ended, so a traceback still tells that one failed.
var builder = testRunner{
	begins: lazyre.New(`^#\d{1,5} \[`),
	passes: lazyre.New(`^#(\d{1,5}) DONE [\d.]{1,12}s$`),
	fails:  lazyre.New(`^#(\d{1,5}) (?:ERROR|CANCELED)\b`),
	labels: true,
}

// stepOf is the number of the step that printed an event.
func stepOf(e *parser.Event) (number string, ok bool) {
	number, ok = strings.CutPrefix(e.Header.Stream, "c#") // see package envelope
	return number, ok && e.Trace == nil
}

// testOver matches a line that names a test of pytest or unittest and gives its result. died matches a line that says the process running the
// tests is gone, or that it gives up.
var (
	testOver = lazyre.New(`^\S+\.py::.* (?:PASSED|FAILED|SKIPPED|XFAIL|XPASS|ERROR)\s*(?:\[ *\d+%\])?$|^\w+ \([\w.<>]+\) \.\.\. (?:ok|FAIL|ERROR|skipped .*|expected failure|unexpected success)$`)
	died     = lazyre.New(`^(?:\S+: line \d+: +\d+ )?(?:Killed|Aborted|Segmentation fault|Terminated|Bail out!|Fatal Python error:)|\(core dumped\)`)
)

// testNameIn is the name of the test in a line that an expression finds, and whether it finds one.
func testNameIn(expr func() *regexp.Regexp, line []byte) (name string, ok bool) {
	m := expr().FindSubmatch(line)
	if len(m) > 1 {
		name = string(m[1])
	}
	return name, m != nil
}

// reads is what a runner's expressions look at in a line, of which the prefix and the rest are given, and whether it may be of a writer.
func (t *testRunner) reads(line, body []byte, h *envelope.Header, stream string) (text []byte, ok bool) {
	switch {
	case t.labels:
		return body, h.Stream == stream || h.Stream == ""
	case t.numbers:
		return line, h.Stream == stream || h.Stream == ""
	}
	return body, h.Stream == stream
}

// testIn is the test that a line of a writer begins. over: a test, or all of them, ended there.
func testIn(line []byte, stream string) (t *testRunner, name string, over bool) {
	body, h := envelope.Peel(line)
	if h.Stream == stream && testOver().Match(body) {
		return nil, "", true
	}
	for i := range testRunners {
		t = &testRunners[i]
		text, ok := t.reads(line, body, &h, stream)
		if !ok {
			continue
		}
		if bytes.Contains(text, []byte(t.sign)) {
			if name, ok := testNameIn(t.begins, text); ok {
				return t, name, false
			}
		}
		if t.passes().Match(text) || t.fails().Match(text) {
			return nil, "", true
		}
	}
	return nil, "", false
}

// textHeading is the heading of one text that a model wrote or was given, with nothing behind it. What a command printed happened, and so did
// what a program says that it does.
var (
	textHeading = lazyre.New(`(?i)^[^\w<>]{0,12}(?:[\w'-]+\]?[ /]){0,4}(?:output|response|completion|generation|generated(?: text)?|answer|predicted|prediction|reply|sample|example|prompt|input|text|rollout|assistant|observation|tool (?:result|call)|continuation|decoded|reference|ground[ _]truth|chosen|rejected)(?:[ #]*\d+(?:/\d+)?)?[^\w<>]{1,12}$`)
	noHeading   = lazyre.New(`(?i)std|err|exception|fail|crash|trace|\blog\b|command|process|worker|job|task|script|program|launch|kernel|system|console|exit|\bend\b|\b(?:runn|generat|tokeniz|evaluat|validat|test|train|sampl|sav|load|writ|start|finish)ing\b`)
)

// bracketed is a label that a line begins with, of whatever kind.
var bracketed = lazyre.New(`^\[[^\[\]]{1,40}\]`)

// isTextHeading reports whether a line is such a heading of the writer of an event, which begins its own line.
func isTextHeading(line, own []byte, e *parser.Event) bool {
	if len(line) == 0 || len(line) > 100 || strings.IndexByte(":=-#*])", line[len(line)-1]) < 0 {
		return false
	}
	if label := bracketed().Find(own); len(label) > 0 && !bytes.HasPrefix(line, label) {
		return false
	}
	body, h := envelope.Peel(line)
	return h.Stream == e.Header.Stream && h.Level == e.Header.Level && textHeading().Match(body) && !noHeading().Match(body)
}

// isSpoken reports whether an event may be in a text. Kills and exits are told by others than the writer of one.
func isSpoken(e *parser.Event) bool {
	return e.Kind != parser.OOMKill && e.Kind != parser.ProcessExit && e.Kind != parser.SHMExhausted
}

// byLogger begins what pytest shows of a logger behind the level (_pytest/logging.py, DEFAULT_LOG_FORMAT).
var byLogger = lazyre.New(`^[\w.]{1,100}:[\w.]{1,60}\.py:\d{1,6} `)

// isProvoked reports whether a test may have provoked an event: the end of a loader's worker is told by its parent, and a logger of the test
// may tell of any failure that it is made to believe in.
func isProvoked(e *parser.Event) bool {
	return isSpoken(e) || e.Kind == parser.SHMExhausted || e.Header.Level > 0 && byLogger().MatchString(e.Text)
}

// findIntroduction makes an event wait for the result of the test that it stands in, or for a run that counts on, where it stands right below
// the heading of a text or the command that prints it.
func (r *Reader) findIntroduction(e *parser.Event) {
	at, ok := r.lineOf(e)
	if !ok || !isProvoked(e) {
		return
	}
	begins := e.At.Line
	if e.Trace != nil {
		begins = e.Trace.Line
	}
	f := fence{stream: e.Header.Stream, from: begins - 1, end: "\n"} // which no line holds
	own, _, _ := bytes.Cut(r.buf[at:], newline)
	over := false
	if step, ok := stepOf(e); ok {
		f.test, f.name = &builder, step
	} else {
		f.test, f.name, _ = testIn(own, f.stream)
	}
	line, isBelowText := e.At.Line, false
	for above := range r.above(at) {
		if f.test != nil && f.test.sign != sessionSign || over && !f.heading {
			break
		}
		line--
		switch {
		case f.test != nil:
			if again, _, ended := testIn(above, f.stream); again == f.test {
				return // several ranks run tests, and which one passed cannot be told
			} else if ended {
				over = true
			}
		case f.heading && f.of == "" && mayCount(above):
			if body, h := envelope.Peel(above); h.Stream == f.stream {
				f.count(body)
			}
		case !f.heading:
			f.test, f.name, over = testIn(above, f.stream)
			if f.test != nil && !bytes.HasPrefix(bytes.TrimLeft(own, " "), []byte(f.test.mark)) {
				f.test, f.name = nil, "" // it is no line of the test
			}
			f.heading = line < begins && !isBelowText && isSpoken(e) && isTextHeading(above, own, e)
			isBelowText = isBelowText || line < begins && len(above) > 0
		}
	}
	if f.heading = f.heading || f.test == nil && r.isEchoed(e, at); f.test != nil || f.heading {
		f.until, f.text = r.line+watchLines, e.At.Line
		r.fence = f
		return
	}
	r.findExecuted(e, at)
}

// readResult follows a line behind a failure in a test, and reports whether the test passes. Nothing more is to come where it fails, another
// one begins, or its process dies.
func (f *fence) readResult(line int, raw []byte) bool {
	body, h := envelope.Peel(raw)
	text, ok := f.test.reads(bytes.TrimRight(raw, "\r"), body, &h, f.stream)
	if !ok {
		return false
	}
	_, begins := testNameIn(f.test.begins, text)
	begins = begins && f.name == ""
	if name, ok := testNameIn(f.test.passes, text); ok && name == f.name && !begins && !f.anyDied() {
		return true
	}
	name, failed := testNameIn(f.test.fails, text)
	if failed && name == f.name || begins || died().Match(body) {
		f.until = line
	}
	return false
}

// readOn follows a line behind a failure below a heading, and reports whether the run goes on. One that died goes on when it is launched again,
// from an earlier step.
func (f *fence) readOn(line int, raw []byte) bool {
	if f.record != nil && f.follows(raw) || !mayCount(raw) || f.anyDied() {
		return false
	}
	body, h := envelope.Peel(raw)
	if h.Stream != f.stream && f.record == nil {
		return false
	}
	if c, ok := countIn(body); ok && f.of == c.of() && c.number() != f.n && !atMost([]byte(f.n), []byte(c.number())) {
		f.until = line
		return false
	}
	return f.count(body) && (f.record == nil || f.ended >= leastEnded)
}

// anyDied reports whether what waits tells of the end of a process.
func (f *fence) anyDied() bool {
	return slices.ContainsFunc(f.held, func(o fenced) bool {
		e, ok := o.Observation.(parser.Event)
		return ok && !o.quotable && (e.Kind == parser.ProcessExit || e.Kind == parser.OOMKill)
	})
}
