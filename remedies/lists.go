package remedies

import (
	"cmp"
	"slices"

	"oomscan/classifier"
)

// choice is a list in the answer.
type choice struct {
	guide *Guide
	list  *List
	own   bool // for this phase, as opposed to general advice
}

// programOf returns the program whose settings the user changes: the application around the framework, or the framework itself.
// An application known only from a user's pattern is unknown.
func programOf(run *classifier.Run) classifier.Program {
	if p := classifier.FrameworkByID(run.Application); p.ID != "" {
		return p
	}
	return classifier.FrameworkByID(run.Framework)
}

// guideOf returns the guide of a run's program. Without one, it returns PyTorch's if the message may be of PyTorch's allocator,
// else the short guide for any program.
func guideOf(ctx *Context) *Guide {
	if ctx.is("other_allocator") {
		if programOf(ctx.run).Guide == "" && ctx.messageContains("xlaruntimeerror", "valueerror: resource_exhausted") {
			return guide("jax") // as XLA's errors reach Python
		}
		return guide(cmp.Or(programOf(ctx.run).Guide, "card"))
	}
	if programOf(ctx.run).Guide == "calibration" && !ctx.is("calibrates") && ctx.resource == "gpu" {
		return guide("torch") // quantizers also load and run what they made
	}
	return guide(cmp.Or(programOf(ctx.run).Guide, "torch"))
}

// listsFor picks the lists in printing order. The user's own guides for the run's program come first.
func listsFor(ctx *Context, own []Guide) []choice {
	var out []choice
	for i := range own {
		if g := &own[i]; g.Framework == ctx.run.Application || g.Framework == ctx.run.Framework {
			out = append(append(out, matchingLists(ctx, g)...), generalLists(ctx, g)...)
		}
	}
	return append(out, builtinLists(ctx)...)
}

// builtinLists returns the lists of built-in guides.
func builtinLists(ctx *Context) []choice {
	own := guideOf(ctx)
	if own == nil {
		return nil
	}
	out := matchingLists(ctx, own)
	known := len(out) > 0
	if ctx.phase == "nccl" && !slices.ContainsFunc(out, func(c choice) bool { return len(c.list.Phases)+len(c.list.Kinds) > 0 }) {
		known = false // general advice does not cover collectives
		for i := range out {
			out[i].own = false
		}
	}
	for _, name := range extraGuides(ctx, own.ID) {
		g := guide(name)
		for _, c := range append(matchingLists(ctx, g), generalLists(ctx, g)...) {
			c.own = ctx.resource != "gpu" || !known // the framework's own levers come first
			out = append(out, c)
		}
	}
	for _, c := range generalLists(ctx, own) {
		c.own = !known
		out = append(out, c)
	}
	if ctx.resource != "gpu" {
		return out
	}
	if own.ID == "verl" {
		for _, c := range matchingLists(ctx, guide("field-note")) {
			c.own = false
			out = append(out, c)
		}
	}
	return append(out, cardLists(ctx)...)
}

// extraGuides returns the programs below the framework whose lists belong to this failure.
func extraGuides(ctx *Context, name string) []string {
	engine, backend := ctx.run.Engine, ctx.run.Backend
	switch {
	case ctx.resource == "host" && isServer(engine) && name == "torch":
		return append(hostGuides(ctx), engine)
	case ctx.resource == "host" && backend == "deepspeed" && name != backend && ctx.is("offload_file"):
		return append([]string{backend}, hostGuides(ctx)...) // where the offload is set
	case ctx.resource == "host":
		return hostGuides(ctx)
	case ctx.resource == "shm" && ctx.is("nccl_shm"):
		return []string{"shm", "nccl"}
	case ctx.resource == "shm":
		return []string{"shm"}
	case ctx.phase == "nccl":
		return []string{"nccl"}
	case slices.Contains([]string{"init", "rollout", "weight_update"}, ctx.phase):
		if isServer(engine) && engine != name {
			return []string{engine}
		}
		if backend == "deepspeed" && ctx.run.Application != "" {
			return []string{backend}
		}
	case backend == "deepspeed" && name != backend, backend == "megatron" && name == "torch":
		return []string{backend}
	}
	return nil
}

// hostGuides returns the guides of the limit's owner.
func hostGuides(ctx *Context) []string {
	var out []string
	if ctx.is("ray_monitor") || ctx.is("object_store") {
		out = append(out, "ray-memory")
	}
	if owner := hostOwner(ctx); owner != "" {
		return append(out, owner)
	}
	if len(out) > 0 && !ctx.is("cgroup") {
		return out
	}
	return append(out, "host")
}

// hostOwners lists the guides of programs that assign host memory to jobs, with the signs of each: parts of cgroup paths, and
// prefixes of the names of messages. Inner ones come first: a pod's group may be below a container's.
var hostOwners = []struct {
	guide, launcher string
	groups          []string
	messages        []string
	settings        []string
}{
	{"kubernetes", "k8s", []string{"/kubepods"}, []string{"kubernetes.oom_killed", "kubernetes.evicted", "kubernetes.system_oom"}, nil},
	{"slurm-host", "slurm", []string{"/slurm", "slurmstepd.scope"}, []string{"slurm."}, []string{"--mem", "--mem-per-cpu", "--mem-per-gpu", "ReqMem", "Memory requested"}},
	{"pbs", "pbs", []string{"/pbs_jobs.service/", "/pbspro", "/torque/"}, []string{"pbs."}, nil},
	{"lsf", "lsf", []string{"/lsf/"}, []string{"lsf."}, nil},
	{"condor", "condor", []string{"/htcondor/", "/condor.service/"}, []string{"condor."}, nil},
	{"docker", "docker", []string{"/docker/", "/docker-", "/libpod-"}, []string{"docker."}, []string{"--memory", "--memory-swap"}},
}

// hostOwner returns the guide of the program that assigned the job's host memory, or "" if it is unknown. It goes by the
// failure, then by the job's batch system, then by a setting that only one of them has.
func hostOwner(ctx *Context) string {
	for i := range hostOwners {
		if o := &hostOwners[i]; ctx.messageContains(o.groups...) || slices.ContainsFunc(o.messages, ctx.recognisedAs) {
			return o.guide
		}
	}
	for i := range hostOwners {
		if o := &hostOwners[i]; o.launcher == ctx.run.Scheduler || o.launcher == ctx.run.Launcher {
			return o.guide
		}
	}
	if ctx.messageContains("task_memcg=/user.slice/") {
		return "" // a login session's process: the #SBATCH lines of a script that a shell started have no effect
	}
	for i := range hostOwners {
		if o := &hostOwners[i]; slices.ContainsFunc(o.settings, func(key string) bool { return isSet(ctx, key).truth == yes }) {
			return o.guide
		}
	}
	return ""
}

// matchingLists returns a guide's lists for the incident: those for its kind, else those for its phase.
func matchingLists(ctx *Context, g *Guide) []choice {
	if g == nil {
		return nil
	}
	var byKind, byPhase []choice
	for i := range g.Lists {
		l := &g.Lists[i]
		if l.General || !slices.Contains(l.Resources, ctx.resource) || len(l.Phases) > 0 && !slices.Contains(l.Phases, ctx.phase) {
			continue
		}
		if _, bad := ctx.denied(l.When); bad {
			continue
		}
		c := choice{g, l, true}
		switch {
		case len(l.Kinds) == 0:
			byPhase = append(byPhase, c)
		case slices.Contains(l.Kinds, string(ctx.incident.Kind)):
			byKind = append(byKind, c)
		}
	}
	if len(byKind) > 0 {
		return byKind
	}
	return byPhase
}

// generalLists returns a guide's general lists for the resource, and for the phase if they name any.
func generalLists(ctx *Context, g *Guide) []choice {
	if g == nil {
		return nil
	}
	var out []choice
	for i := range g.Lists {
		l := &g.Lists[i]
		if l.General && slices.Contains(l.Resources, ctx.resource) && (len(l.Kinds) == 0 || slices.Contains(l.Kinds, string(ctx.incident.Kind))) &&
			(len(l.Phases) == 0 || slices.Contains(l.Phases, ctx.phase)) {
			out = append(out, choice{g, l, false})
		}
	}
	return out
}

// cardLists returns PyTorch's advice on the card itself, which no framework's guide has: other processes, fragmentation. It
// adds the list for evaluation for failures there.
func cardLists(ctx *Context) []choice {
	if ctx.is("other_allocator") {
		return nil
	}
	g := guide("torch")
	if g == nil {
		return nil
	}
	var out []choice
	for i := range g.Lists {
		if l := &g.Lists[i]; l.ID == "card" || l.ID == "evaluation" && ctx.is("evaluating") {
			out = append(out, choice{g, l, false})
		}
	}
	return out
}
