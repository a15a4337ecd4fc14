package epilog

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// needSlurm is the variable that forbids skipping the tests that need root or Slurm.
const needSlurm = "OOMSCAN_NEED_SLURM"

// skip skips a test because something is missing, or fails it if it must run.
func skip(t testing.TB, lacks string) {
	t.Helper()
	if os.Getenv(needSlurm) != "" {
		t.Fatalf("%s is set, but: %s", needSlurm, lacks)
	}
	t.Skip(lacks)
}

func needRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		skip(t, "needs root, to be another user")
	}
}

// built is the folder of [program], once it exists.
var built string

// program builds oomscan once, where every user can start it.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("/tmp", "oomscan-program-")
	if err != nil {
		return "", err
	}
	built = dir
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "oomscan")
	out, err := exec.Command("go", "build", "-o", path, "oomscan/cmd/oomscan").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

// public returns a new folder that every user can enter.
func public(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "oomscan-epilog-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// A cluster is a private Slurm: munge, slurmctld and one slurmd per node, all on loopback, with all files in one folder. It
// uses nothing from /etc/slurm, /etc/munge or /run and no init system. It ends with the test, even if the test crashes.
//
// Learned the hard way: SlurmctldHost must be the machine's own name. Batch jobs wait 3 s unless batch_sched_delay is 0.
// `sbatch --wait` polls too rarely, but squeue forgets a job once its epilog is over. Control groups are named after the
// nodes, so concurrent clusters need different names.
type cluster struct {
	t     testing.TB
	dir   string
	nodes []string
	conf  string
	kills bool // memory limits by control groups: the kernel kills
}

// clusterNames gives each cluster's nodes unique names.
var clusterNames struct {
	sync.Mutex
	n int
}

// startCluster starts a Slurm with a number of nodes and additional lines in slurm.conf.
func startCluster(t testing.TB, nodes int, lines ...string) *cluster {
	t.Helper()
	needRoot(t)
	for _, p := range []string{"slurmd", "slurmctld", "munged", "sbatch", "scontrol"} {
		if _, err := exec.LookPath(p); err != nil {
			skip(t, "needs Slurm: no "+p+" (Debian: slurmd slurmctld slurm-client slurm-wlm-basic-plugins munge)")
		}
	}
	clusterNames.Lock()
	clusterNames.n++
	prefix := fmt.Sprintf("oom%dx%d", os.Getpid()%1000, clusterNames.n)
	clusterNames.Unlock()
	c := &cluster{t: t, dir: public(t), kills: memoryGroups()}
	for i := range nodes {
		c.nodes = append(c.nodes, fmt.Sprintf("%sn%02d", prefix, i+1))
	}
	for _, d := range []string{"etc", "run", "state", "spool", "log"} {
		require.NoError(t, os.Mkdir(filepath.Join(c.dir, d), 0o755))
	}
	c.conf = filepath.Join(c.dir, "etc", "slurm.conf")
	key := make([]byte, 1024)
	_, _ = rand.Read(key)
	c.file("etc/munge.key", string(key), 0o400)
	c.file("etc/cgroup.conf", "CgroupPlugin=cgroup/v1\nCgroupMountpoint=/sys/fs/cgroup\nCgroupAutomount=no\nConstrainRAMSpace=yes\n"+
		"ConstrainSwapSpace=no\nConstrainCores=no\nConstrainDevices=no\nMinRAMSpace=8\n", 0o644)
	c.file("etc/slurm.conf", c.config(lines), 0o644)

	t.Cleanup(c.ungroup)
	socket := filepath.Join(c.dir, "run", "munge.socket")
	c.daemon("munged", "--foreground", "--force", "--key-file="+filepath.Join(c.dir, "etc/munge.key"), "--socket="+socket,
		"--pid-file="+filepath.Join(c.dir, "run/munged.pid"), "--log-file="+filepath.Join(c.dir, "log/munged.log"), "--seed-file="+filepath.Join(c.dir, "run/seed"), "--num-threads=2")
	c.until("munge", func() bool { _, err := os.Stat(socket); return err == nil })
	c.daemon("slurmctld", "-D", "-f", c.conf)
	c.until("slurmctld", func() bool { out, _ := c.try("scontrol", "ping"); return strings.Contains(out, "UP") })
	for _, n := range c.nodes {
		require.NoError(t, os.MkdirAll(filepath.Join(c.dir, "spool", n), 0o755))
		c.daemon("slurmd", "-D", "-N", n, "-f", c.conf)
	}
	t.Cleanup(c.stop) // before the daemons are killed
	c.until("nodes", func() bool { return c.idle() == nil })
	return c
}

// memoryGroups reports whether control groups of version 1 can be created. For version 2, Slurm 22.05 needs systemd.
func memoryGroups() bool {
	for _, g := range []string{"memory", "freezer", "cpuacct"} {
		dir := fmt.Sprintf("/sys/fs/cgroup/%s/oomscan-probe-%d", g, os.Getpid())
		if err := os.Mkdir(dir, 0o755); err != nil {
			return false
		}
		_, err := os.Stat(filepath.Join(dir, "cgroup.procs"))
		_ = os.Remove(dir)
		if err != nil {
			return false
		}
	}
	_, err := os.Stat("/sys/fs/cgroup/memory/memory.limit_in_bytes")
	return err == nil
}

func (c *cluster) file(name, text string, mode os.FileMode) string {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	require.NoError(c.t, os.WriteFile(path, []byte(text), mode))
	return path
}

// config returns slurm.conf. lines override the keys here.
func (c *cluster) config(lines []string) string {
	host, err := os.Hostname()
	require.NoError(c.t, err)
	host, _, _ = strings.Cut(host, ".")
	controller := "root"
	if u, err := user.Lookup("slurm"); err == nil {
		controller = "slurm"
		uid, _ := strconv.Atoi(u.Uid)
		require.NoError(c.t, os.Chown(filepath.Join(c.dir, "state"), uid, -1))
		require.NoError(c.t, os.Chown(c.file("log/slurmctld.log", "", 0o644), uid, -1))
	}
	base := []string{
		"ClusterName=oomscantest", "SlurmctldHost=" + host + "(127.0.0.1)", "SlurmUser=" + controller,
		"AuthType=auth/munge", "AuthInfo=socket=" + c.dir + "/run/munge.socket", "CredType=cred/munge",
		"SlurmctldPort=" + freePort(c.t), "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny",
		"SlurmctldPidFile=" + c.dir + "/run/slurmctld.pid", "SlurmdPidFile=" + c.dir + "/run/slurmd.%n.pid",
		"StateSaveLocation=" + c.dir + "/state", "SlurmdSpoolDir=" + c.dir + "/spool/%n",
		"SlurmctldLogFile=" + c.dir + "/log/slurmctld.log", "SlurmdLogFile=" + c.dir + "/log/slurmd.%n.log", "SlurmctldDebug=verbose", "SlurmdDebug=verbose",
		"SlurmdParameters=config_overrides", "ReturnToService=2", "SlurmdTimeout=300", "KillWait=2", "MpiDefault=none", "SwitchType=switch/none",
		"SchedulerType=sched/backfill", "SchedulerParameters=batch_sched_delay=0,bf_interval=1,sched_interval=1",
		"SelectType=select/cons_tres", "SelectTypeParameters=CR_CPU_Memory", "DefMemPerCPU=64",
		"JobAcctGatherFrequency=task=1", "AccountingStorageType=accounting_storage/none", "JobCompType=jobcomp/none", "MailProg=/bin/true",
		"PreemptType=preempt/partition_prio", "PreemptMode=CANCEL",
	}
	if c.kills {
		base = append(base, "ProctrackType=proctrack/cgroup", "TaskPlugin=task/cgroup", "JobAcctGatherType=jobacct_gather/cgroup")
	} else {
		base = append(base, "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "JobAcctGatherType=jobacct_gather/linux")
	}
	given := map[string]bool{}
	for _, l := range lines {
		k, _, _ := strings.Cut(l, "=")
		given[k] = true
	}
	var b strings.Builder
	for _, l := range base {
		if k, _, _ := strings.Cut(l, "="); !given[k] {
			b.WriteString(l + "\n")
		}
	}
	b.WriteString(strings.Join(lines, "\n") + "\n")
	for _, n := range c.nodes {
		fmt.Fprintf(&b, "NodeName=%s NodeHostname=%s NodeAddr=127.0.0.1 Port=%s CPUs=32 RealMemory=4000 State=UNKNOWN\n", n, host, freePort(c.t))
	}
	all := strings.Join(c.nodes, ",")
	fmt.Fprintf(&b, "PartitionName=main Nodes=%s Default=YES MaxTime=INFINITE State=UP PriorityTier=1\n", all)
	fmt.Fprintf(&b, "PartitionName=high Nodes=%s MaxTime=INFINITE State=UP PriorityTier=10\n", all)
	return b.String()
}

func freePort(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	return port
}

// daemon starts a program that ends with the test.
func (c *cluster) daemon(name string, args ...string) {
	c.t.Helper()
	cmd := exec.Command(name, args...)
	out, err := os.Create(filepath.Join(c.dir, "log", fmt.Sprintf("%s.%d.out", name, time.Now().UnixNano())))
	require.NoError(c.t, err)
	defer out.Close()
	cmd.Stdout, cmd.Stderr, cmd.Dir = out, out, c.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started, end, over := make(chan error), make(chan struct{}), make(chan struct{})
	go func() {
		runtime.LockOSThread() // the parent-death signal is tied to the thread
		err := cmd.Start()
		started <- err
		if err == nil {
			<-end
			_ = cmd.Process.Signal(syscall.SIGTERM)
			kill := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
			_ = cmd.Wait()
			kill.Stop()
		}
		close(over)
	}()
	require.NoError(c.t, <-started, name)
	c.t.Cleanup(func() { close(end); <-over })
}

// stop cancels all jobs.
func (c *cluster) stop() {
	if c.t.Failed() {
		logs, _ := filepath.Glob(filepath.Join(c.dir, "log", "*"))
		for _, l := range logs {
			b, _ := os.ReadFile(l)
			c.t.Logf("%s:\n%s", l, b[max(0, len(b)-1500):])
		}
	}
	_, _ = c.try("scancel", "--full", "--signal=KILL", "--state=RUNNING")
	_, _ = c.try("sh", "-c", "squeue -h -o %A | xargs -r scancel")
	for range 100 {
		if out, err := c.try("squeue", "-h"); err != nil || out == "" {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// ungroup removes the control groups that slurmd leaves behind.
func (c *cluster) ungroup() {
	for _, n := range c.nodes {
		dirs, _ := filepath.Glob("/sys/fs/cgroup/*/slurm_" + n)
		for _, d := range dirs {
			_ = exec.Command("find", d, "-depth", "-type", "d", "-exec", "rmdir", "{}", "+").Run()
		}
	}
}

// until waits for a condition.
func (c *cluster) until(what string, done func() bool) {
	c.t.Helper()
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if done() {
			return
		}
	}
	c.t.Fatalf("Slurm: no %s after 3 minutes", what)
}

// try runs a Slurm command as root.
func (c *cluster) try(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+c.conf)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// as runs a Slurm command as a user in a folder.
func (c *cluster) as(uid uint32, dir, name string, args ...string) string {
	c.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=/", "LC_ALL=C.UTF-8", "SLURM_CONF=" + c.conf}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid, Groups: []uint32{uid}}}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	require.NoError(c.t, err, "%s %q: %s", name, args, errs.String())
	return strings.TrimSpace(string(out))
}

// submit submits a script and returns the job id.
func (c *cluster) submit(uid uint32, dir, script string, flags ...string) string {
	c.t.Helper()
	path := filepath.Join(dir, fmt.Sprintf("script-%d.sh", time.Now().UnixNano()))
	require.NoError(c.t, os.WriteFile(path, []byte("#!/bin/bash\n"+script+"\n"), 0o755))
	defer os.Remove(path)
	id := c.as(uid, dir, "sbatch", append(append([]string{"--parsable", "--chdir=" + dir}, flags...), path)...)
	id, _, _ = strings.Cut(id, ";")
	return id
}

// wait waits for the end of jobs and their epilogs.
func (c *cluster) wait(jobs ...string) {
	c.t.Helper()
	c.until("end of "+strings.Join(jobs, " "), func() bool {
		out, err := c.try("squeue", "-h", "-o", "%A", "-j", strings.Join(jobs, ","))
		return err == nil && out == "" || err != nil && strings.Contains(out, "Invalid job id")
	})
}

// idle returns an error if a node is not usable: a failing hook drains its node.
func (c *cluster) idle() error {
	out, err := c.try("sinfo", "-h", "-N", "-o", "%N %T %E")
	if err != nil {
		return err
	}
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) < 2 || strings.Contains(f[1], "drain") || strings.Contains(f[1], "down") || strings.Contains(f[1], "unknown") || strings.HasSuffix(f[1], "*") {
			return fmt.Errorf("node: %s", line)
		}
	}
	return nil
}
