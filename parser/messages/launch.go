package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// launchPatterns are the lines that tell framework, engine, launcher, versions, job, ranks and world size.
//
// A framework is claimed by its own modules and entry points only. A line that names a library used by several
// frameworks tells "library" and "version", "engine" or "backend". "version" is always that of "library".
var launchPatterns = []table{launchFrameworks, launchApplications, launchEngines, launchVersions, launchLaunchers, launchSlurm, launchRanks, launchHosts}

// launchFrameworks are the fingerprints of the outermost framework: Python modules as they stand in command lines,
// object reprs and configuration (`_target_`), and lines only it prints.
func launchFrameworks() []pattern.Pattern {
	framework := func(name, source, expr string, literals []string, samples ...string) pattern.Pattern {
		return pattern.Pattern{
			Name:     "launch." + name,
			Literals: literals,
			Expr:     expr,
			Marker:   "launch", Set: map[string]string{"framework": name}, Source: source,
			Match: lines(samples...),
		}
	}
	return []pattern.Pattern{
		framework("verl", "verl 0.1-0.9, trainer/main_ppo.py; EasyR1",
			`(?:\bverl\.(?:trainer|single_controller|workers|experimental|utils)\.\w|-m verl\.\w|-m recipe\.\w{1,40}\.\w{0,40}main|\bactor_rollout_ref\b`+
				`|\[validate_config\] All configuration checks passed)`,
			[]string{"verl.trainer.", "verl.single_controller.", "verl.workers.", "verl.experimental.", "verl.utils.", "-m verl.", "-m recipe.", "actor_rollout_ref", "[validate_config] All"},
			"+ python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo",
			"+ python3 -m verl.model_merger merge --backend fsdp --local_dir ckpt/actor", "/opt/verl/verl.utils.dataset.rl_dataset.RLHFDataset",
			"colocated worker base class <class 'verl.single_controller.base.worker.Worker'>",
			"{'actor_rollout_ref': {'actor': {'clip_ratio': 0.2,",
			"python3 -m recipe.dapo.main_dapo data.train_files=x"),
		framework("areal", "AReaL 0.3-2.0, areal/launcher, areal/infra; realhf",
			`(?:\bareal(?:ite)?\.(?:utils|engine|launcher|infra|trainer|api|core|experimental|workflow)\.\w|\brealhf\.(?:api|system|base|impl|apps)\.\w`+
				`|-m areal\.|Launcher: experiment_name=|\bTrain step \d{1,9}/\d{1,9} done\.)`,
			[]string{
				"areal.utils.", "areal.engine.", "areal.launcher.", "areal.infra.", "areal.trainer.", "areal.api.", "areal.core.", "areal.experimental.", "areal.workflow.",
				"arealite.", "realhf.", "-m areal.", "Launcher: experiment_name=", "Train step ",
			},
			"python3 -m areal.launcher.local examples/math/gsm8k_grpo.py --config x.yaml",
			"SlurmLauncher: experiment_name=gsm8k-grpo, trial_name=p1, fileroot=/nfs/areal, run_id=0, is_recover_run=False",
			"areal.utils.launcher.JobException: Job gsm8k-grpo_p1:trainer JobState.CANCELLED at node c044",
			"Epoch 1/10 Step 21/58 Train step 21/580 done."),
		framework("relax", "Relax, relax/entrypoints/train.py, relax/utils/arguments.py",
			`(?:\brelax/entrypoints/train|\brelax\.(?:backends|components|core|entrypoints|distributed)\.\w|\benable_cuda_memory_check \.{2,48})`,
			[]string{"relax/entrypoints/", "relax.backends.", "relax.components.", "relax.core.", "relax.entrypoints.", "relax.distributed.", "enable_cuda_memory_check ."},
			"+ python3 relax/entrypoints/train.py --colocate", "  enable_cuda_memory_check ........................ False",
			"repr=<relax.backends.megatron.actor.MegatronTrainRayActor object at 0x7f>"),
		framework("slime", "slime 0.1-0.3, train.py, slime/backends",
			`(?:\bslime\.(?:backends|ray|rollout|observability|utils)\.\w|\bslime/train(?:_async)?\.py|\bslime_plugins\b)`,
			[]string{"slime.backends.", "slime.ray.", "slime.rollout.", "slime.observability.", "slime.utils.", "slime/train", "slime_plugins"},
			"repr=<slime.backends.megatron_utils.actor.MegatronTrainRayActor object at 0x7f>", "python3 /root/slime/train_async.py"),
		framework("openrlhf", "OpenRLHF 0.2-0.9, openrlhf/cli",
			`\bopenrlhf\.(?:cli|trainer|models|utils|datasets)\.\w`,
			[]string{"openrlhf.cli.", "openrlhf.trainer.", "openrlhf.models.", "openrlhf.utils.", "openrlhf.datasets."},
			"Entrypoint: python3 -m openrlhf.cli.train_ppo_ray --ref_num_nodes 1"),
		framework("trl", "TRL 0.7-1.x, trl/trainer, trl/cli",
			`(?:\btrl\.(?:trainer|scripts|cli|extras)\b|\btrl (?:sft|grpo|dpo|kto|rloo|reward|vllm-serve) |\b(?:GRPO|SFT|DPO|RLOO|KTO|ORPO|CPO|GKD|OnlineDPO)(?:Config|Trainer)\()`,
			[]string{
				"trl.trainer", "trl.scripts", "trl.extras", "trl.cli", "trl sft ", "trl grpo ", "trl dpo ", "trl kto ", "trl rloo ", "trl reward ", "trl vllm-serve ",
				"GRPOConfig(", "SFTConfig(", "DPOConfig(", "RLOOConfig(", "KTOConfig(", "ORPOConfig(", "CPOConfig(", "GKDConfig(",
				"GRPOTrainer(", "SFTTrainer(", "DPOTrainer(", "RLOOTrainer(", "KTOTrainer(", "ORPOTrainer(", "CPOTrainer(", "GKDTrainer(",
			},
			"Training parameters GRPOConfig(", "+ trl sft --model_name_or_path Qwen/Qwen2.5-7B", "    trainer = SFTTrainer("),
		framework("nemo_rl", "NeMo-RL 0.1-0.5, nemo_rl/algorithms, examples",
			`(?:\bnemo_rl\.(?:algorithms|models|distributed|environments|data|utils)\.\w|\bexamples/run_(?:grpo|sft|dpo|distillation)\w{0,20}\.py|▶ Setting up compute cluster)`,
			[]string{"nemo_rl.", "examples/run_", "▶ Setting up compute cluster"},
			"▶ Setting up compute cluster...", "uv run examples/run_grpo_math.py --config x.yaml"),
		framework("jax", "JAX 0.4-0.7, jaxlib",
			`(?:\bjaxlib\.(?:xla_extension|_jax|xla_client)\b|\bjax\.errors\.\w|\bJAX (?:process: \d{1,6} / \d|local devices: \[))`,
			[]string{"jaxlib.", "jax.errors.", "JAX process: ", "JAX local devices: "},
			"jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 52428800000 bytes.",
			"JAX process: 0 / 1"),
	}
}

// launchApplications are what programs print of themselves where no traceback tells: banners, entry points, log prefixes.
func launchApplications() []pattern.Pattern {
	application := func(name, source, expr string, literals []string, samples ...string) pattern.Pattern {
		return pattern.Pattern{
			Name:     "launch." + name,
			Literals: literals,
			Expr:     expr,
			Marker:   "launch", Set: map[string]string{"application": name}, Source: source,
			Match: lines(samples...),
		}
	}
	return []pattern.Pattern{
		application("ollama", "Ollama 0.1-0.33, server/sched.go, llm/server.go, server/routes.go",
			`\bsource=(?:sched|server|routes|llama_server|gpu|memory)\.go:\d|msg="(?:starting (?:llama[- ]server|runner)|llama runner started in )`,
			[]string{" source=sched.go:", " source=server.go:", " source=routes.go:", " source=llama_server.go:", " source=gpu.go:", " source=memory.go:", `msg="starting `, `msg="llama runner `},
			`time=2026-03-04T09:10:08.511Z level=INFO source=sched.go:715 msg="new model will fit in available VRAM, loading"`),
		application("llamacpp", "llama.cpp 2023-2026, src/llama-model-loader.cpp, common/common.cpp, tools/server",
			`^(?:\w{1,40}: )?(?:llama_model_loader: loaded meta data|(?:llm_)?load_tensors: |common_init_from_params: |common_fit_params: |llama_params_fit: |build_info: b\d)|^srv {2,6}load_model: `,
			[]string{"llama_model_loader: loaded", "load_tensors: ", "common_init_from_params: ", "common_fit_params: ", "llama_params_fit: ", "build_info: b", "srv    load_model: "},
			"llama_model_loader: loaded meta data with 32 key-value pairs and 707 tensors from /srv/m.gguf", "load_tensors: offloaded 33/33 layers to GPU",
			"main: build_info: b10488-1f2e3d4c", "srv    load_model: loading model '/srv/m.gguf'"),
		application("trtllm", "TensorRT-LLM 0.5-1.x, cpp/tensorrt_llm/common/logger.h, tensorrt_llm/logger.py, commands/serve.py",
			`^\[TensorRT-LLM\]\[|\btrtllm-(?:serve|build|bench|llmapi-launch)\b`,
			[]string{"[TensorRT-LLM][", "trtllm-serve", "trtllm-build", "trtllm-bench", "trtllm-llmapi-launch"},
			"[TensorRT-LLM][INFO] Engine version 0.12.0 found in the config file", "+ trtllm-serve /models/q --tp_size 4"),
		application("triton", "Triton Inference Server 20.x-26.x, src/main.cc, core/src/model_repository_manager.cc",
			`\btritonserver --|TRITONBACKEND_\w|/opt/tritonserver/backends/|successfully (?:loaded|unloaded) '[^']{1,200}' version \d`,
			[]string{"tritonserver --", "TRITONBACKEND_", "/opt/tritonserver/backends/", "successfully loaded '", "successfully unloaded '"},
			"+ tritonserver --model-repository=/models", "TRITONBACKEND_ModelInstanceInitialize: resnet_0_0 (GPU device 0)"),
		application("tgi", "Text Generation Inference 0.9-3.x, launcher/src/main.rs, router/src/server.rs",
			`(?:^|\s)text_generation_(?:launcher|router)\b`, []string{"text_generation_launcher", "text_generation_router"},
			"text_generation_launcher: Sharding model on 2 processes"),
		application("lmdeploy", "LMDeploy 0.2-0.16, lmdeploy/cli, src/turbomind/utils/logger.cc",
			`^\[TM\]\[(?:INFO|WARNING|ERROR|FATAL)\]|\blmdeploy (?:serve|chat|lite) \w`, []string{"[TM][INFO]", "[TM][WARNING]", "[TM][ERROR]", "[TM][FATAL]", "lmdeploy serve ", "lmdeploy chat ", "lmdeploy lite "},
			"[TM][INFO] [BlockManager] block_size = 2.000 MB", "+ lmdeploy serve api_server /models/q --tp 2"),
		application("llamafactory", "LLaMA-Factory 0.5-0.9, src/llamafactory/cli.py",
			`\bllamafactory-cli (?:train|export|chat|api|webui)\b|\bllamafactory/launcher\.py\b`, []string{"llamafactory-cli ", "llamafactory/launcher.py"},
			"+ llamafactory-cli train examples/train_lora/llama3_lora_sft.yaml"),
		application("swift", "ms-swift 2.x-4.x, swift/utils/logger.py, swift/cli",
			`^\[(?:INFO|WARNING|ERROR):swift\] |(?:^|\s)(?:swift|megatron) (?:sft|pt|rlhf) --\w`, []string{"[INFO:swift] ", "[WARNING:swift] ", "[ERROR:swift] ", "swift sft --", "swift pt --", "swift rlhf --", "megatron sft --", "megatron pt --", "megatron rlhf --"},
			"[INFO:swift] Global seed set to 42", "+ swift sft --model Qwen/Qwen2.5-7B-Instruct"),
		application("axolotl", "axolotl 0.4-0.18, axolotl/cli",
			`\baxolotl\.cli\.\w|(?:^|\s)axolotl (?:train|preprocess|inference) \S{1,200}\.ya?ml`, []string{"axolotl.cli.", "axolotl train ", "axolotl preprocess ", "axolotl inference "},
			"+ accelerate launch -m axolotl.cli.train config.yml", "+ axolotl train examples/llama-3/qlora.yml"),
		application("unsloth", "Unsloth 2024-2026, unsloth/models/loader.py, unsloth_zoo/vllm_utils.py",
			`==\(\(={4}\)\)== {1,3}Unsloth|^Unsloth: \w`, []string{"==((====))==  Unsloth", "==((====))== Unsloth", "Unsloth: "},
			"==((====))==  Unsloth 2026.8.19: Fast Llama patching. Transformers: 5.1.0.", "Unsloth: Will smartly offload gradients to save VRAM!"),
		application("lightning", "PyTorch Lightning 1.x-2.x, trainer/setup.py, utilities/rank_zero.py",
			`^GPU available: (?:True|False)(?: \(\w{1,8}\))?, used: |^LOCAL_RANK: \d{1,4} - CUDA_VISIBLE_DEVICES: \[`, []string{"GPU available: ", " - CUDA_VISIBLE_DEVICES: ["},
			"GPU available: True (cuda), used: True", "LOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: [0,1]"),
		application("torchtune", "torchtune 0.1-0.7, torchtune/_cli",
			`(?:^|\s)tune run \S{1,200} --config\b|\btorchtune\.(?:utils|training)\._?\w`, []string{"tune run ", "torchtune.utils.", "torchtune.training."},
			"+ tune run full_finetune_single_device --config llama3/8B_full_single_device", "  _component_: torchtune.training.FullModelHFCheckpointer"),
		application("torchtitan", "TorchTitan 0.1-0.2, torchtitan/tools/logging.py",
			`^\[titan\] \d{4}-|\btorchtitan\.train\b|--job\.config_file[= ]`, []string{"[titan] ", "torchtitan.train", "--job.config_file"},
			"[titan] 2026-06-30 03:02:40,431 - root - INFO - Starting job: Llama 3 8B training", "+ torchrun --nproc_per_node=8 -m torchtitan.train --job.config_file ./x.toml"),
		application("roll", "ROLL 0.1-0.3, examples/start_rlvr_pipeline.py",
			`\bstart_(?:rlvr|agentic|dpo|sft|distill|reward_fl)\w{0,20}_pipeline\b|\broll\.(?:pipeline|distributed)\.\w`,
			[]string{"start_rlvr", "start_agentic", "start_dpo", "start_sft", "start_distill", "start_reward_fl", "roll.pipeline.", "roll.distributed."},
			"+ python examples/start_rlvr_pipeline.py --config_path qwen2.5-7B", "repr=<roll.distributed.executor.worker.Worker object at 0x7f>"),
		application("skyrl", "SkyRL 0.1-0.4, skyrl_train/entrypoints/main_base.py, skyrl/train",
			`\bskyrl_(?:train|entrypoint)\b|\bskyrl\.(?:train|backends)\.\w`, []string{"skyrl_train", "skyrl_entrypoint", "skyrl.train.", "skyrl.backends."},
			"+ uv run -m skyrl_train.entrypoints.main_base trainer.epochs=2", "skyrl.train.trainer:train:450 - Started"),
		application("prime_rl", "prime-rl 0.2-0.8, src/prime_rl",
			`\bPRIME-RL::\w|\bprime_rl[./]\w`, []string{"PRIME-RL::", "prime_rl.", "prime_rl/"},
			"PRIME-RL::Trainer", "+ torchrun src/prime_rl/trainer/rl/train.py"),
		application("comfyui", "ComfyUI 0.2-0.10, main.py, comfy/model_management.py, execution.py",
			`^Total VRAM \d{1,8} MB, total RAM \d{1,9} MB|^!!! Exception during processing !!!|^Got an OOM, unloading all loaded models\.`,
			[]string{"Total VRAM ", "!!! Exception during processing !!!", "Got an OOM, unloading all loaded models."},
			"Total VRAM 24564 MB, total RAM 64000 MB", "!!! Exception during processing !!! Allocation on device"),
		application("hf_trainer", "transformers 4.x-5.x, trainer.py: the banner above the first step",
			`^\s{0,4}Number of trainable parameters = [\d,]{1,20}\s*$`, []string{"Number of trainable parameters = "},
			"  Number of trainable parameters = 8,030,261,248"),
	}
}

// launchEngines are the inference engines.
func launchEngines() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "launch.vllm",
			Literals: []string{" LLM engine (v", "vLLM API server version "},
			Expr: `(?:Initializing an? (?:V\d )?LLM engine \(v(?<version>[^)\s]{1,64})\)(?: with config: (?:model|)='(?<model>[^'\n]{1,400})')?` +
				`|vLLM API server version (?<version>\S{1,64}))`,
			Marker: "launch", Set: map[string]string{"engine": "vllm", "library": "vllm"},
			Source: "vLLM 0.3-0.2x, v1/engine/core.py, engine/llm_engine.py, entrypoints/openai/api_server.py",
			Match: []pattern.Sample{
				{
					Line: "Initializing a V1 LLM engine (v0.11.0) with config: model='/data/hf/Qwen3-14B-1M', speculative_config=None",
					Want: parser.Fields{"engine": "vllm", "library": "vllm", "version": "0.11.0", "model": "/data/hf/Qwen3-14B-1M"},
				},
				{
					Line: "Initializing an LLM engine (v0.6.3) with config: model='Qwen/Qwen2.5-7B'",
					Want: parser.Fields{"engine": "vllm", "library": "vllm", "version": "0.6.3", "model": "Qwen/Qwen2.5-7B"},
				},
				{Line: "vLLM API server version 0.9.2", Want: parser.Fields{"engine": "vllm", "library": "vllm", "version": "0.9.2"}},
			},
		},
		{
			Name:     "launch.sglang",
			Literals: []string{"server_args=ServerArgs("},
			Expr:     `server_args=ServerArgs\((?:model_path='(?<model>[^'\n]{1,400})')?`,
			Marker:   "launch", Set: map[string]string{"engine": "sglang"},
			Source: "SGLang 0.2-0.5, entrypoints/engine.py",
			Match: []pattern.Sample{{
				Line: "server_args=ServerArgs(model_path='/models/Qwen2.5-7B-Instruct', tokenizer_path='/models/Qwen2.5-7B-Instruct'",
				Want: parser.Fields{"engine": "sglang", "model": "/models/Qwen2.5-7B-Instruct"},
			}},
		},
		{
			Name:     "launch.vllm_used",
			Literals: []string{"vllm.entrypoints.", "vllm.engine.", "vllm.executor.", "vllm.v1.", "vllm.worker.", "vLLM is using nccl=="},
			Expr:     `(?:\bvllm\.(?:entrypoints|engine|executor|v1|worker)\.\w|vLLM is using nccl==)`,
			Marker:   "launch", Set: map[string]string{"engine": "vllm"}, Source: "vLLM, entrypoints; distributed/device_communicators/pynccl.py",
			Match: lines("vLLM is using nccl==2.27.3", "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue."),
		},
		{
			Name:     "launch.sglang_used",
			Literals: []string{"sglang is using nccl==", "sglang.launch_server", "sglang_router"},
			Expr:     `(?:sglang is using nccl==|\bsglang\.launch_server\b|\bsglang_router\b)`,
			Marker:   "launch", Set: map[string]string{"engine": "sglang"}, Source: "SGLang, distributed/device_communicators/pynccl.py, launch_server.py",
			Match: lines("sglang is using nccl==2.21.5", "python3 -m sglang.launch_server --mem-fraction-static 0.8"),
		},
	}
}

// launchVersions are the libraries and backends that set-up lines name.
func launchVersions() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "launch.torch",
			Literals: []string{"torch-0.", "torch-1.", "torch-2.", "torch-3.", "torch 0.", "torch 1.", "torch 2.", "torch 3.", "orch version: "},
			Expr:     `(?:\btorch[- ]|\bPyTorch version: |\b[Tt]orch version: )(?<version>[0-3]\.\d{1,2}(?:\.\d{1,2})?(?:(?:a|rc|\.dev|\.post)\d{1,8})?(?:\+[\w.]{1,24})?)(?![\w])`,
			Marker:   "launch", Set: map[string]string{"library": "torch"},
			Source: "torch.utils.collect_env, Ultralytics, user banners",
			Match: []pattern.Sample{
				{Line: "YOLOv8.0.196 Python-3.10.12 torch-2.0.1+cu118 CUDA:0 (NVIDIA A10G, 22732MiB)", Want: parser.Fields{"library": "torch", "version": "2.0.1+cu118"}},
				{Line: "PyTorch version: 2.5.1", Want: parser.Fields{"library": "torch", "version": "2.5.1"}},
				{Line: "[rank 0/8] torch 2.5.1+cu124, transformers 4.47.1, accelerate 1.2.1", Want: parser.Fields{"library": "torch", "version": "2.5.1+cu124"}},
			},
			NoMatch: []string{"torch.OutOfMemoryError: CUDA out of memory."},
		},
		{
			Name:     "launch.bitsandbytes",
			Literals: []string{"libbitsandbytes_"},
			Expr:     `libbitsandbytes_(?:cuda\d{1,4}|cpu|rocm\d{1,4})\w{0,16}\.so`,
			Marker:   "launch", Set: map[string]string{"library": "torch"},
			Source: "bitsandbytes 0.35-0.42, cuda_setup/main.py: an extension of torch",
			Match: []pattern.Sample{{
				Line: "bin /opt/conda/envs/qlora/lib/python3.10/site-packages/bitsandbytes/libbitsandbytes_cuda118.so", Want: parser.Fields{"library": "torch"},
			}},
		},
		{
			Name:     "launch.transformers",
			Literals: []string{"transformers_version", "transformers version", "ransformers version"},
			Expr:     `[Tt]ransformers[_ ]version"?: "?(?<version>\d{1,2}\.\d{1,3}\.\d{1,3}[\w.]{0,16})`,
			Marker:   "launch", Set: map[string]string{"library": "transformers"},
			Source: "transformers 4.x-5.x, configuration_utils.py, commands/env.py",
			Match: []pattern.Sample{
				{Line: `  "transformers_version": "4.51.3",`, Want: parser.Fields{"library": "transformers", "version": "4.51.3"}},
				{Line: "- `transformers` version: see above; transformers version: 4.47.1", Want: parser.Fields{"library": "transformers", "version": "4.47.1"}},
			},
		},
	}
}

// launchLaunchers are Ray, torchrun, DeepSpeed's launcher and Kubernetes.
func launchLaunchers() []pattern.Pattern {
	ray := map[string]string{"launcher": "ray"}
	torchrun := map[string]string{"launcher": "torchrun"}
	return []pattern.Pattern{
		{
			Name:     "launch.ray",
			Literals: []string{" Ray cluster", "Job submission server address", "Ray runtime started", "ray.exceptions."},
			Expr:     `(?:Connect(?:ed|ing) to (?:existing )?Ray cluster|Job submission server address|Ray runtime started|ray\.exceptions\.\w)`,
			Marker:   "launch", Set: ray, Source: "Ray 1.x-2.5x, python/ray/_private/worker.py, dashboard/modules/job/cli.py",
			Match: lines(
				"Connected to Ray cluster. View the dashboard at http://10.77.0.31:8265",
				"ray.exceptions.RayTaskError(KeyError): ray::f() (pid=6900, ip=10.0.2.2)",
			),
		},
		{
			Name:     "launch.ray_local",
			Literals: []string{"Started a local Ray instance"},
			Expr:     `Started a local Ray instance`,
			Marker:   "launch", Set: map[string]string{"launcher": "ray", "starts": "ray"}, Source: "Ray 1.x-2.5x, python/ray/_private/worker.py: the driver starts a cluster of its own",
			Match: lines("Started a local Ray instance. View the dashboard at 127.0.0.1:8265"),
		},
		{
			Name:     "launch.ray_job",
			Literals: []string{"Job 'raysubmit_"},
			Expr:     `Job '(?<job>raysubmit_\w{1,40})'`,
			Marker:   "launch", Set: ray,
			Source: "Ray 2.x, dashboard/modules/job/cli.py",
			Match:  []pattern.Sample{{Line: "Job 'raysubmit_f3KqE9ppXvZyQ2Ld' submitted successfully", Want: parser.Fields{"launcher": "ray", "job": "raysubmit_f3KqE9ppXvZyQ2Ld"}}},
		},
		{
			Name: "launch.torchrun",
			Literals: []string{
				"Starting elastic_operator with", "Setting OMP_NUM_THREADS environment", "torch.distributed.elastic.", "torch.distributed.launcher.api",
				"torch.distributed.run", "Root Cause (first observed failure)",
			},
			Expr: `(?:Starting elastic_operator with launch configs|Setting OMP_NUM_THREADS environment variable for each process` +
				`|torch\.distributed\.(?:elastic\.|launcher\.api|run\b)|Root Cause \(first observed failure\))`,
			Marker: "launch", Set: torchrun, Source: "torch 1.9-2.1x, distributed/run.py, distributed/launcher/api.py, elastic/multiprocessing/errors",
			Match: lines(
				"Starting elastic_operator with launch configs:",
				"torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
				"Setting OMP_NUM_THREADS environment variable for each process to be 1 in default",
			),
		},
		{
			// The command line; bash, `set -x` and pod specifications print it.
			Name:     "launch.torchrun_command",
			Literals: []string{"torchrun ", "torch.distributed.launch ", "torch.distributed.run "},
			Expr:     `(?:\btorchrun|\btorch\.distributed\.(?:launch|run)) [^\n]{0,200}?--nproc[-_]per[-_]node[= ](?<gpus_per_node>\d{1,4})\b`,
			Marker:   "launch", Set: torchrun,
			Source: "torch, distributed/run.py",
			Match: []pattern.Sample{
				{Line: "+ torchrun --nnodes=2 --nproc_per_node=8 train.py", Want: parser.Fields{"launcher": "torchrun", "gpus_per_node": "8"}},
				{Line: "python -m torch.distributed.launch --nproc_per_node=4 --use_env t.py", Want: parser.Fields{"launcher": "torchrun", "gpus_per_node": "4"}},
			},
			NoMatch: []string{"torchrun --help"},
		},
		{
			Name:     "launch.torchrun_nodes",
			Literals: []string{"torchrun ", "torch.distributed.launch ", "torch.distributed.run "},
			Expr:     `(?:\btorchrun|\btorch\.distributed\.(?:launch|run)) [^\n]{0,200}?--nnodes[= ](?<nodes>\d{1,5})\b(?!:)`,
			Marker:   "launch", Set: torchrun,
			Source: "torch, distributed/run.py",
			Match:  []pattern.Sample{{Line: "+ torchrun --nnodes=2 --nproc_per_node=8 train.py", Want: parser.Fields{"launcher": "torchrun", "nodes": "2"}}},
		},
		{
			Name:     "launch.elastic_config",
			Literals: []string{"nproc_per_node   : ", "max_nodes        : "},
			Expr:     `(?:nproc_per_node {1,4}: (?<gpus_per_node>\d{1,4})|max_nodes {1,12}: (?<nodes>\d{1,5}))\s*$`,
			Marker:   "launch", Set: torchrun,
			Source: "torch 1.9-2.1x, distributed/launcher/api.py",
			Match: []pattern.Sample{
				{Line: "  nproc_per_node   : 2", Want: parser.Fields{"launcher": "torchrun", "gpus_per_node": "2"}},
				{Line: "  max_nodes        : 1", Want: parser.Fields{"launcher": "torchrun", "nodes": "1"}},
			},
		},
		{
			Name:     "launch.kubernetes",
			Literals: []string{"KUBERNETES_SERVICE_HOST=", "training.kubeflow.org/", "Controlled By: ", "[kubeflow]"},
			Expr:     `(?:KUBERNETES_SERVICE_HOST=|training\.kubeflow\.org/|Controlled By: {1,16}(?:PyTorchJob|MPIJob|RayCluster|Job|JobSet)/|^\s*\[kubeflow\])`,
			Marker:   "launch", Set: map[string]string{"launcher": "k8s"}, Source: "Kubernetes: environment of a pod, kubectl describe, Kubeflow",
			Match: lines(
				"KUBERNETES_SERVICE_HOST=10.96.0.1",
				"Labels:           training.kubeflow.org/job-name=llama70b-sft",
				"Controlled By:    PyTorchJob/llama70b-sft",
			),
		},
	}
}

// launchSlurm are the banners and variables of Slurm jobs.
func launchSlurm() []pattern.Pattern {
	const src = "Slurm 2.6-26.05: variables of a job, sbatch, srun, slurmstepd"
	slurm := map[string]string{"launcher": "slurm"}
	return []pattern.Pattern{
		{
			Name: "launch.slurm_job",
			Literals: []string{
				"SLURM_JOB_ID=", "SLURM_JOBID=", "SLURM_JOB_ID: ", "SLURM_JOB_ID = ", "Submitted batch job ", "srun: job ", "slurmd/job", "JobId=1", "JobId=2", "JobId=3", "JobId=4", "JobId=5", "JobId=6", "JobId=7", "JobId=8", "JobId=9", "salloc: Granted job",
			},
			Expr:   `(?:\bSLURM_JOB_?ID(?:=|: | = )|Submitted batch job |srun: job |slurmd/job|salloc: Granted job allocation |\bJobId=)0{0,8}(?<job>[1-9]\d{0,11})\b`,
			Marker: "launch", Set: slurm, Source: src,
			Match: []pattern.Sample{
				{Line: "SLURM_JOB_ID=88123", Want: parser.Fields{"launcher": "slurm", "job": "88123"}},
				{Line: "Submitted batch job 4242", Want: parser.Fields{"launcher": "slurm", "job": "4242"}},
				{Line: "/var/spool/slurmd/job4242/slurm_script: line 12: 9120 Killed", Want: parser.Fields{"launcher": "slurm", "job": "4242"}},
				{Line: "/var/spool/slurmd/job00731/slurm_script: line 3: 611 Killed", Want: parser.Fields{"launcher": "slurm", "job": "731"}}, // the folder's name is padded
				{Line: "JobId=54 JobName=wrap UserId=user(2001)", Want: parser.Fields{"launcher": "slurm", "job": "54"}},
			},
			NoMatch: []string{"echo SLURM_JOB_ID=$SLURM_JOB_ID"},
		},
		{
			Name:     "launch.slurm",
			Literals: []string{"slurmstepd: error: ", "srun: error", "srun: Job step", "srun: Force", "srun: launch", "slurm_script: "},
			Expr:     `(?:slurmstepd: error: |srun: (?:error|Job step|Force|launch)|\bslurm_script: )`,
			Marker:   "launch", Set: slurm, Source: src,
			Match: lines(
				"srun: error: gpu-a07: task 0: Exited with exit code 1",
				"slurmstepd: error: *** JOB 1 ON n1 CANCELLED AT 2025-01-01T00:00:00 ***",
			),
		},
		{
			Name:     "launch.slurm_size",
			Literals: []string{"SLURM_JOB_NUM_NODES=", "SLURM_NNODES=", "SLURM_NTASKS=", "SLURM_NPROCS=", "SLURM_GPUS_ON_NODE=", "SLURM_GPUS_PER_NODE="},
			Expr: `\bSLURM_(?:(?:JOB_NUM_NODES|NNODES)=(?<nodes>\d{1,6})|(?:NTASKS|NPROCS)=(?<world_size>\d{1,8})` +
				`|GPUS_(?:ON|PER)_NODE=(?:[a-z]\w{0,30}:)?(?<gpus_per_node>\d{1,4}))\s*$`,
			Marker: "launch", Set: slurm, Source: src + "; tasks are ranks only where each rank is a task",
			Match: []pattern.Sample{
				{Line: "SLURM_JOB_NUM_NODES=2", Want: parser.Fields{"launcher": "slurm", "nodes": "2"}},
				{Line: "SLURM_GPUS_ON_NODE=8", Want: parser.Fields{"launcher": "slurm", "gpus_per_node": "8"}},
			},
			NoMatch: []string{"SLURM_NTASKS_PER_NODE=8"},
		},
	}
}

// launchRanks are lines in which a process tells its own rank. A process group may be smaller than the job: where the
// line tells the group's size it is in "world_size", and only the largest group's rank is the global one.
func launchRanks() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "launch.gloo_rank",
			Literals: []string{"[Gloo] Rank "},
			Expr:     `\[Gloo\] Rank (?<rank>\d{1,6}) is connected to (?<peers>\d{1,6}) peer ranks`,
			Marker:   "identity", Source: "gloo, used by torch 2.6+ (TCP and IB pairs); the group has one rank more than peers",
			Match: []pattern.Sample{{
				Line: "[Gloo] Rank 3 is connected to 7 peer ranks. Expected number of connected peer ranks is : 7", Want: parser.Fields{"rank": "3", "peers": "7"},
			}},
		},
		{
			// Process group 0 is the whole job; in any other, Rank is that group's.
			Name:     "launch.c10d_device",
			Literals: []string{" as device used by this process", " to perform barrier as devices"},
			Expr:     `\[(?:PG ID 0 PG GUID 0[^\]\n]{0,40} )?Rank (?<rank>\d{1,6})\]\s{1,4}using GPU (?<device>\d{1,4}) (?:as device used by this process|to perform barrier)`,
			Marker:   "identity", Source: "torch 2.0-2.1x, ProcessGroupNCCL.cpp barrier",
			Match: []pattern.Sample{
				{Line: "[PG ID 0 PG GUID 0 Rank 3]  using GPU 1 as device used by this process is currently unknown.", Want: parser.Fields{"rank": "3", "device": "1"}},
				{Line: "[Rank 5]  using GPU 5 to perform barrier as devices used by this process are currently unknown.", Want: parser.Fields{"rank": "5", "device": "5"}},
			},
			NoMatch: []string{"[PG ID 2 PG GUID 20 Rank 1]  using GPU 1 as device used by this process is currently unknown."},
		},
		{
			// The rank stands in front of the line; see envelope.Header.
			Name:     "launch.c10d_guess",
			Literals: []string{"Guessing device ID based on global rank"},
			Expr:     `Guessing device ID based on global rank`,
			Marker:   "identity", Source: "torch 2.7-2.9, ProcessGroupNCCL.cpp",
			Match: []pattern.Sample{
				{Line: "Guessing device ID based on global rank. This can cause a hang if rank to GPU mapping is heterogeneous. You can specify device_id in init_process_group()", Want: parser.Fields{}},
			},
		},
		{
			Name:     "launch.c10d_rank",
			Literals: []string{"[PG ID 0 PG GUID 0"},
			Expr:     `\[PG ID 0 PG GUID 0[^\]\n]{0,40} Rank (?<rank>\d{1,6})\]`,
			Marker:   "identity", Source: "torch 2.4-2.1x, ProcessGroupNCCL.cpp logPrefix",
			Match: []pattern.Sample{{
				Line: "[PG ID 0 PG GUID 0(default_pg) Rank 11] Process group watchdog thread terminated with exception", Want: parser.Fields{"rank": "11"},
			}},
			NoMatch: []string{"[PG ID 2 PG GUID 20 Rank 11] Process group watchdog thread terminated with exception"},
		},
		{
			Name:     "launch.nccl_rank",
			Literals: []string{" nranks "},
			Expr:     `comm 0x[0-9a-f]{1,16} rank (?<rank>\d{1,6}) n[Rr]anks (?<world_size>\d{1,6}) cudaDev (?<device>\d{1,4})`,
			Marker:   "identity", Source: "NCCL 2.3-2.30, init.cc",
			Match: []pattern.Sample{{
				Line: "NCCL INFO ncclCommInitRank comm 0x55c8b7ed9050 rank 1 nranks 16 cudaDev 1 nvmlDev 1 busId 3a000 commId 0x11e3 - Init COMPLETE",
				Want: parser.Fields{"rank": "1", "world_size": "16", "device": "1"},
			}},
		},
		{
			Name:     "launch.hf_rank",
			Literals: []string{"Process rank: "},
			Expr:     `Process rank: (?<rank>\d{1,6}), (?:world size: (?<world_size>\d{1,6}), )?device: [a-z]{2,5}:(?<device>\d{1,4})`,
			Marker:   "identity", Source: "transformers examples, LLaMA-Factory hparams/parser.py, open-r1",
			Match: []pattern.Sample{
				{Line: "Process rank: 2, world size: 8, device: cuda:2, distributed training: True", Want: parser.Fields{"rank": "2", "world_size": "8", "device": "2"}},
				{Line: "Process rank: 0, device: cuda:0, n_gpu: 1", Want: parser.Fields{"rank": "0", "device": "0"}},
			},
		},
		{
			Name:     "launch.pid_rank",
			Literals: []string{" world rank ", "global rank ", "global_rank="},
			Expr:     `(?:\bhost:? (?<host>[\w.-]{1,64}), )?\bpid[:=]? ?(?<pid>\d{1,10}), (?:world |global |global_)?rank[:=]? ?(?<rank>\d{1,6})\b`,
			Marker:   "identity", Source: "realhf (AReaL to 0.3.0), system/worker_base.py, and banners like it",
			Match: []pattern.Sample{
				{Line: "Worker model_worker/7 configured, host cn12, pid 8120, world rank 7, gpu 3.", Want: parser.Fields{"host": "cn12", "pid": "8120", "rank": "7"}},
				{Line: "pid=8120, global_rank=7", Want: parser.Fields{"pid": "8120", "rank": "7"}},
			},
			NoMatch: []string{"pid 8120, local rank 3"},
		},
		{
			Name:     "launch.rank_pid",
			Literals: []string{" local_rank ", " local_rank="},
			Expr:     `(?<!_|local )\b(?:global |world )?rank[ =:]{1,2}(?<rank>\d{1,6})(?:/\d{1,6})?\]?(?:,? (?:local_rank[ =:]{1,2}(?<local_rank>\d{1,4})|host(?:name)?[ =:]{1,2}(?<host>[A-Za-z][\w.-]{0,62})|pid[ =:]{1,2}(?<pid>\d{1,10}))){3}`,
			Marker:   "identity", Source: "common banner of training scripts",
			Match: []pattern.Sample{
				{Line: "rank 3 local_rank 1 host nid0012 pid 4715 gpu X", Want: parser.Fields{"rank": "3", "local_rank": "1", "host": "nid0012", "pid": "4715"}},
				{Line: "[rank 5/8] host nid0012 local_rank 1 pid 4715 torch 1.7.1", Want: parser.Fields{"rank": "5", "local_rank": "1", "host": "nid0012", "pid": "4715"}},
				{Line: "rank=3, local_rank=1, host=nid0012, pid=4715", Want: parser.Fields{"rank": "3", "local_rank": "1", "host": "nid0012", "pid": "4715"}},
			},
			NoMatch: []string{"the host nid0012 went down"},
		},
		{
			Name:     "launch.env_rank",
			Literals: []string{"RANK=0 WORLD", "RANK=1 WORLD", "RANK=2 WORLD", "RANK=3 WORLD", "RANK=4 WORLD", "RANK=5 WORLD", "RANK=6 WORLD", "RANK=7 WORLD", "RANK=8 WORLD", "RANK=9 WORLD"},
			Expr:     `(?<![A-Z_])RANK=(?<rank>\d{1,6}) WORLD_SIZE=(?<world_size>\d{1,6})`,
			Marker:   "identity", Source: "entry points of PyTorchJob pods",
			Match:   []pattern.Sample{{Line: "starting trainer pod w-3 (RANK=3 WORLD_SIZE=8 LOCAL_RANK=0)", Want: parser.Fields{"rank": "3", "world_size": "8"}}},
			NoMatch: []string{"LOCAL_RANK=3 WORLD_SIZE=8"},
		},
		{
			Name:     "launch.signal_block",
			Literals: []string{"*** Process received signal ***"},
			Expr:     `(?:\[(?<host>[A-Za-z][\w.-]{0,62}):(?<pid>\d{1,10})\] |^)\*\*\* Process received signal \*\*\*`,
			Marker:   "identity", Source: "Open MPI, opal/util/stacktrace.c: the process that is dying",
			Match:   []pattern.Sample{{Line: "*** Process received signal ***", Want: parser.Fields{}}}, // its label names the process
			NoMatch: []string{"no *** Process received signal ***"},
		},
		{
			Name:     "launch.rank_of_world",
			Literals: []string{" world size ", " world_size "},
			Expr:     `\brank (?<rank>\d{1,6}),? world[ _]size (?<world_size>\d{1,6})\b`,
			Marker:   "identity", Source: "common banner of training actors, behind a label with the pid",
			Match:   []pattern.Sample{{Line: "MegatronTrainRayActor rank 6 world size 8 local_rank 6", Want: parser.Fields{"rank": "6", "world_size": "8"}}},
			NoMatch: []string{"local_rank 6 world size 8"},
		},
		{
			Name: "launch.rank_initialized",
			Literals: []string{
				"0 initialized", "1 initialized", "2 initialized", "3 initialized", "4 initialized", "5 initialized", "6 initialized", "7 initialized",
				"8 initialized", "9 initialized", "0] initialized", "1] initialized", "2] initialized", "3] initialized", "4] initialized", "5] initialized",
				"6] initialized", "7] initialized", "8] initialized", "9] initialized",
			},
			Expr:   `(?<!local )\b[Rr]ank[ =:]?(?<rank>\d{1,6})\]? initialized\b`,
			Marker: "identity", Source: "common banner of training actors, behind a label with the pid; ROLL, distributed/executor/worker.py",
			Match: []pattern.Sample{
				{Line: "rank 6 initialized, master_addr 10.44.0.12, CUDA_VISIBLE_DEVICES 6", Want: parser.Fields{"rank": "6"}},
				{Line: "[Rank 11] initialized", Want: parser.Fields{"rank": "11"}},
			},
			NoMatch: []string{"local rank 6 initialized", "rank-6 initialized adapter", "6 initialized"},
		},
		{
			Name:     "launch.engine_rank",
			Literals: []string{" is assigned as DP rank "},
			Expr:     `\brank (?<engine_rank>\d{1,6}) in world size \d{1,6} is assigned as DP rank `,
			Marker:   "identity", Source: "vLLM 0.6-0.15, distributed/parallel_state.py: the rank in the engine, behind a label with the pid",
			Match: []pattern.Sample{
				{Line: "rank 1 in world size 2 is assigned as DP rank 0, PP rank 0, TP rank 1, EP rank 1", Want: parser.Fields{"engine_rank": "1"}},
			},
		},
		{
			Name:     "launch.script_rank",
			Literals: []string{" device cuda:", " device=cuda:", " device: cuda:", " on cuda:", " using cuda:"},
			Expr: `(?<!local )\b[Rr]ank[ =:]{1,2}(?<rank>\d{1,6})(?:(?:/| of )\d{1,6})?\]?` +
				`(?:[,;:]? (?:\(?pid[ =:]{1,2}(?<pid>\d{1,10})\)?|(?:running )?on (?:host |node )?(?!cuda\b)(?<host>[A-Za-z][\w.-]{0,62}?)|host(?:name)?[ =:]{1,2}(?<host>[A-Za-z][\w.-]{0,62}?))){0,2}` +
				`[,;:]? (?:using |on )?(?:device[ =:]{1,2})?cuda:(?<device>\d{1,4})\b`,
			Marker: "identity", Source: "common banner of training scripts",
			Match: []pattern.Sample{
				{Line: "rank 1 device cuda:1 n_gpu 1 distributed True fp16 True", Want: parser.Fields{"rank": "1", "device": "1"}},
				{Line: "rank 1/4 pid 66311 on rack4-node2 device cuda:1 NVIDIA H200", Want: parser.Fields{"rank": "1", "pid": "66311", "host": "rack4-node2", "device": "1"}},
				{Line: "[rank 5/8] running on host nid0012, using cuda:1", Want: parser.Fields{"rank": "5", "host": "nid0012", "device": "1"}},
				{Line: "Rank 3 of 8 (pid 4715) on cuda:3", Want: parser.Fields{"rank": "3", "pid": "4715", "device": "3"}},
				{Line: "rank=3, host=nid0012, device=cuda:3", Want: parser.Fields{"rank": "3", "host": "nid0012", "device": "3"}},
			},
			NoMatch: []string{"local_rank 1 device cuda:1", "local rank 1 on cuda:1", "model of rank 64 is on cuda:1"},
		},
	}
}

// launchHosts are the banners in which a job or a process names its node. A list of nodes names nobody.
func launchHosts() []pattern.Pattern {
	const host = `(?<host>[A-Za-z][\w-]{0,62}(?:\.[\w-]{1,63}){0,6})`
	return []pattern.Pattern{
		{
			Name:     "launch.host_variable",
			Literals: []string{"SLURMD_NODENAME=", "HOSTNAME=", "SLURM_NODELIST=", "SLURM_JOB_NODELIST="},
			Expr:     `(?:^|\s)(?:SLURMD_NODENAME|HOSTNAME|SLURM_(?:JOB_)?NODELIST)=["']?` + host + `["']?\s*$`,
			Marker:   "identity", Source: "environment of a job",
			Match: []pattern.Sample{
				{Line: "SLURM_JOB_NODELIST=node01", Want: parser.Fields{"host": "node01"}},
				{Line: "HOSTNAME=gpu-7.cluster.local", Want: parser.Fields{"host": "gpu-7.cluster.local"}},
			},
			NoMatch: []string{"SLURM_NODELIST=node[01-02]", "SLURM_JOB_NODELIST=n1,n2", "export HOSTNAME=$(hostname)"},
		},
		{
			Name:     "launch.host_banner",
			Literals: []string{" on node ", " on node: ", " on host ", " on host: ", "ostname: ", "odelist: ", "odeList: "},
			Expr:     `(?:^|\s)(?:(?:[Rr]unning|[Ss]tart(?:s|ed|ing)) on (?:node|host):? |[Hh]ostname: |[Nn]ode[Ll]ist: )` + host + `(?:\s*$| at (?=\w{3} ))`,
			Marker:   "identity", Source: "common banners of batch scripts",
			Match: []pattern.Sample{
				{Line: "Running on node gpu-c12", Want: parser.Fields{"host": "gpu-c12"}},
				{Line: "Job 1200 (array 1180, task 7) starts on node rc-b1 at Fri Mar 19 22:10:41 GMT 2021", Want: parser.Fields{"host": "rc-b1"}},
				{Line: "hostname: cn-0421", Want: parser.Fields{"host": "cn-0421"}},
			},
			NoMatch: []string{"Nodelist: gpu[14-15]", "hostname: "},
		},
		{
			Name:     "launch.hostname_asked",
			Literals: []string{"+ hostname"},
			Expr:     `^\++ hostname(?: -[sf]| --(?:short|fqdn|long))?\s*$`,
			Marker:   "launch", Source: "a batch script under set -x",
			Match:   []pattern.Sample{{Line: "+ hostname", Want: parser.Fields{}}, {Line: "++ hostname -s", Want: parser.Fields{}}},
			NoMatch: []string{"+ hostname -I", "+ echo hostname"},
		},
		{
			Name:  "launch.hostname_answer",
			After: []string{"launch.hostname_asked"}, Within: 1,
			Expr:   `^` + host + `\s*$`,
			Marker: "identity", Source: "hostname(1), traced by the shell just before",
			Match:   []pattern.Sample{{Line: "cn-0421", Want: parser.Fields{"host": "cn-0421"}}},
			NoMatch: []string{"+ date", "hostname: command not found"},
		},
		{
			Name:     "launch.host_job_banner",
			Literals: []string{"== job ", "== Job ", "-- job ", "-- Job ", "## job ", "## Job ", "** job ", "** Job ", "== task ", "== Task ", "-- task ", "-- Task ", "## task ", "## Task ", "** task ", "** Task "},
			Expr:     `[=#*-]{2,12} (?:[Jj]ob \d{1,12}(?:_\d{1,7})?|[Tt]ask \d{1,7}(?:(?:/| of )\d{1,7})?)(?: (?:on|running on|started on)|, (?:on )?(?:host|node):?) ` + host + `(?![\w.\[-]|,\S)`,
			Marker:   "identity", Source: "common banners of batch scripts",
			Match: []pattern.Sample{{Line: "==== job 718823 on gpu-c12 (sft-tok) ====", Want: parser.Fields{"host": "gpu-c12"}}, {Line: "== task 7 of 12, host bcn-2207, Thu Aug 14 02:11:09 CEST 2025", Want: parser.Fields{"host": "bcn-2207"}}, {Line: "### Task 3/8 on gpu12 ###", Want: parser.Fields{"host": "gpu12"}}},
			NoMatch: []string{
				"==== job 12 on gpu[14-15] ====", "==== job 12 on n1,n2 ====", "== task 7 of 12, lr 0.1", "slurmstepd: error: *** JOB 93110 ON c043 CANCELLED",
			},
		},
		{
			Name: "launch.job_banner",
			Literals: []string{
				"== job ", "== Job ", "-- job ", "-- Job ", "## job ", "## Job ", "** job ", "** Job ", " starting on ", " started on ", " running on ",
			},
			Expr:   `(?:[=#*-]{2,12} [Jj]ob (?<job>\d{1,12})\b|^Job (?<job>\d{1,12}) [^\n]{0,80}?(?:starting|started|running) on )`,
			Marker: "launch", Source: "common banners of batch scripts",
			Match: []pattern.Sample{
				{Line: "==== job 718823 on gpu-c12 (sft-tok) ====", Want: parser.Fields{"job": "718823"}},
				{Line: "Job 4243 sft-8b starting on n031 n032", Want: parser.Fields{"job": "4243"}},
			},
			NoMatch: []string{"Uvicorn running on http://0.0.0.0:30001"},
		},
	}
}
