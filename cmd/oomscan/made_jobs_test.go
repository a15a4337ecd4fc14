package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// madeRanks is the number of processes of a job. Each writes a log, next to the scheduler's two, an inference server's
// and a monitor's.
const madeRanks = 16

// madeJobs writes the logs of many jobs.
type madeJobs struct {
	dir    string
	layout string              // flat: all files in one folder; folders: a folder for each job
	kernel map[string][]string // lines of the nodes' kernel logs
	failed []madeFailure
}

// madeFailure describes how a job fails.
type madeFailure struct {
	ID, Kind, Host string // kind healthy: it does not
	Rank, Attempts int    // how often it failed this way
}

// makeJobs writes n jobs of 20 files into a folder, and the kernel log of each node with an OOM kill. It returns the jobs'
// failures.
func makeJobs(t *testing.T, dir, layout string, n int) []madeFailure {
	t.Helper()
	a := &madeJobs{dir: dir, layout: layout, kernel: map[string][]string{}}
	for i := range n {
		require.NoError(t, a.job(i, rand.New(rand.NewPCG(1, uint64(i)))))
	}
	for host, text := range a.kernel {
		require.NoError(t, a.write("", "kern-"+host+".log", text))
	}
	return a.failed
}

func (a *madeJobs) write(id, name string, text []string) error {
	dir := a.dir
	if id != "" && a.layout == "folders" {
		dir = filepath.Join(dir, id)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(text, "\n")+"\n"), 0o644)
}

// kindsOfJobs are used in turn. More than half are healthy.
var kindsOfJobs = []string{"healthy", "gpu_oom", "healthy", "healthy", "oom_kill", "healthy", "kv_cache", "healthy", "healthy", "gpu_oom", "healthy", "healthy"}

// madeJob is a job and the text of its files.
type madeJob struct {
	madeFailure
	streams          map[string][]string
	out, err, server string             // file names of the scheduler's streams and the inference server's log
	rank             func(k int) string // file name of a rank's log
	r                *rand.Rand
}

// job writes the i-th job.
func (a *madeJobs) job(i int, r *rand.Rand) error {
	j := &madeJob{streams: map[string][]string{}, r: r}
	j.madeFailure = madeFailure{ID: fmt.Sprint(100_000 + 7*i), Kind: kindsOfJobs[i%len(kindsOfJobs)], Rank: r.IntN(madeRanks), Attempts: 1}
	j.Host = fmt.Sprintf("gpu%03d", 1+r.IntN(60))
	if i%9 == 0 {
		j.Host = "gpu013" // a node that fails more often
	}
	j.out, j.err = "slurm-"+j.ID+".out", "slurm-"+j.ID+".err"
	monitor := "monitor.csv"
	j.server, j.rank = "llm_server.log", func(k int) string { return fmt.Sprintf("rank_%d.log", k) }
	if a.layout == "flat" {
		monitor = fmt.Sprintf("monitor-%s.csv", j.ID)
		j.server, j.rank = fmt.Sprintf("llm_server-%s.log", j.ID), func(k int) string { return fmt.Sprintf("policy-%s_%d.log", j.ID, k) }
	}
	j.streams[j.out] = append([]string{"SLURM_JOB_ID=" + j.ID, "SLURMD_NODENAME=" + j.Host, "+ python3 -m verl.trainer.main_ppo --config-name x"}, madeSettings(r)...)
	j.streams[j.err] = []string{"srun: job " + j.ID + " has been allocated resources"}
	j.streams[j.server], j.streams[monitor] = nil, nil
	for k := range madeRanks {
		j.streams[j.rank(k)] = []string{fmt.Sprintf("rank %d local_rank %d host %s pid %d", k, k%8, j.Host, 40_000+100*k+i%100)}
	}
	if j.Kind == "gpu_oom" && i%4 == 1 {
		j.Attempts = 2
	}
	names := slices.Sorted(maps.Keys(j.streams)) // sorted, so that the same seed gives the same bytes
	for attempt := range j.Attempts {
		for _, s := range names {
			j.streams[s] = append(j.streams[s], madeText(r, s == j.out, attempt)...)
		}
		a.fail(j)
		for _, s := range names {
			if attempt+1 < j.Attempts && s != j.server {
				j.add(s, "slurmstepd: error: *** JOB %s ON %s CANCELLED AT 2026-03-01T00:37:50 DUE TO JOB REQUEUE ***", j.ID, j.Host)
			}
		}
	}
	for _, s := range names {
		if err := a.write(j.ID, s, j.streams[s]); err != nil {
			return err
		}
	}
	a.failed = append(a.failed, j.madeFailure)
	return nil
}

// add adds a line to one of the job's files.
func (j *madeJob) add(s, format string, args ...any) {
	j.streams[s] = append(j.streams[s], fmt.Sprintf(format, args...))
}

// madeText returns what a process prints while all is well.
func madeText(r *rand.Rand, steps bool, attempt int) []string {
	var out []string
	for i := range 8 { // of healthy text in each file
		out = append(out, fmt.Sprintf("[2026-03-02 11:%02d:%02d] INFO loss=%d.%04d tokens=%d", i/60%60, i%60, r.IntN(3), r.IntN(9999), r.IntN(90_000)))
	}
	if steps {
		for k := range 3 {
			out = append(out, fmt.Sprintf("(TaskRunner pid=3901) step:%d - actor/grad_norm:0.%05d - timing_s/gen:%d.%03d", 1+100*attempt+k, r.IntN(99_999), r.IntN(90), r.IntN(1000)))
		}
	}
	return out
}

// madeSettings returns a configuration of some hundred keys as verl prints it.
func madeSettings(r *rand.Rand) []string {
	out := []string{"{'actor_rollout_ref': {'actor': {'strategy': 'fsdp',"}
	for i := range 30 {
		out = append(out, fmt.Sprintf("                                  'section_%d': {'ppo_micro_batch_size_per_gpu': %d,", i, 1+r.IntN(8)))
		for k := range 12 {
			out = append(out, fmt.Sprintf("                                                'some_setting_number_%d': %d,", k, r.IntN(1000)))
		}
		out = append(out, "                                                'last': None},")
	}
	return append(out, "                                  'use_kl_loss': True},",
		"                       'model': {'path': '/models/Qwen2.5-7B-Instruct', 'enable_gradient_checkpointing': False}},",
		fmt.Sprintf(" 'trainer': {'n_gpus_per_node': 8, 'nnodes': %d, 'experiment_name': 'exp-%d'}}", madeRanks/8, r.IntN(1<<30)))
}

// fail writes the job's failure: into the log of the rank that fails first and of some that follow, and where the
// scheduler, the kernel and the server report it.
func (a *madeJobs) fail(j *madeJob) {
	r := j.r
	switch j.Kind {
	case "gpu_oom":
		for k := range madeRanks / 2 {
			failing := (j.Rank + k) % madeRanks
			s := j.rank(failing)
			at := fmt.Sprintf("2026-03-02 11:%02d:%02d,%03d", 10+k, r.IntN(60), r.IntN(1000))
			j.add(s, "%s ERROR [rank%d]: Traceback (most recent call last):", at, failing)
			for n := range 12 {
				j.add(s, `[rank%d]:   File "/srv/train/layer_%d.py", line %d, in call_%d`, failing, n, 100+n, n)
				j.add(s, "[rank%d]:     return self.inner_%d(*args, **kwargs)", failing, n)
			}
			j.add(s, `[rank%d]:   File "/srv/train/loop.py", line 161, in train_step`, failing)
			j.add(s, "[rank%d]:     loss.backward()", failing)
			j.add(s, "[rank%d]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate %d.%02d GiB. GPU %d has a total capacity of 79.11 GiB of which 1.%02d GiB is free. Including non-PyTorch memory, this process has 77.90 GiB memory in use. Of the allocated memory 61.20 GiB is allocated by PyTorch, and 1.37 GiB is reserved by PyTorch but unallocated.",
				failing, 2+r.IntN(9), r.IntN(100), failing%8, r.IntN(100))
		}
	case "oom_kill":
		pid := 40_000 + 100*j.Rank
		a.kernel[j.Host] = append(a.kernel[j.Host],
			fmt.Sprintf("Mar  2 11:11:00 %s kernel: python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0", j.Host),
			fmt.Sprintf("Mar  2 11:11:00 %s kernel: oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=job_%s,mems_allowed=0-1,oom_memcg=/system.slice/slurmstepd.scope/job_%s,task_memcg=/system.slice/slurmstepd.scope/job_%s/step_0/user/task_%d,task=python3,pid=%d,uid=2001", j.Host, j.ID, j.ID, j.ID, j.Rank, pid),
			fmt.Sprintf("Mar  2 11:11:00 %s kernel: Memory cgroup out of memory: Killed process %d (python3) total-vm:18044088kB, anon-rss:16759220kB, file-rss:1228kB, shmem-rss:0kB, UID:2001 pgtables:33008kB oom_score_adj:0", j.Host, pid))
		j.add(j.err, "slurmstepd-%s: error: Detected 1 oom_kill event in StepId=%s.0. Some of the step tasks have been OOM Killed.", j.Host, j.ID)
		j.add(j.err, "srun: error: %s: task %d: Out Of Memory", j.Host, j.Rank)
	case "kv_cache":
		j.add(j.server, "(EngineCore_0 pid=%d) ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.", 4000+r.IntN(64))
		j.add(j.out, "RuntimeError: Engine core initialization failed. See root cause above.")
	}
}
