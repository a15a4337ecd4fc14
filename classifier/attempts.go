package classifier

import (
	"slices"

	"oomscan/parser"
)

// assignAttempts moves a kill that a batch scheduler or the kernel reports into the attempt in which the job's launcher saw a
// process die of SIGKILL. Schedulers and kernels write separate inputs, which have no attempts, so the kill would otherwise
// count for the first one.
func (j *job) assignAttempts() {
	byPID := map[string]attempts{} // of all processes under ""
	for _, e := range j.events {
		if e.Kind != parser.OOMKill || e.Role != parser.Suspicion || e.pattern.Scheduler != "" {
			continue
		}
		byPID[""] = byPID[""].with(e)
		if pid := e.fields["pid"]; pid != "" {
			byPID[pid] = byPID[pid].with(e)
		}
	}
	if len(byPID) == 0 {
		return
	}
	reported := map[*file]bool{} // inputs in which a scheduler or the kernel reports a kill
	for _, e := range j.events {
		if e.Kind == parser.OOMKill && e.Role == parser.Evidence && (e.pattern.Scheduler != "" || e.pattern.Program.Name == "kernel") {
			reported[e.file] = true
		}
	}
	for _, e := range j.events {
		if e.file.Attempt > 0 || !reported[e.file] {
			continue
		}
		pid, ok := "", e.pattern.Scheduler != ""
		if !ok && e.pattern.Program.Name == "kernel" && e.Kind == parser.OOMKill {
			pid = e.fields["pid"]
			ok = pid != ""
		}
		if attempt, one := byPID[pid].outside(e.file); ok && one {
			e.Attempt = attempt
		}
	}
}

// attempts are the attempts in which inputs saw processes die of SIGKILL, each once.
type attempts []run

func (s attempts) with(e *event) attempts {
	r := run{e.file, e.Attempt}
	if slices.Contains(s, r) {
		return s
	}
	return append(s, r)
}

// outside is the only attempt in the inputs other than f.
func (s attempts) outside(f *file) (attempt int, ok bool) {
	for _, r := range s {
		switch {
		case r.file == f || ok && r.attempt == attempt:
		case ok:
			return 0, false
		default:
			attempt, ok = r.attempt, true
		}
	}
	return attempt, ok
}

// death describes how the only program in an input ran out of memory: with an uncaught exception.
type death struct {
	Script, Device, Total    string
	Requested, Free, Holding string
	Begin, End               int // lines of its traceback
	Steps                    int // reported before it
}

// relaunchLines is how many lines a program prints at least before it can run out of memory. Ranks that share an input die closer together.
const relaunchLines = 4

// deathBy returns the death that an event reports. ok is false if it reports none.
func (f *file) deathBy(o *parser.Event, steps int) (d death, ok bool) {
	t := o.Trace
	if o.Role != parser.Evidence || !f.unlabelled(&o.Header) || t == nil || t.Cause != nil || !uncaught(t) {
		return death{}, false
	}
	v := o.Fields
	return death{t.Frames[0].File, v["device"], v["total"], v["requested"], v["free"], v["allocated"], t.Line, o.At.Line, steps}, v["device"] != "" && v["requested"] != ""
}

// again reports whether last was an earlier launch of the same program: the same script and device, but other figures. A process dies
// only once, and the ranks of one launch use different devices.
func (d death) again(last death) bool {
	return d.Begin-last.End > relaunchLines && d.Script == last.Script && d.Device == last.Device && d.Total == last.Total &&
		(d.Requested != last.Requested || d.Free != last.Free || d.Holding != last.Holding)
}

// followDeath begins a new attempt when an event reports another death. Steps reported since the last one belong to the new attempt.
func (f *file) followDeath(o *parser.Event) {
	d, ok := f.deathBy(o, f.Steps)
	if !ok {
		return
	}
	if f.Over && d.again(f.Death) && !f.distributed() && f.Attempt < maxAttempts {
		f.Attempt++
		f.Done = append(f.Done, f.Death.Steps)
	}
	f.Death = d
}

// distributed reports whether several ranks may write an input.
func (f *file) distributed() bool {
	for k := range f.Identities {
		if k.Kind == "rank" && k.Key != "0" {
			return true
		}
	}
	return slices.ContainsFunc(f.Launches, func(m parser.Marker) bool {
		n, ok := m.Fields.Int("world_size")
		return ok && n > 1 || m.Fields["launcher"] == "torchrun" || m.Fields["launcher"] == "deepspeed"
	})
}
