package jobs

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"oomscan/classifier"
)

// folder is a folder or archive that may contain a run. Folders inside a run are left out.
type folder struct {
	name, path string
	up         *folder
	entries    []*entry
	children   map[string]*folder
}

func (g *grouper) buildTree() {
	g.known = map[string]bool{}
	logs, none := make([]entry, len(g.logs)), &classifier.Clues{}
	hosts := map[string]bool{} // folders named after the node that wrote the logs in them
	for i, l := range g.logs {
		clues := cmp.Or(l.Clues, none)
		logs[i] = entry{Clues: clues, i: i, name: l.Name}
		if len(clues.Hosts) == 0 {
			continue
		}
		dirs, _ := parts(l.Name)
		for k, d := range dirs {
			if slices.ContainsFunc(clues.Hosts, func(h string) bool { return h == d || strings.HasPrefix(h, d+".") }) {
				hosts[strings.Join(dirs[:k+1], "/")] = true
			}
		}
	}
	slices.SortFunc(logs, func(a, b entry) int { return natural(a.name, b.name) })
	for i := range logs {
		e, f := &logs[i], g.root
		inRay := false
		var dirs []string
		dirs, e.base = parts(e.name)
		for _, d := range runFolders(dirs, hosts) {
			f = f.child(d)
			inRay = inRay || sessionDir().MatchString(d)
		}
		e.folder = f
		if !inRay { // Ray names its files after its own ids
			e.id = nameID(e.base)
		}
		if e.id.certain {
			g.known[e.id.id] = true
		}
		for _, id := range e.Jobs {
			g.known[id] = true
		}
		f.entries = append(f.entries, e)
	}
}

// runFolders returns those of a log's folders that may distinguish runs.
func runFolders(dirs []string, hosts map[string]bool) []string {
	var out []string
	for i, d := range dirs {
		if attemptDir().MatchString(d) {
			if last := len(out) - 1; last >= 0 {
				if m := torchrunDir().FindStringSubmatch(out[last]); m != nil && m[1] != "none" {
					out[last] = m[1] // every node creates its own folder for a run
				}
			}
			return out
		}
		if sessionDir().MatchString(d) {
			return append(out, d)
		}
		numbered := smallInt().MatchString(d) && i > 0 && clockDir().MatchString(dirs[i-1])
		if isMemberDir(d) && !numbered || hosts[strings.Join(dirs[:i+1], "/")] {
			continue
		}
		out = append(out, d)
	}
	return out
}

func (f *folder) child(name string) *folder {
	c := f.children[name]
	if c == nil {
		c = &folder{name: name, path: name, up: f}
		if f.path != "" {
			c.path = f.path + "/" + name
		}
		if f.children == nil {
			f.children = map[string]*folder{}
		}
		f.children[name] = c
	}
	return c
}

// folderID returns the job id in the name of a folder or the nearest one above. It counts only if something else has
// the same id, or if a sibling folder has another: a project's number is above all of its jobs.
func (g *grouper) folderID(f *folder) string {
	for ; f != nil && f.up != nil; f = f.up {
		d := nameID(f.name)
		if d.id == "" || d.doubtful || !d.certain && d.stem != "#" {
			continue
		}
		if g.known[d.id] {
			return d.key()
		}
		for _, c := range f.up.children {
			if o := nameID(c.name); o.id != "" && o.id != d.id && o.stem == d.stem {
				return d.key()
			}
		}
	}
	return ""
}

func (f *folder) below(top *folder) bool {
	for ; f != nil; f = f.up {
		if f == top {
			return true
		}
	}
	return false
}

func (f *folder) sorted() []*folder {
	return slices.SortedFunc(maps.Values(f.children), func(a, b *folder) int { return natural(a.name, b.name) })
}

// all appends the logs in a folder and below.
func (f *folder) all(to []*entry) []*entry {
	to = append(to, f.entries...)
	for _, c := range f.sorted() {
		to = c.all(to)
	}
	return to
}

// holdsRuns reports whether the folders in this one, or below, contain a run each: runs begin in several of them, or
// they contain logs of the same names. Other files beside such folders belong to none of them.
func (f *folder) holdsRuns() bool {
	var heads []*folder
	places := map[string]*folder{}
	for _, c := range f.sorted() {
		if c.holdsRuns() {
			return true
		}
		head := false
		for _, e := range c.all(nil) {
			if e.Node {
				continue
			}
			head = head || e.Head
			place := strings.TrimPrefix(e.folder.path, c.path) + "/" + e.base
			if other := places[place]; other != nil && other != c && !sameRun(other, c) {
				return true
			}
			places[place] = c
		}
		if head {
			if slices.ContainsFunc(heads, func(o *folder) bool { return !sameRun(o, c) }) {
				return true
			}
			heads = append(heads, c)
		}
	}
	return false
}

// sameRun reports whether the logs of two folders belong to one run, whatever the folders' names: they have a job id
// in common, or distinct ranks.
func sameRun(a, b *folder) bool {
	jobs, ranks := map[string]bool{}, map[int]bool{}
	for _, e := range a.all(nil) {
		for _, id := range e.Jobs {
			jobs[id] = true
		}
		for _, r := range e.Ranks {
			ranks[r] = true
		}
	}
	ranked, twice := false, false
	for _, e := range b.all(nil) {
		if slices.ContainsFunc(e.Jobs, func(id string) bool { return jobs[id] }) {
			return true
		}
		for _, r := range e.Ranks {
			ranked = true
			twice = twice || ranks[r]
		}
	}
	return len(ranks) > 0 && ranked && !twice
}
