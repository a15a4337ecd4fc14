package stream

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/parser"
)

const followed = "step 1\nTraceback (most recent call last):\n  File \"a.py\", line 3, in f\n    g()\n" +
	"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n" +
	"[rank1]: Traceback (most recent call last):\n[rank1]:   File \"b.py\", line 4, in h\n[rank1]: RuntimeError: no\nslurmstepd: error: Detected 1 oom_kill event in StepId=1.0.\n"

// TestAReaderThatRestsReadsTheSame feeds a log in pieces and lets the reader rest between any two of them.
func TestAReaderThatRestsReadsTheSame(t *testing.T) {
	t.Parallel()
	text := followed + strings.Repeat("x", DefaultLine+5000) + "\r" + followed + strings.Repeat("line\n", 5000) + followed
	want := feedIn(text, len(text), false)
	assert.NotEmpty(t, want)
	for _, n := range []int{97, 4096, 70_001} {
		assert.Equal(t, want, feedIn(text, n, true), "pieces of %d bytes", n)
	}
}

func feedIn(text string, n int, rest bool) (all []parser.Observation) {
	s := NewReader("a.log", func(o parser.Observation) { all = append(all, o) })
	for text != "" {
		k := min(n, len(text))
		_, _ = s.Write([]byte(text[:k]))
		if text = text[k:]; rest {
			s.Rest()
			if room := cap(s.cutter.buf); room > 2*(behind+s.cutter.ahead()) {
				panic("a reader that rests keeps its buffer")
			}
		}
	}
	s.Close()
	return all
}

func TestOpenTellsOfALineWithoutNewline(t *testing.T) {
	t.Parallel()
	s := NewReader("a.log", func(parser.Observation) {})
	assert.False(t, s.Open())
	_, _ = s.Write([]byte("a\nb"))
	assert.True(t, s.Open())
	_, _ = s.Write([]byte("\n"))
	assert.False(t, s.Open())
}
