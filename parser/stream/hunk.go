package stream

import (
	"bytes"
	"slices"
	"strconv"

	"oomscan/parser"
	"oomscan/parser/lazyre"
)

// hunkHead is the first line of a hunk of a diff, and lengths are how many lines of each old text and then of the new one follow. The combined
// diff of a merge has an old text, a column of signs and another @ for each parent (git-diff, "combined diff format").
var (
	hunkHead = lazyre.New(`^@(@{1,8}) (?:-\d{1,9}(?:,\d{1,6})? ){1,8}\+\d{1,9}(?:,\d{1,6})? @{2,9}`)
	lengths  = lazyre.New(`[-+]\d{1,9}(?:,(\d{1,6}))?`)
)

// The lines with which git begins a commit and what it changes of a file.
const (
	author   = "Author: "
	anyHead  = "diff --"
	fileHead = anyHead + "git "
	ofMerge  = anyHead + "c"               // diff --cc, diff --combined
	mailHead = " Mon Sep 17 00:00:00 2001" // ends the first line of a mail: git format-patch always writes this date
	bold     = "\x1b[1m"                   // before that of a file where git was told to use colors
)

// commitHeads begin the lines between an author and the message.
var commitHeads = []string{"AuthorDate: ", "Commit: ", "CommitDate: ", "Date:   "}

// How many lines may stand before the first hunk of a file, and between two. A mail holds so many up to its first file.
const (
	beforeHunks  = 8
	betweenHunks = 2
	beforeFiles  = 400
)

// mailed is the first line of a commit that git format-patch writes as a mail.
var mailed = lazyre.New(`From [0-9a-f]{40,64} Mon Sep 17 00:00:00 2001\r?$`)

// mailAt is where such a line begins behind what a collector put before it, -1 where it is none.
func mailAt(raw []byte) int {
	if !bytes.HasSuffix(bytes.TrimRight(raw, "\r"), []byte(mailHead)) {
		return -1
	}
	if at := mailed().FindIndex(raw); at != nil {
		return at[0]
	}
	return -1
}

// Stages of a commit.
const (
	hasAuthor = iota + 1
	hasDate
	hasMessage
)

// printed follows the commits and diffs that a run or its user printed with git log, show or diff. What they hold did not happen: the lines
// of a message, which git indents by four blanks, and those of a hunk, whose head gives its length. The zero value is outside of both.
// The diffs of other programs are followed where every line is read.
type printed struct {
	lead  []byte // what a collector put before each line
	stage int    // of a commit
	left  []int  // lines that the hunk still has of each old text and of the new one
	wait  int    // lines within which a hunk may begin
	mail  int    // lines that a mail may still have before its first file
}

func (p *printed) open() bool { return p.stage > 0 || p.wait > 0 || p.mail > 0 }

// holds follows a line and reports whether it is text of a commit or a diff.
func (p *printed) holds(raw []byte) bool {
	if p.open() {
		line, ok := cutLead(raw, p.lead)
		if ok && (p.inMail(line) || p.inMessage(line) || p.inHunk(line)) {
			return true
		}
		if !ok || !p.open() {
			*p = printed{}
		}
	}
	if at := bytes.Index(raw, []byte(author)); at >= 0 && bytes.HasSuffix(bytes.TrimSpace(raw), []byte{'>'}) { // an address ends it
		*p = printed{lead: bytes.Clone(raw[:at]), stage: hasAuthor}
	} else if at := bytes.Index(raw, []byte(anyHead)); at >= 0 && (bytes.HasPrefix(raw[at:], []byte(fileHead)) || bytes.HasPrefix(raw[at:], []byte(ofMerge))) {
		*p = printed{lead: bytes.Clone(bytes.TrimSuffix(raw[:at], []byte(bold))), wait: beforeHunks}
	} else if at := mailAt(raw); at >= 0 {
		*p = printed{lead: bytes.Clone(raw[:at]), mail: beforeFiles}
	} else if !p.open() {
		p.inHunk(raw)
	}
	return false
}

// inMail follows a line of a mail. Three hyphens end the message, and then only the names of files are to come.
func (p *printed) inMail(line []byte) bool {
	if p.mail == 0 || bytes.HasPrefix(line, []byte(fileHead)) || string(bytes.TrimRight(line, "\r")) == "---" {
		p.mail = 0
		return false
	}
	p.mail--
	return true
}

// inMessage follows a line of a commit.
func (p *printed) inMessage(line []byte) bool {
	switch {
	case p.stage >= hasDate && bytes.HasPrefix(line, []byte("    ")):
		p.stage = hasMessage
		return true
	case p.stage == 0 || len(bytes.TrimSpace(line)) == 0:
	case p.stage < hasMessage && slices.ContainsFunc(commitHeads, func(head string) bool { return bytes.HasPrefix(line, []byte(head)) }):
		p.stage = hasDate
	default:
		p.stage = 0
	}
	return false
}

// inHunk follows a line of a diff.
func (p *printed) inHunk(line []byte) bool {
	line = uncolored(line)
	if p.takes(line) {
		return true
	}
	p.left, p.wait = nil, max(0, p.wait-1)
	if !bytes.HasPrefix(line, []byte("@@")) {
		return false
	}
	head := hunkHead().FindSubmatch(line[:min(128, len(line))])
	if head == nil {
		return false
	}
	var left []int
	for _, m := range lengths().FindAllSubmatch(head[0], -1) {
		left = append(left, lengthOf(m[1]))
	}
	if len(left) == len(head[1])+1 {
		p.left, p.wait = left, betweenHunks
	}
	return false
}

// takes reports whether a line is one of those that the hunk still has. A minus in a column takes it from that old text and the new one has none
// of it; else the new one has it, and so has each old text without a plus. Behind a backslash stands that a file has no newline at its end.
func (p *printed) takes(line []byte) bool {
	parents := len(p.left) - 1
	if parents < 1 || len(line) == 0 || slices.Max(p.left) == 0 {
		return false
	}
	if line[0] == '\\' {
		return true
	}
	if len(line) < parents || len(bytes.Trim(line[:parents], " +-")) > 0 {
		return false
	}
	signs, from, left := line[:parents], byte(' '), slices.Clone(p.left) // whoever peeks at a line has a copy of p
	if bytes.IndexByte(signs, '-') >= 0 {
		from = '-'
	} else {
		left[parents]--
	}
	for i, sign := range signs {
		if sign == from {
			left[i]--
		}
	}
	if slices.Min(left) < 0 {
		return false
	}
	p.left = left
	return true
}

// inPatch reports whether an event is in a hunk of a diff that another program than git printed, such as black or diff itself, with as much before
// each line as before the head of the hunk.
func (r *Reader) inPatch(own []byte, at int) bool {
	if !r.holdsAbove(at, "@@ -") {
		return false // as most events
	}
	rows := [][]byte{own}
	for line := range r.above(at) {
		if margin := bytes.Index(line, []byte("@@ -")); margin >= 0 {
			p := printed{}
			p.inHunk(line[margin:])
			return p.takesAll(rows, line[:margin])
		}
		rows = append(rows, line)
	}
	return false
}

// takesAll reports whether all rows, the last one first, are lines of a hunk behind what stands before each.
func (p *printed) takesAll(rows [][]byte, lead []byte) bool {
	for _, row := range slices.Backward(rows) {
		line, ok := cutLead(row, lead)
		if ok && len(line) == 0 {
			line = []byte{' '} // who collects lines trims them
		}
		if !ok || !p.takes(line) {
			return false
		}
	}
	return true
}

// uncolored leaves out the color with which git begins a line of a diff (color.diff in git-config).
func uncolored(line []byte) []byte {
	if rest, ok := bytes.CutPrefix(line, []byte("\x1b[")); ok {
		if end := bytes.IndexByte(rest, 'm'); end >= 0 {
			return rest[end+1:]
		}
	}
	return line
}

// lineOf is where an event's line begins. Some events are emitted only when they are over: it is not ok where the line is too far back.
func (r *Reader) lineOf(e *parser.Event) (at int, ok bool) {
	at, ok = r.done, true
	for back := r.line - e.At.Line; back > 0 && ok; back-- {
		at, ok = r.lineBefore(at)
	}
	return at, ok && at < len(r.buf)
}

// lineBefore is where the line before the one that begins at a place begins. It is not ok at the beginning of the input, nor further
// back than the buffer reaches for sure: how much more it holds depends on how the input came.
func (r *Reader) lineBefore(at int) (before int, ok bool) {
	if at == 0 {
		return 0, false
	}
	before = bytes.LastIndexByte(r.buf[:at-1], '\n') + 1
	return before, r.done-before < behind
}

// lengthOf is the number of lines in the head of a hunk, which leaves out a 1.
func lengthOf(n []byte) int {
	if len(n) == 0 {
		return 1
	}
	lines, _ := strconv.Atoi(string(n))
	return lines
}
