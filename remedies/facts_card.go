package remedies

import (
	"fmt"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/remedies/cause"
	"oomscan/remedies/memory"
)

// asyncAllocator says that PyTorch allocates by cudaMallocAsync, or returns "". It then keeps no segments and ignores the settings for them
// (c10/cuda/CUDAMallocAsyncAllocator.cpp). Its message has words of its own; the number of the device is printed as a character there, so
// that the line often ends before it. ComfyUI and Forge turn it on themselves, or by --cuda-malloc.
func asyncAllocator(ctx *Context) string {
	const why = "cudaMallocAsync is the allocator, which has no segments"
	if ctx.messageContains("outofmemoryerror: allocation on device", "!!! allocation on device", "would exceed allowed memory") || ctx.is("set:--cuda-malloc") {
		return why
	}
	for _, key := range []string{"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"} {
		if f, ok := ctx.settings.find(key, true); ok && strings.Contains(strings.ToLower(f.value.Value), "cudamallocasync") {
			return why
		}
	}
	return ""
}

// fragmented reports whether PyTorch's reserved but unused memory covers what was missing and exceeds an allocator's usual
// slack.
func fragmented(ctx *Context, _ string) verdict {
	r := ctx.root
	if why := asyncAllocator(ctx); why != "" {
		return verdict{no, why}
	}
	in := &cause.Input{
		Phase: ctx.phase, Stack: wholeStack(ctx),
		Requested: r.Requested, Total: r.Total, Free: r.Free, Idle: idleReserve(ctx), Shortfall: pointer(ctx.shortfall()),
	}
	if in.Idle == nil || in.Total == nil || *in.Total <= 0 || in.Shortfall == nil && (in.Requested == nil || in.Free == nil) {
		return verdict{}
	}
	if why := cause.Fragmented(in); why != "" {
		return verdict{yes, why}
	}
	if in.Shortfall == nil {
		return verdict{no, "free memory covered the request"}
	}
	if why := cause.NotFragmented(in); why != "" {
		return verdict{no, notFragmentedWord + why}
	}
	if why := cause.UsualReserve(in); why != "" {
		return verdict{no, why}
	}
	return verdict{}
}

// pytorchs are the allocators, besides CUDA's, that PyTorch calls on devices of other vendors.
var pytorchs = []string{"", "torch", "xpu", "npu", "mps", "hpu", "neuron", "directml"}

// otherAllocator reports whether the memory that ran out is not PyTorch's: the program has its own allocator, or the message is
// another library's and there is no sign of PyTorch.
func otherAllocator(ctx *Context, _ string) verdict {
	p := programOf(ctx.run)
	if p.NoTorch {
		return verdict{yes, p.Name + " has its own allocator"}
	}
	if ctx.incident.Kind == parser.GPUDriverOOM && ctx.is("ctranslate2") {
		return verdict{yes, "CTranslate2 has its own allocator"}
	}
	said := !slices.Contains(pytorchs, ctx.root.Allocator)
	// A driver's error with no trace of PyTorch is that of a library such as XGBoost, cuDF or FAISS.
	bare := ctx.incident.Kind == parser.GPUDriverOOM && p.ID == "" && !ctx.stackContains(80, "torch") && !ctx.messageContains("torch")
	if (said || bare) && !classifier.IsTorch(ctx.run.Framework) {
		return verdict{yes, "the allocator that failed is not PyTorch's"}
	}
	return verdict{no, "PyTorch allocates the memory"}
}

// fixedSegments reports whether expandable segments are unavailable: before PyTorch 2.1, whose message still has the reserved
// total, and on Windows; and in two programs that turn them on themselves.
func fixedSegments(ctx *Context, _ string) verdict {
	switch {
	case ctx.is("npu"):
		return verdict{} // torch_npu kept the message of PyTorch 2.0
	case ctx.messageContains("reserved in total by pytorch"):
		return verdict{yes, "the message is one of PyTorch before 2.1, whose segments cannot grow"}
	case ctx.run.Application == "axolotl", ctx.run.Application == "unsloth":
		return verdict{yes, programOf(ctx.run).Name + " switches it on itself"}
	}
	if ctx.is("windows") {
		return verdict{yes, "segments cannot grow on Windows"}
	}
	if ctx.run.Framework == "torch" {
		if in, ok := versionIn(ctx.run.FrameworkVersion, "<2.1"); ok && in {
			return verdict{yes, "segments cannot grow before PyTorch 2.1"}
		}
	}
	return verdict{}
}

// others reports whether other processes hold at least what was missing, and more than a neighbor's CUDA contexts.
func others(ctx *Context, _ string) verdict {
	const context = 1 << 30
	r := ctx.root
	holder := &cause.Input{
		PID: r.PID, Device: r.Device, Listed: listedProcesses(ctx), Allocated: r.Allocated, Idle: idleReserve(ctx), Total: r.Total,
		Shortfall: pointer(ctx.shortfall()), SharesCard: mayShareCard(ctx),
	}
	switch {
	case ctx.is("less_than_desired"):
		return ctx.holds("less_than_desired")
	case countedAgainst(ctx) > 0:
		return verdict{yes, fmt.Sprintf("other processes hold %s of the card, which vLLM 0.6.4 counts against its share", classifier.GiB(countedAgainst(ctx)))}
	case cause.ListedHolder(holder) != "":
		return verdict{yes, cause.ListedHolder(holder)}
	case r.OtherProcesses == nil && r.ProcessBytes != nil && r.Total != nil && r.Free != nil:
		rest := *r.Total - *r.Free - *r.ProcessBytes // where the driver tells processes apart
		if name := memory.Unified(*r.Total); name != "" && rest > context {
			return verdict{no, fmt.Sprintf("the GPU of %s works in the host's memory, of which programs and the page cache hold %s", name, classifier.GiB(rest))}
		}
		if r.Allocated != nil && *r.ProcessBytes >= *r.Allocated && rest > max(4*context, *r.Total/10) && !mayShareCard(ctx) {
			return verdict{yes, fmt.Sprintf("%s of the card are neither free nor this process's", classifier.GiB(rest))}
		}
		return verdict{no, "the message lists no other process on this card"}
	case r.OtherProcesses == nil, r.ProcessBytes == nil:
		return verdict{} // inside a container PyTorch may list itself among the others, under an unknown pid
	}
	o := *r.OtherProcesses
	short, ok := ctx.shortfall()
	why := fmt.Sprintf("other processes hold %s on this GPU", classifier.GiB(o))
	if ok {
		why += fmt.Sprintf(", and %s was missing", classifier.GiB(short))
	}
	return verdict{truthOf(o > context && (!ok || o >= short)), why}
}

// countedAgainst returns what other processes hold of the card of a vLLM that found no room for its cache, or 0: 0.6.4 prints, and takes
// out of its share, all that is in use outside of its own PyTorch (worker/worker.py, determine_num_available_blocks). Since 0.6.5 its
// own use alone counts.
func countedAgainst(ctx *Context) int64 {
	const own = 4 << 30 // of CUDA's contexts, NCCL and other libraries
	g, ok := memory.Reading(ctx.run, ctx.incident, "vllm.kv_available")
	n, read := g.Fields.Int("non_torch")
	if !ok || !read || n < own || !ctx.is("kv_sizing") {
		return 0
	}
	return n
}

// coTenant is others with an expected neighbor: a framework that puts trainer and engine on one card.
func coTenant(ctx *Context, _ string) verdict {
	if programOf(ctx.run).Colocate {
		return ctx.holds("others")
	}
	return verdict{no, "this framework does not share a card between trainer and engine"}
}

// stray reports whether a process that does not belong there holds so much of a trainer's card that nothing else matters: more
// than the request, and more than the contexts that a job's ranks leave on each other's cards.
func stray(ctx *Context, _ string) verdict {
	if why := cause.UsedBefore(ctx.input()); why != "" {
		return verdict{yes, why}
	}
	if p := programOf(ctx.run); p.Colocate || p.Is(classifier.Engine) || ctx.is("shares_card") {
		return verdict{no, "trainer and engine may share the card"}
	}
	r := ctx.root
	v := ctx.holds("others")
	if v.truth != yes || r.OtherProcesses == nil || r.Requested == nil || r.Total == nil || ctx.is("less_than_desired") {
		return verdict{no, "no other process holds what was missing"}
	}
	if ctx.run.Engine != "" && !ctx.is("engine_process") && ctx.settings.has("gpu_memory_utilization") {
		return verdict{no, "an inference engine whose share the log shows may hold the card"}
	}
	if instances(ctx) > 1 {
		return verdict{no, "instances of the same model hold the card"}
	}
	if ctx.is("reads_checkpoint") {
		return verdict{no, "ranks of the job hold the card, which read a checkpoint onto it"}
	}
	if ctx.is("another_worker") {
		return verdict{no, "another worker of the same server holds the card"}
	}
	if o := *r.OtherProcesses; o < *r.Requested || o < *r.Total/10 {
		return verdict{no, "other processes hold too little to matter"}
	}
	return verdict{yes, "another process holds the card: " + v.why}
}

// generatesNothing reports whether a trainer of TRL learns from given answers.
func generatesNothing(ctx *Context, _ string) verdict {
	if ctx.passesThrough("sft_trainer.py", "SFTTrainer.py", "dpo_trainer.py", "DPOTrainer.py", "kto_trainer.py", "KTOTrainer.py", "orpo_trainer.py", "ORPOTrainer.py",
		"reward_trainer.py", "RewardTrainer.py", "/scripts/sft", "/scripts/dpo", "/scripts/kto", "/scripts/reward") || ctx.is("pairs") {
		return verdict{yes, "this trainer generates nothing"}
	}
	return verdict{}
}

// trainerFirst reports whether most of what an engine found in use was reserved by a trainer's allocator, by the last reading on the same
// card, as where a worker that only generates builds the trainer's model, too.
func trainerFirst(ctx *Context) verdict {
	r := ctx.root
	if !ctx.is("less_than_desired") || r.Total == nil || r.Free == nil {
		return verdict{}
	}
	g, ok := memory.Reading(ctx.run, ctx.incident, "reading.reserved")
	if n, _ := g.Fields.Int("reserved"); ok && n > 0 && n <= *r.Total-*r.Free && n >= (*r.Total-*r.Free)/2 {
		return verdict{yes, "the trainer's allocator had reserved " + classifier.GiB(n) + " on this card before the engine started"}
	}
	return verdict{}
}

// ownEngine returns the process of the run's engine if PyTorch's message names it among those on the card, 0 if it does not.
func ownEngine(ctx *Context) int {
	for _, g := range ctx.run.Gauges {
		engine := strings.HasPrefix(g.Name, "vllm.") || strings.HasPrefix(g.Name, "sglang.")
		if pid := g.PID; engine && pid > 0 && strings.Contains(ctx.root.Message, fmt.Sprintf("Process %d has ", pid)) {
			return pid
		}
	}
	return 0
}

// engineHolds reports that what other processes hold on the card is what the run's engine printed of its weights and its cache: its context and
// its graphs come on top. A server has no trainer beside it.
func engineHolds(ctx *Context) string {
	if ctx.root.OtherProcesses == nil || ctx.is("engine_process") || isServer(ctx.run.Framework) || ctx.run.Framework == "trl" { // whose server should have cards of its own
		return ""
	}
	const context, graphs = 2 << 30, 8 // bytes, and what part of weights and cache the graphs may take
	for _, names := range [][2]string{{"sglang.mem_weights", "sglang.mem_kv_pool"}, {"vllm.weights", "vllm.kv_available"}} {
		weights, ok := lastReading(ctx.run, names[0])
		cache, ok2 := lastReading(ctx.run, names[1])
		w, ok3 := weights.Fields.Int("used")
		c, ok4 := cache.Fields.Int("used")
		if n, read := cache.Fields.Int("available"); read {
			c, ok4 = n, true
		}
		held := *ctx.root.OtherProcesses
		if own := w + c; ok && ok2 && ok3 && ok4 && w > 0 && c > 0 && own < 1<<50 && held >= own && held-own <= own/graphs+context {
			return fmt.Sprintf("the engine's weights and cache take %s of the %s that other processes hold on the card", classifier.GiB(own), classifier.GiB(held))
		}
	}
	return ""
}

// sharesCard reports whether trainer and inference engine use the same GPUs: verl's trainers do unless they are asynchronous,
// others do if their settings say so.
func sharesCard(ctx *Context, _ string) verdict {
	const together, apart = "trainer and engine share the card in this run", "trainer and engine have their own GPUs"
	if besideEngine(ctx) {
		return verdict{yes, "the process that receives the weights shares the engine's card"}
	}
	if pid := ownEngine(ctx); pid > 0 && ctx.run.Framework != "trl" && !isServer(ctx.run.Framework) { // whose server should have cards of its own; a server has no trainer
		return verdict{yes, fmt.Sprintf("process %d is this run's own engine", pid)}
	}
	if why := engineHolds(ctx); why != "" {
		return verdict{yes, why}
	}
	if ctx.run.Application == "prime_rl" {
		return verdict{no, apart}
	}
	if v := trainerFirst(ctx); v.truth == yes {
		return v
	}
	if ctx.run.Application == "unsloth" && ctx.is("fast_inference=True") && !ctx.settings.has("vllm_mode") { // unsloth_zoo/vllm_utils.py
		return verdict{yes, "Unsloth runs vLLM in the trainer's process"}
	}
	if f, one := ctx.settings.flag("single_gpu_mode"); one == yes { // Open-Instruct's
		return verdict{yes, f.key + " is " + f.value.Value}
	}
	if f, t := ctx.settings.flag("colocate_all"); t != unknown { // SkyRL's, and OpenRLHF's
		return verdict{t, f.key + " is " + f.value.Value}
	}
	switch ctx.run.Framework {
	case "verl":
		if ctx.stackContains(200, "fully_async", "one_step_off") || strings.Contains(strings.ToLower(ctx.root.Process), "detach") ||
			strings.Contains(strings.ToLower(ctx.root.Process), "fullyasync") || ctx.settings.has("async_training") || ctx.settings.has("rollout.n_gpus_per_node") || ctx.is("rollout.nnodes>0") {
			return verdict{no, apart}
		}
		if isServer(ctx.run.Engine) {
			return verdict{yes, together}
		}
	case "trl":
		if v := generatesNothing(ctx, ""); v.truth == yes {
			return verdict{no, v.why}
		}
		if f, t := ctx.settings.flag("use_vllm"); t == no || t == unknown && f.key == "" && ctx.run.Engine == "" && ctx.settings.has("per_device_train_batch_size") && !ctx.settings.has("vllm_mode") {
			return verdict{no, "the trainer itself generates"}
		}
		if f, ok := ctx.settings.find("vllm_device", true); ok && strings.Contains(f.value.Value, ":") { // before 0.16, never the trainer's
			return verdict{no, f.key + " is " + f.value.Value}
		}
		return ctx.compare(condition{key: "vllm_mode", op: "=", value: "colocate"})
	case "areal": // "sglang:d4+fsdp:d4" has cards for each, "sglang:d4|fsdp:d4" the same for both
		switch f, _ := ctx.settings.find("allocation_mode", true); {
		case strings.Contains(f.value.Value, "|"):
			return verdict{yes, together}
		case strings.Contains(f.value.Value, "+"):
			if per, _ := ctx.settings.integer("cluster.n_gpus_per_node"); per == 1 && !ctx.is("cluster.n_nodes>1") {
				return verdict{yes, "the cluster has one GPU"}
			}
			return verdict{no, apart}
		}
	case "slime", "relax", "openrlhf", "nemo_rl":
		switch f, t := ctx.settings.flag("colocate", "colocate_all_models", "colocate_all", "policy.generation.colocated.enabled"); {
		case t == yes:
			return verdict{yes, together}
		case t == no:
			return verdict{no, f.key + " is " + f.value.Value}
		case ctx.run.Framework != "nemo_rl" && ctx.whole: // a switch that is off by default
			return verdict{no, apart}
		}
	}
	return verdict{}
}

// besideEngine reports that the process that failed receives weights on the card of an engine apart from the trainer's
// (verl/checkpoint_engine/base.py, CheckpointEngineWorker).
func besideEngine(ctx *Context) bool {
	t := ctx.root.Trace
	return t != nil && t.Origin != nil && t.Origin.Actor == "CheckpointEngineWorker"
}

// oversized reports whether the request alone exceeds the card: by its size in the message or, as JAX prints none, by the most that cards
// of its name have.
func oversized(ctx *Context, _ string) verdict {
	r := ctx.root
	size, _, named := memory.CardSize(ctx.run, ctx.incident)
	total := size.High
	if r.Total != nil {
		total = *r.Total
	}
	if r.Requested == nil || r.Total == nil && (!named || ctx.run.Framework != "jax") {
		return verdict{}
	}
	if scores := len(ctx.request) > 0 && ctx.request[0].What == "attention" || cause.ScoresOfFallback(ctx.input()) != ""; scores && *r.Requested <= total && *r.Requested > total/2 && *r.Requested < 1<<50 { // softmax makes a copy
		return verdict{yes, fmt.Sprintf("the attention scores and their softmax take %s on a GPU of %s: freeing memory cannot help", classifier.GiB(2**r.Requested), classifier.GiB(total))}
	}
	return verdict{
		truthOf(*r.Requested > total),
		fmt.Sprintf("%s was requested on a GPU of %s: freeing memory cannot help", classifier.GiB(*r.Requested), classifier.GiB(total)),
	}
}

// exceedsUnified reports that the request exceeds what XLA's unified memory gives a program that is told to take four times the card.
func exceedsUnified(ctx *Context, _ string) verdict {
	size, _, named := memory.CardSize(ctx.run, ctx.incident)
	total := size.High
	if ctx.root.Total != nil {
		total, named = *ctx.root.Total, true
	}
	if ctx.root.Requested == nil || !named || total <= 0 || total > 1<<50 {
		return verdict{}
	}
	return verdict{truthOf(*ctx.root.Requested > 4*total), fmt.Sprintf("%s was requested, and four times the card is %s", classifier.GiB(*ctx.root.Requested), classifier.GiB(4*total))}
}

// overLimit reports that a JAX program uses far more than XLA's limit, which is three quarters of what its inputs and outputs leave of the card.
func overLimit(ctx *Context, _ string) verdict {
	g, ok := lastReading(ctx.run, "xla.limit")
	limit, read := g.Fields.Int("needed")
	used, printed := g.Fields.Int("used")
	if !ok || !read || !printed || used < limit/3*5 {
		return verdict{}
	}
	return verdict{yes, fmt.Sprintf("the program uses %s where XLA allows %s: a larger share of the GPU cannot help", classifier.GiB(used), classifier.GiB(limit))}
}

// exceedsPool reports that a JAX program's inputs and outputs, which are mostly the state, exceed the card's memory by half of the card and
// more: no share of it and no batch changes that.
func exceedsPool(ctx *Context, _ string) verdict {
	g, ok := lastReading(ctx.run, "xla.over_limit")
	over, read := g.Fields.Int("needed")
	size, _, known := memory.CardSize(ctx.run, ctx.incident)
	card := int64(size.Low)
	if peak, printed := g.Fields.Int("used"); !known && printed { // what it uses beyond what it may: the card has little more
		card, known = peak-over, true
	}
	if !ok || !read || !known || over < card/2 {
		return verdict{}
	}
	return verdict{yes, fmt.Sprintf("the program's inputs and outputs alone take %s more than XLA may use", classifier.GiB(over))}
}

// withoutBF16 names a card that cannot compute in bf16, by its name in the log or the size in the message; "" for others and where neither
// is known.
func withoutBF16(ctx *Context) string {
	if ctx.resource != "gpu" || ctx.is("npu") {
		return ""
	}
	later := func(g classifier.Gauge) bool {
		return g.Name == "gpu.card" && g.Fields["card"] != "V100" && g.Fields["card"] != "T4"
	}
	if g, ok := lastReading(ctx.run, "gpu.early"); ok && !slices.ContainsFunc(ctx.run.Gauges, later) {
		return "a " + strings.TrimSuffix(g.Fields["card"], " GPUs")
	}
	if ctx.root.Total == nil {
		return ""
	}
	if name := memory.WithoutBF16(*ctx.root.Total); name != "" {
		return fmt.Sprintf("%s by its %s", name, classifier.GiB(*ctx.root.Total))
	}
	return ""
}
