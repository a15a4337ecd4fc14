package report

import (
	"time"

	"oomscan/classifier"
)

// PhaseTrack is which phases one writer announced, in order.
type PhaseTrack struct {
	File    string        `json:"file"`
	Rank    *int          `json:"rank"`
	Host    *string       `json:"host"`
	Process *string       `json:"process"`
	Changes []PhaseChange `json:"changes"`
}

// PhaseChange is the beginning of a phase.
type PhaseChange struct {
	Phase *string    `json:"phase"`
	Line  int        `json:"line"`
	Time  *time.Time `json:"time"`
	Step  *int       `json:"step"`
}

// Readings are how one figure of memory went that a program printed again and again.
type Readings struct {
	Name     string    `json:"name"`
	Measure  string    `json:"measure"`
	Resource string    `json:"resource"`
	File     string    `json:"file"`
	Rank     *int      `json:"rank"`
	Host     *string   `json:"host"`
	Process  *string   `json:"process"`
	Device   *int      `json:"device"`
	Grows    bool      `json:"grows"`
	Points   []Reading `json:"points"`
}

// Reading is one of them.
type Reading struct {
	Line  int        `json:"line"`
	Time  *time.Time `json:"time"`
	Step  *int       `json:"step"`
	Bytes int64      `json:"bytes"`
}

func phaseTracks(tracks []classifier.Track) (out []PhaseTrack) {
	for i := range tracks {
		t := &tracks[i]
		x := PhaseTrack{File: t.Source, Rank: number(t.Rank), Host: str(t.Host), Process: str(t.Process)}
		for _, s := range t.Stages {
			x.Changes = append(x.Changes, PhaseChange{Phase: str(s.Phase), Line: s.Line, Time: stamp(s.Time), Step: number(s.Step)})
		}
		out = append(out, x)
	}
	return out
}

func readingsOf(series []classifier.Series) (out []Readings) {
	for i := range series {
		s := &series[i]
		x := Readings{
			Name: s.Name, Measure: s.Field, Resource: s.Resource, File: s.Source, Rank: number(s.Rank), Host: str(s.Host), Process: str(s.Process),
			Device: number(s.Device), Grows: s.Grows,
		}
		for _, p := range s.Points {
			x.Points = append(x.Points, Reading{Line: p.Line, Time: stamp(p.Time), Step: number(p.Step), Bytes: p.Bytes})
		}
		out = append(out, x)
	}
	return out
}

// number is a pointer to a number that is not negative, nil for an unknown one.
func number(n int) *int {
	if n < 0 {
		return nil
	}
	return &n
}
