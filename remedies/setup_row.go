package remedies

import (
	"strings"

	"oomscan/remedies/memory"
)

// setupRow is one input of the budget: how to read it, and its settings by dialect. The first readable one counts. A value
// after "=" is the framework's default, for runs whose log does not print the setting.
type setupRow struct {
	input  string // what the budget calls it where it is missing; empty when it is never asked for
	accept func(s *memory.Setup, value string) bool
	keys   map[string]string // names, each with the default where that is documented, separated by spaces
}

func (r *setupRow) read(ctx *Context, s *memory.Setup, names []string) {
	for _, name := range names {
		for key := range strings.FieldsSeq(r.keys[name]) {
			key, fallback, _ := strings.Cut(key, "=")
			f, ok := ctx.settings.find(key, true)
			value := fallback
			if ok {
				value = f.value.Value
			}
			if isNone(value) {
				value = "none"
			}
			if (ok || fallback != "") && r.accept(s, value) {
				return
			}
		}
	}
}

// count reads a whole number of at least 1.
func count(of func(*memory.Setup) *memory.Opt[int64]) func(*memory.Setup, string) bool {
	return amount(of, 1)
}

// amount reads a number of units as bytes.
func amount(of func(*memory.Setup) *memory.Opt[int64], unit float64) func(*memory.Setup, string) bool {
	return func(s *memory.Setup, v string) bool {
		n, ok := parseNumber(v)
		if ok = ok && n >= 1 && n*unit < 1<<50; ok {
			*of(s) = memory.Some(int64(n * unit))
		}
		return ok
	}
}

// capacity reads an amount of memory with its unit, 80GiB, or the name of a card.
func capacity(of func(*memory.Setup) *memory.Opt[int64]) func(*memory.Setup, string) bool {
	return func(s *memory.Setup, v string) bool {
		n, ok := memory.Capacity(v)
		if ok {
			*of(s) = memory.Some(n)
		}
		return ok
	}
}

// share reads a fraction.
func share(of func(*memory.Setup) *memory.Opt[float64]) func(*memory.Setup, string) bool {
	return func(s *memory.Setup, v string) bool {
		f, ok := parseNumber(v)
		if ok = ok && f > 0 && f <= 1; ok {
			*of(s) = memory.Some(f)
		}
		return ok
	}
}

// toggle reads a switch. A flag without a value is on.
func toggle(of func(*memory.Setup) *memory.Opt[bool]) func(*memory.Setup, string) bool {
	return func(s *memory.Setup, v string) bool {
		on, ok := parseBool(v)
		if ok {
			*of(s) = memory.Some(on)
		}
		return ok
	}
}

// opposite reads a switch that is on if the input is off.
func opposite(of func(*memory.Setup) *memory.Opt[bool]) func(*memory.Setup, string) bool {
	return func(s *memory.Setup, v string) bool {
		on, ok := parseBool(v)
		if ok {
			*of(s) = memory.Some(!on)
		}
		return ok
	}
}

// word looks up a value by name.
func word[T any](values map[string]T, set func(s *memory.Setup, v T)) func(*memory.Setup, string) bool {
	return func(s *memory.Setup, v string) bool {
		v = strings.ToLower(strings.Trim(v, `"' `))
		t, ok := values[v[strings.LastIndexByte(v, '.')+1:]] // torch.bfloat16, OptimizerNames.ADAMW_BNB
		if ok {
			set(s, t)
		}
		return ok
	}
}
