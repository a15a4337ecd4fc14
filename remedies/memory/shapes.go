package memory

import (
	"fmt"
	"slices"
)

// Shape describes a transformer's parameters and their distribution. Zero is unknown. A dense model has no experts.
type Shape struct {
	Hidden, Inner, Heads, KVHeads, HeadDim, Vocab Figure
	Experts, ExpertInner                          Figure
	TP                                            int64 // ranks that every matrix is split over
	Ranks                                         int64 // ranks that FSDP splits parameters over
	// Flat says that FSDP keeps a layer's parameters as one tensor, whole or split: its first version.
	Flat bool
	// Apart is set where no matrices are fused, as in the models of transformers.
	Apart bool
}

// tensor is a tensor that a trainer or an engine makes of parameters, with its elements: at least low, and at most high
// if biases and norms, which no log shows, may be among them.
type tensor struct {
	kind      string // embedding, qkv, experts, linear, unit
	what, how string
	low, high int64
	named     bool // a size comes from the model's name
}

// mostElements is larger than any tensor: beyond it, the log is wrong.
const mostElements = 1 << 40

// matrices are the tensors of one rank: the embedding, the matrices of a layer, and stacks of experts. Matrices that
// engines and Megatron keep fused are listed fused and separately.
func (s *Shape) matrices() []tensor {
	t := max(s.TP, 1)
	var out []tensor
	part := ""
	if t > 1 {
		part = fmt.Sprintf(" / %d ranks", t)
	}
	add := func(kind, what string, rows int64, rowsHow string, figures ...Figure) {
		h := s.Hidden.Value
		if h <= 0 || rows <= 0 || rows%t != 0 || rows/t > mostElements/h {
			return
		}
		out = append(out, tensor{
			kind: kind, what: what, how: fmt.Sprintf("%s x %s hidden%s", rowsHow, s.Hidden, part), low: rows / t * h, high: rows / t * h,
			named: s.Hidden.Named || slices.ContainsFunc(figures, func(f Figure) bool { return f.Named }),
		})
	}
	add("embedding", "the embedding or the head", s.Vocab.Value, s.Vocab.String()+" vocabulary", s.Vocab)
	q, kv := s.Heads.Value*s.HeadDim.Value, s.KVHeads.Value*s.HeadDim.Value
	if q > 0 && kv > 0 && !s.Apart {
		add("qkv", "the fused query, key and value matrix of a layer", q+2*kv, fmt.Sprintf("(%s + 2 x %s) heads x %s", s.Heads, s.KVHeads, s.HeadDim), s.Heads, s.KVHeads, s.HeadDim)
	}
	if !s.Apart {
		add("linear", "the fused gate and up matrix of a layer", 2*s.Inner.Value, "2 x "+s.Inner.String()+" intermediate size", s.Inner)
	}
	add("linear", "one matrix of a feed-forward layer", s.Inner.Value, s.Inner.String()+" intermediate size", s.Inner)
	if e, i := s.Experts.Value, s.ExpertInner.Value; e > 0 && i > 0 && i < mostElements/e {
		add("experts", "the gate and up matrices of all experts of a layer", 2*e*i, fmt.Sprintf("%s experts x 2 x %s intermediate size", s.Experts, s.ExpertInner), s.Experts, s.ExpertInner)
		add("experts", "the down matrices of all experts of a layer", e*i, fmt.Sprintf("%s experts x %s intermediate size", s.Experts, s.ExpertInner), s.Experts, s.ExpertInner)
	}
	return out
}

// units returns what FSDP gathers at a time: a layer, and the rest of the model. Mixtures of experts and split matrices are
// left out.
func (s *Shape) units() []tensor {
	h, i, q, kv := s.Hidden.Value, s.Inner.Value, s.Heads.Value*s.HeadDim.Value, s.KVHeads.Value*s.HeadDim.Value
	if h <= 0 || s.Experts.Value > 1 || s.TP > 1 {
		return nil
	}
	var out []tensor
	named := s.Hidden.Named || s.Inner.Named || s.Heads.Named
	if i > 0 && q > 0 && kv > 0 && h < 1<<20 && i < 1<<20 && q < 1<<20 && kv < 1<<20 {
		low := h*(q+2*kv) + q*h + 3*h*i
		out = append(out, tensor{
			kind: "unit", what: "all parameters of one layer", low: low, high: low + 2*h + q + 2*kv + 2*s.HeadDim.Value, named: named,
			how: fmt.Sprintf("%s hidden x (2 x %s + 2 x %s of attention + 3 x %s of the feed-forward part)", s.Hidden, Thousands(q), Thousands(kv), s.Inner),
		})
	}
	if v := s.Vocab.Value; v > 0 && v < 1<<22 && h < 1<<20 {
		out = append(out, tensor{
			kind: "unit", what: "embedding and head in one", low: 2 * v * h, high: 2*v*h + h, named: s.Hidden.Named || s.Vocab.Named,
			how: fmt.Sprintf("2 x %s vocabulary x %s hidden", s.Vocab, s.Hidden),
		})
	}
	return out
}

// split is a tensor divided over ranks, by rows or flat.
func split(list []tensor, ranks int64) []tensor {
	if ranks <= 1 {
		return list
	}
	out := make([]tensor, len(list))
	for i, t := range list {
		t.low, t.high = t.low/ranks, (t.high+ranks-1)/ranks
		t.how += fmt.Sprintf(" / %d ranks", ranks)
		out[i] = t
	}
	return out
}

// leastMatrix is the smallest size compared with tensor sizes: too many tensors match a smaller one.
const leastMatrix = 48 << 20

// parameters reads the size as tensors made of the model's parameters, where the stack says that such a tensor was made:
// gathered, created, or matched by one of Adam's moments. If several fit, all are named; more than two prove nothing.
func (r *Request) parameters(size Interval) []Explanation {
	s := r.Shape
	if s == nil {
		return nil
	}
	var list []tensor
	widths, what := []int64{2, 4}, "%s in one piece"
	switch {
	case r.Place == Gather && r.Single:
		list = s.matrices()
	case r.Place == Gather:
		list = slices.Concat(s.matrices(), s.units())
	case r.Place == Unpacked:
		list, widths, what = s.matrices(), []int64{2}, "a quantized weight unpacked for use (%s)"
	case r.Place == Weights && r.Fresh:
		list, what = s.matrices(), "%s as it is created"
	case r.Place == Weights && r.Cast:
		list, what = s.matrices(), "%s as it is loaded"
	case r.Place == Optimizer && r.Fresh:
		widths, what = []int64{4, 2}, "one of Adam's moments for %s, created in the first step"
		switch {
		case s.Flat:
			list = split(s.units(), s.Ranks)
		case s.Ranks > 1:
			list = split(s.matrices(), s.Ranks)
		default:
			list = s.matrices()
		}
	}
	var out []Explanation
	for _, t := range list {
		if r.Making != "" && t.kind != r.Making {
			continue
		}
		for _, width := range widths {
			low, high := t.low*width, t.high*width
			if low < leastRequest || r.Place != Gather && low < leastMatrix || low > size.High || high < size.Low {
				continue
			}
			from := ""
			if t.named {
				from = ", sizes from the model's name"
			}
			about := Parameter
			if r.Place == Unpacked {
				about = string(Unpacked)
			}
			out = append(out, Explanation{
				What: about, Met: true, Seen: true, Bytes: width,
				Text: fmt.Sprintf(what+": %s x %d bytes = %s%s.", t.what, t.how, width, GiB(low), from),
			})
		}
	}
	const most = 2
	if len(out) > most {
		return nil
	}
	return out
}
