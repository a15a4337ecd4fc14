package remedies

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/parser"
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
		r := as(run("vllm", pairs...), "", "vllm", "Qwen/Qwen2.5-14B-Instruct")
		r.FrameworkVersion = "0.11.0"
		return r
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
	draftPool := fullCard("init", 0.5, "/x/sglang/srt/managers/scheduler.py|__init__|self.draft_worker = EAGLEWorker(", "/x/sglang/srt/speculative/eagle_worker.py|__init__|super().__init__(", "/x/sglang/srt/mem_cache/memory_pool.py|_create_buffers|torch.zeros(")
	rows := fullCard("init", 80, "/x/sglang/srt/model_executor/model_runner.py|init_memory_pool|", "/x/sglang/srt/mem_cache/memory_pool.py|__init__|self.req_to_token = torch.zeros(")
	weighed := func(r *classifier.Run, used float64) *classifier.Run {
		r.Gauges = append(r.Gauges, reading("sglang.mem_weights", map[string]float64{"used": used, "free": 1}))
		return r
	}
	// SGLang reads its weights on a card of which 44 GiB are free, and finds no room for its cache.
	unsized := func(weights float64, readings []classifier.Gauge, pairs ...string) *classifier.Run {
		r := as(run("sglang", pairs...), "", "sglang", "meta-llama/Llama-3.1-70B-Instruct")
		r.Gauges = append(readings, reading("sglang.mem_weights", map[string]float64{"used": weights, "free": 44 - weights}))
		return r
	}
	noPool := recognized("sglang.not_enough_memory", cache("RuntimeError: Not enough memory. Please try to increase --mem-fraction-static."))
	noPool.Root.At = parser.Position{Source: "a.log", Line: 9}
	twoCards := []classifier.Gauge{{Name: "smi.row", Fields: parser.Fields{"device": "0"}}, {Name: "smi.row", Fields: parser.Fields{"device": "1"}}}
	multimodal := classifier.Gauge{Name: "sglang.multimodal_share", Fields: parser.Fields{"share": "0.792"}, At: parser.Position{Source: "a.log", Line: 2}}
	kvAvailable := func(r *classifier.Run) *classifier.Run {
		r.Gauges = append(r.Gauges, reading("vllm.kv_available", map[string]float64{"available": -2}))
		return r
	}
	encodes := func(r *classifier.Run) *classifier.Run {
		r.Gauges = append(r.Gauges, classifier.Gauge{Name: "vllm.encoder_cache", Fields: parser.Fields{"items": "2", "media": "video"}})
		return r
	}
	before091 := func(r *classifier.Run) *classifier.Run {
		r.EngineVersion = "0.8.3"
		r.Gauges = append(r.Gauges, reading("vllm.weights", map[string]float64{"used": 50.6}))
		return r
	}
	drafted := func(r *classifier.Run) *classifier.Run {
		r.Gauges = append(r.Gauges, reading("vllm.weights", map[string]float64{"used": 8}))
		return r
	}
	listed := func(r *classifier.Run) *classifier.Run {
		for _, card := range []string{"0", "1", "2", "3"} {
			r.Gauges = append(r.Gauges, classifier.Gauge{Name: "smi.row", Fields: parser.Fields{"device": card}})
		}
		r.Gauges = append(r.Gauges, classifier.Gauge{Name: "smi.process", Fields: parser.Fields{"device": "1", "pid": "17345", "comm": "python", "used": itoa(*gibs(9.6))}})
		return r
	}
	alone := func(r *classifier.Run) *classifier.Run {
		r.Gauges = append(r.Gauges, classifier.Gauge{Name: "vllm.profiles_one"})
		return r
	}
	prefilled := func(r *classifier.Run, tokens string) *classifier.Run {
		r.Gauges = append(r.Gauges, classifier.Gauge{Name: "sglang.prefill", Fields: parser.Fields{"tokens": tokens}, At: parser.Position{Source: "a.log", Line: 2}})
		return r
	}
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
		{"nor quantized for a cache that lacks more than they take, and the length goes down with the cache", before091(vllm("max_seq_len", "10485760")), func() *classifier.Incident {
			in := with(cache("To serve at least one request with the models's max seq len (10485760), (480.00 GiB KV cache is needed, which is larger than the available KV cache memory (16.90 GiB)"), func(r *classifier.Root) {
				r.Requested, r.Total, r.At = gibs(480), gibs(79.1), parser.Position{Source: "a.log", Line: 9}
			})
			in.Shortfall = gibs(463.1)
			return in
		}(), "--max-model-len=368640", []string{"--quantization=fp8", "--tensor-parallel-size"}},
		{"a card whose model leaves so little is no larger than a share can help", vllm("max_model_len", "131072"), func() *classifier.Incident {
			in := with(cache("To serve at least one request with the models's max seq len (131072), (24.00 GiB KV cache is needed, which is larger than the available KV cache memory (8.50 GiB)."), func(r *classifier.Root) { r.Requested = gibs(24) })
			in.Shortfall = gibs(15.5)
			return in
		}(), "--max-model-len=46384", []string{"--gpu-memory-utilization=0.95"}},
		{"a card that others hold a quarter of may be shared", vllm("gpu_memory_utilization", "0.9"), with(cache(desired), func(r *classifier.Root) { r.Pattern, r.Free, r.Total = "vllm.free_memory", gibs(58), gibs(79) }), "--gpu-memory-utilization=0.7", nil},
		{"a card from before Turing has no 8-bit floats", onCard(vllm("max_model_len", "32768", "gpu_memory_utilization", "0.95", "kv_cache_dtype", "fp8"), "V100"), cache(tooLong), "--quantization=bitsandbytes", []string{"--quantization=fp8"}},
		{"a cache for one sequence may be of 8 bits", vllm("max_model_len", "32768", "gpu_memory_utilization", "0.95"), cache(tooLong), "--kv-cache-dtype=fp8", nil},
		{"a cache for which there is nothing may not", vllm("max_model_len", "32768", "gpu_memory_utilization", "0.95"), with(recognized("vllm.no_cache_blocks", cache(noBlocks)), func(r *classifier.Root) {
			r.Trace = frames("/x/vllm/worker/worker.py|raise_if_cache_size_invalid|raise ValueError(")
		}), "--max-model-len=16384", []string{"--kv-cache-dtype=fp8", "--enforce-eager=True"}},
		{"the profiling run's forward pass has no rows of sequences", vllm("max_num_batched_tokens", "8192", "max_num_seqs", "256"), fullCard("init", 3, forward...), "--max-num-batched-tokens=512", []string{"--max-num-seqs=128"}},
		{"a step far above any default goes back to one", vllm("max_num_batched_tokens", "3600000"), fullCard("init", 34, forward...), "--max-num-batched-tokens=8192", nil},
		{"the encoder of a model with a decoder has", vllm("max_num_seqs", "256", "max_model_len", "448"), fullCard("init", 3, "/x/vllm/worker/enc_dec_model_runner.py|profile_run|", "/x/vllm/model_executor/models/whisper.py|get_encoder_outputs|"), "--max-num-seqs=32", []string{"--max-model-len=256", "--max-num-batched-tokens=1024"}},
		{"its sampler has", vllm("max_num_batched_tokens", "8192", "max_num_seqs", "256"), fullCard("init", 0.5, sampler...), "--max-num-seqs=128", []string{"--tensor-parallel-size"}},
		{"as many as there was room for", vllm("max_num_seqs", "256"), fullCard("rollout", 1, runner+"|execute_model|", "/x/vllm/v1/sample/ops/topk_topp_sampler.py|apply_top_k_top_p|logits.sort("), "--max-num-seqs=64", nil},
		{"log-probabilities of prompts are bounded by the tokens of a step", vllm("max_num_batched_tokens", "8192"), fullCard("rollout", 4.641, logprobs...), "--max-num-batched-tokens=4096", []string{"--max-num-seqs=128"}},
		{"adapters take their room before the cache does", vllm("max_loras", "16"), fullCard("init", 0.5, adapters...), "--max-loras=8", []string{"--quantization=bitsandbytes", "--gpu-memory-utilization=0.83"}},
		{"prompts of SGLang have tokens, however many requests", sglang("chunked_prefill_size", "16384", "max_running_requests", "2048"), fullCard("rollout", 1, prompts...), "--chunked-prefill-size=4096", []string{"--max-running-requests=1024"}},
		{"a capture of graphs processes no prompts", sglang("chunked_prefill_size", "8192", "mem_fraction_static", "0.92", "cuda_graph_max_bs", "256"), fullCard("init", 0.5, capture...), "--cuda-graph-max-bs=16", []string{"--chunked-prefill-size=4096"}},
		{"graphs are captured for no more than the requests that may run", sglang("mem_fraction_static", "0.92", "max_running_requests", "2"), fullCard("init", 0.5, capture...), "--mem-fraction-static=0.86", []string{"--cuda-graph-max-bs=16", "--max-running-requests=1"}},
		{"nor for many more than vLLM's sequences", vllm("gpu_memory_utilization", "0.95", "max_num_seqs", "4"), fullCard("init", 0.5, runner+"|capture_model|"), "--gpu-memory-utilization=0.89", []string{"--cudagraph-capture-sizes=1 2 4 8 16"}},
		{"a chunk's logits have a row for each token", sglang("max_running_requests", "2992", "mem_fraction_static", "0.87"), fullCard("rollout", 4.41, "/x/sglang/srt/model_executor/model_runner.py|forward_extend|", "/x/sglang/srt/layers/logits_processor.py|_get_logits|logits = logits.float()"), "--chunked-prefill-size=2048", []string{"--max-running-requests=1496"}},
		{"adapters get no higher rank than one has", vllm("max_loras", "16", "max_lora_rank", "256", "r", "20"), fullCard("init", 0.5, adapters...), "--max-lora-rank=32", nil},
		{"adapters in host memory are as many as set", vllm("max_cpu_loras", "64"), killed("init", "Out of memory: Killed process 1 (VLLM::EngineCore)"), "--max-cpu-loras=32", nil},
		{"a cache that ran full wants fewer requests, and no smaller share", sglang("max_running_requests", "64", "mem_fraction_static", "0.85"), recognized("sglang.batch_out_of_memory", cache("Prefill out of memory. Try to lower your batch size.")), "--max-running-requests=32", []string{"--mem-fraction-static=0.75"}},
		{"a draft model of the main model's size halves the share", weighed(sglang("mem_fraction_static", "0.6", "tensor_parallel_size", "4"), 7), draftPool, "--mem-fraction-static=0.47", []string{"--chunked-prefill-size=4096", "--cuda-graph-max-bs=16", "--disable-cuda-graph=True"}},
		{"or the tokens of both caches", weighed(sglang("mem_fraction_static", "0.6", "max_total_num_tokens", "791204"), 30), draftPool, "--max-total-tokens=395602", nil},
		{"a small one leaves the usual step", weighed(sglang("mem_fraction_static", "0.6", "tensor_parallel_size", "4"), 1), draftPool, "--mem-fraction-static=0.54", nil},
		{"where another pool failed, there is no draft model", weighed(sglang("mem_fraction_static", "0.6", "tensor_parallel_size", "4"), 7), fullCard("init", 0.5, "/x/sglang/srt/managers/scheduler.py|__init__|", "/x/sglang/srt/mem_cache/memory_pool.py|_create_buffers|torch.zeros("), "--mem-fraction-static=0.54", []string{"--mem-fraction-static=0.47", "--max-total-tokens", "--quantization=fp8"}},
		{"vLLM reads a draft model beside the weights", vllm(), fullCard("init", 0.5, runner+"|load_model|", "/x/vllm/v1/spec_decode/eagle.py|load_model|", "/x/vllm/model_executor/layers/linear.py|create_weights|torch.empty("), "--speculative-config=a smaller draft model, or none", []string{"--quantization=bitsandbytes"}},
		{"V0 plans its cache as if a draft model took nothing", drafted(vllm("speculative_model", "/m/draft", "gpu_memory_utilization", "0.95")), with(fullCard("init", 0.3, "/x/vllm/spec_decode/spec_decode_worker.py|initialize_cache|", "/x/vllm/worker/cache_engine.py|__init__|", "/x/vllm/worker/cache_engine.py|_allocate_kv_cache|"), func(r *classifier.Root) { r.ReservedUnallocated = gibs(0.5) }), "--gpu-memory-utilization=0.78", []string{"--quantization=fp8", "--enforce-eager=True"}},
		{"SGLang's head for EAGLE comes after the cache and wants room, too", unsized(37, twoCards, "mem_fraction_static", "0.84", "speculative_algorithm", "EAGLE", "tp_size", "1"), noPool, "--tp-size=2", []string{"--mem-fraction-static=0.87", "--mem-fraction-static=0.9"}},
		{"without one the cache may have it", unsized(37, nil, "mem_fraction_static", "0.84", "speculative_algorithm", "None", "tp_size", "1"), noPool, "--mem-fraction-static=0.87", []string{"--speculative-draft-model-path=a smaller draft model"}},
		{"a share that SGLang cuts for a multimodal model is raised by as much", unsized(35.7, []classifier.Gauge{multimodal}, "mem_fraction_static", "0.88", "context_length", "8192"), noPool, "--mem-fraction-static=0.93", nil},
		{"a server of one card has no other one", unsized(37, twoCards[:1], "mem_fraction_static", "0.84", "tp_size", "1"), noPool, "--mem-fraction-static=0.87", []string{"--tp-size", "--tp-size=2"}},
		{"the table of the requests' tokens is not in the plan of the cache", sglang("context_length", "2800000", "mem_fraction_static", "0.81"), fullCard("init", 0.4, "/x/sglang/srt/model_executor/model_runner.py|init_memory_pool|", "/x/sglang/srt/mem_cache/memory_pool.py|_create_buffers|torch.zeros("), "--context-length=131072", []string{"--mem-fraction-static=0.75", "--cuda-graph-max-bs=16"}},
		{"nor is it large where a context is short", sglang("context_length", "8192", "mem_fraction_static", "0.81"), fullCard("init", 0.4, "/x/sglang/srt/model_executor/model_runner.py|init_memory_pool|", "/x/sglang/srt/mem_cache/memory_pool.py|_create_buffers|torch.zeros("), "--mem-fraction-static=0.75", []string{"--context-length=4096"}},
		{"a server takes as many free cards as it uses", listed(sglang("tp_size", "2", "CUDA_VISIBLE_DEVICES", "0,1")), cache("ValueError: The memory capacity is unbalanced. Some GPUs may be occupied by other processes."), "CUDA_VISIBLE_DEVICES=0,2", nil},
		{"the table of the requests' tokens wants a shorter context", sglang("chunked_prefill_size", "8192"), rows, "--context-length=131072", []string{"--chunked-prefill-size=4096", "--quantization=fp8"}},
		{"SGLang-Omni's encoders lie beside its thinker", sglang("mem_fraction_static", "0.88"), with(fullCard("forward", 1.5, "/x/sglang_omni/models/qwen3_omni/components/image_encoder.py|forward|self.visual("), func(r *classifier.Root) {
			r.ProcessBytes, r.Allocated, r.OtherProcesses = gibs(6), gibs(5), gibs(33)
		}), "--encoder-mem-reserve=0.2", nil},
		{"or fewer requests", sglang("context_length", "1048576"), rows, "--max-running-requests=256", []string{"--quantization=fp8"}},
		{"a prefill larger than the default shows that it is not the default", prefilled(sglang(), "16384"), fullCard("rollout", 1, prompts...), "--chunked-prefill-size=4096", nil},
		{"weights a little larger than the card go to the host in part", as(run("vllm"), "", "vllm", "Qwen/Qwen2.5-32B-Instruct"), fullCard("init", 0.5, load...), "--cpu-offload-gb=32", nil},
		{"a model that eight GPUs do not hold goes over two nodes", sglang("tp_size", "8"), fullCard("init", 0.5, "/x/sglang/srt/model_executor/model_runner.py|load_model|self.model = get_model(", "/x/sglang/srt/layers/quantization/fp8.py|create_weights|torch.empty("), "--nnodes=2", nil},
		{"with vLLM in stages", vllm("tensor_parallel_size", "8"), fullCard("init", 0.5, load...), "--pipeline-parallel-size=2", []string{"--tensor-parallel-size=16"}},
		{"but not nearly all of them", as(run("vllm"), "", "vllm", "Qwen/Qwen2.5-72B-Instruct"), fullCard("init", 0.5, load...), "--quantization=bitsandbytes", []string{"--cpu-offload-gb=32"}},
		{"weights that are published in 8 bits are not quantized again", as(run("vllm", "gpu_memory_utilization", "0.95", "max_model_len", "32768"), "", "vllm", "deepseek-ai/DeepSeek-R1"), cache(tooLong), "--kv-cache-dtype=fp8", []string{"--quantization=fp8", "--quantization=bitsandbytes"}},
		{"GPUs by SGLang's short flag share the weights", as(run("sglang", "--tp", "4", "--mem-fraction-static", "0.9"), "", "sglang", "Qwen/Qwen2.5-72B-Instruct"), with(fullCard("rollout", 4.641, "/x/sglang/srt/model_executor/model_runner.py|forward_extend|", "/x/sglang/srt/layers/logits_processor.py|_get_logits|"), func(r *classifier.Root) {
			r.Total, r.Free, r.ProcessBytes, r.Allocated = gibs(79.1), gibs(3.51), gibs(75.57), gibs(72.4)
		}), "--mem-fraction-static=0.83", []string{"--tp=16"}},
		{"nor is it of a length where a text model leaves nothing for a cache", kvAvailable(vllm("max_model_len", "32768", "gpu_memory_utilization", "0.9")), recognized("vllm.no_cache_blocks", cache(noBlocks)), "--gpu-memory-utilization=0.95", []string{"--max-model-len=16384"}},
		{"whether or not V1 printed what is left", vllm("max_model_len", "32768"), with(recognized("vllm.no_cache_blocks", cache(noBlocks)), func(r *classifier.Root) {
			r.Trace = frames("/x/vllm/v1/core/kv_cache_utils.py|check_enough_kv_cache_memory|raise ValueError(")
		}), "--gpu-memory-utilization=0.95", []string{"--max-model-len=16384"}},
		{"pictures beside it are made smaller", encodes(kvAvailable(vllm("max_model_len", "32768"))), recognized("vllm.no_cache_blocks", cache(noBlocks)), "--limit-mm-per-prompt={\"image\": 1, \"video\": 0}", nil},
		{"one sequence is profiled already", alone(vllm("max_num_seqs", "32", "limit_mm_per_prompt", "{'image': 10}")), fullCard("init", 5, "/x/vllm/worker/model_runner.py|profile_run|", "/x/vllm/model_executor/models/qwen2_5_vl.py|forward|self.visual(", "/x/vllm/model_executor/models/qwen2_5_vl.py|forward|self.attn("), "--limit-mm-per-prompt={\"image\": 1, \"video\": 0}", []string{"--max-num-seqs=16"}},
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

func TestWhatOtherProgramsAreToldAndWhatNot(t *testing.T) {
	app := func(id string, pairs ...string) *classifier.Run {
		r := run("torch", pairs...)
		r.Application = id
		return r
	}
	read := func(r *classifier.Run, name string, fields parser.Fields) *classifier.Run {
		r.Gauges = append(r.Gauges, classifier.Gauge{Name: name, Fields: fields, At: parser.Position{Source: "a.log", Line: 2}})
		return r
	}
	driver := func(phase, message string, request float64, fields parser.Fields) *classifier.Incident {
		in := &classifier.Incident{Kind: parser.GPUDriverOOM, Resource: "gpu", Phase: phase, Root: rootOf(message)}
		in.Root.Requested, in.Root.At, in.Root.Fields = gibs(request), parser.Position{Source: "a.log", Line: 9}, fields
		return in
	}
	gguf := func(pairs ...string) *classifier.Run {
		r := app("llamacpp", pairs...)
		read(r, "ggml.device", parser.Fields{"device": "0", "free": itoa(*gibs(23))})
		return read(r, "ggml.weights", parser.Fields{"device": "0", "used": itoa(*gibs(18))})
	}
	twoCards := func(split string) *classifier.Run {
		r := app("llamacpp", "-ts", split, "--ctx-size", "65536")
		read(r, "ggml.device", parser.Fields{"device": "0", "free": itoa(*gibs(15.5))})
		return read(r, "ggml.device", parser.Fields{"device": "1", "free": itoa(*gibs(15.4))})
	}
	host := func(phase, message string) *classifier.Incident {
		return with(&classifier.Incident{Kind: parser.HostOOM, Resource: "host", Phase: phase}, func(r *classifier.Root) { *r = rootOf(message) })
	}
	const kv, weights = "llama_init_from_model: failed to initialize the context: failed to allocate buffer for kv cache", "llama_model_load: error loading model: unable to allocate CUDA0 buffer"
	contextOf := parser.Fields{"method": "kv cache"}
	onCard := func(n int, in *classifier.Incident) *classifier.Incident { in.Root.Device = &n; return in }
	launchedBy := func(launcher string, r *classifier.Run) *classifier.Run { r.Launcher = launcher; return r }
	requested := func(pattern string, in *classifier.Incident, needed, free float64) *classifier.Incident {
		in.Root.Requested, in.Root.Free = gibs(needed), gibs(free)
		return recognized(pattern, in)
	}
	cached := killed("data", "Out of memory: Killed process 1 (python)")
	cached.PhaseWhy = "The last stage logged before it: train: Caching images (26.4GB ram):  82%|"
	for _, tt := range []struct {
		name  string
		run   *classifier.Run
		in    *classifier.Incident
		want  string
		never []string
	}{
		{"as long a context as fits beside the weights", gguf("--ctx-size", "65536"), driver("init", kv, 16, contextOf), "--ctx-size=16384", []string{"--ubatch-size=256"}},
		{"beside the cache of layers with a sliding window", gguf("--ctx-size", "65536", "n_swa", "1024", "n_ubatch", "512", "n_layer", "64", "n_embd_k_gqa", "2048", "n_embd_v_gqa", "2048"), driver("init", kv, 16, contextOf), "--ctx-size=13312", []string{"--ctx-size=16384"}},
		{"a draft model has a cache of its own", read(app("llamacpp", "-ctk", "q8_0", "-ctv", "q8_0"), "ggml.draft", nil), driver("init", "graph_reserve: failed to allocate compute buffers", 1, nil), "--cache-type-k-draft=q8_0", []string{"-ctk=q8_0", "--cache-type-k=q8_0"}},
		{"but not where the server failed at work", read(app("llamacpp", "--ubatch-size", "512"), "ggml.draft", nil), driver("rollout", "CUDA error: out of memory", 1, nil), "--ubatch-size=256", []string{"--cache-type-k-draft=q8_0"}},
		{"a context holds the longest prompt that came", read(app("llamacpp", "--ctx-size", "262144"), "ggml.prompt", parser.Fields{"count": "155008"}), driver("rollout", "CUDA error: out of memory", 1, nil), "--ctx-size=163840", nil},
		{"half of it where prompts are short", read(app("llamacpp", "--ctx-size", "262144"), "ggml.prompt", parser.Fields{"count": "3000"}), driver("rollout", "CUDA error: out of memory", 1, nil), "--ctx-size=131072", nil},
		{"layers that are set switch fitting off", read(gguf("-ngl", "99"), "ggml.build", parser.Fields{"count": "8763"}), driver("rollout", "CUDA error: out of memory", 1, nil), "--ubatch-size=256", []string{"--fit-target=2048"}},
		{"the card that failed gets its part of what is free", twoCards("0.49,0.51"), onCard(1, driver("init", "graph_reserve: failed to allocate compute buffers", 1, nil)), "-ts=1,1", nil},
		{"unless it has no more than that", twoCards("0.51,0.49"), onCard(1, driver("init", "graph_reserve: failed to allocate compute buffers", 1, nil)), "--ctx-size=32768", []string{"-ts=1,1"}},
		{"half of it where the weights are not known", app("llamacpp", "--ctx-size", "65536"), driver("init", kv, 16, contextOf), "--ctx-size=32768", nil},
		{"a build that fits models itself need not be told how many layers", read(gguf("-ngl", "99", "n_layer", "64"), "ggml.build", parser.Fields{"count": "8763"}), driver("init", weights, 40, nil), "-ngl=auto", nil},
		{"a layer takes its part of the context's cache to the card", gguf("-ngl", "99", "-c", "65536", "n_layer", "64", "n_embd_k_gqa", "1024", "n_embd_v_gqa", "1024"), recognized("ggml.load", driver("init", weights, 40, nil)), "-ngl=25", nil},
		{"an older one must", read(gguf("-ngl", "99", "n_layer", "64"), "ggml.build", parser.Fields{"count": "6700"}), driver("init", weights, 40, nil), "-ngl=34", []string{"-ngl=auto"}},
		{"what is free on another card does not count", read(gguf("-ngl", "99", "n_layer", "64"), "ggml.device", parser.Fields{"device": "1", "free": itoa(*gibs(10))}), onCard(0, driver("init", weights, 40, nil)), "-ngl=34", nil},
		{"the buffer of Ollama's layers shows how many fit", read(app("ollama", "--n-gpu-layers", "5", "n_layer", "61"), "ggml.device", parser.Fields{"device": "0", "free": itoa(*gibs(23))}), driver("init", weights, 32, nil), "num_gpu=3", []string{"num_gpu=4"}},
		{"a pipeline's copies of experts need another build", read(gguf("--ctx-size", "65536", "-ot", "exps=CPU", "n_layer", "61"), "ggml.copies", parser.Fields{"count": "4"}), driver("init", "ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 292926534144", 272, nil), "-DGGML_SCHED_MAX_COPIES=1", []string{"--ctx-size=32768", "--ubatch-size=256", "--cpu-moe=True"}},
		{"a compute buffer does not show how many fit", read(app("ollama", "--n-gpu-layers", "40", "n_layer", "61"), "ggml.device", parser.Fields{"device": "0", "free": itoa(*gibs(23))}), recognized("ggml.malloc", driver("init", "ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 64424509440", 60, nil)), "num_gpu=36", []string{"num_gpu=14"}},
		{"without flash attention the scores of a step take room, too", gguf("--ctx-size", "65536", "flash_attn", "0", "n_ubatch", "512", "n_head", "32"), driver("init", kv, 16, contextOf), "--ctx-size=12288", nil},
		{"values are quantized only with flash attention", gguf("--ctx-size", "65536", "flash_attn", "0"), driver("init", kv, 5, contextOf), "--cache-type-k=q8_0", []string{"--cache-type-v=q8_0"}},
		{"which early builds lack", gguf("--ctx-size", "65536", "freq_base", "10000.0"), driver("init", "graph_reserve: failed to allocate compute buffers", 1, nil), "--ctx-size=32768", []string{"--flash-attn=on", "--cache-type-v=q8_0"}},
		{"a context that nobody set is shortened first", read(app("llamacpp", "n_ctx", "131072", "n_ctx_train", "131072"), "ggml.build", parser.Fields{"count": "8763"}), driver("init", "graph_reserve: failed to allocate compute buffers", 1, nil), "--ctx-size=8192", nil},
		{"an engine that keeps the logits of all tokens is built without them", app("trtllm", "--gather_all_token_logits", "True"), driver("rollout", "[TensorRT-LLM][ERROR] CUDA runtime error in cudaMalloc: out of memory", 1, nil), "--gather_all_token_logits=False", []string{"cuda_graph_config.max_batch_size=32"}},
		{"a script that trains has no pipeline", app("diffusers", "train_batch_size", "2", "learning_rate", "1e-5"), fullCard("backward", 1, "/x/train_controlnet.py|main|accelerator.backward(loss)", "/x/diffusers/models/attention.py|forward|"), "--gradient_checkpointing=True", []string{"pipe.enable_model_cpu_offload()=True"}},
		{"a server that offloads its models is told of layers", app("diffusers", "--cpu-offload", "True"), fullCard("rollout", 1, "/x/diffusers/pipelines/flux/pipeline_flux.py|__call__|latents", "/x/diffusers/models/autoencoders/autoencoder_kl.py|_decode|"), "pipe.enable_sequential_cpu_offload()=True", []string{"pipe.enable_model_cpu_offload()=True"}},
		{"an actor of Ray that may see every card takes the first", as(run("vllm", "RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES", "1"), "", "vllm", "Qwen/Qwen2.5-7B-Instruct"), with(fullCard("init", 0.5, "/x/vllm/model_executor/layers/linear.py|create_weights|"), func(r *classifier.Root) {
			r.ProcessBytes, r.Allocated, r.OtherProcesses = gibs(8), gibs(7.5), gibs(31)
		}), "RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES=unset RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES", nil},
		{"experts leave the card first", gguf("-ngl", "99", "n_layer", "64", "n_expert", "128"), driver("init", weights, 130, nil), "--cpu-moe=True", nil},
		{"a model without experts has none to move", gguf("-ngl", "99", "n_layer", "64", "n_expert", "0"), driver("init", weights, 40, nil), "-ngl=34", []string{"--cpu-moe=True"}},
		{"a copy of the file need not be in memory", app("llamacpp", "--no-mmap", "True"), host("init", "llama_model_load: error loading model: unable to allocate CPU buffer"), "--no-mmap=False", nil},
		{"Ollama loads what num_gpu asks for, whatever it planned", app("ollama", "num_gpu", "99", "layers.requested", "99", "layers.offload", "52"), recognized("ggml.malloc", driver("init", "ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 1184890880", 1.1, nil)), "num_gpu=52", []string{"OLLAMA_GPU_OVERHEAD=1073741824"}},
		{"flash attention that is on is not switched on", app("ollama", "OLLAMA_FLASH_ATTENTION", "true", "--ctx-size", "16384"), driver("init", kv, 4, contextOf), "OLLAMA_KV_CACHE_TYPE=q8_0", []string{"OLLAMA_FLASH_ATTENTION=1"}},
		{"a prompt of TGI is no longer than its step", app("tgi", "max_batch_prefill_tokens", "16384", "max_input_tokens", "16000"), fullCard("rollout", 1, "/x/models/flash_causal_lm.py|generate_token|", "/x/layers/activation.py|forward|"), "--max-input-tokens=8192", nil},
		{"a prompt that fits keeps its length", app("tgi", "max_batch_prefill_tokens", "16384", "max_input_tokens", "4096"), fullCard("rollout", 1, "/x/models/flash_causal_lm.py|generate_token|", "/x/layers/activation.py|forward|"), "--max-batch-prefill-tokens=8192", []string{"--max-input-tokens=8192"}},
		{"TGI of early 2023 has a batch size, and no share of the card", app("tgi", "max_batch_size", "32", "max_input_length", "1024"), with(fullCard("rollout", 1, "/x/server.py|Prefill|return self.model(self.revision)", "/x/models/causal_lm.py|generate_token|"), func(r *classifier.Root) {
			r.Dated = time.Date(2023, 4, 8, 0, 0, 0, 0, time.UTC)
		}), "--max-batch-size=16", []string{"--cuda-memory-fraction", "--max-batch-prefill-tokens"}},
		{"LMDeploy's vision tower is outside of its step", app("lmdeploy", "cache_max_entry_count", "0.8", "max_prefill_token_num", "8192", "vision_max_batch_size", "32"), fullCard("rollout", 1, "/x/lmdeploy/vl/engine.py|forward|", "/x/modeling_intern_vit.py|forward|self.vision_model("), "--vision-max-batch-size=16", []string{"--max-prefill-token-num"}},
		{"TurboMind's cache is a share of what is free, whatever the weights leave", app("lmdeploy", "cache_max_entry_count", "0.8", "session_len", "32768", "tp", "1"), func() *classifier.Incident {
			in := driver("init", "[TM][ERROR] CUDA runtime error: out of memory allocator.cc:49", 1, nil)
			in.PhaseWhy = "The last stage logged before it, line 84: [TM][INFO] [BlockManager] block_size = 4.000 MB"
			return in
		}(), "--cache-max-entry-count=0.2", []string{"--session-len=16384", "--tp=2", "--quant-policy=8"}},
		{"LMDeploy's weights in AWQ need no other checkpoint", app("lmdeploy", "cache_max_entry_count", "0.8", "model_format", "awq"), fullCard("rollout", 1, "/x/lmdeploy/vl/engine.py|forward|"), "--cache-max-entry-count=0.53", []string{"checkpoint=one of the model in AWQ"}},
		{"SGLang's share leaves its cache nothing, whatever a token takes", app("sglang", "mem_fraction_static", "0.75", "context_length", "16384"), recognized("sglang.not_enough_memory", &classifier.Incident{Kind: parser.KVCache, Resource: "gpu", Phase: "init", Root: rootOf("RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.")}), "--mem-fraction-static=0.85", []string{"--context-length=8192", "--kv-cache-dtype=fp8_e5m2"}},
		{"its prompts are not", app("lmdeploy", "max_prefill_token_num", "8192"), fullCard("rollout", 1, "/x/lmdeploy/pytorch/engine/engine.py|forward|", "/x/models/llama.py|forward|"), "--max-prefill-token-num=4096", []string{"--vision-max-batch-size"}},
		{"TGI's shards are those of one node, and no prompt comes before the weights", app("tgi", "num_shard", "8"), fullCard("init", 0.5, "/x/models/flash_llama.py|__init__|", "/x/text_generation_server/utils/weights.py|get_multi_weights_col|"), "--quantize=bitsandbytes-nf4", []string{"--num-shard", "--num-shard=16", "--max-batch-prefill-tokens=2048", "--cuda-graphs=1,2,4"}},
		{"logits of a chunk shrink until they fit into what was free", app("sglang", "chunked_prefill_size", "8192"), fullCard("rollout", 4, "/x/sglang/srt/layers/logits_processor.py|_get_logits|logits = logits.float()"), "--chunked-prefill-size=2048", nil},
		{"half of a chunk is enough for a small request", app("sglang", "chunked_prefill_size", "8192"), fullCard("rollout", 0.4, "/x/sglang/srt/layers/logits_processor.py|_get_logits|logits = logits.float()"), "--chunked-prefill-size=4096", nil},
		{"TGI takes all cards unless it is told otherwise", app("tgi"), fullCard("init", 0.5, "/x/models/flash_llama.py|__init__|", "/x/utils/weights.py|get_sharded|"), "--quantize=bitsandbytes-nf4", []string{"--num-shard"}},
		{"LMDeploy's share does not matter while weights are read", app("lmdeploy", "tp", "1", "max_prefill_token_num", "8192"), fullCard("init", 0.5, "/x/lmdeploy/turbomind/deploy/target_model/base.py|export|self.model_comm.create_weights()"), "--tp=2", []string{"--cache-max-entry-count=0.2", "--max-prefill-token-num=4096"}},
		{"weights that bitsandbytes quantizes have no 16 bits to be loaded in", run("torch"), fullCard("init", 0.5, "/x/transformers/modeling_utils.py|from_pretrained|", "/x/bitsandbytes/functional.py|quantize_4bit|torch.zeros("), "device_map=auto", []string{"torch_dtype=bfloat16"}},
		{"DataParallel works with one card, too", run("torch"), fullCard("forward", 4, "/x/torch/nn/parallel/scatter_gather.py|gather|"), "CUDA_VISIBLE_DEVICES=0", nil},
		{"an array too large for memory may be a file", run("unknown"), host("unknown", "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 298. GiB for an array with shape (4000000, 10000)"), `np.memmap=np.memmap("array.bin", dtype="float32", mode="w+", shape=shape)`, nil},
		{"processes of Dataset.map are as many as its progress tells", read(run("torch"), "trainer.dataset_processes", parser.Fields{"count": "64"}), with(killed("data", "RuntimeError: One of the subprocesses has abruptly died during map operation"), func(r *classifier.Root) { r.At = parser.Position{Source: "a.log", Line: 9} }), "num_proc=16", nil},
		{"workers of the data loader do not run while Dataset.map does", launchedBy("slurm", run("torch", "preprocessing_num_workers", "4", "dataloader_num_workers", "2")), with(killed("data", "RuntimeError: One of the subprocesses has abruptly died during map operation"), func(r *classifier.Root) {
			r.Trace = frames("/x/datasets/arrow_dataset.py|map|for rank, done, content in iflatmap_unordered(")
		}), "preprocessing_num_workers=1", []string{"dataloader_num_workers=1"}},
		{"nor while YOLO reads all images into memory", launchedBy("slurm", run("torch", "cache", "ram", "workers", "8")), cached, "cache=False", []string{"workers=2", "workers=4"}},
		{"a model of a script's own is halved itself", run("torch"), fullCard("init", 0.5, "/x/esm/build.py|load_model|return model.to(device)", "/x/torch/nn/modules/module.py|convert|return t.to("), "model.half=model.half()", []string{"torch_dtype=bfloat16"}},
		{"Whisper has smaller models", run("torch"), fullCard("init", 0.5, "/x/whisper/__init__.py|load_model|return model.to(device)", "/x/torch/nn/modules/module.py|convert|return t.to("), "model=turbo, medium or small", []string{"model.half=model.half()"}},
		{"fewer slots of Ollama take less host memory", app("ollama", "OLLAMA_NUM_PARALLEL", "0", "memory.required.kv", "10.0 GiB", "completionOptions.numCtx", "16384"), requested("ollama.system_memory", host("init", "model requires more system memory (21.7 GiB) than is available (19.6 GiB)"), 21.7, 19.6), "OLLAMA_NUM_PARALLEL=1", []string{"OLLAMA_CONTEXT_LENGTH=2048"}},
		{"which a small cache does not need", app("ollama", "OLLAMA_NUM_PARALLEL", "0", "memory.required.kv", "1.0 GiB"), requested("ollama.system_memory", host("init", "model requires more system memory (21.7 GiB) than is available (19.6 GiB)"), 21.7, 19.6), "model=a tag of a smaller quantization or size", []string{"OLLAMA_NUM_PARALLEL=1"}},
		{"one of transformers is told its type", run("torch"), fullCard("init", 0.5, "/x/app.py|main|AutoModel.from_pretrained(name).to(device)", "/x/torch/nn/modules/module.py|convert|return t.to("), "torch_dtype=bfloat16", []string{"model.half=model.half()"}},
		{"a file that is read whole may be mapped", run("torch"), with(host("checkpoint", "DefaultCPUAllocator: can't allocate memory: you tried to allocate 2097152000 bytes"), func(r *classifier.Root) {
			r.Trace = frames(`/x/merge.py|main|torch.load("a.bin", map_location="cpu")`, "/x/torch/serialization.py|load|return _load(")
		}), `torch.load=torch.load(path, map_location="cpu", mmap=True)`, nil},
		{"what a card lacks beside its own process is others'", as(run("sglang"), "", "sglang", "Qwen/Qwen2.5-14B-Instruct"), with(fullCard("init", 0.5, "/x/sglang/srt/model_executor/model_runner.py|load_model|", "/x/sglang/srt/layers/linear.py|create_weights|"), func(r *classifier.Root) {
			r.ProcessBytes, r.Allocated, r.ReservedUnallocated = gibs(12), gibs(11.5), gibs(0.01)
		}), "other processes=nvidia-smi --query-compute-apps=pid,used_memory --format=csv", []string{"--quantization=bitsandbytes"}},
		{"a process that the driver tells nothing of fills the card itself", as(run("sglang"), "", "sglang", "Qwen/Qwen2.5-14B-Instruct"), with(fullCard("init", 0.5, "/x/sglang/srt/model_executor/model_runner.py|load_model|", "/x/sglang/srt/layers/linear.py|create_weights|"), func(r *classifier.Root) {
			r.ProcessBytes, r.ReservedUnallocated = gibs(0), gibs(0.01)
		}), "--quantization=bitsandbytes", []string{"other processes=nvidia-smi --query-compute-apps=pid,used_memory --format=csv"}},
		{"an evicted pod requests what it used", run("torch"), with(killed("training", "The node was low on resource: memory. Container train was using 61Gi, request is 16Gi"), func(r *classifier.Root) {
			r.Pattern, r.Fields = "kubernetes.evicted", parser.Fields{"used": itoa(*gibs(61))}
		}), "resources.requests.memory=68Gi", []string{"resources.limits.memory=96Gi"}},
		{"JAX that was refused its pool does not reserve more", run("jax"), with(recognized("xla.from_device", gpuOOM("unknown")), func(r *classifier.Root) { r.Requested = gibs(0.25) }), "XLA_PYTHON_CLIENT_PREALLOCATE=false", []string{"XLA_PYTHON_CLIENT_MEM_FRACTION=0.85"}},
		{"a pipeline that denoises decodes nothing", app("diffusers", "num_images_per_prompt", "8"), fullCard("rollout", 1, "/x/diffusers/pipelines/flux/pipeline_flux.py|__call__|self.transformer(", "/x/diffusers/models/attention.py|forward|"), "num_images_per_prompt=4", []string{"pipe.vae.enable_tiling()=True"}},
		{"a wrapper's node decodes in tiles by its own switch", app("comfyui"), fullCard("forward", 1, "/x/custom_nodes/ComfyUI-CogVideoXWrapper/nodes.py|decode|frames = vae.decode(latents).sample", "/x/diffusers/models/autoencoders/autoencoder_kl_cogvideox.py|forward|"), "enable_vae_tiling=True", []string{"VAE Decode (Tiled)=VAE Decode (Tiled)"}},
		{"ComfyUI caches what nodes made, and has no loaders", app("comfyui"), killed("unknown", "Out of memory: Killed process 1 (python)"), "--cache-none=True", []string{"dataloader_num_workers"}},
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

func TestWhatAVersionOfVLLMTakesInAStep(t *testing.T) {
	t.Parallel()
	const v0, v1 = "/x/site-packages/vllm/worker/model_runner.py|execute_model|hidden = self.model(", "/x/site-packages/vllm/v1/worker/gpu_model_runner.py|execute_model|model_output = self._model_forward("
	for _, c := range []struct {
		name, frame  string
		total        float64
		settings     []string
		whole, large truth
	}{
		{"V0 takes whole prompts", v0, 79.15, []string{"max_model_len", "8192"}, yes, no},
		{"V0 cuts long ones by default", v0, 79.15, []string{"max_model_len", "65536"}, no, no},
		{"V0 may be told to cut", v0, 79.15, []string{"max_model_len", "8192", "enable_chunked_prefill", "True"}, no, no},
		{"V0 with room for two prompts", v0, 79.15, []string{"max_model_len", "8192", "max_num_batched_tokens", "16384"}, no, no},
		{"V0 with room for one prompt", v0, 79.15, []string{"max_model_len", "8192", "max_num_batched_tokens", "8192"}, yes, no},
		{"V1 always cuts", v1, 79.15, []string{"max_model_len", "8192"}, no, no},
		{"V1 on a card larger than any A100", v1, 139.8, nil, no, yes},
	} {
		in := gpu("rollout", 1, .4, c.total, frames(c.frame))
		ctx := newContext(as(run("vllm", c.settings...), "", "vllm", ""), in)
		assert.Equal(t, c.whole, ctx.holds("whole_profile").truth, c.name)
		assert.Equal(t, c.large, ctx.holds("large_card").truth, c.name)
	}
}

// TestGraphsOfAnEngineInItsOwnProcesses has trainers that failed beside an engine which runs elsewhere or holds little of the card.
func TestGraphsOfAnEngineInItsOwnProcesses(t *testing.T) {
	t.Parallel()
	at := func(phase string, mine, others float64) *classifier.Incident {
		return with(gpu(phase, 2.3, 1.7, 79.1, frames("/x/torch/autograd/graph.py|_engine_run_backward|")), func(r *classifier.Root) {
			r.ProcessBytes = gibs(mine)
			if others > 0 {
				r.OtherProcesses = gibs(others)
			}
		})
	}
	since := func(version string) *classifier.Run {
		r := as(run("verl", "actor_rollout_ref.rollout.enforce_eager", "False"), "fsdp", "vllm", "")
		r.FrameworkVersion = version
		return r
	}
	for name, c := range map[string]struct {
		run  *classifier.Run
		in   *classifier.Incident
		rule bool
	}{
		"nothing else is on the card":            {since("0.7.0"), at("backward", 77.2, 0), true},
		"the engine holds less than was missing": {since("0.7.0"), at("backward", 77.1, .3), true},
		"the engine holds more":                  {since("0.7.0"), at("backward", 71.2, 6.2), false},
		"the engine is in the same process":      {since("0.5.0"), at("backward", 77.2, 0), false},
		"nothing shows where the engine is":      {since(""), at("backward", 77.2, 0), false},
		"the engine works":                       {since("0.7.0"), at("rollout", 77.2, 0), false},
	} {
		got := pick(t, For(c.run, c.in), "verl.rollout.enforce-eager")
		assert.Equal(t, c.rule, strings.Contains(got.AppliesWhy, "its own processes"), "%s: %s", name, got.AppliesWhy)
	}
}

// TestServersWithoutAGuide covers servers of embeddings and of speech, and where an environment variable belongs.
func TestServersWithoutAGuide(t *testing.T) {
	t.Parallel()
	const (
		tei = "2025-07-03T05:26:45.269542Z  INFO text_embeddings_router: router/src/main.rs:189: Args { model_id: \"BAA*/***-m3\", dtype: None, max_concurrent_requests: 512, max_batch_tokens: 65536, " +
			"max_batch_requests: None, max_client_batch_size: 32, port: 80 }\nINFO text_embeddings_router: router/src/lib.rs:261: Warming up model\n" +
			"Error: Model backend is not healthy\n\nCaused by:\n    DriverError(CUDA_ERROR_OUT_OF_MEMORY, \"out of memory\")\n"
		whisper = "Traceback (most recent call last):\n  File \"/app/run.py\", line 8, in <module>\n    model = WhisperModel(\"large-v3\", device=\"cuda\")\n" +
			"  File \"/usr/lib/python3.10/site-packages/faster_whisper/transcribe.py\", line 634, in __init__\n    self.model = ctranslate2.models.Whisper(\nRuntimeError: CUDA failed with error out of memory\n"
		ollama = "ollama[1733]: llama_context: n_ctx         = 32768\nollama[1733]: ggml_backend_cuda_buffer_type_alloc_buffer: allocating 1224.00 MiB on device 0: cudaMalloc failed: out of memory\n" +
			"ollama[1733]: ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 1283457024\nollama[1733]: llama_init_from_model: failed to initialize the context: failed to allocate compute pp buffers\n"
	)
	list := For(incidentOf(t, tei))
	assert.Equal(t, "engine_activation", list.Cause.ID)
	assert.Equal(t, "max_batch_tokens=16384", firstChange(list))
	assert.NotContains(t, settingsChanged(list), "max_client_batch_size=16", "it limits a request, not what is computed at once")

	list = For(incidentOf(t, whisper))
	assert.Equal(t, "compute_type=int8", firstChange(list))
	for _, p := range list.Proposals {
		assert.NotContains(t, p.Title, "train less", "nothing is trained")
	}

	for _, p := range For(incidentOf(t, ollama)).Proposals {
		for _, c := range p.Changes {
			assert.NotContains(t, c.Snippet, "export ", "a service does not read the user's shell")
			if c.Syntax == "env" {
				assert.Contains(t, p.Needs, "Set it for the server: systemctl edit ollama, or docker run -e.")
			}
		}
	}
}

// TestALimitThatCannotHoldTheCopies compares ranks whose copies of the weights exceed the next limit with ranks whose copies fit into it.
func TestALimitThatCannotHoldTheCopies(t *testing.T) {
	t.Parallel()
	const log = "$ torchrun --nproc_per_node 8 train.py --model_name_or_path meta-llama/Llama-3.1-%s\nLoading checkpoint shards:  13%%|#3        | 4/30 [00:10<01:05,  2.51s/it]\n" +
		"[Tue May  7 10:00:00 2024] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/slurm/job_1,task_memcg=/slurm/job_1,task=python,pid=503,uid=1000\n" +
		"[Tue May  7 10:00:00 2024] memory: usage 104857600kB, limit 104857600kB, failcnt 1\n" +
		"[Tue May  7 10:00:00 2024] Memory cgroup out of memory: Killed process 503 (python) total-vm:22582912kB, anon-rss:12582912kB, file-rss:1024kB, shmem-rss:0kB, UID:1000 pgtables:20000kB oom_score_adj:0\n"
	for model, first := range map[string]string{"70B": "low_cpu_mem_usage=True", "8B": "--mem=152G"} {
		run, in := incidentOf(t, fmt.Sprintf(log, model))
		assert.Equal(t, first, firstChange(For(run, in)), model)
	}
}

// TestSGLangsOwnImageProcessorIsNoStrayProcess has a vision model's server on the first card, beside the process that prepares its images.
func TestSGLangsOwnImageProcessorIsNoStrayProcess(t *testing.T) {
	t.Parallel()
	const failed = "ERROR\n  File \"/opt/sglang/srt/managers/scheduler.py\", line 1038, in event_loop_overlap\n    batch_result = self.run_batch(batch)\n" +
		"  File \"/opt/sglang/srt/models/MODEL.py\", line 812, in forward\n    hidden_states = CALL(\n" +
		"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 344.00 MiB. GPU 0 has a total capacity of 80.00 GiB of which 200.00 MiB is free. Process 984 has 19.80 GiB memory in use. Process 120 has 60.00 GiB memory in use. Of the allocated memory 57.00 GiB is allocated by PyTorch, and 0.80 GiB is reserved by PyTorch but unallocated.\n"
	const launch = "$ python -m sglang.launch_server --model-path Qwen/Qwen3-VL-30B --mem-fraction-static 0.75\n[2025-12-26 09:58:13 TP0] Scheduler hit an exception: Traceback (most recent call last):\n"
	for name, c := range map[string]struct {
		log   string
		ended bool
	}{
		"images":      {launch + strings.NewReplacer("MODEL", "qwen3_vl", "CALL", "general_mm_embed_routine").Replace(failed), false},
		"only text":   {launch + strings.NewReplacer("MODEL", "qwen3", "CALL", "self.model").Replace(failed), true},
		"on the host": {strings.Replace(launch, "0.75", "0.75 --disable-fast-image-processor", 1) + strings.NewReplacer("MODEL", "qwen3_vl", "CALL", "general_mm_embed_routine").Replace(failed), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changes := changesOf(For(incidentOf(t, c.log)))
			assert.Equal(t, c.ended, strings.Contains(strings.Join(changes, " "), "nvidia-smi"), changes)
			assert.Equal(t, !c.ended, strings.Contains(strings.Join(changes, " "), "--disable-fast-image-processor=True"), changes)
		})
	}
}

func TestGraphsOfADraftModelAreGraphs(t *testing.T) {
	t.Parallel()
	run, in := incidentOf(t, "server_args=ServerArgs(model_path='/m', tp_size=4, mem_fraction_static=0.9, speculative_algorithm='EAGLE', cuda_graph_max_bs=256)\n"+
		"Traceback (most recent call last):\n  File \"/x/sglang/srt/managers/scheduler.py\", line 255, in __init__\n    self.draft_worker = EAGLEWorker(\n"+
		"  File \"/x/sglang/srt/speculative/eagle_worker.py\", line 120, in __init__\n    self.draft_model_runner.init_cuda_graphs()\n"+
		"  File \"/x/sglang/srt/model_executor/cuda_graph_runner.py\", line 360, in capture\n    with graph_capture() as graph_capture_context:\n"+
		"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB. GPU 3 has a total capacity of 79.11 GiB of which 129.94 MiB is free.\n")
	assert.Contains(t, changesOf(For(run, in)), "--cuda-graph-max-bs=16")
}

func TestNoLengthHelpsAnEngineThatLoadsItsWeights(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stack string
		helps bool
	}{
		"its weights":       {"/x/vllm/worker/model_runner.py|load_model|self.model = get_model()", false},
		"its profiling run": {"/x/vllm/worker/worker.py|determine_num_available_blocks|self.model_runner.profile_run()", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := For(incidentOf(t, "$ vllm serve /m --max-model-len 32768\n"+stackOf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB. GPU 0 has a total capacity of 23.64 GiB of which 129.94 MiB is free.", c.stack, "/x/vllm/layers/linear.py|create|torch.empty(")))
			i := slices.IndexFunc(list.Remedies, func(r Remedy) bool { return r.ID == "vllm.max-model-len" })
			require.GreaterOrEqual(t, i, 0)
			applies := list.Remedies[i].Applies
			assert.Equal(t, c.helps, applies == nil || *applies)
		})
	}
}

// TestGraphsOfPromptsHaveAFlagOfTheirOwn is about SGLang 0.5.15, which captures graphs for prompts before those for decoding.
func TestGraphsOfPromptsHaveAFlagOfTheirOwn(t *testing.T) {
	t.Parallel()
	answer := func(runner string) []string {
		return changesOf(answerTo(t, "server_args=ServerArgs(model_path='Qwen/Qwen2.5-7B-Instruct', mem_fraction_static=0.8, tp_size=1)\n"+
			stackOf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 1.10 GiB is free. Including non-PyTorch memory, this process has 78.00 GiB memory in use. Of the allocated memory 76.50 GiB is allocated by PyTorch, and 300.00 MiB is reserved by PyTorch but unallocated.",
				"/x/sglang/srt/managers/scheduler.py|init_all_cuda_graphs|self.tp_worker.init_cuda_graphs()", "/x/sglang/srt/model_executor/runner/"+runner+"|capture|self.capture_one_shape(bs)")))
	}
	assert.Contains(t, answer("prefill_cuda_graph_runner.py"), "--cuda-graph-backend-prefill=disabled")
	assert.NotContains(t, answer("prefill_cuda_graph_runner.py"), "--cuda-graph-max-bs-decode=16")
	assert.NotContains(t, answer("decode_cuda_graph_runner.py"), "--cuda-graph-backend-prefill=disabled")
	assert.Contains(t, answer("decode_cuda_graph_runner.py"), "--cuda-graph-max-bs-decode=16")
}
