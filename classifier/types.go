package classifier

import (
	"slices"
	"time"

	"oomscan/parser"
	"oomscan/parser/settings"
	"oomscan/parser/traceback"
)

// Verdict says how sure it is that memory ran out.
type Verdict string

// The verdicts.
const (
	Memory  Verdict = "memory"  // memory ran out, here is the evidence
	Suspect Verdict = "suspect" // a failure that memory often causes, without proof
	Other   Verdict = "other"
)

// Value is one setting of the run and its place in the log.
type Value struct {
	Value string
	At    parser.Position
	Form  string // how the log printed it; see parser.Setting
	// Earlier are the other values that were printed before it, the last ones, in order: the run may have been started with
	// them, or overridden them.
	Earlier []Told
}

// Told is a value of a setting that a later one replaced.
type Told struct {
	Value string
	At    parser.Position
}

// maxTold is how many earlier values of one setting are kept.
const maxTold = 4

// after returns the value with the earlier ones. An empty old value was never printed. A line of a script does not change what was set
// otherwise.
func (v Value) after(old Value) Value {
	if v.Form == settings.Script && old.At != (parser.Position{}) && old.Form != settings.Script {
		return old
	}
	told := old.Earlier
	if old.At != (parser.Position{}) && old.Value != v.Value {
		told = append(slices.Clone(told), Told{old.Value, old.At})
	}
	if len(told) > 0 {
		told = slices.Concat(told, v.Earlier)
		v.Earlier = told[max(0, len(told)-maxTold):]
	}
	return v
}

// Model is what the log says about the model. Unknown values are nil or empty.
type Model struct {
	Name                                                      string
	Parameters, VocabSize, HiddenSize, Layers, AttentionHeads *int64
	Trained                                                   *int64 // parameters that are trained, as a trainer counts them
	DType, TrainedDType                                       string // of the weights, and of those that are trained where the log tells them apart
}

// Run is what the log says about the job as a whole. Empty strings and nil are unknown.
type Run struct {
	Framework          string // one of the stable ids; "unknown" without evidence
	FrameworkVersion   string
	Application        string // whose settings the user changes, where that is not the framework: llamafactory, ollama ...
	ApplicationVersion string
	Backend            string // fsdp, fsdp2, megatron, deepspeed ...
	Engine             string // vllm, sglang, hf
	EngineVersion      string
	Serves             bool   // a framework's script started an engine alone
	Launcher           string // slurm, ray, torchrun, k8s, none
	Scheduler          string // gives the job its host memory: k8s, slurm, pbs, lsf, sge, condor
	JobID              string
	WorldSize          *int
	Nodes              *int
	GPUsPerNode        *int
	Model              Model
	Config             map[string]Value // keys as the log writes them; the last writing wins
	LastStep           *int
	Gauges             []Gauge // the last reading of each kind and writer, and the last before the first failure, in order of sources and lines
	Growth             []Trend // readings that grew and never fell
	Tracks             []Track
	Series             []Series
	tasks              int // of Slurm
}

// Trend is the course of a repeated reading.
type Trend struct {
	Name                string // of the pattern that read it
	Count, Rises, Falls int
	First, Last         int64 // bytes
	Previous            int64 // the reading before the last
	Peak                bool  // of the highest so far, which never falls
	Least, Most         int64 // by how much it rose at a time
	// Points are a bounded sample of the readings: every Every-th of those Seen.
	Points      []Point
	Seen, Every int
}

// with returns the trend with one more reading.
func (t Trend) with(g *parser.Gauge) Trend {
	n, ok := g.Fields.Int("used") // of all of the card, or of the node
	if !ok {
		n, ok = g.Fields.Int("allocated")
	}
	peak := false
	if !ok {
		n, ok = g.Fields.Int("max_allocated")
		peak = ok
	}
	switch {
	case !ok || n <= 0:
		return t
	case t.Count == 0:
		t.Name, t.Count, t.First, t.Last, t.Peak = g.Name, 1, n, n, peak
		return t
	case t.startsAgain(g, n):
		return t
	case n > t.Last:
		t.Rises++
		t.Most = max(t.Most, n-t.Last)
		if t.Least == 0 || n-t.Last < t.Least {
			t.Least = n - t.Last
		}
	case n < t.Last:
		t.Falls++
	}
	t.Count, t.Previous, t.Last = t.Count+1, t.Last, n
	return t
}

// startsAgain reports whether a container is back at its first reading after it did nothing but grow: the kubelet or Docker has started it
// again. Of a process that goes on, such a fall is one of a sawtooth's.
func (t Trend) startsAgain(g *parser.Gauge, n int64) bool {
	const rises = 4
	container := g.Fields["cpu"] != "" || g.Name == "docker.stats"
	return container && t.Falls == 0 && t.Rises >= rises && t.Last >= 2*t.First && n <= t.First+t.First/10
}

// grows reports whether a reading rose almost each time, by a tenth and more in all, and never fell: a sawtooth has a floor, a cache
// that fills up stops, and a single jump at the end is no growth. A peak never falls, and longer samples raise it now and then: it has
// to rise each time, by about the same.
func (t Trend) grows() bool {
	const least = 5
	if t.Peak && (t.Rises < t.Count-1 || t.Most > 2*t.Least) || t.setsUp() {
		return false
	}
	return t.doubles() || t.Climbs() || t.Count >= least && t.Falls == 0 && t.Rises*4 >= 3*(t.Count-1) && t.Last >= t.First+t.First/10+1<<28 && t.Last-t.Previous <= (t.Last-t.First)*3/4
}

// setsUp reports whether DeepSpeed took the readings while it made its optimizer: before any step, and what it makes one after the other
// differs in size. A script that asks for readings may print no steps, but what it keeps is about the same each time.
func (t Trend) setsUp() bool {
	n := len(t.Points)
	return (t.Name == "deepspeed.memory" || t.Name == "deepspeed.host_memory") && n > 0 && t.Points[n-1].Step < 0 && t.Most > t.Least+t.Least/2
}

// doubles reports whether a few readings of different steps suffice: each rose by about the same, to twice the first one and more.
func (t Trend) doubles() bool {
	const few = 3
	n := len(t.Points)
	return t.Count >= few && t.Rises == t.Count-1 && t.Most <= 2*t.Least && t.Last >= 2*t.First && t.Last-t.First >= 4<<30 &&
		n >= few && t.Points[0].Step >= 0 && t.Points[n-1].Step >= t.Points[0].Step+few-1
}

// Climbs reports whether a reading that stayed the same rose each time at its end, by about the same: something keeps memory since then,
// such as an evaluation that keeps its graphs after a training that keeps none.
func (t Trend) Climbs() bool {
	const least = 4
	n := len(t.Points)
	return !t.Peak && t.Falls == 0 && t.Every <= 1 && t.Rises >= least && t.Most <= 2*t.Least && t.Last-t.First >= 4<<30 &&
		n-t.Rises > least && t.Points[n-1-t.Rises].Bytes == t.First
}

// multiplies reports whether a reading is twice its first one and gibibytes more: what an engine leaves on the card when it
// sleeps is the same each time, unless something of it stays.
func (t Trend) multiplies() bool {
	return t.Count >= 3 && t.Last >= 2*t.First && t.Last-t.First >= 4<<30
}

// Gauge is a memory reading that a program printed during normal operation.
type Gauge struct {
	Name   string // of the pattern that read it: "vllm.weights"
	Stream string // its writer; see envelope.Header
	PID    int    // its process, 0 when unknown
	At     parser.Position
	Fields parser.Fields // bytes, by the names of package parser
}

// Reading is how much of the host's memory was in use.
type Reading struct {
	Used, Total int64 // bytes
	At          parser.Position
}

// Task is a process with what it held: of the kernel's table, or of Ray's list.
type Task struct {
	PID  int
	Name string
	RSS  int64 // bytes
}

// Evidence is a line that a conclusion rests on.
type Evidence struct {
	At      parser.Position
	Text    string
	Why     string
	Pattern string        // the name of the message; empty for a frame of a stack
	Fields  parser.Fields // that the pattern read
}

// Root is the first true evidence of an incident. Byte quantities that were not printed are nil.
type Root struct {
	At      parser.Position
	Pattern string // the name of the message; see parser.Event
	// Allocator is the library whose allocator failed, where its message shows that; see pattern.Program.
	Allocator string
	Fields    parser.Fields // of the message, completed by further reports of the same failure
	Time      time.Time     // zero: unknown
	Dated     time.Time     // the last date in its file up to it; zero: unknown
	Clock     string        // see envelope.Header
	Host      string
	Rank      *int
	Device    *int
	PID       *int
	Process   string
	Message   string

	Requested, Total, Free, Allocated, ReservedUnallocated *int64
	ProcessBytes, OtherProcesses, Limit                    *int64 // this process's use, that of others, a limit
	Used                                                   *int64 // of what Limit bounds
	Needed                                                 *int64 // by the whole program, as its compiler computes it

	// Accelerator is what the devices are called where they are no GPUs: TPU, NPU, HPU.
	Accelerator string

	// Reserved is all that PyTorch had reserved, allocated or not, as messages before 2.1 print it.
	Reserved *int64

	// Of a control group whose limit was reached: anonymous memory, page cache, shared memory with tmpfs.
	// Tasks are the node's processes as they were reported, the largest first.
	Anon, File, Shmem *int64
	Tasks             []Task

	Stream string // the writer of the message; see envelope.Header

	Trace *traceback.Trace
}

// Consequence is a failure that followed from the root.
type Consequence struct {
	Kind    parser.Kind
	At      parser.Position
	Rank    *int
	Host    string
	Time    time.Time
	Message string
	Count   int // how many lines said the same; at least 1
}

// Incident is one root cause with everything that followed from it.
type Incident struct {
	ID         string
	Verdict    Verdict
	Kind       parser.Kind
	Resource   string // gpu, host, shm
	Phase      string // one of package phase
	Confidence string // of the phase: high, medium, low
	PhaseWhy   string // one sentence: why this phase
	Survived   bool
	Summary    string // one sentence for people
	Evidence   []Evidence
	Root       Root
	Kill       Kill     // of a process, for its memory
	Killed     []Killed // by it, in order of occurrence
	// Reports are the places of all evidence, in order of occurrence, the root's among them: what else is found out about
	// an incident may give it another root, but it goes on holding these.
	Reports      []parser.Position
	Consequences []Consequence
	Repeats      int // further reports of the same cause (other ranks, re-raises), the root not counted
	// Shortfall is how many bytes were missing: requested minus free, nil when a term is unknown or when free covers
	// the request.
	Shortfall *int64
	Node      *Reading // the last reading of the host's memory before it, nil if there is none
	Findings  []string // sentences: contradictions in the figures, who else holds the card ...
}
