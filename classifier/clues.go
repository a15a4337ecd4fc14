package classifier

import (
	"maps"
	"slices"

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
