package stream

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"oomscan/parser"
	"oomscan/parser/messages"

	"github.com/stretchr/testify/assert"
)

// seen is what a scan made of a text in chunks of so many bytes, without places.
func seen(text string, chunk int) []string {
	var pieces []string
	for p := range slices.Chunk([]byte(text), chunk) {
		pieces = append(pieces, string(p))
	}
	return seenIn(pieces...)
}

// seenIn is what a scan made of the pieces of a text.
func seenIn(pieces ...string) []string {
	var out []string
	s := NewReader("in", func(o parser.Observation) {
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
	for _, p := range pieces {
		_, _ = s.Write([]byte(p))
	}
	s.Close()
	return out
}

// headless is the table without a head: only literals lead to a line, from the first one on.
var headless = sync.OnceValue(func() *Table {
	t, err := NewTable(messages.All())
	if err != nil {
		panic(err)
	}
	t.headLines = 0
	return t
})

// TestSamplesGoThroughThePipeline proves that a literal leads to every sample: past the head of an input, behind every
// line prefix, with the fields of the table.
func TestSamplesGoThroughThePipeline(t *testing.T) {
	t.Parallel()
	all := messages.All()
	for i := range all {
		if testing.Short() && i%72 != 0 {
			continue // the race detector sees enough of them
		}
		assert.Empty(t, builtin().Prove(&all[i]), all[i].Name)
	}
}

// TestChunksDoNotMatter reads all samples together in chunks of 1, 7 and 65536 bytes.
func TestChunksDoNotMatter(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(filler)
	all := messages.All()
	for i := 0; i < len(all); i += every(4) {
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
