package settings

import (
	"bytes"
	"slices"
	"strings"

	"oomscan/parser/ascii"
)

// literal reads nested mappings as Python's repr and pprint, JSON and dataclass reprs print them, line by line, in one
// pass and without recursion:
//
//	{'a': {'b': 1, 'c': [1, 2]}, 'd': 'x'}     {"a": {"b": 1}}     Name(a=1, b=Inner(c='x'), d=<Enum.X: 3>)
//
// A mapping's entries are settings, their keys joined with dots. A sequence is one value, whatever is inside.
type literal struct {
	form         string
	stack        []frame
	path         []byte // dotted keys of the open mappings
	noLabel      bool   // without a label it could also be metrics
	unknownLabel bool   // an unknown label precedes it: settings are held until one is known
	held         []Pair // settings that wait for confirmation
	confirmed    bool   // one of them is known
	reported     bool
	rust         bool // of Rust's fields, only scalars are reported
	code         bool // of a shown script's arguments, only constants are reported

	key      string // of the current entry
	keyLine  int
	hasKey   bool
	val      []byte // its value so far, at most MaxValue+1 bytes
	isStr    bool   // val consists of string literals
	raw      []byte // text of the innermost container without entries
	rawDepth int    // depth of raw's frame; 0: none

	root       int  // column of the root's bracket in the first line, to which continuation lines are relative
	delta      int  // how far continuation lines are shifted, for example when a line prefix was stripped with one blank too many
	continued  bool // this is not the first line
	deltaKnown bool
	wrapped    bool // somebody wrapped the lines: pprint never prints two keys of a multi-line mapping on one line, nor a long one
	pairLine   int  // the latest line with two keys of one mapping
}

// frame is an open bracket.
type frame struct {
	closer   byte // 0: the root of a list that ends with the line
	mapping  bool
	keyed    bool // it is the value of a key; pathLen is the path's length before that key
	orphaned bool // its opening line is missing, so its entries have no known path
	entries  bool
	pathLen  int
	key      string
	keyLine  int
	col      int  // column of its keys; -1: unknown
	last     int  // the line of its latest key
	pair     bool // two of its keys are on one line
}

// newLiteral returns a literal with an open root.
func newLiteral(form string, closer byte) *literal {
	return &literal{form: form, stack: []frame{{closer: closer, mapping: true, col: -1}}}
}

func (d *literal) hasReported() bool { return d.reported }

func (d *literal) top() *frame { return &d.stack[len(d.stack)-1] }

func (d *literal) feed(r *Reader, text []byte) (fits, more bool) {
	i := 0
	if at := bytes.Index(text, []byte(" #")); d.code && at >= 0 && !bytes.ContainsAny(text[at:], `"'`) {
		text = bytes.TrimRight(text[:at], " ") // a comment
	}
	for i < len(text) && ascii.IsBlank(text[i]) {
		i++
	}
	if i == len(text) {
		return true, true
	}
	if !d.fits(text[i:]) {
		return false, true
	}
	d.resync(r, text, i)
	before := len(r.out)
	d.consume(r, text, i)
	return true, !d.retract(r, before) && len(d.stack) > 0
}

// retract removes the first settings of an unlabeled dump if they are the metrics of a training step.
func (d *literal) retract(r *Reader, before int) bool {
	if !d.noLabel || len(r.out) == before {
		return false
	}
	d.noLabel = false
	if !metrics(r.out[before:]) {
		return false
	}
	r.count -= len(r.out) - before
	r.out = r.out[:before]
	return true
}

func (d *literal) end(r *Reader) {
	if len(d.stack) > 0 && d.hasKey && len(d.val) > 0 {
		d.entry(r)
	}
}

// consume reads text from i on. When the root closes, the stack is empty and consume returns the index after it.
func (d *literal) consume(r *Reader, text []byte, i int) int {
	for i < len(text) && len(d.stack) > 0 {
		if ascii.IsBlank(text[i]) {
			d.keep(text[i])
			i++
			continue
		}
		switch {
		case !d.top().mapping:
			i = d.inSequence(r, text, i)
		case d.hasKey:
			i = d.inValue(r, text, i)
		default:
			i = d.atKey(r, text, i)
		}
	}
	d.wrapped = d.wrapped || d.pairLine == r.line && len(text) > longestPair
	if len(d.stack) > 0 {
		d.endOfLine(r)
	}
	d.release(r)
	return i
}

// longestPair is well above the width at which pprint begins a line for each key.
const longestPair = 120

// keep appends to the text of the innermost container, and to a value that is not a string.
func (d *literal) keep(c byte) {
	if d.rawDepth > 0 && len(d.raw) <= MaxValue {
		if c == ' ' && (len(d.raw) == 0 || d.raw[len(d.raw)-1] == ' ') {
			return
		}
		d.raw = append(d.raw, c)
	} else if c == ' ' && d.hasKey && !d.isStr && len(d.val) > 0 {
		d.grow(' ')
	}
}

func (d *literal) grow(c ...byte) {
	if len(d.val) <= MaxValue {
		d.val = append(d.val, c...)
	}
}

func (d *literal) keepAll(s []byte) {
	for _, c := range s[:min(len(s), MaxValue+1)] {
		d.keep(c)
	}
}

func (d *literal) inSequence(r *Reader, text []byte, i int) int {
	switch c := text[i]; c {
	case '\'', '"':
		n := stringEnd(text[i:])
		if n < 0 {
			n = len(text) - i
		}
		d.keepAll(text[i : i+n])
		return i + n
	case '{', '[', '(':
		d.push(c, false)
	case '}', ']', ')':
		d.closeBracket(r, c)
	default:
		d.keep(c)
	}
	return i + 1
}

func (d *literal) atKey(r *Reader, text []byte, i int) int {
	c := text[i]
	switch c {
	case '}', ']', ')':
		d.closeBracket(r, c)
		return i + 1
	case ',':
		d.keep(c)
		return i + 1
	case '{', '[', '(':
		d.push(c, c == '{' && !d.top().entries)
		return i + 1
	}
	n, quoted := 0, c == '\'' || c == '"'
	if quoted {
		if n = stringEnd(text[i:]); n < 0 {
			return len(text) // cut off
		}
	} else {
		n = nameEnd(text[i:])
	}
	if n <= 0 {
		d.keep(c)
		return i + 1
	}
	j := i + n
	for j < len(text) && text[j] == ' ' {
		j++
	}
	top := d.top()
	if j < len(text) && ((text[j] == ':' && top.closer == '}') || (text[j] == '=' && !quoted && (top.closer != '}' || d.form == TOML))) {
		name := text[i : i+n]
		if quoted {
			name = name[1 : n-1]
		}
		d.setKey(r, name, i, len(bytes.TrimLeft(text[:i], " \t")) == 0)
		return j + 1
	}
	d.keepAll(text[i : i+n])
	return i + n
}

// setKey begins an entry. In JSON, only a key at the beginning of a line shows its mapping's column: json.dumps never
// puts one after the brace, while people do and then indent the next line as they like.
func (d *literal) setKey(r *Reader, name []byte, at int, begins bool) {
	top := d.top()
	top.entries = true
	if top.last == r.line {
		top.pair, d.pairLine = true, r.line
	}
	top.last = r.line
	d.rawDepth = 0
	if top.col < 0 && (begins || d.form != JSON) {
		top.col = at - d.root
		if d.continued {
			top.col = at - d.delta
		}
	}
	d.hasKey, d.isStr, d.val, d.keyLine = true, false, d.val[:0], r.line
	d.key = string(name[:min(len(name), MaxKey+1)])
}

func (d *literal) inValue(r *Reader, text []byte, i int) int {
	c := text[i]
	switch c {
	case ',':
		d.entry(r)
	case '}', ']', ')':
		d.entry(r)
		d.closeBracket(r, c)
	case '{', '[', '(':
		d.push(c, c == '{' || (c == '(' && len(d.val) > 0))
	case '\'', '"':
		if len(d.val) > 0 && !d.isStr {
			d.grow(c)
			break
		}
		n := stringEnd(text[i:])
		if n < 0 { // cut off: the value is unknown
			d.hasKey = false
			return len(text)
		}
		d.isStr = true
		d.grow(unquote(text[i : i+n])...)
		return i + n
	case '<':
		if n := bytes.IndexByte(text[i:min(len(text), i+200)], '>'); n > 0 && len(d.val) == 0 {
			d.grow(text[i : i+n+1]...)
			return i + n + 1
		}
		d.grow(c)
	default:
		if blankSeparated(text, i) && d.top().closer != '}' && len(bytes.TrimSpace(d.val)) > 0 {
			d.entry(r)
			return i
		}
		if d.isStr { // there is no comma after a string, so the rest was written by somebody else
			d.entry(r)
			return i
		}
		d.grow(c)
	}
	return i + 1
}

// push opens a bracket. In a sequence everything is text.
func (d *literal) push(c byte, mapping bool) {
	if len(d.stack) >= maxDepth {
		d.stack = d.stack[:0]
		return
	}
	f := frame{closer: closers[c], pathLen: len(d.path), col: -1}
	if d.rawDepth == 0 {
		d.rawDepth = len(d.stack) + 1
		d.raw = append(d.raw[:0], bytes.TrimLeft(d.val, " ")...)
		if !d.hasKey {
			d.raw = d.raw[:0]
		}
	}
	d.keep(c)
	f.keyed, f.key, f.keyLine, f.orphaned = d.hasKey, d.key, d.keyLine, d.top().orphaned
	if mapping {
		f.mapping = true
		if f.keyed {
			d.descend(f.key)
		}
	}
	d.hasKey, d.isStr, d.val = false, false, d.val[:0]
	d.stack = append(d.stack, f)
}

// descend extends the path. emit rejects keys that become too long.
func (d *literal) descend(key string) {
	if len(d.path) > 0 {
		d.path = append(d.path, '.')
	}
	d.path = append(d.path, key[:min(len(key), MaxKey)]...)
}

// closeBracket closes the frame that c matches, and the frames inside it, whose own brackets were in a missing line.
// A bracket that matches nothing is text.
func (d *literal) closeBracket(r *Reader, c byte) {
	at := len(d.stack) - 1
	for at >= 0 && d.stack[at].closer != c {
		at--
	}
	if at < 0 {
		d.keep(c)
		return
	}
	for len(d.stack)-1 > at {
		d.drop()
	}
	f := *d.top()
	d.keep(c)
	d.path = d.path[:f.pathLen]
	depth := len(d.stack)
	d.stack = d.stack[:depth-1]
	if depth == 2 && d.delta < 0 {
		d.delta, d.deltaKnown = 0, false // the next field's dict may have another indentation
	}
	if f.entries || d.rawDepth != depth { // entries were reported one by one, or f is part of a longer text
		if f.entries {
			d.rawDepth = 0
			d.hasKey = false
			if depth > 1 {
				d.top().entries = true
			}
		}
		return
	}
	d.rawDepth = 0
	if f.keyed && depth > 1 {
		d.hasKey, d.isStr, d.key, d.keyLine = true, false, f.key, f.keyLine
		d.val = append(d.val[:0], d.raw...)
		d.entry(r)
	}
}

// entry reports the current entry.
func (d *literal) entry(r *Reader) {
	d.hasKey = false
	val := bytes.TrimSpace(d.val)
	if d.top().orphaned || (len(val) == 0 && !d.isStr) || !plausibleKey(d.key) {
		return
	}
	p := Pair{Key: d.key, Value: string(val), Line: d.keyLine, Form: d.form}
	if len(d.path) > 0 {
		p.Key = string(d.path) + "." + p.Key
	}
	if d.code && !d.isStr && !scalar(p.Value) {
		return
	}
	if d.rust {
		if p.Value = rustValue(p.Value, d.isStr); p.Value == "" || len(d.stack) > 1 {
			return
		}
	}
	if d.unknownLabel {
		d.hold(p)
		return
	}
	d.reported = true
	r.emit(p.Key, p.Value, p.Line, p.Form)
}

// plausibleKey rejects metrics ("actor/loss"), sentences and the class names in Hydra's dicts.
func plausibleKey(key string) bool {
	return key != "" && key != "_target_" && !strings.ContainsAny(key, "/ \t\n{}[]()<>:,;=\"'")
}

// endOfLine completes what cannot continue on the next line.
func (d *literal) endOfLine(r *Reader) {
	if d.hasKey && !d.isStr && len(d.val) > 0 && d.top().mapping {
		d.entry(r)
	}
	d.wrapped = d.wrapped || slices.ContainsFunc(d.stack, func(f frame) bool { return f.pair })
	if len(d.stack) == 1 && d.top().closer == 0 {
		if d.hasKey && d.isStr {
			d.entry(r)
		}
		d.stack = d.stack[:0]
		return
	}
	if d.rawDepth > 0 && len(d.raw) > 0 {
		d.keep(' ')
	}
}
