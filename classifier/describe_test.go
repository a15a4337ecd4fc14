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
	for setting, want := range map[[2]string]string{
		{"--config_file", "examples/accelerate_configs/deepspeed_zero3.yaml"}: "deepspeed", {"--config_file", "./zero2.json"}: "deepspeed", {"--config_file", "fsdp2.yaml"}: "fsdp2",
		{"--config_file", "/deepspeed/multi_gpu.yaml"}: "", {"strategy", "deepspeed_stage_2_offload"}: "deepspeed", {"strategy", "fsdp"}: "fsdp", {"strategy", "ddp"}: "",
		{"--train-backend", "fsdp"}: "fsdp", {"--train-backend", "megatron"}: "megatron", {"--train-backend", "auto"}: "",
		{"--enable_fsdp", "True"}: "fsdp", {"--enable_fsdp", "False"}: "", {"distributed_type", "FSDP"}: "fsdp", {"distributed_type", "MULTI_GPU"}: "",
		{"fsdp_version", "2"}: "fsdp2", {"fsdp_config.fsdp_version", "1"}: "fsdp",
	} {
		r := Run{Config: map[string]Value{setting[0]: {Value: setting[1]}}}
		r.engineFromConfig()
		assert.Equal(t, want, r.Backend, setting)
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

func TestCodeInAStackSaysWhatAScriptSets(t *testing.T) {
	t.Parallel()
	const oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n"
	stack := func(file, code string) string {
		return "Traceback (most recent call last):\n  File \"" + file + "\", line 9, in <module>\n    " + code + "\n" + oom
	}
	for _, c := range []struct{ log, key, value, model string }{
		{stack("/home/u/gen.py", `model = AutoModel.from_pretrained("meta-llama/Llama-2-7b-hf", torch_dtype=torch.float32)`), "torch_dtype", "torch.float32", "meta-llama/Llama-2-7b-hf"},
		{stack("/home/u/gen.py", "emb = model.encode(docs, batch_size=512, show_progress_bar=True)"), "batch_size", "512", ""},
		{"trainer = SFTTrainer(model=model, args=args, max_steps=10, train_dataset=ds)\n" + oom, "max_steps", "10", ""},                // its model is a variable
		{stack("/home/u/gen.py", "emb = model.encode(docs, batch_size=size)"), "batch_size", "", ""},                                   // a variable
		{stack("/home/u/gen.py", "x = torch.zeros(n, dtype=torch.float32)"), "dtype", "", ""},                                          // of another tensor
		{stack("/usr/lib/python3/dist-packages/lib/x.py", `from_pretrained("a/b", torch_dtype=torch.float32)`), "torch_dtype", "", ""}, // not the user's
		{"batch_size: 8\nlearning_rate: 0.1\n" + stack("/home/u/gen.py", "model.encode(docs, batch_size=512)"), "batch_size", "8", ""}, // the log decides
	} {
		r := read(t, map[string]string{"a.log": c.log}).Run
		assert.Equal(t, c.value, r.Config[c.key].Value, c.log)
		assert.Equal(t, c.model, r.Model.Name, c.log)
	}
}
