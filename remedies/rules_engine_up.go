package remedies

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/remedies/memory"
)

// usualShare is the share that engines take by default. Only present values exceed it.
const usualShare = 0.9

// shareUp gives the engine what its cache lacks and a margin, up to the usual share, or to the parameter's maximum if the
// engine needs it. If it is unknown how much is lacking, a tenth of the card is a first guess.
func shareUp(q *paramQuery) proposedValue {
	f, ok := parseNumber(q.cur)
	if !ok || f <= 0 || f > 1 {
		return proposedValue{}
	}
	hi := q.most(0.9)
	b := feasibleShare(q.Context, q.p.Key, f)
	if b.low > f && b.high < hi && b.low+leastRoom > b.high {
		return proposedValue{bound: b.none(q.p.Key)}
	}
	hi = math.Min(hi, math.Floor(b.high*100)/100)
	if lacks := q.lacking(); float64(lacks) > (hi-f)*q.cardAtMost(f) {
		return atBound("%s lacks %s before any cache, more than a share of %s adds on any card", q.p.Key, classifier.GiB(lacks), fraction(hi))
	}
	if b.low > hi {
		b.high, b.highHow = hi, "the most that leaves room for anything else"
		return proposedValue{bound: b.none(q.p.Key)}
	}
	short, ok := q.shortfall()
	if all, has := q.oneSequence(); !ok && all > 0 {
		short, ok = all-has, true
	}
	if ok && q.incident.Kind == parser.KVCache && float64(short) > (hi-f)*q.cardAtMost(f) {
		return atBound("the cache lacks %s, more than a share of %s adds", classifier.GiB(short), fraction(hi))
	}
	if f >= hi-1e-9 {
		return atBound("%s is %s already; more leaves no room for anything else", q.p.Key, fraction(f))
	}
	usual := hi
	if f < usualShare-1e-9 && b.low <= usualShare {
		usual = math.Min(hi, usualShare)
	}
	if b.low > f && b.low < usualShare && q.root.Requested == nil && !b.cache {
		// Not even the memory before the cache fits. How much cache is needed is unknown.
		to := math.Min(math.Floor((b.low+usualShare)*50)/100, usual)
		return proposedValue{to: fraction(to), how: fmt.Sprintf("the middle between %s (%s) and the usual %s", fraction(math.Ceil(b.low*100)/100), b.lowHow, fraction(usualShare))}
	}
	if b.low > f {
		room, roomHow := 0.0, ""
		if !b.cache {
			room, roomHow = q.cacheRoom()
		}
		if total, _, ok := cardCapacity(q.Context); ok {
			margin := float64(min(marginOf(total), 2<<30))
			if weights, how, ok := q.weights(); ok && strings.HasPrefix(b.lowHow, how) { // nothing measured a step
				margin = math.Max(margin, math.Min(weights*(usualWeights-1), mostOfStep))
				roomHow += ", and what a step takes"
			} else {
				roomHow += ", and a margin"
			}
			room += margin / float64(total)
		}
		to := math.Max(math.Min(math.Ceil((b.low+room)*100-1e-6)/100, usual), math.Ceil(b.low*100-1e-6)/100)
		return proposedValue{to: fraction(math.Min(to, hi)), how: fmt.Sprintf("at least %s: %s%s", fraction(math.Ceil(b.low*100)/100), b.lowHow, roomHow)}
	}
	if to := math.Floor((f+usualShare)*50) / 100; to > f+firstGuess && to <= usual && !mayShareCard(q.Context) {
		return proposedValue{to: fraction(to), how: fmt.Sprintf("the middle between %s and the usual %s: the log does not show what is missing", fraction(f), fraction(usualShare))}
	}
	to := math.Min(f+firstGuess, usual)
	if weights, how, ok := q.weights(); ok && weights*usualWeights > to*commonCard && weights*usualWeights <= usual*commonCard {
		to = math.Ceil(weights*usualWeights/commonCard*100) / 100
		return proposedValue{to: fraction(to), how: fmt.Sprintf("%s, and half of that beside them, on a GPU of 80 GiB: the log does not show the card", how)}
	}
	return proposedValue{to: fraction(to), how: fmt.Sprintf("%s + %s, a first guess: the log does not show what is missing", fraction(f), fraction(to-f))}
}

// usualWeights is how much an engine takes at least for each byte of weights, with a step and some cache, mostOfStep the most that it takes
// beside them where nothing shows how much, and commonCard the largest of the common cards, in bytes.
const (
	usualWeights = 1.5
	mostOfStep   = 8 << 30
	commonCard   = 79 << 30
)

// weightsBeyond returns how many GiB of the weights must leave the card so that a quarter of it is free. Beyond a card's size
// nearly every layer would be copied in each step.
func weightsBeyond(q *paramQuery) proposedValue {
	const most = 0.75
	share, how, ok := q.weightShare()
	total, _, known := cardCapacity(q.Context)
	if !ok || !known || share <= most || share > 1+most {
		return proposedValue{}
	}
	return proposedValue{to: itoa(ceilDiv(int64((share-most)*float64(total)), 1<<30)), how: fmt.Sprintf("%s, less three quarters of %s", how, classifier.GiB(total))}
}

// cardsUp raises a share that counts cards, as unified memory has them: it doubles until the request fits.
func cardsUp(q *paramQuery) proposedValue {
	f, ok := parseNumber(q.cur)
	if !ok || f <= 0 || f > 64 {
		return proposedValue{}
	}
	to, how := 2*max(f, 1), ""
	if r := q.root; r.Requested != nil && r.Total != nil && *r.Total > 0 {
		for float64(*r.Requested) > (to-1)*float64(*r.Total) {
			to *= 2
		}
		how = fmt.Sprintf(": %s were requested on a card of %s", classifier.GiB(*r.Requested), classifier.GiB(*r.Total))
	}
	if to > q.most(64) {
		return proposedValue{}
	}
	return proposedValue{to: strconv.FormatFloat(to, 'f', 1, 64), how: fmt.Sprintf("%s / %s = %s times as much%s", strconv.FormatFloat(to, 'f', 1, 64), fraction(f), fraction(to/f), how)}
}

// largestCard is the most memory that a card has in 2026, in bytes.
const largestCard = 288 << 30

// lacking returns what the engine says it lacks before any cache, or 0.
func (q *paramQuery) lacking() int64 {
	for _, name := range []string{"vllm.kv_available", "vllm.profile"} {
		if g, ok := memory.Reading(q.run, q.incident, name); ok {
			left, _ := g.Fields.Int("available")
			return max(-left, 0)
		}
	}
	return 0
}

// oneSequence returns what one sequence of the planned length takes of each card's cache, and what the cache has, by the tokens in the
// engine's message and the model's layers, or by the Mamba blocks of the planned sequences; 0 where they are unknown.
func (q *paramQuery) oneSequence() (all, has int64) {
	in := q.input()
	if g, ok := memory.Reading(q.run, q.incident, "vllm.kv_available"); ok && in.CacheBlocks > 0 && in.CacheBlocks < in.PlannedSequences {
		has, _ = g.Fields.Int("available")
		return int64(float64(has) * float64(in.PlannedSequences) / float64(in.CacheBlocks)), has
	}
	if q.incident.Kind != parser.KVCache || in.OneSequence <= 0 || in.CacheTokens <= 0 || in.CacheTokens >= in.PlannedTokens {
		return 0, 0
	}
	return in.OneSequence, int64(float64(in.OneSequence) * float64(in.CacheTokens) / float64(in.PlannedTokens))
}

// cardAtMost returns the most memory that the card can have: as logged or, with what vLLM measures beside its cache taken for no more than
// a quarter of weights and cache, by the share f.
func (q *paramQuery) cardAtMost(f float64) float64 {
	if total, _, ok := cardCapacity(q.Context); ok {
		return float64(total)
	}
	used, _, ok1 := q.weights()
	cache, ok2 := memory.Reading(q.run, q.incident, "vllm.kv_available")
	left, _ := cache.Fields.Int("available")
	if short, ok := q.shortfall(); !ok2 && ok && q.root.Requested != nil {
		left, ok2 = *q.root.Requested-short, true
	}
	if all, has := q.oneSequence(); !ok2 && all > 0 {
		left, ok2 = has, true
	}
	if !ok1 || !ok2 || used*5/4+float64(left) <= 0 {
		return largestCard
	}
	return min((used*5/4+float64(left))/f, largestCard)
}

// leastRoom is the share of the card for a cache of unknown size.
const leastRoom = 0.02

// cacheRoom returns the share of the card for the cache of one sequence, if the engine's bounds leave out the cache.
func (q *paramQuery) cacheRoom() (share float64, how string) {
	if q.root.Requested != nil {
		return 0, "" // what the cache lacks is counted already
	}
	total, _, ok := cardCapacity(q.Context)
	length, okLength := q.settings.integer("max_model_len", "max_seq_len", "actor_rollout_ref.rollout.max_model_len")
	each, _ := tokenBytes(q.Context)
	if !ok || !okLength || length > mostTokens || each <= 0 || float64(each)*float64(length) > float64(total) {
		return leastRoom, ", and room for the cache"
	}
	return max(float64(each*length)/float64(total), leastRoom), fmt.Sprintf(", and %s for the cache of one sequence of %s tokens", classifier.GiB(each*length), memory.Thousands(length))
}

// shareFit returns the memory that was free at the engine's start as a share, in steps of 0.05. Below the parameter's minimum it takes
// steps of 0.01, if the weights are known to fit.
func shareFit(q *paramQuery) proposedValue {
	r := q.root
	f, ok := parseNumber(q.cur)
	if !ok || r.Free == nil || r.Total == nil || *r.Free <= 0 || *r.Total <= 0 {
		return proposedValue{}
	}
	b := feasibleShare(q.Context, q.p.Key, f)
	if b.empty() {
		return proposedValue{bound: b.none(q.p.Key)}
	}
	had := float64(*r.Free) / float64(*r.Total)
	to := math.Floor(had*20) / 20
	step := "0.05"
	if low := q.floor(0.3); to < low {
		to, step = math.Floor(had*100)/100, "0.01"
		if b.low == 0 || to < b.low {
			return proposedValue{}
		}
	}
	if to >= f {
		return proposedValue{}
	}
	return proposedValue{to: fraction(to), how: fmt.Sprintf("%s free / %s = %.3f, rounded down to a multiple of %s", classifier.GiB(*r.Free), classifier.GiB(*r.Total), had, step)}
}
