package classifier

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSrunTellsWhereATaskRan joins a rank with srun's lists of the tasks that ended on a node.
func TestSrunTellsWhereATaskRan(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ line, host string }{
		"one task":            {"srun: error: n07: task 3: Exited with exit code 1\n", "n07"},
		"a list":              {"srun: error: n07: tasks 1,3: Exited with exit code 1\n", "n07"},
		"a range":             {"srun: error: n07: tasks 0,2-5: Exited with exit code 1\n", "n07"},
		"others":              {"srun: error: n08: tasks 0,4-7,13: Exited with exit code 1\n", ""},
		"a list of two nodes": {"srun: error: n[07-08]: tasks 1,3: Exited with exit code 1\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{
				"a.err": " 3: [rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n" + c.line,
			}).Incidents
			require.Len(t, got, 1)
			assert.Equal(t, c.host, got[0].Root.Host)
		})
	}
}

// TestTheOtherStreamOfATaskNamesItsRank has the failure on standard error, and what the task says of itself on standard output.
func TestTheOtherStreamOfATaskNamesItsRank(t *testing.T) {
	t.Parallel()
	const oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n"
	task := func(rank, of string) string {
		return "submitit INFO (2026-06-02 10:11:12,345) - Starting with JobEnvironment(job_id=81, hostname=cn12, local_rank=" + rank + "(" + of + "), node=0(1), global_rank=" + rank + "(" + of + "))\n"
	}
	for name, c := range map[string]struct {
		logs map[string]string
		want any
	}{
		"of all tasks":            {map[string]string{"l/81_0_log.out": task("0", "2"), "l/81_0_log.err": "", "l/81_1_log.out": task("1", "2"), "l/81_1_log.err": oom}, 1},
		"of the only one":         {map[string]string{"stdout.log": task("0", "1"), "stderr.log": oom}, 0},
		"the other way round":     {map[string]string{"81.err": task("0", "1"), "81.out": oom}, 0},
		"of one in a common log":  {map[string]string{"81.out": task("0", "2"), "81.err": oom}, nil},
		"of the first of a node":  {map[string]string{"81_0.out": task("0", "8"), "81_1.out": task("4", "8"), "81_1.err": oom}, nil},
		"of two in a common log":  {map[string]string{"81.out": task("0", "2") + task("1", "2"), "81.err": oom}, nil},
		"of another task's":       {map[string]string{"l/81_0_log.out": task("0", "2"), "l/81_1_log.out": task("1", "2"), "l/82_1_log.err": oom}, nil},
		"without one of the logs": {map[string]string{"l/81_1_log.out": task("1", "2"), "l/81_1_log.err": oom}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, c.logs).Incidents
			require.Len(t, got, 1)
			if c.want == nil {
				assert.Nil(t, got[0].Root.Rank)
			} else if assert.NotNil(t, got[0].Root.Rank) {
				assert.Equal(t, c.want, *got[0].Root.Rank)
			}
		})
	}
}

// TestALaunchersFileIsOneProcess reads a failure without a label in the file of one process, beside those of others.
func TestALaunchersFileIsOneProcess(t *testing.T) {
	t.Parallel()
	const (
		barrier = "[rankN]:[W415 22:03:11.118710020 ProcessGroupNCCL.cpp:4115] [PG ID 0 PG GUID 0 Rank N]  using GPU 1 to perform barrier as devices used by this process are currently unknown.\n"
		oom     = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n"
		banner  = "# torchrun --nnodes=1 --nproc_per_node=8 train.py\n"
	)
	for name, c := range map[string]struct {
		path, before, other string
		rank                int
	}{
		"torchrun's":                        {"logs/none_x1/attempt_0/1/stderr.log", strings.ReplaceAll(barrier, "N", "1"), "", 1},
		"torchrun's in an archive":          {"job.tar.gz!attempt_2/1/stderr.log.gz", strings.ReplaceAll(barrier, "N", "1"), "", 1},
		"of the second node":                {"logs/none_x1/attempt_0/1/stderr.log", strings.ReplaceAll(barrier, "N", "9"), "", 9},
		"without a label on one node":       {"logs/none_x1/attempt_0/1/stderr.log", "", banner, 1},
		"without a label on many":           {"logs/none_x1/attempt_0/1/stderr.log", "", strings.ReplaceAll(banner, "nnodes=1", "nnodes=2"), -1},
		"of several ranks":                  {"logs/none_x1/attempt_0/1/stderr.log", strings.ReplaceAll(barrier, "N", "9") + strings.ReplaceAll(barrier, "N", "1"), "", -1},
		"of a node, in a folder of its own": {"logs/1/stderr.log", strings.ReplaceAll(barrier, "N", "9"), "", -1},
		"Open MPI's":                        {"out/1/rank.09/stderr", "", "", 9},
		"Horovod's":                         {"out/rank.3/stdout.gz", "", "", 3},
		"of a node rank":                    {"out/rank.3/train.log", "", "", -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{"logs/none_x1/attempt_0/0/stderr.log": strings.ReplaceAll(barrier, "N", "0"), c.path: c.before + oom, "run.out": c.other}).Incidents
			require.Len(t, got, 1)
			rank := -1
			if got[0].Root.Rank != nil {
				rank = *got[0].Root.Rank
			}
			assert.Equal(t, c.rank, rank)
		})
	}
}

// TestRanksBehindADriver keeps the ranks of one program together when its driver has repeated the first one's failure.
func TestRanksBehindADriver(t *testing.T) {
	t.Parallel()
	const (
		frames = "[actor/N] Traceback (most recent call last):\n[actor/N]   File \"/home/u/engine.py\", line 4, in step\n[actor/N]     op(x)\n"
		oom    = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 260.00 MiB. GPU 0 has a total capacity of 79.11 GiB of which "
		driver = "20260212-04:33:08.650 Controller ERROR: call failed\nTraceback (most recent call last):\n  File \"/home/u/main.py\", line 9, in main\n    t.train()\n" +
			"app.EngineCallError: worker 'actor/3': CUDA out of memory. Tried to allocate 260.00 MiB. GPU 0 has a total capacity of 79.11 GiB of which 194.19 MiB is free.\n"
	)
	rank := func(n string) string {
		return strings.ReplaceAll(frames, "N", n) + "[actor/" + n + "] " + oom + map[string]string{"3": "194.19", "1": "210.19"}[n] + " MiB is free.\n"
	}
	const started = "20260212-04:02:08.919 LocalScheduler INFO: Worker actor/3 started (PID: 88129, GPUs: [7], ports: [21021])\n" +
		"20260212-04:02:08.919 LocalScheduler INFO: Worker rollout/3 started (PID: 88029, GPUs: [3], ports: [20021])\n"
	got := read(t, map[string]string{"actor.log": rank("3") + rank("1"), "main.log": started + driver}).Incidents
	require.Len(t, got, 1)
	assert.Equal(t, "actor.log", got[0].Root.At.Source)
	if assert.NotNil(t, got[0].Root.PID, "the scheduler gave the label") {
		assert.Equal(t, 88129, *got[0].Root.PID)
	}
	again := strings.ReplaceAll(started, "88129", "99001")
	got = read(t, map[string]string{"actor.log": rank("3") + rank("1"), "main.log": started + again + driver}).Incidents
	require.Len(t, got, 1)
	assert.Nil(t, got[0].Root.PID, "the label was given twice")
}

// TestDeepSpeedsLauncherTellsTheRanksOfANode: nodes may have different numbers of processes, and pdsh leaves domains out.
func TestDeepSpeedsLauncherTellsTheRanksOfANode(t *testing.T) {
	t.Parallel()
	const (
		oom     = "RuntimeError: CUDA out of memory. Tried to allocate 1.00 GiB (GPU 3; 39.59 GiB total capacity; 33.74 GiB already allocated; 827.19 MiB free; 36.90 GiB reserved in total by PyTorch)\n"
		mapping = "[2022-05-11 08:12:09,334] [INFO] [launch.py:101:main] global_rank_mapping=defaultdict(<class 'list'>, {'node1': [0, 1], 'node2': [2, 3, 4, 5], 'node3.site': [6, 7, 8, 9], 'node33': [10, 11]})\n"
		other   = "[2022-05-11 08:12:09,334] [INFO] [launch.py:101:main] global_rank_mapping=defaultdict(<class 'list'>, {'node2': [0, 1, 2, 3]})\n"
	)
	for name, c := range map[string]struct {
		log  string
		rank *int
	}{
		"by the number of the device":         {label("node2: ", mapping+oom), new(5)},
		"of a host with a domain":             {label("node3: ", mapping+oom), new(9)},
		"a device that has no process":        {label("node33: ", mapping+oom), nil},
		"of a host that is not in it":         {label("node2: ", mapping) + label("node4: ", oom), nil},
		"of another launch with other ranks":  {label("node2: ", mapping+other+oom), nil},
		"without the host of the failed line": {label("node2: ", mapping) + oom, nil},
	} {
		got := read(t, map[string]string{"a": c.log}).Incidents
		require.Len(t, got, 1, name)
		assert.Equal(t, c.rank, got[0].Root.Rank, name)
	}
}

// TestAnActorThatLaunchesIsNoRank finds the process that torchrun names where an actor of Ray runs torchrun, which shows rank 0 alone.
func TestAnActorThatLaunchesIsNoRank(t *testing.T) {
	t.Parallel()
	const log = "[rank0]: step 1\n" +
		"============================================================\ntrain.py FAILED\n------------------------------------------------------------\n" +
		"Root Cause (first observed failure):\n[0]:\n  time      : 2025-09-30_21:18:46\n  host      : n07\n  rank      : 5 (local_rank: 5)\n" +
		"  exitcode  : 1 (pid: 1094)\n  error_file: /tmp/error.json\n  traceback : Traceback (most recent call last):\n" +
		"    File \"/src/train.py\", line 5, in main\n      step()\n" +
		"  torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 5 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n"
	got := read(t, map[string]string{"a.log": strings.ReplaceAll("\n"+strings.TrimSuffix(log, "\n"), "\n", "\n(Runner pid=815) ")[1:] + "\n"}).Incidents
	require.Len(t, got, 1)
	require.NotNil(t, got[0].Root.Rank)
	assert.Equal(t, 5, *got[0].Root.Rank)
	require.NotNil(t, got[0].Root.PID)
	assert.Equal(t, 1094, *got[0].Root.PID)
}

// TestBannersNameNoCoresOfTPUs keeps a CUDA device out of a failure on a TPU.
func TestBannersNameNoCoresOfTPUs(t *testing.T) {
	t.Parallel()
	got := read(t, map[string]string{
		"a.log": "rank 1/4 pid 66311 on n2 device cuda:1\n[rank1]: jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: " +
			"XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 24.19G of 15.75G hbm. Exceeded hbm capacity by 8.44G.\n",
	}).Incidents
	require.Len(t, got, 1)
	assert.Nil(t, got[0].Root.Device)
}
