package stream

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"oomscan/parser"
	"oomscan/parser/messages"
	"oomscan/parser/pattern"

	"github.com/stretchr/testify/assert"
)

// prefixes are what loggers, launchers and collectors put around a line.
var prefixes = []struct{ name, before, after string }{
	{"bare", "", ""},
	{"rank", "[rank3]: ", ""},
	{"ray", "(WorkerDict pid=4711, ip=10.0.0.7) ", ""},
	{"ray coloured", "\x1b[36m(WorkerDict pid=4711, ip=10.0.0.7)\x1b[0m ", ""},
	{"ray repeated", "\x1b[36m(WorkerDict pid=4711)\x1b[0m ", "\x1b[32m [repeated 7x across cluster]\x1b[0m"},
	{"ray and engine", "\x1b[36m(vLLMHttpServer pid=20788)\x1b[0m (EngineCore_DP0 pid=21402) ", ""},
	{"ray, engine and logger", "(vLLMHttpServer pid=20788) (EngineCore_DP0 pid=21402) ERROR 12-03 11:22:31 [core.py:844] ", ""},
	{"srun and rank", "3: [rank3]: ", ""},
	{"torchrun", "[default3]:", ""},
	{"journald", "Jun 01 10:00:00 node01 python[123]: ", ""},
	{"cri", "2025-06-01T10:00:00.123456789Z stderr F ", ""},
	{"crlf", "", "\r"},
	{"behind a progress bar", "  3%|3         | 40/1171 [39:20<18:32:22, 59.01s/it]\r", ""},
	{"sgr inside", "\x1b[31m", "\x1b[0m"},
}

// seen is what a scan made of a text, without places.
func seen(text string, chunk int) []string {
	var out []string
	s := newReader("in", headless(), func(o parser.Observation) {
		switch o := o.(type) {
		case parser.Event:
			out = append(out, fmt.Sprint("event ", o.At.Line, o.Pattern, o.Kind, o.Role, o.Fields))
		case parser.Setting:
			out = append(out, fmt.Sprint("setting ", o.At.Line, o.Key, o.Value))
		case parser.Marker:
			out = append(out, fmt.Sprint("marker ", o.At.Line, o.Name, o.Fields))
		case parser.Gauge:
			out = append(out, fmt.Sprint("gauge ", o.At.Line, o.Name, o.Fields))
		}
	})
	for b := []byte(text); len(b) > 0; {
		n := min(chunk, len(b))
		_, _ = s.Write(b[:n])
		b = b[n:]
	}
	s.Close()
	return out
}

// yield is what a sample must give.
func yield(p *pattern.Pattern, want parser.Fields, line int) string {
	switch {
	case p.Marker != "":
		return fmt.Sprint("marker ", line, p.Marker, want)
	case p.Gauge:
		return fmt.Sprint("gauge ", line, p.Name, want)
	}
	return fmt.Sprint("event ", line, p.Name, p.Kind, p.Role, want)
}

// headless is the table without a head: only literals lead to a line, from the first one on.
var headless = sync.OnceValue(func() *table {
	t := newTable(messages.All())
	t.headLines = 0
	return t
})

// filler is what a healthy run prints before.
const filler = "the run goes on\nand on\n"

// TestSamplesGoThroughThePipeline proves that a literal leads to every sample: past the head of an input, behind every
// line prefix, with the fields of the table.
func TestSamplesGoThroughThePipeline(t *testing.T) {
	t.Parallel()
	all := messages.All()
	for i := range all {
		p := &all[i]
		if p.Veto {
			continue
		}
		for n, s := range p.Match {
			for k, c := range prefixes {
				if testing.Short() && (i+n+k)%8 != 0 {
					continue // the race detector sees enough of them
				}
				t.Run(fmt.Sprintf("%s/%d/%s", p.Name, n, c.name), func(t *testing.T) {
					text, line := filler, 3
					if len(p.After) > 0 {
						text, line = text+c.before+first(all, p.After[0])+c.after+"\n", line+1
					}
					got := seen(text+c.before+s.Line+c.after+"\n", 1<<20)
					assert.Contains(t, got, yield(p, s.Want, line), "of %q", s.Line)
				})
			}
		}
	}
}

// first is a line that the pattern of that name matches.
func first(all []pattern.Pattern, name string) string {
	for i := range all {
		if all[i].Name == name {
			return all[i].Match[0].Line
		}
	}
	return ""
}

// TestChunksDoNotMatter reads all samples together in chunks of 1, 7 and 65536 bytes.
func TestChunksDoNotMatter(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(filler)
	all := messages.All()
	for i := range all {
		if testing.Short() && i%8 != 0 {
			continue // the race detector makes it slow
		}
		for _, s := range all[i].Match {
			for _, c := range prefixes {
				b.WriteString(c.before + s.Line + c.after + "\n")
			}
		}
	}
	want := seen(b.String(), 1<<20)
	for _, chunk := range []int{1, 7, 65536} {
		assert.Equal(t, want, seen(b.String(), chunk), "in chunks of %d bytes", chunk)
	}
}

// TestLongLinesReadTheSameInAnyChunks cuts a line of megabytes where the line says, not where the reads end.
func TestLongLinesReadTheSameInAnyChunks(t *testing.T) {
	t.Parallel()
	oom := "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.15 GiB of which 1.00 GiB is free."
	bar := strings.Repeat("\r 3%|#   | 40/1171 [39:20<18:32:22, 59.01s/it]", 9000)
	flat := strings.Repeat("0123456789abcdef ", 12000)
	for name, text := range map[string]string{
		"behind a bar":       filler + bar + oom + "\nnext\n",
		"inside a bar":       filler + bar + "\r" + oom + bar + "\nnext\n",
		"behind flat text":   filler + flat + oom + "\n",
		"before flat text":   filler + oom + flat + "\n",
		"two in one line":    filler + oom + flat + oom + "\n",
		"no newline at last": filler + bar + "\r" + oom,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := seen(text, 1<<20)
			assert.NotEmpty(t, want)
			for _, chunk := range []int{7, 4097, 65536} {
				assert.Equal(t, want, seen(text, chunk), "in chunks of %d bytes", chunk)
			}
		})
	}
}
