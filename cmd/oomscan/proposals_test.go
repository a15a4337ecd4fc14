package main

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/cmd/oomscan/internal/report"
)

// TestNoProposalContradictsItsLog holds the proposals for some logs with confirmed fixes against the figures and settings of their own
// reports. [TestCases] does so for the cases.
func TestNoProposalContradictsItsLog(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("../../fixtures/advice/*")
	require.NoError(t, err)
	folders = sample(folders, 0)
	made := 0
	for _, dir := range folders {
		_, r := scan(t, dir, logs(t, dir)...)
		made += checkProposals(t, dir, &r)
	}
	assert.Greater(t, made, len(folders))
}

// checkProposals holds the proposals of a report against it and returns how many there are.
func checkProposals(t *testing.T, dir string, r *report.Report) (made int) {
	t.Helper()
	for i := range r.Incidents {
		in := &r.Incidents[i]
		made += len(in.Proposals)
		for j := range in.Proposals {
			contradictsNothing(t, dir, in, &in.Proposals[j])
		}
		for _, id := range in.StartWith {
			k := slices.IndexFunc(in.Remedies, func(x report.Remedy) bool { return x.ID == id })
			require.GreaterOrEqual(t, k, 0, "%s: %s is no item of the list", dir, id)
			assert.False(t, in.Remedies[k].Applies != nil && !*in.Remedies[k].Applies, "%s: start with %s", dir, id)
		}
	}
	return made
}

func contradictsNothing(t *testing.T, dir string, in *report.Incident, p *report.Proposal) {
	t.Helper()
	if p.Fits != nil && *p.Fits && p.MarginBytes != nil {
		assert.GreaterOrEqual(t, *p.MarginBytes, int64(0), "%s: %s", dir, p.Text)
	}
	for _, c := range p.Changes {
		if c.To == nil {
			continue
		}
		to, numeric := strconv.ParseFloat(*c.To, 64)
		if c.From != nil {
			assert.NotEqual(t, *c.From, *c.To, "%s: %s", dir, c.Key)
			if from, err := strconv.ParseFloat(*c.From, 64); err == nil && numeric == nil && from > 0 && c.Direction != "set" {
				assert.Equal(t, c.Direction == "up", to > from, "%s: %s %s to %s", dir, c.Key, *c.From, *c.To)
			}
		}
		if key := strings.ToLower(c.Key); strings.Contains(key, "utilization") || strings.Contains(key, "mem-fraction") {
			assert.True(t, to > 0 && to < 1, "%s: a share of %s", dir, *c.To)
		}
		for _, rival := range in.Rivals {
			if rival.ID == "fragmentation" && len(rival.Against) > 0 {
				assert.NotContains(t, c.Key, "ALLOC_CONF", "%s: %s", dir, rival.Against[0])
			}
		}
		if c.Syntax == "sbatch" {
			assert.NotEqual(t, "gpu", in.Resource, "%s: %s", dir, c.Key)
		}
	}
}
