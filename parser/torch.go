package parser

// torchPatterns are the messages of PyTorch's device allocators.
func torchPatterns() []Pattern {
	return []Pattern{}
}
