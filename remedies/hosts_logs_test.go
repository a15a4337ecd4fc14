package remedies

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhatLogsOfHostsAreToldFirst pairs logs about host memory with the cause and the first change.
func TestWhatLogsOfHostsAreToldFirst(t *testing.T) {
	t.Parallel()
	const (
		refused = "RuntimeError: [enforce fail at ..\\c10\\core\\impl\\alloc_cpu.cpp:72] data. DefaultCPUAllocator: not enough memory: you tried to allocate 26214400 bytes."
		tei     = `2025-09-30T09:14:02.118204Z  INFO text_embeddings_router: router/src/main.rs:203: Args { model_id: "BAAI/bge-m3", dtype: None, max_concurrent_requests: 512, max_batch_tokens: 16384, max_batch_requests: None, max_client_batch_size: 32, auto_truncate: false }` + "\n" +
			"2025-09-30T09:14:05.477015Z  INFO text_embeddings_backend_candle: backends/candle/src/lib.rs:305: Starting Bert model on Cpu\n"
		warmUp  = "2025-09-30T09:14:08.902166Z  INFO text_embeddings_router: router/src/lib.rs:260: Warming up model\n"
		evicted = "    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n    Limits:\n      memory:  16Gi\n"
		pinned  = "$ python wgp.py --i2v --perc-reserved-mem-max 0.6\nThe whole model was pinned to reserved RAM: 166 large blocks spread across 16384.00 MB\n"
		killed  = "run.sh: line 4: 24310 Killed                  nnUNet_train 2d nnUNetTrainerV2 Task120 0\n"
		dmesg   = "[Sun Jan 17 20:59:08 2021] Out of memory: Killed process 24310 (nnUNet_train) total-vm:93740128kB, anon-rss:58019344kB, file-rss:71680kB, shmem-rss:14336kB, UID:1000 pgtables:122880kB oom_score_adj:0\n"
	)
	model := func(root string) string {
		s := "Traceback (most recent call last):\n"
		for _, f := range []string{`modules\sd_models.py", line 504, in load_model`, `ldm\util.py", line 89, in instantiate_from_config`, `torch\nn\modules\linear.py", line 96, in __init__`} {
			s += `  File "` + root + f + "\n    x = f(x)\n"
		}
		return s + refused + "\n"
	}
	shuttle := stackOf("RuntimeError: CUDA error: out of memory", "/w/wgp.py|generate_video|samples = model.generate(", "mmgp/offload.py|check_change_module|self.gpu_load_blocks(model_id, blocks_name)", "mmgp/offload.py|cpu_to_gpu|q = p.to(\"cuda\", non_blocking=True)")
	listed := "$ (while sleep 300; do ps -o pid,rss,comm -C nnUNet_train --no-headers; done) &\n"
	for i := range 8 {
		listed += fmt.Sprintf("[ram] 24310 %d nnUNet_train\nepoch: %d\n", 9173584+5900000*i, i)
	}
	for _, c := range []struct{ name, log, cause, first string }{
		{"Windows refuses memory while a model is built", model(`D:\webui\`), "host_load", "page file=system managed"},
		{"a server on the CPU that is killed in its warm-up", tei + warmUp + evicted, "engine_activation", "max_batch_tokens=4096"},
		{"a server on the CPU that is killed before its warm-up", tei + evicted, "limit_too_small", "resources.limits.memory=24Gi"},
		{"models that are pinned in host memory", pinned + shuttle, "host_offload", "--perc-reserved-mem-max=0.3"},
		{"memory that grows by the columns of ps", listed + killed + dmesg, "leak_over_steps", "cuDNN=8.0.2 or later"},
		{"memory that grew after an earlier kill", "run.sh: line 4: 21077 Killed                  nnUNet_train\n" + listed + killed + dmesg, "leak_over_steps", "cuDNN=8.0.2 or later"},
		{"numbers beside a process that are not said to be memory", strings.ReplaceAll(listed, "pid,rss,comm", "pid,vsz,comm") + killed + dmesg, "limit_too_small", "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := answerTo(t, c.log)
			require.NotNil(t, a.Cause)
			assert.Equal(t, c.cause, a.Cause.ID, a.Cause.Text)
			assert.Equal(t, c.first, firstChange(a))
		})
	}
}

func TestTheWarmUpsScoresAreOfOneSequence(t *testing.T) {
	t.Parallel()
	const log = `2025-09-30T09:14:02.118204Z  INFO text_embeddings_router: router/src/main.rs:203: Args { model_id: "Qwen/Qwen3-Embedding-0.6B", max_batch_tokens: 16384, max_client_batch_size: 32 }` + "\n" +
		"2025-09-30T09:14:08.902166Z  INFO text_embeddings_router: router/src/lib.rs:260: Warming up model\n      Reason:       OOMKilled\n      Exit Code:    137\n{'num_attention_heads': 16, 'max_position_embeddings': %d}\n"
	assert.Contains(t, answerTo(t, fmt.Sprintf(log, 32768)).Cause.Text, "16 heads x 16,384 x 16,384 x 4 bytes a layer = 16.00 GiB")
	assert.NotContains(t, answerTo(t, fmt.Sprintf(log, 8192)).Cause.Text, "heads")
}

// TestNoContextIsShortEnoughForWeightsThatDoNotFit covers Ollama, which names the size of the weights as it pulls them.
func TestNoContextIsShortEnoughForWeightsThatDoNotFit(t *testing.T) {
	t.Parallel()
	const refused = "time=2025-07-16T18:20:41.208Z level=INFO source=routes.go:1235 msg=\"server config\" env=\"map[OLLAMA_CONTEXT_LENGTH:8192]\"\nError: model requires more system memory (10.2 GiB) than is available (7.9 GiB)\n"
	for size, shorter := range map[string]bool{"9.0 GB": false, "4.7 GB": true} {
		log := "$ ollama run deepseek-r1:14b\npulling 6e9f90f02bb3: 100% ▕██████████████████▏ " + size + "\n" + refused
		assert.Equal(t, shorter, slices.ContainsFunc(changesOf(For(incidentOf(t, log))), func(c string) bool { return strings.HasPrefix(c, "OLLAMA_CONTEXT_LENGTH=") }), size)
	}
}
