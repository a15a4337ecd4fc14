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

// pulledTooMuch returns why nothing but a smaller model helps Ollama, or "": the weights that it pulled exceed what there is.
func pulledTooMuch(q *question) string {
	g, ok := lastReading(q.run, "ollama.pulled")
	n, known := g.Fields.Int("bytes")
	if free := q.root.Free; !ok || !known || free == nil || n < *free || !q.recognized("ollama.system_memory") {
		return ""
	}
	return fmt.Sprintf("the weights alone, %s, are more than the %s that there is", classifier.GiB(n), classifier.GiB(*q.root.Free))
}
