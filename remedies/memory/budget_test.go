package memory

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// setups are runs of every kind, with all that a budget needs.
func setups() map[string]Setup {
	base := Setup{
		Model: modelNamed("Qwen2.5-7B"), World: Some(int64(8)), GPUsPerNode: Some(int64(8)), MicroBatch: Some(int64(2)), SequenceNow: Some(int64(2048)), SequenceMax: Some(int64(4096)),
		Reference: Some(false), Critic: Some(false), Recompute: RecomputeFull, Fused: Some(false), CheckpointGather: Some(false), LoadOnEveryRank: Some(false), NodeBytes: Some(int64(1) << 40),
	}
	out := map[string]Setup{}
	add := func(name, framework, trainer string, f func(*Setup)) {
		s := base
		s.Framework, s.Trainer = framework, trainer
		f(&s)
		out[name] = s
	}
	vllm := func(s *Setup) {
		s.Engine, s.EngineVersion, s.EngineTP, s.Colocated, s.SleepLevel = VLLM, "0.10.1", Some(int64(2)), Some(true), Some(int64(1))
		s.EngineShare, s.CardBytes, s.MaxBatchedToken, s.MaxSeqs, s.MaxModelLen = Some(0.5), Some(int64(80)<<30), Some(int64(8192)), Some(int64(256)), Some(int64(8192))
	}
	add("verl fsdp with vllm", VeRL, FSDP2, vllm)
	add("verl megatron", VeRL, Megatron, func(s *Setup) { s.TP, s.SequenceParallel, s.Entropy = Some(int64(2)), Some(true), Some(true) })
	add("slime pipeline", Slime, Megatron, func(s *Setup) { s.PP, s.World = Some(int64(2)), Some(int64(16)) })
	add("areal", AReaL, FSDP2, func(s *Setup) { s.TokenBudget = Some(int64(16384)) })
	add("openrlhf", OpenRLHF, ZeRO3, func(s *Setup) { s.OptimizerOffload = Some(1.0) })
	add("trl lora", TRL, DDP, func(s *Setup) { s.Adapters, s.Task = Some(int64(40_000_000)), "grpo" })
	add("hf zero2", HFTrainer, ZeRO2, func(*Setup) {})
	add("megatron moe", MegatronLM, Megatron, func(s *Setup) {
		s.Model, s.EP, s.World, s.SequenceParallel = modelNamed("Qwen3-30B-A3B"), Some(int64(4)), Some(int64(16)), Some(true)
	})
	add("torchtitan", TorchTitan, FSDP2, func(*Setup) {})
	add("sglang alone", "", "", func(s *Setup) {
		s.Engine, s.EngineShare, s.FreeAtStart, s.MaxBatchedToken, s.UpdateBucket = SGLang, Some(0.88), Some(int64(79)<<30), Some(int64(8192)), Some(int64(512)<<20)
	})
	return out
}

// missing are the inputs that a phase's budget lacks, each once.
func missing(s Setup, phase Phase) []string {
	var out []string
	for _, u := range s.Budget(phase).Unknown {
		out = append(out, u.Missing...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestACompleteSetupHasABudgetInEveryPhase(t *testing.T) {
	t.Parallel()
	for name, s := range setups() {
		for _, phase := range Phases {
			b := s.Budget(phase)
			assert.Empty(t, missing(s, phase), "%s %s", name, phase)
			ids := map[string]bool{}
			for _, p := range b.Parts {
				assert.False(t, ids[p.ID], "%s %s: %s twice", name, phase, p.ID)
				ids[p.ID] = true
				assert.GreaterOrEqual(t, p.Low, int64(0), "%s %s %s", name, phase, p.ID)
				assert.LessOrEqual(t, p.Low, p.Bytes, "%s %s %s", name, phase, p.ID)
				assert.LessOrEqual(t, p.Bytes, p.High, "%s %s %s", name, phase, p.ID)
				assert.NotEmpty(t, p.How, "%s %s %s", name, phase, p.ID)
				assert.NotContains(t, p.How, "%!", "%s %s %s", name, phase, p.ID)
			}
			assert.Positive(t, b.Total(OnCard).Bytes, "%s %s", name, phase)
			assert.Positive(t, b.Total(OnNode).Bytes, "%s %s", name, phase)
		}
	}
}

func TestABudgetGrowsWithWhatItHolds(t *testing.T) {
	t.Parallel()
	changes := map[string]func(*Setup){
		"micro-batch": func(s *Setup) { s.MicroBatch.Value++ },
		"length":      func(s *Setup) { s.SequenceNow.Value += 512; s.SequenceMax.Value += 512 },
		"tokens":      func(s *Setup) { s.TokensNow = Some(s.tokens().Value + 1000) },
		"vocabulary":  func(s *Setup) { s.Model.Vocab += 1 << 14 },
		"layers":      func(s *Setup) { s.Model.Layers += s.pp(); s.Model.Parameters = 0 },
	}
	for name, s := range setups() {
		for what, grow := range changes {
			for _, phase := range Phases {
				was, is := s.Budget(phase), change(s, grow).Budget(phase)
				for _, pools := range [][]string{{PoolAllocated}, {PoolAllocated, PoolReserved}} {
					assert.GreaterOrEqual(t, is.Total(OnCard, pools...).Bytes, was.Total(OnCard, pools...).Bytes, "%s %s %s", name, phase, what)
				}
			}
		}
	}
}

func TestTheWorstCaseIsNoSmallerThanNow(t *testing.T) {
	t.Parallel()
	for name, s := range setups() {
		for _, phase := range Phases {
			assert.GreaterOrEqual(t, s.WorstCase().Budget(phase).Total(OnCard).Bytes, s.Budget(phase).Total(OnCard).Bytes, "%s %s", name, phase)
		}
	}
	s := setups()["verl fsdp with vllm"]
	assert.Equal(t, int64(2*4096), s.WorstCase().TokensNow.Value)
	s.TokenBudget, s.MicroBatch = Some(int64(3000)), Opt[int64]{}
	assert.Equal(t, int64(4096), s.WorstCase().TokensNow.Value, "one longer sample passes a budget")
	assert.Equal(t, Setup{}, Setup{}.WorstCase(), "unknown stays unknown")
	padded := Setup{MicroBatch: Some(int64(2)), SequenceNow: Some(int64(100)), SequenceMax: Some(int64(4096)), Padded: Some(true)}
	assert.Equal(t, int64(2*4096), padded.tokens().Value)
}

func TestShardingDividesWhatIsSharded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		trainer string
		divided []string
		whole   []string
	}{
		{FSDP2, []string{"weights", "gradients", "optimizer"}, nil},
		{ZeRO3, []string{"weights", "gradients", "optimizer"}, nil},
		{ZeRO2, []string{"gradients", "optimizer"}, []string{"weights"}},
		{ZeRO1, []string{"optimizer"}, []string{"weights", "gradients"}},
		{DDP, nil, []string{"weights", "gradients", "optimizer"}},
		{Megatron, []string{"optimizer"}, []string{"weights", "gradients"}},
	} {
		s := setups()["verl fsdp with vllm"]
		s.Trainer = c.trainer
		one, eight := change(s, func(s *Setup) { s.World = Some(int64(1)) }).Budget(PhaseBackward), s.Budget(PhaseBackward)
		for id, n := range map[string]int64{"weights": 1, "gradients": 1, "optimizer": 1} {
			if slices.Contains(c.divided, id) {
				n = 8
			} else {
				require.Contains(t, c.whole, id)
			}
			a, _ := one.Part(id)
			b, _ := eight.Part(id)
			assert.InDelta(t, a.Bytes, b.Bytes*n, 8, "%s %s", c.trainer, id)
		}
	}
}

func TestExpertsAreDividedByTheirOwnRanks(t *testing.T) {
	t.Parallel()
	s := setups()["megatron moe"]
	one, _ := change(s, func(s *Setup) { s.EP = Some(int64(1)) }).Budget(PhaseData).Part("weights")
	four, _ := s.Budget(PhaseData).Part("weights")
	experts := 48 * 128 * 3 * 2048.0 * 768
	assert.InDelta(t, 2*experts*3/4, one.Bytes-four.Bytes, 2)
}

func TestRecomputationNeverRaisesActivations(t *testing.T) {
	t.Parallel()
	for name, s := range setups() {
		s.Recompute = RecomputeNone
		was := s.Budget(PhaseBackward)
		kept, _ := was.Part("activations")
		for _, kind := range []string{RecomputeSelective, RecomputeOps, RecomputeFull, RecomputeOffload} {
			s.Recompute = kind
			b := s.Budget(PhaseBackward)
			p, _ := b.Part("activations")
			assert.LessOrEqual(t, p.Bytes, kept.Bytes, "%s %s", name, kind)
			assert.LessOrEqual(t, b.Total(OnCard, PoolAllocated).Bytes, was.Total(OnCard, PoolAllocated).Bytes, "%s %s", name, kind)
		}
	}
}

func TestPiecesOfAWeightUpdateHoldLayersOrTheRest(t *testing.T) {
	t.Parallel()
	qwen, _ := KnownModel("Qwen2.5-32B")
	gathered := func(trainer string, pieces Opt[int64]) string {
		s := Setup{Trainer: trainer, Task: "grpo", Framework: TRL, Model: qwen, World: Some(int64(8)), UpdatePieces: pieces}
		p, _ := s.Budget(PhaseWeightUpdate).Part("gathered_weights")
		return GiB(p.Bytes)
	}
	assert.Equal(t, "61.03 GiB", gathered(ZeRO3, Some(int64(1))))
	assert.Equal(t, "3.63 GiB", gathered(ZeRO3, Some(int64(16))), "4 of 64 layers")
	assert.Equal(t, "2.90 GiB", gathered(ZeRO3, Some(int64(64))), "embeddings and head have a piece of their own")
	assert.Equal(t, GiB(0), gathered(ZeRO2, Some(int64(1))), "the weights are whole anyway")
	assert.Equal(t, GiB(0), gathered(ZeRO3, Opt[int64]{}), "programs hand over one tensor at a time")
}

func TestAnEmptySetupKnowsNothing(t *testing.T) {
	t.Parallel()
	for _, phase := range Phases {
		b := Setup{Trainer: FSDP2, Engine: VLLM}.Budget(phase)
		for _, p := range b.Parts {
			assert.Contains(t, []string{"context", "workspaces"}, p.ID, "%s", phase)
		}
		assert.NotEmpty(t, b.Unknown, phase)
	}
	assert.Equal(t, []string{
		"GPUs of a node", "model sizes or number of parameters", "number of ranks (world size)", "sizes of the model's layers",
		"tokens of a micro-batch (samples and lengths, or a token budget)", "vocabulary",
	}, missing(Setup{Trainer: FSDP2}, PhaseBackward))
}

func TestTheLogitsNeedOnlyTokensAndVocabulary(t *testing.T) {
	t.Parallel()
	s := Setup{Trainer: FSDP2, Framework: VeRL, Model: Model{Vocab: 152064}, TokensNow: Some(int64(24570))}
	p, ok := s.Budget(PhaseLogProb).Part("logits")
	require.True(t, ok)
	assert.Contains(t, p.How, "24,570 tokens x 152,064 vocabulary x 4 bytes")
	assert.Contains(t, p.How, "13.92 GiB")
}

// The arithmetic of a log-prob pass: eight samples of up to 4,096 tokens, of which the longest had 3,071.
func TestALogitsCopyIsTokensTimesVocabulary(t *testing.T) {
	t.Parallel()
	s := Setup{Trainer: FSDP2, Framework: VeRL, Model: Model{Vocab: 152064}, MicroBatch: Some(int64(2)), SequenceNow: Some(int64(3071)), SequenceMax: Some(int64(4096))}
	p, _ := s.Budget(PhaseLogProb).Part("logits")
	assert.Contains(t, p.How, "3.48 GiB")
	p, _ = s.WorstCase().Budget(PhaseLogProb).Part("logits")
	assert.Contains(t, p.How, "4.64 GiB")
}

// Four workers of a node offload the parameters of a 7B model that eight ranks share: 7.7 GB of GPU memory for each less.
func TestOffloadedParametersLeaveTheCardForTheNode(t *testing.T) {
	t.Parallel()
	s := change(setups()["verl fsdp with vllm"], func(s *Setup) { s.GPUsPerNode = Some(int64(4)) })
	off := change(s, func(s *Setup) { s.ParamOffload = Some(true) })
	_, on := s.Budget(PhaseRollout).Part("weights")
	_, gone := off.Budget(PhaseRollout).Part("weights")
	assert.True(t, on)
	assert.False(t, gone)
	_, back := off.Budget(PhaseBackward).Part("weights")
	assert.True(t, back, "verl brings them back for an update")
	p, _ := off.Budget(PhaseRollout).Part("host_offload")
	assert.InDelta(t, 4*4*7.6156e9/8, p.Bytes, 1e7)
}

func TestAReferenceModelAndACriticTakeTheirStates(t *testing.T) {
	t.Parallel()
	s := setups()["verl fsdp with vllm"]
	s.Reference, s.ReferenceOffload, s.Critic = Some(true), Some(false), Some(true)
	b := s.Budget(PhaseLogProb)
	ref, _ := b.Part("reference")
	critic, _ := b.Part("critic")
	assert.InDelta(t, 4*7.6156e9/8, ref.Bytes, 1e6)
	assert.InDelta(t, 12*7.6156e9/8, critic.Bytes, 1e6)
	s.ReferenceOffload = Opt[bool]{} // verl's always waits on the host
	b = s.Budget(PhaseLogProb)
	_, there := b.Part("reference")
	assert.False(t, there)
	host, _ := b.Part("host_offload")
	assert.InDelta(t, 4*7.6156e9, host.Bytes, 1e7)
	s.Reference = Opt[bool]{}
	assert.Contains(t, missing(s, PhaseLogProb), "whether a reference model is loaded")
}

func TestASleepingEngineLeavesItsShare(t *testing.T) {
	t.Parallel()
	s := setups()["verl fsdp with vllm"]
	_, serves := s.Budget(PhaseRollout).Part("kv_cache")
	assert.True(t, serves)
	for _, phase := range []Phase{PhaseLogProb, PhaseBackward, PhaseOptimizer} {
		_, there := s.Budget(phase).Part("kv_cache")
		assert.False(t, there, phase)
		awake := change(s, func(s *Setup) { s.SleepLevel = Some(int64(0)) })
		_, there = awake.Budget(phase).Part("kv_cache")
		assert.True(t, there, phase)
		assert.Greater(t, awake.Budget(phase).Total(OnCard).Bytes, s.Budget(phase).Total(OnCard).Bytes)
	}
	_, apart := change(s, func(s *Setup) { s.Colocated = Some(false) }).Budget(PhaseRollout).Part("kv_cache")
	assert.False(t, apart)
}

func TestAnEnginesCacheIsWhatItsShareLeaves(t *testing.T) {
	t.Parallel()
	s := setups()["sglang alone"]
	kv, _ := s.Budget(PhaseRollout).Part("kv_cache")
	assert.InDelta(t, 0.88*79*(1<<30)-2*7.6156e9, kv.Bytes, 1e7)
	more, _ := change(s, func(s *Setup) { s.EngineShare.Value = 0.9 }).Budget(PhaseRollout).Part("kv_cache")
	assert.InDelta(t, 0.02*79*(1<<30), more.Bytes-kv.Bytes, 1e3)
	s.MaxModelLen = Some(int64(32768))
	need, how, ok := s.OneSequence()
	assert.True(t, ok)
	assert.Equal(t, int64(32768*2*4*128*28*2), need)
	assert.Equal(t, "32,768 tokens x 57,344 bytes", how)
	s.Candidates = EstimatedModels("some-7b-model")
	_, _, ok = s.OneSequence()
	assert.False(t, ok, "one of several models")
}

func TestVLLMCountsByVersion(t *testing.T) {
	t.Parallel()
	s := setups()["verl fsdp with vllm"]
	s.FreeAtStart = Some(int64(60) << 30)
	cache := func(version string) int64 {
		p, _ := change(s, func(s *Setup) { s.EngineVersion = version }).Budget(PhaseRollout).Part("kv_cache")
		return p.Bytes
	}
	assert.Equal(t, int64(20)<<30, cache("0.10.1")-cache("0.8.5"), "what others hold counted until 0.9")
	assert.Equal(t, cache("0.6.5"), cache("0.10.1"))
	assert.Greater(t, cache("0.11.0"), cache("0.10.1"), "communicators no longer count")
	assert.Less(t, cache("0.20.0"), cache("0.19.1"), "graphs count")
	assert.Equal(t, cache("v0.23.1"), cache(""), "an unknown version is taken as current")
	s.EngineShare, s.Framework = Opt[float64]{}, ""
	assert.Contains(t, missing(change(s, func(s *Setup) { s.EngineVersion = "" }), PhaseRollout), "share of the card (gpu_memory_utilization, mem_fraction_static)")
	assert.Less(t, cache("0.19.1"), cache("0.21.0"), "the default share went from 0.9 to 0.92")
}

func TestKVBytesOfAToken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model string
		tp    int64
		want  float64
	}{
		{"Qwen3-235B-A22B", 4, 48_128},
		{"Qwen3-235B-A22B", 8, 48_128}, // four heads of keys: more ranks hold copies
		{"DeepSeek-V3", 1, 70_272},
		{"DeepSeek-V3", 8, 70_272}, // latent attention is whole on every rank
		{"Llama-3-8B", 1, 131_072},
	} {
		got, ok := kvBytesPerToken(modelNamed(c.model), c.tp, 1, 2)
		assert.True(t, ok)
		assert.InDelta(t, c.want, got, 0.5, c.model)
	}
	_, ok := kvBytesPerToken(Model{}, 1, 1, 2)
	assert.False(t, ok)
}

// Bytes of a token and layer, fused and in HF's eager code.
func TestActivationsOfALayer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model        string
		fused, eager float64
	}{
		{"Qwen2.5-7B", 158_832, 225_392},
		{"Llama-3-8B", 139_392, 200_832},
		{"Qwen3-32B", 231_680, 379_136},
	} {
		e := &estimate{Setup: Setup{Model: modelNamed(c.model), Trainer: FSDP2}}
		e.Fused = Some(true)
		assert.InDelta(t, c.fused, e.layerBytes().kept.mid, 1, c.model)
		e.Fused = Some(false)
		assert.InDelta(t, c.eager, e.layerBytes().kept.mid, 1, c.model)
		e.Fused = Opt[bool]{}
		assert.InDelta(t, c.fused, e.layerBytes().kept.low, 1, "%s unknown", c.model)
		assert.GreaterOrEqual(t, e.layerBytes().kept.high, c.eager, "%s unknown", c.model)
	}
}

func TestBytesOfAParameterByRecipe(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		setup Setup
		want  float64
	}{
		"fp32 parameters under FSDP":       {Setup{Framework: VeRL, Trainer: FSDP2}, 16},
		"bf16 parameters under FSDP":       {Setup{Framework: VeRL, Trainer: FSDP2, WeightBytes: Some(2.0)}, 8},
		"AReaL":                            {Setup{Framework: AReaL, Trainer: FSDP2}, 8},
		"AReaL with Kahan compensation":    {Setup{Framework: AReaL, Trainer: FSDP2, Optimizer: "adam_bf16"}, 10},
		"Megatron":                         {Setup{Trainer: Megatron}, 18},
		"Megatron with bf16 gradients":     {Setup{Trainer: Megatron, GradBytes: Some(2.0)}, 16},
		"Megatron, precision-aware":        {Setup{Trainer: Megatron, OptimizerBytes: Some(8.0)}, 14},
		"ZeRO":                             {Setup{Trainer: ZeRO3}, 16},
		"bf16 on one card with 8-bit Adam": {Setup{Framework: TorchTune, Trainer: SingleDevice, Optimizer: "adamw_8bit"}, 6},
		"TRL's default":                    {Setup{Framework: TRL, Trainer: DDP}, 16},
	} {
		r := c.setup.recipe()
		assert.InDelta(t, c.want, r.weights.mid+r.grads.mid+r.optimizer.mid, 0.01, name)
	}
	unknown := Setup{Framework: "something", Trainer: DDP}
	r := unknown.recipe()
	assert.Equal(t, span{2, 4, 4}, r.weights)
}

// Bytes per token and column of the vocabulary.
func TestTheLogitsChainByFramework(t *testing.T) {
	t.Parallel()
	yes, no := Some(true), Some(false)
	for name, c := range map[string]struct {
		setup             Setup
		phase             Phase
		forward, backward float64
	}{
		"Megatron":                          {Setup{Framework: MegatronLM, Trainer: Megatron}, PhaseBackward, 6, 6},
		"verl Megatron without entropy":     {Setup{Framework: VeRL, Trainer: Megatron, Entropy: no}, PhaseBackward, 6, 9},
		"verl Megatron with entropy":        {Setup{Framework: VeRL, Trainer: Megatron, Entropy: yes}, PhaseBackward, 12, 18},
		"verl Megatron, the actor's pass":   {Setup{Framework: VeRL, Trainer: Megatron, Entropy: yes}, PhaseLogProb, 12, 12},
		"verl Megatron, which pass unknown": {Setup{Framework: VeRL, Trainer: Megatron}, PhaseLogProb, 12, 12},
		"verl Megatron, reference's pass":   {Setup{Framework: VeRL, Trainer: Megatron, Entropy: no}, PhaseLogProb, 6, 9},
		"verl Megatron log-prob in pieces":  {Setup{Framework: VeRL, Trainer: Megatron, ChunkedEntropy: yes}, PhaseLogProb, 8, 8},
		"verl FSDP without entropy":         {Setup{Framework: VeRL, Trainer: FSDP2, Entropy: no}, PhaseBackward, 4, 5},
		"verl FSDP, compiled entropy":       {Setup{Framework: VeRL, Trainer: FSDP2, Entropy: yes, CompiledLoss: yes}, PhaseBackward, 5, 9},
		"verl FSDP, entropy not compiled":   {Setup{Framework: VeRL, Trainer: FSDP2, Entropy: yes, CompiledLoss: no}, PhaseBackward, 18, 20},
		"slime before the rewrite":          {Setup{Framework: Slime, Trainer: Megatron, FrameworkDate: "2026-05-01"}, PhaseBackward, 18, 20},
		"slime after it":                    {Setup{Framework: Slime, Trainer: Megatron, FrameworkDate: "2026-07-15"}, PhaseBackward, 8, 12},
		"TRL GRPO":                          {Setup{Framework: TRL, Task: "grpo", Trainer: DDP}, PhaseBackward, 11, 13},
		"HF Trainer":                        {Setup{Framework: HFTrainer, Trainer: DDP}, PhaseBackward, 10, 12},
		"OpenRLHF without entropy":          {Setup{Framework: OpenRLHF, Trainer: ZeRO3, Entropy: no}, PhaseBackward, 6, 10},
		"a fused loss never builds logits":  {Setup{Framework: HFTrainer, Trainer: DDP, FusedLoss: yes}, PhaseBackward, 0, 0},
		"verl's fused kernels neither":      {Setup{Framework: VeRL, Trainer: FSDP2, FusedLoss: yes, Entropy: yes}, PhaseBackward, 0, 0},
		"Transformer Engine's fused kernel": {Setup{Framework: MegatronLM, Trainer: Megatron, FusedLoss: yes}, PhaseBackward, 4, 4},
	} {
		e := &estimate{Setup: c.setup, phase: c.phase}
		got := e.lossChain()
		assert.InDelta(t, c.forward, got.forward.mid, 0.01, name)
		assert.InDelta(t, c.backward, got.backward.mid, 0.01, name)
	}
}

func TestAPipelinesFirstStageHoldsTheMost(t *testing.T) {
	t.Parallel()
	e := &estimate{Setup: Setup{Trainer: Megatron, Model: Model{Layers: 32}, PP: Some(int64(4)), Stage: FirstStage, PipelineBatches: Some(int64(16))}}
	sets := func() float64 { n, _ := e.inFlight(); return n }
	assert.InDelta(t, 32, sets(), 0.1, "four micro-batches of eight layers")
	e.PipelineBatches = Some(int64(2))
	assert.InDelta(t, 16, sets(), 0.1, "no more than there are")
	e.Stage, e.PipelineBatches = LastStage, Some(int64(16))
	assert.InDelta(t, 8, sets(), 0.1)
	e.VirtualStages = Some(int64(8))
	assert.InDelta(t, 29, sets(), 0.1, "(8-1) x 4 + 1 chunks of one layer")
	e.Stage = FirstStage
	assert.InDelta(t, 35, sets(), 0.1, "32 x (1 + 3/32)")
	s := setups()["slime pipeline"]
	both := s.Budget(PhaseBackward).Total(OnCard).Bytes
	s.Stage = FirstStage
	first := s.Budget(PhaseBackward).Total(OnCard).Bytes
	s.Stage = LastStage
	assert.Equal(t, max(first, s.Budget(PhaseBackward).Total(OnCard).Bytes), both, "an unknown stage is the fullest")
}

func TestUnknownModelsWidenTheRange(t *testing.T) {
	t.Parallel()
	s := setups()["torchtitan"]
	known := s.Budget(PhaseBackward).Total(OnCard)
	s.Candidates = EstimatedModels("some-8b-model")
	wide := s.Budget(PhaseBackward).Total(OnCard)
	assert.Equal(t, known.Bytes, wide.Bytes)
	assert.LessOrEqual(t, wide.Low, known.Low)
	assert.Greater(t, wide.High, known.High)
}
