// Package remedies answers an incident with the checklist of the framework's own out-of-memory guide: the items for
// its phase and resource, in the guide's order, filled in with the run's values, and which of them to start with.
//
// The answer is made in steps, each a function from values to a value. Follow one incident: verl's actor runs out of
// memory in the old log-prob pass, with log_prob_micro_batch_size_per_gpu=8.
//
//  1. newContext gathers what is known into a [Context] that nothing changes afterwards: the settings under all their
//     spellings (settings.go), the model's sizes (model.go), the facts that guides may ask (facts*.go, messages.go), and
//     what the failed request can have been (request.go, limits.go, shape.go): logits of 8 x 3,071 tokens.
//  2. listsFor chooses the guides' lists for that phase and resource (lists.go), and candidates takes the items from them.
//  3. propose fills in the parameters of each item (propose.go): the log's value 8, and a next one by a rule that the
//     guide names (rules*.go; feasible.go has the range of an engine's share): 2, for 4 fits this batch alone.
//  4. estimateOf says what these changes free and whether that is enough: outcomeOf (outcome.go) computes the run's memory
//     budget once more with the changed settings; effect.go adds what rules reckon themselves. 13.92 GiB become 3.48, and
//     7.61 was free.
//  5. check says whether the item applies and why (assess.go): a fact rules it out, or one speaks for it.
//  6. combine puts together what the steps have found, an assessment, and rank orders the assessments (rank.go).
//  7. proposalsFor picks those that attack the cause and orders them (proposals.go): what fits with a margin first, the
//     smallest pair where nothing is enough alone, nothing that would only move the failure. weigh.go says in sentences
//     what each does now, at full length and elsewhere, and what it costs. The first one as a block to paste is in
//     patch.go, and what the arithmetic says beyond single items in findings.go.
//
// The inputs of a memory budget come from the same Context: setupOf (setup.go) reads them by the table of setup_table.go,
// whose rows name each input's settings framework by framework.
//
// A further step reads the Context and the values before it, and adds a value of its own; no step changes another's.
// What a condition means is defined once, in conditions.go: [Context] answers it for guides and for steps alike.
//
// The guides are data: one YAML file each under guides/, and under guides/manual/ what their documents tell besides
// (guide.go, manual.go). They are read by guidetext.go when they are first asked for, and shown by browse.go and search.go. Package memory has the arithmetic that knows no framework.
//
// To add an item, add it to the guide's file and to a list there. It may ask for facts, settings, and "pattern:NAME" of
// the failure's message. The tests check that the names of facts, rules and patterns exist.
package remedies
