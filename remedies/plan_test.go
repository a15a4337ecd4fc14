package remedies

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/remedies/memory"
)

func phaseOfPlan(t *testing.T, p Plan, phase string) PlanPhase {
	t.Helper()
	for _, x := range p.Phases {
		if x.Phase == phase {
			return x
		}
	}
	require.Fail(t, "no phase "+phase)
	return PlanPhase{}
}

func TestAPlanCountsTheLargestMicroBatchThatSettingsAllow(t *testing.T) {
	t.Parallel()
	r, _ := verlStep("card", "80GiB", "actor_rollout_ref.model.use_remove_padding", "True")
	plan := PlanOf(r, nil, nil)
	sum := phaseOfPlan(t, plan, "backward").Card
	assert.Contains(t, partOf(sum.Parts, "activations").How, "131,072 tokens")
	assert.Equal(t, int64(80<<30), *plan.Card)
	require.NotNil(t, sum.Fits)
	assert.False(t, *sum.Fits)
	r.Config["actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu"] = classifier.Value{Value: "1"}
	sum = phaseOfPlan(t, PlanOf(r, nil, nil), "backward").Card
	require.NotNil(t, sum.Fits)
	assert.True(t, *sum.Fits)
}

func TestAPlanTakesTheSizeOfTheCardFromAFailure(t *testing.T) {
	t.Parallel()
	r, in := verlStep()
	assert.Nil(t, PlanOf(r, nil, nil).Card)
	assert.Equal(t, gibs(80), PlanOf(r, []classifier.Incident{*in}, nil).Card)
}

func TestAPlanSaysWhichSettingIsMissing(t *testing.T) {
	t.Parallel()
	r := run("verl", "actor_rollout_ref.actor.strategy", "fsdp", "total_gpus", "8")
	r.Model.Name = "Qwen2.5-7B"
	plan := PlanOf(r, nil, nil)
	settings := map[string][]string{}
	for _, m := range plan.Missing {
		settings[m.Input] = m.Settings
		assert.NotEmpty(t, m.Settings, m.Input)
		assert.NotEmpty(t, m.Parts, m.Input)
	}
	assert.Equal(t, []string{"algorithm.adv_estimator", "critic"}, settings["whether a critic is trained on the same cards"])
	assert.Contains(t, settings[batchInput], "data.max_response_length")
	assert.Nil(t, phaseOfPlan(t, plan, "backward").Card.Fits)
}

// Every input that a formula may miss has a setting that gives it, in every kind of run.
func TestEveryMissingInputCanBeGiven(t *testing.T) {
	t.Parallel()
	for _, r := range []*classifier.Run{
		run("verl", "actor_rollout_ref.actor.strategy", "megatron"), run("slime"), run("areal", "actor.backend", "fsdp:d4"), run("openrlhf", "zero_stage", "3"),
		run("trl", "num_generations", "8", "zero_stage", "2"), run("deepspeed", "zero_optimization.stage", "3"), run("megatron"),
		run("vllm"), run("sglang"), run("nemo_rl", "policy.megatron_cfg.enabled", "true"),
	} {
		r.Engine = "vllm"
		for _, m := range PlanOf(r, nil, nil).Missing {
			if m.Input != "bytes of the optimizer's states" {
				assert.NotEmpty(t, m.Settings, "%s: %s", r.Framework, m.Input)
			}
		}
	}
}

func TestAGivenModelTakesThePlaceOfTheNamed(t *testing.T) {
	t.Parallel()
	r, _ := verlStep()
	m, ok := memory.KnownModel("Qwen2.5-0.5B")
	require.True(t, ok)
	plan := PlanOf(r, nil, &m)
	assert.Equal(t, "Qwen2.5-0.5B", plan.Model)
	assert.Less(t, phaseOfPlan(t, plan, "optimizer").Card.Bytes, phaseOfPlan(t, PlanOf(r, nil, nil), "optimizer").Card.Bytes/3)
}
