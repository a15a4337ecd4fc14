package remedies

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/parser/traceback"
)

func TestEveryPhaseAndResourceHasAChecklist(t *testing.T) {
	t.Parallel()
	n := 0
	for _, fw := range append(append(classifier.IDs(classifier.Framework), classifier.IDs(classifier.Application)...), "unknown", "", "gpt-neox") {
		for _, phase := range phaseWords {
			if n++; n%every(5) != 0 {
				continue // the number of phases is no multiple of five: each framework tries others
			}
			for res, kind := range map[string]parser.Kind{"gpu": parser.GPUOOM, "host": parser.HostOOM, "shm": parser.SHMExhausted} {
				c := For(run(fw), &classifier.Incident{Kind: kind, Resource: res, Phase: phase})
				require.NotEmpty(t, c.Remedies, "%s %s %s", fw, phase, res)
				assert.NotEmpty(t, c.Title)
				ids := map[string]bool{}
				for i, r := range c.Remedies {
					assert.Equal(t, i+1, r.Order)
					assert.False(t, ids[r.ID], "%s twice", r.ID)
					ids[r.ID] = true
					assert.NotEmpty(t, r.List)
					assert.NotEmpty(t, r.Title)
					assert.Equal(t, r.Applies != nil, r.AppliesWhy != "", r.ID)
				}
				require.LessOrEqual(t, len(c.StartWith), 4)
				if res != "host" && c.Cause.Confidence != "high" && !slices.ContainsFunc(c.Proposals, func(p Proposal) bool { return len(p.Remedies) == 0 }) {
					// a list may have nothing against a cause that is sure or that brings its own fixes, and only Slurm's limits
					require.NotEmpty(t, c.StartWith, "%s %s %s", fw, phase, res)
				}
				for _, id := range c.StartWith {
					r := pick(t, c, id)
					assert.False(t, r.Applies != nil && !*r.Applies, id)
				}
			}
		}
	}
}

func TestGuideIsChosenByFrameworkAndPhase(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		framework, phase, title, first string
	}{
		{"verl", "backward", "verl: backward pass", "verl.gradient-checkpointing"},
		{"verl", "forward", "verl: forward pass", "verl.actor.micro-batch-size"},
		{"verl", "rollout", "verl: rollout and inference", "verl.rollout.gpu-memory-utilization"},
		{"verl", "optimizer", "verl: optimizer step", "verl.offload.megatron"},
		{"verl", "logprob", "verl: log-probability pass", "verl.logprob.rollout-micro-batch"},
		{"verl", "training", "verl: summary checklist", "verl.actor.micro-batch-size"},
		{"verl", "unknown", "verl: summary checklist", "verl.actor.micro-batch-size"},
		{"areal", "rollout", "AReaL: generation", "areal.generation.max-concurrent-rollouts"},
		{"areal", "backward", "AReaL: training", "areal.training.max-tokens-per-mb"},
		{"areal", "weight_update", "AReaL: weight update", "areal.weight-update.disk"},
		{"relax", "forward", "Relax: training forward pass", "relax.recompute"},
		{"relax", "logprob", "Relax: log-probabilities", "relax.log-probs-max-tokens"},
		{"relax", "weight_update", "Relax: weight synchronization", "relax.update-weight-buffer"},
		{"relax", "nccl", "Relax: NCCL communication", "relax.cuda-memory-check"},
		{"relax", "unknown", "Relax: common solutions", "relax.recompute"},
		{"nemo_rl", "weight_update", "NeMo-RL: refit", "nemo-rl.refit-buffer"},
		{"unknown", "forward", "PyTorch: GPU memory", "torch.batch"},
	} {
		c := For(run(test.framework), gpuOOM(test.phase))
		assert.True(t, strings.HasPrefix(c.Title, test.title), "%s %s: %s", test.framework, test.phase, c.Title)
		assert.Equal(t, test.first, c.Remedies[0].ID, "%s %s", test.framework, test.phase)
	}
}

func TestGeneralListFollowsUnderItsOwnHeading(t *testing.T) {
	t.Parallel()
	c := For(run("verl"), gpuOOM("backward"))
	var headings []string
	for _, r := range c.Remedies {
		if len(headings) == 0 || headings[len(headings)-1] != r.List {
			headings = append(headings, r.List)
		}
	}
	assert.Equal(t, []string{"verl, backward pass", "verl, summary checklist", "field note, changes made and further options", "PyTorch, the card and the allocator"}, headings)
}

func TestEngineInsideAFrameworkAddsItsOwnList(t *testing.T) {
	t.Parallel()
	r := run("verl", "actor_rollout_ref.rollout.max_num_batched_tokens", "8192")
	r.Engine = "vllm"
	c := For(r, gpuOOM("rollout"))
	assert.Equal(t, "vLLM, conserving memory", pick(t, c, "vllm.quantization").List)
	for _, x := range c.Remedies {
		assert.NotEqual(t, "vllm.tensor-parallel", x.ID, "verl's own list has it")
	}
}

func TestHostListFollowsWhoEnforcedTheLimit(t *testing.T) {
	t.Parallel()
	kill := func(pattern string) *classifier.Incident {
		return &classifier.Incident{Kind: parser.OOMKill, Resource: "host", Phase: "rollout", Root: classifier.Root{Pattern: pattern}}
	}
	ray := For(run("verl"), kill("ray.raylet_sum"))
	assert.Equal(t, "verl.host.tcmalloc", ray.Remedies[0].ID)
	assert.Contains(t, ray.StartWith, "ray-memory.request")

	slurm := For(run("verl"), kill("slurm.oom_kill"))
	assert.Contains(t, slurm.StartWith, "slurm-host.mem")

	k8s := run("torch")
	k8s.Launcher = "k8s"
	assert.Equal(t, "kubernetes.limit", For(k8s, kill("kubernetes.oom_killed")).StartWith[0])

	underRay := run("verl")
	underRay.Launcher, underRay.Scheduler = "ray", "slurm"
	assert.NotEmpty(t, pick(t, For(underRay, kill("kernel.killed")), "slurm-host.mem"), "Slurm stands behind Ray")

	limited := func(gib float64) *classifier.Incident {
		in := kill("ray.raylet_sum")
		in.Root.Limit = gibs(gib)
		return in
	}
	assert.NotContains(t, For(underRay, limited(320)).StartWith, "ray-memory.request", "the job requested 320 GiB")
	assert.Contains(t, For(underRay, limited(1007.5)).StartWith, "ray-memory.request", "the machine has no more")
}

func TestNoSchedulerIsAdvisedWhereAnotherGivesTheMemory(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, scheduler, guide string }{
		{"a pod's group under Slurm's words", "oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/kubepods/burstable/pod1/c0,task=python", "slurm", "kubernetes"},
		{"a container", "oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/docker/4f1c,task=python", "", "docker"},
		{"PBS", "=>> PBS: job killed: mem 2kb exceeded limit 1kb", "pbs", "pbs"},
		{"LSF", "TERM_MEMLIMIT: job killed", "lsf", "lsf"},
		{"HTCondor", "Job has gone over cgroup memory limit", "condor", "condor"},
		{"nobody known", "Memory cgroup out of memory: Killed process 1 (python)", "", "host"},
	} {
		in := &classifier.Incident{Kind: parser.OOMKill, Resource: "host", Phase: "training", Root: classifier.Root{Pattern: "kernel.killed", Message: test.text}}
		for _, r := range For(&classifier.Run{Framework: "torch", Scheduler: test.scheduler}, in).Remedies {
			assert.True(t, strings.HasPrefix(r.ID, test.guide+"."), "%s: %s", test.name, r.ID)
		}
	}
}

func TestALimitIsNotRaisedWhereTheMachineWasFull(t *testing.T) {
	t.Parallel()
	full := "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/slurm/uid_1/job_2/step_0,task=python"
	in := &classifier.Incident{Kind: parser.OOMKill, Resource: "host", Root: classifier.Root{Pattern: "kernel.killed", Message: full}}
	c := For(&classifier.Run{Framework: "torch", Scheduler: "slurm"}, in)
	assert.NotContains(t, c.StartWith, "slurm-host.mem")
	assert.Contains(t, c.StartWith, "slurm-host.node")
}

func TestPyTorchIsAdvisedOnlyWhereItsAllocatorSpoke(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		application, framework, pattern string
		torch                           bool
	}{
		{"hf_trainer", "torch", "torch.oom.of_which", true},
		{"tgi", "torch", "torch.oom.of_which", true},
		{"trtllm", "torch", "torch.oom.of_which", true},
		{"trtllm", "unknown", "tensorrt.requested", false},
		{"llamacpp", "unknown", "ggml.malloc", false},
		{"ollama", "torch", "cuda.error", false},
		{"tensorflow", "unknown", "tf.tensor", false},
		{"", "jax", "xla.exhausted", false},
		{"", "unknown", "rmm.pool", false},
		{"", "unknown", "torch.oom.of_which", true},
	} {
		in := recognized(test.pattern, gpuOOM("forward"))
		c := For(&classifier.Run{Framework: test.framework, Application: test.application}, in)
		require.NotEmpty(t, c.Remedies)
		has := slices.ContainsFunc(c.Remedies, func(r Remedy) bool { return strings.HasPrefix(r.ID, "torch.") })
		assert.Equal(t, test.torch, has, "%+v", test)
	}
}

func TestSegmentsAreNotLetGrowWhereTheyCannot(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		run  *classifier.Run
		text string
	}{
		{"before PyTorch 2.1", run("torch"), "9.2 GiB reserved in total by PyTorch"},
		{"cudaMallocAsync", run("torch"), "Allocation on device 0 would exceed allowed memory"},
		{"axolotl switches it on itself", &classifier.Run{Framework: "torch", Application: "axolotl"}, ""},
	} {
		in := with(gpuOOM("backward"), func(r *classifier.Root) {
			r.Requested, r.Free, r.Total, r.ReservedUnallocated, r.Message = gibs(2), gibs(1), gibs(40), gibs(8), test.text
		})
		c := For(test.run, in)
		r := pick(t, c, "torch.card.expandable-segments")
		require.NotNil(t, r.Applies, test.name)
		assert.False(t, *r.Applies, "%s: %s", test.name, r.AppliesWhy)
		split := pick(t, c, "torch.card.max-split-size")
		assert.Equal(t, test.name == "cudaMallocAsync", split.Applies != nil && !*split.Applies, "%s: %s", test.name, split.AppliesWhy)
	}
}

func TestApplies(t *testing.T) {
	t.Parallel()
	const (
		actor   = "actor_rollout_ref.actor."
		rollout = "actor_rollout_ref.rollout."
	)
	backend := func(r *classifier.Run, b string) *classifier.Run { r.Backend = b; return r }
	engine := func(r *classifier.Run, e, version string) *classifier.Run {
		r.Engine, r.FrameworkVersion = e, version
		return r
	}
	fragmented := func() *classifier.Incident {
		return with(gpuOOM("backward"), func(r *classifier.Root) {
			r.Requested, r.Free, r.Total, r.ReservedUnallocated, r.ProcessBytes = gibs(2), gibs(1.1), gibs(79.15), gibs(8.4), gibs(78)
		})
	}
	kv := func(msg string) *classifier.Incident {
		return &classifier.Incident{Kind: parser.KVCache, Resource: "gpu", Phase: "init", Root: classifier.Root{Message: msg}}
	}
	critic := with(gpuOOM("backward"), func(r *classifier.Root) {
		r.Trace = &traceback.Trace{Origin: &traceback.Origin{Actor: "WorkerDict", Method: "critic_update_critic"}}
	})
	for _, test := range []struct {
		name string
		run  *classifier.Run
		in   *classifier.Incident
		id   string
		want truth
		why  string
	}{
		{"already so", run("verl", "actor_rollout_ref.model.enable_gradient_checkpointing", "True"), gpuOOM("backward"), "verl.gradient-checkpointing", no, "train.log:1"},
		{"can still move", run("verl", "actor_rollout_ref.model.enable_gradient_checkpointing", "False"), gpuOOM("backward"), "verl.gradient-checkpointing", yes, "False"},
		{"so by default", run("verl"), gpuOOM("backward"), "verl.gradient-checkpointing", no, "True by default"},
		{"nobody knows", run("verl"), gpuOOM("backward"), "verl.activation-offload", unknown, ""},
		{"FSDP only", backend(run("verl"), "megatron"), gpuOOM("backward"), "verl.activation-offload", no, "megatron"},
		{"Megatron only", backend(run("verl"), "fsdp2"), gpuOOM("backward"), "verl.recompute-megatron", no, "fsdp2"},
		{"at its bound", run("verl", actor+"ppo_micro_batch_size_per_gpu", "1"), gpuOOM("backward"), "verl.actor.micro-batch-size", no, "1 already"},
		{
			"samples under dynamic batching", run("verl", actor+"use_dynamic_bsz", "True", actor+"ppo_micro_batch_size_per_gpu", "8"), gpuOOM("backward"),
			"verl.actor.micro-batch-size", no, "use_dynamic_bsz",
		},
		{"tokens without it", run("verl", actor+"use_dynamic_bsz", "False", actor+"ppo_max_token_len_per_gpu", "16384"), gpuOOM("backward"), "verl.actor.max-token-len", no, "use_dynamic_bsz"},
		{"host advice for a GPU failure", run("verl"), gpuOOM("training"), "verl.host.tcmalloc", no, "host"},
		{"the backuper for a GPU failure", run("relax"), gpuOOM("weight_update"), "relax.no-weights-backuper", no, "host"},
		{"the backuper for a host failure", run("relax"), &classifier.Incident{Kind: parser.HostOOM, Resource: "host"}, "relax.no-weights-backuper", unknown, ""},
		{"a batch that does not move the peak", run("verl", "data.train_batch_size", "1024"), gpuOOM("backward"), "field-note.train-batch-size", no, "peak"},
		{"another phase's lever", run("relax", "update_weight_buffer_size", "536870912"), gpuOOM("backward"), "relax.update-weight-buffer", no, "weight update"},
		{"an unrefined training step may be any of its parts", run("relax"), gpuOOM("training"), "relax.log-probs-chunk-size", unknown, ""},
		{"fragmentation", run("torch"), fragmented(), "torch.card.expandable-segments", yes, "8.40 GiB"},
		{
			"vLLM's sleep mode refuses expandable segments", engine(run("verl", rollout+"free_cache_engine", "True"), "vllm", "0.5.0"), fragmented(),
			"torch.card.expandable-segments", no, "sleep mode",
		},
		{
			"not once the engine has a process of its own", engine(run("verl", rollout+"free_cache_engine", "True"), "vllm", "0.7.1"), fragmented(),
			"torch.card.expandable-segments", yes, "8.40 GiB",
		},
		{"torch_memory_saver refuses them too", run("slime", "offload_train", "True"), fragmented(), "torch.card.expandable-segments", no, "torch_memory_saver"},
		{"so it does for a trainer that shares the engine's cards", backend(run("slime", "--colocate", "True"), "megatron"), fragmented(), "torch.card.expandable-segments", no, "torch_memory_saver"},
		{"unless it stays on the card", backend(run("slime", "--colocate", "True", "--offload-train", "False"), "megatron"), fragmented(), "torch.card.expandable-segments", yes, "8.40 GiB"},
		{"a role that did not fail", run("verl", actor+"ppo_micro_batch_size_per_gpu", "8"), critic, "verl.actor.micro-batch-size", no, "critic"},
		{"the role that failed", run("verl", "critic.ppo_micro_batch_size_per_gpu", "8"), critic, "verl.critic.micro-batch-size", yes, "8"},
		{"more cache, not less", run("verl", rollout+"gpu_memory_utilization", "0.5"), kv("No available memory for the cache blocks"), "verl.rollout.gpu-memory-utilization-up", yes, "KV cache"},
		{"and the summary's smaller share would make it worse", run("trl", "vllm_gpu_memory_utilization", "0.3"), kv("No available memory for the cache blocks"), "trl.vllm-utilization", no, "KV cache"},
		{
			"a request beyond the card", run("verl", actor+"fsdp_config.param_offload", "False"),
			with(gpuOOM("weight_update"), func(r *classifier.Root) { r.Requested, r.Total = gibs(100), gibs(80) }), "verl.offload.fsdp", no, "freeing memory cannot help",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := pick(t, For(test.run, test.in), test.id)
			got := unknown
			if r.Applies != nil {
				got = truthOf(*r.Applies)
			}
			assert.Equal(t, test.want, got, r.AppliesWhy)
			assert.Contains(t, r.AppliesWhy, test.why)
		})
	}
}

func TestStartWith(t *testing.T) {
	t.Parallel()
	t.Run("another process on the card comes before batches", func(t *testing.T) {
		t.Parallel()
		in := with(gpuOOM("backward"), func(r *classifier.Root) {
			r.Requested, r.Free, r.Total, r.ProcessBytes, r.OtherProcesses = gibs(1), gibs(.31), gibs(79.15), gibs(41), gibs(37.6)
		})
		c := For(run("torch", "--batch-size", "8"), in)
		assert.Equal(t, "torch.card.others", c.StartWith[0])
		assert.Contains(t, pick(t, c, "torch.card.others").AppliesWhy, "37.60 GiB")
	})
	t.Run("a lone process that lists itself is no other", func(t *testing.T) {
		t.Parallel()
		in := with(gpuOOM("backward"), func(r *classifier.Root) {
			r.Requested, r.Free, r.Total, r.OtherProcesses = gibs(1), gibs(.31), gibs(79.15), gibs(78)
		})
		assert.NotContains(t, For(run("torch", "--batch-size", "8"), in).StartWith, "torch.card.others")
	})
	t.Run("what is off and known comes before what nobody knows", func(t *testing.T) {
		t.Parallel()
		c := For(run("verl", "actor_rollout_ref.model.enable_gradient_checkpointing", "False", "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", "8"), gpuOOM("backward"))
		assert.Equal(t, []string{"verl.gradient-checkpointing", "verl.actor.micro-batch-size"}, c.StartWith)
	})
	t.Run("logits point to the fused head", func(t *testing.T) {
		t.Parallel()
		in := with(gpuOOM("logprob"), func(r *classifier.Root) {
			r.Trace = &traceback.Trace{Frames: []traceback.Frame{{File: "verl/workers/actor/dp_actor.py", Func: "compute_log_prob"}, {File: "verl/utils/torch_functional.py", Func: "logprobs_from_logits"}}}
		})
		c := For(run("verl", "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu", "16"), in)
		assert.Contains(t, c.StartWith, "verl.fused-kernels")
		assert.Contains(t, c.StartWith, "verl.logprob.rollout-micro-batch")
	})
	t.Run("nothing known: the head of the phase's list", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, []string{"areal.training.gradient-checkpointing", "areal.training.max-tokens-per-mb"}, For(run("areal"), gpuOOM("training")).StartWith)
	})
}

func TestSnippetsSpeakTheUsersDialect(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		key, to, syntax string
		plus            bool
		want            string
	}{
		{"a.b.c", "4", "hydra", false, "a.b.c=4"},
		{"a.b", "full", "hydra", true, "+a.b=full"},
		{"a.b", "[1,2]", "hydra", false, "'a.b=[1,2]'"},
		{"sglang.mem_fraction_static", "0.8", "yaml", false, "sglang:\n  mem_fraction_static: 0.8"},
		{"actor.backend", "fsdp:d2c2", "yaml", false, "actor:\n  backend: \"fsdp:d2c2\""},
		{"--max-tokens-per-gpu", "8192", "flag", false, "--max-tokens-per-gpu 8192"},
		{"--recompute-loss-function", "True", "flag", false, "--recompute-loss-function"},
		{"--use-dynamic-batch-size", "False", "flag", false, "# remove --use-dynamic-batch-size"},
		{"--mem", "192G", "sbatch", false, "#SBATCH --mem=192G"},
		{"mem", "192gb", "qsub", false, "#PBS -l mem=192gb"},
		{"-M", "96GB", "bsub", false, "#BSUB -M 96GB"},
		{"NCCL_BUFFSIZE", "1048576", "env", false, "export NCCL_BUFFSIZE=1048576"},
		{"weight_chunked_mem_mb", "512", "python", false, "weight_chunked_mem_mb = 512"},
		{"model.set_grad_checkpointing()", "True", "python", false, "model.set_grad_checkpointing()"},
	} {
		assert.Equal(t, test.want, snippet(&Change{Key: test.key, To: &test.to, Syntax: test.syntax}, test.plus))
	}
}

func TestAllocatorSettingsAreMerged(t *testing.T) {
	t.Parallel()
	in := with(gpuOOM("backward"), func(r *classifier.Root) {
		r.Requested, r.Free, r.Total, r.ReservedUnallocated = gibs(2), gibs(1), gibs(79), gibs(8)
	})
	c := For(run("torch", "PYTORCH_CUDA_ALLOC_CONF", "garbage_collection_threshold:0.8"), in)
	assert.Equal(t, "garbage_collection_threshold:0.8,expandable_segments:True", toOf(pick(t, c, "torch.card.expandable-segments"), "PYTORCH_CUDA_ALLOC_CONF"))
	c = For(run("torch", "PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"), in)
	assert.False(t, *pick(t, c, "torch.card.expandable-segments").Applies)
}

func TestCorrectionsOfAGuideStandInTheGuideAlone(t *testing.T) {
	t.Parallel()
	r := pick(t, For(run("verl"), gpuOOM("optimizer")), "verl.offload.fsdp")
	assert.NotContains(t, r.Caution, "In fact")
	assert.Equal(t, "verl", *r.Source.Guide)
	assert.Empty(t, pick(t, For(run("verl"), gpuOOM("forward")), "verl.fused-kernels").Source.Guide, "the guide does not have it")
}

func TestNothingPanics(t *testing.T) {
	t.Parallel()
	assert.NotEmpty(t, For(&classifier.Run{}, gpuOOM("")).Remedies)
	assert.NotEmpty(t, For(&classifier.Run{}, &classifier.Incident{}).Remedies)
	assert.Empty(t, For(run("verl"), &classifier.Incident{Kind: parser.IllegalAccess}).Remedies)
}

func FuzzFor(f *testing.F) {
	f.Add("verl", "backward", "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", "8", "CUDA out of memory", int64(5), int64(4))
	f.Add("areal", "rollout", "allocation_mode", "sglang.d4p1t2+d8", "Prefill out of memory", int64(-1), int64(0))
	f.Add("vllm", "init", "--max-model-len", "1e18", "estimated maximum model length is 99999999999", int64(1<<62), int64(1))
	f.Add("slurm", "data", "--mem", "9999999999T", "oom_kill event", int64(0), int64(0))
	f.Fuzz(func(t *testing.T, framework, phase, key, value, msg string, asked, free int64) {
		r := run(framework, key, value, "trainer.n_gpus_per_node", value, "trainer.nnodes", value, "actor_rollout_ref.actor.ppo_mini_batch_size", value)
		for _, kind := range []parser.Kind{parser.GPUOOM, parser.KVCache, parser.OOMKill} {
			in := &classifier.Incident{Kind: kind, Phase: phase, Root: classifier.Root{Message: msg, Requested: &asked, Free: &free, Total: &asked, Limit: &free}}
			for _, x := range For(r, in).Remedies {
				for _, c := range x.Changes {
					if c.From != nil && c.To != nil {
						require.NotEqual(t, *c.From, *c.To, x.ID)
					}
				}
			}
		}
	})
}

func BenchmarkFor(b *testing.B) {
	r := run("verl", "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", "8")
	for i := range 400 {
		r.Config["some.group."+strings.Repeat("x", i%40)+".key"+string(rune('a'+i%26))] = classifier.Value{Value: "1"}
	}
	in := gpuOOM("backward")
	For(r, in)
	for b.Loop() {
		For(r, in)
	}
}

func BenchmarkDecode(b *testing.B) {
	text, err := files.ReadFile("guides/verl.yaml")
	require.NoError(b, err)
	for b.Loop() {
		require.NoError(b, decodeYAML("guides/verl.yaml", text, &Guide{}))
	}
}

func TestBothNamesAreToldWhenNobodyKnowsTheVersion(t *testing.T) {
	t.Parallel()
	const name = "actor_rollout_ref.actor.ulysses_sequence_parallel_size (up to 0.7)"
	caution := func(r *classifier.Run) string { return pick(t, For(r, gpuOOM("forward")), "verl.ulysses").Caution }
	assert.Contains(t, caution(run("verl")), name)
	old := run("verl")
	old.FrameworkVersion = "0.6.1"
	assert.NotContains(t, caution(old), name, "the version decides")
	assert.NotContains(t, caution(run("verl", "actor_rollout_ref.actor.ulysses_sequence_parallel_size", "1")), name, "the log's own name decides")
}
