package cli

import "time"

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
}

func newLive(j *scan) live { return live{scan: j, changed: map[*tailedLog]time.Time{}} }

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

// printNew writes the incidents of logs that were not reported, and what is new about the others.
func (l *live) printNew(results []logResult) error {
	if l.state.out == nil || l.options.quiet || len(results) == 0 {
		return nil
	}
	l.state.updateDue = time.Time{}
	for _, job := range l.group(results) {
		rep := l.scan.report(job.results, false)
		rep.Job = job.name
		if err := l.state.printNew(&rep, false); err != nil {
			return err
		}
	}
	return nil
}
