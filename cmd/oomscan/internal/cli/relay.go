package cli

import "oomscan/parser"

// Sizes of a relay: how many observations go at a time, and how many times that may be under way.
const (
	relayLoad  = 128
	relayLoads = 4
)

// relay hands what is emitted to take, in a goroutine of its own and in order, until end is called, which returns when all of
// it was taken. While workers search a log, one goroutine reads what they find; it is what they wait for, and has enough to do.
func relay(take func(parser.Observation)) (emit func(parser.Observation), end func()) {
	full, empty := make(chan []parser.Observation, relayLoads), make(chan []parser.Observation, relayLoads)
	over := make(chan struct{})
	go func() {
		defer close(over)
		for load := range full {
			for _, o := range load {
				take(o)
			}
			clear(load)
			empty <- load[:0]
		}
	}()
	for range relayLoads {
		empty <- nil
	}
	load := <-empty
	emit = func(o parser.Observation) {
		if load = append(load, o); len(load) == relayLoad {
			full <- load
			load = <-empty
		}
	}
	return emit, func() {
		full <- load
		close(full)
		<-over
	}
}
