// Package jobs groups logs by job, from their names, their folders and clues in their contents. It reads no files.
//
// Logs are one job unless there is a reason to separate them. The reasons are, in this order: job ids in the names of files
// and folders, ids that the scheduler wrote into the logs, and folders that contain a run each. Folders of ranks, nodes,
// roles and attempts are part of a run, and so are Ray's sessions and torchrun's attempts. Tasks of an array are separate
// jobs; the components of a heterogeneous job and the attempts of a requeued one are one job.
package jobs

import (
	"slices"
	"strings"

	"oomscan/classifier"
)

// Log is a file or a member of an archive.
type Log struct {
	Name  string            // as given; unique
	Clues *classifier.Clues // nil: none
}

// Job is one run.
type Job struct {
	Name string // the scheduler's id, else the folder, else the log; unique among jobs
	ID   string // the scheduler's id, with the array's task; empty if unknown
	Why  string // why these logs belong together, as part of a sentence
	Logs []int  // sorted indexes into the given list
	// Aliases are other ids of this job: for an array's task, the one that the kernel knows.
	Aliases []string
	// Series is the name that this job's files share with other submissions of the same work, without the id. Empty
	// if there is only the scheduler's default.
	Series string
	// Among is set for a log that belongs to none or several jobs, such as a node's or a scheduler's. It lists the
	// indexes of the jobs that it may be about. Such a log is no job itself.
	Among []int
}

// Group groups logs by jobs. Jobs are sorted by name, with numbers by value, and shared logs follow. The result
// depends on the names and clues, not on the order of the logs.
func Group(logs []Log) []Job {
	g := grouper{logs: logs, root: &folder{}}
	g.buildTree()
	g.groupFolder(g.root)
	g.join()
	return g.jobs()
}

// Values of [Job.Why].
const (
	// ByName: the file names contain the same job id.
	ByName    = "job id in the file names"
	whyDir    = "job id of the folder"
	whyLog    = "job id in the logs"
	whyFolder = "folder"
	whyRest   = "the rest of the folder"
	whyNodes  = "logs of nodes only"
	whyShared = "a log that several jobs share"
)

// entry is a log and what its name says.
type entry struct {
	*classifier.Clues
	i      int
	name   string
	base   string
	id     ident
	folder *folder
}

// group is an unfinished job.
type group struct {
	key     string // id with task; empty if unknown
	why     string
	entries []*entry
	folders []*folder
}

type grouper struct {
	logs   []Log
	root   *folder
	groups []*group
	shared []*entry        // logs of nodes, or of no single job
	known  map[string]bool // ids in the names or contents of files
}

// groupFolder groups the logs of a folder and below.
func (g *grouper) groupFolder(f *folder) {
	if !f.holdsRuns() {
		g.groupByID(f.all(nil), false)
		return
	}
	g.groupByID(f.entries, true)
	for _, c := range f.sorted() {
		g.groupFolder(c)
	}
}

// groupByID groups logs that only their ids can distinguish. beside means that they are next to folders that contain
// runs; then logs without a run are no job by themselves.
func (g *grouper) groupByID(entries []*entry, beside bool) {
	acceptIDs(entries)
	keyed, unkeyed := g.keyed(entries)
	var rest []*entry
	claims := groupsByID(keyed)
	for _, e := range unkeyed {
		if x := groupOf(claims, e.Jobs); x != nil {
			x.add(e)
		} else {
			rest = append(rest, e)
		}
	}
	named, unnamed := byJobs(rest)
	oneJob := len(keyed) == 0 && !areSeveralJobs(append(named, unnamed))
	var others []*group
	for _, x := range append(named, unnamed) {
		switch {
		case len(x.entries) == 0:
		case oneJob && len(others) > 0:
			others[0].merge(x)
		case len(keyed) == 1 && !x.isOtherJob(keyed[0]):
			keyed[0].merge(x)
		case x == unnamed && (!oneJob || beside) && !x.hasHead():
			g.shared = append(g.shared, x.entries...) // next to several jobs, and no run itself
		default:
			others = append(others, x)
		}
	}
	for _, x := range others {
		x.why = whyFolder
		if len(x.ids()) == 1 {
			x.why = whyLog
		} else if !oneJob {
			x.why = whyRest
		}
	}
	g.groups = append(append(g.groups, keyed...), others...)
}

// keyed groups the logs with an id in their names or folders, and returns the others. It sets logs of nodes aside.
func (g *grouper) keyed(entries []*entry) (out []*group, unkeyed []*entry) {
	byKey := map[string]*group{}
	for _, e := range entries {
		key, why := e.id.key(), ByName
		if dir := g.folderID(e.folder); dir != "" && !e.id.certain {
			key, why = dir, whyDir
		}
		switch x := byKey[key]; {
		case key == "" && e.Node:
			g.shared = append(g.shared, e)
		case key == "":
			unkeyed = append(unkeyed, e)
		case x == nil:
			x = &group{key: key, why: why}
			x.add(e)
			byKey[key] = x
			out = append(out, x)
		default:
			x.add(e)
		}
	}
	return out, unkeyed
}

// groupsByID maps ids in logs to their group, nil if several groups have the id.
func groupsByID(groups []*group) map[string]*group {
	out := map[string]*group{}
	for _, x := range groups {
		for _, id := range append(x.ids(), base(x.key)) {
			if have, ok := out[id]; ok && have != x {
				out[id] = nil
			} else {
				out[id] = x
			}
		}
	}
	return out
}

// groupOf returns the only group with any of the ids, otherwise nil.
func groupOf(claims map[string]*group, ids []string) *group {
	var found *group
	for _, id := range ids {
		x, ok := claims[id]
		if !ok {
			continue
		}
		if x == nil || found != nil && found != x {
			return nil
		}
		found = x
	}
	return found
}

func (x *group) add(e *entry) {
	x.entries = append(x.entries, e)
	if !slices.Contains(x.folders, e.folder) {
		x.folders = append(x.folders, e.folder)
	}
}

// ids returns the ids in a group's logs, sorted.
func (x *group) ids() []string {
	var out []string
	for _, e := range x.entries {
		out = append(out, e.Jobs...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// hasHead reports whether a run begins in one of the logs.
func (x *group) hasHead() bool {
	return slices.ContainsFunc(x.entries, func(e *entry) bool { return e.Head })
}

// isOtherJob reports whether a group without an id in its names is a different job: a run begins in it, and it
// contains an id that keyed does not. AReaL submits the roles of one trial as separate jobs.
func (x *group) isOtherJob(keyed *group) bool {
	mine := x.ids()
	if len(mine) == 0 || !x.hasHead() || x.isTrial() {
		return false
	}
	known := append(keyed.ids(), base(keyed.key))
	return !slices.ContainsFunc(mine, func(id string) bool { return slices.Contains(known, id) })
}

// isTrial reports whether all logs have names of an AReaL trial.
func (x *group) isTrial() bool {
	return !slices.ContainsFunc(x.entries, func(e *entry) bool { return !role().MatchString(e.base) })
}

// base returns an id without the array's task.
func base(key string) string {
	if strings.HasPrefix(key, "raysubmit_") {
		return key
	}
	id, _, _ := strings.Cut(key, "_")
	return id
}

// byJobs groups logs by the ids in them: a group for each set of logs with ids in common, and one for logs without
// ids.
func byJobs(entries []*entry) (named []*group, unnamed *group) {
	unnamed = &group{}
	byID := map[string]*group{}
	for _, e := range entries {
		if len(e.Jobs) == 0 {
			unnamed.add(e)
			continue
		}
		var x *group
		for _, id := range e.Jobs {
			y := byID[id]
			switch {
			case y == nil || y == x:
			case x == nil:
				x = y
			default: // e connects two groups
				x.merge(y)
				y.entries = nil
				for k, v := range byID {
					if v == y {
						byID[k] = x
					}
				}
			}
		}
		if x == nil {
			x = &group{}
			named = append(named, x)
		}
		x.add(e)
		for _, id := range e.Jobs {
			byID[id] = x
		}
	}
	return slices.DeleteFunc(named, func(x *group) bool { return len(x.entries) == 0 }), unnamed
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// areSeveralJobs reports whether groups with different ids are different jobs: runs begin in more than one of them,
// or their logs have the same names except for numbers. The roles of an AReaL trial are one job.
func areSeveralJobs(named []*group) bool {
	var with []*group
	all := &group{}
	for _, x := range named {
		all.entries = append(all.entries, x.entries...)
		if len(x.ids()) > 0 {
			with = append(with, x)
		}
	}
	if len(with) < 2 || all.isTrial() {
		return false
	}
	heads, stems := 0, map[string]bool{}
	for _, x := range with {
		if x.hasHead() {
			heads++
		}
		mine := map[string]bool{}
		for _, e := range x.entries {
			mine[digits().ReplaceAllString(e.base, "#")] = true
		}
		for s := range mine {
			if stems[s] {
				return true
			}
			stems[s] = true
		}
	}
	return heads > 1
}

// join merges groups from different folders that are one job: those with the same id in their names, and those
// without one that contain the id of exactly one other.
func (g *grouper) join() {
	byKey := map[string]*group{}
	var out, open []*group
	for _, x := range g.groups {
		switch known := byKey[x.key]; {
		case x.key == "":
			open = append(open, x)
		case known != nil:
			known.merge(x)
		default:
			byKey[x.key] = x
			out = append(out, x)
		}
	}
	claims := groupsByID(out)
	tied := map[string]*group{}
	for _, x := range open {
		to := groupOf(claims, x.ids())
		for _, id := range x.ids() {
			if to == nil {
				to = tied[id]
			}
		}
		if to == nil {
			to = x
			out = append(out, x)
		} else {
			to.merge(x)
		}
		for _, id := range x.ids() {
			tied[id] = to
		}
	}
	g.groups = out
}

func (x *group) merge(y *group) {
	for _, e := range y.entries {
		x.add(e)
	}
}
