package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestWorkersDoNotMatter reads cases with one worker and with several.
func TestWorkersDoNotMatter(t *testing.T) {
	t.Parallel()
	for _, dir := range sample(caseFolders(t), 3) {
		_, one, _ := call(t, nil, "--format", "json", "--jobs", "1", dir)
		_, several, _ := call(t, nil, "--format", "json", "--jobs", "5", dir)
		assert.Equal(t, timeless(one), timeless(several), dir)
	}
}

// TestACutLogTellsNothingThatIsNotInIt cuts logs between lines, and looks for the ranks, devices and processes of the report
// in what is left.
func TestACutLogTellsNothingThatIsNotInIt(t *testing.T) {
	t.Parallel()
	const cuts = 3
	eachLog(t, 3, func(t *testing.T, i int, log []byte) {
		lines := bytes.SplitAfter(log, []byte("\n"))
		r := rand.New(rand.NewPCG(uint64(i), 11))
		for range cuts {
			from := r.IntN(len(lines))
			part := bytes.Join(lines[from:from+1+r.IntN(len(lines)-from)], nil)
			for _, in := range scanLog(t, part).Incidents {
				for field, n := range map[string]*int{"rank": in.Root.Rank, "device": in.Root.Device, "pid": in.Root.PID} {
					if n != nil {
						assert.Contains(t, string(part), strconv.Itoa(*n), "%s from line %d", field, from+1)
					}
				}
			}
		}
	})
}

// TestALogTeedTwiceTellsTheSame doubles each line, as two writers to one file do.
func TestALogTeedTwiceTellsTheSame(t *testing.T) {
	t.Parallel()
	eachLog(t, 1, func(t *testing.T, _ int, log []byte) {
		var twice bytes.Buffer
		for line := range bytes.Lines(log) {
			twice.Write(bytes.TrimSuffix(line, []byte("\n")))
			twice.WriteByte('\n')
			twice.Write(line)
		}
		kinds := func(log []byte) (set []string, ranks map[any]bool) {
			ranks = map[any]bool{nil: true} // two writers of each line may leave open which one it was
			for _, in := range scanLog(t, log).Incidents {
				set = append(set, in.Verdict+" "+in.Kind)
				ranks[value(in.Root.Rank)] = true
			}
			return set, ranks
		}
		want, ranks := kinds(log)
		got, seen := kinds(twice.Bytes())
		assert.ElementsMatch(t, want, got)
		for rank := range seen {
			assert.Contains(t, ranks, rank)
		}
	})
}

// TestNothingIsInvented looks in logs for what the report tells of them: texts, names, places, and figures in any unit.
func TestNothingIsInvented(t *testing.T) {
	t.Parallel()
	invisible, number := regexp.MustCompile(`\x1b\[[\d;]*m|\s`), regexp.MustCompile(`\d+(?:\.\d+)?`)
	unescape := strings.NewReplacer(`\"`, `"`, `\'`, `'`, `\\`, `\`)
	eachLog(t, 2, func(t *testing.T, _ int, log []byte) {
		plain := invisible.ReplaceAllString(unescape.Replace(string(log)), "")
		var printed []float64
		for _, digits := range number.FindAllString(string(log)+" "+strings.ReplaceAll(string(log), ",", ""), -1) {
			n, _ := strconv.ParseFloat(digits, 64)
			for _, thousand := range []float64{1000, 1024} {
				for power := range 5 {
					printed = append(printed, n*math.Pow(thousand, float64(power)))
				}
			}
		}
		for _, in := range scanLog(t, log).Incidents {
			x := &in.Root
			message := invisible.ReplaceAllString(x.Message, "")
			said := []any{value(x.Host), value(x.Process), value(x.Rank), value(x.Device), value(x.PID)}
			figures := []*int64{x.Request, x.Total, x.Free, x.Alloc, x.Reserved, x.Limit}
			if value(x.KilledBy) != "kernel" { // whose report of many lines is told in a sentence, with the sum of a process
				figures = append(figures, x.OwnBytes)
				for range 3 { // pieces, where srun cut a line
					n := sort.Search(len(message), func(n int) bool { return !strings.Contains(plain, message[:n+1]) })
					message = message[n:]
				}
				assert.True(t, message == "" || strings.Contains(x.Message, "***"), x.Message) // which hides a secret
			}
			for _, f := range x.Trace {
				said = append(said, f.File, f.Line, f.Function)
			}
			for _, v := range in.Victims {
				said = append(said, value(v.Host), value(v.PID), value(v.Name), value(v.Cgroup))
			}
			for _, what := range said {
				if text := fmt.Sprint(what); what != nil && !strings.Contains(text, "***") {
					assert.True(t, strings.Contains(plain, invisible.ReplaceAllString(text, "")), text)
				}
			}
			for _, n := range figures {
				assert.True(t, n == nil || slices.ContainsFunc(printed, func(p float64) bool { return math.Abs(p-float64(*n)) <= 1 }), "%v", value(n))
			}
		}
	})
}
