package remedies

import (
	"fmt"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser/lazyre"
	"oomscan/remedies/memory"
)

// heads returns the number of attention heads and of key-value heads, or 0 if neither the log nor the model's name has it.
func (q *paramQuery) heads() (heads, kv int64) {
	m := q.model
	return m.Heads.Value, m.KVHeads.Value
}

// by returns the source of the heads if the log does not print them.
func (q *paramQuery) by() string {
	if q.model.Heads.Named {
		return " (heads by the model's name)"
	}
	return ""
}

// splits reports whether heads can be spread over n ranks: query heads evenly, key-value heads evenly or replicated
// evenly (verl/models/transformers/monkey_patch.py). Unknown counts pass.
func splits(n, heads, kv int64) bool {
	return (heads == 0 || heads%n == 0) && (kv == 0 || kv%n == 0 || n%kv == 0)
}

// doubleTP doubles an engine's tensor-parallel size within one node, or raises it as far as the weights need.
func doubleTP(q *paramQuery, n int64) proposedValue {
	if most := int64(q.most(mostTokens)); n >= most {
		return atBound("%s is %d, as many GPUs as a node has", q.p.Key, n)
	}
	per, ok := q.gpusPerNode()
	if !ok {
		per, ok = q.cardsForEngine(n)
	}
	if !ok && n > 8 {
		return atBound("%s is %d, more GPUs than most nodes have", q.p.Key, n)
	}
	if !ok {
		return tpForWeights(q, n)
	}
	if n > per {
		return proposedValue{}
	}
	heads, kv := q.heads()
	if 2*n > per {
		return atBound("%s is %d, and a node has %d GPUs", q.p.Key, n, per)
	}
	if per%(2*n) != 0 && !isServer(programOf(q.run).ID) || !splits(2*n, heads, kv) {
		return atBound("%s is %d, and the attention heads (%d, key-value %d) cannot be spread over %d GPUs", q.p.Key, n, heads, kv, 2*n)
	}
	if to, how := q.tpForShare(n); to > 2*n {
		if per%to != 0 || !splits(to, heads, kv) {
			return atBound("%s, for which %d GPUs or more are needed", how, to)
		}
		return proposedValue{to: itoa(to), how: how}
	}
	if fits := tpForWeights(q, n); fits.to != "" {
		if to, _ := parseInt(fits.to); to > per && q.listsCards(to) {
			fits.how += "; CUDA_VISIBLE_DEVICES has to name as many"
			return fits
		} else if to > per {
			return atBound("the weights need %s at %d GPUs or more, and a node has %d", q.p.Key, to, per)
		} else if to > 2*n && per%to == 0 {
			return fits
		}
	}
	return proposedValue{to: itoa(2 * n), how: fmt.Sprintf("2 x %d = %d of the node's %d GPUs", n, 2*n, per)}
}

// cardsForEngine returns the cards that an inference server of n may use: those that it is told to see, or by nvidia-smi those of the
// table if they are too few for twice as many, or at least twice as many if enough of them are free. Otherwise it is unknown.
func (q *paramQuery) cardsForEngine(n int64) (cards int64, ok bool) {
	busy, table := listedCards(q.Context)
	cards = int64(len(busy))
	if !isServer(programOf(q.run).ID) || q.run.Nodes != nil && *q.run.Nodes > 1 {
		return 0, false
	}
	if f, set := q.settings.find("CUDA_VISIBLE_DEVICES", true); set && f.value.Form != "script" {
		if seen := int64(len(strings.Split(f.value.Value, ","))); seen > n {
			return seen, true
		}
	}
	if cards == 0 {
		return 0, false
	}
	for d := range cards {
		if _, listed := busy[d]; !listed {
			return 0, false // of some cards only
		}
	}
	for _, key := range []string{"pipeline_parallel_size", "pp_size", "data_parallel_size", "dp_size"} {
		if k, ok := q.settings.integer(key); ok && k > 1 {
			return 0, false
		}
	}
	free := int64(0)
	for _, taken := range busy {
		if !taken {
			free++
		}
	}
	return cards, table && cards < 2*n || free >= 2*n || free >= n && cards == 2*n
}

// listsCards reports whether nvidia-smi lists so many cards on the node of an inference server, of which it was told to use fewer.
func (q *paramQuery) listsCards(n int64) bool {
	busy, _ := listedCards(q.Context)
	return isServer(programOf(q.run).ID) && q.settings.has("CUDA_VISIBLE_DEVICES") && int64(len(busy)) >= n
}

// oneNode is how many GPUs most nodes have.
const oneNode = 8

// tpForWeights returns the least tensor-parallel size with which the weights fit and leave some memory, if the number of GPUs
// is unknown. If the weights did not fit and their size is unknown, it doubles the size.
func tpForWeights(q *paramQuery, n int64) proposedValue {
	const mostWeights = 0.85
	mostGPUs := int64(q.most(64))
	share, how, ok := q.weightShare()
	if !ok && q.is("engine_process") && q.is("before_cache") && !q.is("profile_run") {
		heads, kv := q.heads()
		if 2*n > oneNode || !splits(2*n, heads, kv) {
			return proposedValue{}
		}
		return proposedValue{to: itoa(2 * n), how: fmt.Sprintf("2 x %d, where there are %d GPUs", n, 2*n)}
	}
	if !ok || share <= mostWeights {
		return proposedValue{}
	}
	to := n
	for ; share*float64(n) > mostWeights*float64(to) && to < mostGPUs; to *= 2 {
	}
	if heads, kv := q.heads(); to > mostGPUs || to == n || !splits(to, heads, kv) {
		return proposedValue{}
	}
	return proposedValue{to: itoa(to), how: fmt.Sprintf("%s; over %d GPUs they take %.0f %% of each", how, to, 100*share*float64(n)/float64(to))}
}

// tpForShare returns the least multiple of a tensor-parallel size with which vLLM's share holds the weights, by what it lacks before any
// cache; twice the size where that is unknown.
func (q *paramQuery) tpForShare(n int64) (to int64, how string) {
	to = 2 * n
	lacks := q.lacking()
	weights, size, ok := q.weights()
	for ; ok && weights*(1-float64(n)/float64(to)) < float64(lacks) && to < mostRanks; to *= 2 {
	}
	return to, fmt.Sprintf("the share lacks %s before any cache, beside %s", classifier.GiB(lacks), size)
}

// degrees lists how programs call the sizes that divide a trainer's GPUs besides data parallelism: Megatron, TorchTitan, Automodel.
var degrees = [][]string{
	{"tensor_model_parallel_size", "tensor_parallel_size", "tensor_parallel_degree", "tp_size"},
	{"pipeline_model_parallel_size", "pipeline_parallel_size", "pipeline_parallel_degree", "pp_size"},
	{"context_parallel_size", "sequence_parallel_size", "context_parallel_degree", "cp_size"},
}

// doubleDegree doubles one of these sizes. With those beside it in the configuration it must divide the GPUs; sizes of tensor
// parallelism and Ulysses must divide the heads, too.
func doubleDegree(q *paramQuery, n int64) proposedValue {
	replica, last := 2*n, lastWord(q.p.Key)
	path := plain(q.p.Key)[:len(plain(q.p.Key))-len(last)]
	if heads, kv := q.heads(); containsAny(last, []string{"tensor", "tp_size", "ulysses"}) && !splits(2*n, heads, kv) {
		return atBound("%s is %d, and the attention heads (%d, key-value %d) cannot be spread over %d GPUs", q.p.Key, n, heads, kv, 2*n)
	}
	for _, names := range degrees {
		if slices.Contains(names, last) {
			continue
		}
		for _, name := range names {
			if size, ok := q.settings.integer(path + name); ok && size > 0 && size < mostSize {
				replica *= size
				break
			}
		}
	}
	if world, ok := q.gpus(); ok && world%replica != 0 {
		return atBound("%s is %d, and %d GPUs cannot be divided by %d", q.p.Key, n, world, replica)
	}
	return proposedValue{to: itoa(2 * n), how: fmt.Sprintf("2 x %d", n)}
}

// nextDivisor takes the next size above the current one that divides the GPUs. Ring attention does not split the heads.
func nextDivisor(q *paramQuery, n int64) proposedValue {
	const most = 64
	world, ok := q.gpus()
	if !ok {
		return proposedValue{to: itoa(2 * n), how: fmt.Sprintf("2 x %d; it must divide the GPUs", n)}
	}
	largest := n
	for size := n + 1; size <= min(world, most); size++ {
		if world%size != 0 {
			continue
		}
		if largest = size; q.smallEnough(n, size) {
			break
		}
	}
	if largest > n {
		return proposedValue{to: itoa(largest), how: fmt.Sprintf("the least size above %d that divides %d GPUs and leaves the failed request a tenth of the card", n, world)}
	}
	return atBound("%s is %d, and no larger size divides %d GPUs", q.p.Key, n, world)
}

// smallEnough reports whether the failed request is small beside the card once it is split over more ranks: several tensors of its
// kind exist at once, so room for one of them is not enough.
func (q *paramQuery) smallEnough(from, to int64) bool {
	r := q.root
	if r.Requested == nil || r.Total == nil {
		return true
	}
	return *r.Requested/to*from <= *r.Total/10
}

// degreeLeft takes the shard degree that TorchTitan's other degrees leave of the GPUs, which it also takes for -1.
func degreeLeft(q *paramQuery, n int64) proposedValue {
	world, ok := q.gpus()
	if !ok {
		return proposedValue{}
	}
	others := int64(1)
	for _, key := range []string{"tensor_parallel_degree", "pipeline_parallel_degree", "context_parallel_degree"} {
		if size, ok := q.settings.integer("parallelism." + key); ok && size > 0 && size < mostSize {
			others *= size
		}
	}
	if world/others <= n || world%others != 0 {
		return atBound("%s is %d, and the other degrees leave no more of %d GPUs", q.p.Key, n, world)
	}
	return proposedValue{to: itoa(world / others), how: fmt.Sprintf("%d GPUs / %d", world, others)}
}

// ulysses takes the next sequence-parallel size above the current one that divides the heads and the ranks.
func ulysses(q *paramQuery, n int64) proposedValue {
	heads, kv := q.heads()
	world, ok := q.trainers()
	if ok && heads == 0 && n == 1 && world > 0 && world%2 == 0 {
		return proposedValue{to: "2", how: "2 x 1; check that it divides the model's attention heads"}
	}
	if !ok || heads == 0 {
		return proposedValue{}
	}
	valid := ulyssesSizes(world, heads, kv)
	i := slices.IndexFunc(valid, func(s int64) bool { return s > n })
	if i < 0 {
		return atBound("%s is %d, and no larger size divides both %d heads and %d GPUs", q.p.Key, n, heads, world)
	}
	return proposedValue{to: itoa(valid[i]), how: fmt.Sprintf("the next size above %d that divides %d heads and %d GPUs; valid are %s", n, heads, world, listed(valid)) + q.by()}
}

// ulyssesSizes returns the sequence-parallel sizes that the ranks and the heads allow, ascending from 1.
func ulyssesSizes(world, heads, kv int64) []int64 {
	const most = 1024
	var out []int64
	for s := int64(1); s <= min(world, heads, most); s++ {
		if world%s == 0 && splits(s, heads, kv) {
			out = append(out, s)
		}
	}
	return out
}

func listed(sizes []int64) string {
	out := make([]string, len(sizes))
	for i, s := range sizes {
		out[i] = itoa(s)
	}
	return strings.Join(out, ", ")
}

// trainers returns the degree over which a trainer can split sequences: the data parallelism of AReaL's layout, all GPUs of
// other frameworks.
func (q *paramQuery) trainers() (int64, bool) {
	mode, ok := q.settings.find("allocation_mode", true)
	if !ok {
		return q.gpus()
	}
	parts := cutLayouts(mode.value.Value)
	m := trainPart().FindStringSubmatch(strings.TrimSpace(parts[len(parts)-1]))
	if m == nil {
		return 0, false
	}
	for _, d := range dimension().FindAllStringSubmatch(m[2], -1) {
		if d[1] == "d" {
			return parseInt(d[2])
		}
	}
	return 1, true
}

// AReaL's notations for layouts of GPUs: "sglang.d4p1t2+d8" (the guide), "sglang:d4t2+fsdp:d8", "fsdp:d8".
var (
	serverPart = lazyre.New(`^((?:sglang|vllm)(?:\[[a-z]{1,20}\])?[.:])((?:[dtpcem][0-9]{1,5}){1,6})$`)
	trainPart  = lazyre.New(`^((?:(?:fsdp|megatron|archon)(?:\[[a-z]{1,20}\])?[.:])?)((?:[dtpcem][0-9]{1,5}){1,6})$`)
	dimension  = lazyre.New(`([dtpcem])([0-9]{1,5})`)
)

// shift halves the data-parallel degree d of a layout and doubles the degree of the letter, on the same GPUs.
func shift(layout string, letter byte) (out string, to int64, ok bool) {
	dims := dimension().FindAllStringSubmatch(layout, -1)
	if letter == 't' && strings.Contains(layout, "m") {
		letter = 'm' // the first releases wrote m for tensor parallelism
	}
	to = 2
	var b strings.Builder
	seen := false
	for _, d := range dims {
		n, _ := parseInt(d[2])
		switch d[1][0] {
		case 'd':
			if n < 2 || n%2 != 0 {
				return "", 0, false
			}
			n /= 2
		case letter:
			n *= 2
			to, seen = n, true
		}
		fmt.Fprintf(&b, "%s%d", d[1], n)
	}
	if !seen {
		fmt.Fprintf(&b, "%c2", letter)
	}
	return b.String(), to, strings.Contains(layout, "d")
}

// cutLayouts cuts AReaL's notation at the signs between its parts, "+" for parts with separate GPUs and "|" for parts that
// share them, but not inside the parentheses of a layout for experts. It returns the signs between the parts: joined, they
// are the text again.
func cutLayouts(mode string) []string {
	var out []string
	depth, begin := 0, 0
	for i, c := range mode {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case depth == 0 && (c == '+' || c == '|'):
			out = append(out, mode[begin:i], mode[i:i+1])
			begin = i + 1
		}
	}
	return append(out, mode[begin:])
}

// allocationTP turns data parallelism of AReaL's inference servers into tensor parallelism.
func allocationTP(q *paramQuery) proposedValue {
	heads, kv := q.heads()
	parts := cutLayouts(q.cur)
	for i, p := range parts {
		m := serverPart().FindStringSubmatch(strings.TrimSpace(p))
		if m == nil {
			continue
		}
		layout, tp, ok := shift(m[2], 't')
		if !ok {
			return atBound("%s is %s: no data parallelism is left to turn into tensor parallelism", q.p.Key, shown(q.cur))
		}
		if !splits(tp, heads, kv) {
			return atBound("%s is %s, and %d heads cannot be spread over %d GPUs", q.p.Key, shown(q.cur), heads, tp)
		}
		parts[i] = m[1] + layout
		return proposedValue{to: strings.Join(parts, ""), how: fmt.Sprintf("%s becomes %s on the same GPUs", m[2], layout)}
	}
	return proposedValue{}
}

// backendCP turns data parallelism of AReaL's trainer into context parallelism, AReaL's name for Ulysses.
func backendCP(q *paramQuery) proposedValue { return trainLayout(q, 'c', "context") }

// backendTP turns it into tensor parallelism.
func backendTP(q *paramQuery) proposedValue { return trainLayout(q, 't', "tensor") }

func trainLayout(q *paramQuery, letter byte, kind string) proposedValue {
	heads, kv := q.heads()
	parts := cutLayouts(q.cur)
	last := len(parts) - 1
	m := trainPart().FindStringSubmatch(strings.TrimSpace(parts[last]))
	if m == nil || serverPart().MatchString(strings.TrimSpace(parts[last])) {
		return proposedValue{}
	}
	layout, n, ok := shift(m[2], letter)
	if !ok {
		return atBound("%s is %s: no data parallelism is left to turn into %s parallelism", q.p.Key, shown(q.cur), kind)
	}
	if !splits(n, heads, kv) {
		return atBound("%s is %s, and %d heads (key-value %d) cannot be spread over %d ranks", q.p.Key, shown(q.cur), heads, kv, n)
	}
	how := fmt.Sprintf("%s becomes %s on the same GPUs", m[2], layout)
	if heads > 0 {
		how += fmt.Sprintf("; %d divides %d heads", n, heads) + q.by()
	} else {
		how += "; check that it divides the model's attention heads"
	}
	parts[last] = m[1] + layout
	return proposedValue{to: strings.Join(parts, ""), how: how}
}

// doubleGPUs doubles the GPUs of a node, up to the usual size of nodes.
func doubleGPUs(q *paramQuery, n int64) proposedValue {
	if 2*n > oneNode {
		return atBound("%s is %d; nodes rarely have more than %d", q.p.Key, n, oneNode)
	}
	return proposedValue{to: itoa(2 * n), how: fmt.Sprintf("2 x %d = %d", n, 2*n)}
}

// stateCards raises the GPUs that train, by doubling, until the model's states fill at most three quarters of each. Where their
// size is unknown, it doubles once. Where nothing is known to split them, more GPUs each hold them whole.
func stateCards(q *paramQuery, n int64) proposedValue {
	if !strings.HasPrefix(q.run.Backend, "fsdp") && q.run.Backend != "deepspeed" && !q.passesThrough("/transformers/trainer", "_single_device") {
		return proposedValue{}
	}
	var states int64
	for _, p := range fullest(q.setup, failedPhases(q.Context), memory.OnCard).Parts {
		if slices.Contains([]string{"weights", "gradients", "optimizer"}, p.ID) {
			states += p.Bytes
		}
	}
	room := deref(q.root.Total) * 3 / 4
	if states == 0 || room == 0 {
		return doubleGPUs(q, n)
	}
	for to := 2 * n; to <= oneNode; to *= 2 {
		if each := states * n / to; each <= room {
			return proposedValue{to: itoa(to), how: fmt.Sprintf("%s of states / %d = %s on each", classifier.GiB(states*n), to, classifier.GiB(each))}
		}
	}
	return proposedValue{}
}

// moreBlocks moves half of the blocks that are still on the card, rounded up, to host memory. One has to stay.
func moreBlocks(q *paramQuery) proposedValue {
	g, ok := lastReading(q.run, "musubi.swap")
	n, ok1 := g.Fields.Int("count")
	all, ok2 := g.Fields.Int("all")
	if !ok || !ok1 || !ok2 || all > mostLayers || n < 1 || n >= all-1 {
		return proposedValue{}
	}
	return proposedValue{to: itoa(min(n+ceilDiv(all-n, 2), all-1)), how: fmt.Sprintf("half of the %d blocks that stay on the card now", all-n)}
}
