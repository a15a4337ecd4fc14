package source

import (
	"bytes"
	"slices"
	"sync"
	"unicode/utf8"

	"oomscan/parser/ascii"
	"oomscan/parser/lazyre"
	"oomscan/parser/messages"
)

// known holds the messages that oomscan knows, each as a program prints it, with 0 for each figure.
var known = sync.OnceValue(func() []byte {
	var text []byte
	for _, p := range messages.All() {
		if p.Veto {
			continue
		}
		for _, s := range p.Match {
			text = append(append(text, "\n "...), s.Line...)
		}
	}
	return withoutFigures(text)
})

// How much of a message must stand around a break to recognize it, and how much is looked at.
const (
	leastKnown  = 14
	knownBefore = 24
	knownBehind = 20
)

// inMessage reports whether a message that oomscan knows goes on from one row to the next, with only a blank between, or nothing. At the
// end of a sentence, without a blank behind it, a program may have begun a line.
func inMessage(row, next []byte, between string) bool {
	if len(row) == 0 || len(next) == 0 || bytes.IndexByte([]byte(".:;"), row[len(row)-1]) >= 0 && !ascii.IsDigit(next[0]) && next[0] != ' ' {
		return false
	}
	if between != "" {
		row = bytes.TrimSuffix(row, []byte(between))
	}
	if n := len(row) - knownBefore; n > 0 {
		row = bytes.TrimLeft(row[n+max(0, bytes.IndexByte(row[n:], ' ')):], " KMGTiB") // whole words, and no unit without its figure
	}
	if len(next) > knownBehind {
		next = next[:max(1, bytes.LastIndexByte(next[:knownBehind], ' '))]
	}
	if len(row) < leastKnown/2 {
		return false
	}
	text := withoutFigures(slices.Concat(row, []byte(between), next))
	return len(text) >= leastKnown && bytes.Contains(known(), text)
}

// breaksMessage reports whether a known message goes on from one full row to the next behind a logger's prefix, which is the same for all rows
// of a message. Only so many rows are looked at.
func breaksMessage(labels, rows [][]byte) bool {
	texts := make([][]byte, len(rows))
	for i, row := range rows {
		texts[i] = bytes.Trim(row, boxed)
	}
	w := wrapping{width: longestRow(texts)}
	if w.width < minBox || w.width > maxWidth {
		return false
	}
	tried := 0
	for i, next := range texts[min(1, len(texts)):] {
		text := texts[i]
		if !bytes.Equal(labels[i], labels[i+1]) || !w.isFull(text, next) {
			continue
		}
		if inMessage(text, next, " ") || inMessage(text, next, "") {
			return true
		}
		if tried++; tried == maxFull {
			break
		}
	}
	return false
}

// boxed are what may surround the text of a row.
const boxed = " │┃"

// knownWidth is the widest that rows may be, the longest of which is so long, if their messages show that the next word did not fit.
func knownWidth(rows [][]byte, longest int) int {
	width := maxWidth
	for i, row := range rows[:max(0, len(rows)-1)] {
		next := rows[i+1]
		word, _, _ := bytes.Cut(next, []byte{' '})
		if n := utf8.RuneCount(row) + utf8.RuneCount(word); n >= longest && n < width && inMessage(row, next, " ") {
			width = n
		}
	}
	return width
}

// boxWidth is the widest that rows may be below the box that rich prints around a traceback (rich/traceback.py), as wide as its console. Rows
// of others may be wider.
func boxWidth(rows [][]byte) int {
	for _, row := range rows {
		if bytes.HasPrefix(row, []byte("╭─")) && bytes.HasSuffix(row, []byte("─╮")) && bytes.Contains(row, []byte(" Traceback (most recent call last) ")) {
			return utf8.RuneCount(row)
		}
	}
	return maxWidth
}

// figure matches a number, with the unit behind it.
var figure = lazyre.New(`[0-9]+(?:\.[0-9]*)?(?: ?[KMGT]i?B\b)?`)

// withoutFigures returns a text with 0 for each figure, whose digits and unit may have been broken anywhere.
func withoutFigures(text []byte) []byte { return figure().ReplaceAllLiteral(text, []byte{'0'}) }
