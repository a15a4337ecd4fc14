package classifier

import (
	"strings"

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
		if k.By == "" {
			k.By = e.pattern.Killer
		}
	}
	group, constraint := in.Root.Fields["memcg"], in.Root.Fields["constraint"]
	switch {
	case strings.Contains(group, "/job_"):
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
