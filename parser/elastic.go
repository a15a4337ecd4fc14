package parser

// elasticPatterns are torchrun, torch.multiprocessing, DeepSpeed's and other launchers.
func elasticPatterns() []Pattern {
	return nil
}
