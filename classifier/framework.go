package classifier

import (
	"slices"
	"strings"
)

// Role is what a program does in a run. A program may have several.
type Role uint8

// The roles. The registry's order decides between programs of one role: the earlier one contains the later one.
const (
	Framework Role = 1 << iota // runs the job; the user follows its guide
	// An Application is what the user starts and configures, on top of a framework or with its own memory. Its guide comes
	// before the framework's; Run.Framework remains the framework underneath.
	Application
	Trainer  // shards and trains the model: Run.Backend
	Engine   // generates: Run.Engine
	Launcher // starts the processes: Run.Launcher
)

// Package is a Python package and some of its modules. Any folder of a checkout may have the package's name, so one of the
// modules must be below it.
type Package struct {
	Name    string
	Modules []string
}

// Program is a framework, trainer, engine or launcher that oomscan knows.
type Program struct {
	ID       string // stable: reports and flags carry it
	Name     string // as its makers write it
	Roles    Role
	Library  bool      // a framework that counts only where none that builds on it shows
	Guide    string    // id of the guide of a framework or an application
	Dialect  string    // how its settings are written, by the words of the guides' surfaces; empty: in several ways
	Colocate bool      // a framework whose trainer and engine may share a GPU
	NoTorch  bool      // has an allocator of its own: advice about PyTorch's does not help
	Packages []Package // whose frames show that the framework runs
	Files    []string  // parts of paths that show which trainer or engine runs
	Loggers  []string  // words in what its loggers name: modules, files, functions
	Clock    string    // of the stamps that only its logger writes
	Actors   []string  // classes of Ray actors and labels of processes that only this program has
	Drivers  []string  // those of its actors that only drive others: a failure of a GPU that they print is a worker's
	Servers  []string  // ends of the paths of its scripts that start an engine and nothing else
	Workers  []string  // beginnings of the labels of an engine's processes
	Keys     []string  // parts of names of settings that only this framework has
}

// Is reports whether a program has all of these roles.
func (p *Program) Is(roles Role) bool { return p.Roles&roles == roles }

// programs is the registry. A framework comes before those it builds on: the run's framework is the first one with evidence. A
// new framework needs one entry here and a guide; rules in package phase only if its functions are named like no other program's.
var programs = []Program{
	{
		ID: "easyr1", Name: "EasyR1", Roles: Application, Guide: "easyr1", Dialect: "yaml", Colocate: true, // a fork of verl with settings of its own
		Packages: []Package{{"EasyR1", []string{"verl"}}},
		Keys:     []string{"micro_batch_size_per_device_for_update", "micro_batch_size_per_device_for_experience", "worker.actor.", "worker.rollout.", "worker.ref."},
	},
	{
		ID: "relax", Name: "Relax", Roles: Framework, Guide: "relax", Dialect: "flag", Colocate: true,
		Packages: []Package{{"relax", []string{"backends", "components", "core", "distributed", "engine", "entrypoints", "utils"}}},
		Keys:     []string{"enable_cuda_memory_check"}, // its actors have slime's names
	},
	{
		ID: "slime", Name: "slime", Roles: Framework, Guide: "slime", Dialect: "flag", Colocate: true,
		Packages: []Package{
			{"slime", []string{"backends", "ray", "rollout", "utils", "observability"}},
			{"miles", []string{"backends", "ray", "rollout", "utils"}}, // a fork that keeps its layout
		},
		Actors:  []string{"RolloutManager", "MegatronTrainRayActor", "FSDPTrainRayActor"},
		Drivers: []string{"RolloutManager"},
		Keys:    []string{"rollout-num-gpus-per-engine", "rollout_num_gpus_per_engine", "sglang-mem-fraction-static", "sglang_mem_fraction_static"},
	},
	{
		ID: "areal", Name: "AReaL", Roles: Framework, Guide: "areal", Dialect: "yaml",
		Packages: []Package{
			{"areal", []string{"engine", "trainer", "experimental", "infra", "core", "launcher", "api", "utils", "workflow", "controller"}},
			{"arealite", []string{"engine", "api", "utils", "workflow"}},
			{"realhf", []string{"system", "impl", "base", "api", "apps"}},
		},
		Actors: []string{"model_worker", "master_worker", "MasterWorker", "rollout_worker", "gserver_manager"}, // before 0.4
		Keys:   []string{"gconfig.", "actor.mb_spec"},
	},
	{
		ID: "verl", Name: "verl", Roles: Framework, Guide: "verl", Dialect: "hydra", Colocate: true,
		Packages: []Package{{"verl", []string{"trainer", "workers", "single_controller", "experimental", "checkpoint_engine", "protocol.py", "utils"}}},
		Actors: []string{
			"WorkerDict", "TaskRunner", "TaskRunnerV1", "main_task", "FusedWorker", "vLLMHttpServer", "SGLangHttpServer", "AsyncvLLMServer",
			"AsyncSglangServer", "AgentLoopWorker", "DetachActorWorker", "FullyAsyncTaskRunner", "FullyAsyncTrainer", "FullyAsyncRollouter",
			"OneStepTaskRunner", "RewardLoopWorker", "CheckpointEngineWorker",
		},
		Drivers: []string{"TaskRunner", "TaskRunnerV1", "main_task", "FullyAsyncTaskRunner", "FullyAsyncTrainer", "FullyAsyncRollouter", "OneStepTaskRunner"},
		Keys:    []string{"actor_rollout_ref."},
	},
	{
		ID: "open_instruct", Name: "Open-Instruct", Roles: Application, Guide: "open-instruct", Dialect: "flag",
		Packages: []Package{{"open_instruct", []string{
			"grpo_fast.py", "grpo.py", "grpo_utils.py", "grpo_olmo_core_actor.py", "finetune.py", "dpo.py", "dpo_tune.py", "dpo_tune_cache.py", "dpo_utils.py", "ppo_fast.py", "reward_modeling.py", "model_utils.py",
			"vllm_utils.py", "vllm_utils3.py",
		}}},
		Actors: []string{"PolicyTrainerRayProcess"},
	},
	{
		ID: "openrlhf", Name: "OpenRLHF", Roles: Framework, Guide: "openrlhf", Dialect: "flag", Colocate: true,
		Packages: []Package{{"openrlhf", []string{"cli", "trainer", "utils", "models", "datasets"}}},
		Actors: []string{
			"PolicyModelActor", "CriticModelActor", "ReferenceModelActor", "RewardModelActor", "ActorModelRayActor", "LLMRayActor", "RolloutRayActor",
		},
		Keys: []string{"micro_rollout_batch_size"},
	},
	{
		ID: "skyrl", Name: "SkyRL", Roles: Application, Guide: "skyrl", Dialect: "hydra", Colocate: true,
		Packages: []Package{
			{"skyrl", []string{"train", "backends", "tinker", "utils", "tx"}},
			{"skyrl_train", []string{"trainer.py", "workers", "utils", "entrypoints", "inference_engines", "distributed", "generators", "weight_sync", "fully_async_trainer.py", "models", "model_wrapper.py"}},
		},
		Actors:  []string{"FSDPPolicyWorkerBase", "FSDPRefWorkerBase", "FSDPCriticWorkerBase", "MegatronPolicyWorkerBase", "MegatronRefWorkerBase", "MegatronCriticWorkerBase", "skyrl_entrypoint"},
		Drivers: []string{"skyrl_entrypoint"},
		Keys:    []string{"trainer.micro_forward_batch_size_per_gpu", "trainer.micro_train_batch_size_per_gpu"},
	},
	{
		ID: "nemo_rl", Name: "NeMo-RL", Roles: Framework, Guide: "nemo-rl", Dialect: "hydra", Colocate: true,
		Packages: []Package{{"nemo_rl", []string{"algorithms", "models", "distributed", "experience", "utils", "data"}}},
		Actors: []string{
			"DTensorPolicyWorker", "DTensorPolicyWorkerV2", "MegatronPolicyWorker", "VllmGenerationWorker", "VllmAsyncGenerationWorker",
		},
		Keys: []string{"policy.generation.vllm_cfg", "policy.dtensor_cfg", "policy.megatron_cfg"},
	},
	{
		ID: "roll", Name: "ROLL", Roles: Application, Guide: "roll", Dialect: "yaml", Colocate: true,
		Packages: []Package{{"roll", []string{"pipeline", "distributed", "third_party", "models", "utils", "configs", "datasets"}}},
		Keys:     []string{"actor_train.strategy_args", "actor_train.training_args", "actor_infer.strategy_args"},
	},
	{
		ID: "rlinf", Name: "RLinf", Roles: Application, Guide: "rlinf", Dialect: "yaml", Colocate: true,
		Packages: []Package{{"rlinf", []string{"workers", "hybrid_engines", "models", "runners", "scheduler", "algorithms", "agents", "envs", "utils"}}},
		Actors:   []string{"EmbodiedFSDPActor", "MultiStepRolloutWorker"},
		Keys:     []string{"component_placement"},
	},
	{
		ID: "prime_rl", Name: "prime-rl", Roles: Application, Guide: "prime-rl", Dialect: "flag",
		Packages: []Package{{"prime_rl", []string{"trainer", "orchestrator", "inference", "utils", "entrypoints"}}},
	},
	{
		ID: "trlx", Name: "trlX", Roles: Application, Guide: "trlx", Dialect: "yaml",
		Packages: []Package{{"trlx", []string{"trlx.py", "trainer", "models", "pipeline", "utils", "data"}}},
	},
	{
		ID: "automodel", Name: "NeMo AutoModel", Roles: Application | Trainer, Guide: "automodel", Dialect: "yaml",
		Packages: []Package{{"nemo_automodel", []string{"recipes", "components", "_transformers", "_diffusers", "shared", "cli", "_cli"}}},
		Files:    []string{"engine/automodel/"}, // verl's
		Loggers:  []string{"nemo_automodel"},
		Keys:     []string{"step_scheduler.local_batch_size"},
	},
	{
		ID: "llamafactory", Name: "LLaMA-Factory", Roles: Application, Guide: "llamafactory", Dialect: "yaml",
		Packages: []Package{
			{"llamafactory", []string{"train", "model", "data", "hparams", "cli.py", "launcher.py", "chat", "eval", "extras", "webui", "api"}},
			{"llmtuner", []string{"train", "model", "data", "hparams", "extras", "chat", "tuner"}}, // before 0.8
			{"LLaMA-Efficient-Tuning", []string{"src"}}, // in 2023
		},
		Loggers: []string{"llamafactory", "llmtuner"},
		Keys:    []string{"finetuning_type"},
	},
	{
		ID: "swift", Name: "ms-swift", Roles: Application, Guide: "ms-swift", Dialect: "flag", Colocate: true,
		Packages: []Package{{"swift", []string{"trainers", "pipelines", "megatron", "llm", "rlhf_trainers", "plugin", "tuners", "cli", "arguments", "model", "template"}}},
		Servers:  []string{"/swift/cli/rollout.py", "/swift/cli/deploy.py", "/swift/llm/infer/rollout.py", "/swift/llm/infer/deploy.py"},
	},
	{
		ID: "axolotl", Name: "axolotl", Roles: Application, Guide: "axolotl", Dialect: "yaml",
		Packages: []Package{{"axolotl", []string{"cli", "train.py", "core", "utils", "monkeypatch", "integrations", "kernels", "loaders", "prompters.py"}}},
		Loggers:  []string{"axolotl"},
	},
	{
		ID: "unsloth", Name: "Unsloth", Roles: Application, Guide: "unsloth", Colocate: true,
		Packages: []Package{
			{"unsloth", []string{"models", "kernels", "save.py", "trainer.py", "tokenizer_utils.py", "utils", "dataprep"}},
			{"unsloth_zoo", []string{"gradient_checkpointing.py", "vllm_utils.py", "rl_replacements.py", "saving_utils.py", "loss_utils.py", "compiler.py", "utils.py", "patching_utils.py"}},
			{"unsloth_compiled_cache", []string{
				"UnslothGRPOTrainer.py", "UnslothRLOOTrainer.py", "UnslothSFTTrainer.py", "UnslothDPOTrainer.py", "UnslothKTOTrainer.py", "UnslothORPOTrainer.py",
			}}, // TRL's trainers, rewritten
		},
	},
	{
		ID: "trl", Name: "TRL", Roles: Framework, Guide: "trl", Colocate: true,
		Keys: []string{"vllm_mode", "vllm_enable_sleep_mode", "max_completion_length"},
		Packages: []Package{
			{"trl", []string{"trainer", "generation", "extras", "models", "scripts", "examples"}},
			{"rlhf_trainer", []string{"grpo_trainer.py", "dpo_trainer.py", "kto_trainer.py", "rlhf_mixin.py"}}, // ms-swift's, derived from TRL's
		},
		Servers: []string{"/trl/scripts/vllm_serve.py"},
	},
	{
		ID: "torchtune", Name: "torchtune", Roles: Application, Guide: "torchtune", Dialect: "yaml",
		Packages: []Package{
			{"torchtune", []string{"_cli", "training", "modules", "models", "rlhf", "generation", "datasets", "data", "utils"}},
			{"recipes", []string{
				"full_finetune_distributed.py", "full_finetune_single_device.py", "lora_finetune_distributed.py", "lora_finetune_single_device.py", "lora_dpo_distributed.py",
				"lora_dpo_single_device.py", "full_dpo_distributed.py", "qat_distributed.py", "eleuther_eval.py",
			}},
		},
		Loggers: []string{"torchtune"},
	},
	{
		ID: "torchtitan", Name: "TorchTitan", Roles: Application | Trainer, Guide: "torchtitan", Dialect: "flag",
		Packages: []Package{{"torchtitan", []string{"train.py", "models", "components", "distributed", "experiments", "tools", "trainer.py", "config"}}},
		Files:    []string{"engine/torchtitan/"},
	},
	{
		ID: "fooocus", Name: "Fooocus", Roles: Application, Guide: "fooocus", Dialect: "flag", // before ComfyUI, whose lines its engine prints
		Packages: []Package{{"ldm_patched", []string{"modules", "ldm", "k_diffusion", "contrib"}}, {"Fooocus", []string{"modules", "webui.py", "launch.py", "extras", "entry_with_update.py"}}},
	},
	{
		ID: "sdwebui", Name: "Stable Diffusion web UI", Roles: Application, Guide: "sdwebui", Dialect: "flag", // before ComfyUI, whose lines Forge prints
		Packages: []Package{{"stable-diffusion-webui", []string{"modules", "webui.py", "repositories"}}, {"stable-diffusion-webui-forge", []string{"modules", "modules_forge", "backend"}}},
	},
	{
		ID: "comfyui", Name: "ComfyUI", Roles: Application, Guide: "comfyui", Dialect: "flag",
		Packages: []Package{
			{"comfy", []string{"model_management.py", "samplers.py", "sample.py", "sd.py", "ldm", "model_base.py", "ops.py", "model_patcher.py", "k_diffusion", "utils.py"}},
			{"ComfyUI", []string{"execution.py", "nodes.py", "main.py", "comfy", "comfy_extras", "custom_nodes"}},
		},
	},
	{
		ID: "ai_toolkit", Name: "AI Toolkit", Roles: Application, Guide: "ai-toolkit", Dialect: "yaml",
		Packages: []Package{{"ai-toolkit", []string{"toolkit", "jobs", "extensions_built_in", "run.py"}}},
	},
	{
		ID: "exllama", Name: "ExLlama", Roles: Application | Engine, Guide: "exllama",
		Packages: []Package{
			{"exllamav2", []string{"model.py", "cache.py", "generator", "attn.py", "mlp.py", "linear.py"}},
			{"exllamav3", []string{"model", "cache", "generator", "modules", "loader"}},
		},
	},
	{
		ID: "tgi", Name: "Text Generation Inference", Roles: Application | Engine, Guide: "tgi", Dialect: "flag",
		Packages: []Package{{"text_generation_server", []string{"server.py", "cli.py", "models", "layers", "utils", "interceptor.py", "tracing.py"}}},
	},
	{
		ID: "lmdeploy", Name: "LMDeploy", Roles: Application | Engine, Guide: "lmdeploy", Dialect: "flag",
		Packages: []Package{{"lmdeploy", []string{"pytorch", "vl", "serve", "turbomind", "cli", "pipeline.py", "api.py", "lite"}}},
		Loggers:  []string{"lmdeploy"},
	},
	{
		ID: "mlc", Name: "MLC-LLM", Roles: Application | Engine, NoTorch: true, Guide: "mlc", Dialect: "flag",
		Packages: []Package{{"mlc_llm", []string{"serve", "cli", "interface"}}},
	},
	{ID: "llmcompressor", Name: "LLM Compressor", Roles: Application, Guide: "calibration", Packages: []Package{{"llmcompressor", []string{"entrypoints", "pipelines", "modifiers", "transformers"}}}},
	{ID: "autoawq", Name: "AutoAWQ", Roles: Application, Guide: "calibration", Packages: []Package{{"awq", []string{"quantize"}}}},
	{ID: "autogptq", Name: "AutoGPTQ", Roles: Application, Guide: "calibration", Packages: []Package{{"auto_gptq", []string{"modeling", "quantization"}}}},
	{ID: "gptqmodel", Name: "GPTQModel", Roles: Application, Guide: "calibration", Packages: []Package{{"gptqmodel", []string{"looper", "models", "quantization"}}}},
	{ID: "optimum", Name: "Optimum", Roles: Application, Guide: "calibration", Packages: []Package{{"optimum", []string{"gptq"}}}},
	{ID: "autoround", Name: "AutoRound", Roles: Application, Guide: "calibration", Packages: []Package{{"auto_round", []string{"algorithms", "autoround.py", "calibration", "compressors", "mllm"}}}},
	{ID: "modelopt", Name: "Model Optimizer", Roles: Application, Guide: "calibration", Packages: []Package{{"quantization", []string{"model_calib.py", "model_quant.py"}}}}, // modelopt/torch/quantization
	{ID: "triton", Name: "Triton Inference Server", Roles: Application, Guide: "triton", NoTorch: true},
	{
		ID: "vllm", Name: "vLLM", Roles: Framework | Engine, Library: true, Guide: "vllm", Dialect: "flag",
		Packages: []Package{
			{"vllm", []string{"v1", "worker", "engine", "executor", "entrypoints", "model_executor"}},
			{"vllm_ascend", []string{"worker", "attention", "ops", "distributed", "quantization", "models", "spec_decode"}},
		},
		Files:   []string{"/vllm/", "/vllm_ascend/", "vllm_rollout", "fsdp_vllm.py", "megatron_vllm.py", "vllm_engine", "vllm_generation.py", "strategy/vllm_strategy.py"},
		Workers: []string{"VllmWorker", "EngineCore", "RayWorkerWrapper", "Worker_DP", "Worker_PP", "Worker_TP", "Worker_EP"}, // "EngineCore_DP1", "Worker_TP7_EP7"; vllm/executor/ray_utils.py
		Clock:   "vllm",
	},
	{
		ID: "sglang", Name: "SGLang", Roles: Framework | Engine, Library: true, Guide: "sglang", Dialect: "flag",
		Packages: []Package{{"sglang", []string{"srt", "launch_server.py"}}},
		Files:    []string{"/sglang/", "sglang_rollout", "fsdp_sglang.py", "megatron_sglang.py", "sglang_utils/", "sglang_remote.py", "strategy/sglang_strategy.py"},
	},
	{
		ID: "trtllm", Name: "TensorRT-LLM", Roles: Application | Engine, Guide: "trtllm", Dialect: "flag",
		Packages: []Package{{"tensorrt_llm", []string{"_torch", "executor", "runtime", "llmapi", "commands", "serve", "builder.py", "hlapi", "models"}}},
		Loggers:  []string{"TRT-LLM"},
	},
	{ID: "ollama", Name: "Ollama", Roles: Application | Engine, Guide: "ollama", NoTorch: true, Actors: []string{"ollama"}},
	{ID: "llamacpp", Name: "llama.cpp", Roles: Application | Engine, Guide: "llamacpp", Dialect: "flag", NoTorch: true, Actors: []string{"llama-server", "llama-cli"}},
	{ID: "hf", Name: "Hugging Face Transformers", Roles: Engine, Files: []string{"transformers/generation/", "transformers/generation_utils.py", "hf_rollout.py"}},
	{
		ID: "hf_trainer", Name: "Hugging Face Trainer", Roles: Application, Guide: "hf-trainer", Dialect: "flag",
		Packages: []Package{{"transformers", []string{"trainer.py", "trainer_seq2seq.py", "training_args.py", "trainer_pt_utils.py"}}},
	},
	{
		ID: "diffusers", Name: "Diffusers", Roles: Application, Guide: "diffusers",
		Packages: []Package{
			{"diffusers", []string{"pipelines", "models", "schedulers", "loaders", "examples", "utils", "hooks"}},
			{"sd-scripts", []string{"train_network.py", "flux_train.py", "sdxl_train.py", "library", "networks"}},
			{"kohya_ss", []string{"train_network.py", "fine_tune.py", "sdxl_train.py", ".", "library", "networks"}},
		},
	},
	{ID: "gpt_neox", Name: "GPT-NeoX", Roles: Application, Guide: "deepspeed", Dialect: "yaml", Files: []string{"/gpt-neox/megatron/", "/megatron/neox_arguments/"}, Keys: []string{"pipe_parallel_size"}},
	{
		ID: "megatron", Name: "Megatron-LM", Roles: Framework | Trainer, Library: true, Guide: "megatron", Dialect: "flag",
		Packages: []Package{{"megatron", []string{"core", "training", "training.py", "schedules.py", "optimizer", "model", "mpu", "legacy"}}},
		Files: []string{
			"megatron_workers.py", "megatron_actor.py", "megatron_engine.py", "engine/megatron/", "megatron_utils/", "backends/megatron/",
			"/megatron/core/", "/megatron/training", "megatron_policy_worker", "/workers/megatron/", "strategy/megatron_strategy.py",
		},
		Keys: []string{"accumulate_allreduce_grads_in_fp32"},
	},
	{
		ID: "lightning", Name: "PyTorch Lightning", Roles: Application, Guide: "lightning",
		Packages: []Package{
			{"pytorch_lightning", []string{"trainer", "core", "loops", "strategies", "plugins", "callbacks", "utilities", "overrides", "accelerators"}},
			{"lightning", []string{"pytorch", "fabric"}},
			{"lightning_fabric", []string{"strategies", "plugins", "wrappers.py"}},
		},
	},
	{
		ID: "deepspeed", Name: "DeepSpeed", Roles: Framework | Trainer, Library: true, Guide: "deepspeed",
		Packages: []Package{{"deepspeed", []string{"runtime", "ops", "utils", "launcher", "__init__.py"}}},
		Files:    []string{"/deepspeed/", "strategy/deepspeed_strategy.py"},
		Loggers:  []string{"sigkill_handler", "log_dist", "see_memory_usage"},
	},
	{
		ID: "jax", Name: "JAX", Roles: Framework, Library: true, Guide: "jax", NoTorch: true,
		Packages: []Package{
			{"jax", []string{"_src", "experimental", "interpreters"}},
			{"flax", []string{"linen", "training", "nnx", "core"}},
		},
	},
	{
		ID: "tensorflow", Name: "TensorFlow", Roles: Application, Guide: "tensorflow", NoTorch: true,
		Packages: []Package{
			{"tensorflow", []string{"python", "core", "compiler"}},
			{"keras", []string{"src", "engine", "utils"}},
		},
	},
	{
		ID: "torch", Name: "PyTorch", Roles: Framework, Library: true, Guide: "torch",
		Packages: []Package{{"torch", []string{"nn", "autograd", "optim", "utils", "distributed", "cuda", "_tensor.py"}}},
	},
	{ID: "veomni", Name: "VeOmni", Roles: Trainer, Files: []string{"engine/veomni/"}},
	{ID: "mindspeed", Name: "MindSpeed", Roles: Trainer, Files: []string{"engine/mindspeed/"}},
	{ID: "archon", Name: "Archon", Roles: Trainer, Files: []string{"/archon_"}},
	{ID: "fsdp2", Name: "FSDP2", Roles: Trainer, Files: []string{"fsdp/_fully_shard/", "_composable/fsdp/", "engine/fsdp_engine.py", "dtensor_policy_worker"}},
	{ID: "fsdp", Name: "FSDP", Roles: Trainer, Files: []string{
		"torch/distributed/fsdp/", "fsdp_workers.py", "/dp_actor.py", "/dp_critic.py", "engine/fsdp/", "backends/fsdp_utils/",
	}},
	{ID: "ddp", Name: "DistributedDataParallel", Roles: Trainer, Files: []string{"torch/nn/parallel/distributed.py"}},
	{ID: "ray", Name: "Ray", Roles: Launcher}, // before Slurm: it starts the workers itself, Slurm only starts Ray
	{ID: "k8s", Name: "Kubernetes", Roles: Launcher},
	{ID: "slurm", Name: "Slurm", Roles: Launcher},
	{ID: "torchrun", Name: "torchrun", Roles: Launcher},
	{ID: "none", Roles: Launcher},
}

// placeThat returns the index of the first program in the registry that matches, or -1.
func placeThat(matches func(p *Program) bool) int {
	for i := range programs { // slices.IndexFunc would copy each
		if matches(&programs[i]) {
			return i
		}
	}
	return -1
}

// place returns the index of a program in the registry, or -1.
func place(id string) int { return placeThat(func(p *Program) bool { return p.ID == id }) }

// idThat returns the id of the first program in the registry that matches, or "".
func idThat(matches func(p *Program) bool) string {
	if i := placeThat(matches); i >= 0 {
		return programs[i].ID
	}
	return ""
}

// is reports whether a program is known and has all of the roles.
func is(id string, roles Role) bool {
	i := place(id)
	return i >= 0 && programs[i].Is(roles)
}

// isServer reports whether a program is an inference server: an engine that also runs on its own.
func isServer(id string) bool { return is(id, Framework|Engine) }

// IDs returns the ids of the programs that have all of the roles, in the order of the registry.
func IDs(roles Role) []string {
	var ids []string
	for i := range programs {
		if programs[i].Is(roles) {
			ids = append(ids, programs[i].ID)
		}
	}
	return ids
}

// FrameworkByID returns the framework or application with an id, or the zero Program.
func FrameworkByID(id string) Program {
	if i := place(id); i >= 0 && (programs[i].Is(Framework) || programs[i].Is(Application)) {
		return programs[i]
	}
	return Program{}
}

// IsTorch reports whether a framework is PyTorch or built on it.
func IsTorch(id string) bool {
	return is(id, Framework) && !programs[place(id)].NoTorch
}

// outermost returns which of two launchers starts the other. Other programs start nothing.
func outermost(a, b string) string {
	if !is(b, Launcher) || is(a, Launcher) && place(a) < place(b) {
		return a
	}
	return b
}

// programOfLogger returns the program that has a logger of that name or writes stamps of that clock, or "".
func programOfLogger(name, clock string) string {
	words := strings.FieldsFunc(name, func(c rune) bool { return strings.ContainsRune(".:/", c) })
	return idThat(func(p *Program) bool {
		return p.Clock != "" && p.Clock == clock || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(p.Loggers, w) })
	})
}

// frameworkOfActor returns the only program that has a class of Ray actors, or "".
func frameworkOfActor(class string) string {
	return idThat(func(p *Program) bool { return slices.Contains(p.Actors, class) })
}

// isDriver reports whether a process with that label only drives others.
func isDriver(label string) bool {
	class := labelClass(label)
	return class != "" && placeThat(func(p *Program) bool { return slices.Contains(p.Drivers, class) }) >= 0
}

// engineOf returns the engine of a process with that label, or "" if it is unknown.
func engineOf(label string) string {
	class := labelClass(label)
	return idThat(func(p *Program) bool {
		return slices.ContainsFunc(p.Workers, func(w string) bool { return strings.HasPrefix(class, w) })
	})
}

// labelClass returns the class in the label of a process: "WorkerDict" of "ray::WorkerDict[0]".
func labelClass(label string) string {
	name, _, _ := strings.Cut(label, "[")
	name, _, _ = strings.Cut(name, "/")
	return name[strings.LastIndexByte(name, ':')+1:]
}
