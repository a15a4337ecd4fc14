package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/cmd/oomscan/internal/report"
	"oomscan/remedies"
)

const (
	oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.00 GiB is free. " +
		"Including non-PyTorch memory, this process has 78.10 GiB memory in use. Of the allocated memory 70.00 GiB is allocated by PyTorch, and 5.00 GiB is reserved by PyTorch but unallocated.\n"
	relaxHead = "Traceback (most recent call last):\n" +
		"  File \"/opt/Relax/relax/backends/megatron/actor.py\", line 301, in train_actor\n    self.run(rollout_id)\n"
	sglangHead = "[2026-01-02 03:04:05 TP0] Scheduler hit an exception: Traceback (most recent call last):\n" +
		"  File \"/opt/sglang/python/sglang/srt/managers/scheduler.py\", line 2524, in run_scheduler_process\n    scheduler.event_loop_overlap()\n" +
		"  File \"/opt/sglang/python/sglang/srt/managers/scheduler.py\", line 800, in event_loop_overlap\n    result = self.run_batch(batch)\n" +
		"  File \"/opt/sglang/python/sglang/srt/model_executor/model_runner.py\", line 1300, in forward_extend\n    return self.model.forward(\n"
)

// TestEveryGuideIsFirstInItsOwnSituation: the situations that the guides are written for get the list that the guide has
// for them, whole, in its order and before everything else.
func TestEveryGuideIsFirstInItsOwnSituation(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		logs        map[string]string
		fixture     string
		guide, list string
	}{
		"AReaL, generation": {map[string]string{
			"llm_server.log": "[2026-01-02 03:00:00] server_args=ServerArgs(model_path='Qwen/Qwen3-8B', mem_fraction_static=0.9, tp_size=1)\n" +
				"The server is fired up and ready to roll!\n[2026-01-02 03:04:00 TP0] Decode batch. #running-req: 42, #token: 109281, token usage: 0.61, gen throughput (token/s): 3683.05, #queue-req: 0\n" + sglangHead + oom,
			"trainer.log": "(AReaL) 20260102-03:01:40.229 StatsLogger INFO: Epoch 1/3 Step 1/117 Train step 1/351 done.\n",
		}, "", "areal", "generation"},
		"AReaL, generation by vLLM":         {fixture: "gpu_oom/areal-vllm-sampler-server-log", guide: "areal", list: "generation"},
		"AReaL, training":                   {fixture: "gpu_oom/areal-lite-trainer-loss-oom", guide: "areal", list: "training"},
		"AReaL, weight update over NCCL":    {fixture: "gpu_oom/areal-slurm-update-weights-full-tensor", guide: "areal", list: "weight-update"},
		"verl, rollout":                     {fixture: "gpu_oom/verl-vllm-sampler-oom-engine-dead", guide: "verl", list: "rollout"},
		"verl, forward":                     {fixture: "gpu_oom/verl-0.2-critic-forward-mlp", guide: "verl", list: "forward"},
		"verl, backward":                    {fixture: "gpu_oom/verl-fsdp-backward-after-160-steps", guide: "verl", list: "backward"},
		"verl, optimizer":                   {fixture: "gpu_oom/verl-megatron-first-optimizer-step", guide: "verl", list: "optimizer"},
		"verl, host memory":                 {fixture: "oom_kill/verl-ray-memory-monitor-generate", guide: "verl", list: "host"},
		"the field note: verl, unrefined":   {fixture: "gpu_oom/verl-figures-contradict", guide: "verl", list: "summary"},
		"Relax, train_actor":                {fixture: "gpu_oom/relax-sft-loss-oom", guide: "relax", list: "training"},
		"Relax, update_weights":             {fixture: "gpu_oom/relax-update-weights-gather", guide: "relax", list: "weight-update"},
		"Relax, NCCL":                       {fixture: "nccl_oom/relax-nccl-reload-groups-oom", guide: "relax", list: "nccl"},
		"Relax, log-probabilities of a run": {map[string]string{"train.log": relaxHead + "  File \"/opt/Relax/relax/backends/megatron/actor.py\", line 402, in compute_log_prob\n    return forward_only(\n  File \"/opt/Relax/relax/backends/megatron/model.py\", line 210, in forward_only\n    out = f(batch)\n" + oom}, "", "relax", "logprob"},
		"Relax, backward in train_actor":    {map[string]string{"train.log": relaxHead + "  File \"/opt/Relax/relax/backends/megatron/model.py\", line 310, in train_one_step\n    losses = run(model)\n  File \"/usr/lib/python3.12/site-packages/torch/_tensor.py\", line 626, in backward\n    torch.autograd.backward(\n" + oom}, "", "relax", "training"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := []string{"--format", "json"}
			for file, text := range c.logs {
				args = append(args, write(t, file, []byte(text)))
			}
			if c.fixture != "" {
				folder := filepath.Join("../../fixtures/cases", c.fixture)
				for _, f := range logs(t, folder) {
					args = append(args, filepath.Join(folder, f))
				}
			}
			_, out, _ := call(t, nil, args...)
			var r report.Report
			require.NoError(t, json.Unmarshal(out, &r))
			require.NotEmpty(t, r.Incidents)

			b, err := remedies.Browse(c.guide, remedies.Query{})
			require.NoError(t, err)
			var want, got []string
			heading := ""
			for _, ch := range b.Chapters {
				if ch.ID == c.list {
					want, heading = ch.Items, ch.Heading
				}
			}
			require.NotEmpty(t, want)
			for i, x := range r.Incidents[0].Remedies {
				if x.List == heading && i == len(got) {
					got = append(got, x.ID)
				}
			}
			assert.Equal(t, topics(b.Guide, want), topics(b.Guide, got))
		})
	}
}

// topics leaves out the items of a list that say what an earlier one said, and additions to the document for a situation of their own.
func topics(g *remedies.Guide, ids []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, id := range ids {
		for i := range g.Items {
			if it := &g.Items[i]; it.ID == id && (it.Topic == "" || !seen[it.Topic]) && (!it.Addition || len(it.Only) == 0) {
				seen[it.Topic] = true
				out = append(out, id)
			}
		}
	}
	return out
}
