package stream

import "hash/maphash"

// maxKnown is how many answers a [memo] keeps. A log that repeats itself repeats few texts.
const maxKnown = 1024

// memo keeps answers about the last texts. A log may repeat one a million times, in as many lines or in one, and what
// expressions say of it costs far more than its hash.
type memo struct {
	known map[uint64]bool
	seed  maphash.Seed
}

func newMemo() memo { return memo{map[uint64]bool{}, maphash.MakeSeed()} }

// key identifies a text and a question about it.
func (m *memo) key(text []byte, question uint64) uint64 {
	return maphash.Bytes(m.seed, text) ^ question
}

// learn keeps an answer.
func (m *memo) learn(key uint64, answer bool) {
	if len(m.known) >= maxKnown {
		clear(m.known)
	}
	m.known[key] = answer
}
