package remedies

import (
	"fmt"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser/lazyre"
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

// lengthNotApplied returns why a smaller cap on the length of a sample cuts nothing, or "": the logits that failed have more than twice as
// many tokens as the settings allow, so nothing applies the cap, as where a script's own collator makes samples of text and images. Twice
// as many may be pairs.
func lengthNotApplied(q *question) string {
	const widest = 4 // bytes of an element: in two, the same request would be of twice as many tokens
	l := q.limit
	if l == nil || l.Budget || l.Longest <= 0 || strings.Contains(l.How, " + ") || len(q.request) == 0 {
		return ""
	}
	e := &q.request[0]
	if e.What != "logits" || !e.Seen || e.Bytes <= 0 || e.Low*e.Bytes/widest <= 2*l.Tokens {
		return ""
	}
	return fmt.Sprintf("nothing applies this limit: the failed micro-batch has about %s tokens, and the settings allow %s (%s)", memory.Thousands(e.Low), memory.Thousands(l.Tokens), l.How)
}

// compiledRows are the first two sizes of a tensor that compiled code makes.
var compiledRows = lazyre.New(`empty_strided_cuda\(\((\d{1,9}), (\d{1,9})`)

// singleSequence reports whether the tensor that failed in compiled code has as many rows as the script's sequences have tokens. A pass is
// then one sequence, and a script's batch_size counts those of all GPUs and passes of a step, as that of modded-nanogpt does.
func singleSequence(ctx *Context, _ string) verdict {
	n, ok := ctx.settings.integer("sequence_length", "block_size", "seq_len")
	if samples, set := ctx.settings.integer("batch_size"); !ok || !set || samples < 2 || ctx.root.Trace == nil || len(ctx.root.Trace.Frames) == 0 {
		return verdict{}
	}
	frames := ctx.root.Trace.Frames
	m := compiledRows().FindStringSubmatch(frames[len(frames)-1].Code)
	if m == nil || m[1] != itoa(n) && (m[1] != "1" || m[2] != itoa(n)) {
		return verdict{}
	}
	return verdict{yes, fmt.Sprintf("the pass that failed has one sequence of %s tokens: batch_size counts those of all passes and GPUs of a step", memory.Thousands(n))}
}

// weightsOutgrow returns why nothing but a smaller model helps Ollama, or "": its weights exceed what there is in host memory and on the
// cards, or its whole cache takes less than what was missing.
func weightsOutgrow(q *question) string {
	if q.root.Free == nil || !q.recognized("ollama.system_memory") {
		return ""
	}
	room := *q.root.Free + roomOnCards(q.run)
	for _, gauge := range []string{"ggml.file_size", "ollama.pulled"} {
		if g, ok := lastReading(q.run, gauge); ok {
			if n, known := g.Fields.Int("bytes"); known && n >= room {
				return fmt.Sprintf("the weights alone, %s, are more than the %s that there is", classifier.GiB(n), classifier.GiB(room))
			}
		}
	}
	short, known := q.shortfall()
	if size := ollamaCache(q.Context); known && size > 0 && size < short {
		return fmt.Sprintf("the whole cache takes %s, and %s was missing", classifier.GiB(size), classifier.GiB(short))
	}
	return ""
}

// roomOnCards returns how much of its cards Ollama found available before it loaded a model, 0 if it did not say.
func roomOnCards(run *classifier.Run) (sum int64) {
	latest := map[string]int64{}
	for _, g := range run.Gauges {
		if n, ok := g.Fields.Int("free"); ok && g.Name == "ollama.card" {
			latest[g.Fields["card"]] = n
		}
	}
	for _, n := range latest {
		sum += min(max(n, 0), 1<<50)
	}
	return sum
}
