package messages

import (
	"testing"

	"oomscan/parser/pattern"
)

const typicalOOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free. Process 7 has 78.15 GiB memory in use. " +
	"Of the allocated memory 70.00 GiB is allocated by PyTorch, and 7.00 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)"

// BenchmarkVetoes shows what each veto costs on the message that most logs with failures hold.
func BenchmarkVetoes(b *testing.B) {
	text := pattern.Runes(nil, []byte(typicalOOM))
	all := All()
	for i := range all {
		if !all[i].Veto {
			continue
		}
		m := pattern.Matcher{Pattern: &all[i]}
		var vetoes pattern.Vetoes
		vetoes.Add(&m)
		b.Run(all[i].Name, func(b *testing.B) {
			for b.Loop() {
				if vetoes.Match([]byte(typicalOOM), text) {
					b.Fatal("vetoed")
				}
			}
		})
	}
}
