package remedies

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/parser"
)

func TestRecomputationIsReckonedWhereTheRequestTellsTheTokens(t *testing.T) {
	t.Parallel()
	loss := frames("/x/transformers/loss/loss_utils.py|ForCausalLMLoss|logits = logits.float()")
	fail := func(change func(r *classifier.Root)) *classifier.Incident {
		return with(gpuOOM("forward"), func(r *classifier.Root) {
			r.Message, r.Trace = "CUDA out of memory. Tried to allocate 4.64 GiB.", loss
			r.Requested, r.Free, r.Total, r.Allocated = gibs(4.64), gibs(1.2), gibs(79.1), gibs(74)
			change(r)
		})
	}
	settings := []string{"per_device_train_batch_size", "4", "max_length", "2048", "gradient_checkpointing", "False"}
	for name, c := range map[string]struct {
		run    *classifier.Run
		in     *classifier.Incident
		freed  bool
		enough string
	}{
		"tokens and sizes are known":        {as(run("trl", settings...), "fsdp", "", "Qwen/Qwen2.5-7B"), fail(func(*classifier.Root) {}), true, "yes"},
		"no model":                          {as(run("trl", settings...), "fsdp", "", ""), fail(func(*classifier.Root) {}), false, "untold"},
		"a model of experts":                {as(run("trl", settings...), "fsdp", "", "Qwen/Qwen3-30B-A3B"), fail(func(*classifier.Root) {}), true, "yes"},
		"a request that tells no tokens":    {as(run("trl", settings...), "fsdp", "", "Qwen/Qwen2.5-7B"), fail(func(r *classifier.Root) { r.Trace = nil; r.Requested = gibs(.5) }), false, "untold"},
		"more than the process had":         {as(run("trl", settings...), "fsdp", "", "Qwen/Qwen2.5-7B"), fail(func(r *classifier.Root) { r.Allocated = gibs(3) }), false, "untold"},
		"less than what was missing":        {as(run("trl", settings...), "fsdp", "", "Qwen/Qwen2.5-0.5B"), fail(func(r *classifier.Root) { r.Free = gibs(0); r.Requested = gibs(4.64) }), true, "yes"},
		"adapters have the same activation": {as(run("trl", append(settings, "lora_r", "16")...), "fsdp", "", "Qwen/Qwen2.5-7B"), fail(func(*classifier.Root) {}), true, "yes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := For(c.run, c.in)
			got := pick(t, list, "trl.gradient-checkpointing")
			assert.Equal(t, "true", toOf(got, "gradient_checkpointing"))
			require.Equal(t, c.freed, got.Freed != nil)
			if !c.freed {
				assert.Nil(t, got.Enough)
				return
			}
			assert.Contains(t, got.Changes[0].ComputedFrom, "bytes (inputs alone)")
			require.NotNil(t, got.Enough)
			assert.Equal(t, c.enough == "yes", *got.Enough)
		})
	}
}

func TestASmallerMicroBatchGivesActivationsBack(t *testing.T) {
	t.Parallel()
	in := with(gpuOOM("forward"), func(r *classifier.Root) {
		r.Message, r.Trace = "CUDA out of memory. Tried to allocate 4.64 GiB.", frames("/x/loss_utils.py|ForCausalLMLoss|logits = logits.float()")
		r.Requested, r.Free, r.Total, r.Allocated = gibs(4.64), gibs(2), gibs(79.1), gibs(74)
	})
	list := For(as(run("trl", "per_device_train_batch_size", "4", "max_length", "2048", "gradient_checkpointing", "False"), "fsdp", "", "Qwen/Qwen2.5-7B"), in)
	got := pick(t, list, "trl.batch-size")
	assert.Equal(t, "1", toOf(got, "per_device_train_batch_size"))
	require.NotNil(t, got.Enough)
	assert.True(t, *got.Enough)

	in.Root.Free = gibs(2.4) // half of the request does not quite fit by itself
	in.Root.Requested = gibs(4.79)
	in.Root.Message = "CUDA out of memory. Tried to allocate 4.79 GiB."
	got = pick(t, For(as(run("trl", "per_device_train_batch_size", "2", "max_length", "4096", "gradient_checkpointing", "False"), "fsdp", "", "Qwen/Qwen2.5-7B"), in), "trl.batch-size")
	require.NotNil(t, got.Enough, "a request of 2.395 GiB fits into 2.40 GiB, give or take its last digit")
	assert.Contains(t, got.EnoughWhy, "activations free at least")
}

func TestTheFirstStepOfAdamIsExplained(t *testing.T) {
	t.Parallel()
	create := frames("/x/megatron/core/optimizer/optimizer.py|step|self.optimizer.step()", "/x/transformer_engine/pytorch/optimizers/fused_adam.py|step|self.initialize_state(p)",
		"/x/transformer_engine/pytorch/optimizers/fused_adam.py|_initialize_state|data = torch.zeros_like(param)")
	counted := reading("megatron.parameters", nil)
	counted.Fields["count"] = "3804266496"
	fail := func() *classifier.Incident {
		return with(gpuOOM("optimizer"), func(r *classifier.Root) {
			r.Message, r.Trace, r.At = "CUDA out of memory. Tried to allocate 1.02 GiB.", create, parser.Position{Source: "a.log", Line: 90}
			r.Requested, r.Free, r.Total = gibs(1.02), gibs(.4), gibs(79.1)
		})
	}
	for name, c := range map[string]struct {
		run  *classifier.Run
		says string
	}{
		"every rank keeps all of its parameters' state": {run("megatron", "use_distributed_optimizer", "False"), "two moments of 4 bytes for each of 3,804,266,496 parameters of this rank (a.log:5): 28.34 GiB in all"},
		"it is split over data-parallel ranks":          {run("megatron", "use_distributed_optimizer", "True", "data_parallel_size", "4"), "/ 4 data-parallel ranks: 7.09 GiB in all"},
		"how it is split is not told":                   {run("megatron"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.run.Gauges = append(c.run.Gauges, counted)
			told := strings.Join(For(c.run, fail()).Findings, "\n")
			if c.says == "" {
				assert.NotContains(t, told, "first step")
				return
			}
			assert.Contains(t, told, c.says)
		})
	}
	fsdp := as(run("verl", "trainer.n_gpus_per_node", "8", "trainer.nnodes", "1"), "fsdp2", "vllm", "Qwen/Qwen2.5-7B")
	in := fail()
	in.Root.Trace = frames("/x/torch/optim/adamw.py|_init_group|state[\"exp_avg\"] = torch.zeros_like(p)")
	in.Root.Message, in.Root.Requested = "CUDA out of memory. Tried to allocate 260.00 MiB.", ints(260<<20)
	told := strings.Join(For(fsdp, in).Findings, "\n")
	assert.Contains(t, told, "152,064 vocabulary x 3,584 hidden / 8 ranks x 4 bytes")
	assert.Contains(t, told, "7,615,616,512 parameters (from the model's name) / 8 ranks: 7.09 GiB in all")
}

func TestWeightsAreExplainedAsTheyAreCreated(t *testing.T) {
	t.Parallel()
	r := as(run("vllm", "tensor_parallel_size", "2"), "", "vllm", "Qwen/Qwen2.5-72B")
	in := with(gpuOOM("init"), func(r *classifier.Root) {
		r.Message = "CUDA out of memory. Tried to allocate 462.00 MiB."
		r.Trace = frames("/x/vllm/model_executor/models/qwen2.py|__init__|self.mlp = Qwen2MLP(", "/x/vllm/model_executor/layers/linear.py|create_weights|weight = Parameter(torch.empty(sum(output_partition_sizes),")
		r.Requested, r.Free, r.Total = ints(462<<20), gibs(.2), gibs(79.1)
	})
	assert.Contains(t, strings.Join(For(r, in).Findings, "\n"), "the fused gate and up matrix of a layer as it is created: 2 x 29,568 intermediate size x 8,192 hidden / 2 ranks x 2 bytes = 462.0 MiB")
}

func TestWhatALineCallsTellsWhereItFailed(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"logits = self.lm_head(hidden_states)":                       "self.lm_head(",
		"loss, logits, labels = self.prediction_step(model, inputs)": "self.prediction_step(",
		"return self.logits_processor(x)":                            "return self.logits_processor(",
		"log_prob = compute_log_probs(logits.clone(), tokens)":       "compute_log_probs(",
		"outputs = model(**inputs, logits_to_keep=3)":                "model(",
		"if a == b(c):": "if a == b(",
		"x":             "x",
		"":              "",
		"self.cache[layer] = torch.zeros(shape, dtype=self.dtype)":          "torch.zeros(",
		"engine_args = EngineArgs(gpu_memory_utilization=0.9, tokenizer=t)": "EngineArgs(",
	} {
		assert.Equal(t, want, strings.TrimSpace(called(code)), code)
	}
}

func TestOldNamesTellTheVersion(t *testing.T) {
	t.Parallel()
	old := run("openrlhf", "--micro_train_batch_size", "1", "--zero_stage", "3", "--gradient_checkpointing", "True")
	got := pick(t, For(old, gpuOOM("optimizer")), "openrlhf.adam-offload")
	assert.Equal(t, "--adam_offload", got.Changes[0].Key)
	assert.NotContains(t, got.Caution, "Also written")
	now := run("openrlhf", "--train.micro_batch_size", "1", "--ds.zero_stage", "3")
	assert.Equal(t, "--ds.adam_offload", pick(t, For(now, gpuOOM("optimizer")), "openrlhf.adam-offload").Changes[0].Key)
	none := run("openrlhf")
	assert.Contains(t, pick(t, For(none, gpuOOM("optimizer")), "openrlhf.adam-offload").Caution, "Also written --adam_offload")
}

func TestASwitchThatIsNotOnTheCommandLineIsOff(t *testing.T) {
	t.Parallel()
	flags := []string{"--a", "1", "--b", "1", "--c", "1", "--d", "1", "--e", "1", "--f", "1", "--zero_stage", "3", "--micro_train_batch_size", "1"}
	got := pick(t, For(formed(run("openrlhf", flags...), "command"), gpuOOM("backward")), "openrlhf.gradient-checkpointing")
	require.NotNil(t, got.Applies)
	assert.True(t, *got.Applies)
	assert.Equal(t, "--gradient_checkpointing is not on this run's command line", got.AppliesWhy)
	for name, r := range map[string]*classifier.Run{
		"a few flags":            formed(run("openrlhf", flags[len(flags)-4:]...), "command"),
		"settings are in a file": formed(run("openrlhf", append(flags, "--config", "x.yaml")...), "command"),
	} {
		assert.Nil(t, pick(t, For(r, gpuOOM("backward")), "openrlhf.gradient-checkpointing").Applies, name)
	}
}

func TestTheBandOfAServingEngine(t *testing.T) {
	t.Parallel()
	usage := fraction90(run("vllm", "gpu_memory_utilization", "0.92"), "vllm.usage", "0.92")
	usage.Engine = "vllm"
	for k, v := range map[string]float64{"total": 80, "free": 79, "consumed": 52, "activations": 2.4, "graphs": 4} {
		usage.Gauges[0].Fields[k] = itoa(*gibs(v))
	}
	usage.Gauges = append(usage.Gauges, reading("vllm.kv_available", map[string]float64{"available": 19.2}))
	in := late(&classifier.Incident{Kind: parser.GPUDriverOOM, Resource: "gpu", Phase: "rollout", Root: classifier.Root{Message: "CUDA out of memory", Process: "EngineCore_DP0"}})
	told := strings.Join(For(usage, in).Findings, "\n")
	assert.Contains(t, told, "Safe range for --gpu-memory-utilization: 0.69 (0.92 x 80.00 GiB less the 19.20 GiB of cache (a.log:5)) to 0.93 (79.00 GiB that was free at the start less 4.00 GiB of CUDA graphs")
	assert.Contains(t, told, "weights and what lies outside of PyTorch 52.00 GiB, activation peak 2.40 GiB, CUDA graphs 4.00 GiB")

	named := run("vllm", "gpu_memory_utilization", "0.5")
	card := reading("gpu.card", nil)
	card.Fields["card"], card.Fields["gb"] = "A100", "80"
	named.Gauges = []classifier.Gauge{card, reading("vllm.kv_available", map[string]float64{"available": -2})}
	up := pick(t, For(named, late(cache(noBlocks))), "vllm.utilization-up")
	assert.Equal(t, "0.71", toOf(up, "--gpu-memory-utilization"))
	short := late(cache(noBlocks))
	short.Root.Requested, short.Shortfall = gibs(12), gibs(9)
	up = pick(t, For(named, short), "vllm.utilization-up")
	assert.Equal(t, "0.64", toOf(up, "--gpu-memory-utilization"))
	assert.Contains(t, up.EnoughWhy, "(an A100, by its name)")
}

func late(in *classifier.Incident) *classifier.Incident {
	in.Root.At = parser.Position{Source: "a.log", Line: 90}
	return in
}
