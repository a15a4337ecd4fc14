package envelope

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// says writes down what a header knows, as samples have it.
func says(h *Header) string {
	var out []string
	text := func(name, value string) {
		if value != "" {
			out = append(out, name+"="+value)
		}
	}
	number := func(name string, n, none int) {
		if n != none {
			out = append(out, fmt.Sprintf("%s=%d", name, n))
		}
	}
	if h.Clock != "" {
		text(h.Clock, h.Time.Format("2006-01-02T15:04:05.999999999"))
	}
	text("level", strings.Trim(string(rune(h.Level)), "\x00"))
	text("logger", h.Logger)
	text("host", h.Host)
	number("rank", h.Rank, Unknown)
	number("local", h.LocalRank, Unknown)
	number("task", h.Task, Unknown)
	number("TP", h.TP, Unknown)
	number("DP", h.DP, Unknown)
	number("PP", h.PP, Unknown)
	number("EP", h.EP, Unknown)
	number("device", h.Device, Unknown)
	number("pid", h.PID, 0)
	number("parent", h.Parent, 0)
	text("process", h.Process)
	if h.Actor != h.Process {
		text("actor", h.Actor)
	}
	number("repeats", h.Repeats, 0)
	if h.Partial {
		out = append(out, "partial")
	}
	text("stream", h.Stream)
	return strings.Join(out, "; ")
}

// formatsOf peels a line as [Peel] does and lists the formats of its prefixes.
func formatsOf(line string) (names []string) {
	p := peeler{h: NewHeader()}
	p.header = &p.h
	b := clean([]byte(line))
	for range maxDepth {
		f := p.one(b)
		if f == nil {
			break
		}
		names, b = append(names, f.name), p.b
	}
	return names
}

func TestEverySampleOfEveryFormat(t *testing.T) {
	t.Parallel()
	for _, f := range append(launchers[:len(launchers):len(launchers)], programs...) {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			assert.NotEmpty(t, f.match)
			checkSamples(t, f.match)
			for _, s := range f.match {
				assert.Contains(t, formatsOf(s.line), f.name, "%q", s.line)
			}
			for _, line := range f.noMatch {
				assert.NotContains(t, formatsOf(line), f.name, "%q", line)
			}
		})
	}
}

func TestFormatsHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, f := range append(launchers[:len(launchers):len(launchers)], programs...) {
		assert.False(t, seen[f.name], f.name)
		seen[f.name] = true
		assert.NotEmpty(t, f.writer, f.name)
	}
}

func TestRecordsArePeeled(t *testing.T) {
	t.Parallel()
	half := strings.Repeat("half", dockerPart/4)
	checkSamples(t, []sample{
		{`{"log":"  File \"x\"\n","stream":"stderr","time":"2025-06-01T10:00:00.1Z"}`, `  File "x"`, `iso=2025-06-01T10:00:00.1; stream=cstderr`},
		{`{"log":"half","stream":"stdout","time":"2025-06-01T10:00:00Z"}`, `half`, `iso=2025-06-01T10:00:00; stream=cstdout`},
		{`{"log":"` + half + `","stream":"stdout","time":"2025-06-01T10:00:00Z"}`, half, `iso=2025-06-01T10:00:00; partial; stream=cstdout`},
		{`{"time":"2025-06-01T10:00:00Z","stream":"stderr","logtag":"P","log":"half"}`, `half`, `iso=2025-06-01T10:00:00; partial; stream=cstderr`},
		{`{"time":"2025-06-01T10:00:00Z","stream":"stderr","logtag":"F","log":"` + half + `"}`, half, `iso=2025-06-01T10:00:00; stream=cstderr`},
		{`{"source":"stderr","log":"half","partial_message":"true","partial_id":"4f","partial_ordinal":"1","partial_last":"false"}`, `half`, `partial; stream=cstderr`},
		{`{"source":"stderr","log":"half","partial_message":"true","partial_id":"4f","partial_ordinal":"2","partial_last":"true"}`, `half`, `stream=cstderr`},
		{`{"time":"2025-06-01T10:00:00Z","stream":"stderr","logtag":"F","log":"{\"log\":\"text\\n\",\"stream\":\"stdout\"}"}`, `text`, `iso=2025-06-01T10:00:00; stream=cstderr|cstdout`},
		{`{"content":"text","labels":{"role":"worker"}}`, `text`, ``},
		{`{"contents":{"content":"text","_source_":"stderr"},"tags":{"k8s.pod.name":"p-0"},"time":1748772000}`, `text`, `iso=2025-06-01T10:00:00`},
		{`{"time":1748772000,"contents":[{"key":"content","value":"text"},{"key":"_source_","value":"stderr"}]}`, `text`, `iso=2025-06-01T10:00:00`},
		{`{"content":"text","role":"worker","time":1748772000}`, `text`, `iso=2025-06-01T10:00:00`},
		{`{"content":"text","role":"assistant","time":1748772000}`, `{"content":"text","role":"assistant","time":1748772000}`, ``},
		{`{"log":"half","partial_message":"true","partial_id":"4f","partial_ordinal":"1","partial_last":"false"}`, `half`, `partial`},
		{`{"message":"2025-06-01T10:00:00.5Z stderr F text","file":"/x"}`, `text`, `iso=2025-06-01T10:00:00.5; stream=cstderr`},
		{`{"data":{"datetime":1748772000000,"logContent":{"data":{"message":"text"},"id":"x","source":"n1","specversion":"1.0","time":"2025-06-01T10:00:00Z"}}}`, `text`, `iso=2025-06-01T10:00:00`},
		{`{"datetime":1748772000000,"logContent":{"data":{"message":"text"},"specversion":"1.0","time":"2025-06-01T10:00:00Z"}}`, `text`, `iso=2025-06-01T10:00:00`},
		{`{"message":{"source":"n1","message":"text","timestamp":"2025-06-01T10:00:00Z"},"index":"graylog_1"}`, `text`, `iso=2025-06-01T10:00:00`},
		{`{"time":"2025-06-01T10:00:00Z","category":"ContainerAppConsoleLogs","properties":{"Log":"text","Stream":"stderr"}}`, `text`, `iso=2025-06-01T10:00:00`},
		{`{"content":"text","labels":{"podName":"p-0"},"line_num":"1748772000000000000"}`, `text`, `iso=2025-06-01T10:00:00`},
		{`{"dt":"2025-06-01T10:00:00Z","message":"text"}`, `text`, `iso=2025-06-01T10:00:00`},
		{`{"Time":1748772000000,"Source":"10.1.2.3","LogJson":"{\"__CONTENT__\":\"text\"}"}`, `text`, `iso=2025-06-01T10:00:00`},
		{`{"metadata":[{"key":"timestamp","value":"2025-06-01T10:00:00Z"}],"user_data":"{\"message\":\"text\"}"}`, `text`, `iso=2025-06-01T10:00:00`},
		{`{"__time__":1748772000,"__source__":"10.1.2.3","content":"text"}`, `text`, `iso=2025-06-01T10:00:00`},
		{`{"labels":{"app":"train"},"line":"text","timestamp":"2025-06-01T10:00:00Z"}`, `text`, `iso=2025-06-01T10:00:00`},
		{`{"insertId":"1","severity":"ERROR","textPayload":"text","timestamp":"2025-06-01T10:00:00Z"}`, `text`, `iso=2025-06-01T10:00:00; level=E`},
		{`{"jsonPayload":{"message":"text"},"timestamp":"2025-06-01T10:00:00Z"}`, `text`, `iso=2025-06-01T10:00:00`},
		{`{"id":"AZ","attributes":{"timestamp":"2025-06-01T10:00:00Z","host":"gpu-7","message":"text"}}`, `text`, `iso=2025-06-01T10:00:00; host=gpu-7`},
		{`{"timeUnixNano":"1748772000000000000","body":{"stringValue":"text"}}`, `text`, `iso=2025-06-01T10:00:00`},
		{`{"preview":false,"result":{"_raw":"text","_time":"2025-06-01T10:00:00Z"}}`, `text`, `iso=2025-06-01T10:00:00`},
		{`{"_time":"2025-06-01T10:00:00Z","_stream":"{pod=\"p-0\"}","_msg":"(W pid=1) x","stream":"stderr"}`, `x`, `iso=2025-06-01T10:00:00; pid=1; process=W; stream=cstderr|pW 1 `},
		{`{"TimeStamp":"2025-06-01T10:00:00.12345","Log":"  text"}`, `  text`, `local=2025-06-01T10:00:00.12345`},
		{`{"_line":"text","_ts":1748772000000,"_host":"gpu-7"}`, `text`, `iso=2025-06-01T10:00:00`},
		{`{"@timestamp":1748772000000,"@rawstring":"text"}`, `text`, `iso=2025-06-01T10:00:00`},
		{`{"__content__":"text","__time__":1748772000,"__path__":"/x"}`, `text`, `iso=2025-06-01T10:00:00`},
		{`{"timestamp":1748772000000,"message":"text","ingestionTime":1748772000001}`, `text`, `iso=2025-06-01T10:00:00`},
		{`{"_index":"x","_source":{"@timestamp":"2025-06-01T10:00:00Z","message":"text"}}`, `text`, `iso=2025-06-01T10:00:00`},
		{`time="2025-06-01T10:00:00Z" level=error msg="a \"b\"\tc" pod=x`, "a \"b\"\tc", `iso=2025-06-01T10:00:00; level=E`},
		{`{"event":"cmd_output","timestamp":1748772000,"output":"(W pid=1) x\n"}`, `x`, `iso=2025-06-01T10:00:00; pid=1; process=W; stream=pW 1 `},
		{`{"pos":7,"out":"(W pid=1) x\n","time":3}`, `x`, `pid=1; process=W; stream=pW 1 `},
		{`{"stream_name":"stderr","time":12.5,"data":"(W pid=1) x\n"}`, `x`, `pid=1; process=W; stream=cstderr|pW 1 `},
		{"\x1b[8mha:////4GmRr9yEcxWmz3==\x1b[0m(W pid=1) x", `x`, `pid=1; process=W; stream=pW 1 `},
		{`{"log":"\u001b[36m(W pid=1)\u001b[0m x\u2588\ud83d\ude80\n","stream":"stderr","time":"2025-06-01T10:00:00Z"}`, `x█🚀`, `iso=2025-06-01T10:00:00; pid=1; process=W; stream=cstderr|pW 1 `},
		{`{"t":"2025-06-01T10:00:00Z","lvl":"ERROR","rank":3,"host":"n7","msg":"gone","exc":"Traceback\n  x"}`, "gone\nTraceback\n  x", `iso=2025-06-01T10:00:00; level=E; host=n7; rank=3; stream=r3`},
		{`{"date":1748772000.25,"log":"text"}`, `text`, `iso=2025-06-01T10:00:00.25`},
		{`{"message":"gone","level":"error"}`, `gone`, `level=E`},
		{`{"log":"{\"message\":\"gone\",\"level\":\"error\"}\n","stream":"stderr","time":"2025-06-01T10:00:00Z"}`, `gone`, `iso=2025-06-01T10:00:00; level=E; stream=cstderr`},
		{`{"asctime":"2025-06-01 10:00:00,123","levelname":"ERROR","message":"gone"}`, `gone`, `local=2025-06-01T10:00:00.123; level=E`},
		{
			`{"asctime":"2025-06-01T10:00:00","levelname":"ERROR","rank":3,"process":88,"hostname":"node-7","message":"gone","exc_info":"Traceback\n  x"}`,
			"gone\nTraceback\n  x", `local=2025-06-01T10:00:00; level=E; host=node-7; rank=3; pid=88; stream=r3`,
		},
		{`{"level":"error","ts":1748772000.25,"msg":"gone","error":{"type":"E","message":"why","stack_trace":"where"}}`, "gone\nwhy\nwhere", `iso=2025-06-01T10:00:00.25; level=E`},
		{`{"__REALTIME_TIMESTAMP":"1748772000000000","MESSAGE":"gone"}`, `gone`, `iso=2025-06-01T10:00:00`},
		{`{"version":"1.1","host":"n7","short_message":"gone","timestamp":1748772000.25}`, `gone`, `iso=2025-06-01T10:00:00.25; host=n7`},
		{`{"event":"gone","level":"error","timestamp":"2025-06-01T10:00:00Z"}`, `gone`, `iso=2025-06-01T10:00:00; level=E`},
		{`{"TimeGenerated":"2025-06-01T10:00:00Z","LogSource":"stderr","LogMessage":"gone"}`, `gone`, `iso=2025-06-01T10:00:00`},
		{`{"text":"gone\nTraceback\n  x\n","record":{"elapsed":{"seconds":0.1},"message":"gone","time":{"repr":"x","timestamp":1748772000.25}}}`, "gone\nTraceback\n  x", `iso=2025-06-01T10:00:00.25`},
		{`{"logtag":"F","message":"gone","time":"Jun 1, 2025 @ 10:00:00.000"}`, `gone`, ``},
		{`{"name":"a","hostname":"n7","pid":88,"level":50,"msg":"gone"}`, `gone`, `host=n7; pid=88; stream=hn7 record 88`},
		{`{"name":"a","level":50,"msg":"gone"}`, `{"name":"a","level":50,"msg":"gone"}`, ``},
		{`{"timestamp":"2025-06-01T10:00:00Z","body":"gone\nfor good","resource":{"service.name":"x"}}`, "gone\nfor good", `iso=2025-06-01T10:00:00`},
		{`{"_id":"1","fields":{"message":["gone, \",\""],"@timestamp":["2025-06-01T10:00:00Z"]}}`, `gone, ","`, `iso=2025-06-01T10:00:00`},
		{`{"ts":1748772000.25,"payload":"gone\n"}`, `gone`, `iso=2025-06-01T10:00:00.25`},
		{`{"time":1748772000,"output":"a\nb"}`, `{"time":1748772000,"output":"a\nb"}`, ``},
		{`{"time":1748772000,"text":"a"}`, `{"time":1748772000,"text":"a"}`, ``},
		{`{"time":1748772000,"host":"n7","tool":"bash","output":"a"}`, `{"time":1748772000,"host":"n7","tool":"bash","output":"a"}`, ``},
		{`{"event":"step","loss":2.1}`, `{"event":"step","loss":2.1}`, ``},
		{`{"log":"","message":"gone","time":"2025-06-01T10:00:00Z"}`, `gone`, `iso=2025-06-01T10:00:00`},
		{`{"preview":false,"offset":0,"result":{"_raw":"gone","_time":"2025-06-01 10:00:00.000 CEST","host":"n7"}}`, `gone`, `host=n7`},
		{`{"log":{"message":"gone"},"time":"2025-06-01T10:00:00Z"}`, `gone`, `iso=2025-06-01T10:00:00`},
		{`{"specversion":"1.0","type":"log","data":{"message":"gone"}}`, `gone`, ``},
		{`{"proc":"train","pos":7,"out":"gone"}`, `gone`, ``},
		{`{"level":"error","msg":"command failed","rc":1,"stderr":"Traceback\n  x"}`, "command failed\nTraceback\n  x", `level=E`},
		{`{"level":"error","msg":"CUDA out of memory","stderr":"a warning"}`, "CUDA out of memory\na warning", `level=E`},
		{`{"level":"error","msg":"child output","stderr":"a warning","stdout":"it is gone"}`, "a warning\nit is gone", `level=E`},
		{`{"level":"error","msg":"E: gone (3)","stderr":"a warning"}`, "E: gone (3)\na warning", `level=E`},
		{`{"level":"info","msg":"child output","line":"  File \"x\""}`, `  File "x"`, `level=I`},
		{`{"level":"info","msg":"gone","line":"train.py:42"}`, `gone`, `level=I`},
		{`{"timestamp":"2025-06-01T10:00:00Z","body":"gone","attributes":{"exception.type":"E","exception.message":"why","exception.stacktrace":"Traceback\n  x","k":"v"}}`, "gone\nwhy\nTraceback\n  x", `iso=2025-06-01T10:00:00`},
		{`{"event":"gone","level":"error","exception":[{"exc_type":"E","exc_value":"why","frames":[]}]}`, "gone\nE: why", `level=E`},
		{`time=2025-06-01T10:00:00Z level=INFO msg=output line="  File \"x\""`, `  File "x"`, `iso=2025-06-01T10:00:00; level=I`},
		{`time="2025-06-01T10:00:00Z" level=error msg="[rank3]: gone"`, `gone`, `iso=2025-06-01T10:00:00; level=E; rank=3; stream=r3`},
	})
}

func TestARankInTheTextIsReadAndStays(t *testing.T) {
	t.Parallel()
	checkSamples(t, []sample{
		{`[rank-0]: Saving model to /x`, `[rank-0]: Saving model to /x`, `rank=0`},
		{`[rank 3/8] torch`, `[rank 3/8] torch`, `rank=3`},
		{`2025-06-01 10:00:00 ERROR x.trainer [rank 2/4] text`, `x.trainer [rank 2/4] text`, `local=2025-06-01T10:00:00; level=E; rank=2`},
		{`2025-06-01 10:00:00 ERROR peer [rank 2] is gone`, `peer [rank 2] is gone`, `local=2025-06-01T10:00:00; level=E`},
	})
}

func checkSamples(t *testing.T, samples []sample) {
	t.Helper()
	for _, s := range samples {
		body, h := Peel([]byte(s.line))
		assert.Equal(t, s.body, string(body), "%q", s.line)
		assert.Equal(t, s.says, says(&h), "%q", s.line)
	}
}

func TestLaterSegmentsInheritLabels(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ outer, segment, says string }{
		"no label of its own": {
			"3: (MegatronPolicyWorker[rank=9] pid=1, ip=10.0.0.1) x", "Training:  1%",
			"host=10.0.0.1; rank=9; task=3; pid=1; process=MegatronPolicyWorker; stream=t3|pMegatronPolicyWorker[rank=9] 1 10.0.0.1",
		},
		"a further label":      {"(W pid=1) x", "[rank3]: y", "rank=3; pid=1; process=W; stream=pW 1 |r3"},
		"another writer":       {"3: (W pid=1, ip=10.0.0.1) [rank0]: x", "(V pid=2) y", "task=3; pid=2; process=V; stream=t3|pV 2 "},
		"another rank":         {"(W pid=1) [rank0]: x", "[rank1]: y", "rank=1; pid=1; process=W; stream=pW 1 |r1"},
		"a time but no logger": {"2025-06-01 10:00:00,123 - mod - ERROR - x", "y", "local=2025-06-01T10:00:00.123"},
	} {
		_, outer := Peel([]byte(c.outer))
		_, h := new(Peeler).PeelInherit([]byte(c.segment), outer)
		assert.Equal(t, c.says, says(&h), name)

		behind := Line{First: NewHeader(), Begun: true, Lead: true} // what an unknown lead stands before
		new(Peeler).Next(&behind, []byte(c.outer))
		_, h = new(Peeler).Next(&behind, []byte(c.segment))
		assert.Equal(t, c.says, says(&h), "%s, behind a lead", name)
	}
}

func TestAHealthyLineTakesNoMemory(t *testing.T) {
	var w Peeler
	for _, f := range prefixes {
		for _, s := range f.match {
			_, h := w.Peel([]byte(s.line))
			if strings.ContainsAny(s.line, "{\x1b") || strings.Contains(s.line, "[0m") || strings.Contains(h.Stream, labelSep) {
				continue // something to decode, or two labels to join
			}
			line := []byte(s.line)
			assert.Zero(t, testing.AllocsPerRun(10, func() { w.Peel(line) }), "%q", line)
		}
	}
}

// TestWhatIsNotTriedWouldNotFit compares the quick ways to leave a template out with trying all of them.
func TestWhatIsNotTriedWouldNotFit(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	found := 0
	for _, f := range prefixes {
		for _, s := range f.match {
			for range 200 {
				line := clean([]byte(s.line))
				if i := rnd.IntN(len(line)); i > 0 {
					line = append(line[:i:i], line[min(len(line), i+rnd.IntN(3)):]...)
					line[rnd.IntN(min(len(line), 4))] = " [<(0aEJ"[rnd.IntN(8)]
				}
				var p, all peeler
				p.header, all.header, all.whole = &p.h, &all.h, line
				p.h, all.h = unknown, unknown
				got := p.one(line)
				i := slices.IndexFunc(prefixes, func(x *prefix) bool { return all.try(x.steps) })
				if i < 0 {
					assert.Nil(t, got, "%q", line)
					continue
				}
				found++
				if assert.NotNil(t, got, "%q", line) {
					assert.Equal(t, prefixes[i].name, got.name, "%q", line)
				}
			}
		}
	}
	assert.Greater(t, found, 1000)
}
