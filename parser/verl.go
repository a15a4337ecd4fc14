package parser

// verlPatterns are the markers of verl and its forks.
func verlPatterns() []Pattern {
	return nil
}
