package stream

import (
	"strings"
	"testing"

	"oomscan/parser"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheCommandOfAFailedChildTellsSettings reads the last line of a launcher's traceback, which quotes the command that
// the launcher had started, far behind the beginning of the log.
func TestTheCommandOfAFailedChildTellsSettings(t *testing.T) {
	t.Parallel()
	const trace = "Traceback (most recent call last):\n  File \"/v/bin/accelerate\", line 8, in <module>\n    sys.exit(main())\n"
	for _, exception := range []string{
		"subprocess.CalledProcessError: Command '['/v/bin/python', 'train.py', '--train_batch_size=2', '--fp16']' returned non-zero exit status 1.",
		"subprocess.CalledProcessError: Command '['/v/bin/python3.11', '-u', 'train.py', '--train_batch_size', '2']' died with <Signals.SIGKILL: 9>.",
	} {
		got := map[string]string{}
		_, err := Read("log", strings.NewReader(strings.Repeat("nothing\n", 2*headLines)+trace+exception+"\n"), func(o parser.Observation) {
			if s, ok := o.(parser.Setting); ok {
				got[s.Key] = s.Value
			}
		})
		require.NoError(t, err)
		assert.Equal(t, "2", got["--train_batch_size"], "%v", got)
	}
}
