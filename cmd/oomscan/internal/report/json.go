package report

import (
	"encoding/json"
	"io"
	"reflect"
)

// JSON writes the report as one indented document.
func JSON(w io.Writer, r *Report) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
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
