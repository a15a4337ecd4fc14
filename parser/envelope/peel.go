package envelope

import (
	"bytes"
	"strconv"
	"strings"
)

// maxDepth is the most coats that one line may wear.
const maxDepth = 8

// maxLabel bounds the bytes in which the end of a label is looked for.
const maxLabel = 200

// Peel takes the envelopes off line, one physical line or one of its [Segments], without its newline, and returns the
// program's own text and what the envelopes said. It never fails: what does not parse as an envelope is text.
//
// body shares line's memory, except when a container's record or a terminal sequence had to be decoded; it is never
// longer than line and holds no ESC. A record may decode to text with carriage returns in it: pass that through
// [Segments] again.
func Peel(line []byte) (body []byte, h Header) {
	p := peeler{h: NewHeader()}
	return p.peel(line), p.h
}

// A Peeler peels lines one after the other. It remembers the words of their labels, a bounded number of them, so that those
// that come again and again take no memory of their own. The zero value is ready; it serves one goroutine.
type Peeler struct{ peeler }

// Peel is [Peel].
func (w *Peeler) Peel(line []byte) (body []byte, h Header) {
	if w.words == nil {
		w.words = words{}
	}
	w.peeler = peeler{h: NewHeader(), words: w.words}
	return w.peel(line), w.h
}

func (p *peeler) peel(line []byte) []byte {
	b := dropLead(line)
	for range maxDepth {
		text, ok := p.record(b)
		if !ok {
			break
		}
		b = dropLead(text)
		p.depth++
	}
	b = clean(b)
	for p.depth < maxDepth {
		rest, ok := p.one(b)
		if !ok {
			break
		}
		b = rest
		p.depth++
	}
	b = p.repeated(b)
	p.peekRank(b)
	p.h.Stream = p.stream
	return b
}

// Bounds of the words that are remembered.
const (
	maxWords = 512
	maxWord  = 128
)

// words are the strings that a peeler made, by their bytes.
type words map[string]string

// word is b as a string.
func (p *peeler) word(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if s, ok := p.words[string(b)]; ok {
		return s
	}
	s := string(b)
	if p.words != nil && len(b) <= maxWord {
		if len(p.words) >= maxWords {
			clear(p.words)
		}
		p.words[s] = s
	}
	return s
}

// Plain says that whatever [Peel] makes of the line or of its segments is a piece of the line, and that it is a whole
// message. It may say no of a line of which that is true.
func Plain(line []byte) bool {
	b := dropLead(line)
	return (len(b) == 0 || b[0] != '{') && !bytes.Contains(b, []byte(`{"`)) && bare(b, hasOrphans(b)) && !bytes.Contains(b, []byte(" P "))
}

// MayEnd says whether a message of a [Plain] line may end where rest begins, which is not empty: before a carriage return, a
// torn-in label or the note of Ray's log deduplicator. It may say yes of a place where none does.
func MayEnd(rest []byte) bool {
	switch rest[0] {
	case '\r':
		return true
	case '(':
		return bytes.Contains(rest[:min(len(rest), 2*maxLabel)], []byte(" pid="))
	case '[':
		return bytes.HasPrefix(rest, []byte("[rank")) || bytes.HasPrefix(rest, []byte(note))
	}
	return isBlank(rest[0]) && bytes.HasPrefix(rest[1:], []byte(note))
}

// PeelInherit peels a segment that is not the first of its line. outer is the first segment's header: its labels stand
// for the whole line (Ray labels a progress bar's first rewrite only), unless the segment has labels of its own.
func PeelInherit(seg []byte, outer Header) (body []byte, h Header) {
	body, h = Peel(seg)
	return body, inherit(h, outer)
}

// PeelInherit is [PeelInherit].
func (w *Peeler) PeelInherit(seg []byte, outer Header) (body []byte, h Header) {
	body, h = w.Peel(seg)
	return body, inherit(h, outer)
}

// peeler is the state of one line being peeled.
type peeler struct {
	h      Header
	stream string // the labels of the writer, outermost first, each one led by its class
	tells  int    // how much h.Time tells
	depth  int
	inner  bool  // a coat that the program or its runtime puts on is off: no launcher's label can follow
	words  words // nil: none are remembered
}

// Classes of labels; a stream is made of them.
const (
	classContainer = 'c'
	classHost      = 'h'
	classFile      = 'f'
	classTask      = 't'
	classLocal     = 'l'
	classRank      = 'r'
	classProcess   = 'p'
	classEngine    = 'e'
)

// labelSep separates the labels of a stream. No label holds it.
const labelSep = "|"

// label adds a label of that class and returns it.
func (p *peeler) label(class byte, parts ...string) string {
	var room [128]byte
	b := append(room[:0], class)
	for i, part := range parts {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, part...)
	}
	for i := bytes.IndexByte(b, labelSep[0]); i >= 0; i = bytes.IndexByte(b, labelSep[0]) {
		b[i] = '/'
	}
	text := p.word(b)
	if p.stream == "" {
		p.stream = text
	} else {
		p.stream += labelSep + text
	}
	return text
}

// stamp keeps the time that tells most.
func (p *peeler) stamp(st stamp) {
	if st.tells > p.tells {
		p.tells = st.tells
		p.h.Time, p.h.Clock = st.t, st.clock
	}
}

// coat takes one envelope off the front of s and returns what is inside. It changes nothing when it says false.
type coat func(p *peeler, s scanner) ([]byte, bool)

// Launchers and collectors put their labels around all that a program prints; the program and its runtime stamp single
// messages. Both are tried by the first byte of what is left, and a bracket's by whether a digit is in it, as in most stamps,
// most particular first.
var (
	outerBracket = []coat{globalRank, kubectl, mpiTag, dmesgSeconds, dmesgDate, mpiHost, role}
	outerNumber  = []coat{mpiTag, dmesgSeconds, role}
	outerDigit   = []coat{cri, syslogISO, isoStamp, srunTask, ipHost}
	outerAngle   = []coat{syslogPriority, quote}
	outerBlank   = []coat{srunTask, catNumber}
	outerBrace   = []coat{labelled}
	outerLetter  = []coat{journal, dmesgFacility, srunHet, grepFile, compose, stern, pdshHost}

	innerBracket = []coat{globalRank, c10, role, verlRanks, nemo, transformers, stage, arealRole, workerRole, cann, levelStamp, gcloud, bracketStamp}
	innerNumber  = []coat{role, bracketStamp}
	innerDigit   = []coat{bareStamp, ncclLine}
	innerParen   = []coat{arealTag, rayLabel, rayComponent}
	innerBlank   = []coat{megatron}
	innerLetter  = []coat{levelFirst, glog, ncclLine, wandb, arrowHost}
)

// one takes the outermost coat off.
func (p *peeler) one(b []byte) ([]byte, bool) {
	if len(b) == 0 {
		return nil, false
	}
	var outer, inner []coat
	switch c := b[0]; {
	case c == '[' && len(b) > 1 && isDigit(b[1]):
		outer, inner = outerNumber, innerNumber
	case c == '[':
		outer, inner = outerBracket, innerBracket
	case c == '(':
		inner = innerParen
	case c == '<' || c == '>':
		outer = outerAngle
	case c == '{':
		outer = outerBrace
	case c == ' ':
		outer, inner = outerBlank, innerBlank
	case isDigit(c):
		outer, inner = outerDigit, innerDigit
	case isAlpha(c) || c == '/' || c == '.':
		outer, inner = outerLetter, innerLetter
	}
	if !p.inner {
		for _, take := range outer {
			if rest, ok := take(p, scanner{b}); ok {
				return rest, true
			}
		}
	}
	for _, take := range inner {
		if rest, ok := take(p, scanner{b}); ok {
			p.inner = true
			return rest, true
		}
	}
	return nil, false
}

// labelled takes a container's record with a launcher's label in front of it.
func labelled(p *peeler, s scanner) ([]byte, bool) {
	if p.stream == "" {
		return nil, false // records without one were taken first
	}
	text, ok := p.record(s.b)
	if !ok {
		return nil, false
	}
	return clean(dropLead(text)), true
}

// peekRank reads the rank that many programs print in front of their messages. The words stay: messages of the NCCL
// watchdog ("[Rank 8] Watchdog caught ...") are made of them.
func (p *peeler) peekRank(b []byte) {
	s := scanner{b}
	if p.h.Rank != Unknown || !s.lit("[") {
		return
	}
	if n, ok := s.rankWord(); ok {
		if s.lit("/") {
			s.number(1, 6)
		}
		if s.lit("]") {
			p.h.Rank = n
		}
	}
}

// rankWord takes "rank3", "Rank 3", "RANK:3", "rank: 3", "rank=3", "rank-3".
func (s *scanner) rankWord() (int, bool) {
	t := *s
	if w := t.while(isAlpha, 4); !bytes.EqualFold(w, []byte("rank")) {
		return 0, false
	}
	if c := t.peek(); c == ' ' || c == ':' || c == '=' || c == '-' {
		t.b = t.b[1:]
		if c == ':' {
			t.lit(" ")
		}
	}
	n, ok := t.number(1, 6)
	if ok {
		*s = t
	}
	return n, ok
}

// inherit completes the header of a later segment of a line by what the first one told about the writer. Where both
// carry a label of one kind, the segment's own begins another writer, and so ends what is inherited.
func inherit(h, outer Header) Header {
	if h.Clock == "" {
		h.Time, h.Clock = outer.Time, outer.Clock
	}
	h.Partial = h.Partial || outer.Partial
	if outer.Stream == "" {
		return h
	}
	labels := strings.Split(outer.Stream, labelSep)
	for i, l := range labels {
		if h.Stream != "" && l[0] == h.Stream[0] {
			labels = labels[:i]
			break
		}
	}
	for _, l := range labels {
		h.fill(l[0], outer)
	}
	if h.Stream != "" {
		labels = append(labels, h.Stream)
	}
	h.Stream = strings.Join(labels, labelSep)
	return h
}

// fill takes over from outer what a label of that class tells, as far as h does not know it.
func (h *Header) fill(class byte, outer Header) {
	number := func(to *int, from int) {
		if *to == Unknown {
			*to = from
		}
	}
	switch class {
	case classTask:
		number(&h.Task, outer.Task)
	case classLocal:
		number(&h.LocalRank, outer.LocalRank)
	case classRank:
		number(&h.Rank, outer.Rank)
	case classProcess, classEngine:
		number(&h.Rank, outer.Rank)
		number(&h.TP, outer.TP)
		number(&h.DP, outer.DP)
		number(&h.PP, outer.PP)
		number(&h.EP, outer.EP)
		h.Actor = outer.Actor
		if h.Process == "" {
			h.Process = outer.Process
		}
		if h.PID == 0 {
			h.PID = outer.PID
		}
	}
	tellsHost := class == classContainer || class == classHost || class == classProcess
	if tellsHost && h.Host == "" {
		h.Host = outer.Host
	}
}

// levelOf reads a level's name. Programs disagree on names, not on first letters: C is Python's CRITICAL, SUCC and
// VINFO are words of Ray's command line.
func levelOf(word []byte) byte {
	switch string(word) {
	case "DEBUG", "TRACE", "NOTSET", "D":
		return 'D'
	case "INFO", "NOTICE", "SUCCESS", "SUCC", "VINFO", "I":
		return 'I'
	case "WARNING", "WARN", "VWARN", "W":
		return 'W'
	case "ERROR", "ERR", "E":
		return 'E'
	case "CRITICAL", "FATAL", "PANIC", "CRIT", "C", "F":
		return 'F'
	}
	return 0
}

// level takes a level's name of at least two letters that ends at a word's end.
func (s *scanner) level() (byte, bool) {
	t := *s
	w := t.while(isUpper, 9)
	lv := levelOf(w)
	if len(w) < 2 || lv == 0 || isWord(t.peek()) {
		return 0, false
	}
	*s = t
	return lv, true
}

// letter takes a level of one letter.
func (s *scanner) letter() (byte, bool) {
	if len(s.b) == 0 {
		return 0, false
	}
	lv := levelOf(s.b[:1])
	if lv != 0 {
		s.b = s.b[1:]
	}
	return lv, lv != 0
}

// said keeps a logger's level and place; the innermost speaks last.
func (p *peeler) said(level byte, logger []byte) {
	if level != 0 {
		p.h.Level = level
	}
	if len(logger) > 0 {
		p.h.Logger = p.word(logger)
	}
}

func (p *peeler) itoa(n int) string {
	var room [20]byte
	return p.word(strconv.AppendInt(room[:0], int64(n), 10))
}
