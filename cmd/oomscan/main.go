// Command oomscan reads the logs of a dead or dying machine-learning job and says what ran out of memory, in which
// phase, which rank first, how much was missing, and what to change.
package main

import (
	"os"
	"runtime/debug"

	"oomscan/cmd/oomscan/internal/cli"
)

// softLimit keeps a scan of logs of any size under 32 MiB of resident memory, the program's own pages among them. A scan that
// needs more gets more, and spends up to half of its time on garbage.
const softLimit = 22 << 20

func main() {
	debug.SetMemoryLimit(softLimit)
	debug.SetGCPercent(-1) // only the limit counts: a short log's report ends before there is anything to collect
	os.Exit(cli.Main(cli.Args(os.Args), cli.OS()))
}
