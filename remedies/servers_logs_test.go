package remedies

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhatServersLogsAreToldFirst pairs logs of servers and their neighbors with the cause, the first change and changes of none.
func TestWhatServersLogsAreToldFirst(t *testing.T) {
	t.Parallel()
	const (
		ollama = "+ cat job.sbatch\n#!/bin/bash\n#SBATCH --mem=16G\n+ ollama serve\n" + `time=2025-10-20T10:11:02.121Z level=INFO source=routes.go:1564 msg="Listening on 127.0.0.1:11434 (version 0.12.6)"` + "\n" +
			`time=2025-10-20T10:11:12.411Z level=INFO source=server.go:400 msg="starting runner" cmd="/bin/ollama runner --ollama-engine --model /m/blobs/sha256-6be6 --ctx-size 8192"` + "\n" +
			`time=2025-10-20T10:11:14.378Z level=INFO source=device.go:211 msg="model weights" device=CPU size="%s GiB"` + "\n" +
			`time=2025-10-20T10:11:52.704Z level=ERROR source=sched.go:488 msg="error loading llama server" error="llama runner process has terminated: signal: killed"` + "\n" +
			"slurmstepd: error: Detected 1 oom_kill event in StepId=81.batch. Some of the step tasks have been OOM Killed.\n"
		refused = "Error: 500 Internal Server Error: model requires more system memory (35.4 GiB) than is available (30.1 GiB)\n" +
			`time=2026-01-06T19:31:02.418+01:00 level=INFO source=routes.go:1554 msg="server config" env="map[OLLAMA_CONTEXT_LENGTH:4096 OLLAMA_NUM_PARALLEL:1]"` + "\nprint_info: file size   = %s GiB (4.82 BPW)\n" +
			`time=2026-01-06T19:44:41.531+01:00 level=INFO source=sched.go:450 msg="gpu memory" id=GPU-3d9c library=CUDA available="%s GiB" free="7.5 GiB" minimum="457.0 MiB" overhead="0 B"` + "\n"
		trtllm = "$ trtllm-serve /m/Qwen3-32B-FP8 --backend pytorch --tp_size 2\n[TensorRT-LLM] TensorRT-LLM version: 1.0.0rc3\n[07/23/2025-06:37:06] [TRT-LLM] [RANK %d] [E] Error executing load_single_module with args ('model.layers.29.mlp.gate_up_proj', Linear()): " +
			"CUDA out of memory. Tried to allocate 126.00 MiB. GPU 0 has a total capacity of 23.53 GiB of which 43.00 MiB is free. Process 32689 has 404.00 MiB memory in use. Process 33095 has 19.44 GiB memory in use. Process 33096 has 3.63 GiB memory in use. " +
			"Of the allocated memory 2.92 GiB is allocated by PyTorch, and 313.50 MiB is reserved by PyTorch but unallocated.\n"
		diffusers = "$ cat serve.py\npipe = StableDiffusion3Pipeline.from_pretrained(\"stabilityai/stable-diffusion-3-medium-diffusers\", variant=\"fp16\"%s)\n$ python serve.py\n"
		lmdeploy  = "$ lmdeploy serve api_server /m/internlm2-chat-7b --tp 1\n2024-03-27 07:51:02,418 - lmdeploy - WARNING - model_source: ModelSource.HF_MODEL\n"
		limit     = "memory: usage 16777216kB, limit 16777216kB, failcnt 20313\noom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=docker-5be.scope,mems_allowed=0-1,oom_memcg=/system.slice/docker-5be.scope,task_memcg=/system.slice/docker-5be.scope,task=lmdeploy,pid=88412,uid=0\n" +
			"Memory cgroup out of memory: Killed process 88412 (lmdeploy) total-vm:141220188kB, anon-rss:16640512kB, file-rss:161204kB, shmem-rss:8192kB, UID:0 pgtables:37112kB oom_score_adj:0\n"
		npu   = "$ vllm serve /m/Qwen2.5-VL-7B-Instruct --max-model-len 32768 --gpu-memory-utilization 0.9\n(EngineCore_DP0 pid=2290) INFO 01-08 09:31:37 [kv_cache_utils.py:1291] GPU KV cache size: 674,048 tokens\nINFO:     Application startup complete.\n"
		eagle = "$ vllm serve meta-llama/Llama-3.1-8B-Instruct --max-num-seqs 512 --max-model-len 8192 --gpu-memory-utilization 0.95 --speculative-config '{\"method\": \"eagle3\", \"num_speculative_tokens\": 5}'\nINFO 09-02 07:40:14 [api_server.py:1805] vLLM API server version 0.10.1.1\n" +
			"INFO 09-02 07:40:14 [utils.py:326] non-default args: {'max_model_len': 8192, 'gpu_memory_utilization': 0.95, 'max_num_seqs': 512, 'speculative_config': {'method': 'eagle3', 'num_speculative_tokens': 5}}\n" +
			"INFO 09-02 07:41:04 [kv_cache_utils.py:849] GPU KV cache size: 194,144 tokens\nINFO:     Application startup complete.\n"
	)
	toCard := stackOf(full("36.00 MiB", "21.98", "14.44 MiB", "21.65"), "/app/serve.py|<module>|pipe = pipe.to(\"cuda\")", "diffusers/pipelines/pipeline_utils.py|to|module.to(device, dtype)", "torch/nn/modules/module.py|convert|return t.to(")
	stats := ""
	for i := range 8 {
		stats += fmt.Sprintf("2024-03-27T%02d:00:00 lmdeploy-api  %d.04GiB / 16GiB  %d.00%%\n", 8+i, 3+i+i/2, 19+8*i)
	}
	for _, c := range []struct {
		name, log, cause, first string
		never                   []string
	}{
		{"weights in host memory beyond what the job asked for", fmt.Sprintf(ollama, "25.0"), "limit_too_small", "--mem=32G", []string{"OLLAMA_CONTEXT_LENGTH=2048", "num_ctx=4096"}},
		{"weights in host memory within it", fmt.Sprintf(ollama, "9.0"), "host_load", "--mem=24G", nil},
		{"a rank that loads through another's card", fmt.Sprintf(trtllm, 1), "wrong_device", "TRT_LLM_DISABLE_LOAD_WEIGHTS_IN_PARALLEL=True", []string{"--tp_size=4"}},
		{"a rank on its own card", fmt.Sprintf(trtllm, 0), "foreign_process", "other processes=nvidia-smi --query-compute-apps=pid,used_memory --format=csv", []string{"TRT_LLM_DISABLE_LOAD_WEIGHTS_IN_PARALLEL=True"}},
		{"a pipeline without a dtype", fmt.Sprintf(diffusers, "") + toCard, "wrong_dtype", "torch_dtype=bfloat16", nil},
		{
			"a pipeline with a misspelled dtype", fmt.Sprintf(diffusers, ", torch_dytpe=torch.float16") + "Keyword arguments {'torch_dytpe': torch.float16} are not expected by StableDiffusion3Pipeline and will be ignored.\n" + toCard,
			"wrong_dtype", "from_pretrained(torch_dtype)=from_pretrained(..., torch_dtype=torch.bfloat16)", nil,
		},
		{"an ignored argument that is no dtype", fmt.Sprintf(diffusers, ", torch_dtype=torch.float16") + "Keyword arguments {'use_fast': True} are not expected by StableDiffusion3Pipeline and will be ignored.\n" + toCard, "states_too_big", "pipe.enable_model_cpu_offload()=True", nil},
		{"weights beyond what the host and the card have", fmt.Sprintf(refused, "39.59", "7.0"), "host_load", "model=a tag of a smaller quantization or size", []string{"OLLAMA_CONTEXT_LENGTH=2048"}},
		{"weights that a smaller context leaves room for", fmt.Sprintf(refused, "35.20", "7.0"), "host_load", "model=a tag of a smaller quantization or size", nil},
		{"a pipeline in 16 bits", fmt.Sprintf(diffusers, ", torch_dtype=torch.float16") + toCard, "states_too_big", "pipe.enable_model_cpu_offload()=True", nil},
		{"a container whose memory grows", lmdeploy + stats + limit, "leak_over_steps", "lmdeploy version=pip install -U lmdeploy", []string{"--memory=24G"}},
		{"a container whose memory stays", lmdeploy + strings.Repeat("2024-03-27T08:00:00 lmdeploy-api  12.04GiB / 16GiB  75.00%\n", 8) + limit, "limit_too_small", "--memory=24G", []string{"lmdeploy version=pip install -U lmdeploy"}},
		{
			"logits of drafted tokens", eagle + stackOf(full("1.22 GiB", "44.39", "1.02 GiB", "42.28"), "vllm/v1/worker/gpu_model_runner.py|execute_model|output_token_ids = self.rejection_sampler(", "vllm/v1/sample/rejection_sampler.py|forward|target_probs = compute_probs(", "vllm/v1/sample/rejection_sampler.py|compute_probs|logits = logits / temperature.unsqueeze(-1)"),
			"engine_activation", "--gpu-memory-utilization=0.86",
			[]string{"--enforce-eager=True"},
		},
		{
			"a worker that a stopped server left on the card", "$ vllm serve m --tensor-parallel-size 2\n(VllmWorkerProcess pid=48213) INFO 03-12 18:21:11 model_runner.py:1115] Loading model weights took 30.7123 GB\n" +
				"INFO:     Application shutdown complete.\n$ vllm serve m --tensor-parallel-size 2\nINFO 03-13 09:14:21 api_server.py:912] vLLM API server version 0.7.3\n" +
				stackOf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 270.00 MiB. GPU 1 has a total capacity of 79.25 GiB of which 122.88 MiB is free. Process 48213 has 71.40 GiB memory in use. "+
					"Including non-PyTorch memory, this process has 7.73 GiB memory in use. Of the allocated memory 7.18 GiB is allocated by PyTorch, and 18.50 MiB is reserved by PyTorch but unallocated.",
					"vllm/worker/worker.py|load_model|self.model_runner.load_model()", "vllm/model_executor/layers/linear.py|create_weights|weight = Parameter(torch.empty("),
			"foreign_process", "other processes=nvidia-smi --query-compute-apps=pid,used_memory --format=csv",
			[]string{"--tensor-parallel-size=4"},
		},
		{
			"the logits that llama-cpp-python keeps of its context", "llama_model_loader: loaded meta data with 26 key-value pairs and 339 tensors from ./m.gguf (version GGUF V3 (latest))\nllama_new_context_with_model: n_ctx      = 32768\n" +
				stackOf("numpy.core._exceptions._ArrayMemoryError: Unable to allocate 18.6 GiB for an array with shape (32768, 152064) and data type float32", "/w/chat.py|<module>|llm = Llama(", "llama_cpp/llama.py|__init__|self.scores: npt.NDArray[np.single] = np.ndarray("),
			"logits", "--ctx-size=16384", nil,
		},
		{
			"another array of a program with llama.cpp", "llama_model_loader: loaded meta data with 26 key-value pairs and 339 tensors from ./m.gguf (version GGUF V3 (latest))\nllama_new_context_with_model: n_ctx      = 32768\n" +
				stackOf("numpy.core._exceptions._ArrayMemoryError: Unable to allocate 18.6 GiB for an array with shape (32768, 152064) and data type float32", "/w/chat.py|<module>|index = Index(", "/w/index.py|__init__|self.table = np.zeros("),
			"host_load", "--ctx-size=16384", nil,
		},
		{
			"pieces that images of many sizes left", npu + stackOf("RuntimeError: NPU out of memory. Tried to allocate 830.00 MiB (NPU 0; 60.96 GiB total capacity; 52.87 GiB already allocated; 52.87 GiB current active; 632.40 MiB free; 58.94 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.",
				"vllm_ascend/worker/worker.py|execute_model|output = self.model_runner.execute_model(scheduler_output,", "vllm/v1/worker/gpu_model_runner.py|_execute_mm_encoder|outputs = model.embed_multimodal(**kwargs)", "vllm/model_executor/models/qwen2_5_vl.py|forward|gate_up, _ = self.gate_up_proj(x)"),
			"fragmentation", "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True", nil,
		},
		{
			"a reserve of two requests", npu + stackOf("RuntimeError: NPU out of memory. Tried to allocate 830.00 MiB (NPU 0; 60.96 GiB total capacity; 56.90 GiB already allocated; 56.90 GiB current active; 632.40 MiB free; 58.94 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.",
				"vllm_ascend/worker/worker.py|execute_model|output = self.model_runner.execute_model(scheduler_output,", "vllm/v1/worker/gpu_model_runner.py|_execute_mm_encoder|outputs = model.embed_multimodal(**kwargs)", "vllm/model_executor/models/qwen2_5_vl.py|forward|gate_up, _ = self.gate_up_proj(x)"),
			"engine_share_too_large", "--gpu-memory-utilization=0.84", nil,
		},
		{
			"Ollama's model on the same card", "$ python train.py\n" + stackOf(full("112.00 MiB", "23.53", "38.50 MiB", "6.53"), "/w/train.py|main|loss = model(x)", "torch/nn/modules/linear.py|forward|return F.linear(input, self.weight, self.bias)") +
				"$ nvidia-smi\n|    0   N/A  N/A            2816      C   /usr/local/bin/ollama                 16794MiB |\n",
			"foreign_process", "ollama stop=ollama stop MODEL  # or a keep_alive of 0 in its requests", nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := answerTo(t, c.log)
			require.NotNil(t, a.Cause)
			assert.Equal(t, c.cause, a.Cause.ID)
			assert.Equal(t, c.first, firstChange(a))
			for _, no := range c.never {
				for _, p := range a.Proposals {
					for _, ch := range p.Changes {
						if ch.To != nil {
							assert.NotEqual(t, no, ch.Key+"="+*ch.To)
						}
					}
				}
			}
		})
	}
}

func TestAnEngineSaysHowManyDraftedTokensItSamples(t *testing.T) {
	t.Parallel()
	log := "$ vllm serve m --max-num-seqs 256 --num-speculative-tokens 3\nINFO 09-02 07:40:14 [api_server.py:1805] vLLM API server version 0.10.1.1\nInitializing a V1 LLM engine (v0.10.1.1) with config: model='meta-llama/Llama-3.1-8B-Instruct', max_seq_len=8192\n" +
		"INFO 09-02 07:41:04 [kv_cache_utils.py:849] GPU KV cache size: 194,144 tokens\nINFO:     Application startup complete.\n" +
		stackOf(full("376.00 MiB", "44.39", "120.00 MiB", "43.28"), "vllm/v1/worker/gpu_model_runner.py|execute_model|output_token_ids = self.rejection_sampler(", "vllm/v1/sample/rejection_sampler.py|compute_probs|output_prob = logits.softmax(dim=-1, dtype=torch.float32)")
	a := answerTo(t, log)
	assert.Contains(t, a.Cause.Text, "768 rows (256 sequences x 3 drafted tokens) x 128,256 vocabulary")
	assert.Contains(t, changesOf(a), "num_speculative_tokens=1")
	assert.Contains(t, changesOf(a), "--max-num-seqs=128")
}

// TestGraphsAreNotCapturedBeforeTGIsWarmUpOfPrompts has TGI fail in the pass that it makes first, and later, while it serves.
func TestGraphsAreNotCapturedBeforeTGIsWarmUpOfPrompts(t *testing.T) {
	t.Parallel()
	const (
		starts = "2025-08-06T09:20:12.911873Z  INFO text_generation_launcher: Args { model_id: \"m\", max_batch_prefill_tokens: Some(127000), cuda_graphs: None }\n2025-08-06T09:20:38.901437Z  INFO text_generation_router_v3: backends/v3/src/lib.rs:125: Warming up model\n"
		refuse = "RuntimeError: Not enough memory to handle 127000 prefill tokens. You need to decrease `--max-batch-prefill-tokens`\n"
	)
	fails := func(in string) string {
		return stackOf(full("1.21 GiB", "44.42", "386.31 MiB", "43.58"), "text_generation_server/models/flash_causal_lm.py|"+in+"|_, _batch, _ = self.generate_token(batch)", "text_generation_server/layers/layernorm.py|forward|) = dropout_layer_norm.dropout_add_ln_fwd(")
	}
	a := pick(t, answerTo(t, starts+fails("warmup")+refuse), "tgi.graphs").Applies
	require.NotNil(t, a)
	assert.False(t, *a)
	a = pick(t, answerTo(t, starts+fails("prefill")), "tgi.graphs").Applies
	assert.True(t, a == nil || *a)
}
