package remedies

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/remedies/cause"
	"oomscan/remedies/memory"
)

// fact is a question about an incident in a guide's conditions.
type fact struct {
	words, negated string // what it means where no run is known that could be asked; %s is the fact's word
	ask            func(ctx *Context, word string) verdict
}

// facts maps names to facts. Facts with %s in their words take a word after a colon.
var facts map[string]fact

func init() { // facts ask conditions, and these ask facts: a variable's value may not refer to itself
	facts = map[string]fact{
		"backend":  {"the %s backend", "a backend other than %s", backend},
		"engine":   {"the %s engine", "an engine other than %s", func(ctx *Context, w string) verdict { return named(strings.ToLower(ctx.run.Engine), w, "engine") }},
		"launcher": {"started by %s", "not started by %s", launcher},
		"framework": {"the %s framework", "a framework other than %s", func(ctx *Context, w string) verdict {
			if ctx.run.Application == w {
				return verdict{yes, "the program is " + programOf(ctx.run).Name}
			}
			return named(ctx.run.Framework, w, "framework")
		}},
		"role": {"the %s fails", "not when only the %s fails", role},
		"resource": {"%s memory ran out", "not %s memory", func(ctx *Context, w string) verdict {
			return verdict{truthOf(ctx.resource == w), resourceNames([]string{ctx.resource}) + " memory ran out"}
		}},
		"phase": {"it failed in %s", "it did not fail in %s", func(ctx *Context, w string) verdict {
			if ctx.phase == "init" {
				return verdict{truthOf(ctx.phase == w), "it failed at start-up"}
			}
			return verdict{truthOf(ctx.phase == w), "it failed in " + phaseNames([]string{ctx.phase})}
		}},
		"zero0":         {"ZeRO is off", "ZeRO is on", zero0},
		"weights_stay":  {"ZeRO keeps all weights on a card that they nearly fill", "the weights leave room on the card, or are split", found(cause.WeightsStay, "the weights leave room on the card, or are split")},
		"whole_weights": {"each rank holds more weights than states", "each rank holds fewer weights than states", wholeWeights},
		"since":         {"version %s or later", "a version before %s", since},
		"before":        {"a version before %s", "version %s or later", func(ctx *Context, w string) verdict { v := since(ctx, w); return verdict{-v.truth, v.why} }},
		"dated_before": {"a log from before %s", "a log from %s or later", func(ctx *Context, w string) verdict {
			month, why := latest(ctx)
			if month == "" {
				return verdict{}
			}
			return verdict{truthOf(month < w), why + "; the setting came in " + w}
		}},
		"pattern": {"the log has the message %s", "the log does not have the message %s", func(ctx *Context, w string) verdict {
			return stated(ctx.recognized(w), "the log has the message "+w, "the log does not have the message "+w)
		}},
		"names": {"the failure names %s", "the failure does not name %s", func(ctx *Context, w string) verdict {
			return stated(ctx.messageContains(w), "the failure names "+w, "the failure does not name "+w)
		}},
		"stack": {"the stack passes through %s", "the stack does not pass through %s", func(ctx *Context, w string) verdict {
			return stated(ctx.passesThrough(w), "the stack passes through "+w, "the stack does not pass through "+w)
		}},
		"held_by": {"processes like %s held most of the node's memory", "processes like %s did not hold most of the node's memory", func(ctx *Context, w string) verdict {
			why := ctx.input().HeldBy(strings.ToLower(w))
			return verdict{truthOf(why != ""), why}
		}},
		"set":         {"%s is set", "%s is not set", isSet},
		"model_named": {"the model's name has %s", "the model's name does not have %s", modelNamed},

		"dynamic_batch":   {"micro-batches cut by tokens (dynamic batch size)", "micro-batches of a fixed number of samples", dynamicBatch},
		"other_allocator": {"an allocator other than PyTorch's", "PyTorch's allocator", otherAllocator},
		"fixed_segments":  {"PyTorch's segments cannot grow, or grow already", "PyTorch's segments can grow", fixedSegments},
		"early_torch": {"PyTorch before 1.10, whose message names no allocator settings and whose checkpoint takes no use_reentrant", "PyTorch 1.10 or later", func(ctx *Context, _ string) verdict {
			early := ctx.messageContains("ib already allocated") && !ctx.messageContains("if reserved memory is")
			return verdict{truthOf(early), "the message is one of PyTorch before 1.10"}
		}},
		"unsharded":       {"every GPU holds the whole model", "the model is split over the GPUs", unsharded},
		"offload_file":    {"a DeepSpeed configuration that offloads, by its name", "no DeepSpeed configuration that offloads, by its name", offloadFile},
		"zero3":           {"ZeRO stage 3", "a ZeRO stage below 3", zero3},
		"loading_weights": {"a trainer's weights were being read or moved to the card", "not while a trainer's weights were read", loadingWeights.ask},
		"other_cache": {"another model of this server had made its cache", "no other model's cache is known", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(cacheOfAnother(ctx) > 0), "another model of this server had made its cache"}
		}},
		"reads_engine": {"an engine was being read onto a card without caches", "no engine was being read", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(readsEngine(ctx) && cacheOfAnother(ctx) == 0), "the engine's weights alone did not fit"}
		}},
		"weights_loaded": {"the engine failed after its weights were loaded", "the engine failed while it loaded its weights", weightsLoaded},
		"data_parallel":  {"one process works with several GPUs (DataParallel)", "one process for each GPU", dataParallel},
		"packs_images":   {"the patches of several images have scores with each other", "not the scores of several images together", packsImages},
		"vision":         {"it failed in a vision tower, or in a run that measures one", "not in a vision tower", vision},
		"images":         {"it failed on images or video", "not known to have failed on images", images},
		"foreach_step":   {"the optimizer works on all parameters at once", "the optimizer works on one parameter at a time", foreachStep.ask},
		"in_no_grad":     {"gradients are off already", "gradients are on", inNoGrad},
		"growing": {"what is allocated grows from step to step", "what is allocated does not grow", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(len(ctx.run.Growth) > 0), "memory in use grows from reading to reading"}
		}},
		"climbs": {"memory in use stayed the same, and then rose each time", "memory in use did not rise each time after it had stayed the same", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(slices.ContainsFunc(ctx.run.Growth, classifier.Trend.Climbs)), "memory in use stayed the same while the model trained, and then rose each time"}
		}},
		"engine_leaks":  {"the engine's version never frees some host memory", "no version of an engine that leaks host memory", engineLeaks},
		"keeps_images":  {"vLLM keeps preprocessed images in host memory", "vLLM is not known to keep preprocessed images", keepsImages},
		"keeps_samples": {"a buffer of samples fills host memory", "no buffer of samples is known to fill host memory", found(cause.KeepsSamples, "no large buffer of samples is set")},
		"replays":       {"a buffer of samples to replay fills host memory", "no such buffer is known", found(cause.Replays, "no large buffer to replay samples from is set")},
		"outgrown":      {"workers hold far more host memory than model and states take", "workers hold no more host memory than they may need", found(cause.Outgrown, "")},
		"large_graphs": {"the CUDA graphs hold an eighth of the card and more", "the CUDA graphs are not known to hold much", func(ctx *Context, _ string) verdict {
			n := ctx.input().GraphPools
			return verdict{truthOf(n > 0 && n >= deref(ctx.root.Total)/8), "the graphs captured so far hold " + classifier.GiB(n) + ", and larger ones may follow"}
		}},
		"crops_protein":  {"samples are crops of proteins with their alignments", "samples are not known to be crops of proteins", found(cause.CropsProtein, "samples are not known to be crops of proteins")},
		"records_graphs": {"a compiled model records CUDA graphs for more and more sizes of input", "no compiled model is known to record more CUDA graphs", found(cause.RecordsGraphs, "no compiled model is known to record more CUDA graphs")},
		"trains_backbone": {"a script trains the whole network of a diffusion model", "no script is known to train the whole network of a diffusion model", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(ctx.passesThrough(backboneScripts...)), "the script trains the whole network"}
		}},
		"wide_adapters":    {"modules are trained whole beside adapters", "no modules are known to be trained whole beside adapters", found(cause.WideAdapters, "adapters alone are trained")},
		"dispatched_fills": {"layers that device_map put there fill the card", "no layers that device_map put there fill the card", found(cause.DispatchedFills, "no layers that device_map put there fill the card")},
		"host_scores":      {"the logits of all tokens are kept in host memory", "no logits of all tokens are kept in host memory", found(cause.KeepsScores, "no logits of all tokens are kept in host memory")},
		"spread_by_each":   {"each process of a node spreads its model over all cards", "no model is spread over all cards by each process", found(cause.SpreadByEach, "no model is spread over all cards by each process")},
		"cpu_pools":        {"each rank of SGLang takes its share of the whole machine's memory", "no ranks take shares of the machine's memory", found(cause.CPUPools, "no ranks take shares of the machine's memory")},
		"nvlink_sharp": {"the buffers of NVLink SHARP did not fit", "not the buffers of NVLink SHARP", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(ctx.root.Fields["method"] == "nvls"), "NCCL failed while it made the buffers of NVLink SHARP"}
		}},
		"nccl_peers": {"NCCL asked for the buffers of connections between ranks", "NCCL did not ask for the buffers of connections", ncclPeers},
		"jax_pool":   {"JAX took a pool on the same card", "no pool of JAX on the card", func(ctx *Context, _ string) verdict { return read(ctx, "xla.pool", "JAX took a pool on the card") }},
		"tf_pool": {"TensorFlow took a pool on the same card", "no pool of TensorFlow on the card", func(ctx *Context, _ string) verdict {
			return read(ctx, "tf.pool", "TensorFlow took a pool on the card")
		}},
		"slept_on_host": {"an engine moved its weights to host memory when it slept", "no engine moved its weights to host memory", func(ctx *Context, _ string) verdict {
			return read(ctx, "vllm.backed_up", "the engine moved its weights to host memory when it slept")
		}},
		"prompt_cache": {"finished prompts are kept in host memory", "no prompts are kept in host memory", func(ctx *Context, _ string) verdict {
			return read(ctx, "ggml.prompt_cache", "finished prompts are kept in host memory")
		}},
		"caches_dataset": {"MONAI keeps the dataset in host memory", "MONAI keeps no dataset in host memory", func(ctx *Context, _ string) verdict {
			return read(ctx, "monai.cache", "MONAI's CacheDataset keeps every sample in host memory")
		}},
		"caching_images": {"images were being kept in host memory", "no images were being kept in host memory", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(ctx.phase == "data" && strings.Contains(ctx.incident.PhaseWhy, "Caching images (")), "images are read into memory at the start, before a worker loads any"}
		}},
		"image_processor": {"SGLang's main process prepares images on the same card", "no images are prepared on the card", func(ctx *Context, _ string) verdict {
			why := cause.PreparesImages(ctx.input())
			return verdict{truthOf(why != ""), cmp.Or(strings.TrimPrefix(why, "; "), "no images are prepared on the card")}
		}},
		"no_flash_attention": {"Ollama cannot use flash attention", "Ollama does not say that flash attention is unsupported", func(ctx *Context, _ string) verdict {
			return read(ctx, "ollama.no_flash_attention", "Ollama says that flash attention is not supported, which a quantized cache needs")
		}},
		"unsloth_offloads": {"Unsloth's own gradient checkpointing is on", "Unsloth does not say that its own gradient checkpointing is on", func(ctx *Context, _ string) verdict {
			return read(ctx, "unsloth.offloads", "Unsloth's own gradient checkpointing is on already")
		}},
		"whole_scores": {"the compute buffer is the attention scores", "the compute buffer is not known to be the attention scores", found(cause.WholeScores, "")},
		"pair_scores":  {"XLA's largest buffers hold a score for each pair of tokens", "XLA's largest buffers are not known to hold scores", found(cause.ScoresOfXLA, "")},
		"cards_free": {"nvidia-smi shows enough free cards", "nvidia-smi does not show enough free cards", func(ctx *Context, _ string) verdict {
			to := freeCards(&paramQuery{Context: ctx, p: &Parameter{}})
			return verdict{truthOf(to.to != ""), to.how}
		}},
		"adds_adapters": {"a script loads adapters into its pipeline", "no script is known to load adapters", func(ctx *Context, _ string) verdict {
			return read(ctx, "diffusers.adapter", "the script loads adapters into its pipeline")
		}},
		"replicates":           {"the mesh holds a copy of the state on each card", "no mesh is known to hold copies of the state", found(cause.Replicates, "")},
		"ollama_limited":       {"Ollama runs under a limit of its own", "Ollama is not known to run under a limit", ollamaLimited},
		"weights_exceed_limit": {"the weights in host memory alone exceed the limit", "the weights in host memory are not known to exceed the limit", found(cause.WeightsOnHost, "")},
		"ollama_holds":         {"Ollama keeps a model on the card", "Ollama is not known to keep a model on the card", found(cause.OllamaHolds, "")},
		"other_ranks_card":     {"a rank failed on another rank's card", "no rank is known to have failed on another rank's card", found(cause.OtherRanksCard, "")},
		"another_worker":       {"another worker of the server has the card", "no other worker of the server is known to have the card", found(cause.AnotherWorker, "")},
		"uneven_split":         {"the split gives a card more than its part, and the model fits on all cards", "no split gives a card too much of a model that fits", unevenSplit},
		"cache_covers":         {"Ollama plans more for the cache than was missing", "Ollama does not plan more for the cache than was missing", cacheCovers},
		"cache_fills_card":     {"the key-value cache takes most of the card", "the key-value cache does not take most of the card", cacheFillsCard},
		"cache_on_host": {"the key-value cache takes most of the host memory", "the key-value cache does not take most of the host memory", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(cause.CacheOnHost(ctx.input()) != ""), "the key-value cache takes most of the host memory"}
		}},
		"routed_experts": {"each rank holds the experts of a rollout's tokens", "no rank holds the experts of a rollout's tokens", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(cause.RoutedExperts(ctx.input()) != ""), "each rank holds the experts of a rollout's tokens"}
		}},
		"host_evaluation": {"host memory ran out in an evaluation that keeps its outputs", "not in an evaluation that keeps its outputs", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(cause.KeepsPredictions(ctx.input()) != ""), "an evaluation keeps the outputs of all its batches"}
		}},
		"code": {"the stack's code has %s", "the stack's code does not have %s", func(ctx *Context, w string) verdict {
			return verdict{truthOf(ctx.stackContains(80, w)), "the stack's code has " + w}
		}},
		"simulates": {"environments are simulated beside the policy", "no environments are known to be simulated beside the policy", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(ctx.passesThrough(cause.Simulators...)), "the stack passes through a trainer of policies in simulated environments"}
		}},
		"draft_follows": {"SGLang's draft model comes after the cache", "no draft model comes after the cache", draftFollows},
		"draft":         {"a draft model, or its cache, did not fit", "not a draft model", drafts},
		"request_rows":  {"the table of the requests' tokens did not fit", "not the table of the requests' tokens", requestRows},
		"picture": {"it failed while an image was encoded", "no image was encoded", func(ctx *Context, _ string) verdict {
			return read(ctx, "ggml.image", "it failed while an image was encoded")
		}},
		"beside_server":   {"a server was started apart from the trainer", "no server was started apart from the trainer", besideServer},
		"another_service": {"another service of the deployment has its model on the card", "no other service of the deployment is known to be on the card", anotherService},
		"serves":          {"the engine is a server of TRL", "the engine is no server of TRL", serves},
		"resumes":         {"a script goes on from its own checkpoint", "no script is known to go on from its own checkpoint", resumes},
		"engine_residue": {"what an engine leaves on the card when it sleeps grows", "what an engine leaves when it sleeps does not grow", func(ctx *Context, _ string) verdict {
			grows := slices.ContainsFunc(ctx.run.Growth, func(t classifier.Trend) bool { return t.Name == "vllm.slept" || t.Name == "slime.memory" })
			return verdict{truthOf(grows), "what is in use while the engine sleeps grows"}
		}},
		"reads_checkpoint": {"a checkpoint is read, or a run goes on from one", "no checkpoint is read", func(ctx *Context, _ string) verdict {
			why := cmp.Or(cause.LoadsCheckpoint(ctx.input()), cause.RestoresOnHost(ctx.input()))
			return verdict{truthOf(why != ""), cmp.Or(why, "no checkpoint is read")}
		}},
		"broadcasts_state": {"rank 0 broadcasts a whole state to the other ranks' cards", "no whole state is broadcast", found(cause.BroadcastsState, "no whole state is broadcast")},
		"whole_gradients":  {"every GPU keeps whole gradients until the last micro-batch", "no GPU keeps whole gradients", found(cause.WholeGradients, "gradients are split, or the log does not show that they are not")},
		"adapters": {"adapters are trained", "all weights are trained", func(ctx *Context, _ string) verdict {
			if trainsAdapters(ctx) {
				return verdict{yes, "adapters are trained already"}
			}
			if trainsAll(ctx) {
				return verdict{no, "all weights are trained"}
			}
			return verdict{}
		}},
		"outgrows_cards": {"the training states exceed all GPUs together", "the training states may fit on the GPUs", outgrowsCards},
		"later_card": {"ranks that pick no GPU land on GPU 0, and this one failed on another", "it failed on GPU 0", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(ctx.root.Device != nil && *ctx.root.Device > 0), "ranks that pick no GPU land on GPU 0, and this one failed on another"}
		}},
		"one_gpu": {"one GPU", "several GPUs", func(ctx *Context, _ string) verdict {
			n, ok := ctx.gpus()
			if !ok {
				return verdict{}
			}
			if n > 1 {
				return verdict{no, "several GPUs train"}
			}
			return verdict{yes, "only one GPU trains, so there is nothing to split"}
		}},
		"own_optimizer": {"a program that makes the optimizer itself", "a script that makes the optimizer itself", func(ctx *Context, _ string) verdict {
			p := programOf(ctx.run)
			if p.ID == "" {
				return verdict{}
			}
			return verdict{truthOf(!slices.Contains([]string{"torch", "lightning", "deepspeed"}, p.ID)), p.Name + " makes the optimizer"}
		}},
		"alone": {"FSDP is on, and one process runs though nobody asked for one", "several processes run, or one was asked for", func(ctx *Context, _ string) verdict {
			if n, ok := ctx.gpus(); ok && n == 1 || ctx.is("world_size=1") || ctx.is("nproc=1") { // Composer's
				return verdict{no, "one process was asked for"}
			}
			return read(ctx, "launch.alone", "FSDP is on, and one process runs")
		}},
		"merges":     {"adapters are merged into a model", "no adapters are merged", merges},
		"loads_lean": {"the checkpoint is loaded shard by shard", "not known to be loaded shard by shard", loadsLean},
		"encodes": {"sentence-transformers encodes texts", "sentence-transformers encodes nothing", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(encodes(ctx)), "it failed in SentenceTransformer.encode"}
		}},
		"script_batch": {"a training script whose batch size is not known", "the batch size is known", scriptBatch},
		"large_card":   {"vLLM's V1 on a large card", "vLLM on a smaller card", largeCard},
		"own_cache":    {"a script creates its key-value cache at the start", "no script creates its key-value cache", ownCache},
		"moved_whole":  {"a whole model is moved to one card", "no whole model is moved to one card", movedWhole},
		"loads_from_hub": {"from_pretrained loads a model onto the card", "no from_pretrained loads a model", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(ctx.phase == "init" && ctx.stackContains(40, "from_pretrained") && ctx.passesThrough("/transformers/modeling_utils.py")), "from_pretrained loads the model onto the card"}
		}},
		"makes_cache": {"it failed where a cache of keys and values is made", "not where a cache is made", found(cause.MakesCache, "no cache is made there")},
		"prompt_logits": {"generation computes the logits of a whole prompt", "generation computes the logits of one token", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(ctx.passesThrough("/transformers/generation/") && ctx.stackContains(2, "logits.float()")), "generation computes the logits of the whole prompt in 32 bits"}
		}},
		"infers": {"nothing is trained", "something is trained", func(ctx *Context, _ string) verdict {
			if ctx.work.what == "" {
				return verdict{}
			}
			return verdict{truthOf(ctx.work.untrained()), ctx.work.why}
		}},
		"pins_offload": {"pinned memory for offloaded states was refused", "no pinned memory was refused", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(ctx.resource == "host" && ctx.is("backend:deepspeed") && ctx.stackContains(6, "pin_memory")), "pinned memory for offloaded states was refused"}
		}},
		"gathers_by_accelerate": {"accelerate gathers an FSDP2 model on the GPUs to save it", "accelerate gathers no FSDP2 model", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(ctx.phase == "checkpoint" && !ctx.is("state_dict_type=FULL_STATE_DICT") && !ctx.is("fsdp_state_dict_type=FULL_STATE_DICT") && ctx.passesThrough("/accelerate/accelerator.py") && ctx.passesThrough("torch/distributed/checkpoint/state_dict.py")), "accelerate gathers an FSDP2 model on the GPUs to save it"}
		}},
		"syncs_reference": {"the reference model was being synced", "no reference model was being synced", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(ctx.stackContains(20, "sync_target_model ")), "the reference model was being synced"}
		}},
		"recompute_switch": {"the model has a switch for recomputation", "no such switch is known", hasSwitch},
		"library_model":    {"a script uses a library's model", "no script with a library's model", libraryModel},
		"vae_alone": {"it failed in the VAE, outside of a pipeline", "it failed in a pipeline, or not in the VAE", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(ctx.root.Trace != nil && ctx.is("vae") && !ctx.passesThrough("/pipelines/", "pipeline")), "it failed in the VAE, outside of a pipeline"}
		}},
		"vae": {"it failed in the VAE", "not in the VAE", vae},
		"summons": {"a trainer gathers its whole model to hand it to the engine", "no trainer gathers its whole model", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(summons(ctx)), "the whole model is gathered before the engine wakes"}
		}},
		"engine_wakes": {"the engine failed when it woke", "the engine did not fail when it woke", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(ctx.stackContains(engineDepth, wakes...)), "the engine sleeps already: it failed when it woke"}
		}},
		"unlimited_audio": {"NeMo trains on recordings of any length", "no recordings of any length", unlimitedAudio},
		"batch_negatives": {"a loss of sentence-transformers takes the other samples of a batch as negatives", "no loss with the negatives of a batch", found(cause.BatchNegatives, "no loss with the negatives of a batch")},
		"swaps_blocks":    {"a training script that can swap blocks", "not a training script that can swap blocks", swapsBlocks},
		"parts_offloaded": {"parts of the pipeline come to the card one after the other", "no part of the pipeline is offloaded", partsOffloaded},
		"sleep_allocator": {"an engine that sleeps by cuMem", "no engine that sleeps by cuMem: it cannot do with expandable segments", sleepAllocator},
		"engine_process":  {"the engine's own process fails", "the trainer's process fails, not the engine's", engineProcess},
		"fragmented":      {"reserved but unallocated memory would cover what was missing", "memory that is not fragmented", fragmented},
		"others":          {"other processes on the card", "no other process on the card", others},
		"co_tenant":       {"an engine or another process shares the card", "no other process on the card", coTenant},
		"engine_stays": {"an engine on the trainer's card does not sleep while it trains", "no engine stays awake while the trainer works", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(trains(ctx) && !ctx.is("engine_process") && mayShareCard(ctx) && engineAwake(ctx) == yes), "the engine on the same card does not sleep while the model trains"}
		}},
		"states_return":   {"offloaded states come back to the card for the update", "offloaded states stay on the host", statesReturn},
		"shares_card":     {"trainer and engine share the card", "trainer and engine have their own cards", sharesCard},
		"stray":           {"a stray process holds memory of the card", "not when a stray process holds the card", stray},
		"exceeds_pool":    {"inputs and outputs of the program exceed the card", "inputs and outputs of the program are not known to exceed the card", exceedsPool},
		"over_limit":      {"a program that uses far more than XLA allows", "a program that XLA may have room for", overLimit},
		"exceeds_unified": {"a request larger than four cards", "no request is known to be larger than four cards", exceedsUnified},
		"oversized":       {"a request larger than the card", "a request that the card could hold", oversized},
		"logits":          {"the request is that of the logits", "a request other than that of the logits", logits},
		"keeps_scores":    {"a rollout keeps the scores of all its answers", "no rollout that keeps the scores of its answers", keepsScores},
		"full_scores":     {"attention builds its scores in full", "attention does not build its scores in full", fullScores},
		"moe":             {"a model with experts", "a model without experts", experts},
		"batch_unknown":   {"it failed in a training step with a batch of unknown size", "the batch size is known", batchUnknown},
		"counts_prompts":  {"a batch counts prompts, each with all its answers", "a batch counts answers", countsPrompts},
		"requested_limit": {"the limit is what the job requested", "the limit is not what a job requested", requestedLimit},
		"whole_groups":    {"a micro-batch is a whole group of answers", "a micro-batch may be a part of a group of answers", wholeGroups},
		"only_trains":     {"this trainer generates nothing", "this trainer generates", generatesNothing},
		"pairs":           {"a loss over pairs of answers", "a loss over single answers", overPairs},
		"recomputes":      {"the backward pass recomputes already", "the backward pass is not known to recompute", recomputes},
		"whole_gathered":  {"a request is the whole model, gathered at once", "no request is the whole model", wholeGathered},
		"moves_peak":      {"never a lever: micro-batches set the peak, not this", "micro-batches set the peak", movesPeak},

		"kv_sizing":         {"the engine found no room for its KV cache at start-up", "not when the engine found no room for its KV cache: that wants more", kvSizing},
		"kv_runtime":        {"a serving engine's cache was full", "not when a serving engine's cache was full", kvRuntime},
		"less_than_desired": {"less memory was free than the engine's share asks for", "not when less memory was free than the engine's share asks for", lessThanDesired.ask},
		"length_estimate":   {"the engine printed how long a sequence would fit", "the engine printed no length that would fit", lengthEstimate},
		"long_sequence":     {"one sequence of the planned length does not fit into the cache", "one sequence of the planned length fits into the cache", longSequence},
		"saver_margin":      {"torch_memory_saver refused the request because of its margin", "not when torch_memory_saver refused the request because of its margin", saverMargin.ask},
		"before_cache":      {"an engine failed before it took memory for its cache", "not when an engine failed before it took memory for its cache", beforeCache},
		"built_context":     {"the memory of a built engine's context did not fit", "not the memory of a built engine's context", builtContext},
		"makes_decoder": {"TensorRT-LLM failed while it made its decoder's buffers", "not while TensorRT-LLM made its decoder's buffers", func(ctx *Context, _ string) verdict {
			g, ok := memory.Reading(ctx.run, ctx.incident, "trtllm.buffers")
			_, cached := memory.Reading(ctx.run, ctx.incident, "trtllm.cache")
			return verdict{truthOf(ok && !cached && ctx.phase == "init" && g.Fields["method"] == "runtime buffers"), "the runtime's buffers are there, and the decoder's are next"}
		}},
		"engine_loads":      {"an engine failed while it read its weights", "not while an engine read its weights", engineLoads},
		"adapter_slots":     {"an engine failed while it made room for adapters", "not while an engine made room for adapters", adapterSlots},
		"token_bound":       {"the tokens of a step set its size, not its sequences", "the sequences of a step set its size", tokenBound},
		"nothing_for_cache": {"nothing is left for a cache", "something is left for a cache", nothingForCache.ask},
		"far_too_small":     {"one sequence needs more than twice the cache", "one sequence needs at most twice the cache", farTooSmall},
		"encodes_media":     {"the engine plans for images, video or sound", "the engine plans for text alone", encodesMedia},
		"one_input":         {"it failed in an encoder for which one input is planned", "not in an encoder for which one input is planned", oneInput},
		"uncounted_graphs":  {"graphs take nothing from the cache", "graphs take memory beside the cache", uncountedGraphs},
		"reads_tensors":     {"llama.cpp was reading the weights, before it makes a cache", "not while llama.cpp read the weights", readsTensors},
		"cards_have_room":   {"llama.cpp leaves more than half of the cards empty", "llama.cpp is not known to leave the cards half empty", cardsHaveRoom},
		"copies_weights":    {"a pipeline copies weights that stay in host memory", "no pipeline copies weights", copiesWeights},
		"fits_itself":       {"a build of llama.cpp that fits models to the card itself", "a build of llama.cpp that fits no models itself", fitsItself},
		"whole_context": {"llama.cpp plans for the longest context of the model, which nobody set", "a context that was set", func(ctx *Context, _ string) verdict {
			n, ok := ctx.settings.integer("n_ctx")
			most, trained := ctx.settings.integer("n_ctx_train")
			set := ctx.is("--ctx-size>0") || ctx.is("-c>0")
			return verdict{truthOf(ok && trained && n == most && !set), "the context is as long as the model was trained for, and nobody set it"}
		}},
		"flash_switch": {"a build of llama.cpp whose --flash-attn takes no value", "a build of llama.cpp whose --flash-attn takes a value", func(ctx *Context, _ string) verdict {
			f, _ := ctx.settings.find("flash_attn", true)
			return verdict{truthOf(f.value.Value == "0" || f.value.Value == "1"), "the log has flash_attn as a number, as builds before September 2025 print it"} // #15434
		}},
		"before_flash": {"a build of llama.cpp without flash attention", "a build of llama.cpp with flash attention", func(ctx *Context, _ string) verdict {
			early := ctx.is("set:freq_base") && ctx.is("not set:flash_attn") // since April 2024 a context's lines have it (#5021)
			return verdict{truthOf(early), "the log prints the context's settings without flash_attn: the build is older"}
		}},
		"prefers": {"a trainer on preferences", "not a trainer on preferences", prefers},
		"sglang_2024": {"SGLang of early 2024, whose flags are few", "not SGLang of early 2024", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(ctx.passesThrough("sglang/srt/managers/router/")), "SGLang of early 2024 has no such flag"}
		}},
		"request_states": {"layers keep a state for each request", "no layer is known to keep a state for each request", func(ctx *Context, _ string) verdict {
			return read(ctx, "sglang.states", "layers of linear attention keep a state for each request")
		}},
		"graphs_by_phase": {"an SGLang that captures graphs for each phase, as 0.5.15 does", "not known to be an SGLang that captures graphs for each phase", graphsByPhase},
		"prefill_graphs":  {"it failed while graphs of prompts were captured", "no graphs of prompts were captured", prefillGraphs},
		"qwen_vision": {"a model of Qwen's that sees", "not known to be one of Qwen's that see", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(ctx.passesThrough("qwen2_vl", "qwen2_5_vl", "qwen3_vl") || qwenVision().MatchString(ctx.model.name)), "Qwen's processor takes max_pixels"}
		}},
		"swift2": {"ms-swift before 3.0", "not ms-swift before 3.0", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(ctx.passesThrough("/swift/llm/sft.py", "/swift/llm/rlhf.py")), "ms-swift before 3.0 reads the environment"}
		}},
		"own_exllama": {"a script loads the model itself", "a server loads the model", ownExllama},
		"own_model":   {"a model that no library of transformers loads", "a model that transformers loads", ownModel},
		"calls_once": {"a script calls the model outside of any loop of a training", "no such call", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(ctx.work.untrained() && callsModelOnce(ctx) && !ctx.is("in_no_grad")), "the script trains nothing"}
		}},
		"jax_evaluation": {"a program in JAX failed in an evaluation", "no evaluation of a program in JAX", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(ctx.run.Framework == "jax" && ctx.is("evaluating")), "it failed in an evaluation"}
		}},
		"trained_before":  {"the script had trained a model before", "no training is known to have ended before", trainedBefore},
		"single_sequence": {"a pass has one sequence, whatever batch_size says", "a pass may have several sequences", singleSequence},
		"several_ranks":   {"several ranks work together", "one process works alone", severalRanks},
		"ctranslate2": {"the model runs in CTranslate2", "the model does not run in CTranslate2", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(ctx.passesThrough("/faster_whisper/", "/whisperx/asr.py", "/ctranslate2/")), "the model runs in CTranslate2"}
		}},
		"one_segment": {"speech is decoded one segment at a time", "speech is not decoded one segment at a time", func(ctx *Context, _ string) verdict {
			alone := ctx.passesThrough("/faster_whisper/", "/whisper/transcribe.py") && ctx.stackContains(20, "generate_segments", "generate_with_fallback", "decode_with_fallback")
			return verdict{truthOf(alone), "speech is decoded one segment at a time"}
		}},
		"own_tasks":       {"tasks of a program's own", "the tasks of a framework", ownTasks},
		"many_tasks":      {"many tasks of one function held the memory", "not many tasks of one function", manyTasks},
		"profile_run":     {"an engine failed in the run that measures its activations", "not in an engine's profiling run", profileRun},
		"one_image":       {"vLLM's V0 plans for one image per prompt unless a setting allows more", "several images per prompt are planned for", oneImage},
		"encoder_batch":   {"an encoder works on one input for each sequence", "no encoder works on one input for each sequence", encoderBatch},
		"whole_profile":   {"the profiling run has whole prompts, for nothing limits the tokens of a step", "the tokens of a step are limited", wholeProfile},
		"chunked_profile": {"the profiling run does not depend on the longest sequence", "the profiling run has sequences of the greatest length", chunkedProfile},
		"serving":         {"an engine ran out while it served", "not while an engine served", serving},
		"graph_capture":   {"it failed while CUDA graphs were captured", "not while CUDA graphs were captured", capturesGraphs},
		"sampler":         {"the sampler's buffers did not fit", "not in the sampler", samples},
		"prefill":         {"it failed during prefill", "not while prompts were processed", prefill.ask},
		"decode":          {"it failed during decoding", "not while tokens were generated", decode.ask},
		"outside_pool":    {"what failed allocates outside of the pool that JAX reserves", "the pool that JAX reserves ran out", outsidePool},
		"one_holder":      {"one process held most of the host memory", "no process alone held most of the host memory", oneHolder},
		"room_on_card": {"much more was free on the card than was requested", "no more was free on the card than was requested", func(ctx *Context, _ string) verdict {
			why := cause.RoomOnCard(ctx.input())
			return verdict{truthOf(why != ""), why}
		}},
		"windows": {"Windows", "not Windows", windows},
		"killed":  {"a process was killed", "no process was killed", processKilled},
		"eager": {"the engine runs without CUDA graphs", "the engine is not known to run without CUDA graphs", func(ctx *Context, _ string) verdict {
			if v := ctx.holds("enforce_eager=True"); v.truth == yes { // under any program's name for its engine
				return v
			}
			return read(ctx, "vllm.eager", "the engine's log says that it runs without CUDA graphs")
		}},
		"unified_memory": {"the program may use host memory for what the card does not hold", "the program works on the card alone", func(ctx *Context, _ string) verdict {
			v := ctx.holds("TF_FORCE_UNIFIED_MEMORY=1")
			return verdict{truthOf(v.truth == yes), cmp.Or(v.why, "unified memory is off")}
		}},
		"pool_refused": {"the pool that JAX reserves was refused", "the pool that JAX reserves was not refused", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(ctx.recognized("xla.from_device")), "the pool that is reserved at the start was refused: a larger one is, too"}
		}},
		"npu":           {"an Ascend NPU", "not on an Ascend NPU", npu.ask},
		"tpu":           {"a TPU", "not on a TPU", onTPU},
		"evaluating":    {"it failed in an evaluation", "not in an evaluation", evaluating},
		"keeps_outputs": {"a script joined the outputs of its batches on the card", "no outputs of batches were joined", keepsOutputs},
		"keeps_on_card": {"a script keeps the outputs of its batches on the card", "no outputs of batches are known to be kept", keepsOnCard},
		"reads_text": {"an encoder of texts failed that a script calls itself", "no encoder of texts that a script calls", func(ctx *Context, _ string) verdict {
			return verdict{truthOf(ctx.passesThrough(textEncoders...) && slices.Contains([]string{"", "torch"}, programOf(ctx.run).ID)), "it encodes texts, however long"}
		}},
		"sleepers_hold": {"sleeping engines hold most of the host's memory", "sleeping engines are not known to hold the host's memory", found(cause.SleepersHold, "no sleeping engine is known to hold most of the host's memory")},
		"keeps_metric":  {"a metric joins what it kept of all batches", "no metric joined what it kept of all batches", found(cause.KeepsMetric, "no metric joined what it kept of all batches")},
		"joins_outputs": {"a script joined the outputs of its batches in host memory", "no outputs of batches were joined in host memory", joinsOutputs},
		"own_layers":    {"it failed in code of the script's own", "it failed in a library's model", ownLayers},
		"eval_batch": {"one batch of an evaluation failed", "no batch of an evaluation failed", func(ctx *Context, _ string) verdict {
			alone := ctx.is("evaluating") && !ctx.is("joined_evaluation") && !ctx.is("keeps_outputs") && !ctx.stackContains(12, "gather")
			return verdict{truthOf(alone), "one batch of the evaluation does not fit, before any of its outputs are kept"}
		}},
		"joined_evaluation": {"an evaluation kept the logits of all its batches", "not where an evaluation keeps the logits of all its batches", joinedEvaluation.ask},
	}
	maps.Copy(facts, hostFacts())
	maps.Copy(facts, typeFacts())
}

// named compares a possibly unknown word.
func named(have, want, what string) verdict {
	if have == "" {
		return verdict{}
	}
	return verdict{truthOf(have == want), fmt.Sprintf("the %s is %s", what, have)}
}
