package remedies

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/parser"
)

// TestEveryFactOfARealAndRelaxIsAtHandForItsPhase walks the documents of AReaL (both versions) and Relax: what each says
// for a phase must be found in the items of that phase's list, the general list, and the manual's rows for it. The
// terms are the documents' names, values and addresses.
func TestEveryFactOfARealAndRelaxIsAtHandForItsPhase(t *testing.T) {
	t.Parallel()
	train := []string{"training", "forward", "backward", "optimizer"}
	fuller := append(slices.Clone(train), "logprob")
	update := []string{"weight_update", "nccl"}
	every := []string{"init", "rollout", "logprob", "forward", "backward", "optimizer", "training", "weight_update", "nccl"}
	for _, test := range []struct {
		guide     string
		phases    []string
		resource  string
		mentioned []string
	}{
		{"areal", every, "gpu", []string{
			"allocation_mode", "tensor parallelism", "data parallelism", "train_dataset.max_length", "gconfig.max_new_tokens",
			"actor.mb_spec.max_tokens_per_mb", "train_dataset.max_length + gconfig.max_new_tokens", "max_concurrent_rollouts", "throughput",
			"sglang.mem_fraction_static", "https://docs.sglang.ai/", "FSDP", "https://docs.pytorch.org/docs/stable/fsdp.html",
			"train_dataset.batch_size", "generation, training and weight updates",
		}},
		{"areal", []string{"rollout"}, "gpu", []string{
			"llm_server.log", "most effective", "200", "256", "sglang.d4+d4", "sglang.d2t2+d4", "4 data parallel", "2 data parallel, 2 tensor parallel",
			"generation throughput", "mem_fraction_static: 0.8", "0.9", "headroom",
		}},
		{"areal", fuller, "gpu", []string{
			"max_tokens_per_mb: 4096", "<longest_conversation_length> + gconfig.max_new_tokens", "RolloutWorkflow", "ulysses_sp_size: 2",
			"4 and 8", "common divisor", "40 attention heads", "d32", "1, 2, 4, 8", "16, 32", "very long contexts",
		}},
		{"areal", update, "gpu", []string{
			"NCCL", "default", "WeightUpdateMeta.from_disk(config.saver)", "../lite/gsm8k_grpo.md", "Transferring Weights to Inference Servers",
			"from_fsdp_nccl", "weight_chunked_mem_mb", "512", "1024+",
		}},
		{"areal-early", every, "gpu", []string{
			"allocation_mode", "train_dataset.max_length", "gconfig.max_new_tokens", "actor.mb_spec.max_tokens_per_mb", "forward pass",
			"max_concurrent_rollouts", "https://docs.sglang.ai/", "https://docs.pytorch.org/docs/stable/fsdp.html", "train_dataset.batch_size",
			"generation, training and weight updates",
		}},
		{"areal-early", []string{"rollout"}, "gpu", []string{"most effective", "tp_size", "actor.sglang.mem_fraction_static"}},
		{"areal-early", fuller, "gpu", []string{
			"train_dataset.max_length + gconfig.max_new_tokens", "gconfig.max_tokens_per_mb", "<length of the longest prompt> + gconfig.max_new_tokens",
			"Ulysses", "sp_size",
		}},
		{"areal-early", update, "gpu", []string{
			"NCCL", "default", "../lite/gsm8k_grpo.md#transferring-weights-to-inference-servers", "weight_chunked_mem_mb", "WeightUpdateMeta.from_fsdp_nccl()",
		}},
		{"relax", every, "gpu", []string{
			"Configuration Reference", "--memory-snapshot-dir /path/to/snapshots", "--memory-snapshot-num-steps 3", "--memory-recorder torch",
			"python3 relax/entrypoints/train.py", "python -m torch.utils.viz._memory_viz trace_plot /path/to/snapshots/*.pickle -o memory_trace.html",
			"--memory-recorder memray", "required with memray", "--enable-cuda-memory-check", "all-reduce, all-gather, broadcast", "5 GB",
			"torch.cuda.empty_cache()", "exception", "20%", "production", "--profile-target train_overall", "--profile-step-start 2",
			"--profile-step-end 4", "--profile-with-memory", "--use-tensorboard", "--tb-project-name /path/to/tb_logs", "Memory view",
			"--recompute-granularity full", "--recompute-method uniform", "--recompute-num-layers 1", "most effective", "highly recommended",
			"12288", "8192", "--log-probs-max-tokens-per-gpu", "--use-dynamic-batch-size", "conservative", "--micro-batch-size",
			"30B+", "--optimizer-cpu-offload", "--overlap-cpu-optimizer-d2h-h2d", "Adam", "--recompute-loss-function", "--log-probs-chunk-size 4",
			"-1", "--update-weight-buffer-size", "268435456", "256 MB", "512 MB", "MoE", "--disable-weights-backuper", "utomatic weight recovery",
			"host memory", "--train-memory-margin-bytes", "1073741824", "1 GB", "536870912", "fragmentation", "colocate", "0.7", "0.8",
			"--sglang-mem-fraction-static", "--max-tokens-per-gpu <value>", "--max-tokens-per-gpu <lower value>",
			"--update-weight-buffer-size <lower value>", "--memory-snapshot-dir <path> --memory-recorder torch", "--train-memory-margin-bytes <bytes>",
			"--sglang-mem-fraction-static <fraction>", "--micro-batch-size 1",
		}},
		{"relax", []string{"init"}, "gpu", []string{"Model initialization", "start-up", "too large"}},
		{"relax", train, "gpu", []string{"train_actor", "--max-tokens-per-gpu is too high", "recomputation is not enabled"}},
		{"relax", []string{"logprob"}, "gpu", []string{"train_log_probs", "long sequences", "Separate from the budget of training"}},
		{"relax", []string{"weight_update"}, "gpu", []string{"update_weights", "from training to inference"}},
		{"relax", []string{"nccl"}, "gpu", []string{"buffers of the communication", "reserves too much", "increase it if fragmentation"}},
		{"relax", []string{"unknown"}, "host", []string{"--disable-weights-backuper", "recovery", "memray"}},
	} {
		for _, phase := range test.phases {
			t.Run(test.guide+" "+test.resource+" "+phase, func(t *testing.T) {
				t.Parallel()
				g := guide(test.guide)
				require.NotNil(t, g)
				m := ManualOf(test.guide)
				var b bytes.Buffer
				enc := json.NewEncoder(&b)
				enc.SetEscapeHTML(false)
				add := func(phases []string, row any) {
					if len(phases) == 0 || slices.Contains(phases, phase) {
						require.NoError(t, enc.Encode(row))
					}
				}
				for _, l := range g.Lists {
					if slices.Contains(l.Resources, test.resource) && len(l.Kinds) == 0 {
						for _, id := range l.Items {
							add(l.Phases, g.item(id))
						}
					}
				}
				for i := range m.Diagnosis {
					add(m.Diagnosis[i].Phases, m.Diagnosis[i])
				}
				for i := range m.Parameters {
					add(m.Parameters[i].Phases, m.Parameters[i])
				}
				for i := range m.Steps {
					add(m.Steps[i].Phases, m.Steps[i])
				}
				for i := range m.Goals {
					add(m.Goals[i].Phases, m.Goals[i])
				}
				for i := range m.Notes {
					add(m.Notes[i].Phases, m.Notes[i])
				}
				add(nil, m.Templates)
				for _, term := range test.mentioned {
					assert.Contains(t, b.String(), term)
				}
			})
		}
	}
}

// Relax and slime print the backuper under the name that the flag switches off.
func TestTheWeightsBackuperFollowsWhatTheRunPrints(t *testing.T) {
	t.Parallel()
	host := &classifier.Incident{Kind: parser.HostOOM, Resource: "host"}
	for _, framework := range []string{"relax", "slime"} {
		id := framework + ".no-weights-backuper"
		c := For(run(framework, "enable_weights_backuper", "True"), host)
		assert.Equal(t, id, c.StartWith[0])
		c = For(run(framework, "enable_weights_backuper", "False"), host)
		require.NotNil(t, pick(t, c, id).Applies)
		assert.False(t, *pick(t, c, id).Applies)
		c = For(run(framework), host)
		assert.Nil(t, pick(t, c, id).Applies, "nobody knows whether %s has a backuper here", framework)
	}
}
