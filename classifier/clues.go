package classifier

import (
	"maps"
	"slices"

	"oomscan/parser"
)

// Clues are what a log tells about the job that wrote it, for those who sort logs by jobs.
type Clues struct {
	// Jobs are the ids that the scheduler gave the writer, as it, its shell or Slurm's step daemon print them: sorted,
	// without steps and leading zeros. None when the log tells of more than a few: then it speaks of others' jobs.
	Jobs []string
	// Hosts are the nodes that the log names as its own, sorted.
	Hosts []string
	// Ranks are the global ranks that wrote it or that it tells of, sorted.
	Ranks []int
	// PIDs are processes that the log tells of, sorted.
	PIDs []int
	// Node says that the log is a node's or a scheduler's and not a job's: what it tells may be about any job there.
	Node bool
	// Head says that a run begins or is driven here: a training framework introduces itself, or steps are counted.
	Head bool
}

// maxOwnJobs is how many jobs one run may have been given: AReaL submits its servers and its trainers apart, and tells of
// both.
const maxOwnJobs = 4

// maxCluePIDs bounds the processes of one log: a node of a job runs some dozens.
const maxCluePIDs = 1024

// Clues tells what the logs that were added so far say of their job. Ask before logs are merged.
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
