// Command oomscan reads the logs of a dead or dying machine-learning job and says what ran out of memory, in which
// phase, which rank first, how much was missing, and what to change.
package main

import (
	"os"
	"runtime/debug"

	"oomscan/cmd/oomscan/internal/cli"
)

// memoryLimit is from where on the garbage of a scan is collected more often: what is kept of 20,000 failed jobs is less than
// that, but three times as much was in use. GOMEMLIMIT chooses another one.
const memoryLimit = 80 << 20

func main() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	os.Exit(cli.Main(cli.Args(os.Args), cli.OS()))
}
