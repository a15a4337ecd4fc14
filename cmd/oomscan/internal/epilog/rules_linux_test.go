package epilog

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheHookReadsThePackOfItsConfiguration reads a log with a failure that only a pack knows.
func TestTheHookReadsThePackOfItsConfiguration(t *testing.T) {
	t.Parallel()
	broken := filepath.Join(t.TempDir(), "a.yaml")
	require.NoError(t, os.WriteFile(broken, []byte("patterns: 3\n"), 0o600))
	for name, c := range map[string]struct {
		rules    string
		first    string // item of the checklist
		troubles int
	}{
		"a pack":        {"../../../../fixtures/rules/acme", "acme-rl.pool", 0},
		"none":          {off, "", 0},
		"a broken pack": {broken, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := Defaults()
			cfg.Rules = c.rules
			cfg.Budget.CPU, cfg.Budget.Memory = Duration(time.Hour), 64<<30 // other tests in this process use both
			m := newMeter(cfg.Budget)
			defer m.close()
			w := worker{request: &request{Config: cfg}, meter: m, scan: newScan(m, 7)}
			w.rules()
			f := look(t, "PoolError: device pool exhausted on cuda:3: need 2.50 GiB, 512.00 MiB of 79.00 GiB left\n")
			w.scan.log(&logFile{File: f, path: f.Name(), stat: statOf(t, f)}, 0)
			rep := w.scan.report("test")
			assert.Len(t, w.answer.Troubles, c.troubles)
			if c.first == "" {
				assert.Empty(t, rep.Incidents)
				return
			}
			require.Len(t, rep.Incidents, 1)
			assert.Equal(t, c.first, rep.Incidents[0].Remedies[0].ID)
		})
	}
}
