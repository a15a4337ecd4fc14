package classifier

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tables are the headings of trainers' tables and a row of each. N stands for the number of the row, and A for what changes in it.
var tables = map[string][2]string{
	"fastai":       {"epoch     train_loss  valid_loss  accuracy  time    \n", "N         1.A    1.331000    0.600000  01:34   \n"},
	"fastai 1":     {"epoch     train_loss  valid_loss\n", "N         1.A    None      \n"},
	"skorch":       {"  epoch    train_loss    valid_acc    valid_loss    cp     dur\n-------  ------------  -----------  ------------  ----  ------\n", "      N        \x1b[36m0.A\x1b[0m       \x1b[32m0.8209\x1b[0m        0.4765     +  0.0232\n"},
	"skorch alone": {"  epoch    train_loss     dur\n-------  ------------  ------\n", "      N        0.A  0.0232\n"},
	"spaCy":        {"E    #       LOSS TOK2VEC  LOSS NER  ENTS_F  ENTS_P  ENTS_R  SCORE \n---  ------  ------------  --------  ------  ------  ------  ------\n", "  0    N00         13.79   1272.A   82.76   92.31   75.00    0.83\n"},
	"nerfstudio":   {"Step (% Done)       Train Iter (time)    ETA (time)           Train Rays / Sec       \n-----------------------------------------\n", "N00 (1.A%)          30.391 ms            10 m, 37 s           133.17 K               \n"},
	"NequIP":       {"# Epoch batch         loss       loss_f\n", "      N   100        1.A        1.028\n"},
	"savetxt":      {"# epoch loss acc\n", "N 1.A 0.82\n"},
	"bars":         {"| Step | Training Loss | Validation Loss |\n|------|---------------|-----------------|\n", "|  N00 | 1.A | 1.100000 |\n"},
}

// rows are those of a table, from one number up to another.
func rows(row string, from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		b.WriteString(strings.NewReplacer("N", fmt.Sprint(i), "A", fmt.Sprint(210000-i)).Replace(row))
	}
	return b.String()
}

const inLoop = "Traceback (most recent call last):\n  File \"/home/u/loop.py\", line 61, in one_step\n    loss.backward()\n" +
	"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 64.00 GiB of which 1.00 GiB is free.\n"

// TestRowsOfATrainersTableShowThatARunGoesOn has the heading of the table above the failure, or behind it.
func TestRowsOfATrainersTableShowThatARunGoesOn(t *testing.T) {
	t.Parallel()
	for name, table := range tables {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			heading, row := table[0], table[1]
			for _, c := range []struct {
				log  string
				want bool
			}{
				{heading + rows(row, 0, 9) + inLoop + rows(row, 9, 20), true},
				{heading + inLoop + "the next one is smaller\n" + heading + rows(row, 0, 9), true},
				{heading + rows(row, 0, 9) + inLoop, false},
				{heading + rows(row, 0, 9) + inLoop + rows(row, 9, 11), false},
				{heading + rows(row, 0, 9) + inLoop + strings.Repeat(rows(row, 9, 10), 9), false},
				{heading + rows(row, 0, 9) + strings.Replace(inLoop, "in one_step", "in <module>", 1) + rows(row, 9, 20), false},
				{heading + rows(row, 0, 9) + inLoop + rows(row, 9, 20) + "srun: error: node1: task 0: Exited with exit code 1\n", false},
			} {
				got := read(t, map[string]string{"x.log": c.log}).Incidents
				require.Len(t, got, 1)
				assert.Equal(t, c.want, got[0].Survived, c.log)
			}
		})
	}
}

// TestOtherTablesBehindAFailureShowNothing prints what people and monitors print of a run that died.
func TestOtherTablesBehindAFailureShowNothing(t *testing.T) {
	t.Parallel()
	for name, table := range map[string][2]string{
		"a data frame of the epochs":        {"   epoch  train_loss  valid_loss\n", "N      N    1.A    1.331000\n"},
		"a data frame without the epochs":   {"     train_loss  valid_loss\n", "N      1.A    1.331000\n"},
		"rows without a heading":            {"the table of the run\n", "N         1.A    1.331000    0.600000  01:34   \n"},
		"a device monitor":                  {"# gpu    pwr  gtemp  loss\n# Idx      W      C      %\n", "    N     61.A     40      0\n"},
		"a table of no measure":             {"step    seconds  what\n", "N       1.A    load\n"},
		"batches of one epoch, again":       {"# Epoch batch         loss\n", "      4   100        1.A\n      4     2        1.A\n"},
		"a comment on the loss":             {"# Epoch loss of the run\n", "N of 20 at 1.A\n"},
		"a monitor of devices and losses":   {"# gpu loss\n", "N 1.A\n"},
		"a heading that ends in counts":     {"# loss epoch\n", "1.A N\n"},
		"a report on the ranks":             {"rank    loss    seconds\n", "N       1.A    12.0\n"},
		"a count of what was lost":          {"Host    packets lost   loss\n", "N     12.A    0.1\n"},
		"rows with a share of something":    {"Rank (% Done)    Iter (time)    ETA (time)\n", "N (1.A%)         1.5 ms         10 m, 37 s\n"},
		"a share behind a heading of steps": {"Step (% Done)    Iter (time)    ETA (time)\n", "N (1.A%) of 64.00 GiB    1.5 ms\n"},
		"a table with whole numbers behind": {"epoch    train_loss  valid_loss\n", "N       A    12\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{"x.log": inLoop + table[0] + rows(table[1], 0, 20)}).Incidents
			require.Len(t, got, 1)
			assert.False(t, got[0].Survived)
		})
	}
}

// TestASweepGoesOnWhereItSaysSo has a traceback that reaches the script: a sweep that catches it says that the next size is next.
func TestASweepGoesOnWhereItSaysSo(t *testing.T) {
	t.Parallel()
	const heading, row = "epoch     train_loss  valid_loss\n", "N         1.A    1.331000\n"
	died := strings.Replace(inLoop, "in one_step", "in <module>", 1)
	for log, want := range map[string]bool{
		heading + died + "bs=128 does not fit, next\n" + heading + rows(row, 0, 9): true,
		heading + died + "bs=128 does not fit\n" + heading + rows(row, 0, 9):       false,
		heading + died + "bs=128 does not fit, exiting\n":                          false,
		heading + died + "bs=128 does not fit, next\n" + heading + died:            false,
		heading + died + "bs=128 does not fit, next\nTraceback (most recent call last):\n  File \"/home/u/loop.py\", line 9, in <module>\n    f()\nValueError: no size is left\n": false,
	} {
		got := read(t, map[string]string{"x.log": log}).Incidents
		require.NotEmpty(t, got)
		assert.Equal(t, want, got[len(got)-1].Survived, log)
	}
}
