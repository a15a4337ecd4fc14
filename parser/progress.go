package parser

import (
	"bytes"
	"regexp"
	"strconv"
	"sync"

	"oomscan/parser/envelope"
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
func (w *watch) failed(at Position) {
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

// The signs: a bar of tqdm that is under way, a dict of metrics with an epoch, as the transformers Trainer prints it,
// whatever else tells the loss of a numbered step, and a server's answer. Each is compiled when a message holds what it is
// about: few logs tell of more than one.
var (
	barCount   = onUse(`\| (\d{1,9})/\d{1,9} \[`)
	epochCount = onUse(`^\s*\{'loss': .{0,400}'epoch': '?(\d{1,6}(?:\.\d{1,6})?)`)
	stepCount  = onUse(`(?i)\b(?:` + named + `|` + epochs + `)(\d{1,9})\b.{0,400}loss["']?[ :=]{1,3}-?\d`)
	answer     = onUse(`"POST /[^"]{0,400} HTTP/\d(?:\.\d)?" ([25])\d\d\b`)
)

const (
	named  = `(?:global[_ ])?(?:step|iter|iteration|batch|update)s?["']?[ :=\[]{1,3}`
	epochs = `epoch:? ?\[\d{1,6}(?:/\d{1,6})?\] ?[\[(] {0,6}|epoch:? \d{1,6} \[ {0,6}` // Epoch: [0][  11/5005], Epoch:[1/1](12/19994), Epoch: 1 [640/60000
)

// onUse compiles an expression when it is first asked for.
func onUse(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// watch reads a message for signs of progress.
func (p *Parser) watch(at Position, body []byte, h envelope.Header) {
	body = body[:min(len(body), 1<<10)]
	count := ""
	if m := sign(body, "| ", barCount); m != nil {
		count = string(m[1])
	} else if m := sign(body, "'loss': ", epochCount); m != nil {
		if epoch, err := strconv.ParseFloat(string(m[1]), 64); err == nil {
			count = strconv.Itoa(int(epoch * 1e6))
		}
	} else if m := sign(bytes.ToLower(body), "loss", stepCount); m != nil {
		count = string(m[1])
	} else if m := sign(body, string(post), answer); m != nil {
		p.answered(at, body, h, m[1][0] == '5')
	}
	if count != "" {
		p.emit(Marker{At: at, Header: h, Name: "progress", Fields: Fields{"count": count}, Text: clip(body)})
	}
}

// sign looks for a sign in a text that holds the literal in it.
func sign(text []byte, literal string, expr func() *regexp.Regexp) [][]byte {
	if !bytes.Contains(text, []byte(literal)) {
		return nil
	}
	return expr().FindSubmatch(text)
}

// answered follows a server's access log. A server that denied one request and then does what others ask for outlived the
// failure. One that says yes before the work is done, as for a stream, never denies: that tells nothing.
func (p *Parser) answered(at Position, body []byte, h envelope.Header, denied bool) {
	w := &p.watched
	switch {
	case denied:
		w.denied, w.served = true, 0
	case w.denied:
		w.served++
		p.emit(Marker{At: at, Header: h, Name: "progress", Fields: Fields{"served": strconv.Itoa(w.served)}, Text: clip(body)})
	}
}
