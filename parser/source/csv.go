package source

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"

	"oomscan/parser/lazyre"
)

// roles maps the key of a record to the column names that stand for it.
var roles = map[string][]string{
	"message": {"message", "msg", "_msg", "log", "line", "_raw", "textpayload", "content", "@message", "log_line", "body", "logmessage", "logentry", "jsonpayload.message"},
	"time":    {"time", "__time", "asctime", "timestamp", "@timestamp", "_time", "date", "datetime", "ts", "_messagetime", "timegenerated"},
	"host":    {"host", "hostname", "pod", "node"},
}

// maxRow bounds the bytes kept of a row.
const maxRow = 1 << 20

// csvColumns returns the record key of each column of a table of log records, "" for columns that are not used, and what stands between
// them: a comma, or a semicolon as spreadsheets write where a comma is in numbers. There are none unless the first line names a message
// and a time.
func csvColumns(head []byte) (columns []string, between byte) {
	line, _, ok := bytes.Cut(head, []byte{'\n'})
	between = ','
	if bytes.IndexByte(line, between) < 0 {
		between = ';'
	}
	if !ok || len(line) > 512 || bytes.IndexByte(line, between) < 0 {
		return nil, 0
	}
	if columns = keysOf(strings.Split(strings.TrimSuffix(strings.TrimPrefix(string(line), "\xef\xbb\xbf"), "\r"), string(between))); columns == nil {
		return nil, 0
	}
	return columns, between
}

// keysOf returns the record key of each column of a table, nil unless there are a message and a time.
func keysOf(names []string) (columns []string) {
	for _, name := range names {
		name = strings.TrimSuffix(strings.ToLower(strings.Trim(name, `" `)), " [utc]") // Azure Monitor's time
		key := ""
		for k, names := range roles {
			if slices.Contains(names, name) && (k == "message" || !slices.Contains(columns, k)) {
				key = k
			}
		}
		columns = append(columns, key)
	}
	if !slices.Contains(columns, "message") || !slices.Contains(columns, "time") {
		return nil
	}
	return columns
}

// A table of samples or posts has two such columns and none of what became of a run.
var (
	sampleColumns = [][2]string{
		{"title", "body"},
		{"title", "description"},
		{"question", "answer"},
		{"instruction", "output"},
		{"prompt", "completion"},
		{"prompt", "response"},
		{"problem", "solution"},
		{"chosen", "rejected"},
	}
	ofRun = lazyre.New(`err|exc|fail|status|state|reason|message|trace|log$|std|host|rank|node|job|time$`)
)

// samplesIn returns the names of the columns of a table of samples, none where a text begins no such table.
func samplesIn(head []byte) []string {
	const least = 3 // rows
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	names := strings.Split(strings.ToLower(strings.TrimRight(string(line), "\r")), ",")
	has := func(pair [2]string) bool { return slices.Contains(names, pair[0]) && slices.Contains(names, pair[1]) }
	if !slices.ContainsFunc(sampleColumns, has) || slices.ContainsFunc(names, ofRun().MatchString) {
		return nil // as most logs
	}
	table := csv.NewReader(bytes.NewReader(head))
	for range least + 1 {
		if _, err := table.Read(); err != nil {
			return nil
		}
	}
	return names
}

// csvDecoder turns each row of a table into a JSON record on a line of its own (RFC 4180).
type csvDecoder struct {
	columns []string
	samples bool // a row is a record of all columns
	over    bool // the table of samples ended: what follows stays as it is
	between byte
	row     []string
	field   []byte
	quoted  bool // inside quotes
	quote   bool // the last byte was a quote inside quotes
	size    int
	body    bool // the header line has been read
}

func (d *csvDecoder) Append(dst, src []byte) []byte {
	for i, c := range src {
		switch {
		case d.over:
			return append(dst, src[i:]...)
		case d.quote && c == '"':
			d.quote = false
			d.add(c)
			continue
		case d.quote:
			d.quote, d.quoted = false, false
		}
		switch {
		case d.quoted && c == '"':
			d.quote = true
		case d.quoted:
			d.add(c)
		case c == '"' && len(d.field) == 0:
			d.quoted = true
		case c == d.between:
			d.row, d.field = append(d.row, string(d.field)), d.field[:0]
		case c == '\n':
			dst = d.end(dst)
		default:
			d.add(c)
		}
	}
	return dst
}

func (d *csvDecoder) add(c byte) {
	if d.size++; d.size <= maxRow {
		d.field = append(d.field, c)
	}
}

func (d *csvDecoder) end(dst []byte) []byte {
	row := append(d.row, strings.TrimSuffix(string(d.field), "\r"))
	d.row, d.field, d.size, d.quoted, d.quote = nil, d.field[:0], 0, false, false
	if !d.body {
		d.body = true
		return append(dst, '\n')
	}
	if d.samples {
		return d.sample(dst, row)
	}
	return appendRecord(dst, d.columns, row)
}

// appendRecord appends the record that a row is.
func appendRecord(dst []byte, columns, row []string) []byte {
	record := map[string]string{"logtag": "F"}
	for i, text := range row[:min(len(row), len(columns))] {
		if key := columns[i]; key != "" && record[key] == "" {
			record[key] = text // of several columns for the message, the first one that is not empty
		}
	}
	line, _ := json.Marshal(record)
	return append(append(dst, line...), '\n')
}

// sample appends a row of a table of samples.
func (d *csvDecoder) sample(dst []byte, row []string) []byte {
	if d.over = len(row) != len(d.columns); d.over { // a run prints its log behind it
		return append(append(dst, strings.Join(row, string(d.between))...), '\n')
	}
	for i, text := range row {
		name, _ := json.Marshal(d.columns[i])
		value, _ := json.Marshal(text)
		dst = append(append(append(append(dst, "{,"[min(i, 1)]), name...), ':'), value...)
	}
	return append(dst, "}\n"...)
}

func (d *csvDecoder) Close(dst []byte) []byte {
	if len(d.row) > 0 || len(d.field) > 0 {
		dst = d.end(dst)
	}
	return dst
}
