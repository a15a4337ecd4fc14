package parser

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"oomscan/parser/envelope"
	"oomscan/parser/traceback"
)

// kernelWords gate the assembler of kernel reports: each line that opens one holds one of them, or killWord. They are
// needles, and so a message without needles need not be asked for them.
var kernelWords = [][]byte{[]byte("oom-kill"), []byte("Killed process")}

var killWord = []byte("Kill process ")

// reports feeds the assemblers of a stream's reports over many lines, and emits those that are complete.
func (p *Parser) reports(at Position, body []byte, h envelope.Header, s *stream, needles []int) {
	told := len(needles) > 0 && slices.ContainsFunc(kernelWords, func(w []byte) bool { return bytes.Contains(body, w) }) || bytes.Contains(body, killWord)
	if told && !p.quoted(body, needles) || !told && s.kernel.Open() {
		if s.kernel == nil {
			s.kernel = new(traceback.KernelReport)
		}
		s.kernel.Feed(at.Line, body)
		p.kills(at.Source, h, s.kernel.Take())
	}
	s.elastic.Feed(at.Line, body)
	p.failures(at.Source, h, s.elastic.Take())
}

// quoted says that a veto speaks against a line of a report: somebody repeats the kernel's words.
func (p *Parser) quoted(body []byte, needles []int) bool {
	p.hits, p.runes = p.hits[:0], p.runes[:0]
	for _, id := range needles {
		p.hits = append(p.hits, p.table.owners[id]...)
	}
	return p.vetoed(body[:min(len(body), MaxMessage)])
}

// flush finishes what is open: the input ends here.
func (p *Parser) flush() {
	p.inLine = false
	p.uncut(true)
	keys := make([]string, 0, len(p.streams))
	for k := range p.streams {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		p.finish(p.streams[k])
	}
}

// finish emits what a stream's open reports have told so far.
func (p *Parser) finish(s *stream) {
	p.kills(p.source, s.header, s.kernel.Close())
	p.failures(p.source, s.header, s.elastic.Close())
	p.emitSettings(s.header, s.settings.Close())
}

// kills emits what the kernel's report says of its victims.
func (p *Parser) kills(source string, h envelope.Header, kills []traceback.KernelKill) {
	for i := range kills {
		k := &kills[i]
		f := Fields{"pid": strconv.Itoa(k.PID)}
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
		p.emit(Event{
			At: Position{Source: source, Line: k.Line}, Header: h, Pattern: "kernel.report", Kind: OOMKill, Role: Evidence, Fields: f,
			Text: "the kernel's OOM killer ended process " + strconv.Itoa(k.PID) + " (" + k.Comm + ")",
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
func (p *Parser) failures(source string, h envelope.Header, entries []traceback.ElasticFailure) {
	for i := range entries {
		e := &entries[i]
		f := Fields{}
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
		p.emit(Event{
			At: Position{Source: source, Line: e.Line}, Header: h, Pattern: "elastic.block", Kind: ProcessExit, Role: Consequence, Fields: f,
			Text: "torchrun reports that rank " + f["rank"] + " ended with exit code " + f["exitcode"],
		})
	}
}
