package cause

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"oomscan/classifier"
	"oomscan/remedies/memory"
)

// frames reports that one of the innermost n frames contains one of the words.
func frames(n int, why string, words ...string) clue {
	return func(in *Input) string {
		if in.passes(n, words...) {
			return why
		}
		return ""
	}
}

// passes reports whether one of the innermost n frames contains one of the words.
func (in *Input) passes(n int, words ...string) bool {
	return slices.ContainsFunc(in.Stack[max(0, len(in.Stack)-n):], func(f string) bool { return containsAny(f, words) })
}

func containsAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// when returns a reason if a condition holds.
func when(why string, holds func(in *Input) bool) clue {
	return func(in *Input) string {
		if holds(in) {
			return why
		}
		return ""
	}
}

// failedIn reports that the run failed in one of the phases.
func failedIn(why string, phases ...string) clue {
	return when(why, func(in *Input) bool { return slices.Contains(phases, in.Phase) })
}

// saw reports that one of the messages is in the log.
func saw(why string, patterns ...string) clue {
	return when(why, func(in *Input) bool {
		return slices.ContainsFunc(in.Patterns, func(p string) bool { return slices.Contains(patterns, p) })
	})
}

// both returns the clue's reason if a condition holds as well.
func both(c clue, holds func(in *Input) bool) clue {
	return func(in *Input) string {
		if !holds(in) {
			return ""
		}
		return c(in)
	}
}

// is reports that a setting has one of the values.
func is(why string, keys []string, values ...string) clue {
	return func(in *Input) string {
		key, v, ok := in.Setting(keys...)
		v = strings.ToLower(strings.Trim(v, `"' `))
		if !ok || !slices.ContainsFunc(values, func(w string) bool { return v == w }) {
			return ""
		}
		return fmt.Sprintf("%s is %s%s", key, v, why)
	}
}

// number returns a setting as a number of at least 1, or 0 if none is found.
func (in *Input) number(keys ...string) int64 {
	_, v, ok := in.Setting(keys...)
	f, err := strconv.ParseFloat(strings.Trim(v, `"' `), 64)
	if !ok || err != nil || !(f >= 1 && f <= 1<<40) { // nor NaN
		return 0
	}
	return int64(f)
}

// on reports whether a switch is on.
func (in *Input) on(keys ...string) bool {
	_, v, ok := in.Setting(keys...)
	return ok && slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(strings.Trim(v, `"' `)))
}

// off reports whether a switch is set, and not on.
func (in *Input) off(keys ...string) bool {
	_, v, ok := in.Setting(keys...)
	return ok && slices.Contains([]string{"false", "no", "off", "0"}, strings.ToLower(strings.Trim(v, `"' `)))
}

func (in *Input) gpu() bool  { return in.Resource == "gpu" }
func (in *Input) host() bool { return in.Resource == "host" }

// training reports whether the trainer failed in a part of a training step.
func (in *Input) training() bool {
	return in.gpu() && !in.EngineFailed && slices.Contains([]string{"forward", "backward", "training", "logprob"}, in.Phase)
}

// loading reports whether weights were being created or read.
func (in *Input) loading() bool {
	return in.Phase == "init" && (in.Place == memory.Weights || in.weightsMissing() || in.passes(80, loaders...) || containsAny(in.Text+in.Stage, []string{"loading checkpoint shards", "loading safetensors", "loading weights: "}))
}

// weightsMissing reports whether less is allocated than an engine's weights take: not all of them were there yet.
func (in *Input) weightsMissing() bool {
	return in.EngineFailed && in.gpu() && in.Allocated != nil && *in.Allocated < in.EngineWeights/100*95
}

var loaders = []string{
	"from_pretrained", "load_model", "load_weights", "create_weights", "load_state_dict", "load_checkpoint", "caching_allocator_warmup", "_move_model_to_device",
	"module.py to ", "in _apply", "module.py _apply", "module.py convert", ".to(device", "build_model", "get_model", "init_model", "setup_model", "model_provider", ".cuda()", "get_sharded", "get_partial_sharded", "_prepare_fsdp",
}

// count prints a number of parameters as people say it: 32.8B, 494M. Few are printed in full.
func count(n int64) string {
	for _, u := range []struct {
		size   float64
		letter string
	}{{1e12, "T"}, {1e9, "B"}, {1e6, "M"}} {
		if f := float64(n) / u.size; f >= .9995 {
			figure := strconv.FormatFloat(f, 'f', max(0, 2-int(math.Log10(f))), 64)
			if strings.Contains(figure, ".") {
				figure = strings.TrimRight(strings.TrimRight(figure, "0"), ".")
			}
			return figure + u.letter
		}
	}
	return memory.Thousands(n)
}

// sized returns an amount preceded by its arithmetic.
func sized(format string, bytes int64, args ...any) (string, *int64) {
	return fmt.Sprintf(format, args...) + " = " + classifier.GiB(bytes), &bytes
}

func gib(p *int64) string {
	if p == nil {
		return "an unknown amount"
	}
	return classifier.GiB(*p)
}

// plain is a figure without arithmetic: the page already states the request.
func plain(text string) func(in *Input) (string, *int64) {
	return func(in *Input) (string, *int64) {
		if in.Requested == nil || *in.Requested <= 0 {
			return text, nil
		}
		return text, in.Requested
	}
}
