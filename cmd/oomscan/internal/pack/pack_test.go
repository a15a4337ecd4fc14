package pack

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	oom "oomscan/parser"
	"oomscan/parser/stream"
)

const (
	example = "../../../../fixtures/rules/acme"
	sound   = `patterns:
  - name: acme.pool
    program: acme
    kind: gpu_oom
    literals: ["device pool exhausted"]
    expression: 'device pool exhausted: need (?<requested_sz>[\d.]{1,9} [KMG]iB)'
    match:
      - line: "device pool exhausted: need 2.00 GiB"
        fields: {requested: "2147483648"}
    no_match:
      - "device pool exhausted again"
`
)

// greedy matches PyTorch's own messages.
const greedy = `patterns:
  - name: acme.oom
    program: acme
    kind: gpu_oom
    literals: ["CUDA out of memory"]
    expression: 'CUDA out of memory'
    match:
      - line: "step 3: CUDA out of memory"
`

// runaway takes time that doubles with each retry, unless the line ends as it should.
const runaway = `patterns:
  - name: acme.retry
    kind: gpu_oom
    literals: ["no memory after "]
    expression: 'no memory after (?:try |try try |try){1,90}gave up'
    match:
      - line: "no memory after try try try try try try try try try try try try try try try try try try try try try try try try try try try try try gave up"
`

// folder writes files into a new folder and returns it.
func folder(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// faults returns a pack's faults without the folder.
func faults(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := folder(t, files)
	p, errs := Load([]string{dir})
	var b strings.Builder
	for _, err := range errs {
		b.WriteString(strings.ReplaceAll(err.Error(), dir+"/", "") + "\n")
	}
	if len(errs) > 0 {
		assert.Zero(t, p, "a pack with a fault adds nothing")
	}
	return b.String()
}

func TestTheExampleIsValid(t *testing.T) {
	t.Parallel()
	p, errs := Load([]string{example})
	require.Empty(t, errs)
	assert.Len(t, p.Patterns, 4)
	assert.Len(t, p.Guides, 1)
	assert.Equal(t, []string{"acme_rl"}, p.Programs())
}

func TestAValidPackIsRead(t *testing.T) {
	t.Parallel()
	assert.Empty(t, faults(t, map[string]string{"a.yaml": sound, "note.txt": "not read"}))
	one := filepath.Join(folder(t, map[string]string{"a.txt": sound}), "a.txt")
	p, errs := Load([]string{one})
	require.Empty(t, errs, "a file that is named is read whatever its name")
	var seen []oom.Event
	read := func(text string, options ...stream.Option) {
		seen = nil
		_, err := stream.Read("log", strings.NewReader(text), func(o oom.Observation) {
			if e, ok := o.(oom.Event); ok {
				seen = append(seen, e)
			}
		}, options...)
		require.NoError(t, err)
	}
	line := "[rank3]: device pool exhausted: need 2.00 GiB\n"
	read(line, p.Options()...)
	require.Len(t, seen, 1)
	assert.Equal(t, oom.Fields{"application": "acme", "requested": "2147483648"}, seen[0].Fields)
	read(line)
	assert.Empty(t, seen, "other readers know nothing of it")
}

func TestFaultsHaveTheirFileAndLine(t *testing.T) {
	t.Parallel()
	with := func(old, new string) string {
		require.Contains(t, sound, old)
		return strings.Replace(sound, old, new, 1)
	}
	for name, c := range map[string]struct{ text, want string }{
		"a sample does not match":            {with("need 2.00 GiB\"", "need much\""), "a.yaml:8: acme.pool: must match"},
		"a sample has other fields":          {with("2147483648", "2"), "a.yaml:8: acme.pool: \"device pool exhausted: need 2.00 GiB\" has the fields {requested: \"2147483648\"}, not {requested: \"2\"}"},
		"a line matches that must not":       {with("exhausted again", "exhausted: need 1 GiB"), "a.yaml:11: acme.pool: must not match"},
		"no sample":                          {"patterns:\n  - name: a.b\n    kind: gpu_oom\n    literals: [abcdefg]\n    expression: abcdefg\n", "a.yaml:2: a.b: a pattern without a sample"},
		"no literal in a sample":             {with("[\"device pool exhausted\"]", "[\"pool is exhausted\"]"), "a.yaml:5: acme.pool: no sample holds the literal \"pool is exhausted\""},
		"a literal is short":                 {with("[\"device pool exhausted\"]", "[\"device\", \"pool\"]"), "a.yaml:5: acme.pool: literal \"pool\" is too short"},
		"a literal is long":                  {with("[\"device pool exhausted\"]", "[\"device pool exhausted\", \""+strings.Repeat("x", 256)+"\"]"), "a.yaml:5: acme.pool: a literal has at most 255 bytes"},
		"a built-in pattern has the name":    {with("acme.pool", "shell.killed"), "a.yaml:2: shell.killed: oomscan itself has a pattern of this name"},
		"the name has no form":               {with("acme.pool", "Acme Pool"), "a.yaml:2: Acme Pool: a name is PROGRAM.MESSAGE"},
		"an expression does not compile":     {with("need (?<", "need ((?<"), "a.yaml:6: acme.pool: error parsing regexp"},
		"an expression is unbounded":         {with("{1,9}", "+"), "a.yaml:6: acme.pool: a repeat without an upper bound"},
		"an expression runs away":            {runaway, "a.yaml:5: acme.retry: it takes too long"},
		"a field that nothing uses":          {with("requested_sz", "requestd_sz"), "a.yaml:6: acme.pool: nothing uses a field \"requestd\""},
		"a pattern that takes others' lines": {greedy, "a.yaml:6: acme.oom: it also matches what is torch.oom"},
		"no kind":                            {with("    kind: gpu_oom\n", ""), "a.yaml:2: acme.pool: it needs one of kind, marker and ignore"},
		"an unknown kind":                    {with("gpu_oom", "gpu_om"), "a.yaml:4: acme.pool: kind \"gpu_om\" is none of gpu_oom "},
		"an unknown phase":                   {with("    kind", "    phase: warmup\n    kind"), "a.yaml:4: acme.pool: phase \"warmup\" is none of "},
		"an unknown key":                     {with("expression:", "regex:"), "a.yaml:6: unknown field \"regex\"\n"},
		"broken YAML":                        {with("kind: gpu_oom", "kind: [gpu_oom"), "\n>  5 |     literals: [\"device pool exhausted\"]\n           ^\n"},
		"a key twice":                        {with("    kind", "    kind: host_oom\n    kind"), "a.yaml:5: "},
		"no patterns":                        {"patterns: []\n", "a.yaml: no patterns in it"},
		"an empty file":                      {"", "a.yaml:1: the file is empty"},
		"anchors":                            {"patterns: &a [*a, *a]\n", "a.yaml:1: a pack has no anchors"},
		"deep brackets":                      {"patterns:\n " + strings.Repeat("[", 100_000), "a.yaml:2: nested too deep"},
		"brackets over many lines":           {"patterns:\n" + strings.Repeat(" [\n", 5000), "nested too deep"},
		"deep lists":                         {"patterns:\n " + strings.Repeat("- ", 10_000), "a.yaml:2: nested too deep"},
		"a huge file":                        {sound + strings.Repeat("#", maxFile), "a.yaml: larger than 256 KiB"},
		"many literals":                      {with("[\"device pool exhausted\"]", "["+strings.Repeat("abcdef, ", 1500)+"]"), "a.yaml:5: acme.pool: 1500 literals, and 32 are the most\n"},
		"binary":                             {"patterns:\x00\xff\xfe", "a.yaml:1: "},
		"many patterns":                      {"patterns:\n" + strings.Repeat("  - {}\n", maxPatterns+1), "stopped at 501 patterns"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			started := time.Now()
			assert.Contains(t, faults(t, map[string]string{"a.yaml": c.text}), c.want)
			assert.Less(t, time.Since(started), 20*time.Second)
		})
	}
}

func TestReadingStopsAtTheTimeLimit(t *testing.T) {
	t.Parallel()
	l := loader{names: map[string]string{}, until: time.Now().Add(-time.Second)}
	l.read(filepath.Join(example, "messages.yaml"))
	assert.Empty(t, l.pack.Patterns)
	assert.True(t, l.exhausted())
}

func TestFaultsOfSeveralFiles(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile(filepath.Join(example, "acme-rl.yaml"))
	require.NoError(t, err)
	broken := bytes.Replace(guide, []byte("direction: set"), []byte("direction: sideways"), 1)
	own := strings.NewReplacer("acme.pool", "acme.pool_exhausted", "program: acme", "program: acme_rl").Replace(sound)
	misspelled := bytes.Replace(guide, []byte("pattern:acme.pool_exhausted"), []byte("pattern:acme.pool_exhaustd"), 1)
	forbids := bytes.Replace(guide, []byte(`"pattern:acme.pool_exhausted"`), []byte(`"pattern:acme.pool_exhausted", "not pattern:acme.gone"`), 1)
	assert.Empty(t, faults(t, map[string]string{"a.yaml": own, "acme-rl.yaml": string(guide)}), "it asks for a message of the pack, and may ask for oomscan's own")
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a name is there twice":                               {map[string]string{"a.yaml": sound, "b.yaml": sound}, "b.yaml:2: acme.pool: "},
		"a guide of a program that is unknown":                {map[string]string{"a.yaml": sound, "acme-rl.yaml": string(guide)}, "acme-rl.yaml: framework \"acme_rl\": oomscan knows none"},
		"a guide with an unknown word":                        {map[string]string{"acme-rl.yaml": string(broken)}, "acme-rl.yaml:17: item acme-rl.pool: "},
		"a guide that asks for a message that no pattern has": {map[string]string{"a.yaml": own, "acme-rl.yaml": string(misspelled)}, "acme-rl.yaml:21: there is no pattern \"acme.pool_exhaustd\"\n"},
		"a guide that forbids one":                            {map[string]string{"a.yaml": own, "acme-rl.yaml": string(forbids)}, "acme-rl.yaml:21: there is no pattern \"acme.gone\"\n"},
		"a guide in a file of another name":                   {map[string]string{"acme.yaml": string(guide)}, "acme.yaml:3: the guide's id is"},
		"a guide that oomscan has":                            {map[string]string{"verl.yaml": strings.NewReplacer("id: acme-rl", "id: verl", "acme-rl.pool", "verl.pool", "acme-rl.batch", "verl.batch").Replace(string(guide))}, "verl.yaml:1: oomscan itself has a guide"},
		"a folder without YAML":                               {map[string]string{"a.txt": sound}, "no file in it ends in .yaml"},
		"a guide that is no YAML":                             {map[string]string{"x.yaml": "id: x\n name: [2\nc: }\n"}, ">  1 | id: x\n   2 |  name: [2\n           ^"},
		"a guide with a bracket that is hostile":              {map[string]string{"x.yaml": "id: " + strings.Repeat("[", 100_000)}, "x.yaml:1: nested too deep"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Contains(t, faults(t, c.files), c.want)
		})
	}
}

// BenchmarkLoad measures what a pack adds to the start of a scan.
func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_, errs := Load([]string{example})
		require.Empty(b, errs)
	}
}

// BenchmarkHealthyLog reads a log without failures, with and without a pack.
func BenchmarkHealthyLog(b *testing.B) {
	p, errs := Load([]string{example})
	require.Empty(b, errs)
	log := bytes.Repeat([]byte("(TaskRunner pid=3901) step:12 - actor/entropy:0.281 - critic/score/mean:0.9637 - perf/max_memory_allocated_gb:61.2\n"), 600_000)
	for name, options := range map[string][]stream.Option{"alone": nil, "pack": p.Options()} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(log)))
			for b.Loop() {
				_, err := stream.ReadFile("log", bytes.NewReader(log), int64(len(log)), 1, func(oom.Observation) {}, options...)
				require.NoError(b, err)
			}
		})
	}
}
