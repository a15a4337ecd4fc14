package cause

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/remedies/memory"
)

func bytes(gib float64) *int64 { n := int64(gib * (1 << 30)); return &n }

func number(n int) *int { return &n }

// failure is an input on a card of 80 GiB, or on a host.
func failure(resource, phase string, set ...func(*Input)) *Input {
	in := &Input{Resource: resource, Phase: phase, Kind: "gpu_oom", GPUs: 8, PerNode: 8, Setting: func(...string) (string, string, bool) { return "", "", false }}
	if resource == "gpu" {
		in.Total, in.Free, in.Requested, in.Shortfall = bytes(80), bytes(1), bytes(3), bytes(2)
		in.Process, in.Allocated, in.Idle = bytes(79), bytes(77), bytes(.3)
	}
	for _, f := range set {
		f(in)
	}
	return in
}

func stack(frames ...string) func(*Input) { return func(in *Input) { in.Stack = frames } }

// starved is TensorFlow on a card of 40 GiB of which it found so much free.
func starved(pool int64) func(*Input) {
	return func(in *Input) {
		in.Framework, in.Application, in.CardSize, in.TensorFlowPool = "tensorflow", "tensorflow", 40<<30, pool
		in.Process, in.Allocated, in.Total, in.Free = nil, nil, nil, nil
	}
}

func settings(pairs ...string) func(*Input) {
	return func(in *Input) {
		in.Setting = func(names ...string) (string, string, bool) {
			for _, n := range names {
				for i := 0; i < len(pairs); i += 2 {
					if pairs[i] == n {
						return n, pairs[i+1], true
					}
				}
			}
			return "", "", false
		}
	}
}

// shards has a request of four bytes for each of 7.24 billion parameters, of which one of eight ranks counts an eighth.
func shards(backend string) func(*Input) {
	return func(in *Input) { in.Backend, in.Requested, in.Trained, in.GPUs = backend, bytes(26.98), 905_000_000, 8 }
}

func setting(key, value string) func(*Input) {
	return func(in *Input) {
		before := in.Setting
		in.Setting = func(names ...string) (string, string, bool) {
			for _, n := range names {
				if n == strings.TrimLeft(key, "-") || n == key {
					return key, value, true
				}
			}
			return before(names...)
		}
	}
}

func request(e memory.Explanation) func(*Input) {
	return func(in *Input) { in.Request = []memory.Explanation{e} }
}

func trained(n int64) func(*Input) { return func(in *Input) { in.Trained = n } }

func after(steps int) func(*Input) { return func(in *Input) { in.LastStep = &steps } }

func unknownWorld(in *Input) { in.GPUs, in.Framework = 0, "torch" }

// oneCard is a run of one rank.
func oneCard(in *Input) { in.GPUs, in.PerNode = 1, 1 }

// group is processes of one name that hold most of the memory.
func group(name string, count int64) func(*Input) {
	return func(in *Input) { in.Biggest = Processes{name, count, 91 << 30} }
}

// sharded is a run of FSDP.
func sharded(in *Input) { in.Backend = "fsdp" }

// setUp is what DeepSpeed held before the first step, in GiB, and a small request in it.
func setUp(gib float64) func(*Input) {
	return func(in *Input) { in.SetUp, in.Requested = *bytes(gib), bytes(.1) }
}

// parameters sets the model's size and the number of GPUs.
func parameters(n, gpus int64) func(*Input) {
	return func(in *Input) { in.Parameters.Value, in.GPUs = n, gpus }
}

// frozen are weights that every rank holds whole, beside adapters.
func frozen(in *Input) { in.Unsharded, in.Adapters, in.Trained = true, true, 15e6 }

// listing is nvidia-smi's table of a process on cards 0, 1 and so on; card 0 failed.
func listing(bytes ...int64) func(*Input) {
	return func(in *Input) {
		in.Device = number(0)
		for i, n := range bytes {
			in.Listed = append(in.Listed, Listed{Device: i, PID: 100, Name: "python", Bytes: n, Afterwards: true})
		}
	}
}

// wide is a weight that can only be of four bytes.
func wide(in *Input) {
	in.Request = []memory.Explanation{{What: memory.Parameter, Bytes: 4, Seen: true, Text: "the embedding."}}
}

// beside is a trainer with an engine that is awake on the same card.
func beside(framework string) func(*Input) {
	return func(in *Input) {
		in.Framework, in.SharesCard, in.EngineAwake, in.Others = framework, true, true, bytes(40)
	}
}

func deepspeed(in *Input) { in.Backend = "deepspeed" }

// script is a program of one's own.
func script(in *Input) { in.Framework, in.GPUs = "torch", 1 }

// unnamed leaves out whose the card's memory is.
func unnamed(in *Input) { in.Process, in.Allocated, in.Idle = nil, nil, nil }

// unaccounted is a message of old, which says nothing of other processes, where this one holds so many GiB of card 0.
func unaccounted(held float64) func(*Input) {
	return func(in *Input) {
		in.Device, in.Process, in.Allocated = number(0), nil, bytes(held)
	}
}

// free is what was free, and what was requested.
func free(had, wanted float64) func(*Input) {
	return func(in *Input) { in.Free, in.Requested, in.Shortfall = bytes(had), bytes(wanted), nil }
}

func twoAlike(in *Input) {
	in.Message = "process 11 has 9.00 gib memory in use. process 12 has 9.10 gib memory in use."
}

// colocated is a run of Ray whose models share their cards.
func colocated(in *Input) { in.SharesCard, in.RayWorkers = true, true }

// holes are enough to cover what was missing.
func holes(in *Input) { in.Idle, in.Shortfall, in.Requested = bytes(8), bytes(6), bytes(7) }

// context is llama.cpp's, of 131,072 tokens and so many layers with 1,024 keys and values.
func context(layers int) func(*Input) {
	return func(in *Input) {
		for k, v := range map[string]int{"n_ctx": 131072, "n_layer": layers, "n_embd_k_gqa": 1024, "n_embd_v_gqa": 1024} {
			setting(k, strconv.Itoa(v))(in)
		}
	}
}

// alone is a rank that had held far more than the others.
func alone(in *Input) { in.Peak, in.OthersPeak = 70<<30, 50<<30 }

func at(p memory.Place) func(*Input) { return func(in *Input) { in.Place = p } }

func TestEachCauseIsProvedAndRefuted(t *testing.T) {
	t.Parallel()
	sampled := func(in *Input) { in.EngineFailed, in.Serving = true, true }
	over := memory.Explanation{What: "logits", Seen: true, Low: 9000, High: 9000, Over: true, OverWhy: "more tokens than the limit", Text: "9,000 tokens."}
	for _, c := range []struct {
		id            string
		proves, looks *Input // looks like it and is not
	}{
		{"states_too_big", failure("gpu", "init", stack("a.py load_model"), parameters(70e9, 1)), failure("gpu", "forward", parameters(70e9, 1))},
		{"wrong_dtype", failure("gpu", "init", stack("a.py from_pretrained"), setting("torch_dtype", "float32")), failure("gpu", "init", stack("a.py from_pretrained"), setting("torch_dtype", "bfloat16"))},
		{
			"not_sharded", failure("gpu", "init", at(memory.Gather), parameters(7e9, 8), func(in *Input) { in.Requested = bytes(13.1) }),
			failure("gpu", "init", at(memory.Gather), parameters(7e9, 1), func(in *Input) { in.Requested = bytes(13.1) }),
		},
		{"optimizer_first_step", failure("gpu", "optimizer", stack("adamw.py _init_group")), failure("gpu", "forward", stack("adamw.py _init_group"))},
		{"activations", failure("gpu", "backward", request(memory.Explanation{What: "activations", Seen: true, Text: "8,192 tokens."})), failure("gpu", "optimizer")},
		{"attention_scores", failure("gpu", "forward", request(memory.Explanation{What: "attention", Seen: true, Text: "8,192 x 8,192 tokens."})), failure("gpu", "forward", stack("flash_attn.py flash_attn_func"))},
		{"logits", failure("gpu", "backward", request(memory.Explanation{What: "logits", Met: true, Text: "24,000 tokens."})), failure("gpu", "rollout", at(memory.Logits), func(in *Input) { in.EngineFailed = true })},
		{"logits", failure("gpu", "rollout", at(memory.Sampler), sampled, request(memory.Explanation{What: "logits", Low: 8180})), failure("gpu", "rollout", at(memory.Sampler), sampled, request(memory.Explanation{What: "logits", Low: 256}))},
		{"entropy_chain", failure("gpu", "forward", stack("torch_functional.py entropy_from_logits")), failure("gpu", "rollout", stack("x.py entropy_from_logits"), func(in *Input) { in.EngineFailed = true })},
		{"one_long_sample", failure("gpu", "forward", request(over), func(in *Input) { in.Tokens = &memory.Limit{AtLeast: 10000} }), failure("gpu", "forward", request(over), func(in *Input) { in.Tokens = &memory.Limit{AtLeast: 4000} })},
		{"budget_not_binding", failure("gpu", "forward", request(over), func(in *Input) { in.Tokens = &memory.Limit{AtLeast: 4000} }), failure("gpu", "forward", request(over), func(in *Input) { in.Tokens = &memory.Limit{AtLeast: 10000} })},
		{"moe_imbalance", failure("gpu", "forward", stack("moe/experts.py grouped_gemm"), alone), failure("gpu", "forward", stack("moe/experts.py grouped_gemm"))},
		{
			"pipeline_in_flight", failure("gpu", "forward", stack("pipeline_parallel/schedules.py forward_step"), setting("pipeline_model_parallel_size", "4"), func(in *Input) { in.Rank = number(1) }, request(memory.Explanation{What: "parameter", Seen: true})),
			failure("gpu", "forward", stack("pipeline_parallel/schedules.py forward_step"), setting("pipeline_model_parallel_size", "4"), func(in *Input) { in.Rank = number(7) }),
		},
		{"allgather_window", failure("gpu", "backward", stack("partition_parameters.py _all_gather")), failure("gpu", "checkpoint", stack("x.py state_dict", "x.py _all_gather"))},
		{"comm_buckets", failure("gpu", "init", request(memory.Explanation{Met: true, Key: "reduce_bucket_size", Text: "5e8 x 2 bytes."})), failure("gpu", "weight_update", request(memory.Explanation{Met: true, Key: "update_weights_bucket"}))},
		{"fragmentation", failure("gpu", "rollout", func(in *Input) { in.Idle = bytes(12) }), failure("gpu", "rollout")},
		{"foreign_process", failure("gpu", "forward", func(in *Input) { in.Process, in.Others = bytes(30), bytes(49) }), failure("gpu", "forward", func(in *Input) { in.Others = bytes(.4) })},
		{
			"wrong_device", failure("gpu", "init", func(in *Input) {
				in.Message = "process 11 has 9.00 gib memory in use. process 12 has 9.10 gib memory in use."
			}), failure("gpu", "init", func(in *Input) {
				in.Message = "process 11 has 9.00 gib memory in use. process 12 has 40.10 gib memory in use."
			}),
		},
		{"engine_share_too_large", failure("gpu", "backward", func(in *Input) { in.SharesCard, in.Others, in.Process = true, bytes(40), bytes(39) }), failure("gpu", "init", func(in *Input) { in.EngineFailed, in.BeforeCache, in.LessThanDesired = true, true, true })},
		{"engine_share_too_small", failure("gpu", "init", func(in *Input) { in.NoRoomForCache = true }), failure("gpu", "init", func(in *Input) { in.LessThanDesired = true })},
		{"engine_activation", failure("gpu", "init", func(in *Input) { in.EngineFailed, in.Profiling = true, true }), failure("gpu", "forward", stack("visual.py forward"))},
		{"graph_capture", failure("gpu", "init", func(in *Input) { in.EngineFailed, in.GraphCapture = true, true }), failure("gpu", "rollout", func(in *Input) { in.EngineFailed = true })},
		{"nccl_no_margin", failure("gpu", "nccl", func(in *Input) { in.Kind = "nccl_oom" }), failure("gpu", "nccl", func(in *Input) { in.Kind, in.Free = "nccl_failure", bytes(20) })},
		{"weight_update", failure("gpu", "weight_update"), failure("gpu", "backward")},
		{"checkpoint_gather", failure("host", "checkpoint"), failure("gpu", "weight_update", stack("x.py full_state_dict"))},
		{"leak_over_steps", failure("host", "rollout", func(in *Input) { in.LastStep = number(103) }), failure("host", "rollout", func(in *Input) { in.LastStep = number(2) })},
		{"host_offload", failure("host", "optimizer", setting("param_offload", "True")), failure("host", "optimizer", setting("param_offload", "False"))},
		{"host_load", failure("host", "init", stack("a.py from_pretrained")), failure("host", "training")},
		{"loader_workers", failure("host", "training", setting("num_workers", "8")), failure("host", "training", setting("num_workers", "1"))},
		{"loader_workers", failure("host", "training", setting("num_workers", "2"), unknownWorld, after(2000)), failure("host", "training", setting("num_workers", "2"), unknownWorld, after(3))},
		{"shm", failure("shm", "data"), failure("host", "data")},
		{"limit_too_small", failure("host", "training", func(in *Input) { in.LimitReached, in.HostLimit = true, bytes(100) }), failure("gpu", "training")},
	} {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			best, _ := Rank(c.proves)
			assert.Equal(t, c.id, best.ID, best.Text)
			assert.NotEmpty(t, best.Text)
			assert.NotEmpty(t, best.For)
			assert.Empty(t, best.Against)
			best, _ = Rank(c.looks)
			assert.NotEqual(t, c.id, best.ID, best.For)
		})
	}
}

// grown is a reading that went from 4 to 9 GiB.
func grown(name string) func(*Input) {
	return func(in *Input) {
		in.Growth = []classifier.Trend{{Name: name, Count: 7, Rises: 6, First: 4 << 30, Last: 9 << 30}}
	}
}

func tokens(n int64) func(*Input) {
	return func(in *Input) { in.Tokens = &memory.Limit{Tokens: n, Longest: n, Budget: true} }
}

// engineOf is a failure of the backward pass itself, under a framework and behind some frames.
func engineOf(framework string, frames ...string) func(*Input) {
	return func(in *Input) {
		in.Framework, in.Place, in.Stack = framework, memory.Unnamed, append(frames, "torch/autograd/graph.py _engine_run_backward return variable._execution_engine.run_backward(")
	}
}

func saying(pattern string) func(*Input) {
	return func(in *Input) { in.Patterns = append(in.Patterns, pattern) }
}

func TestWhatElseProvesACause(t *testing.T) {
	t.Parallel()
	engine := func(in *Input) { in.EngineFailed = true }
	asks := func(gib float64) func(*Input) { return func(in *Input) { in.Requested = bytes(gib) } }
	on := func(rank, device int) func(*Input) {
		return func(in *Input) {
			in.Rank, in.Device = number(rank), number(device)
			in.Message = "process 11 has 23.00 gib memory in use. process 12 has 6.00 gib memory in use."
		}
	}
	megatron := func(distributed string) func(*Input) {
		return func(in *Input) {
			in.Framework, in.Backend, in.Total, in.Allocated = "megatron", "megatron", bytes(79), bytes(77)
			setting("use_distributed_optimizer", distributed)(in)
		}
	}
	limit := func(gib float64) func(*Input) {
		return func(in *Input) { in.LimitReached, in.DataWorkers, in.HostLimit = true, true, bytes(gib) }
	}
	reached := func(gib float64) func(*Input) {
		return func(in *Input) { in.LimitReached, in.HostLimit = true, bytes(gib) }
	}
	largest := func(names ...string) func(*Input) {
		return func(in *Input) {
			for i, n := range names {
				in.Holders = append(in.Holders, Holder{n, 100 << 30 >> (2 * i)})
			}
		}
	}
	for _, c := range []struct {
		name, id      string
		proves, looks *Input
	}{
		{
			"no dtype in the code that loads", "wrong_dtype", failure("gpu", "init", stack(`a.py main model = am.from_pretrained("x", device_map="auto").cuda()`)),
			failure("gpu", "init", stack(`a.py main model = am.from_pretrained("x", torch_dtype=torch.bfloat16).cuda()`)),
		},
		{
			"a weight whose size is that of float32", "wrong_dtype", failure("host", "init", stack("modeling_utils.py _load_state_dict_into_meta_model"), at(memory.Weights), wide),
			failure("host", "init", stack("modeling_utils.py _load_state_dict_into_meta_model"), at(memory.Weights), wide, func(in *Input) { in.Request[0].Bytes = 2 }),
		},
		{
			"a kernel library's workspace outside an engine's pool", "engine_share_too_large", failure("gpu", "rollout", engine, func(in *Input) {
				in.Kind, in.Message = "gpu_driver_oom", "flashinfer/handler.cuh: cudamallocasync(&float_buffer_)"
			}),
			failure("gpu", "rollout", func(in *Input) {
				in.Kind, in.Message = "gpu_driver_oom", "flashinfer/handler.cuh: cudamallocasync(&float_buffer_)"
			}),
		},
		{
			"a weight in float32 that FSDP splits", "states_too_big", failure("gpu", "init", stack("modeling_utils.py load_model"), at(memory.Weights), wide, func(in *Input) { in.Backend = "fsdp" }),
			failure("gpu", "init", stack("modeling_utils.py load_model"), at(memory.Weights), wide),
		},
		{
			"the cache of one layer", "engine_share_too_small", failure("gpu", "init", engine, request(memory.Explanation{What: memory.LayerCache, Met: true, Seen: true, Text: "131,072 tokens."})),
			failure("gpu", "init", engine, request(memory.Explanation{What: memory.Tensor, Met: true, Text: "131,072 x 1,280."})),
		},
		{
			"an engine in another process than one that fills the card", "engine_share_too_large", failure("gpu", "backward", beside("nemo_rl"), func(in *Input) { in.Process = bytes(39) }),
			failure("gpu", "backward", beside("nemo_rl"), func(in *Input) { in.Process = bytes(78) }),
		},
		{
			"more than a share while loading", "not_sharded", failure("gpu", "init", stack("a.py load_model"), parameters(40e9, 8), func(in *Input) { in.Allocated = bytes(70) }),
			failure("gpu", "init", stack("a.py load_model"), parameters(40e9, 8), func(in *Input) { in.Allocated = bytes(15) }),
		},
		{
			"the whole of a model before FSDP shards it", "not_sharded", failure("gpu", "init", stack("accelerator.py _prepare_fsdp2"), parameters(30e9, 8)),
			failure("gpu", "init", stack("accelerator.py _prepare_fsdp2"), parameters(30e9, 8), func(in *Input) { in.Allocated = bytes(40) }),
		},
		{
			"processes that run environments hold the node's memory", "loader_workers", failure("host", "rollout", largest("ray::AgentLoopWorker.generate", "ray::AgentLoopWorker.generate", "ray::WorkerDict")),
			failure("host", "rollout", largest("ray::WorkerDict", "ray::WorkerDict", "ray::AgentLoopWorker.generate")),
		},
		{
			"the trainer's ranks hold it, in a step", "host_offload", failure("host", "training", largest("ray::WorkerDict", "ray::WorkerDict", "ray::WorkerDict")),
			failure("host", "training", largest("ray::WorkerDict", "ray::WorkerDict"), setting("param_offload", "False"), setting("optimizer_offload", "False")),
		},
		{"attention that asks for much of the card", "attention_scores", failure("gpu", "forward", stack("a.py scaled_dot_product_attention"), asks(30)), failure("gpu", "forward", stack("a.py fused_attention"), asks(30))},
		{"scores, not what they are computed from", "attention_scores", failure("gpu", "forward", stack("a.py forward attn_weights = torch.matmul(q, k)")), failure("gpu", "forward", stack("a.py forward h, attn_weights = self.attn(", "a.py forward k = self.k_proj(h)", "linear.py forward"))},
		{"layers that device_map put on a card fill it", "states_too_big", failure("gpu", "rollout", dispatched(78)...), failure("gpu", "rollout", dispatched(60)...)},
		{"a picture's patches", "attention_scores", failure("gpu", "rollout", engine, asks(38), func(in *Input) { in.Picture = true }), failure("gpu", "rollout", engine, asks(1), func(in *Input) { in.Picture = true })},
		{
			"a gather where layers are recomputed", "allgather_window", failure("gpu", "backward", stack("x.py foreach_all_gather"), setting("activation_checkpointing", "true")),
			failure("gpu", "backward", stack("x.py foreach_all_gather"), setting("activation_checkpointing", "false")),
		},
		{
			"a unit's gradients before FSDP1 splits them", "allgather_window", failure("gpu", "backward", stack("_runtime_utils.py _get_reduce_scatter_tensors")),
			failure("gpu", "backward", stack("_runtime_utils.py _finalize_params")),
		},
		{"an engine's warm-up", "engine_activation", failure("gpu", "init", engine, stack("flash_causal_lm.py warmup")), failure("gpu", "init", stack("scheduler.py warmup"))},
		{"a buffer to compute in", "engine_activation", failure("gpu", "init", engine, func(in *Input) { in.Text = "ggml_gallocr_reserve_n: failed" }), failure("gpu", "init", engine, func(in *Input) { in.Text = "unable to allocate cuda0 buffer" })},
		{
			"a share of the card in an engine", "engine_share_too_large", failure("gpu", "unknown", engine, setting("cache_max_entry_count", "0.5"), func(in *Input) { in.Kind = "gpu_driver_oom" }),
			failure("gpu", "unknown", setting("cache_max_entry_count", "0.5"), func(in *Input) { in.Kind = "gpu_driver_oom" }),
		},
		{
			"a model that FSDP shards in one piece", "not_sharded", failure("gpu", "backward", setting("fsdp_auto_wrap_policy", "NO_WRAP")),
			failure("gpu", "backward", setting("fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP")),
		},
		{
			"JAX's pool beside a library", "engine_share_too_large", failure("gpu", "unknown", setting("XLA_PYTHON_CLIENT_MEM_FRACTION", "0.97"), func(in *Input) { in.Framework, in.Kind = "jax", "gpu_driver_oom" }),
			failure("gpu", "unknown", setting("XLA_PYTHON_CLIENT_MEM_FRACTION", "0.97"), func(in *Input) { in.Framework = "jax" }),
		},
		{
			"a library beside the pool that JAX has by default", "engine_share_too_large", failure("gpu", "unknown", func(in *Input) { in.Framework, in.Kind = "jax", "gpu_driver_oom" }),
			failure("gpu", "unknown", setting("XLA_PYTHON_CLIENT_PREALLOCATE", "false"), func(in *Input) { in.Framework, in.Kind = "jax", "gpu_driver_oom" }),
		},
		{
			"an engine that is awake beside the trainer", "engine_share_too_large", failure("gpu", "backward", func(in *Input) { in.SharesCard, in.Others = true, bytes(40) }),
			failure("gpu", "backward", func(in *Input) { in.SharesCard, in.EngineAsleep, in.Others = true, true, bytes(2.6) }),
		},
		{"states of EasyR1 on the host", "host_offload", failure("host", "logprob", setting("offload_params", "true")), failure("host", "logprob", setting("offload_params", "false"))},
		{"an engine that wakes", "engine_share_too_large", failure("gpu", "weight_update", stack("cumem.py wake_up", "cumem.py create_and_map")), failure("gpu", "weight_update", stack("cumem.py wake_up", "w.py update_weights"))},
		{"an engine's holes", "fragmentation", failure("gpu", "rollout", func(in *Input) {
			in.EngineFailed, in.Idle, in.Requested, in.Shortfall = true, bytes(6), bytes(2.5), bytes(1)
		}), failure("gpu", "rollout", func(in *Input) { in.Idle, in.Requested, in.Shortfall = bytes(6), bytes(2.5), bytes(1) })},
		{"mostly holes", "fragmentation", failure("gpu", "weight_update", func(in *Input) { in.Idle, in.Shortfall = bytes(10), bytes(.1) }, stack("x.py load_weights_from")), failure("gpu", "weight_update", func(in *Input) { in.Idle = bytes(1) })},
		{
			"a process that PyTorch cannot know as itself", "logits", failure("gpu", "forward", request(memory.Explanation{What: "logits", Seen: true, Met: true, Text: "6,570 tokens."}), func(in *Input) { in.Process, in.Others, in.Allocated = bytes(0), bytes(78), bytes(77) }),
			failure("gpu", "forward", request(memory.Explanation{What: "logits", Seen: true, Met: true, Text: "6,570 tokens."}), func(in *Input) { in.Process, in.Others, in.Allocated = bytes(0), bytes(60), bytes(18) }),
		},
		{
			"nvidia-smi lists ranks of several cards on one, or one process on several", "wrong_device",
			failure("gpu", "backward", onCards(Listed{PID: 11, Device: 0, Bytes: 3 << 30}, Listed{PID: 12, Device: 0, Bytes: 3 << 30}, Listed{PID: 11, Device: 1, Bytes: 1 << 30}, Listed{PID: 12, Device: 2, Bytes: 1 << 30})),
			failure("gpu", "backward", onCards(Listed{PID: 11, Device: 0, Bytes: 3 << 30}, Listed{PID: 11, Device: 1, Bytes: 1 << 30}, Listed{PID: 11, Device: 1, Bytes: 1 << 30})),
		},
		{
			"the answer to a query has the address of each card, and PyTorch's message the processes of the failed one", "wrong_device",
			failure("gpu", "init", onCards(Listed{PID: 11, Device: AnyDevice, Bus: "01", Bytes: 3 << 30}, Listed{PID: 11, Device: AnyDevice, Bus: "41", Bytes: 18 << 30}), func(in *Input) { in.Message = "process 11 has 3.00 gib memory in use." }),
			failure("gpu", "init", onCards(Listed{PID: 11, Device: AnyDevice, Bus: "01", Bytes: 3 << 30}, Listed{PID: 11, Device: AnyDevice, Bus: "41", Bytes: 18 << 30}), func(in *Input) { in.Message = "process 11 has 18.00 gib memory in use." }),
		},
		{
			"torch.load without and with a place", "wrong_device", failure("gpu", "checkpoint", stack("train.py resume state = torch.load(path)")),
			failure("gpu", "checkpoint", stack("train.py resume state = torch.load(path, map_location=loc)")),
		},
		{
			"a rank that reads onto the first card and holds little of it", "wrong_device",
			failure("gpu", "checkpoint", unaccounted(2), stack("torch/serialization.py _cuda_deserialize")), failure("gpu", "checkpoint", unaccounted(60), stack("torch/serialization.py _cuda_deserialize")),
		},
		{
			"processes alike on one card, where each sees all cards or only its own", "wrong_device", failure("gpu", "init", twoAlike), failure("gpu", "init", twoAlike, colocated),
		},
		{
			"an engine on one GPU has no other ranks", "wrong_device", failure("gpu", "rollout", twoAlike), failure("gpu", "rollout", twoAlike, settings("tp_size", "1"), func(in *Input) { in.EngineFailed, in.GPUs = true, 0 }),
		},
		{
			"LMDeploy's vision tower after its cache", "engine_share_too_large",
			failure("gpu", "init", stack("lmdeploy/vl/model/qwen.py __init__"), func(in *Input) { in.Allocated = bytes(1.7) }), failure("gpu", "init", stack("lmdeploy/vl/model/qwen.py __init__")),
		},
		{
			"nvidia-smi lists a rank on two cards", "wrong_device", failure("gpu", "backward", listing(1<<30, 30<<30)), failure("gpu", "backward", listing(30<<30, 1<<30)),
		},
		{
			"nvidia-smi lists another program", "foreign_process", failure("gpu", "unknown", unnamed, listing(60<<30)),
			failure("gpu", "unknown", unnamed, listing(60<<30), func(in *Input) { in.PID = number(100) }),
		},
		{
			"nvidia-smi lists the failed process before it fails", "foreign_process", failure("gpu", "unknown", unnamed, listing(60<<30)),
			failure("gpu", "unknown", unnamed, listing(60<<30), func(in *Input) { in.Allocated, in.Listed[0].Afterwards = bytes(59), false }),
		},
		{
			"a cache as long as the context", "engine_share_too_small", failure("host", "init", context(32), func(in *Input) { in.Requested = bytes(16) }),
			failure("host", "init", context(32), func(in *Input) { in.Requested = bytes(7) }),
		},
		{
			"all tokens of a batch", "engine_share_too_small", failure("gpu", "init", engine, func(in *Input) { in.Text = "handle 16000 total tokens with 2 prefill tokens" }),
			failure("gpu", "init", engine, func(in *Input) { in.Text = "handle 4096 prefill tokens" }),
		},
		{
			"a tensor as long as the batch", "activations", failure("gpu", "unknown", setting("batch_size", "256"), func(in *Input) { in.Message = "tensor with shape[256,64,224,224]" }),
			failure("gpu", "unknown", setting("batch_size", "256"), func(in *Input) { in.Message = "tensor with shape[64,256,224,224]" }),
		},
		{
			"the outputs of all batches", "logits", failure("gpu", "forward", holes, stack("trainer_pt_utils.py nested_concat")), failure("gpu", "forward", holes, stack("trainer.py training_step")),
		},
		{"two models that a setting puts on one card", "states_too_big", failure("gpu", "init", setting("colocate_policy_ref", "true"), func(in *Input) { in.Process, in.Others, in.Shortfall = bytes(25), bytes(18), bytes(1) }), failure("gpu", "init", setting("colocate_policy_ref", "false"), func(in *Input) { in.Process, in.Others, in.Shortfall = bytes(25), bytes(18), bytes(1) })},
		{"weights that llama.cpp cannot load", "states_too_big", failure("gpu", "init", engine, saying("ggml.load")), failure("gpu", "init", engine, saying("ggml.buffer"), stack("x.py capture_model"), func(in *Input) { in.GraphCapture = true })},
		{"another rank's card", "wrong_device", failure("gpu", "init", on(3, 0)), failure("gpu", "init", on(0, 0))},
		{"card 0 is another rank's unless Ray shows each worker only its own", "wrong_device", failure("gpu", "init", on(3, 0)), failure("gpu", "init", on(3, 0), func(in *Input) { in.RayWorkers = true })},
		{
			"the innermost frames compute the entropy", "entropy_chain", failure("gpu", "logprob", request(memory.Explanation{What: "logits", Seen: true, Text: "24,550 tokens."}), at(memory.Logits), stack("a.py logprobs", "f.py entropy_from_logits")),
			failure("gpu", "logprob", request(memory.Explanation{What: "logits", Seen: true, Text: "24,550 tokens."}), at(memory.Logits), stack("f.py entropy_from_logits", "a.py x", "a.py logprobs")),
		},
		{
			"an autograd function of the entropy", "entropy_chain", failure("gpu", "forward", request(memory.Explanation{What: "logits", Seen: true, Text: "24,550 tokens."}), at(memory.Logits), stack("f.py compute_entropy_from_logits", "torch/autograd/function.py apply", "f.py forward")),
			failure("gpu", "forward", request(memory.Explanation{What: "logits", Seen: true, Text: "24,550 tokens."}), at(memory.Logits), stack("f.py compute_entropy_from_logits", "a.py x", "f.py forward")),
		},
		{
			"a step that asks for much of the card in one piece", "engine_activation", failure("gpu", "rollout", engine, stack("a.py execute_model"), asks(9), func(in *Input) { in.CacheTaken, in.Serving = true, true }),
			failure("gpu", "rollout", engine, stack("a.py execute_model"), asks(.5), func(in *Input) { in.CacheTaken, in.Serving = true, true }),
		},
		{
			"a gradient that no layer is wide enough for", "logits", failure("gpu", "backward", asks(23), tokens(40960)), failure("gpu", "backward", asks(.9), tokens(40960)),
		},
		{
			"a gradient that no layer of this model is wide enough for", "logits", failure("gpu", "backward", asks(10.9), tokens(114688), func(in *Input) { in.Inner = 18944 }), failure("gpu", "backward", asks(10.9), tokens(114688)),
		},
		{
			"a gradient of a language model that few layers are wide enough for", "logits", failure("gpu", "backward", asks(5), engineOf("trl")), failure("gpu", "backward", asks(2), engineOf("trl")),
		},
		{
			"a large gradient of a model that may be anything", "logits", failure("gpu", "backward", asks(5), engineOf("trl")), failure("gpu", "backward", asks(5), engineOf("torch")),
		},
		{
			"a large gradient of the policy", "logits", failure("gpu", "backward", asks(5), engineOf("verl")), failure("gpu", "backward", asks(5), engineOf("verl", "workers/critic/dp_critic.py update_critic loss.backward()")),
		},
		{
			"whole states in the optimizer's step", "not_sharded", failure("gpu", "optimizer", parameters(6e9, 8), stack("adamw.py _init_group"), func(in *Input) { in.Allocated = bytes(77) }),
			failure("gpu", "optimizer", parameters(6e9, 8), stack("adamw.py _init_group"), func(in *Input) { in.Allocated = bytes(20) }),
		},
		{
			"frozen weights on every card leave little for one sample", "not_sharded",
			failure("gpu", "forward", parameters(34e9, 8), frozen, setting("micro_batch_size", "1")), failure("gpu", "forward", parameters(34e9, 8), frozen, setting("micro_batch_size", "8")),
		},
		{
			"the log stops where DeepSpeed creates the states", "host_offload", failure("host", "init", func(in *Input) { in.Stage = "the last stage logged before it: before initializing optimizer states" }),
			failure("host", "init", func(in *Input) { in.Stage = "the last stage logged before it: loading checkpoint shards" }),
		},
		{
			"the whole model moves to the engine", "weight_update", failure("gpu", "rollout", stack("grpo_trainer.py _move_model_to_vllm", "partition_parameters.py __enter__", "partition_parameters.py _all_gather")),
			failure("gpu", "forward", stack("partition_parameters.py fetch_sub_module", "partition_parameters.py _all_gather")),
		},
		{
			"transformers moves the model to its card, not to an engine", "states_too_big", failure("gpu", "init", stack("trainer.py _move_model_to_device", "module.py _apply", "module.py convert")),
			failure("gpu", "rollout", stack("grpo_trainer.py _move_model_to_vllm", "partition_parameters.py _all_gather")),
		},
		{"Ray's store is full", "shm", failure("host", "rollout", saying("ray.object_store_full")), failure("host", "rollout", saying("ray.low_memory"))},
		{"NCCL's segment in /dev/shm", "shm", failure("shm", "nccl", func(in *Input) { in.Kind = "nccl_oom" }), failure("gpu", "nccl", func(in *Input) { in.Kind = "nccl_oom" })},
		{
			"a recomputed layer with eager attention, and with a fused one", "attention_scores",
			failure("gpu", "backward", tokens(8192), free(11, 18), setting("flash_attn", "disabled"), stack("torch/utils/checkpoint.py backward torch.autograd.backward(", "torch/autograd/graph.py _engine_run_backward")),
			failure("gpu", "backward", tokens(8192), free(11, 18), setting("flash_attn", "fa2"), stack("torch/utils/checkpoint.py backward torch.autograd.backward(", "torch/autograd/graph.py _engine_run_backward")),
		},
		{
			"flex_attention that builds its scores, and its fused kernel", "attention_scores",
			failure("gpu", "forward", stack("torch/_higher_order_ops/flex_attention.py math_attention")), failure("gpu", "forward", stack("torch/nn/attention/flex_attention.py flex_attention")),
		},
		{
			"a neighbor that no message lists, and programs of the host on a DGX Spark", "foreign_process", failure("gpu", "forward", unaccounted(2)),
			failure("gpu", "forward", unaccounted(2), func(in *Input) { in.Total = bytes(119.64) }),
		},
		{"a neighbor that no message lists", "foreign_process", failure("gpu", "forward", unaccounted(2)), failure("gpu", "forward", unaccounted(77))},
		{
			"a neighbor, where what was free differs from the request by a rounding", "foreign_process",
			failure("gpu", "forward", unaccounted(2), free(1.005, 1)), failure("gpu", "forward", unaccounted(2), free(3, 1)),
		},
		{
			"a neighbour", "foreign_process", failure("gpu", "forward", func(in *Input) { in.Process, in.Others, in.Allocated = bytes(20), bytes(59), bytes(19) }),
			failure("gpu", "forward", func(in *Input) { in.Process, in.Others, in.Allocated = bytes(0), bytes(79), bytes(78) }),
		},
		{
			"clones of a state dict are a series", "checkpoint_gather", failure("gpu", "checkpoint", func(in *Input) { in.Idle, in.Shortfall, in.Requested = bytes(4), bytes(.2), bytes(.5) }),
			failure("gpu", "forward", func(in *Input) { in.Idle, in.Shortfall, in.Requested = bytes(4), bytes(.2), bytes(.5) }),
		},
		{
			"the whole state in one process", "checkpoint_gather",
			failure("host", "training", parameters(7e9, 8), setting("fsdp_state_dict_type", "FULL_STATE_DICT"), held("python", 30, 3)),
			failure("host", "training", parameters(7e9, 8), setting("fsdp_state_dict_type", "FULL_STATE_DICT"), held("python", 30, 30)),
		},
		{"a full state at the end", "checkpoint_gather", failure("host", "unknown", setting("fsdp_state_dict_type", "FULL_STATE_DICT")), failure("host", "unknown", setting("fsdp_state_dict_type", "SHARDED_STATE_DICT"))},
		{
			"workers that keep many batches ready", "loader_workers", failure("host", "training", settings("num_workers", "1", "prefetch_factor", "64")), failure("host", "training", settings("num_workers", "1", "prefetch_factor", "2")),
		},
		{"as many processes of the trainer's name as it has workers", "loader_workers", failure("host", "training", setting("num_workers", "8"), oneCard, group("python", 9)), failure("host", "training", setting("num_workers", "8"), oneCard, group("python", 3))},
		{"workers by the name that PyTorch gives them", "loader_workers", failure("host", "training", group("pt_data_worker", 8)), failure("host", "init", group("pt_data_worker", 8))},
		{"TensorFlow on a card that is taken", "foreign_process", failure("gpu", "unknown", starved(300<<20)), failure("gpu", "unknown", starved(30<<30))},
		{"the driver holds the rollout", "loader_workers", failure("host", "rollout", largest("ray::TaskRunner.run", "ray::Worker")), failure("host", "rollout", largest("ray::Worker", "ray::TaskRunner.run"))},
		{
			"states that Megatron's distributed optimizer splits over two GPUs", "optimizer_first_step",
			failure("gpu", "optimizer", parameters(8e9, 2), stack("fused_adam.py _initialize_state"), megatron("True")), failure("gpu", "optimizer", parameters(8e9, 2), stack("fused_adam.py _initialize_state"), megatron("False")),
		},
		{"a request as large as the shards of all ranks", "not_sharded", failure("gpu", "backward", shards("fsdp")), failure("gpu", "backward", shards("deepspeed"))},
		{"what fills host memory while a model loads is no leak", "leak_over_steps", failure("host", "training", grown("reading.host_above")), failure("host", "init", grown("reading.host_above"), func(in *Input) { in.Stage = "loading weights:  46%|####" })},
		{"a prompt cache that fills is no leak", "leak_over_steps", failure("host", "rollout", grown("reading.rss")), failure("host", "rollout", grown("ggml.prompt_cache"))},
		{"a trainer that sleeps while the engine generates", "host_offload", failure("host", "unknown", setting("colocate", "True"), func(in *Input) { in.Framework = "slime" }), failure("host", "unknown", setting("colocate", "True"), func(in *Input) { in.Framework = "verl" })},
		{"states on their way", "host_offload", failure("host", "unknown", func(in *Input) { in.Text = "name=reference.load_states" }), failure("gpu", "unknown", func(in *Input) { in.Text = "name=reference.load_states" })},
		{
			"llama.cpp's cache in host memory fills the limit", "limit_too_small", failure("host", "init", limit(14), func(in *Input) { in.HostCache = 14 << 30 }),
			failure("host", "init", limit(64), func(in *Input) { in.HostCache = 14 << 30 }),
		},
		{
			"the cache that llama.cpp was making takes more than the machine", "engine_share_too_small",
			failure("host", "init", func(in *Input) { in.NodeRAM = bytes(62) }, settings("n_ctx", "1048576", "n_layer", "32", "n_embd_k_gqa", "1024", "n_embd_v_gqa", "1024")),
			failure("host", "init", func(in *Input) { in.NodeRAM = bytes(62) }, settings("n_ctx", "8192", "n_layer", "32", "n_embd_k_gqa", "1024", "n_embd_v_gqa", "1024")),
		},
		{
			"a cache in host memory takes most of the machine", "engine_share_too_small", failure("host", "init", func(in *Input) { in.HostCache, in.NodeRAM = 48<<30, bytes(59) }),
			failure("host", "init", func(in *Input) { in.HostCache, in.NodeRAM = 8<<30, bytes(59) }),
		},
		{"a tiny limit", "limit_too_small", failure("host", "data", limit(8)), failure("host", "data", limit(480))},
		{
			"a limit below half of the weights", "limit_too_small", failure("host", "init", parameters(7e9, 1), reached(4), stack("modeling_utils.py from_pretrained")),
			failure("host", "init", parameters(7e9, 1), reached(9), stack("modeling_utils.py from_pretrained")),
		},
		{"growth before the second step is start-up", "host_offload", failure("host", "training", grown("reading.host"), setting("param_offload", "True"), func(in *Input) { in.LastStep = number(0) }), failure("host", "training", grown("reading.host"), setting("param_offload", "True"), func(in *Input) { in.LastStep = number(9) })},
		{"the card's readings grow", "leak_over_steps", failure("gpu", "forward", grown("reading.card")), failure("gpu", "init", grown("reading.card"))},
		{
			"a checkpoint read onto the card", "wrong_device", failure("gpu", "checkpoint", stack("helper.py resume_checkpoint", "torch/serialization.py _load", "torch/serialization.py _cuda_deserialize")),
			failure("gpu", "checkpoint", stack("helper.py save_checkpoint", "fully_sharded_data_parallel.py state_dict")),
		},
		{
			"a checkpoint, not an object from another rank", "wrong_device", failure("gpu", "logprob", stack("maker.py load", "torch/storage.py _load_from", "torch/serialization.py _load")),
			failure("gpu", "logprob", stack("maker.py make_experience_list", "torch/distributed/distributed_c10d.py broadcast_object_list", "torch/storage.py _load_from_bytes", "torch/serialization.py _load")),
		},
		{
			"a resumed script before its first step", "wrong_device", failure("gpu", "forward", script, setting("init_from", "resume"), stack("model.py forward")),
			failure("gpu", "forward", script, setting("init_from", "scratch"), stack("model.py forward")),
		},
		{
			"a resumed run that has trained on", "activations", failure("gpu", "forward", script, setting("init_from", "resume"), func(in *Input) { in.LastStep = number(40) }),
			failure("gpu", "forward", script, setting("init_from", "resume")),
		},
		{
			"all of a model trained on a card that is too small", "states_too_big", failure("gpu", "backward", parameters(13e9, 1), setting("finetuning_type", "full")),
			failure("gpu", "backward", parameters(13e9, 1), setting("finetuning_type", "lora")),
		},
		{
			"the banner tells what is trained", "states_too_big", failure("gpu", "backward", parameters(13e9, 1), trained(13015864320)),
			failure("gpu", "backward", parameters(13e9, 1), trained(6553600)),
		},
		{
			"states that are split fit", "activations", failure("gpu", "backward", parameters(13e9, 8), trained(13015864320), func(in *Input) { in.Backend = "fsdp" }),
			failure("gpu", "backward", parameters(13e9, 8), trained(13015864320), func(in *Input) { in.Unsharded = true }),
		},
		{
			"a script of TRL trains all unless told otherwise", "states_too_big",
			failure("gpu", "backward", parameters(90e9, 8), sharded, setting("--per_device_train_batch_size", "1"), setting("gradient_accumulation_steps", "8"), stack("/trl/examples/scripts/sft_vlm.py <module>", "/accelerate/accelerator.py backward")),
			failure("gpu", "backward", parameters(30e9, 16), sharded, setting("--per_device_train_batch_size", "1"), setting("gradient_accumulation_steps", "8"), stack("/trl/examples/scripts/sft_vlm.py <module>", "/accelerate/accelerator.py backward")),
		},
		{
			"shards in 32 bits take twice as much", "states_too_big", failure("gpu", "backward", parameters(69e9, 7), setting("use_peft", "False"), setting("mixed_precision", "True"), sharded),
			failure("gpu", "backward", parameters(69e9, 64), setting("use_peft", "False"), setting("mixed_precision", "True"), sharded),
		},
		{
			"a program that trains all of it", "states_too_big", failure("gpu", "backward", parameters(40e9, 8), sharded, func(in *Input) { in.Application = "torchtitan" }),
			failure("gpu", "backward", parameters(40e9, 8), sharded, func(in *Input) { in.Application, in.Adapters = "torchtitan", true }),
		},
		{
			"ZeRO stage 2 keeps the weights whole", "states_too_big", failure("gpu", "backward", parameters(22e9, 8), trained(22000000000), setting("zero_stage", "2"), deepspeed),
			failure("gpu", "backward", parameters(22e9, 8), trained(22000000000), setting("zero_stage", "3"), deepspeed),
		},
		{
			"more than the weights while they load, in a script that may hold them twice", "wrong_dtype",
			failure("gpu", "init", stack("a.py load_model"), parameters(8e9, 4), func(in *Input) { in.Allocated = bytes(44) }),
			failure("gpu", "init", stack("a.py load_model"), parameters(8e9, 4), setting("reward_pretrain", "x"), func(in *Input) { in.Allocated = bytes(44) }),
		},
		{
			"what DeepSpeed held before the first batch, with gradients to come", "states_too_big",
			failure("gpu", "backward", parameters(14e9, 4), setting("zero_stage", "2"), deepspeed, setUp(66)),
			failure("gpu", "backward", parameters(14e9, 4), setting("zero_stage", "2"), deepspeed, setUp(50)),
		},
		{
			"what DeepSpeed held leaves room for a small request only", "states_too_big",
			failure("gpu", "backward", deepspeed, setUp(70)),
			failure("gpu", "backward", deepspeed, setUp(70), func(in *Input) { in.Requested = bytes(6) }),
		},
		{
			"states in host memory", "activations", failure("gpu", "backward", parameters(22e9, 8), trained(22000000000), setting("zero_stage", "2"), setting("adam_offload", "true"), deepspeed),
			failure("gpu", "backward", parameters(22e9, 8), trained(22000000000), setting("zero_stage", "2"), deepspeed),
		},
		{
			"the head, with recomputation off", "logits", failure("gpu", "forward", at(memory.Logits), setting("gradient_checkpointing", "false")),
			failure("gpu", "forward", at(memory.MLP), setting("gradient_checkpointing", "false")),
		},
		{
			"a rank that holds the whole model before the first step", "host_load", failure("host", "unknown", parameters(35e9, 16), largest("python", "python")),
			failure("host", "unknown", parameters(35e9, 16), largest("python", "python"), func(in *Input) { in.LastStep = number(3) }),
		},
		{
			"experts on several ranks", "moe_imbalance", failure("gpu", "forward", stack("megatron/core/transformer/moe/token_dispatcher.py dispatch"), alone),
			failure("gpu", "forward", stack("megatron/core/transformer/moe/token_dispatcher.py dispatch"), alone, func(in *Input) { in.GPUs = 1 }),
		},
		{
			"each rank has all experts", "moe_imbalance", failure("gpu", "forward", stack("moe/experts.py forward"), alone, setting("expert_model_parallel_size", "8")),
			failure("gpu", "forward", stack("moe/experts.py forward"), alone, setting("expert_model_parallel_size", "1")),
		},
		{
			"experts of transformers", "moe_imbalance", failure("gpu", "forward", stack("moe/experts.py forward"), alone),
			failure("gpu", "forward", stack("/transformers/models/mixtral/modeling_mixtral.py mixtralsparsemoeblock forward"), alone),
		},
		{"a tensor's axes are swapped", "moe_imbalance", failure("gpu", "forward", stack("moe/experts.py forward"), alone), failure("gpu", "forward", stack("model.py forward x.permute(0, 2, 1)"), alone)},
		{
			"a rank above the first shows that others share the states", "activations", failure("gpu", "backward", parameters(13e9, 0), setting("finetuning_type", "full"), func(in *Input) { in.Rank = number(7) }),
			failure("gpu", "backward", parameters(13e9, 0), setting("finetuning_type", "full"), func(in *Input) { in.Rank = number(0) }),
		},
		{
			"DeepSpeed makes the states at start-up", "optimizer_first_step", failure("gpu", "init", stack("stage_1_and_2.py initialize_optimizer_states", "adamw.py _init_group")),
			failure("gpu", "init", stack("modeling_utils.py from_pretrained")),
		},
		{
			"a log-prob pass that asks for no entropy builds logits", "entropy_chain", failure("gpu", "logprob", stack("dp_actor.py compute_log_prob output = self.actor.compute_log_prob(data=data, calculate_entropy=true)")),
			failure("gpu", "logprob", stack("dp_actor.py compute_log_prob output = self.ref_policy.compute_log_prob(data=data, calculate_entropy=false)")),
		},
		{
			"an engine that does not sleep outweighs the place of the failure, but not activations that are kept", "engine_share_too_large",
			failure("gpu", "backward", func(in *Input) { in.SharesCard, in.EngineAwake = true, true }),
			failure("gpu", "backward", setting("gradient_checkpointing", "false"), func(in *Input) { in.SharesCard, in.EngineAwake = true, true }),
		},
		{
			"an engine's memory that cannot be mapped again is no matter of the weights that come in", "engine_share_too_large",
			failure("gpu", "weight_update", func(in *Input) { in.Patterns, in.SharesCard, in.EngineAwake = []string{"tms.resume"}, true, true }),
			failure("gpu", "weight_update", func(in *Input) { in.Patterns, in.SharesCard, in.EngineAwake = []string{"cuda.oom"}, true, true }),
		},
		{
			"a rank that finds its card full before it has anything there", "foreign_process",
			failure("gpu", "init", stack("torch/cuda/__init__.py set_device"), func(in *Input) { in.Kind, in.GPUs, in.Process = "gpu_driver_oom", 4, nil }),
			failure("gpu", "init", stack("torch/cuda/__init__.py _lazy_init"), func(in *Input) { in.Kind, in.GPUs, in.Process = "gpu_driver_oom", 4, nil }),
		},
		{
			"a trainer that wakes has no activations yet", "engine_share_too_large",
			failure("gpu", "training", stack("actor.py wake_up"), func(in *Input) { in.SharesCard = true }),
			failure("gpu", "training", func(in *Input) { in.SharesCard = true }),
		},
		{
			"ZeRO-2 over two GPUs holds eleven bytes a parameter", "not_sharded",
			failure("gpu", "optimizer", parameters(7.5e9, 2), func(in *Input) { in.Backend = "fsdp" }),
			failure("gpu", "optimizer", parameters(7.5e9, 2), setting("zero_stage", "2"), func(in *Input) { in.Backend = "deepspeed" }),
		},
		{"the host's readings grow", "leak_over_steps", failure("host", "training", grown("reading.host")), failure("host", "training", grown("reading.card"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			best, _ := Rank(c.proves)
			assert.Equal(t, c.id, best.ID, best.For)
			assert.NotEmpty(t, best.Text)
			best, _ = Rank(c.looks)
			assert.NotEqual(t, c.id, best.ID, best.For)
		})
	}
}

func TestEveryCauseHasARowOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, id := range IDs() {
		assert.False(t, seen[id], id)
		seen[id] = true
	}
	assert.Len(t, seen, 31, "thirty and unknown")
}

func TestAFigureThatSpeaksAgainstACauseExcludesIt(t *testing.T) {
	t.Parallel()
	short := failure("gpu", "backward", func(in *Input) { in.Text = "see documentation ... to avoid fragmentation" })
	best, rivals := Rank(short)
	assert.Equal(t, "activations", best.ID)
	require.Len(t, rivals, 1)
	assert.Equal(t, "fragmentation", rivals[0].ID)
	assert.Equal(t, []string{"only 307.2 MiB is reserved but unused; 2.00 GiB was missing"}, rivals[0].Against[:1])
	assert.Equal(t, "low", rivals[0].Confidence)
}

func TestNothingSpeaksForAnything(t *testing.T) {
	t.Parallel()
	best, rivals := Rank(failure("gpu", "unknown"))
	assert.Equal(t, Unknown, best.ID)
	assert.Equal(t, "low", best.Confidence)
	assert.Empty(t, rivals)
}

// TestHostFiguresAreOfOneNode has two nodes: a limit and a kill are one node's.
func TestHostFiguresAreOfOneNode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		gpus, node   int64
		load, states string
	}{
		{"two nodes", 16, 8, "8 ranks per node x 7B parameters x 2 bytes = 104.31 GiB", "16 bytes x 7B parameters / 2 nodes = 52.15 GiB"},
		{"one node", 8, 8, "8 ranks per node", "16 bytes x 7B parameters = 104.31 GiB"},
		{"nobody knows", 16, 0, "into host RAM", "fill host RAM"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			size := func(in *Input) { in.Parameters.Value, in.GPUs, in.PerNode = 7e9, c.gpus, c.node }
			load, _ := Rank(failure("host", "init", stack("a.py from_pretrained"), size))
			assert.Equal(t, "host_load", load.ID)
			assert.Contains(t, load.Text, c.load)
			wide, _ := Rank(failure("host", "init", stack("a.py from_pretrained"), size, held("python", 24, 0)))
			assert.Equal(t, c.node > 0, strings.Contains(wide.Text, "x 4 bytes"))
			states, _ := Rank(failure("host", "optimizer", setting("optimizer_offload", "true"), size))
			assert.Equal(t, "host_offload", states.ID)
			assert.Contains(t, states.Text, c.states)
		})
	}
}

// dispatched is a generation on a card of 79 GiB of several over which accelerate spread a model.
func dispatched(allocated float64) []func(*Input) {
	return []func(*Input){stack("accelerate/hooks.py new_forward", "modeling_opt.py forward attn_weights = attn_weights.view("), func(in *Input) {
		in.Infers, in.Allocated, in.Total, in.Requested = true, bytes(allocated), bytes(79), bytes(.3)
	}}
}

// onCards are processes that nvidia-smi lists; the first card failed.
func onCards(listed ...Listed) func(in *Input) {
	first := 0
	return func(in *Input) { in.Device, in.Listed = &first, listed }
}

func TestSharedMemoryFillsALimit(t *testing.T) {
	t.Parallel()
	for shared, want := range map[float64]string{20: "20.00 GiB of 64.00 GiB is shared memory", 2: "The log does not show what filled"} {
		best, _ := Rank(failure("host", "unknown", hostLimit(64), func(in *Input) { in.LimitReached, in.SHMUsed = true, bytes(shared) }))
		assert.Equal(t, "limit_too_small", best.ID)
		assert.Contains(t, best.Text, want)
	}
}

func TestTheCacheIsSetBesideTheLongestSequence(t *testing.T) {
	t.Parallel()
	for want, n := range map[string][2]int64{
		"the KV cache has room for 37,936 tokens; one sequence may have up to 65,536": {37936, 65536},
		"the engine's share of the GPU leaves too little for the KV cache":            {0, 65536},
	} {
		in := failure("gpu", "init", func(in *Input) { in.NoRoomForCache, in.CacheTokens, in.PlannedTokens = true, n[0], n[1] })
		best, _ := Rank(in)
		assert.Equal(t, want, best.Text)
	}
}

func TestSequencesThatNeedABlockEachAreSetBesideTheBlocks(t *testing.T) {
	t.Parallel()
	for want, planned := range map[string]int64{
		"the cache has 856 Mamba blocks, one per sequence; max_num_seqs is 1,024": 1024,
		"the engine's share of the GPU leaves too little for the KV cache":        512,
	} {
		best, _ := Rank(failure("gpu", "init", func(in *Input) { in.NoRoomForCache, in.CacheBlocks, in.PlannedSequences = true, 856, planned }))
		assert.Equal(t, want, best.Text)
	}
}

func TestFragmentationNeedsMoreThanAPeaksSlack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		total, requested, free, idle float64
		fragmented                   bool
	}{
		"a tenth of the card":                             {80, 3, 1, 8, true},
		"five percent of the card":                        {80, 3, 1, 4, false},
		"an old trainer's peak on a small card":           {10.92, .2, .03, .49, false},
		"a small card, whose tenth is nothing":            {1.95, .18, .13, .24, false},
		"many times the request":                          {24, .08, .07, 1.04, true},
		"less than was missing":                           {80, 12, 1, 9, false},
		"what was free would have been enough, in pieces": {139.8, 3.95, 3.95, 4.91, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := failure("gpu", "backward", func(in *Input) {
				in.Total, in.Requested, in.Free, in.Idle, in.Shortfall = bytes(c.total), bytes(c.requested), bytes(c.free), bytes(c.idle), nil
				if c.requested > c.free {
					in.Shortfall = bytes(c.requested - c.free)
				}
			})
			assert.Equal(t, c.fragmented, Fragmented(in) != "")
			assert.Equal(t, !c.fragmented && c.idle < c.requested, NotFragmented(in) != "", "no reserve that could hold the request rules it out")
		})
	}
}

func TestTheUnusedReserveIsMostlyHoles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		requested, free, idle float64
		holes                 bool
	}{
		"ten times what was missing":                       {1.5, .7, 9, true},
		"four times, and a quarter of the card":            {9, 3.9, 21, true},
		"twice the request, and a fifth of the card":       {8, 2, 17, true},
		"twice the request, and an eighth of the card":     {5, .5, 10.5, false},
		"less than twice the request, a fifth of the card": {9, 2, 17, false},
	} {
		in := failure("gpu", "backward", func(in *Input) {
			in.Total, in.Requested, in.Free, in.Idle, in.Shortfall = bytes(80), bytes(c.requested), bytes(c.free), bytes(c.idle), bytes(c.requested-c.free)
		})
		assert.Equal(t, c.holes, mostlyHoles(in) != "", name)
	}
}

func TestFragmentationIsNamedAndRuledOutByTheSameFigures(t *testing.T) {
	t.Parallel()
	for idle, want := range map[float64]string{
		.3:  "only 307.2 MiB is reserved but unused; 2.00 GiB was missing",
		2.5: "", // with what is free, it could hold the request
		3.5: "", // it could hold the request
		12:  "",
	} {
		in := failure("gpu", "rollout", func(in *Input) { in.Idle = bytes(idle) })
		assert.Equal(t, want, NotFragmented(in))
		assert.Equal(t, idle == 12, Fragmented(in) == "12.00 GiB is reserved but unused, and 2.00 GiB of the 3.00 GiB requested was missing")
		assert.Equal(t, idle == 3.5, UsualReserve(in) == "an unused reserve of 3.50 GiB is normal on a GPU of 80.00 GiB")
	}
}

func TestAKnownRequestIsSaidWhereItsCauseIsUnknown(t *testing.T) {
	t.Parallel()
	best, _ := Rank(failure("gpu", "unknown", request(memory.Explanation{What: "x", Met: true, Text: "scratch memory = 1.50 GiB."})))
	assert.Equal(t, Unknown, best.ID)
	assert.Equal(t, "The failed request is scratch memory = 1.50 GiB.", best.Text)
	best, _ = Rank(failure("gpu", "unknown", request(memory.Explanation{What: "x", Text: "scratch memory = 1.50 GiB."})))
	assert.NotContains(t, best.Text, "scratch")
}

func TestACheckpointThatIsLoadedIsNotGathered(t *testing.T) {
	t.Parallel()
	for stage, want := range map[string]string{"loading states from out/step_42000": "host_load", "restoring states from the checkpoint path at /out/last.ckpt": "host_load", "=> loading checkpoint 'last.pth'": "host_load", "saving current state to out/step_42000": "checkpoint_gather"} {
		best, _ := Rank(failure("host", "checkpoint", func(in *Input) { in.Stage, in.GPUs = stage, 4 }))
		assert.Equal(t, want, best.ID, stage)
	}
}

// TestNaNIsNoNumber gives settings that no comparison holds for.
func TestNaNIsNoNumber(t *testing.T) {
	t.Parallel()
	in := failure("gpu", "init", func(in *Input) {
		in.Setting = func(names ...string) (string, string, bool) { return names[0], "NaN", true }
	})
	assert.Zero(t, in.number("batch"))
	_, _, share := in.shareSet()
	assert.Zero(t, share)
}
