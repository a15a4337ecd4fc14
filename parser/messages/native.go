package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// nativePatterns are those of libraries that ask the CUDA driver themselves: TensorRT and TensorRT-LLM, bitsandbytes,
// cupy, rmm.
var nativePatterns = by(pattern.Program{Name: "tensorrt", Allocator: "tensorrt", Vendor: "cuda"}, libraryPatterns)

func libraryPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "trtllm.runtime",
			Literals: []string{"CUDA runtime error in "},
			Expr:     `CUDA runtime error in .{1,300}?: out of memory \(`,
			Kind:     parser.GPUDriverOOM, Role: parser.Evidence,
			Source: "TensorRT-LLM, cpp/include/tensorrt_llm/common/cudaUtils.h [TensorRT-LLM issue 1060]",
			Match: []pattern.Sample{{
				Line: "[TensorRT-LLM][ERROR] CUDA runtime error in ::cudaMallocAsync(ptr, n, mCudaStream->get()): out of memory (/app/tensorrt_llm/cpp/include/tensorrt_llm/runtime/tllmBuffers.h:112)",
				Want: parser.Fields{},
			}},
			NoMatch: []string{"[TensorRT-LLM][ERROR] CUDA runtime error in cudaDeviceSynchronize(): an illegal memory access was encountered (/app/x.cpp:1)"},
		},
		{
			Name:     "tensorrt.runtime",
			Literals: []string{"uda Runtime (out of memory)", ": 2 (out of memory)"},
			Expr:     `[Ee]rror [Cc]ode:? 1: [Cc]uda Runtime \(out of memory\)|Cuda Error in [\w:]{1,80}: 2 \(out of memory\)`,
			Kind:     parser.GPUDriverOOM, Role: parser.Evidence,
			Source: "TensorRT 7-10, defaultAllocator.cpp, safeRuntime.cpp [TensorRT issues 2198, 948]",
			Match: []pattern.Sample{
				{Line: "[TRT] [E] 1: [defaultAllocator.cpp::allocate::20] Error Code 1: Cuda Runtime (out of memory)", Want: parser.Fields{}},
				{Line: "[E] [TRT] ../rtSafe/safeRuntime.cpp (25) - Cuda Error in allocate: 2 (out of memory)", Want: parser.Fields{}},
			},
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
			Match:  []pattern.Sample{{Line: "Error out of memory at line 380 in file /src/csrc/pythonInterface.c", Want: parser.Fields{}}},
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
				{Line: "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 25,600,000 bytes (allocated so far: 3,635,267,072 bytes).", Want: parser.Fields{"library": "cupy", "requested": "25600000", "allocated": "3635267072"}},
				{Line: "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 1,024 bytes (allocated so far: 2,048 bytes, limit set to: 4,096 bytes).", Want: parser.Fields{"library": "cupy", "requested": "1024", "allocated": "2048", "limit": "4096"}},
				{Line: "cupy.cuda.memory.OutOfMemoryError: out of memory to allocate 1073741824 bytes (total 12373894656 bytes)", Want: parser.Fields{"library": "cupy", "requested": "1073741824", "allocated": "12373894656"}},
			},
			NoMatch: []string{"cc1plus: out of memory allocating 65536 bytes after a total of 4096 bytes"},
		},
		{
			Name:     "rmm.pool",
			Program:  pattern.Program{Name: "rmm", Vendor: "cuda"},
			Literals: []string{"RMM failure at"},
			Expr:     `RMM failure at ?:.{1,400}?[Mm]aximum pool size exceeded(?: \(failed to allocate (?<requested_sz>` + torchSize + `)\))?`,
			Kind:     parser.GPUOOM, Role: parser.Evidence,
			Set:    map[string]string{"library": "rmm"},
			Source: "rmm, include/rmm/mr/device/pool_memory_resource.hpp: it says MemoryError and means the device [cupoch issue 98]",
			Match: []pattern.Sample{{
				Line: "MemoryError: std::bad_alloc: RMM failure at:/opt/rmm/include/rmm/mr/device/pool_memory_resource.hpp:179: Maximum pool size exceeded (failed to allocate 2.0 GiB)",
				Want: parser.Fields{"library": "rmm", "requested": "2147483648"},
			}},
		},
	}
}
