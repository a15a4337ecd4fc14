package parser

// vllmPatterns are the words of vLLM, V0 and V1.
func vllmPatterns() []Pattern {
	return nil
}
