package stream

import (
	"bytes"
	"slices"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/lazyre"
)

// exampleHeading is a heading of a document above messages that it explains, in the languages that manuals are often translated to. It has
// a line of its own. A script has comments of one sign.
var exampleHeading = lazyre.New(`(?i)(?:#{1,6} |=+ |\*{2})?(?:(?:an? )?(?:examples?|typical|common|possible)(?: of)?(?: \w{1,20}){0,2} (?:errors?|failures?)(?: (?:messages?|outputs?|logs?))?|(?:errors?|failures?) (?:messages? )?examples?)(?:\*{2}:?|:\*{2}|:)?$|` +
	`#{2,6} (?:troubleshooting|known (?:issues|limitations|problems)|common (?:issues|problems))$|#{1,6} (?:faqs?|frequently asked questions|常见问题|已知问题|故障排除|よくある質問|トラブルシューティング|문제 해결|자주 묻는 질문|fehlerbehebung|dépannage|solución de problemas|устранение неполадок)$`)

// How far behind its heading an example may stand.
const (
	exampleLines = 16
	exampleBytes = 4 << 10
)

// inExample reports whether an event stands below such a heading. Before the heading is only what stands before the event, too: the
// prefix of whoever collected the document.
func (r *Reader) inExample(e *parser.Event) bool {
	if r.long != nil || r.line-e.At.Line > exampleLines || !r.mayLookBack(exampleBytes) {
		return false
	}
	at, ok := r.lineOf(e)
	if !ok {
		return false
	}
	rows := slices.CompactFunc(bytes.Split(r.buf[max(0, r.done-exampleBytes):r.done], newline), bytes.Equal) // two writers count as one
	rows = slices.DeleteFunc(rows[max(0, len(rows)-exampleLines):], func(row []byte) bool { return len(row) > 400 || !namesFailure(row) })
	if len(rows) == 0 {
		return false // as above most events
	}
	line, _, _ := bytes.Cut(r.buf[at:], newline)
	var peeler envelope.Peeler
	event, by := peeler.Peel(envelope.Unrepr(line))
	event = bytes.TrimSpace(event)
	for _, row := range rows {
		text, h := peeler.Peel(envelope.Unrepr(row))
		if text = bytes.TrimSpace(text); h.Clock != by.Clock || h.Level != by.Level || h.Stream != by.Stream {
			continue
		}
		if !endsHeading(text) {
			continue
		}
		if heading := exampleHeading().FindIndex(text); heading != nil {
			if _, same := alike(event, text[:heading[0]]); same == heading[0] {
				return true
			}
		}
	}
	return false
}

// namesFailure reports whether a line has a word or sign that every such heading has.
func namesFailure(line []byte) bool {
	line = bytes.ToLower(line)
	return bytes.Contains(line, []byte("# ")) || bytes.Contains(line, []byte("error")) || bytes.Contains(line, []byte("failure"))
}

// endsHeading reports whether a line may end in such a heading: by its last word, or because a sign begins one. The expression alone would
// take most of the time where many lines name an error.
func endsHeading(line []byte) bool {
	const longest = 12 // of the words, and signs behind them
	end := bytes.ToLower(bytes.TrimRight(line[max(0, len(line)-longest):], "*:"))
	return bytes.Contains(line, []byte("# ")) || slices.ContainsFunc([]string{"error", "failure", "message", "output", "log", "example"}, func(word string) bool {
		return bytes.HasSuffix(bytes.TrimSuffix(end, []byte("s")), []byte(word))
	})
}

// inBlockquote reports whether an event stands in a quotation of a document, as manuals quote a message above its remedy. A mail quotes a
// log in the same way, but it has no links to files beside it.
func (r *Reader) inBlockquote(e *parser.Event) bool {
	if r.long != nil {
		return false
	}
	at, ok := r.lineOf(e)
	if !ok || r.buf[at] != '>' {
		return false
	}
	before := r.buf[max(0, r.done-behind):at]
	return r.mayLookBack(len(before)) && repositoryLink().Match(before)
}

// sourceHead is a line that begins a file of source code. A run may print its script above its output: there the messages of a failure
// have no indent.
var sourceHead = lazyre.New(`^(?:package [a-z][\w.]*;?|import (?:\(|"[\w./-]+"|[\w.]+(?: as \w+)?(?:, ?[\w.]+)*;?|[\w*{].* from ['"].*)|from [\w.]+ import .*|#include ?[<"].*|use [\w:{}, *]+;|using [\w.]+;|"""|#!/usr/bin/env python3?)\s*$`)

// sourceItem is the beginning of a line that is no message by itself: an indent, a comment, a value.
var sourceItem = lazyre.New("^(?:[ \t#*\"'`]|/[/*]|[\\w.]{1,60} = |[\\w.]{1,60}\\()")

// Where such lines are looked for, and how many a file has: a warning may quote one.
const (
	sourceBytes = 4 << 10
	sourceHeads = 2
)

// manPage begins a page of man(7) or mdoc(7).
var manPage = lazyre.New(`^(?:'\\" .*\n|\.\\".*\n)*\.(?:TH|Dd) `)

// isSource reports whether a text begins like a file of source code, or a manual's.
func isSource(text []byte) bool {
	if manPage().Match(text) {
		return true
	}
	heads := 0
	for line := range bytes.Lines(text[:min(len(text), sourceBytes)]) {
		if sourceHead().Match(line) {
			heads++
		}
	}
	return heads >= sourceHeads
}

// inSource reports whether an event is a literal, a comment or an item of a file of source code.
func (r *Reader) inSource(e *parser.Event) bool {
	if r.long != nil {
		return false
	}
	at, ok := r.lineOf(e)
	return ok && sourceItem().Match(r.buf[at:min(at+80, len(r.buf))]) && (r.source || !r.begun && isSource(r.buf[:r.done]))
}

// tableRule is the line below the heads of a table of Markdown.
var tableRule = lazyre.New(`^\|(?: *:?-{2,}:? *\|){2,}\s*$`)

// tableOfRun is the heading of a table in which a program says how its parts fared.
var tableOfRun = lazyre.New(`(?i)^(?:.*\|)? *(?:rank|node|host|worker|job|task|trial|gpu|device|pid|run)(?:[ _]?id)? *\|`)

// tableRows is how far above a row that line is looked for.
const tableRows = 40

// inTable reports whether an event stands in a row of a table of Markdown, which lists messages and what they mean.
func (r *Reader) inTable(e *parser.Event) bool {
	if r.long != nil {
		return false
	}
	at, ok := r.lineOf(e)
	for range tableRows {
		if !ok || r.buf[at] != '|' {
			return false
		}
		line, _, _ := bytes.Cut(r.buf[at:], newline)
		rule := tableRule().Match(line)
		if at, ok = r.lineBefore(at); rule {
			line, _, _ = bytes.Cut(r.buf[at:], newline)
			return !ok || !tableOfRun().Match(line)
		}
	}
	return false
}
