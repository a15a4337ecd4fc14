package classifier

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestStepsBehindAFailure tells what a dying process still prints from a run that goes on.
func TestStepsBehindAFailure(t *testing.T) {
	t.Parallel()
	steps := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, "step %d loss=%.4f lr=1e-5\n", i, 2-float64(i)/1000)
		}
		return b.String()
	}
	const (
		head   = "Traceback (most recent call last):\n"
		module = "  File \"/home/u/train.py\", line 90, in <module>\n    main()\n"
		child  = "  File \"<string>\", line 1, in <module>\n"
		rest   = "  File \"/home/u/train.py\", line 61, in main\n    loss.backward()\n" +
			"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 64.00 GiB of which 1.00 GiB is free.\n"
		skipped = "WARNING step 40: backward failed, skipping batch (len 11): CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 64.00 GiB of which 1.00 GiB is free.\n"
	)
	for _, tt := range []struct {
		name, text string
		want       bool
	}{
		{"what waited in a buffer", steps(1, 40) + head + module + rest + steps(40, 60), false},
		{"more than a buffer holds", steps(1, 40) + head + module + rest + steps(40, 1000), false}, // looked for in 400 lines only
		{"a traceback that was caught", steps(1, 40) + head + rest + steps(40, 60), true},
		{"a child of multiprocessing", steps(1, 40) + head + child + rest + steps(40, 60), true},
		{"caught, but the end all the same", steps(1, 40) + head + rest, false},
		{"a batch that was skipped", steps(1, 40) + skipped, true},
		{"a smaller batch that was tried", steps(1, 40) + "CUDA out of memory. Tried to allocate 2.00 GiB. Retrying with batch size 4\n", true},
		{"a batch that was skipped before the end", steps(1, 40) + skipped + head + "  File \"/home/u/train.py\", line 90, in <module>\n    main()\nValueError: no data\n", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := gather(t, map[string]string{"x.log": tt.text}).Result().Incidents
			require.Len(t, got, 1)
			assert.Equal(t, tt.want, got[0].Survived)
		})
	}
}
