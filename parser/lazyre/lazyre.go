// Package lazyre compiles regular expressions on first use. Compiling all of them at start-up would take longer than
// reading a short log, and most logs need few of them.
package lazyre

import (
	"regexp"
	"sync"
)

// New returns a function that gives the compiled expression. An invalid expression panics on the first call. The function
// is safe for concurrent use.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
