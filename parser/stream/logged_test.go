package stream

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser"
)

// TestATracebackIsOfTheRankInTheRecordAboveIt puts a traceback below records of a logger, and below other lines with a rank.
func TestATracebackIsOfTheRankInTheRecordAboveIt(t *testing.T) {
	t.Parallel()
	const chained = "Traceback (most recent call last):\n  File \"train.py\", line 3, in step\n    x()\nKeyError: 'x'\n\nDuring handling of the above exception, another exception occurred:\n\n"
	for name, c := range map[string]struct {
		log  string
		want int
	}{
		"a record with a time":        {"2025-02-19 22:49:33,001 - train - ERROR - [Rank 5] failed\n" + oomReport, 5},
		"a record of rich's handler":  {"[02/19/25 22:49:33] ERROR    [Rank 5] Command has failed.\n" + oomReport, 5},
		"a record without a time":     {"ERROR    [Rank 5] Command has failed.\n" + oomReport, 5},
		"the rank before the level":   {"[rank5] ERROR: failed\n" + oomReport, 5},
		"a fatal one":                 {"CRITICAL:root:[rank 5] failed\n" + oomReport, 5},
		"a chain of exceptions":       {"ERROR:root:[rank 5] failed\n" + chained + oomReport, 5},
		"a record that was wrapped":   {"ERROR:root:[rank 5] failed\n" + Quoted + "\n" + oomReport, 5},
		"a record of something else":  {"INFO:root:[rank 5] loading\n" + oomReport, -1},
		"a line between":              {"ERROR:root:[rank 5] failed\n\n" + oomReport, -1},
		"a rank that prints":          {"[rank 5] loading\n" + oomReport, -1},
		"a record without a rank":     {"ERROR:root:failed on rank 5\n" + oomReport, -1},
		"a record of another process": {"node2: ERROR:root:[rank 5] failed\n" + oomReport, -1},
		"a traceback with its rank":   {"ERROR:root:[rank 5] failed\n[rank3]: " + strings.ReplaceAll(strings.TrimSpace(oomReport), "\n", "\n[rank3]: ") + "\n", 3},
	} {
		for _, head := range []string{"", filler} {
			got := -2
			_, err := Read("log", strings.NewReader(head+c.log), func(o parser.Observation) {
				if e, ok := o.(parser.Event); ok && e.Role == parser.Evidence {
					got = e.Header.Rank
				}
			})
			require.NoError(t, err)
			assert.Equal(t, c.want, got, name)
		}
	}
}
