package stream

import (
	"strings"
	"testing"

	"oomscan/parser"
	"oomscan/parser/pattern"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhatAServerLogsOfARequestIsNoEvent reads records that quote every kind of report, and a failure behind them.
func TestWhatAServerLogsOfARequestIsNoEvent(t *testing.T) {
	t.Parallel()
	read := func(log string) []parser.Observation {
		var out []parser.Observation
		_, err := Read("log", strings.NewReader(log), func(o parser.Observation) { out = append(out, o) })
		require.NoError(t, err)
		return out
	}
	const oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free."
	long := strings.Repeat("my card is full. ", 2*pattern.MaxMessage/16)
	for _, text := range []string{
		oom,
		"Out of memory: Killed process 4121 (python3) total-vm:91234564kB, anon-rss:65011220kB, file-rss:0kB",
		"slurmstepd: error: Detected 1 oom_kill event in StepId=771.0. Some of the step tasks have been OOM Killed.",
		"Root Cause (first observed failure):\\n[0]:\\n  rank      : 3 (local_rank: 3)",
		long + oom,
		strings.Repeat(long, DefaultLine/len(long)+1) + oom,
	} {
		for _, record := range []string{
			"[2026-05-18 09:02:33] Receive: obj=GenerateReqInput(rid='d1', text=\"%\", stream=True)",
			"[2026-05-18 09:02:33] Finish: obj=GenerateReqInput(rid='d1', text='hello'), out={'text': \"%\", 'meta_info': {}}",
			"INFO 05-18 09:02:33 [logger.py:43] Received request chatcmpl-1: prompt: '%', params: SamplingParams(n=1).",
			"(APIServer pid=7) INFO 05-18 09:02:33 [logger.py:80] Generated response chatcmpl-1: output: '%', finish_reason: stop",
			"2026-05-18T09:02:33Z DEBUG proxy: {\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"%\"}]}",
		} {
			line := strings.ReplaceAll(record, "%", text) + "\n"
			for _, o := range read(line) {
				_, event := o.(parser.Event)
				assert.False(t, event, "%.200s", line)
			}
			events := 0
			for _, o := range read(line + oom + "\n") {
				if e, ok := o.(parser.Event); ok {
					assert.Equal(t, 2, e.At.Line)
					events++
				}
			}
			assert.Equal(t, 1, events, "%.200s", line)
		}
	}
}
