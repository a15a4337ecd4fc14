package parser

// cudaPatterns are the CUDA and HIP runtime, driver and libraries.
func cudaPatterns() []Pattern {
	return nil
}
