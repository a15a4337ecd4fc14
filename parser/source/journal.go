package source

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
)

// journalMessage is the key of the text in journalctl's JSON. Where the text holds a control character, as colored output does, or bytes
// that are not UTF-8, its value is an array of all its bytes instead of a string.
const journalMessage = `"MESSAGE"`

// journalSigns are what only journalctl's JSON contains. It writes the first two into every record, whichever fields are asked for, but a
// long text may come before them.
var journalSigns = [][]byte{[]byte(`"__CURSOR"`), []byte(`"__REALTIME_TIMESTAMP"`), []byte(journalMessage + ":[")}

// isJournal reports whether head belongs to a log that journalctl wrote as JSON.
func isJournal(head []byte) bool {
	return slices.ContainsFunc(journalSigns, func(sign []byte) bool { return bytes.Contains(head, sign) })
}

// journalRow writes the text of a record as a string where it is an array of bytes, and drops the mark before each record of a JSON
// sequence (RFC 7464). All other lines stay as they are.
func journalRow(line []byte) []byte {
	record := bytes.TrimPrefix(line, []byte{0x1e})
	if !bytes.HasPrefix(record, []byte{'{'}) {
		return line
	}
	before, value, _ := bytes.Cut(record, []byte(journalMessage))
	value, colon := bytes.CutPrefix(bytes.TrimLeft(value, " "), []byte{':'})
	value, list := bytes.CutPrefix(bytes.TrimLeft(value, " "), []byte{'['})
	numbers, after, closed := bytes.Cut(value, []byte{']'})
	if !colon || !list || !closed {
		return record
	}
	out := append(slices.Clone(before), journalMessage+`:"`...)
	for number := range bytes.SplitSeq(numbers, []byte{','}) {
		n, err := strconv.ParseUint(string(bytes.Trim(number, " ")), 10, 8)
		if err != nil {
			return record
		}
		switch c := byte(n); {
		case c < ' ':
			out = fmt.Appendf(out, `\u%04x`, c)
		case c == '"', c == '\\':
			out = append(out, '\\', c)
		default:
			out = append(out, c) // not always UTF-8: the program's encoding is kept
		}
	}
	return append(append(out, '"'), after...)
}
