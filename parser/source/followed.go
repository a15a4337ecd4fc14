package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Log is a file that a [Follower] follows.
type Log struct {
	Name string // as [Input.Name]
	Path string

	follower     *Follower
	from         string      // the folder of the command line that it was found in; empty if the file itself was named
	info         fs.FileInfo // of the file being read; nil if it did not exist yet
	file         *os.File    // nil while closed
	used         int         // tick of the last read
	read         position
	sniffed      bool
	notLog       bool      // it is not a log
	rejectedSize int64     // its size when its contents were not a log
	replacedAt   time.Time // when another file took its place, or the last read after that
	searched     bool      // it was searched for under other names
}

// position is how far a file was read. The bytes before it identify the file's content.
type position struct {
	path string
	info fs.FileInfo
	off  int64
	tail []byte
}

// matches reports whether the file at path contains what was read.
func (c *position) matches(path string) bool {
	file, err := openRegular(path)
	if err != nil {
		return false
	}
	defer file.Close()
	b := make([]byte, len(c.tail))
	n, _ := file.ReadAt(b, c.off-int64(len(c.tail)))
	return c.off > 0 && n == len(b) && string(b) == string(c.tail)
}

// Read reads the log's next bytes into p. It returns 0 bytes when there are no new ones. restarted means that another
// content begins: the file was truncated or replaced. now is the current time. Logs of a follower may be read concurrently.
func (l *Log) Read(p []byte, now time.Time) (n int, restarted bool, err error) {
	l.follower.mu.Lock()
	defer l.follower.mu.Unlock()
	if l.notLog {
		return 0, false, nil
	}
	info, err := os.Stat(l.Path)
	if err == nil && !info.Mode().IsRegular() {
		err = ErrKind
	}
	switch {
	case err == nil && l.info == nil && info.Size() == 0:
		l.info = info
		return 0, false, nil
	case err == nil && l.info == nil:
		l.info = info
	case err == nil && !os.SameFile(info, l.info):
		return l.replaced(p, info, now)
	case err == nil && info.Size() < l.read.off:
		l.restart(info)
		return 0, true, nil
	case err == nil && info.Size() == l.read.off:
		l.replacedAt, l.searched = time.Time{}, false
		return 0, false, nil
	case err != nil && l.file == nil:
		if !errors.Is(err, fs.ErrNotExist) {
			return 0, false, bare(err)
		}
		if l.findRenamed(); l.file == nil {
			return 0, false, nil // does not exist yet, or no longer
		}
	}
	l.replacedAt, l.searched = time.Time{}, false
	if err == nil && !l.sniffed {
		if ok, err := l.sniff(info); !ok {
			return 0, false, err
		}
	}
	return l.readMore(p)
}

// sniff reports whether the file is a log, once it has contents.
func (l *Log) sniff(info fs.FileInfo) (ok bool, err error) {
	if e := l.follower.Except; e != nil && e(info) {
		l.notLog = true
		return false, nil
	}
	if info.Size() == l.rejectedSize {
		return false, nil
	}
	what, err := sniffFile(l.Path, info.Size())
	switch {
	case err != nil:
		return false, bare(err)
	case what.kind == text, what.kind == wide, what.kind == ownReport && l.from == "":
		l.sniffed = true
		return true, nil
	}
	l.notLog, l.rejectedSize = info.Size() >= sniffLen, info.Size() // with more bytes it may turn out to be a log
	switch {
	case l.from != "":
		return false, nil
	case what.kind == compressed:
		return false, fmt.Errorf("%w (%s): it cannot be followed", ErrCompressed, what.format)
	}
	return false, binaryError(what)
}

// replaced reads the rest of a file that another one took the place of. The new one is next after quietTime of silence.
func (l *Log) replaced(p []byte, info fs.FileInfo, now time.Time) (int, bool, error) {
	if l.findRenamed(); l.file != nil {
		if n, restarted, err := l.readMore(p); n > 0 && !restarted && err == nil {
			l.replacedAt = now
			return n, false, nil
		}
		if l.replacedAt.IsZero() {
			l.replacedAt = now
		}
		if now.Sub(l.replacedAt) < quietTime {
			return 0, false, nil
		}
	}
	l.restart(info)
	return 0, true, nil
}

// Left reports whether another file took the log's place and the old one is still being read.
func (l *Log) Left() bool { return !l.replacedAt.IsZero() }

// findRenamed opens a file that was renamed while it was closed, if it is still in its folder.
func (l *Log) findRenamed() {
	if l.file != nil || l.searched || l.info == nil {
		return
	}
	l.searched = true
	dir := filepath.Dir(l.Path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && os.SameFile(info, l.info) && l.read.matches(filepath.Join(dir, e.Name())) {
			_ = l.open(filepath.Join(dir, e.Name()))
			return
		}
	}
}

// restart begins a new content, and remembers the old one in case it turns up under another name.
func (l *Log) restart(info fs.FileInfo) {
	f := l.follower
	if l.read.off > 0 {
		l.read.info = l.info
		f.finished = append(f.finished, l.read)
		if len(f.finished) > maxFinished {
			f.finished = slices.Clone(f.finished[len(f.finished)-maxFinished/2:])
		}
	}
	if !os.SameFile(info, l.info) {
		l.close()
	}
	l.info, l.read, l.replacedAt, l.searched = info, position{}, time.Time{}, false
}

// readMore reads on, and checks that the bytes before the position are still the same.
func (l *Log) readMore(p []byte) (n int, restarted bool, err error) {
	if l.file == nil {
		if err := l.open(l.Path); err != nil {
			return 0, false, bare(err)
		}
		if l.file == nil {
			return 0, false, nil // just replaced; the next call notices
		}
	}
	f := l.follower
	f.tick++
	l.used = f.tick
	c := &l.read
	k := len(c.tail)
	n, err = l.file.ReadAt(p, c.off-int64(k))
	if n < k {
		return 0, false, nil // just truncated; the next call notices
	}
	if string(p[:k]) != string(c.tail) {
		l.restart(l.info)
		return 0, true, nil
	}
	full := n == len(p)
	n = copy(p, p[k:n])
	if !full {
		// A network file system may report the new size before the bytes arrive.
		for n > 0 && p[n-1] == 0 {
			n--
		}
	}
	c.path = l.Path
	c.off += int64(n)
	c.tail = append(c.tail, p[max(0, n-checkLen):n]...)
	c.tail = slices.Clone(c.tail[max(0, len(c.tail)-checkLen):])
	if n > 0 {
		err = nil
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, false, bare(err)
}

// open opens the log's file at path, and closes the least recently used one if too many are open.
func (l *Log) open(path string) error {
	file, err := openRegular(path)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil || !os.SameFile(info, l.info) {
		file.Close()
		return err
	}
	f := l.follower
	for f.opened >= max(f.Open, 1) {
		var oldest *Log
		for _, o := range f.order {
			if o.file != nil && (oldest == nil || o.used < oldest.used) {
				oldest = o
			}
		}
		oldest.close()
	}
	l.file = file
	f.opened++
	return nil
}

func (l *Log) close() {
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
		l.follower.opened--
	}
}
