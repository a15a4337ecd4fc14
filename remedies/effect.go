package remedies

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/remedies/memory"
)

// effect is the expected effect of one change, where it can be modeled.
type effect struct {
	freed  *int64 // bytes
	enough truth  // whether it makes room for what failed
	why    string // the comparison
}

// estimate is the expected effect of an item: the most that its changes free, and whether that is enough.
type estimate struct {
	effect
	how     string // the formula of the budget's part that changes most
	noHosts string // why a node has too little memory for it; empty if it has enough or that is unknown
	result  outcome
}

// estimateOf estimates the joint effect of an item's changes, by the budget and by the rules' own arithmetic.
func estimateOf(ctx *Context, changes []change) estimate {
	var effects []effect
	plain := make([]Change, len(changes))
	for i := range changes {
		plain[i] = changes[i].Change
		if e := effectOf(ctx, &changes[i]); e.freed != nil || e.enough != unknown {
			effects = append(effects, e)
		}
	}
	if ctx.incident.Kind == parser.KVCache {
		return estimate{effect: best(effects, len(changes))}
	}
	o := outcomeOf(ctx, plain)
	out := estimate{how: o.how, result: o}
	if o.movesTo == memory.OnNode {
		out.noHosts = o.moves
	}
	if e := o.effect(ctx); e.freed != nil {
		effects, changes = append(effects, e), nil // the budget covers all changes at once
	}
	out.effect = best(effects, len(changes))
	return out
}

// effect states whether the missing memory becomes available.
func (o *outcome) effect(ctx *Context) effect {
	e := effect{freed: o.frees}
	r := ctx.root
	short, ok := ctx.lacking()
	switch {
	case e.freed == nil:
	case o.asks != nil && r.Free != nil:
		printed := memory.Printed(*r.Free, r.Message)
		if *o.asks <= printed.Low {
			e.enough = yes
			e.why = fmt.Sprintf("the request becomes %s, and %s was free", classifier.GiB(*o.asks), classifier.GiB(*r.Free))
		} else if less := o.lessActivations(ctx); less > 0 && *o.asks <= printed.Low+less { // they shrink with it
			all := *o.frees + less
			e.freed, e.enough = &all, yes
			e.why = fmt.Sprintf("the request becomes %s, activations free at least %s, and %s was free", classifier.GiB(*o.asks), classifier.GiB(less), classifier.GiB(*r.Free))
		}
	case o.asks == nil && ok && ctx.incident.Kind == parser.GPUOOM && *e.freed < short && *e.freed+o.shrinks >= short:
		e.freed = nil // the request may shrink, too: the least that is freed refutes nothing
	case o.asks == nil && ok && ctx.incident.Kind == parser.GPUOOM:
		e.enough = truthOf(*e.freed >= short)
		e.why = fmt.Sprintf("it frees about %s; %s was missing", classifier.GiB(*e.freed), classifier.GiB(short))
	}
	return e
}

// best returns the best effect of an item's changes: what they free, and whether it is enough.
func best(effects []effect, changes int) effect {
	var out effect
	for _, e := range effects {
		if e.freed != nil && (out.freed == nil || *e.freed > *out.freed) {
			out.freed = e.freed
		}
		if e.enough != unknown && out.enough != yes {
			out.enough, out.why = e.enough, e.why
		}
	}
	if out.enough == no && len(effects) < changes {
		out.enough, out.why = unknown, "" // what its other changes bring is not known
	}
	return out
}

// asleepFrees returns what an engine next to the trainer frees by sleeping, without its graphs and contexts. It is nil if the
// engine already sleeps or its memory is unknown.
func asleepFrees(ctx *Context) *int64 {
	const keeps = 8 << 30
	if !trains(ctx) || ctx.is("engine_process") || !mayShareCard(ctx) || engineAsleep(ctx) {
		return nil
	}
	held := deref(ctx.root.OtherProcesses)
	if share, ok := awakeShare(ctx); ok && held == 0 && engineAwake(ctx) == yes {
		held = share // the engine is part of the failed process
	}
	if held <= keeps {
		return nil
	}
	held -= keeps
	return &held
}

// sameKey reports whether two names mean the same setting.
func sameKey(a, b string) bool { return plain(a) == plain(b) }

// effectOf returns the effect of one change by its rule's arithmetic: shares and buffers are freed as the rule computed.
func effectOf(ctx *Context, c *change) effect {
	switch {
	case c.To == nil:
		return effect{}
	case ctx.incident.Kind == parser.KVCache:
		return cacheEffect(ctx, c)
	case c.freed == nil, *c.freed <= 0, ctx.root.Total != nil && *c.freed > *ctx.root.Total:
		return effect{}
	case c.parameter.Next == "bucket": // a smaller one helps if it failed itself: the budget decides
		return effect{freed: c.freed}
	case engineAwake(ctx) != yes: // an engine that sleeps gives nothing back
		return effect{}
	}
	e := effect{freed: c.freed}
	if short, ok := ctx.shortfall(); ok && ctx.incident.Kind == parser.GPUOOM {
		e.enough = truthOf(*c.freed >= short)
		e.why = fmt.Sprintf("it frees about %s; %s was missing", classifier.GiB(*c.freed), classifier.GiB(short))
	}
	return e
}

// engineAwake reports whether the inference engine holds its share of the card in the failing phase.
func engineAwake(ctx *Context) truth {
	switch {
	case engineComes(ctx), sleepsAtStart(ctx):
		return no
	case ctx.phase == "init", ctx.phase == "rollout", ctx.phase == "weight_update" && !summons(ctx):
		return yes
	}
	if ctx.is("engine_process") {
		return yes
	}
	_, sleeps := ctx.settings.flag("actor_rollout_ref.rollout.free_cache_engine", "vllm_enable_sleep_mode", "vllm_enable_sleep", "vllm.enable_sleep", "offload_rollout")
	if f, ok := ctx.settings.find("sleep_level", true); sleeps == unknown && ok {
		if level, ok := parseInt(f.value.Value); ok {
			sleeps = truthOf(level > 0)
		}
	}
	if sleeps == unknown && trains(ctx) && slices.Contains(wakeful, programOf(ctx.run).ID) && (ctx.whole || shareInCall(ctx)) && ctx.is("shares_card") {
		return yes
	}
	if sleeps == unknown && trains(ctx) && ctx.run.ApplicationVersion != "" && programOf(ctx.run).ID == "unsloth" && ctx.is("shares_card") { // its start is in the log
		_, standby := memory.Reading(ctx.run, ctx.incident, "unsloth.standby")
		return truthOf(!standby && !ctx.settings.has("UNSLOTH_VLLM_STANDBY"))
	}
	if sleeps == unknown && trains(ctx) && (ctx.root.ProcessBytes != nil || ctx.incident.Kind == parser.NCCLOOM) && slices.Contains(sleepers, programOf(ctx.run).ID) {
		return no
	}
	return -sleeps
}

// shareInCall reports whether the engine's share is an argument of a call or a field of an object's dump. Arguments that are not
// there have their defaults.
func shareInCall(ctx *Context) bool {
	f, ok := ctx.settings.find("vllm_gpu_memory_utilization", true)
	return ok && f.value.Form == "repr"
}

// summons reports whether FSDP gathers all parameters to hand them to an engine, which verl does before it wakes it
// (verl/workers/sharding_manager/fsdp_vllm.py, __enter__).
func summons(ctx *Context) bool {
	return ctx.phase == "weight_update" && ctx.stackContains(engineDepth, "summon_full_params", "_unshard_params")
}

// enginesLater lists the programs that start their engine after loading the trainer's model (trl/trainer/grpo_trainer.py, __init__;
// verl/workers/fsdp_workers.py, init_model).
var enginesLater = []string{"trl", "swift", "verl", "easyr1"}

// engineComes reports whether the trainer failed while it built or loaded its model, before the run's engine starts.
func engineComes(ctx *Context) bool {
	builds := ctx.is("loading_weights") || ctx.stackContains(12, "_build_model_optimizer", "_build_critic_model_optimizer")
	return ctx.phase == "init" && slices.Contains(enginesLater, programOf(ctx.run).ID) && builds && !ctx.is("engine_process")
}

// sleepsAtStart reports whether the trainer failed at start-up after vLLM had said that it sleeps (trl/trainer/grpo_trainer.py and
// ms-swift's rollout_mixin.py, __init__).
func sleepsAtStart(ctx *Context) bool {
	slept := slices.ContainsFunc(ctx.run.Gauges, func(g classifier.Gauge) bool { return g.Name == "vllm.slept" || g.Name == "vllm.backed_up" })
	return ctx.phase == "init" && slept && !ctx.is("engine_process")
}

// takesMemory reports whether an engine, or a trainer that slept, failed while it took memory that no step sizes: its cache, or what it gave
// up when it went to sleep (vllm/device_allocator/cumem.py; torch_memory_saver's resume; vllm/v1/worker/gpu_model_runner.py,
// _allocate_kv_cache_tensors).
func takesMemory(ctx *Context) bool {
	return ctx.is("engine_wakes") || ctx.stackContains(3, "_allocate_kv_cache") || takesShare(ctx) ||
		slices.ContainsFunc([]string{"vllm.cumem", "tms.resume", "tms.fatal"}, ctx.recognized)
}

// takesShare reports whether LMDeploy's TurboMind failed while it took its cache, which is a share of what was free and so fits unless
// another process took memory since (src/turbomind/models/llama/BlockManager.cc; before 0.2.1 the share is one of the whole card).
func takesShare(ctx *Context) bool { return strings.Contains(ctx.incident.PhaseWhy, "[BlockManager]") }

// shareStays reports whether an engine on more GPUs would leave each as full as it is: what its weights leave of its share goes to its
// cache. vLLM's share has all that the engine takes (vllm/v1/worker/gpu_worker.py, determine_available_memory); SGLang's has the weights
// and the cache, not what a step needs beside them (srt/model_executor/model_runner.py).
func shareStays(ctx *Context) bool {
	engine := ctx.run.Engine
	switch {
	case ctx.incident.Kind == parser.KVCache, engine != "vllm" && engine != "sglang", ctx.is("before_cache"):
		return false
	case takesMemory(ctx):
		return true
	case ctx.is("engine_process"):
		return engine == "vllm" && (ctx.is("serving") || ctx.is("graph_capture"))
	}
	return ctx.phase != "weight_update" && ctx.is("shares_card")
}

// chunkTooSmall reports whether an engine's cache lacks more than a step of fewer tokens can free: the activations of a layer take no more
// than this for each token.
func chunkTooSmall(ctx *Context, changes []change) bool {
	const most = 256 << 10
	short, ok := ctx.shortfall()
	if !ok || ctx.incident.Kind != parser.KVCache {
		return false
	}
	return slices.ContainsFunc(changes, func(c change) bool {
		from := cmp.Or(c.From, &c.parameter.Default)
		if c.To == nil {
			return false
		}
		n, ok1 := parseInt(*from)
		to, ok2 := parseInt(*c.To)
		return ok1 && ok2 && to < n && (n-to)*most < short
	})
}

// trains reports whether the trainer was at work, when an engine on its card may sleep.
func trains(ctx *Context) bool {
	return ctx.phase == "logprob" || slices.Contains(training, ctx.phase) || collectiveOfStep(ctx)
}

// wakeful lists programs whose engine sleeps during training only if a setting asks for it (trl/trainer/grpo_config.py,
// vllm_enable_sleep_mode; swift/arguments, sleep_level; openrlhf/cli/train_ppo_ray.py, vllm.enable_sleep).
var wakeful = []string{"trl", "swift", "openrlhf"}

// sleepers lists frameworks that put an engine on the trainer's cards to sleep during training unless set otherwise. A message
// that names the card's owner takes precedence (verl/trainer/config/rollout/rollout.yaml, free_cache_engine; EasyR1's
// verl/workers/rollout/vllm_rollout_spmd.py; slime/utils/arguments.py, offload_rollout under colocate;
// nemo_rl/algorithms/grpo.py, finish_generation; skyrl_train/trainer.py, weights_manager; roll/pipeline, offload_states).
// One on cards of its own holds nothing here either.
var sleepers = []string{"verl", "easyr1", "slime", "relax", "nemo_rl", "skyrl", "roll"}

// engineAsleep reports whether the engine on the trainer's card had released its memory: no other process holds what was
// missing, or all of them hold much less than an awake engine.
func engineAsleep(ctx *Context) bool {
	others, short := ctx.root.OtherProcesses, ctx.incident.Shortfall
	if share, ok := awakeShare(ctx); ok && mayShareCard(ctx) && others != nil && engineAwake(ctx) != yes {
		return *others < share/2
	}
	if engineAwake(ctx) != no || others == nil || short == nil || *others < *short {
		return engineAwake(ctx) == no
	}
	return ctx.root.Total != nil && *others < *ctx.root.Total/residuePart // contexts and graphs
}

// residuePart is the fraction of a card, as a divisor, that a sleeping engine keeps at most: no engine that is awake takes so little.
const residuePart = 10

// awakeShare returns the memory of a card that the run's engine holds while awake.
func awakeShare(ctx *Context) (int64, bool) {
	for _, key := range []string{"gpu_memory_utilization", "mem_fraction_static", "vllm_gpu_memory_utilization", "sglang_mem_fraction_static"} {
		if f, ok := ctx.settings.find(key, true); ok && ctx.root.Total != nil {
			share, ok := parseNumber(f.value.Value)
			return int64(share * float64(*ctx.root.Total)), ok && share > 0 && share <= 1
		}
	}
	return 0, false
}

// cacheEffect models changes for an engine whose cache did not fit.
func cacheEffect(ctx *Context, c *change) effect {
	r := ctx.root
	if ctx.is("less_than_desired") {
		if to, ok := parseNumber(*c.To); ok && c.parameter.Next == "share_fit" && r.Free != nil && r.Total != nil {
			takes := int64(to * float64(*r.Total))
			return effect{enough: truthOf(takes <= *r.Free), why: fmt.Sprintf("it takes %s, and %s was free", classifier.GiB(takes), classifier.GiB(*r.Free))}
		}
		return effect{}
	}
	if _, said := estimatedLength(ctx); c.parameter.Next == "fit_length" && (said || r.Requested != nil) {
		why := "its cache fits into what the engine left for it"
		if said {
			why = "the engine's own estimate of what fits"
		}
		return effect{enough: yes, why: why}
	}
	short, ok := ctx.shortfall()
	if !ok || c.From == nil || r.Requested == nil {
		return effect{}
	}
	from, ok1 := parseNumber(*c.From)
	to, ok2 := parseNumber(*c.To)
	if !ok1 || !ok2 {
		return effect{}
	}
	switch c.parameter.Next {
	case "share_up":
		total, by, ok := cardCapacity(ctx)
		if !ok {
			return effect{}
		}
		gain := int64((to - from) * float64(total))
		return effect{freed: &gain, enough: truthOf(gain >= short), why: fmt.Sprintf("it adds %s%s, %s was missing", classifier.GiB(gain), by, classifier.GiB(short))}
	case "double_tp":
		have := *r.Requested - short
		if need := *r.Requested / 2; have > 0 && need <= have && !latentAttention(ctx) {
			return effect{enough: yes, why: fmt.Sprintf("half of the heads need %s, and %s are there before the weights halve", classifier.GiB(need), classifier.GiB(have))}
		}
	}
	return effect{}
}

// latentAttention reports whether tensor parallelism may not split the cache: DeepSeek's latent attention keeps one copy per
// rank, and so does a model with fewer key-value heads than ranks.
func latentAttention(ctx *Context) bool {
	name := strings.ToLower(ctx.run.Model.Name)
	kv := ctx.model.KVHeads.Value
	return kv < 2 || strings.Contains(name, "deepseek-v") || strings.Contains(name, "deepseek-r1") && !strings.Contains(name, "distill") || strings.Contains(name, "kimi")
}

// limitNotApplied returns why lowering a limit is useless if the log shows that it is not applied, otherwise "". Another limit of the
// tokens in a micro-batch would not be applied either.
func limitNotApplied(ctx *Context, changes []change) string {
	l := ctx.limit
	if len(ctx.request) == 0 || !ctx.request[0].Over || l == nil ||
		!slices.ContainsFunc(open(changes), func(c change) bool { return sameKey(c.Key, l.Key) }) && !pulls("token-budget", "", changes) {
		return ""
	}
	return ctx.request[0].OverWhy
}

// decidesSize reports whether one of the changes is to the setting that determined the size of the request.
func decidesSize(ctx *Context, changes []change) (verdict, bool) {
	if len(ctx.request) == 0 || !ctx.request[0].Met || ctx.request[0].Key == "" {
		return verdict{}, false
	}
	for _, c := range changes {
		if c.To != nil && sameKey(c.Key, ctx.request[0].Key) {
			return verdict{yes, fmt.Sprintf("the request is %s: %s decides its size", ctx.request[0].What, c.Key)}, true
		}
	}
	return verdict{}, false
}
