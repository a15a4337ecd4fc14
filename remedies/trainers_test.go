package remedies

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/parser"
)

// counted is a run whose trainer said how many parameters there are, and how many it trains; 0 where it did not.
func counted(r *classifier.Run, parameters, trained int64) *classifier.Run {
	if parameters > 0 {
		r.Model.Parameters = &parameters
	}
	if trained > 0 {
		r.Model.Trained = &trained
	}
	return r
}

// later puts a failure behind the readings of a run.
func later(in *classifier.Incident) *classifier.Incident {
	in.Root.At = parser.Position{Source: "a.log", Line: 90}
	return in
}

// proposed are the changes of all proposals, as situations write them.
func proposed(list Checklist) (first, all []string) {
	for i := range list.Proposals {
		m := moves(&Remedy{Changes: list.Proposals[i].Changes})
		if i == 0 {
			first = m
		}
		all = append(all, m...)
	}
	return first, all
}

// proposes asserts that the first proposal makes changes, and that none makes others.
func proposes(t *testing.T, list Checklist, first, never []string) {
	t.Helper()
	got, all := proposed(list)
	for _, want := range first {
		require.NotNil(t, list.Cause)
		assert.Contains(t, got, want, list.Cause.ID)
	}
	for _, bad := range never {
		assert.NotContains(t, all, bad, list.Cause)
	}
}

// TestWhatTrainersAreToldFirst holds rules about trainers' settings to runs that need them, and to runs that look like these.
func TestWhatTrainersAreToldFirst(t *testing.T) {
	t.Parallel()
	const batch = "per_device_train_batch_size"
	forward := frames("/x/train.py|main|trainer.train()", "/x/modeling_chatglm.py|forward|hidden_states = self.mlp(hidden_states)")
	step := func() *classifier.Incident { return gpu("forward", .125, .06, 40, forward) }
	whole := []string{"--" + batch, "4", "--model_name", "x", "--train_file", "x", "--max_source_length", "512", "--learning_rate", "1e-5", "--fp16", "True", "--num_gpus", "4", "--do_train", "True"}
	versioned := func(version string, r *classifier.Run) *classifier.Run { r.FrameworkVersion = version; return r }
	unslothLoss := frames("/w/unsloth_compiled_cache/UnslothGRPOTrainer.py|compute_loss|new_logits = torch.matmul(new_hidden_states, lm_head.t())")
	unsloth := func(version string) *classifier.Run {
		r := of("unsloth", as(run("trl", "Batch size per device", "8", "num_generations", "8", "max_completion_length", "1792", "fast_inference", "True", "gpu_memory_utilization", "0.9"), "", "vllm", "unsloth/Meta-Llama-3.1-8B-Instruct"))
		r.ApplicationVersion = version
		return r
	}
	script := func(backend string, pairs ...string) *classifier.Run {
		return as(formed(run(backend, append(slices.Clone(whole), pairs...)...), "command"), "", "", "")
	}
	gathered := frames("/x/ppo_trainer.py|_generate_sequence|seq = self.actor_model.module.generate(prompts,", "/x/deepspeed/runtime/hybrid_engine.py|generate|with GatheredParameters(non_active_layers):",
		"/x/deepspeed/runtime/zero/partition_parameters.py|all_gather_coalesced|flat_tensor = torch.empty(tensor_size)")
	unshard := frames("/x/train_utils.py|train|loss.backward()", "/x/torch/distributed/fsdp/flat_param.py|_alloc_padded_unsharded_flat_param|_alloc_storage(unsharded_flat_param")
	output := frames("/x/slime/backends/megatron_utils/model.py|train_one_step|losses_reduced = forward_backward_func(", "/x/megatron/core/transformer/module.py|float_conversion|val = val.float()")
	loss := frames("/x/slime/backends/megatron_utils/model.py|train_one_step|losses_reduced = forward_backward_func(", "/x/slime/backends/megatron_utils/loss.py|get_log_probs|logits = logits / temperature")
	moments := frames("/x/train.py|main|trainer.train()", "/x/torch/optim/adamw.py|_init_group|state[\"exp_avg\"] = torch.zeros_like(")
	onGPUs := func(n int) *classifier.Run {
		r := run("torch", "Instantaneous batch size per device", "8", "Gradient Accumulation steps", "2", batch, "8")
		r.WorldSize = &n
		return r
	}
	sure := func(in *classifier.Incident) *classifier.Incident { in.Confidence = "high"; return in }
	llama := counted(as(run("torch", "mixed_precision", "True", "use_peft", "False", "fsdp_cpu_offload", "False", "micro_batch_size", "4", "num_processes", "7"), "fsdp", "", ""), 68_976_648_192, 0)
	alone, asked := run("torch", "micro_batch", "8"), run("torch", "micro_batch", "8", "--world_size", "1")
	alone.Gauges = append(alone.Gauges, reading("launch.alone", nil))
	asked.Gauges = alone.Gauges
	for _, c := range []struct {
		name         string
		run          *classifier.Run
		in           *classifier.Incident
		first, never []string
	}{
		{"arguments of transformers have the switch, off where the command does not set it", script("deepspeed"), step(), []string{"gradient_checkpointing = True"}, nil},
		{"so has a script without a framework", script("torch"), step(), []string{"gradient_checkpointing = True"}, nil},
		{"where it is on, it is not advised", script("deepspeed", "--gradient_checkpointing", "True"), step(), []string{batch + " = 2"}, []string{"gradient_checkpointing set"}},
		{
			"states of ZeRO stage 3 that fill the host move to a disk", as(run("llamafactory", "deepspeed", "examples/deepspeed/ds_z3_offload_config.json"), "deepspeed", "", ""), killed("init", "Out of memory: Killed process 7"),
			[]string{"device = nvme"},
			nil,
		},
		{
			"without offload nothing moves", as(run("llamafactory", "deepspeed", "examples/deepspeed/ds_z3_config.json"), "deepspeed", "", ""), killed("init", "Out of memory: Killed process 7"),
			nil,
			[]string{"device set"},
		},
		{"accumulation is said, not changed", script("torch", "--gradient_checkpointing", "True", "--gradient_accumulation_steps", "4"), step(), []string{batch + " = 2"}, []string{"gradient_accumulation_steps up"}},
		{
			"the hybrid engine gathers all layers", run("deepspeed", "enable_hybrid_engine", "True", "inference_tp_size", "1", "zero_config.stage", "3", "zero_config.offload_param", "None"),
			gpu("rollout", 1.91, 1.06, 14.76, gathered),
			[]string{"enable_hybrid_engine = False"},
			[]string{"reduce_bucket_size down"},
		},
		{
			"without it, weights can go to the host", run("deepspeed", "zero_config.stage", "3", "zero_config.offload_param", "None"), gpu("rollout", 1.91, 1.06, 14.76, gathered),
			[]string{"device = cpu"},
			[]string{"enable_hybrid_engine set"},
		},
		{"a bucket that DeepSpeed prints is not raised", run("deepspeed", "zero_config.stage", "2", "zero_config.reduce_bucket_size", "16777216"), step(), nil, []string{"reduce_bucket_size = 250000000"}},
		{"states of 70B never fit on seven cards", llama, later(gpu("backward", 1.59, 1.02, 79.15, unshard)), []string{"fsdp_cpu_offload = True"}, []string{"micro_batch_size down"}},
		{
			"the whole output in float32 is not made smaller by chunks of the loss", as(run("slime", "use_dynamic_batch_size", "True", "max_tokens_per_gpu", "9216", "context_parallel_size", "1", "rollout_max_response_len", "8192", "rollout_max_prompt_len", "1024"), "megatron", "", "Qwen/Qwen3-4B-Base"),
			sure(gpu("training", 23.82, 13.47, 79.11, output)), nil,
			[]string{"recompute_loss_function set", "log_probs_chunk_size down", "log_probs_max_tokens_per_gpu down"},
		},
		{
			"what the loss makes of it is", as(run("slime", "use_dynamic_batch_size", "True", "max_tokens_per_gpu", "9216", "context_parallel_size", "1"), "megatron", "", "Qwen/Qwen3-4B-Base"),
			sure(gpu("training", 23.82, 13.47, 79.11, loss)),
			[]string{"max_tokens_per_gpu = 4608"},
			[]string{"log_probs_max_tokens_per_gpu down"},
		},
		{
			"a loss that keeps nothing yet is not recomputed", as(run("slime", "use_dynamic_batch_size", "True", "max_tokens_per_gpu", "9216", "context_parallel_size", "1"), "megatron", "", "Qwen/Qwen3-4B-Base"),
			idle(sure(gpu("forward", 58.15, 47.69, 139.81, loss)), 82.55, 2.06),
			[]string{"max_tokens_per_gpu = 6144"},
			[]string{"recompute_loss_function set"},
		},
		{
			"a worker's own block of ROLL's configuration is changed", of("roll", as(run("megatron", "prompt_length", "2048", "response_length", "20480", "actor_train.infer_batch_size", "16", "actor_train.strategy_args.strategy_config.tensor_model_parallel_size", "4", "reference.infer_batch_size", "4", "reference.strategy_args.strategy_config.tensor_model_parallel_size", "1"), "megatron", "", "Qwen/Qwen3-8B")),
			with(gpu("logprob", 51, 32.35, 79.11, output), func(r *classifier.Root) { r.Process = "ActorWorker(reference-0-G0)" }),
			[]string{"infer_batch_size = 1"},
			[]string{"infer_batch_size = 4", "tensor_model_parallel_size = 8"},
		},
		{
			"Unsloth raises the batch to the group", of("unsloth", run("trl", "Batch size per device", "32", batch, "1", "num_generations", "32")), step(),
			[]string{"unsloth_grpo_mini_batch = 1"},
			[]string{batch + " down"},
		},
		{
			"early versions count prompts, each with all its answers", of("unsloth", run("trl", "Batch size per device", "1", "Gradient Accumulation steps", "1", batch, "1", "num_generations", "6", "max_completion_length", "4096")), step(),
			[]string{"num_generations = 3"},
			[]string{batch + " down", "unsloth_grpo_mini_batch set"},
		},
		{
			"TRL before 0.15 counts prompts, too", versioned("0.14.0.dev0", run("trl", batch, "1", "num_generations", "8", "max_completion_length", "512")), step(),
			[]string{"num_generations = 4"},
			[]string{batch + " down", "use_liger_kernel set"},
		},
		{"later ones count answers", versioned("0.17.0", run("trl", batch, "8", "num_generations", "8", "max_completion_length", "512")), step(), []string{batch + " = 2"}, nil},
		{
			"FSDP2 that shards the model in one piece", counted(as(run("torch", "batch_size", "1", "nproc_per_node", "8"), "fsdp2", "", "x"), 7_615_616_512, 0),
			gpu("backward", 28.37, 19.42, 39.39, frames("/x/train.py|main|loss.backward()", "/x/torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py|foreach_reduce|reduce_scatter_input = torch.empty(")),
			[]string{"fully_shard set"},
			[]string{"batch_size down"},
		},
		{
			"layers that FSDP2 reduces one by one", counted(as(run("torch", "batch_size", "8"), "fsdp2", "", "x"), 7_615_616_512, 0),
			gpu("backward", 0.87, 0.42, 39.39, frames("/x/train.py|main|loss.backward()", "/x/torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py|foreach_reduce|reduce_scatter_input = torch.empty(")),
			nil,
			[]string{"fully_shard set"},
		},
		{
			"a request larger than the card, whose free memory nothing tells", run("jax", batch, "64"),
			with(gpu("training", 57.3, 0, 23.7, nil), func(r *classifier.Root) { r.Free = nil }),
			[]string{batch + " = 16"},
			nil,
		},
		{
			"a quantized pipeline fills the card before it can move anything", of("diffusers", run("torch")),
			gpu("init", .09, .04, 23.56, frames("/w/gen.py|<module>|pipe = Flux2Pipeline.from_pretrained(", "/x/diffusers/pipelines/pipeline_utils.py|from_pretrained|loaded_sub_model = load_sub_model(", "/x/diffusers/quantizers/bitsandbytes/bnb_quantizer.py|create_quantized_param|new_value = bnb.nn.Params4bit.from_prequantized(")),
			[]string{"device_map = \"cpu\""},
			[]string{"pipe.enable_model_cpu_offload() set"},
		},
		{
			"Unsloth's engine is never another process", of("unsloth", run("torch", "per_device_train_batch_size", "2")),
			with(gpu("forward", .11, .04, 23.53, forward), func(r *classifier.Root) {
				r.OtherProcesses, r.ProcessBytes, r.Allocated = gibs(16.4), gibs(7.09), gibs(6.53)
			}),
			[]string{"other processes set"},
			[]string{"per_device_train_batch_size down"},
		},
		{
			"gathered layers that are never let go", of("torchtitan", as(run("torch", "--parallelism.fsdp_reshard_after_forward", "never"), "fsdp2", "", "")), gpu("forward", 1.59, 1.15, 79, unshard),
			[]string{"fsdp_reshard_after_forward = default"},
			nil,
		},
		{
			"Unsloth's engine stays awake beside the trainer", unsloth("2025.3.19"), gpu("forward", .86, .29, 23.64, unslothLoss),
			[]string{"gpu_memory_utilization = 0.78"},
			[]string{"unsloth_vllm_standby set", "unsloth_grpo_mini_batch set"},
		},
		{
			"it can sleep since 2025.9", unsloth("2025.9.1"), gpu("forward", .86, .29, 23.64, unslothLoss),
			[]string{"unsloth_vllm_standby = 1"},
			[]string{"unsloth_grpo_mini_batch set"},
		},
		{"a batch of several groups can go down", of("unsloth", run("trl", "Batch size per device", "32", "num_generations", "8")), step(), nil, []string{"num_generations down"}},
		{"and one that nobody groups", of("unsloth", run("trl", "Batch size per device", "32")), step(), []string{batch + " = 8"}, []string{"num_generations down", "unsloth_grpo_mini_batch set"}},
		{
			"SkyRL's Megatron has no Ulysses", of("skyrl", as(run("torch", "trainer.micro_train_batch_size_per_gpu", "1"), "megatron", "", "")), gpu("backward", 9.9, 4.8, 79.11, nil),
			[]string{"context_parallel_size = 2"},
			[]string{"sequence_parallel_size up"},
		},
		{"its FSDP has", of("skyrl", as(run("torch", "trainer.micro_train_batch_size_per_gpu", "1"), "fsdp", "", "")), gpu("backward", 9.9, 4.8, 79.11, nil), []string{"sequence_parallel_size = 2"}, []string{"context_parallel_size up"}},
		{"one GPU: nothing to shard", onGPUs(1), gpu("optimizer", .5, .2, 40, moments), []string{"optim = adamw_8bit"}, []string{"deepspeed set"}},
		{"the Trainer shards by FSDP, not by DeepSpeed", run("torch", batch, "4", "fsdp", "full_shard auto_wrap"), gpu("optimizer", .5, .2, 40, moments), nil, []string{"deepspeed set"}},
		{"ms-swift recomputes by default", of("swift", run("torch", batch, "4", "--tuner_type", "lora")), step(), []string{batch + " = 2"}, []string{"gradient_checkpointing set"}},
		{"ROLL's fa2 is flash attention already", of("roll", run("torch", "actor_train.model_args.attn_implementation", "fa2")), gpu("forward", 3.5, 1, 32, frames("/x/modeling_qwen2.py|forward|attn_weights = nn.functional.softmax(attn_weights, dim=-1, dtype=torch.float32)")), nil, []string{"attn_implementation set"}},
		{"samples are cut last", of("axolotl", run("torch", "micro_batch_size", "4", "sequence_len", "8192")), step(), []string{"micro_batch_size = 2"}, nil},
		{
			"supervised training has no engine to put to sleep", of("unsloth", run("trl", "Batch size per device", "8")),
			gpu("init", 2, .3, 40, frames("/x/unsloth_compiled_cache/UnslothSFTTrainer.py|__init__|", "/x/transformers/modeling_utils.py|from_pretrained|caching_allocator_warmup(model)")),
			nil,
			[]string{"vllm_enable_sleep_mode set", "gpu_memory_utilization down"},
		},
		{
			"an evaluation whose batch is not in the log", of("unsloth", run("trl", "Batch size per device", "2")),
			gpu("forward", 7.83, 4.47, 23.64, frames("/x/transformers/trainer.py|evaluation_loop|", "/x/transformers/loss/loss_utils.py|fixed_cross_entropy|loss = nn.functional.cross_entropy(")),
			[]string{"per_device_eval_batch_size = 1"},
			[]string{batch + " down"},
		},
		{
			"a merge of adapters trains nothing", of("axolotl", run("torch", "load_in_4bit", "false")),
			gpu("init", .04, .03, 63.4, frames("/w/axolotl/cli/merge_lora.py|do_merge_lora|model = load_model(cfg)", "/x/peft/utils/save_and_load.py|load_peft_weights|adapters_weights = torch.load(")),
			[]string{"gpu_memory_limit = 50GiB"},
			[]string{"deepspeed set", "load_in_4bit set", "map_location set"},
		},
		{
			"ms-swift's merge, too", of("swift", run("torch", "device_map", "cuda:0")),
			gpu("init", .04, .03, 79.1, frames("/x/swift/llm/export/merge_lora.py|merge_lora|model, template = prepare_model_template(args)", "/x/peft/tuners/lora/layer.py|update_layer|self.lora_B[adapter_name] = nn.Linear(")),
			[]string{"device_map = cpu"},
			[]string{"NPROC_PER_NODE set"},
		},
		{
			"FSDP on one process that was asked for", asked, gpu("backward", .25, .19, 39.4, frames("/x/torch/_tensor.py|backward|torch.autograd.backward(")),
			nil,
			[]string{"torchrun set"},
		},
		{
			"FSDP on one process", alone, gpu("backward", .25, .19, 39.4, frames("/x/torch/_tensor.py|backward|torch.autograd.backward(")),
			[]string{"torchrun set"},
			nil,
		},
		{"Unsloth has optimizers in 8 bits", of("unsloth", run("trl", "Batch size per device", "8")), gpu("optimizer", .5, .2, 40, moments), []string{`optim = "adamw_8bit"`}, nil},
		{
			"TRL starts its engine when the model is there", run("trl", "use_vllm", "True", "vllm_mode", "colocate", "vllm_gpu_memory_utilization", "0.4", batch, "8"),
			gpu("init", 2, .3, 40, frames("/x/trl/trainer/grpo_trainer.py|__init__|model = AutoModelForCausalLM.from_pretrained(model_id)", "/x/transformers/modeling_utils.py|from_pretrained|caching_allocator_warmup(model)")),
			nil,
			[]string{"vllm_gpu_memory_utilization down"},
		},
		{
			"an engine that wakes takes its share, however many tokens a batch has", as(run("verl", "actor_rollout_ref.rollout.gpu_memory_utilization", "0.6", "actor_rollout_ref.rollout.max_num_batched_tokens", "8192", "actor_rollout_ref.rollout.tensor_model_parallel_size", "2"), "fsdp", "vllm", ""),
			gpu("rollout", 0, 0, 0, frames("/x/vllm/v1/worker/gpu_worker.py|wake_up|allocator.wake_up(tags)", "/x/vllm/device_allocator/cumem.py|create_and_map|python_create_and_map(")),
			[]string{"gpu_memory_utilization down"},
			[]string{"max_num_batched_tokens down", "tensor_model_parallel_size up"},
		},
		{
			"OpenRLHF writes DeepSpeed's configuration itself", as(run("openrlhf", "--micro_rollout_batch_size", "8", "--zero_stage", "3"), "deepspeed", "", ""), gpu("checkpoint", 2.1, 1.1, 79, nil),
			nil,
			[]string{"stage3_gather_16bit_weights_on_model_save set", "train_micro_batch_size_per_gpu = 1", "reduce_bucket_size down"},
		},
		{
			"Megatron splits the optimizer over replicas before it goes to the host", as(run("megatron", "use_distributed_optimizer", "False", "data_parallel_size", "4"), "megatron", "", ""), gpu("optimizer", .5, .2, 40, moments),
			[]string{"use_distributed_optimizer = True"},
			nil,
		},
		{
			"a program without a guide splits sequences by its own name for it", run("torch", "micro_batch_size", "1", "ring_attn_size", "8", "vocab_size", "248320", "gradient_checkpointing", "True"),
			gpu("forward", .947, .597, 79.11, frames("/x/molt/models/utils.py|log_probs_from_logits|chunk = logits[i : i + chunk_rows].float()")),
			[]string{"ring_attn_size = 16"},
			nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			proposes(t, For(c.run, c.in), c.first, c.never)
		})
	}
}

func TestAccumulationThatKeepsTheResultsIsSaid(t *testing.T) {
	t.Parallel()
	in := func(phase string) *classifier.Incident {
		return with(gpuOOM(phase), func(r *classifier.Root) { r.Requested, r.Free, r.Total = gibs(6), gibs(2), gibs(80) })
	}
	for name, c := range map[string]struct {
		run   *classifier.Run
		phase string
		want  string
	}{
		"the log has it":                                {run("hf_trainer", "per_device_train_batch_size", "8", "gradient_accumulation_steps", "4", "gradient_checkpointing", "True"), "forward", "To keep the results, set gradient_accumulation_steps = 16 (now 4)."},
		"it does not":                                   {run("hf_trainer", "per_device_train_batch_size", "8", "gradient_checkpointing", "True"), "forward", "To keep the results, use 4 times as many gradient accumulation steps."},
		"the program accumulates itself":                {run("openrlhf", "--micro_train_batch_size", "8", "--gradient_checkpointing", "True"), "forward", "Results do not change."},
		"a pass before the step has a batch of its own": {run("verl", "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu", "8"), "logprob", "Results do not change."},
		"or that of the step":                           {run("trl", "per_device_train_batch_size", "8", "gradient_accumulation_steps", "4"), "logprob", "To keep the results, set gradient_accumulation_steps = 16 (now 4)."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := For(c.run, in(c.phase))
			i := slices.IndexFunc(list.Proposals, func(p Proposal) bool { return len(p.Changes) > 0 && p.Changes[0].Direction == "down" })
			require.GreaterOrEqual(t, i, 0)
			assert.Contains(t, list.Proposals[i].Costs, c.want)
		})
	}
}

func TestParametersThatATrainerCounted(t *testing.T) {
	t.Parallel()
	const qwen = "Qwen/Qwen2.5-7B-Instruct"
	for _, c := range []struct {
		parameters int64
		model      string
		want       int64
	}{
		{6_170_000_000, "", 6_170_000_000},
		{6_170_000_000, qwen, 7_615_616_512}, // a name that is known says more than a rounded count
		{7_635_801_600, qwen, 7_635_801_600},
		{0, qwen, 7_615_616_512},
	} {
		ctx := newContext(counted(as(run("torch"), "", "", c.model), c.parameters, 0), later(gpuOOM("backward")))
		assert.Equal(t, c.want, ctx.model.Parameters.Value, c.model)
	}
	const trained = 13_000_000_000
	for backend, want := range map[string]int64{"deepspeed": trained, "fsdp": 0} { // whose wrapped model counts one rank's part
		assert.Equal(t, want, newContext(counted(as(run("torch"), backend, "", ""), 0, trained), later(gpuOOM("optimizer"))).setup.Model.Parameters, backend)
	}
}

func TestWhatSplitsTheStatesComesFirstOnlyWhereThereAreGPUs(t *testing.T) {
	t.Parallel()
	told := func(gpus int) (first, all []string) {
		r := counted(run("torch", "per_device_train_batch_size", "1"), 0, 8_030_261_248)
		r.Application, r.WorldSize = "hf_trainer", &gpus
		list := For(r, with(gpuOOM("optimizer"), func(r *classifier.Root) { r.Total, r.Free, r.Requested = gibs(40), gibs(0.1), gibs(0.5) }))
		require.Equal(t, "states_too_big", list.Cause.ID)
		return proposed(list)
	}
	first, _ := told(4)
	assert.Contains(t, first, "deepspeed set")
	_, all := told(1)
	assert.NotContains(t, all, "deepspeed set")
	assert.Contains(t, all, "optim set")
}

// TestAnEngineWakesIntoWhatTheTrainerLeaves: the share goes down to what is left, where the log tells what the trainer holds.
func TestAnEngineWakesIntoWhatTheTrainerLeaves(t *testing.T) {
	t.Parallel()
	wake := frames("/x/vllm/v1/worker/gpu_worker.py|wake_up|allocator.wake_up(tags)", "/x/vllm/device_allocator/cumem.py|create_and_map|python_create_and_map(")
	loss := frames("/x/verl/workers/actor/dp_actor.py|update_policy|loss.backward()")
	for name, c := range map[string]struct {
		reading    classifier.Gauge
		in         *classifier.Incident
		parameters int64
		want       string
	}{
		"by its allocator":       {reading("reading.reserved", map[string]float64{"reserved": 34.5}), gpu("rollout", 0, 0, 0, wake), 0, "0.46"},
		"by the states it keeps": {reading("reading.reserved", map[string]float64{"reserved": 2}), gpu("rollout", 0, 0, 0, frames("/x/verl/workers/sharding_manager/fsdp_vllm.py|__enter__|self.inference_engine.wake_up()")), 12e9, "0.47"},
		"by the card":            {reading("reading.device", map[string]float64{"used": 30, "total": 80}), gpu("rollout", 0, 0, 0, wake), 0, "0.57"},
		"which is enough for it": {reading("reading.reserved", map[string]float64{"reserved": 2}), gpu("rollout", 0, 0, 0, wake), 0, "0.52"},
		"nobody knows":           {reading("reading.host", map[string]float64{"used": 34.5}), gpu("rollout", 0, 0, 0, wake), 0, "0.52"},
		"it does not wake":       {reading("reading.reserved", map[string]float64{"reserved": 34.5}), gpu("weight_update", 0, 0, 0, loss), 0, "0.6"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := counted(as(run("verl", "actor_rollout_ref.rollout.gpu_memory_utilization", "0.7", "trainer.n_gpus_per_node", "4", "trainer.nnodes", "1"), "fsdp", "vllm", ""), c.parameters, 0)
			r.Gauges = append(r.Gauges, c.reading, reading("vllm.usage", map[string]float64{"total": 79.1}))
			_, all := proposed(For(r, later(c.in)))
			assert.Contains(t, all, "gpu_memory_utilization = "+c.want)
		})
	}
}

// TestAnEngineTakesBackWhatItGaveUp: a sleeping engine says how much that is, and its weights may be awake already.
func TestAnEngineTakesBackWhatItGaveUp(t *testing.T) {
	t.Parallel()
	wake := later(gpu("rollout", 0, 0, 0, frames("/x/vllm/v1/worker/gpu_worker.py|wake_up|allocator.wake_up(tags)", "/x/vllm/device_allocator/cumem.py|create_and_map|python_create_and_map(")))
	card := func(label string, line int) classifier.Gauge {
		g := reading("reading.device", map[string]float64{"used": 55.89, "total": 79.25})
		g.Fields["label"], g.At.Line = label, line
		return g
	}
	const synced = "After sync model weights in sharding manager"
	for name, c := range map[string]struct {
		freed float64
		card  classifier.Gauge
		want  string
	}{
		"the cache, where its weights are awake":       {37.78, card(synced, 6), "0.55"},
		"weights and cache before":                     {37.78, card("After state_dict() in sharding manager", 6), "0.46"},
		"what was free in an earlier step says little": {37.78, card(synced, 4), "0.3"},
		"no more than was free":                        {20, card(synced, 6), "0.3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := as(run("verl", "actor_rollout_ref.rollout.gpu_memory_utilization", "0.7", "trainer.n_gpus_per_node", "2", "trainer.nnodes", "1"), "fsdp", "vllm", "")
			r.Gauges = append(r.Gauges, reading("vllm.weights", map[string]float64{"used": 7.12}), reading("vllm.slept", map[string]float64{"freed": c.freed, "used": 18}), c.card)
			_, all := proposed(For(r, wake))
			assert.Contains(t, all, "gpu_memory_utilization = "+c.want)
		})
	}
}

func TestAnEnginesFlagIsWrittenAsItsProgramTakesIt(t *testing.T) {
	t.Parallel()
	in := func() *classifier.Incident {
		return gpu("init", 2, 1, 80, frames("/x/sglang/srt/model_executor/model_runner.py|forward_extend|return self.model.forward(", "/x/sglang/srt/layers/logits_processor.py|forward|logits = logits.float()"))
	}
	for name, c := range map[string]struct {
		run  *classifier.Run
		id   string
		want string
		from string
	}{
		"the engine alone":                 {as(run("sglang"), "", "sglang", ""), "sglang.cuda-graph-max-bs", "--cuda-graph-max-bs", ""},
		"behind a prefix":                  {as(run("slime"), "megatron", "sglang", ""), "sglang.cuda-graph-max-bs", "--sglang-cuda-graph-max-bs", ""},
		"behind a prefix, where it is set": {as(run("slime", "--sglang-cuda-graph-max-bs", "128"), "megatron", "sglang", ""), "sglang.cuda-graph-max-bs", "--sglang-cuda-graph-max-bs", "128"},
		"a program that passes none on":    {as(run("trl", "use_vllm", "True", "vllm_mode", "colocate"), "", "vllm", ""), "vllm.enforce-eager", "", ""},
		"a program with its own spelling":  {of("swift", as(run("trl", "vllm_mode", "colocate"), "", "vllm", "")), "vllm.enforce-eager", "--vllm_enforce_eager", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := For(c.run, in())
			i := slices.IndexFunc(list.Remedies, func(r Remedy) bool { return r.ID == c.id })
			require.GreaterOrEqual(t, i, 0)
			key, from := "", ""
			if ch := list.Remedies[i].Changes; len(ch) > 0 {
				key = ch[0].Key
				if ch[0].From != nil {
					from = *ch[0].From
				}
			}
			assert.Equal(t, c.want, key)
			assert.Equal(t, c.from, from)
		})
	}
}
