package classifier

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFiguresAsAllocatorsPrintThem reads the request, the card, what was free, what PyTorch held and what other processes held.
// 0 is unknown.
func TestFiguresAsAllocatorsPrintThem(t *testing.T) {
	t.Parallel()
	const gib, mib = 1 << 30, 1 << 20
	type figures struct{ requested, total, free, allocated, others int64 }
	const (
		cuda = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate "
		npu  = "[rank5]:[E928 07:22:40.736525688 compiler_depend.ts:429] operator(): NPU function error: call aclnnDispatch failed, error code is 207001\n"
		cann = "EL0004: [PID: 281606] 2025-09-28-07:22:39.827.496 Failed to allocate memory.\n        Failed to allocate resource[DeviceMemory] with info [size:2147483648]."
	)
	for log, want := range map[string]figures{
		cuda + "2.00 GiB. GPU 0 has a total capacity of 80.00 GiB of which 1.00 GiB is free. Of the allocated memory 70.00 GiB is allocated by PyTorch, and 6.00 GiB is reserved by PyTorch but unallocated.":                                                                                                                                                                {2 * gib, 80 * gib, gib, 70 * gib, 0},
		cuda + "2.00 GiB. GPU 0 has a total capacity\nof 80.00 GiB of which 1.00 GiB is free. Of the allocated\nmemory 70.00 GiB is allocated by PyTorch, and 6.00 GiB is reserved by PyTorch but unallocated.":                                                                                                                                                              {2 * gib, 80 * gib, gib, 70 * gib, 0},
		cuda + "96.00 GiB. GPU 0 has a total capacity of 80.00 GiB of which 79.00 GiB is free.":                                                                                                                                                                                                                                                                              {96 * gib, 80 * gib, 79 * gib, 0, 0},
		cuda + "2.00 MiB. GPU 0 has a total capacity of 80.00 GiB of which 1024.00 KiB is free.":                                                                                                                                                                                                                                                                             {2 * mib, 80 * gib, mib, 0, 0},
		cuda + "20 bytes. GPU 0 has a total capacity of 80.00 GiB of which 0 bytes is free.":                                                                                                                                                                                                                                                                                 {20, 80 * gib, 0, 0, 0},
		cuda + "2.00 GiB. GPU 0 has a total capacty of 80.00 GiB of which 1.00 GiB is free. Process 11 has 30.00 GiB memory in use. Process 12 has 40.00 GiB memory in use. Including non-PyTorch memory, this process has 9.00 GiB memory in use.":                                                                                                                          {2 * gib, 80 * gib, gib, 0, 70 * gib},
		cuda + "9.27 GiB. GPU 0 has a total capacity of 80.00 GiB of which 5.00 GiB is free. Process 142 has 3.00 GiB memory in use. Process 143 has 72.00 GiB memory in use. Of the allocated memory 68.00 GiB is allocated by PyTorch, and 3.00 GiB is reserved by PyTorch but unallocated.":                                                                               {9953586708, 80 * gib, 5 * gib, 68 * gib, 3 * gib},
		cuda + "2.00 GiB. GPU 0 has a total capacity of 80.00 GiB of which 1.00 GiB is free. Process 142 has 39.00 GiB memory in use. Process 143 has 40.00 GiB memory in use. Of the allocated memory 38.00 GiB is allocated by PyTorch, and 0.50 GiB is reserved by PyTorch but unallocated.":                                                                              {2 * gib, 80 * gib, gib, 38 * gib, 79 * gib},
		cuda + "9.00 GiB. GPU 0 has a total capacity of 80.00 GiB of which 5.00 GiB is free. Process 142 has 3.00 GiB memory in use. Process 143 has 72.00 GiB memory in use. Of the allocated memory 65.00 GiB is allocated by PyTorch, and 3.00 GiB is reserved by PyTorch but unallocated.":                                                                               {9 * gib, 80 * gib, 5 * gib, 65 * gib, 3 * gib},
		cuda + "9.00 GiB. GPU 0 has a total capacity of 80.00 GiB of which 5.00 GiB is free. Process 142 has 2.00 GiB memory in use. Process 143 has 30.00 GiB memory in use. Of the allocated memory 25.00 GiB is allocated by PyTorch, and 2.00 GiB is reserved by PyTorch but unallocated.":                                                                               {9 * gib, 80 * gib, 5 * gib, 25 * gib, 32 * gib},
		"RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 80.00 GiB total capacity; 70.00 GiB already allocated; 1.00 GiB free; 76.00 GiB reserved in total by PyTorch)":                                                                                                                                                                                 {2 * gib, 80 * gib, gib, 70 * gib, 0},
		"RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 11.00 GiB total capacity; 9.00 GiB already allocated; 16.00 MiB free; 120.00 MiB cached)":                                                                                                                                                                                                     {20 * mib, 11 * gib, 16 * mib, 9 * gib, 0},
		"torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 64.00 GiB of which 1.00 GiB is free. Of the allocated memory 60.00 GiB is allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but unallocated.":                                                                                                          {2 * gib, 64 * gib, gib, 60 * gib, 0},
		"RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 64.00 GiB total capacity; 60.00 GiB already allocated; 60.00 GiB current active; 1.00 GiB free; 62.00 GiB reserved in total by PyTorch)":                                                                                                                                                        {2 * gib, 64 * gib, gib, 60 * gib, 0},
		"jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 1225195446464 bytes.":                                                                                                                                                                                                                                              {1225195446464, 0, 0, 0, 0},
		"ggml_backend_cuda_buffer_type_alloc_buffer: allocating 8704.00 MiB on device 0: cudaMalloc failed: out of memory":                                                                                                                                                                                                                                                   {8704 * mib, 0, 0, 0, 0},
		"cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 4,294,967,296 bytes (allocated so far: 8,589,934,592 bytes).":                                                                                                                                                                                                                                           {4 * gib, 0, 0, 8 * gib, 0},
		"ValueError: Free memory on device (37.00/79.00 GiB) on startup is less than desired GPU memory utilization (0.8, 63.00 GiB).":                                                                                                                                                                                                                                       {63 * gib, 79 * gib, 37 * gib, 0, 0},
		"[ERROR] CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 80.00 GiB of which 1.00 GiB is free. (traceback below)\n\n\n\n\n\n\n" + cuda + "2.00 GiB. GPU 0 has a total capacity of 80.00 GiB of which 1.00 GiB is free. Of the allocated memory 70.00 GiB is allocated by PyTorch, and 6.00 GiB is reserved by PyTorch but unallocated.": {2 * gib, 80 * gib, gib, 70 * gib, 0},
		"[ERROR] CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 80.00 GiB of which 1.00 GiB is free. (traceback below)\n\n\n\n\n\n\n" + cuda + "2.00 GiB. GPU 0 has a total capacity of 80.00 GiB of which 0.50 GiB is free. Of the allocated memory 70.00 GiB is allocated by PyTorch, and 6.00 GiB is reserved by PyTorch but unallocated.": {2 * gib, 80 * gib, gib, 0, 0},
		npu + cann: {2 * gib, 0, 0, 0, 0},
		npu + strings.ReplaceAll(npu, "rank5", "rank6") + cann:                                                  {},
		"MemoryError: Unable to allocate 2.00 GiB for an array with shape (1, 268435456) and data type float64": {2 * gib, 0, 0, 0, 0},
		"torch.OutOfMemoryError: Allocation on device 0 would exceed allowed memory. (out of memory)\nCurrently allocated     : 70.00 GiB\nRequested               : 2.00 GiB\nDevice limit            : 80.00 GiB\nFree (according to CUDA): 1.00 GiB": {2 * gib, 80 * gib, gib, 70 * gib, 0},
	} {
		t.Run(log, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{"a.log": module + log + "\n"}).Incidents
			require.Len(t, got, 1)
			r := got[0].Root
			value := func(n *int64) int64 {
				if n == nil {
					return 0
				}
				return *n
			}
			assert.Equal(t, want, figures{value(r.Requested), value(r.Total), value(r.Free), value(r.Allocated), value(r.OtherProcesses)})
		})
	}
}

// TestFiguresOfWhatRanOut reads what is neither a request nor of a card: a program's need, an engine's rest, a job's use, a
// node's. 0 is unknown.
func TestFiguresOfWhatRanOut(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	type figures struct{ needed, total, used, limit, shortfall, nodeUsed, nodeTotal int64 }
	const (
		killed  = "slurmstepd: error: Detected 1 oom-kill event(s) in step 7.batch cgroup. Some of your processes may have been killed by the cgroup out-of-memory handler.\n"
		noCache = "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.\n"
	)
	for name, c := range map[string]struct {
		log         string
		want        figures
		accelerator string
	}{
		"a program compiled for a TPU": {
			"XlaRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 21.50G of 15.50G hbm. Exceeded hbm capacity by 6.00G.\n",
			figures{needed: 43 * gib / 2, total: 31 * gib / 2, shortfall: 6 * gib},
			"TPU",
		},
		"an engine without room for any cache": {"INFO 01-26 03:11:48 [gpu_worker.py:375] Available KV cache memory: -3.50 GiB\n" + noCache, figures{shortfall: 7 * gib / 2}, ""},
		"an engine that does not say how much": {noCache, figures{}, ""},
		"Slurm's limit in KB":                  {"slurmstepd: error: Job 7 exceeded memory limit (629145600 > 524288000), being killed\n", figures{total: 500 * gib, used: 600 * gib, limit: 500 * gib}, ""},
		"Slurm's limit in bytes":               {"slurmstepd: error: Step 7.0 exceeded memory limit (8589934592 > 6442450944), being killed\n", figures{total: 6 * gib, used: 8 * gib, limit: 6 * gib}, ""},
		"Slurm's limit in either":              {"slurmstepd: error: Job 7 exceeded memory limit (2147483648 > 1610612736), being killed\n", figures{}, ""},
		"Ray Tune's reading before a kill":     {"Memory usage on this node: 60.5/64.0 GB\n" + killed, figures{nodeUsed: 121 * gib / 2, nodeTotal: 64 * gib}, ""},
		"Ray Tune's reading after it":          {killed + "Memory usage on this node: 60.5/64.0 GB\n", figures{}, ""},
		"a kill without a reading":             {killed, figures{}, ""},
		"an NPU":                               {"RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 64.00 GiB total capacity; 60.00 GiB already allocated; 60.00 GiB current active; 1.00 GiB free; 62.00 GiB reserved in total by PyTorch)\n", figures{total: 64 * gib, shortfall: gib}, "NPU"},
		"an AMD GPU":                           {"torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 64.00 GiB of which 1.00 GiB is free.\n", figures{total: 64 * gib, shortfall: gib}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{"a.log": c.log}).Incidents
			require.Len(t, got, 1)
			r := &got[0].Root
			value := func(n *int64) int64 {
				if n == nil {
					return 0
				}
				return *n
			}
			have := figures{needed: value(r.Needed), total: value(r.Total), used: value(r.Used), limit: value(r.Limit), shortfall: value(got[0].Shortfall)}
			if n := got[0].Node; n != nil {
				have.nodeUsed, have.nodeTotal = n.Used, n.Total
			}
			assert.Equal(t, c.want, have)
			assert.Equal(t, c.accelerator, r.Accelerator)
		})
	}
}
