package traceback

import "bytes"

// Within reads the traceback that a record of one line holds as a value, with its newlines and quotes escaped: torchelastic's error file,
// the fields of a structured log. It returns nil if there is none.
func Within(number int, line []byte) *Trace {
	_, rest, ok := bytes.Cut(line, textTraceback)
	at := bytes.Index(rest, textFile)
	if !ok || at < 0 || at > maxEscape {
		return nil
	}
	newline := bytes.TrimSpace(rest[:at])
	if len(newline) == 0 || newline[0] != '\\' || newline[len(newline)-1] != 'n' {
		return nil
	}
	var a Assembler
	a.Feed(number, textTraceback)
	for part := range bytes.SplitSeq(rest, newline) {
		if a.Feed(number, unescaped(part)) == Final {
			return a.Trace()
		}
	}
	return a.Close()
}

// unescaped returns a line with its quotes as they were before records within records escaped them.
func unescaped(line []byte) []byte {
	escaped, quote := []byte(`\"`), []byte{'"'}
	for range maxNested {
		line = bytes.ReplaceAll(line, escaped, quote)
	}
	return line
}

// maxNested is how many times a quote may have been escaped. A line of nothing but backslashes would take a pass for each of them.
const maxNested = 8

// maxEscape is how many bytes an escaped newline and the blanks behind it take.
const maxEscape = 16
