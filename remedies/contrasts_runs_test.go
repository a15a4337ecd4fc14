package remedies

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestHowARunWorksDecidesTheFirstChange pairs logs with their cause and first change, and with those of a run that works otherwise.
func TestHowARunWorksDecidesTheFirstChange(t *testing.T) {
	t.Parallel()
	const (
		tree   = "CONFIG\n├── data\n│   └── _target_: src.data.DataModule\n│       batch_size: 4\n│       num_workers: 16\n│\n└── trainer\n    └── devices: 2\n        strategy: ddp\nGPU available: True (cuda), used: True\n"
		worker = "python invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE), order=0, oom_score_adj=0\nTasks state (memory values in pages):\n[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name\n"
		ends   = "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/user.slice,task=python,pid=900,uid=1000\nOut of memory: Killed process 900 (python) total-vm:56395508kB, anon-rss:6435156kB, file-rss:181004kB, shmem-rss:231200kB, UID:1000 pgtables:52880kB oom_score_adj:0\n"
		seed   = "{'loss': 1.9, 'epoch': 1.0}\n{'train_runtime': 2361.4, 'train_samples_per_second': 8.131, 'train_steps_per_second': 0.339, 'train_loss': 1.7575, 'epoch': 1.0}\n"
		fields = "$ cat train.py\nclass Hyperparameters:\n    batch_size : int = 8 # in sequences, across all devices\n    sequence_length : int = %s # in tokens\n$ torchrun --standalone --nproc_per_node=2 train.py\n"
		litgpt = "{'devices': 1,\n 'checkpoint_dir': PosixPath('checkpoints/meta-llama/Llama-3.1-8B'),\n 'precision': None,\n 'quantize': None}\n"
		amp    = "Using bfloat16 Automatic Mixed Precision (AMP)\n"
	)
	table := func(name string) string {
		rows := "[    900]  1003   900 14101012  1702110  17981440    86010             0 python\n[    901]  1003   901 14101012  1702111  17981440    86010             0 python\n"
		for i := range 32 {
			rows += fmt.Sprintf("[   %d]  1003   %d 11405995   371611   5482496    23334             0 %s\n", 1000+i, 1000+i, name)
		}
		return worker + rows + ends
	}
	trains := func(after string) string {
		s := "+ python seeds.py --model_name_or_path BAAI/bge-large-en-v1.5 --per_device_train_batch_size 24\n"
		for i := range 7 {
			s += after + fmt.Sprintf("iter: %d memory_allocated: %.12f\n", i, 1.2652008239746093+1.248500823974*float64(i))
		}
		return s + stackOf(full("48.00 MiB", "23.64", "32.84 MiB", "23.13"), "/w/seeds.py|run_one|trainer.train()", "transformers/trainer.py|training_step|loss = self.compute_loss(model, inputs)", "transformers/models/bert/modeling_bert.py|forward|x = self.dense(x)")
	}
	compiled := stackOf(full("6.14 GiB", "23.64", "4.90 GiB", "17.62"), "/w/train.py|<module>|loss = model(x, y)", "/w/train.py|forward|def forward(self, idx, target):", "/tmp/torchinductor_root/4q/c4q.py|call|buf412 = empty_strided_cuda((65536, 50304), (50304, 1), torch.bfloat16)")
	builds := func(asked string) string {
		return stackOf(full(asked, "22.06", "13.11 MiB", "21.80"), "/l/site-packages/litgpt/finetune/lora.py|main|model = GPT(config)", "/l/site-packages/lightning/fabric/fabric.py|launch|return self._wrap_and_launch(", "/l/site-packages/litgpt/lora.py|__init__|self.linear = torch.nn.Linear(in_features, out_features, **kwargs)",
			"torch/nn/modules/linear.py|__init__|self.weight = Parameter(torch.empty((out_features, in_features), **factory_kwargs))")
	}
	const own = "own process for each training=for n in 0 1 2; do python train.py --seed $n; done  # a new process for each training"
	reward := func(stage string) string {
		return "+ torchrun --nproc_per_node 2 src/train.py --stage " + stage + " --model_name_or_path Qwen/Qwen2-7B --per_device_train_batch_size 1 --cutoff_len 8192 --finetuning_type full\n" +
			stackOf(full("8.69 GiB", "79.15", "6.77 GiB", "70.10"), "/w/src/llamafactory/train/"+stage+"/trainer.py|compute_loss|_, _, values = model(**inputs)", "transformers/models/qwen2/modeling_qwen2.py|forward|logits = logits.float()")
	}
	for name, c := range map[string]contrast{
		"a reward model's batch has two answers of each pair": {reward("rm"), "logits", "--cutoff_len=4096", reward("sft"), "logits", "--enable_liger_kernel=true"},
		"loaders' workers hold the node, by their name":       {tree + table("pt_data_worker"), "loader_workers", "data.num_workers=4", tree + table("java"), "loader_workers", "data.num_workers=4"},
		"the name tells without a setting":                    {"GPU available: True (cuda), used: True\n" + table("pt_data_worker"), "loader_workers", "", "GPU available: True (cuda), used: True\n" + table("java"), "limit_too_small", ""},
		"models of earlier trainings stay":                    {trains(seed), "leak_over_steps", own, trains(""), "leak_over_steps", "transformers version=pip install -U transformers accelerate"},
		"a pass is one sequence, whatever the batch is":       {fmt.Sprintf(fields, "64*1024") + compiled, "logits", "sequence_length=32768", fmt.Sprintf(fields, "8*1024") + compiled, "logits", "batch_size=2"},
		"mixed precision keeps LitGPT's weights in 32 bits":   {litgpt + amp + builds("96.00 MiB"), "wrong_dtype", "--precision=bf16-true", strings.NewReplacer("None,\n 'q", "'bf16-true',\n 'q", "3.1-8B", "2-13b").Replace(litgpt) + builds("150.00 MiB"), "states_too_big", "--quantize=bnb.nf4"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t)
		})
	}
}

// TestALengthThatNothingAppliesIsNotLowered has logits of more tokens than the settings allow a sample, as a collator of images makes them.
func TestALengthThatNothingAppliesIsNotLowered(t *testing.T) {
	t.Parallel()
	const flags = "+ accelerate launch sft_vlm.py --model_name_or_path Qwen/Qwen2-VL-7B-Instruct --per_device_train_batch_size 1 --gradient_checkpointing --bf16 --max_seq_length %s\n{\n  \"hidden_size\": 3584,\n  \"vocab_size\": 152064\n}\n"
	failed := stackOf(full("8.93 GiB", "44.40", "2.42 GiB", "41.30"), "/opt/trl/sft_vlm.py|<module>|trainer.train()", "transformers/trainer.py|compute_loss|outputs = model(**inputs)", "transformers/models/qwen2_vl/modeling_qwen2_vl.py|forward|loss = loss_fct(shift_logits, shift_labels)",
		"torch/nn/functional.py|cross_entropy|return torch._C._nn.cross_entropy_loss(")
	for length, lowered := range map[string]bool{"4096": false, "16384": true} {
		changes := strings.Join(changesOf(For(incidentOf(t, fmt.Sprintf(flags, length)+failed))), " ")
		assert.Equal(t, lowered, strings.Contains(changes, "max_seq_length="), "%s: %s", length, changes)
	}
}
