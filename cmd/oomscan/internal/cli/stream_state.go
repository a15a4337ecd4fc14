package cli

import (
	"slices"
	"time"

	"oomscan/cmd/oomscan/internal/report"
)

// updateEvery is how often an incident that goes on growing is reported again, at most.
const updateEvery = 5 * time.Second

// streamState is what was reported of logs that are still being written.
type streamState struct {
	out       report.Live // nil: the format waits for the end
	all       []*reported
	places    map[report.At][]*reported // of their evidence; a line may be evidence of several
	updateDue time.Time                 // when the next update is due that came too early; zero: there is none
	round     int
}

// reported is an incident that was reported.
type reported struct {
	id     string    // of the first report: what is found out later may give the incident another root and id
	first  report.At // its root then
	before report.Snapshot
	at     time.Time
	round  int // in which it was last seen
}

func (s *streamState) any() bool { return len(s.all) > 0 }

// match finds the earlier report of an incident, nil when it is new. It is the one that shares evidence with the incident,
// whatever else is known by now; what was only suspected may turn out to be a consequence.
func (s *streamState) match(in *report.Incident) *reported {
	for _, at := range in.Reports {
		for _, x := range s.places[at] {
			if x.round != s.round {
				return x
			}
		}
	}
	for i := range in.Consequences {
		for _, x := range s.places[report.At{File: in.Consequences[i].File, Line: in.Consequences[i].Line}] {
			if x.round != s.round && x.before.Verdict == "suspect" {
				return x
			}
		}
	}
	return nil
}

// note remembers where the evidence of an incident is.
func (s *streamState) note(in *report.Incident, x *reported) {
	if s.places == nil {
		s.places = map[report.At][]*reported{}
	}
	for _, at := range in.Reports {
		if !slices.Contains(s.places[at], x) {
			s.places[at] = append(s.places[at], x)
		}
	}
}

// printNew writes the incidents that were not reported before, and what is new about the others. Unless all is set, an
// incident that was reported a moment ago waits.
func (s *streamState) printNew(r *report.Report, all bool) error {
	now := time.Now()
	s.round++
	for i := range r.Incidents {
		in := r.Incidents[i]
		x := s.match(&in)
		isNew := x == nil
		if isNew {
			x = &reported{id: in.ID, first: report.At{File: in.Root.File, Line: in.Root.Line}}
			s.all = append(s.all, x)
		}
		x.round = s.round
		s.note(&in, x)
		if due := x.at.Add(updateEvery); !isNew && !all && now.Before(due) {
			if s.updateDue.IsZero() || due.Before(s.updateDue) {
				s.updateDue = due
			}
			continue
		}
		before := x.before
		in.ID, in.First, x.before = x.id, x.first, in.Snapshot()
		wrote, err := true, error(nil)
		if isNew {
			err = s.out.Incident(r, &in)
		} else {
			wrote, err = s.out.Update(r, &in, before)
		}
		if err != nil {
			return err
		}
		if wrote {
			x.at = now
		}
	}
	return nil
}
