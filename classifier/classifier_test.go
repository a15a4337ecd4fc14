package classifier

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser"
	"oomscan/parser/messages"
	"oomscan/parser/stream"
)

// read scans texts as the inputs of one job, by their names.
func read(t *testing.T, inputs map[string]string) Result {
	t.Helper()
	all := NewCollector()
	for name, text := range inputs {
		c := NewCollector()
		_, err := stream.Read(name, strings.NewReader(text), c.Add)
		require.NoError(t, err)
		all.Merge(c)
	}
	return all.Result()
}

// The messages that the tables below combine.
const (
	backward = "Traceback (most recent call last):\n" +
		"  File \"/home/u/train.py\", line 40, in main\n    loss.backward()\n" +
		"  File \"/opt/lib/python3.11/site-packages/torch/_tensor.py\", line 581, in backward\n    torch.autograd.backward(\n" +
		"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.15 GiB of which 1.00 GiB is free. " +
		"Including non-PyTorch memory, this process has 78.00 GiB memory in use. Of the allocated memory 70.00 GiB is allocated by PyTorch, and 6.00 GiB is reserved by PyTorch but unallocated.\n"
	slurmKill  = "slurmstepd: error: Detected 1 oom_kill event in StepId=4242.0. Some of the step tasks have been OOM Killed.\n"
	bashKilled = "/var/spool/slurmd/job4242/slurm_script: line 7: 4711 Killed                  python train.py\n"
	free       = "Mem:           32110        1311       24480           3        6318       30341\n"
	timeLimit  = "slurmstepd: error: *** JOB 4242 ON n1 CANCELLED AT 2026-01-01T06:00:18 DUE TO TIME LIMIT ***\n"
	kernelKill = "[100.1] python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n" +
		"[100.2] memory: usage 2097152kB, limit 2097152kB, failcnt 21\n" +
		"[100.3] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/slurm/uid_1/job_4242,task_memcg=/slurm/uid_1/job_4242/step_0/task_3,task=python,pid=4711,uid=1\n" +
		"[100.4] Memory cgroup out of memory: Killed process 4711 (python) total-vm:4096kB, anon-rss:2048kB, file-rss:16kB, shmem-rss:8kB, UID:1 pgtables:8kB oom_score_adj:0\n"
	sigkill = "E0121 06:51:39.512805 60398 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: -9) local_rank: 1 (pid: 60411) of binary: /opt/venv/bin/python\n"
	restart = "INFO:torch.distributed.elastic.agent.server.api:[default] Worker group FAILED. 1/1 attempts left; will restart worker group\n"
)

func TestWhatCountsAsOneIncident(t *testing.T) {
	t.Parallel()
	type want struct {
		verdict Verdict
		kind    parser.Kind
		phase   string
	}
	oom := want{Memory, parser.GPUOOM, "backward"}
	kill := want{Memory, parser.OOMKill, "unknown"}
	suspect := want{Suspect, parser.OOMKill, "unknown"}
	for name, c := range map[string]struct {
		inputs map[string]string
		want   []want
	}{
		"an allocator's failure":                                 {map[string]string{"a": backward}, []want{oom}},
		"NCCL's failure beside another rank's allocator":         {map[string]string{"a": "n1:47604:53081 [0] include/alloc.h:103 NCCL WARN Cuda failure 2 'out of memory'\n" + backward}, []want{oom}},
		"code that torch.compile made for each rank":             {map[string]string{"a": compiled(0) + compiled(1)}, []want{{Memory, parser.GPUOOM, "init"}}},
		"the same failure printed twice":                         {map[string]string{"a": backward + backward}, []want{oom}},
		"a failure and the kill that Slurm reports at the end":   {map[string]string{"a": backward + slurmKill}, []want{oom}},
		"two failures with a restart between them":               {map[string]string{"a": backward + restart + backward}, []want{oom, oom}},
		"a failure, a restart and a kill that Slurm tells apart": {map[string]string{"b": backward + restart + sigkill, "a": slurmKill}, []want{oom, kill}},
		"a failure, a restart and a kill that the kernel tells":  {map[string]string{"b": backward + restart + strings.ReplaceAll(sigkill, "60411", "4711"), "a": kernelKill}, []want{oom, kill}},
		"a failure and the kill that Slurm tells apart":          {map[string]string{"a": backward + sigkill, "b": slurmKill}, []want{oom}},
		"bash and Slurm on one kill":                             {map[string]string{"a": bashKilled + slurmKill}, []want{kill}},
		"kernel, bash and Slurm on one kill, in three files":     {map[string]string{"a": bashKilled, "b": slurmKill, "c": kernelKill}, []want{kill}},
		"a bare SIGKILL": {map[string]string{"a": bashKilled}, []want{suspect}},
		"a SIGKILL in a control group that counts a kill":        {map[string]string{"a": bashKilled + "$ cat /sys/fs/cgroup/memory.events\noom 3\noom_kill 1\n"}, []want{kill}},
		"a SIGKILL in a control group, its counters on one line": {map[string]string{"a": bashKilled + "low 0 high 0 max 9 oom 4 oom_kill 1\n"}, []want{kill}},
		"a SIGKILL in a control group without a kill":            {map[string]string{"a": bashKilled + "low 0 high 0 max 9 oom 4 oom_kill 0\n"}, []want{suspect}},
		"counters of a control group alone":                      {map[string]string{"a": "oom 3\noom_kill 1\n"}, nil},
		"a SIGKILL after a time limit":                           {map[string]string{"a": timeLimit + bashKilled}, nil},
		"a SIGKILL after the program's own error":                {map[string]string{"a": "Traceback (most recent call last):\n  File \"t.py\", line 1, in f\n    x()\nKeyError: 'x'\n" + bashKilled}, nil},
		"a SIGKILL on a host that is full":                       {map[string]string{"a": "CPU Virtual Memory:  used = 498.10 GB, percent = 99.3%\n" + bashKilled}, []want{kill}},
		"a SIGKILL beside columns of free that show it full":     {map[string]string{"a": free + bashKilled + "10:21:40 used 31752 MB, available 74 MB\n"}, []want{kill}},
		"a SIGKILL beside columns of a disk that is full":        {map[string]string{"a": free + bashKilled + "10:21:40 used 91752 MB, available 74 MB\n"}, []want{suspect}},
		"a SIGKILL beside columns of free that show room":        {map[string]string{"a": free + bashKilled + "10:21:40 used 11752 MB, available 20074 MB\n"}, []want{suspect}},
		"columns that show a host as full, without its size":     {map[string]string{"a": bashKilled + "10:21:40 used 31752 MB, available 74 MB\n"}, []want{suspect}},
		"a message inside a printed chat sample":                 {map[string]string{"a": "<|im_start|>user\n" + backward + "<|im_end|>\n"}, nil},
		"a message quoted in a source line of another traceback": {map[string]string{"a": "Traceback (most recent call last):\n  File \"t.py\", line 1, in f\n    raise RuntimeError(\"CUDA out of memory. Tried to allocate 2.00 GiB\")\nValueError: no\n"}, nil},
		"nothing at all": {map[string]string{"a": ""}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []want
			for _, in := range read(t, c.inputs).Incidents {
				for _, e := range in.Evidence {
					assert.NotEmpty(t, e.Text, "the line that proves it is quoted: %s", e.Why)
				}
				got = append(got, want{in.Verdict, in.Kind, in.Phase})
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// compiled is the failure of a worker in a file that torch.compile wrote for its rank.
func compiled(rank int) string {
	return label(fmt.Sprintf("(Worker_TP%d pid=52%d) ", rank, rank), fmt.Sprintf("Traceback (most recent call last):\n  File \"/usr/lib/python3/dist-packages/vllm/model_executor/models/llama.py\", line 581, in forward\n    model_output = self.model(\n"+
		"  File \"/root/.cache/vllm/torch_compile_cache/f3d/rank_%d_0/inductor_cache/4k/c4k.py\", line 702, in call\n    buf5 = empty_strided_cuda((s72, 7168), (7168, 1), torch.bfloat16)\n"+
		"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU %d has a total capacity of 44.39 GiB of which 11.94 MiB is free.\n", rank, rank))
}

// TestASuspicionIsNoKillUnlessOneWasSeen shows every pattern that raises a suspicion a log of its own sample.
func TestASuspicionIsNoKillUnlessOneWasSeen(t *testing.T) {
	t.Parallel()
	seen := map[parser.Kind]bool{}
	for _, p := range messages.All() {
		if p.Role != parser.Suspicion || len(p.After) > 0 {
			continue
		}
		for _, m := range p.Match {
			for _, in := range read(t, map[string]string{"a": "all is well\n" + m.Line + "\n"}).Incidents {
				if in.Verdict == Suspect {
					seen[in.Kind] = true
					assert.Equal(t, in.Kind == parser.OOMKill, strings.Contains(in.Summary, "SIGKILL"), "%s: %s", p.Name, in.Summary)
				}
			}
		}
	}
	assert.Len(t, seen, 5, "kinds of suspicions: %v", seen)
}

func TestWhoFailed(t *testing.T) {
	t.Parallel()
	n := func(i int) *int { return &i }
	for name, c := range map[string]struct {
		inputs            map[string]string
		rank, device, pid *int
		host              string
	}{
		"the rank of torch's own label": {
			map[string]string{"a": label("[rank3]: ", backward)}, n(3), n(3), nil, "",
		},
		"the process that a remote traceback names, not the printer": {
			map[string]string{"a": "(main_task pid=1) Unhandled error: ray::WorkerDict.actor_update_actor() (pid=77, ip=10.0.0.9, actor_id=ab, repr=<x>)\n" + label("(main_task pid=1) ", strings.SplitN(backward, "\n", 2)[1])},
			nil, n(3), n(77), "10.0.0.9",
		},
		"the rank that the same pid told long before": {
			map[string]string{"a": "(WorkerDict pid=77) [Gloo] Rank 5 is connected to 7 peer ranks. Expected number of connected peer ranks is : 7\n" + label("(WorkerDict pid=77) ", backward)},
			n(5), n(3), n(77), "",
		},
		"the rank of a small group is not the job's": {
			map[string]string{"a": "(W pid=77) [Gloo] Rank 1 is connected to 1 peer ranks.\n(W pid=77) [Gloo] Rank 5 is connected to 7 peer ranks.\n" + label("(W pid=77) ", backward)},
			n(5), n(3), n(77), "",
		},
		"torchrun's report of the process on that device": {
			map[string]string{"a": backward + "E0528 22:08:31.044000 77120 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 3 (pid: 77203) of binary: /usr/bin/python\n"},
			n(3), n(3), n(77203), "",
		},
		"the victim of the kernel, with the rank of its srun task": {
			map[string]string{"a": kernelKill}, n(3), nil, n(4711), "",
		},
		"the victim is not who reports the kill": {
			map[string]string{"a": "Jun 01 10:00:00 n1 systemd-oomd[840]: Killed /user.slice/x due to memory pressure for /user.slice being 91.20% > 60.00% for > 20s with reclaim activity\n"},
			nil, nil, nil, "n1",
		},
		"the host that hostname printed under set -x": {
			map[string]string{"a": "+ hostname\ncn-0421\n" + backward}, nil, n(3), nil, "cn-0421",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res := read(t, c.inputs)
			require.Len(t, res.Incidents, 1)
			r := res.Incidents[0].Root
			assert.Equal(t, c.rank, r.Rank, "rank")
			assert.Equal(t, c.device, r.Device, "device")
			assert.Equal(t, c.pid, r.PID, "pid")
			assert.Equal(t, c.host, r.Host, "host")
		})
	}
}

// label puts a prefix before every line.
func label(prefix, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(prefix + line)
	}
	return b.String()
}

func TestFiguresThatContradictEachOtherAreSaid(t *testing.T) {
	t.Parallel()
	res := read(t, map[string]string{
		"a": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 17.66 GiB. GPU 0 has a total capacity of 79.18 GiB of which 4.97 GiB is free. Of the allocated memory 100.77 GiB is allocated by PyTorch\n",
	})
	require.Len(t, res.Incidents, 1)
	in := res.Incidents[0]
	assert.Equal(t, int64(108200963604), *in.Root.Allocated)
	require.NotEmpty(t, in.Findings)
	assert.Contains(t, in.Findings[0], "contradict")
	assert.Contains(t, in.Findings[0], "74.21 GiB", "what is really occupied")
	assert.Equal(t, int64(18962280612-5336496865), *in.Shortfall)
}

func TestWhatAContainerAskedForIsNoLimit(t *testing.T) {
	t.Parallel()
	const evicted = "Message:   The node was low on resource: memory. Container trainer was using 48458972Ki, request is 15Gi, has larger consumption of memory.\n"
	for head, limited := range map[string]bool{"Requests": false, "Limits": true} {
		res := read(t, map[string]string{"a": evicted + "Containers:\n  trainer:\n    " + head + ":\n      memory:        15Gi\n"})
		require.Len(t, res.Incidents, 1, head)
		assert.Equal(t, int64(49621987328), *res.Incidents[0].Root.Used)
		if !limited {
			assert.Nil(t, res.Incidents[0].Root.Limit)
			continue
		}
		assert.Equal(t, int64(15<<30), *res.Incidents[0].Root.Limit)
	}
}

func TestAProcessThatHoldsLessThanItAllocatedIsFoundAmongTheOthers(t *testing.T) {
	t.Parallel()
	const of = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.95 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.12 GiB is free. Process 11 has 36.42 GiB memory in use. Process 12 has 40.98 GiB memory in use. Including non-PyTorch memory, this process has %s GiB memory in use. Of the allocated memory 40.00 GiB is allocated by PyTorch, and 0.20 GiB is reserved by PyTorch but unallocated.\n"
	for own, others := range map[string]float64{"0.50": 36.42, "40.50": 77.4} {
		res := read(t, map[string]string{"a": fmt.Sprintf(of, own)})
		require.Len(t, res.Incidents, 1)
		assert.InDelta(t, others, float64(*res.Incidents[0].Root.OtherProcesses)/(1<<30), .02, own)
	}
}

func TestAProcessListedAloneInAContainerIsThisOne(t *testing.T) {
	t.Parallel()
	res := read(t, map[string]string{
		"a": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.95 GiB. GPU 3 has a total capacty of 79.15 GiB of which 1.12 GiB is free. Process 2981177 has 78.02 GiB memory in use. Of the allocated memory 70.41 GiB is allocated by PyTorch, and 5.96 GiB is reserved by PyTorch but unallocated.\n",
	})
	require.Len(t, res.Incidents, 1)
	assert.NotNil(t, res.Incidents[0].Root.ProcessBytes)
	assert.Nil(t, res.Incidents[0].Root.OtherProcesses)
}

// TestAFailureThatASampleMayHoldComesFirst: its writer printed a sample that nothing closed, so the reader reports it at the log's end, behind
// what the driver says of another worker.
func TestAFailureThatASampleMayHoldComesFirst(t *testing.T) {
	t.Parallel()
	died := func(rank, text string) string {
		return label("(TaskRunner pid=71220) ", "Unhandled error (suppress with 'RAY_IGNORE_UNHANDLED_ERRORS=1'): ray::WorkerDict.update_actor() (pid=4189"+rank+", ip=172.22.8.42)\n"+text)
	}
	sample := label("(TaskRunner pid=71220) ", "[prompt] user\nname three prime numbers\nassistant\n[response] 2, 3 and 5\n")
	driver := "Error executing job with overrides: ['data.train_batch_size=256']\n" + strings.ReplaceAll(backward, "GPU 3", "GPU 0")
	bare := read(t, map[string]string{"a": died("3", backward) + driver})
	got := read(t, map[string]string{"a": sample + died("3", backward) + driver})
	require.Len(t, got.Incidents, 1)
	assert.Equal(t, bare.Incidents[0].Root.Device, got.Incidents[0].Root.Device)
	assert.Equal(t, bare.Incidents[0].Root.PID, got.Incidents[0].Root.PID)
	assert.Equal(t, new(3), got.Incidents[0].Root.Device)
}

func TestTheOrderOfInputsChangesNothing(t *testing.T) {
	t.Parallel()
	inputs := map[string]string{"x.err": bashKilled + slurmKill, "y.log": kernelKill, "z.out": "+ hostname\ncn-1\n" + backward}
	want := read(t, inputs)
	for range 8 { // maps are walked in another order each time
		assert.Equal(t, want, read(t, inputs))
	}
}

func TestASettingToldTwiceKeepsBothPlaces(t *testing.T) {
	t.Parallel()
	log := ""
	for _, n := range []string{"8", "8", "4", "2", "1", "16", "32"} {
		log += "+ python train.py --max_length " + n + "\n"
	}
	v := read(t, map[string]string{"a": log + backward}).Run.Config["--max_length"]
	assert.Equal(t, "32", v.Value)
	assert.Equal(t, 7, v.At.Line)
	var earlier []string
	for _, e := range v.Earlier {
		earlier = append(earlier, fmt.Sprint(e.Value, "@", e.At.Line))
	}
	assert.Equal(t, []string{"4@3", "2@4", "1@5", "16@6"}, earlier, "the last ones, and none that repeats its successor")
}
