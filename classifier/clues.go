package classifier

import (
	"maps"
	"slices"
	"strconv"

	"oomscan/parser"
)

// Clues identify the job that wrote a log, so that callers can group logs by job.
type Clues struct {
	// Jobs are the ids that the scheduler gave the writer, as it, its shell or Slurm's step daemon print them: sorted,
	// without steps and leading zeros. None when the log names more than a few: then those are others' jobs.
	Jobs []string
	// Hosts are the nodes that the log names as its own, sorted.
	Hosts []string
	// Ranks are the global ranks that wrote it or that it names, sorted.
	Ranks []int
	// PIDs are processes that the log names, sorted.
	PIDs []int
	// Node is set where the log is a node's or a scheduler's and not a job's: its events may be about any job there.
	Node bool
	// Head is set where a run begins or is driven: a training framework introduces itself, or steps are counted.
	Head bool
}

// maxOwnJobs is how many jobs one run may have been given: AReaL submits its servers and its trainers apart, and names
// both.
const maxOwnJobs = 4

// maxCluePIDs bounds the processes of one log: a node of a job runs some dozens.
const maxCluePIDs = 1024

// Clues returns the clues in the logs that were added so far. Call it before logs are merged.
func (c *Collector) Clues() Clues {
	var out Clues
	jobs, hosts, ranks, pids := map[string]bool{}, map[string]bool{}, map[int]bool{}, map[int]bool{}
	about, own := 0, 0 // events of a node's programs, and of a job's
	for _, f := range c.files {
		for i := range f.Launches {
			fields := f.Launches[i].Fields
			jobs[jobOf(fields)] = true
			hosts[fields["host"]] = true
			out.Head = out.Head || fields["framework"] != "" || fields["world_size"] != ""
		}
		for _, e := range f.Events {
			if e.pattern.Node {
				about++
				continue
			}
			if e.pattern.Scheduler == "slurm" {
				jobs[jobOf(e.Fields)] = true
			}
			if e.Role != parser.Context {
				own++
			}
		}
		for k, id := range f.Identities {
			hosts[id.Host] = true
			if k.Kind == "rank" && !id.Mixed && id.Rank >= 0 {
				ranks[id.Rank] = true
			}
			if k.Kind == "pid" && id.PID > 0 {
				pids[id.PID] = true
			}
		}
		out.Head = out.Head || f.LastStep >= 0 || f.Steps > 0 || len(f.Done) > 0
	}
	out.Node = about > 0 && own == 0 && !out.Head
	delete(jobs, "")
	delete(hosts, "")
	if len(jobs) <= maxOwnJobs {
		out.Jobs = slices.Sorted(maps.Keys(jobs))
	}
	out.Hosts, out.Ranks, out.PIDs = slices.Sorted(maps.Keys(hosts)), slices.Sorted(maps.Keys(ranks)), slices.Sorted(maps.Keys(pids))
	out.PIDs = slices.Clip(out.PIDs[:min(len(out.PIDs), maxCluePIDs)])
	return out
}

// Victim is the process or job that an event in a node's log is about, as far as the line names it. Empty and 0 are unknown.
type Victim struct {
	Job  string // the scheduler's id
	PID  int
	Host string
}

// Deal splits logs of several jobs. For each event, owner names the job that it is about, as a place in the
// caller's list, or a negative number; it is only called for events that name a job or a process. What belongs to such an
// event (details of the same kill) goes with it. The second result has everything without an owner. Both share what they
// hold with c, which must not be added to afterwards.
func (c *Collector) Deal(owner func(Victim) int) (dealt map[int]*Collector, rest *Collector) {
	dealt, rest = map[int]*Collector{}, NewCollector()
	for name, f := range c.files {
		to := f.owners(owner)
		shares := map[int][]*event{}
		for i, e := range f.Events {
			shares[to[i]] = append(shares[to[i]], e)
		}
		for place, events := range shares {
			if place < 0 {
				continue
			}
			if dealt[place] == nil {
				dealt[place] = NewCollector()
			}
			share := dealt[place].file(name)
			share.Events, share.Identities = events, f.Identities
			share.LastTime, share.Clock = f.LastTime, f.Clock
		}
		left := *f
		left.Events = shares[nobody]
		rest.files[name] = &left
	}
	return dealt, rest
}

// nobody is the owner of an event that belongs to no job.
const nobody = -1

// owners returns the owner of each event of a log.
func (f *file) owners(owner func(Victim) int) []int {
	to := make([]int, len(f.Events))
	byPID := map[string]int{} // a kill is reported in several lines, one of which names the job
	for i, e := range f.Events {
		to[i] = nobody
		if v := (Victim{Job: jobOf(e.Fields), Host: e.Header.Host}); v.Job != "" {
			to[i] = owner(v)
		}
		if pid := e.Fields["pid"]; pid != "" && to[i] != nobody {
			byPID[pid] = to[i]
		}
	}
	for i, e := range f.Events {
		pid := e.Fields["pid"]
		if to[i] != nobody || pid == "" || jobOf(e.Fields) != "" {
			continue
		}
		if place, ok := byPID[pid]; ok {
			to[i] = place
		} else if n, err := strconv.Atoi(pid); err == nil && n > 0 {
			to[i] = owner(Victim{PID: n, Host: e.Header.Host})
		}
	}
	at := map[*event]int{}
	for i, e := range f.Events {
		at[e] = i
	}
	for i, e := range f.Events {
		if to[i] == nobody && e.Role == parser.Detail {
			whose := ownerOf(f.Events, e)
			if pid := e.Fields["pid"]; whose != nil && (pid == "" || pid == whose.Fields["pid"]) {
				to[i] = to[at[whose]]
			}
		}
	}
	return to
}
