package cause

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"oomscan/classifier"
)

// Processes are those of one name that held more than half of what all processes of a node, or of a control group, did.
type Processes struct {
	Name  string
	Count int64
	Bytes int64 // of all of them
}

// loaderName is what PyTorch calls the processes of its data loaders (torch/utils/data/_utils/worker.py, since 2.6).
const loaderName = "pt_data_worker"

// LoadersHold reports that the workers of data loaders held most of the memory, by the kernel's table of tasks: they have PyTorch's name
// for them or, before it had one, the name of the trainer's processes, and there are as many as the ranks have workers.
func LoadersHold(in *Input) string {
	const many = 4 // for each rank, where only their number tells that they are workers
	c := in.Biggest
	if !in.host() || c.Count < 2 || in.Phase == "init" || in.Phase == "checkpoint" || in.Mapping {
		return ""
	}
	each := in.number(workerKeys...)
	ranks := max(in.PerNode, in.GPUs, 1)
	if c.Name != loaderName && (!strings.HasPrefix(c.Name, "python") && !strings.HasPrefix(c.Name, "pt_main_thread") || each < many || c.Count < ranks*each || c.Count > 2*ranks*(each+1)) {
		return "" // a validation has workers of its own
	}
	return fmt.Sprintf("%d data loader workers (%s) held %s together, most of what all processes did", c.Count, c.Name, classifier.GiB(c.Bytes))
}

// LoaderHolds reports that one worker of a data loader holds a quarter of the memory and more than any other process:
// the batches that it prepares are that large.
func LoaderHolds(in *Input) string {
	if !in.host() || in.HostLimit == nil || len(in.Holders) == 0 {
		return ""
	}
	h := slices.MaxFunc(in.Holders, func(a, b Holder) int { return cmp.Compare(a.Bytes, b.Bytes) })
	if h.Name != loaderName || h.Bytes < *in.HostLimit/4 {
		return ""
	}
	return fmt.Sprintf("one data loader worker (%s) holds %s of %s", h.Name, classifier.GiB(h.Bytes), classifier.GiB(*in.HostLimit))
}

// dataProcesses says which processes loaded or prepared the data, and how many there were.
func (in *Input) dataProcesses() string {
	if in.passes(12, "datasets/builder.py") {
		return "load_dataset's processes fill host RAM, each with the pieces of files that it reads"
	}
	if in.Mapping || in.passes(12, mapFrames...) {
		if n := max(in.MapProcesses, in.number(mapKeys...)); n > 1 {
			return fmt.Sprintf("%d Dataset.map processes fill host RAM, each with rows it has not written yet", n)
		}
		return "Dataset.map fills host RAM with rows it has not written yet"
	}
	if why := prefetches(in); why != "" {
		return why
	}
	switch n := in.number(slices.Concat(workerKeys, []string{"workers_per_gpu"})...); {
	case n > 1 && in.GPUs > 1:
		return fmt.Sprintf("%d ranks x %d data loader workers = %d processes, each with its own data", in.GPUs, n, in.GPUs*n)
	case n > 1 && in.GPUs == 1:
		return fmt.Sprintf("%d data loader workers fill host RAM", n)
	case n > 1:
		return fmt.Sprintf("%d data loader workers per rank fill host RAM", n)
	}
	return "the processes that load or prepare data fill host RAM"
}

// ManyWorkers reports that data loaders run enough processes to matter, or have run for long: a forked worker gets its own copy of each
// page of the dataset's Python objects that it touches, as it changes their reference counts (pytorch issue 13246).
func ManyWorkers(in *Input) string {
	n := in.number(workerKeys...)
	long := in.LastStep != nil && *in.LastStep >= 50 && slices.Contains([]string{"torch", "hf_trainer", "lightning"}, in.Framework)
	if !in.host() || in.Phase == "init" || in.Phase == "checkpoint" || n < 2 || n*max(in.GPUs, 1) < 16 && !long || in.largest().Bytes > 0 || cmp.Or(HelpersHold(in), RanksHold(in)) != "" {
		return ""
	}
	if in.GPUs < 1 {
		return fmt.Sprintf("%d data loader workers for each rank", n)
	}
	return fmt.Sprintf("%d ranks with %d data loader workers each", in.GPUs, n)
}

// prefetches reports that data loader workers keep many batches ready.
func prefetches(in *Input) string {
	const usual = 2
	n, each := in.number(workerKeys...), in.number("prefetch_factor", "dataloader_prefetch_factor")
	if !in.host() || in.Phase == "init" || n < 1 || each < 8*usual || in.largest().Bytes > 0 || RanksHold(in) != "" {
		return ""
	}
	return fmt.Sprintf("%d data loader workers keep %d batches each ready", n, each)
}
