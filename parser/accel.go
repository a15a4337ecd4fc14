package parser

// accelPatterns are the allocators of other devices under PyTorch: XPU, NPU, MPS, HPU.
func accelPatterns() []Pattern {
	return nil
}
