package remedies

import (
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
		{"each takes its own card", "meta-llama/Llama-3.1-8B", 4, `device_map={"": int(os.environ["LOCAL_RANK"])}`, `torch.cuda.set_device=torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))  # and torch.load(..., map_location="cpu")`},
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
