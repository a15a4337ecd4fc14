// Package remedies answers an incident with the checklist of the framework's own out-of-memory guide: the items for
// its phase and resource, in the guide's order, filled in with the run's values, and which of them to start with.
//
// The answer is made in steps, each a function from values to a value. Follow one incident: verl's actor runs out of
// memory in the old log-prob pass, with log_prob_micro_batch_size_per_gpu=8.
//
//  1. newContext gathers the facts in a [Context] that does not change afterwards: the settings under all their spellings
//     (settings.go), the model's sizes (model.go), the facts that guides may ask for (facts*.go, messages.go), and what the
//     failed request may have been (request.go, limits.go, shape.go): logits of 8 x 3,071 tokens.
//  2. listsFor chooses the guides' lists for that phase and resource (lists.go), and candidates takes the items from them.
//  3. propose fills in the parameters of each item (propose.go): the log's value 8, and the next one by a rule that the
//     guide names (rules*.go; feasible.go has the range of an engine's share): 2, because 4 fits only this batch.
//  4. estimateOf computes how much these changes free and whether that is enough: outcomeOf (outcome.go) computes the run's
//     memory budget again with the changed settings; effect.go adds the rules' own arithmetic. 13.92 GiB become 3.48, and
//     7.61 was free.
//  5. check decides whether the item applies and why (assess.go): a fact rules it out or supports it.
//  6. combine combines the results in an assessment, and rank orders the assessments (rank.go).
//  7. proposalsFor picks the items that attack the cause and orders them (proposals.go): those that fit with a margin first,
//     the smallest pair if none is enough alone, none that would only move the failure. weigh.go writes the sentences about
//     the effect of each now, at full length and elsewhere, and about its costs. patch.go makes a block to paste of the first
//     one, and findings.go has findings beyond single items.
//
// The inputs of a memory budget come from the same Context: setupOf (setup.go) reads them by the table of setup_table.go,
// whose rows name each input's settings by framework.
//
// A new step reads the Context and earlier values and adds its own; no step changes another's. conditions.go is the only
// definition of what conditions mean: [Context] evaluates them for guides and for steps.
//
// The guides are data: one YAML file each under guides/, and the rest of their documents under guides/manual/ (guide.go,
// manual.go). They are decoded on first use, and browse.go and search.go show them. Package memory has the arithmetic that
// does not depend on frameworks.
//
// To add an item, add it to the guide's file and to a list there. Its conditions may use facts, settings, and "pattern:NAME"
// of the failure's message. The tests check that the names of facts, rules and patterns exist.
package remedies
