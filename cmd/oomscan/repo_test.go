package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// layers is the house, from the ground up: a package may import, of ours, only those of lower layers.
var layers = [][]string{
	{"parser/ascii", "parser/lazyre", "parser/literal"},
	{"parser/envelope", "parser/secret", "parser/secret/secrettest", "parser/traceback"},
	{"parser/settings", "parser"},
	{"parser/pattern", "parser/sample", "parser/obs"},
	{"parser/messages"},
	{"parser/prefilter", "parser/source"},
	{"parser/stream"},
	{"classifier/phase"},
	{"classifier"},
	{"remedies/memory"},
	{"remedies/cause"},
	{"remedies"},
	{"cmd/oomscan/internal/jobs", "cmd/oomscan/internal/pack", "cmd/oomscan/internal/report"},
	{"cmd/oomscan/internal/epilog"},
	{"cmd/oomscan/internal/cli"},
	{"cmd/oomscan", "cmd/corpus"},
}

// below cli, nothing knows the environment, the clock, signals or the network.
var forbidden = regexp.MustCompile(`\bos\.Getenv|\bos\.LookupEnv|\btime\.Now\(|\bnet/http\b|\bos/signal\b|(?m)^\s*go func`)

func TestDependenciesRunOneWay(t *testing.T) {
	t.Parallel()
	floor := map[string]int{}
	for i, layer := range layers {
		for _, pkg := range layer {
			floor[pkg] = i
		}
	}
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}:{{join .Imports ","}}`, "../../...").Output()
	require.NoError(t, err)
	seen := 0
	for line := range strings.Lines(string(out)) {
		pkg, imports, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "oomscan/")), ":")
		own, known := floor[pkg]
		if !assert.True(t, known, "%s is in no layer: place it in the house", pkg) {
			continue
		}
		seen++
		for _, i := range strings.Split(imports, ",") {
			if lower, ok := strings.CutPrefix(i, "oomscan/"); ok {
				assert.Less(t, floor[lower], own, "%s must not import %s", pkg, i)
			}
		}
	}
	assert.Equal(t, len(floor), seen, "a package of the house is missing")
}

func TestNothingBelowTheCommandLineKnowsTheWorld(t *testing.T) {
	t.Parallel()
	for _, top := range []string{"parser", "classifier", "remedies"} {
		err := filepath.WalkDir("../../"+top, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			src, err := os.ReadFile(path)
			if m := forbidden.Find(src); m != nil {
				t.Errorf("%s uses %s", path, m)
			}
			return err
		})
		require.NoError(t, err)
	}
}

// TestTopLevelHoldsOnlyTheHouse keeps the root of the repository as its owner wants it.
func TestTopLevelHoldsOnlyTheHouse(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir("../..")
	require.NoError(t, err)
	want := []string{".ci", ".git", ".gitignore", "README.md", "classifier", "cmd", "fixtures", "go.mod", "go.sum", "parser", "remedies"}
	for _, e := range entries {
		assert.Contains(t, want, e.Name())
	}
}
