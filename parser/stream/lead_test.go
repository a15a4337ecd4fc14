package stream

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/parser"
)

// TestALeadIsWhatKnownPrefixesStandBehind learns from lines that begin alike.
func TestALeadIsWhatKnownPrefixesStandBehind(t *testing.T) {
	t.Parallel()
	known := []string{"[rank0]: step 1", "2026-03-01 09:00:00,123 INFO text", "(WorkerDict pid=12) text", "plain words", "INFO 05-18 10:00:00 [core.py:12] x", "[rank1]: step 2"}
	for name, c := range map[string]struct {
		form func(i int) string
		lead string // of the line with the number 7
	}{
		"a word":                  {func(int) string { return "stderr- " }, "stderr- "},
		"a counter":               {func(i int) string { return fmt.Sprintf("%4d | ", 9*i) }, "  63 "}, // a bar is known
		"a clock":                 {func(i int) string { return fmt.Sprintf("09:00:%02d  ", i) }, "09:00:07  "},
		"blanks":                  {func(int) string { return "   " }, "   "},
		"behind a known stamp":    {func(i int) string { return fmt.Sprintf("2026-03-01 09:00:%02d +00:00: ", i) }, "2026-03-01 09:00:07 +00:00: "},
		"in color":                {func(int) string { return "\x1b[33mtrain-0\x1b[0m - " }, "\x1b[33mtrain-0\x1b[0m - "},
		"a bar's state":           {func(int) string { return "\rTraining: 12%| 12/100 [00:31<03:48]\r" }, "\rTraining: 12%| 12/100 [00:31<03:48]\r"},
		"a box":                   {func(int) string { return " │" }, " │"},
		"a bracket of Chinese":    {func(int) string { return "【训练】" }, "【训练】"},
		"a known prefix":          {func(int) string { return "[rank3]: " }, ""},
		"nothing":                 {func(int) string { return "" }, ""},
		"a comment":               {func(int) string { return "# " }, ""},
		"a changed line":          {func(int) string { return "+" }, ""},
		"a shell's trace":         {func(int) string { return "+ " }, ""},
		"an open quote":           {func(int) string { return `log="` }, ""},
		"a record":                {func(int) string { return `{"text": "` }, ""},
		"another one on each":     {func(i int) string { return []string{"abc ", "def ", "ghi "}[i%3] }, ""},
		"the label of a task":     {func(i int) string { return fmt.Sprintf("train | %d: ", i%4) }, "train |"},
		"tasks behind blanks":     {func(i int) string { return fmt.Sprintf("       %d: ", i%4) }, "       "},
		"tasks behind a time":     {func(i int) string { return fmt.Sprintf("09:00:%02d %d: ", i, 5-i%2) }, "09:00:07 "},
		"the number of a line":    {func(i int) string { return fmt.Sprintf("train | %d: ", i+1) }, "train | 8: "},
		"the number of a node":    {func(i int) string { return fmt.Sprintf("vm %d: ", i%2) }, "vm 1: "},
		"a zone":                  {func(int) string { return "09:00 +5:30: " }, "09:00 +5:30: "},
		"a number before a colon": {func(i int) string { return fmt.Sprintf("%d: ", i) }, ""},
	} {
		var l lead
		for i := range 12 {
			l.learn([]byte(c.form(i) + known[i%len(known)]))
		}
		line := c.form(7) + "text"
		assert.Equal(t, c.lead, line[:l.length([]byte(line))], name)
	}
	for name, c := range map[string]struct{ form, first, other, lead string }{
		"a traceback behind it":         {"→ %s", "Traceback (most recent call last):", "text", "→ "},
		"a runtime's line behind it":    {"→ %s", `  File "a.py", line 1, in f`, "text", "→ "},
		"a library's line behind it":    {"app: %s", "ggml_cuda_init: found 2 CUDA devices", "text", "app: "},
		"one message behind it":         {"[train-gpu] %s", "[rank0]: step 1", "key: value", "[train-gpu] "},
		"a task's line behind it":       {"→ %s", "0: terminate called after throwing it", "0: text", "→"},
		"a message of mpirun behind it": {"a-1 %s", "[1,0]<stdout>:rank 0", "[1,1]<stdout>:it", "a-1 "},
		"nothing known behind it":       {"step %s", "of 12", "of 13", ""},
		"a program's own word":          {"error: %s", "Detected 1 oom-kill event(s)", "text", ""},
		"a comment":                     {"# %s", "Traceback (most recent call last):", "text", ""},
	} {
		var l lead
		for i := range leadAll {
			text := c.other + fmt.Sprint(" ", i)
			if i == 5 {
				text = c.first
			}
			l.learn([]byte(fmt.Sprintf(c.form, text)))
		}
		l.learn([]byte(fmt.Sprintf(c.form, c.first)))
		line := fmt.Sprintf(c.form, "more")
		assert.Equal(t, c.lead, line[:l.length([]byte(line))], name)
	}
	var l lead
	for i := range 12 {
		l.learn([]byte(fmt.Sprintf(`%2d: {"time": "2026-03-01T09:00:00Z", "level": "INFO", "message": "text"}`, i)))
	}
	assert.False(t, l.known, "records behind the label of a task")
	for i := range 12 {
		l.learn([]byte(fmt.Sprintf("step %d of 12: loss 2.1", i)))
	}
	assert.False(t, l.known, "words with nothing known behind them")
}

// TestAPartOfALeadMayLookLikeAPrefix reads lines behind a container's name, which looks like a process before an indented line.
func TestAPartOfALeadMayLookLikeAPrefix(t *testing.T) {
	t.Parallel()
	const before = "<1 March 2026, 9h00> {pod.py:418} INFO - [base] "
	var l lead
	for _, text := range []string{"[2025-12-02 05:20:11] [x.py (43)] [INFO] text", "num: 8", "    key: x", "    other: y", "    last: z"} {
		l.learn([]byte(before + text))
	}
	assert.True(t, l.known)
	assert.Equal(t, len(before), l.length([]byte(before+"text")))
}

// TestAFailureBeforeItsLeadIsKnownIsRead reads short logs in which nothing but the lead shows that a message begins its line.
func TestAFailureBeforeItsLeadIsKnownIsRead(t *testing.T) {
	t.Parallel()
	const death = `  File "a.py", line 1, in f` + "\n    x()\nMemoryError\n"
	for name, c := range map[string]struct {
		log     string
		failure bool
		pid     int
	}{
		"two lines":            {"Traceback (most recent call last):\n" + death, true, 0},
		"the end of one":       {death, true, 0},
		"before the next one":  {death + "\n2026-03-01 09:00:00,123 INFO text\nTraceback (most recent call last):\n", true, 0},
		"no line of a runtime": {"x = 1\nMemoryError\n", false, 0},
		"a worker's lines":     {"(W pid=7) " + strings.TrimSuffix(strings.ReplaceAll("text\nTraceback (most recent call last):\n"+death, "\n", "\n(W pid=7) "), "(W pid=7) "), true, 7},
	} {
		kept := lines("→ ", c.log)
		for _, chunk := range []int{1, len(kept)} {
			failed, pid := 0, 0
			r := NewReader("log", func(o parser.Observation) {
				if e, ok := o.(parser.Event); ok && e.Kind == parser.HostOOM {
					failed++
					pid = e.Header.PID
				}
			})
			for rest := kept; len(rest) > 0; rest = rest[min(chunk, len(rest)):] {
				_, _ = r.Write([]byte(rest[:min(chunk, len(rest))]))
			}
			r.Close()
			assert.Equal(t, c.failure, failed == 1, "%s, %d bytes at a time", name, chunk)
			assert.Equal(t, c.pid, pid, "%s, %d bytes at a time", name, chunk)
		}
	}
}

func lines(before, text string) string {
	return before + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+before) + "\n"
}
