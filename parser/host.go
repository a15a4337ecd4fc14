package parser

// hostPatterns are failed host allocations: CPU allocator, Python, numpy, arrow, C++, libc, JVM.
func hostPatterns() []Pattern {
	return nil
}
