package parser

// jaxPatterns are JAX, XLA and TensorFlow.
func jaxPatterns() []Pattern {
	return nil
}
