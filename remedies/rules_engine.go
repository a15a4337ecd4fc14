package remedies

import (
	"fmt"
	"math"
	"math/bits"

	"oomscan/classifier"
)

// shareStep is by how much an engine's share of the card moves at a time.
const shareStep = 0.1

// shareDown takes a tenth of the card from the engine, not below the parameter's floor, nor below what the weights
// need.
func shareDown(q *question) next {
	f, ok := parseNumber(q.cur)
	if !ok || f <= 0 || f > 1 {
		return next{}
	}
	low, why := q.floor(0.3), "the floor of this advice"
	if w, how, ok := q.weightShare(); ok && w > low {
		low, why = w, how
	}
	if f <= low+1e-9 {
		return atBound("%s is %s already (%s is %s)", q.p.Key, fraction(f), why, fraction(low))
	}
	to := math.Max(f-shareStep, low)
	to = math.Ceil(to*100-1e-6) / 100
	if to >= f {
		return atBound("%s is %s already (%s is %s)", q.p.Key, fraction(f), why, fraction(low))
	}
	out := next{to: fraction(to), how: fmt.Sprintf("%s - %s", fraction(f), fraction(f-to))}
	if t := q.in.Root.Total; t != nil && *t > 0 {
		freed := int64(math.Round((f - to) * float64(*t)))
		out.freed = &freed
		out.how += fmt.Sprintf(": gives back %s of %s", classifier.GiB(freed), classifier.GiB(*t))
	}
	return out
}

// weightShare is the share that two-byte weights need with a tenth to spare.
func (q *question) weightShare() (share float64, how string, ok bool) {
	params, total := q.run.Model.Parameters, q.in.Root.Total
	if params == nil || *params <= 0 || total == nil || *total <= 0 {
		return 0, "", false
	}
	tp := int64(1)
	if n, ok := q.settings.integer("actor_rollout_ref.rollout.tensor_model_parallel_size", "tensor_parallel_size", "tp_size", "rollout_num_gpus_per_engine"); ok {
		tp = n
	}
	bytes := 2 * float64(*params) / float64(tp)
	return bytes * 1.1 / float64(*total), fmt.Sprintf("1.1 x %s of weights per GPU on this card", classifier.GiB(int64(bytes))), true
}

// usualShare is the share that engines take by default; only what is there already goes beyond it.
const usualShare = 0.9

// shareUp gives the engine a tenth of the card more, up to the usual share, and to the parameter's maximum from there.
func shareUp(q *question) next {
	f, ok := parseNumber(q.cur)
	if !ok || f <= 0 || f > 1 {
		return next{}
	}
	hi := q.most(0.9)
	if f >= hi-1e-9 {
		return atBound("%s is %s already; more leaves no room for anything else", q.p.Key, fraction(f))
	}
	if f < usualShare-1e-9 {
		hi = math.Min(hi, usualShare)
	}
	to := math.Min(f+shareStep, hi)
	return next{to: fraction(to), how: fmt.Sprintf("%s + %s", fraction(f), fraction(to-f))}
}

// shareFit is the share that the memory that was free at the engine's start amounts to, in steps of 0.05.
func shareFit(q *question) next {
	r := &q.in.Root
	f, ok := parseNumber(q.cur)
	if !ok || r.Free == nil || r.Total == nil || *r.Free <= 0 || *r.Total <= 0 {
		return next{}
	}
	had := float64(*r.Free) / float64(*r.Total)
	to := math.Floor(had*20) / 20
	how := fmt.Sprintf("%s free / %s = %.3f, rounded down to a multiple of 0.05", classifier.GiB(*r.Free), classifier.GiB(*r.Total), had)
	if to < q.floor(0.3) || to >= f {
		return next{}
	}
	return next{to: fraction(to), how: how}
}

// offloadState moves the optimizer's state: a master copy and Adam's two moments, 12 bytes per parameter, split over
// the ranks.
func offloadState(q *question) next {
	if on, ok := parseBool(q.cur); ok && on {
		return atBound("%s is %s already", q.p.Key, q.cur)
	}
	out := next{to: q.p.Value}
	params, world := q.run.Model.Parameters, int64(0)
	if n, ok := q.gpus(); ok {
		world = n
	}
	if params != nil && *params > 0 && *params < 1<<50 && world > 0 {
		freed := 12 * *params / world
		out.freed, out.how = &freed, fmt.Sprintf("12 bytes x %.3g parameters / %d GPUs = %s per GPU", float64(*params), world, classifier.GiB(freed))
	}
	return out
}

// concurrency takes the guide's step, 256 to 200, and powers of two below it.
func concurrency(q *question) next {
	n, ok := q.int()
	switch {
	case !ok:
		return next{}
	case n == 1:
		return atBound("%s is 1 already", q.p.Key)
	case n >= 256:
		return next{to: itoa(n / 32 * 25), how: fmt.Sprintf("the guide's step (256 to 200): %d x 200 / 256", n)}
	}
	to := int64(1) << (bits.Len64(uint64(n-1)) - 1)
	return next{to: itoa(to), how: fmt.Sprintf("the next smaller power of two below %d", n)}
}
