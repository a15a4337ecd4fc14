package secret

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"oomscan/parser/ascii"
	"oomscan/parser/lazyre"
	"oomscan/parser/literal"
)

// shapes are credentials with a recognizable form. The last group of the expression is masked. RE2 makes the time
// linear in the length of the text.
var shapes = slices.Concat([]shape{
	{need: "PRIVATE KEY", re: lazyre.New(`(-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----)((?s:.*?))(?:-----END|$)`)},
	{need: "eyJ", re: lazyre.New(edge + `(eyJ[\w-]{8,}\.[\w.=-]{8,}|eyJ(?:` + claims + `)[\w.=-]{20,}|eyJ(?:rIjoi|hcGlf)[\w=-]{40,})`)},
	{need: "://", near: "@", re: lazyre.New(`://([^\s/:@?#"']*:[^\s/"'<>]+)@`)}, // the user may be half of a key
	{need: "@", re: lazyre.New(`://([^\s/:@?#"'<>]{20,}(?::[^\s/@"'<>]*)?)@`)},
	{need: "://", near: "@", re: lazyre.New(`://([^\s/:@?#"'\[]*:[^\s/@"'<>$]*[^\s/@"'<>$\d][^\s/@"'<>]*/[^\s@"'<>]*)@`)}, // with a slash, behind no port
	{need: "%40", near: "%", re: lazyre.New(`(?i)%3a%2f%2f[^\s/:@?#"'%]*%3a([^\s/"'<>&]+?)%40`)},                          // encoded in a URL
	{need: `\\`, near: "@", re: lazyre.New(`(?:^|[\s"'=:])\\\\+[A-Za-z][\w.-]*:([^\s\\/@"']+)@\w`)},                       // UNC
	{need: "@", near: ":", re: lazyre.New(`(?:^|[\s"'=])[\w.-]+:([^\s"'/@:]+)@[\w.-]+:\d{2,5}\b`), ok: hasLetter},         // a proxy
	{need: "uthorization|UTHORIZATION", re: lazyre.New(`(?i:authorization)(?:\\?["']?\s*[:=,]\s*b?\\?["']?|\s+\\*["'](?:Basic|Bearer|Token)\s+)((?:[A-Za-z-]+\s+)?[^\s"',;\\]{6,})`)},
	{need: "ookie", near: "=", re: lazyre.New(`\b[Cc]ookie\\?["']?\s*[:=,]\s*b?\\?["']?(\w[^"'\s=]*=[^"'\r\n]*)`)},
	{need: "earer ", re: lazyre.New(`\b[Bb]earer\s+([\w.~+/=-]{12,})`), ok: isRandomOrIssued},
	{need: "asic |asic%20", re: lazyre.New(`\b[Bb]asic(?:\s+|%20)([A-Za-z0-9+/]{12,}={0,2})`), ok: isBasic},
	{need: " password ", re: lazyre.New(`\b(?:machine|login)\s+\S+(?:\s+(?:login|account)\s+\S+)*\s+password\s+(\S+)`)},
	{need: " pass ", re: lazyre.New(`\buser\s+\S+\s+pass\s+(\S+)`), ok: hasLetterAndDigit},
	{need: `password\t`, re: lazyre.New(`password\\t(\S+?)(?:\\|["']|$)`), ok: hasLetterAndDigit},
	{need: "response=", re: lazyre.New(`\bresponse=\\?["']?([0-9a-f]{32,64})\b`)}, // HTTP's digest
	{need: "edential|ogin|assword", near: "/", re: lazyre.New(`(?i)\b(?:credentials?|login|password)\s*[:=]\s*["']?[\w.@*-]+\s+/\s+([^\s"']{4,})`)},
	{need: "ogin ", near: "/", re: lazyre.New(`\b[Ll]ogin\s+["']?[\w.@*-]+\s+/\s+([^\s"']{8,})`), ok: hasLetterAndDigit},
	{need: "$", re: lazyre.New(`\$(?:1|2[abxy]|5|6|7|g?y|apr1|argon2\w*|scrypt)\$([\w./=,+-]+\$[\w./$=,+-]{20,})`)},                                                         // crypt
	{need: ":*:|:5|:6", re: lazyre.New(`(?:^|[\s"'(])[\w.*-]+:(?:\*|[56]\d{3}):[\w*-]+:[^\s:"']*[g-zG-Z@.][^\s:"']*:([^\s:"'\\,\]})]+)(?:$|[\s"'\\,\]})])`), ok: hasLetter}, // PostgreSQL's .pgpass
	{need: `send "|send -- "`, re: lazyre.New(`\bsend\s+(?:--\s+)?"([^\s"]{4,})\\+[rn]"`)},                                                                                  // expect
	{need: "ig", near: "?&", re: lazyre.New(`[?&](?i:sign?|[\w-]*signature|x-amz-credential)=([^\s&"'<>]{6,})`)},
	{need: "Signature=", re: lazyre.New(`\bSignature=([0-9a-f]{64})`)},
	{need: "api-|sdk-|mob-", re: lazyre.New(edge + `(?:api|sdk|mob)-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b`)}, // LaunchDarkly
	{need: "1000.", re: lazyre.New(edge + `1000\.([0-9a-f]{32}\.[0-9a-f]{32})\b`)},                                     // Zoho
	{need: "hook", re: lazyre.New(`(?:hooks\.slack(?:-gov)?\.com/\w+|discord(?:app)?\.com/api/webhooks/\d+|webhook\.office\.com/\w+|/bot/v2/hook|hooks\.zapier\.com/hooks/catch|hook\.\w+\.make\.com)/([^\s"'<>]{20,})`)},
	{need: "/hooks/", re: lazyre.New(`/hooks/([a-z0-9]{26})\b`), ok: hasDigit}, // Mattermost
	{need: "key=|auth=|jwt=", near: "?&", re: lazyre.New(`[?&](?:key|auth|jwt)=([\w-]{20,})`), ok: hasDigit},
	{need: ":A", re: lazyre.New(`(?:^|[^A-Za-z0-9]|bot)\d{5,16}:(A[\w-]{34})`)},                                                       // Telegram
	{need: "0:|1:|2:|3:|4:|5:|6:|7:|8:|9:", re: lazyre.New(`(?:^|[^A-Za-z0-9]|bot)\d{8,10}:([\w-]{35})(?:[^\w-]|$)`), ok: isDrawnKey}, // one that begins with another letter
	{need: "|", re: lazyre.New(`\b\d{13,17}\|([\w-]{27})(?:[^\w-]|$)`), ok: isRandom},                                                 // Facebook
	{need: "Q~", re: lazyre.New(edge + `([\w~.]{3}\dQ~[\w~.-]{31,34})`)},
	{need: ".atlasv1.", re: lazyre.New(edge + `(\w{14}\.atlasv1\.[\w=-]{40,})`)},
	{need: "A3-", re: lazyre.New(edge + `A3-([A-Z0-9]{6}(?:-[A-Z0-9]{5,11}){4,5})`)}, // 1Password
	{need: "pat", re: lazyre.New(edge + `pat(\w{14}\.[a-f0-9]{64})`)},                // Airtable
	{need: "at.", re: lazyre.New(edge + `[ps]at\.([\w-]{22}\.\w{24}\.\w{20})`)},      // Harness
	{need: ".acc", re: lazyre.New(edge + `(?:sc|ext|scauth|authress)_([\w-]{5,30}\.\w{4,6}\.acc[\w-]{10,40}\.[\w+/=-]{30,})`)},
	{need: "_mmk", re: lazyre.New(edge + `(\w{6}_\w{29}_mmk)`)},
	{need: "s.", re: lazyre.New(edge + `s\.([A-Za-z0-9]{24})\b`), ok: hasDigit},                                  // Vault before 1.10
	{need: "-us", re: lazyre.New(`\b([0-9a-f]{32}-us\d{1,2})\b`)},                                                // Mailchimp
	{need: "auth", re: lazyre.New(`\b_?auth\\?["']?\s*[:=]\s*\\?["']?([A-Za-z0-9+/]{16,}={0,2})`), ok: isRandom}, // Docker, npm
	{need: "_auth", re: lazyre.New(`(?:^|[\s:"'(])_auth\s*=\s*([A-Za-z0-9+/]{8,}={0,2})`), ok: isRandom},         // npm, cut short
	{need: "login(", re: lazyre.New(`login\(\s*(?:\w+\s*=\s*)?["']([^"']{16,})["']`)},
	{need: "login", re: lazyre.New(`\bwandb\W{1,4}login\b[^|;&\n]*?[\s"'](?:local-)?(\w[\w+/=-]{31,})`)},
	{need: "hexkey:", re: lazyre.New(`\bhexkey:(\w{16,})`)},                                          // OpenSSL
	{need: "MAGIC-COOKIE", re: lazyre.New(`\bMIT-MAGIC-COOKIE-1["',\s]+([0-9a-f]{32})\b`)},           // X11
	{need: "AC", re: lazyre.New(`\bAC[0-9a-f]{32}["']?[:,]\s*["']?([0-9a-f]{32})\b`)},                // Twilio's, behind the account
	{need: "SecretStr(|SecretBytes(", re: lazyre.New(`\bSecret(?:Str|Bytes)\(b?\\*["']([^"'\\*]+)`)}, // Pydantic
	{need: "pass:", re: lazyre.New(`-pass(?:in|out|word)?[\s"',=]+pass:([^\s"',]+)`)},
	{need: "api.day.app/|ftqq.com/|push.ft07.com/|qmsg.zendee.cn/|hc-ping.com/", re: lazyre.New(`(?:api\.day\.app|sctapi\.ftqq\.com|(?:push\.ft07\.com|qmsg\.zendee\.cn)/send|hc-ping\.com)/([\w-]{20,})`)}, // Bark, ServerChan, Qmsg, Healthchecks
	{need: "TRUE|FALSE", re: lazyre.New(`\s(?:TRUE|FALSE)\s/\S*\s(?:TRUE|FALSE)\s\d+\s\S+\s(\S{6,})`)},                                                                                                      // a file of cookies
	{need: "/t/", re: lazyre.New(`/t/([\w-]{20,})/`), ok: hasDigit},                                                                                                                                         // Anaconda
	{need: ".infura.io/|.alchemy.com/|.alchemyapi.io/", re: lazyre.New(`\.(?:infura|alchemy|alchemyapi)\.(?:io|com)/(?:\w+/)?v\d/([\w-]{20,})`)},
	{need: ".quiknode.pro/", re: lazyre.New(`\.quiknode\.pro/([0-9a-f]{32,})`)},
	{need: "hmac.new(", re: lazyre.New(`\bhmac\.new\(\s*(?:key\s*=\s*)?b?["']([^"']+)`)},
	{need: "with/key/", re: lazyre.New(`with/key/([\w-]{20,})`)}, // IFTTT
	{need: "account.key", re: lazyre.New(`\baccount\.key[\w.-]*[\s=:]+([^\s"']{8,})`)},
	{need: "sqlplus|sqlldr|expdp|impdp|rman|jdbc:oracle|SQL> ", near: "/:", re: lazyre.New(`(?:\b(?:sqlplus|sqlldr|expdp|impdp|rman)\s+|\bSQL> (?i:conn\w*) |\bjdbc:oracle:\w+:)\w+/([^\s@/"']+)@`)},
	{need: "@tcp(|@unix(", near: ":", re: lazyre.New(`(?:^|[\s"'=])[\w.-]+:([^\s"'/@:]+)@(?:tcp|unix)\(`)}, // Go's driver of MySQL
	{need: "proxy", near: "@", re: lazyre.New(`_proxy["']?\s*[=:]\s*["']?[\w.-]+:([^\s"'/@]+)@`)},
	{need: "AUTH", near: "/:", re: lazyre.New(`_AUTH=\w+[/:](\S+)`)},
	{need: "AUTH ", re: lazyre.New(`\bAUTH (?:PLAIN |LOGIN )([A-Za-z0-9+/]{8,}=*)`)},
	{need: "> AUTH|> PASS|C: AUTH|C: PASS", re: lazyre.New(`(?:>|C:) (?:AUTH|PASS) (\S+)$`)}, // a client of Redis, of FTP
	{need: "SETUSER", re: lazyre.New(`\bACL SETUSER\s.*?\s>(\S+)`)},
	{need: "asic auth|ogin with|redentials", near: ":", re: lazyre.New(`(?i)\b(?:basic auth|login with|credentials):?\s+["']?[\w.@-]+:([^\s"',)]{6,})`), ok: hasLetterAndDigit},
	{need: "<(echo|<(printf", re: lazyre.New(`pass[^|\n]*<\((?:echo|printf)\s+(?:-\w+\s+)*["']?([^)"'\s]+)`)},
	{need: "auth|creds", re: lazyre.New(`[\s"']--?[\w-]*(?:auth|creds)["',]*[\s=]+["']?[\w.@-]+:([^\s"',/:][^\s"',]*)`)},
	{need: " -a | -u ", near: ":", re: lazyre.New(`(?:^|[\s"'])(?:https?|ftp)\s[^|;&\n]*?-[au]\s+["']?[\w.@-]+:([^\s"']+)`)},
	{need: "ftp", near: ",", re: lazyre.New(`\blftp\b.*?\s-u\s*["']?[^\s"',]+,([^\s"']+)`)},
	{need: "curl", re: lazyre.New(`\bcurl\b[^|;&\n]*?\s--cert[\s=]+["']?[^\s"':]+:([^\s"']+)`)},
	{need: "auth|Auth|AUTH|login|redential", near: `"'`, re: lazyre.New(`(?i)(?:auth|login|credentials?)["']?\s*[=:]?\s*\[?\(\s*["'][^"']*["']\s*,\s*["']([^"']+)["']`)},
	{need: "assword(|ASSWORD(|asswd(", near: `"'`, re: lazyre.New(`(?i)passw(?:or)?d\(\s*(?:["'][^"']*["']\s*,\s*)*["']([^"']+)["']`)},
	{need: "connect(", near: `"'`, re: lazyre.New(`\bconnect\(\s*["'][^"']*["']\s*,\s*["']([^"']*["']\s*,\s*["'][^"']+)["']`)}, // MySQL and Oracle
	{need: "BUNDLE_", near: ":", re: lazyre.New(`\bBUNDLE_\w+__\w+["']?\s*(?:[.=:]|=>)+\s*["']?([^\s"':]+:[^\s"']+)`)},         // a server of gems
	{need: " key ", named: true, ok: isIssued, re: lazyre.New(`\b([\w-]+)\s+key` + announced)},
	{need: "key |Key |KEY |key: ", named: true, veto: "ache", ok: isHexKey, re: lazyre.New(`(?i)\b((?:[\w-]+\s+)?key)` + announced)}, // no cache's
	{need: "comet_ml.", re: lazyre.New(`\bcomet_ml\.\w+\(\s*["'](\w{25,})`)},
	{need: "dentified |DENTIFIED |assword |ASSWORD |, SECRET '", near: "'", re: lazyre.New(`(?i)(?:\b(?:identified(?: with \S+)? by|password(?: for \S+ =)?)|(?-i:, SECRET))\s+'([^']+)'`)}, // SQL
	{need: "DENTIFIED ", re: lazyre.New(`\bIDENTIFIED BY "?([^\s'";]+)`), ok: hasLetterAndDigit},                                                                                            // Oracle
	{need: "-literal", re: lazyre.New(`--from-literal[\s=]+["']?[^\s=]+=([^\s"']+)`)},
	{need: "-mask::", re: lazyre.New(`::add-mask::(\S+)`)},
	{need: "issecret=true", re: lazyre.New(`issecret=true[^\]\n]*\](\S+)`)},
	{need: "echo |printf ", re: lazyre.New(`\b(?:echo|printf)\s+(?:-\w+\s+)*["']?([^|"'\n]*[^\s|"'\n])["']?\s*\|[^|\n]*` + fromInput)},
	{need: "<<<", re: lazyre.New(`(?:(?i:password|passphrase|token|secret)\b|` + fromInput + `)[^|\n]*<<<\s*["']?([^\s"',][^\s"']*)`)},
	{need: "htpasswd", re: lazyre.New(`\bhtpasswd\b(?:\s+-\w+)*\s+-\w*b\w*(?:\s+[^\s"'\\|;&(]+)*\s+["']?([^\s"'\\|;&(-][^\s"'\\|;&]*)`)},
	{need: "mc |rclone|vault login|wpa_pass|rabbitmqctl|reset-admin|authtoken|net use|bindpw|requirepass|masterauth|pulumi |poetry |mkpasswd", re: lazyre.New(`\b(?:mc (?:alias set|config host add) \S+ \S+ \S+|rclone obscure|vault login|wpa_passphrase \S+|rabbitmqctl (?:add_user|change_password) \S+|` +
		`reset-admin-password|(?:add-)?authtoken|net use [^\s"']+(?: [^\s"']+)* /user:[^\s"']+|net use (?:\w: )?\\\\\S+|net user \w+|pulumi config set --secret \S+|poetry config http-basic\.\S+ \S+|mkpasswd(?: -\w \S+)*|bindpw|requirepass|masterauth)["']* ["']?([^\s=/"'(-][^\s="']*)(?:[\s"']|$)`)},
	{need: "assword |ASSWORD |ass phrase:|assphrase ", re: lazyre.New(`(?i)\bpass(?:word| ?phrase)(?:(?: is generated)? for(?: key)? (?:'[^']*'|"[^"]*"|[^\s:]+))?:\s+["']?([^\s"'(<\[{][^\s"']{3,})`)},
	{need: "assword |ASSWORD |assword\t|assphrase ", re: lazyre.New(`(?i)\bpass(?:word|phrase)(?:\s+(?:for(?: user)? \S+|is|was|has been|set|changed|reset|to))*:?\s+["']?([^\s"'<>|]{6,})`), ok: hasLetterAndDigit},
	{need: "oken |OKEN |auth |Auth |AUTH |redentials |pat |PAT |login ", re: lazyre.New(`(?i)\b(?:token|auth|credentials|pat|login)` + announced), ok: isAnnounced},
	{need: "key |Key |KEY |key] |KEY] |pass |PASS |pwd |PWD |creds |CREDS ", re: lazyre.New(`(?i)\b(?:key|pass|pwd|creds)\]?` + announced), ok: isDrawnWord},
	{
		need: "PI key|pi key|PI Key|piKey |pikey |ccess key|ccess token|uth token|PI token|earer token|ecret |ogged in|ogging in", re: lazyre.New(`(?i)\b(?:(?:api|access|secret)[ -]?key|(?:api|access|auth|bearer) token|secret|logg(?:ed|ging) in [^.:;\n]*?\bkey)` + announced),
		ok: func(s string) bool { return isIssued(s) || isRun(s) && hasLetterAndDigit(s) },
	},
	{need: "str|String", near: "=", named: true, re: lazyre.New(`\b(\w+): [\w.|\[\] ]*\b(?:str|[sS]tring|SecretStr)\b[\w.|\[\] ]*=\s*(?:\w+\((?:default=)?)?\\*["']([^"'\\]+)`)}, // a parameter with its type
	{need: "process ", re: lazyre.New(`\bprocess \d+ \(([^\s()]{15})\)`), ok: isCut},
	{need: "SHA", re: lazyre.New(`\{S?SHA\d*\}([A-Za-z0-9+/]{20,}={0,2})`)}, // Apache's .htpasswd, LDAP
	{need: "密|令牌|口令|パスワード|비밀번호|пароль|Пароль|ontraseña|ot de passe", re: lazyre.New(`(?:密码|密钥|密碼|访问令牌|口令|パスワード|비밀번호|[пП]ароль|[cC]ontraseña|[mM]ot de passe)\s*[:：=是为]\s*["']?([^\s"'，。]{4,})`)},
	{need: "令牌", re: lazyre.New(`令牌\s*[:：=是为]\s*["']?([^\s"'，。]{8,})`), ok: hasLetterAndDigit},
	{need: "wd={|WD={|assword={|ASSWORD={", re: lazyre.New(`(?i)\b(?:pwd|password)=\{([^{}\s]+)\}`), ok: hasLetterAndDigit},                                                                                                                             // ODBC
	{need: "<string>|<td>|key=\"|name=\"", near: "<", named: true, re: lazyre.New(`(?:<(?:key|t[dh])>|\b(?:key|name)=\\*")([\w.-]+)(?:</\w+>\s*<\w+>|\\*">)([^<]+)</`)},                                                                                 // a property list, a table, Java's properties
	{need: "</", named: true, re: lazyre.New(`<(?:[\w-]+:)?([\w.-]+)(?:\s[^<>]*)?>` + gap + `(?:<!\[CDATA\[` + gap + `)?([^<]*[^<\s\]\\])` + gap + `(?:\]\]>` + gap + `)?</`)},                                                                          // an element of XML
	{need: "<value|<Value|<string", named: true, re: lazyre.New(`(?:<(?:name|key)>` + gap + `|\b[nN]ame=\\*")([\w.-]+)(?:` + gap + `</(?:name|key)>|\\*">)` + gap + `<(?:value|Value|string)>` + gap + `([^<]*[^<\s\\])` + gap + `</`)},                 // and beside one with its name
	{need: "name=\"", near: "\n\\", named: true, ok: isNoAttribute, re: lazyre.New(`\bname="([\w.-]+)"(?:\s|\\+[rn])+([^\s"\\]{4,})`)},                                                                                                                  // a form
	{need: "_KEY |_TOKEN |_SECRET |-Key |_key |_token |_secret |_KEY,|_TOKEN,|_KEY;|_TOKEN;", named: true, ok: isColumn, re: lazyre.New(`([\w-]+[_-](?:KEY|TOKEN|SECRET|[Kk]ey|token|secret))[ ,;]["']?([^\s"':|,;()<>]{12,})`)},                        // a column, a line of CSV
	{need: "***", re: lazyre.New(`\*\*\*(?:(?:::\w+)?[:, ]|\\*["'], ?\\*["'])([^\s"',:@\\()]{16,})`), ok: isIssuedOrBase64},                                                                                                                             // the secret behind its id
	{need: "***\\\" ->|***\" ->", re: lazyre.New(`\*\*\*\\*" -> \\*"([^"\\]+)`)},                                                                                                                                                                        // Terraform's plan
	{need: "***", re: lazyre.New(`(?:\*\*\*[\w.-]{0,7}[\s\\n]+){2}([^\s*\\"'$]{8,})`), ok: isRandom},                                                                                                                                                    // the next part of a wrapped one
	{need: "***", re: lazyre.New(`\*\*\*[_.-]+([\w-]{8,})`), ok: isLeft},                                                                                                                                                                                // the end of one
	{need: "PI key|pi key|PI Key|ccess key|ccess Key|ccess token|our token", near: ":", re: lazyre.New(`(?i)\b(?:(?:api|access) key|(?:access|your) token)\b[^:\n]{0,80}: ["']?([^\s"'()<>]{20,})`), ok: isIssued},                                      // a prompt
	{need: "[-|, -", near: "]", named: true, re: lazyre.New(`[\[,] ?(--?[\w-]+), ([^\s"',\]]+)`)},                                                                                                                                                       // a list without quotes
	{need: "KEY  |TOKEN  |PASSWORD  |SECRET  |AUTH  |key  |token  |password  |secret  |auth  |KEY\t|TOKEN\t|PASSWORD\t|SECRET\t|key\t|token\t|password\t|secret\t", named: true, ok: isMixed, re: lazyre.New(`([\w.-]+)(?: {2,}|\t+)([^\s"'=:|]{8,})`)}, // a table without rules
	{need: "cHJpdmF0ZV9r|ByaXZhdGVfa2V5|wcml2YXRlX2tle", re: lazyre.New(`([\w+/=-]*(?:cHJpdmF0ZV9r|ByaXZhdGVfa2V5|wcml2YXRlX2tle)[\w+/=-]*)`)},                                                                                                          // private_key in Base64, at each offset
	{need: "value=|value:|Value:|value\"|value'|<value|val=|val:|val\"|val'", named: true, re: lazyre.New(`(?:[Nn]ame|\bkey)["']?\s*[=:>]\s*["']?([\w.-]+)["']?(?:</name>)?(?:[\s,]|\\+n)*["']?<?[Vv]al(?:ue)?["']?\s*[=:>]\s*\\*["']?([^\s"',}<]+)`)},
	{need: "value=|value:|value\"|value'", named: true, swapped: true, re: lazyre.New(`\bvalue["']?\s*[=:]\s*["']([^"']+)["']\s*,\s*["']?(?:name|key)["']?\s*[=:]\s*["']([\w.-]+)`)},
	{need: `', |", |','|","|\`, named: true, ok: hasLetterAndDigit, re: lazyre.New(`b?\\*["']([\w-]+)\\*["'], ?b?\\*["']([^"'\\]{8,})\\*["']`)}, // a header, or another pair
	{need: "(str)|(string)", named: true, re: lazyre.New(`([\w.-]+)\s+\((?:str|string)\)\s*[:=]\s*["']?([^\s"']+)`)},                            // a listing of settings with their types
	{need: " set |set -|set_header |setx |setenv |modify ", named: true, re: lazyre.New(`\b(?:set|proxy_set_header|setx|setenv|modify)\b[^|;&\n]*?\s(?://\S*:)?(\w[\w.-]*(?i:key|token|secret|pass|password|pat))\s+(?:--body[ =]|-b)?["']?([^\s=|"'\\$-][^\s=|"'\\]*)(?:[\s"'\\]|$)`)},
	{need: " '| \"| \\", near: "_s", named: true, ok: hasLetterAndDigit, re: lazyre.New(`\b(\w+_\w+|password)(?:[^:\n"']{0,80}\b(?:got|found|received))?:? \\*["']([^\s"'\\]{6,})["'\\]`)},
	{need: "input_value=", named: true, re: lazyre.New(`([\w.-]+)(?:\\+n|\n) +[^\n\\]*\[type=\w+, input_value=\\*["']([^"'\\]+)`)}, // a model of Pydantic
	{need: "desc: ", named: true, re: lazyre.New(`([\w.-]+):(?:\\+n|\n) +desc: [^\n\\]*(?:\\+n|\n) +value: ["']?([^\s"'\\]+)`)},    // W&B's config.yaml
	{need: "To-SecureString", re: lazyre.New(`ConvertTo-SecureString\W+(?:String\W+)?([^\s"']+)`)},
	{need: "ENV ", named: true, re: lazyre.New(`\bENV\s+(\w+)\s+(\S+)`)},
}, options(
	"-p", "az certutil cqlsh cypher-shell beeline login mariadb mongo mongodump mongosh mysql mysqladmin mysqldump ncftpget ncftpput psexec altool rabbitmqadmin racadm rdesktop "+
		"sshpass twine unlock-keychain unrar useradd usermod winrs 7z 7za",
	"/p", `\w*freerdp\w* schtasks signtool`, "/rp", "schtasks", "-P", "bcp ipmitool mosquitto_pub mosquitto_sub ssh-keygen sqlcmd unzip zip", "-N", "ssh-keygen",
	"-hp", "rar", "-pw", "plink pscp psftp", "-k", "ipmitool obsutil openssl ossutil ossutil64 prefect swanlab tosutil", "-K", "openssl", "-hmac", "openssl", "-y", "ipmitool", "-s", "coscmd ldappasswd", "-w", `ldap\w+`, "-a", "redis-cli",
	"-b", "curl", "--pass", "curl redis-cli", "-u", "curl", "--user", "curl etcdctl", "-U", "curl smbclient", "--proxy-user", "curl", "-A", `snmp\w+`, "-X", `snmp\w+`, "-c", `snmp\w+`, "-t", "doctl glab influx", "--value", "keyvault put-parameter",
))

// claims are the first bytes of a part of a JSON Web Token in Base64, behind those of {": the names of RFC 7519 and of RFC 7515.
const claims = `hbGci|0eXAi|raWQi|pc3Mi|zdWIi|hdWQi|leHAi|uYmYi|pYXQi|qdGki`

// gap matches white space between elements of XML, as it is or escaped.
const gap = `(?:\s|\\+[rnt])*`

// announced matches a credential behind the word of a sentence that names it, up to the end of a word.
const announced = "[\"'`*”’]*(?:\\s+(?:is|was|has been|set|changed|to|provided|found|value))*:?\\s+[(\"'`]*([^\\s\"'`<>\\\\,;()]{7,}[^\\s\"'`<>|\\\\.,;:()])(?:[.:]?[\\s\"'`\\\\,;:!?)>]|\\.?$)"

// fromInput are programs, and options of programs, that read a password from standard input.
const fromInput = `(?:\bsudo\b[^|\n]*\s-\w*S\b|--password-stdin|passwd\s+(?:\S+\s+)?--stdin|--with-token|--passphrase-fd|\b(?:chpasswd|kinit|wandb login|ssh-add|su|password_stdin|gcloud secrets|cryptsetup|vncpasswd|openconnect)\b)`

// options returns shapes for a flag and the programs whose credential it takes, attached, behind a colon or as the next argument. A
// short number is a port.
func options(flagAndPrograms ...string) (list []shape) {
	for pair := range slices.Chunk(flagAndPrograms, 2) {
		flag, between := pair[0], `[\s:=]+["']?`
		need := strings.NewReplacer(" ", "|", `\w*`, "", `\w+`, "").Replace(pair[1])
		switch flag {
		case "-p", "-hp", "-P", "-u":
			between = `[\s:=]*["']?`
		}
		if flag == "-u" {
			flag = `-[a-zA-Z]*u`
		}
		list = append(list, shape{
			need: need, ok: func(s string) bool { return len(s) > len("65535") || strings.Trim(s, digits) != "" },
			re: lazyre.New(`\b(?:` + strings.ReplaceAll(pair[1], " ", "|") + `)\b(?:[^|;&\n]|\\\n)*?[\s"']` + flag + between + `([^\s"',:]+["']?:["'][^"']+|[^\s"',]{3,})`),
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
	{plain, 10, false, "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ rzp_live_ rzp_test_"},
	{any64, 1, false, "bce-v3/ALTAK-"},
	{plain, 8, false, "AGE-SECRET-KEY-"},
	{plain, 12, false, "LTAI FLWSECK_TEST-"},
	{plain, 16, false, "endr+ AKIA ASIA ABIA ACCA A3T sm_pat_ sm_aat_ sm_sat_"},
	{plain, 19, false, "NRJS- NRBR-"},
	{plain, 20, false, "whsec_ gsk_ fw_ KGAT_ ak- as- NRAK- bedrock-api-key- sk_car_ STS.N"},
	{plain, 24, false, "hf_ api_org_ esecret_"},
	{plain, 26, false, "API-"},
	{plain, 28, false, "AKID aio_"},
	{plain, 30, false, "ghp_ gho_ ghu_ ghs_ ghr_ r8_ pplx- xai- rpa_ sntryu_ lin_api_ csk- flp_ bb_pr_ bb_ma_ ddp_ ddw_"},
	{plain, 32, false, "sk_ key- SK dapi shpat_ shpca_ shppa_ shpss_ p8e- ico- _gitlab_session= FLWPUBK_TEST- jina_ ATBB squ_ sqp_ sqa_"},
	{plain, 36, false, "npm_ pnu_ nfp_ phx_ apify_api_"},
	{plain, 38, false, "4b1d"},
	{plain, 40, false, "rubygems_ dop_v1_ doo_v1_ dor_v1_ pul- ntn_ secret_ dp.pt. dp.ct. dp.sa. cfk_ cfut_ cfat_ rootly_ napi_ sbp_ shippo_live_ shippo_test_ e2b_ dtn_ bkua_ AKLT"},
	{plain, 50, false, "EZAK EZTK"},
	{plain, 55, false, "cmVmd GOOG1"},
	{plain, 60, false, "AKCp rdme_ CLOJARS_ s-s4t2ud- s-s4t2af- EAAC EAAM"},
	{plain, 32, true, "fc- live_"},
	{plain, 55, true, "SUA SAA SOA SEC"},  // seeds of NATS, secrets of DingTalk
	{any64, 20, false, "b3BlbnNzaC1rZXk"}, // a private key of OpenSSH, without its first line
	{wordy, 8, false, "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs-"},
	{wordy, 20, false, "github_pat_ gldt- glptt- glcbt- glft- glffct- glimt- glsoat- glagent- gloas- GR1348941 dckr_pat_ dckr_oat_"},
	{wordy, 20, true, "pypi-AgE wandb_v1_ nvapi- sk- tgp_v1_ lsv2_ pcsk_ tvly- GOCSPX- xapp- hvs. hvb. NRII- NRIQ- tskey- " +
		"sq0atp- sb_secret_ FLWSECK EAAA"},
	{wordy, 36, true, "ms- xaat- xapt- CCIPAT_ CCIPRJ_ pat-na1- pat-eu1- access-sandbox- access-development- access-production-"},
	{wordy, 30, true, "re_ AIza 1//0 glsa_ figd_"},
	{wordy, 35, true, "AQVN"},
	{wordy, 40, true, "pa- xkeysib- HRKU-AA PMAK- fo1_ sha256~ sgp_ tk-us- v1.0- dnkey- figp_ CFPAT- aph0_"},
	{dots, 10, true, "xoxe."},
	{dots, 20, false, "glpat- glrt-"},
	{dots, 20, true, "ya29. AQ.Ab"},
	{dots, 40, true, "SG. dp.st. dt0c01. tfp_ ATATT3 ATCTT3"},
	{dots, 60, true, "fio-u-"},
	{dots, 40, false, "duffel_live_ duffel_test_"},
	{any64, 30, false, "pscale_tkn_ pscale_oauth_ pscale_pw_"},
	{dots, 80, true, "t1.9eu sl."},
	{any64, 30, true, "glc_ sntrys_ ZXlK"},
	{any64, 40, true, "MII ops_eyJ fm1a_ fm1r_ fm2_ bce-v3/"},
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

// issuedIn finds credentials with an issuer's prefix.
func issuedIn(text string) (spans []span) {
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf || byFirst[text[i]] == nil || !wordBegins(text, i) {
			continue
		}
		if n := issuedLength(text[i:]); n > 0 {
			spans = append(spans, span{i, i + n})
			i += n - 1
		}
	}
	return spans
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

// isAnnounced reports whether a word behind "token", which may be one of a model, is a credential: letters and digits drawn at random.
func isAnnounced(word string) bool {
	changes, numbers := classes(word)
	return isIssued(word) || isRun(word) && !strings.HasPrefix(word, "0x") && (numbers > 1 || numbers > 0 && changes*100 >= len(word)*45)
}

// isDrawnWord reports whether a word behind "key", which may be one of a cache or of code, is a credential: drawn at random, and no hash.
func isDrawnWord(word string) bool {
	const least = 12
	return len(word) >= 2*least && isDrawnWithSigns(word) || slices.ContainsFunc(strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune(any64, r) }), func(part string) bool {
		_, numbers := classes(part)
		return len(part) >= least && !isHex(part) && (numbers >= 3 && isRun(part) || hasDigit(part) && isDrawn(part, 45) || isDrawn(part, 60))
	})
}

// isHexKey accepts a key of 128 bits or more in hexadecimal.
func isHexKey(s string) bool { return len(s) >= 32 && isHex(s) && hasLetterAndDigit(s) }

func isHex(s string) bool { return strings.Trim(s, digits+"abcdefABCDEF") == "" }

func isAlnum(c byte) bool { return c != '_' && ascii.IsWord(c) }

// edge matches before a key. Underscores separate words, as for wordBegins.
const edge = `(?:^|[^A-Za-z0-9])`

// shape is a form of credential. Its expression is tried on texts that contain one of the words of need, which | separates, and,
// unless near is empty, one of the bytes of near.
type shape struct {
	need string
	near string
	veto string                // no text with it has the credential
	re   func() *regexp.Regexp // compiled on first use
	ok   func(string) bool     // checks a match; nil: all are accepted

	words []literal.Word // of need
	named bool           // the last group but one is a name, which must be a credential's

	swapped bool // with named: the name is the last group
}

// isIssuedOrBase64 accepts a secret key of AWS without digits too.
func isIssuedOrBase64(s string) bool {
	return isIssued(s) || len(s) >= minParts && isDrawn(strings.NewReplacer("+", "", "/", "", "=", "").Replace(s), 45)
}

// isBasic accepts a name and a password of HTTP's basic authentication without digits too: they are Base64 of text with a colon. Source:
// RFC 7617.
func isBasic(s string) bool {
	plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	return isRandom(s) || err == nil && bytes.IndexByte(plain, ':') > 0 && !bytes.ContainsFunc(plain, func(r rune) bool { return !unicode.IsPrint(r) })
}

// isDrawnKey accepts a key in the alphabet of Base64 for URLs.
func isDrawnKey(s string) bool { return isDrawn64(s, 2, 40) }

func isRandomOrIssued(s string) bool { return isRandom(s) || isIssued(s) }

// isNoAttribute rejects the beginning of the next attribute of an element.
func isNoAttribute(s string) bool { return !strings.HasSuffix(s, "=") }

// isMixed accepts a password without digits too.
func isMixed(s string) bool { return hasLetterAndDigit(s) || len(s) >= 16 && isDrawn(s, 30) }

// isLeft reports whether what follows a mask belongs to the credential.
func isLeft(s string) bool { return isDrawn64(s, 1, 30) }

func hasDigit(s string) bool { return strings.ContainsAny(s, digits) }

func hasLetter(s string) bool { return strings.ToLower(s) != strings.ToUpper(s) }

func hasLetterAndDigit(s string) bool {
	return hasDigit(s) && strings.ToLower(s)+strings.ToUpper(s) != s+s
}

// isNeeded reports whether an expression is tried on a text with these pairs.
func (x *shape) isNeeded(text string, p *literal.Pairs) bool {
	for i := range x.words {
		if w := &x.words[i]; p.Have(w) && strings.Contains(text, w.Text) {
			return (x.near == "" || strings.ContainsAny(text, x.near)) && (x.veto == "" || !strings.Contains(text, x.veto))
		}
	}
	return false
}

func init() {
	for i := range shapes {
		shapes[i].words = literal.Words(strings.Split(shapes[i].need, "|")...)
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
	const length = 36
	if len(s) < length || !hasDigit(s) {
		return false
	}
	s = s[len(s)-length:]
	return strings.Count(s, "-") == 4 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-'
}

// isKeyLike reports whether s is random, ends in a UUID, is longer than a word or has a long part with a digit or both cases.
func isKeyLike(s string) bool {
	return isRandom(s) || hasUUID(s) || len(s) >= minParts && isRun(s) || slices.ContainsFunc(strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(any64, r) }), func(part string) bool {
		return len(part) >= minRun && (hasDigit(part) || strings.ToLower(part) != part && strings.ToUpper(part) != part)
	})
}
