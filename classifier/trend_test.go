package classifier

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/parser"
)

func TestOnlyWhatRisesAndNeverFallsGrows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		gib   []int64
		grows bool
	}{
		"a leak":                  {[]int64{4, 5, 6, 7, 8, 9}, true},
		"a leak with a pause":     {[]int64{4, 5, 5, 6, 7, 8}, true},
		"too few readings":        {[]int64{4, 6, 8, 10}, false},
		"a sawtooth":              {[]int64{4, 9, 4, 9, 5, 10}, false},
		"a cache that fills up":   {[]int64{4, 8, 9, 9, 9, 9}, false},
		"less than a tenth":       {[]int64{100, 101, 102, 103, 104, 105}, false},
		"one jump":                {[]int64{8, 9, 10, 11, 45}, false},
		"a reading that is bare":  {[]int64{4, 0, 5, 6, 7, 8}, true},
		"constant after the load": {[]int64{40, 40, 40, 40, 40}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var trend Trend
			for _, n := range c.gib {
				trend = trend.with(&parser.Gauge{Name: "reading.card", Fields: parser.Fields{"allocated": strconv.FormatInt(n<<30, 10)}})
			}
			assert.Equal(t, c.grows, trend.grows())
		})
	}
}

func TestAContainerThatStartsAgainHasGrown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		gib   []int64
		pod   bool
		grows bool
	}{
		"back at its first reading":       {[]int64{3, 6, 9, 12, 15, 3}, true, true},
		"a process that frees its memory": {[]int64{3, 6, 9, 12, 15, 3}, false, false},
		"half of it freed":                {[]int64{3, 6, 9, 12, 15, 8}, true, false},
		"a sawtooth":                      {[]int64{3, 6, 9, 12, 15, 3, 6, 9, 12, 15, 3}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var trend Trend
			for _, n := range c.gib {
				g := &parser.Gauge{Name: "reading.host_above", Fields: parser.Fields{"used": strconv.FormatInt(n<<30, 10)}}
				if c.pod {
					g.Fields["cpu"] = "2213"
				}
				trend = trend.with(g)
			}
			assert.Equal(t, c.grows, trend.grows())
		})
	}
}

func TestAPeakGrowsOnlyByAboutTheSameEachTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		gib   []int64
		grows bool
	}{
		"a leak":                         {[]int64{60, 64, 69, 74, 78, 83}, true},
		"longer samples now and then":    {[]int64{60, 61, 70, 71, 80, 81}, false},
		"a first long sample, then flat": {[]int64{40, 60, 60, 60, 60, 60}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var trend Trend
			for _, n := range c.gib {
				trend = trend.with(&parser.Gauge{Name: "reading.peak", Fields: parser.Fields{"max_allocated": strconv.FormatInt(n<<30, 10)}})
			}
			assert.Equal(t, c.grows, trend.grows())
		})
	}
}

func TestAFewReadingsOfStepsGrowWhenTheyDouble(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		gib   []int64
		steps int
		grows bool
	}{
		"by about the same each time": {[]int64{214, 455, 694, 839}, 10, true},
		"less than twice":             {[]int64{214, 255, 294, 339}, 10, false},
		"a jump and little more":      {[]int64{100, 290, 300, 310}, 10, false},
		"readings of no step":         {[]int64{214, 455, 694, 839}, 0, false},
		"two readings":                {[]int64{214, 455}, 10, false},
		"little memory":               {[]int64{1, 2, 3}, 10, false},
		"after it stayed the same":    {[]int64{2, 2, 2, 2, 2, 4, 6, 8, 10}, 0, true},
		"a jump after it stayed":      {[]int64{2, 2, 2, 2, 2, 2, 2, 10}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var trend Trend
			for i, n := range c.gib {
				g := &parser.Gauge{Name: "reading.host", Fields: parser.Fields{"used": strconv.FormatInt(n<<30, 10)}}
				trend = trend.with(g).sample(g, i*c.steps-1+min(c.steps, 1))
			}
			assert.Equal(t, c.grows, trend.grows())
		})
	}
}

func TestWhatDeepSpeedMakesOneAfterTheOtherIsNoGrowth(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		gib   []int64
		steps bool
		grows bool
	}{
		"while it is set up":               {[]int64{2, 6, 13, 15, 16}, false, false},
		"by the same in a script's passes": {[]int64{4, 6, 8, 10, 12}, false, true},
		"in steps":                         {[]int64{2, 6, 13, 15, 16}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for reading, field := range map[string]string{"deepspeed.memory": "allocated", "deepspeed.host_memory": "used"} {
				var trend Trend
				for i, n := range c.gib {
					g := &parser.Gauge{Name: reading, Fields: parser.Fields{field: strconv.FormatInt(n<<30, 10)}}
					step := -1
					if c.steps {
						step = i
					}
					trend = trend.with(g).sample(g, step)
				}
				assert.Equal(t, c.grows, trend.grows(), reading)
			}
		})
	}
}

func TestWhatASleepingEngineLeavesMultiplies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		gib   []int64
		grows bool
	}{
		"more each time, but the last": {[]int64{4, 11, 25, 24}, true},
		"the same each time":           {[]int64{4, 4, 5, 4}, false},
		"two readings":                 {[]int64{4, 25}, false},
		"twice of little":              {[]int64{1, 1, 2}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var trend Trend
			for _, n := range c.gib {
				trend = trend.with(&parser.Gauge{Name: "vllm.slept", Fields: parser.Fields{"used": strconv.FormatInt(n<<30, 10)}})
			}
			assert.Equal(t, c.grows, trend.multiplies())
		})
	}
}

func TestAdamsMomentsThatTheHostCannotHold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		gauge   string
		trend   Trend
		percent float64
		proves  bool
	}{
		"twice the copy is more than is left": {"deepspeed.host_memory", Trend{First: 413 << 30, Last: 701 << 30}, 69.6, true},
		"twice the copy fits":                 {"deepspeed.host_memory", Trend{First: 413 << 30, Last: 701 << 30}, 45, false},
		"readings of a step":                  {"deepspeed.host_memory", Trend{First: 413 << 30, Last: 701 << 30, Falls: 1}, 69.6, false},
		"another program's reading":           {"reading.host", Trend{First: 413 << 30, Last: 701 << 30}, 69.6, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.proves, momentsOverflow(&parser.Gauge{Name: c.gauge}, c.trend, c.percent) != "")
		})
	}
}
