package sample

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSampleMarksAreToldByTheirBrackets(t *testing.T) {
	t.Parallel()
	for _, m := range Marks {
		told := strings.IndexByte("<[", m.Text[0]) >= 0 && strings.IndexByte(seconds, m.Text[1]) >= 0
		assert.True(t, told || m.Text == labelIDs, m.Text)
	}
}

func TestTheLastMarkOpensOrCloses(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(11, 12))
	for range 2000 {
		var b []byte
		for range r.IntN(6) {
			b = append(b, Marks[r.IntN(len(Marks))].Text...)
			b = b[:len(b)-r.IntN(2)]
			b = append(b, strings.Repeat("[<|_i", r.IntN(3))...)
		}
		last, opens := -1, false
		for _, m := range Marks {
			if i := bytes.LastIndex(b, []byte(m.Text)); i > last {
				last, opens = i, m.Opens
			}
		}
		marked, got := Last(b)
		assert.Equal(t, last >= 0, marked, "%q", b)
		assert.Equal(t, opens, got, "%q", b)
	}
}
