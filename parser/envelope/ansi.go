package envelope

import (
	"bytes"
	"unicode/utf8"
)

// clean drops what stands in front of a line by accident and every terminal sequence in it: CSI, OSC, character set
// selections, their spelled-out forms ("\u001b[36m" from JSON, "#033[36m" from rsyslog, "^[[36m" from cat -v) and orphans whose ESC was lost in
// pasting ("[36m(raylet)[0m"), what a spinner or a bar took back with backspaces, and DEL, for which a terminal shows nothing. It returns b
// itself, cut, when there is nothing to take out.
func clean(b []byte) []byte {
	b = dropLead(b)
	b = rubOut(bytes.TrimSuffix(b, []byte{'\r'}))
	orphans := hasOrphans(b)
	i := nextEscape(b, orphans)
	if i < 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for i >= 0 {
		out = append(out, b[:i]...)
		b = b[i+escapeLen(b[i:], orphans):]
		i = nextEscape(b, orphans)
	}
	return append(out, b...)
}

// rubOut drops backspaces, each with the character before it, and DELs.
func rubOut(b []byte) []byte {
	const del = 0x7f
	i := bytes.IndexByte(b, '\b')
	if j := bytes.IndexByte(b, del); i < 0 || j >= 0 && j < i {
		i = j
	}
	if i < 0 {
		return b
	}
	out := bytes.Clone(b[:i])
	for _, c := range b[i:] {
		switch c {
		case '\b':
			_, size := utf8.DecodeLastRune(out)
			out = out[:len(out)-size]
		case del:
		default:
			out = append(out, c)
		}
	}
	return out
}

// dropLead drops NULs, form feeds and a byte order mark. A DataLoader worker's signal handler writes a NUL behind its newline
// (PyTorch 2.4, torch/csrc/DataLoader.cpp); the next line then begins with it.
func dropLead(b []byte) []byte {
	for len(b) > 0 && (b[0] == 0 || b[0] == '\f') {
		b = b[1:]
	}
	return bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
}

// spelled are the written-out forms of ESC, and the signs that are shown for it. They count only in front of a '['.
var spelled = [...]string{`\u001b[`, `\u001B[`, `\x1b[`, `\x1B[`, `\033[`, `#033[`, `^[[`, "\ufffd[", "\u241b["}

// nextEscape finds the next byte that begins something to take out: an ESC, or what has a bracket as an orphan or at the end
// of a spelled-out ESC.
func nextEscape(b []byte, orphans bool) int {
	esc := bytes.IndexByte(b, 0x1b)
	before := b
	if esc >= 0 {
		before = b[:esc]
	}
	for i := 0; ; i++ {
		j := bytes.IndexByte(before[i:], '[')
		if j < 0 {
			return esc
		}
		i += j
		for _, x := range spelled {
			if n := len(x) - 1; i >= n && b[i-1] == x[n-1] && escapeLen(b[i-n:], orphans) > 0 {
				if b[i-n] == '\\' {
					return len(bytes.TrimRight(b[:i-n], `\`)) // a record within a record escapes it again
				}
				return i - n
			}
		}
		if orphans && sgrLen(b[i:]) > 0 {
			return i
		}
	}
}

// escapeLen is the length of the sequence that b begins with, 0 when it begins with none. A raw ESC is always one.
func escapeLen(b []byte, orphans bool) int {
	switch b[0] {
	case 0x1b:
		return rawLen(b)
	case '[':
		if orphans {
			return sgrLen(b)
		}
	default:
		again := max(0, len(b)-len(bytes.TrimLeft(b, `\`))-1)
		for _, x := range spelled {
			if rest, ok := bytes.CutPrefix(b[again:], []byte(x)); ok {
				if n := csiLen(rest); n > 0 {
					return again + len(x) + n
				}
			}
		}
	}
	return 0
}

// consoleNote begins what Jenkins keeps about a line, concealed (hudson/console/ConsoleNote.java).
var consoleNote = []byte("\x1b[8mha:")

// rawLen is the length of the sequence behind a raw ESC. What is no whole sequence loses its ESC only.
func rawLen(b []byte) int {
	const maxOSC = 1024 // titles and links are short; an OSC that never ends must not eat the text
	if len(b) < 2 {
		return 1
	}
	switch c := b[1]; {
	case c == '[':
		if bytes.HasPrefix(b, consoleNote) {
			if end := bytes.Index(b, []byte("\x1b[0m")); end > 0 {
				return end + len("\x1b[0m")
			}
		}
		if n := csiLen(b[2:]); n > 0 {
			return 2 + n
		}
	case c == ']':
		for i := 2; i < len(b) && i < maxOSC; i++ {
			if b[i] == 0x07 {
				return i + 1
			}
			if b[i] == 0x1b {
				if i+1 < len(b) && b[i+1] == '\\' {
					return i + 2
				}
				return 1 // another sequence begins: this one never ended
			}
		}
	case c >= '(' && c <= '+':
		if len(b) > 2 {
			return 3
		}
	case c == '7' || c == '8' || c == '=' || c == '>' || c == 'M' || c == 'c' || c == '\\':
		return 2
	}
	return 1
}

// csiLen is the length of the rest of a CSI sequence, its introducer already read; 0 when it is not whole.
func csiLen(b []byte) int {
	i := 0
	for i < len(b) && b[i] >= 0x30 && b[i] <= 0x3f {
		i++
	}
	for i < len(b) && b[i] >= 0x20 && b[i] <= 0x2f {
		i++
	}
	if i < len(b) && b[i] >= 0x40 && b[i] <= 0x7e {
		return i + 1
	}
	return 0
}

// sgrLen is the length of an orphaned colour sequence: "[36m", "[1;38;2;180;140;80m".
func sgrLen(b []byte) int {
	const longest = 24
	for i := 1; i < len(b) && i < longest; i++ {
		switch {
		case b[i] == 'm' && i > 1:
			return i + 1
		case !is(b[i], digit) && b[i] != ';':
			return 0
		}
	}
	return 0
}

// hasOrphans reports whether b holds colour sequences that lost their ESC: a colour, and a reset behind it. One alone is
// more likely text ("[30m left]").
func hasOrphans(b []byte) bool {
	first := -1
	for i := 0; ; i++ {
		j := bytes.IndexByte(b[i:], '[')
		if j < 0 {
			return false
		}
		i += j
		if i > 0 && (b[i-1] == 0x1b || b[i-1] == '[') {
			continue
		}
		n := sgrLen(b[i:])
		switch {
		case n == 0:
		case isReset(b[i : i+n]):
			if first >= 0 {
				return true
			}
		default:
			first = i
		}
	}
}

func isReset(seq []byte) bool {
	switch string(seq) {
	case "[0m", "[0;0m", "[00m", "[39m", "[22m":
		return true
	}
	return false
}
