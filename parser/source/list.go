package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// List expands command-line paths into inputs, in the order given. A folder stands for the text files and archives in
// it and below, in name order. It skips hidden files, version control, links and oomscan's own reports; a path that
// was named itself is always taken. A path that does not exist but contains *, ? or [ is a pattern for
// [filepath.Match]. A file that is reached twice is listed once. What cannot be read becomes a Problem, and listing
// goes on.
//
// List does not block: it opens only regular files and folders.
func List(paths []string) ([]Input, []Problem) { return list(paths, false) }

// ListObservations is List for files of observations: in a folder it skips logs instead. Both list packed files,
// which [Unpacker.Walk] then tells apart.
func ListObservations(paths []string) ([]Input, []Problem) { return list(paths, true) }

func list(paths []string, observations bool) ([]Input, []Problem) {
	l := lister{observations: observations}
	if len(paths) > 1 {
		l.seen = map[string]bool{}
	}
	for _, path := range paths {
		l.path(path)
	}
	return l.inputs, l.problems
}

type lister struct {
	inputs   []Input
	problems []Problem
	seen     map[string]bool // cleaned paths of the inputs; nil: none can be reached twice

	observations bool // list observations instead of logs
}

func (l *lister) problem(name string, err error, hint string) {
	l.problems = append(l.problems, Problem{Name: name, Err: err, Hint: hint})
}

func (l *lister) add(in Input) {
	if l.seen == nil {
		l.inputs = append(l.inputs, in)
		return
	}
	key := Stdin
	if in.Path != "" {
		key = "/" + filepath.Clean(in.Path) // a file named "-" is not the standard input
	}
	if !l.seen[key] {
		l.seen[key] = true
		l.inputs = append(l.inputs, in)
	}
}

func (l *lister) path(path string) {
	if path == Stdin {
		l.add(Input{Name: Stdin, Size: -1})
		return
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if matches := glob(path); len(matches) > 0 {
			for _, m := range matches {
				l.path(m)
			}
			return
		}
	}
	if err != nil {
		l.problem(path, bare(err), hintFor(path, err))
		return
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		l.root(path)
	case mode.IsRegular():
		l.file(path, info)
	case mode&fs.ModeNamedPipe != 0, isNullDevice(info): // other devices, such as /dev/zero, may never end
		l.add(Input{Name: path, Path: path, Size: -1})
	default:
		l.problem(path, ErrKind, "name a log file, a folder of logs, or - for the standard input")
	}
}

// isNullDevice reports whether a path leads to /dev/null.
func isNullDevice(info fs.FileInfo) bool {
	empty, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, empty)
}

// glob returns the existing paths that match a pattern. As in a shell, hidden files only match a pattern that begins with
// a dot. Patterns arrive unexpanded when they were quoted or come from a file.
func glob(pattern string) []string {
	if !strings.ContainsAny(pattern, "*?[") {
		return nil
	}
	matches, _ := filepath.Glob(pattern)
	return slices.DeleteFunc(matches, func(m string) bool {
		_, err := os.Stat(m)
		return err != nil || isHidden(m) && !isHidden(pattern)
	})
}

func isHidden(path string) bool { return strings.HasPrefix(filepath.Base(path), ".") }

// walkFolder calls visit with each regular file in dir and below, in name order. It skips hidden files, links and version
// control. It calls enter with each folder and the error of reading it. Links are not followed, so there are no cycles.
func walkFolder(dir string, enter func(dir string, err error), visit func(path string, e fs.DirEntry)) {
	entries, err := os.ReadDir(dir) // with an error, the entries read before it
	enter(dir, err)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case isHidden(path):
		case e.IsDir():
			if e.Name() != "CVS" { // the one version control folder that is not hidden
				walkFolder(path, enter, visit)
			}
		case e.Type().IsRegular():
			visit(path, e)
		}
	}
}

// file lists a regular file that was named on the command line.
func (l *lister) file(path string, info fs.FileInfo) {
	what, err := sniffFile(path, info.Size())
	if err != nil {
		l.problem(path, bare(err), hintFor(path, err))
		return
	}
	switch what.kind {
	case text, ownReport, observations, wide:
		l.add(Input{Name: path, Path: path, Size: info.Size(), Packed: what.kind == wide, id: identityOf(info)})
	case compressed:
		if !isSupported(what.format) {
			l.problem(path, fmt.Errorf("%w (%s)", ErrCompressed, what.format), unpackHint(path, what.format))
			return
		}
		l.add(Input{Name: path, Path: path, Size: info.Size(), Packed: true, id: identityOf(info)})
	default:
		l.problem(path, binaryError(what), binaryHint)
	}
}

const binaryHint = "name the log that the job wrote, such as slurm-123.err or train.log"

// binaryError says what kind of file it is, if that is known.
func binaryError(what content) error {
	if what.format == "" {
		return ErrBinary
	}
	return fmt.Errorf("%w (%s)", ErrBinary, what.format)
}

// root lists a folder that was named on the command line.
func (l *lister) root(path string) {
	problems := len(l.problems)
	members := 0
	var skipped Skipped
	unreadable := func(dir string, err error) {
		if err != nil {
			l.problem(dir, bare(err), hintFor(dir, err))
		}
	}
	walkFolder(path, unreadable, func(file string, e fs.DirEntry) { l.member(path, file, e, &members, &skipped) })
	switch {
	case skipped != Skipped{}:
		p := Problem{Name: path, Err: &skipped, Note: true, Hint: skipped.Hint()}
		if members == 0 {
			p.Note, p.Err = false, fmt.Errorf("%w: %w", l.nothingFound(), &skipped)
		}
		l.problems = append(l.problems, p)
	case members == 0 && len(l.problems) == problems:
		l.problem(path, l.nothingFound(), "hidden files and links are passed over in a folder; name them themselves to have them read")
	}
}

// nothingFound returns the error for a folder without anything to read.
func (l *lister) nothingFound() error {
	if l.observations {
		return ErrNothingObserved
	}
	return ErrNoLogs
}

func (l *lister) member(root, path string, e fs.DirEntry, members *int, skipped *Skipped) {
	info, err := e.Info()
	var what content
	if err == nil {
		what, err = sniffFile(path, info.Size())
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, ErrKind):
		// Gone by now, or not a regular file any more.
	case err != nil:
		*members++
		l.problem(path, bare(err), hintFor(path, err))
	case !l.observations && what.kind == observations:
		skipped.Observations++
	case l.observations && (what.kind == text || what.kind == wide):
		skipped.Logs++
	case what.kind == text, what.kind == wide, what.kind == observations, what.kind == compressed && isSupported(what.format):
		*members++
		l.add(Input{Name: path, Path: path, Size: info.Size(), From: root, Packed: what.kind == wide || what.kind == compressed, id: identityOf(info)})
	case what.kind == compressed:
		skipped.Compressed++
	case what.kind == ownReport:
		skipped.Reports++
	default:
		skipped.Binary++
	}
}

// bare strips the operation and the path from an error of package os, because [Problem.Name] has the path.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
