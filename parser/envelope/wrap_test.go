package envelope_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser/envelope"
)

// wrapper puts one prefix around a text. Those of a lower layer may stand around those of a higher one.
type wrapper struct {
	name  string
	layer int
	wrap  func(string) string
}

func before(label string) func(string) string { return func(s string) string { return label + s } }

const (
	layerRecord = iota
	layerSyslog
	layerLaunch
	layerLocal
	layerRay
	layerRank
	layerEngine
	layerLogger
	layerRaw // only around the bare text: it has a form of its own
)

var wrappers = []wrapper{
	{"docker", layerRecord, func(s string) string {
		q, _ := json.Marshal(s + "\n")
		return `{"log":` + string(q) + `,"stream":"stderr","time":"2025-06-01T10:00:00.1Z"}`
	}},
	{"CRI", layerRecord, before("2025-06-01T10:00:00.123456789Z stderr F ")},
	{"kubectl", layerRecord, before("[pod/job-0/main] ")},
	{"kubectl -t", layerRecord, before("2025-06-01T10:00:00.123Z ")},
	{"journald", layerSyslog, before("Jun  1 10:00:00 node01 python[123]: ")},
	{"rsyslog", layerSyslog, before("2025-06-01T10:00:00.123+02:00 node01 app[1]: ")},
	{"RFC 5424", layerSyslog, before("<11>1 2025-06-01T10:00:00Z node01 app 12 - - ")},
	{"dmesg", layerSyslog, before("[12345.678901] ")},
	{"dmesg -T", layerSyslog, before("[Sun Jun  1 10:00:00 2025] ")},
	{"pdsh", layerLaunch, before("node01: ")},
	{"mpirun", layerLaunch, before("[1,3]<stderr>: ")},
	{"srun", layerLaunch, before(" 3: ")},
	{"srun het", layerLaunch, before("P0 3: ")},
	{"torchrun", layerLocal, before("[default0]:")},
	{"Ray", layerRay, before("(WorkerDict pid=1, ip=10.0.0.1) ")},
	{"Ray in colour", layerRay, func(s string) string {
		return "\x1b[36m(f g[1]:x pid=1)\x1b[0m " + s + "\x1b[32m [repeated 7x across cluster]\x1b[0m"
	}},
	{"raylet", layerRay, before("(raylet, ip=10.0.0.1) ")},
	{"rank", layerRank, before("[rank3]: ")},
	{"engine", layerEngine, before("\x1b[1;36m(EngineCore_DP0 pid=2)\x1b[0;0m ")},
	{"c10", layerLogger, before("[E601 10:00:00.123456789 ProcessGroupNCCL.cpp:607] ")},
	{"torch", layerLogger, before("W0601 10:00:00.123000 139871 torch/x.py:1] ")},
	{"Ray C++", layerLogger, before("[2025-08-06 22:10:45,331 E 1 1] (raylet) node_manager.cc:3193: ")},
	{"Ray Python", layerLogger, before("2025-02-18 03:11:27,113\tINFO worker.py:1879 -- ")},
	{"vLLM", layerLogger, before("ERROR 12-03 11:20:10 [core.py:844] ")},
	{"vLLM to 0.7", layerLogger, before("ERROR 12-03 11:20:10 core.py:844] ")},
	{"SGLang", layerLogger, before("[2025-03-17 10:41:14 DP0 TP1] ")},
	{"AReaL", layerLogger, before("(AReaL) 20250601-10:11:12.345 RolloutController INFO: ")},
	{"Hydra", layerLogger, before("[2025-06-01 10:00:00,123][mod][ERROR] - ")},
	{"verl", layerLogger, before("ERROR:2025-06-01 10:00:00,123:")},
	{"loguru", layerLogger, before("2025-06-01 10:00:00.123 | ERROR    | mod:fn:12 - ")},
	{"transformers", layerLogger, before("[INFO|trainer.py:2000] 2025-06-01 10:00:00,123 >> ")},
	{"DeepSpeed", layerLogger, before("[2025-08-14 05:11:04,208] [INFO] [engine.py:1:fn] [Rank 0] ")},
	{"NeMo", layerLogger, before("[NeMo I 2025-06-01 10:00:00 nemo_logging:393] ")},
	{"wandb", layerLogger, before("wandb: ")},
	{"NCCL", layerRaw, func(s string) string {
		if !strings.HasPrefix(s, "NCCL ") {
			return s
		}
		return "node01:1:2 [3] include/alloc.h:103 " + s
	}},
}

// texts are words of programs; none of them looks like a prefix.
var texts = []string{
	"", "text", "  File \"/a/b.py\", line 12, in f", "    loss.backward()", "            ^^^^^^^^", "Traceback (most recent call last):",
	"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.10 GiB",
	"NCCL WARN Cuda failure 2 'out of memory'", "Killed process 7 (python) total-vm:1kB", "bytes \xff\xfe and \u2588",
	"slurmstepd: error: Detected 1 oom_kill event in StepId=1.0.", "+ echo x", "{'loss': 2.1, 'x': [1, 2]}", "Epoch 3:  45%|#### | 9/20 [00:10<00:12]",
}

func TestWhatIsWrappedIsPeeled(t *testing.T) {
	t.Parallel()
	for _, w := range wrappers {
		for _, text := range texts {
			checkWrapped(t, w.wrap(text), text, w.name)
		}
	}
}

func TestNestedWrappersArePeeled(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		text := texts[rnd.IntN(len(texts))]
		line, name, layer := text, "", len(wrappers)
		for range 1 + rnd.IntN(4) {
			w := wrappers[rnd.IntN(len(wrappers))]
			if w.layer >= layer {
				continue
			}
			line, name, layer = w.wrap(line), w.name+" "+name, w.layer
		}
		checkWrapped(t, line, text, name)
	}
}

func checkWrapped(t *testing.T, line, text, name string) {
	t.Helper()
	if strings.HasPrefix(line, "{") {
		text = strings.ToValidUTF8(text, "\ufffd") // json.Marshal did that
		text = strings.ReplaceAll(text, "\ufffd", "")
	}
	body, _ := envelope.Peel([]byte(line))
	got := string(body)
	if strings.HasPrefix(line, "{") {
		got = strings.ReplaceAll(got, "\ufffd", "")
	}
	require.Equal(t, text, got, "%s: %q", name, line)
}

func collect(line string) []string {
	var segs []string
	envelope.Segments([]byte(line), func(seg []byte) bool {
		segs = append(segs, string(seg))
		return true
	})
	return segs
}

func TestSegments(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"":                           {""},
		"\r":                         {""},
		"text\r":                     {"text"},
		"\x00text":                   {"text"},
		"\xef\xbb\xbftext":           {"text"},
		"\ra\rb\r\rc":                {"a", "b", "c"},
		"(T pid=1) \rTraining:  0%":  {"(T pid=1) ", "Training:  0%"},
		"loss=5.46][rank0]:[E709 x]": {"loss=5.46]", "[rank0]:[E709 x]"},
		"bar [rank0]: a[rank1]: b":   {"bar ", "[rank0]: a", "[rank1]: b"},
		"[rank0]: text":              {"[rank0]: text"},
		"(W pid=1) ERROR 12-03 11:20:10 [c.py:1] [rank0]: text":    {"(W pid=1) ERROR 12-03 11:20:10 [c.py:1] [rank0]: text"},
		"[default0]:[rank0]: text":                                 {"[default0]:[rank0]: text"},
		"(A pid=1) (EngineCore pid=2) text":                        {"(A pid=1) (EngineCore pid=2) text"},
		"2025-06-01T10:00:00Z stderr F (A pid=1) text":             {"2025-06-01T10:00:00Z stderr F (A pid=1) text"},
		"9/20 [00:10<00:12,  1.1s/it](W pid=1) text":               {"9/20 [00:10<00:12,  1.1s/it]", "(W pid=1) text"},
		"9/20 [00:10<00:12,  1.1s/it]   (W pid=1) text":            {"9/20 [00:10<00:12,  1.1s/it]   ", "(W pid=1) text"},
		"9/20 [00:10<00:12,  1.1s/it](raylet) text":                {"9/20 [00:10<00:12,  1.1s/it]", "(raylet) text"},
		"9/20 [00:10<00:12, 1.1s/it]\x1b[33m(raylet)\x1b[0m x":     {"9/20 [00:10<00:12, 1.1s/it]", "\x1b[33m(raylet)\x1b[0m x"},
		"node_manager.cc:3099: (raylet) text":                      {"node_manager.cc:3099: (raylet) text"},
		"text\x1b[2m\x1b[36m(W pid=1)\x1b[0m x":                    {"text", "\x1b[2m\x1b[36m(W pid=1)\x1b[0m x"},
		"\x1b[36m(W pid=1)\x1b[0m \x1b[1m(E pid=2)\x1b[0m x":       {"\x1b[36m(W pid=1)\x1b[0m \x1b[1m(E pid=2)\x1b[0m x"},
		"the actor (Worker pid=12) died":                           {"the actor (Worker pid=12) died"},
		"ray::W.f() (pid=12, ip=10.0.0.1)":                         {"ray::W.f() (pid=12, ip=10.0.0.1)"},
		`level=info msg="[1,6]<stderr>: [rank0]: text"`:            {`level=info msg="[1,6]<stderr>: [rank0]: text"`},
		`level=info msg="[rank0]: text"`:                           {`level=info msg="[rank0]: text"`},
		"2025-06-01T10:00:00Z stderr P \x1b[36m(A pid=1)\x1b[0m x": {"2025-06-01T10:00:00Z stderr P \x1b[36m(A pid=1)\x1b[0m x"},
		`{"log":"x [rank0]: y\n","stream":"stderr"}`:               {`{"log":"x [rank0]: y\n","stream":"stderr"}`},
		`t-0 | {"msg": "[rank0]: y", "level": "info"}`:             {`t-0 | {"msg": "[rank0]: y", "level": "info"}`},
	} {
		assert.Equal(t, want, collect(line), "%q", line)
	}
}

func TestSegmentsStopWhenTold(t *testing.T) {
	t.Parallel()
	n := 0
	envelope.Segments([]byte("a\rb\rc"), func([]byte) bool { n++; return n < 2 })
	assert.Equal(t, 2, n)
}

func TestHostileLinesCostTheirLength(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{
		"x[rank1]: y", "](W pid=1) ", "a(a(a( pid=", "\x1b]", "\x1b[", "[1m[0m", `{"`, "(((( pid=1)", "[repeated ", "> ", "2025-01-01 ", "\r",
	} {
		line := bytes.Repeat([]byte(unit), 1<<16/len(unit))
		start := time.Now()
		_, h := envelope.Peel(line)
		envelope.Segments(line, func(seg []byte) bool {
			new(envelope.Peeler).PeelInherit(seg, h)
			return true
		})
		assert.Less(t, time.Since(start), 20*time.Second, // a second at most; minutes if it were quadratic
			"%q", unit)
	}
}

func FuzzPeel(f *testing.F) {
	for _, w := range wrappers {
		f.Add([]byte(w.wrap("NCCL WARN text")))
	}
	f.Add([]byte("\x1b]\x1b[;\x1b(\x1b"))
	f.Add([]byte(`{"log":"\ud800\u12","stream":"","time":""}`))
	f.Add([]byte("(a(b pid=1)(c pid=2)\x1b[m(d pid=3) [rank1]: "))
	f.Add([]byte("0: 3%] (a pid=1) x [repeated 3x across cluster]\r[rank1]: y"))
	f.Fuzz(func(t *testing.T, line []byte) {
		orig := bytes.Clone(line)
		body, h := envelope.Peel(line)
		assert.LessOrEqual(t, len(body), len(line))
		assert.NotContains(t, string(body), "\x1b")
		assert.GreaterOrEqual(t, h.Rank, envelope.Unknown)
		n := 0
		envelope.Segments(line, func(seg []byte) bool {
			n += len(seg)
			inner, _ := new(envelope.Peeler).PeelInherit(seg, h)
			assert.LessOrEqual(t, len(inner), len(seg))
			return true
		})
		assert.LessOrEqual(t, n, len(line))
		assert.Equal(t, orig, line, "the line is only read")
	})
}

func BenchmarkPeel(b *testing.B) {
	for name, line := range map[string]string{
		"ray-vllm": "\x1b[36m(vLLMHttpServer pid=20788, ip=10.1.1.6)\x1b[0m (EngineCore_DP0 pid=21402) INFO 12-03 11:20:10 [loggers.py:161] Engine 000: Avg prompt throughput: 3865.6 tokens/s",
		"rank":     "[rank3]:   File \"/opt/x/train.py\", line 12, in main",
		"plain":    "    loss = model(**batch).loss",
	} {
		b.Run(name, func(b *testing.B) {
			data := []byte(line)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			var w envelope.Peeler
			for b.Loop() {
				w.Peel(data)
			}
		})
	}
}

func BenchmarkSegments(b *testing.B) {
	data := []byte("\x1b[36m(WorkerDict pid=20788, ip=10.1.1.6)\x1b[0m step:12 - actor/pg_loss:0.1 - timing_s/gen:12.3")
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		envelope.Segments(data, func([]byte) bool { return true })
	}
}
