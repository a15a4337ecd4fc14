// Package messages holds the pattern tables: what programs print when memory runs out, and what tells where a run is. There is
// one file per program that prints, with data and samples and nothing else.
package messages

import (
	"slices"
	"sync"

	"oomscan/parser"
	"oomscan/parser/pattern"
)

// table makes the patterns of one kind of message of one program.
type table = func() []pattern.Pattern

// by are the tables of one program. A message that another one prints, or that proves less, states its own Program.
func by(p pattern.Program, tables ...table) []table {
	out := make([]table, len(tables))
	for i, t := range tables {
		out[i] = func() []pattern.Pattern {
			patterns := t()
			for i := range patterns {
				if patterns[i].Program == (pattern.Program{}) {
					patterns[i].Program = p
				}
			}
			return patterns
		}
	}
	return out
}

// tables are in the order in which patterns are tried: the specific before the general.
var tables = [][]table{
	vetoPatterns,
	// who kills
	slurmPatterns, kernelPatterns,
	systemdPatterns,
	rayPatterns,
	{shellPatterns},
	by(pattern.Program{Name: "kubernetes", Launcher: "k8s", Killer: "kernel"}, kubernetesPatterns),
	schedulerPatterns,
	// engines say more than the allocators under them
	sglangPatterns, vllmPatterns,
	by(pattern.Program{Name: "trtllm", Application: "trtllm", Allocator: "tensorrt", Vendor: "cuda"}, trtllmPatterns),
	{webPatterns, diffusersPatterns},
	{tgiPatterns},
	{tritonPatterns},
	by(pattern.Program{Name: "lmdeploy", Application: "lmdeploy"}, lmdeployPatterns),
	by(pattern.Program{Name: "exllama", Application: "exllama"}, exllamaPatterns),
	by(pattern.Program{Name: "mlc", Application: "mlc"}, mlcPatterns),
	// allocators and drivers
	torchPatterns, accelPatterns,
	sleepPatterns,
	ncclPatterns,
	shmPatterns,
	{diskPatterns},
	cudaPatterns,
	jaxPatterns,
	by(pattern.Program{Name: "ggml", Application: "llamacpp", Allocator: "ggml"}, ggmlPatterns),
	nativePatterns,
	hostPatterns,
	// who died of what
	elasticPatterns,
	dataloaderPatterns,
	// what the run runs on
	{gpuPatterns, readingPatterns},
	// frameworks: markers, identities, recoveries
	verlPatterns,
	{arealPatterns},
	slimePatterns,
	{skyrlPatterns},
	{fairseqRecoveries, trainerRecoveries, fairseqMarkers, huggingFaceMarkers, barMarkers},
	deepspeedPatterns,
	{megatronPatterns, openrlhfMarkers, nemoMarkers, primeRLMarkers, torchtitanPatterns, torchtunePatterns, rollPatterns},
	{hydraCorePatterns},
	launchPatterns,
	{endedWell},
}

// lines are samples of a pattern that reads no fields: they yield its constant ones.
func lines(texts ...string) []pattern.Sample {
	samples := make([]pattern.Sample, len(texts))
	for i, text := range texts {
		samples[i].Line = text
	}
	return samples
}

// markers are patterns of one kind from one source that mark where a run is and yield constant fields only.
type markers struct {
	kind, source string
	common       bool
}

// line is such a pattern. The samples are lines that it matches.
func (m markers) line(name string, set parser.Fields, expr string, literals []string, samples ...string) pattern.Pattern {
	return pattern.Pattern{Name: name, Literals: literals, Expr: expr, Marker: m.kind, Set: set, Source: m.source, Common: m.common, Match: lines(samples...)}
}

// opens are the fields of a line behind which a phase begins, closes those of its end, and point those of a line within a phase whose end
// nothing marks. The label is what the program calls the stage.
func opens(phase, label string) parser.Fields  { return stage("open", phase, label) }
func closes(phase, label string) parser.Fields { return stage("close", phase, label) }
func point(phase, label string) parser.Fields  { return stage("point", phase, label) }

func stage(edge, phase, label string) parser.Fields {
	return parser.Fields{"phase": phase, "edge": edge, "label": label}
}

// All returns every pattern, in the order in which they are tried. The first event pattern that matches a message claims it,
// unless a veto matches too; markers and gauges are independent of that. The slice is shared and must not be changed.
var All = sync.OnceValue(func() []pattern.Pattern {
	var all [][]pattern.Pattern
	for _, t := range slices.Concat(tables...) {
		all = append(all, t())
	}
	return slices.Concat(all...)
})

// reports are what is read from several lines, or from lines that another one made matter: no line alone matches.
var reports = []pattern.Pattern{
	{Name: "kernel.report", Program: kernel},
	{Name: "elastic.block", Program: torchrun, Ends: true},
	HostInUse(), CardInUse(),
}

// ByName returns the pattern of that name, nil when there is none.
func ByName(name string) *pattern.Pattern { return byName()[name] }

var byName = sync.OnceValue(func() map[string]*pattern.Pattern {
	m := make(map[string]*pattern.Pattern, len(All())+len(reports))
	for _, list := range [][]pattern.Pattern{All(), reports} {
		for i := range list {
			m[list[i].Name] = &list[i]
		}
	}
	return m
})
