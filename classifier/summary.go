package classifier

import (
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
		fmt.Fprintf(&b, ": %s asked for, %s free", GiB(*r.Requested), GiB(*r.Free))
		if r.Total != nil {
			fmt.Fprintf(&b, " of %s", GiB(*r.Total))
		}
	case r.Requested != nil:
		fmt.Fprintf(&b, ": %s asked for", GiB(*r.Requested))
	case r.Total != nil && in.Resource == "host":
		fmt.Fprintf(&b, " at a limit of %s", GiB(*r.Total))
	}
	if in.Survived {
		b.WriteString("; the run went on")
	}
	if in.Verdict == Suspect {
		_, why := suspected(in.Kind)
		b.WriteString("; " + why)
	}
	return b.String() + "."
}

// suspected returns what happened where memory is only suspected, and what is not known of it.
func suspected(kind parser.Kind) (what, why string) {
	switch kind {
	case parser.SHMExhausted:
		return "A process died of a bus error", "nothing says why, perhaps because /dev/shm was full"
	case parser.HostOOM:
		return "An allocation of host memory failed", "nothing says that the host had no more"
	case parser.GPUOOM, parser.GPUDriverOOM:
		return "A GPU operation failed", "nothing says why, perhaps because GPU memory ran out"
	}
	return "A process was killed by SIGKILL", "nothing says why, perhaps because the host ran out of memory"
}

func what(in *Incident) string {
	if in.Verdict == Suspect {
		w, _ := suspected(in.Kind)
		return w
	}
	switch in.Kind {
	case parser.GPUOOM:
		return "GPU memory ran out"
	case parser.GPUDriverOOM:
		return "GPU memory ran out at the driver"
	case parser.KVCache:
		return "The inference engine has no room for its KV cache"
	case parser.NCCLOOM:
		if in.Resource == "shm" {
			return "NCCL found no room in /dev/shm"
		}
		return "NCCL found no GPU memory for its buffers"
	case parser.HostOOM:
		return "Host memory ran out"
	case parser.OOMKill:
		return "Host memory ran out and a process was killed"
	case parser.SHMExhausted:
		return "Shared memory (/dev/shm) ran full"
	}
	return "Memory ran out"
}

// where names the process that failed first, as far as known.
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
