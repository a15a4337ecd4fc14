package remedies

import (
	"fmt"
	"math"
	"math/bits"
	"strings"

	"oomscan/classifier"
	"oomscan/remedies/memory"
)

// halvings returns how often a request that grows with the batch must be halved to fit into free memory: once if the figures
// are unknown or the phase's requests do not grow with the batch.
func (q *paramQuery) halvings() (k int, how string) {
	r := q.root
	if next := 2 * memory.FeedForward(deref(r.Requested), q.model.Hidden.Value, denseInner(q.Context)); r.Free != nil && q.endsIn("/transformers/models/") {
		if room := *r.Free + deref(idleReserve(q.Context)); room > 0 && next > room {
			k = max(1, int(math.Ceil(math.Log2(float64(next)/float64(room)))))
			return k, fmt.Sprintf("the feed-forward part makes %s next, %s is free or reserved: %s", classifier.GiB(next), classifier.GiB(room), times(k))
		}
	}
	switch q.phase {
	case "forward", "backward", "logprob", "training":
	default:
		return 1, ""
	}
	if total, _, ok := cardCapacity(q.Context); ok && r.Free == nil && r.Requested != nil && *r.Requested > total && !q.amongActivations() {
		k = int(math.Ceil(math.Log2(float64(*r.Requested) / (0.75 * float64(total)))))
		return k, fmt.Sprintf("%s requested / three quarters of the card's %s = %.2f, so %s", classifier.GiB(*r.Requested), classifier.GiB(total), float64(*r.Requested)/(0.75*float64(total)), times(k))
	}
	if r.Requested == nil || r.Free == nil || *r.Free <= 0 || *r.Requested <= *r.Free {
		return 1, ""
	}
	if n := q.scoresInBackward(); n > 1 {
		return n, fmt.Sprintf("%s requested / %s free = %.2f, and the backward pass takes three such tensors: %s", classifier.GiB(*r.Requested), classifier.GiB(*r.Free), float64(*r.Requested)/float64(*r.Free), times(n))
	}
	if q.layersToCome() {
		return 2, "it failed in a layer of the forward pass, and the log does not show how many were still to come, so halve twice"
	}
	if q.amongActivations() {
		return 1, "what other layers keep shrinks with it, so halve once"
	}
	if simplyFull(r) {
		return 1, "the request is less than a fiftieth of the card, which is simply full, so halve once"
	}
	ratio := float64(*r.Requested) / float64(*r.Free)
	k, why := max(1, int(math.Ceil(math.Log2(ratio)))), "so "
	logits, slack := len(q.request) > 0 && q.request[0].What == "logits", int64(1<<28) // losses go on to copy at least some rows
	if place, _ := failedPlace(q.Context); len(q.request) == 0 && place == memory.Logits {
		logits, slack = true, max(slack, leastMargin(q.Context)) // of a vocabulary that is not known, nor what is made of them
	}
	switch {
	case logits && q.copiesAfter() > 1:
		k, why = max(1, int(math.Ceil(math.Log2(float64(1+q.copiesAfter())*ratio)))), fmt.Sprintf("and copies in float32 then take %d times its size: ", q.copiesAfter())
	case logits && (q.phase == "forward" || q.phase == "logprob" && q.stackContains(1, ".float()", "float32")) && *r.Free < 2*(*r.Requested>>min(k, 62)):
		k, why = k+1, "and the loss, or the softmax behind the cast, makes another copy: "
	case logits && *r.Free-*r.Requested>>min(k, 62) < slack:
		k, why = k+1, "and the loss copies some of it: "
	}
	return k, fmt.Sprintf("%s requested / %s free = %.2f, ", classifier.GiB(*r.Requested), classifier.GiB(*r.Free), ratio) + why + times(k)
}

// scoresInBackward returns how often the attention scores whose softmax failed must be halved for the backward pass, or 0. It holds the
// probabilities in float32, their gradient and that of the scores (transformers' eager_attention_forward), in the place of the scores in
// 16 bits. A pass before the training step has the step's batch in the trainers that have one setting for both.
func (q *paramQuery) scoresInBackward() int {
	r := q.root
	step := q.phase == "forward" || q.phase == "logprob" && strings.Contains(q.p.Key, "train_batch")
	place, wide := failedPlace(q.Context)
	if !step || place != memory.Attention || wide != memory.Yes || !trains(q.Context) || q.work.untrained() || q.is("infers") {
		return 0
	}
	return int(math.Ceil(math.Log2(3 * float64(*r.Requested) / (float64(*r.Free) + float64(*r.Requested)/2))))
}

// layersToCome reports whether training failed in one of the layers before the head. What the rest of them keep, and what the backward pass
// takes, would have come on top.
func (q *paramQuery) layersToCome() bool {
	const part, many = 8, 8 // of the card: a larger request decides by itself; samples
	r := q.root
	place, _ := failedPlace(q.Context)
	logits := place == memory.Logits || len(q.request) > 0 && q.request[0].What == "logits"
	n, ok := q.int()
	return ok && n >= many && q.phase == "forward" && trains(q.Context) && !logits && !q.is("evaluating") && !q.is("infers") && !q.is("recomputes") && r.Total != nil && *r.Requested < *r.Total/part
}

// simplyFull reports whether the request is a small part of the card, so that what failed is one allocation of many.
func simplyFull(r *classifier.Root) bool {
	const small = 50
	return r.Total != nil && r.Requested != nil && *r.Requested < *r.Total/small
}

// copiesAfter returns what follows the logits that did not fit, in their size: transformers casts them and takes a softmax, and
// OpenRLHF casts them (openrlhf/models/actor.py).
func (ctx *Context) copiesAfter() int64 {
	if ctx.is("keeps_scores") {
		return 0 // what is computed of them is computed in pieces
	}
	if len(ctx.request) == 0 || ctx.request[0].Bytes != 2 || !ctx.passesThrough("/transformers/models/") {
		return 1
	}
	ownLoss := ctx.stackContains(80, "model(**inputs)", "model(**batch)", "labels=") // the model gets labels
	switch {
	case trains(ctx) && ownLoss:
		return 4
	case ctx.passesThrough("openrlhf/models/actor.py"):
		return 2
	}
	return 1
}

func times(k int) string {
	switch k {
	case 1:
		return "halve once"
	case 2:
		return "halve twice"
	}
	return fmt.Sprintf("halve %d times", k)
}

// halvingsAtFullLength returns how often the batch must be halved for samples of the longest length to fit as well, or for one
// sample to be left. The second result is false if that is unknown.
func (q *paramQuery) halvingsAtFullLength(key string) (k int, asks int64, ok bool) {
	l, r := q.limit, q.root
	if l == nil || l.Budget || l.Samples < 2 || q.amongActivations() || !sameKey(l.Key, key) || len(q.request) == 0 || q.request[0].High <= 0 || r.Free == nil || *r.Free <= 0 {
		return 0, 0, false
	}
	full := float64(*r.Requested) / float64(q.request[0].High) * float64(l.Tokens)
	k = int(math.Ceil(math.Log2(full / float64(*r.Free))))
	return min(max(k, 0), bits.Len64(uint64(l.Samples))-1), int64(full), true
}

// halveMicro halves a micro-batch until the request fits, even if all samples have the longest length that the settings
// allow.
func halveMicro(q *paramQuery, m int64) proposedValue {
	if m <= q.least() {
		return atBound("%s is %d already", q.p.Key, m)
	}
	k, how := q.halvings()
	n, asks, atFull := q.halvingsAtFullLength(q.p.Key)
	if atFull = atFull && n > k; atFull {
		k, how = n, how+fmt.Sprintf(" for this batch; at full length it asks for %s, so %s", classifier.GiB(asks), times(n))
	}
	to := max(m>>min(k, 62), q.least())
	if how != "" {
		how += ": "
	}
	how += fmt.Sprintf("%d / %d = %d", m, int64(1)<<min(k, 62), m>>min(k, 62)) + clamped(m>>min(k, 62), to, "one sample")
	if before := m >> min(k-1, 62); k > 1 && before > to {
		asks := int64(float64(*q.root.Requested) * float64(before) / float64(m))
		if free := q.root.Free; free != nil && asks <= *free && atFull {
			how += fmt.Sprintf(" (%d fits this batch, %s, but not full length)", before, classifier.GiB(asks))
		} else if free == nil || asks > *free {
			how += fmt.Sprintf(" (%d would still ask for %s)", before, classifier.GiB(asks))
		}
	}
	return proposedValue{to: itoa(to), how: how}
}

// halveMicroDivisor is halveMicro for verl, where the micro-batch must divide the mini-batch of one data-parallel
// rank (verl 0.6.1: workers/fsdp_workers.py, workers/megatron_workers.py).
func halveMicroDivisor(q *paramQuery, n int64) proposedValue {
	v := halveMicro(q, n)
	to, ok := parseInt(v.to)
	share, how, known := q.miniBatchPerRank()
	if !ok || !known {
		return v
	}
	d := to
	for d > 1 && share%d != 0 {
		d--
	}
	v.to = itoa(d)
	if d == to {
		v.how += fmt.Sprintf("; it divides the %d samples of one rank's mini-batch (%s)", share, how)
	} else {
		v.how += fmt.Sprintf("; the next divisor of the %d samples of one rank's mini-batch (%s) is %d", share, how, d)
	}
	return v
}

// halveMicroGlobal is halveMicroDivisor for a micro-batch that counts the samples of all ranks together: each gets its
// part, so the value stays a multiple of them.
func halveMicroGlobal(q *paramQuery, n int64) proposedValue {
	ranks, ok := q.gpus()
	if !ok || ranks < 1 || n > mostSamples {
		return proposedValue{}
	}
	if n <= ranks {
		return atBound("%s is %d already, one sample for each of %d ranks", q.p.Key, n, ranks)
	}
	each := n / ranks
	k, how := q.halvings()
	to := max(each>>min(k, 62), 1)
	if share, _, ok := q.miniBatchPerRank(); ok {
		for to > 1 && share%to != 0 {
			to--
		}
	}
	if how != "" {
		how += ": "
	}
	return proposedValue{to: itoa(to * ranks), how: how + fmt.Sprintf("%d / %d ranks = %d samples each, %d x %d = %d", n, ranks, each, to, ranks, to*ranks)}
}

// mostSamples limits the search for divisors, whatever the log claims.
const mostSamples = 1 << 24

func (q *paramQuery) miniBatchPerRank() (share int64, how string, ok bool) {
	owner := "actor_rollout_ref.actor"
	if strings.HasPrefix(q.p.Key, "critic.") {
		owner = "critic"
	}
	mini, ok1 := q.settings.integer(owner + ".ppo_mini_batch_size")
	samples, ok2 := q.settings.integer("actor_rollout_ref.rollout.n")
	if !ok2 {
		samples = 1
	}
	gpus, ok3 := q.gpus()
	if !ok1 || !ok3 || mini > mostSamples || samples > mostSamples || gpus > mostSamples {
		return 0, "", false
	}
	apart := int64(1)
	if q.is("backend:megatron") {
		for _, k := range []string{"tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size"} {
			if n, ok := q.settings.integer(owner + ".megatron." + k); ok {
				apart *= min(n, gpus)
			}
		}
	} else if sp, ok := q.settings.integer(owner+".ulysses_sequence_parallel_size", owner+".fsdp_config.ulysses_sequence_parallel_size"); ok {
		apart = sp
	}
	if apart <= 0 || gpus/apart == 0 {
		return 0, "", false
	}
	share = mini * samples / (gpus / apart)
	if share < 1 || share > mostSamples {
		return 0, "", false
	}
	return share, fmt.Sprintf("%d x %d / %d", mini, samples, gpus/apart), true
}

// keptScores halves the answers of a rollout until the scores that are kept of all of them and the padded copy, whose request failed, fit
// in what the first took and what was free.
func keptScores(q *paramQuery, n int64) proposedValue {
	r, k := q.root, 1
	if place, _ := failedPlace(q.Context); place == memory.Logits && q.stackContains(2, "batch_generation ") && r.Requested != nil && r.Free != nil {
		room := max(float64(*r.Free+*r.Requested-leastMargin(q.Context)), 1)
		k = max(1, int(math.Ceil(math.Log2(2*float64(*r.Requested)/room))))
	}
	if n <= 1 {
		return atBound("%s is %d already", q.p.Key, n)
	}
	to := max(n>>min(k, 62), 1)
	return proposedValue{to: itoa(to), how: fmt.Sprintf("%d / %d = %d", n, int64(1)<<min(k, 62), n>>min(k, 62)) + clamped(n>>min(k, 62), to, "one micro-batch")}
}
