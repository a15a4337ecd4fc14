package remedies

import (
	"reflect"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// told is all that a guide and its manual say, without line breaks.
func told(t testing.TB, id string) string {
	t.Helper()
	m := ManualOf(id)
	g := guide(id)
	require.NotNil(t, g)
	return strings.Join(strings.Fields(texts(reflect.ValueOf(g))+texts(reflect.ValueOf(m))), " ")
}

// texts are all strings of a value, one a line.
func texts(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return texts(v.Elem())
		}
	case reflect.Struct:
		var b strings.Builder
		for i := range v.NumField() {
			b.WriteString(texts(v.Field(i)))
		}
		return b.String()
	case reflect.Slice:
		var b strings.Builder
		for i := range v.Len() {
			b.WriteString(texts(v.Index(i)))
		}
		return b.String()
	case reflect.String:
		return v.String() + "\n"
	}
	return ""
}

func TestVerlAndFieldNoteTellEveryFactOfTheirDocuments(t *testing.T) {
	t.Parallel()
	// Document, section, and the terms that its section holds; ";" parts them.
	for _, test := range []struct{ guide, section, terms string }{
		{"verl", "quick diagnosis", "rollout;forward pass;backward pass;optimizer step;CPU OOM;micro_batch_size_per_gpu;gradient checkpointing;tcmalloc;jemalloc"},
		{"verl", "rollout", "gpu_memory_utilization: 0.5;v0.7.0+;total memory;free memory;static allocations (weights + KV cache);0.8-0.9;0.5-0.7"},
		{"verl", "CUDA graphs", "enforce_eager: True;cudagraph_capture_sizes: [1, 2, 4, 8, 16, 32]"},
		{
			"verl", "batch sizes", "ppo_micro_batch_size_per_gpu: 1;use_dynamic_bsz: True;ppo_max_token_len_per_gpu: 8192;critic.ppo_micro_batch_size_per_gpu;" +
				"critic.ppo_max_token_len_per_gpu;16384;log_prob;reward;final layer;2x (max_prompt_length + max_response_length);2x the actor's",
		},
		{
			"verl", "gradient checkpointing", "enable_gradient_checkpointing: True;critic.model.enable_gradient_checkpointing;HuggingFace/FSDP;recompute_method: uniform;" +
				"recompute_granularity: full;recompute_num_layers: 1;override_transformer_config",
		},
		{"verl", "activation offloading", "enable_activation_offload: True;critic.model.enable_activation_offload;FSDP backend only"},
		{
			"verl", "offloading", "param_offload: True;grad_offload: True;optimizer_offload: True;ref.megatron.param_offload;cpu_offload: True;offload_params: True;" +
				"optimizer_offload_fraction: 1.0;overlap_cpu_optimizer_d2h_h2d: True;use_precision_aware_optimizer: True;optimizer_cpu_offload: True;DeepSeek",
		},
		{"verl", "entropy", "entropy_from_logits_with_chunking: True;actor_rollout_ref.ref.entropy_from_logits_with_chunking;entropy_checkpointing: True"},
		{"verl", "Liger", "pip install liger-kernel;model.use_liger;SFT;RLHF;use_liger: True;cross-entropy;RMSNorm;RoPE"},
		{"verl", "Ulysses", "ulysses_sequence_parallel_size;must divide the number of GPUs;>32k;micro_batch_size_per_gpu;max_token_len_per_gpu;critic.ulysses_sequence_parallel_size"},
		{"verl", "FSDP2", "~7%;strategy: fsdp2;PyTorch 2.1+;FSDP1"},
		{
			"verl", "host", "glibc;fragment;sudo apt-get install google-perftools libgoogle-perftools-dev;export LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libtcmalloc.so.4;" +
				"sudo apt-get install libjemalloc-dev;export LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libjemalloc.so.2;" +
				"/usr/lib/aarch64-linux-gnu/libjemalloc.so.2${LD_PRELOAD:+:$LD_PRELOAD};ARM/NPU;cpu_offload;all processes;Data loading workers",
		},
		{
			"verl", "templates", "gpu_memory_utilization: 0.5 enforce_eager: True;ppo_max_token_len_per_gpu: 4096;gpu_memory_utilization: 0.7 tensor_model_parallel_size: 4;" +
				"ppo_max_token_len_per_gpu: 16384;ppo_max_token_len_per_gpu: 32768;100B+;gpu_memory_utilization: 0.85 tensor_model_parallel_size: 8",
		},
		{
			"verl", "debugging", "global_profiler;enabled: True;torch_memory: trace_alloc_max_entries: 100000 stack_depth: 32;verl.utils.device;log_gpu_memory_usage(\"Before forward pass\", logger=logger;" +
				"logging.getLogger(__name__)",
		},
		{"verl", "messages", "CUDA out of memory;RuntimeError: CUDA error: an illegal memory access;vLLM;Killed;MemoryError"},
		{"verl", "see also", "perf_tuning;best_practices;https://docs.vllm.ai/en/latest/performance/optimization.html;12/30/2025"},
		{"field-note", "problem", "17.66 GiB;79.18 GiB;4.97 GiB;100.77 GiB;torch.OutOfMemoryError: CUDA out of memory;network errors;GPU 0"},
		{"field-note", "root cause", "1024;256;32;gradient checkpointing on and nothing offloaded;100GB"},
		{
			"field-note", "changes", "train_batch_size=512;ppo_mini_batch_size=128;ppo_micro_batch_size_per_gpu=16;fsdp_config.param_offload;fsdp_config.optimizer_offload;" +
				"2x less data per step;2x fewer mini-batches;2x smaller gradient accumulation",
		},
		{"field-note", "savings", "32 samples per GPU;16 samples per GPU;~100GB+;~40-50GB"},
		{"field-note", "trade-offs", "~30-50% slower;512;learning rate;quality;CPU and GPU"},
		{"field-note", "resubmit", "sbatch submit_grpo.slurm --dataset diamonds-seed0"},
		{
			"field-note", "options", "run_grpo.sh;train_batch_size=256;ppo_mini_batch_size=64;ppo_micro_batch_size_per_gpu=8;gpu_memory_utilization=0.4;0.6;max_response_length=512;" +
				"diamonds;submit_grpo.slurm;#SBATCH --gres=gpu:8;trainer.n_gpus_per_node=8",
		},
		{"field-note", "monitoring", `tail -f logs/slurm-<jobid>.err | grep -i "memory\|oom";watch -n 1 nvidia-smi;40-60GB`},
		{"field-note", "status", "W&B offline;model loading;memory optimization"},
	} {
		t.Run(test.guide+" "+test.section, func(t *testing.T) {
			t.Parallel()
			text := told(t, test.guide)
			for _, term := range strings.Split(test.terms, ";") {
				assert.Contains(t, text, term)
			}
		})
	}
}

// snippets are all pieces of configuration, code and commands of a guide, by who holds them.
func snippets(t testing.TB, id string) map[string]Example {
	t.Helper()
	m := ManualOf(id)
	out := map[string]Example{}
	for _, s := range m.Steps {
		out[s.ID] = Example{s.Syntax, s.Snippet}
	}
	for _, x := range m.Templates {
		out[x.ID] = Example{x.Syntax, x.Snippet}
	}
	for _, n := range m.Notes {
		if n.Snippet != "" {
			out[n.Title] = Example{n.Syntax, n.Snippet}
		}
	}
	for _, it := range guide(id).Items {
		if it.Example != nil {
			out[it.ID] = *it.Example
		}
	}
	return out
}

func TestSnippetsOfVerlAndFieldNoteHoldKeysThatWork(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"verl", "field-note"} {
		list := snippets(t, id)
		require.NotEmpty(t, list)
		for name, s := range list {
			for _, wrong := range []string{"offload_params", "enabled:", "verl.utils.device"} {
				assert.NotContains(t, s.Text, wrong, name)
			}
			switch s.Syntax {
			case "yaml":
				var v map[string]any
				require.NoError(t, yaml.NewDecoder(strings.NewReader(s.Text), yaml.Strict()).Decode(&v), name)
				if strings.Contains(s.Text, "megatron:") { // C5: both are for FSDP
					assert.NotContains(t, s.Text, "enable_gradient_checkpointing", name)
					assert.NotContains(t, s.Text, "enable_activation_offload", name)
				}
				assert.Equal(t, strings.Contains(s.Text, "optimizer_offload_fraction:"), strings.Contains(s.Text, "optimizer_cpu_offload:"), "%s: C6", name)
			case "hydra":
				for line := range strings.Lines(s.Text) {
					assert.Regexp(t, `^[\w.]+\.\w+=\S+\n?$`, line, name)
				}
			}
		}
	}
}

func TestManualsOfVerlAndFieldNoteCorrectWhatDoesNotHold(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"verl": "C1 C2 C3 C4 C5 C6 C7 C8 C18 C19 C20 C22", "field-note": "C12 C13",
	} {
		m := ManualOf(id)
		text := texts(reflect.ValueOf(m))
		for _, c := range strings.Fields(want) {
			assert.Contains(t, text, "\n"+c+"\n", id)
		}
	}
}
