package cause

import (
	"fmt"

	"oomscan/classifier"
)

// host are the causes that lie in the memory of a node.
var host = []hypothesis{
	{
		id:       "shm",
		evidence: []weighed{{2 * proof, when("/dev/shm is full", func(in *Input) bool { return in.Resource == "shm" })}},
		figure: func(in *Input) (string, *int64) {
			return "/dev/shm is full, which has a limit of its own", in.SHMUsed
		},
	},
	{
		id: "checkpoint_gather",
		evidence: []weighed{
			{proof, failedIn("it failed while a checkpoint was saved", "checkpoint")},
			{sign, both(frames(12, "the stack ends in the gathering of a state dict", "full_state_dict", "_gather_full_param", "save_checkpoint", "save_pretrained", "gather_16bit", "consolidated"), func(in *Input) bool { return in.Phase != "weight_update" && in.Phase != "init" })},
		},
		figure: plain("a checkpoint is put together in one place"),
	},
	{
		id: "loader_workers",
		evidence: []weighed{
			{2 * proof, when("a data loader's worker was killed", func(in *Input) bool { return in.DataWorkers && in.Resource == "host" })},
			{sign, both(failedIn("it failed while data was loaded", "data"), (*Input).host)},
			{sign, manyWorkers},
		},
		excludes: []clue{failedIn("no data is loaded in this phase", "init", "weight_update", "checkpoint")},
		figure: func(in *Input) (string, *int64) {
			if n := in.number(workerKeys...); n > 0 && in.GPUs > 1 {
				return fmt.Sprintf("%d ranks x %d data loader workers = %d processes, each with data of its own", in.GPUs, n, in.GPUs*n), nil
			}
			return "data loader workers fill the node's memory", nil
		},
	},
	{
		id: "host_load",
		evidence: []weighed{
			{proof, both(when("it failed while weights were read", (*Input).loading), (*Input).host)},
			{sign, both(failedIn("it failed at start-up", "init"), (*Input).host)},
		},
		figure: func(in *Input) (string, *int64) {
			if p := in.Parameters.Value; p > 0 && p < 1<<40 && in.GPUs > 0 && in.GPUs < 1<<10 {
				return sized("every rank reads the whole model: %d ranks x %s parameters x 2 bytes", 2*p*in.GPUs, in.GPUs, in.Parameters)
			}
			return "every rank reads the whole model into the node's memory", nil
		},
	},
	{
		id: "host_offload",
		evidence: []weighed{
			{sign + hint, both(func(in *Input) string {
				for _, k := range offloadKeys {
					key, v, ok := in.Setting(k)
					if ok && (in.on(k) || v == "cpu") {
						return fmt.Sprintf("%s is %s: states of the model live in the node's memory", key, v)
					}
				}
				return ""
			}, (*Input).host)},
			{hint, both(saw("pinned host memory was asked for", "host.npu_pinned", "tms.cpu_backup", "sglang.hicache"), (*Input).host)},
		},
		figure: func(in *Input) (string, *int64) {
			if p := in.Parameters.Value; p > 0 && p < 1<<40 {
				return sized("offloaded states: up to 16 bytes x %s parameters over the nodes", 16*p, in.Parameters)
			}
			return "states that were offloaded from the GPUs fill the node's memory", nil
		},
	},
	{
		id: "leak_over_steps",
		evidence: []weighed{
			{sign, func(in *Input) string {
				if in.LastStep == nil || *in.LastStep < 50 || !in.host() || in.Phase == "checkpoint" {
					return ""
				}
				return fmt.Sprintf("%d steps fitted before", *in.LastStep)
			}},
		},
		excludes: []clue{when("a data loader's worker was killed", func(in *Input) bool { return in.DataWorkers })},
		figure: func(*Input) (string, *int64) {
			return "memory grows from step to step", nil
		},
	},
	{
		id: "limit_too_small",
		evidence: []weighed{
			{2 * hint, both(when("a memory limit of the job was reached", func(in *Input) bool { return in.LimitReached }), (*Input).host)},
			{2 * hint, both(when("Ray's memory monitor ended the worker", func(in *Input) bool { return in.RayMonitor }), (*Input).host)},
			{hint, when("host memory ran out", (*Input).host)},
		},
		figure: func(in *Input) (string, *int64) {
			if in.HostLimit == nil {
				return "the node's or the job's memory is too small for what runs there", nil
			}
			return "the limit of " + classifier.GiB(*in.HostLimit) + " was reached", in.HostLimit
		},
	},
}

var (
	workerKeys  = []string{"dataloader_num_workers", "num_workers", "dataloader_workers", "data.num_workers", "workers"}
	offloadKeys = []string{
		"optimizer_offload", "param_offload", "offload_optimizer.device", "offload_param.device", "adam_offload", "optimizer_cpu_offload", "offload_train", "fsdp_offload_params", "cpu_offload",
		"zero_optimization.offload_optimizer.device", "zero_optimization.offload_param.device",
	}
)

// manyWorkers says that data loaders run enough processes to matter.
func manyWorkers(in *Input) string {
	n := in.number(workerKeys...)
	if !in.host() || in.Phase == "init" || n*max(in.GPUs, 1) < 16 {
		return ""
	}
	return fmt.Sprintf("%d ranks with %d data loader workers each", max(in.GPUs, 1), n)
}
