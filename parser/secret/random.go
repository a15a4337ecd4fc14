package secret

import (
	"strings"

	"oomscan/parser/ascii"
)

// minRandom is the length of a run of letters and digits that can be told from words.
const minRandom = 27

// minParts is the same for all such parts of a run together, such as a line of a private key, and for a word of Base64, such as a
// secret key of AWS, which has 40 characters.
const minParts = 40

// zhipu is the length of the first part of Zhipu's keys, with its point.
const zhipu = 33

// randomIn finds long runs of letters and digits that only key material has, and the parts beside it that look the
// same: 27 or more with digits and both cases, where nearly every second one is of another class than the one before.
// Names change class at the ends of words alone, and hashes and identifiers have one case. A mangled C++ name begins
// with _Z or has _ZN, and JSON in Base64 begins with eyJ, which is a token only with a signature.
func randomIn(text string) (spans []span) {
	if len(text) < minRandom {
		return nil
	}
	var parts []span
	begin, word, piece, found := 0, 0, 0, false
	sum := 0 // of the parts
	for i := 0; i <= len(text); i++ {
		if i < len(text) && isAlnum(text[i]) {
			continue
		}
		run := text[begin:i]
		if at := begin - zhipu; len(run) == 16 && isRandom(run) && at >= 0 && text[begin-1] == '.' && strings.Trim(text[at:begin], digits+"abcdef.") == "" {
			parts, found = append(parts, span{at, i}), true
		} else if isKeyMaterial(run) && !strings.HasPrefix(run, "eyJ") {
			parts = append(parts, span{begin, i})
			sum += i - begin
			found = found || (i-begin >= minRandom || sum >= minParts) && !isMangled(text[word:i])
		}
		begin = i + 1
		if i < len(text) && strings.IndexByte(wordy, text[i]) >= 0 {
			continue
		}
		if i-piece >= minParts {
			if key := keyOfURL(text[piece:i]); key != "" {
				lo := i - len(key)
				for len(parts) > 0 && parts[len(parts)-1].lo >= lo {
					parts = parts[:len(parts)-1]
				}
				parts, found = append(parts, span{lo, i}), true
			}
		}
		piece = begin
		if i < len(text) && strings.IndexByte(any64, text[i]) >= 0 {
			continue
		}
		if isBase64Key(text[word:i]) {
			parts, found = append(parts[:0], span{word, i}), true
		}
		if found {
			spans = append(spans, span{parts[0].lo, parts[len(parts)-1].hi})
		}
		parts, word, found, sum = parts[:0], begin, false, 0
	}
	return spans
}

func isMangled(word string) bool {
	return strings.HasPrefix(word, "_Z") || strings.Contains(word, "_ZN")
}

// keyOfURL returns the key in the alphabet of Base64 for URLs with which a name ends, behind words of one case such as "sk_live_". A
// name without a key has a hyphen or an underscore more often than every twelfth character, or fewer numbers.
func keyOfURL(name string) string {
	key := name
	for {
		end := strings.IndexAny(key, wordy)
		if end < 0 {
			return ""
		}
		if word := key[:end]; strings.ToLower(word) != word && strings.ToUpper(word) != word {
			break
		}
		key = key[end+1:]
	}
	separators := strings.Count(key, "-") + strings.Count(key, "_")
	if len(key) < minParts || separators*12 > len(key) || isMangled(name) || !isDrawn64(key, 3, 45) {
		return ""
	}
	return key
}

// isBase64Key reports whether a word is key material in Base64. A path of letters and slashes changes class less often.
func isBase64Key(word string) bool {
	word = strings.TrimRight(word, "=")
	return len(word) >= minParts && !strings.ContainsAny(word, "_-.=") && isDrawn64(word, 2, 40)
}

// isDrawn64 reports whether characters of Base64 are drawn at random: at least so many numbers follow a letter, and so many percent are
// of another class than the one before.
func isDrawn64(word string, least, percent int) bool {
	if strings.HasPrefix(word, "eyJ") {
		return false
	}
	word = strings.NewReplacer("+", "", "/", "", "-", "", "_", "").Replace(word)
	changes, numbers := classes(word)
	hexadecimal := strings.Map(func(r rune) rune {
		if r >= 'g' || r >= 'A' && r <= 'Z' {
			return -1
		}
		return r
	}, word)
	return isRandom(word) && numbers >= least && changes*100 >= len(word)*percent && len(hexadecimal)*2 < len(word)
}

// isKeyMaterial reports whether letters and digits are drawn at random, for [randomIn]. A name of short words has one number at most.
func isKeyMaterial(run string) bool {
	changes, numbers := classes(run)
	return isRandom(run) && strings.ToUpper(run) != run && (numbers > 1 && changes*100 >= len(run)*45 || len(run) >= minRandom && changes*100 >= len(run)*55)
}

// classes returns how many characters are of another class than the one before, and how many numbers follow a letter.
func classes(run string) (changes, numbers int) {
	for i := 1; i < len(run); i++ {
		if ascii.IsUpper(run[i]) != ascii.IsUpper(run[i-1]) || ascii.IsDigit(run[i]) != ascii.IsDigit(run[i-1]) {
			changes++
		}
		if ascii.IsDigit(run[i]) && !ascii.IsDigit(run[i-1]) {
			numbers++
		}
	}
	return changes, numbers
}

// isDrawn reports whether a run of letters and digits is drawn at random: of both cases, and so many percent of it of another class
// than the one before. Words in camel case change class less often.
func isDrawn(run string, percent int) bool {
	changes, _ := classes(run)
	return len(run) >= 8 && isRun(run) && changes*100 >= len(run)*percent && strings.ToLower(run) != run && strings.ToUpper(run) != run
}

// isDrawnWithSigns reports whether a key's characters are drawn at random, its signs aside. Names of models and of GPUs have versions and
// sizes, which are of another class than what is beside them, but neither + nor ~.
func isDrawnWithSigns(key string) bool {
	const least, long, usual, low = 18, 32, 50, 45
	bare := unsigned.Replace(key)
	percent := usual
	if len(bare) >= long || strings.ContainsAny(key, "+~") {
		percent = low
	}
	return len(bare) >= least && isDrawn(bare, percent)
}

// unsigned removes the signs of keys.
var unsigned = strings.NewReplacer("+", "", "/", "", "=", "", "-", "", "_", "", ".", "", "~", "")

// hasNumbersInside reports whether a text has three numbers with a letter before and one behind, as keys with signs have; names have
// their numbers at the end of words.
func hasNumbersInside(text string) bool {
	const least = 3
	n := 0
	for i := 1; i < len(text); i++ {
		begin := i
		for i < len(text) && ascii.IsDigit(text[i]) {
			i++
		}
		if i > begin && i < len(text) && isLetter(text[begin-1]) && isLetter(text[i]) {
			n++
		}
	}
	return n >= least
}

func isLetter(c byte) bool { return isAlnum(c) && !ascii.IsDigit(c) }
