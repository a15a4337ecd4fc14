package phase

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFromCommand(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]Phase{
		"python /scratch/checkpoint-480/zero_to_fp32.py /scratch/checkpoint-480 /scratch/merged": Checkpoint,
		"python3 -m verl.model_merger merge --backend fsdp --local_dir ckpt/actor":               Checkpoint,
		"python scripts/legacy_model_merger.py merge --backend megatron":                         Checkpoint,
		"python -m metaseq.scripts.consolidate_fsdp_shards /ckpt/last":                           Checkpoint,
		"python tools/checkpoint/convert.py --model-type GPT --loader mcore --saver llama":       Checkpoint,
		"PYTHONPATH=/m python tools/convert_torch_dist_to_hf.py --input-dir x":                   Checkpoint,
		"python tools/preprocess_data.py --input corpus.jsonl --workers 64":                      Data,
		"/opt/py/bin/python -u tokenize_corpus.py --num-proc 96":                                 Data,
		"python -u encode_corpus.py --shard 7 --of 12":                                           Data,
		"/opt/etl/bin/python prep_features.py --parts 96":                                        Data,
		"python train_features.py":                                                               Unknown,
		"bash scripts/build_index.sh":                                                            Data,
		"python train.py --convert --merge_weights --preprocess data":                            Unknown,
		"python /home/u/data_merge_project/train.py":                                             Unknown,
		"python -m torch.distributed.run --nproc_per_node 8 convert.py":                          Unknown, // the launcher
		"./a.out": Unknown,
		"":        Unknown,
	} {
		v, ok := FromCommand(line)
		assert.Equal(t, want, v.Phase, line)
		assert.Equal(t, want != Unknown, ok, line)
	}
}
