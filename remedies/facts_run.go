package remedies

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"oomscan/classifier"
	"oomscan/remedies/cause"
	"oomscan/remedies/memory"
)

// launcher reports whether this program started the job. A scheduler under Ray or torchrun counts too.
func launcher(ctx *Context, word string) verdict {
	if ctx.run.Scheduler == word {
		return verdict{yes, "the job runs under " + word}
	}
	return named(ctx.run.Launcher, word, "launcher")
}

func backend(ctx *Context, word string) verdict {
	have := strings.ToLower(ctx.run.Backend)
	if f := ctx.run.Framework; have == "" && (f == "megatron" || f == "deepspeed") {
		have = f
	}
	v := named(have, word, "backend")
	if word == "fsdp" && (have == "fsdp2" || have == "fsdp") {
		v.truth = yes
	}
	return v
}

// since reports whether the framework's release is at least a word such as 0.6, or the engine's or the application's one such as "vllm 0.6".
func since(ctx *Context, word string) verdict {
	program, version := ctx.run.Framework, ctx.run.FrameworkVersion
	if name, least, ok := strings.Cut(word, " "); ok {
		program, version, word = name, "", least
		switch {
		case ctx.run.Application == name:
			version = ctx.run.ApplicationVersion
		case ctx.run.Engine == name && !strings.Contains(ctx.run.EngineVersion, "dev"): // builds from source may call themselves 0.1.dev
			version = ctx.run.EngineVersion
		}
	}
	in, ok := versionIn(version, ">="+word)
	if why := olderVLLM(ctx, word); !ok && program == "vllm" && why != "" {
		return verdict{no, why}
	}
	if !ok {
		return verdict{}
	}
	return verdict{truthOf(in), fmt.Sprintf("this run uses %s %s", program, version)}
}

// isSet reports whether the log has the value of a setting.
func isSet(ctx *Context, word string) verdict {
	f, ok := ctx.settings.find(word, true)
	if !ok || isNone(f.value.Value) {
		return verdict{no, word + " is not in the log"}
	}
	return verdict{yes, fmt.Sprintf("%s is %s", f.key, shown(f.value.Value))}
}

func dynamicBatch(ctx *Context, _ string) verdict {
	f, t := ctx.settings.flag("actor_rollout_ref.actor.use_dynamic_bsz", "data.use_dynamic_bsz", "use_dynamic_batch_size", "use_dynamic_batch", "train.dynamic_batch_enable", "policy.dynamic_batching.enabled")
	switch {
	case t != unknown:
		return verdict{t, fmt.Sprintf("%s is %s", f.key, f.value.Value)}
	case ctx.whole && slices.Contains(samplesByDefault, programOf(ctx.run).ID):
		return verdict{no, "micro-batches are sized in samples by default"}
	}
	return verdict{}
}

// samplesByDefault lists the programs that divide batches into micro-batches by tokens only if set to.
var samplesByDefault = []string{"verl", "openrlhf", "slime", "relax"}

// zero0 reports whether the run's settings turn ZeRO off. A model beside the trained one, such as a reference, may have an engine without it.
func zero0(ctx *Context, _ string) (off verdict) {
	if ctx.passesThrough("/deepspeed/runtime/zero/") {
		return verdict{no, "it failed in ZeRO's code"}
	}
	for _, name := range zeroStage {
		switch f, ok := ctx.settings.find(name, true); {
		case ok && equal(f.value.Value, "0"):
			off = verdict{yes, f.key + " is 0, without ZeRO"}
		case ok:
			return verdict{no, fmt.Sprintf("%s is %s", f.key, shown(f.value.Value))}
		}
	}
	return off
}

// zero3 reports whether the run's settings ask for ZeRO stage 3, by its number or by the name of a configuration.
func zero3(ctx *Context, _ string) verdict {
	if n, ok := ctx.settings.integer(zeroStage...); ok {
		return verdict{truthOf(n == 3), fmt.Sprintf("the ZeRO stage is %d", n)}
	}
	if ctx.passesThrough("/deepspeed/runtime/zero/stage3.py", "/deepspeed/runtime/zero/partition_parameters.py", "/deepspeed/runtime/zero/parameter_offload.py") || ctx.stackContains(40, "_zero3_") {
		return verdict{yes, "it failed in the code of ZeRO stage 3"}
	}
	for _, key := range zeroFiles {
		if f, ok := ctx.settings.find(key, true); ok && (key == zeroFiles[0] || containsAny(strings.ToLower(f.value.Value), []string{"z3", "zero", "ds_", "deepspeed"})) {
			return verdict{truthOf(containsAny(strings.ToLower(path.Base(f.value.Value)), []string{"z3", "zero3", "zero_3", "stage3", "stage_3"})), fmt.Sprintf("%s is %s", f.key, shown(f.value.Value))}
		}
	}
	return verdict{}
}

// wholeWeights reports whether ZeRO leaves on each rank all weights, two bytes of a parameter, and so many ranks share Adam's states and
// their master copy, twelve bytes, that a rank's part of them is less.
func wholeWeights(ctx *Context, _ string) verdict {
	stage, ok := ctx.settings.integer(zeroStage...)
	n, known := ctx.gpus()
	const fewest = 8
	if !ok || !known || !ctx.is("backend:deepspeed") || trainsAdapters(ctx) {
		return verdict{}
	}
	return verdict{truthOf((stage == 1 || stage == 2) && n >= fewest), fmt.Sprintf("the ZeRO stage is %d on %d GPUs", stage, n)}
}

// zeroFiles are the settings whose values name the ZeRO stage: a configuration of DeepSpeed's, accelerate's configuration, and Lightning's
// strategy.
var zeroFiles = []string{"deepspeed", "deepspeed_config", "config_file", "strategy", "trainer.strategy"}

// alwaysShard lists programs that split the model over the GPUs, whatever their settings.
var alwaysShard = []string{"prime_rl", "skyrl", "easyr1"}

// unsharded reports whether several GPUs train without splitting the model.
func unsharded(ctx *Context, _ string) verdict {
	n, ok := ctx.gpus()
	if p := programOf(ctx.run); slices.Contains(alwaysShard, p.ID) {
		return verdict{no, p.Name + " splits the model over all GPUs"}
	}
	for _, key := range []string{"tensor_parallel_degree", "pipeline_parallel_degree", "pp_size", "pipeline_model_parallel_size"} { // the first two are TorchTitan's
		if n, ok := ctx.settings.integer(key); ok && n > 1 {
			return verdict{no, fmt.Sprintf("%s is %d: the model is split over the GPUs", key, n)}
		}
	}
	if v := ctx.holds("zero0"); ok && n > 1 && v.truth == yes {
		return v
	}
	if b := ctx.run.Backend; ok && n > 1 && (b == "" || b == "ddp") && isSet(ctx, "deepspeed").truth != yes && isSet(ctx, "fsdp").truth != yes && isSet(ctx, "zero_stage").truth != yes && !ctx.is("enable_full_shard=True") && !ctx.stackContains(engineDepth, "fsdp", "fully_shard") {
		return verdict{yes, fmt.Sprintf("nothing splits the model over the %d GPUs", n)}
	}
	return verdict{}
}

// offloadFile reports whether the name of the DeepSpeed configuration or strategy mentions offloading.
func offloadFile(ctx *Context, _ string) verdict {
	for _, key := range zeroFiles {
		if f, ok := ctx.settings.find(key, true); ok && strings.Contains(strings.ToLower(f.value.Value), "offload") {
			return verdict{yes, fmt.Sprintf("%s is %s", f.key, shown(f.value.Value))}
		}
	}
	return verdict{}
}

// vae reports whether the failing stack passes through a VAE.
func vae(ctx *Context, _ string) verdict {
	if v := inVAE.ask(ctx, ""); v.truth == yes || ctx.root.Trace == nil {
		return v
	}
	if ctx.passesThrough("/autoencoder", "/vae") {
		return verdict{yes, inVAE.why}
	}
	return verdict{no, "no VAE is in the stack"}
}

func experts(ctx *Context, _ string) verdict {
	if n, ok := ctx.settings.integer("num_experts", "num_local_experts", "n_routed_experts"); ok {
		return verdict{truthOf(n > 1), "the model has experts"}
	}
	if m, _, ok := knownModel(&ctx.run.Model); ok && m.Experts > 0 {
		return verdict{yes, m.Name + " has experts"}
	}
	return verdict{}
}

// movesPeak covers settings that people change first but that do not help: AReaL's guides name the batch size, and in every
// trainer that accumulates gradients the micro-batch decides.
func movesPeak(*Context, string) verdict {
	return verdict{no, "micro-batches set the peak, not this"}
}

// batchUnknown reports whether a step that holds the activations of its batch failed and the log does not show the size of the
// batch. It is the only argument for a smaller one.
func batchUnknown(ctx *Context, _ string) verdict {
	if ctx.phase != "forward" && ctx.phase != "backward" {
		return verdict{}
	}
	for _, k := range []string{"per_device_train_batch_size", "train_micro_batch_size_per_gpu", "micro_batch_size", "micro_batch", "local_batch_size", "batch_size"} {
		if isSet(ctx, k).truth == yes {
			return verdict{no, "the batch size is known"}
		}
	}
	return verdict{yes, fmt.Sprintf("it failed in %s, which holds the activations of a whole batch", phaseNames([]string{ctx.phase}))}
}

// loadsBack lists the programs that load offloaded states onto the card for an update (verl workers/engine/base.py,
// BaseEngineCtx; EasyR1 verl/workers/fsdp_workers.py, update_actor).
var loadsBack = []string{"verl", "easyr1"}

func statesReturn(ctx *Context, _ string) verdict {
	p := programOf(ctx.run)
	returns := slices.Contains(loadsBack, p.ID) && slices.Contains(training, ctx.phase)
	return verdict{truthOf(returns), p.Name + " loads offloaded states back onto the card for the update"}
}

// batchNames are the names of the batch in scripts: those of the fixes that make it smaller.
var batchNames = sync.OnceValue(func() []string {
	var out []string
	for _, id := range []string{"cause.batch-size", "cause.batch-named", "cause.batch-per-card", "cause.micro-batch", "cause.token-named"} {
		for _, p := range fixes().item(id).Parameters {
			out = append(out, p.Key)
			for _, sp := range p.Spellings {
				out = append(out, sp.Key)
			}
		}
	}
	return out
})

// scriptBatch reports whether a training script of its own failed whose batch size is not in the log.
func scriptBatch(ctx *Context, _ string) verdict {
	if p := programOf(ctx.run).ID; p != "" && p != "torch" || ctx.work.untrained() || slices.ContainsFunc(batchNames(), func(k string) bool { return isSet(ctx, k).truth == yes }) || slices.ContainsFunc(ctx.request, func(e memory.Explanation) bool { return e.Seen && e.What == "activations" }) {
		return verdict{no, "not a script with a batch of unknown size"}
	}
	return batchUnknown(ctx, "")
}

// wholeGroups reports whether the batch on a device is one group of answers, the trainer's minimum.
func wholeGroups(ctx *Context, _ string) verdict {
	n, ok := ctx.settings.integer("num_generations")
	if !ok || n < 2 || ctx.run.Application != "unsloth" {
		return verdict{}
	}
	if ctx.is("counts_prompts") {
		return verdict{yes, fmt.Sprintf("a batch counts prompts, each with its %d answers", n)}
	}
	m, printed := ctx.settings.integer("Batch size per device")
	if !printed {
		batch, _ := ctx.settings.integer("per_device_train_batch_size")
		steps, _ := ctx.settings.integer("gradient_accumulation_steps")
		m = max(batch, 1)
		if m < n && batch*steps%n != 0 {
			m = n
		}
	}
	return verdict{truthOf(m == n), fmt.Sprintf("Unsloth raises the batch on a device to num_generations, %d", n)}
}

// countsPrompts reports whether the batch of GRPO counts prompts, as in TRL before 0.15. The later versions that Unsloth patches print
// a batch that holds whole groups of answers.
func countsPrompts(ctx *Context, _ string) verdict {
	if early, known := versionIn(ctx.run.FrameworkVersion, "<0.15"); known && ctx.run.Framework == "trl" && ctx.settings.has("num_generations") {
		return stated(early, "TRL "+ctx.run.FrameworkVersion+" generates all answers to each prompt of a batch", "a batch counts answers in TRL "+ctx.run.FrameworkVersion)
	}
	n, ok1 := ctx.settings.integer("num_generations")
	m, ok2 := ctx.settings.integer("Batch size per device")
	steps, ok3 := ctx.settings.integer("Gradient Accumulation steps")
	if !ok1 || !ok2 || !ok3 || ctx.run.Application != "unsloth" || n < 2 || max(n, m, steps) > mostSamples {
		return verdict{}
	}
	return stated(m*steps%n != 0, fmt.Sprintf("a batch of %d does not hold whole groups of %d answers", m*steps, n), fmt.Sprintf("a batch of %d holds whole groups of %d answers", m*steps, n))
}

// switchKeys are settings that turn recomputation on, or that come with a program that has one.
var switchKeys = slices.Concat(cause.RecomputeKeys[1:], []string{"per_device_train_batch_size", "attn_implementation", "fsdp", "model_name_or_path", "pretrained_model_name_or_path"})

// hasSwitch reports whether the model or its program has a setting to recompute activations: models of transformers do, and so
// does any program that prints one.
func hasSwitch(ctx *Context, _ string) verdict {
	for _, key := range switchKeys {
		if v := isSet(ctx, key); v.truth == yes {
			return v
		}
	}
	if ctx.run.Framework != "torch" && ctx.run.Framework != "unknown" || ctx.model.name != "" {
		return verdict{yes, "its trainer has a switch for it"}
	}
	if ctx.passesThrough("/transformers/", "/diffusers/", "/models/llama", "train_ft") {
		return verdict{yes, "the model is one of transformers"}
	}
	return verdict{}
}

// libraryModels are parts of the paths of models that a script turns recomputation on for itself.
var libraryModels = []string{"/transformers/models/", "/diffusers/models/", "/timm/models/", "/timm/layers/", "/mmdet/models/backbones/", "/mmseg/models/backbones/", "/mmpretrain/models/backbones/", "/f5_tts/model/backbones/"}

// libraryModel reports whether a script failed in a library's model, and nothing shows that the script has a switch of its own.
func libraryModel(ctx *Context, _ string) verdict {
	known := func(key string) bool { return isSet(ctx, key).truth == yes }
	if ctx.run.Framework != "torch" || ctx.run.Application != "" || slices.ContainsFunc(switchKeys, known) || ctx.passesThrough("/transformers/trainer.py") {
		return verdict{no, "the program has a switch for it"}
	}
	return verdict{truthOf(ctx.passesThrough(libraryModels...)), "the model is a library's, in a script of its own"}
}

// read reports whether the run printed a reading.
func read(ctx *Context, gauge, why string) verdict {
	if slices.ContainsFunc(ctx.run.Gauges, func(g classifier.Gauge) bool { return g.Name == gauge }) {
		return verdict{yes, why}
	}
	return verdict{}
}

// trainedBefore reports whether a script had finished a training when a later one failed: seeds, folds or trials, one after the other.
func trainedBefore(ctx *Context, _ string) verdict {
	_, ended := memory.Reading(ctx.run, ctx.incident, "trainer.one_trained")
	trains := slices.Contains([]string{"init", "training", "forward", "backward", "optimizer"}, ctx.phase)
	return verdict{truthOf(ended && trains && !ctx.is("evaluating")), "the script had trained a model before, in the same process"}
}

// nominalParameters returns the model's parameter count from the log or from its name.
func nominalParameters(ctx *Context) memory.Figure {
	if n, ok := memory.NominalParameters(ctx.run.Model.Name); ok && ctx.model.Parameters.Value == 0 {
		return memory.Figure{Value: n, Named: true}
	}
	return ctx.model.Parameters
}

// adapterPrograms train adapters of the same models by a switch.
var adapterPrograms = []string{"trl", "hf_trainer", "llamafactory", "axolotl", "swift", "torchtune"}

// outgrowsCards reports that the states of all weights exceed the cards however they are split: weights, gradients and Adam's moments in
// 16 bits take 8 bytes of each parameter at least.
func outgrowsCards(ctx *Context, _ string) verdict {
	p, total := ctx.input().Trains(), deref(ctx.root.Total)
	gpus, known := ctx.gpus()
	if !known && unknownGPUs(ctx) && ctx.run.Launcher == "" {
		gpus, known = 1, true // a script that python started
	}
	if p <= 0 || p > mostParameters || total <= 0 || !known || gpus < 1 || !slices.Contains(adapterPrograms, programOf(ctx.run).ID) {
		return verdict{}
	}
	return verdict{truthOf(8*p/gpus > total), fmt.Sprintf("the states of %s parameters take %s or more in all, and the cards have %s", memory.Thousands(p), classifier.GiB(8*p), classifier.GiB(total*gpus))}
}
