package stream

import (
	"bytes"
	"strconv"
	"strings"

	"oomscan/parser/ascii"
	"oomscan/parser/lazyre"
)

// Some trainers name what they count once, in the heading of a table, and print a row of it for each step:
//
//	epoch     train_loss  valid_loss  accuracy  time      E    #       LOSS TOK2VEC  LOSS NER  SCORE
//	0         1.210000    1.331000    0.600000  01:34       0     200         13.79   1272.75   0.83
//
//	Step (% Done)       Train Iter (time)    ETA (time)           Train Rays / Sec
//	510 (1.70%)         28.119 ms            13 m, 49 s           147.84 K
//
// So do fastai (fastprogress), skorch (callbacks/logging.py), spaCy (training/loggers.py) and nerfstudio (utils/writer.py). Where the heading is a
// comment, for programs that read the table, no name has a blank, so one is enough between two of them (NequIP, train/trainer.py; NumPy's savetxt):
//
//	# Epoch batch         loss       loss_f
//	      0    50        2.057        1.028

// columns are those of such a table: all of them, and the first ones, which count. The zero value is no table.
type columns struct {
	all, counted int
	comment      bool // the heading is one
}

// columnsIn are the columns that a line names. Two blanks or a bar stand between two names, and one of them is of a loss or of the time that is
// left. The index of a data frame has no name: its rows have a cell more than there are names.
func columnsIn(line []byte) (c columns, ok bool) {
	if !bytes.Contains(line, []byte("oss")) && !bytes.Contains(line, []byte("LOSS")) && !bytes.Contains(line, []byte("ETA")) {
		return columns{}, false // as most lines
	}
	names, isComment := bytes.CutPrefix(line, []byte("# "))
	if c.comment = isComment && !bytes.HasPrefix(names, []byte{' '}); c.comment {
		line = bytes.Join(bytes.Fields(names), []byte("  "))
	}
	for part := range bytes.SplitSeq(bytes.ReplaceAll(line, []byte{'|'}, []byte("  ")), []byte("  ")) {
		name, _, _ := bytes.Cut(bytes.TrimSpace(part), []byte(" (%")) // the share of all steps stands behind the step
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
	return len(name) == 1 && (name[0] == '#' || name[0]|0x20 == 'e') || wordBefore(append(bytes.Clone(name), ':'), stepWords) != ""
}

// mayHold reports whether a line may be a row of the table: a cheap check.
func (c columns) mayHold(line []byte) bool {
	line = bytes.TrimLeft(line, " \t|")
	return c.all > 0 && len(line) > 0 && (ascii.IsDigit(line[0]) || line[0] == '\x1b')
}

// share is how much of all steps a step is, behind its number.
var share = lazyre.New(`^ ?(?:\(\d{1,3}(?:\.\d{1,8})?%\))?$`)

// epochSteps is more than what is counted within an epoch.
const epochSteps = 10_000_000

// row is what a row of the table counts: whole numbers stand in the columns that do, and one with decimals in the next, where a unit may follow.
// Where several count, the last may begin anew whenever the one before it counts on.
func (c columns) row(line []byte) (counter, bool) {
	if !c.mayHold(line) {
		return counter{}, false
	}
	text := wide.Replace(string(line))
	if c.comment {
		text = strings.Join(strings.Fields(text), "  ")
	}
	i, sum := 0, 0
	for part := range strings.SplitSeq(text, "  ") {
		cell := strings.TrimSpace(part)
		if cell == "" {
			continue
		}
		if first, _, _ := strings.Cut(cell, " "); i < c.counted {
			size := digits([]byte(first))
			if size == 0 || !share().MatchString(cell[size:]) {
				return counter{}, false
			}
			counted, _ := strconv.Atoi(cell[:size])
			sum = sum*epochSteps + counted
		} else if _, err := strconv.ParseFloat(first, 64); i == c.counted && (err != nil || !strings.Contains(first, ".")) {
			return counter{}, false
		}
		i++
	}
	return counter{n: strconv.AppendInt(nil, int64(sum), 10), word: "row"}, i > c.counted && i <= c.all
}

// wide makes two blanks of whatever stands between two cells.
var wide = strings.NewReplacer("|", "  ", "\t", "  ")
