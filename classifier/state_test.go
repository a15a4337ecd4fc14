package classifier

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/obs"
	"oomscan/parser/stream"
)

// collectors reads a part of the fixtures' logs, each into a collector of its own; a smaller one under -short.
func collectors(t *testing.T) map[string]*Collector {
	t.Helper()
	files, err := filepath.Glob("../fixtures/cases/*/*/*")
	require.NoError(t, err)
	out, every := map[string]*Collector{}, 5
	if testing.Short() { // the race detector makes it slow
		every = 20
	}
	for i, path := range files {
		if base := filepath.Base(path); i%every > 0 || base == "expect.json" || base == "report.txt" {
			continue
		}
		f, err := os.Open(path)
		require.NoError(t, err)
		c := NewCollector()
		_, err = stream.Read(path, f, c.Add)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		out[path] = c
	}
	require.Greater(t, len(out), 20)
	return out
}

func TestPackedCollectorsGiveTheSameResult(t *testing.T) {
	t.Parallel()
	want, packed, clues := map[string]Result{}, map[string]Packed{}, map[string]Clues{}
	for path, c := range collectors(t) {
		want[path], clues[path] = c.Result(), c.Clues()
		packed[path] = c.Pack()
	}
	for path, p := range packed {
		c := p.Unpack()
		assert.Equal(t, clues[path], c.Clues(), path)
		assert.Equal(t, repacked(want[path]), repacked(c.Result()), path)
		again := c.Pack().Unpack()
		assert.Equal(t, p.Unpack().files, again.files, path)
	}
}

func TestAPackedCollectorDoesNotDescribeItsTypes(t *testing.T) {
	t.Parallel()
	c := NewCollector()
	c.Add(parser.Setting{Key: "lr", Value: "1e-5", Header: envelope.NewHeader(), At: parser.Position{Source: "train.log", Line: 1}})
	assert.Less(t, len(c.Pack()), 200)
	assert.Contains(t, c.Pack().Unpack().files, "train.log")
}

// repacked makes the empty slices of a result nil, as packing does.
func repacked(r Result) (out Result) {
	obs.Unpack(obs.Pack(r), &out)
	return out
}
