package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Follower knows which logs there are at paths that are written to: files that grow, that are rotated, cut, replaced or
// not there yet, and folders in which files appear. It looks when it is asked to and keeps no time: who calls it knows when
// something may have happened. It serves one goroutine, but for [Log.Read].
type Follower struct {
	// Open is how many files are kept open at most, 1 or more. An open file is read to its end even if it is renamed or
	// removed; one that is not is found again by its name, or under another name in its folder.
	Open int
	// Except says which files are never read: what the caller writes itself. It may be nil.
	Except func(fs.FileInfo) bool

	paths   []string
	logs    map[string]*Log // by their cleaned paths
	order   []*Log
	aliases map[string]*Log   // by the paths that links lead to
	passed  map[string]passed // members of folders that are not read
	past    []stretch         // contents that were read and may turn up under other names
	folders map[string]bool
	begun   bool

	mu     sync.Mutex // of what the logs share, and of their files
	opened int
	tick   int
}

// NewFollower returns a follower of command-line paths, which has not looked at them yet.
func NewFollower(paths []string, open int) *Follower {
	return &Follower{
		Open: open, paths: paths, logs: map[string]*Log{}, aliases: map[string]*Log{}, passed: map[string]passed{}, folders: map[string]bool{},
	}
}

// Limits of a follower.
const (
	// linger is how long a file that another one took the place of must have been silent before that one is read: who
	// writes to it has it open for a while.
	linger = time.Second
	// checked bytes before the place up to which a file was read tell whether it is the same one still.
	checkLen = 64
	maxPast  = 1024 // contents that are remembered
)

// Sight is what a look found.
type Sight struct {
	Logs     []*Log    // that were not there before
	Packed   []Input   // what is packed and stood there at the first look; it is not followed
	Problems []Problem // what cannot be followed, or was passed over; nothing twice
	Awaited  []string  // paths of the command line at which nothing is yet, at the first look
	Folders  []string  // in which a change may matter and that were not among the folders before
}

// Log is what is written at one path.
type Log struct {
	Name string // as [Input.Name]
	Path string

	follower *Follower
	from     string      // the folder of the command line, empty if it was named itself
	info     fs.FileInfo // of the file that is being read; nil: there was none yet
	file     *os.File    // nil: closed
	used     int         // tick of its last reading
	read     stretch
	sniffed  bool
	over     bool      // it is no log
	rejected int64     // its size when its contents were no log
	left     time.Time // when another file was seen in its place, or it was last read after that
	sought   bool      // it was looked for under other names
}

// stretch identifies what was read of a file by the bytes before the place up to which it was read.
type stretch struct {
	path string
	info fs.FileInfo
	off  int64
	tail []byte
}

// passed is a member of a folder that is not read.
type passed struct {
	info fs.FileInfo
	copy bool // of a log that is read: a copy does not grow
}

// Logs are all logs, in the order in which they were found. The caller must not change the slice.
func (f *Follower) Logs() []*Log { return f.order }

// At is the log at a path, by the name that it has in one of the folders; nil if there is none.
func (f *Follower) At(path string) *Log {
	path = filepath.Clean(path)
	if l := f.logs[path]; l != nil {
		return l
	}
	return f.aliases[path]
}

// Look looks for files that were not there before. The first look finds what a scan of the paths would read.
func (f *Follower) Look() Sight {
	var s Sight
	if !f.begun {
		f.begun = true
		f.first(&s)
	}
	for _, path := range f.paths {
		f.path(path, &s)
	}
	return s
}

// first lists what is there at the beginning.
func (f *Follower) first(s *Sight) {
	inputs, problems := List(f.paths)
	for _, in := range inputs {
		switch {
		case in.Path == "":
			s.Problems = append(s.Problems, Problem{Name: in.Name, Err: errors.New("standard input is followed by itself"), Hint: "tail -f FILE | oomscan, without --follow"})
			continue
		case in.Size < 0:
			s.Problems = append(s.Problems, Problem{Name: in.Name, Err: fmt.Errorf("%w that can be followed", ErrKind), Hint: "pipe it in: oomscan < " + Quote(in.Path)})
			continue
		}
		if in.Packed {
			if what, err := sniffFile(in.Path, in.Size); err != nil || what.kind != wide {
				s.Packed = append(s.Packed, in)
				f.passed[filepath.Clean(in.Path)] = passed{}
				continue
			}
		}
		if info, err := os.Stat(in.Path); err == nil && f.Except != nil && f.Except(info) {
			f.passed[filepath.Clean(in.Path)] = passed{info: info}
			continue
		}
		l := f.add(in.Path, in.From, s)
		l.sniffed = in.Size > 0
	}
	for _, p := range problems {
		if errors.Is(p.Err, fs.ErrNotExist) && p.Name != "" {
			s.Awaited = append(s.Awaited, p.Name)
			f.watch(filepath.Dir(p.Name), s)
			continue
		}
		if errors.Is(p.Err, ErrNoLogs) {
			s.Awaited = append(s.Awaited, p.Name)
			continue
		}
		s.Problems = append(s.Problems, p)
		f.passed[filepath.Clean(p.Name)] = passed{}
	}
}

func (f *Follower) add(path, from string, s *Sight) *Log {
	key := filepath.Clean(path)
	if l := f.logs[key]; l != nil {
		return l
	}
	l := &Log{Name: path, Path: path, follower: f, from: from}
	f.logs[key] = l
	f.order = append(f.order, l)
	s.Logs = append(s.Logs, l)
	if from == "" {
		f.watch(filepath.Dir(path), s)
		if real, err := filepath.EvalSymlinks(path); err == nil && filepath.Clean(real) != key {
			f.aliases[filepath.Clean(real)] = l
			f.watch(filepath.Dir(real), s)
		}
	}
	return l
}

func (f *Follower) watch(dir string, s *Sight) {
	if dir = filepath.Clean(dir); !f.folders[dir] {
		f.folders[dir] = true
		s.Folders = append(s.Folders, dir)
	}
}

// path looks at one path of the command line.
func (f *Follower) path(path string, s *Sight) {
	if path == Stdin {
		return
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		if !errors.Is(err, fs.ErrNotExist) || !strings.ContainsAny(path, "*?[") {
			return
		}
		f.watch(filepath.Dir(path), s)
		matches, _ := filepath.Glob(path)
		for _, m := range matches {
			if !strings.HasPrefix(filepath.Base(m), ".") || strings.HasPrefix(filepath.Base(path), ".") {
				f.path(m, s)
			}
		}
	case info.IsDir():
		f.folder(path, path, s)
	case info.Mode().IsRegular():
		if key := filepath.Clean(path); f.logs[key] == nil {
			if _, known := f.passed[key]; !known {
				f.add(path, "", s)
			}
		}
	}
}

// folder looks for new files in a folder and below.
func (f *Follower) folder(root, dir string, s *Sight) {
	f.watch(dir, s)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir():
			if e.Name() != "CVS" {
				f.folder(root, path, s)
			}
		case e.Type().IsRegular() && f.logs[path] == nil:
			f.member(root, path, e, s)
		}
	}
}

// member looks at a file of a folder that is not followed.
func (f *Follower) member(root, path string, e fs.DirEntry, s *Sight) {
	was, known := f.passed[path]
	if known && was.info == nil {
		return
	}
	info, err := e.Info()
	if err != nil {
		return
	}
	known = known && os.SameFile(was.info, info)
	if known && (!was.copy || info.Size() <= was.info.Size()) {
		return
	}
	delete(f.passed, path)
	if f.Except != nil && f.Except(info) || !known && f.moved(path, info) {
		f.passed[path] = passed{info: info}
		return
	}
	if !known && f.copied(path, info) {
		f.passed[path] = passed{info: info, copy: true}
		return
	}
	if info.Size() > 0 {
		switch what, err := sniffFile(path, info.Size()); {
		case err != nil:
			if !errors.Is(err, fs.ErrNotExist) {
				s.Problems = append(s.Problems, Problem{Name: path, Err: bare(err), Hint: hintFor(path, err)})
				f.passed[path] = passed{info: info}
			}
			return
		case what.kind != text && what.kind != wide:
			// What is packed is no longer written to: most times it is a log that was followed.
			f.passed[path] = passed{info: info}
			return
		}
	}
	l := f.add(path, root, s)
	l.sniffed = info.Size() > 0
}

// moved says that a file is one whose content is followed, or was: it was renamed.
func (f *Follower) moved(path string, info fs.FileInfo) bool {
	for _, l := range f.order {
		if l.info != nil && os.SameFile(l.info, info) && l.read.at(path) {
			return true
		}
	}
	return slices.ContainsFunc(f.past, func(c stretch) bool { return os.SameFile(c.info, info) && c.at(path) })
}

// copied says that a file is a copy that a rotation made of a log: its name is longer than the log's, and it holds what
// was read there.
func (f *Follower) copied(path string, info fs.FileInfo) bool {
	dir, name := filepath.Split(path)
	of := func(c *stretch) bool {
		d, n := filepath.Split(filepath.Clean(c.path))
		if d != dir || n == name || c.off == 0 || info.Size() < c.off {
			return false
		}
		stem := strings.TrimSuffix(n, filepath.Ext(n))
		rest, ok := strings.CutPrefix(name, stem)
		return ok && stem != "" && rest != "" && strings.ContainsRune(".-_~", rune(rest[0])) && c.at(path)
	}
	for _, l := range f.order {
		if of(&l.read) {
			return true
		}
	}
	for i := range f.past {
		if of(&f.past[i]) {
			return true
		}
	}
	return false
}

// at says that the file at path holds the content where it ended.
func (c *stretch) at(path string) bool {
	file, err := openRegular(path)
	if err != nil {
		return false
	}
	defer file.Close()
	b := make([]byte, len(c.tail))
	n, _ := file.ReadAt(b, c.off-int64(len(c.tail)))
	return c.off > 0 && n == len(b) && string(b) == string(c.tail)
}

// Read reads on in the log, as far as p goes. anew says that what is read from now on is another content, which begins at
// its first byte: the file was cut or replaced. An error is no end: the next call tries again. now is the time. Different
// logs may be read by several goroutines.
func (l *Log) Read(p []byte, now time.Time) (n int, anew bool, err error) {
	l.follower.mu.Lock()
	defer l.follower.mu.Unlock()
	if l.over {
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
		l.begin(info)
		return 0, true, nil
	case err == nil && info.Size() == l.read.off:
		l.left, l.sought = time.Time{}, false
		return 0, false, nil
	case err != nil && l.file == nil:
		if !errors.Is(err, fs.ErrNotExist) {
			return 0, false, bare(err)
		}
		if l.seek(); l.file == nil {
			return 0, false, nil // not yet, or no longer
		}
	}
	l.left, l.sought = time.Time{}, false
	if err == nil && !l.sniffed {
		if ok, err := l.sniff(info); !ok {
			return 0, false, err
		}
	}
	return l.more(p)
}

// sniff looks at the first bytes that were written.
func (l *Log) sniff(info fs.FileInfo) (ok bool, err error) {
	if e := l.follower.Except; e != nil && e(info) {
		l.over = true
		return false, nil
	}
	if info.Size() == l.rejected {
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
	l.over, l.rejected = info.Size() >= sniffLen, info.Size() // more bytes may show that it is a log
	switch {
	case l.from != "":
		return false, nil
	case what.kind == compressed:
		return false, fmt.Errorf("%w (%s): it cannot be followed", ErrCompressed, what.format)
	}
	return false, binaryError(what)
}

// replaced reads what is left of a file that another one took the place of, and then goes over to that.
func (l *Log) replaced(p []byte, info fs.FileInfo, now time.Time) (int, bool, error) {
	if l.seek(); l.file != nil {
		if n, anew, err := l.more(p); n > 0 && !anew && err == nil {
			l.left = now
			return n, false, nil
		}
		if l.left.IsZero() {
			l.left = now
		}
		if now.Sub(l.left) < linger {
			return 0, false, nil
		}
	}
	l.begin(info)
	return 0, true, nil
}

// Left says that another file was seen in the place of the log's, which is read soon: ask again.
func (l *Log) Left() bool { return !l.left.IsZero() }

// seek opens the log's file, if it is not open, under the name that it has now, if that is in the same folder.
func (l *Log) seek() {
	if l.file != nil || l.sought || l.info == nil {
		return
	}
	l.sought = true
	dir := filepath.Dir(l.Path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && os.SameFile(info, l.info) && l.read.at(filepath.Join(dir, e.Name())) {
			_ = l.open(filepath.Join(dir, e.Name()))
			return
		}
	}
}

// begin goes over to another content.
func (l *Log) begin(info fs.FileInfo) {
	f := l.follower
	if l.read.off > 0 {
		l.read.info = l.info
		f.past = append(f.past, l.read)
		if len(f.past) > maxPast {
			f.past = slices.Clone(f.past[len(f.past)-maxPast/2:])
		}
	}
	if !os.SameFile(info, l.info) {
		l.close()
	}
	l.info, l.read, l.left, l.sought = info, stretch{}, time.Time{}, false
}

// more reads on in the file. The bytes before are read again: a file that was cut and has grown past that place since has
// others there.
func (l *Log) more(p []byte) (n int, anew bool, err error) {
	if l.file == nil {
		if err := l.open(l.Path); err != nil {
			return 0, false, bare(err)
		}
		if l.file == nil {
			return 0, false, nil // replaced in this moment, which the next call sees
		}
	}
	f := l.follower
	f.tick++
	l.used = f.tick
	c := &l.read
	k := len(c.tail)
	n, err = l.file.ReadAt(p, c.off-int64(k))
	if n < k {
		return 0, false, nil // it is shorter by now, which the next call sees
	}
	if string(p[:k]) != string(c.tail) {
		l.begin(l.info)
		return 0, true, nil
	}
	full := n == len(p)
	n = copy(p, p[k:n])
	if !full {
		// A network file system may report the new size before it has the bytes.
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

// open opens the log's file, and closes that of another log if too many are open.
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

// close closes the log's file until it is read again.
func (l *Log) close() {
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
		l.follower.opened--
	}
}

// Close closes all files.
func (f *Follower) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.order {
		l.close()
	}
}
