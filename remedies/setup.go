package remedies

import (
	"maps"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser/lazyre"
	"oomscan/parser/traceback"
	"oomscan/remedies/memory"
)

// setupOf returns the inputs of a memory budget in the phase of ctx, from the settings and the log. Inputs found in neither
// stay unknown.
func setupOf(ctx *Context) memory.Setup {
	s := memory.Setup{Framework: budgetFramework(ctx), Task: taskOf(ctx), Trainer: trainerOf(ctx), Engine: engineOf(ctx)}
	s.Model, s.Candidates = budgetModels(ctx)
	s.World, s.GPUsPerNode = known(ctx.gpus()), known(ctx.gpusPerNode())
	if w := s.World; !s.GPUsPerNode.Known && w.Known && (w.Value == 1 || ctx.run.Nodes != nil && *ctx.run.Nodes == 1) {
		s.GPUsPerNode = w // of the node's GPUs, those that train
	}
	arealParallel(ctx, &s)
	batchOf(ctx, &s)
	figuresOf(ctx, &s)
	residents(ctx, &s)
	readRows(ctx, &s, dialectsOf(ctx, s.Trainer))
	if b, ok := elementBytes[strings.ToLower(ctx.run.Model.TrainedDType)]; ok && !s.WeightBytes.Known && !trainsAdapters(ctx) {
		s.WeightBytes = memory.Some(b)
	}
	if s.Framework == memory.VeRL && ctx.phase == "logprob" { // the actor's pass computes the entropy, the reference's does not
		s.Entropy = known(ctx.is("role:actor"), ctx.is("role:actor") || ctx.is("role:ref"))
	}
	if s.Engine != "" && !s.EngineWeightBytes.Known && !quantizedByName(ctx, &s) && quantized(ctx) {
		s.Engine = "" // its weights have fewer than two bytes, it is unknown how many
	}
	if s.Engine != "" && ctx.is("engine_process") && !s.Colocated.Or(false) {
		s.Trainer = "" // it is not known to be on the engine's cards
	}
	if ctx.frozen != "" {
		s.Trainer = "" // its states are another model's
	}
	if s.Trainer != "" && trainsAdapters(ctx) && !adapters(ctx, &s) {
		s.Trainer = "" // the number of trained parameters is unknown
	}
	return s
}

// known is a known or unknown value.
func known[T any](v T, ok bool) memory.Opt[T] {
	if !ok {
		return memory.Opt[T]{}
	}
	return memory.Some(v)
}

// budgetFrameworks maps frameworks to the budget's names.
var budgetFrameworks = map[string]string{
	"verl": memory.VeRL, "areal": memory.AReaL, "slime": memory.Slime, "relax": memory.Slime, "openrlhf": memory.OpenRLHF,
	"trl": memory.TRL, "megatron": memory.MegatronLM,
}

// libraryUsers lists frameworks without a registry entry, each with a setting that only it has.
var libraryUsers = []struct{ setting, framework string }{
	{"training.local_batch_size", memory.TorchTitan},
	{"activation_checkpoint.mode", memory.TorchTitan},
	{"per_device_train_batch_size", memory.HFTrainer},
	{"gradient_accumulation_steps", ""},
}

// budgetFramework returns the framework whose formulas apply, or "" if only the general ones do.
func budgetFramework(ctx *Context) string {
	if f := budgetFrameworks[ctx.run.Framework]; f != "" && (f != memory.TRL || taskOf(ctx) != "") {
		return f
	}
	if f := ctx.run.Framework; f != "torch" && f != "deepspeed" && f != "unknown" && f != "" {
		return ""
	}
	for _, l := range libraryUsers {
		if _, ok := ctx.settings.find(l.setting, true); ok {
			return l.framework
		}
	}
	return ""
}

// tasks lists kinds of training with their own losses, each with settings that only it has.
var tasks = []struct {
	task     string
	settings []string
	code     string // the trainer's file
}{
	{"grpo", []string{"num_generations", "max_completion_length"}, "grpo_trainer.py"},
	{"sft", []string{"dataset_text_field", "completion_only_loss", "assistant_only_loss"}, "sft_trainer.py"},
}

// taskOf distinguishes TRL's trainers. Preference trainers pack two answers into a sample, which no formula covers.
func taskOf(ctx *Context) string {
	if ctx.run.Framework != "trl" {
		return ""
	}
	for _, t := range tasks {
		if ctx.inFile(t.code) || slices.ContainsFunc(t.settings, func(k string) bool { _, ok := ctx.settings.find(k, true); return ok }) {
			return t.task
		}
	}
	return ""
}

// inFile reports whether the failing stack passes through a file.
func (ctx *Context) inFile(name string) bool {
	return ctx.root.Trace != nil && slices.ContainsFunc(ctx.root.Trace.Frames, func(f traceback.Frame) bool { return strings.HasSuffix(slashed(f.File), name) })
}

// endsIn reports whether the innermost frame is of a file whose path has a part.
func (ctx *Context) endsIn(part string) bool {
	t := ctx.root.Trace
	return t != nil && len(t.Frames) > 0 && strings.Contains(slashed(t.Frames[len(t.Frames)-1].File), part)
}

// trainers maps backends to the budget's names.
var trainers = map[string]string{"fsdp": memory.FSDP1, "fsdp2": memory.FSDP2, "megatron": memory.Megatron, "ddp": memory.DDP}

// zeroTrainers maps stages of ZeRO to the budget's names, without stage 0, which shards nothing and whose states have unknown
// types.
var zeroTrainers = map[int64]string{1: memory.ZeRO1, 2: memory.ZeRO2, 3: memory.ZeRO3}

// zeroStage lists the spellings of DeepSpeed's stage.
var zeroStage = []string{"zero_optimization.stage", "zero_stage", "ds.zero_stage", "zero_config.stage", "zero_optimization_stage", "deepspeed_stage", "actor_zero_stage"}

// trainerOf returns how the run shards its training, or "" if there is no training or it is unknown.
func trainerOf(ctx *Context) string {
	backend := strings.ToLower(ctx.run.Backend)
	switch ctx.run.Framework {
	case "verl":
		if f, ok := ctx.settings.find("actor_rollout_ref.actor.strategy", false); ok {
			backend = strings.ToLower(strings.Trim(f.value.Value, `"'`))
		}
		return trainers[backend]
	case "areal":
		if p, ok := arealTraining(ctx); ok && p.backend != "" {
			backend = p.backend
		}
		return map[string]string{"fsdp": memory.FSDP2, "fsdp2": memory.FSDP2, "megatron": memory.Megatron}[backend]
	case "slime", "relax":
		if backend == "" || backend == "megatron" { // FSDP is the other choice of --train-backend
			return memory.Megatron
		}
		return trainers[backend]
	case "megatron":
		return memory.Megatron
	case "nemo_rl":
		if _, t := ctx.settings.flag("policy.megatron_cfg.enabled"); t == yes {
			return memory.Megatron
		}
		if _, t := ctx.settings.flag("policy.dtensor_cfg.enabled"); t == yes {
			return memory.FSDP2
		}
		return trainers[backend]
	case "vllm", "sglang", "jax":
		return ""
	}
	return libraryTrainer(ctx, backend)
}

// libraryTrainer returns the trainer of programs that use DeepSpeed, FSDP or DDP.
func libraryTrainer(ctx *Context, backend string) string {
	world, _ := ctx.gpus()
	if n, ok := strategyStage(ctx); ok {
		return zeroTrainers[n]
	}
	if n, ok := ctx.settings.integer(zeroStage...); ok && (backend == "" || backend == "deepspeed") {
		return zeroTrainers[n]
	}
	if (backend == "" || backend == "ddp" || backend == "deepspeed") && ctx.is("zero3") {
		return memory.ZeRO3
	}
	switch f, ok := ctx.settings.find("fsdp_version", true); {
	case ok && equal(f.value.Value, "2"):
		return memory.FSDP2
	case ok && equal(f.value.Value, "1"):
		return memory.FSDP1
	case budgetFramework(ctx) == memory.TorchTitan:
		return memory.FSDP2
	case trainers[backend] != "":
		return trainers[backend]
	case backend == "" && world == 1 && (ctx.run.Framework != "unknown" || budgetFramework(ctx) != ""):
		return memory.SingleDevice
	case ctx.run.Framework != "unknown" && ctx.is("unsharded"):
		return memory.DDP
	}
	return ""
}

// strategyStage returns the stage of ZeRO in the name of a strategy of Lightning's, such as deepspeed_stage_2_offload.
func strategyStage(ctx *Context) (int64, bool) {
	f, ok := ctx.settings.find("strategy", true)
	name, staged := strings.CutPrefix(strings.Trim(f.value.Value, `"' `), "deepspeed_stage_")
	if !ok || !staged {
		return 0, false
	}
	name, _, _ = strings.Cut(name, "_")
	return parseInt(name)
}

// engineOf returns the inference engine if the budget has formulas for it.
func engineOf(ctx *Context) string {
	e := strings.ToLower(ctx.run.Engine)
	if isServer(ctx.run.Framework) {
		e = ctx.run.Framework
	}
	switch e {
	case "vllm":
		return memory.VLLM
	case "sglang":
		return memory.SGLang
	}
	return ""
}

// setupDialects maps frameworks to the dialects of their settings, the most specific first.
var setupDialects = map[string][]string{
	"verl": {"verl"}, "areal": {"areal"}, "slime": {"slime", "megatron"}, "relax": {"slime", "megatron"}, "megatron": {"megatron"},
	"openrlhf": {"openrlhf"}, "nemo_rl": {"nemo_rl"}, "trl": {"trl", "hf", "deepspeed"}, "deepspeed": {"deepspeed", "hf"},
	"torch": {"hf", "deepspeed", "torchtitan"}, "unknown": {"hf", "deepspeed", "torchtitan"}, "": {"hf", "deepspeed", "torchtitan"},
}

// dialectsOf returns the dialects of this run: first its framework's for the pass and for the trainer, last its engine's and
// oomscan's own.
func dialectsOf(ctx *Context, trainer string) []string {
	var out []string
	for _, d := range setupDialects[ctx.run.Framework] {
		if ctx.phase == "logprob" {
			if ctx.is("role:ref") {
				out = append(out, d+" ref")
			}
			out = append(out, d+" logprob")
		}
		if trainer != "" {
			out = append(out, d+" "+strings.TrimRight(trainer, "123"))
		}
		out = append(out, d)
	}
	if e := engineOf(ctx); e != "" {
		out = append(out, e)
	}
	if a := ctx.run.Application; a != "" {
		out = append(out, a)
	}
	return append(out, "oomscan")
}

// batchOf finds the micro-batch of the phase, by its samples, by a budget of tokens, or by the size of the request.
func batchOf(ctx *Context, s *memory.Setup) {
	if l := ctx.limit; l != nil {
		s.SequenceMax = known(l.Longest, l.Longest > 0)
		s.TokenBudget, s.MicroBatch = known(l.Tokens, l.Budget), known(l.Samples, !l.Budget && l.Samples > 0)
	}
	if c := s.CP.Or(1); s.Framework == memory.AReaL && s.TokenBudget.Known { // cut into parts after it is packed (areal/engine/fsdp_engine.py)
		s.TokenBudget.Value = ceilDiv(s.TokenBudget.Value, c)
	}
	if s.Task == "grpo" && s.MicroBatch.Known { // the head is computed for the answers alone
		if n, ok := ctx.settings.integer("max_completion_length"); ok && n < mostTokens {
			s.LossTokens = memory.Some(s.MicroBatch.Value * n)
		}
	}
	if len(ctx.request) == 0 || failedInPart(ctx) {
		return
	}
	if r := ctx.request[0]; r.What == "logits" && (r.Seen || r.Met) && r.Low > 0 {
		if s.LossTokens.Known {
			s.LossTokens = memory.Some(r.High)
			return
		}
		s.TokensNow = memory.Some(r.High)
	}
}

// rolloutSamples maps frameworks to the settings whose product is the number of samples of a rollout batch.
var rolloutSamples = map[string][2]string{
	memory.VeRL: {"data.train_batch_size", "actor_rollout_ref.rollout.n"}, memory.Slime: {"rollout_batch_size", "n_samples_per_prompt"},
}

// residents finds the other models and the engine next to the trainer, and where they are while idle.
func residents(ctx *Context, s *memory.Setup) {
	if s.Engine != "" && s.Trainer != "" {
		switch ctx.holds("shares_card").truth {
		case yes:
			s.Colocated = memory.Some(true)
		case no:
			s.Colocated = memory.Some(false)
		}
	}
	if _, ok := ctx.settings.find("critic.path", false); s.Framework == memory.AReaL && len(ctx.settings.lasts) > 0 && !ok {
		s.Critic = memory.Some(false)
	}
	if s.Framework == memory.TRL && s.Task == "grpo" || ctx.is("only_trains") { // it compares the answers of a group instead, or has none
		s.Critic = memory.Some(false)
	}
	if keys, ok := rolloutSamples[s.Framework]; ok {
		prompts, ok1 := ctx.settings.integer(keys[0])
		answers, ok2 := ctx.settings.integer(keys[1])
		s.RolloutSamples = known(prompts*answers, ok1 && ok2 && prompts < mostSize && answers < mostSize)
	}
	if s.Framework == memory.Slime {
		s.ReferenceOffload = memory.Some(true) // its weights wait in pinned host memory and take the actor's place
		if _, t := ctx.settings.flag("offload_train"); t == yes && ctx.phase == "rollout" {
			s.ParamOffload, s.OptimizerOffload = memory.Some(true), memory.Some(1.0)
		}
	}
}

// figuresOf takes the log's figures: the size of the card, the free memory at the engine's start, the size of its weights, the
// limit of the node's memory.
func figuresOf(ctx *Context, s *memory.Setup) {
	if total, _, ok := cardCapacity(ctx); ok {
		s.CardBytes = memory.Some(total)
	}
	if g, ok := memory.Reading(ctx.run, ctx.incident, "sglang.mem_weights"); ok {
		left, ok1 := g.Fields.Int("free")
		used, ok2 := g.Fields.Int("used")
		s.FreeAtStart = known(left+used, ok1 && ok2 && left > 0 && used > 0)
	}
	if g, ok := memory.Reading(ctx.run, ctx.incident, "vllm.usage"); ok {
		n, ok := g.Fields.Int("free")
		s.FreeAtStart = known(n, ok && n > 0)
	}
	if ctx.run.Framework == s.Engine {
		s.EngineVersion = ctx.run.FrameworkVersion
	}
	if n := ctx.root.Limit; n != nil && *n > 0 && ctx.resource == "host" {
		s.NodeBytes = memory.Some(*n)
	}
}

// published8Bit lists models published in fp8 without fp8 in the name.
var published8Bit = []string{"deepseek-v3", "deepseek-r1", "kimi-k2"}

// smallerSize matches the size in the name of a smaller model that was made of one of these.
var smallerSize = lazyre.New(`^-\d{1,3}(?:\.\d)?b\b`)

// quantizedByName takes the bytes per weight from the model's name.
func quantizedByName(ctx *Context, s *memory.Setup) bool {
	name := strings.ToLower(ctx.run.Model.Name)
	for _, w := range published8Bit {
		if _, rest, found := strings.Cut(name, w); found && !strings.Contains(name, "bf16") && !strings.Contains(name, "distill") && !smallerSize().MatchString(rest) {
			s.EngineWeightBytes = memory.Some(1.0)
		}
	}
	for _, w := range quantizedWords {
		if strings.Contains(name, w) {
			s.EngineWeightBytes = memory.Some(quantizedBytes[w])
		}
	}
	return s.EngineWeightBytes.Known
}

// Overridden returns the run with additional settings, which replace the log's. A key may be the end of the log's key if no
// other key has the same end.
func Overridden(run *classifier.Run, values map[string]string) (*classifier.Run, error) {
	out := *run
	out.Config = maps.Clone(run.Config)
	if out.Config == nil {
		out.Config = map[string]classifier.Value{}
	}
	for _, k := range slices.Sorted(maps.Keys(values)) {
		at, err := fullKey(out.Config, k)
		if err != nil {
			return nil, err
		}
		out.Config[at] = classifier.Value{Value: values[k]}
	}
	return &out, nil
}
