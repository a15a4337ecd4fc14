package remedies

import (
	"slices"
	"strconv"
	"strings"
)

// Patch holds the first changes to make as one block, ready to paste.
type Patch struct {
	Syntax string `json:"syntax"` // hydra, yaml, toml, json, flag, env, sbatch, python
	Text   string `json:"text"`   // lines joined by newlines, without one at the end
}

// alternatives lists sets of topics where one is enough: a patch takes the first.
var alternatives = [][]string{
	{"micro-batch", "dynamic-batch", "token-budget"},
	{"engine-eager", "engine-capture-sizes"},
	{"expandable-segments", "max-split-size"},
	{"tcmalloc", "jemalloc"},
	{"engine-share-down", "engine-share-up"},
}

// patchOf writes the changes of the items to start with as one block per dialect: those with a known value, and of several
// ways to one goal only the first.
func patchOf(items []assessment, start []string) []Patch {
	var out []Patch
	lines := map[string][]Change{}
	var order []string
	topics, keys := map[string]bool{}, map[string]bool{}
	for _, id := range start {
		i := slices.IndexFunc(items, func(j assessment) bool { return j.ID == id })
		if i < 0 || items[i].Applies == nil || !*items[i].Applies || items[i].late || rivals(topics, items[i].topic) {
			continue
		}
		took := false
		for _, c := range items[i].Changes {
			name := plain(c.Key)
			if c.To == nil || c.Snippet == "" || keys[name] || c.Syntax == "shell" {
				continue
			}
			keys[name], took = true, true
			syntax := c.Syntax
			if syntax == "yaml" && strings.HasPrefix(id, "deepspeed.") {
				syntax = "json"
			}
			if lines[syntax] == nil {
				order = append(order, syntax)
			}
			lines[syntax] = append(lines[syntax], c)
		}
		if took && items[i].topic != "" {
			topics[items[i].topic] = true
		}
	}
	for _, syntax := range order {
		out = append(out, Patch{Syntax: syntax, Text: block(syntax, lines[syntax])})
	}
	return out
}

// rivals reports whether another way to the same goal is in the patch already.
func rivals(taken map[string]bool, topic string) bool {
	return slices.ContainsFunc(alternatives, func(group []string) bool {
		return slices.Contains(group, topic) && slices.ContainsFunc(group, func(t string) bool { return taken[t] })
	})
}

// block writes changes of one dialect together: arguments of one command line, or one YAML document.
func block(syntax string, changes []Change) string {
	switch syntax {
	case "yaml":
		return tree(changes, false)
	case "json":
		return tree(changes, true)
	}
	parts := make([]string, len(changes))
	for i := range changes {
		parts[i] = changes[i].Snippet
	}
	if syntax == "hydra" || syntax == "flag" {
		slices.SortStableFunc(parts, func(a, b string) int { return comment(a) - comment(b) })
		n := slices.IndexFunc(parts, func(p string) bool { return comment(p) > 0 })
		if n < 0 {
			n = len(parts)
		}
		return strings.Join(slices.DeleteFunc([]string{strings.Join(parts[:n], " \\\n"), strings.Join(parts[n:], "\n")}, func(p string) bool { return p == "" }), "\n")
	}
	return strings.Join(parts, "\n")
}

// comment is 1 for a line that is not an argument but a flag to remove.
func comment(snippet string) int {
	if strings.HasPrefix(snippet, "#") {
		return 1
	}
	return 0
}

// tree writes dotted keys as one YAML or JSON document, with each parent once, in order of appearance.
func tree(changes []Change, json bool) string {
	var b strings.Builder
	var write func(list []Change, depth int)
	write = func(list []Change, depth int) {
		for len(list) > 0 {
			head := pathOf(list[0].Key)
			indent := strings.Repeat("  ", depth)
			name, comma := head[depth]+":", ""
			var under, rest []Change
			for _, c := range list {
				if p := pathOf(c.Key); len(p) > depth+1 && p[depth] == head[depth] && len(head) > depth+1 {
					under = append(under, c)
				} else {
					rest = append(rest, c)
				}
			}
			if len(head) == depth+1 {
				rest = list[1:]
			}
			if json {
				indent += "  "
				name = strconv.Quote(head[depth]) + ":"
				if len(rest) > 0 {
					comma = ","
				}
			}
			switch {
			case len(head) == depth+1 && json:
				b.WriteString(indent + name + " " + value(*list[0].To) + comma + "\n")
			case len(head) == depth+1:
				b.WriteString(indent + name + " " + scalar(*list[0].To) + "\n")
			case json:
				b.WriteString(indent + name + " {\n")
				write(under, depth+1)
				b.WriteString(indent + "}" + comma + "\n")
			default:
				b.WriteString(indent + name + "\n")
				write(under, depth+1)
			}
			list = rest
		}
	}
	write(changes, 0)
	if json {
		return "{\n" + b.String() + "}"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// value writes a value as JSON.
func value(v string) string {
	if on, ok := parseBool(v); ok {
		return strconv.FormatBool(on)
	}
	if _, ok := parseNumber(v); ok {
		return v
	}
	return strconv.Quote(v)
}

// pathOf splits a key at its dots. The name of a Kubernetes resource, nvidia.com/gpumem, is one part.
func pathOf(key string) []string {
	parts := strings.Split(key, ".")
	if n := len(parts); n > 1 && strings.Contains(parts[n-1], "/") {
		parts = append(parts[:n-2], parts[n-2]+"."+parts[n-1])
	}
	return parts
}
