package secret

import (
	"slices"
	"strings"

	"oomscan/parser/ascii"
)

// tokenWords are the words before "_token" that make it a credential, unlike in eos_token or pad_token.
var tokenWords = []string{
	"", "api", "access", "auth", "bearer", "hf", "hub", "hugging_face", "huggingface", "secret", "refresh", "session",
	"wandb", "github", "gitlab", "git", "id", "personal_access", "push_to_hub", "use_auth", "security", "ci_job", "private",
	"sas", "oauth", "deploy", "jwt", "jupyter", "runner", "webhook", "vault", "bot", "user", "service", "identity", "account", "csrf", "registry", "kubeadm", "bootstrap", "k3s",
	"server", "client", "cluster", "join", "app", "admin", "login",
}

// keyWords are the same for "_key", unlike in prompt_key or image_key.
var keyWords = []string{
	"api", "access", "secret", "private", "account", "license", "ssh", "encryption", "auth", "wandb", "openai",
	"anthropic", "signing", "service", "storage", "shared_access", "subscription", "master",
}

// modelWords are words of models' tokens and keys that occur in capitals too, but are no credentials.
var modelWords = []string{
	"eos", "bos", "pad", "unk", "sep", "cls", "mask", "image", "video", "audio", "stop", "end", "start", "next", "per", "max", "num",
	"special", "cache", "sort", "group", "partition", "prompt",
}

// keyParts are parts of a name that make it a credential's.
var keyParts = []string{
	"password", "passwd", "passphrase", "secret", "credential", "apikey", "api_key", "access_key", "accesskey", "private_key", "authorization",
	"client_key", "pass_phrase", "authtoken", "cli_auth", "private_mac", "passwort", "kennwort", "wolfram_alpha_appid", "dockerconfigjson", "pushkey",
}

// passWords are the words before "pass" that make it a credential, unlike in forward_pass.
var passWords = []string{
	"db", "user", "ssh", "mysql", "redis", "admin", "root", "smtp", "mail", "ftp", "sudo", "become", "login", "keystore",
}

// services issue keys without a prefix of their own. A name that is one of them, or ends in one, holds a key if its value looks like
// one. Services whose names are words of models, of code or of its hosts are not among them. Source: the rules of gitleaks 8.30.
var services = strings.Fields(`adafruit adobe airtable algolia alibaba artifactory asana atlassian auth0 beamer bittrex clickhouse cloudflare codecov coinbase
	confluent contentful datadog discord droneci dropbox duffel dynatrace easypost etsy facebook fastly finicity finnhub flickr flutterwave freemius
	freshbooks gitter gocardless heroku hubspot infracost intercom jfrog kraken kucoin launchdarkly linkedin looker mailchimp mailgun mapbox
	mattermost meraki messagebird netlify newrelic new_relic nytimes okta pagerduty plaid planetscale polymarket postman privateai rapidapi
	scalingo sendbird sendgrid sendinblue sentry settlemint shippo shopify sidekiq snyk sonar sonarqube sourcegraph splunk squarespace stripe
	sumologic sumo travisci trello twilio twitch twitter typeform wandb yandex zendesk`)

// about are the last words of names that describe a credential and do not hold it.
var about = []string{"file", "path", "dir", "stdin", "fd", "name", "type", "policy", "length"}

// Key reports whether a setting or variable of this name is a credential: "HF_TOKEN", "--api-key",
// "trainer.wandb_api_key", "AccountKey". The last part of a dotted name counts.
func Key(name string) bool {
	name = strings.TrimPrefix(strings.TrimSuffix(name, ".value"), "-D") // as W&B's config.yaml nests it, as Java's command line sets it
	last := strings.TrimLeft(name[strings.LastIndexByte(name, '.')+1:], "-+")
	upper := last == strings.ToUpper(last)
	if last = snake(last); endsWithAny(last, about) {
		return false
	}
	for _, p := range keyParts {
		if strings.Contains(last, p) {
			return true
		}
	}
	if word, ok := strings.CutSuffix(last, "token"); ok && endsWithAny(strings.TrimSuffix(word, "_"), tokenWords) { // identitytoken
		return true
	}
	for _, kind := range []string{"token", "key"} {
		if word, ok := strings.CutSuffix(last, kind); ok && endsWithAny(strings.TrimSuffix(word, "_"), services) {
			return true
		}
	}
	if word, ok := lastWord(last, "token"); ok {
		return upper && !endsWithAny(word, modelWords)
	}
	word, ok := lastWord(last, "key")
	if ok && word == "" {
		word = snake(strings.TrimSuffix(name, ".key")) // fs.s3a.secret.key
		word = word[strings.LastIndexByte(word, '.')+1:]
	}
	if ok && word != "" && word != "key" {
		return endsWithAny(word, keyWords) || upper && !endsWithAny(word, modelWords)
	}
	for _, p := range []string{"storepass", "keypass", "requirepass", "sshpass", "psk", "bearer", "bindpw", "sessionid", "jsessionid", "phpsessid"} {
		if _, ok := lastWord(last, p); ok {
			return true
		}
	}
	word, pass := lastWord(last, "pass")
	if pass && (upper || endsWithAny(word, passWords)) {
		return true
	}
	for _, short := range []string{"pw", "sk", "ak"} { // db_pw, VOLC_SK
		if word, ok := lastWord(last, short); ok && word != "" && (upper || short == "pw" && endsWithAny(word, passWords)) {
			return true
		}
	}
	user, pwd := lastWord(last, "pwd")
	return last == "cookie" || last == "set_cookie" || pwd && (!upper || user != "") || strings.HasPrefix(last, "aws_") && strings.Contains(last, "key")
}

// mayBeKey reports whether a setting of this name is a credential if its value looks like one: any token or key but a
// model's, what authorizes, and what has the name of a service. OpenRLHF's --use_wandb takes the key.
func mayBeKey(name string) bool {
	last := snake(strings.TrimLeft(name[strings.LastIndexByte(name, '.')+1:], "-+"))
	for _, kind := range []string{"token", "tokens", "key", "keys", "ak", "sk", "pat", "login", "jwt", "auth", "cred", "creds", "license", "hmac"} {
		if word, ok := lastWord(last, kind); ok && (word == "" || !endsWithAny(word, modelWords)) {
			return true
		}
	}
	return endsWithAny(last, services)
}

// isOfModel reports whether a blank separates a name, which is the last in text, from the word that makes it a model's: "cache key",
// unlike msg="start" key.
func isOfModel(text, name string) bool {
	before, blank := strings.CutSuffix(text[:max(0, strings.LastIndex(text, name))], " ")
	return blank && before == strings.TrimRight(before, decoration) && endsWithAny(snake(nameBefore(before)), modelWords)
}

// snake converts a name to snake case: "account_key" for "AccountKey" and "account-key".
func snake(name string) string {
	var b strings.Builder
	b.Grow(len(name) + len("___"))
	for i := range len(name) {
		if i > 0 && ascii.IsUpper(name[i]) && !ascii.IsUpper(name[i-1]) && name[i-1] != '_' && name[i-1] != '-' {
			b.WriteByte('_')
		}
		b.WriteByte(name[i])
	}
	return strings.ReplaceAll(strings.ToLower(b.String()), "-", "_")
}

// Container reports whether the text of a list or mapping contains the name of a credential.
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

// lastWord removes the given word from the end of a snake-case name. ok is false if the name has another last word.
func lastWord(name, word string) (string, bool) {
	rest, ok := strings.CutSuffix(name, word)
	if !ok || (rest != "" && !strings.HasSuffix(rest, "_")) {
		return "", false
	}
	return strings.TrimSuffix(rest, "_"), true
}

func endsWithAny(name string, words []string) bool {
	for _, w := range words {
		if at := len(name) - len(w); at == 0 && name == w || w != "" && at > 0 && name[at-1] == '_' && name[at:] == w {
			return true
		}
	}
	return false
}

// hasHead reports whether a text may have the name of a column or of a mapping with credentials.
func hasHead(text string) bool {
	return slices.ContainsFunc(heads, func(word string) bool { return strings.Contains(text, word) })
}

var heads = strings.Fields("key Key KEY oken OKEN ecret ECRET assw ASSW auth Auth AUTH ookie OOKIE cred Cred CRED")
