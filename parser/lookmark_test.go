package parser

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMarksAtTheEndOfAnInput ends logs amidst a printed sample, with and without a last line feed, and an event before it.
func TestMarksAtTheEndOfAnInput(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("a line that says nothing\n", headLines+sampleLines)
	for _, before := range []string{"", oomMessage + "\n", oomMessage + "\n" + filler} {
		for _, end := range []string{"[score] 0.5", "[prompt] x", "[prompt] x\n" + oomMessage, "<|im_start|>" + step(3)} {
			for _, feed := range []string{"", "\n"} {
				text := []byte(filler + before + end + feed)
				t.Run(fmt.Sprintf("%d/%q", len(before), end+feed), func(t *testing.T) {
					t.Parallel()
					want := everything(t, func(emit func(Observation)) (Stats, error) { return Scan("in", bytes.NewReader(text), emit) })
					var st Stats
					got := everything(t, func(emit func(Observation)) (s Stats, err error) {
						st, err = ScanAt("in", bytes.NewReader(text), int64(len(text)), 2, emit)
						return st, err
					})
					same(t, want, got)
					require.Equal(t, int64(len(text)), st.Bytes)
					assert.Equal(t, bytes.Count(text, newline)+1-len(feed), st.Lines)
				})
			}
		}
	}
}
