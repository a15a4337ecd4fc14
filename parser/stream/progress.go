package stream

import (
	"bytes"
	"regexp"
	"strconv"
	"sync"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/sample"
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
	served int  // requests that were answered well behind that
}

// failed begins the stretch behind a failure. A server prints its answer before the traceback, or behind it.
func (w *watch) failed(at parser.Position) {
	if !w.covers(at.Line, at.Offset) {
		w.denied, w.served = false, 0
	}
	w.line, w.offset = at.Line, at.Offset
}

func (w watch) covers(line int, offset int64) bool {
	return w.line > 0 && line > w.line && line <= w.line+watchLines && offset <= w.offset+watchBytes
}

// mayCount says whether text may hold a sign of progress: most lines do not, and to tell that is cheap.
func mayCount(text []byte) bool {
	for rest := text; ; {
		i := bytes.IndexByte(rest, '|')
		if i < 0 || i+2 >= len(rest) {
			break
		}
		if rest[i+1] == ' ' && rest[i+2] >= '0' && rest[i+2] <= '9' {
			return true
		}
		rest = rest[i+1:]
	}
	return bytes.Contains(text, []byte("loss")) || bytes.Contains(text, post)
}

// post begins a request that asks for work, in the access logs of HTTP servers. Others only ask how the server is.
var post = []byte(`"POST /`)

// A sign is in one of these forms: a bar of tqdm that is under way, a dict of metrics with an epoch, as the transformers
// Trainer prints it, whatever else tells the loss of a numbered step, and an answered request. Lines of metrics are long and
// many, and so what they count is read without an expression; see step.go.
type signs struct{ epoch, answer *regexp.Regexp }

var counters = sync.OnceValue(func() signs {
	return signs{
		regexp.MustCompile(`^\s*\{'loss': .{0,400}'epoch': '?(\d{1,6}(?:\.\d{1,6})?)`),
		regexp.MustCompile(`"POST /[^"]{0,400} HTTP/\d(?:\.\d)?" ([25])\d\d\b`),
	}
})

// maxSign is how many bytes of a message are looked at.
const maxSign = 1 << 10

// watch reads a message for signs of progress.
func (r *messageReader) watch(at parser.Position, body []byte, h envelope.Header) {
	if count, answer := r.sign(body); count != "" {
		r.emit(parser.Marker{At: at, Header: h, Name: "progress", Fields: parser.Fields{"count": count}, Text: clip(body)})
	} else if answer != 0 {
		r.answered(at, body, h, answer == '5')
	}
}

// sign is what a message counts, or how the status of its answer begins.
func (r *messageReader) sign(body []byte) (count string, answer byte) {
	body = body[:min(len(body), maxSign)]
	if count = countIn(body); count != "" || !bytes.Contains(body, post) {
		return count, 0
	}
	if !r.watched.denied && !bytes.Contains(body, []byte(`" 5`)) {
		return "", 0 // it would tell nothing
	}
	if m := counters().answer.FindSubmatch(body); m != nil {
		answer = m[1][0]
	}
	return "", answer
}

// mayTell says whether a message without a literal may be a sign of progress, or a part of its writer's sample. w is nil for
// a writer of whom nothing is known.
func (r *messageReader) mayTell(body []byte, w *writer) bool {
	if w != nil && w.sample != (sample.Tracker{}) {
		return true
	}
	if marked, _ := sample.Last(body); marked {
		return true
	}
	count, answer := r.sign(body)
	return count != "" || answer != 0
}

// countIn is what a message counts, empty when it counts nothing.
func countIn(body []byte) string {
	if bar := barIn(body); bar != nil {
		return string(bar)
	}
	if lossIn(body, 0) < 0 {
		return ""
	}
	if head := bytes.TrimLeft(body, " \t\r\n\f\v"); bytes.HasPrefix(head, []byte("{'loss': ")) {
		if m := counters().epoch.FindSubmatch(body); m != nil {
			if epoch, err := strconv.ParseFloat(string(m[1]), 64); err == nil {
				return strconv.Itoa(int(epoch * 1e6))
			}
			return ""
		}
	}
	return string(stepIn(body))
}

// barIn is how far a bar has come: the number in "| 12/300 [".
func barIn(body []byte) []byte {
	for rest := body; ; {
		i := bytes.Index(rest, []byte("| "))
		if i < 0 {
			return nil
		}
		rest = rest[i+2:]
		n := digits(rest)
		if n == 0 || n == len(rest) || rest[n] != '/' {
			continue
		}
		if all := digits(rest[n+1:]); all > 0 && bytes.HasPrefix(rest[n+1+all:], []byte(" [")) {
			return rest[:n]
		}
	}
}

// answered follows a server's access log. A server that denied one request and then does what others ask for outlived the
// failure. One that says yes before the work is done, as for a stream, never denies: that tells nothing.
func (r *messageReader) answered(at parser.Position, body []byte, h envelope.Header, denied bool) {
	w := &r.watched
	switch {
	case denied:
		w.denied, w.served = true, 0
	case w.denied:
		w.served++
		r.emit(parser.Marker{At: at, Header: h, Name: "progress", Fields: parser.Fields{"served": strconv.Itoa(w.served)}, Text: clip(body)})
	}
}
