package messages

import (
	"strconv"
	"strings"
	"testing"

	"oomscan/parser/pattern"
)

// FuzzPatterns holds the whole table against any text: nothing panics, and a byte quantity is a number.
func FuzzPatterns(f *testing.F) {
	all := matchers()
	for i := range all {
		for _, s := range all[i].Match {
			f.Add(s.Line)
			f.Add(s.Line[:len(s.Line)/2])
		}
	}
	f.Add("Tried to allocate 99999999999999999999.99 GiB (GPU 99999; 1 bytes total capacity")
	f.Fuzz(func(t *testing.T, line string) {
		if len(line) > pattern.MaxMessage {
			line = line[:pattern.MaxMessage]
		}
		text := []rune(line)
		for i := range all {
			p := &all[i]
			if !containsAny(line, p.Literals) {
				continue
			}
			got, ok := p.FieldsOf(text)
			if !ok {
				continue
			}
			for _, key := range []string{"requested", "total", "free", "allocated", "reserved", "reserved_unallocated", "process", "private_pools", "allowed", "margin", "needed"} {
				if v, has := got[key]; has {
					if n, err := strconv.ParseInt(v, 10, 64); err != nil || n < 0 {
						t.Errorf("%s: %s=%q from %q", p.Name, key, v, line)
					}
				}
			}
		}
	})
}

// BenchmarkPatternsOnAllocatorMessage is one long torch message through every pattern whose literal it holds.
func BenchmarkPatternsOnAllocatorMessage(b *testing.B) {
	all := matchers()
	line := "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 5.00 GiB. GPU 0 has a total capacity of 80.00 GiB of which 2.00 GiB is free. " +
		strings.Repeat("Process 71 has 1.00 GiB memory in use. ", 24) +
		"Of the allocated memory 50.00 GiB is allocated by PyTorch, and 512.00 MiB is reserved by PyTorch but unallocated."
	text := []rune(line)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		for i := range all {
			if containsAny(line, all[i].Literals) {
				all[i].FieldsOf(text)
			}
		}
	}
}
