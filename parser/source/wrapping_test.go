package source

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAHeadingBetweenSignsWasNotBroken(t *testing.T) {
	t.Parallel()
	assert.False(t, isSurelyBroken([]byte("== build info =="), []byte("torch 2.7.1")))
	assert.True(t, isSurelyBroken([]byte("    assert self.batch_size =="), []byte("other.batch_size")))
}

// TestRowsThatWerePastedWithBlanksBeforeThemAreJoined: a screen in a list or a block of code, below a prompt and above another one.
func TestRowsThatWerePastedWithBlanksBeforeThemAreJoined(t *testing.T) {
	t.Parallel()
	lines := []string{"step 1 of 20"}
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("[worker %02d] %s.", i, sentence(i, 4+i*13%37)), "  layers: 4")
	}
	lines = append(lines, "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 19.22 GiB. GPU 0 has a total capacity of 79.33 GiB of which 12.40 GiB is free.", "done")
	for _, width := range []int{80, 105, 133} {
		for name, form := range map[string]string{"with blanks at the ends": "%s%-*s\n", "without blanks at the ends": "%s%[3]s\n"} {
			for _, blanks := range []string{"  ", "    "} {
				var kept strings.Builder
				for _, line := range lines {
					for _, row := range cutAt(line, width) {
						fmt.Fprintf(&kept, form, blanks, width, strings.TrimRight(row, " "))
					}
				}
				text := strings.Join(joined("$ cat train.log\n"+kept.String()+"$ \n"), "\n")
				assert.Equal(t, "$ cat train.log\n"+strings.Join(lines, "\n")+"\n$ ", text, "%d columns, %s, %q", width, name, blanks)
			}
		}
	}
}

// TestIndentedRowsOfALogKeepTheirBlanks: a traceback that is the whole log, a text whose rows hang below its first one, settings above the log.
func TestIndentedRowsOfALogKeepTheirBlanks(t *testing.T) {
	t.Parallel()
	for name, rows := range map[string][]string{
		"a traceback": {"Traceback (most recent call last):", strings.Repeat("  File \"/opt/train.py\", line 1, in f\n    step()\n", 12) + "ValueError: x"},
		"settings":    {"arguments:", strings.Repeat("    lr ............... 1\n", 12) + strings.Repeat("step\n", 4)},
		"few rows":    {"$ cat log", "  one", "  two"},
	} {
		kept := strings.Join(rows, "\n")
		assert.Zero(t, indentOf(wholeLines(kept)), name)
	}
	assert.Equal(t, 2, indentOf(wholeLines("$ cat log\n"+strings.Repeat("  row\n\n    row\n", 9))))
}

func wholeLines(text string) [][]byte {
	rows, _ := wrapping{trimmed: true}.rows([]byte(text))
	return rows
}
