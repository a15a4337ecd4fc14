package classifier

import (
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
	jobs, hosts, ranks := map[string]bool{}, map[string]bool{}, map[int]bool{}
	node, own := 0, 0
	for _, f := range c.files {
		for i := range f.Launches {
			m := &f.Launches[i]
			if j := jobOf(m.Fields); j != "" {
				jobs[j] = true
			}
			if m.Fields["framework"] != "" || m.Fields["world_size"] != "" {
				out.Head = true
			}
			if h := m.Fields["host"]; h != "" {
				hosts[h] = true
			}
		}
		for _, e := range f.Events {
			if factsOf(e.Pattern).ofNode {
				node++
				continue
			}
			if e.Role != parser.Context {
				own++
			}
			if factsOf(e.Pattern).program == "slurm" {
				if j := jobOf(e.Fields); j != "" {
					jobs[j] = true
				}
			}
		}
		for k, id := range f.Identities {
			if k.Kind == "rank" && !id.Mixed && id.Rank >= 0 {
				ranks[id.Rank] = true
			}
			if id.Host != "" {
				hosts[id.Host] = true
			}
			if k.Kind == "pid" && id.PID > 0 {
				out.PIDs = append(out.PIDs, id.PID)
			}
		}
		if f.LastStep >= 0 || f.Steps > 0 || len(f.Done) > 0 {
			out.Head = true
		}
	}
	out.Node = node > 0 && own == 0 && !out.Head
	if len(jobs) <= maxOwnJobs {
		for j := range jobs {
			out.Jobs = append(out.Jobs, j)
		}
	}
	for h := range hosts {
		out.Hosts = append(out.Hosts, h)
	}
	for r := range ranks {
		out.Ranks = append(out.Ranks, r)
	}
	slices.Sort(out.Jobs)
	slices.Sort(out.Hosts)
	slices.Sort(out.Ranks)
	slices.Sort(out.PIDs)
	out.PIDs = slices.Compact(out.PIDs)
	out.PIDs = slices.Clip(out.PIDs[:min(len(out.PIDs), maxCluePIDs)])
	return out
}
