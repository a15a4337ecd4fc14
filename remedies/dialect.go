package remedies

import (
	"path"
	"slices"
	"strings"

	"oomscan/classifier"
)

// engineForm is a program's form of its engine's flags: a prefix, and a dash or an underscore between words. Programs without a
// prefix take only the flags in their own guides. A value that the engine itself computed is then an argument in their code. What a
// program has a key of its own for, below own, must not come in both places.
type engineForm struct {
	prefix, joint, syntax string
	own                   string
	names                 []string
}

// engineFlags maps programs to the form of settings that they hand to their engine as they are.
var engineFlags = map[string]engineForm{
	"slime":    {prefix: "--sglang-", joint: "-", syntax: "flag"},
	"relax":    {prefix: "--sglang-", joint: "-", syntax: "flag"},
	"areal":    {prefix: "{engine}.", joint: "_", syntax: "yaml"},
	"swift":    {prefix: "--vllm_", joint: "_", syntax: "flag"},
	"trl":      {joint: "_", syntax: "python"},
	"openrlhf": {joint: "_", syntax: "python"},
	"unsloth":  {joint: "_", syntax: "python"},
	"verl": {
		"actor_rollout_ref.rollout.engine_kwargs.{engine}.", "_", "hydra", "actor_rollout_ref.rollout.",
		[]string{"gpu_memory_utilization", "enforce_eager", "max_model_len", "max_num_batched_tokens", "max_num_seqs"},
	}, // trainer/config/rollout/rollout.yaml
	"easyr1": {"", "_", "yaml", "worker.rollout.", []string{"gpu_memory_utilization", "enforce_eager", "max_model_len", "max_num_batched_tokens", "tensor_parallel_size"}}, // workers/rollout/config.py
	"roll":   {prefix: "actor_infer.strategy_args.strategy_config.", joint: "_", syntax: "yaml"},
	"nemo_rl": {
		"policy.generation.vllm_kwargs.", "_", "hydra", "policy.generation.vllm_cfg.",
		[]string{"gpu_memory_utilization", "enforce_eager", "max_model_len", "kv_cache_dtype", "tensor_parallel_size", "pipeline_parallel_size"},
	}, // models/generation/vllm/vllm_worker.py
	"skyrl": {
		"generator.inference_engine.engine_init_kwargs.", "_", "hydra", "generator.inference_engine.",
		[]string{"gpu_memory_utilization", "enforce_eager", "max_num_batched_tokens", "max_num_seqs", "tensor_parallel_size"},
	}, // config/config.py
}

// served is the form of the flags of trl vllm-serve, which has a few of the engine's (trl/scripts/vllm_serve.py of TRL 0.17 to 1.9).
var served = engineForm{joint: "_", syntax: "flag", own: "--", names: []string{"tensor_parallel_size", "gpu_memory_utilization", "max_model_len", "enforce_eager"}}

// inProgramsWords rewrites changes from an engine's guide in the form of the program that runs the engine, and leaves out those
// without such a form.
func inProgramsWords(ctx *Context, guide string, changes []change) []change {
	program, engine := programOf(ctx.run), classifier.FrameworkByID(guide)
	changes = asNamedConfig(ctx, changes)
	words, known := engineFlags[program.ID]
	if ctx.is("serves") {
		words = served
	}
	words.prefix = strings.Replace(words.prefix, "{engine}", guide, 1)
	if args, ok := ctx.settings.find("model_args", true); ok && engine.Is(classifier.Engine) && ctx.settings.has("tasks") {
		return asModelArgs(args.key, changes)
	}
	if ownVLLM(ctx) {
		return asArguments(changes)
	}
	if program.ID == "verl" && finetunes(ctx) {
		return asFinetuning(ctx, changes)
	}
	if !known || !engine.Is(classifier.Engine) || program.ID == guide {
		return changes
	}
	var out []change
	for _, c := range changes {
		if c, ok := words.write(ctx, c); ok {
			out = append(out, c)
		}
	}
	return out
}

// write returns a change of an engine's setting in the program's words. The second result is false if it has none.
func (f *engineForm) write(ctx *Context, c change) (change, bool) {
	name, isFlag := strings.CutPrefix(c.Key, "--")
	printed := c.From != nil && c.Syntax != "env" && !strings.Contains(c.Key, ".") // as the engine itself prints it
	last := plain(lastWord(c.Key))
	switch {
	case slices.Contains(f.names, last):
		c.Key, c.Syntax = f.own+last, f.syntax
	case !isFlag && (!printed || f.prefix == "") || f.prefix != "" && strings.HasPrefix(c.Key, f.prefix):
	case f.prefix == "" && c.parameter.Next != "fit_length":
		return c, false
	default:
		c.Key, c.Syntax = f.prefix+strings.NewReplacer("-", f.joint, "_", f.joint).Replace(name), f.syntax
	}
	return c.renamed(ctx)
}

// renamed completes a change whose key is another one now, with the run's value of it.
func (c change) renamed(ctx *Context) (change, bool) {
	if now, ok := ctx.settings.find(c.Key, false); ok && c.From == nil && !isNone(now.value.Value) {
		p := *c.parameter
		p.Key, p.Surface, p.Spellings, p.namesake = c.Key, c.Syntax, nil, false
		c, ok = proposeChange(ctx, &naming{}, &p)
		return c, ok
	}
	if c.To != nil && c.Snippet != "" {
		c.Snippet = snippet(&c.Change, strings.Contains(c.Key, "_kwargs.") && c.From == nil)
	}
	return c, true
}

// asModelArgs writes an engine's flags as lm-eval hands them on: in the list of one flag.
func asModelArgs(flag string, changes []change) []change {
	out := asArguments(changes)
	for i := range out {
		if c := &out[i]; c.To != nil && c.Snippet != "" {
			c.Syntax, c.Snippet = "flag", flag+" ...,"+c.Key+"="+*c.To
		}
	}
	return out
}

// asArguments writes an engine's flags as the arguments of its class.
func asArguments(changes []change) []change {
	out := slices.Clone(changes)
	for i := range out {
		c := &out[i]
		name, isFlag := strings.CutPrefix(c.Key, "--")
		if !isFlag {
			continue
		}
		c.Key, c.Syntax = strings.ReplaceAll(name, "-", "_"), "python"
		if c.To != nil && c.Snippet != "" {
			c.Snippet = snippet(&c.Change, false)
		}
	}
	return out
}

// namedConfigs lists DeepSpeed configurations that come with a program, without and with offload. Those of stage 3 offload parameters,
// too (ms-swift, swift/config; LLaMA-Factory, examples/deepspeed; Axolotl, deepspeed_configs).
var namedConfigs = [][2]string{
	{"zero2", "zero2_offload"},
	{"zero3", "zero3_offload"},
	{"zero1", "zero2_offload"},
	{"zero0", "zero2_offload"},
	{"ds_z2_config.json", "ds_z2_offload_config.json"},
	{"ds_z3_config.json", "ds_z3_offload_config.json"},
	{"ds_z0_config.json", "ds_z2_offload_config.json"},
	{"zero3_bf16.json", "zero3_bf16_cpuoffload_all.json"},
}

// offloadedByName says that the named configuration of DeepSpeed offloads already.
func offloadedByName(q *question) string {
	f, _ := q.settings.find("deepspeed", true)
	name := path.Base(strings.Trim(f.value.Value, `"'`))
	if !slices.ContainsFunc(namedConfigs, func(n [2]string) bool { return n[1] == name }) || q.lever == "param-offload" && !strings.Contains(name, "3") {
		return ""
	}
	return name + " offloads them already"
}

// asNamedConfig writes changes of offloading as the name of another configuration, if the run's is one of those.
func asNamedConfig(ctx *Context, changes []change) []change {
	f, _ := ctx.settings.find("deepspeed", true)
	dir, name := path.Split(strings.Trim(f.value.Value, `"'`))
	at := slices.IndexFunc(namedConfigs, func(n [2]string) bool { return slices.Contains(n[:], name) })
	i := slices.IndexFunc(changes, func(c change) bool { return strings.Contains(c.Key, "offload_") && strings.HasSuffix(c.Key, ".device") })
	if at < 0 || i < 0 {
		return changes
	}
	p := Parameter{Key: f.key, Surface: programOf(ctx.run).Dialect, Direction: "set"}
	switch to := changes[i].parameter.Value; {
	case strings.Contains(name, "3") && (to == "none" || strings.HasSuffix(name, ".json")):
		return changes // the other configuration moves parameters and optimizer together; the user can edit the file
	case to == "cpu":
		p.Value = dir + namedConfigs[at][1]
	case to == "none":
		p.Value = dir + namedConfigs[at][0]
	default:
		return changes
	}
	c, _ := proposeChange(ctx, &naming{}, &p)
	return []change{c}
}

// finetunes reports whether a run of verl is one of its trainer for fine-tuning, whose configuration is another one.
func finetunes(ctx *Context) bool {
	return ctx.passesThrough("sft_trainer") || ctx.settings.has("data.micro_batch_size_per_gpu") || ctx.settings.has("model.partial_pretrain")
}

// finetuningWords maps how keys of verl's configuration for reinforcement learning begin to how those for fine-tuning do
// (trainer/config/sft_trainer_engine.yaml). It has no rollout, reference or critic.
var finetuningWords = [][2]string{{"actor_rollout_ref.model.", "model."}, {"actor_rollout_ref.actor.fsdp_config.", "engine."}, {"actor_rollout_ref.actor.megatron.", "engine."}, {"actor_rollout_ref.actor.ppo_max_token_len_per_gpu", "data.max_token_len_per_gpu"}, {"actor_rollout_ref.actor.use_dynamic_bsz", "data.use_dynamic_bsz"}}

// asFinetuning writes changes with those keys, and leaves out the others.
func asFinetuning(ctx *Context, changes []change) []change {
	var out []change
	for _, c := range changes {
		for _, w := range finetuningWords {
			if rest, ok := strings.CutPrefix(c.Key, w[0]); ok {
				c.Key = w[1] + rest
			}
		}
		first := ctx.settings.has("model.partial_pretrain") || ctx.passesThrough("fsdp_sft_trainer") // sft_trainer.yaml, which has less
		if strings.HasPrefix(c.Key, "actor_rollout_ref.") || strings.HasPrefix(c.Key, "critic.") ||
			first && (strings.HasPrefix(c.Key, "engine.") || strings.HasPrefix(c.Key, "model.") && c.Key != "model.enable_gradient_checkpointing" && c.Key != "model.use_liger") {
			continue
		}
		if c, ok := c.renamed(ctx); ok {
			out = append(out, c)
		}
	}
	return out
}
