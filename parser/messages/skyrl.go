package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// skyrlPatterns are the timers of SkyRL, which its trainer opens around every stage. They nest: the innermost open one
// tells the phase.
func skyrlPatterns() []pattern.Pattern {
	const src = "SkyRL 0.1-0.4, skyrl_train/utils/utils.py Timer, skyrl_train/trainer.py"
	return []pattern.Pattern{
		{
			Name:     "skyrl.timer_start",
			Literals: []string{"Started: '"},
			Expr:     `^Started: '(?<timer>\w{1,64})'\s*$`,
			Marker:   "timer", Set: map[string]string{"edge": "open"}, Source: src,
			Match:   []pattern.Sample{{Line: "Started: 'fwd_logprobs_values_reward'", Want: parser.Fields{"timer": "fwd_logprobs_values_reward"}}},
			NoMatch: []string{"Started: 'python train.py --lr 1'", "Process Started: 'x' at 12:00"},
		},
		{
			Name:     "skyrl.timer_end",
			Literals: []string{"Finished: '"},
			Expr:     `^Finished: '(?<timer>\w{1,64})', time cost: `,
			Marker:   "timer", Set: map[string]string{"edge": "close"}, Source: src,
			Match:   []pattern.Sample{{Line: "Finished: 'generate', time cost: 91.30s", Want: parser.Fields{"timer": "generate"}}},
			NoMatch: []string{"Finished: 'generate' in 3 s"},
		},
	}
}
