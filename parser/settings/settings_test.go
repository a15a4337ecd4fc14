package settings

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// read returns the settings of a log as "form key=value".
func read(log string) []string {
	var r Reader
	var out []string
	add := func(pairs []Pair) {
		for _, p := range pairs {
			out = append(out, p.Form+" "+p.Key+"="+p.Value)
		}
	}
	for i, line := range strings.Split(log, "\n") {
		add(r.Feed(i+1, []byte(line)))
	}
	add(r.Close())
	return out
}

// form is a log, and its settings as read returns them.
type form struct {
	name, log string
	want      []string
}

func check(t *testing.T, forms []form) {
	t.Helper()
	t.Parallel()
	for _, tt := range forms {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.want, read(tt.log))
		})
	}
}

func TestForms(t *testing.T) {
	check(t, []form{
		{
			name: "argparse's help has names for values",
			log:  "$ python src/main.py --help | grep -A1 -E \"screen_width|replay_size\"\n  --screen_width SCREEN_WIDTH\n                        Screen width after resize. (default: 84)\n",
			want: []string{"command --help=True"},
		},
		{
			name: "a container's arguments are flags",
			log:  "      resources:\n        limits:\n          memory: 64Gi\n        args:\n        - --nproc_per_node=4\n        - train.py\n        - --num_workers=16",
			want: []string{"yaml resources.limits.memory=64Gi", "command --nproc_per_node=4", "command --num_workers=16", "yaml resources.args=[--nproc_per_node=4, train.py, --num_workers=16]"},
		},
		{
			name: "pprint nests by braces and joins adjacent string literals",
			log: "{'actor': {'fsdp': {'offload': False,\n" +
				"                    'wrap': {'min': 0}},\n" +
				"           'names': ['a',\n" +
				"                     'b'],\n" +
				"           'lr': 1e-06, 'empty': {}, 'none': None},\n" +
				" 'path': '/a/very/long/'\n" +
				"         'path',\n" +
				" 'quote': \"it's\"}",
			want: []string{
				"pprint actor.fsdp.offload=False", "pprint actor.fsdp.wrap.min=0", "pprint actor.names=['a', 'b']",
				"pprint actor.lr=1e-06", "pprint actor.empty={}", "pprint actor.none=None",
				"pprint path=/a/very/long/path", "pprint quote=it's",
			},
		},
		{
			name: "lines that somebody broke nest by brackets alone",
			log: "{'actor': {'lr': 1e-06, 'fsdp': {'offload': False, 'size': 8},\n" +
				"   'batch': 4},\n" +
				"      'rollout': {'share': 0.5, 'tp': 2}}",
			want: []string{
				"pprint actor.lr=1e-06", "pprint actor.fsdp.offload=False", "pprint actor.fsdp.size=8", "pprint actor.batch=4",
				"pprint rollout.share=0.5", "pprint rollout.tp=2",
			},
		},
		{
			name: "boxes of two columns are configurations, unless they contain results",
			log: "│ train_loop_config/batch_size               2 │\n│ train_loop_config/cpu_offload           True │\n│ max_seq_len  4096 │\n" +
				"│ eval_loss   0.31 │\n│ iterations   12 │\n│ lr 1e-5 │ 0.3 │",
			want: []string{"pairs train_loop_config/batch_size=2", "pairs train_loop_config/cpu_offload=True", "pairs max_seq_len=4096"},
		},
		{
			name: "the heading of a table tells that its rows are settings",
			log: "-- config key --  -- value --\nbatch_size        8\npretrain          /m/q\n\nround             3\n" +
				"| Parameter | Value |\n|---|---|\n| seq_len | 4096 |\n| run | a b |\n" +
				"┏━━━━┓\n┃ Argument      ┃ Value ┃\n┡━━━━┩\n│ --num_workers │ 4     │\n│ seed          │ 1     │\n└────┘\n" +
				"Option        VALUE\n======  =====\ngrad accum    4\nbf16          True\ndone",
			want: []string{
				"pairs batch_size=8", "pairs pretrain=/m/q", "pairs seq_len=4096", "pairs run=a b",
				"pairs --num_workers=4", "pairs seed=1", "pairs grad accum=4", "pairs bf16=True",
			},
		},
		{
			name: "headings of results and of other tables, and sentences",
			log: "Metric  Value\nbatch_size  8\nseed  1\nname  value\nloss  0.3\nbatch_size  8\nseed  1\nthe parameter value\nbatch_size  8\nseed  1\n" +
				"| Name | Value | Unit |\n| seed | 1 | x |\n| run | 3 | y |\nKey  Value\nfirst  1\nsecond  2\n",
		},
		{
			name: "pprint with an indent",
			log:  "{   'data': {   'batch_size': 256,\n                'crop': [0.85, 1.0]},\n    'optimization': {   'ema': [0.9, 1.0],\n                        'lr': 0.001}}",
			want: []string{"pprint data.batch_size=256", "pprint data.crop=[0.85, 1.0]", "pprint optimization.ema=[0.9, 1.0]", "pprint optimization.lr=0.001"},
		},
		{
			name: "pprint that ends early keeps what was read",
			log:  "{'data': {'batch': 4,\n          'len': 512,",
			want: []string{"pprint data.batch=4", "pprint data.len=512"},
		},
		{
			name: "pprint without the line of the closing braces is repaired by its indentation",
			log: "{'actor': {'optim': {'lr': 1e-06,\n" +
				"                     'steps': -1,\n" +
				"           'strategy': 'fsdp',\n" +
				"           'use': False},\n" +
				" 'data': {'n': 1}}",
			want: []string{
				"pprint actor.optim.lr=1e-06", "pprint actor.optim.steps=-1", "pprint actor.strategy=fsdp",
				"pprint actor.use=False", "pprint data.n=1",
			},
		},
		{
			name: "sentences about an interpreter and lists of findings are no settings",
			log: "python invoked oom-killer: gfp_mask=0x201da, order=0, oom_adj=0\n" +
				"- Requested memory: 4294967296\n" +
				"python train.py lr=1\n",
			want: []string{"command lr=1"},
		},
		{
			name: "pprint without an opening line has no settings in that part",
			log: "{'actor': {'a': 1,\n" +
				"                    'orphan': False,\n" +
				"                    'other': True},\n" +
				"           'b': 2},\n" +
				" 'data': {'n': 1}}",
			want: []string{"pprint actor.a=1", "pprint actor.b=2", "pprint data.n=1"},
		},
		{
			name: "pprint whose first line is missing keeps the paths of its parts",
			log: " 'policy': {'train_micro_batch_size': 1,\n" +
				"            'sequence_packing': {'enabled': True}}\n" +
				"text\n" +
				" 'metrics': {'train_micro_batch_size': 2}\n",
			want: []string{"pprint policy.train_micro_batch_size=1", "pprint policy.sequence_packing.enabled=True"},
		},
		{
			name: "lines of a printed dictionary end in commas",
			log:  "nnodes: 1\nsize: 4\n'use_dynamic_bsz': True,\n'lr': 1e-06,\n",
			want: []string{"yaml nnodes=1", "yaml size=4", "yaml use_dynamic_bsz=True", "yaml lr=1e-06"},
		},
		{
			name: "YAML whose parts are all on one line each",
			log:  "dist: {tp_size: 1, moe: {reshard: false}}\ndata: {seq_length: 4096}\noptim: {lr: 1e-5}\n",
			want: []string{"yaml dist.tp_size=1", "yaml dist.moe.reshard=false", "yaml data.seq_length=4096", "yaml optim.lr=1e-5"},
		},
		{
			name: "foreign lines inside a dump are passed over",
			log:  "{'a': {'b': 1,\nLoading checkpoint shards: 50%|##  | 1/2 [00:01<00:01]\n       'c': 2}}",
			want: []string{"pprint a.b=1", "pprint a.c=2"},
		},
		{
			name: "a flag that takes an object of settings by their whole names",
			log:  `+ uv run -m skyrl.tinker.api --backend-config '{"trainer.micro_train_batch_size_per_gpu": 4, "rank": 2, "trainer.gradient_checkpointing": true}'`,
			want: []string{
				`command --backend-config={"trainer.micro_train_batch_size_per_gpu": 4, "rank": 2, "trainer.gradient_checkpointing": true}`,
				"command trainer.gradient_checkpointing=true", "command trainer.micro_train_batch_size_per_gpu=4",
			},
		},
		{
			name: "a job for Ray, traced with its environment as an object",
			log:  `+ ray job submit '--runtime-env-json={"working_dir": "/w", "env_vars": {"CUDA_DEVICE_MAX_CONNECTIONS": "1", "n": 2}}' -- python3 train.py --colocate --lr 1e-6`,
			want: []string{
				`command --runtime-env-json={"working_dir": "/w", "env_vars": {"CUDA_DEVICE_MAX_CONNECTIONS": "1", "n": 2}}`,
				"env CUDA_DEVICE_MAX_CONNECTIONS=1", "command --colocate=True", "command --lr=1e-6",
			},
		},
		{
			name: "a repr that a person wrote with blanks, and a line of code",
			log:  "GRPOConfig(num_generations = 32, use_vllm = True)\n    args = GRPOConfig(num_generations = 16, use_vllm = False)\n    GRPOConfig(num_generations = 8)",
			want: []string{"repr num_generations=32", "repr use_vllm=True"},
		},
		{
			name: "a dict behind a label",
			log:  "INFO 08-22 12:00:01 [utils.py:326] non-default args: {'model': 'Q/Q-7B', 'gpu_memory_utilization': 0.6, 'compilation_config': CompilationConfig(level=3, sizes=[1, 2])}",
			want: []string{
				"engine model=Q/Q-7B", "engine gpu_memory_utilization=0.6", "engine compilation_config.level=3",
				"engine compilation_config.sizes=[1, 2]",
			},
		},
		{
			name: "engine summary",
			log:  "Initializing a V1 LLM engine (v0.9.2) with config: model='m', dtype=torch.bfloat16, max_seq_len=4096, speculative_config=None, compilation_config={\"level\":3,\"splitting_ops\":[]}, mode=<Mode.X: 3>, use_async=True",
			want: []string{
				"engine model=m", "engine dtype=torch.bfloat16", "engine max_seq_len=4096", "engine speculative_config=None",
				"engine compilation_config.level=3", "engine compilation_config.splitting_ops=[]", "engine mode=<Mode.X: 3>",
				"engine use_async=True",
			},
		},
		{
			name: "object prints",
			log:  "Final config: MasterConfig(policy={'tp': 2, 'gen': GenConfig(util=0.6)}, path=PosixPath('/x'))\nDictConfig({'a': {'b': 1}})",
			want: []string{"repr policy.tp=2", "repr policy.gen.util=0.6", "repr path=PosixPath('/x')", "repr a.b=1"},
		},
		{
			name: "the arguments of a quantizer's call in a script",
			log:  "model.quantize(\n    tokenizer,\n    calib_data=load_my_data(),\n    max_calib_samples=128,\n    max_calib_seq_len=20000,\n)",
			want: []string{"repr max_calib_samples=128", "repr max_calib_seq_len=20000"},
		},
		{
			name: "the constants of a call over several lines in a script, with or without blanks around the sign",
			log:  "    training_args = GRPOConfig(\n        optim = \"adamw_8bit\",  # keep = 5\n        bf16 = supported(), learning_rate=lr,\n        max_prompt_length=512,\n        num_generations = 6\n    )",
			want: []string{"repr optim=adamw_8bit", "repr max_prompt_length=512", "repr num_generations=6"},
		},
		{
			name: "the arguments of a model's or an engine's call in a script",
			log:  "self.model, tokenizer = FastLanguageModel.from_pretrained(\n    name,\n    load_in_4bit = True,\n)\nllm = LLM(\n    max_model_len=4096,\n)",
			want: []string{"repr load_in_4bit=True", "repr max_model_len=4096"},
		},
		{
			name: "a command behind Windows' prompt",
			log:  `D:\whisper>whisper-faster.exe "E:\rec\a.mkv" --model=large-v2 --beam_size=5`,
			want: []string{"command --model=large-v2", "command --beam_size=5"},
		},
		{
			name: "nested namespaces",
			log:  "namespace(train=namespace(micro_batch_size=4, colocate_all=True), ds=namespace(zero_stage=3))",
			want: []string{"repr train.micro_batch_size=4", "repr train.colocate_all=True", "repr ds.zero_stage=3"},
		},
		{
			name: "a repr over many lines",
			log:  "Training parameters GRPOConfig(\n_n_gpu=1,\nbf16=True,\nkwargs={'use_reentrant': False},\nlr_scheduler_type=SchedulerType.COSINE,\nrun_name=it's,\n)\nloss=3,",
			want: []string{
				"repr _n_gpu=1", "repr bf16=True", "repr kwargs.use_reentrant=False", "repr lr_scheduler_type=SchedulerType.COSINE",
				"repr run_name=it's",
			},
		},
		{
			name: "a repr that was cut off does not swallow what follows",
			log:  "server_args=ServerArgs(model_path='/m', tp_size=2, mem_fraction_static=0.8, kv_ca\nstep=4 loss=2.1",
			want: []string{"repr model_path=/m", "repr tp_size=2", "repr mem_fraction_static=0.8"},
		},
		{
			name: "servers take their model as an argument",
			log:  "$ vllm serve Qwen/Qwen3-14B extra --max-model-len 8192\n+ lmdeploy serve api_server /m/q-7b --tp 2\n$ trtllm-serve m/l-8B --tp_size=4\n$ vllm bench throughput --model=m",
			want: []string{"command model=Qwen/Qwen3-14B", "command --max-model-len=8192", "command model=/m/q-7b", "command --tp=2", "command model=m/l-8B", "command --tp_size=4", "command --model=m"},
		},
		{
			name: "lm-eval's list of arguments",
			log:  "$ lm_eval --model sglang --model_args pretrained=m/l-8B,tp_size=2 --tasks mmlu",
			want: []string{"command --model=sglang", "command --model_args=pretrained=m/l-8B,tp_size=2", "command pretrained=m/l-8B", "command tp_size=2", "command --tasks=mmlu"},
		},
		{
			name: "overrides lose their prefixes",
			log:  "Error executing job with overrides: ['a.b=1', '+c.d=x=y', '++e=[1,2]', '~gone', 'q=\"s\"']",
			want: []string{"overrides a.b=1", "overrides c.d=x=y", "overrides e=[1,2]", "overrides q=s"},
		},
		{
			name: "traced command",
			log:  "++ python3 -u -m verl.trainer.main_ppo data.n=1 'c.d=[x,y]' +e.f=True --config-name=ppo.yaml --bare --lr 1e-5 --shift -1 --sizes 1 2 3 path=$HOME",
			want: []string{
				"command data.n=1", "command c.d=[x,y]", "command e.f=True", "command --config-name=ppo.yaml", "command --bare=True",
				"command --lr=1e-5", "command --shift=-1", "command --sizes=1 2 3",
			},
		},
		{
			name: "command behind a prompt, a variable and a wrapper",
			log:  "(base) me@box:~/run$ CUDA_VISIBLE_DEVICES=0 nohup python train.py --batch_size 8 --cutoff_len 8000",
			want: []string{"env CUDA_VISIBLE_DEVICES=0", "command --batch_size=8", "command --cutoff_len=8000"},
		},
		{
			name: "command of a Ray job behind its environment, as slime's scripts trace it",
			log:  "+ ray job submit --address=http://127.0.0.1:8265 '--runtime-env-json={\n     \"env_vars\": {}\n   }' -- python3 train.py --use-dynamic-batch-size --max-tokens-per-gpu 9216",
			want: []string{"json env_vars={}", "command --use-dynamic-batch-size=True", "command --max-tokens-per-gpu=9216"},
		},
		{
			name: "sizes in a sentence with thousands separators, or only one",
			log:  "Total batch size 524,288 => gradient accumulation steps: 16\nthe batch size 8 is fine",
			want: nil,
		},
		{
			name: "what somebody writes about a variable and a program",
			log:  "I ran FOO=1 python train.py --batch_size 8",
			want: nil,
		},
		{
			name: "command behind variables and a wrapper",
			log:  "CUDA_VISIBLE_DEVICES=0,1 nohup torchrun --standalone --nproc_per_node 8 train.py --fp16 2>&1 | tee log --x",
			want: []string{"env CUDA_VISIBLE_DEVICES=0,1", "command --standalone=True", "command --nproc_per_node=8", "command --fp16=True"},
		},
		{
			name: "llama.cpp's flags of one letter with a number",
			log:  "$ ./llama-server -m m.gguf -ngl 99 -c 131072 -p Hello\npython -m x -c 3 --lr 1\n$ ./Tiny.F32.llamafile -ngl 9",
			want: []string{"command -ngl=99", "command -c=131072", "command --lr=1", "command -ngl=9"},
		},
		{
			name: "the command of a runner as a record of its server has it",
			log:  `level=INFO source=server.go:376 msg="starting llama server" cmd="/usr/bin/ollama runner --ctx-size 32768 --n-gpu-layers 81" port=1`,
			want: []string{"pairs level=INFO", "pairs source=server.go:376", "pairs msg=starting llama server", "command --ctx-size=32768", "command --n-gpu-layers=81", "pairs port=1"},
		},
		{
			name: "a flag of docker has one value",
			log:  "$ docker run --gpus all --memory 16g img python serve.py --sizes 1 2",
			want: []string{"command --gpus=all", "command --memory=16g", "command --sizes=1 2"},
		},
		{
			name: "a command line that a shell runs for srun",
			log:  "+ srun --jobid 77 bash -c 'cd /run && accelerate launch --num_processes 16 train.py --lr 1e-5 --fp16'\n+ srun -n 2 singularity exec x.sif bash -lc \"torchrun train.py --seq_length 512\" _ --not-read 3",
			want: []string{"command --jobid=77", "command --num_processes=16", "command --lr=1e-5", "command --fp16=True", "command --seq_length=512"},
		},
		{
			name: "a command line of several lines that a shell runs",
			log:  "+ bash -c 'torchrun train.py --lr 1e-5 \\\n  --seq_length 512 \\\n  --fp16'\nstep 1",
			want: []string{"command --lr=1e-5", "command --seq_length=512", "command --fp16=True"},
		},
		{
			name: "LSF's directives",
			log:  "#BSUB -M 64GB\n#BSUB -n 8 # slots",
			want: []string{"command -M=64GB", "command -n=8"},
		},
		{
			name: "PBS's resources",
			log:  "#PBS -l select=1:ncpus=8:ngpus=1:mem=32gb\n#PBS -N job",
			want: []string{"command ncpus=8", "command ngpus=1", "command mem=32gb"},
		},
		{
			name: "an icefall run's parameters, which begin with those of its search for the best model",
			log:  "{'best_train_loss': inf, 'batch_idx_train': 0, 'env_info': {'k2-version': '1.23.4'}, 'exp_dir': PosixPath('zipformer/exp'), 'max_duration': 650}",
			want: []string{"pprint best_train_loss=inf", "pprint batch_idx_train=0", "pprint env_info.k2-version=1.23.4", "pprint exp_dir=PosixPath('zipformer/exp')", "pprint max_duration=650"},
		},
		{
			name: "a step's metrics, the best one among them",
			log:  "{'best_train_loss': 0.31, 'batch_size': 8, 'max_duration': 650}",
		},
		{
			name: "a switch that the program decides on",
			log:  "llama_context: n_ctx         = 65536\nllama_context: n_ubatch      = 512\nllama_context: flash_attn    = auto",
			want: []string{"pairs n_ctx=65536", "pairs n_ubatch=512", "pairs flash_attn=auto"},
		},
		{
			name: "a switch in words",
			log:  "llama_context: flash_attn    = disabled",
			want: []string{"pairs flash_attn=disabled"},
		},
		{
			name: "command behind other ones",
			log:  "(hf) mats@mbp run % python f.py --bs 8\n➜  run git:(main) ✗ python g.py --ga 2\n70 % python did --not run\n$ cd trainer && nohup python train_grpo.py --batch_size 2 --lr 1e-5 &\nsource env.sh; python3 t.py --warmup 7",
			want: []string{"command --bs=8", "command --ga=2", "command --batch_size=2", "command --lr=1e-5", "command --warmup=7"},
		},
		{
			name: "command in a cell of a notebook",
			log:  "!CUDA_VISIBLE_DEVICES=0 python f.py --bs 8\n!cd trainer && python g.py --ga 2\nIn [3]: !accelerate launch h.py --lr 1e-5\n%run i.py --warmup 7\nWow! python did --not run",
			want: []string{"command --bs=8", "command --ga=2", "command --lr=1e-5", "command --warmup=7"},
		},
		{
			name: "command at a prompt, of any program with a known flag",
			log: "$ ns-train nerfacto --data d --pipeline.datamanager.train-num-rays-per-batch 16384\n+ whisperx a.mp3 --batch_size 32\n10.0.0.3 [3] + python /x/train.py --max-sentences=16\n" +
				"$ grep -r --include notes.txt batch\nwe ran whisperx with --batch_size 32\ncost: 5$ a --batch_size",
			want: []string{
				"command --data=d", "command --pipeline.datamanager.train-num-rays-per-batch=16384", "command --batch_size=32", "command --max-sentences=16",
			},
		},
		{
			name: "short options of a script",
			log:  "$ ./distributed_train.sh 4 /d --model vit -b 64 -j 8\n$ python -b 7 x.py -m 5 -b 32\nsbatch -b 10 job.slurm --mem 4G",
			want: []string{"command --model=vit", "command -b=64", "command -j=8", "command -b=32", "command --mem=4G"},
		},
		{
			name: "nested JSON under a label on a line of its own",
			log:  "Training options:\n{\n  \"G_kwargs\": {\n    \"class_name\": \"a.B\"\n  },\n  \"batch_gpu\": 8\n}",
			want: []string{"json G_kwargs.class_name=a.B", "json batch_gpu=8"},
		},
		{
			name: "sizes in a sentence",
			log: " | > batch_size: 48\nmax tokens per GPU = 4096 and max sentences per GPU = None\n" +
				"Tokens / micro-batch: 524,288\nmax tokens per GPU reached\n" +
				"[titan] 2025-09-08 11:30:14,567 - root - INFO - Applied full activation checkpointing to the model\n04:11:10 INFO Applied activation checkpointing (freq=2)\nno activation checkpointing to speak of",
			want: []string{"pairs batch_size=48", "pairs max_tokens=4096", "pairs max_sentences=None", "pairs activation_checkpoint.mode=full", "pairs trainer.model.ac.freq=2"},
		},
		{
			name: "command behind a label",
			log:  "Launch command: python3 -m sglang.launch_server --model-path /m -tp 2 --mem-fraction-static 0.8 ",
			want: []string{"command --model-path=/m", "command -tp=2", "command --mem-fraction-static=0.8"},
		},
		{
			name: "command over many lines",
			log:  "python train.py \\\n    --batch-size 8 \\\n    --bf16\nstep 1",
			want: []string{"command --batch-size=8", "command --bf16=True"},
		},
		{
			name: "command over many lines without backslashes",
			log:  "+ ray job submit -- python3 train.py --lr 1e-6\n   --batch-size 8\n   --bf16\n--max-steps 5\nstep 1",
			want: []string{"command --lr=1e-6", "command --batch-size=8", "command --bf16=True"},
		},
		{
			name: "command that lost one of its backslashes",
			log:  "python train.py \\\n    --batch-size 8\n    --bf16\nstep 1",
			want: []string{"command --batch-size=8"},
		},
		{
			name: "a credential at the end of a command's line is masked by its line",
			log:  "python t.py --lr 1 # a comment --n 2\npython -m wandb login --relogin 0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c\nstep 1",
			want: []string{"command --lr=1", "command --relogin=***"},
		},
		{
			name: "a credential is masked in a value of several arguments",
			log:  "Command '['/usr/bin/python', '-u', 't.py', 'etcdctl', '--user', 'root:Tr0ub4dor', 'get', '--n', '2']' returned non-zero exit status 1.",
			want: []string{"command --user=***", "command --n=2"},
		},
		{
			name: "command of a killed process, and as a list",
			log:  "/var/spool/slurm_script: line 31: 104790 Killed                  python prepare.py --num-proc 32\nCommand '['/usr/bin/python', '-u', 't.py', '--bs', '8']' returned non-zero exit status 1.",
			want: []string{"command --num-proc=32", "command --bs=8"},
		},
		{
			name: "a command behind its launcher's name",
			log:  "[launcher] python -m pretrain --micro-batch-size 2",
			want: []string{"command --micro-batch-size=2"},
		},
		{
			name: "Rust's debug print",
			log:  `text_generation_launcher: Args { model_id: "/data/m, \"v2\"", revision: None, sharded: Some(true), num_shard: Some(4), cors_allow_origin: [], otlp: Otlp { x: 1 }, cuda_memory_fraction: 1.0, env: false }`,
			want: []string{
				`repr model_id=/data/m, "v2"`, "repr revision=None", "repr sharded=true", "repr num_shard=4", "repr cuda_memory_fraction=1.0", "repr env=false",
			},
		},
		{
			name: "dotted table, with a name too long for dots",
			log:  "------------------------ arguments ------------------------\n  micro_batch_size ................................ 1\n  a_name_that_is_longer_than_the_width_of_the_table  7\nnoise\n  path ............................................ None\n  micro_batch_size_per_gpu .. 8...........................updated\n-------------------- end of arguments ---------------------\n  after_the_end_of_it ............................. 3",
			want: []string{
				"megatron micro_batch_size=1", "megatron a_name_that_is_longer_than_the_width_of_the_table=7", "megatron path=None",
				"megatron micro_batch_size_per_gpu=8", "megatron after_the_end_of_it=3",
			},
		},
		{
			name: "an object among pairs",
			log:  "Initializing model (name='Qwen/Q' seq_len=40960 compile=None ac=ActConfig(mode='full', freq=1) optim_cpu_offload=True cp=1)",
			want: []string{"pairs name=Qwen/Q", "pairs seq_len=40960", "pairs compile=None", "pairs ac=ActConfig(mode='full', freq=1)", "pairs optim_cpu_offload=True", "pairs cp=1"},
		},
		{
			name: "DeepSpeed's names that leave no room for dots",
			log: "  train_micro_batch_size_per_gpu  1\n  gradient_accumulation_steps .. 8\n  gradient_predivide_factor .... 1.0\n  a_long_name_that_is_no_setting_at_all  1\n" +
				"  this_is_how_many_batch_size_per_gpu we have\nx train_micro_batch_size_per_gpu  2",
			want: []string{"megatron train_micro_batch_size_per_gpu=1", "megatron gradient_accumulation_steps=8", "megatron gradient_predivide_factor=1.0"},
		},
		{
			name: "DeepSpeed's sub-configuration as a mapping on one line",
			log:  "[2023-04-04 17:42:37,911] [INFO] [config.py:1018:print]   zero_config .................. {\"stage\": 3, \"offload_optimizer\": {\"device\": \"cpu\"}}",
			want: []string{"megatron zero_config.stage=3", "megatron zero_config.offload_optimizer.device=cpu"},
		},
		{
			name: "a row of DeepSpeed's table has the fields of its nested configurations",
			log:  "[2025-01-26 04:41:55,020] [INFO] [config.py:1003:print]   zero_config .................. stage=3 offload_param=None offload_optimizer=DeepSpeedZeroOffloadOptimizerConfig(device='cpu', nvme_path=None, buffer_count=4, pin_memory=False, pipeline_read=False, fast_init=False) sub_group_size=1000",
			want: []string{
				"megatron zero_config=stage=3 offload_param=None offload_optimizer=DeepSpeedZeroOffloadOptimizerConfig(device='cpu', nvme_path=None, buffer_count=4, pin_memory=False, pipeline_read=False, fast_init=False) sub_group_size=1000",
				"megatron zero_config.stage=3", "megatron zero_config.offload_param=None",
				"megatron zero_config.offload_optimizer=DeepSpeedZeroOffloadOptimizerConfig(device='cpu', nvme_path=None, buffer_count=4, pin_memory=False, pipeline_read=False, fast_init=False)",
				"megatron zero_config.offload_optimizer.device=cpu", "megatron zero_config.offload_optimizer.nvme_path=None", "megatron zero_config.offload_optimizer.buffer_count=4", "megatron zero_config.offload_optimizer.pin_memory=False",
				"megatron zero_config.offload_optimizer.pipeline_read=False", "megatron zero_config.offload_optimizer.fast_init=False",
				"megatron zero_config.sub_group_size=1000",
			},
		},
		{
			name: "a script that is shown has the constants of its arguments",
			log:  "training_args = GRPOConfig(\n    output_dir=\"out\",\n    per_device_train_batch_size=args.batch,\n    gradient_checkpointing=True,\n    config={\"max_memory_percent\": 0.9},\n)\nmodel = AutoConfig(a=1)",
			want: []string{"repr output_dir=out", "repr gradient_checkpointing=True", "repr config.max_memory_percent=0.9"},
		},
		{
			name: "DeepSpeed's table and JSON with a logger's prefix",
			log:  "[2025-05-28 22:07:12,402] [INFO] [config.py:1007:print]   zero_config .................. {\n    \"stage\": 3,\n    \"offload_param\": {\n        \"device\": \"cpu\"\n    }\n}\n[2025-05-28 22:07:12,402] [INFO] [config.py:1007:print]   train_batch_size ............. 64\n  json = {\n    \"zero_optimization\": {\n        \"stage\": 2, \n        \"x\": 1.0e+09\n    }\n}",
			want: []string{
				"json zero_config.stage=3", "json zero_config.offload_param.device=cpu", "megatron train_batch_size=64",
				"json zero_optimization.stage=2", "json zero_optimization.x=1.0e+09",
			},
		},
		{
			name: "JSON objects",
			log:  "Model config Qwen2Config {\n  \"sizes\": [\n    1\n  ],\n  \"hidden_size\": 3584,\n  \"tie\": false\n}\n{\n  \"worker\": {\n    \"n\": 5\n  }\n}\nconfig: {\"lr\": 0.1, \"a\": {\"b\": null}}",
			want: []string{
				"json sizes=[ 1 ]", "json hidden_size=3584", "json tie=false", "json worker.n=5", "json lr=0.1", "json a.b=null",
			},
		},
		{
			name: "YAML",
			log:  "compute_environment: LOCAL_MACHINE\ndebug: false\nactor:\n  backend: fsdp:d4\n  mb_spec:\n    max_tokens_per_mb: 32768 # cap\n  tags:\n    - a\n    - name: x\n  path: \"/a b\"\nnum_processes: 8\nTraceback (most recent call last):",
			want: []string{
				"yaml compute_environment=LOCAL_MACHINE", "yaml debug=false", "yaml actor.backend=fsdp:d4",
				"yaml actor.mb_spec.max_tokens_per_mb=32768", "yaml actor.path=/a b", "yaml num_processes=8",
			},
		},
		{
			name: "batch directives and banners",
			log:  "#SBATCH --mem=96G --gres gpu:8 # all\n#SBATCH -c 8\nMemory requested: 96G\nMemory used: 90G",
			want: []string{"sbatch --mem=96G", "sbatch --gres=gpu:8", "sbatch -c=8", "sbatch Memory requested=96G"},
		},
		{
			name: "what a job asked Slurm for, in its environment",
			log:  "SLURM_JOB_ID=42\nSLURM_MEM_PER_NODE=131072\n",
			want: []string{"env SLURM_JOB_ID=42", "env SLURM_MEM_PER_NODE=131072", "pairs ReqMem=128G"},
		},
		{
			name: "variables",
			log:  "+ export A=1 B='x y'\ndeclare -x C=\"3\"\nPYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n+ MAX_LEN=4096\nexport D=$HOME",
			want: []string{
				"env A=1", "env B=x y", "env C=3", "env PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", "env MAX_LEN=4096",
			},
		},
		{
			name: "free pairs",
			log:  "rank 0: batch_size=12 amp=False\nrank 1: batch_size=12 amp=False\nengine/trainer: mode=train, device=0,1, batch=-1\nTraining config | batch_size: 4 | seq: 128\nChunked prefill is enabled with max_num_batched_tokens=8192.",
			want: []string{
				"pairs batch_size=12", "pairs amp=False", "pairs mode=train", "pairs device=0,1", "pairs batch=-1",
				"pairs batch_size=4", "pairs seq=128", "pairs max_num_batched_tokens=8192",
			},
		},
		{
			name: "pairs that a sentence begins",
			log:  "[INFO] Training with batch_size: 8, lr: 1e-4, seq_len: 1024",
			want: []string{"pairs batch_size=8", "pairs lr=1e-4", "pairs seq_len=1024"},
		},
		{
			name: "a configuration file with the failure behind it",
			log:  "zero_stage: 3\nmixed_precision: bf16\nnum_processes: 8\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB.",
			want: []string{"yaml zero_stage=3", "yaml mixed_precision=bf16", "yaml num_processes=8"},
		},
		{
			name: "a line for one known setting",
			log:  "batch_size = 12 # per GPU\nOverriding: block_size = 256\nBatch size per GPU: 8\nmax_length: 4096\nMax answer: 42\n* batch size = 16\n--depth= # none\n--depth = # none\ncfg: bsz: 8, seq_len: 512\n  \"worker.actor.offload_params\": true,\n  \"answer_batch\": \"long\",",
			want: []string{"pairs batch_size=12", "pairs block_size=256", "pairs Batch size per GPU=8", "pairs max_length=4096", "pairs batch size=16", "pairs bsz=8", "pairs seq_len=512", "pairs worker.actor.offload_params=true"},
		},
		{
			name: "the trainer's banner",
			log:  "***** Running training *****\n  Num examples = 51,200\n  Instantaneous batch size per device = 8",
			want: []string{"pairs Num examples=51,200", "pairs Instantaneous batch size per device=8"},
		},
		{
			name: "secrets are masked",
			log:  "+ export HF_TOKEN=abc WANDB_API_KEY=d AWS_SECRET_ACCESS_KEY=e\npython t.py --hub_token x --url https://u:p@h/ --eos_token y --max-tokens 5\nNamespace(api_key='k', max_token_len=3, image_key='images', hdr=['hf_abcdefghijklmnopqrstuvwxyz0123'])",
			want: []string{
				"env HF_TOKEN=***", "env WANDB_API_KEY=***", "env AWS_SECRET_ACCESS_KEY=***", "command --hub_token=***",
				"command --url=***", "command --eos_token=y", "command --max-tokens=5", "repr api_key=***", "repr max_token_len=3",
				"repr image_key=images", "repr hdr=***",
			},
		},
		{
			name: "secrets are masked in a block that later lines confirm, and behind a name",
			log:  "      value: abc\nhub_host: a\nx_token: 0123456789abcdef0123456789abcdef\nsteps: 5\nwandb_key:\n  desc: null\n  value: abc\nenv: {name: DB_PASSWORD, value: Tr0ub4dor}",
			want: []string{"yaml hub_host=a", "yaml x_token=***", "yaml steps=5", "yaml wandb_key.desc=null", "yaml wandb_key.value=***", "yaml env.name=DB_PASSWORD", "yaml env.value=***"},
		},
		{
			name: "the data of a Secret of Kubernetes are masked",
			log:  "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  batch_size: aHVudGVyMg==\n  n: \"1024\"\nstringData:\n  lr: hunter2",
			want: []string{"yaml apiVersion=v1", "yaml kind=Secret", "yaml metadata.name=db", "yaml data.batch_size=***", "yaml data.n=1024", "yaml stringData.lr=***"},
		},
		{
			name: "so are those that kubectl prints before the kind",
			log:  "apiVersion: v1\ndata:\n  batch_size: aHVudGVyMg==\n  lr: b25l\nkind: Secret",
			want: []string{"yaml apiVersion=v1", "yaml data.batch_size=***", "yaml data.lr=***", "yaml kind=Secret"},
		},
		{
			name: "and those in JSON, but not the settings behind them",
			log:  "{\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"data\": {\"batch_size\": \"aHVudGVyMg==\"}, \"type\": \"Opaque\"}\n+ python -m verl.trainer.main_ppo data.train_files=gsm8",
			want: []string{"json apiVersion=v1", "json kind=Secret", "json data.batch_size=***", "json type=Opaque", "command data.train_files=gsm8"},
		},
		{
			name: "other objects keep their data",
			log:  "apiVersion: v1\nkind: ConfigMap\ndata:\n  batch_size: text\n  lr: 1e-5",
			want: []string{"yaml apiVersion=v1", "yaml kind=ConfigMap", "yaml data.batch_size=text", "yaml data.lr=1e-5"},
		},
	})
}

func TestEachDialectReadsItsSample(t *testing.T) {
	t.Parallel()
	for i, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			first, _, _ := strings.Cut(d.sample, "\n")
			for _, earlier := range dialects[:i] {
				assert.False(t, earlier.read(&Reader{}, []byte(first)), "%s claims it", earlier.name)
			}
			assert.True(t, Worth([]byte(first)))
			assert.True(t, d.read(&Reader{}, []byte(first)))
			var got []string
			for _, pair := range read(d.sample) {
				_, text, _ := strings.Cut(pair, " ")
				got = append(got, text)
			}
			assert.Equal(t, d.want, got)
		})
	}
}

func TestHealthyLinesHaveNoSettings(t *testing.T) {
	t.Parallel()
	for _, log := range []string{
		"",
		"46-        # enable_chunked_prefill=True,\n47-        # max_num_batched_tokens=8192\n48-    )\n",
		"12: // batch_size: 8",
		"{'loss': 0.9528, 'grad_norm': 0.4011, 'learning_rate': 1.2e-05, 'epoch': 0.0}",
		`{"step": 5, "loss": 2.1, "batch_size": 8}`,
		`{"asctime": "2025-01-01", "levelname": "INFO", "message": "batch_size=8"}`,
		"step 5 loss=2.31 lr=1e-5 batch_size=8",
		"epoch=3 step=100 train_loss=2.1 tokens_per_second=4000",
		" 45%|####  | 9/20 [00:10<00:12, 1.1s/it, loss=2.1, batch_size=8]",
		"Tokenizing (num_proc=32):  0%|          | 371000/365000000 [00:04<1:59:07, 92242 examples/s]",
		"[2025-06-19 03:04:31] iteration 1/ 2000 | consumed samples: 16 | global batch size: 16 | lm loss: 1.1E+01 |",
		"Traceback (most recent call last):\n  File \"/x/train.py\", line 5, in <module>\n    args = TrainingArguments(\n    ds = ds.map(tok, batched=True, num_proc=args.num_proc)\n           ^^^^^^^^^",
		"    config = GRPOConfig(per_device_train_batch_size=4)",
		"If reserved memory is >> allocated memory try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.",
		"lower `--micro-batch`, or set `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`.",
		"Please set max_num_seqs=64 or gpu_memory_utilization=0.8",
		"usage: vllm serve [model_tag] [--gpu-memory-utilization GPU]",
		"Note: this is prose\nwarning: another one here\nhint: read the manual",
		"wandb: Tracking run\nwandb: Syncing\nwandb: View",
		"\tclass_name: Worker\n\tactor_id: ab\n\tpid: 7\n\tip: 1",
		"  rank      : 0 (local_rank: 0)\n  exitcode  : -9 (pid: 104)\n  error_file: <N/A>",
		"real\t0m3.2s\nuser\t0m1s",
		"async_io ............... [NO] ....... [OKAY]",
		"oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=step,task=python,pid=1,uid=0",
		"RuntimeError: batch_size=4 workers=2 failed",
		"CPU Virtual Memory:  used = 71.05 GB, percent = 7.0%",
		"Failed core proc(s): {'EngineCore_DP0': -9}",
		"+ echo --lr 1e-5",
		"  - --max-num-seqs=64 is the default now",
		"+ ls --color=auto",
		"To go on you can run cd trainer && python train.py --lr 1",
		"train.py: error: unrecognized arguments: --foo bar",
		"├── src\n│   └── train.py\n│       batch_size.yaml\n└── data\n    └── a.csv",
		"├── python\n│   └── worker: 4711\n└── tmux",
		"    def forward(self, x, batch_size: int = 8) -> Tensor:",
		"  File \"/x/a.py\", line 5, in <lambda>\n    lambda batch_size: int = f(8)",
	} {
		assert.Empty(t, read(log), log)
	}
}

func TestReaderStaysBounded(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("{'a': ", 200)
	assert.Empty(t, read(deep))
	assert.NotPanics(t, func() { read(strings.Repeat("[", 1<<16)) })

	long := read("X_VAR_LONG=" + strings.Repeat("v", 4096))
	assert.Len(t, long, 1)
	assert.Len(t, long[0], len("env X_VAR_LONG=")+MaxValue)

	var many strings.Builder
	many.WriteString("{'k': 0,\n")
	for range 2 * MaxPairs {
		many.WriteString(" 'k': 1,\n")
	}
	assert.Len(t, read(many.String()), MaxPairs)

	start := time.Now()
	for _, unit := range []string{`'\\'`, "(", "Config(a=", "{'a", "<", "=", "a=", "a: ", "\"", " --", ".... "} {
		read("{'a': " + strings.Repeat(unit, 100_000) + "\n" + strings.Repeat(unit, 100_000))
	}
	assert.Less(t, time.Since(start), 20*time.Second, "work grows with the length of a line only")

	var r Reader
	r.Feed(1, []byte("{'a': 1,"))
	assert.True(t, r.Open())
	for i := range maxForeign + 1 {
		r.Feed(i+2, []byte("something else"))
	}
	assert.False(t, r.Open(), "a dump that never goes on is given up")
}

func TestLineIsTheKeysLine(t *testing.T) {
	t.Parallel()
	var r Reader
	r.Feed(5, []byte("{'a': ['x',"))
	got := r.Feed(6, []byte("       'y'], 'b': 1}"))
	assert.Equal(t, []Pair{{"a", "['x', 'y']", 5, Pprint}, {"b", "1", 6, Pprint}}, append([]Pair(nil), got...))
	assert.False(t, r.Open())
}

func FuzzReader(f *testing.F) {
	f.Add("{'a': {'b': [1, (2, {'c': 3})]},\n 'd': Name(x=<E: 'y'>)}")
	f.Add("python t.py --a 'b \\\n c' --d\nactor:\n  b: 1\n  - c: 2\n d: {\n")
	f.Add("args: Namespace(a=b(c=[d]), e='\\'')\n  x ........ {\n\"a\": \"")
	f.Add("#SBATCH --a\n+ export A='b\nx=1, y=(2 | z: 3")
	f.Fuzz(func(t *testing.T, log string) {
		var r Reader
		for i, line := range strings.Split(log, "\n") {
			for _, p := range r.Feed(i+1, []byte(line)) {
				checkPair(t, p, i+1)
			}
		}
		for _, p := range r.Close() {
			checkPair(t, p, strings.Count(log, "\n")+1)
		}
		if r.Open() {
			t.Fatal("open after Close")
		}
	})
}

func checkPair(t *testing.T, p Pair, line int) {
	t.Helper()
	if p.Key == "" || len(p.Key) > MaxKey || len(p.Value) > MaxValue || p.Line < 1 || p.Line > line || p.Form == "" {
		t.Fatalf("%+v", p)
	}
}

func BenchmarkFeed(b *testing.B) {
	lines := map[string]string{
		"metric": "{'loss': 0.9528, 'grad_norm': 0.4011, 'learning_rate': 1.2e-05, 'epoch': 0.0}",
		"plain":  "INFO some ordinary line of a log, with nothing in it",
		"colon":  "INFO some ordinary line of a log: with a colon, and nothing else in it",
		"pairs":  "rank 0: batch_size=12 block_size=1024 checkpoint_every=250 amp=False accumulate=1",
		"args":   "server_args=ServerArgs(" + strings.Repeat("mem_fraction_static=0.8, tp_size=2, path='/m', ", 100) + ")",
	}
	for name, line := range lines {
		b.Run(name, func(b *testing.B) {
			var r Reader
			text := []byte(line)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				r.Feed(1, text)
				r.count = 0
			}
		})
	}
}
