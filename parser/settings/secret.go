package settings

import "strings"

// masked stands for the value of a secret.
const masked = "***"

// secretTokens are the words that make "<word>_token" a credential; eos_token and pad_token are none.
var secretTokens = []string{
	"", "api", "access", "auth", "bearer", "hf", "hub", "hugging_face", "huggingface", "secret", "refresh", "session",
	"wandb", "github", "gitlab", "git", "id", "personal_access", "push_to_hub", "use_auth", "security", "ci_job",
}

// secretKeys are the same for "<word>_key"; prompt_key and image_key are none.
var secretKeys = []string{
	"api", "access", "secret", "private", "account", "license", "ssh", "encryption", "auth", "wandb", "openai",
	"anthropic", "signing", "service", "storage",
}

var secretParts = []string{
	"password", "passwd", "passphrase", "secret", "credential", "apikey", "api_key", "access_key", "private_key",
}

// secretShapes are what issued credentials begin with, and how many bytes of key material follow at least.
var secretShapes = []struct {
	prefix string
	rest   int
}{
	{"hf_", 24},
	{"sk-", 20},
	{"ghp_", 30},
	{"gho_", 30},
	{"github_pat_", 20},
	{"glpat-", 20},
	{"AKIA", 16},
	{"ASIA", 16},
	{"xoxb-", 20},
	{"eyJhbGciOi", 20},
}

// secret reports whether a setting's value must not leave the log.
func secret(key, value string) bool {
	switch value {
	case "", "None", "null", "True", "False", "true", "false", "[]", "{}":
		return false
	}
	return secretKey(key) || secretValue(value)
}

func secretKey(key string) bool {
	last := strings.TrimLeft(key[strings.LastIndexByte(key, '.')+1:], "-+")
	upper := last == strings.ToUpper(last)
	last = strings.ReplaceAll(strings.ToLower(last), "-", "_")
	for _, p := range secretParts {
		if strings.Contains(last, p) {
			return true
		}
	}
	if word, ok := lastWord(last, "token"); ok {
		return upper || endsWithAny(word, secretTokens)
	}
	if word, ok := lastWord(last, "key"); ok && word != "" {
		return upper || endsWithAny(word, secretKeys)
	}
	return strings.HasPrefix(last, "aws_") && strings.Contains(last, "key")
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

// secretValue reports whether a text holds a credential: a known shape, a URL with a password, or a nested container
// with a secret key in it.
func secretValue(value string) bool {
	for _, s := range secretShapes {
		for rest := value; ; {
			i := strings.Index(rest, s.prefix)
			if i < 0 {
				break
			}
			rest = rest[i+len(s.prefix):]
			if keyMaterial(rest) >= s.rest {
				return true
			}
		}
	}
	if _, rest, ok := strings.Cut(value, "://"); ok {
		if host, _, ok := strings.Cut(rest, "@"); ok && strings.Contains(host, ":") && !strings.ContainsAny(host, "/ ") {
			return true
		}
	}
	if strings.ContainsAny(value, "{[(=") {
		low := strings.ToLower(value)
		for _, p := range append(secretParts[:len(secretParts):len(secretParts)], "hf_token", "auth_token", "access_token") {
			if strings.Contains(low, p) {
				return true
			}
		}
	}
	return false
}

func keyMaterial(s string) int {
	for i := range len(s) {
		if !isWord(s[i]) && s[i] != '-' {
			return i
		}
	}
	return len(s)
}
