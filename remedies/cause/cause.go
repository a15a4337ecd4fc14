// Package cause explains why memory ran out, with the hypothesis that the evidence supports best.
//
// Each cause is a row of a table: clues for it, clues against it, and the figure that shows it. A clue
// is a function from the facts of the failure to a reason in words. The tables are training.go, engine.go, card.go and
// host.go. A clue that excludes a cause rules it out, however strong the clues for it: if the failed process fills its card
// alone, other processes are not the cause.
package cause

import (
	"cmp"
	"slices"

	"oomscan/classifier"
	"oomscan/remedies/memory"
)

// Unknown is the cause when there is no evidence for any other.
const Unknown = "unknown"

// Cause is a hypothesis with the evidence for and against it.
type Cause struct {
	ID         string
	Confidence string // high, medium, low
	Text       string // one sentence, with the figure where there is one
	Bytes      *int64 // the figure; nil when it cannot be computed
	For        []string
	Against    []string
}

// Input holds the facts of a failure. Figures missing from the log are nil.
type Input struct {
	Framework, Application, Backend                string
	Kind, Phase, Resource                          string // words of the report
	Patterns                                       []string
	Message                                        string   // of the root, in lower case
	Part                                           string   // what was being made, as the program names it, in lower case
	Text                                           string   // message and evidence, in lower case
	Stack                                          []string // file, function and code of each frame, in lower case, the innermost last
	Rank, Device, LastStep, PID                    *int
	Requested, Total, Free, Allocated, Idle        *int64 // Idle is reserved by PyTorch and not allocated
	Process, Others, HostLimit, Shortfall, SHMUsed *int64
	Used                                           *int64               // of what bounds the run
	NodeRAM                                        *int64               // of the machine, as the kernel counts it
	SetUp                                          int64                // what DeepSpeed had allocated before the first step, 0 when unknown
	CardSize, CardMost                             int64                // at least and at most, by the name of the card or nvidia-smi; 0 when unknown
	FreeAtLoad                                     int64                // on the card, before llama.cpp loaded a model; 0 when unknown
	TensorFlowPool, TensorFlowOther                int64                // what TensorFlow reserved on a card, and on another one; 0 when unknown
	PromptCache                                    int64                // of finished prompts in host memory, 0 when unknown
	HostCache                                      int64                // of the KV cache of llama.cpp or Ollama in host memory, 0 when unknown
	HostTier                                       int64                // of each rank's part of TensorRT-LLM's cache there, 0 when unknown
	CardWeights                                    int64                // of the same model on the cards, 0 when unknown
	HostWeights                                    int64                // that Ollama's own engine copies to host memory, 0 when unknown
	MapProcesses                                   int64                // of Dataset.map, 0 when unknown
	Scores                                         string               // shape of XLA's largest buffer that holds a score for each pair of tokens
	Stage                                          string               // why the phase was chosen, in lower case
	Request                                        []memory.Explanation // what the request can have been, the likeliest first
	Place                                          memory.Place
	Holders                                        []Holder // the largest processes of the node, the largest first
	Listed                                         []Listed // the processes of nvidia-smi's table
	Growth                                         []classifier.Trend
	Tokens                                         *memory.Limit
	Parameters                                     memory.Figure
	Trained                                        int64  // parameters, as a trainer counted them; 0 when unknown
	States                                         int64  // what weights, gradients and the optimizer take of a card at least, by the budget; 0 when unknown
	StatesHow                                      string // their sum: "14.96 GiB + 29.92 GiB + 89.74 GiB"
	BetweenSteps                                   int64  // what Megatron had allocated between two steps, 0 when unknown
	Frozen                                         int64  // what frozen weights beside adapters take of the card, 0 when unknown
	Pipeline                                       int64  // what all parts of a pipeline that generates take in 16 bits, 0 when unknown
	EngineWeights                                  int64  // of an engine on a card at least, by the budget; 0 when unknown
	GPUs, PerNode                                  int64  // of the training world, and of them on a node; 0 when unknown
	CacheTokens, PlannedTokens                     int64  // what an engine's KV cache holds, and one sequence may have; 0 when unknown
	Reads                                          string // the model that was being read, if it is not the one that is trained
	OneSequence                                    int64  // bytes of that sequence on each card, 0 when unknown
	Workers                                        []int  // pids of a web server's processes
	HostPools                                      int64  // SGLang's caches in the node's memory, of all ranks; 0 when unknown
	OtherCache                                     int64  // of another model of the same server, made before; 0 when there is none
	PlannedCache                                   int64  // what the engine announced for its cache before it failed at its start; 0 when unknown
	LayersOnCard                                   int64  // of llama.cpp's layers on the failed card, in bytes; 0 when unknown
	GraphPools                                     int64  // what PyTorch's private pools hold, which are mostly CUDA graphs'; 0 when unknown
	GraphSizes                                     int64  // of the input for which a compiled model had recorded CUDA graphs; 0 when unknown
	CountedAgainst                                 int64  // memory of other processes that an engine takes out of its share; 0 when unknown
	CacheBlocks, PlannedSequences                  int64  // Mamba blocks in the cache, and sequences that each need one; 0 when unknown
	MegatronShard                                  int64  // parameters of a rank, as Megatron counts them; 0 when unknown
	Peak, OthersPeak                               int64  // what the failed rank had held at most, and the median of the other ranks; 0 when unknown
	PrefillTokens                                  int64  // of the last batch of prompts that an engine printed, 0 when unknown
	// Setting returns the first setting found under one of the names.
	Setting func(names ...string) (key, value string, ok bool)

	EngineFailed, SharesCard                  bool
	RayWorkers                                bool // Ray shows each worker only the cards that it may use
	EngineAwake, EngineAsleep                 bool // neither if unknown
	SleptOnHost                               bool // an engine moved its weights to host memory when it slept
	LessThanDesired, NoRoomForCache, CacheRan bool
	CacheTaken                                bool // the engine said that its cache is there
	GraphCapture, Profiling, BeforeCache      bool
	Sampler, Serving, Picture                 bool      // Picture: it failed while one was encoded
	Draft                                     bool      // what failed is a draft model's
	Transcribes, WideWeights                  bool      // a model of speech runs, and CTranslate2 keeps its weights in float32
	Biggest                                   Processes // none where no name's processes held most of the memory
	CachedDataset                             bool      // MONAI keeps every sample in host memory
	MakesDecoder                              bool      // TensorRT-LLM's, before its cache
	BuiltContext                              bool      // TensorRT-LLM's, made for the sizes that the engine was built for
	RequestRows                               bool      // SGLang's table of the requests' tokens failed
	CacheCovers                               bool      // Ollama's cache is what did not fit into host memory, or takes more than was missing
	EncoderBatch                              bool      // it failed in an encoder that works on one input for each sequence
	Calibrates                                bool      // it failed in the calibration of a quantizer
	JoinsOutputs                              bool      // a script joined in host memory what it kept of all batches of an evaluation
	Instances                                 int64     // of a model that Triton had begun on the card, 0 when unknown
	Hidden, Inner                             int64     // width of the model and of its feed-forward layers, 0 when unknown
	Quantized, Adapters                       bool
	LimitReached, RayMonitor, DataWorkers     bool
	Build                                     string // that a compiler was killed; empty where none was
	Mapping                                   bool   // it failed in Dataset.map
	OwnCache                                  bool   // a script creates the key-value cache of its model
	Infers                                    bool   // no gradients are needed for what failed
	NoGradSeen                                bool   // the log shows that gradients are off
	Unsharded                                 bool   // every GPU holds the whole model
	Alone                                     bool   // FSDP is on, and one process runs
	DefaultType                               bool   // a script loads a pipeline of Diffusers without a dtype
	TypeIgnored                               string // what Diffusers says of an argument for 16 bits that it ignored; empty if it ignored none
	FullPrecision                             bool   // accelerate says that it has no mixed precision
	LeakyEngine                               bool   // its version is known to leak host memory
	Kept                                      bool   // a script joins the outputs of its batches
	Pins                                      bool   // mmgp pinned models in host memory
	ToPin                                     int64  // what pinning all of them takes, 0 when unknown
	KeepsResults                              bool   // Ultralytics keeps the results of all frames in a list
	WideTraining                              bool   // the weights that are trained are float32
	MadeWide                                  bool   // a trainer has its model in float32, whatever the settings say of other types
	UsedBefore                                int64  // on a card, before its worker held any of it; 0 when unknown
	EngineFound                               int64  // free on a card, at most, before an engine of the run loaded its weights; 0 when unknown
	LoadsNext                                 bool   // ComfyUI had begun to load a model of its workflow, and was not done
	EngineSlept                               bool   // an engine of the run has slept
}

// Holder is a process and the memory it held.
type Holder struct {
	Name  string
	Bytes int64
}

// AnyDevice is the card of a process listed without one.
const AnyDevice = -1

// Listed is a process on a card, as listed by nvidia-smi.
type Listed struct {
	Device, PID int
	Bus         string // the card's address or UUID, where a query's answer has that instead of a number
	Name        string
	Bytes       int64
	Afterwards  bool // the table was printed after the failure, so its processes survived it
}

// clue returns a reason, as a clause without a period, or nothing if there is none or it cannot be known.
type clue func(in *Input) string

// weighed is a clue and its weight.
type weighed struct {
	weight int
	clue   clue
}

// The weights. A proof alone outweighs a sign and several hints.
const (
	proof = 8
	sign  = 4
	hint  = 1
)

// hypothesis is one row of the tables.
type hypothesis struct {
	id       string
	evidence []weighed
	excludes []clue
	figure   func(in *Input) (text string, bytes *int64)
}

func table() []hypothesis { return slices.Concat(engines, training, card, host) }

// IDs lists the causes in the order of the tables. Unknown comes last.
func IDs() []string {
	var out []string
	for _, h := range table() {
		out = append(out, h.id)
	}
	return append(out, Unknown)
}

// weighedCause is a cause and the sum of the weights for it.
type weighedCause struct {
	Cause
	weight int
}

// Rank returns the cause that the evidence supports best, and its rivals, best first: causes with less support, and causes
// that have support but that a figure excludes.
func Rank(in *Input) (best Cause, rivals []Cause) {
	var supported []weighedCause
	var excluded []Cause
	for _, h := range table() {
		c := h.weigh(in)
		switch {
		case c.weight == 0:
		case len(c.Against) > 0:
			excluded = append(excluded, c.Cause)
		default:
			supported = append(supported, c)
		}
	}
	slices.SortStableFunc(supported, func(a, b weighedCause) int { return b.weight - a.weight })
	best = Cause{ID: Unknown, Confidence: "low", Text: cmp.Or(in.alone(), in.asked(), notShown+"took the memory") + "."}
	for i, c := range supported {
		if i == 0 {
			best = c.Cause
			continue
		}
		rivals = append(rivals, c.Cause)
	}
	return best, append(rivals, excluded...)
}

func (h *hypothesis) weigh(in *Input) weighedCause {
	c := weighedCause{Cause: Cause{ID: h.id, Confidence: "low"}}
	for _, e := range h.evidence {
		if why := e.clue(in); why != "" {
			c.For = append(c.For, why)
			c.weight += e.weight
			c.Confidence = confidence(e.weight, c.Confidence)
		}
	}
	if c.weight == 0 {
		return c
	}
	for _, x := range h.excludes {
		if why := x(in); why != "" {
			c.Against, c.Confidence = append(c.Against, why), "low"
		}
	}
	c.Text, c.Bytes = h.figure(in)
	return c
}

// confidence returns the confidence in a hypothesis that one more clue supports.
func confidence(weight int, before string) string {
	switch {
	case weight >= proof:
		return "high"
	case weight >= sign && before == "low":
		return "medium"
	}
	return before
}

// asked states what the request was, if that is known though its cause is not.
func (in *Input) asked() string {
	if len(in.Request) == 0 || !in.Request[0].Met {
		return ""
	}
	return "The failed request is " + trimmed(in.Request[0].Text)
}
