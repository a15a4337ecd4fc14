package settings

import (
	"bytes"
	"strings"
)

// rustOpen stands between a structure's name and its fields in Rust's debug print.
var rustOpen = []byte(" { ")

// startRust reads a structure as Rust prints it with {:?}, `Args { model_id: "m", num_shard: Some(4), quantize: None }`
// (text-generation-inference and text-embeddings-inference, launcher/src/main.rs). Fields that hold structures or lists
// are left out.
func (r *Reader) startRust(text []byte) bool {
	at := bytes.Index(text, rustOpen)
	if at <= 0 {
		return false
	}
	name := nameBefore(text[:at])
	if !reprName(name) || len(name) < at && text[at-len(name)-1] != ' ' {
		return false
	}
	rest := text[at+len(rustOpen):]
	if n := nameEnd(rest); n == 0 || !bytes.HasPrefix(rest[n:], []byte(": ")) {
		return false
	}
	for len(rest) > 0 {
		n := nameEnd(rest)
		if n == 0 || !bytes.HasPrefix(rest[n:], []byte(": ")) {
			break
		}
		key := rest[:n]
		rest = rest[n+2:]
		end := rustValueEnd(rest)
		if value, ok := rustValue(rest[:end]); ok {
			r.emit(string(key), value, r.line, Repr)
		}
		rest = bytes.TrimPrefix(rest[end:], []byte(", "))
	}
	return true
}

// rustValueEnd is where the value that s begins with ends: before a comma or brace outside of brackets and strings.
func rustValueEnd(s []byte) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			n := stringEnd(s[i:])
			if n < 0 {
				return len(s)
			}
			i += n - 1
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth == 0 {
				return i
			}
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return len(s)
}

// rustValue is the text of a scalar, freed of Some(...) and of quotes.
func rustValue(v []byte) (string, bool) {
	v = bytes.TrimSpace(v)
	for bytes.HasPrefix(v, []byte("Some(")) && bytes.HasSuffix(v, []byte(")")) {
		v = bytes.TrimSpace(v[len("Some(") : len(v)-1])
	}
	switch {
	case len(v) == 0 || len(v) > MaxValue:
		return "", false
	case v[0] == '"':
		if n := stringEnd(v); n != len(v) {
			return "", false
		}
		return string(unquote(v)), true
	}
	s := string(v)
	return s, !strings.ContainsAny(s, "{}[]()")
}
