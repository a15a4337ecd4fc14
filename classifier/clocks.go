package classifier

import (
	"time"

	"oomscan/parser"
	"oomscan/parser/envelope"
)

// A launcher starts all ranks of a job together, so their output covers the same minutes. An input whose writers' clocks are
// days apart was merged from several jobs.
const (
	// clockSlack is how far apart the clocks of one job's nodes may be: zones differ by 26 hours at most.
	clockSlack = 36 * time.Hour
	// silence is how long a rank of a running job may go without a stamped line while others print some.
	silence = 30 * 24 * time.Hour
	// maxClocks is the most labels per input whose clocks are kept.
	maxClocks = 4096
)

// moment is a stamp that a writer put on a line.
type moment struct {
	At   time.Time // the zero time: none
	Seen int       // how many stamped lines the input had until then
}

// noteStamp notes the stamp of a line for the launcher's label before it.
func (f *file) noteStamp(h *envelope.Header) {
	label := h.Launched()
	if label == "" || h.Time.IsZero() || h.Clock == "monotonic" || h.Clock == "clock" {
		return
	}
	f.Ticks++
	if after(f.Clocks[label].At, h.Time) > stampNoise {
		f.SetBack++
	}
	if _, ok := f.Clocks[label]; ok || len(f.Clocks) < maxClocks {
		f.Clocks[label] = moment{h.Time, f.Ticks}
	}
}

// resolveTime stamps an event with the time in its own message, as Slurm prints it for a cancelled step.
func resolveTime(o *parser.Event) {
	if !o.Header.Time.IsZero() || o.Kind != parser.JobCancelled {
		return
	}
	if t, err := time.Parse("2006-01-02T15:04:05", o.Fields["time"]); err == nil {
		o.Header.Time, o.Header.Clock = t, "local"
	}
}

// otherDays reports whether the clocks of two labels show that their events are from different jobs: when one was over, the
// other's writer was days away. Where the end of the earlier one is unknown, a month between the last
// stamps before them proves the same, unless both went through the same code.
func otherDays(a, b *event) bool {
	if a.file != b.file || a.Attempt != b.Attempt || a.Header.Launched() == b.Header.Launched() {
		return false
	}
	since, until := a.span()
	from, to := b.span()
	if after(from, until) > clockSlack || after(since, to) > clockSlack {
		return true
	}
	gap := after(from, since)
	silent := gap > silence && until.IsZero() || -gap > silence && to.IsZero()
	return silent && !sharesCode(a, b)
}

// span returns the times between which an event happened, by its writer's own stamps; zero is unknown.
func (e *event) span() (since, until time.Time) {
	if t := e.Header.Time; !t.IsZero() && e.Header.Clock != "monotonic" && e.Header.Clock != "clock" {
		return t, t
	}
	if last := e.file.Clocks[e.Header.Launched()]; last.Seen > e.Since.Seen {
		until = last.At
	}
	return e.Since.At, until
}

// after returns how much later a is than b, or 0 if either is unknown. Where one has no year, they are taken to be less
// than half a year apart.
func after(a, b time.Time) time.Duration {
	if a.IsZero() || b.IsZero() {
		return 0
	}
	if a.Year() != 0 && b.Year() != 0 {
		return a.Sub(b)
	}
	const year = 365 * 24 * time.Hour
	d := yearless(a).Sub(yearless(b))
	switch {
	case d > year/2:
		d -= year
	case d < -year/2:
		d += year
	}
	return d
}

// dated returns the date of an event, or of the last line before it that has one; zero if the file has none.
func (e *event) dated() time.Time {
	const first = 2010
	if e.Clock == "monotonic" || e.When.Year() < first {
		return time.Time{}
	}
	return e.When
}

// yearless moves a time into a leap year.
func yearless(t time.Time) time.Time {
	return time.Date(2000, t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

// sharesCode reports whether the tracebacks of two failures share code outside installed libraries.
func sharesCode(a, b *event) bool {
	other := ownCode(b.Trace)
	for f := range ownCode(a.Trace) {
		if other[f] {
			return true
		}
	}
	return false
}
