package stream

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"oomscan/parser/lazyre"
)

// Programs draw boxes around texts: a table of records of a data set, a panel for each turn of a dialogue, or one for each part
// of a help. A table of what became of workers or trials, a panel around a traceback and one around an error are real.

// The signs that rows begin with, the rules between them, and the rules above and below a box.
var (
	rowSigns  = []string{"│", "┃", "║", "|"}
	ruleSigns = []string{"├", "┡", "┣", "╞", "╟", "╠", "+-", "|-"}
	topSigns  = []string{"╭", "┌", "┏", "╔"}
	edgeSigns = slices.Concat(rowSigns, ruleSigns, topSigns, []string{"╰", "└", "┗", "╚"})
)

// textTitle is the upper rule of a panel that has somebody who speaks, what a model wrote or what its tool printed as its title, or a part of a program's help (typer,
// rich-click, tyro).
var textTitle = lazyre.New(`^[╭┌┏╔][─━═]{1,200} (?i:user|human|assistant|ai response|tool(?: #?\d{1,4})? (?:output|result|response)s?(?:: [\w.-]{1,60})?|(?:system|user) prompt|prompt|question|completion|response|answer|chosen|rejected|(?:[a-z][\w.-]{0,60} ){0,2}(?:options|arguments|(?:sub)?commands))(?: (?:message|turn)|(?: |#){1,2}\d{1,6})? [─━═]{1,400}[╮┐┓╗]$`)

// recordHeads are columns of records of texts, and processHead one that tells of processes, or of when something happened.
var (
	recordHeads = slices.Concat(textColumns, []string{"title", "body", "problem_statement"})
	processHead = lazyre.New(`(?i)\b(?:job|task|worker|gpu|device|pid|process|run|step|time|timestamp|level|severity|batch|config|model)s?(?:_?id)?\b`)
)

// inDrawn reports whether an event is in a row of such a table or panel.
func (r *Reader) inDrawn(own []byte, at int) bool {
	if own = bytes.TrimSpace(own); !beginsWith(own, rowSigns) || !endsWith(own, rowSigns) {
		return false // as most events
	}
	var rows, heads [][]byte
	rules := 0
	own, framed := unframed(own)
	for line := range r.above(at) {
		line = bytes.TrimSpace(line)
		if framed {
			line, _ = unframed(line)
		}
		switch {
		case beginsWith(line, topSigns):
			return rules > 0 && isOfTexts(rows) || rules == 0 && (textTitle().Match(line) || isOfOption(append([][]byte{own}, rows...)))
		case beginsWith(line, ruleSigns):
			heads, rows = rows, nil
			rules++
		case beginsWith(line, rowSigns):
			rows = append(rows, line)
		default:
			return rules > 1 && (isOfTexts(heads) || isFrame(heads))
		}
	}
	return false
}

// unframed returns what a panel holds in a row of its own where that is a line of a box: a blank and a sign stand behind the panel's bar
// (rich, a table within a panel).
func unframed(row []byte) (inner []byte, ok bool) {
	_, bar := utf8.DecodeRune(row)
	_, end := utf8.DecodeLastRune(row)
	if !beginsWith(row, rowSigns) || !endsWith(row, rowSigns) || len(row) < bar+end+2 || row[bar] != ' ' || row[len(row)-end-1] != ' ' {
		return row, false
	}
	if inner = row[bar+1 : len(row)-end-1]; beginsWith(inner, edgeSigns) {
		return inner, true
	}
	return row, false
}

// option begins the row of an option in such a help, with what its value is, but none. toText is how far a description is indented at least.
var option = lazyre.New(`^[│|] {1,4}(?:\* {1,4})?--?[A-Za-z][\w.-]{0,60}(?:, ?--?[\w.-]{1,60})?(?: {1,40}(?:[A-Z_|]{2,40}|[{\[<][^│]{1,60}[}\]>]))? {2}`)

const toText = 12

// isOfOption reports whether the first of the rows of a panel, from the lowest on, describes an option.
func isOfOption(rows [][]byte) bool {
	for _, row := range rows {
		_, size := utf8.DecodeRune(row)
		if option().Match(row) {
			return true
		}
		if indentOf(row[size:]) < toText {
			return false
		}
	}
	return false
}

// isOfTexts reports whether the rows at the head of a table name columns of texts, and none of what became of a run.
func isOfTexts(rows [][]byte) bool {
	texts := false
	for _, row := range rows {
		if ofRun().Match(row) || processHead().Match(row) {
			return false
		}
		for head := range bytes.FieldsFuncSeq(row, func(c rune) bool { return strings.ContainsRune("│┃║|", c) }) {
			texts = texts || slices.Contains(recordHeads, string(bytes.ToLower(bytes.TrimSpace(head))))
		}
	}
	return texts
}

// ofFailure is a column of a table that tells what went wrong with each record.
var ofFailure = lazyre.New(`(?i)err|exc|fail|trace`)

// isFrame reports whether the row at the head of a table is one of a frame of data as Spark shows it (Dataset.show, showString): no blank stands
// between a name and the bar before it, or behind it where cells are cut. Whoever draws a table of workers puts one on both sides.
func isFrame(rows [][]byte) bool {
	if len(rows) != 1 || ofFailure().Match(rows[0]) {
		return false
	}
	left, right := true, true
	for _, name := range bytes.Split(bytes.Trim(rows[0], "|"), []byte{'|'}) {
		left, right = left && indentOf(name) == 0, right && len(bytes.TrimRight(name, " ")) == len(name)
	}
	return left || right
}

// beginsWith reports whether a line begins with one of some signs, and endsWith whether it ends with one.
func beginsWith(line []byte, signs []string) bool {
	return slices.ContainsFunc(signs, func(sign string) bool { return bytes.HasPrefix(line, []byte(sign)) })
}

func endsWith(line []byte, signs []string) bool {
	return slices.ContainsFunc(signs, func(sign string) bool { return bytes.HasSuffix(line, []byte(sign)) })
}

// isLabeled reports whether an event is in the text behind a label and a bar, which goes on below with the bar alone: the label names a text.
// Compose begins the lines of a container in a similar way, but with the name at the margin.
func (r *Reader) isLabeled(own []byte, at int) bool {
	bar := bytes.IndexByte(own, '|')
	if bar < 2 || indentOf(own) < 2 || bar > maxLabelBar {
		return false // as most events
	}
	label := bytes.TrimSpace(own[:bar])
	for line := range r.above(at) {
		if len(label) > 0 {
			break
		}
		if len(line) <= bar || bytes.IndexByte(line, '|') != bar || indentOf(line) < 2 {
			return false
		}
		label = bytes.TrimSpace(line[:bar])
	}
	return slices.Contains(textColumns, string(label))
}

// maxLabelBar is how far from the margin such a bar stands.
const maxLabelBar = 32

// recordSign begins the head of a record whose columns psql -x prints below it, each with its name, a bar, and the text, which goes on below with
// the bar alone.
var recordSign = []byte("-[ RECORD ")

// inColumn reports whether an event is in a column of such a record that names a text. Whoever collects the log puts as much before the head as
// before the columns.
func (r *Reader) inColumn(own []byte, at int) bool {
	if !r.holdsAbove(at, string(recordSign)) {
		return false // as most events
	}
	rows := [][]byte{own}
	for line := range r.above(at) {
		if margin := bytes.Index(line, recordSign); margin >= 0 {
			return slices.Contains(recordHeads, columnOfRecord(rows, margin))
		}
		rows = append(rows, line)
	}
	return false
}

// columnOfRecord is the name of the column in which the first of the rows stands, from the lowest on, empty where they are none of a record.
func columnOfRecord(rows [][]byte, margin int) (name string) {
	bar := -1
	for _, row := range rows {
		row = row[min(margin, len(row)):]
		at := bytes.IndexByte(row, '|')
		if at < 0 || bar >= 0 && at != bar {
			return ""
		}
		if bar = at; name == "" {
			name = string(bytes.TrimSpace(row[:bar]))
		}
	}
	return name
}
