package memory

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// parameters adds the parts of a plain decoder up: embedding, head, and per layer attention, feed-forward and norms.
// Which projections have a bias, and how many norms there are, differ between families: that is the tolerance.
func parameters(m *Model) int64 {
	dim := m.HeadDim
	if dim == 0 {
		dim = m.Hidden / m.Heads
	}
	matrices := int64(3)
	if m.Ungated {
		matrices = 2
	}
	layer := 2*m.Hidden*m.Heads*dim + 2*m.Hidden*m.KVHeads*dim + matrices*m.Hidden*m.Intermediate + 2*m.Hidden
	if m.Biases {
		layer += (m.Heads+2*m.KVHeads)*dim + m.Hidden + m.Intermediate + m.Hidden + 2*m.Hidden
	}
	n := m.Vocab*m.Hidden + m.Positions*m.Hidden + m.Layers*layer + m.Hidden
	if !m.Tied {
		n += m.Vocab * m.Hidden
	}
	return n
}

func TestTheSizesOfAPlainModelAddUpToItsParameters(t *testing.T) {
	t.Parallel()
	checked := 0
	for i := range models {
		m := &models[i]
		require.Positive(t, m.Vocab*m.Hidden*m.Layers*m.Heads*m.KVHeads, m.Name)
		assert.Zero(t, m.Heads%m.KVHeads, m.Name)
		if m.Apart {
			continue
		}
		checked++
		assert.InEpsilon(t, m.Parameters, parameters(m), 0.0006, m.Name)
	}
	assert.Greater(t, checked, 40)
}

func TestEveryModelIsFoundByItsOwnName(t *testing.T) {
	t.Parallel()
	for i := range models {
		for _, way := range []string{models[i].Name, "org/" + models[i].Name, "/data/models/" + strings.ToLower(models[i].Name) + "/", "models--org--" + models[i].Name + "/snapshots/0a1b"} {
			m, ok := KnownModel(way)
			require.True(t, ok, way)
			assert.Equal(t, models[i].Vocab, m.Vocab, way)
			assert.Equal(t, models[i].Hidden, m.Hidden, way)
		}
	}
}

func TestModelsAreToldByWholeNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Qwen/Qwen2.5-7B-Instruct":                            "Qwen2.5-7B",
		"/models/Qwen2.5-Coder-7B-Instruct":                   "Qwen2.5-7B",
		"/data/qwen2.5-7b-sft-0613/checkpoint-120":            "Qwen2.5-7B",
		"Qwen/Qwen2.5-VL-7B-Instruct":                         "Qwen2.5-VL-7B",
		"Qwen/Qwen3-30B-A3B-Instruct-2507":                    "Qwen3-30B-A3B",
		"deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B":           "DeepSeek-R1-Distill-Qwen-1.5B",
		"deepseek-ai/DeepSeek-R1":                             "DeepSeek-R1",
		"deepseek-ai/DeepSeek-V3-0324":                        "DeepSeek-V3",
		"meta-llama/Meta-Llama-3-8B-Instruct":                 "Llama-3-8B",
		"meta-llama/Meta-Llama-3.1-8B":                        "Llama-3.1-8B",
		"~/.cache/hub/models--meta-llama--Llama-2-7b-hf/refs": "Llama-2-7b",
		"/root/.cache/modelscope/hub/Qwen/Qwen1___5-7B-Chat":  "Qwen1.5-7B",
		"Qwen/Qwen3-4B-A1B":                                   "", // experts of its own
		"my-model-7b":                                         "",
		"Qwen2.5-70B":                                         "",
		"Qwen/Qwen1.5-1.8B-Chat":                              "Qwen1.5-1.8B",
		"Qwen1.5-2.8B":                                        "",
		"gpt2":                                                "gpt2",
		"openai-community/gpt2-xl":                            "gpt2-xl",
		"microsoft/DialoGPT-medium":                           "gpt2-medium",
		"bigscience/bloomz-7b1-mt":                            "bloom-7b1",
		"HuggingFaceH4/zephyr-7b-beta":                        "Mistral-7B",
		"teknium/OpenHermes-2.5-Mistral-7B":                   "Mistral-7B",
		"bigcode/starcoderbase-1b":                            "",
		"deepseek-ai/DeepSeek-R1-0528-Qwen3-8B":               "Qwen3-8B",
		"lmsys/vicuna-13b-v1.5":                               "llama-13b",
		"meta-llama/Meta-Llama-7b":                            "llama-7b",
		"llama-3-8b-pruned":                                   "",
		"":                                                    "",
		"Qwen":                                                "",
	} {
		m, ok := KnownModel(name)
		assert.Equal(t, want, m.Name, name)
		assert.Equal(t, want != "", ok, name)
	}
}

func TestAModelIsKnownByTheNumberOfItsParameters(t *testing.T) {
	t.Parallel()
	m, ok := CountedModel(8_030_261_248)
	assert.True(t, ok)
	assert.EqualValues(t, 128256, m.Vocab)
	for _, n := range []int64{0, -1, 8_030_261_249} {
		_, ok = CountedModel(n)
		assert.False(t, ok, n)
	}
	sizes := map[int64][2]int64{}
	for i := range models {
		m := &models[i]
		if have, seen := sizes[m.Parameters]; seen && m.Parameters > 0 {
			assert.Equal(t, have, [2]int64{m.Vocab, m.Hidden}, m.Name)
		}
		sizes[m.Parameters] = [2]int64{m.Vocab, m.Hidden}
	}
}
