package report

import (
	"strconv"
	"strings"
)

// check is a command that settles a suspicion, and how to read what it prints.
type check struct{ command, reading string }

// writeConfirm says how to find out whether a suspicion is true: nothing in the log proves it.
func writeConfirm(p *page, r *Report, in *Incident) {
	if in.Verdict != "suspect" {
		return
	}
	p.heading("First confirm it", span{dim, ", the log does not prove that memory ran out"})
	for _, c := range checks(r, in) {
		p.para(block{indent: 4, hang: 6, full: true}, span{code, c.command})
		p.para(block{indent: 6, hang: 6, lines: 3}, span{plain, c.reading})
	}
}

func checks(r *Report, in *Incident) []check {
	switch {
	case in.Resource == "shm":
		return []check{{"df -h /dev/shm", "In the job's container or on its node, while it runs: full, or Docker's 64 MB, confirms it."}}
	case in.Resource == "gpu":
		return []check{{"nvidia-smi --loop=1", "On its node, until it fails: a card with next to nothing free confirms it."}}
	case in.Kind == "host_oom":
		return []check{{"free -g; ulimit -l", "On its node, while it runs: less available than was asked for, or a smaller limit of locked memory, confirms it."}}
	}
	var out []check
	if deref(r.Run.Launcher) == "k8s" {
		out = append(out, check{"kubectl describe pod POD", "Last State with reason OOMKilled, or an eviction for memory, confirms it."})
	} else {
		out = append(out, check{
			"sacct -j " + jobID(r) + " --format=JobID,State,ExitCode,MaxRSS,ReqMem",
			"OUT_OF_MEMORY, or MaxRSS close to ReqMem, confirms it. TIMEOUT, CANCELLED, PREEMPTED or NODE_FAIL explains the kill without it.",
		})
	}
	where := "On the node"
	if h := deref(in.Root.Host); h != "" {
		where = "On " + h
	}
	what := "the job's process"
	if in.Root.PID != nil {
		what = "pid " + strconv.Itoa(*in.Root.PID)
	}
	return append(out, check{
		"dmesg -T | grep -iE 'oom-kill|killed process'", where + ", as root: a line about " + what + " at that time confirms it.",
	})
}

// jobID is the job's id if it can be pasted into a shell, else a word in its place: it comes from a log.
func jobID(r *Report) string {
	id := deref(r.Run.JobID)
	if id == "" || len(id) > 40 || strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.+") != "" {
		return "JOBID"
	}
	return id
}
