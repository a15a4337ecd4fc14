package memory

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func bytesOf(g float64) int64 { return int64(g*(1<<30) + 0.5) }

// asked is a request that PyTorch printed with two decimals of a GiB.
func asked(g float64, change func(*Request)) *Request {
	n := bytesOf(g)
	r := &Request{Size: Printed(n, ""), Bytes: n, Block: true, Tokens: true}
	change(r)
	return r
}

func TestAPrintedSizeIsAnInterval(t *testing.T) {
	t.Parallel()
	const mib, gib = 1 << 20, 1 << 30
	for name, c := range map[string]struct {
		n       int64
		message string
		width   int64 // of the interval
	}{
		"two decimals of a GiB": {bytesOf(17.66), "Tried to allocate 17.66 GiB. GPU 0 has", gib / 100},
		"two decimals of a MiB": {594 * mib, "Tried to allocate 594.00 MiB", mib / 100},
		"one decimal":           {bytesOf(20.5), "needs 20.5 GiB", gib / 10},
		"none":                  {20 * gib, "needs 20 GiB of it", gib},
		"exact bytes":           {402653184, "Failed to allocate 402653184 bytes", 1},
		"not in the message":    {bytesOf(1.98), "", gib / 100},
		"no printed figure":     {123456789, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := Printed(c.n, c.message)
			assert.True(t, v.Holds(c.n))
			assert.InDelta(t, c.width, v.High-v.Low, 2)
		})
	}
}

func TestLogitsAreToldByTokensTimesVocabulary(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		request *Request
		first   string // of what the first explanation is; empty: none
		text    []string
		over    bool
	}{
		"the field note's request": {
			asked(17.66, func(r *Request) {
				r.Vocab, r.Limit = Figure{Value: 151936}, &Limit{Key: "micro", Value: "32", Tokens: 32 * 1536, Samples: 32, How: "32 x (512 + 1,024)"}
			}),
			"logits",
			[]string{"probably logits", "31,200 tokens x 151,936 vocabulary x 4 bytes", "micro-batch of 32 x 975 tokens"},
			false,
		},
		"no vocabulary, no explanation": {asked(17.66, func(r *Request) { r.Limit = &Limit{Tokens: 49152} }), "", nil, false},
		"the budget itself": {
			asked(18.55, func(r *Request) {
				r.Place, r.Wide, r.Vocab = Logits, Yes, Figure{Value: 151936}
				r.Limit = &Limit{Key: "--max-tokens-per-gpu", Value: "32768", Tokens: 32768, Budget: true}
			}),
			"logits",
			[]string{"logits in float32: 32,768 tokens", "that is exactly --max-tokens-per-gpu"},
			false,
		},
		"a limit that is not applied": {
			asked(34.53, func(r *Request) {
				r.Place, r.Wide, r.Vocab = Logits, Yes, Figure{Value: 151936}
				r.Limit = &Limit{Key: "--max-tokens-per-gpu", Value: "8192", Tokens: 8192, Budget: true}
			}),
			"logits",
			[]string{"about 61,000 tokens", "7.4 times --max-tokens-per-gpu = 8192", "not being applied, so lowering it does not help"},
			true,
		},
		"one sample longer than the limit": {
			asked(34.53, func(r *Request) {
				r.Place, r.Wide, r.Vocab = Logits, Yes, Figure{Value: 151936}
				r.Limit = &Limit{Key: "--max-tokens-per-gpu", Value: "8192", Tokens: 8192, Budget: true, Longest: 65536, AtLeast: 65536}
			}),
			"logits",
			[]string{"one sample alone may have 65,536 tokens"},
			true,
		},
		"one sample that nothing limits": {
			asked(34.53, func(r *Request) {
				r.Place, r.Wide, r.Vocab = Logits, Yes, Figure{Value: 151936}
				r.Limit = &Limit{Key: "--max-tokens-per-gpu", Value: "8192", Tokens: 8192, Budget: true, Uncut: true}
			}),
			"logits",
			[]string{"a longer sample is neither cut nor split"},
			true,
		},
		"elements of two bytes would be over, of four not": {
			asked(9.29, func(r *Request) {
				r.Place, r.Vocab = Logits, Figure{Value: 152064}
				r.Limit = &Limit{Key: "budget", Value: "20000", Tokens: 20000, Budget: true}
			}),
			"logits",
			[]string{"16,400 tokens", "4 bytes"},
			false,
		},
		"every sample at its full length": {
			asked(7.83, func(r *Request) {
				r.Place, r.Wide, r.Vocab, r.VocabOf = Logits, Yes, Figure{Value: 64128}, "128,256 / 2"
				r.Limit = &Limit{Key: "--micro-batch-size", Value: "4", Tokens: 32768, Samples: 4, Longest: 8192, How: "4 x 8,192"}
			}),
			"logits",
			[]string{"32,768 tokens x (128,256 / 2) vocabulary x 4 bytes = 7.83 GiB; the most the settings allow (4 x 8,192)"},
			false,
		},
		"too many tokens for the settings, and no stack that names logits": {
			asked(17.66, func(r *Request) { r.Vocab, r.Limit = Figure{Value: 151936}, &Limit{Tokens: 4096} }), "", nil, false,
		},
		"no stack and no limit": {asked(17.66, func(r *Request) { r.Vocab = Figure{Value: 151936} }), "", nil, false},
		"a stack that ends elsewhere": {
			asked(17.66, func(r *Request) { r.Vocab, r.Place, r.Limit = Figure{Value: 151936}, Elsewhere, &Limit{Tokens: 49152} }), "", nil, false,
		},
		"split over ranks": {
			asked(4.64, func(r *Request) {
				r.Place, r.Wide, r.Vocab, r.VocabOf = Logits, Yes, Figure{Value: 152064 / 4}, "152,064 / 4"
			}),
			"logits",
			[]string{"(152,064 / 4) vocabulary"},
			false,
		},
		"small requests come from segments of fixed sizes": {
			&Request{Size: Printed(2<<20, ""), Bytes: 2 << 20, Place: Logits, Vocab: Figure{Value: 1024}}, "", nil, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Explain(c.request)
			if c.first == "" {
				assert.Empty(t, got)
				assert.Empty(t, Words(got))
				return
			}
			require.NotEmpty(t, got)
			assert.Equal(t, c.first, got[0].What)
			assert.Equal(t, c.over, got[0].Over)
			for _, w := range c.text {
				assert.Contains(t, Words(got), w)
			}
		})
	}
}

func TestOtherTensorsAreToldWhereTheStackNamesThem(t *testing.T) {
	t.Parallel()
	whole := asked(2.37, func(r *Request) {
		r.Place, r.Shape = Gather, &Shape{Vocab: Figure{Value: 248320, Named: true}, Hidden: Figure{Value: 5120}, TP: 1}
	})
	assert.Contains(t, Words(Explain(whole)), "248,320 vocabulary x 5,120 hidden x 2 bytes = 2.37 GiB, sizes from the model's name")

	group := asked(3.73, func(r *Request) {
		r.Place = Optimizer
		r.States = []State{{What: "one group", How: "sub_group_size 1,000,000,000 x 4 bytes", Bytes: 4e9, Key: "sub_group_size", Places: []Place{Optimizer}}}
	})
	got := Explain(group)
	require.Len(t, got, 1)
	assert.True(t, got[0].Met)
	assert.Equal(t, "sub_group_size", got[0].Key)
	group.Place = MLP
	assert.Empty(t, Explain(group), "such a tensor is not made there")

	mlp := asked(0.29, func(r *Request) {
		r.Place, r.Inner, r.Limit = MLP, Figure{Value: 18944}, &Limit{Tokens: 8192, Budget: true, Key: "b"}
	})
	assert.Contains(t, Words(Explain(mlp)), "activations of a feed-forward layer")

	scores := asked(16, func(r *Request) {
		r.Place, r.Heads, r.Limit = Attention, Figure{Value: 32}, &Limit{Samples: 4, Longest: 8192, Tokens: 32768}
	})
	assert.Contains(t, Words(Explain(scores)), "4 samples x 32 heads x")
}

// TestExplanationsReproduceTheRequest takes tensors of known shapes, prints them as PyTorch does, and asks what they were:
// the true number of tokens is always within what is claimed.
func TestExplanationsReproduceTheRequest(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		vocab, tokens := 32000+rng.Int64N(230000), 200+rng.Int64N(100000)
		width := []int64{2, 4}[rng.IntN(2)]
		tensor := vocab * tokens * width
		block := (tensor + blockBytes - 1) / blockBytes * blockBytes
		printed := bytesOf(float64((block*100+1<<29)>>30) / 100)
		if block < 1<<30 || tensor > 1<<42 {
			continue
		}
		wide := map[int64]Truth{2: No, 4: Yes}[width]
		got := Explain(&Request{Size: Printed(printed, ""), Bytes: printed, Block: true, Place: Logits, Wide: wide, Vocab: Figure{Value: vocab}, Limit: &Limit{Tokens: tokens, Budget: true}})
		require.NotEmpty(t, got, "%d x %d x %d", vocab, tokens, width)
		assert.LessOrEqual(t, got[0].Low, tokens)
		assert.GreaterOrEqual(t, got[0].High, tokens)
		assert.True(t, got[0].Met)
		assert.False(t, got[0].Over)
	}
}

func TestLogitsOfAFullBatchMayLackTheLastTokenOfEachSample(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		gib    float64
		tokens int64
		text   string
	}{
		"all tokens":                   {49.12, 262144, "the most the settings allow (128 x 2,048)."},
		"without the last of a sample": {49.10, 262016, "the most the settings allow (128 x 2,048, less the last token of each sample)."},
		"fewer":                        {24.00, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := Explain(asked(c.gib, func(r *Request) {
				r.Tokens, r.Vocab = true, Figure{Value: 50304}
				r.Limit = &Limit{Key: "batch_size", Value: "128", Tokens: 262144, Samples: 128, Longest: 2048, How: "128 x 2,048"}
			}))
			require.NotEmpty(t, list)
			assert.Equal(t, c.tokens > 0, list[0].Met)
			if c.tokens > 0 {
				assert.Equal(t, c.tokens, list[0].Low)
				assert.Contains(t, list[0].Text, c.text)
			}
		})
	}
}

func TestFeedForwardFollowsFromHiddenStates(t *testing.T) {
	t.Parallel()
	const hidden, inner = 3584, 18944 // Qwen2.5-7B
	assert.Equal(t, int64(74<<30), FeedForward(28<<30, hidden, inner), "2,097,152 tokens")
	assert.Zero(t, FeedForward(28<<30+2, hidden, inner), "no whole number of tokens")
	assert.Zero(t, FeedForward(28<<30, 0, inner))
	assert.Zero(t, FeedForward(28<<30, inner, hidden))
}
