package classifier

import (
	"cmp"
	"fmt"
	"strings"

	"oomscan/classifier/phase"
	"oomscan/parser"
)

// summary is the incident in one sentence.
func summary(in *Incident) string {
	var b strings.Builder
	b.WriteString(what(in))
	if p := phase.ByID(in.Phase).When; p != "" {
		b.WriteString(" " + p)
	}
	if w := where(&in.Root); w != "" {
		b.WriteString(" on " + w)
	}
	r := &in.Root
	switch {
	case r.Requested != nil && r.Free != nil && in.Kind != parser.KVCache:
		fmt.Fprintf(&b, ": tried to allocate %s, %s free", GiB(*r.Requested), GiB(*r.Free))
		if r.Total != nil {
			fmt.Fprintf(&b, " of %s", GiB(*r.Total))
		}
	case r.Requested != nil:
		fmt.Fprintf(&b, ": tried to allocate %s", GiB(*r.Requested))
	case r.Total != nil && in.Resource == "host":
		fmt.Fprintf(&b, " at a limit of %s", GiB(*r.Total))
	}
	if in.Survived {
		b.WriteString("; the program went on")
	}
	if in.Verdict == Suspect {
		_, why := suspected(in.Kind)
		b.WriteString("; " + why)
	}
	return b.String() + "."
}

// suspected describes an incident where memory is only suspected, and what is unknown.
func suspected(kind parser.Kind) (what, why string) {
	switch kind {
	case parser.SHMExhausted:
		return "A process died of a bus error", "perhaps because /dev/shm was full"
	case parser.HostOOM:
		return "A host memory allocation failed", "nothing shows that the host was full"
	case parser.GPUOOM, parser.GPUDriverOOM:
		return "A GPU operation failed", "perhaps because the GPU was out of memory"
	}
	return "A process was killed with SIGKILL", "perhaps because the host was out of memory"
}

// ranOut says what ran out, by kind.
var ranOut = map[parser.Kind]string{
	parser.GPUOOM: "GPU out of memory", parser.GPUDriverOOM: "The GPU driver reported out of memory", parser.KVCache: "No room for the KV cache",
	parser.NCCLOOM: "NCCL could not allocate GPU memory", parser.HostOOM: "Host out of memory",
	parser.OOMKill: "A process was killed: host out of memory", parser.SHMExhausted: "/dev/shm is full",
}

func what(in *Incident) string {
	switch {
	case in.Verdict == Suspect:
		w, _ := suspected(in.Kind)
		return w
	case in.Kind == parser.NCCLOOM && in.Resource == "shm":
		return "NCCL could not allocate in /dev/shm"
	}
	return cmp.Or(ranOut[in.Kind], "Memory ran out")
}

// where names the process that failed first, if it is known.
func where(r *Root) string {
	var parts []string
	if r.Rank != nil {
		parts = append(parts, fmt.Sprintf("rank %d", *r.Rank))
	}
	if r.Device != nil {
		parts = append(parts, fmt.Sprintf("GPU %d", *r.Device))
	}
	if r.Host != "" {
		parts = append(parts, "host "+clean(r.Host, 80))
	}
	if r.PID != nil && len(parts) < 3 {
		parts = append(parts, fmt.Sprintf("pid %d", *r.PID))
	}
	return strings.Join(parts, ", ")
}
