package remedies

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/classifier"
	"oomscan/parser"
)

func TestAnEngineThatWasBuiltIsBuiltForLess(t *testing.T) {
	prepare := frames("/x/tensorrt_llm/runtime/generation.py|__init__|self.runtime = _Runtime(engine_buffer, mapping)", "/x/tensorrt_llm/runtime/generation.py|__prepare|address = CUASSERT(cudart.cudaMalloc(self.engine.device_memory_size))[0]")
	serve := frames("/x/tensorrt_llm/executor/worker.py|__init__|self.engine = tllm.Executor(")
	onCard := classifier.Gauge{Name: "tensorrt.on_card", Fields: parser.Fields{"used": itoa(*gibs(12))}, At: parser.Position{Source: "a.log", Line: 2}}
	failed := func(pattern string, change func(r *classifier.Root)) *classifier.Incident {
		in := recognized(pattern, with(gpuOOM("init"), change))
		in.Kind, in.Root.At = parser.GPUDriverOOM, parser.Position{Source: "a.log", Line: 9}
		return in
	}
	sizes := []string{"max_batch_size", "128", "max_input_len", "1024"}
	const share = "--kv_cache_free_gpu_memory_fraction=0.8"
	for _, tt := range []struct {
		name     string
		pairs    []string
		readings []classifier.Gauge
		in       *classifier.Incident
		want     []string
		never    []string
	}{
		{"the Python runtime makes the context before the cache", sizes, nil, failed("cuda.enum", func(r *classifier.Root) { r.Trace = prepare }), []string{"--max_batch_size=64", "--max_input_len=512"}, []string{share, "--max_num_tokens=4096"}},
		{"weights on the card show that it is the context", sizes, []classifier.Gauge{onCard}, failed("tensorrt.runtime", func(*classifier.Root) {}), []string{"--max_batch_size=64"}, []string{share, "checkpoint=one of the model in FP8 or NVFP4"}},
		{"an executor plans at its start", sizes, nil, failed("trtllm.runtime", func(r *classifier.Root) { r.Trace = serve }), []string{"--max_batch_size=64"}, []string{"--max_input_len=512"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := as(run("trtllm", tt.pairs...), "", "trtllm", "meta-llama/Llama-2-13b-chat-hf")
			r.Gauges = append(r.Gauges, tt.readings...)
			got := changesOf(For(r, tt.in))
			assert.Subset(t, got, tt.want)
			for _, no := range tt.never {
				assert.NotContains(t, got, no)
			}
		})
	}
}
