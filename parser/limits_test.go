package parser

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLinesAreReadWholeUpToTheLimit puts a message behind so much text that the line just fits, and one byte more.
func TestLinesAreReadWholeUpToTheLimit(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{LeastLine, 20_000, DefaultLine, 100_000, 1 << 20, MostLine} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			t.Parallel()
			for over := range 2 {
				line := strings.Repeat("x", limit+over-len(allocatorMessage)-1) + " " + allocatorMessage
				require.Len(t, line, limit+over)
				text := "the first line\n" + line + "\nthe last line\n"
				found := 0
				emit := func(o Observation) {
					if e, ok := o.(Event); ok && e.Role == Evidence {
						found++ // twice where two parts of a line overlap
						assert.Equal(t, 2, e.At.Line)
					}
				}
				st, err := Scan("in", strings.NewReader(text), emit, LineLimit(limit))
				require.NoError(t, err)
				assert.Equal(t, Stats{Bytes: int64(len(text)), Lines: 3, Truncated: over}, st)
				assert.Positive(t, found, "the message is found whether its line is read whole or not")
			}
		})
	}
}

// TestPartsDoNotMatterAtAnyLimit reads a log with huge lines at the ends of the limit, as a stream, in chunks, and in parts
// that are shorter and longer than its lines.
func TestPartsDoNotMatterAtAnyLimit(t *testing.T) {
	t.Parallel()
	text := woven(t)
	text = text[:len(text)/4]
	if testing.Short() { // the race detector makes it slow
		text = text[:len(text)/4]
	}
	for _, n := range []int{LeastLine, 40_000, 300_000} {
		limit := LineLimit(n)
		want := everything(t, func(emit func(Observation)) (Stats, error) { return Scan("in", bytes.NewReader(text), emit, limit) })
		for _, length := range []int{5_000, windowSize} {
			t.Run(fmt.Sprintf("%d/%d", n, length), func(t *testing.T) {
				t.Parallel()
				same(t, want, everything(t, func(emit func(Observation)) (Stats, error) {
					return scanAt(newScanner("in", table(), emit, limit), bytes.NewReader(text), int64(len(text)), 4, length)
				}))
			})
		}
		t.Run(fmt.Sprintf("%d/chunks", n), func(t *testing.T) {
			t.Parallel()
			same(t, want, everything(t, func(emit func(Observation)) (Stats, error) {
				s := NewScanner("in", emit, limit)
				for rest, k := text, 1; len(rest) > 0; k = k%70_001 + 7_777 {
					k = min(k, len(rest))
					_, _ = s.Write(rest[:k])
					rest = rest[k:]
				}
				return s.Close(), nil
			}))
		})
	}
}

func TestLimitsOfLinesThatNobodyChecked(t *testing.T) {
	t.Parallel()
	for _, n := range []int{-1, 0, LeastLine - 1, MostLine + 1} {
		assert.Panics(t, func() { LineLimit(n) }, n)
	}
}
