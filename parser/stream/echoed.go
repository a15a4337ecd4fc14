package stream

import (
	"bytes"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/lazyre"
)

// isRegexp is in an expression and in few other texts. A list of what was found may hold what looks like one.
var (
	isRegexp = lazyre.New(`\\[dwsb][+*{)]|\\\.|\.\*|\(\?`)
	wasFound = lazyre.New(`(?i)match|found|hit|detected|seen|error|fail`)
)

// isSought reports whether an event is an item in a list of what a program looks for: a text in quotes alone behind a label, below others with
// that label that hold regular expressions.
func (r *Reader) isSought(e *parser.Event, at int) bool {
	own, _, _ := bytes.Cut(r.buf[at:], newline)
	if own = bytes.TrimRight(own, " \r"); len(own) == 0 || !isQuoteAt(own, len(own)-1) {
		return false // as most events
	}
	item, _ := envelope.Peel(own)
	end := len(item) - 1
	if end < 0 || bytes.Count(item, item[end:]) != 2 {
		return false
	}
	label := bytes.TrimSuffix(item[:bytes.IndexByte(item, item[end])], []byte{'r'})
	if len(label) == 0 || wasFound().Match(label) {
		return false
	}
	for line := range r.above(at) {
		body, h := envelope.Peel(line)
		n, same := alike(body, label)
		if same < len(label) || h.Stream != e.Header.Stream {
			return false
		}
		if isRegexp().Match(body[n:]) {
			return true
		}
	}
	return false
}

// echo is a command that prints a text, as set -x shows it, and reads one that gets a text from elsewhere: so do those in a substitution, which
// have one more sign.
var (
	echo  = lazyre.New(`^(\+{1,9}) echo (?:-[en]{1,2} )?(.+)$`)
	reads = lazyre.New(`^\+{1,9} (?:IFS=\S* )?read\b`)
)

// isEchoed reports whether an event is a text that a script prints of its own, under set -x: it may tell of a failure or of what is done about
// one. A message with an allocator's figures was found somewhere.
func (r *Reader) isEchoed(e *parser.Event, at int) bool {
	own, _, _ := bytes.Cut(r.buf[at:], newline)
	var m [][]byte
	for line := range r.above(at) {
		if m == nil && !bytes.Contains(line, []byte("+ echo ")) {
			return false
		}
		body, h := envelope.Peel(line)
		if m != nil {
			return !bytes.HasPrefix(body, append(m[1], '+')) && !reads().Match(body)
		}
		text, _ := envelope.Peel(bytes.TrimRight(own, " \r"))
		if m = echo().FindSubmatch(body); m == nil || h.Stream != e.Header.Stream || !bytes.Equal(unquoted(m[2]), text) || !isSpoken(e) || e.Fields["requested"] != "" {
			return false
		}
	}
	return m != nil
}

// unquoted is a word as the shell reads it that set -x shows.
func unquoted(word []byte) []byte {
	if n := len(word); n > 1 && word[0] == '\'' && word[n-1] == '\'' {
		return bytes.ReplaceAll(word[1:n-1], []byte(`'\''`), []byte{'\''})
	}
	return word
}
