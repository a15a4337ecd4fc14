package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// nativePatterns are those of libraries that ask the driver of the GPU themselves: TensorRT and TensorRT-LLM, bitsandbytes,
// cupy, rmm, simulators and others.
var nativePatterns = by(pattern.Program{Name: "tensorrt", Allocator: "tensorrt", Vendor: "cuda"}, libraryPatterns)

func libraryPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "trtllm.runtime",
			Literals: []string{"CUDA runtime error in "},
			Expr:     `CUDA runtime error in .{1,300}?: out of memory \(`,
			Kind:     parser.GPUDriverOOM, Role: parser.Evidence,
			Source:  "TensorRT-LLM, cpp/include/tensorrt_llm/common/cudaUtils.h [TensorRT-LLM issue 1060]",
			Match:   lines("[TensorRT-LLM][ERROR] CUDA runtime error in ::cudaMallocAsync(ptr, n, mCudaStream->get()): out of memory (/app/tensorrt_llm/cpp/include/tensorrt_llm/runtime/tllmBuffers.h:112)"),
			NoMatch: []string{"[TensorRT-LLM][ERROR] CUDA runtime error in cudaDeviceSynchronize(): an illegal memory access was encountered (/app/x.cpp:1)"},
		},
		{
			Name:     "tensorrt.runtime",
			Literals: []string{"uda Runtime (out of memory)", ": 2 (out of memory)", "OutOfMemory (no further information)"},
			Expr: `[Ee]rror [Cc]ode:? 1: [Cc]uda Runtime \(out of memory\)|Cuda Error in [\w:]{1,80}: 2 \(out of memory\)` +
				`|(?<!\[(?:virtualMemoryBuffer|globWriter)\.cpp::\w{1,40}::\d{1,6}\] )Error Code 2: OutOfMemory \(no further information\)`, // the tuner goes on where a buffer of a tactic does not fit
			Kind: parser.GPUDriverOOM, Role: parser.Evidence,
			Source: "TensorRT 7-10, defaultAllocator.cpp, safeRuntime.cpp [TensorRT issues 2198, 948]",
			Match: lines(
				"[TRT] [E] 1: [defaultAllocator.cpp::allocate::20] Error Code 1: Cuda Runtime (out of memory)",
				"[E] [TRT] ../rtSafe/safeRuntime.cpp (25) - Cuda Error in allocate: 2 (out of memory)",
				"[TRT] [E] 2: [executionContext.cpp::initializeContext::423] Error Code 2: OutOfMemory (no further information)",
			),
			NoMatch: []string{"[TRT] [E] 2: [virtualMemoryBuffer.cpp::resizePhysical::140] Error Code 2: OutOfMemory (no further information)"},
		},
		{
			Name:     "tensorrt.build",
			Literals: []string{"[globWriter.cpp::"},
			Expr:     `\[globWriter\.cpp::\w{1,40}::\d{1,6}\] Error Code 2: OutOfMemory \(`,
			Kind:     parser.GPUDriverOOM, Role: parser.Evidence, Phase: "init",
			Source: "TensorRT 9, the builder [TensorRT-LLM issue 346]",
			Match:  lines("[TRT] [E] 2: [globWriter.cpp::makeResizableGpuMemory::423] Error Code 2: OutOfMemory (no further information)"),
		},
		{
			Name:     "tensorrt.deserialize",
			Literals: []string{"[deserialize.cpp::"},
			Expr:     `\[deserialize\.cpp::\w{1,40}::\d{1,6}\] Error Code 2: Out[oO]f[mM]emory \(Requested size was (?<requested_b>\d{1,19}) bytes`,
			Kind:     parser.GPUDriverOOM, Role: parser.Detail, Phase: "init",
			Source: "TensorRT 10: an engine is loaded",
			Match: []pattern.Sample{{
				Line: "[TensorRT-LLM][ERROR] [deserialize.cpp::load::572] Error Code 2: OutOfMemory (Requested size was 7169084620 bytes.)", Want: parser.Fields{"requested": "7169084620"},
			}},
			NoMatch: []string{"[deserialize.cpp::load::572] Error Code 1: Serialization"},
			Also:    []string{"tensorrt.requested"},
		},
		{
			Name:     "tensorrt.on_card",
			Literals: []string{"TensorRT-managed allocation in engine deserialization: "},
			Expr:     `TensorRT-managed allocation in engine deserialization: CPU [+-]\d{1,7}, GPU \+(?<used_mib>[1-9]\d{1,6}),`,
			Gauge:    true, Source: "TensorRT 8-9: the weights of an engine are on the card",
			Match:   []pattern.Sample{{Line: "[TRT] [I] [MemUsageChange] TensorRT-managed allocation in engine deserialization: CPU +0, GPU +12442, now: CPU 0, GPU 12442 (MiB)", Want: parser.Fields{"used": "13046382592"}}},
			NoMatch: []string{"[TRT] [I] [MemUsageChange] TensorRT-managed allocation in IExecutionContext creation: CPU +0, GPU +0, now: CPU 0, GPU 12442 (MiB)"},
		},
		{
			Name:     "tensorrt.context",
			Literals: []string{"TensorRT-managed allocation in IExecutionContext creation: "},
			Expr:     `TensorRT-managed allocation in IExecutionContext creation: CPU [+-]\d{1,7}, GPU \+(?<used_mib>[1-9]\d{1,6}),`,
			Gauge:    true, Source: "TensorRT 8-9: the activations that an engine was built for are on the card",
			Match:   []pattern.Sample{{Line: "[TRT] [I] [MemUsageChange] TensorRT-managed allocation in IExecutionContext creation: CPU +0, GPU +19328, now: CPU 0, GPU 32181 (MiB)", Want: parser.Fields{"used": "20266876928"}}},
			NoMatch: []string{"[TRT] [I] [MemUsageChange] TensorRT-managed allocation in IExecutionContext creation: CPU +0, GPU +0, now: CPU 0, GPU 12442 (MiB)"},
		},
		{
			Name:     "tensorrt.requested",
			Literals: []string{"Requested amount of ", "Requested size was "},
			Expr:     `Requested amount of (?:GPU )?memory \((?<requested_b>\d{1,19}) bytes\) could not be allocated|[Mm]emory \(Requested size was (?<requested_b>\d{1,19}) bytes`,
			Kind:     parser.GPUDriverOOM, Role: parser.Detail,
			Source: "TensorRT, beside the status: how much was wanted [torch2trt issue 661]",
			Match: []pattern.Sample{
				{Line: "[TensorRT] ERROR: Requested amount of GPU memory (150994944 bytes) could not be allocated. There may not be enough free memory for allocation to succeed.", Want: parser.Fields{"requested": "150994944"}},
				{Line: "[E] [virtualMemoryBuffer.cpp::resizePhysical::140] Error Code 2: OutOfMemory (Requested size was 4294967296 bytes.)", Want: parser.Fields{"requested": "4294967296"}},
			},
		},
		{
			Name:     "bitsandbytes.status",
			Program:  pattern.Program{Name: "bitsandbytes", Vendor: "cuda"},
			Literals: []string{"Error out of memory at line "},
			Expr:     `Error out of memory at line \d{1,6} in file `,
			Kind:     parser.GPUDriverOOM, Role: parser.Evidence,
			Source: "bitsandbytes, csrc/compat.cuh CUDA_CHECK_RETURN, on stderr",
			Match:  lines("Error out of memory at line 380 in file /src/csrc/pythonInterface.c"),
		},
		{
			Name:     "cupy.oom",
			Program:  pattern.Program{Name: "cupy", Vendor: "cuda"},
			Literals: []string{"ut of memory allocating ", "ut of memory to allocate "},
			Expr: `[Oo]ut of memory (?:allocating (?<requested_b>\d[\d,]{0,24}) bytes \(allocated so far: (?<allocated_b>\d[\d,]{0,24}) bytes(?:, limit set to: (?<limit_b>\d[\d,]{0,24}) bytes)?` +
				`|to allocate (?<requested_b>\d{1,19}) bytes \(total (?<allocated_b>\d{1,19}) bytes)\)`,
			Kind: parser.GPUOOM, Role: parser.Evidence,
			Set:    map[string]string{"library": "cupy"},
			Source: "cupy, cupy/cuda/memory.pyx; before version 6 without thousands separators, its total being what the pool holds [cupy issues 2537, 1912]",
			Match: []pattern.Sample{
				{Line: "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 25,600,000 bytes (allocated so far: 3,635,267,072 bytes).", Want: parser.Fields{"requested": "25600000", "allocated": "3635267072"}},
				{Line: "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 1,024 bytes (allocated so far: 2,048 bytes, limit set to: 4,096 bytes).", Want: parser.Fields{"requested": "1024", "allocated": "2048", "limit": "4096"}},
				{Line: "cupy.cuda.memory.OutOfMemoryError: out of memory to allocate 1073741824 bytes (total 12373894656 bytes)", Want: parser.Fields{"requested": "1073741824", "allocated": "12373894656"}},
			},
			NoMatch: []string{"cc1plus: out of memory allocating 65536 bytes after a total of 4096 bytes"},
		},
		{
			Name:    "gpu.check",
			Program: anyCUDA,
			Literals: []string{
				"== cudaSuccess (2 vs. 0)", "cudaSuccess. 2 vs 0.", "CUDA: out of memory", "ErrStr:out of memory", "Gpu API call) out of memory", "MemorySpace named \"", "emory Object Allocation Failure",
				"CL_MEM_OBJECT_ALLOCATION_FAILURE", "ERROR_OUT_OF_DEVICE_MEMORY", "== cudaSuccess] out of memory", "Insufficient memory on accelerator", "Not enough memory left", "code: 2, reason: out of memory", "GPUassert: out of memory", "(error-code 2)",
			},
			Expr: `cudaSuccess\. 2 vs 0\. Error at: .{1,300}: out of memory|Check failed: .{1,120}?(?:== cudaSuccess \(2 vs\. 0\)(?:\s*$| {1,2}out of memory| Name: \w{1,60} ErrStr:out of memory)|: CUDA: out of memory)|\(-217:Gpu API call\) out of memory` +
				`|Allocation using MemorySpace named "(?:Cuda|HIP|SYCL)\w{0,20}" failed` +
				`|rror: Memory Object Allocation Failure|(?:failed|returned|[Ee]rror|\bcl[A-Z]\w{3,40}\(\d{0,3}\):)[^=]{0,60} CL_MEM_OBJECT_ALLOCATION_FAILURE|(?:VkResult|Vulkan Error, code=-2|MESA: error: \S{1,200}:\d{1,6}): (?:VK_)?ERROR_OUT_OF_DEVICE_MEMORY` +
				`|== cudaSuccess\] out of memory|^ERROR: Insufficient memory on accelerator|code: 2, reason: out of memory|\bGPUassert: out of memory|ERROR: out of memory in \S{1,400} at line \d{1,6} \(error-code 2\)|^\s{2,16}Not enough memory left\.?\s*$`,
			Kind: parser.GPUDriverOOM, Role: parser.Evidence,
			Source: "Caffe, Caffe2, MXNet, DGL, OpenCV, Kokkos, OpenCL through LightGBM, Vulkan through Isaac Sim, TVM and Mesa, ThunderGBM, LAMMPS, wgpu, dlib, RELION (acc/cuda/cuda_settings.h), the macro of many small programs",
			Match: lines(
				"F0612 15:04:22.410962 12345 syncedmem.cpp:78] Check failed: error == cudaSuccess (2 vs. 0)  out of memory",
				"Check failed: (cudaMalloc(&gpu_ptr_, size_)) == cudaSuccess (2 vs. 0) ",
				"RuntimeError: [enforce fail at event_gpu.cc:17] error == cudaSuccess. 2 vs 0. Error at: /pytorch/caffe2/core/event_gpu.cc:17: out of memory ",
				"mxnet.base.MXNetError: [17:13:00] src/operator/nn/./../mxnet_op.h:576: Check failed: err == cudaSuccess (2 vs. 0) Name: mxnet_generic_kernel ErrStr:out of memory",
				"dgl._ffi.base.DGLError: [12:34:56] /opt/dgl/src/runtime/cuda/cuda_device_api.cc:97: Check failed: e == cudaSuccess || e == cudaErrorCudartUnloading: CUDA: out of memory",
				"cv2.error: OpenCV(4.5.5) /opencv/modules/core/src/cuda/gpu_mat.cu:116: error: (-217:Gpu API call) out of memory in function 'allocate'",
				`Kokkos failed to allocate memory for label "x".  Allocation using MemorySpace named "Cuda" failed with the following error:  Allocation of size 8 G failed, likely due to insufficient memory.`,
				"lightgbm.basic.LightGBMError: Memory Object Allocation Failure",
				"OpenCL Error: clEnqueueNDRangeKernel: CL_MEM_OBJECT_ALLOCATION_FAILURE", "clEnqueueNDRange(0): CL_MEM_OBJECT_ALLOCATION_FAILURE",
				"[Error] [carb.graphics-vulkan.plugin] VkResult: ERROR_OUT_OF_DEVICE_MEMORY",
				"InternalError: Check failed: (__e == VK_SUCCESS) is false: Vulkan Error, code=-2: VK_ERROR_OUT_OF_DEVICE_MEMORY",
				"MESA: error: ../src/intel/vulkan/anv_device.c:4237: VK_ERROR_OUT_OF_DEVICE_MEMORY",
				"FATAL [default] Check failed: [error == cudaSuccess] out of memory",
				"    Not enough memory left",
				"RuntimeError: Error while calling cudaMalloc(&data, n) in file /tmp/dlib/cuda/gpu_data.cpp:218. code: 2, reason: out of memory",
				"GPUassert: out of memory subgraph_generator.cu 109",
				"ERROR: out of memory in /opt/relion/src/acc/cuda/custom_allocator.cuh at line 436 (error-code 2)",
				"000/??? sec ~~(,_,\">  [oo]KERNEL_ERROR: out of memory in /opt/relion/src/acc/utilities_impl.h at line 253 (error-code 2)",
				"ERROR: Insufficient memory on accelerator (src/GPU/gpu_extra.h:38)",
			),
			NoMatch: []string{
				"VK_ERROR_OUT_OF_DEVICE_MEMORY = -2,", "#define CL_MEM_OBJECT_ALLOCATION_FAILURE -4",
				"ERROR: an illegal memory access was encountered in /opt/relion/src/acc/utilities.h at line 31 (error-code 700)",
				"Check failed: error == cudaSuccess (77 vs. 0)  an illegal memory access was encountered",
			},
		},
		caffeFrame("caffe.backward", "backward", `(?:Backward(?:_[cg]pu)?|BackwardFromTo)`, "    @     0x7fd08b3eb296  caffe::ConvolutionLayer<>::Backward_gpu()"),
		caffeFrame("caffe.forward", "forward", `Forward(?:_[cg]pu|FromTo|Prefilled)?`, "   @     0x7fd08b3eb296  caffe::ConvolutionLayer<>::Forward_gpu()", "    @           0x58e171  caffe::Net<>::ForwardPrefilled()"),
		caffeFrame("caffe.update", "optimizer", `(?:ApplyUpdate|ComputeUpdateValue)`, "    @     0x7fcc1fa2b22a  caffe::SGDSolver<>::ApplyUpdate()"),
		caffeFrame("caffe.init", "init", `(?:Init\w{0,20}|LayerSetUp)`, "    @     0x7fcc1fa76272  caffe::Net<>::Init()", "    @     0x7fcc1f981168  caffe::BasePrefetchingDataLayer<>::LayerSetUp()"),
		{
			// PhysX gives the status of the driver, which is 700 after an illegal access.
			Name:     "gpu.sized",
			Program:  anyCUDA,
			Literals: []string{"DeviceMemoryAllocator fail to allocate memory ", "Out of GPU memory", ".OutOfGPUMemoryError(", "n't enough and alloc failed", "failed, Memory isn't enough", " bytes on device ", " bytes: no memory is available", " failed on ", "ut of memory while requesting "},
			Expr: `DeviceMemoryAllocator fail to allocate memory (?<requested_b>\d{1,19}) bytes!! Result = 2\b|Out of GPU memory trying to allocate (?<requested_sz>` + torchSize + `)|^(?:ERROR: )?(?:LoadError: )?Out of GPU memory\s*$|^\s{0,8}\[\d{1,6}\] CUDA\.OutOfGPUMemoryError\(` +
				`|Device\(id:(?<device>\d{1,4})\) memory isn't enough and alloc failed(?:.{1,400}?alloc size: (?<requested_b>\d{1,19})B)?` +
				`|Malloc for kernel \w{1,12} failed, Memory isn't enough|out of memory while requesting (?<requested_b>\d{1,19}) bytes; you can try setting MGB_CUDA` +
				`|(?:Failed to|Can't) allocate (?<requested_b>\d{1,19}) bytes on device (?:'cuda:)?(?<device>\d{1,4})` +
				`|MemoryError: (?:Cannot allocate (?<requested_b>\d{1,19}) bytes: no memory is available|Allocation of (?<requested_sz>` + torchSize + `) failed on (?:CUDA|NV|AMD|HIP|GPU|CL|QCOM|METAL|WEBGPU)(?::(?<device>\d{1,4}))?\. Used: )`,
			Kind: parser.GPUOOM, Role: parser.Evidence,
			Source: "PhysX (Isaac Gym, Isaac Sim), PxgCudaMemoryAllocator.cpp; CUDA.jl, pool.jl; MindSpore, mem_reuse; Warp, context.py; DALI, mm/malloc_resource; tinygrad, device.py, runtime/ops_amd.py; MegEngine [issue 448]",
			Match: []pattern.Sample{
				{Line: "RuntimeError: out of memory while requesting 68719476736 bytes; you can try setting MGB_CUDA_RESERVE_MEMORY to reserve all memory.", Want: parser.Fields{"requested": "68719476736"}},
				{Line: "PxgCudaDeviceMemoryAllocator fail to allocate memory 100663296 bytes!! Result = 2", Want: parser.Fields{"requested": "100663296"}},
				{Line: "ERROR: LoadError: Out of GPU memory trying to allocate 1.000 GiB", Want: parser.Fields{"requested": "1073741824"}},
				{Line: "ERROR: Out of GPU memory"},
				{Line: "     [6] CUDA.OutOfGPUMemoryError(sz::Int64)"},
				{Line: "RuntimeError: Device(id:0) memory isn't enough and alloc failed, kernel name: Default/AdamWeightDecay-op1, alloc size: 1073741824B.", Want: parser.Fields{"device": "0", "requested": "1073741824"}},
				{Line: "RuntimeError: Malloc for kernel output failed, Memory isn't enough, node:Default/network-TrainOneStepCell/Conv2D-op12"},
				{Line: "RuntimeError: Failed to allocate 536870912 bytes on device 'cuda:1'", Want: parser.Fields{"device": "1", "requested": "536870912"}},
				{Line: "MemoryError: Cannot allocate 122341986304 bytes: no memory is available.", Want: parser.Fields{"requested": "122341986304"}},
				{Line: "MemoryError: Allocation of 8.00 GB failed on AMD:1. Used: 22.10 GB", Want: parser.Fields{"requested": "8589934592", "device": "1"}},
				{Line: "Can't allocate 268435456 bytes on device 0.", Want: parser.Fields{"device": "0", "requested": "268435456"}},
			},
			NoMatch: []string{"PxgCudaDeviceMemoryAllocator fail to allocate memory 12 bytes!! Result = 700", "RuntimeError: Failed to allocate 64 bytes on device 'cpu'"},
		},
		{
			Name:     "mindspore.pool",
			Literals: []string{" is more than total mem size : "},
			Expr:     `plus alloc size : (?<requested_b>\d{1,19}) is more than total mem size : (?<total_b>\d{1,19})`,
			Kind:     parser.GPUOOM, Role: parser.Evidence,
			Set:    map[string]string{"library": "mindspore"},
			Source: "MindSpore 2, backend/common/mem_reuse/mem_dynamic_allocator.cc [MindAct issue 1761]",
			Match: []pattern.Sample{
				{
					Line: "TotalUsedMemStatistics : 29356337664 plus TotalUsedByEventMemStatistics : 0 and plus alloc size : 301990400 is more than total mem size : 29464985600.",
					Want: parser.Fields{"requested": "301990400", "total": "29464985600"},
				},
				{Line: "TotalUsedMemStatistics : 1024 plus alloc size : 4096 is more than total mem size : 2048.", Want: parser.Fields{"requested": "4096", "total": "2048"}},
			},
		},
		{
			Name:     "mindspore.host",
			Literals: []string{"cudaHostAlloc failed, ret[2]", "Out of memory. Memory malloc failed."},
			Expr:     `cudaHostAlloc failed, ret\[2\], out of memory|terminated with err msg: Out of memory\. Memory malloc failed\.`,
			Kind:     parser.HostOOM, Role: parser.Evidence, Phase: "data",
			Set:    map[string]string{"library": "mindspore"},
			Source: "MindSpore, minddata/dataset/util/arena.cc and task.cc: the queue of batches, in pinned memory [mindspore issue 172]",
			Match: lines(
				"[mindspore/ccsrc/minddata/dataset/util/arena.cc:250] Init] cudaHostAlloc failed, ret[2], out of memory",
				"operator()] Task:  - thread(140643787593472) is terminated with err msg: Out of memory. Memory malloc failed.",
			),
			NoMatch: []string{"cudaHostAlloc failed, ret[100], no CUDA-capable device is detected"},
		},
		{
			Name:     "jittor.gpu",
			Literals: []string{"GPU memory is overflow, please reduce your batch_size"},
			Expr:     `^GPU memory is overflow, please reduce your batch_size or data size!`,
			Kind:     parser.GPUOOM, Role: parser.Evidence,
			Set:    map[string]string{"library": "jittor"},
			Source: "Jittor, src/mem/mem_info.cc [jittor issue 396]",
			Match:  lines("GPU memory is overflow, please reduce your batch_size or data size!"),
		},
		{
			Name:     "jittor.host",
			Literals: []string{"CPU memory is overflow, please reduce your batch_size", "LightGBMError: Out of Host Memory"},
			Expr:     `^CPU memory is overflow, please reduce your batch_size or data size!|LightGBMError: Out of Host Memory`,
			Kind:     parser.HostOOM, Role: parser.Evidence,
			Source: "Jittor, src/mem/mem_info.cc; LightGBM through Boost.Compute's names of OpenCL's status -6 [LightGBM issue 4492]",
			Match:  lines("CPU memory is overflow, please reduce your batch_size or data size!", "lightgbm.basic.LightGBMError: Out of Host Memory"),
		},
		{
			Name:     "rmm.pool",
			Program:  pattern.Program{Name: "rmm", Allocator: "rmm", Vendor: "cuda"},
			Literals: []string{"RMM failure at"},
			Expr:     `RMM failure at ?:.{1,400}?[Mm]aximum pool size exceeded(?: \(failed to allocate (?<requested_sz>` + torchSize + `)\))?`,
			Kind:     parser.GPUOOM, Role: parser.Evidence,
			Set:    map[string]string{"library": "rmm"},
			Source: "rmm, include/rmm/mr/device/pool_memory_resource.hpp: it says MemoryError and means the device [cupoch issue 98]",
			Match: []pattern.Sample{{
				Line: "MemoryError: std::bad_alloc: RMM failure at:/opt/rmm/include/rmm/mr/device/pool_memory_resource.hpp:179: Maximum pool size exceeded (failed to allocate 2.0 GiB)",
				Want: parser.Fields{"requested": "2147483648"},
			}},
		},
	}
}

// caffeFrame is a frame of the stack that glog prints below a failed check, the innermost first.
func caffeFrame(name, phase, functions string, samples ...string) pattern.Pattern {
	return pattern.Pattern{
		Name:     name,
		Program:  anyCUDA,
		Literals: []string{"  caffe::"},
		Expr:     `^\s{0,8}@\s{1,20}0x[0-9a-f]{1,16}  caffe::\w{1,60}(?:<[^>]{0,40}>)?::` + functions + `\(`,
		Kind:     parser.GPUDriverOOM, Role: parser.Detail, Phase: phase,
		Source: "Caffe, src/caffe/net.cpp, solver.cpp, layers; glog, src/signalhandler.cc",
		Match:  lines(samples...), NoMatch: []string{"    @     0x7fcc1fa1e2f0  caffe::SyncedMemory::to_gpu()"},
	}
}
