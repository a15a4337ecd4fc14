package classifier

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestAProgramIsRecognizedByAnyOfItsTraces reads logs that show a program by one trace only: a path in a checkout or an
// installation, the label of a process, a logger, an argument, a command, a message.
func TestAProgramIsRecognizedByAnyOfItsTraces(t *testing.T) {
	t.Parallel()
	frame := func(file string) string {
		return "Traceback (most recent call last):\n  File \"" + file + "\", line 9, in f\n    x()\nValueError: no\n"
	}
	const (
		installed = "/opt/lib/python3.12/site-packages/"
		killed    = "slurmstepd: error: Detected 1 oom_kill event in StepId=7.batch. Some of the step tasks have been OOM Killed.\n"
	)
	engine := frame(installed + "vllm/device_allocator/cumem.py")
	for name, c := range map[string]struct{ log, framework, application, backend, engine string }{
		"a relative path of a checkout":           {frame("slime/utils/memory_utils.py"), "slime", "", "", ""},
		"a module's path in a checkout":           {frame("/w/my-verl/verl/workers/fsdp_workers.py"), "verl", "", "fsdp", ""},
		"a label in Ray's log alone":              {"(PolicyModelActor pid=1699020) \n" + killed, "openrlhf", "", "deepspeed", ""},
		"a label whose line has no other meaning": {"(MegatronTrainRayActor pid=20) hello\n" + killed, "slime", "", "", ""},
		"a label with an address":                 {"(WorkerDict pid=20, ip=10.0.0.3) hello\n" + killed, "verl", "", "", ""},
		"a label of a library that anybody uses":  {"(reward_func pid=20) hello\n" + killed, "unknown", "", "", ""},
		"the label of an engine's process":        {"(Worker_TP7_EP7 pid=4711) ERROR 06-02 14:31:01 [multiproc_executor.py:470] " + refusedOn3, "vllm", "", "", "vllm"},
		"a logger":                                {"2025-06-01 10:00:00 | ERROR | nemo_automodel.components.loader | " + refusedOn3, "torch", "automodel", "", ""},
		"DeepSpeed's launcher":                    {"[2025-06-01 10:00:00,123] [ERROR] [launch.py:325:sigkill_handler] ['/usr/bin/python', 'train.py'] exits with return code = 1\n" + killed, "deepspeed", "", "", ""},
		"an argument's name":                      {"config: {'worker.actor.micro_batch_size_per_device_for_update': 4, 'worker.rollout.n': 5}\n" + killed, "unknown", "easyr1", "", ""},
		"a setting's name":                        {"config: {'stage': 'sft', 'finetuning_type': 'lora'}\n" + killed, "unknown", "llamafactory", "", ""},
		"a command":                               {"+ llamafactory-cli train examples/sft.yaml\n" + killed, "unknown", "llamafactory", "", ""},
		"a message":                               {"▶ Setting up compute cluster...\n" + killed, "nemo_rl", "", "", ""},
		"JAX's allocator":                         {"jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 52428800000 bytes.\n", "jax", "", "", ""},
		"an application with its engine's stack":  {frame("/w/SkyRL/skyrl-train/skyrl_train/trainer.py") + engine, "unknown", "skyrl", "", "vllm"},
		"another one with its engine's stack":     {frame("/w/LLaMA-Factory/src/llamafactory/train/x.py") + engine, "vllm", "llamafactory", "", "vllm"}, // it only starts the engine
		"an application's strategy for Megatron":  {frame("/w/ROLL/roll/distributed/strategy/megatron_strategy.py") + frame(installed+"torch/utils/_contextlib.py"), "megatron", "roll", "megatron", ""},
		"an application's strategy for DeepSpeed": {frame("/w/ROLL/roll/distributed/strategy/deepspeed_strategy.py"), "deepspeed", "roll", "deepspeed", ""},
		"a class that it took from OpenRLHF":      {"(LLMRayActor pid=72011) hello\n" + frame("/w/open-instruct/open_instruct/grpo_fast.py") + frame(installed+"deepspeed/runtime/engine.py"), "deepspeed", "open_instruct", "deepspeed", ""},
		"an application's strategy for vLLM":      {frame("/w/ROLL/roll/distributed/strategy/vllm_strategy.py"), "unknown", "roll", "", "vllm"},
		"a folder that only has a program's name": {frame("/home/u/verl/train.py"), "unknown", "", "", ""},
		"an environment named after a program":    {frame("/opt/envs/areal/lib/python3.12/site-packages/torch/nn/functional.py"), "torch", "", "", ""},
		"a sentence about a program":              {"we moved from OpenRLHF to verl last week\n" + killed, "unknown", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := read(t, map[string]string{"a.log": c.log}).Run
			assert.Equal(t, []string{c.framework, c.application, c.backend, c.engine}, []string{run.Framework, run.Application, run.Backend, run.Engine})
		})
	}
}
