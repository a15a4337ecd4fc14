package remedies

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// contrast is a log and another one that differs in what decides, each with its cause and its first change, which is not looked at where it is
// empty.
type contrast struct{ log, cause, first, otherwise, other, then string }

func (c contrast) check(t *testing.T) {
	t.Helper()
	for _, w := range [][3]string{{c.log, c.cause, c.first}, {c.otherwise, c.other, c.then}} {
		a := answerTo(t, w[0])
		require.NotNil(t, a.Cause)
		assert.Equal(t, w[1], a.Cause.ID, a.Cause.Text)
		if w[2] != "" {
			assert.Equal(t, w[2], firstChange(a))
		}
	}
}

// TestOneLineOfALogDecidesTheCause pairs logs with their cause and first change, and with those of the same log but for one line.
func TestOneLineOfALogDecidesTheCause(t *testing.T) {
	t.Parallel()
	const (
		openrlhf = "+ ray job submit -- python3 -m openrlhf.cli.train_ppo_ray --vllm_num_engines 8 --vllm_tensor_parallel_size 1 --vllm_enable_sleep --colocate_all_models --pretrain meta-llama/Llama-3.1-8B-Instruct --actor_num_gpus_per_node 8 --actor_num_nodes 1\n" +
			"(LLMRayActor pid=40212) INFO 07-02 21:16:12 [gpu_model_runner.py:1624] Model loading took 14.9889 GiB and 29.504381 seconds\n"
		slept   = "(LLMRayActor pid=40212) INFO 07-02 21:16:52 [gpu_worker.py:98] Sleep mode freed 29.86 GiB memory, 1.21 GiB memory is still in use.\n"
		loads   = "(PolicyModelActor pid=42704) Loading checkpoint shards:   0%|          | 0/4 [00:00<?, ?it/s]\n"
		slime   = "+ ray job submit -- python3 train.py --colocate --hf-checkpoint /root/Qwen3-8B --actor-num-nodes 1 --actor-num-gpus-per-node 8 --tensor-model-parallel-size 2 --sglang-mem-fraction-static 0.7\n"
		found   = "(SGLangEngine pid=52871) [2026-04-09 11:39:44 TP0] Load weight begin. avail mem=%s GB\n"
		whisper = "$ cat transcribe.py\n    segments, info = pipe.transcribe(path, language=\"de\", batch_size=%s, vad_filter=True)\n$ python transcribe.py\nTraceback (most recent call last):\n  File \"/home/u/transcribe.py\", line 12, in <module>\n    for s in segments:\n" +
			"  File \"/x/site-packages/faster_whisper/transcribe.py\", line 225, in generate_segment_batched\n    results = self.model.model.generate(\nRuntimeError: CUDA failed with error out of memory\n"
		comfy  = "Total VRAM 15843 MB, total RAM 31181 MB\nComfyUI version: 0.3.75\ngot prompt\nRequested to load WanTEModel\nloaded completely; 14319.80 MB usable, 6419.48 MB loaded, full load: True\nRequested to load WAN21\n"
		loaded = "loaded partially; 10790.05 MB usable, 10612.77 MB loaded, 3016.31 MB offloaded, 75.01 MB buffer reserved, lowvram patches: 0\n"
		killed = "Killed\n[Mon Dec  1 19:48:02 2025] oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/user.slice,task=python,pid=21877,uid=1000\n" +
			"[Mon Dec  1 19:48:02 2025] Out of memory: Killed process 21877 (python) total-vm:98214460kB, anon-rss:26904116kB, file-rss:91204kB, shmem-rss:24576kB, UID:1000 pgtables:71320kB oom_score_adj:200\n"
		script = "$ cat embed.py\nfor i, batch in enumerate(loader):\n    with torch.no_grad():\n        out = model(**enc)\n    hidden.append(out)\n$ python embed.py\n"
	)
	held := "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\nMemory on the node (IP: 10.0.0.3, ID: 4f) where the task (actor ID: 8a, name=PolicyModelActor.__init__, pid=42709, memory used=3.38GB) was running was 239.16GB / 251.54GB (0.950783), " +
		"which exceeds the memory usage threshold of 0.95. Ray killed this worker (ID: c0) because it was the most recently scheduled task; to see more information about memory usage on this node, use `ray logs raylet.out -ip 10.0.0.3`. Top 10 memory users:\nPID\tMEM(GB)\tCOMMAND\n"
	for i := range 8 {
		held += fmt.Sprintf("%d\t22.9%d\t/usr/bin/python3 -c from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=98, pipe_handle=%d) --multiprocessing-fork\n", 41874+i, i, 110+2*i)
	}
	held += "42711\t4.61\tray::ReferenceModelActor.init_model_from_pretrained\n42709\t3.38\tray::PolicyModelActor.init_model_from_pretrained\n"
	buffers := stackOf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 7.63 GiB. GPU 0 has a total capacity of 79.11 GiB of which 6.02 GiB is free. Process 31764 has 62.31 GiB memory in use. Process 52990 has 1.62 GiB memory in use. "+
		"Including non-PyTorch memory, this process has 9.16 GiB memory in use. Of the allocated memory 7.63 GiB is allocated by PyTorch, and 14.00 MiB is reserved by PyTorch but unallocated.",
		"/root/slime/slime/backends/megatron_utils/model.py|setup_model_and_optimizer|model = get_model(", "/root/Megatron-LM/megatron/core/distributed/param_and_grad_buffer.py|__init__|self.param_data = torch.zeros(")
	pool := func(half string) string {
		return "+ torchrun --nproc-per-node 8 train_colocate.py --pretrain /models/Qwen2.5-7B-Instruct --fsdp --micro_train_batch_size 1 --micro_rollout_batch_size 4 --zero_stage 3 --n_samples_per_prompt 5 --engine_type sglang --engine_mem_util 0.6 --engine_tp_size 2\n" +
			"[2026-04-02 09:32:06 TP0] Load weight end. type=Qwen2ForCausalLM, dtype=torch.bfloat16, avail mem=65.27 GB, mem usage=7.16 GB.\n" +
			"[2026-04-02 09:32:06 TP0] KV Cache is allocated. #tokens: 1356841, K size: " + half + " GB, V size: " + half + " GB\n" +
			stackOf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.33 GiB. GPU 2 has a total capacity of 79.11 GiB of which 1.89 GiB is free. Process 318877 has 47.22 GiB memory in use. Including non-PyTorch memory, this process has 30.00 GiB memory in use. "+
				"Of the allocated memory 27.65 GiB is allocated by PyTorch, and 421.18 MiB is reserved by PyTorch but unallocated.", "/w/lightrft/trainer/ppo_trainer.py|training_step_actor|self.strategy.backward(loss, self.actor, self.actor_optim)", "/w/lightrft/strategy/fsdp/fsdpv2.py|backward|loss.backward()")
	}
	captures := func(done int) string {
		return fmt.Sprintf("Unsloth: vLLM loading unsloth/qwen2.5-3b-instruct-unsloth-bnb-4bit with actual GPU utilization = 89.02%%\nINFO 11-09 18:13:31 [async_llm.py:269] Initializing a V1 LLM engine (v0.10.0) with config: model='unsloth/qwen2.5-3b-instruct-unsloth-bnb-4bit', quantization=bitsandbytes, gpu_memory_utilization=0.89\n"+
			"INFO 11-09 18:15:40 [gpu_worker.py:255] Available KV cache memory: 15.62 GiB\nCapturing CUDA graph shapes:  34%%|###4      | %d/67 [00:15<00:30,  1.45it/s]\n", done) +
			stackOf("RuntimeError: CUDA out of memory. Tried to allocate 150.00 MiB. GPU 0 has a total capacity of 22.06 GiB of which 134.00 MiB is free. Process 18402 has 21.93 GiB memory in use. Of the allocated memory 20.23 GiB is allocated by PyTorch, with 1.31 GiB allocated in private pools (e.g., CUDA Graphs), and 12.44 MiB is reserved by PyTorch but unallocated.",
				"/w/train.py|<module>|model, tokenizer = FastLanguageModel.from_pretrained(", "unsloth/models/llama.py|from_pretrained|llm = load_vllm(**load_vllm_kwargs)", "unsloth_zoo/vllm_utils.py|load_vllm|raise RuntimeError(error)")
	}
	rises := ""
	for i := range 7 {
		rises += fmt.Sprintf("batch %d/375  allocated %.2f GiB  reserved %.2f GiB\n", 25*i+25, 9.44+1.95*float64(i), 10.46+1.95*float64(i))
	}
	rises += stackOf(full("304.00 MiB", "23.68", "271.38 MiB", "23.01"), "/home/u/embed.py|<module>|out = model(**enc)", "transformers/models/qwen3/modeling_qwen3.py|forward|down_proj = self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))")
	for name, c := range map[string]contrast{
		"an engine's graphs were being captured":        {captures(23), "graph_capture", "gpu_memory_utilization=0.77", captures(67), "states_too_big", ""},
		"another process holds what the engine printed": {pool("18.12"), "engine_share_too_large", "--enable_engine_sleep=True", pool("8.12"), "foreign_process", "other processes=nvidia-smi --query-compute-apps=pid,used_memory --format=csv"},
		"engines that slept hold the node":              {openrlhf + slept + loads + held, "host_offload", "--vllm_enable_sleep=False", openrlhf + loads + held, "host_load", ""},
		"a process that was there before the engine":    {slime + fmt.Sprintf(found, "16.20") + buffers, "foreign_process", "other processes=nvidia-smi --query-compute-apps=pid,used_memory --format=csv", slime + fmt.Sprintf(found, "78.20") + buffers, "engine_share_too_large", ""},
		"a batch of segments far above the default":     {fmt.Sprintf(whisper, "32"), "engine_activation", "batch_size=8", fmt.Sprintf(whisper, "8"), "engine_activation", "batch_size=4"},
		"ComfyUI was reading a model's file":            {strings.ReplaceAll(comfy, "Requested to load WAN21", "model weight dtype torch.bfloat16, manual cast: None\nmodel_type FLUX") + killed, "host_load", "--cache-none=True", comfy + loaded + killed, "limit_too_small", "--cache-none=True"},
		"ComfyUI was loading one more model":            {comfy + killed, "host_load", "--cache-none=True", comfy + loaded + killed, "limit_too_small", "--cache-none=True"},
		"outputs that a script keeps without gradients": {script + rises, "leak_over_steps", "outputs.append=outputs.append(output.detach().cpu())", strings.ReplaceAll(script, "with torch.no_grad():", "if True:") + rises, "leak_over_steps", "torch.no_grad=with torch.no_grad(): ..."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Len(t, slices.CompactFunc(slices.Clone(answerTo(t, c.log).Proposals), func(a, b Proposal) bool { return a.Title == b.Title }), len(answerTo(t, c.log).Proposals), "nothing is said twice")
			c.check(t)
		})
	}
}

// TestNothingIsProposedThatOnlyMovesTheFailure has changes that do not help, beside a log in which they may.
func TestNothingIsProposedThatOnlyMovesTheFailure(t *testing.T) {
	t.Parallel()
	evaluation := func(samples int) string {
		return fmt.Sprintf("$ python ft.py --model Qwen/Qwen2.5-0.5B --max_length 512\nTrainingArguments(\nper_device_eval_batch_size=4,\n)\n***** Running Evaluation *****\n  Num examples = %d\n  Batch size = 4\n", samples) +
			stackOf(full("9.27 GiB", "23.68", "7.98 GiB", "14.82"), "/home/u/ft.py|main|trainer.train()", "/x/site-packages/transformers/trainer.py|evaluation_loop|all_preds.add(logits)",
				"/x/site-packages/transformers/trainer_pt_utils.py|add|self.tensors = nested_concat(self.tensors, tensors, padding_index=self.padding_index)", "/x/site-packages/transformers/trainer_pt_utils.py|torch_pad_and_concatenate|return torch.cat((tensor1, tensor2), dim=0)")
	}
	checkpoint := func(frame string) string {
		return "$ torchrun --nproc_per_node=4 train.py --strategy ddp\nGPU available: True (cuda), used: True\n" + stackOf("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 26.00 MiB. GPU 0 has a total capacity of 23.64 GiB of which 12.19 MiB is free. Process 48117 has 6.37 GiB memory in use. "+
			"Process 48118 has 5.92 GiB memory in use. Process 48120 has 5.71 GiB memory in use. Including non-PyTorch memory, this process has 5.38 GiB memory in use. Of the allocated memory 4.96 GiB is allocated by PyTorch, and 11.80 MiB is reserved by PyTorch but unallocated.",
			"/home/u/train.py|main|model = FineTuner.load_from_checkpoint(args.init_from)", frame, "/x/site-packages/torch/serialization.py|load|return _load(", "/x/site-packages/torch/serialization.py|default_restore_location|result = fn(storage, location)")
	}
	sglang := func(missing string) string {
		return "$ python3 -m sglang.launch_server --model-path Qwen/Qwen2.5-7B-Instruct --cuda-graph-max-bs 8\n[2025-09-22 08:10:08] Capture cuda graph end. Time elapsed: 1.94 s. mem usage=0.16 GB. avail mem=2.05 GB.\n[2025-09-22 08:11:08] The server is fired up and ready to roll!\n" +
			stackOf(full(missing, "22.03", "1.51 GiB", "19.92"), "sglang/srt/managers/scheduler.py|run_batch|result = self.forward_batch(", "sglang/srt/models/qwen2.py|forward|gate_up, _ = self.gate_up_proj(x)")
	}
	zero := func(missing string) string {
		return "+ deepspeed --num_gpus 4 run_clm.py --deepspeed ds.json --model_name_or_path Qwen/Qwen2.5-14B --per_device_train_batch_size 1 --bf16 True\n{\n    \"zero_optimization\": {\n        \"stage\": 2,\n        \"reduce_bucket_size\": 5e8\n    }\n}\n" +
			stackOf(full(missing, "79.15", "6.31 GiB", "70.67"), "transformers/trainer.py|training_step|self.accelerator.backward(loss)", "deepspeed/runtime/engine.py|step|self._take_model_step(lr_kwargs)", "torch/optim/adamw.py|_init_group|state[\"exp_avg_sq\"] = torch.zeros_like(")
	}
	titan := func(off string) string {
		return "[rank0]:[titan] 2025-09-16 21:07:51,604 - root - INFO - Running with args: {'training': {'local_batch_size': 8, 'seq_len': 8192}, 'parallelism': {'data_parallel_shard_degree': -1, 'tensor_parallel_degree': 2, 'disable_loss_parallel': " + off + "}}\n" +
			"[rank0]:[titan] 2025-09-16 21:08:05,048 - root - INFO - CUDA capacity: NVIDIA H100 80GB HBM3 with 79.11GiB memory\n[rank0]:[titan] 2025-09-16 21:08:04,881 - root - INFO - Building llama3 8B with TransformerModelArgs(dim=4096, n_layers=32, n_heads=32, n_kv_heads=8, vocab_size=128256, max_seq_len=8192)\n" +
			stackOf(full("31.31 GiB", "79.11", "21.95 GiB", "55.33"), "/w/torchtitan/torchtitan/train.py|train_step|loss = self.forward_backward_step(input_dict, labels)", "/w/torchtitan/torchtitan/components/loss.py|cross_entropy_loss|return torch.nn.functional.cross_entropy(", "torch/nn/functional.py|cross_entropy|return torch._C._nn.cross_entropy_loss(")
	}
	for name, c := range map[string]struct{ log, never, otherwise string }{
		"more tensor parallelism where each GPU has all logits": {titan("True"), "--parallelism.tensor_parallel_degree up", titan("False")},
		"CUDA graphs that are small beside what was missing":    {sglang("2.31 GiB"), "--disable-cuda-graph set", sglang("1.62 GiB")},
		"a bucket that is smaller than what was missing":        {zero("13.75 GiB"), "zero_optimization.reduce_bucket_size down", zero("6.75 GiB")},
		"logits of an evaluation that no host holds":            {evaluation(2000), "eval_accumulation_steps set", evaluation(96)},
		"a checkpoint that is read before a trainer":            {checkpoint("/x/site-packages/lightning/pytorch/core/saving.py|_load_from_checkpoint|checkpoint = pl_load(checkpoint_path)"), "strategy set", checkpoint("/x/site-packages/lightning/pytorch/strategies/ddp.py|setup|checkpoint = pl_load(checkpoint_path)")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.NotContains(t, strings.Join(applicable(answerTo(t, c.log)), "\n"), c.never)
			assert.Contains(t, strings.Join(applicable(answerTo(t, c.otherwise)), "\n"), c.never)
		})
	}
}

// applicable lists the settings that items which may apply change, with the direction.
func applicable(a Checklist) (keys []string) {
	for i := range a.Remedies {
		if m := &a.Remedies[i]; m.Applies == nil || *m.Applies {
			for _, c := range m.Changes {
				keys = append(keys, c.Key+" "+c.Direction)
			}
		}
	}
	return keys
}
