package stream

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/sample"
	"oomscan/parser/traceback"
)

// kernelWords are in each line that opens a report of the kernel's OOM killer, of old kernels and new.
var kernelWords = [][]byte{[]byte("oom-kill"), []byte("Killed process"), []byte("Kill process "), []byte(" killed as a result of limit of ")}

// reports feeds the assemblers of a writer's reports over several lines, and emits those that are complete.
func (r *messageReader) reports(at parser.Position, body []byte, h envelope.Header, w *writer) {
	opens := r.killed < maxAlike && slices.ContainsFunc(kernelWords, func(word []byte) bool { return bytes.Contains(body, word) })
	if opens && !r.isVetoed(body) || !opens && w.kernel.Open() { // another program may repeat the kernel's words
		if w.kernel == nil {
			w.kernel = new(traceback.KernelReport)
		}
		w.kernel.Feed(at.Line, body)
		r.kills(at.Source, h, w.kernel.Take())
	}
	w.elastic.Feed(at.Line, body)
	r.failures(at.Source, h, w.elastic.Take())
}

// flush finishes what is open: the input ends here.
func (r *messageReader) flush() {
	r.endOfLine()
	r.expireCuts(true)
	for _, k := range slices.Sorted(maps.Keys(r.writers)) {
		r.finish(r.writers[k])
	}
}

// finish emits what a writer's open reports hold so far.
func (r *messageReader) finish(w *writer) {
	r.settle(w, sample.Outside, w.sample, nil)
	r.kills(r.source, w.header, w.kernel.Close())
	r.failures(r.source, w.header, w.elastic.Close())
	r.cutOff(w)
	if t := w.trace.Close(); t != nil {
		r.emit(*r.cutEvent(t, w))
	}
	r.emitSettings(w.header, w.settings.Close())
}

// cutEvent is the event of a traceback whose end was cut off.
func (r *messageReader) cutEvent(t *traceback.Trace, w *writer) *parser.Event {
	return &parser.Event{
		At: parser.Position{Source: r.source, Line: t.Line, Passed: r.passed}, Header: w.opened, Pattern: unclaimed, Kind: parser.Exception, Role: parser.Context,
		Fields: parser.Fields{}, Text: t.Message, Trace: t,
	}
}

// cutOff emits the event of a traceback that ended at text of whoever wrote behind it, such as the end of the block that quotes it.
func (r *messageReader) cutOff(w *writer) {
	if w.cut != nil {
		r.emit(*w.cut)
	}
	w.cut = nil
}

// kills emits the victims of the kernel's report.
func (r *messageReader) kills(source string, h envelope.Header, kills []traceback.KernelKill) {
	r.killed += len(kills)
	for i := range kills {
		k := &kills[i]
		f, text := parser.Fields{}, "the kernel's OOM killer was invoked"
		if k.TriggerComm != "" {
			text += " by " + k.TriggerComm
		}
		if k.PID > 0 {
			f["pid"], text = strconv.Itoa(k.PID), "the kernel's OOM killer ended process "+strconv.Itoa(k.PID)+" ("+k.Comm+")"
		}
		for _, t := range []struct {
			key   string
			value int64
		}{
			{"total_vm", k.TotalVM},
			{"anon_rss", k.AnonRSS},
			{"file_rss", k.FileRSS},
			{"shmem_rss", k.ShmemRSS},
			{"used", k.Usage},
			{"limit", k.Limit},
			{"anon", k.Anon},
			{"file", k.File},
			{"shmem", k.Shmem},
		} {
			if t.value >= 0 {
				f[t.key] = strconv.FormatInt(t.value, 10)
			}
		}
		for _, t := range []struct{ key, value string }{
			{"comm", k.Comm}, {"job", k.Job}, {"step", k.Step}, {"memcg", k.OOMMemcg}, {"constraint", k.Constraint}, {"trigger", k.TriggerComm},
		} {
			if t.value != "" {
				f[t.key] = t.value
			}
		}
		if k.Task >= 0 {
			f["task"] = strconv.Itoa(k.Task)
		}
		if t := topTasks(k.Tasks); t != "" {
			f["tasks"] = t
		}
		if c := k.Biggest; c.Count > 0 {
			f["biggest_group"] = fmt.Sprintf("%d %d %s", c.Count, c.RSS, strings.ReplaceAll(c.Comm, "\n", " "))
		}
		r.emit(parser.Event{
			At: parser.Position{Source: source, Line: k.Line, Passed: r.passed}, Header: h, Pattern: "kernel.report", Kind: parser.OOMKill, Role: parser.Evidence, Fields: f,
			Text: text,
		})
	}
}

// mostTasks is how many rows of a kernel report's task table go into its event.
const mostTasks = 5

// topTasks writes the largest rows of a task table as lines of pid, resident bytes and name.
func topTasks(tasks []traceback.KernelTask) string {
	var b strings.Builder
	for i, t := range tasks {
		if i == mostTasks {
			break
		}
		fmt.Fprintf(&b, "%d %d %s\n", t.PID, t.RSS, strings.ReplaceAll(t.Comm, "\n", " "))
	}
	return b.String()
}

// failures emits the entries of torchrun's failure block.
func (r *messageReader) failures(source string, h envelope.Header, entries []traceback.ElasticFailure) {
	for i := range entries {
		e := &entries[i]
		f := parser.Fields{}
		for _, t := range []struct {
			key   string
			value int
			known bool
		}{
			{"rank", e.Rank, e.Rank >= 0},
			{"local_rank", e.LocalRank, e.LocalRank >= 0},
			{"pid", e.PID, e.PID > 0},
			{"exitcode", e.ExitCode, e.ExitCode != traceback.ExitUnknown},
		} {
			if t.known {
				f[t.key] = strconv.Itoa(t.value)
			}
		}
		if e.Host != "" {
			f["host"] = e.Host
		}
		if e.Time != "" {
			f["time"] = e.Time
		}
		if e.Root {
			f["first"] = "true"
		}
		r.emit(parser.Event{
			At: parser.Position{Source: source, Line: e.Line, Passed: r.passed}, Header: h, Pattern: "elastic.block", Kind: parser.ProcessExit, Role: parser.Consequence, Fields: f,
			Text: "torchrun reports that rank " + f["rank"] + " ended with exit code " + f["exitcode"],
		})
	}
}
