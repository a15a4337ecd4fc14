package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/cmd/oomscan/internal/report"
	"oomscan/parser"
	"oomscan/parser/stream"
)

func TestOfALogInWhichNothingWasFoundNothingIsKept(t *testing.T) {
	t.Parallel()
	p := logResult{input: report.Input{Name: "train.log", Counts: parser.Counts{Lines: 1}}, collector: classifier.NewCollector()}
	p.pack()
	assert.Equal(t, logResult{input: p.input}, p)
	assert.Nil(t, p.facts())
	assert.Nil(t, p.jobClues())
}

// TestALogThatShrinksIsSaid empties a short and a long log when the first observation in it is known.
func TestALogThatShrinksIsSaid(t *testing.T) {
	t.Parallel()
	const oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
	for _, size := range []int{1 << 10, 2 * minParts} {
		path := filepath.Join(t.TempDir(), "in.log")
		for _, to := range []int64{0, int64(size)} {
			require.NoError(t, os.WriteFile(path, []byte(oom+strings.Repeat(" ", size-len(oom))), 0o600))
			f, err := os.Open(path)
			require.NoError(t, err)
			defer f.Close()
			j := &scan{options: &options{line: stream.DefaultLine}}
			seen := 0
			_, err = j.whole("in.log", f, 1, func(parser.Observation) {
				seen++
				assert.NoError(t, os.Truncate(path, to))
			}, nil)
			assert.Equal(t, to == 0, errors.Is(err, errShorter))
			assert.Positive(t, seen)
		}
	}
}

// TestTheCheckOfYAMLIsBounded gives what the parser of YAML needs seconds and hundreds of megabytes for.
func TestTheCheckOfYAMLIsBounded(t *testing.T) {
	t.Parallel()
	for text, checked := range map[string]bool{"a: [": true, strings.Repeat("[", maxNesting+1): false, "a: [" + strings.Repeat(" ", maxYAML): false} {
		path := filepath.Join(t.TempDir(), "run.yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		f, err := os.Open(path)
		require.NoError(t, err)
		defer f.Close()
		assert.Equal(t, checked, checkYAML(f) != nil)
	}
}
