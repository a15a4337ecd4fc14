package classifier

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWritersOfOtherDaysAreOtherJobs weaves what two labelled writers print about failures that tell nothing of each
// other but their times.
func TestWritersOfOtherDaysAreOtherJobs(t *testing.T) {
	t.Parallel()
	const (
		cublas = "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`\n"
		bnb    = "Error out of memory at line 380 in file /src/bitsandbytes/csrc/pythonInterface.c\n"
		loaded = " [gpu_model_runner.py:2007] Model loading took 7.8 GiB and 4.4 seconds\n"
		slept  = " [gpu_worker.py:115] Sleep mode freed 9.19 GiB memory, 7.66 GiB memory is still in use.\n"
		a, b   = "[rank0]: ", "[rank1]: "
	)
	for _, tt := range []struct {
		name, text string
		want       int
	}{
		{"no stamps", a + cublas + b + bnb, 1},
		{"the same minutes", a + "INFO 09-10 12:00:00" + loaded + b + "INFO 09-10 12:00:09" + loaded + a + cublas + b + bnb, 1},
		{"zones", a + "2025-09-10 12:00:00,123 " + cublas + b + "2025-09-11T13:00:00Z " + bnb, 1},
		{"their own stamps", a + "2025-09-10 12:00:00,123 " + cublas + b + "2025-09-13 12:00:00,123 " + bnb, 2},
		{"one without a year", a + "2025-12-24 12:00:00,123 " + cublas + b + "Dec 28 12:00:00 n1 trainer[7]: " + bnb, 2},
		{"over the turn of the year", a + "2025-12-31 23:59:50,123 " + cublas + b + "Jan  1 00:00:10 n1 trainer[7]: " + bnb, 1},
		{"stamps behind one and before the other", a + cublas + a + "INFO 09-10 12:00:00" + slept + b + "INFO 09-13 12:00:00" + loaded + b + bnb, 2},
		{
			"days of silence before a death",
			a + "INFO 09-10 12:00:00" + loaded + b + "INFO 09-10 12:00:00" + loaded + b + "INFO 09-13 12:00:00" + slept + a + cublas + b + bnb, 1,
		},
		{"months of it", a + "INFO 09-10 12:00:00" + loaded + b + "INFO 12-24 12:00:00" + loaded + a + cublas + b + bnb, 2},
		{
			"months of it, but the same code",
			a + "INFO 09-10 12:00:00" + loaded + b + "INFO 12-24 12:00:00" + loaded +
				a + "Traceback (most recent call last):\n" + a + "  File \"/home/u/train.py\", line 9, in main\n" + a + cublas +
				b + "Traceback (most recent call last):\n" + b + "  File \"/home/u/train.py\", line 9, in main\n" + b + cublas, 1,
		},
		{"stamps of no label are nobody's", "INFO 09-10 12:00:00" + loaded + a + cublas + "INFO 12-24 12:00:00" + loaded + b + bnb, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			assert.Len(t, gather(t, map[string]string{"x.log": tt.text}).Result().Incidents, tt.want)
		})
	}
}

// TestTheFirstRankByTheStampsOfOneLog prints two ranks' failures, the second with an earlier stamp.
func TestTheFirstRankByTheStampsOfOneLog(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, second string
		rank         int
	}{
		{"a little earlier, as loggers are", "2025-09-10 12:00:08", 0},
		{"from a buffer that was flushed late", "2025-09-10 11:59:00", 1},
		{"by a clock that was set back", "2025-09-10 10:00:11", 0},
		{"in another zone", "2025-09-10 04:30:11", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := gather(t, map[string]string{"x.log": "[rank0]: 2025-09-10 12:00:10 ERROR " + refusedOn3 + "[rank1]: " + tt.second + " ERROR " + refusedOn3}).Result().Incidents
			require.Len(t, got, 1)
			require.NotNil(t, got[0].Root.Rank)
			assert.Equal(t, tt.rank, *got[0].Root.Rank)
		})
	}
}

// TestAClockThatIsSetBackLeavesTheOrderOfTheLog sets it back by less than buffers flush late: the writer's own lines show that.
func TestAClockThatIsSetBackLeavesTheOrderOfTheLog(t *testing.T) {
	t.Parallel()
	const slept = "2025-09-10 %s INFO [gpu_worker.py:115] Sleep mode freed 9.19 GiB memory, 7.66 GiB memory is still in use.\n"
	for _, tt := range []struct {
		name, before, after string
		rank                int
	}{
		{"the second writer's own lines go back", "12:00:05", "", 0},
		{"they do not: it was flushed late", "11:58:30", "", 1},
		{"the first writer's lines go back before the second failure", "", "11:58:55", 0},
		{"the first writer's lines go on", "", "12:00:11", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := "[rank0]: 2025-09-10 12:00:10 ERROR " + refusedOn3
			if tt.before != "" {
				text = "[rank1]: " + fmt.Sprintf(slept, tt.before) + text
			}
			if tt.after != "" {
				text += "[rank0]: " + fmt.Sprintf(slept, tt.after)
			}
			text += "[rank1]: 2025-09-10 11:59:00 ERROR " + refusedOn3
			got := gather(t, map[string]string{"x.log": text}).Result().Incidents
			require.Len(t, got, 1)
			require.NotNil(t, got[0].Root.Rank)
			assert.Equal(t, tt.rank, *got[0].Root.Rank)
		})
	}
}

// TestDevicesOfOtherKindsAreOtherJobs weaves messages whose words name what they ran out of.
func TestDevicesOfOtherKindsAreOtherJobs(t *testing.T) {
	t.Parallel()
	const (
		size = " out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 64.00 GiB of which 0 bytes is free.\n"
		tpu  = "XlaRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 21.50G of 15.50G hbm. Exceeded hbm capacity by 6.00G.\n"
		bfc  = "2025-06-01 10:00:00.123456: W external/xla/xla/tsl/framework/bfc_allocator.cc:482] Allocator (GPU_0_bfc) ran out of memory trying to allocate 6.75GiB (rounded to 7247757312)requested by op fusion\n"
		a, b = "[rank0]: ", "[rank1]: "
	)
	for _, tt := range []struct {
		name, text string
		want       int
	}{
		{"CUDA twice", a + "torch.OutOfMemoryError: CUDA" + size + b + "RuntimeError: Worker failed with error 'CUDA" + size, 1},
		{"CUDA and HIP", a + "torch.OutOfMemoryError: CUDA" + size + b + "torch.OutOfMemoryError: HIP" + size, 2},
		{"the driver says CUDA on all", a + "torch.OutOfMemoryError: HIP" + size + b + "CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:62\n", 1},
		{"TPU and GPU", a + tpu + b + bfc, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			assert.Len(t, gather(t, map[string]string{"x.log": tt.text}).Result().Incidents, tt.want)
		})
	}
}

// TestProgramsThatShareNoCard weaves failures of two programs on cards of one number and size.
func TestProgramsThatShareNoCard(t *testing.T) {
	t.Parallel()
	fail := func(label, file, held string) string {
		out := ""
		for _, l := range []string{
			"Traceback (most recent call last):", `  File "` + file + `", line 9, in main`,
			"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 64.00 GiB of which 1.00 GiB is free. " +
				"Including non-PyTorch memory, this process has " + held + " GiB memory in use. Of the allocated memory " + held + " GiB is allocated by PyTorch, and 0 bytes is reserved by PyTorch but unallocated.",
		} {
			out += label + l + "\n"
		}
		return out
	}
	for _, tt := range []struct {
		name, text string
		want       int
	}{
		{"an engine and a trainer on one card", fail("[rank0]: ", "/home/a/serve.py", "40.00") + fail("[rank1]: ", "/home/b/train.py", "22.00"), 1},
		{"two that one card could not hold", fail("[rank0]: ", "/home/a/serve.py", "60.00") + fail("[rank1]: ", "/home/b/train.py", "62.00"), 2},
		{"two ranks of one program", fail("[rank0]: ", "/home/b/train.py", "60.00") + fail("[rank1]: ", "/home/b/train.py", "62.00"), 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			assert.Len(t, gather(t, map[string]string{"x.log": tt.text}).Result().Incidents, tt.want)
		})
	}
}

// TestJobsHaveOneScheduler weaves the words of two.
func TestJobsHaveOneScheduler(t *testing.T) {
	t.Parallel()
	text := "[rank0]: slurmstepd: error: Detected 1 oom_kill event in StepId=771204.batch. Some of the step tasks have been OOM Killed.\n" +
		"[rank1]: TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\n"
	assert.Len(t, gather(t, map[string]string{"x.log": text}).Result().Incidents, 2)
}
