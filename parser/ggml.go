package parser

// ggmlPatterns are llama.cpp, TensorRT, bitsandbytes and other native programs on a GPU.
func ggmlPatterns() []Pattern {
	return nil
}
