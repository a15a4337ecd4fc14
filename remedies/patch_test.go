package remedies

import (
	"encoding/json"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/parser"
)

func TestThePatchIsOneBlockPerDialect(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		run  *classifier.Run
		in   *classifier.Incident
		want []Patch
	}{
		"Hydra overrides, of alternatives only the first": {
			run("verl", "actor_rollout_ref.model.enable_gradient_checkpointing", "False", "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", "8", "actor_rollout_ref.actor.use_dynamic_bsz", "False"),
			gpuOOM("backward"),
			[]Patch{{"hydra", "actor_rollout_ref.model.enable_gradient_checkpointing=True"}},
		},
		"YAML for AReaL": {
			run("areal", "rollout.max_concurrent_rollouts", "256", "sglang.mem_fraction_static", "0.9"), gpuOOM("rollout"),
			[]Patch{{"yaml", "rollout:\n  max_concurrent_rollouts: 200"}},
		},
		"overrides for AReaL when the run used them": {
			func() *classifier.Run {
				r := run("areal")
				r.Config["rollout.max_concurrent_rollouts"] = classifier.Value{Value: "256", Form: "overrides"}
				return r
			}(), gpuOOM("rollout"), []Patch{{"hydra", "rollout.max_concurrent_rollouts=200"}},
		},
		"flags for slime": {
			run("slime", "use_dynamic_batch_size", "True", "max_tokens_per_gpu", "16384", "rollout_max_response_len", "4096"), gpuOOM("forward"),
			[]Patch{{"flag", "--max-tokens-per-gpu 10752"}},
		},
		"directives for Slurm": {
			run("unknown", "--mem", "96G"), &classifier.Incident{Kind: parser.OOMKill, Resource: "host", Phase: "data"}, []Patch{{"sbatch", "#SBATCH --mem=144G"}},
		},
		"JSON for DeepSpeed": {
			run("deepspeed", "train_micro_batch_size_per_gpu", "4", "zero_optimization.stage", "2"), gpuOOM("forward"),
			[]Patch{{"json", "{\n  \"train_micro_batch_size_per_gpu\": 2\n}"}},
		},
		"nothing is known, nothing is to be pasted": {run("verl"), gpuOOM("backward"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := For(c.run, c.in).Patch
			assert.Equal(t, c.want, got)
			for _, p := range got {
				var into map[string]any
				switch p.Syntax {
				case "yaml":
					require.NoError(t, yaml.Unmarshal([]byte(p.Text), &into))
				case "json":
					require.NoError(t, json.Unmarshal([]byte(p.Text), &into))
				}
			}
		})
	}
}

func TestASettingThatTheRunsVersionDoesNotKnowIsNotAdvised(t *testing.T) {
	t.Parallel()
	dump := func(form string, keys ...string) *classifier.Run {
		r := run("verl")
		for i, k := range keys {
			r.Config["actor_rollout_ref.model."+k] = classifier.Value{Value: "False", Form: form, At: parser.Position{Source: "a", Line: i + 1}}
		}
		return r
	}
	const id = "verl.activation-offload"
	old := pick(t, For(dump("pprint", "path", "external_lib", "use_remove_padding", "enable_gradient_checkpointing"), gpuOOM("backward")), id)
	require.NotNil(t, old.Applies)
	assert.False(t, *old.Applies)
	assert.Contains(t, old.AppliesWhy, "this run's version has no enable_activation_offload")

	now := pick(t, For(dump("pprint", "path", "external_lib", "use_remove_padding", "enable_activation_offload"), gpuOOM("backward")), id)
	assert.True(t, *now.Applies)
	part := pick(t, For(dump("overrides", "path", "external_lib", "use_remove_padding", "enable_gradient_checkpointing"), gpuOOM("backward")), id)
	assert.Nil(t, part.Applies, "overrides name only what was changed")
}
