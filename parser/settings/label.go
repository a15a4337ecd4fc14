package settings

import (
	"slices"
	"strings"

	"oomscan/parser/ascii"
)

// reportWords are labels of dicts that report what happened instead of a configuration.
var reportWords = strings.Fields(`
	error errors failed failure exception response request result results metrics metric stats statistics memory usage
	status state states sample samples output outputs input inputs prompt message messages record event payload body data
	batch example row item got expected actual logs log eval step epoch iteration summary report timing timings profile
	unknown unrecognized unused invalid shapes shape keys diff missing unexpected`)

// maxUnconfirmed bounds the settings of one dict that wait for confirmation.
const maxUnconfirmed = 1024

// hold keeps a setting until a known setting confirms the dict. A metric refutes it.
func (d *literal) hold(p Pair) {
	if metric(p.Key) && !isSwitch(p.Value) || len(d.held) >= maxUnconfirmed {
		d.stack, d.held, d.rawDepth, d.confirmed = d.stack[:1], nil, 0, false
		d.stack[0] = frame{orphaned: true} // the rest is text
		return
	}
	d.held = append(d.held, p)
	d.confirmed = d.confirmed || isKnown(p.Key)
}

// release reports the held settings once a line with a known setting is complete.
func (d *literal) release(r *Reader) {
	if !d.unknownLabel || !d.confirmed {
		return
	}
	for _, p := range d.held {
		r.emit(p.Key, p.Value, p.Line, p.Form)
	}
	d.unknownLabel, d.held, d.reported = false, nil, true
}

// shortLabel reports whether a dict follows a short label, `FLAGS: {...` or `run setup = {...`, that is not the label
// of a report.
func shortLabel(prefix []byte) bool {
	if ascii.IsBlank(prefix[0]) || len(prefix) > 48 {
		return false
	}
	s := strings.TrimRight(string(prefix), " ")
	if s = strings.TrimRight(s, ":="); len(s) == len(strings.TrimRight(string(prefix), " ")) || isCode(prefix) {
		return false
	}
	words := strings.Fields(strings.ToLower(s))
	return len(words) > 0 && len(words) <= 3 && !slices.ContainsFunc(words, func(w string) bool { return !isName(w) || endsWithWord(w, reportWords) })
}
