package remedies

import (
	"slices"
	"strings"
)

// attacks maps causes to levers against them, best first (memory.md). For other causes and the unknown one, the items
// themselves decide the order.
var attacks = map[string][]string{
	"states_too_big":         {"spread", "experts", "layers", "fit", "lazy-load", "shard", "optimizer-offload", "small-optimizer", "dtype", "smaller-model", "freeze", "more-gpus", "apart", "train-tp", "train-pp", "engine-tp", "engine-quantization", "engine-offload", "param-offload", "adapters", "fsdp2"},
	"wrong_dtype":            {"dtype", "adapters", "engine-quantization"},
	"not_sharded":            {"launcher", "spread", "no-map", "shard", "lazy-load", "optimizer-offload", "freeze", "more-gpus", "train-tp", "train-pp", "param-offload"},
	"optimizer_first_step":   {"foreach", "optimizer-offload", "small-optimizer", "half-states", "text-encoder", "shard", "freeze", "param-offload", "sub-group", "more-gpus", "apart", "train-tp", "train-pp", "adapters", "fsdp2"},
	"activations":            {"no-grad", "pipeline-schedule", "recompute", "prealloc", "cache-offload", "pieces", "micro-batch", "token-budget", "dynamic-batch", "group", "mixed-precision", "activation-offload", "sequence-parallel", "fused-loss", "fused-layers", "packing", "padding", "attention", "train-tp", "frames", "image-size", "freeze", "length"},
	"attention_scores":       {"attention", "unified-memory", "engine-multimodal", "recompute", "micro-batch", "sequence-parallel", "engine-chunk", "length"},
	"logits":                 {"update", "eval-logits", "eval-batch", "pieces", "token-budget", "micro-batch", "group", "fused-loss", "entropy", "dynamic-batch", "packing", "padding", "sequence-parallel", "train-tp", "length"},
	"entropy_chain":          {"entropy", "token-budget", "micro-batch", "fused-loss", "dynamic-batch", "padding", "sequence-parallel", "train-tp"},
	"one_long_sample":        {"stitch-on-host", "length", "sequence-parallel", "fused-loss", "train-tp", "recompute"},
	"budget_not_binding":     {"token-budget", "dynamic-batch", "sequence-parallel", "fused-loss", "length"},
	"moe_imbalance":          {"recompute", "token-budget", "micro-batch", "train-tp", "sequence-parallel"},
	"pipeline_in_flight":     {"pipeline-schedule", "recompute", "token-budget", "micro-batch", "train-tp"},
	"allgather_window":       {"reference-sync", "shard", "gather-window", "update-layers", "param-offload", "token-budget", "micro-batch", "sequence-parallel"},
	"comm_buckets":           {"buckets", "gather-window", "shard"},
	"fragmentation":          {"segments", "split-size"},
	"foreign_process":        {"prealloc", "pool-share", "others", "one-device", "share-down"},
	"wrong_device":           {"one-device", "load-on-host", "micro-batch"},
	"engine_share_too_large": {"share-down", "sleep", "saver-margin", "eager", "graphs", "optimizer-offload", "engine-chunk", "engine-seqs", "engine-tp", "apart"},
	"engine_share_too_small": {"share-up", "engine-total", "engine-multimodal", "engine-pixels", "engine-length", "kv-dtype", "engine-tp", "engine-quantization", "engine-chunk", "eager"},
	"engine_activation":      {"engine-chunk", "share-down", "engine-multimodal", "engine-pixels", "engine-seqs", "pieces", "engine-tp", "attention"},
	"graph_capture":          {"share-down", "prefill-graphs", "graphs", "eager", "engine-seqs"},
	"nccl_no_margin":         {"warm-up", "prealloc", "pool-share", "saver-margin", "empty-cache", "share-down", "sleep", "nccl", "nvlink-sharp", "micro-batch", "token-budget", "recompute", "optimizer-offload"},
	"weight_update":          {"reference-sync", "update-bucket", "update-layers", "engine-adapters", "share-down", "sleep", "optimizer-offload", "own-gpus"},
	"checkpoint_gather":      {"sharded-save", "rank0-save", "save-type", "save-by-tensor", "lean-save", "save-once", "optimizer-offload", "param-offload", "sleep", "share-down", "host-limit", "swap", "host-node", "offload-off"},
	"leak_over_steps":        {"sample-buffer", "no-grad", "prompt-cache", "detach", "malloc", "offload-off", "update", "prefix-cache", "restart"},
	"host_offload":           {"pinning", "offload-off", "host-cache", "host-limit", "host-node", "nvme", "pinned-blocks", "param-offload", "more-gpus"},
	"host_load":              {"numa-copies", "dtype", "lazy-load", "host-limit", "vm-memory", "swap", "host-node", "host-cache", "offload-off"},
	"loader_workers":         {"data-cache", "sample-buffer", "val-batch", "rollout-batch", "workers", "pinning", "writer-batch", "vm-memory", "host-limit", "ray-tasks", "host-node"},
	"shm":                    {"shm-copy", "shm-size", "object-store", "workers"},
	"unknown":                {"micro-batch", "token-budget", "pieces", "smaller-model"},
	"limit_too_small":        {"gpu-share", "temp-file", "sample-buffer", "host-limit", "host-node", "prompt-cache", "host-cache", "workers", "ray-tasks", "object-store", "offload-off"},
}

// toHost lists the levers that move something to the host's memory.
var toHost = []string{"activation-offload", "optimizer-offload", "layer-offload", "param-offload", "cache-offload", "engine-offload", "load-on-host"}

// onActivations lists the levers that lower activations and what is computed of them.
var onActivations = []string{
	"micro-batch", "token-budget", "dynamic-batch", "packing", "pieces", "group", "recompute", "activation-offload", "length", "fused-loss", "fused-layers", "entropy", "attention", "sequence-parallel", "frames", "image-size",
}

// inVain maps proved causes to levers without effect (memory.md).
var inVain = map[string]struct {
	levers []string
	why    string
}{
	"optimizer_first_step": {onActivations, "activations are already freed when the optimizer steps"},
	"states_too_big":       {slices.Concat(onActivations, attacks["fragmentation"]), "the states alone exceed the card, without any activations"},
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
	{"states_too_big", "stack:transformers/integrations/mxfp4.py", []string{"wide-checkpoint", "spread", "more-gpus"}}, // each rank unpacks the whole checkpoint, whatever shards the model later
	{"states_too_big", "trains_backbone", []string{"small-optimizer", "half-states", "text-encoder", "adapters", "optimizer-offload", "more-gpus"}},
	{"states_too_big", "wide_adapters", []string{"fewer-modules", "small-optimizer", "optimizer-offload", "more-gpus"}},
	{"states_too_big", "stack:peft/tuners/lora", []string{"fewer-adapters", "adapters", "micro-batch", "param-offload", "length"}},
	{"states_too_big", "framework:jax", []string{"share-up", "prealloc", "dtype", "param-offload", "optimizer-offload", "more-gpus"}}, // its pool is a part of the card
	{"states_too_big", "outgrows_cards", []string{"reference", "adapters", "optimizer-offload", "param-offload", "small-optimizer", "freeze", "more-gpus", "smaller-model"}},
	{"states_too_big", "code:prepare_model(self.ref_model", append([]string{"reference"}, attacks["states_too_big"]...)},
	{"states_too_big", "adapter_slots", []string{"adapter-rank", "adapter-slots", "engine-tp"}},
	{"states_too_big", "stack:deepspeed/runtime/zero/stage", attacks["states_too_big"]}, // the optimizer's partitions, made at start-up
	{"states_too_big", "colocate_policy_ref=true", []string{"apart", "param-offload", "optimizer-offload", "more-gpus"}},
	{"states_too_big", "framework:ai_toolkit", []string{"layer-offload", "param-offload", "small-optimizer", "micro-batch"}},
	{"states_too_big", "merges", []string{"merge", "spread", "lazy-load", "dtype"}},
	{"states_too_big", "dispatched_fills", []string{"spread", "engine-quantization"}},
	{"graph_capture", "records_graphs", []string{"compile-mode", "graph-shapes", "padded-shapes"}},
	{"leak_over_steps", "records_graphs", []string{"compile-mode", "graph-shapes", "padded-shapes"}},
	{"graph_capture", "large_graphs", []string{"graphs", "eager", "share-down"}},
	{"states_too_big", "alone", append([]string{"launcher"}, attacks["states_too_big"]...)},
	{"states_too_big", "stack:/megatron/training/checkpointing.py", attacks["states_too_big"]},           // the optimizer is made before a checkpoint is read
	{"states_too_big", "layers.requested>0", []string{"layers", "engine-quantization", "smaller-model"}}, // of Ollama: they are loaded whatever fits
	{"states_too_big", "model_instances", []string{"engine-instances", "engine-models", "engine-seqs", "engine-tp"}},
	{"states_too_big", "framework:comfyui", []string{"unload", "param-offload", "layer-offload", "engine-quantization", "vram-margin"}},
	{"states_too_big", "swaps_blocks", []string{"adapters", "cached-captions", "layer-offload", "half-states", "small-optimizer", "optimizer-offload", "more-gpus"}},
	{"states_too_big", "loading_weights", []string{"update", "async-load", "spread", "lazy-load", "shard", "param-offload", "layer-offload", "dtype", "smaller-model", "more-gpus", "train-tp", "train-pp", "engine-quantization", "engine-tp", "adapters", "fsdp2"}},
	{"states_too_big", "draft", []string{"draft", "engine-tp", "engine-offload"}},
	{"states_too_big", "--tp>7", []string{"engine-quantization", "engine-offload", "engine-tp"}}, // more than a node has
	{"states_too_big", "unsharded", []string{"lazy-load", "shard", "optimizer-offload", "small-optimizer", "dtype", "param-offload", "adapters", "train-tp"}},
	{"not_sharded", "fsdp_auto_wrap_policy=NO_WRAP", []string{"shard"}},
	{"not_sharded", "whole_gradients", []string{"sync-gradients", "accumulation", "train-tp", "adapters"}},
	{"not_sharded", "launcher:torchrun", attacks["not_sharded"][2:]}, // each rank has one card to work on
	{"not_sharded", "replicates", []string{"shard", "optimizer-offload"}},
	{"wrong_device", "another_worker", []string{"server-workers", "one-device"}},
	{"foreign_process", "beside_server", []string{"one-device", "others", "share-down"}},
	{"nccl_no_margin", "stack:nn/parallel/distributed.py", append([]string{"others"}, attacks["nccl_no_margin"]...)}, // before the first step
	{"nccl_no_margin", "evaluating", append([]string{"eval-batch"}, attacks["nccl_no_margin"]...)},                   // the allocator keeps what its batches took
	{"nccl_no_margin", "nvlink_sharp", append([]string{"nvlink-sharp"}, attacks["nccl_no_margin"]...)},
	{"nccl_no_margin", "free_cache_engine=False", append([]string{"sleep"}, attacks["nccl_no_margin"]...)},
	{"logits", "keeps_scores", []string{"rollout-batch", "micro-batch", "length"}},
	{"logits", "framework:prime_rl", append([]string{"fused-loss"}, attacks["logits"]...)},          // a smaller micro-batch cuts its samples
	{"logits", "max_memory_percent>0.5", append([]string{"generator-cache"}, attacks["logits"]...)}, // the generator's cache stays
	{"activations", "calibrates", []string{"calibration-cache", "pieces", "calibration-samples", "length", "param-offload"}},
	{"states_too_big", "calibrates", []string{"param-offload", "calibration-cache", "pieces", "calibration-samples"}},
	{"host_offload", "calibrates", []string{"calibration-samples", "calibration-cache", "host-limit", "length", "host-node"}},
	{"activations", "max_memory_percent>0.5", append([]string{"generator-cache"}, attacks["activations"]...)},
	{"optimizer_first_step", "engine_stays", append([]string{"sleep", "share-down"}, attacks["optimizer_first_step"]...)},
	{"optimizer_first_step", "max_memory_percent>0.5", append([]string{"generator-cache"}, attacks["optimizer_first_step"]...)},
	{"logits", "ulysses_sequence_parallel_size>1", append([]string{"padding"}, attacks["logits"]...)}, // which splits nothing that is padded
	{"entropy_chain", "ulysses_sequence_parallel_size>1", append([]string{"padding"}, attacks["entropy_chain"]...)},
	{"logits", "host_scores", []string{"engine-length", "host-limit", "host-node"}},                      // a row for each token of the context
	{"logits", "engine_process", []string{"share-down", "engine-chunk", "engine-length", "engine-seqs"}}, // of prompts
	{"logits", "joined_evaluation", []string{"eval-logits", "eval-batch"}},                               // their sum grows until the evaluation ends
	{"logits", "set:image_max_pixels", append([]string{"engine-multimodal"}, attacks["logits"]...)},      // an image becomes tokens of the sequence
	{"logits", "eval_batch", append([]string{"eval-batch"}, attacks["logits"]...)},
	{"activations", "stack:/monai/inferers/", append([]string{"stitch-on-host"}, attacks["activations"]...)},
	{"unknown", "n_cores>1", []string{"ray-tasks", "host-limit", "host-node"}},
	{"unknown", "code:replaybuffer", []string{"replay", "environments"}},
	{"states_too_big", "code:replaybuffer", []string{"replay", "environments"}},
	{"unknown", "simulates", []string{"environments", "horizon", "replay", "micro-batch"}},
	{"activations", "simulates", []string{"horizon", "environments", "image-size", "micro-batch"}},
	{"foreign_process", "simulates", []string{"environments", "one-device", "others"}}, // which may be the environments' own processes
	{"activations", "code:whole_inference", []string{"windows", "image-size"}},         // one map of the picture at its full size
	{"fragmentation", "code:whole_inference", []string{"windows", "segments", "split-size"}},
	{"activations", "crops_protein", []string{"recompute", "protein-crop", "alignment", "pieces", "micro-batch"}}, // a batch is one crop
	{"attention_scores", "crops_protein", []string{"pieces", "protein-crop", "alignment"}},
	{"activations", "vae", []string{"no-grad", "tiles", "fewer-pictures", "no-samples", "pieces", "micro-batch", "param-offload", "layer-offload", "mixed-precision", "frames", "image-size"}},
	{"activations", "framework:comfyui", []string{"unload", "vram-margin", "param-offload", "layer-offload", "fewer-pictures", "engine-quantization"}},
	{"activations", "framework:fooocus", []string{"param-offload", "fewer-pictures", "engine-quantization"}},
	{"activations", "framework:sdwebui", []string{"vram-margin", "param-offload", "attention", "fewer-pictures", "layer-offload"}},
	{"activations", "swaps_blocks", []string{"recompute", "layer-offload", "micro-batch", "frames", "image-size"}}, // the weights fill most of the card
	{"activations", "framework:diffusers", append(slices.Clone(attacks["activations"]), "param-offload", "layer-offload")},
	{"activations", "stack:/core/bbox/", []string{"assign-on-host", "image-size"}}, // a matrix of all boxes and anchors of one picture
	{"activations", "stack:/task_modules/", []string{"assign-on-host", "image-size"}},
	{"activations", "unlimited_audio", append([]string{"length"}, attacks["activations"]...)},               // batches are padded to the longest recording
	{"attention_scores", "stack:/piper_train/", append([]string{"length"}, attacks["attention_scores"]...)}, // no sentence is left out by default
	{"attention_scores", "unlimited_audio", append([]string{"length"}, attacks["attention_scores"]...)},
	{"activations", "batch_size_type=sample", append([]string{"padding"}, attacks["activations"]...)}, // of F5-TTS, whose clips are padded to the longest
	{"activations", "batch_negatives", append([]string{"cached-loss"}, attacks["activations"]...)},    // a smaller batch has fewer negatives
	{"activations", "unified_memory", []string{"unified-memory", "micro-batch", "length"}},
	{"activations", "jax_evaluation", []string{"eval-batch", "micro-batch", "unified-memory", "share-up"}},
	{"activations", "framework:jax", []string{"recompute", "micro-batch", "unified-memory", "share-up", "prealloc", "sequence-parallel", "length"}},
	{"fragmentation", "early_torch", append(slices.Clone(attacks["fragmentation"]), "image-size", "micro-batch")},       // which has no other lever
	{"fragmentation", "stack:/transformers/generation/", append(slices.Clone(attacks["fragmentation"]), "micro-batch")}, // the cache grows on
	{"activations", "infers", append([]string{"no-grad", "eval-batch"}, append(slices.Clone(attacks["activations"]), "smaller-model")...)},
	{"activations", "gradient_checkpointing=False", append([]string{"no-grad", "recompute", "engine-multimodal"}, attacks["activations"]...)},
	{"activations", "vit_gradient_checkpointing=False", append([]string{"recompute", "engine-multimodal"}, attacks["activations"]...)},
	{"activations", "vision", append([]string{"engine-multimodal"}, attacks["activations"]...)},
	{"activations", "script_batch", append([]string{"no-grad", "prealloc", "cache-offload", "pieces", "micro-batch"}, attacks["activations"]...)},
	{"weight_update", "summons", []string{"update-layers", "optimizer-offload", "update-bucket", "more-gpus"}},
	{"leak_over_steps", "keeps_metric", []string{"metric", "metric-reset"}},
	{"leak_over_steps", "keeps_on_card", []string{"eval-logits"}},
	{"leak_over_steps", "keeps_results", []string{"stream"}},
	{"leak_over_steps", "adds_adapters", []string{"old-adapters"}},
	{"leak_over_steps", "oversampling_factor>1", append([]string{"in-flight"}, attacks["leak_over_steps"]...)}, // finished answers wait for the others of their group
	{"leak_over_steps", "web_server", []string{"restart", "recycle", "malloc"}},
	{"leak_over_steps", "keeps_images", []string{"input-cache", "update", "malloc", "restart"}},
	{"wrong_dtype", "framework:sdwebui", []string{"dtype", "param-offload", "layer-offload"}},
	{"leak_over_steps", "trained_before", []string{"own-process", "update", "detach"}}, // it keeps what the trainings before it left
	{"leak_over_steps", "engine_leaks", []string{"update", "malloc", "restart"}},
	{"leak_over_steps", "framework:lmdeploy", []string{"update", "restart", "malloc"}},      // which is known to have leaked
	{"leak_over_steps", "outgrown", []string{"update", "malloc", "restart", "offload-off"}}, // the states do not explain it
	{"leak_over_steps", "param_offload=True", []string{"prompt-cache", "offload-off", "malloc", "restart"}},
	{"leak_over_steps", "offload_optimizer=true", []string{"prompt-cache", "offload-off", "malloc", "restart"}}, // EasyR1
	{"leak_over_steps", "engine_residue", []string{"share-down", "sleep", "train-tp"}},
	{"attention_scores", "stack:evoformer", append([]string{"pieces"}, attacks["attention_scores"]...)},
	{"attention_scores", "picture", []string{"engine-multimodal", "projector", "layers"}}, // the projector has its own buffer
	{"attention_scores", "calls_once", append([]string{"no-grad", "engine-pixels", "image-size"}, attacks["attention_scores"]...)},
	{"attention_scores", "gradient_checkpointing=False", []string{"attention", "recompute", "engine-pixels", "engine-multimodal", "image-size", "micro-batch", "sequence-parallel", "length"}},
	{"attention_scores", "vision", []string{"attention", "engine-pixels", "share-down", "engine-multimodal", "image-size", "micro-batch", "engine-chunk"}},
	{"engine_activation", "pattern:trtllm.scratch", []string{"attention", "engine-seqs", "engine-length", "engine-tp"}},
	{"engine_activation", "copies_weights", []string{"copies", "layers"}},
	{"engine_activation", "request_rows", []string{"engine-length", "engine-seqs"}},
	{"engine_activation", "built_context", []string{"engine-seqs", "engine-length", "engine-quantization", "engine-chunk"}},
	{"engine_activation", "makes_decoder", []string{"engine-seqs", "engine-length", "engine-chunk"}},
	{"engine_activation", "stack:rejection_sampler.py", []string{"engine-seqs", "draft-tokens", "share-down"}},
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
	{"engine_share_too_small", "adapter_slots", append([]string{"share-up", "adapter-rank", "adapter-slots"}, attacks["engine_share_too_small"]...)},
	{"engine_share_too_small", "cache_on_host", []string{"engine-length", "engine-seqs", "kv-dtype", "host-node"}},
	{"checkpoint_gather", "gathers_by_accelerate", []string{"update", "host-node"}},
	{"engine_share_too_small", "pattern:vllm.no_swap_space", []string{"engine-swap", "share-up", "engine-seqs", "engine-tp", "engine-length"}},
	{"engine_share_too_small", "kv_runtime", []string{"engine-seqs", "engine-chunk", "share-up", "kv-dtype", "engine-tp", "engine-length"}},
	{"engine_share_too_small", "others", []string{"share-up", "others"}},
	{"engine_share_too_small", "pattern:sglang.weights_leave_nothing", []string{"share-up", "engine-tp", "engine-quantization"}},
	{"engine_share_too_small", "request_states", append([]string{"engine-seqs"}, attacks["engine_share_too_small"]...)},
	{"engine_share_too_small", "pattern:vllm.mamba_blocks", []string{"engine-seqs", "share-up", "engine-tp", "eager", "engine-quantization"}},
	{"engine_activation", "framework:triton", []string{"micro-batch", "engine-arena", "engine-instances", "engine-seqs", "share-down"}},
	{"engine_share_too_large", "draft", []string{"share-down", "draft", "engine-total", "kv-dtype", "engine-quantization", "engine-tp"}},
	{"engine_share_too_large", "makes_cache", []string{"card-split", "engine-length", "kv-dtype", "engine-tp", "engine-quantization"}},
	{"engine_share_too_large", "engine_stays", append([]string{"sleep"}, attacks["engine_share_too_large"]...)},
	{"engine_share_too_large", "less_than_desired", []string{"share-down", "sleep", "others", "optimizer-offload", "param-offload"}},
	{"engine_share_too_large", "engine_wakes", []string{"share-down", "update-layers", "empty-cache", "optimizer-offload", "param-offload", "sleep", "saver-margin", "eager", "graphs", "engine-tp"}},
	{"engine_share_too_large", "gather_all_token_logits=True", append([]string{"all-logits"}, attacks["engine_share_too_large"]...)},
	{"engine_share_too_large", "gather_context_logits=True", append([]string{"all-logits"}, attacks["engine_share_too_large"]...)},
	{"engine_share_too_large", "other_cache", []string{"share-down", "one-device", "engine-models"}},
	{"engine_share_too_large", "framework:triton", []string{"share-down", "engine-seqs", "engine-instances"}},
	{"engine_share_too_small", "OLLAMA_NUM_PARALLEL>1", []string{"engine-seqs", "engine-length", "kv-dtype", "engine-quantization"}},
	{"states_too_big", "framework:triton", []string{"engine-seqs", "engine-instances", "engine-models", "share-down", "engine-tp"}},
	{"states_too_big", "uneven_split", []string{"card-split", "fit", "layers", "engine-quantization"}},
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
	{"leak_over_steps", "names:nnunet_train", append([]string{"update"}, attacks["leak_over_steps"]...)},
	{"leak_over_steps", "host_evaluation", []string{"eval-logits", "eval-batch", "host-limit", "host-node"}},
	{"limit_too_small", "eval_accumulation_steps>0", append([]string{"eval-logits"}, attacks["limit_too_small"]...)},
	{"checkpoint_gather", "broadcasts_state", append([]string{"own-copies"}, attacks["checkpoint_gather"]...)},
	{"checkpoint_gather", "framework:unsloth", []string{"merge"}},
	{"limit_too_small", "room_on_card", []string{"card-limit"}},
	{"limit_too_small", "compiling", []string{"build-jobs", "host-limit", "host-node"}},
	{"limit_too_small", "cache_on_host", []string{"engine-length", "kv-dtype", "host-limit", "host-node"}},
	{"limit_too_small", "by_shell", append([]string{"submit"}, attacks["limit_too_small"]...)},
	{"host_load", "by_shell", append([]string{"submit"}, attacks["host_load"]...)},
	{"loader_workers", "routed_experts", []string{"routing-replay", "rollout-batch", "host-limit", "host-node"}},
	{"loader_workers", "by_shell", append([]string{"submit"}, attacks["loader_workers"]...)},
	{"limit_too_small", "evicted", []string{"pod-request", "host-node", "workers"}},
	{"limit_too_small", "names:unable to allocate", []string{"temp-file", "sample-buffer", "horizon", "environments", "array-file", "host-limit", "host-node"}},
	{"limit_too_small", "framework:comfyui", []string{"node-cache", "engine-quantization", "host-node", "host-limit"}},
	{"limit_too_small", "framework:fooocus", []string{"offload-off", "host-node", "host-limit", "engine-quantization"}},
	{"host_load", "framework:fooocus", []string{"offload-off", "host-node", "host-limit", "engine-quantization"}},
	{"host_load", "framework:comfyui", []string{"node-cache", "engine-quantization", "host-node", "host-limit"}},
	{"host_offload", "framework:comfyui", []string{"pinning", "engine-quantization", "host-node", "host-limit"}},
	{"host_offload", "roomy_node", []string{"host-limit", "pinning", "offload-off", "host-cache", "nvme", "pinned-blocks", "more-gpus"}}, // the cards stay as they are
	{"limit_too_small", "windows", append([]string{"page-file"}, attacks["limit_too_small"]...)},                                         // which bounds what may be promised
	{"host_load", "windows", append([]string{"page-file"}, attacks["host_load"]...)},
	{"loader_workers", "windows", append([]string{"page-file"}, attacks["loader_workers"]...)},
	{"limit_too_small", "memory_policy", []string{"numa-bind"}},
	{"limit_too_small", "node_full", []string{"temp-file", "prompt-cache", "vm-memory", "host-node", "sample-buffer", "workers", "offload-off", "host-cache"}},
	{"limit_too_small", "prompt_cache", []string{"prompt-cache", "host-limit"}},
	{"limit_too_small", "keeps_samples", []string{"sample-buffer", "horizon", "environments", "vm-memory", "host-limit", "host-node"}},
	{"host_load", "names:flwr", append([]string{"ray-tasks"}, attacks["host_load"]...)}, // each client is a task
	{"host_load", "alike_trials", []string{"trial-data", "ray-tasks", "host-node"}},
	{"host_load", "own_tasks", append([]string{"ray-tasks"}, attacks["host_load"]...)},
	{"loader_workers", "num_workers=1", []string{"data-cache", "sample-buffer", "rollout-batch", "host-limit", "vm-memory", "host-node", "workers"}}, // one process is not many
	{"loader_workers", "many_tasks", append([]string{"ray-tasks"}, attacks["loader_workers"]...)},
	{"limit_too_small", "many_tasks", append([]string{"ray-tasks"}, attacks["limit_too_small"]...)},
	{"host_load", "backend:megatron", []string{"lazy-load", "host-limit", "vm-memory", "host-node", "host-cache", "offload-off"}}, // a distributed checkpoint is read in parts
	{"host_load", "fsdp_cpu_ram_efficient_loading=False", []string{"lazy-load", "host-limit", "host-node", "dtype"}},              // each rank reads all
	{"host_load", "copies_far_too_large", []string{"lazy-load", "host-node", "host-limit", "offload-off"}},
	{"host_load", "copies_too_large", []string{"host-limit", "lazy-load", "host-node", "dtype", "offload-off"}},
	{"host_load", "pattern:ggml.load_host", []string{"mmap", "engine-quantization", "host-limit", "host-node"}},            // the cache comes later
	{"host_load", "reads_tensors", []string{"mmap", "experts-on-cards", "engine-quantization", "host-limit", "host-node"}}, // likewise
	{"host_load", "framework:llamacpp", []string{"mmap", "engine-length", "engine-quantization", "host-limit", "host-node"}},
	{"host_load", "phase:checkpoint", []string{"lazy-load", "host-limit", "sharded-save", "swap", "host-node"}},
	{"host_load", "cache_covers", []string{"engine-seqs", "engine-length", "kv-dtype", "engine-quantization", "host-limit"}},
	{"host_load", "virtual_machine", []string{"vm-memory", "engine-quantization", "engine-seqs", "engine-length"}},
	{"host_load", "ollama_limited", []string{"host-limit", "engine-quantization", "engine-seqs", "engine-length"}},
	{"host_load", "framework:ollama", []string{"engine-quantization", "engine-seqs", "engine-length", "host-limit"}},
	{"allgather_window", "phase:rollout", []string{"update-layers", "hybrid-engine", "engine-tp", "param-offload", "gather-window", "token-budget", "micro-batch", "length"}},
	{"unknown", "ctranslate2", []string{"micro-batch", "dtype", "smaller-model"}},
	{"unknown", "one_segment", []string{"beams", "smaller-model"}},
	{"unknown", "names:temporarymemorybuffer", []string{"scratch"}},
	{"foreign_process", "ollama_holds", []string{"keep-alive", "others", "one-device", "prealloc", "share-down"}},
	{"foreign_process", "stack:/sglang_omni/", []string{"encoder-reserve", "share-down", "engine-pixels", "others"}},
	{"foreign_process", "image_processor", []string{"image-processor", "share-down", "engine-chunk"}},
	{"foreign_process", "cards_free", []string{"one-device", "others", "prealloc", "share-down"}},
	{"foreign_process", "another_service", []string{"share-down", "one-device", "others"}},
	{"foreign_process", "less_than_desired", []string{"others", "share-down", "one-device"}},
	{"foreign_process", "others", []string{"others", "one-device", "prealloc", "share-down"}},
	{"states_too_big", "stack:/diffusers/quantizers/bitsandbytes/", []string{"load-on-host", "spread", "smaller-model"}}, // before its pipeline moves anything
	{"states_too_big", "framework:diffusers", append(slices.Clone(attacks["states_too_big"]), "layer-offload")},
	{"optimizer_first_step", "whole_weights", append([]string{"shard"}, attacks["optimizer_first_step"]...)},                                          // the weights are more than a rank's part of the states
	{"optimizer_first_step", "phase:init", []string{"optimizer-offload", "shard", "small-optimizer", "more-gpus", "train-tp", "adapters", "foreach"}}, // offloaded weights make room for the first moment only
	{"optimizer_first_step", "dtype=float32", append([]string{"dtype"}, attacks["optimizer_first_step"]...)},                                          // with gradients and states of the same type
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
	if slices.Contains(ofTrainers, cause) && !ctx.is("own_cache") && !ctx.is("framework:triton") && ctx.holds("engine_process").truth == no { // Triton runs Python models
		out = slices.DeleteFunc(slices.Clone(out), func(l string) bool { return strings.HasPrefix(l, "engine-") })
	}
	return out
}

// ofTrainers lists causes that engines share. After a trainer's failure, the engine's settings do not help.
var ofTrainers = []string{"states_too_big", "wrong_dtype", "not_sharded"}
