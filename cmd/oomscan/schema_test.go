package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/cmd/oomscan/internal/cli"
	"oomscan/cmd/oomscan/internal/report"
)

// validator is a schema as the command prints it, compiled.
func validator(t testing.TB, name string) *jsonschema.Schema {
	t.Helper()
	schemas.Lock()
	defer schemas.Unlock()
	if s := schemas.byName[name]; s != nil {
		return s
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(printed(t, "schema", name)))
	require.NoError(t, err)
	s := compiled(t, doc)
	schemas.byName[name] = s
	return s
}

var schemas = struct {
	sync.Mutex
	byName map[string]*jsonschema.Schema
}{byName: map[string]*jsonschema.Schema{}}

func compiled(t testing.TB, doc any) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("schema.json", doc))
	s, err := c.Compile("schema.json")
	require.NoError(t, err)
	return s
}

// printed is what a call prints, which must not complain.
func printed(t testing.TB, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	cli.Main(args, cli.Streams{In: os.Stdin, Out: &out, Err: &errs, Env: func(string) string { return "" }, InTerminal: true})
	require.Empty(t, errs.String())
	return out.String()
}

// fits says why a document does not fit its schema.
func fits(t testing.TB, schema string, document []byte) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	require.NoError(t, err)
	return validator(t, schema).Validate(doc)
}

// TestWhatProgramsReadFitsItsSchema covers the documents beside the report of one job, which every test of a case checks.
func TestWhatProgramsReadFitsItsSchema(t *testing.T) {
	t.Parallel()
	const verl, vllm = aLog, "../../fixtures/cases/gpu_oom/vllm-workers-without-a-stack/vllm.log"
	for _, test := range []struct {
		name, schema string
		args         []string
	}{
		{"a healthy input", "report", []string{"--format", "json", "schema_test.go"}},
		{"several jobs", "report", []string{"--format", "json", "--each", verl, vllm}},
		{"a guide", "guide", []string{"guide", "verl", "--format", "json"}},
		{"a part of a guide with values", "guide", []string{"guide", "areal", "--phase", "training", "--format", "json", "--set", "gconfig.max_new_tokens=3072"}},
		{"the list of guides", "guide", []string{"guide", "--format", "json"}},
		{"a search", "guide", []string{"guide", "--search", "mem_fraction", "--format", "json"}},
		{"a plan", "plan", []string{"plan", verl, "--format", "json"}},
		{"a plan with a change", "plan", []string{"plan", verl, "--format", "json", "--set", "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			assert.NoError(t, fits(t, test.schema, []byte(printed(t, test.args...))))
		})
	}
	lines := strings.TrimSpace(printed(t, "--format", "ndjson", "--each", verl, vllm))
	require.Positive(t, strings.Count(lines, "\n"))
	for line := range strings.Lines(lines) {
		assert.NoError(t, fits(t, "ndjson", []byte(line)))
	}
	assert.NoError(t, fits(t, "ndjson", []byte(`{"end":true,"partial":false,"inputs":[{"name":"a","bytes":1,"lines":1,"truncated_lines":1,"error":null}]}`)))
}

// TestASchemaRefuses breaks a report in the ways that the schema is there to find.
func TestASchemaRefuses(t *testing.T) {
	t.Parallel()
	good := printed(t, "--format", "json", aLog)
	require.NoError(t, fits(t, "report", []byte(good)))
	for name, swap := range map[string][2]string{
		"an unknown kind":   {`"kind": "gpu_oom"`, `"kind": "gpu"`},
		"a missing key":     {`"shortfall_bytes"`, `"shortfall"`},
		"a list of nothing": {`"victims": []`, `"victims": null`},
		"a text for number": {`"repeats": `, `"repeats": "2", "x": `},
	} {
		bad := strings.Replace(good, swap[0], swap[1], 1)
		require.NotEqual(t, good, bad, name)
		assert.Error(t, fits(t, "report", []byte(bad)), name)
	}
}

// TestReportsOfEarlierVersionsStayReadable holds stored reports to the schema and to the types of today. Keys that came later
// are missing there; what is there must not have changed its name or type.
func TestReportsOfEarlierVersionsStayReadable(t *testing.T) {
	t.Parallel()
	for file, document := range map[string]string{"job.json": "Report", "jobs.json": "jobsDocument"} {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(printed(t, "schema")))
		require.NoError(t, err)
		schema := withoutRequired(doc).(map[string]any)
		delete(schema, "anyOf")
		schema["$ref"] = "#/$defs/" + document
		raw, err := os.ReadFile(filepath.Join("testdata/earlier", file))
		require.NoError(t, err)
		stored, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		require.NoError(t, err)
		assert.NoError(t, compiled(t, schema).Validate(stored), file)
	}
	raw, err := os.ReadFile("testdata/earlier/job.json")
	require.NoError(t, err)
	var r report.Report
	strict := json.NewDecoder(bytes.NewReader(raw))
	strict.DisallowUnknownFields() // a key that nobody reads any more was renamed
	require.NoError(t, strict.Decode(&r))
	require.Len(t, r.Incidents, 1)
	in := &r.Incidents[0]
	assert.Equal(t, "gpu_oom", in.Kind)
	assert.Equal(t, "rollout", in.Phase)
	assert.NotZero(t, in.Root.Line)
	assert.NotEmpty(t, in.Remedies)
}

// withoutRequired is a schema that lets keys be missing.
func withoutRequired(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if _, list := v["required"].([]any); list {
			delete(v, "required")
		}
		for _, x := range v {
			withoutRequired(x)
		}
	case []any:
		for _, x := range v {
			withoutRequired(x)
		}
	}
	return v
}
