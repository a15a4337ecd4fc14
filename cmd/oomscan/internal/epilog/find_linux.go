package epilog

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"oomscan/parser/ascii"
	"oomscan/parser/source"
)

// logFile is an open log and how it was found.
type logFile struct {
	*os.File
	path  string
	stat  unix.Stat_t
	own   bool // the job's own output, or named with its id
	guess bool // the job's own output, but other names fit the pattern too
}

func (l *logFile) inode() [2]uint64 { return [2]uint64{uint64(l.stat.Dev), l.stat.Ino} }

func (l *logFile) modified() time.Time { return time.Unix(l.stat.Mtim.Unix()) }

// finder finds a job's files, as the job's user.
type finder struct {
	uid      uint32
	names    *Names
	workDir  string
	mayGuess bool // scontrol was asked, or must not be
	beside   Beside
	started  time.Time // zero: unknown
	entries  int       // folder entries examined so far
	problems []string
}

// Limits of the search.
const (
	maxEntries = 10_000 // of all folders together
	maxDepth   = 4      // of a run's log folder
	recently   = 10 * time.Minute
)

// errNeedsScontrol means that parts of a log's name are known only to scontrol.
var errNeedsScontrol = errors.New("the name of the log has parts that are not known")

// output opens the file for a pattern of --output or --error. A batch job without one writes slurm-JOB.out, in an
// array slurm-ARRAY_TASK.out.
func (f *finder) output(pattern string) (*logFile, error) {
	patterns := []string{pattern}
	if pattern == "" {
		if patterns = []string{"slurm-%A_%a.out"}; f.names.Task == "" {
			patterns = []string{"slurm-%j.out", "slurm-%A_%a.out"}
		}
	}
	err := error(unix.ENOENT)
	for _, p := range patterns {
		for _, name := range f.candidates(p) {
			var l *logFile
			l, err = f.open(absolute(name, f.workDir))
			if err == nil {
				return l, nil
			}
			if !errors.Is(err, unix.ENOENT) {
				return nil, err
			}
		}
	}
	last := patterns[len(patterns)-1]
	wild := absolute(expand(last, f.names, false), f.workDir)
	if !strings.Contains(wild, unknown) {
		return nil, err
	}
	if !f.mayGuess && !hasJobID(last) {
		return nil, errNeedsScontrol
	}
	return f.match(wild, hasJobID(last))
}

// candidates returns the fully known names for a pattern, the likeliest first. A job without array variables is
// assumed to be outside arrays until that file turns out to be missing.
func (f *finder) candidates(pattern string) []string {
	alone := *f.names
	if alone.Task == "" {
		alone.Array, alone.Task = f.id(), noTask
	}
	byNode := alone
	byNode.Host = alone.Node
	var out []string
	for _, s := range []string{expand(pattern, &alone, false), expand(pattern, &alone, true), expand(pattern, &byNode, false)} {
		if s != "" && !strings.Contains(s, unknown) && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// open opens one of the job's own logs.
func (f *finder) open(path string) (*logFile, error) {
	if !strings.HasPrefix(path, "/") {
		return nil, unix.ENOENT
	}
	if path == "/dev/null" {
		return nil, errKind
	}
	file, st, err := openFile(path, f.uid, true)
	if err != nil {
		return nil, err
	}
	return &logFile{File: file, path: path, stat: *st, own: true}, nil
}

// match finds the file for a path with unknown parts in its last element. If the job's id is not in it, other jobs'
// files may fit too: then the file must be the only one, and must have been written when the job ended.
func (f *finder) match(wild string, hasID bool) (*logFile, error) {
	dir, base := path.Split(wild)
	if strings.Contains(dir, unknown) {
		return nil, errNeedsScontrol
	}
	names, err := f.list(dir)
	if err != nil {
		return nil, err
	}
	var found *logFile
	for _, n := range names {
		if !matches(base, n) || strings.Contains(n, ".oomscan.") {
			continue
		}
		l, err := f.open(dir + n)
		if err != nil {
			continue
		}
		if !hasID && time.Since(l.modified()) > recently {
			l.Close()
			continue
		}
		if found != nil {
			l.Close()
			found.Close()
			return nil, errNeedsScontrol
		}
		found = l
	}
	if found == nil {
		return nil, unix.ENOENT
	}
	found.guess = !hasID
	return found, nil
}

// list returns the sorted names in a folder, within the limit.
func (f *finder) list(dir string) ([]string, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	d := os.NewFile(uintptr(fd), dir)
	defer d.Close()
	names, err := d.Readdirnames(max(maxEntries-f.entries, 1))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if f.entries += len(names); f.entries >= maxEntries {
		f.problems = append(f.problems, "too many files beside the log")
	}
	slices.Sort(names)
	return names, nil
}

// folders returns the folders of the job's logs, or where they should be.
func (f *finder) folders(logs []*logFile, patterns []string) (dirs []string) {
	add := func(path string) {
		if d := filepath.Dir(path); strings.HasPrefix(path, "/") && !strings.Contains(d, unknown) && d != "/dev" && !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	for _, l := range logs {
		add(l.path)
	}
	if len(logs) == 0 {
		for _, p := range patterns {
			add(absolute(expand(cmp.Or(p, "slurm-%j.out"), f.names, false), f.workDir))
		}
	}
	return dirs
}

// findNearby finds the run's other files beside its logs: configured names, owned by the user, written while the job
// ran. Files named with the job's id come first, then the latest. Files that fit the patterns of the job's own output
// belong to other jobs and are ignored.
func (f *finder) findNearby(logs []*logFile, patterns []string, most int) []*logFile {
	s := &search{finder: f, begun: f.started, most: 4 * most, seen: map[[2]uint64]bool{}}
	switch {
	case !s.begun.IsZero():
	case len(logs) > 0:
		s.begun = createdAt(logs[0].File)
	default:
		s.begun = time.Now().Add(-recently)
	}
	for _, p := range patterns {
		if p == "" {
			s.others = append(s.others, siblingPattern("slurm-%j.out"), siblingPattern("slurm-%A_%a.out"))
		} else if name := path.Base(siblingPattern(p)); strings.Trim(name, unknown) != "" {
			s.others = append(s.others, name)
		}
	}
	for _, l := range logs {
		s.seen[l.inode()] = true
	}
	for _, d := range f.folders(logs, patterns) {
		s.walk(d, strings.TrimSuffix(d, "/"), 0)
	}
	slices.SortStableFunc(s.found, func(a, b *logFile) int {
		if a.own != b.own {
			if a.own {
				return -1
			}
			return 1
		}
		return cmp.Or(b.modified().Compare(a.modified()), strings.Compare(a.path, b.path))
	})
	for _, l := range s.found[min(len(s.found), most):] {
		l.Close()
	}
	return s.found[:min(len(s.found), most)]
}

// search is the state of findNearby.
type search struct {
	*finder
	begun  time.Time
	others []string           // what other jobs of the same script call their logs
	seen   map[[2]uint64]bool // by inode
	found  []*logFile
	most   int
}

// walk searches a folder and its configured subfolders. top is the folder of a log.
func (s *search) walk(top, dir string, depth int) {
	names, err := s.list(dir)
	if err != nil {
		return
	}
	for _, n := range names {
		if strings.HasPrefix(n, ".") || strings.Contains(n, ".oomscan.") {
			continue
		}
		full := dir + "/" + n
		var st unix.Stat_t
		if err := unix.Fstatat(unix.AT_FDCWD, full, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil || st.Uid != s.uid {
			continue
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFDIR:
			if depth < maxDepth && (depth > 0 || s.fits(s.beside.Folders, n)) {
				s.walk(top, full, depth+1)
			}
		case unix.S_IFREG:
			sibling := !s.namesJob(n) && slices.ContainsFunc(s.others, func(o string) bool { return matches(o, n) })
			if (depth > 0 || s.fits(s.beside.Files, n)) && !sibling && len(s.found) < s.most {
				s.add(top, full)
			}
		}
	}
}

// add opens a file and keeps it if it is a log that was written while the job ran.
func (s *search) add(top, name string) {
	file, st, err := openFile(name, s.uid, false)
	if err != nil {
		return
	}
	l := &logFile{File: file, path: name, stat: *st, own: s.namesJob(strings.TrimPrefix(name, top))}
	head := make([]byte, 8<<10)
	n, _ := file.ReadAt(head, 0)
	if s.seen[l.inode()] || l.modified().Before(s.begun.Add(-time.Second)) || n == 0 || !source.IsLog(head[:n]) {
		l.Close()
		return
	}
	s.seen[l.inode()] = true
	s.found = append(s.found, l)
}

func (f *finder) id() string { return strconv.FormatUint(uint64(f.names.Job), 10) }

// fits reports whether a name matches one of the configured patterns.
func (f *finder) fits(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if strings.Contains(p, "%j") {
			if p == "*%j*" {
				return containsNumber(name, f.id())
			}
			p = strings.ReplaceAll(p, "%j", f.id())
		}
		ok, _ := path.Match(p, name)
		return ok
	})
}

// namesJob reports whether a name contains the job's id, or its array's id and task.
func (f *finder) namesJob(name string) bool {
	return containsNumber(name, f.id()) || f.names.Task != "" && f.names.Task != noTask && containsNumber(name, f.names.Array+"_"+f.names.Task)
}

// containsNumber reports whether a name contains id as a whole number. Numbers of one or two digits do not count,
// because ranks and steps have such.
func containsNumber(name, id string) bool {
	if len(id) < 3 {
		return false
	}
	for at := 0; ; {
		i := strings.Index(name[at:], id)
		if i < 0 {
			return false
		}
		at += i
		end := at + len(id)
		if (at == 0 || !ascii.IsDigit(name[at-1])) && (end == len(name) || !ascii.IsDigit(name[end])) {
			return true
		}
		at++
	}
}

// createdAt returns when a file was created, or a recent time if the file system does not know.
func createdAt(f *os.File) time.Time {
	var st unix.Statx_t
	err := unix.Statx(int(f.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &st)
	if err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return time.Now().Add(-recently)
	}
	return time.Unix(st.Btime.Sec, int64(st.Btime.Nsec))
}
