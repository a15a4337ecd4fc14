package remedies

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/remedies/memory"
)

func TestAValueThatTheLogDoesNotShow(t *testing.T) {
	t.Parallel()
	full := with(gpuOOM("rollout"), func(r *classifier.Root) { r.Total, r.Free, r.Requested = gibs(80), gibs(1), gibs(2) })
	shown := func(framework string, pairs ...string) *classifier.Run {
		r := run(framework, pairs...)
		for i := range leastFlags {
			r.Config[fmt.Sprintf("trainer.setting_%d", i)] = classifier.Value{Value: "1", Form: "overrides"}
		}
		return r
	}
	withVersion := func(r *classifier.Run, version string) *classifier.Run {
		r.FrameworkVersion = version
		return r
	}
	withFile := shown("verl")
	withFile.Config["config"] = classifier.Value{Value: "run.yaml", Form: "overrides"}
	for name, c := range map[string]struct {
		run      *classifier.Run
		in       *classifier.Incident
		id       string
		from, to string
		how      string
	}{
		"starts from the default":                     {run("verl"), full, "verl.rollout.gpu-memory-utilization", "", "0.43", "0.5 by default in recent versions: "},
		"is the default beside a whole command line":  {shown("verl"), full, "verl.rollout.gpu-memory-utilization", "0.5", "0.43", "0.5 by default in recent versions: "},
		"is not known where a file may have it":       {withFile, full, "verl.rollout.gpu-memory-utilization", "", "0.43", "0.5 by default in recent versions: "},
		"starts from the version's default":           {withVersion(run("verl"), "0.5.0"), full, "verl.rollout.gpu-memory-utilization", "", "0.43", "0.5 by default: "},
		"a share above the usual one is not believed": {run("openrlhf"), full, "openrlhf.vllm-utilization", "", "0.43", "about half"},
		"a micro-batch without a default goes to one": {run("verl"), gpuOOM("backward"), "verl.actor.micro-batch-size", "", "1", "one sample"},
		"a length is the task's":                      {run("trl"), gpuOOM("backward"), "trl.completion-length", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := pick(t, For(c.run, c.in), c.id)
			if !assert.NotEmpty(t, r.Changes) {
				return
			}
			assert.Equal(t, c.from, orEmpty(r.Changes[0].From))
			assert.Equal(t, c.to, orEmpty(r.Changes[0].To))
			assert.Contains(t, r.Changes[0].ComputedFrom, c.how)
		})
	}
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func TestTheShareLeavesWhatTheTrainerHeldBeforeTheWakeUp(t *testing.T) {
	t.Parallel()
	before := classifier.Gauge{Name: "reading.device", Fields: parser.Fields{"label": "Before resume SGLang weights", "used": fmt.Sprint(39 << 30), "total": fmt.Sprint(79 << 30)}}
	after := before
	after.Fields = parser.Fields{"label": "After resume SGLang weights", "used": fmt.Sprint(39 << 30), "total": fmt.Sprint(79 << 30)}
	for want, g := range map[string]classifier.Gauge{"0.45": before, "0.5": after} {
		r := run("verl", "actor_rollout_ref.rollout.gpu_memory_utilization", "0.6")
		r.Gauges = []classifier.Gauge{g}
		in := &classifier.Incident{Kind: parser.GPUDriverOOM, Resource: "gpu", Phase: "rollout", Root: rootOf("CUDA Error: out of memory at csrc/cumem_allocator.cpp:139")}
		assert.Equal(t, want, toOf(pick(t, For(r, in), "verl.rollout.gpu-memory-utilization"), "actor_rollout_ref.rollout.gpu_memory_utilization"))
	}
}

func TestARequestOfLogitsTellsTheVocabulary(t *testing.T) {
	t.Parallel()
	for tokens, want := range map[int64]int64{16 * 1024: 151936, 10_000: 0} {
		q := &memory.Request{Place: memory.Logits, Size: memory.Printed(*gibs(9.27), "Tried to allocate 9.27 GiB"), Limit: &memory.Limit{Tokens: tokens}}
		assert.Equal(t, want, vocabularyThatFits(q), tokens)
	}
}

func TestPairsOfAnswersHaveTwiceTheTokens(t *testing.T) {
	t.Parallel()
	r := run("trl", "per_device_train_batch_size", "8", "max_length", "1024")
	in := with(gpuOOM("forward"), func(r *classifier.Root) {
		r.Trace = frames("/x/trl/trainer/dpo_trainer.py|concatenated_forward|outputs = model(")
	})
	assert.EqualValues(t, 16*1024, newContext(r, in).limit.Tokens)
	assert.EqualValues(t, 8*1024, newContext(r, gpuOOM("forward")).limit.Tokens)
}

func TestAnEnvironmentCalledAsAnEngineIsNone(t *testing.T) {
	t.Parallel()
	for want, file := range map[truth]string{no: "/home/a/envs/vllm/lib/python3.12/site-packages/trl/trainer/utils.py", yes: "/home/a/lib/python3.12/site-packages/vllm/worker/worker.py"} {
		in := with(gpuOOM("forward"), func(r *classifier.Root) { r.Trace = frames(file + "|f|x") })
		assert.Equal(t, want, newContext(run("trl"), in).holds("engine_process").truth, file)
	}
}
