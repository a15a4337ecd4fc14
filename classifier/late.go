package classifier

import (
	"strings"

	"oomscan/parser"
)

// place puts what a batch scheduler or the kernel says of a kill into the attempt in which the job's launcher saw a
// process die of SIGKILL. Both write to an input of their own, which tells nothing of attempts; without the launcher's
// word the kill would be taken for the first attempt's.
func (j *job) place() {
	for _, f := range j.files {
		if f.attempt > 0 || !counts(j.events, f) {
			continue
		}
		attempt, one := j.shotIn(f, "")
		for _, e := range j.events {
			switch {
			case e.file != f:
			case scheduler(e) != "" && one:
				e.attempt = attempt
			case strings.HasPrefix(e.Pattern, "kernel.") && e.Kind == parser.OOMKill && e.fields["pid"] != "":
				if n, ok := j.shotIn(f, e.fields["pid"]); ok {
					e.attempt = n
				}
			}
		}
	}
}

// counts says that an input holds the word of a scheduler or of the kernel about a kill.
func counts(events []*event, f *file) bool {
	for _, e := range events {
		if e.file == f && e.Kind == parser.OOMKill && e.Role == parser.Evidence && (scheduler(e) != "" || strings.HasPrefix(e.Pattern, "kernel.")) {
			return true
		}
	}
	return false
}

// shotIn is the only attempt of the other inputs in which a process died of SIGKILL, the one with that pid where it is
// told.
func (j *job) shotIn(f *file, pid string) (attempt int, ok bool) {
	for _, e := range j.events {
		killed := e.Kind == parser.OOMKill && e.Role == parser.Suspicion && scheduler(e) == ""
		if !killed || e.file == f || pid != "" && e.fields["pid"] != pid || ok && e.attempt == attempt {
			continue
		}
		if ok {
			return 0, false
		}
		attempt, ok = e.attempt, true
	}
	return attempt, ok
}
