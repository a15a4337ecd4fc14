package classifier

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser/stream"
	"oomscan/parser/traceback"
)

// TestCodeIsComparedAsSets holds the numbers that stand for a traceback's places against the places themselves, for every
// pair of tracebacks of every case.
func TestCodeIsComparedAsSets(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("the race detector makes it slow, and it has one goroutine")
	}
	paths, err := filepath.Glob("../fixtures/cases/*/*/*.log")
	require.NoError(t, err)
	c := NewCollector()
	for _, path := range paths {
		if f, err := os.Open(path); err == nil {
			_, err = stream.Read(path, f, c.Add)
			f.Close()
			require.NoError(t, err)
		}
	}
	j := &job{}
	files, _ := c.sorted()
	for _, f := range files {
		j.events = append(j.events, dedupe(f)...)
	}
	x := newIndex(j)
	require.Greater(t, len(x.traced), 100)
	apart := func(a, b *traceback.Trace) bool {
		own, other := ownCode(a), ownCode(b)
		if len(own) == 0 || len(other) == 0 {
			maps.Copy(own, libraries(a))
			maps.Copy(other, libraries(b))
		}
		for place := range own {
			if other[place] {
				return false
			}
		}
		return len(own) > 0 && len(other) > 0
	}
	yes, no := 0, 0
	for i := 0; i < len(x.traced); i += 3 {
		for k := i % 7; k < len(x.traced); k += 7 {
			a, b := x.traced[i].Trace, x.traced[k].Trace
			want := apart(a, b)
			require.Equal(t, want, x.codeOf(a).apart(x.codeOf(b)))
			if want {
				yes++
			} else {
				no++
			}
		}
	}
	assert.Greater(t, yes, 100)
	assert.Greater(t, no, 100)
}

// failingPrograms collects the logs of so many programs that fail again and again.
func failingPrograms(t testing.TB, logs, failures int) *Collector {
	t.Helper()
	c := NewCollector()
	for k := range logs {
		var b strings.Builder
		for i := range failures {
			w := fmt.Sprintf("(Prog%d pid=%d) ", k, 900+k)
			fmt.Fprintf(&b, "%sstep:%d - actor/grad_norm:0.1 - timing_s/gen:1.0\n%sTraceback (most recent call last):\n", w, i+1, w)
			for d := range 6 {
				fmt.Fprintf(&b, "%s  File \"/srv/p%d/m%d.py\", line %d, in step_%d\n%s    out = self.run(x)\n", w, k, i%50, 100+i, d, w)
			}
			fmt.Fprintf(&b, "%storch.OutOfMemoryError: CUDA out of memory. Tried to allocate %d.50 GiB. GPU %d has a total capacity of %d.15 GiB of which 0.5 GiB is free.\n", w, 1+i%9, k%8, 40+k)
		}
		_, err := stream.Read(fmt.Sprintf("rank_%d.log", k), strings.NewReader(b.String()), c.Add)
		require.NoError(t, err)
	}
	return c
}

// TestWorkGrowsWithTheIncidents puts the logs of many programs together that fail again and again: to compare each of their failures
// with all that is known of all others would take minutes. Allocations do not depend on how busy the machine is.
func TestWorkGrowsWithTheIncidents(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector makes it slow")
	}
	work := func(logs, failures int) float64 {
		c := failingPrograms(t, logs, failures)
		return testing.AllocsPerRun(1, func() { require.Greater(t, len(c.Result().Incidents), logs*failures/5) })
	}
	assert.Less(t, work(12, 30), 6*work(3, 30), "four times the incidents: not sixteen times the work")
}

// BenchmarkThousandsOfIncidents is how long 10,000 failures of 40 programs take.
func BenchmarkThousandsOfIncidents(b *testing.B) {
	c := failingPrograms(b, 40, 250)
	for b.Loop() {
		c.Result()
	}
}
