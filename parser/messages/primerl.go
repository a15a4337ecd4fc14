package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// primeRLMarkers are the step lines of prime-rl's trainer and orchestrator, and the trainer's checkpoints, whose end it does not
// announce.
func primeRLMarkers() []pattern.Pattern {
	const src = "prime-rl 0.1-0.4, src/prime_rl/trainer, src/prime_rl/orchestrator"
	return []pattern.Pattern{
		{
			Name:     "primerl.step",
			Literals: []string{" | Time: "},
			Expr:     `^Step (?<step>\d{1,9}) \| Time: \d`,
			Marker:   "step", Common: true, Source: src,
			Match: []pattern.Sample{
				{Line: "Step 19 | Time: 349.69s | Loss: 0.0157 | Entropy: 0.2177 | Throughput: 11661 tokens/s", Want: parser.Fields{"step": "19"}},
			},
			NoMatch: []string{"Evaluated aime | Step 19 | Time: 20.1s"},
		},
		{
			Name:     "primerl.save",
			Literals: []string{"aving checkpoint at step "},
			Expr:     `^Saving checkpoint at step \d`,
			Marker:   "phase", Set: parser.Fields{"phase": "checkpoint", "edge": "point", "label": "save"}, Source: src,
			Match:   lines("Saving checkpoint at step 20"),
			NoMatch: []string{"no use in Saving checkpoint at step 20"},
		},
	}
}
