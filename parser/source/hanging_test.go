package source

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

const allocatorMessage = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 22.74 GiB. GPU 6 has a total capacity of 139.81 GiB of which 21.07 GiB is free. " +
	"Including non-PyTorch memory, this process has 118.73 GiB memory in use. Of the allocated memory 92.11 GiB is allocated by PyTorch, and 23.79 GiB is reserved by PyTorch but unallocated."

// console returns the rows that rich's handler prints of a message: where in the source it was logged stands beside the first row.
func console(level, message, place string, width int) (rows []string) {
	const column = 20
	edge := width - len(place) - 1
	for i, row := range betweenWords(message, edge-column) {
		if i == 0 {
			row = fmt.Sprintf("[10:00:00] %-8s %-*s %s", level, edge-column, row, place)
		} else {
			row = strings.Repeat(" ", column) + row
		}
		rows = append(rows, row+strings.Repeat(" ", width-len(row)))
	}
	return rows
}

// TestRowsInAColumnAreJoined: rich's handler breaks messages in their column, and puts blanks behind the rows.
func TestRowsInAColumnAreJoined(t *testing.T) {
	t.Parallel()
	for _, width := range []int{80, 100, 120, 200} {
		for _, prefix := range []string{"", "trainer-1  | ", "2026-03-01T09:00:00.123456789Z "} {
			var kept []string
			for i := range 5 {
				kept = append(kept, console("INFO", fmt.Sprintf("step %d", i), "train.py:11", width)...)
			}
			kept = append(kept, console("ERROR", "it failed: "+allocatorMessage, "trainer/loop.py:1025", width)...)
			kept = append(kept, console("INFO", "a line of it", "train.py:12", width)...)
			var rows []string
			for _, row := range kept {
				rows = append(rows, prefix+row)
			}
			got := joined(strings.Join(rows, "\n") + "\n")
			assert.Len(t, got, 7, "%d columns, %q", width, prefix)
			assert.Contains(t, got[5], prefix+"[10:00:00] ERROR    it failed: "+allocatorMessage+" ", "%d columns, %q", width, prefix)
			assert.True(t, strings.HasSuffix(got[5], " trainer/loop.py:1025"), "the place is behind the message")
		}
	}
}

// TestRowsOfALongWordInAColumnAreJoined: a word that is longer than the column breaks anywhere, and a message has lines of its own.
func TestRowsOfALongWordInAColumnAreJoined(t *testing.T) {
	t.Parallel()
	rows := slices.Concat(console("INFO", "a", "t.py:11", 80), console("INFO", "b", "t.py:12", 80), console("ERROR", "failed", "t.py:13", 80))
	for _, row := range []string{
		"Traceback (most recent call last):",
		"  File",
		"\"/opt/venv/lib/python3.11/site-packages/torch/utils/", "data.py\", line 116, in f",
		"    return func(one, two, three, four, five, six)",
		"  File \"/opt/a.py\", line 3, in g",
		"ValueError: see",
		"https://pytorch.org/docs/stable/notes/cuda.html#envi", "ronment-variables",
		"and more",
	} {
		rows = append(rows, fmt.Sprintf("%20s%-60s", "", row))
	}
	assert.Equal(t, []string{
		"Traceback (most recent call last):",
		"  File \"/opt/venv/lib/python3.11/site-packages/torch/utils/data.py\", line 116, in f",
		"    return func(one, two, three, four, five, six)",
		"  File \"/opt/a.py\", line 3, in g",
		"ValueError: see https://pytorch.org/docs/stable/notes/cuda.html#environment-variables",
		"and more",
	}, trimmedAll(joined(strings.Join(rows, "\n") + "\n")[3:], 20))
}

// trimmedAll are lines without so many blanks before them.
func trimmedAll(lines []string, blanks int) (trimmed []string) {
	for _, line := range lines {
		trimmed = append(trimmed, strings.TrimPrefix(line, strings.Repeat(" ", blanks)))
	}
	return trimmed
}

// hung breaks a line between words, with blanks before all rows but the first one.
func hung(line string, width, indent int) []string {
	rows := betweenWords(line, width)
	if rest := strings.TrimPrefix(strings.TrimPrefix(line, rows[0]), " "); rest != "" {
		for i, row := range betweenWords(rest, width-indent) {
			rows = append(rows[:i+1], strings.Repeat(" ", indent)+row)
		}
	}
	return rows
}

// TestIndentedRowsAreJoined: a program indents all rows of a line but the first one, at a width and by as much as it likes.
func TestIndentedRowsAreJoined(t *testing.T) {
	t.Parallel()
	for _, indent := range []int{2, 3, 4, 8, 29} {
		for _, prefix := range []string{"", "[rank3]: "} {
			var rows []string
			want := []string{"step 1 of 20", "settings:", "  lr: 1e-6", strings.Repeat(" ", indent) + "batch: 8", allocatorMessage, "done"}
			for _, line := range want {
				for _, row := range hung(line, 90, indent) {
					rows = append(rows, prefix+row)
				}
			}
			for i, line := range want {
				want[i] = prefix + line
			}
			assert.Equal(t, want, joined(strings.Join(rows, "\n")+"\n"), "%d blanks, %q", indent, prefix)
		}
	}
}

// TestIndentedLinesAreNotJoined: below a full row stands an indented line that is one.
func TestIndentedLinesAreNotJoined(t *testing.T) {
	t.Parallel()
	broken := strings.Join(hung(allocatorMessage, 80, 4), "\n")
	full := func(text string) string { return text + strings.Repeat("x", 80-len(text)) }
	for name, lines := range map[string]string{
		"the code of a frame":   "  File \"/opt/" + strings.Repeat("a", 41) + "/train.py\", line 31, in step\n    loss.backward()",
		"a frame below code":    full("    y = f(") + "\n  File \"/opt/train.py\", line 31, in step",
		"settings":              "  lr: 1e-6\n  batch: 8\n    list:\n    - a",
		"settings of one width": "optimizer:\n" + strings.Repeat("    learning_rate_of_the_optimizer_and_its_groups: 1.0e-06\n", 6) + "    betas: 2",
		"a pretty object":       "{\n    \"model\": \"a model with a name\",\n    \"layers\": 80\n}",
		"numbers in columns":    " [2025-12-25 10:21:47.950777] iteration        1/  238418 | consumed samples:\n       512 | elapsed time per iteration (ms): 35257.8 |",
		"a table":               "| " + strings.Repeat("a ", 38) + " |\n    | b |",
		"nvidia-smi":            "|   0  NVIDIA H800                    On  |   00000000:1B:00.0 Off |             0 |\n    | N/A   22C |",
		"a box":                 "    ╭" + strings.Repeat("─", 74) + "╮\n    │ a                                                                        │\n    ╰" + strings.Repeat("─", 74) + "╯\n    b",
		"deeper lines":          full("a ") + "\n      deeper",
		"shallower lines":       full("a ") + "\n  shallower",
		"a longer line":         strings.Repeat("a ", 60) + "a\n    below",
		"rows with room":        "a row that has room for more words\n    and one below",
	} {
		log := lines + "\n" + broken + "\n"
		assert.Contains(t, strings.Join(joined(log), "\n"), lines+"\n"+allocatorMessage, name)
		assert.Equal(t, strings.Split(lines+"\nend", "\n"), joined(lines+"\nend\n"), "%s, without a broken message", name)
	}
}

// TestPlacesAtTheEndsOfRowsJoinNothing: lines with places in the source, and no row that goes on.
func TestPlacesAtTheEndsOfRowsJoinNothing(t *testing.T) {
	t.Parallel()
	console := func(message string) string { return console("INFO", message, "train.py:11", 80)[0] }
	for name, rows := range map[string][]string{
		"full rows": {console("a"), console("b"), console("c"), console(strings.Repeat("d ", 23) + "d"), console(strings.Repeat("e ", 23) + "e")},
		"hosts":     {"NAME     " + strings.Repeat(" ", 60) + "ADDRESS", "a        " + strings.Repeat(" ", 57) + "gpu-7:2950", "b        " + strings.Repeat(" ", 57) + "gpu-8:2950", "c        " + strings.Repeat(" ", 57) + "gpu-9:2950", "         ready"},
		"times":     {strings.Repeat("a ", 30) + "   10:30", strings.Repeat("b ", 30) + "   10:31", strings.Repeat("c ", 30) + "   10:32", "  d e"},
		"a code's lines": {
			"x = f(a)" + strings.Repeat(" ", 60) + "# a.py:10", "y = f(b)" + strings.Repeat(" ", 60) + "# a.py:20", "z = f(c)" + strings.Repeat(" ", 60) + "# a.py:30", "    g()",
		},
	} {
		assert.Equal(t, trimRight(rows), trimRight(joined(strings.Join(rows, "\n")+"\n")), name)
	}
}

func trimRight(lines []string) (trimmed []string) {
	for _, line := range lines {
		trimmed = append(trimmed, strings.TrimRight(line, " "))
	}
	return trimmed
}

func TestAPlaceIsANameWithANumberBehindABlank(t *testing.T) {
	t.Parallel()
	for row, want := range map[string]int{
		"step done   train.py:11":                          12,
		"step done   <module>:7":                           12,
		"step done   pkg.mod-x:120":                        12,
		"step done   10:30":                                0,
		"train.py:11":                                      0,
		`{"log":"done   ^^^\r\n","time":"2025-12-24T08:50`: 0,
		"step done   lr={a:1":                              0,
	} {
		assert.Equal(t, want, placeIn([]byte(row)), row)
	}
}
