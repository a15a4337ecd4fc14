package source

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"oomscan/parser/lazyre"
)

// mailHeader matches the fields above a mail's text (RFC 5322), with the line above them in a mailbox.
var mailHeader = lazyre.New(`^(?:From .*\n)?(?:[A-Z][\w-]{0,40}: .*\n(?:[ \t]+\S.*\n)*)+\r?\n`)

// withoutMailHeader is the text of a mail: a short one that quotes a log has about as many rows of header as of quotes. Any other text
// stays as it is.
func withoutMailHeader(text []byte) []byte { return text[len(mailHeader().Find(text)):] }

// quotedPart is a text from the first row with the mark of a mail to the last one: around them stand the words of whoever quotes a log.
func (w wrapping) quotedPart(text []byte) []byte {
	if !strings.HasPrefix(w.left, ">") {
		return text
	}
	first, end, at := -1, 0, 0
	for row := range bytes.Lines(text) {
		if _, ok := w.inside(bytes.TrimSuffix(row, []byte{'\n'})); ok {
			if first < 0 {
				first = at
			}
			end = at + len(row)
		}
		at += len(row)
	}
	return text[max(first, 0):end]
}

// firstRows are those of the first [sniffLen] bytes: a flowed mail begins with words of its own, and its rows are short.
func (w wrapping) firstRows(head []byte) [][]byte {
	rows, _ := w.rows(w.quotedPart(wholeRows(head[:min(len(head), sniffLen)])))
	return rows
}

// leastFlowed and maxFlowed are how long a row of a flowed text and the word behind it are at least, and the row at most.
const (
	leastFlowed = 72
	maxFlowed   = 80
)

// areFlowed reports whether rows of several lengths end with one blank where the next word would not have fit, and hardly any elsewhere. A few
// are enough where one is surely broken, and not at the width of a terminal. Of other lines, many end with a blank, too, or begin alike.
func areFlowed(rows [][]byte) bool {
	others, tight, sure, lengths, widest := 0, 0, false, map[int]int{}, 0
	for _, row := range rows {
		if widest = max(widest, utf8.RuneCount(row)); widest > maxWidth && bytes.IndexByte(bytes.TrimSpace(row), ' ') > 0 {
			return false
		}
	}
	for i, row := range rows[:max(0, len(rows)-1)] {
		n, next := len(row), rows[i+1]
		switch {
		case n < minWidth/2 || lineStart().Match(next):
		case row[n-1] != ' ' && utf8.RuneCount(row) == widest:
			tight++ // broken at a width
		case row[n-1] != ' ':
			if flows(slices.Concat(row, []byte{' '}), next) && !bytes.HasPrefix(next, row[:4]) {
				tight++ // broken without a blank, if it is broken
			}
		case row[n-2] == ' ':
		case flows(row, next):
			width := utf8.RuneCount(row)
			lengths[width]++
			sure = sure || width < widest && isSurelyBroken(row[:n-1], next)
		default:
			others++
		}
	}
	full := 0
	for _, n := range lengths {
		full += n
	}
	many := full >= minFlowed && len(lengths) > minBroken && full > tight
	return (many || sure && len(lengths) >= minBroken) && others*9 <= full
}

// flows reports whether a row of a flowed text goes on with the next one, which begins with blanks where there are several.
func flows(row, next []byte) bool {
	n := utf8.RuneCount(row)
	word, _, _ := bytes.Cut(next, []byte{' '})
	fits := n <= maxFlowed || bytes.IndexByte(bytes.TrimSpace(row), ' ') < 0 // a word that is too long has a row of its own
	return bytes.HasSuffix(row, []byte{' '}) && fits && len(next) > 0 && n+utf8.RuneCount(word) > leastFlowed
}
