package phase

// neutralRules are the frames between the frames: decorators, wrappers, schedulers, launchers. They occur under every
// phase, so they neither decide anything nor are their lines read.
func neutralRules() []rule {
	return []rule{
		shared("contextlib.py", "").with(opaque),
		shared("functools.py", "").with(opaque),
		shared("threading.py", "").with(opaque),
		shared("runpy.py", "").with(opaque),
		shared("concurrent/futures/*.py", "").with(opaque),
		shared("asyncio/*.py", "").with(opaque),
		shared("uvloop/loop.pyx", "").with(opaque),
		shared("multiprocessing/*.py", "").with(opaque),
		shared("<frozen *>", "").with(opaque),
		shared("importlib/*.py", "").with(opaque),
		shared("site-packages/tqdm/", "").with(opaque),
		shared("absl/app.py", "").with(opaque),
		shared("site-packages/hydra/", "").with(opaque),
		shared("site-packages/click/", "").with(opaque),
		shared("fire/core.py", "").with(opaque),

		shared("torch/utils/_contextlib.py", "").with(opaque),
		shared("torch/autograd/grad_mode.py", "").with(opaque), // decorate_context, torch <= 1.12
		shared("torch/autograd/profiler.py", "").with(opaque),
		shared("torch/profiler/", "").with(opaque),
		shared("torch/amp/autocast_mode.py", "").with(opaque),
		shared("torch/nn/modules/module.py", "_wrapped_call_impl _call_impl __call__ inner _slow_forward").with(opaque),
		shared("torch/nn/modules/container.py", "").with(opaque),
		shared("torch/nn/parallel/parallel_apply.py", "_worker parallel_apply").with(opaque),
		shared("torch/_dynamo/", "").with(opaque),
		shared("torch/_inductor/", "").with(opaque),
		shared("torch/_compile.py", "").with(opaque),
		shared("torch/cuda/graphs.py", "").with(opaque),
		shared("torch/_utils.py", "").with(opaque), // reraise
		shared("torch/distributed/elastic/", "").with(opaque),
		shared("torch/distributed/launcher/", "").with(opaque),
		shared("torch/distributed/run.py", "").with(opaque),
		shared("torch/distributed/c10d_logger.py", "").with(opaque),
		shared("torch/distributed/fsdp/_flat_param.py", "").with(opaque), // gathers for every caller
		shared("torch/distributed/fsdp/flat_param.py", "").with(opaque),
		shared("triton/runtime/", "").with(opaque),

		r("ray/data/", "", Data, strong),
		shared("ray/_private/", "").with(opaque),
		shared("ray/util/", "").with(opaque),
		shared("ray/serve/", "").with(opaque),
		shared("ray/actor.py", "").with(opaque),
		shared("ray/remote_function.py", "").with(opaque),
		shared("_raylet.pyx", "").with(opaque),

		shared("accelerate/utils/operations.py", "").with(opaque),
		shared("accelerate/utils/memory.py", "").with(opaque), // find_executable_batch_size
		shared("deepspeed/utils/nvtx.py", "").with(opaque),
		shared("trl/extras/profiling.py", "").with(opaque),
		shared("verl/single_controller/", "").with(opaque),
		shared("utils/profiler/", "").with(opaque),
		shared("verl/utils/debug/", "").with(opaque),
		shared("verl/utils/ray_utils.py", "").with(opaque),
		shared("sharding_manager/fsdp_ulysses.py", "").with(opaque), // wraps every pass
	}
}
