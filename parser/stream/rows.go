package stream

import (
	"bytes"
	"strconv"

	"oomscan/parser/ascii"
)

// Some trainers name what they count once, in the heading of a table, and print a row of it for each step:
//
//	epoch     train_loss  valid_loss  accuracy  time      E    #       LOSS TOK2VEC  LOSS NER  SCORE
//	0         1.210000    1.331000    0.600000  01:34       0     200         13.79   1272.75   0.83
//
// So do fastai (fastprogress), skorch (callbacks/logging.py) and spaCy (training/loggers.py).

// columns are those of such a table: all of them, and the first ones, which count. The zero value is no table.
type columns struct{ all, counted int }

// columnsIn are the columns that a line names. Two blanks or a bar stand between two names, and one of them is of a loss. The index of a data
// frame has no name: its rows have a cell more than there are names.
func columnsIn(line []byte) (c columns, ok bool) {
	if !bytes.Contains(line, []byte("oss")) && !bytes.Contains(line, []byte("LOSS")) {
		return columns{}, false // as most lines
	}
	for part := range bytes.SplitSeq(bytes.ReplaceAll(line, []byte{'|'}, []byte("  ")), []byte("  ")) {
		name := bytes.TrimSpace(part)
		if len(name) == 0 {
			continue
		}
		if c.all == c.counted && isCounted(name) {
			c.counted++
		} else if !ascii.IsLetter(name[0]) || bytes.ContainsAny(name, ":=,'\"") {
			return columns{}, false
		}
		c.all++
	}
	return c, c.counted > 0 && c.all > c.counted
}

// isCounted reports whether the name of a column is a word for a step.
func isCounted(name []byte) bool {
	return len(name) == 1 && (name[0] == '#' || name[0]|0x20 == 'e') || wordBefore(append(bytes.Clone(name), ':')) != ""
}

// mayHold reports whether a line may be a row of the table: a cheap check.
func (c columns) mayHold(line []byte) bool {
	line = bytes.TrimLeft(line, " \t|")
	return c.all > 0 && len(line) > 0 && (ascii.IsDigit(line[0]) || line[0] == '\x1b')
}

// row is what a row of the table counts: whole numbers stand in the columns that do, and one with decimals in the next.
func (c columns) row(line []byte) (n counter, ok bool) {
	if !c.mayHold(line) {
		return counter{}, false
	}
	i := 0
	for cell := range bytes.FieldsFuncSeq(line, func(r rune) bool { return r == ' ' || r == '\t' || r == '|' }) {
		if i < c.counted {
			if size := digits(cell); size == 0 || size < len(cell) {
				return counter{}, false
			}
			n = counter{n: cell, word: "row"}
		} else if _, err := strconv.ParseFloat(string(cell), 64); i == c.counted && (err != nil || bytes.IndexByte(cell, '.') < 0) {
			return counter{}, false
		}
		i++
	}
	return n, i > c.counted && i <= c.all
}
