package remedies

import (
	"fmt"
	"strings"
	"sync"
)

// factWords say what a fact means where no run is known that could be asked: as it is, and negated. %s is the fact's
// word.
var factWords = sync.OnceValue(func() map[string][2]string {
	return map[string][2]string{
		"backend":           {"the %s backend", "a backend other than %s"},
		"engine":            {"the %s engine", "an engine other than %s"},
		"launcher":          {"started by %s", "not started by %s"},
		"framework":         {"the %s framework", "a framework other than %s"},
		"role":              {"the %s fails", "not when only the %s fails"},
		"resource":          {"%s memory ran out", "not %s memory"},
		"phase":             {"it failed in %s", "it did not fail in %s"},
		"since":             {"version %s or later", "a version before %s"},
		"before":            {"a version before %s", "version %s or later"},
		"dynamic_batch":     {"micro-batches cut by tokens (dynamic batch size)", "micro-batches of a fixed number of samples"},
		"sleep_allocator":   {"an engine that sleeps by cuMem", "no engine that sleeps by cuMem: it cannot do with expandable segments"},
		"engine_process":    {"the engine's own process fails", "the trainer's process fails, not the engine's"},
		"fragmented":        {"reserved but unallocated memory would cover what was missing", "memory that is not fragmented"},
		"others":            {"other processes on the card", "no other process on the card"},
		"co_tenant":         {"an engine or another process shares the card", "nobody else on the card"},
		"oversized":         {"a request larger than the card", "a request that the card could hold"},
		"logits":            {"the request is that of the logits", "a request other than that of the logits"},
		"kv_sizing":         {"the engine found no room for its KV cache at start-up", "not when the engine found no room for its KV cache: that wants more"},
		"kv_runtime":        {"a serving engine's cache ran full", "not when a serving engine's cache ran full"},
		"less_than_desired": {"less memory was free than the engine was told to take", "not when less memory was free than the engine was told to take"},
		"length_estimate":   {"the engine printed how long a sequence would fit", "the engine printed no length that would fit"},
		"saver_margin":      {"torch_memory_saver refused the request because of its margin", "not when torch_memory_saver refused the request because of its margin"},
		"graph_capture":     {"it failed while CUDA graphs were captured", "not while CUDA graphs were captured"},
		"sampler":           {"the sampler's buffers did not fit", "not in the sampler"},
		"prefill":           {"it failed while prompts were processed", "not while prompts were processed"},
		"decode":            {"it failed while tokens were generated", "not while tokens were generated"},
		"ray_monitor":       {"Ray's memory monitor ended a worker", "not when Ray's memory monitor ended the worker"},
		"cgroup":            {"a memory limit of the job was reached", "no memory limit of the job was reached"},
		"data_workers":      {"it failed in data loading", "not in data loading"},
		"pin_memory":        {"pinned host memory was asked for", "no pinned host memory was asked for"},
		"nccl_shm":          {"NCCL could not get a shared memory segment", "not NCCL's shared memory"},
		"limit_below_card":  {"a limit below the card's size is set for the process", "no limit below the card's size"},
		"full_state":        {"a checkpoint was being put together", "no checkpoint was being put together"},
		"moe":               {"a model with experts", "a model without experts"},
		"npu":               {"an Ascend NPU", "not on an Ascend NPU"},
		"evaluating":        {"it failed in an evaluation", "not in an evaluation"},
		"shares_card":       {"trainer and engine share the card", "trainer and engine have cards of their own"},
		"before_cache":      {"an engine failed before it took memory for its cache", "not when an engine failed before it took memory for its cache"},
		"stray":             {"a stray process holds memory of the card", "not when a stray process holds the card"},
		"batch_untold":      {"it failed in a training step of a batch whose size is not told", "the batch size is told"},
		"evicted":           {"the kubelet evicted the pod", "not when the kubelet evicted the pod"},
		"told":              {"%s is set", "%s is not set"},
		"tpu":               {"a TPU", "not on a TPU"},
		"profile_run":       {"an engine failed in the run that measures its activations", "not in an engine's profiling run"},
		"serving":           {"an engine ran out while it served", "not while an engine served"},
		"outside_pool":      {"what failed allocates outside of the pool that JAX reserves", "the pool that JAX reserves ran out"},
		"full_scores":       {"attention builds its scores in full", "attention does not build its scores in full"},
		"long_sequence":     {"one sequence of the planned length does not fit into the cache", "one sequence of the planned length fits into the cache"},
		"moves_peak":        {"never a lever: micro-batches set the peak, not this", "micro-batches set the peak"},
	}
})

// inWords says a condition to somebody who has no run at hand. Conditions that do not parse, which no guide holds, stay
// as they are.
func inWords(cond string) string {
	c, err := parseCondition(cond)
	if err != nil {
		return cond
	}
	if c.key != "" {
		op := map[string]string{"=": "is", "!=": "is not", ">": "is more than", "<": "is less than"}[c.op]
		if c.negated {
			return fmt.Sprintf("not: %s %s %s", c.key, op, c.value)
		}
		return fmt.Sprintf("%s %s %s", c.key, op, c.value)
	}
	w := factWords()[c.fact][0]
	if c.negated {
		w = factWords()[c.fact][1]
	}
	if strings.Contains(w, "%s") {
		return fmt.Sprintf(w, c.word)
	}
	return w
}
