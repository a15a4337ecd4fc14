package remedies

import (
	"strings"

	"oomscan/classifier"
)

// engineFlags are how programs take the flags of the engine that they run: with a prefix, and words joined by a dash or an
// underscore. Programs without a prefix take none but those that their own guides name; what the engine itself has computed
// is then an argument in their code.
var engineFlags = map[string]struct{ prefix, joint string }{
	"slime":    {"--sglang-", "-"},
	"relax":    {"--sglang-", "-"},
	"swift":    {"--vllm_", "_"},
	"trl":      {"", "_"},
	"openrlhf": {"", "_"},
	"unsloth":  {"", "_"},
}

// inProgramsWords puts changes of an engine's guide into the words of the program that runs the engine, and leaves out
// those that it has no words for.
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
