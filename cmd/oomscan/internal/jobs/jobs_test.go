package jobs

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
)

// logs parses lines of `NAME [job=ID,ID] [rank=N,N] [host=H] [head] [node]`.
func logs(t testing.TB, lines []string) []Log {
	t.Helper()
	var out []Log
	for _, line := range lines {
		words := strings.Fields(line)
		l := Log{Name: words[0], Clues: &classifier.Clues{}}
		for _, w := range words[1:] {
			key, value, _ := strings.Cut(w, "=")
			switch key {
			case "job":
				l.Clues.Jobs = strings.Split(value, ",")
			case "rank":
				for _, r := range strings.Split(value, ",") {
					n, err := strconv.Atoi(r)
					require.NoError(t, err)
					l.Clues.Ranks = append(l.Clues.Ranks, n)
				}
			case "host":
				l.Clues.Hosts = []string{value}
			case "head":
				l.Clues.Head = true
			case "node":
				l.Clues.Node = true
			default:
				t.Fatalf("unknown word %q", w)
			}
		}
		out = append(out, l)
	}
	return out
}

// format formats jobs as lines `NAME: LOG LOG`, and shared logs as `NAME among NAME NAME`.
func format(logs []Log, jobs []Job) []string {
	var out []string
	for _, j := range jobs {
		var words []string
		for _, i := range j.Logs {
			words = append(words, logs[i].Name)
		}
		line := j.Name + ": " + strings.Join(words, " ")
		if j.Among != nil {
			words = nil
			for _, i := range j.Among {
				words = append(words, jobs[i].Name)
			}
			line = j.Name + " among " + strings.Join(words, " ")
		}
		out = append(out, line)
	}
	return out
}

func TestGroup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		logs []string
		want []string
	}{
		{
			"streams of one job and a log without an id",
			[]string{"slurm-4242.err", "slurm-4242.out", "llm_server.log"},
			[]string{"4242: slurm-4242.err slurm-4242.out llm_server.log"},
		},
		{
			"two jobs in a folder",
			[]string{"d/slurm-10.err", "d/slurm-10.out", "d/slurm-9.err", "d/slurm-9.out"},
			[]string{"9: d/slurm-9.err d/slurm-9.out", "10: d/slurm-10.err d/slurm-10.out"},
		},
		{
			"a log with an id, and one without",
			[]string{"slurm-1.out", "slurm-2.out", "server.log job=2", "notes.txt"},
			[]string{"1: slurm-1.out", "2: slurm-2.out server.log", "notes.txt among 1 2"},
		},
		{
			"a run that nobody owns is a job",
			[]string{"slurm-1.out", "slurm-2.out", "train.log head"},
			[]string{"1: slurm-1.out", "2: slurm-2.out", "train.log: train.log"},
		},
		{
			"per-rank files",
			[]string{"rank_0.log head", "rank_1.log head", "worker-0.err", "worker-1.err", "node1_local1_stderr.log"},
			[]string{"node1_local1_stderr.log and 4 more: rank_0.log rank_1.log worker-0.err worker-1.err node1_local1_stderr.log"},
		},
		{
			"numbers behind the id are ranks when a log of the job has none",
			[]string{"grpo-61044_0.log", "grpo-61044_1.log", "slurm-61044.out"},
			[]string{"61044: grpo-61044_0.log grpo-61044_1.log slurm-61044.out"},
		},
		{
			"or when the logs tell one id",
			[]string{"t-61044_0.log job=61044", "t-61044_1.log job=61044"},
			[]string{"61044: t-61044_0.log t-61044_1.log"},
		},
		{
			"or these ranks",
			[]string{"t-61044_0.out rank=0", "t-61044_1.out rank=1"},
			[]string{"61044: t-61044_0.out t-61044_1.out"},
		},
		{
			"tasks of an array",
			[]string{"slurm-15_2.out job=17", "slurm-15_3.out job=18", "slurm-15_3.err"},
			[]string{"15_2: slurm-15_2.out", "15_3: slurm-15_3.out slurm-15_3.err"},
		},
		{
			"ranks that are those of every task",
			[]string{"f_55110_7.out rank=0,1", "f_55110_8.out rank=0,1"},
			[]string{"55110_7: f_55110_7.out", "55110_8: f_55110_8.out"},
		},
		{
			"components of a heterogeneous job",
			[]string{"slurm-4242+0.out", "slurm-4242+1.out"},
			[]string{"4242: slurm-4242+0.out slurm-4242+1.out"},
		},
		{
			"PBS and Grid Engine",
			[]string{"ft.e881204", "ft.o881204", "ft.e881205", "ft.o881205"},
			[]string{"881204: ft.e881204 ft.o881204", "881205: ft.e881205 ft.o881205"},
		},
		{
			"numbers that are no ids",
			[]string{"vllm_8000.log head", "vllm_8001.log head", "seq_8192.log", "seq_4096.log", "train_20241120.log", "train_20241121.log", "nccl.n1.77001.log", "nccl.n1.77002.log", "bs-1024.out", "rank-1000.out"},
			[]string{"bs-1024.out and 9 more: vllm_8000.log vllm_8001.log seq_8192.log seq_4096.log train_20241120.log train_20241121.log nccl.n1.77001.log nccl.n1.77002.log bs-1024.out rank-1000.out"},
		},
		{
			"runs with names that differ only in a number",
			[]string{"train-91034.log head", "train-91077.log head"},
			[]string{"91034: train-91034.log", "91077: train-91077.log"},
		},
		{
			"processes of one job named by pid",
			[]string{"train-91034.log head job=7", "train-91077.log head job=7"},
			[]string{"7: train-91034.log train-91077.log"},
		},
		{
			"ids only in the logs",
			[]string{"a.log job=1 head", "b.log job=2 head", "c.log"},
			[]string{"1: a.log", "2: b.log", "c.log among 1 2"},
		},
		{
			"the roles of an AReaL trial, each a Slurm job",
			[]string{"t/main.log head job=8,9", "t/llm_server.log job=8", "t/trainer.log head job=9", "t/slurm-7.out job=7"},
			[]string{"7: t/main.log t/llm_server.log t/trainer.log t/slurm-7.out"},
		},
		{
			"AReaL trials",
			[]string{"logs/u/gsm/trial0/main.log", "logs/u/gsm/trial0/trainer.log head", "logs/u/gsm/trial1/main.log", "logs/u/gsm/trial1/trainer.log head"},
			[]string{"u/gsm/trial0: logs/u/gsm/trial0/main.log logs/u/gsm/trial0/trainer.log", "u/gsm/trial1: logs/u/gsm/trial1/main.log logs/u/gsm/trial1/trainer.log"},
		},
		{
			"folders of runs",
			[]string{"runs/a/train.log head", "runs/b/sft.log head", "runs/b/rank_0/err.log", "runs/todo.txt"},
			[]string{"runs/a: runs/a/train.log", "runs/b: runs/b/sft.log runs/b/rank_0/err.log", "runs/todo.txt among runs/a runs/b"},
		},
		{
			"folders of nodes and ranks",
			[]string{"run/node1/train.log head", "run/node2/train.log head", "run/gpu-07/0/stderr.log", "run/gpu-08/0/stderr.log", "run/mi-c01/x.log host=mi-c01.hpc head", "run/mi-c02/x.log host=mi-c02 head"},
			[]string{"run: run/node1/train.log run/node2/train.log run/gpu-07/0/stderr.log run/gpu-08/0/stderr.log run/mi-c01/x.log run/mi-c02/x.log"},
		},
		{
			"folders whose ranks complete each other",
			[]string{"x/train.log head rank=0,1", "y/train.log head rank=2,3"},
			[]string{"x/train.log and 1 more: x/train.log y/train.log"},
		},
		{
			"torchrun's attempts",
			[]string{"l/none_abcd1234/attempt_0/0/stderr.log", "l/none_abcd1234/attempt_1/0/stderr.log", "l/none_xyzw5678/attempt_0/0/stderr.log"},
			[]string{"l/none_abcd1234: l/none_abcd1234/attempt_0/0/stderr.log l/none_abcd1234/attempt_1/0/stderr.log", "l/none_xyzw5678: l/none_xyzw5678/attempt_0/0/stderr.log"},
		},
		{
			"torchrun's folders of two nodes",
			[]string{"l/exp7_abcd1234/attempt_0/0/stderr.log", "l/exp7_xyzw5678/attempt_0/0/stderr.log"},
			[]string{"l/exp7: l/exp7_abcd1234/attempt_0/0/stderr.log l/exp7_xyzw5678/attempt_0/0/stderr.log"},
		},
		{"Ray's sessions, one on two nodes", []string{
			"n1/ray/session_2025-01-02_03-04-05_678901_23/logs/worker-0123456789abcdef0123-01000000-4242.err",
			"n1/ray/session_2025-01-02_03-04-05_678901_23/logs/job-driver-raysubmit_AbCdEfGh1234.log head",
			"n1/ray/session_2025-02-02_03-04-05_678901_23/logs/job-driver-raysubmit_ZbCdEfGh1234.log head",
		}, []string{
			"ray/session_2025-01-02_03-04-05_678901_23: n1/ray/session_2025-01-02_03-04-05_678901_23/logs/worker-0123456789abcdef0123-01000000-4242.err n1/ray/session_2025-01-02_03-04-05_678901_23/logs/job-driver-raysubmit_AbCdEfGh1234.log",
			"ray/session_2025-02-02_03-04-05_678901_23: n1/ray/session_2025-02-02_03-04-05_678901_23/logs/job-driver-raysubmit_ZbCdEfGh1234.log",
		}},
		{
			"Hydra's runs and sweeps",
			[]string{"outputs/2025-01-02/10-11-12/main_ppo.log head", "outputs/2025-01-02/10-31-12/main_ppo.log head", "multirun/2025-01-03/09-00-00/0/main_ppo.log head", "multirun/2025-01-03/09-00-00/1/main_ppo.log head"},
			[]string{
				"2025-01-02/10-11-12: outputs/2025-01-02/10-11-12/main_ppo.log", "2025-01-02/10-31-12: outputs/2025-01-02/10-31-12/main_ppo.log",
				"multirun/2025-01-03/09-00-00/0: multirun/2025-01-03/09-00-00/0/main_ppo.log", "multirun/2025-01-03/09-00-00/1: multirun/2025-01-03/09-00-00/1/main_ppo.log",
			},
		},
		{
			"folders named by ids",
			[]string{"jobs/4242/train.log head", "jobs/4242/rank_1.log", "jobs/4243/train.log head"},
			[]string{"4242: jobs/4242/train.log jobs/4242/rank_1.log", "4243: jobs/4243/train.log"},
		},
		{
			"a project's number is no id",
			[]string{"p/100234/slurm-1.out", "p/100234/train.log head"},
			[]string{"1: p/100234/slurm-1.out p/100234/train.log"},
		},
		{
			"a folder and the scheduler's file of the same job",
			[]string{"slurm/slurm-1.out", "slurm/slurm-2.out", "runs/a/train.log head job=2", "runs/b/train.log head job=1"},
			[]string{"1: slurm/slurm-1.out runs/b/train.log", "2: slurm/slurm-2.out runs/a/train.log"},
		},
		{
			"archives are folders",
			[]string{"a.tar.gz!train.log head", "b.tar.gz!train.log head", "node1.zip!x.log", "node2.zip!x.log"},
			[]string{"a: a.tar.gz!train.log", "b: b.tar.gz!train.log", "node1.zip!x.log among a b", "node2.zip!x.log among a b"},
		},
		{
			"a node's log beside one job",
			[]string{"dmesg.txt node", "slurm-88123.err", "train.log"},
			[]string{"88123: dmesg.txt slurm-88123.err train.log"},
		},
		{
			"a node's log beside several jobs",
			[]string{"kern.log node", "slurm-1.out", "slurm-2.out"},
			[]string{"1: slurm-1.out", "2: slurm-2.out", "kern.log among 1 2"},
		},
		{
			"a node's log in one job's folder",
			[]string{"j/1111/dmesg.txt node", "j/1111/train.log head", "j/2222/train.log head"},
			[]string{"1111: j/1111/dmesg.txt j/1111/train.log", "2222: j/2222/train.log"},
		},
		{
			"logs of nodes alone",
			[]string{"n1/kern.log node", "n2/kern.log node"},
			[]string{"n1/kern.log and 1 more: n1/kern.log n2/kern.log"},
		},
		{
			"rotated files",
			[]string{"x.log.2.gz head", "x.log.1 head", "x.log head"},
			[]string{"x.log and 2 more: x.log.2.gz x.log.1 x.log"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in := logs(t, c.logs)
			assert.Equal(t, c.want, format(in, Group(in)))
		})
	}
}

func TestOrderOfLogsDoesNotMatter(t *testing.T) {
	t.Parallel()
	in := logs(t, []string{
		"slurm-1.out job=1", "slurm-2.out", "server.log job=2", "notes.txt", "kern.log node", "runs/a/t.log head job=2", "runs/b/t.log head", "j/77/x.log",
		"x/train.log head rank=0", "slurm-15_2.out", "slurm-15_3.out", "train.log head", "grpo-61044_0.log", "slurm-61044.out",
	})
	names := func(perm []int) map[string][]string {
		list := make([]Log, len(in))
		for i, p := range perm {
			list[i] = in[p]
		}
		out := map[string][]string{}
		for _, j := range Group(list) {
			for _, i := range j.Logs {
				out[j.Name] = append(out[j.Name], list[i].Name)
			}
			if j.Among == nil {
				out["order"] = append(out["order"], j.Name)
			}
		}
		return out
	}
	perm := rand.New(rand.NewPCG(1, 2)).Perm(len(in))
	want := names(perm)
	for seed := range uint64(20) {
		got := names(rand.New(rand.NewPCG(seed, 2)).Perm(len(in)))
		require.Len(t, got, len(want))
		assert.Equal(t, want["order"], got["order"])
		for k := range want {
			assert.ElementsMatch(t, want[k], got[k], k)
		}
	}
}

// FuzzGroup checks what is true for any input: each log is in one job, names are unique, nothing panics.
func FuzzGroup(f *testing.F) {
	f.Add("slurm-1.out\nd/slurm-2_3.err\nkern.log", uint8(3))
	f.Add("a.tar!b/../c\n/\n!!\n-\n\xff.1", uint8(7))
	f.Fuzz(func(t *testing.T, names string, bits uint8) {
		var in []Log
		seen := map[string]bool{}
		for i, name := range strings.Split(names, "\n") {
			if seen[name] {
				continue
			}
			seen[name] = true
			c := classifier.Clues{Head: bits>>(i%8)&1 == 1, Node: bits>>(i%5)&1 == 1}
			if i%3 == 0 {
				c.Jobs = []string{strconv.Itoa(int(bits) % (i + 1))}
			}
			in = append(in, Log{Name: name, Clues: &c})
		}
		count := make([]int, len(in))
		used := map[string]bool{}
		jobs := Group(in)
		for _, j := range jobs {
			assert.False(t, used[j.Name] && j.Among == nil, j.Name)
			used[j.Name] = true
			for _, i := range j.Logs {
				count[i]++
			}
			for _, i := range j.Among {
				assert.Nil(t, jobs[i].Among)
			}
		}
		for i, n := range count {
			assert.Equal(t, 1, n, in[i].Name)
		}
	})
}

func TestSeriesIsWhatTheSchedulersFilesAreCalled(t *testing.T) {
	t.Parallel()
	in := logs(t, []string{
		"slurm-11.out", "policy-1111_0.log", "slurm-1111.out", "qwen-rl-2222.out", "qwen-rl-2222.err", "server-2222.log", "3333_qwen-rl.out", "a-4444.out", "b-4444.err",
	})
	got := map[string]string{}
	for _, j := range Group(in) {
		got[j.Name] = j.Series
	}
	assert.Equal(t, map[string]string{"11": "", "1111": "", "2222": "qwen-rl", "3333": "qwen-rl", "4444": ""}, got)
}
