package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// softLimit keeps a scan of logs of any size under 32 MiB of resident memory, the program's own pages among them.
const softLimit = 17 << 20

// roomy is from how much living memory on the limit is given up: to keep it would cost most of the time.
const roomy = 9 << 20

// collectByLimit collects garbage when the limit is near and not before: a short log's report ends before there is
// anything to collect. A scan that keeps more, of thousands of logs, collects as Go does by default from then on.
func collectByLimit() {
	debug.SetMemoryLimit(softLimit)
	debug.SetGCPercent(-1)
	afterCollection(func() bool {
		if debug.SetMemoryLimit(-1) != softLimit {
			return false // somebody else decided
		}
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		if live[0].Value.Kind() != metrics.KindUint64 || live[0].Value.Uint64() < roomy {
			return true
		}
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(math.MaxInt64)
		return false
	})
}

// afterCollection calls do after each collection until it says no.
func afterCollection(do func() bool) {
	type token struct{ _ [32]byte }
	runtime.SetFinalizer(new(token), func(*token) {
		if do() {
			afterCollection(do)
		}
	})
}
