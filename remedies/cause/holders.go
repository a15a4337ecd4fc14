package cause

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"oomscan/classifier"
	"oomscan/parser/lazyre"
	"oomscan/remedies/memory"
)

// alone names the process that held most of the memory by itself, for an unknown purpose.
func (in *Input) alone() string {
	if held := in.OneHolder(); held != "" {
		return held + "; the log does not show why"
	}
	if in.host() && in.HostLimit == nil && len(in.Holders) > 1 && in.Holders[0].Name != in.Holders[1].Name && in.Holders[0].Bytes >= max(2*in.Holders[1].Bytes, 1<<30) {
		return fmt.Sprintf("%s held %s, more than twice as much as %s, the next largest process", in.Holders[0].Name, gib(&in.Holders[0].Bytes), in.Holders[1].Name)
	}
	return in.together()
}

// OneHolder names the process that held most of the host memory by itself, "" if there is none.
func (in *Input) OneHolder() string {
	h := in.largest()
	if h.Bytes == 0 {
		return ""
	}
	return fmt.Sprintf("%s alone held %s%s", h.Name, classifier.GiB(h.Bytes), of(in.HostLimit))
}

// of returns a limit to print after an amount, or nothing if it is unknown.
func of(limit *int64) string {
	if limit == nil {
		return ""
	}
	return " of " + gib(limit)
}

// largest returns the process that held most of the memory by itself, or none if several did or it is unknown.
func (in *Input) largest() Holder {
	if !in.host() || len(in.Holders) == 0 {
		return Holder{}
	}
	all := int64(0)
	for _, h := range in.Holders {
		all += h.Bytes
	}
	if in.HostLimit != nil {
		all = *in.HostLimit
	}
	if h := in.Holders[0]; h.Name != "" && h.Bytes >= all/4*3 && h.Bytes >= 1<<30 {
		return h
	}
	return Holder{}
}

// helpers lists parts of the names of processes that run environments, tools and rewards beside trainer and engine.
var helpers = []string{"agentloopworker", "rewardloopworker", "rewardmanager", "rewardworker", "environmentworker"}

// HeldBy reports that processes with one of these words in their names held most of a node's memory.
func (in *Input) HeldBy(words ...string) string {
	var named []Holder
	all, held := int64(0), int64(0)
	for _, h := range in.Holders {
		all += h.Bytes
		if containsAny(strings.ToLower(h.Name), words) {
			named, held = append(named, h), held+h.Bytes
		}
	}
	if !in.host() || held == 0 || held < all/2 {
		return ""
	}
	return fmt.Sprintf("%d processes like %s held %s%s together", len(named), named[0].Name, classifier.GiB(held), of(in.HostLimit))
}

// HelpersHold reports that processes which run environments, tools or rewards held most of a node's memory.
func HelpersHold(in *Input) string { return in.HeldBy(helpers...) }

// trainers lists parts of the names of processes that train a model in reinforcement learning.
var trainers = []string{"workerdict", "policymodelactor", "megatrontrain", "fsdptrain", "policyworker", "actorworker"}

// RanksHold reports that the ranks of a trainer held most of a node's memory, whose data another process loads.
func RanksHold(in *Input) string { return in.HeldBy(trainers...) }

// trainersHold reports that the ranks of a trainer held most of a node's memory in a step, when they read no weights and gather no
// checkpoint: what is left is what they moved off the card.
func trainersHold(in *Input) string {
	steps := []string{"training", "forward", "backward", "optimizer", "logprob"}
	if !slices.Contains(steps, in.Phase) || in.LastStep != nil && *in.LastStep >= 50 || in.off("param_offload", "offload_params") && in.off("optimizer_offload", "offload_optimizer") {
		return ""
	}
	return in.HeldBy(trainers...)
}

// offloads reports that a setting keeps model states in host memory.
func offloads(in *Input) string {
	for _, k := range offloadKeys {
		key, v, ok := in.Setting(k)
		if ok && (in.on(k) || v == "cpu") {
			return fmt.Sprintf("%s is %s: model states are kept in host memory", key, v)
		}
	}
	return trainerSleeps(in)
}

// trainerSleeps reports that a trainer moves its states to host memory while an engine on the same cards generates
// (slime/utils/arguments.py: --colocate switches offloading on).
func trainerSleeps(in *Input) string {
	if !slices.Contains([]string{"slime", "relax"}, in.Framework) || !in.on("colocate") || in.off("offload", "offload_train") {
		return ""
	}
	return "--colocate is on: the trainer's states are in host memory while the engine generates"
}

// oneRankReads reports that FSDP keeps the weights in host memory once: one rank of a node reads them, and all get their shards.
func oneRankReads(in *Input) string {
	key, v, ok := in.Setting("cpu_ram_efficient_loading", "fsdp_cpu_ram_efficient_loading")
	if !ok || !in.on(key) || offloads(in) == "" {
		return ""
	}
	return fmt.Sprintf("%s is %s: one rank of a node reads the weights", key, v)
}

// wholeStateInOne reports that after start-up one of several processes holds as much as the whole model takes in float32, and the
// others far less.
func wholeStateInOne(in *Input) string {
	p := in.Parameters.Value
	if !in.host() || in.Phase == "init" || in.GPUs < 2 || p <= 0 || p > 1<<40 || len(in.Holders) < 2 || in.Holders[0].Bytes < 18*p/5 || in.Holders[1].Bytes > in.Holders[0].Bytes/4 {
		return ""
	}
	return fmt.Sprintf("one process holds %s, and the model takes %s in float32", classifier.GiB(in.Holders[0].Bytes), classifier.GiB(4*p))
}

// wholeInEach reports that after some steps each of several processes holds about what the whole model takes in 16 bits. Nothing but a
// checkpoint needs that where no state is kept in host memory.
func wholeInEach(in *Input) string {
	const libraries = 6 << 30
	p := in.Parameters.Value
	if !in.host() || in.Phase != "training" || in.GPUs < 2 || p < 4<<30 || p > 1<<40 || in.offloads() || trainerSleeps(in) != "" || len(in.Holders) < 2 {
		return ""
	}
	first, n := in.Holders[0], 0
	for _, h := range in.Holders {
		if h.Name == first.Name && h.Bytes >= 19*p/10 && h.Bytes <= 2*p+libraries {
			n++
		}
	}
	if n < 2 || first.Bytes > 2*p+libraries {
		return ""
	}
	return fmt.Sprintf("%d processes hold about %s each, and the model takes %s in 16 bits", n, classifier.GiB(first.Bytes), classifier.GiB(2*p))
}

// oneLoads reports how much a node's only process took to load the model, if it held most of the memory.
func oneLoads(in *Input) (string, *int64) {
	limit := in.HostLimit
	if limit == nil || len(in.Holders) == 0 || in.Holders[0].Bytes < *limit/2 {
		return "", nil
	}
	n := in.Holders[0].Bytes
	text := fmt.Sprintf("one process alone held %s of %s while it loaded the model", classifier.GiB(n), classifier.GiB(*limit))
	if p := in.Parameters.Value; p > 0 && p < 1<<40 && 2*p < n {
		text += fmt.Sprintf(", %.1f times the weights in 16 bits (%s)", float64(n)/float64(2*p), classifier.GiB(2*p))
	}
	return text, &n
}

// holdsWeights reports that one of several processes held more than the whole model before the first step. With offloading it
// would hold states too, so that does not count.
func holdsWeights(in *Input) string {
	p := in.Parameters.Value
	if !in.host() || in.offloads() || trainerSleeps(in) != "" || in.GPUs < 2 || p <= 0 || p > 1<<40 || in.LastStep != nil || in.Phase != "unknown" || len(in.Holders) == 0 || in.Holders[0].Bytes < 19*p/10 {
		return ""
	}
	return fmt.Sprintf("one of %d processes held %s before the first step; the weights take %s in 16 bits", in.GPUs, classifier.GiB(in.Holders[0].Bytes), classifier.GiB(2*p))
}

// driverHolds reports that the process that hands out rollout data holds the most.
func driverHolds(in *Input) string {
	if len(in.Holders) < 2 || !containsAny(strings.ToLower(in.Holders[0].Name), []string{"taskrunner", "main_task", "rolloutmanager"}) || in.Holders[0].Bytes < 2*in.Holders[1].Bytes {
		return ""
	}
	return fmt.Sprintf("%s, which holds the rollout data, takes %s, more than any worker", in.Holders[0].Name, classifier.GiB(in.Holders[0].Bytes))
}

// RankCopies returns what the ranks of a node need for a copy of the weights each, in the type that they are loaded in, or 0 if
// it is unknown.
func RankCopies(in *Input) int64 {
	p := in.Parameters.Value
	if p <= 0 || p >= 1<<40 || in.PerNode < 2 || in.PerNode >= 1<<10 {
		return 0
	}
	each := int64(2)
	if len(in.Holders) > 0 && in.Holders[0].Bytes > 5*p/2 || loadsWide(in) != "" { // more than the weights take in 16 bits
		each = 4
	}
	return each * p * in.PerNode
}

// stepped reports whether the host ran out after several steps that fit.
func (in *Input) stepped() bool {
	return in.host() && in.LastStep != nil && *in.LastStep > 1 && in.Phase != "init" && in.Phase != "checkpoint"
}

// Outgrown reports that the workers of a node held far more after several steps than they may need: a process with its libraries, the
// weights twice in 16 bits, for the engine and from loading, and their part of states that are kept there.
func Outgrown(in *Input) string {
	const libraries, far = 10 << 30, 2
	p := in.Parameters.Value
	if !in.stepped() || p <= 0 || p > 1<<40 || len(in.Holders) < 2 || !strings.Contains(strings.ToLower(in.Holders[0].Name), "worker") && !strings.Contains(strings.ToLower(in.Holders[1].Name), "worker") {
		return ""
	}
	needs := libraries + 4*p + 16*p/max(in.GPUs, in.PerNode, 1)
	n := 0
	for _, h := range in.Holders {
		if h.Bytes > far*needs {
			n++
		}
	}
	if n < 2 {
		return ""
	}
	return fmt.Sprintf("after %d steps that fit, %d processes held %s or more; the model with its states explains at most %s of each", *in.LastStep, n, classifier.GiB(in.Holders[n-1].Bytes), classifier.GiB(needs))
}

// inMemoryKeys lists the settings that keep a data set in host memory.
var inMemoryKeys = []string{
	"cache_images", "cache_dataset", "cache_data", "cache_in_memory", "cache_in_ram", "cache_to_ram", "cache_train", "in_memory", "load_in_memory", "load_into_memory",
	"load_to_memory", "load_img_to_memory", "load_images_to_memory", "keep_in_memory", "preload", "preload_data", "preload_dataset", "use_cache_dataset", "cache",
}

// KeepsPredictions reports that host memory ran out in an evaluation that keeps the outputs of all batches to the end: transformers' Trainer
// does, Lightning's predict unless it is told not to (lightning/pytorch/loops/prediction_loop.py), and scripts that join them.
func KeepsPredictions(in *Input) string {
	if in.JoinsOutputs && in.host() {
		return "the evaluation keeps the outputs of all its batches in host memory, and joins them at its end"
	}
	if strings.Contains(in.Stage, "predicting dataloader") && in.host() && !in.off("return_predictions") {
		return "Lightning's predict keeps what predict_step returns for every batch in host memory until it ends"
	}
	if !in.host() || in.DataWorkers || !containsAny(in.Stage, []string{"***** running evaluation", "***** running prediction"}) {
		return ""
	}
	return "the evaluation keeps the outputs of all its batches in host memory until it ends"
}

// KeepsMetric reports that a metric of torchmetrics computes its value of what it kept of all batches, on the card: dim_zero_cat joins states
// that are lists (torchmetrics, utilities/data.py), and curves without thresholds sort all predictions.
func KeepsMetric(in *Input) string {
	switch {
	case !in.gpu():
	case in.passes(4, "dim_zero_cat"):
		return "a metric keeps the predictions of all batches on the card, and joins them to compute its value"
	case in.passes(4, "_clf_curve") && in.passes(12, "/torchmetrics/metric.py") && !in.passes(12, "/torchmetrics/metric.py _forward_"): // which computes the value of one batch
		return "a metric without thresholds keeps every prediction on the card, and sorts all of them to compute its value"
	}
	return ""
}

// KeepsData reports that a setting keeps the data set in host memory.
func KeepsData(in *Input) string {
	if !in.host() {
		return ""
	}
	if in.CachedDataset {
		return "MONAI's CacheDataset keeps every sample in host memory"
	}
	if key, v, ok := in.Setting("cache_rate"); ok { // of MONAI's CacheDataset
		if rate, err := strconv.ParseFloat(v, 64); err == nil && rate > 0 {
			return fmt.Sprintf("%s is %s: that share of the dataset is kept in host memory", key, v)
		}
	}
	if key, _, _ := in.Setting("cache_latents"); in.on("cache_latents") && !in.on("cache_latents_to_disk") {
		return key + " keeps the latents of all images in host memory"
	}
	for _, k := range inMemoryKeys {
		key, v, ok := in.Setting(k)
		if v = strings.ToLower(strings.Trim(v, `"' `)); ok && (in.on(k) || v == "ram" || v == "memory") {
			return fmt.Sprintf("%s is %s: the dataset is kept in host memory", key, v)
		}
	}
	return ""
}

// filled is how far TensorFlow had filled a shuffle buffer.
var filled = lazyre.New(`filling up shuffle buffer[^:]{0,80}: (\d{1,12}) of (\d{1,12})`)

// fillsBuffer reports that the log ends while TensorFlow fills the buffer of Dataset.shuffle.
func fillsBuffer(in *Input) string {
	m := filled().FindStringSubmatch(in.Stage)
	if !in.host() || m == nil {
		return ""
	}
	return fmt.Sprintf("Dataset.shuffle was filling its buffer in host RAM: %s of %s samples were in it", m[1], m[2])
}

// shuffles reports that samples wait in host memory to be shuffled.
func shuffles(in *Input) string {
	if why := KeepsSamples(in); in.Application == "tensorflow" && !strings.Contains(why, "replay") || strings.Contains(why, "shuffle") {
		return why
	}
	return ""
}

// sampleBuffers lists the settings of the number of samples that wait in host memory: to be shuffled, or to be replayed.
var sampleBuffers = []string{
	"shuffle_buffer_size", "shuffle_buffer", "replay_buffer_size", "replay_size", "max_replay_size", "replay_capacity", "replay_memory_size", "replay_buffer_capacity", "replay.capacity", "replay_buffer.capacity",
	"replay_memory.capacity", "replay_buffer_config.capacity", "replay_buffer.size", "buffer_capacity", "buffer.capacity", "buffer_size", "size_in_transitions",
}

// wholeBuffer reports that Stable-Baselines3 makes the whole array of a buffer: a replay buffer once, the rollout buffer of PPO and A2C before
// each rollout (stable_baselines3/common/buffers.py, ReplayBuffer.__init__ and RolloutBuffer.reset).
func wholeBuffer(in *Input) string {
	switch {
	case !in.host() || !in.passes(2, "stable_baselines3/common/buffers.py"):
		return ""
	case in.passes(2, "buffers.py reset"):
		return "the rollout buffer holds n_steps observations of each environment, in float32"
	}
	return "the replay buffer is allocated whole, for buffer_size observations"
}

// KeepsSamples reports that a large buffer of samples is kept in host memory, by the stack, by a setting, or by the name of the process that
// holds most of it. DeepSpeed's buffer_size of an offload is in bytes.
func KeepsSamples(in *Input) string {
	if whole := wholeBuffer(in); whole != "" {
		return whole
	}
	if !in.host() || in.Backend == "deepspeed" || slices.Contains([]string{"init", "weight_update", "checkpoint"}, in.Phase) || oneLargeRequest(in) != "" {
		return ""
	}
	held := ""
	if h := in.largest(); containsAny(strings.ToLower(h.Name), []string{"replaybuffer"}) {
		held = in.OneHolder()
	}
	key, v, ok := in.Setting(sampleBuffers...)
	if n := in.number(key); ok && n >= 1000 && n <= 100e6 {
		return fmt.Sprintf("%s is %s: as many samples wait in host memory", key, v) + strings.TrimSuffix("; "+held, "; ")
	}
	if held != "" {
		held += ", in samples to replay"
	}
	return held
}

// Replays is [KeepsSamples] of a buffer to replay samples from, which fills as long as the run goes on, up to its capacity.
func Replays(in *Input) string {
	if shuffles(in) != "" {
		return ""
	}
	return KeepsSamples(in)
}

// numaCopies reports that KTransformers, which reads its experts from --gguf_path, keeps them once for each NUMA node. Builds of
// PyTorch have a USE_NUMA of their own.
func numaCopies(in *Input) string {
	_, _, gguf := in.Setting("gguf_path")
	if key, v, ok := in.Setting("USE_NUMA"); ok && gguf && v == "1" && in.host() {
		return fmt.Sprintf("%s is %s: each NUMA node holds its own copy of the experts", key, v)
	}
	return ""
}

// kept reports how much memory llama.cpp's server keeps for finished prompts, if that is a large part of the limit.
func (in *Input) kept() string {
	if !in.host() || in.PromptCache < 1<<30 || in.HostLimit != nil && in.PromptCache < *in.HostLimit/5 {
		return ""
	}
	return fmt.Sprintf("the cache of finished prompts took %s%s", classifier.GiB(in.PromptCache), of(in.HostLimit))
}

// CacheOnHost reports that the key-value cache which llama.cpp or Ollama keeps in host memory takes most of the limit, or of the machine
// where no limit is known.
func CacheOnHost(in *Input) string {
	switch n := CacheBytes(in); {
	case n == 0:
		return ""
	case in.HostLimit == nil:
		return fmt.Sprintf("the key-value cache alone takes %s of host memory, of %s that the machine has", classifier.GiB(n), gib(in.NodeRAM))
	default:
		return fmt.Sprintf("the key-value cache alone takes %s of host memory, and the limit is %s", classifier.GiB(n), gib(in.HostLimit))
	}
}

// CacheBytes returns the size of the cache that [CacheOnHost] reports, or 0.
func CacheBytes(in *Input) int64 {
	limit, n := cmp.Or(in.HostLimit, in.NodeRAM), in.HostCache
	if planned, _ := in.contextBytes(); n == 0 && in.LayersOnCard == 0 && planned < 1<<50 {
		n = int64(planned) // it was killed while it made the cache
	}
	if !in.host() || limit == nil || n == 0 || n < *limit/2 {
		return 0
	}
	return n
}

// WeightsOnHost reports that the weights which Ollama's own engine keeps in host memory leave nothing of the limit, or exceed what its check
// found free. It copies them, and the check sees the memory of the machine, not a container's limit.
func WeightsOnHost(in *Input) string {
	if !in.host() || in.HostWeights == 0 {
		return ""
	}
	puts := fmt.Sprintf("Ollama puts %s of weights in host memory, and ", classifier.GiB(in.HostWeights))
	switch {
	case in.HostLimit != nil && in.HostWeights >= *in.HostLimit/10*9:
		return puts + "the limit is " + gib(in.HostLimit)
	case in.Requested != nil && in.Free != nil && in.HostWeights > *in.Free && in.HostWeights < *in.Requested:
		return puts + "only " + gib(in.Free) + " was free"
	}
	return ""
}

// PassingWeights returns the size of all weights where Ollama's own engine was killed while it loaded them and held far more than those that
// stay in host memory: versions of early 2025 read whole tensors, many at once, on their way to a card. It returns 0 otherwise.
func PassingWeights(in *Input) int64 {
	const others = 1 << 30 // of the process
	if !in.host() || in.Phase != "init" || in.CardWeights == 0 || in.largest().Bytes < in.HostWeights+others {
		return 0
	}
	return in.HostWeights + in.CardWeights
}

// AnotherWorker reports that a process on the card is a worker of the same server, which has its own copy of the model there.
func AnotherWorker(in *Input) string {
	if in.EngineFailed || in.number("workers", "w", "WEB_CONCURRENCY") < 2 && len(in.Workers) < 2 {
		return ""
	}
	for _, m := range listed().FindAllStringSubmatch(in.Message, 64) {
		if pid, err := strconv.Atoi(m[1]); err == nil && slices.Contains(in.Workers, pid) {
			return fmt.Sprintf("each worker of the server loads the model onto this GPU: process %d is another one, with %s", pid, gib(in.Others))
		}
	}
	return ""
}

// SpreadByEach reports that each of several processes of a node loads its model with a device_map that spreads it over all cards, so that
// every card holds a part of every copy. Accelerate refuses to train with such a model (accelerator.py, prepare_model), but only after it
// is loaded.
func SpreadByEach(in *Input) string {
	_, v, ok := in.Setting("device_map")
	v = strings.Trim(v, `"' `)
	if !ok || !slices.Contains([]string{"auto", "balanced", "balanced_low_0", "sequential"}, v) || in.Rank == nil || in.PerNode < 2 || in.EngineFailed || in.Others == nil || *in.Others < leastNeighbour {
		return ""
	}
	return fmt.Sprintf("device_map is %s in each of %d processes, so that every card holds a part of each copy", v, in.PerNode)
}

// RoutedExperts reports that the experts which the engine chose for the tokens of a rollout may fill host memory: with the routing replay of
// slime and its forks, every rank of a data-parallel group gets those of all its tokens and layers, four bytes each, before context and
// tensor parallelism divide them (slime/ray/rollout.py, _split_train_data_by_dp; slime #2384).
func RoutedExperts(in *Input) string {
	const usual, leastPart, most = 256, 10, 1 << 20 // choices for a token, of 32 layers and 8 experts; of the node's memory
	phases := []string{"data", "training", "logprob", "forward", "rollout", "unknown"}
	limit := in.HostLimit
	if limit == nil {
		limit = in.NodeRAM
	}
	prompts, answers, length := in.number("rollout_batch_size"), max(in.number("n_samples_per_prompt"), 1), in.number("rollout_max_response_len")
	if !in.host() || !in.on("use_rollout_routing_replay") || !slices.Contains(phases, in.Phase) || limit == nil || in.GPUs < 1 || max(prompts, answers, length) > most {
		return ""
	}
	groups := in.GPUs
	for _, k := range []string{"tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size"} {
		groups /= max(in.number(k), 1)
	}
	tokens, choices := prompts*answers*length/max(groups, 1), min(in.number("num_layers"), most)*min(in.number("moe_router_topk"), most)
	if choices == 0 {
		choices = usual
	}
	each, ranks := 4*float64(tokens)*float64(choices), max(in.PerNode, 1)
	if each*float64(ranks) < float64(*limit)/leastPart || each > 1<<50 {
		return ""
	}
	return fmt.Sprintf("with routing replay each rank gets the experts of all tokens of its group: up to %s tokens x %s choices x 4 bytes = %s, on %d ranks of a node",
		memory.Thousands(tokens), memory.Thousands(choices), classifier.GiB(int64(each)), ranks)
}
