package remedies

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/parser/stream"
)

// TestBudgetOfRealRuns sets the budget that a run's own log gives beside the peak that the run had. fixtures/gpu/run.py made the logs.
func TestBudgetOfRealRuns(t *testing.T) {
	t.Parallel()
	const (
		context  = 689 << 20 // outside of PyTorch, by the messages of the runs that died on this machine
		tolerant = 0.12
	)
	folder := filepath.Join("..", "fixtures", "gpu", "runs")
	text, err := os.ReadFile(filepath.Join(folder, "peaks.json"))
	require.NoError(t, err)
	var measured struct {
		Runs map[string]struct {
			Allocated, Reserved int64
			Lived               bool
		}
	}
	require.NoError(t, json.Unmarshal(text, &measured))
	compared := 0
	for name, peak := range measured.Runs {
		if !peak.Lived || !strings.HasPrefix(name, "hf-") { // a plain script does not say how its layers are built
			continue
		}
		log, err := os.ReadFile(filepath.Join(folder, name+".log"))
		require.NoError(t, err)
		c := classifier.NewCollector()
		_, err = stream.Read(name, strings.NewReader(string(log)), c.Add)
		require.NoError(t, err)
		res := c.Result()
		require.Empty(t, res.Incidents, name)
		plan := PlanOf(&res.Run, nil, nil)
		least, most := int64(0), int64(0)
		for _, phase := range plan.Phases {
			require.True(t, phase.Card.Whole, "%s: %s", name, phase.Phase)
			most, least = max(most, phase.Card.Bytes), max(least, phase.Card.Low)
		}
		real := peak.Reserved + context
		off := float64(most-real) / float64(real)
		t.Logf("%-18s predicted %6.2f GiB, measured %6.2f (%+.1f %%)", name, float64(most)/(1<<30), float64(real)/(1<<30), 100*off)
		assert.Less(t, math.Abs(off), tolerant, name)
		assert.LessOrEqual(t, least, real, "%s: at least", name)
		compared++
	}
	assert.GreaterOrEqual(t, compared, 4)
}
