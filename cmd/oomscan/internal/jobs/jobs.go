// Package jobs tells which logs are of one job, by their names, their folders and what they say of themselves. It reads
// nothing.
//
// What one person calls one job stays one: several jobs need a reason. The reasons are, in this order, the job ids in the
// names of files and folders, the ids that the scheduler wrote into the logs, and folders that each hold a run. Folders of
// ranks, nodes, roles and attempts are part of a run, and so are Ray's sessions and torchrun's attempts. Tasks of an array
// are jobs of their own; the components of a heterogeneous job and the attempts of a requeued one are one job.
package jobs

import (
	"slices"
	"strings"

	"oomscan/classifier"
)

// Log is one log: a file, or a member of an archive.
type Log struct {
	Name  string // as given; unique
	Clues classifier.Clues
}

// Job is one run.
type Job struct {
	Name string // the scheduler's id, else the folder, else the log; unique among the jobs
	ID   string // the scheduler's id, with the array's task; empty when unknown
	Why  string // a part of a sentence: what keeps these logs together
	Logs []int  // places in the list that was given, in its order
	// Aliases are the ids by which others may speak of this job: for an array's task the one that the kernel knows.
	Aliases []string
	// Series is what the names of the job's files have in common with those of other submissions of the same work: the name
	// without the id. Empty when there is none besides the scheduler's default.
	Series string
	// Among is set for a log of a node or a scheduler beside several jobs, or of nobody: the places of the jobs, in the
	// answer, that it may tell of. It is no job itself.
	Among []int
}

// Group sorts logs by jobs. The jobs are in the order of their names, numbers by value, and the logs of nodes behind
// them. The answer depends on the names and clues alone, not on the order of the logs.
func Group(logs []Log) []Job {
	g := grouper{logs: logs, root: &folder{}}
	g.buildTree()
	g.groupFolder(g.root)
	g.join()
	return g.jobs()
}

// What keeps the logs of a job together.
const (
	// ByName is the reason of files whose names carry the same job id.
	ByName    = "job id in the file names"
	whyDir    = "job id of the folder"
	whyLog    = "job id in the logs"
	whyFolder = "folder"
	whyRest   = "the rest of the folder"
	whyNodes  = "logs of nodes only"
	whyShared = "a log that several jobs share"
)

// entry is a log with what its name says.
type entry struct {
	*classifier.Clues
	i      int
	name   string
	base   string
	id     ident
	folder *folder
}

// group is a job in the making.
type group struct {
	key     string // id with task; empty: none is known
	why     string
	entries []*entry
	folders []*folder
}

type grouper struct {
	logs   []Log
	root   *folder
	groups []*group
	shared []*entry        // of nodes, or of no job by themselves
	known  map[string]bool // ids that a file's name or a log has
}

// groupFolder makes groups of a folder and all below it.
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

// groupByID makes groups of logs that nothing but their ids tells apart. Beside folders that hold runs, logs of no run are
// none by themselves.
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
			g.shared = append(g.shared, x.entries...) // beside several jobs, and none by itself
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

// keyed makes groups of the logs whose names or folders carry an id, and returns the others. Those of nodes are put aside.
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

// claimants are the groups by the ids by which their logs call themselves; nil where several do.
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

// claimant is the one group that ids speak of, nil when it is none or more than one.
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

// ids are the ids that the logs of a group tell, sorted.
func (x *group) ids() []string {
	var out []string
	for _, e := range x.entries {
		out = append(out, e.Jobs...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// head says that a run begins in one of the logs.
func (x *group) hasHead() bool {
	return slices.ContainsFunc(x.entries, func(e *entry) bool { return e.Head })
}

// foreign says that a group without an id in its names is another job than one with: a run of its own begins there, and
// it tells an id that the other does not know. AReaL submits the roles of one trial as jobs of their own.
func (x *group) isOtherJob(keyed *group) bool {
	mine := x.ids()
	if len(mine) == 0 || !x.hasHead() || x.isTrial() {
		return false
	}
	known := append(keyed.ids(), base(keyed.key))
	return !slices.ContainsFunc(mine, func(id string) bool { return slices.Contains(known, id) })
}

// roles says that all logs are named as those of AReaL's trials are.
func (x *group) isTrial() bool {
	return !slices.ContainsFunc(x.entries, func(e *entry) bool { return !role().MatchString(e.base) })
}

// base is an id without the array's task.
func base(key string) string {
	if strings.HasPrefix(key, "raysubmit_") {
		return key
	}
	id, _, _ := strings.Cut(key, "_")
	return id
}

// byJobs sorts logs by the ids that they tell: a group for each set of logs that are tied by common ids, and one for all
// that tell none.
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
			default: // e ties two groups
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

// several says that groups that name different ids are different jobs and not parts of one: runs begin in more than one of
// them, or their logs have the same names but for numbers. The roles of an AReaL trial are one.
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

// join unites groups of different folders that are one job: those with the same id in their names, and those without
// one that tell the id of exactly one other.
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
