package envelope

import "time"

// How much of the date a stamp has. Of several stamps on a line the one that has most is kept, the outermost of equals.
const (
	toSeconds = iota + 1 // seconds since some start
	toTime               // a time of day
	toDay                // month, day and time
	toYear               // all of it
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
	t         time.Time
	clock     string
	precision int
	sep       byte // between date and time: 'T', ' ' or '-'
}

// stamp takes a time stamp that begins with a digit: 2025-06-01T10:00:00.1Z, 2025-06-01 10:00:00,123,
// 2025/06/01 10:00:00, 2025-06-01-10:00:00 (CANN), 20250601-10:00:00.123 (AReaL), 06/01/2025 10:00:00 (transformers),
// 06/01/25 10:00:00 (rich), 06-01 10:00:00 (vLLM), 10:00:00 (old SGLang).
func (s *scanner) stamp() (stamp, bool) {
	t := *s
	digits := len(t.while(digit, 9))
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
		st = stamp{t: at.on(0, 1, 1), clock: clockDay, precision: toTime}
	}
	if ok {
		*s = t
	}
	return st, ok
}

func (s *scanner) yearFirst(sep byte) (stamp, bool) {
	y, _ := s.fixed(4)
	s.skip(1)
	m, ok1 := s.fixed(2)
	if !ok1 || s.peek() != sep {
		return stamp{}, false
	}
	s.skip(1)
	d, ok2 := s.fixed(2)
	mid := s.peek()
	if !ok2 || mid != 'T' && mid != ' ' && mid != '-' {
		return stamp{}, false
	}
	s.skip(1)
	at, ok3 := s.clockTime()
	if !ok3 || !isDate(y, m, d) {
		return stamp{}, false
	}
	st := stamp{t: at.on(y, m, d), clock: clockLocal, precision: toYear, sep: mid}
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
	return stamp{t: at.on(y, m, d), clock: clockLocal, precision: toYear, sep: mid}, true
}

func (s *scanner) monthFirst() (stamp, bool) {
	m, _ := s.fixed(2)
	s.skip(1)
	d, ok1 := s.fixed(2)
	if !ok1 || !s.lit(" ") {
		return stamp{}, false
	}
	at, ok := s.clockTime()
	if !ok || !isDate(0, m, d) {
		return stamp{}, false
	}
	return stamp{t: at.on(0, m, d), clock: clockVLLM, precision: toDay}, true
}

func (s *scanner) american() (stamp, bool) {
	m, _ := s.fixed(2)
	s.skip(1)
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
	return stamp{t: at.on(y, m, d), clock: clockLocal, precision: toYear}, true
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
	if !ok || c.hour > 23 || c.min > 59 || c.sec > 60 || is(t.peek(), digit) {
		return c, false
	}
	if f := t.peek(); f == '.' || f == ',' {
		u := t
		u.skip(1)
		if run := u.while(digit, 9); len(run) > 0 && !is(u.peek(), digit) {
			c.nano = atoi(run)
			for range 9 - len(run) {
				c.nano *= 10
			}
			t = u
		}
	} else if f == '-' { // 10:22:31-714511, as kohya's scripts have rich write it
		u := t
		u.skip(1)
		if run := u.while(digit, 6); len(run) == 6 && !is(u.peek(), digit) {
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
	if !ok || !ok2 || h > 14 || m > 59 || is(t.peek(), digit) {
		return 0, false
	}
	*s = t
	return sign * (time.Duration(h)*time.Hour + time.Duration(m)*time.Minute), true
}

// monthDay takes "Jun  1 10:00:00", "Jun 01 10:00:00.123456".
func (s *scanner) monthDay() (stamp, bool) {
	t := *s
	m, ok := month(t.while(alpha, 3))
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
	return stamp{t: at.on(0, m, d), clock: clockSyslog, precision: toDay}, true
}

// syslogTime takes "Jun  1 10:00:00", and "Sun 2025-06-01 10:00:00 CEST" of journalctl's short-full.
func (s *scanner) syslogTime() (stamp, bool) {
	if st, ok := s.monthDay(); ok {
		return st, true
	}
	return s.weekday()
}

// weekday takes "Sun 2025-06-01 10:00:00 CEST". The zone's name is not looked up: it is UTC, or some local time.
func (s *scanner) weekday() (stamp, bool) {
	if w := s.while(alpha, 3); len(w) != 3 || !s.lit(" ") {
		return stamp{}, false
	}
	st, ok := s.stamp()
	if !ok || st.precision != toYear || !s.lit(" ") {
		return stamp{}, false
	}
	zone := s.while(alnum|plus|dash, 6)
	if string(zone) == "UTC" {
		st.clock = clockISO
	}
	return st, len(zone) > 0
}

// uptime takes "12345.678901", seconds since boot with six digits.
func (s *scanner) uptime() (stamp, bool) {
	sec, ok := s.number(1, 9)
	if !ok || !s.lit(".") {
		return stamp{}, false
	}
	micro, ok := s.number(6, 6)
	return stamp{t: time.Unix(int64(sec), int64(micro)*1000).UTC(), clock: clockMonotonic, precision: toSeconds}, ok
}

// ctime takes "Sun Jun  1 10:00:00 2025" of dmesg -T. Weekday and month are in the language of whoever ran it: a stamp
// whose month is not English has no precision.
func (s *scanner) ctime() (stamp, bool) {
	const letters = alpha | high | dot
	if len(s.while(letters, 12)) < 2 || !s.lit(" ") {
		return stamp{}, false
	}
	name := s.while(letters, 12)
	if len(name) < 3 || !s.lit(" ") {
		return stamp{}, false
	}
	s.lit(" ")
	d, ok := s.number(1, 2)
	if !ok || !s.lit(" ") {
		return stamp{}, false
	}
	at, ok := s.clockTime()
	if !ok || !s.lit(" ") {
		return stamp{}, false
	}
	y, ok := s.number(4, 4)
	if m, english := month(name); english && isDate(y, m, d) {
		return stamp{t: at.on(y, m, d), clock: clockDmesg, precision: toYear}, ok
	}
	return stamp{}, ok
}

// glogTime takes "0601 10:00:00.123456", and with the year in front when glog runs with --log_year_in_prefix, its
// default.
func (s *scanner) glogTime() (stamp, bool) {
	digits := s.while(digit, 9)
	y, n := 0, atoi(digits)
	st := stamp{clock: clockGlog, precision: toDay}
	if len(digits) == 8 {
		y, n = n/10000, n%10000
		st = stamp{clock: clockLocal, precision: toYear}
	}
	if len(digits) != 4 && len(digits) != 8 || !isDate(y, n/100, n%100) || !s.lit(" ") {
		return st, false
	}
	at, ok := s.clockTime()
	st.t = at.on(y, n/100, n%100)
	return st, ok
}

// c10Time takes "601 10:00:00.123456789", where the month has no leading zero. The fraction comes from the monotonic
// clock and is dropped.
func (s *scanner) c10Time() (stamp, bool) {
	digits := s.while(digit, 5)
	n := atoi(digits)
	if len(digits) < 3 || len(digits) > 4 || !isDate(0, n/100, n%100) || !s.lit(" ") {
		return stamp{}, false
	}
	at, ok := s.clockTime()
	at.nano = 0
	return stamp{t: at.on(0, n/100, n%100), clock: clockC10, precision: toDay}, ok
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
