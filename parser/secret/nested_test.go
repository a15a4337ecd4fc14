package secret_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/parser/secret"
)

// TestTextMasksWhatIsInAMappingOfCredentials has values with names of their own, in a mapping whose name is a credential's.
func TestTextMasksWhatIsInAMappingOfCredentials(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"JSON":                    `{"auth": {"type": "basic", "value": "%"}}`,
		"JSON of a list of names": `{"api_keys": {"a": "x", "b": "%"}, "lr": 1}`,
		"JSON, escaped":           `"{\"secret\": {\"id\": \"a\", \"data\": \"%\"}}"`,
		"deeper":                  `{"secrets": {"prod": {"id": 1}, "eu": {"main": "%"}}}`,
		"a dictionary of Python":  `cookies={'session': '%'}`,
		"YAML":                    "api_keys:\n  openai: %\nlr: 1",
		"YAML, escaped":           `"tracking:\n  credentials:\n    main: %\n"`,
		"a dotted name":           "+credentials.openai.main=%",
		"a dotted name, a flag":   "['train.py', '--secrets.main', '%']",
		"TOML, escaped":           `"[auth]\ntoken = \"%\""`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, value := range []string{alnum, hex40, "kxe1b481javhixhixw6i9czyadaod8"} {
				assert.NotContains(t, secret.Stable(with(text, value)), value[:8])
			}
		})
	}
	for _, text := range []string{
		`{"auth": {"type": "basic"}, "commit": "` + hex40 + `"}`, "auth:\n  type: basic\ncommit: " + hex40,
		`"tokens": {"prompt": 4096, "completion": 128}, "id": "` + hex40 + `"`, `special_tokens: {"eos": "<|endoftext|>", "pad": "layer12output"}`,
		"auth.backend.commit: none", `tokenizer: {"hash": "` + hex40 + `"}`, `{"key": {"dtype": "bfloat16", "shape": [8, 128]}}`,
	} {
		assert.Equal(t, text, secret.Stable(text))
	}
}

// TestTextMasksTheColumnOfATable has a header and, below it, a line with a credential.
func TestTextMasksTheColumnOfATable(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"of Markdown":          "| name | api_key |\n|------|---------|\n| prod | % |",
		"of Markdown, escaped": `"| name | api_key |\n|------|---------|\n| prod | % |"`,
		"in ASCII":             "+------+--------+\n| name | secret |\n+------+--------+\n| prod | % |\n+------+--------+",
		"in boxes":             "┃ name ┃ api_token ┃\n┡━━━━━━╇━━━━━━━┩\n│ prod │ % │",
		"of two rows":          "| token | name |\n| " + hex40 + " | a |\n| % | b |",
		"of blanks":            "NAME   TOKEN\nprod   %",
		"of tabs":              "name\ttoken\thost\nprod\t%\th1",
		"of tabs, escaped":     `"name\ttoken\nprod\t%"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, value := range []string{alnum, hex40, "kxe1b481javhixhixw6i9czyadaod8"} {
				assert.NotContains(t, secret.Stable(with(text, value)), value[:8])
			}
		})
	}
	for _, text := range []string{
		"| token | logprob |\n|---|---|\n| step1 | -0.3 |", "KEY        VALUE\ncommit     " + hex40, "| cache_key | commit |\n| prompt1 | " + hex40 + " |",
		"NAME    TOKENS    COMMIT\ntrain   4096      " + hex40, "the token   is\nlayer   " + hex40,
	} {
		assert.Equal(t, text, secret.Stable(text))
	}
}
