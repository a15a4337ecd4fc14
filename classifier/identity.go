package classifier

import (
	"cmp"
	"strconv"
	"strings"

	"oomscan/parser"
	"oomscan/parser/envelope"
)

// identKey names a process inside one input.
type identKey struct {
	Kind string // pid, rank, stream
	Key  string
}

// identity is what the log says about one process: -1 and "" are unknown.
type identity struct {
	Rank, LocalRank, Device, PID int
	Host                         string
	Method                       string // that runs in it, as Ray names it
	// engine is the rank in an inference engine and one more, 0 when unknown.
	Engine int
	// group is the size of the process group that rank counts in, 0 when unknown. Only the largest group's is the rank in
	// the whole job: engines and tensor-parallel groups count their own.
	Group int
	Here  bool // its label names no address: Ray prints those of other nodes than the driver's only
	Mixed bool // several ranks share this key: rank is meaningless
}

// newIdentity returns the identity of an unknown process.
func newIdentity() *identity { return &identity{Rank: -1, LocalRank: -1, Device: -1, PID: -1} }

// number is a number of an identity with the name that messages give it.
type number struct {
	field string
	to    *int
}

func (i *identity) numbers() []number {
	return []number{{"rank", &i.Rank}, {"local_rank", &i.LocalRank}, {"device", &i.Device}, {"pid", &i.PID}}
}

// identityIn reads the identity of a process from a message's fields.
func identityIn(fields parser.Fields) *identity {
	id := newIdentity()
	id.Host, id.Method = cmp.Or(fields["host"], fields["node"]), fields["method"]
	for _, x := range id.numbers() {
		if n, ok := fields.Int(x.field); ok {
			*x.to = int(n)
		}
	}
	return id
}

// unlabelled reports whether a line names no process: it has no label, or only that of the collector of the whole input.
func (f *file) unlabelled(h *envelope.Header) bool {
	_, collected := h.Collected()
	return collected && !f.Collectors
}

// learnHeader learns the time and the writer from an envelope.
func (f *file) learnHeader(h *envelope.Header) {
	if !h.Time.IsZero() && h.Clock != "monotonic" {
		f.LastTime, f.Clock = h.Time, h.Clock
	}
	f.noteStamp(h)
	f.noteRelay(h)
	if by, ok := h.Collected(); ok && by != "" && by != f.Collector {
		f.Collectors = f.Collectors || f.Collector != ""
		f.Collector = by
	}
	for _, l := range []string{h.Process, h.Actor} {
		if l != "" && len(f.Labels) < maxLaunches {
			f.Labels[l] = true
		}
	}
	if id := programOfLogger(h.Logger, h.Clock); id != "" {
		f.Writers[id] = true
	}
	if h.TP >= 0 && h.Process == "" {
		f.Writers["sglang"] = true // its stamps end with the ranks in the engine
	}
	f.learnWriter(h)
	here := h.Actor != "" && h.Host == ""
	if h.PID > 0 && (h.Rank >= 0 || h.Host != "" || h.Device >= 0 || here || h.TP >= 0) {
		f.learn(&identity{Rank: h.Rank, LocalRank: h.LocalRank, Device: h.Device, PID: h.PID, Host: h.Host, Here: here, Engine: h.TP + 1})
	}
}

// isTask reports whether the number in a line's label is a task. Without any sign of Slurm, and with stages announced only
// under other labels than `srun -l`'s, it is the tail of a wrapped line that starts with a number and a colon.
func (f *file) isTask(h *envelope.Header, launcher string) bool {
	if h.Task < 0 || launcher == "slurm" || h.Stream != "t"+strconv.Itoa(h.Task) {
		return h.Task >= 0
	}
	others := false
	for stream := range f.Streams {
		if strings.HasPrefix(stream, "t") {
			return true
		}
		others = true
	}
	return !others
}

// learnWriter notes the rank that a logger names, for the label of its process where that has no pid.
func (f *file) learnWriter(h *envelope.Header) {
	if h.Rank < 0 || h.PID > 0 || h.Process == "" {
		return
	}
	if have := f.identityOf(identKey{"stream", h.Stream}); have != nil {
		have.fill(&identity{Rank: h.Rank, LocalRank: h.LocalRank, Device: -1, Host: h.Host})
	}
}

// learnLabel notes the process that a launcher gave a label. A label that was given twice identifies no process.
func (f *file) learnLabel(label string, id *identity) {
	key := identKey{"label", label}
	if have, ok := f.Identities[key]; ok {
		have.Mixed = have.Mixed || have.PID != id.PID
		return
	}
	if len(f.Identities) < maxIdentities {
		f.Identities[key] = &identity{Rank: -1, LocalRank: -1, Device: -1, PID: id.PID, Host: id.Host}
	}
}

// fillByLabel completes an identity with what a launcher printed about the process with that label.
func (id *identity) fillByLabel(f *file, label string) {
	if have, ok := f.Identities[identKey{"label", label}]; ok && !have.Mixed && id.PID <= 0 {
		id.PID = have.PID
	}
}

// learn stores what is known about one process under its pid and its rank.
func (f *file) learn(id *identity) {
	keys := make([]identKey, 0, 2)
	if id.PID > 0 {
		keys = append(keys, identKey{"pid", strconv.Itoa(id.PID)})
	}
	if id.Rank >= 0 {
		keys = append(keys, identKey{"rank", strconv.Itoa(id.Rank)})
	}
	if id.Rank < 0 && id.LocalRank >= 0 {
		keys = append(keys, identKey{"local", strconv.Itoa(id.LocalRank)})
	}
	if id.Rank >= 0 && id.Device >= 0 {
		keys = append(keys, identKey{"device", strconv.Itoa(id.Device)})
	}
	if id.Host != "" && id.LocalRank >= 0 && id.PID > 0 {
		keys = append(keys, seat(id.Host, id.LocalRank))
	}
	for _, k := range keys {
		if have := f.identityOf(k); have != nil {
			have.fill(id)
		}
	}
}

// isSelf reports whether the lines with a collector's label are those of the process that identified itself. A label of an unknown form is
// not recognized in the first lines.
func (f *file) isSelf(by string) bool {
	return by == f.SelfBy || f.SelfBy == "" && by == f.Collector && !f.Collectors
}

// identityOf returns the identity under a key, or nil if there is none and no more keys are kept.
func (f *file) identityOf(key identKey) *identity {
	have, known := f.Identities[key]
	if !known && len(f.Identities) < maxIdentities {
		have = newIdentity()
		f.Identities[key] = have
	}
	return have
}

// seat returns the key of the process with that local rank on a host.
func seat(host string, local int) identKey {
	return identKey{"seat", host + "/" + strconv.Itoa(local)}
}

// learnSeats learns the ranks of the processes on a host from what its launcher prints: 'n1': [0, 1], 'n2': [2, 3].
func (f *file) learnSeats(ranks, host string) {
	for _, end := range []string{"'", "."} { // pdsh may leave the domain out
		_, list, named := strings.Cut(ranks, "'"+host+end)
		if host == "" || !named {
			continue
		}
		_, list, _ = strings.Cut(list, "[")
		list, _, _ = strings.Cut(list, "]")
		for local, text := range strings.Split(list, ", ") {
			rank, err := strconv.Atoi(text)
			have := f.identityOf(seat(host, local))
			if err != nil || have == nil {
				return
			}
			have.fill(&identity{Rank: rank, LocalRank: local, Device: -1, PID: -1})
		}
		return
	}
}

// rankOn returns the global rank of the process with that local rank on a host, or -1 if no launcher says how many processes a
// node has, or if several nodes have the same name.
func (f *file) rankOn(host string, local int) int {
	rank := -1
	for _, m := range f.Launches {
		node, ok := m.Fields.Int("node_rank")
		per, known := m.Fields.Int("gpus_per_node")
		if !ok || !known || m.Header.Host != host || int64(local) >= per {
			continue
		}
		if n := int(node*per) + local; rank < 0 || n == rank {
			rank = n
		} else {
			return -1
		}
	}
	return rank
}

// fill adds what is not known yet.
func (i *identity) fill(from *identity) {
	switch {
	case i.Mixed || from.Mixed:
	case i.Rank < 0 || from.Rank >= 0 && from.Group > i.Group:
		i.Rank, i.Group = from.Rank, from.Group
	case from.Rank >= 0 && from.Rank != i.Rank && from.Group >= i.Group:
		i.Mixed = true
	}
	if i.Engine > 0 && from.Engine > 0 && i.Engine != from.Engine {
		i.Mixed = true // the pid belongs to a process that collected the lines of others
	}
	if i.LocalRank < 0 {
		i.LocalRank = from.LocalRank
	}
	if i.Device < 0 {
		i.Device = from.Device
	}
	if i.PID <= 0 {
		i.PID = from.PID
	}
	i.Engine, i.Host, i.Method = cmp.Or(i.Engine, from.Engine), cmp.Or(i.Host, from.Host), cmp.Or(i.Method, from.Method)
	i.Here = i.Here || from.Here
}

// learnDeath joins a dead actor's pid and address, which Ray prints on separate lines, pid first.
func (f *file) learnDeath(o *parser.Event) {
	if pid, ok := o.Fields.Int("pid"); ok {
		f.Dead, f.DeadBy = int(pid), o.Header.Stream
	}
	if h := o.Fields["host"]; h != "" && f.Dead > 0 && f.DeadBy == o.Header.Stream {
		f.learn(&identity{Rank: -1, LocalRank: -1, Device: -1, PID: f.Dead, Host: h})
		f.Dead = 0
	}
}

// learnIdentity learns from a message that identifies its process or another one.
func (f *file) learnIdentity(o *parser.Marker) {
	if ranks := o.Fields["ranks"]; ranks != "" {
		f.learnSeats(ranks, o.Header.Host)
		return
	}
	id := identityIn(o.Fields)
	id.Host = cmp.Or(id.Host, o.Header.Host)
	if id.PID < 0 {
		id.PID = o.Header.PID
	}
	if id.Rank < 0 {
		id.Rank = o.Header.Rank
	}
	if n, ok := o.Fields.Int("engine_rank"); ok {
		id.Engine = int(n) + 1
	}
	if n, ok := o.Fields.Int("world_size"); ok {
		id.Group = int(n)
	} else if n, ok := o.Fields.Int("peers"); ok {
		id.Group = int(n) + 1
	}
	if h := o.Fields["host"]; h != "" {
		if id.PID <= 0 && id.Rank < 0 && len(f.Launches) < maxLaunches {
			banner := *o
			banner.Fields = parser.Fields{"host": h}
			f.Launches = append(f.Launches, banner)
		}
	}
	if l := o.Fields["label"]; l != "" && id.PID > 0 {
		f.learnLabel(l, id)
		return // another process printed it
	}
	f.learn(id)
	// A process that prints the lines of several ranks is none of them; see isShared.
	if pid := o.Header.PID; pid > 0 && id.PID > 0 && id.PID != pid && id.Rank >= 0 {
		if have := f.identityOf(identKey{"relay", strconv.Itoa(pid)}); have != nil {
			have.fill(&identity{Rank: id.Rank, LocalRank: -1, Device: -1, PID: -1})
		}
	}
	if o.Header.Task >= 0 && id.PID > 0 {
		if have := f.identityOf(identKey{"task", strconv.Itoa(o.Header.Task)}); have != nil {
			have.fill(id)
		}
	}
	if by, ok := o.Header.Collected(); ok && (id.PID > 0 && !f.isRelay(id.PID) || id.Rank >= 0 && id.Group > 0) {
		if f.Self == nil || f.Self.PID != id.PID || f.Self.Rank != id.Rank {
			f.Selves++
			f.Self, f.SelfBy = newIdentity(), by
		}
		f.Self.fill(id)
	}
}

// fillFrom adds what an input says under a key.
func (id *identity) fillFrom(f *file, kind string, key int) {
	have, ok := f.Identities[identKey{kind, strconv.Itoa(key)}]
	if !ok {
		return
	}
	from := *have
	switch {
	case from.Mixed, kind == "pid" && id.Device > 0 && from.Device >= 0 && id.Device != from.Device: // a worker that started several ranks; one that sees only its own GPU calls it 0
		from.Rank, from.Engine = -1, 0
	case kind == "pid" && f.isRelay(key):
		from.Rank, from.LocalRank, from.Device = -1, -1, -1
	}
	from.Mixed, from.Group = false, 0
	id.fill(&from)
}

// severalPIDs marks a program that has several processes.
const severalPIDs = -1

// noteRelay notes the pid that a system's log has for a program. The log knows which process has the file open, and the ranks that a
// launcher starts share their launcher's.
func (f *file) noteRelay(h *envelope.Header) {
	if h.PID <= 0 {
		return
	}
	for label := range strings.SplitSeq(h.Stream, "|") {
		words := strings.Fields(label)
		if len(words) != 3 || label[0] != 'h' {
			continue
		}
		pid, err := strconv.Atoi(words[2])
		if err != nil || pid <= 0 {
			continue
		}
		if have, known := f.Relays[words[1]]; known && have != pid {
			pid = severalPIDs
		} else if !known && len(f.Relays) >= maxLaunches {
			continue
		}
		f.Relays[words[1]] = pid
	}
}

// isRelay reports whether a pid is the only one that the system's log has for a program: then it may not be the pid of the
// rank that wrote the line.
func (f *file) isRelay(pid int) bool {
	for _, only := range f.Relays {
		if only == pid && pid > 0 {
			return true
		}
	}
	return false
}

// isShared reports whether several ranks seem to have a pid: it is that of a process that collects their lines.
func (f *file) isShared(pid int) bool {
	for _, kind := range []string{"pid", "relay"} {
		if have, ok := f.Identities[identKey{kind, strconv.Itoa(pid)}]; ok && have.Mixed {
			return true
		}
	}
	return false
}

// hasOther reports whether the input names a rank or a device of a process with another pid.
func (f *file) hasOther(pid int) bool {
	for _, id := range f.Identities {
		if id.PID > 0 && id.PID != pid && (id.Rank >= 0 || id.LocalRank >= 0 || id.Device >= 0) {
			return true
		}
	}
	return false
}
