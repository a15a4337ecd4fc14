package phase

import (
	"regexp"
	"strings"
)

// line is what a quoted source line means. Bare scripts call torch from functions of any name; the line that was running
// is then the only sign. Expressions are RE2's and see at most maxCode bytes.
type line struct {
	expr  *regexp.Regexp
	phase Phase
	by    strength
	flags flag
}

func reads(expr string, p Phase, by strength) line {
	return line{expr: regexp.MustCompile(expr), phase: p, by: by}
}

func (l line) with(f flag) line { l.flags |= f; return l }

// lines are tried in this order.
var lines = []line{
	// Wrappers whose backward may also step: DeepSpeed through accelerate.
	reads(`\b(?:accelerator|engine|model_engine|fabric|self|manager|strategy|booster|trainer)\.backward\(`, Backward, weak),
	reads(`\.backward\(|\bautograd\.grad\(|\brun_backward\(|\btape\.gradient\(`, Backward, strong),
	reads(`(?i)\bscaler\.(?:step|unscale_)\(`, Optimizer, strong),
	reads(`(?i)\b\w*(?:optim|opt|adam)\w*(?:\[[^\]]{0,40}\])?\.step\(`, Optimizer, strong),
	reads(`\bclip_grad_(?:norm|value)_?\(|\.apply_gradients\(`, Optimizer, strong),
	reads(`(?i)\b(?:model_)?engine\.step\(|\boptim\w*\.zero_grad\(`, Optimizer, weak),

	reads(`\.from_pretrained\(|\.from_config\(|\bdeepspeed\.initialize\(|\baccelerator\.prepare\w*\(`, Init, strong),
	reads(`\b(?:DistributedDataParallel|DDP|FSDP|FullyShardedDataParallel|fully_shard|get_peft_model|LLM|Engine)\(`,
		Init, strong).with(alone),
	reads(`\b(?:save_checkpoint|load_checkpoint|save_pretrained|save_ckpt|load_ckpt|save_state|load_state|save_model`+
		`|load_state_dict|restore_checkpoint)\(|\btorch\.(?:save|load)\(|\.state_dict\(\)`, Checkpoint, strong),
	reads(`(?i)\b\w*(?:model|net|module|encoder|decoder|critic|policy)\w*\.(?:to|cuda|npu|half|bfloat16)\(`,
		Init, strong).with(alone),
	reads(`(?i)\b\w*(?:model|net|module)\s*=.{0,200}\)\.(?:to|cuda|npu)\(`, Init, strong).with(alone),
	reads(`(?i)^(?:self\.)?\w*(?:model|net|critic|policy)\s*=\s*(?:\w+\.)*(?:build|create|get|load|make|init)\w*\(`,
		Init, weak).with(alone),
	reads(`(?i)\b(?:create|init)\w*_(?:train_)?state\(|\b\w*model\.init\(|\b(?:tx|optimizer)\.init\(`, Init, weak).with(alone),

	reads(`\b(?:generate_sequences|generate)\(`, Rollout, weak),
	reads(`(?i)\bfor\b.{1,100}\bin\b.{0,60}(?:loader|dataset|data_iter|dataiter)`, Data, weak),
	reads(`(?i)\bnext\(.{0,60}(?:iter|loader|data)`, Data, weak),
	reads(`(?i)\bload_dataset\(|\bload_from_disk\(|\bread_(?:csv|parquet|json|table)\(|\bnp\.(?:load|memmap|fromfile)\(`+
		`|\b\w*Dataset\(|\b\w*DataLoader\(|\btokenizer\(|\.to_pandas\(|\bjson\.loads?\(`, Data, weak),
	reads(`(?i)\b\w*train(?:ing)?_?(?:one_)?step\w*\(`, Training, weak),
	reads(`(?i)\b(?:eval|valid(?:ation)?)_?step\w*\(`, Forward, weak),
	reads(`\b(?:F|functional)\.(?:cross_entropy|log_softmax|softmax|nll_loss)\(`, Forward, weak),
	reads(`(?i)\b\w*(?:criterion|loss_fn|loss_func|loss_fct)\(`, Forward, weak),
}

// call finds a call of something that is named like a model, or of `forward` itself.
var call = regexp.MustCompile(`(?i)(?:^|[^\w.])(?:self\.|\w+\.){0,3}(\w*(?:model|net|module|unet|transformer|critic|policy|forward))\(`)

// verbs start the names of functions that return a model instead of running it.
var verbs = []string{"get", "build", "create", "load", "make", "init", "setup", "wrap", "prepare", "save", "export", "unwrap", "compile", "convert", "merge", "set"}

var forwardCall = line{phase: Forward, by: weak}

// quoted returns the meaning of a frame's source line, or nil.
func quoted(at *location) *line {
	if at.code == "" || strings.HasPrefix(at.code, "def ") || strings.HasPrefix(at.code, "#") {
		return nil
	}
	for i := range lines {
		if lines[i].expr.MatchString(at.code) {
			return &lines[i]
		}
	}
	if m := call.FindStringSubmatch(at.code); m != nil && runsModel(m[1]) {
		return &forwardCall
	}
	return nil
}

// runsModel tells `model(...)` and `self.actor_model(...)` from `get_model(...)` and from a constructor, `MyModel(...)`.
func runsModel(name string) bool {
	if name[0] >= 'A' && name[0] <= 'Z' {
		return false
	}
	name = strings.TrimLeft(name, "_")
	for _, v := range verbs {
		if strings.HasPrefix(name, v+"_") {
			return false
		}
	}
	return true
}

// entersClosure tells an optimizer that calls back: `loss = closure()` in torch/optim, and Lightning's closures.
func entersClosure(at *location) bool {
	return at.fn == "closure" || at.fn == "_wrap_closure" || strings.Contains(at.code, "closure(")
}
