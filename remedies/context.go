package remedies

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"oomscan/classifier"
	"oomscan/parser"
	"oomscan/parser/traceback"
	"oomscan/remedies/cause"
	"oomscan/remedies/memory"
)

// Context is one incident of one run with all known facts, which every step of the pipeline reads. It does not change after
// [newContext].
type Context struct {
	run      *classifier.Run
	incident *classifier.Incident
	root     *classifier.Root // the incident's
	phase    string           // the incident's; unknown when empty
	resource string
	settings *settings
	model    *modelSizes
	text     string                         // the message and the evidence, in lower case
	stack    []string                       // functions and code of the failing stack, in lower case, the innermost last
	work     work                           // what the failed process was doing
	frozen   string                         // the model that was being read when it failed, if it is not the one that the run trains
	whole    bool                           // the log shows all settings of the run's command line
	held     map[string]verdict             // of the conditions that were asked; nil until the model is known
	limit    *memory.Limit                  // of the tokens of a micro-batch in the failing phase; nil if no setting has one
	request  []memory.Explanation           // what the failed request can have been, the likeliest first
	setup    memory.Setup                   // the inputs of the run's budget
	worst    map[memory.Phase]memory.Budget // at the longest samples, of the phases that were asked
	beyond   int64                          // by how much the training states exceed the card, 0 if unknown
	why      *cause.Input                   // what the causes use; nil until the context is complete
	given    *memory.Model                  // the user's, which replaces the run's; nil if there is none
}

// asOf returns the run with its settings at the failure: a later attempt in the same log may print others, and so may another program
// whose log lies beside it.
func asOf(run *classifier.Run, root *classifier.Root) *classifier.Run {
	before := func(at parser.Position) bool { return at.Source == root.At.Source && at.Line < root.At.Line }
	var then map[string]classifier.Value
	for key, v := range run.Config {
		if before(v.At) {
			continue
		}
		for i := len(v.Earlier) - 1; i >= 0; i-- {
			if e := v.Earlier[i]; before(e.At) {
				if then == nil {
					then = maps.Clone(run.Config)
				}
				then[key] = classifier.Value{Value: e.Value, At: e.At, Form: v.Form, Earlier: v.Earlier[:i]}
				break
			}
		}
	}
	if then == nil {
		return run
	}
	out := *run
	out.Config = then
	return &out
}

// withoutStoredType returns the run without the dtype of a printed model configuration, if it has 16 bits. A checkpoint is stored in that
// type; from_pretrained before version 5 loads it in float32 unless told otherwise. Engines load it as it is stored. Where transformers
// said that it made the model in float32, any other type is a checkpoint's or an engine's.
func withoutStoredType(run *classifier.Run) *classifier.Run {
	const near = 60 // lines of one configuration
	stored16 := func(v classifier.Value, others ...string) bool {
		return strings.Contains(v.Value, "16") && slices.ContainsFunc(others, func(key string) bool {
			o, printed := run.Config[key]
			return printed && v.At.Source == o.At.Source && v.At.Line <= o.At.Line+near && v.At.Line >= o.At.Line-near
		})
	}
	var stored []string
	if v, ok := run.Config["torch_dtype"]; ok && stored16(v, "model_type", "transformers_version") {
		stored = append(stored, "torch_dtype")
	}
	if v, ok := run.Config["dtype"]; ok && stored16(v, "transformers_version") {
		stored = append(stored, "dtype")
	}
	if run.Engine != "" {
		stored = nil
	}
	if _, wide := lastReading(run, "hf.float32"); wide {
		stored = []string{"dtype", "torch_dtype"}
	}
	if len(stored) == 0 {
		return run
	}
	out := *run
	out.Config = maps.Clone(run.Config)
	for _, key := range stored {
		delete(out.Config, key)
	}
	return &out
}

// newContext gathers the facts.
func newContext(run *classifier.Run, in *classifier.Incident) *Context {
	return contextOf(run, in, newSettings(run.Config))
}

// contextOf is [newContext], given the settings that the run prints. Each line reads only results of the lines before it.
func contextOf(run *classifier.Run, in *classifier.Incident, printed *settings) *Context {
	then, s := withoutStoredType(asOf(run, &in.Root)), *printed
	if then != run {
		s = *newSettings(then.Config)
	}
	ctx := &Context{run: then, incident: in, root: withPlace(&in.Root), settings: &s, resource: cmp.Or(in.Resource, in.Kind.Resource())}
	ctx.settings.block = ctx.settings.blockOf(in.Root.Process)
	ctx.run = withBackend(ctx)
	ctx.text = evidenceText(in)
	ctx.run = withEngine(ctx)
	ctx.whole = shownWhole(ctx.run)
	ctx.stack = stackText(in)
	ctx.phase = phaseOf(ctx)
	if ctx.frozen = frozenModel(ctx); ctx.frozen != "" {
		out := *ctx.run
		out.Model = classifier.Model{Name: ctx.frozen}
		ctx.run = &out
	}
	ctx.model = modelOf(ctx)
	ctx.held = make(map[string]verdict, usuallyAsked)
	ctx.work = workOf(ctx)
	ctx.limit = tokenLimit(ctx)
	ctx.request = explainRequest(ctx)
	ctx.setup = setupOf(ctx)
	ctx.worst = map[memory.Phase]memory.Budget{}
	return ctx
}

// withBackend returns the run with the backend shown by DeepSpeed's stage or the failing stack, if the log names none.
func withBackend(ctx *Context) *classifier.Run {
	n, ok := ctx.settings.integer(zeroStage...)
	out := *ctx.run
	switch {
	case ctx.run.Backend != "":
	case ok && n >= 1 && n <= 3:
		out.Backend = "deepspeed"
	case ctx.run.Application == "lightning" && ctx.passesThrough("torch/distributed/fsdp/"), trainerShards(ctx):
		out.Backend = "fsdp"
	}
	return &out
}

// withEngine returns the run as LMDeploy's if its engine TurboMind failed, which ms-swift and other programs start in their own process:
// what helps are the engine's settings.
func withEngine(ctx *Context) *classifier.Run {
	if !ctx.messageContains("[tm][error]") {
		return ctx.run
	}
	out := *ctx.run
	out.Application = "lmdeploy"
	return &out
}

// trainerShards reports whether the arguments of transformers' Trainer ask for FSDP.
func trainerShards(ctx *Context) bool {
	f, ok := ctx.settings.find("fsdp", false)
	return ok && (strings.Contains(f.value.Value, "shard") || strings.Contains(f.value.Value, "auto_wrap"))
}

// mostText bounds how much of the evidence is searched for words.
const mostText = 16 << 10

func evidenceText(in *classifier.Incident) string {
	var b strings.Builder
	add := func(t string) {
		if b.Len()+len(t) < mostText {
			b.WriteString(t)
			b.WriteByte('\n')
		}
	}
	add(in.Root.Message)
	for i := range in.Evidence {
		add(in.Evidence[i].Text)
	}
	return strings.ToLower(b.String())
}

// warningPlace is how Python's warnings module begins a line: file, line, class.
var warningPlace = regexp.MustCompile(`([^\s:]{1,300}\.py):(\d{1,7}): \w{0,40}Warning: `)

// withPlace returns a failure that a Python warning reports with the warning's place as its stack, where no traceback came with it.
func withPlace(e *classifier.Root) *classifier.Root {
	if e.Trace != nil {
		return e
	}
	m := warningPlace.FindStringSubmatch(e.Message)
	if m == nil {
		return e
	}
	line, _ := strconv.Atoi(m[2]) // digits only
	out := *e
	out.Trace = &traceback.Trace{Frames: []traceback.Frame{{File: m[1], Line: line}}}
	return &out
}

func stackText(in *classifier.Incident) []string {
	if in.Root.Trace == nil {
		return nil
	}
	out := make([]string, len(in.Root.Trace.Frames))
	for i := range out {
		f := &in.Root.Trace.Frames[i]
		out[i] = notVision.Replace(strings.ToLower(f.Func + " " + f.Code))
	}
	return out
}

// phaseOf returns the phase whose levers help.
func phaseOf(ctx *Context) string {
	phase := cmp.Or(ctx.incident.Phase, "unknown")
	if k := ctx.incident.Kind; k == parser.NCCLOOM || k == parser.NCCLFailure {
		return "nccl" // whatever surrounds it, the levers are those of the collective library
	}
	if phase == "checkpoint" && restoresStates(ctx) {
		return "optimizer" // the states that a step would need come with the checkpoint
	}
	if (phase == "training" || phase == "unknown") && ctx.is("engine_process") && (isServer(ctx.run.Engine) || isServer(programOf(ctx.run).ID)) {
		return "rollout" // an inference engine trains nothing
	}
	return phase
}

// restoresStates reports whether a trainer, which reads checkpoints into host memory, puts the optimizer's states on the card.
func restoresStates(ctx *Context) bool {
	return ctx.stackContains(4, "init_state_fn", "_initialize_state", "set_scaled_state", "_process_value_according_to_param_policy") &&
		ctx.stackContains(80, "load_state_dict", "load_checkpoint") && !ctx.passesThrough("torch/serialization.py") &&
		ctx.passesThrough("transformers/trainer.py", "/accelerate/", "/lightning/", "/pytorch_lightning/", "recipes/", "/torchtune/", "megatron/", "/nemo/", "/deepspeed/")
}

// isServer reports whether an engine is a standalone inference server.
func isServer(engine string) bool {
	p := classifier.FrameworkByID(engine)
	return p.Is(classifier.Engine)
}

// recognized reports whether a pattern recognized the message or a line of the evidence.
func (ctx *Context) recognized(pattern string) bool {
	return ctx.root.Pattern == pattern || slices.ContainsFunc(ctx.incident.Evidence, func(e classifier.Evidence) bool { return e.Pattern == pattern })
}

// recognisedAs reports whether a pattern with this prefix matched the message or a line of evidence.
func (ctx *Context) recognisedAs(prefix string) bool {
	return strings.HasPrefix(ctx.root.Pattern, prefix) ||
		slices.ContainsFunc(ctx.incident.Evidence, func(e classifier.Evidence) bool { return strings.HasPrefix(e.Pattern, prefix) })
}

// messageContains reports whether the evidence contains one of the texts, given in lower case.
func (ctx *Context) messageContains(texts ...string) bool { return containsAny(ctx.text, texts) }

func containsAny(s string, texts []string) bool {
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(s, t) })
}

// stackContains reports whether one of the last n frames of the failing stack has a function or code that contains one of
// the texts.
func (ctx *Context) stackContains(n int, texts ...string) bool {
	return slices.ContainsFunc(ctx.stack[max(0, len(ctx.stack)-n):], func(frame string) bool { return containsAny(frame, texts) })
}

// gpus returns the number of GPUs that train.
func (ctx *Context) gpus() (int64, bool) {
	per, ok1 := ctx.settings.integer("trainer.n_gpus_per_node", "actor_num_gpus_per_node")
	nodes, ok2 := ctx.settings.integer("trainer.nnodes", "actor_num_nodes")
	const most = 1 << 24 // beyond any machine: the log is wrong
	if ok1 && ok2 && per < most && nodes < most {
		return per * nodes, true
	}
	if n := ctx.run.WorldSize; n != nil && *n > 0 {
		d := ctx.root.Device
		return int64(*n), *n > 1 || d == nil || *d == 0 // one process may have its layers on several GPUs
	}
	if n, ok := ctx.settings.integer("num_processes"); ok && n < most { // accelerate's, of all nodes
		return n, true
	}
	keys := perNodeKeys
	if ctx.run.Application == "lightning" {
		keys = append(slices.Clone(keys), gpusEach{"devices", "num_nodes"})
	}
	for _, each := range keys {
		if per, ok := ctx.settings.integer(each.per); ok && per < most {
			nodes, known := ctx.settings.integer(each.nodes)
			if !known || nodes < 1 || nodes >= most {
				nodes = 1
			}
			return per * nodes, true
		}
	}
	if _, one := lastReading(ctx.run, "lightning.one_visible"); one && (ctx.root.Rank == nil || *ctx.root.Rank == 0) && ctx.run.Backend == "" {
		return 1, true
	}
	return 0, false
}

// gpusEach is a setting of the number of GPUs on each node, and one of the number of nodes.
type gpusEach struct{ per, nodes string }

// perNodeKeys are launchers' and programs' numbers of GPUs that train on each node, and of those nodes, one by default: DeepSpeed's,
// torchrun's, Lightning's, SkyRL's and Open-Instruct's.
var perNodeKeys = []gpusEach{
	{"num_gpus", "num_nodes"}, {"nproc_per_node", "nnodes"}, {"trainer.devices", "trainer.num_nodes"}, {"policy_num_gpus_per_node", "policy_num_nodes"}, {"num_learners_per_node", "num_learner_nodes"},
}

// gpusPerNode returns the number of GPUs per node.
func (ctx *Context) gpusPerNode() (int64, bool) {
	if n, ok := ctx.settings.integer("trainer.n_gpus_per_node", "actor_num_gpus_per_node", "cluster.n_gpus_per_node"); ok {
		return n, true
	}
	if n := ctx.run.GPUsPerNode; n != nil && *n > 0 {
		return int64(*n), true
	}
	for _, each := range perNodeKeys {
		if n, ok := ctx.settings.integer(each.per); ok {
			return n, true
		}
	}
	return 0, false
}

// shortfall returns the number of bytes that were missing.
func (ctx *Context) shortfall() (int64, bool) {
	if s := ctx.incident.Shortfall; s != nil {
		return *s, *s > 0
	}
	r := ctx.root
	if r.Requested == nil || r.Free == nil || *r.Requested <= *r.Free {
		return 0, false
	}
	return *r.Requested - *r.Free, true
}

// lacking returns how much is missing to finish the step: what the failed request lacked or, if larger, by how much the states
// still to be created exceed the card. It is unknown where graphs are left to capture that may be as large as those that there are.
func (ctx *Context) lacking() (int64, bool) {
	if ctx.is("large_graphs") {
		return 0, false
	}
	short, ok := ctx.shortfall()
	return max(short, ctx.beyond), ok || ctx.beyond > 0
}
