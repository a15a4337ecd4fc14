// Command oomscan reads the logs of a dead or dying machine-learning job and says what ran out of memory, in which
// phase, which rank first, how much was missing, and what to change.
package main

import (
	"os"
	"runtime/debug"

	"oomscan/cmd/oomscan/internal/cli"
)

// memoryLimit is from where on the garbage of a scan is collected more often. What is kept of 20,000 failed jobs, or of 10,000
// incidents, is well below that: a limit close to what is kept would have the collector work all the time. GOMEMLIMIT chooses
// another one.
const memoryLimit = 128 << 20

func main() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	os.Exit(cli.Main(cli.Args(os.Args), cli.OS()))
}
