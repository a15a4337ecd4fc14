package cause

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"oomscan/remedies/memory"
)

// training lists the causes that lie in the trainer's own tensors, or in how the model is loaded.
var training = []hypothesis{
	{
		id: "wrong_dtype",
		evidence: []weighed{
			{proof, both(loadsWide, (*Input).loadingAnywhere)},
			{2 * proof, both(noHalf, (*Input).gpu)},
			{proof, loadedTwice},
			{2 * proof, movedWide},
			{proof, both(when("CTranslate2 computes in float32, with four bytes a parameter", func(in *Input) bool { return in.WideWeights }), (*Input).gpu)},
			{sign + hint, both(loadsByDefault, (*Input).loadingAnywhere)},
			{proof, widened},
			{3 * proof, both(castWide, (*Input).gpu)},
			{proof, both(pipelineByDefault, (*Input).gpu)},
			{2 * proof, both(func(in *Input) string { return in.TypeIgnored }, (*Input).gpu)},
			{2 * proof, wideWeight},
			{3 * proof, wideStates},
		},
		excludes: []clue{
			when("the weights are quantized", func(in *Input) bool { return in.Quantized && widened(in) == "" }),
			loadsNarrow,
			when("verl keeps float32 weights on purpose: they are its optimizer's master copy", func(in *Input) bool { return in.Framework == "verl" }),
		},
		figure: wideFigure,
	},
	{
		id: "not_sharded",
		evidence: []weighed{
			{proof, wholeModel},
			{proof + hint, moreThanAShare},
			{2*proof + hint, wholeStates},
			{2*proof + hint, statesOnEach},
			{2 * proof, WholeGradients},
			{2 * proof, wholeOptimizer},
			{2*proof + hint, oneUnit},
			{3 * proof, Replicates},
			{4 * proof, both(OneReplica, func(in *Input) bool { return slices.Contains([]string{"init", "optimizer", "unknown"}, in.Phase) })},
			{sign + 2*hint, when("FSDP is on, but one process runs: it has nothing to split the model over", func(in *Input) bool { return in.Alone && in.gpu() })},
			{sign, weightsOnEach},
			{sign, is(": every rank keeps the whole states", zeroKeys, "0", "none", "ddp", "no_shard")},
			{sign, both(frames(40, "DistributedDataParallel keeps the whole model on every rank", "nn/parallel/distributed.py"), func(in *Input) bool { return in.gpu() && (in.Phase == "init" || in.Phase == "optimizer") })},
		},
		excludes: []clue{
			when("there is only one GPU to shard over", func(in *Input) bool { return in.GPUs == 1 }),
			when("an inference engine failed", func(in *Input) bool { return in.EngineFailed }),
			failedIn("it failed in a phase where the states do not grow", "rollout", "weight_update", "checkpoint", "data"),
		},
		figure: func(in *Input) (string, *int64) {
			if why := cmp.Or(Replicates(in), OneReplica(in)); why != "" {
				return why, nil
			}
			if why := oneUnit(in); strings.HasPrefix(why, "one request") {
				return why, in.Requested
			}
			if oneUnit(in) != "" {
				return "FSDP gathers the whole model at once, because no policy wraps its layers", nil
			}
			if WholeGradients(in) != "" {
				return wholeGradientsFigure(in)
			}
			if in.Alone {
				return "one process runs alone, and its GPU holds the whole model: FSDP splits it only over several", nil
			}
			if weightsOnEach(in) != "" {
				return sized("every GPU holds all weights: %s parameters x 2 bytes", 2*in.Parameters.Value, count(in.Parameters.Value))
			}
			if p := in.Parameters.Value; p > 0 && p < 1<<45 && in.loading() && !in.Quantized {
				return sized("every GPU loads all weights%s: %s parameters x 2 bytes", 2*p, in.ofFrozen(), count(p))
			}
			if why := wholeOptimizer(in); why != "" {
				return why, &in.BetweenSteps
			}
			if least, how := in.statesOnCard(); statesOnEach(in) != "" {
				return sized("every GPU holds all of the model's states: %s", least, how)
			}
			return weightsFigure(16, "weights, gradients and Adam states, not sharded")(in)
		},
	},
	{
		id: "optimizer_first_step",
		evidence: []weighed{
			{proof, both(frames(8, "the stack ends where the optimizer creates its states", "_init_group", "exp_avg", "zeros_like(p", "initialize_optimizer_states", "init_state", "init_fn", "_initialize_state"), (*Input).gpuOptimizer)},
			{proof, both(frames(8, "DeepSpeed creates the optimizer's states before the first step", "initialize_optimizer_states"), (*Input).gpu)},
			{proof, both(frames(6, "the optimizer's states come to the card with the checkpoint", "optim/optimizer.py load_state_dict", "fused_adam.py load_state_dict"), (*Input).gpuOptimizer)},
			{sign, when("it failed in the optimizer step", (*Input).gpuOptimizer)},
			{sign + hint, both(saw("bitsandbytes' own allocation failed, which holds the states of its paged optimizers", "bitsandbytes.status"), (*Input).gpu)},
		},
		excludes: []clue{failedIn("it failed before the optimizer step", "forward", "rollout", "logprob", "weight_update")},
		figure:   optimizerFigure,
	},
	{
		id: "states_too_big",
		evidence: []weighed{
			{proof, statesExceedCard},
			{3 * proof, statesFill},
			{2 * proof, WeightsStay},
			{proof, frozenFill},
			{2 * proof, pipelineFill},
			{proof, statesStay},
			{3 * proof, statesMeasured},
			{sign + 2*hint, statesMost},
			{2 * proof, both(modelsBeside, (*Input).gpu)},
			{2 * proof, both(instancesBeside, (*Input).gpu)},
			{2 * proof, secondCopy},
			{4 * proof, wholeBeside},
			{2 * proof, EngineWeightsFill},
			{3 * proof, DispatchedFills},
			{proof + hint, both(WideAdapters, (*Input).training)},
			{sign, both(when("it failed while the model was built or loaded", (*Input).loading), (*Input).gpu)},
			{proof, saw("the buffer for the weights did not fit", "ggml.load", "ggml.load_backend")},
			{2 * proof, LayersFill},
			{sign, saw("what the model needs in all is not there", "ollama.no_room")},
			{proof, when("the model itself could not be created", func(in *Input) bool {
				return in.Part == "model" && strings.Contains(in.Text, "insufficient gpu memory")
			})},
			{sign, adapterSlots},
			{proof, both(when("the stack ends where the key-value cache is created", func(in *Input) bool { return in.OwnCache }), (*Input).gpu)},
			{sign, both(offloadedPart, func(in *Input) bool { // accelerate also hooks a model that is all on one card, to train it
				return in.gpu() && (in.Infers || in.Phase == "init" || in.passes(4, "hooks.py pre_forward"))
			})},
			{sign, deepSpeedCopies},
			{sign, pipelineFills},
			{sign + 2*hint, both(saw("even a batch of one sample does not fit", "torch.oom.batch_size_zero"), func(in *Input) bool { return in.training() && !in.Adapters && !in.Quantized && !in.Infers })},
			{proof, both(mergesAdapters, (*Input).gpu)},
			{2 * proof, saw("accelerate found no room on the card for some of the quantized weights", "transformers.dispatched")},
			{sign, both(when("an engine of TensorRT was being read", func(in *Input) bool {
				return containsAny(in.Text, []string{"requested amount of gpu memory", "failed to deserialize"}) && !strings.Contains(in.Text, "buildserializednetwork")
			}), (*Input).gpu)},
			{hint, both(failedIn("the optimizer's step adds to the states", "optimizer"), (*Input).gpu)},
			{hint, both(failedIn("it failed at start-up", "init"), (*Input).gpu)},
		},
		excludes: []clue{
			func(in *Input) string {
				if instancesBeside(in) != "" {
					return ""
				}
				return foreignHolder(in)
			},
			when("the weights and the engine's cache were in place", func(in *Input) bool { return in.CacheTaken && in.EngineFailed }),
			when("the model already trained: its states fit", func(in *Input) bool {
				return in.LastStep != nil && *in.LastStep > 1 && in.Phase != "init" && in.Phase != "checkpoint"
			}),
		},
		figure: statesFigure,
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
				return fmt.Sprintf("a micro-batch of one sample had %s tokens, near the longest allowed, after %d steps that fit", memory.Thousands(in.Request[0].Low), *in.LastStep)
			}},
		},
		excludes: []clue{when("an inference engine failed", func(in *Input) bool { return in.EngineFailed })},
		figure:   requestFigure("one long sample fills the micro-batch"),
	},
	{
		id: "entropy_chain",
		evidence: []weighed{
			{sign + hint, ComputesEntropy},
			{proof, both(frames(6, "the stack ends in the entropy over the vocabulary", entropies...), (*Input).trainerGPU)},
			{proof - 1, both(frames(6, "the stack ends in a copy of the logits", "logits.clone()"), (*Input).trainerGPU)},
		},
		figure: requestFigure("computing the entropy keeps more copies of the logits"),
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
			{sign + 2*hint, both(widerThanLayers, func(in *Input) bool { return in.training() && eagerLayer(in) == "" })},
			{sign + hint, largeGradient},
			{sign, both(when("the stack ends in the logits or their loss", func(in *Input) bool { return in.Place == memory.Logits }), (*Input).trainerGPU)},
			{sign, both(frames(6, "the model's outputs are converted to float32", "convert_to_fp32", "logits.float()", "forcausallmloss", "fixed_cross_entropy"), (*Input).trainerGPU)},
			{3 * proof, ofPrompts},
			{proof, both(frames(12, "evaluation keeps the logits of all its batches", "nested_concat", "nested_gather", "pad_across_processes", "evalloopcontainer"), (*Input).gpu)},
			{proof, both(frames(6, "the outputs of all ranks are gathered", "gather_for_metrics", "gather_function", "_gpu_gather"), (*Input).trainerGPU)},
			{proof, both(func(in *Input) string {
				if in.Kept {
					return "the outputs of all batches are joined on the card"
				}
				return ""
			}, (*Input).trainerGPU)},
			{proof, both(keepsOutputs, (*Input).host)},
			{3 * proof, KeepsScores},
		},
		excludes: []clue{
			when("an inference engine failed", func(in *Input) bool { return in.EngineFailed && ofPrompts(in) == "" && KeepsScores(in) == "" }),
			both(failedIn("this phase builds no logits", "init", "optimizer", "weight_update", "checkpoint", "nccl"), func(in *Input) bool { return KeepsScores(in) == "" }),
			when("the request is less than a 200th of the card", func(in *Input) bool {
				return in.training() && in.Requested != nil && in.Total != nil && *in.Requested < *in.Total/200
			}),
		},
		figure: func(in *Input) (string, *int64) {
			if why := KeepsScores(in); why != "" {
				return why, in.Requested
			}
			if in.host() {
				return "the evaluation moves the logits of all its batches to host RAM", nil
			}
			if in.passes(12, "nested_concat", "torch_pad_and_concatenate", "evalloopcontainer") {
				return fmt.Sprintf("the evaluation joins what it keeps of all its batches, here %s in one piece", gib(in.Requested)), in.Requested
			}
			return productFigure("the logits")(in)
		},
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
			{2 * proof, ScoresOfXLA},
			{2 * proof, scoresOfResidues},
			{2 * proof, both(when("it failed while encoding an image, whose patches all attend to each other", func(in *Input) bool { return in.Picture && in.Requested != nil && *in.Requested > 4<<30 }), (*Input).gpu)},
			{proof, both(when("attention builds its scores in full", func(in *Input) bool { return in.Place == memory.Attention }), (*Input).gpu)},
			{proof, both(frames(5, "the stack ends in attention that builds its scores in full", "eager_attention", "attn_weights", "attention_scores", "attention_probs", "q @ k", "einsum('b i d, b j d -> b i j'", "torch.matmul(query", "torch.matmul(q,", "baddbmm", "get_attention_scores", "slicedattn", "_matmul_with_relative_keys", "_relative_position_to_absolute_position", "torch/_higher_order_ops/flex_attention.py"), func(in *Input) bool { return in.gpu() && !in.passes(3, "q_proj(", "k_proj(", "v_proj(") })},
			{proof, both(eagerLayer, (*Input).training)},
			{sign, both(fallback, (*Input).gpu)},
			{proof, ScoresOfFallback},
		},
		excludes: []clue{
			when("the scores are a small part of a card that the engine has filled", func(in *Input) bool {
				return in.EngineFailed && in.Requested != nil && in.Total != nil && *in.Requested < *in.Total/50
			}),
			when("the scores of one layer are a small part of the card", func(in *Input) bool {
				return in.training() && in.Requested != nil && in.Total != nil && *in.Requested < *in.Total/250
			}),
		},
		figure: func(in *Input) (string, *int64) {
			if why := cmp.Or(ScoresOfXLA(in), scoresOfResidues(in)); why != "" {
				return why, in.Requested
			}
			return productFigure("attention scores, built in full,")(in)
		},
	},
	{
		id: "moe_imbalance",
		evidence: []weighed{
			{hint, inExperts},
			{sign, both(inExperts, func(in *Input) bool { return is("", RecomputeKeys, "true", "full", "selective")(in) != "" })},
			{proof, both(peaksAlone, func(in *Input) bool { return inExperts(in) != "" })},
		},
		excludes: []clue{
			when("there is only one GPU, which works on all tokens", func(in *Input) bool { return in.GPUs == 1 }),
			when("every rank holds all experts and works on its own tokens", func(in *Input) bool { return in.number(expertKeys...) == 1 }),
		},
		figure: plain("one rank's experts got more tokens than fit"),
	},
	{
		id: "pipeline_in_flight",
		evidence: []weighed{{sign, func(in *Input) string {
			p := in.number("pipeline_model_parallel_size", "pipeline_parallel_size", "pipeline_parallel_degree")
			if !in.training() || p < 2 || in.Rank == nil || in.GPUs < p || int64(*in.Rank) >= in.GPUs/p || !in.passes(40, "schedules.py", "pipeline_parallel", "1f1b") {
				return ""
			}
			return fmt.Sprintf("rank %d is in the first of %d pipeline stages, which keeps the activations of %d micro-batches", *in.Rank, p, p)
		}}},
		figure: plain("a pipeline stage keeps the activations of several micro-batches at once"),
	},
	{
		id: "allgather_window",
		evidence: []weighed{
			{proof, both(gathers, (*Input).stepGPU)},
		},
		excludes: []clue{
			both(frames(40, "a state dict was gathered", "state_dict", "summon_full_params", "full_tensor", "save_checkpoint"), (*Input).gpu),
			offloadedPart,
			WholeGradients,
			both(keepsActivations, func(in *Input) bool {
				return in.Requested != nil && in.Allocated != nil && *in.Requested < *in.Allocated/10 && (in.Phase == "backward" || in.Phase == "forward")
			}),
		},
		figure: gatherFigure,
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
			{sign, both(when("the stack ends in the gradient buffers", func(in *Input) bool { return in.Place == memory.Buckets }), func(in *Input) bool { return in.gpu() && in.Phase != "weight_update" && !in.EngineFailed })},
		},
		figure: requestFigure("the gradient buffers do not fit"),
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
			{proof, both(frames(4, "the stack ends in the key-value cache, which grows with every token", "transformers/cache_utils.py", "torch.cat((past_", "torch.cat([past_"), (*Input).trainerGPU)},
			{sign, batchOfTensor},
			{sign + hint, both(assigns, (*Input).trainerGPU)},
			{sign, both(frames(4, "the stack ends in a layer, with the tokens of whole prompts", "/transformers/models/"), func(in *Input) bool {
				const part = 20 // of the card: a step of one token for each sample asks for less
				return in.trainerGPU() && in.Phase == "rollout" && in.Place != memory.Logits && in.Requested != nil && in.Total != nil && *in.Requested > *in.Total/part
			})},
			{2*proof + hint, both(calibrates, (*Input).gpu)},
			{sign, both(when("PyTorch's allocator failed in a served model", func(in *Input) bool {
				return in.Application == "triton" && strings.Contains(in.Text, "by pytorch")
			}), (*Input).gpu)},
			{sign + hint, both(frames(20, "the stack ends in a denoising step", "comfy/samplers.py", "comfy/ldm/", "modules/sd_samplers", "backend/nn/unet.py", "k_diffusion", "diffusers/models/transformers/", "diffusers/models/unets/", "diffusers/models/attention"), func(in *Input) bool { return in.trainerGPU() && in.Phase != "init" })},
			{sign + hint, both(fullResolution, (*Input).trainerGPU)},
			{sign, both(frames(40, "the program that did not fit is a training step", "train_step", "train_loop", "update_step"), func(in *Input) bool { return in.Framework == "jax" && in.gpu() && in.Phase != "init" })},
			{hint, func(in *Input) string {
				if in.Framework != "jax" || !in.gpu() || in.Phase == "init" || in.Requested == nil || *in.Requested < 1<<30 {
					return ""
				}
				return "one allocation of the running program is " + gib(in.Requested)
			}},
			{3 * hint, both(keepsActivations, func(in *Input) bool { return in.training() && in.Place != memory.Logits })},
			{hint, both(when("a tensor of the computation did not fit", func(in *Input) bool { return strings.Contains(in.Text, "oom when allocating tensor with shape") }), (*Input).gpu)},
			{hint, both(frames(4, "the stack ends in a layer", "mlp", "norm.py", "layernorm", "rmsnorm", "attention", "gelu", "silu", "conv.py", "linear.py", "dropout"), func(in *Input) bool { return in.training() && in.Place != memory.Logits })},
		},
		excludes: []clue{
			when("the request is one of the model's parameters", func(in *Input) bool {
				return len(in.Request) > 0 && in.Request[0].What == "parameter" && in.Request[0].Seen && gathers(in) == "" // which a step gathers and frees again
			}),
			foreignHolder,
			wakes,
			unitFills,
		},
		figure: func(in *Input) (string, *int64) {
			switch {
			case in.Calibrates:
				return in.calibration("on the card")
			case fullResolution(in) != "":
				return plain("the VAE processes the whole image at full resolution")(in)
			case in.Phase == "rollout":
				return plain("one step's tensors do not fit next to the weights")(in)
			case assigns(in) != "":
				return plain("the overlaps of all objects with all anchors of an image do not fit")(in)
			}
			if len(in.Request) > 0 && slices.Contains([]string{"activations", memory.Tensor, string(memory.Unpacked)}, in.Request[0].What) {
				return requestFigure(in.microBatch())(in)
			}
			return plain(in.microBatch())(in)
		},
	},
}

// expertKeys are settings of the number of ranks that experts are spread over.
var expertKeys = []string{"expert_model_parallel_size", "expert_parallel_size", "expert_parallel_degree", "ep_size"}

var (
	mergesAdapters = frames(8, "adapters are merged into the weights on the card", "merge_and_unload", "_unload_and_optionally_merge", "get_delta_weight")
	wholeDelta     = frames(4, "the stack ends where the whole change of an adapted weight is computed", "get_delta_weight")
	assigns        = frames(4, "the stack ends where objects are assigned to anchors", "/core/bbox/assigners/", "/core/bbox/iou_calculators/", "/task_modules/assigners/")
	fullResolution = frames(20, "the stack ends in the VAE, which works at full resolution", "autoencoder", "vae.py", "decode_first_stage", "vae.decode")
	entropies      = []string{"entropy_from_logits", "vocab_parallel_entropy", "vocabparallelentropy", "calculate_entropy=true", "calculate_entropy(", "compute_entropy", "entropy_fn", "entropy = -(", "utils/megatron/tensor_parallel.py mul_reduce"}
	// ComputesEntropy says that what failed is part of the entropy, whose backward pass takes as much again as its forward pass.
	ComputesEntropy = both(func(in *Input) string {
		n := 2
		if in.passes(2, "torch/autograd/function.py") { // which calls what it is a part of
			n = 3
		}
		return frames(n, "the innermost frames compute the entropy over the vocabulary", entropies...)(in)
	}, (*Input).trainerGPU)
	offloadedPart = frames(6, "one part of an offloaded model does not fit on the card", "accelerate/hooks.py")
	gathers       = frames(6, "the stack ends where sharded parameters are gathered", "_all_gather", "all_gather_into_tensor", "unshard", "fetch_sub_module", "pre_forward", "pre_backward", "foreach_all_gather", "partition_parameters.py", "gatheredparameters", "_alloc_padded_unsharded", "_get_reduce_scatter_tensors")
	widened       = frames(3, "embeddings, norms and head are cast to float32", "prepare_model_for_kbit_training")
	// ScoresOfFallback says that scaled_dot_product_attention asked for much: its fused kernels ask for no more than their output.
	ScoresOfFallback = both(fallback, func(in *Input) bool { return in.Requested != nil && in.Total != nil && *in.Requested > *in.Total/10 })
	fallback         = frames(3, "the stack ends in scaled_dot_product_attention, whose fallback builds the scores in full", "scaled_dot_product_attention", "sdpa_attention")
	loadsWide        = is(": four bytes a parameter", dtypeKeys, "float32", "fp32", "torch.float32", "float")
	dtypeKeys        = []string{"torch_dtype", "dtype", "model_dtype", "param_dtype"}
	zeroKeys         = []string{"zero_optimization.stage", "zero_optimization_stage", "zero_config.stage", "zero_stage", "deepspeed_stage", "actor_zero_stage", "sharding_strategy", "fsdp_sharding_strategy"}
)

func trimmed(s string) string { return strings.TrimSuffix(s, ".") }

func (in *Input) gpuOptimizer() bool { return in.gpu() && in.Phase == "optimizer" }
func (in *Input) trainerGPU() bool   { return in.gpu() && !in.EngineFailed }
func (in *Input) stepGPU() bool {
	return in.trainerGPU() && slices.Contains([]string{"forward", "backward", "training", "logprob", "optimizer", "rollout"}, in.Phase)
}
