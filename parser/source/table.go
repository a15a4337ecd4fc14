package source

import (
	"encoding/json"

	"oomscan/parser/lazyre"
)

// namedTable finds the names of a table's columns in a JSON document, and below them lists of cells: of Azure's Log Analytics and Data Explorer,
// Elasticsearch's SQL, Trino, ClickHouse, InfluxDB.
var namedTable = lazyre.New(`^\{(?s:.*?)"(?:[Cc]olumns|meta)":\s{0,40}(\[[^\[\]]+\])[^\[\]]{0,400}"(?:[Rr]ows|data|values)":\s{0,40}\[\s{0,40}\[`)

// tableColumns returns the record key of each column of such a table of log records, nil for any other document.
func tableColumns(head []byte) []string {
	m := namedTable().FindSubmatch(head)
	if m == nil {
		return nil
	}
	var columns []any
	if json.Unmarshal(m[1], &columns) != nil {
		return nil
	}
	names := make([]string, len(columns))
	for i, column := range columns {
		names[i], _ = column.(string)
		fields, _ := column.(map[string]any)
		for _, key := range []string{"name", "ColumnName"} {
			if name, ok := fields[key].(string); ok {
				names[i] = name
			}
		}
	}
	return keysOf(names)
}

// cellReader turns each list of cells in a JSON document into a record on a line of its own, and drops what is around them. What is no whole
// list stays as it is.
type cellReader struct {
	columns []string
	row     []byte
	depth   int
	rows    int // the depth inside a row, 0 before the first one
	quoted  bool
	escaped bool
	last    byte // outside of strings
}

func (d *cellReader) Append(dst, src []byte) []byte {
	for _, c := range src {
		switch {
		case d.quoted:
			d.quoted = c != '"' || d.escaped
			d.escaped = c == '\\' && !d.escaped
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			continue
		default:
			dst = d.sign(dst, c)
		}
		if d.rows > 0 && d.depth >= d.rows {
			d.row = append(d.row, c)
		}
		if len(d.row) > maxRow {
			dst, d.row = append(dst, d.row...), d.row[:0]
		}
	}
	return dst
}

// sign takes a byte outside of strings.
func (d *cellReader) sign(dst []byte, c byte) []byte {
	switch c {
	case '"':
		d.quoted = true
	case '[', '{':
		if d.depth++; c == '[' && d.last == '[' && d.rows == 0 {
			d.rows = d.depth
		}
	case ']', '}':
		if d.depth--; d.rows > 0 && d.depth == d.rows-1 {
			d.row = append(d.row, c)
			dst = d.end(dst)
		}
	}
	d.last = c
	return dst
}

// end ends a row.
func (d *cellReader) end(dst []byte) []byte {
	var cells []json.RawMessage
	if json.Unmarshal(d.row, &cells) == nil {
		row := make([]string, len(cells))
		for i, cell := range cells {
			if json.Unmarshal(cell, &row[i]) != nil {
				row[i] = string(cell) // a number, an object
			}
		}
		dst = appendRecord(dst, d.columns, row)
	} else {
		dst = append(append(dst, d.row...), '\n')
	}
	d.row = d.row[:0]
	return dst
}

func (d *cellReader) Close(dst []byte) []byte { return append(dst, d.row...) }
