package settings

import (
	"bytes"
	"strings"

	"oomscan/parser/ascii"
)

// yamlLeast is how many lines a block needs before it is taken for YAML.
const minYAML = 3

// yamlBlock follows lines of `key: value`, nested by indentation. What it reads is held back until the block is long
// enough to be YAML and not prose.
type yamlBlock struct {
	block
	parents    []yamlParent
	keys       int    // lines with a key
	indent     int    // of the last one
	structured bool   // a number, a switch or nesting was seen
	wholeFile  bool   // the input began with it: sentences, names in capitals and long values are part of it
	label      bool   // the first key is the label of what is nested in it (`cfg:`)
	until      string // ends a value over many lines
	deeper     int    // lines indented deeper than this are a block of text, -1: none
}

// yamlParent is a key whose value is in the lines that follow.
type yamlParent struct {
	indent, line int
	key          string
	list         bool   // inside a list
	mixed        bool   // with entries that are no scalars: they have no path
	items        []byte // the scalars of the list
}

// end reports what is still open, and what a block that stayed too short for YAML said of known settings.
func (y *yamlBlock) end(r *Reader) {
	y.leave(r, -1)
	y.block.end(r)
}

// startYAML begins a block with its first line.
func (r *Reader) startYAML(text []byte) bool {
	if r.open != nil || !yamlShape(text) {
		return false
	}
	return r.start(&yamlBlock{wholeFile: r.first && text[0] != ' ', deeper: -1}, text)
}

func (y *yamlBlock) feed(r *Reader, text []byte) (fits, more bool) {
	body := bytes.TrimLeft(text, " ")
	indent := len(text) - len(body)
	switch {
	case len(body) == 0:
		return true, y.confirmed || y.wholeFile
	case y.until != "":
		if bytes.HasSuffix(body, []byte(y.until)) {
			y.until = ""
		}
		return true, true
	case y.deeper >= 0 && indent > y.deeper:
		return true, true
	case body[0] == '#' || bytes.Equal(body, yamlStart):
		return y.keys > 0, true
	case body[0] == '-' && (len(body) == 1 || body[1] == ' '):
		return y.item(r, indent, strings.TrimSpace(string(body[1:min(len(body), MaxValue)]))), y.keys > 0
	}
	y.deeper = -1
	key, value, ok := yamlKey(text, y.wholeFile || y.confirmed && indent > 0)
	if !ok || len(text) > 2*MaxValue && !y.wholeFile {
		return y.wholeFile && y.keys > 0 && indent > y.indent, y.wholeFile && indent > y.indent // a long scalar goes on
	}
	if len(value) > maxScalar {
		return true, true
	}
	if !y.accepts(key, value, indent) {
		return false, false
	}
	return y.entry(r, key, value, indent)
}

// accepts reports whether a key and its value look like those of a configuration.
func (y *yamlBlock) accepts(key, value string, indent int) bool {
	if metric(key) && !y.confirmed && (!y.wholeFile || indent == 0 && plainNumber(value)) {
		return false
	}
	if y.wholeFile && y.keys > 0 {
		return true
	}
	_, ok := yamlValue(value)
	return ok
}

// entry takes the line of a key.
func (y *yamlBlock) entry(r *Reader, key, value string, indent int) (fits, more bool) {
	y.leave(r, indent)
	if len(y.parents) >= maxDepth {
		return false, false
	}
	if y.keys == 0 {
		y.label = (!y.wholeFile || r.line > r.prolog+1) && value == "" && endsWithWord(strings.ToLower(key), labelWords)
	}
	y.keys++
	y.indent = indent
	value, y.until = scalarText(value)
	if y.until != "" {
		return true, true
	}
	if value != "" && strings.Trim(value, "|>-+0123456789") == "" && (value[0] == '|' || value[0] == '>') {
		y.deeper = indent
		return true, true
	}
	path, known := y.path(key)
	if value == "" {
		y.parents = append(y.parents, yamlParent{indent: indent, line: r.line, key: key})
		return true, true
	}
	y.structured = y.structured || plainNumber(value) || isSwitch(value) || len(y.parents) > 0
	if !known || key == "<<" { // an entry of a list, YAML's merge key
		return true, true
	}
	if !y.confirmed && y.has(path) { // wandb: a / wandb: b: a label, not a mapping
		return false, false
	}
	y.add(r, Pair{Key: path, Value: value, Line: r.line, Form: YAML}, y.keys >= minYAML && y.structured)
	return true, len(y.held) < maxHeld
}

// item takes the line of a list's entry. What is nested in it has no path and is left out.
func (y *yamlBlock) item(r *Reader, indent int, text string) bool {
	y.leave(r, indent+1)
	n := len(y.parents)
	if n == 0 {
		return false
	}
	if !y.parents[n-1].list {
		if n >= maxDepth {
			return true
		}
		y.parents = append(y.parents, yamlParent{indent: indent, line: y.parents[n-1].line, list: true})
		n++
	}
	list := &y.parents[n-1]
	if _, _, nested := yamlKey([]byte(text), true); nested || strings.HasPrefix(text, "- ") {
		list.mixed = true
	}
	value, open := scalarText(text)
	list.mixed = list.mixed || open != "" || value == ""
	if len(list.items) <= MaxValue {
		if len(list.items) > 0 {
			list.items = append(list.items, ", "...)
		}
		list.items = append(list.items, value...)
	}
	return true
}

// leave closes the parents that a line of this indentation is not nested in.
func (y *yamlBlock) leave(r *Reader, indent int) {
	for n := len(y.parents); n > 0 && y.parents[n-1].indent >= indent; n-- {
		y.pop(r)
	}
}

// pop closes the innermost parent. A list of scalars is one setting.
func (y *yamlBlock) pop(r *Reader) {
	n := len(y.parents) - 1
	list := y.parents[n]
	y.parents = y.parents[:n]
	if !list.list || list.mixed || n == 0 {
		return
	}
	owner := y.parents[n-1]
	y.parents = y.parents[:n-1]
	path, known := y.path(owner.key)
	y.parents = y.parents[:n]
	if known && len(y.held) < maxHeld {
		y.add(r, Pair{Key: path, Value: "[" + string(list.items) + "]", Line: owner.line, Form: YAML}, false)
	}
}

// path is the dotted path of a key, and whether it has one.
func (y *yamlBlock) path(key string) (string, bool) {
	var b strings.Builder
	for i, p := range y.parents {
		if p.list {
			return "", false
		}
		if i > 0 || !y.label {
			b.WriteString(p.key)
			b.WriteByte('.')
		}
	}
	b.WriteString(key)
	return b.String(), true
}

// yamlKey splits `key: value`. Inside of a block that is YAML for sure a key may be in capitals or quotes.
func yamlKey(text []byte, sure bool) (key, value string, ok bool) {
	body := bytes.TrimLeft(text, " ")
	if !sure {
		if !yamlShape(text) {
			return "", "", false
		}
		key, value, _ = strings.Cut(string(body), ":")
		return key, strings.TrimSpace(value), true
	}
	n := 0
	if len(body) > 0 && (body[0] == '"' || body[0] == '\'') {
		n = stringEnd(body[:min(len(body), MaxKey)])
	} else {
		for n < len(body) && n < MaxKey && (ascii.IsWord(body[n]) || bytes.IndexByte(keyMarks, body[n]) >= 0) {
			n++
		}
	}
	if n <= 0 {
		return "", "", false
	}
	key = strings.Trim(string(body[:n]), `"'`)
	rest := bytes.TrimLeft(body[n:], " ")
	if key == "" || len(rest) == 0 || rest[0] != ':' || len(rest) > 1 && rest[1] != ' ' {
		return "", "", false
	}
	return key, strings.TrimSpace(string(rest[1:])), true
}

// keyMarks stand in keys besides letters, digits and the underscore.
var keyMarks = []byte(".-/<+*@")

// yamlValue returns a scalar or a flow sequence without quotes and comments, and whether the text can be one rather
// than a sentence.
func yamlValue(v string) (string, bool) {
	quoted := strings.HasPrefix(v, "'") || strings.HasPrefix(v, `"`)
	v, open := scalarText(v)
	if quoted || open != "" || v == "" {
		return v, open == ""
	}
	switch v[0] {
	case '[', '{', '(':
		return v, v[len(v)-1] == closers[v[0]]
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
