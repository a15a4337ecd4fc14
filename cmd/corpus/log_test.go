package main

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser"
	"oomscan/parser/stream"
)

func compose(kind string, size int64) ([]byte, *writer) {
	var out bytes.Buffer
	w := &writer{out: &out, r: rand.New(rand.NewPCG(1, 7)), line: 1, every: 5000}
	w.log(kind, size)
	return out.Bytes(), w
}

// TestPlantedEventsAreFound checks that a scan finds what was planted and nothing else.
func TestPlantedEventsAreFound(t *testing.T) {
	t.Parallel()
	for kind, size := range map[string]int64{healthy: 4 << 20, noisy: 4 << 20, oom: 4 << 20, longline: 8 << 20} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			text, w := compose(kind, size)
			found := map[int]bool{}
			st, err := stream.ReadFile("in", bytes.NewReader(text), int64(len(text)), 2, func(o parser.Observation) {
				if e, ok := o.(parser.Event); ok && e.Role == parser.Evidence {
					found[e.At.Line] = true
				}
			})
			require.NoError(t, err)
			assert.Equal(t, parser.Counts{Bytes: w.bytes, Lines: w.line - 1, Truncated: st.Truncated}, st)
			want := map[int]bool{}
			for _, e := range w.events {
				want[e.Line] = true
			}
			assert.Equal(t, want, found)
			assert.Equal(t, kind == oom || kind == longline, len(want) > 0)
			assert.Equal(t, kind == longline, st.Truncated > 0)
		})
	}
}

func TestTheSameSeedGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	for _, kind := range all {
		a, _ := compose(kind, 200_000)
		b, _ := compose(kind, 200_000)
		assert.True(t, bytes.Equal(a, b), kind)
	}
}
