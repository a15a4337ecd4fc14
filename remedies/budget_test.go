package remedies

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/parser/traceback"
)

// verlStep is a run of verl that failed in the backward pass of an 80-GiB card, all but 1 GiB of which was in use.
func verlStep(pairs ...string) (*classifier.Run, *classifier.Incident) {
	r := run("verl", append([]string{
		"actor_rollout_ref.actor.strategy", "fsdp2", "trainer.n_gpus_per_node", "8", "trainer.nnodes", "1", "actor_rollout_ref.rollout.tensor_model_parallel_size", "1",
		"actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", "16", "data.max_prompt_length", "2048", "data.max_response_length", "6144", "actor_rollout_ref.actor.use_kl_loss", "False",
		"algorithm.adv_estimator", "grpo",
	}, pairs...)...)
	r.Engine, r.Model.Name = "vllm", "Qwen2.5-7B"
	in := with(gpuOOM("backward"), func(r *classifier.Root) {
		r.Requested, r.Free, r.Total, r.Allocated, r.ReservedUnallocated = gibs(4), gibs(1), gibs(80), gibs(70), gibs(3)
	})
	return r, in
}

func partOf(parts []BudgetPart, id string) *BudgetPart {
	for i := range parts {
		if parts[i].Part == id {
			return &parts[i]
		}
	}
	return nil
}

func TestABudgetStandsBesideWhatWasMeasured(t *testing.T) {
	t.Parallel()
	b := budgetOf(newContext(verlStep("actor_rollout_ref.model.use_remove_padding", "False", "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", "1")))
	sum := int64(0)
	for _, p := range b.parts {
		assert.Equal(t, "gpu", p.Resource)
		if p.Measured == nil {
			sum += p.Bytes
		} else {
			sum += *p.Measured
		}
	}
	require.NotNil(t, b.unexplained)
	assert.Equal(t, *gibs(83), sum+*b.unexplained, "in use and requested")
	assert.Equal(t, gibs(3), partOf(b.parts, "idle_reserve").Measured)
	assert.Nil(t, partOf(b.parts, "weights").Measured)
	assert.Contains(t, partOf(b.parts, "activations").How, "8,192 tokens", "padded to the longest sample")
}

func TestAMicroBatchOfUnknownLengthIsNoLargerThanWhatWasInUse(t *testing.T) {
	t.Parallel()
	b := budgetOf(newContext(verlStep("actor_rollout_ref.model.use_remove_padding", "True", "actor_rollout_ref.model.enable_gradient_checkpointing", "False")))
	sum := int64(0)
	for _, p := range b.parts {
		sum += p.Bytes
	}
	assert.LessOrEqual(t, sum, *gibs(83))
	a := partOf(b.parts, "activations")
	assert.Contains(t, a.How, "at most ")
	assert.Less(t, a.Low, a.Bytes/100)
	assert.Nil(t, b.unexplained, "the bound may explain all of it")
}

func TestNoBudgetWithoutAPhaseOrAModel(t *testing.T) {
	t.Parallel()
	r, in := verlStep()
	for name, change := range map[string]func(){
		"unknown phase": func() { in.Phase = "unknown" },
		"shared memory": func() { in.Phase, in.Resource = "backward", "shm" },
		"a critic's phase": func() {
			in.Resource, in.Root.Trace = "gpu", &traceback.Trace{Origin: &traceback.Origin{Method: "critic_update_critic"}}
		},
	} {
		change()
		b := budgetOf(newContext(r, in))
		assert.Empty(t, b.parts, name)
		assert.Nil(t, b.unexplained, name)
	}
	r, in = verlStep()
	r.Model.Name = ""
	b := budgetOf(newContext(r, in))
	assert.Nil(t, partOf(b.parts, "weights"))
	assert.Nil(t, b.unexplained, "without the model nothing is explained")
	assert.NotEmpty(t, b.missing)
}
