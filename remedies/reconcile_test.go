package remedies

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestAnAttemptIsNotSentBackToTheFirstFailure has two incidents of one job whose answers set the same thing.
func TestAnAttemptIsNotSentBackToTheFirstFailure(t *testing.T) {
	t.Parallel()
	set := func(id, key, from, to string) Proposal {
		return Proposal{Remedies: []string{id}, Changes: []Change{{Key: key, From: &from, To: &to}}}
	}
	for name, tt := range map[string]struct {
		first, second Proposal
		dropped       bool
	}{
		"the second takes the first back":      {set("on", "--optimizer-cpu-offload", "False", "True"), set("off", "--optimizer-cpu-offload", "True", "False"), true},
		"a share goes up again":                {set("on", "gpu_memory_utilization", "0.9", "0.6"), set("off", "gpu_memory_utilization", "0.6", "0.9"), true},
		"it goes to a value that is not known": {set("on", "gpu_memory_utilization", "0.9", "0.6"), set("off", "gpu_memory_utilization", "0.6", "0.7"), false},
		"another setting":                      {set("on", "--optimizer-cpu-offload", "False", "True"), set("off", "--offload-train", "True", "False"), false},
		"the same change twice":                {set("on", "micro_batch_size", "8", "4"), set("off", "micro_batch_size", "8", "4"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := Proposal{Remedies: []string{"other"}}
			lists := []Checklist{
				{Proposals: []Proposal{tt.first}},
				{Proposals: []Proposal{tt.second, other}, StartWith: []string{"off", "other"}, Patch: []Patch{{}}, Remedies: []Remedy{{ID: "off"}, {ID: "other"}}},
			}
			reconcile(lists)
			second := lists[1]
			if !tt.dropped {
				assert.Len(t, second.Proposals, 2)
				assert.Empty(t, lists[0].Proposals[0].Needs)
				return
			}
			assert.Equal(t, []Proposal{other}, second.Proposals)
			assert.Equal(t, []string{"other"}, second.StartWith)
			assert.Empty(t, second.Patch, "it was made of what is no answer")
			assert.False(t, *second.Remedies[0].Applies)
			assert.Nil(t, second.Remedies[1].Applies)
			assert.Equal(t, []string{"A later attempt ran with this and also failed: see incident 2."}, lists[0].Proposals[0].Needs)
		})
	}
}
