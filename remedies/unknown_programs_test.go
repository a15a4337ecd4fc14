package remedies

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestProgramsWithoutAGuideAreToldOfTheirOwnSettings goes through research programs that oomscan does not know: with a batch
// that the log shows, with a batch of one and a size that it shows, and with neither.
func TestProgramsWithoutAGuideAreToldOfTheirOwnSettings(t *testing.T) {
	t.Parallel()
	const (
		conv = "torch/nn/modules/conv.py|_conv_forward|return F.conv2d(input, weight, bias, self.stride,"
		site = "/opt/lib/python3.11/site-packages/"
		attn = "/w/net/block.py|forward|x = self.fc2(self.act(self.fc1(x)))"
	)
	train := func(files ...string) []string {
		return append([]string{"/w/train.py|<module>|main()", "/w/train.py|train_one_epoch|out = model(batch)"}, files...)
	}
	infer := func(files ...string) []string {
		return append([]string{"/w/predict.py|<module>|run(net)", "torch/utils/_contextlib.py|decorate_context|return func(*args, **kwargs)", "/w/predict.py|run|y = net(x)"}, files...)
	}
	oom := oomOf("400.00 MiB", "200.00 MiB", "46.00")
	for _, p := range []struct {
		program       string
		batch, halved string // settings as the program prints them, and the first change
		one, smaller  string // a batch of one and the size of a sample
		stack         []string
		trains        bool
	}{
		{"timm", "Namespace(batch_size=256, lr=0.1, img_size=384)\n", "batch_size=64", "Namespace(batch_size=1, lr=0.1, img_size=1024)\n", "img_size=704", train(conv), true},
		{"DETR", "Namespace(batch_size=4, lr_backbone=1e-05, epochs=300)\n", "batch_size=2", "Namespace(batch_size=1, epochs=300, image_size=1280)\n", "image_size=896", train(conv), true},
		{"Mask2Former", "SOLVER:\n  IMS_PER_BATCH: 8\n  BASE_LR: 0.0001\nINPUT:\n  IMAGE_SIZE: 1024\n", "SOLVER.IMS_PER_BATCH=2", "SOLVER:\n  IMS_PER_BATCH: 1\n  BASE_LR: 0.0001\nINPUT:\n  IMAGE_SIZE: 1024\n", "INPUT.IMAGE_SIZE=704", train(conv), true},
		{"nnU-Net", "configuration:\n  batch_size: 4\n  patch_size: [192, 192, 192]\n", "configuration.batch_size=2", "configuration:\n  batch_size: 1\n  patch_size: [192, 192, 192]\n", "configuration.patch_size=[128, 128, 128]", train(conv), true},
		{"MONAI", "train:\n  sw_batch_size: 4\n  roi_size: [160, 160, 160]\n", "train.sw_batch_size=2", "train:\n  batch_size: 1\n  roi_size: [160, 160, 160]\n", "train.roi_size=[96, 96, 96]", train(conv), true},
		{"RAFT", "Namespace(batch_size=10, image_size=[368, 768], iters=12)\n", "batch_size=2", "Namespace(batch_size=1, image_size=[384, 768], iters=12)\n", "image_size=[256, 512]", train(conv), true},
		{"CycleGAN", "Namespace(batch_size=8, crop_size=512, netG='resnet_9blocks')\n", "batch_size=2", "Namespace(batch_size=1, crop_size=1024, netG='resnet_9blocks')\n", "crop_size=704", train(conv), true},
		{"VideoMAE", "Namespace(batch_size=16, num_frames=32, epochs=100)\n", "batch_size=4", "", "", train(attn), true},
		{"RecBole", "config:\n  train_batch_size: 2048\n  eval_batch_size: 4096\n", "config.train_batch_size=512", "", "", train(attn), true},
		{"DLRM", "Namespace(mini_batch_size=8192, arch_sparse_feature_size=128)\n", "mini_batch_size=2048", "", "", train(attn), true},
		{"TabNet", "Namespace(batch_size=16384, max_epochs=200)\n", "batch_size=4096", "", "", train(attn), true},
		{"PointNet", "Namespace(batch_size=24, npoint=1024, epoch=200)\n", "batch_size=6", "", "", train(attn), true},
		{"SpeechBrain", "hparams:\n  batch_size: 32\n  lr: 0.001\n", "hparams.batch_size=8", "", "", train(attn), true},
		{"OpenFold", "Namespace(batch_size=2, crop_size=384, max_epochs=10)\n", "batch_size=1", "Namespace(batch_size=1, crop_size=384, max_epochs=10)\n", "crop_size=256", train(attn), true},
		{"Coqui TTS", "config:\n  batch_size: 32\n  eval_batch_size: 16\n", "config.batch_size=8", "", "", train(attn), true},
		{"an embedder", "Namespace(encode_batch_size=256, model='bge-m3')\n", "encode_batch_size=128", "", "", infer(attn), false},
		{"a reranker", "Namespace(rerank_batch_size=64, model='bge-reranker')\n", "rerank_batch_size=32", "", "", infer(attn), false},
		{"a diarizer", "pipeline:\n  embedding_batch_size: 32\n  segmentation: powerset\n", "pipeline.embedding_batch_size=16", "", "", infer(attn), false},
		{"a detector", "Namespace(batch_size=64, img_size=1280, weights='best.pt')\n", "batch_size=32", "Namespace(batch_size=1, img_size=1280, weights='best.pt')\n", "img_size=896", infer(conv), false},
		{"an upscaler", "Namespace(batch_size=8, tile_size=512, scale=4)\n", "batch_size=4", "Namespace(batch_size=1, tile_size=512, scale=4)\n", "tile_size=352", infer(conv), false},
		{"nanochat", "Tokens / micro-batch / rank: 32 x 2048 = 65,536\n", "device_batch_size=8", "", "", train(attn), true},
		{"StyleGAN", "Training options:\n{\n  \"batch_size\": 32,\n  \"batch_gpu\": 8\n}\n", "batch_gpu=2", "", "", train(conv), true},
		{"nerfstudio", "$ ns-train nerfacto --pipeline.datamanager.train-num-rays-per-batch 16384\n", "pipeline.datamanager.train-num-rays-per-batch=4096", "", "", train(attn), true},
		{"timm's command", "$ python train.py /d --model vit -b 64 -j 8\n", "b=16", "", "", train(attn), true},
		{"Segment Anything", "$ python amg.py --points-per-batch 64\n", "points-per-batch=32", "", "", infer(conv), false},
		{"an installed folder of proteins", "$ esm-fold -i s.fasta --max-tokens-per-batch 4096\n", "max-tokens-per-batch=2048", "", "", []string{site + "esm/scripts/fold.py|<module>|run()", "torch/utils/_contextlib.py|decorate_context|return func(*args, **kwargs)", site + "esm/fold.py|forward|x = self.up(x)"}, false},
	} {
		for column, log := range map[string]string{"its batch": p.batch, "one sample": p.one, "nothing": "start\n"} {
			if log == "" {
				continue
			}
			t.Run(p.program+"/"+column, func(t *testing.T) {
				t.Parallel()
				a := For(incidentOf(t, log+stackOf(oom, p.stack...)))
				first := firstChange(a)
				switch column {
				case "its batch":
					assert.Equal(t, p.halved, strings.TrimLeft(first, "-"))
				case "one sample":
					assert.Contains(t, settingsChanged(a), p.smaller)
				}
				for _, c := range settingsChanged(a) {
					assert.NotContains(t, c, "max_split_size")
					for _, bad := range onlyTraining {
						assert.False(t, !p.trains && strings.Contains(strings.ToLower(c), bad), c)
					}
				}
			})
		}
	}
}

// TestLibrariesWithAllocatorsOfTheirOwn covers failures without a trace of PyTorch: what trains a network is no advice there.
func TestLibrariesWithAllocatorsOfTheirOwn(t *testing.T) {
	t.Parallel()
	for first, message := range map[string]string{
		"max_bin=512":   "params: {'max_bin': 1024, 'max_depth': 12}\nxgboost.core.XGBoostError: [10:00:05] /w/src/common/device_helpers.cuh:431: Memory allocation error on worker 0: bad_alloc: cudaErrorMemoryAllocation: out of memory",
		"CUDF_SPILL=on": "MemoryError: std::bad_alloc: out_of_memory: CUDA error at: /w/include/rmm/mr/device/cuda_memory_resource.hpp:60: cudaErrorMemoryAllocation out of memory",
		"useFloat16=co = faiss.GpuMultipleClonerOptions(); co.useFloat16 = True; co.shard = True": "RuntimeError: Error in virtual void* faiss::gpu::StandardGpuResourcesImpl::allocMemory(const AllocRequest&) at /w/StandardGpuResources.cpp:452: Error: 'err == cudaSuccess' failed: StandardGpuResources: alloc fail type IVFLists dev 0 space Device stream 0x0 size 41943040000 bytes (cudaMalloc error out of memory [2])",
	} {
		a := For(incidentOf(t, message+"\n"))
		assert.Equal(t, first, firstChange(a))
		for i := range a.Remedies {
			assert.NotContains(t, a.Remedies[i].Title, "ptimizer")
			assert.NotContains(t, a.Remedies[i].Title, "Recompute")
		}
	}
}

// settingsChanged lists the changes of all proposals.
func settingsChanged(a Checklist) []string {
	var out []string
	for _, p := range a.Proposals {
		for _, c := range p.Changes {
			if c.To != nil {
				out = append(out, c.Key+"="+*c.To)
			}
		}
	}
	return out
}

func TestACacheThatSettingsPlanTakesFewerTokens(t *testing.T) {
	t.Parallel()
	oom := oomOf("104.00 MiB", "70.00 MiB", "46.90")
	for name, c := range map[string]struct{ command, first string }{
		"a pool of tokens":          {"$ python -m server --tp 1 --max_total_token_num 120000\n", "--max_total_token_num=60000"},
		"the longest sequence":      {"$ python app.py --length 8192\n", "--length=4096"},
		"a split over cards":        {"$ python app.py --gpu_split 23,23,23,23 --length 8192\n", "--gpu_split=11,23,23,23"},
		"a split for one card only": {"$ python app.py --gpu_split 23 --max_seq_len 8192\n", "--max_seq_len=4096"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := For(incidentOf(t, c.command+stackOf(oom, "/w/app.py|<module>|cache = Cache(model)", "/w/model.py|__init__|p_key_states = torch.zeros(batch, heads, length, dim)")))
			assert.Equal(t, "engine_share_too_large", a.Cause.ID)
			assert.Equal(t, c.first, firstChange(a))
		})
	}
}

func TestUnifiedMemoryForARequestAboveTheCard(t *testing.T) {
	t.Parallel()
	const failure = "nvidia-smi --query-gpu=name,memory.total --format=csv,noheader\nQuadro RTX 5000, 16125 MiB\njaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 78643199872 bytes.\n"
	on := "          'TF_FORCE_UNIFIED_MEMORY': '1',\n          'XLA_PYTHON_CLIENT_MEM_FRACTION': '4.0',\n"
	assert.Equal(t, "XLA_PYTHON_CLIENT_MEM_FRACTION=8.0", firstChange(For(incidentOf(t, on+failure))))
	platform := "+ export SINGULARITYENV_TF_FORCE_UNIFIED_MEMORY=1\n+ export SINGULARITYENV_XLA_PYTHON_CLIENT_MEM_FRACTION=.80\n+ export SINGULARITYENV_XLA_PYTHON_CLIENT_ALLOCATOR=platform\n"
	assert.Subset(t, changesOf(For(incidentOf(t, platform+failure))), []string{"XLA_PYTHON_CLIENT_MEM_FRACTION=2.0", "XLA_PYTHON_CLIENT_ALLOCATOR=default"})
}
