package epilog

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"
	"time"

	"oomscan/parser/stream"

	"golang.org/x/sys/unix"
)

// Why no report was written beside a log.
var (
	errFolder = errors.New("the folder is not the user's and anybody may write to it")
	errThere  = errors.New("this run of the job has its report already")
)

// maxReports bounds the reports beside one log, one for each run of a requeued job.
const maxReports = 9

// openFolder opens a log's folder for writing.
func openFolder(logPath string, uid uint32) (fd int, err error) {
	fd, err = unix.Open(path.Dir(logPath), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && st.Uid != uid && st.Mode&0o002 != 0 {
		err = errFolder
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// writeBeside writes a report beside a log and returns its name. The file appears atomically, replaces nothing and
// follows no link: it is created without a name, or under a temporary one, and then linked to a free name. A report
// that exists and is as new as the log belongs to this run. It has the log's read permissions.
func writeBeside(dir int, l *logFile, infix, ext string, data []byte) (name string, err error) {
	stem := path.Base(l.path)
	if len(stem)+len(infix)+len(ext) > 230 {
		stem = stem[:230-len(infix)-len(ext)]
	}
	mode := l.stat.Mode&0o044 | 0o600
	for i := 1; i <= maxReports; i++ {
		name = stem + infix + ".oomscan."
		if i > 1 {
			name += strconv.Itoa(i) + "."
		}
		name += ext
		var st unix.Stat_t
		switch err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); {
		case err == nil && st.Mode&unix.S_IFMT == unix.S_IFREG && st.Uid == l.stat.Uid && !time.Unix(st.Mtim.Unix()).Before(l.modified()):
			return name, errThere
		case err == nil:
			continue
		}
		err = create(dir, name, mode, data)
		if !errors.Is(err, unix.EEXIST) {
			return name, err
		}
	}
	return "", unix.EEXIST
}

// create creates a file with that name and content, or nothing.
func create(dir int, name string, mode uint32, data []byte) error {
	fd, err := unix.Openat(dir, ".", unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, mode)
	if err != nil {
		return createNamed(dir, name, mode, data) // not supported by every file system
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	if err = fill(f, mode, data); err != nil {
		return err
	}
	err = unix.Linkat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), dir, name, unix.AT_SYMLINK_FOLLOW)
	if err == nil || errors.Is(err, unix.EEXIST) {
		return err
	}
	return createNamed(dir, name, mode, data)
}

// createNamed is create for file systems without unnamed files.
func createNamed(dir int, name string, mode uint32, data []byte) error {
	temp := fmt.Sprintf(".oomscan-%d-%d", unix.Getpid(), time.Now().UnixNano())
	fd, err := unix.Openat(dir, temp, unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_WRONLY|unix.O_CLOEXEC, mode)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), temp)
	defer f.Close()
	if err = fill(f, mode, data); err == nil {
		if err = unix.Renameat2(dir, temp, dir, name, unix.RENAME_NOREPLACE); err == nil {
			return nil
		}
		if !errors.Is(err, unix.EEXIST) { // NFS supports links but not this rename
			err = unix.Linkat(dir, temp, dir, name, 0)
		}
	}
	_ = unix.Unlinkat(dir, temp, 0)
	return err
}

// fill writes a new file. Errors of a full disk or a quota occur here.
func fill(f *os.File, mode uint32, data []byte) error {
	if err := f.Chmod(os.FileMode(mode)); err != nil {
		return err
	}
	_, err := f.Write(data)
	return err
}

// maxAppended bounds a line that is appended to a log.
const maxAppended = 300

// quoteLines formats a short report, and the path of the whole one, as lines that no later scan reads as a log.
func quoteLines(short []string, whole string) []byte {
	var b bytes.Buffer
	b.WriteByte('\n') // the log's last line may be incomplete
	if whole != "" {
		short = append(short[:len(short):len(short)], "whole report: "+whole)
	}
	for _, line := range short {
		b.WriteString(stream.Quoted + printable(line, maxAppended) + "\n")
	}
	return b.Bytes()
}

// appendTo appends to one of the job's own logs with a single write, so that the lines stay together.
func appendTo(l *logFile, data []byte) error {
	if l.stat.Nlink != 1 {
		return errors.New("it has another name")
	}
	fd, err := unix.Open(l.path, unix.O_WRONLY|unix.O_APPEND|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Dev != l.stat.Dev || st.Ino != l.stat.Ino {
		return errKind
	}
	n, err := unix.Write(fd, data)
	if err == nil && n < len(data) {
		err = unix.ENOSPC
	}
	return err
}
