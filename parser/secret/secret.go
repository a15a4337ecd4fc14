// Package secret finds credentials in text and masks them: nothing that a log holds of tokens, keys and passwords may
// leave in a report.
//
// It knows what issued credentials look like (the prefixes that their issuers document for scanners) and which names
// people give to theirs. What merely looks random is left alone: commit hashes, Ray's ids and checksums are what a reader
// of a log needs. That is why no ready set of rules is used: those of scanners for repositories, such as gitleaks, take
// entropy for a sign, come with hundreds of issuers that no training log names, and a configuration language on top.
package secret

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"oomscan/parser/ascii"
	"oomscan/parser/lazyre"
)

// Mask stands for the text of a secret.
const Mask = "***"

// tokenWords are the words that make "<word>_token" a credential; eos_token and pad_token are none.
var tokenWords = []string{
	"", "api", "access", "auth", "bearer", "hf", "hub", "hugging_face", "huggingface", "secret", "refresh", "session",
	"wandb", "github", "gitlab", "git", "id", "personal_access", "push_to_hub", "use_auth", "security", "ci_job",
}

// keyWords are the same for "<word>_key"; prompt_key and image_key are none.
var keyWords = []string{
	"api", "access", "secret", "private", "account", "license", "ssh", "encryption", "auth", "wandb", "openai",
	"anthropic", "signing", "service", "storage",
}

// vocabulary are the words that models give to tokens and keys in capitals, too: no credentials.
var vocabulary = []string{
	"eos", "bos", "pad", "unk", "sep", "cls", "mask", "image", "video", "audio", "stop", "end", "start", "next", "per", "max", "num",
	"special", "cache", "sort", "group", "partition", "prompt",
}

// keyParts make a name that of a credential wherever they stand in it.
var keyParts = []string{
	"password", "passwd", "passphrase", "secret", "credential", "apikey", "api_key", "access_key", "private_key",
}

// Key says whether name is what people call a setting or variable that holds a credential: "HF_TOKEN", "--api-key",
// "trainer.wandb_api_key". Of a dotted name the last part counts.
func Key(name string) bool {
	last := strings.TrimLeft(name[strings.LastIndexByte(name, '.')+1:], "-+")
	upper := last == strings.ToUpper(last)
	last = strings.ReplaceAll(strings.ToLower(last), "-", "_")
	for _, p := range keyParts {
		if strings.Contains(last, p) {
			return true
		}
	}
	if word, ok := lastWord(last, "token"); ok {
		return endsWithAny(word, tokenWords) || upper && !endsWithAny(word, vocabulary)
	}
	if word, ok := lastWord(last, "key"); ok && word != "" {
		return endsWithAny(word, keyWords) || upper && !endsWithAny(word, vocabulary)
	}
	return strings.HasPrefix(last, "aws_") && strings.Contains(last, "key")
}

// Container says that the text of a list or a mapping names a credential somewhere inside.
func Container(text string) bool {
	if !strings.ContainsAny(text, "{[(=") {
		return false
	}
	low := strings.ToLower(text)
	for _, p := range keyParts {
		if strings.Contains(low, p) {
			return true
		}
	}
	return strings.Contains(low, "hf_token") || strings.Contains(low, "auth_token") || strings.Contains(low, "access_token")
}

// lastWord cuts the last word of a snake-case name when it is the given one.
func lastWord(name, word string) (string, bool) {
	rest, ok := strings.CutSuffix(name, word)
	if !ok || (rest != "" && !strings.HasSuffix(rest, "_")) {
		return "", false
	}
	return strings.TrimSuffix(rest, "_"), true
}

func endsWithAny(name string, words []string) bool {
	for _, w := range words {
		if name == w || (w != "" && strings.HasSuffix(name, "_"+w)) {
			return true
		}
	}
	return false
}

// shapes are the credentials that have a form of their own. What the last group of the expression matches is masked.
// The expressions are RE2: their time is linear in the text, whatever it holds.
var shapes = [...]shape{
	{need: "PRIVATE KEY", re: lazyre.New(`(-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----)((?s:.*?))(?:-----END|$)`)},
	{need: "hf_", re: lazyre.New(edge + `(hf_[A-Za-z0-9]{24,})`)},
	{need: "gh", near: "_", re: lazyre.New(edge + `(gh[pousr]_[A-Za-z0-9]{30,})`)},
	{need: "github_pat_", re: lazyre.New(edge + `(github_pat_\w{20,})`)},
	{need: "glpat-", re: lazyre.New(edge + `(glpat-[\w-]{20,})`)},
	{need: "npm_", re: lazyre.New(edge + `(npm_[A-Za-z0-9]{36})`)},
	{need: "dckr_pat_", re: lazyre.New(edge + `(dckr_pat_[\w-]{20,})`)},
	{need: "wandb_v1_", re: lazyre.New(edge + `(wandb_v1_\w{20,})`)},
	{need: "nvapi-", re: lazyre.New(edge + `(nvapi-[\w-]{20,})`)},
	{need: "pypi-AgE", re: lazyre.New(edge + `(pypi-AgE[\w-]{20,})`)},
	{need: "xox", re: lazyre.New(edge + `(xox[abeoprs]-[\w-]{10,})`)},
	{need: "sk-", re: lazyre.New(edge + `(sk-[\w-]{20,})`), ok: random},
	{need: "AKIA", re: lazyre.New(edge + `(AKIA[A-Z0-9]{16})\b`)},
	{need: "ASIA", re: lazyre.New(edge + `(ASIA[A-Z0-9]{16})\b`)},
	{need: "AIza", re: lazyre.New(edge + `(AIza[\w-]{35})`)},
	{need: "eyJ", re: lazyre.New(edge + `(eyJ[\w-]{8,}\.[\w.=-]{8,}|eyJhbGciOi[\w.=-]{20,})`)},
	{need: "://", near: "@", re: lazyre.New(`://[^\s/:@?#"']*:([^\s/@"'<>]+)@`)},
	{need: "@", re: lazyre.New(`://([^\s/:@?#"'<>]{20,})@`)},
	{need: "uthorization", re: lazyre.New(`[Aa]uthorization\\?["']?\s*[:=]\s*\\?["']?((?:[A-Za-z-]+\s+)?[^\s"',;\\]{6,})`)},
	{need: "earer ", re: lazyre.New(`\b[Bb]earer\s+([\w.~+/=-]{12,})`), ok: random},
	{need: "asic ", re: lazyre.New(`\b[Bb]asic\s+([A-Za-z0-9+/]{12,}={0,2})`), ok: random},
	{need: " password ", re: lazyre.New(`\blogin\s+\S+\s+password\s+(\S+)`)},
	{need: "ig", near: "?&", re: lazyre.New(`[?&](?i:sig|signature|x-amz-signature|x-amz-credential|x-goog-signature)=([^\s&"'<>]{6,})`)},
}

// edge matches where a key may begin. An underscore counts as an edge: some names are a prefix and a key.
const edge = `(?:^|[^A-Za-z0-9])`

// shape is one form of credential. Its expression is tried on texts that contain need and, unless near is empty, one of the
// bytes of near.
type shape struct {
	need string
	near string
	re   func() *regexp.Regexp // compiled on first use
	ok   func(string) bool     // nil: every match is one
}

// random distinguishes key material from hyphenated words: it mixes digits with capitals.
func random(s string) bool {
	return strings.ContainsAny(s, "0123456789") && strings.ToLower(s) != s
}

// A credential of less than minBare bytes holds one of these signs, or stands beside one.
const (
	minBare = 20
	signs   = "=:-_@./ \t"
)

// Text masks every credential in text. Names, and whatever else stands beside, stay.
func Text(text string) string {
	if len(text) < 6 || len(text) < minBare && !strings.ContainsAny(text, signs) {
		return text
	}
	for i := range shapes {
		x := &shapes[i]
		if strings.Contains(text, x.need) && (x.near == "" || strings.ContainsAny(text, x.near)) {
			text = maskAll(text, x.re().FindAllStringSubmatchIndex(text, -1), func(m []int) (int, int) {
				lo, hi := m[len(m)-2], m[len(m)-1]
				if x.ok != nil && !x.ok(text[lo:hi]) {
					return 0, 0
				}
				return lo, hi
			})
		}
	}
	return named(text)
}

// Stable is [Text] such that masking again changes nothing: what a mask uncovers, or what stands beside it, may look like a
// credential in turn.
func Stable(text string) string {
	const most = 8
	for range most {
		masked := Text(text)
		if masked == text {
			break
		}
		text = masked
	}
	return text
}

// maxWord is the longest word that [Clip] leaves out as a whole rather than cut it.
const maxWord = 256

// Clip is the beginning of a text, of at most so many bytes, without credentials, and such that [Text] leaves it as it is.
// It hides before it cuts, and cuts between words: half a credential no longer looks like one.
func Clip(text string, most int) string {
	text = Stable(text)
	for limit := most; len(text) > most; limit -= len("password") {
		if limit <= 0 {
			return ""
		}
		end := limit
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		if i := strings.LastIndexAny(text[:end], " \t\n"); i > 0 && end-i <= maxWord {
			end = i
		}
		text = Stable(text[:end])
	}
	return text
}

// Bounds of what stands between a name and its value.
const (
	maxName   = 80
	maxBlanks = 8
)

// named masks the values of what is called like a credential: `name=value`, `name: value`, `"name": "value"` and
// `--name value`.
func named(text string) string {
	var out strings.Builder
	from := 0
	for i := 0; i < len(text); i++ {
		var name string
		at := 0
		switch c := text[i]; {
		case c == '=' || c == ':':
			name, at = nameBefore(text[from:i]), i+1
			if strings.HasPrefix(text[at:], ">") {
				at++
			}
		case c == '-' && strings.HasPrefix(text[i:], "--"):
			at = i + 2 + words(text[i+2:])
			name = text[i:at]
			if at < len(text) && text[at] != ' ' && text[at] != '\t' {
				continue // the value follows another sign, which comes next
			}
		default:
			continue
		}
		if len(name) > maxName || !Key(name) {
			continue
		}
		lo, hi := value(text, at)
		if !material(name, text[i:lo], text[lo:hi]) {
			continue
		}
		out.WriteString(text[from:lo] + Mask)
		from, i = hi, hi-1
	}
	if from == 0 {
		return text
	}
	return out.String() + text[from:]
}

// nameBefore is the name that text ends with, quotes and blanks behind it aside.
func nameBefore(text string) string {
	end := len(text)
	for range maxBlanks {
		if end > 0 && (text[end-1] == ' ' || text[end-1] == '\t') {
			end--
		}
	}
	if end > 0 && (text[end-1] == '"' || text[end-1] == '\'') {
		end--
		if end > 0 && text[end-1] == '\\' {
			end--
		}
	}
	begin := end
	for begin > 0 && end-begin <= maxName && nameByte(text[begin-1]) {
		begin--
	}
	return text[begin:end]
}

func nameByte(c byte) bool {
	return ascii.IsWord(c) || c == '-' || c == '.'
}

// words is how many bytes at the beginning of text belong to a name.
func words(text string) int {
	n := 0
	for n < len(text) && nameByte(text[n]) {
		n++
	}
	return n
}

// value finds the value that begins at or behind at. One without quotes ends at white space or at what separates values.
func value(text string, at int) (lo, hi int) {
	lo = at
	for lo < len(text) && lo-at < maxBlanks && (text[lo] == ' ' || text[lo] == '\t') {
		lo++
	}
	if strings.HasPrefix(text[lo:], `\`) {
		lo++
	}
	ends := " \t\r\n\"',;&(){}[]\\"
	if lo < len(text) && (text[lo] == '"' || text[lo] == '\'') {
		ends = text[lo:lo+1] + `\`
		lo++
	}
	if n := strings.IndexAny(text[lo:], ends); n >= 0 {
		return lo, lo + n
	}
	return lo, len(text)
}

// material says that a value may be a secret's: not empty, no word of a configuration, no number where tokens are
// counted, and behind the colon of a sentence nothing that is a word.
func material(name, between, value string) bool {
	switch strings.ToLower(value) {
	case "", "none", "null", "true", "false", Mask, "<redacted>", "redacted":
		return false
	}
	if strings.HasPrefix(value, Mask) || strings.HasPrefix(value, "<|") || strings.HasPrefix(value, "--") || strings.HasPrefix(value, "$") {
		return false
	}
	password := strings.Contains(strings.ToLower(name), "pass")
	if !password && strings.Trim(value, "0123456789.-") == "" {
		return false
	}
	if strings.HasSuffix(between, ": ") && !strings.ContainsAny(between, `"'`) {
		return password || len(value) >= 8 && strings.ContainsAny(value, "0123456789")
	}
	return true
}

// maskAll replaces the ranges that pick gives for each match; an empty range replaces nothing.
func maskAll(text string, matches [][]int, pick func(m []int) (lo, hi int)) string {
	var out strings.Builder
	from := 0
	for _, m := range matches {
		lo, hi := pick(m)
		if lo < from || hi <= lo {
			continue
		}
		out.WriteString(text[from:lo] + Mask)
		from = hi
	}
	if from == 0 {
		return text
	}
	return out.String() + text[from:]
}
