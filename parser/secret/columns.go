package secret

import (
	"slices"
	"strings"

	"oomscan/parser/lazyre"
)

// columns are a list of names and one of values: the header of a CSV file and its first line, and those of SQL's INSERT.
var columns = lazyre.New(`((?:["']?[\w.-]+["']?,)+["']?[\w.-]+["']?)(?:\\+n|\r?\n)([^\n\\]+)|\(([^()\n]+)\)\s*(?i:values)\s*\(([^()\n]+)`)

// columnsIn finds the value of the first column with the name of a credential, or with one that may be of a credential if the value looks
// like one.
func columnsIn(text string) (spans []span) {
	if !strings.Contains(text, ",") || !strings.ContainsAny(text, "\n\\(") {
		return nil
	}
	for _, m := range columns().FindAllStringSubmatchIndex(text, -1) {
		if m[2] < 0 {
			m = m[4:]
		}
		names, values := strings.Split(text[m[2]:m[3]], ","), strings.Split(text[m[4]:m[5]], ",")
		if len(values) < len(names) {
			continue
		}
		bare := func(cell string) string { return strings.Trim(cell, " "+decoration) }
		column := 0
		for column < len(names) && !Key(bare(names[column])) && !(mayBeKey(bare(names[column])) && isIssued(bare(values[column]))) {
			column++
		}
		if column == len(names) {
			continue
		}
		value := bare(values[column])
		if lo := m[4] + len(strings.Join(values[:column], ",")); hasLetterAndDigit(value) {
			lo += strings.Index(text[lo:], value)
			spans = append(spans, span{lo, lo + len(value)})
		}
	}
	return spans
}

// tableCell separates the cells of a table.
var tableCell = lazyre.New(` *(?:[|│┃]|\t|\\t|(?: {2,})) *`)

// cellsIn finds the values below a header with the name of a credential, in a table whose columns have rules, tabs or blanks between
// them. A line of signs alone is a rule. A message may begin before the header: then the first line below has fewer cells.
func cellsIn(text string) (spans []span) {
	column, width, below := -1, 0, false
	for at := 0; at < len(text); {
		length, end := lineOf(text[at:])
		line := text[at : at+length]
		if column >= 0 || end > 0 && hasHead(line) {
			cells := cellsOf(line, at)
			if more := width - len(cells); below && len(cells) > 0 && more > 0 && more <= column {
				column, width = column-more, len(cells)
			}
			i := slices.IndexFunc(cells, func(c span) bool { return c.hi-c.lo <= maxName && Key(text[c.lo:c.hi]) })
			switch {
			case i >= 0:
				column, width, below = i, len(cells), true
			case len(cells) == 0: // a rule
			case column < 0 || len(cells) != width:
				column, below = -1, false
			default:
				if below = false; isColumn(text[cells[column].lo:cells[column].hi]) {
					spans = append(spans, cells[column])
				}
			}
		}
		at += length + max(end, 1)
	}
	return spans
}

// lineOf returns the length of the line that text begins with, and of its end, as it is or escaped: 0 if there is none.
func lineOf(text string) (length, end int) {
	for i := range len(text) {
		switch {
		case text[i] == '\n':
			return i, 1
		case strings.HasPrefix(text[i:], `\n`):
			return i, len(`\n`)
		}
	}
	return len(text), 0
}

// cellsOf returns where the cells of a line are, which begins at from: none if it has one alone, or no letter and no digit.
func cellsOf(line string, from int) (cells []span) {
	if !hasLetter(line) && !hasDigit(line) {
		return nil
	}
	lo := 0
	for _, m := range append(tableCell().FindAllStringIndex(line, -1), []int{len(line), len(line)}) {
		if cell := strings.Trim(line[lo:m[0]], " "+decoration); cell != "" {
			begin := from + lo + strings.Index(line[lo:], cell)
			cells = append(cells, span{begin, begin + len(cell)})
		}
		lo = m[1]
	}
	if len(cells) < 2 {
		return nil
	}
	return cells
}

// isColumn accepts what is issued, and a shorter run of letters with three numbers between them.
func isColumn(s string) bool {
	_, numbers := classes(s)
	return isIssued(s) || isRun(s) && numbers >= 3
}
