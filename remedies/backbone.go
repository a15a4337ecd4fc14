package remedies

import "strings"

// backbones are how many parameters the networks of diffusion models have, which full fine-tuning trains and adapters leave frozen, by parts
// of the models' names (the checkpoints of their U-Nets and transformers).
var backbones = []struct {
	names      []string
	parameters int64
}{
	{[]string{"flux1-dev", "flux.1-dev", "flux_dev", "flux1-schnell", "flux.1-schnell", "flux1-kontext", "flux.1-kontext"}, 11_901_408_320},
	{[]string{"stable-diffusion-xl", "sd_xl", "sdxl"}, 2_567_463_684},
	{[]string{"stable-diffusion-2"}, 865_910_724},
	{[]string{"stable-diffusion-v1", "stable-diffusion-1"}, 859_520_964},
}

// pipelines are how many parameters all parts of a pipeline of diffusers have, rounded, by its file, where it is for models of one size: the
// transformer, the text encoders and the VAE (the checkpoints of black-forest-labs/FLUX.1-dev, hunyuanvideo-community/HunyuanVideo and
// Qwen/Qwen-Image).
var pipelines = []struct {
	file       string
	parameters int64
}{
	{"/pipelines/flux/", 16_870_000_000},
	{"/pipelines/hunyuan_video/", 20_700_000_000},
	{"/pipelines/qwenimage/", 28_850_000_000},
}

// pipelineWeights returns how many bytes all parts of a pipeline take in 16 bits, 0 if that is unknown or some of them are kept elsewhere.
func pipelineWeights(ctx *Context) int64 {
	if quantized(ctx) || ctx.is("parts_offloaded") {
		return 0
	}
	for _, p := range pipelines {
		if ctx.passesThrough(p.file) {
			return 2 * p.parameters
		}
	}
	return 0
}

// backboneScripts train the whole network: those of Diffusers' examples, and of sd-scripts. Their weights and gradients have 32 bits.
var backboneScripts = []string{"/train_text_to_image.py", "/train_text_to_image_sdxl.py", "/train_dreambooth.py", "/sdxl_train.py", "/fine_tune.py"}

// trainsBackbone returns how many parameters of a diffusion model a script trains in 32 bits that trains its whole network, 0 if it is
// unknown or another script.
func trainsBackbone(ctx *Context) int64 {
	if ctx.run.Application != "diffusers" || !ctx.passesThrough(backboneScripts...) || ctx.is("full_bf16=True") || ctx.is("full_fp16=True") {
		return 0
	}
	if n := ctx.run.Model.Trained; n != nil {
		return *n
	}
	return backboneOf(ctx.run.Model.Name)
}

// backboneOf returns how many parameters the network of a diffusion model has, 0 if it is unknown.
func backboneOf(name string) int64 {
	name = strings.ToLower(name)
	for _, b := range backbones {
		if containsAny(name, b.names) {
			return b.parameters
		}
	}
	return 0
}

// frozenBackbone returns how many bytes the frozen transformer takes of the card beside the adapters that sd-scripts train, 0 if it is unknown.
// All of it is there in 16 bits or wider, unless a setting keeps it in 8 bits or moves blocks to host memory (flux_train_network.py).
func frozenBackbone(ctx *Context) int64 {
	if !ctx.passesThrough(adapterScripts...) || ctx.is("fp8_base=True") || ctx.is("blocks_to_swap>0") || ctx.is("split_mode=True") {
		return 0
	}
	return 2 * backboneOf(ctx.run.Model.Name)
}

// adapterScripts are those of sd-scripts that train adapters of a diffusion transformer.
var adapterScripts = []string{"/flux_train_network.py", "/sd3_train_network.py"}
