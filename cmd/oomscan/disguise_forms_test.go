package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// taskLabel is srun's, before which no other label stands.
var taskLabel = regexp.MustCompile(`(?m)^ *\d+: `)

// collected is when the first line of a log was collected.
var collected = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// rowsOf are the lines of a log.
func rowsOf(log []byte) []string {
	return strings.Split(strings.TrimSuffix(string(log), "\n"), "\n")
}

// lines changes every line of a log.
func lines(change func(i int, line string) string) func([]byte) []byte {
	return func(log []byte) []byte {
		var b bytes.Buffer
		for i, line := range rowsOf(log) {
			b.WriteString(change(i, line) + "\n")
		}
		return b.Bytes()
	}
}

// before puts a text before every line.
func before(text string) func([]byte) []byte {
	return lines(func(_ int, line string) string { return text + line })
}

// behindTask puts a text before every line, behind the label of srun.
func behindTask(text string) func([]byte) []byte {
	return lines(func(_ int, line string) string {
		return taskLabel.FindString(line) + text + taskLabel.ReplaceAllString(line, "")
	})
}

// record makes the line of that number a record by a form with %s for the line in JSON, %l for itself, %y for it in YAML, and %t, %e, %m, %n
// for its time: as text, and in seconds, milliseconds and nanoseconds since 1970.
func record(form string, i int, line string) string {
	at := collected.Add(time.Duration(i) * time.Millisecond)
	return strings.NewReplacer("%s", quoted(line), "%l", line, "%y", "'"+strings.ReplaceAll(line, "'", "''")+"'", "%t", at.Format(time.RFC3339Nano), "%e", fmt.Sprintf("%.3f", float64(at.UnixMilli())/1e3),
		"%m", fmt.Sprint(at.UnixMilli()), "%n", fmt.Sprint(at.UnixNano())).Replace(form)
}

// records makes every line a record on a line of its own.
func records(form string) func([]byte) []byte {
	return lines(func(i int, line string) string { return record(form, i, line) })
}

// list makes every line a record of a list, in a text before and one behind it.
func list(before, form, between, behind string) func([]byte) []byte {
	return func(log []byte) []byte {
		rows := rowsOf(log)
		for i, row := range rows {
			rows[i] = record(form, i, row)
		}
		return []byte(before + strings.Join(rows, between) + behind)
	}
}

// inside puts a log between two texts.
func inside(before string, wrap func([]byte) []byte, behind string) func([]byte) []byte {
	return func(log []byte) []byte { return slices.Concat([]byte(before), wrap(log), []byte(behind)) }
}

// each disguises so many lines at a time.
func each(most int, wrap func([]byte) []byte) func([]byte) []byte {
	return func(log []byte) (out []byte) {
		for rows := range slices.Chunk(rowsOf(log), most) {
			out = append(out, wrap([]byte(strings.Join(rows, "\n")+"\n"))...)
		}
		return out
	}
}

// escapedHTML is a log in the source of a page.
func escapedHTML(log []byte) []byte { return []byte(html.EscapeString(string(log))) }

// bare is the log as it is.
func bare(log []byte) []byte { return log }

// stamped is a line with its time, which runs on from line to line, in a clock that is behind.
func stamped(line string, i int, behind time.Duration) string {
	return collected.Add(time.Duration(i)*time.Millisecond-behind).Format(time.RFC3339Nano) + " " + line
}

// newestFirst turns a log around whose lines have their times.
func newestFirst(form func(line string, i int) string) func([]byte) []byte {
	return func(log []byte) []byte {
		rows := rowsOf(log)
		for i, row := range rows {
			rows[i] = form(row, i)
		}
		slices.Reverse(rows)
		return []byte(strings.Join(rows, "\n") + "\n")
	}
}

// pythons writes a text as Python shows it between single quotes.
var pythons = strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\t", `\t`, "\r", `\r`, "\x1b", `\x1b`, "\x00", `\x00`)

// markdownSigns are what editors and converters put a backslash before.
var markdownSigns = regexp.MustCompile(`[\[\]*_<>]`)

// fullStamp is a time in a program's own line.
var fullStamp = regexp.MustCompile(`20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d`)

// setBack changes every line of a log by a clock that is set back by two hours in the midst of the failure.
func setBack(change func(line string, i int, back time.Duration) string) func([]byte) []byte {
	return func(log []byte) []byte {
		at := bytes.Count(log[:failureAt(log)], []byte{'\n'}) + 2
		return lines(func(i int, line string) string {
			if i < at {
				return change(line, i, 0)
			}
			return change(line, i, 2*time.Hour)
		})(log)
	}
}

func quoted(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text)
	return strings.TrimSuffix(b.String(), "\n")
}

// cut splits a text into pieces of so many characters.
func cut(line string, width int) (pieces []string) {
	for utf8.RuneCountInString(line) > width {
		n := 0
		for range width {
			_, size := utf8.DecodeRuneInString(line[n:])
			n += size
		}
		pieces, line = append(pieces, line[:n]), line[n:]
	}
	return append(pieces, line)
}

// pieces splits every line at a width and writes each piece by a form, whether it is the last one or not.
func pieces(width int, form func(piece string, last bool) string) func([]byte) []byte {
	return lines(func(_ int, line string) string {
		parts := cut(line, width)
		for i := range parts {
			parts[i] = form(parts[i], i == len(parts)-1)
		}
		return strings.Join(parts, "\n")
	})
}

// halves writes each half of every line by a form, with the number of the line and whether it is the second one.
func halves(form func(i int, piece string, last bool) string) func([]byte) []byte {
	return lines(func(i int, line string) string {
		at := utf8.RuneCountInString(line) / 2
		if at == 0 {
			return form(i, line, true)
		}
		first := cut(line, at)[0]
		return form(i, first, false) + "\n" + form(i, line[len(first):], true)
	})
}

// shownIn is what a terminal shows of a log in rows of a width: of the states of a progress bar the last one, and no escapes.
func shownIn(width int, form func(piece string, last bool) string) func([]byte) []byte {
	escape := regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")
	shown := lines(func(_ int, line string) string {
		line = strings.TrimRight(escape.ReplaceAllString(line, ""), "\r")
		return line[strings.LastIndexByte(line, '\r')+1:]
	})
	return func(log []byte) []byte { return pieces(width, form)(shown(log)) }
}

// holes puts blocks of NULs into a log, at the beginning of a line or wherever they fall.
func holes(size int, places ...float64) func([]byte) []byte {
	return func(log []byte) []byte {
		var b []byte
		at := 0
		for _, p := range places {
			to := int(float64(len(log)) * p)
			b = append(append(b, log[at:to]...), make([]byte, size)...)
			at = to
		}
		return append(b, log[at:]...)
	}
}

// inSigns is a line as cat -v shows it.
func inSigns(line string) string {
	var b strings.Builder
	for _, c := range []byte(line) {
		if c >= 0x80 {
			b.WriteString("M-")
			c -= 0x80
		}
		switch {
		case c == 0x7f:
			b.WriteString("^?")
		case c < ' ' && c != '\t':
			b.WriteString("^" + string(rune(c+'@')))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// units are the characters of a log in so many bytes each, or two of UTF-16, the lowest first.
func units(size int, log []byte) (b []byte) {
	for _, r := range string(log) {
		if size == 4 {
			b = binary.LittleEndian.AppendUint32(b, uint32(r))
			continue
		}
		for _, u := range utf16.Encode([]rune{r}) {
			b = binary.LittleEndian.AppendUint16(b, u)
		}
	}
	return b
}
