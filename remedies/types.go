package remedies

import "oomscan/remedies/cause"

// Change is one setting that a remedy changes, in the framework's own words.
type Change struct {
	Key       string  `json:"key"`       // canonical name for the run's version: "actor_rollout_ref.rollout.gpu_memory_utilization", "--max-tokens-per-gpu"
	From      *string `json:"from"`      // present value, nil if it is not in the log
	To        *string `json:"to"`        // next value, nil when only the direction is known
	Direction string  `json:"direction"` // up, down, set
	Syntax    string  `json:"syntax"`    // hydra, yaml, toml, flag, sbatch, env, python, shell
	Snippet   string  `json:"snippet"`   // ready to paste, empty when To is nil
	// ComputedFrom is the arithmetic of To, for people to check. It is empty for a guide's own value. If From is unknown too,
	// it is the first step in words: "to half of what it is now".
	ComputedFrom string `json:"computed_from"`
}

// Source is the source of an item.
type Source struct {
	Guide   *string `json:"guide"` // areal, areal-early, verl, relax, field-note; nil for an official document
	Section string  `json:"section"`
	URL     *string `json:"url"`
}

// Remedy is one item of a checklist, in the guide's order.
type Remedy struct {
	Order   int    `json:"order"` // 1-based place in the list
	ID      string `json:"id"`    // stable: "verl.rollout.gpu-memory-utilization"
	List    string `json:"list"`  // heading of the list it belongs to: "verl, backward pass", "verl, general checklist"
	Title   string `json:"title"` // imperative
	Detail  string `json:"detail"`
	Why     string `json:"why"`
	Caution string `json:"caution"`
	// Applies is false if the run contradicts the item (it is so already, a prerequisite is missing, it would make things
	// worse or cannot help here), true if the log shows that it can help, and nil if the log does not decide.
	Applies    *bool    `json:"applies"`
	AppliesWhy string   `json:"applies_why"`
	Changes    []Change `json:"changes"`
	Freed      *int64   `json:"expected_freed_bytes"` // bytes that the change is expected to free, nil when no model of it exists
	// Enough is true if the change alone is expected to make room for what failed, and nil if that is unknown. EnoughWhy is
	// the comparison, empty if Enough is nil.
	Enough    *bool  `json:"enough"`
	EnoughWhy string `json:"enough_why"`
	Source    Source `json:"source"`
}

// Checklist is the answer to "what to do" for one incident.
type Checklist struct {
	Title     string   // "verl: backward pass (guide 'Resolving Out-of-Memory Errors')"
	Remedies  []Remedy // the guide's order, always
	StartWith []string // ids that this run's evidence supports, best first
	// Findings are sentences about the failure beyond single items: what the request was, the smallest change expected
	// to fit.
	Findings []string
	Patch    []Patch // the changes to start with, one block per dialect
	// Cause is why memory ran out, nil if it was not exhausted. Rivals are other possible causes.
	Cause  *cause.Cause
	Rivals []cause.Cause
	// Proposals are changes, best first. Each is complete, and one of them is enough.
	Proposals []Proposal

	Budget      []BudgetPart // of the resource and the phase that failed; empty when it cannot be computed
	Unexplained *int64       // what was in use beyond the budget, in bytes; nil when unknown
}
