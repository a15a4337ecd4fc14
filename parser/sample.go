package parser

import (
	"bytes"

	"oomscan/parser/envelope"
)

// Training on text prints text: prompts, completions, "training examples". Datasets about programming hold complete
// out-of-memory messages, and none of them happened here. What stands between the marks of a chat template, or behind
// the tags under which frameworks print a sample, is therefore not read.

// sampleLines bounds how far an unclosed sample reaches.
const sampleLines = 120

// Marks of chat templates (ChatML, Llama 3, Mistral), the tags of verl's printed samples (workers/reward_manager) and
// the headings of LLaMA-Factory's (data/processor). opens: what follows on this line and the next ones is text of a
// sample; closes: it ends there.
var sampleMarks = []struct {
	mark   string
	opens  bool
	needle bool // rare enough in healthy logs, and long enough, to be searched for
}{
	{"<|im_start|>", true, true},
	{"<|im_end|>", false, true},
	{"<|start_header_id|>", true, true},
	{"<|eot_id|>", false, true},
	{"<|end_of_text|>", false, true},
	{"<|endoftext|>", false, true},
	{"[INST]", true, false},
	{"[/INST]", true, false},
	{"</s>", false, false},
	{"[prompt] ", true, true},
	{"[response] ", true, true},
	{"[ground_truth] ", false, true},
	{"[score] ", false, true},
	{"label_ids:", false, true},
}

// labelIDs is the one mark without a bracket.
var labelIDs = []byte("label_ids:")

// inSample says whether a message is part of a printed sample. It follows the marks of the writer's stream.
func (s *stream) inSample(line int, body []byte, h *envelope.Header) bool {
	last, opens := -1, false
	marks := sampleMarks
	if bytes.IndexByte(body, '<') < 0 && bytes.IndexByte(body, '[') < 0 && !bytes.Contains(body, labelIDs) {
		marks = nil // most messages
	}
	for _, m := range marks {
		if !bytes.Contains(body, []byte(m.mark)) {
			continue // far faster than to look from behind
		}
		if i := bytes.LastIndex(body, []byte(m.mark)); i > last {
			last, opens = i, m.opens
		}
	}
	switch {
	case last >= 0:
		s.sample = 0
		if opens {
			s.sample = line
		}
		return true
	case s.sample == 0:
		return false
	case line-s.sample > sampleLines || !h.Time.IsZero() || bytes.Contains(body, []byte("%|")):
		s.sample = 0 // a logger's record or a progress bar is no sample's text
		return false
	}
	return true
}
