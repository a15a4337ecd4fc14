package classifier

import (
	"oomscan/parser/stream"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// collectors reads a part of the fixtures' logs, each into a collector of its own.
func collectors(t *testing.T) map[string]*Collector {
	t.Helper()
	files, err := filepath.Glob("../fixtures/cases/*/*/*")
	require.NoError(t, err)
	out := map[string]*Collector{}
	for i, path := range files {
		if base := filepath.Base(path); i%5 > 0 || base == "expect.json" || base == "report.txt" {
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
	require.Greater(t, len(out), 50)
	return out
}

func TestPackedCollectorsGiveTheSameResult(t *testing.T) {
	t.Parallel()
	var s Store
	want, packed, clues := map[string]Result{}, map[string]Packed{}, map[string]Clues{}
	for path, c := range collectors(t) {
		want[path], clues[path] = c.Result(), c.Clues()
		packed[path] = s.Pack(c)
	}
	for path, p := range packed {
		c := s.Unpack(p)
		assert.Equal(t, clues[path], c.Clues(), path)
		assert.Equal(t, want[path], c.Result(), path)
		again := s.Unpack(s.Pack(c))
		assert.Equal(t, s.Unpack(p).files, again.files, path)
	}
}

// TestFrozenTypesForgetNothing finds fields that were added to what a collector holds and not to what a store writes.
func TestFrozenTypesForgetNothing(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		real, frozen any
		derived      []string // made anew when it is thawed, or of a result in the making
	}{
		{file{}, frozenFile{}, nil},
		{event{}, frozenEvent{}, []string{"file", "fields", "details", "home", "figures"}},
		{streamState{}, frozenStream{}, nil},
		{timer{}, frozenTimer{}, nil},
		{stepper{}, frozenStepper{}, nil},
		{identKey{}, frozenIdent{}, nil},
		{identity{}, frozenIdentity{}, nil},
	} {
		have := map[string]bool{}
		for _, f := range reflect.VisibleFields(reflect.TypeOf(x.frozen)) {
			have[strings.ToLower(f.Name)] = true
		}
		for _, n := range x.derived {
			have[n] = true
		}
		typ := reflect.TypeOf(x.real)
		for i := range typ.NumField() {
			assert.True(t, have[strings.ToLower(typ.Field(i).Name)], "%s.%s", typ, typ.Field(i).Name)
		}
	}
}
