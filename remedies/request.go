package remedies

import (
	"fmt"
	"slices"
	"strings"

	"oomscan/parser"
	"oomscan/parser/lazyre"
	"oomscan/parser/traceback"
	"oomscan/remedies/memory"
)

// explainRequest lists what the failed request may have been, the likeliest first; see memory.Explain.
func explainRequest(ctx *Context) []memory.Explanation {
	r := ctx.root
	if r.Requested == nil || *r.Requested <= 0 {
		return nil
	}
	switch ctx.incident.Kind {
	case parser.GPUOOM, parser.GPUDriverOOM:
	case parser.HostOOM:
		return hostRequest(ctx)
	default:
		return nil
	}
	if ctx.is("joined_evaluation") || ctx.stackContains(2, "log_softmax(row_logits") {
		return nil // as many rows as the evaluation has had, of whatever the model returns; or one sample of the batch (trl/trainer/utils.py)
	}
	place, wide := failedPlace(ctx)
	q := &memory.Request{
		Size: memory.Printed(*r.Requested, r.Message), Bytes: *r.Requested, Block: strings.Contains(strings.ToLower(r.Message), "tried to allocate"),
		Place: place, Wide: wide, Limit: ctx.limit, States: stateSizes(ctx),
	}
	switch ctx.phase {
	case "forward", "backward", "logprob", "training":
		q.Tokens = true
	}
	m := ctx.model
	q.Inner, q.Heads, q.Shape = m.Inner, m.Heads, rankShape(ctx)
	if ctx.stackContains(8, "experts", "/moe/") {
		q.Inner = memory.Figure{} // a layer of experts has another width, and the tokens routed to them
	}
	q.Making, q.Fresh = newTensor(ctx)
	q.Single, q.Cast = ctx.stackContains(2, "full_tensor", "_broadcast_tensors"), ctx.stackContains(2, ".to(casting_dtype", ".to(dtype", "param.to(", ".float()")
	q.Made = madeTensor(ctx, q)
	q.Vocab, q.VocabOf = rankVocabulary(ctx)
	q.Products = batches(ctx)
	if rows := draftRows(ctx); place == memory.Sampler && rows.Tokens > 0 {
		q.Products = []memory.Product{rows}
	}
	if t := ctx.root.Trace; t != nil && q.Vocab.Value == 0 && place == memory.Logits && len(t.Frames) > 0 {
		if n := widestRow(t.Frames[len(t.Frames)-1].Code); isVocabulary(n) {
			q.Vocab.Value = n
		}
	}
	if q.Vocab.Value == 0 && (place == memory.Logits || place == memory.Unnamed && q.Tokens) {
		q.Vocab.Value = vocabularyThatFits(q)
	}
	return memory.Explain(q)
}

// draftRows returns how many rows of the vocabulary a step of speculative decoding verifies at most, for all sequences and each token
// that is drafted for them, or nothing if a setting is unknown.
func draftRows(ctx *Context) memory.Product {
	sequences, ok1 := ctx.settings.integer("max_num_seqs", "max_running_requests")
	drafts, ok2 := draftTokens(ctx)
	if !ok1 || !ok2 || sequences > mostSamples {
		return memory.Product{}
	}
	return memory.Product{Tokens: sequences * drafts, Samples: sequences, How: fmt.Sprintf("%s sequences x %d drafted tokens", memory.Thousands(sequences), drafts)}
}

// draftTokens returns how many tokens are drafted for a sequence in a step.
func draftTokens(ctx *Context) (int64, bool) {
	n, ok := ctx.settings.integer("num_speculative_tokens", "num_spec_tokens", "speculative_num_draft_tokens")
	return n, ok && n > 0 && n < 1<<10
}

// hostRequest explains a request for host memory while weights are read: its size is exact.
func hostRequest(ctx *Context) []memory.Explanation {
	place, _ := failedPlace(ctx)
	if place != memory.Weights {
		return nil
	}
	n := *ctx.root.Requested
	q := &memory.Request{Size: memory.Printed(n, ctx.root.Message), Bytes: n, Place: place, Shape: rankShape(ctx)}
	q.Making, q.Fresh = newTensor(ctx)
	q.Cast = !q.Fresh
	return memory.Explain(q)
}

// madeTensor returns the failed tensor if the innermost code or the message has its shape.
func madeTensor(ctx *Context, q *memory.Request) *memory.Made {
	texts := []string{ctx.root.Message}
	if t := ctx.root.Trace; t != nil && len(t.Frames) > 0 {
		texts = append(texts, t.Frames[len(t.Frames)-1].Code)
	}
	for _, text := range texts {
		if m, ok := memory.FindMade(text, q.Blocks()); ok {
			return &m
		}
	}
	return nil
}

// vocabularyThatFits returns the vocabulary of a known model with which all tokens that the settings allow have the size of
// the request, or 0.
func vocabularyThatFits(q *memory.Request) int64 {
	if q.Limit != nil && q.Limit.Budget {
		return 0
	}
	tokens := q.Products
	if q.Limit != nil {
		tokens = []memory.Product{{Tokens: q.Limit.Tokens}}
	}
	for _, fits := range []func(n int64) bool{q.Size.Holds, q.Exactly} {
		var found []int64
		for _, v := range memory.Vocabularies() {
			if q.Place != memory.Logits && v&(v-1) == 0 { // a layer may be as wide
				continue
			}
			if slices.ContainsFunc(tokens, func(p memory.Product) bool { return !p.Tried && (fits(4*p.Tokens*v) || !q.Cast && fits(2*p.Tokens*v)) }) {
				found = append(found, v)
			}
		}
		if n := len(found); n > 0 && found[n-1]-found[0] < found[0]/200 { // vocabularies that differ prove nothing, except by padding
			return found[0]
		}
	}
	return 0
}

// mostTried is how many samples a micro-batch is tried with where no setting has their number.
const mostTried = 16

// Where no setting has the length either, multiples of lengthStep are tried. A printed size is exact to a few tokens, so other sizes rarely
// match one. The lowest is above the width of most models: an embedding and its gradient are as large as the logits of that many tokens.
const lengthStep, leastSteps, mostSteps = 4096, 3, 64

// batches returns the tokens of a batch as the settings have it, samples times length, where no bound of the failing phase is known. Where
// no setting has the number of samples, it tries small ones.
func batches(ctx *Context) []memory.Product {
	samples := []string{
		"micro_batch_size", "local_batch_size", "device_batch_size", "device_train_microbatch_size", "device_train_batch_size", "micro_train_batch_size_per_gpu", "micro_forward_batch_size_per_gpu",
		"per_device_train_batch_size", "train_batch_size", "batch_size",
	}
	if ctx.is("evaluating") {
		samples = []string{"per_device_eval_batch_size", "eval_batch_size"}
	}
	type length struct {
		tokens int64
		how    string
	}
	var lengths []length
	for _, k := range append([]string{"sequence_len", "seq_length", "seq_len", "sequence_length", "context_length"}, hfLengths[0]...) {
		if n, ok := ctx.settings.integer(k); ok && n < mostTokens {
			lengths = append(lengths, length{n, memory.Thousands(n)})
		}
	}
	prompt, ok1 := ctx.settings.integer("max_prompt_length", "prompt_max_len")
	answer, ok2 := ctx.settings.integer("max_response_length", "max_generate_length", "max_completion_length", "generate_max_len", "max_new_tokens")
	if ok2 && !ok1 && answer < mostTokens && ctx.run.Framework == "trl" { // its logits are of the completion alone (logits_to_keep)
		lengths = append(lengths, length{answer, memory.Thousands(answer)})
	}
	if ok1 && ok2 && max(prompt, answer) < mostTokens {
		lengths = append(lengths, length{prompt + answer, "(" + memory.Thousands(prompt) + " + " + memory.Thousands(answer) + ")"})
	}
	var out []memory.Product
	isSet := func(k string) bool { _, ok := ctx.settings.find(k, false); return ok }
	if !slices.ContainsFunc(samples, isSet) && !ctx.is("evaluating") {
		for n := int64(leastSteps); len(lengths) == 0 && n <= mostSteps; n++ {
			out = append(out, memory.Product{Tokens: n * lengthStep, Tried: true})
		}
		for _, l := range lengths {
			for n := int64(1); n <= mostTried; n++ {
				out = append(out, memory.Product{Tokens: n * l.tokens, Samples: n, How: memory.Thousands(n) + " x " + l.how, Tried: true})
			}
		}
		return out
	}
	for _, s := range samples {
		n, ok := ctx.settings.integer(s)
		if !ok && s == "per_device_eval_batch_size" && trainersEvaluation(ctx) {
			n, ok = 8, true // transformers/training_args.py
		}
		for _, l := range lengths {
			p := memory.Product{Tokens: n * l.tokens, Samples: n, How: memory.Thousands(n) + " x " + l.how}
			if ok && n < mostSamples && !slices.ContainsFunc(out, func(o memory.Product) bool { return o.Tokens == p.Tokens }) {
				out = append(out, p)
			}
		}
	}
	return out
}

// trainersEvaluation reports whether it failed in an evaluation by transformers' Trainer.
func trainersEvaluation(ctx *Context) bool {
	return ctx.is("evaluating") && ctx.passesThrough("/transformers/trainer")
}

// rankVocabulary returns how many entries of the vocabulary one rank's logits have. Megatron pads it to a multiple of 128
// per rank (megatron/training/tokenizer) and splits it over the ranks of tensor parallelism.
func rankVocabulary(ctx *Context) (memory.Figure, string) {
	if ctx.is("role:critic") || ctx.is("role:reward") {
		return memory.Figure{}, "" // their head gives one value a token
	}
	v := ctx.model.Vocab
	if v.Value <= 0 || !ctx.is("backend:megatron") || ctx.is("sampler") { // an engine samples from whole rows
		return v, ""
	}
	tp, ok := ctx.settings.integer(megatronTP...)
	if !ok || tp > 1024 {
		return memory.Figure{}, ""
	}
	padded := paddedVocabulary(ctx, v).Value
	how := ""
	if tp > 1 {
		how = fmt.Sprintf("%s / %d", memory.Thousands(padded), tp)
	}
	v.Value = padded / tp
	return v, how
}

// places maps words in functions, files and code to what a frame works on. The innermost match wins.
var places = []struct {
	place memory.Place
	words []string
}{
	{memory.Sampler, []string{"topk_topp", "top_k_top_p", "apply_top_k", "/sample/sampler.py", "rejection_sampler.py", "_dummy_sampler_run", "layers/sampler.py"}},
	{memory.Cache, []string{"exllamav2/cache", "exllamav3/cache", "allocate_kv_cache", "cache_engine.py", "transformers/cache_utils.py", "init_kv_cache", "memory_pool.py"}},
	{memory.Unpacked, []string{"dequantize", "matmul_4bit"}},
	{memory.Attention, []string{"eager_attention", "attn_logits", "attention_logits"}}, // some models call their scores logits, gpt-oss's code among them
	{memory.Logits, []string{
		"lm_head", "logits", "log_softmax", "cross_entropy", "crossentropy", "logsumexp", "entropy_from", "gather_logprobs", "logprobs_from", "output_layer", "selective_log_softmax", "generalized_jsd_loss",
		"transformer.py forward output = self.output(", "transformer.py forward self.output(", "model.py forward output = self.output(", "model.py forward self.output(", // torchtune's and TorchTitan's heads
		"distributed/model_utils.py", "megatron/model_utils.py", // log-probabilities over a split vocabulary: NeMo-RL's and SkyRL's
		"get_log_probs", "calculate_log_probs", "get_logprob_and_entropy", // slime's and its forks' (backends/megatron_utils/loss.py, backends/fsdp_utils/actor.py)
		"batch_generation pad(",               // TRL's scores of all answers of a rollout
		"convert_to_fp32",                     // accelerate's wrapper of the model's output
		"fp16_to_float32", "float_conversion", // Megatron's wrapper turns the model's output into float32 (megatron/core/transformer/module.py)
	}},
	{memory.Attention, []string{"attn_weights", "attention_scores", "unfused", "core_attention", "baddbmm", "rel_shift", "matrix_bd", ".py _attn ", "torch._softmax_backward_data("}},
	{memory.Gather, []string{
		"full_tensor", "all_gather_into_tensor", "all_gather_tensor", "_all_gather", "_to_replicate_tensor", "unshard", "summon_full_params", "gather_16bit", "full_state_dict",
		"gatheredparameters", "allgather",
	}},
	{memory.Buckets, []string{"param_and_grad_buffer", "_allocate_flat", "ipg_buffer", "average_tensor", "bucket"}},
	{memory.Weights, []string{"create_weights", "load_weights", "init_empty", "loader", "from_pretrained", "load_model", "setup_model", "__init__ self.weight", "parameter(", "load_state_dict_into", "tensor_parallel/layers.py __init__ "}},
	{memory.MLP, []string{"gate_proj", "up_proj", "down_proj", "act_fn", "linear_fc1", "linear_fc2", "/mlp.py", "mlp(", "swiglu", "silu"}},
	{memory.Optimizer, []string{"/optim/", "optimizer", "fused_adam", "adamw", "exp_avg", "cpu_adam", "sub_group", "fp32_groups", "fp32_partition"}},
}

// passing lists files whose frames only pass calls on.
var passing = []string{
	"torch/nn/modules/module.py", "torch/_tensor.py", "torch/autograd/", "torch/utils/_contextlib.py", "torch/_ops.py", "torch/_dynamo/", "torch/nn/modules/linear.py",
	"torch/utils/_device.py", "torch/nn/functional.py", "torch/_compile.py",
}

// nearFrames is how many frames count that do more than pass calls on.
const nearFrames = 4

// failedPlace returns what the innermost frames work on, and whether their elements have four bytes. Code that torch.compile writes,
// into torchinductor_USER, numbers its tensors: only their shape may show whose they are.
func failedPlace(ctx *Context) (memory.Place, memory.Truth) {
	t := ctx.root.Trace
	if t == nil || len(t.Frames) == 0 {
		return memory.Unnamed, 0
	}
	last := &t.Frames[len(t.Frames)-1]
	if in := strings.ToLower(slashed(last.File) + " " + last.Func); strings.Contains(in, "_engine_run_backward") || strings.Contains(last.Code, "_execution_engine.run_backward(") || strings.Contains(in, "torch/autograd/__init__") || strings.HasSuffix(slashed(last.File), "torch/_tensor.py") {
		return memory.Unnamed, 0 // the engine is C++: no frame shows whose gradient it was
	}
	asked := 0
	for i := len(t.Frames) - 1; i >= 0 && asked < nearFrames; i-- {
		f := &t.Frames[i]
		through := passes(f.File)
		code := f.Code
		if asked > 0 {
			code = called(code)
		}
		if p := placeOf(f.File, f.Func+" "+code, through); p != memory.Elsewhere {
			return p, elementWidth(ctx, i)
		}
		if !through {
			asked++
		}
	}
	if strings.Contains(last.File, "torchinductor") {
		if n := widestRow(last.Code); n >= widerThanAnyLayer || isVocabulary(n) {
			return memory.Logits, elementWidth(ctx, len(t.Frames)-1)
		}
		return memory.Unnamed, elementWidth(ctx, len(t.Frames)-1)
	}
	return memory.Elsewhere, 0
}

// widerThanAnyLayer is more elements than a token has in a layer: the two halves of a gated MLP of 70 billion parameters have 57,344.
const widerThanAnyLayer = 60_000

// compiledShape finds the size of the last dimension, of two or more, in an allocation by code that torch.compile wrote.
var compiledShape = lazyre.New(`empty_strided_cuda\(\((?:[\w*+ -]{1,40}, ){1,4}(\d{1,9})\),`)

// widestRow returns how many elements a row of the tensor has that a line of such code allocates, or 0.
func widestRow(code string) int64 {
	m := compiledShape().FindStringSubmatch(code)
	if m == nil {
		return 0
	}
	n, _ := parseInt(m[1])
	return n
}

// isVocabulary reports whether a width is that of a known model's vocabulary, and of no layer: those are mostly powers of two.
func isVocabulary(n int64) bool { return n&(n-1) != 0 && slices.Contains(memory.Vocabularies(), n) }

// assigned matches the left side of an assignment.
var assigned = lazyre.New(`^[\w\s.,\[\]:"'()*]{1,200}?[^=!<>+\-*/]=([^=].*)$`)

// called returns what a line of code calls, the only part of an outer frame that shows where the failure was. The assigned
// variable never came to exist, and the arguments already existed.
func called(code string) string {
	code = strings.TrimSpace(code)
	if i := strings.IndexByte(code, '('); i < 0 || strings.Contains(code[:i], "=") {
		if m := assigned().FindStringSubmatch(code); m != nil {
			code = strings.TrimSpace(m[1])
		}
	}
	if i := strings.IndexByte(code, '('); i >= 0 {
		code = code[:i+1]
	}
	return code
}

// slashed returns a path with slashes. For libraries it returns only the part after the library folder: an environment may be
// named after a library.
func slashed(path string) string {
	path = strings.ReplaceAll(path, "\\", "/")
	for _, folder := range []string{"/site-packages/", "/dist-packages/"} {
		if i := strings.LastIndex(path, folder); i >= 0 {
			return path[i+len(folder)-1:]
		}
	}
	if strings.Contains(path, "/") && !strings.HasPrefix(path, "/") && !strings.ContainsAny(path, "<:") {
		return "/" + path // of a program that is bundled with its modules
	}
	return path
}

// passes reports whether a file's code only passes calls on.
func passes(file string) bool { return containsAny(slashed(file), passing) }

// placeOf reads a frame's place from its words, and from its file unless that only passes on.
func placeOf(file, code string, through bool) memory.Place {
	where := strings.ToLower(code)
	if !through {
		where = strings.ToLower(slashed(file)) + " " + where
	}
	for _, p := range places {
		if containsAny(where, p.words) {
			return p.place
		}
	}
	return memory.Elsewhere
}

// elementWidth finds out from the frame at a place and the frames inside it whether elements have four bytes: tensors converted
// to float32 do, the head's own output has two.
func elementWidth(ctx *Context, at int) memory.Truth {
	frames := ctx.root.Trace.Frames[at:]
	for i := range frames {
		code := strings.ToLower(frames[i].Code)
		if i < len(frames)-1 {
			code = strings.TrimSuffix(code, ".float()") // its call failed before
		}
		if containsAny(code, []string{".float()", "float32", "float_conversion", "torch.float)", "dtype=torch.float,"}) || samplesFloats(&frames[i]) {
			return memory.Yes
		}
	}
	if containsAny(strings.ToLower(frames[0].Code), []string{"lm_head(", "output_layer(", "self.output("}) {
		return memory.No
	}
	return 0
}

// samplesFloats reports whether a frame computes probabilities in an engine's sampler, whose logits are in float32.
func samplesFloats(f *traceback.Frame) bool {
	return containsAny(f.Code, []string{"softmax(", "/ temperature"}) && placeOf(f.File, "", false) == memory.Sampler
}

// gradientBucket is what DeepSpeed makes at the start of the backward pass, before any gradient.
const gradientBucket = "a bucket of gradients"

// stateSizes returns the sizes that the settings predict for buffers and for parts of the model's state.
func stateSizes(ctx *Context) []memory.State {
	var out []memory.State
	if n, ok := ctx.settings.integer("zero_optimization.sub_group_size", "sub_group_size"); ok && n < 1<<40 {
		out = append(out, memory.State{
			What: "one group of the optimizer's state in fp32", How: "sub_group_size " + memory.Thousands(n) + " x 4 bytes", Bytes: 4 * n, Key: "zero_optimization.sub_group_size",
			Places: []memory.Place{memory.Optimizer},
		})
	}
	if n, ok := ctx.settings.integer("zero_optimization.reduce_bucket_size", "reduce_bucket_size"); ok && n < 1<<40 {
		out = append(out, memory.State{
			What: gradientBucket, How: "reduce_bucket_size " + memory.Thousands(n) + " x 2 bytes", Bytes: 2 * n, Key: "zero_optimization.reduce_bucket_size",
			Places: []memory.Place{memory.Buckets},
		})
	}
	if ctx.phase == "weight_update" {
		if n, ok := ctx.settings.integer("update_weight_buffer_size"); ok && n < 1<<40 {
			out = append(out, memory.State{What: "the buffer of the weight update", How: "--update-weight-buffer-size " + memory.Thousands(n), Bytes: n, Key: "--update-weight-buffer-size"})
		}
		for _, k := range []string{"actor_rollout_ref.rollout.checkpoint_engine.update_weights_bucket_megabytes", "actor_rollout_ref.rollout.update_weights_bucket_megabytes"} {
			if n, ok := ctx.settings.integer(k); ok && n < 1<<20 {
				out = append(out, memory.State{What: "a bucket of the weight update", How: fmt.Sprintf("update_weights_bucket_megabytes %d MiB", n), Bytes: n << 20, Key: k})
			}
		}
	}
	const scratch = 3 << 29 // faiss/gpu/StandardGpuResources.cpp: 1.5 GiB, less on small cards
	if ctx.messageContains("temporarymemorybuffer") {
		out = append(out, memory.State{What: "FAISS's scratch memory, which no batch changes", How: "3 x 512 MiB by default", Bytes: scratch, Key: "setTempMemory"})
	}
	return slices.Concat(out, shardSizes(ctx), cacheSizes(ctx))
}

// contextLengths are settings for the longest sequence of a cache. Without one of them a cache is as long as the model allows.
var contextLengths = []string{"max_seq_len", "max_model_len", "n_ctx", "context_length", "max_position_embeddings"}

// cacheSizes returns the sizes of the cache of one layer, keys or values or both, for the longest sequence.
func cacheSizes(ctx *Context) []memory.State {
	const most = 1 << 12
	m := ctx.model
	f := setting{}
	for _, k := range contextLengths {
		if g, ok := ctx.settings.find(k, true); ok && f.key == "" && !isNone(g.value.Value) {
			f = g
		}
	}
	tokens, ok := parseInt(f.value.Value)
	kv, dim := m.KVHeads.Value, m.HeadDim.Value
	if !ok || tokens < 1 || tokens > mostTokens || kv < 1 || kv > most || dim < 1 || dim > most || latentAttention(ctx) {
		return nil
	}
	var out []memory.State
	for _, parts := range []int64{1, 2} {
		s := memory.State{
			What: memory.LayerCache, How: fmt.Sprintf("%s tokens (%s) x %d key-value heads x %d x 2 bytes", memory.Thousands(tokens), f.key, kv, dim), Bytes: parts * tokens * kv * dim * 2, Key: f.key,
			Places: []memory.Place{memory.Cache},
		}
		if parts == 2 {
			s.How = "2 x " + s.How
		}
		if l := m.Layers.Value; l > 0 && l < most {
			s.More = fmt.Sprintf("; %s for %d layers", memory.GiB(2/parts*l*s.Bytes), l)
		}
		out = append(out, s)
	}
	return out
}

// shardSizes returns the sizes of the model's parameters and Adam's states in fp32 as one flat tensor of a rank.
func shardSizes(ctx *Context) []memory.State {
	p := ctx.model.Parameters
	if p.Value <= 0 || p.Value > 1<<45 || trainsAdapters(ctx) {
		return nil
	}
	// Megatron keeps them flat per data type and per bucket, so there is no prediction.
	ranks, ok := ctx.gpus()
	if !ok || !ctx.is("backend:fsdp") && !ctx.is("backend:deepspeed") {
		return nil
	}
	var out []memory.State
	for _, t := range []struct {
		what  string
		bytes int64
	}{{"a rank's part of all parameters, or of one of Adam's moments, in fp32", 4}, {"a rank's part of all parameters in 16 bits", 2}} {
		out = append(out, memory.State{
			What: t.what, How: fmt.Sprintf("%s parameters%s x %d bytes / %d ranks", p, fromName(p), t.bytes, ranks), Bytes: p.Value / ranks * t.bytes,
			Places: []memory.Place{memory.Optimizer, memory.Buckets, memory.Gather},
		})
	}
	return out
}
