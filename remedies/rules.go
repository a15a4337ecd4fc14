package remedies

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"sync"

	"oomscan/classifier"
)

// proposedValue is a rule's result for a parameter.
type proposedValue struct {
	to    string // empty: no value can be computed
	how   string // the arithmetic, for a person to check
	bound string // not empty: the value is at its bound, and why
	freed *int64 // bytes
}

// paramQuery is one parameter of one incident.
type paramQuery struct {
	*Context
	p   *Parameter
	cur string // the value now, never empty; it may be None
}

// rules compute the next value of a parameter from its present one. They do not run if the log lacks that. Their results are
// checked against the parameter's direction and bounds: see allowed.
var rules = sync.OnceValue(func() map[string]func(q *paramQuery) proposedValue {
	return map[string]func(q *paramQuery) proposedValue{
		"halve":               whole(halve),
		"offload_per_card":    whole(offloadPerCard),
		"toward_default":      whole(towardDefault),
		"halve_length":        whole(halveLength),
		"adapter_rank":        whole(adapterRank),
		"sequences":           whole(fewerSequences),
		"pinned_size":         pinnedSize,
		"quarter":             whole(quarter),
		"shuffle_buffer":      whole(shuffleBuffer),
		"main_process":        whole(mainProcess),
		"halve_micro":         whole(halveMicro),
		"halve_micro_divisor": whole(halveMicroDivisor),
		"halve_micro_global":  whole(halveMicroGlobal),
		"budget_verl":         whole(budgetVerl),
		"budget_areal":        budgetAReaL,
		"budget_tokens":       whole(budgetTokens),
		"budget_packed":       whole(budgetPacked),
		"budget_start":        budgetStart,
		"kept_scores":         whole(keptScores),
		"share_down":          shareDown,
		"share_up":            shareUp,
		"share_fit":           shareFit,
		"cards_up":            cardsUp,
		"weights_beyond":      weightsBeyond,
		"offload_state":       offloadState,
		"concurrency":         whole(concurrency),
		"double_tp":           whole(doubleTP),
		"double_degree":       whole(doubleDegree),
		"degree_left":         whole(degreeLeft),
		"next_divisor":        whole(nextDivisor),
		"double":              double,
		"allocation_tp":       allocationTP,
		"backend_cp":          backendCP,
		"backend_tp":          backendTP,
		"ulysses":             whole(ulysses),
		"double_gpus":         whole(doubleGPUs),
		"state_cards":         whole(stateCards),
		"raise_stage":         raiseStage,
		"chunk":               chunk,
		"cap":                 capAt,
		"prefill_chunk":       prefillChunk,
		"fit_length":          fitLength,
		"bucket":              whole(bucket),
		"prefill_tgi":         whole(prefillTGI),
		"prompt_tgi":          whole(promptTGI),
		"total_tgi":           whole(totalTGI),
		"pool_tgi":            whole(poolTGI),
		"side":                side,
		"blocks":              moreBlocks,
		"pixels":              whole(fewerPixels),
		"images":              whole(fewerImages),
		"context":             contextLength,
		"slot_context":        whole(halve),
		"one_slot":            oneSlot,
		"split_by_free":       splitByFree,
		"host_ratio":          hostRatio,
		"share_per_rank":      sharePerRank,
		"layers":              layersThatFit,
		"fewer_layers":        plannedLayers,
		"unplanned":           unplanned,
		"allocator":           allocator,
		"free_card":           freeCards,
		"first_card":          firstCard,
		"pod_request":         podRequest,
		"host_memory":         hostMemory,
		"shm_size":            shmSize,
		"card_limit":          cardLimit,
		"card_share":          cardShare,
		"process_share":       processShare,
		"object_store":        objectStoreMemory,
		"trial_cpus":          trialCPUs,
	}
})

// nextValue runs the rule of a parameter. A rule that does not exist proposes nothing: the guides' check reports it.
func nextValue(q *paramQuery) proposedValue {
	if rule := rules()[q.p.Next]; rule != nil {
		return rule(q)
	}
	return proposedValue{}
}

// whole is a rule for settings that are whole numbers of at least 1. For other values it returns nothing.
func whole(rule func(q *paramQuery, n int64) proposedValue) func(q *paramQuery) proposedValue {
	return func(q *paramQuery) proposedValue {
		n, ok := q.int()
		if zero, parsed := parseInt(q.cur); parsed && zero == 0 && q.p.Direction == "down" && (q.p.Min == "0" || q.p.Min == "1") {
			return atBound("%s is 0 already", q.p.Key)
		}
		if !ok {
			return proposedValue{}
		}
		return rule(q, n)
	}
}

func (q *paramQuery) int() (int64, bool) { n, ok := parseInt(q.cur); return n, ok && n > 0 }

// least returns the parameter's lower bound, or 1 if it has none.
func (q *paramQuery) least() int64 {
	if n, ok := parseInt(q.p.Min); ok {
		return n
	}
	return 1
}

func (q *paramQuery) most(d float64) float64 {
	if f, ok := parseNumber(q.p.Max); ok {
		return f
	}
	return d
}

func (q *paramQuery) floor(d float64) float64 {
	if f, ok := parseNumber(q.p.Min); ok {
		return f
	}
	return d
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// fraction prints a share with at most two decimals, as people write it.
func fraction(f float64) string {
	return strconv.FormatFloat(math.Round(f*100)/100, 'f', -1, 64)
}

func atBound(format string, args ...any) proposedValue {
	return proposedValue{bound: fmt.Sprintf(format, args...)}
}

// quarter is for processes that each hold a copy of something. No log shows its size, and the main process stays.
func quarter(q *paramQuery, n int64) proposedValue {
	low := q.least()
	if n <= low {
		return atBound("%s is %d already, the minimum", q.p.Key, n)
	}
	to := max(n/4, low, min(n-1, 1)) // 0 only after 1: then the main process loads the data
	return proposedValue{to: itoa(to), how: fmt.Sprintf("%d / 4 = %d", n, n/4) + clamped(n/4, to, "the minimum")}
}

// mainProcess is for /dev/shm: one batch may exceed what a container has by default, so any number of workers may fail again. Where somebody
// gave it a size, it holds batches, and fewer workers keep fewer of them.
func mainProcess(q *paramQuery, n int64) proposedValue {
	if q.is("set:--shm-size") || q.is("set:shm_size") {
		return quarter(q, n)
	}
	if n <= 0 {
		return atBound("%s is %d already, the minimum", q.p.Key, n)
	}
	return proposedValue{to: "0", how: "none, so that the main process loads the data"}
}

// halve halves a value, but not below the parameter's minimum.
func halve(q *paramQuery, n int64) proposedValue {
	low := q.least()
	if n <= low {
		return atBound("%s is %d already, the minimum", q.p.Key, n)
	}
	k, why := 1, ""
	own := len(q.request) > 0 && q.request[0].Met && sameKey(q.request[0].Key, q.p.Key) // the setting is the request's size
	if r := q.root; (own || q.is("profile_run")) && r.Requested != nil && r.Free != nil && *r.Free > 0 && *r.Requested > *r.Free {
		// The engine plans for this many, or the buffer has this many: the request grows with them.
		ratio := float64(*r.Requested) / float64(*r.Free)
		k, why = int(math.Ceil(math.Log2(ratio))), fmt.Sprintf("%s requested / %s free = %.2f: ", classifier.GiB(*r.Requested), classifier.GiB(*r.Free), ratio)
		if own && q.phase == "backward" && q.request[0].What == gradientBucket { // made when the pass begins
			k, why = int(math.Ceil(math.Log2(2*ratio))), strings.TrimSuffix(why, ": ")+", and the gradients of a layer come next: "
		}
	}
	raw := n >> min(k, 62)
	to := max(raw, low)
	return proposedValue{to: itoa(to), how: why + fmt.Sprintf("%d / %d = %d", n, int64(1)<<min(k, 62), raw) + clamped(raw, to, "the minimum")}
}

// towardDefault halves a bound, or takes the program's default where it is far lower: no sample may come near the bound.
func towardDefault(q *paramQuery, n int64) proposedValue {
	if d, ok := parseInt(q.p.Default); ok && d > 0 && n/4 >= d {
		return proposedValue{to: itoa(d), how: "the program's default"}
	}
	return halve(q, n)
}

// pinnedSize lowers the size of a cache that each rank of an engine pins in host memory to a power of two, until all of them leave a quarter
// of the limit to the rest: PyTorch rounds pinned memory up to one (LMCache #1147). LMCache logs the size with its unit and reads it
// without, in GiB (lmcache/v1/storage_backend/local_cpu_backend.py).
func pinnedSize(q *paramQuery) proposedValue {
	number, _, _ := strings.Cut(q.cur, " ")
	f, ok := parseNumber(number)
	if !ok || f < 2 {
		return proposedValue{}
	}
	ranks, _ := q.settings.integer("tensor_parallel_size")
	limit, to := float64(deref(q.root.Limit))/(1<<30), math.Exp2(math.Ceil(math.Log2(f))-1)
	for limit > 0 && to >= 2 && to*float64(max(ranks, 1)) > limit*3/4 {
		to /= 2
	}
	how := "a power of two, as pinned memory is rounded up to one"
	if ranks > 1 && limit > 0 {
		how += fmt.Sprintf("; %d ranks x %s = %.0f GiB", ranks, fraction(to), float64(ranks)*to)
	}
	return proposedValue{to: fraction(to), how: how}
}

func clamped(raw, to int64, why string) string {
	if raw == to {
		return ""
	}
	return fmt.Sprintf(", not below %d, %s", to, why)
}

// double doubles a value.
func double(q *paramQuery) proposedValue {
	n, ok := q.int()
	if zero, isInt := parseInt(q.cur); isInt && zero == 0 && q.p.Value != "" {
		return proposedValue{to: q.p.Value, how: "none so far; the usual value"}
	}
	if !ok || n > 1<<50 {
		return proposedValue{}
	}
	if hi := int64(q.most(1 << 60)); n*2 > hi {
		return atBound("%s is %d already, twice that is more than %d", q.p.Key, n, hi)
	}
	return proposedValue{to: itoa(2 * n), how: fmt.Sprintf("2 x %d = %d", n, 2*n)}
}

// raiseStage goes up one stage, and to the third where the weights themselves do not fit: no other splits them.
func raiseStage(q *paramQuery) proposedValue {
	n, ok := parseInt(q.cur)
	if !ok || n < 0 {
		return proposedValue{}
	}
	if n >= int64(q.most(3)) {
		return atBound("%s is %d already", q.p.Key, n)
	}
	switch {
	case q.phase == "init" && q.is("loading_weights"):
		return proposedValue{to: "3", how: "the only stage that splits the weights"}
	case q.phase == "init" && n == 1:
		return proposedValue{to: "3", how: "stage 2 splits gradients, and there are none yet"}
	}
	return proposedValue{to: itoa(n + 1), how: fmt.Sprintf("%d + 1 = %d", n, n+1)}
}

// bucket goes down to the next power of two.
func bucket(q *paramQuery, n int64) proposedValue {
	low := q.least()
	if n <= max(low, 1) {
		return atBound("%s is %d already", q.p.Key, n)
	}
	to := int64(1) << (bits.Len64(uint64(n-1)) - 1) // the largest power of two below n
	if to < low {
		return atBound("%s is %d already", q.p.Key, n)
	}
	how := fmt.Sprintf("the next smaller power of two below %d", n)
	if to*2 == n {
		how = fmt.Sprintf("%d / 2 = %d", n, to)
	}
	freed := n - to
	out := proposedValue{to: itoa(to), how: how}
	if strings.Contains(q.p.Key, "buffer-size") { // bytes
		out.freed = &freed
	} else if strings.Contains(q.p.Key, "mega") || strings.Contains(q.p.Key, "_mb") {
		freed <<= 20
		out.freed = &freed
	}
	return out
}

// allocator adds a setting of PyTorch's allocator to the present ones.
func allocator(q *paramQuery) proposedValue {
	if isNone(q.cur) {
		return proposedValue{to: q.p.Value}
	}
	name, _, _ := strings.Cut(q.p.Value, ":")
	var kept []string
	for part := range strings.SplitSeq(strings.Trim(q.cur, `"'`), ",") {
		k, _, _ := strings.Cut(strings.TrimSpace(part), ":")
		if strings.EqualFold(strings.TrimSpace(part), q.p.Value) {
			return atBound("%s holds %s already", q.p.Key, q.p.Value)
		}
		if k != name && k != "" {
			kept = append(kept, strings.TrimSpace(part))
		}
	}
	return proposedValue{to: strings.Join(append(kept, q.p.Value), ","), how: "added to what is set"}
}
