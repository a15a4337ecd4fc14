package parser

import (
	"sync"
	"sync/atomic"
)

// Patterns returns the whole table, in the order in which patterns are tried: the specific before the general. The first
// event pattern that matches a message claims it, unless a veto matches too; markers and gauges are independent of that.
func Patterns() []Pattern {
	all := make([]Pattern, 0, 640) // more than there are
	for _, t := range tables {
		for _, part := range t {
			all = append(all, part()...)
		}
	}
	prepare(all, nil)
	return all
}

// makers make the parts of one program's table. A scan needs a few dozen patterns at most, and to make all of them would
// take longer than to read a short log.
type makers []func() []Pattern

// tables lists the pattern tables, one and one file per program that prints.
var tables = []makers{
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

// parts returns how many patterns each part of the tables holds.
func parts() []int {
	var sizes []int
	for _, t := range tables {
		for _, part := range t {
			sizes = append(sizes, len(part()))
		}
	}
	return sizes
}

// catalogue holds patterns by their numbers. It may be used by any number of goroutines.
type catalogue struct {
	made   []atomic.Pointer[Pattern]
	making sync.Mutex
	parts  []int // how many patterns each part of the tables holds; nil: all are made
}

// catalogueOf holds these patterns.
func catalogueOf(patterns []Pattern) *catalogue {
	c := &catalogue{made: make([]atomic.Pointer[Pattern], len(patterns))}
	for i := range patterns {
		c.made[i].Store(&patterns[i])
	}
	return c
}

// lazyCatalogue holds the table, whose parts have these sizes and are made when one of their patterns is asked for.
func lazyCatalogue(n int, parts []int) *catalogue {
	return &catalogue{made: make([]atomic.Pointer[Pattern], n), parts: parts}
}

// at returns the pattern of that number.
func (c *catalogue) at(i int32) *Pattern {
	if p := c.made[i].Load(); p != nil {
		return p
	}
	c.makePart(int(i))
	return c.made[i].Load()
}

// makePart makes the part that holds the pattern of that number.
func (c *catalogue) makePart(i int) {
	c.making.Lock()
	defer c.making.Unlock()
	if c.made[i].Load() != nil {
		return
	}
	first, k := 0, 0
	for _, t := range tables {
		for _, part := range t {
			n := c.parts[k]
			if i < first+n {
				rows := part()
				if len(rows) != n {
					panic("parser: a pattern table was changed: run go generate ./parser") // TestPlanIsFresh fails before
				}
				prepare(rows, planHolds[first:first+n])
				for j := range rows {
					c.made[first+j].Store(&rows[j])
				}
				return
			}
			first, k = first+n, k+1
		}
	}
}
