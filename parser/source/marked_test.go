package source

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// screen cuts lines into rows of a screen, each of which ends with a mark where its line goes on.
func screen(lines []string, width int) (rows []string) {
	for _, line := range lines {
		cut := cutAt(line, width-1)
		for i, row := range cut {
			if i < len(cut)-1 {
				row += `\`
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// TestRowsWithAMarkAreJoined: Emacs ends each row of a terminal that goes on with a backslash.
func TestRowsWithAMarkAreJoined(t *testing.T) {
	t.Parallel()
	for _, width := range []int{80, 100, 132} {
		for _, prefix := range []string{"", "[rank3]: ", "(WorkerDict pid=4711) "} {
			lines := []string{`+ python train.py \`, `    --lr 1`}
			for i := range 30 {
				lines = append(lines, fmt.Sprintf("%sworker.py:%d] %s.", prefix, i, sentence(i, 4+i*13%37)))
			}
			lines = append(lines, prefix+allocatorMessage)
			assert.Equal(t, lines, joined(strings.Join(screen(lines, width), "\n")+"\n"), "%d, %q", width, prefix)
		}
	}
}

func TestFillersKeepTheNumbersOfLinesBehindAMark(t *testing.T) {
	t.Parallel()
	kept := strings.Join(screen([]string{sentence(1, 60), sentence(2, 60), "last"}, 80), "\n") + "\n"
	d := NewDecoder([]byte(kept))
	text := string(d.Close(d.Append(nil, []byte(kept))))
	assert.Equal(t, strings.Count(kept, "\n"), strings.Count(text, "\n"))
	assert.True(t, strings.HasSuffix(text, "\nlast\n"))
}

// TestLinesThatEndWithABackslashAreNotJoined: macros of C and commands of a shell.
func TestLinesThatEndWithABackslashAreNotJoined(t *testing.T) {
	t.Parallel()
	var macro, mixed, command []string
	for i := range 12 {
		macro = append(macro, fmt.Sprintf("%-79s", fmt.Sprintf("  check(x%d, y); ", i))+`\`)
		mixed = append(mixed, strings.Repeat("ab", 40)[:79]+`\`, "cd", strings.Repeat("e", 80))
		command = append(command, fmt.Sprintf("%s \\", sentence(i, 4+i)))
	}
	for _, rows := range [][]string{macro, mixed, command} {
		assert.Nil(t, markedDecoder([]byte(strings.Join(rows, "\n")+"\n")))
	}
}
