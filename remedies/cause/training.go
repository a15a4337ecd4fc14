package cause

import (
	"fmt"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/remedies/memory"
)

// training are the causes that lie in the trainer's own tensors, and in the model as it is loaded.
var training = []hypothesis{
	{
		id: "wrong_dtype",
		evidence: []weighed{
			{proof, both(is(": four bytes a parameter", dtypeKeys, "float32", "fp32", "torch.float32", "float"), (*Input).loadingAnywhere)},
			{proof, loadedTwice},
		},
		excludes: []clue{
			when("the weights are quantized", func(in *Input) bool { return in.Quantized }),
			when("verl keeps float32 weights on purpose: they are its optimizer's master copy", func(in *Input) bool { return in.Framework == "verl" }),
		},
		figure: weightsFigure(4, "weights in float32"),
	},
	{
		id: "not_sharded",
		evidence: []weighed{
			{proof, wholeModel},
			{sign, is(": every rank keeps the whole states", zeroKeys, "0", "none", "ddp", "no_shard")},
			{sign, both(frames(40, "DistributedDataParallel keeps the whole model on every rank", "nn/parallel/distributed.py"), func(in *Input) bool { return in.gpu() && (in.Phase == "init" || in.Phase == "optimizer") })},
		},
		excludes: []clue{
			when("there is one GPU: nothing to shard over", func(in *Input) bool { return in.GPUs == 1 }),
			when("an inference engine failed", func(in *Input) bool { return in.EngineFailed }),
			failedIn("it failed in a phase where the states are not what grows", "rollout", "weight_update", "checkpoint", "data"),
		},
		figure: weightsFigure(16, "weights, gradients and Adam's states, not sharded"),
	},
	{
		id: "optimizer_first_step",
		evidence: []weighed{
			{proof, both(frames(8, "the stack ends where the optimizer makes its states", "_init_group", "exp_avg", "zeros_like(p", "initialize_optimizer_states", "init_state", "init_fn", "_initialize_state"), (*Input).gpuOptimizer)},
			{sign, when("it failed in the optimizer's step", (*Input).gpuOptimizer)},
		},
		excludes: []clue{failedIn("it failed before the optimizer's step", "forward", "rollout", "logprob", "weight_update")},
		figure:   optimizerFigure,
	},
	{
		id: "states_too_big",
		evidence: []weighed{
			{proof, statesExceedCard},
			{sign, both(when("it failed while the model was built or loaded", (*Input).loading), (*Input).gpu)},
			{hint, both(failedIn("the optimizer's step adds to the states", "optimizer"), (*Input).gpu)},
			{hint, both(failedIn("it failed at start-up", "init"), (*Input).gpu)},
		},
		excludes: []clue{
			foreignHolder,
			when("the model trained before: its states fit", func(in *Input) bool {
				return in.LastStep != nil && *in.LastStep > 1 && in.Phase != "init" && in.Phase != "checkpoint"
			}),
		},
		figure: weightsFigure(2, "weights in 16 bits alone"),
	},
	{
		id: "budget_not_binding",
		evidence: []weighed{{2 * proof, func(in *Input) string {
			if len(in.Request) > 0 && in.Request[0].Over && !in.oneSample() {
				return in.Request[0].OverWhy
			}
			return ""
		}}},
		figure: requestFigure("the micro-batch is larger than its limit"),
	},
	{
		id: "one_long_sample",
		evidence: []weighed{
			{2 * proof, func(in *Input) string {
				if len(in.Request) > 0 && in.Request[0].Over && in.oneSample() {
					return in.Request[0].OverWhy
				}
				return ""
			}},
			{sign, func(in *Input) string {
				l := in.Tokens
				if len(in.Request) == 0 || l == nil || l.Samples != 1 || in.Request[0].Low <= 0 || in.Request[0].Low*10 < l.Tokens*8 || in.LastStep == nil || *in.LastStep < 3 {
					return ""
				}
				return fmt.Sprintf("a micro-batch of one sample had %s tokens, near the longest that is allowed, after %d steps that fitted", memory.Thousands(in.Request[0].Low), *in.LastStep)
			}},
		},
		excludes: []clue{when("an inference engine failed", func(in *Input) bool { return in.EngineFailed })},
		figure:   requestFigure("one long sample fills the micro-batch"),
	},
	{
		id: "entropy_chain",
		evidence: []weighed{
			{proof, both(frames(6, "the stack ends in the entropy over the vocabulary", "entropy_from_logits", "vocab_parallel_entropy", "vocabparallelentropy", "calculate_entropy", "compute_entropy", "entropy_fn"), (*Input).trainerGPU)},
			{proof - 1, both(frames(6, "the stack ends in a copy of the logits", "logits.clone()"), (*Input).trainerGPU)},
		},
		figure: requestFigure("the entropy keeps further copies of the logits"),
	},
	{
		id: "logits",
		evidence: []weighed{
			{proof, func(in *Input) string {
				if len(in.Request) > 0 && in.Request[0].What == "logits" && (in.Request[0].Seen || in.Request[0].Met) {
					return trimmed(in.Request[0].Text)
				}
				return ""
			}},
			{sign, both(when("the stack ends in the logits or their loss", func(in *Input) bool { return in.Place == memory.Logits }), (*Input).trainerGPU)},
			{sign, both(frames(6, "the model's outputs are turned into float32", "convert_to_fp32", "logits.float()", "forcausallmloss", "fixed_cross_entropy"), (*Input).trainerGPU)},
			{sign, both(frames(12, "evaluation keeps the logits of all its batches", "nested_concat", "nested_gather", "pad_across_processes", "evalloopcontainer"), (*Input).gpu)},
		},
		excludes: []clue{
			when("an inference engine failed", func(in *Input) bool { return in.EngineFailed }),
			failedIn("no logits are made in this phase", "init", "optimizer", "weight_update", "checkpoint", "nccl"),
		},
		figure: requestFigure("the logits, tokens x vocabulary"),
	},
	{
		id: "attention_scores",
		evidence: []weighed{
			{proof, func(in *Input) string {
				if len(in.Request) > 0 && in.Request[0].What == "attention" {
					return trimmed(in.Request[0].Text)
				}
				return ""
			}},
			{proof, both(when("attention builds its scores in full", func(in *Input) bool { return in.Place == memory.Attention }), (*Input).gpu)},
			{proof, both(frames(5, "the stack ends in attention that builds its scores in full", "eager_attention", "attn_weights", "attention_scores", "attention_probs", "q @ k", "torch.matmul(query", "torch.matmul(q,", "baddbmm", "get_attention_scores", "slicedattn"), (*Input).gpu)},
			{sign, both(frames(3, "the stack ends in scaled_dot_product_attention, whose fallback builds the scores in full", "scaled_dot_product_attention", "sdpa_attention"), (*Input).gpu)},
		},
		figure: requestFigure("attention scores, heads x length x length"),
	},
	{
		id: "moe_imbalance",
		evidence: []weighed{
			{proof, both(frames(6, "the stack ends in the experts or the dispatch of tokens to them", "permute", "grouped_gemm", "groupedmlp", "token_dispatcher", "moe/experts", "moe_layer", "sparsemoeblock", "experts.py"), (*Input).training)},
		},
		figure: plain("one rank's experts got more tokens than it has room for"),
	},
	{
		id: "pipeline_in_flight",
		evidence: []weighed{{sign, func(in *Input) string {
			p := in.number("pipeline_model_parallel_size", "pipeline_parallel_size", "pipeline_parallel_degree")
			if !in.training() || p < 2 || in.Rank == nil || in.GPUs < p || int64(*in.Rank) >= in.GPUs/p || !in.passes(40, "schedules.py", "pipeline_parallel", "1f1b") {
				return ""
			}
			return fmt.Sprintf("rank %d is of the first of %d pipeline stages, which keeps the activations of %d micro-batches", *in.Rank, p, p)
		}}},
		figure: plain("a pipeline stage keeps the activations of several micro-batches at once"),
	},
	{
		id: "allgather_window",
		evidence: []weighed{
			{proof, both(gathers, (*Input).stepGPU)},
		},
		excludes: []clue{both(frames(40, "a state dict was gathered", "state_dict", "summon_full_params", "full_tensor", "save_checkpoint"), (*Input).gpu)},
		figure:   plain("sharded parameters are whole for a moment"),
	},
	{
		id: "comm_buckets",
		evidence: []weighed{
			{proof, func(in *Input) string {
				if len(in.Request) > 0 && in.Request[0].Met && strings.Contains(strings.ToLower(in.Request[0].Key), "bucket") && in.Phase != "weight_update" {
					return trimmed(in.Request[0].Text)
				}
				return ""
			}},
			{sign, both(when("the stack ends in the gradients' buffers", func(in *Input) bool { return in.Place == memory.Buckets }), func(in *Input) bool { return in.gpu() && in.Phase != "weight_update" && !in.EngineFailed })},
		},
		figure: requestFigure("buffers for gradients"),
	},
	{
		id: "activations",
		evidence: []weighed{
			{proof, both(func(in *Input) string {
				if len(in.Request) > 0 && in.Request[0].What == "activations" {
					return trimmed(in.Request[0].Text)
				}
				return ""
			}, (*Input).training)},
			{sign, both(when("it failed where activations are kept", func(in *Input) bool { return slices.Contains([]string{"forward", "backward", "training"}, in.Phase) }), (*Input).training)},
			{hint, both(failedIn("it failed in a forward pass", "logprob"), (*Input).training)},
			{hint, both(is(": every layer keeps its activations", []string{"gradient_checkpointing", "enable_gradient_checkpointing", "activation_checkpointing", "enable_activation_checkpointing"}, "false"), (*Input).training)},
			{hint, both(frames(4, "the stack ends in a layer", "mlp", "norm.py", "layernorm", "rmsnorm", "attention", "gelu", "silu", "conv.py", "linear.py", "dropout"), (*Input).training)},
		},
		excludes: []clue{
			when("the request is one of the model's parameters", func(in *Input) bool {
				return len(in.Request) > 0 && in.Request[0].What == "parameter" && in.Request[0].Seen
			}),
			foreignHolder,
		},
		figure: plain("activations of the micro-batch"),
	},
}

var (
	gathers   = frames(6, "the stack ends where sharded parameters are gathered", "_all_gather", "all_gather_into_tensor", "unshard", "fetch_sub_module", "pre_forward", "pre_backward", "foreach_all_gather", "partition_parameters.py", "gatheredparameters", "_alloc_padded_unsharded")
	dtypeKeys = []string{"torch_dtype", "dtype", "model_dtype", "param_dtype"}
	zeroKeys  = []string{"zero_optimization.stage", "zero_optimization_stage", "zero_stage", "sharding_strategy", "fsdp_sharding_strategy"}
)

func trimmed(s string) string { return strings.TrimSuffix(s, ".") }

func (in *Input) gpuOptimizer() bool { return in.gpu() && in.Phase == "optimizer" }
func (in *Input) trainerGPU() bool   { return in.gpu() && !in.EngineFailed }
func (in *Input) stepGPU() bool {
	return in.trainerGPU() && slices.Contains([]string{"forward", "backward", "training", "logprob", "optimizer", "rollout"}, in.Phase)
}

// loadingAnywhere says that weights were read, on the card or on the host.
func (in *Input) loadingAnywhere() bool { return in.loading() && (in.gpu() || in.host()) }

// oneSample says that the request's tokens are no more than one sample may have.
func (in *Input) oneSample() bool {
	return in.Tokens != nil && in.Tokens.Longest > 0 && in.Request[0].High <= in.Tokens.Longest
}

// loadedTwice says that more is allocated while the weights load than they take in 16 bits.
func loadedTwice(in *Input) string {
	p := in.Parameters.Value
	if !in.loading() || in.EngineFailed || in.Allocated == nil || p <= 0 || *in.Allocated < p*5/2 || in.Adapters || in.GPUs > 1 {
		return ""
	}
	return fmt.Sprintf("%s are allocated while the weights load, and in 16 bits they take %s", gib(in.Allocated), classifier.GiB(2*p))
}

// wholeModel says that one request has the size of the whole model although ranks share it.
func wholeModel(in *Input) string {
	p := in.Parameters.Value
	if p <= 0 || in.GPUs < 2 || in.Requested == nil || in.EngineFailed || *in.Requested < 19*p/10 || in.Place != memory.Gather && in.Place != memory.Weights && !in.passes(12, "flat_param", "_init_param_handle") {
		return ""
	}
	return fmt.Sprintf("one request of %s is the whole model of %s parameters, and %d GPUs share it", gib(in.Requested), in.Parameters, in.GPUs)
}

// statesExceedCard says that the weights alone, in 16 bits, do not fit into the card of one GPU.
func statesExceedCard(in *Input) string {
	p := in.Parameters.Value
	if p <= 0 || !in.loading() || !in.gpu() || in.Total == nil || in.Quantized || in.EngineFailed || in.GPUs > 1 || 2*p < *in.Total*9/10 {
		return ""
	}
	return fmt.Sprintf("the weights take %s in 16 bits, and the card has %s", classifier.GiB(2*p), gib(in.Total))
}

// requestFigure takes the arithmetic of the request where it is known.
func requestFigure(text string) func(in *Input) (string, *int64) {
	return func(in *Input) (string, *int64) {
		if len(in.Request) > 0 && (in.Request[0].Seen || in.Request[0].Met) {
			return trimmed(in.Request[0].Text), in.Requested
		}
		return plain(text)(in)
	}
}

// weightsFigure multiplies the parameters by bytes.
func weightsFigure(bytes int64, what string) func(in *Input) (string, *int64) {
	return func(in *Input) (string, *int64) {
		p := in.Parameters.Value
		if p <= 0 || p > 1<<45 || bytes == 16 && in.Adapters {
			return plain(what + " take more than there is")(in)
		}
		text, n := sized("%s: %s parameters x %d bytes", bytes*p, what, in.Parameters, bytes)
		if bytes == 4 {
			text += ", in 16 bits " + classifier.GiB(2*p)
		}
		return text, n
	}
}

// optimizerFigure says what Adam's states take: from the request where it is one state of every parameter.
func optimizerFigure(in *Input) (string, *int64) {
	p := in.Parameters.Value
	if r := in.Requested; r != nil && *r >= 4<<30 && (p <= 0 || *r > 39*p/10 && *r < 41*p/10) {
		return fmt.Sprintf("Adam's states appear in the first step: %s / 4 bytes = %.2fe9 parameters, one float32 state of each", gib(r), float64(*r)/4e9), r
	}
	if p > 0 && p < 1<<45 && in.GPUs > 0 && !in.Adapters {
		return sized("Adam's two moments appear in the first step: 8 bytes x %s parameters / %d GPUs", 8*p/in.GPUs, in.Parameters, in.GPUs)
	}
	return plain("the optimizer's states appear in its first step")(in)
}
