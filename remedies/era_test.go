package remedies

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// old is what PyTorch 1.10 printed.
func old(asked string) string {
	return "RuntimeError: CUDA out of memory. Tried to allocate " + asked + " (GPU 0; 14.76 GiB total capacity; 13.26 GiB already allocated; 87.75 MiB free; 13.72 GiB reserved in total by PyTorch)"
}

// TestNothingNewerThanTheLogIsProposed has attention that builds its scores, by programs of which some are too old for another one.
func TestNothingNewerThanTheLogIsProposed(t *testing.T) {
	t.Parallel()
	scores := func(python string) string {
		return stackOf("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 14.76 GiB total capacity; 13.26 GiB already allocated; 87.75 MiB free; 13.72 GiB reserved in total by PyTorch)",
			"/w/train.py|<module>|loss = model(**batch)", "/usr/lib/"+python+"/site-packages/transformers/models/bert/modeling_bert.py|forward|attention_scores = torch.matmul(query_layer, key_layer.transpose(-1, -2))")
	}
	for name, c := range map[string]struct {
		log  string
		want bool
	}{
		"no sign of an age": {scores("python3.10"), true},
		"Python 3.6":        {scores("python3.6"), false},
		"Python 3.7":        {scores("python3.7"), false},
		"PyTorch 1.10":      {stackOf(old("2.00 GiB"), "/w/train.py|<module>|loss = model(**batch)", "transformers/models/bert/modeling_bert.py|forward|attention_scores = torch.matmul(query_layer, key_layer.transpose(-1, -2))"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := For(incidentOf(t, c.log))
			require.NotNil(t, list.Cause)
			assert.Equal(t, "attention_scores", list.Cause.ID)
			got := changesOf(list)
			if c.want {
				assert.Contains(t, got, "attn_implementation=flash_attention_2")
			} else {
				assert.NotContains(t, got, "attn_implementation=flash_attention_2")
			}
		})
	}
}

// TestAForkIsAsOldAsItsCode has two logs of verl from the same day.
func TestAForkIsAsOldAsItsCode(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		call string
		want bool
	}{
		"a recent verl":      {"entropy, log_probs = self._forward_micro_batch(micro_batch, temperature=temperature, calculate_entropy=calculate_entropy)", true},
		"verl of early 2025": {"_, log_probs = self._forward_micro_batch(micro_batch, temperature=temperature)", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := "2025-08-30 15:21:08,330 INFO worker.py:1832 -- Started a local Ray instance.\nactor_rollout_ref.model.path=Qwen/Qwen2.5-1.5B-Instruct actor_rollout_ref.actor.strategy=fsdp\n" + stackOf(
				"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.93 GiB. GPU 0 has a total capacity of 23.57 GiB of which 2.10 GiB is free. Including non-PyTorch memory, this process has 21.40 GiB memory in use. Of the allocated memory 20.90 GiB is allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated.",
				"/w/verl/workers/actor/dp_actor.py|compute_log_prob|"+c.call, "/w/verl/workers/actor/dp_actor.py|_forward_micro_batch|entropy = verl_F.entropy_from_logits(logits)", "/w/verl/utils/torch_functional.py|entropy_from_logits|pd = torch.nn.functional.softmax(logits, dim=-1)")
			got := changesOf(For(incidentOf(t, log)))
			if c.want {
				assert.Contains(t, got, "actor_rollout_ref.model.use_fused_kernels=True")
			} else {
				assert.NotContains(t, got, "actor_rollout_ref.model.use_fused_kernels=True")
			}
		})
	}
}
