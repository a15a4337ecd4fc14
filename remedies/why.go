package remedies

import (
	"strings"

	"oomscan/remedies/cause"
)

// causeInput are the facts that the causes ask for.
func causeInput(ctx *Context) *cause.Input {
	r, in := ctx.root, ctx.incident
	place, _ := failedPlace(ctx)
	gpus, _ := ctx.gpus()
	patterns := []string{r.Pattern}
	for i := range in.Evidence {
		patterns = append(patterns, in.Evidence[i].Pattern)
	}
	return &cause.Input{
		Framework: ctx.run.Framework, Backend: ctx.run.Backend, Kind: string(in.Kind), Phase: ctx.phase, Resource: ctx.resource,
		Patterns: patterns, Message: strings.ToLower(r.Message), Text: ctx.text, Stack: wholeStack(ctx),
		Rank: r.Rank, Device: r.Device, LastStep: ctx.run.LastStep,
		Requested: r.Requested, Total: r.Total, Free: r.Free, Allocated: r.Allocated, Idle: idleReserve(ctx),
		Process: r.ProcessBytes, Others: r.OtherProcesses, HostLimit: r.Limit, Shortfall: pointer(ctx.shortfall()), SHMUsed: r.Shmem,
		Request: ctx.request, Place: place, Tokens: ctx.limit, Parameters: ctx.model.Parameters, GPUs: gpus,
		Setting: func(names ...string) (string, string, bool) {
			for _, n := range names {
				if f, ok := ctx.settings.find(n, true); ok && !isNone(f.value.Value) {
					return f.key, f.value.Value, true
				}
			}
			return "", "", false
		},
		EngineFailed: ctx.is("engine_process"), EngineAwake: engineAwake(ctx) == yes, SharesCard: mayShareCard(ctx),
		LessThanDesired: ctx.is("less_than_desired"), NoRoomForCache: ctx.is("kv_sizing"), CacheRan: ctx.is("kv_runtime"),
		GraphCapture: ctx.is("graph_capture"), Profiling: ctx.is("profile_run"), BeforeCache: ctx.is("before_cache"),
		Sampler: ctx.is("sampler"), Serving: ctx.is("serving"), Evaluating: ctx.is("evaluating"),
		Quantized: quantized(ctx), Adapters: trainsAdapters(ctx), SleepPool: ctx.is("sleep_allocator"),
		LimitReached: ctx.is("cgroup"), RayMonitor: ctx.is("ray_monitor"), DataWorkers: ctx.is("data_workers"),
	}
}

// wholeStack are the frames of the failing stack with their files, in lower case.
func wholeStack(ctx *Context) []string {
	if ctx.root.Trace == nil {
		return nil
	}
	out := make([]string, len(ctx.root.Trace.Frames))
	for i := range out {
		f := &ctx.root.Trace.Frames[i]
		out[i] = strings.ToLower(slashed(f.File) + " " + f.Func + " " + f.Code)
	}
	return out
}

// idleReserve is what PyTorch holds without using it. Messages before PyTorch 2.1 print the sum.
func idleReserve(ctx *Context) *int64 {
	r := ctx.root
	if r.ReservedUnallocated == nil && r.Reserved != nil && r.Allocated != nil && *r.Reserved >= *r.Allocated {
		n := *r.Reserved - *r.Allocated
		return &n
	}
	return r.ReservedUnallocated
}

// pointer is a figure that may be missing.
func pointer(n int64, ok bool) *int64 {
	if !ok {
		return nil
	}
	return &n
}

// mayShareCard says that a neighbour on the card can be the job's own engine or trainer.
func mayShareCard(ctx *Context) bool {
	t := ctx.holds("shares_card").truth
	engine := isServer(ctx.run.Engine) && !isServer(ctx.run.Framework) && ctx.run.Framework != "areal" // whose engines have cards of their own
	return t == yes || t == unknown && (engine || programOf(ctx.run).Colocate)
}
