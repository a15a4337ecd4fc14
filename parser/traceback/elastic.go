package traceback

import (
	"bytes"
	"math"
)

// ExitUnknown is the ExitCode of a failure that prints none.
const ExitUnknown = math.MinInt32

const (
	maxFailures   = 1024
	maxElasticRun = 4000 // lines that one failure block may take
	maxField      = 512
)

// ElasticFailure is one entry of torchrun's failure block. Texts are copies, capped.
type ElasticFailure struct {
	Line      int    // 1-based line of the entry's `[0]:`
	Time      string // as printed, whole seconds: "2025-03-20_10:11:42"
	Host      string
	Rank      int // -1 unknown
	LocalRank int // -1 unknown
	ExitCode  int // negative: killed by that signal; [ExitUnknown]
	PID       int // 0 unknown
	ErrorFile string
	// Traceback is the field of that name ("msg" up to torch 1.9). Of a whole traceback, which @record stores, only the
	// exception line is kept.
	Traceback string
	Root      bool // listed as the first failure that the agent observed
}

// ElasticBlock assembles the block that torch.distributed.elastic prints when workers fail
// (torch/distributed/elastic/multiprocessing/errors/__init__.py, torch 1.9 to 2.9). The zero value is ready.
type ElasticBlock struct {
	failures []ElasticFailure
	done     []ElasticFailure
	section  elasticSection
	entry    bool // below an entry's `[0]:`
	nested   bool // inside a traceback's text
	old      bool // up to torch 1.9 the root cause comes first and stars close the block
	rule     bool // the line before was a rule
	lines    int
}

type elasticSection uint8

const (
	elasticNone elasticSection = iota
	elasticTitle
	elasticOthers
	elasticRoot
)

// Feed offers one line without its envelope, leading blanks kept, and says whether it belongs to a failure block.
func (b *ElasticBlock) Feed(line int, text []byte) bool {
	b.done = nil
	body, indent := split(text)
	wasRule := b.rule
	b.rule = isRule(body)
	if b.section == elasticNone {
		return b.opens(body, wasRule)
	}
	if b.lines++; b.lines > maxElasticRun {
		b.finish()
		return false
	}
	return b.inside(line, body, indent)
}

// Open says that a block is under way.
func (b *ElasticBlock) Open() bool { return b.section != elasticNone }

// Held is about how many bytes the block keeps until the next line.
func (b *ElasticBlock) Held() int {
	n := 0
	for i := range b.failures {
		f := &b.failures[i]
		n += 160 + len(f.Time) + len(f.Host) + len(f.ErrorFile) + len(f.Traceback)
	}
	return n
}

// Take returns the failures of the block that the last fed line closed, in the order printed; nil otherwise. The caller
// owns them.
func (b *ElasticBlock) Take() []ElasticFailure {
	f := b.done
	b.done = nil
	return f
}

// Close ends the stream and returns the failures of a block that was cut off.
func (b *ElasticBlock) Close() []ElasticFailure {
	b.finish()
	return b.Take()
}

func (b *ElasticBlock) finish() { *b = ElasticBlock{done: b.failures} }

// opens recognises a block's title or, where that was lost, a section.
func (b *ElasticBlock) opens(body []byte, wasRule bool) bool {
	switch {
	case b.heading(body):
	case wasRule && bytes.HasSuffix(body, []byte(" FAILED")):
		b.section = elasticTitle
	default:
		return false
	}
	b.lines = 0
	return true
}

// heading recognises the title of a section.
func (b *ElasticBlock) heading(body []byte) bool {
	switch string(body) {
	case "Failures:":
		b.section = elasticOthers
	case "Other Failures:":
		b.section, b.old = elasticOthers, true
	case "Root Cause (first observed failure):":
		b.section, b.old = elasticRoot, false
	case "Root Cause:":
		b.section, b.old = elasticRoot, true
	default:
		return false
	}
	b.entry, b.nested = false, false
	return true
}

func (b *ElasticBlock) inside(line int, body []byte, indent int) bool {
	switch {
	case b.heading(body), len(body) == 0, string(body) == "<NO_OTHER_FAILURES>":
		return true
	case b.rule:
		if body[0] == '*' || body[0] == '=' && b.section == elasticRoot && !b.old {
			b.finish()
		}
		b.entry, b.nested = false, false
		return true
	case isEntry(body):
		b.nested, b.entry = false, len(b.failures) < maxFailures
		if b.entry {
			b.failures = append(b.failures, ElasticFailure{
				Line: line, Rank: -1, LocalRank: -1, ExitCode: ExitUnknown, Root: b.section == elasticRoot,
			})
		}
		return true
	case b.entry && !b.nested && b.field(body):
		return true
	case b.nested && indent >= 2:
		if e := parseException(body); e.sure == errorLike && indent <= 2 {
			b.failures[len(b.failures)-1].Traceback = clip(body, maxField)
		}
		return true
	}
	b.finish()
	return false
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
		b.nested = true
		if !bytes.HasSuffix(value, textTraceback) {
			f.Traceback = clip(bytes.Trim(value, `"`), maxField)
		}
	default:
		return false
	}
	return true
}

// isRule recognises a line of one repeated character.
func isRule(body []byte) bool {
	if len(body) < 10 || body[0] != '=' && body[0] != '-' && body[0] != '*' {
		return false
	}
	return len(bytes.Trim(head(body), string(body[:1]))) == 0
}

// isEntry recognises `[12]:`.
func isEntry(body []byte) bool {
	if len(body) < 4 || body[0] != '[' {
		return false
	}
	_, size := leadingInt(body[1:])
	return size > 0 && string(body[1+size:]) == "]:"
}

// number reads the integer that b begins with.
func number(b []byte, unknown int) int {
	sign := 1
	if len(b) > 0 && b[0] == '-' {
		sign, b = -1, b[1:]
	}
	n, size := leadingInt(b)
	if size == 0 {
		return unknown
	}
	return sign * n
}

// numberAfter reads the integer behind label.
func numberAfter(b []byte, label string, unknown int) int {
	_, rest, ok := bytes.Cut(b, []byte(label))
	if !ok {
		return unknown
	}
	return number(rest, unknown)
}
