package remedies

import (
	"slices"
	"strings"
	"sync"
)

// lever is a kind of change, independent of programs' names for it.
type lever struct {
	id     string
	topics []string // of guides' items that pull it
	keys   []string // parts of settings' names whose change pulls it; behind a "=" the whole name
	way    string   // direction of the change, or its value; any when empty
	costs  string   // what it costs; empty: nothing worth a word
	trains bool     // it acts on what only training has: gradients, states, activations that are kept
}

// levers lists the kinds of changes. An item pulls the first match, by topic or else by settings.
var levers = []lever{
	{id: "micro-batch", topics: []string{"micro-batch", "logprob-batch"}, keys: []string{"microbatch", "micro_batch", "local_batch_size", "per_device_train_batch", "micro_train_batch", "micro_rollout_batch", "logprob_batch_size", "train_batch_size_per_gpu"}, way: "down", costs: "more passes per step; for the same result, raise gradient accumulation by the same factor"},
	{id: "cached-loss", topics: []string{"cached-loss"}, costs: "a second forward pass", trains: true},
	{id: "pieces", topics: []string{"pieces"}, costs: "more passes"},
	{id: "calibration-samples", topics: []string{"calibration-samples"}, costs: "some quality: the calibration sees less"},
	{id: "calibration-cache", topics: []string{"calibration-cache", "calibration-hessians", "calibration-layers", "calibration-disk"}, costs: "slower: more is copied between card and host"},
	{id: "group", topics: []string{"group"}, way: "down", trains: true},
	{id: "eval-logits", keys: []string{"preprocess_logits_for_metrics", "prediction_loss_only", "return_predictions", "gather_for_metrics", "=append"}},
	{id: "eval-batch", topics: []string{"eval-batch"}, keys: []string{"eval_batch_size", "eval_accumulation"}, costs: "slower evaluation"},
	{id: "token-budget", topics: []string{"token-budget"}, keys: []string{"max_token_len", "max_tokens_per_gpu", "max_tokens_per_mb", "max_tokens_per_microbatch", "mb_tokens"}, way: "down", costs: "more passes per step", trains: true},
	{id: "dynamic-batch", topics: []string{"dynamic-batch"}, way: "on", costs: "the number of samples per micro-batch varies", trains: true},
	{id: "packing", keys: []string{"packing_samples", "=packing"}, way: "set", trains: true},
	{id: "padding", keys: []string{"use_remove_padding", "=batch_size_type"}, trains: true},
	{id: "fused-layers", topics: []string{"fused-layers"}},
	{id: "fused-loss", topics: []string{"fused-kernels", "fused-loss", "liger", "recompute-loss", "logprob-chunks"}, keys: []string{"use_liger", "liger_kernel", "fused_kernels", "cross_entropy_loss_fusion", "cross_entropy_fusion", "loss_chunk", "cut_cross_entropy", "fused_linear", "lm_head_chunk"}, trains: true},
	{id: "entropy", topics: []string{"entropy-chunks"}, keys: []string{"entropy_"}, trains: true},
	{id: "recompute", topics: []string{"gradient-checkpointing", "gradient-checkpointing-megatron", "vision-checkpointing"}, keys: []string{"gradient_checkpointing", "activation_checkpointing", "recompute_granularity"}, costs: "steps take about a quarter longer", trains: true},
	{id: "mixed-precision", topics: []string{"compute-dtype"}, keys: []string{"=bf16", "=amp", "=mixed_precision"}, way: "set"},
	{id: "activation-offload", topics: []string{"activation-offload"}, keys: []string{"activation_offload"}, costs: "host memory, and time to copy", trains: true},
	{id: "pipeline-schedule", topics: []string{"pipeline-schedule"}, costs: "more idle time between stages", trains: true},
	{id: "sequence-parallel", topics: []string{"ulysses", "sequence-parallel"}, keys: []string{"context_parallel", "sequence_parallel", "ulysses", "ring_attn"}, way: "up", costs: "fewer data-parallel replicas"},
	{id: "attention", topics: []string{"flash-attention", "attention"}, keys: []string{"attn_implementation", "attention_backend", "flash_attn", "flash_attention"}},
	{id: "image-size", keys: []string{"=longest_max_size", "=image_size", "=img_size", "=imgsz", "crop_size", "=tile_size", "=patch_size", "=input_size", "=img_scale", "=resolution", "=max_size_train", "=min_size_train", "=roi_size", "=image_resolution"}, way: "down", costs: "less detail in the images"},
	{id: "protein-crop", topics: []string{"protein-crop"}, way: "down", costs: "shorter pieces of the protein in each sample", trains: true},
	{id: "alignment", topics: []string{"alignment"}, way: "down", costs: "less of the alignment in each sample"},
	{id: "assign-on-host", topics: []string{"assign-on-host"}, costs: "slower steps for images with more objects than that", trains: true},
	{id: "frames", keys: []string{"=num_frames", "=n_frames", "=max_frames", "=clip_len", "=frames_per_clip", "=clip_length", "=num_video_frames", "=n_sample_frames"}, way: "down", costs: "shorter clips"},
	{id: "optimizer-offload", topics: []string{"optimizer-offload", "cpu-optimizer", "offload-fsdp", "offload-megatron"}, keys: []string{"adam_offload", "offload_optimizer", "optimizer_offload", "optimizer_cpu_offload"}, way: "set", costs: "host memory for the states, and slower steps", trains: true},
	{id: "layer-offload", topics: []string{"layer-offload"}, costs: "much slower: each layer is copied to the card when it is used"},
	{id: "fewer-pictures", topics: []string{"fewer-pictures"}, costs: "fewer or smaller pictures at a time"},
	{id: "no-samples", topics: []string{"no-samples"}, costs: "no samples to judge progress by"},
	{id: "tiles", topics: []string{"tiles"}, costs: "seams may show between tiles"},
	{id: "vram-margin", keys: []string{"reserve_vram", "fit_target", "gpu_overhead", "forge_inference_memory"}, costs: "less of the weights stays on the card"},
	{id: "param-offload", topics: []string{"param-offload"}, keys: []string{"offload_param", "param_offload", "offload_policy", "ref_offload"}, way: "set", costs: "host memory for the weights, and time to copy them"},
	{id: "small-optimizer", topics: []string{"small-optimizer", "optimizer-in-backward"}, keys: []string{"optim", "precision_aware_optimizer", "optimizer_type"}, costs: "less precise optimizer states", trains: true},
	{id: "shard", topics: []string{"zero-stage"}, keys: []string{"zero_stage", "deepspeed_stage", "deepspeed_zpg", "=deepspeed", "use_distributed_optimizer", "fsdp_size", "transformer_layer_cls", "wrap_policy", "fully_shard"}, costs: "more communication", trains: true},
	{id: "sync-gradients", topics: []string{"sync-gradients"}, keys: []string{"sync_each_batch"}, costs: "more communication in every micro-batch", trains: true},
	{id: "accumulation", keys: []string{"=gradient_accumulation_steps"}, costs: "a smaller global batch, unless more GPUs make up for it", trains: true},
	{id: "fsdp2", topics: []string{"fsdp2"}, costs: "other checkpoints", trains: true},
	{id: "environments", topics: []string{"environments"}, costs: "fewer samples in each iteration", trains: true},
	{id: "horizon", topics: []string{"horizon"}, costs: "shorter rollouts", trains: true},
	{id: "replay", topics: []string{"replay"}, costs: "samples are forgotten sooner", trains: true},
	{id: "launcher", topics: []string{"launcher"}},
	{id: "own-process", topics: []string{"own-process"}, costs: "the libraries are loaded again each time"},
	{id: "more-gpus", topics: []string{"more-gpus"}, keys: []string{"n_gpus_per_node"}, way: "up", costs: "more GPUs"},
	{id: "train-tp", topics: []string{"train-tp", "tensor-parallel"}, keys: []string{"tensor_model_parallel_size"}, way: "up", costs: "more communication in every layer"},
	{id: "train-pp", keys: []string{"pipeline_model_parallel_size", "pipeline_parallel_degree", "=pp_size"}, way: "up", costs: "GPUs wait for each other at the ends of a step"},
	{id: "adapters", topics: []string{"quantization", "adapters"}, keys: []string{"lora_rank", "load_in_4bit", "load_in_8bit", "=use_peft", "=use_lora", "=enable_lora", "finetuning_type"}, way: "set", costs: "some quality: only adapters are trained, or the weights are quantized", trains: true},
	{id: "fewer-adapters", topics: []string{"fewer-adapters"}, costs: "quality: the experts get no adapters", trains: true},
	{id: "wide-checkpoint", topics: []string{"wide-checkpoint"}},
	{id: "half-states", topics: []string{"half-states"}, costs: "precision: small updates are lost to rounding", trains: true},
	{id: "fewer-modules", topics: []string{"fewer-modules"}, costs: "quality: embeddings and head are not trained", trains: true},
	{id: "text-encoder", topics: []string{"text-encoder"}, costs: "quality: the text encoder is not trained", trains: true},
	{id: "cached-captions", topics: []string{"cached-captions"}, costs: "captions can't be shuffled or dropped", trains: true},
	{id: "freeze", topics: []string{"frozen-layers"}, costs: "quality: the lower layers are not trained", trains: true},
	{id: "gather-window", topics: []string{"reshard"}, keys: []string{"max_live_parameters", "overlap_comm", "prefetch_bucket_size", "limit_all_gathers", "max_reuse_distance"}, costs: "less overlap of communication and computation", trains: true},
	{id: "buckets", keys: []string{"reduce_bucket_size", "allgather_bucket_size", "bucket_cap_mb"}, way: "down", costs: "more messages", trains: true},
	{id: "sub-group", keys: []string{"sub_group_size"}, way: "down", trains: true},
	{id: "fit", topics: []string{"engine-fit"}, costs: "slower: what is not on the card is computed by the CPU"},
	{id: "experts", topics: []string{"engine-experts"}},
	{id: "experts-on-cards", topics: []string{"engine-experts-on-cards"}},
	{id: "projector", topics: []string{"projector"}, costs: "slower: the CPU encodes the images"},
	{id: "mmap", topics: []string{"engine-mmap"}},
	{id: "layers", topics: []string{"engine-layers"}},
	{id: "dtype", topics: []string{"dtype", "cast", "compute-type"}, keys: []string{"torch_dtype", "dtype", "pure_bf16", "=half"}},
	{id: "beams", topics: []string{"beams"}, costs: "some quality"},
	{id: "smaller-model", topics: []string{"smaller-model"}, costs: "some quality"},
	{id: "no-grad", keys: []string{"no_grad", "inference_mode", "requires_grad"}},
	{id: "windows", topics: []string{"windows"}, costs: "slower: the picture is segmented window by window"},
	{id: "stream", topics: []string{"stream-results"}},
	{id: "metric", topics: []string{"metric-states"}},
	{id: "metric-reset", topics: []string{"metric-reset"}},
	{id: "detach", topics: []string{"kept-outputs"}, keys: []string{"=detach"}},
	{id: "update", topics: []string{"update"}, keys: []string{"=version"}, way: "set"},
	{id: "prefix-cache", topics: []string{"prefix-cache"}, costs: "prompts that begin alike are computed as a whole each time"},
	{id: "restart", topics: []string{"restart"}, keys: []string{"resume_from_checkpoint", "resume_mode", "find_last_checkpoint"}, way: "set", costs: "buys time only: the leak remains"},
	{id: "recycle", topics: []string{"recycle"}, costs: "buys time only: the leak remains"},
	{id: "foreach", topics: []string{"foreach"}, keys: []string{"foreach"}, trains: true},
	{id: "no-map", topics: []string{"no-map"}},
	{id: "spread", keys: []string{"device_map", "auto_devices", "=max_memory", "=parallelize"}},
	{id: "stitch-on-host", topics: []string{"stitch-on-host"}, costs: "time to copy each window's result"},
	{id: "async-load", topics: []string{"async-load"}, costs: "slower loading"},
	{id: "segments", topics: []string{"expandable-segments"}},
	{id: "split-size", topics: []string{"max-split-size"}},
	{id: "keep-alive", topics: []string{"keep-alive"}, costs: "time to load that model again for its next request"},
	{id: "others", topics: []string{"others"}, keys: []string{"other processes"}},
	{id: "load-on-host", keys: []string{"map_location"}},
	{id: "old-adapters", topics: []string{"old-adapters"}},
	{id: "server-workers", topics: []string{"server-workers"}, costs: "requests wait for each other"},
	{id: "one-device", topics: []string{"own-card"}, keys: []string{"set_device", "cuda_visible_devices"}},
	{id: "share-down", topics: []string{"engine-share-down"}, keys: []string{"gpu_memory_utilization", "mem_fraction_static", "cache_max_entry_count", "free_gpu_memory_fraction", "engine_mem_util"}, way: "down", costs: "a smaller KV cache: fewer sequences at once"},
	{id: "share-up", topics: []string{"engine-share-up"}, keys: []string{"gpu_memory_utilization", "mem_fraction_static", "cache_max_entry_count", "free_gpu_memory_fraction"}, way: "up", costs: "less room for everything else on the GPU"},
	{id: "generator-cache", topics: []string{"generator-cache"}, costs: "fewer completions are generated at once"},
	{id: "sleep", topics: []string{"engine-sleep"}, keys: []string{"free_cache_engine", "sleep", "enable_sleep", "enable_engine_sleep", "offload_rollout", "offload_train", "enable_memory_saver", "colocate"}, way: "set", costs: "time to put the engine to sleep and to wake it"},
	{id: "apart", keys: []string{"colocate"}, costs: "more GPUs"},
	{id: "unified-memory", topics: []string{"unified-memory"}},
	{id: "card-split", topics: []string{"card-split"}},
	{id: "engine-tp", topics: []string{"engine-tp"}, keys: []string{"tensor_parallel_size", "tp_size", "rollout_num_gpus_per_engine", "inference_tp_size"}, way: "up", costs: "more GPUs per engine"},
	{id: "engine-length", topics: []string{"engine-max-len"}, keys: []string{"max_model_len", "context_length", "max_seq_len_to_capture", "session_len", "n_ctx"}, way: "down", costs: "longer sequences are truncated or refused"},
	{id: "all-logits", keys: []string{"gather_all_token_logits", "gather_context_logits"}, costs: "no logits of the prompt's tokens"},
	{id: "engine-total", topics: []string{"engine-total-tokens"}, keys: []string{"max_batch_total_tokens"}, way: "down", costs: "fewer requests at once"},
	{id: "engine-seqs", topics: []string{"engine-max-seqs", "concurrency"}, keys: []string{"max_num_seqs", "max_running_requests", "max_batch_size"}, way: "down", costs: "lower throughput"},
	{id: "engine-chunk", topics: []string{"engine-prefill-chunk"}, keys: []string{"max_num_batched_tokens", "chunked_prefill_size", "max_prefill_token", "max_batch_prefill_tokens", "max_num_tokens"}, way: "down", costs: "slower prefill"},
	{id: "engine-instances", topics: []string{"engine-instances"}, costs: "fewer requests at once"},
	{id: "engine-models", topics: []string{"engine-models"}, costs: "the other models are loaded on request"},
	{id: "engine-arena", topics: []string{"engine-arena"}, costs: "time to take memory again"},
	{id: "engine-multimodal", topics: []string{"engine-multimodal"}, keys: []string{"limit_mm", "max_pixels", "image_max_token", "mm_processor"}},
	{id: "encoder-reserve", topics: []string{"encoder-reserve"}, costs: "a smaller KV cache: fewer sequences at once"},
	{id: "engine-pixels", topics: []string{"engine-pixels"}, costs: "less detail in the images"},
	{id: "image-processor", topics: []string{"image-processor"}, costs: "images take longer to prepare"},
	{id: "prefill-graphs", topics: []string{"prefill-graphs"}, costs: "slower short prompts"},
	{id: "graphs", topics: []string{"engine-capture-sizes"}, keys: []string{"cuda_graph_max_bs", "capture_sizes", "max_capture_size"}, costs: "slower decoding of large batches"},
	{id: "eager", topics: []string{"engine-eager"}, keys: []string{"enforce_eager", "disable_cuda_graph"}, costs: "slower decoding"},
	{id: "compile-mode", topics: []string{"compile-mode"}, costs: "slower small steps: each kernel is launched by itself"},
	{id: "graph-shapes", topics: []string{"graph-shapes"}, costs: "no graphs where the size of the input varies"},
	{id: "padded-shapes", topics: []string{"padded-shapes"}, costs: "more padding to compute"},
	{id: "cache-offload", keys: []string{"cache_implementation"}, costs: "slower generation"},
	{id: "draft-tokens", topics: []string{"engine-draft-tokens"}, way: "down", costs: "fewer tokens in a step"},
	{id: "draft", topics: []string{"engine-draft"}, costs: "fewer of the drafted tokens may be accepted"},
	{id: "draft-device", topics: []string{"engine-draft-device"}},
	{id: "copies", topics: []string{"engine-copies"}, costs: "slower prefill over several cards"},
	{id: "kv-dtype", topics: []string{"engine-kv-dtype"}, keys: []string{"kv_cache_dtype", "cache_type_k", "quant_policy"}, costs: "some quality, from a quantized cache"},
	{id: "engine-quantization", topics: []string{"engine-quantization"}, keys: []string{"quantization"}, costs: "some quality, from quantization"},
	{id: "engine-offload", topics: []string{"engine-offload"}, costs: "much slower: the weights are copied to the card in every step"},
	{id: "update-bucket", topics: []string{"update-bucket"}, keys: []string{"update_weights_bucket", "update_weight_buffer", "weight_chunked_mem"}, way: "down", costs: "a slower weight transfer"},
	{id: "update-layers", keys: []string{"layered_summon", "multi_stage_wake_up", "weight_update_mode", "ds3_gather_for_generation", "move_model_batches"}, costs: "a slower weight transfer"},
	{id: "hybrid-engine", keys: []string{"hybrid_engine"}, costs: "slower generation"},
	{id: "engine-adapters", keys: []string{"vllm_enable_lora"}},
	{id: "reference", keys: []string{"=ref_model", "=beta"}},
	{id: "adapter-rank", keys: []string{"max_lora_rank"}},
	{id: "adapter-slots", topics: []string{"adapter-slots"}, costs: "fewer adapters at once"},
	{id: "own-gpus", keys: []string{"vllm_mode"}, costs: "some GPUs then only generate"},
	{id: "saver-margin", topics: []string{"margin-down", "margin-up"}},
	{id: "pool-share", topics: []string{"pool-share-down"}, costs: "less memory for JAX's own arrays"},
	{id: "prealloc", keys: []string{"xla_python_client", "xla_client_mem", "tf_force_gpu_allow_growth", "=set_visible_devices"}},
	{id: "scratch", keys: []string{"settempmemory"}},
	{id: "empty-cache", keys: []string{"empty_cuda_cache", "empty_cache_steps", "empty_unused_memory_level"}, costs: "time to allocate again"},
	{id: "warm-up", topics: []string{"warm-up"}},
	{id: "nvlink-sharp", topics: []string{"nvlink-sharp"}, costs: "slower collectives"},
	{id: "nccl", keys: []string{"nccl_"}, costs: "slower collectives"},
	{id: "save-type", topics: []string{"save-type"}},
	{id: "save-by-tensor", topics: []string{"save-by-tensor"}},
	{id: "save-once", topics: []string{"save-once"}, costs: "more communication"},
	{id: "rank0-save", topics: []string{"save-on-host"}, keys: []string{"statedictconfig"}},
	{id: "sharded-save", topics: []string{"sharded-save"}, keys: []string{"state_dict_type", "gather_16bit_weights", "consolidated", "ckpt_format"}, costs: "checkpoints come in shards, to be merged later"},
	{id: "own-copies", topics: []string{"own-copies"}, costs: "each rank holds the whole checkpoint in host memory"},
	{id: "merge", topics: []string{"merge", "merge-host"}, keys: []string{"maximum_memory_usage"}, costs: "a slower merge"},
	{id: "lean-save", topics: []string{"lean-save"}, keys: []string{"save_contents", "save_only_model", "no_save_optim"}, costs: "the optimizer's state is not saved, or only for as many ranks"},
	{id: "offload-off", topics: []string{"offload-off"}, keys: []string{"offload", "pin_memory"}, costs: "more GPU memory"},
	{id: "host-cache", keys: []string{"swap_space", "hicache_ratio", "host_cache_size", "hicache_size", "kv_cache_host_memory_bytes", "kv_offloading_size", "max_cpu_loras", "max_local_cpu_size", "vllm_cpu_kvcache_space"}, costs: "room for fewer sequences in host memory"},
	{id: "input-cache", topics: []string{"input-cache"}, costs: "images are preprocessed again each time"},
	{id: "lazy-load", topics: []string{"lazy-load"}, keys: []string{"memory_efficient_load", "cpu_ram_efficient_loading", "low_cpu_mem_usage", "use_meta_tensor", "zero3_init", "lazy_unpickle", "low_cpu_memory"}},
	{id: "trial-data", topics: []string{"trial-data"}},
	{id: "ray-tasks", topics: []string{"ray-tasks"}, costs: "fewer tasks at once"},
	{id: "array-file", topics: []string{"array-file"}, costs: "slower access"},
	{id: "unload", topics: []string{"unload-models"}, costs: "models are loaded again after each use"},
	{id: "node-cache", topics: []string{"node-cache"}, costs: "nodes run again"},
	{id: "data-cache", topics: []string{"data-cache"}, costs: "slower loading of data"},
	{id: "sample-buffer", topics: []string{"sample-buffer"}, way: "down", costs: "samples are shuffled or replayed within a smaller window"},
	{id: "numa-bind", topics: []string{"numa-bind"}, costs: "slower access to the other node's memory"},
	{id: "numa-copies", topics: []string{"numa-copies"}, costs: "slower reads from the other node's memory"},
	{id: "build-jobs", topics: []string{"build-jobs"}, costs: "a slower build"},
	{id: "temp-file", topics: []string{"temp-file"}, costs: "room on disk, and time"},
	{id: "writer-batch", keys: []string{"writer_batch_size"}, way: "down"},
	{id: "pinning", topics: []string{"pinning"}, costs: "slower copies to the GPU"},
	{id: "reference-sync", topics: []string{"reference-sync"}},
	{id: "pinned-blocks", topics: []string{"pinned-blocks"}, costs: "slower copies to and from the GPU"},
	{id: "routing-replay", topics: []string{"routing-replay"}},
	{id: "val-batch", topics: []string{"validation-batch"}},
	{id: "in-flight", topics: []string{"rollouts-in-flight"}, way: "down", costs: "generation may wait for the slowest answers"},
	{id: "rollout-batch", topics: []string{"rollout-batch"}, way: "down", costs: "fewer samples in a step; the training changes"},
	{id: "workers", topics: []string{"data-workers"}, keys: []string{"num_workers", "num_proc", "prefetch_factor", "workers", "workers_per_gpu"}, way: "down", costs: "slower loading of data"},
	{id: "object-store", keys: []string{"object_store_memory"}},
	{id: "host-limit", keys: []string{"mem", "=m", "mem_per_cpu", "mem_per_gpu", "limits.memory", "memory", "h_vmem"}, way: "up"},
	{id: "card-limit", topics: []string{"card-limit"}},
	{id: "gpu-share", topics: []string{"gpu-share"}, costs: "less of the card for other containers"},
	{id: "pod-request", topics: []string{"pod-request"}, costs: "nodes that have so much free"},
	{id: "vm-memory", topics: []string{"vm-memory"}, way: "up", costs: "less memory for the rest of the computer"},
	{id: "submit", topics: []string{"submit"}},
	{id: "engine-swap", topics: []string{"engine-swap"}, costs: "host memory for each GPU"},
	{id: "page-file", topics: []string{"page-file"}, costs: "room on disk"},
	{id: "swap", topics: []string{"swap"}, costs: "a slower load, and room on disk"},
	{id: "host-node", topics: []string{"host-node"}},
	{id: "shm-copy", keys: []string{"use_shm"}, costs: "a slower load of the weights"},
	{id: "shm-size", keys: []string{"shm_size", "sizelimit", "shm"}},
	{id: "prompt-cache", keys: []string{"cache_ram"}, costs: "repeated prompts are processed again"},
	{id: "nvme", topics: []string{"nvme"}, costs: "slower steps, and a fast disk on every node"},
	{id: "malloc", topics: []string{"tcmalloc", "jemalloc"}, keys: []string{"malloc_arena_max"}},
	{id: "length", topics: []string{"max-length"}, keys: []string{"max_length", "cutoff_len", "max_seq_length", "max_completion_length", "max_response_length", "max_new_tokens", "max_len", "max_prompt_length", "=seq_len", "=response_length", "seq_length", "sequence_len", "packed_sequence_size"}, way: "down", costs: "longer samples are cut off or dropped"},
}

// leverOfTopic has the first lever of each topic.
var leverOfTopic = sync.OnceValue(func() map[string]*lever {
	out := map[string]*lever{}
	for i := range slices.Backward(levers) {
		for _, topic := range levers[i].topics {
			out[topic] = &levers[i]
		}
	}
	return out
})

// leverOf returns the lever that an item pulls, or nil.
func leverOf(topic string, changes []Change) *lever {
	if l := leverOfTopic()[topic]; l != nil {
		if len(changes) > 0 && !l.goes(&changes[0]) {
			return nil
		}
		return l
	}
	names := make([]string, len(changes))
	for i := range changes {
		names[i] = settingOf(changes[i].Key)
	}
	for i := range levers {
		for j := range changes {
			if levers[i].pulled(&changes[j], names[j]) {
				return &levers[i]
			}
		}
	}
	return nil
}

// settingOf is the last part of a setting's name that says what it sets.
func settingOf(key string) string {
	return lastWord(strings.TrimSuffix(plain(key), ".device")) // offload_optimizer.device
}

// pulls reports whether an item pulls the lever of this id.
func pulls(id, topic string, changes []change) bool {
	l := leverOf(topic, made(changes))
	return l != nil && l.id == id
}

// pullsOne reports whether an item pulls one of some levers.
func pullsOne(levers []string, topic string, changes []change) bool {
	l := leverOf(topic, made(changes))
	return l != nil && slices.Contains(levers, l.id)
}

// made returns the changes alone.
func made(changes []change) []Change {
	out := make([]Change, len(changes))
	for i := range changes {
		out[i] = changes[i].Change
	}
	return out
}

// goes reports whether a change of an item with the lever's topic has the lever's direction: some items undo a value.
func (l *lever) goes(c *Change) bool {
	switch l.way {
	case "on":
		return c.To == nil || on(*c.To)
	case "up", "down":
		if c.Direction == l.way || c.To == nil {
			return true
		}
		return c.Direction == "set" && slices.ContainsFunc(cutLayouts(*c.To), trainPart().MatchString) // AReaL's
	}
	return true
}

// pulled reports whether a change of a setting is one of this lever.
func (l *lever) pulled(c *Change, setting string) bool {
	if l.way != "" && c.Direction != l.way {
		return false
	}
	if l.way == "set" && c.To != nil && (isNone(*c.To) || strings.EqualFold(*c.To, "false")) {
		return false // the lever of the other way
	}
	return slices.ContainsFunc(l.keys, func(k string) bool {
		if word, whole := strings.CutPrefix(k, "="); whole {
			return setting == word
		}
		if len(k) < 8 && !strings.HasSuffix(k, "_") { // short words mean something only alone
			return setting == k || strings.HasPrefix(setting, k+"_") || strings.HasSuffix(setting, "_"+k)
		}
		return strings.Contains(setting, k)
	})
}
