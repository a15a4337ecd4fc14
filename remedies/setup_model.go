package remedies

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/remedies/memory"
)

// configNames lists the names of a model's sizes in Hugging Face's config.json and in Megatron.
var configNames = map[string][]string{
	"model_type": nil, "vocab_size": {"padded_vocab_size"}, "hidden_size": nil, "num_hidden_layers": {"num_layers"}, "num_attention_heads": nil,
	"num_key_value_heads": {"num_query_groups"}, "head_dim": {"kv_channels"}, "intermediate_size": {"ffn_hidden_size"}, "tie_word_embeddings": nil,
	"num_experts": nil, "num_local_experts": nil, "n_routed_experts": nil, "num_experts_per_tok": {"moe_router_topk"}, "moe_intermediate_size": {"moe_ffn_hidden_size"},
	"shared_expert_intermediate_size": {"moe_shared_expert_intermediate_size"}, "n_shared_experts": nil, "first_k_dense_replace": nil, "num_nextn_predict_layers": {"mtp_num_layers"},
	"q_lora_rank": nil, "kv_lora_rank": nil, "qk_rope_head_dim": nil, "qk_nope_head_dim": nil, "v_head_dim": nil,
}

// mostAdapted is a number of parameters that adapters do not reach.
const mostAdapted = 1e9

// budgetModels returns the model that the run trains or serves, and others that it may be: by name if a table has it and no
// printed size contradicts that, else by the printed sizes, else models with about as many parameters as the name implies.
func budgetModels(ctx *Context) (m memory.Model, others []memory.Model) {
	if ctx.given != nil {
		return *ctx.given, nil
	}
	sizes := ctx.model
	printed, complete := printedModel(ctx)
	known, _, ok := knownModel(&ctx.run.Model)
	switch {
	case ok && sizes.name != "" && !known.Apart, ok && sizes.name != "" && known.Experts > 0:
		return known, nil
	case complete:
		if p := sizes.Parameters; p.Value > 0 && !p.Named {
			printed.Parameters = p.Value
		}
		return printed, nil
	case ok && sizes.name != "":
		known.Intermediate = 0 // layers of other kinds: it is unknown what one keeps of a token
		return known, nil
	case ok: // another model of that name
		return memory.Model{Parameters: sizes.Parameters.Value, Vocab: sizes.Vocab.Value, Hidden: sizes.Hidden.Value}, nil
	}
	if p := sizes.Parameters; p.Value > 0 {
		return memory.Model{Parameters: p.Value, Vocab: sizes.Vocab.Value, Hidden: sizes.Hidden.Value}, nil
	}
	if n := ctx.run.Model.Trained; n != nil && *n >= mostAdapted && !trainsAdapters(ctx) &&
		(ctx.is("one_gpu") || ctx.is("unsharded") || ctx.run.Backend == "deepspeed") { // counted by ds_numel (transformers, trainer_pt_utils.py)
		return memory.Model{Parameters: *n}, nil
	}
	if near := memory.EstimatedModels(ctx.run.Model.Name); len(near) > 0 {
		return near[0], near[1:]
	}
	return memory.Model{}, nil
}

// printedModel returns the model by the sizes in the log. It is complete if they are enough to compute the parameters of a
// layer.
func printedModel(ctx *Context) (m memory.Model, complete bool) {
	_, printed := ctx.settings.find("tie_word_embeddings", true)
	_, untied := ctx.settings.flag("untie_embeddings_and_output_weights")
	if !printed && untied == unknown {
		return memory.Model{}, false // the head is a tensor of its own, or not
	}
	config := map[string]any{}
	for name, others := range configNames {
		for _, key := range append([]string{name}, others...) {
			f, ok := ctx.settings.find(key, true)
			if !ok || depth(f.key) > 0 && !strings.Contains(f.key, "config") && !strings.HasPrefix(f.key, "model.") {
				continue // of another part of the run: critic.vocab_size
			}
			v := strings.Trim(f.value.Value, `"'`)
			if n, ok := parseInt(v); ok {
				config[name] = n
			} else if on, ok := parseBool(v); ok {
				config[name] = on
			} else if !isNone(v) {
				config[name] = v
			}
			break
		}
	}
	if n := ctx.model.Vocab.Value; config["vocab_size"] == nil && n > 0 {
		config["vocab_size"] = n // Megatron prints it after its arguments
	}
	if untied != unknown {
		config["tie_word_embeddings"] = untied == no
	}
	if _, tied := config["tie_word_embeddings"]; !tied {
		return memory.Model{}, false
	}
	text, err := json.Marshal(config)
	if err != nil {
		return memory.Model{}, false
	}
	m, err = memory.ReadHFConfig(text)
	if err != nil {
		return memory.Model{}, false
	}
	return m, min(m.Layers, m.Hidden, m.Heads, m.KVHeads, m.Vocab) > 0 && (m.Intermediate > 0 || m.ExpertIntermediate > 0)
}

// trainsAdapters reports whether the run trains adapters rather than the model, so that not all parameters have states.
func trainsAdapters(ctx *Context) bool {
	for _, k := range []string{"finetuning_type", "tuner_type", "train_type", "adapter"} {
		f, _ := ctx.settings.find(k, true)
		switch strings.ToLower(f.value.Value) {
		case "lora", "qlora", "adalora", "dora", "longlora":
			return true
		case "full", "freeze":
			return false
		}
	}
	for _, k := range []string{"lora_rank", "lora_r", "peft_lora_rank", "network_dim"} { // sd-scripts call it that
		if n, ok := ctx.settings.integer(k); ok && n > 0 {
			return true
		}
	}
	for _, k := range []string{"use_peft", "use_lora", "load_in_4bit", "load_in_8bit", "qlora", "only_optimize_lora"} {
		if _, t := ctx.settings.flag(k); t == yes {
			return true
		}
	}
	name := strings.ToLower(ctx.run.Model.Name)
	if ctx.passesThrough("/peft/tuners/", "_lora_", "_lora.py") || containsAny(name, []string{".lora_", ".qlora_"}) { // torchtune's builders
		return true
	}
	if _, t := ctx.settings.flag("full_finetuning"); ctx.run.Application == "unsloth" && t != yes || strings.Contains(name, "4bit") {
		return true
	}
	const few = 50 // adapters are a fiftieth of the model at most; a shard of it may be counted in their place
	n, p := ctx.run.Model.Trained, ctx.run.Model.Parameters
	return n != nil && (ctx.model.Parameters.Value > few**n || p != nil && *p > 2**n)
}

// trainsAll reports whether the log says that all parameters are trained.
func trainsAll(ctx *Context) bool {
	f, _ := ctx.settings.find("finetuning_type", true)
	n, p := ctx.run.Model.Trained, ctx.run.Model.Parameters
	return equal(f.value.Value, "full") || n != nil && p != nil && *n > *p/10*9
}

// adapters counts LoRA parameters: the log's number, or rank x (inputs + outputs) per adapted matrix.
func adapters(ctx *Context, s *memory.Setup) bool {
	if n := ctx.run.Model.Trained; n != nil && ctx.run.Model.Parameters != nil {
		s.Adapters = memory.Some(*n)
		return true
	}
	rank, ok := ctx.settings.integer("lora_rank", "lora_r", "peft_lora_rank")
	m := s.Model
	if !ok || rank > mostSize || min(m.Layers, m.Hidden, m.Heads, m.KVHeads, m.Intermediate) <= 0 || m.Experts > 0 {
		return false
	}
	head := m.HeadDim
	if head == 0 {
		head = m.Hidden / m.Heads
	}
	h, q, k, f := m.Hidden, m.Heads*head, m.KVHeads*head, m.Intermediate
	// Matrices in the order of their inputs: q, k and v share one, then the output's, gate and up, down.
	matrices := []struct {
		names string
		width int64
		input int64
	}{{"q_proj", h + q, 1}, {"k_proj", h + k, 1}, {"v_proj", h + k, 1}, {"o_proj", q + h, 2}, {"gate_proj", h + f, 3}, {"up_proj", h + f, 3}, {"down_proj", f + h, 4}}
	targets, told := ctx.settings.find("target_modules", true)
	if !told {
		targets, told = ctx.settings.find("lora_target", true)
	}
	all := !told || containsAny(strings.ToLower(targets.value.Value), []string{"all"})
	sum, inputs := int64(0), int64(0)
	for _, x := range matrices {
		if all || strings.Contains(targets.value.Value, x.names) {
			sum += x.width
			inputs = max(inputs, x.input)
		}
	}
	if sum == 0 {
		return false
	}
	s.Adapters = memory.Some(rank * sum * m.Layers)
	if told {
		s.AdaptedInputs = memory.Some(inputs)
	}
	return true
}

// fullKey returns the key of the settings that a user means: the key itself, or the only one with that end. A key that is the
// end of another is the same setting, printed without its path.
func fullKey(config map[string]classifier.Value, key string) (string, error) {
	want, found := plain(key), ""
	for _, k := range slices.Sorted(maps.Keys(config)) {
		have := plain(k)
		switch {
		case fit(want, have, false) == exact:
			return k, nil
		case fit(want, have, false) != longer, found != "" && fit(plain(found), have, false) == longer:
		case found != "" && fit(have, plain(found), false) != longer:
			return "", fmt.Errorf("several settings end in %s: %s, %s", key, found, k)
		default:
			found = k
		}
	}
	if found == "" {
		return key, nil
	}
	return found, nil
}
