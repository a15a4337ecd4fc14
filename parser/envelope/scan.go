package envelope

import "bytes"

// class is a set of bytes. Every byte is in exactly one of the sets below; larger sets are unions of them.
type class uint32

const (
	blank class = 1 << iota // space and tab
	digit
	upper
	lower
	underscore
	dash
	dot
	colon
	slash
	angle       // < >
	parenthesis // ( )
	plus
	at
	equals
	percent
	comma
	visible // the rest of visible ASCII
	high    // not ASCII
	control

	alpha    = upper | lower
	alnum    = alpha | digit
	word     = alnum | underscore
	hostname = alnum | dash | dot | underscore // host, pod and container names
	// place is what a logger's name or a place in a source file consists of: torch/x.py:12, verl.utils:fn:7, <module>.
	place    = word | dot | colon | slash | dash | angle
	anyByte  = control<<1 - 1
	anyPrint = anyByte &^ (blank | high | control)
)

// classOf has the class of each byte.
var classOf = func() (of [256]class) {
	single := map[byte]class{
		' ': blank, '\t': blank, '_': underscore, '-': dash, '.': dot, ':': colon, '/': slash, '<': angle, '>': angle,
		'(': parenthesis, ')': parenthesis, '+': plus, '@': at, '=': equals, '%': percent, ',': comma,
	}
	for i := range of {
		c := byte(i)
		known, ok := single[c]
		switch {
		case ok:
			of[i] = known
		case c >= '0' && c <= '9':
			of[i] = digit
		case c >= 'A' && c <= 'Z':
			of[i] = upper
		case c >= 'a' && c <= 'z':
			of[i] = lower
		case c >= 0x80:
			of[i] = high
		case c < ' ' || c == 0x7f:
			of[i] = control
		default:
			of[i] = visible
		}
	}
	return of
}()

func is(c byte, k class) bool { return classOf[c]&k != 0 }

// all reports whether b is not empty and wholly of class k.
func all(b []byte, k class) bool {
	for _, c := range b {
		if !is(c, k) {
			return false
		}
	}
	return len(b) > 0
}

func some(b []byte, k class) bool {
	for _, c := range b {
		if is(c, k) {
			return true
		}
	}
	return false
}

// scanner reads from the front of a text. It is a value: a copy is a place to go back to.
type scanner struct{ b []byte }

// lit takes x, which is not empty.
func (s *scanner) lit(x string) bool {
	if len(s.b) < len(x) || s.b[0] != x[0] || string(s.b[:len(x)]) != x {
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

// skip takes n bytes.
func (s *scanner) skip(n int) { s.b = s.b[n:] }

// while takes the longest run of bytes of a class, at most limit of them.
func (s *scanner) while(k class, limit int) []byte {
	n, limit := 0, min(limit, len(s.b))
	for n < limit && is(s.b[n], k) {
		n++
	}
	run := s.b[:n]
	s.b = s.b[n:]
	return run
}

// until takes everything before the next stop, when stop is among the next limit bytes.
func (s *scanner) until(stop string, limit int) ([]byte, bool) {
	i := bytes.Index(s.b[:min(len(s.b), limit)], []byte(stop))
	if i < 0 {
		return nil, false
	}
	run := s.b[:i]
	s.b = s.b[i:]
	return run, true
}

// number takes a run of digits, least to most of them (at most 9: it always fits), and nothing when a digit follows.
func (s *scanner) number(least, most int) (int, bool) {
	t := *s
	run := t.while(digit, most)
	if len(run) < least || is(t.peek(), digit) {
		return 0, false
	}
	*s = t
	return atoi(run), true
}

// fixed takes exactly n digits, whatever follows.
func (s *scanner) fixed(n int) (int, bool) {
	t := *s
	run := t.while(digit, n)
	if len(run) != n {
		return 0, false
	}
	*s = t
	return atoi(run), true
}

// blanks takes blanks and tabs and counts them.
func (s *scanner) blanks() int { return len(s.while(blank, len(s.b))) }

// gap takes the one blank or tab between a prefix and the text; the end of the line will do as well, because some writers
// trim it. Further blanks are the text's own: tracebacks are indented.
func (s *scanner) gap() bool { return len(s.b) == 0 || s.lit(" ") || s.lit("\t") }

// level takes a level's name of at least two letters that ends at a word's end.
func (s *scanner) level() (byte, bool) {
	t := *s
	w := t.while(upper, 9)
	lv := levelOf(w)
	if len(w) < 2 || lv == 0 || is(t.peek(), word) {
		return 0, false
	}
	*s = t
	return lv, true
}

// rankWord takes "rank3", "Rank 3", "RANK:3", "rank: 3", "rank=3", "rank-3", "global_rank=3".
func (s *scanner) rankWord() (int, bool) {
	t := *s
	t.lit("global_")
	if w := t.while(alpha, 4); !bytes.EqualFold(w, []byte("rank")) {
		return 0, false
	}
	if c := t.peek(); c == ' ' || c == ':' || c == '=' || c == '-' {
		t.skip(1)
		if c == ':' {
			t.lit(" ")
		}
	}
	n, ok := t.number(1, 6)
	if ok {
		*s = t
	}
	return n, ok
}

// levelOf reads a level's name. Programs disagree on names, not on first letters: C is Python's CRITICAL, SUCC and
// VINFO are words of Ray's command line.
func levelOf(word []byte) byte {
	switch string(word) {
	case "DEBUG", "TRACE", "NOTSET", "D":
		return 'D'
	case "INFO", "NOTICE", "SUCCESS", "SUCC", "VINFO", "I":
		return 'I'
	case "WARNING", "WARN", "VWARN", "W":
		return 'W'
	case "ERROR", "ERR", "E":
		return 'E'
	case "CRITICAL", "FATAL", "PANIC", "CRIT", "C", "F":
		return 'F'
	}
	return 0
}

// levelFold reads a level's name in any case.
func levelFold(word []byte) byte {
	var up [8]byte
	if len(word) > len(up) {
		return 0
	}
	for i, c := range word {
		if up[i] = c; is(c, lower) {
			up[i] -= 'a' - 'A'
		}
	}
	return levelOf(up[:len(word)])
}

func atoi(digits []byte) int {
	n := 0
	for _, c := range digits {
		n = n*10 + int(c-'0')
	}
	return n
}

// fileLine takes `core.py:844`, `torch/x.cpp:12`.
func (s *scanner) fileLine() ([]byte, bool) {
	start := s.b
	name := s.while(place&^colon, maxLabel)
	if bytes.IndexByte(name, '.') < 1 || !s.lit(":") || len(s.while(digit, 9)) == 0 {
		return nil, false
	}
	return start[:len(start)-len(s.b)], true
}
