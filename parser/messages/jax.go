package messages

import (
	"slices"

	"oomscan/parser"
	"oomscan/parser/pattern"
)

// jaxPatterns are JAX, XLA and TensorFlow.
var jaxPatterns = slices.Concat(
	by(pattern.Program{Name: "xla", Allocator: "xla"}, xlaPatterns),
	by(pattern.Program{Name: "tf", Application: "tensorflow", Allocator: "xla"}, tensorflowPatterns, nodePatterns, tensorflowDevice),
	by(pattern.Program{Name: "paddle", Allocator: "paddle"}, paddlePatterns),
)

func xlaPatterns() []pattern.Pattern {
	const status = `(?:RESOURCE_EXHAUSTED|[Rr]esource exhausted|Resource Exhausted): `
	return []pattern.Pattern{
		{
			Name:     "xla.exhausted",
			Literals: []string{"RESOURCE_EXHAUSTED: ", "esource exhausted: ", "Resource Exhausted: "},
			Expr: status + `(?:(?:[\w: ]{1,60}: )?Out of memory (?:while trying to allocate|allocating) (?<requested_sz>` + torchSize + `)` +
				`|[Ff]ailed to allocate (?<requested_b>\d{1,19}) bytes(?! for new)|Failed to allocate request for ` + torchSize + ` \((?<requested_b>\d{1,19})B\) on device ordinal (?<device>\d{1,4})` +
				`|Out(?: of)?\s*$|Out of memory(?! (?:while trying to allocate|allocating) ` + torchSize + `))`,
			Kind: parser.GPUOOM, Role: parser.Evidence,
			Set:    map[string]string{"library": "xla"},
			Source: "jaxlib (XlaRuntimeError, JaxRuntimeError), XLA's pjrt_stream_executor_client.cc; \"Resource exhausted\" in old TensorFlow",
			Match: []pattern.Sample{
				{Line: "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 52428800000 bytes.", Want: parser.Fields{"requested": "52428800000"}},
				{Line: "Execution of replica 0 failed: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4096 bytes. [tf-allocator-allocation-error='']", Want: parser.Fields{"requested": "4096"}},
				{Line: "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 1.50GiB.", Want: parser.Fields{"requested": "1610612736"}},
				{Line: "ValueError: RESOURCE_EXHAUSTED: Failed to allocate request for 1.50GiB (1610612736B) on device ordinal 3", Want: parser.Fields{"requested": "1610612736", "device": "3"}},
				{Line: "RuntimeError: Resource exhausted: Out of memory allocating 1073741824 bytes.", Want: parser.Fields{"requested": "1073741824"}},
				{Line: "RuntimeError: RESOURCE_EXHAUSTED: failed to allocate 1225195446464 bytes", Want: parser.Fields{"requested": "1225195446464"}},
				{Line: "XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory"},
				{Line: "Execution of replica 0 failed: RESOURCE_EXHAUSTED: Out "},
			},
			NoMatch: []string{
				"grpc.RpcError: RESOURCE_EXHAUSTED: Received message larger than max (5242880 vs. 4194304)",
				"RESOURCE_EXHAUSTED: Quota exceeded for requests per minute",
			},
		},
		{
			Name:  "xla.wrapped",
			After: []string{"xla.exhausted"}, Within: 1,
			Expr: `^(?:of )?(?:memory )?(?:while )?(?:trying )?(?:to )?(?:allocate|allocating) (?<requested_sz>` + torchSize + `)`,
			Kind: parser.GPUOOM, Role: parser.Detail,
			Source: "the message of xla.exhausted as terminals and viewers of fixed width wrap it",
			Match: []pattern.Sample{
				{Line: "of memory while trying to allocate 12884901888 bytes.", Want: parser.Fields{"requested": "12884901888"}},
				{Line: "memory allocating 1073741824 bytes.", Want: parser.Fields{"requested": "1073741824"}},
			},
			NoMatch: []string{"Failed to allocate 12 bytes"},
		},
		{
			Name:     "xla.hbm",
			Program:  pattern.Program{Name: "xla", Allocator: "xla", Device: "TPU"},
			Literals: []string{"Ran out of memory in memory space", "unlikely to have enough "},
			Expr: `Ran out of memory in memory space (?!vmem|smem|sflag|cmem)\w{1,16}\.(?: Used (?<needed_sz>\d{1,9}(?:\.\d{1,4})?[KMGT]?) of (?<total_sz>\d{1,9}(?:\.\d{1,4})?[KMGT]?) \w{1,16})?` +
				`|compilation early because it's unlikely to have enough (?:device )?memory\. Requires (?<needed_sz>\d{1,9}(?:\.\d{1,4})?[KMGTPE]?), has (?<total_sz>\d{1,9}(?:\.\d{1,4})?[KMGT]?) available`,
			Kind: parser.GPUOOM, Role: parser.Evidence,
			Set:    map[string]string{"library": "xla"},
			Source: "XLA's TPU compiler: what the program needs is printed as used; the other spaces are on the chip and no shortage of memory",
			NoMatch: []string{
				"RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space vmem. Used 33.50M of 16.00M vmem. Exceeded vmem capacity by 17.50M.",
			},
			Match: []pattern.Sample{
				{
					Line: "XlaRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 21.50G of 15.50G hbm. Exceeded hbm capacity by 6.00G.",
					Want: parser.Fields{"needed": "23085449216", "total": "16642998272"},
				},
				{
					Line: "XlaRuntimeError: RESOURCE_EXHAUSTED: Compilation failure: Aborting compilation early because it's unlikely to have enough memory. Requires 32.00G, has 15.50G available.",
					Want: parser.Fields{"needed": "34359738368", "total": "16642998272"},
				},
			},
		},
		{
			// XLA prints this line when cuDNN could not start. cuDNN's kernels need more than the 100 MB that this pattern allows.
			Name:     "xla.cudnn_no_room",
			Literals: []string{" bytes free, "},
			Expr:     `^Memory usage: (?<free_b>\d{1,8}) bytes free, (?<total_b>\d{10,13}) bytes total`,
			Kind:     parser.GPUDriverOOM, Role: parser.Evidence, Set: map[string]string{"library": "CUDNN"},
			Source: "XLA since 2022, stream_executor/cuda/cuda_dnn.cc, CudnnSupport::Init, after a handle could not be made",
			Match: []pattern.Sample{{
				Line: "Memory usage: 57071371 bytes free, 10500702208 bytes total.",
				Want: parser.Fields{"free": "57071371", "total": "10500702208"},
			}},
			NoMatch: []string{"Memory usage: 5707137100 bytes free, 10500702208 bytes total."},
		},
		{
			Name:     "xla.over_limit",
			Literals: []string{"Can't reduce memory use below -"},
			Expr:     `Can't reduce memory use below -[\d.]{1,9}[KMGT]?i?B \(-(?<needed_b>\d{1,15}) bytes\) by rematerialization(?:; only reduced to [\d.]{1,9}[KMGT]?i?B \((?<used_b>\d{1,15}) bytes\))?`,
			Gauge:    true, Source: "XLA, hlo/transforms/simplifiers/hlo_rematerialization.cc: a limit below zero is what a program's inputs and outputs exceed the memory by (service/gpu/gpu_hlo_schedule.cc, GetSchedulerMemoryLimit)",
			Match: []pattern.Sample{{
				Line: "W external/xla/xla/hlo/transforms/simplifiers/hlo_rematerialization.cc:3021] Can't reduce memory use below -4.00GiB (-4294967296 bytes) by rematerialization; only reduced to 12.00GiB (12884901888 bytes), down from 12.00GiB (12884901888 bytes) originally",
				Want: parser.Fields{"needed": "4294967296", "used": "12884901888"},
			}},
			NoMatch: []string{"Can't reduce memory use below 11.03GiB (11842314240 bytes) by rematerialization; only reduced to 12.54GiB (13465534464 bytes)"},
		},
		{
			Name:     "xla.limit",
			Literals: []string{"Can't reduce memory use below "},
			Expr:     `Can't reduce memory use below [\d.]{1,9}[KMGT]?i?B \((?<needed_b>\d{1,15}) bytes\) by rematerialization; only reduced to [\d.]{1,9}[KMGT]?i?B \((?<used_b>\d{1,15}) bytes\)`,
			Gauge:    true, Source: "the same: four fifths of the card, less what the inputs and outputs take, and a twentieth of that less",
			Match: []pattern.Sample{{
				Line: "Can't reduce memory use below 11.03GiB (11842314240 bytes) by rematerialization; only reduced to 12.54GiB (13465534464 bytes), down from 12.54GiB (13465534464 bytes) originally",
				Want: parser.Fields{"needed": "11842314240", "used": "13465534464"},
			}},
			NoMatch: []string{"Can't reduce memory use below -4.00GiB (-4294967296 bytes) by rematerialization; only reduced to 12.00GiB (12884901888 bytes)"},
		},
		{
			Name:     "jax.tpu_devices",
			Literals: []string{"TpuDevice(id="},
			Expr:     `\bTpuDevice\(id=(?<device>\d{1,5})\b`,
			Gauge:    true, Source: "jaxlib: what jax.devices() returns, as programs print it",
			Match:   []pattern.Sample{{Line: "jax.devices(): [TpuDevice(id=0, process_index=0, coords=(0,0,0), core_on_chip=0)]", Want: parser.Fields{"device": "0"}}},
			NoMatch: []string{"devices: [CudaDevice(id=0)]"},
		},
		{
			Name:     "xla.pool",
			Literals: []string{"XLA backend allocating"},
			Expr:     `XLA backend allocating (?<pool_b>\d{1,15}) bytes on device (?<device>\d{1,4}) for BFCAllocator`,
			Gauge:    true, Source: "XLA, pjrt/gpu_device.cc, gpu/gpu_helpers.cc: what JAX takes of a card up front",
			Match: []pattern.Sample{{
				Line: "2022-09-20 08:11:09.771 I external/org_tensorflow/tensorflow/compiler/xla/pjrt/gpu_device.cc:171] XLA backend allocating 12693012480 bytes on device 0 for BFCAllocator.",
				Want: parser.Fields{"device": "0", "pool": "12693012480"},
			}},
			NoMatch: []string{"XLA backend will use up to 12693012480 bytes on device 0 for CollectiveBFCAllocator."},
		},
		{
			Name:     "tf.pool",
			Literals: []string{"Created device /job:", "Created TensorFlow device (/job:"},
			Expr:     `Created (?:TensorFlow )?device \(?/job:\S{1,80}/device:GPU:(?<device>\d{1,4}) with (?<pool_mib>\d{1,9}) MB memory`,
			Gauge:    true, Source: "TensorFlow 1.4-2.20, core/common_runtime/gpu/gpu_device.cc: what it takes of a card up front",
			Match: []pattern.Sample{{
				Line: "2022-03-14 18:56:32.840350: I tensorflow/core/common_runtime/gpu/gpu_device.cc:1525] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 7446 MB memory:  -> device: 0, name: NVIDIA GeForce RTX 3080",
				Want: parser.Fields{"device": "0", "pool": "7807696896"},
			}},
			NoMatch: []string{"Created device /job:localhost/replica:0/task:0/device:XLA_CPU:0 -> physical description"},
		},
		{
			Name:     "tf.small_pool",
			Literals: []string{"Created device /job:", "Created TensorFlow device (/job:"},
			Expr:     `Created (?:TensorFlow )?device \(?/job:\S{1,80}/device:GPU:(?<device>\d{1,4}) with (?<pool_mib>\d{1,3}) MB memory`,
			Gauge:    true, Source: "the same of a card that others fill: the lines of the other cards do not replace it",
			Match: []pattern.Sample{{
				Line: "2023-03-02 09:12:44.109212: I tensorflow/core/common_runtime/gpu/gpu_device.cc:1613] Created device /job:localhost/replica:0/task:0/device:GPU:2 with 96 MB memory:  -> device: 2, name: NVIDIA A100-SXM4-40GB",
				Want: parser.Fields{"device": "2", "pool": "100663296"},
			}, {
				Line: "2018-12-06 20:11:07.210104: I tensorflow/core/common_runtime/gpu/gpu_device.cc:1115] Created TensorFlow device (/job:localhost/replica:0/task:0/device:GPU:0 with 973 MB memory) -> physical GPU (device: 0, name: TITAN X (Pascal), pci bus id: 0000:02:00.0, compute capability: 6.1)",
				Want: parser.Fields{"device": "0", "pool": "1020264448"},
			}},
			NoMatch: []string{"Created device /job:localhost/replica:0/task:0/device:GPU:0 with 7446 MB memory:  -> device: 0, name: NVIDIA GeForce RTX 3080"},
			Also:    []string{"tf.pool"},
		},
		{
			Name:     "xla.tpu_allocate",
			Program:  pattern.Program{Name: "xla", Allocator: "xla", Device: "TPU"},
			Literals: []string{"That was not possible. There are"},
			Expr:     `Attempting to (?:allocate|reserve) (?<requested_sz>\d{1,9}(?:\.\d{1,4})?[KMGT]?)(?: at the bottom of memory)?\. That was not possible\. There are (?<free_sz>\d{1,9}(?:\.\d{1,4})?[KMGT]?) free`,
			Kind:     parser.GPUOOM, Role: parser.Evidence,
			Set:    map[string]string{"library": "xla"},
			Source: "XLA's TPU runtime",
			Match: []pattern.Sample{{
				Line: "RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 1.00G. That was not possible. There are 512.00M free.; (0x0x0_HBM0)",
				Want: parser.Fields{"requested": "1073741824", "free": "536870912"},
			}, {
				Line: "  (1) RESOURCE_EXHAUSTED: Attempting to reserve 6.50G at the bottom of memory. That was not possible. There are 7.00G free, 0B reserved, and 3.25G reservable.",
				Want: parser.Fields{"requested": "6979321856", "free": "7516192768"},
			}},
		},
		{
			// The status behind it may be another's that the process heard of; its figures follow on lines of their own.
			Name:     "xla.process_device",
			Literals: []string{"Exception in device="},
			Expr: `^Exception in device=[A-Z]{1,8}:(?<device>\d{1,4}): (?:RESOURCE_EXHAUSTED: |Resource exhausted: )` +
				`(?![^\n]{0,400}(?:That was not possible\. There are|Out of memory))`,
			Kind: parser.GPUOOM, Role: parser.Detail,
			Source: "torch_xla 1.6-2.0, distributed/xla_multiprocessing.py: a process that ends tells its device's number",
			Match: []pattern.Sample{
				{Line: "Exception in device=TPU:3: RESOURCE_EXHAUSTED: From /job:localservice/replica:0/task:0:", Want: parser.Fields{"device": "3"}},
			},
			NoMatch: []string{
				"Exception in device=TPU:3: INTERNAL: From /job:localservice/replica:0/task:0:",
				"Exception in device=TPU:0: Cannot replicate if number of devices (1) is different from 8",
			},
		},
		{
			Name:     "xla.bfc",
			Literals: []string{"an out of memory trying to allocate "},
			Expr: `(?:Allocator \((?:(?<platform>GPU)_(?<device>\d{1,4})|\w{1,32})_\w{1,16}\) r|(?:^|\] )R)an out of memory trying to allocate (?:` + torchSize + ` ?\(rounded to (?<requested_b>\d{1,19})\)|(?<requested_sz>` + torchSize + `))` +
				`(?! with freed_by_count)`,
			Kind: parser.GPUOOM, Role: parser.Evidence,
			Source: "XLA and TensorFlow, tsl/framework/bfc_allocator.cc: the failure itself is reported apart; there is no blank before \"requested by op\"",
			Match: []pattern.Sample{
				{Line: "Allocator (GPU_0_bfc) ran out of memory trying to allocate 48.83GiB (rounded to 52428800000)requested by op ", Want: parser.Fields{"platform": "GPU", "device": "0", "requested": "52428800000"}},
				{Line: "Ran out of memory trying to allocate 39.81MiB.  See logs for memory state.", Want: parser.Fields{"requested": "41743811"}},
				{Line: "Allocator (GPU_1_bfc) ran out of memory trying to allocate 1.00GiB.  Current allocation summary follows.", Want: parser.Fields{"platform": "GPU", "device": "1", "requested": "1073741824"}},
			},
		},
		{
			Name:     "xla.async",
			Literals: []string{"cuMemAllocAsync failed to allocate "},
			Expr:     `cuMemAllocAsync failed to allocate (?<requested_b>\d{1,19}) bytes: (?:RESOURCE_EXHAUSTED: : )?CUDA_ERROR_OUT_OF_MEMORY`,
			Kind:     parser.GPUOOM, Role: parser.Evidence, Set: map[string]string{"library": "xla"},
			Source: "XLA and TensorFlow, stream_executor/gpu/gpu_cudamallocasync_allocator.cc",
			Match: []pattern.Sample{{
				Line: "gpu_async_1 cuMemAllocAsync failed to allocate 1225195446464 bytes: RESOURCE_EXHAUSTED: : CUDA_ERROR_OUT_OF_MEMORY: out of memory",
				Want: parser.Fields{"requested": "1225195446464"},
			}},
		},
		{
			Name:     "xla.from_device",
			Literals: []string{"bytes) from device: CUDA_ERROR_OUT_OF_MEMORY", "bytes) from device: HIP_ERROR_OutOfMemory", "bytes) from device: RESOURCE_EXHAUSTED: : "},
			Expr:     `ailed to allocate [\d.]{1,16}[KMGT]?i?B? \((?<requested_b>\d{1,19}) bytes\) from device: (?:RESOURCE_EXHAUSTED: : )?(?:CUDA_ERROR_OUT_OF_MEMORY|HIP_ERROR_OutOfMemory)`,
			Kind:     parser.GPUOOM, Role: parser.Detail,
			Source: "XLA and TensorFlow, stream_executor/cuda/cuda_driver.cc: the pool asks for the whole card and then for less, so this is no failure yet",
			Match: []pattern.Sample{
				{Line: "failed to allocate 17.79G (19104890880 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory", Want: parser.Fields{"requested": "19104890880"}},
				{Line: "failed to allocate 7.50GiB (8053063680 bytes) from device: HIP_ERROR_OutOfMemory", Want: parser.Fields{"requested": "8053063680"}},
				{Line: "failed to allocate 29.55GiB (31729590272 bytes) from device: RESOURCE_EXHAUSTED: : CUDA_ERROR_OUT_OF_MEMORY: out of memory", Want: parser.Fields{"requested": "31729590272"}},
			},
		},
		{
			Name:     "xla.on_host",
			Literals: []string{"bytes on host: ", "could not allocate pinned host memory of size: "},
			Expr:     `ailed to alloc(?:ate)? (?<requested_b>\d{1,19}) bytes on host: (?:CUDA_ERROR_OUT_OF_MEMORY|HIP_ERROR_OutOfMemory)|could not allocate pinned host memory of size: (?<requested_b>\d{1,19})`,
			Kind:     parser.HostOOM, Role: parser.Suspicion,
			Source: "XLA and TensorFlow, stream_executor/cuda/cuda_driver.cc HostAllocate: pinned memory of the host; a smaller piece may still be had",
			Match: []pattern.Sample{
				{Line: "failed to alloc 1073741824 bytes on host: CUDA_ERROR_OUT_OF_MEMORY: out of memory", Want: parser.Fields{"requested": "1073741824"}},
				{Line: "could not allocate pinned host memory of size: 4294967296", Want: parser.Fields{"requested": "4294967296"}},
			},
		},
		{
			Name:     "xla.constant",
			Literals: []string{"bytes for new constant"},
			Expr:     `Failed to allocate (?<requested_b>\d{1,19}) bytes for new constant`,
			Kind:     parser.GPUOOM, Role: parser.Evidence,
			Set:    map[string]string{"library": "xla"},
			Source: "XLA, xla/service/gpu/gpu_executable.cc",
			Match:  []pattern.Sample{{Line: "XlaRuntimeError: INTERNAL: Failed to allocate 268435456 bytes for new constant", Want: parser.Fields{"requested": "268435456"}}},
		},
		{
			// Of weights stacked by layers, at most one dimension stands before two equal ones.
			Name:     "xla.scores",
			Literals: []string{"Shape: bf16[", "Shape: f16[", "Shape: f32["},
			Expr:     `^\s{0,20}Shape: (?<shape>(?:bf16|f16|f32)\[(?:\d{1,6},){2,4}(\d{4,6}),\1\])`,
			Gauge:    true, Source: "XLA, BufferAssignment OOM Debugging, Peak buffers: one whose last two dimensions are equal holds a score for each pair of tokens",
			Match: []pattern.Sample{{Line: "\t\tShape: bf16[4,32,1,8192,8192]", Want: parser.Fields{"shape": "bf16[4,32,1,8192,8192]"}}},
			NoMatch: []string{
				"\t\tShape: f32[32,4096,4096]", "\t\tShape: bf16[4,32,8192,128]",
			},
		},
		{
			Name:     "xla.total",
			Literals: []string{"total allocation:   "},
			Expr:     `^\s{0,40}total allocation: {1,12}(?<needed_sz>` + torchSize + `)\s*$`,
			Kind:     parser.GPUOOM, Role: parser.Detail,
			Source: "XLA, BufferAssignment OOM Debugging: what the program needs in all",
			Match:  []pattern.Sample{{Line: "                 total allocation:   57.00GiB", Want: parser.Fields{"needed": "61203283968"}}},
		},
	}
}

func tensorflowPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "tf.tensor",
			Literals: []string{"OOM when allocating tensor", "failed to allocate memory"},
			Expr: `(?:ResourceExhaustedError: (?:\{\{function_node [^}]{1,300}\}\} ?)?|RESOURCE_EXHAUSTED: )failed to allocate memory\b` +
				`|OOM when allocating tensor(?!["'’”»` + "`" + `]| with shape[^/]{1,200}/[^ ]{1,120} by allocator (?:mkl_?)?cpu)(?: with shape[^/]{1,200}/job:[^ ]{1,120}device:(?<platform>GPU):(?<device>\d{1,4}))?`,
			Kind: parser.GPUOOM, Role: parser.Evidence,
			Set:    map[string]string{"library": "tensorflow"},
			Source: "TensorFlow, ResourceExhaustedError; the allocator at the end tells GPU from host",
			Match: []pattern.Sample{
				{Line: "ResourceExhaustedError: failed to allocate memory"},
				{Line: "ResourceExhaustedError: {{function_node __wrapped__Mul_device_/job:localhost/replica:0/task:0/device:GPU:0}} failed to allocate memory [Op:Mul]"},
				{Line: "RESOURCE_EXHAUSTED: failed to allocate memory"},
				{
					Line: "ResourceExhaustedError: OOM when allocating tensor with shape[64,512,1024] and type float on /job:localhost/replica:0/task:0/device:GPU:1 by allocator GPU_1_bfc",
					Want: parser.Fields{"platform": "GPU", "device": "1"},
				},
			},
			NoMatch: []string{
				"Hint: If you want to see a list of allocated tensors when OOM happens, add report_tensor_allocations_upon_oom to RunOptions for current allocation info.",
			},
		},
		{
			Name:     "tf.copy",
			Literals: []string{"Dst tensor is not initialized"},
			Expr:     `(?:to /job:[^ ]{1,120}device:(?<platform>GPU):(?<device>\d{1,4}) in order to run \w{1,80}: )?Dst tensor is not initialized`,
			Kind:     parser.GPUOOM, Role: parser.Evidence,
			Set:    map[string]string{"library": "tensorflow"},
			Source: "TensorFlow, common_runtime/copy_tensor.cc: there was no room for the copy [tensorflow issue 7025]",
			Match: []pattern.Sample{
				{
					Line: "InternalError: Failed copying input tensor from /job:localhost/replica:0/task:0/device:CPU:0 to /job:localhost/replica:0/task:0/device:GPU:1 in order to run _EagerConst: Dst tensor is not initialized.",
					Want: parser.Fields{"platform": "GPU", "device": "1"},
				},
				{Line: "InternalError (see above for traceback): Dst tensor is not initialized."},
			},
		},
		{
			Name:     "tf.tensor_host",
			Literals: []string{"OOM when allocating tensor"},
			Expr:     `OOM when allocating tensor with shape[^/]{1,200}/[^ ]{1,120} by allocator (?:mkl_?)?cpu`,
			Kind:     parser.HostOOM, Role: parser.Evidence,
			Set:    map[string]string{"library": "tensorflow"},
			Source: "TensorFlow, ResourceExhaustedError of the host's allocators",
			Match:  lines("ResourceExhaustedError: OOM when allocating tensor with shape[1000000,4096] and type float on /job:localhost/replica:0/task:0/device:CPU:0 by allocator mklcpu"),
		},
	}
}

// oldDevice is the device of a node, before TensorFlow 1.5 the only word of it.
const oldDevice = `\b_device="/job:[^"]{1,80}/(?:device:)?(?:gpu|GPU):(?<device>\d{1,4})"`

func tensorflowDevice() []pattern.Pattern {
	return []pattern.Pattern{{
		Name:  "tf.node_device",
		After: []string{"tf.tensor"}, Within: 2,
		Expr: `^\s{0,8}\[\[Node: .{1,400}?` + oldDevice,
		Kind: parser.GPUOOM, Role: parser.Detail,
		Source: "TensorFlow 0.7-1.8, common_runtime/executor.cc",
		Match: []pattern.Sample{{
			Line: `	 [[Node: sub_2518 = Sub[T=DT_FLOAT, _device="/job:localhost/replica:0/task:0/gpu:1"](sub_2518/x, Variable_1955/read)]]`,
			Want: parser.Fields{"device": "1"},
		}},
		NoMatch: []string{`	 [[Node: a/sub_1 = Sub[T=DT_FLOAT, _device="/job:localhost/replica:0/task:0/cpu:0"](a, b)]]`},
	}}
}

// nodePatterns are the node of the graph whose kernel asked for the memory: its name tells what made it.
func nodePatterns() []pattern.Pattern {
	const node = `(?:\[\[(?:(?:\{\{)?node |Node: )|Detected at node:? '?)[^\s']{0,300}?`
	named := func(name, phase, expr string, noMatch string, samples ...string) pattern.Pattern {
		return pattern.Pattern{
			Name:     name,
			Literals: []string{"[[node ", "[[Node: ", "[[{{node ", "Detected at node", "[operator < "},
			Expr:     expr,
			Kind:     parser.GPUOOM, Role: parser.Detail, Phase: phase,
			Source: "TensorFlow 1-2, common_runtime/executor.cc; PaddlePaddle, framework/operator.cc: a line beside the failure",
			Match:  lines(samples...), NoMatch: []string{noMatch},
		}
	}
	return []pattern.Pattern{
		named("op.gradient", "backward",
			node+`(?:\bgradients(?:_\d+)?/|gradient_tape/|_grad/|Backprop(?:Input|Filter)\b)(?:.{1,400}?`+oldDevice+`)?|\[operator < \w{1,60}_grad > error\]`,
			" [[node model/conv2d_3/Conv2D (defined at train.py:88) ]]",
			"\t [[node training/Adam/gradients/bert/encoder/layer_3/MatMul_grad/MatMul_1 (defined at train.py:88) ]]",
			`	 [[Node: gradients/Conv2d_1a_7x7/BatchNorm/moments/mul_grad/Mul = Mul[T=DT_FLOAT](a, b)]]`,
			"Detected at node 'gradient_tape/model/conv2d_3/Conv2D/Conv2DBackpropFilter' defined at (most recent call last):",
			"  [operator < conv2d_grad > error]"),
		named("op.optimizer", "optimizer", node+`(?:\b(?:Resource)?Apply[A-Z]\w{1,40}|/update_\w)(?:.{1,400}?`+oldDevice+`)?`,
			" [[node Adam/gradients/dense/MatMul_grad/MatMul (defined at train.py:88) ]]",
			"\t [[{{node Adam/update_bert/embeddings/word_embeddings/ApplyAdam}}]]",
			"Detected at node 'Adam/Adam/update_3/ResourceApplyAdam' defined at (most recent call last):"),
		named("op.restore", "checkpoint", node+`(?<=[ '{/])save(?:_\d+)?/(?:Assign|Restore|Save)`,
			" [[node bert/saver_layer/MatMul]]",
			"\t [[{{node save/Assign_412}}]]", "\t [[node save_1/RestoreV2 (defined at run.py:12) ]]"),
		named("op.initial", "init", node+`(?<!save(?:_\d+)?)/(?:Initializer/\w|Assign\b)`,
			"\t [[{{node save/Assign_412}}]]",
			"\t [[{{node bert/embeddings/word_embeddings/Adam/Assign}}]]",
			"\t [[node dense/kernel/Initializer/random_uniform/RandomUniform (defined at run.py:12) ]]"),
	}
}

// paddleSize is how PaddlePaddle prints a size (string::HumanReadableSize).
const paddleSize = `\d{1,20}(?:\.\d{0,8})?[KMGTP]?B`

// paddlePatterns are those of PaddlePaddle.
func paddlePatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "paddle.oom",
			Literals: []string{"Out of memory error on "},
			Expr: `Out of memory error on \w{1,12} (?<device>\d{1,4})\. Cannot allocate (?<requested_sz>` + paddleSize + `) memory(?: on \w{1,12} \d{1,4}, ` +
				`(?:(?<allocated_sz>` + paddleSize + `) memory has been allocated and )?available memory is only (?<free_sz>` + paddleSize + `)|\.\s*$)`,
			Kind: parser.GPUOOM, Role: parser.Evidence,
			Set:    map[string]string{"library": "paddle"},
			Source: "PaddlePaddle, fluid/memory/allocation/cuda_allocator.cc, which told nothing of what it had before 2.2; vmm_v2_auto_growth_best_fit_allocator.cc, which tells the rest in lines of their own",
			Match: []pattern.Sample{
				{
					Line: "Out of memory error on GPU 0. Cannot allocate 1.500000GB memory on GPU 0, 14.000000GB memory has been allocated and available memory is only 512.000000MB.",
					Want: parser.Fields{"device": "0", "requested": "1610612736", "allocated": "15032385536", "free": "536870912"},
				},
				{
					Line: "Out of memory error on GPU 1. Cannot allocate 512.000000MB memory on GPU 1, 6.000000GB memory has been allocated and available memory is only 0.000000B.",
					Want: parser.Fields{"device": "1", "requested": "536870912", "allocated": "6442450944", "free": "0"},
				},
				{
					Line: "Out of memory error on GPU 0. Cannot allocate 3.125000GB memory on GPU 0, available memory is only 512.000000KB.",
					Want: parser.Fields{"device": "0", "requested": "3355443200", "free": "524288"},
				},
				{Line: "Out of memory error on GPU 2. Cannot allocate 2.000000GB memory.", Want: parser.Fields{"device": "2", "requested": "2147483648"}},
			},
			NoMatch: []string{"Out of memory error on GPU %d. Cannot allocate %s memory on GPU %d, available memory is only %s."},
		},
		{
			Name:     "paddle.state",
			Literals: []string{"Paddle memory state: ", "GPU memory state: available="},
			Expr: `^(?:Paddle memory state: allocated=(?<allocated_sz>` + paddleSize + `), reserved=(?<reserved_sz>` + paddleSize + `)\.` +
				`|GPU memory state: available=(?<free_sz>` + paddleSize + `), total=(?<total_sz>` + paddleSize + `)\.)`,
			Kind: parser.GPUOOM, Role: parser.Detail,
			Source: "PaddlePaddle 3, vmm_v2_auto_growth_best_fit_allocator.cc, below the failure",
			Match: []pattern.Sample{
				{Line: "Paddle memory state: allocated=14.000000GB, reserved=15.000000GB.", Want: parser.Fields{"allocated": "15032385536", "reserved": "16106127360"}},
				{Line: "GPU memory state: available=0.000000B, total=16.000000GB.", Want: parser.Fields{"free": "0", "total": "17179869184"}},
			},
		},
		{
			// Its workers hand batches over through files in /dev/shm, as torch's do.
			Name:     "paddle.loader_bus",
			Literals: []string{"Unexpected BUS error encountered in DataLoader worker"},
			Expr:     `ERROR: Unexpected BUS error encountered in DataLoader worker\. This might be caused by insufficient shared memory`,
			Kind:     parser.SHMExhausted, Role: parser.Evidence, Phase: "data", Set: map[string]string{"signal": "SIGBUS"},
			Source: "PaddlePaddle 1.8-3, fluid/imperative/data_loader.cc, REGISTER_SIGNAL_HANDLER(SIGBUS)",
			Match: lines(
				`ERROR: Unexpected BUS error encountered in DataLoader worker. This might be caused by insufficient shared memory (shm), please check whether use_shared_memory is set and storage space in /dev/shm is enough`,
			),
			NoMatch: []string{
				`    "ERROR: Unexpected BUS error encountered in DataLoader worker. "`,
				`ERROR: Unexpected floating-point exception encountered in DataLoader worker.`,
			},
		},
		{
			Name:     "paddle.loader_gone",
			Literals: []string{" workers exit unexpectedly, pids: "},
			Expr:     `RuntimeError: DataLoader \d{1,4} workers exit unexpectedly, pids: (?<pid>\d{1,10})`,
			Kind:     parser.ProcessExit, Role: parser.Consequence,
			Source:  "PaddlePaddle 2, fluid/dataloader/dataloader_iter.py, _get_data",
			Match:   []pattern.Sample{{Line: `RuntimeError: DataLoader 5 workers exit unexpectedly, pids: 1240, 1242, 1243, 1247, 1249`, Want: parser.Fields{"pid": "1240"}}},
			NoMatch: []string{`                    raise RuntimeError("DataLoader {} workers exit unexpectedly, " \`},
		},
		{
			Name:     "paddle.enforced",
			Literals: []string{"enforce allocating <= available failed"},
			Expr:     `enforce allocating <= available failed, (?<requested_b>\d{1,19}) > (?<free_b>\d{1,19})`,
			Kind:     parser.GPUOOM, Role: parser.Evidence,
			Set:    map[string]string{"library": "paddle"},
			Source: "PaddlePaddle 0.11-1.4, fluid/platform/gpu_info.cc: its pool of a fixed part of the card",
			Match:  []pattern.Sample{{Line: "paddle.fluid.core.EnforceNotMet: enforce allocating <= available failed, 10513462067 > 1369702144", Want: parser.Fields{"requested": "10513462067", "free": "1369702144"}}},
		},
	}
}
