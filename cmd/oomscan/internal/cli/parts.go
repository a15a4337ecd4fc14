package cli

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser/source"
	"oomscan/parser/stream"
)

// seam is what joins a part of a log that was split to its neighbors: split -b cuts within a line, which is read at the end of the part that
// begins it.
type seam struct {
	rest []byte // of the last line, in the next part
	skip int64  // bytes of the first line, which the part before ends with
}

// mostRest is how long the rest of a line may be.
const mostRest = 64 << 10

// seams finds the inputs that have one, by their names.
func seams(inputs []source.Input) map[string]seam {
	type part struct {
		in    *source.Input
		log   string
		place int
	}
	var parts []part
	for i := range inputs {
		in := &inputs[i]
		if log, place, ok := classifier.Part(in.Name); ok && in.Path != "" && in.Size > 0 && !in.Packed {
			parts = append(parts, part{in, log, place})
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Or(cmp.Compare(a.log, b.log), cmp.Compare(a.place, b.place)) })
	found := map[string]seam{}
	for i := 1; i < len(parts); i++ {
		before, next := parts[i-1], parts[i]
		if before.log != next.log || next.place != before.place+1 || !endsWithin(before.in) {
			continue
		}
		if rest := firstLine(next.in.Path); len(rest) > 0 {
			a, b := found[before.in.Name], found[next.in.Name]
			a.rest, b.skip = rest, int64(len(rest))
			found[before.in.Name], found[next.in.Name] = a, b
		}
	}
	return found
}

// endsWithin reports whether a file ends within a line.
func endsWithin(in *source.Input) bool {
	f, err := os.Open(in.Path)
	if err != nil {
		return false
	}
	defer f.Close()
	var last [1]byte
	n, _ := f.ReadAt(last[:], in.Size-1)
	return n == 1 && last[0] != '\n'
}

// firstLine is the first line of a file, nothing where that is longer than the rest of one may be.
func firstLine(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, mostRest))
	return head[:bytes.IndexByte(head, '\n')+1]
}

// filler stands for a line that was read with the part before, so that the others keep their numbers.
const filler = stream.Quoted + "\n"

// joined returns the reader of an input with whole lines at its ends, and how many bytes more it has.
func (s seam) joined(r io.Reader) (whole io.Reader, more int64) {
	if f, ok := r.(*os.File); ok && s.skip > 0 {
		if _, err := f.Seek(s.skip, io.SeekStart); err == nil {
			r, more = io.MultiReader(strings.NewReader(filler), f), int64(len(filler))-s.skip
		}
	}
	if len(s.rest) > 0 {
		r, more = io.MultiReader(r, bytes.NewReader(s.rest)), more+int64(len(s.rest))
	}
	return r, more
}
