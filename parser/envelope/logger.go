package envelope

import "bytes"

// levelFirst takes what begins with a level: vLLM's `ERROR 12-03 11:20:10 [core.py:844] `, Python's `WARNING:root:`,
// verl's `ERROR:2025-06-01 10:00:00,123:`, uvicorn's `INFO:     `, Ray Serve's `WARNING 2025-.. controller 12 -- `.
func levelFirst(p *peeler, s scanner) ([]byte, bool) {
	start := len(s.b)
	lv, ok := s.level()
	if !ok {
		return nil, false
	}
	if !s.lit(":") {
		return p.vllm(s, lv)
	}
	if t := s; t.blanks() > 1 || start-len(t.b) == 10 && len(t.b) < len(s.b) {
		if start-len(t.b) != 10 { // uvicorn pads level and colon to ten columns; an error's text is not padded
			return nil, false
		}
		p.said(lv, []byte("uvicorn"))
		return t.b, true
	}
	t := s
	if st, ok := t.stamp(); ok && st.tells == tellsYear && t.lit(":") {
		p.stamp(st)
		p.said(lv, nil)
		return t.b, true
	}
	name := s.while(func(c byte) bool { return isHost(c) || c == '/' }, maxLabel)
	if !s.lit(":") || !some(name, isAlpha) {
		return nil, false
	}
	p.said(lv, name)
	if n, ok := rollRank(name); ok {
		p.h.Rank = n
	}
	return s.b, true
}

// rollRank reads the rank out of the name of a logger of ROLL's: log_rank_{cluster}-{worker}_{rank}_{size}
// (roll/utils/logging.py).
func rollRank(name []byte) (int, bool) {
	name, ok := bytes.CutPrefix(name, []byte("log_rank_"))
	i := bytes.LastIndexByte(name, '_')
	if !ok || i < 0 {
		return 0, false
	}
	size := scanner{name[i+1:]}
	all, ok := size.number(1, 6)
	if !ok || len(size.b) > 0 {
		return 0, false
	}
	s := scanner{name[bytes.LastIndexByte(name[:i], '_')+1 : i]}
	n, ok := s.number(1, 6)
	return n, ok && len(s.b) == 0 && n < all
}

// verlRanks takes `[Rank 5 | Local Rank 5] 2026-02-11 03:14:15,091 INFO [/data/verl/workers/actor.py:103] => ` (verl with
// Megatron, utils/logger.py).
func verlRanks(p *peeler, s scanner) ([]byte, bool) {
	if !s.lit("[Rank ") {
		return nil, false
	}
	rank, ok := s.number(1, 6)
	if !ok || !s.lit(" | Local Rank ") {
		return nil, false
	}
	local, ok := s.number(1, 6)
	if !ok || !s.lit("] ") {
		return nil, false
	}
	st, ok := s.stamp()
	if !ok || !s.lit(" ") {
		return nil, false
	}
	lv, ok := s.level()
	if !ok || !s.lit(" [") {
		return nil, false
	}
	place, ok := s.until("]", maxLabel)
	if !ok {
		return nil, false
	}
	if s.lit(" =>") && !s.gap() {
		return nil, false
	}
	p.stamp(st)
	p.said(lv, place)
	p.h.Rank, p.h.LocalRank = rank, local
	return s.b, true
}

// vllm takes the rest of `INFO 12-03 11:20:10 [core.py:844] ` (vllm/logger.py); up to 0.7 the opening bracket was
// missing. Every line of a message has the prefix.
func (p *peeler) vllm(s scanner, lv byte) ([]byte, bool) {
	if s.blanks() == 0 {
		return nil, false
	}
	st, ok := s.stamp()
	if !ok || st.tells < tellsDay {
		return nil, false
	}
	t := s
	if t.lit(" ") {
		t.lit("[")
		place := t.while(func(c byte) bool { return isPlace(c) || c == '[' }, maxLabel)
		if isPlaceLine(bytes.TrimPrefix(place, []byte("[...]/"))) && t.lit("]") && t.gap() {
			p.stamp(st)
			p.said(lv, place)
			return t.b, true
		}
	}
	if st.tells < tellsYear {
		return nil, false
	}
	return p.behind(s, lv, st)
}

// stage takes vllm-omni's `[Stage-0] ` in front of a line of vLLM's logger.
func stage(p *peeler, s scanner) ([]byte, bool) {
	if !s.lit("[Stage-") {
		return nil, false
	}
	n, ok := s.number(1, 4)
	if !ok || !s.lit("] ") {
		return nil, false
	}
	t := s
	lv, ok := t.level()
	if !ok {
		return nil, false
	}
	rest, ok := p.vllm(t, lv)
	if ok {
		p.label(classEngine, "Stage", p.itoa(n))
	}
	return rest, ok
}

// c10 takes `[E601 10:00:00.123456789 ProcessGroupNCCL.cpp:607] `; PyTorch up to 2.3 prints no time
// (c10/util/Logging.cpp). The month has no leading zero there. The fraction comes from the monotonic clock and is
// dropped.
func c10(p *peeler, s scanner) ([]byte, bool) {
	if !s.lit("[") {
		return nil, false
	}
	lv, ok := s.letter()
	if !ok {
		return nil, false
	}
	var st stamp
	if s.peek() != ' ' {
		digits := s.while(isDigit, 5)
		if len(digits) < 3 || len(digits) > 4 || !s.lit(" ") {
			return nil, false
		}
		m, d := atoi(digits)/100, atoi(digits)%100
		at, ok := s.clockTime()
		if !ok || !isDate(0, m, d) {
			return nil, false
		}
		at.nano = 0
		st = stamp{t: at.on(0, m, d), clock: clockC10, tells: tellsDay}
	}
	if !s.lit(" ") {
		return nil, false
	}
	place := s.while(isPlace, maxLabel)
	if !isFileLine(place) || !s.lit("]") || !s.gap() {
		return nil, false
	}
	p.stamp(st)
	p.said(lv, place)
	return s.b, true
}

// glog takes `E0601 10:00:00.123456  1234 file.cc:12] ` (glog, absl) and torch._logging's
// `W0601 10:00:00.123000 139871 torch/x.py:1] [0/1] [__graph] `. Every line of a message has the prefix.
func glog(p *peeler, s scanner) ([]byte, bool) {
	lv, ok := s.letter()
	if !ok {
		return nil, false
	}
	digits := s.while(isDigit, 9)
	y, n := 0, atoi(digits)
	clock, tells := clockGlog, tellsDay
	switch len(digits) {
	case 4:
	case 8: // glog with --log_year_in_prefix, its default
		y, n = n/10000, n%10000
		clock, tells = clockLocal, tellsYear
	default:
		return nil, false
	}
	if !isDate(y, n/100, n%100) || !s.lit(" ") {
		return nil, false
	}
	at, ok := s.clockTime()
	if !ok || s.blanks() == 0 {
		return nil, false
	}
	if _, ok := s.longNumber(); ok && s.blanks() == 0 {
		return nil, false
	}
	place := s.while(isPlace, maxLabel)
	if !isPlaceLine(place) || !s.lit("]") || !s.gap() {
		return nil, false
	}
	for { // the frame's and the artefact's names
		t := s
		if !t.lit("[") {
			break
		}
		tag, ok := t.until("]", 64)
		frame := ok && all(tag, func(c byte) bool { return isDigit(c) || c == '/' || c == '_' }) && bytes.IndexByte(tag, '/') > 0
		if !frame && !bytes.HasPrefix(tag, []byte("__")) || !t.gap() {
			break
		}
		s = t
	}
	p.stamp(stamp{t: at.on(y, n/100, n%100), clock: clock, tells: tells})
	p.said(lv, place)
	return s.b, true
}

// longNumber takes a thread's id: up to twenty digits, whose value nobody needs.
func (s *scanner) longNumber() ([]byte, bool) {
	t := *s
	run := t.while(isDigit, 20)
	if len(run) == 0 || isWord(t.peek()) {
		return nil, false
	}
	*s = t
	return run, true
}

// nemo takes `[NeMo I 2025-06-01 10:00:00 nemo_logging:393] `, since 2.0 with ` rank:0` behind the place.
func nemo(p *peeler, s scanner) ([]byte, bool) {
	if !s.lit("[NeMo ") {
		return nil, false
	}
	lv, ok := s.letter()
	if !ok || !s.lit(" ") {
		return nil, false
	}
	st, ok := s.stamp()
	if !ok || !s.lit(" ") {
		return nil, false
	}
	place := s.while(isPlace, maxLabel)
	rank := Unknown
	if t := s; t.lit(" ") {
		if n, ok := t.rankWord(); ok {
			rank, s = n, t
		}
	}
	if len(place) == 0 || !s.lit("]") || !s.gap() {
		return nil, false
	}
	p.stamp(st)
	p.keep(fields{level: lv, logger: place, rank: rank})
	return s.b, true
}

// transformers takes `[INFO|trainer.py:2000] 2025-06-01 10:00:00,123 >> ` (transformers, utils/logging.py) and
// `[INFO|2025-06-01 10:00:00] pkg.mod:143 >> ` (LLaMA-Factory).
func transformers(p *peeler, s scanner) ([]byte, bool) {
	if !s.lit("[") {
		return nil, false
	}
	lv, ok := s.level()
	if !ok || !s.lit("|") {
		return nil, false
	}
	st, first := s.stamp()
	var place []byte
	if !first {
		if place = s.while(isPlace, maxLabel); len(place) == 0 {
			return nil, false
		}
	}
	if !s.lit("] ") {
		return nil, false
	}
	if first {
		place = s.while(isPlace, maxLabel)
	} else if st, ok = s.stamp(); !ok {
		return nil, false
	}
	if !s.lit(" >>") || !s.gap() {
		return nil, false
	}
	p.stamp(st)
	p.said(lv, place)
	return s.b, true
}

// cann takes `[ERROR] 2025-06-19-03:10:00 (PID:30102, Device:3, RankID:3) ` of Ascend's torch_npu.
func cann(p *peeler, s scanner) ([]byte, bool) {
	if !s.lit("[") {
		return nil, false
	}
	lv, ok := s.level()
	if !ok || !s.lit("] ") {
		return nil, false
	}
	st, ok := s.stamp()
	if !ok || !s.lit(" (PID:") {
		return nil, false
	}
	pid, ok := s.number(1, 9)
	if !ok || !s.lit(", Device:") {
		return nil, false
	}
	device, rank := Unknown, Unknown
	if n, ok := s.number(1, 4); ok {
		device = n
	} else if !s.lit("-1") {
		return nil, false
	}
	if s.lit(", RankID:") {
		if n, ok := s.number(1, 6); ok {
			rank = n
		} else if !s.lit("-1") {
			return nil, false
		}
	}
	if !s.lit(")") || !s.gap() {
		return nil, false
	}
	p.stamp(st)
	p.keep(fields{level: lv, rank: rank, pid: pid})
	if device != Unknown {
		p.h.Device = device
	}
	return s.b, true
}

// arealTag takes `(AReaL) `, which stands in front of AReaL's stamp since 0.5.
func arealTag(_ *peeler, s scanner) ([]byte, bool) {
	if !s.lit("(AReaL)") || !s.gap() {
		return nil, false
	}
	return s.b, true
}

// arealRole takes the column of AReaL's merged.log: `[main]    `, a role padded to ten columns.
func arealRole(p *peeler, s scanner) ([]byte, bool) {
	const width = 10
	start := len(s.b)
	if !s.lit("[") {
		return nil, false
	}
	name := s.while(func(c byte) bool { return isLower(c) || isDigit(c) || c == '_' || c == '-' }, width)
	if len(name) < 3 || !isLower(name[0]) || !s.lit("]") {
		return nil, false
	}
	pad := width - (start - len(s.b))
	if pad < 2 && string(name) != "rollout" || len(s.b) < pad || len(bytes.TrimLeft(s.b[:pad], " ")) > 0 {
		return nil, false
	}
	s.b = s.b[pad:]
	p.process(p.word(name))
	p.label(classProcess, p.word(name))
	return s.b, true
}

// workerRole takes the label that a scheduler puts in front of all that one of a role's workers prints: `[actor/2]   `,
// padded to a column or not.
func workerRole(p *peeler, s scanner) ([]byte, bool) {
	const width = 12
	start := len(s.b)
	if !s.lit("[") {
		return nil, false
	}
	name := s.while(func(c byte) bool { return isLower(c) || c == '_' || c == '-' }, 24)
	if len(name) < 3 || !s.lit("/") {
		return nil, false
	}
	n, ok := s.number(1, 5)
	if !ok || !s.lit("]") || !s.gap() {
		return nil, false
	}
	for len(s.b) > 0 && s.peek() == ' ' && start-len(s.b) < width {
		s.b = s.b[1:]
	}
	label := string(name) + "/" + p.itoa(n)
	p.process(label)
	p.label(classProcess, label)
	return s.b, true
}

// ncclLine takes what NCCL puts in front of its messages: `node01:123:456 [2] include/alloc.h:178 NCCL WARN `, with the
// function's name behind the place since 2.30 (src/debug.cc). The words "NCCL WARN" stay, the message is told by them.
func ncclLine(p *peeler, s scanner) ([]byte, bool) {
	host := s.while(isHost, 253)
	if len(host) == 0 || !s.lit(":") {
		return nil, false
	}
	pid, ok := s.number(1, 9)
	if !ok || !s.lit(":") {
		return nil, false
	}
	if _, ok = s.longNumber(); !ok || !s.lit(" [") {
		return nil, false
	}
	unknown := s.lit("-")
	device, ok := s.number(1, 4)
	if !ok || !s.lit("]") || s.blanks() == 0 {
		return nil, false
	}
	t := s
	place := t.while(isPlace, maxLabel)
	if isFileLine(place) && t.blanks() > 0 {
		s = t
		if t.lit("(") {
			if _, ok := t.until(")", 128); ok && t.blanks() > 0 {
				s = t
			}
		}
	} else {
		place = nil
	}
	t = s
	if !t.lit("NCCL ") {
		return nil, false
	}
	lv, _ := t.level()
	p.said(lv, place)
	p.h.Host, p.h.PID = p.word(host), pid
	if !unknown {
		p.h.Device = device
	}
	return s.b, true
}

// wandb takes `wandb: `, which W&B puts in front of all it prints.
func wandb(p *peeler, s scanner) ([]byte, bool) {
	if !s.lit("wandb:") || !s.gap() {
		return nil, false
	}
	p.said(0, []byte("wandb"))
	return s.b, true
}

// arrowHost takes `worker-0 >> `, the replica that a hosted training service puts behind its stamp.
func arrowHost(p *peeler, s scanner) ([]byte, bool) {
	name := s.while(isHost, 253)
	i := bytes.LastIndexByte(name, '-')
	if i < 1 || !all(name[i+1:], isDigit) || !s.lit(" >>") || !s.gap() {
		return nil, false
	}
	p.h.Host = p.word(name)
	p.label(classHost, p.word(name))
	return s.b, true
}
