package source

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"oomscan/parser/envelope"
	"oomscan/parser/lazyre"
)

// rowDecoder returns a decoder for a log of which every line was changed alike: by a viewer, an exporter or a web page. It is nil for any
// other log.
func rowDecoder(head []byte) Decoder {
	end := bytes.LastIndexByte(head, '\n')
	if end < 0 {
		return nil
	}
	rows := bytes.Split(head[:end], []byte{'\n'})
	for i, row := range rows {
		rows[i] = bytes.TrimSuffix(row, []byte{'\r'})
	}
	if blank, ok := areNumbered(rows); ok {
		return &rowReader{decode: (&numberedRows{blank: blank}).row}
	}
	if len(rows) < minRows && (len(rows) < fewRows || len(head) < sniffLen) {
		return nil
	}
	shown := slices.ContainsFunc(shownSigns, func(sign string) bool { return bytes.Contains(head, []byte(sign)) }) && shownSign().Match(head)
	for _, tail := range lineTails {
		if slices.ContainsFunc(rows, func(row []byte) bool { return !bytes.HasSuffix(row, []byte(tail)) }) {
			continue
		}
		return &rowReader{decode: func(line []byte) []byte {
			if line = cutTail(line, tail); shown {
				line = unshown(line)
			}
			return line
		}}
	}
	switch {
	case shown:
		return &rowReader{decode: unshown}
	case awsEvent().Match(rows[0]):
		return &rowReader{decode: func(line []byte) []byte { return awsEvent().ReplaceAll(line, []byte("$2 $1")) }}
	case areTagged(rows), logPage().Match(head):
		return &rowReader{decode: untagged}
	case areEscaped(head):
		return &rowReader{decode: func(line []byte) []byte { return markdownEscape().ReplaceAll(line, []byte("$1")) }}
	case areQuoted(rows):
		return &rowReader{decode: unquoted}
	}
	return nil
}

// loggedDecoder returns a decoder for a log of which lines are shown in lines of a collector's or a scheduler's own form, nil for any other. What
// the collector or the scheduler logs of itself may come first.
func loggedDecoder(head []byte) Decoder {
	for _, form := range loggedForms {
		if bytes.Contains(head, []byte(form.sign)) && slices.ContainsFunc(bytes.Split(head, []byte{'\n'}), form.row().Match) {
			return &rowReader{decode: form.decode}
		}
	}
	return nil
}

// loggedForms are such forms, with a sign that each row has: to look for it is much faster.
var loggedForms = []struct {
	sign   string
	row    func() *regexp.Regexp
	decode func(line []byte) []byte
}{
	{`, {"`, buffered, unbuffered},
	{" - b", loggedBytes, unlogged},
	{"\t", archived, func(line []byte) []byte { return archived().ReplaceAll(line, []byte("$1 $2 $3: ")) }},
}

// buffered matches what Fluent Bit prints and writes to files by default, with the tag, the number in its buffer and the time around each
// record (plugins/out_stdout, plugins/out_file).
var buffered = lazyre.New(`^(?:\[\d{1,9}\] )?[\w.*/-]{1,200}: \[{1,2}\d{9,10}\.\d{1,9}, (?:\{\}\], )?(\{".*\})\]\s*$`)

// unbuffered is the record in such a line; any other line stays as it is.
func unbuffered(line []byte) []byte {
	m := buffered().FindSubmatch(line)
	if m == nil {
		return line
	}
	return append(bytes.ReplaceAll(m[1], []byte(`"=>`), []byte(`":`)), '\n')
}

// loggedBytes matches what Airflow 1.10 logs of a command's output: it shows the bytes as Python does (operators/bash_operator.py).
var loggedBytes = lazyre.New(`^(\[[\d :,T.+-]{19,40}Z?\] \{\w{1,40}\.py:\d{1,5}\} [A-Z]{4,8} - )(b(?:'.*'|".*"))\s*$`)

// unlogged is such a line with the output itself; any other line stays as it is.
func unlogged(line []byte) []byte {
	m := loggedBytes().FindSubmatch(line)
	if m == nil {
		return line
	}
	return slices.Concat(m[1], bytes.TrimSuffix(envelope.Unrepr(m[2]), []byte{'\n'}), []byte{'\n'})
}

// archived matches what begins a line of Papertrail's archives: its number, when it was written and received, the sender's number, name and
// address, the facility, the severity and the program.
var archived = lazyre.New(`^\d{6,20}\t(20\d\d-\d\d-\d\dT[\d:.]{8,18}(?:Z|[+-]\d\d:\d\d))\t20\d\d-\d\d-\d\dT[^\t]{9,40}\t\d{1,20}\t([^\t ]{1,200})\t[^\t]{0,64}\t\w{2,16}\t[A-Z][a-z]{3,12}\t([^\t ]{1,200})\t`)

// minRows is how many rows show that all were changed alike, fewRows the same where the beginning of a log has no more.
const (
	minRows = 6
	fewRows = 3
)

// lineNumber begins a line with its number and a sign behind it, as grep -n, nl -s and scripts print them. A line beside a match has a hyphen.
var lineNumber = lazyre.New(`^[ \t]{0,8}(\d{1,7})[:-]`)

// areNumbered reports whether lines begin with their numbers, and whether a blank follows the sign. srun's labels look the same, but
// those of tasks begin with 0 and do not count on from line to line.
func areNumbered(rows [][]byte) (blank, ok bool) {
	var d numberedRows
	blank = true
	numbered, others := 0, 0
	for i, row := range rows {
		n := d.next(row)
		switch {
		case n > 0:
			numbered++
			blank = blank && (n == len(row) || row[n] == ' ')
		case lineNumber().Match(row):
			return false, false
		case i > 0 && len(row) > 0 && string(row) != "--":
			others++
		}
	}
	const least = 3 // rows that are the lines from the first one on
	return blank, numbered >= minRows && others*10 <= numbered || numbered == len(rows) && numbered == d.last && numbered >= least
}

// numberedRows follows the numbers of lines. They count on, but for a gap behind a line without a number, such as grep's "--".
type numberedRows struct {
	blank bool // follows the sign
	last  int
	gap   bool
}

// next is how long the number of the next line is with its sign, 0 when it has none.
func (d *numberedRows) next(row []byte) int {
	m := lineNumber().FindSubmatch(row)
	if m == nil {
		d.gap = true
		return 0
	}
	if n, _ := strconv.Atoi(string(m[1])); n == d.last+1 || n > d.last && (d.gap || d.last == 0) {
		d.last, d.gap = n, false
		return len(m[0])
	}
	return 0
}

func (d *numberedRows) row(line []byte) []byte {
	n := d.next(line)
	if line = line[n:]; n > 0 && d.blank {
		line = bytes.TrimPrefix(line, []byte{' '})
	}
	return line
}

// lineTails are what all lines of a log end with: an end that a viewer shows (cat -A, vim's list), a carriage return that was pasted as two
// signs, or another separator of lines than the newline behind it (Unicode).
var lineTails = []string{"^M$", "$", "^M", "\u2028", "\u2029", "\u0085"}

// cutTail takes such an end off. What shows the ends of lines shows tabs, too.
func cutTail(line []byte, tail string) []byte {
	text, ok := bytes.CutSuffix(bytes.TrimRight(line, "\r\n"), []byte(tail))
	if !ok {
		return line
	}
	if bytes.HasSuffix([]byte(tail), []byte{'$'}) {
		text = bytes.ReplaceAll(text, []byte("^I"), []byte{'\t'})
	}
	return append(bytes.Clone(text), '\n')
}

// shownSign is a color, or a character that is not of ASCII, in a text that was copied from where such bytes are shown by signs: cat -v, less,
// and less in another locale.
var shownSign = lazyre.New(`\^\[\[[\d;]{0,16}m|ESC\[[\d;]{0,16}m|M-[B-Db-t](?:M-(?:\^[@-_]|[ -?])){1,3}|<[C-F][0-9A-F]>(?:<[89AB][0-9A-F]>){1,3}`)

// shownSigns are what such signs hold: to look for them is much faster.
var shownSigns = []string{"^[[", "ESC[", "M-", "><"}

// unshown puts the bytes back in place of such signs.
func unshown(line []byte) []byte {
	return shownSign().ReplaceAllFunc(line, func(signs []byte) []byte {
		var text []byte
		switch rest, _ := bytes.CutPrefix(signs, []byte("ESC")); {
		case signs[0] == '^':
			return append([]byte{0x1b}, signs[2:]...)
		case signs[0] == 'E':
			return append([]byte{0x1b}, rest...)
		case signs[0] == '<':
			text, _ = hex.DecodeString(strings.NewReplacer("<", "", ">", "").Replace(string(signs)))
		default:
			for rest = signs; len(rest) > 0; {
				if rest = rest[len("M-"):]; rest[0] == '^' && len(rest) > 1 {
					text, rest = append(text, 0x80|(rest[1]-'@')), rest[2:]
				} else {
					text, rest = append(text, 0x80|rest[0]), rest[1:]
				}
			}
		}
		if !utf8.Valid(text) {
			return signs
		}
		return text
	})
}

// awsEvent is a line of a log as the AWS CLI prints it as text: between the time of its arrival and its own, with an id and the stream before
// it or without (filter-log-events, get-log-events).
var awsEvent = lazyre.New(`^EVENTS\t(?:\d{20,60}\t\d{13}\t[^\t]{1,512}|\d{13})\t(.*)\t(\d{13})`)

// tag is one of the elements of HTML that stand around lines and words: of a table, of colors, of links.
var tag = lazyre.New(`</?(?:span|font|a|b|i|em|strong|code|mark|pre|td|th|tr|tbody|table|br|div|p)(?: [^<>]{0,400})?/?>`)

// lineEndTag ends a line of which a page made an element.
var lineEndTag = lazyre.New(`(?:<br ?/?>|</(?:span|td|tr|code|div|p|li)>)$`)

// logPage begins a page that has nothing but a log, such as Jenkins' console. A manual has a heading or a paragraph first.
var logPage = lazyre.New(`(?is)^\s*<(?:!doctype html|html)\b.{0,400}?<body[^<>]{0,80}>\s*<pre\b`)

// areTagged reports whether a web page has an element for each line, or pieces of lines in elements.
func areTagged(rows [][]byte) bool {
	texts, ends, spans := 0, 0, 0
	for _, row := range rows {
		if len(row) == 0 {
			continue
		}
		texts++
		if row[len(row)-1] == '>' && lineEndTag().Match(row) {
			ends++
		}
		if bytes.Contains(row, []byte("<span ")) {
			spans++
		}
	}
	page := bytes.HasPrefix(bytes.ToLower(rows[0]), []byte("<!doctype html")) || bytes.HasPrefix(rows[0], []byte("<html"))
	return ends >= minRows && ends*5 >= texts*4 || page && spans >= minRows
}

// untagged takes the tags out of a line.
func untagged(line []byte) []byte {
	if bytes.IndexByte(line, '<') < 0 && bytes.IndexByte(line, '&') < 0 {
		return line
	}
	text := bytes.ReplaceAll(bytes.TrimRight(line, "\r\n"), []byte("</td><td"), []byte("</td>\t<td"))
	text = []byte(html.UnescapeString(string(tag().ReplaceAll(text, nil))))
	return append(bytes.ReplaceAll(text, noBreak, []byte{' '}), '\n')
}

// markdownEscape is a sign that means something in Markdown, with the backslash that an editor or a converter put before it.
var markdownEscape = lazyre.New("\\\\([][_*{}()<>|#~`!+&.-])")

// areEscaped reports whether nearly all brackets and underscores of a text have a backslash before them.
func areEscaped(head []byte) bool {
	const least, many = 4, 8 // a few are enough where all have one
	escaped, all := 0, 0
	for _, c := range []byte("[]_*") {
		escaped += bytes.Count(head, []byte{'\\', c})
		all += bytes.Count(head, []byte{c})
	}
	return escaped >= least && escaped == all || escaped >= many && escaped*20 >= all*19
}

// areQuoted reports whether each line but a heading is a string: of JSON, as jq prints them, or a cell of a table of one column (RFC 4180). A
// string of several lines is a sample of a data set.
func areQuoted(rows [][]byte) bool {
	for i, row := range rows {
		quoted := len(row) > 1 && row[0] == '"' && row[len(row)-1] == '"' &&
			(json.Valid(row) || bytes.IndexByte(bytes.ReplaceAll(row[1:len(row)-1], []byte(`""`), nil), '"') < 0)
		if !quoted && i > 0 && len(row) > 0 || bytes.Contains(bytes.TrimSuffix(bytes.ReplaceAll(row, []byte(`\\`), nil), []byte(`\n"`)), []byte(`\n`)) {
			return false
		}
	}
	return bytes.HasPrefix(rows[1], []byte{'"'})
}

// unquoted takes the quotes off a line that is a string.
func unquoted(line []byte) []byte {
	row := bytes.TrimRight(line, "\r\n")
	if len(row) < 2 || row[0] != '"' || row[len(row)-1] != '"' {
		return line
	}
	var text string
	if json.Unmarshal(row, &text) == nil {
		return append(bytes.TrimSuffix([]byte(text), []byte{'\n'}), '\n')
	}
	return append(bytes.ReplaceAll(row[1:len(row)-1], []byte(`""`), []byte{'"'}), '\n')
}
