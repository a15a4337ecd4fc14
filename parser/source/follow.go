package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Follower finds the logs at paths that are still being written to: files that grow, are rotated, truncated,
// replaced or do not exist yet, and folders in which files appear. It looks only when asked to, and its caller keeps
// the time. Apart from [Log.Read], it must not be used concurrently.
type Follower struct {
	// Open is the maximum number of open files, at least 1. An open file is read to its end even if it is renamed or
	// removed. A closed one is found again by its name, or under another name in its folder.
	Open int
	// Except reports whether a file must not be read because the caller writes it. It may be nil.
	Except func(fs.FileInfo) bool

	paths    []string
	logs     map[string]*Log // by cleaned path
	order    []*Log
	aliases  map[string]*Log    // by the path that a link leads to
	ignored  map[string]ignored // members of folders that are not read
	finished []position         // contents that were read and may turn up under other names
	folders  map[string]bool
	started  bool

	mu     sync.Mutex // guards what logs share, and their files
	opened int
	tick   int
}

// NewFollower returns a follower of command-line paths.
func NewFollower(paths []string, open int) *Follower {
	return &Follower{
		Open: open, paths: paths, logs: map[string]*Log{}, aliases: map[string]*Log{}, ignored: map[string]ignored{}, folders: map[string]bool{},
	}
}

const (
	// quietTime is how long a replaced file must be silent before the new one is read: its writer may still have it
	// open.
	quietTime = time.Second
	// checkLen is how many bytes before the current position are compared to tell whether it is still the same file.
	checkLen    = 64
	maxFinished = 1024 // contents that are remembered
)

// Sight is the result of a look. It reports nothing twice.
type Sight struct {
	Logs     []*Log    // new ones
	Packed   []Input   // compressed files and archives at the first look; they are read once, not followed
	Problems []Problem // what cannot be followed, or was skipped
	Awaited  []string  // paths of the command line that do not exist yet, at the first look
	Folders  []string  // new folders to watch for changes
}

// ignored is a member of a folder that is not read.
type ignored struct {
	info fs.FileInfo
	copy bool // of a log that is read; if it grows, it is no copy
}

// Logs returns all logs in the order in which they were found. The caller must not change the slice.
func (f *Follower) Logs() []*Log { return f.order }

// At returns the log at a path, or nil.
func (f *Follower) At(path string) *Log {
	path = filepath.Clean(path)
	if l := f.logs[path]; l != nil {
		return l
	}
	return f.aliases[path]
}

// Look looks for new files. The first look finds what a scan of the paths would read.
func (f *Follower) Look() Sight {
	var s Sight
	if !f.started {
		f.started = true
		f.firstLook(&s)
	}
	for _, path := range f.paths {
		f.path(path, &s)
	}
	return s
}

func (f *Follower) firstLook(s *Sight) {
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
				f.ignored[filepath.Clean(in.Path)] = ignored{}
				continue
			}
		}
		if info, err := os.Stat(in.Path); err == nil && f.Except != nil && f.Except(info) {
			f.ignored[filepath.Clean(in.Path)] = ignored{info: info}
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
		f.ignored[filepath.Clean(p.Name)] = ignored{}
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
		for _, m := range glob(path) {
			f.path(m, s)
		}
	case info.IsDir():
		walkFolder(path, func(dir string, _ error) { f.watch(dir, s) }, func(file string, e fs.DirEntry) {
			if f.logs[file] == nil {
				f.member(path, file, e, s)
			}
		})
	case info.Mode().IsRegular():
		if key := filepath.Clean(path); f.logs[key] == nil {
			if _, known := f.ignored[key]; !known {
				f.add(path, "", s)
			}
		}
	}
}

// member checks a file of a folder that is not followed yet.
func (f *Follower) member(root, path string, e fs.DirEntry, s *Sight) {
	was, known := f.ignored[path]
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
	delete(f.ignored, path)
	if f.Except != nil && f.Except(info) || !known && f.moved(path, info) {
		f.ignored[path] = ignored{info: info}
		return
	}
	if !known && f.copied(path, info) {
		f.ignored[path] = ignored{info: info, copy: true}
		return
	}
	if info.Size() > 0 {
		switch what, err := sniffFile(path, info.Size()); {
		case err != nil:
			if !errors.Is(err, fs.ErrNotExist) {
				s.Problems = append(s.Problems, Problem{Name: path, Err: bare(err), Hint: hintFor(path, err)})
				f.ignored[path] = ignored{info: info}
			}
			return
		case what.kind != text && what.kind != wide:
			// Logs are packed after they are finished, most of them after they were followed here.
			f.ignored[path] = ignored{info: info}
			return
		}
	}
	l := f.add(path, root, s)
	l.sniffed = info.Size() > 0
}

// moved reports whether a file is a log that is or was followed, under a new name.
func (f *Follower) moved(path string, info fs.FileInfo) bool {
	return slices.ContainsFunc(f.order, func(l *Log) bool { return l.info != nil && os.SameFile(l.info, info) && l.read.matches(path) }) ||
		slices.ContainsFunc(f.finished, func(c position) bool { return os.SameFile(c.info, info) && c.matches(path) })
}

// copied reports whether a file is a copy that log rotation made: its name extends the log's, and it contains what
// was read of the log.
func (f *Follower) copied(path string, info fs.FileInfo) bool {
	dir, name := filepath.Split(path)
	isSource := func(c *position) bool {
		d, n := filepath.Split(filepath.Clean(c.path))
		if d != dir || n == name || c.off == 0 || info.Size() < c.off {
			return false
		}
		stem := strings.TrimSuffix(n, filepath.Ext(n))
		rest, ok := strings.CutPrefix(name, stem)
		return ok && stem != "" && rest != "" && strings.ContainsRune(".-_~", rune(rest[0])) && c.matches(path)
	}
	return slices.ContainsFunc(f.order, func(l *Log) bool { return isSource(&l.read) }) ||
		slices.ContainsFunc(f.finished, func(c position) bool { return isSource(&c) })
}

func (f *Follower) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.order {
		l.close()
	}
}
