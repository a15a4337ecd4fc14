package cause

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/classifier"
	"oomscan/remedies/memory"
)

func TestABatchIsNamedByItsSetting(t *testing.T) {
	t.Parallel()
	infers := func(in *Input) { in.Infers = true }
	for name, c := range map[string]struct {
		change []func(*Input)
		want   string
	}{
		"nothing is known":              {nil, "the activations of the micro-batch do not fit"},
		"a micro-batch":                 {[]func(*Input){setting("micro_batch_size", "4"), setting("batch_size", "32")}, "the activations of the micro-batch do not fit (micro_batch_size 4)"},
		"a batch":                       {[]func(*Input){setting("batch_size", "32")}, "the activations of the batch do not fit (batch_size 32)"},
		"a value that is no number":     {[]func(*Input){setting("batch_size", "auto")}, "the activations of the micro-batch do not fit"},
		"the sum over all GPUs":         {[]func(*Input){setting("train_batch_size", "256"), func(in *Input) { in.Backend = "deepspeed" }}, "the activations of the micro-batch do not fit"},
		"one of several models' in RL":  {[]func(*Input){setting("micro_batch_size", "64"), func(in *Input) { in.Framework = "verl" }}, "the activations of the micro-batch do not fit"},
		"an evaluation":                 {[]func(*Input){infers, setting("per_device_eval_batch_size", "8")}, "the activations of the batch do not fit (per_device_eval_batch_size 8)"},
		"training's in an evaluation":   {[]func(*Input){infers, setting("per_device_train_batch_size", "8")}, "the activations of the batch do not fit"},
		"a limit of samples and tokens": {[]func(*Input){setting("micro_batch_size", "4"), func(in *Input) { in.Tokens = &memory.Limit{Samples: 4, Longest: 2048} }}, "the activations of a micro-batch of 4 x up to 2,048 tokens do not fit"},
		"recomputation that is off":     {[]func(*Input){setting("micro_batch_size", "4"), setting("gradient_checkpointing", "False")}, "the activations of the micro-batch do not fit (micro_batch_size 4); gradient_checkpointing is false, so every layer keeps its activations"},
	} {
		assert.Equal(t, c.want, failure("gpu", "backward", c.change...).microBatch(), name)
	}
}

func TestAnEnginesStepHasItsTokens(t *testing.T) {
	t.Parallel()
	const step = "the activations of one engine step do not fit"
	printed := func(in *Input) { in.PrefillTokens = 8192 }
	for name, c := range map[string]struct {
		change []func(*Input)
		want   string
	}{
		"nothing is known":                  {nil, step},
		"a setting":                         {[]func(*Input){setting("max_num_batched_tokens", "8192")}, step + ": up to 8,192 tokens a step (max_num_batched_tokens)"},
		"a setting that is off":             {[]func(*Input){setting("chunked_prefill_size", "-1")}, step},
		"a prefill batch":                   {[]func(*Input){printed, setting("chunked_prefill_size", "16384"), stack("model_runner.py forward_extend")}, step + ": the last prefill batch had 8,192 tokens"},
		"a prefill batch before a decoding": {[]func(*Input){printed, stack("model_runner.py forward_decode")}, step},
		"a projector":                       {[]func(*Input){func(in *Input) { in.Picture = true }}, "the image encoder's working memory does not fit beside the model"},
		"a picture":                         {[]func(*Input){setting("max_num_batched_tokens", "8192"), stack("visual.py forward")}, "the vision tower's activations do not fit"},
	} {
		assert.Equal(t, c.want, failure("gpu", "rollout", c.change...).stepPart(), name)
	}
}

func TestAStreamOnTheFirstCardFindsOthersThere(t *testing.T) {
	t.Parallel()
	const stream, forward = "/x/torch/cuda/streams.py __new__ return super().__new__(cls)", "/x/torch/nn/modules/linear.py forward return f.linear(input)"
	for _, c := range []struct {
		name, device, frame string
		gpus                int64
		foreign             bool
	}{
		{"a stream beside the chosen card", "cuda:4", stream, 0, true},
		{"a stream on the chosen card", "cuda:0", stream, 0, false},
		{"a layer on the chosen card", "cuda:4", forward, 0, false},
		{"a rank of several", "cuda:4", stream, 8, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			best, _ := Rank(&Input{
				Resource: "gpu", Phase: "forward", Kind: "gpu_driver_oom", GPUs: c.gpus, Stack: []string{c.frame},
				Setting: func(names ...string) (string, string, bool) {
					return "--device", c.device, slices.Contains(names, "device")
				},
			})
			assert.Equal(t, c.foreign, best.ID == "foreign_process" && strings.Contains(best.Text, "--device is cuda:4, but a stream is made on GPU 0"), best)
		})
	}
}

// TestGrowthWithinAStepIsEven has readings of a first step: the parts of its memory differ, what a loop keeps does not.
func TestGrowthWithinAStepIsEven(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		gib  []int64
		want bool
	}{
		"micro-batches that stay":                  {[]int64{16, 17, 29, 41, 54, 64}, true},
		"weights, gradients, Adam and activations": {[]int64{4, 15, 30, 60, 66, 74}, false},
		"too few": {[]int64{16, 28, 40, 52}, false},
		"a fall":  {[]int64{16, 28, 40, 39, 52, 64}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trend := classifier.Trend{Name: "reading.card_named", Count: len(c.gib), Rises: len(c.gib) - 1, First: c.gib[0] << 30, Last: c.gib[len(c.gib)-1] << 30}
			for _, n := range c.gib {
				trend.Points = append(trend.Points, classifier.Point{Bytes: n << 30})
			}
			in := &Input{Resource: "gpu", Phase: "backward", LastStep: number(0), Growth: []classifier.Trend{trend}}
			_, grows := in.growth()
			assert.Equal(t, c.want, grows)

			trend.Name = "reading.rss"
			in = &Input{Resource: "host", Phase: "init", Growth: []classifier.Trend{trend}}
			_, grows = in.growth()
			assert.Equal(t, c.want, grows, "a program that serves or generates may say nothing after its start")
		})
	}
}
