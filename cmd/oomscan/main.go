// Command oomscan reads the logs of a dead or dying machine-learning job and says what ran out of memory, in which
// phase, which rank first, how much was missing, and what to change.
package main

import (
	"os"

	"oomscan/cmd/oomscan/internal/cli"
)

func main() {
	os.Exit(cli.Main(cli.Args(os.Args), cli.OS()))
}
