package traceback

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPytestsPlacesAreFrames(t *testing.T) {
	t.Parallel()
	const (
		heading = "_______________ TestTrainer.test_fit[tiny] ________________\n"
		parts   = "_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _\n"
		whole   = "\nself = <tests.TestTrainer object>\n\n    def test_fit(self):\n        trainer = make()\n>       trainer.train()\n\ntests/test_fit.py:31: \n"
		places  = "/opt/lib/python3.11/site-packages/transformers/trainer.py:3745: in training_step\n    self.accelerator.backward(loss)\n/opt/lib/python3.11/site-packages/torch/_tensor.py:626: in backward\n    torch.autograd.backward(\n"
		full    = "E   torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.35 GiB.\n"
	)
	for name, c := range map[string]struct{ text, want string }{
		"all calls":                         {heading + whole + parts + places + full, "training_step>backward"},
		"short":                             {heading + places + full, "training_step>backward"},
		"a long function":                   {heading + whole + long(40) + parts + places + full, "training_step>backward"},
		"the last call in full":             {heading + whole + parts + places + parts + "\n    def run():\n>       go()\nE       RuntimeError: CUDA out of memory.\n\nx.py:3: RuntimeError\n", "training_step>backward"},
		"a heading of something else":       {"____ Training ____\n    torch.OutOfMemoryError: CUDA out of memory.\n", ""},
		"a heading before a traceback":      {"____ Training ____\nTraceback (most recent call last):\n  File \"a.py\", line 3, in f\n    g()\nMemoryError\n", "f"},
		"a heading before lost frames":      {"____ Training ____\n  File \"a.py\", line 3, in f\n    g()\nMemoryError\n", "f"},
		"a message that reads like a place": {heading + "loss in epoch 3: in total 2.1\n" + full, ""},
	} {
		var a Assembler
		states, traces := run(t, &a, c.text)
		if c.want == "" {
			assert.NotContains(t, states, "F", name)
			assert.NotContains(t, states, "c", name) // a code line would hide a failure
			continue
		}
		require.Len(t, traces, 1, name)
		assert.Equal(t, c.want, funcs(traces[0]), name)
		assert.Contains(t, traces[0].Exception, "Error", name)
	}
}

// long is the source of a function.
func long(lines int) (out string) {
	for range lines {
		out += "        x = x + 1\n"
	}
	return out
}
