package parser

// rayPatterns are the words of Ray: memory monitor, actor deaths, object store.
func rayPatterns() []Pattern {
	return nil
}
