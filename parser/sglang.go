package parser

// sglangPatterns are the words of SGLang.
func sglangPatterns() []Pattern {
	return nil
}
