package remedies

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
)

// Frames of failures, the innermost last.
const (
	ownStep    = "/home/u/train.py|train|loss = model(ids)"
	ownLayer   = "/home/u/model.py|forward|x = self.gelu(self.fc1(x))"
	trainStep  = "/x/site-packages/transformers/trainer.py|compute_loss|outputs = model(**inputs)"
	llamaLayer = "/x/site-packages/transformers/models/llama/modeling_llama.py|forward|down_proj = self.down_proj(self.act_fn(x))"
	fromHub    = "/x/site-packages/transformers/modeling_utils.py|from_pretrained|) = cls._load_pretrained_model("
	makesState = "/x/site-packages/torch/optim/adamw.py|_init_group|state[\"exp_avg_sq\"] = torch.zeros_like("
	bringState = "/x/site-packages/torch/optim/optimizer.py|_process_value_according_to_param_policy|return value.to(dtype=param.dtype, device=param.device)"
)

func TestRecomputationUnderAdaptersLetsGradientsThrough(t *testing.T) {
	t.Parallel()
	const peft = "/x/site-packages/peft/peft_model.py|forward|return self.get_base_model()(*args)"
	for name, c := range map[string]struct {
		lines []string
		want  bool
	}{"adapters": {[]string{ownStep, peft, llamaLayer}, true}, "all weights": {[]string{ownStep, llamaLayer}, false}} {
		got := changesOf(For(run("torch", "batch_size", "1"), gpu("forward", 1, .4, 79.25, frames(c.lines...))))
		assert.Contains(t, got, "model.gradient_checkpointing_enable()=True", name)
		assert.Equal(t, c.want, slices.Contains(got, "model.enable_input_require_grads()=True"), name)
	}
}

// TestWhatScriptsAndTrainersAreToldWithoutTheirSettings has, for each cause, a log that shows what failed and little else.
func TestWhatScriptsAndTrainersAreToldWithoutTheirSettings(t *testing.T) {
	t.Parallel()
	failed := func(phase string, lines ...string) *classifier.Incident {
		return gpu(phase, 1, .4, 79.25, frames(lines...))
	}
	alone := func(r *classifier.Run) *classifier.Run { one := 1; r.WorldSize = &one; return r }
	beside := func(r *classifier.Run) *classifier.Run {
		r.Gauges = append(r.Gauges, reading("tf.pool", map[string]float64{"pool": 37}))
		return r
	}
	for _, c := range []struct {
		name  string
		run   *classifier.Run
		in    *classifier.Incident
		cause string
		first string // a change of the first proposal
		never string // a part of what no proposal changes
	}{
		{"a script's own layers are recomputed in its code", run("torch", "batch_size", "1"), failed("forward", ownStep, ownLayer), "activations", "torch.utils.checkpoint", "gradient_checkpointing"},
		{"a batch that the log does not show comes before recomputation", run("torch"), failed("forward", ownStep, ownLayer), "activations", "batch_size", "gradient_checkpointing"},
		{"a layer of a library is not", run("torch"), failed("forward", ownStep, "/x/site-packages/mmdet/models/resnet.py|forward|out = self.conv2(out)"), "activations", "", "torch.utils.checkpoint"},
		{"a model of transformers has a call for it", run("torch", "batch_size", "1"), failed("forward", ownStep, llamaLayer), "activations", "gradient_checkpointing_enable", "torch.utils.checkpoint"},
		{"a program with transformers' arguments has a flag", run("torch", "batch_size", "1", "gradient_checkpointing", "False"), failed("forward", ownStep, llamaLayer), "activations", "gradient_checkpointing", "_enable"},
		{"a model of diffusers", run("torch", "batch_size", "1"), failed("forward", ownStep, "/x/site-packages/diffusers/models/attention.py|forward|x = self.ff(x)"), "activations", "enable_gradient_checkpointing", "torch.utils.checkpoint"},
		{"a model of timm", run("torch", "batch_size", "1"), failed("forward", ownStep, "/x/site-packages/timm/models/vision_transformer.py|forward|x = self.mlp(x)"), "activations", "set_grad_checkpointing", "torch.utils.checkpoint"},
		{"a backbone of mmdetection", run("torch", "batch_size", "1"), failed("forward", ownStep, "/w/mmdet/models/backbones/resnet.py|forward|out = self.conv2(out)"), "activations", "with_cp", "torch.utils.checkpoint"},
		{"a model of torchvision has none", run("torch", "batch_size", "1"), failed("forward", ownStep, "/x/site-packages/torchvision/models/resnet.py|forward|out = self.conv2(out)"), "activations", "", "checkpointing"},
		{"a script that trains nothing", run("torch"), failed("forward", "/home/u/infer.py|main|out = model(x)", llamaLayer), "activations", "torch.no_grad", "gradient_checkpointing"},
		{"a script that drops what the model computes", run("torch"), failed("forward", "/home/u/stats.py|collect|model(**batch)", llamaLayer), "activations", "torch.no_grad", "gradient_checkpointing"},
		{"scores in a script's own code", run("torch"), failed("forward", ownStep, "/home/u/model.py|forward|att = (q @ k.transpose(-2, -1))"), "attention_scores", "scaled_dot_product_attention", "attn_implementation"},
		{"scores in Megatron", as(run("megatron", "attention_backend", "unfused"), "megatron", "", ""), failed("forward", "/w/megatron/core/transformer/dot_product_attention.py|forward|attention_scores = torch.baddbmm("), "attention_scores", "attention-backend", "attn_implementation"},
		{"logits in a script's own loop", run("torch", "batch_size", "1"), failed("forward", ownStep, "/x/site-packages/transformers/loss/loss_utils.py|ForCausalLMLoss|logits = logits.float()"), "logits", "AutoLigerKernelForCausalLM", "checkpoint"},
		{"a script's own optimizer", run("torch", "optimizer", "adamw"), failed("optimizer", "/home/u/train.py|train|optimizer.step()", makesState), "optimizer_first_step", "torch.optim", "batch"},
		{"8 bits by another name", of("axolotl", run("torch", "optimizer", "adamw_8bit", "micro_batch_size", "1")), failed("optimizer", trainStep, makesState), "optimizer_first_step", "", "optimizer"},
		{"DDP of a script's own", run("torch"), with(failed("init", "/home/u/train.py|main|model = DDP(model)", "/x/site-packages/torch/nn/parallel/distributed.py|_ddp_init_helper|self.reducer = dist.Reducer("), func(r *classifier.Root) { rank := 1; r.Rank = &rank }), "not_sharded", "fully_shard", "batch"},
		{"a unit larger than any layer", as(run("torch"), "fsdp", "", ""), gpu("forward", 26, 20, 79.25, frames(ownStep, "/x/site-packages/torch/distributed/fsdp/_flat_param.py|_alloc_padded_unsharded_flat_param|_alloc_storage(unsharded_flat_param")), "allgather_window", "fully_shard", "expandable"},
		{"a unit of the size of a layer", as(run("torch"), "fsdp", "", ""), gpu("forward", .5, .2, 79.25, frames(ownStep, "/x/site-packages/torch/distributed/fsdp/_flat_param.py|_alloc_padded_unsharded_flat_param|_alloc_storage(unsharded_flat_param")), "allgather_window", "", "fully_shard"},
		{"Composer's micro-batch, not its step", run("torch", "global_train_batch_size", "64", "device_train_microbatch_size", "8"), failed("forward", "/x/site-packages/composer/trainer/trainer.py|_train_microbatch|self.state.outputs = self.state.model(self.state.batch)", "/x/site-packages/llmfoundry/models/layers/ffn.py|forward|return self.down_proj(x)"), "activations", "device_train_microbatch_size", "global_train_batch_size"},
		{"Composer finds the micro-batch", run("torch"), failed("forward", "/x/site-packages/composer/trainer/trainer.py|_train_microbatch|self.state.outputs = self.state.model(self.state.batch)", "/x/site-packages/llmfoundry/models/layers/ffn.py|forward|return self.down_proj(x)"), "activations", "device_train_microbatch_size", "checkpoint"},
		{"ms-swift has no length by default", of("swift", run("torch", "max_length", "None")), failed("forward", trainStep, llamaLayer), "activations", "", "sequence_parallel_size"},
		{"LLaMA-Factory trains adapters by default", alone(of("llamafactory", run("torch", "per_device_train_batch_size", "1"))), failed("init", "/x/site-packages/llamafactory/model/loader.py|load_model|model = load_class.from_pretrained(**init_kwargs)", fromHub), "states_too_big", "quantization_bit", "pure_bf16"},
		{"a library's own buffer says nothing of the weights' type", run("torch"), failed("init", "/home/u/run.py|main|model = AutoModelForCausalLM.from_pretrained(\"meta-llama/Llama-2-13b-hf\")", "/x/site-packages/transformers/modeling_utils.py|caching_allocator_warmup|_ = torch.empty(byte_count, dtype=torch.float16, device=device)"), "wrong_dtype", "torch_dtype", "expandable"},
		{"a trainer restores the optimizer on the card", run("torch", "optim", "adamw_torch", "per_device_train_batch_size", "1"), failed("checkpoint", "/x/site-packages/transformers/trainer.py|_load_optimizer_and_scheduler|self.optimizer.load_state_dict(", bringState), "optimizer_first_step", "optim", "map_location"},
		{"a script that reads a checkpoint onto the card", run("torch"), failed("checkpoint", "/home/u/train.py|main|optimizer.load_state_dict(ckpt[\"optimizer\"])", "/x/site-packages/torch/optim/optimizer.py|load_state_dict|state_dict = deepcopy(state_dict)"), "wrong_device", "map_location", "optim"},
		{"an evaluation that keeps the outputs of all batches", run("torch"), failed("forward", "/home/u/train.py|main|evaluate(model)", "/home/u/train.py|evaluate |all_logits = torch.cat(all_logits)"), "logits", "outputs.append", "checkpoint"},
		{"a layer that joins tensors in an evaluation", run("torch"), failed("forward", "/home/u/train.py|evaluate |out = model(x)", "/home/u/unet.py|forward|x = torch.cat([x, skip], dim=1)"), "activations", "torch.no_grad", "outputs.append"},
		{
			"one batch of an evaluation", run("torch", "per_device_eval_batch_size", "8", "per_device_train_batch_size", "1"),
			failed("forward", "/x/site-packages/transformers/trainer.py|evaluation_loop|losses, logits, labels = self.prediction_step(", "/x/site-packages/accelerate/utils/operations.py|convert_to_fp32|return recursively_apply(_convert_to_fp32"),
			"logits", "per_device_eval_batch_size", "eval_accumulation_steps",
		},
		{
			"weights that are unpacked for each layer are in 4 bits", counted(run("torch", "per_device_train_batch_size", "1"), 70_000_000_000, 40_000_000),
			failed("forward", trainStep, llamaLayer, "/x/site-packages/bitsandbytes/autograd/_functions.py|forward|output = torch.nn.functional.linear(A, F.dequantize_4bit(B, state).to(A.dtype).t(), bias)"),
			"activations", "", "load_in_4bit",
		},
		{"TensorFlow's pool beside PyTorch", beside(run("torch")), with(failed("init", "/home/u/train.py|main|model = model.to(device)"), func(r *classifier.Root) { r.Total, r.Allocated, r.ProcessBytes = gibs(39.4), gibs(1.2), gibs(39.3) }), "foreign_process", "TF_FORCE_GPU_ALLOW_GROWTH", "half"},
		{"a small pool of TensorFlow beside PyTorch", beside(run("torch")), with(failed("init", "/home/u/train.py|main|model = model.to(device)"), func(r *classifier.Root) { r.Allocated, r.ProcessBytes = gibs(78), gibs(79) }), "states_too_big", "model.half", "TF_"},
		{"a whole state that a script gathers on its cards", run("torch"), failed("checkpoint", "/home/u/train.py|save_model|state = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True))", "/x/site-packages/torch/distributed/checkpoint/state_dict.py|_maybe_full_or_cpu_state_dict|return _gather_state_dict(", "/x/site-packages/torch/distributed/tensor/_api.py|full_tensor|return _ToTorchTensor.apply("), "checkpoint_gather", "full_state_dict", "offload"},
		{"SimpleTuner's quantized weights", run("torch"), failed("checkpoint", "/w/simpletuner/helpers/training/save_hooks.py|save_model_hook|self._save_lycoris(", "/x/site-packages/optimum/quanto/tensor/weights/qbytes.py|dequantize|return self._scale * self._data"), "checkpoint_gather", "--offload_during_save", "batch"},
		{"Unsloth's weights are in 4 bits by default", counted(of("unsloth", run("torch", "Batch size per device", "4")), 7_655_986_688, 40_370_176), gpu("forward", 2.3, .9, 14.7, frames(trainStep, "/x/site-packages/unsloth/models/llama.py|CausalLM_fast_forward|logits = self.lm_head(hidden_states)")), "logits", "per_device_train_batch_size", "torch_dtype"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			list := For(c.run, c.in)
			require.NotNil(t, list.Cause)
			assert.Equal(t, c.cause, list.Cause.ID)
			if c.first != "" {
				require.NotEmpty(t, list.Proposals)
				require.NotEmpty(t, list.Proposals[0].Changes, list.Proposals[0].Title)
				assert.Contains(t, list.Proposals[0].Changes[0].Key, c.first)
			}
			for i := range list.Proposals {
				for _, ch := range list.Proposals[i].Changes {
					assert.NotContains(t, ch.Key, c.never)
				}
			}
		})
	}
}
