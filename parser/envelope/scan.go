package envelope

import "bytes"

// scanner reads labels from the front of a line. It is a value: a copy is a place to go back to.
type scanner struct{ b []byte }

// lit takes x.
func (s *scanner) lit(x string) bool {
	if len(s.b) < len(x) || string(s.b[:len(x)]) != x {
		return false
	}
	s.b = s.b[len(x):]
	return true
}

// peek is the next byte, 0 at the end.
func (s *scanner) peek() byte {
	if len(s.b) == 0 {
		return 0
	}
	return s.b[0]
}

// while takes the longest run of bytes of a class, at most limit of them.
func (s *scanner) while(class func(byte) bool, limit int) []byte {
	n := 0
	for n < len(s.b) && n < limit && class(s.b[n]) {
		n++
	}
	run := s.b[:n]
	s.b = s.b[n:]
	return run
}

// until takes everything before the next stop and the stop itself, when stop is among the next limit bytes.
func (s *scanner) until(stop string, limit int) ([]byte, bool) {
	i := bytes.Index(s.b[:min(len(s.b), limit)], []byte(stop))
	if i < 0 {
		return nil, false
	}
	run := s.b[:i]
	s.b = s.b[i+len(stop):]
	return run, true
}

// number takes a run of digits, least to most of them (at most 9: it always fits), and nothing when a digit follows.
func (s *scanner) number(least, most int) (int, bool) {
	t := *s
	run := t.while(isDigit, most)
	if len(run) < least || isDigit(t.peek()) {
		return 0, false
	}
	*s = t
	return atoi(run), true
}

// fixed takes exactly n digits, whatever follows.
func (s *scanner) fixed(n int) (int, bool) {
	t := *s
	run := t.while(isDigit, n)
	if len(run) != n {
		return 0, false
	}
	*s = t
	return atoi(run), true
}

// blanks takes blanks and tabs and counts them.
func (s *scanner) blanks() int { return len(s.while(isBlank, len(s.b))) }

// gap takes the one blank or tab between a label and the text; the end of the line will do as well, because some writers
// trim it. Further blanks are the text's own: tracebacks are indented.
func (s *scanner) gap() bool { return len(s.b) == 0 || s.lit(" ") || s.lit("\t") }

func atoi(digits []byte) int {
	n := 0
	for _, c := range digits {
		n = n*10 + int(c-'0')
	}
	return n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isBlank(c byte) bool { return c == ' ' || c == '\t' }
func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isAlpha(c byte) bool { return isUpper(c) || isLower(c) }
func isWord(c byte) bool  { return isAlpha(c) || isDigit(c) || c == '_' }

// isHost tells the bytes of host, pod and container names.
func isHost(c byte) bool { return isAlpha(c) || isDigit(c) || c == '-' || c == '.' || c == '_' }

// isPlace tells the bytes of a logger's name or a place in a source file: torch/x.py:12, verl.utils:fn:7, <module>.
func isPlace(c byte) bool {
	return isWord(c) || c == '.' || c == ':' || c == '/' || c == '-' || c == '<' || c == '>'
}

// all tells whether b is not empty and wholly of a class.
func all(b []byte, class func(byte) bool) bool {
	for _, c := range b {
		if !class(c) {
			return false
		}
	}
	return len(b) > 0
}

// some tells whether a byte of b is of a class.
func some(b []byte, class func(byte) bool) bool {
	for _, c := range b {
		if class(c) {
			return true
		}
	}
	return false
}
