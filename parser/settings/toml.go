package settings

import (
	"strings"

	"oomscan/parser/ascii"
)

// tomlLeast is how many assignments a block without sections needs before it is taken for a file of them.
const minTOML = 3

// tomlBlock follows sections with one assignment a line: TOML as torchtitan's job files have it, INI, and at the
// beginning of an input also a Python file of assignments as nanoGPT has them. In the middle of a log the same lines
// count when there are some of them.
type tomlBlock struct {
	block
	section   string
	skipped   bool   // inside an array of tables: its entries have no path
	wholeFile bool   // the input began with it: everything is part of it
	until     string // ends a value over many lines
}

// startTOML begins a block at a section or an assignment.
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

// assigns reports whether a line is `key = value` as TOML has it.
func assigns(s string) bool {
	key, value, ok := strings.Cut(s, " = ")
	return ok && isName(key) && tomlValue(strings.TrimSpace(value))
}

// tomlValue reports whether a text is a value of TOML or Python rather than words.
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
