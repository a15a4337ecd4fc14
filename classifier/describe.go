package classifier

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"oomscan/parser"
	"oomscan/parser/lazyre"
	"oomscan/parser/pattern"
	"oomscan/parser/settings"
)

// describe collects what the inputs say about the run.
func describe(files []*file, o Overrides) Run {
	r := Run{Framework: "unknown", Config: map[string]Value{}}
	v := votes{}
	for _, s := range o.Settings {
		r.Config[s.Key] = Value{Value: s.Value, At: s.At, Form: s.Form}.after(r.Config[s.Key])
	}
	for _, f := range files {
		f.config(&r)
		f.writers(&r, v)
		f.launch(&r, v)
		readings := f.readings()
		r.Gauges = append(r.Gauges, readings...)
		for _, key := range slices.Sorted(maps.Keys(f.Trends)) {
			if t := f.Trends[key]; t.grows() || t.Name == "vllm.slept" && t.multiplies() {
				r.Growth = append(r.Growth, t)
			}
		}
		r.Tracks, r.Series = append(r.Tracks, f.tracks()...), append(r.Series, f.series()...)
		f.frames(&r, v)
		r.engineFromGauges(readings, v)
		if f.LastStep >= 0 && (r.LastStep == nil || *r.LastStep < f.LastStep) {
			r.LastStep = &f.LastStep
		}
	}
	r.Tracks, r.Series = r.Tracks[:min(len(r.Tracks), maxTracks)], r.Series[:min(len(r.Series), maxTracks)]
	v.addSettings(r.Config)
	r.Framework = v.winner(Framework)
	switch p := cmp.Or(v.unlisted(), v.winner(Framework|Application)); {
	case o.Framework != "" && place(o.Framework) < 0:
		r.Application = o.Framework
	case o.Framework != "":
		r.Framework = o.Framework
	case is(p, Application), v[p] > 0 && place(p) < 0:
		r.Application = p
	}
	if o.Framework == "" {
		r.builtOn(v)
	}
	r.engineFromConfig()
	if r.Engine == "" && isServer(r.Framework) {
		r.Engine = r.Framework
	}
	r.settingsFromMessages(files)
	r.readCode(files)
	r.modelFromConfig()
	for _, f := range files {
		for _, m := range f.Launches { // what no setting and no program names, by the first file that is read
			set(&r.Model.Name, m.Fields["loaded"])
			if is := m.Fields["installed"]; is != "" && is == r.Engine {
				set(&r.EngineVersion, m.Fields["version"])
			}
			if is := m.Fields["installed"]; is != "" && is == r.Framework {
				set(&r.FrameworkVersion, m.Fields["version"])
			}
		}
	}
	r.sizesFromConfig()
	return r
}

// builtOn corrects the framework of an application that trains next to an engine and is not built on it.
func (r *Run) builtOn(v votes) {
	if isServer(r.Framework) && FrameworkByID(r.Application).Colocate {
		set(&r.Engine, r.Framework)
		delete(v, r.Framework)
		r.Framework = v.winner(Framework)
	}
	if r.Application == "open_instruct" && r.Framework == "openrlhf" { // whose name for an engine's class it took over (open_instruct/vllm_utils.py)
		delete(v, r.Framework)
		r.Framework = v.winner(Framework)
	}
	if r.Framework == "unknown" && slices.ContainsFunc(r.Gauges, func(g Gauge) bool { return g.Name == "tf.pool" }) {
		set(&r.Application, "tensorflow") // it took a card, and nobody else is known to be in the process
	}
	if r.Framework == "unknown" && is(r.Backend, Framework) {
		r.Framework = r.Backend
	}
	if r.Framework == "openrlhf" {
		set(&r.Backend, "deepspeed") // it trains with nothing else
	}
}

// readings are the last readings of an input, in order of lines.
func (f *file) readings() []Gauge {
	out := make([]Gauge, 0, len(f.Gauges))
	for _, g := range f.Gauges {
		out = append(out, Gauge{Name: g.Name, Stream: g.Header.Stream, PID: g.Header.PID, At: g.At, Fields: g.Fields})
	}
	slices.SortFunc(out, func(a, b Gauge) int {
		return cmp.Or(cmp.Compare(a.At.Line, b.At.Line), strings.Compare(a.Name, b.Name), strings.Compare(a.Stream, b.Stream))
	})
	return out
}

func (f *file) config(r *Run) {
	for _, k := range f.Order {
		r.Config[k] = f.Settings[k].after(r.Config[k])
	}
}

// settingsFromMessages reads settings from failures and readings if nothing else prints them. An engine's are not those of a trainer beside it,
// which prints its settings itself.
func (r *Run) settingsFromMessages(files []*file) {
	serves := isServer(r.Framework) || is(r.Application, Application|Engine) || r.Application == "tensorflow" || r.Application == "sdwebui"
	tell := func(p *pattern.Pattern, fields parser.Fields, at parser.Position) {
		if !serves && isServer(p.Program.Name) {
			return
		}
		for key, field := range p.Tells {
			if _, known := r.lookup(key); !known && fields[field] != "" {
				r.Config[key] = Value{Value: fields[field], At: at, Form: settings.Pairs}
			}
		}
	}
	for _, f := range files {
		for _, e := range f.Events {
			tell(e.pattern, e.Fields, e.At)
		}
	}
	for _, g := range r.Gauges {
		tell(patternOf(g.Name), g.Fields, g.At)
	}
}

func jobOf(f parser.Fields) string {
	j, _, _ := strings.Cut(f["job"], ".")
	return strings.TrimLeft(j, "0") // slurmd's spool directories pad it
}

// engineFromConfig reads the engine and the backend from settings that name them. If none names the backend, settings of one
// backend alone show it: users do not set those of another. A dump of all settings has both.
func (r *Run) engineFromConfig() {
	sections := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(r.Config)) { // of several, always the same one wins
		val := strings.ToLower(r.Config[key].Value)
		switch {
		case (strings.HasSuffix(key, "rollout.name") || key == "actor_infer.strategy_args.strategy_name") && is(val, Engine): // the second is ROLL's
			r.Engine = val
		case strings.HasSuffix(key, "actor.strategy") && val != "" && val != "none":
			r.Backend = val
		case (key == "--train-backend" || key == "train_backend") && (val == "megatron" || val == "fsdp"): // slime's, and its forks'
			r.Backend = val
		case key == "trainer.strategy" && (val == "megatron" || val == "fsdp" || val == "fsdp2"): // SkyRL's
			r.Backend = val
		case key == "distributed_type", strings.TrimLeft(key, "-") == "config_file", key == "strategy", key == "trainer.strategy", key == "distributed.strategy", strings.TrimLeft(key, "-") == "enable_fsdp" && val == "true":
			set(&r.Backend, shards(key+"="+path.Base(val)))
		case strings.HasSuffix(key, "fsdp_version") && (r.Backend == "" || r.Backend == "fsdp"): // accelerate's and axolotl's
			r.Backend = "fsdp"
			if val == "2" {
				r.Backend = "fsdp2"
			}
		case strings.Contains(key, "actor.fsdp_config."):
			sections["fsdp"] = true
		case strings.Contains(key, "actor.megatron."):
			sections["megatron"] = true
		}
	}
	if len(sections) == 1 {
		for backend := range sections {
			set(&r.Backend, backend)
		}
	}
}

// shards returns the trainer that splits the model, by a setting and its value: the name of accelerate's configuration file (those of
// its examples and of TRL are deepspeed_zero3.yaml, fsdp2.yaml, multi_gpu.yaml) or its distributed_type, Lightning's strategy
// (deepspeed_stage_3), llama-recipes' enable_fsdp.
func shards(setting string) string {
	for _, w := range [][2]string{{"fsdp2", "fsdp2"}, {"fsdp", "fsdp"}, {"deepspeed", "deepspeed"}, {"zero", "deepspeed"}} {
		if strings.Contains(setting, w[0]) {
			return w[1]
		}
	}
	return ""
}

// engineFromGauges finds the program that printed memory figures.
func (r *Run) engineFromGauges(readings []Gauge, v votes) {
	for _, g := range readings {
		switch program, _, _ := strings.Cut(g.Name, "."); {
		case isServer(program):
			set(&r.Engine, program)
		case program == "ggml": // which Ollama is built on
			v.add("llamacpp", 1)
		case program == "tensorflow":
			v.add(program, 1)
		}
	}
}

// set sets a value that is not known yet.
func set(to *string, v string) {
	if *to == "" {
		*to = v
	}
}

func setInt(to **int, v string) {
	if n, err := strconv.Atoi(v); err == nil && *to == nil && n > 0 && n < 1<<24 {
		*to = &n
	}
}

// setCount sets a number of parameters that is not known yet. Fewer are no model that fills a card.
func setCount(to **int64, v string) {
	const least, most = 1e6, 1 << 45
	if n, err := strconv.ParseInt(v, 10, 64); err == nil && *to == nil && n >= least && n < most {
		*to = &n
	}
}

// lookup finds a setting by its full name or its last part.
func (r *Run) lookup(names ...string) (Value, bool) {
	for _, n := range names {
		if v, ok := r.Config[n]; ok {
			return v, true
		}
	}
	for _, n := range names {
		var best string
		for k := range r.Config {
			if (strings.HasSuffix(k, "."+n) || strings.ReplaceAll(strings.TrimLeft(k, "-"), "-", "_") == n) && (best == "" || k < best) {
				best = k
			}
		}
		if best != "" {
			return r.Config[best], true
		}
	}
	return Value{}, false
}

// modelNames are the settings that name the model which is trained or served, framework by framework; the first wins.
var modelNames = []string{
	"actor_rollout_ref.model.path", "trainer.policy.model.path", "policy.model_name", "actor.path", "model_name_or_path", "model_path", "pretrain", "hf_checkpoint",
	"base_model", "pretrained_model_name_or_path", "model.path", "model.partial_pretrain", "model.name", "model", "model._component_", "model_name", "model_id_or_path", "model_id", "input_model",
}

// downloaded matches the folder that LitGPT puts a model of the Hub into. The name ends in a size: other programs write checkpoints of their
// own into such folders.
var downloaded = lazyre.New(`(?:^|[/'"])checkpoints/([\w.-]{1,60}/[\w.-]{0,60}\d[bBmM](?:-[\w.-]{1,60})?)(?:['"/]|$)`)

func (r *Run) modelFromConfig() {
	names := modelNames
	if _, ok := r.lookup("model_args"); ok { // lm-eval's --model is the kind of a model
		names = append([]string{"pretrained"}, names...)
	}
	if v, ok := r.lookup(names...); ok && v.Value != "None" && v.Value != "model" { // model=model is a variable of a script
		set(&r.Model.Name, v.Value)
	} else if v, ok := r.lookup("checkpoint_dir"); ok {
		if m := downloaded().FindStringSubmatch(v.Value); m != nil {
			set(&r.Model.Name, m[1])
		}
	}
	for _, t := range []struct {
		to    **int64
		names []string
	}{
		{&r.Model.VocabSize, []string{"vocab_size", "padded_vocab_size"}},
		{&r.Model.HiddenSize, []string{"hidden_size"}},
		{&r.Model.Layers, []string{"num_hidden_layers", "num_layers"}},
		{&r.Model.AttentionHeads, []string{"num_attention_heads"}},
	} {
		if v, ok := r.lookup(t.names...); ok {
			if n, err := strconv.ParseInt(v.Value, 10, 64); err == nil && n > 0 {
				*t.to = &n
			}
		}
	}
	if v, ok := r.lookup("torch_dtype", "dtype"); ok && v.Value != "auto" && v.Value != "None" {
		r.Model.DType = v.Value
	}
}
