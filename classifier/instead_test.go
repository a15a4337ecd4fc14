package classifier

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAProgramThatSaysWhatItDoesInsteadGoesOn has one traceback in each log, and what the program says above or behind it.
func TestAProgramThatSaysWhatItDoesInsteadGoesOn(t *testing.T) {
	t.Parallel()
	const (
		oom    = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n"
		caught = "Traceback (most recent call last):\n  File \"/w/index.py\", line 97, in build\n    gpu = to_gpu(index)\n" + oom
		died   = "Traceback (most recent call last):\n  File \"/w/index.py\", line 120, in <module>\n    build()\n  File \"/w/index.py\", line 97, in build\n    gpu = to_gpu(index)\n" + oom
		fell   = "2025-07-08 14:09:52,118 WARNING index: GPU index failed, falling back to the CPU index\n"
		fault  = "ERROR:docling.pipeline.base_pipeline:Encountered an error during conversion of document 4be1:\n"
		next   = "INFO:docling.document_converter:Finished converting document b.pdf in 18.93 sec.\n"
		tally  = "INFO:batch:Processed 59 docs, of which 1 failed and 0 were partially converted.\n"
	)
	for name, c := range map[string]struct {
		log  string
		want bool
	}{
		"what it uses instead":                       {fell + caught + "INFO index: done\n", true},
		"what it uses, and a death":                  {fell + died, false},
		"what a library uses, and a launched death":  {"WARNING flash_attn failed to import, falling back to sdpa\n" + caught + "srun: error: n1: task 0: Exited with exit code 1\n", false},
		"what it uses, and the death of that":        {fell + caught + "Traceback (most recent call last):\n  File \"/w/index.py\", line 120, in <module>\n    build()\nRuntimeError: no CPU index, either\n", false},
		"what a library uses far above":              {"WARNING flash_attn failed to import, falling back to sdpa\nloading\nloading\nloading\n" + caught, false},
		"how many documents failed":                  {fault + caught + next + tally, true},
		"nothing behind the document":                {fault + caught, false},
		"the next document alone":                    {fault + caught + next, false},
		"how many failed, and the death for it":      {fault + caught + next + tally + "Traceback (most recent call last):\n  File \"/w/b.py\", line 12, in <module>\n    main()\nRuntimeError: The example failed converting 1 on 59.\n", false},
		"how many another program failed, and death": {died + tally, false},
		"that all failed":                            {fault + caught + "INFO:batch:Processed 1 docs, of which 1 failed\n", false},
		"how many workers failed":                    {caught + "INFO:pool:7 workers succeeded, 1 failed\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{"x.log": c.log}).Incidents
			require.Len(t, got, 1)
			assert.Equal(t, c.want, got[0].Survived)
		})
	}
}
