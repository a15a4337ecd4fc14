package cause

import "fmt"

// What stands beside a model on its card: adapters' slots, and other models of the same run.

// adapterSlots says that an engine failed where it allocates the slots of LoRA adapters.
var adapterSlots = both(frames(20, "room is made for as many adapters as may be active", "/vllm/lora/", "/sglang/srt/lora/"), (*Input).gpu)

// slotsText names the settings that size an engine's slots for adapters, and the weights beside them.
func (in *Input) slotsText() string {
	text := "the slots for adapters do not fit beside the weights"
	if key, v, ok := in.Setting("max_loras", "max_loras_per_batch"); ok {
		text = fmt.Sprintf("%s slots for adapters (%s) do not fit beside the weights", v, key)
	}
	if key, v, ok := in.Setting("max_lora_rank"); ok {
		text += fmt.Sprintf("; each has room for rank %s (%s)", v, key)
	}
	return text
}

// modelsTogether lists the settings that put several of a run's models on the same cards.
var modelsTogether = []string{"colocate_policy_ref", "colocate_actor_ref", "colocate_critic_reward"}

// modelsBeside says which setting put another of the run's own models on the card, if another process holds much of it while models are
// loaded.
func modelsBeside(in *Input) string {
	key := in.modelsShareCards()
	if key == "" || in.Phase != "init" || in.EngineFailed || in.SharesCard || in.Others == nil || *in.Others < leastNeighbour {
		return ""
	}
	return fmt.Sprintf("%s puts two models on each card, and the other one holds %s", key, gib(in.Others))
}

// instancesBeside says that the other processes on the card are instances of the same model.
func instancesBeside(in *Input) string {
	if in.Instances < 2 || in.Others == nil || *in.Others < leastNeighbour {
		return ""
	}
	return fmt.Sprintf("Triton had begun %d instances of the model on this GPU, and each has weights of its own", in.Instances)
}

// modelsShareCards returns the setting that puts several of a run's models on the same cards, or "".
func (in *Input) modelsShareCards() string {
	for _, k := range modelsTogether {
		if in.on(k) {
			key, _, _ := in.Setting(k)
			return key
		}
	}
	return ""
}
