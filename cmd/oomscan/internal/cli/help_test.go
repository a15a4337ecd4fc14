package cli

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/cmd/oomscan/internal/epilog"
	"oomscan/cmd/oomscan/internal/report"
	"oomscan/parser/obs"
)

// commands returns the root command with all others.
func commands() *cobra.Command {
	status := 0
	cmd := root(Streams{Out: io.Discard, Err: io.Discard}, &status)
	cmd.InitDefaultHelpCmd()
	return cmd
}

// flagsOf returns the flags of all commands by their names.
func flagsOf(cmd *cobra.Command) map[string]*pflag.Flag {
	all := map[string]*pflag.Flag{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) { all[f.Name] = f })
	for _, c := range cmd.Commands() {
		for name, f := range flagsOf(c) {
			if all[name] == nil {
				all[name] = f
			}
		}
	}
	return all
}

// eachTopic calls a test with the text of each topic, as the command shows it.
func eachTopic(t *testing.T, test func(t *testing.T, name, text string)) {
	require.Len(t, topics(), 8)
	for _, name := range topics() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			require.Zero(t, Main([]string{"help", name}, Streams{Out: &out, Err: &errs}), errs.String())
			test(t, name, out.String())
		})
	}
}

func topic(t *testing.T, name string) string {
	t.Helper()
	text, err := topicFiles.ReadFile("help/" + name + ".md")
	require.NoError(t, err)
	return string(text)
}

func TestTopicsFitATerminal(t *testing.T) {
	t.Parallel()
	eachTopic(t, func(t *testing.T, name, text string) {
		assert.True(t, strings.HasPrefix(text, "# "+name+": "))
		script := false
		for line := range strings.Lines(text) {
			script = script != strings.HasPrefix(line, "```")
			if !script && !strings.HasPrefix(line, "    ") {
				assert.LessOrEqual(t, len(line), 81, line)
			}
		}
	})
}

var (
	// called is a call of oomscan with the rest of its line, and quoted a piece of code that begins with a flag.
	called = regexp.MustCompile("oomscan( [^`\n]*)")
	quoted = regexp.MustCompile("`(--[a-z-]+)[^`]*`")
	flag   = regexp.MustCompile(`(?:^|[\s(])--([a-z][a-z-]*)`)
	// value is a flag with the default that a topic gives for it.
	value = regexp.MustCompile("`--([a-z-]+)` \\(default ([^)]+)\\)")
)

func TestTopicsNameFlagsCommandsAndDefaultsThatExist(t *testing.T) {
	t.Parallel()
	known := flagsOf(commands())
	eachTopic(t, func(t *testing.T, _, text string) {
		for _, m := range quoted.FindAllStringSubmatch(text, -1) {
			assert.Contains(t, known, strings.TrimPrefix(m[1], "--"))
		}
		for _, m := range called.FindAllStringSubmatch(codeOf(text), -1) {
			for _, f := range flag.FindAllStringSubmatch(m[1], -1) {
				assert.Contains(t, known, f[1], m[0])
			}
			words := strings.Fields(m[1])
			if len(words) == 0 || !regexp.MustCompile(`^[a-z]+$`).MatchString(words[0]) {
				continue // a path
			}
			c, _, err := commands().Find(words[:1])
			require.NoError(t, err)
			assert.Equal(t, words[0], c.Name(), m[0])
			if words[0] == "help" {
				assert.Contains(t, topics(), words[1])
			}
		}
		for _, m := range value.FindAllStringSubmatch(text, -1) {
			require.Contains(t, known, m[1])
			assert.Equal(t, known[m[1]].DefValue, m[2], m[1])
		}
	})
}

// codeOf is what a topic shows as code: quoted, indented, or between fences.
func codeOf(text string) string {
	var code strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case fenced || strings.HasPrefix(line, "    "):
			code.WriteString(line)
		default:
			for i, piece := range strings.Split(line, "`") {
				if i%2 == 1 {
					code.WriteString(piece + "\n")
				}
			}
		}
	}
	return code.String()
}

func TestEveryLimitHasItsDefaultInTheTopic(t *testing.T) {
	t.Parallel()
	text := topic(t, "inputs")
	for name, f := range flagsOf(commands()) {
		if strings.HasPrefix(name, "max-") {
			assert.Contains(t, text, "`--"+name+"` (default "+f.DefValue+")")
		}
	}
}

func TestEveryExitStatusHasALine(t *testing.T) {
	t.Parallel()
	for _, status := range []int{exitClean, exitMemory, exitTrouble, exitInterrupted} {
		assert.Contains(t, topic(t, "exit-status"), "\n- "+strconv.Itoa(status)+": ")
	}
}

// TestTheKeysOfTheDocumentAreExplained holds the topic json against the types, both ways.
func TestTheKeysOfTheDocumentAreExplained(t *testing.T) {
	t.Parallel()
	text := topic(t, "json")
	keys := map[string]bool{}
	var collect func(reflect.Type)
	collect = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			collect(typ.Elem())
		case reflect.Struct:
			for _, f := range reflect.VisibleFields(typ) {
				if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
					keys[name] = true
					collect(f.Type)
				}
			}
		}
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[report.Report](), reflect.TypeFor[report.Incident]()} {
		for i := range typ.NumField() {
			if name := typ.Field(i).Tag.Get("json"); name != "-" {
				assert.Contains(t, text, "`"+name+"`")
			}
		}
		collect(typ)
	}
	collect(reflect.TypeFor[report.Summary]())
	for _, m := range regexp.MustCompile("(?m)^- `([a-z_]+)`(?:, `([a-z_]+)`)*:").FindAllStringSubmatch(text, -1) {
		for _, word := range m[1:] {
			assert.True(t, word == "" || keys[word], word)
		}
	}
}

func TestTheHookKeepsTheLimitsOfItsTopic(t *testing.T) {
	t.Parallel()
	text := strings.Join(strings.Fields(topic(t, "slurm")), " ")
	c := epilog.Defaults()
	for _, want := range []string{
		fmt.Sprintf("ends after %.0f s (`deadline`)", time.Duration(c.Deadline).Seconds()),
		fmt.Sprintf("for %.0f s at most (`budget`)", time.Duration(c.Budget.Wall).Seconds()),
		fmt.Sprintf("longer than %d MiB", (c.Budget.Head+c.Budget.Tail)>>20),
		fmt.Sprintf("less than %d MiB of memory", c.Budget.Memory>>20),
		"Epilog=/etc/oomscan/" + epilog.WrapperName, "`" + epilog.DefaultConfig + "`",
	} {
		assert.Contains(t, text, want)
	}
}

func TestTopicsNameTheSchemas(t *testing.T) {
	t.Parallel()
	assert.Contains(t, topic(t, "json"), "`"+report.Schema+"`")
	assert.Contains(t, topic(t, "scale-out"), "`"+obs.Schema+"`")
}

func TestHelpWithoutATopic(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"": "oomscan [flags]", "merge": "oomscan merge", "rules": "oomscan rules"} {
		var out bytes.Buffer
		require.Zero(t, Main(append([]string{"help"}, strings.Fields(name)...), Streams{Out: &out, Err: io.Discard}))
		assert.Contains(t, out.String(), want)
	}
	var errs bytes.Buffer
	assert.Equal(t, exitTrouble, Main([]string{"help", "slrum"}, Streams{Out: io.Discard, Err: &errs}))
	assert.Contains(t, errs.String(), `did you mean "slurm"`)
}
