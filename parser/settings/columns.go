package settings

import (
	"bytes"
	"slices"
	"strings"
)

// columns reads a table of two columns under a heading, as tabulate and rich print configurations:
//
//	------ config key ------  --- value ---
//	micro_train_batch_size    1
type columns struct {
	block
	rows int
}

// startColumns begins a table with its heading.
func (r *Reader) startColumns(text []byte) bool {
	if !headsColumns(text) || !isHeading(text) {
		return false
	}
	r.begin(&columns{}, text)
	return true
}

func (c *columns) feed(r *Reader, text []byte) (fits, more bool) {
	if len(strings.Trim(string(text[:min(len(text), maxScalar)]), ruleMarks)) == 0 {
		return true, c.rows == 0 || len(text) > 0
	}
	name, value, ok := twoColumns(text)
	if !ok || metric(name) && plainNumber(value) || isHeading(text) {
		return false, false
	}
	c.rows++
	c.add(r, Pair{Key: name, Value: value, Line: r.line, Form: Pairs}, c.rows >= minListing && (isKnown(name) || c.hasKnown()))
	return true, true
}

// hasKnown reports whether a known setting is held.
func (b *block) hasKnown() bool {
	return slices.ContainsFunc(b.held, func(p Pair) bool { return isKnown(p.Key) })
}

// ruleMarks are what lines between rows are made of.
const ruleMarks = " -=+|:─━═│┃┌┐└┘├┤┬┴┼┏┓┗┛┡┩┯┷┿╇╪╒╕╘╛╞╡╤╧╭╮╰╯"

// headingWords are what headings call the names of settings.
var headingWords = set(`
	key keys name parameter parameters param params argument arguments arg args option options setting settings
	hyperparameter hyperparameters hyper-parameter hparam config configuration flag field variable`)

// headsColumns is a quick test for a heading.
func headsColumns(text []byte) bool {
	text = bytes.TrimRight(text[:min(len(text), MaxKey)], ruleMarks)
	return bytes.HasSuffix(text, []byte("alue")) || bytes.HasSuffix(text, []byte("VALUE"))
}

// isHeading reports whether a line is `Parameter   Value`, with any rules and bars.
func isHeading(text []byte) bool {
	s := strings.ToLower(string(text[:min(len(text), MaxKey)]))
	s = strings.Trim(s, ruleMarks)
	name, ok := strings.CutSuffix(s, "value")
	bare := strings.TrimRight(name, ruleMarks)
	words := strings.Fields(bare)
	return ok && len(name)-len(bare) >= 2 && len(words) > 0 && len(words) <= 3 && headingWords[words[len(words)-1]]
}

// twoColumns splits a row between bars, or where two blanks stand.
func twoColumns(text []byte) (name, value string, ok bool) {
	if len(text) > MaxKey+MaxValue {
		return "", "", false
	}
	s, gap := strings.TrimSpace(string(text)), "  "
	for _, bar := range bars {
		if inner, boxed := strings.CutPrefix(s, string(bar)); boxed {
			s, gap = strings.TrimSuffix(inner, string(bar)), string(bar)
		}
	}
	name, value, ok = strings.Cut(s, gap)
	name, value = strings.TrimSpace(name), strings.Trim(strings.TrimSpace(value), `'"`)
	ok = ok && strings.Count(name, " ") <= 4 && isName(strings.NewReplacer(" ", "_", "/", "_").Replace(strings.TrimLeft(name, "-")))
	return name, value, ok && value != "" && !strings.Contains(value, gap)
}
