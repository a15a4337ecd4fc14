package stream

import (
	"bytes"
	"slices"
	"strings"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/lazyre"
)

// A run may print the log of another one in a Markdown fence or a script's here-document. What failed in a fence is quoted if the
// counter that stood before the block counts on behind it, if a run begins there and counts up, if links around it show a document
// of a repository, if somebody speaks before it and behind it, or if it stands in a manual (see manual.go). People save such blocks too: then it happened. Nobody saves a
// here-document around a log, so one that closes quotes all that it holds. An indented block (see [Reader.inIndented]) is quoted if more
// than a few words stand behind it.

// fenceOpens is the line that opens a block. Its groups close it: of a fence, a here-document, an element as in prompts and in what agents
// print, what a heading begins, a block of LaTeX or Org, a prompt that lm-eval shows (lm_eval/evaluator_utils.py, print_writeout), a node that
// LlamaIndex found, up to its score (llama_index/core/schema.py), a sample of llm.c between two rules (train_gpt2.cu), a text in quotation
// marks behind what a model wrote or was given (TensorRT-LLM, examples/run.py), a question with its answer, up to a rule (ms-swift,
// llm/infer/infer.py), what an agent says to another, up to a rule (AutoGen 0.2, conversable_agent.py), and what a tool prints or an agent says, up
// to the next such heading (goose, session/output.rs; AutoGen 0.4, ui/_console.py). Of output and input only a number tells that a model is meant.
var fenceOpens = lazyre.New("^(?:(?:(```|~~~) ?(?:\\{?\\.?[\\w+-]{1,20}\\}?(?: [\\w=:\"'.-]{1,60}){0,3})?|.{0,400}[^<]<<-? ?[\"'\\\\]?([A-Za-z_]\\w{1,40})[\"']?(?: *[|>&);].*)?)$|<([a-zA-Z][\\w-]{1,40})(?: [\\w:-]{1,30}=[^<>]{0,200}[^<>/])?>(?:Traceback .*)?$|<(pre)(?: [\\w:-]{1,30}=[^<>]{0,200})?>|-{2,9} ?BEGIN ([A-Z][A-Z ]{2,60}?) ?-{2,9}$|((?:\\\\begin\\{|#\\+begin_|#\\+BEGIN_)(?i:verbatim|lstlisting|minted|alltt|example|src|quot(?:e|ation)))\\b)|.{0,400}( on next line\\):)$|^Node (ID: )[\\w-]{8,64}$|^(generating:)$|" +
	"^(?:(?i:completion|generation|generated(?: text)?|answer|prompt|prediction|reply)(?:" + indexOfText + ")?|(?i:output|input)" + indexOfText + "): ?(\")[^\"]*$|" +
	"^[\\w.-]{1,64} (\\(to )[\\w.-]{1,64}\\):$|^(─── )[\\w.-]{1,64} \\| [\\w.-]{1,64} ─{8,}$|^(-{10} )[A-Z]\\w{0,60}(?:Message|Event) \\([\\w.-]{1,64}\\) -{10}$|^\\[(QUERY)\\] ")

// indexOfText is which of several texts it is: " 3", " [Text 0 Beam 0]".
const indexOfText = `[ #]{0,2}[\[(]?(?:[A-Za-z]{1,12} )?\d{1,6}(?: [A-Za-z]{1,12} \d{1,6}){0,2}[\])]?`

// endOfBlock makes the end of a block of LaTeX or Org of its beginning.
var endOfBlock = strings.NewReplacer("begin", "end", "BEGIN", "END")

// The last line of a node, the rules around a sample, what ends a text in quotation marks, and the rules below an answer and what an agent says.
// These programs print a block at once: one that begins again has not ended.
const (
	nodeScore  = "Score: "
	sampleRule = "---"
	closeQuote = `"`
)

var (
	answerRule = strings.Repeat("-", 50)
	spokenRule = strings.Repeat("-", 80)
)

var printedAtOnce = []string{nodeScore, sampleRule, closeQuote, answerRule, spokenRule}

// What goose's headings begin with, and the end of its session, which closes the last block.
const (
	toolRule    = "─── "
	sessionOver = "Closing session. "
)

// repositoryLink is a link of Markdown to a file beside its own or to a heading: it leads nowhere in an issue.
var repositoryLink = lazyre.New(`\]\((?:\.{0,2}/?[\w./-]{1,200}\.(?:mdx?|rst|adoc|py|sh|ipynb|png|svg|ya?ml)\b|#[a-z])`)

// htmlHeading is a heading below the title: a page with a job's output has a title at most.
var htmlHeading = lazyre.New(`</h[2-6]>`)

// toolOutput is the name of an element in which an agent is shown what its command printed.
var toolOutput = lazyre.New(`^(?:(?:tool|function)_(?:results?|outputs?|responses?)|observations?|execution_results?)$`)

// exited is an element that shows an agent how its command ended, and printedBy the name of the next element, with what the command printed. XML
// has an element around the two, which opens a block of its own.
var (
	exited    = lazyre.New(`^<(?:(?:return|exit)_?code|exit_?status)>-?\d{1,10}</\w{1,12}>$`)
	printedBy = lazyre.New(`^(?:output|stdout|stderr)$`)
)

// speaker begins what somebody says in the transcript of a chat.
var speaker = lazyre.New(`^(?:>{1,3} ?)?(?:(?i:user|human|you|assistant|bot|chatbot|ai) ?>|(?:User|Human|Assistant):)\s`)

// beginsToCount is how often a run counts behind a block that had not begun before.
const beginsToCount = 3

// fence follows the blocks of one writer and the run around them.
type fence struct {
	stream   string
	end      string      // the line that closes the block, or a part of it; empty outside of one
	part     bool        // a part of a line closes it
	markdown bool        // the block is a fence of Markdown
	here     bool        // the block is a here-document, or what an agent was shown: it quotes for sure
	by       string      // the writer of its first line: it may hold the lines of all writers within it
	document bool        // with links of its own, or headings of HTML
	chat     bool        // somebody speaks before it
	html     bool        // of HTML, where only <pre> quotes: other elements divide the document
	console  *console    // no block, but what an agent shows (see proven.go)
	test     *testRunner // no block, but a test (see introduced.go)
	name     string      // which the runner gives the test
	heading  bool        // no block, but what stands below the heading of a text
	record   []byte      // how the record of a program that was run begins (see executed.go)
	ended    int         // such records of a success around it
	text     int         // the line of the failure in that text or in the test, or of the one that waits for a proof (see proven.go)
	score    float64     // no block, but the first row of a list with places (see shown.go)
	indent   int         // of all lines of the block, where nothing else closes it
	below    int         // lines with text behind such a block
	from, to int         // the lines that open and close the block
	exited   int         // the line below the exit code of a command
	of, n    string      // what the run counted last before the first event in a block, or counts behind it
	begun    int         // how often it counted behind the block, where it had not before
	prose    prose       // around the blocks
	report   report      // of which the blocks may be a part
	until    int         // the last line that may show that the run goes on; 0: nothing waits
	held     []fenced    // that event and all that followed
}

// fenced is an observation that waits.
type fenced struct {
	parser.Observation
	quotable bool // an event in a block
	markdown bool // which is a fence of Markdown
	quoted   bool // by a block that is sure to quote
	reported bool // by a report, if the job ends well
}

// hasFence reports whether a text may hold the first line of a block.
func hasFence(text []byte) bool {
	return bytes.Contains(text, []byte("```")) || bytes.Contains(text, []byte("<<")) || bytes.Contains(text, []byte("~~~")) ||
		bytes.Contains(text, []byte("BEGIN ")) || bytes.Contains(text, []byte("<pre")) || bytes.Contains(text, []byte(">Traceback")) || bytes.Contains(text, []byte(">\n")) ||
		bytes.Contains(text, []byte(`\begin{`)) || bytes.Contains(text, []byte("#+begin_")) || bytes.Contains(text, []byte("#+BEGIN_")) ||
		bytes.HasSuffix(text, []byte{'>'}) || bytes.Contains(text, []byte(" on next line):")) || bytes.Contains(text, []byte("Node ID: ")) || bytes.Contains(text, []byte(`: "`)) || bytes.Contains(text, []byte("generating:")) ||
		bytes.Contains(text, []byte(" (to ")) || bytes.Contains(text, []byte(toolRule)) || bytes.Contains(text, []byte("---------- ")) || bytes.Contains(text, []byte("[QUERY] "))
}

// read follows a line and reports whether it shows that the blocks before it are quoted.
func (f *fence) read(line int, raw []byte) (quotes bool) {
	switch {
	case f.test != nil:
		return f.readResult(line, raw)
	case f.heading:
		return f.readOn(line, raw)
	case f.indent > 0:
		if len(bytes.TrimSpace(raw)) > 0 && indentOf(raw) < f.indent {
			f.below++
		}
		return f.below > maxWords
	case f.score > 0:
		if place, score := placeIn(raw); place == 2 && score <= f.score {
			f.close(line)
		}
		return false
	}
	f.prose.read(raw, f.end == "")
	f.readReport(line, raw)
	if (f.console != nil || slices.Contains(printedAtOnce, f.end)) && f.isCut(line, raw) {
		f.end, f.until = "", min(f.until, line)
	}
	edge := f.end == "" && hasFence(raw) || f.end != "" && bytes.Contains(raw, []byte(f.end)) || f.end == toolRule && bytes.Contains(raw, []byte(sessionOver))
	if (f.end == "" || strings.HasPrefix(f.end, "</")) && bytes.Contains(raw, []byte("</h")) && htmlHeading().Match(raw) {
		f.html, f.document, f.end = true, true, ""
		return f.until > 0
	}
	if (f.end == "" || f.markdown && f.chat) && speaker().Match(raw) {
		return f.speak()
	}
	if link := f.end == "" && bytes.Contains(raw, []byte("](")); !edge && !link && (f.end != "" || !mayCount(raw)) {
		return false
	}
	body, h := envelope.Peel(bytes.TrimSpace(raw))
	if f.console != nil {
		body, _ = withPrompt(bytes.TrimSpace(raw))
	} else if f.prose.opens {
		body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte{'>'})) // a note of a manual is a blockquote
	}
	if edge && envelope.Within(f.stream, h.Stream) {
		if f.end == "" && exited().Match(body) {
			f.exited = line + 1
		} else if f.end == sampleRule && line == f.from+1 {
			return false // the upper one
		} else if f.closes(body) && f.console != nil && f.console.then != nil {
			f.console, f.end = f.console.then, f.console.then.end
		} else if f.closes(body) {
			again := f.end
			if f.close(line); f.here && fenceOpens().Match(body) && bytes.HasPrefix(body, []byte(again)) {
				f.end, f.from = again, line // a heading closes one block and opens another
			}
		} else if m := fenceOpens().FindSubmatch(body); m != nil && f.end == "" && (!f.html || string(m[3])+string(m[4]) == "pre") {
			f.markdown = len(m[1]) > 0
			f.report.open(line)
			f.end, f.here, f.by, f.from, f.part = string(m[1])+string(m[2]), len(m[2]) > 0, h.Stream, line, true
			f.here = f.here || toolOutput().Match(m[3]) || f.exited == line && printedBy().Match(m[3]) || bytes.Contains(m[5], []byte("OBSERVATION"))
			switch {
			case len(m[3]) > 0:
				f.end = "</" + string(m[3]) + ">"
			case len(m[4]) > 0: // it holds the rest of its line
				f.end, f.from = "</"+string(m[4])+">", line-1
				if bytes.Contains(body, []byte(f.end)) {
					f.close(line + 1)
				}
			case len(m[5]) > 0:
				f.end = "END " + string(m[5])
			case len(m[6]) > 0: // nobody saves such a block around a log
				f.end, f.here = endOfBlock.Replace(string(m[6])), true
			case len(m[7]) > 0:
				f.end, f.here = "(end of ", true
			case len(m[8]) > 0:
				f.end, f.here = nodeScore, true
			case len(m[9]) > 0:
				f.end, f.here, f.part = sampleRule, true, false
			case len(m[10]) > 0: // it holds the rest of its line
				f.end, f.here, f.part, f.from = closeQuote, true, false, line-1
			case len(m[11]) > 0:
				f.end, f.here, f.part = spokenRule, true, false
			case len(m[14]) > 0: // it holds the rest of its line
				f.end, f.here, f.part, f.from = answerRule, true, false, line-1
			case len(m[12])+len(m[13]) > 0:
				f.end, f.here = string(m[12])+string(m[13]), true
			default:
				f.part = false
			}
		} else if f.part && f.end != "" {
			f.close(line + 1)
		}
	}
	if f.end != "" {
		return false
	}
	if repositoryLink().Match(body) {
		f.document = true
		return f.until > 0
	}
	return f.count(body)
}

// speak follows a line on which somebody speaks, and reports whether the blocks before it were part of a chat. No block goes on there.
func (f *fence) speak() (quotes bool) {
	quotes = f.until > 0 && f.chat && f.end == ""
	f.chat, f.end = true, ""
	return quotes
}

// isCut reports whether a line shows that the block of a node, a sample or what code printed has not ended, or is none.
func (f *fence) isCut(line int, raw []byte) bool {
	body, _ := envelope.Peel(bytes.TrimSpace(raw))
	if line == f.from+1 && f.end == sampleRule {
		return string(body) != sampleRule
	}
	if f.console != nil {
		return f.console.anew().Match(body) && !f.console.ends().Match(body)
	}
	m := fenceOpens().FindSubmatch(body)
	return m != nil && line > f.from+1 && len(m[8])+len(m[9])+len(m[10])+len(m[11])+len(m[14]) > 0
}

// closes reports whether a line that holds the end of a block is no more than that. A quotation within a text in quotation marks has two of them.
func (f *fence) closes(body []byte) bool {
	switch {
	case f.end == closeQuote:
		return bytes.HasSuffix(body, []byte(closeQuote)) && bytes.Count(body, []byte(closeQuote))%2 == 1
	case f.end == caret:
		return len(bytes.Trim(body, "^~")) == 0
	case f.console != nil:
		return f.console.ends().Match(body)
	case f.end == toolRule && bytes.HasPrefix(body, []byte(sessionOver)):
		return true
	case strings.HasSuffix(f.end, " ") || f.text > 0:
		return bytes.HasPrefix(body, []byte(f.end))
	}
	return f.end != "" && (f.end == string(body) || f.part && bytes.HasPrefix(bytes.TrimLeft(body, "- "), []byte(f.end)))
}

// count follows what the run counts and reports whether it goes on.
func (f *fence) count(body []byte) bool {
	c, ok := countIn(body)
	if !ok {
		return false
	}
	of, n := c.of(), c.number()
	switch {
	case f.until == 0:
		f.of, f.n = of, n
	case f.of == "":
		f.of, f.n, f.begun = of, n, 1
	case of == f.of && n != f.n && atMost([]byte(f.n), []byte(n)):
		if f.begun > 0 {
			f.n, f.begun = n, f.begun+1
		}
		return f.begun == 0 || f.begun == beginsToCount
	}
	return false
}

func (f *fence) close(line int) {
	f.end, f.to = "", line
	f.report.close(line)
	for i := range f.held {
		o := &f.held[i]
		o.quoted = o.quoted || (f.here || f.document) && o.quotable && o.Place().Line > f.from
	}
}

// settled reports whether nothing that waits may still turn out to be quoted.
func (f *fence) settled() bool {
	return f.end == "" && !slices.ContainsFunc(f.held, func(o fenced) bool { return o.quotable && !o.quoted })
}

// How much of the text before events is looked at: so many bytes, and so many for each byte of the input. A storm of events would
// have the same text read for each of them.
const (
	lookBackFree  = 4 << 20
	lookBackShare = 4
)

// mayLookBack reports whether text before an event may be looked at, and counts it.
func (r *Reader) mayLookBack(n int) bool {
	if r.lookedBack > lookBackFree+lookBackShare*(r.base+int64(r.done)) {
		return false
	}
	r.lookedBack += int64(n)
	return true
}

// findFence makes an event wait that stands in a block, or behind what introduces it. Only the text before it and its own line are searched for
// one.
func (r *Reader) findFence(e *parser.Event) {
	if r.fence.until == 0 && r.block > 0 {
		r.fence = fence{stream: e.Header.Stream, end: "::", from: 1, indent: r.block, until: r.line + watchLines}
	}
	r.block = 0
	before := r.buf[max(0, r.done-behind):r.done]
	if r.fence.until > 0 || r.long != nil || e.Role == parser.Context || !r.mayLookBack(len(before)) {
		return
	}
	own, _, _ := bytes.Cut(r.buf[r.done:], newline)
	text := r.buf[r.done-len(before) : r.done+len(own)]
	end := r.base + int64(r.done+len(own))
	if fresh := max(0, len(text)-int(end-r.unfenced)); !hasFence(text[fresh:]) {
		r.unfenced = end
		r.findIntroduction(e)
		return
	}
	f := fence{stream: e.Header.Stream, prose: r.prose}
	if !r.begun {
		f.prose = proseOf(r.buf[:r.done])
	}
	line := r.line - bytes.Count(before, newline)
	for raw := range bytes.Lines(text) {
		f.read(line, raw)
		line++
	}
	if !f.holds(e) {
		r.findIntroduction(e)
		return
	}
	if f.markdown {
		r.findProof(e) // an answer of a model may hold blocks
	}
	if r.fence.until == 0 {
		f.until = r.line + watchLines
		r.fence = f
	}
}

// holds reports whether an event stands in the block that is open, or in the last one: some events are emitted only when they are over.
func (f *fence) holds(e *parser.Event) bool {
	switch {
	case f.test != nil:
		return e.At.Line > f.from && e.Header.Stream == f.stream && isProvoked(e) && !(f.test.labels && e.Trace != nil)
	case f.record != nil:
		_, same := alike([]byte(e.Text), f.record)
		return same == len(f.record) && e.Header.Stream == f.stream
	case f.heading:
		return e.At.Line == f.text && isSpoken(e)
	case f.text > 0:
		return e.At.Line == f.text && e.Header.Stream == f.stream
	}
	return f.from > 0 && e.At.Line > f.from && (f.end != "" || e.At.Line < f.to) && envelope.Within(e.Header.Stream, f.by)
}

// emit passes an observation on, or lets it wait behind an event in a block.
func (r *Reader) emit(o parser.Observation) {
	f := &r.fence
	if f.until == 0 {
		r.sink(o)
		return
	}
	e, ok := o.(parser.Event)
	quotable := ok && (e.Role != parser.Context || f.console != nil) && f.holds(&e)
	f.held = append(f.held, fenced{Observation: o, quotable: quotable, markdown: f.markdown, quoted: quotable && f.end == "" && (f.here || f.document)})
	if m, ok := o.(parser.Marker); ok && endsWell(&m) && !f.anyDied() {
		f.quoteReported()
	}
}

// settle decides about what waits when nothing more can show that the run goes on: a manual quotes what its closed fences hold.
func (r *Reader) settle() {
	f := &r.fence
	if f.prose.isManual() && f.of == "" {
		for i := range f.held {
			o := &f.held[i]
			o.quoted = o.quoted || o.quotable && o.markdown && (f.end == "" || o.Place().Line < f.from)
		}
	}
	r.release(false)
}

// release passes on what waits, but for the events in blocks if they were quoted.
func (r *Reader) release(quoted bool) {
	held := r.fence.held
	r.fence = fence{}
	for _, o := range held {
		if o.quoted || quoted && o.quotable {
			r.messages.quoted++
		} else {
			r.sink(o.Observation)
		}
	}
}
