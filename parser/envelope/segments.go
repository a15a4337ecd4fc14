package envelope

import "bytes"

// Segments calls yield with the parts of a physical line that several writes share, in order, until yield returns
// false: progress bars rewrite a line behind each \r, and one writer's output lands in the middle of another's line
// that has no newline yet. A line is cut at \r, after one trailing \r is dropped (vLLM ends the inner lines of a message
// with \r\n), and before a `[rank3]: ` or a Ray label that has text in front of it. NULs and a byte order mark at the
// start are dropped, empty parts are left out; an empty line is one empty segment.
//
// Segments share line's memory. [Peeler.Next] peels them.
func Segments(line []byte, yield func(seg []byte) bool) {
	line = bytes.TrimSuffix(dropLead(line), []byte{'\r'})
	if isRecord(line) || isPiece(line) || isLogfmt(line) {
		yield(line) // what looks like a label inside is quoted, or has only the container's prefix before it
		return
	}
	empty := true
	for more := true; more; {
		var part []byte
		part, line, more = bytes.Cut(line, []byte{'\r'})
		for tears := 0; len(part) > 0; tears++ {
			n := len(part)
			if tears < maxTears {
				n = nextLabel(part)
			}
			if !yield(part[:n]) {
				return
			}
			part, empty = part[n:], false
		}
	}
	if empty {
		yield(line)
	}
}

// isRecord recognizes a line that is a record, with a rank's label or the prefixes of collectors in front of it or none.
func isRecord(line []byte) bool {
	if i := bytes.Index(line[:min(len(line), maxLabel)], []byte(`{"`)); i > 0 && line[len(line)-1] == '}' && !hasText(line[:i]) {
		return true
	}
	s := scanner{line}
	if s.lit("[") {
		if label, ok := s.until("]:", 32); !ok || !all(label, word) {
			return false
		}
		s.skip(len("]:"))
		s.lit(" ")
		return s.lit(`{"`)
	}
	return s.peek() == '{'
}

// isPiece recognizes a piece of a line that containerd or CRI-O split.
func isPiece(line []byte) bool {
	const stamp = len("2025-06-01T10:00:00.123456789+02:00")
	if len(line) == 0 || !is(line[0], digit) {
		return false
	}
	head := line[:min(len(line), stamp+len(" stderr P "))]
	return bytes.Contains(head, []byte(" stderr P ")) || bytes.Contains(head, []byte(" stdout P "))
}

// maxTears bounds the cuts of one part and the candidates looked at for each, so that a hostile line costs no more than
// its length. Real lines are torn once or twice.
const maxTears = 16

// nextLabel returns where the next label with text in front of it begins, len(b) when there is none.
func nextLabel(b []byte) int {
	at := len(b)
	if i := torn(b, "[rank", rankStart); i > 0 {
		at = i
	}
	if i := torn(b[:at], " pid=", labelStart); i > 0 {
		at = i
	}
	if i := torn(b[:at], "(raylet)", rayletStart); i > 0 {
		at = i
	}
	return at
}

// torn returns where the first label begins that has this mark in it, of which start tells where its label begins. 0: none.
func torn(b []byte, mark string, start func(b []byte, mark int) int) int {
	from := 1
	for range maxTears {
		i := bytes.Index(b[from:], []byte(mark))
		if i < 0 {
			break
		}
		if at := start(b, from+i); at > 0 {
			return at
		}
		from += i + 1
	}
	return 0
}

// rankStart is where a torn-in label of a rank begins, whose mark it begins with.
func rankStart(b []byte, mark int) int {
	s := scanner{b[mark+len("[rank"):]}
	if _, ok := s.number(1, 6); ok && s.lit("]:") && (s.peek() == ' ' || s.peek() == '[') && hasText(b[:mark]) {
		return mark
	}
	return 0
}

// labelStart finds the torn-in Ray label around the " pid=" at pid: one that parses, and that does not merely quote a
// process as prose does, because it is coloured or follows a progress bar or a closing bracket. 0: none.
func labelStart(b []byte, pid int) int {
	for open := pid - 1; open > 0 && open > pid-maxLabel; open-- {
		if b[open] != '(' || b[open-1] == '(' {
			continue
		}
		start := colorStart(b, open)
		if before := b[:start]; start > 0 && (start < open || endsBar(before)) && isRayLabel(b[open:]) && hasText(before) {
			return start
		}
	}
	return 0
}

// colorStart returns where the colors begin that end at a position: the position itself if there are none.
func colorStart(b []byte, start int) int {
	for start > 0 && b[start-1] == 'm' {
		esc := bytes.LastIndexByte(b[:start], 0x1b)
		if esc < 0 || rawLen(b[esc:start]) != start-esc {
			break
		}
		start = esc
	}
	return start
}

// rayletStart is where the torn-in label of Ray's raylet begins, which names no process. 0: none.
func rayletStart(b []byte, mark int) int {
	if start := colorStart(b, mark); start > 0 && endsBar(b[:start]) && hasText(b[:start]) {
		return start
	}
	return 0
}

var rayLabel = compile(rayTemplate)

// isRayLabel reports whether b begins with the label of a named Ray worker.
func isRayLabel(b []byte) bool {
	m := matcher{whole: b}
	return m.try(rayLabel) && m.last(slotProcess) != nil && (m.gap() || m.peek() == 0x1b)
}

// endsBar reports whether b ends as unfinished lines do: a bracket, perhaps the blanks with which tqdm wipes the old bar.
func endsBar(b []byte) bool {
	trimmed := bytes.TrimRight(b, " ")
	if len(trimmed) < len(b) {
		return bytes.HasSuffix(trimmed, []byte("it]")) || bytes.HasSuffix(trimmed, []byte("/s]"))
	}
	return len(b) > 0 && (b[len(b)-1] == ']' || b[len(b)-1] == '}' || b[len(b)-1] == '%')
}

// hasText reports whether something else than line prefixes stands in b.
func hasText(b []byte) bool {
	const longest = 1 << 10 // no pile of labels is longer
	if len(b) == 0 || len(b) > longest {
		return len(b) > 0
	}
	body, _ := Peel(b)
	return len(bytes.TrimSpace(body)) > 0
}
