package phase

import (
	"fmt"
	"strings"

	"oomscan/parser/lazyre"
)

// jobs are programs that do one part of a run's work, by their usual names.
var jobs = []meaning{
	{lazyre.New(`zero_to_fp32|(?:^|[._])merge(?:r|_|$)|model_?merger|consolidat|(?:^|[._])convert|(?:_|to_)(?:hf|safetensors)$|reshard`), Checkpoint, nil},
	{lazyre.New(`pre_?process|tokeni[sz]e|prepare_(?:the_)?data|(?:make|build|pack|process|create|prep|prepare|encode|filter|dedup|shard|clean)_(?:data|index|vocab|corpus|features|docs|documents)|data_?(?:prep|process|build)`), Data, nil},
}

// program finds the script or module that a command line runs.
var program = lazyre.New(`(?:^|\s)(?:-m\s+([\w.]{1,200})|(?:\S{0,400}/)?([\w.-]{1,200})\.(?:py|sh|R|jl)\b)`)

// FromCommand finds the phase from the command line of a process that died: a checkpoint converter or a tokenizer.
// A trainer's command line gives no verdict.
func FromCommand(line string) (Verdict, bool) {
	m := program().FindStringSubmatch(head(line, maxCode))
	if m == nil {
		return Verdict{Phase: Unknown, Confidence: Low}, false
	}
	p, found := firstOf(jobs, strings.ToLower(m[1]+m[2]))
	if found == "" {
		return Verdict{Phase: Unknown, Confidence: Low}, false
	}
	return Verdict{Phase: p, Confidence: Medium, Why: fmt.Sprintf("The process ran `%s`: %s.", show(m[1]+m[2]), means(p))}, true
}
