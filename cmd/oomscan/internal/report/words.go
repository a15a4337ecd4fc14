package report

// The files words*.go have all the words of a report: headings and labels here, sentences with a run's figures in the others.
// The rest of the package does the layout; a test looks for sentences there.

// Headings and labels.
const (
	wordWhy         = "WHY"
	wordConfirm     = "CONFIRM FIRST"
	wordTry         = "TRY THIS FIRST"
	wordTrySuspect  = "IF IT WAS MEMORY, TRY THIS FIRST"
	wordTrySurvived = "TO AVOID IT NEXT TIME"
	wordInstead     = "OR INSTEAD"
	wordHolders     = "WHO HELD IT"
	wordEvidence    = "EVIDENCE"
	wordChecklist   = "CHECKLIST"
	wordBudget      = "WHERE THE MEMORY SHOULD BE"
	wordFindings    = "FIGURES"
	wordRivals      = "WHAT ELSE IT COULD BE"
	wordTrace       = "TRACEBACK"
	wordLog         = "IN THE LOG"

	labelPhase         = "phase: "
	labelAfter         = "afterwards"
	labelBefore        = "before it"
	labelConfidence    = " confidence"
	labelRun           = "run"
	labelMissing       = "not in the log"
	labelFigures       = "figures disagree"
	labelRuledOut      = "ruled out"
	wordInnermost      = ", innermost last"
	wordCosts          = "Costs: "
	wordFirst          = "Note: "
	wordNext           = "Next: "
	wordByDefault      = " by default"
	wordRecent         = " in recent versions"
	wordRecentDefault  = "# not in the log; recent default: "
	wordDefault        = "# not in the log; default: "
	wordWas            = "# was "
	wordNow            = "now "
	wordProcess        = "process"
	wordProcesses      = "processes"
	wordHost           = "host RAM"
	wordRest           = "rest of this process"
	wordOutside        = "outside PyTorch"
	wordThisProcess    = "this process"
	wordKilledProcess  = "the killed process"
	wordOtherProcesses = "other processes"
	wordInUse          = "in use, the log does not say by whom"
	wordInUseShort     = "in use"
	wordShm            = "/dev/shm"
	wordPageCache      = "page cache"
	wordKernel         = "other"
	wordNotListed      = "not listed"
	wordOthersOrFree   = "others or free"
	wordOthers         = "others"
	wordNotGPU         = "This is not GPU memory."
	wordNotProven      = "The log does not prove that memory ran out."
	wordOvershot       = "The request alone is larger than the whole card."
	wordKilled         = "killed"
	wordNotShown       = "The log does not show what"
	wordNotWhy         = "the log does not show why"
	wordNoFix          = "NO SINGLE FIX FOUND"
	wordNotSetNow      = ", not set now"
	wordWasUnset       = "# was not set"
	wordStarred        = "try first"
	wordOther          = "or instead"
	wordNotHere        = "Not applicable:"
	wordInFull         = " (--full)"
	wordFullLength     = "full length"
	wordNoProposal     = "Work through the checklist below, from the top."
	wordCut            = "Cut here: an issue holds no more. The HTML report has everything."
	wordEvidenceFolded = "Evidence"
	wordAlso           = "Also possible: "
)

// The badges say whether memory is known to have run out, and whether that ended the run.
const (
	badgeWordMemory   = "OUT OF MEMORY"
	badgeWordSurvived = "SURVIVED"
	badgeWordSuspect  = "SUSPECTED"
	badgeWordOther    = "NOT MEMORY"
)

// sureness qualifies a cause by its confidence.
var sureness = map[string]string{"medium": "Probably: ", "low": "Perhaps: "}

// subjects say what ran out, by kind; a place and a phase follow. For suspects they say what happened and what that may mean.
var subjects = map[string]string{
	"gpu_oom": "GPU memory", "gpu_driver_oom": "GPU memory", "kv_cache": "no room for the KV cache", "nccl_oom": "NCCL could not allocate GPU memory",
	"host_oom": "host RAM", "oom_kill": "host RAM", "shm_exhausted": "/dev/shm is full", "nccl_failure": "an NCCL call failed",
	"illegal_access": "illegal memory access: usually a bug in GPU code, not a lack of memory", "process_exit": "a process exited",
}

var suspects = map[string]struct{ subject, meaning string }{
	"oom_kill":       {"process killed, perhaps out of RAM", "It got SIGKILL, which a time limit, scancel or preemption also sends."},
	"host_oom":       {"an allocation of host memory failed", "A limit on locked memory (ulimit -l) also causes that."},
	"gpu_oom":        {"a GPU operation failed, perhaps for lack of GPU memory", "Other errors print the same message."},
	"gpu_driver_oom": {"a GPU operation failed, perhaps for lack of GPU memory", "Other errors print the same message."},
	"shm_exhausted":  {"a process died of a bus error, perhaps because /dev/shm was full", "It got SIGBUS, and the log gives no reason."},
	"nccl_failure":   {"an NCCL call failed", "It failed or timed out; nothing shows that memory ran out."},
}

// phaseWords say when, after what ran out.
var phaseWords = map[string]string{
	"init": "at start-up", "rollout": "during generation", "logprob": "in the log-prob pass", "forward": "in the forward pass",
	"backward": "in the backward pass", "optimizer": "in the optimizer step", "training": "in a training step",
	"weight_update": "during the weight update", "nccl": "in a collective", "checkpoint": "while saving or loading a checkpoint",
	"data": "during data loading",
}

// consequenceWords name what followed.
var consequenceWords = map[string]string{
	"gpu_oom": "out of GPU memory", "gpu_driver_oom": "out of GPU memory", "kv_cache": "no room for the KV cache",
	"nccl_oom": "NCCL out of memory", "nccl_failure": "NCCL error", "host_oom": "host allocation failed",
	"oom_kill": "a process was killed", "shm_exhausted": "/dev/shm full", "illegal_access": "illegal memory access", "process_exit": "a process exited",
	"job_cancelled": "job cancelled", "exception": "an exception", "restart": "workers restarted", "recovered": "recovered", "pressure": "low memory",
	sameKill: "same kill reported",
}

// manyFollowed name what followed more than once, where that is more than the same word with a number. Several lines may be
// about one process.
var manyFollowed = map[string]string{"oom_kill": "kills logged %s times", "process_exit": "process exits logged %s times", "exception": "exceptions logged %s times"}

// killers name who kills for memory; see classifier.Kill.
var killers = map[string]string{
	"kernel": "The kernel's OOM killer", "ray": "Ray's memory monitor", "kubelet": "The kubelet", "systemd-oomd": "systemd-oomd", "earlyoom": "earlyoom",
	"slurm": "Slurm's memory accounting",
	"pbs":   "PBS", "lsf": "LSF", "sge": "Grid Engine", "condor": "HTCondor",
}

// partWords name the parts of a memory bar.
var partWords = map[ink]string{
	partAllocated: "tensors", partReserved: "reserved but unused", partProcess: "CUDA and NCCL", partOthers: "other processes", partFree: "free",
	partUnknown: "unaccounted for",
}

// steps are shorter words for the usual steps of a value that the log does not show.
var steps = map[string]string{"to half of what it is now": "halve it", "to twice what it is now": "double it", "to twice what it is now, 2 where it is not set": "double it, or set it to 2 where it is not set", "to a quarter of what it is now": "lower it to a quarter"}

// keyWords name what a change without a setting is about, by its key.
var keyWords = map[string]string{"memory": "the node's RAM"}

// verbs say in which direction a setting goes.
var verbs = map[string]string{"up": "raise it", "down": "lower it", "set": "set it"}

// Names in reports for CI servers.
const (
	wordOnlyJob    = "job"
	wordNoIncident = "no incident"
)

// promHelp says what each counter counts.
var promHelp = map[string]string{
	"oomscan_incidents_total":     "Incidents that the logs show.",
	"oomscan_jobs_total":          "Jobs whose logs were read.",
	"oomscan_inputs_total":        "Logs that were read.",
	"oomscan_unread_inputs_total": "Logs that could not be read to their end.",
	"oomscan_read_bytes_total":    "Bytes of logs that were read.",
}
