package envelope_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"oomscan/parser/envelope"
)

// head builds the header of one row.
type head func(*envelope.Header)

func want(fs ...head) envelope.Header {
	h := envelope.NewHeader()
	for _, f := range fs {
		f(&h)
	}
	return h
}

func at(clock, stamp string) head {
	return func(h *envelope.Header) {
		t, err := time.Parse("2006-01-02T15:04:05.999999999", stamp)
		if err != nil {
			panic(err)
		}
		h.Clock, h.Time = clock, t
	}
}

func said(level byte, logger string) head {
	return func(h *envelope.Header) { h.Level, h.Logger = level, logger }
}

func stream(s string) head { return func(h *envelope.Header) { h.Stream = s } }
func host(s string) head   { return func(h *envelope.Header) { h.Host = s } }
func rank(n int) head      { return func(h *envelope.Header) { h.Rank = n } }
func localRank(n int) head { return func(h *envelope.Header) { h.LocalRank = n } }
func task(n int) head      { return func(h *envelope.Header) { h.Task = n } }
func device(n int) head    { return func(h *envelope.Header) { h.Device = n } }
func pid(n int) head       { return func(h *envelope.Header) { h.PID = n } }
func parent(n int) head    { return func(h *envelope.Header) { h.Parent = n } }
func repeats(n int) head   { return func(h *envelope.Header) { h.Repeats = n } }
func partial() head        { return func(h *envelope.Header) { h.Partial = true } }
func process(names ...string) head {
	return func(h *envelope.Header) { h.Actor, h.Process = names[0], names[len(names)-1] }
}

func axes(tp, dp, pp, ep int) head {
	return func(h *envelope.Header) { h.TP, h.DP, h.PP, h.EP = tp, dp, pp, ep }
}

const no = envelope.Unknown

// row is a line, its text and its header.
type row struct {
	name, line, body string
	want             envelope.Header
}

func check(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			body, h := envelope.Peel([]byte(r.line))
			assert.Equal(t, r.body, string(body))
			assert.Equal(t, r.want, h)
		})
	}
}

func TestCollectorsArePeeled(t *testing.T) {
	t.Parallel()
	check(t, []row{
		{
			"a stamp and a tab", "2025-09-14 21:27:58\tTraceback (most recent call last):", "Traceback (most recent call last):",
			want(at("local", "2025-09-14T21:27:58")),
		},
		{
			"two stamps, a tab between them", "2025-09-14 21:27:58\t2025-09-14 21:27:58.250 [INFO] step 3", "step 3",
			want(at("local", "2025-09-14T21:27:58"), said('I', "")),
		},
		{
			"copied out of Logs Explorer", "INFO 2025-11-19T20:16:36.096600521Z [resource.labels.containerName: engine] (EngineCore_DP0 pid=27) hello", "hello",
			want(at("iso", "2025-11-19T20:16:36.096600521"), said('I', ""), stream("ccontainerName engine|eEngineCore_DP0 27 "), process("EngineCore_DP0"), pid(27), axes(no, 0, no, no)),
		},
		{
			"docker", `{"log":"  File \"x\"\n","stream":"stderr","time":"2025-06-01T10:00:00.1Z"}`, `  File "x"`,
			want(at("iso", "2025-06-01T10:00:00.1"), stream("cstderr")),
		},
		{
			"docker split", `{"log":"half","stream":"stdout","time":"2025-06-01T10:00:00Z"}`, `half`,
			want(at("iso", "2025-06-01T10:00:00"), stream("cstdout"), partial()),
		},
		{
			"docker colours", `{"log":"\u001b[36m(W pid=1)\u001b[0m x\u2588\ud83d\ude80\n","stream":"stderr","time":"2025-06-01T10:00:00Z"}`, "x█🚀",
			want(at("iso", "2025-06-01T10:00:00"), stream("cstderr|pW 1 "), process("W"), pid(1)),
		},
		{
			"structured, short keys", `{"t":"2025-06-01T10:00:00Z","lvl":"ERROR","rank":3,"host":"n7","msg":"gone","exc":"Traceback\n  x"}`, "gone\nTraceback\n  x",
			want(at("iso", "2025-06-01T10:00:00"), said('E', ""), stream("r3"), rank(3), host("n7")),
		},
		{
			"structured", `{"asctime":"2025-06-01 10:00:00,123","levelname":"ERROR","message":"gone"}`, `gone`,
			want(at("local", "2025-06-01T10:00:00.123"), said('E', "")),
		},
		{
			"structured, the exception beside the message",
			`{"asctime":"2025-06-01T10:00:00","levelname":"ERROR","rank":3,"process":88,"hostname":"node-7","message":"gone","exc_info":"Traceback\n  x"}`,
			"gone\nTraceback\n  x",
			want(at("local", "2025-06-01T10:00:00"), said('E', ""), rank(3), pid(88), host("node-7"), stream("r3")),
		},
		{
			"structured, the exception an object", `{"level":"error","ts":1748772000.25,"msg":"gone","error":{"type":"E","message":"why","stack_trace":"where"}}`,
			"gone\nwhy\nwhere", want(at("iso", "2025-06-01T10:00:00"), said('E', "")),
		},
		{
			"a host and an arrow", "2025-06-01 10:00:00.250 master-0 >> (EngineCore pid=9) gone", "gone",
			want(at("local", "2025-06-01T10:00:00.25"), host("master-0"), stream("hmaster-0|eEngineCore 9 "), process("EngineCore"), pid(9)),
		},
		{"journald json", `{"__REALTIME_TIMESTAMP":"1748772000000000","MESSAGE":"gone"}`, `gone`, want(at("iso", "2025-06-01T10:00:00"))},
		{"CRI", `2025-06-01T10:00:00.123456789Z stderr F   text`, `  text`, want(at("iso", "2025-06-01T10:00:00.123456789"), stream("cstderr"))},
		{"CRI partial", `2025-06-01T12:00:00+02:00 stdout P text`, `text`, want(at("iso", "2025-06-01T10:00:00"), stream("cstdout"), partial())},
		{"kubectl prefix", `[pod/job-0/main] text`, `text`, want(host("job-0"), stream("cjob-0 main"))},
		{
			"kubectl timestamps", `2025-06-01T10:00:00.123Z node01: text`, `text`,
			want(at("iso", "2025-06-01T10:00:00.123"), host("node01"), stream("hnode01")),
		},
		{"stern", `job-0 main text`, `text`, want(host("job-0"), stream("cjob-0 main"))},
		{"compose", `trainer-1  | text`, `text`, want(stream("ctrainer-1"))},
		{
			"journald", `Jun 01 10:00:00 node01 python[123]: text`, `text`,
			want(at("syslog", "0000-06-01T10:00:00"), host("node01"), process("python"), pid(123), stream("hnode01 python 123")),
		},
		{"ts", `Jun  1 10:00:00   File "a.py", line 1`, `  File "a.py", line 1`, want(at("syslog", "0000-06-01T10:00:00"))},
		{
			"journald precise, kernel", `Jun  1 10:00:00.123456 node01 kernel: [12345.678901] Killed process 7`, `Killed process 7`,
			want(at("syslog", "0000-06-01T10:00:00.123456"), host("node01"), stream("hnode01 kernel 0")),
		},
		{
			"journald iso", `2025-06-01T10:00:00+0200 node01 kernel: text`, `text`,
			want(at("iso", "2025-06-01T08:00:00"), host("node01"), stream("hnode01 kernel 0")),
		},
		{
			"journald full", `Sun 2025-06-01 10:00:00 CEST node01 systemd[1]: text`, `text`,
			want(at("local", "2025-06-01T10:00:00"), host("node01"), process("systemd"), pid(1), stream("hnode01 systemd 1")),
		},
		{
			"rsyslog", `2025-06-01T10:00:00.123+02:00 node01 kernel: [123.400000] text`, `text`,
			want(at("iso", "2025-06-01T08:00:00.123"), host("node01"), stream("hnode01 kernel 0")),
		},
		{
			"rsyslog without blank", `Jun  1 10:00:00 n kernel:Out of memory: Killed`, `Out of memory: Killed`,
			want(at("syslog", "0000-06-01T10:00:00"), host("n"), stream("hn kernel 0")),
		},
		{
			"RFC 5424", `<11>1 2025-06-01T10:00:00Z node01 app 12 - [a b="]\"" c="d"][e] text`, `text`,
			want(at("iso", "2025-06-01T10:00:00"), host("node01"), process("app"), pid(12), said('E', ""), stream("hnode01 app 12")),
		},
		{
			"RFC 3164", `<4>Jun  1 10:00:00 node01 app: text`, `text`,
			want(at("syslog", "0000-06-01T10:00:00"), host("node01"), process("app"), said('W', ""), stream("hnode01 app 0")),
		},
		{"dmesg", `[    1.234567]  dump_header+0x4a`, ` dump_header+0x4a`, want(at("monotonic", "1970-01-01T00:00:01.234567"))},
		{"dmesg with caller", `[12345.678901][ T1234] text`, `text`, want(at("monotonic", "1970-01-01T03:25:45.678901"))},
		{"dmesg raw", `<3>[12345.678901] text`, `text`, want(at("monotonic", "1970-01-01T03:25:45.678901"), said('E', ""))},
		{"dmesg -T", `[Sun Jun  1 10:00:00 2025] text`, `text`, want(at("dmesg", "2025-06-01T10:00:00"))},
		{"dmesg -T in German", `[Di Mär 12 03:54:03 2025] text`, `text`, want()},
		{"dmesg -x", `kern  :err   : [12345.678901] text`, `text`, want(at("monotonic", "1970-01-01T03:25:45.678901"), said('E', ""))},
		{
			"dmesg iso", `2025-08-12T03:54:03,123456+02:00 python invoked oom-killer: x`, `python invoked oom-killer: x`,
			want(at("iso", "2025-08-12T01:54:03.123456")),
		},
	})
}

func TestLaunchersArePeeled(t *testing.T) {
	t.Parallel()
	check(t, []row{
		{"pdsh", `node01: text`, `text`, want(host("node01"), stream("hnode01"))},
		{"pdsh, domain", `gpu-a07.cluster.local:   text`, `  text`, want(host("gpu-a07.cluster.local"), stream("hgpu-a07.cluster.local"))},
		{"pdsh, address", `10.0.0.1: text`, `text`, want(host("10.0.0.1"), stream("h10.0.0.1"))},
		{"pdsh, long host", `ip-10-1-88-14: text`, `text`, want(host("ip-10-1-88-14"), stream("hip-10-1-88-14"))},
		{"mpirun", `[1,3]<stderr>: text`, `text`, want(task(3), stream("t1 3"))},
		{"mpirun without blank", `[1,3]<stdout>:  File "x"`, `  File "x"`, want(task(3), stream("t1 3"))},
		{"Open MPI's own", `[node01:123] text`, `text`, want(host("node01"), pid(123), stream("hnode01 123"))},
		{"srun", `3:   text`, `  text`, want(task(3), stream("t3"))},
		{"srun, 12 tasks", ` 3: text`, `text`, want(task(3), stream("t3"))},
		{"srun, empty", `11: `, ``, want(task(11), stream("t11"))},
		{"srun, het", `P0 3: text`, `text`, want(task(3), stream("t0 3"))},
		{"torchrun", `[default3]:  File "x"`, `  File "x"`, want(localRank(3), stream("ldefault 3"))},
		{"torchrun, template", `[3]:text`, `text`, want(localRank(3), stream("l 3"))},
		{"torchrun and rank", `[default3]:[rank11]: text`, `text`, want(localRank(3), rank(11), stream("ldefault 3|r11"))},
		{
			"rank, record", `[rank3]: {"log":"(W pid=7) text\n","stream":"stderr","time":"2025-06-01T10:00:00.123Z"}`, `text`,
			want(at("iso", "2025-06-01T10:00:00.123"), rank(3), process("W"), pid(7), stream("r3|cstderr|pW 7 ")),
		},
		{
			"role, record", `[default3]:{"log":"text\n","stream":"stderr","time":"2025-06-01T10:00:00.123Z"}`, `text`,
			want(at("iso", "2025-06-01T10:00:00.123"), localRank(3), stream("ldefault 3|cstderr")),
		},
		{
			"rank, journal", `[rank3]: Jun 01 10:00:00 node01 python[12]: text`, `text`,
			want(at("syslog", "0000-06-01T10:00:00"), rank(3), host("node01"), process("python"), pid(12), stream("r3|hnode01 python 12")),
		},
		{"rank", `[rank3]:   File "x"`, `  File "x"`, want(rank(3), stream("r3"))},
		{"rank, empty", `[rank3]:`, ``, want(rank(3), stream("r3"))},
		{"grep", `logs/slurm-1.err:123:  text`, `  text`, want(stream("flogs/slurm-1.err"))},
		{"grep, around", `a.log-7-text`, `text`, want(stream("fa.log"))},
		{"cat -n", "   123\ttext", `text`, want()},
		{"quote", `> > text`, `text`, want()},
	})
}

func TestRayAndEnginesArePeeled(t *testing.T) {
	t.Parallel()
	check(t, []row{
		{
			"Ray", "(WorkerDict pid=123, ip=10.0.0.1)   text", `  text`,
			want(process("WorkerDict"), pid(123), host("10.0.0.1"), stream("pWorkerDict 123 10.0.0.1")),
		},
		{
			"ROLL on Ray", "(actor_train-5 5 / 8 pid=123) text", `text`,
			want(process("actor_train-5 5 / 8"), pid(123), rank(5), stream("pactor_train-5 5 / 8 123 ")),
		},
		{
			"a share in a label", "(reader 9 / 8 pid=123) text", `text`,
			want(process("reader 9 / 8"), pid(123), stream("preader 9 / 8 123 ")),
		},
		{
			"Ray, colours", "\x1b[2m\x1b[36m(WorkerDict pid=123)\x1b[0m text\x1b[32m [repeated 7x across cluster]\x1b[0m", `text`,
			want(process("WorkerDict"), pid(123), repeats(7), stream("pWorkerDict 123 ")),
		},
		{
			"Ray, first repeat", `(f pid=1) text [repeated 2x across cluster] (Ray deduplicates logs by default. Set RAY_DEDUP_LOGS=0 to disable log deduplication, or see https://docs.ray.io/x for more options.)`,
			`text`, want(process("f"), pid(1), repeats(2), stream("pf 1 ")),
		},
		{
			"Ray, ESC lost", `[36m(WorkerDict pid=123)[0m text[32m [repeated 7x across cluster][0m`, `text`,
			want(process("WorkerDict"), pid(123), repeats(7), stream("pWorkerDict 123 ")),
		},
		{"Ray, spelled out", `\u001b[36m(raylet)\u001b[0m ^[[1mtext^[[0m`, `text`, want(process("raylet"), stream("praylet "))},
		{"Ray, no name", `(pid=123, ip=fe80::1) text`, `text`, want(pid(123), host("fe80::1"), stream("p 123 fe80::1"))},
		{
			"Ray, rank in the name", `(MegatronPolicyWorker[rank=9] pid=5) text`, `text`,
			want(process("MegatronPolicyWorker"), pid(5), rank(9), stream("pMegatronPolicyWorker[rank=9] 5 ")),
		},
		{
			"Ray, colons", `(ServeReplica:actor:Actor pid=5) text`, `text`,
			want(process("ServeReplica:actor:Actor"), pid(5), stream("pServeReplica:actor:Actor 5 ")),
		},
		{
			"Ray, parentheses", `(MapWorker(MapBatches(Embed)) pid=5) text`, `text`,
			want(process("MapWorker(MapBatches(Embed))"), pid(5), stream("pMapWorker(MapBatches(Embed)) 5 ")),
		},
		{"raylet", `(raylet, ip=10.0.0.1) text`, `text`, want(process("raylet"), host("10.0.0.1"), stream("praylet 10.0.0.1"))},
		{"autoscaler", `(autoscaler +1m5s) text`, `text`, want(process("autoscaler"), stream("pautoscaler "))},
		{
			"Ray C++", `[2025-08-06 22:10:45,331 E 270240 270241] (raylet) node_manager.cc:3193: 1 Workers`, `1 Workers`,
			want(at("local", "2025-08-06T22:10:45.331"), process("raylet"), pid(270240), said('E', "node_manager.cc:3193")),
		},
		{
			"Ray C++ behind its label", `(raylet) [2025-08-06 22:10:45,331 E 270240 270241] (raylet) node_manager.cc:3193: 1 Workers`, `1 Workers`,
			want(at("local", "2025-08-06T22:10:45.331"), process("raylet"), pid(270240), said('E', "node_manager.cc:3193"), stream("praylet ")),
		},
		{
			"Ray Python", "2025-02-18 03:11:27,113\tINFO worker.py:1879 -- text", `text`,
			want(at("local", "2025-02-18T03:11:27.113"), said('I', "worker.py:1879")),
		},
		{
			"Ray Serve", `WARNING 2026-02-18 03:11:27,113 controller 123 -- text`, `text`,
			want(at("local", "2026-02-18T03:11:27.113"), said('W', "controller")),
		},
		{
			"vLLM tag", `(EngineCore_DP1 pid=21402) ERROR 12-03 11:20:10 [core.py:844]   File "x"`, `  File "x"`,
			want(at("vllm", "0000-12-03T11:20:10"), process("EngineCore_DP1"), pid(21402), axes(no, 1, no, no), said('E', "core.py:844"),
				stream("eEngineCore_DP1 21402 ")),
		},
		{
			"vLLM tag in Ray's label", "\x1b[36m(vLLMHttpServer pid=1, ip=10.0.0.1)\x1b[0m \x1b[1;36m(Worker_DP0_PP1_TP3_EP2 pid=2)\x1b[0;0m text", `text`,
			want(process("vLLMHttpServer", "Worker_DP0_PP1_TP3_EP2"), pid(2), parent(1), host("10.0.0.1"), axes(3, 0, 1, 2),
				stream("pvLLMHttpServer 1 10.0.0.1|eWorker_DP0_PP1_TP3_EP2 2 ")),
		},
		{
			"vLLM tag of 0.6", `(VllmWorker rank=3 pid=7) text`, `text`,
			want(process("VllmWorker"), pid(7), axes(3, no, no, no), stream("eVllmWorker rank=3 7 ")),
		},
		{
			"vLLM tag of 0.10", `(VllmWorker PP0_TP1 pid=7) text`, `text`,
			want(process("VllmWorker PP0_TP1"), pid(7), axes(1, no, 0, no), stream("eVllmWorker PP0_TP1 7 ")),
		},
		{"rich of kohya's scripts", `10:22:31-714511 INFO     text`, `text`, want(at("clock", "0000-01-01T10:22:31.714511"), said('I', ""))},
		{"vLLM to 0.7", `INFO 03-17 10:41:02 __init__.py:190] text`, `text`, want(at("vllm", "0000-03-17T10:41:02"), said('I', "__init__.py:190"))},
		{"vLLM, empty, CR", "ERROR 03-17 10:41:02 [core.py:190] \r", ``, want(at("vllm", "0000-03-17T10:41:02"), said('E', "core.py:190"))},
		{
			"vLLM omni", `[Stage-0] ERROR 03-23 04:09:00 [file.py:430] text`, `text`,
			want(at("vllm", "0000-03-23T04:09:00"), said('E', "file.py:430"), stream("eStage 0")),
		},
		{"SGLang", `[2025-03-17 10:41:14 TP0] text`, `text`, want(at("local", "2025-03-17T10:41:14"), axes(0, no, no, no))},
		{"SGLang, all axes", `[2025-03-17 10:41:14 DP0 TP1 EP2 PP3] text`, `text`, want(at("local", "2025-03-17T10:41:14"), axes(1, 0, 3, 2))},
		{"SGLang, old", `[10:41:14 TP0] text`, `text`, want(at("clock", "0000-01-01T10:41:14"), axes(0, no, no, no))},
		{
			"SGLang, uvicorn", `[2025-03-17 10:41:14] INFO:     127.0.0.1:5 - "GET"`, `127.0.0.1:5 - "GET"`,
			want(at("local", "2025-03-17T10:41:14"), said('I', "")),
		},
		{
			"full date beats vLLM's", `(APIServer pid=1) INFO 03-17 10:41:02 [a.py:1] [2025-03-17 10:41:14] text`, `text`,
			want(at("local", "2025-03-17T10:41:14"), process("APIServer"), pid(1), said('I', "a.py:1"), stream("eAPIServer 1 ")),
		},
	})
}

func TestLoggersArePeeled(t *testing.T) {
	t.Parallel()
	june := func(clock string) head { return at(clock, "2025-06-01T10:00:00") }
	milli := at("local", "2025-06-01T10:00:00.123")
	check(t, []row{
		{
			"TensorRT-LLM", "[10/21/2025-14:07:11] [TRT-LLM] [RANK 2] [E] gone", "gone",
			want(at("local", "2025-10-21T14:07:11"), said('E', "TRT-LLM"), rank(2)),
		},
		{"TensorRT", "[10/21/2025-14:07:11] [TRT] [W] gone", "gone", want(at("local", "2025-10-21T14:07:11"), said('W', "TRT"))},
		{
			"c10", `[rank3]:[E601 10:00:00.123456789 ProcessGroupNCCL.cpp:607] text`, `text`,
			want(rank(3), at("c10", "0000-06-01T10:00:00"), said('E', "ProcessGroupNCCL.cpp:607"), stream("r3")),
		},
		{"c10 of December", `[W1231 10:00:00.123456789 x.cpp:607] text`, `text`, want(at("c10", "0000-12-31T10:00:00"), said('W', "x.cpp:607"))},
		{"c10 to 2.3", `[E ProcessGroupNCCL.cpp:475] [Rank 8] Watchdog`, `[Rank 8] Watchdog`, want(said('E', "ProcessGroupNCCL.cpp:475"), rank(8))},
		{
			"torch", `[rank3]:W0601 10:00:00.123000 139871 torch/_dynamo/x.py:1] [0/1] [__graph]   text`, `  text`,
			want(rank(3), at("glog", "0000-06-01T10:00:00.123"), said('W', "torch/_dynamo/x.py:1"), stream("r3")),
		},
		{"torch, empty", `W0601 10:00:00.123000 139871 torch/x.py:1] `, ``, want(at("glog", "0000-06-01T10:00:00.123"), said('W', "torch/x.py:1"))},
		{"glog", `E0601 10:00:00.123456  1234 file.cc:12] text`, `text`, want(at("glog", "0000-06-01T10:00:00.123456"), said('E', "file.cc:12"))},
		{"glog with year", `E20250601 10:00:00 1234 file.cc:12] text`, `text`, want(june("local"), said('E', "file.cc:12"))},
		{"TensorFlow", `2025-06-01 10:00:00.123: W external/xla/a.cc:12] text`, `text`, want(milli, said('W', "external/xla/a.cc:12"))},
		{
			"AReaL", "\x1b[37m\x1b[1;38;2;180;140;80m(AReaL)\x1b[0m \x1b[37m20250601-10:00:00.123 RolloutController INFO: text\x1b[0m", `text`,
			want(milli, said('I', "RolloutController")),
		},
		{
			"AReaL, rank in the name", `20250601-10:00:00.123 [FSDP Engine Rank 2] WARNING: text`, `text`,
			want(milli, said('W', "FSDP Engine Rank 2"), rank(2)),
		},
		{"AReaL, path", `20250601-10:00:00.123 /home/u/areal/device.py INFO: text`, `text`, want(milli, said('I', "/home/u/areal/device.py"))},
		{
			"a role's worker", `[actor/2]   (AReaL) 20250601-10:00:00.123 [FSDPEngine Rank 2] INFO: text`, `text`,
			want(milli, said('I', "FSDPEngine Rank 2"), rank(2), process("actor/2"), stream("pactor/2")),
		},
		{"a role's worker, indented", `[critic/11]   File "x.py", line 3, in f`, `  File "x.py", line 3, in f`, want(process("critic/11"), stream("pcritic/11"))},
		{"AReaL, merged", `[main]    (AReaL) 20250601-10:00:00.123 X INFO: text`, `text`, want(milli, said('I', "X"), process("main"), stream("pmain"))},
		{"logging's default", `WARNING:root:text`, `text`, want(said('W', "root"))},
		{"dashes", `2025-06-01 10:00:00,123 - mod - ERROR - text`, `text`, want(milli, said('E', "mod"))},
		{"dashes, level first", `2025-06-01 10:00:00,123 - INFO - __main__ - text`, `text`, want(milli, said('I', "__main__"))},
		{"dashes in the text", `2025-06-01 10:00:00,123 - INFO - step - text`, `step - text`, want(milli, said('I', ""))},
		{"transformers' examples", `06/01/2025 10:00:00 - INFO - __main__ - text`, `text`, want(june("local"), said('I', "__main__"))},
		{"Hydra", `[2025-06-01 10:00:00,123][mod][ERROR] - text`, `text`, want(milli, said('E', "mod"))},
		{
			"axolotl", `[2025-06-01 10:00:00,123][axolotl.cli.train][INFO] [PID:3301] [RANK:2] text`, `text`,
			want(milli, said('I', "axolotl.cli.train"), pid(3301), rank(2)),
		},
		{"verl", `ERROR:2025-06-01 10:00:00,123:text`, `text`, want(milli, said('E', ""))},
		{
			"Composer", `2025-06-01 10:00:00,123: rank3[812][MainThread]: WARNING: composer.trainer.trainer: text`, `text`,
			want(milli, said('W', "composer.trainer.trainer"), rank(3), pid(812)),
		},
		{"loguru", `2025-06-01 10:00:00.123 | ERROR    | mod:fn:12 - text`, `text`, want(milli, said('E', "mod:fn:12"))},
		{"pipes", `2025-06-01 10:00:00 | INFO | __main__ | text`, `text`, want(june("local"), said('I', "__main__"))},
		{"pipes, place", `2025-06-01 10:00:00 | ERROR | relax.core.x:12 text`, `text`, want(june("local"), said('E', "relax.core.x:12"))},
		{"slime", `[2025-06-01 10:00:00] rollout.py:71 - text`, `text`, want(june("local"), said(0, "rollout.py:71"))},
		{"rich", `[06/01/25 10:00:00] ERROR    text`, `text`, want(june("local"), said('E', ""))},
		{"rich, right column", `[06/01/25 10:00:00] ERROR    text            file.py:12`, `text`, want(june("local"), said('E', "file.py:12"))},
		{"bracketed level", `2025-06-01 10:00:00,123 [ERROR] trainer: text`, `trainer: text`, want(milli, said('E', ""))},
		{"transformers", `[INFO|trainer.py:2000] 2025-06-01 10:00:00,123 >> text`, `text`, want(milli, said('I', "trainer.py:2000"))},
		{"LLaMA-Factory", `[INFO|2025-06-01 10:00:00] llamafactory.cli:143 >> text`, `text`, want(june("local"), said('I', "llamafactory.cli:143"))},
		{"icefall", `2025-06-01 10:00:00,123 ERROR [train.py:1007] (1/4) text`, `text`, want(milli, said('E', "train.py:1007"), rank(1))},
		{"a share in the text", `2025-06-01 10:00:00,123 [ERROR] [train.py:1007] (1/4) text`, `(1/4) text`, want(milli, said('E', "train.py:1007"))},
		{"ROLL", `ERROR:log_rank_reference-3_3_16:text`, `text`, want(said('E', "log_rank_reference-3_3_16"), rank(3))},
		{
			"verl with Megatron", `[Rank 5 | Local Rank 1] 2025-06-01 10:00:00,123 INFO [/data/verl/x.py:103] => text`, `text`,
			want(milli, said('I', "/data/verl/x.py:103"), rank(5), localRank(1)),
		},
		{"VeOmni", `[INFO] 2025-06-01 10:00:00,123 __main__ >> text`, `text`, want(milli, said('I', "__main__"))},
		{"server in C++", `2026-05-08 11:47:02.256 [Error] (Process) (EngineCore pid=2651)   text`, `  text`, want(at("local", "2026-05-08T11:47:02.256"), said('E', "Process"), stream("eEngineCore 2651 "), process("EngineCore"), pid(2651))},
		{"DeepSpeed", `[2025-06-01 10:00:00,123] [INFO] [engine.py:1:fn] [Rank 0] text`, `text`, want(milli, said('I', "engine.py:1:fn"), rank(0))},
		{"torchrun 2.2", `[2025-06-01 10:00:00,123] torch.distributed.run: [WARNING] text`, `text`, want(milli, said('W', "torch.distributed.run"))},
		{"Megatron", ` [2025-06-01 10:00:00.123] iteration       10/     500 | x`, `iteration       10/     500 | x`, want(milli)},
		{"NeMo", `[NeMo I 2025-06-01 10:00:00 nemo_logging:393] text`, `text`, want(june("local"), said('I', "nemo_logging:393"))},
		{"NeMo 2", `[NeMo W 2025-06-01 10:00:00 nemo_logging:393 rank:4] text`, `text`, want(june("local"), said('W', "nemo_logging:393"), rank(4))},
		{
			"NCCL", `node-a:9503:11603 [3] include/alloc.h:103 NCCL WARN Cuda failure 2 'out of memory'`, `NCCL WARN Cuda failure 2 'out of memory'`,
			want(host("node-a"), pid(9503), device(3), said('W', "include/alloc.h:103")),
		},
		{
			"NCCL 2.30", `[2025-06-01 10:00:00] 7f9c4:97:98 [0] os/linux.cc:72 (shmOpen) NCCL WARN text`, `NCCL WARN text`,
			want(june("local"), host("7f9c4"), pid(97), device(0), said('W', "os/linux.cc:72")),
		},
		{"NCCL info", `node01:97:98 [0] NCCL INFO alloc.cc:1 -> 1`, `NCCL INFO alloc.cc:1 -> 1`, want(host("node01"), pid(97), device(0), said('I', ""))},
		{"slurmd", `[2025-06-01T10:00:00.123] [4242.batch] error: text`, `error: text`, want(milli, said(0, "4242.batch"))},
		{"CANN", `[ERROR] 2025-06-01-10:00:00 (PID:30102, Device:3, RankID:-1) text`, `text`, want(june("local"), said('E', ""), pid(30102), device(3))},
		{"uvicorn", `WARNING:  text`, `text`, want(said('W', "uvicorn"))},
		{"wandb", `wandb: text`, `text`, want(said(0, "wandb"))},
		{"rank told by verl", `[rank-0]: Saving model to /x`, `[rank-0]: Saving model to /x`, want(rank(0))},
		{"rank told in the text", `[rank 3/8] torch`, `[rank 3/8] torch`, want(rank(3))},
	})
}

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
		`{"log": 1}`, `{"log":"x"}`, `{"message":"x","a":1}`, `{"log":"x","stream":"stderr"`, `{'loss': 2.0}`,
		"2025-13-01 10:00:00 x", "2025-02-30 10:00:00 x", "10:00:00 x", "10-11 x", "12 passed", "W1011x", "E", "[E", "[E]", "INFO", "INFO:",
		"Jun  1 10:00:00 2025", "Jun  1 is late", "Sun 2025", "kern", "kern :", "3:", "P0", "a.log:x", "[pod/", "[default", "Mon Apr 28 08:00:03 UTC 2025 starting",
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

// TestPlainLinesAreOnlyCut holds what [Plain] promises against many lines.
func TestPlainLinesAreOnlyCut(t *testing.T) {
	t.Parallel()
	heads := []string{"", "[rank3]: ", "(Worker pid=77, ip=10.0.0.1) ", "2026-03-09T10:00:00.123456Z stdout F ", "2026-03-09T10:00:00.123456Z stdout P ", "\x1b[36m(W pid=1)\x1b[0m ", "0: ", "\x00"}
	texts := []string{"CUDA out of memory", "a\x1b[1mb", `{"log":"a\tb\n","stream":"stdout","time":"2026-03-09T10:00:00Z"}`, "x [repeated 3x across cluster]", "x [rank1]: y", "3%] (W pid=5) y\rz", `^[[31mred^[[0m`, "[31mred[0m", "", " \t"}
	plain := 0
	for _, head := range heads {
		for _, text := range texts {
			line := []byte(head + text)
			if !envelope.Plain(line) {
				continue
			}
			plain++
			envelope.Segments(line, func(seg []byte) bool {
				body, h := envelope.Peel(seg)
				assert.Contains(t, string(line), string(body))
				assert.False(t, h.Partial, "%q", line)
				endsWhereItMay(t, line, body)
				return true
			})
		}
	}
	assert.Greater(t, plain, 10)
}

// endsWhereItMay holds what [MayEnd] promises about a message of a plain line.
func endsWhereItMay(t *testing.T, line, body []byte) {
	t.Helper()
	end := cap(line) - cap(body) + len(body)
	if len(body) > 0 && end < len(line) {
		assert.True(t, envelope.MayEnd(line[end:]), "%q ends amidst %q", body, line)
	}
}
