package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/cmd/oomscan/internal/report"
)

// labelled matches the labels that a launcher or Ray puts before lines: where a log has its own, another one in front
// would change who wrote them.
var labelled = regexp.MustCompile(`(?m)^(\x1b\[[\d;]*m)*(\[rank\d+\]|\[default\d+\]|\d+: |\(\w+[^)\n]* pid=\d+|\[\d+\]:)`)

// told is what an incident says of itself, whoever's lines stand between its own.
type told struct {
	Kind, Phase, Message, Leaf     string
	Request, Total, Free, Reserved int64
}

func tell(in *report.Incident) told {
	n := func(p *int64) int64 {
		if p == nil {
			return -1
		}
		return *p
	}
	r := &in.Root
	x := told{in.Kind, in.Phase, r.Message, "", n(r.Request), n(r.Total), n(r.Free), n(r.Reserved)}
	if len(r.Trace) > 0 {
		f := r.Trace[len(r.Trace)-1]
		x.Leaf = f.File + " " + f.Function
	}
	return x
}

// parts are the logs that can be woven: one file, one incident, no labels of their own.
func parts(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	dirs, err := filepath.Glob("../../fixtures/cases/*")
	require.NoError(t, err)
	for _, dir := range dirs {
		names := logs(t, dir)
		if len(names) != 1 || strings.Contains(dir, "-neg-") {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, names[0]))
		require.NoError(t, err)
		if len(b) < 1<<20 && !labelled.Match(b) {
			out[filepath.Base(dir)] = b
		}
	}
	require.Greater(t, len(out), 5)
	return out
}

// weave puts the lines of two logs side by side, each behind its label.
func weave(a, b []byte, one, two string) []byte {
	la, lb := bytes.Split(bytes.TrimSuffix(a, []byte("\n")), []byte("\n")), bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
	var out bytes.Buffer
	line := func(label string, lines [][]byte, i int) {
		if i < len(lines) {
			out.WriteString(label)
			out.Write(lines[i])
			out.WriteByte('\n')
		}
	}
	for i := range max(len(la), len(lb)) {
		line(one, la, i)
		line(two, lb, i)
	}
	return out.Bytes()
}

func memoryIncidents(t *testing.T, log []byte) []told {
	t.Helper()
	_, out, _ := call(t, nil, "--format", "json", write(t, "in.log", log))
	var r report.Report
	require.NoError(t, json.Unmarshal(out, &r), "%s", out)
	var all []told
	for i := range r.Incidents {
		if r.Incidents[i].Verdict == "memory" {
			all = append(all, tell(&r.Incidents[i]))
		}
	}
	return all
}

// undecided are pairs of different programs that come out as one incident, and why: nothing in them tells that they are no
// two ranks of one job.
var undecided = map[string]string{
	"infra-014-sglang-prefill-out-of-memory-tokens infra-017-windows-thc-crlf": "both ran out of the same memory, and an engine that lies " +
		"in site-packages shows no code of its own",
	"infra-008-ray-memory-monitor-task infra-010-numpy-arraymemoryerror": "both ran out of host memory, and a driver and its " +
		"worker share as little code as these two",
}

// placeless leaves out the phase of failures without a traceback: they take the stage that another writer announces, as
// rank 0 and drivers do for all.
func placeless(all []told) []told {
	for i := range all {
		if all[i].Leaf == "" {
			all[i].Phase = ""
		}
	}
	return all
}

func TestInterleavedWritersTellWhatTheyTellApart(t *testing.T) {
	t.Parallel()
	all := parts(t)
	labels := [][2]string{{"[rank0]: ", "[rank1]: "}, {"(WorkerDict pid=11) ", "(WorkerDict pid=12) "}}
	for a := range all {
		for b := range all {
			if a >= b {
				continue
			}
			for _, l := range labels {
				t.Run(a+"+"+b+"/"+l[0], func(t *testing.T) {
					t.Parallel()
					want := append(memoryIncidents(t, weave(all[a], nil, l[0], "")), memoryIncidents(t, weave(all[b], nil, l[1], ""))...)
					got := memoryIncidents(t, weave(all[a], all[b], l[0], l[1]))
					if why := undecided[a+" "+b]; why != "" {
						require.Len(t, got, 1, "no longer true: %s", why)
						assert.Contains(t, placeless(want), placeless(got)[0])
						return
					}
					assert.ElementsMatch(t, placeless(want), placeless(got))
				})
			}
		}
	}
}
