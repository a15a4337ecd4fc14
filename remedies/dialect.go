package remedies

import (
	"strings"

	"oomscan/classifier"
)

// engineFlags maps programs to their form of their engine's flags: a prefix, and a dash or an underscore between words. Programs
// without a prefix take only the flags in their own guides. A value that the engine itself computed is then an argument in
// their code.
var engineFlags = map[string]struct{ prefix, joint string }{
	"slime":    {"--sglang-", "-"},
	"relax":    {"--sglang-", "-"},
	"swift":    {"--vllm_", "_"},
	"trl":      {"", "_"},
	"openrlhf": {"", "_"},
	"unsloth":  {"", "_"},
}

// inProgramsWords rewrites changes from an engine's guide in the form of the program that runs the engine, and leaves out those
// without such a form.
func inProgramsWords(ctx *Context, guide string, changes []change) []change {
	program, engine := programOf(ctx.run), classifier.FrameworkByID(guide)
	words, known := engineFlags[program.ID]
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
			if words.prefix == "" {
				c.Syntax = "python" // where the program makes the engine
			}
		}
		if c.To != nil && c.Snippet != "" {
			c.Snippet = snippet(&c.Change, false)
		}
		out = append(out, c)
	}
	return out
}
