// Package memory has the arithmetic of an incident: where the memory was when the request failed, what the request may have
// been, and the sizes of well-known models.
package memory

import (
	"fmt"
	"slices"
	"strconv"

	"oomscan/classifier"
	"oomscan/parser"
)

// Ledger is where a device's or a control group's memory was at the moment of death, in bytes. A part that the log does
// not show is nil. Of a device, Capacity = Allocated + ReservedUnallocated + ProcessRest + OtherProcesses + Free +
// Unexplained; of a host, Capacity = Anon + File + Shmem + Unexplained + Free; within Rounding, whenever all terms are
// known; else Contradiction says which figures cannot both be true.
type Ledger struct {
	Capacity            *int64 `json:"capacity_bytes"`             // of the device, or the limit that was reached
	Allocated           *int64 `json:"allocated_bytes"`            // by PyTorch, in this process
	ReservedUnallocated *int64 `json:"reserved_unallocated_bytes"` // by PyTorch, in this process
	ProcessRest         *int64 `json:"process_rest_bytes"`         // CUDA context, NCCL and anything else in this process
	OtherProcesses      *int64 `json:"other_processes_bytes"`
	Anon                *int64 `json:"anonymous_bytes"`     // of a control group: the heaps of its processes
	File                *int64 `json:"page_cache_bytes"`    // of a control group, without shared memory
	Shmem               *int64 `json:"shared_memory_bytes"` // of a control group: tmpfs and /dev/shm
	Free                *int64 `json:"free_bytes"`
	Unexplained         *int64 `json:"unexplained_bytes"`
	Requested           *int64 `json:"requested_bytes"`
	// Rounding is how far the printed figures may be off in sum.
	Rounding      int64   `json:"rounding_bytes"`
	Contradiction *string `json:"contradiction"`
	// Engine is what an inference engine reported about the same card at start-up; Tasks are the host's largest processes.
	Engine []Part `json:"engine"`
	Tasks  []Part `json:"processes"`
}

// Part is a named amount of memory and the line that reports it.
type Part struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	PID   *int   `json:"pid"`
	File  string `json:"file"`
	Line  int    `json:"line"`
}

// slack is the rounding error, up or down, of a size printed in GiB with two decimals.
const slack = 1 << 30 / 100

// Account returns the ledger of an incident, or nil if the log shows neither what was full nor what filled it.
func Account(run *classifier.Run, in *classifier.Incident) *Ledger {
	var l *Ledger
	switch in.Resource {
	case "gpu":
		l = device(in)
		if parts := engine(run, in); len(parts) > 0 {
			if l == nil {
				l = &Ledger{}
			}
			l.Engine = parts
		}
	case "host":
		l = host(in)
	}
	if l == nil {
		return nil
	}
	if l.Engine == nil {
		l.Engine = []Part{}
	}
	if l.Tasks == nil {
		l.Tasks = []Part{}
	}
	return l
}

// device accounts for a GPU.
func device(in *classifier.Incident) *Ledger {
	r := &in.Root
	if in.Kind != parser.GPUOOM || r.Total == nil || r.Free == nil {
		return nil
	}
	l := &Ledger{Capacity: r.Total, Allocated: r.Allocated, ReservedUnallocated: r.ReservedUnallocated, OtherProcesses: r.OtherProcesses, Free: r.Free, Requested: r.Requested}
	if l.ReservedUnallocated == nil && r.Reserved != nil && r.Allocated != nil && *r.Reserved >= *r.Allocated {
		idle := *r.Reserved - *r.Allocated // messages before PyTorch 2.1 print the sum
		l.ReservedUnallocated = &idle
	}
	if r.Allocated != nil && *r.Allocated > *r.Total {
		l.contradict("PyTorch says it allocated %s, more than the card's %s", classifier.GiB(*r.Allocated), classifier.GiB(*r.Total))
		return l
	}
	known, terms := *r.Free, int64(2)
	if o := r.OtherProcesses; o != nil && r.ProcessBytes == nil && l.Allocated != nil && l.ReservedUnallocated != nil {
		own := *l.Allocated + *l.ReservedUnallocated
		if all := *o + *r.Free; all <= *r.Total+3*slack && all+own > *r.Total+5*slack && *o > own {
			rest := *o - own // the message lists this process among them, and does not say which it is
			l.OtherProcesses = &rest
			known -= own
		}
	}
	if r.OtherProcesses != nil {
		known += *r.OtherProcesses
		terms++
	}
	switch {
	case r.ProcessBytes != nil:
		known += *r.ProcessBytes
		terms++
		if r.Allocated != nil && l.ReservedUnallocated != nil {
			rest := *r.ProcessBytes - *r.Allocated - *l.ReservedUnallocated
			if rest < -3*slack {
				l.contradict("the message gives %s for the whole process, but %s for PyTorch alone", classifier.GiB(*r.ProcessBytes), classifier.GiB(*r.Allocated+*l.ReservedUnallocated))
				return l
			}
			rest = max(rest, 0)
			terms += 2
			l.ProcessRest = &rest
		}
	case r.Allocated != nil:
		known += *r.Allocated
		terms++
		if l.ReservedUnallocated != nil {
			known += *l.ReservedUnallocated
			terms++
		}
	default:
		return l
	}
	l.Rounding = terms * slack
	left := *r.Total - known
	if left < -l.Rounding {
		l.contradict("the parts add up to %s, more than the capacity of %s", classifier.GiB(known), classifier.GiB(*r.Total))
		return l
	}
	left = max(left, 0)
	l.Unexplained = &left
	return l
}

// host accounts for a host memory limit that was reached, with the kernel's figures for the control group and its largest
// processes. The kernel charges pages to the group slightly before the process, so the sums agree within a hundredth of the
// limit.
func host(in *classifier.Incident) *Ledger {
	r := &in.Root
	if in.Kind != parser.OOMKill || r.Limit == nil || *r.Limit <= 0 || r.Anon == nil && r.Used == nil && len(r.Tasks) == 0 {
		return nil
	}
	l := &Ledger{Capacity: r.Limit, Anon: r.Anon, File: r.File, Shmem: r.Shmem, Rounding: *r.Limit / 100}
	for _, t := range r.Tasks {
		l.Tasks = append(l.Tasks, Part{Name: t.Name, Bytes: t.RSS, PID: &t.PID, File: r.At.Source, Line: r.At.Line})
	}
	used := r.Used
	if used == nil {
		return l
	}
	polled := in.Kill.By != "" && in.Kill.By != "kernel" // who looks now and then finds more than the limit
	if polled && *used > *r.Limit {
		return l
	}
	if *used > *r.Limit+l.Rounding {
		l.contradict("%s in use is more than the limit of %s", classifier.GiB(*used), classifier.GiB(*r.Limit))
		return l
	}
	free := max(*r.Limit-*used, 0)
	l.Free = &free
	if r.Anon == nil || r.File == nil || r.Shmem == nil {
		return l
	}
	left := *used - *r.Anon - *r.File - *r.Shmem
	if left < -l.Rounding {
		l.contradict("anonymous memory, page cache and shared memory add up to %s, more than the %s in use", classifier.GiB(*r.Anon+*r.File+*r.Shmem), classifier.GiB(*used))
		return l
	}
	left = max(left, 0)
	l.Unexplained = &left // the kernel's own: page tables, stacks, slabs
	return l
}

// readings lists what engines report about themselves at startup; see the gauges of package parser.
var readings = []struct{ gauge, field, name string }{
	{"sglang.mem_weights", "used", "weights"},
	{"sglang.mem_kv_pool", "used", "KV cache"},
	{"sglang.mem_graphs", "used", "CUDA graphs"},
	{"vllm.weights", "used", "weights"},
	{"vllm.profile", "weights", "weights"},
	{"vllm.profile", "activations", "activation peak"},
	{"vllm.profile", "non_torch", "outside of PyTorch"},
	{"vllm.profile", "available", "KV cache"},
	{"vllm.usage", "weights", "weights"},
	{"vllm.usage", "consumed", "weights and what lies outside of PyTorch"},
	{"vllm.usage", "activations", "activation peak"},
	{"vllm.usage", "non_torch", "outside of PyTorch"},
	{"vllm.usage", "graphs", "CUDA graphs"},
	{"vllm.kv_available", "available", "KV cache"},
	{"vllm.graphs", "used", "CUDA graphs"},
	{"vllm.graphs_estimated", "used", "CUDA graphs"},
}

// engine returns what the inference engine reported about itself before the incident.
func engine(run *classifier.Run, in *classifier.Incident) []Part {
	if run == nil {
		return nil
	}
	var out []Part
	for _, want := range readings {
		g, ok := Reading(run, in, want.gauge)
		if !ok {
			continue
		}
		n, ok := g.Fields.Int(want.field)
		if !ok || n <= 0 || slices.ContainsFunc(out, func(p Part) bool { return p.Name == want.name }) {
			continue
		}
		out = append(out, Part{Name: want.name, Bytes: n, File: g.At.Source, Line: g.At.Line})
	}
	return out
}

// Reading finds the last reading of a kind that was printed before the incident in the same input, and not of another GPU: by the same
// writer, else by any other when all of them say the same within a fiftieth.
func Reading(run *classifier.Run, in *classifier.Incident, name string) (classifier.Gauge, bool) {
	var own *classifier.Gauge
	var found []classifier.Gauge
	for i := range run.Gauges {
		g := &run.Gauges[i]
		if g.Name != name || g.At.Source != in.Root.At.Source || g.At.Line >= in.Root.At.Line {
			continue
		}
		if device := g.Fields["device"]; device != "" && in.Root.Device != nil && device != strconv.Itoa(*in.Root.Device) {
			continue
		}
		if g.Stream == in.Root.Stream {
			if own == nil || again(own, g) {
				own = g
			}
			continue
		}
		found = append(slices.DeleteFunc(found, func(old classifier.Gauge) bool { return again(&old, g) }), *g)
	}
	switch {
	case own != nil:
		return *own, true
	case len(found) == 0:
		return classifier.Gauge{}, false
	}
	last := found[len(found)-1]
	for _, g := range found {
		for k := range last.Fields {
			a, ok1 := g.Fields.Int(k)
			b, ok2 := last.Fields.Int(k)
			if slack := max(b/50, -b/50); ok1 && ok2 && (a-b > slack || b-a > slack) {
				return classifier.Gauge{}, false
			}
		}
	}
	return last, true
}

// again reports whether two readings of a kind are of the same writer and device: the later one is of another start.
func again(a, b *classifier.Gauge) bool {
	return a.Stream == b.Stream && a.Fields["rank"] == b.Fields["rank"] && a.Fields["device"] == b.Fields["device"]
}

func (l *Ledger) contradict(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	l.Contradiction = &s
}
