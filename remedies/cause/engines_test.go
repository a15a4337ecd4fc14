package cause

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/remedies/memory"
)

func lacks(part, text string) func(*Input) {
	return func(in *Input) { in.Part, in.Text, in.EngineFailed = part, text, true }
}

// TestWhatAnEngineLacked has pairs of failures that differ in the one thing that decides.
func TestWhatAnEngineLacked(t *testing.T) {
	t.Parallel()
	const executor = "executor creation failed due to insufficient gpu memory"
	free := func(gib float64) func(*Input) {
		return func(in *Input) { in.Free, in.Requested, in.Shortfall = bytes(gib), nil, nil }
	}
	profiled := func(in *Input) {
		in.Profiling, in.EngineFailed, in.Total, in.Allocated = true, true, bytes(23.69), bytes(23.04)
	}
	engineWeighs := func(gib float64) func(*Input) { return func(in *Input) { in.EngineWeights = *bytes(gib) } }
	cached := func(in *Input) { in.CacheTaken, in.EngineFailed = true, true }
	for _, c := range []struct {
		name, id      string
		proves, looks *Input
	}{
		{
			"a temporary cache that left nothing", "engine_share_too_large", failure("gpu", "init", lacks("initial kv cache (temporary for kv cache size estimation)", executor), free(.9)),
			failure("gpu", "init", lacks("initial kv cache (temporary for kv cache size estimation)", executor), free(30)),
		},
		{
			"the run that measures activations", "engine_activation", failure("gpu", "init", lacks("model resources created during usage", executor), free(30)),
			failure("gpu", "init", lacks("kv cache", executor), free(30)),
		},
		{
			"weights that leave nothing for a step", "states_too_big", failure("gpu", "init", profiled, engineWeighs(23.9)), failure("gpu", "init", profiled, engineWeighs(15)),
		},
		{"the sampler's buffers", "engine_activation", failure("gpu", "init", lacks("sampler", executor)), failure("gpu", "init", lacks("model", executor))},
		{"the decoder's buffers", "engine_activation", failure("gpu", "init", func(in *Input) { in.MakesDecoder, in.EngineFailed, in.BeforeCache = true, true, true }), failure("gpu", "init", func(in *Input) { in.EngineFailed = true })},
		{"what comes behind the cache", "graph_capture", failure("gpu", "init", lacks("additional executor resources", executor)), failure("gpu", "init", lacks("additional executor resources (temporary for kv cache size estimation)", executor), free(30))},
		{
			"llama.cpp's pool", "engine_activation", failure("gpu", "rollout", lacks("", "cuda error: out of memory in function alloc at /app/ggml/src/ggml-cuda/ggml-cuda.cu:443")),
			failure("gpu", "init", lacks("", "allocating 100 mib on device 0: cudamalloc failed in ggml-cuda.cu"), saying("ggml.malloc"), saying("ggml.load")),
		},
		{
			"scores that take much of an engine's card", "attention_scores", failure("gpu", "rollout", lacks("", ""), request(memory.Explanation{What: "attention", Text: "8,192 x 8,192 tokens."}), func(in *Input) { in.Requested, in.Total = bytes(4), bytes(24) }),
			failure("gpu", "rollout", lacks("", ""), request(memory.Explanation{What: "attention", Text: "8,192 x 8,192 tokens."}), func(in *Input) { in.Requested, in.Total = bytes(.1), bytes(24) }),
		},
		{"a cache that was announced", "engine_share_too_large", failure("gpu", "init", lacks("", "cuda runtime error in ::cudamallocasync"), func(in *Input) { in.Kind, in.PlannedCache = "gpu_driver_oom", 95<<30 }), failure("gpu", "init", lacks("", "cuda runtime error in ::cudamallocasync"))},
		{"an engine whose cache is there", "engine_share_too_large", failure("gpu", "init", cached), failure("gpu", "init", cached, func(in *Input) { in.CacheTaken = false })},
		{"a cache that holds less than one request", "engine_share_too_small", failure("gpu", "init", cached, func(in *Input) { in.NoRoomForCache = true }), failure("gpu", "init", cached)},
		{"a TorchScript model under Triton", "activations", failure("gpu", "unknown", func(in *Input) { in.Application, in.Text = "triton", "9.41 gib already allocated by pytorch" }), failure("gpu", "unknown", func(in *Input) { in.Application = "triton" })},
		{"the VAE", "activations", failure("gpu", "rollout", stack("autoencoder_kl.py decode", "conv.py forward")), failure("gpu", "rollout", stack("text_encoder.py forward"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			best, _ := Rank(c.proves)
			assert.Equal(t, c.id, best.ID, best.For)
			best, _ = Rank(c.looks)
			assert.NotEqual(t, c.id, best.ID, best.For)
		})
	}
}

func TestAComputeBufferOfLlamaCppIsTheScoresWithoutFlashAttention(t *testing.T) {
	t.Parallel()
	values := map[string]string{"n_ubatch": "512", "n_ctx": "655360", "n_head": "32"}
	for flash, want := range map[string]string{"0": "x 655,360 of context x 32 heads x 4 bytes = 40.00 GiB", "1": "the activations of one engine step"} {
		in := failure("gpu", "init", func(in *Input) {
			in.EngineFailed, in.Text, in.Requested = true, "ggml_gallocr_reserve_n: failed", bytes(41.3)
			in.Setting = func(names ...string) (string, string, bool) {
				for _, n := range names {
					if v := values[n]; v != "" {
						return n, v, true
					}
					if n == "flash_attn" {
						return n, flash, true
					}
				}
				return "", "", false
			}
		})
		best, _ := Rank(in)
		assert.Contains(t, best.Text, want)
	}
}

func TestEachRankOfANodeHasAHierarchicalCache(t *testing.T) {
	t.Parallel()
	for nodes, want := range map[string]string{
		"1": "the hierarchical caches of 8 ranks take 120 GB of host memory, 15 GB each (hicache_size)",
		"2": "the hierarchical caches of 4 ranks take 60 GB of host memory, 15 GB each (hicache_size)",
		"8": "each rank's hierarchical cache is larger than the host memory left",
	} {
		values := map[string]string{"enable_hierarchical_cache": "True", "hicache_size": "15", "tp_size": "8", "nnodes": nodes}
		best, _ := Rank(failure("host", "init", func(in *Input) {
			in.Setting = func(names ...string) (string, string, bool) {
				for _, n := range names {
					if v := values[n]; v != "" {
						return n, v, true
					}
				}
				return "", "", false
			}
		}))
		assert.Contains(t, best.Text, want)
	}
}

func TestRanksThatHoldAsMuchAsTheFailedOneOpenedItsCard(t *testing.T) {
	t.Parallel()
	in := failure("gpu", "forward", func(in *Input) {
		in.Message, in.GPUs, in.Process, in.Others, in.Allocated = "process 1 has 20.31 gib memory in use. process 2 has 6.31 gib memory in use. process 3 has 6.31 gib memory in use.", 0, bytes(6.3), bytes(32.9), bytes(5.8)
	})
	best, _ := Rank(in)
	assert.Equal(t, "wrong_device", best.ID, best.For)
	in.Process = bytes(12)
	best, _ = Rank(in)
	assert.Equal(t, "foreign_process", best.ID, best.For)
	assert.Equal(t, "other processes hold 32.90 GiB on this GPU", best.Text, "three of them")
	in.Message = "process 1 has 32.90 gib memory in use."
	best, _ = Rank(in)
	assert.Equal(t, "other processes hold 32.90 GiB on this GPU: process 1", best.Text)
	in.Listed = []Listed{{PID: 1, Name: "python", Bytes: 32 << 30, Afterwards: true}}
	best, _ = Rank(in)
	assert.Equal(t, "other processes hold 32.90 GiB on this GPU: process 1 (python)", best.Text)
}

// TestAQueriedProcessMustExplainTheCard has a row that names no card: it counts where it is what PyTorch does not hold.
func TestAQueriedProcessMustExplainTheCard(t *testing.T) {
	t.Parallel()
	row := func(gib int64) func(*Input) {
		return func(in *Input) {
			in.Process, in.Allocated, in.Idle, in.Free = nil, bytes(10), bytes(0), bytes(1)
			in.Listed = []Listed{{Device: AnyDevice, PID: 7, Name: "python", Bytes: gib << 30}}
		}
	}
	assert.NotEmpty(t, ListedHolder(failure("gpu", "init", row(68))))
	assert.Empty(t, ListedHolder(failure("gpu", "init", row(30))), "another card's")
}

func held(name string, gib ...int64) func(*Input) {
	return func(in *Input) {
		for _, n := range gib {
			in.Holders = append(in.Holders, Holder{name, n << 30})
		}
	}
}

func hostLimit(gib float64) func(*Input) { return func(in *Input) { in.HostLimit = bytes(gib) } }

func TestWhoHeldTheHostsMemoryDecides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, id      string
		proves, looks *Input
	}{
		{
			"ranks that hold the same before a step", "host_load", failure("host", "unknown", held("python", 31, 31, 31, 31), hostLimit(128)),
			failure("host", "unknown", held("python", 31, 31, 31, 31), hostLimit(128), func(in *Input) { in.LastStep = number(20) }),
		},
		{
			"a cache that vLLM pins, large or small beside the host's memory", "host_offload", failure("host", "init", held("VLLM::Worker", 190, 190), hostLimit(800), setting("kv_offloading_size", "400")),
			failure("host", "init", held("VLLM::Worker", 190, 190), hostLimit(800), setting("kv_offloading_size", "16")),
		},
		{
			"a cache of LMCache for each rank, which fills it or is hardly begun", "host_offload", failure("host", "init", held("python3", 183, 182), hostLimit(755), setting("max_local_cpu_size", "200 GB")),
			failure("host", "init", held("python3", 30, 30), hostLimit(755), setting("max_local_cpu_size", "200 GB")),
		},
		{
			"caches of LMCache that together exceed the limit, or do not", "host_offload", failure("host", "init", parameters(70e9, 0), hostLimit(800), setting("max_local_cpu_size", "300.0 GB"), setting("tensor_parallel_size", "4")),
			failure("host", "init", parameters(70e9, 0), hostLimit(800), setting("max_local_cpu_size", "100 GB"), setting("tensor_parallel_size", "4")),
		},
		{
			"weights that vLLM keeps on the host for each rank, more than there is room for or few", "host_offload", failure("host", "init", hostLimit(64), setting("cpu_offload_gb", "40.0"), setting("tensor_parallel_size", "2")),
			failure("host", "init", hostLimit(512), setting("cpu_offload_gb", "0"), setting("tensor_parallel_size", "2")),
		},
		{"processes that share what they hold", "host_load", failure("host", "unknown", held("python", 31, 31, 31, 31), hostLimit(128)), failure("host", "unknown", held("python", 31, 31, 31, 31), hostLimit(64))},
		{"a data set in memory", "loader_workers", failure("host", "unknown", setting("cache_images", "True")), failure("host", "unknown", setting("cache_images", "False"))},
		{"samples that a program keeps to replay them", "limit_too_small", failure("host", "training", setting("replay.capacity", "2e6")), failure("host", "training", setting("shuffle_buffer_size", "2000000"))},
		{"loaders where nobody holds nearly all", "loader_workers", failure("host", "training", setting("num_workers", "8")), failure("host", "training", setting("num_workers", "8"), held("matlab", 90), hostLimit(100))},
		{"loaders where no ranks hold most", "loader_workers", failure("host", "training", setting("num_workers", "16"), held("ray::TaskRunner", 20, 18)), failure("host", "training", setting("num_workers", "16"), held("ray::WorkerDict", 20, 18))},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			best, _ := Rank(c.proves)
			assert.Equal(t, c.id, best.ID, best.For)
			best, _ = Rank(c.looks)
			assert.NotEqual(t, c.id, best.ID, best.For)
		})
	}
	best, _ := Rank(failure("host", "training", held("matlab", 90), hostLimit(100)))
	assert.Equal(t, "matlab alone held 90.00 GiB of 100.00 GiB; the log does not show why", best.Text)
	best, _ = Rank(failure("host", "training", held("ray::ReplayBuffer", 50), hostLimit(62)))
	assert.Equal(t, "ray::ReplayBuffer alone held 50.00 GiB of 62.00 GiB, in samples to replay", best.Text)
	best, _ = Rank(failure("host", "training", setting("replay.capacity", "200")))
	assert.NotContains(t, best.Text, "replay", "a small buffer")
	whole := stack("stable_baselines3/common/off_policy_algorithm.py _setup_model self.replay_buffer = self.replay_buffer_class(", "stable_baselines3/common/buffers.py __init__ self.observations = np.zeros(")
	best, _ = Rank(failure("host", "init", whole))
	assert.Equal(t, "the replay buffer is allocated whole, for buffer_size observations", best.Text)
	best, _ = Rank(failure("host", "rollout", stack("stable_baselines3/common/on_policy_algorithm.py collect_rollouts rollout_buffer.reset()", "stable_baselines3/common/buffers.py reset self.observations = np.zeros(")))
	assert.Equal(t, "the rollout buffer holds n_steps observations of each environment, in float32", best.Text)
	best, _ = Rank(failure("gpu", "init", whole))
	assert.NotContains(t, best.Text, "replay", "the card's memory")
	best, _ = Rank(failure("host", "training", held("python", 30), hostLimit(100)))
	assert.NotContains(t, best.Text, "alone", "a third of the limit")
	best, _ = Rank(failure("host", "rollout", hostLimit(16), func(in *Input) { in.PromptCache = 8 << 30 }))
	assert.Equal(t, "the cache of finished prompts took 8.00 GiB of 16.00 GiB", best.Text)
}

// TestWordsThatFitTheProgram says "every rank" and "share" only of programs that have ranks and a share.
func TestWordsThatFitTheProgram(t *testing.T) {
	t.Parallel()
	cache := func(application string) *Input {
		return failure("gpu", "init", stack("exllamav2/cache.py __init__"), func(in *Input) { in.Application, in.EngineFailed = application, true })
	}
	for name, c := range map[string]struct {
		in       *Input
		has, not string
	}{
		"one process that loads a model":     {failure("host", "init", stack("a.py from_pretrained"), func(in *Input) { in.GPUs = 0 }), "the model does not fit into host RAM", "every rank"},
		"ranks that load a model":            {failure("host", "init", stack("a.py from_pretrained"), func(in *Input) { in.GPUs = 8 }), "every rank", "does not fit"},
		"a rank that loads a model":          {failure("host", "init", stack("a.py from_pretrained"), func(in *Input) { in.Rank = number(3) }), "every rank", "does not fit"},
		"an engine that takes what it needs": {cache("exllama"), "weights and KV cache do not fit on the GPU together", "share"},
		"an engine with a share":             {cache("lmdeploy"), "the engine's share of the GPU", "together"},
	} {
		best, _ := Rank(c.in)
		assert.Contains(t, best.Text, c.has, name)
		assert.NotContains(t, best.Text, c.not, name)
	}
}

// TestWhatNCCLLackedIsItsRequest names a small request rather than what groups of ranks take.
func TestWhatNCCLLackedIsItsRequest(t *testing.T) {
	t.Parallel()
	for want, request := range map[string]*int64{"less than 10.0 MiB was left": bytes(10. / 1024), "0.7 to 1.5 GiB": nil, "needs 0.7": bytes(1), "almost nothing was left": bytes(600. / (1 << 30))} {
		best, _ := Rank(failure("gpu", "nccl", func(in *Input) { in.Kind, in.Requested, in.Free, in.Shortfall = "nccl_oom", request, nil, nil }))
		assert.Contains(t, best.Text, want)
	}
}
