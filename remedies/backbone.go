package remedies

import "strings"

// backbones are how many parameters the networks have that full fine-tuning of a diffusion model trains, by parts of the models' names
// (the checkpoints of their U-Nets).
var backbones = []struct {
	names      []string
	parameters int64
}{
	{[]string{"stable-diffusion-xl", "sd_xl", "sdxl"}, 2_567_463_684},
	{[]string{"stable-diffusion-2"}, 865_910_724},
	{[]string{"stable-diffusion-v1", "stable-diffusion-1"}, 859_520_964},
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
	name := strings.ToLower(ctx.run.Model.Name)
	for _, b := range backbones {
		if containsAny(name, b.names) {
			return b.parameters
		}
	}
	return 0
}
