package classifier

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"oomscan/classifier/phase"
	"oomscan/parser"
)

// frameworks is the order of identification: whose guide the user follows comes before what it is built on.
var frameworks = []string{
	"relax", "slime", "areal", "verl", "openrlhf", "nemo_rl", "trl", "vllm", "sglang", "deepspeed", "megatron", "jax", "torch",
}

// labels tell a framework by the names of its Ray actors.
var labels = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"WorkerDict": "verl", "TaskRunner": "verl", "TaskRunnerV1": "verl", "main_task": "verl", "FusedWorker": "verl", "vLLMHttpServer": "verl",
		"SGLangHttpServer": "verl", "AsyncvLLMServer": "verl", "AsyncSglangServer": "verl", "AgentLoopWorker": "verl", "DetachActorWorker": "verl",
		"FullyAsyncTaskRunner": "verl", "FullyAsyncTrainer": "verl", "FullyAsyncRollouter": "verl", "OneStepTaskRunner": "verl", "RewardLoopWorker": "verl",
		"CheckpointEngineWorker": "verl",
		// Relax's actors have slime's names; what only Relax has is looked for first.
		"RolloutManager":   "slime",
		"PolicyModelActor": "openrlhf", "CriticModelActor": "openrlhf", "ReferenceModelActor": "openrlhf", "RewardModelActor": "openrlhf",
		"ActorModelRayActor": "openrlhf", "LLMRayActor": "openrlhf", "RolloutRayActor": "openrlhf",
		"DTensorPolicyWorker": "nemo_rl", "DTensorPolicyWorkerV2": "nemo_rl", "MegatronPolicyWorker": "nemo_rl", "VllmGenerationWorker": "nemo_rl",
		"VllmAsyncGenerationWorker": "nemo_rl",
		"model_worker":              "areal", "master_worker": "areal", "MasterWorker": "areal", "rollout_worker": "areal", "gserver_manager": "areal", // before 0.4
		// Relax has them too, but also frames and arguments of its own, which go first.
		"MegatronTrainRayActor": "slime", "FSDPTrainRayActor": "slime",
	}
})

// keys tell a framework by a part of a setting's name that only it has.
var keys = []struct{ part, framework string }{
	{"actor_rollout_ref.", "verl"},
	{"enable_cuda_memory_check", "relax"},
	{"gconfig.", "areal"},
	{"actor.mb_spec", "areal"},
	{"policy.generation.vllm_cfg", "nemo_rl"},
	{"policy.dtensor_cfg", "nemo_rl"},
	{"policy.megatron_cfg", "nemo_rl"},
	{"micro_rollout_batch_size", "openrlhf"},
}

// votes counts, per framework, the strongest kind of evidence: 3 its own frames or entry point, 2 its labels or
// settings, 1 its name.
type votes map[string]int

func (v votes) add(framework string, weight int) {
	if framework != "" && v[framework] < weight {
		v[framework] = weight
	}
}

// describe tells what the inputs say of the run as a whole.
func describe(files []*file, o Overrides) Run {
	r := Run{Framework: "unknown", Config: map[string]Value{}}
	v := votes{}
	for _, s := range o.Settings {
		r.Config[s.Key] = Value{Value: s.Value, At: s.At, Form: s.Form}.after(r.Config[s.Key])
	}
	for _, f := range files {
		f.config(&r)
		f.writers(&r, v)
		f.launch(&r, v)
		readings := f.readings()
		r.Gauges = append(r.Gauges, readings...)
		f.frames(&r, v)
		r.engineFromGauges(readings)
		if f.lastStep >= 0 && (r.LastStep == nil || *r.LastStep < f.lastStep) {
			r.LastStep = &f.lastStep
		}
	}
	for key := range r.Config {
		for _, k := range keys {
			if strings.Contains(key+".", k.part) {
				v.add(k.framework, 2)
			}
		}
	}
	r.Framework = v.winner()
	if r.Framework == "unknown" && (r.Backend == "deepspeed" || r.Backend == "megatron") {
		r.Framework = r.Backend
	}
	if o.Framework != "" {
		r.Framework = o.Framework
	}
	r.engineFromConfig()
	if r.Engine == "" && (r.Framework == "vllm" || r.Framework == "sglang") {
		r.Engine = r.Framework
	}
	r.modelFromConfig()
	r.sizesFromConfig()
	return r
}

// readings are the last readings of an input, in order of lines.
func (f *file) readings() []Gauge {
	out := make([]Gauge, 0, len(f.gauges))
	for _, g := range f.gauges {
		out = append(out, Gauge{Name: g.Name, Stream: g.Header.Stream, At: g.At, Fields: g.Fields})
	}
	slices.SortFunc(out, func(a, b Gauge) int {
		return cmp.Or(cmp.Compare(a.At.Line, b.At.Line), strings.Compare(a.Name, b.Name), strings.Compare(a.Stream, b.Stream))
	})
	return out
}

// winner is the outermost framework that anything tells.
func (v votes) winner() string {
	for _, least := range []int{2, 1} {
		for _, f := range frameworks {
			if v[f] >= least {
				return f
			}
		}
	}
	return "unknown"
}

func (f *file) config(r *Run) {
	for _, k := range f.order {
		r.Config[k] = f.settings[k].after(r.Config[k])
	}
}

// writers reads the labels of processes.
func (f *file) writers(r *Run, v votes) {
	for _, l := range slices.Sorted(maps.Keys(f.labels)) { // of several engines, always the same one wins
		v.add(labels()[labelName(l)], 2)
		set(&r.Engine, engineOf(l))
	}
}

// labelName is the class that a process's label names.
func labelName(label string) string {
	name, _, _ := strings.Cut(label, "[")
	name, _, _ = strings.Cut(name, "/")
	return name[strings.LastIndexByte(name, ':')+1:]
}

// servers tell an engine by how the labels of its processes begin: "VllmWorker rank=0", "EngineCore_DP1".
var servers = []struct{ label, engine string }{
	{"VllmWorker", "vllm"},
	{"EngineCore", "vllm"},
	{"RayWorkerWrapper", "vllm"}, // vllm/executor/ray_utils.py
}

// engineOf is the engine of which a process is, as its label tells; empty: of none that is known.
func engineOf(label string) string {
	name := labelName(label)
	for _, e := range servers {
		if strings.HasPrefix(name, e.label) {
			return e.engine
		}
	}
	return ""
}

// launch reads the lines in which programs introduce themselves.
func (f *file) launch(r *Run, v votes) {
	for _, m := range f.launches {
		g := m.Fields
		v.add(g["framework"], 3)
		if g["engine"] == "vllm" || g["engine"] == "sglang" {
			v.add(g["engine"], 1) // a bare server, unless something else turns out to run it
		}
		if g["library"] == "torch" || g["launcher"] == "torchrun" {
			v.add("torch", 1)
		}
		set(&r.Engine, g["engine"])
		set(&r.Backend, g["backend"])
		set(&r.JobID, jobOf(g))
		if l := g["launcher"]; l != "" && outer(l) > outer(r.Launcher) {
			r.Launcher = l
		}
		if g["framework"] != "" {
			set(&r.FrameworkVersion, g["version"])
		}
		setInt(&r.WorldSize, g["world_size"])
		setInt(&r.Nodes, g["nodes"])
		setInt(&r.GPUsPerNode, g["gpus_per_node"])
		set(&r.Model.Name, g["model"])
	}
}

// outer orders launchers: the outermost wins, but Ray, which starts the workers itself, wins over Slurm, which only
// starts Ray.
func outer(l string) int {
	return slices.Index([]string{"", "none", "torchrun", "slurm", "k8s", "ray"}, l)
}

// ofTorch says that only PyTorch prints a message, or practically only programs built on it.
func ofTorch(pattern string) bool {
	switch program, _, _ := strings.Cut(pattern, "."); program {
	case "torch", "nccl", "c10d", "dataloader", "elastic", "spawn", "xpu", "npu":
		return true
	case "cuda":
		return pattern != "cuda.malloc" && pattern != "cuda.enum" // names that every user of CUDA prints
	}
	return pattern == "mps.oom" || strings.HasPrefix(pattern, "host.torch")
}

// frames reads the tracebacks: whose files do they pass through.
func (f *file) frames(r *Run, v votes) {
	for _, e := range f.events {
		launcher := ""
		switch program, _, _ := strings.Cut(e.Pattern, "."); program {
		case "slurm":
			launcher = "slurm"
			set(&r.JobID, jobOf(e.fields))
		case "ray":
			launcher = "ray"
		case "elastic":
			launcher = "torchrun"
		case "kubernetes":
			launcher = "k8s"
		case "sglang", "vllm":
			v.add(program, 1)
			set(&r.Engine, program)
		case "jax":
			v.add("jax", 1)
		}
		if ofTorch(e.Pattern) {
			v.add("torch", 1)
		}
		// an engine's own failure: it is a bare server, unless something else turns out to run it
		v.add(cmp.Or(engineOf(e.Header.Process), engineOf(e.Header.Actor)), 1)
		if launcher != "" && outer(launcher) > outer(r.Launcher) {
			r.Launcher = launcher
		}
		if e.Trace == nil {
			continue
		}
		if e.Trace.Origin != nil && outer("ray") > outer(r.Launcher) {
			r.Launcher = "ray"
		}
		for t, n := e.Trace, 0; t != nil && n < 4; t, n = t.Cause, n+1 {
			fw, backend, engine := phase.Framework(t.Frames)
			v.add(fw, 3)
			set(&r.Backend, backend)
			set(&r.Engine, engine)
		}
	}
}

func jobOf(f parser.Fields) string {
	j, _, _ := strings.Cut(f["job"], ".")
	return strings.TrimLeft(j, "0") // slurmd's spool directories pad it
}

// engineFromConfig reads the engine and the backend from settings that name them.
func (r *Run) engineFromConfig() {
	for _, key := range slices.Sorted(maps.Keys(r.Config)) { // of several, always the same one wins
		val := strings.ToLower(r.Config[key].Value)
		switch {
		case strings.HasSuffix(key, "rollout.name") && (val == "vllm" || val == "sglang" || val == "hf" || val == "trtllm"):
			r.Engine = val
		case strings.HasSuffix(key, "actor.strategy") && val != "" && val != "none":
			r.Backend = val
		}
	}
}

// engineFromGauges reads whose memory figures were printed.
func (r *Run) engineFromGauges(readings []Gauge) {
	for _, g := range readings {
		if program, _, _ := strings.Cut(g.Name, "."); program == "vllm" || program == "sglang" {
			set(&r.Engine, program)
		}
	}
}

// set takes over a value that is not known yet.
func set(to *string, v string) {
	if *to == "" {
		*to = v
	}
}

func setInt(to **int, v string) {
	if n, err := strconv.Atoi(v); err == nil && *to == nil && n > 0 && n < 1<<24 {
		*to = &n
	}
}

// lookup finds a setting by its full name or its last part.
func (r *Run) lookup(names ...string) (Value, bool) {
	for _, n := range names {
		if v, ok := r.Config[n]; ok {
			return v, true
		}
	}
	for _, n := range names {
		var best string
		for k := range r.Config {
			if (strings.HasSuffix(k, "."+n) || strings.TrimLeft(k, "-") == n) && (best == "" || k < best) {
				best = k
			}
		}
		if best != "" {
			return r.Config[best], true
		}
	}
	return Value{}, false
}

func (r *Run) modelFromConfig() {
	if v, ok := r.lookup("actor_rollout_ref.model.path", "model_name_or_path", "model_path", "pretrain", "hf_checkpoint", "model"); ok && v.Value != "None" {
		set(&r.Model.Name, v.Value)
	}
	for _, t := range []struct {
		to    **int64
		names []string
	}{
		{&r.Model.VocabSize, []string{"vocab_size", "padded_vocab_size"}},
		{&r.Model.HiddenSize, []string{"hidden_size"}},
		{&r.Model.Layers, []string{"num_hidden_layers", "num_layers"}},
		{&r.Model.AttentionHeads, []string{"num_attention_heads"}},
	} {
		if v, ok := r.lookup(t.names...); ok {
			if n, err := strconv.ParseInt(v.Value, 10, 64); err == nil && n > 0 {
				*t.to = &n
			}
		}
	}
	if v, ok := r.lookup("torch_dtype", "dtype"); ok && v.Value != "auto" && v.Value != "None" {
		r.Model.DType = v.Value
	}
}

func (r *Run) sizesFromConfig() {
	for _, t := range []struct {
		to    **int
		names []string
	}{
		{&r.Nodes, []string{"trainer.nnodes", "cluster.num_nodes", "actor_num_nodes", "nnodes"}},
		{&r.GPUsPerNode, []string{"trainer.n_gpus_per_node", "cluster.gpus_per_node", "actor_num_gpus_per_node", "num_gpus_per_node", "nproc_per_node", "nproc-per-node"}},
		{&r.WorldSize, []string{"world_size"}},
	} {
		if v, ok := r.lookup(t.names...); ok {
			setInt(t.to, v.Value)
		}
	}
	if r.WorldSize == nil && r.Nodes != nil && r.GPUsPerNode != nil {
		n := *r.Nodes * *r.GPUsPerNode
		r.WorldSize = &n
	}
}
