package parser

// cumemPatterns are the allocators plugged under PyTorch: vLLM's cumem, torch_memory_saver.
func cumemPatterns() []Pattern {
	return nil
}
