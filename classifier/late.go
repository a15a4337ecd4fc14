package classifier

import "oomscan/parser"

// place puts what a batch scheduler says of a kill into the attempt in which the job's launcher saw a process die of
// SIGKILL. Schedulers write to an input of their own, which tells nothing of attempts; without the launcher's word the
// kill would be taken for the first attempt's.
func (j *job) place() {
	for _, f := range j.files {
		if f.attempt == 0 && counts(j.events, f) {
			if attempt, ok := j.shotIn(f); ok {
				for _, e := range j.events {
					if e.file == f && scheduler(e) != "" {
						e.attempt = attempt
					}
				}
			}
		}
	}
}

// counts says that an input holds a scheduler's word of a kill.
func counts(events []*event, f *file) bool {
	for _, e := range events {
		if e.file == f && e.Kind == parser.OOMKill && e.Role == parser.Evidence && scheduler(e) != "" {
			return true
		}
	}
	return false
}

// shotIn is the only attempt of the other inputs in which a process died of SIGKILL.
func (j *job) shotIn(f *file) (attempt int, ok bool) {
	for _, e := range j.events {
		killed := e.Kind == parser.OOMKill && e.Role == parser.Suspicion && scheduler(e) == ""
		if !killed || e.file == f || ok && e.attempt == attempt {
			continue
		}
		if ok {
			return 0, false
		}
		attempt, ok = e.attempt, true
	}
	return attempt, ok
}
