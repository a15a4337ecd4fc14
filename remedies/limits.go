package remedies

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"oomscan/remedies/memory"
)

// tokenLimit returns the bound on the tokens of a micro-batch in the failing phase, or nil if no setting has one or the failed pass was
// another one: no tensor of so few tokens is as large as the request. An evaluation may join what it keeps of many batches.
func tokenLimit(ctx *Context) *memory.Limit {
	const widest, perScore = 4 << 20, 1 << 10 // bytes: a vocabulary's row of a million entries, and the scores of 256 heads with one token
	l := settingsLimit(ctx)
	if n := ctx.root.Requested; l != nil && n != nil && l.Tokens > 0 && !ctx.is("evaluating") && *n/l.Tokens > widest+perScore*l.Tokens {
		return nil
	}
	return l
}

// settingsLimit returns the bound that the settings have.
func settingsLimit(ctx *Context) *memory.Limit {
	if ctx.is("evaluating") { // has a batch of its own
		return limitOf(ctx, &bound{samples: "per_device_eval_batch_size", lengths: hfLengths})
	}
	var first *memory.Limit
	rows := boundsOf(ctx)
	if ctx.is("engine_process") {
		rows = engineBounds
	}
	for _, b := range rows {
		l := limitOf(ctx, &b)
		switch {
		case l == nil:
		case first == nil:
			first = l
		case b.shared && first.Budget && l.Budget && l.Tokens > first.Tokens:
			first = l // no stack shows for sure which of the two passes it was
		}
		if first != nil && !b.shares {
			return first
		}
	}
	return first
}

// boundsOf returns the limits of the run's own program, or of the framework that it is built on: PyTorch, where no traceback names it.
func boundsOf(ctx *Context) []bound {
	p := programOf(ctx.run)
	if rows := bounds()[p.ID]; rows != nil {
		return rows
	}
	if ctx.run.Framework == "unknown" && p.ID != "" && !p.NoTorch {
		return bounds()["torch"]
	}
	return bounds()[ctx.run.Framework]
}

// bound is a framework's limit of the tokens of a micro-batch.
type bound struct {
	phases []string // any of the training step's parts when empty
	when   []string // conditions that must be confirmed
	unless []string // conditions that must not be confirmed
	budget string   // a setting that counts tokens per GPU
	// samples is a setting that counts samples; the longest of them has the sum of the lengths.
	samples string
	times   []string // settings that multiply the samples
	alone   bool     // one sample at a time, whatever the settings say
	lengths [][]string
	// shares is true if the next bound holds for some passes of the same phase, and shared is true for that bound. The
	// larger of the two limits all passes.
	shares, shared bool
	parts          []string // settings by which the tokens of a GPU are divided: context parallelism
	turns          string   // a setting that bounds all turns of a sample together, where the lengths bound one turn
	extra          int64    // tokens of a sample beyond the lengths
	uncut          string   // a condition under which no setting limits a sample
}

var (
	verlLengths = [][]string{{"data.max_prompt_length", "actor_rollout_ref.rollout.prompt_length"}, {"data.max_response_length", "actor_rollout_ref.rollout.response_length"}}
	verlParts   = []string{"actor_rollout_ref.actor.ulysses_sequence_parallel_size", "actor_rollout_ref.actor.fsdp_config.ulysses_sequence_parallel_size"}
	ring        = []string{"ring_attn_size", "ds.ring_attn_size"} // OpenRLHF's
	hfLengths   = [][]string{{"max_seq_length", "max_length", "cutoff_len", "model_max_length", "block_size", "max_seq_len"}}
	rollLengths = [][]string{{"prompt_length"}, {"response_length"}}
	skyLengths  = [][]string{{"trainer.max_prompt_length", "generator.max_input_length"}, {"generator.sampling_params.max_generate_length"}} // SkyRL's
	skyParts    = []string{"trainer.policy.sequence_parallel_size"}
	sftLengths  = [][]string{{"data.max_length"}} // verl/trainer/sft_trainer.py
	training    = []string{"training", "forward", "backward", "optimizer"}
	// The actor's own old log-probabilities follow the budget of training; other models have a separate one
	// (remedies.md part 2.3; slime/utils/arguments.py).
	// A sample of fine-tuning is as long as the data has it (slime/rollout/sft_rollout.py).
	slimeBounds = []bound{
		{phases: []string{"logprob"}, unless: []string{"not dynamic_batch"}, budget: "--log-probs-max-tokens-per-gpu", lengths: [][]string{{"rollout_max_prompt_len"}, {"rollout_max_response_len"}}, turns: "rollout_max_context_len", shares: true},
		{unless: []string{"not dynamic_batch"}, shared: true, uncut: "code:sft_loss", budget: "--max-tokens-per-gpu", lengths: [][]string{{"rollout_max_prompt_len"}, {"rollout_max_response_len"}}, turns: "rollout_max_context_len"},
		{samples: "--micro-batch-size", lengths: [][]string{{"seq_length"}}, parts: []string{"context_parallel_size"}, when: []string{"not dynamic_batch"}},
	}
)

// engineBounds lists caps on the tokens of one step of an inference engine, which splits a prefill into such chunks.
var engineBounds = []bound{
	{phases: []string{"rollout"}, budget: "--chunked-prefill-size"},
	{phases: []string{"rollout"}, budget: "--max-num-batched-tokens"},
}

// bounds lists the limits by framework, in the order of evaluation. Sources: remedies.md part 2, that is
// verl/utils/seqlen_balancing.py, slime/utils/arguments.py, areal/api/cli_args.py, openrlhf/cli/train_ppo_ray.py,
// trl/trainer/grpo_config.py, nemo-rl's examples/configs/grpo_math_1B.yaml, megatron/training/arguments.py.
var bounds = sync.OnceValue(func() map[string][]bound {
	return map[string][]bound{
		"verl": {
			{phases: training, when: []string{"data.use_dynamic_bsz=True"}, budget: "data.max_token_len_per_gpu", lengths: sftLengths},
			{phases: training, unless: []string{"data.use_dynamic_bsz=True"}, samples: "data.micro_batch_size_per_gpu", lengths: sftLengths},
			{when: []string{"role:critic", "critic.use_dynamic_bsz=True"}, budget: "critic.ppo_max_token_len_per_gpu", lengths: verlLengths},
			{when: []string{"role:critic"}, samples: "critic.ppo_micro_batch_size_per_gpu", lengths: verlLengths},
			{phases: []string{"logprob"}, when: []string{"role:ref", "dynamic_batch"}, budget: "actor_rollout_ref.ref.log_prob_max_token_len_per_gpu", lengths: verlLengths},
			{phases: []string{"logprob"}, when: []string{"role:ref"}, unless: []string{"dynamic_batch"}, samples: "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu", lengths: verlLengths},
			{phases: []string{"logprob"}, when: []string{"dynamic_batch"}, unless: []string{"role:ref"}, budget: "actor_rollout_ref.rollout.log_prob_max_token_len_per_gpu", lengths: verlLengths},
			{phases: []string{"logprob"}, unless: []string{"role:ref", "dynamic_batch"}, samples: "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu", lengths: verlLengths},
			{phases: training, when: []string{"dynamic_batch"}, unless: []string{"role:critic"}, budget: "actor_rollout_ref.actor.ppo_max_token_len_per_gpu", lengths: verlLengths},
			{phases: training, samples: "worker.actor.micro_batch_size_per_device_for_update", lengths: verlLengths}, // EasyR1
			{phases: []string{"logprob"}, samples: "worker.actor.micro_batch_size_per_device_for_experience", lengths: verlLengths},
			{phases: training, unless: []string{"role:critic", "dynamic_batch", padded}, samples: "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", lengths: verlLengths, parts: verlParts},
			{phases: training, when: []string{padded}, unless: []string{"role:critic", "dynamic_batch"}, samples: "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", lengths: verlLengths},
		},
		"relax": slimeBounds, "slime": slimeBounds,
		"areal": {{budget: "actor.mb_spec.max_tokens_per_mb", lengths: [][]string{{"train_dataset.max_length"}, {"gconfig.max_new_tokens"}}}},
		"openrlhf": slices.Concat(
			openrlhfBounds("--train.max_tokens_per_gpu", "--rollout.max_tokens_per_gpu", "--train.micro_batch_size", "--rollout.micro_batch_size"),
			openrlhfBounds("--train_max_tokens_per_gpu", "--rollout_max_tokens_per_gpu", "--micro_train_batch_size", "--micro_rollout_batch_size"), // before 0.10
		),
		"skyrl": {
			{phases: []string{"logprob"}, samples: "trainer.micro_forward_batch_size_per_gpu", lengths: skyLengths, parts: skyParts},
			{phases: training, samples: "trainer.micro_train_batch_size_per_gpu", lengths: skyLengths, parts: skyParts},
		},
		"open_instruct": {{budget: "--pack_length", unless: []string{"per_device_train_batch_size>1"}, lengths: [][]string{{"max_prompt_token_length"}, {"response_length"}}}}, // open_instruct/grpo_utils.py: it must hold both
		"trl": {
			{phases: []string{"rollout"}, when: []string{"keeps_scores", "stack:rloo_trainer.py"}, samples: "per_device_train_batch_size", times: []string{"gradient_accumulation_steps", "num_mini_batches"}, lengths: [][]string{{"response_length"}}},
			{phases: []string{"rollout"}, when: []string{"keeps_scores", "before:0.17"}, samples: "per_device_train_batch_size", times: []string{"gradient_accumulation_steps", "num_mini_batches"}, lengths: [][]string{{"response_length"}}},
			{phases: []string{"rollout"}, when: []string{"keeps_scores"}, samples: "per_device_train_batch_size", times: []string{"gradient_accumulation_steps"}, lengths: [][]string{{"response_length"}}}, // trl/trainer/ppo_trainer.py, local_batch_size
			{when: []string{"stack:UnslothGRPOTrainer.py", "not since:unsloth 2026.1"}, unless: []string{"set:unsloth_num_chunks"}, alone: true, lengths: [][]string{{"max_completion_length"}}, extra: 1},  // unsloth/models/rl_replacements.py
			{samples: "per_device_train_batch_size", lengths: [][]string{{"max_prompt_length"}, {"max_completion_length"}}},
			{samples: "per_device_train_batch_size", unless: []string{"counts_prompts"}, lengths: [][]string{{"max_completion_length"}}, extra: 1}, // logits_to_keep + 1 (trl/trainer/grpo_trainer.py)
			{samples: "per_device_train_batch_size", lengths: hfLengths},
		},
		"nemo_rl": slices.Concat(
			nemoBounds([]string{"policy.dtensor_cfg.enabled=true"}, "policy.dtensor_cfg.context_parallel_size"),
			nemoBounds([]string{"policy.megatron_cfg.enabled=true"}, "policy.megatron_cfg.context_parallel_size"),
			nemoBounds(nil),
		),
		"prime_rl": {{budget: "seq_len"}}, // prime_rl/trainer/batch.py packs to it
		"roll": { // roll/utils/sequence_packing.py
			{phases: training, when: []string{"actor_train.use_sequence_packing=true"}, budget: "actor_train.sequence_packing_args.max_packed_sequence_length_train", lengths: rollLengths},
			{phases: training, unless: []string{"actor_train.use_sequence_packing=true", "actor_train.use_dynamic_batching_in_train=true"}, samples: "actor_train.training_args.per_device_train_batch_size", lengths: rollLengths, parts: []string{"actor_train.strategy_args.strategy_config.context_parallel_size"}},
			{phases: []string{"logprob"}, when: []string{"reference.use_sequence_packing=true"}, budget: "reference.sequence_packing_args.max_packed_sequence_length_forward", lengths: rollLengths},
			{phases: []string{"logprob"}, when: []string{"role:ref"}, unless: []string{"reference.use_dynamic_batching_in_infer=true"}, samples: "reference.infer_batch_size", lengths: rollLengths, parts: []string{"reference.strategy_args.strategy_config.context_parallel_size"}},
			{phases: []string{"logprob"}, when: []string{"role:actor"}, unless: []string{"role:ref", "actor_train.use_dynamic_batching_in_infer=true", "actor_train.use_sequence_packing=true"}, samples: "actor_train.infer_batch_size", lengths: rollLengths, parts: []string{"actor_train.strategy_args.strategy_config.context_parallel_size"}},
		},
		"megatron": {{samples: "--micro-batch-size", lengths: [][]string{{"seq_length"}}, parts: []string{"context_parallel_size"}}},
		"torch": {
			{samples: "per_device_train_batch_size", lengths: hfLengths},
			{samples: "device_batch_size", lengths: [][]string{{"sequence_length", "block_size"}}},
			{samples: "training.local_batch_size", lengths: [][]string{{"training.seq_len"}}},                                          // torchtitan
			{samples: "micro_batch_size", lengths: [][]string{{"sequence_len", "encoder_seq_length", "seq_length", "max_seq_length"}}}, // Axolotl, NeMo
			{when: []string{"single_sequence"}, alone: true, lengths: [][]string{{"sequence_length", "block_size", "seq_len"}}},
			{samples: "batch_size", lengths: [][]string{{"block_size", "seq_len", "seq_length", "sequence_length", "context_length", "max_seq_len", "max_seq_length", "max_length"}}},
			{samples: "train_batch_size", lengths: hfLengths},
		},
		"deepspeed": {{samples: "train_micro_batch_size_per_gpu", lengths: hfLengths}, {samples: "per_device_train_batch_size", lengths: hfLengths}},
	}
})

// padded says that verl computes on padded samples, which Ulysses does not split (verl/workers/actor/dp_actor.py, _forward_micro_batch).
const padded = "actor_rollout_ref.model.use_remove_padding=False"

// mostTokens is more than any micro-batch has. A log with more is wrong.
const mostTokens = 1 << 30

func limitOf(ctx *Context, b *bound) *memory.Limit {
	phases := b.phases
	if phases == nil {
		phases = append([]string{"logprob"}, training...)
	}
	if !slices.Contains(phases, ctx.phase) || len(b.when) > 0 && !ctx.allTrue(b.when) {
		return nil
	}
	if _, bad := ctx.confirmed(b.unless); bad {
		return nil
	}
	longest, how := int64(0), make([]string, 0, 2)
	for _, names := range b.lengths {
		if n, ok := ctx.settings.integer(names...); ok && n <= mostTokens {
			longest += n
			how = append(how, memory.Thousands(n))
		}
	}
	if b.extra > 0 && longest > 0 {
		longest += b.extra
		how = append(how, memory.Thousands(b.extra))
	}
	atLeast := longest
	if len(how) < len(b.lengths) {
		longest = 0
	}
	if n, ok := ctx.settings.integer(b.turns); ok && b.turns != "" && n <= mostTokens {
		atLeast = max(atLeast, n)
	}
	if b.budget != "" {
		n, ok := ctx.settings.integer(b.budget)
		if !ok || n > mostTokens {
			return nil
		}
		return &memory.Limit{Key: b.budget, Value: itoa(n), Tokens: n, Budget: true, Longest: longest, AtLeast: atLeast, Uncut: b.uncut != "" && ctx.is(b.uncut)}
	}
	n, ok := ctx.settings.integer(b.samples)
	if b.alone || triedOne(ctx) {
		n, ok = 1, true
	}
	for _, k := range b.times {
		if by, set := ctx.settings.integer(k); set && ok && by <= mostSamples && n <= mostSamples {
			n *= by
		}
	}
	if !ok || longest <= 0 || n > mostTokens/longest {
		return nil
	}
	l := &memory.Limit{Key: b.samples, Value: itoa(n), Tokens: n * longest, Samples: n, Longest: longest, AtLeast: atLeast}
	if l.How = strings.Join(how, " + "); len(how) > 1 {
		l.How = "(" + l.How + ")"
	}
	l.How = fmt.Sprintf("%d x %s", n, l.How)
	if g, ok := ctx.settings.integer("num_generations"); ok && ctx.is("counts_prompts") {
		l.Samples, l.Tokens, l.How = g*l.Samples, g*l.Tokens, fmt.Sprintf("%d x ", g)+l.How
	}
	if ctx.is("pairs") {
		l.Samples, l.Tokens, l.How = 2*l.Samples, 2*l.Tokens, "2 x "+l.How // the chosen answers and the rejected ones
	}
	if p, ok := ctx.settings.integer(b.parts...); ok && len(b.parts) > 0 && p > 1 {
		l.Tokens, l.How = ceilDiv(l.Tokens, p), l.How+fmt.Sprintf(" / %d", p)
	}
	return l
}

// triedOne reports whether a search for a batch size ended at zero: the batch that failed last was of one sample, whatever a setting says.
func triedOne(ctx *Context) bool { return ctx.recognized("torch.oom.batch_size_zero") }

// nemoBounds are NeMo-RL's limits under one of its two trainers.
func nemoBounds(when []string, parts ...string) []bound {
	lengths := [][]string{{"policy.max_total_sequence_length"}}
	return []bound{
		{phases: []string{"logprob"}, when: when, samples: "policy.logprob_batch_size", lengths: lengths, parts: parts},
		{phases: training, when: when, samples: "policy.train_micro_batch_size", lengths: lengths, parts: parts},
	}
}

// openrlhfBounds are OpenRLHF's limits under one set of names. In its later versions max_len bounds prompt and answer together.
func openrlhfBounds(trainTokens, rolloutTokens, train, rollout string) []bound {
	lengths := [][]string{{"prompt_max_len"}, {"generate_max_len"}}
	return []bound{
		{phases: training, when: []string{"dynamic_batch"}, budget: trainTokens, lengths: lengths, turns: "max_len"},
		{phases: []string{"logprob"}, when: []string{"dynamic_batch"}, budget: rolloutTokens, lengths: lengths, turns: "max_len"},
		{phases: training, unless: []string{"dynamic_batch"}, samples: train, lengths: lengths, parts: ring},
		{phases: []string{"logprob"}, unless: []string{"dynamic_batch"}, samples: rollout, lengths: lengths, parts: ring},
		{phases: training, unless: []string{"dynamic_batch"}, samples: train, lengths: [][]string{{"max_len"}}, parts: ring},
	}
}
