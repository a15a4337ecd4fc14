package phase

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"oomscan/parser/lazyre"
)

// line is what a quoted source line means. Bare scripts call torch from functions of any name; the line that was running
// is then the only sign. Expressions see at most maxCode bytes.
type line struct {
	hints []string // every line that the expression matches contains one of them; a quick test
	expr  func() *regexp.Regexp
	phase Phase
	by    strength
	flags flag
}

// reads builds a line from hints, separated by spaces, and an expression.
func reads(hints, expr string, p Phase, by strength) line {
	return line{hints: strings.Fields(hints), expr: lazyre.New(expr), phase: p, by: by}
}

func (l line) with(f flag) line { l.flags |= f; return l }

// lines are tried in this order.
var lines = sync.OnceValue(func() []line {
	return []line{
		// Wrappers whose backward may also step: DeepSpeed through accelerate.
		reads(".backward(", `\b(?:accelerator|engine|model_engine|fabric|self|manager|strategy|booster|trainer)\.backward\(`, Backward, weak),
		reads(".backward( .grad( run_backward( .gradient(", `\.backward\(|\bautograd\.grad\(|\brun_backward\(|\btape\.gradient\(`, Backward, strong),
		reads("caler.", `(?i)\bscaler\.(?:step|unscale_)\(`, Optimizer, strong),
		reads(".step(", `(?i)\b\w*(?:optim|opt|adam)\w*(?:\[[^\]]{0,40}\])?\.step\(`, Optimizer, strong),
		reads("clip_grad_ apply_gradients(", `\bclip_grad_(?:norm|value)_?\(|\.apply_gradients\(`, Optimizer, strong),
		reads("ptim", `(?i)\b\w*optim\w*\.(?:reload|onload|move)_?\w*\(|\b\w*optim\w*\.load_states\(`, Optimizer, strong), // its states come back to the GPU
		reads("ngine.step( zero_grad(", `(?i)\b(?:model_)?engine\.step\(|\boptim\w*\.zero_grad\(`, Optimizer, weak),

		reads("from_pretrained( from_config( deepspeed.initialize( accelerator.prepare", `\.from_pretrained\(|\.from_config\(|\bdeepspeed\.initialize\(|\baccelerator\.prepare\w*\(`, Init, strong),
		reads("Parallel( DDP( FSDP( fully_shard( get_peft_model( LLM( Engine(", `\b(?:DistributedDataParallel|DDP|FSDP|FullyShardedDataParallel|fully_shard|get_peft_model|LLM|Engine)\(`,
			Init, strong).with(alone),
		reads("Session( .from_dir( .from_engine(", `\b(?:Gpt|Generation)Session\(|\b\w*[rR]unner\w*\.from_(?:dir|engine)\(`, Init, strong).with(alone), // TensorRT-LLM
		reads("save load state_dict( restore_checkpoint(", `\b(?:save_checkpoint|load_checkpoint|save_pretrained|save_ckpt|load_ckpt|save_state|load_state|save_model`+
			`|load_state_dict|restore_checkpoint)\(|\b(?:torch|paddle)\.(?:save|load)\(`, Checkpoint, strong),
		reads(".state_dict()", `\.state_dict\(\)`, Checkpoint, strong).with(yields), // reference models are swapped in and out by it, too
		reads(".to( .cuda( .npu( .half( .bfloat16(", `(?i)\b\w*(?:model|net|module|encoder|decoder|critic|policy)\w*\.(?:to|cuda|npu|half|bfloat16)\(`,
			Init, strong).with(alone),
		reads(").to( ).cuda( ).npu(", `(?i)\b\w*(?:model|net|module)\s*=.{0,200}\)\.(?:to|cuda|npu)\(`, Init, strong).with(alone),
		reads("build create get load make init", `(?i)^(?:self\.)?\w*(?:model|net|critic|policy)\s*=\s*(?:\w+\.)*(?:build|create|get|load|make|init)\w*\(`,
			Init, weak).with(alone),
		reads(".load_weights(", `\b\w+\.load_weights\(`, Init, weak).with(alone), // Keras
		reads("state( .init(", `(?i)\b(?:create|init)\w*_(?:train_)?state\(|\b\w*model\.init\(|\b(?:tx|optimizer)\.init\(`, Init, weak).with(alone),

		reads("generate", `\b(?:generate_sequences|generate)\(`, Rollout, weak),
		reads("for ", `(?i)\bfor\b.{1,100}\bin\b.{0,60}(?:loader|dataset|data_iter|dataiter)`, Data, weak),
		reads("next(", `(?i)\bnext\(.{0,60}(?:iter|loader|data)`, Data, weak),
		reads("load_ read_ np. ataset( oader( okenizer( to_pandas( json.", `(?i)\bload_dataset\(|\bload_from_disk\(|\bread_(?:csv|parquet|json|table)\(|\bnp\.(?:load|memmap|fromfile)\(`+
			`|\b\w*Dataset\(|\b\w*DataLoader\(|\btokenizer\(|\.to_pandas\(|\bjson\.loads?\(`, Data, weak),
		reads("orward_backward", `\bforward_backward\w{0,20}\(`, Training, weak),
		reads("rain", `(?i)\b\w*train(?:ing)?_?(?:one_)?step\w*\(`, Training, weak),
		reads("step", `(?i)\b(?:eval|valid(?:ation)?)_?step\w*\(`, Forward, weak),
		reads("F. functional.", `\b(?:F|functional)\.(?:cross_entropy|log_softmax|softmax|nll_loss)\(`, Forward, weak),
		reads("logits", `(?i)\b\w*logits\w*(?:\[[^\]]{0,40}\])? ?(?:/|\*|\.(?:float|div|log_softmax|softmax|contiguous|view|reshape|gather|logsumexp)\b)|\b\w*log_?softmax\(\w{0,40}logits|\blog_?probs\w*_from_logits\(`, Forward, weak),
		reads("riterion( loss_f", `(?i)\b\w*(?:criterion|loss_fn|loss_func|loss_fct)\(`, Forward, weak),
	}
})

// call finds a call of something that is named like a model and nothing else: `model(...)`, `self.ref_model(...)`,
// `netG(...)`, but neither `get_model(...)` nor `update_policy(...)` nor a constructor. The words before the name
// distinguish the models of a run.
var call = lazyre.New(`(?:^|[^\w.])(?:self\.|\w+\.){0,3}_?` +
	`(?:(?:ref|reference|actor|student|teacher|target|base|reward|critic|policy|value|ddp|fsdp|peft|wrapped|unwrapped|draft` +
	`|text|image|vision|audio|language|online|ema|dp|q|v)_)*` +
	`(?:model|net|net[A-Z]|network|module|unet|vae|dit|transformer|critic|policy|encoder|decoder|backbone|discriminator` +
	`|model_engine|forward)(?:_?\d)?\(`)

var forwardCall = line{phase: Forward, by: weak}

// quoted returns the meaning of a frame's source line, or nil. In libraries only unambiguous calls count.
func quoted(at *location, library bool) *line {
	if at.code == "" || strings.HasPrefix(at.code, "def ") || strings.HasPrefix(at.code, "#") {
		return nil
	}
	lines := lines()
	for i := range lines {
		l := &lines[i]
		if library && (l.by == weak || !part(l.phase)) {
			continue
		}
		if slices.ContainsFunc(l.hints, func(h string) bool { return strings.Contains(at.code, h) }) && l.expr().MatchString(at.code) {
			return l
		}
	}
	if !library && strings.IndexByte(at.code, '(') > 0 && call().MatchString(at.code) {
		return &forwardCall
	}
	return nil
}

// entersClosure matches an optimizer that calls a closure: `loss = closure()` in torch/optim, and Lightning's closures.
func entersClosure(at *location) bool {
	return at.fn == "closure" || at.fn == "_wrap_closure" || strings.Contains(at.code, "closure(")
}
