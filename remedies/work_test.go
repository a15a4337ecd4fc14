package remedies

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// oomOf is PyTorch's message for a card of 47.4 GiB.
func oomOf(asked, free, allocated string) string {
	return "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate " + asked + ". GPU 0 has a total capacity of 47.40 GiB of which " + free + " is free. Of the allocated memory " + allocated +
		" GiB is allocated by PyTorch, and 300.00 MiB is reserved by PyTorch but unallocated."
}

// onlyTraining are parts of settings that only training has.
var onlyTraining = []string{"checkpointing", "utils.checkpoint", "adam", "optim", "accumulation", "liger", "zero", "deepspeed", "fully_shard", "lora", "peft", "train_batch"}

func TestWhatTheFailedProcessDoesDecidesWhatItIsTold(t *testing.T) {
	t.Parallel()
	const (
		layer    = "transformers/models/llama/modeling_llama.py|forward|down_proj = self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))"
		generate = "transformers/generation/utils.py|generate|result = self._sample("
		conv     = "torch/nn/modules/conv.py|forward|return self._conv_forward(input, self.weight, self.bias)"
	)
	oom := oomOf("400.00 MiB", "200.00 MiB", "46.00")
	trainer := "{'loss': 1.1, 'grad_norm': 0.5, 'learning_rate': 1e-05, 'epoch': 0.1}\nper_device_train_batch_size=8,\nper_device_eval_batch_size=32,\n"
	for _, c := range []struct {
		name, log   string
		work, first string
		trains      bool // training's settings may be proposed
	}{
		{"a web server generates", stackOf(oom, "flask/app.py|full_dispatch_request|rv = self.dispatch_request()", "/srv/app.py|chat|out = model.generate(**inputs)", generate, layer), generationWork, "", false},
		{"a web server runs a model", stackOf(oom, "starlette/routing.py|app|response = await func(request)", "/srv/api.py|classify|out = model(**batch)", layer), servingWork, "", false},
		{"Gradio's app", stackOf(oom, "gradio/queueing.py|process_events|response = await route_utils.call_process_api(", "/srv/demo_app.py|caption|y = net(x)", conv), servingWork, "", false},
		{"ms-swift infers", stackOf(oom, "/w/ms-swift/swift/llm/infer/infer_engine/pt_engine.py|_infer_full|output = model(**batch)", layer), inferenceWork, "", false},
		{"FastChat serves", stackOf(oom, "fastchat/serve/inference.py|generate_stream|out = model(", layer), servingWork, "", false},
		{"lm-eval scores", "$ lm_eval --model hf --tasks mmlu --batch_size 64\n" + stackOf(oom, "lm_eval/models/huggingface.py|_loglikelihood_tokens|self._model_call(batched_inps, **call_kwargs)", layer), inferenceWork, "--batch_size=32", false},
		{"Whisper transcribes", stackOf(oom, "/home/u/run.py|<module>|result = model.transcribe(path)", "whisper/transcribe.py|decode_with_fallback|decode_result = model.decode(segment, options)", "whisper/model.py|forward|x = block(x, xa, mask=self.mask, kv_cache=kv_cache)"), inferenceWork, "", false},
		{"sentence-transformers encodes for a training script", stackOf(oom, "/home/u/train_index.py|main|emb = model.encode(docs, batch_size=512)", "sentence_transformers/SentenceTransformer.py|encode|out_features = self.forward(features)", layer), inferenceWork, "batch_size=256", true},
		{"a program that trains nothing may call it fit", stackOf(oom, "/home/u/AutoIntent/optimizer.py|fit|module.fit(context)", "sentence_transformers/SentenceTransformer.py|encode|out_features = self.forward(features)", layer), inferenceWork, "batch_size=16", false},
		{"sentence-transformers trains", stackOf(oom, "/home/u/sbert.py|main|model.fit(train_objectives=[(loader, loss)])", "sentence_transformers/SentenceTransformer.py|fit|loss_value = loss_model(features, labels)", layer), trainingWork, "batch_size", true},
		{"a Trainer evaluates", trainer + stackOf(oom, "/home/u/sft.py|main|trainer.train()", "transformers/trainer.py|_maybe_log_save_evaluate|metrics = self._evaluate(trial, ignore_keys_for_eval)", "transformers/trainer.py|evaluation_loop|losses, logits, labels = self.prediction_step(", layer), evaluationWork, "--per_device_eval_batch_size=16", true},
		{"a Trainer trains", trainer + stackOf(oom, "/home/u/sft.py|main|trainer.train()", "transformers/trainer.py|training_step|loss = self.compute_loss(model, inputs)", layer), trainingWork, "--per_device_train_batch_size=2", true},
		{"Lightning validates", stackOf(oom, "/home/u/main.py|main|trainer.fit(model, data)", "lightning/pytorch/loops/evaluation_loop.py|_evaluation_step|output = call._call_strategy_hook(trainer, hook_name, *step_args)", "/home/u/model.py|validation_step|y = self(x)", conv), evaluationWork, "", true},
		{"a script of its own tests", stackOf(oom, "/home/u/test.py|<module>|y = net(x)", "/home/u/net.py|forward|x = self.conv1(x)", conv), evaluationWork, "torch.no_grad=with torch.no_grad(): ...", false},
		{"a script of its own predicts", "Namespace(batch_size=64, weights='best.pt')\n" + stackOf(oom, "/home/u/predict.py|<module>|y = net(x)", "/home/u/net.py|forward|x = self.conv1(x)", conv), inferenceWork, "torch.no_grad=with torch.no_grad(): ...", false},
		{"under no_grad, its batch is left", "Namespace(batch_size=64, weights='best.pt')\n" + stackOf(oom, "/home/u/predict.py|<module>|run(net)", "torch/utils/_contextlib.py|decorate_context|return func(*args, **kwargs)", "/home/u/predict.py|run|y = net(x)", "/home/u/net.py|forward|x = self.conv1(x)", conv), inferenceWork, "batch_size=32", false},
		{"a script of its own trains", "Namespace(batch_size=64, lr=0.1)\n" + stackOf(oom, "/home/u/main.py|main|train(net, loader)", "/home/u/main.py|train|out = net(x)", "/home/u/net.py|forward|x = self.conv1(x)", conv), trainingWork, "", true},
		{"from_pretrained trains nothing", stackOf(oom, "/home/u/run.py|<module>|model = AutoModel.from_pretrained(path).cuda()", "transformers/modeling_utils.py|cuda|return super().cuda(*args, **kwargs)", "torch/nn/modules/module.py|_apply|param_applied = fn(param)"), "", "", true},
		{"TRL generates in training", "per_device_train_batch_size=8,\n" + stackOf(oom, "/home/u/grpo.py|main|trainer.train()", "trl/trainer/grpo_trainer.py|_generate_and_score_completions|prompt_completion_ids = unwrapped_model.generate(", generate, layer), generationWork, "", true},
		{"a backward pass", stackOf(oom, "/home/u/x.py|<module>|loss.backward()", "torch/autograd/graph.py|_engine_run_backward|return Variable._execution_engine.run_backward("), trainingWork, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, in := incidentOf(t, c.log)
			w := newContext(r, in).work
			assert.Equal(t, c.work, w.what, w.why)
			a := For(r, in)
			if c.first != "" {
				assert.Equal(t, c.first, firstChange(a))
			}
			if c.trains {
				return
			}
			require.True(t, w.untrained() && w.only)
			for _, p := range a.Proposals {
				for _, ch := range p.Changes {
					for _, bad := range onlyTraining {
						assert.NotContains(t, strings.ToLower(ch.Key), bad, p.Title)
					}
				}
			}
			for _, r := range a.Remedies {
				if r.Applies == nil || *r.Applies {
					assert.NotContains(t, strings.ToLower(r.Title), "backward", r.ID)
					assert.NotContains(t, strings.ToLower(r.Title), "optimizer", r.ID)
					assert.NotContains(t, strings.ToLower(r.Title), "accumulate", r.ID)
				}
			}
		})
	}
}
