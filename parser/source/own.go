package source

import (
	"bytes"
	"regexp"
	"sync"
)

// forms are the beginnings of oomscan's answers. A report quotes the log: read as one, it would double every incident.
type forms struct{ sgr, headline, overview, calm, document, perLine *regexp.Regexp }

var ownForms = sync.OnceValue(func() *forms {
	const badge = `(?:OUT OF MEMORY|SURVIVED|SUSPECT, NOT PROVEN|NOT MEMORY)`
	return &forms{
		sgr:      regexp.MustCompile("\x1b\\[[0-9;]{0,16}m"),
		headline: regexp.MustCompile(`^ ` + badge + ` .+\n(?: .*\n){0,4}?  what {6}`),
		overview: regexp.MustCompile(`^\d+ incidents, in order of occurrence\n +1\. +` + badge + ` `),
		calm:     regexp.MustCompile(`^ (?:NO MEMORY INCIDENT|NO ANSWER|NOTHING TO READ) .+\n(?:.*\n){0,12}?  (?:run|read|errors) {4}`),
		document: regexp.MustCompile(`^\s{0,16}\{\s{0,16}"schema":\s{0,4}"oomscan\.`),
		perLine:  regexp.MustCompile(`^\{"job":(?:null|"[^"\n]{0,200}"),"id":"[^"\n]{0,200}","verdict":"[a-z]+","kind":"[a-z_]+"`),
	}
})

// observed is how a file of observations begins, in every version of its schema.
const observed = `{"schema":"oomscan.observations/`

// maxOwn is how much of a file is looked at for the beginning of a report.
const maxOwn = 4 << 10

// own says that a file that begins with b is a report of oomscan, in any of its forms.
func own(b []byte) bool {
	b = b[:min(len(b), maxOwn)]
	f := ownForms()
	switch {
	case len(b) == 0:
		return false
	case f.document.Match(b), f.perLine.Match(b):
		return true
	case b[0] != ' ' && b[0] != 0x1b && !bytes.Contains(b[:min(len(b), 64)], []byte(" incidents, ")):
		return false
	}
	b = f.sgr.ReplaceAll(b, nil)
	return f.headline.Match(b) || f.overview.Match(b) || f.calm.Match(b)
}
