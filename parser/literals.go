package parser

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"oomscan/parser/envelope"
)

// Bounds of [literals].
const (
	minLiteral = 4       // bytes: shorter ones are in most lines
	maxClauses = 4       // of an expression
	maxTexts   = 40      // of a clause
	maxChoices = 12      // texts that a part of an expression is told as
	maxAround  = 8       // parts on either side of a text that are looked at
	maxSteps   = 2 << 10 // of looking at them in one message; beyond that they count as being there
)

// literal is a text that a match of an expression holds, and what stands around it there, from the text outwards: beyond
// that may be anything.
type literal struct {
	text          []byte
	before, after []item
}

// clause is a choice of literals, of which each match of an expression holds one.
type clause []literal

// literals returns what each match of a regexp2 expression holds: one literal of every clause. What cannot be told, as under
// options, is left out; an expression that is not understood has none. Searching for texts is far cheaper than matching.
func literals(expr string) []clause {
	if strings.Contains(expr, "(?i") || strings.Contains(expr, "(?x") || strings.Contains(expr, "(?n") ||
		strings.ContainsRune(expr, utf8.RuneError) { // which bytes match that is not told
		return nil
	}
	r := exprReader{rest: expr}
	n := r.choice(0)
	if r.failed || r.rest != "" {
		return nil
	}
	all := n.known()
	slices.SortStableFunc(all, func(a, b clause) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(b.shortest(), a.shortest()))
	})
	for i := range all {
		all[i] = all[i].concise()
	}
	return all[:min(len(all), maxClauses)]
}

// shortest is the length of the shortest text of a clause.
func (c clause) shortest() int {
	if len(c) == 0 {
		return 0
	}
	least := len(c[0].text)
	for i := range c {
		least = min(least, len(c[i].text))
	}
	return least
}

// concise is the clause without what others of it imply.
func (c clause) concise() clause {
	slices.SortStableFunc(c, func(a, b literal) int { return bytes.Compare(a.text, b.text) })
	var all clause
	for i := range c {
		implied := slices.ContainsFunc(c, func(o literal) bool {
			return len(o.before)+len(o.after) == 0 && len(o.text) < len(c[i].text) && bytes.Contains(c[i].text, o.text)
		}) || slices.ContainsFunc(all, func(o literal) bool {
			return len(o.before)+len(o.after) == 0 && bytes.Equal(o.text, c[i].text)
		})
		if !implied {
			all = append(all, c[i])
		}
	}
	return all
}

// scope is what a text is of which literals are asked.
type scope bool

const (
	ofMessage scope = true
	// ofLine: a message, or more of them with their envelopes, of all of which it is true that they are pieces of the text
	ofLine scope = false
)

// in says whether a text holds one of the literals.
func (c clause) in(text []byte, of scope) bool {
	w := walk{text: text, of: of, left: maxSteps}
	for i := range c {
		if w.finds(&c[i]) {
			return true
		}
	}
	return false
}

// walk looks for literals in a text.
type walk struct {
	text []byte
	of   scope
	left int // steps
}

func (w *walk) finds(l *literal) bool {
	for at := 0; ; at++ {
		i := bytes.Index(w.text[at:], l.text)
		if i < 0 {
			return false
		}
		if at += i; w.ahead(l.after, at+len(l.text)) && w.back(l.before, at) {
			return true
		}
	}
}

// ahead says whether what stands at a place can be that.
func (w *walk) ahead(all []item, at int) bool {
	for k := range all {
		it := &all[k]
		if w.left--; w.left < 0 {
			return true
		}
		switch it.kind {
		case anchorItem:
			return it.text != "$" || w.ends(at)
		case notItem:
			if w.forbids(it.choices, at) {
				return false
			}
		case textItem:
			if string(w.text[at:min(len(w.text), at+len(it.text))]) == it.text {
				if it.least == 0 && w.ahead(all[k+1:], at) {
					return true
				}
				at += len(it.text)
			} else if it.least > 0 {
				return false
			}
		case classItem:
			n := 0
			for n < it.most && at+n < len(w.text) && it.class.has(w.text[at+n]) {
				n++
			}
			w.left -= n / 8
			if n < it.least || k == len(all)-1 {
				return n >= it.least
			}
			for ; n > it.least; n-- {
				if w.ahead(all[k+1:], at+n) {
					return true
				}
			}
			at += n
		}
	}
	return true
}

// back says whether what stands before a place can be that.
func (w *walk) back(all []item, at int) bool {
	for k := range all {
		it := &all[k]
		if w.left--; w.left < 0 {
			return true
		}
		switch it.kind {
		case anchorItem:
			return it.text != "^" || w.of == ofLine || at == 0
		case notItem:
			if w.forbids(it.choices, at) {
				return false
			}
		case textItem:
			if string(w.text[max(0, at-len(it.text)):at]) == it.text {
				if it.least == 0 && w.back(all[k+1:], at) {
					return true
				}
				at -= len(it.text)
			} else if it.least > 0 {
				return false
			}
		case classItem:
			n := 0
			for n < it.most && n < at && it.class.has(w.text[at-n-1]) {
				n++
			}
			w.left -= n / 8
			if n < it.least || k == len(all)-1 {
				return n >= it.least
			}
			for ; n > it.least; n-- {
				if w.back(all[k+1:], at-n) {
					return true
				}
			}
			at -= n
		}
	}
	return true
}

// forbids says whether one of the texts follows, in one message.
func (w *walk) forbids(texts []string, at int) bool {
	for _, t := range texts {
		end := at + len(t)
		if end > len(w.text) || string(w.text[at:end]) != t {
			continue
		}
		whole := true
		for i := at; i < end && w.of == ofLine; i++ {
			whole = whole && !envelope.MayEnd(w.text[i:])
		}
		if whole {
			return true
		}
	}
	return false
}

// ends says whether a message can end at a place, but for a line feed.
func (w *walk) ends(at int) bool {
	rest := w.text[at:]
	return len(rest) == 0 || rest[0] == '\n' || w.of == ofLine && envelope.MayEnd(rest)
}
