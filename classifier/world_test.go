package classifier

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestHowManyProcessesThereAre(t *testing.T) {
	t.Parallel()
	batch := func(each, total, steps string) string {
		return "***** Running training *****\n  Instantaneous batch size per device = " + each +
			"\n  Total train batch size (w. parallel, distributed & accumulation) = " + total + "\n  Gradient Accumulation steps = " + steps + "\n"
	}
	const engine = "INFO 05-06 10:12:03 [parallel_state.py:1065] world_size=1 rank=0 local_rank=0 distributed_init_method=tcp://127.0.0.1:51717 backend=nccl\n"
	const verl = "+ python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo\n"
	for log, want := range map[string]int{
		"Process rank: 0, world size: 1, device: cuda:0, distributed training: False\n": 1,
		"Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/4\n":                       4,
		"Distributed environment: MULTI_GPU  Backend: nccl\nNum processes: 4\n":         4,
		batch("1", "16", "8"):                              2,
		batch("2", "1,024", "4"):                           128,
		batch("3", "16", "8"):                              0,
		batch("1", "16", "8") + "tensor_parallel_size=2\n": 0,
		"Building device mesh with parallelism: pp=1, dp_replicate=1, dp_shard=8, cp=1, tp=2, ep=1, etp=1\n": 16,
		"+ torchrun --nproc_per_node=8 train.py\n":                                                           8,
		"+ torchrun --nnodes=2 --nproc_per_node=8 train.py\n":                                                16,
		"+ torchrun --nnodes=$N --nproc_per_node=8 train.py\n":                                               0,
		"NNODES=2\nNPROC_PER_NODE=4\n":                                                                       8,
		"#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=4\n#SBATCH --gres=gpu:4\n":                             8,
		"#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n#SBATCH --gres=gpu:4\n":                             0,
		"#SBATCH --nodes=1\n#SBATCH --gres=gpu:a100:1\n":                                                     1,
		"#SBATCH --nodes=1\n#SBATCH --gres=gpu:4\n":                                                          0,
		"SLURM_JOB_NUM_NODES=1\nSLURM_NTASKS=1\n":                                                            0,
		"SLURM_JOB_NUM_NODES=2\nSLURM_NTASKS=16\n":                                                           16,
		"+ CUDA_VISIBLE_DEVICES=3 python train.py --lr 1e-4\n":                                               1,
		"+ CUDA_VISIBLE_DEVICES=0,1 python train.py --lr 1e-4\n":                                             0,
		verl + engine: 0,
		"Initializing a V1 LLM engine (v0.11.0) with config: model='/m'\n" + engine: 1,
	} {
		got := read(t, map[string]string{"a.log": log}).Run.WorldSize
		if want == 0 {
			assert.Nil(t, got, log)
			continue
		}
		if assert.NotNil(t, got, log) {
			assert.Equal(t, want, *got, log)
		}
	}
}

func TestHowManyNodesThereAre(t *testing.T) {
	t.Parallel()
	for log, want := range map[string]int{
		"[INFO|2025-03-13 10:02:11] llamafactory.cli:143 >> Initializing 8 distributed tasks at: 127.0.0.1:29500\n":           1,
		"[INFO|2025-03-13 10:02:11] llamafactory.cli:143 >> Initializing 8 distributed tasks at: 10.31.0.14:29511\n":          0,
		"[2025-06-02 19:14:05,120] [INFO] [launch.py:146:main] WORLD INFO DICT: {'localhost': [0, 1, 2, 3]}\n":                1,
		"[2025-06-02 19:14:05,120] [INFO] [launch.py:146:main] WORLD INFO DICT: {'n1': [0, 1, 2, 3], 'n2': [0, 1, 2, 3]}\n":   0,
		"#SBATCH --nodes=1\n#SBATCH --gres=gpu:4\nslurmstepd: error: *** JOB 42 ON n1 CANCELLED AT 2025-06-02T19:14:05 ***\n": 1,
		"+ python train.py --nodes=1\n": 0,
	} {
		got := read(t, map[string]string{"a.log": log}).Run.Nodes
		if want == 0 {
			assert.Nil(t, got, log)
		} else if assert.NotNil(t, got, log) {
			assert.Equal(t, want, *got, log)
		}
	}
}

func TestHowManyParametersThereAreAndAreTrained(t *testing.T) {
	t.Parallel()
	m := read(t, map[string]string{"a.log": "trainable params: 4,194,304 || all params: 6,742,609,920 || trainable%: 0.0622\n  Number of trainable parameters = 4,194,304\n"}).Run.Model
	assert.Equal(t, int64(6742609920), *m.Parameters)
	assert.Equal(t, int64(4194304), *m.Trained)
	m = read(t, map[string]string{"a.log": "Total parameters: 12\n" + strings.Repeat("Number of parameters: 99\n", 3)}).Run.Model
	assert.Nil(t, m.Parameters, "no model that fills a card")
	m = read(t, map[string]string{"a.log": " > number of parameters on (tensor, pipeline) model parallel rank (1, 0): 4286349312\n"}).Run.Model
	assert.Nil(t, m.Parameters, "those of one rank")
}

func TestTheVersionOfWhatRunsFromATableOfPackages(t *testing.T) {
	t.Parallel()
	const table = "sglang                            0.4.5\nvllm                              0.8.0\n"
	for log, want := range map[string]string{table: "", table + "+ vllm serve Qwen/Qwen3-14B\n": "0.8.0", table + "+ vllm serve Qwen/Qwen3-14B\nvLLM API server version 0.9.2\n": "0.9.2"} {
		assert.Equal(t, want, read(t, map[string]string{"a.log": log}).Run.EngineVersion, log)
	}
}
