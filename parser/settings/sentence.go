package settings

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"

	"oomscan/parser/lazyre"
)

// sentences are messages that describe settings without their names, and calls of scripts.
var sentences = []struct {
	literal string
	expr    func() *regexp.Regexp
	keys    []string // of the expression's groups
	form    string   // Pairs if empty
}{
	// nanochat (scripts/base_train.py)
	{"micro-batch / rank: ", lazyre.New(`micro-batch / rank: ([0-9]{1,9}) x ([0-9]{1,9}) = `), []string{"device_batch_size", "max_seq_len"}, ""},
	// ms-swift (swift/utils/env.py)
	{"Setting max_pixels: ", lazyre.New(`Setting max_pixels: ([0-9]{1,9})\b`), []string{"max_pixels"}, ""},
	{"Setting image_max_token_num: ", lazyre.New(`Setting image_max_token_num: ([0-9]{1,9})\b`), []string{"image_max_token_num"}, ""},
	// TRL's asynchronous GRPO (async_grpo_trainer.py), where nobody sets it
	{"token_budget unset; ", lazyre.New(`token_budget unset; defaulting to vLLM max_model_len=([0-9]{1,9})\b`), []string{"token_budget"}, ""},
	// TorchTitan (torchtitan/distributed/activation_checkpoint.py)
	{string(recomputes), lazyre.New(`Applied ([a-z_]{1,20}) activation checkpointing to the model`), []string{"activation_checkpoint.mode"}, ""},
	// prime-rl (src/prime_rl/trainer/model.py)
	{"activation checkpointing (", lazyre.New(`Applied activation checkpointing \(freq=([0-9]{1,4})\b`), []string{"trainer.model.ac.freq"}, ""},
	// DeepSpeed (runtime/engine.py)
	{string(zeroStage), lazyre.New(`Creating (?:torch\.\w{1,16}|fp16|bf16) ZeRO stage ([123]) optimizer`), []string{"zero_optimization_stage"}, ""},
	// faster-whisper (faster_whisper/transcribe.py) and WhisperX, in a script that the log shows
	{".transcribe(", lazyre.New(`\.transcribe\([^#]{0,300}?\bbatch_size=([0-9]{1,5})\b`), []string{"batch_size"}, Script},
	// Ollama since 0.11.5: the layers that num_gpu asks for, -1 where nobody does (llm/server.go)
	{`"model layers"=`, lazyre.New(`"model layers"=([0-9]{1,6}) requested=(-?[0-9]{1,6})\b`), []string{"layers.model", "layers.requested"}, ""},
	// fairseq (fairseq_cli/train.py)
	{"max tokens per ", lazyre.New(`max tokens per (?:GPU|device) = (\w{1,20}) and (?:max sentences|batch size) per (?:GPU|device) = (\w{1,20})`), []string{"max_tokens", "max_sentences"}, ""},
}

// sentence reads a message with settings in words.
func (r *Reader) sentence(text []byte) bool {
	for i := range sentences {
		if s := &sentences[i]; bytes.Contains(text, []byte(s.literal)) {
			if m := s.expr().FindSubmatch(text[:min(len(text), 4*MaxValue)]); m != nil {
				for j, key := range s.keys {
					r.report(Pair{Key: key, Value: string(m[j+1]), Line: r.line, Form: cmp.Or(s.form, Pairs)})
				}
				return true
			}
		}
	}
	return r.sizes(text)
}

// sizeInWords matches a size that a sentence names.
var sizeInWords = lazyre.New(`(?i)\b((?:(?:local|global|micro|train|eval|device|total) )?batch size|gradient accumulation steps|sequence length):? (\d{1,9})(?:[,;] |[.;]?$)`)

// sizes reads a sentence that lists sizes, as TorchTitan prints them: one alone may be about anything.
func (r *Reader) sizes(text []byte) bool {
	if !bytes.Contains(text, batchSize) {
		return false
	}
	sizes := sizeInWords().FindAllSubmatch(text, 8)
	if len(sizes) < 2 {
		return false
	}
	for _, m := range sizes {
		r.emit(strings.ReplaceAll(strings.ToLower(string(m[1])), " ", "_"), string(m[2]), r.line, Pairs)
	}
	return true
}
