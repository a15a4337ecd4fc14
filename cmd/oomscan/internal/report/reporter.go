package report

import "io"

// Formats returns what makes the reports of each format, by the words of --format.
func Formats() map[string]func(Output) Reporter {
	return map[string]func(Output) Reporter{
		"text": NewText, "json": NewJSON, "ndjson": NewNDJSON, "html": NewHTML, "markdown": NewMarkdown, "sarif": NewSARIF, "junit": NewJUnit, "prom": NewProm,
	}
}

// Reporter writes the answer to one call in one format. Begin comes first, then Job once for each job in order, then End.
// A new format is a Reporter in a file of its own, with a test beside it, and an entry in [Formats]. Texts of a report may hold anything
// that a log held: the Reporter makes them safe for its format, as junit.go does with printableText.
type Reporter interface {
	// Begin hands over what is known before the first job. The caller goes on filling the answer in until End.
	Begin(a *Answer) error
	Job(j *Job) error
	End() error
}

// Live is a [Reporter] that can write incidents before Begin, while the logs are still being read. After that,
// [Answer.Live] is set.
type Live interface {
	Reporter
	// Incident writes an incident that was not reported before.
	Incident(r *Report, in *Incident) error
	// Update writes what is new about an incident since it was reported, and says whether there was anything to write.
	Update(r *Report, in *Incident, before Snapshot) (bool, error)
}

// Output is where a reporter writes, and how text is laid out there.
type Output struct {
	Writer io.Writer
	Style  Style
}

// Answer is what is known about all jobs together.
type Answer struct {
	Version string
	Several bool // there is more than one job
	Live    bool // all incidents were reported while the logs were read
	Partial bool // see [Report]

	Inputs    int     // logs that were read
	Truncated int     // lines that were too long to be read whole
	Stats     Stats   // of all inputs; the duration is known at the end
	Shared    []Input // logs beside several jobs
	Failed    []Input // those with an error
	Odd       []Input // those that were not read as a whole: the failed ones, and those with lines that are too long

	// What follows is known at the end, and only of several jobs.
	Briefs  []Brief
	Summary Summary
	Total   int                   // jobs that were found, of which Briefs may be a choice
	Sort    string                // of the table, a word of Sorts; empty: priority
	All     bool                  // the table has every job
	Again   string                // the command line that shows one of the jobs, NAME in the place of its name
	Pages   map[string]string     // files with the jobs' reports, beside this one; nil: the reports are in this one
	Remake  func(name string) Job // makes the report of a job again: only one report is kept at a time
}

// Job is one of the jobs with its report.
type Job struct {
	Name   string // among several; empty: it is the only one
	Why    string // what keeps its logs together
	Shared bool   // it is no job but what is left of a log beside several
	Report *Report
}

// Snapshot is what was reported of an incident: enough to say later what is new.
type Snapshot struct {
	Verdict  string
	Survived bool
	Repeats  int
	Followed map[string]int // consequences by kind
	Answer   []Fact
}

// Fact is a part of an incident's answer in words.
type Fact struct{ Label, Text string }

// Snapshot returns what an incident tells now.
func (in *Incident) Snapshot() Snapshot {
	s := Snapshot{Verdict: in.Verdict, Survived: in.Survived, Repeats: in.Repeats, Followed: map[string]int{}, Answer: in.answer()}
	for _, k := range groups(in.Consequences) {
		s.Followed[k.first.Kind] = k.count
	}
	return s
}
