package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestDescriptionsAreOfKeysThatExist finds descriptions and words of keys that were renamed.
func TestDescriptionsAreOfKeysThatExist(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, name := range SchemaNames() {
		for def, s := range SchemaOf(name)["$defs"].(JSONSchema) {
			for key, p := range s.(JSONSchema)["properties"].(JSONSchema) {
				known[def+"."+key] = known[def+"."+key] || p.(JSONSchema)["description"] != nil || p.(JSONSchema)["enum"] != nil
			}
		}
	}
	for key := range described {
		assert.True(t, known[key], key)
		assert.NotContains(t, strings.TrimSuffix(described[key], "."), ". ", "%s: a sentence at most", key)
	}
	for key := range schemaWords() {
		assert.True(t, known[key], key)
	}
}
