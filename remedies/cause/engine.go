package cause

import (
	"fmt"
)

// engines are the causes that lie in an inference engine, and in what a trainer and its engine do with one card.
var engines = []hypothesis{
	{
		id: "engine_share_too_small",
		evidence: []weighed{
			{2 * proof, when("the engine found no room for its KV cache", func(in *Input) bool { return in.NoRoomForCache })},
			{sign, when("the cache of a serving engine ran full", func(in *Input) bool { return in.CacheRan })},
		},
		figure: func(in *Input) (string, *int64) {
			if in.Requested == nil || in.Shortfall == nil {
				return "the engine's share leaves no room for its KV cache", nil
			}
			return fmt.Sprintf("the KV cache needs %s, %s more than the engine's share leaves", gib(in.Requested), gib(in.Shortfall)), in.Requested
		},
	},
	{
		id: "graph_capture",
		evidence: []weighed{
			{proof + hint, both(when("it failed while CUDA graphs were captured", func(in *Input) bool { return in.GraphCapture }), (*Input).gpu)},
		},
		figure: plain("CUDA graphs are captured beside weights and KV cache"),
	},
	{
		id: "engine_activation",
		evidence: []weighed{
			{proof, when("it failed in the run that measures the engine's activations", func(in *Input) bool { return in.Profiling })},
			{proof, both(when("the sampler's buffers did not fit", func(in *Input) bool { return in.Sampler }), (*Input).engineGPU)},
			{sign + hint, both(frames(12, "the stack ends in a step's own tensors", "forward_extend", "logits_processor", "prompt_logprob", "visual", "vision", "get_topk", "compute_logits", "fused_moe", "mm_encoder", "execute_model", "prefill"), (*Input).servingEngine)},
			{hint, when("the engine failed while it served", func(in *Input) bool { return in.Serving })},
		},
		figure: plain("what the engine computes in one step does not fit beside weights and KV cache"),
	},
	{
		id: "engine_share_too_large",
		evidence: []weighed{
			{proof, when("less memory was free than the engine was told to take", func(in *Input) bool { return in.LessThanDesired })},
			{proof, func(in *Input) string {
				if !in.SharesCard || in.Others == nil || in.Shortfall == nil || *in.Others < *in.Shortfall || *in.Others < leastNeighbour || in.NoRoomForCache {
					return ""
				}
				return fmt.Sprintf("the engine on the same card holds up to %s, and %s were missing", gib(in.Others), gib(in.Shortfall))
			}},
			{sign, both(when("trainer and engine share the card, and the engine is awake", func(in *Input) bool { return in.SharesCard && in.EngineAwake && !in.NoRoomForCache }), (*Input).gpu)},
			{sign, both(frames(40, "the engine failed when it woke", "wake_up", "resume_memory", "resume_kv"), (*Input).gpu)},
			{sign, saw("the engine's memory could not be mapped again", "vllm.cumem", "tms.resume", "tms.fatal")},
			{sign, when("the engine failed while it served, with its cache in place", func(in *Input) bool { return in.Serving })},
			{sign, both(when("it failed at the engine's start, with its cache in place", func(in *Input) bool { return in.Phase == "init" && in.EngineFailed && in.GraphCapture }), (*Input).gpu)},
		},
		excludes: []clue{when("the engine had not taken its cache yet", func(in *Input) bool { return in.BeforeCache })},
		figure: func(in *Input) (string, *int64) {
			switch {
			case in.LessThanDesired && in.Free != nil && in.Total != nil:
				return fmt.Sprintf("the engine is told to take more than the %s of %s that were free", gib(in.Free), gib(in.Total)), in.Free
			case in.Shortfall != nil:
				return fmt.Sprintf("the engine's share of the card leaves %s too little for what lies outside of it", gib(in.Shortfall)), in.Shortfall
			}
			return "the engine's share of the card leaves too little for what lies outside of it", nil
		},
	},
	{
		id: "weight_update",
		evidence: []weighed{
			{2 * proof, both(failedIn("it failed while weights went from the trainer to the engine", "weight_update"), (*Input).gpu)},
			{hint, both(failedIn("it failed while weights went from the trainer to the engine", "weight_update"), (*Input).host)},
			{sign, both(frames(8, "the stack ends in the transfer of weights", "update_weights", "sync_weights", "load_weights_from", "update_bucket"), (*Input).trainerGPU)},
		},
		figure: plain("weights are gathered for the engine beside both sides' memory"),
	},
}

func (in *Input) engineGPU() bool { return in.gpu() && in.EngineFailed }

func (in *Input) servingEngine() bool { return in.engineGPU() && in.Phase != "init" }
