package remedies

import "slices"

// Parts of stacks that only images and video pass through.
var (
	imageFiles = []string{
		"/torchvision/models/", "/timm/", "/detectron2/", "/mmdet/", "/mmseg/", "/mmpose/", "/mmocr/", "/ultralytics/", "/segmentation_models", "/monai/", "/nnunet", "/kornia/",
		"/diffusers/models/", "/comfy/ldm/", "/autoencoder", "/vae", "/unet",
	}
	imageFrames = []string{"conv2d(", "conv3d(", "batchnorm2d", "max_pool2d", "self.visual(", "vision_tower", "vision_model(", "get_image_feature", "image_encoder", "encode_image", "patch_embed"}
)

// imageDepth is the number of innermost frames that say what kind of samples was worked on.
const imageDepth = 16

// images reports whether what failed works on images or video, whose size no text length sets.
func images(ctx *Context, _ string) verdict {
	stack := wholeStack(ctx)
	for _, f := range slices.Backward(stack[max(0, len(stack)-imageDepth):]) {
		if containsAny(f, imageFrames) || containsAny(f, imageFiles) {
			return verdict{yes, "it failed on images, whose size no text length sets"}
		}
	}
	return verdict{}
}

// unlimitedAudio reports whether NeMo trains on recordings whose length nothing limits, or only far above its own recipes for speech, which
// have 16.7 to 20 seconds: max_duration, which a log of the configuration shows.
func unlimitedAudio(ctx *Context, _ string) verdict {
	const long = 25
	f, ok := ctx.settings.find("train_ds.max_duration", true)
	if !ok || !ctx.passesThrough("/nemo/collections/asr/", "/nemo/collections/tts/") {
		return verdict{}
	}
	limit, known := parseNumber(f.value.Value)
	if !isNone(f.value.Value) && (!known || limit <= long) {
		return verdict{}
	}
	return verdict{yes, f.key + " is " + f.value.Value + ": a batch is padded to its longest recording"}
}
