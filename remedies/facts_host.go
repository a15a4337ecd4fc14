package remedies

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/remedies/cause"
)

// nodeFull reports whether the kernel found the whole machine full, so there is no limit to raise (mm/oom_kill.c,
// dump_oom_summary). Kernels 5.0 and 5.1 print CONSTRAINT_NONE for groups, too, so the group's name decides.
func nodeFull(ctx *Context, _ string) verdict {
	const full = "the machine itself was full, no limit of the job was reached"
	switch {
	case ctx.messageContains("oom_memcg=", "memory cgroup out of memory"):
		return verdict{no, "a control group reached its limit"}
	case ctx.is("memory_policy"):
		return verdict{no, ctx.holds("memory_policy").why}
	case ctx.incident.Kill.Limit == "node", ctx.messageContains("global_oom"), evicted.seen(ctx), ctx.recognisedAs("kernel.") && ctx.messageContains("out of memory: kill"):
		return verdict{yes, full}
	}
	return verdict{}
}

// compilers are the processes that a build runs side by side: CUDA's, C++'s and Rust's compilers.
var compilers = []string{"cicc", "cudafe++", "nvcc", "ptxas", "cc1plus", "clang++", "hipcc", "rustc"}

// compiling reports whether a compiler was killed. A kernel library that is built when a program starts, or installed, runs one for each
// processor unless MAX_JOBS says otherwise (torch/utils/cpp_extension.py).
func compiling(ctx *Context, _ string) verdict {
	if ctx.incident.Kind != parser.OOMKill || !slices.Contains(compilers, ctx.root.Process) {
		return verdict{}
	}
	return verdict{yes, ctx.root.Process + " is a compiler: a build runs many at once, and together they fill host RAM"}
}

func cgroup(ctx *Context, _ string) verdict {
	for _, other := range []string{"node_full", "memory_policy"} {
		if v := ctx.holds(other); v.truth == yes {
			return verdict{no, v.why}
		}
	}
	if limitReached.seen(ctx) {
		return verdict{yes, "a memory limit of the job was reached"}
	}
	if ctx.incident.Kind == parser.OOMKill && ctx.root.Limit != nil && !ctx.is("ray_monitor") {
		return verdict{yes, "a limit of " + classifier.GiB(*ctx.root.Limit) + " was reached"}
	}
	return verdict{}
}

// requestedLimit reports whether the memory that Ray counts is what a Slurm job requested: a whole number of GiB, as no machine has.
func requestedLimit(ctx *Context, _ string) verdict {
	limit := ctx.root.Limit
	if ctx.run.Scheduler != "slurm" || limit == nil || !ctx.is("ray_monitor") {
		return verdict{}
	}
	return stated(*limit%(1<<30) == 0, classifier.GiB(*limit)+" is what the job requested", classifier.GiB(*limit)+" is no whole number of GiB, as a job requests")
}

// copiesTooLarge reports whether the ranks of a node, each with a copy of the weights in 16 bits, need more than the memory that was
// there: no smaller type helps then.
func copiesTooLarge(ctx *Context, _ string) verdict {
	n, limit := copiesOfWeights(ctx), hostLimit(ctx)
	if n == 0 || limit == nil {
		return verdict{}
	}
	return verdict{truthOf(n > *limit), "the ranks' copies of the weights do not fit in 16 bits either"}
}

// copiesFarTooLarge reports whether those copies need more than the next limit that would be tried.
func copiesFarTooLarge(ctx *Context, _ string) verdict {
	limit := deref(hostLimit(ctx))
	return verdict{truthOf(limit > 0 && limit < 1<<60 && copiesOfWeights(ctx) > limit+limit/2), "the ranks' copies of the weights need far more"}
}

// weightsExceedLimit says that one copy of the weights, without a second one beside it, is more than the limit.
func weightsExceedLimit(q *question) string {
	limit, p := hostLimit(q.Context), nominalParameters(q.Context).Value
	once := slices.ContainsFunc(q.changes, func(c change) bool { return strings.HasSuffix(c.Key, "low_cpu_mem_usage") })
	if ranks, _ := q.gpus(); !once || limit == nil || perNode(q.Context, ranks) > 1 || !q.is("sixteen_bits") || p <= 0 || p > mostParameters || 2*p <= *limit {
		return ""
	}
	return fmt.Sprintf("one copy of the weights takes %s, and the limit is %s", classifier.GiB(2*p), classifier.GiB(*limit))
}

// copiesOfWeights returns what the ranks of a node need for a copy of the weights each, in 16 bits; 0 if that is unknown.
func copiesOfWeights(ctx *Context) int64 {
	const process = 2 << 30
	ranks, _ := ctx.gpus()
	n, p := perNode(ctx, ranks), nominalParameters(ctx).Value
	if p <= 0 || p > mostParameters {
		return 0
	}
	if limit := hostLimit(ctx); n < 2 && limit != nil && *limit < 2*p+process && (*limit < p || *limit > 2*p || ctx.is("sixteen_bits")) { // half of them, or hardly more
		return 2*p + process
	} else if n < 2 {
		return 0
	}
	if n > 1<<10 {
		return 0
	}
	return 2 * p * n
}

// workersIdle returns why processes that load or prepare data are not what filled host memory, or "". Without a sign of them in the
// failure it may as well be weights, a checkpoint or the training process.
func workersIdle(ctx *Context, changes []change) string {
	in := ctx.input()
	loader := func(c change) bool {
		key := settingOf(c.Key)
		return key == "workers" || strings.HasSuffix(key, "num_workers") // others are pools of their own
	}
	switch {
	case ctx.is("caching_images"):
		return ctx.holds("caching_images").why
	case ctx.is("windows"), ctx.is("mapping"): // on Windows each process starts with a copy of what is kept
		return ""
	case cause.KeepsData(in) != "":
		return cause.KeepsData(in)
	case dataLoader.seen(ctx), ctx.passesThrough("/utils/data/"), cause.HelpersHold(in) != "", cause.LoadersHold(in) != "":
		return ""
	case cause.RanksHold(in) != "":
		return cause.RanksHold(in)
	case len(changes) == 0 && ctx.phase == "data":
		return ""
	case len(changes) == 0:
		return "the log shows no process that loads data"
	case slices.ContainsFunc(changes, loader) && cause.ManyWorkers(in) == "":
		return "few processes load data, and none of them is known to have failed"
	}
	return ""
}

// ollamaLimited reports whether Ollama ran under a limit of its pod, container or job. Its own check sees the memory of the node where its
// version does not read the limit (discover/cpu_linux.go).
func ollamaLimited(ctx *Context, _ string) verdict {
	limited := ctx.run.Application == "ollama" && (ctx.is("launcher:k8s") || ctx.is("cgroup"))
	return stated(limited, "Ollama runs under a limit, and its check sees the node", "Ollama is not known to run under a limit")
}

// hostFacts are those of host memory and of what prepares data there.
func hostFacts() map[string]fact {
	return map[string]fact{
		"ray_monitor":          {"Ray's memory monitor ended a worker", "not when Ray's memory monitor ended the worker", rayMonitor.ask},
		"evicted":              {"the kubelet evicted the pod", "not when the kubelet evicted the pod", evicted.ask},
		"copies_too_large":     {"one copy of the weights for each rank exceeds the node's memory, in 16 bits, too", "the ranks' copies of the weights fit in 16 bits", copiesTooLarge},
		"copies_far_too_large": {"one copy of the weights for each rank needs far more than the node's memory", "the ranks' copies of the weights need no more than a larger limit", copiesFarTooLarge},
		"virtual_machine": {"a virtual machine of Docker Desktop, WSL or Colima was full", "not a virtual machine of Docker Desktop, WSL or Colima", func(ctx *Context, _ string) verdict {
			v := read(ctx, "kernel.virtual", "the virtual machine's memory is a setting")
			full := ctx.is("node_full") || ctx.recognized("ollama.system_memory")
			return verdict{truthOf(v.truth == yes && full), cmp.Or(v.why, "no such virtual machine")}
		}},
		"by_shell": {"a shell started a job script, not Slurm", "not a job script that a shell started", func(ctx *Context, _ string) verdict {
			script := slices.ContainsFunc(slices.Collect(maps.Values(ctx.run.Config)), func(v classifier.Value) bool { return v.Form == "sbatch" })
			return verdict{truthOf(script && ctx.messageContains("task_memcg=/user.slice/")), "the killed process is of a login session, and the script has #SBATCH lines"}
		}},
		"model_instances": {"Triton began several instances of the model on the card", "not several instances of one model on the card", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(instances(ctx) > 1), "Triton began several instances of the model"}
		}},
		"memory_policy": {"a memory policy bound the process to some of the machine's memory", "no memory policy bound the process", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(ctx.messageContains(cause.MemoryPolicy)), "a memory policy bound the process to NUMA nodes that were full, others of the machine may not be"}
		}},
		"roomy_node": {"the node has far more than the job's limit", "the node is not known to have far more than the job's limit", func(ctx *Context, _ string) verdict {
			node, limit := deref(nodeRAM(ctx)), deref(ctx.input().HostLimit)
			return verdict{truthOf(ctx.is("cgroup") && limit > 0 && limit <= node/2), fmt.Sprintf("the node has %s, the job's limit is %s", classifier.GiB(node), classifier.GiB(limit))}
		}},
		"node_full": {"the machine itself was full", "a limit was reached, the machine was not full", nodeFull},
		"cgroup":    {"a memory limit of the job was reached", "no memory limit of the job was reached", cgroup},
		"keeps_results": {"Ultralytics keeps the results of all frames", "no results of frames are known to be kept", func(ctx *Context, _ string) verdict {
			return read(ctx, "ultralytics.accumulates", "Ultralytics warned that the results of all frames stay in host memory")
		}},
		"roomy_card": {"a card of 12 GB or more", "a card of less than 12 GB, or of unknown size", func(ctx *Context, _ string) verdict {
			const roomy = 11 << 30 // a card of 12 GB has a little less than 12 GiB
			g, ok := lastReading(ctx.run, "comfyui.memory")
			total, _ := g.Fields.Int("total")
			return stated(ok && total >= roomy, "the card has "+classifier.GiB(total), "the card may not hold all models")
		}},
		"pins_models": {"mmgp pinned models in host memory, and the driver had no more", "no models are known to be pinned in host memory", found(cause.PinsModels, "no models are known to be pinned in host memory")},
		"alike_trials": {"trials of Ray Tune held about as much each", "no trials of Ray Tune are known to have held the same", func(ctx *Context, _ string) verdict {
			why := cause.Copies(ctx.input())
			return verdict{truthOf(why != "" && ctx.is("held_by:implicitfunc")), "the trials hold about as much each, as copies of the same data do"}
		}},
		"reads_whole": {"a whole model was read into host memory", "not while a whole model was read", func(ctx *Context, _ string) verdict {
			byTensor := ctx.is("set:lazy_load_tensors") || ctx.is("set:lazy_unpickle") // a converter's options
			return verdict{truthOf(readsShards(ctx) && !byTensor), "a whole model was read into host memory"}
		}},
		"prepared":  {"the data was prepared before", "not known to be past the preparation of the data", prepared},
		"mapping":   {"it failed in Dataset.map", "not in Dataset.map", mapping},
		"compiling": {"a compiler was killed", "no compiler was killed", compiling},
		"loads_dataset": {"it failed in load_dataset", "not in load_dataset", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(loadsDataset(ctx)), "it failed in load_dataset, whose processes each hold what they read of a file"}
		}},
		"data_workers":    {"it failed in data loading", "not in data loading", dataWorkers},
		"augmenters_gone": {"a process that augments nnU-Net's data was killed", "no process is known to augment nnU-Net's data", augmentersGone},
		"exporters_gone":  {"a process that writes nnU-Net's predictions was killed", "no process is known to write nnU-Net's predictions", exportersGone},
		"object_store":    {"Ray's object store is full", "Ray's object store is not full", objectStore.ask},
		"pin_memory":      {"pinned host memory was requested", "no pinned host memory was requested", pinned.ask},
		"python_shm":      {"a segment that Python shares between processes was refused", "not such a segment", pythonSegment.ask},
		"nccl_shm":        {"NCCL could not get a shared memory segment", "not NCCL's shared memory", ncclSegment.ask},
		"megatron_model": {"Megatron made the model", "Megatron is not known to have made the model", func(ctx *Context, _ string) verdict {
			return read(ctx, "megatron.parameters", "Megatron makes the model itself, which from_pretrained does not load")
		}},
		"web_server": {"a web server of another program than an engine", "not a web server of another program", func(ctx *Context, _ string) verdict {
			if ctx.is("engine_process") || trains(ctx) || ctx.run.LastStep != nil { // a trainer's reward may be served beside it
				return verdict{}
			}
			if h := ctx.input().Holders; len(h) > 0 && strings.HasPrefix(h[0].Name, "ray::") {
				return verdict{no, "Ray's workers hold more than the web server"}
			}
			return read(ctx, "web.worker", "it is a web server's process")
		}},
		"kept_on_cards": {"what a training keeps lies on its cards", "what a training keeps may lie in host memory", func(ctx *Context, _ string) verdict {
			rl := ctx.run.Engine != "" || ctx.run.Application == "prime_rl" || programOf(ctx.run).Colocate
			return verdict{truthOf(ctx.resource == "host" && rl), "the models train on GPUs: what they keep from step to step is there"}
		}},
		"full_state": {"a checkpoint was being gathered", "no checkpoint was being put together", fullState},
	}
}

// readsShards reports whether host memory ran out while a checkpoint of several files was read (transformers/modeling_utils.py).
func readsShards(ctx *Context) bool {
	return ctx.resource == "host" && strings.Contains(strings.ToLower(ctx.incident.PhaseWhy), "checkpoint shards")
}

// prepared reports whether a trainer was past the preparation of its data set: it took steps, or its data loader ran, which reads what was
// prepared.
func prepared(ctx *Context, _ string) verdict {
	const why = "the data was prepared before training began"
	steps := ctx.run.LastStep != nil && *ctx.run.LastStep > 0
	trains := slices.Contains([]string{"training", "forward", "backward", "optimizer", "checkpoint"}, ctx.phase)
	loads := ctx.passesThrough("/utils/data/dataloader.py") || dataLoader.seen(ctx)
	if steps || trains || loads {
		return verdict{yes, why}
	}
	return verdict{}
}

// workersGone reports whether host memory ran out and nnU-Net said in these words that a process of a pool is gone.
func workersGone(words, why string) func(*Context, string) verdict {
	return func(ctx *Context, _ string) verdict {
		gone := slices.ContainsFunc(ctx.incident.Consequences, func(c classifier.Consequence) bool { return strings.Contains(c.Message, words) })
		if !gone || ctx.resource != "host" {
			return verdict{}
		}
		return verdict{yes, why}
	}
}

// Its pools augment data (batchgenerators, dataloading/nondet_multi_threaded_augmenter.py), and resample and write predictions
// (nnunetv2/utilities/file_path_utilities.py).
var (
	augmentersGone = workersGone("One or more background workers are no longer alive", "a process that augments the data was killed")
	exportersGone  = workersGone("Some background workers are no longer alive", "a process that resamples and writes predictions was killed")
)
