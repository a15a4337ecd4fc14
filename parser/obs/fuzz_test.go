package obs

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser"
	"oomscan/parser/stream"
)

// FuzzReadFrom reads any text. What could be read must stay the same when it is written and read again.
func FuzzReadFrom(f *testing.F) {
	log, err := os.ReadFile("../../fixtures/cases/gpu_oom/relax-sft-loss-oom/relax_sft.log")
	require.NoError(f, err)
	var all []parser.Observation
	_, err = stream.Read("a.log", bytes.NewReader(log), func(o parser.Observation) { all = append(all, o) })
	require.NoError(f, err)
	text := decompress(f, pack(f, "a.log", all[max(0, len(all)-20):]...))
	f.Add(text)
	f.Add(text + text)
	f.Add(text[:len(text)/2])
	f.Add(strings.ReplaceAll(text, "a", escapeMark+"ff"))
	f.Fuzz(func(t *testing.T, text string) {
		var k recorder
		err := ReadFrom(halves(text), 10, &k)
		assert.LessOrEqual(t, len(k.names), 10)
		assert.Equal(t, len(k.names), len(k.read)+len(k.cut), "every log ends")
		if err != nil {
			assert.NotEmpty(t, err.Error())
		}
		if len(k.read) == 0 {
			return
		}
		once := written(k.names[0], k.seen[0])
		var retry recorder
		require.ErrorIs(t, ReadFrom(strings.NewReader(once), 10, &retry), ErrCut, "it has no last line")
		require.Len(t, retry.seen[0], len(k.seen[0]))
		assert.Equal(t, once, written(retry.names[0], retry.seen[0]))
	})
}

// written encodes a log, with the first line of a file.
func written(name string, all []parser.Observation) string {
	b := bytes.NewBufferString(`{"schema":"` + Schema + `","version":""}` + "\n")
	l := NewLog(b, name, "")
	for _, o := range all {
		l.Add(o)
	}
	_ = l.Close(Read{})
	return b.String()
}
