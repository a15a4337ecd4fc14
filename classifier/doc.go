// Package classifier turns observations into one run and its incidents: what failed first, in which phase, what only
// followed from it, and whether the run went on. It decides from what the log says; unknown stays unknown.
//
// An observation goes through the files in this order. collector.go folds it into what its input told so far, and
// identity.go learns which process it was; of an event it notes what was under way. When the inputs are read,
// describe.go tells the run, incidents.go sorts the events and cluster.go joins those of one cause. Each cluster then
// picks its root, who.go and launcher.go tell whose it was, stage.go in which phase (package phase reads the frames),
// aftermath.go what followed and whether the run survived, evidence.go which lines prove it, and summary.go says it in
// one sentence.
package classifier
