package memory

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheSizesOfAModelGiveItsParameters(t *testing.T) {
	t.Parallel()
	checked := 0
	for i := range models {
		m := models[i]
		published := m.Parameters
		m.Parameters = 0
		if published == 0 || !m.sized() || m.Apart && m.Experts == 0 {
			continue
		}
		checked++
		assert.InEpsilon(t, published, m.parameters().Value, 0.001, m.Name)
	}
	assert.Greater(t, checked, 45)
}

func TestHFConfig(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config string
		want   Model
	}{
		"a plain decoder": {
			`{"model_type": "qwen2", "hidden_size": 3584, "intermediate_size": 18944, "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4, "vocab_size": 152064, "tie_word_embeddings": false}`,
			Model{Hidden: 3584, Intermediate: 18944, Heads: 28, Layers: 28, KVHeads: 4, Vocab: 152064},
		},
		"GPT-2's names and defaults": {
			`{"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "vocab_size": 50257, "n_inner": null}`,
			Model{Hidden: 768, Intermediate: 3072, Heads: 12, Layers: 12, KVHeads: 12, Vocab: 50257, Tied: true, Ungated: true, Biases: true},
		},
		"a mixture with shared experts and latent attention": {
			`{"model_type": "deepseek_v3", "hidden_size": 7168, "intermediate_size": 18432, "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 3,
			  "num_attention_heads": 128, "num_hidden_layers": 61, "num_key_value_heads": 128, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128, "vocab_size": 129280, "tie_word_embeddings": false}`,
			func() Model { m := modelNamed("DeepSeek-V3"); m.Name = ""; return m }(),
		},
		"a language model inside another": {
			`{"model_type": "qwen2_5_vl", "tie_word_embeddings": true, "vision_config": {"hidden_size": 1280}, "text_config": {"hidden_size": 2048, "num_hidden_layers": 36, "num_attention_heads": 16, "num_key_value_heads": 2, "intermediate_size": 11008, "vocab_size": 151936}}`,
			Model{Hidden: 2048, Intermediate: 11008, Heads: 16, Layers: 36, KVHeads: 2, Vocab: 151936, Tied: true, Apart: true},
		},
		"impossible sizes stay unknown": {
			`{"hidden_size": 1e300, "num_hidden_layers": -3, "num_attention_heads": "many", "vocab_size": 32000, "intermediate_size": 10.5}`,
			Model{Vocab: 32000, Tied: true},
		},
	} {
		got, err := ReadHFConfig([]byte(c.config))
		require.NoError(t, err, name)
		assert.Equal(t, c.want, got, name)
	}
	for _, bad := range []string{"", "[]", "{}", `{"hidden_size": null}`, "{", strings.Repeat(" ", mostConfig+1)} {
		_, err := ReadHFConfig([]byte(bad))
		assert.Error(t, err)
	}
}

func TestEstimatedModels(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "Qwen2.5-7B", EstimatedModels("Qwen/Qwen2.5-7B-Instruct")[0].Name)
	sizes := func(name string) (out []int64) {
		for _, m := range EstimatedModels(name) {
			out = append(out, m.Parameters)
		}
		return out
	}
	seven := sizes("our-model-7b-chat")
	require.NotEmpty(t, seven)
	assert.InDelta(t, 7e9, seven[0], 0.2e9)
	assert.Less(t, slices.Max(seven), int64(8.1e9))
	assert.Greater(t, slices.Min(seven), int64(5.9e9))
	assert.Empty(t, sizes("our-model-900b"))
	assert.Empty(t, sizes("our-model"))
	assert.Empty(t, sizes("0b"))
}
