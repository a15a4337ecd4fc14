package settings

import (
	"slices"
	"strings"

	"oomscan/parser/ascii"
	"oomscan/parser/secret"
)

// maxHeld bounds the settings of a dump that wait for confirmation.
const maxHeld = 64

// maxScalar bounds the text of a value; nobody looks at longer ones.
const maxScalar = 8 * MaxValue

// block holds the settings of a dump until enough of them confirm it.
type block struct {
	held      []Pair
	confirmed bool
}

func (b *block) hasReported() bool { return b.confirmed }

// add reports a setting, or holds it until the block is confirmed. ready means that this setting confirms it.
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

func (b *block) has(key string) bool {
	return slices.ContainsFunc(b.held, func(p Pair) bool { return p.Key == key })
}

// end reports the known settings of a block that was too short to be confirmed.
func (b *block) end(r *Reader) {
	for _, p := range b.held {
		if isKnown(strings.TrimLeft(p.Key, "-")) && scalar(p.Value) {
			if p.Form == YAML || p.Form == TOML {
				p.Form = Pairs // as it was not confirmed
			}
			r.report(p)
		}
	}
	b.held = nil
}

// nested reports a setting, or those in its value if that is a mapping: `{a: 1, b: {c: 2}}`, `{a = 1}`.
func (r *Reader) nested(p Pair) {
	if last := len(p.Value) - 1; last < 3 || p.Value[0] != '{' || p.Value[last] != '}' || strings.HasPrefix(p.Value, "{{") {
		r.emit(p.Key, p.Value, p.Line, p.Form)
		return
	}
	d := newLiteral(p.Form, '}')
	d.descend(p.Key)
	line := r.line
	r.line = p.Line
	d.consume(r, []byte(secret.Stable(p.Value)), 1) // a name and its value may be two settings of it
	d.end(r)
	r.line = line
	if !d.reported {
		r.emit(p.Key, p.Value, p.Line, p.Form)
	}
}

// scalarText strips quotes, anchors, tags and a comment from a scalar. If the scalar continues on later lines, open
// is the text that ends it.
func scalarText(v string) (value, open string) {
	for v != "" && (v[0] == '&' || v[0] == '!') { // a YAML anchor or tag
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
	if v = uncomment(v); v == "" {
		return "", ""
	}
	if c := v[0]; (c == '[' || c == '{') && bracketsOpen(v) {
		return "", string(closers[c])
	}
	return v, ""
}

// uncomment strips a comment: a number sign after a blank and outside quotes.
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
