package stream

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"oomscan/parser/ascii"
	"oomscan/parser/envelope"
	"oomscan/parser/lazyre"
)

// Programs that work on texts print them in rows of a form of their own: dumps, catalogs, what a classifier or a translator made of one, what an
// attack made of it, what a linter found in it, what TeX could not fit into a line, two of them beside each other, and sources with numbers.

// isTextRow reports whether an event is in such a row.
func (r *Reader) isTextRow(own []byte, at int) bool {
	return isDumped(own) || isTextRecord(own) || isGlimpsed(own) || isJudged(own) || r.isFinding(own, at) || r.isFramed(own, at) || isOnPage(own) || r.isListed(own, at) || r.inCatalog(own, at) || r.isTranslated(own, at) || r.isPerturbed(at) ||
		r.isTypeset(own, at) || r.isBeside(own, at) || r.inCells(own, at) || r.inNumbered(own, at)
}

// dumped is a row of a dump of Stack Exchange: its texts are in the values of attributes; a sample of WebDataset; what SQLAlchemy writes into
// a database, or reads from it; a span of OpenTelemetry with what a model was asked; the code before a cursor, which Tabby completes; and a test of Robot Framework by its name.
var dumped = lazyre.New(`\| (?:PASS|SKIP) \|$|^.{0,120}\{"language": "[\w+#-]{1,20}", "prefix": "|^\s{0,40}"(?:gen_ai|llm)\.[\w.]{0,60}(?:prompt|completion|message|content)[\w.]{0,60}": "|^\s{0,8}<row Id="\d{1,12}" .{1,900}? (?:Body|Text|Title)="|^\{'__key__': '|^(?:.{0,80} )?sqlalchemy\.engine\.Engine(?:\.\w{1,40})? (?:INSERT|UPDATE|SELECT|\[(?:cached since|generated in|no key|raw sql|dialect)|Row \()`)

// dumpSigns are in such rows.
var dumpSigns = []string{`", "prefix": "`, "| PASS |", "| SKIP |", `"gen_ai.`, `"llm.`, "<row Id=", "{'__key__': '", "sqlalchemy.engine.Engine"}

func isDumped(own []byte) bool {
	return slices.ContainsFunc(dumpSigns, func(sign string) bool { return bytes.Contains(own, []byte(sign)) }) && dumped().Match(own)
}

// glimpsed is a column of a frame with its name, its type and its first values, as glimpse of polars and dplyr and str of R print it: the values are
// texts.
var glimpsed = lazyre.New(`^ ?\$ ([A-Za-z][\w. -]{0,60}?)(?: {1,60}<(?:str|cat|enum|chr|fct|list\[str\]|list)> |: chr {1,2}(?:\[1:\d{1,9}\] )?)["'\[]`)

func isGlimpsed(own []byte) bool {
	if len(own) < 2 || own[0] != '$' && own[1] != '$' {
		return false // as most events
	}
	m := glimpsed().FindSubmatch(own)
	return m != nil && !ofRun().Match(m[1])
}

// judged is a row that shows what a classifier made of a text, with its true class and the predicted one, in either order. The text may begin
// with a label, so no message shows the row as a whole. fastText and who reads its files begin the name of each class alike.
var judged = lazyre.New(`^\s{0,8}(?:` + trueClass + predictedClass + `|` + predictedClass + trueClass + `|(?:` + labelOfClass + `[\w./-]{1,60}(?: [\d.e-]{1,12})?[\s,]{1,8}){1,9})\S`)

const (
	labelOfClass   = `__label__`
	trueClass      = `(?:true|truth|gold|target|y_true)[=:] ?[\w./-]{1,60}[\s,|]{1,20}`
	predictedClass = `(?:pred|predicted|prediction|y_pred)[=:] ?[\w./-]{1,60}[\s,|]{1,20}`
)

func isJudged(own []byte) bool {
	return (bytes.Contains(own, []byte("pred")) || bytes.Contains(own, []byte(labelOfClass))) && judged().Match(own)
}

// linted is what a linter found, with its rule behind the place, and a part of the line (pycodestyle, ruff, markdownlint), or a checker of types
// (pyright; mypy and tsc, which end or begin with the rule).
var linted = lazyre.New(`^\s{0,4}[\w./+-]{1,200}\.\w{1,6}(?::\d{1,7}(?::\d{1,5})?:? [A-Z]{1,4}\d{3,4}\b|:\d{1,7}:\d{1,5} - (?:error|warning|information): |:\d{1,7}: (?:error|note): .{1,900}  \[[a-z-]{2,40}\]$|\(\d{1,7},\d{1,5}\): error TS\d)`)

// isFinding reports whether an event is in a finding, or in the lines below it, which have more indent.
func (r *Reader) isFinding(own []byte, at int) bool {
	body, _ := envelope.Peel(own)
	if linted().Match(body) {
		return true
	}
	margin := indentOf(own)
	if margin == 0 {
		return false // as most events
	}
	for line := range r.above(at) {
		if indent := indentOf(line); indent < margin {
			return indent > 0 && linted().Match(line)
		}
	}
	return false
}

// framed is a line of a source that a compiler or a spell checker shows below its place, which framePlace is (rustc, typos, biome).
var (
	framed     = lazyre.New(`^\s{0,6}(?:\d{1,7} ?)?[|│]`)
	framePlace = lazyre.New(`^\s{0,8}(?:-->|╭▸|╭─\[) ?\S{1,300}:\d{1,7}:\d{1,5}\]?$`)
)

// isFramed reports whether an event is in such a line.
func (r *Reader) isFramed(own []byte, at int) bool {
	if !framed().Match(own) {
		return false // as most events
	}
	for line := range r.above(at) {
		if !framed().Match(line) {
			return framePlace().Match(line)
		}
	}
	return false
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
	listedTexts = []string{"decoded", "detokenized", "reconstructed", "original", "reference", "hypothesis", "ground_truth", "transcript", "sentence", "passage", "document", "instruction", "question", "chosen", "rejected", "completion", "gold", "context", "source", "target", "prediction", "predicted"}
)

// paired are those that a report of a failure may have as well. Only another of the labels in the record tells that it is of texts.
var paired = map[string]bool{"context": true, "source": true, "target": true}

// isListed reports whether an event is in such a row, below another record with the same labels.
func (r *Reader) isListed(own []byte, at int) bool {
	m := labelled().FindSubmatch(own)
	if m == nil {
		return false // as most events
	}
	label := strings.ToLower(string(m[2]))
	if !slices.Contains(listedTexts, label) {
		return false
	}
	rows := 0
	for line := range r.above(at) {
		above := labelled().FindSubmatch(line)
		if above != nil && len(above[1]) == len(m[1]) && bytes.Equal(above[2], m[2]) {
			return rows > 0
		}
		if above != nil && len(above[1]) == len(m[1]) && (!paired[label] || slices.Contains(listedTexts, strings.ToLower(string(above[2])))) {
			rows++
		}
	}
	return false
}

// cellsOfTexts ends the heading of a list of texts, which names in parentheses what stands between bars in each row.
var cellsOfTexts = lazyre.New(`\((?:text|sentence|message|input|example|document|query)(?: \| (?:gold|true|label|class|target|expected|reference|pred(?:icted|iction)?|score)){1,4}\):?$`)

// inCells reports whether an event is in such a row.
func (r *Reader) inCells(own []byte, at int) bool {
	bars := bytes.Count(own, bar)
	if bars == 0 {
		return false // as most events
	}
	for line := range r.above(at) {
		switch {
		case bytes.Count(line, bar) != bars:
			return false
		case cellsOfTexts().Match(line):
			return true
		}
	}
	return false
}

// bar stands between two cells of a row.
var bar = []byte(" | ")

// ofSource is a line of a source behind its number and a tab, as gdb, lldb, pdb, cat -n and nl show it. statement is a line that no log has, and
// ofTrace one of a log or a traceback that is shown with numbers.
var (
	ofSource  = lazyre.New(`^(?:[-=]> ?)? {0,8}(\d{1,7})[: ]{0,2}(?:->|>>)?(?:\t(.*))?$`)
	statement = lazyre.New(`(?:[)\w] ?\{|[)\w"'\]];)$|^#!/|^#(?:SBATCH|include|define|if|endif)\b|^\s{0,40}(?:import \w[\w.]{0,60}(?: as \w+)?|from [\w.]{1,60} import .+|(?:def|class) \w.*:|(?:el)?if .*(?::|; then)|for .*(?::|; do)|while .*(?::|; do)|try:|else:|except\b.*:|return\b.*|export \w+=.*|set -\w.*|cat <<.*|fi|done|esac)$`)
	ofTrace   = lazyre.New(`^\s{0,8}(?:File "|at [\w.$<>]+\(|Traceback \()`)
)

// leastStatements is how many lines of code make a source.
const leastStatements = 2

// inNumbered reports whether an event is in a source that is listed with the numbers of its lines: code is above it, or a comment of C begins there.
func (r *Reader) inNumbered(own []byte, at int) bool {
	m := ofSource().FindSubmatch(own)
	if m == nil || len(m[2]) == 0 {
		return false // as most events
	}
	n, _ := strconv.Atoi(string(m[1]))
	statements, ends, begins := 0, false, false
	for line := range r.above(at) {
		m := ofSource().FindSubmatch(line)
		if n--; m == nil || string(m[1]) != strconv.Itoa(n) {
			break
		}
		text := m[2]
		if hasClock(text) || ofTrace().Match(text) || counts(text) {
			return false
		}
		ends = ends || !begins && bytes.Contains(text, []byte("*/"))
		begins = begins || !ends && bytes.HasPrefix(bytes.TrimLeft(text, " \t"), []byte("/*"))
		if statement().Match(text) {
			statements++
		}
	}
	return begins || statements >= leastStatements
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

// TeX shows the text of a line that is too long or too short below its place, with the fonts in it, and goes on where it breaks its own lines.
var (
	badBox   = lazyre.New(`^(?:Over|Under)full \\[hv]box \(`)
	typeset  = lazyre.New(`^(?:\[\])?\\\w{1,8}/[\w-]{1,40}(?:\(\d\))?/\w{1,8}/\w{1,8}/[\d.]{1,8} `)
	boxSigns = `full \`
)

// breaksAt is the least width at which TeX breaks its lines (max_print_line).
const breaksAt = 79

// isTypeset reports whether an event is in such a text.
func (r *Reader) isTypeset(own []byte, at int) bool {
	if !r.holdsAbove(at, boxSigns) {
		return false // as most events
	}
	begins := typeset().Match(own)
	for line := range r.above(at) {
		switch {
		case begins:
			return badBox().Match(line)
		case len(line) < breaksAt-1: // without a blank at its end
			return false
		}
		begins = typeset().Match(line)
	}
	return false
}

// Two files beside each other, as diff -y and sdiff print them: a sign stands in the same column of each line that differs. leastBeside is how many
// such lines make two columns, leastColumn where the sign stands at least, and widestBeside how long a line is at most.
const (
	leastBeside  = 3
	leastColumn  = 20
	widestBeside = 1000
)

// isBeside reports whether an event is in such a line, below others. A line of one file alone has nothing on the other side, so the signs differ as
// those of no table do.
func (r *Reader) isBeside(own []byte, at int) bool {
	if len(own) > widestBeside || !mayStandBeside(own) {
		return false // as most events
	}
	for column, sign := range signsBeside(own) {
		lines, alone := 1, sign != '|'
		for line := range r.above(at) {
			sign := signsBeside(line)[column]
			if sign == 0 {
				break
			}
			lines, alone = lines+1, alone || sign != '|'
			if lines >= leastBeside && alone {
				return true
			}
		}
	}
	return false
}

// mayStandBeside reports whether a line holds a sign with a blank before it and none but blanks next to it.
func mayStandBeside(line []byte) bool {
	for i := 1; i < len(line); i++ {
		if c := line[i]; (c == '|' || c == '<' || c == '>') && ascii.IsBlank(line[i-1]) && (i+1 == len(line) || ascii.IsBlank(line[i+1])) {
			return true
		}
	}
	return false
}

// signsBeside are the columns of a line in which such a sign may stand.
func signsBeside(line []byte) (signs map[int]byte) {
	text := untabbed(line)
	for at := leastColumn; at < len(text); at++ {
		if c := text[at]; c != '|' && c != '<' && c != '>' || text[at-1] != ' ' || at+1 < len(text) && text[at+1] != ' ' {
			continue
		}
		left, right := len(bytes.TrimSpace(text[:at])) > 0, len(bytes.TrimSpace(text[at+1:])) > 0
		if c := text[at]; left == (c != '>') && right == (c != '<') {
			if signs == nil {
				signs = map[int]byte{}
			}
			signs[at] = c
		}
	}
	return signs
}

// untabbed is a line with blanks for its tabs.
func untabbed(line []byte) []byte {
	const stop = 8
	var text []byte
	for _, c := range bytes.Runes(line) {
		switch {
		case c == '\t':
			text = append(text, "        "[len(text)%stop:]...)
		case c < utf8.RuneSelf:
			text = append(text, byte(c))
		default:
			text = append(text, '?') // of one column as well
		}
	}
	return text
}
