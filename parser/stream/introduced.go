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
	sign   string // in each line that begins a test
	begins func() *regexp.Regexp
	passes func() *regexp.Regexp
	fails  func() *regexp.Regexp
}

// testRunners are pytest for a test and for a session that does not name its tests, unittest, go test, GoogleTest and cargo test.
var testRunners = []testRunner{
	{
		"::",
		lazyre.New(`^\S+\.py::\w`),
		lazyre.New(`^(?:PASSED|SKIPPED|XFAIL|XPASS)\s*(?:\[ *\d+%\])?$`),
		lazyre.New(`^(?:FAILED|ERROR)\s*(?:\[ *\d+%\])?$`),
	},
	{
		"test session starts",
		lazyre.New(`^=+ test session starts =+$`),
		lazyre.New(`^=+ (?:\d+ (?:passed|skipped|deselected|xfailed|xpassed|warnings?),? ?)+ in [\d.]+s\b.*=+$`),
		lazyre.New(`^=+ .*\b\d+ (?:failed|errors?)\b.* =+$`),
	},
	{
		" ... ",
		lazyre.New(`^\w+ \([\w.<>]+\) \.\.\. `),
		lazyre.New(`^(?:ok|skipped .*|expected failure)$`),
		lazyre.New(`^(?:FAIL|ERROR|unexpected success)$`),
	},
	{
		"=== ",
		lazyre.New(`^\s*=== (?:RUN|CONT|NAME) +(\S+)$`),
		lazyre.New(`^\s*--- (?:PASS|SKIP): (\S+) \(`),
		lazyre.New(`^\s*--- FAIL: (\S+) \(`),
	},
	{
		"[ RUN ",
		lazyre.New(`^\[ RUN      \] (\S+)$`),
		lazyre.New(`^\[ (?:      OK| SKIPPED) \] (\S+)`),
		lazyre.New(`^\[  FAILED  \] (\S+)`),
	},
	{
		"running ",
		lazyre.New(`^running \d+ tests?$`),
		lazyre.New(`^test result: ok\. `),
		lazyre.New(`^test result: FAILED\. `),
	},
}

// testResult ends the line of a test that is over.
var testResult = lazyre.New(`(?: (?:PASSED|FAILED|SKIPPED|XFAIL|XPASS|ERROR)\s*(?:\[ *\d+%\])?|\.\.\. (?:ok|FAIL|ERROR|skipped .*|expected failure|unexpected success))$`)

// testNameIn is the name of the test in a line that an expression finds, and whether it finds one.
func testNameIn(expr func() *regexp.Regexp, line []byte) (name string, ok bool) {
	m := expr().FindSubmatch(line)
	if len(m) > 1 {
		name = string(m[1])
	}
	return name, m != nil
}

// testIn is the test that a line begins.
func testIn(line []byte) (t *testRunner, name string) {
	for i := range testRunners {
		t = &testRunners[i]
		if !bytes.Contains(line, []byte(t.sign)) {
			continue
		}
		body, _ := envelope.Peel(line)
		if name, ok := testNameIn(t.begins, body); ok && !testResult().Match(body) {
			return t, name
		}
	}
	return nil, ""
}

// textHeading is the heading of what a model wrote or was given, with nothing behind it. What a command printed happened.
var (
	textHeading = lazyre.New(`(?i)^[^\w<>]{0,12}(?:[\w'-]+\]?[ /]){0,4}(?:outputs?|responses?|completions?|generations?|generated(?: text)?|answers?|predict(?:ed|ions?)|reply|replies|samples?|examples?|prompts?|inputs?|texts?|rollouts?|assistant|observations?|tool (?:results?|calls?)|continuations?|decoded|references?|ground[ _]truth|chosen|rejected)(?:[ #]*\d+(?:/\d+)?)?[^\w<>]{1,12}$`)
	ranCommand  = lazyre.New(`(?i)std|err|exception|fail|crash|trace|log\b|command|process|worker|job|task|script|program|launch|kernel|system|console|exit`)
)

// isTextHeading reports whether a line is such a heading.
func isTextHeading(line []byte) bool {
	if len(line) == 0 || len(line) > 100 || strings.IndexByte(":=-#*])", line[len(line)-1]) < 0 {
		return false
	}
	body, _ := envelope.Peel(line)
	return textHeading().Match(body) && !ranCommand().Match(body)
}

// findIntroduction makes an event wait for the result of the test that it stands in, or for a run that counts on, where it stands right below
// the heading of a text.
func (r *Reader) findIntroduction(e *parser.Event) {
	at, ok := r.lineOf(e)
	if !ok {
		return
	}
	begins := e.At.Line
	if e.Trace != nil {
		begins = e.Trace.Line
	}
	f := fence{stream: e.Header.Stream, bare: true, from: begins - 1, end: "\n"} // which no line holds
	own, _, _ := bytes.Cut(r.buf[at:], newline)
	f.test, f.name = testIn(own)
	line, isBelowText := e.At.Line, false
	for above := range r.above(at) {
		if f.test != nil {
			break
		}
		line--
		switch {
		case f.heading && f.of == "" && mayCount(above):
			body, _ := envelope.Peel(above)
			f.count(body)
		case !f.heading:
			f.test, f.name = testIn(above)
			f.heading = line < begins && !isBelowText && isTextHeading(above)
			isBelowText = isBelowText || line < begins && len(above) > 0
		}
	}
	if f.test != nil || f.heading {
		f.until = r.line + watchLines
		r.fence = f
	}
}

// readResult follows a line behind a failure in a test, and reports whether the test passes.
func (f *fence) readResult(line int, raw []byte) bool {
	body, _ := envelope.Peel(raw)
	if name, ok := testNameIn(f.test.fails, body); ok && name == f.name {
		f.until = line // nothing more is to come
		return false
	}
	name, ok := testNameIn(f.test.passes, body)
	return ok && name == f.name
}

// readOn follows a line behind a failure below a heading, and reports whether the run goes on. One that died goes on when it is launched again.
func (f *fence) readOn(raw []byte) bool {
	if !mayCount(raw) || slices.ContainsFunc(f.held, func(o fenced) bool {
		e, ok := o.Observation.(parser.Event)
		return ok && e.Kind == parser.ProcessExit
	}) {
		return false
	}
	body, _ := envelope.Peel(raw)
	return f.count(body)
}
