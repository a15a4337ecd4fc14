package report

import (
	"fmt"
	"strconv"
	"strings"

	"oomscan/classifier"
	"oomscan/remedies/memory"
)

// named is the word for an identifier, or the identifier itself when there is none.
func named(words map[string]string, id string) string {
	if w := words[id]; w != "" {
		return w
	}
	return strings.ReplaceAll(id, "_", " ")
}

// unbroken keeps a text on one line.
func unbroken(s string) string { return strings.ReplaceAll(s, " ", string(nbsp)) }

// size prints bytes as the findings' sentences do, without decimals that say nothing, never broken from their unit.
func size(n int64) string {
	figure, unit, _ := strings.Cut(classifier.GiB(n), " ")
	if whole, decimals, ok := strings.Cut(figure, "."); ok && strings.Trim(decimals, "0") == "" {
		figure = whole
	}
	return figure + string(nbsp) + unit
}

// sizeOf prints a part and its whole, with one unit where both have the same.
func sizeOf(part, whole int64) string {
	if part >= 1<<30 && whole >= 1<<30 {
		figure, _, _ := strings.Cut(size(part), string(nbsp))
		return figure + unbroken(" of ") + size(whole)
	}
	return size(part) + " of " + size(whole)
}

// column prints bytes for a column of figures, which must share one unit: that of the whole.
func column(n, whole int64) string {
	if whole < 1<<30 {
		return fmt.Sprintf("%.1f%cMiB", float64(n)/(1<<20), nbsp)
	}
	return fmt.Sprintf("%.2f%cGiB", float64(n)/(1<<30), nbsp)
}

// count prints a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1" + string(nbsp) + one
	}
	return grouped(n) + string(nbsp) + many
}

// grouped prints a number with separators between the thousands.
func grouped(n int) string { return memory.Thousands(int64(n)) }

// position is a place in a log.
func position(file string, line int) string {
	if file == "" {
		return ""
	}
	if line <= 0 {
		return file
	}
	return file + ":" + strconv.Itoa(line)
}

// deref is a pointer's value, empty for nil.
func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
