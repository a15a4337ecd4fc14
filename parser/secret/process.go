package secret

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// isCut reports whether the name of a process, of which the kernel keeps 15 bytes, is the beginning of a key: of an issued one, or of
// characters drawn at random.
func isCut(name string) bool {
	if len(name) != 15 || name[0] >= utf8.RuneSelf {
		return false
	}
	return isDrawn(strings.NewReplacer("+", "", "/", "").Replace(name), 50) || slices.ContainsFunc(byFirst[name[0]], func(x prefix) bool {
		rest, ok := strings.CutPrefix(name, x.text)
		_, numbers := classes(rest)
		oneCase := strings.ToLower(rest) == rest || strings.ToUpper(rest) == rest
		return ok && (isDrawn(rest, 33) || hasDigit(rest) && !(x.name && oneCase && numbers < 3)) &&
			!strings.ContainsFunc(rest, func(r rune) bool {
				return r >= utf8.RuneSelf || !isAlnum(byte(r)) && !strings.ContainsRune(x.alphabet, r)
			})
	})
}

// isTail reports whether the name of a process, of which nvidia-smi shows the end behind three dots, may end in a credential: it has
// more signs than a path or a part that looks drawn at random.
func isTail(name string) bool {
	const column, least = 48, 8
	rest, ok := strings.CutPrefix(name, "...")
	word := strings.TrimPrefix(rest, " ") // the cut may be behind one; more words are a sentence
	if !ok || len(name) > column || !hasDigit(rest) || word != rest && strings.Contains(word, " ") {
		return false
	}
	return strings.ContainsAny(rest, "=@%&\"'") || slices.ContainsFunc(strings.FieldsFunc(rest, func(r rune) bool { return r >= utf8.RuneSelf || !isAlnum(byte(r)) }), func(part string) bool {
		_, numbers := classes(part)
		return len(part) >= least && (numbers >= 3 || hasDigit(part) && isDrawn(part, 30))
	})
}
