package traceback

import (
	"bytes"
	"math"
)

// ExitUnknown is the ExitCode of a failure without one.
const ExitUnknown = math.MinInt32

const (
	maxFailures   = 1024
	maxElasticRun = 4000 // lines of one failure block
	maxField      = 512
)

// ElasticFailure is an entry of torchrun's failure block. Texts are copies with limited length.
type ElasticFailure struct {
	Line      int    // 1-based line of the entry's `[0]:`
	Time      string // as printed, to the second: "2025-03-20_10:11:42"
	Host      string
	Rank      int // -1 unknown
	LocalRank int // -1 unknown
	ExitCode  int // negative: killed by that signal; or [ExitUnknown]
	PID       int // 0 unknown
	ErrorFile string
	// Traceback is the field of that name ("msg" up to torch 1.9). Of a whole traceback, which @record stores, it has
	// only the exception line.
	Traceback string
	Root      bool // the first failure that the agent observed
}

// ElasticBlock assembles the block that torch.distributed.elastic prints when workers fail
// (torch/distributed/elastic/multiprocessing/errors/__init__.py, torch 1.9 to 2.9). The zero value is ready to use.
type ElasticBlock struct {
	failures []ElasticFailure
	done     []ElasticFailure
	state    elasticState
	elasticHeading
	rule  bool // the previous line was a rule
	lines int
}

type elasticState uint8

const (
	elasticNone    elasticState = iota
	elasticSection              // below a title, a section's heading or a rule
	elasticEntry                // below an entry's `[0]:`
	elasticText                 // inside a traceback's text
)

// elasticHeading is the meaning of a section's heading.
type elasticHeading struct {
	root bool // the section lists the root cause
	old  bool // up to torch 1.9, the root cause comes first and a line of stars ends the block
}

var elasticHeadings = map[string]elasticHeading{
	"Failures:":                            {},
	"Other Failures:":                      {old: true},
	"Root Cause (first observed failure):": {root: true},
	"Root Cause:":                          {root: true, old: true},
}

// Feed reads a line without its line prefix but with its leading blanks, and reports whether it belongs to a failure
// block.
func (b *ElasticBlock) Feed(line int, text []byte) bool {
	b.done = nil
	body, indent := split(text)
	wasRule := b.rule
	b.rule = isRule(body)
	if b.state == elasticNone { // without the title, a heading opens the block
		if wasRule && bytes.HasSuffix(body, []byte(" FAILED")) {
			b.state = elasticSection
		}
		return b.heading(body) || b.Open()
	}
	if b.lines++; b.lines > maxElasticRun {
		b.finish()
		return false
	}
	return b.inside(line, body, indent)
}

// Open reports whether a block is unfinished.
func (b *ElasticBlock) Open() bool { return b.state != elasticNone }

// Held estimates how many bytes the block keeps until the next line.
func (b *ElasticBlock) Held() int {
	n := 0
	for i := range b.failures {
		f := &b.failures[i]
		n += 160 + len(f.Time) + len(f.Host) + len(f.ErrorFile) + len(f.Traceback)
	}
	return n
}

// Take returns the failures of the block that the last line ended, in the order printed; otherwise nil. The caller
// owns them.
func (b *ElasticBlock) Take() []ElasticFailure {
	f := b.done
	b.done = nil
	return f
}

// Close ends the input and returns the failures of an unfinished block.
func (b *ElasticBlock) Close() []ElasticFailure {
	b.finish()
	return b.Take()
}

func (b *ElasticBlock) finish() { *b = ElasticBlock{done: b.failures} }

func (b *ElasticBlock) heading(body []byte) bool {
	h, ok := elasticHeadings[string(body)]
	if ok {
		b.state, b.elasticHeading = elasticSection, h
	}
	return ok
}

func (b *ElasticBlock) inside(line int, body []byte, indent int) bool {
	switch {
	case b.heading(body), len(body) == 0, string(body) == "<NO_OTHER_FAILURES>":
	case b.rule && (body[0] == '*' || body[0] == '=' && b.root && !b.old):
		b.finish()
	case b.rule:
		b.state = elasticSection
	case isEntry(body):
		b.state = elasticSection
		if len(b.failures) < maxFailures {
			b.state = elasticEntry
			b.failures = append(b.failures, ElasticFailure{Line: line, Rank: -1, LocalRank: -1, ExitCode: ExitUnknown, Root: b.root})
		}
	case b.state == elasticEntry && b.field(body):
	case b.state == elasticText && indent >= 2:
		if e := parseException(body); e.sure == errorLike && indent <= 2 {
			b.failures[len(b.failures)-1].Traceback = clip(body, maxField)
		}
	default:
		b.finish()
		return false
	}
	return true
}

// field reads `  key      : value` into the current entry.
func (b *ElasticBlock) field(body []byte) bool {
	key, value, ok := bytes.Cut(body, []byte(":"))
	if !ok {
		return false
	}
	value = bytes.TrimLeft(value, " ")
	f := &b.failures[len(b.failures)-1]
	switch string(bytes.TrimRight(key, " ")) {
	case "time":
		f.Time = clip(value, maxField)
	case "host":
		f.Host = clip(value, maxField)
	case "rank":
		f.Rank = number(value, -1)
		f.LocalRank = numberAfter(value, "local_rank: ", -1)
	case "exitcode":
		f.ExitCode = number(value, ExitUnknown)
		f.PID = numberAfter(value, "pid: ", 0)
	case "error_file":
		if string(value) != "<N/A>" {
			f.ErrorFile = clip(value, maxField)
		}
	case "traceback", "msg":
		b.state = elasticText
		if !bytes.HasSuffix(value, textTraceback) {
			f.Traceback = clip(bytes.Trim(value, `"`), maxField)
		}
	default:
		return false
	}
	return true
}

// isRule reports whether a line repeats one character.
func isRule(body []byte) bool {
	if len(body) < 10 || body[0] != '=' && body[0] != '-' && body[0] != '*' {
		return false
	}
	return len(bytes.Trim(head(body), string(body[:1]))) == 0
}

// isEntry reports whether a line is an entry's `[12]:`.
func isEntry(body []byte) bool {
	if len(body) < 4 || body[0] != '[' {
		return false
	}
	_, size := leadingInt(body[1:])
	return size > 0 && string(body[1+size:]) == "]:"
}

// number reads the integer that b begins with.
func number(b []byte, unknown int) int {
	digits, negative := bytes.CutPrefix(b, []byte("-"))
	n, size := leadingInt(digits)
	switch {
	case size == 0:
		return unknown
	case negative:
		return -n
	}
	return n
}

// numberAfter reads the integer after label.
func numberAfter(b []byte, label string, unknown int) int {
	_, rest, ok := bytes.Cut(b, []byte(label))
	if !ok {
		return unknown
	}
	return number(rest, unknown)
}
