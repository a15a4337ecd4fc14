package settings

import (
	"bytes"
	"strings"
)

// yamlLeast is how many lines a block needs before it is taken for YAML.
const yamlLeast = 3

// yamlBlock follows lines of `key: value`, nested by indentation. What it reads is held back until the block is long
// enough to be YAML and not prose.
type yamlBlock struct {
	parents []yamlParent
	held    []Pair
	keys    int  // lines with a key
	hard    bool // a number, a switch or nesting was seen
	settled bool
}

type yamlParent struct {
	indent int
	key    string
	list   bool // inside a list: its entries have no path
}

func (y *yamlBlock) sure() bool { return y.settled }

// end reports what a block that stayed too short for YAML said of known settings.
func (y *yamlBlock) end(r *Reader) {
	for _, p := range y.held {
		if knob(p.Key) && scalar(p.Value) {
			r.emit(p.Key, p.Value, p.Line, Pairs)
		}
	}
	y.held = nil
}

// startYAML begins a block with its first line.
func (r *Reader) startYAML(text []byte) bool {
	if r.open != nil || !yamlShape(text) {
		return false
	}
	y := &yamlBlock{}
	if fits, _ := y.feed(r, text); !fits {
		return false
	}
	r.begin(y, text)
	return true
}

func (y *yamlBlock) feed(r *Reader, text []byte) (fits, more bool) {
	body := bytes.TrimLeft(text, " ")
	indent := len(text) - len(body)
	switch {
	case len(body) == 0:
		return true, y.settled
	case body[0] == '#' || bytes.Equal(body, []byte("---")):
		return y.keys > 0, true
	case body[0] == '-' && len(body) > 1 && body[1] == ' ':
		return y.item(indent), y.keys > 0
	}
	if !yamlShape(text) || len(text) > 2*MaxValue {
		return false, false
	}
	key, value, _ := strings.Cut(string(body), ":")
	value, ok := yamlValue(strings.TrimSpace(value))
	if !ok || (metric(key) && !y.settled) {
		return false, false
	}
	if !y.place(indent) {
		return false, false
	}
	y.keys++
	path, known := y.path(key)
	if value == "" {
		if len(y.parents) < maxDepth {
			y.parents = append(y.parents, yamlParent{indent: indent, key: key})
		}
		return true, true
	}
	y.hard = y.hard || plainNumber(value) || flagValue(value) || len(y.parents) > 0
	if !known {
		return true, true
	}
	if y.settled {
		r.emit(path, value, r.line, YAML)
		return true, true
	}
	for _, p := range y.held {
		if p.Key == path { // wandb: a / wandb: b: a label, not a mapping
			return false, false
		}
	}
	y.held = append(y.held, Pair{Key: path, Value: value, Line: r.line})
	if y.keys >= yamlLeast && y.hard {
		y.settled = true
		for _, p := range y.held {
			r.emit(p.Key, p.Value, p.Line, YAML)
		}
		y.held = nil
	}
	return true, len(y.held) < 64
}

// item takes the line of a list's entry; what is nested in it is left out.
func (y *yamlBlock) item(indent int) bool {
	for n := len(y.parents); n > 0 && y.parents[n-1].indent > indent; n-- {
		y.parents = y.parents[:n-1]
	}
	if len(y.parents) == 0 {
		return false
	}
	if len(y.parents) < maxDepth && !y.parents[len(y.parents)-1].list {
		y.parents = append(y.parents, yamlParent{indent: indent, list: true})
	}
	return true
}

// place closes the parents that a line of this indentation is not nested in.
func (y *yamlBlock) place(indent int) bool {
	for n := len(y.parents); n > 0 && y.parents[n-1].indent >= indent; n-- {
		y.parents = y.parents[:n-1]
	}
	return len(y.parents) < maxDepth
}

func (y *yamlBlock) path(key string) (string, bool) {
	var b strings.Builder
	for _, p := range y.parents {
		if p.list {
			return "", false
		}
		b.WriteString(p.key)
		b.WriteByte('.')
	}
	b.WriteString(key)
	return b.String(), true
}

// yamlValue returns a scalar or a flow sequence without quotes and comments, and whether the text can be one rather
// than a sentence.
func yamlValue(v string) (string, bool) {
	if v == "" {
		return "", true
	}
	if q := v[0]; q == '\'' || q == '"' {
		n := stringEnd([]byte(v))
		if n < 0 {
			return "", false
		}
		return string(unquote([]byte(v[:n]))), true
	}
	if v[0] == '#' {
		return "", true
	}
	v, _, _ = strings.Cut(v, " #")
	v = strings.TrimSpace(v)
	if v[0] == '[' || v[0] == '{' {
		last := v[len(v)-1]
		return v, last == ']' || last == '}'
	}
	if strings.Contains(v, "=") || strings.Contains(v, ": ") || strings.Count(v, " ") > 2 {
		return "", false
	}
	switch v[len(v)-1] {
	case '.', ',', '!', ':', '?', ';', '{', '(':
		return "", false
	}
	return v, true
}
