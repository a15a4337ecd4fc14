package obs

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/stream"
	"oomscan/parser/traceback"
)

// recorder keeps what a file contains.
type recorder struct {
	versions []string
	names    []string
	seen     [][]parser.Observation
	read     []Read
	cut      []string
}

func (k *recorder) File(version string) { k.versions = append(k.versions, version) }

func (k *recorder) Log(name string) func(parser.Observation) {
	k.names = append(k.names, name)
	k.seen = append(k.seen, nil)
	return func(o parser.Observation) { k.seen[len(k.seen)-1] = append(k.seen[len(k.seen)-1], o) }
}

func (k *recorder) Done(r Read, whole bool) {
	if !whole {
		k.cut = append(k.cut, r.Name)
		return
	}
	k.read = append(k.read, r)
}

// pack writes a file with one log.
func pack(t testing.TB, name string, observations ...parser.Observation) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, "1.2")
	require.NoError(t, err)
	l := NewLog(w, name, "x.tar")
	for _, o := range observations {
		l.Add(o)
	}
	require.NoError(t, l.Close(Read{Counts: parser.Counts{Bytes: 10, Lines: 2, Truncated: 1}, Error: "cut short", Digest: "d"}))
	require.NoError(t, w.Close())
	return b.Bytes()
}

// decompress decompresses a file.
func decompress(t testing.TB, data []byte) string {
	t.Helper()
	d, err := zstd.NewReader(nil)
	require.NoError(t, err)
	defer d.Close()
	out, err := d.DecodeAll(data, nil)
	require.NoError(t, err)
	return string(out)
}

func unpack(t testing.TB, text string) (*recorder, error) {
	t.Helper()
	var k recorder
	return &k, ReadFrom(halves(text), 100, &k)
}

// halves returns a reader that returns the text in two pieces.
func halves(text string) io.Reader {
	return io.MultiReader(strings.NewReader(text[:len(text)/2]), strings.NewReader(text[len(text)/2:]))
}

// normalize makes observations comparable that are encoded the same way: times in one zone, empty fields as nil.
func normalize(o parser.Observation) parser.Observation {
	v := reflect.New(reflect.TypeOf(o)).Elem()
	v.Set(reflect.ValueOf(o))
	h := v.FieldByName("Header").Addr().Interface().(*envelope.Header)
	if h.Time.IsZero() {
		h.Time = time.Time{}
	}
	_, zone := h.Time.Zone()
	h.Time = h.Time.In(time.FixedZone("", zone))
	if f := v.FieldByName("Fields"); f.IsValid() && f.Len() == 0 {
		f.SetZero()
	}
	return v.Interface().(parser.Observation)
}

// TestFixturesSurviveARoundTrip compares what is read with what the parser emitted, for a fourth of the fixtures' logs, or
// all of them if OOMSCAN_TEST_ALL is set.
func TestFixturesSurviveARoundTrip(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../fixtures/cases/*/*/*")
	require.NoError(t, err)
	traces, every := 0, 4
	switch {
	case os.Getenv("OOMSCAN_TEST_ALL") != "":
		every = 1
	case testing.Short():
		every = 16
	}
	for i, path := range paths {
		if strings.HasSuffix(path, ".json") || i%every != 0 {
			continue
		}
		f, err := os.Open(path)
		require.NoError(t, err)
		var want []parser.Observation
		_, err = stream.Read(path, f, func(o parser.Observation) { want = append(want, o) })
		f.Close()
		if err != nil {
			continue // a folder
		}
		k, err := unpack(t, decompress(t, pack(t, path, want...)))
		require.NoError(t, err, path)
		require.Len(t, k.seen, 1)
		require.Len(t, k.seen[0], len(want))
		for n := range want {
			require.Equal(t, normalize(want[n]), normalize(k.seen[0][n]), "%s, observation %d", path, n)
			if e, ok := want[n].(parser.Event); ok && e.Trace != nil {
				traces++
			}
		}
		assert.Equal(t, []string{path}, k.names)
		assert.Equal(t, []string{"1.2"}, k.versions)
		assert.Equal(t, Read{Name: path, In: "x.tar", Counts: parser.Counts{Bytes: 10, Lines: 2, Truncated: 1}, Error: "cut short", Digest: k.read[0].Digest}, k.read[0])
	}
	assert.Positive(t, traces)
}

func TestOddValuesSurviveARoundTrip(t *testing.T) {
	t.Parallel()
	h := envelope.NewHeader()
	h.Time, h.Clock, h.Level = time.Date(0, 3, 4, 5, 6, 7, 8, time.FixedZone("", -3*3600-1)), "syslog", 'E'
	h.Rank, h.Task, h.PID, h.Stream, h.Host = 0, 7, 42, "p\xff|h\x00\x1b", "h\u2028<&>"
	cause := &traceback.Trace{Line: 1, EndLine: 4, Exception: "ValueError", Frames: []traceback.Frame{{File: "a.py", Line: 3, Func: "f", Code: "x = '\xf0\x28'"}}}
	trace := &traceback.Trace{
		Line: 5, Message: "m", Reversed: true, Cause: cause, Dropped: 2, Frames: []traceback.Frame{},
		Origin: &traceback.Origin{Actor: "W", Method: "m", PID: 1, IP: "::1", Repr: "r", Rank: -1},
	}
	want := []parser.Observation{
		parser.Event{At: parser.Position{Source: "n\n\xfe", Line: 1 << 40, Offset: 1 << 50, Passed: 1 << 30}, Header: h, Pattern: "p", Kind: parser.GPUOOM, Role: parser.Evidence, Fields: parser.Fields{"a": "\xff", "b": ""}, Text: "\ufdd0 \ufdd0ff \xc0", Trace: trace},
		parser.Event{At: parser.Position{Source: "n\n\xfe", Line: 2}, Header: h, Kind: parser.OOMKill, Role: parser.Detail, Phase: "init", Trace: cause},
		parser.Setting{At: parser.Position{Source: "n\n\xfe", Line: 3}, Header: envelope.NewHeader(), Key: "k", Value: "v\xff", Form: "repr"},
		parser.Marker{At: parser.Position{Source: "n\n\xfe", Line: 4}, Header: envelope.NewHeader(), Name: "step", Fields: parser.Fields{"step": "3"}, Text: "t"},
		parser.Gauge{At: parser.Position{Source: "n\n\xfe", Line: 5}, Header: h, Name: "g", Fields: parser.Fields{"free": "3"}},
	}
	text := decompress(t, pack(t, "n\n\xfe", want...))
	k, err := unpack(t, text)
	require.NoError(t, err)
	require.Len(t, k.seen[0], len(want))
	for i := range want {
		assert.Equal(t, normalize(want[i]), normalize(k.seen[0][i]))
	}
	assert.Equal(t, []string{"n\n\xfe"}, k.names)
	assert.Equal(t, 2, strings.Count(text, `{"traceback"`), "a traceback is written once, whoever names it")
	assert.Equal(t, 3, strings.Count(text, `"from"`), "a header is written when it changes")
	assert.Same(t, k.seen[0][0].(parser.Event).Trace.Cause, k.seen[0][1].(parser.Event).Trace)
}

func TestTheSameLogsHaveTheSameDigest(t *testing.T) {
	t.Parallel()
	digest := func(name, text string) string {
		k, err := unpack(t, decompress(t, pack(t, name, parser.Gauge{At: parser.Position{Line: 1}, Header: envelope.NewHeader(), Name: "g", Text: text})))
		require.NoError(t, err)
		return k.read[0].Digest
	}
	assert.Equal(t, digest("a", "x"), digest("b", "x"))
	assert.NotEqual(t, digest("a", "x"), digest("a", "y"))
}

func TestSecretsAreNotWritten(t *testing.T) {
	t.Parallel()
	key := "hf_" + strings.Repeat("aB3d", 9)
	h := envelope.NewHeader()
	h.Process, h.Stream = key, key
	text := decompress(t, pack(t, "logs/"+key, parser.Event{
		Header: h, Pattern: "p", Kind: parser.GPUOOM, Role: parser.Evidence, Text: "token " + key, Fields: parser.Fields{"cmd": "--api-key=" + key},
		Trace: &traceback.Trace{Message: key, Frames: []traceback.Frame{{File: "https://me:" + key + "@host/", Code: "login('" + key + "')"}}},
	}, parser.Setting{Header: h, Key: "k", Value: key}, parser.Marker{Header: h, Name: "m", Text: key}, parser.Gauge{Header: h, Name: "m", Text: key}))
	assert.NotContains(t, text, key)
	assert.Contains(t, text, "token ***")
}

func TestNoCodeOfATerminalIsWritten(t *testing.T) {
	t.Parallel()
	const codes = "\x1b\x7f\u0085\u009b\u202e\u2066\u200f\U000e0049"
	o := parser.Event{Pattern: "torch.oom", Kind: parser.GPUOOM, Role: parser.Evidence, Text: "a" + codes + "b ß 漢", Fields: parser.Fields{"a" + codes: codes}}
	text := decompress(t, pack(t, codes+".log", o))
	assert.False(t, strings.ContainsAny(text, codes), "%q", text)
	k, err := unpack(t, text)
	require.NoError(t, err)
	assert.Equal(t, []string{codes + ".log"}, k.names)
	back := k.seen[0][0].(parser.Event)
	assert.Equal(t, o.Text, back.Text)
	assert.Equal(t, o.Fields, back.Fields)
}

func TestLongTextsAndChainsAreCut(t *testing.T) {
	t.Parallel()
	h := envelope.NewHeader()
	h.Process = strings.Repeat("p", 1<<20)
	var trace *traceback.Trace
	for range 3 * maxChain {
		trace = &traceback.Trace{Message: strings.Repeat("\x01", maxText+1), Cause: trace}
	}
	k, err := unpack(t, decompress(t, pack(t, strings.Repeat("n", 1<<20),
		parser.Event{Header: h, Pattern: "p", Kind: parser.GPUOOM, Role: parser.Evidence, Text: strings.Repeat("ä", 1<<20), Trace: trace},
		parser.Setting{Header: h, Key: strings.Repeat("k", 1<<20), Value: strings.Repeat("v", 1<<20)})))
	require.NoError(t, err)
	assert.Len(t, k.names[0], maxInput)
	assert.Len(t, k.seen[0][0].(parser.Event).Text, maxText)
	assert.Len(t, k.seen[0][0].(parser.Event).Header.Process, maxName)
	n := 0
	for c := k.seen[0][0].(parser.Event).Trace; c != nil; c = c.Cause {
		n++
	}
	assert.Equal(t, maxChain, n)
}

// brokenWriter fails after some bytes.
type brokenWriter struct{ left int }

var errFull = errors.New("the disk is full")

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestCloseReturnsTheWritersError(t *testing.T) {
	t.Parallel()
	out := &brokenWriter{left: 100 << 10}
	l := NewLog(out, "n", "")
	for range 10_000 {
		l.Add(parser.Gauge{Header: envelope.NewHeader(), Name: "g", Text: "text"})
	}
	assert.ErrorIs(t, l.Close(Read{}), errFull)
}

func TestErrorsNameTheirLine(t *testing.T) {
	t.Parallel()
	const (
		begin = `{"schema":"oomscan.observations/v1","version":"1"}` + "\n"
		log   = begin + `{"input":"a.log"}` + "\n"
		read  = `{"read":{"bytes":1,"lines":1,"truncated_lines":0}}` + "\n"
		from  = `"from":{}`
	)
	for name, x := range map[string]struct{ text, want string }{
		"nothing":                   {"", "line 1: holds no observations of oomscan"},
		"a log":                     {"step 1\n", "line 1: holds no observations of oomscan"},
		"a log without newline":     {"step 1", "line 1: holds no observations of oomscan"},
		"a report":                  {`{"schema":"oomscan.report/v1"}` + "\n", "line 1: holds no observations of oomscan"},
		"a newer version":           {`{"schema":"oomscan.observations/v2","version":"9.9","new":[1]}` + "\n", `line 1: written by a newer oomscan: schema "oomscan.observations/v2", of version "9.9"; this one reads oomscan.observations/v1`},
		"only the first line":       {begin, "line 1: cut short"},
		"the last line is missing":  {log + read, "line 3: cut short"},
		"it ends in a line":         {log + `{"eve`, "line 3: cut short"},
		"it ends in a log":          {log, "line 2: cut short"},
		"no JSON":                   {log + "step 1\n", "line 3: not a JSON object"},
		"a wrong kind of value":     {log + `{"marker":"a","line":"x"}` + "\n", `line 3: wrong value of key "line": string`},
		"an unknown key":            {log + `{"marker":"a","colour":"x",` + from + "}\n", `line 3: unknown key "colour"`},
		"an unknown key inside":     {log + `{"marker":"a","from":{"colour":"x"}}` + "\n", `line 3: unknown key "colour"`},
		"two objects":               {log + `{"marker":"a",` + from + "} {}\n", "line 3: text after the JSON object"},
		"nothing that it is":        {log + "{}\n", "line 3: unknown type of line"},
		"two things at once":        {log + `{"marker":"a","gauge":"b",` + from + "}\n", "line 3: unknown type of line"},
		"no writer":                 {log + `{"marker":"a"}` + "\n", "line 3: the first observation of a log has no writer"},
		"no log":                    {begin + `{"marker":"a",` + from + "}\n", "line 2: no log has begun"},
		"a log in a log":            {log + `{"input":"b.log"}` + "\n", "line 3: a log begins inside another one"},
		"another file in a log":     {log + begin, "line 3: cut short"},
		"an unknown kind":           {log + `{"event":"a","kind":"cold","role":"evidence",` + from + "}\n", `line 3: unknown kind "cold" or role "evidence"`},
		"an unknown role":           {log + `{"event":"a","kind":"gpu_oom","role":"hero",` + from + "}\n", `line 3: unknown kind "gpu_oom" or role "hero"`},
		"a negative line":           {log + `{"marker":"a","line":-1,` + from + "}\n", "line 3: the number -1 is out of range"},
		"a line beyond all":         {log + `{"marker":"a","line":9007199254740993,` + from + "}\n", "line 3: the number 9007199254740993 is out of range"},
		"a negative offset":         {log + `{"marker":"a","offset":-1,` + from + "}\n", "line 3: the number -1 is out of range"},
		"no time":                   {log + `{"marker":"a","from":{"time":[1,-1,0]}}` + "\n", "line 3: [1 -1 0] is not a time"},
		"a year of no calendar":     {log + `{"marker":"a","from":{"time":[253402300800,0,0]}}` + "\n", "line 3: [253402300800 0 0] is not a time"},
		"no level":                  {log + `{"marker":"a","from":{"level":"X"}}` + "\n", `line 3: "X" is not a level`},
		"no such traceback":         {log + `{"event":"a","kind":"gpu_oom","role":"evidence","trace":1,` + from + "}\n", "line 3: no traceback 1"},
		"a traceback causes itself": {log + `{"traceback":{"cause":1}}` + "\n", "line 3: no traceback 1"},
		"many causes": {
			log + `{"traceback":{}}` + "\n" + chain(3*maxChain),
			"line 19: a traceback has more than 16 causes",
		},
		"an escape":           {log + `{"marker":"a` + escapeMark + `f",` + from + "}\n", "line 3: incomplete escaped byte"},
		"a long name":         {log + `{"marker":"` + strings.Repeat("a", maxName+1) + `",` + from + "}\n", "line 3: a text of 4097 bytes is longer than 4096"},
		"a long line":         {log + strings.Repeat("x", maxLine+1) + "\n", "line 3: longer than 8388608 bytes"},
		"a negative count":    {log + `{"read":{"bytes":-1,"lines":1,"truncated_lines":0}}` + "\n", "line 3: negative count"},
		"lines are missing":   {log + read + `{"end":{"lines":9}}` + "\n", "line 4: the file ends after 3 lines instead of 9"},
		"the end in a log":    {log + `{"end":{"lines":2}}` + "\n", "line 3: the file ends inside a log"},
		"something behind it": {log + read + `{"end":{"lines":3}}` + "\nmore\n", "line 5: text after the end of the observations"},
		"a newer one behind":  {log + read + `{"end":{"lines":3}}` + "\n" + `{"schema":"oomscan.observations/v7"}` + "\n", "line 5: written by a newer oomscan"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var k recorder
			err := ReadFrom(strings.NewReader(x.text), 100, &k)
			require.Error(t, err)
			assert.Contains(t, err.Error(), x.want)
			var e *Error
			require.ErrorAs(t, err, &e)
		})
	}
}

// chain returns n tracebacks, each caused by the one before.
func chain(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`{"traceback":{"cause":` + strconv.Itoa(1+i) + "}}\n")
	}
	return b.String()
}
