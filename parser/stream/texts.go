package stream

import (
	"bytes"
	"slices"
	"strings"

	"oomscan/parser/envelope"
	"oomscan/parser/lazyre"
)

// Programs that work on texts print them in rows of a form of their own: dumps, catalogs, what a classifier or a translator made of one, what an
// attack made of it, and what a linter found in it.

// dumped is a row of a dump of Stack Exchange: its texts are in the values of attributes.
var dumped = lazyre.New(`^\s{0,8}<row Id="\d{1,12}" .{1,900}? (?:Body|Text|Title)="`)

func isDumped(own []byte) bool { return bytes.Contains(own, []byte("<row Id=")) && dumped().Match(own) }

// judged is a row that shows what a classifier made of a text, with its true class and the predicted one, in either order. The text may begin
// with a label, so no message shows the row as a whole.
var judged = lazyre.New(`^\s{0,8}(?:` + trueClass + predictedClass + `|` + predictedClass + trueClass + `)\S`)

const (
	trueClass      = `(?:true|truth|gold|target|y_true)[=:] ?[\w./-]{1,60}[\s,|]{1,20}`
	predictedClass = `(?:pred|predicted|prediction|y_pred)[=:] ?[\w./-]{1,60}[\s,|]{1,20}`
)

func isJudged(own []byte) bool { return bytes.Contains(own, []byte("pred")) && judged().Match(own) }

// linted is what a linter found, with its rule behind the place, and a part of the line (pycodestyle, ruff, markdownlint).
var linted = lazyre.New(`^[\w./+-]{1,200}\.\w{1,6}:\d{1,7}(?::\d{1,5})?:? [A-Z]{1,4}\d{3,4}\b`)

func isFinding(own []byte) bool {
	body, _ := envelope.Peel(own)
	return linted().Match(body)
}

// nodeOfPage is a node of the tree in which an agent is shown a page (BrowserGym, WebArena).
var nodeOfPage = lazyre.New(`^\s{0,80}(?:\[\w{1,12}\] )?(?:RootWebArea|StaticText|heading|link|paragraph|code|listitem) ['"]`)

func isOnPage(own []byte) bool {
	body, _ := envelope.Peel(own)
	return nodeOfPage().Match(body)
}

// labelled is a row of a list of records that a program prints with a label before each text. In listedTexts are labels of texts that no program
// uses for what it says itself.
var (
	labelled    = lazyre.New(`^(\s{0,8})([A-Za-z_]{3,20}) {0,8}: `)
	listedTexts = []string{"decoded", "detokenized", "reconstructed", "original", "reference", "hypothesis", "ground_truth", "transcript", "sentence", "passage", "document", "instruction", "question", "chosen", "rejected", "completion", "gold"}
)

// isListed reports whether an event is in such a row, below another record with the same labels.
func (r *Reader) isListed(own []byte, at int) bool {
	m := labelled().FindSubmatch(own)
	if m == nil || !slices.Contains(listedTexts, strings.ToLower(string(m[2]))) {
		return false // as most events
	}
	rows := 0
	for line := range r.above(at) {
		above := labelled().FindSubmatch(line)
		if above != nil && len(above[1]) == len(m[1]) && bytes.Equal(above[2], m[2]) {
			return rows > 0
		}
		if above != nil && len(above[1]) == len(m[1]) {
			rows++
		}
	}
	return false
}

// catalogText begins a text of a catalog of gettext, or what it was before.
var catalogText = lazyre.New(`^(?:#\| )?msg(?:id|str|ctxt|id_plural)(?:\[\d\])? "`)

// inCatalog reports whether an event is in such a text, which goes on below with its quotation marks alone.
func (r *Reader) inCatalog(own []byte, at int) bool {
	if len(own) == 0 || own[0] != '"' {
		return catalogText().Match(own)
	}
	for line := range r.above(at) {
		if len(line) == 0 || line[0] != '"' {
			return catalogText().Match(line)
		}
	}
	return false
}

// translated is what a model made of a sentence, or what it should have (OpenNMT-py, translate/translation.py). The sentence stands above, in words.
var translated = lazyre.New(`^(?:PRED|GOLD)( \d{1,9}: )`)

// betweenSentences is how many lines may stand between the two.
const betweenSentences = 3

func (r *Reader) isTranslated(own []byte, at int) bool {
	if !r.holdsAbove(at, "SENT ") {
		return false // as most events
	}
	body, _ := envelope.Peel(own)
	m := translated().FindSubmatch(body)
	below := 0
	for line := range r.above(at) {
		if below++; m == nil || below > betweenSentences {
			break
		}
		if body, _ := envelope.Peel(line); bytes.HasPrefix(body, append([]byte("SENT"), m[1]...)) {
			return true
		}
	}
	return false
}

// attacked is what a model made of a text, and of the text that an attack made of it (textattack/loggers/file_logger.py). The two stand below, with
// an empty line before each.
var attacked = lazyre.New(`^\[\[.{1,60}\]\] --> \[\[.{1,60}\]\]$`)

// isPerturbed reports whether an event is in one of the two.
func (r *Reader) isPerturbed(at int) bool {
	if !r.holdsAbove(at, "]] --> [[") {
		return false // as most events
	}
	const texts = 2
	empty := 0
	for line := range r.above(at) {
		switch {
		case attacked().Match(line):
			return empty > 0
		case len(line) == 0:
			if empty++; empty > texts {
				return false
			}
		}
	}
	return false
}
