package envelope

import "bytes"

// takeItems takes what loggers print between a stamp and the message when its parts stand one behind the other, in any
// order and number, which no template says: `[INFO] [engine.py:1:fn] [Rank 0] ` (DeepSpeed), `[mod][ERROR] - ` (Hydra),
// `[Info] (Router) ` (servers in C++), "\tINFO worker.py:1 -- " (Ray), ` torch.distributed.run: [WARNING] `,
// ` rollout.py:71 - `.
func takeItems(m *matcher, _ int) bool {
	bracketed := bytes.HasSuffix(m.taken(), []byte("]"))
	padded := false // behind a level without brackets; blanks there are not the text's
	for i := range 6 {
		t := m.scanner
		blanks := t.blanks()
		if blanks == 0 && !(t.peek() == '[' && (bracketed || i > 0)) || blanks > 3 && !padded && !(blanks == 4 && isLevel(t)) {
			break
		}
		if t.lit("[") {
			text, ok := t.until("]", maxLabel)
			if !ok || !m.bracketItem(text, blanks == 0) {
				break
			}
			t.skip(1)
			m.scanner = t
			if padded {
				m.shareItem()
			}
			padded = false
			continue
		}
		if m.componentItem(t, padded) {
			continue
		}
		if lv, ok := t.level(); ok && m.last(slotLevel) == nil {
			if !endsLevel(&t) {
				break
			}
			m.keep(slotLevel, int(lv))
			m.scanner, padded = t, true
			continue
		}
		if done, ok := m.placeItem(t); done {
			return ok
		}
		if !m.nameItem(t) {
			break
		}
	}
	if padded {
		m.blanks()
		return true
	}
	return m.lit(" - ") || m.lit(" -- ") || m.gap()
}

// isLevel reports whether a level comes next, as loguru aligns it on the right.
func isLevel(s scanner) bool {
	_, ok := s.level()
	return ok
}

// endsLevel takes the colon behind a level. Text that goes on without a blank makes it a word; a stamp begins another
// logger's prefix.
func endsLevel(s *scanner) bool {
	s.lit(":")
	t := *s
	blanks := t.blanks()
	if _, ok := t.stamp(); ok {
		return false
	}
	return len(s.b) == 0 || blanks > 0 || s.peek() == '['
}

// bracketItem reads a part in brackets. adjacent: nothing stood between it and the part before.
func (m *matcher) bracketItem(text []byte, adjacent bool) bool {
	level, logger := m.last(slotLevel) != nil, m.last(slotLogger) != nil
	if lv := levelFold(bytes.TrimSpace(text)); lv != 0 && len(text) > 1 && !level {
		m.keep(slotLevel, int(lv))
		return true
	}
	s := scanner{text}
	if n, ok := s.rankWord(); ok && len(s.b) == 0 {
		if !logger && (!level || bytes.IndexByte(text, ':') < 0) {
			return false // "[Rank 8] Watchdog caught ..." is a message
		}
		m.keep(slotRank, n)
		return true
	}
	if s = (scanner{text}); s.lit("local_rank") && (s.lit("=") || s.lit(":")) {
		n, ok := s.number(1, 6)
		m.keep(slotLocal, n)
		return ok && len(s.b) == 0
	}
	if s = (scanner{text}); s.lit("PID:") || s.lit("PID ") {
		n, ok := s.number(1, 9)
		m.keep(slotPID, n)
		return ok && len(s.b) == 0
	}
	if n, ok := rankOfWorker(text); ok && level {
		m.keep(slotRank, n)
		return true
	}
	if file, ok := placeInWords(text); ok && !logger {
		m.keepText(slotLogger, file) // [decorator.py (306)] (ROLL)
		return true
	}
	slurmd := m.time.sep == 'T' && m.time.clock == clockLocal && isStep(text)
	if logger || !all(text, place) || !isPlaceLine(text) && !(adjacent && some(text, alpha)) && !(level && isDotted(text)) && !slurmd {
		return false
	}
	m.keepText(slotLogger, text)
	return true
}

// rankOfWorker reads `actor_train-5-G5 5 / 8`, as ROLL names its workers: with the rank in the name and behind it.
func rankOfWorker(text []byte) (int, bool) {
	n, ok := rankOf(text, ' ', " / ")
	if !ok {
		return 0, false
	}
	s := scanner{text[bytes.IndexByte(text, '-')+1:]}
	named, ok := s.number(1, 6)
	return n, ok && named == n
}

// placeInWords returns the file of a place that is written `decorator.py (306)`.
func placeInWords(text []byte) ([]byte, bool) {
	file, line, ok := bytes.Cut(text, []byte(" ("))
	return file, ok && bytes.HasSuffix(file, []byte(".py")) && all(file, place) && bytes.HasSuffix(line, []byte(")")) && len(line) > 1 && all(line[:len(line)-1], digit)
}

// shareItem takes icefall's ` (1/4)` behind a level and a place: the rank and how many there are.
func (m *matcher) shareItem() {
	t := m.scanner
	if m.last(slotRank) != nil || !t.lit(" (") {
		return
	}
	text, ok := t.until(")", 16)
	if n, fits := rankOf(text, ' ', "/"); ok && fits && t.lit(")") && t.peek() == ' ' {
		m.keep(slotRank, n)
		m.scanner = t
	}
}

// componentItem takes the component behind a level: `[Error] (Process) `.
func (m *matcher) componentItem(t scanner, padded bool) bool {
	if padded || m.last(slotLevel) == nil || m.last(slotLogger) != nil || !t.lit("(") {
		return false
	}
	name := t.while(word, maxLabel)
	if len(name) == 0 || !t.lit(")") || t.peek() != ' ' {
		return false
	}
	m.keepText(slotLogger, name)
	m.scanner = t
	return true
}

// placeItem takes the last part of some prefixes, done=false when there is none: `worker.py:1879 -- `, `rollout.py:71 - `,
// `core.py:12] `, `core.py:12: `, `controller 1234 -- ` (Ray Serve), `pkg.mod:12 >> ` and `pkg.mod >> `.
func (m *matcher) placeItem(t scanner) (done, ok bool) {
	leveled := m.last(slotLevel) != nil
	name := t.while(place, maxLabel)
	if colon := len(name) - 1; colon > 0 && name[colon] == ':' && isPlaceLine(name[:colon]) {
		m.keepText(slotLogger, name[:colon])
		m.scanner = t
		return true, m.gap()
	}
	known := isPlaceLine(name) || leveled && (len(name) > 0 && bytes.HasPrefix(t.b, []byte(" >> ")) || isDotted(name) && bytes.HasPrefix(t.b, []byte(" - ")))
	if u := t; leveled && !known && all(name, word) && u.lit(" ") {
		if _, ok := u.number(1, 9); ok && bytes.HasPrefix(u.b, []byte(" -- ")) {
			t, known = u, true
		}
	}
	if !known {
		return false, false
	}
	for _, mark := range [...]string{" --", " -", " >>", "]"} {
		if u := t; u.lit(mark) && u.gap() {
			m.keepText(slotLogger, name)
			m.scanner = u
			return true, true
		}
	}
	return false, false
}

// nameItem takes a logger's dotted name in front of a level in brackets: `torch.distributed.run: [WARNING]`.
func (m *matcher) nameItem(t scanner) bool {
	name, ok := bytes.CutSuffix(t.while(place, maxLabel), []byte(":"))
	if !ok || m.last(slotLevel) != nil || !isDotted(name) {
		return false
	}
	u := t
	if !u.lit(" [") {
		return false
	}
	if _, ok := u.level(); !ok {
		return false
	}
	m.keepText(slotLogger, name)
	m.scanner = t
	return true
}

// rightColumn cuts off rich's right column, where it prints the place: `ERROR    text            file.py:12`. Its other
// lines look like any text.
func rightColumn(m *matcher) {
	if m.time.sep != 0 || m.last(slotLevel) == nil {
		return
	}
	line := bytes.TrimRight(m.b, " ")
	i := bytes.LastIndex(line, []byte("  "))
	if i < 0 {
		return
	}
	s := scanner{line[i+2:]}
	if file, ok := s.fileLine(); ok && len(s.b) == 0 {
		m.keepText(slotLogger, file)
		m.b = bytes.TrimRight(line[:i], " ")
	}
}
