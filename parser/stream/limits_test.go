package stream

import (
	"fmt"
	"strings"
	"testing"

	"oomscan/parser"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLinesAreReadWholeUpToTheLimit puts a message behind so much text that the line just fits, and one byte more.
func TestLinesAreReadWholeUpToTheLimit(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{LeastLine, 20_000, DefaultLine, 100_000, 1 << 20, MostLine} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			t.Parallel()
			if testing.Short() && limit > 100_000 {
				t.Skip("the race detector makes it slow, and it has one goroutine")
			}
			for over := range 2 {
				line := strings.Repeat("x", limit+over-len(allocatorMessage)-1) + " " + allocatorMessage
				require.Len(t, line, limit+over)
				text := "the first line\n" + line + "\nthe last line\n"
				found := 0
				emit := func(o parser.Observation) {
					if e, ok := o.(parser.Event); ok && e.Role == parser.Evidence {
						found++ // twice where two parts of a line overlap
						assert.Equal(t, 2, e.At.Line)
					}
				}
				st, err := Read("in", strings.NewReader(text), emit, LineLimit(limit))
				require.NoError(t, err)
				assert.Equal(t, parser.Counts{Bytes: int64(len(text)), Lines: 3, Truncated: over}, st)
				assert.Positive(t, found, "the message is found whether its line is read whole or not")
			}
		})
	}
}

func TestLimitsOfLinesThatNobodyChecked(t *testing.T) {
	t.Parallel()
	for _, n := range []int{-1, 0, LeastLine - 1, MostLine + 1} {
		assert.Panics(t, func() { LineLimit(n) }, n)
	}
}

func TestNULsBehindAFlagEndArguments(t *testing.T) {
	t.Parallel()
	const text = "a\x00b -c\x00d\npy\x00t.py\x00--key\x00v w\x00\x00-n\nx\x00y\n"
	for cut := range len(text) {
		var c cutter
		var got string
		for _, part := range []string{text[:cut], text[cut:]} {
			b := []byte(part)
			got += string(b[:c.fill(b)])
		}
		assert.Equal(t, "ab -cd\npyt.py--key v w -n\nxy\n", got, cut)
		assert.True(t, c.holes)
	}
}
