package classifier

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheModelIsNamedByTheSettingOfEachFramework(t *testing.T) {
	t.Parallel()
	const model = "Qwen/Qwen2.5-7B"
	for _, key := range []string{
		"actor_rollout_ref.model.path", "trainer.policy.model.path", "policy.model_name", "actor.path", "--model_name_or_path", "worker.actor.model.model_path", "--pretrain", "hf_checkpoint", "--hf-checkpoint",
		"base_model", "model.path", "model.name",
	} {
		name := func(value string) string {
			r := Run{Config: map[string]Value{key: {Value: value}}}
			r.modelFromConfig()
			return r.Model.Name
		}
		assert.Equal(t, model, name(model), key)
		assert.NotEqual(t, "None", name("None"), key)
	}
}

func TestTheBackendIsNamedOrHasTheOnlySettings(t *testing.T) {
	t.Parallel()
	const actor = "actor_rollout_ref.actor."
	for want, keys := range map[string][]string{
		"fsdp":     {actor + "fsdp_config.param_offload"},
		"megatron": {actor + "megatron.param_offload"},
		"fsdp2":    {actor + "fsdp_config.param_offload", actor + "megatron.param_offload", actor + "strategy"},
		"":         {actor + "fsdp_config.param_offload", actor + "megatron.param_offload"},
	} {
		r := Run{Config: map[string]Value{}}
		for _, k := range keys {
			r.Config[k] = Value{Value: "fsdp2"}
		}
		r.engineFromConfig()
		assert.Equal(t, want, r.Backend, keys)
	}
}

func TestAServersReadingsTellItsSettings(t *testing.T) {
	t.Parallel()
	const (
		budget = "INFO 02-27 07:01:13 worker.py:267] the current vLLM instance can use total_gpu_memory (39.39GiB) x gpu_memory_utilization (0.90) = 35.45GiB\n"
		server = "INFO 06-01 10:00:00 [api_server.py:1289] vLLM API server version 0.7.3\n"
	)
	for log, want := range map[string]string{
		server + budget: "0.90",
		server:          "",
		server + "+ vllm serve /m --gpu_memory_utilization 0.8\n" + budget:                                   "", // it is printed with its dashes
		"+ python3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.gpu_memory_utilization=0.6\n" + budget: "", // whose key is another
	} {
		assert.Equal(t, want, read(t, map[string]string{"a.log": log}).Run.Config["gpu_memory_utilization"].Value, log)
	}
}
