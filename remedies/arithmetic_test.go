package remedies

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/parser/traceback"
)

// frames is a traceback of frames written as "file|function|code".
func frames(lines ...string) *traceback.Trace {
	t := &traceback.Trace{}
	for _, l := range lines {
		p := strings.SplitN(l, "|", 3)
		f := traceback.Frame{File: p[0]}
		if len(p) > 1 {
			f.Func = p[1]
		}
		if len(p) > 2 {
			f.Code = p[2]
		}
		t.Frames = append(t.Frames, f)
	}
	return t
}

// fieldNote is the run of the field note with its figures.
func fieldNote(pairs ...string) (*classifier.Run, *classifier.Incident) {
	r := run("verl", append([]string{
		"actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", "32", "actor_rollout_ref.actor.ppo_mini_batch_size", "256", "data.train_batch_size", "1024",
		"data.max_prompt_length", "512", "data.max_response_length", "1024", "actor_rollout_ref.rollout.gpu_memory_utilization", "0.6",
		"actor_rollout_ref.actor.fsdp_config.param_offload", "False", "actor_rollout_ref.actor.fsdp_config.optimizer_offload", "False",
		"actor_rollout_ref.model.enable_gradient_checkpointing", "True", "actor_rollout_ref.rollout.name", "vllm", "trainer.n_gpus_per_node", "4", "trainer.nnodes", "1",
	}, pairs...)...)
	r.Backend, r.Engine = "fsdp", "vllm"
	in := with(gpuOOM("training"), func(r *classifier.Root) {
		r.Message = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 17.66 GiB. GPU 0 has a total capacity of 79.18 GiB of which 4.97 GiB is free."
		r.Requested, r.Free, r.Total, r.Allocated = gibs(17.66), gibs(4.97), gibs(79.18), gibs(100.77)
	})
	short := *in.Root.Requested - *in.Root.Free
	in.Shortfall = &short
	return r, in
}

func TestFieldNoteReenacted(t *testing.T) {
	t.Parallel()
	r, in := fieldNote("vocab_size", "151936")
	c := For(r, in)

	micro := pick(t, c, "verl.actor.micro-batch-size")
	assert.Equal(t, "4", toOf(micro, "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu"))
	how := micro.Changes[0].ComputedFrom
	for _, step := range []string{"17.66 GiB requested / 4.97 GiB free = 3.55", "at full length it asks for 27.81 GiB", "32 / 8 = 4", "8 fits this batch, 4.41 GiB, but not full length", "divides the 64 samples"} {
		assert.Contains(t, how, step)
	}
	offload := pick(t, c, "verl.offload.fsdp")
	assert.Equal(t, "True", toOf(offload, "actor_rollout_ref.actor.fsdp_config.param_offload"))
	assert.Equal(t, "True", toOf(offload, "actor_rollout_ref.actor.fsdp_config.optimizer_offload"))
	assert.Equal(t, "0.38", toOf(pick(t, c, "verl.rollout.gpu-memory-utilization"), "actor_rollout_ref.rollout.gpu_memory_utilization"))
	response := pick(t, c, "field-note.max-response-length")
	assert.Equal(t, "512", toOf(response, "data.max_response_length"))
	assert.NotContains(t, c.StartWith, response.ID, "a last resort")
	assert.Equal(t, micro.ID, c.StartWith[0])
	for i := 1; i < len(c.Remedies); i++ {
		assert.Equal(t, i+1, c.Remedies[i].Order)
	}
	assert.Less(t, micro.Order, offload.Order)
	assert.Less(t, offload.Order, response.Order)
	assert.False(t, *pick(t, c, "field-note.train-batch-size").Applies, "the batch of a step does not move the peak")

	told := strings.Join(c.Findings, "\n")
	assert.Contains(t, told, "31,200 tokens x 151,936 vocabulary x 4 bytes")
	assert.Contains(t, told, "micro-batch of 32 x 975 tokens")

	r, in = fieldNote()
	assert.NotContains(t, strings.Join(For(r, in).Findings, "\n"), "vocabulary", "a log that names no vocabulary explains nothing")
}

func TestALimitThatIsNotAppliedIsNotLowered(t *testing.T) {
	t.Parallel()
	head := frames("/root/slime/backends/megatron_utils/loss.py|policy_loss_function|log_probs = get_log_probs(logits)",
		"/root/Megatron-LM/megatron/core/fusions/fused_cross_entropy.py|calculate_logits_max|vocab_parallel_logits = vocab_parallel_logits.float()")
	fail := func(tokens float64) *classifier.Incident {
		return with(gpuOOM("forward"), func(r *classifier.Root) {
			r.Message, r.Trace = "CUDA out of memory. Tried to allocate", head
			n := tokens * 151936 * 4 / gib
			r.Requested, r.Free, r.Total = gibs(float64(int(n*100+.5))/100), gibs(3.5), gibs(79.11)
		})
	}
	settings := []string{
		"use_dynamic_batch_size", "True", "max_tokens_per_gpu", "8192", "vocab_size", "151936", "tensor_model_parallel_size", "1", "rollout_max_response_len", "7000",
		"rollout_max_prompt_len", "1000", "context_parallel_size", "1",
	}
	for _, fw := range []string{"slime", "relax"} {
		r := run(fw, settings...)
		r.Backend = "megatron"
		c := For(r, fail(61000))
		budget := pick(t, c, fw+".max-tokens-per-gpu")
		require.NotNil(t, budget.Applies)
		assert.False(t, *budget.Applies)
		assert.Contains(t, budget.AppliesWhy, "about 61,000 tokens, 7.4 times its limit --max-tokens-per-gpu = 8192")
		assert.NotContains(t, c.StartWith, budget.ID)
		assert.Contains(t, strings.Join(c.Findings, "\n"), "the limit is not being applied, so lowering it does not help")

		c = For(r, fail(8192))
		budget = pick(t, c, fw+".max-tokens-per-gpu")
		assert.True(t, budget.Applies == nil || *budget.Applies)
	}
	for tokens, applies := range map[float64]bool{61000: false, 8192: true} {
		r, in := run("slime", settings...), fail(tokens)
		r.Backend, in.Phase = "megatron", "logprob"
		own := pick(t, For(r, in), "slime.log-probs-max-tokens")
		assert.Equal(t, applies, own.Applies == nil || *own.Applies, "another limit is not applied either")
	}
}

func TestABudgetIsLoweredToWhatFits(t *testing.T) {
	t.Parallel()
	r := run("slime", "use_dynamic_batch_size", "True", "max_tokens_per_gpu", "32768", "vocab_size", "151936", "tensor_model_parallel_size", "1", "rollout_max_response_len", "4096")
	r.Backend = "megatron"
	in := with(gpuOOM("forward"), func(r *classifier.Root) {
		r.Message = "CUDA out of memory. Tried to allocate 18.55 GiB."
		r.Trace = frames("/root/slime/loss.py|loss|logits = logits.float()")
		r.Requested, r.Free, r.Total = gibs(18.55), gibs(6), gibs(79.11)
	})
	c := For(r, in)
	got := pick(t, c, "slime.max-tokens-per-gpu")
	assert.Equal(t, "10240", toOf(got, "--max-tokens-per-gpu"), "32768 x 6.00 / 18.55 = 10598, in steps of 512")
	require.NotNil(t, got.Enough)
	assert.True(t, *got.Enough, got.EnoughWhy)
	assert.Equal(t, got.ID, c.StartWith[0])
	require.True(t, slices.ContainsFunc(c.Findings, func(f string) bool {
		return strings.Contains(f, "smallest change") && strings.Contains(f, "--max-tokens-per-gpu 32768 to 10240")
	}), c.Findings)
}

func TestEnoughIsSaidOfWhatIsModelled(t *testing.T) {
	t.Parallel()
	const share = "actor_rollout_ref.rollout.gpu_memory_utilization"
	wake := func(short float64) *classifier.Incident {
		return with(gpuOOM("weight_update"), func(r *classifier.Root) { r.Requested, r.Free, r.Total = gibs(short+1), gibs(1), gibs(80) })
	}
	for name, c := range map[string]struct {
		run  *classifier.Run
		in   *classifier.Incident
		id   string
		want string // yes, no, untold
	}{
		"a tenth of the card covers what was missing":           {run("verl", share, "0.6"), wake(2), "verl.rollout.gpu-memory-utilization", "yes"},
		"what was missing and a margin does":                    {run("verl", share, "0.6"), wake(12), "verl.rollout.gpu-memory-utilization", "yes"},
		"a sleeping engine gives nothing back":                  {run("verl", share, "0.6", "actor_rollout_ref.rollout.free_cache_engine", "True"), with(gpuOOM("backward"), func(r *classifier.Root) { r.Requested, r.Free, r.Total = gibs(3), gibs(1), gibs(80) }), "verl.rollout.gpu-memory-utilization", "untold"},
		"activations are not modelled":                          {run("verl", "actor_rollout_ref.model.enable_gradient_checkpointing", "False"), with(gpuOOM("backward"), func(r *classifier.Root) { r.Requested, r.Free, r.Total = gibs(3), gibs(1), gibs(80) }), "verl.gradient-checkpointing", "untold"},
		"a request that nobody explains may not be the batch's": {run("verl", "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", "8"), with(gpuOOM("backward"), func(r *classifier.Root) { r.Requested, r.Free, r.Total = gibs(3), gibs(1), gibs(80) }), "verl.actor.micro-batch-size", "untold"},
		"the engine's own estimate": {
			run("vllm", "max_model_len", "131072"),
			&classifier.Incident{Kind: parser.KVCache, Resource: "gpu", Phase: "init", Root: rootOf(kvNeeded)},
			"vllm.max-model-len", "yes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := pick(t, For(c.run, c.in), c.id)
			said := "untold"
			if got.Enough != nil {
				said = map[bool]string{true: "yes", false: "no"}[*got.Enough]
			}
			assert.Equal(t, c.want, said, got.EnoughWhy)
			assert.Equal(t, got.Enough != nil, got.EnoughWhy != "")
		})
	}
}

func TestOneSequencesCacheIsCheckedAgainstTheModel(t *testing.T) {
	t.Parallel()
	ask := func(name string, needed float64) string {
		r := run("vllm", "max_model_len", "131072")
		r.Engine, r.Model.Name = "vllm", name
		in := &classifier.Incident{Kind: parser.KVCache, Resource: "gpu", Phase: "init", Root: rootOf(kvNeeded)}
		in.Root.Requested = gibs(needed)
		return strings.Join(For(r, in).Findings, "\n")
	}
	assert.Contains(t, ask("Qwen/Qwen3-14B", 20), "2 x 40 layers x 8 key-value heads x 128 x 2 bytes = 163,840 bytes a token (sizes from the model's name)")
	assert.NotContains(t, ask("Qwen/Qwen3-14B", 10), "bytes a token", "a cache of other elements")
	assert.NotContains(t, ask("somebody/model", 20), "bytes a token")
	assert.NotContains(t, ask("deepseek-ai/DeepSeek-V3", 20), "bytes a token", "latent attention has no heads in its cache")
}

func TestStatesThatAreLoadedBackAreNotCalledEnough(t *testing.T) {
	t.Parallel()
	r, in := fieldNote("vocab_size", "151936")
	r.Model.Name = "Qwen/Qwen2.5-7B"
	offload := pick(t, For(r, in), "verl.offload.fsdp")
	assert.Nil(t, offload.Freed, "verl loads parameters and state for the actor's update")
	in.Phase = "weight_update"
	offload = pick(t, For(r, in), "verl.offload.fsdp")
	require.NotNil(t, offload.Enough)
	assert.True(t, *offload.Enough, offload.EnoughWhy)
}

func TestStatesAreCountedByStrategyAndRanks(t *testing.T) {
	t.Parallel()
	world := func(r *classifier.Run, n int, name string) *classifier.Run {
		r.WorldSize, r.Model.Name, r.Backend = &n, name, "deepspeed"
		return r
	}
	in := with(gpuOOM("optimizer"), func(r *classifier.Root) { r.Requested, r.Free, r.Total = gibs(9), gibs(1), gibs(80) })
	const p = 7_615_616_512
	for name, c := range map[string]struct {
		run   *classifier.Run
		id    string
		freed int64 // 0: unknown
	}{
		"the optimizer's state under ZeRO": {world(run("deepspeed", "zero_optimization.stage", "2", "zero_optimization.offload_optimizer.device", "none"), 8, "Qwen2.5-7B"), "deepspeed.offload-optimizer", 16 * p / 8}, // and the fp32 gradients of the step
		"gradients of stage 2":             {world(run("deepspeed", "zero_optimization.stage", "1"), 4, "Qwen2.5-7B"), "deepspeed.stage", 2 * (p / 4 * 3)},
		"weights of stage 3":               {world(run("deepspeed", "zero_optimization.stage", "2"), 4, "Qwen2.5-7B"), "deepspeed.stage", 2 * (p / 4 * 3)},
		"weights that stage 2 does not split": {
			world(run("deepspeed", "zero_optimization.stage", "2", "zero_optimization.offload_param.device", "none"), 4, "Qwen2.5-7B"), "deepspeed.offload-param", 0,
		},
		"OpenRLHF's flag":        {world(run("openrlhf", "--adam_offload", "False", "--zero_stage", "3"), 8, "Qwen/Qwen2.5-7B"), "openrlhf.adam-offload", 16 * p / 8},
		"nobody knows the model": {world(run("deepspeed", "zero_optimization.stage", "1"), 4, "x"), "deepspeed.stage", 0},
		"adapters have few states": {
			world(run("deepspeed", "zero_optimization.stage", "2", "zero_optimization.offload_optimizer.device", "none", "lora_rank", "64"), 8, "Qwen2.5-7B"), "deepspeed.offload-optimizer", 0,
		},
		"more than the card holds": {world(run("deepspeed", "zero_optimization.stage", "2", "zero_optimization.offload_optimizer.device", "none"), 2, "Qwen2.5-72B"), "deepspeed.offload-optimizer", 0},
		"one rank splits nothing":  {world(run("deepspeed", "zero_optimization.stage", "1"), 1, "Qwen2.5-7B"), "deepspeed.stage", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := pick(t, For(c.run, in), c.id)
			if c.freed == 0 {
				assert.Nil(t, got.Freed)
				return
			}
			require.NotNil(t, got.Freed)
			assert.InEpsilon(t, c.freed, *got.Freed, .01)
			require.NotNil(t, got.Enough)
			assert.Equal(t, *got.Freed >= 8*gib, *got.Enough)
		})
	}
}

func TestEvaluationHasABatchOfItsOwn(t *testing.T) {
	t.Parallel()
	r := run("torch", "per_device_train_batch_size", "2", "per_device_eval_batch_size", "8", "max_seq_length", "4096", "eval_accumulation_steps", "null", "--gradient_checkpointing", "False")
	r.Model.Name = "Qwen/Qwen2.5-7B"
	in := with(gpuOOM("forward"), func(r *classifier.Root) {
		r.Message = "CUDA out of memory. Tried to allocate 37.09 GiB."
		r.Requested, r.Free, r.Total = gibs(37.09), gibs(18.37), gibs(139.81)
		r.Trace = frames("/x/transformers/trainer.py|evaluation_loop|logits = self.gather_function((logits))", "/x/transformers/trainer_pt_utils.py|nested_gather|logits = logits.float()")
	})
	c := For(r, in)
	assert.Equal(t, "torch.eval-batch", c.StartWith[0])
	assert.Equal(t, "1", toOf(pick(t, c, "torch.eval-batch"), "per_device_eval_batch_size"), "the loss makes another copy, and 2 x 9.27 GiB exceed 18.37")
	assert.False(t, *pick(t, c, "torch.batch").Applies)
	assert.Contains(t, strings.Join(c.Findings, "\n"), "more than the 32,768 that the settings allow (8 x 4,096)")

	in.Root.Trace = frames("/x/transformers/trainer.py|training_step|loss = self.compute_loss(model, inputs)")
	c = For(r, in)
	assert.Equal(t, "torch.checkpointing", c.StartWith[0])
	assert.False(t, *pick(t, c, "torch.eval-batch").Applies)
}

func TestAnOffloadNeedsTheHostsMemory(t *testing.T) {
	t.Parallel()
	const key = "actor_rollout_ref.actor.fsdp_config.optimizer_offload"
	ask := func(mem string) Remedy {
		r := run("verl", key, "False", "trainer.n_gpus_per_node", "8", "trainer.nnodes", "1", "--mem", mem)
		r.Backend, r.Model.Name = "fsdp", "Qwen/Qwen2.5-32B"
		return pick(t, For(r, gpuOOM("weight_update")), "verl.offload.fsdp")
	}
	plenty := ask("1000G")
	assert.True(t, *plenty.Applies)
	scarce := ask("256G")
	assert.False(t, *scarce.Applies)
	assert.Contains(t, scarce.AppliesWhy, "and there are 256.00 GiB")
}

func TestAStrayProcessRulesSmallerBatchesOut(t *testing.T) {
	t.Parallel()
	fail := func(others float64) *classifier.Incident {
		return with(gpuOOM("backward"), func(r *classifier.Root) {
			r.Requested, r.Free, r.Total, r.ProcessBytes, r.OtherProcesses = gibs(1), gibs(.31), gibs(79.15), gibs(78.5-others), gibs(others)
		})
	}
	c := For(run("torch", "--batch-size", "8"), fail(37.6))
	batch := pick(t, c, "torch.batch")
	assert.False(t, *batch.Applies)
	assert.Contains(t, batch.AppliesWhy, "another process holds the card: other processes hold 37.60 GiB")
	assert.Equal(t, []string{"torch.card.others"}, c.StartWith)

	c = For(run("torch", "--batch-size", "8"), fail(3))
	assert.True(t, *pick(t, c, "torch.batch").Applies, "contexts of a job's own ranks")
	r := run("verl", "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", "8")
	assert.True(t, *pick(t, For(r, fail(37.6)), "verl.actor.micro-batch-size").Applies, "the engine beside the trainer")
}

func TestACriticHasNoLogits(t *testing.T) {
	t.Parallel()
	r := run("verl", "critic.ppo_micro_batch_size_per_gpu", "8", "data.max_prompt_length", "1024", "data.max_response_length", "1024", "vocab_size", "152064")
	in := with(gpuOOM("backward"), func(r *classifier.Root) {
		r.Requested, r.Free, r.Total = gibs(3.38), gibs(1), gibs(79)
		r.Trace = frames("/x/verl/workers/fsdp_workers.py|update_critic|", "/x/torch/autograd/graph.py|_engine_run_backward|")
	})
	assert.Empty(t, For(r, in).Findings)
}

func TestAPassMayFollowTheBudgetOfTraining(t *testing.T) {
	t.Parallel()
	ask := func(logprobs string) Checklist {
		r := run("slime", "use_dynamic_batch_size", "True", "max_tokens_per_gpu", "16384", "log_probs_max_tokens_per_gpu", logprobs, "vocab_size", "151936", "tensor_model_parallel_size", "1")
		r.Backend = "megatron"
		return For(r, with(gpuOOM("logprob"), func(r *classifier.Root) {
			r.Message = "CUDA out of memory. Tried to allocate"
			r.Trace = frames("/root/slime/loss.py|get_log_probs|logits = logits.float()")
			r.Requested, r.Free, r.Total = gibs(9.27), gibs(5), gibs(79.11) // 16,384 tokens
		}))
	}
	c := ask("8192")
	assert.NotContains(t, strings.Join(c.Findings, "\n"), "not being applied", "the actor's own pass follows the budget of training")
	assert.Contains(t, strings.Join(c.Findings, "\n"), "16,384 tokens x 151,936 vocabulary x 4 bytes = 9.27 GiB; that is exactly --max-tokens-per-gpu")
	assert.Contains(t, strings.Join(ask("16384").Findings, "\n"), "that is exactly --log-probs-max-tokens-per-gpu")
}

func TestAnEngineStepThatComputesLogitsOfAWholeChunkIsReadBySize(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		run *classifier.Run
		key string
	}{
		"SGLang": {run("sglang", "chunked_prefill_size", "8192", "mem_fraction_static", "0.9", "vocab_size", "152064"), "--chunked-prefill-size"},
		"vLLM":   {run("vllm", "max_num_batched_tokens", "8192", "gpu_memory_utilization", "0.9", "vocab_size", "152064"), "--max-num-batched-tokens"},
	} {
		in := with(gpuOOM("rollout"), func(r *classifier.Root) {
			r.Message = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.64 GiB. GPU 2 has a total capacity of 79.11 GiB of which 3.02 GiB is free."
			r.Requested, r.Free, r.Total = gibs(4.64), gibs(3.02), gibs(79.11)
			r.Trace = frames("/x/" + c.run.Framework + "/logits_processor.py|_get_logits|logits = logits.float()")
		})
		got := For(c.run, in)
		require.NotNil(t, got.Cause, name)
		assert.Equal(t, "engine_activation", got.Cause.ID, name)
		assert.Contains(t, got.Cause.Text, "8,192 tokens x 152,064 vocabulary x 4 bytes = 4.64 GiB; that is exactly "+c.key, name)
		i := slices.IndexFunc(got.Proposals, func(p Proposal) bool { return p.Changes[0].Key == c.key })
		require.GreaterOrEqual(t, i, 0, name)
		assert.Equal(t, "4096", *got.Proposals[i].Changes[0].To, name)
		assert.Contains(t, got.Proposals[i].Text, "4.64 -> 2.32 GiB", name)
	}
}

func TestOneLongSampleIsRecognizedByTheAnswerAlone(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{"32768": "one_long_sample", "20480": "budget_not_binding"} { // the prompt's length is not in the log
		r := as(run("slime", "--use-dynamic-batch-size", "True", "--max-tokens-per-gpu", "9216", "--rollout-max-response-len", answer, "--tensor-model-parallel-size", "4", "vocab_size", "152064"), "megatron", "", "")
		in := with(gpuOOM("forward"), func(r *classifier.Root) {
			r.Message = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.84 GiB. GPU 0 has a total capacity of 79.19 GiB of which 3.79 GiB is free."
			r.Requested, r.Free, r.Total = gibs(3.84), gibs(3.79), gibs(79.19)
			r.Trace = frames("/root/slime/slime/backends/megatron_utils/loss.py|policy_loss_function|log_probs = get_log_probs(logits)")
		})
		got := For(r, in)
		require.NotNil(t, got.Cause, answer)
		assert.Equal(t, want, got.Cause.ID, answer)
	}
}

// TestALengthGoesBelowWhatTheFailedSampleHad halves the cap of one sample with known tokens: 7,224 x 151,936 x 4 bytes.
func TestALengthGoesBelowWhatTheFailedSampleHad(t *testing.T) {
	t.Parallel()
	for limit, want := range map[string]string{"16384": "4096", "8192": "4096", "7500": "3750"} {
		r := run("torch", "vocab_size", "151936", "cutoff_len", limit, "per_device_train_batch_size", "1")
		r.Application = "llamafactory"
		in := with(gpuOOM("forward"), func(r *classifier.Root) {
			r.Message = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.09 GiB. GPU 0 has a total capacity of 23.57 GiB of which 2.62 GiB is free."
			r.Requested, r.Free, r.Total = gibs(4.09), gibs(2.62), gibs(23.57)
			r.Trace = frames("/v/transformers/models/qwen2/modeling_qwen2.py|forward|logits = self.lm_head(hidden_states)", "/v/transformers/loss/loss_utils.py|ForCausalLMLoss|logits = logits.float()")
		})
		short := *in.Root.Requested - *in.Root.Free
		in.Shortfall = &short
		assert.Equal(t, want, toOf(pick(t, For(r, in), "llamafactory.cutoff"), "cutoff_len"), limit)
	}
}
