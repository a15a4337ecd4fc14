package secret

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"oomscan/parser/ascii"
	"oomscan/parser/lazyre"
)

// shapes are credentials with a recognizable form. The last group of the expression is masked. RE2 makes the time
// linear in the length of the text.
var shapes = slices.Concat([]shape{
	{need: "PRIVATE KEY", re: lazyre.New(`(-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----)((?s:.*?))(?:-----END|$)`)},
	{need: "eyJ", re: lazyre.New(edge + `(eyJ[\w-]{8,}\.[\w.=-]{8,}|eyJhbGciOi[\w.=-]{20,}|eyJrIjoi[\w=-]{40,})`)},
	{need: "://", near: "@", re: lazyre.New(`://[^\s/:@?#"']*:([^\s/"'<>]+)@`)},
	{need: "@", re: lazyre.New(`://([^\s/:@?#"'<>]{20,})@`)},
	{need: "uthorization", re: lazyre.New(`[Aa]uthorization\\?["']?\s*[:=,]\s*b?\\?["']?((?:[A-Za-z-]+\s+)?[^\s"',;\\]{6,})`)},
	{need: "ookie", near: "=", re: lazyre.New(`\b[Cc]ookie\\?["']?\s*[:=,]\s*b?\\?["']?(\w[^"'\s=]*=[^"'\r\n]*)`)},
	{need: "earer ", re: lazyre.New(`\b[Bb]earer\s+([\w.~+/=-]{12,})`), ok: isRandom},
	{need: "asic ", re: lazyre.New(`\b[Bb]asic\s+([A-Za-z0-9+/]{12,}={0,2})`), ok: isRandom},
	{need: " password ", re: lazyre.New(`\blogin\s+\S+\s+password\s+(\S+)`)},
	{need: "ig", near: "?&", re: lazyre.New(`[?&](?i:sig|signature|x-amz-signature|x-amz-credential|x-goog-signature)=([^\s&"'<>]{6,})`)},
	{need: "Signature=", re: lazyre.New(`\bSignature=([0-9a-f]{64})`)},
	{need: "hook", re: lazyre.New(`(?:hooks\.slack(?:-gov)?\.com/\w+|discord(?:app)?\.com/api/webhooks/\d+|webhook\.office\.com/\w+|/bot/v2/hook)/([^\s"'<>]{20,})`)},
	{need: "/webhook/send?", re: lazyre.New(`[?&]key=([\w-]{20,})`)},
	{need: ":AA", re: lazyre.New(`\d{8,10}:(AA[\w-]{33})`)},
	{need: "Q~", re: lazyre.New(edge + `([\w~.]{3}\dQ~[\w~.-]{31,34})`)},
	{need: ".atlasv1.", re: lazyre.New(edge + `(\w{14}\.atlasv1\.[\w=-]{40,})`)},
	{need: "A3-", re: lazyre.New(edge + `A3-([A-Z0-9]{6}(?:-[A-Z0-9]{5,11}){4,5})`)}, // 1Password
	{need: "pat", re: lazyre.New(edge + `pat(\w{14}\.[a-f0-9]{64})`)},                // Airtable
	{need: "at.", re: lazyre.New(edge + `[ps]at\.([\w-]{22}\.\w{24}\.\w{20})`)},      // Harness
	{need: ".acc", re: lazyre.New(edge + `(?:sc|ext|scauth|authress)_([\w-]{5,30}\.\w{4,6}\.acc[\w-]{10,40}\.[\w+/=-]{30,})`)},
	{need: "_mmk", re: lazyre.New(edge + `(\w{6}_\w{29}_mmk)`)},
	{need: "", near: "|%", re: lazyre.New(edge + `\d{15,16}[|%](?:7C)?([\w-]{27,40})`), ok: hasDigit}, // Facebook
	{need: "s.", re: lazyre.New(edge + `s\.([a-z0-9]{24})\b`), ok: hasDigit},                          // Vault before 1.10
	{need: "login(", re: lazyre.New(`login\(\s*(?:\w+\s*=\s*)?["']([^"']{16,})["']`)},
	{need: "login", re: lazyre.New(`\bwandb\W{1,4}login\b[^|;&\n]*?[\s"'](\w{32,})`)},
	{need: " set ", re: lazyre.New(`\bset\s+\S*(?:key|token|secret|password)\s+([^\s=]{8,})`)},
	{need: "pass:", re: lazyre.New(`-pass(?:in|out)?[\s"',]+pass:([^\s"',]+)`)},
}, commands(
	"curl", "-u", "curl", "--user", "curl", "-U", "curl", "--proxy-user", "curl", "-b", "sshpass", "-p", "mysql", "-p", "mysqldump", "-p",
	"mysqladmin", "-p", "mariadb", "-p", "mongo", "-p", "mongosh", "-p", "mongodump", "-p", "login", "-p", "7z", "-p", "unzip", "-P",
	"redis-cli", "-a", "smbclient", "-U", "ldapsearch", "-w", "ipmitool", "-P",
))

// commands returns shapes for programs and their flags that take a credential, attached or as the next argument. The
// command may be a shell line or a list of quoted arguments.
func commands(programsAndFlags ...string) (list []shape) {
	for pair := range slices.Chunk(programsAndFlags, 2) {
		list = append(list, shape{
			need: pair[0], near: "-",
			re: lazyre.New(`\b` + pair[0] + `\b[^|;&\n]*?[\s"']` + pair[1] + `["',]*[\s=]*["']?([^\s"',]{3,})`),
		})
	}
	return list
}

// Alphabets of characters after a prefix. Because names contain hyphens and underscores too, a match with them must
// look random.
const (
	plain = ""       // letters and digits
	wordy = "_-"     // also these
	dots  = "_-."    // and dots
	any64 = "_-.+/=" // and all of Base64
)

// issued are the prefixes with which issuers mark their credentials for scanners, and the minimum number of
// characters after them.
var issued = [...]struct {
	alphabet string
	least    int
	prefixes string
}{
	{plain, 10, "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_"},
	{plain, 12, "LTAI FLWSECK_TEST-"},
	{plain, 16, "AKIA ASIA ABIA ACCA sm_pat_ sm_aat_ sm_sat_"},
	{plain, 20, "whsec_ gsk_ fw_ KGAT_ ak- as- NRAK- bedrock-api-key-"},
	{plain, 24, "hf_ api_org_"},
	{plain, 26, "API-"},
	{plain, 28, "AKID"},
	{plain, 30, "ghp_ gho_ ghu_ ghs_ ghr_ r8_ pplx- xai- rpa_ glc_ sntryu_ lin_api_"},
	{plain, 32, "sk_ key- SK dapi shpat_ shpca_ shppa_ shpss_ p8e- ico- _gitlab_session= FLWPUBK_TEST-"},
	{plain, 36, "npm_ pnu_"},
	{plain, 38, "4b1d"},
	{plain, 40, "rubygems_ dop_v1_ doo_v1_ dor_v1_ pul- ntn_ secret_ dp.pt. ops_eyJ sbp_ shippo_live_ shippo_test_"},
	{plain, 50, "EZAK EZTK AGE-SECRET-KEY-1"},
	{plain, 55, "cmVmd"},
	{plain, 60, "fm1a_ fm1r_ fm2_ AKCp rdme_ CLOJARS_ s-s4t2ud- s-s4t2af- EAAC EAAM"},
	{wordy, 10, "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs-"},
	{wordy, 20, "github_pat_ gldt- glptt- glcbt- glft- glffct- glimt- glsoat- glagent- gloas- GR1348941 pypi-AgE dckr_pat_ " +
		"dckr_oat_ wandb_v1_ nvapi- sk- tgp_v1_ lsv2_ pcsk_ tvly- GOCSPX- xapp- hvs. hvb. NRII- tskey- " +
		"sq0atp- sb_secret_ FLWSECK EAAA"},
	{wordy, 30, "AIza 1//0 glsa_ sntrys_ figd_ pscale_pw_"},
	{wordy, 35, "AQVN"},
	{wordy, 40, "pa- xkeysib- ATATT3 ATCTT3 HRKU-AA PMAK- fo1_ sha256~ sgp_ duffel_live_ duffel_test_ tk-us- v1.0-"},
	{dots, 10, "xoxe."},
	{dots, 20, "glpat- glrt- ya29."},
	{dots, 40, "SG. dp.st. dt0c01. tfp_"},
	{dots, 80, "t1.9eu"},
	{any64, 30, "pscale_tkn_ pscale_oauth_"},
	{any64, 60, "ABSK fio-u-"},
}

// prefix is one of [issued].
type prefix struct {
	text     string
	least    int
	alphabet string
}

// byFirst indexes the prefixes by their first byte.
var byFirst = func() (table [utf8.RuneSelf][]prefix) {
	for _, x := range issued {
		for text := range strings.FieldsSeq(x.prefixes) {
			table[text[0]] = append(table[text[0]], prefix{text, x.least, x.alphabet})
		}
	}
	return table
}()

// maskIssued masks credentials with an issuer's prefix.
func maskIssued(text string) string {
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

// issuedLength returns the length of the issued credential that text begins with, or 0.
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
		if n >= x.least && (x.alphabet == plain || isKeyLike(rest[:n])) {
			return len(x.text) + n
		}
	}
	return 0
}

// wordBegins reports whether a word begins at i, possibly after an escape such as \n or %3D. Underscores separate
// words, because some names are a prefix and a key.
func wordBegins(text string, i int) bool {
	return i == 0 || !isAlnum(text[i-1]) ||
		i > 1 && text[i-2] == '\\' && strings.IndexByte("nrt", text[i-1]) >= 0 ||
		i > 2 && text[i-3] == '%'
}

func isAlnum(c byte) bool { return c != '_' && ascii.IsWord(c) }

// edge matches before a key. Underscores separate words, as for wordBegins.
const edge = `(?:^|[^A-Za-z0-9])`

// shape is a form of credential. Its expression is tried on texts that contain need and, unless near is empty, one of
// the bytes of near.
type shape struct {
	need string
	near string
	re   func() *regexp.Regexp // compiled on first use
	ok   func(string) bool     // checks a match; nil: all are accepted
}

func hasDigit(s string) bool { return strings.ContainsAny(s, digits) }

// isRandom tells key material from hyphenated words: it mixes digits and capitals.
func isRandom(s string) bool {
	return strings.ContainsAny(s, digits) && strings.ToLower(s) != s
}

const digits = "0123456789"

// minRun is the length of an unseparated part that only credentials have.
const minRun = 20

// isKeyLike reports whether s is random or has a long unseparated part with a digit or both cases.
func isKeyLike(s string) bool {
	return isRandom(s) || slices.ContainsFunc(strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(any64, r) }), func(part string) bool {
		return len(part) >= minRun && (hasDigit(part) || strings.ToLower(part) != part && strings.ToUpper(part) != part)
	})
}
