package parser

// kernelPatterns are the Linux kernel's out-of-memory reports and their neighbours.
func kernelPatterns() []Pattern {
	return nil
}
