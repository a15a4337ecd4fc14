package envelope

import (
	"bytes"
	"strings"
)

// processLabel is what stands in the parentheses of Ray's driver log and of vLLM's process tags.
type processLabel struct {
	name []byte
	pid  int
	ip   []byte
}

// processLabel takes `(WorkerDict pid=1, ip=10.0.0.1)`. The name may be missing and may hold blanks, colons, brackets
// and parentheses: `(MapWorker(MapBatches(Embed)) pid=1)` (Ray 2.x, python/ray/_private/worker.py print_worker_logs).
func (s *scanner) processLabel() (processLabel, bool) {
	t := *s
	var l processLabel
	if !t.lit("(") {
		return l, false
	}
	if !t.lit("pid=") {
		name, ok := t.until(" pid=", maxLabel)
		if !ok || !isName(name) {
			return l, false
		}
		l.name = bytes.TrimRight(name, " ")
	}
	var ok bool
	if l.pid, ok = t.number(1, 9); !ok {
		return l, false
	}
	if t.lit(", ip=") {
		ip := t.while(isHostOrColon, 64)
		if len(ip) == 0 {
			return l, false
		}
		l.ip = ip
	}
	if !t.lit(")") {
		return l, false
	}
	*s = t
	return l, true
}

func isHostOrColon(c byte) bool { return isHost(c) || c == ':' }

// isName tells whether b may be the name of an actor or a task: it begins with a letter or a bracket, holds no control
// character, and its parentheses close.
func isName(b []byte) bool {
	if len(b) == 0 || !isWord(b[0]) && b[0] < 0x80 && b[0] != '<' && b[0] != '[' {
		return false
	}
	depth := 0
	for _, c := range b {
		switch {
		case c < ' ' || c == 0x7f || c == '|' || c == '"' || c == '\'':
			return false
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}

// rayLabel takes the label of a Ray worker or the tag of a vLLM process.
func rayLabel(p *peeler, s scanner) ([]byte, bool) {
	l, ok := s.processLabel()
	if !ok || !s.gap() {
		return nil, false
	}
	label, ip := p.word(l.name), p.word(l.ip)
	name := label
	class := byte(classProcess)
	if isEngine(name) {
		class = classEngine
		p.engineRanks(name)
	}
	name = p.nameRank(name, class)
	if name != "" {
		p.process(name)
	}
	p.h.Parent, p.h.PID = p.h.PID, l.pid
	if ip != "" {
		p.h.Host = ip
	}
	p.label(class, label, p.itoa(l.pid), ip)
	return s.b, true
}

func (p *peeler) process(name string) {
	p.h.Process = name
	if p.h.Actor == "" {
		p.h.Actor = name
	}
}

// isEngine tells vLLM's process names (v1/executor/multiproc_executor.py, utils/system_utils.py, 0.6 to 2026) from
// those of Ray actors. A plain "Worker" may be either; which one does not matter.
func isEngine(name string) bool {
	for _, x := range [...]string{"EngineCore", "VllmWorker", "Worker_", "APIServer", "ApiServer"} {
		if len(name) >= len(x) && name[:len(x)] == x {
			return true
		}
	}
	return name == "Worker"
}

// engineRanks reads the parallel ranks in "Worker_DP0_PP1_TP3", "VllmWorker TP0", "EngineCore_DP1".
func (p *peeler) engineRanks(name string) {
	s := scanner{[]byte(name)}
	s.while(isAlpha, len(name))
	for s.lit("_") || s.lit(" ") {
		if !p.axis(&s) {
			return
		}
	}
}

// axis takes one parallel rank, "TP3".
func (p *peeler) axis(s *scanner) bool {
	t := *s
	name := t.while(isUpper, 4)
	n, ok := t.number(1, 5)
	if !ok {
		return false
	}
	switch string(name) {
	case "TP":
		p.h.TP = n
	case "DP":
		p.h.DP = n
	case "PP":
		p.h.PP = n
	case "EP":
		p.h.EP = n
	case "CP", "PCP", "DCP", "ATTN", "MOE":
	default:
		return false
	}
	*s = t
	return true
}

// nameRank cuts a rank off a name: NeMo-RL's actors are called "MegatronPolicyWorker[rank=9]" and mean the global rank,
// vLLM 0.6 to 0.10 wrote "VllmWorker rank=3" and meant the rank in the engine.
func (p *peeler) nameRank(name string, class byte) string {
	if n, ok := rankOfSize(name); ok {
		p.h.Rank = n
		return name
	}
	i := strings.Index(name, "rank=")
	if i < 1 {
		return name
	}
	b := []byte(name)
	if b[i-1] != '[' && b[i-1] != ' ' {
		return name
	}
	s := scanner{b[i+len("rank="):]}
	n, ok := s.number(1, 6)
	if b[i-1] == '[' {
		ok = ok && s.lit("]")
	}
	if !ok || len(s.b) > 0 {
		return name
	}
	if class == classEngine {
		p.h.TP = n
	} else {
		p.h.Rank = n
	}
	return string(bytes.TrimRight(b[:i-1], " "))
}

// rankOfSize reads the rank out of a label that tells it with the number of processes, `actor_train-5 5 / 8` (ROLL).
func rankOfSize(name string) (int, bool) {
	i := strings.Index(name, " / ")
	if i < 1 {
		return 0, false
	}
	size := scanner{[]byte(name[i+len(" / "):])}
	all, ok := size.number(1, 6)
	if !ok || len(size.b) > 0 {
		return 0, false
	}
	s := scanner{[]byte(name[strings.LastIndexByte(name[:i], ' ')+1 : i])}
	n, ok := s.number(1, 6)
	return n, ok && len(s.b) == 0 && n < all
}

// rayComponent takes `(raylet) `, `(raylet, ip=10.0.0.1) `, `(autoscaler +1m5s) `.
func rayComponent(p *peeler, s scanner) ([]byte, bool) {
	s.lit("(")
	name := string(s.while(isWord, 20))
	switch name {
	case "raylet", "autoscaler", "scheduler", "gcs_server", "dashboard":
	default:
		return nil, false
	}
	if s.lit(" +") {
		if len(s.while(isWord, 16)) == 0 {
			return nil, false
		}
	}
	ip := ""
	if s.lit(", ip=") {
		if ip = string(s.while(isHostOrColon, 64)); ip == "" {
			return nil, false
		}
	}
	if !s.lit(")") || !s.gap() {
		return nil, false
	}
	if ip != "" {
		p.h.Host = ip
	}
	p.process(name)
	p.label(classProcess, name, ip)
	return s.b, true
}

// rayCore takes the rest of a line of Ray's C++ log behind its stamp: ` E 1 1] (raylet) node_manager.cc:3277: `
// (src/ray/util/logging.cc). The component names the process, but it is no label of a stream: further lines of the
// message do not carry it.
func (p *peeler) rayCore(s scanner) ([]byte, bool) {
	if !s.lit(" ") {
		return nil, false
	}
	lv, ok := s.letter()
	if !ok || !s.lit(" ") {
		return nil, false
	}
	pid, ok := s.number(1, 9)
	if !ok || !s.lit(" ") {
		return nil, false
	}
	if _, ok = s.number(1, 9); !ok || !s.lit("]") {
		return nil, false
	}
	name := ""
	t := s
	if t.lit(" (") {
		if n, ok := t.until(")", 64); ok && all(n, isHost) {
			name, s = string(n), t
		}
	}
	if !s.gap() {
		return nil, false
	}
	t = s
	var place []byte
	if w := t.while(isPlace, maxLabel); isFileLine(bytes.TrimSuffix(w, []byte(":"))) && w[len(w)-1] == ':' && t.gap() {
		place, s = w[:len(w)-1], t
	}
	p.h.PID = pid
	if name != "" {
		p.process(name)
	}
	p.said(lv, place)
	return s.b, true
}

// note begins what Ray's log deduplicator puts behind a line.
const note = "[repeated "

// repeated strips the note of Ray's log deduplicator and keeps its count:
// ` [repeated 7x across cluster]`, the first time with a hint behind it (ray/_private/ray_logging).
func (p *peeler) repeated(b []byte) []byte {
	end := len(b)
	for end > 0 && isBlank(b[end-1]) {
		end--
	}
	if end == 0 || b[end-1] != ']' && b[end-1] != ')' {
		return b // to look for the note from behind takes longer than all else
	}
	if !bytes.Contains(b, []byte(note)) {
		return b // that is told far faster from in front
	}
	i := bytes.LastIndex(b, []byte(note))
	s := scanner{b[i+len(note):]}
	n, ok := s.number(1, 9)
	if !ok || !s.lit("x across ") {
		return b
	}
	if _, ok = s.until("]", 32); !ok {
		return b
	}
	s.blanks()
	if s.lit("(Ray deduplicates logs") {
		tail := bytes.TrimRight(s.b, " ")
		if !bytes.HasSuffix(tail, []byte(")")) {
			return b
		}
		s.b = nil
	}
	s.blanks()
	if len(s.b) > 0 {
		return b
	}
	p.h.Repeats = n
	return bytes.TrimSuffix(b[:i], []byte(" "))
}
