package messages

import (
	"slices"

	"oomscan/parser"
	"oomscan/parser/pattern"
)

// accelPatterns are the allocators of accelerators other than NVIDIA's and AMD's: Intel XPU, Ascend NPU, Apple MPS,
// Habana HPU, AWS Neuron, DirectML, OpenVINO.
var accelPatterns = slices.Concat(
	by(pattern.Program{Name: "xpu", Framework: "torch", Allocator: "xpu", Vendor: "xpu"}, xpuPatterns),
	by(pattern.Program{Name: "npu", Framework: "torch", Allocator: "npu", Vendor: "npu"}, npuPatterns),
	by(pattern.Program{Name: "mps", Allocator: "mps", Vendor: "mps"}, mpsPatterns),
	by(pattern.Program{Name: "hpu", Allocator: "hpu", Vendor: "hpu"}, hpuPatterns),
	by(pattern.Program{Name: "neuron", Allocator: "neuron", Vendor: "neuron"}, neuronPatterns),
	[]table{windowsAndIntelPatterns},
)

func xpuPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "xpu.oom",
			Literals: []string{"XPU out of memory. Tried to allocate "},
			Expr: `XPU out of memory\. Tried to allocate (?<requested_sz>` + torchSize + `)(?! ?\()` +
				`(?:\. GPU (?<device>\d{1,4}) has a total capacity of (?<total_sz>` + torchSize + `))?(?: of which (?<free_sz>` + torchSize + `) is free)?` +
				`(?:\. (?<allowed_sz>` + torchSize + `) allowed)?(?:[.;] Of the allocated memory (?<allocated_sz>` + torchSize + `) is allocated by PyTorch,?)?` +
				`(?: and (?<reserved_unallocated_sz>` + torchSize + `) is reserved by PyTorch but unallocated)?`,
			Kind: parser.GPUOOM, Role: parser.Evidence,
			Source: "PyTorch 2.6-2.14, c10/xpu/XPUCachingAllocator.cpp; free figure and limit came after 2.8",
			Match: []pattern.Sample{
				{
					Line: "torch.OutOfMemoryError: XPU out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total capacity of 16.50 GiB. Of the allocated memory 16.00 GiB is allocated by PyTorch, and 0 bytes is reserved by PyTorch but unallocated. Please use `empty_cache` to release all unoccupied cached memory.",
					Want: parser.Fields{"requested": "536870912", "device": "0", "total": "17716740096", "allocated": "17179869184", "reserved_unallocated": "0"},
				},
				{
					Line: "XPU out of memory. Tried to allocate 4.50 GiB. GPU 1 has a total capacity of 48.00 GiB of which 1.50 GiB is free. 40.00 GiB allowed; Of the allocated memory 38.00 GiB is allocated by PyTorch, and 1.00 MiB is reserved by PyTorch but unallocated.",
					Want: parser.Fields{"requested": "4831838208", "device": "1", "total": "51539607552", "free": "1610612736", "allowed": "42949672960", "allocated": "40802189312", "reserved_unallocated": "1048576"},
				},
			},
		},
		{
			Name:     "xpu.oom_ipex",
			Literals: []string{"XPU out of memory. Tried to allocate "},
			Expr: `XPU out of memory\. Tried to allocate (?<requested_sz>` + torchSize + `) ?\(GPU (?<device>\d{1,4})(?:; (?<total_sz>` + torchSize + `) total capacity)?` +
				`(?:; (?<allocated_sz>` + torchSize + `) already allocated)?(?:; (?<reserved_sz>` + torchSize + `) reserved in total)?`,
			Kind: parser.GPUOOM, Role: parser.Evidence,
			Source: "Intel Extension for PyTorch: the old wording, without a free figure",
			Match: []pattern.Sample{{
				Line: "RuntimeError: XPU out of memory. Tried to allocate 2.00 GiB (GPU 0; 15.00 GiB total capacity; 13.00 GiB already allocated; 14.00 GiB reserved in total by PyTorch)",
				Want: parser.Fields{"requested": "2147483648", "device": "0", "total": "16106127360", "allocated": "13958643712", "reserved": "15032385536"},
			}},
		},
		{
			Name:     "xpu.oom_plain",
			Literals: []string{"XPU out of memory, please use"},
			Expr:     `XPU out of memory, please use .empty_cache`,
			Kind:     parser.GPUOOM, Role: parser.Evidence,
			Source: "PyTorch 2.4, c10/xpu/XPUCachingAllocator.cpp: no figures",
			Match:  lines("RuntimeError: XPU out of memory, please use `empty_cache` to release all unoccupied cached memory."),
		},
		{
			Name:     "xpu.level_zero",
			Literals: []string{"UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY", "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY", "PI_ERROR_OUT_OF_DEVICE_MEMORY", "_MEM_OBJECT_ALLOCATION_FAILURE"},
			Expr:     `(?:(?:UR|ZE)_RESULT|PI)_ERROR_OUT_OF_DEVICE_MEMORY|(?:UR_RESULT_ERROR|PI_ERROR)_MEM_OBJECT_ALLOCATION_FAILURE`,
			Kind:     parser.GPUDriverOOM, Role: parser.Evidence,
			Source: "oneAPI unified runtime and Level Zero, error 39",
			Match:  lines("RuntimeError: Native API failed. Native API returns: 39 (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)"),
		},
		{
			Name:     "xpu.level_zero_resources",
			Literals: []string{"UR_RESULT_ERROR_OUT_OF_RESOURCES", "PI_ERROR_OUT_OF_RESOURCES"},
			Expr:     `(?:UR_RESULT|PI)_ERROR_OUT_OF_RESOURCES`,
			Kind:     parser.GPUDriverOOM, Role: parser.Suspicion,
			Source: "oneAPI unified runtime, error 40 (-5 in the older plug-in interface): memory, or any other resource of the device",
			Match: lines(
				"RuntimeError: UR backend failed. UR backend returns:40 (UR_RESULT_ERROR_OUT_OF_RESOURCES)",
				"RuntimeError: Native API failed. Native API returns: -5 (PI_ERROR_OUT_OF_RESOURCES) -5 (PI_ERROR_OUT_OF_RESOURCES)",
			),
			NoMatch: []string{"RuntimeError: Native API failed. Native API returns: 20 (UR_RESULT_ERROR_DEVICE_LOST)"},
		},
	}
}

func npuPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "npu.oom",
			Literals: []string{"NPU out of memory. Tried to allocate "},
			Expr: `NPU out of memory\. Tried to allocate (?<requested_sz>` + torchSize + `)(?: ?\(NPU (?<device>\d{1,4}))?(?:; (?<total_sz>` + torchSize + `) total capacity)?` +
				`(?:; (?<allocated_sz>` + torchSize + `) already allocated)?(?:; ` + torchSize + ` current active)?(?:; (?<free_sz>` + torchSize + `) free)?` +
				`(?:; (?<allowed_sz>` + torchSize + `) allowed)?(?:; (?<reserved_sz>` + torchSize + `) reserved in total)?`,
			Kind: parser.GPUOOM, Role: parser.Evidence,
			Source: "torch_npu, torch_npu/csrc/core/npu/NPUCachingAllocator.cpp; a RuntimeError before 2025-12, torch.OutOfMemoryError after",
			Match: []pattern.Sample{
				{
					Line: "RuntimeError: NPU out of memory. Tried to allocate 9.25 GiB (NPU 3; 61.00 GiB total capacity; 49.50 GiB already allocated; 49.50 GiB current active; 1.25 GiB free; 58.00 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.",
					Want: parser.Fields{"requested": "9932111872", "device": "3", "total": "65498251264", "allocated": "53150220288", "free": "1342177280", "reserved": "62277025792"},
				},
				{
					Line: "torch.OutOfMemoryError: NPU out of memory. Tried to allocate 2.00 MiB (NPU 0; 32.00 GiB total capacity; 20.00 GiB already allocated; 20.00 GiB current active; 0 bytes free; 30.00 GiB allowed; 29.00 GiB reserved in total by PyTorch).If reserved memory is >> allocated memory",
					Want: parser.Fields{"requested": "2097152", "device": "0", "total": "34359738368", "allocated": "21474836480", "free": "0", "allowed": "32212254720", "reserved": "31138512896"},
				},
			},
		},
		{
			Name:     "npu.oom_workspace",
			Literals: []string{"NPUWorkspaceAllocator tried to allocate"},
			Expr: `NPUWorkspaceAllocator tried to allocate (?<requested_sz>` + torchSize + `)(?: ?\(NPU (?<device>\d{1,4}))?(?:; (?<total_sz>` + torchSize + `) total capacity)?` +
				`(?:; (?<free_sz>` + torchSize + `) free)?`,
			Kind: parser.GPUOOM, Role: parser.Evidence,
			Source: "torch_npu, torch_npu/csrc/core/npu/NPUWorkspaceAllocator.cpp",
			Match: []pattern.Sample{{
				Line: "RuntimeError: NPU out of memory. NPUWorkspaceAllocator tried to allocate 3.00 GiB(NPU 1; 61.00 GiB total capacity; 1.00 GiB free). If you want to reduce memory usage, take a try to set the environment variable TASK_QUEUE_ENABLE=1.",
				Want: parser.Fields{"requested": "3221225472", "device": "1", "total": "65498251264", "free": "1073741824"},
			}},
		},
		{
			Name:     "npu.oom_rejected",
			Literals: []string{"Allocation was preemptively rejected"},
			Expr:     `NPU out of memory\. Allocation was preemptively rejected[^:]{0,120}(?:: (?<requested_sz>` + torchSize + `))?`,
			Kind:     parser.GPUOOM, Role: parser.Evidence,
			Source: "torch_npu, torch_npu/csrc/core/npu/NPUCachingAllocator.cpp: the limit was set_per_process_memory_fraction",
			Match: []pattern.Sample{{
				Line: "NPU out of memory. Allocation was preemptively rejected because it would exceed per_process_memory_fraction limit. Requested size: 2.00 GiB",
				Want: parser.Fields{"requested": "2147483648"},
			}},
		},
		{
			Name:     "npu.oom_device",
			Literals: []string{"NPU out of memory. device id"},
			Expr:     `NPU out of memory\. device id:? ?(?<device>\d{1,4})`,
			Kind:     parser.GPUOOM, Role: parser.Evidence,
			Source: "torch_npu, torch_npu/csrc/core/npu/NPUCachingAllocator.cpp",
			Match:  []pattern.Sample{{Line: "RuntimeError: NPU out of memory. device id: 3", Want: parser.Fields{"device": "3"}}},
		},
		{
			Name:     "npu.acl",
			Literals: []string{"error code is 207001", "[Error]: Failed to apply for memory"},
			Expr:     `error code is (?<errno>207001)\b|\[Error\]: Failed to apply for memory`,
			Kind:     parser.GPUDriverOOM, Role: parser.Evidence,
			Source: "torch_npu, torch_npu/csrc/core/npu/NPUErrorCodes.h, NPUException.cpp isCannOOM",
			Match: []pattern.Sample{
				{Line: "build/CMakeFiles/torch_npu.dir/compiler_depend.ts:128 NPU function error: call aclnnMoeDistributeDispatchV2 failed, error code is 207001", Want: parser.Fields{"errno": "207001"}},
				{Line: "[Error]: Failed to apply for memory."},
			},
			NoMatch: []string{"NPU function error: AclrtSynchronizeStreamWithTimeout(copy_stream), error code is 507001"},
		},
		{
			Name:     "npu.cann",
			Literals: []string{"EL0004"},
			Expr:     `(?:\[PID: (?<pid>\d{1,10})\][^\[]{0,60})?EL0004(?::|\)) ?:?(?: ?\[PID: (?<pid>\d{1,10})\])?.{0,60}Failed to allocate memory`,
			Kind:     parser.GPUDriverOOM, Role: parser.Evidence,
			Source: "CANN runtime, message EL0004, in both its forms (EL0004: [PID: ..] and Memory_Allocation_Failure(EL0004))",
			Match: []pattern.Sample{
				{Line: "EL0004: [PID: 316198] 2025-09-28-07:22:29.827.496 Failed to allocate memory.", Want: parser.Fields{"pid": "316198"}},
				{Line: "[PID: 1613532] 2026-03-24-12:14:45.885.234 Memory_Allocation_Failure(EL0004): Failed to allocate memory.", Want: parser.Fields{"pid": "1613532"}},
			},
		},
		{
			// Of use for its envelope, `[ERROR] 2025-09-28-07:22:40 (PID:281606, Device:5, RankID:-1) `, which tells the device.
			Name:     "npu.device",
			Literals: []string{"call acl api failed"},
			Expr:     `^ERR\d{5} PTA call acl api failed`,
			Kind:     parser.GPUDriverOOM, Role: parser.Detail,
			Source:  "torch_npu, torch_npu/csrc/core/npu/NPUException.h, below the message of a failed call",
			Match:   lines("ERR00100 PTA call acl api failed"),
			NoMatch: []string{"ERR02200 DIST call hccl api failed."},
		},
		{
			Name:     "npu.cann_size",
			Literals: []string{"Failed to allocate resource[DeviceMemory]"},
			Expr:     `Failed to allocate resource\[DeviceMemory\] with info \[size:(?<requested_b>\d{1,19})\]`,
			Kind:     parser.GPUDriverOOM, Role: parser.Detail,
			Source: "CANN hccl, below EL0004 [vllm-ascend issue 3141]",
			Match: []pattern.Sample{
				{Line: "Failed to allocate resource[DeviceMemory] with info [size:2147483648]. Reason: Memory resources are exhausted.", Want: parser.Fields{"requested": "2147483648"}},
			},
		},
	}
}

// mpsPatterns are those of PyTorch's allocator on Apple devices, and of Metal below it and below others.
func mpsPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "mps.command_buffer",
			Literals: []string{"kIOGPUCommandBufferCallbackErrorOutOfMemory"},
			Expr:     `Insufficient Memory \((?:[0-9a-f]{1,8}:)?kIOGPUCommandBufferCallbackErrorOutOfMemory\)`,
			Kind:     parser.GPUDriverOOM, Role: parser.Evidence,
			Source: "Apple Metal, through PyTorch MPS, MLX and ggml-metal: the device and the host share the memory",
			Match: lines(
				"	Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)",
				"libc++abi: terminating due to uncaught exception of type std::runtime_error: [METAL] Command buffer execution failed: Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)",
			),
			NoMatch: []string{"[METAL] Command buffer execution failed: Caused GPU Timeout Error (00000002:kIOGPUCommandBufferCallbackErrorTimeout)"},
		},
		{
			Name:     "mps.oom",
			Program:  pattern.Program{Name: "mps", Framework: "torch", Allocator: "mps", Vendor: "mps"},
			Literals: []string{"MPS backend out of memory"},
			Expr: `MPS backend out of memory \(MPS allocated: (?<allocated_sz>` + torchSize + `)(?:, other allocations: (?<others_sz>` + torchSize + `))?` +
				`(?:, max allowed: (?<allowed_sz>` + torchSize + `))?(?:\)\. Tried to allocate (?<requested_sz>` + torchSize + `))?`,
			Kind: parser.GPUOOM, Role: parser.Evidence,
			Source: "PyTorch, aten/src/ATen/mps/MPSAllocator.mm; KB, MB, GB (powers of 1024) until about 2.6, KiB, MiB, GiB after",
			Match: []pattern.Sample{
				{
					Line: "RuntimeError: MPS backend out of memory (MPS allocated: 8.00 GB, other allocations: 1.50 GB, max allowed: 9.00 GB). Tried to allocate 512.00 MB on private pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit for memory allocations (may cause system failure).",
					Want: parser.Fields{"allocated": "8589934592", "others": "1610612736", "allowed": "9663676416", "requested": "536870912"},
				},
				{
					Line: "MPS backend out of memory (MPS allocated: 20.00 GiB, other allocations: 384.00 KiB). Tried to allocate 256 bytes on shared pool.",
					Want: parser.Fields{"allocated": "21474836480", "others": "393216", "requested": "256"},
				},
			},
		},
		{
			Name:     "mps.buffer",
			Literals: []string{"Invalid buffer size: ", "[metal::malloc] ", "[malloc_or_wait] ", "[malloc] Unable to allocate "},
			Expr: `Error: (?:Invalid buffer size: (?<requested_sz>` + torchSize + `)|\[metal::malloc\] Attempting to allocate (?<requested_b>\d{1,19}) bytes which is greater than` +
				`|\[(?:metal::malloc|malloc_or_wait|malloc)\] Unable to allocate (?<requested_b>\d{1,19}) bytes)`,
			Kind: parser.GPUOOM, Role: parser.Evidence,
			Source: "PyTorch, aten/src/ATen/mps/MPSAllocator.mm; MLX, backend/metal/allocator.cpp: one buffer larger than the device takes",
			Match: []pattern.Sample{
				{Line: "RuntimeError: Invalid buffer size: 58.00 GB", Want: parser.Fields{"requested": "62277025792"}},
				{Line: "RuntimeError: [metal::malloc] Attempting to allocate 36238786560 bytes which is greater than the maximum allowed buffer size of 22906503168 bytes.", Want: parser.Fields{"requested": "36238786560"}},
				{Line: "mlx.core.MemoryError: [malloc] Unable to allocate 17179869184 bytes.", Want: parser.Fields{"requested": "17179869184"}},
				{Line: "RuntimeError: [malloc_or_wait] Unable to allocate 268435456 bytes.", Want: parser.Fields{"requested": "268435456"}},
			},
			NoMatch: []string{"ValueError: Invalid buffer size: 0"},
			Also:    []string{"host.memory_error"},
		},
	}
}

// hpuPatterns are those of Habana's bridge to PyTorch.
func hpuPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "hpu.oom",
			Literals: []string{"MODULE:PT_DEVMEM"},
			Expr:     `(?:\[Rank:(?<rank>\d{1,6})\] )?FATAL ERROR :: MODULE:PT_DEVMEM Allocation failed(?: for size::(?<requested_b>\d{1,19}))?`,
			Kind:     parser.GPUOOM, Role: parser.Evidence,
			Source: "Habana PyTorch bridge [milabench issue 301]; accelerate keys on the same words",
			Match: []pattern.Sample{
				{Line: "RuntimeError: [Rank:0] FATAL ERROR :: MODULE:PT_DEVMEM Allocation failed for size::268435456 (256)MB", Want: parser.Fields{"rank": "0", "requested": "268435456"}},
				{Line: "FATAL ERROR :: MODULE:PT_DEVMEM Allocation failed for size::1048576 (1)MB", Want: parser.Fields{"requested": "1048576"}},
			},
			NoMatch: []string{"RuntimeError: [Rank:0] FATAL ERROR :: MODULE:PT_BRIDGE Exception in Launch thread..."},
		},
	}
}

// neuronPatterns are those of the runtime of Trainium and Inferentia.
func neuronPatterns() []pattern.Pattern {
	return []pattern.Pattern{{
		Name:     "neuron.oom",
		Literals: []string{"Failed to alloc DEVICE memory: ", ") on ND ", " bytes on DEVICE for tensor", "status=4 message="},
		Expr: `Failed to alloc DEVICE memory: (?<requested_b>\d{1,19})|Failed to allocate (?<requested_sz>` + torchSize + `) \([^()]{1,80}\) on ND (?<device>\d{1,4}):NC \d` +
			`|Failed to allocate (?<requested_b>\d{1,19}) bytes on DEVICE for tensor|status=4 message="?Allocation Failure`,
		Kind: parser.GPUOOM, Role: parser.Evidence,
		Source: "AWS Neuron runtime [aws-neuron-sdk issues 369, 1014; vllm issue 12443]",
		Match: []pattern.Sample{
			{Line: "TDRV:dmem_alloc_internal                     Failed to alloc DEVICE memory: 180355072", Want: parser.Fields{"requested": "180355072"}},
			{Line: "TDRV:log_dev_mem                             Failed to allocate 172.000MB (usage: tensors) on ND 0:NC 0, current utilization:", Want: parser.Fields{"requested": "180355072", "device": "0"}},
			{Line: "TDRV:tensor_allocate                         Failed to allocate 180355072 bytes on DEVICE for tensor UNKNOWN.", Want: parser.Fields{"requested": "180355072"}},
			{Line: `RuntimeError: nrt_tensor_allocate status=4 message="Allocation Failure"`},
			{Line: "RuntimeError: Could not load the model status=4 message=Allocation Failure"},
		},
		NoMatch: []string{`RuntimeError: nrt_init status=1 message="Failure"`},
	}}
}

// windowsAndIntelPatterns are those of DirectML and of OpenVINO's GPU plugin.
func windowsAndIntelPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "directml.oom",
			Program:  pattern.Program{Name: "directml", Framework: "torch", Allocator: "directml"},
			Literals: []string{"There is not enough GPU video memory available"},
			Expr:     `Could not allocate tensor with (?<requested_b>\d{1,19}) bytes\. There is not enough GPU video memory available`,
			Kind:     parser.GPUOOM, Role: parser.Evidence,
			Source: "torch-directml [DirectML issue 579]",
			Match: []pattern.Sample{
				{Line: "RuntimeError: Could not allocate tensor with 234881024 bytes. There is not enough GPU video memory available!", Want: parser.Fields{"requested": "234881024"}},
			},
		},
		{
			Name:     "openvino.oom",
			Program:  pattern.Program{Name: "openvino", Allocator: "openvino"},
			Literals: []string{"[GPU] Exceeded max size of memory "},
			Expr:     `\[GPU\] Exceeded max size of memory (?:object )?allocation: [Rr]equ(?:ested|ired) (?<requested_b>\d{1,19}) bytes`,
			Kind:     parser.GPUOOM, Role: parser.Evidence,
			Source: "OpenVINO 2022-2026, intel_gpu/src/runtime/ocl/ocl_engine.cpp: one object is larger than the device takes, or all are",
			Match: []pattern.Sample{
				{Line: "[GPU] Exceeded max size of memory object allocation: requested 28666553344 bytes, but max alloc size supported by device is 4294959104 bytes.", Want: parser.Fields{"requested": "28666553344"}},
			},
		},
	}
}
