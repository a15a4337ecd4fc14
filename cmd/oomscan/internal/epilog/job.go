package epilog

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Values of SLURM_SCRIPT_CONTEXT.
const (
	onNode       = "epilog_slurmd"    // Epilog=: root, on each node, after the job's processes are gone
	onController = "epilog_slurmctld" // EpilogSlurmctld=: the user of slurmctld
	inTask       = "epilog_task"      // TaskEpilog=: the job's user, after a task or the batch script
)

// Job describes the job that ended, from Slurm's environment.
type Job struct {
	Context  string
	ID       uint32
	UID, GID uint32
	User     string
	WorkDir  string
	Stdout   string // pattern; empty: not given
	Stderr   string // pattern; empty: the same file as Stdout
	Batch    bool   // a batch script: it has logs
	Node     string // this node's name in Slurm
	First    string // the job's first node, where the batch script ran
	Names    Names
	Started  time.Time // zero: unknown (before 23.02)
	Restarts int

	// ExitCode and DerivedEC are wait(2) status words of the batch script and of the worst step. Both are 0 also if
	// the job was canceled, requeued, preempted or out of time, so 0 proves nothing.
	ExitCode, DerivedEC uint32
	Conf                string // SLURM_CONF, for scontrol
	Cluster             string

	Step   string // a task's step number; empty for the batch script
	Procid string // a task's rank
}

// nobody is the user and group without rights.
const nobody = 65534

// errNoJob means that the environment is not a Slurm script's.
var errNoJob = errors.New("SLURM_JOB_ID is not set: not called by Slurm")

// maxValue bounds environment values that are used as paths or names.
const maxValue = 4096

// fromEnv reads Slurm's environment. It validates everything: slurmd sets it, but its paths, names and comments come
// from the user.
func fromEnv(env func(string) string, hostname string) (Job, error) {
	get := func(key string) string {
		if v := env(key); len(v) <= maxValue && !strings.ContainsRune(v, 0) {
			return v
		}
		return ""
	}
	number := func(key string) (uint32, bool) {
		n, err := strconv.ParseUint(get(key), 10, 32)
		return uint32(n), err == nil
	}
	j := Job{Context: get("SLURM_SCRIPT_CONTEXT")}
	if env("SLURM_JOB_ID") == "" {
		return j, errNoJob
	}
	var ok bool
	if j.ID, ok = number("SLURM_JOB_ID"); !ok || j.ID == 0 {
		return j, errors.New("SLURM_JOB_ID is no number")
	}
	if j.UID, ok = number("SLURM_JOB_UID"); !ok {
		return j, errors.New("SLURM_JOB_UID is no number")
	}
	if j.GID, ok = number("SLURM_JOB_GID"); !ok {
		j.GID = nobody // missing in a batch task's environment
	}
	j.User, j.WorkDir = get("SLURM_JOB_USER"), get("SLURM_JOB_WORK_DIR")
	j.Stdout, j.Stderr = get("SLURM_JOB_STDOUT"), get("SLURM_JOB_STDERR")
	// Only a batch script has a standard input; new versions always set its output.
	j.Batch = env("SLURM_JOB_STDIN") != "" || env("SLURM_JOB_STDOUT") != "" || env("SLURM_JOB_STDERR") != ""
	for _, key := range []string{"SLURM_JOB_NODELIST", "SLURM_NODELIST"} {
		if list := get(key); j.First == "" {
			j.First = firstHost(list)
		}
	}
	if n := get("SLURMD_NODENAME"); hostName(n) {
		j.Node = n
	}
	if n, err := strconv.ParseInt(get("SLURM_JOB_START_TIME"), 10, 64); err == nil && n > 0 && n < 1<<40 {
		j.Started = time.Unix(n, 0)
	}
	restarts, _ := number("SLURM_JOB_RESTART_COUNT")
	j.Restarts = int(restarts)
	j.ExitCode, _ = number("SLURM_JOB_EXIT_CODE")
	j.DerivedEC, _ = number("SLURM_JOB_DERIVED_EC")
	j.Conf, j.Cluster = get("SLURM_CONF"), get("SLURM_CLUSTER_NAME")
	j.Step, j.Procid = get("SLURM_STEP_ID"), get("SLURM_PROCID")
	if !filepath.IsAbs(j.Conf) {
		j.Conf = ""
	}
	j.Names = Names{
		Job: j.ID, User: j.User, Name: get("SLURM_JOB_NAME"), Node: j.First,
		Array: decimal(get("SLURM_ARRAY_JOB_ID")), Task: decimal(get("SLURM_ARRAY_TASK_ID")),
		Restarts: decimal(get("SLURM_JOB_RESTART_COUNT")), SLUID: get("SLURM_JOB_SLUID"),
	}
	if j.Reports() {
		j.Names.Host, _, _ = strings.Cut(hostname, ".")
	}
	return j, nil
}

// Reports reports whether this is the first node, which reports on the job's logs. If the node list can't be read,
// each node does, and the first to write its report wins.
func (j *Job) Reports() bool { return j.First == "" || j.Node == "" || j.First == j.Node }

// sigOOM is Slurm's status if a step's control group had an OOM kill: 253, which wait(2) would read as signal 125. A
// script's own `exit 253` is 64768. Slurm 17.11 to 26.05.
const sigOOM = 253

// OutOfMemory reports whether Slurm says that memory ran out.
func (j *Job) OutOfMemory() bool { return j.ExitCode == sigOOM || j.DerivedEC == sigOOM }

// Failed reports whether a status is a failure's. A job may also fail without one: see Job.ExitCode.
func (j *Job) Failed() bool { return j.ExitCode != 0 || j.DerivedEC != 0 }

// status formats a status word as scontrol does.
func status(word uint32) string { return fmt.Sprintf("%d:%d", word>>8&0xff, word&0x7f) }

// exitCodes returns the job's exit codes in scontrol's format, which the parser knows.
func (j *Job) exitCodes() string {
	return fmt.Sprintf("JobId=%d ExitCode=%s DerivedExitCode=%s\n", j.ID, status(j.ExitCode), status(j.DerivedEC))
}
