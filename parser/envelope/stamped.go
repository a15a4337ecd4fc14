package envelope

import "bytes"

// fields is what a logger printed between its stamp and the message.
type fields struct {
	level  byte
	logger []byte
	rank   int
	pid    int
}

// bareStamp takes a stamp at the start of the text and what a logger prints behind it. A full date needs no company;
// less of a stamp needs a level.
func bareStamp(p *peeler, s scanner) ([]byte, bool) {
	st, ok := s.stamp()
	if !ok {
		return nil, false
	}
	f := fields{rank: Unknown}
	var rest []byte
	if st.sep == '-' || st.sep == ' ' {
		rest, ok = f.areal(s)
	}
	if rest == nil || !ok {
		rest, ok = f.after(s, st, false)
	}
	if !ok || st.tells < tellsYear && f.level == 0 {
		return nil, false
	}
	p.stamp(st)
	p.keep(f)
	return rest, true
}

// levelStamp takes `[INFO] 2026-01-14 05:20:12,312 __main__ >> ` and what else loggers print behind a level in brackets and
// a full date.
func levelStamp(p *peeler, s scanner) ([]byte, bool) {
	if !s.lit("[") {
		return nil, false
	}
	lv, ok := s.level()
	if !ok || !s.lit("] ") {
		return nil, false
	}
	st, ok := s.stamp()
	if !ok || st.tells < tellsYear {
		return nil, false
	}
	return p.behind(s, lv, st)
}

// behind takes what a logger prints behind a level and a full date.
func (p *peeler) behind(s scanner, lv byte, st stamp) ([]byte, bool) {
	f := fields{rank: Unknown, level: lv}
	rest, ok := f.after(s, st, false)
	if !ok {
		return nil, false
	}
	p.stamp(st)
	p.keep(f)
	return rest, true
}

// megatron takes ` [2025-06-01 10:00:00.123] `: Megatron's progress lines begin with a blank.
func megatron(p *peeler, s scanner) ([]byte, bool) {
	if !s.lit(" ") || s.peek() != '[' {
		return nil, false
	}
	return bracketStamp(p, s)
}

// bracketStamp takes a stamp in brackets, alone or with what SGLang and Ray's C++ log write inside, and the fields of
// other loggers behind it.
func bracketStamp(p *peeler, s scanner) ([]byte, bool) {
	if !s.lit("[") {
		return nil, false
	}
	st, ok := s.stamp()
	if !ok {
		return nil, false
	}
	if rest, ok := p.rayCore(s); ok {
		p.stamp(st)
		return rest, true
	}
	axes := *p
	for {
		t := s
		if !t.lit(" ") || !axes.axis(&t) {
			break
		}
		s = t
	}
	if !s.lit("]") {
		return nil, false
	}
	f := fields{rank: Unknown}
	rest, ok := f.after(s, st, true)
	if !ok {
		return nil, false
	}
	if st.sep == 0 && f.level != 0 {
		rest = f.richPlace(rest)
	}
	p.h.TP, p.h.DP, p.h.PP, p.h.EP = axes.h.TP, axes.h.DP, axes.h.PP, axes.h.EP
	p.stamp(st)
	p.keep(f)
	return rest, true
}

// richPlace cuts off rich's right column, where it prints the place. Its other lines are not told from text.
func (f *fields) richPlace(b []byte) []byte {
	line := bytes.TrimRight(b, " ")
	i := bytes.LastIndex(line, []byte("  "))
	if i < 0 || !isFileLine(line[i+2:]) {
		return b
	}
	f.logger = line[i+2:]
	return bytes.TrimRight(line[:i], " ")
}

func (p *peeler) keep(f fields) {
	p.said(f.level, f.logger)
	if f.rank != Unknown {
		p.h.Rank = f.rank
	}
	if f.pid != 0 {
		p.h.PID = f.pid
	}
}

// after reads what stands between a stamp and the message, in the orders that Python's loggers are configured to.
func (f *fields) after(s scanner, st stamp, bracketed bool) ([]byte, bool) {
	was := *f
	if rest, ok := f.tensorflow(s); ok {
		return rest, true
	}
	*f = was
	if rest, ok := f.pipes(s); ok {
		return rest, true
	}
	*f = was
	if rest, ok := f.dashes(s); ok {
		return rest, true
	}
	*f = was
	if rest, ok := f.composer(s); ok {
		return rest, true
	}
	*f = was
	if rest, ok := f.tensorrt(s); ok && bracketed {
		return rest, true
	}
	*f = was
	return f.items(s, st, bracketed)
}

// tensorrt takes ` [TRT-LLM] [RANK 2] [E] ` and TensorRT's own ` [TRT] [W] `: the library, the rank, the level's letter.
func (f *fields) tensorrt(s scanner) ([]byte, bool) {
	if !s.lit(" [") {
		return nil, false
	}
	name, ok := s.until("] ", 16)
	if !ok || !bytes.HasPrefix(name, []byte("TRT")) {
		return nil, false
	}
	if s.lit("[RANK ") {
		if f.rank, ok = s.number(1, 6); !ok || !s.lit("] ") {
			return nil, false
		}
	}
	if !s.lit("[") {
		return nil, false
	}
	lv, ok := s.letter()
	if !ok || !s.lit("]") || !s.gap() {
		return nil, false
	}
	f.level, f.logger = lv, name
	return s.b, true
}

// tensorflow takes `: W external/xla/x.cc:12] `.
func (f *fields) tensorflow(s scanner) ([]byte, bool) {
	if !s.lit(": ") {
		return nil, false
	}
	lv, ok := s.letter()
	if !ok || !s.lit(" ") {
		return nil, false
	}
	place := s.while(isPlace, maxLabel)
	if !isFileLine(place) || !s.lit("]") || !s.gap() {
		return nil, false
	}
	f.level, f.logger = lv, place
	return s.b, true
}

// composer takes `: rank0[812][MainThread]: WARNING: composer.trainer: `: the rank, the process, its thread.
func (f *fields) composer(s scanner) ([]byte, bool) {
	if !s.lit(": ") {
		return nil, false
	}
	rank, ok := s.rankWord()
	if !ok || !s.lit("[") {
		return nil, false
	}
	pid, ok := s.number(1, 9)
	if !ok || !s.lit("][") {
		return nil, false
	}
	if _, ok = s.until("]", 64); !ok || !s.lit(": ") {
		return nil, false
	}
	lv, ok := s.level()
	if !ok || !s.lit(": ") {
		return nil, false
	}
	logger := s.while(func(c byte) bool { return isWord(c) || c == '.' }, maxLabel)
	if len(logger) == 0 || !s.lit(":") || !s.gap() {
		return nil, false
	}
	f.level, f.logger, f.rank, f.pid = lv, logger, rank, pid
	return s.b, true
}

// pipes takes ` | ERROR    | mod:fn:12 - ` (loguru), ` | INFO | __main__ | `, ` | INFO | pkg.mod:12 `.
func (f *fields) pipes(s scanner) ([]byte, bool) {
	if s.blanks() == 0 || !s.lit("|") {
		return nil, false
	}
	for range 3 {
		t := s
		if t.blanks() == 0 {
			break
		}
		if lv, ok := t.level(); ok && f.level == 0 {
			if t.blanks(); t.lit("|") || t.lit("-") {
				f.level, s = lv, t
				continue
			}
			break
		}
		word := t.while(isPlace, maxLabel)
		if !some(word, isAlpha) {
			break
		}
		u := t
		if u.blanks() > 0 && (u.lit("|") || f.level != 0 && u.lit("-")) && (len(u.b) == 0 || u.peek() == ' ') {
			f.logger, s = word, u
			continue
		}
		if f.level != 0 && isPlaceLine(word) {
			f.logger, s = word, t
		}
		break
	}
	ok := s.gap()
	return s.b, ok
}

// dashes takes ` - mod - ERROR - ` and ` - ERROR - mod - `, also with `ERROR: ` at the end.
func (f *fields) dashes(s scanner) ([]byte, bool) {
	if !s.lit(" - ") {
		return nil, false
	}
	for range 4 {
		t := s
		if lv, ok := t.level(); ok && f.level == 0 {
			f.level = lv
			t.blanks()
			if t.lit(": ") || t.lit(":") && len(t.b) == 0 {
				return t.b, true
			}
			if !t.lit("- ") && !t.lit("-") {
				return nil, false
			}
			s = t
			continue
		}
		word := t.while(isPlace, maxLabel)
		if !t.lit(" - ") || !some(word, isAlpha) || f.level != 0 && !bytes.ContainsAny(word, "._:") {
			break
		}
		f.logger, s = word, t
	}
	if f.level == 0 {
		f.logger = nil // words between dashes are a message
		return nil, false
	}
	return s.b, true
}

// items takes fields that stand one behind the other: `[INFO] [engine.py:1:fn] [Rank 0] ` (DeepSpeed),
// `[mod][ERROR] - ` (Hydra), `[Info] (Router) ` (servers in C++), `\tINFO worker.py:1 -- ` (Ray), ` torch.distributed.run: [WARNING] `, ` rollout.py:71 - `.
func (f *fields) items(s scanner, st stamp, bracketed bool) ([]byte, bool) {
	bare := false // the last item is a level without brackets: its padding is not the text's
	for i := range 6 {
		t := s
		blanks := t.blanks()
		if blanks == 0 && !(t.peek() == '[' && (bracketed || i > 0)) || blanks > 3 && !bare {
			break
		}
		if t.lit("[") {
			word, ok := t.until("]", maxLabel)
			if !ok || !f.bracket(word, blanks == 0, st) {
				break
			}
			s = t
			if bare && t.blanks() == 1 && f.share(&t) {
				s = t
			}
			bare = false
			continue
		}
		if f.level != 0 && !bare && f.logger == nil && t.lit("(") {
			word, ok := t.until(")", maxLabel)
			if !ok || !all(word, isWord) || t.peek() != ' ' {
				break
			}
			f.logger, s = word, t
			continue
		}
		if lv, ok := t.level(); ok && f.level == 0 {
			t.lit(":")
			u := t
			u.blanks()
			if _, stamped := u.stamp(); stamped || len(t.b) > 0 && len(u.b) == len(t.b) && t.peek() != '[' {
				break // a level with a stamp behind it begins another logger's prefix
			}
			f.level, s, bare = lv, t, true
			continue
		}
		if rest, ok := f.place(t); ok {
			return rest, true
		}
		if !f.nameBefore(&t) {
			break
		}
		s = t
	}
	if bare {
		s.blanks()
		return s.b, true
	}
	if s.lit(" - ") || s.lit(" -- ") {
		return s.b, true
	}
	ok := s.gap()
	return s.b, ok
}

// share takes icefall's `(1/4)` behind a level and a place: the rank and how many there are.
func (f *fields) share(s *scanner) bool {
	if !s.lit("(") || f.rank != Unknown {
		return false
	}
	n, ok := s.number(1, 6)
	if !ok || !s.lit("/") {
		return false
	}
	all, ok := s.number(1, 6)
	if !ok || !s.lit(")") || n >= all || s.peek() != ' ' {
		return false
	}
	f.rank = n
	return true
}

// bracket reads one field in brackets. adjacent: nothing stood between it and the field before.
func (f *fields) bracket(word []byte, adjacent bool, st stamp) bool {
	if lv := levelOf(bytes.ToUpper(bytes.TrimSpace(word))); lv != 0 && len(word) > 1 && f.level == 0 {
		f.level = lv
		return true
	}
	s := scanner{word}
	if n, ok := s.rankWord(); ok && len(s.b) == 0 {
		if f.logger == nil && (f.level == 0 || !bytes.ContainsRune(word, ':')) {
			return false // "[Rank 8] Watchdog caught ..." is a message
		}
		f.rank = n
		return true
	}
	if s = (scanner{word}); s.lit("PID:") {
		n, ok := s.number(1, 9)
		if ok && len(s.b) == 0 {
			f.pid = n
		}
		return ok && len(s.b) == 0
	}
	switch {
	case f.logger != nil || !all(word, isPlace):
		return false
	case isPlaceLine(word), adjacent && some(word, isAlpha), f.level != 0 && isDotted(word), st.sep == 'T' && st.clock == clockLocal && isStep(word):
		f.logger = word
		return true
	}
	return false
}

// place takes `worker.py:1879 -- `, `rollout.py:71 - `, `core.py:12] `, `controller 1234 -- ` (Ray Serve),
// `pkg.mod:12 >> ` and `pkg.mod >> `.
func (f *fields) place(s scanner) ([]byte, bool) {
	word := s.while(isPlace, maxLabel)
	named := isPlaceLine(bytes.TrimSuffix(word, []byte(":")))
	if t := s; f.level != 0 && !named && all(word, isWord) && t.lit(" ") {
		if _, ok := t.number(1, 9); ok && bytes.HasPrefix(t.b, []byte(" -- ")) {
			s, named = t, true
		}
	}
	named = named || f.level != 0 && len(word) > 0 && all(word, isPlace) && bytes.HasPrefix(s.b, []byte(" >> "))
	if !named {
		return nil, false
	}
	if trimmed, ok := bytes.CutSuffix(word, []byte(":")); ok {
		f.logger = trimmed
		ok = s.gap()
		return s.b, ok
	}
	f.logger = word
	for _, mark := range [...]string{" -- ", " - ", " >> ", "] "} {
		if s.lit(mark) {
			return s.b, true
		}
	}
	switch string(s.b) { // the blank behind the mark may have been trimmed
	case " --", " -", " >>", "]":
		return nil, true
	}
	f.logger = nil
	return nil, false
}

// nameBefore takes a logger's dotted name in front of a level in brackets: `torch.distributed.run: [WARNING]`.
func (f *fields) nameBefore(s *scanner) bool {
	t := *s
	word, ok := bytes.CutSuffix(t.while(isPlace, maxLabel), []byte(":"))
	if !ok || f.level != 0 || !isDotted(word) {
		return false
	}
	u := t
	if !u.lit(" [") {
		return false
	}
	if _, ok := u.level(); !ok {
		return false
	}
	f.logger = word
	*s = t
	return true
}

// areal takes ` RolloutController INFO: `, ` [FSDP Engine Rank 0] INFO: `: a name, which may hold blanks, a level and a
// colon (AReaL, areal/utils/logging.py). A rank in the name is the global one.
func (f *fields) areal(s scanner) ([]byte, bool) {
	if !s.lit(" ") {
		return nil, false
	}
	head := s.b[:min(len(s.b), maxLabel)]
	for i := 1; i < len(head); i++ {
		if head[i-1] != ' ' || !isUpper(head[i]) {
			continue
		}
		t := scanner{s.b[i:]}
		lv, ok := t.level()
		if !ok || !t.lit(":") || !t.gap() {
			continue
		}
		name := bytes.TrimRight(head[:i], " ")
		if len(name) == 0 || name[0] != '[' && bytes.ContainsAny(name, " :,") {
			return nil, false
		}
		f.level, f.logger = lv, bytes.Trim(name, "[]")
		if j := bytes.Index(f.logger, []byte("Rank ")); j >= 0 {
			r := scanner{f.logger[j:]}
			if n, ok := r.rankWord(); ok && len(r.b) == 0 {
				f.rank = n
			}
		}
		return t.b, true
	}
	return nil, false
}

// isFileLine tells `core.py:844`, `torch/x.cpp:12`.
func isFileLine(b []byte) bool {
	i := bytes.LastIndexByte(b, ':')
	return i > 0 && all(b[i+1:], isDigit) && bytes.IndexByte(b[:i], '.') > 0 && bytes.IndexByte(b[:i], ':') < 0
}

// isPlaceLine tells a name with a line number, and perhaps a function before or behind it: `core.py:844`,
// `engine.py:1:fn`, `mod:fn:12`.
func isPlaceLine(b []byte) bool {
	if !some(b, isAlpha) || !all(b, isPlace) {
		return false
	}
	first, rest, ok := bytes.Cut(b, []byte{':'})
	second, third, three := bytes.Cut(rest, []byte{':'})
	switch {
	case !ok || len(first) == 0 || bytes.IndexByte(third, ':') >= 0:
		return false
	case !three:
		return all(second, isDigit)
	}
	return all(third, isDigit) || all(second, isDigit) && len(third) > 0
}

// isDotted tells a module's name of several parts: `torch.distributed.run`.
func isDotted(b []byte) bool {
	return bytes.IndexByte(b, '.') > 0 && isAlpha(b[0]) && all(b, func(c byte) bool { return isWord(c) || c == '.' })
}

// isStep tells the job and step in a Slurm daemon's log: `4242.batch`, `4242.0`.
func isStep(b []byte) bool {
	job, step, ok := bytes.Cut(b, []byte{'.'})
	return ok && all(job, isDigit) && all(step, isAlnum)
}
