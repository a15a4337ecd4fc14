package stream

import (
	"os"
	"path/filepath"
	"testing"

	"oomscan/parser"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestToLookAheadChangesNothing looks ahead again and again while logs are fed.
func TestToLookAheadChangesNothing(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../fixtures/cases/*/*/*.log")
	require.NoError(t, err)
	for i := 0; i < len(paths); i += every(4) {
		path := paths[i]
		st, err := os.Stat(path)
		require.NoError(t, err)
		if st.Size() > 20<<10 {
			continue
		}
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		scan := func(n int, between func(*Reader)) (all []parser.Observation) {
			s := NewReader("a.log", func(o parser.Observation) { all = append(all, o) })
			for rest := b; len(rest) > 0; {
				k := min(n, len(rest))
				_, _ = s.Write(rest[:k])
				rest = rest[k:]
				between(s)
			}
			s.Close()
			return all
		}
		want := scan(len(b), func(*Reader) {})
		assert.Equal(t, want, scan(97, func(s *Reader) { s.PeekDeferred(func(parser.Observation) {}); s.PeekTail(func(parser.Observation) {}) }), path)
		assert.Equal(t, want, scan(353, func(s *Reader) { s.Rest() }), path)
	}
}
