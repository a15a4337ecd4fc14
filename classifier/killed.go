package classifier

import (
	"slices"
	"time"

	"oomscan/parser"
)

// Killed is a process that was killed because of memory. Zero values are unknown.
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
