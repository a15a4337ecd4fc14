package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strings"

	"oomscan/parser/lazyre"
)

// The keys under which notebooks and other JSON documents keep the output of a program.
var (
	notebookKeys = []string{"text", "traceback"}
	outputKeys   = []string{"log", "logs", "stdout", "stderr", "output", "message", "FailureReason"} // the last two are of a container that ended: of Kubernetes, of SageMaker
	lineKeys     = []string{"stdout_lines", "stderr_lines", "msg"}                                   // Ansible's, which says the same under outputKeys, too
	streamKeys   = []string{"values"}                                                                // Loki's, of pairs of a time and a line
	insightsKeys = []string{"value"}                                                                 // CloudWatch's, of the field that the value before names
	tableKeys    = []string{"rows"}                                                                  // Log Analytics', of a time and what was logged
	noteKeys     = []string{"data"}                                                                  // Zeppelin's
)

// output finds a program's output in a document.
var output = lazyre.New(`(?m)^\s{1,40}"(?:logs?|stdout|stderr|output|message|FailureReason)": ?"`)

// outputList finds a list of the lines of a program's output.
var outputList = lazyre.New(`^\{[^\[\]]{0,400}"(?:logs|stdout|stderr|output)":\s{0,40}\[\s{0,40}"`)

// lineList finds a list of lines, one of which begins as only those of logs do.
var lineList = lazyre.New(`^\[\s{0,40}(?s:".*)?"(?:\[?20\d\d[-/]\d\d[-/]\d\d[ T]|\[rank\d|\(\w+ pid=|\(?(?:DEBUG|INFO|WARNING|ERROR)\b|\[(?:DEBUG|INFO|WARNING|ERROR)\]|Traceback \(most|\+ \w|[IWEF]\d{4} \d\d:)`)

// pythonList finds a list of lines as Python prints it, one of which has a time, a color, a level, a process or a bar, is of ggml, or is empty.
var pythonList = lazyre.New(`^\[\s{0,40}(?s:['"].*)(?:20\d\d-\d\d-\d\d|\d\d:\d\d:\d\d|\\x1b\[|\b(?:DEBUG|INFO|WARNING|ERROR)\b|\bpid[= ]\d|\[rank\d|Traceback \(most|%\||['"](?:ggml|llama)_\w+: |', '', ')`)

// insights finds the rows of a query's answer by CloudWatch Logs Insights.
var insights = lazyre.New(`^\{\s{0,40}"results":\s{0,40}\[\s{0,40}\[\s{0,40}\{\s{0,40}"field":\s{0,40}"@`)

// table finds the rows of an answer by Azure's Log Analytics, each of which has a time. Where columns are named, see [tableColumns].
var table = lazyre.New(`^\{\s{0,40}"tables":\s{0,40}\[(?s:.*)"rows":\s{0,40}\[\s{0,40}\[\s{0,40}"20\d\d-`)

// zeppelin finds the output of a paragraph of a note.
var zeppelin = lazyre.New(`"paragraphs":\s{0,40}\[(?s:.*)"msg":\s{0,40}\[\s{0,40}\{\s{0,40}"(?:data": ?"|type": ?"TEXT")`)

// loki finds the lines of a stream in Loki's answer to a query.
var loki = lazyre.New(`"values":\s{0,40}\[\s{0,40}\[\s{0,40}"\d{19}",`)

// ansible finds what a task of Ansible returned.
var ansible = lazyre.New(`(?m)^[a-z]{2,12}: \[[^\]\n]{1,200}\](?:: [A-Z]{1,20}!)? => \{`)

// printed finds what a command of such a task printed.
var printed = lazyre.New(`"(?:stdout|stderr)": "[^"]`)

// documentDecoder returns a decoder for a JSON document that holds a log, or nil. Documents with samples, or with what a sandbox ran, look
// alike, but they quote their text.
func documentDecoder(head []byte) Decoder {
	head = bytes.TrimLeft(head, " \t\r\n")
	has := func(text string) bool { return bytes.Contains(head, []byte(text)) }
	columns := tableColumns(head)
	switch {
	case len(head) == 0, isFollowed(head):
		return nil
	case head[0] == '[':
		switch {
		case sampleKey().Match(head):
		case (has("', ") || has("',\n")) && pythonList().Match(head):
			var list listReader
			if text := list.Append(nil, bytes.TrimSpace(head)); !list.over || text[len(text)-1] == '\n' {
				return new(listReader)
			}
		case (lineList().Match(head) || areRepeated(head)) && !has(`\n`):
			return &documentReader{keys: []string{""}}
		}
		return nil
	case head[0] != '{':
		if at := ansible().FindIndex(head); at == nil || sampleKey().Match(head) {
			return nil
		} else if printed().Match(head[at[1]:]) {
			return &documentReader{keys: outputKeys, within: true}
		}
		return &documentReader{keys: lineKeys, within: true}
	case loki().Match(head):
		return &documentReader{keys: streamKeys, passed: math.MinInt} // no line of the log has one of its own
	case bytes.HasPrefix(head, []byte(`{"version":`)) && (has(`, "o", "`) || has(`,"o","`)):
		return &rowReader{decode: castRow}
	case columns != nil:
		return &cellReader{columns: columns}
	case table().Match(head):
		return &documentReader{keys: tableKeys, passed: math.MinInt}
	case zeppelin().Match(head):
		return &documentReader{keys: noteKeys}
	case insights().Match(head):
		return &documentReader{keys: insightsKeys, field: "@message", passed: math.MinInt}
	case outputList().Match(head) && !sampleKey().Match(head):
		return &documentReader{keys: outputKeys}
	case has(`"cells":`) && (has(`"cell_type":`) || has(`"nbformat":`)):
		if has("[\n") && !has(`"text": "`) {
			return &rowReader{decode: new(notebook).row}
		}
		return &documentReader{keys: notebookKeys}
	case output().Match(head) && !sampleKey().Match(head) && !has(`"run_status"`) && !has(`"run_result"`) && bytes.Count(head, []byte(`\n`)) >= minEscaped:
		return &documentReader{keys: outputKeys}
	}
	return nil
}

// isFollowed reports whether other text follows the values of JSON that a text begins with: that is a log which begins with such a value.
func isFollowed(head []byte) bool {
	var value json.RawMessage
	d := json.NewDecoder(bytes.NewReader(head))
	err := d.Decode(&value)
	if err != nil || head[0] != '[' && head[0] != '{' {
		return false
	}
	for err == nil {
		err = d.Decode(&value)
	}
	return !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF)
}

// areRepeated reports whether a list has a row for each of its strings, and some of these differ in nothing but numbers, as the steps of a run do.
func areRepeated(list []byte) bool {
	const least, begin = 3, 40
	_, list, _ = bytes.Cut(list, []byte{'\n'})
	list = list[:bytes.LastIndexByte(list, '\n')+1]
	seen := map[string]int{}
	for row := range bytes.Lines(list) {
		text := bytes.TrimRight(bytes.TrimSpace(row), ",")
		if len(text) < 2 || text[0] != '"' || !json.Valid(text) {
			return false
		}
		if form := formOf(text[:min(len(text), begin)]); len(text) > begin && form != string(text[:begin]) {
			if seen[form]++; seen[form] >= least {
				return true
			}
		}
	}
	return false
}

// documentReader keeps only the texts under some keys of a JSON document and decodes them, one line of the log per line. A log line that
// also has a line of its own in the document keeps its number.
type documentReader struct {
	unescaper
	keys    []string
	field   string // read only the text of the field with this name; empty: all text
	value   []byte // the last string that was not read
	within  bool   // other text is around the documents, and stays
	row     []byte // the end of that
	in      []byte // the brackets that are open
	last    byte   // before the current string, outside of strings
	key     []byte // of the current value
	quoted  bool
	named   bool // the string is a key
	wanted  bool // the string is a text of the log
	time    bool // it is that of the text behind it
	ends    bool // what was decoded last ended a line
	empty   bool // nothing of the string was decoded: in a list of lines, an empty line
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
		if d.within && len(d.in) == 0 {
			dst = d.around(dst, c)
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
			if d.in = d.in[:max(0, len(d.in)-1)]; c == '}' || !d.inList() {
				d.key = d.key[:0]
			}
		}
		d.last = c
	}
	return dst
}

// around keeps the text around documents. A document begins behind an arrow.
func (d *documentReader) around(dst []byte, c byte) []byte {
	dst = append(dst, c)
	switch {
	case c == '\n':
		d.got++
		d.passed++
		d.row = d.row[:0]
	case c == '{' && bytes.HasSuffix(d.row, []byte("=> ")):
		d.in, d.last = append(d.in, c), c
		d.got++
		dst = append(dst, '\n')
	}
	d.row = append(d.row[max(0, len(d.row)-2):], c)
	return dst
}

// begin begins a string: a key, a value, or one of a list of values.
func (d *documentReader) begin() {
	d.quoted, d.ends, d.empty, d.wanted, d.named = true, true, true, false, d.last != ':' && !d.inList()
	d.time = d.last == '[' && len(d.in) > 1 && d.in[len(d.in)-2] == '['
	if d.named {
		d.key = d.key[:0]
		return
	}
	d.wanted = slices.Contains(d.keys, string(d.key[bytes.LastIndexByte(d.key, '.')+1:])) && // Ansible's variables have fields
		(d.field == "" || d.field == string(d.value))
	d.value = d.value[:0]
}

func (d *documentReader) inList() bool { return len(d.in) > 0 && d.in[len(d.in)-1] == '[' }

func (d *documentReader) inString(dst []byte, c byte) []byte {
	if c == '"' && len(d.escape) == 0 && !d.escaped {
		switch {
		case !d.wanted || d.ends && !(d.empty && (d.inList() || d.field != "")):
		case d.time:
			dst = append(dst, ' ')
		default:
			dst = append(dst, '\n')
			d.got++
		}
		d.quoted = false
		return dst
	}
	if !d.wanted {
		if d.named && len(d.key) < maxKey {
			d.key = append(d.key, c)
		} else if !d.named && len(d.value) < maxKey {
			d.value = append(d.value, c)
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
		d.empty = false
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

// listReader decodes a list of lines as Python prints it, with either quote around a string. Strings without a comma between them are one line
// (pprint).
type listReader struct {
	unescaper
	last byte // of the current line
	over bool // the list has ended: what follows stays
}

func (d *listReader) Append(dst, src []byte) []byte {
	for _, c := range src {
		switch {
		case d.over:
			dst = append(dst, c)
		case d.quote == 0 && (c == '\'' || c == '"'):
			d.quote = c
		case d.quote == 0 && (c == ',' || c == ']'):
			if d.last != '\n' {
				dst = append(dst, '\n')
			}
			d.last, d.over = 0, c == ']'
		case d.quote == 0:
		case len(d.escape) == 0 && c == d.quote:
			d.quote = 0
		default:
			n := len(dst)
			if dst = d.unescaper.Append(dst, []byte{c}); len(dst) > n {
				d.last = dst[len(dst)-1]
			}
		}
	}
	return dst
}

// rowReader decodes a document line by line. Lines longer than [maxRow] stay as they are.
type rowReader struct {
	decode func(line []byte) []byte
	line   []byte
	long   bool // the rest of the line is not decoded
}

func (d *rowReader) Append(dst, src []byte) []byte {
	for row := range bytes.Lines(src) {
		ends := row[len(row)-1] == '\n'
		switch d.line = append(d.line, row...); {
		case d.long || len(d.line) > maxRow:
			dst, d.line, d.long = append(dst, d.line...), d.line[:0], !ends
		case ends:
			dst = d.Close(dst)
		}
	}
	return dst
}

func (d *rowReader) Close(dst []byte) []byte {
	dst = append(dst, d.decode(d.line)...)
	d.line = d.line[:0]
	return dst
}

// notebook decodes the lines of a notebook.
type notebook struct {
	prose  bool // the cell is text in Markdown, or raw
	source bool // its text is open
}

// row decodes a line that holds a text of a cell or of output, as Jupyter writes them. All others stay as they are, but for a text's own, so
// every line keeps its number.
func (d *notebook) row(line []byte) []byte {
	switch text := bytes.TrimSpace(line); {
	case bytes.HasPrefix(text, []byte(`"cell_type": `)):
		d.prose, d.source = !bytes.Contains(text, []byte(`"code"`)), false
	case d.prose && bytes.HasPrefix(text, []byte(`"source": `)):
		d.source = bytes.HasSuffix(text, []byte{'['})
		return []byte(filler)
	case d.source && bytes.HasPrefix(text, []byte{'"'}):
		return []byte(filler)
	}
	var text string
	item := bytes.TrimSuffix(bytes.TrimSpace(line), []byte{','})
	if json.Unmarshal(item, &text) != nil {
		return line
	}
	return []byte(strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\r") + "\n") // a frame and its code are one line
}

// castRow decodes what was printed at one time in a terminal that asciinema recorded.
func castRow(line []byte) []byte {
	var event [3]any
	if json.Unmarshal(line, &event) != nil || event[1] != "o" {
		return nil
	}
	text, _ := event[2].(string)
	return []byte(text)
}
