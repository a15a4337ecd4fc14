package settings

import "strings"

// metricKeys are the keys of training metrics, gauges and event records. A line with one of them is no configuration.
// "lr" is missing because configurations print it too.
var metricKeys = set(`
	loss losses train_loss eval_loss val_loss grad_norm gnorm step global_step it iter iteration epoch elapsed eta time took
	duration throughput tok/s tokens_per_second tps tgs reward reward_mean acc accuracy ppl perplexity kl entropy mfu tflops
	act_loss num_tokens mean_token_accuracy train_runtime train_samples_per_second eval_runtime consumed_samples allocated
	reserved max_allocated max_reserved max_memory_allocated peak max_mem used free available usage percent rss vms alloc
	cached avail pid ppid uid gid tid exitcode exit_code exit_status returncode signal errno status error_file traceback
	actor_id node_id worker_id task_id job_id lease_id object_id timestamp ts asctime levelname level severity
	message msg log stream logger seqnum optype numelin numelout constraint cpuset nodemask oom_memcg task_memcg gfp_mask
	order oom_score_adj git-hash warning error info note commhash file line op_name op_type source_file source_line busid
	cudadev nranks`)

// knownSettings are the ends of names of memory-related settings in all programs that were examined. Such a name
// makes even a single pair in a sentence a setting.
var knownSettings = set(`
	batch_size batchsize bs bsz micro_batch mini_batch global_batch grad_accum accumulation_steps accumulate seq_len sequence_length
	seq_length seqlen max_length max_len model_len context_length context_len block_size cutoff_len max_seq_len
	max_seq_length max_position_embeddings max_tokens max_new_tokens tokens_per_gpu tokens_per_mb completion_length
	prompt_length source_length target_length response_length response_len prompt_len packing imgsz imagesize image_size img_size resolution num_frames
	checkpointing gradient_checkpoint recompute recompute_granularity remat activation_offload offload param_offload
	optimizer_offload cpu_offload offload_params offload_policy offload_optimizer offload_param swap_space cpu_offload_gb
	zero_stage zero fsdp sharding_strategy reshard_after_forward sync_module_states low_cpu_mem_usage gpu_memory_utilization
	mem_fraction_static mem_fraction max_num_seqs max_num_batched_tokens chunked_prefill_size max_prefill_tokens
	max_running_requests max_total_tokens max_total_num_tokens cuda_graph_max_bs enforce_eager free_cache_engine page_size
	kv_cache_dtype num_gpu_blocks_override tp_size pp_size dp_size cp_size sp_size ep_size tp pp dp cp tensor_parallel_size
	pipeline_parallel_size data_parallel_size context_parallel_size model_parallel_size num_workers workers num_proc nproc
	prefetch_factor pin_memory persistent_workers n_jobs amp fp16 bf16 dtype precision mixed_precision quantization
	load_in_4bit load_in_8bit optim optimizer num_generations n_samples lora_rank lora_r cache shm_size world_size
	nproc_per_node bucket_size bucket_megabytes buffer_size replay_size replay_capacity hidden_size num_layers n_layers vocab_size d_model n_ctx n_batch
	n_ubatch n_gpu_layers kv_size samples_per_gpu workers_per_gpu attn_implementation attention_backend flash_attn use_cache
	torch_compile compile per_batch per_chunk batch_gpu crop_size tile_size roi_size chunk_size max_sentences
	max_duration batch_bins batch_duration batch_size_token batch_size_token_s accum_iter diffusion_samples n_envs decode_chunk_size decoding_t n_samples_a_time`)

func set(list string) map[string]bool {
	m := make(map[string]bool)
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

// isKnown reports whether a key, or its part after one of its underscores, is a known setting.
func isKnown(key string) bool {
	key = strings.ReplaceAll(strings.ToLower(key[strings.LastIndexByte(key, '.')+1:]), "-", "_")
	for more := true; more; _, key, more = strings.Cut(key, "_") {
		if knownSettings[key] {
			return true
		}
	}
	return false
}

// metric reports whether a key names a measurement or a field of a record.
func metric(key string) bool {
	key = strings.ToLower(key[strings.LastIndexByte(key, '.')+1:])
	return metricKeys[key] || strings.HasSuffix(key, "_loss") || strings.HasSuffix(key, "_per_second") || strings.HasSuffix(key, "_time")
}

// metrics reports whether the pairs of an unlabeled dict are a training step's metrics or a log record.
func metrics(pairs []Pair) bool {
	known := 0
	for _, p := range pairs {
		if isKnown(p.Key) {
			known++
		}
	}
	for _, p := range pairs {
		nested := known > 1 && strings.Contains(p.Key, ".") // compilation_config.level
		if metric(p.Key) && !isSwitch(p.Value) && !nested {
			return true
		}
	}
	return false
}

// gauge reports whether a key among settings names a reading (`available_gpu_mem=7.65`).
func gauge(key string) bool {
	return strings.HasPrefix(key, "available_") || strings.HasPrefix(key, "avail_") || strings.HasPrefix(key, "free_gpu")
}

// isSwitch reports whether a value is a boolean, None or the infinity with which a search for the best begins, which no metric is
// (`use_kl_loss=True`, `'best_train_loss': inf`).
func isSwitch(v string) bool {
	return v == "inf" || v == "True" || v == "False" || v == "None" || v == "true" || v == "false" || v == "null"
}

// adviceWords mark advice or a complaint: pairs in it are not what the run was started with.
var adviceWords = strings.Fields(`
	try setting set please consider should must recommend recommended e.g default instead increase increasing decrease
	decreasing lower lowering reduce reducing use if avoid pass passing invalid expected requires require cannot can't could
	would may might incompatible unsupported deprecated ignored ignoring unless enable hint tip fix`)

// advice reports whether a lowercase sentence gives advice.
func advice(low string) bool { return hasWord(low, adviceWords) }
