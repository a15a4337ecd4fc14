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
	{need: "eyJ", re: lazyre.New(edge + `(eyJ[\w-]{8,}\.[\w.=-]{8,}|eyJhbGciOi[\w.=-]{20,}|eyJ(?:rIjoi|hcGlf)[\w=-]{40,})`)},
	{need: "://", near: "@", re: lazyre.New(`://[^\s/:@?#"']*:([^\s/"'<>]+)@`)},
	{need: "@", re: lazyre.New(`://([^\s/:@?#"'<>]{20,})@`)},
	{need: "uthorization", re: lazyre.New(`[Aa]uthorization\\?["']?\s*[:=,]\s*b?\\?["']?((?:[A-Za-z-]+\s+)?[^\s"',;\\]{6,})`)},
	{need: "ookie", near: "=", re: lazyre.New(`\b[Cc]ookie\\?["']?\s*[:=,]\s*b?\\?["']?(\w[^"'\s=]*=[^"'\r\n]*)`)},
	{need: "earer ", re: lazyre.New(`\b[Bb]earer\s+([\w.~+/=-]{12,})`), ok: isRandom},
	{need: "asic ", re: lazyre.New(`\b[Bb]asic\s+([A-Za-z0-9+/]{12,}={0,2})`), ok: isRandom},
	{need: " password ", re: lazyre.New(`\blogin\s+\S+\s+password\s+(\S+)`)},
	{need: "ig", near: "?&", re: lazyre.New(`[?&](?i:sig|[\w-]*signature|x-amz-credential)=([^\s&"'<>]{6,})`)},
	{need: "Signature=", re: lazyre.New(`\bSignature=([0-9a-f]{64})`)},
	{need: "hook", re: lazyre.New(`(?:hooks\.slack(?:-gov)?\.com/\w+|discord(?:app)?\.com/api/webhooks/\d+|webhook\.office\.com/\w+|/bot/v2/hook)/([^\s"'<>]{20,})`)},
	{need: "key=", near: "?&", re: lazyre.New(`[?&]key=([\w-]{20,})`), ok: hasDigit},
	{need: ":A", re: lazyre.New(edge + `\d{5,16}:(A[\w-]{34})`)}, // Telegram
	{need: "Q~", re: lazyre.New(edge + `([\w~.]{3}\dQ~[\w~.-]{31,34})`)},
	{need: ".atlasv1.", re: lazyre.New(edge + `(\w{14}\.atlasv1\.[\w=-]{40,})`)},
	{need: "A3-", re: lazyre.New(edge + `A3-([A-Z0-9]{6}(?:-[A-Z0-9]{5,11}){4,5})`)}, // 1Password
	{need: "pat", re: lazyre.New(edge + `pat(\w{14}\.[a-f0-9]{64})`)},                // Airtable
	{need: "at.", re: lazyre.New(edge + `[ps]at\.([\w-]{22}\.\w{24}\.\w{20})`)},      // Harness
	{need: ".acc", re: lazyre.New(edge + `(?:sc|ext|scauth|authress)_([\w-]{5,30}\.\w{4,6}\.acc[\w-]{10,40}\.[\w+/=-]{30,})`)},
	{need: "_mmk", re: lazyre.New(edge + `(\w{6}_\w{29}_mmk)`)},
	{need: "", near: "|%", re: lazyre.New(edge + `\d{15,16}[|%](?:7C)?([\w-]{27,40})`), ok: hasDigit},            // Facebook
	{need: "s.", re: lazyre.New(edge + `s\.([A-Za-z0-9]{24})\b`), ok: hasDigit},                                  // Vault before 1.10
	{need: "-us", re: lazyre.New(`\b([0-9a-f]{32}-us\d{1,2})\b`)},                                                // Mailchimp
	{need: "auth", re: lazyre.New(`\b_?auth\\?["']?\s*[:=]\s*\\?["']?([A-Za-z0-9+/]{16,}={0,2})`), ok: isRandom}, // Docker, npm
	{need: "login(", re: lazyre.New(`login\(\s*(?:\w+\s*=\s*)?["']([^"']{16,})["']`)},
	{need: "login", re: lazyre.New(`\bwandb\W{1,4}login\b[^|;&\n]*?[\s"'](?:local-)?(\w{32,})`)},
	{need: "pass:", re: lazyre.New(`-pass(?:in|out|word)?[\s"',=]+pass:([^\s"',]+)`)},
	{need: "/t/", re: lazyre.New(`/t/([\w-]{20,})/`), ok: hasDigit}, // Anaconda
	{need: "account.key", re: lazyre.New(`\baccount\.key[\w.-]*[\s=:]+([^\s"']{8,})`)},
	{need: "sqlplus|sqlldr|expdp|impdp|rman|jdbc:oracle", near: "/:", re: lazyre.New(`(?:\b(?:sqlplus|sqlldr|expdp|impdp|rman)\s+|\bjdbc:oracle:\w+:)\w+/([^\s@/"']+)@`)},
	{need: "@tcp(|@unix(", near: ":", re: lazyre.New(`(?:^|[\s"'=])[\w.-]+:([^\s"'/@:]+)@(?:tcp|unix)\(`)}, // Go's driver of MySQL
	{need: "proxy", near: "@", re: lazyre.New(`_proxy["']?\s*[=:]\s*["']?[\w.-]+:([^\s"'/@]+)@`)},
	{need: "AUTH", near: "/:", re: lazyre.New(`_AUTH=\w+[/:](\S+)`)},
	{need: "AUTH ", re: lazyre.New(`\bAUTH (?:PLAIN |LOGIN )([A-Za-z0-9+/]{8,}=*)`)},
	{need: "> AUTH|> PASS", re: lazyre.New(`> (?:AUTH|PASS) (\S+)$`)}, // a client of Redis, of FTP
	{need: "auth|creds", re: lazyre.New(`[\s"']--?[\w-]*(?:auth|creds)["',]*[\s=]+["']?[\w.@-]+:([^\s"',/:][^\s"',]*)`)},
	{need: " -a | -u ", near: ":", re: lazyre.New(`(?:^|[\s"'])(?:https?|ftp)\s[^|;&\n]*?-[au]\s+["']?[\w.@-]+:([^\s"']+)`)},
	{need: "ftp", near: ",", re: lazyre.New(`\blftp\b.*?\s-u\s*["']?[^\s"',]+,([^\s"']+)`)},
	{need: "curl", re: lazyre.New(`\bcurl\b[^|;&\n]*?\s--cert[\s=]+["']?[^\s"':]+:([^\s"']+)`)},
	{need: "auth|Auth|AUTH|login|redential", near: `"'`, re: lazyre.New(`(?i)(?:auth|login|credentials?)\s*=?\s*\(\s*["'][^"']*["']\s*,\s*["']([^"']+)["']`)},
	{need: "comet_ml.", re: lazyre.New(`\bcomet_ml\.\w+\(\s*["'](\w{25,})`)},
	{need: "dentified by '|DENTIFIED BY '|assword '|ASSWORD '", re: lazyre.New(`(?i)\b(?:identified by|password)\s+'([^']+)'`)}, // SQL
	{need: "-literal", re: lazyre.New(`--from-literal[\s=]+["']?[^\s=]+=([^\s"']+)`)},
	{need: "-mask::", re: lazyre.New(`::add-mask::(\S+)`)},
	{need: "issecret=true", re: lazyre.New(`issecret=true[^\]\n]*\](\S+)`)},
	{need: "echo |printf ", re: lazyre.New(`\b(?:echo|printf)\s+(?:-\w+\s+)*["']?([^|"'\n]*[^\s|"'\n])["']?\s*\|[^|\n]*` + fromInput)},
	{need: "<<<", re: lazyre.New(fromInput + `[^|\n]*<<<\s*["']?([^\s"']+)`)},
	{need: "htpasswd", re: lazyre.New(`\bhtpasswd\b[^|;&\n]*?["'\s]-\w*b\w*["',\s][^|;&\n]*[\s"']([^\s"'-][^\s"']*)["'\]]*(?:$|[|;&\n])`)},
	{need: "mc |rclone|vault login|wpa_pass|rabbitmqctl|reset-admin|authtoken|net use|bindpw|requirepass", re: lazyre.New(`\b(?:mc (?:alias set|config host add) \S+ \S+ \S+|rclone obscure|vault login|wpa_passphrase \S+|rabbitmqctl (?:add_user|change_password) \S+|` +
		`reset-admin-password|(?:add-)?authtoken|net use \S+(?: \S+)* /user:\S+|bindpw|requirepass) ([^\s=-][^\s=]*)(?:\s|$)`)},
	{need: "assword |ASSWORD |assphrase ", re: lazyre.New(`(?i)\b(?:password|passphrase)(?:\s+is)?\s+["']?([^\s"'<>|]{6,})`), ok: hasLetterAndDigit},
	{need: "oken |OKEN |api key|API key|apiKey |ecret ", re: lazyre.New(`(?i)\b(?:token|api[ -]?key|secret)(?: is)?\s+["']?([^\s"'<>|]{16,})`), ok: isIssued},
	{need: "密", re: lazyre.New(`(?:密码|密钥)\s*[:：=是为]\s*["']?([^\s"'，。]{4,})`)},
	{need: "value=|value:|value\"|value'|<value", named: true, re: lazyre.New(`(?:[Nn]ame|\bkey)["']?\s*[=:>]\s*["']?([\w.-]+)["']?(?:</name>)?[\s,]*["']?<?value["']?\s*[=:>]\s*["']?([^\s"',}<]+)`)},
	{need: "value=|value:|value\"|value'", re: lazyre.New(`\bvalue["']?\s*[=:]\s*["']([^"']+)["']\s*,\s*["']?name["']?\s*[=:]\s*["']\w*(?:PASSWORD|TOKEN|SECRET|_KEY)\b`)},
	{need: " set |set -|setx |setenv |modify ", named: true, re: lazyre.New(`\b(?:set|setx|setenv|modify)\b[^|;&\n]*?\s(\w[\w.-]*(?i:key|token|secret|pass|password))\s+(?:--body[ =]|-b)?["']?([^\s=|"'-][^\s=|"']*)["']?(?:\s|$)`)},
	{need: "To-SecureString", re: lazyre.New(`ConvertTo-SecureString\W+(?:String\W+)?([^\s"']+)`)},
	{need: "ENV ", named: true, re: lazyre.New(`\bENV\s+(\w+)\s+(\S+)`)},
}, options(
	"-p", "az cqlsh cypher-shell beeline login mariadb mongo mongodump mongosh mysql mysqladmin mysqldump ncftpget ncftpput psexec altool racadm sshpass twine "+
		"unlock-keychain unrar useradd usermod 7z 7za",
	"-P", "bcp ipmitool mosquitto_pub mosquitto_sub mysql ssh-keygen sqlcmd unzip zip", "-N", "ssh-keygen", "-hp", "rar", "-pw", "plink pscp psftp",
	"-k", "obsutil openssl ossutil ossutil64 swanlab", "-s", "coscmd", "-w", "ldapmodify ldapsearch", "-a", "redis-cli", "-b", "curl", "--pass", "curl", "-u", "curl", "--user", "curl", "-U", "curl smbclient", "--proxy-user", "curl",
))

// fromInput are programs, and options of programs, that read a password from standard input.
const fromInput = `(?:\bsudo\b[^|\n]*\s-\w*S\b|--password-stdin|passwd\s+--stdin|--with-token|--passphrase-fd|\b(?:chpasswd|kinit|cryptsetup|vncpasswd|openconnect)\b)`

// options returns shapes for a flag and the programs whose credential it takes, attached or as the next argument. The
// command may be a shell line or a list of quoted arguments. A short number is a port.
func options(flagAndPrograms ...string) (list []shape) {
	for pair := range slices.Chunk(flagAndPrograms, 2) {
		flag, between := pair[0], `(?:["',]+\s*["']?|\s+["']?|=["']?)`
		switch flag {
		case "-p", "-hp":
			between += `?`
		case "-u":
			flag, between = `-[a-zA-Z]*u`, between+`?`
		}
		need := flag
		if !strings.Contains(pair[1], " ") {
			need = pair[1]
		}
		list = append(list, shape{
			need: need, ok: func(s string) bool { return len(s) > len("65535") || strings.Trim(s, digits) != "" },
			re: lazyre.New(`\b(?:` + strings.ReplaceAll(pair[1], " ", "|") + `)\b[^|;&\n]*?[\s"']` + flag + between + `([^\s"',]{3,})`),
		})
	}
	return list
}

// Alphabets of characters after a prefix.
const (
	plain = ""       // letters and digits
	wordy = "_-"     // also these
	dots  = "_-.="   // and dots and padding
	any64 = "_-.=+/" // and all of Base64
)

// issued are the prefixes with which issuers mark their credentials for scanners, and the minimum number of
// characters after them. What follows a prefix with which a name may begin must look random.
var issued = [...]struct {
	alphabet string
	least    int
	name     bool
	prefixes string
}{
	{plain, 10, false, "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_"},
	{plain, 12, false, "LTAI FLWSECK_TEST-"},
	{plain, 16, false, "AKIA ASIA ABIA ACCA A3T sm_pat_ sm_aat_ sm_sat_"},
	{plain, 19, false, "NRJS-"},
	{plain, 20, false, "whsec_ gsk_ fw_ KGAT_ ak- as- NRAK- bedrock-api-key-"},
	{plain, 24, false, "hf_ api_org_"},
	{plain, 26, false, "API-"},
	{plain, 28, false, "AKID aio_"},
	{plain, 30, false, "ghp_ gho_ ghu_ ghs_ ghr_ r8_ pplx- xai- rpa_ sntryu_ lin_api_ csk- flp_"},
	{plain, 32, false, "sk_ key- SK dapi shpat_ shpca_ shppa_ shpss_ p8e- ico- _gitlab_session= FLWPUBK_TEST- jina_ squ_ sqp_ sqa_"},
	{plain, 36, false, "npm_ pnu_"},
	{plain, 38, false, "4b1d"},
	{plain, 40, false, "rubygems_ dop_v1_ doo_v1_ dor_v1_ pul- ntn_ secret_ dp.pt. sbp_ shippo_live_ shippo_test_ e2b_ dtn_ AKLT"},
	{plain, 50, false, "EZAK EZTK AGE-SECRET-KEY-1"},
	{plain, 55, false, "cmVmd"},
	{plain, 60, false, "AKCp rdme_ CLOJARS_ s-s4t2ud- s-s4t2af- EAAC EAAM"},
	{any64, 20, false, "b3BlbnNzaC1rZXk"}, // a private key of OpenSSH, without its first line
	{wordy, 8, false, "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs-"},
	{wordy, 20, false, "github_pat_ gldt- glptt- glcbt- glft- glffct- glimt- glsoat- glagent- gloas- GR1348941 dckr_pat_ dckr_oat_"},
	{wordy, 20, true, "pypi-AgE wandb_v1_ nvapi- sk- tgp_v1_ lsv2_ pcsk_ tvly- GOCSPX- xapp- hvs. hvb. NRII- tskey- " +
		"sq0atp- sb_secret_ FLWSECK EAAA"},
	{wordy, 36, true, "ms- access-sandbox- access-development- access-production-"},
	{wordy, 30, true, "AIza 1//0 glsa_ figd_"},
	{wordy, 35, true, "AQVN"},
	{wordy, 40, true, "pa- xkeysib- HRKU-AA PMAK- fo1_ sha256~ sgp_ tk-us- v1.0- dnkey-"},
	{dots, 10, true, "xoxe."},
	{dots, 20, false, "glpat- glrt-"},
	{dots, 20, true, "ya29."},
	{dots, 40, true, "SG. dp.st. dt0c01. tfp_ ATATT3 ATCTT3 duffel_live_ duffel_test_"},
	{dots, 60, true, "fio-u-"},
	{dots, 80, true, "t1.9eu sl."},
	{any64, 30, true, "pscale_tkn_ pscale_oauth_ pscale_pw_ glc_ sntrys_ ZXlK"},
	{any64, 40, true, "ops_eyJ fm1a_ fm1r_ fm2_ bce-v3/"},
	{any64, 60, true, "ABSK IQoJb3JpZ2lu"},
}

// prefix is one of [issued].
type prefix struct {
	text     string
	least    int
	alphabet string
	name     bool
}

// byFirst indexes the prefixes by their first byte.
var byFirst = func() (table [utf8.RuneSelf][]prefix) {
	for _, x := range issued {
		for text := range strings.FieldsSeq(x.prefixes) {
			table[text[0]] = append(table[text[0]], prefix{text, x.least, x.alphabet, x.name})
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
		if n >= x.least && (!x.name || isKeyLike(rest[:n])) {
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

// minRandom is the length of a run of letters and digits that can be told from words.
const minRandom = 28

// zhipu is the length of the first part of Zhipu's keys, with its point.
const zhipu = 33

// maskRandom masks long runs of letters and digits that only key material has, and the parts beside it that look the
// same: 28 or more with digits and both cases, where nearly every second one is of another class than the one before.
// Names change class at the ends of words alone, and hashes and identifiers have one case. A mangled C++ name begins
// with _Z, and JSON in Base64 with eyJ, which is a token only with a signature.
func maskRandom(text string) string {
	if len(text) < minRandom {
		return text
	}
	var parts [][]int
	begin, word, found := 0, 0, false
	var ranges [][]int
	for i := 0; i <= len(text); i++ {
		if i < len(text) && isAlnum(text[i]) {
			continue
		}
		run := text[begin:i]
		if at := begin - zhipu; len(run) == 16 && isRandom(run) && at >= 0 && text[begin-1] == '.' && strings.Trim(text[at:begin], digits+"abcdef.") == "" {
			parts, found = append(parts, []int{at, i}), true
		} else if isKeyMaterial(run) && !strings.HasPrefix(run, "eyJ") {
			parts = append(parts, []int{begin, i})
			found = found || i-begin >= minRandom && !strings.Contains(text[word:i], "_Z")
		}
		begin = i + 1
		if i < len(text) && strings.IndexByte(any64, text[i]) >= 0 {
			continue
		}
		if found {
			ranges = append(ranges, []int{parts[0][0], parts[len(parts)-1][1]})
		}
		parts, word, found = parts[:0], begin, false
	}
	return maskAll(text, ranges, func(m []int) (lo, hi int) { return m[0], m[1] })
}

// isKeyMaterial reports whether letters and digits are drawn at random, for [maskRandom]. A name of short words has one number at most.
func isKeyMaterial(run string) bool {
	changes, numbers := 0, 0
	for i := 1; i < len(run); i++ {
		if ascii.IsUpper(run[i]) != ascii.IsUpper(run[i-1]) || ascii.IsDigit(run[i]) != ascii.IsDigit(run[i-1]) {
			changes++
		}
		if ascii.IsDigit(run[i]) && !ascii.IsDigit(run[i-1]) {
			numbers++
		}
	}
	return isRandom(run) && strings.ToUpper(run) != run && numbers > 1 && changes*100 >= len(run)*45
}

func isAlnum(c byte) bool { return c != '_' && ascii.IsWord(c) }

// edge matches before a key. Underscores separate words, as for wordBegins.
const edge = `(?:^|[^A-Za-z0-9])`

// shape is a form of credential. Its expression is tried on texts that contain one of the words of need, which | separates, and,
// unless near is empty, one of the bytes of near.
type shape struct {
	need string
	near string
	re   func() *regexp.Regexp // compiled on first use
	ok   func(string) bool     // checks a match; nil: all are accepted

	words []string // of need
	named bool     // the last group but one is a name, which must be a credential's
}

func hasDigit(s string) bool { return strings.ContainsAny(s, digits) }

func hasLetterAndDigit(s string) bool {
	return hasDigit(s) && strings.ToLower(s)+strings.ToUpper(s) != s+s
}

// isNeeded reports whether an expression is tried on a text.
func (x *shape) isNeeded(text string) bool {
	return slices.ContainsFunc(x.words, func(word string) bool { return strings.Contains(text, word) }) && (x.near == "" || strings.ContainsAny(text, x.near))
}

func init() {
	for i := range shapes {
		shapes[i].words = strings.Split(shapes[i].need, "|")
	}
}

// isRandom tells key material from hyphenated words: it mixes digits and capitals.
func isRandom(s string) bool {
	return strings.ContainsAny(s, digits) && strings.ToLower(s) != s
}

const digits = "0123456789"

// minRun is the length of an unseparated part that only credentials have.
const minRun = 20

func hasUUID(s string) bool {
	const length, hyphens = 36, 4
	return len(s) >= length && hasDigit(s) && strings.Count(s[len(s)-length:], "-") == hyphens
}

// isKeyLike reports whether s is random, ends in a UUID or has a long unseparated part with a digit or both cases.
func isKeyLike(s string) bool {
	return isRandom(s) || hasUUID(s) || slices.ContainsFunc(strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(any64, r) }), func(part string) bool {
		return len(part) >= minRun && (hasDigit(part) || strings.ToLower(part) != part && strings.ToUpper(part) != part)
	})
}
