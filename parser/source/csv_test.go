package source

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestATableOfSamplesBecomesRecords reads tables of samples, of what became of runs, and the log of a run behind one.
func TestATableOfSamplesBecomesRecords(t *testing.T) {
	t.Parallel()
	const (
		head    = "Id,Question,Answer\n1,a,b\n2,\"c, d\",e\n"
		records = "\n" + `{"id":"1","question":"a","answer":"b"}` + "\n" + `{"id":"2","question":"c, d","answer":"e"}` + "\n"
		long    = head + "3,\"It \"\"says\"\"\nCUDA error: out of memory\",x\n"
		last    = `{"id":"3","question":"It \"says\"\nCUDA error: out of memory","answer":"x"}` + "\n"
	)
	for name, c := range map[string]struct{ text, want string }{
		"a cell of two lines":         {long, records + last},
		"a log behind it":             {long + "Traceback (most recent call last)\n  File \"x\", line 3, in f\nError: a, b, c\n", records + last + "Traceback (most recent call last)\n  File \"x\", line 3, in f\nError: a, b, c\n"},
		"rows of other tables":        {head + "x\n3,f,g\n", ""},
		"few rows":                    {head, ""},
		"a table of errors":           {"question,answer,error\n1,2,3\n1,2,3\n1,2,3\n", ""},
		"a table of runs":             {"trial,lr,loss\n1,2,3\n1,2,3\n1,2,3\n", ""},
		"a question and no answer":    {"id,question,n\n1,2,3\n1,2,3\n1,2,3\n", ""},
		"a log that speaks of answer": {"question, answer\nstep 1\nstep 2\nstep 3\n", ""},
	} {
		d := NewDecoder([]byte(c.text))
		if c.want == "" {
			assert.Nil(t, d, name)
			continue
		}
		if assert.NotNil(t, d, name) {
			var got []byte
			for _, b := range []byte(c.text) {
				got = d.Append(got, []byte{b})
			}
			assert.Equal(t, c.want, string(d.Close(got)), name)
			d = NewDecoder([]byte(c.text))
			assert.Equal(t, c.want, string(d.Close(d.Append(nil, []byte(c.text)))), name)
		}
	}
}
