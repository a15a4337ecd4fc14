package stream

import (
	"bytes"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/lazyre"
)

// A job may print a report about other runs, which an agent wrote, with excerpts of their logs in fences: a sentence introduces each and a sentence
// follows it. A script that puts fences around what its own commands print knows no sentences about that and prints all of it, and a person who
// reports a failure has no job that ends well behind it.

// longestExcerpt is how many lines of a log a report shows at most.
const longestExcerpt = 30

// introduces ends the text above such a block, and follows begins the text below it.
var (
	introduces = lazyre.New(`^[^\w\s]{0,4}[A-Za-z]\S*(?: \S+){3,60}:\W{0,3}$`)
	follows    = lazyre.New(`^(?:[^\w\s]{0,4}[A-Za-z]\S*(?: \S+){3,60}:\W{0,3}|\S+(?: \S+){4,400}[.!?]\W{0,3}|#{1,6} \S.*)$`)
)

// report follows the text around the blocks of a report.
type report struct {
	above bool // an introduction is the last text
	from  int  // the line that opens the block below it, 0: no excerpt
	over  bool // it has ended, and no text has followed
}

// open follows the line that opens a block.
func (p *report) open(line int) {
	if !p.above {
		line = 0
	}
	*p = report{from: line}
}

// close follows the line that closes it.
func (p *report) close(line int) {
	if p.over = true; line-p.from > longestExcerpt {
		p.from = 0
	}
}

// readReport follows a line, and notes which events stand in a block between sentences.
func (f *fence) readReport(line int, raw []byte) {
	p := &f.report
	text := bytes.TrimSpace(raw)
	colon := bytes.IndexByte(text[max(0, len(text)-4):], ':') >= 0
	if f.end != "" || !p.over && !p.above && !colon {
		return // as most lines
	}
	body, _ := envelope.Peel(raw)
	if body = bytes.TrimSpace(body); len(body) == 0 || bytes.HasPrefix(body, []byte("```")) || bytes.HasPrefix(body, []byte("~~~")) {
		return // a fence opens a block
	}
	if p.over && p.from > 0 && follows().Match(body) {
		for i := range f.held {
			o := &f.held[i]
			o.reported = o.reported || o.quotable && o.markdown && o.Place().Line > p.from
		}
	}
	p.over, p.above = false, colon && introduces().Match(body)
}

// quoteReported quotes what a report shows.
func (f *fence) quoteReported() {
	for i := range f.held {
		f.held[i].quoted = f.held[i].quoted || f.held[i].reported
	}
}

// endsWell reports whether a marker says that a job ended well.
func endsWell(m *parser.Marker) bool { return m.Name == "ended_well" || m.Name == "succeeded" }
