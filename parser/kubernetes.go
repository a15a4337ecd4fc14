package parser

// kubernetesPatterns are what kubectl, docker and node agents print.
func kubernetesPatterns() []Pattern {
	return nil
}
