package parser

import (
	"bytes"
	"strings"

	"oomscan/parser/envelope"
)

// Training on text prints text: prompts, completions, "training examples". Datasets about programming hold complete
// out-of-memory messages, and none of them happened here. What stands between the marks of a chat template, or behind
// the tags under which frameworks print a sample, is therefore not read.

// Bounds of how far an unclosed sample reaches.
const (
	sampleLines = 120
	sampleBytes = 32 << 10 // where there is a line longer than is read as a whole, or there was one since
)

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

// sampling is the place of the mark that opened the printed sample which a writer is in. The zero value is outside of any.
type sampling struct {
	line   int
	offset int64
}

// over says that the sample does not reach to a place. The last long line ends at long.
func (s sampling) over(line int, offset, long int64) bool {
	return line-s.line > sampleLines || s.offset < long && offset-s.offset > sampleBytes
}

// covers says whether a message is part of a printed sample. It follows the marks of the writer's messages. Before the place
// long, the last long line ends.
func (s *sampling) covers(at Position, long int64, body []byte, h *envelope.Header) bool {
	marked, opens := lastMark(body)
	switch {
	case marked:
		*s = sampling{}
		if opens {
			*s = sampling{at.Line, at.Offset}
		}
		return true
	case *s == sampling{}:
		return false
	case s.over(at.Line, at.Offset, long) || !h.Time.IsZero() || bytes.Contains(body, []byte("%|")):
		*s = sampling{} // a logger's record or a progress bar is no sample's text
		return false
	}
	return true
}

// seconds are the second bytes of the marks with a bracket.
const seconds = "|/Iprgs"

// lastMark says whether a message holds marks, and whether the last of them opens a sample.
func lastMark(body []byte) (marked, opens bool) {
	last := -1
	if bytes.Contains(body, labelIDs[len("label"):]) { // an underscore is rarer than its letters
		last = bytes.LastIndex(body, labelIDs)
		marked = last >= 0
	}
	for _, bracket := range []byte("<[") { // most messages have few of them
		for at := 0; ; at++ {
			i := bytes.IndexByte(body[at:], bracket)
			if i < 0 {
				break
			}
			if at += i; at < last || at+1 == len(body) || strings.IndexByte(seconds, body[at+1]) < 0 {
				continue
			}
			for _, m := range sampleMarks {
				if bytes.HasPrefix(body[at:], []byte(m.mark)) {
					marked, opens, last = true, m.opens, at
				}
			}
		}
	}
	return marked, opens
}
