package source

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDecodersReturnLines(t *testing.T) {
	t.Parallel()
	first, second := "the quick brown fox jumps over the lazy dog and then tells everybody of it", "another line that goes on and on, far behind the end of a single row"
	hard := first[:61] + "\n" + first[61:] + "\n" + second[:61] + "\n" + second[61:] + "\nshort\n\n"
	for name, tc := range map[string]struct{ kept, lines string }{
		"one JSON string":      {`"a\n  b \"c\"\n\td\n\u0065\n"`, "\na\n  b \"c\"\n\td\ne\n\n"},
		"Python's bytes":       {`stderr: b'a\n"b" it\'s\n\xe2\x82\xac\nc\n'`, "stderr: b\na\n\"b\" it's\n€\nc\n\n"},
		"newlines by number":   {`"a\u000ab\u000ac\u000ad\u000a"`, "\na\nb\nc\nd\n\n"},
		"a job of Ray":         {`[JobDetails(status=<X.Y: 'Y'>, message='a\nb\nc\nd\ne', pid=None)]`, "[JobDetails(status=<X.Y: \nY\n>, message=\na\nb\nc\nd\ne\n, pid=None)]"},
		"SageMaker's answer":   {"{\n  \"Status\": \"Failed\",\n  \"FailureReason\": \"a\\nb\\nc\\nd\\ne\"\n}\n", filler + filler + "a\nb\nc\nd\ne\n"},
		"one record in a list": {`[{"message":"a\nb\nc\nd\n","type":"out"}]`, "[{\nmessage\n:\na\nb\nc\nd\n\n,\ntype\n:\nout\n}]"},
		"a list of strings":    {`["INFO start", "  a \"b\"", "c"]`, "INFO start\n  a \"b\"\nc\n"},
		"a list":               {"[\n {\n  \"message\": \"a [1, {\",\n  \"timestamp\": 1\n },\n {\"message\":\"b\"}\n]\n", "[\n{\"message\":\"a [1, {\",\"timestamp\":1}\n{\"message\":\"b\"}\n]"},
		"OpenTelemetry's batches": {
			`{"resourceLogs":[{"resource":{"attributes":[{"key":"k"}]},"scopeLogs":[{"logRecords":[{"timeUnixNano":"1","body":{"stringValue":"a"}},{"body":{"stringValue":"b"}}]}]}]}` + "\n",
			"{\"timeUnixNano\":\"1\",\"body\":{\"stringValue\":\"a\"}}\n{\"body\":{\"stringValue\":\"b\"}}\n",
		},
		"OpenTelemetry's batches with blanks": {
			`{ "resourceLogs": [{"scopeLogs": [{"logRecords": [{"timeUnixNano": "1", "body": {"stringValue": "a"}}, {"body": {"stringValue": "b c"}}]}]}]}` + "\n",
			"{\"timeUnixNano\":\"1\",\"body\":{\"stringValue\":\"a\"}}\n{\"body\":{\"stringValue\":\"b c\"}}\n",
		},
		"CloudWatch's batches": {
			`{"messageType":"DATA_MESSAGE","logEvents":[{"id":"1","timestamp":1,"message":"a"},{"id":"2","timestamp":1,"message":"b"}]}` + "\n" + `{"messageType":"DATA_MESSAGE","logEvents":[{"id":"3","timestamp":1,"message":"c"}]}` + "\n",
			"{\"id\":\"1\",\"timestamp\":1,\"message\":\"a\"}\n{\"id\":\"2\",\"timestamp\":1,\"message\":\"b\"}\n{\"id\":\"3\",\"timestamp\":1,\"message\":\"c\"}\n",
		},
		"a list in a list":     {`{"events":[{"timestamp":1,"message":"a","tags":[{"k":1},2]},{"message":"b"}]}`, "{\"events\":[]}\n{\"timestamp\":1,\"message\":\"a\",\"tags\":[{\"k\":1},2]}\n{\"message\":\"b\"}\n]}"},
		"a list that is deep":  {"{\n\"data\": {\"fields\": [\"[\"],\n\"results\": [\n{\"content\": \"a\",\n\"line_num\": \"1756389740731000\"}\n]}}", "{\"data\":{\"fields\":[\"[\"],\"results\":[]}}\n{\"content\":\"a\",\"line_num\":\"1756389740731000\"}\n]}}"},
		"a list of SLS":        {"{\n\"Logs\": [\n{\"__content__\": \"a\",\n\"__time__\": 1756389740}\n]}", "{\"Logs\":[]}\n{\"__content__\":\"a\",\"__time__\":1756389740}\n]}"},
		"a table":              {"Date,Host,Message\n2026-03-01,n1,\"a \"\"b\"\", c\nd\"\r\n", "\n{\"host\":\"n1\",\"logtag\":\"F\",\"message\":\"a \\\"b\\\", c\\nd\",\"time\":\"2026-03-01\"}\n"},
		"columns for one text": {"timestamp,jsonPayload.message,textPayload\n2026-03-01,a,\n2026-03-01,,b\n", "\n{\"logtag\":\"F\",\"message\":\"a\",\"time\":\"2026-03-01\"}\n{\"logtag\":\"F\",\"message\":\"b\",\"time\":\"2026-03-01\"}\n"},
		"semicolons":           {"time;message\n2026-03-01;\"a; b, c\"\n", "\n{\"logtag\":\"F\",\"message\":\"a; b, c\",\"time\":\"2026-03-01\"}\n"},
		"a notebook": {
			"{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"text\": [\n    \"a \\\"b\\\"\\n\",\n    \"c\"\n   ],\n   \"traceback\": [\n    \"d\\ne\"\n   ]}]}\n",
			"{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"text\": [\na \"b\"\nc\n   ],\n   \"traceback\": [\nd\re\n   ]}]}\n",
		},
		"a notebook with a text": {
			"{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"source\": [\n    \"x\"\n   ],\n   \"text\": \"a\\nb\\nc\\nd\\ne\\nf\\ng\\nh\\ni\\n\"\n  }]}\n",
			strings.Repeat(filler, 7) + "a\nb\nc\nd\ne\nf\ng\nh\ni\n",
		},
		"a notebook in one line": {
			"{\"cells\": [{\"cell_type\": \"code\", \"outputs\": [{\"name\": \"stderr\", \"text\": [\"a \\\"b\\\"\\n\", \"c\"]}, {\"traceback\": [\"d\\ne\"]}], \"source\": [\"text\", \"print(1)\"]}]}\n",
			"a \"b\"\nc\nd\ne\n",
		},
		"a document": {"{\n  \"id\": 7,\n  \"stderr\": \"a\\nb\\n\\nc\\nd\",\n  \"tags\": [\"stderr\", \"x\"]\n}\n", filler + filler + "a\nb\n\nc\nd\n"},
		"Loki's answer": {
			`{"status":"success","data":{"resultType":"streams","result":[{"stream":{"app":"x"},"values":[["1772355600000000000","a \"b\""],["1772355600000000001",""],["1772355600000000001","c"]]},{"stream":{"app":"y"},"values":[["1772355600000000002","d"]]}],"stats":{"x":[["1","2"]]}}}`,
			"1772355600000000000 a \"b\"\n1772355600000000001 \n1772355600000000001 c\n1772355600000000002 d\n",
		},
		"Ansible's task": {
			"TASK [run it's] ***\nfatal: [n1]: FAILED! => {\"rc\": 1, \"stderr\": \"a\\nb\", \"stderr_lines\": [\"a\", \"b\"]}\n\nok: [n1] => {\"stdout\": \"c\"}\n",
			"TASK [run it's] ***\nfatal: [n1]: FAILED! => {\na\nb\n\n\nok: [n1] => {\nc\n\n",
		},
		"Ansible's variable": {
			"ok: [n1] => {\n    \"out.stdout_lines\": [\n        \"a\",\n        \"b\"\n    ]\n}\n", "ok: [n1] => {\n" + filler + "a\nb\n" + filler + "\n",
		},
		"Ansible's task without its output as one text": {
			"fatal: [n1]: FAILED! => {\"stderr\": \"\", \"stderr_lines\": [], \"stdout_lines\": [\"a\", \"b\"]}\n", "fatal: [n1]: FAILED! => {\na\nb\n\n",
		},
		"a recorded terminal": {
			`{"version": 2, "width": 80, "height": 24}` + "\n" + `[0.1, "o", "a\r\nb "]` + "\n" + `[0.2, "i", "x"]` + "\n" + `[0.3, "o", "\u001b[1mc\r\n"]` + "\n", "a\r\nb \x1b[1mc\r\n",
		},
		"journalctl's export": {
			"__REALTIME_TIMESTAMP=1772355600000000\n_HOSTNAME=n1\nMESSAGE=  a \"b\"\n_PID=7\n\n_HOSTNAME=n1\nMESSAGE=c\n",
			`{"logtag":"F","message":"  a \"b\"","time":"1772355600000000"}` + "\n" + `{"logtag":"F","message":"c","time":"1772355600000000"}` + "\n",
		},
		"journalctl's export with bytes": {
			"__REALTIME_TIMESTAMP=1772355600000000\n_HOSTNAME=n1\nMESSAGE\n\x0a\x00\x00\x00\x00\x00\x00\x00\x1b[1m\n'a'\n\n\n_PID=7\n\n_HOSTNAME=n1\nMESSAGE='b' c\n",
			`{"logtag":"F","message":"\u001b[1m\n'a'","time":"1772355600000000"}` + "\n" + `{"logtag":"F","message":"'b' c","time":"1772355600000000"}` + "\n",
		},
		"OpenTelemetry's debug exporter": {
			strings.Repeat("LogRecord #0\nObservedTimestamp: 2026-03-01 09:00:00.1 +0000 UTC\nTimestamp: 1970-01-01 00:00:00 +0000 UTC\nBody: Str(a (b)\nc: \"d\"))\nAttributes:\n     -> x: Str(y)\nTrace ID: \nFlags: 0\n", 2),
			strings.Repeat(`{"logtag":"F","message":"a (b)\nc: \"d\")","time":"2026-03-01 09:00:00.1"}`+"\n", 2),
		},
		"gcloud's YAML": {
			"---\ninsertId: x\njsonPayload:\n  message: 'a: ''b''\n    c'\nlogName: l\n---\ninsertId: y\nreceiveTimestamp: '2026-03-01T09:00:00Z'\ntextPayload: |\n    d\n      e\n\ntimestamp: x\n---\ntextPayload: \"f\\tg\"\n",
			`{"logtag":"F","message":"a: 'b' c","time":""}` + "\n" + `{"logtag":"F","message":"d\n  e","time":"2026-03-01T09:00:00Z"}` + "\n" + `{"logtag":"F","message":"f\tg","time":"2026-03-01T09:00:00Z"}` + "\n",
		},
		"a query's rows": {
			`{"results": [[{"field": "@timestamp", "value": "2026"}, {"field": "@message", "value": "a"}, {"field": "@ptr", "value": "x"}], [{"field": "@message", "value": ""}], [{"field": "@message", "value": "b\n"}]]}`, "a\n\nb\n",
		},
		"a list of lines": {`{"job": "7", "logs": ["a", "b\r", "", "c"], "tags": ["x"], "stdout": ""}`, "a\nb\r\n\nc\n"},
		"PowerShell's record": {
			"a\npython.exe : b\nAt C:\\job\\run.ps1:3 char:1\n+ python train.py 2>&1 | tee log\n+ ~~~~~~~\n    + CategoryInfo          : NotSpecified: (b:String) [], RemoteException\n" +
				"    + FullyQualifiedErrorId : NativeCommandError\n \n+ c\n", "a\nb\n" + strings.Repeat(filler, 5) + " \n+ c\n",
		},
		"a mail":     {"a=3Db =\r\nc=E2=82=AC\r\nd=\ne=\nf =\ng\n", "a=b c€\r\n" + filler + "def g\n" + filler + filler + filler},
		"a web page": {strings.Repeat("a\u00a0\u00a0b\u00a0ü\n", 3), strings.Repeat("a  b ü\n", 3)},
		"an old editor's lines": {
			"one\rtwo\rthree\rfour\rfive\rsix\r\rseven\reight\r", "one\ntwo\nthree\nfour\nfive\nsix\n\nseven\neight\n",
		},
		"an old editor's lines with a bar": {
			"one\rtwo\rthree\rfour" + strings.Repeat("\r 50%|##  | 1/2 steps", 40) + "\rfive\rsix\rseven\r", "one\ntwo\nthree\nfour" + strings.Repeat("\n 50%|##  | 1/2 steps", 40) + "\nfive\nsix\nseven\n",
		},
		"a table with times": {
			"| @timestamp | @message |\n| --- | --- |\n| 2026-03-01 09:00:00.123 | a \\| b |\n| 2026-03-01 09:00:01.123 |  c | d |\n",
			filler + filler + "2026-03-01 09:00:00.123 a | b\n2026-03-01 09:00:01.123  c | d\n",
		},
		"a mail in base64": {
			"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\nYSBsaW5lIG9mIHNpeHR5LW9uZSBzaWducywgd2hpY2ggaXMgYnJva2VuIHdo\r\nZXJlIGl0IGZhbGxzCnRoZSBuZXh0IG9uZQo=\r\n--b--\r\n",
			"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\na line of sixty-one signs, which is broken where it falls\nthe next one\n--b--\r\n",
		},
		"an answer of Log Analytics":   {"{\"tables\":[{\"name\":\"x\",\"rows\":[[\"2026-03-01T09:00:00Z\",\"a\"],[\"2026-03-01T09:00:01Z\",\"b\"]]}]}", "2026-03-01T09:00:00Z a\n2026-03-01T09:00:01Z b\n"},
		"a note of Zeppelin":           {"{\n \"paragraphs\": [{\"results\": {\"msg\": [{\"type\": \"TEXT\", \"data\": \"a\\nb\\n\"}]}}]}\n", filler + "a\nb\n"},
		"lines with their numbers":     {"logs/a.log\n7: a\n8:   b\n9: \n10: c\n--\n15: d\n16: e\n", "logs/a.log\na\n  b\n\nc\n--\nd\ne\n"},
		"lines from the first on":      {"1: a\n2:   b\n3: c\n", "a\n  b\nc\n"},
		"grep's lines around a match":  {"1-a\n2-  b\n3:c\n4-\n5-d\n6-2026-03-01 e\n", "a\n  b\nc\n\nd\n2026-03-01 e\n"},
		"ends of lines that are shown": {"a$\n^Ib$\n$\nc^I$\nd$\ne$\n", "a\n\tb\n\nc\t\nd\ne\n"},
		"signs of cat -v":              {strings.Repeat("^[[1ma M-bM-^BM-,M-CM-$ M-CM-C^[[0m M-x\n", 6), strings.Repeat("\x1b[1ma €ä M-CM-C\x1b[0m M-x\n", 6)},
		"signs of cat -A":              {strings.Repeat("^IM-bM-^BM-,$\n", 6), strings.Repeat("\t€\n", 6)},
		"signs in broken rows": {
			strings.Repeat("^[[1mx"+strings.Repeat("ab ", 24)+"br\noken^[[0m\nloss\n", 3), strings.Repeat("\x1b[1mx"+strings.Repeat("ab ", 24)+"broken\x1b[0m\n"+filler+"loss\n", 3),
		},
		"Fluent Bit's records below its own lines": {
			"Fluent Bit v3\n[2026/03/01 09:00:00] [ info] a\n[0] kube.x: [[1772355600.1, {}], {\"stream\"=>\"o\", \"log\"=>\"b\"}]\n[1] kube.x: [1772355600.2, {\"log\"=>\"c\"}]\n",
			"Fluent Bit v3\n[2026/03/01 09:00:00] [ info] a\n{\"stream\":\"o\", \"log\":\"b\"}\n{\"log\":\"c\"}\n",
		},
		"a command's bytes below Airflow's own lines": {
			"*** Reading\n[2026-03-01 09:00:00,123] {bash_operator.py:115} INFO - Running\n[2026-03-01 09:00:00,123] {bash_operator.py:126} INFO - b'  a\\n'\n",
			"*** Reading\n[2026-03-01 09:00:00,123] {bash_operator.py:115} INFO - Running\n[2026-03-01 09:00:00,123] {bash_operator.py:126} INFO -   a\n",
		},
		"signs of less": {strings.Repeat("ESC[1m<E2><82><AC>ESC[0m <pad> <E2>\n", 6), strings.Repeat("\x1b[1m€\x1b[0m <pad> <E2>\n", 6)},
		"a page's table of lines": {
			strings.Repeat("<tr><td class=\"n\">1</td><td>  a &lt;b&gt;&nbsp;<span>c</span></td></tr>\n", 6), strings.Repeat("1\t  a <b> c\n", 6),
		},
		"a page's lines":      {"<html><body>\n" + strings.Repeat("a &amp; <b>b</b><br/>\n", 8), "<html><body>\n" + strings.Repeat("a & b\n", 8)},
		"an editor's escapes": {strings.Repeat("\\[rank0\\]: a\\_b \\<c\\> \\\\d\n", 6), strings.Repeat("[rank0]: a_b <c> \\\\d\n", 6)},
		"events of the AWS CLI": {
			strings.Repeat("EVENTS\t1772355600001\t  a\tb\t1772355600000\nEVENTS\t37123456789012345678\t1772355600001\ttrain/x\tc\t1772355600000\n", 3), strings.Repeat("1772355600000   a\tb\n1772355600000 c\n", 3),
		},
		"strings of JSON":          {strings.Repeat("\"a \\\"b\\\" C:\\\\new\\n\"\n", 6), strings.Repeat("a \"b\" C:\\new\n", 6)},
		"long strings of JSON":     {strings.Repeat("\""+strings.Repeat("a", 2000)+"\"\n", 5), strings.Repeat(strings.Repeat("a", 2000)+"\n", 5)},
		"a table of one column":    {"message\n" + strings.Repeat("\"a \"\"b\"\"\"\n", 6), "message\n" + strings.Repeat("a \"b\"\n", 6)},
		"Python's string":          {`'a\n  "b"\nit\'s\nd\n'`, "\na\n  \"b\"\nit's\nd\n\n"},
		"Python's list":            {`['INFO start', "  it's", 'a "b" \\', '', '\x41']`, "INFO start\n  it's\na \"b\" \\\n\nA\n"},
		"Python's list of ggml":    {`['a', 'llama_load: b']`, "a\nllama_load: b\n"},
		"Python's list of a page":  {`['a', '', 'b']`, "a\n\nb\n"},
		"a pretty list":            {"['INFO start\\n',\n '  a '\n 'b\\n',\n 'c']\n", "INFO start\n  a b\nc\n\n"},
		"a pod":                    {"{\n  \"kind\": \"Pod\",\n  \"message\": \"a\\nb\\nc\\nd\\n\"\n}\n", filler + filler + "a\nb\nc\nd\n"},
		"a pod in YAML":            {"  state:\n    terminated:\n      message: |\n        a\n          b\n\n        c\n      reason: Error\n", "  state:\n    terminated:\n      message: |\na\n  b\n\nc\n      reason: Error\n"},
		"a task in YAML":           {"fatal: [n1]: FAILED!\n  stderr: \"a\\n  b\\nc\"\n  rc: 1\n", "fatal: [n1]: FAILED!\na\n  b\nc\n  rc: 1\n"},
		"an issue":                 {`{"title":"x","body":"a\r\nb\r\nc\r\nd\r\n"}`, "{\ntitle\n:\nx\n,\nbody\n:\na\r\nb\r\nc\r\nd\r\n\n}"},
		"a word processor's lines": {"a\vb\r\vc\v\vd\v", "a\nb\r\nc\n\nd\n"},
		"tabs behind returns":      {"one\r\t50%|# |\r100%|##|\r\tthree\r\tfour\r\tfive\r\tsix\r\tseven\r\teight\r\tnine\r\n", "one\r\n50%|# |\r100%|##|\r\nthree\r\nfour\r\nfive\r\nsix\r\nseven\r\neight\r\nnine\r\n"},
		"returns before tabs":      {"one\rtwo\r\tthree: 3\r\tfour\r\tfive\r\tsix\rseven\reight\rnine\r", "one\ntwo\n\tthree: 3\n\tfour\n\tfive\n\tsix\nseven\neight\nnine\n"},
		"tabs between few lines":   {"step 1\t(raylet) a\t(raylet) b\t\t2026-03-01 c\n", "step 1\n(raylet) a\n(raylet) b\n\n2026-03-01 c\n"},
		"tabs of the AWS CLI":      {"step 1\tstep 2\tstep 3\tfour\tfive\tsix\t\tseven\teight\n", "step 1\nstep 2\nstep 3\nfour\nfive\nsix\n\nseven\neight\n"},
		"a flowed mail's columns": {
			strings.Repeat(strings.Repeat("a ", 37)+"\n  b\n"+strings.Repeat("a ", 38)+"\n  b\n"+strings.Repeat("a ", 39)+"\n  b\n", 3),
			strings.Repeat(strings.Repeat("a ", 37)+"  b\n"+filler+strings.Repeat("a ", 38)+"  b\n"+filler+strings.Repeat("a ", 39)+"  b\n"+filler, 3),
		},
		"a flowed mail of few rows": {
			"start of a long line that is wider than the rows behind it, as a path without blanks is\n  File \"/usr/lib/python3.10/dist-packages/torch/utils/_contextlib.py\", \nline 116, in f\n" +
				"RuntimeError: CUDA out of memory. Tried to allocate the many blocks of a \nsize of 8\nend\n",
			"start of a long line that is wider than the rows behind it, as a path without blanks is\n  File \"/usr/lib/python3.10/dist-packages/torch/utils/_contextlib.py\", line 116, in f\n" + filler +
				"RuntimeError: CUDA out of memory. Tried to allocate the many blocks of a size of 8\n" + filler + "end\n",
		},
		"a flowed mail of lines that end with a blank": {
			strings.Repeat("(Engine pid=1) [01:02:03 TP0] Decode, #running: 28, #token: 746720, usage: \n0.89, #queue: 0, \n(Engine pid=1) [01:02:04 TP0] Decode, #running: 9, #token: 7467, of them: \n0.8, #queue: 0, \n"+
				"(Engine pid=1) [01:02:05 TP0] Decode, #running: 92, #token: 13, mean usage: \n0.9, from the queue: 21 and more, which end at the width of a row: 212, \n", 3),
			strings.Repeat("(Engine pid=1) [01:02:03 TP0] Decode, #running: 28, #token: 746720, usage: 0.89, #queue: 0, \n"+filler+"(Engine pid=1) [01:02:04 TP0] Decode, #running: 9, #token: 7467, of them: 0.8, #queue: 0, \n"+filler+
				"(Engine pid=1) [01:02:05 TP0] Decode, #running: 92, #token: 13, mean usage: 0.9, from the queue: 21 and more, which end at the width of a row: 212, \n"+filler, 3),
		},
		"newest first": {
			"Lines:\n[2026-03-01 09:00:06] g\n[2026-03-01 09:00:05,2] f\n[2026-03-01 09:00:05,12] e\nmore of e\n[2026-03-01 09:00:04] d\n[2026-03-01 09:00:04] c\n[2026-03-01 09:00:03] b\n[2026-03-01 09:00:02] a\n[2026-03-01 09:00:01] start",
			"[2026-03-01 09:00:01] start\n[2026-03-01 09:00:02] a\n[2026-03-01 09:00:03] b\n[2026-03-01 09:00:04] c\n[2026-03-01 09:00:04] d\n[2026-03-01 09:00:05,12] e\nmore of e\n[2026-03-01 09:00:05,2] f\n[2026-03-01 09:00:06] g\nLines:\n",
		},
		"the newest of few lines first": {
			"2026-03-01 09:00:05 e\n2026-03-01 09:00:04 d\n2026-03-01 09:00:03 c\n2026-03-01 09:00:02 b\n2026-03-01 09:00:01 a\n",
			"2026-03-01 09:00:01 a\n2026-03-01 09:00:02 b\n2026-03-01 09:00:03 c\n2026-03-01 09:00:04 d\n2026-03-01 09:00:05 e\n",
		},
		"the newest record first": {
			"time,message\n" + "1772355607000,h\n1772355606000,g\n1772355605000,f\n1772355604000,e\n1772355603000,d\n1772355602000,c\n1772355601000,b\n",
			`{"logtag":"F","message":"b","time":"1772355601000"}` + "\n" + `{"logtag":"F","message":"c","time":"1772355602000"}` + "\n" + `{"logtag":"F","message":"d","time":"1772355603000"}` + "\n" + `{"logtag":"F","message":"e","time":"1772355604000"}` + "\n" +
				`{"logtag":"F","message":"f","time":"1772355605000"}` + "\n" + `{"logtag":"F","message":"g","time":"1772355606000"}` + "\n" + `{"logtag":"F","message":"h","time":"1772355607000"}` + "\n\n",
		},
		"Azure Monitor's table": {
			"\"TimeGenerated [UTC]\",ContainerName,LogMessage,LogSource\n\"3/1/2026, 9:00:01.000 AM\",t,\"say \"\"a\"\"\",stderr\n",
			"\n" + `{"logtag":"F","message":"say \"a\"","time":"3/1/2026, 9:00:01.000 AM"}` + "\n",
		},
		"rows": {hard, first + "\n" + filler + second + "\n" + filler + "short\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, chunk := range []int{1, 7, len(tc.kept)} {
				d := NewDecoder([]byte(tc.kept))
				require.NotNil(t, d)
				var got []byte
				for rest := tc.kept; rest != ""; {
					n := min(chunk, len(rest))
					got = d.Append(got, []byte(rest[:n]))
					rest = rest[n:]
				}
				assert.Equal(t, tc.lines, string(d.Close(got)), "in chunks of %d", chunk)
			}
		})
	}
}

func TestPlainLogsNeedNoDecoder(t *testing.T) {
	t.Parallel()
	for _, log := range []string{
		"0: a\n1: b\n2: c\n3: d\n4: e\n5: f\n6: g\n7: h\n", "3: a\n0: b\n1: c\n2: d\n4: e\n5: f\n6: g\n7: h\n", strings.Repeat("2026-03-01 a\n", 9), strings.Repeat("\"a\\nb\"\n", 9), strings.Repeat("\\[a\\] [b] c_d\n", 20), strings.Repeat("a $HOME$\nb\n", 9), strings.Repeat("\"a\",\"b\"\n", 9), strings.Repeat("2026-03-01 09:00:02 a\n2026-03-01 09:00:01 b\n", 9), "a\tb\tc\td\te\tf\tg\n",
		"", "\n", "text\n", "{\n  \"lr\": 1,\n  \"log\": true\n}\nstep 1\n", `{"log":"a\n","time":"x"}` + "\n" + `{"log":"b\n","time":"x"}` + "\n", "[rank0]: message, time\n",
		"step,loss,message\n1,2,x\n", strings.Repeat("\rLoading:  12%|#2 | 3/24", 20), "a URL?x=3D\nand y=\n", "MESSAGE=a\nMESSAGE=b\n", "message: a\nmessage: b\nid: 7\n", strings.Repeat(strings.Repeat("x", 79)+"\n", 50), strings.Repeat("| worker 1 is ready and goes on with what it was told to do by others |\n", 30),
		`{"input":"what went wrong?","output":"a\nb\nc\nd\ntorch.OutOfMemoryError: CUDA out of memory."}`,
		`{"logs":"a\nb\nc\nd\ne","prompt":"what went wrong?"}`, "{\n  \"stderr\": \"a\\nb\\nc\\nd\\ne\",\n  \"run_status\": \"Finished\"\n}\n", "{\n  \"question\": \"why?\",\n  \"output\": \"a\\nb\\nc\\nd\\ne\"\n}\n", `{"text":"a\nb\nc\nd\ne"}`, `["why is it killed?", "out of memory"]`,
		"['--a', 'INFO']\n2026-03-01 start\n", "[\"--a\", \"INFO\"]\n[2026-03-01] start\n", "{\n  \"output\": \"a\\nb\\nc\\nd\\ne\"\n}\nstart\n",
		`{"message":"a","time":"1","tags":[{"msg":"x"}]}` + "\n" + `{"message":"b","time":"1"}` + "\n", `{"time":"1","tags":[{"msg":"x"}],"message":"a"}` + "\n" + "Killed\n",
		`{"MESSAGE":"a","time":"x"}` + "\n", `{"log":"{\"__CURSOR\":\"x\",\"MESSAGE\":[27]}"}` + "\n", "__CURSOR, MESSAGE\n",
	} {
		assert.Nil(t, NewDecoder([]byte(log)), "%.60q", log)
	}
}

// sentence is a line of so many words.
func sentence(i, words int) string {
	all := strings.Fields("tried to allocate 14.96 GiB while the worker (rank 3, pid 4711) of node gpu-7 held 66.93 GiB in " +
		"use, so nothing of what had been asked for could be found, and everybody else waited for an answer until the end")
	var b strings.Builder
	for n := range words {
		b.WriteString(all[(i*7+n*5)%len(all)] + " ")
	}
	return strings.TrimSpace(b.String())
}

func cutAt(line string, width int) (rows []string) {
	for len(line) > width {
		rows, line = append(rows, line[:width]), line[width:]
	}
	return append(rows, line)
}

func betweenWords(line string, width int) (rows []string) {
	for len(line) > width {
		i := strings.LastIndexByte(line[:width+1], ' ')
		rows, line = append(rows, line[:i]), line[i+1:]
	}
	return append(rows, line)
}

func joined(kept string) []string {
	d := NewDecoder([]byte(kept))
	if d == nil {
		return strings.Split(strings.TrimSuffix(kept, "\n"), "\n")
	}
	text := string(d.Close(d.Append(nil, []byte(kept))))
	return strings.Split(strings.TrimSuffix(strings.NewReplacer(filler, "", "\x1b[0m", "").Replace(text), "\n"), "\n")
}

func TestBrokenLinesAreJoined(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("[worker %02d] %s.", i, sentence(i, 4+i*13%37)))
	}
	lines = append(lines, "Traceback (most recent call last):", `  File "/opt/train.py", line 8, in step`, "    x = f(y)", "ERROR the end", strings.Repeat("=", 60), "done")
	rows := func(breaks func(string, int) []string, width int, left, right string) string {
		var b strings.Builder
		for _, line := range lines {
			for _, row := range breaks(line, width) {
				if right != "" {
					row += strings.Repeat(" ", width-len(row))
				}
				b.WriteString(left + row + right + "\n")
			}
		}
		return b.String()
	}
	screen := func(form string) string {
		return rows(func(line string, width int) (cut []string) {
			for _, row := range cutAt(line, width) {
				cut = append(cut, fmt.Sprintf(form, strings.TrimRight(row, " ")))
			}
			return cut
		}, 80, "", "")
	}
	for name, kept := range map[string]string{
		"a screen without blanks at the ends of its rows": screen("%s"),
		"a screen with blanks at the ends of its rows":    screen("%-80s"),
		"a terminal of 80 columns":                        rows(cutAt, 80, "", ""),
		"colors that are shown by signs, 80 columns":      rows(func(line string, width int) []string { return cutAt("^[[0m"+line, width) }, 80, "", ""),
		"a terminal of 120 columns":                       rows(cutAt, 120, "", ""),
		"a terminal of 171 columns":                       rows(cutAt, 171, "", ""),
		"quoted, 80 columns":                              rows(cutAt, 80, "> ", ""),
		"mail":                                            rows(betweenWords, 72, "", ""),
		"quoted mail":                                     rows(betweenWords, 76, "> ", ""),
		"a flowed mail":                                   rows(flowed, 76, "", ""),
		"a box":                                           rows(betweenWords, 96, "│ ", " │"),
		"lines that were not broken":                      rows(cutAt, 1000, "", ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, lines, joined(kept))
		})
	}
}

// flowed breaks a line between words and keeps the blanks there.
func flowed(line string, width int) []string {
	return strings.Split(strings.Join(betweenWords(line, width), " \n"), "\n")
}

// TestRowsOfAFewLinesAreJoined: short logs that a mail broke, and where a row that begins like a line goes on with the one before, or not.
func TestRowsOfAFewLinesAreJoined(t *testing.T) {
	t.Parallel()
	for name, rows := range map[string]string{
		"a frame":               "  File \"/usr/lib/python3/dist-packages/torch/utils/_contextlib.py\",~line 116, in decorate_context\n    return func()",
		"a frame with its path": "    result = run(*args)\n  File~\"/usr/local/lib/python3.10/dist-packages/optimum/habana/transformers/generation/utils.py\",~line 1468, in generate",
		"the allocator's words": "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate~2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.00~GiB is free.",
		"a time behind at":      "RuntimeError: CUDA out of memory. Tried to allocate 512.00 MiB (GPU 0;~79.15 GiB total capacity)\nslurmstepd: error: *** JOB 660121 ON a100-03 CANCELLED AT~2025-07-01T09:12:40 DUE TO NODE FAILURE",
		"an exception's class":  "(WorkerDict pid=5310) torch.OutOfMemoryError: CUDA out of memory. Tried~to allocate 2.00 GiB.\n(EngineCore pid=20417) ERROR 06-02 14:32:19 [core.py:1365] RuntimeError:~CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:139",
		"a label alone":         "(WorkerDict pid=5310) torch.OutOfMemoryError: CUDA out of memory. Tried~to allocate 2.00 GiB.\n(WorkerDict pid=5310, ip=10.9.1.7)~ray.exceptions.ActorDiedError: it died\n(WorkerDict pid=5310, ip=10.9.1.7)\n(Critic pid=7) ready",
		"a bar and a ruler": "(WorkerDict pid=5310) torch.OutOfMemoryError: CUDA out of memory. Tried~to allocate 2.00 GiB.\nLoading checkpoint shards: 100%|██████████| 15/15 [00:07<00:00, 1.80it/s]\nException\n" +
			"==================================================================\n/opt/conda/lib/python3.11/site-packages/torch/nn/modules/module.py:1511: UserWarning\n" +
			"(MegatronTrainRayActor pid=5201) actor_num_gpus_per_node_of_all_nodes~......................... 8",
		"a rule of rich":  "(WorkerDict pid=5310) torch.OutOfMemoryError: CUDA out of memory. Tried~to allocate 2.00 GiB.\n " + strings.Repeat("─", 70) + "\nExecution logs:",
		"a script's line": "srun: Terminating StepId=660121.0 on a100-03\n/var/spool/slurmd/job660121/slurm_script: line 41: 31880 Killed\n(raylet) A worker died or was killed, as the node has run out~of memory.",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept := strings.Repeat("a word of it\n", 3) + strings.ReplaceAll(rows, "~", "\n") + "\n" + strings.Repeat("w", 50) + " and one more row of 72.\n"
			assert.Contains(t, strings.Join(joined(kept), "\n"), strings.ReplaceAll(rows, "~", " "))
		})
	}
}

// TestAMessageShowsWhereItsLineWasBroken: a log of short lines and one that oomscan knows, at widths that no program has.
func TestAMessageShowsWhereItsLineWasBroken(t *testing.T) {
	t.Parallel()
	const message = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.91 GiB. GPU 0 has a total capacity of 47.40 GiB of which 3.14 GiB is free. " +
		"Including non-PyTorch memory, this process has 44.25 GiB memory in use. Of the allocated memory 39.92 GiB is allocated by PyTorch, and 3.81 GiB is reserved by PyTorch but unallocated."
	folded := func(line string, width int) (rows []string) { // as fold -s does
		for len(line) > width {
			n := strings.LastIndex(line[:width], " ") + 1
			rows, line = append(rows, line[:n]), line[n:]
		}
		return append(rows, line)
	}
	for name, breaks := range map[string]func(string, int) []string{"anywhere": cutAt, "between words": betweenWords, "between words, with blanks": folded} {
		for width := 65; len(breaks(message, width)) > 2; width++ {
			for _, left := range []string{"", "> ", "> > "} {
				if name != "between words" && left != "" {
					continue // mail programs break between words
				}
				kept := left + "step 1 of 20\n" + left + strings.Join(breaks(message, width), "\n"+left) + "\n" + left + "done\n"
				assert.Contains(t, strings.Join(joined(kept), "\n"), message, "%s, %d columns, %q", name, width, left)
			}
		}
	}
}

// TestAMessageBelowABoxIsJoined: rich prints a traceback in a box as wide as its console, and breaks the message below it at that width. What
// others print may be wider.
func TestAMessageBelowABoxIsJoined(t *testing.T) {
	t.Parallel()
	const message = "OutOfMemoryError: CUDA out of memory. Tried to allocate 1.86 GiB. GPU 0 has a total capacity of 23.65 GiB of which 842.44 MiB is free. " +
		"Including non-PyTorch memory, this process has 22.81 GiB memory in use. Of the allocated memory 20.97 GiB is allocated by PyTorch, and 1.38 GiB is reserved by PyTorch but unallocated."
	for _, width := range []int{80, 100, 120} {
		border := func(left, title, right string) string {
			return left + strings.Repeat("─", 10) + title + strings.Repeat("─", width-12-len(title)) + right
		}
		box := []string{border("╭", " Traceback (most recent call last) ", "╮")}
		for _, row := range []string{"/opt/train.py:96 in main", "", "❱ 96 │ loss.backward()"} {
			box = append(box, "│ "+row+strings.Repeat(" ", width-4-utf8.RuneCountInString(row))+" │")
		}
		box = append(box, border("╰", "", "╯"))
		for name, above := range map[string]string{"narrow": "step 1 of 20", "full": strings.Repeat("w", width-2) + " x", "wider": strings.Repeat("w ", width/2) + "epoch 0"} {
			kept := strings.Join(slices.Concat([]string{above}, box, betweenWords(message, width)), "\n") + "\ndone\n"
			assert.Equal(t, slices.Concat([]string{above}, box, []string{message, "done"}), joined(kept), "%d columns, below a row that is %s", width, name)
		}
	}
}

// TestLinesOfOneFormAreJoined: all of them break at the same few places.
func TestLinesOfOneFormAreJoined(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 20 {
		lines = append(lines, fmt.Sprintf("2026-03-01 09:00:%02d | INFO | trainer:setup:88 | [rank0] device=cuda:0 NVIDIA L40S 44.39 GiB pid=550%02d", i, i),
			fmt.Sprintf("2026-03-01 09:01:%02d | INFO | trainer:epoch:231 | [rank0] epoch 1 step %d/4210 loss=2.9 lr=2.000e-06 batch=%d6 frames=105502 memory=33", i, 20+i, i%7))
	}
	settings := "{'memory_used': 84, '" + strings.Repeat("x", 170) + "reserved': 78}"
	assert.Equal(t, []string{"start", settings, settings}, joined("start\n"+strings.Repeat(strings.Join(cutAt(settings, 200), "\n")+"\n", 2)))
	settings = "1 INFO lr.py: 'train/step': 1, '" + strings.Repeat("x", 87) + "': 9.8e-06"
	assert.Equal(t, []string{"start", settings, settings}, joined("start\n"+strings.Repeat(strings.Join(cutAt(settings, 120), "\n")+"\n", 2)))
	frames := []string{strings.Repeat("a ", 55) + `a", line 175, in init`, strings.Repeat("b ", 60) + "GPU", "end"}
	assert.Equal(t, frames, joined(strings.Join(append(cutAt(frames[0], 120), cutAt(frames[1], 120)...), "\n")+"\nend\n"), "the number of a line breaks, and a row ends with a blank")
	short := []string{
		"start", strings.Repeat("a ", 38) + "something of it", "INFO b", strings.Repeat("g ", 39) + "h", "Fatal Python error: Aborted", strings.Repeat("c ", 39) + "torch.OutOfMemoryError: d", strings.Repeat("e ", 39) + "fRuntimeError: g", strings.Repeat("i ", 37) + "jtorch.OutOfMemoryError: k",
		strings.Repeat("l", 46) + " ERROR 07-02 10:14:06 [core.py:5] Traceback (most recent call last):", "end",
	}
	var cut []string
	for _, line := range short {
		cut = append(cut, cutAt(line, 80)...)
	}
	assert.Equal(t, short, joined(strings.Join(cut, "\n")+"\n"), "few lines are longer than a row, and the name of a class breaks")
	for name, rows := range map[string]func(string) []string{
		"at a terminal's width": func(line string) []string { return cutAt(line, 120) },
		"in a quoted mail": func(line string) []string {
			return strings.Split("> "+strings.Join(betweenWords(line, 76), "\n> "), "\n")
		},
	} {
		var kept []string
		for _, line := range lines {
			kept = append(kept, rows(line)...)
		}
		assert.Equal(t, lines, joined(strings.Join(kept, "\n")+"\n"), name)
	}
	few, mail := slices.Repeat([]string{"short"}, 22), strings.Repeat("> short\n", 22)
	for i := range 12 {
		few = append(few, fmt.Sprintf("line %d", i)+strings.Repeat(fmt.Sprintf(" %c%d", 'A'+i, i), 30))
		mail += "> " + strings.Join(betweenWords(few[22+i], 76), "\n> ") + "\n"
	}
	assert.Equal(t, few, joined(mail), "a quoted mail, most lines of which are short")
}

// TestWholeLinesAreNotJoined: logs whose lines happen to end at one width.
func TestWholeLinesAreNotJoined(t *testing.T) {
	t.Parallel()
	repeat := func(n int, form func(i int) string) (lines []string) {
		for i := range n {
			lines = append(lines, strings.Split(form(i), "\n")...)
		}
		return lines
	}
	for name, lines := range map[string][]string{
		"steps of one length, each with a line below": repeat(40, func(i int) string {
			return fmt.Sprintf("step %05d loss 2.1234 lr 1.000e-05 grad norm 0.1234 tokens per second 12345.67 mfu 41.%d\n%02d:12:01 memory %05d", i, i%10, i%24, i)
		}),
		"a table of numbers": repeat(40, func(i int) string {
			return fmt.Sprintf("%-6d %s", i*i*7+1, strings.TrimSpace(strings.Repeat("12345  ", 12)))
		}),
		"nvidia-smi": repeat(9, func(i int) string {
			return fmt.Sprintf("|   %d  NVIDIA H800                    On  |   00000000:1B:00.0 Off |                    0 |\n"+
				"| N/A   22C    P0             67W /  700W |       0MiB /  81559MiB |      0%%      Default |\n"+
				"+-----------------------------------------+------------------------+----------------------+", i)
		}),
		"warnings of one length before other lines": repeat(12, func(i int) string {
			return "/venv/lib/python3.12/site-packages/torch/utils/data/_utils/pin_memory.py:57: warning\n" + sentence(i, 6)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, lines, joined(strings.Join(lines, "\n")+"\n"))
		})
	}
}

// FuzzDecoder holds what every decoder must: the chunks that it is fed do not matter, and joined rows and a journal's records keep the
// numbers of later lines.
func FuzzDecoder(f *testing.F) {
	f.Add("a\nb\n", 1)
	f.Add(strings.Repeat(strings.Join(cutAt(sentence(3, 40), 80), "\n")+"\n", 9), 7)
	f.Add("│ "+strings.Repeat("x", 90)+" │\n", 5)
	f.Add(strings.Repeat(strings.Join(console("INFO", allocatorMessage, "a.py:1", 80), "\n")+"\n", 3), 7)
	f.Add(strings.Join(hung(allocatorMessage, 80, 4), "\n")+"\n", 9)
	labelled := strings.Repeat("[rank3]: "+strings.Join(cutAt(sentence(3, 40), 80), "\n[rank3]: ")+"\n", 9)
	f.Add(labelled, 7)
	f.Add(labelled+"\n[rank4]: \nbare\n"+labelled[:len(labelled)-1], 11)
	f.Add(strings.ReplaceAll(labelled, "[rank3]: ", "2026-03-01T09:00:00.123456789Z "), 9)
	f.Add("date,host,message\n2026,n1,\"a\nb\"\n", 3)
	f.Add("\x1e{\"__CURSOR\":\"s=ab\",\"MESSAGE\":[27,91,109,97,10]}\n{\"MESSAGE\":[256,[27]}\n", 4)
	f.Add("{\n\t\"__REALTIME_TIMESTAMP\" : \"1\",\n\t\"MESSAGE\" : [\n\t\t27\n\t]\n}\n", 2)
	f.Fuzz(func(t *testing.T, kept string, chunk int) {
		whole := NewDecoder([]byte(kept))
		if whole == nil || len(kept) > 1<<16 {
			return
		}
		want := string(whole.Close(whole.Append(nil, []byte(kept))))
		d, got := NewDecoder([]byte(kept)), []byte(nil)
		for rest := kept; rest != ""; {
			n := min(max(chunk, 1), len(rest))
			got = d.Append(got, []byte(rest[:n]))
			rest = rest[n:]
		}
		assert.Equal(t, want, string(d.Close(got)))
		_, wrapped := d.(*unwrapper)
		_, labelled := d.(*labelledUnwrapper)
		_, byRow := d.(*rowReader)
		if wrapped || labelled || byRow && isJournal([]byte(kept[:min(len(kept), sniffLen)])) {
			assert.Equal(t, strings.Count(strings.TrimSuffix(kept, "\n"), "\n"), strings.Count(strings.TrimSuffix(want, "\n"), "\n"))
		}
	})
}
