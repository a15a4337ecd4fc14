// Package report renders what a scan found. A [Report] holds plain values; each renderer takes one and an io.Writer
// and knows nothing of scanning. The JSON form is the program's public contract (schema oomscan.report/v1): its keys
// are always present, null or [] when empty.
package report

import (
	"reflect"
	"slices"
	"time"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/parser/traceback"
	"oomscan/remedies"
	"oomscan/remedies/memory"
)

// Schema names the JSON contract.
const Schema = "oomscan.report/v1"

// Report is one job's answer.
type Report struct {
	Schema    string     `json:"schema"`
	Version   string     `json:"version"`
	Inputs    []Input    `json:"inputs"`
	Run       Run        `json:"run"`
	Incidents []Incident `json:"incidents"`
	EndedBy   []Ending   `json:"ended_by"` // what else may have ended the job, where there are no incidents
	// Partial says that the user did not wait for the end: what was read by then is in the report.
	Partial bool   `json:"partial"`
	Stats   Stats  `json:"stats"`
	Job     string `json:"-"` // its name among several jobs; empty: it is the only one
}

// Ending is something that the log shows about the end of a job: information, no verdict.
type Ending struct {
	What string `json:"what"`
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// Input is one file, folder member or stream that was read.
type Input struct {
	Name string `json:"name"`
	parser.Counts
	Shortened int     `json:"shortened_messages,omitempty"` // of failures, or only counted: the job has more than are kept
	Error     *string `json:"error"`
}

// Run is what the log tells of the job.
type Run struct {
	Framework        string             `json:"framework"`
	Application      *string            `json:"application"`
	FrameworkVersion *string            `json:"framework_version"`
	Backend          *string            `json:"backend"`
	Engine           *string            `json:"engine"`
	Launcher         *string            `json:"launcher"`
	JobID            *string            `json:"job_id"`
	WorldSize        *int               `json:"world_size"`
	Nodes            *int               `json:"nodes"`
	GPUsPerNode      *int               `json:"gpus_per_node"`
	Model            Model              `json:"model"`
	Config           map[string]Setting `json:"config"`
	LastStep         *int               `json:"last_step"`
	Phases           []PhaseTrack       `json:"phases"`
	Readings         []Readings         `json:"readings"`
}

// Model is what the log tells of the model.
type Model struct {
	Name           *string `json:"name"`
	Parameters     *int64  `json:"parameters"`
	Trained        *int64  `json:"trained_parameters"`
	VocabSize      *int64  `json:"vocab_size"`
	HiddenSize     *int64  `json:"hidden_size"`
	Layers         *int64  `json:"layers"`
	AttentionHeads *int64  `json:"attention_heads"`
	DType          *string `json:"dtype"`
}

// Setting is a configuration value and where the log writes it.
type Setting struct {
	Value   string    `json:"value"`
	File    string    `json:"file"`
	Line    int       `json:"line"`
	Earlier []Earlier `json:"earlier"` // other values that stand before it
}

// Earlier is a value that a later one took the place of.
type Earlier struct {
	Value string `json:"value"`
	File  string `json:"file"`
	Line  int    `json:"line"`
}

// Incident is one root cause with what followed and what to do.
type Incident struct {
	ID           string         `json:"id"`
	Verdict      string         `json:"verdict"`
	Kind         string         `json:"kind"`
	Resource     string         `json:"resource"`
	Phase        string         `json:"phase"`
	Confidence   string         `json:"confidence"`
	Survived     bool           `json:"survived"`
	Summary      string         `json:"summary"`
	PhaseWhy     string         `json:"phase_why"`
	Evidence     []Evidence     `json:"evidence"`
	Root         Root           `json:"root"`
	Consequences []Consequence  `json:"consequences"`
	Repeats      int            `json:"repeats"`
	Shortfall    *int64         `json:"shortfall_bytes"`
	Ledger       *memory.Ledger `json:"ledger"`
	Findings     []string       `json:"findings"`
	Victims      []Victim       `json:"victims"`
	Cause        *Why           `json:"cause"`
	Rivals       []Why          `json:"rivals"`
	Proposals    []Proposal     `json:"proposals"`
	Checklist    string         `json:"checklist"`
	Remedies     []Remedy       `json:"remedies"`
	StartWith    []string       `json:"start_with"`
	Patch        []Patch        `json:"patch"`
	Budget       []BudgetPart   `json:"budget"`
	Unexplained  *int64         `json:"unexplained_bytes"`
	Reports      []At           `json:"-"` // where its evidence stands, in order of occurrence
	First        At             `json:"-"` // the root when the incident was first reported; empty: this is the first time
}

// Victim is a process that was killed for its memory.
type Victim struct {
	Time     *time.Time `json:"time"`
	Host     *string    `json:"host"`
	PID      *int       `json:"pid"`
	Name     *string    `json:"name"`
	Resident *int64     `json:"resident_bytes"`
	Cgroup   *string    `json:"cgroup"`
	File     string     `json:"file"`
	Line     int        `json:"line"`
}

// Why is the cause of an incident: why memory ran out, or what else may be why.
type Why struct {
	ID         string   `json:"id"`
	Confidence string   `json:"confidence"`
	Text       string   `json:"text"`
	Bytes      *int64   `json:"bytes"`
	For        []string `json:"for"`
	Against    []string `json:"against"`
}

// At is a line of an input.
type At struct {
	File string
	Line int
}

// Evidence is a line that a conclusion rests on.
type Evidence struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
	Why  string `json:"why"`
}

// Root is the first true evidence.
type Root struct {
	File     string     `json:"file"`
	Line     int        `json:"line"`
	Offset   int64      `json:"offset"`
	Time     *time.Time `json:"time"`
	Day      string     `json:"-"` // a time without a year, as the log writes it
	Host     *string    `json:"host"`
	Rank     *int       `json:"rank"`
	Device   *int       `json:"device"`
	PID      *int       `json:"pid"`
	Process  *string    `json:"process"`
	Message  string     `json:"message"`
	Request  *int64     `json:"requested_bytes"`
	Total    *int64     `json:"total_bytes"`
	Free     *int64     `json:"free_bytes"`
	Alloc    *int64     `json:"allocated_bytes"`
	Reserved *int64     `json:"reserved_unallocated_bytes"`
	OwnBytes *int64     `json:"process_bytes"`
	Others   *int64     `json:"other_process_bytes"`
	Limit    *int64     `json:"limit_bytes"`
	KilledBy *string    `json:"killed_by"` // kernel, ray, kubelet ...: who killed the process for its memory
	LimitOf  *string    `json:"limit_of"`  // job, container, group or node: whose memory was full
	// Accelerator is what the devices are called where they are no GPUs: TPU, NPU, HPU.
	Accelerator *string `json:"accelerator"`
	Needed      *int64  `json:"needed_bytes"`     // by the whole program, as its compiler computes it
	NodeUsed    *int64  `json:"node_used_bytes"`  // at the last reading before a host's memory ran out
	NodeTotal   *int64  `json:"node_total_bytes"` // of that reading
	Used        *int64  `json:"used_bytes"`       // of what Limit bounds, when memory ran out
	Trace       []Frame `json:"traceback"`
}

// Frame is one entry of the root's traceback, outermost first.
type Frame struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Function string `json:"function"`
}

// Consequence is a failure that followed.
type Consequence struct {
	Kind    string     `json:"kind"`
	File    string     `json:"file"`
	Line    int        `json:"line"`
	Rank    *int       `json:"rank"`
	Host    *string    `json:"host"`
	Time    *time.Time `json:"time"`
	Message string     `json:"message"`
	Count   int        `json:"count"`
}

// What package remedies says is encoded as it is.
type (
	Proposal   = remedies.Proposal
	Remedy     = remedies.Remedy
	Change     = remedies.Change
	Patch      = remedies.Patch
	BudgetPart = remedies.BudgetPart
	Source     = remedies.Source
)

// Stats says what the answer cost.
type Stats struct {
	Bytes      int64 `json:"bytes"`
	Lines      int   `json:"lines"`
	DurationMS int64 `json:"duration_ms"`
}

// New joins a classification with its remedies; guides are the user's own. It masks the secrets in every string: no renderer can
// show one.
func New(version string, inputs []Input, res classifier.Result, guides ...remedies.Guide) Report {
	r := Report{Schema: Schema, Version: version, Inputs: slices.Clone(inputs), Run: run(res.Run)}
	for _, at := range res.Quoted {
		if i := slices.IndexFunc(r.Inputs, func(in Input) bool { return in.Name == at.Source }); i >= 0 {
			r.Inputs[i].Quoted++
		}
	}
	for _, in := range inputs {
		r.Stats.Bytes += in.Bytes
		r.Stats.Lines += in.Lines
	}
	r.Incidents = make([]Incident, len(res.Incidents))
	lists := remedies.ForAll(&res.Run, res.Incidents, guides...)
	for i := range res.Incidents {
		r.Incidents[i] = incident(&res.Run, &res.Incidents[i], &lists[i])
	}
	for _, e := range res.EndedBy {
		r.EndedBy = append(r.EndedBy, Ending{What: e.What, File: e.At.Source, Line: e.At.Line, Text: e.Text})
	}
	r = withoutNil(r)
	mask(reflect.ValueOf(&r))
	return r
}

// Memory reports whether any incident has verdict memory.
func (r *Report) Memory() bool {
	return slices.ContainsFunc(r.Incidents, func(in Incident) bool { return in.Verdict == string(classifier.Memory) })
}

func run(c classifier.Run) Run {
	r := Run{
		Framework: c.Framework, Application: str(c.Application), FrameworkVersion: str(c.FrameworkVersion), Backend: str(c.Backend), Engine: str(c.Engine),
		Launcher: str(c.Launcher), JobID: str(c.JobID), WorldSize: c.WorldSize, Nodes: c.Nodes, GPUsPerNode: c.GPUsPerNode,
		Model: Model{
			Name: str(c.Model.Name), Parameters: c.Model.Parameters, Trained: c.Model.Trained, VocabSize: c.Model.VocabSize, HiddenSize: c.Model.HiddenSize,
			Layers: c.Model.Layers, AttentionHeads: c.Model.AttentionHeads, DType: str(c.Model.DType),
		},
		Config: make(map[string]Setting, len(c.Config)), LastStep: c.LastStep,
		Phases: phaseTracks(c.Tracks), Readings: readingsOf(c.Series),
	}
	for k, v := range c.Config {
		s := Setting{Value: v.Value, File: v.At.Source, Line: v.At.Line}
		for _, e := range v.Earlier {
			s.Earlier = append(s.Earlier, Earlier{Value: e.Value, File: e.At.Source, Line: e.At.Line})
		}
		r.Config[k] = s
	}
	return r
}

func incident(run *classifier.Run, c *classifier.Incident, list *remedies.Checklist) Incident {
	in := Incident{
		ID: c.ID, Verdict: string(c.Verdict), Kind: string(c.Kind), Resource: c.Resource, Phase: c.Phase, Confidence: c.Confidence,
		Survived: c.Survived, Summary: c.Summary, PhaseWhy: c.PhaseWhy, Root: root(&c.Root), Repeats: c.Repeats, Shortfall: c.Shortfall,
		Ledger: memory.Account(run, c), Findings: slices.Concat(c.Findings, list.Findings), Victims: victims(c), Cause: (*Why)(list.Cause),
		Checklist: list.Title, Remedies: list.Remedies, StartWith: list.StartWith, Patch: list.Patch, Proposals: list.Proposals,
		Budget: list.Budget, Unexplained: list.Unexplained,
	}
	in.Root.KilledBy, in.Root.LimitOf = str(c.Kill.By), str(c.Kill.Limit)
	if n := c.Node; n != nil {
		in.Root.NodeUsed, in.Root.NodeTotal = &n.Used, &n.Total
	}
	for _, x := range list.Rivals {
		in.Rivals = append(in.Rivals, Why(x))
	}
	for _, at := range c.Reports {
		in.Reports = append(in.Reports, At{at.Source, at.Line})
	}
	for _, e := range c.Evidence {
		in.Evidence = append(in.Evidence, Evidence{File: e.At.Source, Line: e.At.Line, Text: e.Text, Why: e.Why})
	}
	in.nameDevices()
	for _, x := range c.Consequences {
		in.Consequences = append(in.Consequences, Consequence{
			Kind: string(x.Kind), File: x.At.Source, Line: x.At.Line, Rank: x.Rank, Host: str(x.Host), Time: stamp(x.Time), Message: x.Message, Count: x.Count,
		})
	}
	return in
}

// victims are the processes that were killed, as far as the incident names them.
func victims(c *classifier.Incident) (out []Victim) {
	for i := range c.Killed {
		k := &c.Killed[i]
		v := Victim{Time: stamp(k.Time), Host: str(k.Host), Name: str(k.Name), Resident: k.Resident, Cgroup: str(k.Group), File: k.At.Source, Line: k.At.Line}
		if k.PID > 0 {
			v.PID = &k.PID
		}
		out = append(out, v)
	}
	return out
}

func root(c *classifier.Root) Root {
	r := Root{
		File: c.At.Source, Line: c.At.Line, Offset: c.At.Offset, Time: stamp(c.Time), Day: day(c.Time, c.Clock), Host: str(c.Host), Rank: c.Rank, Device: c.Device,
		PID: c.PID, Process: str(c.Process), Message: c.Message, Request: c.Requested, Total: c.Total, Free: c.Free, Alloc: c.Allocated,
		Reserved: c.ReservedUnallocated, OwnBytes: c.ProcessBytes, Others: c.OtherProcesses, Limit: c.Limit, Used: c.Used, Needed: c.Needed, Accelerator: str(c.Accelerator), Trace: frames(c.Trace),
	}
	return r
}

func frames(t *traceback.Trace) (out []Frame) {
	if t != nil {
		for _, f := range t.Frames {
			out = append(out, Frame{File: f.File, Line: f.Line, Function: f.Func})
		}
	}
	return out
}

// str is a pointer to a known string, nil for an unknown one.
func str(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// day is a time of which only the year is unknown, as syslog writes it.
func day(t time.Time, clock string) string {
	if t.IsZero() || t.Year() != 0 || clock == "monotonic" || clock == "clock" {
		return ""
	}
	return t.Format("Jan 2 15:04:05")
}

// stamp is a time with a known date; a stamp without a year tells no instant.
func stamp(t time.Time) *time.Time {
	if t.IsZero() || t.Year() < 1971 {
		return nil
	}
	return &t
}
