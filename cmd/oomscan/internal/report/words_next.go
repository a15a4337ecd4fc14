package report

import (
	"cmp"
	"regexp"
)

// This file has the words for what to find out next where no change can be typed in.

// nextStep is the command that finds the missing figure when the first proposal names no setting, nil when it does or when the
// page already says how to confirm a suspicion.
func nextStep(r *Report, in *Incident) *check {
	if in.Verdict != "memory" || len(in.Remedies) == 0 || len(in.Proposals) > 0 && isTyped(&in.Proposals[0]) {
		return nil
	}
	on := "On the node"
	if h := deref(in.Root.Host); h != "" {
		on = "On " + h
	}
	switch in.Resource {
	case "gpu":
		return nextOnGPU(r, in, on)
	case "shm":
		return &check{"df -h /dev/shm", "In the job's container or on its node, while it runs: its size, and how full it gets."}
	}
	switch deref(r.Run.Launcher) {
	case "k8s":
		return &check{"kubectl top pod POD --containers", "While it runs: what each container uses. Size the memory request and limit by the highest figure."}
	case "slurm":
		return &check{
			"sacct -j " + jobID(r) + " --format=JobID,State,MaxRSS,MaxRSSNode,ReqMem",
			"The highest use of any task, and on which node. Compare it with what the job asked for.",
		}
	}
	return &check{"ps -eo pid,rss,args --sort=-rss | head", on + ", while it runs: which processes hold the memory (RSS in KiB), and which of them grow."}
}

// nextOnGPU finds out who holds the card: other processes, the settings that the log does not print, or lines of code. Its tools
// for CUDA are of no use on other makers' devices.
func nextOnGPU(r *Report, in *Incident, on string) *check {
	framework, cuda := cmp.Or(deref(r.Run.Application), r.Run.Framework), !otherMakers.MatchString(in.Root.Message)
	switch {
	case cuda && in.Ledger != nil && in.Ledger.OtherProcesses != nil && *in.Ledger.OtherProcesses > 0:
		return &check{"nvidia-smi --query-compute-apps=pid,used_memory,name --format=csv", on + ", while it runs: which other processes hold GPU memory, and how much."}
	case framework == "jax":
		return &check{`jax.profiler.save_device_memory_profile("memory.prof")`, "Right before the step that fails: pprof then shows which code holds the memory."}
	case cuda && (framework == "torch" || framework == "deepspeed"):
		return &check{"torch.cuda.memory._record_memory_history()", `At the start, and torch.cuda.memory._dump_snapshot("oom.pickle") where it fails. https://pytorch.org/memory_viz shows which lines of code hold the memory.`}
	case framework != "" && framework != "unknown" && len(r.Run.Config) == 0:
		return &check{"oomscan --run-config run.yaml LOGS", "The log prints no settings. With the run's own YAML, the report names the setting to change and its next value."}
	case framework != "" && framework != "unknown":
		return &check{"oomscan plan LOGS --set KEY=VALUE", "What each phase needs with these settings, and whether a change would fit, before you start the job again."}
	case cuda:
		return &check{"nvidia-smi --query-gpu=timestamp,memory.used --format=csv --loop=1", on + ", until it fails: whether memory climbs step by step or jumps once."}
	}
	return nil
}

// otherMakers are the devices that messages name where there is no CUDA.
var otherMakers = regexp.MustCompile(`\b(HIP|XPU|NPU|HPU|MPS|TPU|DirectML|OpenCL)\b`)

// isTyped reports whether a proposal names something to type.
func isTyped(x *Proposal) bool {
	for i := range x.Changes {
		if x.Changes[i].Key != "" || x.Changes[i].Snippet != "" {
			return true
		}
	}
	return false
}
