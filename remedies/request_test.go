package remedies

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/remedies/memory"
)

// TestTheRequestIsReadFromTheStackTheSettingsAndTheModel takes failures as programs print them, and look-alikes.
func TestTheRequestIsReadFromTheStackTheSettingsAndTheModel(t *testing.T) {
	t.Parallel()
	const qwen, eval = "Qwen/Qwen2.5-1.5B-Instruct", "/x/site-packages/transformers/trainer.py|evaluation_loop|"
	failed := func(phase, size string, gib float64, stack ...string) *classifier.Incident {
		return with(gpuOOM(phase), func(r *classifier.Root) {
			r.Message, r.Requested, r.Trace = "CUDA out of memory. Tried to allocate "+size+".", gibs(gib), frames(stack...)
		})
	}
	of := func(model string, r *classifier.Run) *classifier.Run { r.Model.Name = model; return r }
	loaded := with(&classifier.Incident{Kind: parser.HostOOM, Resource: "host", Phase: "init"}, func(r *classifier.Root) {
		r.Message, r.Requested = "DefaultCPUAllocator: not enough memory: you tried to allocate 201326592 bytes.", ints(201326592)
		r.Trace = frames("/x/transformers/modeling_utils.py|_load_state_dict_into_meta_model|param = param.to(casting_dtype)")
	})
	for name, c := range map[string]struct {
		run  *classifier.Run
		in   *classifier.Incident
		want string // empty: nothing is said of the request
	}{
		"a sampler's softmax": {
			of(qwen, run("verl", "actor_rollout_ref.rollout.name", "vllm")), failed("rollout", "1.11 GiB", 1.11, "/x/vllm/model_executor/layers/sampler.py|forward|probs = torch.softmax(logits, dim=-1, dtype=torch.float)"),
			"the sampler's probabilities in float32: about 1,960 rows",
		},
		"a sampler's sort has indices, too": {
			of(qwen, run("verl", "actor_rollout_ref.rollout.name", "vllm")), failed("rollout", "1.11 GiB", 1.11, "/x/vllm/model_executor/layers/sampler.py|_apply_top_k_top_p|logits_sort, logits_idx = logits.sort(dim=-1, descending=False)"), "",
		},
		"generated code, and a vocabulary with separators": {
			run("torch", "Vocab size", "65,536"), failed("backward", "8.00 GiB", 8, "/tmp/torchinductor_a/c45.py|call|buf706 = empty_strided_cuda((65536, 65536), (65536, 1), torch.bfloat16)"),
			"65,536 tokens x 65,536 vocabulary x 2 bytes",
		},
		"generated code with scores": {
			run("torch"), failed("forward", "16.00 GiB", 16, "/tmp/torchinductor_a/cxq.py|call|buf657 = empty_strided_cuda((256, 4096, 4096), (16777216, 4096, 1), torch.float32)"),
			"attention scores built in full: 256 x 4,096 x 4,096 x 4 bytes",
		},
		"generated code that does not say whose tensor it makes": {
			of("meta-llama/Llama-3.1-8B-Instruct", run("prime_rl", "seq_len", "16384")),
			failed("backward", "7.83 GiB", 7.83, "/tmp/torchinductor_a/ckq.py|call|buf4 = empty_strided_cuda((1, s27, 128256), (128256*s27, 128256, 1), torch.float32)"),
			"16,384 tokens x 128,256 vocabulary (from the model's name) x 4 bytes",
		},
		"the default batch of an evaluation": {
			run("torch", "sequence_len", "2048"), failed("forward", "1.95 GiB", 1.95, eval, "/x/transformers/models/llama/modeling_llama.py|forward|logits = logits.float()"),
			"16,384 tokens (8 x 2,048) x 32,000 vocabulary x 4 bytes",
		},
		"a batch that no vocabulary fits": {
			run("torch", "sequence_len", "1700"), failed("forward", "1.95 GiB", 1.95, eval, "/x/transformers/models/llama/modeling_llama.py|forward|logits = logits.float()"), "",
		},
		"a batch that no setting has": {
			of("Qwen/Qwen3-8B", run("trl", "max_length", "4096")), failed("backward", "9.27 GiB", 9.27, "/x/torch/autograd/graph.py|_engine_run_backward|run_backward("),
			"16,384 tokens (4 x 4,096) x 151,936 vocabulary (from the model's name) x 4 bytes",
		},
		"a batch and a length that no setting has": {
			of("Qwen/Qwen3-8B", run("trl")), failed("backward", "13.91 GiB", 13.91, "/x/torch/autograd/graph.py|_engine_run_backward|run_backward("),
			"logits: 24,576 tokens x 151,936 vocabulary (from the model's name) x 4 bytes",
		},
		"a size near no whole length":          {of("Qwen/Qwen3-8B", run("trl")), failed("backward", "13.50 GiB", 13.5, "/x/torch/autograd/graph.py|_engine_run_backward|run_backward("), ""},
		"a size of the embedding's gradient":   {of("Qwen/Qwen3-8B", run("trl")), failed("backward", "2.32 GiB", 2.32, "/x/torch/autograd/graph.py|_engine_run_backward|run_backward("), ""},
		"a whole length of an unknown program": {run("trl"), failed("backward", "13.91 GiB", 13.91, "/x/torch/autograd/graph.py|_engine_run_backward|run_backward("), ""},
		"prompt and answer": {
			run("torch", "padded vocab_size", "248320", "micro_forward_batch_size_per_gpu", "1", "max_prompt_length", "2048", "max_generate_length", "30720"),
			failed("logprob", "15.16 GiB", 15.16, "/x/skyrl/utils.py|log_probs|logits = logits - logits.logsumexp(-1)"), "32,768 tokens (1 x (2,048 + 30,720)) x 248,320 vocabulary x 2 bytes",
		},
		"a weight of 4 bits": {
			of("meta-llama/Llama-2-70b-hf", run("torch")), failed("forward", "448.00 MiB", .4375, "/x/bitsandbytes/autograd/_functions.py|forward|output = torch.nn.functional.linear(A, F.dequantize_4bit(B, state).to(A.dtype).t(), bias)"),
			"a quantized weight unpacked for use",
		},
		"a cache as long as the model allows": {
			run("torch", "hidden_size", "5120", "num_attention_heads", "40", "num_key_value_heads", "10", "num_hidden_layers", "40", "max_position_embeddings", "131072"),
			failed("init", "320.00 MiB", .3125, "/x/exllamav2/cache.py|create_state_tensors|p_value_states = torch.zeros(self.shape_wv, dtype = self.dtype)"),
			"the KV cache of one layer: 131,072 tokens (max_position_embeddings) x 10 key-value heads x 128 x 2 bytes = 320.0 MiB; 25.00 GiB for 40 layers",
		},
		"a cache of another length": {
			run("torch", "hidden_size", "5120", "num_attention_heads", "40", "num_key_value_heads", "10", "max_position_embeddings", "131072", "max_seq_len", "4096"),
			failed("init", "320.00 MiB", .3125, "/x/exllamav2/cache.py|create_state_tensors|p_value_states = torch.zeros(self.shape_wv, dtype = self.dtype)"), "",
		},
		"one parameter after the other": {
			of("Qwen/Qwen3-32B", run("nemo_rl")), failed("init", "2.90 GiB", 2.9, "/x/torch/distributed/_state_dict_utils.py|_broadcast_tensors|full_tensor = torch.empty("),
			"the embedding or the head in one piece: 151,936 vocabulary x 5,120 hidden x 4 bytes",
		},
		"a weight in host memory":  {run("torch", "hidden_size", "3072", "intermediate_size", "8192"), loaded, "the fused gate and up matrix of a layer as it is loaded: 2 x 8,192 intermediate size x 3,072 hidden x 4 bytes"},
		"a weight of no such size": {run("torch", "hidden_size", "3000", "intermediate_size", "8192"), loaded, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := memory.Words(newContext(c.run, c.in).request)
			if c.want == "" {
				assert.Empty(t, got)
				return
			}
			assert.Contains(t, got, c.want)
		})
	}
}

func TestWeightsThatLoadInFloat32AreAskedForIn16Bits(t *testing.T) {
	t.Parallel()
	in := with(&classifier.Incident{Kind: parser.HostOOM, Resource: "host", Phase: "init"}, func(r *classifier.Root) {
		r.Message, r.Requested = "DefaultCPUAllocator: not enough memory: you tried to allocate 201326592 bytes.", ints(201326592)
		r.Trace = frames("/a/main.py|<module>|model = AutoModelForCausalLM.from_pretrained(", "/x/transformers/modeling_utils.py|_load_state_dict_into_meta_model|param = param.to(casting_dtype)")
	})
	sizes := []string{"hidden_size", "3072", "intermediate_size", "8192", "torch_dtype", "bfloat16"}
	list := For(run("torch", sizes...), in)
	assert.Equal(t, "wrong_dtype", list.Cause.ID)
	assert.Equal(t, "torch_dtype", list.Proposals[0].Changes[0].Key)
	assert.Equal(t, "bfloat16", *list.Proposals[0].Changes[0].To)
	for _, p := range list.Proposals {
		assert.NotEqual(t, "low_cpu_mem_usage", p.Changes[0].Key, "the stack shows that it is on")
	}

	in.Root.Requested, in.Root.Message = ints(100663296), "DefaultCPUAllocator: not enough memory: you tried to allocate 100663296 bytes."
	list = For(run("torch", sizes...), in)
	assert.NotEqual(t, "wrong_dtype", list.Cause.ID, "two bytes for each element of the fused matrix, or four for one half of it")
}

func TestTheFirstChangeActsOnWhatTheRequestShows(t *testing.T) {
	t.Parallel()
	scratch := with(&classifier.Incident{Kind: parser.GPUDriverOOM, Resource: "gpu", Phase: "unknown"}, func(r *classifier.Root) {
		r.Message, r.Requested = "StandardGpuResources: alloc fail type TemporaryMemoryBuffer dev 0 space Device stream 0x5 size 1610612736 bytes (cudaMalloc error out of memory [2])", ints(3<<29)
	})
	compiled := with(gpuOOM("forward"), func(r *classifier.Root) {
		r.Message, r.Requested, r.Free, r.Total = "CUDA out of memory. Tried to allocate 16.00 GiB.", gibs(16), gibs(.86), gibs(47)
		r.Trace = frames("/home/a/train.py|loss_fn|y = model(xt, t)", "/tmp/torchinductor_a/cxq.py|call|buf657 = empty_strided_cuda((256, 4096, 4096), (16777216, 4096, 1), torch.float32)")
	})
	compiledHead := with(gpuOOM("backward"), func(r *classifier.Root) {
		r.Message, r.Requested, r.Free, r.Total = "CUDA out of memory. Tried to allocate 7.83 GiB.", gibs(7.83), gibs(4.9), gibs(79)
		r.Trace = frames("/home/a/prime-rl/src/prime_rl/trainer/rl/train.py|train|loss.backward()", "/tmp/torchinductor_a/ckq.py|call|buf4 = empty_strided_cuda((1, s27, 128256), (128256*s27, 128256, 1), torch.float32)")
	})
	for name, c := range map[string]struct {
		run         *classifier.Run
		in          *classifier.Incident
		cause, want string
	}{
		"FAISS's scratch memory":                                    {run("torch", "batch_size", "64"), scratch, "unknown", "setTempMemory"},
		"logits that are compiled, of a length that is not written": {run("trl"), compiledHead, "logits", "per_device_train_batch_size"},
		"scores that are compiled":                                  {run("torch"), compiled, "attention_scores", "scaled_dot_product_attention"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := For(c.run, c.in)
			assert.Equal(t, c.cause, list.Cause.ID)
			assert.Equal(t, c.want, list.Proposals[0].Changes[0].Key)
		})
	}
}
