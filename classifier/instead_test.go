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
		"where it does it instead":                   {"2025-04-19 17:24:29 WARNING extract: lm_head: svd on cuda:0 failed, doing this one on the cpu\n" + caught + "INFO extract: done\n", true},
		"where it does it instead, below":            {caught + "lm_head: the SVD failed on cuda:0; computing it on the CPU instead.\nINFO extract: done\n", true},
		"what it uses instead, below":                {caught + fell + "INFO index: done\n", true},
		"that, below a death":                        {died + fell + "INFO index: done\n", false},
		"that, and the death of it, below":           {caught + fell + "Traceback (most recent call last):\n  File \"/w/index.py\", line 120, in <module>\n    build()\nRuntimeError: no CPU index, either\n", false},
		"what a library uses far below":              {caught + "saving\nsaving\nsaving\nsaving\nWARNING flash_attn failed to import, falling back to sdpa\n", false},
		"what a dying rank does instead, below":      {"[rank0]: " + oom + "[rank0]: W1001 10:00:00.000000 12 x.py:1] Could not destroy the group; using abort instead\nsrun: error: n1: task 0: Exited with exit code 1\n", false},
		"what failed on the CPU":                     {"WARNING extract: lm_head: svd failed on the cpu\n" + caught, false},
		"where it does it instead, and a death":      {"WARNING extract: svd on cuda:0 failed, doing this one on the cpu\n" + died, false},
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

// TestALoopThatBeginsTheNextImageGoesOn has a failure without a traceback in each log, as a loop prints one that it caught.
func TestALoopThatBeginsTheNextImageGoesOn(t *testing.T) {
	t.Parallel()
	const (
		oom   = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n"
		said  = "Error " + oom
		hint  = "If you encounter CUDA out of memory, try to set --tile with a smaller number.\n"
		image = "Testing 21 scan\n"
		face  = "[21/30] Processing: a.png\n"
		died  = "Traceback (most recent call last):\n  File \"/w/infer.py\", line 120, in <module>\n    main()\nRuntimeError: " + oom
	)
	for name, c := range map[string]struct {
		log  string
		want bool
	}{
		"the next image":                    {image + said + hint + "Testing 22 page\n", true},
		"without the hint":                  {image + said + "Testing 22 page\n", true},
		"the last image":                    {image + said + hint, false},
		"the next face":                     {face + "\tdetect 1 faces\n\tFailed inference for CodeFormer: " + oom + "[22/30] Processing: b.png\n\tdetect 2 faces\n", true},
		"a face that is kept":               {"Processing a.png ...\n\tFailed inference for GFPGAN: " + oom, true},
		"another launch":                    {"Testing 0 scan\n" + said + hint + "Testing 0 page\n", false},
		"the next case, behind a death":     {"Testing 1 large\n" + died + "Testing 2 small\n", false},
		"the next image, and a death":       {image + said + hint + "Testing 22 page\n" + died, false},
		"a hint that is raised":             {image + said + "Traceback (most recent call last):\n  File \"/w/infer.py\", line 120, in <module>\n    main()\nRuntimeError: " + hint, false},
		"an image far behind":               {image + said + hint + "saving\nsaving\nsaving\nTesting 22 page\n", false},
		"what is tested":                    {image + said + "Testing 22\n", false},
		"a face that is kept, and a death":  {"\tFailed inference for GFPGAN: " + oom + died, false},
		"a failure that names a program":    {"GFPGAN failed, inference for a.png: " + oom, false},
		"a record of an error behind a job": {"job 3 failed: RuntimeError: " + oom + "Processing the logs ...\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, map[string]string{"x.log": c.log}).Incidents
			require.NotEmpty(t, got)
			assert.Equal(t, c.want, got[len(got)-1].Survived)
		})
	}
}
