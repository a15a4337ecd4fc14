package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/cmd/oomscan/internal/report"
)

// labelled matches the labels that a launcher or Ray puts before lines: where a log has its own, another one in front
// would change who wrote them. A banner that tells ranks and devices speaks of all writers.
var labelled = regexp.MustCompile(`(?m)Process rank: \d|\[rank ?\d+\]|\brank \d+/\d+ pid \d|^(\x1b\[[\d;]*m)*(\[rank\d+\]|\[default\d+\]|\d+: |\(\w+[^)\n]* pid=\d+|\[\d+\]:)`)

// told is what an incident says of itself, whoever's lines stand between its own.
type told struct {
	Verdict, Kind, Phase, Message, Leaf          string
	Resource                                     string
	Own                                          string // its first place outside of installed libraries
	Survived                                     bool
	Rank, Device, Request, Total, Free, Reserved any
}

func tell(in *report.Incident) told {
	r := &in.Root
	x := told{
		Verdict: in.Verdict, Kind: in.Kind, Phase: in.Phase, Message: r.Message, Resource: in.Resource, Survived: in.Survived, Rank: value(r.Rank), Device: value(r.Device),
		Request: value(r.Request), Total: value(r.Total), Free: value(r.Free), Reserved: value(r.Reserved),
	}
	for _, f := range r.Trace {
		x.Leaf = f.File + " " + f.Function
		if x.Own == "" && !strings.Contains(f.File, "-packages") && !strings.Contains(f.File, "lib/python") && !strings.HasPrefix(f.File, "<") {
			x.Own = x.Leaf
		}
	}
	return x
}

// parts are logs that can be woven: one file, one incident, no labels of their own.
func parts(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, dir := range sample(caseFolders(t), 2) {
		names := logs(t, dir)
		if len(names) != 1 || strings.HasPrefix(kindAndName(dir), "none/") {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, names[0]))
		require.NoError(t, err)
		if len(b) < 1<<20 && !labelled.Match(b) {
			out[kindAndName(dir)] = b
		}
	}
	require.GreaterOrEqual(t, len(out), 2)
	return out
}

// weave puts the lines of two logs side by side, each behind its label.
func weave(a, b []byte, one, two string) []byte {
	la, lb := bytes.Split(bytes.TrimSuffix(a, []byte("\n")), []byte("\n")), bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
	var out bytes.Buffer
	line := func(label string, lines [][]byte, i int) {
		if i < len(lines) {
			out.WriteString(label)
			out.Write(lines[i])
			out.WriteByte('\n')
		}
	}
	for i := range max(len(la), len(lb)) {
		line(one, la, i)
		line(two, lb, i)
	}
	return out.Bytes()
}

// memoryIncidents are what the incidents of a log say of themselves.
func memoryIncidents(t *testing.T, log []byte) (all []told) {
	t.Helper()
	r := scanLog(t, log)
	for i := range r.Incidents {
		if r.Incidents[i].Verdict == "memory" {
			all = append(all, tell(&r.Incidents[i]))
		}
	}
	return all
}

// program reports whether an incident shows code of its own, outside of installed libraries: what tells two programs apart
// from two ranks of one.
func (x *told) program() bool { return x.Own != "" && x.Leaf != "" }

// bare reports whether an incident is known by a driver's word for what a worker raised.
func (x told) bare() bool { return x.Request == nil && strings.Contains(x.Message, "RayTaskError(") }

// labelledAlone is what a log with one incident says behind a label, which may name the rank. It is not ok where the label changes more:
// what a container runtime puts before lines lies outside of a label and not below it.
func labelledAlone(t *testing.T, log []byte, bare told, label string) (x told, ok bool) {
	t.Helper()
	all := memoryIncidents(t, weave(log, nil, label, ""))
	if len(all) != 1 {
		return x, false
	}
	x = all[0]
	bare.Rank = x.Rank
	return x, x == bare && x.program()
}

func phaseless(all []told) []told {
	for i := range all {
		all[i].Phase = ""
	}
	return all
}

// lateFlush names the logs in which a dying process prints what it had said before. How much that is tells it from a run that goes on,
// and weaving doubles it.
const lateFlush = "-late-flush-"

// fateless leaves out who survived: Ray's processes are one job's, which goes on where one of them does.
func fateless(all []told) []told {
	for i := range all {
		all[i].Survived = false
	}
	return all
}

// stepLine finds lines that report a training step.
var stepLine = regexp.MustCompile(`(?i)\b(?:steps?|iteration)\b[ :=]+\d`)

// goesOnBetween reports whether a step of one log stands between the reports of a failure in the other. Of Ray's processes, which are of
// one job, that is two failures.
func goesOnBetween(failed, other []byte) bool {
	var at []int
	for i, line := range bytes.Split(failed, []byte("\n")) {
		if bytes.Contains(line, []byte("ut of memory")) {
			at = append(at, i)
		}
	}
	if len(at) < 2 {
		return false
	}
	rows := bytes.Split(other, []byte("\n"))
	return at[0] < len(rows) && slices.ContainsFunc(rows[at[0]:min(at[len(at)-1], len(rows))], stepLine.Match)
}

// TestInterleavedWritersTellWhatTheyTellApart weaves the logs of different programs. The phase of a failure that tells
// none is left out: it takes the stage that another writer announces, as rank 0 and drivers do for all.
func TestInterleavedWritersTellWhatTheyTellApart(t *testing.T) {
	t.Parallel()
	all := parts(t)
	labels := [][2]string{{"[rank0]: ", "[rank1]: "}, {"(WorkerDict pid=11) ", "(WorkerDict pid=12) "}}
	bare := map[string]told{}
	for name, b := range all {
		list := memoryIncidents(t, b)
		if len(list) == 1 {
			bare[name] = list[0]
		}
	}
	for _, l := range labels {
		apart := map[string][2]told{}
		for name, x := range bare {
			first, ok := labelledAlone(t, all[name], x, l[0])
			second, also := labelledAlone(t, all[name], x, l[1])
			if ok && also {
				apart[name] = [2]told{first, second}
			}
		}
		names := slices.Sorted(maps.Keys(apart))
		if !testing.Short() { // which samples too few logs to be sure of a pair
			require.Greater(t, len(names), 1)
		}
		for i, a := range names {
			for j, b := range names[i+1:] {
				if (i+j)%3 != 0 {
					continue // there are thousands of pairs, and each log is in some
				}
				silent := func(x, y *told) bool {
					return (x.Device == nil || y.Device == nil) && (x.Total == nil || y.Total == nil)
				}
				if x, y := apart[a][0], apart[b][1]; x.Own == y.Own || x.Resource == y.Resource &&
					(x.Resource != "gpu" || x.Device == y.Device && x.Total == y.Total || silent(&x, &y)) {
					continue // as far as they tell they share one memory: one story, whoever tells it
				}
				if strings.Contains(a+b, "oom_kill/") && (apart[a][0].bare() || apart[b][1].bare()) {
					continue // Ray's word for a task that was killed for memory, too
				}
				if strings.HasPrefix(l[0], "(") && (goesOnBetween(all[a], all[b]) || goesOnBetween(all[b], all[a])) {
					continue
				}
				t.Run(a+"+"+b+"/"+l[0], func(t *testing.T) {
					t.Parallel()
					want, got := []told{apart[a][0], apart[b][1]}, memoryIncidents(t, weave(all[a], all[b], l[0], l[1]))
					if want[0].Phase == "unknown" || want[1].Phase == "unknown" {
						want, got = phaseless(want), phaseless(got)
					}
					if strings.HasPrefix(l[0], "(") || strings.Contains(a+b, lateFlush) {
						want, got = fateless(want), fateless(got)
					}
					assert.ElementsMatch(t, want, got)
				})
			}
		}
	}
}

// TestWritersOfDifferentProgramsAreApart: the ranks of one job run one program on like cards, and a writer with a failure
// of its own does not speak for another one's.
func TestWritersOfDifferentProgramsAreApart(t *testing.T) {
	t.Parallel()
	const (
		torch = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n"
		xla   = "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4294967296 bytes.\n"
		small = "RuntimeError: CUDA out of memory. Tried to allocate 1.50 GiB (GPU 0; 14.76 GiB total capacity; 11.94 GiB already allocated; 1.13 GiB free; 12.48 GiB reserved in total by PyTorch)\n"
		eval  = "***** Running Evaluation *****\n"
		numpy = "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 188. GiB for an array with shape (410000, 122880) and data type float32\n"
		step  = "step:%d - actor/pg_loss:0.01 - critic/rewards/mean:0.5\n"
		bus   = "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).\n"
		died  = "RuntimeError: DataLoader worker (pid 1187) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.\n"
		kv    = "ValueError: The model's max seq len (%d) is larger than the maximum number of tokens that can be stored in KV cache (21456). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.\n"
		trt   = "[TensorRT-LLM][ERROR] CUDA runtime error in ::cudaMallocAsync(ptr, n, mCudaStream->get()): out of memory (/app/tllmBuffers.h:112)\n"
		serve = "[2026-05-30 15:00:00] server_args=ServerArgs(model_path='/models/GLM-4.5-Air-FP8', host='0.0.0.0', port=30000, mem_fraction_static=0.8)\n"
		kill  = "slurmstepd: error: Detected 1 oom_kill event in StepId=884120.0. Some of the step tasks have been OOM Killed.\n"
	)
	stack := func(file string) string {
		return "Traceback (most recent call last):\n  File \"" + file + "\", line 8, in step\n    x = f(y)\n" + torch
	}
	for name, c := range map[string]struct {
		first, second string
		phases        []string
	}{
		"torch and XLA":                             {eval + torch, "\n" + xla, []string{"forward", "unknown"}},
		"two ranks of a job":                        {eval + torch, "\n" + torch, []string{"forward"}},
		"cards of different sizes":                  {eval + torch, "\n" + small, []string{"forward", "unknown"}},
		"a refused request and a kill":              {eval + numpy, kill, []string{"unknown", "forward"}},
		"libraries of different programs":           {stack("/opt/train.py"), strings.Replace(stack("/venv/lib/python3.12/site-packages/vllm/engine.py"), "GPU 0", "GPU 1", 1), []string{"unknown", "unknown"}},
		"two ranks of a job inside other libraries": {stack("/venv/lib/python3.12/site-packages/torch/nn.py"), strings.Replace(stack("/venv/lib/python3.12/site-packages/numpy/x.py"), "GPU 0", "GPU 1", 1), []string{"unknown"}},
		"engines of different lengths":              {fmt.Sprintf(kv, 65536), fmt.Sprintf(kv, 131072), []string{"init", "init"}},
		"two ranks of an engine":                    {fmt.Sprintf(kv, 65536), fmt.Sprintf(kv, 65536), []string{"init"}},
		"TensorRT and torch":                        {eval + trt, "\n" + torch, []string{"forward", "unknown"}},
		"another program's steps":                   {bus + "\n" + died, torch + fmt.Sprintf(step, 3), []string{"data", "unknown"}},
		"a server that starts beside a failure":     {torch + "\n" + torch, "\n" + serve, []string{"init"}},
		"a server that starts after its failure":    {"\n\n", torch + serve + torch, []string{"init", "init"}},
		"a rank without words":                      {eval, "\n" + torch, []string{"forward"}}, // rank 0 announces the stages of all
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, x := range memoryIncidents(t, weave([]byte(c.first), []byte(c.second), "[rank0]: ", "[rank1]: ")) {
				got = append(got, x.Phase)
			}
			assert.Equal(t, c.phases, got)
		})
	}
}
