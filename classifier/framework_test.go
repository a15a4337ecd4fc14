package classifier

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/parser/traceback"
)

const site = "/opt/conda/lib/python3.11/site-packages/"

// stack makes a traceback of "FILE FUNCTION" lines.
func stack(lines ...string) []traceback.Frame {
	var out []traceback.Frame
	for _, l := range lines {
		file, fn, _ := strings.Cut(l, " ")
		out = append(out, traceback.Frame{File: file, Func: fn})
	}
	return out
}

func TestFrameworkIsTheOutermostThatRunsTheJob(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name                                    string
		frames                                  []traceback.Frame
		framework, application, trainer, engine string
	}{
		{"nothing", stack("train.py main"), "", "", "", ""},
		{"verl holding vLLM", stack("/root/verl/verl/workers/fsdp_workers.py generate_sequences", site+"vllm/v1/engine/core.py step"), "verl", "", "fsdp", "vllm"},
		{"EasyR1, a fork of verl", stack("/root/EasyR1/verl/workers/fsdp_workers.py update_actor"), "verl", "easyr1", "fsdp", ""},
		{"verl on Megatron", stack("/w/verl/verl/workers/megatron_workers.py update_actor", "/w/verl/verl/workers/actor/megatron_actor.py f"), "verl", "", "megatron", ""},
		{"an environment named after a framework", stack("/home/u/miniconda3/envs/verl/lib/python3.10/site-packages/torch/_tensor.py backward"), "torch", "", "", ""},
		{"a checkout below another's name", stack("/home/u/verl/train.py main", "/home/u/verl/AReaL/areal/engine/fsdp_engine.py train_batch"), "areal", "", "fsdp2", ""},
		{"TRL over DeepSpeed", stack(site+"transformers/trainer.py train", site+"trl/trainer/grpo_trainer.py compute_loss", site+"deepspeed/runtime/engine.py forward"), "trl", "hf_trainer", "deepspeed", ""},
		{"DeepSpeed alone", stack("train.py main", site+"torch/nn/modules/module.py f", site+"deepspeed/runtime/engine.py step"), "deepspeed", "", "deepspeed", ""},
		{"slime", stack("/root/slime/slime/backends/megatron_utils/actor.py train", "/root/Megatron-LM/megatron/core/optimizer/optimizer.py step"), "slime", "", "megatron", ""},
		{"Relax", stack("/root/Relax/relax/backends/megatron/model.py train"), "relax", "", "megatron", ""},
		{"legacy AReaL", stack("/w/realhf/system/model_worker.py f"), "areal", "", "", ""},
		{"OpenRLHF", stack(site + "openrlhf/trainer/ray/ppo_actor.py fit"), "openrlhf", "", "", ""},
		{"NeMo-RL", stack("/opt/nemo-rl/nemo_rl/models/policy/workers/megatron_policy_worker.py train"), "nemo_rl", "", "megatron", ""},
		{"SGLang alone", stack("/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py run_batch"), "sglang", "", "", "sglang"},
		{"SGLang over vLLM's code", stack(site+"sglang/srt/managers/scheduler.py run_batch", site+"vllm/model_executor/layers/linear.py apply"), "sglang", "", "", "sglang"},
		{"vLLM over SGLang's kernels", stack(site+"vllm/v1/engine/core.py step", site+"sglang/srt/layers/moe.py apply"), "vllm", "", "", "vllm"},
		{"transformers before vLLM", stack(site+"transformers/generation/utils.py generate", site+"vllm/v1/engine/core.py step"), "vllm", "", "", "vllm"},
		{"Windows", stack(`C:\Anaconda3\lib\site-packages\torch\nn\functional.py relu`), "torch", "", "", ""},
		{"FSDP2", stack(site + "torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py unshard"), "torch", "", "fsdp2", ""},
		{"LLaMA-Factory over the Trainer", stack("/w/LLaMA-Factory/src/llamafactory/train/sft/workflow.py run_sft", site+"transformers/trainer.py train"), "", "llamafactory", "", ""},
		{"the Trainer, whose library is everybody's", stack(site + "transformers/models/llama/modeling_llama.py forward"), "", "", "", ""},
		{"Lightning", stack(site+"lightning/pytorch/trainer/trainer.py fit", site+"torch/nn/modules/module.py f"), "torch", "lightning", "", ""},
		{"Lightning over DeepSpeed", stack(site+"lightning/pytorch/strategies/strategy.py backward", site+"deepspeed/runtime/engine.py backward"), "deepspeed", "lightning", "deepspeed", ""},
		{"verl's own torchtitan engine", stack("/w/verl/verl/workers/engine/torchtitan/transformer_impl.py f"), "verl", "", "torchtitan", ""},
		{"jax", stack("main.py main", site+"jax/_src/pjit.py cache_miss"), "jax", "", "", ""},
	} {
		assert.Equal(t, stackPrograms{x.framework, x.application, x.trainer, x.engine}, programsOf(x.frames), x.name)
	}
}

func TestOneLauncherStartsTheOther(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ a, b, want string }{
		{"", "slurm", "slurm"},
		{"torchrun", "slurm", "slurm"},
		{"slurm", "torchrun", "slurm"},
		{"slurm", "k8s", "k8s"},
		{"k8s", "ray", "ray"},
		{"slurm", "", "slurm"},
		{"slurm", "deepspeed", "slurm"},
		{"", "deepspeed", ""},
		{"", "none", "none"},
	} {
		assert.Equal(t, x.want, outermost(x.a, x.b), "%q and %q", x.a, x.b)
	}
}

func TestTheRegistryTellsProgramsApart(t *testing.T) {
	t.Parallel()
	owner := map[string]string{}
	for _, p := range programs {
		assert.NotZero(t, p.Roles, p.ID)
		assert.Equal(t, p.Is(Framework) || p.Is(Application), p.Guide != "", "%s: every framework and application has a guide, and nothing else has one", p.ID)
		words := []string{"id " + p.ID}
		for _, k := range p.Packages {
			assert.NotEmpty(t, k.Modules, k.Name)
			words = append(words, "package "+k.Name)
		}
		for _, a := range p.Actors {
			words = append(words, "actor "+a)
		}
		for _, k := range p.Keys {
			words = append(words, "key "+k)
		}
		for _, w := range words {
			assert.Empty(t, owner[w], "%s is %s's", w, p.ID)
			owner[w] = p.ID
		}
	}
	assert.Equal(t, "AReaL", FrameworkByID("areal").Name)
	assert.Zero(t, FrameworkByID("slurm"))
	assert.Zero(t, FrameworkByID("unknown"))
}

func FuzzProgramsOf(f *testing.F) {
	f.Add("/a/verl/workers/fsdp_workers.py")
	f.Add(`C:\x\site-packages\`)
	f.Add("")
	f.Fuzz(func(t *testing.T, file string) {
		got := programsOf([]traceback.Frame{{File: file}, {File: file}})
		assert.Equal(t, programsOf([]traceback.Frame{{File: file}}), got)
		assert.True(t, got.framework == "" || is(got.framework, Framework), got.framework)
	})
}
