package envelope

import (
	"bytes"
	"time"
)

func unixMicro(n int64) time.Time { return time.UnixMicro(n).UTC() }

// journal takes what journalctl and /var/log/syslog put in front: `Jun 01 10:00:00 node01 python[123]: `, also with
// microseconds (short-precise) and as `Sun 2025-06-01 10:00:00 CEST node01 kernel: ` (short-full).
func journal(p *peeler, s scanner) ([]byte, bool) {
	st, ok := s.monthDay()
	if !ok {
		if st, ok = s.weekdayStamp(); !ok {
			return nil, false
		}
	}
	if !s.lit(" ") {
		return nil, false
	}
	if rest, ok := p.syslogTag(s, st); ok {
		return rest, true
	}
	if st.clock != clockSyslog || len(s.b) <= len("CEST 2025") && len(s.b) > 0 && isDigit(s.b[len(s.b)-1]) {
		return nil, false // a date that goes on behind the clock
	}
	p.stamp(st) // nobody's name behind it: ts(1) of moreutils puts the stamp alone in front
	return s.b, true
}

// weekdayStamp takes `Sun 2025-06-01 10:00:00 CEST`. The zone's name is not looked up; UTC is told, the rest is local.
func (s *scanner) weekdayStamp() (stamp, bool) {
	t := *s
	if w := t.while(isAlpha, 3); len(w) != 3 || !t.lit(" ") {
		return stamp{}, false
	}
	st, ok := t.stamp()
	if !ok || st.tells != tellsYear || !t.lit(" ") {
		return stamp{}, false
	}
	zone := t.while(isZoneName, 6)
	if len(zone) == 0 {
		return stamp{}, false
	}
	if string(zone) == "UTC" {
		st.clock = clockISO
	}
	*s = t
	return st, true
}

func isZoneName(c byte) bool { return isAlpha(c) || isDigit(c) || c == '+' || c == '-' }

// syslogISO takes `2025-06-01T10:00:00+0200 node01 kernel: ` (journalctl -o short-iso, rsyslog's file format).
func syslogISO(p *peeler, s scanner) ([]byte, bool) {
	st, ok := s.stamp()
	if !ok || st.sep != 'T' || st.clock != clockISO || !s.lit(" ") {
		return nil, false
	}
	return p.syslogTag(s, st)
}

// syslogTag takes host and identifier. An identifier without a pid must not be the beginning of a message: `RuntimeError: `
// and `error: ` stay, and then the word in front of them is no host either.
func (p *peeler) syslogTag(s scanner, st stamp) ([]byte, bool) {
	host := s.while(isHost, 253)
	if len(host) == 0 || !s.lit(" ") {
		return nil, false
	}
	ident := s.while(isIdent, 64)
	if len(ident) == 0 {
		return nil, false
	}
	pid, told := 0, false
	if s.lit("[") {
		if pid, told = s.number(1, 9); !told || !s.lit("]") {
			return nil, false
		}
	}
	kernel := string(ident) == "kernel"
	if !s.lit(":") || !kernel && !s.gap() {
		return nil, false
	}
	if !told && !kernel && (isMessageWord(ident) || st.clock == clockISO && !some(host, isDigit)) {
		return nil, false
	}
	if kernel {
		s.lit(" ") // rsyslog's traditional format has none
	} else {
		p.process(p.word(ident))
	}
	if told {
		p.h.PID = pid
	}
	p.stamp(st)
	p.h.Host = p.word(host)
	p.label(classHost, p.word(host), p.word(ident), p.itoa(pid))
	return s.b, true
}

func isIdent(c byte) bool {
	return isHost(c) || c == '/' || c == '@' || c == '(' || c == ')' || c == '+'
}

// isMessageWord tells words that begin a message when a colon follows.
func isMessageWord(w []byte) bool {
	l := bytes.ToLower(w)
	for _, x := range [...]string{"error", "exception", "warning", "interrupt"} {
		if bytes.HasSuffix(l, []byte(x)) {
			return true
		}
	}
	switch string(l) {
	case "info", "debug", "fatal", "note", "hint", "critical", "failed", "killed", "line", "file":
		return true
	}
	return false
}

// syslogPriority takes `<11>1 2025-06-01T10:00:00Z node01 app 12 - - ` (RFC 5424), `<11>Jun  1 10:00:00 node01 app: `
// (RFC 3164) and the `<3>` in front of a kernel stamp (/proc/kmsg).
func syslogPriority(p *peeler, s scanner) ([]byte, bool) {
	if !s.lit("<") {
		return nil, false
	}
	pri, ok := s.number(1, 3)
	if !ok || !s.lit(">") || pri > 191 {
		return nil, false
	}
	lv := "FFFEWIID"[pri&7]
	rest, ok := []byte(nil), false
	switch c := s.peek(); {
	case c == '[':
		rest, ok = dmesgSeconds(p, s)
	case c == '1':
		rest, ok = p.rfc5424(s)
	case isUpper(c):
		rest, ok = journal(p, s)
	}
	if ok {
		p.said(lv, nil)
	}
	return rest, ok
}

func (p *peeler) rfc5424(s scanner) ([]byte, bool) {
	if !s.lit("1 ") {
		return nil, false
	}
	st, timed := s.stamp()
	if !timed && !s.lit("-") {
		return nil, false
	}
	var part [4][]byte // host, application, process id, message id
	for i := range part {
		if !s.lit(" ") {
			return nil, false
		}
		if part[i] = s.while(isPrint, 255); len(part[i]) == 0 {
			return nil, false
		}
		if string(part[i]) == "-" {
			part[i] = nil
		}
	}
	if !s.lit(" ") || !s.structured() || !s.gap() {
		return nil, false
	}
	s.lit("\xef\xbb\xbf")
	if timed {
		p.stamp(st)
	}
	p.h.Host = string(part[0])
	if len(part[1]) > 0 && string(part[1]) != "kernel" {
		p.process(string(part[1]))
	}
	if all(part[2], isDigit) && len(part[2]) < 10 {
		p.h.PID = atoi(part[2])
	}
	p.label(classHost, string(part[0]), string(part[1]), string(part[2]))
	return s.b, true
}

func isPrint(c byte) bool { return c > ' ' && c < 0x7f }

// structured takes RFC 5424's structured data: "-" or [id name="value" ...] elements, in whose values a backslash
// quotes.
func (s *scanner) structured() bool {
	if s.lit("-") {
		return true
	}
	t := *s
	for t.lit("[") {
		quoted := false
		i := 0
		for ; i < len(t.b) && (quoted || t.b[i] != ']'); i++ {
			switch {
			case t.b[i] == '\\' && quoted:
				i++
			case t.b[i] == '"':
				quoted = !quoted
			}
		}
		if i >= len(t.b) {
			return false
		}
		t.b = t.b[i+1:]
	}
	if len(t.b) == len(s.b) {
		return false
	}
	*s = t
	return true
}

// dmesgSeconds takes `[12345.678901] `, seconds since boot with six digits, and the caller's id that kernels with
// CONFIG_PRINTK_CALLER add: `[12345.678901][ T1234] `.
func dmesgSeconds(p *peeler, s scanner) ([]byte, bool) {
	if !s.lit("[") {
		return nil, false
	}
	s.blanks()
	sec, ok := s.number(1, 9)
	if !ok || !s.lit(".") {
		return nil, false
	}
	micro, ok := s.number(6, 6)
	if !ok || !s.lit("]") {
		return nil, false
	}
	t := s
	if t.lit("[") {
		t.blanks()
		if (t.lit("T") || t.lit("C")) && len(t.while(isDigit, 8)) > 0 && t.lit("]") {
			s = t
		}
	}
	if !s.gap() {
		return nil, false
	}
	p.stamp(stamp{t: time.Unix(int64(sec), int64(micro)*1000).UTC(), clock: clockMonotonic, tells: tellsSeconds})
	return s.b, true
}

// dmesgDate takes `[Sun Jun  1 10:00:00 2025] ` of dmesg -T. Weekday and month are in the language of whoever ran it: a
// month that is not English tells no time, but it is a stamp all the same.
func dmesgDate(p *peeler, s scanner) ([]byte, bool) {
	if !s.lit("[") {
		return nil, false
	}
	if len(s.while(isLetter, 12)) < 2 || !s.lit(" ") {
		return nil, false
	}
	name := s.while(isLetter, 12)
	if len(name) < 3 || !s.lit(" ") {
		return nil, false
	}
	s.lit(" ")
	d, ok := s.number(1, 2)
	if !ok || !s.lit(" ") {
		return nil, false
	}
	at, ok := s.clockTime()
	if !ok || !s.lit(" ") {
		return nil, false
	}
	y, ok := s.number(4, 4)
	if !ok || !s.lit("]") || !s.gap() {
		return nil, false
	}
	if m, ok := month(name); ok && isDate(y, m, d) {
		p.stamp(stamp{t: at.on(y, m, d), clock: clockDmesg, tells: tellsYear})
	}
	return s.b, true
}

func isLetter(c byte) bool { return isAlpha(c) || c >= 0x80 || c == '.' }

// dmesgFacility takes `kern  :err   : ` of dmesg -x.
func dmesgFacility(p *peeler, s scanner) ([]byte, bool) {
	switch string(s.while(isAlnum, 8)) {
	case "kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "local0", "local7":
	default:
		return nil, false
	}
	s.blanks()
	if !s.lit(":") {
		return nil, false
	}
	var lv byte
	switch string(s.while(isLower, 6)) {
	case "emerg", "alert", "crit":
		lv = 'F'
	case "err":
		lv = 'E'
	case "warn":
		lv = 'W'
	case "notice", "info":
		lv = 'I'
	case "debug":
		lv = 'D'
	default:
		return nil, false
	}
	s.blanks()
	if !s.lit(":") || !s.gap() {
		return nil, false
	}
	p.said(lv, nil)
	return s.b, true
}

func isAlnum(c byte) bool { return isAlpha(c) || isDigit(c) }
