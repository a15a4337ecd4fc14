package stream

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"oomscan/parser/ascii"
)

// What trainers print of a step is a number, behind a word for it or before the number of all steps, and in most formats a
// measure beside it:
//
//	step:12 - actor/loss:0.1    Epoch: [0][  11/5005] ... Loss 6.9e+00    [batch=12/900]:    2% ━━ 12/900 2.1it/s
//
// Words are in letters of either case.

// stepWords are the words before a number, each with an s behind it or not.
var stepWords = []string{"step", "iter", "it", "iteration", "batch", "update", "rollout", "epoch", "tick", "up"}

// itemWords are what programs work through one by one, before a number and the number of all. A script that packs up behind a run counts files
// and shards.
var itemWords = []string{"part", "chunk", "item", "task", "query", "request", "sample", "example", "question", "problem", "prompt", "document", "doc", "page", "record", "image", "sequence", "trial", "fold"}

// measures are the words before a number that only who works prints.
var measures = []string{"loss", "acc", "accuracy", "ppl", "reward", "lr", "eta", "rmse", "auc", "logloss", "return", "cost", "l1", "l2", "mse", "mae", "learn"}

// initials begin the measures.
const initials = "laprecm"

// rates stand behind a number.
var rates = []string{"it/s", "s/it", "ms/step", "s/step", "samples/sec", "words/s", "sec/tick", " avg loss, "}

// counter is a number that may count steps. It holds pieces of the message.
type counter struct {
	n     []byte
	total []byte // of how many, empty where that is not printed
	epoch []byte // which of them it counts in, empty where that is not printed
	word  string // before the number
	bar   bool   // it stands in a bar of tqdm, or of one that looks alike
}

// shows reports whether a counter shows that work goes on. A word alone is on many other lines.
func (c *counter) shows(measured func() bool) bool {
	return c.bar || c.word != "" && len(c.total) > 0 || (c.word != "" || len(c.total) > 0) && measured()
}

// of is what a counter counts.
func (c *counter) of() string { return c.word + "/" + string(c.total) }

// number is what the counter is at, since the first epoch where it begins anew in each.
func (c *counter) number() string {
	epoch, err := strconv.Atoi(string(c.epoch))
	n, bad := strconv.Atoi(string(c.n))
	all, unknown := strconv.Atoi(string(c.total))
	if err != nil || bad != nil || unknown != nil {
		return string(c.n)
	}
	return strconv.Itoa(epoch*all + n)
}

func (c *counter) full() bool { return len(c.total) > 0 && bytes.Equal(c.n, c.total) }

// countIn is what a message counts. An epoch is only counted where nothing in it is.
func countIn(body []byte) (best counter, ok bool) {
	if n, ok := epochIn(body); ok {
		return counter{n: []byte(n), word: "epoch"}, true
	}
	var epoch []byte
	known, yes := false, false
	measured := func() bool {
		if !known {
			known, yes = true, isMeasured(body)
		}
		return yes
	}
	for i := 0; i < len(body); i++ {
		if !ascii.IsDigit(body[i]) {
			continue
		}
		c, size := counterAt(body, i)
		if c.shows(measured) && !(c.full() && len(best.total) > 0) { // a bar within an epoch, at its end
			if c.word == "epoch" && len(c.total) == 0 {
				epoch = c.n
			} else {
				c.epoch = epoch
			}
			if !c.full() && (c.bar || c.word != "" && c.word != "epoch") {
				return c, true
			}
			if !ok || c.word == "" || best.full() {
				best, ok = c, true // the innermost stands last
			}
		}
		i += size
	}
	return best, ok
}

// Trainers that print no such pair count all the same: of two messages of one form, the later has a larger whole number at some place
// (CatBoost's "12:\tlearn: 0.5", nnU-Net's "Epoch 12", VITS's "Train Epoch: 1 [40%]").

// How much of the form of a message is compared, and of how many forms.
const (
	maxForm  = 48
	maxForms = 64
	maxPlace = 8
)

// forms are the whole numbers of the latest message of each form.
type forms map[string][]int

// mayAdvance reports whether a message names a step or a measure, as those that count do.
func mayAdvance(body []byte) bool {
	for i := range body {
		if ascii.IsDigit(body[i]) && (i == 0 || !ascii.IsDigit(body[i-1])) && wordBefore(body[:i], stepWords) != "" {
			return true
		}
	}
	return isMeasured(body)
}

// advance is the number of a message that is larger than in the one before of its form, and which of the form's it is.
func (f forms) advance(body []byte) (of string, n int, ok bool) {
	var form []byte
	var at [maxPlace]int
	numbers := at[:0]
	for rest := body; len(rest) > 0 && len(form) < maxForm; {
		size := run(rest)
		if size == 0 {
			form, rest = append(form, rest[0]), rest[1:]
			continue
		}
		whole := len(fraction(rest[size:])) == len(rest)-size
		if number, err := strconv.Atoi(string(rest[:size])); err == nil && whole && len(numbers) < maxPlace {
			numbers = append(numbers, number)
		}
		form, rest = append(form, '0'), fraction(rest[size:])
	}
	last := f[string(form)]
	if last == nil && len(f) >= maxForms {
		return "", 0, false
	}
	f[string(form)] = slices.Clone(numbers)
	for i := range min(len(last), len(numbers)) {
		if numbers[i] > last[i] {
			return strconv.Itoa(i) + string(form), numbers[i], true
		}
	}
	return "", 0, false
}

// counts reports whether a message counts something.
func counts(body []byte) bool {
	_, ok := countIn(body)
	return ok
}

// counterAt reads the number that begins at i, and how long it is. A number that counts nothing shows nothing.
func counterAt(body []byte, i int) (c counter, size int) {
	n := digits(body[i:])
	if n == 0 || i > 0 && (ascii.IsWord(body[i-1]) || body[i-1] == '/' || body[i-1] == '.') {
		return counter{}, run(body[i:])
	}
	c = counter{n: body[i : i+n], word: wordBefore(body[:i], stepWords)}
	rest := fraction(body[i+n:])
	if i == 1 && body[0] == '[' && len(rest) > 0 && rest[0] == ']' {
		c.word = "step" // [120] loss=2.31
	}
	if len(rest) < len(body)-i-n {
		c.word = "" // no step, unless it is one of so many
	}
	if tail, ok := bytes.CutPrefix(bytes.TrimLeft(rest, " "), []byte("/")); ok {
		tail = bytes.TrimLeft(tail, " ")
		if all := digits(tail); all > 0 && !bytes.HasPrefix(tail[all:], []byte("/")) && atMost(c.n, tail[:all]) {
			c.total, rest = tail[:all], fraction(tail[all:])
			c.word = cmp.Or(c.word, wordBefore(body[:i], itemWords))
		}
	} else if c.bar = bytes.HasPrefix(rest, []byte("it [")) || isOfTotal(rest) || c.word != "" && isOver(body, rest); c.bar {
		return c, n
	} else if bytes.HasPrefix(rest, []byte("batch:")) {
		c.word = "batch" // ESPnet: 1epoch:train:51-100batch:
	} else if len(rest) > 0 && (ascii.IsWord(rest[0]) || rest[0] == '%') {
		c.word = "" // a part of a word, or of the whole
	}
	if clock, ok := bytes.CutPrefix(rest, []byte(" [")); ok && len(c.total) > 0 {
		size := digits(clock)
		c.bar = size > 0 && bytes.HasPrefix(clock[size:], []byte(":"))
	}
	return c, n
}

// isOfTotal reports whether a total with a unit follows on a number: 12it/9.00kit.
func isOfTotal(rest []byte) bool {
	total, ok := bytes.CutPrefix(rest, []byte("it/"))
	return ok && digits(total) > 0
}

// isOver reports whether what stands behind a number says that the step is done, or that the row of a table is.
func isOver(body, rest []byte) bool {
	return bytes.HasPrefix(rest, []byte(" finished")) || body[0] == '|' && bytes.IndexByte(body[1:], '|')+3 < len(body) && string(bytes.TrimLeft(rest, " ")) == "|"
}

// wordBefore is the one of some words that stands before a number, empty when none does. Only marks stand between.
func wordBefore(b []byte, words []string) string {
	end := len(b)
	for end > 0 && strings.IndexByte(" :=[(\"'#.|", b[end-1]) >= 0 {
		end--
	}
	begin := end
	for begin > 0 && ascii.IsLetter(b[begin-1]) && end-begin <= len("iterations") {
		begin--
	}
	if begin == end || end == len(b) {
		return ""
	}
	word := b[begin:end]
	if word[len(word)-1]|0x20 == 's' {
		word = word[:len(word)-1]
	}
	for _, w := range words {
		if rest, ok := cutFold(word, w); ok && len(rest) == 0 {
			return w
		}
	}
	return ""
}

// fraction is what follows on the decimals of a number.
func fraction(b []byte) []byte {
	if len(b) > 1 && b[0] == '.' && ascii.IsDigit(b[1]) {
		return b[1+digits(b[1:]):]
	}
	return b
}

// atMost reports whether the first number is no larger than the second, and the second is no single step.
func atMost(n, all []byte) bool {
	x, err := strconv.Atoi(string(n))
	y, err2 := strconv.Atoi(string(all))
	return err == nil && err2 == nil && x <= y && y > 1
}

// epochIn is the epoch in a dict of metrics, as the transformers Trainer prints it, in millionths.
func epochIn(body []byte) (string, bool) {
	if !bytes.HasPrefix(bytes.TrimLeft(body, " \t"), []byte("{'")) || !bytes.Contains(body, []byte("'loss': ")) {
		return "", false
	}
	_, value, ok := bytes.Cut(body, []byte("'epoch': "))
	value = bytes.TrimPrefix(value, []byte("'"))
	n := digits(value)
	epoch, err := strconv.ParseFloat(string(value[:len(value)-len(fraction(value[n:]))]), 64)
	return strconv.Itoa(int(epoch * 1e6)), ok && n > 0 && err == nil
}

// isMeasured reports whether a message holds a measure with its value.
func isMeasured(body []byte) bool {
	for i, c := range body {
		if i > 0 && ascii.IsLetter(body[i-1]) || strings.IndexByte(initials, c|0x20) < 0 {
			continue
		}
		for _, word := range measures {
			if rest, ok := cutFold(body[i:], word); ok && isValue(rest) {
				return true
			}
		}
	}
	return slices.ContainsFunc(rates, func(rate string) bool { return bytes.Contains(body, []byte(rate)) }) || isDone(body)
}

// done stand behind the plural of what is worked on: "11.3 answers/s", "35,000 documents read".
var done = []string{"s/s", "s read", "s processed", "s written"}

// isDone reports whether a message says how many of something are done, or done in a second. Bytes are of a dump, and "has" and "was" are no
// plurals.
func isDone(body []byte) bool {
	return slices.ContainsFunc(done, func(sign string) bool {
		before, behind, ok := bytes.Cut(body, []byte(sign))
		number := bytes.TrimRightFunc(before, unicode.IsLower)
		if !ok || len(before)-len(number) < 3 || len(behind) > 0 && ascii.IsWord(behind[0]) {
			return false
		}
		rest, spaced := bytes.CutSuffix(number, []byte{' '})
		digits := rest[len(bytes.TrimRight(rest, "0123456789.,")):]
		return spaced && bytes.ContainsAny(digits, "123456789") && !bytes.HasSuffix(before, []byte("byte"))
	})
}

// isValue reports whether a number follows, behind what separates it from its name and at most a word: "loss train: 2.3",
// "loss is 2.3".
func isValue(b []byte) bool {
	rest := bytes.TrimLeft(bytes.TrimPrefix(b, []byte("_mean")), " :=\"'[")
	rest = bytes.TrimPrefix(bytes.TrimPrefix(rest, []byte("is ")), []byte("tensor("))
	if word := bytes.IndexFunc(rest, func(r rune) bool { return r < 'a' || r > 'z' }); word > 0 && rest[word] == ':' {
		rest = bytes.TrimLeft(rest[word:], ": ")
	}
	rest = bytes.TrimPrefix(rest, []byte("-"))
	return len(b)-len(rest) > 0 && len(rest) > 0 && ascii.IsDigit(rest[0])
}

// cutFold is what follows on a word in letters of either case.
func cutFold(b []byte, word string) ([]byte, bool) {
	if len(b) < len(word) {
		return nil, false
	}
	for i := range len(word) {
		if b[i]|0x20 != word[i] {
			return nil, false
		}
	}
	return b[len(word):], true
}

// digits is how many digits a text begins with, 0 when there are more than nine.
func digits(b []byte) int {
	if n := run(b); n <= 9 {
		return n
	}
	return 0
}

// run is how many digits a text begins with.
func run(b []byte) int {
	n := 0
	for n < len(b) && ascii.IsDigit(b[n]) {
		n++
	}
	return n
}
