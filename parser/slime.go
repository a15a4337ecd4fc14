package parser

// slimePatterns are the markers of slime and Relax.
func slimePatterns() []Pattern {
	return nil
}
