package stream

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"oomscan/parser"
	"oomscan/parser/ascii"
	"oomscan/parser/envelope"
	"oomscan/parser/lazyre"
	"oomscan/parser/literal"
	"oomscan/parser/sample"
	"oomscan/parser/traceback"
)

// watchLines is how long the lines after a failure are read for signs that the run goes on. Such signs (a progress bar's
// count, a logged loss) are on most lines of a healthy log, far too common to be searched for.
const (
	watchLines = 400
	watchBytes = 256 << 10 // one line may be all of a log
)

// watch is the stretch behind a failure in which they are looked for.
type watch struct {
	line   int // of the failure; 0: nothing failed
	offset int64
	denied bool // a request was answered with a server's error since a failure
	served int  // requests that were answered well behind that, or reports of what an engine generates
	stream string
	forms  forms   // of messages behind a failure
	table  columns // the last one before the line, from above the failure on
}

// failed begins the stretch behind a failure. A server prints its answer before the traceback, or behind it: Uvicorn catches what a
// request raises and has denied it by then (protocols/http, run_asgi).
func (w *watch) failed(at parser.Position, stream string, trace *traceback.Trace) {
	if !w.covers(at.Line, at.Offset) {
		w.denied, w.served, w.forms, w.table = false, 0, forms{}, columns{}
	}
	if trace != nil && len(trace.Frames) > 0 && strings.Contains(trace.Frames[0].File, "/uvicorn/protocols/http/") {
		w.denied, w.served = true, 0
	}
	w.line, w.offset, w.stream = at.Line, at.Offset, stream
}

func (w watch) covers(line int, offset int64) bool {
	return w.line > 0 && line > w.line && line <= w.line+watchLines && offset <= w.offset+watchBytes
}

// mayCount reports whether text may hold a sign of progress, or be a row of a table that does.
func (w *watch) mayCount(text []byte) bool { return mayCount(text) || w.table.mayHold(text) }

// mayCount reports whether text may hold a sign of progress: most lines do not, and the check is cheap.
func mayCount(text []byte) bool {
	if holdsFraction(text) {
		return true
	}
	pairs := literal.PairsOf(text)
	for i := range signs {
		if sign := &signs[i]; pairs.Have(sign) && bytes.Contains(text, []byte(sign.Text)) {
			return true
		}
	}
	return false
}

// holdsFraction reports whether a number stands before a slash and a number that is not 0 behind it.
func holdsFraction(text []byte) bool {
	for rest := text; ; {
		before, behind, ok := bytes.Cut(rest, []byte("/"))
		if !ok {
			return false
		}
		rest = behind
		before, behind = bytes.TrimRight(before, " "), bytes.TrimLeft(behind, " ")
		if len(before) > 0 && ascii.IsDigit(before[len(before)-1]) && len(behind) > 0 && ascii.IsDigit(behind[0]) && string(behind[:run(behind)]) != "0" {
			return true
		}
	}
}

// signs are pieces of which every sign of progress holds one that does not count up to a number: it has a measure or a rate.
var signs = literal.Words("it [", "oss", "cc", "ppl", "eward", "lr", "eta", "ETA", "t/s", "s/it", "s/step", "rmse", "auc", "eturn", "ost ", "l1", "l2", "mse", "mae",
	"s/s", "sec/tick", "LOSS", "step ", "iterations ", string(posts[0]), string(posts[1]), "poch", "teration", "learn:", string(throughput), "s read", "s processed", "s written")

// posts begin a request for work in the access logs of HTTP servers. Other requests only check the server.
var posts = [][]byte{[]byte(`"POST /`), []byte("method=POST")}

// answer finds an answered request and how its status begins, in the common format of logs, or with names before the values (BentoML,
// _internal/server/http/access.py; Rails' lograge, Heroku's router).
var answer = lazyre.New(`(?:"POST /[^"]{0,400} HTTP/\d(?:\.\d)?" |\bmethod=POST[ ,]path="?/.{1,400}?\bstatus=)([25])\d\d\b`)

// maxSign is how many bytes of a message are looked at.
const maxSign = 4 << 10

// watch reads a message for signs of progress: steps that are counted (see step.go), and answered requests.
func (r *messageReader) watch(at parser.Position, body []byte, h envelope.Header) {
	if count, counted, status := r.sign(body); counted {
		fields := parser.Fields{"count": count.number(), "of": count.of()}
		if count.bar && len(count.total) > 0 {
			fields["bar"] = "true"
		}
		r.emit(parser.Marker{At: at, Header: h, Name: "progress", Fields: fields, Text: clip(body)})
	} else if status != 0 {
		r.answered(at, body, h, status == '5')
	} else if bytes.Contains(body, throughput) {
		if r.watched.stream == h.Stream && r.generates(body) {
			r.serve(at, body, h)
		}
	} else if body = body[:min(len(body), maxSign)]; r.beginsTable(body) {
		return
	} else if mayAdvance(body) {
		if of, n, ok := r.watched.forms.advance(body); ok {
			r.emit(parser.Marker{At: at, Header: h, Name: "progress", Fields: parser.Fields{"count": strconv.Itoa(n), "of": of}, Text: clip(body)})
		}
	}
}

// beginsTable notes the columns of a table whose rows count, and reports whether a message names them.
func (r *messageReader) beginsTable(body []byte) bool {
	c, ok := columnsIn(body)
	if ok {
		r.watched.table = c
	}
	return ok
}

// noteCount emits what the run counted last before a failure, once for the stretch that is watched behind it: a run that is started again
// counts from the beginning. Above a failure in a table is its heading.
func (r *Reader) noteCount(e *parser.Event) {
	if e.Role != parser.Evidence || r.line < r.recount || r.long != nil {
		return
	}
	at, ok := r.lineOf(e)
	if !ok || !r.mayLookBack(enclosedBytes) {
		return
	}
	r.recount = r.line + watchLines
	line, begins := e.At.Line, e.At.Line
	if e.Trace != nil {
		begins = e.Trace.Line
	}
	counted := false
	for above := range r.above(at) {
		if line--; line >= begins || !mayCount(above) {
			continue
		}
		body, h := envelope.Peel(above[bytes.LastIndexByte(above, '\r')+1:])
		if r.messages.beginsTable(body) {
			return
		}
		if c, ok := countIn(body[:min(len(body), maxSign)]); ok && !counted {
			counted = true
			at := parser.Position{Source: e.At.Source, Line: line, Passed: e.At.Passed}
			r.emit(parser.Marker{At: at, Header: h, Name: "progress", Fields: parser.Fields{"count": c.number(), "of": c.of(), "before": "true"}})
		}
	}
}

// generates is what an engine generates a second, unless it is nothing: vLLM (v1/metrics/loggers.py) and SGLang
// (managers/scheduler_metrics_mixin.py).
var generates = lazyre.New(`\bgen(?:eration)? throughput(?: \(token/s\))?: (?:0\.0*)?[1-9]`)

var throughput = []byte("throughput")

// enoughServed is how many such reports are enough to show that an engine works.
const enoughServed = 16

// generates reports whether a message is such a report. After enough of them it no longer looks.
func (r *messageReader) generates(body []byte) bool {
	return r.watched.served < enoughServed && generates().Match(body)
}

// serve counts a sign that an engine works.
func (r *messageReader) serve(at parser.Position, body []byte, h envelope.Header) {
	r.watched.served++
	r.emit(parser.Marker{At: at, Header: h, Name: "progress", Fields: parser.Fields{"served": strconv.Itoa(r.watched.served)}, Text: clip(body)})
}

// sign is what a message counts, or how the status of its answer begins.
func (r *messageReader) sign(body []byte) (count counter, counted bool, status byte) {
	body = body[:min(len(body), maxSign)]
	if slices.ContainsFunc(posts, func(post []byte) bool { return bytes.Contains(body, post) }) {
		if !r.watched.denied && !bytes.Contains(body, []byte(`" 5`)) && !bytes.Contains(body, []byte("=5")) {
			return counter{}, false, 0 // it would show nothing
		}
		if m := answer().FindSubmatch(body); m != nil {
			return counter{}, false, m[1][0]
		}
	}
	if count, counted = countIn(body); !counted {
		count, counted = r.watched.table.row(body)
	}
	return count, counted, 0
}

// mayMatter reports whether a message without a literal may be a sign of progress, or open a sample.
func (r *messageReader) mayMatter(body []byte, h *envelope.Header) bool {
	if mark, _ := sample.Last(body); mark >= 0 {
		return true
	}
	_, counted, status := r.sign(body)
	if counted || status != 0 {
		return true
	}
	if bytes.Contains(body, throughput) {
		return r.watched.stream == h.Stream && r.generates(body)
	}
	body = body[:min(len(body), maxSign)]
	_, begins := columnsIn(body)
	return begins || mayAdvance(body)
}

// answered follows a server's access log. A server that denied one request and then serves others outlived the
// failure. One that answers before the work is done, as for a stream, never denies: that proves nothing.
func (r *messageReader) answered(at parser.Position, body []byte, h envelope.Header, denied bool) {
	w := &r.watched
	switch {
	case denied:
		w.denied, w.served = true, 0
	case w.denied:
		r.serve(at, body, h)
	}
}
