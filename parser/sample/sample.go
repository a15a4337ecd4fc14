// Package sample tells which messages are text of a printed sample. Training on text prints text: prompts, completions, "training
// examples". Datasets about programming hold complete out-of-memory messages, and none of them happened here. So what stands
// between the marks of a chat template, or behind the tags under which frameworks print a sample, is not read.
package sample

import (
	"bytes"
	"strings"

	"oomscan/parser"
	"oomscan/parser/envelope"
)

// How far an unclosed sample reaches.
const (
	MaxLines = 120
	maxBytes = 32 << 10 // where there is a line longer than is read as a whole, or there was one since
)

// Mark opens or closes a printed sample.
type Mark struct {
	Text     string
	Opens    bool // what follows on its line and the next ones is text of a sample; else the sample ends there
	Searched bool // rare enough in healthy logs, and long enough, to be searched for
}

// Marks of chat templates (ChatML, Llama 3, Mistral), the tags of verl's printed samples (workers/reward_manager) and
// the headings of LLaMA-Factory's (data/processor).
var Marks = []Mark{
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

// Tracker follows the marks of one writer. Its zero value is outside of any sample; otherwise it is the place of the mark that opened
// the sample.
type Tracker struct {
	line   int
	offset int64
}

// Over says that the sample does not reach to a place. The last long line ends at longEnds.
func (t Tracker) Over(line int, offset, longEnds int64) bool {
	return line-t.line > MaxLines || t.offset < longEnds && offset-t.offset > maxBytes
}

// Covers says whether the writer's next message is part of a printed sample. The last long line ends at longEnds.
func (t *Tracker) Covers(at parser.Position, longEnds int64, body []byte, h *envelope.Header) bool {
	marked, opens := Last(body)
	switch {
	case marked:
		*t = Tracker{}
		if opens {
			*t = Tracker{at.Line, at.Offset}
		}
		return true
	case *t == Tracker{}:
		return false
	case t.Over(at.Line, at.Offset, longEnds) || !h.Time.IsZero() || bytes.Contains(body, []byte("%|")):
		*t = Tracker{} // a logger's record or a progress bar is no sample's text
		return false
	}
	return true
}

const (
	// seconds are the second bytes of the marks that begin with a bracket.
	seconds = "|/Iprgs"
	// labelIDs is the one mark that does not.
	labelIDs = "label_ids:"
)

// Last says whether a message holds marks, and whether the last of them opens a sample.
func Last(body []byte) (marked, opens bool) {
	last := -1
	if bytes.Contains(body, []byte(labelIDs[len("label"):])) { // an underscore is rarer than its letters
		last = bytes.LastIndex(body, []byte(labelIDs))
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
			for _, m := range Marks {
				if bytes.HasPrefix(body[at:], []byte(m.Text)) {
					marked, opens, last = true, m.Opens, at
				}
			}
		}
	}
	return marked, opens
}
