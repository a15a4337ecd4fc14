package source

import (
	"bytes"
	"strings"

	"oomscan/parser/lazyre"
)

// How oomscan's own reports begin, in this and earlier versions. A report quotes the log, so reading it as a log
// would double every incident.
var (
	sgr        = lazyre.New("\x1b\\[[0-9;]{0,16}m")
	headline   = lazyre.New(`^ ` + badge + `  .+\n(?:.*\n){0,24}?(?:  what {6}| WHY   | CONFIRM FIRST  | EVIDENCE\n)`)
	overview   = lazyre.New(`^(?:\d+ incidents, in order of occurrence\n)? +1\. +` + badge + `  `)
	noIncident = lazyre.New(`^ (?:NO MEMORY INCIDENT|NO ANSWER|NOTHING TO READ|NOTHING SCANNED) .+\n(?:.*\n){0,30}?  (?:run|read|errors) {4}`)
	document   = lazyre.New(`^\s{0,16}\{\s{0,16}"schema":\s{0,4}"oomscan\.`)
	markdown   = lazyre.New(`^(?:# job .{1,500}\n\n)?(?:### ` + badge + `: |\*\*No out-of-memory error in \d)`)
	others     = lazyre.New(`^(?:# HELP oomscan_|<\?xml[^>]{0,80}>\s{0,4}<testsuites name="oomscan"|<!doctype html>(?s:.{0,400})<meta name="generator" content="oomscan |` +
		`\{\s{0,9}"\$schema": "[^"]{0,200}sarif(?s:.{0,200})"name": "oomscan")`)
	perLine = lazyre.New(`^\{"job":(?:null|"[^"\n]{0,200}"),"id":"[^"\n]{0,200}","verdict":"[a-z]+","kind":"[a-z_]+"`)
)

const badge = `(?:OUT OF MEMORY|SURVIVED|SUSPECTED|SUSPECT, NOT PROVEN|NOT MEMORY)`

// observationsPrefix is how a file of observations begins, in every version of the schema.
const observationsPrefix = `{"schema":"oomscan.observations/`

// maxOwn is how many bytes of a file are searched for the beginning of a report.
const maxOwn = 4 << 10

// isReport reports whether a file that begins with b is a report of oomscan, in any format.
func isReport(b []byte) bool {
	b = b[:min(len(b), maxOwn)]
	first := b[:min(len(b), 64)]
	if len(b) > 0 && strings.IndexByte("#*<{", b[0]) >= 0 && (markdown().Match(b) || others().Match(b)) {
		return true
	}
	if bytes.Contains(first, []byte(`"oomscan.`)) && document().Match(b) || bytes.HasPrefix(b, []byte(`{"job":`)) && perLine().Match(b) {
		return true
	}
	if bytes.IndexByte(first, 0x1b) >= 0 {
		b = sgr().ReplaceAll(b, nil)
	}
	switch {
	case len(b) == 0:
		return false
	case b[0] == ' ':
		return len(b) > 1 && (b[1] == ' ' && overview().Match(b) || strings.IndexByte("OSN", b[1]) >= 0 && (headline().Match(b) || noIncident().Match(b)))
	}
	return bytes.Contains(b[:min(len(b), 64)], []byte(" incidents, ")) && overview().Match(b)
}
