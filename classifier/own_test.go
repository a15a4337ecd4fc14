package classifier

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/parser"
)

func TestAPatternOfTheUsersOwnNamesTheApplication(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		program     string
		override    string
		framework   string
		application string
	}{
		"nothing is named":                    {"", "", "verl", ""},
		"a program that the registry lacks":   {"acme", "", "verl", "acme"},
		"an application of the registry":      {"axolotl", "", "verl", ""},
		"the framework that it is":            {"verl", "", "verl", ""},
		"the user names the framework":        {"acme", "trl", "trl", ""},
		"the user names a program of his own": {"", "acme", "verl", "acme"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c1 := NewCollector()
			c1.Add(parser.Setting{At: parser.Position{Source: "a", Line: 1}, Key: "actor_rollout_ref.model.path", Value: "m"})
			fields := parser.Fields{}
			if c.program != "" {
				fields["application"] = c.program
			}
			c1.Add(parser.Event{At: parser.Position{Source: "a", Line: 2}, Pattern: "acme.pool", Kind: parser.GPUOOM, Role: parser.Evidence, Fields: fields})
			got := c1.ResultWith(Overrides{Framework: c.override})
			assert.Equal(t, c.framework, got.Run.Framework)
			assert.Equal(t, c.application, got.Run.Application)
			assert.Len(t, got.Incidents, 1)
		})
	}
}
