package remedies

import (
	"slices"
	"strings"
	"sync"

	"oomscan/remedies/memory"
)

// setupRow is one input of the budget: how to read it, and its settings by dialect. The first readable one counts. A value
// after "=" is the framework's default, for runs whose log does not print the setting.
type setupRow struct {
	input  string // what the budget calls it where it is missing; empty when it is never asked for
	accept func(s *memory.Setup, value string) bool
	keys   map[string]string // names, each with the default where that is documented, separated by spaces
}

// setupKey is one name of a row's setting, with its default or "".
type setupKey struct{ name, fallback string }

// setupKeys has the names of all rows by dialect, each list in the order of the rows.
var setupKeys = sync.OnceValue(func() map[string][][]setupKey {
	out := map[string][][]setupKey{}
	for i := range setupRows {
		for dialect, text := range setupRows[i].keys {
			if out[dialect] == nil {
				out[dialect] = make([][]setupKey, len(setupRows))
			}
			for key := range strings.FieldsSeq(text) {
				name, fallback, _ := strings.Cut(key, "=")
				out[dialect][i] = append(out[dialect][i], setupKey{name, fallback})
			}
		}
	}
	return out
})

// readRows reads all rows in some dialects, the first of them before the others.
func readRows(ctx *Context, s *memory.Setup, dialects []string) {
	var keys [][][]setupKey
	for _, d := range dialects {
		if k := setupKeys()[d]; k != nil {
			keys = append(keys, k)
		}
	}
	for i := range setupRows {
		for _, k := range keys {
			if slices.ContainsFunc(k[i], func(k setupKey) bool { return setupRows[i].read(ctx, s, k) }) {
				break
			}
		}
	}
}

func (r *setupRow) read(ctx *Context, s *memory.Setup, key setupKey) bool {
	f, ok := ctx.settings.find(key.name, true)
	value := key.fallback
	if ok {
		value = f.value.Value
	}
	if isNone(value) {
		value = "none"
	}
	return (ok || key.fallback != "") && r.accept(s, value)
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
