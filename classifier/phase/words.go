package phase

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"oomscan/parser/lazyre"
)

// meaning is what a text means that an expression finds.
type meaning struct {
	expr  func() *regexp.Regexp
	phase Phase
	holds []string // in lower case: every text that the expression finds holds one of them; none: it is tried on all texts
}

// firstOf is the phase of the first expression that finds something, and what it found.
func firstOf(list []meaning, text string) (p Phase, found string) {
	lower := strings.ToLower(text)
	for _, m := range list {
		if len(m.holds) > 0 && !slices.ContainsFunc(m.holds, func(s string) bool { return strings.Contains(lower, s) }) {
			continue
		}
		if found := m.expr().FindString(text); found != "" {
			return m.phase, found
		}
	}
	return Unknown, ""
}

// words are what a failure's own message may say of where it happened, most particular first: how TensorFlow and XLA
// name the nodes of a graph that they derived, and how trainers that caught the failure put it.
var words = []meaning{
	{lazyre.New(`(?:^|[/ {'])save(?:_\d+)?/(?:Assign|Restore|Save)`), Checkpoint, []string{"save"}},
	{lazyre.New(`\w/(?:Initializer/\w|Assign\b)`), Init, []string{"/initializer/", "/assign"}},
	{lazyre.New(`\bResourceApply\w{1,40}|\bApply(?:Adam|Momentum|GradientDescent|RMSProp)|(?:^|[/ ])(?:Adam|AdamW|SGD|RMSprop)(?:_\d+)?/(?:update|Adam)`), Optimizer, []string{"apply", "adam", "sgd", "rmsprop"}},
	{lazyre.New(`\bgradient_tape/|\bgradients(?:_\d+)?/|\b\w{1,40}Backprop(?:Input|Filter)?\w{0,4}\b|transpose\(jvp\(|\bOP_REQUIRES failed at \w{0,40}_grad_\w{0,40}\.cc`), Backward, []string{"gradient", "backprop", "jvp", "_grad_"}},
	// Text Generation Inference names the spans that a message is printed in; Triton says what it was making.
	{lazyre.New(`\bwarmup(?:\{[^{}]{0,200}\})?: text_generation_(?:client|router_v\d::client)\b`), Init, []string{"text_generation_"}},
	{lazyre.New(`\b(?:prefill|decode)(?:\{[^{}]{0,200}\})?: text_generation_(?:client|router_v\d::client)\b|\b(?:in|during) generat(?:ing|ion)(?:[:.,]|\s*$)`), Rollout, []string{"text_generation_", "in generating", "during generation"}},
	{lazyre.New(`\bError executing load_single_module\b`), Init, []string{"load_single_module"}}, // TensorRT-LLM's loader
	{lazyre.New(`\bwhen creating modelInstanceState\b|\bfailed to load '[^'\n]{1,100}' version \d{1,9}: |\| UNAVAILABLE: `), Init, []string{"modelinstancestate", "failed to load", "unavailable"}},
	{lazyre.New(`(?i)\bforward ?(?:/|and) ?backward\b`), Training, []string{"forward"}},
	{lazyre.New(`(?i)\b(?:in|during|on|at) (?:the )?backward\b|\bbackward (?:pass )?(?:failed|ran out)|\bbackward pass\b`), Backward, []string{"backward"}},
	{lazyre.New(`(?i)\bforward (?:pass )?(?:failed|ran out)|\b(?:during|training) forward\b|\bforward pass\b`), Forward, []string{"forward"}},
	{lazyre.New(`(?i)\b(?:in|during|on|at) (?:the )?optimi[sz]er(?: step|\.step)|\boptimi[sz]er step failed`), Optimizer, []string{"optimi"}},
	{lazyre.New(`\bOP_REQUIRES failed at (?:batch_)?(?:conv|matmul|mat_mul|cwise|softmax|bias|fused|pooling|maxpooling|concat|transpose|reduction|einsum|pad|gather|split|relu|lrn)\w{0,40}\.cc`), Forward, []string{"op_requires"}}, // TensorFlow's kernels
	{lazyre.New(`\bjvp\(`), Forward, []string{"jvp("}},
}

// maxWords is how many bytes of a message are read: what the allocator says after them does not show the phase.
const maxWords = 1 << 10

// FromWords finds the phase from the message of a failure, where it says more than that memory ran out.
func FromWords(message string) (Verdict, bool) {
	message = head(message, maxWords)
	p, found := firstOf(words, message)
	if found == "" {
		return Verdict{Phase: Unknown, Confidence: Low}, false
	}
	return Verdict{Phase: p, Confidence: Medium, Why: fmt.Sprintf("The message says `%s`: %s.", show(found), means(p))}, true
}

// bars maps descriptions of progress bars to phases. A bar without a description that shows the loss means training.
var bars = []meaning{
	{lazyre.New(`(?:^|[\s\])])(?:Validat(?:ion|ing)|Evaluat(?:ion|ing)|Testing|Sanity Checking)(?: DataLoader \d{1,3})?$`), Forward, nil},
	{lazyre.New(`(?:^|[\s\])])(?:Generating(?: responses)?|Sampling|sampling loop time step|Processed prompts)$`), Rollout, nil},
	{lazyre.New(`(?:^|[\s\])])(?:Map|Filter|Tokenizing .{1,60}|Running tokenizer .{1,60})(?: \(num_proc=\d{1,4}\))?$`), Data, nil},
	{lazyre.New(`(?:^|[\s\])])(?:Loading (?:safetensors )?checkpoint shards|Loading pipeline components\.\.\.|Capturing CUDA graph.{1,60}|Capturing batches .{1,100})$`), Init, nil},
	{lazyre.New(`(?:^|[\s\])])(?:[Ee]poch(?:[ :\[(]{1,2}\d{1,6}(?:/\d{1,6})?[\])]?)?|[Ss]teps|[Tt]rain(?:ing)?)$`), Training, nil},
}

// bar finds the last state of a progress bar in a line, its description and what follows its frame.
var bar = lazyre.New(`^(.{0,120}?):? {0,4}\d{1,3}%\|[^|]{0,80}\|([^\]]{0,200})`)

// FromBar finds the phase from a progress bar on a failure's line. tqdm ends the line only when the bar is full, so the
// program's next output follows on the same line.
func FromBar(line string) (Verdict, bool) {
	m := bar().FindStringSubmatch(head(line, maxWords))
	if m == nil {
		return Verdict{Phase: Unknown, Confidence: Low}, false
	}
	p, found := firstOf(bars, strings.TrimRight(m[1], " :"))
	if found == "" && strings.Contains(m[2], "loss") {
		p, found = Training, m[2]
	}
	if found == "" {
		return Verdict{Phase: Unknown, Confidence: Low}, false
	}
	return Verdict{Phase: p, Confidence: Low, Why: fmt.Sprintf("A progress bar on its line, `%s`, had begun and not ended: %s.", show(strings.TrimSpace(found)), means(p))}, true
}
