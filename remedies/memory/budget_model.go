package memory

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"oomscan/parser/lazyre"
)

// headDim returns the width of a head.
func (m *Model) headDim() int64 {
	if m.HeadDim > 0 || m.Heads == 0 {
		return m.HeadDim
	}
	return m.Hidden / m.Heads
}

// widths returns the widths of a layer: hidden, queries, keys, feed-forward, heads.
func (m *Model) widths() (h, q, k, f, heads float64) {
	d := float64(m.headDim())
	return float64(m.Hidden), float64(m.Heads) * d, float64(m.KVHeads) * d, float64(m.Intermediate), float64(m.Heads)
}

// sized reports whether the sizes determine the parameters of every layer.
func (m *Model) sized() bool {
	dense := m.Intermediate > 0
	experts := m.Experts > 0 && m.ExpertsPerToken > 0 && m.ExpertIntermediate > 0 && (m.DenseLayers == 0 || dense)
	return min(m.Layers, m.Hidden, m.Heads, m.KVHeads, m.Vocab) > 0 && (experts || dense && m.Experts == 0)
}

// feedForward returns the parameters of the feed-forward part of a layer or an expert.
func (m *Model) feedForward(inner int64) float64 {
	n := 3.0
	if m.Ungated {
		n = 2
	}
	return n * float64(m.Hidden) * float64(inner)
}

// attention returns a layer's attention parameters: those that tensor parallelism splits, and those on every rank (DeepSeek's
// down-projections).
func (m *Model) attention() (split, whole float64) {
	h, q, k, _, heads := m.widths()
	if m.KVLora == 0 {
		return 2*h*q + 2*h*k, 0
	}
	rope, nope, value, kv := float64(m.RopeDim), float64(m.NopeDim), float64(m.ValueDim), float64(m.KVLora)
	split = kv*heads*(nope+value) + heads*value*h
	whole = h*(kv+rope) + kv
	if ql := float64(m.QLora); ql > 0 {
		return split + ql*heads*(nope+rope), whole + h*ql + ql
	}
	return split + h*heads*(nope+rope), whole
}

// holding counts the parameters on one rank of a pipeline stage before data-parallel sharding.
type holding struct {
	dense   float64 // split over tensor-parallel ranks, or whole in every one
	experts float64 // split over expert-parallel ranks
	largest float64 // the largest layer, of this rank
	root    float64 // embedding, head, positions and final norm
	head    float64
	matrix  float64 // the largest matrix
}

func (h holding) all() float64 { return h.dense + h.experts }

// vocab returns the padded vocabulary: Megatron pads to a multiple of 128 x TP (make_vocab_size_divisible_by).
func (s *Setup) vocab() float64 {
	v, t := s.Model.Vocab, s.tp()
	if s.Trainer == Megatron {
		unit := 128 * t
		return float64((v + unit - 1) / unit * unit)
	}
	return float64(v)
}

// holds computes what a rank of the setup's stage holds. Layers are spread evenly over the stages.
func (s *Setup) holds() holding {
	m, t, p := &s.Model, float64(s.tp()), float64(s.pp())
	h, q, k, f, _ := m.widths()
	split, whole := m.attention()
	whole += 2 * h
	if m.QKNorm {
		whole += 2 * float64(m.headDim())
	}
	if m.Biases { // of query, key, value, both feed-forward matrices and norms; the output's are whole
		split += q + 2*k + f
		whole += 4 * h
	}
	layers := float64(m.Layers) / p
	dense := layers
	if m.Experts > 0 {
		dense = float64(m.DenseLayers)
		if p > 1 {
			dense = min(dense, layers)
			if s.Stage == LastStage {
				dense = max(float64(m.DenseLayers)-(float64(m.Layers)-layers), 0)
			}
		}
	}
	if s.last() && s.Trainer == Megatron {
		layers += float64(m.MTPLayers)
	}
	attention := split/t + whole
	shared := m.feedForward(m.SharedIntermediate)/t + h*float64(m.Experts)
	experts := m.feedForward(m.ExpertIntermediate) * float64(m.Experts) / float64(s.ep()*s.etp())
	out := holding{experts: (layers - dense) * experts}
	out.dense = layers*attention + dense*m.feedForward(m.Intermediate)/t
	out.largest = attention + m.feedForward(m.Intermediate)/t
	if layers > dense {
		out.dense += (layers - dense) * shared
		out.largest = attention + shared + experts
	}
	out.addRoot(s)
	out.dense += out.root
	out.matrix = max(out.head, h*max(q, f)/t, h*float64(2*m.ExpertIntermediate)*float64(m.Experts)/float64(s.ep()*s.etp()))
	return out
}

// addRoot adds the embedding to the first stage and the head to the last. Megatron keeps tied weights on both, and another
// embedding for multi-token prediction layers.
func (out *holding) addRoot(s *Setup) {
	m, t := &s.Model, float64(s.tp())
	h := float64(m.Hidden)
	table := s.vocab() * h / t
	if s.first() {
		out.root += table + float64(m.Positions)*h
	}
	if s.last() {
		if !m.Tied || !s.first() {
			out.root += table
		}
		out.head = table
		out.root += h
		if m.MTPLayers > 0 && s.Trainer == Megatron {
			out.dense += float64(m.MTPLayers) * (2*h*h/t + 3*h)
			if !s.first() {
				out.root += table
			}
		}
	}
}

func (s *Setup) first() bool { return s.pp() == 1 || s.Stage == FirstStage }
func (s *Setup) last() bool  { return s.pp() == 1 || s.Stage == LastStage }

// parameters returns the number of the model's parameters, as published or from its sizes.
func (m *Model) parameters() Opt[float64] {
	switch {
	case m.Parameters > 0:
		return Some(float64(m.Parameters))
	case m.sized():
		s := Setup{Model: *m}
		return Some(s.holds().all())
	}
	return Opt[float64]{}
}

// nominal matches the size in a name: "7B", "0.5b".
var nominal = lazyre.New(`(?i)(?:^|[-_/ ])([0-9]{1,3}(?:\.[0-9]{1,2})?)b(?:$|[-_/. ])`)

// NominalParameters reads the number of parameters in a model's name: "7B" is 7e9.
func NominalParameters(name string) (int64, bool) {
	found := nominal().FindStringSubmatch(name)
	if found == nil {
		return 0, false
	}
	billions, err := strconv.ParseFloat(found[1], 64)
	return int64(billions * 1e9), err == nil && billions > 0
}

// EstimatedModels returns the plain models of the table that a name may mean, the closest first: the model of that name, or
// those with about as many parameters as it says. A budget for all of them has the range of an unknown model.
func EstimatedModels(name string) []Model {
	if m, ok := KnownModel(name); ok {
		return []Model{m}
	}
	found := nominal().FindStringSubmatch(name)
	if found == nil {
		return nil
	}
	billions, err := strconv.ParseFloat(found[1], 64)
	if err != nil || billions <= 0 {
		return nil
	}
	const near = 0.15
	off := func(m *Model) float64 { return math.Abs(float64(m.Parameters)/(billions*1e9) - 1) }
	var out []Model
	for i := range models {
		m := &models[i]
		same := func(o Model) bool { return o.Parameters == m.Parameters }
		if !m.Apart && off(m) <= near && !slices.ContainsFunc(out, same) {
			out = append(out, *m)
		}
	}
	slices.SortStableFunc(out, func(a, b Model) int { return cmp.Compare(off(&a), off(&b)) })
	return out
}

// mostConfig is larger than any config.json.
const mostConfig = 1 << 20

// mostModelSize is larger than any size of a layer.
const mostModelSize = 1 << 24

// ungated lists model types with two feed-forward matrices (transformers, modeling_*.py).
var ungated = []string{"gpt2", "gpt_neo", "gpt_neox", "gptj", "opt", "bloom", "falcon", "phi", "mpt", "gpt_bigcode", "starcoder2"}

// ReadHFConfig reads the sizes that a config.json of a model repository on huggingface.co states. Sizes that it leaves
// out stay zero. A language model inside another (text_config) counts, without what surrounds it.
func ReadHFConfig(data []byte) (Model, error) {
	if len(data) > mostConfig {
		return Model{}, fmt.Errorf("config.json has %s bytes, more than a model's configuration", Thousands(int64(len(data))))
	}
	var top hfConfig
	if err := json.Unmarshal(data, &top); err != nil {
		return Model{}, fmt.Errorf("config.json: %w", err)
	}
	var m Model
	for _, key := range []string{"text_config", "llm_config", "language_config"} {
		if inner, ok := top[key].(map[string]any); ok {
			if _, tied := inner["tie_word_embeddings"]; !tied {
				inner["tie_word_embeddings"] = top["tie_word_embeddings"]
			}
			top, m.Apart = inner, true
			break
		}
	}
	kind, _ := top["model_type"].(string)
	m.Name, _ = top["_name_or_path"].(string)
	m.Hidden = top.size("hidden_size", "n_embd", "d_model")
	m.Layers = top.size("num_hidden_layers", "n_layer", "num_layers", "n_layers")
	m.Heads = top.size("num_attention_heads", "n_head", "n_heads")
	m.KVHeads = top.size("num_key_value_heads", "num_kv_heads")
	m.HeadDim = top.size("head_dim")
	m.Vocab = top.size("vocab_size")
	m.Intermediate = top.size("intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size")
	if m.KVHeads == 0 {
		m.KVHeads = m.Heads
	}
	m.Ungated = slices.Contains(ungated, kind)
	m.Biases = m.Ungated
	if m.Intermediate == 0 && m.Ungated {
		m.Intermediate = 4 * m.Hidden
	}
	m.QKNorm = strings.HasPrefix(kind, "qwen3") || strings.HasPrefix(kind, "gemma3")
	tied, stated := top["tie_word_embeddings"].(bool)
	m.Tied = tied || !stated // PretrainedConfig writes what differs from its default, true
	top.experts(&m)
	m.QLora, m.KVLora, m.RopeDim = top.size("q_lora_rank"), top.size("kv_lora_rank"), top.size("qk_rope_head_dim")
	m.NopeDim, m.ValueDim = top.size("qk_nope_head_dim"), top.size("v_head_dim")
	if m.Hidden == 0 && m.Layers == 0 && m.Vocab == 0 {
		return Model{}, errors.New("config.json states no sizes of a language model")
	}
	return m, nil
}

// hfConfig is a config.json.
type hfConfig map[string]any

// size returns the first positive whole number among the keys, or 0.
func (c hfConfig) size(keys ...string) int64 {
	for _, k := range keys {
		if x, ok := c[k].(float64); ok && x >= 1 && x <= mostModelSize && x == math.Trunc(x) {
			return int64(x)
		}
	}
	return 0
}

// experts reads the sizes of mixtures of experts, which configurations write differently: Mixtral's intermediate_size is per
// expert, DeepSeek counts shared experts, Qwen gives their width.
func (c hfConfig) experts(m *Model) {
	m.Experts = c.size("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")
	if m.Experts <= 1 {
		m.Experts = 0
		return
	}
	m.Apart = true
	m.ExpertsPerToken = c.size("num_experts_per_tok", "num_experts_per_token", "experts_per_token", "moe_k")
	m.ExpertIntermediate = c.size("moe_intermediate_size")
	if m.ExpertIntermediate == 0 {
		m.ExpertIntermediate = m.Intermediate
	}
	m.SharedIntermediate = c.size("shared_expert_intermediate_size")
	if m.SharedIntermediate == 0 {
		m.SharedIntermediate = c.size("n_shared_experts") * m.ExpertIntermediate
	}
	m.DenseLayers = c.size("first_k_dense_replace")
	m.MTPLayers = c.size("num_nextn_predict_layers")
}
