package parser

import (
	"bytes"
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	"oomscan/parser/anchor"
	"oomscan/parser/envelope"
)

// A job of many ranks tells its stage hundreds of times between two failures. All of that waits, for every rank's last
// word counts, but not all of it need be read: once a writer has said something, a later line in which it says the same
// makes an earlier one no news. So when what waits is read, a line is left out if its writer has said the same before,
// in what was read for another failure, and says it again in a line behind. That one stands for it, and must be read
// and found to say so; if it is not, nothing is left out. And who said last that a stage is over says nothing when he says
// it again.

// maxHeard bounds what is remembered of what writers said.
const maxHeard = 1024

// word stands for what a line says as far as others like it say the same: which pattern it matches, and who writes it. It is
// a hash, for thousands are remembered: of as many, two that differ are taken for one in one of 10^12 logs. 0 is none.
type word uint64

var wordSeed = maphash.MakeSeed()

// phrase is what a word stands for.
type phrase struct {
	says                         int32
	pid, parent                  int32
	rank, local, task, device    int32
	tp, dp, pp, ep               int32
	stream, host, process, actor string
	clock                        string
}

// wordOf is what a header tells of its writer, but for what differs from line to line, and what it says.
func wordOf(says int32, h *envelope.Header) word {
	return word(maphash.Comparable(wordSeed, phrase{
		says, int32(h.PID), int32(h.Parent), int32(h.Rank), int32(h.LocalRank), int32(h.Task), int32(h.Device),
		int32(h.TP), int32(h.DP), int32(h.PP), int32(h.EP), h.Stream, h.Host, h.Process, h.Actor, h.Clock,
	}))
}

// writerOf is who says it.
func writerOf(h *envelope.Header) word { return wordOf(0, h) }

// turn is something that waits, when it is its turn.
type turn struct {
	*waiting
	kind   int
	body   []byte // of a line that is one message, which only one pattern may match; nil: that is not known of it
	header envelope.Header
	word   word // 0: others need not say the same
	spare  bool // it need not be read, for one behind it says the same
	stands bool // it must say something: for one that is spared, or to tell the time
	last   bool // with a stamp
}

// maxTurns is how many turns there is room for while nothing is read: there are seldom more.
const maxTurns = 1024

// spareable says whether all lines that match a pattern say the same, as far as it matters which stage the run is in, or
// whether the last of them alone counts.
func spareable(p *Pattern) bool {
	switch {
	case p.Gauge:
		return true
	case p.Marker != "phase" || p.Set["phase"] == "init": // a start may begin a new attempt
		return false
	}
	return p.Set["phase"] != "" && p.Set["edge"] != "" && !strings.Contains(p.Expr, "(?<phase") && !strings.Contains(p.Expr, "(?<edge")
}

// several says that a line may match several patterns, or that one may speak against it.
const several = -1

// saysWith is the one pattern that a text may match, and one, or several: of what is known of it, and another needle.
func (t *compiled) saysWith(says int32, needle int) int32 {
	for _, i := range t.owners[needle] {
		switch {
		case i+1 == says:
		case says != 0, t.traits[i]&isVeto != 0:
			return several
		default:
			says = i + 1
		}
	}
	return says
}

// plan puts what waits in order and finds what of it is spared.
func (r *recall) plan() {
	waiting := 0
	for k := range r.kinds {
		waiting += r.kinds[k].n
	}
	r.turns = slices.Grow(r.turns[:0], waiting)
	r.inOrder(func(kind int, w *waits, i int) { r.turns = append(r.turns, turn{waiting: w.at(i), kind: kind}) })
	clear(r.later)
	dated := false // a line behind has a stamp: where an exception is told, the time is known as well as ever
	read := r.line // number of the nearest line behind that will be read, and may be text of a sample
	for i, e := range slices.Backward(r.turns) {
		t := &r.turns[i]
		switch {
		case e.made != nil, e.kind == exceptionKind:
			if _, ok := e.made.(Event); ok || e.made == nil {
				clear(r.later) // what was under way then is part of it
				dated = false
			}
		case e.outer != nil || chunk(e.text):
			read = e.line
		case e.kind == sampleKind:
			t.spare = read-e.line > sampleLines && r.silent(e.text)
		case !r.alone(t):
			read = e.line
		default:
			r.compare(i)
			switch {
			case t.header.Time.IsZero():
				if !t.spare {
					read = e.line
				}
			case !dated && !t.spare && t.header.Clock != "monotonic":
				t.last, t.stands, dated = true, true, true
			}
		}
	}
}

// silent says that a line says nothing but where a sample begins or ends.
func (r *recall) silent(text []byte) bool {
	r.hits = r.reader.table.finder.Scan(text, 0, len(text), anchor.First|commonClass, r.hits[:0])
	return len(r.hits) == 0
}

// alone says whether a line is one message, which only one pattern may match, and peels it.
func (r *recall) alone(t *turn) bool {
	if t.says == 0 {
		for _, id := range r.reader.find(t.text) {
			if t.says = r.reader.table.saysWith(t.says, id); t.says == several {
				break
			}
		}
	}
	if t.says <= 0 {
		return false
	}
	n := 0
	var only []byte
	envelope.Segments(t.text, func(seg []byte) bool {
		only = seg
		n++
		return n < 2
	})
	if n != 1 {
		return false
	}
	body, h := r.reader.peeler.Peel(only)
	if h.Partial || len(body) > MaxMessage || bytes.HasPrefix(body, quoted) || bytes.IndexByte(body, '\n') >= 0 || bytes.IndexByte(body, '\r') >= 0 {
		return false
	}
	t.body, t.header = body, h
	return true
}

// compare finds whether one of the turns is spared for those behind it.
func (r *recall) compare(i int) {
	t := &r.turns[i]
	if r.reader.table.traits[t.says-1]&isSpare == 0 {
		return
	}
	if marked, _ := lastMark(t.body); marked {
		return
	}
	t.word = wordOf(t.says, &t.header)
	last, again := r.later[t.word]
	_, heard := r.heard[t.word]
	switch {
	case !again:
		r.later[t.word] = i
	case heard:
		t.spare, r.turns[last].stands = true, true
	}
}

// retell emits what is planned, or all of it. It says no, and has emitted nothing, when a line that must say something
// does not.
func (r *recall) retell(all bool) bool {
	begun := maps.Clone(r.reader.begun)
	r.told = r.told[:0]
	r.reader.emit = r.tells
	defer func() { r.reader.emit = r.emit }()
	proven := -1 // the last turn that may prove the plan wrong
	if !all {
		proven = lastIndex(r.turns, func(t *turn) bool { return t.stands })
	}
	r.holds = proven >= 0
	for i := range r.turns {
		if i > proven && r.holds {
			r.emitTold()
		}
		t := &r.turns[i]
		switch {
		case t.made != nil:
			r.tells(t.made)
			continue
		case t.kind == exceptionKind:
			r.apart(t.waiting)
			continue
		}
		before := r.count
		whole := len(r.reader.cuts) == 0 // else a line that srun cut may go on in this one
		_, amid := r.reader.begun[t.header.Stream]
		switch {
		case whole && !all && (t.spare && (t.kind == sampleKind || !amid) || !amid && r.over(t)):
			continue
		case whole && t.body != nil && !amid:
			r.reader.retellAs(Position{Source: r.reader.source, Line: t.line, Offset: t.offset}, t.body, t.header, t.says-1)
		default:
			r.reader.reread(t.waiting)
		}
		switch {
		case r.count > before:
			r.hear(t)
		case t.stands && !all:
			r.reader.begun = begun
			clear(r.reader.cuts)
			clear(r.told)
			return false
		}
	}
	r.emitTold()
	return true
}

// lastIndex is that of the last turn of which something is true, -1: of none.
func lastIndex(turns []turn, is func(*turn) bool) int {
	for i := range slices.Backward(turns) {
		if is(&turns[i]) {
			return i
		}
	}
	return -1
}

// tells takes what is to be emitted.
func (r *recall) tells(o Observation) {
	if m, ok := o.(Marker); ok && m.Name == "phase" && len(r.stage) > 0 {
		delete(r.stage, writerOf(&m.Header))
	}
	if r.count++; r.holds {
		r.told = append(r.told, o)
	} else {
		r.emit(o)
	}
}

// emitTold emits what was told, and what is told from now on.
func (r *recall) emitTold() {
	for _, o := range r.told {
		r.emit(o)
	}
	clear(r.told)
	r.told, r.holds = r.told[:0], false
}

// over says that a line tells the end of a stage of which its writer told last that it is over. Stamps behind a launcher's
// label are those of a program among several, whose time must be known.
func (r *recall) over(t *turn) bool {
	if t.last || t.word == 0 || r.reader.table.traits[t.says-1]&closes == 0 {
		return false
	}
	return r.stage[writerOf(&t.header)] == t.says && (t.header.Time.IsZero() || t.header.Launched() == "")
}

// hear notes what a writer has said.
func (r *recall) hear(t *turn) {
	if t.word == 0 {
		return
	}
	if len(r.heard) >= maxHeard {
		clear(r.heard)
	}
	r.heard[t.word] = struct{}{}
	if r.reader.table.traits[t.says-1]&isGauge != 0 {
		return
	}
	if len(r.stage) >= maxHeard {
		clear(r.stage)
	}
	r.stage[writerOf(&t.header)] = t.says
}

// retellAll emits everything that waits, but for what is spared.
func (r *recall) retellAll() {
	if r.plan(); !r.retell(false) {
		r.retell(true)
	}
	if clear(r.turns); cap(r.turns) > maxTurns {
		r.turns, r.told = nil, nil
	}
}
