package classifier

import (
	"oomscan/parser"
)

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
func deathBy(o *parser.Event, steps int) (d death, ok bool) {
	t := o.Trace
	if o.Role != parser.Evidence || o.Header.Stream != "" || t == nil || t.Cause != nil || !uncaught(t) {
		return death{}, false
	}
	f := o.Fields
	return death{t.Frames[0].File, f["device"], f["total"], f["requested"], f["free"], f["allocated"], t.Line, o.At.Line, steps}, f["device"] != "" && f["requested"] != ""
}

// again reports whether last was an earlier launch of the same program: the same script and device, but other figures. A process dies
// only once, and the ranks of one launch use different devices.
func (d death) again(last death) bool {
	return d.Begin-last.End > relaunchLines && d.Script == last.Script && d.Device == last.Device && d.Total == last.Total &&
		(d.Requested != last.Requested || d.Free != last.Free || d.Holding != last.Holding)
}

// followDeath begins a new attempt when an event reports another death. Steps reported since the last one belong to the new attempt.
func (f *file) followDeath(o *parser.Event) {
	d, ok := deathBy(o, f.Steps)
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
	for i := range f.Launches {
		g := f.Launches[i].Fields
		if n, ok := g.Int("world_size"); ok && n > 1 || g["launcher"] == "torchrun" || g["launcher"] == "deepspeed" {
			return true
		}
	}
	return false
}
