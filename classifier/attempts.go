package classifier

import (
	"slices"

	"oomscan/parser"
)

// assignAttempts moves a kill that a batch scheduler or the kernel reports into the attempt in which the job's launcher saw a
// process die of SIGKILL. Schedulers and kernels write separate inputs, which have no attempts, so the kill would otherwise
// count for the first one.
func (j *job) assignAttempts() {
	byPID := map[string]attempts{} // of all processes under ""
	for _, e := range j.events {
		if e.Kind != parser.OOMKill || e.Role != parser.Suspicion || e.pattern.Scheduler != "" {
			continue
		}
		byPID[""] = byPID[""].with(e)
		if pid := e.fields["pid"]; pid != "" {
			byPID[pid] = byPID[pid].with(e)
		}
	}
	if len(byPID) == 0 {
		return
	}
	reported := map[*file]bool{} // inputs in which a scheduler or the kernel reports a kill
	for _, e := range j.events {
		if e.Kind == parser.OOMKill && e.Role == parser.Evidence && (e.pattern.Scheduler != "" || e.pattern.Program.Name == "kernel") {
			reported[e.file] = true
		}
	}
	for _, e := range j.events {
		if e.file.Attempt > 0 || !reported[e.file] {
			continue
		}
		pid, ok := "", e.pattern.Scheduler != ""
		if !ok && e.pattern.Program.Name == "kernel" && e.Kind == parser.OOMKill {
			pid = e.fields["pid"]
			ok = pid != ""
		}
		if attempt, one := byPID[pid].outside(e.file); ok && one {
			e.Attempt = attempt
		}
	}
}

// attempts are the attempts in which inputs saw processes die of SIGKILL, each once.
type attempts []run

func (s attempts) with(e *event) attempts {
	r := run{e.file, e.Attempt}
	if slices.Contains(s, r) {
		return s
	}
	return append(s, r)
}

// outside is the only attempt in the inputs other than f.
func (s attempts) outside(f *file) (attempt int, ok bool) {
	for _, r := range s {
		switch {
		case r.file == f || ok && r.attempt == attempt:
		case ok:
			return 0, false
		default:
			attempt, ok = r.attempt, true
		}
	}
	return attempt, ok
}
