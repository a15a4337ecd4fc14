package parser

// dataloaderPatterns are torch's DataLoader and other worker pools.
func dataloaderPatterns() []Pattern {
	return nil
}
