package remedies

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/traceback"
)

// severalRanks reports whether the process that failed is one of several that work together: which card each uses is set in
// their code, not from outside.
func severalRanks(ctx *Context, _ string) verdict {
	switch n, ok := ctx.gpus(); {
	case ok && n > 1:
		return verdict{yes, fmt.Sprintf("%d ranks work together", n)}
	case ok && ctx.is("engine_process"):
		return verdict{no, "the engine has one rank"}
	}
	if l := ctx.run.Launcher; ctx.root.Rank != nil || slices.Contains([]string{"torchrun", "accelerate", "deepspeed", "mpi", "horovod"}, l) {
		return verdict{yes, "the process is a rank of several"}
	}
	return verdict{}
}

// besideServer reports whether a trainer works with a server that was started apart from it: its settings name one (TRL and ms-swift), or
// the log has the command of one (sglang.launch_server, vllm serve).
func besideServer(ctx *Context, _ string) verdict {
	_, port := ctx.run.Config["--port"]
	_, path := ctx.run.Config["--model-path"]
	_, model := ctx.run.Config["--model"]
	named := ctx.is("vllm_mode=server") || ctx.is("set:vllm_server_host")
	if id := programOf(ctx.run).ID; id == "" || id == "torch" || ctx.is("engine_process") || !named && !(port && (path || model)) {
		return verdict{no, "no server is known to run apart from the trainer"}
	}
	return verdict{yes, "a server was started apart from the trainer"}
}

// anotherService reports whether an engine of another container of the same deployment had loaded its model before: it is meant to be on the
// card, and the share of the one that failed is too large.
func anotherService(ctx *Context, _ string) verdict {
	own := (&envelope.Header{Stream: ctx.root.Stream}).Launched()
	other := slices.ContainsFunc(ctx.run.Gauges, func(g classifier.Gauge) bool {
		engine := strings.HasPrefix(g.Name, "vllm.") || strings.HasPrefix(g.Name, "sglang.")
		by := (&envelope.Header{Stream: g.Stream}).Launched()
		return engine && by != "" && by != own && g.At.Source == ctx.root.At.Source && g.At.Line < ctx.root.At.Line
	})
	return verdict{truthOf(own != "" && other && ctx.is("engine_process")), "another service of the same deployment serves its model on this card"}
}

// serves reports whether the engine that failed is the server that TRL starts apart from its trainer, with flags of its own.
func serves(ctx *Context, _ string) verdict {
	_, model := ctx.run.Config["--model"] // the trainer's is --model_name_or_path
	is := programOf(ctx.run).ID == "trl" && ctx.is("engine_process") && (model || ctx.is("vllm_mode=server"))
	return stated(is, "the engine is a server of its own", "the engine is no server of its own")
}

// oneHolder reports whether one process held most of the host memory, so several copies are not what filled it.
func oneHolder(ctx *Context, _ string) verdict {
	why := ctx.input().OneHolder()
	return verdict{truthOf(ctx.resource == "host" && why != ""), why}
}

// windows reports whether the failed process ran on Windows, by the paths in its stack or by an error that only Windows has.
func windows(ctx *Context, _ string) verdict {
	if ctx.recognized("host.windows_commit") {
		return verdict{yes, "the machine runs Windows"}
	}
	if t := ctx.root.Trace; t != nil && slices.ContainsFunc(t.Frames, func(f traceback.Frame) bool { return strings.Contains(f.File, `:\`) }) {
		return verdict{yes, "the machine runs Windows"}
	}
	return verdict{}
}

// processKilled reports whether something ended a process: an allocation that fails in it is its own error.
func processKilled(ctx *Context, _ string) verdict {
	if ctx.incident.Kind == parser.HostOOM {
		return verdict{no, "no process was killed: an allocation failed"}
	}
	return verdict{}
}

// quantizesNow reports whether the stack ends where bitsandbytes, or another of transformers' quantizers, makes fewer bits
// of weights as they come to the card.
func quantizesNow(ctx *Context, _ string) verdict {
	if ctx.phase == "init" && (ctx.passesThrough("/transformers/quantizers/") || ctx.stackContains(8, "quantize_4bit", "create_quantized_param", "params4bit", "int8params") || ctx.stackContains(40, "load_in_4bit=true", "load_in_8bit=true")) {
		return verdict{yes, "the weights are quantized while they are loaded"}
	}
	return verdict{no, "no weights were being quantized"}
}

// ownTasks reports whether Ray ended a task that a user wrote, no framework's actor and no rank of Ray Train
// (ray/train/_internal/worker_group.py), all of which must run at a time.
func ownTasks(ctx *Context, _ string) verdict {
	p := programOf(ctx.run)
	own := (p.ID == "" || p.ID == "torch") && !ctx.messageContains("name=raytrainworker") && ctx.messageContains("task was killed", "where the task (", "rayoutofmemoryerror") && ctx.phase != "init"
	return stated(own, "the task is the program's own", "the task is not the program's own")
}

// freeCards are as many cards as an engine uses, or one, on which nvidia-smi shows no process and little memory in use.
func freeCards(q *paramQuery) proposedValue {
	n := int64(1)
	if tp, ok := q.settings.integer(engineTP...); ok && q.is("engine_process") {
		n = max(tp, 1)
	}
	var free []string
	busy, table := listedCards(q.Context)
	for _, d := range slices.Sorted(maps.Keys(busy)) {
		if !busy[d] && int64(len(free)) < n && !(table && len(listedProcesses(q.Context)) == 0) {
			free = append(free, itoa(d))
		}
	}
	if int64(len(free)) < n || q.settings.has("pipeline_parallel_size") && !q.is("pipeline_parallel_size=1") {
		return proposedValue{}
	}
	return proposedValue{to: strings.Join(free, ","), how: "nvidia-smi lists no process there"}
}

// listedCards returns the cards that nvidia-smi lists, and on which it shows a process or much memory in use; and whether its table lists
// them, which has all of them.
func listedCards(ctx *Context) (busy map[int64]bool, table bool) {
	const little = 1 << 30
	busy = map[int64]bool{}
	for _, g := range ctx.run.Gauges {
		if device, ok := g.Fields.Int("device"); ok && (g.Name == "smi.card" || g.Name == "smi.row") {
			used, _ := g.Fields.Int("used")
			if all, ok := g.Fields.Int("total"); ok {
				used = min(used, all) // a query may ask for them in the other order
			}
			busy[device], table = busy[device] || used > little, table || g.Name == "smi.row"
		}
	}
	for _, p := range listedProcesses(ctx) {
		for d := int64(0); d <= int64(p.Device); d++ {
			busy[d] = busy[d] || d == int64(p.Device)
		}
	}
	return busy, table
}

// firstCard halves a card's number in a list with the gigabytes of weights for each card.
func firstCard(q *paramQuery) proposedValue {
	parts := strings.Split(strings.Trim(q.cur, `"'[]() `), ",")
	at := 0
	if d := q.root.Device; d != nil {
		at = *d
	}
	if len(parts) < 2 || at >= len(parts) {
		return proposedValue{}
	}
	n, ok := parseNumber(parts[at])
	if !ok || n < 2 {
		return proposedValue{}
	}
	parts[at] = itoa(int64(n / 2))
	return proposedValue{to: strings.Join(parts, ","), how: fmt.Sprintf("half the weights on card %d; the others take the rest", at)}
}

// ownModel reports whether code of a script's own moves a model to the card: from_pretrained and its arguments are not there.
func ownModel(ctx *Context, _ string) verdict {
	p := programOf(ctx.run)
	switch {
	case ctx.root.Trace == nil, p.ID != "torch" && p.ID != "":
		return verdict{no, "a program loads the model"}
	case ctx.stackContains(80, "from_pretrained"), ctx.passesThrough("/transformers/", "/peft/", "/diffusers/", "/accelerate/"), ctx.settings.has("per_device_train_batch_size"), ctx.model.name != "":
		return verdict{no, "transformers loads the model"}
	}
	for _, key := range []string{"torch_dtype", "dtype", "model_name_or_path"} {
		if isSet(ctx, key).truth == yes {
			return verdict{no, key + " is set"}
		}
	}
	return verdict{yes, "code of the script's own moves the model to the card"}
}

// ownExllama reports whether a script uses ExLlama's library itself. TabbyAPI has settings of other names.
func ownExllama(ctx *Context, _ string) verdict {
	if ctx.root.Trace == nil {
		return verdict{}
	}
	return verdict{truthOf(!ctx.passesThrough("/tabbyapi/", "/backends/exllama")), "a script loads the model itself"}
}

// ownVLLM reports whether a script creates vLLM's engine itself, with arguments instead of flags.
func ownVLLM(ctx *Context) bool {
	return ctx.passesThrough("/vllm/entrypoints/llm.py") && programOf(ctx.run).ID == "vllm"
}

// manyTasks reports whether four or more tasks of one function held most of the node's memory: fewer at a time need less.
func manyTasks(ctx *Context, _ string) verdict {
	count := map[string]int{}
	for _, h := range ctx.input().Holders {
		if count[h.Name]++; count[h.Name] >= 4 && ctx.is("own_tasks") && ctx.input().HeldBy(strings.ToLower(h.Name)) != "" {
			return verdict{yes, "many tasks of one function held the memory"}
		}
	}
	return verdict{}
}
