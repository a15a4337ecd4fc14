// Package parser turns the bytes of job logs into observations: events (something failed), settings, markers (the run
// entered a phase) and gauges (memory readings). It reports what a program printed; what that means is package
// classifier's business. It never opens a file and never fails on content.
package parser
