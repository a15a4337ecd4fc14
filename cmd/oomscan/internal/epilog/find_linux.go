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
	own   bool // the job's own output, or its number stands in the name
	guess bool // the job's own output, but other names fit the pattern as well
}

// inode tells a file from all others.
func (l *logFile) inode() [2]uint64 { return [2]uint64{uint64(l.stat.Dev), l.stat.Ino} }

func (l *logFile) modified() time.Time { return time.Unix(l.stat.Mtim.Unix()) }

// finder looks for a job's files, as the job's user.
type finder struct {
	uid      uint32
	names    *Names
	workDir  string
	mayGuess bool // scontrol was asked, or may not be
	beside   Beside
	started  time.Time // zero: unknown
	entries  int       // of folders, looked at so far
	problems []string
}

// Bounds of the search.
const (
	maxEntries = 10_000 // of all folders together
	maxDepth   = 4      // of a run's log folder
	recently   = 10 * time.Minute
)

// errUnsure says that the name of a log has parts which only scontrol can tell.
var errNeedsScontrol = errors.New("the name of the log has parts that are not known")

// output opens the file that a pattern of --output or --error became. A batch job without one writes to slurm-JOB.out, or to
// slurm-ARRAY_TASK.out in an array.
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

// candidates are the names that a pattern may have become, the likeliest first, if all of it is known. A job that is told
// nothing of an array is none, until that file is not there.
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

// match finds the file that fits a path with unknown parts in its last element. Without the job's number in it, others
// may fit as well: then only a lone one counts, and only if it was written when the job ended.
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

// list is the names in a folder, as many as may still be looked at, in order.
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

// folders are where the job's logs lie, or would lie.
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

// near finds the other files of the run beside its logs: those that the configuration names, the user's, written while
// the job ran. The job's own come first, then those written last. Files that the patterns of the job's own output fit are
// other jobs' and left out.
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

// search is one search for the files beside a job's logs.
type search struct {
	*finder
	begun  time.Time
	others []string           // what siblings of this job call their logs
	seen   map[[2]uint64]bool // by inode
	found  []*logFile
	most   int
}

// walk searches a folder, and those in it that the configuration names. top is the folder of a log.
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

// id is the job's number.
func (f *finder) id() string { return strconv.FormatUint(uint64(f.names.Job), 10) }

// fits says whether a name fits one of the patterns of the configuration.
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

// mine says whether the job's number, or that of its array and task, stands in a name.
func (f *finder) namesJob(name string) bool {
	return containsNumber(name, f.id()) || f.names.Task != "" && f.names.Task != noTask && containsNumber(name, f.names.Array+"_"+f.names.Task)
}

// numbered says whether a number stands in a name as a number, not as a part of a longer one. One or two digits are
// no number of a job to tell by: ranks and steps have such.
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

// born is when a file was made, or a moment ago if the file system does not tell.
func createdAt(f *os.File) time.Time {
	var st unix.Statx_t
	err := unix.Statx(int(f.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &st)
	if err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return time.Now().Add(-recently)
	}
	return time.Unix(st.Btime.Sec, int64(st.Btime.Nsec))
}
