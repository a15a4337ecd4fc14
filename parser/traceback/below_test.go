package traceback

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// belowOf feeds what follows on a message outside of a traceback and returns the functions of the frames below it.
func belowOf(text string) (calls []string) {
	var a Assembler
	a.Feed(1, []byte("torch.OutOfMemoryError: CUDA out of memory."))
	a.Told()
	for i, line := range strings.Split(text, "\n") {
		a.Feed(i+2, []byte(line))
		if t := a.Below(); t != nil {
			calls = append(calls, funcs(t))
		}
	}
	if t := a.Close(); t != nil {
		calls = append(calls, funcs(t))
	}
	return calls
}

func TestFramesBelowAMessageAreItsOwn(t *testing.T) {
	t.Parallel()
	const frames = "  File \"a.py\", line 1, in f\n    g()\n    ^^^\n  File \"a.py\", line 2, in g\n"
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"Dagster":                     {"\nStack Trace:\n" + frames + "\nThe above exception was caused by the following exception:", []string{"f>g"}},
		"Streamlit":                   {"Traceback:\nFile \"a.py\", line 1, in f\n    g()\nFile \"a.py\", line 2, in g\n    h()\n", []string{"f>g"}},
		"pybind11":                    {"\nAt:\n  /a b/x.py(12): g\n  <frozen importlib._bootstrap>(241): f\n  <string>(1): <module>\n\"\n", []string{"<module>>f>g"}},
		"the end of a log":            {"\nAt:\n  /a/x.py(12): g", []string{"g"}},
		"another traceback behind":    {"\nAt:\n  /a/x.py(12): g\nTraceback (most recent call last):\n  File \"b.py\", line 1, in h", []string{"g", "h"}},
		"too far from the message":    {"\n\n\n\n\nAt:\n  /a/x.py(12): g\n\n", nil},
		"a heading of something else": {"\nAt:\n  10:00 the node was drained (12): yes\n", nil},
	} {
		assert.Equal(t, tc.want, belowOf(tc.text), name)
	}
}

// TestHeadingsAloneBeginNoTraceback: without a message they are words.
func TestHeadingsAloneBeginNoTraceback(t *testing.T) {
	t.Parallel()
	var a Assembler
	states, traces := run(t, &a, "Traceback:\nAt:\n  /a/x.py(12): g\n")
	assert.Equal(t, "oooo", states)
	require.Empty(t, traces)
}
