package epilog

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"time"

	"oomscan/parser/lazyre"
)

// Limits for the kernel's log.
const (
	maxKmsg   = 32 << 20  // bytes: more than any configured ring buffer
	maxBlock  = 256 << 10 // bytes of one report of the OOM killer
	maxKernel = 512 << 10 // bytes of all reports about this job
)

// kernelFile is the name of the kernel's log in reports.
const kernelFile = "/dev/kmsg"

// kernelLog selects the OOM killer's reports about one job from /dev/kmsg. Other users' jobs run on the same node, so
// it keeps only reports with a victim in this job's control group.
type kernelLog struct {
	group []byte // "/job_17/", in the path of the job's tasks in cgroup v1 and v2
	end   []byte // "/job_17,", if the victim was in none of its steps
	uid   []byte // ",uid=1000"
	node  string // this node's name, which is in the path if a machine runs several slurmd; empty: any
	after uint64 // records up to this sequence number belong to an earlier run of the job
	since time.Duration

	block   []byte
	open    bool
	thisJob bool // the victim of the open block is one of this job's processes
	out     []byte
	last    uint64 // the highest sequence number seen
	matched int
}

func newKernelLog(job, uid uint32, node string, after uint64, since time.Duration) *kernelLog {
	return &kernelLog{
		node: node, group: fmt.Appendf(nil, "/job_%d/", job), end: fmt.Appendf(nil, "/job_%d,", job), uid: fmt.Appendf(nil, ",uid=%d", uid),
		after: after, since: since,
	}
}

var (
	invoked    = []byte(" invoked oom-killer: ")
	constraint = []byte("oom-kill:constraint=")
	victim     = []byte("Killed process ")
)

// record reads a record of /dev/kmsg: "6,339,5140900,-;text", possibly followed by lines about the device. It keeps
// the block from "invoked oom-killer" to "Killed process" until the victim is known.
func (k *kernelLog) record(rec []byte) {
	level, rest, ok := decimalField(rec)
	if !ok || level>>3 != 0 {
		return // written by a program, so anybody may have forged it
	}
	seq, rest, ok := decimalField(rest)
	if !ok {
		return
	}
	usec, rest, ok := decimalField(rest)
	if !ok || usec > math.MaxInt64/1000 {
		return
	}
	_, text, ok := bytes.Cut(rest, []byte{';'})
	if !ok {
		return
	}
	text, _, _ = bytes.Cut(text, []byte{'\n'})
	k.last = max(k.last, seq)
	if seq <= k.after || time.Duration(usec)*time.Microsecond < k.since {
		return
	}
	switch {
	case bytes.Contains(text, invoked):
		k.block, k.open, k.thisJob = k.block[:0], true, false
	case bytes.Contains(text, constraint):
		k.thisJob = bytes.HasSuffix(text, k.uid) && k.inGroup(text)
		k.open = k.open || k.thisJob
	case !k.open:
		return
	}
	if len(k.block) < maxBlock {
		k.block = fmt.Appendf(k.block, "[%5d.%06d] %s\n", usec/1e6, usec%1e6, text)
	}
	if bytes.Contains(text, victim) {
		if k.thisJob && len(k.out)+len(k.block) <= maxKernel {
			k.out = append(k.out, k.block...)
			k.matched++
		}
		k.block, k.open, k.thisJob = k.block[:0], false, false
	}
}

// decimalField reads a number up to a comma.
func decimalField(b []byte) (n uint64, rest []byte, ok bool) {
	number, rest, ok := bytes.Cut(b, []byte{','})
	n, err := strconv.ParseUint(string(number), 10, 64)
	return n, rest, ok && err == nil
}

// groupNode matches the node in the path of a control group, where a machine runs several slurmd:
// /slurm_node01/uid_7/job_8 (cgroup v1), /system.slice/node01_slurmstepd.scope/job_8 (v2).
var groupNode = lazyre.New(`^/slurm_([^/]+)/|/([^/]+)_slurmstepd\.scope/`)

// inGroup reports whether the victim's control group is the job's, on this node. The program's name after the path is
// chosen by the user.
func (k *kernelLog) inGroup(text []byte) bool {
	_, path, ok := bytes.Cut(text, []byte("task_memcg="))
	if !ok {
		return false
	}
	if i := bytes.Index(path, []byte(",task=")); i >= 0 {
		path = path[:i+1]
	}
	if m := groupNode().FindSubmatch(path); m != nil && k.node != "" && string(m[1])+string(m[2]) != k.node {
		return false
	}
	return bytes.Contains(path, k.group) || bytes.Contains(path, k.end)
}
