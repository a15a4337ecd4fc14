// Package remedies answers an incident with the checklist of the framework's own out-of-memory guide: the items for
// its phase and resource, in the guide's order, filled in with the run's values.
//
// The guides are data, one YAML file each under guides/: lists of items, and for every item its parameters with all
// the names they had, conditions, and what the guide got wrong. What a condition, a fact or a rule for the next value
// means is Go: conditions.go, facts.go and rules*.go. A guide is decoded when the first incident asks for it.
//
// The arithmetic: request.go and limits.go ask package memory what the failed request was, model.go knows the model's
// sizes, band.go between which values an engine's share works, states.go and effect.go what a change frees and whether
// it is enough, patch.go writes the changes to start with as one block, findings.go says the rest in sentences.
//
// To add an item, add it to the guide's file and to a list there. The tests check that names of facts and rules exist.
package remedies
