package remedies

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatTheSamplesAreDecidesWhatIsMadeSmaller(t *testing.T) {
	t.Parallel()
	const (
		lengths = "Namespace(max_length=4096, max_seq_len=512, batch_size=1, "
		conv2   = "torch/nn/modules/conv.py|_conv_forward|return F.conv2d("
		conv3   = "torch/nn/modules/conv.py|_conv_forward|return F.conv3d("
		step    = "/home/u/main.py|train|out = model(batch)"
		loss    = "/home/u/main.py|train|loss = model(batch)"
	)
	oom := oomOf("600.00 MiB", "300.00 MiB", "46.00")
	for _, c := range []struct{ name, log, first, never string }{
		{"a detector", lengths + "imgsz=1280)\n" + stackOf(oom, step, "ultralytics/nn/tasks.py|_predict_once|x = m(x)", conv2), "imgsz=896", "length"},
		{"segmentation", lengths + "crop_size=768)\n" + stackOf(oom, step, "mmseg/models/decode_heads/psp_head.py|forward|output = self.cls_seg(output)", conv2), "crop_size=512", "length"},
		{"a diffusion model", lengths + "resolution=1024)\n" + stackOf(oom, "/home/u/train_text_to_image.py|main|model_pred = unet(noisy_latents, timesteps, encoder_hidden_states)", "diffusers/models/unets/unet_2d_condition.py|forward|sample = upsample_block(", conv2), "", "length"},
		{"a decoder of images that a server runs", stackOf(oom, "/home/u/serve.py|generate|images = pipe(prompt).images", "diffusers/pipelines/z_image/pipeline_z_image.py|__call__|image = self.vae.decode(latents, return_dict=False)[0]", "diffusers/models/autoencoders/autoencoder_kl.py|decode|decoded = self._decode(z).sample", conv2), "pipe.vae.enable_tiling()=true", "length"},
		{"video", lengths + "num_frames=32)\n" + stackOf(oom, step, "torchvision/models/video/resnet.py|forward|x = self.stem(x)", conv3), "num_frames=16", "length"},
		{"a volume of a scanner", lengths + "roi_size=160)\n" + stackOf(oom, step, "monai/networks/nets/unetr.py|forward|dec1 = self.decoder3(dec2, enc2)", conv3), "roi_size=96", "length"},
		{"the vision tower of a language model", "per_device_train_batch_size=1,\nmax_length=8192,\nmax_pixels=12845056,\n" + stackOf(oom, "/home/u/sft.py|main|trainer.train()", "transformers/trainer.py|compute_loss|outputs = model(**inputs)", "transformers/models/qwen2_vl/modeling_qwen2_vl.py|forward|image_embeds = self.visual(pixel_values, grid_thw=image_grid_thw)", "transformers/models/qwen2_vl/modeling_qwen2_vl.py|forward|hidden_states = blk(hidden_states, cu_seqlens=cu_seqlens)"), "max_pixels=1003520", "length"},
		{"its decoder has tokens", "per_device_train_batch_size=1,\ngradient_checkpointing=True,\nmax_length=8192,\n" + stackOf(oom, "/home/u/sft.py|main|trainer.train()", "transformers/trainer.py|compute_loss|outputs = model(**inputs)", "transformers/models/llava/modeling_llava.py|forward|outputs = self.language_model(", "transformers/models/llama/modeling_llama.py|forward|down_proj = self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))"), "", "pixels"},
		{"text in a script of its own", lengths + "lr=1e-4)\n" + stackOf(oom, loss, "/home/u/model.py|forward|x = self.mlp(x)"), "", "image"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := answerTo(t, c.log)
			require.NotNil(t, a.Cause)
			if c.first != "" {
				assert.Equal(t, c.first, strings.TrimLeft(strings.ToLower(firstChange(a)), "-"))
			}
			for _, p := range a.Proposals {
				for _, ch := range p.Changes {
					assert.NotContains(t, strings.ToLower(ch.Key), c.never, p.Title)
				}
			}
		})
	}
}

func TestHowManyBitsWeightsHaveIsReadFromEveryProgramsSettings(t *testing.T) {
	t.Parallel()
	for log, want := range map[string]bool{
		"adapter=qlora": true, "adapter=lora": false, "quantization_bit=4": true, "quant_bits=8": true, "bits=4": true, "bits=16": false, "load_in_8bit=True": true,
		"load_in_4bit=False": false, "use_4bit=True": true, "quantize=None": false,
	} {
		key, value, _ := strings.Cut(log, "=")
		ctx := newContext(run("torch", key, value), gpuOOM("forward"))
		assert.Equal(t, want, quantized(ctx), log)
	}
	for frame, want := range map[string]bool{
		"/x/site-packages/bitsandbytes/nn/modules.py|forward|out = bnb.matmul_4bit(": true, "/x/site-packages/bitsandbytes/optim/adamw.py|update_step|": false,
	} {
		in := gpuOOM("forward")
		in.Root.Trace = frames(frame)
		assert.Equal(t, want, quantized(newContext(run("torch"), in)), frame)
	}
}
