package remedies

import (
	"fmt"
	"slices"
	"strings"

	"oomscan/parser/lazyre"
	"oomscan/parser/traceback"
	"oomscan/remedies/cause"
	"oomscan/remedies/memory"
)

// passesThrough reports whether the failing stack passes through a file with one of the parts in its path.
func (ctx *Context) passesThrough(parts ...string) bool {
	t := ctx.root.Trace
	return t != nil && slices.ContainsFunc(t.Frames, func(f traceback.Frame) bool { return containsAny(slashed(f.File), parts) })
}

// role reports whose pass failed if several models share a worker: actor, critic, ref or reward.
func role(ctx *Context, word string) verdict {
	have := roleOf(ctx.settings.block)
	if have == "" && ctx.run.Application == "roll" {
		return verdict{} // its roles run the same functions
	}
	for t, n := ctx.root.Trace, 0; t != nil && n < 4 && have == ""; t, n = t.Cause, n+1 {
		if t.Origin != nil {
			have = roleOf(t.Origin.Method)
		}
		for i := 0; i < len(t.Frames) && have == ""; i++ {
			have = roleOf(t.Frames[i].Func)
		}
	}
	if have == "" {
		return verdict{}
	}
	return verdict{truthOf(have == word), "it was the " + have + " that failed"}
}

// roles lists the models of a worker with parts of functions that only they run, and their blocks in ROLL's configuration. The first
// match counts.
var roles = []struct {
	name      string
	functions []string
}{
	{"critic", []string{"update_critic", "compute_values", "critic_", "critic."}},
	{"ref", []string{"ref_log_prob", "reference."}},
	{"reward", []string{"compute_rm_score", "update_rm"}},
	{"actor", []string{"update_actor", "update_policy", "compute_log_prob", "train_actor", "actor_train."}},
}

func roleOf(function string) string {
	function = strings.ToLower(function)
	for _, r := range roles {
		if containsAny(function, r.functions) {
			return r.name
		}
	}
	return ""
}

// weightsLoaded reports whether an engine failed after its weights were on the card. TensorRT-LLM names the component that
// it could not create (tensorrt_llm/_torch/pyexecutor/py_executor_creator.py); TensorRT fails while it reads an engine.
func weightsLoaded(ctx *Context, _ string) verdict {
	if ctx.is("built_context") || cacheOfAnother(ctx) > 0 {
		return verdict{yes, "the weights were loaded"}
	}
	if ctx.is("engine_loads") || strings.EqualFold(ctx.root.Fields["method"], "model") || readsEngine(ctx) {
		return verdict{no, "the weights were not loaded yet"}
	}
	return verdict{yes, "the weights were loaded"}
}

// readsEngine reports whether TensorRT failed while it read an engine.
func readsEngine(ctx *Context) bool {
	return ctx.messageContains("deserialize", "requested amount of gpu memory")
}

// cacheOfAnother returns the cache of keys and values that TensorRT-LLM made for a model of the same server before it read the engine of one
// that failed, 0 if there is none.
func cacheOfAnother(ctx *Context) int64 {
	g, ok := lastReading(ctx.run, "trtllm.cache")
	n, _ := g.Fields.Int("used")
	if !ok || !readsEngine(ctx) || g.At.Source == ctx.root.At.Source && g.At.Line > ctx.root.At.Line {
		return 0
	}
	return max(n, 0)
}

// dataParallel reports whether the failing stack passes through DataParallel, which gathers outputs on its first card.
func dataParallel(ctx *Context, _ string) verdict {
	if ctx.passesThrough("nn/parallel/data_parallel.py", "nn/parallel/scatter_gather.py", "nn/parallel/replicate.py") && !ctx.stackContains(60, "return self.module(*inputs[0]") {
		return verdict{yes, "one process works with several GPUs and gathers their outputs on the first"}
	}
	return verdict{no, "no DataParallel in the stack"}
}

// logits reports whether a tensor of tokens times vocabulary failed: the head, a softmax, a loss or an entropy over it.
func logits(ctx *Context, _ string) verdict {
	if ctx.root.Trace == nil {
		return verdict{}
	}
	at, _ := failedPlace(ctx)
	if at != memory.Elsewhere && at != memory.Unnamed && at != memory.Logits ||
		!callsOn(ctx, 8, "logits", "lm_head", "log_softmax", "logprobs", "log_probs", "logps", "cross_entropy", "entropy", "vocab_parallel", "logsumexp") {
		return verdict{no, "the stack does not end in the logits"}
	}
	why := "the request came from the logits, the tensor of tokens times vocabulary"
	if v := ctx.model.Vocab; v.Value > 0 {
		why += fmt.Sprintf(" (%s)", v)
	}
	return verdict{yes, why}
}

// callsOn reports whether one of the innermost n frames is a function with one of the words or its code uses such a variable.
// Assignment targets of outer frames do not count: the call never returned.
func callsOn(ctx *Context, n int, words ...string) bool {
	all := ctx.root.Trace.Frames
	all = all[max(0, len(all)-n):]
	for i := range all {
		code := all[i].Code
		if i < len(all)-1 {
			code = called(code)
		}
		if containsAny(strings.ToLower(all[i].Func+" "+code), words) {
			return true
		}
	}
	return false
}

// recomputes reports whether the failing stack passes through what recomputes a layer, or a switch is on. TorchTitan's selective mode passes
// there, too, and keeps most of a layer.
func recomputes(ctx *Context, _ string) verdict {
	if ctx.is("activation_checkpoint.mode=selective") {
		return verdict{}
	}
	if ctx.phase == "backward" && ctx.passesThrough(recomputers...) {
		return verdict{yes, "activations are recomputed already: it failed while a layer was"}
	}
	if ctx.phase == "forward" && (ctx.passesThrough(recomputers...) || ctx.stackContains(12, "blocks_per_ckpt")) {
		return verdict{yes, "activations are recomputed already: the stack passes through a checkpointed block"}
	}
	if v := read(ctx, "llamafactory.recomputes", "LLaMA-Factory says that gradient checkpointing is on"); v.truth == yes {
		return v
	}
	if f, t := ctx.settings.flag(cause.RecomputeKeys...); t == yes && !programOf(ctx.run).Colocate { // more than one model trains there
		return verdict{yes, f.key + " is " + f.value.Value + " already"}
	}
	return verdict{}
}

// recomputers lists the files that run a part of a model without keeping its activations.
var recomputers = []string{"torch/utils/checkpoint.py", "core/tensor_parallel/random.py", "activation_checkpointing/checkpointing.py"}

// wholeGathered reports whether sharded parameters are gathered in one piece as large as the model in 16 bits.
func wholeGathered(ctx *Context, _ string) verdict {
	at, _ := failedPlace(ctx)
	p, r := ctx.model.Parameters.Value, ctx.root.Requested
	if n, ranks := ctx.run.Model.Trained, ctx.run.WorldSize; n != nil && ranks != nil {
		if why := cause.AllShards(r, *n, int64(*ranks), strings.HasPrefix(ctx.run.Backend, "fsdp")); why != "" {
			return verdict{yes, why}
		}
	}
	if why := cause.AllReduced(r, p, strings.HasPrefix(ctx.run.Backend, "fsdp") && ctx.stackContains(4, "foreach_reduce")); why != "" {
		return verdict{yes, why}
	}
	if at != memory.Gather || p > mostParameters || r == nil || p > 0 && *r < 19*p/10 || ctx.phase == "checkpoint" || ctx.phase == "weight_update" {
		return verdict{no, "no request is the whole model"}
	}
	if p <= 0 {
		if total := ctx.root.Total; total == nil || *r < *total/8 || !ctx.passesThrough("torch/distributed/fsdp/") {
			return verdict{}
		}
		return verdict{yes, "one request is larger than a layer: the whole model is gathered at once"}
	}
	return verdict{yes, "one request is the whole model, gathered at once"}
}

// keepsScores reports whether TRL's PPO, or its RLOO before 0.22, generated the answers of a rollout. Its pieces bound one call of the
// model, but it keeps the scores of all pieces and pads them into one tensor more (trl/trainer/utils.py, batch_generation). Samples that
// it generates to look at have no such batch.
func keepsScores(ctx *Context, _ string) verdict {
	if !ctx.stackContains(engineDepth, "batch_generation ") || ctx.stackContains(engineDepth, "generate_completions ") {
		return verdict{no, "no rollout keeps the scores of its answers"}
	}
	return verdict{yes, "the scores of all answers of a rollout are kept, however few are generated at a time"}
}

// fullScores reports whether attention built its scores in full: samples x heads x length x length.
func fullScores(ctx *Context, _ string) verdict {
	if at, _ := failedPlace(ctx); at == memory.Attention || len(ctx.request) > 0 && ctx.request[0].What == "attention" || ctx.is("own_layers") && ctx.stackContains(1, "q @ k", "torch.matmul(q", "torch.bmm(q", "baddbmm") {
		return verdict{yes, "attention builds its scores in full, which grow with the square of the length"}
	}
	if total := ctx.root.Total; total != nil && memory.TakesFlashAttention(*total) && cause.ScoresOfFallback(ctx.input()) != "" {
		return verdict{yes, "scaled_dot_product_attention builds its scores in full here, and the card supports FlashAttention 2"}
	}
	return verdict{}
}

func dataWorkers(ctx *Context, _ string) verdict {
	if ctx.phase == "data" || dataLoader.seen(ctx) {
		return verdict{yes, "it failed in data loading"}
	}
	if v := exportersGone(ctx, ""); v.truth == yes {
		return v
	}
	return augmentersGone(ctx, "")
}

// mapping reports whether processes of the datasets library failed. Their number is a separate setting.
func mapping(ctx *Context, _ string) verdict {
	if loadsDataset(ctx) {
		return verdict{no, "it failed in load_dataset, which writes what it reads"}
	}
	if ctx.stackContains(40, "iflatmap_unordered", "datasets/arrow_dataset.py", "datasets/dataset_dict.py") {
		return verdict{yes, "it failed in Dataset.map"}
	}
	if _, ok := memory.Reading(ctx.run, ctx.incident, "trainer.dataset_processes"); ok && ctx.phase == "data" || ctx.recognized("datasets.map_died") {
		return verdict{yes, "a process of Dataset.map was killed"}
	}
	if ctx.phase == "data" && strings.Contains(ctx.incident.PhaseWhy, " examples/s]") { // its progress bar
		return verdict{yes, "Dataset.map was the last stage"}
	}
	return verdict{}
}

// loadsDataset reports whether datasets was preparing a data set from files (datasets/builder.py), whose processes work as those of
// Dataset.map do, but write each piece of a file as they read it.
func loadsDataset(ctx *Context) bool {
	return ctx.passesThrough("datasets/builder.py") && !ctx.passesThrough("datasets/arrow_dataset.py", "_generator")
}

// fullState reports whether a checkpoint gathers the whole model on one rank.
func fullState(ctx *Context, _ string) verdict {
	for _, key := range []string{"ckpt_format", "fsdp_state_dict_type", "state_dict_type", "checkpoint_type"} {
		f, _ := ctx.settings.find(key, true)
		if v := strings.ToLower(f.value.Value); strings.HasPrefix(v, "torch_d") || strings.HasPrefix(v, "sharded") { // Megatron's torch_dist and torch_dcp
			return verdict{no, fmt.Sprintf("%s is %s: each rank saves its own part already", f.key, f.value.Value)}
		}
	}
	if f, ok := ctx.settings.find("save_precision", true); ok { // of sd-scripts and what is built on them
		return verdict{no, f.key + ": the script writes the whole model into one file"}
	}
	if ctx.run.Backend == "ddp" {
		return verdict{no, "the backend is ddp: every rank holds the whole model anyway"}
	}
	if ctx.phase == "checkpoint" || ctx.stackContains(40, "full_state_dict", "state_dict", "save_checkpoint", "gather_16bit") {
		return verdict{yes, "a checkpoint was being gathered"}
	}
	return verdict{}
}

// evaluating reports whether an evaluation failed.
func evaluating(ctx *Context, _ string) verdict {
	switch {
	case ctx.work.what == evaluationWork:
		return verdict{yes, ctx.work.why}
	case ctx.root.Trace == nil:
		return verdict{}
	}
	return verdict{no, "this was not an evaluation"}
}

// keepsOutputs reports whether an evaluation of the script's own joins the outputs that it kept of all batches.
func keepsOutputs(ctx *Context, _ string) verdict {
	if ctx.is("evaluating") && ctx.is("own_layers") && ctx.stackContains(1, "torch.cat(", "torch.stack(", "torch.concat(", "torch.vstack(") && !ctx.stackContains(1, "forward ") {
		return verdict{yes, "the outputs of all batches were kept on the card"}
	}
	return verdict{no, "no outputs of several batches were joined"}
}

// keepsOnCard reports whether a script's memory grows from batch to batch though it trains nothing and computes no gradients: it keeps what
// the batches return.
func keepsOnCard(ctx *Context, _ string) verdict {
	if ctx.is("growing") && ctx.resource == "gpu" && programOf(ctx.run).ID == "torch" && ctx.work.untrained() && ctx.is("in_no_grad") && !ctx.is("own_cache") && !ctx.is("engine_process") {
		return verdict{yes, "memory grows from batch to batch without gradients: their outputs are kept on the card"}
	}
	return verdict{no, "no outputs of batches are known to be kept on the card"}
}

// beforeLayers reports whether the stack ends where an input is padded, joined or moved, and calls no layer of a model.
func beforeLayers(ctx *Context) bool {
	t := ctx.root.Trace
	if t == nil || ctx.is("climbs") || !ctx.stackContains(2, "functional.pad(", "f.pad(", "pad_sequence(", ".to(", ".cuda(", "torch.stack(") {
		return false
	}
	return !slices.ContainsFunc(t.Frames, func(f traceback.Frame) bool {
		return slices.Contains([]string{"forward", "_call_impl", "_wrapped_call_impl", "__call__"}, f.Func) || strings.Contains(f.Code, "model(")
	})
}

// textEncoders are parts of the paths of models that encode whole texts.
var textEncoders = []string{
	"/pytorch_transformers/modeling_", "/pytorch_pretrained_bert/", "/transformers/modeling_bert", "/transformers/modeling_roberta", "/transformers/models/bert/", "/transformers/models/roberta/",
	"/transformers/models/xlm_roberta/", "/transformers/models/deberta", "/transformers/models/electra/", "/transformers/models/distilbert/", "/transformers/models/mpnet/", "/transformers/models/longformer/",
	"/transformers/models/albert/", "/transformers/models/camembert/", "/transformers/models/modernbert/",
}

// joinsOutputs reports whether a script that evaluates or infers failed in host memory where it joined what it had kept of all batches.
// Code that loads data joins arrays, too.
func joinsOutputs(ctx *Context, _ string) verdict {
	t := ctx.root.Trace
	if ctx.resource != "host" || t == nil || len(t.Frames) == 0 || !ctx.is("own_layers") {
		return verdict{}
	}
	script := slashed(t.Frames[0].File)
	evaluates := evalScript().MatchString(script) || inferScript().MatchString(script) || evaluates(ctx) || framesMatch(ctx, inferName().MatchString)
	joins := ctx.stackContains(1, "torch.cat(", "torch.stack(", "torch.concat(", "torch.vstack(", "np.concatenate(", "np.vstack(", "np.stack(") && !ctx.stackContains(1, "forward ", "collate", "__getitem__", "load")
	return verdict{truthOf(evaluates && joins), "outputs of all batches were joined in host memory"}
}

// libraries are parts of the paths of models that a script did not write itself.
var libraries = []string{"-packages/", "transformers_modules", "/transformers/", "/diffusers/", "/nemo/collections/", "modeling_"}

// ownLayers reports whether the innermost frame that is not PyTorch's belongs to no installed package.
func ownLayers(ctx *Context, _ string) verdict {
	t := ctx.root.Trace
	if t == nil {
		return verdict{}
	}
	for i := len(t.Frames) - 1; i >= 0; i-- {
		file := strings.ReplaceAll(t.Frames[i].File, "\\", "/")
		if strings.Contains(file, "/torch/") || file == "<string>" { // generated code
			continue
		}
		return verdict{truthOf(!containsAny(file, libraries)), "the failed layer is the script's own"}
	}
	return verdict{}
}

// typedPrograms load weights in the type of their own setting, 16 bits by default.
var typedPrograms = []string{"verl", "areal", "slime", "relax", "openrlhf", "nemo_rl", "skyrl", "roll", "prime_rl", "torchtune", "torchtitan", "easyr1", "deepspeed", "megatron", "unsloth"}

// movedWhole reports whether code moves a model that it has just loaded to one card.
func movedWhole(ctx *Context, _ string) verdict {
	if !ctx.stackContains(40, "from_pretrained(") || ctx.is("launcher:torchrun") || ctx.is("one_gpu") {
		return verdict{}
	}
	if ctx.stackContains(12, ".cuda(", "cuda return self._apply", ".to(device", "to return self._apply") || ctx.stackContains(40, `device_map="cuda`, `device_map='cuda`, `device_map={"": 0}`, `device_map={'': 0}`) {
		return verdict{yes, "the model is moved whole to one card"}
	}
	return verdict{}
}

// vision reports whether the failing stack passes through a model's vision tower, or through an engine's profiling run with
// pictures.
func vision(ctx *Context, _ string) verdict {
	const why = "images take memory for each of their patches"
	parts := []string{"visual", "vision", "/vit", "mllama", "_vl/", "_vl.py", "encode_image", "image_encoder", "multimodal", "mm_encoder", "enc_dec_model_runner"}
	if ctx.passesThrough("/models/whisper") {
		return verdict{no, "it encodes audio"}
	}
	if ctx.stackContains(30, parts...) {
		return verdict{yes, why}
	}
	if t := ctx.root.Trace; t != nil && slices.ContainsFunc(t.Frames[max(0, len(t.Frames)-12):], func(f traceback.Frame) bool { return containsAny(slashed(f.File), parts) }) {
		return verdict{yes, why}
	}
	return verdict{}
}

// inNoGrad reports whether gradients are off: the stack passes through PyTorch's context for that or through the evaluation of
// a trainer that uses it, or the program serves.
func inNoGrad(ctx *Context, _ string) verdict {
	if ctx.stackContains(60, "no_grad", "inference_mode") || ctx.passesThrough("/diffusers/pipelines/") { // whose calls have it
		return verdict{yes, "gradients are off already"}
	}
	if _, shown := lastReading(ctx.run, "script.no_grad"); shown && ctx.work.untrained() {
		return verdict{yes, "the script turns gradients off"}
	}
	if t := ctx.root.Trace; t != nil && ctx.work.untrained() && !slices.ContainsFunc(t.Frames, func(f traceback.Frame) bool {
		return !strings.Contains(slashed(f.File), "-packages/") && !strings.Contains(slashed(f.File), "/bin/")
	}) {
		return verdict{yes, "an installed program infers, not code of one's own"}
	}
	if ctx.work.what == servingWork || ctx.work.untrained() && (ctx.passesThrough(withoutGradients...) || ctx.passesThrough(inferenceFiles...)) {
		return verdict{yes, "gradients are off already"}
	}
	if ctx.passesThrough("torch/utils/_contextlib.py", "torch/autograd/grad_mode.py") || ctx.passesThrough("/diffusers/pipelines/") && ctx.stackContains(60, "__call__ ") && len(ctx.run.Growth) == 0 || ctx.is("evaluating") && ctx.passesThrough("/transformers/trainer", "/lightning/", "/pytorch_lightning/", "/fairseq/", "/composer/", "/mmengine/") {
		return verdict{yes, "gradients are off already"}
	}
	return verdict{}
}

// swapsBlocks reports whether a script of sd-scripts or musubi-tuner failed that can keep blocks of a diffusion transformer in host
// memory: those for FLUX.1 and SD3 since November 2024, and all of musubi-tuner's. They read what they swap into host memory, so it need
// not fit on the card.
func swapsBlocks(ctx *Context, _ string) verdict {
	const why = "the script can keep blocks of the transformer in host memory"
	if ctx.phase == "init" && ctx.passesThrough("/musubi_tuner/", "/hv_train_network.py") && ctx.passesThrough("_train_network.py", "_train.py") && ctx.stackContains(40, "load_transformer ") {
		return verdict{yes, why}
	}
	scripts := ctx.passesThrough("/flux_train.py", "/flux_train_network.py", "/sd3_train.py", "/sd3_train_network.py")
	if ctx.phase == "init" && scripts && ctx.stackContains(40, "accelerator.prepare(") { // which moves all blocks but those to swap
		return verdict{yes, why}
	}
	return verdict{truthOf((scripts || ctx.passesThrough("/musubi_tuner/", "/hv_train_network.py")) && trains(ctx)), why}
}

// partsOffloaded reports whether accelerate's hooks load the model's parts onto the card on use.
func partsOffloaded(ctx *Context, _ string) verdict {
	stack := wholeStack(ctx)
	if slices.ContainsFunc(stack[max(0, len(stack)-12):], func(f string) bool { return strings.Contains(f, "accelerate/hooks.py") }) {
		return verdict{yes, "parts of the pipeline come to the card one after the other already"}
	}
	for _, key := range []string{"cpu_offload", "enable_model_cpu_offload", "model_cpu_offload"} {
		if f, t := ctx.settings.flag(key); t == yes && ctx.is("infers") {
			return verdict{yes, f.key + " is on"}
		}
	}
	return verdict{}
}

// overPairs reports whether each sample is a pair of answers: the code says so, or a trainer failed that trains on nothing else.
func overPairs(ctx *Context, name string) verdict {
	if v := pairs.ask(ctx, name); v.truth == yes || !ctx.passesThrough("/openrlhf/trainer/dpo_trainer.py", "/openrlhf/trainer/rm_trainer.py", "/trl/scripts/dpo.py", "/train/dpo/workflow.py", "/train/rm/trainer.py") {
		return v
	}
	return verdict{yes, "its trainer puts the two answers of each pair into one batch"}
}

// prefers reports whether TRL's trainer for pairs failed: it cuts them at max_length.
func prefers(ctx *Context, _ string) verdict {
	files := []string{"/orpo_trainer.py", "/dpo_trainer.py", "/cpo_trainer.py", "/kto_trainer.py", "ORPOTrainer.py", "DPOTrainer.py", "CPOTrainer.py", "KTOTrainer.py"}
	return verdict{truthOf(isSet(ctx, "max_length").truth == yes && ctx.passesThrough(files...)), "the trainer cuts pairs at max_length"}
}

// qwenVision matches the names of Qwen's models that see.
var qwenVision = lazyre.New(`(?i)qwen\d?(?:\.\d)?-?vl`)

// ligerModels begin the names of the models of transformers that Liger has kernels for (liger_kernel/transformers/monkey_patch.py).
var ligerModels = []string{
	"exaone4", "falcon_h1", "gemma", "glm4", "gpt_oss", "granite", "hunyuan", "internvl", "llama", "llava", "ministral", "mistral", "mixtral", "mllama", "nemotron", "olmo", "paligemma", "phi3",
	"pixtral", "qwen2", "qwen3", "smollm3",
}

var modelFolder = lazyre.New(`/transformers/models/([^/]+)/`)

// withoutLiger returns why Liger's kernels do nothing for the model that failed, or "".
func withoutLiger(ctx *Context) string {
	if ctx.recognisedAs("mps.") {
		return "Liger's kernels are Triton's, which does not know MPS"
	}
	name := ""
	for _, f := range wholeStack(ctx) {
		if strings.Contains(f, "/modeling_") && !containsAny(f, []string{"-packages/", "/transformers/"}) {
			return "Liger has no kernels for models that bring their own code"
		}
		if m := modelFolder().FindStringSubmatch(f); m != nil {
			name = m[1]
			if slices.ContainsFunc(ligerModels, func(known string) bool { return strings.HasPrefix(name, known) }) {
				return ""
			}
		}
	}
	if name == "" {
		return ""
	}
	return "Liger has no kernels for " + name
}

// inLayer reports whether it failed inside a layer of the model, before any logits.
func inLayer(ctx *Context) bool {
	place, _ := failedPlace(ctx)
	return place == memory.MLP || place == memory.Attention || slices.ContainsFunc(wholeStack(ctx), func(f string) bool {
		return containsAny(f, []string{"/transformer_layer.py", "decoder_layer(", " h = layer("}) // Megatron, transformers, torchtune
	})
}

// keepsNoCopy reports whether a loss that failed in the forward pass has made no copy of the logits before: beside them, the
// tensors on the card are smaller than the request. Megatron's models return logits in float32 (core/transformer/module.py).
func keepsNoCopy(ctx *Context) bool {
	r := ctx.root
	return ctx.phase == "forward" && r.Requested != nil && r.Allocated != nil && *r.Allocated < 2**r.Requested
}
