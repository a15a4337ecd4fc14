package remedies

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// old is what PyTorch 1.10 printed.
func old(asked string) string {
	return "RuntimeError: CUDA out of memory. Tried to allocate " + asked + " (GPU 0; 14.76 GiB total capacity; 13.26 GiB already allocated; 87.75 MiB free; 13.72 GiB reserved in total by PyTorch)"
}

// TestNothingNewerThanTheLogIsProposed has attention that builds its scores, by programs of which some are too old for another one.
func TestNothingNewerThanTheLogIsProposed(t *testing.T) {
	t.Parallel()
	scores := func(python string) string {
		return stackOf("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 14.76 GiB total capacity; 13.26 GiB already allocated; 87.75 MiB free; 13.72 GiB reserved in total by PyTorch)",
			"/w/train.py|<module>|loss = model(**batch)", "/usr/lib/"+python+"/site-packages/transformers/models/bert/modeling_bert.py|forward|attention_scores = torch.matmul(query_layer, key_layer.transpose(-1, -2))")
	}
	for name, c := range map[string]struct {
		log  string
		want bool
	}{
		"no sign of an age": {scores("python3.10"), true},
		"Python 3.6":        {scores("python3.6"), false},
		"Python 3.7":        {scores("python3.7"), false},
		"PyTorch 1.10":      {stackOf(old("2.00 GiB"), "/w/train.py|<module>|loss = model(**batch)", "transformers/models/bert/modeling_bert.py|forward|attention_scores = torch.matmul(query_layer, key_layer.transpose(-1, -2))"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := For(incidentOf(t, c.log))
			require.NotNil(t, list.Cause)
			assert.Equal(t, "attention_scores", list.Cause.ID)
			got := changesOf(list)
			if c.want {
				assert.Contains(t, got, "attn_implementation=flash_attention_2")
			} else {
				assert.NotContains(t, got, "attn_implementation=flash_attention_2")
			}
		})
	}
}
