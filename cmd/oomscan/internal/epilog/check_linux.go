package epilog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"oomscan/cmd/oomscan/internal/pack"
)

// Check shows an administrator whether the hook works on this machine, and what it would do for a job. It writes no
// report and delivers nothing.
type Check struct {
	Out     io.Writer
	Width   int    // columns; 0: 80
	Config  string // as of [Hook]
	Program string // path of oomscan
	Version string
	Self    []string // as of [Hook]
	Env     func(string) string
	Job     string // a job id; empty: none

	hook   Hook
	failed bool
}

// How a line begins.
const (
	good = "yes"
	bad  = "NO"
	note = "note"
)

// Run prints a line for each finding and reports whether all is well.
func (c *Check) Run() bool {
	c.hook = Hook{Env: c.Env, Config: c.Config, Version: c.Version, Self: c.Self, began: time.Now(), config: Defaults()}
	c.hook.job.Conf = c.Env("SLURM_CONF")
	host, _ := os.Hostname()
	fmt.Fprintf(c.Out, "oomscan %s as a Slurm epilog on %s\n\n", c.Version, printable(host, 100))
	root := os.Geteuid() == 0
	if !root {
		c.say(note, "rights", "not root: the kernel's log, other users' jobs and the change of user are not tried")
	}
	c.program()
	c.configuration()
	c.slurm()
	if root {
		c.kernel()
		c.user()
	}
	if c.Job != "" {
		c.job(root)
	}
	return !c.failed
}

// say prints a finding, wrapped.
func (c *Check) say(word, about, format string, args ...any) {
	c.failed = c.failed || word == bad
	width := c.Width
	if width <= 0 {
		width = 80
	}
	const indent = 22
	line := fmt.Sprintf("%-4s  %-14s  ", word, about)
	used := len(line)
	for i, w := range strings.Fields(printable(fmt.Sprintf(format, args...), 2000)) {
		if i > 0 && used+1+len(w) > width {
			line += "\n" + strings.Repeat(" ", indent)
			used = indent
		} else if i > 0 {
			line += " "
			used++
		}
		line += w
		used += len(w)
	}
	fmt.Fprintln(c.Out, line)
}

// program checks that every user can start oomscan, because the child runs as the job's user.
func (c *Check) program() {
	st, err := os.Stat(c.Program)
	switch {
	case err != nil:
		c.say(bad, "program", "%s: %s", c.Program, why(err))
	case st.Mode()&0o001 == 0:
		c.say(bad, "program", "%s can't be started by other users: chmod o+rx", c.Program)
	case checkRootOnly(filepath.Dir(c.Program)) != nil || st.Mode()&0o022 != 0:
		c.say(bad, "program", "%s: others than root can replace it, and it is run as root", c.Program)
	default:
		c.say(good, "program", "%s, every user can start it", c.Program)
	}
}

func (c *Check) configuration() {
	path := c.Config
	if path == "" {
		path = DefaultConfig
		if _, err := os.Lstat(path); os.IsNotExist(err) {
			c.say(good, "configuration", "there is no %s: the defaults hold", path)
			return
		}
	}
	cfg, err := loadConfig(path)
	if err != nil {
		c.say(bad, "configuration", "%v; until this is fixed the hook does nothing", err)
		return
	}
	c.hook.config = cfg
	c.say(good, "configuration", "%s", path)
	if cfg.Textfile != off {
		c.folder("textfile", filepath.Dir(cfg.Textfile))
	}
	if cfg.Spool != off {
		c.folder("spool", cfg.Spool)
	}
	if cfg.Rules != off {
		if p, faults := pack.Load([]string{cfg.Rules}); len(faults) > 0 {
			c.say(bad, "rules", "%v; until this is fixed the hook does without", faults[0])
		} else {
			c.say(good, "rules", "%s: %d patterns, %d guides", cfg.Rules, len(p.Patterns), len(p.Guides))
		}
	}
	if cfg.Sacctmgr != off {
		if path, err := toolPath(cfg.Sacctmgr, "sacctmgr"); err != nil {
			c.say(bad, "sacctmgr", "%v", err)
		} else {
			c.say(good, "sacctmgr", "%s", path)
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), "sacct")); err != nil {
				c.say(bad, "sacct", "%v: nothing is written where an AdminComment cannot be read", err)
			}
		}
	}
}

// folder checks that only root can write to a folder.
func (c *Check) folder(about, path string) {
	if dir, err := openRootOnly(path); err != nil {
		c.say(bad, about, "%s: %s", path, why(err))
	} else {
		dir.Close()
		c.say(good, about, "%s", path)
	}
}

// checkLimit is the time limit for each of Slurm's programs.
const checkLimit = 5 * time.Second

// setting matches a line of `scontrol show config`; since 24.05, lists have a line per element.
const setting = `(?m)^(\w+)(?:\[\d+\])?\s*= (.*?)\s*$`

func (c *Check) slurm() {
	path, err := toolPath(auto, "scontrol")
	if err != nil {
		c.say(bad, "Slurm", "%v", err)
		return
	}
	out, err := c.hook.slurmTool(checkLimit, path, "show", "config")
	if err != nil {
		c.say(bad, "Slurm", "%s show config: %s: does slurmctld run, is SLURM_CONF right?", path, why(err))
		return
	}
	conf := map[string][]string{}
	for _, m := range regexp.MustCompile(setting).FindAllStringSubmatch(string(out), -1) {
		if m[2] != "(null)" {
			conf[m[1]] = append(conf[m[1]], m[2])
		}
	}
	first := func(key string) string { return strings.Join(conf[key], ", ") }
	c.say(good, "Slurm", "%s, %s", first("SLURM_VERSION"), path)
	hooks := 0
	for _, key := range []string{"Epilog", "TaskEpilog", "EpilogSlurmctld"} {
		for _, v := range conf[key] {
			for _, p := range strings.Split(v, ",") {
				if callsOomscan(strings.TrimSpace(p)) {
					hooks++
					c.say(good, key, "%s", p)
				}
			}
		}
	}
	if hooks == 0 {
		c.say(bad, "Epilog", "none of Slurm's hooks leads to oomscan: `oomscan epilog --install /etc/oomscan` prints the line for slurm.conf")
	}
	if user := first("SlurmdUser"); user != "" && !strings.HasPrefix(user, "root") {
		c.say(bad, "SlurmdUser", "%s: only root can read the logs of all users", user)
	}
	limit := append(conf["EpilogTimeout"], conf["PrologEpilogTimeout"]...)
	seconds := regexp.MustCompile(`\d+`).FindString(strings.Join(limit, " "))
	n, err := strconv.Atoi(seconds)
	switch {
	case err != nil || n >= 65534:
		c.say(note, "time-out", "PrologEpilogTimeout (25.05: EpilogTimeout) is not set: any hook that hangs keeps its node for ever; 60 is a good value")
	case time.Duration(n)*time.Second < time.Duration(c.hook.config.Deadline)+2*time.Second:
		c.say(bad, "time-out", "Slurm kills hooks after %d s and drains the node; this one may take %v (deadline)", n, time.Duration(c.hook.config.Deadline))
	default:
		c.say(good, "time-out", "%d s", n)
	}
}

// callsOomscan reports whether a script named in slurm.conf is this program or calls it.
func callsOomscan(path string) bool {
	names, _ := filepath.Glob(path)
	return slices.ContainsFunc(names, func(n string) bool {
		f, err := os.Open(n)
		if err != nil {
			return false
		}
		defer f.Close()
		b := make([]byte, 16<<10)
		k, _ := io.ReadFull(f, b)
		real, _ := filepath.EvalSymlinks(n)
		return strings.HasPrefix(string(b[:k]), "#!") && strings.Contains(string(b[:k]), "oomscan") || filepath.Base(n) == WrapperName && strings.Contains(filepath.Base(real), "oomscan")
	})
}

func (c *Check) kernel() {
	k := newKernelLog(1<<32-1, 1<<32-1, "", 0, 0)
	k.group = nil // as for a job that occurs in the log
	begin := time.Now()
	if err := readKernel(kernelFile, k); err != nil {
		c.say(bad, "kernel's log", "%s: %s: OOM kills are known from Slurm alone, without figures", kernelFile, why(err))
		return
	}
	c.say(good, "kernel's log", "%s, read in %d ms", kernelFile, time.Since(begin).Milliseconds())
}

// user becomes nobody and measures the cost of a job with an empty log.
func (c *Check) user() {
	h := &c.hook
	h.job.ID, h.job.UID, h.job.GID = 1<<32-2, nobody, nobody
	best := time.Hour
	var err error
	for range 5 {
		h.began = time.Now()
		r := h.request()
		r.Job.WorkDir, r.Job.Stdout, r.MayGuess, r.Reporter, r.Dry = "/", "/dev/null", true, true, true
		var a answer
		if a, err = h.child(&r, true); err != nil || len(a.Troubles) > 0 {
			break
		}
		best = min(best, time.Since(h.began))
	}
	if err != nil {
		c.say(bad, "job's user", "as the user nobody: %s", why(err))
		return
	}
	c.say(good, "job's user", "became nobody; a job with nothing in its log costs %d ms besides the start of the hook", best.Milliseconds())
}

// job shows what the hook would do for a job.
func (c *Check) job(root bool) {
	id := decimal(c.Job)
	if id == "" || id == "0" {
		c.say(bad, "job", "%q is no number of a job; of an array's task it is the one that %%j stands for", c.Job)
		return
	}
	j, err := c.ask(id)
	if err != nil {
		c.say(bad, "job "+id, "%s", why(err))
		return
	}
	h := &c.hook
	h.job, h.began = j, time.Now()
	switch {
	case j.UID == 0:
		c.say(note, "job "+id, "it is root's: these are left alone")
		return
	case h.config.skips(j.User, j.UID):
		c.say(note, "job "+id, "skip_users has its user")
		return
	case !root && uint32(os.Geteuid()) != j.UID:
		c.say(bad, "job "+id, "it is %s's: be root, or that user", j.User)
		return
	}
	kernel := newKernelLog(j.ID, j.UID, "", 0, 0)
	if root {
		_ = readKernel(kernelFile, kernel)
	}
	r := h.request()
	r.Kernel, r.MayGuess, r.Reporter, r.Dry, r.Width = string(kernel.out), true, true, true, c.Width
	a, err := h.child(&r, root)
	if err != nil {
		c.say(bad, "job "+id, "%s", why(err))
		return
	}
	took := time.Since(h.began)
	for _, t := range a.Troubles {
		c.say(note, "job "+id, "%s", t)
	}
	if len(a.Files) == 0 {
		c.say(bad, "job "+id, "no log found: asked for were %q and %q in %s", j.Stderr, j.Stdout, j.WorkDir)
		return
	}
	for _, f := range a.Files {
		c.say(good, "job "+id, "reads %s", f)
	}
	word := "nothing: no report would be left"
	if len(a.Findings) > 0 {
		word = summary(a.Findings)
	}
	c.say(good, "job "+id, "finds %s; %d bytes in %d ms", word, a.Bytes, took.Milliseconds())
	if len(a.Findings) > 0 {
		fmt.Fprintf(c.Out, "\n%s", lines(a.Text))
	}
}

// lines makes text of several lines printable: the child that wrote it runs as the user.
func lines(text string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		b.WriteString(printable(strings.TrimSuffix(l, "\n"), 1000) + "\n")
	}
	return b.String()
}

// owner matches a job's user or group in scontrol's output.
const owner = `^(.+)\((\d+)\)$`

// ask returns a job as Slurm would describe it to the hook, from scontrol's output for administrators. The paths in
// it are already partly expanded.
func (c *Check) ask(id string) (Job, error) {
	path, err := toolPath(c.hook.config.Scontrol, "scontrol")
	if err != nil || path == off {
		return Job{}, errors.Join(errors.New("scontrol may not be asked"), err)
	}
	out, err := c.hook.slurmTool(checkLimit, path, "show", "job", "-o", id)
	if err != nil {
		return Job{}, fmt.Errorf("scontrol show job: %w: Slurm forgets a job MinJobAge seconds after its end", err)
	}
	m := regexp.MustCompile(` UserId=\S+?\((\d+)\)`).FindStringSubmatch(string(out))
	if m == nil {
		return Job{}, errors.New("scontrol names no user")
	}
	number, _ := strconv.ParseUint(id, 10, 32)
	uid, _ := strconv.ParseUint(m[1], 10, 32)
	rec, ok := jobRecord(string(out), uint32(number), uint32(uid))
	if !ok {
		return Job{}, errors.New("scontrol has no record of this job")
	}
	host, _ := os.Hostname()
	env := map[string]string{
		"SLURM_SCRIPT_CONTEXT": onNode, "SLURM_JOB_ID": id, "SLURM_JOB_UID": m[1], "SLURM_JOB_WORK_DIR": rec.Rest["WorkDir"],
		"SLURM_JOB_STDERR": rec.Rest["StdErr"], "SLURM_JOB_STDOUT": rec.Rest["StdOut"], "SLURM_JOB_STDIN": "/dev/null",
		"SLURM_JOB_NAME": rec.Name, "SLURM_ARRAY_JOB_ID": rec.Array, "SLURM_ARRAY_TASK_ID": rec.Task,
		"SLURM_JOB_RESTART_COUNT": rec.Rest["Restarts"], "SLURM_CONF": c.Env("SLURM_CONF"),
	}
	named := regexp.MustCompile(owner)
	if m := named.FindStringSubmatch(rec.Rest["UserId"]); m != nil {
		env["SLURM_JOB_USER"] = m[1]
	}
	if m := named.FindStringSubmatch(rec.Rest["GroupId"]); m != nil {
		env["SLURM_JOB_GID"] = m[2]
	}
	return fromEnv(func(k string) string { return env[k] }, host)
}
