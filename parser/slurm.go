package parser

// slurmPatterns are what slurmstepd, srun, sbatch and Slurm's accounting tools print.
func slurmPatterns() []Pattern {
	return nil
}
