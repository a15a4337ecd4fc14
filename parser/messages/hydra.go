package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// hydraCorePatterns are those of hydra-core, the configuration framework; hydra.* is the launcher of MPICH.
func hydraCorePatterns() []pattern.Pattern {
	return []pattern.Pattern{
		{
			// Hydra's main, which starts verl and others: printed as the driver ends.
			Name:     "hydracore.job_failed",
			Ends:     true,
			Literals: []string{"Error executing job with overrides: ["},
			Expr:     `^Error executing job with overrides: \[`,
			Kind:     parser.ProcessExit, Role: parser.Consequence,
			Source:  "hydra-core 1.1-1.3, hydra/_internal/utils.py run_and_report",
			Match:   lines("Error executing job with overrides: ['trainer.resume_mode=auto']"),
			NoMatch: []string{"it said Error executing job with overrides: ['a=1']"},
		},
	}
}
