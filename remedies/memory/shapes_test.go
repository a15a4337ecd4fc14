package memory

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/parser"
)

// shapeOf is the shape of a model of the table, as its name tells it.
func shapeOf(t *testing.T, name string) *Shape {
	t.Helper()
	m, ok := KnownModel(name)
	require.True(t, ok)
	if m.HeadDim == 0 {
		m.HeadDim = m.Hidden / m.Heads
	}
	f := func(n int64) Figure { return Figure{Value: n, Named: true} }
	return &Shape{Hidden: f(m.Hidden), Inner: f(m.Intermediate), Heads: f(m.Heads), KVHeads: f(m.KVHeads), HeadDim: f(m.HeadDim), Vocab: f(m.Vocab), TP: 1}
}

// asBlock is a request for so many bytes, as PyTorch's message prints it.
func asBlock(n int64, change func(*Request)) *Request {
	n = (n + blockBytes - 1) / blockBytes * blockBytes
	step := float64(1<<20) / 100
	if n >= 1<<30 {
		step = float64(1<<30) / 100
	}
	printed := int64(float64(int64(float64(n)/step+.5)) * step)
	r := &Request{Size: Printed(printed, ""), Bytes: printed, Block: true}
	change(r)
	return r
}

func TestTensorsOfParametersAreToldByTheirSizes(t *testing.T) {
	t.Parallel()
	const layer = 3584*(28+2*4)*128 + 3584*3584 + 3*3584*18944 // of Qwen2.5-7B, without its norms and biases
	qwen := func(change func(*Shape)) *Shape {
		s := shapeOf(t, "Qwen/Qwen2.5-7B")
		if change != nil {
			change(s)
		}
		return s
	}
	for name, c := range map[string]struct {
		bytes  int64
		change func(*Request)
		text   string // empty: nothing is told
	}{
		"one layer is gathered": {
			2 * (layer + 2*3584 + 4608),
			func(r *Request) { r.Place, r.Shape = Gather, qwen(nil) },
			"all parameters of one layer in one piece: 3,584 hidden x (2 x 3,584 + 2 x 512 of attention + 3 x 18,944 of the feed-forward part) x 2 bytes",
		},
		"the rest of the model is gathered in fp32": {
			4 * 2 * 152064 * 3584,
			func(r *Request) { r.Place, r.Shape = Gather, qwen(nil) },
			"embedding and head in one in one piece: 2 x 152,064 vocabulary x 3,584 hidden x 4 bytes",
		},
		"an engine creates its embedding": {
			2 * 152064 / 2 * 3584,
			func(r *Request) {
				r.Place, r.Fresh, r.Making, r.Shape = Weights, true, "embedding", qwen(func(s *Shape) { s.TP = 2 })
			},
			"the embedding or the head as it is created: 152,064 vocabulary x 3,584 hidden / 2 ranks x 2 bytes = 519.8 MiB",
		},
		"an engine creates its gate and up matrix": {
			2 * 2 * 18944 * 3584,
			func(r *Request) { r.Place, r.Fresh, r.Shape = Weights, true, qwen(nil) },
			"the fused gate and up matrix of a layer as it is created: 2 x 18,944 intermediate size",
		},
		"a stack of experts": {
			128 * 2 * 768 * 2048 * 2,
			func(r *Request) {
				r.Place, r.Fresh, r.Making = Weights, true, "experts"
				r.Shape = &Shape{Hidden: Figure{Value: 2048}, Experts: Figure{Value: 128}, ExpertInner: Figure{Value: 768}, TP: 1}
			},
			"the gate and up matrices of all experts of a layer as it is created: 128 experts x 2 x 768 intermediate size x 2,048 hidden x 2 bytes",
		},
		"the first moment of the embedding": {
			4 * 152064 * 3584,
			func(r *Request) { r.Place, r.Fresh, r.Shape = Optimizer, true, qwen(nil) },
			"one of Adam's moments for the embedding or the head, created in the first step: 152,064 vocabulary x 3,584 hidden x 4 bytes = 2.03 GiB",
		},
		"the first moment of a rank's part of it": {
			4 * 152064 * 3584 / 8,
			func(r *Request) { r.Place, r.Fresh, r.Shape = Optimizer, true, qwen(func(s *Shape) { s.Ranks = 8 }) },
			"152,064 vocabulary x 3,584 hidden / 8 ranks x 4 bytes",
		},
		"the first moment of a flat layer": {
			4 * layer / 4,
			func(r *Request) {
				r.Place, r.Fresh, r.Shape = Optimizer, true, qwen(func(s *Shape) { s.Ranks, s.Flat = 4, true })
			},
			"one of Adam's moments for all parameters of one layer",
		},
		"weights that are only loaded": {2 * 152064 * 3584, func(r *Request) { r.Place, r.Shape = Weights, qwen(nil) }, ""},
		"a step that creates nothing":  {4 * 152064 * 3584, func(r *Request) { r.Place, r.Shape = Optimizer, qwen(nil) }, ""},
		"a stack that ends elsewhere":  {2 * 152064 * 3584, func(r *Request) { r.Place, r.Fresh, r.Shape = Elsewhere, true, qwen(nil) }, ""},
		"no shape":                     {2 * 152064 * 3584, func(r *Request) { r.Place = Gather }, ""},
		"another size":                 {1 << 30, func(r *Request) { r.Place, r.Shape = Gather, qwen(nil) }, ""},
		"too small a tensor to be sure": {
			2 * 4096 * 4096,
			func(r *Request) { r.Place, r.Fresh, r.Shape = Weights, true, shapeOf(t, "Llama-2-7b") },
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Explain(asBlock(c.bytes, c.change))
			if c.text == "" {
				assert.Empty(t, got)
				return
			}
			require.NotEmpty(t, got)
			var texts []string
			for _, e := range got {
				texts = append(texts, e.Text)
			}
			assert.Contains(t, strings.Join(texts, "\n"), c.text)
		})
	}
}

// TestGatheredTensorsAreFound prints the size of tensors of random models and asks what they were.
func TestGatheredTensorsAreFound(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	found := 0
	for range 500 {
		f := func(n int64) Figure { return Figure{Value: n} }
		s := &Shape{
			Hidden: f(512 * (1 + rng.Int64N(20))), Inner: f(256 * (4 + rng.Int64N(100))), Heads: f(8 * (1 + rng.Int64N(8))), KVHeads: f(8), HeadDim: f(128),
			Vocab: f(32000 + rng.Int64N(220000)), TP: 1,
		}
		all := append(s.matrices(), s.units()...)
		want := all[rng.IntN(len(all))]
		width := []int64{2, 4}[rng.IntN(2)]
		if want.low*width < leastRequest {
			continue
		}
		got := Explain(asBlock(want.low*width, func(r *Request) { r.Place, r.Shape = Gather, s }))
		if len(got) == 0 {
			continue // more than two tensors have the size
		}
		ok := false
		for _, e := range got {
			ok = ok || strings.Contains(e.Text, want.how)
		}
		assert.True(t, ok, "%s: %s", want.what, got[0].Text)
		found++
	}
	assert.Greater(t, found, 300)
}

func TestTheCardsNameTellsItsSize(t *testing.T) {
	t.Parallel()
	at := func(source, card, gb string) classifier.Gauge {
		return classifier.Gauge{Name: "gpu.card", At: parser.Position{Source: source, Line: 1}, Fields: parser.Fields{"card": card, "gb": gb}}
	}
	for name, c := range map[string]struct {
		gauges []classifier.Gauge
		want   string
	}{
		"one":                       {[]classifier.Gauge{at("a", "A100", "80")}, "A100"},
		"the same twice":            {[]classifier.Gauge{at("a", "A100", "80"), at("a", "A100", "80")}, "A100"},
		"a card of two sizes":       {[]classifier.Gauge{at("a", "A100", "80"), at("a", "A100", "40")}, ""},
		"two kinds":                 {[]classifier.Gauge{at("a", "A100", "80"), at("a", "L4", "")}, ""},
		"a name without its size":   {[]classifier.Gauge{at("a", "A100", "")}, ""},
		"a name nobody knows":       {[]classifier.Gauge{at("a", "Z9", "")}, ""},
		"in another input":          {[]classifier.Gauge{at("b", "L4", "")}, ""},
		"one size goes by its name": {[]classifier.Gauge{at("a", "RTX 4090", "")}, "RTX 4090"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := failed(classifier.Root{At: parser.Position{Source: "a", Line: 9}})
			size, got, ok := CardSize(&classifier.Run{Gauges: c.gauges}, in)
			assert.Equal(t, c.want != "", ok)
			if ok {
				assert.Equal(t, c.want, got)
				assert.Less(t, size.Low, size.High)
			}
		})
	}
}

func TestReadingsBelowZeroAgreeWithThemselves(t *testing.T) {
	t.Parallel()
	g := classifier.Gauge{Name: "vllm.kv_available", Stream: "engine", At: parser.Position{Source: "a", Line: 1}, Fields: parser.Fields{"available": "-1073741824"}}
	in := failed(classifier.Root{At: parser.Position{Source: "a", Line: 9}, Stream: "rank0"})
	_, ok := Reading(&classifier.Run{Gauges: []classifier.Gauge{g}}, in, g.Name)
	assert.True(t, ok)
}
