// Package classifier turns observations into one run and its incidents: what failed first, in which phase, what only
// followed from it, and whether the run went on. It decides from what the log says; unknown stays unknown.
//
// An observation goes through the files in this order. collector.go folds it into what its input said so far (state.go),
// and identity.go learns which process wrote it; an event keeps what was under way when it was read. When the inputs are
// read, detect.go and describe.go say what the run is, by the registry in framework.go. dedupe.go drops what was printed
// twice, incidents.go groups the evidence and cluster.go decides what belongs together. From each cluster conclusion.go
// concludes: which event is the root, whose it was (identify.go, launcher.go), with which figures (figures.go), in which
// phase (stage.go; package phase reads the frames), what followed and whether the run survived (aftermath.go), and which
// lines prove it (evidence.go). summary.go says it in one sentence. Patterns (package messages) state what a
// message proves about its program.
package classifier
