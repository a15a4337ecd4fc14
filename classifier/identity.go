package classifier

import (
	"strconv"

	"oomscan/parser"
	"oomscan/parser/envelope"
)

// identKey names a process inside one input.
type identKey struct {
	kind string // pid, rank, stream
	key  string
}

// identity is what the log told of one process: -1 and "" are unknown.
type identity struct {
	rank, localRank, device, pid int
	host                         string
	// engine is the rank in an inference engine and one more, 0 when not told.
	engine int
	// group is the size of the process group that rank counts in, 0 when not told. Only the largest group's is the rank in
	// the whole job: engines and tensor-parallel groups count their own.
	group int
	here  bool // its label names no address: Ray prints those of other nodes than the driver's only
	mixed bool // several ranks share this key: rank tells nothing
}

// see learns from an envelope: the time, and who the writer is.
func (f *file) see(h *envelope.Header) {
	if !h.Time.IsZero() && h.Clock != "monotonic" {
		f.lastTime, f.clock = h.Time, h.Clock
	}
	f.ticked(h)
	for _, l := range []string{h.Process, h.Actor} {
		if l != "" && len(f.labels) < maxLaunches {
			f.labels[l] = true
		}
	}
	f.learnWriter(h)
	here := h.Actor != "" && h.Host == ""
	if h.PID > 0 && (h.Rank >= 0 || h.Host != "" || h.Device >= 0 || here || h.TP >= 0) {
		f.learn(identity{rank: h.Rank, localRank: h.LocalRank, device: h.Device, pid: h.PID, host: h.Host, here: here, engine: h.TP + 1})
	}
}

// learnWriter notes the rank that a logger names, for the label of its process where that tells no pid.
func (f *file) learnWriter(h *envelope.Header) {
	if h.Rank < 0 || h.PID > 0 || h.Process == "" {
		return
	}
	key := identKey{"stream", h.Stream}
	have, ok := f.idents[key]
	if !ok {
		if len(f.idents) >= maxIdentities {
			return
		}
		have = &identity{rank: -1, localRank: -1, device: -1}
		f.idents[key] = have
	}
	have.fill(identity{rank: h.Rank, localRank: h.LocalRank, device: -1, host: h.Host})
}

// learnLabel notes the process that a launcher gave a label. Where it gave it twice, the label tells nothing.
func (f *file) learnLabel(label string, id identity) {
	key := identKey{"label", label}
	if have, ok := f.idents[key]; ok {
		have.mixed = have.mixed || have.pid != id.pid
		return
	}
	if len(f.idents) < maxIdentities {
		f.idents[key] = &identity{rank: -1, localRank: -1, device: -1, pid: id.pid, host: id.host}
	}
}

// labelled completes an identity by what a launcher told of the process with that label.
func (id *identity) labelled(f *file, label string) {
	if have, ok := f.idents[identKey{"label", label}]; ok && !have.mixed && id.pid <= 0 {
		id.pid = have.pid
	}
}

// learn joins what is told of one process under its pid and its rank.
func (f *file) learn(id identity) {
	keys := make([]identKey, 0, 2)
	if id.pid > 0 {
		keys = append(keys, identKey{"pid", strconv.Itoa(id.pid)})
	}
	if id.rank >= 0 {
		keys = append(keys, identKey{"rank", strconv.Itoa(id.rank)})
	}
	if id.rank < 0 && id.localRank >= 0 {
		keys = append(keys, identKey{"local", strconv.Itoa(id.localRank)})
	}
	if id.rank >= 0 && id.device >= 0 {
		keys = append(keys, identKey{"device", strconv.Itoa(id.device)})
	}
	if id.host != "" && id.localRank >= 0 && id.pid > 0 {
		keys = append(keys, seat(id.host, id.localRank))
	}
	for _, k := range keys {
		have, ok := f.idents[k]
		if !ok {
			if len(f.idents) >= maxIdentities {
				return
			}
			have = &identity{rank: -1, localRank: -1, device: -1}
			f.idents[k] = have
		}
		have.fill(id)
	}
}

// seat is the key of the process with that local rank on a host.
func seat(host string, local int) identKey {
	return identKey{"seat", host + "/" + strconv.Itoa(local)}
}

// rankOn is the rank that a launcher gave the process with that local rank on a host, -1 when none says how many
// processes a node has.
func (f *file) rankOn(host string, local int) int {
	for _, m := range f.launches {
		node, ok := m.Fields.Int("node_rank")
		per, known := m.Fields.Int("gpus_per_node")
		if ok && known && m.Header.Host == host && int64(local) < per {
			return int(node*per) + local
		}
	}
	return -1
}

// fill takes over what is not known yet.
func (i *identity) fill(from identity) {
	switch {
	case i.mixed || from.mixed:
	case i.rank < 0 || from.rank >= 0 && from.group > i.group:
		i.rank, i.group = from.rank, from.group
	case from.rank >= 0 && from.rank != i.rank && from.group >= i.group:
		i.mixed = true
	}
	if i.localRank < 0 {
		i.localRank = from.localRank
	}
	if i.device < 0 {
		i.device = from.device
	}
	if i.pid <= 0 {
		i.pid = from.pid
	}
	if i.engine == 0 {
		i.engine = from.engine
	}
	if i.host == "" {
		i.host = from.host
	}
	i.here = i.here || from.here
}

// died joins the pid and the address of a dead actor, which Ray prints on lines of their own, the pid first.
func (f *file) died(o *parser.Event) {
	if pid, ok := o.Fields.Int("pid"); ok {
		f.dead, f.deadBy = int(pid), o.Header.Stream
	}
	if h := o.Fields["host"]; h != "" && f.dead > 0 && f.deadBy == o.Header.Stream {
		f.learn(identity{rank: -1, localRank: -1, device: -1, pid: f.dead, host: h})
		f.dead = 0
	}
}

func (f *file) identity(o *parser.Marker) {
	id := identity{rank: -1, localRank: -1, device: -1, pid: o.Header.PID, host: o.Header.Host}
	for _, t := range []struct {
		key string
		to  *int
	}{{"rank", &id.rank}, {"local_rank", &id.localRank}, {"device", &id.device}, {"pid", &id.pid}} {
		if n, ok := o.Fields.Int(t.key); ok {
			*t.to = int(n)
		}
	}
	if id.rank < 0 {
		id.rank = o.Header.Rank
	}
	if n, ok := o.Fields.Int("engine_rank"); ok {
		id.engine = int(n) + 1
	}
	if n, ok := o.Fields.Int("world_size"); ok {
		id.group = int(n)
	} else if n, ok := o.Fields.Int("peers"); ok {
		id.group = int(n) + 1
	}
	if h := o.Fields["host"]; h != "" {
		id.host = h
		if id.pid <= 0 && id.rank < 0 && len(f.launches) < maxLaunches {
			told := *o
			told.Fields = parser.Fields{"host": h}
			f.launches = append(f.launches, told)
		}
	}
	if l := o.Fields["label"]; l != "" && id.pid > 0 {
		f.learnLabel(l, id)
		return // by whom it is told is somebody else
	}
	f.learn(id)
	if o.Header.Task >= 0 && id.pid > 0 {
		key := identKey{"task", strconv.Itoa(o.Header.Task)}
		if have, ok := f.idents[key]; ok {
			have.fill(id)
		} else if len(f.idents) < maxIdentities {
			f.idents[key] = &id
		}
	}
	if o.Header.Stream == "" && (id.pid > 0 || id.rank >= 0 && id.group > 0) {
		if f.self == nil || f.self.pid != id.pid || f.self.rank != id.rank {
			f.selves++
			f.self = &identity{rank: -1, localRank: -1, device: -1}
		}
		f.self.fill(id)
	}
}

// ask takes over what an input told under a key.
func (id *identity) ask(f *file, kind string, key int) {
	have, ok := f.idents[identKey{kind, strconv.Itoa(key)}]
	if !ok {
		return
	}
	from := *have
	if from.mixed {
		from.rank = -1
	}
	from.mixed, from.group = false, 0
	id.fill(from)
}
