package stream

import (
	"bytes"
	"unicode/utf8"
)

// What trainers print of a step is a number behind a word for it, and its loss further on in the line:
//
//	step:12 - actor/loss:0.1    Epoch: [0][  11/5005] ... Loss 6.9e+00    Train Epoch: 1 [640/60000 (1%)] Loss: 2.3
//
// All of it in letters of either case.

// maxApart is how many characters may stand between the number and the loss.
const maxApart = 400

// stepWords are the words before a number, each as a whole or with an s behind it. The first word may lead to another one.
var stepWords = []string{"step", "iter", "iteration", "batch", "update"}

// stepIn is the number of the step whose loss a message tells, nil when it tells none.
func stepIn(body []byte) []byte {
	inWord := false
	for i, c := range body {
		begins := !inWord
		inWord = isWord(c)
		if !begins || !inWord {
			continue
		}
		var rest []byte
		switch c | 0x20 {
		case 'e':
			rest = behindEpoch(body[i:])
		case 'g', 's', 'i', 'b', 'u':
			rest = behindWord(body[i:])
		}
		if n := digits(rest); n > 0 && (n == len(rest) || !isWord(rest[n])) && lossBehind(rest[n:]) {
			return rest[:n]
		}
	}
	return nil
}

// behindWord is what follows on a word for a step and what separates it from its number, nil when there is none.
func behindWord(b []byte) []byte {
	if rest, ok := cutFold(b, "global"); ok && len(rest) > 0 && (rest[0] == '_' || rest[0] == ' ') {
		b = rest[1:]
	}
	for _, word := range stepWords {
		rest, ok := cutFold(b, word)
		if !ok {
			continue
		}
		if len(rest) > 0 && rest[0]|0x20 == 's' {
			rest = rest[1:]
		}
		if len(rest) > 0 && (rest[0] == '"' || rest[0] == '\'') {
			rest = rest[1:]
		}
		n := 0
		for n < len(rest) && n < 3 && bytes.IndexByte([]byte(" :=["), rest[n]) >= 0 {
			n++
		}
		if n > 0 && digits(rest[n:]) > 0 {
			return rest[n:]
		}
	}
	return nil
}

// behindEpoch is what follows on an epoch in brackets, or before one: [0][  11/5005], [1/1](12/19994), 1 [640/60000.
func behindEpoch(b []byte) []byte {
	rest, ok := cutFold(b, "epoch")
	if !ok {
		return nil
	}
	rest = skip(rest, ":", 1)
	if in := skip(rest, " ", 1); len(in) > 0 && in[0] == '[' {
		in = number(in[1:])
		if len(in) > 0 && in[0] == '/' {
			in = number(in[1:])
		}
		if len(in) == 0 || in[0] != ']' {
			return nil
		}
		in = skip(in[1:], " ", 1)
		if len(in) == 0 || in[0] != '[' && in[0] != '(' {
			return nil
		}
		return skip(in[1:], " ", 6)
	}
	if len(rest) == 0 || rest[0] != ' ' {
		return nil
	}
	if rest = number(rest[1:]); !bytes.HasPrefix(rest, []byte(" [")) {
		return nil
	}
	return skip(rest[2:], " ", 6)
}

// number is what follows on a number of at most six digits, nil when there is none.
func number(b []byte) []byte {
	if n := digits(b); n > 0 && n <= 6 {
		return b[n:]
	}
	return nil
}

// skip is what follows on at most so many bytes of a kind.
func skip(b []byte, kind string, most int) []byte {
	for range most {
		if len(b) > 0 && b[0] == kind[0] {
			b = b[1:]
		}
	}
	return b
}

// cutFold is what follows on a word in letters of either case.
func cutFold(b []byte, word string) ([]byte, bool) {
	if len(b) < len(word) {
		return nil, false
	}
	for i := range len(word) {
		if b[i]|0x20 != word[i] {
			return nil, false
		}
	}
	return b[len(word):], true
}

// digits is how many digits a text begins with, 0 when there are more than nine.
func digits(b []byte) int {
	n := 0
	for n < len(b) && n <= 9 && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	if n > 9 {
		return 0
	}
	return n
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// lossIn is where the word stands next, -1 for nowhere.
func lossIn(body []byte, from int) int {
	for i := from; i+4 <= len(body); i++ {
		if body[i]|0x20 == 'l' && body[i+1]|0x20 == 'o' && body[i+2]|0x20 == 's' && body[i+3]|0x20 == 's' {
			return i
		}
	}
	return -1
}

// lossBehind says whether a loss and its value stand close enough behind the number of a step, on its line.
func lossBehind(rest []byte) bool {
	for at := lossIn(rest, 0); at >= 0; at = lossIn(rest, at+1) {
		between := rest[:at]
		if utf8.RuneCount(between) > maxApart || bytes.IndexByte(between, '\n') >= 0 {
			return false
		}
		if valued(rest[at+len("loss"):]) {
			return true
		}
	}
	return false
}

// valued says whether a number follows, behind what separates it from its name.
func valued(b []byte) bool {
	if len(b) > 0 && (b[0] == '"' || b[0] == '\'') {
		b = b[1:]
	}
	n := 0
	for n < len(b) && n < 3 && (b[n] == ' ' || b[n] == ':' || b[n] == '=') {
		n++
	}
	if b = b[n:]; n > 0 && len(b) > 0 && b[0] == '-' {
		b = b[1:]
	}
	return n > 0 && len(b) > 0 && b[0] >= '0' && b[0] <= '9'
}
