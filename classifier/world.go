package classifier

import (
	"strconv"
	"strings"

	"oomscan/parser/settings"
)

// sizesFromConfig completes how many processes, nodes and GPUs there are, from settings and by arithmetic.
func (r *Run) sizesFromConfig() {
	for _, t := range []struct {
		to    **int
		names []string
	}{
		{&r.Nodes, []string{"trainer.nnodes", "cluster.num_nodes", "actor_num_nodes", "policy_num_nodes", "trainer.num_nodes", "nnodes", "NNODES"}},
		{&r.GPUsPerNode, []string{
			"trainer.n_gpus_per_node", "cluster.gpus_per_node", "actor_num_gpus_per_node", "policy_num_gpus_per_node", "num_gpus_per_node", "trainer.devices", "nproc_per_node", "NPROC_PER_NODE",
		}},
	} {
		if v, ok := r.lookup(t.names...); ok {
			setInt(t.to, v.Value)
		}
	}
	if n := r.integer("--nodes", "-N"); r.Nodes == nil && n > 0 && r.Scheduler == "slurm" {
		r.Nodes = &n
	}
	if v, ok := r.lookup("dist_world_size", "world_size"); ok && !r.ofEngine(v) {
		setInt(&r.WorldSize, v.Value)
	}
	if r.WorldSize == nil && r.Nodes != nil && r.GPUsPerNode != nil {
		n := *r.Nodes * *r.GPUsPerNode
		r.WorldSize = &n
	}
	for _, count := range []func() int{r.tasksOfSlurm, r.byBatch, r.byMesh, r.reserved} {
		if n := count(); r.WorldSize == nil && n > 0 && n < 1<<24 {
			r.WorldSize = &n
		}
	}
}

// ofEngine reports whether a world size belongs to an engine inside a trainer: vLLM prints it with its rendezvous address.
func (r *Run) ofEngine(v Value) bool {
	beside, ok := r.Config["distributed_init_method"]
	return ok && beside.At == v.At && !isServer(r.Framework)
}

// integer is a setting that is a whole number, 0 where it is missing or anything else.
func (r *Run) integer(names ...string) int {
	v, _ := r.lookup(names...)
	n, err := strconv.Atoi(strings.ReplaceAll(v.Value, ",", ""))
	if err != nil || n < 0 || n >= 1<<24 {
		return 0
	}
	return n
}

// tasksOfSlurm is how many tasks srun starts, where each must be a rank: a launcher has one task on a node.
func (r *Run) tasksOfSlurm() int {
	nodes, each := r.integer("--nodes", "-N"), r.integer("--ntasks-per-node")
	if r.Nodes != nil {
		nodes = *r.Nodes
	}
	switch n := r.integer("--ntasks", "-n"); {
	case nodes > 0 && each > 1:
		return nodes * each
	case nodes > 0 && n > nodes:
		return n
	case nodes > 0 && r.tasks > nodes:
		return r.tasks
	}
	return 0
}

// byBatch divides the whole batch that transformers' Trainer prints by what one process takes of it.
func (r *Run) byBatch() int {
	for _, k := range []string{"tensor_parallel_size", "tp_size", "context_parallel_size", "sequence_parallel_size", "sequence_parallel_degree"} {
		if r.integer(k) > 1 {
			return 0 // several GPUs take the same part
		}
	}
	total := r.integer("Total train batch size (w. parallel, distributed & accumulation)")
	each := r.integer("Instantaneous batch size per device") * r.integer("Gradient Accumulation steps")
	if each == 0 || total%each != 0 {
		return 0
	}
	return total / each
}

// byMesh multiplies the dimensions of TorchTitan's mesh.
func (r *Run) byMesh() int {
	n := 1
	for _, k := range []string{"pp", "dp_replicate", "dp_shard", "cp", "tp"} {
		if v, ok := r.Config[k]; !ok || v.At != r.Config["dp_shard"].At {
			return 0
		}
		n = min(n*r.integer(k), 1<<24)
	}
	return n
}

// reserved is 1 where the job has one GPU: of several it need not use all.
func (r *Run) reserved() int {
	if r.Launcher == "ray" || r.Launcher == "torchrun" || r.GPUsPerNode != nil || r.integer("--nodes", "-N") > 1 || r.Nodes != nil && *r.Nodes > 1 {
		return 0
	}
	for _, k := range []string{"--gres", "--gpus", "--gpus-per-node", "-G"} {
		v, ok := r.Config[k]
		kinds := strings.Split(v.Value, ":")
		if last := len(kinds) - 1; ok && (kinds[0] == "gpu" || k != "--gres") && kinds[last] == "1" {
			return 1
		}
	}
	v, ok := r.Config["CUDA_VISIBLE_DEVICES"]
	_, err := strconv.Atoi(v.Value)
	if ok && err == nil && len(v.Earlier) == 0 && v.Form == settings.Env && r.Launcher != "slurm" { // each of whose tasks may see one
		return 1
	}
	return 0
}
