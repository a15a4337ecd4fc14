package settings

import "bytes"

// dialect is one form in which programs print settings.
type dialect struct {
	name   string
	sample string   // as a program prints it
	want   []string // "key=value" of each setting in the sample
	long   bool     // also read lines of more than maxPlain bytes
	// read reads a line outside dumps, or begins a dump with it. It reports whether the line is in this dialect.
	read func(r *Reader, text []byte) bool
}

// dialects are tried in this order until one accepts the line.
var dialects = [...]dialect{
	{
		name: "map of Go", long: true, read: (*Reader).goMap,
		sample: `msg="server config" env="map[CUDA_VISIBLE_DEVICES: OLLAMA_NUM_PARALLEL:2 OLLAMA_HOST:http://127.0.0.1:11434]"`,
		want:   []string{"OLLAMA_NUM_PARALLEL=2", "OLLAMA_HOST=http://127.0.0.1:11434"},
	},
	{
		name: "vLLM's engine", long: true, read: (*Reader).startEngine,
		sample: "Initializing a V1 LLM engine (v0.8.5) with config: model='Qwen/Qwen3-8B', tensor_parallel_size=4",
		want:   []string{"model=Qwen/Qwen3-8B", "tensor_parallel_size=4"},
	},
	{
		name: "Rust's debug print on many lines", read: (*Reader).startRustBlock,
		sample: "Args {\n    num_shard: Some(\n        4,\n    ),\n    quantize: None,\n    cuda_memory_fraction: 1.0,\n    cors_allow_origin: [],\n}",
		want:   []string{"num_shard=4", "quantize=None", "cuda_memory_fraction=1.0"},
	},
	{
		name: "dict of Python or JSON", long: true, read: (*Reader).startDict,
		sample: "config: {'actor': {'lr': 1e-06,\n                   'path': '/m'}}",
		want:   []string{"actor.lr=1e-06", "actor.path=/m"},
	},
	{
		name: "mmengine's configuration", long: true, read: (*Reader).startCall,
		sample: "train_dataloader = dict(batch_size=2, num_workers=4)",
		want:   []string{"train_dataloader.batch_size=2", "train_dataloader.num_workers=4"},
	},
	{
		name: "Rust's debug print", long: true, read: (*Reader).startRust,
		sample: `Args { model_id: "/m", num_shard: Some(4), quantize: None, otlp: Otlp { port: 1 } }`,
		want:   []string{"model_id=/m", "num_shard=4", "quantize=None"},
	},
	{
		name: "repr of an object", long: true, read: (*Reader).startRepr,
		sample: "server_args=ServerArgs(tp_size=2, mem_fraction_static=0.8)",
		want:   []string{"tp_size=2", "mem_fraction_static=0.8"},
	},
	{
		name: "batch directive", read: (*Reader).sbatch,
		sample: "#SBATCH --mem=96G -c 8 # per node",
		want:   []string{"--mem=96G", "-c=8"},
	},
	{
		name: "arguments of a container", read: (*Reader).argument,
		sample: "            - --num_workers=16\n            - \"--max-model-len=8192\"\n  args: [\"-c\", \"python train.py --batch_size 8\", \"--workers=4\"]",
		want:   []string{"--num_workers=16", "--max-model-len=8192", "--batch_size=8", "--workers=4"},
	},
	{
		name: "line of a script", read: (*Reader).script,
		sample: "84:        batch_size=64,  # of each\n        fp16=False,\n32:    decoding_t: int = 14,\n    sequence_length : int = 64*1024 # in tokens\n44:\tflags.DEFINE_integer('crop_size', 321, 'input size')\np.add_argument(\"--num_workers\", type=int, default=8)",
		want:   []string{"batch_size=64", "fp16=False", "decoding_t=14", "sequence_length=64*1024", "crop_size=321", "num_workers=8"},
	},
	{
		name: "Hydra's overrides", read: (*Reader).overrides,
		sample: "Error executing job with overrides: ['actor.lr=1e-06', '+trainer.nnodes=2']",
		want:   []string{"actor.lr=1e-06", "trainer.nnodes=2"},
	},
	{
		name: "command line", read: (*Reader).command,
		sample: "+ torchrun --nproc_per_node 8 train.py \\\n  --micro-batch-size=4 model.path=/m",
		want:   []string{"--nproc_per_node=8", "--micro-batch-size=4", "model.path=/m"},
	},
	{
		name: "Slurm's job", read: (*Reader).allocation,
		sample: "   TRES=cpu=16,mem=192G,node=2,billing=16",
		want:   []string{"ReqMem=96G"},
	},
	{
		name: "environment", read: (*Reader).environment,
		sample: "+ export NCCL_DEBUG=INFO SINGULARITYENV_OMP_NUM_THREADS=8",
		want:   []string{"NCCL_DEBUG=INFO", "OMP_NUM_THREADS=8"},
	},
	{
		name: "environment in Python", read: (*Reader).pythonEnvironment,
		sample: "          'XLA_PYTHON_CLIENT_MEM_FRACTION': '4.0',",
		want:   []string{"XLA_PYTHON_CLIENT_MEM_FRACTION=4.0"},
	},
	{
		name: "dotted table", read: (*Reader).dotted,
		sample: "  micro_batch_size ................................ 1\n  train_micro_batch_size_per_gpu  1",
		want:   []string{"micro_batch_size=1", "train_micro_batch_size_per_gpu=1"},
	},
	{
		name: "table of two columns with a heading", read: (*Reader).startColumns,
		sample: "--------- config key ---------  ------ value ------ \nmicro_train_batch_size          1\npretrain                        /m",
		want:   []string{"micro_train_batch_size=1", "pretrain=/m"},
	},
	{
		name: "box or table of two columns", read: (*Reader).boxed,
		sample: "│ train_loop_config/batch_size               2 │\n┃ seq_length ┃ 8192 ┃\n| num_workers | 8 |\n│ micro_batch_size: 2 │",
		want:   []string{"train_loop_config/batch_size=2", "seq_length=8192", "num_workers=8", "micro_batch_size=2"},
	},
	{
		name: "transformers' Trainer", read: (*Reader).trainer,
		sample: "  Instantaneous batch size per device = 8\n" + `O^O/ \_/ \    Batch size per device = 2 | Gradient Accumulation steps = 4`,
		want:   []string{"Instantaneous batch size per device=8", "Batch size per device=2", "Gradient Accumulation steps=4"},
	},
	{
		name: "job script's banner", read: (*Reader).banner,
		sample: "Memory requested: 96G",
		want:   []string{"Memory requested=96G"},
	},
	{
		name: "listing", read: (*Reader).startListing,
		sample: "Config param lr: 0.1\nConfig param steps: 10",
		want:   []string{"lr=0.1", "steps=10"},
	},
	{
		name: "TOML, INI and assignments", read: (*Reader).startTOML,
		sample: "[training]\nbatch_size = 8  # each",
		want:   []string{"training.batch_size=8"},
	},
	{
		name: "tree of rich", read: (*Reader).startTree,
		sample: "├── data\n│   └── batch_size: 4\n│       loader:\n│         num_workers: 32\n│\n├── ckpt_path\n│   └── null\n└── trainer\n    └── devices: 2",
		want:   []string{"data.batch_size=4", "data.loader.num_workers=32", "trainer.devices=2"},
	},
	{
		name: "YAML", read: (*Reader).startYAML,
		sample: "actor:\n  lr: 1e-06\n  path: /m",
		want:   []string{"actor.lr=1e-06", "actor.path=/m"},
	},
	{
		name: "sizes in a sentence", read: (*Reader).sentence,
		sample: "Tokens / micro-batch / rank: 32 x 2048 = 65,536\n[INFO:swift] Using environment variable `MAX_PIXELS`, Setting max_pixels: 401408.\n[INFO:swift] Using environment variable `IMAGE_MAX_TOKEN_NUM`, Setting image_max_token_num: 256.\n07/21/2026 09:05:34 - INFO - trl.async_grpo_trainer - token_budget unset; defaulting to vLLM max_model_len=262144\n| INFO | fairseq_cli.train | max tokens per device = None and max sentences per device = 16\nCreating torch.bfloat16 ZeRO stage 2 optimizer\n" +
			"Trainer is initialized with local batch size 4, global batch size 32, gradient accumulation steps 1, sequence length 4096, total steps 3000",
		want: []string{
			"device_batch_size=32", "max_seq_len=2048", "max_pixels=401408", "image_max_token_num=256", "token_budget=262144", "max_tokens=None", "max_sentences=16", "zero_optimization_stage=2",
			"local_batch_size=4", "global_batch_size=32", "gradient_accumulation_steps=1", "sequence_length=4096",
		},
	},
	{
		name: "pairs in free text", read: (*Reader).pairs,
		sample: "rank 0: batch_size=12 block_size=1024\n# seq_len :  128\n# n_batch: 4",
		want:   []string{"batch_size=12", "block_size=1024", "seq_len=128"},
	},
}

// scan reads a line outside dumps.
func (r *Reader) scan(text []byte) {
	if bytes.Contains(text[:min(len(text), 512)], progressBar) {
		return
	}
	if numberedComment(text) {
		return
	}
	short := text[:min(len(text), maxPlain)]
	for i := range dialects {
		d := &dialects[i]
		if d.long && d.read(r, text) || !d.long && d.read(r, short) {
			return
		}
	}
}

// numberedComment reports whether text is a comment of a file as grep -n prints its lines, with what is switched off.
func numberedComment(text []byte) bool {
	rest, numbered := withoutNumber(text)
	rest = bytes.TrimLeft(rest, " \t")
	return numbered && (bytes.HasPrefix(rest, []byte("# ")) || bytes.HasPrefix(rest, []byte("// ")))
}
