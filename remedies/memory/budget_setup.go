package memory

// Opt is a value that may be unknown. The zero Opt is unknown.
type Opt[T any] struct {
	Value T
	Known bool
}

// Some is a known value.
func Some[T any](v T) Opt[T] { return Opt[T]{v, true} }

// Or returns the value, or other if it is unknown.
func (o Opt[T]) Or(other T) T {
	if o.Known {
		return o.Value
	}
	return other
}

// Pointer returns a pointer to the value, or nil if it is unknown.
func (o Opt[T]) Pointer() *T {
	if !o.Known {
		return nil
	}
	return &o.Value
}

// Frameworks, trainers and engines that the budget has formulas for. Others get the general ones, with wider ranges.
const (
	VeRL       = "verl"
	AReaL      = "areal"
	Slime      = "slime"
	OpenRLHF   = "openrlhf"
	TRL        = "trl"
	HFTrainer  = "hf"
	MegatronLM = "megatron-lm"
	TorchTitan = "torchtitan"
	TorchTune  = "torchtune"
	LitGPT     = "litgpt"

	FSDP1        = "fsdp1"
	FSDP2        = "fsdp2"
	DDP          = "ddp"
	ZeRO1        = "zero1"
	ZeRO2        = "zero2"
	ZeRO3        = "zero3"
	Megatron     = "megatron"
	SingleDevice = "single"

	VLLM   = "vllm"
	SGLang = "sglang"
)

// Ways to recompute activations.
const (
	RecomputeNone      = "none"
	RecomputeFull      = "full"      // every layer keeps only its input
	RecomputeSelective = "selective" // Megatron: the attention scores are not kept
	RecomputeOps       = "ops"       // torchtitan: every second matrix product is not kept
	RecomputeOffload   = "offload"   // full, with the kept inputs on the host
)

// OtherOptimizer has states of unknown size.
const OtherOptimizer = "other"

// Stages of a pipeline.
const (
	FirstStage = "first"
	LastStage  = "last"
)

// Setup holds the inputs of a budget. An empty string, a zero Model and a zero Opt are unknown. Unknown parallel degrees count
// as 1, every framework's default.
type Setup struct {
	Model Model
	// Candidates lists other models that the run may train. The parts' ranges cover them all.
	Candidates []Model

	Framework     string
	FrameworkDate string // of the framework's source, "2026-06-30", where a formula changed
	Task          string // "pretrain", "sft" or "grpo"
	Trainer       string // empty with an Engine: nothing is trained on these cards
	Engine        string
	EngineVersion string // "0.8.5"

	World, GPUsPerNode  Opt[int64]
	TP, PP, CP, EP, ETP Opt[int64] // CP or Ulysses; ETP splits the matrices of experts
	ShardRanks          Opt[int64] // ranks that FSDP or ZeRO split over, when not all data-parallel ones
	Stage               string     // of the pipeline; both ends are computed when unknown
	VirtualStages       Opt[int64] // chunks of layers that a pipeline stage holds
	PipelineBatches     Opt[int64] // micro-batches of a step in the pipeline
	SequenceParallel    Opt[bool]  // Megatron's, under TP

	WeightBytes, GradBytes Opt[float64] // of a parameter, as kept
	OptimizerBytes         Opt[float64] // of a parameter, master copy included
	Optimizer              string       // "adamw", "adamw_8bit", "adam_bf16", "sgd", OtherOptimizer; adamw when empty
	DistributedOptimizer   Opt[bool]    // Megatron
	Foreach                Opt[bool]    // torch's optimizers work on all parameters at once
	OptimizerOffload       Opt[float64] // fraction of the optimizer's states on the host
	OptimizerOnHost        Opt[bool]    // offloaded states are not brought back for the step
	ParamOffload           Opt[bool]
	ReshardAfterForward    Opt[bool] // FSDP; true when unknown
	WholeModelUnit         Opt[bool] // FSDP or ZeRO without a wrap policy
	RootUnitSplit          Opt[bool] // embedding and head are FSDP units of their own
	ReduceBucket           Opt[int64]
	GatherBucket           Opt[int64]
	OverlapComm            Opt[bool]
	GradAccumulationFusion Opt[bool] // Megatron; on when unknown

	Reference, ReferenceOffload Opt[bool] // a reference model, and whether it waits on the host
	Critic                      Opt[bool] // trained on the same cards

	Adapters       Opt[int64] // trained parameters of LoRA; unknown means that the whole model is trained
	AdaptedInputs  Opt[int64] // inputs of a layer that adapted matrices read: query, key and value share one
	AdapterDropout Opt[bool]
	QuantizedBytes Opt[float64] // of a parameter of a frozen 4- or 8-bit matrix

	Recompute    string
	Fused        Opt[bool]    // SwiGLU and norms are fused kernels: Megatron with TE, torch.compile, Liger
	Flash        Opt[bool]    // no attention scores are kept; true when unknown
	Dropout      Opt[bool]    // false when unknown
	MoEFused     Opt[bool]    // Megatron's moe_permute_fusion
	MoEImbalance Opt[float64] // tokens of the fullest expert rank over the mean

	MicroBatch  Opt[int64] // samples
	SequenceNow Opt[int64] // tokens of the longest sample of this micro-batch
	SequenceMax Opt[int64] // tokens of the longest sample that the settings allow
	TokensNow   Opt[int64] // of this micro-batch on this rank, as measured
	Padded      Opt[bool]  // samples are padded to SequenceMax (verl without use_remove_padding)
	TokenBudget Opt[int64] // of a micro-batch on a rank, when samples are packed up to it
	LossTokens  Opt[int64] // whose logits are computed, of this micro-batch, when not all

	FusedLoss, ChunkedEntropy, EntropyCheckpointing, CompiledLoss Opt[bool]
	Entropy                                                       Opt[bool] // the pass computes it

	Colocated                             Opt[bool] // engine and trainer share the cards
	CardBytes, FreeAtStart                Opt[int64]
	EngineShare                           Opt[float64] // gpu_memory_utilization, mem_fraction_static
	EngineTP, EnginePP                    Opt[int64]
	EngineWeightBytes, KVBytes            Opt[float64] // of a parameter and of an element; 2 when unknown, as most checkpoints have
	MaxModelLen, MaxSeqs, MaxBatchedToken Opt[int64]
	CUDAGraphs                            Opt[bool]
	SleepLevel                            Opt[int64] // 0 when the engine stays awake
	UpdateBucket                          Opt[int64] // bytes of a weight update's bucket
	UpdatePieces                          Opt[int64] // in which ZeRO-3 gathers the layers for a weight update

	LoadOnEveryRank   Opt[bool]  // every rank reads the whole model into host memory
	CheckpointGather  Opt[bool]  // the state dict is made whole on one rank
	CheckpointOptim   Opt[bool]  // the optimizer is saved, too
	NodeBytes         Opt[int64] // memory of a node, or the job's limit on it
	ObjectStoreBytes  Opt[int64] // Ray's, as set
	LoaderWorkers     Opt[int64] // of a rank
	LoaderWorkerBytes Opt[int64] // of one
	RolloutSamples    Opt[int64] // of a rollout batch, prompts x answers
	SwapBytes         Opt[int64] // of pinned pools that an engine rank sets aside: swap space, HiCache
	CPUOffloadBytes   Opt[int64] // cpu_offload_gb of an engine rank
}

func (s *Setup) tp() int64  { return max(s.TP.Or(1), 1) }
func (s *Setup) pp() int64  { return max(s.PP.Or(1), 1) }
func (s *Setup) cp() int64  { return max(s.CP.Or(1), 1) }
func (s *Setup) ep() int64  { return max(s.EP.Or(1), 1) }
func (s *Setup) etp() int64 { return max(s.ETP.Or(s.tp()), 1) }

// dataParallel returns the number of ranks that hold the same parameters before any sharding; context-parallel ranks count
// (Megatron shards its optimizer over both, torchtitan its parameters).
func (s *Setup) dataParallel() Opt[int64] {
	if s.Trainer == SingleDevice {
		return Some(int64(1))
	}
	if !s.World.Known {
		return Opt[int64]{}
	}
	return Some(max(s.World.Value/(s.tp()*s.pp()), 1))
}

// shards returns over how many ranks FSDP or ZeRO split a tensor.
func (s *Setup) shards() Opt[int64] {
	if s.ShardRanks.Known && s.ShardRanks.Value > 0 {
		return s.ShardRanks
	}
	return s.dataParallel()
}

// expertParallel returns the number of ranks that hold the same experts.
func (s *Setup) expertParallel() Opt[int64] {
	if !s.World.Known {
		return Opt[int64]{}
	}
	return Some(max(s.World.Value/(s.ep()*s.etp()*s.pp()), 1))
}

// sequenceSplit returns the divisor of those parts of a layer that tensor parallelism does not split.
func (s *Setup) sequenceSplit() float64 {
	if s.SequenceParallel.Or(false) {
		return float64(s.tp())
	}
	return 1
}

// gatheredAgain returns the divisor of the inputs of a layer's first matrices. Megatron keeps its part of a sequence and
// gathers it again in the backward pass (core/tensor_parallel/layers.py); PyTorch's tensor parallelism keeps it whole.
func (s *Setup) gatheredAgain() float64 {
	if s.Trainer == Megatron {
		return s.sequenceSplit()
	}
	return 1
}

// tokens returns the tokens of a micro-batch on this rank.
func (s *Setup) tokens() Opt[int64] {
	switch {
	case s.TokensNow.Known:
		return s.TokensNow
	case s.TokenBudget.Known:
		return Some(s.worstTokens())
	case s.MicroBatch.Known && s.SequenceNow.Known && !(s.Padded.Or(false) && s.SequenceMax.Known):
		return Some(s.MicroBatch.Value * s.SequenceNow.Value / s.cp())
	case s.MicroBatch.Known && s.SequenceMax.Known:
		return Some(s.MicroBatch.Value * s.SequenceMax.Value / s.cp())
	}
	return Opt[int64]{}
}

// worstTokens returns the maximum tokens of a micro-batch on this rank. A token budget is per rank (verl multiplies it by the
// Ulysses degree before it packs), and a single sample may be longer than the budget.
func (s *Setup) worstTokens() int64 {
	longest := max(s.SequenceMax.Or(0), s.SequenceNow.Or(0)) / s.cp()
	most := s.TokensNow.Or(0)
	switch {
	case s.TokenBudget.Known:
		most = max(most, s.TokenBudget.Value, longest)
	case s.MicroBatch.Known:
		most = max(most, s.MicroBatch.Value*longest)
	}
	return most
}

// WorstCase returns the same run with the largest micro-batch that its settings allow.
func (s Setup) WorstCase() Setup {
	now, worst := s.tokens(), s.worstTokens()
	if worst == 0 || !now.Known {
		return s
	}
	if s.LossTokens.Known && now.Value > 0 {
		s.LossTokens.Value = s.LossTokens.Value * worst / now.Value
	}
	s.TokensNow = Some(worst)
	if s.SequenceMax.Known {
		s.SequenceNow = Some(max(s.SequenceMax.Value, s.SequenceNow.Or(0)))
	}
	return s
}
