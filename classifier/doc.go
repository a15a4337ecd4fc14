// Package classifier turns observations into one run and its incidents: what failed first, in which phase, what only
// followed from it, and whether the run went on. It decides from what the log says; unknown stays unknown.
package classifier
