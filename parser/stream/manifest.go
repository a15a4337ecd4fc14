package stream

import (
	"bytes"

	"oomscan/parser/lazyre"
)

// Objects of Kubernetes hold texts for other programs: the files in the data of a ConfigMap or a Secret, and the rules of those who raise alerts.
// What happened to an object is in its status, and a file may be the log of a run that was saved.

// field is a key of such an object and what stands behind it, in YAML or JSON.
var field = lazyre.New(`^"?([\w./-]{1,253})"?:(?: +(.*))?$`)

var (
	holder   = lazyre.New(`^(?:data|stringData|spec)$`)
	ofHolder = lazyre.New(`^"?(?:ConfigMap|Secret)\b`)
	ofRules  = lazyre.New(`^"?\w{1,40}Rules?\b`)
	savedLog = lazyre.New(`\.(?:log|out|err)(?:\.\d{1,3})?$`)
	closing  = lazyre.New(`^[\]}]{1,8},?$`)
)

// inManifest reports whether an event stands in such a text: the fields beside the one around it show which kind of object has it. kubectl
// sorts the fields, so the kind may stand behind the data.
func (r *Reader) inManifest(at int) bool {
	if !r.holdsAbove(at, "apiVersion") {
		return false // as most events
	}
	own, _, _ := bytes.Cut(r.buf[at:], newline)
	column, around := columnOf(own), ""
	for line := range r.above(at) {
		n := columnOf(line)
		if len(line) == 0 || n > column || n == column && around == "" {
			continue
		}
		m := field().FindSubmatch(line[n:])
		switch {
		case n < column:
			if column, around = n, ""; m == nil {
				break
			}
			if savedLog().Match(m[1]) {
				return false
			}
			if holder().Match(m[1]) && len(bytes.Trim(m[2], "{ ")) == 0 {
				around = string(m[1])
			}
		case m == nil:
			if !closing().Match(line[n:]) {
				around = "" // no object goes on here
			}
		case string(m[1]) == "kind" && around == "spec":
			return ofRules().Match(m[2])
		case string(m[1]) == "kind":
			return ofHolder().Match(m[2])
		case string(m[1]) == "apiVersion" && around != "spec":
			return true
		}
		if column == 0 && around == "" {
			return false
		}
	}
	return false
}
