package parser

// torchPatterns are the messages of PyTorch's CUDA and HIP allocators.
func torchPatterns() []Pattern {
	return nil
}
