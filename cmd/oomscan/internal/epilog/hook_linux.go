package epilog

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Hook is one call by Slurm.
type Hook struct {
	Env     func(string) string
	Config  string   // path of the configuration; empty: [DefaultConfig], which may be missing
	Version string   // of the program
	Self    []string // command line that runs this program as the child; see [Child]
	Stderr  *os.File // a TaskEpilog's is the job's log

	config   Config
	job      Job
	began    time.Time
	troubles []string
	children children
	watchdog *time.Timer
}

// Run runs the hook. It prints nothing except a TaskEpilog's finding, to stderr. It always returns or exits with
// status 0 within the deadline: after a panic, on a signal, and when something that it waits for hangs.
func (h *Hook) Run() {
	h.began = time.Now()
	defer func() {
		if p := recover(); p != nil {
			h.children.kill()
			h.trouble("panic: %v", p)
			h.report("panic", nil)
		}
	}()
	h.config = Defaults()
	h.watchdog = time.AfterFunc(time.Duration(h.config.Deadline), func() { h.abandon("the deadline has passed") })
	stop := make(chan os.Signal, 1)
	signal.Ignore(syscall.SIGPIPE)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	go func() { h.abandon("signal: " + (<-stop).String()) }()
	h.run()
}

// abandon ends the process and its children at once.
func (h *Hook) abandon(why string) {
	h.children.kill()
	done := make(chan struct{})
	go func() { // writing to the log may hang
		defer close(done)
		logLine(&h.config, fmt.Sprintf("job=%d abandoned after %d ms: %s", h.job.ID, time.Since(h.began).Milliseconds(), printable(why, 100)))
	}()
	select {
	case <-done:
	case <-time.After(200 * time.Millisecond):
	}
	os.Exit(0)
}

func (h *Hook) trouble(format string, args ...any) {
	if len(h.troubles) < maxTroubles {
		h.troubles = append(h.troubles, printable(fmt.Sprintf(format, args...), 300))
	}
}

func (h *Hook) run() {
	host, _ := os.Hostname()
	job, err := fromEnv(h.Env, host)
	if err != nil {
		h.trouble("%v", err)
		h.report("no job", nil)
		return
	}
	h.job = job
	if h.config, err = loadConfig(h.Config); err != nil {
		h.config = Defaults()
		h.trouble("%v", err)
		h.report("configuration", nil)
		return
	}
	h.watchdog.Reset(time.Until(h.began.Add(time.Duration(h.config.Deadline))))
	if h.config.skips(job.User, job.UID) || job.UID == 0 || job.UID == 1<<32-1 {
		return
	}
	switch job.Context {
	case onController:
		h.onController()
	case inTask:
		h.inTask()
	case onNode:
		h.onNode()
	default:
		h.trouble("SLURM_SCRIPT_CONTEXT is %q: no epilog", job.Context)
		h.report("context", nil)
	}
}

// onController knows only the exit codes: it runs as Slurm's own user, before the job's processes are gone.
func (h *Hook) onController() {
	var a answer
	if h.job.OutOfMemory() {
		a.Findings = []Finding{killFinding()}
	}
	h.deliver(&a, nil)
}

// killFinding is the finding when only Slurm or the kernel reports a kill.
func killFinding() Finding {
	return Finding{Verdict: "memory", Kind: "oom_kill", Phase: "unknown", Framework: "unknown", Rank: -1}
}

// taskLimit is how long a TaskEpilog may take: Slurm sets no limit, and the job waits for it.
const taskLimit = 3 * time.Second

// inTask prints into the job's log what the log shows so far: Slurm's own message about a kill comes later. The hook
// is called for each task, but only the batch script's call reads the log.
func (h *Hook) inTask() {
	if h.job.Step != "" || h.job.Procid != "" && h.job.Procid != "0" || h.Stderr == nil || os.Getuid() == 0 {
		return
	}
	h.watchdog.Reset(taskLimit)
	path, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", h.Stderr.Fd()))
	if err != nil || !strings.HasPrefix(path, "/") || strings.HasSuffix(path, " (deleted)") {
		return
	}
	r := h.request()
	r.Stderr, r.Dry, r.Reporter, r.MayGuess = path, true, true, true
	r.Job.UID = uint32(os.Getuid())
	r.Config.Budget.Wall = min(r.Config.Budget.Wall, Duration(taskLimit*2/3))
	a := serve(&r)
	if hasProof(a.Findings) {
		_, _ = h.Stderr.Write(quoteLines(a.Short, ""))
	}
}

// request returns a request with what the child needs.
func (h *Hook) request() request {
	c := h.config
	c.Sacctmgr, c.Textfile, c.Spool, c.Log, c.Skip, c.Scontrol = "", "", "", "", nil, ""
	return request{Job: h.job, Config: c, Version: h.Version}
}

// onNode is the actual epilog.
func (h *Hook) onNode() {
	j := &h.job
	root := os.Geteuid() == 0
	if !root && uint32(os.Geteuid()) != j.UID {
		h.trouble("neither root nor the job's user")
		h.report("rights", nil)
		return
	}
	var old state
	var store *states
	if root {
		var err error
		if store, err = openStates(); err != nil {
			h.trouble("%s: %s", stateFolder, why(err))
		}
		defer store.close()
		old = store.load(j)
	}
	kernel := newKernelLog(j.ID, j.UID, j.Node, old.Kernel, sinceBoot(j.Started))
	if err := readKernel(kernelFile, kernel); err != nil && root {
		h.trouble("%s: %s", kernelFile, why(err))
	}
	r := h.request()
	r.Kernel, r.Marks, r.Reporter = string(kernel.out), old.Marks, j.Reports()
	r.Document = h.config.Spool != off
	var a answer
	if j.Batch && (r.Reporter || h.config.AllNodes || r.Kernel != "") {
		a = h.ask(&r, root)
	}
	if r.Reporter && len(a.Findings) == 0 && j.OutOfMemory() || len(a.Findings) == 0 && kernel.matched > 0 {
		a.Findings = []Finding{killFinding()} // no log, or no child
	}
	if store != nil && (j.Restarts > 0 || kernel.matched > 0 || len(a.Findings) > 0) {
		if err := store.save(j, state{Kernel: max(kernel.last, old.Kernel), Marks: a.Marks}); err != nil {
			h.trouble("%s: %s", stateFolder, why(err))
		}
	}
	h.deliver(&a, a.Document)
}

// ask runs the child, twice if the log's name needs scontrol.
func (h *Hook) ask(r *request, root bool) answer {
	r.MayGuess = h.config.Scontrol == off
	a, err := h.child(r, root)
	if err == nil && a.NeedsScontrol && !r.MayGuess {
		rec, rerr := h.scontrol()
		if rerr != nil {
			h.trouble("scontrol: %s", why(rerr))
		} else {
			n := &r.Job.Names
			n.Name, n.Array, n.Task = rec.Name, rec.Array, rec.Task
			if n.Task == "" {
				n.Array, n.Task = fmt.Sprint(r.Job.ID), noTask
			}
		}
		r.MayGuess = true
		a, err = h.child(r, root)
	}
	if err != nil {
		h.trouble("child: %s", why(err))
	}
	h.troubles = append(h.troubles, a.Troubles...)
	return a
}

// sinceBoot returns a job's start on the clock of the kernel's log, some seconds early; 0 if unknown.
func sinceBoot(started time.Time) time.Duration {
	var ts unix.Timespec
	if started.IsZero() || unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return 0
	}
	const slack = 10 * time.Second // the two clocks drift
	return max(0, time.Duration(ts.Nano())-time.Since(started)-slack)
}

// loadConfig reads the configuration if only root can have written it.
func loadConfig(path string) (Config, error) {
	if path == "" {
		path = DefaultConfig
		if _, err := os.Lstat(path); os.IsNotExist(err) {
			return Defaults(), nil
		}
	}
	data, err := readRootOnly(path)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	c, err := Parse(data)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// readRootOnly reads a file that only root can write, in folders that only root can write to.
func readRootOnly(path string) ([]byte, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("not an absolute path")
	}
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if err := checkRootOnly(filepath.Dir(path)); err != nil {
		return nil, err
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return nil, errKind
	case st.Uid != 0 || st.Mode&0o022 != 0:
		return nil, fmt.Errorf("others than root can write it")
	case st.Size > maxConfig:
		return nil, fmt.Errorf("larger than 64 KiB")
	}
	return io.ReadAll(io.LimitReader(f, maxConfig))
}

// checkRootOnly returns an error if anybody but root can change what a path leads to: all folders must be root's, and
// not writable by others unless they are sticky.
func checkRootOnly(dir string) error {
	for {
		var st unix.Stat_t
		if err := unix.Lstat(dir, &st); err != nil {
			return err
		}
		sticky := st.Mode&unix.S_ISVTX != 0
		if st.Mode&unix.S_IFMT != unix.S_IFDIR || st.Uid != 0 || st.Mode&0o022 != 0 && !sticky {
			return fmt.Errorf("others than root can write to %s", dir)
		}
		if dir == "/" {
			return nil
		}
		dir = filepath.Dir(dir)
	}
}

// children are the running child processes.
type children struct {
	mu   sync.Mutex
	pids map[int]bool
	over bool
}

func (c *children) add(pid int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pids == nil {
		c.pids = map[int]bool{}
	}
	c.pids[pid] = true
	if c.over {
		_ = unix.Kill(-pid, unix.SIGKILL)
	}
}

func (c *children) remove(pid int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pids, pid)
}

// kill kills all children and their descendants: each child leads its own session.
func (c *children) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	for pid := range c.pids {
		_ = unix.Kill(-pid, unix.SIGKILL)
	}
}
