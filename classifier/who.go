package classifier

import (
	"strconv"
	"strings"

	"oomscan/parser"
	"oomscan/parser/traceback"
)

// who tells which process an event is about, joining what its own line says with what the job's other lines say of
// the same process. Unknown numbers are -1, an unknown host is "".
func (j *job) who(e *event) identity {
	id := identity{rank: e.Header.Rank, localRank: e.Header.LocalRank, device: -1, pid: -1, host: e.Header.Host}
	if t := e.Trace; t != nil && t.Origin != nil && t.Origin.PID > 0 {
		// a remote traceback printed by somebody else: the label is the printer's, the header the failing process's
		id = identity{rank: t.Origin.Rank, localRank: -1, device: -1, pid: t.Origin.PID, host: t.Origin.IP}
	} else if e.Header.PID > 0 && e.Kind != parser.OOMKill {
		id.pid = e.Header.PID // who reports a kill is not who was killed
	}
	for _, t := range []struct {
		key string
		to  *int
	}{{"rank", &id.rank}, {"local_rank", &id.localRank}, {"device", &id.device}, {"pid", &id.pid}} {
		if n, ok := e.fields.Int(t.key); ok && (*t.to < 0 || t.key == "pid" && (e.Kind == parser.OOMKill || e.Kind == parser.SHMExhausted)) {
			*t.to = int(n)
		}
	}
	if id.device < 0 {
		id.device = e.Header.Device
	}
	for _, k := range []string{"host", "node"} {
		if h := e.fields[k]; h != "" && (id.host == "" || e.Kind == parser.OOMKill) {
			id.host = h
			break
		}
	}
	if id.rank < 0 && j.bareEngine() {
		id.rank = e.Header.TP
	}
	if id.rank < 0 && e.Header.Task >= 0 && e.Kind != parser.OOMKill && j.run.Launcher != "ray" && !j.elastic() {
		id.rank = e.Header.Task // srun or mpirun started the process itself: the number of its task is the rank
	}
	if id.host == "" && e.Header.Parent > 0 {
		actor := identity{rank: -1, localRank: -1, device: -1, pid: e.Header.Parent}
		actor.ask(e.file, "pid", actor.pid)
		id.host = actor.host // an actor and its children share the host
	}
	if have, ok := e.file.idents[identKey{"stream", e.Header.Stream}]; ok && id.rank < 0 && !have.mixed && e.Header.Stream != "" {
		id.rank = have.rank
	}
	if id.pid <= 0 && e.Header.Process != "" && e.Kind != parser.OOMKill {
		for _, f := range j.files {
			id.labelled(f, e.Header.Process)
		}
	}
	j.complete(&id, e.file, e.Header.Task)
	if id.rank < 0 && j.bareEngine() {
		id.rank = id.engine - 1
	}
	return id
}

// bareEngine says that the job is an inference server: its tensor-parallel rank is the rank.
func (j *job) bareEngine() bool {
	return j.run.Framework == "sglang" || j.run.Framework == "vllm"
}

// complete fills in what the log says elsewhere of the process with that pid or rank.
func (j *job) complete(id *identity, f *file, task int) {
	look := func(f *file) {
		switch {
		case id.pid > 0:
			id.ask(f, "pid", id.pid)
		case id.rank >= 0:
			id.ask(f, "rank", id.rank)
			if id.pid <= 0 && task >= 0 {
				id.ask(f, "task", task)
			}
			if id.pid <= 0 && j.oneNode() {
				id.ask(f, "local", id.rank)
			}
		}
	}
	look(f)
	if id.pid <= 0 && id.rank < 0 && f.selves == 1 {
		id.fill(*f.self) // the log of one process, which told who it is
	}
	if id.pid <= 0 && id.rank < 0 && id.device >= 0 && id.host != "" {
		// where every process of a node sees all of its devices, their numbers are the local ranks
		if have, ok := f.idents[seat(id.host, id.device)]; ok && !have.mixed {
			id.fill(*have)
		}
	}
	if id.rank < 0 && id.localRank >= 0 && id.host != "" {
		id.rank = f.rankOn(id.host, id.localRank)
	}
	if id.rank < 0 && id.device >= 0 && j.oneNode() {
		// where every process sees all devices of the one node, a device has one rank
		if have, ok := f.idents[identKey{"device", strconv.Itoa(id.device)}]; ok && !have.mixed {
			id.rank = have.rank
		}
	}
	for _, other := range j.files {
		if other != f && id.pid > 0 && (id.rank < 0 || id.host == "") {
			look(other)
		}
	}
	if id.rank < 0 && id.localRank >= 0 && j.run.Nodes != nil && *j.run.Nodes == 1 {
		id.rank = id.localRank // on one node they are the same
	}
	if id.host == "" && id.here && j.run.Launcher == "ray" {
		id.host = f.driverHost()
	}
}

// driverHost is the address of the node of the Ray driver that wrote an input: that of any process whose label names
// none, told elsewhere, when all that are told agree.
func (f *file) driverHost() string {
	host := ""
	for k, id := range f.idents {
		switch {
		case k.kind != "pid" || !id.here || id.host == "" || id.host == host:
		case host != "":
			return ""
		default:
			host = id.host
		}
	}
	return host
}

// oneNode says that the job is known to run on one node.
func (j *job) oneNode() bool {
	return j.run.Nodes != nil && *j.run.Nodes == 1 || j.run.Nodes == nil && len(j.files) == 1
}

// onlyHost is the host that the banners of some inputs name, if they name one.
func onlyHost(files []*file) string {
	host := ""
	for _, f := range files {
		for _, m := range f.launches {
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

// rootFacts joins what is known of the root.
func (c *cluster) rootFacts() Root {
	e := c.root
	fields := c.joined()
	probe := *e
	probe.fields, probe.Trace = fields, c.rootTrace()
	id := c.job.who(&probe)
	c.job.launcher(&id, e)
	if e.Kind == parser.OOMKill && id.pid > 0 && (id.rank < 0 || id.host == "") || e.Kind != parser.OOMKill && id.host == "" {
		c.job.named(&id) // the kernel's log names a pid, the launcher's its rank
	}
	if id.host == "" && e.Header.PID > 0 {
		printer := identity{rank: -1, localRank: -1, device: -1, pid: e.Header.PID}
		c.job.complete(&printer, e.file, -1)
		id.host = printer.host // a process and its parent share the host
	}
	if id.host == "" {
		id.host = c.job.srunHost(e, id.rank)
	}
	if id.host == "" && strings.HasPrefix(e.Pattern, "kubernetes.") {
		id.host = onlyHost([]*file{e.file}) // the description of one pod
	}
	if id.host == "" && (c.job.run.Nodes == nil || *c.job.run.Nodes <= 1) {
		id.host = onlyHost(c.job.files)
	}
	if strings.HasPrefix(e.Pattern, "spawn.") && id.rank < 0 && c.job.oneNode() {
		id.rank = id.localRank // torch.multiprocessing.spawn counts the processes of one node
	}
	if e.Kind == parser.OOMKill && id.pid <= 0 {
		c.job.shot(&id, e)
	}
	if e.Kind == parser.OOMKill && id.rank < 0 && id.pid > 0 {
		id.rank = c.job.parentRank(id.pid, e.attempt)
	}
	if n, ok := c.srunTask(); ok {
		fields["task"] = strconv.Itoa(n) // the kernel's cgroup counts the tasks of one node
	}
	if n, ok := fields.Int("task"); ok && id.rank < 0 && e.Kind == parser.OOMKill && c.job.run.Launcher != "torchrun" && !c.job.elastic() {
		id.rank = int(n) // srun names one task: its rank in the step
	}
	if (resource(e.Kind) != "gpu" || device(e) == "TPU") && fields["device"] == "" && e.Header.Device < 0 {
		id.device = -1 // that the process has a GPU, too, or that a banner names one, is beside the point
	}
	r := Root{
		At: e.At, Time: e.Header.Time, Clock: e.Header.Clock, Host: id.host, Rank: ptr(id.rank), Device: ptr(id.device),
		Process: e.Header.Process, Message: clean(e.Text, 2000), Pattern: e.Pattern, Trace: c.trace,
		Stream: e.Header.Stream, Tasks: tasks(fields["tasks"]),
	}
	if id.pid > 0 {
		r.PID = &id.pid
	}
	switch {
	case e.Trace != nil && e.Trace.Origin != nil && e.Trace.Origin.Actor != "":
		r.Process = e.Trace.Origin.Actor
	case e.Kind == parser.OOMKill:
		r.Process = clean(fields["comm"], 80)
	}
	ownProcess(fields)
	rawLimit(fields)
	for _, t := range []struct {
		key string
		to  **int64
	}{
		{"requested", &r.Requested},
		{"total", &r.Total},
		{"free", &r.Free},
		{"allocated", &r.Allocated},
		{"reserved_unallocated", &r.ReservedUnallocated},
		{"process", &r.ProcessBytes},
		{"others", &r.OtherProcesses},
		{"limit", &r.Limit},
		{"reserved", &r.Reserved},
		{"used", &r.Used},
		{"anon", &r.Anon},
		{"file", &r.File},
		{"shmem", &r.Shmem},
	} {
		if n, ok := fields.Int(t.key); ok {
			*t.to = &n
		}
	}
	if n, ok := resident(e); ok && r.ProcessBytes == nil {
		r.ProcessBytes = &n
	}
	return r
}

// tasks reads the rows that the parser took from the kernel's table.
func tasks(rows string) []Task {
	var out []Task
	for row := range strings.Lines(rows) {
		p := strings.SplitN(strings.TrimRight(row, "\n"), " ", 3)
		if len(p) != 3 {
			continue
		}
		pid, err1 := strconv.Atoi(p[0])
		rss, err2 := strconv.ParseInt(p[1], 10, 64)
		if err1 == nil && err2 == nil && rss > 0 {
			out = append(out, Task{PID: pid, Name: clean(p[2], 60), RSS: rss})
		}
	}
	return out
}

// parentRank is the rank of the process that missed a child of its own, -1 when none says so: data loaders name the
// pids of their workers.
func (j *job) parentRank(pid, attempt int) int {
	for _, x := range j.index.withPID {
		if n, ok := x.fields.Int("pid"); ok && int(n) == pid && x.attempt == attempt && x.Header.Rank >= 0 && x.Header.PID != pid {
			return x.Header.Rank
		}
	}
	return -1
}

// resident is what a killed process held in memory, by the kernel's own words about it.
func resident(e *event) (int64, bool) {
	if e.Kind != parser.OOMKill {
		return 0, false
	}
	sum, known := e.fields.Int("anon_rss")
	for _, k := range []string{"file_rss", "shmem_rss"} {
		n, _ := e.fields.Int(k)
		sum += n
	}
	return sum, known && sum > 0
}

// sameWriter says that two events of one input come from one process, as far as their envelopes tell.
func sameWriter(a, b *event) bool {
	return a.file == b.file && a.Header.Stream == b.Header.Stream && a.Header.PID == b.Header.PID
}

// rootTrace is the adopted trace when it tells of the same process as the root.
func (c *cluster) rootTrace() *traceback.Trace {
	if c.traced == c.root || echo(c.root, c.traced) {
		return c.trace
	}
	return nil
}

// joined are the root's fields, completed: for a kill by every other report of the kill, else by further prints of
// the same failure.
func (c *cluster) joined() parser.Fields {
	out := parser.Fields{}
	for k, v := range c.root.fields {
		out[k] = v
	}
	take := func(e *event) {
		for k, v := range e.fields {
			if _, ok := out[k]; !ok {
				out[k] = v
			}
		}
	}
	for _, e := range c.evidence {
		if e == c.root {
			continue
		}
		beside := e.Kind == c.root.Kind && out["requested"] == "" && sameWriter(c.root, e) && e.At.Line-c.root.At.Line <= nearLines
		if c.root.Kind == parser.OOMKill && e.Kind == parser.OOMKill || echo(c.root, e) || beside || reprint(c.root, e) {
			take(e)
		}
		if c.root.Kind == parser.SHMExhausted && e.Kind == parser.SHMExhausted && out["pid"] == "" && e.fields["pid"] != "" {
			out["pid"] = e.fields["pid"] // the worker that died, as its parent names it
		}
	}
	if c.root.Kind == parser.OOMKill {
		for _, e := range c.job.index.suspected {
			if e.attempt == c.root.attempt {
				take(e)
			}
		}
	}
	return out
}

// reprint says that b prints once more, right behind it, what a printed, and tells the device, which a does not.
func reprint(a, b *event) bool {
	f := b.figures
	f.device = ""
	return a.Kind == b.Kind && f.requested != "" && f == a.figures && sameWriter(a, b) && b.At.Line > a.At.Line && b.At.Line-a.At.Line <= nearLines
}

// ownProcess reads a message that lists one process and does not call it "this process": inside a container the
// driver's pids mean nothing to PyTorch, and the one listed is this process itself when it holds all that PyTorch
// counts in it.
func ownProcess(f parser.Fields) {
	others, ok := f.Int("others")
	allocated, known := f.Int("allocated")
	if !ok || !known || f["gpu_pid"] == "" || f["process"] != "" {
		return
	}
	unallocated, _ := f.Int("reserved_unallocated")
	if others+1<<28 >= allocated+unallocated {
		f["process"] = f["others"]
		delete(f, "others")
	}
}

// rawLimit reads the limit of a Slurm of 14.11 to 20.02, which prints it without its unit: KB up to 17.11, bytes since
// 18.08. Only one of the two is a memory limit that anybody sets, except between 1 and 4 GiB of bytes.
func rawLimit(f parser.Fields) {
	n, ok := f.Int("limit_raw")
	switch {
	case !ok || f["limit"] != "":
	case n >= 1<<32:
		f["limit"] = strconv.FormatInt(n, 10)
	case n > 0 && n < 1<<30:
		f["limit"] = strconv.FormatInt(n<<10, 10)
	}
}

// ptr returns a pointer to a known number, nil for an unknown one.
func ptr(n int) *int {
	if n < 0 {
		return nil
	}
	return &n
}
