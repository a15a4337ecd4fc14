package classifier

import (
	"slices"

	"oomscan/parser"
)

// assignAttempts puts what a batch scheduler or the kernel says of a kill into the attempt in which the job's launcher saw a
// process die of SIGKILL. Both write to an input of their own, which tells nothing of attempts; without the launcher's
// word the kill would be taken for the first attempt's.
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
	told := map[*file]bool{} // inputs with the word of a scheduler or of the kernel about a kill
	for _, e := range j.events {
		if e.Kind == parser.OOMKill && e.Role == parser.Evidence && (e.pattern.Scheduler != "" || e.pattern.Program.Name == "kernel") {
			told[e.file] = true
		}
	}
	for _, e := range j.events {
		if e.file.Attempt > 0 || !told[e.file] {
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

// outside is the only attempt that the inputs other than f tell of.
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
