package phase

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/parser/traceback"
)

// specimen builds the frame that a rule describes.
func specimen(x *rule, fn string) traceback.Frame {
	base := x.base
	if base == "" {
		base = "some_file.py"
	}
	dirs := append([]string{"/opt"}, x.dirs...)
	return traceback.Frame{File: strings.ReplaceAll(path.Join(path.Join(dirs...), base), "*", "xyz"), Func: fn, Code: x.code}
}

func TestEveryRuleCanWinForEachOfItsFunctions(t *testing.T) {
	t.Parallel()
	for i := range rules() {
		x := &rules()[i]
		names := append([]string{}, x.funcs...)
		for _, g := range x.globs {
			names = append(names, strings.ReplaceAll(g, "*", "some_rest"))
		}
		if len(names) == 0 {
			names = []string{"some_function"}
		}
		for _, fn := range names {
			f := specimen(x, fn)
			at := locate(&f)
			got := find(&at)
			if assert.NotNil(t, got, "%s %s", f.File, fn) {
				same := got == x || got.phase == x.phase
				assert.True(t, same, "%s %s: hidden by a rule for %q with phase %q, not %q", f.File, fn, path.Join(append(got.dirs, got.base)...), got.phase, x.phase)
			}
		}
	}
}

func TestRulesAreWellFormed(t *testing.T) {
	t.Parallel()
	for i := range rules() {
		x := &rules()[i]
		_, err := path.Match(x.base, "x")
		assert.NoError(t, err, x.base)
		assert.True(t, x.base != "" || len(x.dirs) > 0, "a rule for everything")
		assert.Equal(t, x.phase == "", x.by == neutral, "%v", x)
		if x.phase != "" {
			assert.NotEmpty(t, means(x.phase))
		}
		if x.base == "*" {
			assert.NotEmpty(t, append(x.funcs, x.globs...), "a rule for every file needs functions")
		}
	}
	for i := range lines() {
		assert.NotEmpty(t, lines()[i].hints)
		assert.NotEmpty(t, means(lines()[i].phase))
	}
}
