package stream

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser"
)

// TestKernelWordsLeadToTheirLines keeps reports of the kernel from being skipped: each word is part of a literal or holds one.
func TestKernelWordsLeadToTheirLines(t *testing.T) {
	t.Parallel()
	for _, w := range []string{"oom-kill:constraint=", "Killed process 1 ", "Kill process 1 (a) score 1 or sacrifice child"} {
		assert.NotEmpty(t, builtin().finder.Scan([]byte(w), 0, len(w), nil), w)
	}
}

// TestATracebackIsCutOffWhereOtherTextFollows as where the input ends, unless it goes on behind that text.
func TestATracebackIsCutOffWhereOtherTextFollows(t *testing.T) {
	t.Parallel()
	const frame = "  File \"a.py\", line 1, in f\n    x()\n"
	for behind, want := range map[string]string{
		"":      "1 frames, ends at 0: ",
		"```\n": "1 frames, ends at 0: ",
		"```\nThread 0x1 (most recent call first):\n  File \"a.py\", line 1 in g\n\nbye\n": "1 frames, ends at 0: ",
		"}\nmore text\n\n":                     "1 frames, ends at 0: ",
		"step 7\n" + frame + "ValueError: y\n": "2 frames, ends at 7: ValueError",
	} {
		var got []string
		_, err := Read("log", strings.NewReader("Traceback (most recent call last):\n"+frame+behind), func(o parser.Observation) {
			if e, ok := o.(parser.Event); ok {
				got = append(got, fmt.Sprintf("%d frames, ends at %d: %s", len(e.Trace.Frames), e.Trace.EndLine, e.Trace.Exception))
			}
		})
		require.NoError(t, err)
		assert.Equal(t, []string{want}, got, "%q", behind)
	}
}

// TestRaysHeadingIsRead: it names the worker that failed, wherever it stands, and is colored where Ray writes to a terminal.
func TestRaysHeadingIsRead(t *testing.T) {
	t.Parallel()
	for _, heading := range []string{"ray::W.f() (pid=7, ip=10.0.0.1)", "\x1b[36mray::W.f()\x1b[39m (pid=7, ip=10.0.0.1)"} {
		log := strings.Repeat("step\n", headLines+10) + "(T pid=1) Unhandled error: " + heading + "\n(T pid=1)   File \"a.py\", line 1, in f\n(T pid=1)     x()\n" +
			"(T pid=1) torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
		var raised []int
		_, err := Read("log", strings.NewReader(log), func(o parser.Observation) {
			if e, ok := o.(parser.Event); ok && e.Trace != nil {
				raised = append(raised, e.Trace.Origin.PID)
			}
		})
		require.NoError(t, err)
		assert.Equal(t, []int{7}, raised, heading)
	}
}

// TestAFollowerWaitsForLinesOfTheLog: rows that were joined to the line before are none.
func TestAFollowerWaitsForLinesOfTheLog(t *testing.T) {
	t.Parallel()
	for between, want := range map[string][]string{
		"":                              {"xla.exhausted", "xla.wrapped"},
		strings.Repeat(Quoted+"\n", 30): {"xla.exhausted", "xla.wrapped"},
		"another line\n":                {"xla.exhausted"},
	} {
		var got []string
		log := "Execution of replica 0 failed: RESOURCE_EXHAUSTED: Out \n" + between + "of memory while trying to allocate 12884901888 bytes.\n"
		_, err := Read("log", strings.NewReader(log), func(o parser.Observation) {
			if e, ok := o.(parser.Event); ok {
				got = append(got, e.Pattern)
			}
		})
		require.NoError(t, err)
		assert.Equal(t, want, got, "%q", between)
	}
}

// twoKills are two reports of the kernel with other lines around them. The second one names its victim and does not kill it.
const twoKills = `[100.000001] eth0: link up
[101.554120] python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
[101.554127] memory: usage 134217728kB, limit 134217728kB, failcnt 2193372
[101.554130] Tasks state (memory values in pages):
[101.554131] [  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name
[101.554132] [ 104790] 20417 104790  3227001   691185  9830400        0             0 python
[101.554140] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0-1,oom_memcg=/slurm/uid_20417/job_88123,task_memcg=/slurm/uid_20417/job_88123/step_0/task_3,task=python,pid=104790,uid=20417
[101.554150] Memory cgroup out of memory: Killed process 104790 (python) total-vm:12908004kB, anon-rss:2764740kB, file-rss:0kB, shmem-rss:0kB, UID:20417 pgtables:9600kB oom_score_adj:0
[101.600000] oom_reaper: reaped process 104790 (python), now anon-rss:0kB, file-rss:0kB, shmem-rss:0kB
[205.000001] bash invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
[205.000002] oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0-1,global_oom,task_memcg=/user.slice,task=ray::W,pid=77,uid=0
`

// TestKernelReportsReadTheSameFromTwoPieces cuts two reports at every byte.
func TestKernelReportsReadTheSameFromTwoPieces(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("the race detector makes it slow, and it has one goroutine")
	}
	want := seen(twoKills, 1<<20)
	require.Len(t, slices.DeleteFunc(slices.Clone(want), func(o string) bool { return !strings.Contains(o, "kernel.report") }), 2, "%q", want)
	for cut := 1; cut < len(twoKills); cut++ {
		got := seenIn(twoKills[:cut], twoKills[cut:])
		require.Equal(t, want, got, "cut before %.40q", twoKills[cut:])
	}
}

// TestAReportThatEndsLateIsJudgedByItsOwnLine: what follows a kill for longer than is kept of the input tells nothing about it, wherever
// the pieces of the input end.
func TestAReportThatEndsLateIsJudgedByItsOwnLine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3000)
	for about, row := range map[string]string{
		"changes":     "+added " + long + "\n",
		"a quotation": "> [the guide](guide.md) " + long + "\n",
		"a table":     "|---|---|\n| " + long + " | b |\n",
		"text":        long + "\n",
	} {
		log := twoKills + strings.Repeat(row, 40)
		want := seen(twoKills, 1<<20)
		for _, chunk := range []int{11, 4099, 65536, 1 << 20} {
			assert.Equal(t, want, seen(log, chunk), "%s in chunks of %d bytes", about, chunk)
		}
	}
}

// TestPartsOfALineAreReadAsOne cuts a message where a part has none of its words, as container runtimes do, and writes other lines behind.
func TestPartsOfALineAreReadAsOne(t *testing.T) {
	t.Parallel()
	const form = "2026-03-01T09:00:00.1Z stderr %s %s\n"
	const cause = "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.11 GiB "
	for at := range cause {
		var events []parser.Event
		r := NewReader("log", func(o parser.Observation) {
			if e, ok := o.(parser.Event); ok {
				events = append(events, e)
			}
		}, Patterns(headless()))
		_, _ = fmt.Fprintf(r, form+form+form+form, "P", cause[:at], "P", cause[at:], "F", "of which 1.00 GiB is free.", "F", "words")
		r.Close()
		require.Len(t, events, 1, at)
		assert.Equal(t, "1073741824", events[0].Fields["free"], at)
		assert.Equal(t, 3, events[0].Header.Rank, at)
	}
}
