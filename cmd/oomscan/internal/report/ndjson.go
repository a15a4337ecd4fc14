package report

import (
	"hash/fnv"
	"io"
	"reflect"

	"oomscan/parser/secret"
)

// NewNDJSON returns the reporter of one incident a line, each with the job it belongs to: its name among several, else
// the id that the log tells. A line with "update" takes the place of an earlier one of its id. Where not everything was
// read as a whole, a last line with "end" says so.
func NewNDJSON(o Output) Reporter { return &ndjson{out: o.Writer, sums: map[string]uint64{}} }

type ndjson struct {
	out    io.Writer
	answer *Answer
	sums   map[string]uint64 // of the lines that were written live, by the incidents' ids
}

// ndjsonIncident is the line of an incident.
type ndjsonIncident struct {
	Job *string `json:"job"`
	*Incident
	Update bool `json:"update"`
}

// ndjsonEnd is the last line, where not everything was read as a whole.
type ndjsonEnd struct {
	End     bool    `json:"end"`
	Partial bool    `json:"partial"`
	Inputs  []Input `json:"inputs"`
}

// Begin implements [Reporter].
func (n *ndjson) Begin(a *Answer) error { n.answer = a; return nil }

// Job implements [Reporter].
func (n *ndjson) Job(j *Job) error {
	if n.answer.Live {
		return nil
	}
	for i := range j.Report.Incidents {
		if err := incidentLine(n.out, j.Report, &j.Report.Incidents[i], false); err != nil {
			return err
		}
	}
	return nil
}

// End implements [Reporter].
func (n *ndjson) End() error {
	if !n.answer.Partial && len(n.answer.Odd) == 0 {
		return nil
	}
	odd := append([]Input{}, n.answer.Odd...)
	mask(reflect.ValueOf(&odd))
	return writeJSON(n.out, ndjsonEnd{true, n.answer.Partial, odd}, "")
}

// Incident implements [Live].
func (n *ndjson) Incident(r *Report, in *Incident) error {
	n.sums[in.ID] = sum(r, in)
	return incidentLine(n.out, r, in, false)
}

// Update implements [Live]. It writes the incident again if anything in it has changed.
func (n *ndjson) Update(r *Report, in *Incident, _ Snapshot) (bool, error) {
	s := sum(r, in)
	if s == n.sums[in.ID] {
		return false, nil
	}
	n.sums[in.ID] = s
	return true, incidentLine(n.out, r, in, true)
}

func sum(r *Report, in *Incident) uint64 {
	h := fnv.New64a()
	_ = incidentLine(h, r, in, false)
	return h.Sum64()
}

func incidentLine(w io.Writer, r *Report, in *Incident, update bool) error {
	job := r.Run.JobID
	if r.Job != "" {
		name := secret.Text(r.Job)
		job = &name
	}
	return writeJSON(w, ndjsonIncident{job, in, update}, "")
}
