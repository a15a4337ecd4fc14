package pattern

import (
	"slices"

	"oomscan/parser/ascii"
	"oomscan/parser/lazyre"
)

// failedWith matches how a program says what failed, behind the texts that it was given: the end of the last one, a few words at most, and an
// error of memory.
var failedWith = lazyre.New(`[)\]}'"](?:,? (?:[a-z]{1,12}|->)){0,4}:? (?:[\w.]{1,100}(?:Error|Exception): )?(?:(?:CUDA|HIP|NPU|XPU)(?: (?:driver |runtime )?[Ee]rror:)? out of memory|std::bad_alloc|RESOURCE_EXHAUSTED|Unable to allocate \d)`)

// OwnWords returns a message without the quoted texts in front of the failure that it tells of, nil where there are none: what a program quotes
// ends with the quote, and it speaks itself behind it.
func OwnWords(message []byte) []byte {
	places := failedWith().FindAllIndex(message, -1)
	if places == nil {
		return nil // as most messages
	}
	own, quote, texts := make([]byte, 0, len(message)), byte(0), false
	for i := 0; i < len(message); i++ {
		c := message[i]
		switch {
		case c == '\\':
			i++
			continue
		case quote == c:
			quote, texts = 0, true
		case quote != 0:
			continue
		case c == '"' || c == '\'' && (i == 0 || !ascii.IsLetter(message[i-1])):
			quote = c
		}
		own = append(own, c)
		isPlace := func(place []int) bool { return place[0] == i }
		if texts && quote == 0 && slices.ContainsFunc(places, isPlace) {
			return append(own, message[i+1:]...)
		}
	}
	return nil
}
