package classifier

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/lazyre"
	"oomscan/parser/traceback"
)

// identify finds which process an event is about, from its own line and from the job's other lines about
// the same process. Unknown numbers are -1, an unknown host is "".
func (j *job) identify(e *event) identity {
	id := ownIdentity(e)
	kill := e.Kind == parser.OOMKill
	if id.PID == e.Header.PID && (j.isLauncher(e) || e.file.isRelay(id.PID) && (j.index.elastic || e.file.hasOther(id.PID))) {
		id.PID = -1
		if n, ok := e.fields.Int("pid"); ok {
			id.PID = int(n) // of the process that wrote the message
		}
	}
	if id.Rank < 0 && j.bareEngine() {
		id.Rank = e.Header.TP
	}
	if id.Rank < 0 && e.file.isTask(&e.Header, j.run.Launcher) && !kill && j.run.Launcher != "ray" && (e.Header.TP < 0 || !e.Header.OfActor()) && !j.index.elastic {
		id.Rank = e.Header.Task // srun or mpirun started the process itself: the number of its task is the rank
	}
	if id.Host == "" && e.Header.Parent > 0 {
		actor := newIdentity()
		actor.fillFrom(e.file, "pid", e.Header.Parent)
		id.Host = actor.Host // an actor and its children share the host
	}
	if have, ok := e.file.Identities[identKey{"stream", e.Header.Stream}]; ok && id.Rank < 0 && !have.Mixed && e.Header.Stream != "" {
		id.Rank = have.Rank
	}
	if id.PID <= 0 && e.Header.Process != "" && !kill {
		for _, f := range j.files {
			id.fillByLabel(f, e.Header.Process)
		}
	}
	if id.PID <= 0 && e.Header.Process == "" && !kill {
		id.fillByPath(e.file)
	}
	j.complete(&id, e.file, &e.Header)
	if id.Rank < 0 && j.bareEngine() {
		id.Rank = id.Engine - 1
	}
	return id
}

// ownIdentity returns what an event's own line says about its process. For a remote traceback, the label belongs to the printer
// and the header to the failed process. A process that reports a kill is not the one killed.
func ownIdentity(e *event) identity {
	kill := e.Kind == parser.OOMKill
	id := identity{Rank: e.Header.Rank, LocalRank: e.Header.LocalRank, Device: -1, PID: -1, Host: e.Header.Host}
	if t := e.Trace; t != nil && t.Origin != nil && t.Origin.PID > 0 {
		id = identity{Rank: t.Origin.Rank, LocalRank: -1, Device: -1, PID: t.Origin.PID, Host: t.Origin.IP}
	} else if e.Header.PID > 0 && !kill {
		id.PID = e.Header.PID
	}
	if id.PID == e.Header.PID && e.repeatsAWorker() {
		id.PID, id.Host = -1, "" // the header that names the worker is lost
	}
	for _, x := range id.numbers() {
		names := x.field == "pid" && (kill || e.Kind == parser.SHMExhausted) // the message names the victim
		if n, ok := e.fields.Int(x.field); ok && (*x.to < 0 || names) {
			*x.to = int(n)
		}
	}
	if m := failedRank().FindStringSubmatch(e.Text); id.Rank < 0 && m != nil && e.Role == parser.Evidence {
		id.Rank, _ = strconv.Atoi(m[1] + m[2])
	}
	id.fillByOwnLabel(e)
	if id.Device < 0 {
		id.Device = e.Header.Device
	}
	if h := cmp.Or(e.fields["host"], e.fields["node"]); h != "" && (id.Host == "" || kill) {
		id.Host = h
	}
	return id
}

// failedRank finds the rank that a message itself says failed: "Rank 3 failed at step 7: CUDA out of memory".
var failedRank = lazyre.New(`(?i)^(?:error: )?(?:global |world )?rank[ :=#]{0,2}(\d{1,6})\b:? (?:failed|crashed|died|aborted|ran out|hit|got an?|raised|caught|cannot|gave up|gives up|giving up|oom|cuda)\b` +
	`|^(?:[\w.]{0,40}(?:error|exception): )?(?:oom|cuda out of memory|cuda oom|out of memory|exception|error|failure|failed|caught \w{1,40}) (?:on|in|at) (?:global |world )?rank[ :=#]{0,2}(\d{1,6})\b`)

// repeatsAWorker reports whether a driver printed a failure that cannot be its own.
func (e *event) repeatsAWorker() bool {
	return e.Kind.Resource() == "gpu" && isDriver(e.Header.Process)
}

// bareEngine reports whether the job is an inference server: its tensor-parallel rank is the rank.
func (j *job) bareEngine() bool {
	return isServer(j.run.Framework) || j.run.Serves
}

// complete adds what the log says elsewhere about the process with that pid or rank.
func (j *job) complete(id *identity, f *file, h *envelope.Header) {
	for _, g := range append([]*file{f}, j.before[f]...) {
		j.completeFrom(g, id, h)
	}
	j.fillByTwin(id, f, h)
	place := id.LocalRank
	if place < 0 {
		place = id.Device // where every process of a node sees all of its devices, their numbers are the local ranks
	}
	if id.PID <= 0 && id.Rank < 0 && place >= 0 && id.Host != "" {
		if have, ok := f.Identities[seat(id.Host, place)]; ok && !have.Mixed {
			id.fill(have)
		}
	}
	for _, g := range append([]*file{f}, j.before[f]...) {
		if id.Rank < 0 {
			id.Rank = j.rankByPlace(id, g)
		}
	}
	oneNode := j.run.Nodes != nil && *j.run.Nodes == 1
	for _, other := range j.files {
		if other != f && id.PID > 0 && (id.Rank < 0 || id.Host == "") {
			id.fillFrom(other, "pid", id.PID)
		}
	}
	if id.Rank < 0 && id.LocalRank >= 0 && oneNode {
		id.Rank = id.LocalRank // on one node they are the same
	}
	for _, other := range j.files {
		if id.Rank < 0 && id.Device > 0 && oneNode { // who sees a second device sees all of the node
			id.Rank = j.rankByPlace(id, other)
		}
	}
	if id.Host == "" && id.Here && j.run.Launcher == "ray" {
		id.Host = f.driverHost()
	}
}

// completeFrom fills in what one input tells about a process, of which a record has this header.
func (j *job) completeFrom(f *file, id *identity, h *envelope.Header) {
	switch {
	case id.PID > 0:
		id.fillFrom(f, "pid", id.PID)
	case id.Rank >= 0:
		id.fillFrom(f, "rank", id.Rank)
		if id.PID <= 0 && h.Task >= 0 {
			id.fillFrom(f, "task", h.Task)
		}
		if id.PID <= 0 && j.oneNode() {
			id.fillFrom(f, "local", id.Rank)
		}
	}
	by, collected := h.Collected()
	if (id.PID <= 0 || id.PID == h.PID && f.isRelay(id.PID)) && id.Rank < 0 && f.Selves == 1 && collected && f.isSelf(by) {
		id.fill(f.Self) // the log of one process, which identifies itself
	}
}

// rankByPlace returns the rank of a process by its local rank or its device, or -1.
func (j *job) rankByPlace(id *identity, f *file) int {
	if id.LocalRank >= 0 {
		if n := f.rankOn(id.Host, id.LocalRank); n >= 0 {
			return n
		}
		node, per := j.number("NODE_RANK", "GROUP_RANK", "SLURM_NODEID"), j.number("NPROC_PER_NODE", "GPUS_PER_NODE", "LOCAL_WORLD_SIZE")
		if j.oneLog() && node >= 0 && id.LocalRank < per {
			return node*per + id.LocalRank
		}
	}
	if id.Device >= 0 && j.oneNode() && j.run.Launcher != "ray" { // whose actors may count their own devices
		// where every process sees all devices of the one node, a device has one rank, but another program on it has none
		have, ok := f.Identities[identKey{"device", strconv.Itoa(id.Device)}]
		if ok && !have.Mixed && (have.PID <= 0 || id.PID <= 0 || have.PID == id.PID || f.isShared(have.PID) || f.isShared(id.PID)) {
			return have.Rank
		}
	}
	return -1
}

// number returns the value of the first of these settings that was printed with a single number, or -1.
func (j *job) number(keys ...string) int {
	for _, key := range keys {
		v, ok := j.run.Config[key]
		if n, err := strconv.Atoi(v.Value); ok && err == nil && n >= 0 && len(v.Earlier) == 0 {
			return n
		}
	}
	return -1
}

// driverHost returns the address of the Ray driver's node, where processes without an address in their label run. Their
// addresses elsewhere in the log must agree.
func (f *file) driverHost() string {
	host := ""
	for k, id := range f.Identities {
		switch {
		case k.Kind != "pid" || !id.Here || id.Host == "" || id.Host == host:
		case host != "":
			return ""
		default:
			host = id.Host
		}
	}
	return host
}

// oneNode reports whether the job is known to run on one node.
func (j *job) oneNode() bool {
	return j.run.Nodes != nil && *j.run.Nodes == 1 || j.run.Nodes == nil && j.oneLog()
}

// oneLog reports whether the job's files are one log, which may have been rotated.
func (j *job) oneLog() bool { return len(j.files)-len(j.before) == 1 }

// onlyHost returns the host that the banners of these inputs name, if there is only one.
func onlyHost(files []*file) string {
	host := ""
	for _, f := range files {
		for _, m := range f.Launches {
			h := m.Fields["host"]
			if h == "" {
				continue
			}
			if host != "" && host != h {
				return ""
			}
			host = h
		}
	}
	return host
}

// rootFacts combines what is known about the root.
func (c *conclusion) rootFacts() Root {
	e := c.root
	fields := c.joined()
	if n, ok := c.srunTask(); ok {
		fields["task"] = strconv.Itoa(n) // the kernel's cgroup counts the tasks of one node
	}
	id := c.rootIdentity(fields)
	r := Root{
		At: e.At, Pattern: e.Pattern, Allocator: e.pattern.Allocator, Fields: fields, Time: e.Header.Time, Dated: e.dated(), Clock: e.Header.Clock, Host: id.Host, Rank: ptr(id.Rank), Device: ptr(id.Device),
		Process: e.Header.Process, Message: clean(e.Text, 2000), Trace: c.trace,
		Stream: e.Header.Stream, Tasks: c.processes(), Accelerator: e.accelerator(),
	}
	if id.PID > 0 {
		r.PID = &id.PID
	}
	switch {
	case e.Trace != nil && e.Trace.Origin != nil && e.Trace.Origin.Actor != "":
		r.Process = e.Trace.Origin.Actor
	case e.Kind == parser.OOMKill:
		r.Process = clean(fields["comm"], 80)
	}
	r.readFigures(fields)
	r.findItself()
	for _, x := range append([]*event{e}, c.evidence...) { // a kernel before 4.19 says on a line of its own what it killed
		if n, ok := resident(x); ok && r.ProcessBytes == nil && x.fields["pid"] == e.fields["pid"] {
			r.ProcessBytes = &n
		}
		if x.Kind == parser.NCCLOOM && strings.Contains(x.Header.Logger, "nvls") {
			fields["method"] = "nvls" // NCCL's src/transport/nvls.cc: the buffers of NVLink SHARP
		}
	}
	return r
}

// rootIdentity finds which process the root is about, from all of the job's logs.
func (c *conclusion) rootIdentity(fields parser.Fields) identity {
	e, j := c.root, c.job
	kill := e.Kind == parser.OOMKill
	probe := *e
	probe.fields, probe.Trace = fields, c.traceOfRoot()
	id := j.identify(&probe)
	if again := c.namedPrint(); again != nil {
		writer := j.identify(again)
		id.fill(&writer)
	}
	j.fillByFailure(&id, e)
	if kill && id.PID > 0 && (id.Rank < 0 || id.Host == "") || !kill && id.Host == "" {
		j.fillByLauncher(&id) // the kernel's log names a pid, the launcher's its rank
	}
	id.Host = cmp.Or(id.Host, j.hostOf(e, id.Rank))
	spawned := c.spawned()
	if id.LocalRank < 0 {
		id.LocalRank = spawned
	}
	if (e.pattern.Program.Name == "spawn" || spawned >= 0) && id.Rank < 0 && j.oneNode() {
		id.Rank = id.LocalRank // torch.multiprocessing.spawn counts the processes of one node
	}
	if kill && id.PID <= 0 {
		j.fillBySIGKILL(&id, e)
	}
	if kill && id.Rank < 0 && id.PID > 0 {
		id.Rank = j.parentRank(id.PID, e.Attempt)
	}
	if n, ok := fields.Int("task"); ok && kill && id.Rank < 0 && j.run.Launcher != "torchrun" && !j.index.elastic {
		id.Rank = j.taskOn(id.Host, int(n)) // srun names one task: its rank in the step
	}
	if id.Device < 0 && j.oneLog() { // where a process sees one device, that is its
		id.Device = j.number("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES")
	}
	if (e.Kind.Resource() != "gpu" || e.platform() == "TPU") && fields["device"] == "" && e.Header.Device < 0 {
		id.Device = -1 // a GPU of that process, or in a banner, does not matter here
	}
	return id
}

// spawned returns the number of the process that failed if torch.multiprocessing.spawn printed it above the root's traceback, otherwise
// -1.
func (c *conclusion) spawned() int {
	t := c.traceOfRoot()
	if t == nil {
		return -1
	}
	for _, e := range c.job.events {
		if e.file == c.root.file && e.Pattern == "spawn.exited" && (e.At.Line == t.Line || e.At.Line == t.Line-1) { // the traceback may begin with that line
			if n, ok := e.fields.Int("local_rank"); ok {
				return int(n)
			}
		}
	}
	return -1
}

// namedPrint returns another report of the root's failure that names the process if the root's line does not. It returns nil
// if there is none, or if two processes printed these figures. torchrun adds the rank to what a process raises last, and only to that.
func (c *conclusion) namedPrint() *event {
	e := c.root
	if (e.unlabelled() || isBelow(c.tracedBy.Header.Stream, e.Header.Stream)) && c.raisedAgain() {
		return c.tracedBy
	}
	var found *event
	for _, x := range c.evidence {
		if x.file != e.file || !isBelow(x.Header.Stream, e.Header.Stream) || e.fields["free"] == "" || !echo(e, x) {
			continue
		}
		if found != nil && found.Header.Stream != x.Header.Stream {
			return nil
		}
		found = x
	}
	return found
}

// isBelow reports whether a label extends all that another writer has.
func isBelow(stream, outer string) bool {
	return stream != outer && (outer == "" || strings.HasPrefix(stream, outer+"|"))
}

// raisedAgain reports whether the root is a bare line of a C++ library whose text the adopted traceback raises right after. If
// several processes printed that line, the owner of the traceback is unknown.
func (c *conclusion) raisedAgain() bool {
	e, by := c.root, c.tracedBy
	if by == e || by.file != e.file || by.Trace.Line <= e.At.Line || by.Trace.Line-e.At.Line > nearLines || !strings.HasSuffix(strings.TrimRight(by.Text, " "), "Error: "+strings.TrimRight(e.Text, " ")) {
		return false
	}
	return !slices.ContainsFunc(c.evidence, func(x *event) bool { return x != e && x.Text == e.Text })
}

// hostOf returns the node of the process that printed an event, according to other lines, or "".
func (j *job) hostOf(e *event, rank int) string {
	if e.Header.PID > 0 && !e.repeatsAWorker() {
		printer := newIdentity()
		printer.PID = e.Header.PID
		if j.complete(printer, e.file, &e.Header); printer.Host != "" {
			return printer.Host // a process and its parent share the host
		}
	}
	if h := j.srunHost(e, rank); h != "" {
		return h
	}
	if e.pattern.Launcher == "k8s" { // the description of one pod
		if h := onlyHost([]*file{e.file}); h != "" {
			return h
		}
	}
	if j.run.Nodes == nil || *j.run.Nodes <= 1 {
		return onlyHost(j.files)
	}
	return ""
}

// parentRank returns the rank of the process that lost a child, or -1: data loaders name the pids of their workers.
func (j *job) parentRank(pid, attempt int) int {
	for _, x := range j.index.withPID {
		if n, ok := x.fields.Int("pid"); ok && int(n) == pid && x.Attempt == attempt && x.Header.Rank >= 0 && x.Header.PID != pid {
			return x.Header.Rank
		}
	}
	return -1
}

// sameWriter reports whether two events of one input have the same envelope and so come from one process.
func sameWriter(a, b *event) bool {
	return a.file == b.file && a.Header.Stream == b.Header.Stream && a.Header.PID == b.Header.PID
}

// traceOfRoot returns the adopted trace if it is from the root's process.
func (c *conclusion) traceOfRoot() *traceback.Trace {
	if c.tracedBy == c.root || echo(c.root, c.tracedBy) {
		return c.trace
	}
	return nil
}

// ptr returns a pointer to a known number, nil for an unknown one.
func ptr(n int) *int {
	if n < 0 {
		return nil
	}
	return &n
}

// maxLabel bounds the label that a program of a user's own puts before a failure's message.
const maxLabel = 100

// messageBegins is where the message begins behind it.
var messageBegins = lazyre.New(`\b(?:[\w.]{0,80}(?:Error|Exception)\b|(?:CUDA|HIP|NPU|XPU)\b|[Oo]ut of memory|OOM\b)`)

// fillByOwnLabel reads rank and pid in a label before the message, of a form that no line prefix is known for.
func (id *identity) fillByOwnLabel(e *event) {
	if e.Role != parser.Evidence || e.Trace != nil && e.Trace.Origin != nil {
		return
	}
	at := messageBegins().FindStringIndex(e.Text[:min(len(e.Text), 2*maxLabel)])
	if at == nil || at[0] > maxLabel {
		return
	}
	label := strings.TrimRight(e.Text[:at[0]], " ")
	if label == "" || !strings.ContainsRune(":|]>)}", rune(label[len(label)-1])) {
		return
	}
	h := envelope.NewHeader()
	envelope.ReadLabel(&h, []byte(label))
	if id.Rank < 0 {
		id.Rank = h.Rank
	}
	if id.PID <= 0 && h.PID > 0 {
		id.PID = h.PID
	}
}
