package settings

import (
	"slices"
	"strings"

	"oomscan/parser/ascii"
)

// maxHeld bounds the settings that a dump holds back before it is known to be one.
const maxHeld = 64

// maxScalar bounds the text of a value; a longer one is no setting that anybody would look at.
const maxScalar = 8 * MaxValue

// block holds the settings of a dump back until enough of them say that it is one.
type block struct {
	held      []Pair
	confirmed bool
}

func (b *block) hasReported() bool { return b.confirmed }

// add reports a setting, or holds it back while the block is not settled. ready says that this one settles it.
func (b *block) add(r *Reader, p Pair, ready bool) {
	if !b.confirmed && ready {
		b.confirmed = true
		for _, h := range b.held {
			r.nested(h)
		}
		b.held = nil
	}
	if b.confirmed {
		r.nested(p)
		return
	}
	b.held = append(b.held, p)
}

// has reports whether a key is held.
func (b *block) has(key string) bool {
	return slices.ContainsFunc(b.held, func(p Pair) bool { return p.Key == key })
}

// end reports what a block that stayed too short said of known settings.
func (b *block) end(r *Reader) {
	for _, p := range b.held {
		if isKnown(strings.TrimLeft(p.Key, "-")) && scalar(p.Value) {
			if p.Form == YAML || p.Form == TOML {
				p.Form = Pairs // it was none
			}
			r.report(p)
		}
	}
	b.held = nil
}

// nested reports a setting, or those of the mapping that its value is: `{a: 1, b: {c: 2}}`, `{a = 1}`.
func (r *Reader) nested(p Pair) {
	if last := len(p.Value) - 1; last < 3 || p.Value[0] != '{' || p.Value[last] != '}' || strings.HasPrefix(p.Value, "{{") {
		r.emit(p.Key, p.Value, p.Line, p.Form)
		return
	}
	d := newLiteral(p.Form, '}')
	d.descend(p.Key)
	line := r.line
	r.line = p.Line
	d.consume(r, []byte(p.Value), 1)
	d.end(r)
	r.line = line
	if !d.reported {
		r.emit(p.Key, p.Value, p.Line, p.Form)
	}
}

// scalarText takes quotes, anchors, tags and a comment off the text of a scalar. open is the text that ends it in a
// later line, empty when it is complete.
func scalarText(v string) (value, open string) {
	for v != "" && (v[0] == '&' || v[0] == '!') { // YAML's anchor or tag
		_, v, _ = strings.Cut(v, " ")
		v = strings.TrimLeft(v, " ")
	}
	if v == "" || v[0] == '#' {
		return "", ""
	}
	if q := v[0]; q == '\'' || q == '"' {
		if triple := v[:1] + v[:1] + v[:1]; strings.HasPrefix(v, triple) {
			if body, _, ok := strings.Cut(v[3:], triple); ok {
				return body, ""
			}
			return "", triple
		}
		n := stringEnd([]byte(v))
		if n < 0 {
			return "", v[:1]
		}
		return string(unquote([]byte(v[:n]))), ""
	}
	v = uncomment(v)
	if c := v[0]; (c == '[' || c == '{') && bracketsOpen(v) {
		return "", string(closers[c])
	}
	return v, ""
}

// uncomment cuts a comment off: a number sign behind a blank and outside of quotes.
func uncomment(v string) string {
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case '\'', '"':
			if i > 0 && ascii.IsWord(v[i-1]) { // an apostrophe
				continue
			}
			if n := stringEnd([]byte(v[i:])); n > 0 {
				i += n - 1
			}
		case '#':
			if i > 0 && ascii.IsBlank(v[i-1]) {
				return strings.TrimRight(v[:i], " \t")
			}
		}
	}
	return v
}

// bracketsOpen reports whether more brackets open in v than close.
func bracketsOpen(v string) bool {
	return strings.Count(v, "[")+strings.Count(v, "{") > strings.Count(v, "]")+strings.Count(v, "}")
}
