package classifier

import (
	"strings"
	"sync"
)

// facts are what the name of a message's pattern says about whoever prints it. Nothing else in this package reads names.
type facts struct {
	program   string // whose message it is: "kernel", "ray", "torch"
	framework string // that runs wherever the message is printed; empty: any
	launcher  string // that is there wherever the message is printed
	allocator string // the library whose allocator failed: the ranks of a job have one
	vendor    string // of the devices; CUDA and ROCm print the same words
	device    string // its kind, where only one prints the message
	scheduler string // the batch scheduler whose word it is: a job has one
	child     string // a launcher's report of a process that ended: the field that says which
	authority int    // about a kill: 1 did it, 0 noticed it, -1 counted it, -2 has it in its books
	ofNode    bool   // stands in logs of a node or of a scheduler, which tell of any job
	ends      bool   // the launcher says that the attempt failed
	gaveUp    bool   // the job died of it: a recovery before it was in vain
	namesTask bool   // srun names one task of the step
}

// Names of single messages that mean something of their own.
const (
	rayAdvice      = "ray.memory_advice"       // the end of the text in which Ray's memory monitor reports a kill
	rayDeadActor   = "ray.actor_died_fields"   // one line of several that describe a dead actor
	kubeMemory     = "kubernetes.memory_limit" // the memory of the limits or requests that stand above it
	kubeLimits     = "kubernetes.limits"
	kubeRequests   = "kubernetes.requests"
	daskMemory     = "dask.memory"
	exceptionOfShm = "shm.traceback" // made of an exception whose traceback goes through shared memory
)

// factsByName has the facts of all messages of a program under its name, and of a single message under the whole name.
var factsByName = sync.OnceValue(func() map[string]facts {
	slurm := facts{launcher: "slurm", scheduler: "slurm", authority: -1}
	slurmBooks := facts{launcher: "slurm", scheduler: "slurm", authority: -2}
	slurmTable := facts{launcher: "slurm", scheduler: "slurm", authority: -2, ofNode: true}
	srun := facts{launcher: "slurm", scheduler: "slurm", authority: -1, namesTask: true}
	torchrun := facts{framework: "torch", launcher: "torchrun", child: "local_rank"}
	torchrunFailed := facts{framework: "torch", launcher: "torchrun", child: "local_rank", ends: true}
	torchrunGaveUp := facts{framework: "torch", launcher: "torchrun", child: "local_rank", gaveUp: true}
	ray := facts{launcher: "ray"}
	torch := facts{framework: "torch"}
	cuda := facts{vendor: "cuda"}
	cudaOfTorch := facts{framework: "torch", vendor: "cuda"}
	child := facts{child: "local_rank"}
	node := facts{ofNode: true}
	return map[string]facts{
		"kernel": {authority: 1, ofNode: true}, "systemd": {authority: -1, ofNode: true},
		"slurmctld": node, "slurmd": node, "earlyoom": node, "oomd": node,

		"slurm": slurm, "slurm.srun_oom": srun, "slurm.job_state": slurmBooks, "slurm.exit_125": slurmBooks, "slurm.sacct": slurmTable, "slurm.mail": slurmTable,
		"pbs": {scheduler: "pbs"}, "lsf": {scheduler: "lsf"}, "condor": {scheduler: "condor"},
		"ray": ray, "ray.job_failed": {launcher: "ray", ends: true}, "kubernetes": {launcher: "k8s"}, "hydracore.job_failed": {ends: true},
		"elastic": torchrun, "elastic.child_failed": torchrunFailed, "elastic.block": torchrunFailed, "elastic.failed": torchrunGaveUp,
		"lightning": {child: "rank"}, "python.child_sigkill": child, "python.child_sigbus": child, "python.child_exited": child,

		"torch": {framework: "torch", allocator: "torch", vendor: "cuda"}, "nccl": cudaOfTorch, "c10d": torch, "dataloader": torch, "spawn": torch,
		"host.torch_cpu": torch, "host.torch_th": torch,
		"cuda": cudaOfTorch, "cuda.malloc": cuda, "cuda.enum": cuda, // names that every user of CUDA prints
		"xpu": {framework: "torch", allocator: "xpu", vendor: "xpu"}, "npu": {framework: "torch", allocator: "npu", vendor: "npu"},
		"mps": {allocator: "mps", vendor: "mps"}, "mps.oom": {framework: "torch", allocator: "mps", vendor: "mps"},
		"hccl": {vendor: "npu"}, "ascend": {vendor: "npu"}, "hpu": {allocator: "hpu", vendor: "hpu"},
		"tms": cuda, "cupy": cuda, "rmm": cuda, "bitsandbytes": cuda,
		"trtllm": {allocator: "tensorrt", vendor: "cuda"}, "tensorrt": {allocator: "tensorrt", vendor: "cuda"},
		"ggml": {allocator: "ggml"}, "paddle": {allocator: "paddle"},
		"xla": {allocator: "xla"}, "xla.hbm": {allocator: "xla", device: "TPU"}, "tf": {allocator: "xla"},
		"vllm": {framework: "vllm"}, "sglang": {framework: "sglang"},
	}
})

// factsOf are the facts of a pattern by its name: "PROGRAM.MESSAGE".
func factsOf(pattern string) facts {
	program, _, _ := strings.Cut(pattern, ".")
	f, ok := factsByName()[pattern]
	if !ok {
		f = factsByName()[program]
	}
	f.program = program
	return f
}

// deviceOf is the word by which an allocator's message names its kind of device, "" when it has none: a build for CUDA
// and one for HIP do not run as one job.
func (e *event) deviceOf() string {
	switch e.facts.allocator {
	case "torch":
		before, _, ok := strings.Cut(e.Text, " out of memory. Tried to allocate")
		if word := before[strings.LastIndexAny(before, " '\"")+1:]; ok && word == strings.ToUpper(word) {
			return word
		}
	case "xla":
		if e.facts.device == "" && strings.Contains(e.Text, "GPU_") {
			return "GPU"
		}
	}
	return e.facts.device
}
