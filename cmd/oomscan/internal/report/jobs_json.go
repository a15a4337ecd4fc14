package report

import (
	"io"

	"oomscan/parser/secret"
)

// JobsJSON writes the document of several jobs piece by piece: no more than one job's report is needed at a time. Call
// Job for each job, then Shared for each log that is beside several and has incidents, then Close.
//
//	{"schema", "version", "inputs", "jobs": [{"job", "together_by", ... the document of one job}], "unattributed": [...],
//	 "summary", "partial", "stats"}
//
// inputs are those that are no job's alone: logs of nodes, and what could not be read.
type JobsJSON struct {
	w     io.Writer
	err   error
	count int  // in the list that is open
	list  bool // unattributed is open
}

// NewJobsJSON begins the document.
func NewJobsJSON(w io.Writer, version string, inputs []Input) *JobsJSON {
	if inputs == nil {
		inputs = []Input{}
	}
	j := &JobsJSON{w: w}
	j.write("{\n  \"schema\": ", Schema, "  ")
	j.write(",\n  \"version\": ", version, "  ")
	j.write(",\n  \"inputs\": ", inputs, "  ")
	j.raw(",\n  \"jobs\": [")
	return j
}

// Job writes the next job: its name, what keeps its logs together, and its report.
func (j *JobsJSON) Job(name, why string, r *Report) error {
	j.entry(name, why, r)
	return j.err
}

// Shared writes what is left of a log that is beside several jobs.
func (j *JobsJSON) Shared(name, why string, r *Report) error {
	j.unattributed()
	j.entry(name, why, r)
	return j.err
}

// Close ends the document.
func (j *JobsJSON) Close(s *Summary, partial bool, stats Stats) error {
	j.unattributed()
	j.end()
	j.write(",\n  \"summary\": ", s, "  ")
	j.write(",\n  \"partial\": ", partial, "  ")
	j.write(",\n  \"stats\": ", stats, "  ")
	j.raw("\n}\n")
	return j.err
}

func (j *JobsJSON) unattributed() {
	if !j.list {
		j.end()
		j.raw(",\n  \"unattributed\": [")
		j.list, j.count = true, 0
	}
}

func (j *JobsJSON) end() {
	if j.count > 0 {
		j.raw("\n  ")
	}
	j.raw("]")
}

func (j *JobsJSON) entry(name, why string, r *Report) {
	lead := "\n    "
	if j.count > 0 {
		lead = ",\n    "
	}
	j.count++
	j.write(lead, struct {
		Job string `json:"job"`
		Why string `json:"together_by"`
		*Report
	}{secret.Text(name), why, r}, "    ")
}

func (j *JobsJSON) raw(s string) {
	if j.err == nil {
		_, j.err = io.WriteString(j.w, s)
	}
}

// write writes a value behind a lead, its further lines indented.
func (j *JobsJSON) write(lead string, v any, indent string) {
	j.raw(lead)
	if j.err != nil {
		return
	}
	l := newLayout(j.w, indent)
	if j.err = l.encode(v); j.err == nil {
		j.err = l.out.Flush()
	}
}
