package source

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// TestATableWithNamedColumnsBecomesRecords reads the answers of query APIs, whole and byte by byte.
func TestATableWithNamedColumnsBecomesRecords(t *testing.T) {
	t.Parallel()
	const rows = `[["t1","p","a [\"x\"]\n"],["t2","p","  b"]]`
	const want = `{"logtag":"F","message":"a [\"x\"]\n","time":"t1"}` + "\n" + `{"logtag":"F","message":"  b","time":"t2"}` + "\n"
	for name, c := range map[string]struct{ text, want string }{
		"Log Analytics":      {`{"tables":[{"name":"x","columns":[{"name":"TimeGenerated","type":"datetime"},{"name":"Pod_s","type":"string"},{"name":"LogMessage","type":"string"}],"rows":` + rows + `}],"statistics":[[1]]}`, want},
		"Data Explorer":      {`{"Tables": [{"TableName": "x", "Columns": [{"ColumnName": "Timestamp"}, {"ColumnName": "Pod_s"}, {"ColumnName": "Message"}], "Rows": ` + strings.ReplaceAll(rows, `","`, "\",\n  \"") + `}]}`, want},
		"Elasticsearch":      {`{"columns":[{"name":"@timestamp","type":"datetime"},{"name":"x","type":"text"},{"name":"message","type":"text"}],"rows":` + rows + "}\n", want},
		"Trino":              {`{"id":"1","columns":[{"name":"ts","type":"varchar"},{"name":"x"},{"name":"line"}],"data":` + rows + "}", want},
		"ClickHouse":         {"{\n\t\"meta\":\n\t[\n{\"name\": \"timestamp\"}, {\"name\": \"x\"}, {\"name\": \"body\"}],\n\n\"data\":\n\t" + rows + ",\n\"rows\": 2}", want},
		"InfluxDB":           {`{"results":[{"series":[{"name":"x","columns":["time","x","message"],"values":` + rows + "}]}]}", want},
		"other cells":        {`{"columns":["time","message"],"rows":[[1.5,null],[2,{"a":[1]}]]}`, `{"logtag":"F","message":"","time":"1.5"}` + "\n" + `{"logtag":"F","message":"{\"a\":[1]}","time":"2"}` + "\n"},
		"a row that was cut": {`{"columns":["time","message"],"rows":[["t","a"],["t","b`, `{"logtag":"F","message":"a","time":"t"}` + "\n" + `["t","b`},
		"no message":         {`{"columns":["time","loss"],"rows":[[1,2]]}`, ""},
		"no time":            {`{"columns":["id","message"],"rows":[[1,"a"]]}`, ""},
	} {
		d := NewDecoder([]byte(c.text))
		if c.want == "" {
			assert.Nil(t, d, name)
			continue
		}
		require.IsType(t, new(cellReader), d, name)
		var got []byte
		for i := range c.text {
			got = d.Append(got, []byte(c.text[i:i+1]))
		}
		assert.Equal(t, c.want, string(d.Close(got)), name)
	}
}
