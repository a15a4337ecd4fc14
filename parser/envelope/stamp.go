package envelope

import "time"

// How much a stamp tells. Of several stamps on a line the one that tells most is kept, the outermost of equals.
const (
	tellsNothing = iota
	tellsSeconds // seconds since some start
	tellsTime    // a time of day
	tellsDay     // month, day and time
	tellsYear    // all of it
)

// The names of clocks, see [Header].Clock.
const (
	clockISO       = "iso"       // full date with a zone
	clockLocal     = "local"     // full date, no zone: the writer's wall clock
	clockDmesg     = "dmesg"     // dmesg -T: computed from uptime, may be minutes off
	clockVLLM      = "vllm"      // MM-DD HH:MM:SS
	clockSyslog    = "syslog"    // Jun  1 10:00:00
	clockGlog      = "glog"      // MMDD HH:MM:SS
	clockC10       = "c10"       // MDD HH:MM:SS, whole seconds: its fraction is of another clock
	clockDay       = "clock"     // HH:MM:SS
	clockMonotonic = "monotonic" // seconds since boot
)

// stamp is one parsed time.
type stamp struct {
	t     time.Time
	clock string
	tells int
	sep   byte // between date and time: 'T', ' ' or '-'
}

// stamp takes a time stamp that begins with a digit: 2025-06-01T10:00:00.1Z, 2025-06-01 10:00:00,123,
// 2025/06/01 10:00:00, 2025-06-01-10:00:00 (CANN), 20250601-10:00:00.123 (AReaL), 06/01/2025 10:00:00 (transformers),
// 06/01/25 10:00:00 (rich), 06-01 10:00:00 (vLLM), 10:00:00 (old SGLang).
func (s *scanner) stamp() (stamp, bool) {
	t := *s
	digits := len(t.while(isDigit, 9))
	next := t.peek()
	t = *s
	var st stamp
	var ok bool
	switch {
	case digits == 4 && (next == '-' || next == '/'):
		st, ok = t.yearFirst(next)
	case digits == 8:
		st, ok = t.compact()
	case digits == 2 && next == '-':
		st, ok = t.monthFirst()
	case digits == 2 && next == '/':
		st, ok = t.american()
	case digits == 2 && next == ':':
		var at clockTime
		at, ok = t.clockTime()
		st = stamp{t: at.on(0, 1, 1), clock: clockDay, tells: tellsTime}
	}
	if ok {
		*s = t
	}
	return st, ok
}

func (s *scanner) yearFirst(sep byte) (stamp, bool) {
	y, _ := s.fixed(4)
	s.b = s.b[1:]
	m, ok1 := s.fixed(2)
	if !ok1 || s.peek() != sep {
		return stamp{}, false
	}
	s.b = s.b[1:]
	d, ok2 := s.fixed(2)
	mid := s.peek()
	if !ok2 || mid != 'T' && mid != ' ' && mid != '-' {
		return stamp{}, false
	}
	s.b = s.b[1:]
	at, ok3 := s.clockTime()
	if !ok3 || !isDate(y, m, d) {
		return stamp{}, false
	}
	st := stamp{t: at.on(y, m, d), clock: clockLocal, tells: tellsYear, sep: mid}
	if east, ok := s.zone(); ok {
		st.t, st.clock = st.t.Add(-east), clockISO
	}
	return st, true
}

func (s *scanner) compact() (stamp, bool) {
	y, _ := s.fixed(4)
	m, _ := s.fixed(2)
	d, _ := s.fixed(2)
	mid := s.peek()
	if !s.lit("-") && !s.lit(" ") {
		return stamp{}, false
	}
	at, ok := s.clockTime()
	if !ok || !isDate(y, m, d) {
		return stamp{}, false
	}
	return stamp{t: at.on(y, m, d), clock: clockLocal, tells: tellsYear, sep: mid}, true
}

func (s *scanner) monthFirst() (stamp, bool) {
	m, _ := s.fixed(2)
	s.b = s.b[1:]
	d, ok1 := s.fixed(2)
	if !ok1 || !s.lit(" ") {
		return stamp{}, false
	}
	at, ok := s.clockTime()
	if !ok || !isDate(0, m, d) {
		return stamp{}, false
	}
	return stamp{t: at.on(0, m, d), clock: clockVLLM, tells: tellsDay}, true
}

func (s *scanner) american() (stamp, bool) {
	m, _ := s.fixed(2)
	s.b = s.b[1:]
	d, ok1 := s.fixed(2)
	if !ok1 || !s.lit("/") {
		return stamp{}, false
	}
	y, ok2 := s.number(2, 4)
	if !ok2 || !s.lit(" ") && !s.lit("-") {
		return stamp{}, false
	}
	if y < 100 {
		y += 2000
	}
	at, ok := s.clockTime()
	if !ok || !isDate(y, m, d) {
		return stamp{}, false
	}
	return stamp{t: at.on(y, m, d), clock: clockLocal, tells: tellsYear}, true
}

// clockTime is a time of day.
type clockTime struct{ hour, min, sec, nano int }

func (c clockTime) on(y, m, d int) time.Time {
	return time.Date(y, time.Month(m), d, c.hour, c.min, c.sec, c.nano, time.UTC)
}

// clockTime takes HH:MM:SS and a fraction of up to nine digits behind a point or a comma.
func (s *scanner) clockTime() (clockTime, bool) {
	t := *s
	var c clockTime
	ok := true
	for i, part := range []*int{&c.hour, &c.min, &c.sec} {
		if ok && i > 0 {
			ok = t.lit(":")
		}
		if ok {
			*part, ok = t.fixed(2)
		}
	}
	if !ok || c.hour > 23 || c.min > 59 || c.sec > 60 || isDigit(t.peek()) {
		return c, false
	}
	if f := t.peek(); f == '.' || f == ',' {
		u := t
		u.b = u.b[1:]
		if run := u.while(isDigit, 9); len(run) > 0 && !isDigit(u.peek()) {
			c.nano = atoi(run)
			for range 9 - len(run) {
				c.nano *= 10
			}
			t = u
		}
	} else if f == '-' { // 10:22:31-714511, as kohya's scripts have rich write it
		u := t
		u.b = u.b[1:]
		if run := u.while(isDigit, 6); len(run) == 6 && !isDigit(u.peek()) {
			c.nano = 1000 * atoi(run)
			t = u
		}
	}
	*s = t
	return c, true
}

// zone takes Z, +02:00 or +0200 and returns how far east of UTC that is.
func (s *scanner) zone() (time.Duration, bool) {
	if s.lit("Z") {
		return 0, true
	}
	t := *s
	sign := time.Duration(1)
	switch {
	case t.lit("+"):
	case t.lit("-"):
		sign = -1
	default:
		return 0, false
	}
	h, ok := t.fixed(2)
	t.lit(":")
	m, ok2 := t.fixed(2)
	if !ok || !ok2 || h > 14 || m > 59 || isDigit(t.peek()) {
		return 0, false
	}
	*s = t
	return sign * (time.Duration(h)*time.Hour + time.Duration(m)*time.Minute), true
}

// monthDay takes "Jun  1 10:00:00", "Jun 01 10:00:00.123456".
func (s *scanner) monthDay() (stamp, bool) {
	t := *s
	m, ok := month(t.while(isAlpha, 3))
	if !ok || !t.lit(" ") {
		return stamp{}, false
	}
	t.lit(" ")
	d, ok := t.number(1, 2)
	if !ok || !t.lit(" ") || !isDate(0, m, d) {
		return stamp{}, false
	}
	at, ok := t.clockTime()
	if !ok {
		return stamp{}, false
	}
	*s = t
	return stamp{t: at.on(0, m, d), clock: clockSyslog, tells: tellsDay}, true
}

func month(name []byte) (int, bool) {
	const names = "JanFebMarAprMayJunJulAugSepOctNovDec"
	for i := 0; i < len(names); i += 3 {
		if string(name) == names[i:i+3] {
			return i/3 + 1, true
		}
	}
	return 0, false
}

// isDate tells whether that day exists; year 0 stands for an unknown one and has a February 29.
func isDate(y, m, d int) bool {
	days := 31
	switch m {
	case 4, 6, 9, 11:
		days = 30
	case 2:
		if days = 28; y%4 == 0 && (y%100 != 0 || y%400 == 0) {
			days = 29
		}
	}
	return m >= 1 && m <= 12 && d >= 1 && d <= days
}
