package settings

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestConfigurationFilesAreReadWhole(t *testing.T) {
	check(t, []form{
		{
			name: "YAML with comments, blank lines, anchors and texts over many lines",
			log: "# run\n---\nname: gsm8k\nseed: 1\n\nactor: &actor\n\n  # the model\n  path: Q/Q-7B # small\n" +
				"  note: a sentence with = signs, and: colons.\n  mb_spec: {max_tokens_per_mb: 4096, inner: {a: 'x y'}}\n" +
				"  modules:\n    - q\n    - v\n  nodes:\n    - kind: worker\n      gpu: 1\n  prompt: |\n    step: 5\n    loss: 2\n" +
				"  text: \"begins\n    here: 3\"\n  flow: [\n    a,\n  ]\n  level: 3\n  UPPER: 7\n  \"quoted\": 8\nref:\n  <<: *actor\n  path: ${actor.path}\n",
			want: []string{
				"yaml name=gsm8k", "yaml seed=1", "yaml actor.path=Q/Q-7B", "yaml actor.note=a sentence with = signs, and: colons.",
				"yaml actor.mb_spec.max_tokens_per_mb=4096", "yaml actor.mb_spec.inner.a=x y", "yaml actor.modules=[q, v]",
				"yaml actor.level=3", "yaml actor.UPPER=7", "yaml actor.quoted=8", "yaml ref.path=${actor.path}",
			},
		},
		{
			name: "YAML with blank lines between its parts",
			log:  "### model\nmodel_name_or_path: m/M\nquantization_bit: 4\n\n### method\nstage: sft\nbf16: true\n",
			want: []string{"yaml model_name_or_path=m/M", "yaml quantization_bit=4", "yaml stage=sft", "yaml bf16=true"},
		},
		{
			name: "TOML",
			log: "# job\n[job]\ndescription = \"a = 1 # b\"\nprint_args = false\n\n[training]\nbatch_size = 8  # each\nsteps = 10\n" +
				"[quantize.fp8]\nenable=true\nfilter = [\"output\"]\nlong = [\n  \"a\",\n]\ninline = {a = 1, b = \"x\"}\n[[data]]\nx = 5\n[compile]\nmode = 'max'\n",
			want: []string{
				"toml job.description=a = 1 # b", "toml job.print_args=false", "toml training.batch_size=8", "toml training.steps=10",
				"toml quantize.fp8.enable=true", "toml quantize.fp8.filter=[\"output\"]", "toml quantize.fp8.inline.a=1",
				"toml quantize.fp8.inline.b=x", "toml compile.mode=max",
			},
		},
		{
			name: "assignments",
			log:  "# train\nout_dir = 'out'\neval_iters = 200 # keep\n\nwandb_log = False\nbatch_size = 12\n",
			want: []string{"toml out_dir=out", "toml eval_iters=200", "toml wandb_log=False", "toml batch_size=12"},
		},
		{
			name: "JSON written by hand",
			log: "{\n  \"optimizer\": {\n    \"params\": {\"lr\": 1e-5, \"betas\": [0.9, 0.95]}\n  },\n  \"zero\": {\"stage\": 3,\n" +
				"    \"offload\": {\"device\": \"cpu\"},\n    \"list\": [ {\"a\": 1}, 2 ],\n    \"size\": 1e9\n  },\n  \"epoch\": 3\n}",
			want: []string{
				"json optimizer.params.lr=1e-5", "json optimizer.params.betas=[0.9, 0.95]", "json zero.stage=3",
				"json zero.offload.device=cpu", "json zero.list=[ {\"a\": 1}, 2 ]", "json zero.size=1e9", "json epoch=3",
			},
		},
		{
			name: "JSON in one line",
			log:  `{"hidden_size":4096,"compilation":{"level":3},"vocab_size":128256}`,
			want: []string{"json hidden_size=4096", "json compilation.level=3", "json vocab_size=128256"},
		},
	})
}

func TestPrintedConfigurations(t *testing.T) {
	check(t, []form{
		{
			name: "a dict that somebody indented, by its long lines",
			log: "{'data': {'max_prompt_length': 1024, 'max_response_length': 2048},\n" +
				" 'worker': {'actor': {'global_batch_size': 128, 'micro_batch_size_per_device_for_update': 4, 'micro_batch_size_per_device_for_experience': 16, 'padding_free': True},\n" +
				"  'rollout': {'name': 'vllm', 'gpu_memory_utilization': 0.7}},\n 'trainer': {'nnodes': 1}}",
			want: []string{
				"pprint data.max_prompt_length=1024", "pprint data.max_response_length=2048", "pprint worker.actor.global_batch_size=128",
				"pprint worker.actor.micro_batch_size_per_device_for_update=4", "pprint worker.actor.micro_batch_size_per_device_for_experience=16",
				"pprint worker.actor.padding_free=True", "pprint worker.rollout.name=vllm", "pprint worker.rollout.gpu_memory_utilization=0.7", "pprint trainer.nnodes=1",
			},
		},
		{
			name: "an object with dicts indented below it",
			log: "MasterConfig(policy={'generation': {'backend': 'vllm',\n" +
				"                                    'vllm_cfg': {'tp': 4}},\n" +
				"                     'megatron_cfg': {'enabled': True},\n" +
				"                     'micro': 1},\n" +
				"             cluster={'num_nodes': 4})",
			want: []string{
				"repr policy.generation.backend=vllm", "repr policy.generation.vllm_cfg.tp=4", "repr policy.megatron_cfg.enabled=True",
				"repr policy.micro=1", "repr cluster.num_nodes=4",
			},
		},
		{
			name: "an object with separately formatted dicts",
			log: "MasterConfig(policy={'generation': {'backend': 'vllm',\n" +
				"                'vllm_cfg': {'tp': 4}},\n" +
				" 'megatron_cfg': {'enabled': True},\n" +
				" 'micro': 1},\n" +
				" cluster={'gpus': 8,\n" +
				" 'num_nodes': 4})",
			want: []string{
				"repr policy.generation.backend=vllm", "repr policy.generation.vllm_cfg.tp=4", "repr policy.megatron_cfg.enabled=True",
				"repr policy.micro=1", "repr cluster.gpus=8", "repr cluster.num_nodes=4",
			},
		},
		{
			name: "a dict that hangs below its label",
			log:  "config: {'a': {'b': 1,\n               'c': 2},\n         'd': 3}",
			want: []string{"pprint a.b=1", "pprint a.c=2", "pprint d=3"},
		},
		{
			name: "a dict that counts its label in",
			log:  "Config({'a': {'b': 1,\n              'c': 2},\n        'd': 3})\nrun: Config({'a': {'b': 1,\n                   'c': 2},\n             'd': 3})",
			want: []string{"repr a.b=1", "repr a.c=2", "repr d=3", "repr a.b=1", "repr a.c=2", "repr d=3"},
		},
		{
			name: "objects with a line for each field",
			log:  "Config(\n  a=1,\n  model=ModelConfig(\n    hidden=5,\n    sizes=[\n      Size(x=1),\n      Size(x=2)\n    ],\n  ),\n  b={\n    'c': 3,\n  },\n)\nloss=3,",
			want: []string{"repr a=1", "repr model.hidden=5", "repr model.sizes=[ Size(x=1), Size(x=2) ]", "repr b.c=3"},
		},
		{
			name: "fields that blanks separate",
			log:  "TrainConfig(a=1 b='x y' inner=Inner(c=2 d=None) e=[1, 2])",
			want: []string{"repr a=1", "repr b=x y", "repr inner.c=2", "repr inner.d=None", "repr e=[1, 2]"},
		},
		{
			name: "any object behind a label",
			log:  "cfg: DotMap(data=DotMap(workers=24, pin_memory=True), lr=0.1)\nresult: Foo(a=Bar(b=1))",
			want: []string{"repr data.workers=24", "repr data.pin_memory=True", "repr lr=0.1"},
		},
		{
			name: "calls of dict",
			log:  "Config:\nmodel = dict(\n    type='R',\n    norm=dict(type='BN', eps=1e-5),\n    heads=[\n        dict(type='A'),\n        dict(type='B')\n    ])\ndata = dict(samples_per_gpu=2, workers_per_gpu=4)",
			want: []string{
				"repr model.type=R", "repr model.norm.type=BN", "repr model.norm.eps=1e-5",
				"repr model.heads=[ dict(type='A'), dict(type='B') ]", "repr data.samples_per_gpu=2", "repr data.workers_per_gpu=4",
			},
		},
		{
			name: "a known setting vouches for an unknown label",
			log:  "FLAGS: {\"crop\": 1536, \"batch_size\": 24}\nSetup = {\"crop\": 7,\n  \"lr\": 1}\nRun setup: {\n  \"crop\": 5,\n  \"num_workers\": 8\n}",
			want: []string{"json crop=1536", "json batch_size=24", "json crop=5", "json num_workers=8"},
		},
		{
			name: "lines behind the same words",
			log:  "Config param dtype: bfloat16\nConfig param axes: ['data', 'fsdp']\nConfig param dir: \nConfig param steps: 20000\n[config] lr = 0.5\n[config] name = foo\nconfig | wd: 0.2\nconfig | name: bar",
			want: []string{
				"pairs dtype=bfloat16", "pairs axes=['data', 'fsdp']", "pairs steps=20000", "pairs lr=0.5", "pairs name=foo",
				"pairs wd=0.2", "pairs name=bar",
			},
		},
		{
			name: "a single such line counts only for a known setting",
			log:  "config log: a.yaml\n...\nargument batch_size: 4\n...",
			want: []string{"pairs batch_size=4"},
		},
		{
			name: "flags line by line",
			log:  "--batch_size=32\n--model=resnet\n--path=$HOME\n--name='a b'",
			want: []string{"command --batch_size=32", "command --model=resnet"},
		},
		{
			name: "names and numbers of one writer",
			log:  "llama_context: n_ctx         = 65536\nllama_context: n_seq_max     = 1\nllama_context: flash_attn    = 0\nloader: x = 5\n.",
			want: []string{"pairs n_ctx=65536", "pairs n_seq_max=1", "pairs flash_attn=0"},
		},
		{
			name: "pairs with blanks around the sign",
			log:  "Config: samples_per_gpu = 2, img_scale = (2000, 1400), name = 'x'",
			want: []string{"pairs samples_per_gpu=2", "pairs img_scale=(2000, 1400)", "pairs name=x"},
		},
		{
			name: "YAML below a label",
			log:  "go = 1\ncfg:\n  trainer:\n    batch_size: 4\n  data:\n    shuffle: true\nTraceback",
			want: []string{"yaml trainer.batch_size=4", "yaml data.shuffle=true"},
		},
		{
			name: "YAML in capitals",
			log:  "Running with full config:\nCUDNN_BENCHMARK: false\nMODEL:\n  BACKBONE:\n    FREEZE_AT: 2\nINPUT:\n  MAX_SIZE: 1333\nWARNING: low\n",
			want: []string{"yaml CUDNN_BENCHMARK=false", "yaml MODEL.BACKBONE.FREEZE_AT=2", "yaml INPUT.MAX_SIZE=1333"},
		},
		{
			name: "assignments line by line end with the first metric",
			log:  "start = x\nbatch_size = 32\nlr = 0.1\nmodel = 'x'\nloss = 2.5\nacc = 5",
			want: []string{"toml batch_size=32", "toml lr=0.1", "toml model=x"},
		},
	})
}

func TestAFileThatTheShellPrintsIsReadWhole(t *testing.T) {
	const file = "base_model: mistralai/Mistral-7B-v0.1\nmodel_type: MistralForCausalLM\n\nstrict: false\nload_in_8bit: false\nsequence_len: 4096\n"
	rest := []string{"yaml strict=false", "yaml load_in_8bit=false", "yaml sequence_len=4096"}
	whole := append([]string{"yaml base_model=mistralai/Mistral-7B-v0.1", "yaml model_type=MistralForCausalLM"}, rest...)
	check(t, []form{
		{name: "behind a prompt", log: "started\n$ cat mistral.yml\n" + file, want: whole},
		{name: "behind a prompt with names", log: "started\nroot@node:/work# cat configs/mistral.yaml\n" + file, want: whole},
		{name: "traced by the shell", log: "started\n+ cat mistral.yaml\n" + file, want: whole},
		{name: "a program's own line", log: "started\nreading mistral.yaml\n" + file, want: rest},
		{name: "a file that is not YAML", log: "started\n$ cat train.py\n" + file, want: rest},
	})
}

func TestTheBatchOfATranscriptionIsReadFromAScript(t *testing.T) {
	t.Parallel()
	for log, is := range map[string]bool{
		`    segments, info = pipe.transcribe(path, language="de", beam_size=5, batch_size=32, vad_filter=True)`: true,
		"result = model.transcribe(audio, batch_size=32)":                                                        true,
		"result = model.transcribe(audio, batch_size=batch_size)":                                                false,
		"segments = model.transcribe(audio)  # batch_size=32 was too much":                                       false,
		"model.transcribe(audio) took 32 s":                                                                      false,
	} {
		assert.Equal(t, is, slices.Contains(read(log), "script batch_size=32"), log)
	}
}

func TestReportsAreNotConfigurations(t *testing.T) {
	t.Parallel()
	for _, log := range []string{
		"Response: {\"id\": 5, \"batch_size\": 1}",
		"Train results: {'batch_size': 4, 'loss': 3}",
		"Progress: {'batch_size': 4, 'loss': 3}",
		"Progress: {\n  \"batch_size\": 4, \"step\": 3,\n  \"bs\": 4\n}",
		"info: {'a': 1, 'b': 2}",
		"Number of parameters: 4.1B\nmodel params: 4.1B\nLoading config from: /x/y",
		"Theoretical memory footprints: weight and optimizer=17231.00 MB",
		"unknown argument foo: 5\nunknown argument bar: 6",
		"Memory config: total: 5\nMemory config: free: 5",
		"[INFO]\n[rank0]\nstarting",
		"step: 1\nloss: 2\nlr: 0.1\n",
		"step = 1\nloss = 2\nlr = 0.1\n",
		"  triton_mm_0 1.1 ms 99.0% ACC_TYPE='tl.float32', BLOCK_K=64, BLOCK_M=128, num_stages=3",
		"main.main()\n\t/go/x.go:12 +0x1a fp=0x7ffd98da6ed0 sp=0x7ffd98da6ea0 pc=0x479508\nrunning 5 fp=0x1 sp=0x2",
		"Options:\n  --mem=MB    minimum amount\n  --foo FOO   help",
		"MyModel(\n  (layers): ModuleList(\n    (0): Linear(in_features=5, out_features=6, bias=True)\n  )\n)",
	} {
		assert.Empty(t, read(log), log)
	}
}

func TestFilesStayBounded(t *testing.T) {
	t.Parallel()
	for _, head := range []string{"a: \"", "a: [", "[s]\nb = [", "[s]\nb = '''", "x = dict(", "Config param a: 1\nConfig param b: 2", "a: |", "F: {\"bs\": 1,"} {
		var r Reader
		for i, line := range strings.Split(head, "\n") {
			r.Feed(i+1, []byte(line))
		}
		for i := range maxDumpLines + 2 {
			r.Feed(i+10, []byte(" (x"))
		}
		assert.False(t, r.Open(), head)
	}
}
