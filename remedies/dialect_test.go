package remedies

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/parser"
)

func TestASettingIsWrittenAsTheProgramTakesIt(t *testing.T) {
	t.Parallel()
	full := func(phase string, stack ...string) *classifier.Incident {
		return with(gpuOOM(phase), func(r *classifier.Root) {
			r.Total, r.Free, r.Requested, r.Allocated, r.Trace = gibs(24), gibs(.2), gibs(1), gibs(23), frames(stack...)
		})
	}
	const (
		profile = "/x/vllm/worker/model_runner.py|profile_run|"
		exllama = "/x/exllamav2/cache.py|create_state_tensors|p_value_states = torch.zeros("
		offload = "zero_optimization.offload_optimizer.device"
		visual  = "/x/transformers/models/qwen2_vl/modeling_qwen2_vl.py|forward|image_embeds = self.visual("
	)
	since := func(version string) *classifier.Run {
		r := as(run("vllm"), "", "vllm", "")
		r.EngineVersion = version
		return r
	}
	printed := func(n int) *classifier.Run {
		r := since("")
		r.Config["enforce_eager"] = classifier.Value{Value: "False", Form: "repr"}
		for i := range n {
			r.Config["argument_"+itoa(int64(i))] = classifier.Value{Value: "None", Form: "repr"}
		}
		return r
	}
	capture := full("init", "/x/vllm/entrypoints/openai/api_server.py|run_server|", "/x/vllm/v1/worker/gpu_model_runner.py|capture_model|")
	for name, c := range map[string]struct {
		run          *classifier.Run
		in           *classifier.Incident
		want, absent []string
	}{
		"vLLM's server takes flags":           {as(run("vllm"), "", "vllm", ""), full("init", "/x/vllm/entrypoints/openai/api_server.py|run_server|", "/x/vllm/worker/worker.py|determine_num_available_blocks|", profile), []string{"--max-model-len"}, []string{"max_model_len"}},
		"graphs of vLLM since 0.11.1":         {since("0.12.0"), capture, []string{"--cudagraph-capture-sizes"}, []string{"--compilation-config"}},
		"graphs of vLLM before":               {since("0.8.3"), capture, []string{"--compilation-config"}, []string{"--cudagraph-capture-sizes"}},
		"vLLM of 2023 has no 8-bit cache":     {since("0.3.0"), &classifier.Incident{Kind: parser.KVCache, Resource: "gpu", Phase: "init", Root: rootOf(tooLong)}, []string{"--gpu-memory-utilization"}, []string{"--kv-cache-dtype", "--quantization"}},
		"a build from source has all":         {since("0.1.dev1+gabc"), capture, []string{"--cudagraph-capture-sizes"}, nil},
		"a flag that all arguments lack":      {printed(70), capture, []string{"--enforce-eager"}, []string{"--cudagraph-capture-sizes"}},
		"a flag that some arguments lack":     {printed(20), capture, []string{"--cudagraph-capture-sizes"}, nil},
		"lm-eval has a list of arguments":     {as(run("vllm", "model_args", "pretrained=m", "tasks", "mmlu"), "", "vllm", ""), capture, []string{"gpu_memory_utilization", "enforce_eager"}, []string{"--gpu-memory-utilization", "--enforce-eager"}},
		"TRL's server has a few flags":        {as(run("trl", "--model", "Qwen/Qwen3-32B", "--gpu_memory_utilization", "0.97"), "", "vllm", ""), capture, []string{"--gpu_memory_utilization", "--enforce_eager"}, []string{"vllm_gpu_memory_utilization", "--max-num-seqs", "--cudagraph-capture-sizes"}},
		"a script gives vLLM arguments":       {as(run("vllm"), "", "vllm", ""), full("init", "/w/infer.py|<module>|llm = LLM(", "/x/vllm/entrypoints/llm.py|__init__|", "/x/vllm/worker/worker.py|determine_num_available_blocks|", profile), []string{"max_model_len"}, []string{"--max-model-len"}},
		"TabbyAPI has a cache_mode":           {of("exllama", run("torch")), full("init", "/w/tabbyAPI/backends/exllamav2/model.py|load|", exllama), []string{"cache_mode"}, []string{"ExLlamaV2Cache_Q4"}},
		"a script of ExLlama chooses a class": {of("exllama", run("torch")), full("init", "/w/chat.py|<module>|", exllama), []string{"ExLlamaV2Cache_Q4"}, []string{"cache_mode"}},
		"SGLang of early 2024 has few flags":  {as(run("sglang"), "", "sglang", ""), full("rollout", "/x/sglang/srt/managers/router/model_rpc.py|forward_step|"), []string{"--mem-fraction-static"}, []string{"--chunked-prefill-size", "--cuda-graph-max-bs", "--kv-cache-dtype"}},
		"ms-swift 2 reads the environment":    {of("swift", run("trl")), full("forward", "/w/swift/llm/rlhf.py|llm_rlhf|", visual), []string{"MAX_PIXELS"}, []string{"--max_pixels"}},
		"ms-swift 3 has a flag":               {of("swift", run("trl")), full("forward", "/w/swift/llm/train/rlhf.py|main|", visual), []string{"--max_pixels"}, []string{"MAX_PIXELS"}},
		"ms-swift names its offload":          {of("swift", as(run("deepspeed", "--deepspeed", "zero3"), "deepspeed", "", "")), full("backward"), []string{"--deepspeed"}, []string{offload}},
		"LLaMA-Factory has a file of it":      {of("llamafactory", as(run("deepspeed", "deepspeed", "examples/deepspeed/ds_z2_config.json"), "deepspeed", "", "")), full("backward"), []string{"deepspeed"}, []string{offload}},
		"a user's own DeepSpeed file":         {of("llamafactory", as(run("deepspeed", "deepspeed", "ds_zero3.json"), "deepspeed", "", "")), full("backward"), []string{offload}, []string{"deepspeed"}},
		"Qwen's processor has an argument":    {run("torch"), full("forward", "/w/train.py|<module>|loss.backward()", visual), []string{"max_pixels"}, []string{"MAX_PIXELS", "--max_pixels"}},
		"pairs are cut at max_length":         {of("unsloth", run("trl", "max_length", "8192", "max_seq_length", "8192")), full("forward", "/w/unsloth_compiled_cache/UnslothORPOTrainer.py|concatenated_forward|"), []string{"max_length"}, []string{"max_seq_length"}},
		"samples are cut at max_seq_length":   {of("unsloth", run("trl", "max_seq_length", "8192")), full("forward", "/w/unsloth_compiled_cache/UnslothSFTTrainer.py|compute_loss|"), []string{"max_seq_length"}, []string{"max_length"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := For(c.run, c.in)
			var keys []string
			for _, m := range list.Remedies {
				if m.Applies == nil || *m.Applies {
					for _, x := range m.Changes {
						keys = append(keys, x.Key)
					}
				}
			}
			for _, p := range list.Proposals {
				for _, x := range p.Changes {
					keys = append(keys, x.Key)
				}
			}
			for _, k := range c.want {
				assert.Contains(t, keys, k)
			}
			for _, k := range c.absent {
				assert.False(t, slices.Contains(keys, k), "%s among %v", k, keys)
			}
		})
	}
}

func TestAPythonValueIsQuotedUnlessPythonKnowsIt(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{"sdpa": `attn = "sdpa"`, "True": "attn = True", "8": "attn = 8", "torch.bfloat16": "attn = torch.bfloat16", `{"image": 1}`: `attn = {"image": 1}`} {
		assert.Equal(t, want, snippet(&Change{Key: "attn", To: &to, Syntax: "python"}, false))
		assert.Equal(t, strings.Replace(want, "attn = ", "Strategy(attn=", 1)+")", snippet(&Change{Key: "Strategy.attn", To: &to, Syntax: "python"}, false))
	}
}

func TestATOMLFileIsToldInItsOwnKeys(t *testing.T) {
	t.Parallel()
	r := of("prime_rl", run("torch", "trainer.model.optim_cpu_offload", "true"))
	in := killed("unknown", "OOMKilled")
	for form, want := range map[string]string{"toml": "trainer.model.optim_cpu_offload = false", "command": "--trainer.model.optim-cpu-offload false"} {
		c := pick(t, For(formed(r, form), in), "prime-rl.optim-on-card").Changes
		require.Len(t, c, 1)
		assert.Equal(t, want, c[0].Snippet)
	}
	for to, want := range map[string]string{"full": `a.mode = "full"`, "8": "a.mode = 8", "True": "a.mode = True"} {
		assert.Equal(t, want, snippet(&Change{Key: "a.mode", To: &to, Syntax: "toml"}, false))
	}
}

func TestTheNameOfAResourceIsOnePart(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{"resources", "limits", "nvidia.com/gpumem"}, pathOf("resources.limits.nvidia.com/gpumem"))
	assert.Equal(t, []string{"resources", "limits", "memory"}, pathOf("resources.limits.memory"))
}

func TestASmallerShareFreesNothingWhileTheCacheIsAway(t *testing.T) {
	t.Parallel()
	for others, applies := range map[float64]bool{18: false, 30: true} {
		in := with(gpuOOM("weight_update"), func(r *classifier.Root) {
			r.Total, r.Free, r.Requested, r.OtherProcesses = gibs(80), gibs(10), gibs(12), gibs(others)
		})
		a := pick(t, For(as(run("verl", "actor_rollout_ref.rollout.gpu_memory_utilization", "0.4"), "fsdp", "vllm", ""), in), "verl.rollout.gpu-memory-utilization").Applies
		assert.Equal(t, applies, a == nil || *a, others)
	}
}
