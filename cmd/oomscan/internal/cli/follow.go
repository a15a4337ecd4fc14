package cli

import (
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"oomscan/cmd/oomscan/internal/report"
	"oomscan/parser/source"
)

// Times of following. What was written must be reported within a second: beat or poll, then idle.
const (
	beat     = 50 * time.Millisecond  // after a notification: more of them will come
	poll     = 500 * time.Millisecond // where notifications are missing or may be
	slowPoll = 5 * time.Second        // where they are not
	patience = time.Second            // for the last look
	chunkLen = 128 << 10              // bytes that are read at a time
	thrifty  = 50                     // per cent of what lives that may be thrown away before memory is looked through
	atOnce   = 16 << 20               // bytes that are read of one log before the others are looked at
)

// following reads logs while they are written.
type following struct {
	live
	follower *source.Follower
	notifier *notifier
	blind    bool // not everything that happens is notified of

	logs     map[*source.Log]*tailedLog
	packed   []logResult
	awaited  []string // of the command line: there was nothing yet
	dirty    map[*source.Log]bool
	newFiles bool // there may be some

	buf      []byte
	begun    bool                // what was there at the beginning is read
	looked   time.Time           // when the last look at everything ended
	lookCost time.Duration       // what it took
	failures map[string]struct{} // that were complained about
}

// follow reads what stands at paths and then what comes, until the user interrupts. It returns what it read; the error is
// the output's.
func (j *scan) follow(paths []string) ([]logResult, error) {
	f := &following{
		live: newLive(j), follower: source.NewFollower(paths, j.options.open), notifier: newNotifier(), logs: map[*source.Log]*tailedLog{},
		dirty: map[*source.Log]bool{}, buf: make([]byte, chunkLen), failures: map[string]struct{}{},
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	defer debug.SetGCPercent(debug.SetGCPercent(thrifty)) // thousands of logs may stay for days
	defer f.notifier.close()
	defer f.follower.Close()
	f.follower.Except = j.ownOutput()
	s := f.look()
	f.awaited = s.Awaited
	results := j.unlisted(s.Problems, len(s.Logs)+len(s.Packed)+len(s.Awaited) > 0)
	if len(s.Logs)+len(s.Packed)+len(s.Awaited) == 0 && !slices.ContainsFunc(paths, isFolder) {
		return results, nil
	}
	for _, name := range s.Awaited {
		complain(j.streams.Err, problem{where: name, what: "not there yet", hint: "waiting for it"})
	}
	if n := len(s.Logs); n > j.options.open {
		what := fmt.Sprintf("%d files, of which %d are kept open (--max-open); the others are opened when they grow", n, j.options.open)
		complain(j.streams.Err, problem{where: "--follow", what: what})
	}
	f.packed = append(results, j.files(s.Packed)...)
	f.readFirst()
	if closed(j.streams.Interrupt) {
		return f.results(true), nil
	}
	f.begun, j.followed = true, true
	err := f.loop()
	if err == nil {
		f.readAll()
	}
	return f.results(true), err
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// ownOutput tells the files that this process writes itself.
func (j *scan) ownOutput() func(fs.FileInfo) bool {
	var own []fs.FileInfo
	for _, w := range []any{j.out, j.streams.Out, j.streams.Err} {
		if f, ok := w.(*os.File); ok {
			if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
				own = append(own, info)
			}
		}
	}
	return func(info fs.FileInfo) bool {
		return slices.ContainsFunc(own, func(o fs.FileInfo) bool { return os.SameFile(o, info) })
	}
}

// loop waits for what happens. It ends when the user interrupts or nobody reads what is written.
func (f *following) loop() error {
	var reads <-chan time.Time // nil: there is nothing to read
	polls, reports, draws := time.NewTimer(poll), time.NewTimer(0), f.status.ticks()
	defer f.status.hide()
	for {
		if reads == nil && (len(f.dirty) > 0 || f.newFiles) {
			reads = time.After(beat)
		}
		select {
		case path, ok := <-f.notifier.paths:
			if ok {
				f.mark(path)
			} else {
				f.notifier.paths = nil
			}
		case <-reads:
			reads = nil
			if f.newFiles && time.Since(f.looked) > share*f.lookCost {
				f.look()
			}
			f.readDirty()
		case <-polls.C:
			f.look()
			f.markAll()
			begin := time.Now()
			f.readDirty()
			f.lookCost += time.Since(begin)
			polls.Reset(max(f.interval(), share*f.lookCost))
		case <-reports.C:
			if err := f.report(f.known); err != nil {
				return err
			}
		case <-draws:
			f.status.show(f.statusOf(slices.Collect(maps.Values(f.logs))))
		case <-f.streams.Interrupt:
			return nil
		}
		reports.Reset(f.wait())
	}
}

func (f *following) interval() time.Duration {
	if f.blind {
		return poll
	}
	return slowPoll
}

// mark notes that something happened at a path; the empty one stands for all.
func (f *following) mark(path string) {
	if path == "" {
		f.newFiles = true
		f.markAll()
		return
	}
	l := f.follower.At(path)
	if l != nil {
		f.dirty[l] = true
	}
	if _, err := os.Lstat(path); l == nil && err == nil {
		f.newFiles = true
	}
}

func (f *following) markAll() {
	for l := range f.logs {
		f.dirty[l] = true
	}
}

// look looks for new files and folders.
func (f *following) look() source.Sight {
	begin := time.Now()
	s := f.follower.Look()
	for _, dir := range s.Folders {
		if !f.notifier.add(dir) {
			f.blind = true
		}
	}
	for _, l := range s.Logs {
		f.logs[l] = newTailedLog(l.Name, f.options.reading())
		f.dirty[l] = true
	}
	if f.begun {
		for _, p := range s.Problems {
			f.complain(p.Name, p.Err, p.Hint)
		}
	}
	f.newFiles = false
	f.looked = time.Now()
	f.lookCost = f.looked.Sub(begin)
	return s
}

// complain says once what is wrong with a log.
func (f *following) complain(name string, err error, hint string) {
	p := problem{where: name, what: cause(err), hint: hint}
	if _, known := f.failures[p.Error()]; !known && len(f.failures) < maxFailures {
		f.failures[p.Error()] = struct{}{}
		complain(f.streams.Err, p)
	}
}

const maxFailures = 1000 // different ones that are printed

// readFirst reads what is there at the beginning.
func (f *following) readFirst() {
	var total int64
	for _, l := range f.follower.Logs() {
		if info, err := os.Stat(l.Path); err == nil {
			total += info.Size()
		}
	}
	f.progress = f.newProgress(len(f.logs), total)
	f.readAll()
	f.progress.close()
	f.progress = nil
}

// readAll reads all logs to their end, several at a time.
func (f *following) readAll() {
	until := time.Now().Add(patience)
	over := func() bool {
		if f.begun {
			return time.Now().After(until) // it is interrupted already
		}
		return closed(f.streams.Interrupt)
	}
	next := make(chan *source.Log)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range min(f.options.jobs, len(f.logs)) {
		wg.Go(func() {
			buf := make([]byte, chunkLen)
			for l := range next {
				for more := true; more && !over(); {
					var n int
					var err error
					n, more, err = f.fetch(l, buf)
					mu.Lock()
					f.note(l, n, err)
					mu.Unlock()
				}
				f.logs[l].scanner.Rest()
				if p := f.progress; p != nil {
					p.done.Add(1)
					if f.logs[l].events > 0 {
						p.found.Add(1)
					}
				}
			}
		})
	}
	for _, l := range f.follower.Logs() {
		if over() {
			break
		}
		next <- l
	}
	close(next)
	wg.Wait()
	clear(f.dirty)
}

// readDirty reads the logs at which something happened.
func (f *following) readDirty() {
	for l := range f.dirty {
		if !f.read(l) && !l.Left() {
			delete(f.dirty, l)
		}
	}
}

// read reads on in a log and says whether there is more.
func (f *following) read(l *source.Log) (more bool) {
	n, more, err := f.fetch(l, f.buf)
	f.note(l, n, err)
	return more
}

// note takes down what reading a log gave.
func (f *following) note(l *source.Log, n int, err error) {
	if err != nil {
		what := cause(err)
		f.logs[l].failure = &what
		f.complain(l.Name, err, "it is tried again")
	}
	if n > 0 {
		f.live.read(f.logs[l])
	}
}

// fetch reads on in a log, and says how much it read and whether there is more. It touches nothing but the log.
func (f *following) fetch(l *source.Log, buf []byte) (total int, more bool, err error) {
	g := f.logs[l]
	for total < atOnce {
		n, anew, err := l.Read(buf, time.Now())
		switch {
		case err != nil:
			return total, false, err
		case anew:
			g.anew()
			continue
		case n == 0:
			return total, false, nil
		}
		g.failure = nil
		if g.scanner.Stats().Bytes == 0 && g.wide == nil {
			if form, _ := source.Begins(buf[:n]); form == source.Wide {
				g.wide = source.NewDecoder(buf[:n])
			}
		}
		g.feed(buf[:n])
		total += n
		if f.progress != nil {
			f.progress.read.Add(int64(n))
		}
	}
	return total, true, nil
}

// known is what the logs tell by now, nothing as long as none tells of an event.
func (f *following) known() []logResult {
	for _, g := range f.logs {
		if g.events > 0 {
			return f.results(false)
		}
	}
	return nil
}

// results are what was read, closed if nothing more is.
func (f *following) results(end bool) []logResult {
	results := slices.Clone(f.packed)
	for _, l := range f.follower.Logs() {
		g := f.logs[l]
		if end {
			p := g.close()
			if !f.begun && p.input.Error == nil {
				what := errInterrupted.Error()
				p.input.Error = &what
			}
			results = append(results, p)
		} else {
			results = append(results, g.result())
		}
	}
	for _, name := range f.awaited {
		if end && !f.came(name) {
			what := fs.ErrNotExist.Error()
			results = append(results, logResult{input: report.Input{Name: name, Error: &what}})
		}
	}
	return results
}

// came reports whether something was found at a path that was waited for, or below.
func (f *following) came(path string) bool {
	if isFolder(path) {
		return true
	}
	for l := range maps.Keys(f.logs) {
		if ok, _ := filepath.Match(path, l.Name); ok || l.Name == path {
			return true
		}
	}
	return false
}
