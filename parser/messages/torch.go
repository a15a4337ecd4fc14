package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// torchSize matches what c10's format_size prints ("594.00 MiB", "0 bytes", "17179869184.00 GiB"), and what other
// allocators print in its manner ("745. MiB", "4.97GB").
const torchSize = `\d{1,20}(?:\.\d{0,8})? ?(?:bytes|[KMGTPE]i?B)`

// wholeFigure stands before a figure that may have been broken: what is left of 57.95 begins with a dot, or its row without decimals.
const wholeFigure = `(?<![\d.])(?!(?<=^)\d{1,20} ?[KMGT])`

// ofRank matches what FSDP's warning says before the error that it caught.
const ofRank = `(?:\bon rank (?<rank>\d{1,6})\. This may mean [^\n]{0,900}?)?`

// torchPatterns are the messages of PyTorch's CUDA and HIP allocators.
//
// The word in front of "out of memory" names the device (CUDA, HIP, MUSA, MLU ...) and is missing in the header that
// all devices share, so it is left open; XPU and NPU word the rest differently and have patterns of their own.
var torchPatterns = by(torch, torchMarkers, torchAllocatorPatterns, torchNeighbourPatterns)

var torch = pattern.Program{Name: "torch", Framework: "torch", Allocator: "torch", Vendor: "cuda"}

// torchMarkers tell where torch itself is when it reports that an allocation failed and goes on, and what it warns of. They stand before the
// patterns of the failure, which the same line holds.
func torchMarkers() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "torch.graph_sizes",
			Literals: []string{"We have observed "},
			Requires: []string{"CUDAGraph"},
			Expr:     `\bRecording too many CUDAGraphs may lead to extra overhead\. We have observed (?<count>\d{1,9}) distinct sizes\.`,
			Gauge:    true, Source: "PyTorch 2.4-2.9, _inductor/cudagraph_utils.py maybe_warning_due_to_dynamic_shape",
			Match: []pattern.Sample{{
				Line: "CUDAGraph supports dynamic shapes by recording a new graph for each distinct input size. Recording too many CUDAGraphs may lead to extra overhead. We have observed 51 distinct sizes. Please consider the following options for better performance: a) padding inputs to a few fixed number of shapes",
				Want: parser.Fields{"count": "51"},
			}},
			NoMatch: []string{"We have observed 51 distinct sizes of CUDAGraph pools"},
		},
		{
			Name:     "torch.fsdp_clone",
			Literals: []string{"Failed to clone() tensor with name ", "this state_dict entry could point to invalid memory"},
			Expr:     `(?:Failed to clone\(\) tensor with name |this state_dict entry could point to invalid memory regions)`,
			Marker:   "phase", Set: parser.Fields{"phase": "checkpoint", "edge": "point", "label": "state_dict"}, Source: "torch/distributed/fsdp/_state_dict_utils.py (1.12: fully_sharded_data_parallel.py): one warning a tensor that did not fit",
			Match: lines("/opt/torch/distributed/fsdp/_state_dict_utils.py:312: UserWarning: Failed to clone() tensor with name lm_head.weight on rank 1. This may mean that this state_dict entry could point to invalid memory regions"),
		},
	}
}

func torchAllocatorPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "torch.oom.paren",
			Literals: []string{"ut of memory. Tried to allocate ", "Tried to allocate "},
			Requires: []string{"B (", "B(", "bytes (", "bytes("},
			Expr: ofRank + `(?:(?<!XPU |NPU )(?<=\b(?<platform>[A-Z]{2,6}) |)[Oo]ut of memory\. |^\s{0,8})Tried to allocate (?<requested_sz>` + torchSize + `) ?\((?!NPU)[A-Z]{2,6} (?<device>\d{1,4})` +
				`(?:; (?<total_sz>` + torchSize + `) total capacity)?(?:; (?<allocated_sz>` + torchSize + `) already allocated)?` +
				`(?:; (?<free_sz>` + torchSize + `) free)?(?:; (?<allowed_sz>` + torchSize + `) allowed)?` +
				`(?:; (?:(?<reserved_unallocated_sz>` + torchSize + `) cached|(?<reserved_sz>` + torchSize + `) reserved in total))?`,
			Kind: parser.GPUOOM, Role: parser.Evidence,
			Source: "PyTorch 1.0-2.0, c10/cuda/CUDACachingAllocator.cpp; \"cached\" (1.0-1.3) is reserved minus allocated, \"allowed\" came with 1.8",
			Match: []pattern.Sample{
				{
					Line: "RuntimeError: CUDA out of memory. Tried to allocate 1.12 MiB (GPU 0; 22.00 GiB total capacity; 15.50 GiB already allocated; 3.50 MiB free; 512.00 MiB cached)",
					Want: parser.Fields{"platform": "CUDA", "requested": "1174405", "device": "0", "total": "23622320128", "allocated": "16642998272", "free": "3670016", "reserved_unallocated": "536870912"},
				},
				{
					Line: "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 3; 79.00 GiB total capacity; 70.00 GiB already allocated; 1.00 GiB free; 75.00 GiB allowed; 72.00 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.  See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF",
					Want: parser.Fields{"platform": "CUDA", "requested": "2147483648", "device": "3", "total": "84825604096", "allocated": "75161927680", "free": "1073741824", "allowed": "80530636800", "reserved": "77309411328"},
				},
				{
					Line: "Error: CUDA out of memory. Tried to allocate 8.00 GiB (GPU 0; 8.00 GiB total capacity; 0 bytes already allocated; 7.50 GiB free; 0 bytes reserved in total by Pytorch)",
					Want: parser.Fields{"platform": "CUDA", "requested": "8589934592", "device": "0", "total": "8589934592", "allocated": "0", "free": "8053063680", "reserved": "0"},
				},
				{ // its beginning is lost
					Line: "Tried to allocate 20.00 MiB (GPU 0; 2.00 GiB total capacity; 1.25 GiB already allocated; 2.00 MiB free; 1.50 GiB reserved in total by PyTorch)",
					Want: parser.Fields{"requested": "20971520", "device": "0", "total": "2147483648", "allocated": "1342177280", "free": "2097152", "reserved": "1610612736"},
				},
				{
					Line: "loss=5.46]RuntimeError: HIP out of memory. Tried to allocate 20.00 MiB (GPU 1; 10.00 GiB total capacity",
					Want: parser.Fields{"platform": "HIP", "requested": "20971520", "device": "1", "total": "10737418240"},
				},
			},
			NoMatch: []string{
				"CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.",
				"NPU out of memory. Tried to allocate 2.00 GiB (NPU 3; 61.00 GiB total capacity; 50.00 GiB already allocated; 50.00 GiB current active; 1.00 GiB free; 55.00 GiB reserved in total by PyTorch)",
				"Out of memory. Try to lower your batch size.",
			},
		},
		{
			Name:     "torch.oom.of_which",
			Literals: []string{"ut of memory. Tried to allocate "},
			Expr: ofRank + `(?<!XPU |NPU )(?<=\b(?<platform>[A-Z]{2,6}) |)[Oo]ut of memory\. Tried to allocate (?<requested_sz>` + torchSize + `)(?! ?\()` +
				`(?:\. GPU (?:(?<device>\d{1,4})|[\x00-\x1f]?) has a total capac(?:i?ty) of(?: (?<total_sz>` + torchSize + `)| [\d.]{0,12}$)|\. GPU (?<device>\d{1,4})(?: has)?(?: a)?(?: total)?\s*$)?(?: of which (?<free_sz>` + torchSize + `) is free)?` +
				`(?:(?=\. Process (?<gpu_pid>\d{1,10}) has ` + torchSize + ` memory in use(?!\.? (?:Process|Including)))|)` +
				`(?:\. (?:Including non-PyTorch memory, this process has (?<process_sz>` + torchSize + `)|Process \d{1,10} has (?<others_sum_sz>` + torchSize + `)) memory in use){0,256}` +
				`(?:\. (?<allowed_sz>` + torchSize + `) allowed)?` +
				`(?:[.;] Of the allocated memory (?<allocated_sz>` + torchSize + `) is allocated by(?: PyTorch,?)?)?` +
				`(?: with (?<private_pools_sz>` + torchSize + `) allocated in private pools \([^)]{0,64}\),)?` +
				`(?: and (?<reserved_unallocated_sz>` + torchSize + `) is reserved by)?`,
			Kind: parser.GPUOOM, Role: parser.Evidence,
			Source: "PyTorch 2.1 (\"capacty\") to 2.10, c10/cuda/CUDACachingAllocator.cpp; private pools from 2.4, allowed from about 2.6; pids are those of the host's process table",
			Match: []pattern.Sample{
				{ // broken between words
					Line: "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 5",
					Want: parser.Fields{"platform": "CUDA", "requested": "3221225472", "device": "5"},
				},
				{ // torch 2.3 prints the index as a byte, which few logs keep
					Line: "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU  has a total capacity of 47.50 GiB of which 1.25 GiB is free. Including non-PyTorch memory, this process has 46.00 GiB memory in use. Of the allocated memory 44.00 GiB is allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)",
					Want: parser.Fields{"platform": "CUDA", "requested": "3221225472", "total": "51002736640", "free": "1342177280", "process": "49392123904", "allocated": "47244640256", "reserved_unallocated": "1073741824"},
				},
				{
					Line: "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU \x01 has a total capacity of 47.50 GiB of which 1.25 GiB is free.",
					Want: parser.Fields{"platform": "CUDA", "requested": "3221225472", "total": "51002736640", "free": "1342177280"},
				},
				{
					Line: "[rank4]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 4 has a total capacity of 40.00 GiB of which 1.00 GiB is free. Process 3679748 has 38.50 GiB memory in use. Of the allocated memory 36.00 GiB is allocated by PyTorc",
					Want: parser.Fields{"platform": "CUDA", "requested": "1610612736", "device": "4", "total": "42949672960", "free": "1073741824", "gpu_pid": "3679748", "others": "41339060224", "allocated": "38654705664"},
				},
				{
					Line: "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 32.00 MiB. GPU 5 has a total capacty of 79.00 GiB of which 19.00 MiB is free. Process 2240113 has 78.50 GiB memory in use. Of the allocated memory 75.00 GiB is allocated by PyTorch, and 1.50 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting max_split_size_mb to avoid fragmentation.  See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF",
					Want: parser.Fields{"platform": "CUDA", "requested": "33554432", "device": "5", "total": "84825604096", "free": "19922944", "gpu_pid": "2240113", "others": "84288733184", "allocated": "80530636800", "reserved_unallocated": "1610612736"},
				},
				{
					Line: "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 5.00 GiB. GPU 0 has a total capacity of 80.00 GiB of which 2.00 GiB is free. Process 71 has 10.00 GiB memory in use. Including non-PyTorch memory, this process has 60.00 GiB memory in use. Process 72 has 8.00 GiB memory in use. 76.00 GiB allowed; Of the allocated memory 50.00 GiB is allocated by PyTorch, with 1.00 GiB allocated in private pools (e.g., CUDA Graphs), and 512.00 MiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)",
					Want: parser.Fields{"platform": "CUDA", "requested": "5368709120", "device": "0", "total": "85899345920", "free": "2147483648", "others": "19327352832", "process": "64424509440", "allowed": "81604378624", "allocated": "53687091200", "private_pools": "1073741824", "reserved_unallocated": "536870912"},
				},
				{
					Line: "HIP out of memory. Tried to allocate 1024.00 KiB. GPU 0 has a total capacity of 64.00 GiB of which 0 bytes is free. Of the allocated memory 60.00 GiB is allocated by PyTorch, and 0 bytes is reserved by PyTorch but unallocated.",
					Want: parser.Fields{"platform": "HIP", "requested": "1048576", "device": "0", "total": "68719476736", "free": "0", "allocated": "64424509440", "reserved_unallocated": "0"},
				},
				{
					Line: "RuntimeError: Worker failed with error 'CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 80.00 GiB of which 512.00 MiB is free. Process 9 has 79.00 GiB memory in use.",
					Want: parser.Fields{"platform": "CUDA", "requested": "1073741824", "device": "0", "total": "85899345920", "free": "536870912", "gpu_pid": "9", "others": "84825604096"},
				},
				{Line: "Exception: Capture cuda graph failed: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 7 has a total capacity of 80.", Want: parser.Fields{"platform": "CUDA", "requested": "2147483648", "device": "7"}},
				{Line: "Out of memory. Tried to allocate 2.00 GiB", Want: parser.Fields{"requested": "2147483648"}},
			},
			NoMatch: []string{
				"CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity; 6.00 GiB already allocated; 1.00 GiB free; 512.00 MiB cached)",
				"XPU out of memory. Tried to allocate 4.66 GiB. GPU 0 has a total capacity of 5.65 GiB of which 5.65 GiB is free.",
				`if "out of memory. Tried to allocate " in str(e):`,
			},
		},
		{
			Name:     "torch.oom.absurd",
			Literals: []string{"more than 1EB memory"},
			Expr:     `ut of memory\. Tried to allocate more than 1EB memory`,
			Kind:     parser.GPUOOM, Role: parser.Evidence,
			Source: "PyTorch 1.9 and later, c10/cuda/CUDACachingAllocator.cpp: a size that overflowed, no figures follow",
			Match:  lines("RuntimeError: CUDA out of memory. Tried to allocate more than 1EB memory."),
		},
		{
			Name:     "torch.oom.async",
			Literals: []string{"would exceed allowed memory. (out of memory)"},
			Expr:     `Allocation on device (?<device>\d{1,4}) would exceed allowed memory\. \(out of memory\)`,
			Kind:     parser.GPUOOM, Role: parser.Evidence,
			Source: "PyTorch with backend:cudaMallocAsync, c10/cuda/CUDAMallocAsyncAllocator.cpp (2.4); its figures follow on lines of their own",
			Match:  []pattern.Sample{{Line: "torch.cuda.OutOfMemoryError: Allocation on device 0 would exceed allowed memory. (out of memory)", Want: parser.Fields{"device": "0"}}},
		},
		failedIn("torch.failed_backward", "backward", `(?:\w{1,40}\.){1,4}backward`, "step 1231 failed in loss.backward()", "batch 7 failed in self.accelerator.backward(loss):"),
		failedIn("torch.failed_step", "optimizer", `(?:\w{1,40}\.){0,4}(?:optimi[sz]er|opt|optim|scaler)\.step`, "step 1231 failed in optimizer.step()", "failed in self.opt.step(), see below"),
		{
			// The C++ stack below a message, of programs without Python or with TORCH_SHOW_CPP_STACKTRACES=1.
			Name:     "torch.cpp_backward",
			Literals: []string{" torch::autograd::"},
			Expr:     `^frame #\d{1,3}: torch::autograd::(?:Engine::(?:evaluate_function|thread_main|thread_init)|generated::\w{1,80}::apply)\(`,
			Kind:     parser.GPUOOM, Role: parser.Detail, Phase: "backward",
			Source: "PyTorch 1.x-2.x, c10/util/Backtrace.cpp; torch/csrc/autograd/engine.cpp runs nothing but backward passes",
			Match: lines(
				"frame #7: torch::autograd::Engine::evaluate_function(std::shared_ptr<torch::autograd::GraphTask>&) + 0x22f (0x7f3c071e in /opt/libtorch/lib/libtorch_cpu.so)",
				"frame #6: torch::autograd::generated::ConvolutionBackward0::apply(std::vector<at::Tensor>&&) + 0x20a (0x7f3c061e in /opt/libtorch/lib/libtorch_cpu.so)",
			),
			NoMatch: []string{"frame #9: torch::autograd::THPVariable_conv2d(_object*, _object*, _object*) + 0x1f (0x7f in /opt/libtorch/lib/libtorch_python.so)"},
		},
		{
			Name:     "torch.oom.async_figure",
			Literals: []string{"Currently allocated     : ", "Requested               : ", "Device limit            : ", "Free (according to CUDA): "},
			Expr: `(?:Currently allocated     : (?<allocated_sz>` + torchSize + `)|Requested               : (?<requested_sz>` + torchSize + `)` +
				`|Device limit            : (?<total_sz>` + torchSize + `)|Free \(according to CUDA\): (?<free_sz>` + torchSize + `))\s*$`,
			Kind: parser.GPUOOM, Role: parser.Detail,
			Source: "PyTorch with backend:cudaMallocAsync, c10/cuda/CUDAMallocAsyncAllocator.cpp (2.4)",
			Match: []pattern.Sample{
				{Line: "Currently allocated     : 20.00 GiB", Want: parser.Fields{"allocated": "21474836480"}},
				{Line: "Requested               : 3.00 GiB", Want: parser.Fields{"requested": "3221225472"}},
				{Line: "Device limit            : 24.00 GiB", Want: parser.Fields{"total": "25769803776"}},
				{Line: "Free (according to CUDA): 12.00 MiB", Want: parser.Fields{"free": "12582912"}},
			},
			NoMatch: []string{"Requested               : 4 nodes"},
		},
		{
			Name:     "torch.oom.class",
			Literals: []string{"OutOfMemoryError: ", "c10::OutOfMemoryError", ": torch.OutOfMemoryError", ": torch.cuda.OutOfMemoryError"},
			Expr: `(?:torch\.(?:cuda\.)?OutOfMemoryError: (?!Caught \w+ in |[A-Z]{0,6} ?[Oo]ut of memory\. Tried to allocate (?:` + torchSize + `|more than)|Allocation on device \d+ would|[NX]PU out of memory|MPS backend|.{0,100}out of resource)` +
				`|instance of 'c10::OutOfMemoryError'|\b(?:failed|exhausted|died|exited|crashed|aborted|errored)\b[^:'"]{0,40}: torch\.(?:cuda\.)?OutOfMemoryError\s*$)`,
			Kind: parser.GPUOOM, Role: parser.Evidence,
			Source: "PyTorch, torch/csrc/Exceptions.cpp: torch.cuda.OutOfMemoryError 1.13-2.3, torch.OutOfMemoryError since 2.4, with a message that is cut or that someone replaced",
			Match: lines(
				"torch.cuda.OutOfMemoryError: CUDA out of memory.",
				"torch.OutOfMemoryError: Allocation on device ",
				"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.0",
				"terminate called after throwing an instance of 'c10::OutOfMemoryError'",
				"[env] observation: reset failed: torch.OutOfMemoryError",
				"oom_retry=3 exhausted: torch.cuda.OutOfMemoryError",
			),
			NoMatch: []string{
				"Raises: torch.OutOfMemoryError",
				"    except torch.cuda.OutOfMemoryError:",
				"torch.OutOfMemoryError: NPU out of memory. device id: 3",
			},
		},
		{
			Name:     "torch.replica",
			Literals: []string{" in replica "},
			Expr:     `\bCaught RuntimeError in replica \d{1,4} on device (?<device>\d{1,4})`,
			Kind:     parser.GPUDriverOOM, Role: parser.Detail,
			Source: "PyTorch 1.2-2.x, torch/nn/parallel/parallel_apply.py: the original's traceback stands below",
			Match:  []pattern.Sample{{Line: "RuntimeError: Caught RuntimeError in replica 1 on device 2.", Want: parser.Fields{"device": "2"}}},
		},
		{
			// Without the allocator's line, which was cut away: the classifier takes it for the failure where nothing else is one.
			Name:     "torch.oom.alone",
			Literals: []string{"OutOfMemoryError", "ResourceExhaustedError ", "!!! Allocation on device"},
			Expr: `(?:\b(?<class>RayTaskError)\(OutOfMemoryError\): ray::[^\n()]{1,200}(?:\(\) \(pid=(?<pid>\d{1,10}), ip=(?<host>[0-9a-fA-F.:]{2,45}))?|^(?<class>(?:torch|torch\.cuda|cupy\.cuda\.memory)\.OutOfMemoryError)\s*$` +
				`|\b(?<class>OutOfMemoryError): Caught OutOfMemoryError in replica \d{1,4} on device (?<device>\d{1,4})|^(?<class>OutOfMemoryError|ResourceExhaustedError)\s+Traceback \(most recent call last\)|!!! Exception during processing !!! (?<class>Allocation) on device\s*$)`,
			Kind: parser.Exception, Role: parser.Context,
			Source: "Ray 2.x, python/ray/exceptions.py RayTaskError; IPython, core/ultratb.py; ComfyUI, execution.py, before its traceback; an exception without a message",
			Match: []pattern.Sample{
				{Line: "ray.exceptions.RayTaskError(OutOfMemoryError): ray::WorkerDict.actor_rollout_update_actor() (pid=1, ip=10.0.0.1)", Want: parser.Fields{"class": "RayTaskError", "pid": "1", "host": "10.0.0.1"}},
				{Line: "torch.OutOfMemoryError", Want: parser.Fields{"class": "torch.OutOfMemoryError"}},
				{Line: "torch.OutOfMemoryError: Caught OutOfMemoryError in replica 0 on device 2.", Want: parser.Fields{"class": "OutOfMemoryError", "device": "2"}},
				{Line: "OutOfMemoryError                          Traceback (most recent call last)", Want: parser.Fields{"class": "OutOfMemoryError"}},
				{Line: "ResourceExhaustedError                    Traceback (most recent call last)", Want: parser.Fields{"class": "ResourceExhaustedError"}},
				{Line: "!!! Exception during processing !!! Allocation on device ", Want: parser.Fields{"class": "Allocation"}},
			},
			NoMatch: []string{"    except torch.OutOfMemoryError:", "raise OutOfMemoryError", "RayTaskError(OutOfMemoryError): what does it mean?"},
		},
		{
			// What programs of users' own say of a failure, alone on a line that begins with what failed.
			Name:     "torch.oom.said",
			Literals: []string{"CUDA out of memory", "HIP out of memory"},
			Expr: `(?:CUDA|HIP) out of memory(?=[.)!]{0,2}\s*$)` + // what stands before it is looked at last: few messages get as far
				`(?<=^(?i:(?!.{0,80}\b(?:no|not|never|if|when|unless|until)\b)(?:\[[^\]]{1,40}\] ?)?(?:the )?(?:\w{1,20} )?(?:jobs?|trial|run|step|task|worker|experiment|request|rank|process|training|evaluation|validation|stage|fold|shard|model|batch|epoch|sweep|inference)\b` +
				`[^,;?!"'` + "`" + `.]{0,60}?\b(?:failed(?!: )|aborted|crashed|died|stopped|terminated|exited|errored)(?: ?[(:] ?(?:reason|cause|error)?:? ?| with | due to | because of ))(?:CUDA|HIP) out of memory)`,
			Kind: parser.GPUOOM, Role: parser.Evidence,
			Source: "trainers, sweeps and schedulers of users' own, which print the reason of a failure without the allocator's figures",
			Match: lines(
				"job 77 failed (reason: CUDA out of memory)", "trial 14 FAILED with CUDA out of memory", "training aborted: CUDA out of memory", "[worker 3] step 120 aborted: CUDA out of memory.",
				"Run sweep-8 crashed due to CUDA out of memory", "Evaluation stopped because of CUDA out of memory",
			),
			NoMatch: []string{
				"# training failed with CUDA out of memory", "My colleague says training failed with CUDA out of memory", "If a trial failed with CUDA out of memory, it is tried again", "trial 14 failed with CUDA out of memory, retrying with batch 4",
				"Why has training failed with CUDA out of memory?", "the run never failed with CUDA out of memory", "no job failed with CUDA out of memory",
			},
		},
		{
			Name:     "torch.oom.cut",
			Literals: []string{"CUDA out of memory", "HIP out of memory", "MUSA out of memory"},
			Expr: `(?<!torch\.OutOfMemory|torch\.cuda\.OutOfMemory)(?:Error|Exception|failed|FAILED): (?:CUDA|HIP|MUSA) out of memory` +
				`(?:\.?|\. Tried|\. Tried to|\. Tried to allocate(?: \d{1,20}(?:\.\d{0,8})?(?: [KMGTPE]i?)?)?)\s*$`,
			Kind: parser.GPUOOM, Role: parser.Evidence,
			Source: "PyTorch's allocator message under another class name, wrapped or cut before its first figure (rich tracebacks, srun -l chunks)",
			Match:  lines("RuntimeError: CUDA out of memory.", "OutOfMemoryError: CUDA out of memory. Tried to allocate 5.00"),
			NoMatch: []string{
				"RuntimeError: CUDA out of memory occurred when warming up sampler with 1024 dummy requests.",
				"CUDA out of memory",
			},
		},
	}
}

func torchNeighbourPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			// rich and terminals of fixed width wrap the message between words, a figure from its unit included.
			Name:  "torch.oom.wrapped",
			After: []string{"torch.oom.paren", "torch.oom.of_which", "torch.oom.class", "torch.oom.cut", "npu.oom"}, Within: 6,
			Expr: `^(?!.{0,400}ut of memory)(?=.{0,300}` + torchSize + `(?:[;.)]| (?:total capac|already alloc|is |free|reserved|memory in|\(GPU)))` +
				`(?:(?=(?:(?:Tried )?(?:to )?allocate )?(?<requested_sz>` + torchSize + `)(?:\. GPU (?:\d|[\x00-\x1f]? has )| \(GPU \d))|)` +
				`(?:(?=.{0,300}?\bGPU (?<device>\d{1,4})(?:;| has a total))|)` +
				`(?:(?=.{0,300}?(?:total capac(?:i?ty) of (?<total_sz>` + torchSize + `)|` + wholeFigure + `(?<total_sz>` + torchSize + `) (?:total capac|of which\b)))|)` +
				`(?:(?=.{0,300}?` + wholeFigure + `(?<free_sz>` + torchSize + `) (?:is )?free\b)|)` +
				`(?:(?=.{0,300}?this process has (?<process_sz>` + torchSize + `) memory in use)|)` +
				`(?:(?=.{0,300}?` + wholeFigure + `(?<allocated_sz>` + torchSize + `) (?:already allocated|is allocated by))|)` +
				`(?:(?=.{0,300}?` + wholeFigure + `(?<reserved_unallocated_sz>` + torchSize + `) is reserved by PyTorch but)|)`,
			Kind: parser.GPUOOM, Role: parser.Detail,
			Source: "PyTorch's allocator messages, c10/cuda/CUDACachingAllocator.cpp, as rich prints an exception on 80 columns",
			Match: []pattern.Sample{
				{
					Line: "GiB total capacity; 20.00 GiB already allocated; 1.50 GiB free; 21.00 GiB ",
					Want: parser.Fields{"allocated": "21474836480", "free": "1610612736"},
				},
				{
					Line: "allocate 3.00 GiB. GPU 5 has a total capacity of 64.00 GiB of which 1.00 GiB ",
					Want: parser.Fields{"requested": "3221225472", "device": "5", "total": "68719476736"},
				},
				{
					Line: "of 64.00 GiB of which 1.00 GiB is free. Including non-PyTorch memory,",
					Want: parser.Fields{"total": "68719476736", "free": "1073741824"},
				},
				{
					Line: "is free. Including non-PyTorch memory, this process has 62.00 GiB memory in use.",
					Want: parser.Fields{"process": "66571993088"},
				},
				{
					Line: "Of the allocated memory 60.00 GiB is allocated by PyTorch, and 512.00 MiB is reserved by PyTorch but ",
					Want: parser.Fields{"allocated": "64424509440", "reserved_unallocated": "536870912"},
				},
				{ // what is left of 57.95
					Line: "95 GiB is allocated by PyTorch, and 1.12 GiB is reserved by PyTorch but unallocated.",
					Want: parser.Fields{"reserved_unallocated": "1202590843"},
				},
			},
			NoMatch: []string{
				"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.",
				"Exit code 1",
			},
		},
		{
			Name:     "torch.oom.nvml",
			Literals: []string{"NVML_SUCCESS =="},
			Expr:     `NVML_SUCCESS == [^"]{1,200}INTERNAL ASSERT FAILED at "[^"]{0,400}CUDACachingAllocator\.cpp"`,
			Kind:     parser.GPUOOM, Role: parser.Evidence,
			Source: "PyTorch 2.1 and later, c10/cuda/CUDACachingAllocator.cpp reportProcessMemoryInfo: fires only while an OOM message is put together (MIG, Jetson, broken NVML); its figures are lost",
			Match: lines(
				`RuntimeError: NVML_SUCCESS == r INTERNAL ASSERT FAILED at "/pytorch/c10/cuda/CUDACachingAllocator.cpp":1016, please report a bug to PyTorch. `,
				`RuntimeError: NVML_SUCCESS == DriverAPI::get()->nvmlDeviceGetHandleByPciBusId_v2_( pci_id, &nvml_device) INTERNAL ASSERT FAILED at "../c10/cuda/CUDACachingAllocator.cpp":838, please report a bug to PyTorch. `,
			),
			NoMatch: []string{`RuntimeError: r == CUDA_SUCCESS INTERNAL ASSERT FAILED at "../c10/cuda/driver_api.cpp":12`},
		},
		{
			Name:     "torch.oom.handles",
			Literals: []string{"!handles_.at(i)"},
			Expr:     `!handles_\.at\(i\) INTERNAL ASSERT FAILED at "[^"]{0,400}CUDACachingAllocator\.cpp"`,
			Kind:     parser.GPUOOM, Role: parser.Consequence,
			Source: "PyTorch with expandable_segments (2.14), c10/cuda/CUDACachingAllocator.cpp: every allocation after a failed mapping",
			Match:  lines(`RuntimeError: !handles_.at(i) INTERNAL ASSERT FAILED at "c10/cuda/CUDACachingAllocator.cpp":456, please report a bug to PyTorch.`),
		},
		{
			Name:     "transformers.dispatched",
			Literals: []string{"ValueError: Some modules are dispatched on the CPU or the disk"},
			Expr:     `^ValueError: Some modules are dispatched on the CPU or the disk\. Make sure you have enough GPU RAM to fit`,
			Kind:     parser.GPUOOM, Role: parser.Evidence, Phase: "init",
			Source:  "transformers 4.30-5.x, quantizers: the plan for the card leaves some of the model out, which bitsandbytes refuses",
			Match:   lines("ValueError: Some modules are dispatched on the CPU or the disk. Make sure you have enough GPU RAM to fit the quantized model. If you want to dispatch the model on the CPU or the disk while keeping"),
			NoMatch: []string{`                    "Some modules are dispatched on the CPU or the disk. Make sure you have enough GPU RAM to fit the "`},
		},
		{
			Name:     "torch.oom.batch_size_zero",
			Literals: []string{"No executable batch size found"},
			Expr:     `No executable batch size found, reached zero`,
			Kind:     parser.GPUOOM, Role: parser.Evidence,
			Source: "accelerate, src/accelerate/utils/memory.py find_executable_batch_size: every size down to 1 ran out of memory",
			Match:  lines("RuntimeError: No executable batch size found, reached zero."),
		},
		{
			Name:     "torch.summary_ooms",
			Literals: []string{"CUDA OOMs: "},
			Expr:     `CUDA OOMs: (?<count>[1-9]\d{0,9})\b`,
			Kind:     parser.Pressure, Role: parser.Context,
			Source: "torch.cuda.memory_summary, torch/cuda/memory.py: out-of-memory errors that were caught before",
			Match:  []pattern.Sample{{Line: "|            CUDA OOMs: 3            |        cudaMalloc retries: 17        |", Want: parser.Fields{"count": "3"}}},
		},
	}
}

// failedIn is what a program that caught a failure says beside the message: in which call it happened.
func failedIn(name, phase, call string, samples ...string) pattern.Pattern {
	return pattern.Pattern{
		Name:     name,
		Literals: []string{"failed in "},
		Expr:     `\bfailed in ` + call + `\(`,
		Kind:     parser.GPUOOM, Role: parser.Detail, Phase: phase,
		Source:  "trainers of one file, whose loggers begin each line of a message",
		Match:   lines(samples...),
		NoMatch: []string{"failed in backward compatibility mode (see docs)", "3 of 9 failed in step.save()"},
	}
}
