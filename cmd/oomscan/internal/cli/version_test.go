package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// licenceTexts are what the text of a licence says and no other one's does.
var licenceTexts = map[string]*regexp.Regexp{
	"MIT":          regexp.MustCompile(`Permission is hereby granted, free of charge, to any person obtaining`),
	"BSD-3-Clause": regexp.MustCompile(`(?s)Redistribution and use in source and binary forms.*(?:Neither|nor) the name`),
	"Apache-2.0":   regexp.MustCompile(`Apache License,?\s+Version 2\.0`),
	"0BSD":         regexp.MustCompile(`Permission to use, copy, modify, and/or distribute this software`),
}

// TestEveryModuleHasItsLicence holds the table to the modules that are built in on any system, and to their licences' texts.
func TestEveryModuleHasItsLicence(t *testing.T) {
	t.Parallel()
	dirs := map[string]string{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}", "oomscan/cmd/oomscan")
		cmd.Env = append(os.Environ(), "GOOS="+system)
		out, err := cmd.Output()
		require.NoError(t, err)
		for line := range strings.Lines(string(out)) {
			if module, dir, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
				dirs[module] = dir
			}
		}
	}
	require.NotEmpty(t, dirs)
	for module, dir := range dirs {
		if !assert.Contains(t, licences, module, "add its licence") {
			continue
		}
		files, err := filepath.Glob(filepath.Join(dir, "LICENSE*"))
		require.NoError(t, err)
		require.NotEmpty(t, files, module)
		text, err := os.ReadFile(files[0])
		require.NoError(t, err)
		for _, id := range strings.Split(licences[module], ", ") {
			require.Contains(t, licenceTexts, id, module)
			assert.Regexp(t, licenceTexts[id], strings.Join(strings.Fields(string(text)), " "), module)
		}
	}
	for module := range licences {
		assert.Contains(t, dirs, module, "it is not built in any more")
	}
}

func TestVersionIsThatOfTheFlag(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	s := Streams{Out: &out, Err: &errs, Env: func(string) string { return "" }}
	require.Zero(t, Main([]string{"version"}, s))
	assert.Equal(t, "oomscan "+version()+"\n", out.String())
	out.Reset()
	require.Zero(t, Main([]string{"version", "--full"}, s))
	assert.Regexp(t, `built with go\S+ for \S+/\S+\n`, out.String())
}
