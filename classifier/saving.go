package classifier

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"oomscan/classifier/phase"
	"oomscan/parser"
)

// saveEvery are the settings that say after how many steps a trainer saves a checkpoint: of HF Trainer and what is built on it, diffusers,
// Megatron, verl, torchtitan, AReaL, and Lightning.
var saveEvery = []string{
	"save_steps", "checkpointing_steps", "save_every_n_steps", "save_interval", "save_freq", "checkpoint.interval", "saver.freq_steps", "every_n_train_steps",
}

// bySaveStep says that a process was killed at the step after which a checkpoint was due, and no other stage was announced.
func (c *conclusion) bySaveStep() (phase.Verdict, bool) {
	e := c.root
	if e.Kind != parser.OOMKill {
		return phase.Verdict{}, false
	}
	v, ok := c.job.run.lookup(saveEvery...)
	every, err := strconv.Atoi(v.Value)
	if !ok || err != nil || every < 2 {
		return phase.Verdict{}, false
	}
	if s, ok := c.job.run.lookup("save_strategy"); ok && s.Value != "steps" {
		return phase.Verdict{}, false
	}
	w, staged := c.stage(e)
	if staged && w.Phase != phase.Training {
		return phase.Verdict{}, false
	}
	step := c.savedAt(every, staged)
	if step == 0 {
		return phase.Verdict{}, false
	}
	return phase.Verdict{Phase: phase.Checkpoint, Confidence: phase.Medium, Why: fmt.Sprintf("it died at step %d, and a checkpoint is due every %d", step, every)}, true
}

// savedAt returns the step that was reached last if it is one of those that save, or 0. Of steps that are logged, others must have been as
// well: who logs only those that save would always have died at one. A bar counts each step, but it may be anybody's unless training was announced.
func (c *conclusion) savedAt(every int, trains bool) int {
	e := c.root
	for _, f := range c.job.files {
		step, reported := f.LastStep, f.Steps
		switch {
		case f.Attempt != e.Attempt:
			continue
		case f == e.file:
			step, reported = e.LastStep, e.Steps
		}
		if step > 0 {
			if step%every == 0 && reported > step/every {
				return step
			}
			return 0
		}
		if !trains {
			continue
		}
		for _, of := range slices.Sorted(maps.Keys(f.CountedTo)) {
			total, err := strconv.Atoi(of[strings.LastIndexByte(of, '/')+1:])
			if n := f.CountedTo[of]; err == nil && n > 0 && n < total && n%every == 0 {
				return n
			}
		}
	}
	return 0
}
