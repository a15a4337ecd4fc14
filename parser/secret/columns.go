package secret

import (
	"slices"
	"strings"

	"oomscan/parser/lazyre"
)

// columns are a list of names and one of values: the header of a CSV file and its first line, and those of SQL's INSERT.
var columns = lazyre.New(`((?:["']?[\w.-]+["']?,)+["']?[\w.-]+["']?)(?:\\+n|\r?\n)([^\n\\]+)|\(([^()\n]+)\)\s*(?i:values)\s*\(([^()\n]+)`)

// columnsIn finds the value of the first column with the name of a credential.
func columnsIn(text string) (spans []span) {
	if !strings.Contains(text, ",") || !strings.ContainsAny(text, "\n\\(") {
		return nil
	}
	for _, m := range columns().FindAllStringSubmatchIndex(text, -1) {
		if m[2] < 0 {
			m = m[4:]
		}
		names, values := strings.Split(text[m[2]:m[3]], ","), strings.Split(text[m[4]:m[5]], ",")
		column := slices.IndexFunc(names, func(name string) bool { return Key(strings.Trim(name, " "+decoration)) })
		if column < 0 || len(values) < len(names) {
			continue
		}
		value := strings.Trim(values[column], " "+decoration)
		if lo := m[4] + len(strings.Join(values[:column], ",")); hasLetterAndDigit(value) {
			lo += strings.Index(text[lo:], value)
			spans = append(spans, span{lo, lo + len(value)})
		}
	}
	return spans
}

// isColumn accepts what is issued, and a shorter run of letters with three numbers between them.
func isColumn(s string) bool {
	_, numbers := classes(s)
	return isIssued(s) || isRun(s) && numbers >= 3
}
