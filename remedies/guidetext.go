package remedies

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Guides are written in a small part of YAML: block maps and lists, lists and maps in brackets on one line, plain and
// quoted values, | and >- blocks, and comments on lines of their own. A report reads it in a millisecond, where a general
// decoder takes twenty. The tests hold what is read against such a decoder.

// decodeText reads a guide's or a manual's text into a value. Keys that the value does not know are errors, and so is
// what this part of YAML lacks. Errors begin with the file and the line.
func decodeText(name string, text []byte, to any) error {
	r := &textReader{lines: strings.Split(string(text), "\n")}
	if !r.more() {
		return fmt.Errorf("%s:1: the file is empty", name)
	}
	r.block(r.indent())
	if r.err == nil && r.more() {
		r.fail("this line does not belong here")
	}
	if r.err != nil {
		return fmt.Errorf("%s:%d: %w", name, r.at+1, r.err)
	}
	d := json.NewDecoder(bytes.NewReader(r.json))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		_, key, _ := strings.Cut(strings.TrimSuffix(err.Error(), `"`), `field "`)
		return fmt.Errorf("%s:%d: %w", name, lineOf(text, key+":"), err)
	}
	return nil
}

// textReader turns lines of YAML into JSON.
type textReader struct {
	lines []string
	at    int // the line that is read next
	json  []byte
	err   error // the first mistake, in line at
	depth int   // of brackets
}

func (r *textReader) fail(what string) {
	if r.err == nil {
		r.err = errors.New(what)
	}
}

// more goes to the next line that is neither empty nor a comment.
func (r *textReader) more() bool {
	for r.at < len(r.lines) {
		if t := strings.TrimSpace(r.lines[r.at]); t != "" && t[0] != '#' {
			return true
		}
		r.at++
	}
	return false
}

// indent is how far the next line is indented, -1 at the end.
func (r *textReader) indent() int {
	if !r.more() {
		return -1
	}
	return indentOf(r.lines[r.at])
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// block reads a map or a list whose lines have an indent.
func (r *textReader) block(indent int) {
	if indent >= 0 && strings.HasPrefix(r.lines[r.at][indent:], "- ") {
		r.list(indent)
		return
	}
	r.object(indent)
}

func (r *textReader) list(indent int) {
	r.put('[')
	for r.err == nil && r.indent() == indent && strings.HasPrefix(r.lines[r.at][indent:], "- ") {
		r.separate('[')
		item := r.lines[r.at][indent+2:]
		if _, _, isMap := cutKey(item); isMap {
			r.lines[r.at] = strings.Repeat(" ", indent+2) + item
			r.object(indent + 2)
			continue
		}
		r.line(item)
	}
	r.put(']')
}

func (r *textReader) object(indent int) {
	r.put('{')
	seen := map[string]bool{}
	for r.err == nil && r.indent() == indent {
		key, value, ok := cutKey(r.lines[r.at][indent:])
		if !ok || seen[key] {
			r.fail(fmt.Sprintf("%q: no key, or a key that is set twice", r.lines[r.at]))
			return
		}
		seen[key] = true
		r.separate('{')
		r.text(key)
		r.put(':')
		switch value {
		case "":
			at := r.at
			r.at++
			if deeper := r.indent(); deeper > indent {
				r.block(deeper)
			} else {
				r.at = at
				r.fail(key + " has no value")
			}
		case "|", ">-":
			r.at++
			r.text(r.folded(indent, value == ">-"))
		default:
			r.line(value)
		}
	}
	r.put('}')
}

// cutKey cuts a line of a map at its colon.
func cutKey(line string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(line, ":")
	ok = ok && strings.Trim(key, "abcdefghijklmnopqrstuvwxyz_") == "" && (value == "" || value[0] == ' ')
	return key, strings.TrimSpace(value), ok
}

// folded reads the lines of a | or, with their breaks as spaces, a >- block.
func (r *textReader) folded(indent int, fold bool) string {
	var out []string
	first := -1
	for ; r.at < len(r.lines); r.at++ {
		line := r.lines[r.at]
		if strings.TrimSpace(line) == "" {
			out = append(out, "")
			continue
		}
		if indentOf(line) <= indent {
			break
		}
		if first < 0 {
			first = indentOf(line)
		}
		out = append(out, line[min(first, indentOf(line)):])
	}
	body := strings.TrimRight(strings.Join(out, "\n"), "\n")
	if fold {
		return strings.ReplaceAll(body, "\n", " ")
	}
	return body + "\n"
}

// line reads what stands on one line behind a key or a dash.
func (r *textReader) line(value string) {
	if rest := r.value(value, ""); strings.TrimSpace(rest) != "" {
		r.fail(fmt.Sprintf("%q: more than one value", value))
	}
	if r.err == nil {
		r.at++
	}
}

// value reads one value and returns what follows it. A plain one ends before any of the characters in until.
func (r *textReader) value(s, until string) (rest string) {
	switch (s + " ")[0] {
	case '[', '{':
		return r.flow(s)
	case '\'':
		body, rest, ok := strings.Cut(strings.ReplaceAll(s[1:], "''", "\x00"), "'")
		if !ok {
			r.fail("a quote is open")
		}
		r.text(strings.ReplaceAll(body, "\x00", "'"))
		return strings.ReplaceAll(rest, "\x00", "''")
	case '"':
		end := 1
		for end < len(s) && s[end] != '"' {
			if s[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(s) {
			r.fail("a quote is open")
			return ""
		}
		r.json = append(r.json, s[:end+1]...) // JSON has the same escapes
		return s[end+1:]
	}
	end := strings.IndexAny(s, until)
	if end < 0 {
		end = len(s)
	}
	switch plain := strings.TrimSpace(s[:end]); plain {
	case "":
		r.fail("a value is missing")
	case "true", "false":
		r.json = append(r.json, plain...)
	default:
		r.text(plain)
	}
	return s[end:]
}

// maxBrackets is how deep brackets are nested: a list of maps of lists.
const maxBrackets = 8

// flow reads a list or a map in brackets.
func (r *textReader) flow(s string) (rest string) {
	if r.depth++; r.depth > maxBrackets {
		r.fail("brackets are nested too deep")
		return ""
	}
	defer func() { r.depth-- }()
	open, end := s[0], byte(']')
	if open == '{' {
		end = '}'
	}
	r.put(open)
	for s = strings.TrimLeft(s[1:], " "); r.err == nil; s = strings.TrimLeft(s[1:], " ") {
		r.separate(open)
		if open == '{' {
			key, value, ok := cutKey(s)
			if !ok {
				r.fail("no key in braces")
				return ""
			}
			r.text(key)
			r.put(':')
			s = value
		}
		s = strings.TrimLeft(r.value(s, ",]}"), " ")
		if s == "" || s[0] != ',' && s[0] != end {
			r.fail("a bracket is open")
			return ""
		}
		if s[0] == end {
			r.put(end)
			return s[1:]
		}
	}
	return ""
}

func (r *textReader) put(c byte) { r.json = append(r.json, c) }

// separate puts a comma between the elements of what c has opened.
func (r *textReader) separate(c byte) {
	if r.json[len(r.json)-1] != c {
		r.put(',')
	}
}

func (r *textReader) text(s string) {
	quoted, _ := json.Marshal(s) // a string cannot fail
	r.json = append(r.json, quoted...)
}
