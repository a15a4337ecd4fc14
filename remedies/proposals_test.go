package remedies

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/remedies/cause"
)

// TestProposalsHoldWhateverTheLogSays holds proposals of random runs against what no proposal may do, applies the first
// one, and asks again: nothing takes it back.
func TestProposalsHoldWhateverTheLogSays(t *testing.T) {
	t.Parallel()
	all := Guides()
	rng := rand.New(rand.NewPCG(41, 42))
	applied := 0
	for range tries(1500) {
		g := &all[rng.IntN(len(all))]
		r, in := anyRun(rng, g), anyIncident(rng)
		list := For(r, in)
		if list.Cause == nil {
			continue
		}
		soundProposals(t, &list)
		if len(list.Proposals) == 0 || len(list.Proposals[0].Changes) == 0 {
			continue
		}
		first := list.Proposals[0].Changes[0]
		if first.To == nil {
			continue
		}
		applied++
		r.Config[first.Key] = classifier.Value{Value: *first.To, Form: "overrides"}
		for _, p := range For(r, in).Proposals {
			for _, c := range p.Changes {
				if sameKey(c.Key, first.Key) && first.Direction != "set" {
					assert.Equal(t, first.Direction, c.Direction, "%s is taken back: %s", first.Key, list.Cause.ID)
				}
			}
		}
	}
	assert.Greater(t, applied, tries(200))
}

// soundProposals holds one answer against what no proposal may do.
func soundProposals(t *testing.T, list *Checklist) {
	t.Helper()
	excluded := slices.ContainsFunc(list.Rivals, func(c cause.Cause) bool { return c.ID == "fragmentation" && len(c.Against) > 0 })
	for _, p := range list.Proposals {
		if p.Fits != nil && *p.Fits && p.MarginBytes != nil {
			assert.GreaterOrEqual(t, *p.MarginBytes, int64(0), p.Text)
		}
		for _, id := range p.Remedies {
			m := pick(t, *list, id)
			assert.False(t, m.Applies != nil && !*m.Applies, "%s: %s", id, m.AppliesWhy)
		}
		for _, c := range p.Changes {
			if c.From != nil && c.To != nil {
				assert.False(t, equal(*c.From, *c.To), "%s stays %s", c.Key, *c.To)
				from, ok1 := parseNumber(*c.From)
				to, ok2 := parseNumber(*c.To)
				if ok1 && ok2 && from > 0 && c.Direction != "set" {
					assert.Equal(t, c.Direction == "up", to > from, "%s %s: %s to %s", c.Key, c.Direction, *c.From, *c.To)
				}
			}
			if excluded {
				assert.NotContains(t, strings.ToLower(c.Key), "alloc_conf", "fragmentation is excluded")
			}
		}
	}
	for _, id := range list.StartWith {
		m := pick(t, *list, id)
		assert.False(t, m.Applies != nil && !*m.Applies, id)
	}
}

func TestAProposalOfASmallerMicroBatchIsHeldAgainstTheLongestSamples(t *testing.T) {
	t.Parallel()
	in := with(gpuOOM("logprob"), func(r *classifier.Root) {
		r.Message = "CUDA out of memory. Tried to allocate 13.92 GiB."
		r.Requested, r.Free, r.Total = gibs(13.92), gibs(7.61), gibs(79.11)
		r.Trace = frames("/verl/workers/actor/dp_actor.py|compute_log_prob|", "/verl/utils/torch_functional.py|logprobs_from_logits|logits = logits.float()")
	})
	r := run("verl", "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu", "8", "data.max_prompt_length", "1024", "data.max_response_length", "3072", "vocab_size", "152064")
	list := For(r, in)
	require.NotNil(t, list.Cause)
	assert.Equal(t, "logits", list.Cause.ID)
	assert.Equal(t, "high", list.Cause.Confidence)
	i := slices.IndexFunc(list.Proposals, func(p Proposal) bool {
		return len(p.Changes) > 0 && strings.HasSuffix(p.Changes[0].Key, "log_prob_micro_batch_size_per_gpu")
	})
	require.GreaterOrEqual(t, i, 0)
	p := list.Proposals[i]
	require.NotNil(t, p.FitsWorstCase, "%+v", p)
	assert.Equal(t, "2", *p.Changes[0].To, "4 fits these samples, and not at full length")
	assert.True(t, *p.FitsWorstCase)
	assert.Equal(t, "at full length, 8192 tokens, the request is 4.64 GiB, and 7.61 GiB was free", p.WorstCase)
}

func TestAnEarlierAttemptIsAdvisedByItsOwnSettings(t *testing.T) {
	t.Parallel()
	r := run("slime")
	at := func(line int) parser.Position { return parser.Position{Source: "a.log", Line: line} }
	r.Config = map[string]classifier.Value{"--max-tokens-per-gpu": {
		Value: "4096", At: at(120), Earlier: []classifier.Told{{Value: "8192", At: at(10)}},
	}}
	root := &classifier.Root{At: at(90)}
	assert.Equal(t, "8192", asOf(r, root).Config["--max-tokens-per-gpu"].Value, "what a later attempt prints did not hold yet")
	root.At = at(180)
	assert.Equal(t, "4096", asOf(r, root).Config["--max-tokens-per-gpu"].Value)
	root.At = parser.Position{Source: "b.log", Line: 90}
	assert.Equal(t, "4096", asOf(r, root).Config["--max-tokens-per-gpu"].Value, "lines of several files have no order")
	v := r.Config["--max-tokens-per-gpu"]
	v.At.Source = "another-program.log"
	r.Config["--max-tokens-per-gpu"] = v
	root.At = at(180)
	assert.Equal(t, "8192", asOf(r, root).Config["--max-tokens-per-gpu"].Value, "what the failing file prints is its program's")
}

func TestAFixThatTheListRulesOutIsNotProposed(t *testing.T) {
	t.Parallel()
	no, yes := false, true
	fix := &assessment{topic: "expandable-segments"}
	item := func(applies *bool) []assessment {
		return []assessment{{topic: "expandable-segments", Remedy: Remedy{Order: 6, Applies: applies}}}
	}
	assert.True(t, isRuledOut(fix, item(&no)))
	assert.False(t, isRuledOut(fix, item(&yes)))
	assert.False(t, isRuledOut(fix, item(nil)))
	assert.False(t, isRuledOut(&assessment{}, item(&no)))
}

func TestNoLimitIsRaisedForMemoryThatGrows(t *testing.T) {
	t.Parallel()
	for _, grows := range []bool{true, false} {
		r := run("verl")
		if grows {
			r.Growth = []classifier.Trend{{Name: "reading.host", Count: 12, Rises: 11, First: 200 << 30, Last: 900 << 30}}
		}
		in := recognized("ray.low_memory", with(killed("rollout", "the node was running low on memory"), func(r *classifier.Root) { r.Limit = gibs(1000) }))
		request := pick(t, For(r, in), "ray-memory.request")
		assert.Equal(t, grows, request.Applies != nil && !*request.Applies)
	}
}

func TestAnEngineThatAlwaysSleepsIsAsleepWhileItsTrainerFails(t *testing.T) {
	t.Parallel()
	for phase, share := range map[string]bool{"backward": false, "weight_update": true} {
		r := as(run("verl", "actor_rollout_ref.rollout.gpu_memory_utilization", "0.6"), "fsdp", "vllm", "")
		in := with(gpuOOM(phase), func(r *classifier.Root) {
			r.Total, r.Free, r.Requested, r.ProcessBytes = gibs(80), gibs(1), gibs(3), gibs(79)
		})
		a := pick(t, For(r, in), "verl.rollout.gpu-memory-utilization").Applies
		assert.Equal(t, share, a != nil && *a, phase)
	}
}

func TestFirstProposalOfACause(t *testing.T) {
	t.Parallel()
	clones := func(r *classifier.Root) {
		r.Total, r.Free, r.Requested, r.ReservedUnallocated = gibs(80), gibs(.3), gibs(.5), gibs(1.7)
	}
	for _, c := range []struct {
		name string
		run  *classifier.Run
		in   *classifier.Incident
		key  string
	}{
		{
			"a stranger is larger than the job's engine", as(run("verl", "actor_rollout_ref.rollout.gpu_memory_utilization", "0.6"), "fsdp", "vllm", ""),
			with(gpuOOM("unknown"), func(r *classifier.Root) {
				r.Total, r.Free, r.Requested, r.Allocated, r.OtherProcesses = gibs(32), gibs(.1), gibs(.2), gibs(.6), gibs(31)
			}), "other processes",
		},
		{
			"the stranger is the trainer's own server", run("trl", "vllm_mode", "server"),
			with(gpuOOM("init"), func(r *classifier.Root) {
				r.Total, r.Free, r.Requested, r.Allocated, r.OtherProcesses, r.ProcessBytes = gibs(80), gibs(2), gibs(3.5), gibs(4), gibs(72), gibs(5)
			}), "CUDA_VISIBLE_DEVICES",
		},
		{"Megatron gathers the optimizer for a checkpoint", run("slime", "--dist-ckpt-optim-fully-reshardable", "True"), killed("checkpoint", "the node was running low on memory"), "--dist-ckpt-optim-fully-reshardable"},
		{
			"an engine that is awake beside the trainer can sleep", run("openrlhf", "--colocate_all_models", "True", "--vllm_gpu_memory_utilization", "0.6", "--zero_stage", "3"),
			with(gpuOOM("backward"), func(r *classifier.Root) {
				r.Total, r.Free, r.Requested, r.Allocated, r.ReservedUnallocated, r.ProcessBytes, r.OtherProcesses = gibs(80), gibs(1), gibs(4), gibs(28), gibs(1), gibs(30), gibs(48)
			}), "--vllm_enable_sleep",
		},
		{"Megatron saves the optimizer", run("slime"), killed("checkpoint", "the node was running low on memory"), "--no-save-optim"},
		{
			"weights are read before they are split", as(run("deepspeed"), "deepspeed", "", ""),
			with(gpuOOM("init"), func(r *classifier.Root) {
				r.Total, r.Trace = gibs(32), frames("/x/rlhf.py|_init_critic|critic.to(device)", "/x/torch/nn/modules/module.py|convert|return t.to(device)")
			}), "deepspeed.zero.Init",
		},
		{
			"an engine that never sleeps leaves NCCL nothing", run("verl", "actor_rollout_ref.rollout.free_cache_engine", "False", "actor_rollout_ref.rollout.gpu_memory_utilization", "0.9"),
			&classifier.Incident{Kind: parser.NCCLOOM, Resource: "gpu", Phase: "nccl", Root: rootOf("Cuda failure 2 'out of memory'")}, "actor_rollout_ref.rollout.free_cache_engine",
		},
		{
			"the weight update asked for a bucket", run("verl", "actor_rollout_ref.rollout.checkpoint_engine.update_weights_bucket_megabytes", "4096", "actor_rollout_ref.rollout.gpu_memory_utilization", "0.8"),
			with(gpuOOM("weight_update"), func(r *classifier.Root) {
				*r = rootOf("CUDA out of memory. Tried to allocate 4.00 GiB")
				r.Total, r.Free, r.Requested = gibs(80), gibs(2.2), gibs(4)
			}), "actor_rollout_ref.rollout.checkpoint_engine.update_weights_bucket_megabytes",
		},
		{
			"a model that is one unit is gathered whole", as(run("torch"), "fsdp", "", "Llama-3.1-8B"),
			with(gpuOOM("forward"), func(r *classifier.Root) {
				r.Total, r.Free, r.Requested, r.Trace = gibs(80), gibs(9), gibs(14.96), frames("/x/fsdp/_fsdp_collectives.py|foreach_all_gather|all_gather_output = torch.empty(")
			}), "fully_shard",
		},
		{
			"a model that is gathered whole is gathered in pieces", as(of("swift", run("trl", "--model", "Qwen/Qwen2.5-32B-Instruct", "--train_type", "full", "--use_vllm", "true", "--vllm_mode", "colocate", "--vllm_gpu_memory_utilization", "0.5", "--sleep_level", "1", "zero_optimization.stage", "3", "world_size", "8")), "deepspeed", "vllm", "Qwen/Qwen2.5-32B-Instruct"),
			with(gpuOOM("weight_update"), func(r *classifier.Root) {
				r.Total, r.Free, r.Requested, r.Allocated, r.ProcessBytes = gibs(79.1), gibs(.1), gibs(.3), gibs(74), gibs(79)
			}), "--move_model_batches",
		},
		{
			"only adapters are handed to the engine", of("swift", run("torch", "--train_type", "lora", "--use_vllm", "true", "--vllm_mode", "colocate", "--move_model_batches", "16")),
			with(gpuOOM("weight_update"), func(r *classifier.Root) { r.Total, r.Free, r.Requested = gibs(80), gibs(.1), gibs(.3) }), "--vllm_enable_lora",
		},
		{
			"Lightning saves shards", of("lightning", run("torch")), with(gpuOOM("checkpoint"), func(r *classifier.Root) {
				r.Trace = frames("/x/site-packages/lightning/pytorch/strategies/fsdp.py|lightning_module_state_dict|", "/x/site-packages/torch/distributed/fsdp/_flat_param.py|unshard|")
			}), "FSDPStrategy.state_dict_type",
		},
		{
			"the logits of all batches of an evaluation are kept", of("llamafactory", run("torch", "image_max_pixels", "786432", "per_device_eval_batch_size", "2")), with(gpuOOM("forward"), func(r *classifier.Root) {
				r.Trace = frames("/x/transformers/trainer.py|evaluation_loop|all_preds.add(logits)", "/x/transformers/trainer_pt_utils.py|nested_concat|return torch_pad_and_concatenate(")
			}), "preprocess_logits_for_metrics",
		},
		{"below ZeRO-3 every rank copies the model to save it", of("swift", run("torch", "--deepspeed", "zero2", "--train_type", "lora", "--per_device_train_batch_size", "1")), killed("checkpoint", "oom_kill event"), "--deepspeed"},
		{
			"Ulysses splits nothing that is padded", run("verl", "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", "4", "actor_rollout_ref.actor.ulysses_sequence_parallel_size", "4", "actor_rollout_ref.model.use_remove_padding", "False",
				"data.max_prompt_length", "1024", "data.max_response_length", "8192", "vocab_size", "152064"),
			with(gpuOOM("training"), func(r *classifier.Root) {
				*r = rootOf("CUDA out of memory. Tried to allocate 18.56 GiB")
				r.Total, r.Free, r.Requested, r.Trace = gibs(79.15), gibs(12.61), gibs(18.5625), frames("/x/verl/utils/torch_functional.py|entropy_from_logits|entropy = torch.logsumexp(logits, dim=-1) - torch.sum(pd * logits, dim=-1)")
			}), "actor_rollout_ref.model.use_remove_padding",
		},
		{"a state dict is cloned on the card", run("torch", "fsdp", "full_shard auto_wrap"), with(gpuOOM("checkpoint"), clones), "FullStateDictConfig"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := For(c.run, c.in).Proposals
			require.NotEmpty(t, p)
			require.NotEmpty(t, p[0].Changes)
			assert.Equal(t, c.key, p[0].Changes[0].Key)
		})
	}
}

func TestWhatIsInVainAgainstACauseDoesNotApply(t *testing.T) {
	t.Parallel()
	for phase, applies := range map[string]bool{"optimizer": false, "backward": true} {
		in := with(gpuOOM(phase), func(r *classifier.Root) {
			r.Trace = frames("/x/dp_actor.py|update_policy|", "/x/torch/optim/adamw.py|_init_group|state[\"exp_avg_sq\"] = torch.zeros_like(")
		})
		a := pick(t, For(run("verl", "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", "8"), in), "verl.actor.micro-batch-size").Applies
		assert.Equal(t, applies, a != nil && *a, phase)
	}
	for phase, why := range map[string]string{"optimizer": "when the optimizer steps", "backward": ""} { // of a model that was made in float32
		wide := as(run("trl", "max_completion_length", "1024"), "", "vllm", "Qwen/Qwen3-4B")
		wide.Gauges = append(wide.Gauges, classifier.Gauge{Name: "hf.float32", Fields: parser.Fields{"model": "Qwen3ForCausalLM"}})
		a := pick(t, For(wide, with(fullCard(phase, .1, "/x/transformers/trainer.py|_inner_training_loop|", "/x/torch/optim/adam.py|_init_group|"), func(r *classifier.Root) { r.Total = gibs(80) })), "trl.completion-length")
		assert.Contains(t, a.AppliesWhy, why, phase)
	}
}

// TestAReserveThatHoldsTheRequestIsShown has expandable segments among the first three where PyTorch holds more than it asks for, whatever
// the request is for.
func TestAReserveThatHoldsTheRequestIsShown(t *testing.T) {
	t.Parallel()
	logits := frames("/x/openrlhf/models/actor.py|forward|output[\"logits\"] = output[\"logits\"].to(torch.float32)")
	openrlhf := func() *classifier.Run {
		return as(run("openrlhf", "--use_dynamic_batch", "True", "--train_max_tokens_per_gpu", "16192", "--max_len", "8192", "vocab_size", "152064", "--packing_samples", "True"), "deepspeed", "", "")
	}
	sleeps := as(run("verl", "actor_rollout_ref.rollout.free_cache_engine", "True", "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu", "8", "vocab_size", "152064"), "fsdp", "vllm", "")
	for name, c := range map[string]struct {
		run   *classifier.Run
		in    *classifier.Incident
		shown bool
	}{
		"the reserve is larger than the request":       {openrlhf(), idle(gpu("backward", 8.67, 4.82, 79, logits), 57.8, 14.05), true},
		"smaller, though larger than what was missing": {openrlhf(), idle(gpu("backward", 8.67, 4.82, 79, logits), 63.6, 8.25), false},
		"usual": {openrlhf(), idle(gpu("backward", 8.67, 4.82, 79, logits), 70.8, 1.05), false},
		"an engine sleeps in this process, which excludes them": {sleeps, idle(gpu("logprob", 8.67, 4.82, 79, logits), 57.8, 14.05), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := For(c.run, c.in)
			require.NotEmpty(t, list.Proposals)
			assert.Equal(t, "logits", list.Cause.ID)
			assert.Equal(t, c.shown, slices.ContainsFunc(list.Proposals[:min(shownProposals, len(list.Proposals))], func(p Proposal) bool {
				return len(p.Changes) > 0 && p.Changes[0].Key == "PYTORCH_CUDA_ALLOC_CONF"
			}))
		})
	}
}

// of is a run of an application.
func of(application string, r *classifier.Run) *classifier.Run {
	r.Application = application
	return r
}

// TestWhatIsKnownToFreeTooLittleGivesWay has options that free too little beside a better one.
func TestWhatIsKnownToFreeTooLittleGivesWay(t *testing.T) {
	t.Parallel()
	from := "8192"
	little := option{Proposal: Proposal{Changes: []Change{{Key: "optim", Direction: "set"}}}, class: tooLittle}
	step := option{Proposal: Proposal{Changes: []Change{{Key: "chunk", Direction: "down"}}}, class: tooLittle} // from a default that may differ
	known := option{Proposal: Proposal{Changes: []Change{{Key: "chunk", Direction: "down", From: &from}}}, class: tooLittle}
	for name, c := range map[string]struct {
		beside int
		want   int
	}{
		"one that fits":              {fits, 1},
		"one that may fit":           {mayFit, 2},
		"one of which less is known": {unknownNow, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Len(t, enough([]option{{class: c.beside}, little, step, known}), c.want)
		})
	}
}
