package memory

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAShapeIsReadWhereItsTensorHasTheSizeOfTheRequest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		gib  float64
		want string // empty: none
	}{
		"inductor":                 {"buf657 = empty_strided_cuda((256, 4096, 4096), (16777216, 4096, 1), torch.float32)", 16, "256 x 4,096 x 4,096 x 4 bytes"},
		"inductor, other strides":  {"buf1 = empty_strided((8192, 32000), (32000, 1), device='cuda:0', dtype=torch.bfloat16)", .49, "8,192 x 32,000 x 2 bytes"},
		"one dimension":            {"buf2 = empty_strided_cuda((1073741824, ), (1, ), torch.uint8)", 1, "1,073,741,824 x 1 byte"},
		"TensorFlow":               {"OOM when allocating tensor with shape[32,112,112,147] and type float on /job:localhost", .22, "32 x 112 x 112 x 147 x 4 bytes"},
		"XLA":                      {"Size: 4.00G Shape: bf16[1024,1024,2048]{2,1,0:T(8,128)(2,1)}", 4, "1,024 x 1,024 x 2,048 x 2 bytes"},
		"a tensor of another size": {"buf657 = empty_strided_cuda((256, 4096, 4096), (16777216, 4096, 1), torch.float32)", 8, ""},
		"the second of two":        {"f32[8,8] and then f32[1024,1024,1024]", 4, "1,024 x 1,024 x 1,024 x 4 bytes"},
		"an unknown type":          {"empty_strided_cuda((256, 4096, 4096), (16777216, 4096, 1), torch.float7)", 16, ""},
		"more than fits a number":  {"f32[9999999999,9999999999,9999999999,9999999999]", 16, ""},
		"no shape":                 {"x = self.norm(x[256, 4096])", 16, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := asked(c.gib, func(*Request) {})
			got, ok := FindMade(c.text, r.Blocks())
			assert.Equal(t, c.want != "", ok)
			if ok {
				assert.Equal(t, c.want, got.String())
			}
		})
	}
}

func TestAPrintedShapeSaysWhatTheTensorIs(t *testing.T) {
	t.Parallel()
	made := func(width int64, dims ...int64) func(*Request) {
		return func(r *Request) { r.Made = &Made{Dims: dims, Width: width} }
	}
	for name, c := range map[string]struct {
		gib    float64
		change []func(*Request)
		what   string
		text   string
	}{
		"tokens by vocabulary":            {8, []func(*Request){made(2, 65536, 65536), func(r *Request) { r.Vocab.Value = 65536 }}, "logits", "65,536 tokens x 65,536 vocabulary x 2 bytes = 8.00 GiB"},
		"as wide as a known vocabulary":   {9.28, []func(*Request){made(4, 4, 4096, 152064)}, "logits", "16,384 tokens x 152,064 vocabulary"},
		"a power of two may be a layer":   {8, []func(*Request){made(2, 65536, 65536)}, Tensor, "65,536 x 65,536 x 2 bytes"},
		"another width than the model's":  {9.28, []func(*Request){made(4, 4, 4096, 152064), func(r *Request) { r.Vocab.Value = 32000 }}, Tensor, ""},
		"more tokens than a batch has":    {8, []func(*Request){made(2, 65536, 65536), func(r *Request) { r.Vocab.Value, r.Limit = 65536, &Limit{Tokens: 4096, Samples: 2, Longest: 2048} }}, Tensor, ""},
		"a square for each head":          {16, []func(*Request){made(4, 256, 4096, 4096)}, "attention", "attention scores built in full: 256 x 4,096 x 4,096 x 4 bytes = 16.00 GiB"},
		"a square for each layer, by XLA": {2, []func(*Request){made(4, 32, 4096, 4096), func(r *Request) { r.Made.Stacked = true }}, Tensor, ""},
		"a square as wide as a layer":     {16, []func(*Request){made(4, 256, 4096, 4096), func(r *Request) { r.Shape = &Shape{Hidden: Figure{Value: 4096}} }}, Tensor, ""},
		"feature maps of images":          {4, []func(*Request){made(4, 64, 256, 256, 256)}, Tensor, ""},
		"four dimensions with the heads":  {4, []func(*Request){made(4, 16, 16, 2048, 2048), func(r *Request) { r.Heads.Value = 16 }}, "attention", ""},
		"a layer's activations":           {2, []func(*Request){made(2, 16, 4096, 16384)}, Tensor, "a tensor of 16 x 4,096 x 16,384 x 2 bytes = 2.00 GiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Explain(asked(c.gib, func(r *Request) {
				for _, f := range c.change {
					f(r)
				}
			}))
			require.Len(t, got, 1)
			assert.Equal(t, c.what, got[0].What)
			assert.Contains(t, Words(got), c.text)
			assert.True(t, got[0].Met)
			assert.Equal(t, c.what != Tensor, got[0].Seen)
		})
	}
}

func TestARequestIsAProductOfWhatTheLogKnows(t *testing.T) {
	t.Parallel()
	qwen := Figure{Value: 151936, Named: true}
	llama := &Shape{Hidden: Figure{Value: 8192}, Inner: Figure{Value: 28672}, Vocab: Figure{Value: 32000}, TP: 1}
	cache := State{What: LayerCache, How: "131,072 tokens", Bytes: 320 << 20, Places: []Place{Cache}, More: "; 25.00 GiB for 40 layers"}
	for name, c := range map[string]struct {
		gib    float64
		change func(*Request)
		text   string // empty: nothing fits
	}{
		"the sampler":                     {1.11, func(r *Request) { r.Place, r.Wide, r.Vocab = Sampler, Yes, qwen }, "the sampler's probabilities in float32: about 1,960 rows x 151,936 vocabulary (from the model's name) x 4 bytes = 1.11 GiB"},
		"the sampler, elements unknown":   {1.11, func(r *Request) { r.Place, r.Vocab = Sampler, qwen }, ""},
		"the sampler, vocabulary unknown": {1.11, func(r *Request) { r.Place, r.Wide = Sampler, Yes }, ""},
		"a batch of the settings": {1.95, func(r *Request) {
			r.Place, r.Vocab.Value, r.Products = Logits, 32000, []Product{{Tokens: 16384, How: "8 x 2,048"}, {Tokens: 2048, How: "1 x 2,048"}}
		}, "logits: 16,384 tokens (8 x 2,048) x 32,000 vocabulary x 4 bytes = 1.95 GiB"},
		"a batch without a stack":   {1.95, func(r *Request) { r.Vocab.Value, r.Products = 32000, []Product{{Tokens: 16384, How: "8 x 2,048"}} }, "16,384 tokens (8 x 2,048)"},
		"a batch that does not fit": {1.95, func(r *Request) { r.Vocab.Value, r.Products = 32000, []Product{{Tokens: 16000, How: "8 x 2,000"}} }, ""},
		"two batches that fit": {3.91, func(r *Request) {
			r.Vocab.Value, r.Products = 128256, []Product{{Tokens: 8192, How: "2 x 4,096"}, {Tokens: 16384, How: "4 x 4,096"}}
		}, ""},
		"a quantized weight":                   {.4375, func(r *Request) { r.Place, r.Shape = Unpacked, llama }, "a quantized weight unpacked for use (one matrix of a feed-forward layer): 28,672 intermediate size x 8,192 hidden x 2 bytes = 448.0 MiB"},
		"no matrix has that size":              {.5, func(r *Request) { r.Place, r.Shape = Unpacked, llama }, ""},
		"one parameter of several":             {.9765625, func(r *Request) { r.Place, r.Single, r.Shape = Gather, true, llama }, "32,000 vocabulary x 8,192 hidden x 4 bytes"},
		"a weight as it is converted":          {.875, func(r *Request) { r.Place, r.Cast, r.Shape = Weights, true, llama }, "the fused gate and up matrix of a layer as it is loaded: 2 x 28,672 intermediate size x 8,192 hidden x 2 bytes = 896.0 MiB."},
		"the cache of a layer":                 {.3125, func(r *Request) { r.Place, r.States = Cache, []State{cache} }, "the KV cache of one layer: 131,072 tokens = 320.0 MiB; 25.00 GiB for 40 layers"},
		"the same size where no cache is made": {.3125, func(r *Request) { r.Place, r.States = MLP, []State{cache} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Words(Explain(asked(c.gib, c.change)))
			if c.text == "" {
				assert.Empty(t, got)
				return
			}
			assert.Contains(t, got, c.text)
		})
	}
}
