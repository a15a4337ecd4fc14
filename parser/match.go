package parser

import (
	"slices"
	"strings"
	"unicode/utf8"

	"oomscan/parser/envelope"
	"oomscan/parser/secret"
	"oomscan/parser/traceback"
)

// find returns the needles of a message. The slice is valid until the next call.
func (p *Parser) find(body []byte) []int {
	p.needles = p.table.needlesIn(body, p.needles[:0])
	return p.needles
}

// match tries the patterns whose needles the message holds. It says whether an event pattern or a veto claimed it.
func (p *Parser) match(at Position, body []byte, h envelope.Header, s *stream, trace *traceback.Trace, needles []int) bool {
	p.hits = p.hits[:0]
	for _, id := range needles {
		p.hits = append(p.hits, p.table.owners[id]...)
	}
	if p.muted {
		p.hits = slices.DeleteFunc(p.hits, func(i int32) bool { return p.table.traits[i]&(yieldsEvent|isVeto) == 0 })
	}
	for _, a := range s.armed {
		if at.Line <= a.until && at.Line > a.since && p.tick <= a.tick {
			p.hits = append(p.hits, a.pattern)
		}
	}
	if len(p.hits) == 0 {
		return false
	}
	slices.Sort(p.hits)
	p.hits = slices.Compact(p.hits)
	if len(body) <= MaxMessage {
		return p.matchText(at, body, h, s, trace)
	}
	claimed := false
	for from := 0; from < len(body); {
		pos, ok := p.table.finder.Next(body, from)
		if !ok {
			break
		}
		lo, hi := max(from, pos-MaxMessage/2), min(len(body), pos+MaxMessage/2)
		claimed = p.matchText(at, body[lo:hi], h, s, trace) || claimed
		from = hi
	}
	return claimed
}

// matchText tries p.hits on one text: the first event wins unless a veto speaks against it, markers and gauges are
// independent. Vetoes cost far more than the patterns that they guard, for they look around, and so they are asked only
// about a message that an event pattern matched, or that ends a traceback: there they also claim what would else be an
// exception that no pattern knows.
func (p *Parser) matchText(at Position, body []byte, h envelope.Header, s *stream, trace *traceback.Trace) bool {
	p.runes = p.runes[:0]
	kind := kindOf(p.hits)
	claimed := p.retold || p.flood(kind) // what waited holds no event
	asked := false
	for _, i := range p.hits {
		is := p.table.traits[i]
		if is&isVeto != 0 || claimed && is&yieldsEvent != 0 {
			continue
		}
		pat := p.table.patterns.at(i)
		if !pat.passes(body, ofMessage) {
			continue
		}
		f, ok := pat.match(p.text(body))
		if !ok {
			continue
		}
		if pat.Kind != "" && !asked {
			asked = true
			if p.vetoed(body) {
				claimed = true
				continue
			}
		}
		p.arm(s, i, at.Line)
		switch {
		case pat.Kind == "":
			p.emit(pat.observed(at, body, h, f))
		default:
			claimed = true
			if _, ok := p.alike[kind]; ok || len(p.alike) < maxKinds {
				p.alike[kind]++
			}
			if pat.Role == Evidence {
				p.watched.failed(at)
			}
			if trace != nil && at.Line > trace.EndLine && (pat.Kind == OOMKill || pat.Kind == ProcessExit) {
				trace = nil // it stands behind a traceback's message and is no part of it
			}
			p.emit(Event{
				At: at, Header: h, Pattern: pat.Name, Kind: pat.Kind, Role: pat.Role, Phase: pat.Phase, Fields: f,
				Text: clip(body), Trace: trace,
			})
		}
	}
	return claimed || trace != nil && !asked && p.vetoed(body)
}

// vetoed says whether a veto among the candidates matches the message.
func (p *Parser) vetoed(body []byte) bool {
	for _, i := range p.hits {
		if p.table.traits[i]&isVeto == 0 {
			continue
		}
		if pat := p.table.patterns.at(i); pat.passes(body, ofMessage) && pat.found(p.text(body)) {
			return true
		}
	}
	return false
}

// quoting says whether the beginning of a message, which holds these needles, makes all of it a quotation.
func (p *Parser) quoting(body []byte, needles []int) bool {
	head := body[:min(len(body), MaxMessage)]
	for _, id := range needles {
		for _, i := range p.table.owners[id] {
			if p.table.traits[i]&isWhole == 0 {
				continue
			}
			p.runes = p.runes[:0]
			if pat := p.table.patterns.at(i); pat.passes(head, ofMessage) && pat.found(p.text(head)) {
				return true
			}
		}
	}
	return false
}

// kindOf tells sets of candidates apart (FNV-1a).
func kindOf(hits []int32) uint64 {
	h := uint64(14695981039346656037)
	for _, i := range hits {
		h = (h ^ uint64(uint32(i))) * 1099511628211
	}
	return h
}

// arm lets the patterns that follow on this one try the writer's next lines.
func (p *Parser) arm(s *stream, pattern int32, line int) {
	next := p.table.followers[pattern]
	if len(next) == 0 {
		return
	}
	s.armed = slices.DeleteFunc(s.armed, func(a armed) bool { return a.until < line })
	for _, f := range next {
		if len(s.armed) < maxArmed {
			within := p.table.patterns.at(f).Within
			s.armed = append(s.armed, armed{pattern: f, since: line, until: line + within, tick: p.tick + perLine*within})
		}
	}
}

// text is the message of [Parser.matchText] as runes, which are made when they are first needed.
func (p *Parser) text(body []byte) []rune {
	if len(p.runes) == 0 {
		p.runes = appendRunes(p.runes, body)
	}
	return p.runes
}

// appendRunes appends b to dst as runes, invalid bytes as U+FFFD.
func appendRunes(dst []rune, b []byte) []rune {
	n := 0
	for n < len(b) && b[n] < utf8.RuneSelf {
		n++
	}
	at := len(dst)
	dst = slices.Grow(dst, len(b))[:at+n]
	ascii := dst[at:]
	for i, c := range b[:len(ascii)] {
		ascii[i] = rune(c)
	}
	b = b[n:]
	for _, r := range string(b) {
		dst = append(dst, r)
	}
	return dst
}

// clip copies a message for an observation.
func clip(b []byte) string {
	if len(b) > maxText {
		return strings.Clone(secret.Clip(string(b), maxText))
	}
	return string(b)
}
