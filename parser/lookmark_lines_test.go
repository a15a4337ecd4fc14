package parser

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLinesBackCountsTheLinesBetween(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var text strings.Builder
		begins := []int64{0}
		for range 1 + r.IntN(300) {
			text.WriteString(strings.Repeat("x", r.IntN(1+r.IntN(3000))) + "\n")
			begins = append(begins, int64(text.Len()))
		}
		at, first := 1+r.IntN(len(begins)-1), 0
		if r.IntN(2) == 0 {
			first = r.IntN(at)
		}
		lines := 1 + r.IntN(150)
		s := NewScanner("in", func(Observation) {})
		s.again = strings.NewReader(text.String())
		begin, line := s.linesBack(begins[at], begins[first], at+1, lines)
		back := max(first, at-lines)
		require.Equal(t, begins[back], begin)
		require.Equal(t, 1+bytes.Count([]byte(text.String()[:begin]), newline), line)
	}
}
