package memory

import (
	"strings"
	"sync"
)

// aliases lists other spellings of the beginning of a name, in lower case.
var aliases = [][2]string{
	{"meta-llama-3", "llama-3"},
	{"llama2-", "llama-2-"},
	{"llama3-", "llama-3-"},
	{"llama3.", "llama-3."},
	{"qwen2.5-coder-", "qwen2.5-"},
	{"qwen2.5-math-", "qwen2.5-"},
	{"qwen2_5-", "qwen2.5-"},
	{"qwen2-5-", "qwen2.5-"},
	{"qwen2-math-", "qwen2-"},
	{"qwen2p5-", "qwen2.5-"},
	{"deepseek-r1-0528-qwen3-", "qwen3-"}, // distilled into it
	{"vicuna-7b", "llama-7b"},
	{"vicuna-13b", "llama-13b"},
	{"open_llama_7b", "llama-7b"},
	{"open_llama_13b", "llama-13b"},
	{"zephyr-7b", "mistral-7b"},
	{"dialogpt-small", "gpt2"},
	{"dialogpt-", "gpt2-"},
	{"bloomz-", "bloom-"},
	{"dolly-v2-3b", "pythia-2.8b"},
	{"dolly-v2-7b", "pythia-6.9b"},
	{"dolly-v2-12b", "pythia-12b"},
	{"yi-1.5-", "yi-"},
	{"smollm-", "smollm2-"},
	{"deepseek-math-7b", "deepseek-llm-7b"},
	{"codegemma-", "gemma-"},
	{"phi-3.5-mini", "phi-3-mini"},
	{"phi-3-mini-4k", "phi-3-mini"},
	{"phi-3-mini-128k", "phi-3-mini"},
}

// KnownModel returns the sizes of the model in a name or path: "Qwen/Qwen2.5-7B-Instruct", a folder, or the hub's cache
// ("models--Qwen--Qwen2.5-7B/snapshots/..."). Fine-tuned models keep the name, with additions before or after it, and the
// sizes. The longest matching name wins. It returns false for names that change sizes.
func KnownModel(name string) (Model, bool) {
	const most = 512
	if len(name) > most {
		name = name[len(name)-most:]
	}
	low := strings.ToLower(strings.Trim(strings.TrimSpace(name), "/'\""))
	low = strings.ReplaceAll(low, "___", ".") // ModelScope's name for a dot
	if i := strings.LastIndex(low, "models--"); i >= 0 {
		low, _, _ = strings.Cut(low[i+len("models--"):], "/")
		low = low[strings.LastIndex(low, "--")+1:]
	}
	for part := range strings.SplitSeq(low, "/") {
		if strings.Contains(part, "pruned") || strings.Contains(part, "draft") || strings.Contains(part, "eagle") {
			return Model{}, false
		}
	}
	parts := strings.Split(low, "/")
	for i := len(parts) - 1; i >= 0; i-- {
		if m, ok := named(parts[i]); ok {
			return m, true
		}
	}
	return Model{}, false
}

// lowerNames holds the table's names in lower case.
var lowerNames = sync.OnceValue(func() []string {
	names := make([]string, len(models))
	for i := range models {
		names[i] = strings.ToLower(models[i].Name)
	}
	return names
})

// named finds the longest name of the table that occurs in s as whole words.
func named(s string) (Model, bool) {
	for _, a := range aliases {
		s = strings.Replace(s, a[0], a[1], 1)
	}
	best := -1
	for i, n := range lowerNames() {
		if (best < 0 || len(n) > len(models[best].Name)) && whole(s, n) {
			best = i
		}
	}
	if best < 0 {
		return Model{}, false
	}
	return models[best], true
}

// whole reports whether a name occurs in s as whole words. A longer name of the same family is another word:
// "Qwen3-4B" is not in "Qwen3-4B-A1B", nor "Qwen2.5-7B" in "Qwen2.5-7B.5".
func whole(s, name string) bool {
	for from := 0; from < len(s); {
		i := strings.Index(s[from:], name)
		if i < 0 {
			return false
		}
		i += from
		before, after := byte('-'), byte('-')
		if i > 0 {
			before = s[i-1]
		}
		rest := s[i+len(name):]
		if rest != "" {
			after = rest[0]
		}
		if !letter(before) && before != '.' && !letter(after) && !(after == '.' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9') && !active(rest) {
			return true
		}
		from = i + 1
	}
	return false
}

// active reports whether a rest of a name begins with the active parameters of a mixture of experts: "-a3b".
func active(rest string) bool {
	if len(rest) < 4 || rest[0] != '-' && rest[0] != '_' || rest[1] != 'a' {
		return false
	}
	i := 2
	for i < len(rest) && (rest[i] >= '0' && rest[i] <= '9' || rest[i] == '.') {
		i++
	}
	return i > 2 && i < len(rest) && rest[i] == 'b'
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }
