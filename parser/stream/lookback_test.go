package stream

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/parser"
)

// TestAStormIsNotReadBackForEachEvent reads many events in lines that look like those of a block or a diff.
func TestAStormIsNotReadBackForEachEvent(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("the race detector makes it slow, and it has one goroutine")
	}
	for _, line := range []string{
		" Out of memory: Killed process 7 (python) total-vm:1kB, anon-rss:1kB, file-rss:4kB << x\n",
		"+ RuntimeError: CUDA error: out of memory ``` <<EOF\n",
	} {
		log := strings.Repeat(line, 8_000)
		r := NewReader("log", func(parser.Observation) {})
		_, _ = r.Write([]byte(log))
		r.Close()
		assert.LessOrEqual(t, r.lookedBack, int64(lookBackFree+lookBackShare*len(log)+behind))
	}
}
