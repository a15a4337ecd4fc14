package remedies

import (
	"path"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser/lazyre"
	"oomscan/parser/traceback"
)

// work is what the failed process was doing.
type work struct {
	what string // one of the words below; empty if unknown
	why  string // the evidence, a clause without a period
	only bool   // nothing in the log shows that the process trains, too
}

// The kinds of work.
const (
	trainingWork   = "training"
	evaluationWork = "evaluation"
	generationWork = "generation"
	inferenceWork  = "inference"
	servingWork    = "serving"
)

// untrained reports whether no gradients are needed for what failed.
func (w *work) untrained() bool { return w.what != "" && w.what != trainingWork }

var (
	// trainName is the name of a function or a call that trains; "pretrained" and "constrained" are none.
	trainName = lazyre.New(`(?:^|[^a-z])(?:train(?:ing)?|fit|finetune)(?:_\w{1,40})?\b|_train\b|\bcompute_loss\b|backward\(|run_backward|optimizer\.step|update_(?:policy|actor|critic)`)
	trainKey  = lazyre.New(`(?:^|[^e])train(?:ing)?_`) // per_device_train_batch_size, not pretrained_model_name
	lossMade  = lazyre.New(`\bloss *[+]?=[^=]`)
	// trainScript is the name of a script that trains.
	trainScript = lazyre.New(`(?i)(?:^|[/_-])(?:pre)?train|fine_?-?tun|(?:^|[/_-])(?:sft|dpo|ppo|grpo|rlhf)(?:[_.-])`)
	// evalScript and inferScript are the names of scripts that compute without training.
	evalScript  = lazyre.New(`(?i)(?:^|/)(?:run_?)?(?:test|(?:eval|evaluate|evaluation|validate|benchmark)(?:[_-]\w{1,60})?)\.py$`)
	inferScript = lazyre.New(`(?i)(?:^|[/_-])(?:infer|inference|predict|prediction|demo|generate|generation|sample|sampling|chat|serve|server|api|gradio|webui|embed|embeddings?|encode|transcribe|translate|caption)(?:[_-]\w{1,60})?\.py$`)
	// callsOnce is a call of a model with what a processor or a tokenizer made, as the documentation of transformers has it.
	callsOnce = lazyre.New(`^\s*\w+\s*=\s*\w*model\(\*\*(?:inputs?|encodings?|encoded(?:_\w{1,20})?|tokens)\b`)
	// callsForHooks is a call of a model whose output is dropped: hooks read what they want, and no loss can be made.
	callsForHooks = lazyre.New(`^\s*(?:self\.)?\w*model\(\*\*\w+\)$`)
	// inferName is the name of a function or a call that computes results for use.
	inferName = lazyre.New(`(?:^|[^a-z])(?:(?:infer|inference|predict|transcribe)(?:_\w{1,40})?|generate|encode_core|embed_documents|embed_query)(?:\(|$)`)
)

var (
	evaluationFrames = []string{"evaluation_loop", "prediction_step", "nested_gather", "validation_step", "_maybe_log_save_evaluate", " validate ", "validate ", "evaluate ", "sliding_window_inference "}
	// serverFiles are parts of the paths of servers and of web frameworks.
	serverFiles = []string{"/starlette/", "/fastapi/", "/uvicorn/", "/gradio/", "/flask/", "/streamlit/", "/ray/serve/", "/bentoml/", "/litserve/", "/ts/torch_handler/", "/serve/", "/server/", "/api_server"}
	// pipelineFiles are parts of the paths of libraries that use a model without training it. Most turn gradients off.
	pipelineFiles    = append([]string{"/diffusers/pipelines/"}, withoutGradients...)
	withoutGradients = []string{"/transformers/pipelines/", "/transformers/generation/", "/transformers/generation_utils.py", "/sentence_transformers/", "/lm_eval/", "/whisper/", "/whisperx/", "/nemo/collections/asr/parts/mixins/transcription.py", "/ultralytics/engine/predictor"}
	inferenceFiles   = []string{"/inference/", "/infer/"}
	inferencers      = []string{"comfyui", "fooocus", "sdwebui", "triton"}
	trainerKeys      = []string{"per_device_train_batch_size", "num_train_epochs", "gradient_accumulation_steps", "micro_batch_size", "learning_rate"}
)

// workOf returns what the failed process was doing. A stack decides before settings, which scripts also print where they do not
// use them, and the innermost loop before those around it: a trainer evaluates and generates, a server generates.
func workOf(ctx *Context) work {
	p := programOf(ctx.run)
	script := ""
	if t := ctx.root.Trace; t != nil && len(t.Frames) > 0 {
		script = slashed(t.Frames[0].File)
	}
	step := ctx.phase == "backward" || ctx.phase == "optimizer" || trainsIn(ctx) && !encodes(ctx)
	trains := step || ctx.run.Model.Trained != nil || trainScript().MatchString(path.Base(script)) || script == "" && slices.ContainsFunc(trainerKeys, ctx.settings.has)
	loops := p.Colocate || p.Is(classifier.Trainer) // evaluates and generates inside a training run
	in := func(what, why string) work {
		return work{what, why, !trains && !(loops && (what == evaluationWork || what == generationWork))}
	}
	switch {
	case ctx.is("engine_process"):
		return work{servingWork, ctx.holds("engine_process").why, isServer(p.ID)}
	case !step && ctx.is("merges"):
		return in(inferenceWork, ctx.holds("merges").why)
	case evaluates(ctx):
		return in(evaluationWork, "it failed in evaluation, which has its own batch size")
	case ctx.passesThrough("/transformers/generation/"):
		return in(generationWork, "text was being generated")
	case !step && ctx.is("own_cache"):
		return in(generationWork, "the cache of a model that generates was being created")
	case !step && ctx.passesThrough(pipelineFiles...): // a training script uses such libraries, too
		return in(inferenceWork, "nothing is trained there")
	case trains:
		return work{trainingWork, "the process trains", false}
	case slices.Contains(inferencers, p.ID):
		return in(servingWork, p.Name+" trains nothing")
	case ctx.passesThrough(serverFiles...):
		return in(servingWork, "it failed in a server")
	case ctx.phase == "forward" && evalScript().MatchString(script):
		return in(evaluationWork, "it failed in a script that evaluates, "+path.Base(script))
	case ctx.passesThrough(inferenceFiles...), !loops && ctx.passesThrough("torch/utils/_contextlib.py") && ctx.phase == "forward":
		return in(inferenceWork, "nothing is trained there")
	case !loops && ctx.phase == "forward" && ctx.run.LastStep == nil && !slices.ContainsFunc(trainerKeys, ctx.settings.has) && callsModelOnce(ctx):
		return in(inferenceWork, "a script calls the model, and the log shows no step of a training")
	case !step && codeMatches(ctx, callsForHooks().MatchString):
		return in(evaluationWork, "what the model computes is dropped: nothing is trained there")
	case !loops && inferScript().MatchString(script):
		return in(inferenceWork, "the script infers, "+path.Base(script))
	case !loops && framesMatch(ctx, inferName().MatchString):
		return in(inferenceWork, "nothing is trained there")
	}
	return work{}
}

// callsModelOnce reports whether a script calls a model at its top level, outside functions.
func callsModelOnce(ctx *Context) bool {
	t := ctx.root.Trace
	return t != nil && slices.ContainsFunc(t.Frames, func(f traceback.Frame) bool { return f.Func == "<module>" && callsOnce().MatchString(f.Code) })
}

// encodes reports whether the failing stack passes through sentence-transformers' encode, which turns gradients off. Programs that only
// search call it in a method named fit.
func encodes(ctx *Context) bool {
	t := ctx.root.Trace
	return t != nil && slices.ContainsFunc(t.Frames, func(f traceback.Frame) bool {
		return f.Func == "encode" && strings.Contains(slashed(f.File), "/sentence_transformers/")
	})
}

// bothWays matches names of loops that train and evaluate: which of the two failed, inner frames say.
var bothWays = lazyre.New(`\w{0,40}train\w{0,20}_(?:eval|valid)\w{0,40}|\w{0,40}(?:eval|valid)\w{0,20}_train\w{0,40}`)

// evaluates reports whether the failing stack passes through an evaluation.
func evaluates(ctx *Context) bool {
	return slices.ContainsFunc(ctx.stack[max(0, len(ctx.stack)-80):], func(f string) bool {
		return containsAny(bothWays().ReplaceAllString(f, ""), evaluationFrames)
	})
}

// trainsIn reports whether a frame of the failing stack is of a training step or around one.
func trainsIn(ctx *Context) bool {
	if framesMatch(ctx, trainName().MatchString) {
		return true
	}
	return codeMatches(ctx, lossMade().MatchString)
}

// codeMatches reports whether the code of a frame of the failing stack matches.
func codeMatches(ctx *Context, match func(string) bool) bool {
	t := ctx.root.Trace
	return t != nil && slices.ContainsFunc(t.Frames, func(f traceback.Frame) bool { return match(f.Code) })
}

// framesMatch reports whether a function of the failing stack, or the call in its code, matches.
func framesMatch(ctx *Context, match func(string) bool) bool {
	t := ctx.root.Trace
	return t != nil && slices.ContainsFunc(t.Frames, func(f traceback.Frame) bool {
		return match(strings.ToLower(f.Func)) || match(strings.ToLower(called(f.Code)))
	})
}

// stepTopics lists topics of training steps only: evaluation has its own batch size and no backward pass.
var stepTopics = []string{"micro-batch", "dynamic-batch", "token-budget", "gradient-checkpointing", "activation-offload", "optimizer-offload", "cpu-optimizer"}

// ofTraining returns why an item that acts on training does not act on what failed, or "".
func ofTraining(ctx *Context, topic string, changes []change) string {
	w := &ctx.work
	if !w.untrained() {
		return ""
	}
	all := made(changes)
	l := leverOf(topic, all)
	switch {
	case l != nil && l.trains && (w.only || l.id == "recompute" || l.id == "fused-loss"),
		w.only && slices.ContainsFunc(all, func(c Change) bool { return trainKey().MatchString(c.Key) }):
		return w.why
	case l != nil && (l.id == "length" || l.id == "small-optimizer") && ctx.is("joined_evaluation"):
		return ctx.holds("joined_evaluation").why
	case w.what == evaluationWork && !w.only && slices.Contains(stepTopics, topic):
		return w.why
	}
	return ""
}
