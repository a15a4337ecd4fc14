package classifier

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/lazyre"
)

// failure is what a launcher says about a process that ended.
type failure struct {
	identity
	line  int
	first bool   // the launcher calls it the first
	when  string // when the launcher noticed, as it prints it: in order of time when compared as texts
	exit  int    // exit status, negative: killed by that signal
	by    int    // the pid in front of the launcher's own line
}

// mayBeKilled reports whether a process can have died of SIGKILL: one that exits by itself has not.
func (x *failure) mayBeKilled() bool { return x.exit <= 0 || x.exit == 128+9 }

// failures are torchrun's words in one input and attempt: the summary joined with the one-line reports.
func (j *job) failures(f *file, attempt int) []failure { return j.index.failed[run{f, attempt}] }

// appendFailure adds a launcher's report to its earlier ones.
func appendFailure(out []failure, e *event) []failure {
	id := identityIn(e.fields)
	if e.fields["itself"] != "" { // the process itself reports its end
		id.PID, id.Host = e.Header.PID, e.Header.Host
	}
	x := failure{identity: *id, line: e.At.Line, first: e.fields["first"] != "", when: e.fields["time"], by: e.Header.PID}
	if n, ok := e.fields.Int("exitcode"); ok {
		x.exit = int(n)
	}
	i := slices.IndexFunc(out, func(y failure) bool { return y.PID == x.PID && x.PID > 0 })
	if i < 0 {
		return append(out, x)
	}
	out[i].fill(id)
	out[i].first = out[i].first || x.first
	out[i].when = cmp.Or(out[i].when, x.when)
	return out
}

// fillByFailure completes an identity with what torchrun says: by pid, by global rank, by local rank (the ordinal of the
// device when all of a node's devices are visible), or, when it names one failed process, by that.
func (j *job) fillByFailure(id *identity, e *event) {
	j.fillFrom(id, j.failureOf(id, e))
}

// fillFrom completes an identity with what a launcher says about one process, if anything.
func (j *job) fillFrom(id *identity, hit *failure) {
	if hit == nil {
		return
	}
	one := hit.identity
	if one.Rank < 0 && j.oneNode() {
		one.Rank = one.LocalRank
	}
	id.fill(&one)
}

// diedEarlier reports whether a's process ended before b's, by the logs of their nodes' launchers, which have no other times.
func (j *job) diedEarlier(a, b *event) bool {
	if a.file == b.file || !a.Header.Time.IsZero() || !b.Header.Time.IsZero() {
		return false
	}
	ta, tb := j.noticed(a), j.noticed(b)
	return ta != "" && tb != "" && ta < tb
}

// noticed returns when a launcher noticed the end of the process that printed an event, or "".
func (j *job) noticed(e *event) string {
	id := identity{Rank: e.Header.Rank, LocalRank: e.Header.LocalRank, Device: e.Header.Device, PID: e.Header.PID}
	if n, ok := e.fields.Int("device"); ok {
		id.Device = int(n)
	}
	if hit := j.failureOf(&id, e); hit != nil {
		return hit.when
	}
	return ""
}

// isLauncher reports whether the pid in front of an event's line is that of a launcher, which prints what its processes write.
func (j *job) isLauncher(e *event) bool {
	return slices.ContainsFunc(j.failures(e.file, e.Attempt), func(x failure) bool {
		return x.by == e.Header.PID && x.by > 0 && x.PID != x.by
	})
}

// failureOf finds what a launcher says about a process.
func (j *job) failureOf(id *identity, e *event) *failure {
	fs := j.failures(e.file, e.Attempt)
	var hit *failure
	for i := range fs {
		x := &fs[i]
		switch {
		case id.PID > 0 && x.PID == id.PID, id.Rank >= 0 && x.Rank == id.Rank:
			hit = x
		case hit != nil || id.PID > 0: // a local rank says less
		case id.Rank >= 0 && x.Rank < 0 && x.LocalRank == id.Rank,
			id.Rank < 0 && id.Device >= 0 && (x.LocalRank == id.Device || x.LocalRank < 0 && x.Rank == id.Device && j.oneNode()):
			hit = x
		}
	}
	if hit == nil && len(fs) == 1 && id.PID <= 0 && id.Rank < 0 && id.Device < 0 && (e.Kind != parser.OOMKill || fs[0].mayBeKilled()) {
		hit = &fs[0]
	}
	return hit
}

// fillBySIGKILL completes the victim of a kill with the only process that torchrun saw die of SIGKILL just before.
func (j *job) fillBySIGKILL(id *identity, e *event) {
	var hit *failure
	for attempt := max(0, e.Attempt-1); attempt <= e.Attempt; attempt++ {
		fs := j.failures(e.file, attempt)
		for i := range fs {
			if near := e.At.Line - fs[i].line; fs[i].exit == -9 && near < 60 && near > -60 {
				if hit != nil && hit.PID != fs[i].PID {
					return
				}
				hit = &fs[i]
			}
		}
	}
	j.fillFrom(id, hit)
}

// fillByLauncher completes an identity with what any launcher of the job says about its pid or rank: agents write their own
func (j *job) fillByLauncher(id *identity) {
	for _, x := range j.index.launched {
		if x.PID == id.PID && x.PID > 0 || id.PID <= 0 && x.Rank == id.Rank && x.Rank >= 0 {
			id.fill(&x.identity)
		}
	}
}

// ofProcess matches the path of a file in which a launcher keeps what one process writes: torchrun's by the restart and the local rank
// (torch/distributed/elastic/multiprocessing/api.py), those of Open MPI and Horovod (--output-filename) by the rank.
var ofProcess = lazyre.New(`(?:^|[/!])(?:attempt_\d{1,4}/(\d{1,5})/(?:filtered_)?std(?:out|err)\.log|rank\.(\d{1,6})/std(?:out|err))(?:\.(?:gz|zst|xz|bz2|lz4))*$`)

// fillByPath completes an identity with what the path of a launcher's file for one process says, and with the only rank that lines in it name.
func (i *identity) fillByPath(f *file) {
	m := ofProcess().FindStringSubmatch(f.Name)
	if m == nil {
		return
	}
	if n, err := strconv.Atoi(m[1]); err == nil && i.LocalRank < 0 {
		i.LocalRank = n
	}
	if n, err := strconv.Atoi(m[2]); err == nil && i.Rank < 0 {
		i.Rank = n
	}
	if i.Rank < 0 {
		i.Rank = f.onlyRank()
	}
}

// fillByTwin completes an identity with what the process says of itself in the log of its other stream, as submitit and scripts of Slurm keep them:
// 81_3_log.out and 81_3_log.err, stdout.log and stderr.log. The log of a node may hold what one of its ranks says of itself, too, so each rank has
// to have a log.
func (j *job) fillByTwin(id *identity, f *file, h *envelope.Header) {
	if f.Selves > 0 || id.PID > 0 || id.Rank >= 0 {
		return
	}
	ranks := map[int]bool{}
	for _, g := range j.files {
		if g.Selves == 1 && g.Self.Rank >= 0 {
			ranks[g.Self.Rank] = true
		}
	}
	out, err := otherStream(f.Name, "err", "out"), otherStream(f.Name, "out", "err")
	for _, twin := range j.files {
		if (twin.Name == out || twin.Name == err) && twin.Selves == 1 && twin.Self.Group == len(ranks) {
			j.completeFrom(twin, id, h)
		}
	}
}

// otherStream is the name of a log with another word for its stream, empty where it has none.
func otherStream(name, stream, other string) string {
	at := strings.LastIndex(name, stream)
	if at <= strings.LastIndexAny(name, "/!") {
		return ""
	}
	return name[:at] + other + name[at+len(stream):]
}

// onlyRank returns the rank that an input names, -1 if it names none or several.
func (f *file) onlyRank() int {
	rank := -1
	for key, id := range f.Identities {
		switch {
		case key.Kind != "rank":
		case rank >= 0 || id.Mixed:
			return -1
		default:
			rank = id.Rank
		}
	}
	return rank
}

// srunHost returns the node on which the event's task ended, according to srun: `srun: error: n031: task 2: Exited with ...`, or
// several tasks of one node on one line.
func (j *job) srunHost(e *event, rank int) string {
	task := e.Header.Task
	if task < 0 {
		task = rank
	}
	for _, x := range j.index.slurm {
		if task >= 0 && x.Attempt == e.Attempt && listed(x.fields["task"], task) && !strings.ContainsAny(x.fields["node"], "[,") {
			return x.fields["node"]
		}
	}
	return ""
}

// taskOn returns which task was killed on a host: the one that the kernel's control group has in its name, unless srun names others there,
// because the group may count the tasks of the node. It is -1 where srun names several.
func (j *job) taskOn(host string, task int) int {
	killed, lines := -1, 0
	for _, x := range j.index.slurm {
		switch n, err := strconv.Atoi(x.fields["task"]); {
		case host == "" || x.fields["node"] != host:
		case listed(x.fields["task"], task):
			return task
		case x.fields["signal"] == "Killed":
			lines++
			if killed = n; err != nil || lines > 1 {
				killed = -1
			}
		}
	}
	if lines == 0 {
		return task
	}
	return killed
}

// listed reports whether a number is in a list as Slurm writes it: "3,10-11".
func listed(list string, n int) bool {
	for part := range strings.SplitSeq(list, ",") {
		from, to, ranged := strings.Cut(part, "-")
		lo, err := strconv.Atoi(from)
		hi, err2 := lo, error(nil)
		if ranged {
			hi, err2 = strconv.Atoi(to)
		}
		if err == nil && err2 == nil && lo <= n && n <= hi {
			return true
		}
	}
	return false
}

// srunTask returns the only task of the step that ran out of memory, according to srun.
func (c *cluster) srunTask() (int, bool) {
	for _, e := range c.evidence {
		if n, err := strconv.Atoi(e.fields["task"]); err == nil && e.Role == parser.Evidence && e.pattern.Scheduler == "slurm" {
			return n, true
		}
	}
	return 0, false
}
