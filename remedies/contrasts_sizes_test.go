package remedies

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOneSizeOfALogDecidesTheFirstChange pairs logs with their cause and first change, and with those of the same log but for one setting or
// figure.
func TestOneSizeOfALogDecidesTheFirstChange(t *testing.T) {
	t.Parallel()
	const (
		ollama = "$ docker run -d --gpus all --memory 8g ollama/ollama\n" + `time=2025-03-22T09:40:51.405Z level=INFO source=routes.go:1297 msg="Listening on [::]:11434 (version 0.6.2)"` + "\n" +
			`time=2025-03-22T09:43:12.775Z level=INFO source=server.go:405 msg="starting llama server" cmd="/usr/bin/ollama runner --ollama-engine --model /m/blobs/sha256-afa0 --ctx-size 2048"` + "\n" +
			`time=2025-03-22T09:43:13.141Z level=INFO source=ggml.go:289 msg="model weights" buffer=CPU size="%s GiB"` + "\n" + `time=2025-03-22T09:43:13.141Z level=INFO source=ggml.go:289 msg="model weights" buffer=CUDA0 size="16.2 GiB"` + "\n" +
			`time=2025-03-22T09:43:24.818Z level=ERROR source=sched.go:456 msg="error loading llama server" error="llama runner process has terminated: signal: killed"` + "\n" +
			"memory: usage 8388608kB, limit 8388608kB, failcnt 18842\noom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=docker-5be.scope,mems_allowed=0-1,oom_memcg=/system.slice/docker-5be.scope,task_memcg=/system.slice/docker-5be.scope,task=ollama,pid=24817,uid=0\n" +
			"Memory cgroup out of memory: Killed process 24817 (ollama) total-vm:41873316kB, anon-rss:7811444kB, file-rss:214016kB, shmem-rss:18432kB, UID:0 pgtables:17240kB oom_score_adj:0\n"
		verl = "#!/bin/bash\n#SBATCH --mem=128G\n#SBATCH --gres=gpu:8\n+ free -g\n               total        used        free      shared  buff/cache   available\n%s" +
			"+ python3 -m verl.trainer.main_ppo trainer.n_gpus_per_node=8 trainer.nnodes=1 actor_rollout_ref.model.path=Qwen/Qwen2.5-7B-Instruct actor_rollout_ref.actor.fsdp_config.param_offload=True actor_rollout_ref.actor.fsdp_config.optimizer_offload=True actor_rollout_ref.actor.strategy=fsdp\n" +
			"(WorkerDict pid=71802) Qwen2ForCausalLM contains 7.62B parameters\nslurmstepd: error: Detected 2 oom_kill events in StepId=884213.batch. Some of the step tasks have been OOM Killed.\n"
		trl = "$ cat sft.yaml\nmodel_name_or_path: Qwen/Qwen3-14B\n%sbf16: true\nper_device_train_batch_size: 1\ngradient_checkpointing: true\n$ pip list\ntrl                      1.3.0\n$ trl sft --config sft.yaml --num_processes 4\n"
		axo = "$ axolotl train fft.yaml\n[2025-08-27 13:05:23,004] [INFO] [axolotl.cli.config.load_cfg:245] [PID:30311] [RANK:0] config:\n{\n  \"base_model\": \"Qwen/Qwen3-14B\",\n  \"ddp\": true,\n  \"gradient_checkpointing\": true,\n  \"micro_batch_size\": 1,\n%s" +
			"  \"optimizer\": \"adamw_torch_fused\",\n  \"sequence_len\": 4096,\n  \"torch_dtype\": \"torch.bfloat16\",\n  \"world_size\": 8\n}\n"
		comfy = "$ python main.py%s\nTotal VRAM 24210 MB, total RAM 64211 MB\nComfyUI version: 0.3.49\ngot prompt\nRequested to load WAN21\nloaded completely 9.5367431640625e+25 13629.075424194336 True\n"
	)
	moves := func(peft string) string {
		return fmt.Sprintf(trl, peft) + stackOf(full("340.00 MiB", "44.39", "184.31 MiB", "43.74"), "/opt/trl/scripts/sft.py|main|trainer = SFTTrainer(", "trl/trainer/sft_trainer.py|__init__|super().__init__(", "transformers/trainer.py|_move_model_to_device|model = model.to(device)",
			"torch/nn/modules/module.py|_apply|module._apply(fn)", "torch/nn/modules/module.py|convert|return t.to(")
	}
	backward := stackOf(strings.Replace(full("170.00 MiB", "79.11", "139.31 MiB", "76.71"), "GPU 0", "GPU 5", 1), "/w/axolotl/src/axolotl/train.py|execute_training|trainer.train(", "transformers/trainer.py|training_step|self.accelerator.backward(loss, **kwargs)", "torch/_tensor.py|backward|torch.autograd.backward(")
	second := stackOf("torch.OutOfMemoryError: Allocation on device ", "/home/u/ComfyUI/execution.py|process_inputs|result = f(**inputs)", "/home/u/ComfyUI/nodes.py|load_unet|model = comfy.sd.load_diffusion_model(unet_path)",
		"/home/u/ComfyUI/comfy/sd.py|load_diffusion_model_state_dict|model = model.to(offload_device)", "torch/nn/modules/module.py|_apply|module._apply(fn)", "torch/nn/modules/module.py|convert|return t.to(")
	for name, c := range map[string]contrast{
		"weights that pass through host memory on their way to the card": {fmt.Sprintf(ollama, "1.1"), "host_load", "--memory=20G", fmt.Sprintf(ollama, "6.9"), "host_load", "--memory=12G"},
		"a node with far more than the job's limit":                      {fmt.Sprintf(verl, "Mem:            1007          38         714           2         254         962\n"), "host_offload", "--mem=192G", fmt.Sprintf(verl, "Mem:            188          38         104           2         45         148\n"), "host_offload", "actor_rollout_ref.actor.fsdp_config.param_offload=False"},
		"weights that are wider than 16 bits under adapters":             {moves("use_peft: true\nlora_r: 16\n"), "wrong_dtype", "dtype=bfloat16", moves(""), "not_sharded", ""},
		"every rank has all states, and no adapters are trained":         {fmt.Sprintf(axo, "") + backward, "states_too_big", "deepspeed=deepspeed_configs/zero3_bf16.json", fmt.Sprintf(axo, "  \"adapter\": \"lora\",\n  \"lora_r\": 16,\n") + backward, "activations", ""},
		"a second model on a card that keeps the first":                  {fmt.Sprintf(comfy, " --highvram") + second, "states_too_big", "--highvram=False", fmt.Sprintf(comfy, "") + second, "states_too_big", "--lowvram=True"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t)
			for _, log := range []string{c.log, c.otherwise} {
				assert.NotContains(t, strings.Join(applicable(answerTo(t, log)), "\n"), "ALLOC_CONF")
			}
		})
	}
}

// TestAListShowsWhatIsProposedOfAnItem has several offloads, of which the cards have room for one.
func TestAListShowsWhatIsProposedOfAnItem(t *testing.T) {
	t.Parallel()
	const log = "#SBATCH --mem=480G\n#SBATCH --gres=gpu:h100:8\n+ free -g\n               total        used        free      shared  buff/cache   available\nMem:            2015          58        1740           2         228        1950\n" +
		"+ python3 -m verl.trainer.main_ppo --config-name=ppo_megatron_trainer trainer.n_gpus_per_node=8 trainer.nnodes=1 actor_rollout_ref.model.path=/m/Qwen3-30B-A3B-Base actor_rollout_ref.actor.strategy=megatron actor_rollout_ref.actor.megatron.expert_model_parallel_size=8 actor_rollout_ref.actor.megatron.param_offload=True actor_rollout_ref.actor.megatron.grad_offload=True actor_rollout_ref.actor.megatron.optimizer_offload=True\n" +
		"(WorkerDict pid=57840)  > number of parameters on (tensor, pipeline) model parallel rank (0, 0): 5165416448\nslurmstepd: error: Detected 1 oom_kill event in StepId=4471902.batch. Some of the step tasks have been OOM Killed.\n"
	a := answerTo(t, log)
	var proposed []string
	for _, p := range a.Proposals {
		if slices.Contains(p.Remedies, "verl.host.offload") {
			for _, c := range p.Changes {
				proposed = append(proposed, c.Key)
			}
		}
	}
	require.NotEmpty(t, proposed)
	var listed []string
	for _, c := range pick(t, a, "verl.host.offload").Changes {
		listed = append(listed, c.Key)
	}
	assert.Equal(t, proposed, listed)
	assert.NotContains(t, listed, "actor_rollout_ref.actor.megatron.optimizer_offload")
}
