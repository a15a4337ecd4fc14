package envelope

import (
	"bytes"
	"html"
	"slices"
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
