package remedies

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser/traceback"
	"oomscan/remedies/memory"
)

// typeFacts are those about the types of weights and of what they are trained with.
func typeFacts() map[string]fact {
	return map[string]fact{
		"eight_bits_exceed": {"32-bit weights and gradients with 8-bit moments exceed the card", "8-bit moments may fit", func(ctx *Context, _ string) verdict {
			n, total := trainsBackbone(ctx), deref(ctx.root.Total)
			return verdict{truthOf(n > 0 && total > 0 && 10*n > total), "32-bit weights and gradients with 8-bit moments take " + classifier.GiB(10*n)}
		}},
		"exceeds_card": {"the weights in 16 bits exceed a card", "the weights in 16 bits are not known to exceed a card", func(ctx *Context, _ string) verdict {
			weights, total := 2*nominalParameters(ctx).Value, deref(ctx.root.Total)
			return verdict{truthOf(total > 0 && weights > total/10*9 && !quantized(ctx)), "the weights in 16 bits exceed a card"}
		}},
		"needs_paging": {"weights and gradients in 16 bits with 8-bit moments exceed the only card, and fit without the moments", "8-bit moments may fit beside the weights", needsPaging},
		"made_wide": {"transformers made the model in float32", "transformers did not say that it made the model in float32", func(ctx *Context, _ string) verdict {
			why := madeWide(ctx)
			return verdict{truthOf(why != ""), why}
		}},
		"type_ignored": {"Diffusers ignored the type to load in", "Diffusers is not known to have ignored a type", func(ctx *Context, _ string) verdict {
			why := typeIgnored(ctx)
			return verdict{truthOf(why != ""), why}
		}},
		"sixteen_bits": {"the weights are loaded in 16 bits", "the weights are not known to be loaded in 16 bits", sixteenBits},
		"own_dtype":    {"a program that sets its own weight type", "a program that loads as from_pretrained says", ownDType},
		"quantized": {"the weights are quantized", "the weights are not quantized", func(ctx *Context, _ string) verdict {
			if quantized(ctx) {
				return verdict{yes, "the weights are quantized already"}
			}
			return verdict{}
		}},
		"exceeds_in_4_bits": {"the weights exceed the card in 4 bits, too", "the weights are not known to exceed the card in 4 bits", exceedsIn4Bits},
		"lightning_mixed": {"Lightning computes in 16 bits", "Lightning does not say that it computes in 16 bits", func(ctx *Context, _ string) verdict {
			return read(ctx, "lightning.mixed", "Lightning says that it computes in 16 bits")
		}},
		"lightning_wide": {"Lightning has the weights in 32 bits", "Lightning is not known to have the weights in 32 bits", lightningWide},
		"fp8_in_vain":    {"weights of 8-bit floats are no way out", "weights of 8-bit floats are a way out", fp8InVain},
		"trained_wide": {"the weights that are trained are float32", "nothing says that the trained weights are float32", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(strings.EqualFold(ctx.run.Model.TrainedDType, "float32")), "mixed precision keeps the trained weights in float32"}
		}},
		"quantizes": {"weights are quantized while they are loaded", "no weights are quantized while they are loaded", quantizesNow},
		"calibrates": {"a quantizer was calibrating", "no quantizer was calibrating", func(ctx *Context, _ string) verdict {
			p := programOf(ctx.run)
			return verdict{truthOf(p.Guide == "calibration" && slices.Contains([]string{"forward", "backward", "data"}, ctx.phase)), p.Name + " was calibrating"}
		}},
		"float32_type": {"CTranslate2 says that it computes in float32", "CTranslate2 does not say that it computes in float32", func(ctx *Context, _ string) verdict {
			return read(ctx, "ctranslate2.float32", "CTranslate2 computes in float32")
		}},
		"fits_in_8_bits": {"the weights fit on the card in 8 bits", "the weights do not fit on the card in 8 bits", func(ctx *Context, _ string) verdict {
			p, total := ctx.input().Parameters.Value, ctx.root.Total
			if p <= 0 || total == nil {
				return verdict{}
			}
			return stated(p < *total/10*9, "the weights fit on the card in 8 bits", "the weights do not fit on the card in 8 bits")
		}},
		"no_8bit": {"an accelerator without 8-bit floats, for which bitsandbytes has no optimizers", "not such an accelerator", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(ctx.root.Accelerator == "NPU" || ctx.recognisedAs("mps.")), "the accelerator has no 8-bit floats, and bitsandbytes no optimizers for it"}
		}},
	}
}

// sixteenBits reports whether the dtype of the weights is set to 16 bits, in a setting or in the code that failed.
func sixteenBits(ctx *Context, _ string) verdict {
	if why := typeIgnored(ctx); why != "" {
		return verdict{no, why}
	}
	typed := []string{"dtype=torch.bfloat16", "dtype=torch.float16", "dtype=torch.half", `dtype="auto"`}
	if t := ctx.root.Trace; t != nil && slices.ContainsFunc(t.Frames, func(f traceback.Frame) bool {
		return containsAny(f.Code, typed) && !strings.Contains(slashed(f.File), "/transformers/") // which warms up its allocator in float16
	}) {
		return verdict{yes, "the code that failed loads in 16 bits"}
	}
	if p := nominalParameters(ctx).Value; p > 0 && ctx.phase == "init" && ctx.root.Allocated != nil && *ctx.root.Allocated > 5*p/2 {
		return verdict{no, "more is allocated than the weights take in 16 bits"}
	}
	if why := cmp.Or(loadsWide(ctx), madeWide(ctx)); why != "" {
		return verdict{no, why}
	}
	if g, ok := lastReading(ctx.run, "hf.sixteen_bits"); ok {
		return verdict{yes, g.Fields["model"] + " was made in 16 bits"}
	}
	if _, ok := lastReading(ctx.run, "torch.weights_sixteen_bits"); ok {
		return verdict{yes, "the log says that the weights have 16 bits"}
	}
	if args, ok := ctx.settings.find("model_args", true); ok && ctx.passesThrough("/lm_eval/models/huggingface.py") && !strings.Contains(args.value.Value, "dtype=") {
		return verdict{yes, "lm-eval loads weights in the type of their checkpoint"} // HFLM's dtype is "auto"
	}
	if ctx.passesThrough("/text-generation-webui/") {
		return verdict{yes, "text-generation-webui loads weights in 16 bits"} // modules/models.py, huggingface_loader
	}
	words := []string{"bfloat16", "float16", "bf16", "fp16", "half"}
	for _, key := range []string{"torch_dtype", "dtype", "model_dtype", "param_dtype"} {
		if f, ok := ctx.settings.find(key, true); ok && containsAny(strings.ToLower(f.value.Value), words) {
			return verdict{yes, fmt.Sprintf("%s is %s", f.key, shown(f.value.Value))}
		}
	}
	if f, ok := ctx.settings.find("mixed_precision", true); ok && ctx.run.Application == "diffusers" && containsAny(strings.ToLower(f.value.Value), words) {
		return verdict{yes, fmt.Sprintf("%s is %s: its scripts cast the frozen weights to that", f.key, shown(f.value.Value))} // weight_dtype
	}
	if f, ok := ctx.settings.find("precision", true); ok && strings.HasSuffix(f.value.Value, "16-true") { // of Lightning and Fabric
		return verdict{yes, fmt.Sprintf("%s is %s", f.key, shown(f.value.Value))}
	}
	for _, key := range []string{"full_bf16", "full_fp16"} { // of sd-scripts
		if f, t := ctx.settings.flag(key); t == yes {
			return verdict{yes, f.key + " is on"}
		}
	}
	return verdict{}
}

// typeIgnored says that Diffusers did not know the argument that was to load a model in 16 bits: it warns, and makes float32 of it.
func typeIgnored(ctx *Context) string {
	g, ok := lastReading(ctx.run, "diffusers.type_ignored")
	if !ok {
		return ""
	}
	return fmt.Sprintf("Diffusers ignored %s, which it does not know: %s is float32", g.Fields["key"], g.Fields["model"])
}

// madeWide reports that a trainer has its model in float32, whatever its checkpoint and an engine beside it have: transformers said so, or
// the optimizer's states, which torch makes in the type of the parameters, are float32 on the only card.
func madeWide(ctx *Context) string {
	if g, ok := lastReading(ctx.run, "hf.float32"); ok {
		return g.Fields["model"] + " was made in float32"
	}
	one := (ctx.is("one_gpu") || ctx.run.Backend == "") && !ctx.is("backend:deepspeed")
	trl := ctx.is("framework:trl") // elsewhere float32 may be meant
	if ctx.phase == "optimizer" && one && trl && ctx.passesThrough("/transformers/trainer.py") && ctx.stackContains(4, fresh...) && memory.WideParameter(ctx.request) {
		return "the optimizer makes float32 states, as its parameters are: " + strings.TrimSuffix(ctx.request[0].Text, ".")
	}
	return ""
}

// needsPaging reports whether an optimizer with 8-bit states would exceed the only card, too, unless it pages them to host memory.
func needsPaging(ctx *Context, _ string) verdict {
	p, total := nominalParameters(ctx).Value, deref(ctx.root.Total)
	if size, _, ok := memory.CardSize(ctx.run, ctx.incident); ok && total == 0 {
		total = size.High
	}
	if p <= 0 || p > mostParameters || total <= 0 || !ctx.is("one_gpu") || trainsAdapters(ctx) || quantized(ctx) || 6*p <= total || 4*p > total/20*19 {
		return verdict{}
	}
	return verdict{yes, fmt.Sprintf("weights, gradients and 8-bit states take at least %s", classifier.GiB(6*p))}
}

// loadsWide reports that a weight was being loaded in float32, whatever its checkpoint has: the size of the request shows it.
func loadsWide(ctx *Context) string {
	if ctx.phase != "init" || !memory.WideParameter(ctx.request) {
		return ""
	}
	return "the weights are loaded in float32: " + strings.TrimSuffix(ctx.request[0].Text, ".")
}

// lightningWide reports whether Lightning 2 has weights in 32 bits: mixed precision keeps them so, and without a setting they are made so. An
// earlier version, which prints its precision otherwise, can do nothing else.
func lightningWide(ctx *Context, _ string) verdict {
	const mixed = "mixed precision keeps the weights in 32 bits"
	g, ok := lastReading(ctx.run, "lightning.mixed")
	switch f, set := ctx.settings.find("precision", true); {
	case ctx.is("backend:deepspeed"), ok && g.Fields["native"] != "", set && strings.HasSuffix(f.value.Value, "-true") && !strings.HasPrefix(f.value.Value, "32"):
		return verdict{no, "the weights are not known to be in 32 bits"}
	case ok && (ctx.phase == "init" || trainsAdapters(ctx)): // what is trained needs them
		return verdict{yes, mixed}
	}
	return verdict{truthOf(!ok && ctx.phase == "init" && ctx.run.Application == "lightning" && !ctx.is("dated_before:2023-03")), "without a setting, weights are made in 32 bits"}
}

// ownDType reports whether a program's own setting decides the type of the weights. Under Lightning it is the Trainer's precision, unless a
// model of transformers is in the stack, which from_pretrained loads.
func ownDType(ctx *Context, _ string) verdict {
	p := programOf(ctx.run).ID
	if p == "lightning" && !ctx.passesThrough("/transformers/") && !ctx.stackContains(80, "from_pretrained") && ctx.resource == "gpu" {
		return verdict{yes, "Lightning's precision decides the weights' type"}
	}
	return verdict{truthOf(slices.Contains(typedPrograms, p)), "its own setting decides the weights' type, 16 bits by default"}
}

// beforeTuring lists cards too old for 8-bit float weights in vLLM and SGLang, which need compute capability 7.5.
var beforeTuring = []string{"V100"}

// fp8InVain reports whether weights of 8-bit floats that an engine makes itself are no way out: it reads them in 16 bits
// first and fails there, or the card knows no such kernels (vLLM, features/quantization/fp8).
func fp8InVain(ctx *Context, _ string) verdict {
	if ctx.is("engine_loads") {
		return verdict{yes, "the engine reads the weights in 16 bits before it makes 8 of them"}
	}
	old := func(g classifier.Gauge) bool {
		return g.Name == "gpu.card" && slices.Contains(beforeTuring, g.Fields["card"])
	}
	if slices.ContainsFunc(ctx.run.Gauges, old) {
		return verdict{yes, "the card has no kernels for 8-bit floats"}
	}
	return verdict{no, "8-bit floats are made of the weights"}
}
