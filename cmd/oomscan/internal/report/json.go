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

// NDJSON writes one incident on one line, with the job it belongs to.
func NDJSON(w io.Writer, r *Report, in *Incident) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(struct {
		Job *string `json:"job"`
		*Incident
	}{r.Run.JobID, in})
}
