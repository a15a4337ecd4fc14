package report

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"oomscan/classifier"
)

// Lists longer than these are cut, with a line that says so.
const (
	maxFindings     = 12
	maxConsequences = 8
	maxChecklist    = 60
	maxStart        = 6
	maxChanges      = 8
	maxPatch        = 24
	maxFrames       = 6
	maxEvidence     = 6
	maxProblems     = 12
	maxOverview     = 12
)

// kindWords says in a headline what happened, and beside the kind's name what that means.
var kindWords = sync.OnceValue(func() map[string]struct{ headline, meaning string } {
	return map[string]struct{ headline, meaning string }{
		"gpu_oom":        {"GPU memory ran out", "the GPU allocator could not serve a request"},
		"gpu_driver_oom": {"GPU memory ran out at the driver", "the driver or a library had no GPU memory left"},
		"kv_cache":       {"The inference engine has no room for its KV cache", "the engine's share of GPU memory is too small"},
		"nccl_oom":       {"A collective found no memory for its buffers", "the collective library's own allocation failed"},
		"nccl_failure":   {"A collective failed", "it gave up or timed out; memory is not proven"},
		"host_oom":       {"Host memory ran out", "an allocation of host memory (RAM) failed"},
		"oom_kill":       {"Host memory ran out and a process was killed", "a process was killed for want of host memory (RAM)"},
		"shm_exhausted":  {"Shared memory (/dev/shm) ran full", "host memory with a limit of its own"},
		"illegal_access": {"A GPU program touched memory that is not its own", "a programming error: no memory ran out"},
		"process_exit":   {"A process ended", "its end is known, its reason is not"},
	}
})

// suspectWords replace the headlines of what is only suspected; the phase stands in the place of the bar.
var suspectWords = sync.OnceValue(func() map[string]struct{ headline, meaning string } {
	return map[string]struct{ headline, meaning string }{
		"oom_kill":       {"A process was killed|, perhaps because host memory ran out", "SIGKILL, which time limits and people send, too"},
		"host_oom":       {"An allocation of host memory failed|, perhaps because there was no more", "a refusal that a limit of the driver explains, too"},
		"gpu_oom":        {"A GPU operation failed|, perhaps because GPU memory ran out", "an error that has other causes, too"},
		"gpu_driver_oom": {"A GPU operation failed|, perhaps because GPU memory ran out", "an error that has other causes, too"},
		"shm_exhausted":  {"A process died of a bus error|, perhaps because /dev/shm ran full", "SIGBUS without a reason in the log"},
	}
})

var phaseWords = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"init": "during start-up", "rollout": "during generation (rollout)", "logprob": "in the log-prob pass", "forward": "in the forward pass",
		"backward": "in the backward pass", "optimizer": "in the optimizer step", "training": "in a training step",
		"weight_update": "during the weight update", "nccl": "inside a collective", "checkpoint": "while checkpointing", "data": "in data loading",
	}
})

var resourceWords = map[string]string{"gpu": "GPU memory", "host": "host memory", "shm": "/dev/shm"}

// consequenceWords name what followed.
var consequenceWords = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"gpu_oom": "GPU memory ran out", "gpu_driver_oom": "GPU memory ran out at the driver", "kv_cache": "no room for the KV cache",
		"nccl_oom": "collective library out of memory", "nccl_failure": "collective failed or timed out", "host_oom": "host allocation failed",
		"oom_kill": "process killed", "shm_exhausted": "/dev/shm full", "illegal_access": "illegal memory access", "process_exit": "process ended",
		"job_cancelled": "job cancelled", "exception": "exception", "restart": "workers restarted", "recovered": "recovered", "pressure": "memory pressure",
	}
})

// named is the word for an identifier, or the identifier itself when there is none.
func named(words map[string]string, id string) string {
	if w := words[id]; w != "" {
		return w
	}
	return strings.ReplaceAll(id, "_", " ")
}

// unbroken keeps a text on one line.
func unbroken(s string) string { return strings.ReplaceAll(s, " ", string(nbsp)) }

// size prints bytes as the findings' sentences do, never broken from their unit.
func size(n int64) string { return unbroken(classifier.GiB(n)) }

// column prints bytes for a column of figures, which must share one unit: that of the whole.
func column(n, whole int64) string {
	if whole < 1<<30 {
		return fmt.Sprintf("%.1f%cMiB", float64(n)/(1<<20), nbsp)
	}
	return fmt.Sprintf("%.2f%cGiB", float64(n)/(1<<30), nbsp)
}

// count prints a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1" + string(nbsp) + one
	}
	return grouped(n) + string(nbsp) + many
}

// grouped prints a number with separators between the thousands.
func grouped(n int) string {
	s := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// position is a place in a log.
func position(file string, line int) string {
	if file == "" {
		return ""
	}
	if line <= 0 {
		return file
	}
	return file + ":" + strconv.Itoa(line)
}

// deref is a pointer's value, empty for nil.
func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
