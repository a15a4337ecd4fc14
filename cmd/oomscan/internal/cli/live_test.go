package cli

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOnlyJobsWithNewsAreReportedAgain counts the reports that several jobs get while their logs change or wait for an update.
func TestOnlyJobsWithNewsAreReportedAgain(t *testing.T) {
	t.Parallel()
	l := newLive(&scan{options: &options{each: true}})
	s, _ := newState("ndjson")
	l.state = *s
	logs := []logResult{{version: 1}, {version: 1}}
	logs[0].input.Name, logs[1].input.Name = "a.log", "b.log"
	reports := func() int {
		before := l.state.round
		require.NoError(t, l.printNew(logs))
		return l.state.round - before
	}
	assert.Equal(t, 2, reports(), "both are new")
	assert.Zero(t, reports(), "nothing is new")
	logs[1].version++
	assert.Equal(t, 1, reports(), "one log grew")
	l.printed["a.log"] = printedJob{l.printed["a.log"].logs, time.Now().Add(time.Hour)}
	assert.Zero(t, reports(), "its update is not due yet")
	assert.False(t, l.state.updateDue.IsZero(), "and is not forgotten")
	l.printed["a.log"] = printedJob{l.printed["a.log"].logs, time.Now()}
	assert.Equal(t, 1, reports(), "it is due")
	assert.True(t, l.state.updateDue.IsZero())
}
