package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// launchPatterns are the lines that tell framework, engine, launcher, versions, job, ranks and world size.
//
// A framework is claimed by its own modules and entry points only. A line that names a library used by several
// frameworks tells "library" and "version", "engine" or "backend". "version" is always that of "library".
var launchPatterns = []table{launchFrameworks, launchApplications, launchEngines, launchVersions, launchLaunchers, launchSlurm, launchRanks, launchWorld, launchTrainers, launchParameters, launchHosts}

// launchFrameworks are the fingerprints of the outermost framework: Python modules as they stand in command lines,
// object reprs and configuration (`_target_`), and lines only it prints.
func launchFrameworks() []pattern.Pattern {
	framework := func(name, source, expr string, literals []string, samples ...string) pattern.Pattern {
		return markers{kind: "launch", source: source}.line("launch."+name, parser.Fields{"framework": name}, expr, literals, samples...)
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
			`(?:\btrl[./](?:trainer|scripts|cli|extras)\b|\btrl (?:sft|grpo|dpo|kto|rloo|reward|vllm-serve) |\b(?:GRPO|SFT|DPO|RLOO|KTO|ORPO|CPO|GKD|OnlineDPO)(?:Config|Trainer)\()`,
			[]string{
				"trl.trainer", "trl.scripts", "trl/scripts", "trl.extras", "trl.cli", "trl sft ", "trl grpo ", "trl dpo ", "trl kto ", "trl rloo ", "trl reward ", "trl vllm-serve ",
				"GRPOConfig(", "SFTConfig(", "DPOConfig(", "RLOOConfig(", "KTOConfig(", "ORPOConfig(", "CPOConfig(", "GKDConfig(",
				"GRPOTrainer(", "SFTTrainer(", "DPOTrainer(", "RLOOTrainer(", "KTOTrainer(", "ORPOTrainer(", "CPOTrainer(", "GKDTrainer(",
			},
			"Training parameters GRPOConfig(", "+ trl sft --model_name_or_path Qwen/Qwen2.5-7B", "    trainer = SFTTrainer("),
		framework("nemo_rl", "NeMo-RL 0.1-0.5, nemo_rl/algorithms, examples",
			`(?:\bnemo_rl\.(?:algorithms|models|distributed|environments|data|utils)\.\w|\bexamples/run_(?:grpo|sft|dpo|distillation)\w{0,20}\.py|▶ Setting up compute cluster)`,
			[]string{"nemo_rl.", "examples/run_", "▶ Setting up compute cluster"},
			"▶ Setting up compute cluster...", "uv run examples/run_grpo_math.py --config x.yaml"),
		framework("jax", "JAX 0.4-0.7, jaxlib",
			`(?:\bjaxlib\.(?:xla_extension|_jax|xla_client)\b|\b(?:Xla|Jax)RuntimeError: |\bjax\.errors\.\w|\bJAX (?:process: \d{1,6} / \d|local devices: \[))`,
			[]string{"jaxlib.", "XlaRuntimeError: ", "JaxRuntimeError: ", "jax.errors.", "JAX process: ", "JAX local devices: "},
			"jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 52428800000 bytes.",
			"JAX process: 0 / 1", "XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8589934592 bytes."),
	}
}

// launchApplications are what programs print of themselves where no traceback tells: banners, entry points, log prefixes.
func launchApplications() []pattern.Pattern {
	application := func(name, source, expr string, literals []string, samples ...string) pattern.Pattern {
		return markers{kind: "launch", source: source}.line("launch."+name, parser.Fields{"application": name}, expr, literals, samples...)
	}
	return []pattern.Pattern{
		application("ollama", "Ollama 0.1-0.33, server/sched.go, llm/server.go, server/routes.go",
			`\bsource=(?:sched|server|routes|llama_server|gpu|memory)\.go:\d|msg="(?:starting (?:llama[- ]server|runner)|llama runner started in )|(?:^|routes\.go:\d{1,4}: )Listening on \S{3,60} \(version \d`,
			[]string{" source=sched.go:", " source=server.go:", " source=routes.go:", " source=llama_server.go:", " source=gpu.go:", " source=memory.go:", `msg="starting `, `msg="llama runner `, "Listening on "},
			"2024/01/05 11:02:31 routes.go:930: Listening on 127.0.0.1:11434 (version 0.1.17)",
			`time=2026-03-04T09:10:08.511Z level=INFO source=sched.go:715 msg="new model will fit in available VRAM, loading"`),
		application("llamacpp", "llama.cpp 2023-2026, src/llama-model-loader.cpp, common/common.cpp, tools/server",
			`^(?:\w{1,40}: )?(?:llama_model_loader: loaded meta data|(?:llm_)?load_tensors: |common_init_from_params: |common_fit_params: |llama_params_fit: |build_info: b\d|print_info: n_layer )|^(?:srv|slot) {1,6}(?:load_model|launch_slot_|update_slots|create_check|prompt_save|update): `,
			[]string{
				"llama_model_loader: loaded", "load_tensors: ", "common_init_from_params: ", "common_fit_params: ", "llama_params_fit: ", "build_info: b", "print_info: n_layer ", " load_model: ",
				" launch_slot_: ", " update_slots: ", " create_check: ", " prompt_save: ", "srv  update: ", "srv   update: ",
			},
			"llama_model_loader: loaded meta data with 32 key-value pairs and 707 tensors from /srv/m.gguf", "load_tensors: offloaded 33/33 layers to GPU",
			"main: build_info: b10488-1f2e3d4c", "srv    load_model: loading model '/srv/m.gguf'", "slot update_slots: id  0 | task 12 | new prompt, n_ctx_slot = 8192", "print_info: n_layer          = 80"),
		application("trtllm", "TensorRT-LLM 0.5-1.x, cpp/tensorrt_llm/common/logger.h, tensorrt_llm/logger.py, commands/serve.py",
			`^\[TensorRT-LLM\]\[|\btrtllm-(?:serve|build|bench|llmapi-launch)\b`,
			[]string{"[TensorRT-LLM][", "trtllm-serve", "trtllm-build", "trtllm-bench", "trtllm-llmapi-launch"},
			"[TensorRT-LLM][INFO] Engine version 0.12.0 found in the config file", "+ trtllm-serve /models/q --tp_size 4"),
		application("triton", "Triton Inference Server 20.x-26.x, src/main.cc, core/src/model_repository_manager.cc",
			`\btritonserver --|TRITONBACKEND_\w|/opt/tritonserver/backends/|(?:successfully loaded|successfully unloaded|failed to load) '[^']{1,200}' version \d`,
			[]string{"tritonserver --", "TRITONBACKEND_", "/opt/tritonserver/backends/", "successfully loaded '", "successfully unloaded '", "failed to load '"},
			"+ tritonserver --model-repository=/models", "failed to load 'bert' version 1: Internal: CUDA out of memory.", "TRITONBACKEND_ModelInstanceInitialize: resnet_0_0 (GPU device 0)"),
		application("tgi", "Text Generation Inference 0.9-3.x, launcher/src/main.rs, router/src/server.rs",
			`(?:^|\s)text_generation_(?:launcher|router)\b`, []string{"text_generation_launcher", "text_generation_router"},
			"text_generation_launcher: Sharding model on 2 processes"),
		application("lmdeploy", "LMDeploy 0.2-0.16, lmdeploy/cli, src/turbomind/utils/logger.cc",
			`^\[TM\]\[(?:INFO|WARNING|ERROR|FATAL)\]|\blmdeploy (?:serve|chat|lite) \w`, []string{"[TM][INFO]", "[TM][WARNING]", "[TM][ERROR]", "[TM][FATAL]", "lmdeploy serve ", "lmdeploy chat ", "lmdeploy lite "},
			"[TM][INFO] [BlockManager] block_size = 2.000 MB", "+ lmdeploy serve api_server /models/q --tp 2"),
		application("mlc", "MLC-LLM 0.1-0.20, python/mlc_llm/cli, python/mlc_llm/serve/engine_base.py",
			`\bmlc_llm (?:serve|chat|gen_config|compile|bench) \S|\b(?:from|import) mlc_llm\b|/mlc_llm/serve/|INFO engine_base\.py:\d{1,5}: (?:Using library model|The selected engine mode)`, []string{"mlc_llm ", " mlc_llm", "/mlc_llm/serve/", "INFO engine_base.py:"},
			"+ mlc_llm serve HF://mlc-ai/q-MLC --mode server", "from mlc_llm import MLCEngine", "INFO engine_base.py:143: Using library model: /m/libs/cuda.so"),
		application("llamafactory", "LLaMA-Factory 0.5-0.9, src/llamafactory/cli.py",
			`\bllamafactory-cli (?:train|export|chat|api|webui)\b|\bllamafactory/launcher\.py\b|\bsrc/train_bash\.py\b`, []string{"llamafactory-cli ", "llamafactory/launcher.py", "src/train_bash.py"},
			"+ llamafactory-cli train examples/train_lora/llama3_lora_sft.yaml", "+ deepspeed --num_gpus 8 src/train_bash.py --stage sft"),
		application("swift", "ms-swift 2.x-4.x, swift/utils/logger.py, swift/cli",
			`^\[(?:INFO|WARNING|ERROR):swift\] |(?:^|\s)(?:swift|megatron) (?:sft|pt|rlhf|rollout) (?:--\w|\\$)`, []string{"[INFO:swift] ", "[WARNING:swift] ", "[ERROR:swift] ", "swift sft ", "swift pt ", "swift rlhf ", "swift rollout ", "megatron sft ", "megatron pt ", "megatron rlhf "},
			"[INFO:swift] Global seed set to 42", "+ swift sft --model Qwen/Qwen2.5-7B-Instruct", "NPROC_PER_NODE=2 swift rlhf \\"),
		application("axolotl", "axolotl 0.4-0.18, axolotl/cli",
			`\baxolotl\.cli\.\w|\[axolotl\.[\w.]{1,100}[:\]]|(?:^|\s)axolotl (?:train|preprocess|inference) \S{1,200}\.ya?ml`, []string{"axolotl.cli.", "[axolotl.", "axolotl train ", "axolotl preprocess ", "axolotl inference "},
			"+ accelerate launch -m axolotl.cli.train config.yml", "+ axolotl train examples/llama-3/qlora.yml"),
		{
			Name: "launch.unsloth_version", Source: "Unsloth 2024-2026, unsloth/models/_utils.py",
			Literals: []string{"==((====))==  Unsloth 20"},
			Expr:     `==\(\(={4}\)\)==  Unsloth (?<version>20\d\d\.\d{1,2}\.\d{1,3})`,
			Marker:   "launch", Set: parser.Fields{"application": "unsloth"},
			Match:   []pattern.Sample{{Line: "==((====))==  Unsloth 2026.8.19: Fast Llama patching. Transformers: 5.1.0.", Want: parser.Fields{"version": "2026.8.19"}}},
			NoMatch: []string{"==((====))==  Unsloth - 2x faster free finetuning | Num GPUs used = 1"},
		},
		application("unsloth", "Unsloth 2024-2026, unsloth/models/loader.py, unsloth_zoo/vllm_utils.py",
			`==\(\(={4}\)\)== {1,3}Unsloth|^Unsloth: \w`, []string{"==((====))==  Unsloth", "==((====))== Unsloth", "Unsloth: "},
			"==((====))==  Unsloth - 2x faster free finetuning | Num GPUs used = 1", "Unsloth: Will smartly offload gradients to save VRAM!"),
		application("lightning", "PyTorch Lightning 1.x-2.x, trainer/setup.py, utilities/rank_zero.py",
			`^GPU available: (?:True|False)(?: \(\w{1,8}\))?, used: |^LOCAL_RANK: \d{1,4} - CUDA_VISIBLE_DEVICES: \[`, []string{"GPU available: ", " - CUDA_VISIBLE_DEVICES: ["},
			"GPU available: True (cuda), used: True", "LOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: [0,1]"),
		application("torchtune", "torchtune 0.1-0.7, torchtune/_cli",
			`(?:^|\s)tune run \S{1,200} --config\b|\btorchtune\.(?:utils|training)\._?\w`, []string{"tune run ", "torchtune.utils.", "torchtune.training."},
			"+ tune run full_finetune_single_device --config llama3/8B_full_single_device", "  _component_: torchtune.training.FullModelHFCheckpointer"),
		application("torchtitan", "TorchTitan 0.1-0.2, torchtitan/tools/logging.py",
			`^\[titan\] \d{4}-|\btorchtitan\.train\b|--job\.config_file[= ]`, []string{"[titan] ", "torchtitan.train", "--job.config_file"},
			"[titan] 2026-06-30 03:02:40,431 - root - INFO - Starting job: Llama 3 8B training", "+ torchrun --nproc_per_node=8 -m torchtitan.train --job.config_file ./x.toml"),
		application("diffusers", "diffusers 0.10-0.35, examples/*/train_*.py",
			`\btrain_(?:dreambooth|text_to_image|controlnet|unconditional|instruct_pix2pix|t2i_adapter|custom_diffusion)(?:_\w{1,30})?\.py\b`,
			[]string{"train_dreambooth", "train_text_to_image", "train_controlnet", "train_unconditional", "train_instruct_pix2pix", "train_t2i_adapter", "train_custom_diffusion"},
			"+ accelerate launch train_text_to_image.py --use_ema --resolution=512", "+ python /home/u/diffusers/examples/dreambooth/train_dreambooth_lora_sdxl.py --resolution=1024"),
		application("roll", "ROLL 0.1-0.3, examples/start_rlvr_pipeline.py",
			`\bstart_(?:rlvr|agentic|dpo|sft|distill|reward_fl)\w{0,20}_pipeline\b|\broll\.(?:pipeline|distributed)\.\w`,
			[]string{"start_rlvr", "start_agentic", "start_dpo", "start_sft", "start_distill", "start_reward_fl", "roll.pipeline.", "roll.distributed."},
			"+ python examples/start_rlvr_pipeline.py --config_path qwen2.5-7B", "repr=<roll.distributed.executor.worker.Worker object at 0x7f>"),
		application("skyrl", "SkyRL 0.1-0.4, skyrl_train/entrypoints/main_base.py, skyrl/train",
			`\bskyrl_(?:train|entrypoint)\b|\bskyrl\.(?:train|backends|tinker)\.\w`, []string{"skyrl_train", "skyrl_entrypoint", "skyrl.train.", "skyrl.backends.", "skyrl.tinker."},
			"+ uv run -m skyrl_train.entrypoints.main_base trainer.epochs=2", "skyrl.train.trainer:train:450 - Started", "+ uv run -m skyrl.tinker.api --base-model Qwen/Qwen3-32B"),
		application("prime_rl", "prime-rl 0.2-0.8, src/prime_rl",
			`\bPRIME-RL::\w|\bprime_rl[./]\w|\bStarting (?:RL|SFT) trainer in World\(|\bInitializing (?:\w{1,10} )?inference pool \(base_url=|\d inflight rollouts \(train=\d`,
			[]string{"PRIME-RL::", "prime_rl.", "prime_rl/", " trainer in World(", " inference pool (base_url=", " inflight rollouts (train="},
			"PRIME-RL::Trainer", "+ torchrun src/prime_rl/trainer/rl/train.py", "Starting RL trainer in World(world_size=4, rank=0, local_rank=0, local_world_size=4, num_nodes=1) in outputs/x", "17:02:14    INFO Initializing student inference pool (base_url=http://localhost:8000/v1, model=Qwen/Qwen3-0.6B)", "02:14:07    INFO Train batch 31/256 (12.1%) (+96 buffered) | 1024 inflight rollouts (train=1024, eval=0)"),
		application("fooocus", "Fooocus 2.0-2.5, launch.py", `^Fooocus version: \d{1,3}\.\d`, []string{"Fooocus version: "}, "Fooocus version: 2.1.862"),
		application("comfyui", "ComfyUI 0.2-0.10, main.py, comfy/model_management.py, execution.py",
			`^Total VRAM \d{1,8} MB, total RAM \d{1,9} MB|^!!! Exception during processing !!!|^Got an OOM, unloading all loaded models\.`,
			[]string{"Total VRAM ", "!!! Exception during processing !!!", "Got an OOM, unloading all loaded models."},
			"Total VRAM 24564 MB, total RAM 64000 MB", "!!! Exception during processing !!! Allocation on device"),
		application("sdwebui", "stable-diffusion-webui 1.0-1.10 and Forge, modules/launch_utils.py",
			`^Launching Web UI with arguments:`, []string{"Launching Web UI with arguments:"},
			"Launching Web UI with arguments: --xformers"),
		application("llmcompressor", "LLM Compressor 0.1-0.9, core/lifecycle.py",
			`\bCompression lifecycle (?:reset|initialized for \d)`, []string{"Compression lifecycle "},
			"2025-12-11T10:02:47.268817+0100 | initialize | INFO - Compression lifecycle initialized for 1 modifiers"),
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
			Literals: []string{" LLM engine (v"},
			Expr:     `Initializing an? (?:V\d )?LLM engine \(v(?<version>[^)\s]{1,64})\)(?: with config: (?:model|)='(?<model>[^'\n]{1,400})')?`,
			Marker:   "launch", Set: map[string]string{"engine": "vllm", "library": "vllm"},
			Source: "vLLM 0.3-0.2x, v1/engine/core.py, engine/llm_engine.py",
			Match: []pattern.Sample{
				{
					Line: "Initializing a V1 LLM engine (v0.11.0) with config: model='/data/hf/Qwen3-14B-1M', speculative_config=None",
					Want: parser.Fields{"version": "0.11.0", "model": "/data/hf/Qwen3-14B-1M"},
				},
				{Line: "Initializing an LLM engine (v0.6.3) with config: model='Qwen/Qwen2.5-7B'", Want: parser.Fields{"version": "0.6.3", "model": "Qwen/Qwen2.5-7B"}},
			},
		},
		{
			Name:     "launch.config_file",
			Literals: []string{"loading configuration file "},
			Expr:     `\bloading configuration file (?:config\.json from cache at \S{0,400}/models--(?<loaded>[\w.-]{1,200})/snapshots/|(?<loaded>/\S{1,400})/config\.json)`,
			Marker:   "launch", Source: "transformers 4.x-5.x, configuration_utils.py: of each model in turn",
			Match: []pattern.Sample{
				{Line: "loading configuration file config.json from cache at /root/.cache/huggingface/hub/models--Qwen--Qwen2.5-7B-Instruct/snapshots/a09a/config.json", Want: parser.Fields{"loaded": "Qwen--Qwen2.5-7B-Instruct"}},
				{Line: "loading configuration file /models/Llama-3.1-8B/config.json", Want: parser.Fields{"loaded": "/models/Llama-3.1-8B"}},
			},
			NoMatch: []string{"loading configuration file generation_config.json"},
		},
		{
			// The server alone prints it, before it starts an engine.
			Name:     "launch.vllm_server",
			Literals: []string{"vLLM API server version "},
			Expr:     `vLLM API server version (?<version>\S{1,64})`,
			Marker:   "launch", Set: map[string]string{"engine": "vllm", "library": "vllm", "starts": "server"},
			Source: "vLLM 0.3-0.2x, entrypoints/openai/api_server.py",
			Match: []pattern.Sample{
				{Line: "vLLM API server version 0.9.2", Want: parser.Fields{"version": "0.9.2"}},
			},
		},
		{
			Name:     "launch.sglang",
			Literals: []string{"server_args=ServerArgs("},
			Expr:     `server_args=ServerArgs\((?:model_path='(?<model>[^'\n]{1,400})')?`,
			Marker:   "launch", Set: map[string]string{"engine": "sglang", "starts": "server"},
			Source: "SGLang 0.2-0.5, entrypoints/engine.py",
			Match:  []pattern.Sample{{Line: "server_args=ServerArgs(model_path='/models/Qwen2.5-7B-Instruct', tokenizer_path='/models/Qwen2.5-7B-Instruct'", Want: parser.Fields{"model": "/models/Qwen2.5-7B-Instruct"}}},
		},
		markers{kind: "launch", source: "vLLM, entrypoints; distributed/device_communicators/pynccl.py"}.line("launch.vllm_used", parser.Fields{"engine": "vllm"},
			`(?:\bvllm\.(?:entrypoints|engine|executor|v1|worker)\.\w|vLLM is using nccl==|^non-default args: \{'|\bvllm serve \S|\bvllm/vllm-openai\b)`,
			[]string{"vllm.entrypoints.", "vllm.engine.", "vllm.executor.", "vllm.v1.", "vllm.worker.", "vLLM is using nccl==", "non-default args: {", "vllm serve ", "vllm/vllm-openai"},
			"vLLM is using nccl==2.27.3", "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.", "non-default args: {'model': 'Qwen/Qwen3-14B'}",
			"+ vllm serve Qwen/Qwen3-14B", "$ docker run --gpus all vllm/vllm-openai:latest --model Qwen/Qwen3-14B"),
		markers{kind: "launch", source: "SGLang, distributed/device_communicators/pynccl.py, launch_server.py"}.line("launch.sglang_used", parser.Fields{"engine": "sglang"},
			`(?:sglang is using nccl==|\bsglang\.launch_server\b|\bsglang_router\b|Load weight begin\. avail mem=)`,
			[]string{"sglang is using nccl==", "sglang.launch_server", "sglang_router", "Load weight begin. avail mem="}, "sglang is using nccl==2.21.5",
			"python3 -m sglang.launch_server --mem-fraction-static 0.8", "Load weight begin. avail mem=78.68 GB"),
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
				{Line: "YOLOv8.0.196 Python-3.10.12 torch-2.0.1+cu118 CUDA:0 (NVIDIA A10G, 22732MiB)", Want: parser.Fields{"version": "2.0.1+cu118"}},
				{Line: "PyTorch version: 2.5.1", Want: parser.Fields{"version": "2.5.1"}},
				{Line: "[rank 0/8] torch 2.5.1+cu124, transformers 4.47.1, accelerate 1.2.1", Want: parser.Fields{"version": "2.5.1+cu124"}},
			},
			NoMatch: []string{"torch.OutOfMemoryError: CUDA out of memory."},
		},
		{
			Name:     "launch.installed",
			Literals: []string{"vllm  ", "vllm==", "sglang  ", "sglang==", "verl  ", "verl==", "trl   ", "trl==0", "trl==1"},
			Expr:     `^(?<installed>vllm|sglang|verl|trl)(?: {2,60}|==)(?<version>\d{1,2}\.\d{1,3}(?:\.\d{1,3})?[\w.+]{0,24})(?: {1,60}\S{1,200}){0,2}\s*$`,
			Marker:   "launch",
			Source:   "pip list, pip freeze, conda list: what is installed, not what runs",
			Match: []pattern.Sample{
				{Line: "vllm                              0.8.0", Want: parser.Fields{"installed": "vllm", "version": "0.8.0"}},
				{Line: "verl                              0.3.0.dev0  /root/verl", Want: parser.Fields{"installed": "verl", "version": "0.3.0.dev0"}},
				{Line: "trl                      0.14.0.dev0  (git+https://github.com/huggingface/trl@4659ad91)", Want: parser.Fields{"installed": "trl", "version": "0.14.0.dev0"}},
				{Line: "sglang==0.4.6.post5", Want: parser.Fields{"installed": "sglang", "version": "0.4.6.post5"}},
			},
			NoMatch: []string{"vllm  is not installed", "vllm==0.8.0 is the last version that works", "vllm-flash-attn              2.6.1"},
		},
		{
			Name:     "launch.bitsandbytes",
			Literals: []string{"libbitsandbytes_"},
			Expr:     `libbitsandbytes_(?:cuda\d{1,4}|cpu|rocm\d{1,4})\w{0,16}\.so`,
			Marker:   "launch", Set: map[string]string{"library": "torch"},
			Source: "bitsandbytes 0.35-0.42, cuda_setup/main.py: an extension of torch",
			Match:  lines("bin /opt/conda/envs/qlora/lib/python3.10/site-packages/bitsandbytes/libbitsandbytes_cuda118.so"),
		},
		{
			Name:     "launch.transformers",
			Literals: []string{"transformers_version", "transformers version", "ransformers version"},
			Expr:     `[Tt]ransformers[_ ]version"?: "?(?<version>\d{1,2}\.\d{1,3}\.\d{1,3}[\w.]{0,16})`,
			Marker:   "launch", Set: map[string]string{"library": "transformers"},
			Source: "transformers 4.x-5.x, configuration_utils.py, commands/env.py",
			Match: []pattern.Sample{
				{Line: `  "transformers_version": "4.51.3",`, Want: parser.Fields{"version": "4.51.3"}},
				{Line: "- `transformers` version: see above; transformers version: 4.47.1", Want: parser.Fields{"version": "4.47.1"}},
			},
		},
	}
}
