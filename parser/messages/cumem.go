package messages

import (
	"slices"

	"oomscan/parser"
	"oomscan/parser/pattern"
)

// sleepPatterns are the messages of allocators that are plugged under torch: vLLM's cumem, torch_memory_saver and
// vllm-ascend's camem. They know no figures of torch.
var sleepPatterns = slices.Concat(
	by(vllm, cumemPatterns),
	by(pattern.Program{Name: "tms", Vendor: "cuda"}, saverPatterns),
	by(pattern.Program{Name: "ascend", Vendor: "npu"}, camemPatterns),
)

func cumemPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "vllm.cumem",
			Literals: []string{"cumem_allocator"},
			Expr:     `(?:CUDA|HIP) Error: out of memory at [^ ]{0,400}cumem_allocator[\w.]{0,16}:\d{1,6}`,
			Kind:     parser.GPUDriverOOM, Role: parser.Evidence,
			Source: "vLLM, csrc/cumem_allocator.cpp CUDA_CHECK: on stderr, sometimes again as a RuntimeError",
			Match: lines(
				"CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:62",
				"RuntimeError: CUDA Error: out of memory at /tmp/pip-req/csrc/cumem_allocator.cpp:139",
			),
			NoMatch: []string{
				`  File "/opt/vllm/device_allocator/cumem.py", line 108, in create_and_map`,
			},
		},
		{
			Name:     "vllm.cumem_cascade",
			Literals: []string{"cumem_allocator"},
			Expr:     `(?:CUDA|HIP) Error: (?:invalid argument|invalid device context|an unknown error)[^/]{0,40} at [^ ]{0,400}cumem_allocator[\w.]{0,16}:\d{1,6}`,
			Kind:     parser.GPUDriverOOM, Role: parser.Consequence,
			Source: "vLLM, csrc/cumem_allocator.cpp: what the same macro prints when it goes on after a failed allocation",
			Match:  lines("CUDA Error: invalid argument at /workspace/csrc/cumem_allocator.cpp:122"),
		},
	}
}

// saverPatterns are those of torch_memory_saver.
func saverPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "tms.resume",
			Literals: []string{"[torch_memory_saver.cpp] "},
			Expr:     `\[torch_memory_saver\.cpp\] (?:CUresult|cudaError|hipError_t|hipError) error: 2 \(out of memory\)[^=]{0,8}file=[^ ]{1,300} func=resume\b`,
			Kind:     parser.GPUDriverOOM, Role: parser.Evidence, Phase: "weight_update",
			Source: "torch_memory_saver since 2025-08, csrc/utils.h: the engine of a colocated job takes its memory back",
			Match:  lines("[torch_memory_saver.cpp] cudaError error: 2 (out of memory)  file=csrc/core.cpp func=resume line=301"),
		},
		{
			Name:     "tms.fatal",
			Literals: []string{"[torch_memory_saver.cpp] "},
			Expr: `\[torch_memory_saver\.cpp\] (?:(?:CUresult|cudaError|hipError_t|hipError) error: 2 \(out of memory\)(?![^=]{0,8}file=[^ ]{1,300} func=resume\b)` +
				`|CUresult error {1,2}result=2 )`,
			Kind: parser.GPUDriverOOM, Role: parser.Evidence,
			Source: "torch_memory_saver, csrc/utils.h; until 2025-07 it printed the bare CUresult, of which only 2 is out of memory",
			Match: lines(
				"[torch_memory_saver.cpp] CUresult error: 2 (out of memory)  file=csrc/utils.h func=cu_mem_create line=103",
				"[torch_memory_saver.cpp] CUresult error  result=2 file=csrc/torch_memory_saver.cpp func=cu_mem_create line=103",
			),
			NoMatch: []string{
				"[torch_memory_saver.cpp] CUresult error  result=1 file=csrc/torch_memory_saver.cpp func=pause line=201",
				"[torch_memory_saver.cpp] CUresult error: 1 (invalid argument)  file=csrc/core.cpp func=resume line=88",
			},
		},
		{
			Name:     "tms.refused",
			Literals: []string{"TorchMemorySaver::malloc return OOM"},
			Expr:     `TorchMemorySaver::malloc return OOM since memory_margin_bytes=(?<margin_b>\d{1,19})[^=]{0,40}(?:allocation_|\(alloc\))size=(?<requested_b>\d{1,19})(?:[^=]{0,40}free_bytes=(?<free_b>\d{1,19}))?`,
			Kind:     parser.GPUOOM, Role: parser.Detail,
			Source: "torch_memory_saver, csrc/core.cpp: torch's own out-of-memory message follows",
			Match: []pattern.Sample{{
				Line: "[torch_memory_saver.cpp] TorchMemorySaver::malloc return OOM since memory_margin_bytes=1073741824 allocation_size=2097152 free_bytes=536870912",
				Want: parser.Fields{"margin": "1073741824", "requested": "2097152", "free": "536870912"},
			}, {
				Line: "[torch_memory_saver.cpp] TorchMemorySaver::malloc return OOM since memory_margin_bytes=1073741824 (alloc)size=4294967296 free_bytes=3221225472",
				Want: parser.Fields{"margin": "1073741824", "requested": "4294967296", "free": "3221225472"},
			}},
		},
		{
			Name:     "tms.cpu_backup",
			Literals: []string{"mmap cpu_backup failed"},
			Expr:     `mmap cpu_backup failed(?: errno=(?<errno>\d{1,4}))?`,
			Kind:     parser.HostOOM, Role: parser.Evidence,
			Source: "torch_memory_saver, csrc/core.cpp: no host memory for the copy of a paused region",
			Match:  []pattern.Sample{{Line: "[torch_memory_saver.cpp] mmap cpu_backup failed errno=12 size=4294967296", Want: parser.Fields{"errno": "12"}}},
		},
	}
}

// camemPatterns are those of vllm-ascend.
func camemPatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "ascend.camem",
			Literals: []string{"(OOM: Out of Memory, allocation failed)"},
			Expr:     `aclrt(?:MallocPhysical|ReserveMemAddress|MapMem|Malloc\w{0,16}) failed with acl error code: (?<errno>\d{1,8}) ?\(OOM: Out of Memory, allocation failed\)`,
			Kind:     parser.GPUDriverOOM, Role: parser.Evidence,
			Source: "vllm-ascend, csrc/camem_allocator.cpp",
			Match: []pattern.Sample{
				{Line: "RuntimeError: aclrtMallocPhysical failed with acl error code: 207001(OOM: Out of Memory, allocation failed) /vllm-workspace/csrc/camem_allocator.cpp:96", Want: parser.Fields{"errno": "207001"}},
			},
		},
	}
}
