// Package messages holds the pattern tables: what programs print when memory runs out, and what tells where a run is. There is
// one file per program that prints, with data and samples and nothing else.
package messages

import (
	"slices"
	"sync"

	"oomscan/parser/pattern"
)

// table makes the patterns of one kind of message of one program.
type table = func() []pattern.Pattern

// tables are in the order in which patterns are tried: the specific before the general.
var tables = [][]table{
	vetoPatterns,
	// who kills
	slurmPatterns, kernelPatterns,
	{systemdPatterns},
	rayPatterns,
	{shellPatterns},
	{kubernetesPatterns},
	{schedulerPatterns},
	// engines say more than the allocators under them
	sglangPatterns, vllmPatterns,
	{trtllmPatterns},
	{tgiPatterns},
	// allocators and drivers
	torchPatterns, accelPatterns,
	{cumemPatterns},
	ncclPatterns,
	{shmPatterns},
	cudaPatterns,
	jaxPatterns,
	{ggmlPatterns},
	{nativePatterns},
	hostPatterns,
	// who died of what
	elasticPatterns,
	{dataloaderPatterns},
	// what the run runs on
	{gpuPatterns},
	// frameworks: markers, identities, recoveries
	verlPatterns,
	{arealPatterns},
	slimePatterns,
	{skyrlPatterns},
	trainerPatterns,
	{hydraCorePatterns},
	launchPatterns,
}

// All returns every pattern, in the order in which they are tried. The first event pattern that matches a message claims it,
// unless a veto matches too; markers and gauges are independent of that. The slice is shared and must not be changed.
var All = sync.OnceValue(func() []pattern.Pattern {
	var all []pattern.Pattern
	for _, t := range slices.Concat(tables...) {
		all = append(all, t()...)
	}
	return all
})

// ByName returns the pattern of that name, nil when there is none.
func ByName(name string) *pattern.Pattern {
	if i, ok := byName()[name]; ok {
		return &All()[i]
	}
	return nil
}

var byName = sync.OnceValue(func() map[string]int {
	m := make(map[string]int, len(All()))
	for i := range All() {
		m[All()[i].Name] = i
	}
	return m
})
