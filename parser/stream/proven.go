package stream

import (
	"bytes"
	"regexp"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/lazyre"
)

// What follows a line may prove that it is quoted: a caret, where a compiler or a linter shows the line of a source below its place; the answer,
// where a bot logs what it was told; the next heading, where an agent shows what it read; the next place in a list of passages; the next prompt or
// the speed of the model, where a program prints what that wrote.

// caret is below the column that is meant; Clang underlines more of the line.
const caret = "^"

// placed is the place of what a compiler or a linter found, up to the column (pycodestyle.py, StandardReport; flake8, Clang). told is what somebody
// said, behind the name of a bot: the answer has an arrow between the two.
var (
	placed = lazyre.New(`^[\w./+-]{1,200}\.\w{1,6}:\d{1,7}:\d{1,5}: \S`)
	told   = lazyre.New(`^([\w-]{1,30} )(?:<- )?((?:#[\w-]{1,60} )?@[\w.-]{1,60}: )`)
)

// console is how an agent shows what its tools printed, or what its model read: below a heading, and up to a line that comes only when that is
// over. An agent that dies prints no more, and one that is started again begins anew.
type console struct {
	sign  string // in each heading
	end   string // in each line that ends what is shown
	heads func() *regexp.Regexp
	below func() *regexp.Regexp // the line above a heading; nil: any
	ends  func() *regexp.Regexp
	anew  func() *regexp.Regexp
	then  *console // must end on the line right below that end
	shell bool     // which may have started programs in the background
}

// consoles are those of smolagents (agents.py), which shows the code that was run between two rules, what it printed and its value; of LangChain
// and LangGraph (langchain_core/messages/base.py, pretty_print), of LangChain's chains where they are verbose (langchain/chains/llm.py) and where
// they are debugged (langchain_core/tracers/stdout.py); of DSPy (utils/inspect_history.py, adapters/chat_adapter.py), whose fields end
// with one that is empty; of GEPA (gepa/proposer/reflective_mutation/reflective_mutation.py), which logs the instructions that a model writes; of
// CrewAI (agents/crew_agent_executor.py), which prints all of a turn at once; of torchtune (recipes/generate.py), which logs an answer; of
// DeepEval (deepeval/evaluate/utils.py), which prints each case that it judged; and of R1-V and VLM-R1 (open_r1/grpo.py), whose rewards write what was judged.
// The others talk with a model, and tell of their own failures in their own words: llama-cli (llama.cpp, tools/main/main.cpp,
// tools/cli/cli.cpp), in a chat and for one answer, whose speed it tells; ollama (cmd/interactive.go, api/types.go), vllm chat
// (entrypoints/cli/openai.py), llm (llm/cli.py), aichat (src/repl/mod.rs), transformers chat (commands/chat.py) and MLX (mlx_lm/chat.py; generate.py
// has one answer between two rules); so do servers that print what they are asked, text-generation-webui (modules/text_generation.py), KoboldCpp
// (koboldcpp.py) and Coqui's TTS (TTS/utils/synthesizer.py). Of rows with the same heading the first counts. The last are shells and debuggers (see
// commands.go).
var consoles = []console{
	{
		sign: "Execution logs:", end: "Out: ",
		heads: lazyre.New(`^Execution logs:$`),
		below: lazyre.New(`^ ?─{8,}$`),
		ends:  lazyre.New(`^Out: `),
		anew:  lazyre.New(`^Execution logs:$`),
	},
	{
		sign: " Message ==", end: " Message ==",
		heads: lazyre.New(`^={3,60} (?:Human|Tool|Function) Message ={3,60}$`),
		ends:  lazyre.New(`^={3,60} (?:Ai|Tool|Function) Message ={3,60}$`),
		anew:  lazyre.New(`^={3,60} (?:Human|System) Message ={3,60}$`),
	},
	{
		sign: "[[ ## ", end: "[[ ## ",
		heads: lazyre.New(`^\[\[ ## \w{1,60} ## \]\]$`),
		ends:  lazyre.New(`^\[\[ ## \w{1,60} ## \]\]$`),
		anew:  lazyre.New(`^(?:System message:|\[\[ ## completed ## \]\])$`),
	},
	{
		sign: ": Proposed new text for ", end: ": Iteration ",
		heads: lazyre.New(`: Iteration \d{1,6}: Proposed new text for [\w.]{1,100}: `),
		ends:  lazyre.New(`: Iteration \d{1,6}: `),
		anew:  lazyre.New(`: Running GEPA for `),
	},
	{
		sign: "## Tool Output:", end: "# Agent:",
		heads: lazyre.New(`^## Tool Output: ?$`),
		ends:  lazyre.New(`^# Agent:`),
		anew:  lazyre.New(`^Running the Crew$`),
	},
	{
		sign: "INFO:torchtune.utils._logging:", end: "Time for inference: ",
		heads: lazyre.New(`^(?:system|user)$`),
		ends:  lazyre.New(`^Time for inference: \d`),
		anew:  lazyre.New(`^Running \w{1,60} with resolved config:`),
	},
	{
		sign: "Prompt after formatting:", end: "Finished chain.",
		heads: lazyre.New(`^Prompt after formatting:$`),
		ends:  lazyre.New(`^(?:> ?)?Finished chain\.$`),
		anew:  lazyre.New(`^(?:> ?)?Entering new .{0,80}chain\.\.\.$`),
	},
	{
		sign: " run with ", end: "}",
		heads: lazyre.New(`^\{$`),
		below: lazyre.New(`^\[\w{1,20}/(?:start|end)\] \[.{1,900} run with (?:in|out)put:$`),
		ends:  lazyre.New(`^\}$`),
		anew:  lazyre.New(`^\[\w{1,20}/(?:start|end|error)\] \[`),
	},
	{
		sign: "PROMPT=", end: "Output generated in ",
		heads: lazyre.New(`^PROMPT=$`),
		ends:  lazyre.New(`^Output generated in \d[\d.]{0,12} seconds \(.{1,40}, [1-9]\d{0,6} tokens, `), // it generates none where it fails
		anew:  lazyre.New(`^(?:Starting Text generation web UI|Output generated in |  File ".{1,300}/modules/\w{1,40}\.py", )`),
	},
	{
		sign: "Input: {\"", end: " ",
		heads: lazyre.New(`^Output: `),
		ends:  lazyre.New(`^(?:Input: \{"|Server was stopped by )`),
		anew:  lazyre.New(`^Welcome to KoboldCpp`),
	},
	{
		sign: " > Text: ", end: " > Processing time: ",
		heads: lazyre.New(`^(?: > )?Text: `),
		ends:  lazyre.New(`^(?:> )?Processing time: \d`),
		anew:  lazyre.New(`^(?: > )?Using model: `),
	},
	{
		sign: " Accuracy reward: ", end: " Accuracy reward: ",
		heads: lazyre.New(`^Content: `),
		ends:  lazyre.New(` Accuracy reward: [\d.]{1,8} -{8,}$`),
		anew:  lazyre.New(`^Running training\b`),
	},
	{
		sign: "- input: ", end: "- actual output: ",
		heads: lazyre.New(`^\s{0,4}- input: `),
		ends:  lazyre.New(`^\s{0,4}- actual output: `),
		anew:  lazyre.New(`^Metrics Summary$`),
	},
	{sign: "== Running in interactive mode. ==", end: ">", heads: asked, ends: asked, anew: ownFailure},
	{
		sign: "generate: n_ctx = ", end: "_print",
		heads: lazyre.New(`^` + stampOfGGML + `generate: n_ctx = \d`),
		ends:  lazyre.New(`^` + stampOfGGML + `(?:(?:llama|common)_perf_\w{0,20}print|llama_print_timings): `),
		anew:  ownFailure,
	},
	{
		sign: "ollama run ", end: " ",
		heads: lazyre.New(`(?:^|[$#%❯>] )ollama run \S|^>>> \S`),
		ends:  lazyre.New(`^(?:>>>(?: |$)|total duration: {1,12}\d)`),
		anew:  ownFailure,
	},
	{
		sign: ">>> ", end: ">>> ",
		heads: lazyre.New(`^>>> [A-Za-z]`),
		ends:  lazyre.New(`^>>> (?:/(?:bye|exit|clear|set|show|load|save|\?)\b|Send a message \()`),
		anew:  ownFailure,
	},
	{sign: "Starting chat session with ", end: ">>", heads: asked, ends: asked, anew: ownFailure},
	{sign: "enter a message for the chat model:", end: ">", heads: asked, ends: asked, anew: ownFailure},
	{sign: "Type '!multi' to enter multiple lines", end: ">", heads: asked, ends: asked, anew: ownFailure},
	{sign: "Type \".help\" for additional help.", end: ">", heads: asked, ends: asked, anew: ownFailure},
	{
		sign: ">:", end: ">:",
		heads: lazyre.New(`^<[\w./-]{1,100}>:$`),
		ends:  lazyre.New(`^<[\w./-]{1,100}>:$`),
		anew:  ownFailure,
	},
	{
		sign: "==========", end: "==========",
		heads: lazyre.New(`^={10}$`),
		ends:  lazyre.New(`^={10}$`),
		anew:  ownFailure,
		then: &console{
			end:  "Prompt: ",
			ends: lazyre.New(`^Prompt: \d{1,9} tokens, \d[\d.]{0,12} tokens-per-sec$`),
			anew: lazyre.New(`.`),
		},
	},
	{
		sign: "\n> ", end: " t/s ]", // at the beginning of a line: `-> ` is in every other log
		heads: lazyre.New(`^> \S`),
		ends:  lazyre.New(`^\[ Prompt: [\d.]{1,12} t/s \| Generation: [\d.]{1,12} t/s \]$`),
		anew:  ownFailure,
	},
	shell("+ "), shell("$ "), shell("]Run "), debugger("(Pdb) "), debugger("ipdb> "), debugger("(gdb) "),
}

// asked is the line on which somebody asks a model. ownFailure is how the programs that talk with one begin, and how they say that they failed.
var (
	asked      = lazyre.New(`^[\w.%:/-]{0,40}>>?(?: |$)`)
	ownFailure = lazyre.New(`^` + stampOfGGML + `(?:build *: |main: |Loading model|Error: |ERROR|(?:ggml|GGML|llama)_\w{1,60}: |llama_(?:model_load|kv_cache|context)|CUDA error: |Please enter a message|Chatting with |Welcome to |== Running in |Fetching \d)|(?:^|[$#%❯>+] )ollama run \S|\(core dumped\)`)
)

// stampOfGGML is what llama.cpp begins its lines with where it logs the time.
const stampOfGGML = `(?:[\d.]{9,16} [IWED] )?`

// findProof makes an event wait for the line that proves it quoted, where one may come and nothing else is waited for.
func (r *Reader) findProof(e *parser.Event) {
	at, ok := r.lineOf(e)
	if !ok || r.fence.until > 0 || r.long != nil || e.Role == parser.Context || !r.mayLookBack(0) {
		return
	}
	f := fence{stream: e.Header.Stream, by: e.Header.Stream, here: true, text: e.At.Line, from: e.At.Line - 1, until: r.line + watchLines}
	own, _, _ := bytes.Cut(r.buf[at:], newline)
	if bytes.IndexByte(own, '@') >= 0 {
		body, _ := envelope.Peel(own)
		if m := told().FindSubmatch(body); m != nil {
			f.end = string(m[1]) + "-> " + string(m[2])
		}
	}
	if before, ok := r.lineBefore(at); ok && placed().Match(r.buf[before:at]) {
		f.end, f.until = caret, e.At.Line+1
	}
	if c, from, by := r.consoleOf(e, at); c != nil {
		f.console, f.end, f.from, f.by, f.text = c, c.end, from, by, 0
	}
	if _, first := r.inPlaces(own, at); first && f.end == "" {
		f.end, f.until = "2", e.At.Line+1
		_, f.score = placeIn(own)
	}
	if f.end == "" {
		return // as most events
	}
	line := e.At.Line
	for raw := range bytes.Lines(r.buf[at:]) { // some events are emitted only when they are over
		if line > e.At.Line {
			f.read(line, raw)
		}
		if line++; line > min(r.line, f.until) {
			break
		}
	}
	r.fence = f
}

// withPrompt is a line without its prefix, of which the sign of a prompt is no part: it is one where it marks a quotation.
func withPrompt(line []byte) (body []byte, h envelope.Header) {
	if body, h = envelope.Peel(line); len(line) > 0 && line[0] == '>' {
		return line, h
	}
	return body, h
}

// consoleOf is the console that shows an event, with the line of the nearest heading and who wrote that: the lines below are of all writers within
// this one.
func (r *Reader) consoleOf(e *parser.Event, at int) (nearest *console, heading int, by string) {
	own, _, _ := bytes.Cut(r.buf[at:], newline)
	for i := range consoles {
		if c := &consoles[i]; r.holdsAbove(at+len(own), c.sign) { // as before few events
			if line, writer := r.headingOf(c, e, at); line > heading && !(c.shell && r.runsBeside(e, at, line)) {
				nearest, heading, by = c, line, writer
			}
		}
	}
	return nearest, heading, by
}

// headingOf is the heading of a console above an event, 0 where that has ended or begun anew. One that a logger prints ends at its next record.
func (r *Reader) headingOf(c *console, e *parser.Event, at int) (heading int, by string) {
	line, logged := e.At.Line, e.Header.Level > 0
	own, _, _ := bytes.Cut(r.buf[at:], newline)
	switch body, h := withPrompt(own); {
	case c.anew().Match(body):
		return 0, "" // its own words
	case c.below == nil && c.heads().Match(body):
		return line - 1, h.Stream // the heading holds the rest of its line
	}
	for above := range r.above(at) {
		line--
		body, h := withPrompt(above)
		if heading > 0 {
			if c.below().Match(body) {
				return heading, by
			}
			return 0, ""
		}
		isRecord := h.Level > 0 // a collector puts no more than a time before each line
		switch {
		case c.ends().Match(body) && c.anew().Match(body):
			return 0, ""
		case c.heads().Match(body):
			if isRecord && logged || (isRecord || h.Stream != "") && h.Stream != e.Header.Stream {
				return 0, ""
			}
			if heading, by = line, h.Stream; c.below == nil {
				return heading, by
			}
		case c.ends().Match(body) || c.anew().Match(body):
			return 0, ""
		}
		logged = logged || isRecord
	}
	return 0, ""
}
