package remedies

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"oomscan/classifier"
	"oomscan/parser/lazyre"
	"oomscan/remedies/cause"
)

// hostMemory adds a half, or a quarter to what was in use if that is more, in round steps: of 8 GiB for a node, of 4 for a small
// container, of 1 for a part of it.
func hostMemory(q *paramQuery) proposedValue {
	if n, whole := parseInt(q.cur); whole && n == 0 && q.p.Key == "--mem" {
		return atBound("%s=0 requests all of the node's memory", q.p.Key)
	}
	now, ok := parseSize(q.cur)
	if !ok {
		return proposedValue{}
	}
	step := int64(8)
	switch {
	case strings.Contains(q.p.Key, "-per-"): // of a processor or a GPU
		step = 1
	case now < 16<<30:
		step = 4
	}
	need, how := now+now/2, fmt.Sprintf("1.5 x %s", classifier.GiB(now))
	if used := deref(q.root.Used); step > 1 && used > now && used < 1<<50 && used+used/4 > need {
		need, how = used+used/4, fmt.Sprintf("1.25 x the %s that it used", classifier.GiB(used))
	}
	if n, ok := q.shortfall(); ok && q.recognized("ollama.system_memory") {
		need, how = now+n+n/4, fmt.Sprintf("%s%s + 1.25 x the %s that was missing", missingFactor, classifier.GiB(now), classifier.GiB(n))
	}
	if n := cause.CacheBytes(q.input()); n > 0 && n+n/4 > need {
		need, how = n+n/4, cacheFactor+classifier.GiB(n)
	}
	if in := q.input(); cause.WeightsOnHost(in) != "" {
		need, how = (in.HostWeights+in.HostCache)/4*5, weightsFactor+classifier.GiB(in.HostWeights)
		if in.HostCache > 0 {
			how += " and the cache of " + classifier.GiB(in.HostCache)
		}
	}
	if n := cause.PassingWeights(q.input()); n+n/10 > need {
		need, how = n+n/10, passingFactor+classifier.GiB(n)
	}
	if n := copiesOfWeights(q.Context); q.is("copies_far_too_large") && q.phase == "init" {
		need, how = n+n/10, copiesFactor+"the "+classifier.GiB(n)+" of the ranks' copies of the weights"
		if cpus := processors(q.Context); q.p.Key == "--mem-per-cpu" && cpus > 0 {
			need, how = need/cpus, fmt.Sprintf("%s, by %d processors", how, cpus)
		}
	}
	if n := cause.RankCopies(q.input()); n > need && q.phase == "init" && !q.is("one_holder") {
		need, how = n+n/10, copiesFactor+"the "+classifier.GiB(n)+" of the ranks' copies of the weights"
	}
	const mostMemory = 1 << 42 // of a node
	if n, all := batchesDone(q.Context); n > 0 && now < mostMemory && now/n*all > need {
		need, how = now/n*all, fmt.Sprintf("%s%d / %d batches x %s", wholeFactor, all, n, classifier.GiB(now))
	}
	if n, all := shuffled(q.Context); n > 0 && now < mostMemory && now/n*all > need {
		need, how = now/n*all, fmt.Sprintf("%s%d / %d samples x %s", bufferFactor, all, n, classifier.GiB(now))
	}
	if n := promptCacheLimit(q.Context); now+n > need {
		need, how = now+n, fmt.Sprintf("%s + %s of cached prompts", classifier.GiB(now), classifier.GiB(n))
	}
	if cause.Replays(q.input()) != "" && need == now+now/2 && q.p.Surface != "words" {
		return atBound("a buffer of samples fills it, and the log does not say what the whole buffer takes")
	}
	to := ceilDiv(need, step<<30) * step
	if node := deref(nodeRAM(q.Context)); node > 0 && strings.HasPrefix(q.p.Key, "resources.limits") && to<<30 > node-node/64 { // what the kubelet keeps
		to = (node - node/64) >> 30 / step * step
		if to<<30 < now+now/20 {
			return atBound("%s is %s, and the node has no more than %s", q.p.Key, classifier.GiB(now), classifier.GiB(node))
		}
		how = fmt.Sprintf("all of the node's %s, less a part for the system", classifier.GiB(node))
		return proposedValue{to: itoa(to) + cmp.Or(q.p.Value, "G"), how: how}
	}
	return proposedValue{to: itoa(to) + cmp.Or(q.p.Value, "G"), how: fmt.Sprintf("%s, rounded up to a multiple of %d GiB", how, step)}
}

// bar matches how many of all batches a bar shows to be done.
var bar = lazyre.New(`\| (\d{1,9})/(\d{1,9}) \[`)

// batchesDone returns how many batches of how many were done, in an evaluation that keeps the outputs of all of them; zeros if that is unknown.
func batchesDone(ctx *Context) (n, all int64) {
	m := bar().FindStringSubmatch(ctx.incident.PhaseWhy)
	if m == nil || !ctx.is("host_evaluation") {
		return 0, 0
	}
	n, _ = parseInt(m[1])
	all, _ = parseInt(m[2])
	const few, most = 20, 1 << 20
	if n < few || all <= n || all > most {
		return 0, 0 // what it held before the first batch counts for too much
	}
	return n, all
}

// promptCacheLimit is what llama.cpp's server may still put into the cache of finished prompts, when its limit is known.
func promptCacheLimit(ctx *Context) int64 {
	g, ok := lastReading(ctx.run, "ggml.prompt_cache")
	if !ok {
		return 0
	}
	limit, _ := g.Fields.Int("limit")
	used, _ := g.Fields.Int("used")
	return min(max(limit-used, 0), 1<<42)
}

// missingFactor begins the arithmetic of a limit where the log tells what was missing.
const missingFactor = "what there is, "

// cacheFactor begins the arithmetic of a limit that holds a key-value cache, with weights and buffers beside it.
const cacheFactor = "1.25 x the key-value cache of "

// weightsFactor begins the arithmetic of a limit that holds weights, with buffers and the server beside them.
const weightsFactor = "1.25 x the weights of "

// passingFactor begins the arithmetic of a limit that holds all weights, which pass through host memory.
const passingFactor = "1.1 x the weights of "

// copiesFactor begins the arithmetic of a limit that holds a copy of the weights for each rank.
const copiesFactor = "1.1 x "

// wholeFactor begins the arithmetic of a limit that holds what a whole evaluation keeps.
const wholeFactor = "all batches, "

// bufferFactor begins the arithmetic of a limit that holds a whole shuffle buffer.
const bufferFactor = "all samples, "

// shuffled returns how many samples of how many were in the buffer of Dataset.shuffle when memory ran out; zeros if it was not being filled, or
// was nearly empty, so that what was there before counts for too much.
func shuffled(ctx *Context) (n, all int64) {
	const few = 1000
	g, ok := lastReading(ctx.run, "tensorflow.shuffle_buffer")
	n, _ = g.Fields.Int("filled")
	all, _ = g.Fields.Int("capacity")
	if !ok || n < few || n >= all || all > mostTokens || ctx.phase != "data" || !strings.Contains(ctx.incident.PhaseWhy, "Filling up shuffle") {
		return 0, 0
	}
	return n, all
}

// shuffleBuffer takes three quarters of the samples that were in the buffer when memory ran out, or a quarter of the buffer.
func shuffleBuffer(q *paramQuery, n int64) proposedValue {
	if in, _ := shuffled(q.Context); in > 0 && in/4*3 < n/4 {
		return proposedValue{to: itoa(in / 4 * 3), how: fmt.Sprintf("3 / 4 of the %d samples that were in the buffer", in)}
	}
	return quarter(q, n)
}

// cardShare raises a container's share of a card, in MiB, by a quarter.
func cardShare(q *paramQuery) proposedValue {
	total := deref(q.root.Total)
	if total <= 0 || total > 1<<42 {
		return proposedValue{}
	}
	return proposedValue{to: itoa(ceilDiv(total/4*5, 1<<30) << 10), how: "1.25 x the limit of " + classifier.GiB(total) + ", in MiB"}
}

// processShare raises the share of the card that a process may take to one and a half times what it has and what it asked for, within what
// is free.
func processShare(q *paramQuery) proposedValue {
	r := q.root
	now, ok := parseNumber(q.cur)
	if !ok || now <= 0 || now >= 1 || r.Total == nil || *r.Total <= 0 || r.Free == nil || r.Allocated == nil || r.Requested == nil {
		return proposedValue{}
	}
	needs := *r.Allocated + deref(idleReserve(q.Context)) + *r.Requested
	to := math.Ceil(min(1.5*float64(needs), float64(*r.Allocated)+0.95*float64(*r.Free))/float64(*r.Total)*100) / 100
	if to <= now {
		return proposedValue{}
	}
	return proposedValue{to: fraction(to), how: fmt.Sprintf("1.5 x %s with this request, of %s", classifier.GiB(needs), classifier.GiB(*r.Total))}
}

// cardLimit leaves a fifth of the card to what is computed beside weights that may take the rest, in whole GiB.
func cardLimit(q *paramQuery) proposedValue {
	total := deref(q.root.Total)
	if total < 8<<30 || total > 1<<42 {
		return proposedValue{}
	}
	return proposedValue{to: itoa(total/5*4>>30) + "GiB", how: "four fifths of " + classifier.GiB(total)}
}

// isHostMemory reports whether a change is one of [hostMemory].
func isHostMemory(c Change) bool {
	return c.From != nil && c.To != nil && slices.ContainsFunc([]string{"1.5 x ", "1.25 x ", copiesFactor, missingFactor, wholeFactor, bufferFactor}, func(s string) bool { return strings.HasPrefix(c.ComputedFrom, s) })
}

// guess says that more host memory is a guess, by the factor of the change.
func guess(ctx *Context, c *Change) string {
	from, ok1 := parseSize(*c.From)
	to, ok2 := parseSize(*c.To)
	if strings.HasPrefix(c.ComputedFrom, bufferFactor) {
		return "Enough for the whole shuffle buffer, at the rate so far."
	}
	if used := ctx.root.Used; ok1 && used != nil && *used > from {
		return fmt.Sprintf("It used %s when it was killed, and may need more.", classifier.GiB(*used))
	}
	if strings.HasPrefix(c.ComputedFrom, missingFactor) {
		return "Enough for what was missing, plus a quarter of it."
	}
	if strings.HasPrefix(c.ComputedFrom, wholeFactor) {
		return "Enough for the outputs of all batches, at the rate so far."
	}
	if strings.HasPrefix(c.ComputedFrom, passingFactor) {
		return "Enough for all weights, which pass through host memory on their way to the GPU, if nothing else is large."
	}
	if strings.HasPrefix(c.ComputedFrom, copiesFactor) {
		return "Enough for a copy of the weights in each rank, if nothing else is large."
	}
	if strings.HasPrefix(c.ComputedFrom, weightsFactor) {
		return "Enough for the weights in host memory, plus a quarter of their size."
	}
	if strings.HasPrefix(c.ComputedFrom, cacheFactor) {
		return "Enough for the key-value cache, plus a quarter of its size."
	}
	const unknown = "How much was missing is not in the log"
	if !ok1 || !ok2 || from <= 0 {
		return unknown + "."
	}
	return unknown + "; " + strconv.FormatFloat(math.Round(10*float64(to)/float64(from))/10, 'f', -1, 64) + " times as much is a first guess."
}

// objectStoreMemory doubles Ray's store, or makes it four times the object that did not fit.
func objectStoreMemory(q *paramQuery) proposedValue {
	if n, ok := q.int(); ok && n < 1<<50 {
		return proposedValue{to: itoa(2 * n), how: "twice as much as now"}
	}
	r := q.root.Requested
	if r == nil || *r < 1<<30 || *r > 1<<45 {
		return proposedValue{}
	}
	to := ceilDiv(4**r, 1<<30) << 30
	return proposedValue{to: itoa(to), how: fmt.Sprintf("room for four objects like the one of %s", classifier.GiB(*r))}
}

// size reads an amount of memory as Slurm's options write it: MiB if there is no suffix (sbatch(1)).
var size = lazyre.New(`(?i)^([0-9]{1,9}(?:\.[0-9]{1,3})?)\s*([kmgt]?)(?:ib?|b|n|c)?$`)

func parseSize(v string) (int64, bool) {
	m := size().FindStringSubmatch(strings.Trim(v, `"' `))
	if m == nil {
		return 0, false
	}
	f, ok := parseNumber(m[1])
	if !ok || f <= 0 {
		return 0, false
	}
	shift := map[string]int{"k": 10, "": 20, "m": 20, "g": 30, "t": 40}[strings.ToLower(m[2])]
	n := f * float64(int64(1)<<shift)
	return int64(n), n < 1<<50
}

// shmSize is the first guess for a /dev/shm of the default size, and twice the size of one that somebody has made that large already.
func shmSize(q *paramQuery) proposedValue {
	guess, _ := parseSize(q.p.Value)
	now, ok := parseSize(q.cur)
	if bytes, plain := parseInt(q.cur); plain {
		now, ok = bytes, bytes > 0 // Docker reads a number without a unit as bytes
	}
	if !ok || now < guess {
		return proposedValue{to: q.p.Value}
	}
	unit := strings.TrimLeft(q.p.Value, "0123456789")
	return proposedValue{to: itoa(ceilDiv(2*now, 1<<30)) + unit, how: "2 x " + classifier.GiB(now)}
}

// podRequest is the container's use that the kubelet reports, plus a tenth.
func podRequest(q *paramQuery) proposedValue {
	used, ok := parseInt(readField(q.Context, "used", "kubernetes.evicted"))
	if !ok || used < 1<<30 || used > 1<<45 {
		return proposedValue{}
	}
	to := used/10*11>>30 + 1
	return proposedValue{to: itoa(to) + "Gi", how: fmt.Sprintf("%s that the container used, and a tenth", classifier.GiB(used))}
}

// hostRatio returns the part of a ratio of host memory that was free for the request, less a tenth, or what the pools of all ranks may
// take of the node, or half of it if neither is known.
func hostRatio(q *paramQuery) proposedValue {
	f, ok := parseNumber(q.cur)
	if !ok || f <= 0 {
		return proposedValue{}
	}
	const kept = 10 << 30 // of what is free, for other programs (srt/mem_cache/memory_pool_host.py), and for the process of each rank
	part, how := 0.5, "half of it: the log does not show how much was missing"
	r, node := q.root, deref(nodeRAM(q.Context))
	pools, ranks := hostPools(q.Context)
	switch {
	case q.recognized("sglang.hicache") && r.Requested != nil && r.Free != nil && *r.Free > kept && *r.Free-kept < *r.Requested:
		part = 0.9 * float64(*r.Free-kept) / float64(*r.Requested)
		how = fmt.Sprintf("%s x (%s free - 10 GiB that SGLang leaves free) / %s requested, less a tenth", q.cur, classifier.GiB(*r.Free), classifier.GiB(*r.Requested))
	case pools > node-ranks*kept && node > ranks*kept:
		part = 0.95 * float64(node-ranks*kept) / float64(pools)
		how = fmt.Sprintf("%s x (%s of RAM - 10 GiB for each of %d ranks) / %s for their caches, less a twentieth", q.cur, classifier.GiB(node), ranks, classifier.GiB(pools))
	}
	if strings.HasSuffix(q.p.Key, "size") { // a whole number of GB
		return proposedValue{to: fraction(math.Floor(f * part)), how: how}
	}
	return proposedValue{to: fraction(math.Floor(f*part*20) / 20), how: how}
}

// offloadPerCard halves what every card of a node offloads to the host, or leaves three tenths of the node to the processes if that is less.
func offloadPerCard(q *paramQuery, n int64) proposedValue {
	node := deref(nodeRAM(q.Context))
	tp, known := q.settings.integer(engineTP...)
	if to := node / 10 * 7 / max(tp, 1) >> 30; known && node > 0 && to > 0 && to < n/2 {
		return proposedValue{to: itoa(to), how: fmt.Sprintf("0.7 x %s of RAM / %d cards", classifier.GiB(node), tp)}
	}
	return halve(q, n)
}

// trialCPUs doubles the CPUs that Ray Tune reserves for each trial, so that half as many run at once.
func trialCPUs(q *paramQuery) proposedValue {
	n, how := int64(1), "Tune reserves one for each trial unless it is told otherwise"
	if g, ok := lastReading(q.run, "ray.trial_cpus"); ok {
		if set, ok := g.Fields.Int("count"); ok && set > 0 && set < 1<<10 {
			n, how = set, "the script reserves "+itoa(set)
		}
	}
	return proposedValue{to: fmt.Sprintf(`tune.with_resources(trainable, {"cpu": %d})`, 2*n), how: how}
}

// hostPools returns what SGLang's ranks on a node take together for their hierarchical caches, 0 if the log does not show it. Each rank
// compares only its own with what is free.
func hostPools(ctx *Context) (bytes, ranks int64) {
	g, ok := lastReading(ctx.run, "sglang.host_pool") // the kill may be in the log of the kernel
	one, _ := g.Fields.Int("needed")
	tp, known := ctx.settings.integer(engineTP...)
	nodes, _ := ctx.settings.integer("nnodes")
	if ranks = tp / max(nodes, 1); !ok || !known || ranks < 1 || ranks > 1<<10 {
		return 0, 0
	}
	return one * ranks, ranks
}
