package envelope

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLabelsOfUnknownFormsNameRankAndPid(t *testing.T) {
	t.Parallel()
	for label, want := range map[string][2]int{
		"[rank 3 pid 4711] ":           {3, 4711},
		"[rank=3, pid=4711] ":          {3, 4711},
		"[PID:4711] ":                  {Unknown, 4711},
		"rank[3]: ":                    {3, 0},
		"rank3: ":                      {3, 0},
		"<rank3> ":                     {3, 0},
		"[gpu-7:rank3] ":               {3, 0},
		"[global rank 11] ":            {11, 0},
		"rank 3/8: ":                   {3, 0},
		"[dp=0 tp=1 rank=3] ":          {3, 0},
		"[ERROR][rank3] ":              {3, 0},
		"[local rank 3] ":              {Unknown, 0},
		"local_rank=3: ":               {Unknown, 0},
		"waiting for rank 3: ":         {Unknown, 0},
		"worker said that rank 3: ":    {Unknown, 0},
		"low_rank=3: ":                 {Unknown, 0},
		"[gpu3] ":                      {Unknown, 0},
		"lora rank 16, ":               {Unknown, 0},
		"the parent of pid 4711 got: ": {Unknown, 0},
	} {
		h := NewHeader()
		ReadLabel(&h, []byte(label))
		assert.Equal(t, want, [2]int{h.Rank, h.PID}, label)
	}
}
