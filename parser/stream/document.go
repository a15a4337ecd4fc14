package stream

import (
	"bytes"
	"slices"

	"oomscan/parser"
	"oomscan/parser/lazyre"
)

// exampleHeading is a heading of a document above messages that it explains. It has a line of its own.
var exampleHeading = lazyre.New(`^(?i)(?:#{1,6} |=+ |\*{2})?(?:(?:an? )?(?:examples?|typical|common|possible)(?: of)?(?: \w{1,20}){0,2} (?:errors?|failures?)(?: (?:messages?|outputs?|logs?))?|(?:errors?|failures?) (?:messages? )?examples?)(?:\*{2}:?|:\*{2}|:)?$`)

// How far behind its heading an example may stand.
const (
	exampleLines = 16
	exampleBytes = 4 << 10
)

// inExample reports whether an event stands below such a heading.
func (r *Reader) inExample(e *parser.Event) bool {
	if r.long != nil || r.line-e.At.Line > exampleLines || !r.mayLookBack(exampleBytes) {
		return false
	}
	rows := slices.CompactFunc(bytes.Split(r.buf[max(0, r.done-exampleBytes):r.done], newline), bytes.Equal) // two writers count as one
	for _, row := range rows[max(0, len(rows)-exampleLines):] {
		if len(row) <= 80 && exampleHeading().Match(bytes.TrimSpace(row)) {
			return true
		}
	}
	return false
}

// inBlockquote reports whether an event stands in a quotation of a document, as manuals quote a message above its remedy. A mail quotes a
// log in the same way, but it has no links to files beside it.
func (r *Reader) inBlockquote(e *parser.Event) bool {
	if r.long != nil {
		return false
	}
	at := r.lineOf(e)
	return at < len(r.buf) && r.buf[at] == '>' && r.mayLookBack(at) && repositoryLink().Match(r.buf[max(0, at-behind):at])
}
