package remedies

import (
	"oomscan/classifier"
	"oomscan/remedies/memory"
)

// modelSizes are the sizes of the model, as the log prints them or else as the model's name implies.
type modelSizes struct {
	Parameters, Vocab, Hidden, Layers, Heads, KVHeads, Inner memory.Figure
	HeadDim                                                  memory.Figure
	name                                                     string // of the table's entry, empty if none was used
	mixed                                                    bool   // the table's sizes do not add up: experts, or layers of other kinds
}

// No model has larger sizes. Products of three of them fit in 63 bits.
const (
	mostSize       = 1 << 20
	mostParameters = 1 << 45
)

// fromName is the phrase for a size that comes from the model's name only.
func fromName(f memory.Figure) string {
	if f.Named {
		return " (from the model's name)"
	}
	return ""
}

// frozenModel returns the name of the model that was being read when it failed, if that is not the one that the run trains: a teacher, a
// reference, a reward model. Of models with as many parameters it does not matter which one it was.
func frozenModel(ctx *Context) string {
	g, ok := lastReading(ctx.run, "trainer.loads_model")
	if !ok || ctx.phase != "init" || g.At.Source != ctx.root.At.Source || g.At.Line > ctx.root.At.Line || !ctx.stackContains(80, "from_pretrained") {
		return ""
	}
	n, known := namedParameters(g.Fields["model"])
	m, trained := namedParameters(ctx.run.Model.Name)
	if !known || !trained || n == m {
		return ""
	}
	return g.Fields["model"]
}

// namedParameters returns how many parameters a model has by its name.
func namedParameters(name string) (int64, bool) {
	if known, ok := memory.KnownModel(name); ok {
		return known.Parameters, true
	}
	return memory.NominalParameters(name)
}

// modelOf gathers the sizes of the model. If a printed size contradicts the name's, the name is ignored: it is another model.
func modelOf(ctx *Context) *modelSizes {
	m, f := &ctx.run.Model, &modelSizes{}
	take := func(to *memory.Figure, p *int64, keys ...string) {
		n, ok := ctx.settings.integer(keys...)
		if p != nil && *p > 0 {
			n, ok = *p, true
		}
		if ok && n < mostSize {
			to.Value = n
		}
	}
	if p := m.Parameters; p != nil && *p > 0 && *p < mostParameters {
		f.Parameters.Value = *p
	}
	take(&f.Vocab, m.VocabSize, "padded_vocab_size", "vocab_size", "padded vocab_size", "padded vocab size", "vocab size", "n_vocab")
	if g, ok := lastReading(ctx.run, "megatron.vocabulary"); ok && f.Vocab.Value == 0 {
		n, _ := g.Fields.Int("vocabulary")
		take(&f.Vocab, &n)
	}
	take(&f.Hidden, m.HiddenSize, "hidden_size")
	take(&f.Layers, m.Layers, "num_hidden_layers")
	take(&f.Heads, m.AttentionHeads, "num_attention_heads", "num_heads", "n_head", "n_heads")
	take(&f.KVHeads, nil, "num_key_value_heads", "num_query_groups", "num_kv_heads", "n_kv_heads", "n_kv_head")
	take(&f.Inner, nil, "intermediate_size", "ffn_hidden_size")
	take(&f.HeadDim, nil, "head_dim", "kv_channels")
	known, named, ok := knownModel(m)
	if !ok {
		f.headDim()
		return f
	}
	if known.HeadDim == 0 {
		known.HeadDim = known.Hidden / known.Heads
	}
	for _, t := range []struct {
		have memory.Figure
		want int64
	}{{f.Hidden, known.Hidden}, {f.Layers, known.Layers}, {f.Heads, known.Heads}} {
		if t.have.Value > 0 && t.have.Value != t.want {
			f.headDim()
			return f
		}
	}
	if f.Parameters.Value%1e6 == 0 {
		f.Parameters.Value = 0 // a rounded count: the name says more
	}
	for _, t := range []struct {
		to *memory.Figure
		n  int64
	}{
		{&f.Parameters, known.Parameters},
		{&f.Vocab, known.Vocab},
		{&f.Hidden, known.Hidden},
		{&f.Layers, known.Layers},
		{&f.Heads, known.Heads},
		{&f.KVHeads, known.KVHeads},
		{&f.Inner, known.Intermediate},
		{&f.HeadDim, known.HeadDim},
	} {
		if t.to.Value == 0 && t.n > 0 {
			*t.to, f.name = memory.Figure{Value: t.n, Named: named}, known.Name
			f.mixed = known.Apart
		}
	}
	return f
}

// knownModel returns the published model of a run, by its name or, where the log names none, by the number of its parameters, with and
// without the adapters that are trained.
func knownModel(m *classifier.Model) (known memory.Model, named, ok bool) {
	if known, ok = memory.KnownModel(m.Name); ok || m.Name != "" || m.Parameters == nil {
		return known, true, ok
	}
	if known, ok = memory.CountedModel(*m.Parameters); !ok && m.Trained != nil {
		known, ok = memory.CountedModel(*m.Parameters - *m.Trained)
	}
	return known, false, ok
}

// headDim derives the size of a head from a printed configuration that leaves it out, as transformers does.
func (m *modelSizes) headDim() {
	if h, n := m.Hidden.Value, m.Heads.Value; m.HeadDim.Value == 0 && n > 0 && h%n == 0 {
		m.HeadDim.Value = h / n
	}
}
