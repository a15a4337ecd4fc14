package parser

import (
	"strconv"

	"oomscan/parser/envelope"
	"oomscan/parser/traceback"
)

// Position is a place in an input. It prints as source:line.
type Position struct {
	Source string // the input's name as given; members of archives: job.tar.gz!node3/stderr.log
	Line   int    // 1-based, counted by \n
	Offset int64  // byte offset of the line's first byte
	Passed int    // lines before it that hold nothing of the log itself: rows that were joined to a line before, oomscan's own lines
}

// Behind is how many lines of the log a place is behind another one of the same input, where a line that was broken into rows is one.
func (p Position) Behind(q Position) int { return p.Line - p.Passed - q.Line + q.Passed }

func (p Position) String() string { return p.Source + ":" + strconv.Itoa(p.Line) }

// Counts is how much of an input was read.
type Counts struct {
	Bytes     int64 `json:"bytes"`
	Lines     int   `json:"lines"`                  // a last line without newline counts
	Truncated int   `json:"truncated_lines"`        // longer than the limit, and read in parts
	Quoted    int   `json:"quoted_lines,omitempty"` // messages of failures that are text of printed samples
}

// Add adds what was read of another part of the input.
func (c *Counts) Add(more Counts) {
	c.Bytes += more.Bytes
	c.Lines += more.Lines
	c.Truncated += more.Truncated
	c.Quoted += more.Quoted
}

// Kind is what an event is about. [Kinds] are the words of reports; the others never become an incident by
// themselves.
type Kind string

// The kinds of incidents.
const (
	GPUOOM        Kind = "gpu_oom"        // a framework's GPU allocator could not serve a request
	GPUDriverOOM  Kind = "gpu_driver_oom" // the driver, runtime or a library said so, usually without numbers
	KVCache       Kind = "kv_cache"       // an inference engine found no room for its KV cache
	NCCLOOM       Kind = "nccl_oom"       // the collective library's own allocation failed
	NCCLFailure   Kind = "nccl_failure"   // a collective failed or timed out
	HostOOM       Kind = "host_oom"       // a host allocation failed
	OOMKill       Kind = "oom_kill"       // somebody (kernel, Slurm, Ray, Kubernetes, earlyoom) killed a process
	SHMExhausted  Kind = "shm_exhausted"  // /dev/shm ran full
	IllegalAccess Kind = "illegal_access" // an illegal memory access: no exhaustion
	ProcessExit   Kind = "process_exit"   // a process ended; who and with which status
)

// Kinds returns the kinds of incidents: the words of reports.
func Kinds() []Kind {
	return []Kind{GPUOOM, GPUDriverOOM, KVCache, NCCLOOM, NCCLFailure, HostOOM, OOMKill, SHMExhausted, IllegalAccess, ProcessExit}
}

// Resource is which memory a kind is about: gpu, host or shm.
func (k Kind) Resource() string {
	switch k {
	case HostOOM, OOMKill:
		return "host"
	case SHMExhausted:
		return "shm"
	}
	return "gpu"
}

// The kinds that only help to understand the others.
const (
	// JobCancelled is the scheduler's word that it ended the job. Field "reason" is one of time_limit, preemption,
	// requeue, node_failure, signal, task_failure, failed, hardware, disk_full or cancelled.
	JobCancelled Kind = "job_cancelled"
	// DiskFull is a write that found the disk full or the user's quota used up.
	DiskFull Kind = "disk_full"
	// Exception is a Python exception that no pattern claims.
	Exception Kind = "exception"
	// Restart says that a launcher starts its workers anew.
	Restart Kind = "restart"
	// Recovered says that a failure was caught and the run goes on.
	Recovered Kind = "recovered"
	// Pressure is a handled shortage (preempted sequences, retracted requests, allocator retries).
	Pressure Kind = "pressure"
)

// Role is how far one line carries.
type Role string

const (
	// Evidence proves the kind by itself.
	Evidence Role = "evidence"
	// Detail adds fields to evidence of the same kind nearby and proves nothing alone.
	Detail Role = "detail"
	// Suspicion is what memory exhaustion often looks like from outside, without proof (a bare SIGKILL).
	Suspicion Role = "suspicion"
	// Consequence follows from something else.
	Consequence Role = "consequence"
	// Context explains the run: a cancellation, a restart, a recovery, pressure.
	Context Role = "context"
)

// Fields are the values that an event's line told, normalised: byte quantities are decimal bytes under the names
// below, integers are decimal. A key is present only when the line printed it.
//
// Byte quantities: requested, total, free, allocated, reserved, reserved_unallocated, process, others (sum of other
// processes), private_pools, allowed, limit, used, available, anon_rss, file_rss, shmem_rss, anon, file, shmem (of a
// control group), total_vm, needed. tasks holds the kernel's largest processes, a line each: pid, resident bytes, name.
// Others: rank, local_rank, task, device, pid, ppid, host, comm, cmd, exitcode, signal, step, job, count, tokens,
// tokens_available, tasks (lines of pid, resident bytes and name), method, fraction, threshold, node, pids, reason, time, path, errno, library, version,
// application (the program that a pattern of the user's own is about).
type Fields map[string]string

// Int returns the integer under key.
func (f Fields) Int(key string) (int64, bool) {
	s, ok := f[key]
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// Observation is what a [Parser] emits: an [Event], a [Setting], a [Marker] or a [Gauge]. All of them own their text. The
// fields of markers and gauges may be those of others, too, and are not to be changed.
type Observation interface{ Place() Position }

// Event says that something failed, was killed, was cancelled or recovered.
type Event struct {
	At      Position
	Header  envelope.Header
	Pattern string // name of the pattern that matched; "traceback" for an Exception no pattern claims
	Kind    Kind
	Role    Role
	Phase   string // a phase that the message itself settles (a design word), else empty
	Fields  Fields
	Text    string           // the message without its envelope, capped
	Trace   *traceback.Trace // the traceback that this message ends, nil when it stands alone
}

// Setting is one configuration key and its value, as the log writes them.
type Setting struct {
	At     Position
	Header envelope.Header
	Key    string // full path where the dump is nested: "actor_rollout_ref.actor.strategy"
	Value  string // text of the value: strings without quotes, None, True and numbers as printed
	Form   string // a form of package settings: pprint, overrides, command, megatron, repr, engine, json, yaml, toml, sbatch, env, pairs, script
}

// Marker says where the run is or who somebody is. Name is one of
//
//	phase     Fields: phase, edge (open, close, point), label
//	step      Fields: step
//	progress  a run goes on after something failed: Fields count, which grows, of; with before it is what was counted last before that
//	trained   the loop of a training came to its end
//	timer     Fields: timer, edge
//	ready     an engine serves requests
//	identity  a process tells its rank: Fields rank, pid, host, device, local_rank, label (what stands before its lines; those known)
//	launch    Fields: framework, engine, launcher, version, backend, job, world_size, nodes, gpus_per_node, model, parameters, trained (how many of these), trained_dtype, starts (what begins anew with it; those known)
type Marker struct {
	At     Position
	Header envelope.Header
	Name   string
	Fields Fields
	Text   string
}

// Gauge is a reading of memory or load: Fields hold bytes, or fractions as decimals.
type Gauge struct {
	At     Position
	Header envelope.Header
	Name   string // pattern name
	Fields Fields
	Text   string
}

// Place is where in its input an observation was made.
func (o Event) Place() Position   { return o.At }
func (o Setting) Place() Position { return o.At }
func (o Marker) Place() Position  { return o.At }
func (o Gauge) Place() Position   { return o.At }
