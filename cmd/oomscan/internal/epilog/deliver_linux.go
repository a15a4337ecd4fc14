package epilog

import (
	"encoding/json"
	"fmt"
	stdlog "log/syslog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// deliver makes root's deliveries and logs the result.
func (h *Hook) deliver(a *answer, doc json.RawMessage) {
	result := "clean"
	if len(a.Findings) > 0 {
		result = "suspect"
	}
	if hasProof(a.Findings) {
		result = "memory"
	}
	c := &h.config
	if c.Textfile != off {
		if err := count(c.Textfile, result, a.Findings, time.Since(h.began)); err != nil {
			h.trouble("%s: %s", c.Textfile, why(err))
		}
	}
	if c.Spool != off && doc != nil && len(a.Findings) > 0 {
		if err := h.spool(doc); err != nil {
			h.trouble("%s: %s", c.Spool, why(err))
		}
	}
	if c.Sacctmgr != off && result == "memory" {
		if err := h.comment("oomscan: " + summary(a.Findings)); err != nil {
			h.trouble("sacctmgr: %s", why(err))
		}
	}
	h.report(result, a)
}

// report writes a line to the hook's log.
func (h *Hook) report(result string, a *answer) {
	if !h.config.LogAll && len(h.troubles) == 0 && (a == nil || len(a.Findings) == 0) {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "job=%d uid=%d node=%s context=%s result=%s ms=%d", h.job.ID, h.job.UID, h.job.Node, printable(h.job.Context, 30), result, time.Since(h.began).Milliseconds())
	if a != nil {
		fmt.Fprintf(&b, " files=%d bytes=%d", len(a.Files), a.Bytes)
		if s := summary(a.Findings); s != "" {
			fmt.Fprintf(&b, " finding=%q", s)
		}
		if a.Report != "" {
			fmt.Fprintf(&b, " report=%q", a.Report)
		}
	}
	for _, t := range h.troubles {
		fmt.Fprintf(&b, " trouble=%q", t)
	}
	logLine(&h.config, b.String())
}

// maxLog is the size at which the hook's own log is rotated.
const maxLog = 16 << 20

// logLine writes a printable line to the log. It ignores errors, because there is nowhere to report them.
func logLine(c *Config, line string) {
	line = printable(line, 4000)
	switch c.Log {
	case off, "":
	case syslog:
		if w, err := stdlog.New(stdlog.LOG_DAEMON|stdlog.LOG_NOTICE, "oomscan-epilog"); err == nil {
			_ = w.Notice(line)
			w.Close()
		}
	default:
		if checkRootOnly(filepath.Dir(c.Log)) != nil {
			return
		}
		fd, err := unix.Open(c.Log, unix.O_WRONLY|unix.O_APPEND|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600)
		if err != nil {
			return
		}
		defer unix.Close(fd)
		var st unix.Stat_t
		if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
			return
		}
		_, _ = unix.Write(fd, []byte(time.Now().Format(time.RFC3339)+" "+line+"\n"))
		if st.Size > maxLog {
			_ = os.Rename(c.Log, c.Log+".1")
		}
	}
}

// spool writes the document for root's programs. Its content comes from the job's user.
func (h *Hook) spool(doc json.RawMessage) error {
	dir, err := openRootOnly(h.config.Spool)
	if err != nil {
		return err
	}
	defer dir.Close()
	name := strconv.FormatUint(uint64(h.job.ID), 10)
	if h.job.Node != "" {
		name += "." + h.job.Node
	}
	return replace(dir, name+".json", 0o600, append(doc, '\n'))
}

// openRootOnly opens a folder that only root can write to.
func openRootOnly(path string) (*os.Root, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if err := checkRootOnly(real); err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Lstat(real, &st); err != nil {
		return nil, err
	}
	if st.Mode&0o022 != 0 {
		return nil, fmt.Errorf("others than root can write to it")
	}
	return os.OpenRoot(real)
}

// replace replaces a file atomically.
func replace(dir *os.Root, name string, mode os.FileMode, data []byte) error {
	temp := fmt.Sprintf(".%s.%d", name, os.Getpid())
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if cerr := f.Chmod(mode); err == nil {
		err = cerr
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil {
		_ = dir.Remove(temp)
	}
	return err
}

// count adds a job to the counters of node_exporter's textfile collector. Concurrent epilogs take turns with a lock,
// for which they wait a second at most.
func count(path, result string, list []Finding, took time.Duration) error {
	dir, err := openRootOnly(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	name := filepath.Base(path)
	lock, err := dir.OpenFile("."+name+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	for tries := 0; ; tries++ {
		if err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
			break
		}
		if tries == 200 {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
	old, err := dir.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	s := readSeries(string(old[:min(len(old), 1<<20)]))
	s.add(result, list, took)
	return replace(dir, name, 0o644, []byte(s.text()))
}
