package source

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// An Unpacker opens inputs and hands out the logs in them. It unpacks into the log's reader and never writes a file.
// It may be used concurrently.
type Unpacker struct {
	Limits Limits
	// Stdin is read for the input named [Stdin]. A regular file is read from its current offset.
	Stdin io.Reader
	// Check is called now and then; its error stops reading. It may be nil.
	Check func() error

	expanded atomic.Int64 // bytes decompressed from all inputs

	zipLock sync.Mutex // held by the input that has zip files in memory: one at a time keeps the sum bounded
}

// A Visit reads one log. A plain regular file comes as an *os.File, everything else as a stream. An error of the
// reader belongs to the log: [Unpacker.Walk] does not return it.
type Visit func(name string, r io.Reader)

// Visits are the receivers of what an input contains. Files of observations often lie beside the logs that they were
// made from, so those in folders and archives are skipped where logs are wanted.
type Visits struct {
	Log          Visit // if nil, logs in folders and archives are skipped, and others are a problem
	Observations Visit // the same; together with Log, it receives only files that were named themselves
}

// Walk passes the logs of an input to visit one after the other: the input itself, what it is compressed from, or the
// members of an archive, however deeply nested. A member's name is the archive's, an exclamation mark and its path;
// names are unique. Members that would be skipped in a folder are skipped and counted. What cannot be read is a
// problem and ends only its own archive.
func (u *Unpacker) Walk(in Input, visit Visits) (Skipped, []Problem) {
	w := &walk{unpacker: u, input: in, visit: visit, names: map[string]bool{}}
	defer w.release()
	w.begin()
	if w.over != nil && !slices.ContainsFunc(w.problems, func(p Problem) bool { return errors.Is(p.Err, w.over) }) {
		w.problem(in.Name, w.over, "") // nothing more of it is expanded
	}
	if in.From == "" && w.archives > 0 && w.logs == 0 && len(w.problems) == 0 {
		err := ErrEmptyArchive
		if visit.Log == nil {
			err = ErrNothingObserved
		}
		if w.skipped != (Skipped{}) {
			err = fmt.Errorf("%w: %w", err, &w.skipped)
		}
		w.problem(in.Name, err, cmp.Or(w.skipped.Hint(), "hidden members and links are passed over in an archive"))
		return Skipped{}, w.problems
	}
	return w.skipped, w.problems
}

// walk is the state of one [Unpacker.Walk].
type walk struct {
	unpacker *Unpacker
	input    Input
	visit    Visits
	skipped  Skipped
	problems []Problem
	names    map[string]bool // names of members, which must be unique

	expanded int64 // bytes decompressed
	members  int
	archives int
	logs     int
	memory   int64 // bytes of zip files in memory
	locked   bool
	stop     bool  // nothing more of this input is read
	over     error // the error when it expanded too much
	reported error // the error of the last log's reader
}

func (w *walk) release() {
	if w.locked {
		w.unpacker.zipLock.Unlock()
	}
}

// problem adds a problem unless the last log's reader has reported it: when an archive is cut short, so is one of its
// members.
func (w *walk) problem(name string, err error, hint string) {
	if w.reported != nil && errors.Is(err, w.reported) {
		return
	}
	w.problems = append(w.problems, Problem{Name: name, Err: err, Hint: hint})
}

// log hands out a log. found means that it was found in a folder or an archive, not named itself.
func (w *walk) log(name string, r io.Reader, found bool) {
	switch {
	case w.visit.Log != nil:
		w.hand(w.visit.Log, name, r)
	case found:
		w.skipped.Logs++
	default:
		w.problem(name, ErrNoObservations, "oomscan --format obs writes such files; oomscan PATH reads logs")
	}
}

// observations hands out a file of observations.
func (w *walk) observations(name string, r io.Reader, found bool) {
	switch {
	case found && (w.visit.Log != nil || w.visit.Observations == nil):
		w.skipped.Observations++
	case w.visit.Observations == nil:
		w.problem(name, ErrObservations, "oomscan merge reads them")
	default:
		w.hand(w.visit.Observations, name, r)
	}
}

func (w *walk) hand(to Visit, name string, r io.Reader) {
	w.logs++
	if f, ok := r.(*os.File); ok {
		to(name, f)
		return
	}
	c := &counter{Reader: r}
	to(name, c)
	if c.err != nil {
		w.reported = c.err
	}
}

func (w *walk) begin() {
	in := &w.input
	if in.Path == "" {
		f, ok := w.unpacker.Stdin.(*os.File)
		if !ok {
			w.stream(place{name: in.Name}, bufio.NewReaderSize(checked{w.unpacker.Stdin, w.unpacker.Check}, wrapLen))
			return
		}
		w.open(f)
		return
	}
	if in.From != "" && in.Size == 0 {
		w.log(in.Name, strings.NewReader(""), true) // files in /proc look empty, and some block: see sniffFile
		return
	}
	flags := os.O_RDONLY
	if in.Size >= 0 {
		flags |= syscall.O_NONBLOCK // it could be a FIFO by now
	}
	f, err := os.OpenFile(in.current(), flags, 0)
	if err != nil {
		w.problem(in.Name, bare(err), "")
		return
	}
	defer f.Close()
	w.open(f)
}

// current returns the path that the file has now: who rotates logs may have renamed it since it was listed.
func (in *Input) current() string {
	if info, err := os.Stat(in.Path); in.id == (identity{}) || err == nil && identityOf(info) == in.id {
		return in.Path
	}
	dir := filepath.Dir(in.Path)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && identityOf(info) == in.id && info.Size() >= in.Size { // a new file may have the number of one that was removed
			return filepath.Join(dir, e.Name())
		}
	}
	return in.Path
}

func (w *walk) open(f *os.File) {
	in := &w.input
	info, err := f.Stat()
	if err != nil {
		w.problem(in.Name, bare(err), "")
		return
	}
	at := place{name: in.Name}
	if !info.Mode().IsRegular() {
		if in.Path != "" && in.Size >= 0 {
			w.problem(in.Name, errReplaced, "scan it again")
			return
		}
		Widen(f)
		w.stream(at, bufio.NewReaderSize(checked{f, w.unpacker.Check}, wrapLen))
		return
	}
	from, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		w.problem(in.Name, bare(err), "")
		return
	}
	size := max(0, info.Size()-from)
	what, err := sniffOpen(f, from, size)
	if err != nil {
		w.problem(in.Name, bare(err), "")
		return
	}
	section := io.NewSectionReader(metered{f, in.Count}, from, size)
	switch {
	case what.kind == text, what.kind == ownReport && in.From == "", what.kind == binaryData && in.Path == "":
		w.log(in.Name, f, in.From != "")
	case what.kind == observations:
		w.observations(in.Name, f, in.From != "")
	case what.format == "zip" && what.kind == compressed:
		w.zip(at, section, size)
	default:
		w.stream(at, bufio.NewReaderSize(checked{section, w.unpacker.Check}, wrapLen))
	}
}

// place is a position in the nesting of an input.
type place struct {
	name   string
	depth  int
	member bool // of an archive
}

// enter checks the depth limit before going one level deeper.
func (w *walk) enter(at *place) bool {
	if at.depth++; at.depth > w.unpacker.Limits.Depth {
		w.problem(at.name, fmt.Errorf("%w: archives are nested more than %d deep (--max-depth); this one is not read", ErrLimit, w.unpacker.Limits.Depth), "")
		return false
	}
	return true
}

// stream detects what a stream contains and reads it.
func (w *walk) stream(at place, r *bufio.Reader) {
	head, err := r.Peek(wrapLen)
	if len(head) == 0 && err != nil && err != io.EOF {
		w.problem(at.name, err, "")
		return
	}
	what := sniff(head)
	var src io.Reader = r
	if len(head) >= sniffLen && allZero(head[:sniffLen]) {
		// A log that was truncated while its writer kept its offset begins with a hole.
		var hole int64
		hole, what, err = skipHole(r)
		if err != nil {
			w.problem(at.name, err, "")
			return
		}
		src = io.MultiReader(io.LimitReader(zeros{}, hole), r)
	}
	found := at.member || w.input.From != ""
	switch what.kind {
	case text:
		w.log(at.name, src, found)
	case observations:
		w.observations(at.name, r, found)
	case wide:
		w.log(at.name, &decodingReader{src: r, dec: NewDecoder(head), in: make([]byte, 32<<10)}, found)
	case ownReport:
		if found {
			w.skipped.Reports++
			return
		}
		w.log(at.name, r, found)
	case compressed:
		w.packed(at, r, what.format, found)
	default:
		switch {
		case w.input.Path == "" && at.depth == 0:
			w.log(at.name, src, false) // whoever piped it wants it read
		case found:
			w.skipped.Binary++
		default:
			w.problem(at.name, binaryError(what), binaryHint)
		}
	}
}

func (w *walk) packed(at place, r *bufio.Reader, format string, found bool) {
	switch {
	case !isSupported(format) && found:
		w.skipped.Compressed++
	case !isSupported(format):
		w.problem(at.name, fmt.Errorf("%w (%s)", ErrCompressed, format), unpackHint(at.name, format))
	case format == "zip":
		w.bufferedZip(at, r)
	case !w.enter(&at):
	case format == "tar":
		w.tar(at, r)
	default:
		w.compressed(at, r, format)
	}
}

func (w *walk) compressed(at place, r *bufio.Reader, format string) {
	below := &counter{Reader: r}
	l := &layer{walk: w, format: format, below: below, taken: func() int64 { return below.n }}
	src, err := decoders[format](below)
	if err != nil {
		if below.err != nil {
			err = below.err
		} else {
			err = explain(format, 0, err)
		}
		w.problem(at.name, err, "")
		return
	}
	if c, ok := src.(io.Closer); ok {
		defer c.Close()
	}
	l.src = src
	inner := bufio.NewReaderSize(l, wrapLen)
	if head, _ := inner.Peek(sniffLen); sniff(head).format == "tar" {
		w.tar(at, inner) // an archive and its compression are one level
		return
	}
	w.stream(at, inner)
}

// member returns a unique, printable name for a member. A path that leads out of the archive is harmless, because
// nothing is written.
func (w *walk) member(archive, name string) string {
	name = strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(name, "?"))
	if len(name) > maxName {
		name = "..." + strings.ToValidUTF8(name[len(name)-maxName:], "")
	}
	name = archive + "!" + path.Clean(name)
	unique := name
	for n := 2; w.names[unique]; n++ {
		unique = name + "#" + strconv.Itoa(n) // a file that was added to a tar again
	}
	w.names[unique] = true
	return unique
}

// hidden reports whether a member would be skipped in a folder: it or one of its folders is hidden or version
// control.
func hidden(name string) bool {
	name = path.Clean(name)
	return strings.Contains("/"+path.Dir(name)+"/", "/CVS/") || slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		return strings.HasPrefix(part, ".") && part != "." && part != ".."
	})
}

// entry counts a member of an archive and reports whether to go on.
func (w *walk) entry(archive string) bool {
	if w.members++; w.members > w.unpacker.Limits.Members {
		w.problem(archive, fmt.Errorf("%w: more than %d members (--max-members); the others are not read", ErrLimit, w.unpacker.Limits.Members), "")
		w.stop = true
	}
	if check := w.unpacker.Check; check != nil && !w.stop {
		if err := check(); err != nil {
			w.problem(archive, err, "")
			w.stop = true
		}
	}
	return !w.stop
}

// skipHole skips zeros. It returns how many there were and what follows. A text that a [Decoder] would
// change, such as one with its newest line first, is read as it stands there.
func skipHole(r *bufio.Reader) (int64, content, error) {
	var hole int64
	for {
		b, err := r.Peek(sniffLen)
		n := len(b) - len(bytes.TrimLeft(b, "\x00"))
		if n < len(b) {
			if k := sniff(b[n:]).kind; k == text || k == wide && classify(b[n:]) == text {
				_, _ = r.Discard(n)
				return hole + int64(n), content{kind: text}, nil
			}
			return hole, content{kind: binaryData}, nil
		}
		if n == 0 {
			if err == io.EOF {
				err = nil
			}
			return hole, content{kind: binaryData}, err
		}
		_, _ = r.Discard(n)
		hole += int64(n)
	}
}

// zeros is an endless hole.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
