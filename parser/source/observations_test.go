package source

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// seen is a minimal file of observations.
const seen = observationsPrefix + `v1","version":"1"}` + "\n{\"end\":{\"lines\":1}}\n"

// both walks all inputs and returns which visitor took what.
func both(t *testing.T, inputs []Input, logs bool) (took, problems []string, skipped Skipped) {
	t.Helper()
	u := &Unpacker{Limits: DefaultLimits(), Stdin: strings.NewReader(seen)}
	visit := func(what string) Visit {
		return func(name string, r io.Reader) {
			b, err := io.ReadAll(r)
			require.NoError(t, err)
			assert.NotEmpty(t, b)
			took = append(took, what+" "+filepath.Base(name))
		}
	}
	v := Visits{Observations: visit("observations")}
	if logs {
		v.Log = visit("log")
	}
	for _, in := range inputs {
		s, ps := u.Walk(in, v)
		skipped.Add(s)
		for _, p := range ps {
			problems = append(problems, filepath.Base(p.Name)+": "+p.Err.Error()+"; "+p.Hint)
		}
	}
	return took, problems, skipped
}

func TestObservationsAndLogsAreDistinguished(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, data := range map[string]string{
		"a.log": "step 1\n", "a.log.gz": gz(t, "step 1\n"), "b.obs": seen, "c.obs.gz": gz(t, seen),
		"d.tar": tarred(t, member{"e.log", "step 1\n"}, member{"f.obs", seen}), "g.log": `{"schema":"oomscan.report/v1"}`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600))
	}
	named := []string{dir + "/a.log", dir + "/a.log.gz", dir + "/b.obs", dir + "/c.obs.gz", dir + "/d.tar", "-"}

	inputs, problems := List([]string{dir})
	require.Len(t, problems, 1)
	assert.Equal(t, "passed over 1 report of oomscan and 1 file of observations", problems[0].Err.Error())
	assert.Equal(t, "oomscan merge reads observations", problems[0].Hint)
	took, wrong, skipped := both(t, inputs, true)
	assert.Equal(t, []string{"log a.log", "log a.log.gz", "log d.tar!e.log"}, took)
	assert.Empty(t, wrong)
	assert.Equal(t, Skipped{Observations: 2}, skipped, "in a folder, only logs")

	inputs, problems = List(named)
	assert.Empty(t, problems)
	took, wrong, skipped = both(t, inputs, true)
	assert.Equal(t, []string{"log a.log", "log a.log.gz", "observations b.obs", "observations c.obs.gz", "log d.tar!e.log", "observations -"}, took)
	assert.Empty(t, wrong)
	assert.Equal(t, Skipped{Observations: 1}, skipped, "in an archive, only logs")

	inputs, problems = ListObservations([]string{dir})
	require.Len(t, problems, 1)
	assert.Equal(t, "passed over 1 report of oomscan and 1 log", problems[0].Err.Error())
	took, wrong, skipped = both(t, inputs, false)
	assert.Equal(t, []string{"observations b.obs", "observations c.obs.gz", "observations d.tar!f.obs"}, took)
	assert.Empty(t, wrong)
	assert.Equal(t, Skipped{Logs: 2}, skipped)

	inputs, problems = ListObservations(named)
	assert.Empty(t, problems)
	took, wrong, _ = both(t, inputs, false)
	assert.Equal(t, []string{"observations b.obs", "observations c.obs.gz", "observations d.tar!f.obs", "observations -"}, took)
	hint := ": holds no observations of oomscan; oomscan --format obs writes such files; oomscan PATH reads logs"
	assert.Equal(t, []string{"a.log" + hint, "a.log.gz" + hint}, wrong)
}

func TestAFolderWithoutObservationsIsAProblem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.log"), []byte("step 1\n"), 0o600))
	_, problems := ListObservations([]string{dir})
	require.Len(t, problems, 1)
	require.ErrorIs(t, problems[0].Err, ErrNothingObserved)
	assert.Equal(t, "no observations in it: passed over 1 log", problems[0].Err.Error())

	ball := filepath.Join(dir, "b.tar")
	require.NoError(t, os.WriteFile(ball, []byte(tarred(t, member{"e.log", "step 1\n"})), 0o600))
	_, wrong, _ := both(t, []Input{{Name: ball, Path: ball, Size: 10240, Packed: true}}, false)
	assert.Equal(t, []string{"b.tar: no observations in it: passed over 1 log; oomscan PATH reads logs"}, wrong)
}

func TestAPipeOfObservationsIsUnpacked(t *testing.T) {
	t.Parallel()
	for n := 1; n < len(observationsPrefix); n++ {
		_, sure := Begins([]byte(seen[:n]))
		assert.False(t, sure, "%q", seen[:n])
	}
	form, sure := Begins([]byte(seen))
	assert.Equal(t, Packed, form)
	assert.True(t, sure)
	form, sure = Begins([]byte(`{"schema":"x"}`))
	assert.Equal(t, Plain, form)
	assert.True(t, sure)
}
