package epilog

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser/source"
)

func TestTheSampleShowsTheDefaults(t *testing.T) {
	t.Parallel()
	c, err := Parse(Sample)
	require.NoError(t, err)
	assert.Equal(t, Defaults(), c, "as it is")

	// Uncommented, each setting has its default value.
	all := regexp.MustCompile(`(?m)^\x23(  )?(\w+:)`).ReplaceAll(Sample, []byte("$1$2"))
	c, err = Parse(all)
	require.NoError(t, err, "%s", all)
	want := Defaults()
	want.Skip = []string{}
	assert.Equal(t, want, c)
	text, err := os.ReadFile("config.go")
	require.NoError(t, err)
	for _, key := range regexp.MustCompile(`yaml:"(\w+)"`).FindAllStringSubmatch(string(text), -1) {
		assert.Regexp(t, `(?m)^ *`+key[1]+`:`, string(all), "the sample does not show %s", key[1])
	}
}

func TestInvalidConfigurationsAreRefused(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]string{
		"a setting that there is none":    "reprot: off",
		"a word that there is none":       "report: maybe",
		"a relative path":                 "spool: var/spool",
		"a path with dots":                "spool: /var/../spool",
		"a textfile that nobody reads":    "textfile: /var/lib/oomscan.txt",
		"a pattern across folders":        `beside: {files: ["../*.log"]}`,
		"a broken pattern":                `beside: {files: ["[a"]}`,
		"a budget beyond the deadline":    "budget: {wall: 8s}",
		"a deadline of nothing":           "deadline: 0s",
		"a size without sense":            "budget: {tail: 5X}",
		"a negative size":                 "budget: {tail: -5M}",
		"no memory to work with":          "budget: {memory: 1M}",
		"another type":                    "json: [1]",
		"no YAML":                         "report: [",
		"more than a configuration holds": "#" + strings.Repeat("x", maxConfig),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse([]byte(bad))
			assert.Error(t, err)
		})
	}
}

func TestAConfigurationOverridesTheDefaults(t *testing.T) {
	t.Parallel()
	c, err := Parse([]byte("append: true\nscontrol: off\nskip_users: [bench, 1234]\nbudget:\n  tail: 8M\n  wall: 500ms\ndeadline: 4s\n"))
	require.NoError(t, err)
	assert.True(t, c.Append)
	assert.Equal(t, "off", c.Scontrol)
	assert.Equal(t, source.Size(8<<20), c.Budget.Tail)
	assert.Equal(t, Duration(500*time.Millisecond), c.Budget.Wall)
	assert.Equal(t, Defaults().Budget.Head, c.Budget.Head, "what is not said keeps its default")
	assert.True(t, c.skips("bench", 5))
	assert.True(t, c.skips("", 1234))
	assert.False(t, c.skips("", 5))
}

func FuzzConfig(f *testing.F) {
	f.Add(Sample)
	f.Add([]byte("report: off\nbudget: {wall: 1s}\n"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse(data)
		if err != nil {
			return
		}
		require.LessOrEqual(t, c.Budget.Wall, c.Deadline)
		require.Positive(t, c.Budget.Files)
		require.Contains(t, []string{beside, off}, c.Report)
	})
}
