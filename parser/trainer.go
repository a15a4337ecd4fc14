package parser

// trainerPatterns are the markers of other trainers: OpenRLHF, TRL, NeMo-RL, DeepSpeed, Megatron, HF.
func trainerPatterns() []Pattern {
	return nil
}
