package messages

import (
	"oomscan/parser"
	"oomscan/parser/pattern"
)

// fairseqRecoveries are the failures that fairseq's trainer caught. In optimization it gives up.
func fairseqRecoveries() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "fairseq.recovered",
			Literals: []string{"attempting to recover from OOM"},
			Expr:     `attempting to recover from OOM in forward/backward pass`,
			Kind:     parser.Recovered, Role: parser.Context, Phase: "training", Source: "fairseq 0.6-0.12, trainer.py train_step",
			Match:   lines("attempting to recover from OOM in forward/backward pass"),
			NoMatch: []string{"attempting to recover from OOM by a restart"},
		},
		{
			Name:     "fairseq.optimization",
			Literals: []string{"OOM during optimization, irrecoverable"},
			Expr:     `OOM during optimization, irrecoverable`,
			Kind:     parser.GPUOOM, Role: parser.Detail, Phase: "optimizer", Source: "fairseq 0.6-0.12, trainer.py train_step",
			Match: lines("OOM during optimization, irrecoverable"),
		},
	}
}

// fairseqMarkers are those of fairseq's own log.
func fairseqMarkers() []pattern.Pattern {
	return []pattern.Pattern{
		{
			Name:     "fairseq.step",
			Literals: []string{" num_updates="},
			Expr:     `^epoch \d{1,6}: {1,8}\d{1,9} / \d{1,9} .{0,400}num_updates=(?<step>\d{1,9})`,
			Marker:   "step", Common: true, Source: "fairseq 0.9-0.12, logging/progress_bar.py: the logger train_inner",
			Match: []pattern.Sample{{Line: "epoch 001:    420 / 612 loss=11.208, ppl=1103.36, wps=9906.4, ups=0.41, num_updates=420, lr=5.25e-05", Want: parser.Fields{"step": "420"}}},
		},
		{
			Name:     "mmf.step",
			Literals: []string{", num_updates: "},
			Expr:     `(?:^|: )progress: \d{1,9}/\d{1,9}, .{0,600}, num_updates: (?<step>\d{1,9}),`,
			Marker:   "step", Common: true, Source: "MMF 0.3-1.0, utils/logger.py log_progress: fairseq's names in a format of its own",
			Match: []pattern.Sample{{Line: "progress: 100/88000, train/total_loss: 4.1211, max mem: 9874.0, experiment: run, epoch: 1, num_updates: 100, iterations: 100, max_updates: 88000, lr: 0.00001", Want: parser.Fields{"step": "100"}}},
		},
		{
			Name:     "fairseq.json_step",
			Literals: []string{`"num_updates": "`},
			Expr:     `^\{"epoch": .{0,600}"num_updates": "(?<step>\d{1,9})"`,
			Marker:   "step", Common: true, Source: "fairseq, metaseq with log_format json: the logger train_inner",
			Match: []pattern.Sample{{Line: `{"epoch": 1, "loss": "10.863", "ppl": "1892.50", "wps": "410381", "num_updates": "25", "lr": "4e-05", "train_wall": "52"}`, Want: parser.Fields{"step": "25"}}},
		},
	}
}
