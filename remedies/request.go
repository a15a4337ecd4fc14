package remedies

import (
	"fmt"
	"slices"
	"strings"

	"oomscan/parser"
	"oomscan/remedies/memory"
)

// explained says what the failed request can have been, the likeliest first; see memory.Explain.
func (s *scene) explained() []memory.Explanation {
	if s.asked {
		return s.request
	}
	s.asked = true
	r := &s.in.Root
	if s.in.Kind != parser.GPUOOM && s.in.Kind != parser.GPUDriverOOM || r.Requested == nil || *r.Requested <= 0 {
		return nil
	}
	place, wide := s.place()
	q := &memory.Request{
		Size: memory.Printed(*r.Requested, r.Message), Bytes: *r.Requested, Block: strings.Contains(strings.ToLower(r.Message), "tried to allocate"),
		Place: place, Wide: wide, Limit: s.limit(), States: s.states(),
	}
	switch s.phase {
	case "forward", "backward", "logprob", "training":
		q.Tokens = true
	}
	m := s.model()
	q.Hidden, q.Inner, q.Heads = m.Hidden, m.Inner, m.Heads
	q.Vocab, q.VocabOf = s.vocabulary()
	s.request = memory.Explain(q)
	return s.request
}

// vocabulary is how many entries of it one rank's logits have. Megatron pads it to a multiple of 128 per rank
// (megatron/training/tokenizer) and splits it over the ranks of tensor parallelism.
func (s *scene) vocabulary() (memory.Figure, string) {
	v := s.model().Vocab
	if v.Value <= 0 || backend(s, "megatron").truth != yes {
		return v, ""
	}
	tp, ok := s.settings.integer("actor_rollout_ref.actor.megatron.tensor_model_parallel_size", "policy.megatron_cfg.tensor_model_parallel_size", "tensor_model_parallel_size", "actor.tensor_model_parallel_size")
	if !ok || tp > 1024 {
		return memory.Figure{}, ""
	}
	by := int64(128)
	if n, ok := s.settings.integer("make_vocab_size_divisible_by"); ok && n < 1<<20 {
		by = n
	}
	padded := (v.Value + by*tp - 1) / (by * tp) * by * tp
	how := ""
	if tp > 1 {
		how = fmt.Sprintf("%s / %d", memory.Thousands(padded), tp)
	}
	v.Value = padded / tp
	return v, how
}

// places tell by words in functions, files and code what a frame works on. The innermost frame that tells wins.
var places = []struct {
	place memory.Place
	words []string
}{
	{memory.Sampler, []string{"topk_topp", "top_k_top_p", "apply_top_k", "/sample/sampler.py", "_dummy_sampler_run", "layers/sampler.py"}},
	{memory.Logits, []string{
		"lm_head", "logits", "log_softmax", "cross_entropy", "crossentropy", "logsumexp", "entropy_from", "gather_logprobs", "logprobs_from", "output_layer", "selective_log_softmax",
	}},
	{memory.Attention, []string{"eager_attention", "attn_weights", "attention_scores", "unfused", "core_attention", "baddbmm"}},
	{memory.Gather, []string{
		"full_tensor", "all_gather_into_tensor", "all_gather_tensor", "_all_gather", "_to_replicate_tensor", "unshard", "summon_full_params", "gather_16bit", "full_state_dict",
		"gatheredparameters", "allgather",
	}},
	{memory.Buckets, []string{"param_and_grad_buffer", "_allocate_flat", "ipg_buffer", "average_tensor", "bucket"}},
	{memory.Weights, []string{"create_weights", "load_weights", "init_empty", "loader", "from_pretrained", "load_model", "setup_model"}},
	{memory.MLP, []string{"gate_proj", "up_proj", "down_proj", "act_fn", "linear_fc1", "linear_fc2", "/mlp.py", "mlp(", "swiglu", "silu"}},
	{memory.Optimizer, []string{"/optim/", "optimizer", "fused_adam", "adamw", "exp_avg", "cpu_adam", "sub_group"}},
}

// plumbing are frames that only pass on.
var plumbing = []string{
	"torch/nn/modules/module.py", "torch/_tensor.py", "torch/autograd/", "torch/utils/_contextlib.py", "torch/_ops.py", "torch/_dynamo/", "torch/nn/modules/linear.py",
	"torch/utils/_device.py", "torch/nn/functional.py", "torch/_compile.py",
}

// nearFrames is how many frames that are no plumbing are asked.
const nearFrames = 4

// place is what the innermost frames work on, and whether their elements have four bytes.
func (s *scene) place() (memory.Place, memory.Truth) {
	t := s.in.Root.Trace
	if t == nil || len(t.Frames) == 0 {
		return memory.Unnamed, 0
	}
	last := &t.Frames[len(t.Frames)-1]
	if in := strings.ToLower(slashed(last.File) + " " + last.Func); strings.Contains(in, "_engine_run_backward") || strings.Contains(in, "torch/autograd/__init__") || strings.HasSuffix(slashed(last.File), "torch/_tensor.py") {
		return memory.Unnamed, 0 // the engine is C++: whose gradient it was, no frame tells
	}
	asked := 0
	for i := len(t.Frames) - 1; i >= 0 && asked < nearFrames; i-- {
		f := &t.Frames[i]
		through := passes(f.File)
		if p := placeOf(f.File, f.Func+" "+f.Code, through); p != memory.Elsewhere {
			return p, s.width(i)
		}
		if !through {
			asked++
		}
	}
	return memory.Elsewhere, 0
}

func slashed(path string) string { return strings.ReplaceAll(path, "\\", "/") }

// passes says that a file only passes calls on.
func passes(file string) bool {
	file = slashed(file)
	for _, p := range plumbing {
		if strings.Contains(file, p) {
			return true
		}
	}
	return false
}

// placeOf reads a frame's place from its words, and from its file unless that only passes on.
func placeOf(file, code string, through bool) memory.Place {
	where := strings.ToLower(code)
	if !through {
		where = strings.ToLower(slashed(file)) + " " + where
	}
	for _, p := range places {
		for _, w := range p.words {
			if strings.Contains(where, w) {
				return p.place
			}
		}
	}
	return memory.Elsewhere
}

// width tells from the frame at a place, and those that it called, whether the elements have four bytes: what is turned
// into float32 has, and the head's own output has two.
func (s *scene) width(at int) memory.Truth {
	frames := s.in.Root.Trace.Frames[at:]
	for i := range frames {
		code := strings.ToLower(frames[i].Code)
		for _, w := range []string{".float()", "float32", "torch.float)", "dtype=torch.float,"} {
			if strings.Contains(code, w) {
				return memory.Yes
			}
		}
	}
	if code := strings.ToLower(frames[0].Code); strings.Contains(code, "lm_head(") || strings.Contains(code, "output_layer(") {
		return memory.No
	}
	return 0
}

// limit is the bound on the tokens of a micro-batch in the phase that failed, nil when no setting tells one.
func (s *scene) limit() *memory.Limit {
	if evaluating(s, "").truth == yes { // has a batch of its own
		return s.bounded(&bound{samples: "per_device_eval_batch_size", lengths: hfLengths})
	}
	for _, b := range bounds[s.run.Framework] {
		if l := s.bounded(&b); l != nil {
			return l
		}
	}
	return nil
}

// bound is how a framework limits the tokens of a micro-batch.
type bound struct {
	phases []string // any of the training step's parts when empty
	when   []string // conditions that must be confirmed
	unless []string // conditions that must not be confirmed
	budget string   // a setting that counts tokens per GPU
	// samples is a setting that counts samples; the longest of them has the sum of the lengths.
	samples string
	lengths [][]string
	parts   []string // settings by which the tokens of a GPU are divided: context parallelism
}

var (
	verlLengths = [][]string{{"data.max_prompt_length", "actor_rollout_ref.rollout.prompt_length"}, {"data.max_response_length", "actor_rollout_ref.rollout.response_length"}}
	verlParts   = []string{"actor_rollout_ref.actor.ulysses_sequence_parallel_size", "actor_rollout_ref.actor.fsdp_config.ulysses_sequence_parallel_size"}
	hfLengths   = [][]string{{"max_seq_length", "max_length", "cutoff_len", "model_max_length", "block_size", "max_seq_len"}}
	training    = []string{"training", "forward", "backward", "optimizer"}
	slimeBounds = []bound{
		{phases: []string{"logprob"}, unless: []string{"not dynamic_batch"}, budget: "--log-probs-max-tokens-per-gpu", lengths: [][]string{{"rollout_max_response_len"}}},
		{unless: []string{"not dynamic_batch"}, budget: "--max-tokens-per-gpu", lengths: [][]string{{"rollout_max_prompt_len"}, {"rollout_max_response_len"}}},
		{samples: "--micro-batch-size", lengths: [][]string{{"seq_length"}}, parts: []string{"context_parallel_size"}, when: []string{"not dynamic_batch"}},
	}
)

// bounds are the limits by framework, in the order in which they are asked. Sources: remedies.md part 2, that is
// verl/utils/seqlen_balancing.py, slime/utils/arguments.py, areal/api/cli_args.py, openrlhf/cli/train_ppo_ray.py,
// trl/trainer/grpo_config.py, nemo-rl's examples/configs/grpo_math_1B.yaml, megatron/training/arguments.py.
var bounds = map[string][]bound{
	"verl": {
		{when: []string{"role:critic", "critic.use_dynamic_bsz=True"}, budget: "critic.ppo_max_token_len_per_gpu", lengths: verlLengths},
		{when: []string{"role:critic"}, samples: "critic.ppo_micro_batch_size_per_gpu", lengths: verlLengths},
		{phases: []string{"logprob"}, when: []string{"role:ref", "dynamic_batch"}, budget: "actor_rollout_ref.ref.log_prob_max_token_len_per_gpu", lengths: verlLengths},
		{phases: []string{"logprob"}, when: []string{"role:ref"}, unless: []string{"dynamic_batch"}, samples: "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu", lengths: verlLengths},
		{phases: []string{"logprob"}, when: []string{"dynamic_batch"}, unless: []string{"role:ref"}, budget: "actor_rollout_ref.rollout.log_prob_max_token_len_per_gpu", lengths: verlLengths},
		{phases: []string{"logprob"}, unless: []string{"role:ref", "dynamic_batch"}, samples: "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu", lengths: verlLengths},
		{phases: training, when: []string{"dynamic_batch"}, unless: []string{"role:critic"}, budget: "actor_rollout_ref.actor.ppo_max_token_len_per_gpu", lengths: verlLengths},
		{phases: training, unless: []string{"role:critic", "dynamic_batch"}, samples: "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", lengths: verlLengths, parts: verlParts},
	},
	"relax": slimeBounds, "slime": slimeBounds,
	"areal": {{budget: "actor.mb_spec.max_tokens_per_mb", lengths: [][]string{{"train_dataset.max_length"}, {"gconfig.max_new_tokens"}}}},
	"openrlhf": {
		{phases: training, when: []string{"dynamic_batch"}, budget: "--train_max_tokens_per_gpu"},
		{phases: []string{"logprob"}, when: []string{"dynamic_batch"}, budget: "--rollout_max_tokens_per_gpu"},
		{phases: training, unless: []string{"dynamic_batch"}, samples: "--micro_train_batch_size", lengths: [][]string{{"prompt_max_len"}, {"generate_max_len"}}},
		{phases: []string{"logprob"}, unless: []string{"dynamic_batch"}, samples: "--micro_rollout_batch_size", lengths: [][]string{{"prompt_max_len"}, {"generate_max_len"}}},
		{phases: training, unless: []string{"dynamic_batch"}, samples: "--micro_train_batch_size", lengths: [][]string{{"max_len"}}},
	},
	"trl": {
		{samples: "per_device_train_batch_size", lengths: [][]string{{"max_prompt_length"}, {"max_completion_length"}}},
		{samples: "per_device_train_batch_size", lengths: hfLengths},
	},
	"nemo_rl": {
		{phases: []string{"logprob"}, samples: "policy.logprob_batch_size", lengths: [][]string{{"policy.max_total_sequence_length"}}},
		{phases: training, samples: "policy.train_micro_batch_size", lengths: [][]string{{"policy.max_total_sequence_length"}}},
	},
	"megatron":  {{samples: "--micro-batch-size", lengths: [][]string{{"seq_length"}}, parts: []string{"context_parallel_size"}}},
	"torch":     {{samples: "per_device_train_batch_size", lengths: hfLengths}},
	"deepspeed": {{samples: "train_micro_batch_size_per_gpu", lengths: hfLengths}, {samples: "per_device_train_batch_size", lengths: hfLengths}},
}

// mostTokens is more than any micro-batch has: the log is wrong.
const mostTokens = 1 << 30

func (s *scene) bounded(b *bound) *memory.Limit {
	phases := b.phases
	if phases == nil {
		phases = append([]string{"logprob"}, training...)
	}
	if !slices.Contains(phases, s.phase) || len(b.when) > 0 && !s.allTrue(b.when) {
		return nil
	}
	if _, bad := s.confirmed(b.unless); bad {
		return nil
	}
	longest, how := int64(0), make([]string, 0, 2)
	for _, names := range b.lengths {
		n, ok := s.settings.integer(names...)
		if !ok || n > mostTokens {
			longest = 0
			break
		}
		longest += n
		how = append(how, memory.Thousands(n))
	}
	if b.budget != "" {
		n, ok := s.settings.integer(b.budget)
		if !ok || n > mostTokens {
			return nil
		}
		return &memory.Limit{Key: b.budget, Value: itoa(n), Tokens: n, Budget: true, Longest: longest}
	}
	n, ok := s.settings.integer(b.samples)
	if !ok || longest <= 0 || n > mostTokens/longest {
		return nil
	}
	l := &memory.Limit{Key: b.samples, Value: itoa(n), Tokens: n * longest, Samples: n, Longest: longest}
	l.How = fmt.Sprintf("%d x (%s)", n, strings.Join(how, " + "))
	if p, ok := s.settings.integer(b.parts...); ok && len(b.parts) > 0 && p > 1 {
		l.Tokens, l.How = ceilDiv(l.Tokens, p), l.How+fmt.Sprintf(" / %d", p)
	}
	return l
}

// states are the sizes that the settings predict of buffers and of parts of the model's state.
func (s *scene) states() []memory.State {
	var out []memory.State
	bytes := func(n int64) string { return memory.Thousands(n) }
	if n, ok := s.settings.integer("zero_optimization.sub_group_size", "sub_group_size"); ok && n < 1<<40 {
		out = append(out, memory.State{
			What: "one group of the optimizer's state in fp32", How: "sub_group_size " + bytes(n) + " x 4 bytes", Bytes: 4 * n, Key: "zero_optimization.sub_group_size",
			Places: []memory.Place{memory.Optimizer},
		})
	}
	if n, ok := s.settings.integer("zero_optimization.reduce_bucket_size", "reduce_bucket_size"); ok && n < 1<<40 {
		out = append(out, memory.State{
			What: "a bucket of gradients", How: "reduce_bucket_size " + bytes(n) + " x 2 bytes", Bytes: 2 * n, Key: "zero_optimization.reduce_bucket_size",
			Places: []memory.Place{memory.Buckets},
		})
	}
	if s.phase == "weight_update" {
		if n, ok := s.settings.integer("update_weight_buffer_size"); ok && n < 1<<40 {
			out = append(out, memory.State{What: "the buffer of the weight update", How: "--update-weight-buffer-size " + bytes(n), Bytes: n, Key: "--update-weight-buffer-size"})
		}
		for _, k := range []string{"actor_rollout_ref.rollout.checkpoint_engine.update_weights_bucket_megabytes", "actor_rollout_ref.rollout.update_weights_bucket_megabytes"} {
			if n, ok := s.settings.integer(k); ok && n < 1<<20 {
				out = append(out, memory.State{What: "a bucket of the weight update", How: fmt.Sprintf("update_weights_bucket_megabytes %d MiB", n), Bytes: n << 20, Key: k})
			}
		}
	}
	return append(out, s.shards()...)
}

// shards are the model's parameters and Adam's states in fp32 as one flat tensor of a rank.
func (s *scene) shards() []memory.State {
	p := s.model().Parameters
	if p.Value <= 0 || p.Value > 1<<45 {
		return nil
	}
	named := ""
	if p.Named {
		named = " (from the model's name)"
	}
	var ranks int64
	how := ""
	switch {
	case backend(s, "megatron").truth == yes:
		return nil // flat per data type and per bucket: no size is predicted
	case backend(s, "fsdp").truth == yes, backend(s, "deepspeed").truth == yes:
		n, ok := s.gpus()
		if !ok {
			return nil
		}
		ranks, how = n, fmt.Sprintf(" / %d ranks", n)
	default:
		return nil
	}
	var out []memory.State
	for _, t := range []struct {
		what  string
		bytes int64
	}{{"a rank's part of all parameters, or of one of Adam's moments, in fp32", 4}, {"a rank's part of all parameters in 16 bits", 2}} {
		out = append(out, memory.State{
			What: t.what, How: fmt.Sprintf("%s parameters%s x %d bytes%s", p, named, t.bytes, how), Bytes: p.Value / ranks * t.bytes,
			Places: []memory.Place{memory.Optimizer, memory.Buckets, memory.Gather},
		})
	}
	return out
}
