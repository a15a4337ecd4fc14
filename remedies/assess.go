package remedies

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/classifier/phase"
	"oomscan/remedies/memory"
)

// candidate is an item of a list that may go into the answer.
type candidate struct {
	guide *Guide
	list  *List
	item  *Item
	own   bool // on the list for the incident's phase, as opposed to general advice
	names *naming
}

// decision says whether an item applies.
type decision struct {
	applies   truth
	why       string
	supported bool // a fact of the incident speaks for it
	doubtful  bool // something it needs is not known to be there
}

// assessment is a remedy with the data that ranks it.
type assessment struct {
	Remedy
	own        bool
	supported  bool
	doubtful   bool
	lastResort bool   // it costs more than it gains, or changes the task
	movable    bool   // a value is known and another one is to be had
	assumed    bool   // the value now is assumed to be the default
	topic      string // of the item
	result     outcome
	late       bool // only diagnoses or is a last resort: not to start with
}

// assess runs an item through the pipeline: its changes, their expected effect, and whether it applies.
func assess(ctx *Context, c candidate) assessment {
	changes := inProgramsWords(ctx, c.guide.ID, propose(ctx, c.names, c.item))
	e := estimateOf(ctx, open(changes))
	return combine(ctx, c, changes, e, check(ctx, c, changes, e))
}

// combine combines the results of the steps.
func combine(ctx *Context, c candidate, changes []change, e estimate, d decision) assessment {
	it := c.item
	a := assessment{own: c.own, supported: d.supported, doubtful: d.doubtful, topic: it.Topic, result: e.result, late: it.Effect == "diagnose" || it.LastResort, lastResort: it.LastResort}
	_, a.movable = movable(changes)
	a.assumed = slices.ContainsFunc(changes, func(c change) bool { return c.assumed })
	a.Remedy = Remedy{ID: it.ID, List: c.list.Heading, Title: it.Title, Detail: it.Detail, Why: it.Why, Source: sourceOf(c.guide, it)}
	if _, ok := ctx.confirmed(it.CautionOnly); ok || len(it.CautionOnly) == 0 {
		a.Caution = it.Caution
	}
	noted := false // one setting's other name shows those of the rest
	for _, ch := range open(changes) {
		if ch.To != nil && ch.ComputedFrom == "" {
			ch.ComputedFrom, e.how = e.how, ""
		}
		a.Changes = append(a.Changes, ch.Change)
		if ch.note != "" && !noted {
			a.Caution, noted = strings.TrimSpace(ch.note+" "+a.Caution), true
		}
	}
	if d.applies != unknown {
		applies := d.applies == yes
		a.Applies, a.AppliesWhy = &applies, d.why
	}
	if d.applies != no {
		a.Freed = e.freed
		if e.enough != unknown {
			enough := e.enough == yes
			a.Enough, a.EnoughWhy = &enough, e.why
		}
	}
	return a
}

// sourceOf returns the source of an item.
func sourceOf(g *Guide, it *Item) Source {
	s := Source{Section: it.Section}
	if u := cmp.Or(it.URL, g.URL); u != "" {
		s.URL = &u
	}
	if g.Document && !it.Addition {
		s.Guide = &g.ID
	}
	return s
}

// movable reports whether a setting is not yet where it helps most.
func movable(changes []change) (why string, ok bool) {
	for i := range changes {
		switch c := &changes[i]; {
		case c.To == nil:
		case c.From != nil:
			return room(&c.Change), true
		case c.unset != "":
			return c.unset, true
		}
	}
	return "", false
}

func room(c *Change) string {
	where := map[string]string{"down": "go down", "up": "go up"}[c.Direction]
	if on, ok := parseBool(*c.From); ok {
		where = "be switched on"
		if on {
			where = "be switched off"
		}
	}
	return shown(*c.From) + " now, and it can " + cmp.Or(where, "be changed")
}

// check tests first what rules an item out, then what supports it.
func check(ctx *Context, c candidate, changes []change, e estimate) decision {
	if why := ruledOut(ctx, c.item, changes, e); why != "" {
		return decision{applies: no, why: why}
	}
	if doubtful(ctx, c.item.Requires) {
		return decision{doubtful: true}
	}
	if v, ok := decidesSize(ctx, changes); ok {
		return decision{applies: yes, why: v.why, supported: true}
	}
	if v, ok := ctx.confirmed(c.item.Supports); ok {
		return decision{applies: yes, why: v.why, supported: true}
	}
	why, canMove := movable(changes)
	if c.own && canMove {
		return decision{applies: yes, why: why}
	}
	if v := ctx.holds("shares_card"); canMove && ctx.resource == "gpu" && slices.Contains(cardTopics, c.item.Topic) && v.truth == yes {
		return decision{applies: yes, why: v.why}
	}
	return decision{}
}

// splitTopics lists the topics of items that split a trainer's work over several GPUs.
var splitTopics = []string{"zero-stage", "train-tp", "tensor-parallel", "ulysses", "sequence-parallel"}

// ruledOut returns why an item cannot help, or "" if nothing rules it out.
func ruledOut(ctx *Context, it *Item, changes []change, e estimate) string {
	if len(changes) == 0 && len(it.Parameters) > 0 && programOf(ctx.run).ID == "verl" && finetunes(ctx) {
		return "no setting of fine-tuning"
	}
	if len(changes) == 0 && len(it.Parameters) > 0 && ctx.is("serves") {
		return "trl vllm-serve has no flag for it"
	}
	if done := satisfied(changes); len(done) > 0 && len(done) == len(changes) {
		return strings.Join(done, "; ")
	}
	if res := orGPU(it.Resources); !slices.Contains(res, ctx.resource) {
		return fmt.Sprintf("only for %s memory", resourceNames(res))
	}
	if it.Effect == "host" && ctx.resource == "gpu" {
		return "saves host memory only"
	}
	if v := ctx.holds("one_gpu"); v.truth == yes && slices.Contains(splitTopics, it.Topic) {
		return v.why
	}
	if v, bad := ctx.denied(it.Requires); bad {
		return v.why
	}
	if pulls("workers", it.Topic, changes) && ctx.resource == "host" {
		if why := workersIdle(ctx, changes); why != "" {
			return why
		}
	}
	if left := open(changes); len(left) > 0 && !slices.ContainsFunc(left, func(c change) bool { return c.missing == "" }) {
		return left[0].missing
	}
	if len(it.Phases) > 0 && !slices.Contains(it.Phases, ctx.phase) && certain(ctx, it.Phases) && !freesForCollective(ctx, it) {
		return acts(it.Phases, ctx.phase)
	}
	if small := it.Topic == "small-optimizer" && ctx.is("evaluating"); (small || it.Topic == "optimizer-offload" || it.Topic == "cpu-optimizer") && ctx.resource == "gpu" && trainsAdapters(ctx) {
		return "only adapters are trained, whose optimizer states are small"
	}
	if why := ofTraining(ctx, it.Topic, changes); why != "" {
		return why
	}
	if v := ctx.holds("images"); v.truth == yes && pulls("length", it.Topic, changes) {
		return v.why
	}
	if v := ctx.holds("recomputes"); v.truth == yes && (it.Topic == "gradient-checkpointing" || it.Topic == "gradient-checkpointing-megatron") {
		return v.why
	}
	if v := ctx.holds("loading_weights"); v.truth == yes && ctx.phase == "init" && ctx.holds("engine_process").truth == no && pullsOne(onActivations, it.Topic, changes) {
		return v.why + ": no batch has run yet"
	}
	if ctx.phase == "nccl" && beforeSteps(ctx) && pullsOne(onActivations, it.Topic, changes) {
		return "the collective that failed moves weights, and no step has run yet"
	}
	if takesMemory(ctx) && pullsOne(onActivations, it.Topic, changes) {
		return "it failed while memory was taken back after a sleep, before a step"
	}
	if ctx.phase == "checkpoint" && readsCheckpoint(ctx) && pullsOne([]string{"sharded-save", "lean-save", "rank0-save"}, it.Topic, changes) {
		return "it failed while a checkpoint was read, which is written already"
	}
	if ctx.is("engine_loads") && pullsOne([]string{"length", "engine-length"}, it.Topic, changes) {
		return "the engine failed while it loaded its weights, whose size does not depend on the length"
	}
	if v := allowsAsMany(ctx, changes); v != "" && pulls("dynamic-batch", it.Topic, changes) {
		return v
	}
	if v, whole := packsNothing(ctx); whole && pullsOne([]string{"packing", "dynamic-batch"}, it.Topic, changes) {
		return v
	}
	if ctx.allTrue(it.SatisfiedWhen) {
		return ctx.holds(it.SatisfiedWhen[0]).why
	}
	if slices.Contains(chunkTopics, it.Topic) && ctx.stackContains(2, "float_conversion", "convert_to_fp32") {
		return "the model's output becomes float32 as a whole, before anything is computed in chunks"
	}
	if it.Topic == "recompute-loss" && keepsNoCopy(ctx) {
		return "the loss keeps no tensor of this size yet: less than two are on the card, and one is the model's output"
	}
	if v := ctx.holds("oversized"); v.truth == yes && it.Effect == "frees" {
		return v.why
	}
	if v := ctx.holds("images"); v.truth == yes && slices.Contains(logitsTopics, it.Topic) {
		return "it failed on the images, before any logits"
	}
	if (ctx.phase == "forward" || ctx.phase == "logprob") && inLayer(ctx) && onlyLoss(it.Topic, changes) {
		return "it failed in a layer of the forward pass, whose logits come later"
	}
	if why := engineUntouched(ctx, it.Topic, changes); why != "" {
		return why
	}
	if name := withoutBF16(ctx); name != "" && slices.ContainsFunc(changes, func(c change) bool { return c.To != nil && containsAny(*c.To, []string{"bf16", "bfloat16"}) }) {
		return "the GPU, " + name + ", has no bf16"
	}
	if v := ctx.holds("no_8bit"); v.truth == yes && slices.ContainsFunc(changes, func(c change) bool { return c.To != nil && strings.Contains(strings.ToLower(*c.To), "8bit") }) {
		return v.why
	}
	if why := withoutLiger(ctx); why != "" && slices.ContainsFunc(changes, func(c change) bool { return strings.Contains(c.Key, "liger") }) {
		return why
	}
	if name := memory.Unified(deref(ctx.root.Total)); name != "" && ctx.resource == "gpu" && pullsOne(toHost, it.Topic, changes) {
		return "the GPU of " + name + " works in the host's memory: moving anything there frees nothing"
	}
	if v := ctx.holds("shares_card"); (it.Topic == "engine-share-down" || it.Topic == "engine-sleep") && v.truth == no && ctx.holds("engine_process").truth == no {
		return v.why
	}
	if why := engineApart(ctx); it.Topic == "engine-share-down" && why != "" {
		return why
	}
	if it.Topic == "engine-share-down" && engineAsleep(ctx) && !ctx.is("engine_residue") {
		return "the engine sleeps while this phase runs: its share is not on the card"
	}
	if why := cmp.Or(cacheAway(ctx, it.Topic, changes), oneTensor(ctx, it.Topic, changes)); why != "" {
		return why
	}
	if it.Topic != "engine-share-down" && slices.Contains(cardTopics, it.Topic) && besideEngine(ctx) {
		return "the trainer has its own GPUs, and this is an engine's"
	}
	if v := ctx.holds("stray"); v.truth == yes && (it.Effect == "frees" || it.Effect == "shrinks") && it.Topic != "others" {
		return v.why
	}
	if e.noHosts != "" {
		return e.noHosts
	}
	return limitNotApplied(ctx, changes)
}

// cacheAway returns why a smaller share of an engine frees nothing during a weight update, or "": the engine holds far less than its
// share, so that its cache, which alone would shrink, is not on the card.
func cacheAway(ctx *Context, topic string, changes []change) string {
	r := ctx.root
	if topic != "engine-share-down" || ctx.phase != "weight_update" || ctx.is("engine_process") || r.Total == nil || r.OtherProcesses == nil || len(changes) == 0 || changes[0].From == nil {
		return ""
	}
	share, ok := parseNumber(*changes[0].From)
	if all := int64(share * float64(*r.Total)); ok && share < 1 && *r.OtherProcesses > 0 && *r.OtherProcesses < all/4*3 {
		return fmt.Sprintf("the engine holds %s of its share of %s: its cache is not on the card", classifier.GiB(*r.OtherProcesses), classifier.GiB(all))
	}
	return ""
}

// oneTensor returns why smaller buckets of a weight update change nothing, or "": the request is one tensor that exceeds a bucket already.
func oneTensor(ctx *Context, topic string, changes []change) string {
	if topic != "update-bucket" || len(changes) == 0 || ctx.root.Requested == nil {
		return ""
	}
	c := &changes[0]
	from := c.parameter.Default
	if c.From != nil {
		from = *c.From
	}
	n, ok := parseInt(from)
	if ok && n < 1<<20 {
		n <<= 20 // in MiB
	}
	if !ok || *ctx.root.Requested <= n {
		return ""
	}
	return fmt.Sprintf("the request is one tensor of %s, larger than a bucket already", classifier.GiB(*ctx.root.Requested))
}

// packsNothing returns why packing samples, or sizing a micro-batch by tokens, saves nothing: a micro-batch has one.
func packsNothing(ctx *Context) (string, bool) {
	l := ctx.limit
	if l == nil || l.Budget || l.Samples != 1 {
		return "", false
	}
	return "a micro-batch is one sample, which has no padding", true
}

// allowsAsMany returns why a budget of tokens is no smaller than the failed micro-batch, or "".
func allowsAsMany(ctx *Context, changes []change) string {
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

// engineUntouched returns why a setting of the engine has no effect yet, or "".
func engineUntouched(ctx *Context, topic string, changes []change) string {
	switch {
	case !strings.HasPrefix(topic, "engine-"):
	case pullsOne([]string{"graphs", "eager"}, topic, changes) && ctx.is("eager"):
		return ctx.holds("eager").why
	case pullsOne([]string{"graphs", "eager"}, topic, changes) && ctx.is("uncounted_graphs"):
		return ctx.holds("uncounted_graphs").why
	case pullsOne([]string{"graphs", "eager"}, topic, changes) && engineApart(ctx) != "":
		return engineApart(ctx)
	case topic == "engine-sleep" && ctx.phase == "init" && ctx.is("engine_process") && !ctx.is("engine_wakes"):
		return "the engine failed as it started, before its first rollout"
	case (topic == "engine-max-len" || topic == "engine-kv-dtype") && ctx.is("nothing_for_cache") && ctx.recognisedAs("sglang."):
		return ctx.holds("nothing_for_cache").why // srt/model_executor/model_runner.py divides what is left by the bytes of a token
	case pullsOne([]string{"engine-chunk", "engine-seqs"}, topic, changes) && takesMemory(ctx):
		return "it failed while memory was taken as planned, before a step"
	case topic == "engine-tp" && shareStays(ctx):
		return "the engine fills its share of each GPU: its cache takes what smaller weights leave"
	case topic == "engine-prefill-chunk" && chunkTooSmall(ctx, changes):
		return "a smaller step frees less than the cache lacks"
	case engineComes(ctx):
		return "the engine starts only after the trainer has loaded its model"
	case ctx.is("less_than_desired") && topic != "engine-share-down" && topic != "engine-sleep":
		return "the engine compares its share with the free memory before it loads anything"
	}
	return ""
}

// engineApart returns why neither an engine's share nor its CUDA graphs are what a trainer lacks, or "": the engine runs in its own
// processes, which hold little of the card or less than was missing.
func engineApart(ctx *Context) string {
	const little = 1 << 30 // of CUDA contexts
	r := ctx.root
	if !trains(ctx) && ctx.phase != "checkpoint" || ctx.is("engine_process") || r.ProcessBytes == nil || !ownProcesses(ctx) {
		return ""
	}
	held, known := int64(0), false
	if others := ctx.input().Others; others != nil {
		held, known = *others, true
	} else if r.Total != nil && r.Free != nil {
		held, known = max(*r.Total-*r.Free-*r.ProcessBytes, 0), true
	}
	if short, ok := ctx.shortfall(); !known || held > little && (!ok || held >= short) {
		return ""
	}
	return fmt.Sprintf("the engine runs in its own processes, and all others hold only %s of this card", classifier.GiB(held))
}

// ownProcesses reports whether the run's engine never runs in the trainer's process: with Ray actors or servers of its own. verl runs
// SGLang so, and any engine since 0.7.
func ownProcesses(ctx *Context) bool {
	if ctx.run.Framework == "verl" {
		in, known := versionIn(ctx.run.FrameworkVersion, ">=0.7")
		return ctx.run.Engine == "sglang" || known && in
	}
	return slices.Contains([]string{"areal", "nemo_rl", "openrlhf", "relax", "slime"}, ctx.run.Framework) || ctx.is("vllm_mode=server")
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

// onlyLoss reports whether an item changes no more than how logits and loss are computed. Liger has kernels for layers, too.
func onlyLoss(topic string, changes []change) bool {
	return topic != "liger" && slices.Contains(logitsTopics, topic) && !slices.ContainsFunc(changes, func(c change) bool { return strings.Contains(c.Key, "liger") })
}

// doubtful reports whether a requirement of an item is not confirmed.
func doubtful(ctx *Context, requires []string) bool {
	return slices.ContainsFunc(requires, func(c string) bool {
		return !strings.HasPrefix(c, "not ") && !strings.ContainsAny(c, "=<>") && ctx.holds(c).truth == unknown
	})
}

// certain reports whether a phase is known well enough to rule out items of other phases: an unspecified part of a step may
// be any part.
func certain(ctx *Context, acts []string) bool {
	switch ctx.phase {
	case "unknown", "":
		return false
	case "training":
		return !slices.ContainsFunc(acts, func(p string) bool {
			return p == "forward" || p == "backward" || p == "optimizer" || p == "logprob" && ctx.incident.Confidence != "high"
		})
	case "forward", "backward", "optimizer":
		return !slices.Contains(acts, "training")
	}
	return true
}

// freesForCollective reports whether an item frees memory in the training step whose collective found none.
func freesForCollective(ctx *Context, it *Item) bool {
	return it.Effect == "frees" && !slices.Contains(chunkTopics, it.Topic) && slices.Contains(it.Phases, "backward") && collectiveOfStep(ctx)
}

// collectiveOfStep reports whether a collective of a training step failed.
func collectiveOfStep(ctx *Context) bool {
	return ctx.phase == "nccl" && ctx.stackContains(60, inStep...)
}

// inStep lists functions that every training step passes through.
var inStep = []string{"train_step", "training_step", "finalize_model_grads", "start_grad_sync", "forward_backward", "optimizer_step", "optim_step"}

// beforeSteps reports whether a collective that copies weights between ranks, or to an engine, failed before the first step.
func beforeSteps(ctx *Context) bool {
	return (ctx.run.LastStep == nil || *ctx.run.LastStep < 1) && !collectiveOfStep(ctx) &&
		(ctx.passesThrough("/update_weight/") || ctx.stackContains(60, "update_weights", "sync_weights", "broadcast_weights", "sync_params_and_buffers", "load_checkpoint", "load_state_dict"))
}

// readsCheckpoint reports whether a trainer restores a checkpoint, and saves none.
func readsCheckpoint(ctx *Context) bool {
	return ctx.stackContains(80, "load_checkpoint", "_load_from_checkpoint", "_load_optimizer_and_scheduler", "load_state_dict") && !ctx.stackContains(80, "save")
}

// acts states where else an item acts. If these are many phases, it names only the one where it does not.
func acts(in []string, failed string) string {
	in = slices.DeleteFunc(slices.Clone(in), func(p string) bool { return p == "unknown" })
	if len(in) > 2 {
		if failed == string(phase.Init) {
			return "no effect at start-up"
		}
		return "no effect in " + phaseNames([]string{failed})
	}
	return "only for " + phaseNames(in)
}

func resourceNames(res []string) string {
	names := map[string]string{"gpu": "GPU", "shm": "shared"}
	return joined(res, " or ", func(id string) string { return names[id] })
}

func phaseNames(phases []string) string {
	return joined(phases, " or ", func(id string) string { return phase.ByID(id).Name })
}

// joined joins the names of words. Words without a name stay as they are.
func joined(words []string, sep string, name func(id string) string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = cmp.Or(name(w), w)
	}
	return strings.Join(out, sep)
}
