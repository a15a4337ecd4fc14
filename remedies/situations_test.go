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

// situation is a failure from a public thread, by its figures and settings, with what is known to be right: the change
// that helped there, that a maintainer named, or that the program's source settles. A change is written "setting down",
// "setting up" or "setting set", with the last part of the setting's name, or as the id of an item without settings.
type situation struct {
	thread  string
	run     *classifier.Run
	in      *classifier.Incident
	right   []string // one of these is among the first that are advised
	wrong   []string // none of these is said to apply
	untold  bool     // the figures do not tell the right change: nothing wrong may be said, and that is all
	notable string   // in a finding
}

// firstAdvice is how many items a reader is believed to try.
const firstAdvice = 5

func TestPublicSituations(t *testing.T) {
	t.Parallel()
	all := append(situations(), laterSituations()...)
	require.GreaterOrEqual(t, len(all), 100)
	untold := 0
	for i := range all {
		c := &all[i]
		if c.untold {
			untold++
		}
		t.Run(strings.TrimPrefix(c.thread, "https://github.com/"), func(t *testing.T) {
			t.Parallel()
			list := For(c.run, c.in)
			first := advised(list)
			var said []string
			for _, r := range first[:min(firstAdvice, len(first))] {
				said = append(said, moves(&r)...)
			}
			if !c.untold {
				assert.True(t, slices.ContainsFunc(c.right, func(w string) bool { return slices.Contains(said, w) }), "want one of %q, said %q", c.right, said)
			}
			for _, r := range first {
				for _, m := range moves(&r) {
					assert.NotContains(t, c.wrong, m, "%s is said to apply: %s", r.ID, r.AppliesWhy)
				}
			}
			if c.notable != "" {
				assert.Contains(t, strings.Join(list.Findings, "\n"), c.notable)
			}
		})
	}
	assert.LessOrEqual(t, untold*20, len(all), "more than a twentieth cannot be told")
}

// advised are the items that a report tells to try, in its order: those to start with, then all others that apply.
func advised(list Checklist) []Remedy {
	var out []Remedy
	for _, id := range list.StartWith {
		out = append(out, list.Remedies[slices.IndexFunc(list.Remedies, func(r Remedy) bool { return r.ID == id })])
	}
	for _, r := range list.Remedies {
		if r.Applies != nil && *r.Applies && !slices.Contains(list.StartWith, r.ID) {
			out = append(out, r)
		}
	}
	return out
}

// moves are the changes of an item as a situation writes them.
func moves(r *Remedy) []string {
	out := []string{r.ID}
	for _, c := range r.Changes {
		word := lastWord(c.Key)
		direction := c.Direction
		if c.From != nil && c.To != nil {
			from, ok1 := parseNumber(*c.From)
			to, ok2 := parseNumber(*c.To)
			switch {
			case ok1 && ok2 && to < from:
				direction = "down"
			case ok1 && ok2 && to > from:
				direction = "up"
			}
		}
		out = append(out, word+" "+direction)
		if c.To != nil {
			for _, to := range spellings(*c.To) {
				out = append(out, word+" = "+to)
			}
		}
	}
	return out
}

// spellings are a value as Python and as YAML write it: what a log writes decides.
func spellings(value string) []string {
	switch value {
	case "true", "True":
		return []string{"true", "True"}
	case "false", "False":
		return []string{"false", "False"}
	}
	return []string{value}
}

func gpu(phase string, asked, free, total float64, trace *traceback.Trace) *classifier.Incident {
	return with(gpuOOM(phase), func(r *classifier.Root) {
		r.Message, r.Trace = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate", trace
		if asked > 0 {
			r.Requested = gibs(asked)
		}
		if total > 0 {
			r.Free, r.Total = gibs(free), gibs(total)
		}
	})
}

func idle(in *classifier.Incident, allocated, unallocated float64) *classifier.Incident {
	return with(in, func(r *classifier.Root) { r.Allocated, r.ReservedUnallocated = gibs(allocated), gibs(unallocated) })
}

func cache(message string) *classifier.Incident {
	return &classifier.Incident{Kind: parser.KVCache, Resource: "gpu", Phase: "init", Root: rootOf(message)}
}

func killed(phase, message string) *classifier.Incident {
	return &classifier.Incident{Kind: parser.OOMKill, Resource: "host", Phase: phase, Root: classifier.Root{Message: message}}
}

func as(r *classifier.Run, backend, engine, model string) *classifier.Run {
	r.Backend, r.Engine, r.Model.Name = backend, engine, model
	return r
}

const (
	noBlocks  = "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine."
	tooLong   = "ValueError: The model's max seq len is larger than the maximum number of tokens that can be stored in KV cache. Try increasing `gpu_memory_utilization` or decreasing `max_model_len`"
	desired   = "ValueError: Free memory on device on startup is less than desired GPU memory utilization"
	notEnough = "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static."
	warmUp    = "RuntimeError: CUDA out of memory occurred when warming up sampler with 1024 dummy requests. Please try lowering `max_num_seqs` or `gpu_memory_utilization`"
	capturing = "Exception: Capture cuda graph failed: CUDA out of memory. Tried to allocate"
	rayLow    = "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory, memory usage threshold of 0.95"
	oomKill   = "slurmstepd: error: Detected 1 oom_kill event in StepId=1.batch. Some of the step tasks have been OOM Killed."
	busError  = "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm)."
)

func situations() []situation {
	const hub = "https://github.com/"
	var (
		actor   = "actor_rollout_ref.actor."
		rollout = "actor_rollout_ref.rollout."
		loss    = frames("/x/verl/workers/actor/dp_actor.py|update_policy|loss.backward()", "/x/torch/autograd/graph.py|_engine_run_backward|return Variable")
		entropy = frames("/x/verl/workers/fsdp_workers.py|compute_log_prob|", "/x/verl/workers/actor/dp_actor.py|_forward_micro_batch|entropy = verl_F.entropy_from_logits(logits)",
			"/x/verl/utils/torch_functional.py|entropy_from_logits|entropy = torch.logsumexp(logits, dim=-1)")
		graphs = frames("/x/vllm/worker/model_runner.py|capture_model|graph_runner.capture(", "/x/vllm/model_executor/models/llama.py|forward|")
		sglang = frames("/x/sglang/srt/model_executor/cuda_graph_runner.py|capture_one_batch_size|", "/x/sglang/srt/layers/linear.py|forward|")
	)
	verl := func(pairs ...string) *classifier.Run { return as(run("verl", pairs...), "fsdp", "vllm", "") }
	vllm := func(pairs ...string) *classifier.Run { return as(run("vllm", pairs...), "", "vllm", "") }
	slime := func(pairs ...string) *classifier.Run { return as(run("slime", pairs...), "megatron", "sglang", "") }
	sgl := func(pairs ...string) *classifier.Run { return as(run("sglang", pairs...), "", "sglang", "") }
	gauged := func(r *classifier.Run, g ...classifier.Gauge) *classifier.Run { r.Gauges = g; return r }
	late := func(in *classifier.Incident) *classifier.Incident {
		in.Root.At = parser.Position{Source: "a.log", Line: 90}
		return in
	}
	message := func(in *classifier.Incident, m string) *classifier.Incident { in.Root.Message = m; return in }
	shrink := []string{"gpu_memory_utilization down"}
	grow := []string{"gpu_memory_utilization up"}
	return []situation{
		// verl
		{
			thread: hub + "verl-project/verl/issues/302", run: verl(rollout+"gpu_memory_utilization", "0.8"),
			in:    &classifier.Incident{Kind: parser.GPUDriverOOM, Resource: "gpu", Phase: "weight_update", Root: classifier.Root{Message: "CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:62"}},
			right: shrink, wrong: grow,
		},
		{
			thread: hub + "verl-project/verl/issues/2588", run: verl(rollout+"gpu_memory_utilization", "0.6"), in: gpu("training", 0, 0, 0, nil),
			right: shrink, wrong: grow,
		},
		{
			thread: hub + "verl-project/verl/issues/855",
			run: as(verl("data.train_batch_size", "1024", "data.max_prompt_length", "512", "data.max_response_length", "512", actor+"ppo_mini_batch_size", "512", actor+"ppo_micro_batch_size_per_gpu", "16",
				actor+"use_dynamic_bsz", "True", actor+"ppo_max_token_len_per_gpu", "24000", actor+"fsdp_config.param_offload", "False", actor+"fsdp_config.optimizer_offload", "False",
				"actor_rollout_ref.model.enable_gradient_checkpointing", "True", rollout+"tensor_model_parallel_size", "8"), "fsdp", "vllm", "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B"),
			in: gpu("training", 0, 0, 0, nil), right: []string{"ppo_max_token_len_per_gpu down"}, wrong: []string{"ppo_micro_batch_size_per_gpu down", "train_batch_size down"},
		},
		{
			thread: hub + "ypwang61/One-Shot-RLVR/issues/14",
			run:    verl(actor+"use_dynamic_bsz", "True", actor+"ppo_max_token_len_per_gpu", "24000", "data.max_prompt_length", "1024", "data.max_response_length", "3072", rollout+"gpu_memory_utilization", "0.7"),
			in:     gpu("training", 0, 0, 0, nil), right: []string{"ppo_max_token_len_per_gpu down"}, wrong: append(grow, "ppo_max_token_len_per_gpu up"),
		},
		{
			thread: hub + "verl-project/verl/issues/2828", run: as(verl(), "fsdp2", "vllm", "Qwen2.5-32B"),
			in: idle(gpu("logprob", 13.91, 8.85, 79.11, entropy), 60.49, 6.77), right: []string{"entropy_from_logits_with_chunking set", "use_fused_kernels set"},
			wrong: []string{"verl.host.tcmalloc", "PYTORCH_CUDA_ALLOC_CONF set"}, notable: "152,064 vocabulary (from the model's name)",
		},
		{
			thread: hub + "ganler/code-r1/issues/17",
			run: as(verl("data.train_batch_size", "16", "data.max_prompt_length", "2048", "data.max_response_length", "4096", actor+"ppo_mini_batch_size", "256", actor+"ppo_micro_batch_size_per_gpu", "8",
				"actor_rollout_ref.model.enable_gradient_checkpointing", "False"), "fsdp", "vllm", "Qwen/Qwen2.5-7B-Instruct-1M"),
			in: gpu("backward", 5.64, 4.51, 79.11, loss), right: []string{"enable_gradient_checkpointing = True"}, wrong: []string{"train_batch_size down", "ppo_micro_batch_size_per_gpu up"},
		},
		{
			thread: hub + "verl-project/verl/issues/2950",
			run:    verl(actor+"fsdp_config.param_offload", "True", actor+"fsdp_config.optimizer_offload", "True"), in: recognized("ray.low_memory", killed("rollout", rayLow)),
			right: []string{"ray-memory.request", "param_offload = False"}, wrong: []string{"gpu_memory_utilization down", "ppo_micro_batch_size_per_gpu down", "param_offload = True"},
		},
		{
			thread: hub + "ChenxinAn-fdu/POLARIS/issues/33",
			run: as(verl(actor+"use_dynamic_bsz", "True", actor+"ppo_max_token_len_per_gpu", "40960", actor+"ulysses_sequence_parallel_size", "1", "data.max_prompt_length", "1024",
				"data.max_response_length", "39936", "trainer.n_gpus_per_node", "8", "trainer.nnodes", "1", "actor_rollout_ref.model.enable_gradient_checkpointing", "True"), "fsdp", "vllm", "Qwen/Qwen3-4B"),
			in: gpu("backward", 0, 0, 0, loss), right: []string{"ulysses_sequence_parallel_size = 2"}, wrong: []string{"ppo_max_token_len_per_gpu up", "ulysses_sequence_parallel_size down"},
		},
		{
			thread: hub + "verl-project/verl/issues/453",
			run: as(verl(actor+"use_dynamic_bsz", "False", actor+"ppo_micro_batch_size_per_gpu", "2", actor+"ulysses_sequence_parallel_size", "2", "data.max_prompt_length", "1024",
				"data.max_response_length", "16384", "trainer.n_gpus_per_node", "8", "trainer.nnodes", "1"), "fsdp", "vllm", "Qwen/Qwen2.5-7B"),
			in: gpu("forward", 0, 0, 0, nil), right: []string{"use_dynamic_bsz = True", "ppo_micro_batch_size_per_gpu = 1"}, wrong: []string{"ulysses_sequence_parallel_size down"},
		},
		{
			thread: hub + "hiyouga/EasyR1/pull/1", run: as(run("verl", "worker.rollout.gpu_memory_utilization", "0.7"), "fsdp", "vllm", ""), in: gpu("training", 0, 0, 0, nil),
			right: shrink, wrong: grow,
		},
		{
			thread: hub + "hiyouga/EasyR1/issues/260",
			run:    as(run("verl", "worker.actor.offload.offload_params", "true", "worker.actor.offload.offload_optimizer", "true", "worker.ref.offload.offload_params", "false"), "fsdp", "vllm", ""),
			in:     recognized("ray.low_memory", killed("training", rayLow)), right: []string{"offload_params = False"}, wrong: []string{"gpu_memory_utilization down", "offload_params = True"},
		},
		// TRL
		{
			thread: hub + "huggingface/trl/issues/2688", run: as(run("trl", "vllm_gpu_memory_utilization", "0.9", "use_vllm", "True"), "", "vllm", "meta-llama/Llama-3.2-1B"),
			in: gpu("init", 0, 0, 0, nil), right: []string{"vllm_gpu_memory_utilization down"}, wrong: []string{"vllm_gpu_memory_utilization up"},
		},
		{
			thread: hub + "huggingface/trl/issues/2927", run: as(run("trl", "vllm_gpu_memory_utilization", "0.9", "use_vllm", "True"), "", "vllm", "Qwen/Qwen2.5-7B"),
			in: gpu("weight_update", 0, 0, 0, nil), right: []string{"vllm_gpu_memory_utilization down"}, wrong: []string{"vllm_gpu_memory_utilization up"},
		},
		// OpenRLHF
		{
			thread: hub + "OpenRLHF/OpenRLHF/issues/392",
			run:    as(run("openrlhf", "--micro_train_batch_size", "4", "--micro_rollout_batch_size", "8", "--zero_stage", "3", "--gradient_checkpointing", "True", "--colocate_critic_reward", "True"), "deepspeed", "vllm", ""),
			in:     gpu("training", 0, 0, 0, nil), right: []string{"micro_train_batch_size down", "micro_batch_size down", "adam_offload set"}, wrong: []string{"zero_stage down", "micro_train_batch_size up"},
		},
		{
			thread: hub + "OpenRLHF/OpenRLHF/issues/336", run: as(run("openrlhf", "--vllm_gpu_memory_utilization", "0.85"), "deepspeed", "vllm", "Llama-3-70B"), in: cache(tooLong),
			right: []string{"vllm_gpu_memory_utilization up", "gpu_memory_utilization up"}, wrong: []string{"vllm_gpu_memory_utilization down", "gpu_memory_utilization down"},
		},
		{
			thread: hub + "OpenRLHF/OpenRLHF/issues/1050", run: as(run("openrlhf", "--vllm_gpu_memory_utilization", "0.6", "--micro_train_batch_size", "1"), "deepspeed", "vllm", ""),
			in: gpu("weight_update", 0, 0, 0, nil), right: []string{"vllm_gpu_memory_utilization down"}, wrong: []string{"vllm_gpu_memory_utilization up", "micro_train_batch_size down"},
		},
		{
			thread: hub + "OpenRLHF/OpenRLHF/issues/1066",
			run:    as(run("openrlhf", "--micro_rollout_batch_size", "32", "--micro_train_batch_size", "1", "--prompt_max_len", "4096", "--generate_max_len", "8192", "--vllm_gpu_memory_utilization", "0.6"), "deepspeed", "vllm", "Qwen3-8B"),
			in:     gpu("logprob", 0, 0, 0, nil), right: []string{"micro_rollout_batch_size down"}, wrong: []string{"micro_train_batch_size down", "micro_rollout_batch_size up"},
		},
		{
			thread: hub + "OpenRLHF/OpenRLHF/issues/171", run: as(run("openrlhf"), "deepspeed", "", ""), in: recognized("ray.low_memory", killed("init", rayLow)),
			right: []string{"ray-memory.request"}, wrong: []string{"micro_train_batch_size down", "gpu_memory_utilization down"},
		},
		// slime
		{
			thread: hub + "THUDM/slime/issues/1237", run: slime("use_dynamic_batch_size", "True", "max_tokens_per_gpu", "16384", "rollout_max_response_len", "8192"),
			in: gpu("training", 0, 0, 0, nil), right: []string{"max_tokens_per_gpu down"}, wrong: []string{"max_tokens_per_gpu up"},
		},
		{
			thread: hub + "THUDM/slime/issues/1951",
			run: as(slime("use_dynamic_batch_size", "True", "max_tokens_per_gpu", "9216", "rollout_max_response_len", "8192", "tensor_model_parallel_size", "2", "context_parallel_size", "1",
				"recompute_granularity", "full", "recompute_method", "uniform", "recompute_num_layers", "1", "sglang_mem_fraction_static", "0.7"), "megatron", "sglang", "qwen3-4b-sft"),
			in: with(idle(gpu("forward", 58.15, 47.69, 139.81, frames("/root/slime/slime/utils/ppo_utils.py|calculate_log_probs_and_entropy|log_prob = compute_log_probs(logits.clone(), tokens, tp_group)")), 82.55, 2.06),
				func(r *classifier.Root) { r.ProcessBytes, r.OtherProcesses = gibs(88.83), gibs(3.24) }),
			right: []string{"log_probs_chunk_size down"}, wrong: []string{"max_tokens_per_gpu down", "PYTORCH_CUDA_ALLOC_CONF set", "recompute_granularity set"},
			notable: "times --max-tokens-per-gpu = 9216",
		},
		{
			thread: hub + "THUDM/slime/issues/381", run: as(slime("offload_train", "True", "rollout_max_response_len", "16384", "context_parallel_size", "4"), "megatron", "sglang", "Qwen3-8B"),
			in: idle(gpu("backward", 2, 1, 79.1, nil), 60, 9), untold: true, wrong: []string{"torch.card.expandable-segments"},
		},
		{
			thread: hub + "THUDM/slime/issues/1522",
			run: slime("use_dynamic_batch_size", "True", "max_tokens_per_gpu", "66560", "rollout_max_response_len", "65536", "tensor_model_parallel_size", "2", "context_parallel_size", "1", "actor_num_gpus_per_node", "4",
				"recompute_granularity", "full", "recompute_method", "uniform", "recompute_num_layers", "1", "optimizer_cpu_offload", "False"),
			in: gpu("training", 0, 0, 0, nil), right: []string{"context_parallel_size = 2"}, wrong: []string{"max_tokens_per_gpu up", "context_parallel_size down"},
		},
		// vLLM, the cache's size
		{thread: hub + "vllm-project/vllm/issues/2418", run: vllm("gpu_memory_utilization", "0.9", "max_seq_len", "4096"), in: cache(tooLong), right: append(grow, "max_model_len down"), wrong: shrink},
		{thread: hub + "QwenLM/Qwen3/issues/295", run: vllm("gpu_memory_utilization", "0.9", "max_seq_len", "32768"), in: cache(tooLong), right: append(grow, "max_model_len down"), wrong: shrink},
		{thread: hub + "deepseek-ai/DeepSeek-V2/issues/83", run: vllm("gpu_memory_utilization", "0.9"), in: cache(tooLong), right: append(grow, "max_model_len down"), wrong: shrink},
		{
			thread: hub + "QwenLM/Qwen3/issues/12", run: vllm("--gpu-memory-utilization", "0.95", "tensor_parallel_size", "1"), in: cache(noBlocks),
			right: []string{"tensor_parallel_size up"}, wrong: append(grow, shrink...),
		},
		{
			thread: hub + "ai-dynamo/dynamo/pull/5144",
			run:    gauged(vllm("gpu_memory_utilization", "0.9"), reading("vllm.kv_available", map[string]float64{"available": -.48})), in: late(cache(noBlocks)),
			right: []string{"gpu_memory_utilization = 0.95"}, wrong: shrink,
		},
		{
			thread: hub + "vllm-project/vllm/issues/10533",
			run:    gauged(vllm("gpu_memory_utilization", "0.2"), reading("vllm.kv_available", map[string]float64{"total": 79, "non_torch": 58, "available": -53})), in: late(cache(noBlocks)),
			right: grow, wrong: append(shrink, "tensor_parallel_size up", "max_num_seqs down"),
		},
		{thread: hub + "BatsResearch/bonito/issues/22", run: vllm("gpu_memory_utilization", "0.9", "enforce_eager", "False"), in: cache(noBlocks), right: []string{"enforce_eager = True"}, wrong: shrink},
		{thread: hub + "vllm-project/vllm/issues/3345", run: vllm("gpu_memory_utilization", "0.15", "max_model_len", "2046"), in: cache(noBlocks), right: grow, wrong: shrink},
		// vLLM, the card at the start
		{
			thread: hub + "pytorch/pytorch/issues/175666", run: vllm("gpu_memory_utilization", "0.9"),
			in:    with(recognized("vllm.free_memory", cache(desired)), func(r *classifier.Root) { r.Free, r.Total, r.Requested = gibs(19.77), gibs(22.05), gibs(19.84) }),
			right: []string{"gpu_memory_utilization = 0.85"}, wrong: grow,
		},
		{
			thread: hub + "vllm-project/vllm/issues/50135", run: vllm("gpu_memory_utilization", "0.7"),
			in:    with(recognized("vllm.free_memory", cache(desired)), func(r *classifier.Root) { r.Free, r.Total, r.Requested = gibs(.22), gibs(30.3), gibs(21.21) }),
			right: []string{"vllm.free-the-card"}, wrong: grow,
		},
		// vLLM, graphs and sampling
		{
			thread: hub + "vllm-project/vllm/issues/15598", run: vllm("gpu_memory_utilization", "0.9", "max_num_seqs", "256", "enforce_eager", "False"), in: gpu("init", .002, .0004, 44.53, graphs),
			right: []string{"enforce_eager = True", "max_num_seqs down"}, wrong: grow,
		},
		{
			thread: hub + "vllm-project/vllm/issues/2413", run: as(vllm("gpu_memory_utilization", "0.9", "enforce_eager", "False"), "", "vllm", "TheBloke/Mixtral-8x7B-Instruct-v0.1-GPTQ"), in: gpu("init", 0, 0, 0, graphs),
			right: []string{"enforce_eager = True"}, wrong: grow,
		},
		{
			thread: hub + "vllm-project/vllm/issues/11251",
			run: gauged(vllm("gpu_memory_utilization", "0.95", "enforce_eager", "False"), reading("vllm.budget", map[string]float64{"total": 15.77}),
				reading("vllm.profile", map[string]float64{"weights": 7.51, "non_torch": .39, "activations": 2.53, "available": 4.55})),
			in: late(gpu("init", .1, .05, 15.77, graphs)), right: []string{"gpu_memory_utilization down", "enforce_eager = True"}, wrong: grow,
		},
		{
			thread: hub + "llm-d/llm-d/issues/787", run: as(vllm("--gpu-memory-utilization", "0.95", "max_num_seqs", "1024"), "", "vllm", "Qwen/Qwen3-32B"),
			in: message(gpu("init", 0, 0, 0, nil), warmUp), right: []string{"max_num_seqs = 512"}, wrong: grow,
		},
		{thread: hub + "vllm-project/vllm/issues/14452", run: vllm("max_num_seqs", "1024", "gpu_memory_utilization", "0.9"), in: message(gpu("init", 0, 0, 0, nil), warmUp), right: []string{"max_num_seqs down"}, wrong: grow},
		{
			thread: hub + "vllm-project/vllm/issues/27508", run: as(vllm("max_num_seqs", "1024"), "", "vllm", "openai/gpt-oss-120b"), in: message(gpu("init", 0, 0, 0, nil), warmUp),
			right: []string{"max_num_seqs down"}, wrong: []string{"max_num_seqs up"},
		},
		{
			thread: hub + "vllm-project/vllm/issues/7553", run: vllm("gpu_memory_utilization", "0.9", "enforce_eager", "False"), in: gpu("rollout", 0, 0, 0, nil),
			right: append(shrink, "enforce_eager = True"), wrong: grow,
		},
		// SGLang
		{thread: hub + "sgl-project/sglang/issues/322", run: sgl("mem_fraction_static", "0.8"), in: cache(notEnough), right: []string{"mem_fraction_static up"}, wrong: []string{"mem_fraction_static down"}},
		{
			thread: hub + "sgl-project/sglang/issues/4330", run: gauged(sgl("mem_fraction_static", "0.85", "cuda_graph_max_bs", "160"), reading("sglang.mem_weights", map[string]float64{"used": 39, "free": 7.5})),
			in: late(message(gpu("init", .6, .3, 47.5, sglang), capturing)), right: []string{"cuda_graph_max_bs down"}, wrong: []string{"mem_fraction_static up", "mem_fraction_static = 0.75"},
		},
		{
			thread: hub + "sgl-project/sglang/issues/1030", run: sgl("mem_fraction_static", "0.88", "context_length", "4096", "chunked_prefill_size", "-1"),
			in: gpu("rollout", 0, 0, 0, frames("/x/sglang/srt/managers/scheduler.py|forward_extend|")), right: []string{"chunked_prefill_size set", "chunked_prefill_size down", "chunked_prefill_size up", "mem_fraction_static down"}, wrong: []string{"mem_fraction_static up"},
		},
		{
			thread: hub + "sgl-project/sglang/issues/4489", run: sgl("mem_fraction_static", "0.8", "chunked_prefill_size", "8192", "enable_torch_compile", "True", "cuda_graph_max_bs", "160"),
			in: message(gpu("init", 0, 0, 0, sglang), capturing), right: []string{"cuda_graph_max_bs down", "enable_torch_compile set", "mem_fraction_static down"}, wrong: []string{"mem_fraction_static up"},
		},
		{
			thread: hub + "sgl-project/sglang/issues/5285", run: sgl("mem_fraction_static", "0.9", "cuda_graph_max_bs", "128"), in: message(gpu("init", .4375, .2, 95, sglang), capturing),
			right: []string{"cuda_graph_max_bs down"}, wrong: []string{"mem_fraction_static up"},
		},
		// NeMo-RL
		{
			thread: hub + "NVIDIA-NeMo/RL/pull/3093", run: as(run("nemo_rl", "policy.logprob_batch_size", "4", "policy.train_micro_batch_size", "4", "policy.max_total_sequence_length", "4096"), "", "vllm", "Qwen/Qwen3-30B-A3B"),
			in: gpu("logprob", 0, 0, 0, nil), right: []string{"logprob_batch_size down"}, wrong: []string{"logprob_batch_size up", "train_micro_batch_size down"},
		},
		{
			thread: hub + "NVIDIA-NeMo/RL/pull/3005", run: as(run("nemo_rl", "policy.logprob_batch_size", "4", "policy.max_total_sequence_length", "4096", "policy.logprob_chunk_size", "null"), "", "vllm", "Qwen/Qwen3-30B-A3B"),
			in:    gpu("logprob", 9.27, 4, 79.1, frames("/opt/nemo_rl/models/policy/workers/dtensor_policy_worker.py|get_logprobs|logits = outputs.logits.to(torch.float32)")),
			right: []string{"logprob_chunk_size down", "logprob_chunk_size set"}, wrong: []string{"logprob_batch_size up"}, notable: "151,936 vocabulary (from the model's name) x 4 bytes",
		},
		{
			thread: hub + "NVIDIA-NeMo/RL/issues/2871", run: as(run("nemo_rl", "policy.train_micro_batch_size", "2"), "megatron", "vllm", ""),
			in:    gpu("forward", 12.60, 12.44, 79.19, frames("/opt/nemo_rl/distributed/model_utils.py|_compute_distributed_log_softmax|sum_exp_logits = vocab_parallel_logits.exp().sum(-1, keepdim=True).float()")),
			right: []string{"train_micro_batch_size = 1", "use_fused_linear_logprobs set"}, wrong: []string{"train_micro_batch_size up"},
		},
		// DeepSpeed
		{
			thread: hub + "deepspeedai/DeepSpeed/issues/1145", run: as(run("deepspeed", "zero_optimization.stage", "3", "zero_optimization.sub_group_size", "1e9", "train_micro_batch_size_per_gpu", "1"), "deepspeed", "", ""),
			in: gpu("optimizer", 3.73, 2.61, 79.33, frames("/x/deepspeed/runtime/zero/stage3.py|step|", "/x/torch/optim/adamw.py|_init_group|")), right: []string{"sub_group_size down"}, wrong: []string{"sub_group_size up", "stage up"},
			notable: "sub_group_size 1,000,000,000 x 4 bytes = 3.73 GiB",
		},
		{
			thread: hub + "Lightning-AI/pytorch-lightning/issues/18134", run: as(run("deepspeed", "zero_optimization.stage", "3", "zero_optimization.offload_optimizer.device", "none", "train_micro_batch_size_per_gpu", "1"), "deepspeed", "", ""),
			in: gpu("optimizer", 0, 0, 0, nil), right: []string{"device = cpu"}, wrong: []string{"stage down"},
		},
		// PyTorch, what the allocator holds
		{
			thread: hub + "carolchenyx/MGFN./issues/35", run: run("torch"), in: idle(gpu("training", 1.70, 0, 6, nil), 2.93, 2.30),
			right: []string{"PYTORCH_CUDA_ALLOC_CONF set", "pytorch_cuda_alloc_conf set"},
		},
		{
			thread: hub + "Tianhao-Qi/Mask2DiT/issues/4", run: run("torch"), in: idle(gpu("unknown", 35.60, 26.16, 79.33, nil), 11.97, 40.69),
			right: []string{"pytorch_cuda_alloc_conf set"},
		},
		{
			thread: hub + "JiaweiLian/AP-PA/issues/3", run: run("torch", "--batch-size", "1"),
			in:    with(gpu("training", 2.81, .366, 23.69, nil), func(r *classifier.Root) { r.Allocated, r.Reserved = gibs(16.12), gibs(19.00) }),
			right: []string{"pytorch_cuda_alloc_conf set"}, wrong: []string{"batch_size down"},
		},
		{
			thread: hub + "derrian-distro/LoRA_Easy_Training_Scripts/issues/178", run: run("torch", "--gradient_checkpointing", "False"), in: idle(gpu("training", .0879, 0, 8, nil), 7.13, .124),
			right: []string{"gradient_checkpointing = True"}, wrong: []string{"pytorch_cuda_alloc_conf set"},
		},
		{
			thread: hub + "murong-xu/CADS/issues/4", run: run("torch", "--batch-size", "4"), in: idle(gpu("forward", 22.78, 12.73, 31.47, nil), 9.08, 9.35),
			right: []string{"batch_size down"}, wrong: []string{"pytorch_cuda_alloc_conf set"},
		},
		{
			thread: hub + "QwenLM/Qwen2.5-Omni/issues/240", run: run("torch"),
			in: with(idle(gpu("forward", 124.68, 51.23, 95.22, nil), 25.50, 3.14), func(r *classifier.Root) { r.OtherProcesses = gibs(14.91 + 29.07) }), untold: true, wrong: []string{"pytorch_cuda_alloc_conf set"},
		},
		// host memory and shared memory
		{thread: hub + "nextflow-io/nextflow/issues/5932", run: run("unknown", "--mem", "64Gb"), in: killed("unknown", oomKill), right: []string{"mem = 96G"}, wrong: []string{"mem down"}},
		{
			thread: hub + "ArjunaCluster/ArjunaUsers/issues/52", run: run("torch", "--mem", "32G"), in: killed("training", oomKill), right: []string{"mem up"}, wrong: []string{"batch_size down"},
		},
		{
			thread: hub + "pytorch/pytorch/issues/5040", run: run("torch", "--num-workers", "8"), in: &classifier.Incident{Kind: parser.SHMExhausted, Resource: "shm", Phase: "data", Root: classifier.Root{Message: busError}},
			right: []string{"shm.size", "num_workers down"}, wrong: []string{"num_workers up", "mem up"},
		},
	}
}
