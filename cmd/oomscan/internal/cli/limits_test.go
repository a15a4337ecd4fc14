package cli

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser/source"
)

func TestSizesOfFlags(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int64{
		"0": 0, "17": 17, "17B": 17, "1K": 1 << 10, "500M": 500 << 20, "500MB": 500 << 20, "500MiB": 500 << 20, "64g": 64 << 30, "2 TiB": 2 << 40, "1P": 1 << 50,
	} {
		var b source.Size
		require.NoError(t, b.Set(s), s)
		assert.EqualValues(t, want, b, s)
	}
	for _, s := range []string{"", "G", "-1", "1.5G", "1X", "1KM", "9223372036854775807K", "99999999999999999999"} {
		var b source.Size
		assert.Error(t, b.Set(s), s)
	}
	for n, want := range map[int64]string{0: "0", 1023: "1023", 1 << 10: "1K", 64 << 30: "64G", 1<<20 + 1: "1048577"} {
		assert.Equal(t, want, source.Size(n).String())
	}
}

func TestLimitsThatLetNothingThroughAreRefused(t *testing.T) {
	t.Parallel()
	defaults := func() *options {
		var o options
		limitFlags(pflag.NewFlagSet("", pflag.ContinueOnError), &o)
		return &o
	}
	require.NoError(t, defaults().checkLimits())
	assert.Equal(t, source.Limits{Depth: 5, Expanded: 64 << 30, Total: 1 << 40, Ratio: 1000, Members: 100_000}, defaults().limits)
	assert.Equal(t, 256, defaults().open)
	assert.EqualValues(t, 64<<10, defaults().line)
	for _, f := range []func(*options){
		func(o *options) { o.limits.Depth = 0 }, func(o *options) { o.limits.Expanded = 0 }, func(o *options) { o.limits.Total = 0 }, func(o *options) { o.limits.Ratio = -1 },
		func(o *options) { o.limits.Members = 0 }, func(o *options) { o.open = 0 },
		func(o *options) { o.line = 0 }, func(o *options) { o.line = 8<<10 - 1 }, func(o *options) { o.line = 16<<20 + 1 },
	} {
		o := defaults()
		f(o)
		assert.Error(t, o.checkLimits())
	}
}

// TestNamesAreOrderedAsInAFolder holds the order against that of walking folders, which is by name, one at a time.
func TestNamesAreOrderedAsInAFolder(t *testing.T) {
	t.Parallel()
	ordered := []string{"x!a", "x!a/b", "x!a/c.tar!z", "x!a.log", "x!b", "x!b!c"}
	for i, a := range ordered {
		for k, b := range ordered {
			want := 0
			if i < k {
				want = -1
			} else if i > k {
				want = 1
			}
			assert.Equal(t, want, comparePaths(a, b), "%s %s", a, b)
		}
	}
}
