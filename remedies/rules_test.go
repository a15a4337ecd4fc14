package remedies

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/parser/messages"
)

const gib = 1 << 30

// run builds a run from pairs of keys and values.
func run(framework string, pairs ...string) *classifier.Run {
	r := &classifier.Run{Framework: framework, Config: map[string]classifier.Value{}}
	for i := 0; i+1 < len(pairs); i += 2 {
		r.Config[pairs[i]] = classifier.Value{Value: pairs[i+1], At: parser.Position{Source: "train.log", Line: i + 1}}
	}
	return r
}

// For returns the checklist for one incident.
func For(run *classifier.Run, in *classifier.Incident, own ...Guide) Checklist {
	return ForAll(run, []classifier.Incident{*in}, own...)[0]
}

func gpuOOM(phase string) *classifier.Incident {
	return &classifier.Incident{Kind: parser.GPUOOM, Resource: "gpu", Phase: phase, Verdict: classifier.Memory}
}

func gibs(n float64) *int64 { b := int64(n * gib); return &b }

// recognized names the pattern that recognizes the message of an incident.
func recognized(pattern string, in *classifier.Incident) *classifier.Incident {
	in.Root.Pattern = pattern
	if p := messages.ByName(pattern); p != nil {
		in.Root.Allocator = p.Allocator
	}
	return in
}

func with(in *classifier.Incident, change func(r *classifier.Root)) *classifier.Incident {
	change(&in.Root)
	return in
}

func pick(t testing.TB, c Checklist, id string) Remedy {
	t.Helper()
	i := slices.IndexFunc(c.Remedies, func(r Remedy) bool { return r.ID == id })
	require.GreaterOrEqual(t, i, 0, "%s is not in %q", id, c.Title)
	return c.Remedies[i]
}

// toOf is what a remedy changes a key to; "nil" when the value is open, "-" when it does not change the key.
func toOf(r Remedy, key string) string {
	for _, c := range r.Changes {
		if c.Key == key {
			if c.To == nil {
				return "nil"
			}
			return *c.To
		}
	}
	return "-"
}

// TestATypeIsChangedOnlyForANarrowerOne: a cache of 4 bits does not become one of 8.
func TestATypeIsChangedOnlyForANarrowerOne(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{"q4_0", "q8_0"}, {"q8_0", "q8_0"}, {"fp8_e4m3", "fp8_e5m2"}, {"bf16", "float16"}, {"int4", "int8"}} {
		assert.True(t, noWider(pair[0], pair[1]), pair)
	}
	for _, pair := range [][2]string{{"q8_0", "q4_0"}, {"f16", "q8_0"}, {"auto", "fp8"}, {"bfloat16", "fp8"}, {"float32", "bfloat16"}, {"q8_0", "on"}} {
		assert.False(t, noWider(pair[0], pair[1]), pair)
	}
}

// TestAModelsDefaultsForPipelinesAreNoSettings: GPT-2's configuration has a max_length of 50 for text generation.
func TestAModelsDefaultsForPipelinesAreNoSettings(t *testing.T) {
	t.Parallel()
	s := newSettings(map[string]classifier.Value{"task_specific_params.text-generation.max_length": {Value: "50"}, "model.n_positions": {Value: "1024"}})
	_, ok := s.integer("max_length")
	assert.False(t, ok)
	n, ok := s.integer("n_positions")
	assert.True(t, ok)
	assert.Equal(t, int64(1024), n)
}

// TestAPinnedSizeHasNoUnit lowers sizes of LMCache, which logs them in GB and reads a number.
func TestAPinnedSizeHasNoUnit(t *testing.T) {
	t.Parallel()
	for cur, want := range map[string]string{"200 GB": "128", "600.0 GB": "128", "5": "4", "1 GB": "", "auto": ""} {
		ctx := newContext(run("vllm", "tensor_parallel_size", "4"), with(killed("init", ""), func(r *classifier.Root) { r.Limit = gibs(720) }))
		assert.Equal(t, want, pinnedSize(&paramQuery{Context: ctx, p: &Parameter{}, cur: cur}).to, cur)
	}
}

func ints(n int64) *int64 { return &n }

func TestNextValues(t *testing.T) {
	t.Parallel()
	const (
		actor   = "actor_rollout_ref.actor."
		rollout = "actor_rollout_ref.rollout."
		micro   = actor + "ppo_micro_batch_size_per_gpu"
		budget  = actor + "ppo_max_token_len_per_gpu"
	)
	tight := func(in *classifier.Incident, asked, free float64) *classifier.Incident {
		return with(in, func(r *classifier.Root) { r.Requested, r.Free, r.Total = gibs(asked), gibs(free), gibs(79.18) })
	}
	softmax := func(r *classifier.Root) {
		r.Trace = frames("/x/transformers/models/qwen2/modeling_qwen2.py|eager_attention_forward|attn_weights = nn.functional.softmax(attn_weights, dim=-1, dtype=torch.float32).to(query.dtype)", "/x/torch/nn/functional.py|softmax|ret = input.softmax(dim, dtype=dtype)")
	}
	named := func(r *classifier.Run, model string) *classifier.Run { r.Model.Name = model; return r }
	heads := func(r *classifier.Run, n int64) *classifier.Run { r.Model.AttentionHeads = &n; return r }
	for _, test := range []struct {
		name string
		run  *classifier.Run
		in   *classifier.Incident
		id   string
		key  string
		want string
	}{
		{
			"the field note's run: two halvings fit", run("verl", micro, "32", actor+"ppo_mini_batch_size", "64", "trainer.n_gpus_per_node", "4", "trainer.nnodes", "1"),
			tight(gpuOOM("backward"), 17.66, 4.97), "verl.actor.micro-batch-size", micro, "8",
		},
		{
			"a micro-batch divides the mini-batch of a rank", run("verl", micro, "12", actor+"ppo_mini_batch_size", "96", "trainer.n_gpus_per_node", "4", "trainer.nnodes", "1"),
			tight(gpuOOM("forward"), 1.4, 1), "verl.actor.micro-batch-size", micro, "3",
		},
		{
			"the next divisor below", run("verl", micro, "9", actor+"ppo_mini_batch_size", "36", "trainer.n_gpus_per_node", "4", "trainer.nnodes", "1"),
			tight(gpuOOM("forward"), 1.4, 1), "verl.actor.micro-batch-size", micro, "1",
		},
		{
			"Megatron's ranks", func() *classifier.Run {
				r := run("verl", micro, "8", actor+"ppo_mini_batch_size", "128", rollout+"n", "8", "trainer.n_gpus_per_node", "8", "trainer.nnodes", "2",
					actor+"megatron.tensor_model_parallel_size", "4", actor+"megatron.pipeline_model_parallel_size", "2", actor+"megatron.context_parallel_size", "1")
				r.Backend = "megatron"
				return r
			}(), gpuOOM("optimizer"), "verl.actor.micro-batch-size", micro, "4",
		},
		{"a script's batch of one device", run("torch", "batch_size", "512", "device_batch_size", "64"), gpuOOM("forward"), "torch.batch", "device_batch_size", "32"},
		{"LMDeploy's number of cached sequences", run("lmdeploy", "cache_max_entry_count", "8"), gpuOOM("rollout"), "lmdeploy.cache-down", "--cache-max-entry-count", "4"},
		{"one prompt must fit into TGI's step", run("tgi", "max_batch_prefill_tokens", "4096", "max_input_length", "3072"), gpuOOM("init"), "tgi.prefill-tokens", "--max-batch-prefill-tokens", "3072"},
		{"half of TGI's step where a prompt is short", run("tgi", "max_batch_prefill_tokens", "4096", "max_input_length", "1024"), gpuOOM("init"), "tgi.prefill-tokens", "--max-batch-prefill-tokens", "2048"},
		{"nobody chose llama.cpp's context", run("llamacpp", "n_ctx", "163840", "n_ctx_train", "163840"), gpuOOM("init"), "llamacpp.context", "--ctx-size", "8192"},
		{"somebody chose llama.cpp's context", run("llamacpp", "n_ctx", "65536", "n_ctx_train", "163840"), gpuOOM("init"), "llamacpp.context", "--ctx-size", "32768"},
		{"Ollama plans with one layer too many", run("ollama", "layers.offload", "32"), gpuOOM("init"), "ollama.num-gpu", "num_gpu", "29"},
		{
			"weights of 70B take two cards of 80 GB", named(run("vllm", "tensor_parallel_size", "1"), "meta-llama/Llama-3.3-70B-Instruct"),
			tight(gpuOOM("init"), .5, .3), "vllm.tensor-parallel", "--tensor-parallel-size", "2",
		},
		{
			"OpenRLHF's engines share the weights", named(run("openrlhf", "vllm_gpu_memory_utilization", "0.6", "vllm_tensor_parallel_size", "2"), "Qwen/Qwen2.5-32B"),
			tight(gpuOOM("weight_update"), 2, 1), "openrlhf.vllm-utilization", "--vllm_gpu_memory_utilization", "0.53",
		},
		{"one sample is the least", run("verl", micro, "1"), tight(gpuOOM("forward"), 4, 1), "verl.actor.micro-batch-size", micro, "-"},
		{"a huge request still leaves one sample", run("verl", micro, "4"), tight(gpuOOM("forward"), 70, .01), "verl.actor.micro-batch-size", micro, "1"},
		{"an override with a plus sign", run("verl", "+"+micro, "4"), gpuOOM("forward"), "verl.actor.micro-batch-size", micro, "2"},
		{"only the last parts", run("verl", "actor.ppo_micro_batch_size_per_gpu", "4"), gpuOOM("forward"), "verl.actor.micro-batch-size", micro, "2"},
		{"a bare key that several models share tells nothing", run("verl", "ppo_micro_batch_size_per_gpu", "4"), gpuOOM("forward"), "verl.actor.micro-batch-size", micro, "1"},
		{"an unset value", run("verl", micro, "None"), gpuOOM("forward"), "verl.actor.micro-batch-size", micro, "nil"},
		{
			"verl's token budget", run("verl", actor+"use_dynamic_bsz", "True", budget, "16384", "data.max_prompt_length", "1024", "data.max_response_length", "4096",
				actor+"ulysses_sequence_parallel_size", "2"), gpuOOM("backward"), "verl.actor.max-token-len", budget, "8192",
		},
		{
			"verl's token budget stops at the longest sequence", run("verl", actor+"use_dynamic_bsz", "True", budget, "4096", "data.max_prompt_length", "1024",
				"data.max_response_length", "4096", actor+"ulysses_sequence_parallel_size", "2"), gpuOOM("backward"), "verl.actor.max-token-len", budget, "2560",
		},
		{"without lengths there is no safe budget", run("verl", actor+"use_dynamic_bsz", "True", budget, "4096"), gpuOOM("backward"), "verl.actor.max-token-len", budget, "nil"},
		{
			"AReaL's token budget goes straight to its bound", run("areal", "actor.mb_spec.max_tokens_per_mb", "32768", "train_dataset.max_length", "1024",
				"gconfig.max_new_tokens", "8192"), gpuOOM("training"), "areal.training.max-tokens-per-mb", "actor.mb_spec.max_tokens_per_mb", "9216",
		},
		{
			"AReaL's budget is halved where half holds an answer", run("areal", "actor.mb_spec.max_tokens_per_mb", "32768", "gconfig.max_new_tokens", "8192"),
			gpuOOM("training"), "areal.training.max-tokens-per-mb", "actor.mb_spec.max_tokens_per_mb", "16384",
		},
		{
			"AReaL's budget stays where half does not hold an answer", run("areal", "actor.mb_spec.max_tokens_per_mb", "32768", "gconfig.max_new_tokens", "30720"),
			gpuOOM("training"), "areal.training.max-tokens-per-mb", "actor.mb_spec.max_tokens_per_mb", "-",
		},
		{
			"AReaL's budget without a cap", run("areal", "actor.mb_spec.max_tokens_per_mb", "None", "train_dataset.max_length", "1024", "gconfig.max_new_tokens", "3072"),
			gpuOOM("training"), "areal.training.max-tokens-per-mb", "actor.mb_spec.max_tokens_per_mb", "4096",
		},
		{
			"AReaL's budget at its bound", run("areal", "actor.mb_spec.max_tokens_per_mb", "9216", "train_dataset.max_length", "1024", "gconfig.max_new_tokens", "8192"),
			gpuOOM("training"), "areal.training.max-tokens-per-mb", "actor.mb_spec.max_tokens_per_mb", "-",
		},
		{"AReaL's context parallelism", heads(run("areal", "actor.backend", "fsdp:d4"), 28), gpuOOM("training"), "areal.training.ulysses", "actor.backend", "fsdp:d2c2"},
		{
			"AReaL's allocation mode, training part", heads(run("areal", "allocation_mode", "sglang:d2t2+fsdp:d4"), 28), gpuOOM("training"), "areal.training.ulysses", "allocation_mode",
			"sglang:d2t2+fsdp:d2c2",
		},
		{"AReaL's guide's own layout", run("areal", "allocation_mode", "sglang.d4+d4"), gpuOOM("rollout"), "areal.generation.tensor-parallel", "allocation_mode", "sglang.d2t2+d4"},
		{"an odd layout stays", run("areal", "rollout.backend", "sglang:d1t4"), gpuOOM("rollout"), "areal.generation.tensor-parallel", "rollout.backend", "-"},
		{"a layout that nobody knows stays open", run("areal", "rollout.backend", "magic"), gpuOOM("rollout"), "areal.generation.tensor-parallel", "rollout.backend", "nil"},
		{"AReaL's concurrency", run("areal", "rollout.max_concurrent_rollouts", "256"), gpuOOM("rollout"), "areal.generation.max-concurrent-rollouts", "rollout.max_concurrent_rollouts", "200"},
		{"AReaL's concurrency, second step", run("areal", "rollout.max_concurrent_rollouts", "200"), gpuOOM("rollout"), "areal.generation.max-concurrent-rollouts", "rollout.max_concurrent_rollouts", "128"},
		{"AReaL's concurrency under its old name", run("areal", "max_concurrent_rollouts", "256"), gpuOOM("rollout"), "areal.generation.max-concurrent-rollouts", "rollout.max_concurrent_rollouts", "200"},
		{"AReaL's share", run("areal", "sglang.mem_fraction_static", "0.9"), gpuOOM("rollout"), "areal.generation.mem-fraction-static", "sglang.mem_fraction_static", "0.8"},
		{"AReaL's chunk buffer", run("areal", "weight_chunked_mem_mb", "1024"), gpuOOM("weight_update"), "areal.weight-update.chunk-buffer", "weight_chunked_mem_mb", "512"},
		{
			"Relax's budget takes the guide's step", run("relax", "use_dynamic_batch_size", "True", "max_tokens_per_gpu", "12288", "rollout_max_response_len", "8192"), gpuOOM("forward"),
			"relax.max-tokens-per-gpu", "--max-tokens-per-gpu", "8192",
		},
		{
			"Relax's budget stops at the longest response", run("relax", "use_dynamic_batch_size", "True", "max_tokens_per_gpu", "9000", "rollout_max_response_len", "8192"), gpuOOM("forward"),
			"relax.max-tokens-per-gpu", "--max-tokens-per-gpu", "8192",
		},
		{
			"slime's budget stops at the longest prompt and response", run("slime", "use_dynamic_batch_size", "True", "max_tokens_per_gpu", "12288", "rollout_max_prompt_len", "2048", "rollout_max_response_len", "8192"), gpuOOM("forward"),
			"slime.max-tokens-per-gpu", "--max-tokens-per-gpu", "10240",
		},
		{
			"OpenRLHF's budget stops at the longest sample", run("openrlhf", "--use_dynamic_batch", "True", "--train_max_tokens_per_gpu", "9216", "--max_len", "8192"), gpuOOM("backward"),
			"openrlhf.max-tokens-per-gpu", "--train_max_tokens_per_gpu", "8192",
		},
		{
			"so does that of later versions", run("openrlhf", "--train.dynamic_batch_enable", "True", "--train.max_tokens_per_gpu", "9216", "--data.max_len", "8192"), gpuOOM("backward"),
			"openrlhf.max-tokens-per-gpu", "--train.max_tokens_per_gpu", "8192",
		},
		{
			"or at a ring's part of it", run("openrlhf", "--use_dynamic_batch", "True", "--train_max_tokens_per_gpu", "5120", "--max_len", "8192", "--ring_attn_size", "2"), gpuOOM("backward"),
			"openrlhf.max-tokens-per-gpu", "--train_max_tokens_per_gpu", "4096",
		},
		{
			"SkyRL's budget stops at the longest sample", of("skyrl", run("torch", "trainer.max_tokens_per_microbatch", "20000", "trainer.max_prompt_length", "2048", "generator.sampling_params.max_generate_length", "16384")), gpuOOM("forward"),
			"skyrl.tokens", "trainer.max_tokens_per_microbatch", "18432",
		},
		{
			"ROLL refuses a smaller one", of("roll", run("megatron", "actor_train.use_dynamic_batching_in_train", "true", "actor_train.max_tokens_per_microbatch_in_train", "32768", "prompt_length", "2048", "response_length", "30720")), gpuOOM("forward"),
			"roll.dynamic-batch", "actor_train.max_tokens_per_microbatch_in_train", "-",
		},
		{"scores that somebody has in full come three times in the backward pass", run("trl", "per_device_train_batch_size", "4"), with(tight(gpuOOM("forward"), 15.75, 12.92), softmax), "trl.batch-size", "per_device_train_batch_size", "1"},
		{"in a pass before it, where it has the same batch", run("trl", "per_device_train_batch_size", "4"), with(tight(gpuOOM("logprob"), 15.75, 12.92), softmax), "trl.batch-size", "per_device_train_batch_size", "1"},
		{"and not in a pass that has its own", run("verl", rollout+"log_prob_micro_batch_size_per_gpu", "4"), with(tight(gpuOOM("logprob"), 15.75, 12.92), softmax), "verl.logprob.rollout-micro-batch", rollout + "log_prob_micro_batch_size_per_gpu", "2"},
		{"Relax's buffer", run("relax", "update_weight_buffer_size", "536870912"), gpuOOM("weight_update"), "relax.update-weight-buffer", "--update-weight-buffer-size", "268435456"},
		{"Relax's buffer at its floor", run("relax", "update_weight_buffer_size", "67108864"), gpuOOM("weight_update"), "relax.update-weight-buffer", "--update-weight-buffer-size", "-"},
		{"Relax's chunks", run("relax", "log_probs_chunk_size", "-1"), gpuOOM("logprob"), "relax.log-probs-chunk-size", "--log-probs-chunk-size", "4"},
		{"the engine's share, down", run("verl", rollout+"gpu_memory_utilization", "0.6"), gpuOOM("weight_update"), "verl.rollout.gpu-memory-utilization", rollout + "gpu_memory_utilization", "0.5"},
		{"the engine's share near its floor", run("verl", rollout+"gpu_memory_utilization", "0.35"), gpuOOM("rollout"), "verl.rollout.gpu-memory-utilization", rollout + "gpu_memory_utilization", "0.3"},
		{"the engine's share at its floor", run("verl", rollout+"gpu_memory_utilization", "0.3"), gpuOOM("rollout"), "verl.rollout.gpu-memory-utilization", rollout + "gpu_memory_utilization", "-"},
		{
			"the engine's share, up", run("verl", rollout+"gpu_memory_utilization", "0.4"),
			&classifier.Incident{Kind: parser.KVCache, Resource: "gpu", Phase: "init", Root: classifier.Root{Message: "ValueError: No available memory for the cache blocks."}},
			"verl.rollout.gpu-memory-utilization-up", rollout + "gpu_memory_utilization", "0.5",
		},
		{"Ulysses skips sizes that the heads do not have", heads(run("verl", actor+"ulysses_sequence_parallel_size", "4", "trainer.n_gpus_per_node", "8", "trainer.nnodes", "1"), 28), gpuOOM("forward"), "verl.ulysses", actor + "ulysses_sequence_parallel_size", "-"},
		{
			"Ulysses takes the next size", heads(run("verl", actor+"ulysses_sequence_parallel_size", "1", "num_key_value_heads", "8", "trainer.n_gpus_per_node", "8", "trainer.nnodes", "4"), 40),
			gpuOOM("forward"), "verl.ulysses", actor + "ulysses_sequence_parallel_size", "2",
		},
		{"Ulysses needs the heads", run("verl", actor+"ulysses_sequence_parallel_size", "1"), gpuOOM("forward"), "verl.ulysses", actor + "ulysses_sequence_parallel_size", "nil"},
		{"the update's bucket under its name of 0.6", run("verl", rollout+"update_weights_bucket_megabytes", "512"), gpuOOM("weight_update"), "verl.rollout.update-bucket", rollout + "update_weights_bucket_megabytes", "256"},
		{"prime-rl's head is whole while its pieces are disabled", run("prime_rl", "fused_lm_head_token_chunk_size", "disabled"), gpuOOM("forward"), "prime-rl.head-chunks", "fused_lm_head_token_chunk_size", "1024"},
		{"a set is proposed without a known value", run("verl"), gpuOOM("backward"), "verl.activation-offload", "actor_rollout_ref.model.enable_activation_offload", "True"},
		{
			"Ray's store holds four objects like the one that failed", run("verl"), recognized("ray.object_store_full", with(killed("rollout", "in object store because it is full"), func(r *classifier.Root) { r.Requested = gibs(2) })),
			"ray-memory.store-size", "--object-store-memory", "8589934592",
		},
		{"a pod gets no more than its node has", func() *classifier.Run {
			r := run("verl")
			r.Gauges = append(r.Gauges, reading("kubernetes.node_memory", map[string]float64{"host_total": 1007}))
			return r
		}(), recognized("kubernetes.oom_killed", with(killed("training", "OOMKilled"), func(r *classifier.Root) { r.Limit = gibs(900) })), "kubernetes.limit", "resources.limits.memory", "984Gi"},
		{"Kubernetes counts in powers of two", run("verl"), recognized("kubernetes.oom_killed", with(killed("training", "OOMKilled"), func(r *classifier.Root) { r.Limit = gibs(64) })), "kubernetes.limit", "resources.limits.memory", "96Gi"},
		{"PBS wants a b", run("torch"), recognized("pbs.mem", with(killed("training", "job killed: mem exceeded limit"), func(r *classifier.Root) { r.Limit = gibs(64) })), "pbs.mem", "mem", "96gb"},
		{
			"Ray's store is doubled", run("verl", "object_store_memory", "10737418240"), recognized("ray.object_store_full", killed("rollout", "in object store because it is full")),
			"ray-memory.store-size", "--object-store-memory", "21474836480",
		},
		{"one sample, whatever it is now", run("verl"), gpuOOM("backward"), "verl.actor.micro-batch-size", micro, "1"},
		{"ZeRO goes up a stage", run("openrlhf", "--zero_stage", "2"), gpuOOM("backward"), "openrlhf.zero-stage", "--zero_stage", "3"},
		{"and stops at 3", run("openrlhf", "--zero_stage", "3"), gpuOOM("backward"), "openrlhf.zero-stage", "--zero_stage", "-"},
		{"SGLang's prefill", run("sglang", "chunked_prefill_size", "4096"), gpuOOM("rollout"), "sglang.chunked-prefill", "--chunked-prefill-size", "2048"},
		{
			"vLLM's own estimate", run("vllm", "max_model_len", "131072"),
			&classifier.Incident{Kind: parser.KVCache, Resource: "gpu", Phase: "init", Root: rootOf(kvNeeded)},
			"vllm.max-model-len", "--max-model-len", "73840",
		},
		{
			"the share that was free", run("vllm", "gpu_memory_utilization", "0.8"),
			&classifier.Incident{Kind: parser.KVCache, Resource: "gpu", Phase: "init", Root: classifier.Root{
				Pattern: "vllm.free_memory", Message: "Free memory on device (37.12/79.11 GiB) on startup is less than desired GPU memory utilization (0.8, 63.29 GiB).", Free: gibs(37.12), Total: gibs(79.11),
			}},
			"vllm.utilization-fit", "--gpu-memory-utilization", "0.45",
		},
		{"Slurm's request", run("unknown", "--mem", "96G"), &classifier.Incident{Kind: parser.OOMKill, Resource: "host", Phase: "data"}, "slurm-host.mem", "--mem", "144G"},
		{"Slurm's request in MiB", run("unknown", "--mem", "65536"), &classifier.Incident{Kind: parser.OOMKill, Resource: "host"}, "slurm-host.mem", "--mem", "96G"},
		{"Slurm's request for all of the node", run("unknown", "--mem", "0"), &classifier.Incident{Kind: parser.OOMKill, Resource: "host"}, "slurm-host.mem", "--mem", "-"},
		{
			"Slurm's request for each GPU", run("unknown", "--mem-per-gpu", "30G"),
			&classifier.Incident{Kind: parser.OOMKill, Resource: "host", Root: classifier.Root{Limit: ints(120 << 30)}}, "slurm-host.mem", "--mem-per-gpu", "45G",
		},
		{
			"the limit that was enforced", &classifier.Run{Framework: "unknown", Scheduler: "slurm"}, &classifier.Incident{Kind: parser.OOMKill, Resource: "host", Root: classifier.Root{Limit: ints(128 << 30)}},
			"slurm-host.mem", "--mem", "192G",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, toOf(pick(t, For(test.run, test.in), test.id), test.key))
		})
	}
}

func TestMarginFollowsTheSaver(t *testing.T) {
	t.Parallel()
	r := run("relax", "train_memory_margin_bytes", "1073741824", "offload_train", "True")
	nccl := &classifier.Incident{Kind: parser.NCCLOOM, Resource: "gpu", Phase: "nccl", Root: classifier.Root{Message: "Failed to CUDA calloc 6291456 bytes"}}
	c := For(r, nccl)
	assert.False(t, *pick(t, c, "relax.margin-down").Applies)
	assert.Equal(t, "2147483648", toOf(pick(t, c, "relax.margin-up"), "--train-memory-margin-bytes"))

	refused := gpuOOM("nccl")
	refused.Evidence = []classifier.Evidence{{Pattern: "tms.refused", Text: "TorchMemorySaver::malloc return OOM since memory_margin_bytes=1073741824 (alloc)size=734003200 free_bytes=1610612736"}}
	c = For(r, refused)
	assert.True(t, *pick(t, c, "relax.margin-down").Applies)
	assert.Equal(t, "536870912", toOf(pick(t, c, "relax.margin-down"), "--train-memory-margin-bytes"))
	assert.False(t, *pick(t, c, "relax.margin-up").Applies)
	assert.Equal(t, "relax.margin-down", c.StartWith[0])
}

func TestOffloadSaysWhatItFrees(t *testing.T) {
	t.Parallel()
	r := run("verl", "actor_rollout_ref.actor.fsdp_config.optimizer_offload", "False", "trainer.n_gpus_per_node", "4", "trainer.nnodes", "1")
	r.Backend = "fsdp"
	r.Model.Parameters = ints(7_600_000_000)
	got := pick(t, For(r, gpuOOM("logprob")), "verl.offload.fsdp")
	require.NotNil(t, got.Freed)
	assert.Equal(t, int64(15_200_000_000), *got.Freed, "two moments of 4 bytes over 4 ranks")
	assert.Nil(t, pick(t, For(r, gpuOOM("optimizer")), "verl.offload.fsdp").Freed, "verl loads them back for the step")
}

// TestRulesMoveOneWayAndSettle applies every numeric rule over and over: each step goes in the parameter's direction,
// stays within its bounds, is never zero, and there is an end.
func TestRulesMoveOneWayAndSettle(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, g := range Guides() {
		for i := range g.Items {
			for k := range g.Items[i].Parameters {
				p := &g.Items[i].Parameters[k]
				if p.Next == "" || p.Direction == "set" {
					continue
				}
				for range tries(20) {
					walk(t, &g, p, start(p, rng))
				}
			}
		}
	}
}

func start(p *Parameter, rng *rand.Rand) string {
	switch p.Next {
	case "share_up", "share_down", "share_fit":
		return fraction(.01 + .99*rng.Float64())
	}
	return fmt.Sprint(rng.Int64N(1 << (1 + rng.IntN(40))))
}

func walk(t *testing.T, g *Guide, p *Parameter, cur string) {
	t.Helper()
	in := with(gpuOOM("backward"), func(r *classifier.Root) {
		r.Requested, r.Free, r.Total = gibs(3), gibs(1), gibs(80)
		r.Message = "the estimated maximum model length is 4096"
	})
	for step := 0; ; step++ {
		require.Less(t, step, 200, "%s of %s never settles", p.Key, g.ID)
		r := run(g.Framework, "data.max_prompt_length", "100", "data.max_response_length", "900", "train_dataset.max_length", "100",
			"gconfig.max_new_tokens", "900", "trainer.n_gpus_per_node", "8", "trainer.nnodes", "2", "num_key_value_heads", "8", p.Key, cur)
		r.Model.AttentionHeads = ints(64)
		q := *p
		q.When, q.Only = nil, nil
		c, ok := proposeChange(newContext(r, in), &naming{}, &q)
		require.True(t, ok)
		if c.To == nil || c.From == nil {
			return
		}
		from, okFrom := parseNumber(*c.From)
		to, okTo := parseNumber(*c.To)
		if !okFrom || !okTo {
			return
		}
		require.True(t, to > 0 || to == 0 && p.Min == "0", "%s of %s", p.Key, g.ID)
		if p.Direction == "down" && from > 0 {
			require.Less(t, to, from, "%s of %s", p.Key, g.ID)
		} else if p.Direction == "up" {
			require.Greater(t, to, from, "%s of %s", p.Key, g.ID)
		}
		if low, ok := parseNumber(p.Min); ok {
			require.GreaterOrEqual(t, to, low, "%s of %s", p.Key, g.ID)
		}
		if hi, ok := parseNumber(p.Max); ok {
			require.LessOrEqual(t, to, hi, "%s of %s", p.Key, g.ID)
		}
		cur = *c.To
	}
}

func TestAnEngineSleepsWhoseProcessHoldsFarLessThanItsShare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		phase  string
		others float64
		share  string
		asleep bool
	}{
		{"what a sleeping engine leaves", "backward", 2.6, "0.5", true},
		{"its whole share", "backward", 39, "0.5", false},
		{"it works in this phase", "rollout", 2.6, "0.5", false},
		{"the share is unknown", "backward", 2.6, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := run("skyrl", "generator.gpu_memory_utilization", c.share)
			in := with(gpuOOM(c.phase), func(r *classifier.Root) {
				r.Total, r.Free, r.Requested, r.OtherProcesses = gibs(80), gibs(1), gibs(3), gibs(c.others)
			})
			short := *gibs(2)
			in.Shortfall = &short
			assert.Equal(t, c.asleep, engineAsleep(newContext(r, in)))
		})
	}
}

// TestBatchesLeaveSharedMemory asks for workers where /dev/shm is full: any of them may fill it again.
func TestBatchesLeaveSharedMemory(t *testing.T) {
	t.Parallel()
	const bus = "RuntimeError: DataLoader worker (pid 214) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.\n"
	for settings, want := range map[string]string{
		"":                                     "num_workers=0", // the log does not show it
		"Namespace(num_workers=8, epochs=3)\n": "num_workers=0",
	} {
		changes := settingsChanged(answerTo(t, settings+bus))
		assert.Contains(t, changes, want)
		assert.NotContains(t, changes, "num_workers=2", "a quarter")
		assert.NotContains(t, changes, "num_workers=4", "half")
	}
	assert.NotContains(t, settingsChanged(answerTo(t, "Namespace(num_workers=0, epochs=3)\n"+bus)), "num_workers=0", "that is so already")
}

// TestWorkersGoDownToAQuarter asks for processes that each hold a copy of something.
func TestWorkersGoDownToAQuarter(t *testing.T) {
	t.Parallel()
	for least, steps := range map[string]map[string]string{
		"1": {"32": "8", "8": "2", "3": "1", "2": "1", "1": "", "0": ""},
		"0": {"32": "8", "2": "1", "1": "0", "0": ""}, // the main process can load the data itself
	} {
		for now, want := range steps {
			p := &Parameter{Key: "num_workers", Direction: "down", Next: "quarter", Min: least}
			v := nextValue(&paramQuery{&Context{root: &classifier.Root{}}, p, now})
			assert.Equal(t, want, v.to, now)
			assert.Equal(t, want == "", v.bound != "", now)
		}
	}
}
