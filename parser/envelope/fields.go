package envelope

import (
	"bytes"
	"strings"
)

// maxLabel bounds the bytes in which the end of a label is looked for.
const maxLabel = 200

// field is what a template calls by a name in braces: a run of bytes of one class, which is a number when the class is
// digit, or whatever call takes.
type field struct {
	into        slot
	class       class // of a run
	first       class // what it must begin with, if that is not the class
	least, most int   // a call may take nothing when least is 0
	check       func(run []byte) bool
	call        func(m *matcher, most int) bool
}

// fields are the fields of all templates.
var fields = map[string]field{
	// What is not kept.
	"_":        {first: blank, call: func(m *matcher, _ int) bool { return m.gap() }}, // one blank or tab, or the end
	"+":        {class: blank, least: 1, most: maxLabel},
	"*":        {class: blank, most: maxLabel},
	"odd":      {first: blank, call: takeOdd},
	"fill":     {first: blank, call: takeFill},
	"context":  {first: anyByte, call: beginsText},
	"linenr":   {first: digit, least: 1, call: takeLineNumber},
	"pad":      {first: blank, least: 1, call: takePad},
	"left":     {class: blank, most: 4},
	"right":    {first: blank | digit, least: 1, call: takeRight},
	"digits":   {class: digit, least: 1, most: 9},
	"hex":      {class: alnum, least: 1, most: 64, check: func(b []byte) bool { return len(bytes.Trim(b, "0123456789abcdef")) == 0 }},
	"word":     {class: word, least: 1, most: 64},
	"launcher": {class: hostname, least: 1, most: 128},
	"role":     {class: lower | dash | underscore, least: 3, most: 24},
	"printed":  {class: anyPrint, least: 1, most: 255},
	"until":    {first: anyByte, call: func(m *matcher, _ int) bool { _, ok := m.until(")", 128); return ok }},
	"nccl": {call: func(m *matcher, _ int) bool {
		t := m.scanner
		t.lit("NCCL ")
		lv, ok := t.level()
		if ok {
			m.keep(slotLevel, int(lv))
		}
		return true
	}},
	"structured": {first: dash | visible, least: 1, call: takeStructured},
	"tag":        {class: word | slash, least: 1, most: 64, check: isTag},

	// Times.
	"time":     {first: digit, least: 1, call: timeThat(func(stamp) bool { return true })},
	"day":      {first: digit, least: 1, call: timeThat(func(st stamp) bool { return st.precision >= toDay })},
	"date":     {first: digit, least: 1, call: timeThat(func(st stamp) bool { return st.precision == toYear })},
	"utc":      {first: digit, least: 1, call: timeThat(func(st stamp) bool { return st.sep == 'T' && st.clock == clockISO })},
	"epoch":    {first: digit, least: 1, call: func(m *matcher, _ int) bool { return m.keepTime(m.epoch()) }},
	"monthday": {first: upper, least: 1, call: timeIn(syslogLayout)},
	"syslog":   {first: upper, least: 1, call: timeIn(syslogLayout, weekdayLayout)},
	"uptime":   {first: digit, least: 1, call: func(m *matcher, _ int) bool { return m.keepTime(m.uptime()) }},
	"weekday":  {first: upper, least: 1, call: timeOfWeekday(ctimeLayout)},
	"today":    {first: upper, least: 1, call: timeOfWeekday(dateLayout)},
	"ctime":    {first: alpha | high | dot, least: 1, call: timeIn(ctimeLayout)},
	"glogtime": {first: digit, least: 1, call: timeIn(glogLayouts...)},
	"c10time":  {first: digit, least: 1, call: timeIn(c10Layout)},

	// Levels.
	"level":    {first: upper, least: 1, call: takeLevel},
	"letter":   {first: upper, least: 1, most: 1, call: takeLetter},
	"severity": {first: lower, least: 1, call: takeSeverity},
	"priority": {first: digit, least: 1, call: takePriority},

	// Numbers.
	"rank":     {into: slotRank, class: digit, least: 1, most: 6},
	"rankword": {first: alpha, least: 1, call: takeRankWord},
	"local":    {into: slotLocal, class: digit, least: 1, most: 6},
	"task":     {into: slotTask, class: digit, least: 1, most: 6},
	"job":      {into: slotJob, class: digit, least: 1, most: 9},
	"pid":      {into: slotPID, class: digit, least: 1, most: 9},
	"device":   {into: slotDevice, class: digit, least: 1, most: 4},
	"tp":       {into: slotTP, class: digit, least: 1, most: 5},
	"dp":       {into: slotDP, class: digit, least: 1, most: 5},
	"pp":       {into: slotPP, class: digit, least: 1, most: 5},
	"ep":       {into: slotEP, class: digit, least: 1, most: 5},

	// Names.
	"host":      {into: slotHost, class: hostname, first: alnum, least: 1, most: 253},
	"node":      {into: slotHost, class: hostname, first: lower, least: 1, most: 253, check: isNode},
	"pod":       {into: slotHost, class: hostname, first: lower, least: 1, most: 253, check: isPod},
	"replica":   {into: slotHost, class: hostname, first: alpha, least: 1, most: 253, check: isNumbered},
	"address":   {into: slotHost, first: digit, least: 1, call: takeAddress},
	"ip":        {into: slotHost, class: hostname | colon, least: 1, most: 64},
	"container": {into: slotName, class: hostname, least: 1, most: 253},
	"service":   {into: slotName, class: hostname, first: lower, least: 1, most: 128, check: isService},
	"hyphened":  {into: slotName, class: hostname, first: lower, least: 5, most: 128, check: isHyphened},
	"logstream": {into: slotName, class: hostname | slash, first: alnum, least: 12, most: 253, check: isLogStream},
	"launched":  {into: slotName, class: alpha | dash | underscore, least: 1, most: 64, check: func(b []byte) bool { return b[len(b)-1] != '-' }},
	"logfile":   {into: slotName, first: alpha | slash | dot, least: 1, call: takeLogFile},
	"name":      {into: slotName, class: word, least: 1, most: 64},
	"value":     {into: slotValue, first: anyByte, call: takeBracketed(slotValue)},
	"partial":   {into: slotPartial, class: upper, least: 1, most: 1},
	"process":   {into: slotProcess, class: hostname | slash | at | parenthesis | plus, least: 1, most: 64},
	"component": {into: slotProcess, class: hostname, least: 1, most: 64},
	"worker":    {into: slotProcess, class: lower | digit | underscore | dash, first: lower, least: 3, most: 6},
	"actor":     {first: word | angle | visible | high, least: 1, call: takeActor},
	"engine":    {first: upper, least: 1, call: takeEngine},

	// Loggers and places in source files.
	"logger":  {into: slotLogger, class: place, least: 1, most: maxLabel},
	"named":   {into: slotLogger, class: place, least: 1, most: maxLabel, check: hasLetter},
	"dotted":  {into: slotLogger, class: place, least: 1, most: maxLabel, check: func(b []byte) bool { return hasLetter(b) && some(b, dot|underscore|colon) }},
	"module":  {into: slotLogger, class: word | dot, least: 1, most: maxLabel},
	"place":   {into: slotLogger, class: place, least: 1, most: maxLabel, check: isPlaceLine},
	"root":    {into: slotLogger, class: hostname | slash, least: 1, most: maxLabel, check: hasLetter},
	"file":    {first: place, least: 1, call: takeFile},
	"source":  {first: anyByte, call: takeBracketed(slotLogger)},
	"roll":    {first: lower, least: 1, call: takeRoll},
	"uvicorn": {first: blank, least: 1, call: takeUvicorn},
	"speaker": {first: anyByte, least: 1, call: takeSpeaker},
	"items":   {first: anyByte, call: takeItems},
}

// checks are conditions of templates on what follows a place, or on what was taken up to it.
var checks = map[string]func(*matcher) bool{
	"blank": func(m *matcher) bool { return len(m.b) == 0 || m.b[0] == ' ' },
	"date": func(m *matcher) bool {
		s := m.scanner
		if year, ok := s.fixed(4); ok && year/100 == 20 && s.lit(":") {
			return true // the year of the stamp, not a task
		}
		zone, year, ok := bytes.Cut(m.b, []byte("20"))
		return ok && len(zone) <= len("CEST ") && (len(zone) == 0 || zone[len(zone)-1] == ' ') && len(year) == 2 && is(year[0], digit) && is(year[1], digit)
	},
	"arrow": func(m *matcher) bool {
		return bytes.HasPrefix(m.b, []byte(" File ")) || bytes.HasPrefix(m.b, []byte(" /")) || bytes.HasPrefix(m.b, []byte(">>"))
	},
	"bytes":     func(m *matcher) bool { return bytes.HasPrefix(m.b, []byte(" byte")) },
	"row":       func(m *matcher) bool { return bytes.HasSuffix(bytes.TrimRight(m.b, " "), []byte("|")) },
	"listing":   isListing,
	"measure":   isMeasure,
	"message":   func(m *matcher) bool { return !bytes.HasPrefix(m.b, []byte("NCCL ")) },
	"sentence":  isSentence,
	"tasked":    func(m *matcher) bool { return m.header.Task != Unknown },
	"iso":       func(m *matcher) bool { return m.time.sep != '-' && m.time.sep != ' ' },
	"described": func(m *matcher) bool { return m.last(slotLevel) != nil || m.last(slotLogger) != nil },
	"unstamped": isUnstamped,
	"unleveled": func(m *matcher) bool { return m.last(slotLevel) == nil },
	"vague":     func(m *matcher) bool { return m.time.precision < toYear && m.last(slotLevel) == nil },
}

// parts are what several templates share, as alternatives.
var parts = map[string][]string{
	// vLLM's logger writes MM-DD HH:MM:SS and, since 0.7, the place in brackets (vllm/logger.py).
	"vllm": {`{level}{+}{day} {?[}{logger={?[...]/}{place}}]{_}`},
	// Who sends a line to syslog.
	"sender": {`{host} {{process=kernel}:{? }|{process}{?[{pid}]}:{_}{!sentence}}`},
	// A parallel rank of an inference engine; some are not kept.
	"axis": {`TP{tp}`, `DP{dp}`, `PP{pp}`, `EP{ep}`, `{CP|PCP|DCP|ATTN|MOE}{digits}`},
	// What loggers print between a stamp and the message.
	"fields": {
		`: {letter} {file}]{_}`,                                          // TensorFlow
		`: {rankword}[{pid}][{value}]: {level}: {module}:{_}`,            // Composer: rank, process, its thread
		` [{logger=TRT{?-LLM}}] {?[RANK {rank}] }[{letter}]{_}`,          // TensorRT, TensorRT-LLM
		` {host} {module}[{pid}] {level}{_}`,                             // coloredlogs
		` \{pod_manager.py:{digits}\} {level} - [{value}]{_}`,            // Airflow: the pod's container
		` \{{file}\} {level} -{_}`,                                       // Airflow
		`{+}\|{?{pipelevel}|{+}{named}{+}\|{?{pipelevel}}}{_}`,           // loguru and others with bars
		` - {{dashlevel}|{named} - {{dashlevel}|{named} - {dashlevel}}}`, // Python's logging with dashes
		` - {!unleveled}{dotted} - `,
		`:{_}`, // pm2
		`{items}`,
	},
	"pipelevel": {`{+}{level}{*}{\||-}{?{+}{rankword}{+}\|}{?{+}{named}{+}{\||-}|{+}{place}}`},
	"dashlevel": {`{level}{*}{:{_}|-{? }{?{dotted} - }}`},
}

// takeOdd takes one blank when an odd number of them follows. Some launchers write a blank behind their label and some
// do not; what is indented in a log (Python's tracebacks) is indented by an even number.
func takeOdd(m *matcher, _ int) bool {
	if t := m.scanner; t.blanks()%2 == 1 {
		m.lit(" ")
	}
	return true
}

// takeLineNumber takes the number of a line, which is not 0: that is the label of a task.
func takeLineNumber(m *matcher, _ int) bool {
	n, ok := m.number(1, 9)
	return ok && n > 0
}

// beginsText reports whether a line of text follows the hyphen behind a file's name. A number is that of a line, unless it begins a time.
func beginsText(m *matcher, _ int) bool {
	t := m.scanner
	_, stamped := t.stamp()
	return stamped || !is(m.peek(), digit)
}

// takePad takes blanks up to a column of the prefix, at least one; takeFill as many as there are.
func takePad(m *matcher, column int) bool {
	missing := column - len(m.taken())
	return missing > 0 && len(m.while(blank, missing)) == missing
}

func takeFill(m *matcher, column int) bool {
	m.while(blank, max(0, column-len(m.taken())))
	return true
}

// takeRight takes a number at the right of a column of that width.
func takeRight(m *matcher, width int) bool {
	n := m.while(blank, width-1)
	run := m.while(digit, width-len(n))
	return len(run) > 0 && len(n)+len(run) == width
}

// takeStructured takes RFC 5424's structured data: "-" or [id name="value" ...] elements, in whose values a backslash
// quotes.
func takeStructured(m *matcher, _ int) bool {
	if m.lit("-") {
		return true
	}
	start := len(m.b)
	for m.lit("[") {
		quoted := false
		i := 0
		for ; i < len(m.b) && (quoted || m.b[i] != ']'); i++ {
			switch {
			case m.b[i] == '\\' && quoted:
				i++
			case m.b[i] == '"':
				quoted = !quoted
			}
		}
		if i >= len(m.b) {
			return false
		}
		m.skip(i + 1)
	}
	return len(m.b) < start
}

func timeThat(fits func(stamp) bool) func(*matcher, int) bool {
	return func(m *matcher, _ int) bool {
		st, ok := m.timeOnce()
		return m.keepTime(st, ok && fits(st))
	}
}

func timeIn(forms ...layout) func(*matcher, int) bool {
	return func(m *matcher, _ int) bool { return m.keepTime(m.read(forms...)) }
}

// timeOfWeekday takes a stamp that begins with a day of the week in English. Other lines are told from it by their fourth byte.
func timeOfWeekday(form layout) func(*matcher, int) bool {
	take := timeIn(form)
	return func(m *matcher, most int) bool {
		return len(m.b) > 3 && m.b[3] == ' ' && strings.Contains("SunMonTueWedThuFriSat", string(m.b[:3])) && take(m, most)
	}
}

func (m *matcher) keepTime(st stamp, ok bool) bool {
	if ok {
		m.time = st
		m.keep(slotTime, 0)
	}
	return ok
}

// triedTime is what became of reading a time, which many templates of lines that begin with a digit want.
type triedTime struct {
	at    *byte
	left  []byte
	stamp stamp
	ok    bool
}

func (m *matcher) timeOnce() (stamp, bool) {
	if t := &m.tried; t.at != &m.b[0] {
		s := m.scanner
		t.at = &m.b[0]
		t.stamp, t.ok = s.stamp()
		t.left = s.b
	}
	m.b = m.tried.left
	return m.tried.stamp, m.tried.ok
}

func takeLevel(m *matcher, _ int) bool {
	lv, ok := m.level()
	m.keep(slotLevel, int(lv))
	return ok
}

func takeLetter(m *matcher, _ int) bool {
	lv := levelOf(m.b[:1])
	m.skip(1)
	m.keep(slotLevel, int(lv))
	return lv != 0
}

// severities are the kernel's names of levels.
var severities = map[string]byte{"emerg": 'F', "alert": 'F', "crit": 'F', "err": 'E', "warn": 'W', "notice": 'I', "info": 'I', "debug": 'D'}

// takeSeverity takes the level of dmesg -x.
func takeSeverity(m *matcher, _ int) bool {
	lv := severities[string(m.while(lower, 6))]
	m.keep(slotLevel, int(lv))
	return lv != 0
}

// takePriority takes syslog's priority, facility and severity in one number.
func takePriority(m *matcher, _ int) bool {
	n, ok := m.number(1, 3)
	m.keep(slotLevel, int("FFFEWIID"[n&7]))
	return ok && n <= 191
}

func takeRankWord(m *matcher, _ int) bool {
	n, ok := m.rankWord()
	m.keep(slotRank, n)
	return ok
}

// takeAddress takes an IPv4 address.
func takeAddress(m *matcher, _ int) bool {
	start := m.b
	for i := range 4 {
		if i > 0 && !m.lit(".") {
			return false
		}
		if n, ok := m.number(1, 3); !ok || n > 255 {
			return false
		}
	}
	m.keepText(slotHost, start[:len(start)-len(m.b)])
	return true
}

// takeLogFile takes a path that unmistakably is a log's, with the mark of grep -n behind it.
func takeLogFile(m *matcher, _ int) bool {
	t := m.scanner
	path := t.while(hostname|slash|at|equals|plus, 512)
	for i := len(path); i > len(".log"); i-- {
		if i == len(m.b) || m.b[i] != ':' && m.b[i] != '-' {
			continue
		}
		switch string(path[i-len(".log") : i]) {
		case ".log", ".err", ".out":
			m.keepText(slotName, path[:i])
			m.skip(i)
			return true
		}
	}
	return false
}

// takeBracketed takes what stands in front of a closing bracket.
func takeBracketed(to slot) func(*matcher, int) bool {
	return func(m *matcher, _ int) bool {
		text, ok := m.until("]", maxLabel)
		m.keepText(to, text)
		return ok
	}
}

// takeActor takes the name of a Ray actor or task up to its pid. It may hold blanks, colons, brackets and parentheses:
// `(MapWorker(MapBatches(Embed)) pid=1)` (Ray 2.x, python/ray/_private/worker.py print_worker_logs).
func takeActor(m *matcher, _ int) bool {
	name, ok := m.until(" pid=", maxLabel)
	m.keepText(slotProcess, bytes.TrimRight(name, " "))
	return ok && !bytes.HasPrefix(name, []byte("pid=")) && isActor(name)
}

// takeEngine takes the name of a vLLM process (v1/executor/multiproc_executor.py, utils/system_utils.py, 0.6 to 2026). A
// plain "Worker" may also be a Ray actor; which one does not matter.
func takeEngine(m *matcher, most int) bool {
	for _, x := range [...]string{"EngineCore", "VllmWorker", "Worker_", "APIServer", "ApiServer", "Worker pid="} {
		if len(m.b) >= len(x) && string(m.b[:len(x)]) == x {
			return takeActor(m, most)
		}
	}
	return false
}

// takeFile takes `core.py:844`, `torch/x.cpp:12`.
func takeFile(m *matcher, _ int) bool {
	run, ok := m.fileLine()
	m.keepText(slotLogger, run)
	return ok
}

// takeRoll takes the name of a logger of ROLL's and reads the rank in it: log_rank_{cluster}-{worker}_{rank}_{size}
// (roll/utils/logging.py).
func takeRoll(m *matcher, _ int) bool {
	name := m.while(hostname, maxLabel)
	n, ok := rankOf(name, '_', "_")
	m.keepText(slotLogger, name)
	m.keep(slotRank, n)
	return ok && bytes.HasPrefix(name, []byte("log_rank_"))
}

// rankOf reads the rank out of a name that ends with it and the number of processes: `actor_train-5 5 / 8` (ROLL on
// Ray) with a blank in front and " / " between.
func rankOf(name []byte, before byte, between string) (int, bool) {
	if len(name) == 0 || !is(name[len(name)-1], digit) {
		return 0, false
	}
	i := bytes.LastIndex(name, []byte(between))
	if i < 1 {
		return 0, false
	}
	size := scanner{name[i+len(between):]}
	all, ok := size.number(1, 6)
	if !ok || len(size.b) > 0 {
		return 0, false
	}
	s := scanner{name[bytes.LastIndexByte(name[:i], before)+1 : i]}
	n, ok := s.number(1, 6)
	return n, ok && len(s.b) == 0 && n < all
}

var uvicorn = []byte("uvicorn")

// takeUvicorn takes the blanks with which uvicorn pads level and colon to ten columns; an error's text is not padded.
func takeUvicorn(m *matcher, _ int) bool {
	m.keepText(slotLogger, uvicorn)
	return takePad(m, 10) && !is(m.peek(), blank)
}

// takeSpeaker takes a logger's name up to its level and a colon: `RolloutController `, `[FSDP Engine Rank 0] `. The name
// may hold blanks when it stands in brackets, and then the rank (AReaL, areal/utils/logging.py).
func takeSpeaker(m *matcher, _ int) bool {
	head := m.b[:min(len(m.b), maxLabel)]
	for i := 1; i < len(head); i++ {
		if head[i-1] != ' ' || !is(head[i], upper) {
			continue
		}
		t := scanner{m.b[i:]}
		if _, ok := t.level(); !ok || !t.lit(":") || !t.gap() {
			continue
		}
		name := bytes.TrimRight(head[:i], " ")
		if len(name) == 0 || name[0] != '[' && bytes.ContainsAny(name, " :,") {
			return false
		}
		name = bytes.Trim(name, "[]")
		m.keepText(slotLogger, name)
		if j := bytes.Index(name, []byte("Rank ")); j >= 0 {
			r := scanner{name[j:]}
			if n, ok := r.rankWord(); ok && len(r.b) == 0 {
				m.keep(slotRank, n)
			}
		}
		m.skip(i)
		return true
	}
	return false
}
