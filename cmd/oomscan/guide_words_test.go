package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// node is a JSON value that keeps the order of an object's keys, so that a parameter's value stays beside its key.
type node struct {
	key  string // of the object that holds it, or of the array that does
	text string // of a string; of a number or a boolean where it is the value of something (isValue)
	list bool
	kids []node
}

// isValue are the keys whose numbers and booleans are facts; anywhere else (a place in a list, a mark of an item) they
// would be found for the fact that they are not.
var isValue = []string{"value", "default", "min", "max", "from", "to", "old", "new", "before", "after"}

// parseNode reads one JSON document.
func parseNode(data []byte) (node, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return readNode(dec, "")
}

func readNode(dec *json.Decoder, key string) (node, error) {
	n := node{key: key}
	tok, err := dec.Token()
	if err != nil {
		return n, err
	}
	opened, nested := tok.(json.Delim)
	if !nested {
		if s, ok := tok.(string); ok {
			n.text = s
		} else if tok != nil && slices.Contains(isValue, key) {
			n.text = fmt.Sprint(tok)
		}
		return n, nil
	}
	n.list = opened == '['
	for dec.More() {
		if !n.list {
			name, err := dec.Token()
			if err != nil {
				return n, err
			}
			key = fmt.Sprint(name)
		}
		kid, err := readNode(dec, key)
		if err != nil {
			return n, err
		}
		n.kids = append(n.kids, kid)
	}
	_, err = dec.Token()
	return n, err
}

// child is the value under a key, empty when there is none.
func (n node) child(key string) node {
	for _, k := range n.kids {
		if k.key == key {
			return k
		}
	}
	return node{}
}

// visit calls f with every text below n, in their order.
func (n node) visit(f func(node)) {
	if n.text != "" {
		f(n)
	}
	for _, k := range n.kids {
		k.visit(f)
	}
}

// words is all the text below n as folded leaves it, with the paths of what its snippets nest, and with each
// parameter's key beside its value and its default, whatever stands between them.
func (n node) words() string {
	var b strings.Builder
	n.visit(func(k node) {
		b.WriteString(folded(k.text) + "\n")
		if strings.Contains(k.text, "\n") {
			b.WriteString(folded(dotted(k.text)) + "\n")
		}
	})
	n.pairs(&b)
	return folded(b.String())
}

// pairs writes "key value" and "key default value" for every object below n that has them, in each spelling of the key.
func (n node) pairs(b *strings.Builder) {
	keys := []string{n.child("key").text}
	for _, s := range n.child("spellings").kids {
		keys = append(keys, s.child("key").text)
	}
	for _, key := range keys {
		if v := n.child("value").text; key != "" && v != "" {
			fmt.Fprintf(b, "%s %s\n", folded(key), folded(v))
		}
		if v := n.child("default").text; key != "" && v != "" {
			fmt.Fprintf(b, "%s default %s\n", folded(key), folded(v))
		}
	}
	for _, k := range n.kids {
		k.pairs(b)
	}
}

// names are the texts by which an item is called: the keys of its parameters and its title.
func (n node) names() string {
	var b strings.Builder
	n.visit(func(k node) {
		if k.key == "key" || k.key == "title" {
			b.WriteString(k.text + "\n")
		}
	})
	return folded(b.String())
}

// sequences are the lists in which an order is looked for: the items of each of the document's lists, or every array
// below the part of that name.
func (n node) sequences(in string) [][]node {
	var out [][]node
	if in == "" {
		for _, l := range n.child("lists").kids {
			out = append(out, l.child("items").kids)
		}
		return out
	}
	var arrays func(node)
	arrays = func(k node) {
		if k.list {
			out = append(out, k.kids)
		}
		for _, kid := range k.kids {
			arrays(kid)
		}
	}
	arrays(n.child(in))
	return out
}

// outOfOrder says why the items do not hold the terms in that order, "" when they do. An item holds a term first of
// all in the keys of its parameters and in its title: prose may mention what another item is about. Apart asks for
// more than one item: what a single one holds altogether, the table around a table, has no order.
func outOfOrder(items []node, terms []string, apart bool) string {
	names, prose := make([]string, len(items)), make([]string, len(items))
	for i, it := range items {
		names[i], prose[i] = it.names(), it.words()
	}
	first, last := -1, 0
	for _, term := range terms {
		has := func(text string) bool { return holds(text, term) }
		at := slices.IndexFunc(names, has)
		if at < 0 {
			at = slices.IndexFunc(prose, has)
		}
		if at < 0 {
			return fmt.Sprintf("%d items, none with %q", len(items), term)
		}
		if at < last {
			return fmt.Sprintf("%q is in item %d, after one of item %d", term, at+1, last+1)
		}
		if first < 0 {
			first = at
		}
		last = at
	}
	if apart && first == last {
		return fmt.Sprintf("%d items, all the terms in item %d", len(items), last+1)
	}
	return ""
}

var (
	plainSigns  = strings.NewReplacer("`", "", "*", "", `"`, "", "'", "", "’", "", "\u00a0", " ", "–", "-", "—", "-", "×", "x")
	plainPairs  = regexp.MustCompile(`\s*[:=]\s+|\s*=\s*`)
	plainCommas = regexp.MustCompile(`\s*,\s+`)
	plainUnits  = regexp.MustCompile(`(\d)\s+([kmgt]i?b\b|%)`)
	plainRanges = regexp.MustCompile(`(\d)\s+-\s+(\d)`)
)

// folded takes out of a text what a rewording may change without changing a fact: case, white space, quotation marks,
// the sign between a key and its value, the space before a unit.
func folded(text string) string {
	text = strings.Join(strings.Fields(plainSigns.Replace(strings.ToLower(text))), " ")
	text = plainPairs.ReplaceAllString(text, " ")
	text = plainCommas.ReplaceAllString(text, ",")
	text = plainUnits.ReplaceAllString(text, "$1$2")
	return strings.TrimSpace(plainRanges.ReplaceAllString(text, "$1-$2"))
}

var nestedKey = regexp.MustCompile(`^(\s*)([\w.-]+):(?:\s+(.*))?$`)

// dotted writes each key that a YAML snippet nests as its path and value, one a line: a.b.c: v. It reads lines, not
// YAML, because a snippet may leave things out or say a key twice.
func dotted(snippet string) string {
	type level struct {
		indent int
		key    string
	}
	var stack []level
	var b strings.Builder
	for line := range strings.Lines(snippet) {
		line = strings.TrimRight(line, " \t\r\n")
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if indent == len(line) {
			continue
		}
		for len(stack) > 0 && stack[len(stack)-1].indent >= indent {
			stack = stack[:len(stack)-1]
		}
		m := nestedKey.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		stack = append(stack, level{indent, m[2]})
		for i, l := range stack {
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(l.key)
		}
		value, _, _ := strings.Cut(" "+m[3], " #")
		b.WriteString(": " + strings.TrimSpace(value) + "\n")
	}
	return b.String()
}

// holds tells whether a folded text has one of the alternatives of a term. A number is found whole (0.8 is not in 0.85),
// a word at its beginning (long is in longer, not in along) or after an underscore.
func holds(text, term string) bool {
	for alternative := range strings.SplitSeq(term, "|") {
		alternative, whole := strings.CutPrefix(alternative, "=")
		want := folded(alternative)
		for from := 0; ; {
			i := strings.Index(text[from:], want)
			if i < 0 {
				break
			}
			at := from + i
			if bounded(text, at, at+len(want), whole) {
				return true
			}
			from = at + 1
		}
	}
	return false
}

// bounded tells whether text[at:end] stands for itself there.
func bounded(text string, at, end int, whole bool) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	first, _ := utf8.DecodeRuneInString(text[at:])
	last, _ := utf8.DecodeLastRuneInString(text[:end])
	after, size := utf8.DecodeRuneInString(text[end:])
	then, _ := utf8.DecodeRuneInString(text[min(len(text), end+size):])
	wordy := func(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
	switch {
	case (wordy(first) || first == '-') && wordy(before), first == '-' && before == '-':
		return false
	case unicode.IsDigit(first) && before == '.' && at > 1 && unicode.IsDigit(rune(text[at-2])):
		return false
	case unicode.IsDigit(last) && (unicode.IsDigit(after) || after == '.' && unicode.IsDigit(then)):
		return false
	case whole && (before == '_' || after == '_' || wordy(after)):
		return false
	}
	return true
}

// copiedRun is how many words in a row make a copied sentence.
const copiedRun = 8

// runsOf are all the runs of so many words of a document.
func runsOf(document string) map[string]bool {
	words := letters(document)
	runs := map[string]bool{}
	for i := range len(words) - copiedRun + 1 {
		runs[strings.Join(words[i:i+copiedRun], " ")] = true
	}
	return runs
}

// copied is the first of those runs that a text of more words than a run has, "" when it has none.
func copied(text string, runs map[string]bool) string {
	words := letters(text)
	if len(words) <= copiedRun {
		return ""
	}
	for i := range len(words) - copiedRun + 1 {
		if run := strings.Join(words[i:i+copiedRun], " "); runs[run] {
			return run
		}
	}
	return ""
}

// letters are the words of a text without anything but their letters, in lower case.
func letters(text string) []string {
	var out []string
	for w := range strings.FieldsSeq(strings.ToLower(text)) {
		w = strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' {
				return r
			}
			return -1
		}, w)
		if w != "" {
			out = append(out, w)
		}
	}
	return out
}

func TestTermIsFoundInEverySpellingOfTheSameFact(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, term string
		want       bool
	}{
		"key and value of a snippet":      {"  a_key:   True  # why", "a_key: true", true},
		"key and value of a command":      {"x.a_key=True", "a_key: True", true},
		"key and value of another":        {"a_key: False", "a_key: True", false},
		"flag with its value":             {"pass `--flag 4`", "--flag 4", true},
		"flag inside a longer one":        {"--no--flag", "--flag", false},
		"number inside a number":          {"use 0.85 or 1024", "0.8|24|102", false},
		"number before a full stop":       {"use 0.8.", "0.8", true},
		"word that a longer one begins":   {"longer prompts", "long", true},
		"word that a longer one ends":     {"along", "long", false},
		"name that a longer one ends":     {"ulysses_sp_size", "sp_size", true},
		"whole name inside a longer one":  {"ulysses_sp_size", "=sp_size", false},
		"whole name by itself":            {"raise `sp_size`.", "=sp_size", true},
		"second alternative":              {"double it", "2x|double", true},
		"unit apart":                      {"below 5 GB", "5GB", true},
		"range apart":                     {"0.8 – 0.9", "0.8-0.9", true},
		"list with and without spaces":    {"[1,2,4]", "1, 2, 4", true},
		"text that ends with its number":  {"d32", "d32", true},
		"nothing":                         {"", "a", false},
		"bytes that are no text are none": {"\xff4", "4", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, holds(folded(c.text), c.term))
		})
	}
}

func TestNestedKeysAreFoundByTheirPath(t *testing.T) {
	t.Parallel()
	snippet := "a:\n  b:\n    # why\n    c: 1  # small\n    d: [1, 2]\n  e: x\na:\n  f: y\n"
	assert.Equal(t, "a: \na.b: \na.b.c: 1\na.b.d: [1, 2]\na.e: x\na: \na.f: y\n", dotted(snippet))
}

func TestOrderIsThatOfTheItemsAboutIt(t *testing.T) {
	t.Parallel()
	doc, err := parseNode([]byte(`{"lists":[
		{"items":[{"order":1,"title":"Lower beta","parameters":[{"key":"beta","surface":"yaml","value":7,"default":"3","spellings":[{"key":"--beta"}]}]}]},
		{"items":[
			{"order":1,"title":"Lower alpha","detail":"before gamma","parameters":[{"key":"x.alpha","value":"1"}]},
			{"order":2,"title":"Turn beta on","parameters":[{"key":"beta","value":true}]},
			{"order":3,"title":"Other","detail":"only prose has delta","parameters":[{"key":"y","spellings":[{"key":"--gamma"}]}]}]}],
		"goals":[{"rows":[{"goal":"first"},{"goal":"second"}]}]}`))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		in    string
		terms []string
		want  bool
	}{
		"in their order":                     {"", []string{"alpha", "beta", "gamma"}, true},
		"several of one item":                {"", []string{"alpha", "--gamma", "delta"}, true},
		"going back":                         {"", []string{"beta", "alpha"}, false},
		"one missing":                        {"", []string{"alpha", "epsilon"}, false},
		"a key goes before prose":            {"", []string{"gamma", "beta"}, false},
		"value beside its key":               {"", []string{"beta: true"}, true},
		"a place is no number of the item":   {"", []string{"2"}, false},
		"a table in another part":            {"goals", []string{"first", "second"}, true},
		"a table in another part going back": {"goals", []string{"second", "first"}, false},
		"a part that is not there":           {"steps", []string{"first"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept := slices.ContainsFunc(doc.sequences(c.in), func(l []node) bool { return outOfOrder(l, c.terms, c.in != "") == "" })
			assert.Equal(t, c.want, kept)
		})
	}
	for term, want := range map[string]bool{"beta: 7": true, "--beta 7": true, "--beta default 3": true, "beta: 1": false, "2": false} {
		assert.Equal(t, want, holds(doc.words(), term), term)
	}
}

func TestCopiedSentenceIsFoundUnderItsMarkup(t *testing.T) {
	t.Parallel()
	runs := runsOf("One **two** three,\nfour `five_5` - six seven eight nine. Ten.")
	for name, c := range map[string]struct{ text, want string }{
		"a run inside a longer text":  {"Zero one two three four five six seven eight!", "one two three four five six seven eight"},
		"other words between":         {"One two three four and five six seven eight nine ten", ""},
		"no longer than the run":      {"One two three four five six seven eight", ""},
		"figures are no words of it":  {"one 1 two 2 three 3 four 4 five 5 six 6 seven 7", ""},
		"a text shorter than one run": {"one two", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, copied(c.text, runs))
		})
	}
	assert.Empty(t, runsOf("too short"))
}
