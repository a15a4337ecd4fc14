package memory

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// measured is a published measurement and the setup that it was taken of.
type measured struct {
	name   string
	setup  Setup
	figure float64 // bytes, or tokens
	of     func(Setup) Range
}

// peak is the largest total of an update's phases.
func peak(pools ...string) func(Setup) Range {
	return func(s Setup) Range {
		var r Range
		for _, p := range []Phase{PhaseForward, PhaseBackward, PhaseOptimizer} {
			if t := s.Budget(p).Total(OnCard, pools...); t.Bytes > r.Bytes {
				r = t
			}
		}
		return r
	}
}

// between steps, PyTorch's allocated memory is the states alone.
func rest(s Setup) Range { return s.Budget(PhaseData).Total(OnCard, PoolAllocated) }

// part is one part of a phase.
func part(phase Phase, ids ...string) func(Setup) Range {
	return func(s Setup) Range {
		var r Range
		b := s.Budget(phase)
		for _, id := range ids {
			p, _ := b.Part(id)
			r = Range{r.Low + p.Low, r.Bytes + p.Bytes, r.High + p.High}
		}
		return r
	}
}

// modelNamed is an entry of the table.
func modelNamed(name string) Model {
	m, ok := KnownModel(name)
	if !ok {
		panic(name)
	}
	return m
}

// change returns a setup with a change.
func change(s Setup, f func(*Setup)) Setup {
	f(&s)
	return s
}

// cached are the tokens that fit into a KV cache of so many bytes.
func cached(bytes float64) func(Setup) Range {
	return func(s Setup) Range {
		each, _ := kvBytesPerToken(s.Model, s.EngineTP.Or(1), s.EnginePP.Or(1), s.KVBytes.Or(2))
		n := int64(bytes / each)
		return Range{n, n, n}
	}
}

// measuredPoints are published ones whose configuration is complete: M = Megatron-LM's functional tests, exact bytes of the last rank; TT = torchtitan's
// benchmarks (largest reserved); TU = torchtune's README (largest allocated); LG = litgpt's resource tables (largest
// allocated, with "GB" of 1e9); QW = Qwen's README, with the settings of its fine-tuning script; SW = ms-swift's example
// (nvidia-smi, rounded). Left out are points that do not tell what a formula needs: tokens (TU unpacked, TU's 8B and 70B,
// SW with short samples, Llama 3B under FSDP2), micro-batches in the pipeline (TT 405B), the optimizer (QW full, T0_3B),
// recomputation (TRL GRPO, TT on H200), what a chunked loss keeps (TU 24.9 to 17.6, Liger and CCE), how a model is loaded
// (LG 13B on 4 GPUs), the engine's share (vLLM on L40S), what else was on the card (SGLang's graphs, EasyR1's residue).
func measuredPoints() []measured {
	allocated, reserved := peak(PoolAllocated), peak(PoolAllocated, PoolReserved)
	var out []measured
	add := func(name string, s Setup, figure float64, of func(Setup) Range) {
		out = append(out, measured{name, s, figure, of})
	}

	gpt7 := Setup{
		Model:     Model{Layers: 32, Hidden: 4096, Heads: 32, KVHeads: 8, Intermediate: 16384, Vocab: 131073, Positions: 8192, Ungated: true, Biases: true},
		Framework: MegatronLM, Trainer: Megatron, Task: "pretrain", Stage: LastStage, World: Some(int64(8)), DistributedOptimizer: Some(true),
		Dropout: Some(true), Flash: Some(true), Recompute: RecomputeNone, SequenceNow: Some(int64(8192)),
	}
	tp4 := change(gpt7, func(s *Setup) { s.TP, s.MicroBatch = Some(int64(4)), Some(int64(2)) })
	add("M 7B tp4, H100, at rest", tp4, 20_663_519_232, rest)
	add("M 7B tp4, H100, peak", tp4, 57_143_791_616, allocated)
	add("M 7B tp4, A100, at rest", tp4, 20_634_103_808, rest)
	add("M 7B tp4, A100, peak", tp4, 58_188_115_968, allocated)
	pp4 := change(gpt7, func(s *Setup) {
		s.PP, s.MicroBatch, s.VirtualStages, s.PipelineBatches, s.GradAccumulationFusion = Some(int64(4)), Some(int64(1)), Some(int64(8)), Some(int64(4)), Some(false)
	})
	add("M 7B pp4 interleaved, at rest", pp4, 24_808_996_864, rest)
	add("M 7B pp4 interleaved, peak", pp4, 60_720_852_992, allocated)
	gpt15 := Setup{
		Model:     Model{Layers: 32, Hidden: 6144, Heads: 48, KVHeads: 8, Intermediate: 24576, Vocab: 256000, Ungated: true},
		Framework: MegatronLM, Trainer: Megatron, Task: "pretrain", World: Some(int64(128)), TP: Some(int64(8)), SequenceParallel: Some(true), DistributedOptimizer: Some(true),
		Recompute: RecomputeNone, MicroBatch: Some(int64(4)), SequenceNow: Some(int64(4096)),
	}
	add("M 15B tp8 sp dp16, at rest", gpt15, 13_269_043_200, rest)
	add("M 15B tp8 sp dp16, peak", gpt15, 28_160_194_560, allocated)
	small := Setup{
		Model:     Model{Layers: 12, Hidden: 512, Heads: 8, KVHeads: 8, Intermediate: 2048, Vocab: 50257, Positions: 1024, Tied: true, Ungated: true, Biases: true},
		Framework: MegatronLM, Trainer: Megatron, Task: "pretrain", Stage: LastStage, World: Some(int64(8)), DistributedOptimizer: Some(true),
		Dropout: Some(true), Flash: Some(false), Recompute: RecomputeNone, MicroBatch: Some(int64(4)), SequenceNow: Some(int64(1024)),
	}
	add("M h512 dp8 dist. opt., A100, at rest", small, 552_128_512, rest)
	add("M h512 dp8 dist. opt., A100, peak", small, 4_673_069_568, allocated)
	add("M h512 dp8 dist. opt., H100, at rest", small, 581_489_664, rest)
	add("M h512 dp8 dist. opt., H100, peak", small, 4_702_430_720, allocated)
	again := change(small, func(s *Setup) { s.DistributedOptimizer, s.Recompute = Some(false), RecomputeFull })
	add("M h512 full recompute, A100, at rest", again, 1_234_585_088, rest)
	add("M h512 full recompute, A100, peak", again, 2_536_167_424, allocated)
	add("M h512 full recompute, H100, at rest", again, 1_259_751_936, rest)
	add("M h512 full recompute, H100, peak", again, 2_561_334_272, allocated)
	fused := change(small, func(s *Setup) { s.DistributedOptimizer, s.TP, s.PP = Some(false), Some(int64(2)), Some(int64(2)) })
	add("M h512 tp2 pp2, at rest", fused, 514_359_808, rest)
	add("M h512 tp2 pp2, peak", fused, 1_837_640_192, allocated)
	mixtral := Setup{
		Model:     Model{Layers: 32, Hidden: 4096, Heads: 32, KVHeads: 8, Vocab: 256000, Experts: 8, ExpertsPerToken: 2, ExpertIntermediate: 14336, Apart: true},
		Framework: MegatronLM, Trainer: Megatron, Task: "pretrain", Stage: LastStage, World: Some(int64(128)), TP: Some(int64(2)), PP: Some(int64(4)), EP: Some(int64(4)),
		SequenceParallel: Some(true), DistributedOptimizer: Some(true), Recompute: RecomputeNone, MicroBatch: Some(int64(1)), SequenceNow: Some(int64(4096)),
	}
	add("M Mixtral tp2 pp4 ep4, at rest", mixtral, 17_703_634_944, rest)
	add("M Mixtral tp2 pp4 ep4, peak", mixtral, 27_638_417_408, allocated)
	proxy := Setup{
		Model: Model{
			Layers: 14, Hidden: 7168, Heads: 128, KVHeads: 128, HeadDim: 128, Intermediate: 18432, Vocab: 258560, Experts: 64, ExpertsPerToken: 8,
			ExpertIntermediate: 2048, SharedIntermediate: 2048, DenseLayers: 3, MTPLayers: 1, QLora: 1536, KVLora: 512, RopeDim: 64, NopeDim: 128, ValueDim: 128, Apart: true,
		},
		Framework: MegatronLM, Trainer: Megatron, Task: "pretrain", Stage: LastStage, TP: Some(int64(2)), PP: Some(int64(2)), EP: Some(int64(8)), ETP: Some(int64(1)), World: Some(int64(64)),
		SequenceParallel: Some(true), DistributedOptimizer: Some(true), FusedLoss: Some(true), MoEFused: Some(true), Recompute: RecomputeNone, MicroBatch: Some(int64(4)), SequenceNow: Some(int64(4096)),
	}
	add("M DeepSeek-V3 proxy, peak less rest", proxy, 100_882_341_888-58_533_781_504, part(PhaseBackward, "activations", "logits", "layer_at_work"))

	llama8 := Setup{
		Model: modelNamed("Llama-3.1-8B"), Framework: TorchTitan, Trainer: FSDP2, Task: "pretrain", World: Some(int64(8)), Recompute: RecomputeOps,
		Fused: Some(false), MicroBatch: Some(int64(2)), SequenceNow: Some(int64(8192)),
	}
	compiled := func(s *Setup) { s.Fused = Some(true) }
	wide := func(s *Setup) { s.World = Some(int64(128)) }
	add("TT 8B FSDP 8 selective", llama8, 82.4*(1<<30), reserved)
	add("TT 8B FSDP 8 selective, compile, float8", change(llama8, compiled), 76.8*(1<<30), reserved)
	add("TT 8B FSDP 128 selective", change(llama8, wide), 67.0*(1<<30), reserved)
	add("TT 8B FSDP 128 selective, compile", change(change(llama8, wide), compiled), 62.0*(1<<30), reserved)
	full := change(llama8, func(s *Setup) {
		s.Recompute, s.Fused, s.MicroBatch, s.SequenceNow = RecomputeFull, Some(true), Some(int64(1)), Some(int64(32768))
	})
	long := func(cp int64) Setup {
		return change(full, func(s *Setup) { s.CP, s.SequenceNow = Some(cp), Some(32768*cp) })
	}
	add("TT 8B full AC, 32k", full, 83.9*(1<<30), reserved)
	add("TT 8B full AC, cp4, 128k", long(4), 84.0*(1<<30), reserved)
	add("TT 8B full AC, cp8, 256k", long(8), 84.5*(1<<30), reserved)
	llama70 := Setup{
		Model: modelNamed("Llama-3.1-70B"), Framework: TorchTitan, Trainer: FSDP2, Task: "pretrain", World: Some(int64(256)), TP: Some(int64(8)), SequenceParallel: Some(true),
		Recompute: RecomputeFull, Fused: Some(true), MicroBatch: Some(int64(16)), SequenceNow: Some(int64(8192)),
	}
	add("TT 70B FSDP 32 tp8 full AC", llama70, 71.9*(1<<30), reserved)
	llama3 := Setup{
		Model: modelNamed("Llama-3.2-3B"), Framework: TorchTune, Trainer: SingleDevice, Task: "sft", Fused: Some(false), Recompute: RecomputeNone,
		MicroBatch: Some(int64(2)), SequenceNow: Some(int64(4096)),
	}
	add("TU 3B full, packed", llama3, 60.0*(1<<30), allocated)
	add("TU 3B full, packed, compile", change(llama3, compiled), 51.0*(1<<30), allocated)

	lora := func(m Model, adapters, tokens int64) Setup {
		return Setup{
			Model: m, Framework: LitGPT, Trainer: SingleDevice, Task: "sft", Fused: Some(false), Recompute: RecomputeNone, Adapters: Some(adapters), AdaptedInputs: Some(int64(1)),
			AdapterDropout: Some(true), TokensNow: Some(tokens),
		}
	}
	llama7 := lora(modelNamed("Llama-2-7b"), 4_194_304, 1304)
	nf4 := func(bytes float64) func(*Setup) { return func(s *Setup) { s.QuantizedBytes = Some(bytes) } }
	add("LG Llama 2 7B LoRA", llama7, 21.30e9, allocated)
	add("LG Llama 2 7B LoRA nf4", change(llama7, nf4(0.5625)), 14.14e9, allocated)
	add("LG Llama 2 7B LoRA nf4-dq", change(llama7, nf4(0.516)), 13.84e9, allocated)
	add("LG Llama 2 13B LoRA", lora(modelNamed("Llama-2-13b"), 6_553_600, 1304), 38.12e9, allocated)
	phi := Model{Layers: 24, Hidden: 2048, Heads: 32, KVHeads: 32, Intermediate: 8192, Vocab: 51200, Ungated: true, Biases: true}
	for n, figure := range map[int64]float64{1: 4.82e9, 2: 6.76e9, 4: 10.68e9} {
		add(fmt.Sprintf("LG phi-1.5 LoRA, micro-batch %d", n), lora(phi, 1_572_864, 1044*n), figure, allocated)
	}
	inference := func(m Model, bytes float64) Setup {
		return Setup{Model: m, Framework: LitGPT, Trainer: SingleDevice, Adapters: Some(int64(0)), QuantizedBytes: Opt[float64]{bytes, bytes > 0}}
	}
	add("LG inference Llama 2 7B bf16", inference(modelNamed("Llama-2-7b"), 0), 13.52e9, rest)
	add("LG inference Llama 2 7B nf4", inference(modelNamed("Llama-2-7b"), 0.5625), 4.57e9, rest)
	add("LG inference Llama 2 7B nf4-dq", inference(modelNamed("Llama-2-7b"), 0.516), 4.26e9, rest)
	add("LG inference Llama 2 13B bf16", inference(modelNamed("Llama-2-13b"), 0), 26.21e9, rest)
	add("LG inference Llama 2 70B nf4-dq", inference(modelNamed("Llama-2-70b"), 0.516), 37.21e9, rest)

	qwen := Model{Parameters: 7_721_324_544, Layers: 32, Hidden: 4096, Heads: 32, KVHeads: 32, Intermediate: 11008, Vocab: 151936}
	for n, figure := range map[int64]float64{256: 20.1e9, 1024: 21.5e9, 8192: 36.6e9} {
		s := Setup{Model: qwen, Framework: HFTrainer, Trainer: SingleDevice, Task: "sft", WeightBytes: Some(2.0), Adapters: Some(int64(143_130_624)), AdaptedInputs: Some(int64(4)), Recompute: RecomputeFull, TokensNow: Some(n)}
		add(fmt.Sprintf("QW Qwen-7B LoRA %d tokens", n), s, figure, peak())
	}
	swift := Setup{
		Model: modelNamed("Qwen2.5-7B"), Framework: "ms-swift", Trainer: Megatron, Task: "sft", World: Some(int64(4)), TP: Some(int64(4)), SequenceParallel: Some(true), Recompute: RecomputeFull,
		TokensNow: Some(int64(32768)),
	}
	add("SW Qwen2.5-7B tp4 sp 32k full recompute", swift, 50*(1<<30), peak())

	engine := Setup{Model: modelNamed("Llama-3-8B"), Engine: VLLM}
	add("vLLM Llama-3-8B weights", engine, 14.96*(1<<30), part(PhaseRollout, "engine_weights"))
	add("vLLM Llama-3-8B weights, tp2", change(engine, func(s *Setup) { s.EngineTP = Some(int64(2)) }), 7.48*(1<<30), part(PhaseRollout, "engine_weights"))
	profiled := change(engine, func(s *Setup) { s.MaxBatchedToken, s.MaxSeqs = Some(int64(8192)), Some(int64(256)) })
	add("vLLM Llama-3-8B activation peak", profiled, 1.26*(1<<30), part(PhaseRollout, "engine_activations"))
	add("vLLM 0.6.5 Llama-3-8B KV cache, H100", change(profiled, func(s *Setup) {
		s.EngineVersion, s.EngineShare, s.CardBytes = "0.6.5", Some(0.90), Some(int64(81_000)<<20)
	}), 53.29*(1<<30), part(PhaseRollout, "kv_cache"))
	big := Setup{Model: modelNamed("Qwen3-235B-A22B"), Engine: VLLM, EngineTP: Some(int64(4))}
	add("vLLM Qwen3-235B tp4, tokens of 8.11 GiB", big, 178_880, cached(8.11*(1<<30)))
	add("SGLang Qwen3-235B tp4, tokens of 2 x 8.23 GB", big, 367_404, cached(2*8.23*(1<<30)))
	add("TRL cross entropy 16,384 x 248,320", Setup{Model: Model{Layers: 1, Hidden: 2048, Heads: 16, KVHeads: 2, Intermediate: 4096, Vocab: 248320}, Framework: TRL, Task: "sft", Trainer: SingleDevice, TokensNow: Some(int64(16384))}, 47.55e9, part(PhaseBackward, "logits"))
	return out
}

func TestMeasuredPoints(t *testing.T) {
	t.Parallel()
	var errs []float64
	for _, m := range measuredPoints() {
		r := m.of(m.setup)
		off := float64(r.Bytes)/m.figure - 1
		errs = append(errs, math.Abs(off))
		within := float64(r.Low) <= m.figure && m.figure <= float64(r.High)
		t.Logf("%-46s measured %8.2f  predicted %8.2f  [%8.2f %8.2f]  %+6.1f %%  %v", m.name, m.figure/1e9, float64(r.Bytes)/1e9, float64(r.Low)/1e9, float64(r.High)/1e9, 100*off, within)
		assert.True(t, within || math.Abs(off) < 0.25, m.name)
		if strings.HasPrefix(m.name, "M ") { // exact bytes of a complete configuration
			assert.Less(t, math.Abs(off), 0.06, m.name)
		}
	}
	slices.Sort(errs)
	median, most := errs[len(errs)/2], errs[len(errs)*9/10]
	t.Logf("%d points: median %.1f %%, 90th percentile %.1f %%, largest %.1f %%", len(errs), 100*median, 100*most, 100*errs[len(errs)-1])
	assert.Less(t, median, 0.04)
	assert.Less(t, most, 0.12)
}
