package report

import (
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fill makes every text of a value s, but for the words that say what kind of incident it is.
func fill(v reflect.Value, s string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Pointer:
		if !v.IsNil() {
			fill(v.Elem(), s)
		}
	case reflect.Slice:
		for i := range v.Len() {
			fill(v.Index(i), s)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			switch f := v.Type().Field(i); {
			case !f.IsExported() || f.Type == reflect.TypeFor[time.Time]():
			case f.Name == "Verdict", f.Name == "Kind", f.Name == "Resource":
			default:
				fill(v.Field(i), s)
			}
		}
	}
}

// TestEveryRendererSurvivesAMegabyteOfHostileText has all texts of a report be one that is markup, escape codes and a word without end.
func TestEveryRendererSurvivesAMegabyteOfHostileText(t *testing.T) {
	t.Parallel()
	long := 1 << 20
	if testing.Short() { // the race detector makes it slow
		long = 1 << 16
	}
	evil := "</script><img src=x onerror=alert(1)>\x1b]0;title\x07\u202e```\n# " + strings.Repeat("x", long)
	for name, of := range Formats() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := *samples(t)["gpu_oom"]
			in := r.Incidents[0]
			in.Remedies, in.Proposals, in.Evidence, in.Consequences = in.Remedies[:1], in.Proposals[:1], in.Evidence[:1], in.Consequences[:min(1, len(in.Consequences))]
			in.Rivals, in.Findings, in.Root.Trace, in.Budget = nil, in.Findings[:min(1, len(in.Findings))], in.Root.Trace[:min(1, len(in.Root.Trace))], nil
			r.Incidents, r.Run.Config = []Incident{in}, nil
			r.Run.Phases = []PhaseTrack{{Changes: []PhaseChange{{Phase: new("init")}, {Phase: new("rollout"), Line: 3}}}}
			r.Run.Readings = []Readings{{Points: []Reading{{Bytes: 1}, {Bytes: 2, Line: 4}}}}
			fill(reflect.ValueOf(&r).Elem(), evil)
			var b strings.Builder
			w := of(Output{Writer: &b, Style: Style{Full: true}})
			require.NoError(t, w.Begin(&Answer{Version: "v1"}))
			require.NoError(t, w.Job(&Job{Report: &r}))
			require.NoError(t, w.End())
			for _, code := range []string{"\x1b", "\x07", "\u202e"} {
				assert.NotContains(t, b.String(), code)
			}
		})
	}
}

func TestEveryRendererSurvivesThousandsOfIncidents(t *testing.T) {
	t.Parallel()
	r := *samples(t)["gpu_oom"]
	in := &r.Incidents[0]
	in.Remedies, in.Proposals, in.Consequences = in.Remedies[:1], in.Proposals[:1], in.Consequences[:min(1, len(in.Consequences))]
	in.Root.Trace, in.Rivals, in.Budget, in.Findings, in.Evidence = nil, nil, nil, nil, nil
	most := 5000
	if testing.Short() {
		most = 500
	}
	for len(r.Incidents) < most {
		r.Incidents = append(r.Incidents, r.Incidents[0])
	}
	for name, of := range Formats() {
		t.Run(name, func(t *testing.T) {
			w := of(Output{Writer: io.Discard})
			require.NoError(t, w.Begin(&Answer{Version: "v1"}))
			require.NoError(t, w.Job(&Job{Report: &r}))
			require.NoError(t, w.End())
		})
	}
}
