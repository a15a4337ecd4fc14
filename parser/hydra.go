package parser

// hydraCorePatterns are those of hydra-core, the configuration framework; hydra.* is the launcher of MPICH.
func hydraCorePatterns() []Pattern {
	return []Pattern{
		{
			// Hydra's main, which starts verl and others: printed as the driver ends.
			Name:    "hydracore.job_failed",
			Needles: []string{"Error executing job with overrides: ["},
			Expr:    `^Error executing job with overrides: \[`,
			Kind:    ProcessExit, Role: Consequence,
			Source:  "hydra-core 1.1-1.3, hydra/_internal/utils.py run_and_report",
			Match:   []Sample{{"Error executing job with overrides: ['trainer.resume_mode=auto']", Fields{}}},
			NoMatch: []string{"it said Error executing job with overrides: ['a=1']"},
		},
	}
}
