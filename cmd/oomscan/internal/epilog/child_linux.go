package epilog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"oomscan/classifier"
	"oomscan/cmd/oomscan/internal/pack"
	"oomscan/cmd/oomscan/internal/report"
)

// Child is the part of the hook that runs as the job's user: it reads a request from in and writes an answer to out.
// It refuses to run as root. Its exit status means nothing.
func Child(in io.Reader, out io.Writer) {
	if os.Geteuid() == 0 || os.Getuid() == 0 {
		return
	}
	data, err := io.ReadAll(io.LimitReader(in, maxAnswer))
	var r request
	if err != nil || json.Unmarshal(data, &r) != nil {
		return
	}
	troubles := confine(&r)
	a := serve(&r)
	a.Troubles = append(troubles, a.Troubles...)
	if b, err := json.Marshal(a); err == nil && len(b) <= maxAnswer {
		_, _ = out.Write(b)
	}
}

// confine protects the node from this process, and this process from its user. It returns what the system refused.
func confine(r *request) (troubles []string) {
	check := func(what string, err error) {
		if err != nil {
			troubles = append(troubles, what+": "+why(err))
		}
	}
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // if memory runs short, this process goes first
	check("no_new_privs", unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	check("dumpable", unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0))
	check("limit of core files", lowerLimit(unix.RLIMIT_CORE, 0))
	check("limit of open files", lowerLimit(unix.RLIMIT_NOFILE, 256))
	check("limit of file size", lowerLimit(unix.RLIMIT_FSIZE, 64<<20))
	check("limit of processor time", lowerLimit(unix.RLIMIT_CPU, uint64(time.Duration(r.Config.Budget.CPU)/time.Second)+2))
	signal.Ignore(syscall.SIGXFSZ, syscall.SIGPIPE)
	debug.SetMemoryLimit(int64(r.Config.Budget.Memory) / 2) // the program's own pages, about 20 MB, count as well
	debug.SetGCPercent(50)
	time.AfterFunc(time.Duration(r.Config.Deadline), func() { os.Exit(0) }) // in case the parent is gone and cannot kill it
	return troubles
}

// lowerLimit lowers a limit of this process. It may already be lower, and cannot be raised.
func lowerLimit(resource int, n uint64) error {
	var l unix.Rlimit
	if err := unix.Getrlimit(resource, &l); err != nil {
		return err
	}
	l.Max = min(l.Max, n)
	l.Cur = l.Max
	return unix.Setrlimit(resource, &l)
}

// serve finds and reads the logs and writes the report.
func serve(r *request) answer {
	m := newMeter(r.Config.Budget)
	defer m.close()
	w := &worker{request: r, uid: uint32(os.Geteuid()), meter: m, scan: newScan(m, r.Job.ID)}
	w.rules()
	w.run()
	return w.answer
}

// rules reads the configured pack. If it has a fault, the built-in messages are used alone.
func (w *worker) rules() {
	if w.Config.Rules == off {
		return
	}
	p, faults := pack.Load([]string{w.Config.Rules})
	if len(faults) > 0 {
		w.trouble("rules", faults[0])
	}
	w.meter.options, w.scan.guides = p.Options(), p.Guides
}

// worker handles one request.
type worker struct {
	*request
	uid      uint32
	meter    *meter
	scan     *scan
	logs     []*logFile // the job's own, stderr first
	fallback *logFile   // another log of the run, to write the report beside if there are none of the job's own
	answer   answer
}

func (w *worker) trouble(where string, err error) {
	w.answer.Troubles = append(w.answer.Troubles, where+": "+why(err))
}

func (w *worker) run() {
	f := &finder{
		uid: w.uid, names: &w.Job.Names, workDir: w.Job.WorkDir, mayGuess: w.MayGuess, beside: w.Config.Beside, started: w.Job.Started,
	}
	patterns := []string{w.Job.Stderr, w.Job.Stdout}
	if w.Job.Stderr == "" {
		patterns = patterns[1:]
	}
	if w.Stderr != "" {
		if l, err := f.open(w.Stderr); err == nil {
			w.logs = append(w.logs, l)
		}
	} else {
		w.find(f, patterns)
	}
	if w.answer.NeedsScontrol && !w.MayGuess {
		return
	}
	away := w.Config.AllNodes && !w.Reporter // the job's own log may be visible only on the first node
	if len(w.logs) == 0 && !away {
		return // a later component of a heterogeneous job, /dev/null, a missing folder: nothing to say
	}
	if w.Reporter {
		for _, l := range w.logs[:min(len(w.logs), w.Config.Budget.Files)] {
			w.scan.log(l, resume(l, w.Marks))
			w.answer.Marks = append(w.answer.Marks, markOf(l))
		}
	}
	if w.Kernel != "" {
		w.scan.text(kernelFile, w.Kernel)
	}
	rep := w.scan.report(w.Version)
	list := findings(&rep, true)
	if (w.Reporter || w.Config.AllNodes) && w.readNearby(f, patterns, list) {
		rep = w.scan.report(w.Version)
	}
	w.answer.Troubles = append(w.answer.Troubles, f.problems...)
	w.answer.Findings = findings(&rep, w.Config.Suspects)
	for i := range rep.Inputs {
		w.answer.Files = append(w.answer.Files, rep.Inputs[i].Name)
		w.answer.Bytes += rep.Inputs[i].Bytes
		if e := rep.Inputs[i].Error; e != nil {
			w.answer.Troubles = append(w.answer.Troubles, rep.Inputs[i].Name+": "+*e)
		}
	}
	w.deliver(&rep)
}

// find opens the job's own logs.
func (w *worker) find(f *finder, patterns []string) {
	for _, p := range patterns {
		l, err := f.output(p)
		switch {
		case errors.Is(err, errNeedsScontrol):
			// If stderr's log is known, the default name of stdout's is not worth asking for.
			w.answer.NeedsScontrol = w.answer.NeedsScontrol || p != "" || len(w.logs) == 0
		case errors.Is(err, unix.ENOENT):
		case err != nil:
			if name := expand(p, f.names, false); path.Base(name) != "null" {
				w.trouble(name, err)
			}
		case slices.ContainsFunc(w.logs, func(o *logFile) bool { return o.inode() == l.inode() }):
			l.Close()
		default:
			w.logs = append(w.logs, l)
		}
	}
}

// readNearby reads what the job's own logs do not contain: the files beside them, and Slurm's exit codes if nothing
// else proves that memory ran out. It reports whether that changed anything.
//
// Files without the job's name may belong to another job. They are read only when something went wrong: a healthy job
// must not be blamed for them, nor wait for them.
func (w *worker) readNearby(f *finder, patterns []string, list []Finding) (changed bool) {
	wrong := len(list) > 0 || w.scan.cancelled || w.Job.Failed() || !w.Reporter
	left := 0
	for _, l := range f.findNearby(w.logs, patterns, max(0, w.Config.Budget.Files-len(w.logs))) {
		switch {
		case !l.own && !wrong:
		case w.meter.check() != nil:
			left++
		default:
			w.scan.beside(l)
			changed = true
			w.fallback = cmp.Or(w.fallback, l)
		}
		l.Close()
	}
	if left > 0 {
		w.scan.notes = append(w.scan.notes, fmt.Sprintf("%d files beside the log were not read: %v", left, w.meter.check()))
	}
	if w.Reporter && w.Job.OutOfMemory() && !slices.ContainsFunc(list, func(f Finding) bool {
		return f.Verdict == string(classifier.Memory) && f.Kind == "oom_kill"
	}) {
		w.scan.text(slurmWord, w.Job.exitCodes())
		changed = true
	}
	return changed
}

// deliver writes the report where the user finds it.
func (w *worker) deliver(rep *report.Report) {
	if len(w.answer.Findings) == 0 && !w.Dry {
		return
	}
	if !w.Reporter && !hasProof(w.answer.Findings) && !w.Dry {
		return // other nodes report only proofs
	}
	var text, doc bytes.Buffer
	if err := report.Text(&text, rep, report.Style{Width: w.Width, ASCII: true}); err != nil {
		return
	}
	w.answer.Short = report.Short(rep)
	text.WriteString(footer(&w.Job, w.scan.notes, time.Now()))
	if w.Document || w.Config.JSON {
		if err := report.JSON(&doc, rep); err != nil {
			doc.Reset()
		}
	}
	if w.Document && doc.Len() < maxAnswer/2 {
		w.answer.Document = json.RawMessage(doc.Bytes())
	}
	if w.Dry {
		w.answer.Text = text.String()
		return
	}
	log := w.fallback
	if len(w.logs) > 0 {
		log = w.logs[0]
	}
	if log == nil {
		return
	}
	if w.Config.Report == beside {
		dir, err := openFolder(log.path, w.uid)
		if err != nil {
			w.trouble(path.Dir(log.path), err)
		} else {
			defer unix.Close(dir)
			w.writeReport(dir, log, "txt", text.Bytes())
			if w.Config.JSON && doc.Len() > 0 {
				w.writeReport(dir, log, "json", doc.Bytes())
			}
		}
	}
	if w.Config.Append && hasProof(w.answer.Findings) && w.Reporter {
		if err := appendTo(log, quoteLines(w.answer.Short, w.answer.Report)); err != nil {
			w.trouble(log.path, fmt.Errorf("nothing appended: %w", err))
		} else if st, err := log.Stat(); err == nil && len(w.answer.Marks) > 0 {
			log.stat.Size = st.Size() // the next run begins after it
			w.answer.Marks[0] = markOf(log)
		}
	}
}

// writeReport writes a report beside a log.
func (w *worker) writeReport(dir int, log *logFile, ext string, data []byte) {
	infix := ""
	if !w.Reporter && w.Job.Node != "" {
		infix = "." + w.Job.Node
	}
	name, err := writeBeside(dir, log, infix, ext, data)
	switch {
	case errors.Is(err, errThere):
	case err != nil:
		w.trouble(path.Dir(log.path), fmt.Errorf("no report written: %w", err))
	case ext == "txt":
		w.answer.Report = path.Dir(log.path) + "/" + name
	}
}
