package report

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
)

// JSON writes the report as one indented document.
func JSON(w io.Writer, r *Report) error {
	l := newLayout(w, "")
	if err := l.encode(r); err != nil {
		return err
	}
	_ = l.out.WriteByte('\n')
	return l.out.Flush()
}

// Incidents are those of one report. To find out how an [Incident] is written takes longer than to read a short log, and so
// it is found out when there is one.
type Incidents []Incident

// MarshalJSON writes the list.
func (all Incidents) MarshalJSON() ([]byte, error) {
	if len(all) == 0 {
		return []byte("[]"), nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode([]Incident(all))
	return b.Bytes(), err
}

// NDJSON writes one incident on one line, with the job it belongs to: its name among several, else the id that the log
// tells. update says that a line with the same id was written before, which this one takes the place of.
func NDJSON(w io.Writer, r *Report, in *Incident, update bool) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	job := r.Run.JobID
	if r.Job != "" {
		job = &r.Job
	}
	return enc.Encode(struct {
		Job *string `json:"job"`
		*Incident
		Update bool `json:"update"`
	}{job, in, update})
}

// NDJSONEnd writes the line below all incidents: the inputs that were not read as a whole, for an error or for lines that
// are too long, and whether the scan was interrupted. It writes nothing when there is none of that.
func NDJSONEnd(w io.Writer, partial bool, inputs []Input) error {
	odd := []Input{}
	for _, in := range inputs {
		if in.Error != nil || in.Truncated > 0 {
			odd = append(odd, in)
		}
	}
	if !partial && len(odd) == 0 {
		return nil
	}
	mask(reflect.ValueOf(&odd))
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(struct {
		End     bool    `json:"end"`
		Partial bool    `json:"partial"`
		Inputs  []Input `json:"inputs"`
	}{true, partial, odd})
}
