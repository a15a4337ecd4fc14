package parser

// Patterns returns the whole table, in the order in which patterns are tried: the specific before the general. The first
// event pattern that matches a message claims it, unless a veto matches too; markers and gauges are independent of that.
func Patterns() []Pattern {
	all := make([]Pattern, 0, 640) // more than there are
	for _, t := range tables {
		all = append(all, t()...)
	}
	prepare(all)
	return all
}

// tables lists the pattern tables, one function and one file per program that prints.
var tables = []func() []Pattern{
	vetoPatterns,
	// who kills
	slurmPatterns, kernelPatterns, systemdPatterns, rayPatterns, shellPatterns, kubernetesPatterns, schedulerPatterns,
	// engines say more than the allocators under them
	sglangPatterns, vllmPatterns,
	// allocators and drivers
	torchPatterns, accelPatterns, cumemPatterns, ncclPatterns, shmPatterns, cudaPatterns,
	jaxPatterns, ggmlPatterns, nativePatterns, hostPatterns,
	// who died of what
	elasticPatterns, dataloaderPatterns,
	// what the run runs on
	gpuPatterns,
	// frameworks: markers, identities, recoveries
	verlPatterns, arealPatterns, slimePatterns, skyrlPatterns, trainerPatterns, hydraCorePatterns, launchPatterns,
}
