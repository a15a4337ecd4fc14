package remedies

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGuidesDecodeStrictlyAndHoldTheFiveDocuments(t *testing.T) {
	t.Parallel()
	var documents []string
	for _, g := range Guides() {
		if g.Document {
			documents = append(documents, g.ID)
		}
	}
	assert.Equal(t, []string{"areal", "areal-early", "field-note", "relax", "verl"}, documents)
}

func TestItemsAreUniqueListedAndComplete(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, g := range Guides() {
		listed := map[string]bool{}
		for _, l := range g.Lists {
			for i, id := range l.Items {
				listed[id] = true
				assert.NotContains(t, l.Items[:i], id, "list %s of %s repeats an item", l.ID, g.ID)
			}
		}
		for i := range g.Items {
			it := &g.Items[i]
			assert.True(t, strings.HasPrefix(it.ID, g.ID+"."), it.ID)
			assert.False(t, seen[it.ID], "%s is there twice", it.ID)
			seen[it.ID] = true
			assert.True(t, listed[it.ID], "%s is in no list", it.ID)
			assert.NotEmpty(t, it.Section, it.ID)
			assert.NotContains(t, it.Title, "\n", it.ID)
			for _, p := range it.Parameters {
				low, okLow := parseNumber(p.Min)
				hi, okHi := parseNumber(p.Max)
				assert.False(t, okLow && okHi && low > hi, "%s: %s has no room", it.ID, p.Key)
			}
		}
	}
}

func TestEveryCorrectionOfTheDocumentsThatTouchesAnItemIsRecorded(t *testing.T) {
	t.Parallel()
	have := map[string]bool{}
	for _, g := range Guides() {
		for i := range g.Items {
			for _, c := range g.Items[i].Corrections {
				have[c.ID] = true
				assert.NotEmpty(t, c.Says, g.Items[i].ID)
				assert.NotEmpty(t, c.Is, g.Items[i].ID)
			}
		}
	}
	for _, id := range strings.Fields("C1 C2 C3 C4 C5 C6 C9 C10 C11 C13 C14 C15 C16 C17 C18 C19 C20 C21") {
		assert.True(t, have[id], id)
	}
}

func TestListsKeepTheOrderOfTheDocuments(t *testing.T) {
	t.Parallel()
	// Items that the document itself has, in its order; additions of later versions are left out.
	for _, test := range []struct{ guide, list, want string }{
		{"verl", "rollout", "rollout.gpu-memory-utilization rollout.enforce-eager rollout.capture-sizes rollout.tensor-parallel offload.megatron offload.fsdp"},
		{"verl", "summary", "actor.micro-batch-size actor.dynamic-batch actor.max-token-len critic.micro-batch-size critic.max-token-len " +
			"gradient-checkpointing recompute-megatron rollout.gpu-memory-utilization " +
			"rollout.enforce-eager activation-offload offload.megatron offload.fsdp liger host.tcmalloc host.jemalloc fsdp2 ulysses"},
		{"verl", "backward", "gradient-checkpointing recompute-megatron activation-offload actor.micro-batch-size actor.dynamic-batch " +
			"actor.max-token-len critic.micro-batch-size critic.max-token-len ulysses"},
		{"verl", "forward", "actor.micro-batch-size actor.dynamic-batch actor.max-token-len critic.micro-batch-size critic.max-token-len " +
			"gradient-checkpointing recompute-megatron entropy liger ulysses fsdp2"},
		{"verl", "optimizer", "offload.megatron offload.fsdp cpu-optimizer actor.micro-batch-size actor.max-token-len"},
		{"verl", "host", "host.tcmalloc host.jemalloc host.jemalloc-arm host.offload host.workers host.dataloader"},
		{"areal", "generation", "generation.max-concurrent-rollouts generation.tensor-parallel generation.mem-fraction-static"},
		{"areal", "training", "training.max-tokens-per-mb training.ulysses"},
		{"areal", "weight-update", "weight-update.disk weight-update.chunk-buffer"},
		{"areal-early", "generation", "max-concurrent-rollouts allocation-mode mem-fraction-static"},
		{"areal-early", "training", "max-tokens-per-mb sp-size"},
		{"areal-early", "weight-update", "disk chunk-buffer"},
		{"relax", "training", "recompute dynamic-batch max-tokens-per-gpu recompute-loss optimizer-cpu-offload"},
		{"relax", "logprob", "log-probs-max-tokens log-probs-chunk-size max-tokens-per-gpu"},
		{"relax", "weight-update", "update-weight-buffer sglang-mem-fraction no-weights-backuper"},
		{"relax", "nccl", "cuda-memory-check memory-snapshot margin-down margin-up"},
		{"relax", "solutions", "recompute max-tokens-per-gpu log-probs-max-tokens dynamic-batch fixed-micro-batch optimizer-cpu-offload recompute-loss " +
			"log-probs-chunk-size update-weight-buffer no-weights-backuper margin sglang-mem-fraction"},
		{"field-note", "changes", "train-batch-size mini-batch-size micro-batch-size param-offload optimizer-offload smaller-batches " +
			"gpu-memory-utilization max-response-length more-gpus"},
	} {
		t.Run(test.guide+" "+test.list, func(t *testing.T) {
			t.Parallel()
			g := guide(test.guide)
			require.NotNil(t, g)
			i := slices.IndexFunc(g.Lists, func(l List) bool { return l.ID == test.list })
			require.GreaterOrEqual(t, i, 0)
			var got []string
			for _, id := range g.Lists[i].Items {
				if !g.item(id).Addition {
					got = append(got, strings.TrimPrefix(id, g.ID+"."))
				}
			}
			assert.Equal(t, strings.Fields(test.want), got)
		})
	}
}

func TestDecodeRejectsMistakesWithFileAndLine(t *testing.T) {
	t.Parallel()
	const head = "id: g\nname: G\ntitle: T\nseen: G 1.0\n"
	const item = "items:\n  - id: g.a\n    title: Do\n    why: it helps\n"
	const list = "lists:\n  - {id: l, heading: h, resources: [gpu], items: [g.a]}\n"
	err := checked("guides/g.yaml", []byte(head+list+item), &Guide{})
	require.NoError(t, err)
	for name, test := range map[string]struct{ text, at, want string }{
		"unknown key":        {head + "colour: red\n" + list + item, ":5:", "colour"},
		"doubled key":        {head + "title: U\n" + list + item, ":5:", "title"},
		"missing item":       {head + strings.Replace(list, "g.a", "g.b", 1) + item, ":6:", "no item"},
		"unknown phase":      {head + strings.Replace(list, "items:", "phases: [dinner], items:", 1) + item, ":", "dinner"},
		"unknown fact":       {head + list + item + "    requires: [tuesday]\n", ":8:", "tuesday"},
		"unknown rule":       {head + list + item + "    parameters: [{key: k, surface: yaml, direction: up, next: magic}]\n", ":", "magic"},
		"unknown surface":    {head + list + item + "    parameters: [{key: k, surface: paper, direction: up}]\n", ":", "surface"},
		"set without a word": {head + list + item + "    parameters: [{key: k, surface: yaml, direction: set}]\n", ":", "set to what"},
		"bad versions": {
			head + list + item + "    parameters: [{key: k, surface: yaml, direction: up, spellings: [{key: j, versions: soon}]}]\n", ":", "versions",
		},
		"foreign id": {head + list + strings.Replace(item, "g.a", "h.a", 1), ":", "prefix"},
		"no yaml":    {"id: [", ":", ""},
		"never seen": {strings.Replace(head, "seen: G 1.0", "seen: somewhere", 1) + list + item, ":1:", "versions"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := checked("guides/g.yaml", []byte(test.text), &Guide{})
			require.Error(t, err)
			assert.True(t, strings.HasPrefix(err.Error(), "guides/g.yaml"+test.at), err.Error())
			assert.Contains(t, err.Error(), test.want)
		})
	}
}

func TestVersionIn(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		version, bounds string
		in, ok          bool
	}{
		{"0.6.1", ">=0.5 <0.7", true, true},
		{"0.7.0.dev0", ">=0.5 <0.7", false, true},
		{"0.7.1", "<=0.7", true, true},
		{"v0.10.2", ">=0.9", true, true},
		{"1", "=1.0", true, true},
		{"0.3.0", "<0.3.1", true, true},
		{"0.3.4", "<0.3.1", false, true},
		{"0.3.4.post1", ">=0.3.3 <1.0", true, true},
		{"0.7.1", "<=0.7.0", false, true},
		{"0.3", ">=0.3.1", false, true},
		{"", ">=0.5", false, false},
		{"main", ">=0.5", false, false},
		{"0.5", "", false, false},
		{"0.5", "~0.5", false, false},
	} {
		in, ok := versionIn(test.version, test.bounds)
		assert.Equal(t, test.in, in, "%s %s", test.version, test.bounds)
		assert.Equal(t, test.ok, ok, "%s %s", test.version, test.bounds)
	}
}

func TestValuesAreEqualHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"['model', 'optimizer', 'extra']", "[model,optimizer,extra]", true},
		{`["model", "hf_model"]`, "[model]", false},
		{"'bf16'", "BF16", true},
		{"1e3", "1000", true},
		{"True", "true", true},
		{"None", "null", true},
		{"8", "16", false},
		{"1", "on", true},
		{"true", "0", false},
		{"1", "2", false},
		{"torch.bfloat16", "bf16", true},
		{"half", "float16", true},
		{"bf16", "fp16", false},
		{"AttnBackend.flash", "flash", true},
		{"AttnBackend.flash", "fused", false},
		{"Qwen2.5", "5", false},
	} {
		assert.Equal(t, c.want, equal(c.a, c.b), "%s %s", c.a, c.b)
	}
}
