package source

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"unicode"

	"oomscan/parser/ascii"
	"oomscan/parser/lazyre"
)

// textDecoder returns a decoder for a log that a mail program, a web page or an old editor rewrote, or nil.
func textDecoder(head []byte) Decoder {
	switch {
	case bytes.Count(head, noBreak) >= minRewritten:
		return &replacer{from: noBreak, to: []byte{' '}}
	case len(breakOf(head)) > 0:
		return &chain{first: &replacer{from: breakOf(head), to: []byte{'\n'}}, then: &rowReader{decode: untagged}}
	case len(separatorOf(head)) > 0:
		return &replacer{from: separatorOf(head), to: []byte{'\n'}}
	case bytes.Contains(head, nativeError):
		return &rowReader{decode: new(shellRecord).row}
	case isQuotedPrintable(head):
		return new(quotedPrintable)
	case timedTable().Match(head):
		first, _, _ := bytes.Cut(head, []byte{'\n'})
		return &rowReader{decode: tableReader(bytes.Count(first, []byte{'|'}) - 1).row}
	case bytes.Contains(bytes.ToLower(head), []byte("base64")) && base64Part().Match(head):
		return &rowReader{decode: new(base64Mail).row}
	}
	return nil
}

// timedTable begins a table of Markdown whose rows have a time first, as CloudWatch's Logs Insights exports the lines of a log. Tables of
// manuals have no times.
var timedTable = lazyre.New(`^\|(?: [^|\n]{1,80} \|){2,6}\r?\n\|(?: ?:?-{2,}:? ?\|){2,6}\r?\n\| ?20\d\d-\d\d-\d\d[ T]\d\d:`)

// tableReader reads such a table of so many columns: of each row the time and the last column. What is no row stays as it is.
type tableReader int

func (columns tableReader) row(line []byte) []byte {
	text, ok := bytes.CutPrefix(line, []byte("|"))
	if !ok {
		return line
	}
	text = bytes.TrimSuffix(bytes.TrimPrefix(bytes.TrimRight(text, "\r\n"), []byte{' '}), []byte(" |"))
	if len(text) == 0 || !ascii.IsDigit(text[0]) {
		return []byte(filler) // the head of the table
	}
	cells := bytes.SplitN(text, []byte(" | "), int(columns))
	message := bytes.ReplaceAll(cells[len(cells)-1], []byte(`\|`), []byte{'|'})
	return slices.Concat(cells[0], []byte{' '}, message, []byte{'\n'})
}

// base64Part heads a text in a mail that is written in base64 (RFC 2045), up to its first row.
var base64Part = lazyre.New(`(?i)(?:^|\n)content-type: text/(?s:.{0,400}\n)content-transfer-encoding: base64\r?\n(?:[\w-]+: [^\n]*\n){0,9}\r?\n[\w+/]{40}`)

// base64Mail decodes the rows of such texts. All other rows stay.
type base64Mail struct {
	text, inside bool
	held         []byte // what is no whole group of four
}

func (d *base64Mail) row(line []byte) []byte {
	row := bytes.TrimSpace(line)
	switch head := bytes.ToLower(row); {
	case bytes.HasPrefix(head, []byte("content-type: ")):
		d.text = bytes.HasPrefix(head, []byte("content-type: text/"))
	case d.text && string(head) == "content-transfer-encoding: base64":
		d.inside = true
	case bytes.HasPrefix(row, []byte("--")):
		d.text, d.inside = false, false
	}
	if !d.inside || len(row) == 0 || bytes.ContainsAny(row, " :-") {
		return line
	}
	d.held = append(d.held, row...)
	whole := len(d.held) / 4 * 4
	text, err := base64.StdEncoding.DecodeString(string(d.held[:whole]))
	if err != nil {
		d.inside = false
		return line
	}
	d.held = append(d.held[:0], d.held[whole:]...)
	return text
}

// noBreak is the blank at which no line is broken. Web pages and word processors put it in place of blanks.
var noBreak = []byte("\u00a0")

// minRewritten is how many signs prove that a text was rewritten.
const minRewritten = 8

// separatorOf is what ends the lines of a log that has no newlines: a carriage return, a line break of a word processor, or the tab that the
// AWS CLI prints between messages. The states of a progress bar follow each other with the same words, and count as one line; messages between
// tabs may differ only in their numbers, and where they begin as lines do, few are enough.
func separatorOf(head []byte) []byte {
	head = bytes.TrimRight(head, "\n")
	if bytes.IndexByte(head, '\n') >= 0 {
		return nil
	}
	for _, end := range lineEnds {
		if bytes.Count(head, []byte(end)) >= minBroken {
			return []byte(end)
		}
	}
	for _, c := range []byte("\v\r\t") {
		words, all, tabs, starts, last := map[string]bool{}, 0, 0, lineStarts(head, c), ""
		for line := range bytes.SplitSeq(head, []byte{c}) {
			if c == '\r' && bytes.HasPrefix(line, []byte{'\t'}) {
				tabs++ // the line before may have ended with the return, and a tab be between the messages
			}
			text := bytes.Map(func(r rune) rune {
				if r > unicode.MaxASCII || !unicode.IsLetter(r) {
					return -1
				}
				return r
			}, line)
			if len(text) > 0 && c == '\t' {
				text = line
			}
			if len(text) > 0 && string(text) != last {
				last = string(text)
				words[last] = true
				all++
			}
		}
		if tabs*3 > all*2 || c == '\r' && lineStarts(head, '\t') > max(starts, minBroken) {
			continue
		}
		if c == '\v' && all > minBroken || c != '\v' && starts > minBroken || len(words) >= minRewritten && len(words)*3 > all {
			return []byte{c}
		}
	}
	return nil
}

// lineStarts is how many pieces between signs begin as lines do.
func lineStarts(head []byte, sign byte) (n int) {
	for piece := range bytes.SplitSeq(head, []byte{sign}) {
		if len(bytes.TrimSpace(piece)) > 0 && lineStart().Match(piece) {
			n++
		}
	}
	return n
}

// lineEnds are signs that mean nothing but the end of a line: Unicode's two, and the terminal's CNL (ECMA-48).
var lineEnds = []string{"\u2028", "\u0085", "\x1b[E"}

// breakOf is what ends the lines of a mail in HTML that has no newlines.
func breakOf(head []byte) []byte {
	const few = 4
	if head = bytes.TrimSpace(head); !bytes.HasPrefix(head, []byte{'<'}) || bytes.IndexByte(head, '\n') >= 0 {
		return nil
	}
	for _, end := range []string{"<br>", "<br/>", "<br />", "</div><div>", "</p><p>"} {
		if bytes.Count(head, []byte(end)) >= few {
			return []byte(end)
		}
	}
	return nil
}

// isQuotedPrintable reports whether most signs of equality begin an escape or end a row, as in a mail: logs have settings and rules. A
// log without such a sign has only rows.
func isQuotedPrintable(head []byte) bool {
	const least, shortest, longest = 2, 60, 76
	escapes, rows, full, others := 0, 0, 0, 0
	for i, c := range head {
		if c != '=' {
			continue
		}
		switch rest := head[i+1:]; {
		case bytes.HasPrefix(rest, []byte{'\n'}), bytes.HasPrefix(rest, []byte("\r\n")):
			rows++
			if n := i - bytes.LastIndexByte(head[:i], '\n'); n >= shortest && n <= longest {
				full++
			}
		case len(rest) > 1 && isUpperHex(rest[0]) && isUpperHex(rest[1]):
			escapes++
		default:
			others++
		}
	}
	return rows >= least && (others < rows && full == rows || bytes.Contains(head, []byte("=3D")) && others <= escapes+rows)
}

func isUpperHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'A' && c <= 'F' }

// replacer replaces a sequence of bytes.
type replacer struct {
	from, to []byte
	held     []byte // what may begin one
}

func (d *replacer) Append(dst, src []byte) []byte {
	text := bytes.ReplaceAll(slices.Concat(d.held, src), d.from, d.to)
	d.held = nil
	for n := min(len(d.from)-1, len(text)); n > 0; n-- {
		if at := len(text) - n; bytes.HasPrefix(d.from, text[at:]) {
			text, d.held = text[:at], text[at:]
			break
		}
	}
	return append(dst, text...)
}

func (d *replacer) Close(dst []byte) []byte { return append(dst, d.held...) }

// quotedPrintable decodes what mail programs make of a text (RFC 2045).
type quotedPrintable struct {
	escape []byte // an incomplete escape sequence
	joined int    // rows of the current line
}

func (d *quotedPrintable) Append(dst, src []byte) []byte {
	for _, c := range src {
		switch {
		case len(d.escape) > 0 && c == '\n':
			d.escape = d.escape[:0]
			d.joined++
		case len(d.escape) > 0 || c == '=':
			if d.escape = append(d.escape, c); len(d.escape) == len("=3D") {
				dst = d.Close(dst)
			}
		case c == '\n':
			dst = append(dst, c)
			for ; d.joined > 0; d.joined-- {
				dst = append(dst, filler...)
			}
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

func (d *quotedPrintable) Close(dst []byte) []byte {
	if b, err := hex.DecodeString(string(d.escape[min(1, len(d.escape)):])); err == nil {
		dst = append(dst, b...)
	} else {
		dst = append(dst, d.escape...)
	}
	d.escape = d.escape[:0]
	return dst
}

// nativeError ends the record that PowerShell 5 makes of the first line that a program writes to the standard error. The record names the
// program before the line, and then quotes the command and the line again.
var nativeError = []byte("FullyQualifiedErrorId : NativeCommandError")

var (
	nativeLine  = lazyre.New(`^[\w.\\/:-]{1,200}\.exe : `)
	nativeWhere = lazyre.New(`^At (?:line|[^\r\n]{1,300}\.ps1):\d{1,6} char:\d{1,6}\s*$`)
)

// shellRecord takes such records off the lines they were made of.
type shellRecord struct{ inside bool }

func (d *shellRecord) row(line []byte) []byte {
	switch ends := bytes.Contains(line, nativeError); {
	case nativeWhere().Match(line):
		d.inside = true
	case !d.inside:
		return line[len(nativeLine().Find(line)):]
	case ends:
		d.inside = false
	case len(bytes.TrimLeft(line, " ")) == 0 || bytes.TrimLeft(line, " ")[0] != '+':
		d.inside = false // a row of a command that goes on is not told from the log's
		return line
	}
	return []byte(filler)
}
