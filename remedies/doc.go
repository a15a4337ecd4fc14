// Package remedies answers an incident with the checklist of the framework's own out-of-memory guide: the items for
// its phase and resource, in the guide's order, filled in with the run's values.
package remedies
