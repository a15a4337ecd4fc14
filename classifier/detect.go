package classifier

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"oomscan/classifier/phase"
	"oomscan/parser/traceback"
)

// votes counts, per framework, the strongest kind of evidence: 3 its own frames or entry point, 2 its labels or
// settings, 1 its name.
type votes map[string]int

func (v votes) add(framework string, weight int) {
	if framework != "" && v[framework] < weight {
		v[framework] = weight
	}
}

// addSettings reads the names of settings.
func (v votes) addSettings(config map[string]Value) {
	for key := range config {
		for i := range programs {
			if slices.ContainsFunc(programs[i].Keys, func(part string) bool { return strings.Contains(key+".", part) }) {
				v.add(programs[i].ID, 2)
			}
		}
	}
}

// winner returns the outermost program with evidence for any of the roles.
func (v votes) winner(roles Role) string {
	for _, least := range []int{2, 1} {
		if id := idThat(func(p *Program) bool { return p.Roles&roles != 0 && v[p.ID] >= least }); id != "" {
			return id
		}
	}
	return "unknown"
}

// unlisted returns a program that the registry does not know: a user's own patterns may name one.
func (v votes) unlisted() string {
	for _, id := range slices.Sorted(maps.Keys(v)) {
		if place(id) < 0 {
			return id
		}
	}
	return ""
}

// writers reads the labels of processes.
func (f *file) writers(r *Run, v votes) {
	for _, l := range slices.Sorted(maps.Keys(f.Labels)) { // of several engines, always the same one wins
		v.add(frameworkOfActor(labelClass(l)), 2)
		set(&r.Engine, engineOf(l))
	}
	for _, id := range slices.Sorted(maps.Keys(f.Writers)) {
		if isServer(id) {
			set(&r.Engine, id)
			continue
		}
		v.add(id, 2)
	}
}

// launch reads the lines in which programs introduce themselves.
func (f *file) launch(r *Run, v votes) {
	for _, m := range f.Launches {
		g := m.Fields
		v.add(g["framework"], 3)
		v.add(g["application"], 3)
		if isServer(g["engine"]) {
			v.add(g["engine"], 1) // a bare server, unless something else turns out to run it
		}
		if g["library"] == "torch" || g["launcher"] == "torchrun" {
			v.add("torch", 1)
		}
		set(&r.Engine, g["engine"])
		set(&r.Backend, g["backend"])
		set(&r.JobID, jobOf(g))
		r.Launcher = outermost(r.Launcher, g["launcher"])
		r.scheduledBy(g["launcher"])
		switch {
		case g["framework"] != "":
			set(&r.FrameworkVersion, g["version"])
		case g["application"] != "":
			set(&r.ApplicationVersion, g["version"])
		}
		if g["engine"] != "" && g["library"] == g["engine"] {
			set(&r.EngineVersion, g["version"])
		}
		setInt(&r.WorldSize, g["world_size"])
		if n, ok := g.Int("tasks"); ok && r.tasks == 0 {
			r.tasks = int(n)
		}
		setInt(&r.Nodes, g["nodes"])
		setInt(&r.GPUsPerNode, g["gpus_per_node"])
		set(&r.Model.Name, g["model"])
		setCount(&r.Model.Parameters, g["parameters"])
		setCount(&r.Model.Trained, g["trained"])
		set(&r.Model.TrainedDType, g["trained_dtype"])
	}
}

// scheduledBy records a batch system or cluster. Under Ray or torchrun it is not the launcher, but it still limits memory.
// Kubernetes may run another system's nodes as pods; the pods' limit then counts.
func (r *Run) scheduledBy(name string) {
	switch name {
	case "k8s":
		r.Scheduler = name
	case "slurm", "pbs", "lsf", "sge", "condor":
		set(&r.Scheduler, name)
	}
}

// frames finds the programs in the tracebacks.
func (f *file) frames(r *Run, v votes) {
	for _, e := range f.Events {
		p := e.pattern
		v.add(p.Framework, 1)
		v.add(cmp.Or(p.Application, e.Fields["application"]), 2)
		r.Launcher = outermost(r.Launcher, p.Launcher)
		r.scheduledBy(p.Launcher)
		r.scheduledBy(p.Scheduler)
		if isServer(p.Framework) {
			set(&r.Engine, p.Framework)
		}
		if p.Scheduler == "slurm" {
			set(&r.JobID, jobOf(e.Fields))
		}
		// an engine's own failure: it is a bare server, unless something else turns out to run it
		v.add(cmp.Or(engineOf(e.Header.Process), engineOf(e.Header.Actor), programOfLogger(e.Header.Logger, e.Header.Clock)), 1)
		if e.Trace == nil {
			continue
		}
		if e.Trace.Origin != nil {
			r.Launcher = outermost(r.Launcher, "ray")
		}
		for t, n := e.Trace, 0; t != nil && n < 4; t, n = t.Cause, n+1 {
			through := programsOf(t.Frames)
			v.add(through.framework, 3)
			v.add(through.application, 3)
			if is(through.trainer, Framework) {
				v.add(through.trainer, 2) // another's module that drives it
			}
			r.Serves = r.Serves || servesAlone(t.Frames)
			set(&r.Backend, through.trainer)
			set(&r.Engine, through.engine)
		}
	}
}

// stackPrograms holds the programs found in a stack. It is empty when none is known.
type stackPrograms struct{ framework, application, trainer, engine string }

// programsOf returns the programs whose files appear in a stack. A framework that runs the job wins over libraries it calls,
// and the outermost of several frameworks wins. Folders above an installed package do not count: virtual environments are often
// named after a package.
func programsOf(frames []traceback.Frame) stackPrograms {
	var out stackPrograms
	library := ""
	for i := range frames {
		path := phase.SplitPath(frames[i].File)
		switch p := programOfFile(path); {
		case p == nil:
		case !p.Library:
			set(&out.framework, p.ID)
		case library == "" || place(p.ID) < place(library) && !(isServer(library) && isServer(p.ID)):
			library = p.ID // a server may be built on another's code, as SGLang was on vLLM's: the outer one runs
		}
		if p := applicationOfFile(path); p != nil && (out.application == "" || place(p.ID) < place(out.application)) {
			out.application = p.ID
		}
		file := "/" + strings.Join(path, "/")
		out.trainer = foremost(out.trainer, file, Trainer)
		if !isServer(out.engine) {
			out.engine = foremost(out.engine, file, Engine)
		}
	}
	set(&out.framework, library)
	return out
}

// servesAlone reports whether a stack began in a script that a framework has to start an engine and nothing else.
func servesAlone(frames []traceback.Frame) bool {
	for i := range frames {
		file := "/" + strings.Join(phase.SplitPath(frames[i].File), "/")
		if placeThat(func(p *Program) bool {
			return slices.ContainsFunc(p.Servers, func(script string) bool { return strings.HasSuffix(file, script) })
		}) >= 0 {
			return true
		}
	}
	return false
}

// programOfFile returns the program whose package a file belongs to, or nil. The innermost folder of a known package decides,
// so a checkout inside another framework's folder is recognized.
func programOfFile(path []string) *Program {
	if len(path) > 1 && path[0] == phase.Installed {
		return programWith(Framework, func(p Package) bool { return p.Name == path[1] })
	}
	return moduleOwner(Framework, path)
}

// applicationOfFile returns the application that a file is a module of, or nil. Modules count in installed packages too: for
// most programs transformers is only a library, unless they run its Trainer.
func applicationOfFile(path []string) *Program { return moduleOwner(Application, path) }

// moduleOwner returns the program with a role whose package is the innermost known folder of a path and has a known module
// below it.
func moduleOwner(role Role, path []string) *Program {
	for i := len(path) - 2; i >= 0; i-- {
		if p := programWith(role, func(p Package) bool { return p.Name == path[i] && slices.Contains(p.Modules, path[i+1]) }); p != nil {
			return p
		}
	}
	return nil
}

func programWith(role Role, match func(Package) bool) *Program {
	if i := placeThat(func(p *Program) bool { return p.Is(role) && slices.ContainsFunc(p.Packages, match) }); i >= 0 {
		return &programs[i]
	}
	return nil
}

// foremost returns whichever of two programs comes first in the registry: the one found so far or the one of this file.
func foremost(seen, file string, role Role) string {
	return idThat(func(p *Program) bool {
		return p.Is(role) && (p.ID == seen || slices.ContainsFunc(p.Files, func(part string) bool { return strings.Contains(file, part) }))
	})
}
