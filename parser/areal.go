package parser

// arealPatterns are the markers of AReaL.
func arealPatterns() []Pattern {
	return nil
}
