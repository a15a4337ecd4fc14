package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheSkillCanBeFollowed runs every command that the skill names, and looks up every key.
func TestTheSkillCanBeFollowed(t *testing.T) {
	t.Parallel()
	skill := printed(t, "skill")
	assert.Less(t, strings.Count(skill, "\n"), 100)
	assert.True(t, strings.HasPrefix(skill, "---\nname: oomscan\ndescription: "))
	fill := map[string]string{
		"LOGS": aLog, "FOLDER": "../../fixtures/slurm-logs", "KEY=VALUE": "card=H100", "NAME": "verl", "PHASE": "backward",
		"WORD": "mem_fraction", "LINE": "Killed",
		"FILE": aLog,
	}
	commands := regexp.MustCompile("`oomscan ([^`]+)`").FindAllStringSubmatch(skill, -1)
	require.Greater(t, len(commands), 9)
	for _, m := range commands {
		line := m[1]
		if strings.HasPrefix(line, "explain") {
			line = "explain logits"
		}
		args := strings.Fields(line)
		for i, a := range args {
			a = strings.Trim(a, "'")
			if v := fill[a]; v != "" {
				a = v
			}
			args[i] = a
		}
		if out := printed(t, args...); assert.NotEmpty(t, out, m[1]) && strings.Contains(line, "json") {
			assert.True(t, json.Valid([]byte(out)), m[1])
		}
	}
	schema := printed(t, "schema", "report")
	_, reading, ok := strings.Cut(skill, "## How to read the JSON\n")
	require.True(t, ok)
	reading, _, _ = strings.Cut(reading, "## Example")
	for _, m := range regexp.MustCompile("`([a-z_.\\[\\]0]+)[`:]").FindAllStringSubmatch(reading, -1) {
		for _, key := range strings.Split(strings.TrimSuffix(m[1], "`"), ".") {
			assert.Contains(t, schema, `"`+strings.TrimSuffix(key, "[0]")+`"`, m[1])
		}
	}
}
