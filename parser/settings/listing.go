package settings

import (
	"bytes"
	"strings"

	"oomscan/parser/ascii"
)

// minListing is how many lines with the same prefix make a listing.
const minListing = 2

// listing reads lines with one setting each after the same words: MaxText's `Config param NAME: VALUE`
// (MaxText/pyconfig.py), absl's `--flag=value` (FlagValues.flags_into_string), `config | key: value`.
type listing struct {
	block
	prefix string
	lines  int
}

func (r *Reader) startListing(text []byte) bool {
	prefix, _, _, ok := splitListing(text)
	return ok && r.start(&listing{prefix: prefix}, text)
}

func (l *listing) feed(r *Reader, text []byte) (fits, more bool) {
	if len(text) == 0 {
		return true, l.confirmed
	}
	prefix, key, value, ok := splitListing(text)
	if !ok || prefix != l.prefix {
		return false, l.confirmed
	}
	l.lines++
	if value != "" {
		form := Pairs
		if prefix == "--" {
			form, key = Command, "--"+key
		}
		l.add(r, Pair{Key: key, Value: value, Line: r.line, Form: form}, l.lines >= minListing)
	}
	return true, true
}

// splitListing splits a line of a listing.
func splitListing(text []byte) (prefix, key, value string, ok bool) {
	if len(text) > 4*MaxValue {
		return "", "", "", false
	}
	s := strings.TrimLeft(string(text), " ")
	if rest, flag := strings.CutPrefix(s, "--"); flag {
		key, value, ok = strings.Cut(rest, "=")
		value, open := scalarText(value)
		return "--", key, value, ok && isName(key) && open == "" && !strings.ContainsAny(value, " $`")
	}
	at := prefixEnd(text[len(text)-len(s):])
	if at == 0 {
		return assigned(s)
	}
	prefix, s = s[:at], s[at:]
	key = s[:nameEnd([]byte(s))]
	rest := strings.TrimLeft(s[len(key):], " ")
	if !isName(key) || len(rest) < 1 || rest[0] != ':' && rest[0] != '=' {
		return "", "", "", false
	}
	if len(rest) > 1 && rest[1] != ' ' && (rest[0] == ':' || rest[1] == '=') {
		return "", "", "", false
	}
	if words := strings.ToLower(prefix); advice(words) || hasWord(words, reportWords) {
		return "", "", "", false
	}
	value, ok = yamlValue(strings.TrimSpace(rest[1:]))
	return prefix, key, value, ok
}

// assigned splits `llama_context: n_ctx     = 65536`: a prefix, a name, and a number, a switch or "auto".
func assigned(s string) (prefix, key, value string, ok bool) {
	prefix, rest, ok := strings.Cut(s, ": ")
	if !ok || !isName(prefix) {
		return "", "", "", false
	}
	key, value, ok = strings.Cut(rest, " = ")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	return prefix, key, value, ok && isName(key) && !metric(key) && (scalar(value) || value == "auto")
}

// prefixEnd returns the index of the key after the prefix of a listing's line, 0 if there is no such prefix. It does
// not allocate.
func prefixEnd(s []byte) int {
	for i, n := 0, 0; n < 4 && i < len(s); n++ {
		word, next := nextWord(s, i)
		if i = next; !paramWord(word) {
			if len(word) == 0 || word[len(word)-1] == ':' {
				break
			}
			continue
		}
		for i < len(s) && bytes.IndexByte(listMarks, s[i]) >= 0 {
			i++
		}
		more, _ := nextWord(s, i)
		if paramWord(more) && more[len(more)-1] != ':' {
			continue // Config param
		}
		if key := s[i:min(len(s), i+MaxKey)]; bytes.IndexByte(key, ':') < 0 && bytes.IndexByte(key, '=') < 0 {
			return 0
		}
		return i
	}
	return 0
}

// listMarks may occur between the prefix and the key.
var listMarks = []byte(" |:-]>")

// nextWord returns the word at i and the index of the next one.
func nextWord(s []byte, i int) (word []byte, next int) {
	end := i
	for end < len(s) && !ascii.IsBlank(s[end]) {
		end++
	}
	next = end
	for next < len(s) && ascii.IsBlank(s[next]) {
		next++
	}
	return s[i:end], next
}

// paramWords are the last words of prefixes: `Config param lr: 0.1`, `[config] lr = 0.1`.
var paramWords = set(`
	config configs configuration conf cfg param params parameter parameters arg args argument arguments option options flag
	flags setting settings hparam hparams hyperparam hyperparameter hyperparameters`)

// paramWord reports whether a word without its punctuation is one of them. It does not allocate.
func paramWord(word []byte) bool {
	var low [20]byte
	if len(word) > len(low) {
		return false
	}
	from, to := 0, len(word)
	for from < to && !ascii.IsLetter(word[from]) {
		from++
	}
	for to > from && !ascii.IsLetter(word[to-1]) {
		to--
	}
	for i := from; i < to; i++ {
		low[i] = word[i] | 0x20
	}
	return to-from > 2 && paramWords[string(low[from:to])]
}
