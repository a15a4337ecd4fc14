package traceback

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func feedElastic(b *ElasticBlock, text string) (in string, all []ElasticFailure) {
	for i, l := range strings.Split(text, "\n") {
		if b.Feed(i+1, []byte(l)) {
			in += "+"
		} else {
			in += "."
		}
		all = append(all, b.Take()...)
	}
	return in, all
}

const (
	stars  = "***************************************"
	equals = "======================================="
	dashes = "---------------------------------------"
)

func TestElasticBlock(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text, in string
		want           []ElasticFailure
	}{
		{
			"padded keys, several failures",
			equals + "\ntrain.py FAILED\n" + dashes + "\nFailures:\n[1]:\n  time      : 2025-03-20_10:11:42\n  host      : n12\n  rank      : 2 (local_rank: 2)\n  exitcode  : -9 (pid: 9013)\n  error_file: <N/A>\n  traceback : Signal 9 (SIGKILL) received by PID 9013\n" +
				dashes + "\nRoot Cause (first observed failure):\n[0]:\n  time      : 2025-03-20_10:11:41\n  host      : n11\n  rank      : 0 (local_rank: 0)\n  exitcode  : 1 (pid: 9011)\n  error_file: /tmp/e.json\n  traceback : To enable traceback see: https://x\n" + equals + "\nnext",
			"." + strings.Repeat("+", 20) + ".",
			[]ElasticFailure{
				{Line: 5, Time: "2025-03-20_10:11:42", Host: "n12", Rank: 2, LocalRank: 2, ExitCode: -9, PID: 9013, Traceback: "Signal 9 (SIGKILL) received by PID 9013"},
				{Line: 14, Time: "2025-03-20_10:11:41", Host: "n11", ExitCode: 1, PID: 9011, ErrorFile: "/tmp/e.json", Traceback: "To enable traceback see: https://x", Root: true},
			},
		},
		{
			"torch 1.9: root first, keys not padded",
			"        train.py FAILED        \n" + equals + "\nRoot Cause:\n[0]:\n  time: 2021-09-30_11:20:47\n  rank: 3 (local_rank: 1)\n  exitcode: 1 (pid: 4802)\n  error_file: <N/A>\n  msg: \"Process failed with exitcode 1\"\n" + equals + "\nOther Failures:\n  <NO_OTHER_FAILURES>\n" + stars,
			"..+++++++++++",
			[]ElasticFailure{{Line: 4, Time: "2021-09-30_11:20:47", Rank: 3, LocalRank: 1, ExitCode: 1, PID: 4802, Traceback: "Process failed with exitcode 1", Root: true}},
		},
		{
			"recorded traceback keeps the exception line",
			"Root Cause (first observed failure):\n[0]:\n  rank      : 1 (local_rank: 1)\n  exitcode  : 1 (pid: 5)\n  traceback : Traceback (most recent call last):\n    File \"a.py\", line 1, in f\n      x()\n  torch.OutOfMemoryError: CUDA out of memory.\n  \n" + equals,
			"++++++++++",
			[]ElasticFailure{{Line: 2, Rank: 1, LocalRank: 1, ExitCode: 1, PID: 5, Traceback: "torch.OutOfMemoryError: CUDA out of memory.", Root: true}},
		},
		{
			"nothing printed is nothing known",
			"Failures:\n[0]:\n  host      : a\nunrelated\n",
			"+++..",
			[]ElasticFailure{{Line: 2, Host: "a", Rank: -1, LocalRank: -1, ExitCode: ExitUnknown}},
		},
		{"no block", equals + "\nEpoch 3\n" + equals + "\nbuild FAILED", "....", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var b ElasticBlock
			in, got := feedElastic(&b, tt.text)
			if tt.name == "no block" {
				assert.NotContains(t, in[:3], "+")
			} else {
				assert.Equal(t, tt.in, in)
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestElasticBlockCutOff(t *testing.T) {
	t.Parallel()
	var b ElasticBlock
	_, got := feedElastic(&b, "Root Cause (first observed failure):\n[0]:\n  rank      : 7 (local_rank: 1)")
	assert.Empty(t, got)
	assert.True(t, b.Open())
	got = b.Close()
	assert.Len(t, got, 1)
	assert.Equal(t, 7, got[0].Rank)
	assert.False(t, b.Open())
}

func TestElasticBlockIsBounded(t *testing.T) {
	t.Parallel()
	var b ElasticBlock
	n := 0
	b.Feed(1, []byte("Failures:"))
	for i := range 10000 {
		b.Feed(i, []byte("[0]:"))
		n += len(b.Take())
	}
	assert.Equal(t, maxFailures, n)
}
