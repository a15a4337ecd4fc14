package stream

import "fmt"

// How many bytes of one physical line are looked at as a whole.
const (
	DefaultLine = 64 << 10
	// LeastLine is as much as is read around a message in a longer line. Less would cut messages.
	LeastLine = maxExcerpt
	// MostLine keeps what one input needs in memory within bounds: a few lines for each worker.
	MostLine = 16 << 20
)

// An Option changes how one input is read.
type Option func(*Reader)

// LineLimit is how many bytes of one physical line are looked at as a whole, from [LeastLine] to [MostLine]; without it,
// [DefaultLine]. Of a longer line (a progress bar of megabytes, a JSON record) the parts between carriage returns are read
// like lines of their own, as far as they hold a literal, and of a part without carriage returns what stands around the
// literals. It panics on any other number: check a user's number first.
func LineLimit(bytes int) Option {
	if bytes < LeastLine || bytes > MostLine {
		panic(fmt.Sprintf("stream: a limit of %d bytes for lines", bytes))
	}
	return func(s *Reader) { s.maxLine = bytes }
}

// Patterns are the messages that are looked for; without them, those that oomscan knows itself.
func Patterns(t *Table) Option { return func(r *Reader) { r.table = t } }
