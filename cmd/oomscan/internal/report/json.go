package report

import (
	"encoding/json"
	"io"
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
