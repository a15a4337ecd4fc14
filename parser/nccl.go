package parser

// ncclPatterns are the collective libraries and torch's wrapper around them: NCCL, RCCL, HCCL, Gloo.
func ncclPatterns() []Pattern {
	return nil
}
