package envelope

import (
	"bytes"
	"html"
	"slices"
	"strconv"
	"strings"
)

// entities are what programs make of the characters that mean something in HTML.
var entities = [...]string{"&lt;", "&gt;", "&amp;", "&quot;", "&#34;", "&#39;", "&#x27;"}

// fromHTML takes the escapes out of a line that was copied from a page's source. It returns b itself when there are none.
func fromHTML(b []byte) []byte {
	i := bytes.IndexByte(b, '&')
	if i < 0 || !slices.ContainsFunc(entities[:], func(e string) bool { return bytes.Contains(b[i:], []byte(e)) }) {
		return b
	}
	return []byte(html.UnescapeString(string(b)))
}

// Unrepr returns what a program printed that shows its child's output as Python writes bytes: b'text\n', and what a spreadsheet made of a
// line with quotes or tabs (RFC 4180): "text ""x"" text". Any other line stays as it is.
func Unrepr(line []byte) []byte {
	const least = len(`b''`)
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if len(line) > least && line[0] == '"' && line[len(line)-1] == '"' {
		in := line[1 : len(line)-1]
		text := bytes.ReplaceAll(in, []byte(`""`), []byte{'"'})
		if bytes.ContainsAny(in, "\"\t") && bytes.Count(in, []byte{'"'}) == 2*(len(in)-len(text)) {
			return text
		}
		return line
	}
	if len(line) < least || line[0] != 'b' || line[1] != '\'' && line[1] != '"' || line[len(line)-1] != line[1] {
		return line
	}
	in := line[least-1 : len(line)-1]
	out := make([]byte, 0, len(in))
	for len(in) > 0 {
		c := in[0]
		if in = in[1:]; c != '\\' || len(in) == 0 {
			out = append(out, c)
			continue
		}
		c = in[0]
		in = in[1:]
		if i := strings.IndexByte("ntr", c); i >= 0 {
			c = "\n\t\r"[i]
		} else if c == 'x' && len(in) >= 2 {
			if n, err := strconv.ParseUint(string(in[:2]), 16, 8); err == nil {
				c, in = byte(n), in[2:]
			}
		}
		out = append(out, c)
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(out, []byte{'\n'}), []byte{'\r'})
}

// traceHead begins a traceback, and traceFrame its first frame on the next line.
var traceHead, traceFrame = []byte("Traceback (most recent call last):"), []byte(`File "`)

// newlines are what programs write for a newline: rsyslog, Python and C, JSON within JSON, journalctl and terminals.
var newlines = [...][]byte{[]byte("#012"), []byte(`\n`), []byte(`\\n`), []byte(`\x0a`), []byte(`\x0A`), []byte(`\u000a`), []byte(`\u000A`), []byte("↵"), []byte("⏎"), []byte("␊")}

// unfold returns a message with line breaks in it where a traceback is on one line. What stands between the first words of the traceback and
// its first frame shows how a newline is written. In quotes the traceback is a value, and stays.
func unfold(b []byte) []byte {
	at := bytes.Index(b, traceHead)
	if at < 0 || bytes.ContainsAny(b[:at], "\"'`{") {
		return b
	}
	rest := b[at+len(traceHead):]
	for _, newline := range newlines {
		between, ok := bytes.CutPrefix(bytes.TrimLeft(rest, " "), newline)
		if n := len(rest) - len(between); ok && bytes.HasPrefix(bytes.TrimLeft(between, " "), traceFrame) {
			if between[0] == ' ' && rest[0] == ' ' {
				n++ // a blank on either side
			}
			return bytes.ReplaceAll(b, rest[:n], []byte{'\n'})
		}
	}
	return b
}

// escapes are what collectors make of some characters: JSON by Python and by Go, HTML by Go and by Python.
var escapes = [...]*strings.Replacer{
	strings.NewReplacer(`"`, `\"`, "\t", `\t`),
	strings.NewReplacer(`"`, `\"`, "\t", `\t`, "<", `\u003c`, ">", `\u003e`, "&", `\u0026`),
	strings.NewReplacer("<", "&lt;", ">", "&gt;", "&", "&amp;", `"`, "&#34;", "'", "&#39;"),
	strings.NewReplacer("<", "&lt;", ">", "&gt;", "&", "&amp;", `"`, "&quot;", "'", "&#x27;"),
}

// Escaped returns how else a literal may stand in a line before [Peel] has decoded it.
func Escaped(literal string) []string {
	var out []string
	for _, e := range escapes {
		if s := e.Replace(literal); !strings.Contains(s, literal) && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
