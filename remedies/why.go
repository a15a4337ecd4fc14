package remedies

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"oomscan/classifier"
	"oomscan/remedies/cause"
	"oomscan/remedies/memory"
)

// input returns the facts that the causes use, which are gathered once where the context is complete.
func (ctx *Context) input() *cause.Input {
	if ctx.why != nil {
		return ctx.why
	}
	return causeInput(ctx)
}

// causeInput gathers the facts that the causes use.
func causeInput(ctx *Context) *cause.Input {
	r, in := ctx.root, ctx.incident
	place, _ := failedPlace(ctx)
	gpus, ok := ctx.gpus()
	if !ok {
		gpus, _ = ctx.settings.integer("num_processes", "nproc_per_node")
	}
	holders := make([]cause.Holder, 0, len(r.Tasks))
	for _, t := range r.Tasks {
		holders = append(holders, cause.Holder{Name: t.Name, Bytes: t.RSS})
	}
	if len(holders) == 0 && ctx.resource == "host" && r.ProcessBytes != nil {
		holders = append(holders, cause.Holder{Name: r.Process, Bytes: *r.ProcessBytes})
	}
	patterns := []string{r.Pattern}
	for i := range in.Evidence {
		patterns = append(patterns, in.Evidence[i].Pattern)
	}
	out := &cause.Input{
		Framework: ctx.run.Framework, Application: ctx.run.Application, Backend: ctx.run.Backend, Kind: string(in.Kind), Phase: ctx.phase, Resource: ctx.resource,
		Patterns: patterns, Message: strings.ToLower(r.Message), Part: strings.ToLower(r.Fields["method"]), Text: ctx.text, Stack: wholeStack(ctx),
		Rank: r.Rank, Device: r.Device, PID: r.PID, LastStep: ctx.run.LastStep, Listed: listedProcesses(ctx),
		Requested: r.Requested, Total: r.Total, Free: r.Free, Allocated: r.Allocated, Idle: idleReserve(ctx),
		Process: r.ProcessBytes, Others: r.OtherProcesses, HostLimit: hostLimit(ctx), Shortfall: pointer(ctx.shortfall()), SHMUsed: sharedMemory(ctx), Used: r.Used,
		Request: ctx.request, Place: place, Tokens: ctx.limit, Parameters: nominalParameters(ctx), GPUs: gpus, PerNode: perNode(ctx, gpus), Holders: holders, Growth: ctx.run.Growth,
		Setting: func(names ...string) (string, string, bool) {
			for _, n := range names {
				if f, ok := ctx.settings.find(n, true); ok && !isNone(f.value.Value) {
					return f.key, f.value.Value, true
				}
			}
			return "", "", false
		},
		EngineFailed: ctx.is("engine_process"), EngineAwake: engineAwake(ctx) == yes, EngineAsleep: engineAsleep(ctx), SharesCard: mayShareCard(ctx), RayWorkers: ctx.is("launcher:ray"),
		LessThanDesired: ctx.is("less_than_desired"), NoRoomForCache: ctx.is("kv_sizing"), CacheRan: ctx.is("kv_runtime"), CacheTaken: cacheTaken(ctx),
		GraphCapture: ctx.is("graph_capture"), EncoderBatch: ctx.is("encoder_batch"), Draft: ctx.is("draft"), RequestRows: ctx.is("request_rows"), CacheCovers: ctx.is("cache_covers"), MakesDecoder: ctx.is("makes_decoder"), BuiltContext: ctx.is("built_context"), CachedDataset: ctx.is("caches_dataset"), Profiling: ctx.is("profile_run"), BeforeCache: ctx.is("before_cache"),
		Transcribes: ctx.is("ctranslate2") || ctx.is("stack:models/whisper/"), WideWeights: ctx.is("ctranslate2") && (ctx.is("compute_type=float32") || ctx.is("float32_type")), Sampler: ctx.is("sampler"), Serving: ctx.is("serving"), Picture: ctx.is("picture"),
		Calibrates: ctx.is("calibrates"), Hidden: ctx.model.Hidden.Value, Inner: denseInner(ctx),
		Quantized: quantized(ctx) || quantizesByDefault(ctx), Adapters: trainsAdapters(ctx),
		Mapping: ctx.is("mapping"), Stage: strings.ToLower(in.PhaseWhy), LimitReached: ctx.is("cgroup"), RayMonitor: ctx.is("ray_monitor"), DataWorkers: ctx.is("data_workers"),
		Kept: ctx.is("keeps_outputs"), OwnCache: ctx.is("own_cache"), Infers: ctx.work.untrained(), NoGradSeen: ctx.is("in_no_grad"), LeakyEngine: ctx.is("engine_leaks"), Unsharded: ctx.is("unsharded"), Alone: ctx.is("alone"), WideTraining: strings.EqualFold(ctx.run.Model.TrainedDType, "float32"),
	}
	out.Reads = ctx.frozen
	out.Instances, out.JoinsOutputs = instances(ctx), ctx.is("joins_outputs")
	out.FreeAtLoad, _ = freeAtLoad(ctx)
	out.Biggest = biggestGroup(r)
	if b := ctx.setup.Budget(memory.PhaseBackward); ctx.setup.Trainer != "" {
		var sizes []string
		for _, id := range []string{"weights", "gradients", "optimizer"} {
			p, _ := b.Part(id)
			out.States += p.Low
			sizes = append(sizes, classifier.GiB(p.Low))
		}
		out.StatesHow = strings.Join(sizes, " + ")
	}
	if out.EngineFailed {
		p, _ := ctx.setup.Budget(memory.PhaseInit).Part("engine_weights")
		out.EngineWeights = p.Low
	}
	if g, ok := memory.Reading(ctx.run, in, "vllm.weights"); ok && (out.EngineFailed || ctx.resource == "host") {
		n, _ := g.Fields.Int("used")
		out.EngineWeights = max(out.EngineWeights, n)
	}
	out.Build = ctx.holds("compiling").why
	if n := ctx.run.Model.Trained; n != nil {
		out.Trained = *n
	}
	out.Frozen, out.Pipeline = frozenBackbone(ctx), pipelineWeights(ctx)
	out.BetweenSteps = betweenSteps(ctx)
	if n := trainsBackbone(ctx); n > 0 {
		out.Trained, out.WideTraining = n, true
	}
	if g, ok := lastReading(ctx.run, "reading.before"); ok {
		out.UsedBefore, _ = g.Fields.Int("used")
	} else if r.Total != nil && r.Free != nil && strings.HasPrefix(r.Pattern, "trtllm.") && out.Part == "model" {
		out.UsedBefore = *r.Total - *r.Free // the model is the first that TensorRT-LLM puts there (_torch/pyexecutor/py_executor_creator.py)
	}
	out.EngineFound, out.LoadsNext = engineFound(ctx), loadsNext(ctx)
	_, out.EngineSlept = lastReading(ctx.run, "vllm.slept")
	out.MadeWide = madeWide(ctx) != ""
	if size, _, ok := memory.CardSize(ctx.run, in); ok {
		out.CardSize, out.CardMost = size.Low, size.High
	}
	if g, ok := memory.Reading(ctx.run, in, "deepspeed.memory"); ok && (ctx.run.LastStep == nil || *ctx.run.LastStep == 0) {
		out.SetUp, _ = g.Fields.Int("allocated")
	}
	if g, ok := lastReading(ctx.run, "xla.scores"); ok {
		out.Scores = g.Fields["shape"]
	}
	if g, ok := lastReading(ctx.run, "tf.pool"); ok {
		out.TensorFlowPool, _ = g.Fields.Int("pool")
	}
	if g, ok := lastReading(ctx.run, "tf.small_pool"); ok && in.Root.Device != nil && g.Fields["device"] == strconv.Itoa(*in.Root.Device) {
		out.TensorFlowOther = out.TensorFlowPool
		out.TensorFlowPool, _ = g.Fields.Int("pool")
	}
	_, out.Pins = lastReading(ctx.run, "mmgp.pinned")
	if g, ok := lastReading(ctx.run, "mmgp.needs"); ok {
		out.ToPin, _ = g.Fields.Int("used")
	}
	if g, ok := lastReading(ctx.run, "vllm.backed_up"); ok {
		n, _ := g.Fields.Int("used")
		out.SleptOnHost = n > 0
	}
	if g, ok := memory.Reading(ctx.run, in, "ggml.weights"); ok {
		out.LayersOnCard, _ = g.Fields.Int("used")
	}
	if g, ok := lastReading(ctx.run, "ggml.cache_on_host"); ok {
		out.HostCache, _ = g.Fields.Int("used")
	}
	if g, ok := lastReading(ctx.run, "trtllm.host_tier"); ok {
		out.HostTier, _ = g.Fields.Int("used")
	}
	if g, ok := lastReading(ctx.run, "ollama.weights_on_host"); ok && ctx.is("set:--ollama-engine") {
		out.HostWeights, _ = g.Fields.Int("used")
		out.CardWeights = cardWeights(ctx)
	}
	if g, ok := memory.Reading(ctx.run, in, "trainer.dataset_processes"); ok {
		out.MapProcesses, _ = g.Fields.Int("count")
	}
	if g, ok := lastReading(ctx.run, "ggml.prompt_cache"); ok {
		out.PromptCache, _ = g.Fields.Int("used")
	}
	if g, ok := memory.Reading(ctx.run, in, "sglang.prefill"); ok {
		out.PrefillTokens, _ = g.Fields.Int("tokens")
	}
	if g, ok := lastReading(ctx.run, "torch.graph_sizes"); ok {
		out.GraphSizes, _ = g.Fields.Int("count")
	}
	if g, ok := lastReading(ctx.run, "megatron.parameters"); ok {
		out.MegatronShard, _ = g.Fields.Int("count")
	}
	out.Peak, out.OthersPeak = peaks(ctx)
	if g, ok := memory.Reading(ctx.run, ctx.incident, "ggml.prompt"); ok {
		out.PrefillTokens, _ = g.Fields.Int("count")
	}
	out.NodeRAM = nodeRAM(ctx)
	for _, g := range ctx.run.Gauges {
		if pid, ok := g.Fields.Int("pid"); ok && g.Name == "web.worker" {
			out.Workers = append(out.Workers, int(pid))
		}
	}
	if g, ok := lastReading(ctx.run, "accelerate.precision"); ok {
		out.FullPrecision = g.Fields["precision"] == "no"
	}
	out.TypeIgnored = typeIgnored(ctx)
	_, out.DefaultType = lastReading(ctx.run, "diffusers.default_type")
	out.KeepsResults = ctx.is("keeps_results")
	out.HostPools, _ = hostPools(ctx)
	out.OtherCache = cacheOfAnother(ctx)
	out.CacheTokens, _ = estimatedLength(ctx)
	out.PlannedTokens, _ = plannedLength(ctx)
	out.OneSequence = plannedSequence(ctx, out.CacheTokens, out.PlannedTokens)
	out.CountedAgainst = countedAgainst(ctx)
	if g, ok := memory.Reading(ctx.run, in, "trtllm.cache_planned"); ok && ctx.phase == "init" {
		out.PlannedCache, _ = g.Fields.Int("needed")
	}
	out.GraphPools, _ = r.Fields.Int("private_pools")
	out.CacheBlocks, _ = parseInt(readField(ctx, "blocks", "vllm.mamba_blocks"))
	out.PlannedSequences, _ = parseInt(readField(ctx, "count", "vllm.mamba_blocks"))
	return out
}

// requestedMemory returns what the job asked Slurm for on each node, if it reached that limit and its message has no figure.
func requestedMemory(ctx *Context) *int64 {
	if !ctx.is("cgroup") || hostOwner(ctx) != "slurm-host" {
		return nil
	}
	f, ok := ctx.settings.find("--mem", true)
	n, known := parseSize(f.value.Value)
	if cpus := processors(ctx); !ok && cpus > 0 {
		f, ok = ctx.settings.find("--mem-per-cpu", true)
		n, known = parseSize(f.value.Value)
		n *= cpus
	}
	return pointer(n, ok && known && n < 1<<50)
}

// processors returns how many processors the job's tasks have on each node, 0 when unknown.
func processors(ctx *Context) int64 {
	const most = 1 << 12
	each, ok := ctx.settings.integer("--cpus-per-task")
	tasks, several := ctx.settings.integer("--ntasks-per-node", "--ntasks")
	if !several {
		tasks = 1
	}
	if !ok || each <= 0 || each > most || tasks <= 0 || tasks > most {
		return 0
	}
	return each * tasks
}

// hostLimit returns the limit of host memory that was reached, by the message or by what the job asked for.
func hostLimit(ctx *Context) *int64 { return cmp.Or(ctx.root.Limit, requestedMemory(ctx)) }

// cardWeights returns what Ollama's own engine puts on all cards of the model that it loaded last, 0 if unknown.
func cardWeights(ctx *Context) (sum int64) {
	last := map[string]int64{}
	for _, g := range ctx.run.Gauges {
		if n, ok := g.Fields.Int("used"); ok && g.Name == "ollama.weights_on_card" && n < 1<<45 {
			last[g.Fields["part"]] = n
		}
	}
	for _, n := range last {
		sum += n
	}
	return sum
}

// betweenSteps returns what the failed rank had allocated by Megatron's last reading, else the least that any rank had, 0 if unknown.
func betweenSteps(ctx *Context) (least int64) {
	for _, g := range ctx.run.Gauges {
		n, ok := g.Fields.Int("allocated")
		if g.Name != "megatron.memory" || !ok || n <= 0 {
			continue
		}
		if rank, known := g.Fields.Int("rank"); known && ctx.root.Rank != nil && rank == int64(*ctx.root.Rank) {
			return n
		}
		if least == 0 || n < least {
			least = n
		}
	}
	return least
}

// peaks returns the most that the failed rank had held by Megatron's readings, and the median of the other ranks.
func peaks(ctx *Context) (own, others int64) {
	var rest []int64
	for _, g := range ctx.run.Gauges {
		n, ok := g.Fields.Int("max_allocated")
		rank, known := g.Fields.Int("rank")
		switch {
		case g.Name != "megatron.memory" || !ok || !known || ctx.root.Rank == nil:
		case rank == int64(*ctx.root.Rank):
			own = max(own, n)
		default:
			rest = append(rest, n)
		}
	}
	if len(rest) < 2 {
		return 0, 0
	}
	slices.Sort(rest)
	return own, rest[len(rest)/2]
}

// biggest returns the processes of one name that held most of the memory, by the kernel's table of tasks.
func biggestGroup(r *classifier.Root) cause.Processes {
	count, rest, _ := strings.Cut(r.Fields["biggest_group"], " ")
	bytes, name, _ := strings.Cut(rest, " ")
	n, err := strconv.ParseInt(count, 10, 64)
	held, bad := strconv.ParseInt(bytes, 10, 64)
	if err != nil || bad != nil {
		return cause.Processes{}
	}
	return cause.Processes{Name: name, Count: n, Bytes: held}
}

// quantizesByDefault reports whether the program loads frozen weights in 4 bits where no setting says otherwise, so that their
// size is unknown.
func quantizesByDefault(ctx *Context) bool {
	_, four := ctx.settings.flag("load_in_4bit")
	_, all := ctx.settings.flag("full_finetuning")
	return ctx.run.Application == "unsloth" && four == unknown && all != yes
}

// lastReading returns a run's last reading of a kind, from any of its files.
func lastReading(run *classifier.Run, name string) (classifier.Gauge, bool) {
	for i := len(run.Gauges) - 1; i >= 0; i-- {
		if run.Gauges[i].Name == name {
			return run.Gauges[i], true
		}
	}
	return classifier.Gauge{}, false
}

// cacheTaken reports whether the engine reported its cache before it failed.
func cacheTaken(ctx *Context) bool {
	return slices.ContainsFunc([]string{"trtllm.cache", "sglang.mem_kv_pool", "vllm.kv_tokens"}, func(name string) bool {
		_, ok := memory.Reading(ctx.run, ctx.incident, name)
		return ok
	})
}

// perNode returns how many ranks run on one node, or 0 if it is unknown.
func perNode(ctx *Context, ranks int64) int64 {
	const usual = 8 // GPUs of a node: so few ranks are on one, unless the log names more nodes
	if n, ok := ctx.gpusPerNode(); ok {
		return n
	}
	if n := ctx.run.Nodes; n == nil && ranks <= usual || n != nil && *n == 1 {
		return ranks
	}
	return 0
}

// listedProcesses returns the processes that nvidia-smi lists on cards.
func listedProcesses(ctx *Context) []cause.Listed {
	var out []cause.Listed
	for _, g := range ctx.run.Gauges {
		if g.Name != "smi.process" && g.Name != "smi.listed" {
			continue
		}
		device, ok := g.Fields.Int("device")
		pid, ok1 := g.Fields.Int("pid")
		used, ok2 := g.Fields.Int("used")
		if !ok {
			device = cause.AnyDevice // a query's answer names no card
		}
		if ok1 && ok2 {
			behind := g.At.Source == ctx.root.At.Source && g.At.Line > ctx.root.At.Line
			out = append(out, cause.Listed{Device: int(device), PID: int(pid), Bus: g.Fields["bus"], Name: g.Fields["comm"], Bytes: used, Afterwards: behind})
		}
	}
	return out
}

// wholeStack returns the frames of the failing stack with their files, in lower case.
func wholeStack(ctx *Context) []string {
	if ctx.root.Trace == nil {
		return nil
	}
	out := make([]string, len(ctx.root.Trace.Frames))
	for i := range out {
		f := &ctx.root.Trace.Frames[i]
		out[i] = notVision.Replace(strings.ToLower(slashed(f.File) + " " + f.Func + " " + f.Code))
	}
	return out
}

// notVision removes words in which a search for a vision tower would find one.
var notVision = strings.NewReplacer("revision", "", "supervision", "")

// idleReserve returns PyTorch's reserved but unused memory. Messages before PyTorch 2.1 print the sum.
func idleReserve(ctx *Context) *int64 {
	r := ctx.root
	if r.ReservedUnallocated == nil && r.Reserved != nil && r.Allocated != nil && *r.Reserved >= *r.Allocated {
		n := *r.Reserved - *r.Allocated
		return &n
	}
	return r.ReservedUnallocated
}

// pointer returns a figure, or nil if it is missing.
func pointer(n int64, ok bool) *int64 {
	if !ok {
		return nil
	}
	return &n
}

// mayShareCard reports whether a neighbor on the card may be the job's own engine or trainer.
func mayShareCard(ctx *Context) bool {
	r := ctx.root
	if share, ok := awakeShare(ctx); ok && r.OtherProcesses != nil && *r.OtherProcesses > share+share/4 && !ctx.is("engine_process") {
		in := cause.Input{Process: r.ProcessBytes, Others: r.OtherProcesses, Allocated: r.Allocated, Idle: idleReserve(ctx)}
		const rounding = 1 << 26
		all := r.ProcessBytes == nil && r.Total != nil && r.Free != nil && *r.OtherProcesses+*r.Free > *r.Total-rounding // this process is among them
		if !in.ListsItself() && !all {
			return false // more than the job's own engine takes
		}
	}
	if r.OtherProcesses != nil && ctx.run.Application == "unsloth" {
		return false // its engine is in the trainer's own process
	}
	t := ctx.holds("shares_card").truth
	engine := isServer(ctx.run.Engine) && !isServer(ctx.run.Framework) && ctx.run.Framework != "areal" // whose engines have cards of their own
	return t == yes || t == unknown && (engine || programOf(ctx.run).Colocate)
}

// sharedMemory returns how much of a group's memory is shared: files in /dev/shm, memory-backed volumes and pinned memory. The killed
// process shows a part of it.
func sharedMemory(ctx *Context) *int64 {
	if n, ok := parseInt(readField(ctx, "shmem_rss", "kernel.report", "kernel.killed")); ok && ctx.root.Shmem == nil {
		return &n
	}
	return ctx.root.Shmem
}

// denseInner returns the width of the feed-forward layers, or 0 if it is unknown, the model has no vocabulary's head, or tokens are routed
// to experts, which may get any number of them.
func denseInner(ctx *Context) int64 {
	if ctx.is("role:critic") || ctx.is("role:reward") {
		return 0
	}
	if known, ok := memory.KnownModel(ctx.run.Model.Name); ok && known.Experts > 0 || ctx.settings.has("num_experts") || ctx.settings.has("num_local_experts") || ctx.settings.has("n_routed_experts") {
		return 0
	}
	return ctx.model.Inner.Value
}

// engineFound returns the most that SGLang found free on any card before it loaded its weights, 0 if unknown: which engine works on which
// card is not in the log.
func engineFound(ctx *Context) (most int64) {
	for _, g := range ctx.run.Gauges {
		if n, ok := g.Fields.Int("free"); ok && g.Name == "sglang.found" {
			most = max(most, n)
		}
	}
	return most
}

// loadsNext reports whether ComfyUI had begun to load a model and was not done.
func loadsNext(ctx *Context) bool {
	begins, ok := lastReading(ctx.run, "comfyui.loads")
	done, loaded := lastReading(ctx.run, "comfyui.loaded")
	return ok && (!loaded || done.At.Source == begins.At.Source && done.At.Line < begins.At.Line)
}
