package report

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"oomscan/parser/lazyre"
)

// This file has the commands that confirm a suspicion or find a missing figure.

// nextStep is the command that finds the missing figure when the first proposal names no setting, nil when it does or when the
// page already says how to confirm a suspicion.
func nextStep(r *Report, in *Incident) *check {
	if in.Verdict != "memory" || len(in.Remedies) == 0 || len(in.Proposals) > 0 && isTyped(&in.Proposals[0]) {
		return nil
	}
	on := "On " + cmp.Or(deref(in.Root.Host), "the node")
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
	framework, cuda := cmp.Or(deref(r.Run.Application), r.Run.Framework), !otherMakers.MatchString(in.Root.Message) && in.Root.Accelerator == nil
	switch {
	case cuda && in.Ledger != nil && in.Ledger.OtherProcesses != nil && *in.Ledger.OtherProcesses > 0:
		return &check{"nvidia-smi --query-compute-apps=pid,used_memory,name --format=csv", on + ", while it runs: which other processes hold GPU memory, and how much."}
	case in.Root.Needed != nil: // a compiler refused it, so nothing ran that could be measured
		return nil
	case in.Cause != nil && in.Cause.ID == "limit_too_small": // a limit holds no memory that a tool could show
		return nil
	case framework == "jax":
		return &check{`jax.profiler.save_device_memory_profile("memory.prof")`, "Right before the step that fails: pprof then shows which code holds the memory."}
	case cuda && (framework == "torch" || framework == "deepspeed"):
		return &check{"torch.cuda.memory._record_memory_history()", `At the start, and torch.cuda.memory._dump_snapshot("oom.pickle") where it fails. https://pytorch.org/memory_viz shows which lines of code hold the memory.`}
	case framework != "" && framework != "unknown" && len(r.Run.Config) == 0:
		return &check{onInputs(r, "oomscan --run-config run.yaml "+logs), "The log prints no settings. With the run's own YAML, the report names the setting to change and its next value."}
	case framework != "" && framework != "unknown":
		return &check{onInputs(r, "oomscan plan "+logs+" --set KEY=VALUE"), "What each phase needs with these settings, and whether a change would fit, before you start the job again."}
	case cuda:
		return &check{"nvidia-smi --query-gpu=timestamp,memory.used --format=csv --loop=1", on + ", until it fails: whether memory climbs step by step or jumps once."}
	}
	return nil
}

// logs stands for the inputs in a command.
const logs = "LOGS"

// onInputs puts the inputs' names into a command, where they are few and need no quotes.
func onInputs(r *Report, command string) string {
	const few, most = 3, 40
	var names []string
	for i := range r.Inputs {
		if plainName().MatchString(r.Inputs[i].Name) {
			names = append(names, r.Inputs[i].Name)
		}
	}
	all := strings.Join(names, " ")
	if len(names) == 0 || len(names) > few || len(names) < len(r.Inputs) || len(all) > most {
		return command
	}
	return strings.Replace(command, " "+logs, " "+all, 1)
}

// plainName is a path that a shell takes as it is.
var plainName = lazyre.New(`^[\w./][\w./+=@-]*$`)

// otherMakers are the devices that messages name where there is no CUDA.
var otherMakers = regexp.MustCompile(`\b(HIP|XPU|NPU|HPU|MPS|TPU|DirectML|OpenCL)\b`)

// isTyped reports whether a proposal names something to type.
func isTyped(x *Proposal) bool {
	return slices.ContainsFunc(x.Changes, func(c Change) bool { return c.Key != "" || c.Snippet != "" })
}

// check is a command that settles a suspicion, and how to read what it prints.
type check struct{ Command, Reading string }

// checks are the commands that settle a suspicion.
func checks(r *Report, in *Incident) []check {
	switch {
	case in.Resource == "shm":
		return []check{{"df -h /dev/shm", "In the container or on the node, while it runs: full, or only Docker's 64 MB, confirms it."}}
	case in.Resource == "gpu":
		return []check{{"nvidia-smi --loop=1", "On the node, until it fails: a GPU with almost nothing free confirms it."}}
	case in.Kind == "host_oom":
		return []check{{"free -g; ulimit -l", "On the node, while it runs: less available than it asks for confirms it."}}
	}
	where := cmp.Or(deref(in.Root.Host), "the node")
	what := "the job's process"
	if in.Root.PID != nil {
		what = "pid " + strconv.Itoa(*in.Root.PID)
	}
	kernel := check{"dmesg -T | grep -iE 'oom-kill|killed process'", "As root on " + where + ": a line about " + what + " confirms it."}
	job := check{"sacct -j " + jobID(r) + " --format=JobID,State,ExitCode,MaxRSS,ReqMem", "OUT_OF_MEMORY confirms it; TIMEOUT, CANCELLED or PREEMPTED refutes it."}
	switch launcher := deref(r.Run.Launcher); {
	case launcher == "k8s":
		return []check{{"kubectl describe pod POD", "OOMKilled, or an eviction for memory, confirms it."}, kernel}
	case launcher == "slurm" || r.Run.JobID != nil:
		return []check{job, kernel}
	}
	job.Reading = "Under Slurm: OUT_OF_MEMORY confirms it; TIMEOUT or CANCELLED refutes it."
	return []check{kernel, job}
}

// jobID is the job's id if it can be pasted into a shell, else a word in its place: it comes from a log.
func jobID(r *Report) string {
	id := deref(r.Run.JobID)
	if id == "" || len(id) > 40 || strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.+") != "" {
		return "JOBID"
	}
	return id
}
