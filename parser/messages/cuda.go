package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// xgboostSize is a size as XGBoost prints it: old versions count bytes.
const xgboostSize = `\d{1,19}(?:\.\d{1,6})?(?:[KMGT]?B)?`

// cudaPatterns are the CUDA and HIP runtime, driver and libraries, in the spellings of whoever checks their status.
// None of them prints figures. What runs out can be pinned host memory too: the text is the same, only the stack tells.
var cudaPatterns = by(pattern.Program{Name: "cuda", Framework: "torch", Vendor: "cuda"}, cudaRuntimePatterns, cudaLibraryPatterns)

// anyCUDA prints what every user of CUDA prints.
var anyCUDA = pattern.Program{Name: "cuda", Vendor: "cuda"}

func cudaRuntimePatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "cuda.error",
			Literals: []string{"rror: out of memory"},
			Expr: `(?:CUDA|Cuda|cuda|HIP|hip|ROCm|MUSA|MACA)(?: runtime| Runtime| API| kernel launch)? [Ee]rror: out of memory` +
				`(?! at [^ ]{0,400}cumem_allocator)`,
			Kind: parser.GPUDriverOOM, Role: parser.Evidence,
			Source: "PyTorch, c10/cuda/CUDAException.cpp (all versions; RuntimeError, torch.AcceleratorError since 2.8); ggml; TransformerEngine and FlashInfer with a capital E; FasterTransformer",
			Match: lines(
				"RuntimeError: CUDA error: out of memory",
				"torch.AcceleratorError: CUDA error: out of memory",
				"RuntimeError: HIP error: out of memory",
				"/TransformerEngine/transformer_engine/common/util/x.cu:64 in function run: CUDA Error: out of memory",
				"ROCm error: out of memory",
				"  what():  [FT][ERROR] CUDA runtime error: out of memory /workspace/src/fastertransformer/utils/allocator.h:220",
			),
			NoMatch: []string{
				"CUDA error: device-side assert triggered",
				"node-a:1:2 [0] include/alloc.h:178 NCCL WARN Cuda failure 2 'out of memory'",
				"CUDA driver error: out of memory",
			},
		},
		{
			Name:     "cuda.driver_error",
			Literals: []string{"driver error: out of memory"},
			Expr:     `(?:CUDA|HIP) driver error: out of memory`,
			Kind:     parser.GPUDriverOOM, Role: parser.Evidence,
			Source: "PyTorch, c10/cuda/driver_api.h: expandable segments map physical memory through the driver",
			Match:  lines("RuntimeError: CUDA driver error: out of memory"),
		},
		{
			Name:     "flashinfer.error",
			Literals: []string{" failed with error code out of memory"},
			Expr:     `\bBatch\w{4,60} failed with error code out of memory`,
			Kind:     parser.GPUDriverOOM, Role: parser.Evidence,
			Source: "FlashInfer before 0.2, python/csrc: the name of a CUDA status",
			Match:  lines("RuntimeError: BatchDecodeWithPagedKVCache failed with error code out of memory", "RuntimeError: BatchPrefillWithPagedKVCache failed with error code out of memory"),
		},
		{
			Name: "cuda.located",
			Literals: []string{
				"error 2 at ", "): out of memory", "'out of memory'", "error 2 out of memory", "rror 2: out of memory", "rror 2, out of memory", "failed with error out of memory", "CUDA_ERROR_OUT_OF_MEMORY, out of memory", "failure 2: out of memory", "CUDA ERROR: 2, error code",
				"error 2 in file ", "[CUDA] out of memory ",
			},
			Expr: `(?:CUDA|Cuda|cuda|HIP)(?: error 2 at [^ ]{1,400}: out of memory| error \([^()]{1,400}:\d{1,6}\): out of memory| error [^ ']{1,400}:\d{1,6} 'out of memory'` +
				`| driver error \([^()]{1,400}\): 2 \(CUDA_ERROR_OUT_OF_MEMORY, out of memory\)| failed with error (?:2 )?out of memory|(?: CUDA)? [Ee]rror 2[:,] out of memory` +
				`| error 2 in file [^:]{1,400} line \d{1,6}: out of memory|\w{1,40}\([^;]{1,160}\) failed with error out of memory|\] out of memory \S{1,400} \d{1,6}\s*$` +
				`| ERROR: 2, error code reference: | failure 2: out of memory(?: ?; GPU=(?<device>\d{1,4})(?: ?; hostname=(?<host>[\w.-]{1,253}))?)?)`,
			Kind: parser.GPUDriverOOM, Role: parser.Evidence,
			Source: "checks that print the place: llama.cpp before 2024, flash-attn hopper, DeepEP, DeepGEMM, spconv, onnxruntime, CTranslate2, Warp, tinygrad, TensorRT-LLM's generation.py, AMReX, tiny-cuda-nn, LightGBM",
			Match: []pattern.Sample{
				{Line: "CUDA error 2 at ggml-cuda.cu:3853: out of memory"},
				{Line: "CUDA error (/src/flash-attention/hopper/flash_fwd_launch_template.h:188): out of memory"},
				{Line: "RuntimeError: Failed: CUDA error /opt/DeepEP/csrc/deep_ep.cpp:83 'out of memory'"},
				{Line: "RuntimeError: CUDA driver error (csrc/jit/handle.hpp:80): 2 (CUDA_ERROR_OUT_OF_MEMORY, out of memory)"},
				{Line: "cuda failed with error 2 out of memory. use CUDA_LAUNCH_BLOCKING=1 to get correct traceback."},
				{Line: "RuntimeError: CUDA failed with error out of memory"},
				{Line: "Warp CUDA error 2: out of memory (in function wp_alloc_device_async, /warp/native/warp.cu:769)"},
				{Line: "RuntimeError: CUDA Error 2, out of memory"},
				{Line: "amrex::Abort::0::CUDA error 2 in file ../../Src/Base/AMReX_Arena.cpp line 169: out of memory !!!"},
				{Line: "Could not allocate memory: /opt/tiny-cuda-nn/gpu_memory.h:459 cudaMalloc(&rawptr, n_bytes+DEBUG_GUARD_SIZE*2) failed with error out of memory"},
				{Line: "[LightGBM] [Fatal] [CUDA] out of memory /opt/LightGBM/src/io/cuda/cuda_column_data.cpp 67"},
				{Line: "RuntimeError: CUDA ERROR: 2, error code reference: https://nvidia.github.io/cuda-python/module/cudart.html#cuda.cudart.cudaError_t"},
				{Line: "CUDA failure 2: out of memory ; GPU=1 ; hostname=node-a ; file=allocator.cc ; line=47", Want: parser.Fields{"device": "1", "host": "node-a"}},
			},
			NoMatch: []string{
				"RuntimeError: Failed: CUDA error /opt/DeepEP/csrc/deep_ep.cpp:83 'an illegal memory access was encountered'",
				"RuntimeError: CUDA ERROR: 719, error code reference: https://nvidia.github.io/cuda-python/module/cudart.html#cuda.cudart.cudaError_t",
			},
		},
		{
			Name:     "cuda.malloc",
			Program:  anyCUDA,
			Literals: []string{" failed: out of memory", "to cudaMalloc ", "(cudaMalloc error out of memory", "emory for requested buffer of size "},
			Expr: `(?<!on device \d{1,4}: )(?<![\w(])(?:cudaMalloc(?:Async|Managed)? (?:retry )?|cuMem\w{1,30} )failed: out of memory|ailed to cudaMalloc (?<requested_b>\d{1,19}) bytes(?: on device (?<device>\d{1,4}))?.{0,20}(?:error 2 |out of memory)` +
				`|\bparallel_for failed: out of memory|alloc fail type \w{1,40} dev (?<device>\d{1,4}) .{1,120}? size (?<requested_b>\d{1,19}) bytes \(cudaMalloc error out of memory` +
				`|Failed to allocate memory for requested buffer of size (?<requested_b>\d{1,19})`,
			Kind: parser.GPUDriverOOM, Role: parser.Evidence,
			Source: "MXNet, storage/pooled_storage_manager.h; Faiss, gpu/StandardGpuResources.cpp; PyCUDA; Thrust, system/cuda/detail/parallel_for.h; ONNX Runtime, core/framework/bfc_arena.cc",
			Match: []pattern.Sample{
				{Line: "mxnet.base.MXNetError: [10:22:33] src/storage/./pooled_storage_manager.h:157: cudaMalloc failed: out of memory"},
				{Line: "details: Error: 'failed to cudaMalloc 1610612736 bytes (error 2 out of memory)", Want: parser.Fields{"requested": "1610612736"}},
				{Line: "Error: 'err == cudaSuccess' failed: Failed to cudaMalloc 536870912 bytes on device 1 (error 2 out of memory", Want: parser.Fields{"requested": "536870912", "device": "1"}},
				{Line: "StandardGpuResources: alloc fail type FlatData dev 2 space Device stream 0 size 2764800000 bytes (cudaMalloc error out of memory [2])", Want: parser.Fields{"requested": "2764800000", "device": "2"}},
				{Line: "pycuda._driver.MemoryError: cuMemAlloc failed: out of memory"},
				{Line: "cudaMallocAsync failed: out of memory"},
				{Line: "  what():  parallel_for failed: out of memory"},
				{Line: "onnxruntime/core/framework/bfc_arena.cc:342 void* onnxruntime::BFCArena::AllocateRawInternal(size_t, bool) Failed to allocate memory for requested buffer of size 1073741824", Want: parser.Fields{"requested": "1073741824"}},
			},
			NoMatch: []string{"ggml_backend_cuda_buffer_type_alloc_buffer: allocating 8.00 MiB on device 1: cudaMalloc failed: out of memory"},
		},
		{
			Name:     "mxnet.gradient",
			Program:  anyCUDA,
			Literals: []string{"Operator: _backward_"},
			Expr:     `^Operator: _backward_\w`,
			Kind:     parser.GPUDriverOOM, Role: parser.Detail, Phase: "backward",
			Source: "MXNet 1.x, engine/threaded_engine.h: a line beside the failure",
			Match:  lines("Operator: _backward_Convolution"),
		},
		{
			Name:     "cuda.thc",
			Literals: []string{"cuda runtime error (2)", "THCudaCheck FAIL"},
			Expr:     `cuda runtime error \(2\) : out of memory|THCudaCheck FAIL file=[^=]{1,400} line=\d{1,6} error=2 : out of memory`,
			Kind:     parser.GPUDriverOOM, Role: parser.Evidence,
			Source: "PyTorch to 1.4, THC/THCGeneral.cpp: first on stderr, then as the exception",
			Match: lines(
				`RuntimeError: cuda runtime error (2) : out of memory at /pytorch/aten/src/THC/THCTensorRandom.cu:25`,
				`THCudaCheck FAIL file=d:\build\pytorch\aten\src\thc\generic/THCStorage.cu line=58 error=2 : out of memory`,
			),
			NoMatch: []string{
				"RuntimeError: cuda runtime error (59) : device-side assert triggered at /pytorch/aten/src/THC/THCCachingHostAllocator.cpp:265",
				"THCudaCheck FAIL file=THCGeneral.cpp line=663 error=11 : invalid argument",
			},
		},
		{
			Name:     "xgboost.oom",
			Program:  anyCUDA,
			Literals: []string{"Memory allocation error on worker "},
			Expr: `Memory allocation error on worker (?<rank>\d{1,6}): (?:std::bad_alloc: )?(?:cuda|hip|\[CUDA)` +
				`(?:.{1,200}?- Free memory: (?<free_sz>` + xgboostSize + `).{1,8}- Requested memory: (?<requested_sz>` + xgboostSize + `))?`,
			Kind: parser.GPUDriverOOM, Role: parser.Evidence,
			Source: "XGBoost 0.9-3.x, src/common/device_helpers.cuh, device_vector.cu",
			Match: []pattern.Sample{
				{Line: "xgboost.core.XGBoostError: [11:17:11] /workspace/src/common/device_vector.cu:23: Memory allocation error on worker 0: std::bad_alloc: cudaErrorMemoryAllocation: out of memory", Want: parser.Fields{"rank": "0"}},
				{Line: `Exception: "XGBoostError('[11:17:11] /workspace/src/common/device_vector.cu:23: Memory allocation error on worker 3: std::bad_alloc: cudaErrorMemoryAllocation: out of memory\\n- Free memory: 53.5GB\\n- Requested memory: 64GB\\n`, Want: parser.Fields{"rank": "3", "free": "57445187584", "requested": "68719476736"}},
			},
			Also: []string{"cuda.enum"},
		},
		{
			Name:  "xgboost.figures",
			After: []string{"xgboost.oom"}, Within: 2,
			Expr: `^- (?:Free memory: (?<free_sz>` + xgboostSize + `)|Requested memory: (?<requested_sz>` + xgboostSize + `))\s*$`,
			Kind: parser.GPUDriverOOM, Role: parser.Detail,
			Source: "XGBoost 0.9-3.x, src/common/device_helpers.cuh, device_vector.cu",
			Match: []pattern.Sample{
				{Line: "- Free memory: 53.5GB", Want: parser.Fields{"free": "57445187584"}},
				{Line: "- Requested memory: 9582842880", Want: parser.Fields{"requested": "9582842880"}},
			},
		},
		{
			Name:    "cuda.enum",
			Program: anyCUDA,
			Literals: []string{
				"CUDA_ERROR_OUT_OF_MEMORY", "cudaErrorMemoryAllocation", "hipErrorOutOfMemory", "hipErrorMemoryAllocation", "RMM_ERROR_OUT_OF_MEMORY",
			},
			Expr: `(?:\(failed to allocate (?<requested_sz>` + torchSize + `)\) at: [^ ]{1,400}: )?(?:CUDA_ERROR_OUT_OF_MEMORY(?! \(may not|, out of memory\))` +
				"|(?<!Search for [`'])cudaErrorMemoryAllocation|(?<!Search for [`'])hipError(?:OutOfMemory|MemoryAllocation)(?! \\(may not)|RMM_ERROR_OUT_OF_MEMORY)" +
				`(?<!(?:from device|AllocAsync failed to allocate \d{1,19} bytes): (?:RESOURCE_EXHAUSTED: : )?\w{1,40}|bytes on host: \w{1,40})`,
			Kind: parser.GPUDriverOOM, Role: parser.Evidence,
			Source: "names of the status itself: numba, cupy, cudf/rmm (which calls it a MemoryError: std::bad_alloc), XLA, XGBoost, any C++",
			Match: []pattern.Sample{
				{Line: "numba.cuda.cudadrv.driver.CudaAPIError: [2] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY"},
				{Line: "MemoryError: std::bad_alloc: out_of_memory: CUDA error at: /opt/rapids/include/rmm/mr/device/cuda_memory_resource.hpp:69: cudaErrorMemoryAllocation out of memory"},
				{Line: "MemoryError: std::bad_alloc: out_of_memory: CUDA error (failed to allocate 1048576 bytes) at: /opt/rmm/cuda_memory_resource.hpp:62: cudaErrorMemoryAllocation out of memory", Want: parser.Fields{"requested": "1048576"}},
				{Line: "cupy.cuda.runtime.CUDARuntimeError: cudaErrorMemoryAllocation: out of memory"},
				{Line: "hipErrorOutOfMemory: out of memory"},
			},
			NoMatch: []string{
				"Search for `cudaErrorMemoryAllocation' in https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html for more information.",
			},
		},
		{
			Name:     "cuda.triton_launch",
			Literals: []string{"Triton Error ["},
			Expr:     `Triton Error \[(?:CUDA|HIP)\]: out of memory`,
			Kind:     parser.GPUDriverOOM, Role: parser.Evidence,
			Source:  "Triton's launcher: the driver had no room to load the kernel",
			Match:   lines("RuntimeError: Triton Error [CUDA]: out of memory"),
			NoMatch: []string{"RuntimeError: Triton Error [CUDA]: invalid argument"},
		},
		{
			Name:     "cuda.illegal_access",
			Literals: []string{"illegal memory access was encountered", "CUDA_ERROR_ILLEGAL_ADDRESS", "hipErrorIllegalAddress"},
			Expr:     `(?<!Cuda failure (?:\d{1,5} )?')an illegal memory access was encountered|CUDA_ERROR_ILLEGAL_ADDRESS|hipErrorIllegalAddress`,
			Kind:     parser.IllegalAccess, Role: parser.Context,
			Source: "CUDA status 700 in every spelling: no exhaustion",
			Match: lines(
				"RuntimeError: CUDA error: an illegal memory access was encountered",
				"RuntimeError: Triton Error [CUDA]: an illegal memory access was encountered",
				"RuntimeError: Failed: CUDA error csrc/deep_ep.cpp:83 'an illegal memory access was encountered'",
			),
			NoMatch: []string{"NCCL WARN Cuda failure 700 'an illegal memory access was encountered'"},
		},
		{
			Name:     "cuda.hardware",
			Literals: []string{"uncorrectable ECC error encountered", "uncorrectable NVLink error", "cudaErrorECCUncorrectable", "CUDA error: misaligned address", "CUDA error: hardware"},
			Expr:     `uncorrectable ECC error encountered|uncorrectable NVLink error|cudaErrorECCUncorrectable|CUDA error: (?:misaligned address|hardware stack error)`,
			Kind:     parser.ProcessExit, Role: parser.Consequence,
			Set:    map[string]string{"reason": "hardware"},
			Also:   []string{"c10d.watchdog_terminated"}, // which quotes it
			Source: "CUDA status 214 and its like: broken memory, not too little of it",
			Match:  lines("RuntimeError: CUDA error: uncorrectable ECC error encountered"),
		},
	}
}

func cudaLibraryPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name: "cuda.library_alloc",
			Literals: []string{
				"_STATUS_ALLOC_FAILED", "CUFFT_ALLOC_FAILED", "CURAND_STATUS_ALLOCATION_FAILED", "rocblas_status_memory_error", "_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED",
				"cublas handle: the resource allocation failed",
			},
			Expr: `\b(?:(?<library>CUBLAS|CUSOLVER|CUSPARSE|CUDNN|HIPBLAS|HIPSOLVER|HIPSPARSE|MIOPEN)_STATUS_(?:INTERNAL_ERROR_DEVICE_)?ALLOC(?:ATION)?_FAILED` +
				`|(?<library>CUFFT)_ALLOC_FAILED|(?<library>CURAND)_STATUS_ALLOCATION_FAILED|(?<library>rocblas)_status_memory_error|failed to create (?<library>cublas) handle: the resource allocation failed)\b(?: ?; GPU=(?<device>\d{1,4})(?: ?; hostname=(?<host>[\w.-]{1,253}))?)?`,
			Kind: parser.GPUDriverOOM, Role: parser.Evidence,
			Source: "cuBLAS, cuSOLVER, cuSPARSE, cuDNN, cuFFT and ROCm's twins, through aten/src/ATen/cuda/Exceptions.h or TensorFlow",
			Match: []pattern.Sample{
				{Line: "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", Want: parser.Fields{"library": "CUBLAS"}},
				{Line: "RuntimeError: cuDNN error: CUDNN_STATUS_ALLOC_FAILED", Want: parser.Fields{"library": "CUDNN"}},
				{Line: "RuntimeError: cusolver error: CUSOLVER_STATUS_ALLOC_FAILED, when calling `cusolverDnCreate(handle)`. If you keep seeing this error, you may use", Want: parser.Fields{"library": "CUSOLVER"}},
				{Line: "failed to create cublas handle: CUBLAS_STATUS_ALLOC_FAILED", Want: parser.Fields{"library": "CUBLAS"}},
				{Line: "failed to create cublas handle: the resource allocation failed", Want: parser.Fields{"library": "cublas"}}, // XLA's words
				{Line: "RuntimeError: cuFFT error: CUFFT_ALLOC_FAILED", Want: parser.Fields{"library": "CUFFT"}},
				{Line: "CUBLAS failure 3: CUBLAS_STATUS_ALLOC_FAILED ; GPU=1 ; hostname=node-a ; expr=cublasCreate(&cuHandle)", Want: parser.Fields{"library": "CUBLAS", "device": "1", "host": "node-a"}},
			},
			NoMatch: []string{"CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx( handle )`"},
		},
		{
			Name:     "cuda.library_init",
			Literals: []string{"_STATUS_NOT_INITIALIZED"},
			Expr:     "(?<library>CUBLAS|CUSOLVER|CUDNN|HIPBLAS)_STATUS_NOT_INITIALIZED(?:,? when calling `\\w{1,40}Create\\w{0,20}\\(|\\s*$)",
			Kind:     parser.GPUDriverOOM, Role: parser.Suspicion,
			Source: "a library's handle could not be made: often because the device was full, as often for misuse",
			Match: []pattern.Sample{
				{Line: "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`", Want: parser.Fields{"library": "CUBLAS"}},
				{Line: "RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED", Want: parser.Fields{"library": "CUDNN"}},
			},
			NoMatch: []string{"CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasGemmEx( handle )`"},
		},
		{
			Name:     "cuda.cudnn_disguised",
			Literals: []string{"valid cuDNN algorithm to run convolution", "unable to find an engine to execute this computation"},
			Expr:     `Unable to find a valid cuDNN algorithm to run convolution|(?:GET|FIND) was unable to find an engine to execute this computation`,
			Kind:     parser.GPUDriverOOM, Role: parser.Suspicion,
			Set:    map[string]string{"library": "CUDNN"},
			Source: "PyTorch, aten/src/ATen/native/cudnn: every algorithm was refused, often because none found its workspace",
			Match: lines(
				"RuntimeError: Unable to find a valid cuDNN algorithm to run convolution",
				"RuntimeError: GET was unable to find an engine to execute this computation",
			),
			NoMatch: []string{"cuDNN error: CUDNN_STATUS_NOT_SUPPORTED. This error may appear if you passed in a non-contiguous input."},
		},
		{
			Name:     "cuda.nvshmem",
			Literals: []string{"non-zero status: 2 cuMemCreate failed"},
			Expr:     `non-zero status: 2 cuMemCreate failed`,
			Kind:     parser.GPUDriverOOM, Role: parser.Evidence,
			Source: "NVSHMEM, src/host/mem/mem_heap.cpp [DeepEP issue 157]",
			Match:  lines("/nvshmem/src/host/mem/mem_heap.cpp:1509: non-zero status: 2 cuMemCreate failed "),
		},
		{
			Name:     "cuda.hami",
			Literals: []string{"cuMemoryAllocate failed res=2", "[HAMI-core ERROR"},
			Expr: `\[HAMI-core ERROR (?:\(pid:(?<pid>\d{1,10}) )?[^\]]{1,200}\]: (?:cuMemoryAllocate failed res=2\b|Device (?<device>\d{1,4}) OOM (?<used_b>\d{1,19}) / (?<total_b>\d{1,19}))` +
				`|cuMemoryAllocate failed res=2\b`,
			Kind: parser.GPUDriverOOM, Role: parser.Evidence,
			Source: "HAMi-core, allocator.c: the share of the card that the container may use [HAMi issue 585]",
			Match: []pattern.Sample{
				{Line: "[HAMI-core ERROR (pid:7 thread=140360328144640 allocator.c:115)]: cuMemoryAllocate failed res=2", Want: parser.Fields{"pid": "7"}},
				{Line: "[HAMI-core ERROR (pid:9 thread=1 allocator.c:51)]: Device 0 OOM 17179869184 / 16106127360", Want: parser.Fields{"pid": "9", "device": "0", "used": "17179869184", "total": "16106127360"}},
			},
		},
	}
}
