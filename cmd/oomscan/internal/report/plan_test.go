package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/remedies"
)

func planOf(bytes int64) remedies.Plan {
	card, fits := int64(80)<<30, bytes < 80<<30
	sum := remedies.PlanSum{
		Low: bytes / 2, Bytes: bytes, High: 2 * bytes, Whole: fits, Fits: &fits,
		Parts: []remedies.BudgetPart{{Part: "engine_weights", Bytes: bytes, Resource: "gpu", How: "8 parameters x 2 bytes"}},
	}
	return remedies.Plan{
		Framework: "verl", Trainer: "fsdp2", Card: &card, Phases: []remedies.PlanPhase{{Phase: "weight_update", Card: sum}},
		Missing: []remedies.PlanMissing{{Input: "size of the card", Parts: []string{"kv_cache"}, Settings: []string{"card"}}},
	}
}

func TestAPlanIsATableWithBars(t *testing.T) {
	t.Parallel()
	after := planOf(20 << 30)
	p := NewPlan("v", planOf(160<<30), &after, map[string]string{"micro_batch": "1"})
	var out bytes.Buffer
	require.NoError(t, PlanFormats()["text"](&out, p, Style{Width: 80, ASCII: true}))
	assert.Equal(t, ` MEMORY BUDGET  verl, fsdp2
 Estimated from the settings, with the longest samples that they allow.
 After: micro_batch=1

  Each GPU  80.00 GiB
                                              GiB  range           fits
  weight update  ########################   160.0+ 80.0 to 320.0   no
    after        ######..................    20.0  10.0 to 40.0    yes

  Fullest phase of a GPU: weight update, after the change
  engine weights          20.0  8 parameters x 2 bytes

  Not counted  pass these to include it
  size of the card (for kv cache)
      --set card=80GiB  # the card's memory
`, out.String())
	for line := range strings.Lines(out.String()) {
		assert.LessOrEqual(t, len(line), 81, line)
	}
}

func TestFitsIsLikelyOnlyWhereNothingIsMissing(t *testing.T) {
	t.Parallel()
	size, yes, no := int64(80)<<30, true, false
	for name, c := range map[string]struct {
		sum  PlanSum
		size *int64
		want string
	}{
		"the whole range is below":               {PlanSum{Bytes: 60 << 30, Whole: true, Fits: &yes}, &size, "yes"},
		"the whole range is above":               {PlanSum{Bytes: 90 << 30, Whole: true, Fits: &no}, &size, "no"},
		"the middle of the range is below":       {PlanSum{Bytes: 60 << 30, Whole: true}, &size, "likely"},
		"the middle of the range is above":       {PlanSum{Bytes: 90 << 30, Whole: true}, &size, "unlikely"},
		"a part is missing and the rest is low":  {PlanSum{Bytes: 60 << 30}, &size, "unsure"},
		"a part is missing and the rest is high": {PlanSum{Bytes: 90 << 30}, &size, "unlikely"},
		"the size is unknown":                    {PlanSum{Bytes: 60 << 30, Whole: true}, nil, ""},
	} {
		assert.Equal(t, c.want, fitsWord(&c.sum, c.size).text, name)
	}
}

func TestAPlansJSONHasAllKeys(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, PlanFormats()["json"](&out, NewPlan("v", remedies.Plan{}, nil, nil), Style{}))
	var got map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &got))
	assert.Equal(t, map[string]any{
		"schema": PlanSchema, "version": "v", "framework": nil, "trainer": nil, "engine": nil, "model": nil, "card_bytes": nil, "node_bytes": nil,
		"changes": map[string]any{}, "before": []any{}, "after": []any{}, "missing": []any{},
	}, got)
}
