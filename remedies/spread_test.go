package remedies

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/classifier"
)

func TestProcessesThatEachSpreadTheirModelOverAllCards(t *testing.T) {
	for _, tt := range []struct {
		name, model string
		perNode     int
		want, never string
	}{
		{"each takes its own card", "meta-llama/Llama-3.1-8B", 4, `device_map={"": int(os.environ["LOCAL_RANK"])}`, `torch.cuda.set_device=torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))`},
		{"a copy larger than a card is spread by one process", "meta-llama/Llama-3.1-70B", 4, "--nproc_per_node=1", `device_map={"": int(os.environ["LOCAL_RANK"])}`},
		{"a process alone may spread its model", "meta-llama/Llama-3.1-8B", 1, "other processes=nvidia-smi --query-compute-apps=pid,used_memory --format=csv", `device_map={"": int(os.environ["LOCAL_RANK"])}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := as(run("torch", "device_map", "auto", "--nproc_per_node", "4"), "", "", tt.model)
			r.GPUsPerNode, r.Launcher = &tt.perNode, "torchrun"
			in := with(gpuOOM("init"), func(r *classifier.Root) {
				rank, device := 3, 1
				r.Rank, r.Device = &rank, &device
				r.Total, r.Free, r.Requested, r.ProcessBytes, r.Allocated, r.OtherProcesses = gibs(23.69), gibs(0.06), gibs(0.11), gibs(4.9), gibs(4.5), gibs(18.6)
				r.Trace = frames("/x/transformers/modeling_utils.py|from_pretrained|", "/x/accelerate/utils/modeling.py|set_module_tensor_to_device|new_value = value.to(device)")
			})
			got := changesOf(For(r, in))
			assert.Contains(t, got, tt.want)
			assert.NotContains(t, got, tt.never)
		})
	}
}

// TestEachRankReadsItsCheckpointIntoHostMemory covers tensors that return to the card which saved them, whatever card a rank took.
func TestEachRankReadsItsCheckpointIntoHostMemory(t *testing.T) {
	t.Parallel()
	const load = `torch.load=torch.load(path, map_location="cpu")`
	for name, c := range map[string]struct {
		log   string
		loads bool
	}{
		"a run that resumes":       {"Namespace(batch_size=128, resume='./out/checkpoint-89.pth')\n", true},
		"a run that says so":       {"Loading snapshot\nResuming training from snapshot at Epoch 3\n", true},
		"a run from the beginning": {"Namespace(batch_size=128, resume='')\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := "$ torchrun --nproc_per_node=2 train.py\n" + c.log + stackOf("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 148.00 MiB. GPU 0 has a total capacty of 23.69 GiB of which 30.69 MiB is free. Process 41874 has 9.34 GiB memory in use. Process 41873 has 14.28 GiB memory in use. Of the allocated memory 13.71 GiB is allocated by PyTorch, and 122.41 MiB is reserved by PyTorch but unallocated.", "train.py|train_one_epoch|outputs = model(samples)") +
				"torch.distributed.elastic.multiprocessing.api: [ERROR] failed (exitcode: 1) local_rank: 0 (pid: 41873) of binary: /opt/conda/bin/python\n"
			got := changesOf(For(incidentOf(t, log)))
			assert.Contains(t, got, `torch.cuda.set_device=torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))`)
			assert.Equal(t, c.loads, slices.Contains(got, load))
		})
	}
}
