// Package cause says why memory ran out: the hypothesis about the run's memory that the evidence supports best.
//
// Each cause is a row of a table: clues that speak for it, clues that speak against it, and the figure that shows it. A clue
// is a function from the facts of the failure to a reason in words. The tables are training.go, engine.go, card.go and
// host.go. A clue that excludes a cause rules it out, whatever speaks for it: nobody is told to look for other processes on
// a card that the failed process fills alone.
package cause

import (
	"cmp"
	"slices"

	"oomscan/classifier"
	"oomscan/remedies/memory"
)

// Unknown is the cause of a failure for which nothing speaks.
const Unknown = "unknown"

// Cause is a hypothesis with what speaks for and against it.
type Cause struct {
	ID         string
	Confidence string // high, medium, low
	Text       string // one sentence, with the figure where there is one
	Bytes      *int64 // the figure; nil when it cannot be computed
	For        []string
	Against    []string
}

// Input is what is known of a failure. Figures that the log does not tell are nil.
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
	PromptCache                                    int64                // of finished prompts in host memory, 0 when unknown
	Request                                        []memory.Explanation // what the request can have been, the likeliest first
	Place                                          memory.Place
	Holders                                        []Holder // the largest processes of the node, the largest first
	Listed                                         []Listed // the processes of nvidia-smi's table
	Growth                                         []classifier.Trend
	Tokens                                         *memory.Limit
	Parameters                                     memory.Figure
	Trained                                        int64 // parameters, as a trainer counted them; 0 when unknown
	GPUs, PerNode                                  int64 // of the training world, and of them on a node; 0 when unknown
	CacheTokens, PlannedTokens                     int64 // what an engine's KV cache holds, and one sequence may have; 0 when unknown
	// Setting returns the first setting that is found under one of the names.
	Setting func(names ...string) (key, value string, ok bool)

	EngineFailed, SharesCard                  bool
	RayWorkers                                bool // Ray shows each worker only the cards that it may use
	EngineAwake, EngineAsleep                 bool // neither: nobody can tell
	LessThanDesired, NoRoomForCache, CacheRan bool
	CacheTaken                                bool // the engine said that its cache is there
	GraphCapture, Profiling, BeforeCache      bool
	Sampler, Serving, Picture                 bool // Picture: it failed while one was encoded
	Quantized, Adapters                       bool
	LimitReached, RayMonitor, DataWorkers     bool
	Unsharded                                 bool // every GPU holds the whole model
	WideTraining                              bool // the weights that are trained are float32
}

// Holder is a process with what it held.
type Holder struct {
	Name  string
	Bytes int64
}

// AnyDevice is the card of a process that is listed without one.
const AnyDevice = -1

// Listed is a process of a card as nvidia-smi lists it.
type Listed struct {
	Device, PID int
	Name        string
	Bytes       int64
	Afterwards  bool // the table stands behind the failure: what it lists has survived that
}

// clue returns why something is so, as a clause without a period, and nothing when it is not so or nobody can tell.
type clue func(in *Input) string

// weighed is a clue and how much it says.
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

// IDs are the causes, in the order of the tables; Unknown is the last.
func IDs() []string {
	var out []string
	for _, h := range table() {
		out = append(out, h.id)
	}
	return append(out, Unknown)
}

// weighedCause is a cause with the sum of what speaks for it.
type weighedCause struct {
	Cause
	weight int
}

// Rank returns the cause that the evidence supports best, and its rivals, best first: those that it supports less, and
// those that a figure excludes although something speaks for them.
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
	best = Cause{ID: Unknown, Confidence: "low", Text: cmp.Or(in.alone(), notShown+"took the memory") + "."}
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

// confidence is that of a hypothesis for which one more clue speaks.
func confidence(weight int, before string) string {
	switch {
	case weight >= proof:
		return "high"
	case weight >= sign && before == "low":
		return "medium"
	}
	return before
}
