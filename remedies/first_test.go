package remedies

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/remedies/cause"
)

// attackers maps causes to the levers that change what the cause is made of, independent of the order in which [attacks] tries them.
var attackers = map[string]string{
	"states_too_big":         "text-encoder shard wide-checkpoint fewer-modules half-states more-gpus apart train-tp engine-tp optimizer-offload small-optimizer adapters param-offload layer-offload freeze dtype engine-quantization spread lazy-load fsdp2 layers fit experts engine-seqs engine-length adapter-slots engine-instances engine-models kv-dtype",
	"wrong_dtype":            "dtype",
	"not_sharded":            "shard lazy-load spread fsdp2",
	"optimizer_first_step":   "text-encoder optimizer-offload foreach half-states small-optimizer shard sub-group adapters freeze param-offload more-gpus",
	"activations":            "recompute windows pipeline-schedule no-grad micro-batch eval-batch token-budget dynamic-batch pieces packing group sequence-parallel train-tp activation-offload mixed-precision fused-layers fused-loss attention tiles image-size frames fewer-pictures prealloc cache-offload length freeze",
	"attention_scores":       "attention recompute engine-multimodal tiles image-size engine-chunk sequence-parallel micro-batch",
	"logits":                 "token-budget micro-batch eval-batch eval-logits pieces fused-loss entropy dynamic-batch packing sequence-parallel train-tp update length",
	"entropy_chain":          "entropy fused-loss token-budget micro-batch dynamic-batch sequence-parallel train-tp",
	"one_long_sample":        "length sequence-parallel fused-loss",
	"budget_not_binding":     "token-budget dynamic-batch sequence-parallel fused-loss update length",
	"moe_imbalance":          "recompute token-budget micro-batch train-tp",
	"pipeline_in_flight":     "recompute pipeline-schedule token-budget micro-batch",
	"allgather_window":       "shard gather-window update-layers hybrid-engine param-offload token-budget micro-batch sequence-parallel",
	"comm_buckets":           "buckets gather-window",
	"fragmentation":          "windows segments split-size empty-cache",
	"foreign_process":        "others one-device prealloc pool-share",
	"wrong_device":           "one-device load-on-host",
	"engine_share_too_large": "share-down sleep saver-margin card-split eager graphs optimizer-offload param-offload update-layers empty-cache apart",
	"engine_share_too_small": "share-up engine-tp engine-length engine-total engine-chunk engine-seqs kv-dtype engine-quantization eager layers",
	"engine_activation":      "engine-seqs engine-chunk engine-multimodal engine-arena attention share-down engine-length kv-dtype",
	"graph_capture":          "share-down prefill-graphs graphs eager compile-mode graph-shapes padded-shapes",
	"nccl_no_margin":         "share-down sleep saver-margin prealloc pool-share empty-cache warm-up nccl nvlink-sharp others",
	"weight_update":          "update-bucket update-layers engine-adapters share-down sleep optimizer-offload own-gpus",
	"checkpoint_gather":      "save-type save-by-tensor sharded-save rank0-save lean-save save-once merge optimizer-offload param-offload host-limit",
	"leak_over_steps":        "sample-buffer metric metric-reset detach no-grad update malloc restart prompt-cache offload-off",
	"host_offload":           "offload-off pinning host-cache nvme host-limit host-node",
	"host_load":              "dtype experts-on-cards lazy-load host-limit host-node host-cache mmap node-cache engine-quantization numa-copies sample-buffer",
	"loader_workers":         "workers data-cache sample-buffer val-batch rollout-batch writer-batch pinning ray-tasks host-limit",
	"shm":                    "shm-copy shm-size object-store workers",
	"limit_too_small":        "gpu-share build-jobs temp-file sample-buffer host-limit pod-request host-node array-file prompt-cache node-cache ray-tasks eval-logits",
}

// attackersThere are levers that attack a cause only under a fact.
var attackersThere = []attack{
	{"engine_share_too_small", "pattern:vllm.no_swap_space", []string{"engine-swap"}},      // where sequences wait that found no room on the card
	{"checkpoint_gather", "gathers_by_accelerate", []string{"update"}},                     // to a version that gathers on the host
	{"allgather_window", "syncs_reference", []string{"reference-sync"}},                    // which gathers both models
	{"engine_share_too_small", "adapter_slots", []string{"adapter-rank", "adapter-slots"}}, // which are taken before the cache
	{"activations", "code:generate_images", []string{"no-samples"}},
	{"activations", "vision", []string{"engine-multimodal"}},
	{"activations", "stack:/monai/inferers/", []string{"stitch-on-host"}},             // the results of all windows
	{"states_too_big", "stack:/concurrent/futures/thread.py", []string{"async-load"}}, // weights that are whole until they are quantized
	{"activations", "stack:/core/bbox/", []string{"assign-on-host"}},                  // a matrix of all boxes and anchors
	{"activations", "stack:/task_modules/", []string{"assign-on-host"}},
	{"states_too_big", "framework:comfyui", []string{"unload", "param-offload"}}, // --highvram keeps what fits in pieces
	{"activations", "framework:comfyui", []string{"unload", "vram-margin", "param-offload"}},
	{"limit_too_small", "framework:fooocus", []string{"offload-off"}}, // what it moves off a card with room
	{"host_load", "framework:fooocus", []string{"offload-off"}},
	{"activations", "framework:fooocus", []string{"param-offload"}},
	{"activations", "framework:sdwebui", []string{"vram-margin", "param-offload", "layer-offload"}},
	{"activations", "crops_protein", []string{"protein-crop", "alignment"}},      // a batch is one crop
	{"attention_scores", "crops_protein", []string{"protein-crop", "alignment"}}, // of pairs of its residues
	{"leak_over_steps", "web_server", []string{"recycle"}},
	{"engine_activation", "picture", []string{"vram-margin", "projector"}},       // an image encoder has memory of its own
	{"states_too_big", "framework:triton", []string{"share-down"}},               // an instance that is created takes its cache, too
	{"engine_activation", "framework:ollama", []string{"layers", "vram-margin"}}, // it chose the layers by its estimate of the buffers
	{"attention_scores", "stack:evoformer", []string{"pieces"}},                  // of pairs of residues, in chunks of rows
	{"attention_scores", "calls_once", []string{"no-grad"}},                      // the scores of all layers are kept for a backward pass that never comes
	{"leak_over_steps", "names:nnunet_train", []string{"update"}},                // of cuDNN, which leaked
	{"leak_over_steps", "host_evaluation", []string{"eval-logits"}},
	{"leak_over_steps", "keeps_on_card", []string{"eval-logits"}},
	{"checkpoint_gather", "broadcasts_state", []string{"own-copies"}},
	{"foreign_process", "image_processor", []string{"image-processor", "share-down"}},
	{"leak_over_steps", "engine_residue", []string{"share-down", "sleep", "train-tp"}},
	{"engine_share_too_large", "gather_all_token_logits=True", []string{"all-logits"}},
	{"logits", "set:image_max_pixels", []string{"engine-multimodal"}}, // an image becomes tokens
	{"limit_too_small", "cache_on_host", []string{"engine-length"}},
	{"nccl_no_margin", "evaluating", []string{"eval-batch"}},
	{"foreign_process", "beside_server", []string{"one-device"}},
	{"activations", "swaps_blocks", []string{"layer-offload"}},
	{"states_too_big", "swaps_blocks", []string{"cached-captions"}}, // the text encoders are beside what is trained
	{"states_too_big", "merges", []string{"merge"}},
	{"logits", "max_memory_percent>0.5", []string{"generator-cache"}}, // the generator's cache stays on the card
	{"logits", "keeps_scores", []string{"rollout-batch"}},             // of all answers of a rollout
	{"states_too_big", "uneven_split", []string{"card-split"}},        // the other card has room
	{"loader_workers", "routed_experts", []string{"routing-replay"}},  // of all tokens of a rollout
	{"activations", "max_memory_percent>0.5", []string{"generator-cache"}},
	{"optimizer_first_step", "max_memory_percent>0.5", []string{"generator-cache"}},
	{"optimizer_first_step", "engine_stays", []string{"sleep", "share-down"}}, // what the engine holds is room for the states
	{"optimizer_first_step", "dtype=float32", []string{"dtype"}},
	{"states_too_big", "adapter_slots", []string{"adapter-rank", "adapter-slots"}},
	{"states_too_big", "code:prepare_model(self.ref_model", []string{"reference"}},
	{"logits", "ulysses_sequence_parallel_size>1", []string{"padding"}},
	{"entropy_chain", "ulysses_sequence_parallel_size>1", []string{"padding"}},
	{"attention_scores", "vision", []string{"share-down"}},
	{"activations", "calibrates", []string{"calibration-cache", "pieces", "calibration-samples"}},
	{"host_offload", "calibrates", []string{"calibration-samples"}},
	{"engine_activation", "framework:llamacpp", []string{"card-split"}}, // it failed on the card whose part is too large
	{"attention_scores", "unified_memory", []string{"unified-memory"}},  // the host's memory holds them, too
	{"states_too_big", "uneven_split", []string{"card-split"}},          // the model fits on all cards together
	{"host_load", "cache_covers", []string{"engine-seqs", "engine-length"}},
	{"activations", "simulates", []string{"environments", "horizon"}}, // whose rollouts fill the card
	{"activations", "framework:comfyui", []string{"layer-offload"}},   // blocks leave room for what is computed
	{"leak_over_steps", "keeps_images", []string{"input-cache"}},      // which grow in a cache, not in malloc's arenas
	{"leak_over_steps", "adds_adapters", []string{"old-adapters"}},
	{"leak_over_steps", "keeps_results", []string{"stream"}},
	{"leak_over_steps", "oversampling_factor>1", []string{"in-flight"}}, // finished answers wait for the others of their group
	{"leak_over_steps", "trained_before", []string{"own-process"}},      // a process that ends frees what earlier trainings left
	{"host_load", "alike_trials", []string{"trial-data", "ray-tasks"}},
	{"activations", "batch_negatives", []string{"cached-loss"}},
	{"activations", "unlimited_audio", []string{"length"}},
	{"activations", "batch_size_type=sample", []string{"padding"}}, // of clips, which are padded to the longest
	{"attention_scores", "stack:/piper_train/", []string{"length"}},
	{"host_load", "windows", []string{"page-file"}}, // what is refused counts against RAM and page file
	{"limit_too_small", "windows", []string{"page-file"}},
	{"loader_workers", "windows", []string{"page-file"}},
	{"attention_scores", "unlimited_audio", []string{"length"}}, // with the square of the longest recording
	{"wrong_device", "another_worker", []string{"server-workers"}},
	{"foreign_process", "ollama_holds", []string{"keep-alive"}},
	{"engine_activation", "stack:rejection_sampler.py", []string{"draft-tokens"}},      // each has a row of the vocabulary
	{"comm_buckets", "backend:deepspeed", []string{"shard"}},                           // it splits the weights, where a smaller bucket may fit narrowly
	{"nccl_no_margin", "stack:torch/distributed/checkpoint/", []string{"micro-batch"}}, // what the steps reserved leaves the save nothing
}

// TestTheFirstProposalAttacksTheNamedCause allows others first only where the answer has nothing else against the cause, where that is
// known to be too little, or where it changes the task.
func TestTheFirstProposalAttacksTheNamedCause(t *testing.T) {
	t.Parallel()
	all, err := failures()
	require.NoError(t, err)
	held := 0
	for _, f := range all {
		list := For(&f.run, &f.in)
		if list.Cause == nil || len(list.Proposals) == 0 || !names(list.Cause) {
			continue
		}
		ctx := newContext(&f.run, &f.in)
		attacked := strings.Fields(attackers[list.Cause.ID])
		for _, a := range attackersThere {
			if a.cause == list.Cause.ID && ctx.is(a.fact) {
				attacked = append(attacked, a.levers...)
			}
		}
		if list.Cause.ID == "foreign_process" && mostlyFree(ctx) {
			attacked = append(attacked, "share-down")
		}
		if list.Cause.ID == "nccl_no_margin" && collectiveOfStep(ctx) { // what a step keeps is what leaves NCCL nothing
			attacked = append(attacked, "micro-batch", "token-budget", "recompute")
		}
		if list.Cause.ID == "states_too_big" && ctx.is("framework:jax") { // its pool is a part of the card
			attacked = append(attacked, "share-up", "prealloc")
		}
		if list.Cause.ID == "states_too_big" && strings.Contains(list.Cause.Text, "together") { // all that an engine allocates
			attacked = append(attacked, strings.Fields(attackers["engine_activation"])...)
		}
		first := leversOf(&list.Proposals[0])
		held++
		if slices.ContainsFunc(first, func(l string) bool { return slices.Contains(attacked, l) }) {
			continue
		}
		for i := range list.Proposals[1:] {
			p := &list.Proposals[1+i]
			if fits := list.Proposals[0].Fits; fits != nil && *fits && p.Fits == nil {
				continue // what is known to fit comes before what may be too little
			}
			for _, l := range leversOf(p) {
				if l == "offload-off" && !ctx.setup.CardBytes.Known {
					continue // the card, of unknown size, may not hold it
				}
				if slices.Contains(attacked, l) && !slices.Contains(dearest, l) && (p.Fits == nil || *p.Fits) {
					assert.Fail(t, "not first", "%s: %s: %v (%s) comes before %s (%s)", f.dir, list.Cause.Text, first, list.Proposals[0].Title, l, p.Title)
				}
			}
		}
		for i := range list.Remedies {
			m := &list.Remedies[i]
			l := leverOf(topicOf(m.ID), m.Changes)
			if l == nil || m.Applies != nil && !*m.Applies || len(m.Changes) == 0 || slices.ContainsFunc(list.Proposals, func(p Proposal) bool { return slices.Contains(p.Remedies, m.ID) }) {
				continue
			}
			again := slices.ContainsFunc(list.Proposals[0].Changes, func(c Change) bool { return c.Key == m.Changes[0].Key }) // another value of the same setting
			if slices.Contains(attacked, l.id) && !slices.Contains(dearest, l.id) && !again {
				assert.Fail(t, "not proposed", "%s: %s: %v (%s) is proposed, %s (%s) is not", f.dir, list.Cause.Text, first, list.Proposals[0].Title, l.id, m.Title)
			}
		}
	}
	assert.Greater(t, held, tries(200))
}

// TestASwitchThatTheCauseNamesIsChangedFirst holds the first proposal against a cause that is so because a switch is off.
func TestASwitchThatTheCauseNamesIsChangedFirst(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile(`([\w.-]+) is (?:false|none), so `)
	all, err := failures()
	require.NoError(t, err)
	held := 0
	for _, f := range all {
		list := For(&f.run, &f.in)
		if list.Cause == nil || len(list.Proposals) == 0 {
			continue
		}
		m := named.FindStringSubmatch(list.Cause.Text)
		if m == nil {
			continue
		}
		held++
		assert.True(t, slices.ContainsFunc(list.Proposals[0].Changes, func(c Change) bool { return lastWord(c.Key) == lastWord(m[1]) }), "%s: %s: %s", f.dir, m[1], list.Proposals[0].Title)
	}
	assert.Greater(t, held, tries(2))
}

// names reports whether the page names a cause, not only what happened.
func names(c *cause.Cause) bool {
	return c.ID != cause.Unknown && !strings.Contains(strings.ToLower(c.Text), "the log does not show")
}

// leversOf returns the levers that a proposal pulls.
func leversOf(p *Proposal) []string {
	var out []string
	topics := make([]string, 0, len(p.Remedies))
	for _, id := range p.Remedies {
		topics = append(topics, topicOf(id))
	}
	if len(topics) == 0 {
		for _, it := range fixes().Items {
			if it.Title == p.Title {
				topics = append(topics, it.Topic)
			}
		}
	}
	for _, topic := range append(topics, "") {
		if l := leverOf(topic, p.Changes); l != nil {
			out = append(out, l.id)
		}
	}
	return out
}

// topicOf returns the topic of a guide's item.
func topicOf(id string) string {
	for _, g := range Guides() {
		if it := g.item(id); it != nil {
			return it.Topic
		}
	}
	return ""
}

// TestNoProposalSetsWhatIsSet holds the proposals for the fixtures against the settings of the run.
func TestNoProposalSetsWhatIsSet(t *testing.T) {
	t.Parallel()
	all, err := failures()
	require.NoError(t, err)
	held := 0
	for _, f := range all {
		ctx := newContext(&f.run, &f.in)
		list := For(&f.run, &f.in)
		for _, p := range list.Proposals {
			for _, c := range p.Changes {
				now, ok := ctx.settings.find(c.Key, true)
				engines := c.From == nil && trains(ctx) && ctx.run.Engine != "" // a trainer's engine prints keys of its own
				if !ok || c.To == nil || engines {
					continue
				}
				held++
				assert.False(t, equal(now.value.Value, *c.To), "%s: %s is %s already", f.dir, c.Key, now.value.Value)
			}
		}
	}
	assert.Greater(t, held, tries(100))
}
