package remedies

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/remedies/cause"
	"oomscan/remedies/memory"
)

// question asks whether an item can help the run that failed.
type question struct {
	*Context
	item     *Item
	changes  []change
	estimate estimate
	lever    string // that the item pulls, "" for none
}

// exclusion is one reason why an item cannot help. It is asked of the items with one of the topics, of those that pull one of the
// levers, or, without either, of all.
type exclusion struct {
	topics, levers []string
	why            func(q *question) string // "" if the item may help
}

func (x *exclusion) concerns(q *question) bool {
	return len(x.topics) == 0 && len(x.levers) == 0 || slices.Contains(x.topics, q.item.Topic) || q.lever != "" && slices.Contains(x.levers, q.lever)
}

// ruledOut returns why an item cannot help, or "" if nothing rules it out. The first reason counts.
func ruledOut(ctx *Context, it *Item, changes []change, e estimate) string {
	q := &question{Context: ctx, item: it, changes: changes, estimate: e}
	if l := leverOf(it.Topic, made(changes)); l != nil {
		q.lever = l.id
	}
	for i := range exclusions {
		if x := &exclusions[i]; x.concerns(q) {
			if why := x.why(q); why != "" {
				return why
			}
		}
	}
	return ""
}

// isTrue is the reason of a fact that holds.
func isTrue(fact string) func(q *question) string {
	return func(q *question) string {
		if v := q.holds(fact); v.truth == yes {
			return v.why
		}
		return ""
	}
}

// because gives a reason where a condition is met.
func because(why string, met func(ctx *Context) bool) func(q *question) string {
	return func(q *question) string {
		if met(q.Context) {
			return why
		}
		return ""
	}
}

// exclusions lists the reasons in the order in which they count: what the run has and is first, then where it failed.
var exclusions = []exclusion{
	{why: withoutSetting},
	{why: alreadySo},
	{why: otherMemory},
	{topics: splitTopics, why: isTrue("one_gpu")},
	{why: requirementDenied},
	{levers: []string{"workers"}, why: func(q *question) string {
		if q.resource != "host" {
			return ""
		}
		return workersIdle(q.Context, q.changes)
	}},
	{levers: []string{"workers"}, why: because("load_from_disk is False, so the workers hold all images among them, however many they are", func(ctx *Context) bool {
		return ctx.is("load_from_disk=False")
	})},
	{why: missingFromVersion},
	{levers: []string{"param-offload", "optimizer-offload"}, why: offloadedByName},
	{why: otherPhase},
	{why: func(q *question) string {
		if q.resource != "gpu" || q.item.Topic == "card-limit" {
			return ""
		}
		return isTrue("room_on_card")(q)
	}},
	{why: evaluationExceedsHost},
	{topics: []string{"eval-batch"}, why: because("the log shows no evaluation", func(ctx *Context) bool { return ctx.phase == "unknown" && !ctx.is("evaluating") })},
	{topics: []string{"small-optimizer", "optimizer-offload", "cpu-optimizer"}, why: smallStates},
	{why: func(q *question) string { return ofTraining(q.Context, q.item.Topic, q.changes) }},
	{levers: []string{"adapters", "freeze", "small-optimizer", "half-states", "foreach", "optimizer-offload"}, why: func(q *question) string {
		if q.frozen == "" {
			return ""
		}
		return q.frozen + " was being read, which is not trained"
	}},
	{levers: []string{"no-grad"}, why: because("it failed on the input, before any layer of the model", beforeLayers)},
	{levers: []string{"length"}, why: isTrue("images")},
	{levers: []string{"engine-multimodal"}, why: belowLimit},
	{levers: []string{"host-limit", "host-node", "swap"}, why: isTrue("memory_policy")},
	{levers: []string{"lazy-load"}, why: weightsExceedLimit},
	{levers: []string{"host-cache"}, why: because("the engine was reading its weights, before it makes its caches", readsShards)},
	{levers: []string{"engine-length", "kv-dtype"}, why: because("the buffer is that of the logits of a step, whatever the context is", stepLogits)},
	{levers: []string{"engine-seqs"}, why: because("the warm-up is sized by its tokens", func(ctx *Context) bool {
		return ctx.messageContains("created during usage") && ctx.settings.has("max_num_tokens")
	})},
	{levers: []string{"sample-buffer"}, why: because("the buffer holds samples of a dataset that is in memory anyway", func(ctx *Context) bool { return cause.KeepsData(ctx.input()) != "" })},
	{levers: []string{"train-tp"}, why: because("disable_loss_parallel is True, so each tensor-parallel GPU has all logits", func(ctx *Context) bool {
		return ctx.is("disable_loss_parallel=True") && len(ctx.request) > 0 && ctx.request[0].What == "logits"
	})},
	{levers: []string{"length"}, why: shortPrompts},
	{levers: []string{"length"}, why: lengthNotApplied},
	{levers: []string{"micro-batch"}, why: isTrue("single_sequence")},
	{levers: []string{"micro-batch"}, why: oneCrop},
	{levers: []string{"pieces"}, why: because("the result of all windows did not fit, which is as large whatever the number of windows at a time", stitchesAll)},
	{levers: []string{"micro-batch", "eval-batch"}, why: because("the search for a batch size that fits has tried one sample, too", triedOne)},
	{levers: []string{"engine-length", "engine-seqs", "kv-dtype"}, why: weightsOutgrow},
	{topics: []string{"gradient-checkpointing", "gradient-checkpointing-megatron"}, why: isTrue("recomputes")},
	{levers: onActivations, why: beforeAnyBatch},
	{levers: []string{"sharded-save", "lean-save", "rank0-save"}, why: because("it failed while a checkpoint was read, which is written already", func(ctx *Context) bool {
		converts := strings.HasPrefix(ctx.incident.PhaseWhy, "The process ran ") // a program of its own
		return ctx.phase == "checkpoint" && (converts || readsCheckpoint(ctx) || cause.ReadsIntoHost(ctx.input()) != "")
	})},
	{levers: []string{"length", "engine-length"}, why: because("the engine failed while it loaded its weights, whose size does not depend on the length", func(ctx *Context) bool {
		return ctx.is("engine_loads")
	})},
	{levers: []string{"share-down", "engine-chunk", "engine-seqs", "kv-dtype", "graphs", "eager"}, why: because("the engine failed while it loaded its weights, before it takes its cache", func(ctx *Context) bool {
		return ctx.is("engine_loads")
	})},
	{levers: []string{"engine-length", "kv-dtype", "engine-chunk", "attention"}, why: weightsOnly},
	{levers: []string{"engine-length", "kv-dtype", "engine-chunk"}, why: because("each sequence takes one Mamba block, whatever its length and the type of the other layers' cache", func(ctx *Context) bool {
		return ctx.recognized("vllm.mamba_blocks")
	})},
	{levers: []string{"kv-dtype"}, why: narrowCacheTooLarge},
	{levers: []string{"engine-length", "kv-dtype"}, why: because("the cache takes its share of the free memory, whatever a session or a token takes of it", func(ctx *Context) bool {
		return cause.TowerAfterCache(ctx.input()) != ""
	})},
	{levers: []string{"engine-chunk"}, why: cacheExceedsRoom},
	{levers: []string{"engine-length", "engine-chunk", "engine-seqs", "kv-dtype", "graphs", "eager", "share-up", "share-down"}, why: func(q *question) string {
		return cause.EngineWeightsFill(q.input())
	}},
	{levers: []string{"engine-length", "engine-chunk", "engine-seqs"}, why: shareBelowWeights},
	{levers: []string{"engine-length", "engine-chunk", "engine-seqs", "engine-multimodal", "engine-pixels", "kv-dtype", "eager", "graphs"}, why: weightsExceedShare},
	{levers: []string{"eager", "graphs", "engine-chunk", "engine-seqs"}, why: littleBesideCache},
	{levers: []string{"eager", "graphs", "prefill-graphs"}, why: smallGraphs},
	{topics: []string{"engine-graphs"}, why: because("it failed in the warm-up's pass over prompts, before graphs are captured", func(ctx *Context) bool {
		return ctx.recognized("tgi.warmup")
	})},
	{levers: []string{"buckets"}, why: smallBucket},
	{levers: []string{"dynamic-batch"}, why: allowsAsMany},
	{levers: []string{"packing", "dynamic-batch"}, why: packsNothing},
	{levers: []string{"token-budget"}, why: otherBudget},
	{levers: []string{"offload-off", "pinning"}, why: statesExceedHost},
	{levers: []string{"param-offload"}, why: refusedOffload},
	{levers: []string{"shard", "param-offload", "optimizer-offload"}, why: because("a checkpoint was read onto the card before the trainer shards or offloads anything", readsBeforeTrainer)},
	{levers: []string{"sequence-parallel"}, why: budgetOfEach},
	{levers: []string{"share-down", "sleep"}, why: func(q *question) string { return cause.UsedBefore(q.input()) }},
	{levers: []string{"shard"}, why: func(q *question) string { return cause.OneReplica(q.input()) }},
	{levers: []string{"small-optimizer"}, why: func(q *question) string { return cmp.Or(cause.WeightsStay(q.input()), gradientsFill(q)) }},
	{why: satisfiedOtherwise},
	{topics: chunkTopics, why: because("the model's output becomes float32 as a whole, before anything is computed in chunks", func(ctx *Context) bool {
		return ctx.stackContains(2, "float_conversion", "convert_to_fp32")
	})},
	{topics: []string{"recompute-loss"}, why: because("the loss keeps no tensor of this size yet: less than two are on the card, and one is the model's output", keepsNoCopy)},
	{topics: []string{"logprob-chunks"}, why: because("it computes in chunks already, and the backward pass keeps the tensors of all of them", keepsChunks)},
	{topics: []string{"recompute-loss"}, why: because("the backward pass begins by computing the whole loss again, whose tensors are then on the card together, as they are now", recomputedWhole)},
	{why: func(q *question) string {
		if q.item.Effect != "frees" {
			return ""
		}
		return isTrue("oversized")(q)
	}},
	{topics: logitsTopics, why: because("it failed on the images, before any logits", func(ctx *Context) bool { return ctx.is("images") })},
	{topics: logitsTopics, why: beforeTheLoss},
	{levers: []string{"entropy"}, why: because("it failed in the head, which makes all logits before any entropy", func(ctx *Context) bool {
		return ctx.stackContains(3, "lm_head(", "self.output_layer(")
	})},
	{why: engineUntouched},
	{why: cannotCompute},
	{levers: []string{"one-device"}, why: because("every card of the run's engines had as little free when they started", func(ctx *Context) bool {
		return cause.OlderProcess(ctx.input()) != nil
	})},
	{levers: []string{"one-device"}, why: func(q *question) string {
		if name := memory.Unified(deref(q.root.Total)); name != "" {
			return name + " has one GPU"
		}
		return ""
	}},
	{levers: toHost, why: func(q *question) string {
		if name := memory.Unified(deref(q.root.Total)); name != "" && q.resource == "gpu" {
			return "the GPU of " + name + " works in the host's memory: moving anything there frees nothing"
		}
		return ""
	}},
	{topics: []string{"engine-share-down", "engine-sleep"}, why: func(q *question) string {
		if v := q.holds("shares_card"); v.truth == no && q.holds("engine_process").truth == no {
			return v.why
		}
		return ""
	}},
	{topics: []string{"engine-share-down"}, why: func(q *question) string { return engineApart(q.Context) }},
	{levers: []string{"share-down", "sleep"}, why: because("vLLM has a GPU of its own (vllm_device)", func(ctx *Context) bool {
		return ctx.settings.has("vllm_device") && trains(ctx) && !ctx.is("engine_process") // trl/trainer/grpo_trainer.py before 0.17
	})},
	{topics: []string{"engine-share-down"}, why: because("the engine sleeps while this phase runs: its share is not on the card", func(ctx *Context) bool {
		return engineAsleep(ctx) && !ctx.is("engine_residue")
	})},
	{topics: []string{"engine-share-down"}, why: cacheAway},
	{levers: []string{"share-down", "engine-tp", "engine-length", "engine-chunk", "engine-seqs", "engine-quantization", "eager", "graphs"}, why: gatheredBeside},
	{topics: []string{"update-bucket"}, why: oneTensor},
	{topics: []string{"offload-fsdp", "offload-megatron"}, why: because("the trainer has its own GPUs, and this is an engine's", besideEngine)},
	{why: func(q *question) string {
		if q.item.Effect != "frees" && q.item.Effect != "shrinks" || q.item.Topic == "others" {
			return ""
		}
		return isTrue("stray")(q)
	}},
	{why: func(q *question) string { return q.estimate.noHosts }},
	{why: func(q *question) string { return limitNotApplied(q.Context, q.changes) }},
}

// splitTopics lists the topics of items that split a trainer's work over several GPUs.
var splitTopics = []string{"zero-stage", "train-tp", "tensor-parallel", "ulysses", "sequence-parallel"}

// withoutSetting says that no setting of the program does what the item says.
func withoutSetting(q *question) string {
	switch {
	case len(q.changes) > 0 || len(q.item.Parameters) == 0:
	case programOf(q.run).ID == "verl" && finetunes(q.Context):
		return "no setting of fine-tuning"
	case q.is("serves"):
		return "trl vllm-serve has no flag for it"
	}
	return ""
}

// alreadySo says that all settings have the item's values.
func alreadySo(q *question) string {
	if done := satisfied(q.changes); len(done) == len(q.changes) {
		return strings.Join(done, "; ")
	}
	return ""
}

// satisfiedOtherwise says that the run has what the item is for by other means.
func satisfiedOtherwise(q *question) string {
	if q.allTrue(q.item.SatisfiedWhen) {
		return q.holds(q.item.SatisfiedWhen[0]).why
	}
	return ""
}

// otherMemory says that an item is about another memory than the one that ran out.
func otherMemory(q *question) string {
	if res := orGPU(q.item.Resources); !slices.Contains(res, q.resource) {
		return fmt.Sprintf("only for %s memory", resourceNames(res))
	}
	if q.item.Effect == "host" && q.resource == "gpu" {
		return "saves host memory only"
	}
	return ""
}

// requirementDenied says that the run lacks what an item requires.
func requirementDenied(q *question) string {
	if v, bad := q.denied(q.item.Requires); bad {
		return v.why
	}
	return ""
}

// otherPhase says that an item acts in other phases than the one that failed.
func otherPhase(q *question) string {
	in := q.item.Phases
	if len(in) > 0 && !slices.Contains(in, q.phase) && certain(q.Context, in) && !freesForCollective(q.Context, q.item) {
		return acts(in, q.phase)
	}
	return ""
}

// stitchesAll reports whether MONAI or nnU-Net failed where it makes the tensor for the classes of a whole volume, into which it adds what
// its network says of each window: in the inferer's own code, not in the network that it calls.
func stitchesAll(ctx *Context) bool {
	stack := wholeStack(ctx)
	return len(stack) > 0 && containsAny(stack[len(stack)-1], []string{"/monai/inferers/utils.py sliding_window_inference", "/nnunetv2/inference/predict_from_raw_data.py"})
}

// oneCrop says that a batch is one crop of a protein, as the programs that train on such have it unless a setting says otherwise.
func oneCrop(q *question) string {
	if !q.is("crops_protein") || slices.ContainsFunc(q.changes, func(c change) bool { return c.From != nil }) {
		return ""
	}
	return "a batch is one crop of a protein"
}

// smallStates says that an optimizer's states are too small to matter.
func smallStates(q *question) string {
	stepped := q.phase == "optimizer" || q.is("wide_adapters")
	if small := q.item.Topic == "small-optimizer" && stepped && !q.is("evaluating"); !small && q.resource == "gpu" && trainsAdapters(q.Context) {
		return "only adapters are trained, whose optimizer states are small"
	}
	const moments = 8 // bytes per parameter: Adam's two moments in float32
	if short, ok := q.shortfall(); ok && q.resource == "gpu" && q.run.Model.Trained != nil && *q.run.Model.Trained <= short/moments {
		return fmt.Sprintf("the optimizer states of %s trained parameters take %s, less than was missing", memory.Thousands(*q.run.Model.Trained), classifier.GiB(moments**q.run.Model.Trained))
	}
	return ""
}

// beforeAnyBatch says that no batch was on the card when it failed.
func beforeAnyBatch(q *question) string {
	ctx := q.Context
	if v := ctx.holds("loading_weights"); v.truth == yes && ctx.phase == "init" && ctx.holds("engine_process").truth == no {
		return v.why + ": no batch has run yet"
	}
	switch {
	case ctx.phase == "nccl" && beforeSteps(ctx):
		return "the collective that failed moves weights, and no step has run yet"
	case takesMemory(ctx):
		return "it failed while memory was taken back after a sleep, before a step"
	case ctx.phase == "rollout" && ctx.stackContains(12, "gatheredparameters("):
		return "it failed while whole weights were gathered, before anything was generated"
	}
	return ""
}

// beforeTheLoss says that an item changes only how the loss is computed.
func beforeTheLoss(q *question) string {
	if logitsToCome(q.Context) && onlyLoss(q.item.Topic, q.changes) {
		return "it failed in a layer of the forward pass, whose logits come later"
	}
	return ""
}

// logitsToCome reports whether it failed in a layer of a forward pass.
func logitsToCome(ctx *Context) bool {
	return (ctx.phase == "forward" || ctx.phase == "logprob") && inLayer(ctx)
}

// cannotCompute says that the GPU or the run lacks what a changed value needs.
func cannotCompute(q *question) string {
	to := func(types ...string) bool {
		return slices.ContainsFunc(q.changes, func(c change) bool { return c.To != nil && containsAny(strings.ToLower(*c.To), types) })
	}
	if name := withoutBF16(q.Context); name != "" && to("bf16", "bfloat16") {
		return "the GPU, " + name + ", has no bf16"
	}
	if v := q.holds("no_8bit"); v.truth == yes && to("8bit") {
		return v.why
	}
	if why := withoutLiger(q.Context); why != "" && slices.ContainsFunc(q.changes, func(c change) bool { return strings.Contains(c.Key, "liger") }) {
		return why
	}
	return ""
}

// readsBeforeTrainer reports whether a script read a checkpoint onto the card at its start, outside of any trainer.
func readsBeforeTrainer(ctx *Context) bool {
	return ctx.phase == "init" && cause.LoadsCheckpoint(ctx.input()) != "" && !ctx.passesThrough("/trainer/", "/trainer.py", "/strategies/", "/deepspeed/", "/fsdp", "/accelerate/", "/megatron/")
}

// weightsOnly says that llama.cpp found no room for weights or for copies of them, which neither its cache nor a smaller step changes:
// it allocates the weights first (src/llama.cpp, llama_model_load_from_file_impl). Builds that fit a model themselves plan all parts together,
// unless the number of layers is set (common_fit_params).
// Ollama plans its layers by all parts, too, but then has as much more of them on the card.
func weightsOnly(q *question) string {
	weights := q.recognized("ggml.load") || q.recognized("ggml.load_backend")
	if weights && slices.Contains([]string{"llamacpp", "ollama"}, programOf(q.run).ID) && !q.is("draft") && (!q.is("fits_itself") || slices.ContainsFunc([]string{"--n-gpu-layers", "-ngl", "--gpu-layers"}, q.settings.has)) {
		return "the weights alone did not fit, which are allocated before the cache and the compute buffers"
	}
	return isTrue("copies_weights")(q)
}

// oneTensor returns why smaller buckets of a weight update change nothing, or "": the request is one tensor that exceeds a bucket already.
func oneTensor(q *question) string {
	asks := q.root.Requested
	if len(q.changes) == 0 || asks == nil {
		return ""
	}
	c := &q.changes[0]
	from := c.parameter.Default
	if c.From != nil {
		from = *c.From
	}
	n, ok := parseInt(from)
	if ok && n < 1<<20 {
		n <<= 20 // in MiB
	}
	if !ok || *asks <= n {
		return ""
	}
	return fmt.Sprintf("the request is one tensor of %s, larger than a bucket already", classifier.GiB(*asks))
}

// packsNothing returns why packing samples, or sizing a micro-batch by tokens, saves nothing: a micro-batch has one.
func packsNothing(q *question) string {
	if l := q.limit; l == nil || l.Budget || l.Samples != 1 {
		return ""
	}
	return "a micro-batch is one sample, which has no padding"
}

// allowsAsMany returns why a budget of tokens is no smaller than the failed micro-batch, or "".
func allowsAsMany(q *question) string {
	ctx, changes := q.Context, q.changes
	if len(ctx.request) == 0 || !ctx.request[0].Seen && !ctx.request[0].Met || ctx.request[0].Low <= 0 {
		return ""
	}
	for i := range changes {
		c := &changes[i]
		if c.To == nil || !strings.Contains(c.Key, "token") {
			continue
		}
		if n, ok := parseInt(*c.To); ok && n >= ctx.request[0].Low {
			return fmt.Sprintf("the failed micro-batch has about %s tokens, and the least budget is %s", memory.Thousands(ctx.request[0].Low), memory.Thousands(n))
		}
	}
	return ""
}

// orGPU returns the resources named, or the GPU's memory if there are none.
func orGPU(resources []string) []string {
	if len(resources) == 0 {
		return []string{"gpu"}
	}
	return resources
}

// cardTopics lists topics about memory of a card shared by trainer and engine, whichever of the two failed.
var cardTopics = []string{"engine-share-down", "offload-fsdp", "offload-megatron"}

// chunkTopics lists topics that only help after the logits exist.
var chunkTopics = []string{"logprob-chunks", "recompute-loss", "entropy-chunks"}

// logitsTopics lists topics of the logits of a text.
var logitsTopics = []string{"liger", "fused-loss", "fused-kernels", "recompute-loss", "logprob-chunks", "entropy-chunks"}

// onlyLoss reports whether an item changes no more than how logits and loss are computed. Liger has kernels for layers, too, but not in
// TRL's use_liger_loss.
func onlyLoss(topic string, changes []change) bool {
	named := func(part string) bool {
		return slices.ContainsFunc(changes, func(c change) bool { return strings.Contains(c.Key, part) })
	}
	return slices.Contains(logitsTopics, topic) && (named("use_liger_loss") || topic != "liger" && !named("liger"))
}
