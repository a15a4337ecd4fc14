package parser

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/parser/traceback"
)

const followed = "step 1\nTraceback (most recent call last):\n  File \"a.py\", line 3, in f\n    g()\n" +
	"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n" +
	"[rank1]: Traceback (most recent call last):\n[rank1]:   File \"b.py\", line 4, in h\n[rank1]: RuntimeError: no\nslurmstepd: error: Detected 1 oom_kill event in StepId=1.0.\n"

// TestAScannerThatRestsReadsTheSame feeds a log in pieces and lets the scanner rest between any two of them.
func TestAScannerThatRestsReadsTheSame(t *testing.T) {
	t.Parallel()
	text := followed + strings.Repeat("x", DefaultLine+5000) + "\r" + followed + strings.Repeat("line\n", 5000) + followed
	want := feedIn(text, len(text), false)
	assert.NotEmpty(t, want)
	for _, n := range []int{97, 4096, 70_001} {
		assert.Equal(t, want, feedIn(text, n, true), "pieces of %d bytes", n)
	}
}

func feedIn(text string, n int, rest bool) (all []Observation) {
	s := NewScanner("a.log", func(o Observation) { all = append(all, o) })
	for text != "" {
		k := min(n, len(text))
		_, _ = s.Write([]byte(text[:k]))
		if text = text[k:]; rest {
			s.Rest()
			if room := cap(s.buf); room > 2*(behind+ahead(DefaultLine)) {
				panic("a scanner that rests holds its room")
			}
		}
	}
	s.Close()
	return all
}

func TestOpenTellsOfALineWithoutNewline(t *testing.T) {
	t.Parallel()
	s := NewScanner("a.log", func(Observation) {})
	assert.False(t, s.Open())
	_, _ = s.Write([]byte("a\nb"))
	assert.True(t, s.Open())
	_, _ = s.Write([]byte("\n"))
	assert.False(t, s.Open())
}

func TestBehindMovesPlacesAndChangesNothing(t *testing.T) {
	t.Parallel()
	cause := &traceback.Trace{Line: 1, EndLine: 2}
	trace := &traceback.Trace{Line: 3, EndLine: 0, Cause: cause}
	for _, o := range []Observation{
		Event{At: Position{"a", 5, 50}, Trace: trace}, Setting{At: Position{"a", 5, 50}}, Marker{At: Position{"a", 5, 50}}, Gauge{At: Position{"a", 5, 50}},
	} {
		moved := Behind(o, 100, 1000)
		switch m := moved.(type) {
		case Event:
			assert.Equal(t, Position{"a", 105, 1050}, m.At)
			assert.Equal(t, &traceback.Trace{Line: 103, Cause: &traceback.Trace{Line: 101, EndLine: 102}}, m.Trace)
		case Setting:
			assert.Equal(t, Position{"a", 105, 1050}, m.At)
		case Marker:
			assert.Equal(t, Position{"a", 105, 1050}, m.At)
		case Gauge:
			assert.Equal(t, Position{"a", 105, 1050}, m.At)
		}
	}
	assert.Equal(t, &traceback.Trace{Line: 3, Cause: cause}, trace)
	assert.Equal(t, 1, cause.Line)
}
