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
	sep       byte // between a date that begins with the year and the time: 'T', ' ' or '-'
}

// layout is a form of time stamps. Its letters stand for parts, see [scanner.part]; other bytes for themselves.
type layout struct {
	form      string
	clock     string
	precision int
}

// layouts are the stamps that begin with a digit, by how many digits they begin with.
var layouts = [9][]layout{
	2: {
		{"M-D C", clockVLLM, toDay},     // 06-01 10:00:00 (vLLM)
		{"M/D/ysC", clockLocal, toYear}, // 06/01/2025 10:00:00 (transformers), 06/01/25 10:00:00 (rich)
		{"y/M/DsC", clockLocal, toYear}, // 25/06/01 10:00:00 (Spark)
		{"C", clockDay, toTime},         // 10:00:00 (old SGLang)
	},
	4: {
		{"Y-M-DSCZ", clockLocal, toYear}, // 2025-06-01T10:00:00.1Z, 2025-06-01 10:00:00,123; CANN has 2025-06-01-10:00:00, open_clip 2025-06-01,10:00:00, Airflow 2025-06-01, 10:00:00 UTC
		{"Y/M/DSCZ", clockLocal, toYear},
	},
	8: {{"YMDSC", clockLocal, toYear}}, // 20250601-10:00:00.123 (AReaL)
}

// Other stamps, which only some prefixes have.
var (
	syslogLayout  = layout{"N d C", clockSyslog, toDay}       // Jun  1 10:00:00
	weekdayLayout = layout{"W Y-M-D C z", clockLocal, toYear} // Sun 2025-06-01 10:00:00 CEST
	dateLayout    = layout{"W N d C z Y", clockLocal, toYear} // Sun Jun  1 10:00:00 CEST 2025
	ctimeLayout   = layout{"W n d C Y", clockDmesg, toYear}   // Sun Jun  1 10:00:00 2025
	glogLayouts   = []layout{{"MD C", clockGlog, toDay}, {"YMD C", clockLocal, toYear}}
	c10Layout     = layout{"mD c", clockC10, toDay} // 601 10:00:00.123456789
)

// partialStamp is a time stamp of which some parts are read.
type partialStamp struct {
	stamp
	year, month, day int
	at               clockTime
	east             time.Duration
}

// read takes a stamp of one of the layouts.
func (s *scanner) read(layouts ...layout) (stamp, bool) {
	for i := range layouts {
		if st, ok := s.layout(&layouts[i]); ok {
			return st, true
		}
	}
	return stamp{}, false
}

func (s *scanner) layout(l *layout) (stamp, bool) {
	t := *s
	p := partialStamp{stamp: stamp{clock: l.clock, precision: l.precision}, month: 1, day: 1}
	for i := range len(l.form) {
		if !t.part(l.form[i], &p) {
			return stamp{}, false
		}
	}
	if !isDate(p.year, p.month, p.day) {
		return stamp{}, false
	}
	*s = t
	if p.t = p.at.on(p.year, p.month, p.day); p.east != 0 {
		p.t = p.t.Add(-p.east)
	}
	return p.stamp, true
}

// part takes what one letter of a layout stands for.
func (s *scanner) part(letter byte, p *partialStamp) (ok bool) {
	switch letter {
	case 'Y':
		p.year, ok = s.fixed(4)
	case 'y': // two digits or four
		if p.year, ok = s.number(2, 4); p.year < 100 {
			p.year += 2000
		}
	case 'M':
		p.month, ok = s.fixed(2)
	case 'm': // without a leading zero, right in front of the day
		t := *s
		p.month, ok = s.fixed(max(1, len(t.while(digit, 4))-2))
	case 'N':
		p.month, ok = month(s.while(alpha, 3))
	case 'n': // in any language: a stamp whose month is not English has no precision
		name := s.while(letters, 12)
		english := false
		if p.month, english = month(name); !english {
			p.stamp, p.month = stamp{}, 1
		}
		ok = len(name) >= 3
	case 'D':
		p.day, ok = s.fixed(2)
	case 'd': // with a blank or a zero in front, or with nothing
		s.lit(" ")
		p.day, ok = s.number(1, 2)
	case 'W':
		ok = len(s.while(letters, 12)) >= 2
	case 'C', 'c': // the fraction of c is of another clock
		if p.at, ok = s.clockTime(); letter == 'c' {
			p.at.nano = 0
		}
	case 'S', 's':
		sep := s.peek()
		if sep == ',' && letter == 'S' {
			if sep = ' '; len(s.b) > 1 && s.b[1] == ' ' {
				s.skip(1)
			}
		}
		if ok = sep == ' ' || sep == '-' || sep == 'T'; ok {
			s.skip(1)
		}
		if letter == 'S' {
			p.sep = sep
		}
	case 'Z': // may be missing
		if ok = true; s.zone(&p.east) {
			p.clock = clockISO
		}
	case 'z': // a name, which is not looked up: it is UTC, or some local time
		name := s.while(alnum|plus|dash, 6)
		if ok = len(name) > 0; string(name) == "UTC" {
			p.clock = clockISO
		}
	default:
		if ok = s.peek() == letter; ok {
			s.skip(1)
		}
	}
	return ok
}

// letters are those of any language.
const letters = alpha | high | dot

// stamp takes a time stamp that begins with a digit.
func (s *scanner) stamp() (stamp, bool) {
	t := *s
	if n := len(t.while(digit, len(layouts))); n < len(layouts) {
		return s.read(layouts[n]...)
	}
	return stamp{}, false
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

// zone takes Z, UTC behind a blank, +02:00 or +0200 and keeps how far east of UTC that is.
func (s *scanner) zone(east *time.Duration) bool {
	if s.lit("Z") {
		return true
	}
	t := *s
	if t.lit(" UTC") && !is(t.peek(), word) {
		*s = t
		return true
	}
	west := t.lit("-")
	if !west && !t.lit("+") {
		return false
	}
	h, ok := t.fixed(2)
	t.lit(":")
	m, ok2 := t.fixed(2)
	if !ok || !ok2 || h > 14 || m > 59 || is(t.peek(), digit) {
		return false
	}
	*s = t
	if *east = time.Duration(h)*time.Hour + time.Duration(m)*time.Minute; west {
		*east = -*east
	}
	return true
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

func month(name []byte) (int, bool) {
	const names = "JanFebMarAprMayJunJulAugSepOctNovDec"
	for i := 0; i < len(names); i += 3 {
		if string(name) == names[i:i+3] {
			return i/3 + 1, true
		}
	}
	return 0, false
}

// isDate reports whether that day exists; year 0 stands for an unknown one and has a February 29.
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

// Seconds since 1970 between which a number is taken for a time, and no size: 2008 to 2036.
const leastEpoch, mostEpoch = 1_200_000_000, 2_100_000_000

// epoch takes a time in seconds since 1970, with a fraction or none, or in milliseconds, microseconds or nanoseconds.
func (s *scanner) epoch() (stamp, bool) {
	t := *s
	high, ok := t.fixed(9)
	low, last := t.fixed(1)
	sec := int64(high)*10 + int64(low)
	if !ok || !last || sec < leastEpoch || sec > mostEpoch {
		return stamp{}, false
	}
	rest := t.while(digit, 10)
	if len(rest) == 0 && t.lit(".") {
		rest = t.while(digit, 9)
	} else if len(rest) != 0 && len(rest) != 3 && len(rest) != 6 && len(rest) != 9 {
		return stamp{}, false
	}
	nano := atoi(rest)
	for range 9 - len(rest) {
		nano *= 10
	}
	*s = t
	return stamp{t: time.Unix(sec, int64(nano)).UTC(), clock: clockISO, precision: toYear}, true
}
