package source

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// numbersOf are the bytes of a text as journalctl writes them.
func numbersOf(text string) string {
	return strings.ReplaceAll(fmt.Sprint([]byte(text)), " ", ",")
}

// decoded is what a log's decoder makes of it in chunks of a size.
func decoded(t *testing.T, log string, chunk int) string {
	t.Helper()
	d := NewDecoder([]byte(log))
	require.NotNil(t, d)
	var out []byte
	for rest := log; rest != ""; {
		n := min(chunk, len(rest))
		out = d.Append(out, []byte(rest[:n]))
		rest = rest[n:]
	}
	return string(d.Close(out))
}

func TestJournalBytesBecomeText(t *testing.T) {
	t.Parallel()
	const cursor = `{"__CURSOR":"s=ab",`
	pretty := "{\n\t\"__REALTIME_TIMESTAMP\" : \"1\",\n\t\"MESSAGE\" : [\n\t\t27,\n\t\t91,\n\t\t109\n\t]\n}\n"
	for name, tc := range map[string]struct{ log, want string }{
		"colored":               {cursor + `"MESSAGE":` + numbersOf("\x1b[36ma \"b\" \\") + `,"_PID":"7"}` + "\n", cursor + `"MESSAGE":"\u001b[36ma \"b\" \\","_PID":"7"}` + "\n"},
		"the last key":          {cursor + `"MESSAGE":[97]}`, cursor + `"MESSAGE":"a"}`},
		"blanks of old systemd": {`{ "__CURSOR" : "s=ab", "MESSAGE" : [ 27, 97 ], "_PID" : "7" }` + "\n", `{ "__CURSOR" : "s=ab", "MESSAGE":"\u001b` + `a", "_PID" : "7" }` + "\n"},
		"a JSON sequence":       {"\x1e" + cursor + `"MESSAGE":[7,97]}` + "\n\x1e" + cursor + `"MESSAGE":"b"}` + "\n", cursor + `"MESSAGE":"\u0007a"}` + "\n" + cursor + `"MESSAGE":"b"}` + "\n"},
		"several lines":         {cursor + `"MESSAGE":` + numbersOf("a\nb") + "}\n", cursor + `"MESSAGE":"a\u000ab"}` + "\n"},
		"not UTF-8":             {cursor + `"MESSAGE":[196,218,127]}` + "\n", cursor + "\"MESSAGE\":\"\xc4\xda\x7f\"}\n"},
		"a long text first":     {`{"MESSAGE":` + numbersOf(strings.Repeat("x", sniffLen)) + `,"__CURSOR":"s=ab"}` + "\n", `{"MESSAGE":"` + strings.Repeat("x", sniffLen) + `","__CURSOR":"s=ab"}` + "\n"},
		"pretty":                {pretty + pretty, strings.Repeat("{\"__REALTIME_TIMESTAMP\":\"1\",\"MESSAGE\":\"\\u001b[m\"}\n", 2)},
		"other lines between":   {cursor + `"MESSAGE":[97]}` + "\n" + `text "MESSAGE":[97]` + "\n\x1etext\n\n", cursor + `"MESSAGE":"a"}` + "\n" + `text "MESSAGE":[97]` + "\n\x1etext\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, chunk := range []int{1, 7, len(tc.log)} {
				assert.Equal(t, tc.want, decoded(t, tc.log, chunk), "in chunks of %d", chunk)
			}
		})
	}
}

func TestMalformedJournalBytesStayAsTheyAre(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{
		"unclosed": `[27,91`, "above 255": `[27,256]`, "far above 255": `[99999999999999999999]`, "negative": `[-1]`, "a fraction": `[1.5]`, "an exponent": `[1e1]`, "signed": `[+1]`,
		"empty": `[]`, "a comma too many": `[27,]`, "no comma": `[27 91]`, "nested": `[[27,91],[97]]`, "several values": `["a","b"]`, "mixed": `[27,"a"]`, "objects": `[{"MESSAGE":[27]}]`,
		"null": `null`, "a string": `"[27,91]"`, "a key alone": ``,
	} {
		line := `{"__CURSOR":"s=ab","MESSAGE":` + value + "}\n"
		for _, chunk := range []int{1, 5, len(line) * 2} {
			assert.Equal(t, line+line, decoded(t, line+line, chunk), "%s, in chunks of %d", name, chunk)
		}
	}
}

func TestEndlessJournalBytesStayAsTheyAre(t *testing.T) {
	t.Parallel()
	array := strings.Repeat("[27,", 10<<20/4)
	for name, first := range map[string]string{
		"closed":   strings.ReplaceAll(array, "[", "") + "27]}\n",
		"unclosed": strings.ReplaceAll(array, "[", "") + "\n",
		"nested":   array + "\n",
	} {
		first = `{"__CURSOR":"s=ab","MESSAGE":[` + first
		want := first + `{"MESSAGE":"a"}` + "\n"
		for _, chunk := range []int{32 << 10, 1000003} {
			assert.True(t, want == decoded(t, first+`{"MESSAGE":[97]}`+"\n", chunk), "%s, in chunks of %d", name, chunk) // equal texts of 10 MB are not printed
		}
	}
}

func TestJournalBytesTakeLittleMemory(t *testing.T) {
	var before, after runtime.MemStats
	d := NewDecoder([]byte(`{"__CURSOR":"s=ab","MESSAGE":[27,`))
	d.Append(nil, []byte(`{"__CURSOR":"s=ab","MESSAGE":[`))
	chunk, out := []byte(strings.Repeat("27,", 10<<10)), []byte(nil)
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 1000 { // 30 MB in one line
		out = d.Append(out[:0], chunk)
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8*maxRow))
}
