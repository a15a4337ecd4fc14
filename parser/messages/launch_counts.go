package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// launchWorld are the lines in which one process says how many there are in the whole job.
func launchWorld() []pattern.Pattern {
	world := func(n string) parser.Fields { return parser.Fields{"world_size": n} }
	return []pattern.Pattern{
		{
			Name:     "launch.gpus_used",
			Literals: []string{"distributed training: ", "Num GPUs", ", world size: "},
			Expr: `\bn_gpu: (?<world_size>1)[,;]? {0,2}distributed training: False|\bNum GPUs(?: used)? = (?<world_size>\d{1,3})\b` +
				`|\bProcess rank: \d{1,6}, world size: (?<world_size>\d{1,6}), device: `,
			Marker: "launch", Source: "transformers examples; unsloth, its banner; LLaMA-Factory, hparams/parser.py",
			Match: []pattern.Sample{
				{Line: "Process rank: 0, device: cuda:0, n_gpu: 1, distributed training: False, 16-bits training: True", Want: world("1")},
				{Line: "==((====))==  Unsloth - 2x faster free finetuning | Num GPUs used = 1", Want: world("1")},
				{Line: "Process rank: 3, world size: 4, device: cuda:3, distributed training: True, compute dtype: torch.bfloat16", Want: world("4")},
			},
			NoMatch: []string{"Process rank: -1, device: cuda:0, n_gpu: 8, distributed training: False", "Process rank: 0, device: cuda:0, n_gpu: 1, distributed training: True"},
		},
		{
			Name:     "launch.llamafactory_world",
			Literals: []string{" distributed tasks at: "},
			Expr:     `\bInitializing (?<world_size>\d{1,6}) distributed tasks at: `,
			Marker:   "launch", Source: "LLaMA-Factory, cli.py; of one node, unless nnodes is set",
			Match: []pattern.Sample{{
				Line: "[INFO|2025-03-13 10:02:11] llamafactory.cli:143 >> Initializing 8 distributed tasks at: 127.0.0.1:29500", Want: world("8"),
			}},
		},
		{
			// A node's own address for the first process, a world without a host file (which DeepSpeed prints in base64, too): no other node
			// can take part.
			Name:     "launch.one_node",
			Literals: []string{" distributed tasks at: 127.0.0.1:", "WORLD INFO DICT: {'localhost': [", " -u -m deepspeed.launcher.launch --world_info="},
			Expr: `\bInitializing \d{1,6} distributed tasks at: 127\.0\.0\.1:|\bWORLD INFO DICT: \{'localhost': \[[\d, ]{1,200}\]\}` +
				`|\bcmd = (?:/[^\s;]{1,200}/)?python[\d.]{0,8} -u -m deepspeed\.launcher\.launch --world_info=(?:eyJsb2NhbGhvc3QiOiBb|[\w+/=-]{1,200} --master_addr=127\.0\.0\.1 )`,
			Marker: "launch", Set: parser.Fields{"nodes": "1"}, Source: "LLaMA-Factory, cli.py; DeepSpeed, launcher/launch.py, launcher/runner.py",
			Also: []string{"launch.llamafactory_world", "launch.start"},
			Match: lines("[INFO|2025-03-13 10:02:11] llamafactory.cli:143 >> Initializing 8 distributed tasks at: 127.0.0.1:29500", "WORLD INFO DICT: {'localhost': [0, 1, 2, 3]}",
				"[2024-05-02 10:00:00,118] [INFO] [runner.py:568:main] cmd = /opt/conda/bin/python -u -m deepspeed.launcher.launch --world_info=eyJsb2NhbGhvc3QiOiBbMCwgMSwgMiwgM119 --master_port=29500 a.py",
				"cmd = /usr/bin/python3.10 -u -m deepspeed.launcher.launch --world_info=eyJhMTAwLTAzIjogWzAsIDFdfQ== --master_addr=127.0.0.1 --master_port=29500 a.py"),
			NoMatch: []string{
				"Initializing 8 distributed tasks at: 10.31.0.14:29511", "WORLD INFO DICT: {'a100-03': [0, 1], 'a100-04': [0, 1]}",
				"cmd = /usr/bin/python3 -u -m deepspeed.launcher.launch --world_info=eyJhMTAwLTAzIjogWzAsIDFdfQ== --master_addr=10.0.0.3 --master_port=29500 --node_rank=0 a.py",
				"[runner.py:568:main] cmd = pdsh -S -f 1024 -w a100-03,a100-04 export PYTHONPATH=/work; cd /work; /opt/bin/python -u -m deepspeed.launcher.launch --world_info=eyJh",
			},
		},
		{
			Name:     "lightning.one_visible",
			Literals: []string{" - CUDA_VISIBLE_DEVICES: ["},
			Expr:     `^LOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: \[\d{1,3}\]\s*$`,
			Gauge:    true, Source: "PyTorch Lightning 1.0-2.x, accelerators/cuda.py: the process sees one card, and trains alone unless [launch.lightning_world] says otherwise",
			Match:   lines("LOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: [0]"),
			NoMatch: []string{"LOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: [0,1]", "LOCAL_RANK: 1 - CUDA_VISIBLE_DEVICES: [0]"},
		},
		{
			Name:     "launch.lightning_world",
			Literals: []string{" GLOBAL_RANK: ", "All distributed processes registered"},
			Expr:     `\b[Ii]nitializing [a-z_]{2,20}: GLOBAL_RANK: \d{1,6}, MEMBER: \d{1,6}/(?<world_size>\d{1,6})|All distributed processes registered\. Starting with (?<world_size>\d{1,6}) processes`,
			Marker:   "launch", Source: "PyTorch Lightning 0.9-2.x, fabric/utilities/distributed.py",
			Match: []pattern.Sample{
				{Line: "Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/4", Want: world("4")},
				{Line: "initializing ddp: GLOBAL_RANK: 1, MEMBER: 2/2", Want: world("2")},
				{Line: "All distributed processes registered. Starting with 16 processes", Want: world("16")},
			},
			NoMatch: []string{"LOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: [0,1]"},
		},
		{
			Name:     "launch.accelerate_world",
			Literals: []string{"Num processes: ", "`--num_processes` was set to a value of"},
			Expr:     "^Num processes: (?<world_size>\\d{1,6})\\s*$|^\\s{0,8}`--num_processes` was set to a value of `(?<world_size>\\d{1,6})`",
			Marker:   "launch", Source: "accelerate 0.x-1.x, state.py, commands/launch.py; of all machines",
			Match: []pattern.Sample{
				{Line: "Num processes: 4", Want: world("4")},
				{Line: "\t`--num_processes` was set to a value of `4`", Want: world("4")},
			},
			NoMatch: []string{"Num processes: 4 of 8", "If this was unintended please pass in `--num_processes=1`."},
		},
		{
			Name:     "launch.titan_mesh",
			Literals: []string{"Building 1-D device mesh with "},
			Expr:     `\bBuilding 1-D device mesh with \['\w{1,20}'\], \[(?<world_size>\d{1,6})\]`,
			Marker:   "launch", Source: "TorchTitan 0.1, distributed/parallel_dims.py",
			Match:   []pattern.Sample{{Line: "Building 1-D device mesh with ['dp_shard'], [8]", Want: world("8")}},
			NoMatch: []string{"Building 2-D device mesh with ['dp_shard', 'tp'], [4, 2]"},
		},
		{
			Name:     "launch.script_world",
			Literals: []string{" devices (GPUs/TPUs)", "Rank of current process: ", "in distributed mode with multiple processes", "with a single process on ", "store_based_barrier_key:1 with ", "GPU number: ", "distributed init (rank ", "Num_devices: "},
			Expr: `\btraining on (?<world_size>\d{1,6}) devices \(GPUs/TPUs\)|\bRank of current process: \d{1,6}\. World size: (?<world_size>\d{1,6})\b` +
				`|\bmultiple processes, 1 (?:GPU|device) per process\. ?Process \d{1,6}, total (?<world_size>\d{1,6})\b|\bTraining with a single process on (?<world_size>1) (?:GPUs|device)\b` +
				`|\bstore_based_barrier_key:1 with (?<world_size>\d{1,6}) nodes\b|^\s{0,8}GPU number: (?<world_size>\d{1,6})\s*$` +
				`|\bdistributed init \(rank \d{1,6}, wor(?:l?d|ld size):? (?<world_size>\d{1,6})\)|^Num_devices: (?<world_size>\d{1,6}), shape`,
			Marker: "launch", Source: "fairseq_cli/train.py; detectron2, engine/defaults.py; timm, train.py; torch 1.8-2.1, distributed_c10d.py; MMEngine, runner.py; BEiT, ConvNeXt, utils.py; MaxText, max_utils.py",
			Match: []pattern.Sample{
				{Line: "training on 8 devices (GPUs/TPUs)", Want: world("8")},
				{Line: "Rank of current process: 0. World size: 8", Want: world("8")},
				{Line: "Training in distributed mode with multiple processes, 1 GPU per process. Process 0, total 4.", Want: world("4")},
				{Line: "Training with a single process on 1 GPUs.", Want: world("1")},
				{Line: "Rank 3: Completed store-based barrier for key:store_based_barrier_key:1 with 8 nodes.", Want: world("8")},
				{Line: "    GPU number: 4", Want: world("4")},
				{Line: "| distributed init (rank 0, word 8): env://, gpu 0", Want: world("8")},
				{Line: "Num_devices: 8, shape (1, 1, 8, 1, 1)", Want: world("8")},
			},
			NoMatch: []string{
				"Rank 3: Completed store-based barrier for key:store_based_barrier_key:2 with 4 nodes.", "| distributed init (rank 0): env://, gpu 0", "GPU number: 4 was lost",
			},
		},
		{
			Name:     "launch.alone",
			Literals: []string{" is not applicable for single-GPU training", " since the world size is 1."},
			Expr:     `\bFSDP(?:\+TP)? is not applicable for single-GPU training\b|\bFSDP is switching to use .NO_SHARD. instead of ShardingStrategy\.(?:FULL_SHARD|SHARD_GRAD_OP) since the world size is 1\.`,
			Gauge:    true, Source: "LLM Foundry, command_utils/train.py; PyTorch 2.x, distributed/fsdp/_init_utils.py: FSDP is on, and one process runs",
			Match: lines("train.py:166: UserWarning: FSDP is not applicable for single-GPU training. Reverting to DDP.",
				"_init_utils.py:444: UserWarning: FSDP is switching to use `NO_SHARD` instead of ShardingStrategy.FULL_SHARD since the world size is 1."),
			NoMatch: []string{"FSDP is switching to use `NO_SHARD` instead of ShardingStrategy.HYBRID_SHARD since the world size is 1."}, // of a mesh of several
		},
		{
			Name:     "launch.single_device",
			Literals: []string{"SingleDevice with resolved config", "Not using distributed mode"},
			Expr:     `Running \w{1,60}SingleDevice with resolved config|^Not using distributed mode\s*$`,
			Marker:   "launch", Set: world("1"), Source: "torchtune, recipes/full_finetune_single_device.py; DETR, DINO, MAE and what is built on them, util/misc.py",
			Match:   lines("INFO:torchtune.utils._logging:Running FullFinetuneRecipeSingleDevice with resolved config:", "Not using distributed mode"),
			NoMatch: []string{"warning: Not using distributed mode may be slow"},
		},
	}
}

// launchTrainers are the lines that name how accelerate runs the processes.
func launchTrainers() []pattern.Pattern {
	environment := func(kind, backend string) pattern.Pattern {
		return pattern.Pattern{
			Name:     "launch.accelerate_" + backend,
			Literals: []string{"Distributed environment: " + kind},
			Expr:     `\bDistributed environment: (?:DistributedType\.)?` + kind + `\b(?: {1,3}Backend: |\s*$)`,
			Marker:   "launch", Set: map[string]string{"backend": backend}, Source: "accelerate 0.x-1.x, state.py",
			Match:   lines("Distributed environment: "+kind+"  Backend: nccl", "Distributed environment: "+kind),
			NoMatch: []string{"Distributed environment: NO", "Distributed environment: " + kind + " is not there"},
		}
	}
	strategy := func(class, backend string) pattern.Pattern {
		return markers{kind: "launch", source: "Lightning 2.x, fabric/strategies, pytorch/strategies; in the code or the configuration that a log shows"}.line(
			"launch.lightning_"+backend, parser.Fields{"backend": backend}, `\b`+class+`\(|\bclass_path: [\w.]{1,40}\.strategies\.`+class+`\s*$`,
			[]string{class + "(", ".strategies." + class}, "    strategy = "+class+"(stage=3)", "    class_path: lightning.pytorch.strategies."+class)
	}
	return []pattern.Pattern{
		environment("MULTI_GPU", "ddp"), environment("FSDP", "fsdp"), environment("DEEPSPEED", "deepspeed"),
		strategy("FSDPStrategy", "fsdp"), strategy("DeepSpeedStrategy", "deepspeed"), strategy("DDPStrategy", "ddp"),
	}
}

// launchParameters are the lines that count a model's parameters: "parameters" is all, "trained" what is trained. What a rank counts
// of its own shard is not among them.
func launchParameters() []pattern.Pattern {
	const n = `[\d,]{1,20}(?:\.\d{1,9})? {0,2}(?:[KMBGT]\b|[Mm]illion\b|[Bb]illion\b)?`
	of := func(parameters, trained string) parser.Fields {
		f := parser.Fields{}
		if parameters != "" {
			f["parameters"] = parameters
		}
		if trained != "" {
			f["trained"] = trained
		}
		return f
	}
	return []pattern.Pattern{
		{
			Name:     "launch.trained_parameters",
			Literals: []string{"Number of trainable parameters = ", "Trainable parameters = ", "M Params (", " Trainable params", "(num. trained: ", "rainable parameters: ", "rainable params: "},
			Expr: `\btrainable params: (?<trained_n>` + n + `) \|\| all params: (?<parameters_n>` + n + `)|\bNumber of trainable parameters = (?<trained_n>` + n + `)\s*$` +
				`|\bTrainable parameters = (?<trained_n>` + n + `)(?: of |/)(?<parameters_n>` + n + `) \(|: (?<parameters_n>[\d.]{1,16}M) Params \((?<trained_n>[\d.]{1,16}M) Trainable \[` +
				`|^(?<trained_n>` + n + `) {1,12}Trainable params\s*$|\bnum\. (?:shared )?model params: (?<parameters_n>` + n + `) \(num\. trained: (?<trained_n>` + n + `)\)` +
				`|^[\s*#>=|-]{0,8}(?:(?:[Tt]otal )?(?:[Nn]umber of )?[Tt]rainable|Total [Tt]rainable) param(?:eter)?s: (?<trained_n>` + n + `)(?:\s*$| \()`,
			Marker: "launch", Source: "PEFT, peft_model.py; LLaMA-Factory, model/loader.py; transformers, trainer.py; unsloth, models/llama.py; ms-swift, utils/torch_utils.py; Lightning, callbacks/model_summary.py; fairseq, trainer.py",
			Match: []pattern.Sample{
				{Line: "trainable params: 4,194,304 || all params: 6,742,609,920 || trainable%: 0.0622", Want: of("6742609920", "4194304")},
				{Line: "trainable params: 4194304 || all params: 6742609920 || trainable%: 0.06220596", Want: of("6742609920", "4194304")},
				{Line: "  Number of trainable parameters = 7,615,616,512", Want: of("", "7615616512")},
				{Line: ` "-____-"     Trainable parameters = 41,943,040 of 8,072,204,288 (0.52% trained)`, Want: of("8072204288", "41943040")},
				{Line: ` "-____-"     Trainable parameters = 41,943,040/7,000,000,000 (0.60% trained)`, Want: of("7000000000", "41943040")},
				{Line: "model_parameter_info: PeftModelForCausalLM: 7625.7070M Params (10.0925M Trainable [0.1323%]), 0.0001M Buffers.", Want: of("7625707000", "10092500")},
				{Line: "7.6 B     Trainable params", Want: of("", "7600000000")},
				{Line: "Number of trainable parameters: 4,194,304", Want: of("", "4194304")},
				{Line: "Trainable params: 6.55M", Want: of("", "6550000")},
				{Line: "num. shared model params: 65,000,000 (num. trained: 65,000,000)", Want: of("65000000", "65000000")},
			},
			NoMatch: []string{"0         Non-trainable params", "trainable params: unknown", "Trainable parameters = all"},
		},
		{
			Name:     "launch.trained_wide",
			Literals: []string{"pcasting trainable params to float32", "pcasting trainable params in float32"},
			Expr:     `\bUpcasting trainable params (?:to|in) float32`,
			Marker:   "launch", Set: parser.Fields{"trained_dtype": "float32"}, Source: "LLaMA-Factory, model/adapter.py",
			Match:   lines("Upcasting trainable params to float32."),
			NoMatch: []string{"Upcasting layernorm weights in float32."},
		},
		{
			Name:     "launch.checkpoint_dtype",
			Literals: []string{"dtype=torch."},
			Expr:     `^Will use (?:torch_)?dtype=torch\.(?<trained_dtype>float32|bfloat16|float16) as defined in model's config object`,
			Marker:   "launch", Source: "transformers 4.x-5.x, modeling_utils.py: from_pretrained with dtype=\"auto\", the default of 5.x",
			Match: []pattern.Sample{
				{Line: "Will use dtype=torch.bfloat16 as defined in model's config object", Want: parser.Fields{"trained_dtype": "bfloat16"}},
				{Line: "Will use torch_dtype=torch.float16 as defined in model's config object", Want: parser.Fields{"trained_dtype": "float16"}},
			},
			NoMatch: []string{"Will use dtype=torch.int8 as defined in model's config object"},
		},
		{ // the weights stay float32 under autocast
			Name:     "launch.nanogpt_optimizer",
			Literals: []string{"using fused AdamW: "},
			Expr:     `^using fused AdamW: (?:True|False)\s*$`,
			Marker:   "launch", Set: parser.Fields{"trained_dtype": "float32"}, Source: "nanoGPT, model.py (configure_optimizers), and scripts made from it",
			Match:   lines("using fused AdamW: False"),
			NoMatch: []string{"using fused AdamW: maybe"},
		},
		{
			Name: "launch.all_parameters",
			Literals: append([]string{
				" total parameters", "ForCausalLM contains ", "ConditionalGeneration contains ", " Million params", " Total params", "finished initializing model ", ", param count:", "model params   ", "Total number of parameters in billions: ",
				"number parameters: ", "umber of parameters: ", "otal parameters: ", "otal params: ", "odel params: ", "odel parameters: ", "otal number of parameters: ", "n_params=",
			}, before("123456789", " params ", " num_params ")...),
			Expr: `\bsize: (?<parameters_n>` + n + `) total parameters\b|For(?:CausalLM|ConditionalGeneration) contains (?<parameters_n>` + n + `) parameters\.?\s*$|^--> \S{1,200} has (?<parameters_n>` + n + `) params\s*$` +
				`|^(?<parameters_n>` + n + `) {1,12}Total params\s*$|\bfinished initializing model (?:- num_params = \d{1,9}, num_elems = |with )(?<parameters_n>` + n + `)` +
				`|\bModel \S{1,200} created, param count: ?(?<parameters_n>` + n + `)|^(?:print_info|llm_load_print_meta): model params {1,9}= (?<parameters_n>` + n + `)\s*$` +
				`|^Total number of parameters in billions: (?<parameters_bn>` + n + `)\s*$|^(?:cfg\.)?n_params=(?<parameters_n>\d\.\d{1,6}e\+\d\d)\s*$` +
				`|(?<!(?:shard|sharded|local|rank|trainable|trained|frozen|flat|expert|active|embedding)) (?:num_)?params (?<parameters_n>[1-9]\d{8,12})(?=[\s,]|$)` + // print("params", model.num_parameters())
				`|^[\s*#>=|-]{0,8}(?:(?:[Tt]otal |[Mm]odel )?[Nn]umber (?:of )?(?:model )?parameters|(?:[Tt]otal |[Mm]odel ){1,2}param(?:eter)?s): (?<parameters_n>` + n + `)(?:\s*$| \()`,
			Marker: "launch", Source: "TorchTitan, train.py; verl, utils/model.py; llama-recipes, model_utils.py; Lightning; DeepSpeed, partition_parameters.py; timm; llama.cpp, llama-model.cpp; Megatron, theoretical_memory_usage.py; MaxText, llm-foundry, nanoGPT, nanotron, LitGPT, Colossal-AI and scripts like them",
			Match: []pattern.Sample{
				{Line: "Model llama3 8B size: 8,030,261,248 total parameters", Want: of("8030261248", "")},
				{Line: "Qwen2ForCausalLM contains 7.62B parameters", Want: of("7620000000", "")},
				{Line: "--> Meta-Llama-3-8B has 8030.261248 Million params", Want: of("8030261248", "")},
				{Line: "7.6 B     Total params", Want: of("7600000000", "")},
				{Line: "finished initializing model - num_params = 399, num_elems = 4.41B", Want: of("4410000000", "")},
				{Line: "finished initializing model with 6.74B parameters", Want: of("6740000000", "")},
				{Line: "Model vit_large_patch16_224 created, param count:304326632", Want: of("304326632", "")},
				{Line: "print_info: model params     = 7.62 B", Want: of("7620000000", "")},
				{Line: "llm_load_print_meta: model params     = 361.82 M", Want: of("361820000", "")},
				{Line: "cfg.n_params=6.65e+09", Want: of("6650000000", "")},
				{Line: "Total number of parameters in billions: 8.03", Want: of("8030000000", "")},
				{Line: "number parameters: 6.738 billion", Want: of("6738000000", "")},
				{Line: "number of parameters: 123.59M", Want: of("123590000", "")},
				{Line: "Total number of parameters: 1.04G (1984.33MiB)", Want: of("1040000000", "")},
				{Line: "Total parameters: 1,100,048,384", Want: of("1100048384", "")},
				{Line: "  total params: 20,556,201,984", Want: of("20556201984", "")},
				{Line: "Model params: 6.28 B", Want: of("6280000000", "")},
				{Line: "dtype torch.float32 params 7321948160 footprint 27.28 GiB", Want: of("7321948160", "")},
			},
			NoMatch: []string{
				" > number of parameters on (tensor, pipeline) model parallel rank (0, 0): 4286349312", "Number of parameters in most loaded shard in billions: 1.0038",
				"Qwen2ForTokenClassification contains 7.07B parameters", "Local number of parameters: 130M", "Number of parameters in transformer layers in billions:  6.98", "30,462.466 Total estimated model params size (MB)", "step 3 params 1234567", "local params 1234567890", "all params 1234567890.5",
			},
		},
	}
}
