package report

import (
	"cmp"
	"slices"
	"strings"

	"oomscan/parser/ascii"
	"oomscan/parser/source"
)

// maxTail is how many of its last parts a name is shortened to at most, and maxNames how many names are compared;
// names beyond that are printed in full.
const (
	maxTail  = 6
	maxNames = 20_000
)

// tails maps the names that a report mentions to the shortest ends that no other of them shares: with one train.log
// among the inputs its folder says nothing, with two of them it tells them apart.
func tails(r *Report) map[string]string {
	names := map[string]bool{}
	add := func(s string) {
		if s != "" && len(names) < maxNames {
			names[s] = true
		}
	}
	for i := range r.Inputs {
		add(r.Inputs[i].Name)
	}
	for i := range r.Incidents {
		in := &r.Incidents[i]
		add(in.Root.File)
		add(in.First.File)
		for k := range in.Evidence {
			add(in.Evidence[k].File)
		}
		for k := range in.Consequences {
			add(in.Consequences[k].File)
		}
	}
	for i := range r.EndedBy {
		add(r.EndedBy[i].File)
	}
	seen := map[string]int{}
	for s := range names {
		for n := 1; n <= maxTail; n++ {
			t := tail(s, n)
			seen[t]++
			if t == s {
				break
			}
		}
	}
	out := make(map[string]string, len(names))
	for s := range names {
		if out[s] = called(s); s == source.Stdin {
			continue
		}
		for n := 1; n <= maxTail; n++ {
			if t := tail(s, n); seen[t] == 1 {
				out[s] = t
				break
			}
		}
	}
	return out
}

// tail is the last n parts of a path; a member's place in its archive follows an exclamation mark.
func tail(s string, n int) string {
	end := len(s)
	for range n {
		i := strings.LastIndexAny(s[:end], "/!")
		if i <= 0 || i == len(s)-1 {
			return s
		}
		end = i
	}
	return s[end+1:]
}

// links are the addresses of what a report mentions, by short names; nil without a function that knows them.
func links(r *Report, link func(string) string) map[string]string {
	if link == nil {
		return nil
	}
	out := map[string]string{}
	for full, short := range tails(r) {
		out[short] = link(full)
	}
	return out
}

// withShortNames is r with short names of the inputs in its incidents.
func withShortNames(r *Report) *Report {
	short := tails(r)
	name := func(s string) string { return cmp.Or(short[s], s) }
	sentence := func(s string) string {
		if !strings.ContainsAny(s, "/!") {
			return s
		}
		return words(s, name)
	}
	out := *r
	out.EndedBy = mapped(r.EndedBy, func(e *Ending) { e.File = name(e.File) })
	out.Run.Phases = mapped(r.Run.Phases, func(p *PhaseTrack) { p.File = name(p.File) })
	out.Run.Readings = mapped(r.Run.Readings, func(x *Readings) { x.File = name(x.File) })
	out.Incidents = mapped(r.Incidents, func(in *Incident) {
		in.Root.File, in.First.File = name(in.Root.File), name(in.First.File)
		in.PhaseWhy = sentence(in.PhaseWhy)
		in.Findings = mapped(in.Findings, func(s *string) { *s = sentence(*s) })
		in.Evidence = mapped(in.Evidence, func(e *Evidence) { e.File = name(e.File) })
		in.Consequences = mapped(in.Consequences, func(c *Consequence) { c.File = name(c.File) })
		in.Remedies = mapped(in.Remedies, func(x *Remedy) { x.Why, x.AppliesWhy = sentence(x.Why), sentence(x.AppliesWhy) })
	})
	return &out
}

// mapped is a copy of a list with changed elements.
func mapped[T any](list []T, change func(*T)) []T {
	out := slices.Clone(list)
	for i := range out {
		change(&out[i])
	}
	return out
}

// words puts each word of a sentence through f, without the signs around it and the number of a line behind it.
func words(s string, f func(string) string) string {
	parts := strings.Split(s, " ")
	for i, w := range parts {
		body := strings.TrimLeft(w, "(\"'`")
		lead := w[:len(w)-len(body)]
		end := len(strings.TrimRight(body, ".,;:)\"'`"))
		if k := strings.LastIndexByte(body[:end], ':'); k > 0 && strings.Trim(body[k+1:end], "0123456789") == "" {
			end = k
		}
		parts[i] = lead + f(body[:end]) + body[end:]
	}
	return strings.Join(parts, " ")
}

// lastPart is a dotted setting's last word, which tells it to people beside an item's title; anything else stays.
func lastPart(key string) string {
	if strings.Count(key, ".") < 2 || !ascii.IsLetter(key[0]) {
		return key
	}
	for i := range len(key) {
		if c := key[i]; c != '.' && !ascii.IsWord(c) {
			return key
		}
	}
	last := strings.LastIndexByte(key, '.')
	switch key[last+1:] {
	case "enabled", "enable", "device", "size", "mode": // these say nothing alone
		last = strings.LastIndexByte(key[:last], '.')
	}
	return key[last+1:]
}

// called is what an input is called.
func called(file string) string {
	if file == source.Stdin {
		return "stdin"
	}
	return file
}
