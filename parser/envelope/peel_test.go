package envelope_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/parser/envelope"
)

func TestProseStays(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"", " ", "text", "warning: x", "error: y", "Error: z", "ERROR: y", "WARNING: The following", "RuntimeError: x", "Failed: x",
		"CUDA error: out of memory", "node: text", "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0.",
		"slurmstepd-node01: error: Detected 1 oom-kill event(s) in StepId=7.0.", "srun: error: node01: task 1: Out Of Memory",
		"/var/spool/slurmd/job00014/slurm_script: line 7: 23855 Killed                  python3 hog.py", "bash: line 1: 7 Killed",
		"python3: can't open file", "python3.10: x", "train2.py: x", "model-00001-of-00004.safetensors:  45%|████", "acc1: 0.91", "cv2.error: OpenCV(4.5.2) alloc.cpp:73", "zlib.error: Error -3",
		"rank0: text", "epoch12: loss", "gpu0: 12 GiB", "h100: fast", "Qwen2ForCausalLM: x", "torch2: x", "  File \"a.py\", line 1, in f",
		"    3", "1: 0xb78db3 node::OOMErrorHandler(char const*) [node]", "  12: std::rt::lang_start", "[3]:", "[3]: text", "[1]:",
		"[prepare] loading 1024 parquet shards", "[kubeflow] launcher: x", "[0.5, 0.25]", "[1, 2]",
		"(size 4096)", "(auto detect)", "(most recent call last):", "(see pid=12, why)", "(x(pid=1) y",
		"+ python3 -m verl.trainer.main_ppo", "311860\t45.2\tray::WorkerDict", "> File \"x\"", ">>> x", "[30m left]", "took [5m",
		`{"log": 1}`, `{"log":"x\ny"}`, `{"message":"x","a":1}`, `{"log":"x","stream":"stderr"`, `{'loss': 2.0}`,
		"2025-13-01 10:00:00 x", "2025-02-30 10:00:00 x", "10:00:00 x", "10-11 x", "12 passed", "W1011x", "E", "[E", "[E]", "INFO", "INFO:",
		"Jun  1 10:00:00 2025", "Jun  1 is late", "Sun 2025", "kern", "kern :", "3:", "P0", `{"role":"user","content":"x","time":"2025-06-01T10:00:00Z"}`, `{"source":"web","content":"x"}`, "level=3 of 4", "[pod/", "[default",
		"│ 3 │", "CPU: 37 PID: 104861 Comm: python", "[ 104861]  2001 104861", "step 12: x", "0:12:13", "worker-0 failed", "loss | 2.3", "[Gloo] Rank 1 is connected",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			body, h := envelope.Peel([]byte(line))
			assert.Equal(t, line, string(body))
			assert.Equal(t, envelope.NewHeader(), h)
		})
	}
}

func TestATracebackOnOneLineHasItsLinesBack(t *testing.T) {
	t.Parallel()
	const lines = "Traceback (most recent call last):\n  File \"t.py\", line 1, in f\n    g()\nE: why"
	for _, newline := range []string{"#012", `\n`, `\x0a`, " ↵ "} {
		body, _ := envelope.Peel([]byte(strings.ReplaceAll("it failed: "+lines, "\n", newline)))
		assert.Equal(t, "it failed: "+strings.TrimRight(lines, " "), string(body), newline)
	}
	for name, line := range map[string]string{
		"a value":          `{'text': 'Traceback (most recent call last):\n  File "t.py", line 1'}`,
		"a quotation":      `the message "Traceback (most recent call last):#012  File "t.py", line 1`,
		"blanks":           `Traceback (most recent call last):   File "t.py", line 1, in f     g() E: why`,
		"a sign":           `Traceback (most recent call last):.  File "t.py", line 1, in f.    g().E: why`,
		"no newline":       `Traceback (most recent call last):  File "t.py", line 1`,
		"words in between": `Traceback (most recent call last): as above  File "t.py", line 1`,
	} {
		body, _ := envelope.Peel([]byte(line))
		assert.Equal(t, line, string(body), name)
	}
}

func TestTerminalSequencesGo(t *testing.T) {
	t.Parallel()
	for line, body := range map[string]string{
		"a\x1b[1mb\x1b[0mc":                  "abc",
		"a\x1b]0;title\x07b\x1b]8;;u\x1b\\c": "abc",
		"a\x1b(Bb\x1b=c\x1b7":                "abc",
		"a\x1b":                              "a",
		"a\x1b[":                             "a[",
		"a\x1b]0;never ends":                 "a]0;never ends",
		"a\x1b[Ab\x1b[2Kc\x1b[?25l":          "abc",
		`a\x1b[31mb\033[0mc`:                 "abc",
		"\ufffd[31ma\u241b[0m \ufffd":        "a \ufffd",
		"\fa":                                "a",
		"[1;31ma[0m b[3]":                    "a b[3]",
		"\x00\x00\xef\xbb\xbfa\r":            "a",
	} {
		got, _ := envelope.Peel([]byte(line))
		assert.Equal(t, body, string(got), "%q", line)
	}
}

func TestBodySharesTheLine(t *testing.T) {
	t.Parallel()
	line := []byte("(W pid=1) [rank0]: text")
	body, _ := envelope.Peel(line)
	line[len(line)-1] = '!'
	assert.Equal(t, "tex!", string(body))
}

func TestNestingIsBounded(t *testing.T) {
	t.Parallel()
	line := ""
	for range 20 {
		line += "> "
	}
	body, _ := envelope.Peel([]byte(line + "x"))
	assert.Equal(t, line[16:]+"x", string(body))
}

func TestOneMessageHasOneStream(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]string{
		"SGLang": {"(E pid=1) [2025-03-17 10:41:14 TP0] Traceback (most recent call last):", "(E pid=1)   File \"x\""},
		"vLLM":   {"(EngineCore pid=1) ERROR 12-03 11:20:10 [core.py:844] x", "(EngineCore pid=1) ValueError: x"},
		"raylet": {"(raylet) [2025-08-06 22:10:45,331 E 1 1] (raylet) node_manager.cc:3193: x", "(raylet) "},
		"c10":    {"[rank3]:[E601 10:00:00.123456789 a.cpp:607] x", "[rank3]: x"},
		"NCCL":   {"node01:1:2 [0] a.cc:1 NCCL WARN x", "x"},
	} {
		var streams []string
		for _, l := range lines {
			_, h := envelope.Peel([]byte(l))
			streams = append(streams, h.Stream)
		}
		assert.Equal(t, streams[0], streams[1], name)
	}
}

// TestWhatACollectorTookIsFoundBehindAStamp reads labels and records that were there before a supervisor's stamp.
func TestWhatACollectorTookIsFoundBehindAStamp(t *testing.T) {
	t.Parallel()
	const stamp = "2026-03-01 09:00:00,123 "
	body, h := envelope.Peel([]byte(stamp + "[1,2]<stderr>:frame #6: at"))
	assert.Equal(t, "frame #6: at", string(body))
	assert.Equal(t, 2, h.Task)
	for _, text := range []string{"Traceback (most recent call last):", "terminate called after throwing an instance of 'std::bad_alloc'"} {
		body, h = envelope.Peel([]byte(stamp + "3: " + text))
		assert.Equal(t, text, string(body))
		assert.Equal(t, 3, h.Task)
	}
	body, h = envelope.Peel([]byte(stamp + `{"log":"text\n","stream":"stderr","time":"2026-03-01T09:00:00Z"}`))
	assert.Equal(t, "text", string(body))
	assert.Equal(t, "cstderr", h.Stream)
	own := `{"message":"text","level":"info"}`
	body, _ = envelope.Peel([]byte(stamp + own))
	assert.Equal(t, own, string(body), "a program's own record")
}
