package memory

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// trainerPhases are the phases in which an engine on the same cards may sleep.
var trainerPhases = []Phase{PhaseLogProb, PhaseForward, PhaseBackward, PhaseOptimizer, PhaseCheckpoint}

// kvBytesPerToken returns the bytes of a token in the KV cache of one engine rank: keys and values of every layer. Ranks beyond
// the number of KV heads hold copies; latent attention is whole on every rank.
func kvBytesPerToken(m Model, tp, pp int64, bytes float64) (float64, bool) {
	tp, pp = max(tp, 1), max(pp, 1)
	layers := float64(m.Layers) / float64(pp)
	switch {
	case m.Layers == 0:
		return 0, false
	case m.KVLora > 0:
		return float64(m.KVLora+m.RopeDim) * layers * bytes, true
	case m.KVHeads == 0 || m.headDim() == 0:
		return 0, false
	}
	return 2 * max(1, float64(m.KVHeads)/float64(tp)) * float64(m.headDim()) * layers * bytes, true
}

// engineWeights returns an engine's weights on one rank: vLLM and SGLang split matrices and embeddings over TP, layers over
// PP, experts over EP or TP. Table rows are padded by less than a part in a thousand.
func (e *estimate) engineWeights() (size float64, how string, ok bool) {
	each := e.EngineWeightBytes.Or(2)
	s := Setup{Model: e.Model, TP: e.EngineTP, PP: e.EnginePP, Stage: FirstStage}
	if p := e.Model.parameters(); p.Known {
		n := float64(s.tp() * s.pp())
		return p.Value * each / n, count(p.Value) + " parameters x " + factor(each) + " bytes / " + count(n) + " ranks", true
	}
	return 0, "", false
}

// before reports whether an engine's version is older than another; an unknown one counts as current.
func before(version string, other ...int) bool {
	v := make([]int, 3)
	n, _ := fmt.Sscanf(strings.TrimPrefix(version, "v"), "%d.%d.%d", &v[0], &v[1], &v[2])
	return n > 0 && slices.Compare(v, other) < 0
}

// engine adds an inference engine: all of it while it serves, the rest that stays while it sleeps on a trainer's card.
func (e *estimate) engine() {
	if e.Engine == "" {
		return
	}
	trains := slices.Contains(trainerPhases, e.phase)
	if e.Trainer != "" {
		if !e.have("engine", OnCard, input{"whether engine and trainer share cards", e.Colocated.Known}) || !e.Colocated.Value {
			return
		}
		if trains && !e.have("engine", OnCard, input{"whether the engine sleeps", e.SleepLevel.Known}) {
			return
		}
	}
	if e.Trainer != "" && trains && e.SleepLevel.Value > 0 {
		// 1.5 to 4 GiB a card is typical of vLLM (#47654, verl #5979)
		e.add("engine_residue", PoolOutside, gibs(1, 2.5, 4), "what a sleeping engine keeps: context, NCCL, graphs")
		return
	}
	w, how, ok := e.engineWeights()
	if !e.have("engine_weights", OnCard, input{"number of parameters", ok}) {
		return
	}
	e.add("engine_weights", PoolOutside, exactly(w), "%s", how)
	if e.phase == PhaseWeightUpdate {
		if !e.UpdatePieces.Known {
			e.updateBuckets()
		}
		if e.Trainer != "" && e.SleepLevel.Or(0) > 0 {
			return // the cache is woken after the weights
		}
	}
	e.engineRest(w)
}

// share returns the engine's share of the card: as set, or the default of the framework or of vLLM's version. SGLang computes
// its own from the card.
func (s *Setup) share() Opt[float64] {
	switch {
	case s.EngineShare.Known:
		return s.EngineShare
	case s.Framework == VeRL:
		return Some(0.5)
	case s.Framework == TRL:
		return Some(0.3)
	case s.Framework == AReaL, s.Engine == VLLM && before(s.EngineVersion, 0, 20):
		return Some(0.9)
	case s.Engine == VLLM && s.EngineVersion != "":
		return Some(0.92)
	}
	return Opt[float64]{}
}

// engineRest adds activations, graphs and the cache, which takes the rest of the share.
func (e *estimate) engineRest(weights float64) {
	act, actHow, known := e.profile()
	sizes := input{"sizes of the model's layers", known}
	if e.have("engine_activations", OnCard, sizes) {
		e.add("engine_activations", PoolOutside, act, "%s", actHow)
	}
	e.add("cuda_graphs", PoolOutside, e.graphs(), "one private pool for the graphs of all batch sizes")
	f := input{"share of the card (gpu_memory_utilization, mem_fraction_static)", e.share().Known}
	switch {
	case e.Engine == SGLang: // a share of what is free at start-up; the rest is for activations and graphs (model_runner.py)
		if e.have("kv_cache", OnCard, f, input{"memory free when the engine started", e.FreeAtStart.Known}) {
			kv := max(float64(e.FreeAtStart.Value)*e.share().Value-weights, 0)
			e.add("kv_cache", PoolOutside, exactly(kv), "%s free at start x %s - %s of weights", GiB(e.FreeAtStart.Value), factor(e.share().Value), GiB(int64(weights)))
		}
	case e.have("kv_cache", OnCard, f, input{"size of the card", e.CardBytes.Known}, sizes):
		e.vllmCache(weights, act)
	}
}

// vllmCache adds the rest of vLLM's share (v1/worker/gpu_worker.py, vllm #10511). Whether graphs, communicators and the
// memory of other processes count depends on the version.
func (e *estimate) vllmCache(weights float64, act span) {
	v := e.EngineVersion
	used := act.plus(gibs(0.5, 1.2, 2)) // context, NCCL, modules
	if !before(v, 0, 11) {              // the snapshot is taken after NCCL's initialization
		used = act.plus(gibs(0.3, 0.6, 1))
	}
	if !before(v, 0, 20) {
		used = used.plus(e.graphs())
	}
	if foreign := before(v, 0, 6, 3) || before(v, 0, 9, 1) && !before(v, 0, 7); foreign && e.FreeAtStart.Known {
		used = used.plus(exactly(float64(e.CardBytes.Value - e.FreeAtStart.Value)))
	}
	left := float64(e.CardBytes.Value)*e.share().Value - weights
	kv := span{max(left-used.high, 0), max(left-used.mid, 0), max(left-used.low, 0)}
	e.add("kv_cache", PoolOutside, kv, "%s x %s - %s of weights - %s of activations and what else counts", GiB(e.CardBytes.Value), factor(e.share().Value), GiB(int64(weights)), GiB(int64(used.mid)))
}

// CacheBytesPerToken returns the bytes of a token in the KV cache of one rank of the engine. It is unknown if the model may be one of
// several: those of 7B parameters differ ninefold.
func (s Setup) CacheBytesPerToken() (float64, bool) {
	if len(s.Candidates) > 0 {
		return 0, false
	}
	return kvBytesPerToken(s.Model, s.EngineTP.Or(1), s.EnginePP.Or(1), s.KVBytes.Or(2))
}

// OneSequence returns the KV cache for the longest sequence that an engine accepts. Engines do not start with less.
func (s Setup) OneSequence() (bytes int64, how string, ok bool) {
	each, ok := s.CacheBytesPerToken()
	if !ok || !s.MaxModelLen.Known {
		return 0, "", false
	}
	return int64(each * float64(s.MaxModelLen.Value)), Thousands(s.MaxModelLen.Value) + " tokens x " + count(each) + " bytes", true
}

// HoldsSequence reports whether vLLM's share of a card holds the weights, a profiling run of a length and the cache of one sequence that is as
// long, and whether that is known.
func (s Setup) HoldsSequence(length int64) (holds, known bool) {
	const context = 1 << 29
	e := estimate{Setup: s}
	e.MaxBatchedToken = Some(length)
	weights, _, ok1 := e.engineWeights()
	run, _, ok2 := e.profile()
	each, ok3 := s.CacheBytesPerToken()
	if s.Engine != VLLM || !ok1 || !ok2 || !ok3 || !s.share().Known || !s.CardBytes.Known {
		return false, false
	}
	return weights+run.mid+context+each*float64(length) <= float64(s.CardBytes.Value)*s.share().Value, true
}

// prefillTokens are the tokens of a prefill by default: vLLM has 2,048 to 16,384 by version, card and use, SGLang 2,048 to 16,384 by
// card, verl sets 8,192.
var prefillTokens = span{2048, 8192, 16384}

// profile returns the peak of a prefill: hidden states, queries, keys, values and the feed-forward part of one
// layer, and the logits and sampling of every sequence: logits 2 to 4 bytes, fp32 4, softmax 4, sorting 12.
func (e *estimate) profile() (size span, how string, ok bool) {
	m := &e.Model
	if !m.sized() {
		return span{}, "", false
	}
	h, q, k, f, _ := m.widths()
	if m.Experts > 0 {
		f = float64(m.ExpertsPerToken * m.ExpertIntermediate)
	}
	t, tokens := float64(max(e.EngineTP.Or(1), 1)), prefillTokens
	if e.MaxBatchedToken.Known {
		tokens = exactly(float64(e.MaxBatchedToken.Value))
	}
	n := tokens.mid
	each := 2*h + 2*(q+2*k)/t + 6*f/t
	rows := min(float64(e.MaxSeqs.Or(256)), max(n, 1))
	sampler := span{6, 10, 30}.times(rows * float64(m.Vocab))
	if !e.MaxSeqs.Known { // 256 to 1,024 by default
		sampler.high *= 4
	}
	return span{tokens.low * each, n * (each + 2*h), tokens.high * (each + 8*h)}.plus(sampler),
		count(n) + " tokens x " + count(each+2*h) + " bytes of one layer, and the sampling of " + count(rows) + " sequences", true
}

// graphs returns the memory of CUDA graphs: 0.2 to 1.5 GiB for dense models, 2 to 6 for large mixtures (vLLM
// profile_cudagraph_memory, SGLang #5893).
func (e *estimate) graphs() span {
	switch {
	case !e.CUDAGraphs.Or(true):
		return span{}
	case e.Model.Experts > 0:
		return gibs(1, 3, 6)
	}
	return gibs(0.2, 0.8, 1.5)
}

// handOver adds what ZeRO-3 gathers on each card to hand the weights to an engine: all of them, or as many layers as a piece has, with
// embeddings and head in a piece of their own (ms-swift, rlhf_trainers/rollout_mixin.py, split_batches).
func (e *estimate) handOver() {
	h, known := e.rankHolding()
	if e.phase != PhaseWeightUpdate || e.Trainer != ZeRO3 || !e.UpdatePieces.Known || !known {
		return
	}
	each := 2.0
	if e.QuantizedBytes.Known {
		each = e.QuantizedBytes.Value
	}
	n, how := h.all(), count(h.all())+" parameters"
	if pieces, layers := e.UpdatePieces.Value, e.Model.Layers; pieces > 1 && layers > 0 {
		part := math.Ceil(float64(layers)/float64(pieces)) / float64(layers)
		n, how = max((h.all()-h.root)*part, h.root), "the largest of "+Thousands(pieces+1)+" pieces, "
		how += count(n) + " parameters"
	}
	e.add("gathered_weights", PoolAllocated, exactly(each*n), "%s x %s bytes", how, factor(each))
}

// updateBuckets adds the buckets of a weight update, on the trainer and mapped by the engine, and the whole largest tensor. The
// defaults are 2,048 MB in verl, 512 MiB in slime, 1,024 MiB in AReaL.
func (e *estimate) updateBuckets() {
	bucket := map[string]int64{VeRL: 2048, Slime: 512, AReaL: 1024}[e.Framework] * mib
	bucket = e.UpdateBucket.Or(bucket)
	if !e.have("update_buckets", OnCard, input{"bucket of a weight update", bucket > 0}) {
		return
	}
	b := float64(bucket)
	largest := float64(e.Model.Vocab * e.Model.Hidden)
	e.add("update_buckets", PoolAllocated, span{b, 2*b + 6*largest, 2*b + 6*largest}, "2 x %s and the largest tensor, %s elements x 6 bytes", GiB(bucket), count(largest))
}
