package stream

import (
	"bytes"
	"cmp"
	"slices"

	"oomscan/parser"
	"oomscan/parser/envelope"
)

// srunChunk is how many bytes of a task's output `srun -l` writes under one label: a longer line is cut there, anywhere
// in its text, and goes on behind a label of its own (Slurm, SLURM_IO_MAX_MSG_LEN in src/common/io_hdr.h and
// write_labelled_message.c).
const srunChunk = 1024

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
	if len(r.cuts) == 0 && len(raw) < srunChunk {
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
		if len(rest) == srunChunk && len(c.text) < r.maxLine {
			return at, nil, false
		}
		delete(r.cuts, key)
		return c.at, c.text, true
	}
	if len(rest) == srunChunk && len(r.cuts) < maxCuts {
		r.cuts[key] = &cut{at: at, text: bytes.Clone(raw[:label+len(rest)])}
		return at, nil, false
	}
	return at, raw, true
}

// isChunk reports whether a line is a labelled one that srun may have cut.
func isChunk(raw []byte) bool {
	if len(raw) < srunChunk {
		return false
	}
	label, ok := envelope.TaskLabel(raw)
	return ok && len(bytes.TrimSuffix(raw[label:], []byte{'\r'})) == srunChunk
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
		r.segments(c.at, c.text)
		r.endOfLine()
	}
}
