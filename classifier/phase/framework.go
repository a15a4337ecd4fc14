package phase

import (
	"slices"
	"strings"

	"oomscan/parser/traceback"
)

// owner names a framework by its package.
type owner struct {
	name    string
	pkg     string   // top-level package
	subs    []string // what the package holds, to know it in a checkout, where any folder may carry its name
	library bool     // counts only when no framework that runs the job is on the stack
}

// owners in the order that decides between libraries: a stack through deepspeed and torch is deepspeed's.
var owners = []owner{
	{name: "verl", pkg: "verl", subs: []string{"trainer", "workers", "single_controller", "experimental", "checkpoint_engine", "protocol.py", "utils"}},
	{name: "areal", pkg: "areal", subs: []string{"engine", "trainer", "experimental", "infra", "core", "launcher", "api", "utils", "workflow", "controller"}},
	{name: "areal", pkg: "arealite", subs: []string{"engine", "api", "utils", "workflow"}},
	{name: "areal", pkg: "realhf", subs: []string{"system", "impl", "base", "api", "apps"}},
	{name: "relax", pkg: "relax", subs: []string{"backends", "components", "core", "distributed", "engine", "entrypoints", "utils"}},
	{name: "slime", pkg: "slime", subs: []string{"backends", "ray", "rollout", "utils", "observability"}},
	{name: "slime", pkg: "miles", subs: []string{"backends", "ray", "rollout", "utils"}}, // a fork that keeps its layout
	{name: "openrlhf", pkg: "openrlhf", subs: []string{"cli", "trainer", "utils", "models", "datasets"}},
	{name: "trl", pkg: "trl", subs: []string{"trainer", "generation", "extras", "models", "scripts"}},
	{name: "trl", pkg: "rlhf_trainer", subs: []string{"grpo_trainer.py", "dpo_trainer.py", "kto_trainer.py", "rlhf_mixin.py"}}, // ms-swift's, derived from TRL's
	{name: "trl", pkg: "unsloth_compiled_cache", subs: []string{
		"UnslothGRPOTrainer.py", "UnslothRLOOTrainer.py", "UnslothSFTTrainer.py", "UnslothDPOTrainer.py", "UnslothKTOTrainer.py", "UnslothORPOTrainer.py",
	}}, // TRL's trainers, rewritten
	{name: "nemo_rl", pkg: "nemo_rl", subs: []string{"algorithms", "models", "distributed", "experience", "utils", "data"}},
	{name: "deepspeed", pkg: "deepspeed", subs: []string{"runtime", "ops", "utils", "__init__.py"}, library: true},
	{name: "megatron", pkg: "megatron", subs: []string{"core", "training", "training.py", "schedules.py", "optimizer", "model", "mpu", "legacy"}, library: true},
	{name: "vllm", pkg: "vllm", subs: []string{"v1", "worker", "engine", "executor", "entrypoints", "model_executor"}, library: true},
	{name: "sglang", pkg: "sglang", subs: []string{"srt", "launch_server.py"}, library: true},
	{name: "jax", pkg: "jax", subs: []string{"_src", "experimental", "interpreters"}, library: true},
	{name: "jax", pkg: "flax", subs: []string{"linen", "training", "nnx", "core"}, library: true},
	{name: "torch", pkg: "torch", subs: []string{"nn", "autograd", "optim", "utils", "distributed", "cuda", "_tensor.py"}, library: true},
}

// Framework tells whose files a stack passes through: the framework whose guide a user would follow (a design word, empty
// when no known package is on the stack), the training backend and the inference engine. A framework that runs the job
// goes before the libraries below it; of several the outermost counts. Folders above an installed package say nothing:
// virtual environments are often named after what is installed in them.
func Framework(frames []traceback.Frame) (framework, backend, engine string) {
	lib := len(owners)
	for i := range frames {
		comps := split(frames[i].File)
		if o := ownerOf(comps); o >= 0 {
			if !owners[o].library && framework == "" {
				framework = owners[o].name
			}
			if owners[o].library && (lib == len(owners) || !serves(owners[lib].name) || !serves(owners[o].name)) {
				lib = min(lib, o)
			}
		}
		backend = prefer(backends, backend, comps)
		if !serves(engine) {
			engine = prefer(engines, engine, comps)
		}
	}
	if framework == "" && lib < len(owners) {
		framework = owners[lib].name
	}
	return framework, backend, engine
}

// serves says that a library is a server. One may be built on another's code, as SGLang was on vLLM's: the outer one runs.
func serves(name string) bool { return name == "vllm" || name == "sglang" }

// ownerOf returns the index of the owner of a path, or -1. The innermost folder of a known package wins, so that a
// checkout below a folder of another framework's name is read right.
func ownerOf(comps []string) int {
	if len(comps) > 1 && comps[0] == installed {
		return slices.IndexFunc(owners, func(o owner) bool { return o.pkg == comps[1] })
	}
	for i := len(comps) - 2; i >= 0; i-- {
		for j := range owners {
			if owners[j].pkg == comps[i] && slices.Contains(owners[j].subs, comps[i+1]) {
				return j
			}
		}
	}
	return -1
}

// mark ties a piece of a path to a name. Earlier marks go before later ones.
type mark struct{ piece, name string }

var backends = []mark{
	{"megatron_workers.py", "megatron"},
	{"megatron_actor.py", "megatron"},
	{"megatron_engine.py", "megatron"},
	{"engine/megatron/", "megatron"},
	{"megatron_utils/", "megatron"},
	{"backends/megatron/", "megatron"},
	{"/megatron/core/", "megatron"},
	{"/megatron/training", "megatron"},
	{"megatron_policy_worker", "megatron"},
	{"/deepspeed/", "deepspeed"},
	{"engine/veomni/", "veomni"},
	{"engine/torchtitan/", "torchtitan"},
	{"engine/automodel/", "automodel"},
	{"engine/mindspeed/", "mindspeed"},
	{"/archon_", "archon"},
	{"fsdp/_fully_shard/", "fsdp2"},
	{"_composable/fsdp/", "fsdp2"},
	{"engine/fsdp_engine.py", "fsdp2"},
	{"dtensor_policy_worker", "fsdp2"},
	{"torch/distributed/fsdp/", "fsdp"},
	{"fsdp_workers.py", "fsdp"},
	{"/dp_actor.py", "fsdp"},
	{"/dp_critic.py", "fsdp"},
	{"engine/fsdp/", "fsdp"},
	{"backends/fsdp_utils/", "fsdp"},
	{"torch/nn/parallel/distributed.py", "ddp"},
}

var engines = []mark{
	{"/vllm/", "vllm"},
	{"vllm_rollout", "vllm"},
	{"fsdp_vllm.py", "vllm"},
	{"megatron_vllm.py", "vllm"},
	{"vllm_engine", "vllm"},
	{"vllm_generation.py", "vllm"},
	{"/sglang/", "sglang"},
	{"sglang_rollout", "sglang"},
	{"fsdp_sglang.py", "sglang"},
	{"megatron_sglang.py", "sglang"},
	{"sglang_utils/", "sglang"},
	{"sglang_remote.py", "sglang"},
	{"transformers/generation/", "hf"},
	{"hf_rollout.py", "hf"},
}

// prefer returns the name of the foremost mark seen, so far or in this path.
func prefer(marks []mark, seen string, comps []string) string {
	p := "/" + strings.Join(comps, "/")
	for _, m := range marks {
		if m.name == seen {
			return seen
		}
		if strings.Contains(p, m.piece) {
			return m.name
		}
	}
	return seen
}
