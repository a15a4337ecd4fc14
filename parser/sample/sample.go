// Package sample recognizes the messages that are text of a printed sample. Training on text prints text: prompts, completions,
// "training examples". Datasets about programming hold complete out-of-memory messages, and none of them happened here. So what
// stands between the marks of a chat template, or behind the tags under which frameworks print a sample, is not read.
package sample

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"oomscan/parser"
	"oomscan/parser/ascii"
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

// Marks of chat templates (ChatML, Llama 3 and 4, Kimi K2, Mistral, Gemma, Harmony, DeepSeek), of reasoning and of what tools printed, the tags of verl's printed
// samples (workers/reward_manager), the headings of LLaMA-Factory's (data/processor) and that of SkyRL's (log_example), and what FastChat shows
// a judge (llm_judge/data/judge_prompts.jsonl), as do OpenAI's evals, Inspect and Phoenix ([BEGIN DATA]) and Prometheus (prometheus_eval/prompts.py).
// The last ones are around what lm-evaluation-harness prints with --write_out (lm_eval/evaluator_utils.py, print_writeout).
var Marks = []Mark{
	{"<|im_start|>", true, true},
	{"<|im_end|>", false, true},
	{"<|start_header_id|>", true, true},
	{"<|eot_id|>", false, true},
	{"<|header_start|>", true, true},
	{"<|eot|>", false, true},
	{"<|im_user|>", true, true},
	{"<|im_assistant|>", true, true},
	{"<|end_of_text|>", false, true},
	{"<|endoftext|>", false, true},
	{"[INST]", true, true},
	{"[/INST]", true, true},
	{"</s>", false, false},
	{"[prompt] ", true, true},
	{response, true, true},
	{"[ground_truth] ", false, true},
	{"[score] ", false, true},
	{"label_ids:", false, true},
	{"<start_of_turn>", true, true},
	{"<end_of_turn>", false, true},
	{"<think>", true, true},
	{"</think>", false, true},
	{"<tool_response>", true, true},
	{"</tool_response>", false, true},
	{"<|message|>", true, true},
	{"<|end|>", false, true},
	{"<|return|>", false, true},
	{"<｜User｜>", true, true},
	{"<｜tool▁output▁begin｜>", true, true},
	{"<｜tool▁output▁end｜>", false, true},
	{"<｜end▁of▁sentence｜>", false, true},
	{rewarded, true, true},
	{"[The command completed with exit code ", false, true}, // OpenHands tells a model how its command ended
	{"[Command finished with exit code ", false, true},
	{"[The Start of Assistant", true, true},
	{"[The End of Assistant", false, true},
	{"<|The Start of Assistant", true, true},
	{"<|The End of Assistant", false, true},
	{"[The Start of Reference", true, true},
	{"[The End of Reference", false, true},
	{"<|The Start of Reference", true, true},
	{"<|The End of Reference", false, true},
	{"[BEGIN DATA]", true, true},
	{"[END DATA]", false, true},
	{"###The instruction to evaluate:", true, true},
	{"###Response to evaluate:", true, true},
	{"###Response A:", true, true},
	{"###Response B:", true, true},
	{"###Reference Answer", true, true},
	{"###Score Rubric", true, true},
	{"###Feedback:", false, true},
	{starts, true, true},
	{"(end of prompt on previous line)", false, true},
	{"(end of target on previous line)", false, true},
}

// Openers begin a quotation whose end is sure: a block of code in reStructuredText, with the code indented below; and a traceback in a
// string of Python, up to the closing quotes.
var Openers = []string{code, text}

const (
	code = ".. code"
	text = `"""Traceback (`
)

// Turns are the headings of what somebody asked or a tool printed, and of what was answered. A failure between an input and its answer is
// text of the input; a heading proves nothing of what else stands below it. Some data sets put ### before each heading, and Zephyr, Phi-3
// and GLM-4 have tokens for them.
var Turns = []Turn{
	{"### Instruction:", false},
	{"### Input:", false},
	{"### Context:", false}, // Dolly
	{context, false},
	{"### Response:", true},
	{"###Instruction:", false}, // Prometheus, where it compares
	{"### Question", false},
	{"### Answer", true},
	{"Human:", false},
	{"<|user|>", false},
	{"<|observation|>", false},
	{"Assistant:", true},
	{"<|assistant|>", true},
	{"Completion:", true},
	{"COMPLETION:", true},
	{"Question:", false},
	{"Answer:", true},
	{"ANSWER:", true},
	{"Observation:", false},
	{"OBSERVATION:", false},
	{"[Observation]", false},
	{"**IPythonRunCellObservation", false}, // OpenHands
	{"**CmdRunObservation", false},
	{"Observations:", false}, // smolagents
	{"[code_interpreter]", false},
	{"Thought:", true},
	{"[Thought]", true},
	{"THOUGHT:", true},
	{"[Question]", false},
	{"[User Question]", false},
	{"Action:", true},
	{"ACTION:", true},
	{"[Action]", true},
	{"(Open file: ", true}, // SWE-agent's prompt, below all that a command printed
	{"(Current directory: ", true},
	{"🤖 MODEL INPUT", false}, // SWE-agent
	{"🧾 OBSERVATION", false},
	{"💭 THOUGHT", true},
	{"🎬 ACTION", true},
}

// alone lists the headings of answers that programs also print without the prompt. What such an answer holds is text if the run counts on
// after it.
var alone = []string{"Answer:", "ANSWER:", "Completion:", "COMPLETION:"}

// Turn is the heading of a turn.
type Turn struct {
	Text   string
	Answer bool
}

// context heads a text about which a question is asked below. A program that names what it is about, or how long a context is, uses few words.
const (
	context      = "Context:"
	question     = "Question:"
	contextWords = 4
)

// isAlone reports whether a message begins with the heading of such an answer and text that is not a count of progress.
func (t *Turn) isAlone(body []byte, counts func([]byte) bool) bool {
	return slices.Contains(alone, t.Text) && len(bytes.TrimSpace(body)) > len(t.Text) && !counts(body)
}

// maxLabel bounds the label before a heading.
const maxLabel = 40

// turnOf is the heading that a message begins with, nil when there is none.
func turnOf(body []byte) *Turn {
	if len(body) == 0 || strings.IndexByte("#*(HACQOT<[\xf0", body[0]) < 0 {
		return nil
	}
	rest := bytes.TrimPrefix(body, []byte("### "))
	if label := bytes.Index(body[:min(len(body), maxLabel)], []byte("] ")); body[0] == '[' && label > 0 {
		rest = body[label+len("] "):] // [step 3] OBSERVATION:
	}
	if body[0] == '\xf0' { // SWE-agent's logger puts a picture and a level before it
		rest = body[bytes.LastIndexByte(body[:min(len(body), maxLabel)], '\xf0'):]
	}
	for i := range Turns {
		if text := []byte(Turns[i].Text); bytes.HasPrefix(body, text) || bytes.HasPrefix(rest, text) {
			if words := len(bytes.Fields(rest)); Turns[i].Text == context && words > 1 && words <= contextWords {
				return nil
			}
			return &Turns[i]
		}
	}
	return nil
}

// Tracker follows the marks of one writer. Its zero value is outside of any sample; otherwise it is the place of the mark that
// opened the sample.
type Tracker struct {
	line    int
	offset  int64
	opener  string // of a quotation
	stamp   string // of the collector that stamps each line
	turn    bool   // an input of a dialogue, or an answer without its prompt
	answer  bool   // the latter
	context bool   // a text, and no question about it so far
	record  int    // the line of the first record of a logger, or count, in what a tag opened, 0 where there is none
	tag     string // which opened it, and the next one ends it: what stands between may hold marks of a template
}

// Turn reports whether the sample is an input of a dialogue, which only its answer shows to be text, or an answer without its prompt, or holds a
// record or a count, which only the next tag shows to be text.
func (t Tracker) Turn() bool { return t.turn || t.record > 0 }

// Waits reports whether a failure on a line happened unless what closes the sample shows it to be text.
func (t Tracker) Waits(line int) bool { return t.turn || t.record > 0 && line >= t.record }

// Begins reports whether a message, or a traceback from its first line on, is the beginning of what a turn holds. A heading may have the
// first line behind it, and below an answer a traceback with a first line of its own is one of the program.
func (t Tracker) Begins(line int, headless bool) bool {
	return line == t.line || line == t.line+1 && (headless || !t.answer)
}

// Withholds reports whether the heading on a line may be that of a report as well, so that what stands behind it waits.
func (t Tracker) Withholds(line int) bool { return t.context && line == t.line }

// Line is the line of the mark that opened the sample.
func (t Tracker) Line() int { return t.line }

// Quotes reports whether the sample is a quotation. No later line makes what it holds a failure.
func (t Tracker) Quotes() bool { return t.opener != "" }

// Place is where a message stands.
type Place int8

// The places.
const (
	Outside Place = iota
	Inside        // of a sample that nothing has closed so far
	Marked        // holds a mark: what stood inside of a sample before was text of it
	Again         // holds the heading of an input behind one without an answer
)

// Over reports whether the sample ends before a place. The last long line ends at longEnds.
func (t Tracker) Over(line int, offset, longEnds int64) bool {
	return Over(line-t.line, offset-t.offset, t.offset < longEnds)
}

// Over reports whether an unclosed sample ends within so many lines and bytes. long: one of the lines is not read as a whole.
func Over(lines int, bytes int64, long bool) bool {
	return lines > MaxLines || long && bytes > maxBytes
}

// Place says where the writer's next message stands. The last long line ends at longEnds. A record of a logger, a sign that the run
// goes on, which counts tells, and the closing quote of a text over several lines end a sample that has no closing mark.
func (t *Tracker) Place(at parser.Position, longEnds int64, body []byte, h *envelope.Header, counts func([]byte) bool) Place {
	mark, opens := Last(body)
	if mark == 0 {
		if turn := turnOf(body); turn != nil {
			return t.takeTurn(at, turn, h, turn.isAlone(body, counts))
		}
	}
	opener := openerOf(body)
	switch {
	case mark == 0 && *t == Tracker{} && bytes.HasPrefix(body, []byte(response)):
		return Outside
	case mark >= 0 && t.tag != "" && tagOf(body[mark:]) == "" && !t.Over(at.Line, at.Offset, longEnds):
		return Marked
	case mark >= 0:
		place := Marked
		if tag := tagOf(body[mark:]); t.record > 0 && (tag == t.tag || slices.Contains(firstTags, tag)) {
			place = Again
		}
		*t = Tracker{}
		if opens {
			*t = Tracker{line: at.Line, offset: at.Offset, stamp: collected(h), tag: tagOf(body[mark:])}
		}
		return place
	case opener != "" && (*t == Tracker{} || t.Quotes()):
		*t = Tracker{line: at.Line, offset: at.Offset, opener: opener}
		return Marked
	case *t == Tracker{}:
		return Outside
	case t.Quotes() && t.holds(body) && !t.Over(at.Line, at.Offset, longEnds):
		return Inside
	case t.tag != "" && !t.Over(at.Line, at.Offset, longEnds) && t.mayHold(body, h, counts):
		t.record = cmp.Or(t.record, at.Line) // a process prints tags and texts at once: nothing of its own comes between
		return Inside
	case t.Quotes() || t.Over(at.Line, at.Offset, longEnds) || !h.Time.IsZero() && (t.stamp == "" || t.stamp != collected(h)) || isQuote(body) || !t.isBelow(at.Line) && counts(body):
		*t = Tracker{}
		return Outside
	}
	return Inside
}

// isBelow reports whether a line is right below the heading of an input. The text of one may begin with anything, and only its answer shows it to
// be text.
func (t Tracker) isBelow(line int) bool { return t.turn && !t.answer && line == t.line+1 }

// mayHold reports whether what a tag opened may hold a message that would end another sample: a record of a logger, where the process has a label,
// or a count, which people show a judge with the end of their log.
func (t *Tracker) mayHold(body []byte, h *envelope.Header, counts func([]byte) bool) bool {
	if strings.HasPrefix(t.tag, judged) {
		return h.Time.IsZero() && counts(body)
	}
	return h.Process != "" && (!h.Time.IsZero() || counts(body))
}

// firstTags begin a text with tags.
var firstTags = []string{"[prompt] ", "###The instruction to evaluate:", "###Response A:"}

// tagOf is the mark that a text begins with, where it is one of verl's tags, which are in lower case, or a heading of a judge's prompt.
func tagOf(text []byte) string {
	if len(text) > 1 && (text[0] == '[' && ascii.IsLower(text[1]) || text[0] == judged[0]) {
		for i := range Marks {
			if bytes.HasPrefix(text, []byte(Marks[i].Text)) {
				return Marks[i].Text
			}
		}
	}
	return ""
}

// takeTurn follows the heading of a turn, which ends no other sample.
func (t *Tracker) takeTurn(at parser.Position, turn *Turn, h *envelope.Header, isAlone bool) (place Place) {
	switch {
	case *t != Tracker{} && !t.turn:
		return Inside
	case t.context && turn.Text == question:
		t.context = false // another question is about another text
		return Inside
	case isAlone && *t == Tracker{}:
		*t = Tracker{line: at.Line, offset: at.Offset, stamp: collected(h), turn: true, answer: true}
		return Inside
	case turn.Answer && *t == Tracker{}:
		return Outside
	case turn.Answer, *t == Tracker{}:
		place = Marked
	default:
		place = Again
	}
	*t = Tracker{}
	if !turn.Answer || isAlone {
		*t = Tracker{line: at.Line, offset: at.Offset, stamp: collected(h), turn: true, answer: turn.Answer, context: turn.Text == context}
	}
	return place
}

// collected is the clock of a stamp that comes without a logger's name, or with the line of code that prints it, and the level beside it:
// whoever collects a log puts the same on each line (Airflow's `{subprocess.py:106} INFO`), and no other statement of a program does.
func collected(h *envelope.Header) string {
	if h.Time.IsZero() || h.Logger != "" && strings.IndexByte(h.Logger, ':') < 0 {
		return ""
	}
	return h.Clock + string(rune(h.Level)) + h.Logger
}

// openerOf returns what begins a quotation in a message, which a diff may hold.
func openerOf(body []byte) string {
	line := bytes.TrimSpace(bytes.TrimLeft(body, "+-"))
	switch {
	case bytes.HasPrefix(line, []byte(code)) && bytes.Contains(line, []byte("::")):
		return code
	case bytes.Index(line, []byte(text)) > 0: // a report of another process may stand in such quotes on lines of their own
		return text
	}
	return ""
}

// holds reports whether a message belongs to the quotation.
func (t Tracker) holds(body []byte) bool {
	line := bytes.TrimLeft(body, "+-")
	if t.opener == text {
		return !bytes.Contains(line, []byte(text[:3]))
	}
	return len(bytes.TrimSpace(line)) == 0 || line[0] == ' '
}

// isQuote reports whether a message is nothing but a closing quote.
func isQuote(body []byte) bool {
	body = bytes.TrimSpace(body)
	return len(body) == 1 && (body[0] == '\'' || body[0] == '"')
}

const (
	// seconds are the second bytes of the marks that begin with a bracket.
	seconds = "|/IprgsteTCBE\xef"
	// labelIDs, rewarded and those that begin with judged are marks that do not. A line begins with the latter two.
	labelIDs = "label_ids:"
	judged   = "###"
	rewarded = "Output (Total Reward: "
	// starts ends the line above a text, and what begins with ended is alone on the line below it.
	starts = " (starting on next line):"
	ended  = "(end of "
	// response opens a sample only behind a prompt: loggers use the word too.
	response = "[response] "
)

// Last returns where the last mark of a message stands, -1 where it holds none, and whether that mark opens a sample.
func Last(body []byte) (last int, opens bool) {
	last = -1
	if turn := turnOf(body); turn != nil {
		last, opens = 0, !turn.Answer || slices.Contains(alone, turn.Text)
	}
	if bytes.Contains(body, []byte(labelIDs[len("label"):])) { // an underscore is rarer than its letters
		last, opens = bytes.LastIndex(body, []byte(labelIDs)), false
	}
	if bytes.HasPrefix(bytes.TrimLeft(body, " "), []byte(rewarded)) {
		last, opens = 0, true
	}
	if bytes.HasPrefix(body, []byte(judged)) {
		if i := slices.IndexFunc(Marks, func(m Mark) bool { return bytes.HasPrefix(body, []byte(m.Text)) }); i >= 0 {
			last, opens = 0, Marks[i].Opens
		}
	}
	switch {
	case bytes.HasSuffix(bytes.TrimRight(body, " "), []byte(starts)):
		last, opens = bytes.LastIndex(body, []byte(starts)), true
	case bytes.HasPrefix(body, []byte(ended)) && slices.ContainsFunc(Marks, func(m Mark) bool { return string(body) == m.Text }):
		last, opens = 0, false
	}
	for _, bracket := range []byte("<[") { // most messages have few of them
		var q quotes
		for at := 0; ; at++ {
			i := bytes.IndexByte(body[at:], bracket)
			if i < 0 {
				break
			}
			if at += i; at < last || at+1 == len(body) || strings.IndexByte(seconds, body[at+1]) < 0 {
				continue
			}
			for _, m := range Marks {
				if bytes.HasPrefix(body[at:], []byte(m.Text)) && !m.isName(body[at:]) && !q.around(body, at) {
					last, opens = at, m.Opens && !endsInQuote(body[at+len(m.Text):])
				}
			}
		}
	}
	return last, opens
}

// isName reports whether a token stands for itself, as in a list of a tokenizer's special tokens: where it opens a turn, it stands before
// a role.
func (m *Mark) isName(text []byte) bool {
	rest := text[len(m.Text):]
	return m.Opens && strings.HasSuffix(m.Text, "|>") && (len(rest) == 0 || rest[0]|0x20 < 'a' || rest[0]|0x20 > 'z')
}

// endsInQuote reports whether the text behind a mark ends with the closing quote of a value that began on an earlier line, as an example
// of a chat template does. An apostrophe within a word is no quote.
func endsInQuote(text []byte) bool {
	text = bytes.TrimRight(text, " ")
	end := len(text) - 1
	if end < 0 || text[end] != '\'' && text[end] != '"' {
		return false
	}
	for i, c := range text[:end] {
		if c == text[end] && (i == 0 || !ascii.IsLetter(text[i-1]) || !ascii.IsLetter(text[i+1])) {
			return false
		}
	}
	return true
}

// quotes finds the quoted texts of a message, from its beginning on.
type quotes struct {
	read int
	open byte // 0: outside
}

// around reports whether a place is in quotes that end on the message's own line. A mark there is part of a value, as in a template or a
// list of texts, and opens nothing.
func (q *quotes) around(body []byte, at int) bool {
	for ; q.read < at; q.read++ {
		c := body[q.read]
		switch {
		case c == '\\':
			q.read++
		case q.open == c:
			q.open = 0
		case q.open == 0 && (c == '"' || c == '`' || c == '\'' && (q.read == 0 || !ascii.IsLetter(body[q.read-1]))):
			q.open = c
		}
	}
	return q.open != 0 && bytes.IndexByte(body[at:], q.open) >= 0
}
