package secret

import (
	"strings"

	"oomscan/parser/ascii"
)

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
var modelWords = []string{
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
		return endsWithAny(word, tokenWords) || upper && !endsWithAny(word, modelWords)
	}
	if word, ok := lastWord(last, "key"); ok && word != "" {
		return endsWithAny(word, keyWords) || upper && !endsWithAny(word, modelWords)
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
