package remedies

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUlyssesSizesDivideTheRanksAndTheHeads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		world, heads, kv int64
		want             []int64
	}{
		{32, 40, 0, []int64{1, 2, 4, 8}}, // the guide's example
		{8, 28, 4, []int64{1, 2, 4}},
		{6, 12, 0, []int64{1, 2, 3, 6}},
		{1, 40, 8, []int64{1}},
		{7, 40, 0, []int64{1}},
	} {
		assert.Equal(t, c.want, ulyssesSizes(c.world, c.heads, c.kv), "%d ranks, %d heads, %d key-value heads", c.world, c.heads, c.kv)
	}
}

func TestUlyssesCountsTheTrainersOfALayout(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{
		"sglang.d4+d32":                 "2",
		"sglang:d4t2|fsdp:d32":          "2",
		"sglang.d4+d3":                  "nil", // 3 ranks and 40 heads have no divisor in common
		"sglang.d4+(attn:d4t2|ffn:d8)":  "nil",
		"sglang.d32":                    "nil", // no trainer at all
		"vllm:d2+megatron:d8t4p1":       "2",
		"something else":                "nil",
		"sglang.d4+d99999999999999999d": "nil",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			r := run("areal", "allocation_mode", mode, "actor.fsdp.ulysses_sp_size", "1", "num_attention_heads", "40")
			got := toOf(pick(t, For(r, gpuOOM("forward")), "areal.training.ulysses"), "actor.fsdp.ulysses_sp_size")
			if want == "nil" {
				assert.Contains(t, []string{"nil", "-"}, got)
				return
			}
			assert.Equal(t, want, got)
		})
	}
}

// TestAnyLayoutKeepsItsGPUs builds valid layouts and looks at what becomes of them: the servers' data parallelism is
// halved and their tensor parallelism doubled, the GPUs and everything else stay.
func TestAnyLayoutKeepsItsGPUs(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	pickOne := func(list ...string) string { return list[r.IntN(len(list))] }
	product := func(layout string) (all, d, tp int64) {
		all, d, tp = 1, 1, 1
		for _, m := range dimension().FindAllStringSubmatch(layout, -1) {
			n, ok := parseInt(m[2])
			require.True(t, ok)
			all *= n
			switch m[1] {
			case "d":
				d = n
			case "t":
				tp = n
			}
		}
		return all, d, tp
	}
	for range tries(500) {
		server := fmt.Sprintf("d%d", 1<<r.IntN(5)+r.IntN(2))
		if r.IntN(2) == 0 {
			server += fmt.Sprintf("t%d", 1<<r.IntN(3))
		}
		if r.IntN(3) == 0 {
			server += "p1"
		}
		head := pickOne("sglang.", "sglang:", "vllm:", "vllm.", "sglang[rollout]:")
		tail := pickOne("", "+d4", "+fsdp:d8", "+megatron:d2p2t2", "|fsdp:d4c2", "+megatron:(attn:d2p2t2|ffn:d1p2e4)", "+eval")
		mode := head + server + tail
		to := toOf(pick(t, For(run("areal", "allocation_mode", mode), gpuOOM("rollout")), "areal.generation.tensor-parallel"), "allocation_mode")
		all, d, tp := product(server)
		if d%2 != 0 {
			assert.Contains(t, []string{"-", "nil"}, to, mode)
			continue
		}
		require.True(t, strings.HasPrefix(to, head) && strings.HasSuffix(to, tail), "%s becomes %s", mode, to)
		all2, d2, tp2 := product(strings.TrimSuffix(strings.TrimPrefix(to, head), tail))
		assert.Equal(t, []int64{all, d / 2, 2 * tp}, []int64{all2, d2, tp2}, "%s becomes %s", mode, to)
	}
}
