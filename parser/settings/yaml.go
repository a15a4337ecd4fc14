package settings

import (
	"bytes"
	"strings"

	"oomscan/parser/ascii"
)

// minYAML is how many lines confirm a YAML block.
const minYAML = 3

// yamlBlock reads lines of `key: value`, nested by indentation. It holds settings until the block is long enough to
// be YAML and not prose.
type yamlBlock struct {
	block
	parents    []yamlParent
	keys       int    // lines with a key
	indent     int    // of the last one
	structured bool   // it has a number, a switch or nesting
	wholeFile  bool   // the input began with it, so sentences, capitalized names and long values are part of it
	label      bool   // the first key only labels the mapping (`cfg:`)
	until      string // the text that ends a value of several lines
	deeper     int    // lines indented deeper than this are block text; -1: none
}

// yamlParent is a key with its value on the following lines.
type yamlParent struct {
	indent, line int
	key          string
	list         bool   // it is a list
	mixed        bool   // some entries are not scalars and have no path
	items        []byte // the scalars of the list
}

// end reports pending settings.
func (y *yamlBlock) end(r *Reader) {
	y.leave(r, -1)
	y.block.end(r)
}

func (r *Reader) startYAML(text []byte) bool {
	if r.open != nil || !yamlShape(text) || bytes.HasPrefix(bytes.TrimLeft(text, " "), []byte("value:")) { // of a name on the line before
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
		return y.wholeFile && y.keys > 0 && indent > y.indent, y.wholeFile && indent > y.indent // a long scalar continues
	}
	if len(value) > maxScalar {
		return true, true
	}
	if !y.accepts(key, value, indent) {
		return false, false
	}
	return y.entry(r, key, value, indent)
}

// accepts reports whether a key and its value may be part of a configuration.
func (y *yamlBlock) accepts(key, value string, indent int) bool {
	if strings.HasSuffix(key, "Error") || strings.HasSuffix(key, "Exception") { // the program failed behind its configuration
		return false
	}
	if metric(key) && !y.confirmed && (!y.wholeFile || indent == 0 && plainNumber(value)) {
		return false
	}
	if y.wholeFile && y.keys > 0 {
		return true
	}
	_, ok := yamlValue(value)
	return ok
}

// entry handles a line with a key.
func (y *yamlBlock) entry(r *Reader, key, value string, indent int) (fits, more bool) {
	y.leave(r, indent)
	if len(y.parents) >= maxDepth {
		return false, false
	}
	if strings.HasPrefix(value, "[") {
		r.argument([]byte(key + ": " + value))
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
	y.structured = y.structured || plainNumber(value) || isSwitch(value) || value[0] == '{' || len(y.parents) > 0
	if !known || key == "<<" { // in a list, or YAML's merge key
		return true, true
	}
	if !y.confirmed && y.has(path) { // `wandb: a`, `wandb: b` is a label, not a mapping
		return false, false
	}
	y.add(r, Pair{Key: path, Value: value, Line: r.line, Form: YAML}, y.keys >= minYAML && y.structured)
	return true, len(y.held) < maxHeld
}

// item handles an entry of a list. Mappings in it have no path and are ignored.
func (y *yamlBlock) item(r *Reader, indent int, text string) bool {
	r.argument([]byte("- " + text))
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

// leave closes the parents that do not contain a line of this indentation.
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

// path returns the dotted path of a key, and false inside a list, where keys have none.
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

// yamlKey splits `key: value`. sure means that the block is certainly YAML, where keys may be capitalized or quoted.
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
	value = strings.TrimSpace(string(rest[1:]))
	if body[0] == '\'' || body[0] == '"' { // a line of a printed dictionary
		value = strings.TrimSuffix(value, ",")
	}
	return key, value, true
}

// keyMarks are allowed in keys besides letters, digits and underscores.
var keyMarks = []byte(".-/<+*@")

// yamlValue returns a scalar or a flow sequence without quotes and comments. ok is false if the text is rather a
// sentence.
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
