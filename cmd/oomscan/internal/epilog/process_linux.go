package epilog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Limits for other programs.
const (
	groupsLimit   = 2 * time.Second
	scontrolLimit = 2 * time.Second
	sacctmgrLimit = 3 * time.Second
	maxOutput     = 1 << 20
)

// errOutput ends a program that prints too much.
var errOutput = errors.New("it printed too much")

// limitedBuffer keeps a program's output up to a limit.
type limitedBuffer struct {
	buf  bytes.Buffer
	most int
}

func (c *limitedBuffer) Write(p []byte) (int, error) {
	if c.buf.Len()+len(p) > c.most {
		return 0, errOutput
	}
	return c.buf.Write(p)
}

// execute runs a program in its own session, with a fixed environment, and kills it after the limit. It returns its
// standard output. A program that hangs in a file system and does not even die then is left behind; the hook does not
// depend on it.
func (h *Hook) execute(limit time.Duration, cmd *exec.Cmd, most int) ([]byte, error) {
	// The parent-death signal is tied to the thread that started the child.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	out := &limitedBuffer{most: most}
	cmd.Stdout, cmd.Stderr, cmd.Dir = out, nil, "/"
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid, cmd.SysProcAttr.Pdeathsig = true, syscall.SIGKILL
	cmd.WaitDelay = 100 * time.Millisecond
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	pid := cmd.Process.Pid
	h.children.add(pid)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		_ = unix.Kill(-pid, unix.SIGKILL)
		select {
		case <-done:
		case <-time.After(500 * time.Millisecond):
			return nil, errors.New("it hangs and can't be killed") // its output is not used, because it may still write
		}
		err = fmt.Errorf("not done after %v", limit)
	}
	h.children.remove(pid)
	return out.buf.Bytes(), err
}

// environment is a program's whole environment: nothing from Slurm or a user.
func environment(more ...string) []string {
	return append([]string{"PATH=/usr/bin:/bin", "LC_ALL=C"}, more...)
}

// child runs this program as the job's user and passes it the request. Without root, it is that user already and does
// the work itself.
func (h *Hook) child(r *request, root bool) (answer, error) {
	if !root {
		return serve(r), nil
	}
	in, err := json.Marshal(r)
	if err != nil {
		return answer{}, err
	}
	uid, gid := h.job.UID, h.job.GID
	if uid == 0 || uid == 1<<32-1 {
		return answer{}, errors.New("root's jobs are left alone")
	}
	if gid == 0 || gid == 1<<32-1 {
		gid = nobody
	}
	// The user may have reached the limit of processes; the child inherits root's.
	if unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}) != nil {
		var l unix.Rlimit // in a container, root may not be allowed to raise it
		if unix.Getrlimit(unix.RLIMIT_NPROC, &l) == nil {
			l.Cur = l.Max
			if err := unix.Setrlimit(unix.RLIMIT_NPROC, &l); err != nil {
				h.trouble("limit of processes: %s", why(err))
			}
		}
	}
	cmd := &exec.Cmd{Path: "/proc/self/exe", Args: h.Self, Env: environment("GOMAXPROCS=1", "GOTRACEBACK=none"), Stdin: bytes.NewReader(in)}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid, Groups: h.groups(uid, gid)}}
	limit := time.Until(h.began.Add(time.Duration(h.config.Deadline))) - 500*time.Millisecond
	out, err := h.execute(max(limit, 100*time.Millisecond), cmd, maxAnswer)
	if err != nil {
		return answer{}, err
	}
	return readAnswer(out)
}

// groups returns a user's groups from the system's name service, because a log may be readable only by a project's
// group. It leaves out root's group.
func (h *Hook) groups(uid, gid uint32) []uint32 {
	groups := []uint32{gid}
	cmd := &exec.Cmd{Path: "/usr/bin/id", Args: []string{"id", "-G", "--", strconv.FormatUint(uint64(uid), 10)}, Env: environment()}
	out, err := h.execute(groupsLimit, cmd, 64<<10)
	if err != nil {
		return groups // unknown to the name service
	}
	for _, f := range strings.Fields(string(out)) {
		if g, err := strconv.ParseUint(f, 10, 32); err == nil && g != 0 && !slices.Contains(groups, uint32(g)) {
			groups = append(groups, uint32(g))
		}
	}
	return groups
}

// toolPath returns the path of one of Slurm's programs: as configured, next to the calling daemon, or where packages
// install it.
func toolPath(configured, name string) (string, error) {
	if configured != auto {
		return configured, nil
	}
	places := []string{"/usr/bin/" + name, "/usr/local/bin/" + name, "/opt/slurm/bin/" + name}
	if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", os.Getppid())); err == nil && strings.Contains(filepath.Base(exe), "slurm") {
		places = append([]string{filepath.Join(filepath.Dir(exe), "../bin", name)}, places...)
	}
	for _, p := range places {
		if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return p, nil
		}
	}
	return "", fmt.Errorf("no %s found", name)
}

// slurmEnv is the environment of Slurm's programs.
func (h *Hook) slurmEnv() []string {
	if h.job.Conf == "" {
		return environment()
	}
	return environment("SLURM_CONF=" + h.job.Conf)
}

// slurmTool runs one of Slurm's programs.
func (h *Hook) slurmTool(limit time.Duration, path string, args ...string) ([]byte, error) {
	cmd := &exec.Cmd{Path: path, Args: append([]string{filepath.Base(path)}, args...), Env: h.slurmEnv()}
	return h.execute(limit, cmd, maxOutput)
}

// scontrol asks slurmctld for what is not in the environment.
func (h *Hook) scontrol() (record, error) {
	path, err := toolPath(h.config.Scontrol, "scontrol")
	if err != nil {
		return record{}, err
	}
	out, err := h.slurmTool(scontrolLimit, path, "show", "job", "-o", fmt.Sprint(h.job.ID))
	if err != nil {
		return record{}, err
	}
	r, ok := jobRecord(string(out), h.job.ID, h.job.UID)
	if !ok {
		return record{}, errors.New("it has no record of this job")
	}
	return r, nil
}

// maxComment is the size of the accounting's AdminComment column.
const maxComment = 65535

// comment stores the finding in the accounting, because scontrol rejects comments for jobs that have ended. It never
// loses an existing comment: if it cannot read it, it writes nothing.
func (h *Hook) comment(text string) error {
	path, err := toolPath(h.config.Sacctmgr, "sacctmgr")
	if err != nil {
		return err
	}
	show := []string{"-n", "-P", "-X", "-j", fmt.Sprint(h.job.ID), "-o", "AdminComment"}
	args := []string{"-i", "modify", "job", "where", fmt.Sprintf("jobid=%d", h.job.ID)}
	if hostName(h.job.Cluster) {
		show = append(show, "-M", h.job.Cluster)
		args = append(args, "cluster="+h.job.Cluster)
	}
	out, err := h.slurmTool(sacctmgrLimit, filepath.Join(filepath.Dir(path), "sacct"), show...)
	if err != nil {
		return fmt.Errorf("the comment that is there cannot be read: %w", err)
	}
	text, err = mergeComment(strings.TrimRight(string(out), "\n"), text, h.config.Comment)
	if text == "" {
		return err
	}
	_, err = h.slurmTool(sacctmgrLimit, path, append(args, "set", "AdminComment="+text)...)
	return err
}

// mergeComment returns the comment that replaces an old one, or "" to keep the old one.
func mergeComment(old, text, choice string) (string, error) {
	switch {
	case old == "":
		return text, nil
	case choice != appending || strings.Contains(old, text):
		return "", nil
	case strings.ContainsFunc(old, func(r rune) bool { return r < ' ' || r == '"' || r == '\'' || r == 0x7f }):
		return "", errors.New("the comment that is there has quotes or control characters, which sacctmgr would change")
	case len(old)+len("; ")+len(text) > maxComment:
		return "", fmt.Errorf("the comment that is there leaves no room in %d bytes", maxComment)
	}
	return old + "; " + text, nil
}
