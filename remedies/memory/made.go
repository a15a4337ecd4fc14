package memory

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"oomscan/parser/lazyre"
)

// Made is a tensor whose shape is printed where it was to be made: in generated code or in the message.
type Made struct {
	Dims  []int64
	Width int64 // bytes of an element
	// Stacked says that XLA printed it, whose first dimension is often the number of layers: it keeps their weights in one tensor.
	Stacked bool
}

// shapes match a shape and the type of its elements: in code that PyTorch's inductor generates, in a message of TensorFlow, and as
// XLA writes them.
var shapes = []func() *regexp.Regexp{
	lazyre.New(`empty_strided\w{0,16}\(\(([0-9][0-9, ]{0,120})\),.{0,160}?torch\.(\w{1,20})`),
	lazyre.New(`tensor with shape ?\[([0-9][0-9, ]{0,120})\] and type (\w{1,20})`),
	lazyre.New(`\b(?P<xla>pred|bf16|[fsuc][0-9]{1,3})\[([0-9][0-9,]{0,120})\]`),
}

// widths are the bytes of an element, by the names of its type in PyTorch, TensorFlow and XLA.
var widths = map[string]int64{
	"float64": 8, "double": 8, "f64": 8, "int64": 8, "long": 8, "s64": 8, "u64": 8, "c64": 8, "complex64": 8,
	"float32": 4, "float": 4, "f32": 4, "int32": 4, "s32": 4, "u32": 4,
	"float16": 2, "half": 2, "f16": 2, "bfloat16": 2, "bf16": 2,
	"int8": 1, "uint8": 1, "bool": 1, "pred": 1, "s8": 1, "u8": 1,
}

// mostDims is more dimensions than any tensor here has.
const mostDims = 8

// FindMade returns the first shape in a text whose tensor has the size of the request.
func FindMade(text string, size Interval) (Made, bool) {
	if len(text) > mostMessage {
		text = text[:mostMessage]
	}
	for _, re := range shapes {
		for _, m := range re().FindAllStringSubmatch(text, 20) {
			dims, name, xla := m[1], m[2], re().SubexpIndex("xla") > 0
			if xla {
				dims, name = name, dims
			}
			made := Made{Width: widths[strings.ToLower(name)], Stacked: xla}
			for d := range strings.SplitSeq(strings.Trim(dims, ", "), ",") {
				n, err := strconv.ParseInt(strings.TrimSpace(d), 10, 64)
				if err != nil || n <= 0 {
					made.Width = 0
				}
				made.Dims = append(made.Dims, n)
			}
			if n := made.bytes(); n > 0 && size.Holds(n) {
				return made, true
			}
		}
	}
	return Made{}, false
}

// bytes returns the tensor's size, or 0 if it is unknown.
func (m *Made) bytes() int64 {
	if m.Width <= 0 || len(m.Dims) == 0 || len(m.Dims) > mostDims {
		return 0
	}
	n := m.Width
	for _, d := range m.Dims {
		if d <= 0 || n > mostRequest/d {
			return 0
		}
		n *= d
	}
	return n
}

func (m *Made) String() string {
	parts := make([]string, len(m.Dims))
	for i, d := range m.Dims {
		parts[i] = Thousands(d)
	}
	return fmt.Sprintf("%s x %d %s", strings.Join(parts, " x "), m.Width, map[bool]string{true: "byte", false: "bytes"}[m.Width == 1])
}

// Tensor is what an [Explanation] is about if only the shape is known.
const Tensor = "tensor"

// made explains the request by the printed shape: a row of the vocabulary for each token, scores of each token for each, or a tensor of
// which no more is known.
func (r *Request) made() []Explanation {
	m := r.Made
	if m == nil {
		return nil
	}
	e := Explanation{What: Tensor, Met: true, Bytes: m.Width, Text: "a tensor of " + m.String() + " = " + GiB(r.Bytes) + "."}
	last, rest := m.Dims[len(m.Dims)-1], m.bytes()/m.Width/m.Dims[len(m.Dims)-1]
	switch {
	case m.Width != 2 && m.Width != 4:
	case r.isVocabulary(last) && rest >= leastTokens:
		e.What, e.Seen, e.Low, e.High = "logits", true, rest, rest
		if r.within(&e) {
			e.Met, e.Text = true, fmt.Sprintf("logits: %s tokens x %s vocabulary x %d bytes = %s.", Thousands(rest), Thousands(last), m.Width, GiB(r.Bytes))
			return []Explanation{e}
		}
		e = Explanation{What: Tensor, Met: true, Bytes: m.Width, Text: e.Text}
	case r.isScores(m):
		e.What, e.Seen = "attention", true
		e.Text = fmt.Sprintf("attention scores built in full: %s = %s; they grow with the square of the length; flash attention never builds them.", m, GiB(r.Bytes))
	}
	return []Explanation{e}
}

// isVocabulary reports whether a dimension is the model's vocabulary, or that of a known model, which no layer is as wide as.
func (r *Request) isVocabulary(n int64) bool {
	if r.Vocab.Value > 0 {
		return n == r.Vocab.Value
	}
	return n&(n-1) != 0 && slices.Contains(Vocabularies(), n)
}

// leastScores is the least length whose scores are told from other square tensors.
const leastScores = 256

// isScores reports whether a shape is that of attention scores: a square for each head of each sample. Squares are also stacked weights
// and, one for each channel, the feature maps of images, so that four dimensions are scores only with the model's heads or a stack that
// names them.
func (r *Request) isScores(m *Made) bool {
	n := len(m.Dims)
	if n < 3 || m.Dims[n-1] != m.Dims[n-2] || m.Dims[n-1] < leastScores {
		return false
	}
	if r.Place == Attention || n == 4 && m.Dims[1] == r.Heads.Value {
		return true
	}
	return n == 3 && !m.Stacked && r.Tokens && (r.Shape == nil || r.Shape.Hidden.Value != m.Dims[n-1])
}

// sampler reads the size as a row of the vocabulary for each sampled sequence: samplers work on probabilities in float32.
func (r *Request) sampler(size Interval) []Explanation {
	const width = 4
	if r.Place != Sampler || r.Wide != Yes || r.Vocab.Value <= 0 {
		return nil
	}
	low, high := size.count(r.Vocab.Value * width)
	if low > high || low < leastTokens {
		return nil
	}
	about := "about "
	if low == high {
		about = ""
	}
	rows := Thousands(rough(low, high)) + " rows"
	for _, p := range r.Products {
		if p.Tokens >= low && p.Tokens <= high && !p.Tried {
			about, rows = "", fmt.Sprintf("%s rows (%s)", Thousands(p.Tokens), p.How)
		}
	}
	named := ""
	if r.Vocab.Named {
		named = " (from the model's name)"
	}
	return []Explanation{{
		What: string(Sampler), Seen: true, Bytes: width, Low: low, High: high,
		Text: fmt.Sprintf("the sampler's probabilities in float32: %s%s x %s vocabulary%s x %d bytes = %s.", about, rows, r.Vocab, named, width, GiB(r.Bytes)),
	}}
}
