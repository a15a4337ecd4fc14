package source

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// grid shows lines as bat does on a screen, in which so much text fits in a row. Without them, the rows have no blanks at their ends.
func grid(lines []string, width int, blanks bool) string {
	const edge = "───────"
	rule := strings.Repeat("─", width+1)
	rows := []string{edge + "┬" + rule, "       │ File: train.log", edge + "┼" + rule}
	for i, line := range lines {
		head := fmt.Sprintf("%4d   │ ", i+1)
		if i == 2 {
			head = fmt.Sprintf("%4d + │ ", i+1)
		}
		for _, row := range cutAt(line, width) {
			if row = head + row; !blanks {
				row = strings.TrimRight(row, " ")
			}
			rows = append(rows, row)
			head = "       │ "
		}
	}
	return strings.Join(append(rows, edge+"┴"+rule), "\n") + "\n"
}

// TestRowsOfAGridAreJoined: bat shows numbers and a grid, and breaks each line at the width of the screen.
func TestRowsOfAGridAreJoined(t *testing.T) {
	t.Parallel()
	for _, width := range []int{69, 109, 114} {
		for _, blanks := range []bool{true, false} {
			lines := []string{"+ python train.py --lr 1", "", "  File \"train.py\", line 3, in main"}
			for i := range 30 {
				lines = append(lines, fmt.Sprintf("worker.py:%d] %s.", i, sentence(i, 4+i*13%37)))
			}
			lines = append(lines, allocatorMessage)
			kept := grid(lines, width, blanks)
			got := decoded(t, kept, 97)
			rows := strings.Split(strings.ReplaceAll(got, filler, ""), "\n")
			assert.Equal(t, lines, rows[3:len(rows)-2], width)
			assert.Equal(t, strings.Count(kept, "\n"), strings.Count(got, "\n"), "the numbers of the lines stay")
		}
	}
}

// TestOtherTablesHaveNoGridOfBat: a table with a column of numbers, a few lines that a job shows of a file, and a log with a rule.
func TestOtherTablesHaveNoGridOfBat(t *testing.T) {
	t.Parallel()
	var lines, table []string
	for i := range 12 {
		lines = append(lines, sentence(i, 5))
		table = append(table, fmt.Sprintf("%4d   │ n%03d  │ ok", i*3+1, i))
	}
	const rule = "───────┬─────────────────────────────────\n"
	for name, text := range map[string]string{
		"numbers with gaps":   rule + strings.Join(table, "\n") + "\n",
		"a part of a log":     grid(lines, 80, true) + strings.Repeat("step 1 loss 2.0\n", 12),
		"no top":              strings.Join(strings.Split(grid(lines, 80, true), "\n")[3:], "\n"),
		"no numbers":          rule + strings.Repeat("       │ text\n", 12),
		"the column is moved": strings.ReplaceAll(grid(lines, 80, true), " │ ", "  │ "),
	} {
		assert.Nil(t, gridDecoder([]byte(text)), name)
	}
}
