package source

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDecodersReturnLines(t *testing.T) {
	t.Parallel()
	first, second := "the quick brown fox jumps over the lazy dog and then tells everybody of it", "another line that goes on and on, far behind the end of a single row"
	hard := first[:61] + "\n" + first[61:] + "\n" + second[:61] + "\n" + second[61:] + "\nshort\n\n"
	for name, tc := range map[string]struct{ kept, lines string }{
		"one JSON string":  {`"a\n  b \"c\"\n\td\n\u0065\n"`, "\na\n  b \"c\"\n\td\ne\n\n"},
		"a list":           {"[\n {\n  \"message\": \"a [1, {\",\n  \"timestamp\": 1\n },\n {\"message\":\"b\"}\n]\n", "[\n{\"message\":\"a [1, {\",\"timestamp\":1}\n{\"message\":\"b\"}\n]"},
		"a list in a list": {`{"events":[{"timestamp":1,"message":"a","tags":[{"k":1},2]},{"message":"b"}]}`, "{\"events\":[\n{\"timestamp\":1,\"message\":\"a\",\"tags\":[{\"k\":1},2]}\n{\"message\":\"b\"}\n]}"},
		"a table":          {"Date,Host,Message\n2026-03-01,n1,\"a \"\"b\"\", c\nd\"\r\n", "\n{\"host\":\"n1\",\"logtag\":\"F\",\"message\":\"a \\\"b\\\", c\\nd\",\"time\":\"2026-03-01\"}\n"},
		"rows":             {hard, first + "\n" + filler + second + "\n" + filler + "short\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, chunk := range []int{1, 7, len(tc.kept)} {
				d := NewDecoder([]byte(tc.kept))
				require.NotNil(t, d)
				var got []byte
				for rest := tc.kept; rest != ""; {
					n := min(chunk, len(rest))
					got = d.Append(got, []byte(rest[:n]))
					rest = rest[n:]
				}
				assert.Equal(t, tc.lines, string(d.Close(got)), "in chunks of %d", chunk)
			}
		})
	}
}

func TestPlainLogsNeedNoDecoder(t *testing.T) {
	t.Parallel()
	for _, log := range []string{
		"", "\n", "text\n", "{\n  \"lr\": 1,\n  \"log\": true\n}\nstep 1\n", `{"log":"a\n","time":"x"}` + "\n" + `{"log":"b\n","time":"x"}` + "\n", "[rank0]: message, time\n",
		"step,loss,message\n1,2,x\n", strings.Repeat(strings.Repeat("x", 79)+"\n", 50), strings.Repeat("| worker 1 is ready and goes on with what it was told to do by others |\n", 30),
		`{"input":"what went wrong?","output":"a\nb\nc\nd\ntorch.OutOfMemoryError: CUDA out of memory."}`,
		`{"logs":"a\nb\nc\nd\ne","prompt":"what went wrong?"}`, `{"text":"a\nb\nc\nd\ne"}`,
	} {
		assert.Nil(t, NewDecoder([]byte(log)), "%.60q", log)
	}
}
