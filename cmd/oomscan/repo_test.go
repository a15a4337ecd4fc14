package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// layers is the house: a package may import, of ours, only those listed for it. Dependencies run one way.
var layers = map[string][]string{
	"oomscan/parser/anchor":               {},
	"oomscan/parser/envelope":             {},
	"oomscan/parser/secret":               {},
	"oomscan/parser/settings":             {"parser/secret"},
	"oomscan/parser/source":               {},
	"oomscan/parser/traceback":            {},
	"oomscan/parser/obs":                  {"parser", "parser/envelope", "parser/secret", "parser/traceback"},
	"oomscan/parser":                      {"parser/anchor", "parser/envelope", "parser/secret", "parser/settings", "parser/traceback"},
	"oomscan/classifier/phase":            {"parser/traceback"},
	"oomscan/classifier":                  {"classifier/phase", "parser", "parser/envelope", "parser/secret", "parser/traceback"},
	"oomscan/remedies/memory":             {"classifier", "parser"},
	"oomscan/remedies":                    {"classifier", "parser", "remedies/memory"},
	"oomscan/cmd/oomscan/internal/report": {"classifier", "parser", "parser/secret", "parser/traceback", "remedies", "remedies/memory"},
	"oomscan/cmd/oomscan/internal/jobs":   {"classifier"},
	"oomscan/cmd/oomscan/internal/epilog": {"classifier", "parser", "parser/source", "parser/traceback", "cmd/oomscan/internal/report"},
	"oomscan/cmd/oomscan/internal/cli":    {"cmd/oomscan/internal/epilog", "cmd/oomscan/internal/jobs", "classifier", "parser", "parser/obs", "parser/envelope", "parser/source", "remedies", "cmd/oomscan/internal/report"},
	"oomscan/cmd/oomscan":                 {"cmd/oomscan/internal/cli"},
	"oomscan/cmd/corpus":                  {},
}

// below cli, nothing knows the environment, the clock, signals or the network.
var forbidden = regexp.MustCompile(`\bos\.Getenv|\bos\.LookupEnv|\btime\.Now\(|\bnet/http\b|\bos/signal\b|(?m)^\s*go func`)

func TestDependenciesRunOneWay(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}:{{join .Imports ","}}`, "../../...").Output()
	require.NoError(t, err)
	seen := 0
	for line := range strings.Lines(string(out)) {
		pkg, imports, _ := strings.Cut(strings.TrimSpace(line), ":")
		allowed, known := layers[pkg]
		if !assert.True(t, known, "%s is in no layer: place it in the house, here and in the packages' comments", pkg) {
			continue
		}
		seen++
		for _, i := range strings.Split(imports, ",") {
			if own, ok := strings.CutPrefix(i, "oomscan/"); ok {
				assert.True(t, slices.Contains(allowed, own), "%s must not import %s", pkg, i)
			}
		}
	}
	assert.Equal(t, len(layers), seen, "a package of the house is missing")
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
