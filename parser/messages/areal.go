package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// arealPatterns are the markers of AReaL, the lite and current line and the legacy one (realhf).
//
// AReaL prints its memory lines after the named stage: each tells that the next one begins. The order is rollout,
// critic values, recompute logp, ref logp, compute advantages, ppo update, update of the weights.
func arealPatterns() []pattern.Pattern {
	const (
		src    = "AReaL 0.3-2.0, areal/utils/stats_logger.py, areal/utils/device.py, areal/trainer/rl_trainer.py"
		suffix = `[,:] memory allocated \(GB\): `
	)
	stage := markers{kind: "phase", source: src}
	after := func(name, phase, heads string, literals []string, line string) pattern.Pattern {
		return stage.line("areal."+name, point(phase, name), `\b(?:`+heads+`)`+suffix, literals, line)
	}
	return []pattern.Pattern{
		{
			Name:     "areal.step",
			Literals: []string{"Train step "},
			Expr:     `Train step (?<step>\d{1,9})/\d{1,9} done`,
			Marker:   "step", Common: true, Source: src,
			Match: []pattern.Sample{{Line: "Epoch 1/10 Step 21/58 Train step 21/580 done.", Want: parser.Fields{"step": "21"}}},
		},
		after("after_values", "logprob", `critic values|recompute logp`, []string{"critic values", "recompute logp"},
			"recompute logp, memory allocated (GB): 14.33, memory reserved (GB): 55.63, device memory used/total (GB): 73.57/79.11"),
		after("after_ref", "training", `ref logp|compute advantages`, []string{"ref logp", "compute advantages"},
			"Memory-Usage compute advantages: memory allocated (GB): 14.33, memory reserved (GB): 62.48"),
		after("after_update", "weight_update", `ppo update|ppo critic update|after train step`, []string{"ppo update", "ppo critic update", "after train step"},
			"ppo update, memory allocated (GB): 24.91, memory reserved (GB): 70.47, device memory used/total (GB): 73.40/79.11"),
		stage.line("areal.init", point("init", "model"),
			`(?:Initializing device mesh with parallel (?:strategy|dims)|Applying FSDP2 (?:time: |with )|before model creation/loading`+suffix+`)`,
			[]string{"Initializing device mesh with", "Applying FSDP2 ", "before model creation/loading"},
			"Initializing device mesh with parallel strategy Parallel(tp=1,pp=1,dp=4,cp=1).",
			"Initializing device mesh with parallel dims (dp=4, sp=1, tp=1, ep=1, etp=1, world_size=4).", "Applying FSDP2 with N-D parallelism for 6.10 seconds"),
		stage.line("areal.init_optimizer", point("init", "optimizer"), `Create optimizer time: `, []string{"Create optimizer time: "}, "Create optimizer time: 0.001866"),
		{
			Name:     "areal.ready",
			Literals: []string{"Servers are all ready"},
			Expr:     `Servers are all ready`,
			Marker:   "ready", Source: "AReaL 0.3-2.0, remote_inf_engine.py",
			Match:   lines("Servers are all ready!"),
			NoMatch: []string{"Waiting for server ready..."},
		},
		{
			// Which of the node's devices and ports it got follows. The name is the label of what the worker prints.
			Name:     "areal.worker",
			Literals: []string{" started (PID: "},
			Expr:     `\bWorker (?<label>[\w.-]{1,60}/\d{1,6}) started \(PID: (?<pid>\d{1,10})\b`,
			Marker:   "identity", Source: "AReaL 1.0-2.0, infra/scheduler/local.py",
			Match:   []pattern.Sample{{Line: "Worker actor/3 started (PID: 88129, GPUs: [7], ports: [21021])", Want: parser.Fields{"label": "actor/3", "pid": "88129"}}},
			NoMatch: []string{"Server started (PID: 88129)"},
		},
		{
			// The worker's own watchdog ended it, above a threshold that the environment sets.
			Name:     "areal.memory_threshold",
			Literals: []string{"GPU memory excceeds kill threshold", "GPU memory exceeds kill threshold"},
			Expr:     `GPU memory exc{1,2}eeds kill threshold`,
			Kind:     parser.GPUOOM, Role: parser.Evidence,
			Source:  "AReaL to 0.3.0, realhf/system/model_worker.py (the spelling is its own)",
			Match:   lines("RuntimeError: GPU memory excceeds kill threshold 0.95"),
			NoMatch: []string{"RuntimeError: Values [9000, 12] is larger than capacity 8192"},
		},
	}
}
