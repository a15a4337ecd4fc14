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
	{id: "pieces", topics: []string{"pieces"}, costs: "more passes"},
	{id: "calibration-samples", topics: []string{"calibration-samples"}, costs: "some quality: the calibration sees less"},
	{id: "calibration-cache", topics: []string{"calibration-cache", "calibration-hessians", "calibration-layers", "calibration-disk"}, costs: "slower: more is copied between card and host"},
	{id: "group", topics: []string{"group"}, way: "down", trains: true},
	{id: "eval-logits", keys: []string{"preprocess_logits_for_metrics", "prediction_loss_only", "gather_for_metrics", "=append"}},
	{id: "eval-batch", topics: []string{"eval-batch"}, keys: []string{"eval_batch_size", "eval_accumulation"}, costs: "slower evaluation"},
	{id: "token-budget", topics: []string{"token-budget"}, keys: []string{"max_token_len", "max_tokens_per_gpu", "max_tokens_per_mb", "max_tokens_per_microbatch", "mb_tokens"}, way: "down", costs: "more passes per step", trains: true},
	{id: "dynamic-batch", topics: []string{"dynamic-batch"}, way: "on", costs: "the number of samples per micro-batch varies", trains: true},
	{id: "packing", keys: []string{"packing_samples", "=packing"}, way: "set", trains: true},
	{id: "padding", keys: []string{"use_remove_padding"}, trains: true},
	{id: "fused-layers", topics: []string{"fused-layers"}},
	{id: "fused-loss", topics: []string{"fused-kernels", "fused-loss", "liger", "recompute-loss", "logprob-chunks"}, keys: []string{"use_liger", "liger_kernel", "fused_kernels", "cross_entropy_loss_fusion", "cross_entropy_fusion", "loss_chunk", "cut_cross_entropy", "fused_linear", "lm_head_chunk"}, trains: true},
	{id: "entropy", topics: []string{"entropy-chunks"}, keys: []string{"entropy_"}, trains: true},
	{id: "recompute", topics: []string{"gradient-checkpointing", "gradient-checkpointing-megatron"}, keys: []string{"gradient_checkpointing", "activation_checkpointing", "recompute_granularity"}, costs: "steps take about a quarter longer", trains: true},
	{id: "mixed-precision", topics: []string{"compute-dtype"}, keys: []string{"=bf16", "=amp", "=mixed_precision"}, way: "set"},
	{id: "activation-offload", topics: []string{"activation-offload"}, keys: []string{"activation_offload"}, costs: "host memory, and time to copy", trains: true},
	{id: "pipeline-schedule", topics: []string{"pipeline-schedule"}, costs: "more idle time between stages", trains: true},
	{id: "sequence-parallel", topics: []string{"ulysses", "sequence-parallel"}, keys: []string{"context_parallel", "sequence_parallel", "ulysses", "ring_attn"}, way: "up", costs: "fewer data-parallel replicas"},
	{id: "attention", topics: []string{"flash-attention", "attention"}, keys: []string{"attn_implementation", "attention_backend", "flash_attn", "flash_attention"}},
	{id: "image-size", keys: []string{"=longest_max_size", "=image_size", "=img_size", "=imgsz", "crop_size", "=tile_size", "=patch_size", "=input_size", "=img_scale", "=resolution", "=max_size_train", "=min_size_train", "=roi_size", "=image_resolution"}, way: "down", costs: "less detail in the images"},
	{id: "assign-on-host", topics: []string{"assign-on-host"}, costs: "slower steps for images with more objects than that", trains: true},
	{id: "frames", keys: []string{"=num_frames", "=n_frames", "=max_frames", "=clip_len", "=frames_per_clip", "=clip_length", "=num_video_frames", "=n_sample_frames"}, way: "down", costs: "shorter clips"},
	{id: "optimizer-offload", topics: []string{"optimizer-offload", "cpu-optimizer", "offload-fsdp", "offload-megatron"}, keys: []string{"adam_offload", "offload_optimizer", "optimizer_offload", "optimizer_cpu_offload"}, way: "set", costs: "host memory for the states, and slower steps", trains: true},
	{id: "layer-offload", topics: []string{"layer-offload"}, costs: "much slower: each layer is copied to the card when it is used"},
	{id: "fewer-pictures", topics: []string{"fewer-pictures"}, costs: "fewer or smaller pictures at a time"},
	{id: "tiles", topics: []string{"tiles"}, costs: "seams may show between tiles"},
	{id: "vram-margin", keys: []string{"reserve_vram", "fit_target", "gpu_overhead"}, costs: "less of the weights stays on the card"},
	{id: "param-offload", topics: []string{"param-offload"}, keys: []string{"offload_param", "param_offload", "offload_policy", "ref_offload"}, way: "set", costs: "host memory for the weights, and time to copy them"},
	{id: "small-optimizer", topics: []string{"small-optimizer", "optimizer-in-backward"}, keys: []string{"optim", "precision_aware_optimizer", "optimizer_type"}, costs: "less precise optimizer states", trains: true},
	{id: "shard", topics: []string{"zero-stage"}, keys: []string{"zero_stage", "deepspeed_stage", "deepspeed_zpg", "=deepspeed", "use_distributed_optimizer", "fsdp_size", "transformer_layer_cls", "wrap_policy", "fully_shard"}, costs: "more communication", trains: true},
	{id: "sync-gradients", topics: []string{"sync-gradients"}, keys: []string{"sync_each_batch"}, costs: "more communication in every micro-batch", trains: true},
	{id: "accumulation", keys: []string{"=gradient_accumulation_steps"}, costs: "a smaller global batch, unless more GPUs make up for it", trains: true},
	{id: "fsdp2", topics: []string{"fsdp2"}, costs: "other checkpoints", trains: true},
	{id: "launcher", topics: []string{"launcher"}},
	{id: "more-gpus", topics: []string{"more-gpus"}, keys: []string{"n_gpus_per_node"}, way: "up", costs: "more GPUs"},
	{id: "train-tp", topics: []string{"train-tp", "tensor-parallel"}, keys: []string{"tensor_model_parallel_size"}, way: "up", costs: "more communication in every layer"},
	{id: "train-pp", keys: []string{"pipeline_model_parallel_size", "pipeline_parallel_degree", "=pp_size"}, way: "up", costs: "GPUs wait for each other at the ends of a step"},
	{id: "adapters", topics: []string{"quantization", "adapters"}, keys: []string{"lora_rank", "load_in_4bit", "load_in_8bit", "=use_peft", "=use_lora", "=enable_lora", "finetuning_type"}, way: "set", costs: "some quality: only adapters are trained, or the weights are quantized", trains: true},
	{id: "fewer-adapters", topics: []string{"fewer-adapters"}, costs: "quality: the experts get no adapters", trains: true},
	{id: "freeze", topics: []string{"frozen-layers"}, costs: "quality: the lower layers are not trained", trains: true},
	{id: "gather-window", topics: []string{"reshard"}, keys: []string{"max_live_parameters", "overlap_comm", "prefetch_bucket_size", "limit_all_gathers", "max_reuse_distance"}, costs: "less overlap of communication and computation", trains: true},
	{id: "buckets", keys: []string{"reduce_bucket_size", "allgather_bucket_size", "bucket_cap_mb"}, way: "down", costs: "more messages", trains: true},
	{id: "sub-group", keys: []string{"sub_group_size"}, way: "down", trains: true},
	{id: "fit", topics: []string{"engine-fit"}, costs: "slower: what is not on the card is computed by the CPU"},
	{id: "experts", topics: []string{"engine-experts"}},
	{id: "projector", topics: []string{"projector"}, costs: "slower: the CPU encodes the images"},
	{id: "mmap", topics: []string{"engine-mmap"}},
	{id: "layers", topics: []string{"engine-layers"}},
	{id: "dtype", topics: []string{"dtype", "cast", "compute-type"}, keys: []string{"torch_dtype", "dtype", "pure_bf16", "=half"}},
	{id: "beams", topics: []string{"beams"}, costs: "some quality"},
	{id: "smaller-model", topics: []string{"smaller-model"}, costs: "some quality"},
	{id: "no-grad", keys: []string{"no_grad", "inference_mode", "requires_grad"}},
	{id: "detach", topics: []string{"kept-outputs"}, keys: []string{"=detach"}},
	{id: "update", topics: []string{"update"}, keys: []string{"=version"}, way: "set"},
	{id: "prefix-cache", topics: []string{"prefix-cache"}, costs: "prompts that begin alike are computed as a whole each time"},
	{id: "restart", keys: []string{"resume_from_checkpoint", "resume_mode"}, way: "set", costs: "buys time only: the leak remains"},
	{id: "foreach", keys: []string{"foreach"}, trains: true},
	{id: "spread", keys: []string{"device_map", "=max_memory"}},
	{id: "segments", topics: []string{"expandable-segments"}},
	{id: "split-size", topics: []string{"max-split-size"}},
	{id: "others", topics: []string{"others"}, keys: []string{"other processes"}},
	{id: "load-on-host", keys: []string{"map_location"}},
	{id: "one-device", topics: []string{"own-card"}, keys: []string{"set_device", "cuda_visible_devices"}},
	{id: "share-down", topics: []string{"engine-share-down"}, keys: []string{"gpu_memory_utilization", "mem_fraction_static", "cache_max_entry_count", "free_gpu_memory_fraction"}, way: "down", costs: "a smaller KV cache: fewer sequences at once"},
	{id: "share-up", topics: []string{"engine-share-up"}, keys: []string{"gpu_memory_utilization", "mem_fraction_static", "cache_max_entry_count", "free_gpu_memory_fraction"}, way: "up", costs: "less room for everything else on the GPU"},
	{id: "generator-cache", topics: []string{"generator-cache"}, costs: "fewer completions are generated at once"},
	{id: "sleep", topics: []string{"engine-sleep"}, keys: []string{"free_cache_engine", "sleep", "enable_sleep", "offload_rollout", "offload_train", "enable_memory_saver", "colocate"}, way: "set", costs: "time to put the engine to sleep and to wake it"},
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
	{id: "engine-multimodal", topics: []string{"engine-multimodal"}, keys: []string{"limit_mm", "max_pixels", "mm_processor"}},
	{id: "encoder-reserve", topics: []string{"encoder-reserve"}, costs: "a smaller KV cache: fewer sequences at once"},
	{id: "engine-pixels", topics: []string{"engine-pixels"}, costs: "less detail in the images"},
	{id: "image-processor", topics: []string{"image-processor"}, costs: "images take longer to prepare"},
	{id: "graphs", topics: []string{"engine-capture-sizes"}, keys: []string{"cuda_graph_max_bs", "capture_sizes", "max_capture_size"}, costs: "slower decoding of large batches"},
	{id: "eager", topics: []string{"engine-eager"}, keys: []string{"enforce_eager", "disable_cuda_graph"}, costs: "slower decoding"},
	{id: "cache-offload", keys: []string{"cache_implementation"}, costs: "slower generation"},
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
	{id: "reference", keys: []string{"=ref_model"}},
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
	{id: "save-once", topics: []string{"save-once"}, costs: "more communication"},
	{id: "rank0-save", topics: []string{"save-on-host"}, keys: []string{"statedictconfig"}},
	{id: "sharded-save", topics: []string{"sharded-save"}, keys: []string{"state_dict_type", "gather_16bit_weights", "consolidated", "ckpt_format"}, costs: "checkpoints come in shards, to be merged later"},
	{id: "own-copies", topics: []string{"own-copies"}, costs: "each rank holds the whole checkpoint in host memory"},
	{id: "merge", topics: []string{"merge", "merge-host"}, keys: []string{"maximum_memory_usage"}, costs: "a slower merge"},
	{id: "lean-save", topics: []string{"lean-save"}, keys: []string{"save_contents", "save_only_model", "no_save_optim"}, costs: "the optimizer's state is not saved, or only for as many ranks"},
	{id: "offload-off", topics: []string{"offload-off"}, keys: []string{"offload", "pin_memory"}, costs: "more GPU memory"},
	{id: "host-cache", keys: []string{"swap_space", "hicache_ratio", "host_cache_size", "hicache_size", "kv_cache_host_memory_bytes", "kv_offloading_size", "max_cpu_loras", "max_local_cpu_size", "vllm_cpu_kvcache_space"}, costs: "room for fewer sequences in host memory"},
	{id: "lazy-load", topics: []string{"lazy-load"}, keys: []string{"memory_efficient_load", "cpu_ram_efficient_loading", "low_cpu_mem_usage", "use_meta_tensor", "zero3_init", "lazy_unpickle", "low_cpu_memory"}},
	{id: "ray-tasks", topics: []string{"ray-tasks"}, costs: "fewer tasks at once"},
	{id: "array-file", topics: []string{"array-file"}, costs: "slower access"},
	{id: "unload", topics: []string{"unload-models"}, costs: "models are loaded again after each use"},
	{id: "node-cache", topics: []string{"node-cache"}, costs: "nodes run again"},
	{id: "data-cache", topics: []string{"data-cache"}, costs: "slower loading of data"},
	{id: "sample-buffer", topics: []string{"sample-buffer"}, way: "down", costs: "samples are shuffled or replayed within a smaller window"},
	{id: "numa-copies", topics: []string{"numa-copies"}, costs: "slower reads from the other node's memory"},
	{id: "build-jobs", topics: []string{"build-jobs"}, costs: "a slower build"},
	{id: "temp-file", topics: []string{"temp-file"}, costs: "room on disk, and time"},
	{id: "writer-batch", keys: []string{"writer_batch_size"}, way: "down"},
	{id: "pinning", topics: []string{"pinning"}, costs: "slower copies to the GPU"},
	{id: "pinned-blocks", topics: []string{"pinned-blocks"}, costs: "slower copies to and from the GPU"},
	{id: "rollout-batch", topics: []string{"rollout-batch"}, way: "down", costs: "fewer samples in a step; the training changes"},
	{id: "workers", topics: []string{"data-workers"}, keys: []string{"num_workers", "num_proc", "prefetch_factor", "workers", "workers_per_gpu"}, way: "down", costs: "slower loading of data"},
	{id: "object-store", keys: []string{"object_store_memory"}},
	{id: "host-limit", keys: []string{"mem", "=m", "mem_per_cpu", "mem_per_gpu", "limits.memory", "memory", "h_vmem"}, way: "up"},
	{id: "gpu-share", topics: []string{"gpu-share"}, costs: "less of the card for other containers"},
	{id: "pod-request", topics: []string{"pod-request"}, costs: "nodes that have so much free"},
	{id: "vm-memory", topics: []string{"vm-memory"}, way: "up", costs: "less memory for the rest of the computer"},
	{id: "submit", topics: []string{"submit"}},
	{id: "host-node", topics: []string{"host-node"}},
	{id: "shm-size", keys: []string{"shm_size", "sizelimit", "shm"}},
	{id: "prompt-cache", keys: []string{"cache_ram"}, costs: "repeated prompts are processed again"},
	{id: "nvme", topics: []string{"nvme"}, costs: "slower steps, and a fast disk on every node"},
	{id: "malloc", topics: []string{"tcmalloc", "jemalloc"}, keys: []string{"malloc_arena_max"}},
	{id: "length", topics: []string{"max-length"}, keys: []string{"max_length", "cutoff_len", "max_seq_length", "max_completion_length", "max_response_length", "max_new_tokens", "max_len", "max_prompt_length", "=seq_len", "seq_length", "sequence_len", "packed_sequence_size"}, way: "down", costs: "longer samples are cut off or dropped"},
}

// attacks maps causes to levers against them, best first (memory.md). For other causes and the unknown one, the items
// themselves decide the order.
var attacks = map[string][]string{
	"states_too_big":         {"spread", "experts", "layers", "fit", "lazy-load", "shard", "optimizer-offload", "small-optimizer", "dtype", "smaller-model", "freeze", "more-gpus", "apart", "train-tp", "train-pp", "engine-tp", "engine-quantization", "engine-offload", "param-offload", "adapters", "fsdp2"},
	"wrong_dtype":            {"dtype", "adapters", "engine-quantization"},
	"not_sharded":            {"launcher", "spread", "shard", "lazy-load", "optimizer-offload", "freeze", "more-gpus", "train-tp", "train-pp", "param-offload"},
	"optimizer_first_step":   {"foreach", "optimizer-offload", "small-optimizer", "shard", "freeze", "param-offload", "sub-group", "more-gpus", "apart", "train-tp", "train-pp", "adapters", "fsdp2"},
	"activations":            {"no-grad", "pipeline-schedule", "recompute", "prealloc", "cache-offload", "pieces", "micro-batch", "token-budget", "dynamic-batch", "group", "mixed-precision", "activation-offload", "sequence-parallel", "fused-loss", "fused-layers", "packing", "padding", "attention", "train-tp", "frames", "image-size", "freeze", "length"},
	"attention_scores":       {"attention", "engine-multimodal", "recompute", "micro-batch", "sequence-parallel", "engine-chunk", "length"},
	"logits":                 {"update", "eval-logits", "eval-batch", "pieces", "token-budget", "micro-batch", "group", "fused-loss", "entropy", "dynamic-batch", "packing", "padding", "sequence-parallel", "train-tp", "length"},
	"entropy_chain":          {"entropy", "token-budget", "micro-batch", "fused-loss", "dynamic-batch", "padding", "sequence-parallel", "train-tp"},
	"one_long_sample":        {"length", "sequence-parallel", "fused-loss", "train-tp", "recompute"},
	"budget_not_binding":     {"token-budget", "dynamic-batch", "sequence-parallel", "fused-loss", "length"},
	"moe_imbalance":          {"recompute", "token-budget", "micro-batch", "train-tp", "sequence-parallel"},
	"pipeline_in_flight":     {"pipeline-schedule", "recompute", "token-budget", "micro-batch", "train-tp"},
	"allgather_window":       {"shard", "gather-window", "update-layers", "param-offload", "token-budget", "micro-batch", "sequence-parallel", "length"},
	"comm_buckets":           {"buckets", "gather-window", "shard"},
	"fragmentation":          {"segments", "split-size"},
	"foreign_process":        {"prealloc", "pool-share", "others", "one-device", "share-down"},
	"wrong_device":           {"one-device", "load-on-host", "micro-batch"},
	"engine_share_too_large": {"share-down", "sleep", "saver-margin", "eager", "graphs", "optimizer-offload", "engine-chunk", "engine-seqs", "engine-tp", "apart"},
	"engine_share_too_small": {"share-up", "engine-total", "engine-multimodal", "engine-pixels", "engine-length", "kv-dtype", "engine-tp", "engine-quantization", "engine-chunk", "eager"},
	"engine_activation":      {"engine-chunk", "share-down", "engine-multimodal", "engine-pixels", "engine-seqs", "pieces", "engine-tp", "attention"},
	"graph_capture":          {"share-down", "graphs", "eager", "engine-seqs"},
	"nccl_no_margin":         {"warm-up", "prealloc", "pool-share", "saver-margin", "empty-cache", "share-down", "sleep", "nccl", "nvlink-sharp", "micro-batch", "token-budget", "recompute", "optimizer-offload"},
	"weight_update":          {"update-bucket", "update-layers", "engine-adapters", "share-down", "sleep", "optimizer-offload", "own-gpus"},
	"checkpoint_gather":      {"sharded-save", "rank0-save", "lean-save", "save-once", "optimizer-offload", "param-offload", "sleep", "share-down", "host-limit", "host-node", "offload-off"},
	"leak_over_steps":        {"sample-buffer", "no-grad", "prompt-cache", "detach", "malloc", "offload-off", "update", "prefix-cache", "restart"},
	"host_offload":           {"pinning", "offload-off", "host-cache", "host-limit", "host-node", "nvme", "pinned-blocks", "param-offload", "more-gpus"},
	"host_load":              {"numa-copies", "dtype", "lazy-load", "host-limit", "vm-memory", "host-node", "host-cache", "offload-off"},
	"loader_workers":         {"data-cache", "sample-buffer", "rollout-batch", "workers", "pinning", "writer-batch", "vm-memory", "host-limit", "ray-tasks", "host-node"},
	"shm":                    {"shm-size", "object-store", "workers"},
	"unknown":                {"micro-batch", "token-budget", "pieces", "smaller-model"},
	"limit_too_small":        {"gpu-share", "temp-file", "host-limit", "host-node", "prompt-cache", "host-cache", "workers", "ray-tasks", "object-store", "offload-off"},
}

// toHost lists the levers that move something to the host's memory.
var toHost = []string{"activation-offload", "optimizer-offload", "layer-offload", "param-offload", "cache-offload", "engine-offload", "load-on-host"}

// onActivations lists the levers that lower activations and what is computed of them.
var onActivations = []string{
	"micro-batch", "token-budget", "dynamic-batch", "packing", "pieces", "group", "recompute", "activation-offload", "length", "fused-loss", "fused-layers", "entropy", "attention", "sequence-parallel",
}

// inVain maps proved causes to levers without effect (memory.md).
var inVain = map[string]struct {
	levers []string
	why    string
}{
	"optimizer_first_step": {onActivations, "activations are already freed when the optimizer steps"},
	"states_too_big":       {onActivations, "the states alone exceed the card, without any activations"},
	"leak_over_steps":      {[]string{"host-limit", "micro-batch", "token-budget", "dynamic-batch", "recompute", "activation-offload", "length"}, "memory grows from step to step: this only puts the failure off"},
}

// scoresFirst is the order against the buffers of an engine that computes attention scores of the whole context.
var scoresFirst = []string{"attention", "engine-chunk", "engine-length", "kv-dtype", "engine-multimodal"}

// contextToo is the order against buffers of an engine whose cache covers the whole context: a smaller cache makes room for
// them.
var contextToo = []string{"card-split", "engine-multimodal", "engine-chunk", "engine-length", "vram-margin", "kv-dtype", "attention", "layers"}

// attack lists levers against a cause under a fact.
type attack struct {
	cause, fact string
	levers      []string
}

// attacksThere lists levers that depend on facts as well as on the cause. The first fact that holds decides, so a program and a part of a
// model stand before kinds of work.
var attacksThere = []attack{
	{"states_too_big", "own_cache", []string{"engine-seqs", "engine-length", "engine-quantization", "engine-tp"}},
	{"states_too_big", "stack:peft/tuners/lora", []string{"fewer-adapters", "adapters", "micro-batch", "param-offload", "length"}},
	{"states_too_big", "framework:jax", []string{"share-up", "prealloc", "dtype", "param-offload", "optimizer-offload", "more-gpus"}}, // its pool is a part of the card
	{"states_too_big", "outgrows_cards", []string{"reference", "adapters", "optimizer-offload", "param-offload", "small-optimizer", "freeze", "more-gpus", "smaller-model"}},
	{"states_too_big", "code:prepare_model(self.ref_model", append([]string{"reference"}, attacks["states_too_big"]...)},
	{"states_too_big", "adapter_slots", []string{"adapter-rank", "adapter-slots", "engine-tp"}},
	{"states_too_big", "stack:deepspeed/runtime/zero/stage", attacks["states_too_big"]}, // the optimizer's partitions, made at start-up
	{"states_too_big", "colocate_policy_ref=true", []string{"apart", "param-offload", "optimizer-offload", "more-gpus"}},
	{"states_too_big", "merges", []string{"merge", "spread", "lazy-load", "dtype"}},
	{"states_too_big", "dispatched_fills", []string{"spread", "engine-quantization"}},
	{"graph_capture", "large_graphs", []string{"graphs", "eager", "share-down"}},
	{"states_too_big", "alone", append([]string{"launcher"}, attacks["states_too_big"]...)},
	{"states_too_big", "stack:/megatron/training/checkpointing.py", attacks["states_too_big"]}, // the optimizer is made before a checkpoint is read
	{"states_too_big", "loading_weights", []string{"update", "spread", "lazy-load", "shard", "param-offload", "layer-offload", "dtype", "smaller-model", "more-gpus", "train-tp", "train-pp", "engine-quantization", "engine-tp", "adapters", "fsdp2"}},
	{"states_too_big", "draft", []string{"draft", "engine-tp", "engine-offload"}},
	{"states_too_big", "--tp>7", []string{"engine-quantization", "engine-offload", "engine-tp"}}, // more than a node has
	{"states_too_big", "unsharded", []string{"lazy-load", "shard", "optimizer-offload", "small-optimizer", "dtype", "param-offload", "adapters", "train-tp"}},
	{"not_sharded", "fsdp_auto_wrap_policy=NO_WRAP", []string{"shard"}},
	{"not_sharded", "whole_gradients", []string{"sync-gradients", "accumulation", "train-tp", "adapters"}},
	{"not_sharded", "launcher:torchrun", attacks["not_sharded"][2:]}, // each rank has one card to work on
	{"foreign_process", "beside_server", []string{"one-device", "others", "share-down"}},
	{"nccl_no_margin", "stack:nn/parallel/distributed.py", append([]string{"others"}, attacks["nccl_no_margin"]...)}, // before the first step
	{"nccl_no_margin", "evaluating", append([]string{"eval-batch"}, attacks["nccl_no_margin"]...)},                   // the allocator keeps what its batches took
	{"nccl_no_margin", "nvlink_sharp", append([]string{"nvlink-sharp"}, attacks["nccl_no_margin"]...)},
	{"nccl_no_margin", "free_cache_engine=False", append([]string{"sleep"}, attacks["nccl_no_margin"]...)},
	{"logits", "framework:prime_rl", append([]string{"fused-loss"}, attacks["logits"]...)},          // a smaller micro-batch cuts its samples
	{"logits", "max_memory_percent>0.5", append([]string{"generator-cache"}, attacks["logits"]...)}, // the generator's cache stays
	{"activations", "calibrates", []string{"calibration-cache", "pieces", "calibration-samples", "length", "param-offload"}},
	{"states_too_big", "calibrates", []string{"param-offload", "calibration-cache", "pieces", "calibration-samples"}},
	{"host_offload", "calibrates", []string{"calibration-samples", "calibration-cache", "host-limit", "length", "host-node"}},
	{"activations", "max_memory_percent>0.5", append([]string{"generator-cache"}, attacks["activations"]...)},
	{"optimizer_first_step", "max_memory_percent>0.5", append([]string{"generator-cache"}, attacks["optimizer_first_step"]...)},
	{"logits", "ulysses_sequence_parallel_size>1", append([]string{"padding"}, attacks["logits"]...)}, // which splits nothing that is padded
	{"entropy_chain", "ulysses_sequence_parallel_size>1", append([]string{"padding"}, attacks["entropy_chain"]...)},
	{"logits", "engine_process", []string{"share-down", "engine-chunk", "engine-length", "engine-seqs"}}, // of prompts
	{"logits", "joined_evaluation", []string{"eval-logits", "eval-batch"}},                               // their sum grows until the evaluation ends
	{"logits", "set:image_max_pixels", append([]string{"engine-multimodal"}, attacks["logits"]...)},      // an image becomes tokens of the sequence
	{"logits", "eval_batch", append([]string{"eval-batch"}, attacks["logits"]...)},
	{"activations", "vae", []string{"no-grad", "tiles", "micro-batch", "param-offload", "layer-offload", "mixed-precision", "frames", "image-size"}},
	{"activations", "framework:comfyui", []string{"unload", "vram-margin", "param-offload", "layer-offload", "fewer-pictures", "engine-quantization"}},
	{"activations", "framework:sdwebui", []string{"param-offload", "attention", "fewer-pictures", "layer-offload"}},
	{"activations", "swaps_blocks", []string{"recompute", "layer-offload", "micro-batch", "image-size"}}, // the weights fill most of the card
	{"activations", "framework:diffusers", append(slices.Clone(attacks["activations"]), "param-offload", "layer-offload")},
	{"activations", "stack:/core/bbox/", []string{"assign-on-host", "image-size", "micro-batch"}}, // a matrix of all boxes and anchors
	{"activations", "stack:/task_modules/", []string{"assign-on-host", "image-size", "micro-batch"}},
	{"activations", "unified_memory", []string{"unified-memory", "micro-batch", "length"}},
	{"activations", "framework:jax", []string{"recompute", "micro-batch", "unified-memory", "share-up", "prealloc", "sequence-parallel", "length"}},
	{"fragmentation", "stack:/transformers/generation/", append(slices.Clone(attacks["fragmentation"]), "micro-batch")}, // the cache grows on
	{"activations", "infers", append([]string{"no-grad", "eval-batch"}, append(slices.Clone(attacks["activations"]), "smaller-model")...)},
	{"activations", "gradient_checkpointing=False", append([]string{"no-grad", "recompute", "engine-multimodal"}, attacks["activations"]...)},
	{"activations", "vision", append([]string{"engine-multimodal"}, attacks["activations"]...)},
	{"activations", "script_batch", append([]string{"no-grad", "prealloc", "cache-offload", "pieces", "micro-batch"}, attacks["activations"]...)},
	{"weight_update", "summons", []string{"update-layers", "optimizer-offload", "param-offload", "update-bucket", "more-gpus"}},
	{"leak_over_steps", "outgrown", []string{"update", "malloc", "restart", "offload-off"}}, // the states do not explain it
	{"leak_over_steps", "param_offload=True", []string{"prompt-cache", "offload-off", "malloc", "restart"}},
	{"leak_over_steps", "offload_optimizer=true", []string{"prompt-cache", "offload-off", "malloc", "restart"}}, // EasyR1
	{"leak_over_steps", "engine_residue", []string{"share-down", "sleep", "train-tp"}},
	{"attention_scores", "gradient_checkpointing=False", []string{"attention", "recompute", "engine-pixels", "engine-multimodal", "image-size", "micro-batch", "sequence-parallel", "length"}},
	{"attention_scores", "vision", []string{"attention", "engine-pixels", "share-down", "engine-multimodal", "image-size", "micro-batch", "engine-chunk"}},
	{"engine_activation", "copies_weights", []string{"copies", "layers"}},
	{"engine_activation", "request_rows", []string{"engine-length", "engine-seqs"}},
	{"engine_activation", "built_context", []string{"engine-seqs", "engine-length", "engine-quantization", "engine-chunk"}},
	{"engine_activation", "makes_decoder", []string{"engine-seqs", "engine-length", "engine-chunk"}},
	{"engine_activation", "sampler", []string{"engine-seqs", "share-down"}}, // its rows are whole on each GPU, and the cache takes what more GPUs free
	{"engine_activation", "encoder_batch", []string{"engine-seqs", "engine-multimodal", "engine-tp"}},
	{"engine_activation", "max_num_batched_tokens>65536", []string{"engine-chunk", "engine-multimodal", "engine-tp"}}, // far above any default
	{"engine_activation", "profile_run", []string{"engine-multimodal", "engine-pixels", "engine-chunk", "engine-length", "engine-tp", "engine-seqs"}},
	{"engine_activation", "ctranslate2", []string{"micro-batch", "dtype", "beams", "smaller-model"}},
	{"engine_activation", "stack:models/whisper/", []string{"micro-batch", "smaller-model"}},
	{"wrong_dtype", "ctranslate2", []string{"dtype", "smaller-model", "beams"}},
	{"attention_scores", "one_segment", []string{"beams", "smaller-model"}},
	{"logits", "one_segment", []string{"beams", "smaller-model"}},
	{"engine_activation", "whole_scores", scoresFirst},
	{"engine_activation", "framework:ollama", []string{"engine-seqs", "engine-multimodal", "vram-margin", "layers", "engine-chunk", "attention", "engine-length", "kv-dtype"}}, // its estimate of the buffers was too low
	{"engine_activation", "flash_attn=disabled", scoresFirst},
	{"engine_activation", "flash_attn=0", scoresFirst},
	{"engine_share_too_small", "kv_runtime", []string{"engine-seqs", "engine-chunk", "share-up", "kv-dtype", "engine-tp", "engine-length"}},
	{"engine_share_too_small", "others", []string{"share-up", "others"}},
	{"engine_share_too_small", "pattern:sglang.weights_leave_nothing", []string{"share-up", "engine-tp", "engine-quantization"}},
	{"engine_share_too_small", "pattern:vllm.mamba_blocks", []string{"engine-seqs", "share-up", "engine-tp", "eager", "engine-quantization"}},
	{"engine_activation", "framework:triton", []string{"engine-arena", "micro-batch", "engine-instances", "engine-seqs", "share-down"}},
	{"engine_share_too_large", "draft", []string{"share-down", "draft", "engine-total", "kv-dtype", "engine-quantization", "engine-tp"}},
	{"engine_share_too_large", "makes_cache", []string{"card-split", "engine-length", "kv-dtype", "engine-tp", "engine-quantization"}},
	{"engine_share_too_large", "engine_stays", append([]string{"sleep"}, attacks["engine_share_too_large"]...)},
	{"engine_share_too_large", "less_than_desired", []string{"share-down", "sleep", "others", "optimizer-offload", "param-offload"}},
	{"engine_share_too_large", "engine_wakes", []string{"share-down", "update-layers", "empty-cache", "optimizer-offload", "param-offload", "sleep", "saver-margin", "eager", "graphs", "engine-tp"}},
	{"engine_share_too_large", "gather_all_token_logits=True", append([]string{"all-logits"}, attacks["engine_share_too_large"]...)},
	{"engine_share_too_large", "gather_context_logits=True", append([]string{"all-logits"}, attacks["engine_share_too_large"]...)},
	{"engine_share_too_large", "framework:triton", []string{"share-down", "engine-seqs", "engine-instances"}},
	{"states_too_big", "framework:triton", []string{"engine-seqs", "engine-instances", "engine-models", "share-down", "engine-tp"}},
	{"engine_share_too_small", "OLLAMA_NUM_PARALLEL>1", []string{"engine-seqs", "engine-length", "kv-dtype", "engine-quantization"}},
	{"states_too_big", "pattern:ollama.no_room", []string{"engine-length", "kv-dtype", "engine-quantization", "layers"}},
	{"engine_share_too_small", "names:memory for state cache", []string{"engine-seqs", "engine-tp"}},
	{"engine_share_too_small", "draft_follows", []string{"share-up", "engine-tp", "draft", "engine-quantization"}},
	{"engine_share_too_small", "draft", []string{"draft", "draft-device", "engine-length", "layers"}},
	{"engine_share_too_small", "framework:llamacpp", []string{"card-split", "engine-length", "kv-dtype", "layers", "fit"}},
	{"engine_share_too_small", "framework:ollama", []string{"engine-length", "kv-dtype", "layers", "engine-quantization"}},
	{"engine_activation", "draft", []string{"engine-chunk", "draft-device", "draft", "engine-length", "layers"}},
	{"engine_activation", "picture", []string{"vram-margin", "engine-multimodal", "projector", "layers"}}, // what the cache gives up, llama.cpp fits with layers
	{"engine_activation", "whole_context", append([]string{"engine-length"}, contextToo...)},
	{"engine_activation", "framework:llamacpp", contextToo},
	{"engine_activation", "OLLAMA_NUM_PARALLEL>1", []string{"engine-multimodal", "engine-seqs", "layers", "engine-chunk", "attention", "engine-length", "kv-dtype"}}, // each has a context of its own
	{"engine_share_too_large", "framework:lmdeploy", []string{"share-down", "engine-length", "engine-chunk", "engine-tp", "engine-quantization", "others"}},
	{"leak_over_steps", "host_evaluation", []string{"eval-logits", "eval-batch", "host-limit", "host-node"}},
	{"limit_too_small", "eval_accumulation_steps>0", append([]string{"eval-logits"}, attacks["limit_too_small"]...)},
	{"checkpoint_gather", "broadcasts_state", append([]string{"own-copies"}, attacks["checkpoint_gather"]...)},
	{"checkpoint_gather", "framework:unsloth", []string{"merge"}},
	{"limit_too_small", "compiling", []string{"build-jobs", "host-limit", "host-node"}},
	{"limit_too_small", "cache_on_host", []string{"engine-length", "kv-dtype", "host-limit", "host-node"}},
	{"limit_too_small", "by_shell", append([]string{"submit"}, attacks["limit_too_small"]...)},
	{"host_load", "by_shell", append([]string{"submit"}, attacks["host_load"]...)},
	{"loader_workers", "by_shell", append([]string{"submit"}, attacks["loader_workers"]...)},
	{"limit_too_small", "evicted", []string{"pod-request", "host-node", "workers"}},
	{"limit_too_small", "names:unable to allocate", []string{"temp-file", "sample-buffer", "array-file", "host-limit", "host-node"}},
	{"limit_too_small", "framework:comfyui", []string{"node-cache", "engine-quantization", "host-node", "host-limit"}},
	{"host_load", "framework:comfyui", []string{"node-cache", "engine-quantization", "host-node", "host-limit"}},
	{"host_offload", "framework:comfyui", []string{"pinning", "engine-quantization", "host-node", "host-limit"}},
	{"limit_too_small", "node_full", []string{"temp-file", "prompt-cache", "vm-memory", "host-node", "sample-buffer", "workers", "offload-off", "host-cache"}},
	{"limit_too_small", "prompt_cache", []string{"prompt-cache", "host-limit"}},
	{"host_load", "keeps_samples", []string{"sample-buffer", "vm-memory", "host-limit", "host-node"}},
	{"host_load", "names:flwr", append([]string{"ray-tasks"}, attacks["host_load"]...)}, // each client is a task
	{"host_load", "own_tasks", append([]string{"ray-tasks"}, attacks["host_load"]...)},
	{"loader_workers", "many_tasks", append([]string{"ray-tasks"}, attacks["loader_workers"]...)},
	{"limit_too_small", "many_tasks", append([]string{"ray-tasks"}, attacks["limit_too_small"]...)},
	{"host_load", "backend:megatron", []string{"lazy-load", "host-limit", "vm-memory", "host-node", "host-cache", "offload-off"}}, // a distributed checkpoint is read in parts
	{"host_load", "copies_far_too_large", []string{"lazy-load", "host-node", "host-limit", "offload-off"}},
	{"host_load", "copies_too_large", []string{"host-limit", "lazy-load", "host-node", "dtype", "offload-off"}},
	{"host_load", "pattern:ggml.load_host", []string{"mmap", "engine-quantization", "host-limit", "host-node"}}, // the cache comes later
	{"host_load", "framework:llamacpp", []string{"mmap", "engine-length", "engine-quantization", "host-limit", "host-node"}},
	{"host_load", "phase:checkpoint", []string{"lazy-load", "host-limit", "sharded-save", "host-node"}},
	{"host_load", "cache_covers", []string{"engine-seqs", "engine-length", "kv-dtype", "engine-quantization", "host-limit"}},
	{"host_load", "framework:ollama", []string{"engine-quantization", "engine-seqs", "engine-length", "host-limit"}},
	{"allgather_window", "phase:rollout", []string{"update-layers", "hybrid-engine", "engine-tp", "param-offload", "gather-window", "token-budget", "micro-batch", "length"}},
	{"unknown", "ctranslate2", []string{"micro-batch", "dtype", "smaller-model"}},
	{"unknown", "one_segment", []string{"beams", "smaller-model"}},
	{"unknown", "names:temporarymemorybuffer", []string{"scratch"}},
	{"foreign_process", "stack:/sglang_omni/", []string{"encoder-reserve", "share-down", "engine-pixels", "others"}},
	{"foreign_process", "image_processor", []string{"image-processor", "share-down", "engine-chunk"}},
	{"foreign_process", "cards_free", []string{"one-device", "others", "prealloc", "share-down"}},
	{"foreign_process", "less_than_desired", []string{"others", "share-down", "one-device"}},
	{"foreign_process", "others", []string{"others", "one-device", "prealloc", "share-down"}},
	{"states_too_big", "framework:diffusers", append(slices.Clone(attacks["states_too_big"]), "layer-offload")},
	{"states_too_big", "framework:comfyui", []string{"unload", "param-offload", "layer-offload", "engine-quantization", "vram-margin"}},
	{"optimizer_first_step", "phase:init", []string{"optimizer-offload", "shard", "small-optimizer", "param-offload", "more-gpus", "train-tp", "adapters", "foreach"}},
	{"optimizer_first_step", "use_distributed_optimizer=False", []string{"shard", "optimizer-offload", "small-optimizer", "train-tp", "more-gpus"}},
	{"optimizer_first_step", "unsharded", []string{"shard", "foreach", "optimizer-offload", "small-optimizer", "param-offload", "adapters"}},
}

// leversFor returns the levers against a cause, best first.
func leversFor(ctx *Context, cause string) []string {
	out := attacks[cause]
	if i := slices.IndexFunc(attacksThere, func(a attack) bool { return a.cause == cause && ctx.is(a.fact) }); i >= 0 {
		out = attacksThere[i].levers
	}
	if cause == "not_sharded" && ctx.is("loading_weights") { // what is whole on the card is offloaded only once it is split
		out = slices.DeleteFunc(slices.Clone(out), func(l string) bool { return l == "optimizer-offload" || l == "param-offload" })
	}
	if b := ctx.run.Backend; (cause == "states_too_big" || cause == "optimizer_first_step") && (b == "fsdp" || b == "fsdp2") { // which splits them over the same GPUs
		out = slices.DeleteFunc(slices.Clone(out), func(l string) bool { return l == "train-tp" })
	}
	if slices.Contains(ofTrainers, cause) && !ctx.is("own_cache") && ctx.holds("engine_process").truth == no {
		out = slices.DeleteFunc(slices.Clone(out), func(l string) bool { return strings.HasPrefix(l, "engine-") })
	}
	return out
}

// ofTrainers lists causes that engines share. After a trainer's failure, the engine's settings do not help.
var ofTrainers = []string{"states_too_big", "wrong_dtype", "not_sharded"}

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
