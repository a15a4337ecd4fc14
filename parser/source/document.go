package source

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"oomscan/parser/lazyre"
)

// The keys under which notebooks and other JSON documents keep the output of a program.
var (
	notebookKeys = []string{"text", "traceback"}
	outputKeys   = []string{"log", "logs", "stdout", "stderr", "output"}
)

// output finds a program's output in a document.
var output = lazyre.New(`(?m)^\s{1,40}"(?:logs?|stdout|stderr|output)": ?"`)

// documentDecoder returns a decoder for a JSON document that holds a log, or nil. Documents with samples, or with what a sandbox ran, look
// alike, but they quote their text.
func documentDecoder(head []byte) Decoder {
	head = bytes.TrimLeft(head, " \t\r\n")
	has := func(text string) bool { return bytes.Contains(head, []byte(text)) }
	switch {
	case len(head) == 0 || head[0] != '{':
		return nil
	case has(`"cells":`) && (has(`"cell_type":`) || has(`"nbformat":`)):
		if has("[\n") {
			return new(notebookReader)
		}
		return &documentReader{keys: notebookKeys}
	case output().Match(head) && !sampleKey().Match(head) && !has(`"run_status"`) && !has(`"run_result"`) && bytes.Count(head, []byte(`\n`)) >= minEscaped:
		return &documentReader{keys: outputKeys}
	}
	return nil
}

// documentReader keeps only the texts under some keys of a JSON document and decodes them, one line of the log per line. A log line that
// also has a line of its own in the document keeps its number.
type documentReader struct {
	unescaper
	keys    []string
	in      []byte // the brackets that are open
	last    byte   // before the current string, outside of strings
	key     []byte // of the current value
	quoted  bool
	named   bool // the string is a key
	wanted  bool // the string is a text of the log
	ends    bool // what was decoded last ended a line
	escaped bool // within a string that is dropped
	got     int  // lines written
	passed  int  // lines of the document
}

// Bounds of what is kept of a document.
const (
	maxNesting = 64
	maxKey     = 32
)

func (d *documentReader) Append(dst, src []byte) []byte {
	for _, c := range src {
		if d.quoted {
			dst = d.inString(dst, c)
			continue
		}
		switch c {
		case '\n':
			for d.passed++; d.got < d.passed; d.got++ {
				dst = append(dst, filler...)
			}
			continue
		case ' ', '\t', '\r':
			continue
		case '"':
			d.begin()
		case '{', '[':
			if len(d.in) < maxNesting {
				d.in = append(d.in, c)
			}
		case '}', ']':
			d.in, d.key = d.in[:max(0, len(d.in)-1)], d.key[:0]
		}
		d.last = c
	}
	return dst
}

// begin begins a string: a key, a value, or one of a list of values.
func (d *documentReader) begin() {
	inList := len(d.in) > 0 && d.in[len(d.in)-1] == '['
	d.quoted, d.ends, d.wanted, d.named = true, true, false, d.last != ':' && !inList
	if d.named {
		d.key = d.key[:0]
		return
	}
	d.wanted = slices.Contains(d.keys, string(d.key))
}

func (d *documentReader) inString(dst []byte, c byte) []byte {
	if c == '"' && len(d.escape) == 0 && !d.escaped {
		if d.wanted && !d.ends {
			dst = append(dst, '\n')
			d.got++
		}
		d.quoted = false
		return dst
	}
	if !d.wanted {
		if d.named && len(d.key) < maxKey {
			d.key = append(d.key, c)
		}
		d.escaped = c == '\\' && !d.escaped
		return dst
	}
	from := len(dst)
	switch {
	case len(d.escape) > 0:
		dst = d.unescape(dst, c)
	case c == '\\':
		d.escape = append(d.escape, c)
	default:
		dst = append(dst, c)
	}
	if len(dst) > from {
		if d.ends = dst[len(dst)-1] == '\n'; d.ends {
			d.got++
		}
	}
	return dst
}

func (d *documentReader) Close(dst []byte) []byte {
	if d.quoted && d.wanted && !d.ends {
		dst = append(dst, '\n')
	}
	return dst
}

// notebookReader decodes the lines of a notebook that hold one line of output, as Jupyter writes them. All others stay as they are, so
// every line keeps its number.
type notebookReader struct{ line []byte }

// maxTextLine bounds the lines that are decoded. Pictures are longer.
const maxTextLine = 64 << 10

func (n *notebookReader) Append(dst, src []byte) []byte {
	for row := range bytes.Lines(src) {
		n.line = append(n.line, row...)
		switch {
		case row[len(row)-1] == '\n':
			dst = n.Close(dst)
		case len(n.line) > maxTextLine:
			dst, n.line = append(dst, n.line...), n.line[:0]
		}
	}
	return dst
}

func (n *notebookReader) Close(dst []byte) []byte {
	var text string
	item := bytes.TrimSuffix(bytes.TrimSpace(n.line), []byte{','})
	if err := json.Unmarshal(item, &text); err == nil && strings.IndexByte(strings.TrimSuffix(text, "\n"), '\n') < 0 {
		dst = append(append(dst, strings.TrimSuffix(text, "\n")...), '\n')
	} else {
		dst = append(dst, n.line...)
	}
	n.line = n.line[:0]
	return dst
}
