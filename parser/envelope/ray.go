package envelope

import "bytes"

// rayActor reads what the name in Ray's label says: NeMo-RL's actors are called "MegatronPolicyWorker[rank=9]" and ROLL's
// "actor_train-5 5 / 8", and both mean the global rank.
func rayActor(m *matcher) {
	m.header.Parent = m.header.PID
	name := m.last(slotProcess)
	if name == nil {
		return
	}
	if n, ok := rankOf(name.text, ' ', " / "); ok {
		m.keep(slotRank, n)
	} else if short, n, ok := rankAtEnd(name.text); ok {
		name.text = short
		m.keep(slotRank, n)
	}
}

var vllmAxes = compile(`{*{ |_}{axis}}`)

// vllmProcess reads the parallel ranks in the name of a vLLM process: "Worker_DP0_PP1_TP3", "VllmWorker TP0",
// "EngineCore_DP1"; 0.6 to 0.10 wrote "VllmWorker rank=3" and meant the rank in the engine.
func vllmProcess(m *matcher) {
	m.header.Parent = m.header.PID
	name := m.last(slotProcess)
	behind := m.scanner
	m.b = name.text
	m.while(alpha, maxLabel)
	m.match(vllmAxes)
	m.scanner = behind
	if short, n, ok := rankAtEnd(name.text); ok {
		name.text = short
		m.keep(slotTP, n)
	}
}

// rankAtEnd cuts a rank off a name: "MegatronPolicyWorker[rank=9]", "VllmWorker rank=3".
func rankAtEnd(name []byte) (short []byte, rank int, ok bool) {
	i := bytes.Index(name, []byte("rank="))
	if i < 1 || name[i-1] != '[' && name[i-1] != ' ' {
		return nil, 0, false
	}
	s := scanner{name[i+len("rank="):]}
	n, ok := s.number(1, 6)
	if name[i-1] == '[' {
		ok = ok && s.lit("]")
	}
	return bytes.TrimRight(name[:i-1], " "), n, ok && len(s.b) == 0
}

// note begins what Ray's log deduplicator puts behind a line.
const note = "[repeated "

// repeated strips the note of Ray's log deduplicator and keeps its count:
// ` [repeated 7x across cluster]`, the first time with a hint behind it (ray/_private/ray_logging).
func (p *peeler) repeated(b []byte) []byte {
	end := len(b)
	for end > 0 && is(b[end-1], blank) {
		end--
	}
	if end == 0 || b[end-1] != ']' && b[end-1] != ')' {
		return b // searching for the note from behind takes longer than all else
	}
	i := bytes.LastIndex(b, []byte(note))
	if i < 0 {
		return b
	}
	s := scanner{b[i+len(note):]}
	n, ok := s.number(1, 9)
	if !ok || !s.lit("x across ") {
		return b
	}
	if _, ok = s.until("]", 32); !ok {
		return b
	}
	s.skip(1)
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
