package classifier

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestARefusalNeedsNoWordOfMemoryThatRanOut reads engines, libraries and simulators that could not get what they tried to allocate
// and put it in words of their own.
func TestARefusalNeedsNoWordOfMemoryThatRanOut(t *testing.T) {
	t.Parallel()
	for log, kind := range map[string]string{
		"ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.":                                                                 "kv_cache",
		"ValueError: Free memory on device (37.25/79.00 GiB) on startup is less than desired GPU memory utilization (0.8, 63.25 GiB).":                                                                "kv_cache",
		"RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.":                                                                                                              "kv_cache",
		"[TensorRT-LLM][ERROR] Assertion failed: maxTokensInPagedKvCache (8832) must be large enough to process at least 1 sequence to completion (i.e. must be larger than beam_width (1) * 2)":      "kv_cache",
		"RuntimeError: Not enough memory to handle 4096 prefill tokens. You need to decrease `--max-batch-prefill-tokens`":                                                                            "gpu_oom",
		"RuntimeError: Executor creation failed due to insufficient GPU memory.":                                                                                                                      "gpu_oom",
		"RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`":                                                                                                    "gpu_driver_oom",
		"RuntimeError: cuDNN error: CUDNN_STATUS_ALLOC_FAILED":                                                                                                                                        "gpu_driver_oom",
		"ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 1225195446":                                                                                                                  "gpu_driver_oom",
		"numpy.core._exceptions._ArrayMemoryError: Unable to allocate 7.45 GiB for an array with shape (1000, 1000000) and data type float64":                                                         "host_oom",
		"RuntimeError: [enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 68719476736 bytes. Error code 12 (Cannot allocate memory)":     "host_oom",
		"OSError: [Errno 12] Cannot allocate memory":                                                                                                                                                  "host_oom",
		"terminate called after throwing an instance of 'std::bad_alloc'":                                                                                                                             "host_oom",
		`Error: model requires more system memory (6.1 GiB) than is available (4.2 GiB)`:                                                                                                              "host_oom",
		"RuntimeError: No executable batch size found, reached zero.":                                                                                                                                 "gpu_oom",
		"RuntimeError: unable to write to file </torch_4711_123_0>: No space left on device (28)":                                                                                                     "shm_exhausted",
		"n1:4711:4800 [3] misc/shmutils.cc:72 NCCL WARN Error: failed to extend /dev/shm/nccl-03v824 to 4194660 bytes, error: No space left on device (28)":                                           "nccl_oom",
		"/buildAgent/work/99bede84aa0a52c2/source/gpucommon/src/PxgCudaMemoryAllocator.cpp (68) : internal error : PxgCudaDeviceMemoryAllocator fail to allocate memory 339738624 bytes!! Result = 2": "gpu_oom",
	} {
		t.Run(log, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{"a.log": module + log + "\n"}).Incidents
			require.Len(t, got, 1)
			assert.Equal(t, Memory, got[0].Verdict)
			assert.Equal(t, kind, string(got[0].Kind))
		})
	}
	for _, log := range []string{
		"RuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx(handle)`",
		"RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED",
		"ValueError: Not enough samples to fill a batch of 64",
		"RuntimeError: Executor creation failed with NCCL error: Failed",
		"OSError: [Errno 24] Too many open files",
		"OSError: [Errno 28] No space left on device: '/out/model.bin'",
		"RuntimeError: unable to open file </data/x.bin>: Permission denied (13)",
		"ValueError: could not allocate the ranks to 3 groups",
		"slurm: unable to allocate resources: Requested node configuration is not available",
		"numpy.linalg.LinAlgError: Unable to converge",
	} {
		for _, in := range read(t, map[string]string{"a.log": module + log + "\n"}).Incidents {
			assert.NotEqual(t, Memory, in.Verdict, log)
		}
	}
}
