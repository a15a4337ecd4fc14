package report

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// Limits of what is laid out of one paragraph.
const (
	maxText  = 4096 // characters
	maxMarks = 2    // combining marks on one character
)

// nbsp keeps a number and its unit on one line; it is written as a space.
const nbsp = '\u00a0'

// columns measures characters. It has no ties to the locale: the same report has the same lines everywhere.
var columns = &runewidth.Condition{StrictEmojiNeutral: true}

// glyph is one character with its ink and its width.
type glyph struct {
	r   rune
	w   int8
	ink ink
}

// cutOff ends a text that is too long.
var cutOff = []glyph{{r: ' ', w: 1, ink: dim}, {r: '.', w: 1, ink: dim}, {r: '.', w: 1, ink: dim}, {r: '.', w: 1, ink: dim}}

// flatten makes glyphs of spans. It is where all text passes on its way to the screen, so it is where what could
// control a terminal is taken out: C0 and C1 controls, ESC among them, format characters (bidi overrides, zero-width
// characters, tags), variation selectors, piles of combining marks, and bytes that are no UTF-8. What is white space
// becomes a space. More than maxText characters are cut off.
func flatten(spans []span) []glyph {
	var out []glyph
	marks := 0
	for _, x := range spans {
		for _, r := range x.text {
			if len(out) >= maxText {
				return append(out, cutOff...)
			}
			r = safe(r)
			if r < 0 {
				continue
			}
			w := columns.RuneWidth(r)
			if w > 0 {
				marks = 0
			} else if marks++; marks > maxMarks || len(out) == 0 {
				continue
			}
			out = append(out, glyph{r, int8(w), x.ink})
		}
	}
	return out
}

// safe is the character to show for r, negative for none.
func safe(r rune) rune {
	switch {
	case r >= ' ' && r < 0x7f:
		return r // nearly all of it
	case r == nbsp:
		return r
	case r == '\t', r == '\n', r == '\r', r == '\v', r == '\f', r == 0x85, unicode.Is(unicode.Z, r):
		return ' '
	case r == utf8.RuneError:
		return '?'
	case unicode.Is(unicode.C, r), unicode.Is(unicode.Variation_Selector, r):
		return -1
	case r >= 0x1f1e6 && r <= 0x1f1ff, r >= 0x1f3fb && r <= 0x1f3ff:
		return '?' // flags and skin tones: terminals disagree about the width of what they combine to
	}
	return r
}

// wrap breaks glyphs into lines of at most first columns, then of rest columns: at spaces where possible, else behind
// a character that separates the parts of a path or an option, else anywhere.
func wrap(gs []glyph, first, rest int) [][]glyph {
	var lines [][]glyph
	room := max(first, 1)
	for len(gs) > 0 {
		n := fit(gs, room)
		if n < len(gs) {
			n = breakAt(gs, n, max(rest, 1))
		}
		lines = append(lines, gs[:n])
		gs = gs[n:]
		for len(gs) > 0 && gs[0].r == ' ' {
			gs = gs[1:]
		}
		room = max(rest, 1)
	}
	return lines
}

// fit is how many glyphs fit into room columns; at least one, with its marks, so that layout always goes on.
func fit(gs []glyph, room int) int {
	used := 0
	for i, g := range gs {
		used += int(g.w)
		if used > room && i > 0 {
			return i
		}
	}
	return len(gs)
}

// joints are the characters behind which a long word may be broken, the best ones first.
var joints = []string{"/\\,;&", "=:?", "_-."}

// breakAt finds the best break at or before n. A word that fits on the next line goes there as a whole. What is to be pasted
// or clicked is longer than the line rather than broken.
func breakAt(gs []glyph, n, next int) int {
	if gs[n].breaks() {
		return n
	}
	space := 0
	for i := n; i > 0; i-- {
		if gs[i-1].breaks() {
			space = i
			break
		}
	}
	if gs[n].whole() {
		if space > 0 && !allSpace(gs[:space]) {
			return space
		}
		for n < len(gs) && gs[n].whole() {
			n++
		}
		return n
	}
	blankBefore := space == 0 || allSpace(gs[:space])
	if !blankBefore && wordFits(gs[space:], next) {
		return space
	}
	for i := n; i > space; i-- {
		if gs[i-1].whole() {
			return i // behind what is to be pasted, never inside it
		}
	}
	// A joint in the first half of the line would leave too much of it empty.
	for _, least := range []int{n / 2, 0} {
		for _, set := range joints {
			for i := n; i > max(space, least); i-- {
				if strings.ContainsRune(set, gs[i-1].r) {
					return i
				}
			}
		}
	}
	if !blankBefore {
		return space
	}
	return n
}

// breaks reports whether a line may end before the glyph.
func (g *glyph) breaks() bool { return g.r == ' ' && !g.whole() }

// whole reports whether the glyph belongs to a text that is never broken.
func (g *glyph) whole() bool { return g.ink == code || g.ink == address }

func allSpace(gs []glyph) bool {
	return !slices.ContainsFunc(gs, func(g glyph) bool { return g.r != ' ' })
}

// wordFits reports whether the word that gs begins with has at most room columns.
func wordFits(gs []glyph, room int) bool {
	n := slices.IndexFunc(gs, func(g glyph) bool { return g.r == ' ' })
	if n < 0 {
		n = len(gs)
	}
	return n == 0 || int(gs[0].w) <= room && fit(gs[:n], room) == n
}

// shorten ends a line with the sign that something is left out, behind a whole word unless that would leave half of it empty.
func shorten(l []glyph, room int, ellipsis string) []glyph {
	tail := flatten([]span{{dim, " " + ellipsis}})
	if n := fit(l, room-len(tail)); n < len(l) {
		whole := n
		for whole > 0 && l[whole].r != ' ' {
			whole--
		}
		if whole > n/2 {
			n = whole
		}
		l = l[:n]
	}
	for len(l) > 0 && l[len(l)-1].r == ' ' {
		l = l[:len(l)-1]
	}
	return append(l[:len(l):len(l)], tail...)
}

// measure is the width of text as it will be shown.
func measure(s string) int {
	n := 0
	for _, g := range flatten([]span{{plain, s}}) {
		n += int(g.w)
	}
	return n
}

// pad fills text up to n columns.
func pad(s string, n int) string {
	return s + strings.Repeat(string(nbsp), max(0, n-measure(s)))
}
