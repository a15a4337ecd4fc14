package remedies

import (
	"fmt"
	"slices"

	"oomscan/classifier"
	"oomscan/remedies/memory"
)

// promptKeys and answerKeys name the two parts of a sample in programs that train on what they generate.
var (
	promptKeys = []string{"max_prompt_length", "prompt_max_len", "train_dataset.max_length", "rollout_max_prompt_len", "max_input_length", "prompt_length"}
	answerKeys = []string{"max_response_length", "max_completion_length", "generate_max_len", "gconfig.max_new_tokens", "rollout_max_response_len", "rollout.max_new_tokens", "max_generate_length", "response_length"}
)

// shortPrompts returns why shorter prompts save next to nothing, or "": answers may be many times as long.
func shortPrompts(q *question) string {
	const most = 8
	if len(q.changes) == 0 || !slices.ContainsFunc(promptKeys, func(k string) bool { return sameKey(q.changes[0].Key, k) }) || q.changes[0].From == nil {
		return ""
	}
	prompt, ok1 := parseInt(*q.changes[0].From)
	answer, ok2 := q.settings.integer(answerKeys...)
	if !ok1 || !ok2 || prompt <= 0 || answer > mostTokens || prompt > answer/most {
		return ""
	}
	return fmt.Sprintf("prompts have at most %s tokens, and answers up to %s", memory.Thousands(prompt), memory.Thousands(answer))
}

// shortContext returns why no shorter context helps Ollama, or "": at its default length the cache of the largest models that people run
// takes less than was missing.
func shortContext(q *question) string {
	const usual, most = 4096, 3 << 29 // 80 layers of 8 heads of 128 in 16 bits
	n, set := q.settings.integer("OLLAMA_CONTEXT_LENGTH", "num_ctx")
	short, ok := q.shortfall()
	if !set || !ok || n > usual || short < most || !q.recognized("ollama.system_memory") {
		return ""
	}
	return fmt.Sprintf("%s was missing, more than the cache of %s tokens takes", classifier.GiB(short), memory.Thousands(n))
}
