package remedies

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/classifier"
)

// changesOf are the changes of all proposals, KEY=VALUE, or KEY alone where the value is open.
func changesOf(c Checklist) []string {
	out := []string{}
	for _, p := range c.Proposals {
		for _, ch := range p.Changes {
			if ch.To == nil {
				out = append(out, ch.Key)
			} else {
				out = append(out, ch.Key+"="+*ch.To)
			}
		}
	}
	return out
}

// fullCard is a failure on a card of 40 GiB that one process fills.
func fullCard(phase string, request float64, stack ...string) *classifier.Incident {
	return with(gpuOOM(phase), func(r *classifier.Root) {
		r.Total, r.Free, r.Requested, r.ProcessBytes, r.Allocated = gibs(40), gibs(0.25), gibs(request), gibs(39.5), gibs(38.5)
		r.Trace = frames(stack...)
	})
}

// onCard adds the name of the card that the log tells.
func onCard(r *classifier.Run, name string) *classifier.Run {
	r.Gauges = append(r.Gauges, classifier.Gauge{Name: "gpu.card", Fields: map[string]string{"card": name, "gb": "32"}})
	return r
}

func TestWhatAnEngineIsToldAndWhatNot(t *testing.T) {
	vllm := func(pairs ...string) *classifier.Run {
		return as(run("vllm", pairs...), "", "vllm", "Qwen/Qwen2.5-14B-Instruct")
	}
	sglang := func(pairs ...string) *classifier.Run {
		return as(run("sglang", pairs...), "", "sglang", "Qwen/Qwen2.5-14B-Instruct")
	}
	const runner = "/x/vllm/v1/worker/gpu_model_runner.py"
	load := []string{runner + "|load_model|", "/x/vllm/model_executor/layers/linear.py|create_weights|torch.empty("}
	forward := []string{runner + "|profile_run|self._dummy_run(", "/x/vllm/model_executor/layers/activation.py|forward_cuda|torch.empty("}
	sampler := []string{runner + "|profile_run|", runner + "|_dummy_sampler_run|self.sampler("}
	adapters := []string{runner + "|load_model|", "/x/vllm/lora/layers.py|create_lora_weights|torch.zeros("}
	prompts := []string{"/x/sglang/srt/model_executor/model_runner.py|forward_extend|", "/x/sglang/srt/layers/activation.py|forward_cuda|torch.empty("}
	capture := []string{"/x/sglang/srt/model_executor/cuda_graph_runner.py|__init__|self.capture()"}
	logprobs := []string{runner + "|_get_prompt_logprobs_dict|self.sampler.compute_logprobs(logits)", "/x/vllm/v1/sample/sampler.py|compute_logprobs|logits.log_softmax("}
	for _, tt := range []struct {
		name  string
		run   *classifier.Run
		in    *classifier.Incident
		want  string
		never []string
	}{
		{"weights that do not fit are quantized while they are read", vllm(), fullCard("init", 0.5, load...), "--quantization=bitsandbytes", []string{"--quantization=fp8", "--max-num-seqs=128", "--enforce-eager=True", "--kv-cache-dtype=fp8"}},
		{"SGLang reads such weights in a format of their own", sglang(), fullCard("init", 0.5, "/x/sglang/srt/model_executor/model_runner.py|load_model|", "/x/sglang/srt/layers/linear.py|create_weights|"), "--load-format=bitsandbytes", []string{"--quantization=fp8"}},
		{"weights that fit are made smaller for the cache", vllm("max_model_len", "32768", "gpu_memory_utilization", "0.95"), cache(tooLong), "--quantization=fp8", []string{"--enforce-eager=True"}},
		{"a card from before Turing has no 8-bit floats", onCard(vllm("max_model_len", "32768", "gpu_memory_utilization", "0.95"), "V100"), cache(tooLong), "--quantization=bitsandbytes", []string{"--quantization=fp8"}},
		{"a cache for one sequence may be of 8 bits", vllm("max_model_len", "32768", "gpu_memory_utilization", "0.95"), cache(tooLong), "--kv-cache-dtype=fp8", nil},
		{"a cache for which there is nothing may not", vllm("max_model_len", "32768", "gpu_memory_utilization", "0.95"), recognized("vllm.no_cache_blocks", cache(noBlocks)), "--max-model-len=16384", []string{"--kv-cache-dtype=fp8", "--enforce-eager=True"}},
		{"the profiling run's forward pass has no rows of sequences", vllm("max_num_batched_tokens", "8192", "max_num_seqs", "256"), fullCard("init", 3, forward...), "--max-num-batched-tokens=512", []string{"--max-num-seqs=128"}},
		{"its sampler has", vllm("max_num_batched_tokens", "8192", "max_num_seqs", "256"), fullCard("init", 0.5, sampler...), "--max-num-seqs=128", nil},
		{"as many as there was room for", vllm("max_num_seqs", "256"), fullCard("rollout", 1, runner+"|execute_model|", "/x/vllm/v1/sample/ops/topk_topp_sampler.py|apply_top_k_top_p|logits.sort("), "--max-num-seqs=64", nil},
		{"log-probabilities of prompts are bounded by the tokens of a step", vllm("max_num_batched_tokens", "8192"), fullCard("rollout", 4.641, logprobs...), "--max-num-batched-tokens=4096", []string{"--max-num-seqs=128"}},
		{"adapters take their room before the cache does", vllm("max_loras", "16"), fullCard("init", 0.5, adapters...), "--max-loras=8", []string{"--quantization=bitsandbytes", "--gpu-memory-utilization=0.83"}},
		{"prompts of SGLang have tokens, however many requests", sglang("chunked_prefill_size", "16384", "max_running_requests", "2048"), fullCard("rollout", 1, prompts...), "--chunked-prefill-size=4096", []string{"--max-running-requests=1024"}},
		{"a capture of graphs processes no prompts", sglang("chunked_prefill_size", "8192", "mem_fraction_static", "0.92", "cuda_graph_max_bs", "256"), fullCard("init", 0.5, capture...), "--cuda-graph-max-bs=16", []string{"--chunked-prefill-size=4096"}},
		{"a cache that ran full wants fewer requests, and no smaller share", sglang("max_running_requests", "64", "mem_fraction_static", "0.85"), recognized("sglang.batch_out_of_memory", cache("Prefill out of memory. Try to lower your batch size.")), "--max-running-requests=32", []string{"--mem-fraction-static=0.75"}},
		{"an engine that wakes has its size", vllm("max_num_batched_tokens", "8192", "gpu_memory_utilization", "0.9"), fullCard("weight_update", 1, "/x/vllm/v1/worker/gpu_worker.py|wake_up|"), "--gpu-memory-utilization=0.83", []string{"--max-num-batched-tokens=4096", "--max-num-seqs=128"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := changesOf(For(tt.run, tt.in))
			assert.Contains(t, got, tt.want)
			for _, no := range tt.never {
				assert.NotContains(t, got, no)
			}
		})
	}
}
