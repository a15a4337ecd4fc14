package phase

// torchRules: PyTorch itself (1.x ... 2.9) and optimizer libraries. Collectives mean the phase around them; NCCL marks
// them for the case that nothing is around them.
func torchRules() []rule {
	return []rule{
		r("torch/_tensor.py", "backward", Backward, decisive),
		r("torch/tensor.py", "backward", Backward, decisive), // torch <= 1.8
		r("torch/autograd/__init__.py", "backward grad _make_grads", Backward, decisive),
		r("torch/autograd/graph.py", "_engine_run_backward", Backward, decisive), // torch >= 2.3
		// TorchScript's derivatives have separate source; `<backward op>` is their only name.
		r("<string>", "<backward*", Backward, decisive),
		r("torch/autograd/function.py", "apply", Backward, strong).when("user_fn(self"),
		shared("torch/autograd/function.py", "apply").with(opaque),
		r("torch/utils/checkpoint.py", "backward unpack_hook recompute_fn _run_fn_with_dynamo_disabled inner_unpack "+
			"unpack", Backward, strong).says("activations are recomputed"),
		r("torch/utils/checkpoint.py", "checkpoint forward checkpoint_sequential", Forward, weak),

		r("torch/distributed/fsdp/_runtime_utils.py", "_pre_backward_hook _post_backward_* _reduce_grad* "+
			"_catch_all_reshard _finalize_params _accumulate_sharded_grad _prefetch_handle_backward", Backward, decisive),
		r("torch/distributed/fsdp/_runtime_utils.py", "_root_pre_forward _pre_forward _pre_forward_unshard _unshard "+
			"_post_forward_reshard _post_forward", Forward, strong),
		r("_fsdp_param_group.py", "pre_backward post_backward _backward_prefetch", Backward, decisive),
		r("_fsdp_param_group.py", "pre_forward post_forward", Forward, strong),
		r("_fsdp_state.py", "_pre_backward _root_post_backward_final_callback", Backward, decisive),
		r("_fsdp_state.py", "_pre_forward _post_forward _root_pre_forward", Forward, strong),
		r("_fsdp_collectives.py", "foreach_reduce*", Backward, decisive),
		r("_fsdp_param_group.py", "unshard wait_for_unshard _all_gather*", Forward, weak),
		shared("_fsdp_collectives.py", "").with(opaque),
		shared("_fsdp_param.py", "").with(opaque),
		r("torch/distributed/fsdp/_state_dict_utils.py", "", Checkpoint, strong),
		r("torch/distributed/fsdp/_unshard_param_utils.py", "_unshard_fsdp_state_params", Checkpoint, strong).with(alone),
		r("torch/distributed/fsdp/_optim_utils.py", "", Checkpoint, strong),
		r("torch/cuda/__init__.py", "set_device _lazy_init", Init, weak).with(alone).says("a process makes its CUDA context"),
		r("torch/distributed/checkpoint/", "", Checkpoint, strong),
		r("torch/distributed/fsdp/fully_sharded_data_parallel.py", "clip_grad_norm_", Optimizer, strong),
		r("torch/distributed/fsdp/fully_sharded_data_parallel.py", "__init__", Init, strong),
		r("torch/distributed/fsdp/_init_utils.py", "", Init, strong),
		r("torch/distributed/fsdp/wrap.py", "", Init, strong),
		r("fully_shard.py", "fully_shard", Init, strong),
		r("torch/distributed/fsdp/_fully_shard/", "fully_shard _init_*", Init, strong),
		r("torch/nn/parallel/distributed.py", "__init__ _ddp_init_helper _sync_params_and_buffers _sync_module_states",
			Init, strong),

		r("torch/amp/grad_scaler.py", "step unscale_ _maybe_opt_step _unscale_grads_", Optimizer, decisive),
		r("torch/cuda/amp/grad_scaler.py", "step unscale_ _maybe_opt_step _unscale_grads_", Optimizer, decisive),
		r("torch/optim/lr_scheduler.py", "wrapper", Optimizer, decisive), // a shell around the optimizer's step
		shared("torch/optim/lr_scheduler.py", "").with(opaque),
		r("torch/optim/*.py", "_init_group", Optimizer, decisive).
			says("the optimizer creates its state here on the first step, which is why earlier passes succeeded"),
		r("torch/optim/*.py", "step _multi_tensor_* _single_tensor_* _fused_* profile_hook_step wrapper _use_grad "+
			"adam adamw sgd zero_grad", Optimizer, decisive),
		r("torch/optim/*.py", "load_state_dict state_dict _process_value_according_to_param_policy", Checkpoint, strong),
		r("torch/nn/utils/clip_grad.py", "", Optimizer, strong),
		r("transformer_engine/pytorch/optimizers/", "step initialize_state _initialize_state", Optimizer, decisive),
		r("apex/optimizers/", "step", Optimizer, decisive),
		r("apex/contrib/optimizers/", "step", Optimizer, decisive),
		r("bitsandbytes/optim/", "step init_state update_step prefetch_state get_state_buffer", Optimizer, decisive),
		r("optim/*.py", "step _init_group init_state initialize_state", Optimizer, strong),
		r("optimizers/*.py", "step _init_group init_state initialize_state", Optimizer, strong),

		r("torch/utils/data/", "", Data, strong),
		r("torch/serialization.py", "", Checkpoint, strong),
		r("paddle/framework/io.py", "", Checkpoint, strong),
		r("site-packages/safetensors/", "", Checkpoint, strong),
		r("torch/cuda/__init__.py", "_lazy_init", Init, strong).with(alone).says("the device context is created"),
		r("torch/nn/modules/module.py", "to cuda _apply convert half float bfloat16 npu xpu to_empty", Init, strong).with(alone).
			says("a module is put on the device"),
		r("torch/nn/modules/module.py", "load_state_dict", Checkpoint, weak),
		r("torch/nn/modules/", "__init__ reset_parameters", Init, strong).with(alone).says("a module is built"),
		r("torch/nn/parameter.py", "__deepcopy__", Init, strong).with(alone).says("a module is copied"),
		r("torch/nn/init.py", "", Init, strong).with(alone).says("weights are initialized"),
		r("torch/distributed/distributed_c10d.py", "init_process_group new_group _new_process_group_helper", Init, strong).
			with(alone),
		r("torch/distributed/distributed_c10d.py", "", NCCL, weak),
		r("torch/distributed/nn/functional.py", "backward", Backward, strong),
		r("torch/nn/modules/conv.py", "forward _conv_forward conv2d_forward", Forward, weak),
		r("torch/nn/functional.py", "cross_entropy log_softmax softmax nll_loss scaled_dot_product_attention",
			Forward, weak),
	}
}

// anyRules match names that users and forks give their functions. The table ends with libraries whose lines are not user code.
func anyRules() []rule {
	return []rule{
		r("*", "update_policy update_actor update_critic", Training, strong),
		r("*", "generate_sequences sample_images sample_images_common", Rollout, strong),
		r("*", "compute_ref_log_prob compute_ref_logp compute_old_log_prob forward_only", LogProb, strong),
		r("*", "compute_log_prob compute_logp", LogProb, weak).with(alone),
		r("*", "save_checkpoint load_checkpoint save_ckpt load_ckpt resume_checkpoint resume_from_checkpoint "+
			"load_from_checkpoint restore_checkpoint save_model", Checkpoint, strong),
		r("*", "optimizer_step", Optimizer, weak),
		r("*", "*forward_backward* *forward_and_backward* *fwd_bwd*", Training, weak),
		r("*", "backward *_backward *_bwd", Backward, weak),
		r("*", "forward", Forward, weak),
		r("*", "train_step training_step train_one_step train_batch train_one_batch train_epoch train_one_epoch "+
			"_fast_inner_training_loop", Training, weak),
		r("monai/inferers/", "", Forward, strong).says("an evaluation"),
		r("*", "validation evaluate validate evaluate_* validate_* eval_step validation_step eval_epoch evaluation", Forward, weak).
			says("an evaluation"),
		r("*", "collate* tokenize* preprocess* __getitem__ __getitems__ load_dataset load_data build_dataset "+
			"make_dataset prepare_dataset get_dataset read_data build_dataloader get_dataloader", Data, weak),
		r("*", "build_model create_model get_model load_model init_model setup_model setup make_model load_pretrained* "+
			"create_train_state init_train_state", Init, weak),
		r("*", "update_weights_from* update_weights_via* update_named_param* update_flattened_params update_weight_cuda_ipc "+
			"receive_weights* receive_state_dict sync_model_to_rollout sync_model_from_actor", WeightUpdate, strong),
		r("*", "update_weights* sync_weights broadcast_weights", WeightUpdate, weak),
		shared("*", "onload* offload* wake_up reload_* to_cpu to_gpu load_to_gpu").with(mover),

		r("site-packages/pandas/", "", Data, weak),
		r("site-packages/pyarrow/", "", Data, weak),
		r("pyarrow/*.pxi", "", Data, weak),
		r("site-packages/polars/", "", Data, weak),
		r("site-packages/cudf/", "", Data, weak),
		r("pylibcudf/*.pyx", "", Data, weak),
		r("site-packages/dask_cudf/", "", Data, weak),
		r("site-packages/nvtabular/", "", Data, weak),
		r("site-packages/modin/", "", Data, weak),
		r("site-packages/duckdb/", "", Data, weak),
		r("site-packages/dask/", "", Data, weak),
		r("site-packages/webdataset/", "", Data, strong),
		r("site-packages/datasets/", "", Data, strong),
		shared("site-packages/torch/", "").with(opaque),
		shared("site-packages/torch_npu/", "").with(opaque),
		shared("site-packages/transformers/", "").with(opaque),
		shared("src/transformers/", "").with(opaque),
		shared("site-packages/numpy/", "").with(opaque),
		shared("site-packages/scipy/", "").with(opaque),
		shared("megatron/core/", "").with(opaque),
		shared("site-packages/transformer_engine/", "").with(opaque),
	}
}
