package memory

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Figure is a number and whether it comes from the model's name rather than from the log. Zero is unknown.
type Figure struct {
	Value int64
	Named bool
}

func (f Figure) String() string { return Thousands(f.Value) }

// Place is what the innermost frames of a failure work on, judged by their names.
type Place string

// The places. Unnamed is a stack that ends in autograd's engine, which has no frames, or no stack at all: settings and
// only the sizes can show it. Elsewhere is a stack that ends in code that no formula here covers.
const (
	Unnamed   Place = ""
	Logits    Place = "logits"    // the head, a softmax, loss or entropy over the vocabulary
	MLP       Place = "mlp"       // the feed-forward part of a layer
	Attention Place = "attention" // scores that are built in full
	Gather    Place = "gather"    // parameters made whole: all-gather, full_tensor, state dict
	Optimizer Place = "optimizer" // the optimizer's state or its step
	Cache     Place = "cache"     // the keys and values of past tokens
	Buckets   Place = "buckets"   // gradient or parameter buffers of the trainer
	Weights   Place = "weights"   // parameters created or loaded
	Sampler   Place = "sampler"   // an engine's sampling
	Unpacked  Place = "unpacked"  // a quantized weight made whole to be used
	Elsewhere Place = "elsewhere"
)

// Limit is a bound on the tokens of one micro-batch of one GPU.
type Limit struct {
	Key    string // the setting, as it is advised
	Value  string
	Tokens int64
	// Budget reports whether the setting counts tokens itself. Otherwise Tokens is samples times the longest sample, and How
	// says so.
	Budget  bool
	How     string
	Samples int64 // of a micro-batch, when the setting counts them
	Longest int64 // tokens of the longest sample, 0 when unknown
	// AtLeast is Longest or, if a setting is missing, what the known ones allow one sample: the answer without the prompt.
	// With several turns it is what they have together.
	AtLeast int64
	Uncut   bool // no setting limits a sample
}

// OneSample says why a micro-batch of more tokens than a budget can be one sample, or "".
func (l *Limit) OneSample(tokens int64) string {
	switch {
	case l.Uncut:
		return "a longer sample is neither cut nor split"
	case l.AtLeast > 0 && tokens <= l.AtLeast:
		return fmt.Sprintf("one sample alone may have %s tokens and is never split", Thousands(l.AtLeast))
	}
	return ""
}

// full returns the tokens of a full micro-batch: those of the limit and, where it counts samples, those without the last token of each
// sample, which has no next one to predict.
func (l *Limit) full() []int64 {
	if l.Budget || l.Longest < 2 || l.Samples*l.Longest != l.Tokens {
		return []int64{l.Tokens}
	}
	return []int64{l.Tokens, l.Tokens - l.Samples}
}

// FeedForward returns the least bytes of a feed-forward part's wide tensor, in 16 bits, for the tokens of a request for their hidden states
// in float32; 0 if the request is none or the sizes are unknown.
func FeedForward(request, hidden, inner int64) int64 {
	const wide, narrow = 4, 2
	if hidden <= 0 || inner <= hidden || request < wide*hidden*leastTokens || request%(wide*hidden) != 0 {
		return 0
	}
	return request / (wide * hidden) * inner * narrow
}

// Request is a refused allocation and the known facts about the run.
type Request struct {
	Size    Interval
	Block   bool // the size was rounded up to whole blocks by PyTorch's allocator
	Bytes   int64
	Place   Place
	Wide    Truth // elements are of four bytes, for the frames name float32
	Tokens  bool  // the phase works on micro-batches of tokens
	Limit   *Limit
	Vocab   Figure // of one rank: padded and split where the head is
	VocabOf string // how Vocab came about when it is a part: "151,936 / 4"
	Inner   Figure // of the feed-forward layers
	Heads   Figure
	// Shape has the sizes of the model's parameters, nil if they are unknown; Making is the kind of tensor that the stack is
	// about (embedding, qkv, experts), empty when it names none; Fresh says that the stack creates weights or state.
	Shape  *Shape
	Making string
	Fresh  bool
	Single bool // parameters are gathered one by one, not a layer at a time
	Cast   bool // a weight is converted while it is loaded
	// Products are numbers of tokens that a batch of the settings has, whatever its limit.
	Products []Product
	// States are sizes that the settings predict: buckets, groups, parts of a sharded state.
	States []State
	Made   *Made // the failed tensor, if its shape is printed; nil if not
}

// Product is a number of tokens and how it came about.
type Product struct {
	Tokens  int64
	Samples int64  // 0 when unknown
	How     string // "8 x 2,048", "" when no setting has the length
	Tried   bool   // no setting has the number of samples
}

// Truth is Yes, No, or zero for unknown.
type Truth int8

// Yes and No settle Request.Wide; the zero value leaves it open.
const (
	Yes Truth = 1
	No  Truth = -1
)

// State is a size that the settings predict, in bytes, and its arithmetic.
type State struct {
	What   string // "one group of the optimizer's state in fp32"
	How    string // "sub_group_size 1,000,000,000 x 4 bytes"
	Bytes  int64
	Key    string  // the setting that decides it, empty when none does
	Places []Place // where such a tensor is made; any when empty
	More   string  // what follows from it, a clause
}

// LayerCache is what a [State] of the keys or values of one layer is.
const LayerCache = "the KV cache of one layer"

// mostRequest is larger than any card: beyond it, the log is wrong.
const mostRequest = 1 << 48

// Explanation is a possible meaning of a request.
type Explanation struct {
	What string
	Text string // one sentence with the arithmetic
	// Seen: the stack names it. Met: a setting predicts exactly this size. With neither, the size merely fits.
	Seen, Met  bool
	Samples    int64 // of the batch that it is for, 0 when unknown
	Low, High  int64 // tokens that the size corresponds to; 0 if it is not counted in tokens
	Bytes      int64 // of an element
	Over       bool  // more tokens than the limit allows, for any width of the elements
	OverWhy    string
	Key        string // of the setting that decides the size
	preference int
}

// Explain returns the possible meanings of a request, the likeliest first. It is empty if the figures that this takes are
// unknown, or when nothing fits: a guess is worse than nothing.
func Explain(r *Request) []Explanation {
	if r.Bytes < leastRequest || r.Bytes > mostRequest {
		return nil
	}
	size := r.Blocks()
	if list := r.made(); list != nil {
		return list
	}
	out := slices.Concat(r.states(size), r.logits(size), r.sampler(size), r.parameters(size), r.activations(size))
	slices.SortStableFunc(out, func(a, b Explanation) int { return rank(&b) - rank(&a) })
	return out
}

// Blocks returns the sizes that the failed tensor can have, as its allocator rounds.
func (r *Request) Blocks() Interval {
	if r.Block {
		return r.Size.tensor()
	}
	return r.Size
}

func rank(e *Explanation) int {
	n := e.preference
	if e.Met {
		n += 10
	}
	if e.Seen {
		n += 20
	}
	return n
}

// states returns the predicted sizes that match the request.
func (r *Request) states(size Interval) []Explanation {
	var out []Explanation
	for _, s := range r.States {
		if s.Bytes < leastRequest || !size.Holds(s.Bytes) || len(s.Places) > 0 && !slices.Contains(s.Places, r.Place) {
			continue
		}
		out = append(out, Explanation{
			What: s.What, Met: true, Seen: r.Place != Unnamed && len(s.Places) > 0, Key: s.Key,
			Text: fmt.Sprintf("%s: %s = %s%s.", s.What, s.How, GiB(s.Bytes), s.More),
		})
	}
	return out
}

// leastTokens is the smallest plausible number of tokens in a micro-batch.
const leastTokens = 16

// logits reads the size as tokens times vocabulary.
func (r *Request) logits(size Interval) []Explanation {
	if r.Vocab.Value <= 0 || r.Place != Logits && (r.Place != Unnamed || !r.Tokens) {
		return nil
	}
	var out []Explanation
	if e, ok := r.product(); ok {
		return []Explanation{e}
	}
	for _, width := range []int64{4, 2} {
		if r.Wide == Yes && width == 2 || r.Wide == No && width == 4 {
			continue
		}
		unit := r.Vocab.Value * width
		low, high := size.count(unit)
		if low > high || low < leastTokens {
			continue
		}
		e := Explanation{What: "logits", Seen: r.Place == Logits, Low: low, High: high, Bytes: width}
		if r.Wide == 0 && width == 4 {
			e.preference = 1 // losses and softmaxes work in four bytes
		}
		if !r.within(&e) {
			continue
		}
		out = append(out, e)
	}
	// Without a stack that names them, only what stays within the batch's bounds is worth saying.
	if r.Place == Unnamed && r.Limit == nil {
		return nil
	}
	for i := range out {
		e := &out[i]
		others := slices.ContainsFunc(out, func(o Explanation) bool { return !o.Over })
		if e.Over && (others || e.Bytes == 2 && r.Wide == 0) {
			e.Over, e.OverWhy = false, "" // narrower elements, or wider ones, would not be over
		}
		e.Text = r.tell(e)
	}
	return out
}

// Exactly reports whether a tensor of n bytes would be printed as this request.
func (r *Request) Exactly(n int64) bool {
	if r.Block {
		n = (n + blockBytes - 1) / blockBytes * blockBytes
	}
	return r.Size.Holds(n)
}

// product reads the size as the vocabulary for each token of a batch that the settings have. It takes no part where a limit is known,
// and two that fit prove nothing.
func (r *Request) product() (found Explanation, ok bool) {
	if r.Limit != nil {
		return found, false
	}
	for _, p := range r.Products {
		for _, width := range []int64{4, 2} {
			if p.Tokens < leastTokens || p.Tokens > mostRequest/r.Vocab.Value/width || !r.Exactly(p.Tokens*r.Vocab.Value*width) || r.Wide == Yes && width == 2 || r.Wide == No && width == 4 {
				continue
			}
			if p.Tried && width == 2 && r.Wide == 0 { // twice as many samples have the same size; losses work in four bytes
				continue
			}
			if ok {
				return found, false
			}
			how := ""
			if p.How != "" {
				how = " (" + p.How + ")"
			}
			found, ok = Explanation{
				What: "logits", Seen: r.Place == Logits, Met: true, Samples: p.Samples, Low: p.Tokens, High: p.Tokens, Bytes: width,
				Text: fmt.Sprintf("logits: %s tokens%s x %s x %d bytes = %s.", Thousands(p.Tokens), how, r.vocabulary(), width, GiB(r.Bytes)),
			}, true
		}
	}
	return found, ok
}

// vocabulary words how many entries the vocabulary has.
func (r *Request) vocabulary() string {
	s := r.Vocab.String()
	if r.VocabOf != "" {
		s = "(" + r.VocabOf + ")"
	}
	s += " vocabulary"
	if r.Vocab.Named {
		s += " (from the model's name)"
	}
	return s
}

// Tolerances of the comparison with a limit, in percent: a micro-batch that fills at least minFill of its limit is
// believed where no stack names the logits, and one beyond overFull is over a token budget, which may be exceeded a
// little when samples are spread evenly.
const (
	minFill  = 10
	overFull = 125
)

// within compares the tokens with the limit. It returns false if they contradict the explanation.
func (r *Request) within(e *Explanation) bool {
	l := r.Limit
	if l == nil || l.Tokens <= 0 {
		return true
	}
	for _, n := range l.full() {
		if e.Low <= n && n <= e.High && !e.Met {
			e.Met, e.Low, e.High = true, n, n
		}
	}
	if e.Low <= l.Tokens {
		e.Key = l.Key
		return r.Place == Logits || e.High*100 >= l.Tokens*minFill
	}
	if r.Place != Logits {
		return false
	}
	if l.Budget && e.Low*100 > l.Tokens*overFull {
		e.Over = true
		e.OverWhy = fmt.Sprintf("the micro-batch had about %s tokens, %s times its limit %s = %s", Thousands(rough(e.Low, e.High)), times(e.Low, l.Tokens), l.Key, l.Value)
		e.OverWhy += ": " + cmp.Or(l.OneSample(e.High), "the limit is not being applied")
	}
	return true
}

func times(n, limit int64) string {
	f := float64(n) / float64(limit)
	if f >= 10 {
		return fmt.Sprintf("%.0f", math.Floor(f))
	}
	return fmt.Sprintf("%.1f", math.Floor(f*10)/10)
}

// rough returns a number from the middle of a range, with only as many digits as the range supports.
func rough(low, high int64) int64 {
	mid := low + (high-low)/2
	for step := int64(1e9); step > 1; step /= 10 {
		if n := (mid + step/2) / step * step; low <= n && n <= high && n > 0 {
			return n
		}
	}
	return mid
}

// tell words an explanation that counts tokens.
func (r *Request) tell(e *Explanation) string {
	n := rough(e.Low, e.High)
	l := r.Limit
	what := "logits"
	if !e.Seen && !e.Met {
		what = "probably logits"
	}
	if e.Bytes == 4 {
		what += " in float32"
	} else {
		what += " in 16 bits"
	}
	about := "about "
	if e.Low == e.High || e.Met {
		about = ""
	}
	s := fmt.Sprintf("%s: %s%s tokens x %s x %d bytes = %s", what, about, Thousands(n), r.vocabulary(), e.Bytes, GiB(r.Bytes))
	switch {
	case l == nil || l.Tokens <= 0:
	case e.Met && l.Budget:
		s += fmt.Sprintf("; that is exactly %s", l.Key)
	case e.Met && n < l.Tokens:
		s += fmt.Sprintf("; the most the settings allow (%s, less the last token of each sample)", l.How)
	case e.Met:
		s += fmt.Sprintf("; the most the settings allow (%s)", l.How)
	case e.Over:
		s += fmt.Sprintf(". That is %s times %s = %s: %s, so lowering it does not help", times(e.Low, l.Tokens), l.Key, l.Value, cmp.Or(l.OneSample(e.High), "the limit is not being applied"))
	case l.Budget:
		s += fmt.Sprintf(" (%s = %s)", l.Key, l.Value)
	case e.Low > l.Tokens:
		s += fmt.Sprintf("; more than the %s that the settings allow (%s)", Thousands(l.Tokens), l.How)
	case l.Samples > 1 && l.Longest > 0:
		s += fmt.Sprintf(" (micro-batch of %s x %s tokens; the settings allow up to %s)", Thousands(l.Samples), Thousands(n/l.Samples), Thousands(l.Longest))
	case l.Samples > 1:
		s += fmt.Sprintf(" (micro-batch of %s x %s tokens)", Thousands(l.Samples), Thousands(n/l.Samples))
	default:
		s += fmt.Sprintf("; the settings allow up to %s (%s)", Thousands(l.Tokens), l.How)
	}
	return s + "."
}

// activations reads the size as tokens times the width of a layer, or as the scores of attention built in full.
func (r *Request) activations(size Interval) []Explanation {
	switch {
	case r.Place == MLP && r.Inner.Value > 0:
		tp, ranks := int64(1), ""
		if r.Shape != nil && r.Shape.TP > 1 {
			tp, ranks = r.Shape.TP, fmt.Sprintf(" / %d ranks", r.Shape.TP)
		}
		for _, parts := range []int64{1, 2} { // gate and up may be one matrix
			unit := max(r.Inner.Value*parts/tp, 1) * 2
			low, high := size.count(unit)
			if low > high || low < leastTokens || r.Limit == nil || low > r.Limit.Tokens {
				continue
			}
			e := Explanation{What: "activations", Seen: true, Low: low, High: high, Bytes: 2, Key: r.Limit.Key}
			e.Met = r.Limit.Budget && low <= r.Limit.Tokens && r.Limit.Tokens <= high
			n := rough(low, high)
			if e.Met {
				n = r.Limit.Tokens
			}
			wide := ""
			if parts == 2 {
				wide = "2 x "
			}
			e.Text = fmt.Sprintf("activations of a feed-forward layer: about %s tokens x %s%s intermediate size%s x 2 bytes = %s.", Thousands(n), wide, r.Inner, ranks, GiB(r.Bytes))
			return []Explanation{e}
		}
	case (r.Place == Attention || r.Place == Unnamed && r.Tokens) && r.Heads.Value > 0 && r.Limit != nil && r.Limit.Samples > 0:
		for _, width := range []int64{4, 2} {
			if r.Wide == Yes && width == 2 || r.Wide == No && width == 4 {
				continue
			}
			unit := float64(r.Limit.Samples * r.Heads.Value * width)
			low, high := int64(math.Ceil(math.Sqrt(float64(size.Low)/unit))), int64(math.Sqrt(float64(size.High)/unit))
			if low > high || low < leastTokens || r.Limit.Longest > 0 && low > r.Limit.Longest {
				continue
			}
			met := r.Limit.Longest >= leastScores && low <= r.Limit.Longest && r.Limit.Longest <= high
			if r.Place != Attention && !met { // no frame speaks for it: only the longest sample of the settings does
				continue
			}
			length := rough(low, high)
			if met {
				length = r.Limit.Longest
			}
			return []Explanation{{
				What: "attention", Seen: r.Place == Attention, Met: met, Bytes: width,
				Text: fmt.Sprintf("attention scores built in full: %s x %s heads x %s x %s tokens x %d bytes = %s; they grow with the square of the length; flash attention never builds them.",
					counted(r.Limit.Samples, "sample"), r.Heads, Thousands(length), Thousands(length), width, GiB(r.Bytes)),
			}}
		}
	}
	return nil
}

// Parameter is what an [Explanation] is about that reads the request as a tensor of the model's parameters.
const Parameter = "parameter"

// WideParameter reports whether the request can only be parameters in four bytes.
func WideParameter(list []Explanation) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(e Explanation) bool { return e.What != Parameter || e.Bytes != 4 })
}

// Words returns the finding for a list of explanations: the likeliest and any other that fits as well. It is empty for none.
func Words(list []Explanation) string {
	if len(list) == 0 {
		return ""
	}
	s := "The request: " + list[0].Text
	for i := range list[1:] {
		o := &list[i+1]
		if rank(o) < rank(&list[0])-1 || o.Low == 0 || o.What != list[0].What {
			continue
		}
		return strings.TrimSuffix(s, ".") + fmt.Sprintf(" (or about %s tokens in elements of %d bytes).", Thousands(rough(o.Low, o.High)), o.Bytes)
	}
	return s
}

// counted returns a number and what it counts: "1 sample".
func counted(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return Thousands(n) + " " + what
}
