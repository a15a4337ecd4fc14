package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// rollMarkers are the steps of ROLL's pipelines.
func rollMarkers() []pattern.Pattern {
	return []pattern.Pattern{{
		Name:     "roll.step",
		Literals: []string{"pipeline step "},
		Expr:     `\bpipeline step (?<step>\d{1,9}) (?:start\.\.\.|finished)\s*$`,
		Marker:   "step", Common: true, Source: "ROLL 0.1-0.3, roll/pipeline/rlvr/rlvr_pipeline.py and its others",
		Match: []pattern.Sample{
			{Line: "[2025-07-06 21:34:36,234] [INFO] [rlvr_vlm_pipeline.py (612)] [run] [driver driver] pipeline step 0 finished", Want: parser.Fields{"step": "0"}},
			{Line: "pipeline step 7 start...", Want: parser.Fields{"step": "7"}},
		},
	}}
}
