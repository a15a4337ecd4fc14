package cli

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser/lazyre"
	"oomscan/parser/source"
	"oomscan/parser/stream"
)

// seam is what joins a file of a log to the next one of the same log: split -b cuts within a line, and so does who rotates by size. The line is
// read at the end of the file that begins it.
type seam struct {
	rest []byte // of the last line, in the next file
	skip int64  // bytes of the first line, which the file before ends with
}

// mostRest is how long the rest of a line may be.
const mostRest = 64 << 10

// seams finds the inputs that have one, by their names.
func seams(inputs []source.Input) map[string]seam {
	type file struct {
		in    *source.Input
		log   string
		place int
	}
	var files []file
	for i := range inputs {
		in := &inputs[i]
		if log, place := classifier.Rotated(in.Name); in.Path != "" && in.Size > 0 && !in.Packed {
			files = append(files, file{in, log, place})
		}
	}
	slices.SortStableFunc(files, func(a, b file) int { return cmp.Or(cmp.Compare(a.log, b.log), cmp.Compare(a.place, b.place)) })
	found := map[string]seam{}
	for i := 1; i < len(files); i++ {
		before, next := files[i-1], files[i]
		if before.log != next.log || !endsWithin(before.in) {
			continue
		}
		rest := firstLine(next.in.Path)
		goesOn := restOfLine().Match(rest)
		if classifier.IsPart(before.in.Name) { // one may be missing, and any byte may begin the next one
			goesOn = next.place == before.place+1
		}
		if goesOn && len(rest) > 0 {
			a, b := found[before.in.Name], found[next.in.Name]
			a.rest, b.skip = rest, int64(len(rest))
			found[before.in.Name], found[next.in.Name] = a, b
		}
	}
	return found
}

// restOfLine matches the beginning of a line that goes on with the one before it. What a program prints first begins with a stamp, a bracket or
// a capital letter, as a rule.
var restOfLine = lazyre.New(`^(?:[a-z .,;:)%]|\d+(?:[^\d:/-]|$))`)

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

// filler stands for a line that was read with the file before, so that the others keep their numbers.
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
