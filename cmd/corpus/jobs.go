package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// The layouts of many jobs: all files in one folder, or a folder for each job.
const (
	flat    = "flat"
	folders = "folders"
)

// ranks is how many processes a job has; each writes a log of its own, beside the scheduler's two, an inference server's
// and a monitor's.
const ranks = 16

// archive writes the logs of many jobs.
type archive struct {
	dir     string
	layout  string
	lines   int // of healthy text in each file
	files   int
	kernel  map[string][]string // lines of the nodes' kernel logs
	planted []plantedJob
}

// plantedJob says what was planted in a job.
type plantedJob struct {
	ID       string `json:"id"`
	Kind     string `json:"kind"` // healthy: nothing
	Phase    string `json:"phase"`
	Host     string `json:"host"`
	Rank     int    `json:"rank"`
	Attempts int    `json:"attempts"` // how often the job died of it
}

// writeJobs writes n jobs of 20 files into DIR/jobs, a kernel log for each node on which the kernel killed something, and
// what was planted into DIR/jobs.json.
func writeJobs(dir, layout string, n, lines int, seed uint64) error {
	a := &archive{dir: filepath.Join(dir, "jobs"), layout: layout, lines: lines, kernel: map[string][]string{}}
	for i := range n {
		if err := a.job(i, rand.New(rand.NewPCG(seed, uint64(i)))); err != nil {
			return err
		}
	}
	for host, text := range a.kernel {
		if err := a.write("", "kern-"+host+".log", text); err != nil {
			return err
		}
	}
	truth, err := json.MarshalIndent(map[string]any{"files": a.files, "jobs": a.planted}, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "jobs.json"), append(truth, '\n'), 0o644)
}

func (a *archive) write(id, name string, text []string) error {
	dir := a.dir
	if id != "" && a.layout == folders {
		dir = filepath.Join(dir, id)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	a.files++
	return os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(text, "\n")+"\n"), 0o644)
}

// kindsOfJobs come in turn: more than half of the jobs are healthy.
var kindsOfJobs = []string{healthy, "gpu_oom", healthy, healthy, "oom_kill", healthy, "kv_cache", healthy, healthy, "gpu_oom", healthy, healthy}

// job writes the i-th job.
func (a *archive) job(i int, r *rand.Rand) error {
	p := plantedJob{ID: fmt.Sprint(100_000 + 7*i), Kind: kindsOfJobs[i%len(kindsOfJobs)], Phase: "unknown", Rank: r.IntN(ranks), Attempts: 1}
	p.Host = fmt.Sprintf("gpu%03d", 1+r.IntN(60))
	if i%9 == 0 {
		p.Host = "gpu013" // a node that is worse than the others
	}
	streams := map[string][]string{}
	name := func(file, ext string) string {
		if a.layout == folders {
			return file + ext
		}
		return fmt.Sprintf("%s-%s%s", file, p.ID, ext)
	}
	out, err, server := "slurm-"+p.ID+".out", "slurm-"+p.ID+".err", name("llm_server", ".log")
	rank := func(k int) string {
		if a.layout == folders {
			return fmt.Sprintf("rank_%d.log", k)
		}
		return fmt.Sprintf("policy-%s_%d.log", p.ID, k)
	}
	streams[out] = append([]string{"SLURM_JOB_ID=" + p.ID, "SLURMD_NODENAME=" + p.Host, "+ python3 -m verl.trainer.main_ppo --config-name x"}, settings(r)...)
	streams[err] = []string{"srun: job " + p.ID + " has been allocated resources"}
	streams[server] = nil
	streams[name("monitor", ".csv")] = nil
	for k := range ranks {
		streams[rank(k)] = []string{fmt.Sprintf("rank %d local_rank %d host %s pid %d", k, k%8, p.Host, 40_000+100*k+i%100)}
	}
	if p.Kind == "gpu_oom" && i%4 == 1 {
		p.Attempts = 2
	}
	for attempt := range p.Attempts {
		for s := range streams {
			streams[s] = append(streams[s], a.text(r, s == out, attempt)...)
		}
		if p.Kind == healthy {
			break
		}
		a.fail(&p, streams, out, err, server, rank, r)
		if attempt+1 < p.Attempts {
			streams[err] = append(streams[err], fmt.Sprintf("slurmstepd: error: *** JOB %s ON %s CANCELLED AT 2026-03-01T00:37:50 DUE TO JOB REQUEUE ***", p.ID, p.Host))
			for s := range streams {
				if s != err && s != server {
					streams[s] = append(streams[s], fmt.Sprintf("slurmstepd: error: *** JOB %s ON %s CANCELLED AT 2026-03-01T00:37:50 DUE TO JOB REQUEUE ***", p.ID, p.Host))
				}
			}
		}
	}
	for s, text := range streams {
		if e := a.write(p.ID, s, text); e != nil {
			return e
		}
	}
	a.planted = append(a.planted, p)
	return nil
}

// text is what a process prints while all is well.
func (a *archive) text(r *rand.Rand, steps bool, attempt int) []string {
	w := &writer{r: r, line: 1, end: '\n', step: 100 * attempt}
	var b strings.Builder
	w.out = &b
	for range a.lines {
		w.say("[%s] INFO loss=%d.%04d tokens=%d", w.clock(), w.n(3), w.n(9999), w.n(90_000))
		w.flush()
	}
	if steps {
		for k := range 3 {
			w.say("(TaskRunner pid=3901) step:%d - actor/grad_norm:0.%05d - timing_s/gen:%d.%03d", 1+100*attempt+k, w.n(99_999), w.n(90), w.n(1000))
			w.flush()
		}
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// settings is a configuration as verl prints it: some hundred keys.
func settings(r *rand.Rand) []string {
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
		fmt.Sprintf(" 'trainer': {'n_gpus_per_node': 8, 'nnodes': %d, 'experiment_name': 'exp-%d'}}", ranks/8, r.IntN(1<<30)))
}

// fail plants the job's failure: in the log of the rank that fails first, in those of some that follow, and where the
// scheduler, the kernel and the server tell of it.
func (a *archive) fail(p *plantedJob, streams map[string][]string, out, err, server string, rank func(int) string, r *rand.Rand) {
	add := func(s string, format string, args ...any) {
		streams[s] = append(streams[s], fmt.Sprintf(format, args...))
	}
	switch p.Kind {
	case "gpu_oom":
		p.Phase = "backward"
		for k := range ranks / 2 {
			who := (p.Rank + k) % ranks
			s := rank(who)
			at := fmt.Sprintf("2026-03-02 11:%02d:%02d,%03d", 10+k, r.IntN(60), r.IntN(1000))
			add(s, "%s ERROR [rank%d]: Traceback (most recent call last):", at, who)
			for n := range 12 {
				add(s, `[rank%d]:   File "/srv/train/layer_%d.py", line %d, in call_%d`, who, n, 100+n, n)
				add(s, "[rank%d]:     return self.inner_%d(*args, **kwargs)", who, n)
			}
			add(s, `[rank%d]:   File "/srv/train/loop.py", line 161, in train_step`, who)
			add(s, "[rank%d]:     loss.backward()", who)
			add(s, "[rank%d]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate %d.%02d GiB. GPU %d has a total capacity of 79.11 GiB of which 1.%02d GiB is free. Including non-PyTorch memory, this process has 77.90 GiB memory in use. Of the allocated memory 61.20 GiB is allocated by PyTorch, and 1.37 GiB is reserved by PyTorch but unallocated.",
				who, 2+r.IntN(9), r.IntN(100), who%8, r.IntN(100))
		}
	case "oom_kill":
		pid := 40_000 + 100*p.Rank
		a.kernel[p.Host] = append(a.kernel[p.Host],
			fmt.Sprintf("Mar  2 11:11:00 %s kernel: python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0", p.Host),
			fmt.Sprintf("Mar  2 11:11:00 %s kernel: oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=job_%s,mems_allowed=0-1,oom_memcg=/system.slice/slurmstepd.scope/job_%s,task_memcg=/system.slice/slurmstepd.scope/job_%s/step_0/user/task_%d,task=python3,pid=%d,uid=2001", p.Host, p.ID, p.ID, p.ID, p.Rank, pid),
			fmt.Sprintf("Mar  2 11:11:00 %s kernel: Memory cgroup out of memory: Killed process %d (python3) total-vm:18044088kB, anon-rss:16759220kB, file-rss:1228kB, shmem-rss:0kB, UID:2001 pgtables:33008kB oom_score_adj:0", p.Host, pid))
		add(err, "slurmstepd-%s: error: Detected 1 oom_kill event in StepId=%s.0. Some of the step tasks have been OOM Killed.", p.Host, p.ID)
		add(err, "srun: error: %s: task %d: Out Of Memory", p.Host, p.Rank)
	case "kv_cache":
		p.Phase = "init"
		add(server, "(EngineCore_0 pid=%d) ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.", 4000+r.IntN(64))
		add(out, "RuntimeError: Engine core initialization failed. See root cause above.")
	}
}
