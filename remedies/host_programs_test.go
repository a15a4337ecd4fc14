package remedies

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/classifier"
	"oomscan/parser"
)

// TestWhatFillsTheHostIsTheFirstChange covers host memory of programs without a guide: the setting that keeps the data there comes
// before a higher limit. Beside each there is a log with the same setting at a value that keeps nothing.
func TestWhatFillsTheHostIsTheFirstChange(t *testing.T) {
	t.Parallel()
	const killed = "Killed\n[Tue May  7 10:00:00 2024] oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/user.slice/s.scope,task=python,pid=503,uid=1000\n" +
		"[Tue May  7 10:00:00 2024] Out of memory: Killed process 503 (python) total-vm:225829120kB, anon-rss:125829120kB, file-rss:1024kB, shmem-rss:0kB, UID:1000 pgtables:20000kB oom_score_adj:0\n"
	for name, c := range map[string]struct{ log, first, without string }{
		"a share of the data set": {"Namespace(cache_rate=1.0, num_workers=0)\n", "cache_rate=0.25", "Namespace(cache_rate=0.0, num_workers=0)\n"},
		"latents":                 {"$ accelerate launch train_network.py --train_batch_size=2 --cache_latents\n", "--cache_latents_to_disk=True", "$ accelerate launch train_network.py --train_batch_size=2 --cache_latents --cache_latents_to_disk\n"},
		"samples of MONAI":        {"Loading dataset:  61%|######    | 44/72 [03:05<01:57,  4.04s/it]\n", "dataset=PersistentDataset", "Loading dataset lung_ct\n"},
		"logits of an evaluation": {"***** Running Evaluation *****\n  Num examples = 4241\n  Batch size = 8\n", "preprocess_logits_for_metrics=preprocess_logits_for_metrics = lambda logits, labels: logits.argmax(-1)", "***** Running training *****\n  Num examples = 4241\n"},
		"a virtual machine of WSL": {
			"[Tue May  7 10:00:00 2024] CPU: 3 PID: 503 Comm: python Not tainted 5.15.167.4-microsoft-standard-WSL2 #1\n[Tue May  7 10:00:00 2024] 4194304 pages RAM\n", "memory=24 GiB",
			"[Tue May  7 10:00:00 2024] CPU: 3 PID: 503 Comm: python Not tainted 5.15.167.4-microsoft-standard-WSL2 #1\n",
		},
		"a machine that was full": {"Mem:           31Gi       1.9Gi        28Gi        22Mi       1.3Gi        29Gi\n", "memory=48 GiB", ""},
		"WSL whose memory free printed": {
			"[Tue May  7 10:00:00 2024] CPU: 3 PID: 503 Comm: python Not tainted 5.15.167.4-microsoft-standard-WSL2 #1\nMem:          16384       14904         311         188        1169        1002\n", "memory=24 GiB",
			"",
		},
		"samples to shuffle": {"Namespace(shuffle_buffer_size=100000, batch_size=8)\n", "shuffle_buffer_size=25000", "Namespace(shuffle_buffer_size=100, batch_size=8)\n"},
		"a buffer that is filling": {
			"I tensorflow/core/kernels/data/shuffle_dataset_op.cc:181] Filling up shuffle buffer (this may take a while): 58613 of 100000\n", "buffer_size=25000",
			"I tensorflow/core/kernels/data/shuffle_dataset_op.cc:181] Filling up shuffle buffer (this may take a while): 86 of 500\n",
		},
		"a buffer of which memory holds a part": {
			"I tensorflow/core/kernels/data/shuffle_dataset_op.cc:181] Filling up shuffle buffer (this may take a while): 197483 of 1281167\n", "buffer_size=148110",
			"I tensorflow/core/kernels/data/shuffle_dataset_op.cc:181] Filling up shuffle buffer (this may take a while): 486 of 1281167\n",
		},
		"a cache in memory, whose samples are shuffled": {
			"Namespace(cache=True, shuffle_buffer=2048)\nI tensorflow/core/kernels/data/shuffle_dataset_op.cc:392] Filling up shuffle buffer (this may take a while): 1033 of 2048\n" +
				"I tensorflow/core/kernels/data/shuffle_dataset_op.cc:417] Shuffle buffer filled.\n", "cache=False",
			"Namespace(shuffle_buffer=200)\n",
		},
		"transitions to replay":      {"Namespace(buffer_size=1000000, batch_size=32)\n", "buffer_size=250000", "Namespace(aio_buffer=1000000, batch_size=32)\n"},
		"a buffer by its path":       {"Config:\nreplay:\n  alpha: 1.0\n  capacity: 2000000\nseed: 0\n", "replay.capacity=500000", "Config:\ncache:\n  alpha: 1.0\n  capacity: 2000000\nseed: 0\n"},
		"experts for each NUMA node": {"root@node:~/k# export USE_NUMA=1\n$ python local_chat.py --gguf_path /m\n", "USE_NUMA=0", "root@node:~/k# export USE_NUMA=0\n$ python local_chat.py --gguf_path /m\n"},
		"not a build of PyTorch":     {"root@node:~/k# export USE_NUMA=1\n$ python local_chat.py --gguf_path /m\n", "USE_NUMA=0", "root@node:~/pytorch# export USE_NUMA=1\n$ python setup.py develop --jobs 8\n"},
		"a script's own checkpoint":  {"=> loading checkpoint 'out/last.pth'\n", "torch.load=torch.load(path, map_location=\"cpu\", mmap=True)", "=> loading checkpoint 'out/last.pth'\n=> loaded checkpoint 'out/last.pth' (epoch 4)\n"},
		"a whole state of FSDP":      {"saving process: rank 0  done w model state_dict\n--> optim state call on rank 0\n+ torchrun --nproc_per_node 8 train.py --enable_fsdp\n", "FSDP.set_state_dict_type=FSDP.set_state_dict_type(model, StateDictType.SHARDED_STATE_DICT)", "+ torchrun --nproc_per_node 8 train.py --enable_fsdp\n"},
		"states in pinned memory": {
			"nnodes=1, num_local_procs=2, node_rank=0\n$ deepspeed t.py --model_name_or_path Qwen/Qwen2.5-72B-Instruct\n{\n  \"zero_optimization\": {\n    \"stage\": 2,\n    \"offload_optimizer\": {\n      \"device\": \"cpu\",\n      \"pin_memory\": true\n    }\n  }\n}\nBefore initializing optimizer states\n", "zero_optimization.offload_optimizer.pin_memory=false",
			"nnodes=1, num_local_procs=2, node_rank=0\n$ deepspeed t.py --model_name_or_path Qwen/Qwen2.5-72B-Instruct\n{\n  \"zero_optimization\": {\n    \"stage\": 2,\n    \"offload_optimizer\": {\n      \"device\": \"cpu\",\n      \"pin_memory\": false\n    }\n  }\n}\nBefore initializing optimizer states\n",
		},
		"models that are merged":   {strings.ReplaceAll(killed, "python", "mergekit-yaml"), "--lazy-unpickle=True", ""},
		"processes of nnU-Net":     {"num_processes_preprocessing=4 num_processes_segmentation_export=4\n", "-npp=2", "num_processes_preprocessing=1 num_processes_segmentation_export=1\n"},
		"a compiler for each core": {strings.ReplaceAll(killed, "python", "cicc"), "MAX_JOBS=4", ""},
		"nnU-Net's own default":    {"$ nvidia-smi\n" + strings.ReplaceAll(killed, "(python)", "(nnUNetv2_plan_a)"), "-np=2", ""},
		"tensors of a conversion":  {"$ python convert_hf_to_gguf.py /m --outtype f16 --outfile m.gguf\n", "--use-temp-file=True", "$ python convert_hf_to_gguf.py /m --verbose\n"},
		"results of all frames": {
			"WARNING ⚠️ inference results will accumulate in RAM unless `stream=True` is passed, causing potential out-of-memory\n", "stream=True",
			"results = model.predict(source=\"/v/gate.mp4\", stream=True)\n",
		},
		"a program that loads no data": {"$ python merge_adapters.py --base /m --out /merged\n", "none", "Namespace(num_workers=16)\n"},
		"a full node of early Ray":     {"ray.memory_monitor.RayOutOfMemoryError: More than 95% of the memory on node n1 is used (59.83 / 62.82 GB). The top 10 memory consumers are:\n", "memory=96 GiB", ""},
		"a server's core that grows": {
			"(APIServer pid=1) INFO 11-12 19:40:08 [api_server.py:1977] vLLM API server version 0.11.1\n(APIServer pid=1) INFO:     Application startup complete.\n" + strings.ReplaceAll(killed, "(python)", "(VLLM::EngineCor)"), "vllm version=pip install -U vllm",
			"(APIServer pid=1) INFO 11-12 19:40:08 [api_server.py:1977] vLLM API server version 0.10.2\n(APIServer pid=1) INFO:     Application startup complete.\n" + strings.ReplaceAll(killed, "(python)", "(VLLM::EngineCor)"),
		},
		"every rank's whole model": {
			"fsdp_config:\n  fsdp_cpu_ram_efficient_loading: false\n  fsdp_sharding_strategy: FULL_SHARD\n  fsdp_offload_params: true\n$ accelerate launch t.py --per_device_train_batch_size 1\nLoading checkpoint shards:  75%|#######5  | 3/4 [00:35<00:11, 11.83s/it]\n",
			"fsdp_config.fsdp_cpu_ram_efficient_loading=true",
			"fsdp_config:\n  fsdp_cpu_ram_efficient_loading: true\n  fsdp_sharding_strategy: FULL_SHARD\n  fsdp_sync_module_states: true\n$ accelerate launch t.py --per_device_train_batch_size 1\nLoading checkpoint shards:  75%|#######5  | 3/4 [00:35<00:11, 11.83s/it]\n",
		},
		"every rank's copy, if others can get theirs": {
			"fsdp_config:\n  fsdp_cpu_ram_efficient_loading: false\n  fsdp_sharding_strategy: FULL_SHARD\n$ accelerate launch t.py --torch_dtype float32 --per_device_train_batch_size 1\nLoading checkpoint shards:  75%|#######5  | 3/4 [00:35<00:11, 11.83s/it]\n",
			"fsdp_config.fsdp_cpu_ram_efficient_loading=true", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.first, firstChange(For(incidentOf(t, c.log+killed))))
			assert.NotContains(t, settingsChanged(For(incidentOf(t, c.without+killed))), c.first)
		})
	}
}

// TestACopyThatDoesNotWaitNeedsPinnedHostMemory covers CUDA's bare error in a program that moves layers off the card: only a copy to
// the host that does not wait is about host memory.
func TestACopyThatDoesNotWaitNeedsPinnedHostMemory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ code, first string }{
		"to the host, without waiting": {"block.to(self.offload_device, non_blocking=self.use_non_blocking)", "use_non_blocking=False"},
		"to the host, waiting":         {"block.to(self.offload_device, non_blocking=False)", "blocks_to_swap=20"},
		"to the card":                  {"block.to(self.main_device, non_blocking=self.use_non_blocking)", "blocks_to_swap=20"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := "ComfyUI version: 0.3.34\n" + stackOf("RuntimeError: CUDA error: out of memory",
				"/c/ComfyUI/execution.py|execute|output_data = get_output_data(obj)", "/c/ComfyUI/custom_nodes/ComfyUI-WanVideoWrapper/wanvideo/modules/model.py|forward|"+c.code, "torch/nn/modules/module.py|convert|return t.to(")
			assert.Equal(t, c.first, firstChange(For(incidentOf(t, log))))
		})
	}
}

// TestACacheInHostMemoryTellsTheContextAndTheLimit covers llama.cpp without a GPU, whose log ends with the size of its cache.
func TestACacheInHostMemoryTellsTheContextAndTheLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cache string
		want  []string
	}{
		"far larger than the limit": {"16777216000", []string{"--ctx-size=8000", "resources.limits.memory=20Gi"}},
		"half of the limit":         {"2202009600", []string{"--ctx-size=64000", "resources.limits.memory=8Gi"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := as(run("llamacpp", "ctx_size", "128000", "resources.limits.memory", "4Gi"), "", "llamacpp", "")
			r.Launcher = "k8s"
			in := killed("init", "OOMKilled")
			r.Gauges = []classifier.Gauge{{Name: "ggml.cache_on_host", Fields: parser.Fields{"used": c.cache}}}
			in.Root.Limit = gibs(4)
			got := changesOf(For(r, in))
			assert.Subset(t, got, c.want)
		})
	}
}

// TestImagesOfAStepAreHeldByAReaLsWorkers has the same killed worker of AReaL with a model that sees and with one that reads.
func TestImagesOfAStepAreHeldByAReaLsWorkers(t *testing.T) {
	t.Parallel()
	const log = "$ python3 examples/vlm/chart_grpo.py --config chart_grpo.yaml scheduler.type=ray\nrollout:\n  backend: \"sglang:d8\"\nactor:\n  backend: \"fsdp:d8\"\n  path: %s\ntrain_dataset:\n  batch_size: 64\n" +
		"Traceback (most recent call last):\n  File \"/w/AReaL/areal/trainer/rl_trainer.py\", line 512, in train\n    self.actor.ppo_update(batch)\nray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\nMemory on the node (IP: 10.0.0.1, ID: ab) where the task (actor ID: cd, name=RayRPCServer.__init__, pid=501, memory used=55.41GB) was running was 480.00GB / 503.50GB (0.953), which exceeds the memory usage threshold of 0.95.\n" +
		"The top 10 memory users:\nPID\tMEM(GB)\tCOMMAND\n501\t155.86\tray::RayRPCServer.call\n502\t155.71\tray::RayRPCServer.call\n503\t150.40\tray::RayRPCServer.call\n"
	for model, want := range map[string]bool{"/m/Qwen2.5-VL-7B-Instruct": true, "/m/Qwen2.5-7B-Instruct": false} {
		got := changesOf(answerTo(t, fmt.Sprintf(log, model)))
		assert.Equal(t, want, slices.Contains(got, "train_dataset.batch_size=32"), "%s: %v", model, got)
	}
}
