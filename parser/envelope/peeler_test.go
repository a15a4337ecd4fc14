package envelope

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestADateIsADayThatExists(t *testing.T) {
	t.Parallel()
	for _, year := range []int{0, 1, 1900, 1970, 2000, 2023, 2024, 9999} {
		for month := range 100 {
			for day := range 100 {
				at := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
				assert.Equal(t, month >= 1 && month <= 12 && day >= 1 && at.Day() == day, isDate(year, month, day), "%d-%d-%d", year, month, day)
			}
		}
	}
}

// TestASupervisorsStampStandsBeforeALaunchersLabel: what looks like a label behind a stamp is one once a program's own prefix followed it.
func TestASupervisorsStampStandsBeforeALaunchersLabel(t *testing.T) {
	t.Parallel()
	const stamp = "2026-03-01 09:00:00,000 "
	var w Peeler
	for _, c := range []struct{ line, body, stream string }{
		{stamp + "12: 30 steps are left", "12: 30 steps are left", ""},
		{stamp + "1: [2025-11-03 20:11:05 TP10] Load weight begin.", "Load weight begin.", "t1"},
		{stamp + `3:   File "a.py", line 1, in f`, `  File "a.py", line 1, in f`, "t3"},
		{stamp + "vllm-1  | loading", "vllm-1  | loading", ""},
		{stamp + "vllm-1  | (VllmWorker rank=1 pid=248) ready", "ready", "cvllm-1|eVllmWorker rank=1 248 "},
		{stamp + "vllm-1  | loading", "loading", "cvllm-1"},
	} {
		body, h := w.Peel([]byte(c.line))
		assert.Equal(t, c.body, string(body), c.line)
		assert.Equal(t, c.stream, h.Stream, c.line)
	}
}
