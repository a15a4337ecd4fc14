package jobs

import (
	"slices"
	"strings"
)

// folder is a folder or an archive that may hold a run; those inside of a run are left out.
type folder struct {
	name, path string
	up         *folder
	entries    []*entry
	children   map[string]*folder
}

// plant puts the logs into their folders.
func (g *grouper) plant() {
	g.known = map[string]bool{}
	type named struct {
		dirs []string
		base string
	}
	split := make([]named, len(g.logs))
	hosts := map[string]bool{} // folders that are named as the node whose logs they hold
	for i := range g.logs {
		dirs, base := parts(g.logs[i].Name)
		split[i] = named{dirs, base}
		for k, d := range dirs {
			if slices.ContainsFunc(g.logs[i].Clues.Hosts, func(h string) bool { return h == d || strings.HasPrefix(h, d+".") }) {
				hosts[strings.Join(dirs[:k+1], "/")] = true
			}
		}
	}
	order := make([]int, len(g.logs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return natural(g.logs[a].Name, g.logs[b].Name) })
	for _, i := range order {
		f := g.root
		inRay := false
		for _, d := range runFolders(split[i].dirs, hosts) {
			f = f.child(d)
			inRay = inRay || sessionDir().MatchString(d)
		}
		e := &entry{Clues: &g.logs[i].Clues, i: i, name: g.logs[i].Name, base: split[i].base, home: f}
		if !inRay { // its files are named after Ray's own ids
			e.id = nameID(e.base)
		}
		if e.id.sure {
			g.known[e.id.id] = true
		}
		for _, id := range e.Jobs {
			g.known[id] = true
		}
		f.entries = append(f.entries, e)
	}
}

// runFolders are those of a log's folders that may tell runs apart.
func runFolders(dirs []string, hosts map[string]bool) []string {
	var out []string
	for i, d := range dirs {
		if attemptDir().MatchString(d) {
			if m := torchrunDir().FindStringSubmatch(lastOf(out)); m != nil && m[1] != "none" {
				out[len(out)-1] = m[1] // every node makes a folder of its own for a run
			}
			return out
		}
		if sessionDir().MatchString(d) {
			return append(out, d)
		}
		numbered := smallInt().MatchString(d) && i > 0 && clockDir().MatchString(dirs[i-1])
		if member(d) && !numbered || hosts[strings.Join(dirs[:i+1], "/")] {
			continue
		}
		out = append(out, d)
	}
	return out
}

func lastOf(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[len(s)-1]
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

// folderID is the job id in the name of a folder or of the next one above that has one. It is one when something else
// tells the same id, or when a folder beside it has another: the number of a project is above all of its jobs.
func (g *grouper) folderID(f *folder) string {
	for ; f != nil && f.up != nil; f = f.up {
		d := nameID(f.name)
		if d.id == "" || d.weak || !d.sure && d.stem != "#" {
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
	out := make([]*folder, 0, len(f.children))
	for _, c := range f.children {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b *folder) int { return natural(a.name, b.name) })
	return out
}

// all appends the logs of a folder and of all below it.
func (f *folder) all(to []*entry) []*entry {
	to = append(to, f.entries...)
	for _, c := range f.sorted() {
		to = c.all(to)
	}
	return to
}

// apart says that the folders in this one, or further below, hold a run each: runs begin in more than one of them, or they
// hold logs of the same names. What else is beside such folders is no part of any of them.
func (f *folder) apart() bool {
	var heads []*folder
	places := map[string]*folder{}
	for _, c := range f.sorted() {
		if c.apart() {
			return true
		}
		head := false
		for _, e := range c.all(nil) {
			if e.Node {
				continue
			}
			head = head || e.Head
			place := strings.TrimPrefix(e.home.path, c.path) + "/" + e.base
			if other := places[place]; other != nil && other != c && !together(other, c) {
				return true
			}
			places[place] = c
		}
		if head {
			if slices.ContainsFunc(heads, func(o *folder) bool { return !together(o, c) }) {
				return true
			}
			heads = append(heads, c)
		}
	}
	return false
}

// together says that the logs of two folders are of one run whatever the folders are called: they tell the same job id, or
// ranks of which no two are the same.
func together(a, b *folder) bool {
	jobs, ranks := map[string]bool{}, map[int]bool{}
	for _, e := range a.all(nil) {
		for _, id := range e.Jobs {
			jobs[id] = true
		}
		for _, r := range e.Ranks {
			ranks[r] = true
		}
	}
	told, twice := false, false
	for _, e := range b.all(nil) {
		if slices.ContainsFunc(e.Jobs, func(id string) bool { return jobs[id] }) {
			return true
		}
		for _, r := range e.Ranks {
			told = true
			twice = twice || ranks[r]
		}
	}
	return len(ranks) > 0 && told && !twice
}
