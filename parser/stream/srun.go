package stream

import (
	"bytes"
	"cmp"
	"slices"

	"oomscan/parser"
	"oomscan/parser/envelope"
)

// Bounds of what waits for its other half.
const (
	maxCuts = 256
	cutWait = 64 // lines
)

// cut is the beginning of a line that srun cut.
type cut struct {
	at   parser.Position
	text []byte // with its label
}

// rejoin puts the chunks of a labelled line together. It returns the line to read now, ok=false when more of it must
// come first.
func (r *messageReader) rejoin(at parser.Position, raw []byte) (parser.Position, []byte, bool) {
	if len(r.cuts) == 0 && len(raw) < envelope.SrunChunk {
		return at, raw, true
	}
	label, ok := envelope.TaskLabel(raw)
	if !ok {
		return at, raw, true
	}
	key := string(bytes.TrimSpace(raw[:label]))
	rest := bytes.TrimSuffix(raw[label:], []byte{'\r'})
	if c, waiting := r.cuts[key]; waiting {
		c.text = append(c.text, rest...)
		if len(rest) == envelope.SrunChunk && len(c.text) < r.maxLine {
			return at, nil, false
		}
		delete(r.cuts, key)
		return c.at, c.text, true
	}
	if len(rest) == envelope.SrunChunk && len(r.cuts) < maxCuts {
		r.cuts[key] = &cut{at: at, text: bytes.Clone(raw[:label+len(rest)])}
		return at, nil, false
	}
	return at, raw, true
}

// expireCuts reads what has waited too long for its other half, or all of it at the end, in order of lines.
func (r *messageReader) expireCuts(all bool) {
	var late []*cut
	for key, c := range r.cuts {
		if all || r.now-c.at.Line > cutWait {
			delete(r.cuts, key)
			late = append(late, c)
		}
	}
	slices.SortFunc(late, func(a, b *cut) int { return cmp.Compare(a.at.Line, b.at.Line) })
	for _, c := range late {
		r.segments(c.at, c.text, true)
		r.endOfLine()
	}
}
