package stream

import (
	"bytes"
	"strconv"

	"oomscan/parser"
	"oomscan/parser/lazyre"
)

// hunkHead is the first line of a hunk of a unified diff. Its groups are how many lines of the old text and of the new one follow.
var hunkHead = lazyre.New(`^@@ -\d{1,9}(?:,(\d{1,6}))? \+\d{1,9}(?:,(\d{1,6}))? @@`)

// hunkSigns begin the lines of a hunk.
var hunkSigns = []byte(" +-")

// maxContext is how many unchanged lines may stand between two changes of a hunk.
const maxContext = 6

// inHunk reports whether an event stands in a diff that a run or its user printed. A line that did not change has only a blank before it,
// and the head of its hunk gives the length of the hunk. Where the head is too far back, the lines themselves have to look like changes.
// The message of a commit is quoted, too: git log and git show indent it below its date, with an empty line between.
func (r *Reader) inHunk(e *parser.Event) bool {
	if r.long != nil {
		return false
	}
	at, ok := r.lineOf(e)
	if !ok || bytes.IndexByte(hunkSigns, r.buf[at]) < 0 || !r.mayLookBack(behind) {
		return false
	}
	older, newer, empty := 0, 0, false
	message := bytes.HasPrefix(r.buf[at:], []byte("    "))
	for {
		switch r.buf[at] {
		case '\n':
			empty = true
		case 'C', 'D':
			return message && empty && (bytes.HasPrefix(r.buf[at:], []byte("Date:   ")) || bytes.HasPrefix(r.buf[at:], []byte("CommitDate: ")))
		case ' ':
			older++
			newer++
		case '-':
			older++
		case '+':
			newer++
		case '\\': // there is no newline at the end of the file
		case '@':
			m := hunkHead().FindSubmatch(r.buf[at:min(at+64, len(r.buf))])
			return m != nil && !empty && older <= lengthOf(m[1]) && newer <= lengthOf(m[2])
		default:
			return false
		}
		before, ok := r.lineBefore(at)
		if !ok {
			return at > 0 && !empty && areChanges(r.buf[at:r.done])
		}
		at = before
	}
}

// areChanges reports whether lines that all begin with a sign come from the middle of a hunk: few of them are unchanged, and the signs
// are not those of a list, which a blank follows.
func areChanges(text []byte) bool {
	unchanged, tight := 0, false
	for line := range bytes.Lines(text) {
		if line[0] == ' ' {
			if unchanged++; unchanged > maxContext {
				return false
			}
			continue
		}
		unchanged = 0
		tight = tight || len(line) > 1 && line[1] > ' '
	}
	return tight
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
