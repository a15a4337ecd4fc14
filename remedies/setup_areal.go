package remedies

import (
	"strconv"
	"strings"

	"oomscan/parser/lazyre"
	"oomscan/remedies/memory"
)

// arealPart is AReaL's layout of training or generation on GPUs.
type arealPart struct {
	backend string
	ranks   map[string]int64 // by the letters of its strategies: d, t, p, c, e
}

// arealStrategy matches one of AReaL's strategies: "fsdp:d4t2", "sglang.d2p1m1". Older versions wrote m for t.
var arealStrategy = lazyre.New(`^(?:([a-z]+)[:.])?((?:[dtpcem][0-9]{1,4})+)$`)

func parseAReaL(text string) (arealPart, bool) {
	m := arealStrategy().FindStringSubmatch(strings.Trim(text, `"' `))
	if m == nil {
		return arealPart{}, false // mixtures name attention and experts apart
	}
	p := arealPart{backend: m[1], ranks: map[string]int64{}}
	for _, d := range dimension().FindAllStringSubmatch(m[2], -1) {
		n, _ := strconv.ParseInt(d[2], 10, 64)
		p.ranks[strings.Replace(d[1], "m", "t", 1)] = n
	}
	return p, true
}

// arealParts returns the strategies of generation and of training, from two settings or from the two parts of one.
func arealParts(ctx *Context) (generation, training string) {
	if f, ok := ctx.settings.find("allocation_mode", false); ok {
		generation, training, _ = strings.Cut(strings.Trim(f.value.Value, `"' `), "+")
	}
	for key, to := range map[string]*string{"rollout.backend": &generation, "actor.backend": &training} {
		if f, ok := ctx.settings.find(key, false); ok && !isNone(f.value.Value) && (*to == "" || laidOut(f.value.Value)) {
			*to = f.value.Value
		}
	}
	return generation, training
}

// laidOut reports whether a backend's setting has degrees: before 1.0, allocation_mode had them, and the setting only a name.
func laidOut(backend string) bool { return strings.ContainsAny(backend, "0123456789") }

func arealTraining(ctx *Context) (arealPart, bool) {
	_, t := arealParts(ctx)
	return parseAReaL(t)
}

// arealParallel applies AReaL's strategies. Generation and training have separate cards.
func arealParallel(ctx *Context, s *memory.Setup) {
	if s.Framework != memory.AReaL {
		return
	}
	generation, training := arealParts(ctx)
	if p, ok := parseAReaL(generation); ok {
		s.EngineTP, s.EnginePP = memory.Some(max(p.ranks["t"], 1)), memory.Some(max(p.ranks["p"], 1))
	}
	s.World = memory.Opt[int64]{} // of the job: some of its ranks generate
	if p, ok := parseAReaL(training); ok {
		world := int64(1)
		for letter, to := range map[string]*memory.Opt[int64]{"t": &s.TP, "p": &s.PP, "c": &s.CP} {
			*to = memory.Some(max(p.ranks[letter], 1))
			world *= to.Value
		}
		s.World = memory.Some(world * max(p.ranks["d"], 1))
		s.EP = known(p.ranks["e"], p.ranks["e"] > 0)
		s.Colocated = memory.Some(false)
	}
}
