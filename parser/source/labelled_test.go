package source

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRowsBehindPrefixesAreJoined: the program broke its lines, and then something put a prefix before each row.
func TestRowsBehindPrefixesAreJoined(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 30 {
		lines = append(lines, fmt.Sprintf("INFO worker.py:%d] %s.", i, sentence(i, 4+i*13%37)))
	}
	for name, prefix := range map[string]string{
		"srun's task":               "3: ",
		"a launcher's rank":         "[rank3]: ",
		"kubectl's stamp":           "2026-03-01T09:00:00.123456789Z ",
		"kubectl's pod":             "[pod/train-0/pytorch] ",
		"compose's service":         "trainer-1  | ",
		"Ray's worker":              "(WorkerDict pid=4711) ",
		"Ray's worker, with a node": "(WorkerDict pid=4711, ip=10.0.0.1) ",
	} {
		for how, breaks := range map[string]func(string, int) []string{"between words": betweenWords, "anywhere": cutAt} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				var kept, want []string
				for _, line := range lines {
					want = append(want, prefix+line)
					for _, row := range breaks(line, 80) {
						kept = append(kept, prefix+row)
					}
				}
				assert.Equal(t, want, joined(strings.Join(kept, "\n")+"\n"))
			})
		}
	}
}

// TestRowsOfAnotherProgramEndALine: two tasks' rows lie in one file, each line's together.
func TestRowsOfAnotherProgramEndALine(t *testing.T) {
	t.Parallel()
	var kept, want []string
	for i := range 40 {
		prefix, line := fmt.Sprintf("%d: ", i%2), fmt.Sprintf("INFO worker.py:%d] %s.", i, sentence(i, 5+i*13%37))
		want = append(want, prefix+line)
		for _, row := range betweenWords(line, 80) {
			kept = append(kept, prefix+row)
		}
	}
	full := strings.Repeat("x", 79) + " "
	want, kept = append(want, "0: "+full[:79], "1: other"), append(kept, "0: "+full[:79], "1: other")
	assert.Equal(t, want, joined(strings.Join(kept, "\n")+"\n"))
}

// TestPartsOfARuntimeAreNotRows: containerd splits a line at a width too, and says where it goes on.
func TestPartsOfARuntimeAreNotRows(t *testing.T) {
	t.Parallel()
	var kept []string
	for i := range 30 {
		parts := cutAt(sentence(i, 20+i*13%37), 80)
		for n, part := range parts {
			kept = append(kept, "2026-03-01T09:00:00.123456789Z stderr "+map[bool]string{true: "F ", false: "P "}[n == len(parts)-1]+part)
		}
	}
	assert.Nil(t, NewDecoder([]byte(strings.Join(kept, "\n")+"\n")))
}

// TestWholeLinesBehindPrefixesAreNotJoined: these logs need no decoder.
func TestWholeLinesBehindPrefixesAreNotJoined(t *testing.T) {
	t.Parallel()
	var bare, some []string
	for i := range 40 {
		bare = append(bare, "3: "+sentence(i, 4+i*13%37))
		some = append(some, strings.Split("3: "+strings.Join(betweenWords(sentence(i, 20), 80), "\n"), "\n")...)
	}
	for name, rows := range map[string][]string{"each line has its prefix": bare, "rows without a prefix": slices.Concat(some, some)} {
		_, labelled := NewDecoder([]byte(strings.Join(rows, "\n") + "\n")).(*labelledUnwrapper)
		assert.False(t, labelled, name)
	}
}

// TestRowsBehindALoggersPrefixAreJoined: a program breaks its messages and puts its own prefix before each row. Most put it before lines.
func TestRowsBehindALoggersPrefixAreJoined(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"2026-03-01 10:00:00 ", "2026-03-01 10:00:00,123 - ERROR - trainer - ", "2026-03-01 10:00:00,123 - trainer - ERROR - ", "2026-03-01 10:00:00,123 ERROR trainer: ", "INFO 03-01 10:00:00 [core.py:12] "} {
		for how, breaks := range map[string]func(string) []string{
			"between words":       func(line string) []string { return betweenWords(line, 80) },
			"anywhere":            func(line string) []string { return cutAt(line, 80) },
			"with an indentation": func(line string) []string { return hung(line, 80, 4) },
		} {
			want := []string{"step 1 of 20", "settings:", "  lr: 1e-6", "    batch: 8", allocatorMessage, "step 2 of 20"}
			var rows []string
			for i, line := range want {
				want[i] = prefix + line
				for _, row := range breaks(line) {
					rows = append(rows, prefix+row)
				}
			}
			assert.Equal(t, want, joined(strings.Join(rows, "\n")+"\n"), "%q, %s", prefix, how)
		}
	}
}

// TestLinesBehindALoggersPrefixAreNotJoined: these logs need no decoder, though their lines are full.
func TestLinesBehindALoggersPrefixAreNotJoined(t *testing.T) {
	t.Parallel()
	for name, form := range map[string]string{"one time": "2026-03-01 10:00:00 INFO %.0d%s", "times": "2026-03-01 10:00:00,%03d INFO %s"} {
		var rows []string
		for i := range 40 {
			for _, row := range betweenWords(sentence(i, 40), 80) {
				rows = append(rows, fmt.Sprintf(form, len(rows), row))
			}
		}
		_, labelled := NewDecoder([]byte(strings.Join(rows, "\n") + "\n")).(*labelledUnwrapper)
		assert.False(t, labelled, name)
	}
}
