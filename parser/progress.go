package parser

import (
	"regexp"
	"strconv"
	"sync"

	"oomscan/parser/envelope"
)

// watchLines is how long the lines after a failure are read for signs that the run goes on. Such signs (a progress bar's
// count, a logged loss) are on most lines of a healthy log, far too common to be searched for.
const watchLines = 400

// counters are the signs: a bar of tqdm that is under way, and a dict of metrics with an epoch, as the transformers
// Trainer prints it.
var counters = sync.OnceValues(func() (bar, loss *regexp.Regexp) {
	return regexp.MustCompile(`\| (\d{1,9})/\d{1,9} \[`), regexp.MustCompile(`^\s*\{'loss': .{0,400}'epoch': '?(\d{1,6}(?:\.\d{1,6})?)`)
})

// watch reads a message for signs of progress.
func (p *Parser) watch(at Position, body []byte, h envelope.Header) {
	bar, loss := counters()
	body = body[:min(len(body), 1<<10)]
	if m := bar.FindSubmatch(body); m != nil {
		p.emit(Marker{At: at, Header: h, Name: "progress", Fields: Fields{"count": string(m[1])}, Text: clip(body)})
	} else if m := loss.FindSubmatch(body); m != nil {
		if epoch, err := strconv.ParseFloat(string(m[1]), 64); err == nil {
			p.emit(Marker{At: at, Header: h, Name: "progress", Fields: Fields{"count": strconv.Itoa(int(epoch * 1e6))}, Text: clip(body)})
		}
	}
}
