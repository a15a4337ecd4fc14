package remedies

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/parser"
)

// anyValue is a value as a log may hold it, sensible or not.
func anyValue(rng *rand.Rand) string {
	switch rng.IntN(8) {
	case 0:
		return []string{"None", "", "null", "auto", "-1", "0", "-0.5", "nan", "1e30", "1_024", "'8'", "99999999999999999999", "900000000000000000", "1048575"}[rng.IntN(14)]
	case 1:
		return []string{"True", "False", "true", "off"}[rng.IntN(4)]
	case 2, 3:
		return fraction(rng.Float64())
	case 4:
		return fmt.Sprintf("%dG", 1+rng.IntN(900))
	}
	return fmt.Sprint(rng.Int64N(1 << (1 + rng.IntN(34))))
}

// anyRun is a run of a framework with some of its guide's settings.
func anyRun(rng *rand.Rand, g *Guide) *classifier.Run {
	r := run(g.Framework)
	for i := range g.Items {
		for _, p := range g.Items[i].Parameters {
			if rng.IntN(3) == 0 {
				r.Config[p.Key] = classifier.Value{Value: anyValue(rng), Form: []string{"pprint", "overrides", "command", ""}[rng.IntN(4)], At: parser.Position{Source: "a", Line: 1 + rng.IntN(50)}}
			}
		}
	}
	for _, k := range []string{
		"data.max_prompt_length", "data.max_response_length", "train_dataset.max_length", "gconfig.max_new_tokens", "trainer.n_gpus_per_node", "trainer.nnodes", "vocab_size",
		"hidden_size", "num_key_value_heads", "rollout_max_response_len", "context_parallel_size", "tensor_model_parallel_size", "max_length", "prompt_max_len", "generate_max_len",
	} {
		if rng.IntN(2) == 0 {
			r.Config[k] = classifier.Value{Value: anyValue(rng)}
		}
	}
	r.Backend = []string{"", "fsdp", "fsdp2", "megatron", "deepspeed"}[rng.IntN(5)]
	r.Engine = []string{"", "vllm", "sglang"}[rng.IntN(3)]
	r.Model.Name = []string{"", "Qwen/Qwen2.5-7B-Instruct", "deepseek-ai/DeepSeek-V3", "x"}[rng.IntN(4)]
	r.FrameworkVersion = []string{"", "0.4.1", "0.6.1", "0.8.0"}[rng.IntN(4)]
	for _, n := range []string{"vllm.weights", "vllm.budget", "vllm.kv_available", "vllm.usage", "vllm.profile", "sglang.mem_weights", "sglang.mem_kv_pool"} {
		if rng.IntN(3) == 0 {
			r.Gauges = append(r.Gauges, reading(n, map[string]float64{
				"used": rng.Float64() * 100, "free": rng.Float64() * 100, "total": rng.Float64() * 150, "available": rng.Float64()*100 - 50, "tokens": float64(rng.IntN(1 << 20)),
				"weights": rng.Float64() * 100, "non_torch": rng.Float64()*10 - 5, "activations": rng.Float64() * 100, "graphs": rng.Float64() * 10,
			}))
		}
	}
	if rng.IntN(3) == 0 {
		g := reading("megatron.parameters", nil)
		g.Fields["count"] = strconv.FormatInt(rng.Int64N(1<<40)-10, 10)
		r.Gauges = append(r.Gauges, g)
	}
	if rng.IntN(3) == 0 {
		g := reading("gpu.card", nil)
		g.Fields["card"] = []string{"H100", "V100", "T4", "x"}[rng.IntN(4)]
		if rng.IntN(2) == 0 {
			g.Fields["gb"] = []string{"16", "80", "0", "999"}[rng.IntN(4)]
		}
		r.Gauges = append(r.Gauges, g)
	}
	return r
}

// anyIncident is a failure with some figures, consistent or not.
func anyIncident(rng *rand.Rand) *classifier.Incident {
	kinds := []parser.Kind{parser.GPUOOM, parser.GPUOOM, parser.GPUOOM, parser.GPUDriverOOM, parser.KVCache, parser.NCCLOOM, parser.HostOOM, parser.OOMKill, parser.SHMExhausted}
	in := &classifier.Incident{Kind: kinds[rng.IntN(len(kinds))], Phase: phaseWords[rng.IntN(len(phaseWords))]}
	in.Resource = in.Kind.Resource()
	r := &in.Root
	r.At = parser.Position{Source: "a.log", Line: 90}
	r.Message = []string{"Tried to allocate 2.00 GiB", "estimated maximum model length is 4096", "less than desired GPU memory utilization", "Capture cuda graph failed", ""}[rng.IntN(5)]
	for _, to := range []**int64{&r.Requested, &r.Total, &r.Free, &r.Allocated, &r.ReservedUnallocated, &r.ProcessBytes, &r.OtherProcesses, &r.Limit, &r.Used} {
		if rng.IntN(3) > 0 {
			*to = gibs(rng.Float64() * 100)
			if rng.IntN(20) == 0 {
				*to = ints(rng.Int64()) // a log may claim anything
			}
		}
	}
	if r.Requested != nil && r.Free != nil && *r.Requested > *r.Free {
		short := *r.Requested - *r.Free
		in.Shortfall = &short
	}
	r.Trace = [](func() *classifier.Root){
		func() *classifier.Root { return &classifier.Root{} },
		func() *classifier.Root { return &classifier.Root{Trace: frames("/x/a.py|f|logits = logits.float()")} },
		func() *classifier.Root {
			return &classifier.Root{Trace: frames("/x/torch/distributed/tensor/_api.py|full_tensor|")}
		},
		func() *classifier.Root {
			return &classifier.Root{Trace: frames("/x/vllm/worker.py|profile_run|")}
		},
		func() *classifier.Root {
			return &classifier.Root{Trace: frames("/x/torch/optim/adamw.py|_init_group|torch.zeros_like(")}
		},
		func() *classifier.Root {
			return &classifier.Root{Trace: frames("/x/torch/distributed/fsdp/_flat_param.py|_alloc_padded_unsharded_flat_param|")}
		},
		func() *classifier.Root {
			return &classifier.Root{Trace: frames("/x/vllm/fused_moe/layer.py|create_weights|torch.empty(")}
		},
	}[rng.IntN(7)]().Trace
	return in
}

// every is how far apart the members of a long list are that a test tries: n, or 6 where OOMSCAN_TEST_ALL is 1, as .ci/run sets it, or 1
// where it is nightly, or 4n under -short, which the race detector runs with.
func every(n int) int {
	switch {
	case os.Getenv("OOMSCAN_TEST_ALL") == "1":
		return 6
	case os.Getenv("OOMSCAN_TEST_ALL") != "":
		return 1
	case testing.Short():
		return 4 * n
	}
	return n
}

// tries is how often a property is tried, at most n times.
func tries(n int) int { return n / every(10) }

// TestAdviceHoldsWhateverTheLogSays asks for advice on runs that no one ever had.
func TestAdviceHoldsWhateverTheLogSays(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(11, 12))
	all := Guides()
	for range tries(3000) {
		g := &all[rng.IntN(len(all))]
		r, in := anyRun(rng, g), anyIncident(rng)
		c := For(r, in)
		require.Equal(t, c, For(r, in), "the same question has the same answer")
		known := map[string][]string{}
		for i := range c.Remedies {
			m := &c.Remedies[i]
			sound(t, g, in, m)
			for _, x := range m.Changes {
				known[x.Snippet] = append(known[x.Snippet], m.ID)
			}
		}
		for _, id := range c.StartWith {
			m := pick(t, c, id)
			assert.False(t, m.Applies != nil && !*m.Applies, id)
		}
		for _, p := range c.Patch {
			require.NotEmpty(t, p.Text)
			if p.Syntax == "yaml" || p.Syntax == "json" {
				continue
			}
			for line := range strings.SplitSeq(p.Text, "\n") {
				ids := known[strings.TrimSuffix(line, " \\")]
				assert.True(t, slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(c.StartWith, id) }), line)
			}
		}
	}
}

// sound holds one item to what every item promises.
func sound(t *testing.T, g *Guide, in *classifier.Incident, m *Remedy) {
	t.Helper()
	assert.Equal(t, m.Applies != nil, m.AppliesWhy != "")
	assert.Equal(t, m.Enough != nil, m.EnoughWhy != "")
	if m.Applies != nil && !*m.Applies {
		assert.Nil(t, m.Freed, "%s: %s", m.ID, m.AppliesWhy)
		assert.Nil(t, m.Enough)
	}
	if m.Freed != nil {
		assert.Positive(t, *m.Freed, "%s of %s", m.ID, g.ID)
	}
	if m.Enough != nil && *m.Enough && m.Freed != nil && in.Kind == parser.GPUOOM && in.Shortfall != nil {
		assert.GreaterOrEqual(t, *m.Freed+1<<20, *in.Shortfall, "%s: %s", m.ID, m.EnoughWhy)
	}
	for _, x := range m.Changes {
		if x.To == nil {
			assert.Empty(t, x.Snippet)
			continue
		}
		require.NotEmpty(t, *x.To)
		if to, ok := parseNumber(*x.To); ok && x.Direction != "set" && !strings.HasSuffix(x.Key, "workers") { // switches may be set to 0, and the main process may load the data
			assert.Positive(t, to, "%s sets %s", m.ID, x.Key)
		}
		if x.From == nil {
			continue
		}
		assert.False(t, equal(*x.From, *x.To), "%s leaves %s at %s", m.ID, x.Key, *x.To)
		from, ok1 := parseNumber(*x.From)
		to, ok2 := parseNumber(*x.To)
		if ok1 && ok2 && from > 0 && slices.Contains([]string{"up", "down"}, x.Direction) {
			assert.Equal(t, x.Direction == "up", to > from, "%s moves %s from %s to %s", m.ID, x.Key, *x.From, *x.To)
		}
	}
}

// TestAdviceTakenComesToAnEnd takes all the advice of a run and asks again, until nothing is left to change: a setting
// goes one way only, and stops.
func TestAdviceTakenComesToAnEnd(t *testing.T) {
	t.Parallel()
	const rounds = 120 // a third less each time takes 102 from the largest number that is read
	rng := rand.New(rand.NewPCG(21, 22))
	all := Guides()
	taken := 0
	for range tries(1500) {
		g := &all[rng.IntN(len(all))]
		r, in := anyRun(rng, g), anyIncident(rng)
		way := map[string]string{}
		for round := 0; ; round++ {
			require.Less(t, round, rounds, "the advice on %s never ends", g.ID)
			moved := false
			for _, m := range For(r, in).Remedies {
				if m.Applies != nil && !*m.Applies {
					continue
				}
				for _, x := range m.Changes {
					if x.From == nil || x.To == nil || x.Direction == "set" {
						continue
					}
					if was, ok := way[x.Key]; ok {
						require.Equal(t, was, x.Direction, "%s turns %s around: %s to %s", m.ID, x.Key, *x.From, *x.To)
					}
					way[x.Key] = x.Direction
					taken++
					r.Config[x.Key] = classifier.Value{Value: *x.To, At: parser.Position{Source: "a", Line: 100 + round}}
					moved = true
				}
			}
			if !moved {
				break
			}
		}
	}
	require.Greater(t, taken, tries(200))
}

// TestProposedValuesKeepWhatTheirFrameworkAsksFor takes runs of verl with sizes that fit together, and holds what is
// proposed to the checks that verl and vLLM make at the start: a micro-batch divides the mini-batch of one rank, a size
// of parallelism divides the heads and the GPUs, a budget holds the longest sequence, a context prompt and response.
func TestProposedValuesKeepWhatTheirFrameworkAsksFor(t *testing.T) {
	t.Parallel()
	const actor, rollout = "actor_rollout_ref.actor.", "actor_rollout_ref.rollout."
	rng := rand.New(rand.NewPCG(31, 32))
	power := func(low, high int) int64 { return 1 << (low + rng.IntN(high-low+1)) }
	seen := map[string]int{}
	for range tries(2000) {
		per, nodes, n := power(0, 3), power(0, 2), power(0, 3)
		gpus := per * nodes
		mini := gpus * power(0, 6) * (1 + rng.Int64N(5))
		share := mini * n / gpus
		heads := []int64{12, 14, 28, 32, 40, 64}[rng.IntN(6)]
		kv := []int64{2, 4, 8}[rng.IntN(3)]
		prompt, response := power(7, 13), power(7, 15)
		sp := int64(1)
		if sizes := ulyssesSizes(gpus, heads, kv); rng.IntN(3) == 0 {
			sp = sizes[rng.IntN(len(sizes))]
		}
		micro := share * sp
		for micro > 1 && rng.IntN(2) == 0 && micro%2 == 0 {
			micro /= 2
		}
		in := anyIncident(rng)
		r := run("verl",
			actor+"ppo_mini_batch_size", itoa(mini), actor+"ppo_micro_batch_size_per_gpu", itoa(micro), rollout+"n", itoa(n),
			actor+"ulysses_sequence_parallel_size", itoa(sp), "trainer.n_gpus_per_node", itoa(per), "trainer.nnodes", itoa(nodes),
			"num_attention_heads", itoa(heads), "num_key_value_heads", itoa(kv), "data.max_prompt_length", itoa(prompt), "data.max_response_length", itoa(response),
			rollout+"tensor_model_parallel_size", itoa(min(per, kv)), rollout+"gpu_memory_utilization", fraction(.05*float64(2+rng.IntN(18))),
			rollout+"max_model_len", itoa((prompt+response)*(1+rng.Int64N(3))), rollout+"max_num_batched_tokens", itoa(power(11, 16)),
			actor+"use_dynamic_bsz", []string{"True", "False"}[rng.IntN(2)], actor+"ppo_max_token_len_per_gpu", itoa((prompt+response)*(1+rng.Int64N(8))))
		r.Backend, r.Engine, r.FrameworkVersion = "fsdp", "vllm", []string{"", "0.4.1", "0.6.1"}[rng.IntN(3)]
		for _, m := range For(r, in).Remedies {
			if m.Applies != nil && !*m.Applies {
				continue
			}
			for _, x := range m.Changes {
				if x.To == nil {
					continue
				}
				to, ok := parseInt(*x.To)
				seen[x.Key]++
				switch x.Key {
				case actor + "ppo_micro_batch_size_per_gpu":
					require.True(t, ok)
					require.Less(t, to, micro)
					require.Zero(t, share*sp%to, "%d of %d samples: %s", to, share*sp, x.ComputedFrom)
				case actor + "ulysses_sequence_parallel_size":
					require.True(t, ok && to > sp && gpus%to == 0 && splits(to, heads, kv), "%d of %d heads, %d GPUs", to, heads, gpus)
				case rollout + "tensor_model_parallel_size":
					require.True(t, ok && per%to == 0 && splits(to, heads, kv), "%d of %d heads, %d GPUs", to, heads, per)
				case actor + "ppo_max_token_len_per_gpu":
					require.True(t, ok && to*sp >= prompt+response, "%d x %d for %d + %d: %s", to, sp, prompt, response, x.ComputedFrom)
				case rollout + "max_model_len":
					require.True(t, ok && to >= prompt+response, "%d for %d + %d: %s", to, prompt, response, x.ComputedFrom)
				case rollout + "gpu_memory_utilization":
					f, ok := parseNumber(*x.To)
					require.True(t, ok && f > 0 && f < 1, *x.To)
				}
			}
		}
	}
	for _, k := range []string{
		actor + "ppo_micro_batch_size_per_gpu", actor + "ulysses_sequence_parallel_size", rollout + "tensor_model_parallel_size",
		actor + "ppo_max_token_len_per_gpu", rollout + "gpu_memory_utilization",
	} {
		require.Greater(t, seen[k], tries(30), "%s: %v", k, seen)
	}
}
