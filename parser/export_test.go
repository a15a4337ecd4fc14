package parser

import (
	"io"
	"slices"
)

// ScanInFull is [Scan] that reads everything that waits, whatever is said again behind it.
func ScanInFull(name string, r io.Reader, emit func(Observation)) (Stats, error) {
	t := *table()
	t.traits = slices.Clone(t.traits)
	for i := range t.traits {
		t.traits[i] &^= isSpare
	}
	s := newScanner(name, &t, emit)
	_, err := s.ReadFrom(r)
	return s.Close(), err
}
