package cause

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestStatesByOptimizerTypeAndSharding(t *testing.T) {
	t.Parallel()
	const p = 1_000_000
	zero := func(stage string) []func(*Input) {
		return []func(*Input){setting("zero_stage", stage), func(in *Input) { in.Backend = "deepspeed" }}
	}
	for name, c := range map[string]struct {
		change []func(*Input)
		want   int64
	}{
		"Adam, 16 bits at least":     {nil, 8 * p},
		"Adam in float32":            {[]func(*Input){func(in *Input) { in.WideTraining = true }}, 16 * p},
		"a setting of float32":       {[]func(*Input){setting("torch_dtype", "float32")}, 16 * p},
		"8 bits":                     {[]func(*Input){setting("optim", "adamw_bnb_8bit")}, 6 * p},
		"paged":                      {[]func(*Input){setting("optim", "paged_adamw_8bit")}, 4 * p},
		"Adafactor":                  {[]func(*Input){setting("optim", "adafactor")}, 4 * p},
		"SGD, by its stack":          {[]func(*Input){stack("/torch/optim/sgd.py step")}, 4 * p},
		"one of four shards":         {[]func(*Input){func(in *Input) { in.GPUs, in.Backend = 4, "fsdp" }}, 2 * p},
		"every GPU has all of it":    {[]func(*Input){func(in *Input) { in.GPUs, in.Unsharded = 4, true }}, 8 * p},
		"ZeRO stage 2 on four GPUs":  {append(zero("2"), func(in *Input) { in.GPUs = 4 }), 2*p + 14*p/4},
		"adapters on frozen weights": {[]func(*Input){func(in *Input) { in.Parameters.Value = 10 * p }}, 8*p + 2*9*p},
		"adapters on 4-bit weights":  {[]func(*Input){func(in *Input) { in.Parameters.Value, in.Quantized = 10*p, true }}, 8 * p},
	} {
		one := []func(*Input){func(in *Input) { in.GPUs = 1 }, trained(p)}
		got, how := failure("gpu", "optimizer", append(one, c.change...)...).states(p)
		assert.Equal(t, c.want, got, name)
		assert.NotEmpty(t, how, name)
	}
}

func TestBeyondIsWhatTheStatesExceedTheCardBy(t *testing.T) {
	t.Parallel()
	card := func(n int64) func(*Input) { return func(in *Input) { in.Total, in.GPUs = &n, 1 } }
	assert.Equal(t, int64(3e9), Beyond(failure("gpu", "optimizer", trained(10e9), card(77e9))))
	assert.Zero(t, Beyond(failure("gpu", "optimizer", trained(1e9), card(77e9))))
	named := func(in *Input) { in.CardSize, in.CardMost, in.GPUs = 75e9, 77e9, 1 }
	assert.Equal(t, int64(3e9), Beyond(failure("gpu", "training", trained(10e9), func(in *Input) { in.Total = nil }, named)), "its message has no figures")
	assert.Zero(t, Beyond(failure("gpu", "rollout", trained(10e9), card(77e9))))
	assert.Zero(t, Beyond(failure("gpu", "optimizer", trained(10e9), card(77e9), setting("adam_offload", "true"))))
}

func TestTheOptimizersStatesAppearWhereTheRunFailed(t *testing.T) {
	t.Parallel()
	const adamw, fused = "/x/torch/optim/adamw.py _init_group", "/x/transformer_engine/pytorch/optimizers/fused_adam.py _initialize_state"
	zero := func(in *Input) { in.Backend = "deepspeed" }
	small := func(in *Input) { in.Requested = bytes(.1) }
	for name, c := range map[string]struct {
		change []func(*Input)
		want   string
	}{
		"in a step, of an unknown optimizer": {nil, "the optimizer allocates its states in the first step"},
		"in Adam's step":                     {[]func(*Input){stack(adamw)}, "Adam allocates its two moments in the first step, at least 4 bytes per trained parameter"},
		"in SGD's step":                      {[]func(*Input){stack("/x/torch/optim/sgd.py step")}, "the optimizer allocates its states in the first step"},
		"when DeepSpeed starts":              {[]func(*Input){zero, stack("/x/deepspeed/runtime/zero/stage3.py initialize_optimizer_states", adamw)}, "DeepSpeed allocates Adam's two moments at start-up, 8 bytes per trained parameter"},
		"when DeepSpeed starts, of a known model": {
			[]func(*Input){zero, parameters(8e9, 4), stack("/x/deepspeed/runtime/zero/stage3.py initialize_optimizer_states", adamw)},
			"DeepSpeed allocates Adam's two moments at start-up: 8 bytes x 8B parameters / 4 GPUs = 14.90 GiB",
		},
		"with a checkpoint": {
			[]func(*Input){func(in *Input) { in.Backend = "megatron" }, stack("/x/checkpointing.py load_checkpoint", "/x/optimizer.py load_state_dict", fused)},
			"loading the checkpoint brings Adam's two moments to the GPU, 8 bytes per trained parameter",
		},
		"with a checkpoint, of an unknown optimizer": {[]func(*Input){stack("/x/train.py load_checkpoint", "/x/torch/optim/optimizer.py load_state_dict")}, "loading the checkpoint brings the optimizer's states to the GPU"},
		"of a named optimizer without moments":       {[]func(*Input){setting("optim", "adafactor"), parameters(8e9, 4)}, "the optimizer allocates its states in the first step"},
	} {
		got, _ := optimizerFigure(failure("gpu", "optimizer", append([]func(*Input){small}, c.change...)...))
		assert.Equal(t, c.want, got, name)
	}
}

func TestWeightsThatExplainLittleOfWhatIsHeldAreNotSaid(t *testing.T) {
	t.Parallel()
	for held, said := range map[float64]bool{10: true, 77: false} {
		best, _ := Rank(failure("gpu", "init", sharded, parameters(7.24e9, 4), func(in *Input) { in.Allocated = bytes(held) }))
		assert.Equal(t, "states_too_big", best.ID)
		if said {
			assert.Contains(t, best.Text, "3.37 GiB")
		} else {
			assert.NotContains(t, best.Text, "3.37 GiB")
		}
	}
}

// TestCopiesOfTheRanksCountTheTypeTheyAreLoadedIn covers what a node's ranks need when each of them reads a checkpoint.
func TestCopiesOfTheRanksCountTheTypeTheyAreLoadedIn(t *testing.T) {
	t.Parallel()
	dtype := func(v string) func(*Input) {
		return func(in *Input) {
			in.Setting = func(...string) (string, string, bool) { return "torch_dtype", v, v != "" }
		}
	}
	for name, c := range map[string]struct {
		in   *Input
		want int64
	}{
		"16 bits unless a setting says otherwise": {failure("host", "init", parameters(13e9, 8)), 208e9},
		"float32 by a setting":                    {failure("host", "init", parameters(13e9, 8), dtype("torch.float32")), 416e9},
		"bfloat16 by a setting":                   {failure("host", "init", parameters(13e9, 8), dtype("bfloat16")), 208e9},
		"float32 by what a process holds":         {failure("host", "init", parameters(13e9, 8), func(in *Input) { in.Holders = []Holder{{Bytes: 40e9}} }), 416e9},
		"one rank on the node":                    {failure("host", "init", parameters(13e9, 1), func(in *Input) { in.PerNode = 1 }), 0},
		"a model of unknown size":                 {failure("host", "init"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, RankCopies(c.in))
		})
	}
}

func TestStatesThatLeaveLittleOfTheCardForAStep(t *testing.T) {
	t.Parallel()
	small := func(in *Input) { in.Requested = bytes(.2) }
	backbone := func(gib float64) func(*Input) { return func(in *Input) { in.Frozen = *bytes(gib) } }
	pipeline := func(gib float64) func(*Input) { return func(in *Input) { in.Pipeline = *bytes(gib) } }
	between := func(gib float64) func(*Input) { return func(in *Input) { in.BetweenSteps = *bytes(gib) } }
	whole := settings("use_distributed_optimizer", "False", "data_parallel_size", "4")
	for name, c := range map[string]struct {
		set  []func(*Input)
		want string
	}{
		"a frozen backbone":                          {[]func(*Input){small, backbone(75)}, "states_too_big"},
		"a large request beside a frozen backbone":   {[]func(*Input){backbone(75)}, "activations"},
		"a small backbone":                           {[]func(*Input){small, backbone(50)}, "activations"},
		"all parts of a pipeline":                    {[]func(*Input){small, pipeline(74)}, "states_too_big"},
		"parts that are not all on the card":         {[]func(*Input){small, pipeline(90)}, "activations"},
		"parts that leave room":                      {[]func(*Input){small, pipeline(50)}, "activations"},
		"what is there between two steps":            {[]func(*Input){between(66), settings("use_distributed_optimizer", "True", "data_parallel_size", "4")}, "states_too_big"},
		"a whole optimizer on each rank":             {[]func(*Input){between(66), whole}, "not_sharded"},
		"a whole optimizer that leaves room":         {[]func(*Input){between(40), whole}, "activations"},
		"a whole optimizer of the only rank":         {[]func(*Input){between(66), settings("use_distributed_optimizer", "False", "data_parallel_size", "1")}, "states_too_big"},
		"a reading that is more than what was there": {[]func(*Input){between(78), whole}, "activations"},
	} {
		best, _ := Rank(failure("gpu", "forward", c.set...))
		assert.Equal(t, c.want, best.ID, name)
	}
}
