package epilog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"oomscan/classifier"
	"oomscan/classifier/phase"
	"oomscan/cmd/oomscan/internal/report"
	"oomscan/parser"
)

// request is what the parent asks of the child.
type request struct {
	Job      Job
	Config   Config // without the parent's own settings
	Version  string
	Kernel   string // the kernel's log about this job
	Marks    []mark // of earlier runs
	MayGuess bool   // guess the log's name: scontrol was asked, or must not be
	Reporter bool   // report on the logs, not only on what this node alone can see
	Dry      bool   // write nothing, and return the report's text
	Width    int    // columns of that text; 0: as in a file
	Document bool   // return the report as JSON
	Stderr   string // the job's own log, if it is known; empty: find it
}

// Finding summarizes an incident in words from fixed vocabularies.
type Finding struct {
	Verdict   string `json:"verdict"`
	Kind      string `json:"kind"`
	Phase     string `json:"phase"`
	Framework string `json:"framework"`
	Survived  bool   `json:"survived"`
	Requested int64  `json:"requested"` // bytes; 0: unknown
	Free      int64  `json:"free"`      // also bytes; 0: unknown
	Rank      int    `json:"rank"`      // -1: unknown
}

// answer is the child's result. Because the child runs as the job's user, who may have forged it, see [readAnswer].
type answer struct {
	Findings      []Finding       `json:"findings"`
	Files         []string        `json:"files"` // that were read
	Bytes         int64           `json:"bytes"`
	NeedsScontrol bool            `json:"needs_scontrol"` // ask scontrol for the log's name
	Report        string          `json:"report"`         // the name of the file that was written
	Troubles      []string        `json:"troubles"`
	Marks         []mark          `json:"marks"`
	Text          string          `json:"text"`     // of a dry run
	Short         []string        `json:"short"`    // the short report
	Document      json.RawMessage `json:"document"` // if requested
}

// mark is how far a log was read. If a requeued job continues in the same file, its next run begins there.
type mark struct {
	Dev, Ino uint64
	Size     int64
	Last     []byte // the bytes before, to tell whether the file only grew
}

const lastLen = 128

// Limits of an answer.
const (
	maxAnswer   = 2 << 20
	maxFindings = 100
	maxTroubles = 20
	maxFiles    = 1000
	maxShort    = 4 // lines
)

// The only words that a finding may have: counters and comments are made of them.
var (
	kinds      = parser.Kinds()
	phases     = append(phase.Known(), phase.Unknown)
	frameworks = append(classifier.IDs(classifier.Framework), "unknown")
	verdicts   = []string{string(classifier.Memory), string(classifier.Suspect)}
)

// readAnswer reads what a child wrote, and keeps only what is well-formed.
func readAnswer(data []byte) (answer, error) {
	var a answer
	if len(data) > maxAnswer {
		return a, fmt.Errorf("an answer of %d bytes", len(data))
	}
	if err := json.Unmarshal(data, &a); err != nil {
		return answer{}, fmt.Errorf("no answer: %w", err)
	}
	a.Findings = slices.DeleteFunc(a.Findings[:min(len(a.Findings), maxFindings)], func(f Finding) bool {
		return !slices.Contains(verdicts, f.Verdict) || !slices.Contains(kinds, parser.Kind(f.Kind)) || !slices.Contains(phases, f.Phase) ||
			!slices.Contains(frameworks, f.Framework) || f.Requested < 0 || f.Free < 0 || f.Rank < -1
	})
	a.Files, a.Troubles = a.Files[:min(len(a.Files), maxFiles)], a.Troubles[:min(len(a.Troubles), maxTroubles)]
	for _, list := range [][]string{a.Files, a.Troubles} {
		for i := range list {
			list[i] = printable(list[i], 300)
		}
	}
	a.Report, a.Short = printable(a.Report, 300), a.Short[:min(len(a.Short), maxShort)]
	a.Marks = slices.DeleteFunc(a.Marks[:min(len(a.Marks), 4)], func(m mark) bool { return m.Size < 0 || len(m.Last) > lastLen })
	if a.Document != nil {
		var r report.Report
		err := json.Unmarshal(a.Document, &r)
		if a.Document = nil; err == nil && r.Schema == report.Schema {
			a.Document, _ = json.MarshalIndent(r, "", "  ") // only fields of a report
		}
	}
	return a, nil
}

// findings returns the incidents worth reporting.
func findings(r *report.Report, suspects bool) []Finding {
	var out []Finding
	for i := range r.Incidents {
		in := &r.Incidents[i]
		if in.Verdict != string(classifier.Memory) && (!suspects || in.Verdict != string(classifier.Suspect)) {
			continue
		}
		f := Finding{Verdict: in.Verdict, Kind: in.Kind, Phase: in.Phase, Framework: r.Run.Framework, Survived: in.Survived, Rank: -1}
		if in.Root.Request != nil && in.Root.Free != nil {
			f.Requested, f.Free = *in.Root.Request, *in.Root.Free
		}
		if in.Root.Rank != nil {
			f.Rank = *in.Root.Rank
		}
		out = append(out, f)
	}
	return out
}

// hasProof reports whether any finding is proven.
func hasProof(list []Finding) bool {
	return slices.ContainsFunc(list, func(f Finding) bool { return f.Verdict == string(classifier.Memory) })
}

// String returns a finding in one line of letters, digits and simple signs.
func (f Finding) String() string {
	var b strings.Builder
	if f.Verdict != string(classifier.Memory) {
		b.WriteString("suspected ")
	}
	b.WriteString(f.Kind)
	if f.Phase != "unknown" {
		b.WriteString(" in " + f.Phase)
	}
	if f.Framework != "unknown" {
		b.WriteString(" (" + f.Framework + ")")
	}
	if f.Rank >= 0 {
		fmt.Fprintf(&b, " on rank %d", f.Rank)
	}
	if f.Requested > 0 {
		fmt.Fprintf(&b, " - tried to allocate %s - %s free", classifier.GiB(f.Requested), classifier.GiB(f.Free))
	}
	if f.Survived {
		b.WriteString(" - survived")
	}
	return b.String()
}

// summary returns the first finding and the number of others.
func summary(list []Finding) string {
	if len(list) == 0 {
		return ""
	}
	if len(list) == 1 {
		return list[0].String()
	}
	return fmt.Sprintf("%s - and %d more", list[0], len(list)-1)
}

// footer returns what follows the report in a file: the job, and what was not read.
func footer(j *Job, notes []string, now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  job       %d, ended on %s at %s", j.ID, cmp.Or(j.Node, "its node"), now.Format(time.RFC3339))
	switch {
	case j.OutOfMemory():
		b.WriteString("; Slurm says out of memory")
	case j.Failed():
		fmt.Fprintf(&b, "; exit code %s, of the worst step %s", status(j.ExitCode), status(j.DerivedEC))
	}
	b.WriteByte('\n')
	for i, n := range notes {
		label := "          "
		if i == 0 {
			label = "note      "
		}
		b.WriteString("  " + label + printable(n, 400) + "\n")
	}
	return b.String()
}
