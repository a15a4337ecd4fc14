package stream

import (
	"bytes"
	"slices"
	"strings"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/pattern"
	"oomscan/parser/secret"
	"oomscan/parser/traceback"
)

// find returns the literals of a message. The slice is valid until the next call.
func (r *messageReader) find(body []byte) []int {
	r.literals = r.literals[:0]
	for _, h := range r.search(body) {
		if !slices.Contains(r.literals, h.ID) {
			r.literals = append(r.literals, h.ID)
		}
	}
	return r.literals
}

// match tries the patterns whose literals the message holds, and those that follow on an earlier match. It reports whether an
// event pattern or a veto claimed it.
func (r *messageReader) match(at parser.Position, body []byte, h envelope.Header, w *writer, trace *traceback.Trace) bool {
	r.candidates = r.candidates[:0]
	for _, id := range r.literals {
		r.candidates = append(r.candidates, r.table.literals[id].patterns...)
	}
	for _, f := range w.followUps {
		if at.Line <= f.until && at.Line > f.since && r.tick <= f.tick {
			r.candidates = append(r.candidates, f.pattern)
		}
	}
	if len(r.candidates) == 0 {
		return false
	}
	slices.Sort(r.candidates)
	r.candidates = slices.Compact(r.candidates)
	if len(body) <= pattern.MaxMessage {
		return r.matchText(at, body, h, w, trace)
	}
	claimed := false
	for from := 0; from < len(body); {
		r.hits = r.table.finder.Scan(body, from, len(body), r.hits[:0])
		if len(r.hits) == 0 {
			break
		}
		pos := r.hits[0].Pos
		lo, hi := max(from, pos-pattern.MaxMessage/2), min(len(body), pos+pattern.MaxMessage/2)
		claimed = r.matchText(at, body[lo:hi], h, w, trace) || claimed
		from = hi
	}
	return claimed
}

// matchText tries the candidates on one text: the first event wins unless a veto matches too, markers and gauges are
// independent. Behind a consequence an allocator's figures are an event as well: collectors join the records of a failure to one
// line. Vetoes cost far more than the patterns that they guard, for they look around, so they are tried only on a message that an
// event pattern matched.
func (r *messageReader) matchText(at parser.Position, body []byte, h envelope.Header, w *writer, trace *traceback.Trace) bool {
	var clipped string
	kept := func() string { // the same for all matches, because masking a long message takes time
		if clipped == "" {
			clipped = clip(body)
		}
		return clipped
	}
	r.runes = r.runes[:0]
	set := hashOf(r.candidates)
	claimed := r.replaying || r.alike[set] >= maxAlike // deferred lines hold no event
	key, all, found := r.memo.key(body, set), !claimed, false
	if r.memo.known[key] { // none of them matches
		return claimed
	}
	checked, followed := false, false
	for _, i := range r.candidates {
		p := &r.table.patterns[i]
		if p.Veto || claimed && p.Kind != "" && !(followed && p.Role == parser.Evidence) || !p.MayMatch(body) {
			continue
		}
		f, ok := p.FieldsOf(r.text(body))
		found = found || ok
		if !ok || followed && p.Kind != "" && f["requested"] == "" {
			continue
		}
		if p.Kind != "" && !checked {
			checked = true
			if r.vetoed(body) {
				claimed = true
				continue
			}
		}
		if p.Kind != "" && r.inQuotedLines(p, body) {
			continue
		}
		r.awaitFollowers(w, i, at.Line)
		if p.Kind == "" {
			r.emit(observationOf(p.Pattern, at, kept(), h, f))
			continue
		}
		claimed, followed = true, p.Role == parser.Consequence
		if p.Role == parser.Evidence || p.Role == parser.Suspicion {
			r.watched.failed(at, h.Stream, trace)
			if trace == nil {
				w.trace.Told()
			}
		}
		if trace != nil && at.Line > trace.EndLine && (p.Kind == parser.OOMKill || p.Kind == parser.ProcessExit) {
			trace = nil // it stands behind a traceback's message and is no part of it
		}
		quoted := r.quoted
		r.emit(parser.Event{
			At: at, Header: h, Pattern: p.Name, Kind: p.Kind, Role: p.Role, Phase: p.Phase, Fields: f,
			Text: kept(), Trace: trace,
		})
		if _, ok := r.alike[set]; r.quoted == quoted && (ok || len(r.alike) < maxCandidates) {
			r.alike[set]++
		}
	}
	if all && !found {
		r.memo.learn(key, true)
	}
	return claimed
}

// vetoed reports whether a veto matches a text, which may be in r.runes.
func (r *messageReader) vetoed(body []byte) bool {
	const byVeto = 1 // no hash of candidates is one
	key := r.memo.key(body, byVeto)
	vetoed, ok := r.memo.known[key]
	if !ok {
		vetoed = r.table.vetoes.Match(body, r.text(body))
		r.memo.learn(key, vetoed)
	}
	return vetoed
}

// Signs of a text with escaped newlines: a file or a command's output as JSON or Python's repr shows it.
var (
	escapedNewline = []byte(`\n`)
	unescape       = strings.NewReplacer(`\\\"`, `"`, `\"`, `"`, `\'`, `'`, `\\t`, "\t", `\t`, "\t")
)

// inQuotedLines reports whether a message holds escaped newlines, and a veto matches each of the lines between them that the pattern matches:
// an agent printed a source that it read. The first line and the last hold what is around the text, so they prove nothing.
func (r *messageReader) inQuotedLines(p *pattern.Matcher, body []byte) (quoted bool) {
	lines := bytes.Split(body, escapedNewline)
	for i, raw := range lines {
		line := []byte(unescape.Replace(string(bytes.TrimRight(raw, `\`))))
		text := pattern.Runes(nil, line)
		if !p.Matches(text) {
			continue
		}
		if i == 0 || i == len(lines)-1 || !r.table.vetoes.Match(line, text) {
			return false
		}
		quoted = true
	}
	return quoted
}

// isVetoed reports whether a veto matches the beginning of a message.
func (r *messageReader) isVetoed(body []byte) bool {
	head := body[:min(len(body), pattern.MaxMessage)]
	r.runes = r.runes[:0]
	return r.vetoed(head)
}

// observationOf is what a match yields that is no event.
func observationOf(p *pattern.Pattern, at parser.Position, text string, h envelope.Header, f parser.Fields) parser.Observation {
	if p.Marker != "" {
		return parser.Marker{At: at, Header: h, Name: p.Marker, Fields: f, Text: text}
	}
	return parser.Gauge{At: at, Header: h, Name: p.Name, Fields: f, Text: text}
}

// isQuotation reports whether the beginning of a message, which holds these literals, makes all of it a quotation.
func (r *messageReader) isQuotation(body []byte, literals []int) bool {
	head := body[:min(len(body), pattern.MaxMessage)]
	for _, id := range literals {
		for _, i := range r.table.literals[id].patterns {
			p := &r.table.patterns[i]
			if !p.Whole || !p.MayMatch(head) {
				continue
			}
			r.runes = r.runes[:0]
			if p.Matches(r.text(head)) {
				return pattern.OwnWords(head) == nil
			}
		}
	}
	return false
}

// hashOf is the hash of a set of candidates (FNV-1a).
func hashOf(candidates []int32) uint64 {
	h := uint64(14695981039346656037)
	for _, i := range candidates {
		h = (h ^ uint64(uint32(i))) * 1099511628211
	}
	return h
}

// awaitFollowers lets the patterns that follow on this one try the writer's next lines.
func (r *messageReader) awaitFollowers(w *writer, pattern int32, line int) {
	next := r.table.followers[pattern]
	if len(next) == 0 {
		return
	}
	w.followUps = slices.DeleteFunc(w.followUps, func(f followUp) bool { return f.until < line })
	for _, i := range next {
		if len(w.followUps) < maxFollowUps {
			within := r.table.patterns[i].Within
			w.followUps = append(w.followUps, followUp{pattern: i, since: line, until: line + within, tick: r.tick + perLine*within})
		}
	}
}

// text is the message of [messageReader.matchText] as runes, which are made when they are first needed.
func (r *messageReader) text(body []byte) []rune {
	if len(r.runes) == 0 {
		r.runes = pattern.Runes(r.runes, body)
	}
	return r.runes
}

// clip copies a message for an observation.
func clip(b []byte) string {
	if len(b) > maxText {
		return strings.Clone(secret.Clip(string(b), maxText))
	}
	return string(b)
}
