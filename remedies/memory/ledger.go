// Package memory is the arithmetic of an incident: where the memory was when the request failed.
package memory

import (
	"fmt"

	"oomscan/classifier"
	"oomscan/parser"
)

// Ledger is where a device's memory was at the moment of death, in bytes. A part that the log does not tell is nil.
// Capacity = Allocated + ReservedUnallocated + ProcessRest + OtherProcesses + Free + Unexplained, within Rounding,
// whenever all terms are known; else Contradiction says which figures cannot both be true.
type Ledger struct {
	Capacity            *int64 `json:"capacity_bytes"`
	Allocated           *int64 `json:"allocated_bytes"`            // by PyTorch, in this process
	ReservedUnallocated *int64 `json:"reserved_unallocated_bytes"` // by PyTorch, in this process
	ProcessRest         *int64 `json:"process_rest_bytes"`         // CUDA context, NCCL and whatever else this process holds
	OtherProcesses      *int64 `json:"other_processes_bytes"`
	Free                *int64 `json:"free_bytes"`
	Unexplained         *int64 `json:"unexplained_bytes"`
	Requested           *int64 `json:"requested_bytes"`
	// Rounding is how far the printed figures, of two decimals, may be off in sum.
	Rounding      int64   `json:"rounding_bytes"`
	Contradiction *string `json:"contradiction"`
}

// slack is the resolution of one figure printed with two decimals of a GiB.
const slack = 1 << 30 / 100

// Account makes the ledger of a GPU incident. It is nil for other resources, and when the log tells neither the
// capacity nor what is free.
func Account(in *classifier.Incident) *Ledger {
	r := &in.Root
	if in.Resource != "gpu" || in.Kind != parser.GPUOOM || r.Total == nil || r.Free == nil {
		return nil
	}
	l := &Ledger{Capacity: r.Total, Allocated: r.Allocated, ReservedUnallocated: r.ReservedUnallocated, OtherProcesses: r.OtherProcesses, Free: r.Free, Requested: r.Requested}
	if l.ReservedUnallocated == nil && r.Reserved != nil && r.Allocated != nil && *r.Reserved >= *r.Allocated {
		idle := *r.Reserved - *r.Allocated // messages before PyTorch 2.1 print the sum
		l.ReservedUnallocated = &idle
	}
	if r.Allocated != nil && *r.Allocated > *r.Total {
		l.contradict("%s allocated by PyTorch do not fit into a capacity of %s", classifier.GiB(*r.Allocated), classifier.GiB(*r.Total))
		return l
	}
	known, terms := *r.Free, int64(2)
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
				l.contradict("this process holds %s, less than the %s that PyTorch counts in it", classifier.GiB(*r.ProcessBytes), classifier.GiB(*r.Allocated+*l.ReservedUnallocated))
				return l
			}
			rest = max(rest, 0)
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

func (l *Ledger) contradict(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	l.Contradiction = &s
}
