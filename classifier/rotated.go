package classifier

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"oomscan/parser/envelope"
	"oomscan/parser/lazyre"
	"oomscan/parser/traceback"
)

// rotated matches what log rotation appends to a name, before the suffix of a compressed file: logrotate's and Python's numbers,
// split's letters, parts, and dates, or the second at which rotatelogs begins a file.
var rotated = lazyre.New(`^(.*[^.\d].*?)(?:\.(\d{1,3}|a[a-z]|part[-_.]?(?:\d{1,5}|[a-z]{2}))|[-.]((?:19|20)\d\d[-.]?[01]\d[-.]?[0-3]\d(?:[-_T]?\d\d[-:_]?\d\d(?:[-:_]?\d\d)?|[-_T]?[0-2]\d)?|1\d{7}00))((?:\.(?:gz|zst|xz|bz2|lz4))*)$`)

// inside match the times that rotation puts before the ending of a name. The first is an hour, as Log4j, namers for Python's handlers, and who
// calls rotatelogs or cronolog write it; the second has a fraction of a second (lumberjack and its kin, Loguru). Any other time with minutes
// there is the beginning of a run, as a rule.
var inside = []func() *regexp.Regexp{
	lazyre.New(`^(.*[^.\d].*?)[-.](20\d\d-[01]\d-[0-3]\d[-_T][0-2]\d|20\d\d[01]\d[0-3]\d[-_T]?[0-2]\d)` + ending),
	lazyre.New(`^(.*[^.\d].*?)(?:-(20\d\d-[01]\d-[0-3]\dT[0-2]\d(?:-[0-5]\d){2}\.\d{3})(?:-size|-time)?|\.(20\d\d-[01]\d-[0-3]\d_[0-2]\d(?:-[0-5]\d){2}_\d{6}))` + ending),
}

// ending is that of a log, and what a compressed file has behind it.
const ending = `(\.(?:log|out|err|txt))((?:\.(?:gz|zst|xz|bz2|lz4))*)$`

// Rotated returns the name that a file had before log rotation and its order among the files of that name, oldest first; the
// live file has the highest. A number counts only after a file extension: train.log.2, but not run.2. The parts of a split log
// are train.log.aa, train.log.ab and so on, or train.log.part1 and train.log.part-aa; split's own names for them are xaa, xab.
func Rotated(name string) (log string, place int) {
	const now = 1 << 62
	if at := strings.LastIndexAny(name, "/!") + 1; len(name) == at+len("xaa") && name[at:at+2] == "xa" {
		return name[:at+1], int(name[at+2])
	}
	if log, ok := strings.CutSuffix(name, ".old"); ok && hasEnding(log) {
		return log, now - 1 // the only one that is kept
	}
	if !numbered(name) {
		return name, now
	}
	m := rotated().FindStringSubmatch(name)
	if m == nil || m[2] == "" && !isTime(m[1], m[3]) {
		for _, form := range inside {
			if m = form().FindStringSubmatch(name); m != nil {
				return m[1] + m[len(m)-2], placeOfTime(strings.Join(m[2:len(m)-2], ""))
			}
		}
		return name, now
	}
	if m[2] != "" {
		if !hasEnding(m[1]) {
			return name, now
		}
		if part, ok := strings.CutPrefix(m[2], "part"); ok {
			part = strings.TrimLeft(part, "-_.")
			n, err := strconv.Atoi(part)
			if err != nil {
				n = int(part[0]-'a')*26 + int(part[1]-'a')
			}
			return m[1], n
		}
		n, err := strconv.Atoi(m[2])
		if err != nil {
			return m[1], int(m[2][1]) // letters count up with time
		}
		return m[1], now - 1 - n // the number counts up with age
	}
	return m[1], placeOfTime(m[3])
}

// isTime reports whether digits behind a log's name are a time of rotation. Ten of them are an hour, or the beginning of one in seconds.
func isTime(log, digits string) bool {
	n, err := strconv.Atoi(digits)
	return len(digits) != len("2026110109") || err != nil || hasEnding(log) && (digits[0] != '1' || n%3600 == 0)
}

// hasEnding reports whether a file's name has an ending.
func hasEnding(name string) bool {
	return strings.LastIndexByte(name[strings.LastIndexAny(name, "/!")+1:], '.') > 0
}

// placeOfTime is the place of a file with a date, and perhaps a time, in its name.
func placeOfTime(text string) int {
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
	const toMilliseconds = len("20261101091510123")
	n, _ := strconv.Atoi((digits + "000000000")[:toMilliseconds])
	return n
}

// IsPart reports whether a name is that of a part of a log that was split. Parts that follow on each other have places that do, too.
func IsPart(name string) bool {
	const parts = 1 << 20 // all that was rotated has a higher place
	log, place := Rotated(name)
	return log != name && place < parts
}

// numbered reports whether a digit, split's letters or a part follow a dot or a hyphen: a quick test, because most names have none.
func numbered(name string) bool {
	for i := 1; i < len(name); i++ {
		if c := name[i]; (c >= '0' && c <= '9' || c == 'a' || c == 'p') && (name[i-1] == '.' || name[i-1] == '-') {
			return true
		}
	}
	return false
}

// aged matches a name with a number before its ending, as spdlog, winston, logrotate with an extension, and namers for Python's handlers write
// it, or with a time and perhaps the number of a part (pm2-logrotate, logrotate with dates and an extension, Logback, Log4j).
var aged = lazyre.New(`^(.*?[^.\d].*?)(?:\.(\d{1,2})|(?:__|[-._])(20\d\d[-._]?[01]\d[-._]?[0-3]\d(?:[-_T]?[0-2]\d(?:[-:._]?[0-5]\d){1,2})?)(?:[-._](\d{1,3}))?)` + ending)

// places are those of the names of a job's inputs. They order the files of a rotated log from the oldest to the newest, everything else by name.
type places map[string]placed

// placesOf finds the places of names. Ranks and runs have a number or a time before the ending as well, so a number counts only with the live
// file and all files that are newer, a time only with the live file: there is no rank or run without one, and ranks begin with 0.
func placesOf(names []string) places {
	p := make(places, len(names))
	older := map[string]map[int][]string{} // by the name of the live file
	for _, name := range names {
		p[name] = placeOf(name)
	}
	for _, name := range names {
		m := aged().FindStringSubmatch(name)
		if m == nil || p[name].log != name {
			continue
		}
		log := m[1] + m[5]
		live, ok := p[log]
		switch part, _ := strconv.Atoi(m[4]); {
		case !ok:
		case m[3] != "":
			p[name] = placed{name, live.log, placeOfTime(m[3]) + part}
		default:
			if older[log] == nil {
				older[log] = map[int][]string{}
			}
			n, _ := strconv.Atoi(m[2])
			older[log][n] = append(older[log][n], name)
		}
	}
	for log, files := range older {
		ok := true
		for n := range len(files) {
			ok = ok && files[n+1] != nil
		}
		for n, names := range files {
			for _, name := range names {
				if ok {
					p[name] = placed{name, p[log].log, p[log].place - n}
				}
			}
		}
	}
	return p
}

func (p places) compare(a, b string) int { return p[a].compare(p[b]) }

// placed is a name and what [Rotated] returns of it.
type placed struct {
	name, log string
	place     int
}

func placeOf(name string) placed {
	log, place := Rotated(name)
	return placed{name, log, place}
}

func (p placed) compare(q placed) int {
	return cmp.Or(cmp.Compare(p.log, q.log), cmp.Compare(p.place, q.place), cmp.Compare(p.name, q.name))
}

// continues reports whether a log continues one that was rotated.
func (p places) continues(f, before *file) bool {
	a, b := p[before.Name], p[f.Name]
	return a.log == b.log && a.place < b.place
}

// carry sets the step and the phase at the end of the previous file in the events of a rotated log, unless the log itself says
// them.
func carry(before *file, events []*event) {
	for _, e := range events {
		if e.Attempt > 0 {
			return // what was under way has ended
		}
		if e.LastStep < 0 {
			e.LastStep = before.LastStep
		}
		if e.Timer == "" && e.Marker == nil {
			e.Timer, e.TimerBy, e.Marker = before.underWay(e.Header.Stream)
		}
	}
}

// resumedLines is within how many lines of a file a writer goes on with a traceback of the previous one: ranks write in turn.
const resumedLines = 64

// raised is a message as Python prints it below the frames.
var raised = lazyre.New(`^[\w.]+(?:Error|Exception)\b`)

// resume puts the frames that each writer's unfinished traceback has in the previous file before those with which it goes on. Engines print
// their ranks above the first frame only.
func resume(before *file, events []*event) {
	open := map[string]*event{}
	for _, e := range before.Events {
		delete(open, e.Header.Stream)
		if e.Trace != nil && e.Trace.EndLine == 0 {
			open[e.Header.Stream] = e
		}
	}
	for _, e := range events {
		cut := open[e.Header.Stream]
		if delete(open, e.Header.Stream); cut == nil {
			continue
		}
		t := &traceback.Trace{Line: e.At.Line, EndLine: e.At.Line, Exception: raised().FindString(e.Text)}
		if e.Trace != nil {
			t = new(*e.Trace)
		}
		if begins := e.Trace == nil && raised().MatchString(e.Text) || t.Headless; begins && e.Attempt == 0 && t.Line <= resumedLines {
			t.Frames, t.Headless = slices.Concat(cut.Trace.Frames, t.Frames), cut.Trace.Headless
			t.Origin, t.Cause = cmp.Or(t.Origin, cut.Trace.Origin), cmp.Or(t.Cause, cut.Trace.Cause)
			e.Trace, e.Header = t, e.Header.Inherit(&cut.Header, new(envelope.NewHeader()))
		}
	}
}
