package literal

// Word is a text that is looked for in many messages, of any length.
type Word struct {
	Text  string
	pairs []uint16 // of its bytes, hashed
}

// Words returns the words with these texts.
func Words(texts ...string) []Word {
	words := make([]Word, len(texts))
	for i, text := range texts {
		words[i] = Word{Text: text, pairs: make([]uint16, max(len(text)-1, 0))}
		for k := range words[i].pairs {
			words[i].pairs[k] = pairAt(text, k)
		}
	}
	return words
}

// Pairs are the pairs of bytes of a message, hashed.
type Pairs [1 << 12 / 64]uint64

// PairsOf returns the pairs of a message.
func PairsOf[T string | []byte](text T) (p Pairs) {
	for i := range len(text) - 1 {
		x := pairAt(text, i)
		p[x/64] |= 1 << (x % 64)
	}
	return p
}

// Have reports whether a message with these pairs may hold a word: without one of its pairs, it does not.
func (p *Pairs) Have(word *Word) bool {
	for _, x := range word.pairs {
		if p[x/64]&(1<<(x%64)) == 0 {
			return false
		}
	}
	return true
}

func pairAt[T string | []byte](text T, i int) uint16 {
	return (uint16(text[i])<<5 ^ uint16(text[i+1])) % (1 << 12)
}
