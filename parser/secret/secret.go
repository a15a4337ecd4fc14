// Package secret finds credentials in text and masks them: nothing that a log holds of tokens, keys and passwords may
// leave in a report.
//
// It knows what issued credentials look like (the prefixes that their issuers document for scanners) and which names
// people give to theirs. What merely looks random is left alone: commit hashes, Ray's ids and checksums are what a reader
// of a log needs. That is why no ready set of rules is used: those of scanners for repositories, such as gitleaks, take
// entropy for a sign, know exact lengths rather than what a log has cut or wrapped, and come with a configuration language.
package secret

import (
	"regexp"
	"slices"
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
	"wandb", "github", "gitlab", "git", "id", "personal_access", "push_to_hub", "use_auth", "security", "ci_job", "private",
	"vault", "bot", "user", "service",
}

// keyWords are the same for "<word>_key"; prompt_key and image_key are none.
var keyWords = []string{
	"api", "access", "secret", "private", "account", "license", "ssh", "encryption", "auth", "wandb", "openai",
	"anthropic", "signing", "service", "storage", "shared_access", "subscription", "master",
}

// vocabulary are the words that models give to tokens and keys in capitals, too: no credentials.
var vocabulary = []string{
	"eos", "bos", "pad", "unk", "sep", "cls", "mask", "image", "video", "audio", "stop", "end", "start", "next", "per", "max", "num",
	"special", "cache", "sort", "group", "partition", "prompt",
}

// keyParts make a name that of a credential wherever they stand in it.
var keyParts = []string{
	"password", "passwd", "passphrase", "secret", "credential", "apikey", "api_key", "access_key", "private_key", "authorization",
}

// Key says whether name is what people call a setting or variable that holds a credential: "HF_TOKEN", "--api-key",
// "trainer.wandb_api_key", "AccountKey". Of a dotted name the last part counts.
func Key(name string) bool {
	last := strings.TrimLeft(name[strings.LastIndexByte(name, '.')+1:], "-+")
	upper := last == strings.ToUpper(last)
	last = snake(last)
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
	_, pass := lastWord(last, "pass")
	_, pwd := lastWord(last, "pwd")
	return last == "cookie" || last == "set_cookie" || pwd && !upper || pass && upper || strings.HasPrefix(last, "aws_") && strings.Contains(last, "key")
}

// snake is a name in snake case: "account_key" for "AccountKey" and for "account-key".
func snake(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if i > 0 && ascii.IsUpper(name[i]) && !ascii.IsUpper(name[i-1]) && name[i-1] != '_' && name[i-1] != '-' {
			b.WriteByte('_')
		}
		b.WriteByte(name[i])
	}
	return strings.ReplaceAll(strings.ToLower(b.String()), "-", "_")
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
var shapes = slices.Concat([]shape{
	{need: "PRIVATE KEY", re: lazyre.New(`(-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----)((?s:.*?))(?:-----END|$)`)},
	{need: "eyJ", re: lazyre.New(edge + `(eyJ[\w-]{8,}\.[\w.=-]{8,}|eyJhbGciOi[\w.=-]{20,})`)},
	{need: "://", near: "@", re: lazyre.New(`://[^\s/:@?#"']*:([^\s/"'<>]+)@`)},
	{need: "@", re: lazyre.New(`://([^\s/:@?#"'<>]{20,})@`)},
	{need: "uthorization", re: lazyre.New(`[Aa]uthorization\\?["']?\s*[:=,]\s*b?\\?["']?((?:[A-Za-z-]+\s+)?[^\s"',;\\]{6,})`)},
	{need: "ookie", near: "=", re: lazyre.New(`\b[Cc]ookie\\?["']?\s*[:=,]\s*b?\\?["']?(\w[^"'\s=]*=[^"'\r\n]*)`)},
	{need: "earer ", re: lazyre.New(`\b[Bb]earer\s+([\w.~+/=-]{12,})`), ok: random},
	{need: "asic ", re: lazyre.New(`\b[Bb]asic\s+([A-Za-z0-9+/]{12,}={0,2})`), ok: random},
	{need: " password ", re: lazyre.New(`\blogin\s+\S+\s+password\s+(\S+)`)},
	{need: "ig", near: "?&", re: lazyre.New(`[?&](?i:sig|signature|x-amz-signature|x-amz-credential|x-goog-signature)=([^\s&"'<>]{6,})`)},
	{need: "Signature=", re: lazyre.New(`\bSignature=([0-9a-f]{64})`)},
	{need: "hook", re: lazyre.New(`(?:hooks\.slack(?:-gov)?\.com/\w+|discord(?:app)?\.com/api/webhooks/\d+|webhook\.office\.com/\w+|/bot/v2/hook)/([^\s"'<>]{20,})`)},
	{need: "/webhook/send?", re: lazyre.New(`[?&]key=([\w-]{20,})`)},
	{need: ":AA", re: lazyre.New(`\d{8,10}:(AA[\w-]{33})`)},
	{need: "Q~", re: lazyre.New(edge + `([\w~.]{3}\dQ~[\w~.-]{31,34})`)},
	{need: ".atlasv1.", re: lazyre.New(edge + `(\w{14}\.atlasv1\.[\w=-]{40,})`)},
	{need: "login(", re: lazyre.New(`login\(\s*(?:\w+\s*=\s*)?["']([^"']{16,})["']`)},
	{need: "login", re: lazyre.New(`\bwandb\W{1,4}login\b[^|;&\n]*?[\s"'](\w{32,})`)},
	{need: " set ", re: lazyre.New(`\bset\s+\S*(?:key|token|secret|password)\s+([^\s=]{8,})`)},
	{need: "pass:", re: lazyre.New(`-pass(?:in|out)?[\s"',]+pass:([^\s"',]+)`)},
}, commands(
	"curl", "-u", "curl", "--user", "curl", "-U", "curl", "--proxy-user", "curl", "-b", "sshpass", "-p", "mysql", "-p", "mysqldump", "-p",
	"mysqladmin", "-p", "mariadb", "-p", "mongo", "-p", "mongosh", "-p", "mongodump", "-p", "login", "-p", "7z", "-p", "unzip", "-P",
	"redis-cli", "-a", "smbclient", "-U", "ldapsearch", "-w", "ipmitool", "-P",
))

// commands are the programs and those of their flags that take a credential, attached or as the next argument. The command
// may be a line of a shell or a list of arguments in quotes.
func commands(programsAndFlags ...string) (list []shape) {
	for pair := range slices.Chunk(programsAndFlags, 2) {
		list = append(list, shape{
			need: pair[0], near: "-",
			re: lazyre.New(`\b` + pair[0] + `\b[^|;&\n]*?[\s"']` + pair[1] + `["',]*[\s=]*["']?([^\s"',]{3,})`),
		})
	}
	return list
}

// Alphabets of what follows a prefix. A hyphen or an underscore also stands in names, so that what has one must look
// random.
const (
	plain = ""    // letters and digits
	wordy = "_-"  // these, too
	dots  = "_-." // and dots
)

// issued are the prefixes that issuers give to their credentials so that scanners find them, and how many characters follow
// at least.
var issued = [...]struct {
	alphabet string
	least    int
	prefixes string
}{
	{plain, 10, "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_"},
	{plain, 12, "LTAI"},
	{plain, 16, "AKIA ASIA ABIA ACCA sm_pat_"},
	{plain, 20, "whsec_ gsk_ fw_ KGAT_ ak- as- NRAK- bedrock-api-key-"},
	{plain, 24, "hf_ api_org_"},
	{plain, 28, "AKID"},
	{plain, 30, "ghp_ gho_ ghu_ ghs_ ghr_ r8_ pplx- xai- rpa_ glc_ sntryu_ lin_api_"},
	{plain, 32, "sk_ key- SK dapi shpat_ shpca_ shppa_ shpss_ p8e- ico-"},
	{plain, 36, "npm_ pnu_"},
	{plain, 40, "rubygems_ dop_v1_ doo_v1_ dor_v1_ pul- ntn_ secret_ dp.pt. ops_eyJ sbp_ shippo_live_"},
	{plain, 50, "EZAK EZTK AGE-SECRET-KEY-1"},
	{plain, 55, "cmVmd"},
	{plain, 60, "ABSK fm1a_ fm1r_ fm2_ AKCp rdme_"},
	{wordy, 10, "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs-"},
	{wordy, 20, "github_pat_ gldt- glptt- glcbt- glft- glsoat- glagent- gloas- GR1348941 pypi-AgE dckr_pat_ " +
		"dckr_oat_ wandb_v1_ nvapi- sk- tgp_v1_ lsv2_ pcsk_ tvly- GOCSPX- xapp- hvs. hvb. NRII- tskey- " +
		"sq0atp- sb_secret_ FLWSECK"},
	{wordy, 30, "AIza 1//0 glsa_ sntrys_ figd_ pscale_tkn_ pscale_pw_ pscale_oauth_"},
	{wordy, 35, "AQVN"},
	{wordy, 40, "pa- xkeysib- ATATT3 ATCTT3 HRKU-AA PMAK- fo1_ sha256~ sgp_ duffel_live_ duffel_test_"},
	{wordy, 50, "EAAA"},
	{dots, 10, "xoxe."},
	{dots, 20, "glpat- glrt- ya29."},
	{dots, 40, "SG. dp.st. dt0c01. tfp_"},
	{dots, 80, "t1.9eu"},
}

// prefix is one of [issued].
type prefix struct {
	text     string
	least    int
	alphabet string
}

// byFirst are the prefixes by their first byte.
var byFirst = func() (table [utf8.RuneSelf][]prefix) {
	for _, x := range issued {
		for text := range strings.FieldsSeq(x.prefixes) {
			table[text[0]] = append(table[text[0]], prefix{text, x.least, x.alphabet})
		}
	}
	return table
}()

// prefixed masks what begins like a credential that an issuer marks.
func prefixed(text string) string {
	var out strings.Builder
	from := 0
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf || byFirst[text[i]] == nil || !wordBegins(text, i) {
			continue
		}
		if n := issuedLength(text[i:]); n > 0 {
			out.WriteString(text[from:i] + Mask)
			from = i + n
			i = from - 1
		}
	}
	if from == 0 {
		return text
	}
	return out.String() + text[from:]
}

// issuedLength is how many bytes of text are an issued credential that it begins with, 0 without one.
func issuedLength(text string) int {
	for _, x := range byFirst[text[0]] {
		rest, ok := strings.CutPrefix(text, x.text)
		if !ok {
			continue
		}
		n := 0
		for n < len(rest) && (isAlnum(rest[n]) || strings.IndexByte(x.alphabet, rest[n]) >= 0) {
			n++
		}
		if n >= x.least && (x.alphabet == plain || keyLike(rest[:n])) {
			return len(x.text) + n
		}
	}
	return 0
}

// wordBegins says that a word begins at i, be it behind an escape such as \n or %3D. An underscore counts as an edge: some names
// are a prefix and a key.
func wordBegins(text string, i int) bool {
	return i == 0 || !isAlnum(text[i-1]) ||
		i > 1 && text[i-2] == '\\' && strings.IndexByte("nrt", text[i-1]) >= 0 ||
		i > 2 && text[i-3] == '%'
}

func isAlnum(c byte) bool { return c != '_' && ascii.IsWord(c) }

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
	return strings.ContainsAny(s, digits) && strings.ToLower(s) != s
}

const digits = "0123456789"

// minRun is how long a part of a credential without separators is that names do not have.
const minRun = 20

// keyLike is random, or holds a long part without separators that has a digit.
func keyLike(s string) bool {
	return random(s) || slices.ContainsFunc(strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(dots, r) }), func(part string) bool {
		return len(part) >= minRun && strings.ContainsAny(part, digits)
	})
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
	return named(prefixed(text))
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

// named masks the values of what is called like a credential: `name=value`, `name: value`, `"name": "value"`, `--name value`,
// `'--name', 'value'` and `("name", "value")`.
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
		case c == ',' && listed(text[from:i]):
			name, at = nameBefore(text[from:i]), i+1
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

// listed says that text ends with a flag in quotes or with the first of a pair in quotes: what follows the comma is its value.
func listed(text string) bool {
	name := nameBefore(text)
	quoted := strings.TrimRight(text, `"'\`)
	if name == "" || quoted == text || !strings.HasSuffix(quoted, name) {
		return false
	}
	before := strings.TrimRight(strings.TrimSuffix(quoted, name), `"'\`)
	return name[0] == '-' || strings.HasSuffix(strings.TrimSuffix(before, "b"), "(")
}

func nameByte(c byte) bool {
	return ascii.IsWord(c) || c == '-' || c == '.'
}

// words is how many bytes at the beginning of text belong to a name, or one more than a name may have.
func words(text string) int {
	n := 0
	for n < len(text) && n <= maxName && nameByte(text[n]) {
		n++
	}
	return n
}

// value finds the value that begins at or behind at. One in quotes ends at the same quote, one without at white space or
// at what separates values.
func value(text string, at int) (lo, hi int) {
	lo = at
	for lo < len(text) && lo-at < maxBlanks && (text[lo] == ' ' || text[lo] == '\t') {
		lo++
	}
	if strings.HasPrefix(text[lo:], `b'`) || strings.HasPrefix(text[lo:], `b"`) {
		lo++
	}
	escaped := strings.HasPrefix(text[lo:], `\`)
	if escaped {
		lo++
	}
	if lo == len(text) || text[lo] != '"' && text[lo] != '\'' {
		if n := strings.IndexAny(text[lo:], " \t\r\n\"',;&(){}[]\\"); n >= 0 {
			return lo, lo + n
		}
		return lo, len(text)
	}
	quote := text[lo]
	lo++
	for hi = lo; hi < len(text) && text[hi] != quote; hi++ {
		if text[hi] == '\\' {
			if escaped {
				break
			}
			hi++
		}
	}
	return lo, min(hi, len(text))
}

// material says that a value may be a secret's: not empty, no word of a configuration, no number where tokens are
// counted, and behind the colon of a sentence nothing that is a word.
func material(name, between, value string) bool {
	switch strings.ToLower(value) {
	case "", "none", "null", "true", "false", Mask, "<redacted>", "redacted":
		return false
	}
	if strings.HasPrefix(value, Mask) || strings.HasPrefix(value, "<|") || strings.HasPrefix(value, "--") || variable(value) {
		return false
	}
	password := strings.Contains(strings.ToLower(name), "pass")
	if !password && strings.Trim(value, digits+".-") == "" {
		return false
	}
	if strings.HasSuffix(between, ": ") && !strings.ContainsAny(between, `"'`) {
		return password || len(value) >= 8 && strings.ContainsAny(value, digits)
	}
	return true
}

// variable says that a value is a shell's variable.
func variable(value string) bool {
	return value == "$" || len(value) > 1 && value[0] == '$' && (ascii.IsUpper(value[1]) || value[1] == '{' || value[1] == '(' || value[1] == '_')
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
