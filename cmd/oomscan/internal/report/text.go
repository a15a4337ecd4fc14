package report

import (
	"fmt"
	"io"
)

// Style is how text is laid out.
type Style struct {
	Color bool
	Width int // columns; 0: not a terminal
}

// Text writes the report for people.
func Text(w io.Writer, r *Report, st Style) error {
	for i := range r.Incidents {
		fmt.Fprintln(w, r.Incidents[i].Summary)
	}
	return nil
}
