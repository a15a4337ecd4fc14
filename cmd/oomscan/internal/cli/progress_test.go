package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestALineOfProgressTellsAllWhereThereIsRoom fills it with the figures of large archives.
func TestALineOfProgressTellsAllWhereThereIsRoom(t *testing.T) {
	t.Parallel()
	for _, width := range []int{68, 80, 90, 120} {
		p := &progress{total: 213 << 20, files: 40_055}
		l := p.layouts()
		p.read.Store(101 << 20)
		p.done.Store(19_070)
		p.found.Store(1431)
		line := p.line(&l, width)
		assert.Less(t, len(line), width, line)
		time.Sleep(time.Millisecond) // a speed needs two looks
		p.read.Add(1 << 20)
		line = p.line(&l, width)
		assert.Less(t, len(line), width, line)
		assert.True(t, strings.HasSuffix(line, "left") || strings.HasSuffix(line, "..."), line)
		for _, s := range []string{"19070/40055 files", "102.00 MiB", "213.00 MiB", "1431 "} {
			assert.Contains(t, line, s, fmt.Sprint(width))
		}
	}
}
