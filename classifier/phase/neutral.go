package phase

// opaqueFiles are the files and folders of decorators, wrappers, schedulers and launchers. Their frames occur in every phase, so
// they decide nothing, and their source lines are not read.
var opaqueFiles = []string{
	"contextlib.py", "functools.py", "threading.py", "runpy.py", "concurrent/futures/*.py", "asyncio/*.py", "uvloop/loop.pyx",
	"multiprocessing/*.py", "<frozen *>", "importlib/*.py", "site-packages/tqdm/", "absl/app.py", "site-packages/hydra/",
	"site-packages/click/", "fire/core.py",

	"torch/utils/_contextlib.py",
	"torch/autograd/grad_mode.py", // decorate_context, torch <= 1.12
	"torch/autograd/profiler.py", "torch/profiler/", "torch/amp/autocast_mode.py", "torch/nn/modules/container.py",
	"torch/_dynamo/", "torch/_inductor/", "torch/_compile.py", "torch/cuda/graphs.py",
	"torch/_utils.py", // reraise
	"torch/distributed/elastic/", "torch/distributed/launcher/", "torch/distributed/run.py", "torch/distributed/c10d_logger.py",
	"torch/distributed/fsdp/_flat_param.py", "torch/distributed/fsdp/flat_param.py", // gather for every caller
	"triton/runtime/",

	"ray/_private/", "ray/util/", "ray/serve/", "ray/actor.py", "ray/remote_function.py", "_raylet.pyx",

	"accelerate/utils/operations.py",
	"accelerate/utils/memory.py", // find_executable_batch_size
	"deepspeed/utils/nvtx.py", "trl/extras/profiling.py", "verl/single_controller/", "utils/profiler/", "verl/utils/debug/",
	"verl/utils/ray_utils.py",
	"sharding_manager/fsdp_ulysses.py", // wraps every pass
}

func neutralRules() []rule {
	rules := []rule{
		shared("torch/nn/modules/module.py", "_wrapped_call_impl _call_impl __call__ inner _slow_forward").with(opaque),
		shared("torch/nn/parallel/parallel_apply.py", "_worker parallel_apply").with(opaque),
		shared("*.py", "").when("fabric.launch(").with(opaque), // runs the whole program in each process (lightning/fabric/fabric.py)
		r("ray/data/", "", Data, strong),
	}
	for _, file := range opaqueFiles {
		rules = append(rules, shared(file, "").with(opaque))
	}
	return rules
}
