package parser

import (
	"bytes"
	"slices"

	"oomscan/parser/envelope"
)

// A prober says whether a line with the needle of an event holds an event at all. Most do not where programs talk about
// memory all day. It knows nothing of writers, so that lines can be probed before those in front of them were read.
type prober struct {
	table   *compiled
	needles []int
	hits    []int32
	runes   []rune
	peeler  envelope.Peeler
}

// candidates are the patterns whose needles the message holds, ascending. The slice is valid until the next call.
func (q *prober) candidates(body []byte) []int32 {
	q.needles = q.table.needlesIn(body, q.needles[:0])
	q.hits = q.hits[:0]
	for _, id := range q.needles {
		q.hits = append(q.hits, q.table.owners[id]...)
	}
	slices.Sort(q.hits)
	q.hits = slices.Compact(q.hits)
	return q.hits
}

// matches says whether an event's pattern, or one that others follow on, matches a message of the line, or whether that
// cannot be told from the line alone. Messages whose set of candidates is a flood do not count. outer is nil for a line.
func (q *prober) matches(raw []byte, outer *envelope.Header, flood func(kind uint64) bool) bool {
	if outer == nil && envelope.Plain(raw) && !slices.ContainsFunc(q.candidates(raw), func(i int32) bool { return q.table.tried(i, raw, ofLine) }) {
		return false // and its messages are pieces of the line
	}
	return q.messages(raw, outer, flood)
}

// spotted is [prober.matches] of a line whose needles are known, which spares looking for them in most lines.
func (q *prober) spotted(raw []byte, spots []spot) bool {
	if envelope.Plain(raw) && !slices.ContainsFunc(spots, func(s spot) bool {
		return slices.ContainsFunc(q.table.owners[s.needle], func(i int32) bool { return q.table.tried(i, raw, ofLine) })
	}) {
		return false
	}
	return q.messages(raw, nil, notFlood)
}

// messages is [prober.matches] for the line's messages one by one.
func (q *prober) messages(raw []byte, outer *envelope.Header, flood func(kind uint64) bool) bool {
	yes, first := false, outer == nil
	var in envelope.Header
	if outer != nil {
		in = *outer
	}
	envelope.Segments(raw, func(seg []byte) bool {
		if !first {
			if _, ok := q.table.finder.Next(seg, 0); !ok {
				return true
			}
		}
		var body []byte
		var h envelope.Header
		if first {
			body, h = q.peeler.Peel(seg)
			in, first = h, false
		} else {
			body, h = q.peeler.PeelInherit(seg, in)
		}
		yes = h.Partial || len(body) > MaxMessage || q.message(body, flood)
		return !yes
	})
	return yes
}

func (q *prober) message(body []byte, flood func(kind uint64) bool) bool {
	hits := q.candidates(body)
	if flood(kindOf(hits)) || slices.ContainsFunc(q.needles, func(id int) bool { return q.table.cares[id]&marks != 0 }) {
		return false // the parser would not look either
	}
	q.runes = q.runes[:0]
	for _, i := range hits {
		if !q.table.tried(i, body, ofMessage) {
			continue
		}
		if len(q.runes) == 0 {
			q.runes = appendRunes(q.runes, body)
		}
		if q.table.patterns.at(i).found(q.runes) {
			return true
		}
	}
	return false
}

// tried says whether a pattern is of those that make a line worth reading, and need be tried on a text.
func (t *compiled) tried(i int32, text []byte, of scope) bool {
	return (t.traits[i]&yieldsEvent != 0 || len(t.followers[i]) > 0) && t.patterns.at(i).passes(text, of)
}

// needlesIn appends the needles of a message.
func (t *compiled) needlesIn(body []byte, ids []int) []int {
	t.finder.Needles(body, func(id int) bool {
		ids = append(ids, id)
		return true
	})
	return ids
}

// maxProbed is how many lines with events a block may hold before no more of it is probed: they are read anyway.
const maxProbed = 32

// probe tells which lines of the block hold the needle of an event and no event. Of a line that began before the block, or
// that is too long, or that srun cut, that cannot be told.
func (b *block) probe(t *compiled) {
	for rest, yes := b.spots, 0; len(rest) > 0 && yes < maxProbed; {
		n, all := 0, care(0)
		for n < len(rest) && rest[n].line == rest[0].line {
			all |= rest[n].care
			n++
		}
		if all&tries != 0 && all&reads == 0 {
			switch raw := b.lineAt(rest[0].pos); {
			case raw == nil || chunk(raw):
			case b.prober.spotted(raw, rest[:n]):
				yes++
			default:
				for i := range n {
					rest[i].care |= hopeless
				}
			}
		}
		rest = rest[n:]
	}
}

func notFlood(uint64) bool { return false }

// lineAt returns the line around a place of the block, nil when it is not all there or too long.
func (b *block) lineAt(pos int) []byte {
	from := max(b.begun, pos-b.maxLine)
	if pos < from {
		return nil
	}
	begin := from
	if i := bytes.LastIndexByte(b.text[from:pos], '\n'); i >= 0 {
		begin += i + 1
	} else if from != b.begun {
		return nil
	}
	i := bytes.IndexByte(b.text[pos:], '\n')
	if i < 0 || pos+i-begin > b.maxLine {
		return nil
	}
	return b.text[begin : pos+i]
}
