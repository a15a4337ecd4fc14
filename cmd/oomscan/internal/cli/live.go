package cli

import (
	"maps"
	"time"
)

// Times of reports on logs that are still being written.
const (
	idle  = 200 * time.Millisecond // a log is silent that long: what is known of it is reported
	late  = 700 * time.Millisecond // a log that goes on holds an incident back no longer
	share = 20                     // work that is repeated takes a twentieth of the time at most
)

// live reports on logs while they are written, the standard input or those that are followed.
type live struct {
	*scan
	changed  map[*tailedLog]time.Time // logs that were not silent yet, and when they were read
	since    time.Time                // when the first bytes came that were not reported on yet; zero: there are none
	last     time.Time                // when bytes came
	reported time.Time                // when the last report was made
	cost     time.Duration            // of the last report
	printed  map[string]printedJob    // by their names
}

// printedJob is a job as it was last reported.
type printedJob struct {
	logs map[string]int // their versions by their names
	due  time.Time      // when an update is due that came too early; zero: none is
}

func newLive(j *scan) live {
	return live{scan: j, changed: map[*tailedLog]time.Time{}, printed: map[string]printedJob{}}
}

// read notes that a log was read.
func (l *live) read(log *tailedLog) {
	l.last = time.Now()
	l.changed[log] = l.last
	if l.since.IsZero() {
		l.since = l.last
	}
}

// wait is how long until a report is due.
func (l *live) wait() time.Duration {
	at := l.state.updateDue
	if !l.since.IsZero() {
		at = l.last.Add(idle)
		if soon := l.since.Add(late); soon.Before(at) {
			at = soon
		}
		if rest := l.reported.Add(min(share*l.cost/4, updateEvery)); rest.After(at) {
			at = rest // many logs that write a lot
		}
	}
	if at.IsZero() {
		return time.Hour
	}
	return max(0, time.Until(at))
}

// report writes what logs tell by now and was not reported.
func (l *live) report(results func() []logResult) error {
	now := time.Now()
	if due := l.state.updateDue; l.since.IsZero() && (due.IsZero() || now.Before(due)) {
		return nil
	}
	l.since = time.Time{}
	for log, last := range l.changed {
		silent := now.Sub(last) >= idle
		log.settle(silent, log.events > 0)
		if silent {
			delete(l.changed, log)
		} else if l.since.IsZero() {
			l.since = now
		}
	}
	err := l.printNew(results())
	l.reported = time.Now()
	l.cost = l.reported.Sub(now)
	return err
}

// printNew writes the incidents of logs that were not reported, and what is new about the others. A job of which nothing new is known
// costs nothing.
func (l *live) printNew(results []logResult) error {
	if l.state.out == nil || l.options.quiet || len(results) == 0 {
		return nil
	}
	now := time.Now()
	var due time.Time // of all jobs
	for _, job := range l.group(results) {
		p, logs := l.printed[job.name], versions(job.results)
		if !maps.Equal(p.logs, logs) || !p.due.IsZero() && !now.Before(p.due) {
			rep := l.scan.report(job.results, false)
			rep.Job = job.name
			l.state.updateDue = time.Time{}
			if err := l.state.printNew(&rep, false); err != nil {
				return err
			}
			p = printedJob{logs, l.state.updateDue}
			l.printed[job.name] = p
		}
		if due.IsZero() || !p.due.IsZero() && p.due.Before(due) {
			due = p.due
		}
	}
	l.state.updateDue = due
	return nil
}

// versions are those of logs by their names.
func versions(results []logResult) map[string]int {
	out := make(map[string]int, len(results))
	for i := range results {
		out[results[i].input.Name] = results[i].version
	}
	return out
}
