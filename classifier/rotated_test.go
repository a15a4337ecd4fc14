package classifier

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"oomscan/parser/stream"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRotatedLogsAreInOrderOfTime(t *testing.T) {
	t.Parallel()
	for _, want := range [][]string{
		{"x.log.10.gz", "x.log.2.gz", "x.log.1", "x.log", "y.log.1", "y.log"},
		{"x.log.old", "x.log", "y.log"},
		{"x.log-20261101", "x.log-20261102.gz", "x.log"},
		{"x.log.2026-11-01", "x.log.2026-11-01_10-00", "x.log.2026-11-02", "x.log"},
		{"x.log.2026-11-01_09", "x.log.2026-11-01_10", "x.log.2026-11-02_00", "x.log"},
		{"x.log-2026110109", "x.log-2026110110.gz", "x.log"},
		{"x.log.2026.11.01", "x.log.2026.11.02", "x.log"},
		{"x.log.2026-11-01-09_00_00", "x.log.2026-11-01-10_00_00", "x.log"},
		{"x.log.1761998400", "x.log.1762002000", "x.log"},
		{"x-2026110109.log", "x-2026110110.log.gz", "x.log"},
		{"x.20261101_09.log", "x.20261101_10.log", "x.log"},
		{"x.2026-11-01_09.log", "x.2026-11-01_10.log.gz", "x.log"},
		{"x-2026-11-01T09-15-10.123.log", "x-2026-11-01T09-15-10.124-size.log.gz", "x-2026-11-01T10-00-00.000.log", "x.log"},
		{"x.2026-11-01_09-15-10_123456.log", "x.2026-11-01_10-00-00_000000.log.gz", "x.log"},
		{"x__2026-11-01_09-15-10.log", "x__2026-11-02_00-00-00.log.gz", "x.log"},
		{"x-20261101.log", "x-20261102.log.gz", "x.log"},
		{"x.2026-11-01.9.log", "x.2026-11-01.10.log.gz", "x.2026-11-02.0.log", "x.log"},
		{"x-2026-11-01-1.log", "x-2026-11-01-2.log", "x.log"},
		{"x_2026-11-01_09-15.log", "x_2026-11-01_10-00.log", "x.log", "y-2026-11-01.log", "y-2026-11-02.log"},
		{"a.tar!x.log.1", "a.tar!x.log"},
		{"x.log.aa", "x.log.ab.gz", "x.log.ac"},
		{"x.log.part1", "x.log.part2", "x.log.part10"},
		{"x.log.part-aa", "x.log.part-ab", "x.log.part-ba"},
		{"run/xaa", "run/xab"},
		{"run.1", "run.2"}, // no ending: numbers of runs
		{"x.log.2026", "x.log.9999"},
		{"v1.2", "v1.3"},
		{"x.10.log", "x.9.log", "x.8.log", "x.7.log", "x.6.log", "x.5.log", "x.4.log", "x.3.log", "x.2.log", "x.1.log", "x.log"},
		{"a/x.2.log.gz", "a/x.1.log", "a/x.log", "b/x.1.log", "b/x.2.log"}, // b's are two runs
		{"x.1.txt", "x.2.txt"},
		{"x.0.log", "x.1.log", "x.2.log", "x.log"}, // ranks
		{"x.2.log", "x.3.log", "x.log"},
		{"x.1.log", "x.2.log", "x.err"},
		{"x.11.log", "x.12.log", "x.log"}, // jobs
	} {
		got := slices.Clone(want)
		for range 5 {
			rand.Shuffle(len(got), func(i, k int) { got[i], got[k] = got[k], got[i] })
			slices.SortFunc(got, placesOf(got).compare)
			assert.Equal(t, want, got)
		}
	}
}

// TestAStampOfARunIsNoRotation: the time at which a run began is in the name of its log.
func TestAStampOfARunIsNoRotation(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"run.2026-11-01_09-15.log", "run-2026-11-01_09-15-10.log", "run-2026-11-01T09-15-10.log", "run_2026-11-01_09-15-10_123456.log", "2026-11-01T09-15-10.123.log", "run-202611010915.log", "run-2026-11-01.log", "2026-11-01_09.log", "2026110109.log", "run-2026110109", "run-1762002000", "run.log.1762002017", "run-1762002000.log"} {
		log, _ := Rotated(name)
		assert.Equal(t, name, log)
	}
}

// gather reads logs by their names.
func gather(t *testing.T, logs map[string]string) *Collector {
	t.Helper()
	all := NewCollector()
	for name, text := range logs {
		c := NewCollector()
		_, err := stream.Read(name, strings.NewReader(text), c.Add)
		require.NoError(t, err)
		all.Merge(c)
	}
	return all
}

// TestARotatedLogGoesOn holds what is told of a failure at the beginning of a new file against the same log in one.
func TestARotatedLogGoesOn(t *testing.T) {
	t.Parallel()
	const before = "step:41 - actor/grad_norm:0.1 - timing_s/gen:3.1\nLoading safetensors checkpoint shards:   0% Completed | 0/4 [00:00<?, ?it/s]\n"
	const after = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.11 GiB of which 1.50 GiB is free. Including non-PyTorch memory, this process has 77.00 GiB memory in use. Of the allocated memory 61.20 GiB is allocated by PyTorch, and 1.37 GiB is reserved by PyTorch but unallocated.\n"
	whole := gather(t, map[string]string{"x.log": before + after}).Result()
	parts := gather(t, map[string]string{"x.log.1": before, "x.log": after}).Result()
	require.Len(t, whole.Incidents, 1)
	require.Len(t, parts.Incidents, 1)
	assert.Equal(t, whole.Incidents[0].Phase, parts.Incidents[0].Phase)
	assert.Equal(t, whole.Run.LastStep, parts.Run.LastStep)
	assert.NotEqual(t, "unknown", parts.Incidents[0].Phase)
	apart := gather(t, map[string]string{"w.log": before, "x.log": after}).Result()
	require.Len(t, apart.Incidents, 1)
	assert.Equal(t, "unknown", apart.Incidents[0].Phase, "another log's state is not this one's")
}

// TestARotatedLogIsOneLog holds the rank of a failure against the same log in one file.
func TestARotatedLogIsOneLog(t *testing.T) {
	t.Parallel()
	const ranks = "[2026-06-19 17:30:10,330][sft][INFO] - rank 0/2 pid 66310 on n2 device cuda:0\n[2026-06-19 17:30:11,362][sft][INFO] - rank 1/2 pid 66311 on n2 device cuda:1\n"
	const after = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 79.11 GiB of which 1.50 GiB is free. Including non-PyTorch memory, this process has 77.00 GiB memory in use. Of the allocated memory 61.20 GiB is allocated by PyTorch, and 1.37 GiB is reserved by PyTorch but unallocated.\n"
	for name, logs := range map[string]map[string]string{
		"whole": {"x.log": ranks + after}, "rotated": {"x.log.1": ranks, "x.log": after}, "split": {"xaa": ranks, "xab": after},
		"lumberjack": {"x-2026-06-19T18-00-00.000.log": ranks, "x.log": after}, "timberjack": {"x-2026-06-19T18-00-00.000-size.log.gz": ranks, "x.log": after},
		"spdlog": {"x.1.log": ranks, "x.log": after},
		"Loguru": {"x.2026-06-19_17-30-09_123456.log": ranks, "x.log": after},
	} {
		r := gather(t, logs).Result()
		require.Len(t, r.Incidents, 1, name)
		require.NotNil(t, r.Incidents[0].Root.Rank, name)
		assert.Equal(t, 1, *r.Incidents[0].Root.Rank, name)
	}
}

// TestARotatedTracebackIsOne rotates a log within a traceback, at each of its lines, while another rank writes too.
func TestARotatedTracebackIsOne(t *testing.T) {
	t.Parallel()
	const other = "[rank1]: waiting\n"
	lines := []string{
		"[rank0]: Traceback (most recent call last):\n",
		"[rank0]:   File \"/opt/trl/trainer/grpo_trainer.py\", line 1620, in _generate_and_score_completions\n[rank0]:     logps = self._get_per_token_logps()\n",
		"[rank0]:   File \"/opt/trl/trainer/grpo_trainer.py\", line 1112, in _get_per_token_logps\n[rank0]:     logits = model(**inputs).logits\n",
		"[rank0]:   File \"/opt/torch/nn/modules/linear.py\", line 125, in forward\n[rank0]:     return F.linear(input, self.weight, self.bias)\n",
		"[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.50 GiB is free.\n",
	}
	want := gather(t, map[string]string{"x.log": strings.Join(lines, other)}).Result().Incidents
	require.Len(t, want, 1)
	assert.Equal(t, "logprob", string(want[0].Phase))
	for at := 2; at < len(lines); at++ {
		before, after := strings.Join(lines[:at], other)+other, strings.Join(lines[at:], other)
		for _, older := range []string{"x.log.1", "x.1.log", "x__2026-11-01_09-15-10.log", "x-20261101.log.gz", "x.2026-11-01.0.log"} {
			c := gather(t, map[string]string{older: before, "x.log": after})
			for range 2 { // what is collected stays as it is
				got := c.Result().Incidents
				require.Len(t, got, 1, at)
				assert.Equal(t, want[0].Phase, got[0].Phase, at)
				require.NotNil(t, got[0].Root.Trace, at)
				assert.Equal(t, want[0].Root.Trace.Frames, got[0].Root.Trace.Frames, at)
			}
		}
		for name, logs := range map[string]map[string]string{
			"another log":         {"w.log": before, "x.log": after},
			"another run":         {"x.1.log": before, "x.2.log": after},
			"a run with a time":   {"x-2026-11-01_09-15-10.log": before, "x-2026-11-01_10-15-10.log": after},
			"another's live file": {"w-2026-11-01_09-15-10.log": before, "x.log": after},
			"another rank's log":  {"x.0.log": strings.ReplaceAll(after, "rank0", "rank2"), "x.1.log": before, "x.log": after},
			"another rank":        {"x.log.1": before, "x.log": strings.ReplaceAll(after, "rank0", "rank1")},
			"far behind":          {"x.log.1": before, "x.log": strings.Repeat("and on\n", 99) + after},
			"a traceback between": {"x.log.1": before, "x.log": "[rank0]: Traceback (most recent call last):\n[rank0]:   File \"/opt/a.py\", line 1, in f\n[rank0]: ValueError: x\n" + after},
		} {
			for _, in := range gather(t, logs).Result().Incidents {
				if in.Root.Trace != nil {
					assert.Less(t, len(in.Root.Trace.Frames), 3, "%s, %d", name, at)
				}
			}
		}
	}
}

func TestTheLastFileOfARotatedLogHasTheLastWord(t *testing.T) {
	t.Parallel()
	const setting = "export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:"
	r := gather(t, map[string]string{"x.log": setting + "128\n", "x.log.1": setting + "256\n", "x.log.2": setting + "512\n"}).Result().Run
	v, ok := r.Config["PYTORCH_CUDA_ALLOC_CONF"]
	require.True(t, ok, "%v", r.Config)
	assert.Equal(t, "max_split_size_mb:128", v.Value)
	require.Len(t, v.Earlier, 2)
	assert.Equal(t, "max_split_size_mb:512", v.Earlier[0].Value)
}

func TestClues(t *testing.T) {
	t.Parallel()
	const kernel = "[100.3] Memory cgroup out of memory: Killed process 4001 (python3) total-vm:18044088kB, anon-rss:16759220kB, file-rss:1228kB, shmem-rss:0kB, UID:1 pgtables:33008kB oom_score_adj:0\n"
	for _, c := range []struct {
		name, text string
		want       Clues
	}{
		{"a job's", "SLURM_JOB_ID=0042\nSLURMD_NODENAME=n1\nrank 3 local_rank 1 host n1 pid 715\n", Clues{Jobs: []string{"42"}, Hosts: []string{"n1"}, Ranks: []int{3}, PIDs: []int{715}}},
		{"the step daemon's word", "slurmstepd: error: Detected 1 oom_kill event in StepId=7.batch. Some of the step tasks have been OOM Killed.\n", Clues{Jobs: []string{"7"}}},
		{"a launcher of two jobs", "Submitted batch job 8\nSubmitted batch job 9\n", Clues{Jobs: []string{"8", "9"}}},
		{"a script that submits many", "Submitted batch job 1\nSubmitted batch job 2\nSubmitted batch job 3\nSubmitted batch job 4\nSubmitted batch job 5\n", Clues{}},
		{"a run", "python3 -m verl.trainer.main_ppo\n", Clues{Head: true}},
		{"a kernel's", kernel, Clues{Node: true}},
		{"a kernel's word in a job's log", kernel + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n", Clues{}},
		{"the scheduler's table", "54.batch|batch|OUT_OF_MEMORY|0:125|||0|node01||\n", Clues{Node: true}},
		{"nothing", "hello\n", Clues{}},
	} {
		assert.Equal(t, c.want, gather(t, map[string]string{"x.log": c.text}).Clues(), c.name)
	}
}

// TestARotatedTracebackKeepsTheRanksAboveIt rotates a log below the first line of an engine's message, which alone has the rank.
func TestARotatedTracebackKeepsTheRanksAboveIt(t *testing.T) {
	t.Parallel()
	const (
		before = "[2026-03-17 10:42:19 TP1] Scheduler hit an exception: Traceback (most recent call last):\n  File \"/opt/sglang/srt/layers/linear.py\", line 168, in apply\n    return F.linear(x, layer.weight, bias)\n"
		after  = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 79.11 GiB of which 1.50 GiB is free.\n"
	)
	for name, c := range map[string]struct {
		before, after string
		tp            int
	}{
		"whole":             {"", before + after, 1},
		"rotated":           {before, after, 1},
		"another's message": {before, "[2026-03-17 10:42:20 TP0] " + after, 0},
		"no traceback":      {strings.ReplaceAll(before, "Traceback", "x"), after, -1},
	} {
		r := gather(t, map[string]string{"x.log.1": c.before, "x.log": c.after}).Result()
		require.Len(t, r.Incidents, 1, name)
		rank := -1
		if r.Incidents[0].Root.Rank != nil {
			rank = *r.Incidents[0].Root.Rank
		}
		assert.Equal(t, c.tp, rank, name)
	}
}

// TestATracebackInTheNextFileIsTheFailures rotates a log between an allocator's warning and the traceback of the same failure.
func TestATracebackInTheNextFileIsTheFailures(t *testing.T) {
	t.Parallel()
	const (
		before = "2026-04-15 18:05:42.120411: W external/xla/xla/tsl/framework/bfc_allocator.cc:501] Allocator (GPU_0_bfc) ran out of memory trying to allocate 48.83GiB (rounded to 52428800000)requested by op \n"
		after  = "Traceback (most recent call last):\n  File \"/opt/train.py\", line 248, in train_and_evaluate\n    state, metrics = p_train_step(state, batch)\njaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 52428800000 bytes.\n"
	)
	whole := gather(t, map[string]string{"x.log": before + after}).Result().Incidents
	require.Len(t, whole, 1)
	assert.NotEqual(t, "unknown", string(whole[0].Phase))
	parts := gather(t, map[string]string{"x.log.1": before, "x.log": after}).Result().Incidents
	require.Len(t, parts, 1)
	assert.Equal(t, whole[0].Phase, parts[0].Phase)
	for _, in := range gather(t, map[string]string{"w.log": before, "x.log": after}).Result().Incidents {
		if in.Root.At.Source == "w.log" {
			assert.Equal(t, "unknown", string(in.Phase), "another log's traceback is not this one's")
		}
	}
}
