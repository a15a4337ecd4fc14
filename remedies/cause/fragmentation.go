package cause

import (
	"oomscan/classifier"
	"oomscan/remedies/memory"
)

// slackPart is the fraction of the card, as a divisor, that allocators leave unused at a peak.
const slackPart = 30

// leastHoles is the least unused reserve that explains a failure. Any trainer's peak leaves some hundred MiB.
const leastHoles = 1 << 30

// Fragmented reports that PyTorch's reserved but unused memory covers what was missing and exceeds the usual slack: it is a
// tenth of the card, or ten times the request, or the request is no larger than what was free.
func Fragmented(in *Input) string {
	missing, ok := in.missing()
	if !ok || in.Idle == nil || in.Requested == nil || in.Total == nil || *in.Idle < max(missing, leastHoles, *in.Total/slackPart) {
		return ""
	}
	if *in.Idle < *in.Total/10 && (in.Phase == "checkpoint" || *in.Idle/10 < *in.Requested && (in.Free == nil || *in.Free < *in.Requested)) {
		return "" // a checkpoint gathers many such pieces and keeps them
	}
	return gib(in.Idle) + " is reserved but unused" + in.lacked(", and ")
}

// lacked states what was missing after a comma or the like: the figure to compare an unused reserve with.
func (in *Input) lacked(before string) string {
	missing, ok := in.missing()
	switch {
	case !ok:
		return ""
	case in.Requested == nil:
		return before + in.shown(missing) + " was missing"
	}
	return before + in.shown(missing) + " of the " + gib(in.Requested) + " requested was missing"
}

// NotFragmented explains why what PyTorch holds in reserve is not the cause: all of it would not cover what was missing.
func NotFragmented(in *Input) string {
	if in.Idle == nil || Fragmented(in) != "" {
		return ""
	}
	idle := "only " + gib(in.Idle) + " is reserved but unused; "
	if *in.Idle == 0 {
		idle = "nothing is reserved but unused; "
	}
	switch missing, ok := in.missing(); {
	case ok && *in.Idle < missing:
		return idle + in.shown(missing) + " was missing"
	case !ok && in.Requested != nil && *in.Idle < *in.Requested:
		return idle + gib(in.Requested) + " was requested"
	}
	return ""
}

// UsualReserve explains why an unused reserve that could hold the failed request is still no sign of fragmentation.
func UsualReserve(in *Input) string {
	const usual = 20 // the part of the card, as a divisor, that stays unused at the peak of many runs
	switch {
	case in.Idle == nil || in.Total == nil || in.Requested == nil || Fragmented(in) != "" || NotFragmented(in) != "":
	case *in.Idle < *in.Total/usual:
		return "an unused reserve of " + gib(in.Idle) + " is normal on a GPU of " + gib(in.Total)
	case in.Phase == "checkpoint", gathers(in) != "" && *in.Idle < 2**in.Requested:
		return "this step makes many such allocations, more than the unused reserve of " + gib(in.Idle) + " holds"
	}
	return ""
}

// series lists frames whose requests come one after another, so the unused reserve would not cover them all.
var series = []string{"full_tensor", "all_gather", "allgather", "gather_param", "state_dict", "summon_full_params", "broadcast", "refit", "ipc", "get_weights", "named_parameters"}

// mostlyHoles reports that PyTorch's reserved but unused memory is many times what was missing, or more than twice the request, and a large
// part of the card.
func mostlyHoles(in *Input) string {
	missing, ok := in.missing()
	if Fragmented(in) == "" || !ok || in.passes(10, series...) {
		return ""
	}
	switch idle := *in.Idle; {
	case idle >= 10*missing && idle >= *in.Total/10, idle >= 4*missing && idle >= *in.Total/4:
		return "that is many times what was missing"
	case in.Requested != nil && idle >= 2**in.Requested && idle >= *in.Total/5:
		return "that is more than twice the request"
	}
	return ""
}

// engineHoles reports that a serving engine's unused reserve is twice the request and many times what was missing: its batches differ in
// size, and pieces that one of them left do not hold the next.
func engineHoles(in *Input) string {
	missing, ok := in.missing()
	if !ok || !in.servingEngine() || in.Idle == nil || in.Requested == nil || in.Total == nil || *in.Idle < *in.Total/slackPart || *in.Idle < max(2**in.Requested, 4*missing) {
		return ""
	}
	return gib(in.Idle) + " is reserved but unused, more than twice the request"
}

// manyHoles reports whether an engine's unused reserve is many times the request and what was missing.
func manyHoles(in *Input) bool {
	const many = 6
	missing, ok := in.missing()
	return ok && engineHoles(in) != "" && *in.Idle >= max(many**in.Requested, 2*many*missing)
}

// widerFollows says that the layer at work needs more next than PyTorch could hand out: a norm failed on the tokens of a whole prompt, and
// the feed-forward part makes wider tensors of the same tokens, two at a time (transformers, models/*/modeling_*.py).
func widerFollows(in *Input) string {
	if in.Requested == nil || in.Free == nil || in.Idle == nil || !in.passes(1, "/transformers/models/") {
		return ""
	}
	next := memory.FeedForward(*in.Requested, in.Hidden, in.Inner)
	if 2*next <= *in.Free+*in.Idle {
		return ""
	}
	return "the layer's feed-forward part makes two tensors of " + classifier.GiB(next) + " next, more than is free and reserved together"
}
