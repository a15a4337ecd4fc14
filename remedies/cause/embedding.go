package cause

import (
	"strings"

	"oomscan/remedies/memory"
)

// embeds says how many tokens Text Embeddings Inference has in a batch.
func embeds(in *Input) string {
	if n := in.number("max_batch_tokens"); n > 0 && in.number("max_client_batch_size") > 0 {
		return "batches may have " + memory.Thousands(n) + " tokens (max_batch_tokens), and the warm-up has as many"
	}
	return ""
}

// warmsUpOnHost reports whether a server that computes in host memory was killed in its warm-up.
func warmsUpOnHost(in *Input) bool {
	return in.host() && strings.Contains(in.Stage, "warming up model")
}

// warmUpFigure is one layer's attention scores of the warm-up's batch, which is one sequence where the model takes one so long: on the CPU
// they are float32, and not fused (text-embeddings-inference, backends/candle).
func warmUpFigure(in *Input) (string, *int64) {
	n, heads := in.number("max_batch_tokens"), in.number("num_attention_heads")
	if longest := in.number("max_position_embeddings"); n > 1<<20 || heads == 0 || heads > 1<<10 || longest < n {
		return embeds(in), nil
	}
	return sized("the warm-up's batch is one sequence of %s tokens, whose attention scores are built in full: %d heads x %s x %s x 4 bytes a layer", heads*n*n*4, memory.Thousands(n), heads, memory.Thousands(n), memory.Thousands(n))
}
