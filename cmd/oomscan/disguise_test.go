package main

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// disguised are the cases whose logs the disguises are put on: those that have one log which is not very long. A nightly run tries all of
// them, which takes half an hour, and other runs eight of each kind, from the whole list.
func disguised(t *testing.T) (names []string) {
	t.Helper()
	const most = 60_000
	ofEach := 8
	if os.Getenv("OOMSCAN_TEST_ALL") == "nightly" {
		ofEach = math.MaxInt
	}
	byKind := map[string][]string{}
	for _, dir := range caseFolders(t) {
		files := logs(t, dir)
		if st, err := os.Stat(filepath.Join(dir, files[0])); err == nil && len(files) == 1 && st.Size() > 0 && st.Size() <= most && !leftOut[kindAndName(dir)] {
			kind := filepath.Base(filepath.Dir(dir))
			byKind[kind] = append(byKind[kind], kindAndName(dir))
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		all := byKind[kind]
		for n := range min(ofEach, len(all)) {
			names = append(names, all[n*len(all)/min(ofEach, len(all))])
		}
	}
	require.Greater(t, len(names), 50)
	return names
}

// leftOut are cases that no disguise is tried on: one in which the times of the lines tell incidents apart, which are within a second
// in a collector's log.
var leftOut = map[string]bool{"oom_kill/infra-nohang-two-storms": true}

// notebook keeps a log as the output of a cell.
func notebook(write func(any) ([]byte, error)) func([]byte) []byte {
	return func(log []byte) []byte {
		b, _ := write(map[string]any{
			"cells": []any{map[string]any{
				"cell_type": "code", "source": []string{"!python train.py"}, "outputs": []any{map[string]any{"name": "stderr", "text": strings.SplitAfter(string(log), "\n")}},
			}},
			"nbformat": 4,
		})
		return append(b, '\n')
	}
}

// beforeFailure writes lines before the first word of a failure.
func beforeFailure(text string) func([]byte) []byte {
	return func(log []byte) []byte {
		at := failureAt(log)
		return slices.Concat(log[:at], []byte(text+"\n"), log[at:])
	}
}

// failureAt is where the first line with a word of a failure begins.
func failureAt(log []byte) int {
	for _, word := range []string{"Traceback", "rror", "ut of memory", "illed"} {
		if i := bytes.Index(log, []byte(word)); i >= 0 {
			return bytes.LastIndexByte(log[:i], '\n') + 1
		}
	}
	return len(log)
}

// atBlanks breaks a line at blanks, as mail programs do.
func atBlanks(line string, width int) (rows []string) {
	line = strings.TrimSuffix(line, "\r")
	for utf8.RuneCountInString(line) > width {
		i := strings.LastIndexByte(cut(line, width+1)[0], ' ')
		if i <= len(line)-len(strings.TrimLeft(line, " ")) {
			if i = strings.IndexByte(strings.TrimLeft(line, " "), ' '); i < 0 {
				break
			}
			i += len(line) - len(strings.TrimLeft(line, " "))
		}
		rows, line = append(rows, line[:i]), line[i+1:]
	}
	return append(rows, line)
}

// inBox breaks a line at blanks, and a word that is longer than a row where the row ends, as rich does.
func inBox(line string, width int) (rows []string) {
	for utf8.RuneCountInString(line) > width {
		row := cut(line, width)[0]
		blank := strings.LastIndexByte(row, ' ')
		if line[len(row)] == ' ' {
			blank = len(row)
		}
		if strings.TrimLeft(line[:max(blank, 0)], " ") == "" {
			rows, line = append(rows, row), line[len(row):]
			continue
		}
		rows, line = append(rows, line[:blank]), line[blank+1:]
	}
	return append(rows, line)
}

// gist is what an incident says however its log was kept: verdict, kind, phase, numbers and rank.
type gist [5]string

// answers are what must not depend on how a log was kept.
func answers(t *testing.T, dir string, files ...string) (out []gist) {
	out, _ = answersAndMessages(t, dir, files...)
	return out
}

// answersAndMessages are the answers and the messages that they stand on.
func answersAndMessages(t *testing.T, dir string, files ...string) (out []gist, messages []string) {
	t.Helper()
	_, r, _ := scanOnly(t, dir, files...)
	for _, in := range r.Incidents {
		x := &in.Root
		numbers := fmt.Sprintf("requested=%v free=%v total=%v", value(x.Request), value(x.Free), value(x.Total))
		out = append(out, gist{in.Verdict, in.Kind, in.Phase, numbers, fmt.Sprintf("rank=%v", value(x.Rank))})
		messages = append(messages, x.Message)
	}
	return out, messages
}

// agree says which parts of two lists of answers are equal.
func agree(want, got []gist) (same [len(gist{})]bool) {
	for i := range same {
		same[i] = slices.EqualFunc(want, got, func(a, b gist) bool { return a[i] == b[i] })
	}
	return same
}

// lostParts says which parts of answers can no longer be read for certain from what was kept of a log: all of them where a message that an
// answer stands on is not whole, and the numbers and the rank where fewer places tell them.
func lostParts(want []gist, messages []string, log, kept []byte) (lost [len(gist{})]bool) {
	fewer := func(expr string) bool {
		place := regexp.MustCompile(expr)
		return len(place.FindAll(kept, -1)) < len(place.FindAll(log, -1))
	}
	for n, message := range messages {
		if bytes.Contains(log, []byte(message)) && !bytes.Contains(kept, []byte(message)) {
			return [len(gist{})]bool{true, true, true, true, true}
		}
		for _, figure := range regexp.MustCompile(`\d+`).FindAllString(want[n][3], -1) {
			lost[3] = lost[3] || fewer(`\b`+figure+`\b`)
		}
		if rank, known := strings.CutPrefix(want[n][4], "rank="); known && rank != "<nil>" {
			lost[4] = lost[4] || fewer(`(?i)rank\W{0,3}`+rank+`\b`)
		}
	}
	return lost
}

// neverWrong says that answers on what was kept of a log have no figure that the log does not have.
func neverWrong(t *testing.T, log []byte, want, got []gist, name string) {
	t.Helper()
	for _, in := range got {
		for _, figure := range strings.Fields(in[3]) {
			if n := figure[strings.IndexByte(figure, '=')+1:]; n != "<nil>" && !bytes.Contains(log, []byte(n)) {
				assert.Contains(t, fmt.Sprint(want), figure, name)
			}
		}
	}
}

// TestAnswerDoesNotDependOnHowTheLogWasKept compares the answer on a log in each disguise with that on the log itself.
func TestAnswerDoesNotDependOnHowTheLogWasKept(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	type row struct{ same, lost [len(gist{})]int }
	table, tried := map[string]*row{}, map[string]int{}
	for _, d := range disguises {
		table[d.name] = &row{}
	}
	count := func(name string, equal, lost [len(gist{})]bool) {
		mu.Lock()
		defer mu.Unlock()
		tried[name]++
		for i := range equal {
			if equal[i] {
				table[name].same[i]++
			} else if lost[i] {
				table[name].lost[i]++
			}
		}
	}
	t.Run("all", func(t *testing.T) {
		for i, name := range sample(disguised(t), 1) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join("../../fixtures/cases", name)
				file := logs(t, dir)[0]
				log, err := os.ReadFile(filepath.Join(dir, file))
				require.NoError(t, err)
				want, messages := answersAndMessages(t, dir, file)
				kept := t.TempDir()
				for _, d := range sample(disguises, i%4) {
					text := d.wrap(log)
					require.NoError(t, os.WriteFile(filepath.Join(kept, file), text, 0o600))
					got := answers(t, kept, file)
					for n := range min(len(got), len(want)) {
						if got[n][4] == d.rank || got[n][4] == d.known && want[n][4] == "rank=<nil>" {
							got[n][4] = want[n][4]
						}
					}
					equal, lost := agree(want, got), [len(gist{})]bool{}
					if d.destroys != "" {
						lost = lostParts(want, messages, log, text)
						neverWrong(t, log, want, got, d.name)
					}
					if isHidden(d.name, name) {
						lost = [len(gist{})]bool{true, true, true, true, true}
					}
					count(d.name, equal, lost)
					for part := range equal {
						assert.True(t, equal[part] || lost[part], "%s: part %d\nwant %v\ngot  %v", d.name, part, want, got)
					}
				}
			})
		}
	})
	t.Logf("%-40s %5s  %-8s %-8s %-8s %-8s %-8s (+ destroyed or hidden: text that tells it was cut, or looks like something else)", "", "of", "verdict", "kind", "phase", "numbers", "rank")
	for _, d := range disguises {
		cells := ""
		for i, n := range table[d.name].same {
			cell := fmt.Sprint(n)
			if lost := table[d.name].lost[i]; lost > 0 {
				cell += fmt.Sprintf(" + %d", lost)
			}
			cells += fmt.Sprintf(" %-8s", cell)
		}
		t.Logf("%-40s %5d %s %s", d.name, tried[d.name], cells, d.destroys)
	}
}

// TestAnswerDoesNotDependOnWhereALogWasRotated cuts each log between two lines before the failure and compares the answer on the parts with
// that on the log. A report that is cut itself is not put together again.
func TestAnswerDoesNotDependOnWhereALogWasRotated(t *testing.T) {
	t.Parallel()
	for _, name := range sample(disguised(t), 2) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join("../../fixtures/cases", name)
			file := logs(t, dir)[0]
			if isHidden("rotated", name) {
				t.Skip("the cut takes away what tells the answer")
			}
			if ext := filepath.Ext(file); strings.Trim(ext, ".0123456789") == "" && ext != "" {
				return // its own name is already that of a rotated file
			}
			log, err := os.ReadFile(filepath.Join(dir, file))
			require.NoError(t, err)
			want := answers(t, dir, file)
			rows := bytes.SplitAfter(log, []byte("\n"))
			failed := slices.IndexFunc(rows, func(row []byte) bool {
				return slices.ContainsFunc([]string{"Traceback", "rror", "out of memory"}, func(word string) bool { return bytes.Contains(row, []byte(word)) })
			})
			for _, share := range []float64{0.1, 0.5, 1} {
				at := int(share * float64(max(failed, 1)))
				for _, names := range [][]string{{file + ".1", file}, {file + ".aa", file + ".ab"}, {file + ".part1", file + ".part2"}} {
					kept := t.TempDir()
					require.NoError(t, os.WriteFile(filepath.Join(kept, names[0]), bytes.Join(rows[:at], nil), 0o600))
					require.NoError(t, os.WriteFile(filepath.Join(kept, names[1]), bytes.Join(rows[at:], nil), 0o600))
					assert.Equal(t, want, answers(t, kept, names...), "%s, cut at line %d", names[0], at)
				}
			}
		})
	}
}
