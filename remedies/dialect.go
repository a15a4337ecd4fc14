package remedies

import (
	"slices"
	"strings"

	"oomscan/classifier"
)

// engineForm is a program's form of its engine's flags: a prefix, and a dash or an underscore between words. Programs without a
// prefix take only the flags in their own guides. A value that the engine itself computed is then an argument in their code.
type engineForm struct{ prefix, joint, syntax string }

// engineFlags maps programs to the form of settings that they hand to their engine as they are.
var engineFlags = map[string]engineForm{
	"slime":    {"--sglang-", "-", "flag"},
	"relax":    {"--sglang-", "-", "flag"},
	"areal":    {"{engine}.", "_", "yaml"},
	"swift":    {"--vllm_", "_", "flag"},
	"trl":      {"", "_", "python"},
	"openrlhf": {"", "_", "python"},
	"unsloth":  {"", "_", "python"},
	"verl":     {"actor_rollout_ref.rollout.", "_", "hydra"},
	"easyr1":   {"worker.rollout.", "_", "yaml"},
	"roll":     {"actor_infer.strategy_args.strategy_config.", "_", "yaml"},
	"nemo_rl":  {"policy.generation.vllm_kwargs.", "_", "hydra"},
	"skyrl":    {"generator.inference_engine.engine_init_kwargs.", "_", "hydra"},
}

// inProgramsWords rewrites changes from an engine's guide in the form of the program that runs the engine, and leaves out those
// without such a form.
func inProgramsWords(ctx *Context, guide string, changes []change) []change {
	program, engine := programOf(ctx.run), classifier.FrameworkByID(guide)
	words, known := engineFlags[program.ID]
	words.prefix = strings.Replace(words.prefix, "{engine}", guide, 1)
	if args, ok := ctx.settings.find("model_args", true); ok && engine.Is(classifier.Engine) && ctx.settings.has("tasks") {
		return asModelArgs(args.key, changes)
	}
	if ownVLLM(ctx) {
		return asArguments(changes)
	}
	if !known || !engine.Is(classifier.Engine) || program.ID == guide {
		return changes
	}
	var out []change
	for _, c := range changes {
		name, isFlag := strings.CutPrefix(c.Key, "--")
		switch {
		case !isFlag || words.prefix != "" && strings.HasPrefix(c.Key, words.prefix):
		case words.prefix == "" && c.parameter.Next != "fit_length":
			continue
		default:
			c.Key = words.prefix + strings.NewReplacer("-", words.joint, "_", words.joint).Replace(name)
			c.Syntax = words.syntax
		}
		if c.To != nil && c.Snippet != "" {
			c.Snippet = snippet(&c.Change, false)
		}
		out = append(out, c)
	}
	return out
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
