package remedies

import (
	"fmt"
	"slices"
	"strings"

	"oomscan/classifier"
)

// statesExceedHost says that the optimizer's states on the host are larger than its memory on their own, so that it does not help to keep
// the weights elsewhere or to pin nothing: master weights and two moments in 32 bits.
func statesExceedHost(q *question) string {
	const each = 12 // bytes for a parameter
	p, ram := q.input().Parameters, nodeRAM(q.Context)
	weights := !slices.ContainsFunc(q.changes, func(c change) bool {
		return !strings.Contains(c.Key, "param") && !strings.HasSuffix(c.Key, "pin_memory")
	})
	if q.resource != "host" || p.Value <= 0 || ram == nil || !weights || q.run.Nodes != nil && *q.run.Nodes > 1 || p.Value*each <= *ram {
		return ""
	}
	return fmt.Sprintf("the optimizer's states take %s without the weights, and there are %s", classifier.GiB(p.Value*each), classifier.GiB(*ram))
}

// refusedOffload says that EasyR1 does not let FSDP keep the shards of a model that it trains in host memory if it accumulates gradients,
// which it does unless a micro-batch has all of a GPU's samples of an update (verl/workers/fsdp_workers.py, _init_dist_mesh).
func refusedOffload(q *question) string {
	i := slices.IndexFunc(q.changes, func(c change) bool {
		return lastWord(c.Key) == "enable_cpu_offload" && !strings.Contains(c.Key, "ref.")
	})
	if i < 0 || programOf(q.run).ID != "easyr1" {
		return ""
	}
	const why = "EasyR1 refuses it with gradient accumulation"
	role := "worker.actor."
	if strings.Contains(q.changes[i].Key, "critic.") {
		role = "worker.critic."
	}
	batch, ok1 := q.settings.integer(role + "global_batch_size")
	micro, ok2 := q.settings.integer(role + "micro_batch_size_per_device_for_update")
	gpus, ok3 := q.gpus()
	if !ok1 || !ok2 || !ok3 || max(batch, micro) > mostSamples || gpus < 1 {
		return why
	}
	answers, degree := int64(1), int64(1)
	if n, ok := q.settings.integer("worker.rollout.n"); ok {
		answers = min(n, mostSamples)
	}
	if n, ok := q.settings.integer(role+"ulysses_size", role+"ulysses_sequence_parallel_size"); ok {
		degree = min(n, gpus)
	}
	if each := batch * answers / (gpus / degree); each != micro {
		return fmt.Sprintf("%s: a GPU has %d samples of an update, in micro-batches of %d", why, each, micro)
	}
	return ""
}
