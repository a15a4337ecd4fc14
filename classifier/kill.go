package classifier

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"oomscan/parser"
)

// Kill is the killer of a process and the owner of the memory that was full. Empty strings are unknown.
type Kill struct {
	By    string // see pattern.Program.Killer
	Limit string // whose limit was reached: job, container, group (another control group), or node: the node itself was full
}

// kill reads the killer from the highest report of the kill, and the limit from the kernel's report: only the kernel
// distinguishes a control group's limit from a full node.
func (c *conclusion) kill(in *Incident) Kill {
	if in.Kind != parser.OOMKill || in.Verdict != Memory {
		return Kill{}
	}
	k := Kill{By: c.root.pattern.Killer}
	for _, e := range c.evidence {
		k.By = cmp.Or(k.By, e.pattern.Killer)
	}
	group, constraint := in.Root.Fields["memcg"], in.Root.Fields["constraint"]
	switch {
	case strings.Contains(group, "/job_"), k.By == "slurm":
		k.Limit = "job"
	case strings.Contains(group, "kubepods"), strings.Contains(group, "docker"), strings.Contains(group, "containerd"):
		k.Limit = "container"
	case group != "":
		k.Limit = "group"
	case constraint == "CONSTRAINT_NONE":
		k.Limit = "node"
	}
	return k
}

// Killed is a process that was killed because of memory, as far as the log names it. Zero values are unknown.
type Killed struct {
	At       parser.Position
	Time     time.Time
	Host     string
	PID      int
	Name     string
	Resident *int64 // bytes
	Group    string // the control group whose limit was reached
}

// killed returns the processes that the reports of a kill name, in order of occurrence, each once: a storm has many.
func (c *conclusion) killed(in *Incident) []Killed {
	if in.Kind != parser.OOMKill || in.Verdict != Memory {
		return nil
	}
	r := &in.Root
	root := Killed{At: r.At, Time: r.Time, Host: r.Host, Name: r.Process, Resident: r.ProcessBytes, Group: r.Fields["memcg"]}
	if r.PID != nil {
		root.PID = *r.PID
	}
	out := []Killed{root}
	for _, e := range c.evidence {
		pid, ok := e.fields.Int("pid")
		if !ok || e.Kind != parser.OOMKill || slices.ContainsFunc(out, func(k Killed) bool { return k.PID == int(pid) }) {
			continue
		}
		k := Killed{At: e.At, Time: e.Header.Time, Host: e.Header.Host, PID: int(pid), Name: clean(e.fields["comm"], 80), Group: e.fields["memcg"]}
		if n, ok := resident(e); ok {
			k.Resident = &n
		}
		out = append(out, k)
	}
	slices.SortStableFunc(out, func(a, b Killed) int {
		if a.At.Source != b.At.Source {
			return 0
		}
		return a.At.Line - b.At.Line
	})
	return out
}
