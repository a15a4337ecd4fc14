package settings

import (
	"strings"

	"oomscan/parser/ascii"
)

// minTOML is how many assignments confirm a block without sections.
const minTOML = 3

// tomlBlock reads sections and assignments: TOML as in torchtitan's job files, INI, and at the beginning of an input
// also a Python file of assignments as in nanoGPT. In the middle of a log it takes several such lines.
type tomlBlock struct {
	block
	section   string
	skipped   bool   // in an array of tables, whose entries have no path
	wholeFile bool   // the input began with it, so everything is part of it
	until     string // the text that ends a value of several lines
}

func (r *Reader) startTOML(text []byte) bool {
	if r.open != nil || !sectionShape(text) && (ascii.IsBlank(text[0]) || !assigns(string(text))) {
		return false
	}
	return r.start(&tomlBlock{wholeFile: r.first}, text)
}

func (t *tomlBlock) feed(r *Reader, text []byte) (fits, more bool) {
	s := strings.TrimSpace(string(text))
	switch {
	case t.until != "":
		if strings.Contains(s, t.until) {
			t.until = ""
		}
		return true, true
	case s == "":
		return true, t.confirmed || t.section != "" || t.wholeFile
	case s[0] == '#' || s[0] == ';':
		return true, true
	case sectionShape(text):
		t.skipped = strings.HasPrefix(s, "[[")
		t.section = strings.Trim(s, "[]") + "."
		return true, true
	}
	key, value, ok := strings.Cut(s, "=")
	key = strings.Trim(strings.TrimSpace(key), `"`)
	if !ok || !isName(key) || value == "" || value[0] == '=' {
		return false, false
	}
	if metric(key) && !(t.section != "" && (t.wholeFile || t.confirmed)) && !(t.wholeFile && t.confirmed) {
		return false, false
	}
	value = strings.TrimSpace(value)
	if len(value) > maxScalar {
		return true, true
	}
	if !t.wholeFile && !tomlValue(value) {
		return false, false
	}
	value, t.until = scalarText(value)
	if t.until != "" || value == "" || t.skipped || len(t.held) >= maxHeld {
		return true, true
	}
	least := minTOML
	if t.section != "" {
		least = 1
	}
	t.add(r, Pair{Key: t.section + key, Value: value, Line: r.line, Form: TOML}, len(t.held)+1 >= least)
	return true, true
}

// assigns reports whether a line is TOML's `key = value`.
func assigns(s string) bool {
	key, value, ok := strings.Cut(s, " = ")
	return ok && isName(key) && tomlValue(strings.TrimSpace(value))
}

// tomlValue reports whether a text is a TOML or Python value instead of words.
func tomlValue(v string) bool {
	if v == "" {
		return false
	}
	switch v[0] {
	case '"', '\'', '[', '{', '(':
		return true
	}
	v = uncomment(v)
	return isSwitch(v) || !strings.Contains(v, " ") && (ascii.IsDigit(v[0]) || v[0] == '-' || v[0] == '+' || v[0] == '.')
}
