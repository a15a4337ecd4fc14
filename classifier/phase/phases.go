package phase

import "slices"

// Phase is one of the identifiers below, which reports use and which never change.
type Phase = string

// The phases of a run.
const (
	Init         Phase = "init"
	Rollout      Phase = "rollout"
	LogProb      Phase = "logprob"
	Forward      Phase = "forward"
	Backward     Phase = "backward"
	Optimizer    Phase = "optimizer"
	Training     Phase = "training" // inside a training step, which part is unknown
	WeightUpdate Phase = "weight_update"
	NCCL         Phase = "nccl" // inside a collective or the set-up of a communicator
	Checkpoint   Phase = "checkpoint"
	Data         Phase = "data"
	Unknown      Phase = "unknown"
)

// Info has the words for a phase.
type Info struct {
	ID    Phase
	Name  string // "the rollout": it acts in the rollout
	When  string // "during generation": GPU memory ran out during generation
	Means string // "generation": the stage covers generation
}

// phases is the registry of phases, in the order in which reports list them. Unknown is not among them.
var phases = []Info{
	{Init, "start-up", "during start-up", "start-up"},
	{Rollout, "the rollout", "during generation", "generation"},
	{LogProb, "the log-probability pass", "in the log-prob pass", "a pass that only computes log-probabilities or values"},
	{Forward, "the forward pass", "in the training forward pass", "the forward pass"},
	{Backward, "the backward pass", "in the backward pass", "the backward pass"},
	{Optimizer, "the optimizer step", "in the optimizer step", "the optimizer step"},
	{Training, "the training step", "in a training step", "a training step"},
	{WeightUpdate, "the weight update", "during the weight update", "handing new weights to the inference engine"},
	{NCCL, "a collective", "inside a collective", "a collective or the set-up of a communicator"},
	{Checkpoint, "a checkpoint", "while checkpointing", "saving or loading a checkpoint"},
	{Data, "data loading", "in data loading", "loading data"},
}

// Known returns the ids of all phases but Unknown, in the order in which reports list them.
func Known() []Phase {
	ids := make([]Phase, len(phases))
	for i, p := range phases {
		ids[i] = p.ID
	}
	return ids
}

// ByID returns the words for a phase; Unknown has none.
func ByID(id Phase) Info {
	if i := slices.IndexFunc(phases, func(p Info) bool { return p.ID == id }); i >= 0 {
		return phases[i]
	}
	return Info{ID: id}
}

// means describes a phase in the reason of a verdict.
func means(id Phase) string { return ByID(id).Means }
