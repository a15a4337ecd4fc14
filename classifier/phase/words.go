package phase

import (
	"fmt"
	"regexp"

	"oomscan/parser/lazyre"
)

// meaning is what a text means that an expression finds.
type meaning struct {
	expr  func() *regexp.Regexp
	phase Phase
}

// firstOf is the phase of the first expression that finds something, and what it found.
func firstOf(list []meaning, text string) (p Phase, found string) {
	for _, m := range list {
		if found := m.expr().FindString(text); found != "" {
			return m.phase, found
		}
	}
	return Unknown, ""
}

// words are what a failure's own message may say of where it happened, most particular first: how TensorFlow and XLA
// name the nodes of a graph that they derived, and how trainers that caught the failure put it.
var words = []meaning{
	{lazyre.New(`(?:^|[/ {'])save(?:_\d+)?/(?:Assign|Restore|Save)`), Checkpoint},
	{lazyre.New(`\w/(?:Initializer/\w|Assign\b)`), Init},
	{lazyre.New(`\bResourceApply\w{1,40}|\bApply(?:Adam|Momentum|GradientDescent|RMSProp)|(?:^|[/ ])(?:Adam|AdamW|SGD|RMSprop)(?:_\d+)?/(?:update|Adam)`), Optimizer},
	{lazyre.New(`\bgradient_tape/|\bgradients(?:_\d+)?/|\b\w{1,40}Backprop(?:Input|Filter)?\w{0,4}\b|transpose\(jvp\(|\bOP_REQUIRES failed at \w{0,40}_grad_\w{0,40}\.cc`), Backward},
	// Text Generation Inference names the spans that a message is printed in; Triton says what it was making.
	{lazyre.New(`\bwarmup(?:\{[^{}]{0,200}\})?: text_generation_(?:client|router_v\d::client)\b`), Init},
	{lazyre.New(`\b(?:prefill|decode)(?:\{[^{}]{0,200}\})?: text_generation_(?:client|router_v\d::client)\b|\bRequest failed during generation: `), Rollout},
	{lazyre.New(`\bError executing load_single_module\b`), Init}, // TensorRT-LLM's loader
	{lazyre.New(`\bwhen creating modelInstanceState\b|\bfailed to load '[^'\n]{1,100}' version \d{1,9}: |\| UNAVAILABLE: `), Init},
	{lazyre.New(`(?i)\bforward ?(?:/|and) ?backward\b`), Training},
	{lazyre.New(`(?i)\b(?:in|during|on|at) (?:the )?backward\b|\bbackward (?:pass )?(?:failed|ran out)|\bbackward pass\b`), Backward},
	{lazyre.New(`(?i)\bforward (?:pass )?(?:failed|ran out)|\b(?:during|training) forward\b|\bforward pass\b`), Forward},
	{lazyre.New(`(?i)\b(?:in|during|on|at) (?:the )?optimi[sz]er(?: step|\.step)|\boptimi[sz]er step failed`), Optimizer},
	{lazyre.New(`\bjvp\(`), Forward},
}

// maxWords are the bytes of a message that are read: the allocator's own words behind them do not show the phase.
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
