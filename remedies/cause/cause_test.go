package cause

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/remedies/memory"
)

func bytes(gib float64) *int64 { n := int64(gib * (1 << 30)); return &n }

func number(n int) *int { return &n }

// failure is an input on a card of 80 GiB, or on a host.
func failure(resource, phase string, set ...func(*Input)) *Input {
	in := &Input{Resource: resource, Phase: phase, Kind: "gpu_oom", GPUs: 8, Setting: func(...string) (string, string, bool) { return "", "", false }}
	if resource == "gpu" {
		in.Total, in.Free, in.Requested, in.Shortfall = bytes(80), bytes(1), bytes(3), bytes(2)
		in.Process, in.Allocated, in.Idle = bytes(79), bytes(77), bytes(.3)
	}
	for _, f := range set {
		f(in)
	}
	return in
}

func stack(frames ...string) func(*Input) { return func(in *Input) { in.Stack = frames } }

func setting(key, value string) func(*Input) {
	return func(in *Input) {
		before := in.Setting
		in.Setting = func(names ...string) (string, string, bool) {
			for _, n := range names {
				if n == key {
					return key, value, true
				}
			}
			return before(names...)
		}
	}
}

func request(e memory.Explanation) func(*Input) {
	return func(in *Input) { in.Request = []memory.Explanation{e} }
}

// parameters sets the model's size and the number of GPUs.
func parameters(n, gpus int64) func(*Input) {
	return func(in *Input) { in.Parameters.Value, in.GPUs = n, gpus }
}

func at(p memory.Place) func(*Input) { return func(in *Input) { in.Place = p } }

func TestEachCauseIsProvedAndRefuted(t *testing.T) {
	t.Parallel()
	over := memory.Explanation{What: "logits", Seen: true, Low: 9000, High: 9000, Over: true, OverWhy: "more tokens than the limit", Text: "9,000 tokens."}
	for _, c := range []struct {
		id            string
		proves, looks *Input // looks like it and is not
	}{
		{"states_too_big", failure("gpu", "init", stack("a.py load_model"), parameters(70e9, 1)), failure("gpu", "forward", parameters(70e9, 1))},
		{"wrong_dtype", failure("gpu", "init", stack("a.py from_pretrained"), setting("torch_dtype", "float32")), failure("gpu", "init", stack("a.py from_pretrained"), setting("torch_dtype", "bfloat16"))},
		{
			"not_sharded", failure("gpu", "init", at(memory.Gather), parameters(7e9, 8), func(in *Input) { in.Requested = bytes(13.1) }),
			failure("gpu", "init", at(memory.Gather), parameters(7e9, 1), func(in *Input) { in.Requested = bytes(13.1) }),
		},
		{"optimizer_first_step", failure("gpu", "optimizer", stack("adamw.py _init_group")), failure("gpu", "forward", stack("adamw.py _init_group"))},
		{"activations", failure("gpu", "backward", request(memory.Explanation{What: "activations", Seen: true, Text: "8,192 tokens."})), failure("gpu", "optimizer")},
		{"attention_scores", failure("gpu", "forward", request(memory.Explanation{What: "attention", Seen: true, Text: "8,192 x 8,192 tokens."})), failure("gpu", "forward", stack("flash_attn.py flash_attn_func"))},
		{"logits", failure("gpu", "backward", request(memory.Explanation{What: "logits", Met: true, Text: "24,000 tokens."})), failure("gpu", "rollout", at(memory.Logits), func(in *Input) { in.EngineFailed = true })},
		{"entropy_chain", failure("gpu", "forward", stack("torch_functional.py entropy_from_logits")), failure("gpu", "rollout", stack("x.py entropy_from_logits"), func(in *Input) { in.EngineFailed = true })},
		{"one_long_sample", failure("gpu", "forward", request(over), func(in *Input) { in.Tokens = &memory.Limit{Longest: 10000} }), failure("gpu", "forward", request(over), func(in *Input) { in.Tokens = &memory.Limit{Longest: 4000} })},
		{"budget_not_binding", failure("gpu", "forward", request(over), func(in *Input) { in.Tokens = &memory.Limit{Longest: 4000} }), failure("gpu", "forward", request(over), func(in *Input) { in.Tokens = &memory.Limit{Longest: 10000} })},
		{"moe_imbalance", failure("gpu", "forward", stack("moe/experts.py grouped_gemm")), failure("gpu", "rollout", stack("moe/experts.py grouped_gemm"), func(in *Input) { in.EngineFailed = true })},
		{
			"pipeline_in_flight", failure("gpu", "forward", stack("pipeline_parallel/schedules.py forward_step"), setting("pipeline_model_parallel_size", "4"), func(in *Input) { in.Rank = number(1) }, request(memory.Explanation{What: "parameter", Seen: true})),
			failure("gpu", "forward", stack("pipeline_parallel/schedules.py forward_step"), setting("pipeline_model_parallel_size", "4"), func(in *Input) { in.Rank = number(7) }),
		},
		{"allgather_window", failure("gpu", "backward", stack("partition_parameters.py _all_gather")), failure("gpu", "checkpoint", stack("x.py state_dict", "x.py _all_gather"))},
		{"comm_buckets", failure("gpu", "init", request(memory.Explanation{Met: true, Key: "reduce_bucket_size", Text: "5e8 x 2 bytes."})), failure("gpu", "weight_update", request(memory.Explanation{Met: true, Key: "update_weights_bucket"}))},
		{"fragmentation", failure("gpu", "rollout", func(in *Input) { in.Idle = bytes(12) }), failure("gpu", "rollout")},
		{"foreign_process", failure("gpu", "forward", func(in *Input) { in.Process, in.Others = bytes(30), bytes(49) }), failure("gpu", "forward", func(in *Input) { in.Others = bytes(.4) })},
		{
			"wrong_device", failure("gpu", "init", func(in *Input) {
				in.Message = "process 11 has 9.00 gib memory in use. process 12 has 9.10 gib memory in use."
			}), failure("gpu", "init", func(in *Input) {
				in.Message = "process 11 has 9.00 gib memory in use. process 12 has 40.10 gib memory in use."
			}),
		},
		{"engine_share_too_large", failure("gpu", "backward", func(in *Input) { in.SharesCard, in.Others, in.Process = true, bytes(40), bytes(39) }), failure("gpu", "init", func(in *Input) { in.EngineFailed, in.BeforeCache, in.LessThanDesired = true, true, true })},
		{"engine_share_too_small", failure("gpu", "init", func(in *Input) { in.NoRoomForCache = true }), failure("gpu", "init", func(in *Input) { in.LessThanDesired = true })},
		{"engine_activation", failure("gpu", "init", func(in *Input) { in.EngineFailed, in.Profiling = true, true }), failure("gpu", "forward", stack("visual.py forward"))},
		{"graph_capture", failure("gpu", "init", func(in *Input) { in.EngineFailed, in.GraphCapture = true, true }), failure("gpu", "rollout", func(in *Input) { in.EngineFailed = true })},
		{"nccl_no_margin", failure("gpu", "nccl", func(in *Input) { in.Kind = "nccl_oom" }), failure("gpu", "nccl", func(in *Input) { in.Kind, in.Free = "nccl_failure", bytes(20) })},
		{"weight_update", failure("gpu", "weight_update"), failure("gpu", "backward")},
		{"checkpoint_gather", failure("host", "checkpoint"), failure("gpu", "weight_update", stack("x.py full_state_dict"))},
		{"leak_over_steps", failure("host", "rollout", func(in *Input) { in.LastStep = number(103) }), failure("host", "rollout", func(in *Input) { in.LastStep = number(2) })},
		{"host_offload", failure("host", "optimizer", setting("param_offload", "True")), failure("host", "optimizer", setting("param_offload", "False"))},
		{"host_load", failure("host", "init", stack("a.py from_pretrained")), failure("host", "training")},
		{"loader_workers", failure("host", "training", setting("num_workers", "8")), failure("host", "training", setting("num_workers", "1"))},
		{"shm", failure("shm", "data"), failure("host", "data")},
		{"limit_too_small", failure("host", "training", func(in *Input) { in.LimitReached, in.HostLimit = true, bytes(100) }), failure("gpu", "training")},
	} {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			best, _ := Rank(c.proves)
			assert.Equal(t, c.id, best.ID, best.Text)
			assert.NotEmpty(t, best.Text)
			assert.NotEmpty(t, best.For)
			assert.Empty(t, best.Against)
			best, _ = Rank(c.looks)
			assert.NotEqual(t, c.id, best.ID, best.For)
		})
	}
}

func TestEveryCauseHasARowOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, id := range IDs() {
		assert.False(t, seen[id], id)
		seen[id] = true
	}
	assert.Len(t, seen, 31, "thirty and unknown")
}

func TestAFigureThatSpeaksAgainstACauseExcludesIt(t *testing.T) {
	t.Parallel()
	short := failure("gpu", "backward", func(in *Input) { in.Text = "see documentation ... to avoid fragmentation" })
	best, rivals := Rank(short)
	assert.Equal(t, "activations", best.ID)
	require.Len(t, rivals, 1)
	assert.Equal(t, "fragmentation", rivals[0].ID)
	assert.Equal(t, []string{"not fragmentation, a real shortage: 307.2 MiB are reserved but unallocated, and 2.00 GiB were missing"}, rivals[0].Against[:1])
	assert.Equal(t, "low", rivals[0].Confidence)
}

func TestNothingSpeaksForAnything(t *testing.T) {
	t.Parallel()
	best, rivals := Rank(failure("gpu", "unknown"))
	assert.Equal(t, Unknown, best.ID)
	assert.Equal(t, "low", best.Confidence)
	assert.Empty(t, rivals)
}
