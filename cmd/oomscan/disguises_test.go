package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"mime/quotedprintable"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// disguise is a way in which a log may be kept.
type disguise struct {
	name string
	wrap func(log []byte) []byte
	// rank is what a prefix says of the rank of its process, known what is known of it once the process is, where the log itself does not tell.
	rank, known string
	// destroys says which text is lost.
	destroys string
}

var disguises = []disguise{
	{name: "bare", wrap: bare},
	// Records.
	{name: "docker", wrap: lines(func(i int, line string) string {
		return fmt.Sprintf(`{"log":%s,"stream":"stderr","time":"%s"}`, quoted(line+"\n"), collected.Add(time.Duration(i)*time.Millisecond).Format(time.RFC3339Nano))
	})},
	{name: "fluent-bit", wrap: records(`{"time":"%t","stream":"stderr","logtag":"F","log":%s}`)},
	{name: "fluent-bit parts", wrap: pieces(180, func(piece string, last bool) string {
		return fmt.Sprintf(`{"time":"2026-03-01T09:00:00.1Z","stream":"stderr","logtag":"%s","log":%s}`, map[bool]string{true: "F", false: "P"}[last], quoted(piece))
	})},
	{name: "CRI parts", wrap: pieces(180, func(piece string, last bool) string {
		return "2026-03-01T09:00:00.123456789Z stderr " + map[bool]string{true: "F ", false: "P "}[last] + piece
	})},
	{name: "docker's fluentd parts", wrap: pieces(180, func(piece string, last bool) string {
		form := `{"container_id":"4f2a","container_name":"/train","source":"stderr","log":%s}`
		if !last {
			form = `{"container_id":"4f2a","container_name":"/train","source":"stderr","log":%s,"partial_message":"true"}`
		}
		return fmt.Sprintf(form, quoted(piece))
	})},
	{name: "fluentd with kubernetes", wrap: records(`{"log":%s,"kubernetes":{"pod_name":"train-0","namespace_name":"ml","host":"gpu-7"},"@timestamp":"%t"}`)},
	{name: "SLS", wrap: records(`{"__time__":%e,"__source__":"10.1.2.3","_container_name_":"pytorch","content":%s}`)},
	{name: "PAI-DLC", wrap: records(`{"PodName":"dlc-worker-0","Time":"%t","content":%s}`)},
	{name: "Loki", wrap: records(`{"labels":{"app":"train","pod":"train-0"},"line":%s,"timestamp":"%t"}`)},
	{name: "Google textPayload", wrap: records(`{"insertId":"1a2b","labels":{"k8s-pod/app":"train"},"logName":"projects/p/logs/stderr","receiveTimestamp":"%t","resource":{"labels":{"pod_name":"train-0"},"type":"k8s_container"},"severity":"ERROR","textPayload":%s,"timestamp":"%t"}`)},
	{name: "Google jsonPayload", wrap: records(`{"insertId":"1a2b","jsonPayload":{"message":%s,"levelname":"ERROR"},"resource":{"type":"ml_job"},"timestamp":"%t"}`)},
	{name: "Datadog", wrap: records(`{"id":"AZ1","type":"log","attributes":{"timestamp":"%t","host":"gpu-7","service":"train","message":%s}}`)},
	{name: "OpenTelemetry", wrap: records(`{"timeUnixNano":"%n","observedTimeUnixNano":"%n","severityText":"ERROR","body":{"stringValue":%s}}`)},
	{name: "OpenTelemetry's batches", wrap: records(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"%n","body":{"stringValue":%s}}]}]}]}`)},
	{name: "Kubernetes with a logger", wrap: records(`%t stderr F {"message":%s,"level":"error"}`)},
	{name: "Splunk", wrap: records(`{"preview":false,"result":{"_raw":%s,"_time":"%t","host":"gpu-7","source":"/var/log/train.log"}}`)},
	{name: "CloudWatch", wrap: records(`{"timestamp":%m,"message":%s,"ingestionTime":%m}`)},
	{name: "Elasticsearch", wrap: records(`{"_index":"logs","_id":"x1","_source":{"@timestamp":"%t","message":%s,"agent":{"name":"fb"}}}`)},
	{name: "logger", wrap: records(`{"asctime":"%t","levelname":"INFO","message":%s}`)},
	{name: "pretty records in a list", wrap: list("[\n", "  {\n    \"insertId\": \"1a2b\",\n    \"severity\": \"ERROR\",\n    \"textPayload\": %s,\n    \"timestamp\": \"%t\"\n  }", ",\n", "\n]\n")},
	{name: "list of records", wrap: list("[", `{"timestamp":%m,"message":%s}`, ",\n", "]\n")},
	{name: "Fluent Bit's files", wrap: records(`kube.var.log.t0: [%e, {"time":"%t","stream":"stderr","log":%s}]`)},
	{name: "Fluent Bit's output", wrap: lines(func(i int, line string) string {
		return record(fmt.Sprintf(`[%d] kube.var.log: [[%%e, {}], {"log"=>%%s, "stream"=>"stderr"}]`, i%99), i, line)
	})},
	{name: "the text alone", wrap: records(`{"log": %s}`)},
	{name: "the content alone", wrap: records(`{"content": %s}`)},
	{name: "CLS", wrap: records(`{"__TIMESTAMP__":%m,"__SOURCE__":"10.0.0.1","__CONTENT__":%s}`)},
	{name: "Docker's Splunk driver", wrap: records(`{"time":%e,"host":"n3","event":{"line":%s,"source":"stderr","tag":"abc"}}`)},
	{name: "Sumo Logic", wrap: records(`{"map":{"_raw":%s,"_messagetime":"%m","_source":"x"}}`)},
	{name: "Coralogix", wrap: records(`{"timestamp":%m,"severity":"Error","text":%s,"applicationName":"a","subsystemName":"b"}`)},
	{name: "Airflow 1.10", wrap: lines(func(i int, line string) string {
		return record(`[%t] {bash_operator.py:126} INFO - b'`, i, "") + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(line) + "'"
	})},
	{name: "Papertrail's archive", wrap: records("%n\t%t\t%t\t9120033\tgpu-7\t10.4.2.11\tUser\tNotice\ttrain\t%l")},
	{name: "one JSON string", wrap: func(log []byte) []byte { return []byte(quoted(string(log)) + "\n") }},
	{name: "one JSON record", wrap: func(log []byte) []byte {
		return []byte(`{"job":"train-7","status":"FAILED","logs":` + quoted(string(log)) + "}\n")
	}},
	{name: "log in log", wrap: func(log []byte) []byte {
		return records(`{"time":"%t","stream":"stderr","logtag":"F","log":%s}`)(records(`{"log":%s,"time":"%t","stream":"stderr","logtag":"F"}`)(log))
	}},
	{name: "CSV", wrap: func(log []byte) []byte {
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		_ = w.Write([]string{"timestamp", "host", "message"})
		for i, line := range rowsOf(log) {
			_ = w.Write([]string{collected.Add(time.Duration(i) * time.Millisecond).Format(time.RFC3339Nano), "gpu-7", line})
		}
		w.Flush()
		return b.Bytes()
	}},
	{name: "logfmt", wrap: records(`time="%t" level=info msg=%s`)},
	{name: "HTML", wrap: escapedHTML},
	// Prefixes.
	{name: "grep's name", wrap: before("train.log:")},
	{name: "grep's path", wrap: before("logs/run-7/slurm-12.err:")},
	{name: "tail's name", wrap: before("train.log: ")},
	{name: "seconds", wrap: lines(func(i int, line string) string { return fmt.Sprintf("%d %s", collected.Unix()+int64(i/10), line) })},
	{name: "seconds with fraction", wrap: lines(func(i int, line string) string { return fmt.Sprintf("%d.%03d %s", collected.Unix(), i, line) })},
	{name: "milliseconds", wrap: lines(func(i int, line string) string { return fmt.Sprintf("%d %s", collected.UnixMilli()+int64(i), line) })},
	{name: "seconds in brackets", wrap: lines(func(i int, line string) string { return fmt.Sprintf("[%d.%03d] %s", collected.Unix(), i, line) })},
	{name: "bar", wrap: before("| ")},
	{name: "pm2", wrap: before("0|app  | ")},
	{name: "pm2, long name", wrap: before("12|train-grpo | ")},
	{name: "compose", wrap: before("trainer-1  | ")},
	{name: "indent 4", wrap: before("    ")},
	{name: "tab", wrap: before("\t")},
	{name: "indent 7", wrap: before("       ")},
	{name: "mail quote", wrap: before("> ")},
	{name: "mail quote of a quote", wrap: before("> > ")},
	{name: "mail quotes together", wrap: before(">> ")},
	{name: "mail quote without blank", wrap: before(">")},
	{name: "GitHub Actions", wrap: lines(func(i int, line string) string {
		return collected.Add(time.Duration(i)*time.Millisecond).Format("2006-01-02T15:04:05.0000000Z") + " " + line
	})},
	{name: "supervisor", wrap: lines(func(i int, line string) string {
		return collected.Add(time.Duration(i)*time.Millisecond).Format("2006-01-02 15:04:05,000") + " " + line
	})},
	{name: "a clock that is set back", wrap: setBack(stamped)},
	{name: "the program's clock is set back", wrap: setBack(func(line string, _ int, back time.Duration) string {
		return fullStamp.ReplaceAllStringFunc(line, func(at string) string {
			form := "2006-01-02" + at[10:11] + "15:04:05"
			was, err := time.Parse(form, at)
			if err != nil {
				return at
			}
			return was.Add(-back).Format(form)
		})
	})},
	{name: "lines of two zones", wrap: lines(func(i int, line string) string { return stamped(line, i, time.Duration(i%2)*2*time.Hour) })},
	// Holes.
	{name: "hole first", wrap: holes(20_000, 0)},
	{name: "holes at any place", wrap: holes(9000, 0.21, 0.43, 0.6, 0.8)},
	{name: "small holes", wrap: holes(1, 0.11, 0.23, 0.35, 0.47, 0.59, 0.71, 0.83, 0.91)},
	{name: "hole last", wrap: holes(20_000, 1)},
	{name: "hole larger than the text", wrap: holes(4<<20, 0.5)},
	// Widths.
	{name: "80 columns", wrap: pieces(80, func(piece string, _ bool) string { return piece })},
	{name: "120 columns", wrap: pieces(120, func(piece string, _ bool) string { return piece })},
	{name: "100 columns, between words", wrap: lines(func(_ int, line string) string { return strings.Join(atBlanks(line, 100), "\n") })},
	{name: "160 columns, between words", wrap: lines(func(_ int, line string) string { return strings.Join(atBlanks(line, 160), "\n") })},
	{name: "237 columns", wrap: pieces(237, func(piece string, _ bool) string { return piece })},
	{name: "a mail that was quoted twice", wrap: lines(func(_ int, line string) string { return "> > " + strings.Join(atBlanks(line, 74), "\n> > ") })},
	{name: "200 columns", wrap: pieces(200, func(piece string, _ bool) string { return piece })},
	{name: "box", wrap: func(log []byte) []byte {
		b := lines(func(_ int, line string) string {
			rows := inBox(line, 96)
			for i, row := range rows {
				rows[i] = "│ " + row + strings.Repeat(" ", 96-utf8.RuneCountInString(row)) + " │"
			}
			return strings.Join(rows, "\n")
		})(log)
		bar := strings.Repeat("─", 98)
		return slices.Concat([]byte("╭"+bar+"╮\n"), b, []byte("╰"+bar+"╯\n"))
	}},
	{name: "box that breaks words", wrap: pieces(76, func(piece string, _ bool) string {
		return "│ " + piece + strings.Repeat(" ", 76-utf8.RuneCountInString(piece)) + " │"
	})},
	{name: "narrow box that breaks words", wrap: pieces(56, func(piece string, _ bool) string {
		return "│ " + piece + strings.Repeat(" ", 56-utf8.RuneCountInString(piece)) + " │"
	})},
	{name: "quoted mail of 76 columns", wrap: lines(func(_ int, line string) string { return "> " + strings.Join(atBlanks(line, 76), "\n> ") })},
	{name: "rows of 80 columns behind kubectl's stamps", wrap: pieces(80, func(piece string, _ bool) string { return "2026-03-01T09:00:00.123456789Z " + piece })},
	{name: "rows of 120 columns behind compose's service", wrap: pieces(120, func(piece string, _ bool) string { return "trainer-1  | " + piece })},
	{name: "mail of 72 columns", wrap: lines(func(_ int, line string) string { return strings.Join(atBlanks(line, 72), "\n") })},
	// More records.
	{name: "containerd without tag", wrap: records(`{"time":"%t","stream":"stderr","log":%s}`)},
	{name: "Docker's own parts", wrap: pieces(16384, func(piece string, last bool) string {
		return fmt.Sprintf(`{"log":%s,"stream":"stderr","time":"2026-03-01T09:00:00.1Z"}`, quoted(piece+map[bool]string{true: "\n"}[last]))
	})},
	{name: "Vector", wrap: records(`{"file":"/var/log/train.log","host":"gpu-7","message":%s,"source_type":"file","timestamp":"%t"}`)},
	{name: "Filebeat", wrap: records(`{"@timestamp":"%t","@metadata":{"beat":"filebeat","version":"8.12.0"},"log":{"offset":0,"file":{"path":"/var/log/train.log"}},"message":%s,"input":{"type":"filestream"},"host":{"name":"gpu-7"}}`)},
	{name: "journal, JSON", wrap: records(`{"__REALTIME_TIMESTAMP":"%m000","_HOSTNAME":"gpu-7","SYSLOG_IDENTIFIER":"python","PRIORITY":"6","_TRANSPORT":"stdout","MESSAGE":%s}`)},
	{name: "journal, JSON with bytes", wrap: lines(func(i int, line string) string {
		text := strings.ReplaceAll(strings.Trim(fmt.Sprint([]byte("\x1b[36m"+line+"\x1b[0m")), "[]"), " ", ",")
		return fmt.Sprintf(`{"__CURSOR":"s=ab;i=%x","__REALTIME_TIMESTAMP":"%d","MESSAGE":[%s],"_HOSTNAME":"gpu-7"}`, i, collected.UnixMicro()+int64(i)*1000, text)
	})},
	{name: "GELF", wrap: records(`{"version":"1.1","host":"gpu-7","short_message":%s,"timestamp":%e,"level":6}`)},
	{name: "structlog", wrap: records(`{"event":%s,"level":"info","timestamp":"%t"}`)},
	{name: "Loguru", wrap: lines(func(_ int, line string) string {
		return fmt.Sprintf(`{"text":%s,"record":{"elapsed":{"repr":"0:00:00.1","seconds":0.1},"level":{"icon":"i","name":"INFO","no":20},"message":%s,"name":"__main__","time":{"repr":"2026-03-01 09:00:00.1+00:00","timestamp":1772355600.1}}}`, quoted(line+"\n"), quoted(line))
	})},
	{name: "Azure LogMessage", wrap: records(`{"TimeGenerated":"%t","Computer":"gpu-7","PodName":"train-0","LogSource":"stderr","LogMessage":%s}`)},
	{name: "Azure LogEntry", wrap: records(`{"TimeGenerated":"%t","Computer":"gpu-7","LogEntrySource":"stderr","LogEntry":%s}`)},
	{name: "ECS", wrap: records(`{"@timestamp":"%t","log.level":"INFO","message":%s,"ecs":{"version":"1.6.0"}}`)},
	{name: "escaped for HTML in JSON", wrap: func(log []byte) []byte {
		return lines(func(_ int, line string) string {
			b, _ := json.Marshal(line)
			return `{"stream":"stderr","log":` + string(b) + `}`
		})(log)
	}},
	{name: "Kibana's CSV", wrap: inside("\"@timestamp\",\"host\",message\n", lines(func(_ int, line string) string {
		return `"Mar 1, 2026 @ 09:00:00.000","gpu-7","` + strings.ReplaceAll(line, `"`, `""`) + `"`
	}), "")},
	// More prefixes.
	{name: "syslog 5424", wrap: before("<14>1 2026-03-01T09:00:00.000Z gpu-7 train 4242 - - ")},
	{name: "syslog 3164", wrap: before("Mar  1 09:00:00 gpu-7 train[4242]: ")},
	{name: "journalctl -o short-iso", wrap: before("2026-03-01T09:00:00+0000 gpu-7 python[4242]: ")},
	{name: "stern", wrap: before("train-0 pytorch ")},
	{name: "kubectl --prefix", wrap: before("[pod/train-0/pytorch] ")},
	{name: "kubectl --prefix --timestamps", wrap: before("[pod/train-0/pytorch] 2026-03-01T09:00:00.123456789Z ")},
	{name: "kubectl --timestamps", wrap: before("2026-03-01T09:00:00.123456789Z ")},
	{name: "CRI", wrap: before("2026-03-01T09:00:00.123456789Z stderr F ")},
	{name: "aws logs tail", wrap: before("2026-03-01T09:00:00.123000+00:00 train-job/algo-1-1772355600 ")},
	{name: "ts", wrap: before("Mar 01 09:00:00 ")},
	{name: "cat -n", wrap: lines(func(i int, line string) string { return fmt.Sprintf("%6d\t%s", i+1, line) })},
	{name: "grep -n of two files", wrap: lines(func(i int, line string) string { return fmt.Sprintf("train.log:%d:%s", i+1, line) })},
	{name: "GitLab CI", wrap: before("2026-03-01T09:00:00.123456Z 00O ")},
	{name: "Jenkins", wrap: before("[2026-03-01T09:00:00.123Z] ")},
	{name: "pdsh", wrap: before("gpu-7: ")},
	{name: "stderr", wrap: before("[stderr] ")},
	{name: "date", wrap: before("Sun Mar  1 09:00:00 UTC 2026 ")},
	{name: "TAI64N", wrap: before("@4000000069a3f6100db2f3ac ")},
	{name: "mpirun --timestamp-output", wrap: before("Sun Mar  1 09:00:00 2026<stderr>:")},
	{name: "a pipeline's annotation", wrap: before("2026-03-01T09:00:00.1234567Z ##[error]")},
	{name: "a box's edge", wrap: before(" │")},
	{name: "colors", wrap: lines(func(_ int, line string) string { return "\x1b[31m" + line + "\x1b[0m" })},
	{name: "true colors and erase", wrap: lines(func(_ int, line string) string { return "\x1b[38;2;200;30;30m" + line + "\x1b[0m\x1b[K" })},
	{name: "a notebook", wrap: notebook(func(v any) ([]byte, error) { return json.MarshalIndent(v, "", " ") })},
	{name: "a notebook in one line", wrap: notebook(json.Marshal)},
	{name: "a document with the output", wrap: func(log []byte) []byte {
		return []byte("{\n  \"job\": {\"id\": 7, \"state\": \"FAILED\"},\n  \"stderr\": " + quoted(string(log)) + "\n}\n")
	}},
	// Records over several lines, and documents.
	{name: "Loki's answer", wrap: list(`{"status":"success","data":{"resultType":"streams","result":[{"stream":{"app":"train"},"values":[`, `["%n",%s]`, ",", "]}]}}\n")},
	{name: "Ansible's task", wrap: func(log []byte) []byte {
		rows, _ := json.Marshal(rowsOf(log))
		return []byte("TASK [train] ***\nfatal: [gpu-7]: FAILED! => {\"changed\": true, \"rc\": 1, \"stderr\": " + quoted(string(log)) + ", \"stderr_lines\": " + string(rows) + "}\n")
	}},
	{name: "Ansible's variable", wrap: func(log []byte) []byte {
		rows, _ := json.MarshalIndent(map[string]any{"out.stdout_lines": rowsOf(log)}, "", "    ")
		return slices.Concat([]byte("TASK [debug] ***\nok: [gpu-7] => "), rows, []byte{'\n'})
	}},
	{name: "journal, verbose", wrap: records("Sun 2026-03-01 09:00:00 UTC [s=ab;i=1;b=12]\n    PRIORITY=6\n    _HOSTNAME=gpu-7\n    _PID=4711\n    MESSAGE=%l\n    _TRANSPORT=stdout")},
	{name: "journal, export", wrap: records("__CURSOR=s=ab\n__REALTIME_TIMESTAMP=%m000\n_HOSTNAME=gpu-7\n_PID=4711\nMESSAGE=%l\n_TRANSPORT=stdout\n")},
	{name: "journal, pretty", wrap: records("{\n\t\"__REALTIME_TIMESTAMP\" : \"%m000\",\n\t\"_HOSTNAME\" : \"gpu-7\",\n\t\"_PID\" : \"4711\",\n\t\"MESSAGE\" : %s\n}")},
	{name: "gcloud's YAML", wrap: records("---\ninsertId: 1a2b\nreceiveTimestamp: '%t'\nresource:\n  type: k8s_container\nseverity: ERROR\ntextPayload: %y\ntimestamp: '%t'")},
	{name: "asciinema", wrap: func(log []byte) []byte {
		b := []byte("{\"version\": 2, \"width\": 200, \"height\": 50}\n")
		for i, part := range cut(strings.ReplaceAll(string(log), "\n", "\r\n"), 700) {
			b = fmt.Appendf(b, "[%d.5, \"o\", %s]\n", i, quoted(part))
		}
		return b
	}},
	{name: "CloudWatch's query", wrap: list(`{"results":[`, `[{"field":"@timestamp","value":"%t"},{"field":"@message","value":%s},{"field":"@ptr","value":"CmEK"}]`, ",\n", "],\"status\":\"Complete\"}\n")},
	{name: "a list of lines", wrap: list("{\n  \"job\": \"train-7\",\n  \"logs\": [\n", "    %s", ",\n", "\n  ]\n}\n")},
	{name: "Tencent CLS", wrap: records(`{"Timestamp":"%t","Source":"10.1.2.3","Content":%s}`)},
	{name: "PowerShell's error record", wrap: func(log []byte) []byte {
		line, _, _ := strings.Cut(string(log), "\n") // the first one of the standard error
		record := "\nAt line:1 char:1\n+ python train.py 2>&1 | Tee-Object train.log\n+ ~~~~~~~~~~~~~~~~~~~~\n    + CategoryInfo          : NotSpecified: (" + line + ":String) [], RemoteException\n" +
			"    + FullyQualifiedErrorId : NativeCommandError\n "
		return slices.Concat([]byte("python.exe : "+line+record), log[len(line):])
	}},
	// Prefixes of a form that is not known.
	{name: "a pipeline's branch", wrap: before("[train-gpu] ")},
	{name: "Jenkins' clock", wrap: lines(func(i int, line string) string { return fmt.Sprintf("09:%02d:%02d  %s", i/600%60, i/10%60, line) })},
	{name: "a tab behind names", wrap: before("train\tRun tests\t2026-03-01T09:00:00.1234567Z ")},
	{name: "an agent's escapes", wrap: before("\x1b_bk;t=1772355600000\a")},
	{name: "stern -A", wrap: before("ml train-0 pytorch ")},
	{name: "compose, one container", wrap: before("trainer  | ")},
	{name: "swarm", wrap: before("train_worker.1.k3j9x2m1q8z7@gpu-7    | ")},
	{name: "pm2 --time", wrap: before("0|train  | 2026-03-01 09:00:00 +00:00: ")},
	{name: "pm2's file", wrap: before("2026-03-01T09:00:00: ")},
	{name: "Airflow", wrap: before("[2026-03-01T09:00:00.123+0000] {subprocess.py:106} INFO - ")},
	{name: "Airflow's pod", wrap: before("[2026-03-01, 09:00:00 UTC] {pod_manager.py:418} INFO - [base] ")},
	{name: "Dagster", wrap: before("2026-03-01 09:00:00 +0000 - dagster - INFO - train_job - 1a2b - 4242 - ")},
	{name: "Vertex AI", wrap: before("ERROR\t2026-03-01 09:00:00 +0000\tworkerpool0-0\t\t")},
	{name: "Spark", wrap: lines(func(i int, line string) string {
		return fmt.Sprintf("26/03/01 09:%02d:%02d INFO TaskRunner: %s", i/600%60, i/10%60, line)
	})},
	{name: "log4j with a long logger", wrap: lines(func(i int, line string) string {
		return fmt.Sprintf("2026-03-01 09:%02d:%02d.123  INFO 4711 --- [pool-1-thread-3] c.e.t.Runner                           : %s", i/600%60, i/10%60, line)
	})},
	{name: "Metaflow", wrap: before("2026-03-01 09:00:00.123 [12/start/34 (pid 4711)] ")},
	{name: "an arrow", wrap: before("→ ")},
	{name: "bat", wrap: lines(func(i int, line string) string { return fmt.Sprintf("%4d   │ %s", i+1, line) })},
	{name: "indented in a document", wrap: inside("The run died:\n\n", before("   "), "")},
	{name: "bytes of a child", wrap: lines(func(_ int, line string) string {
		return "b'" + pythons.Replace(line) + `\n'`
	})},
	{name: "Python's string", wrap: func(log []byte) []byte { return []byte("'" + pythons.Replace(string(log)) + "'\n") }},
	{name: "Python's list", wrap: func(log []byte) []byte {
		rows := rowsOf(log)
		for i, row := range rows {
			rows[i] = "'" + pythons.Replace(row) + "'"
		}
		return []byte("[" + strings.Join(rows, ", ") + "]\n")
	}},
	{name: "a pod", wrap: func(log []byte) []byte {
		return []byte("{\n  \"kind\": \"Pod\",\n  \"terminated\": {\n    \"exitCode\": 1,\n    \"message\": " + quoted(string(log)) + "\n  }\n}\n")
	}},
	{name: "a pod in YAML", wrap: func(log []byte) []byte {
		return []byte("  terminated:\n    exitCode: 1\n    message: |\n" + string(before("      ")(log)) + "    reason: Error\n")
	}},
	{name: "an issue", wrap: func(log []byte) []byte {
		return []byte(`{"id":1,"title":"died","body":` + quoted("My run:\r\n```\r\n"+strings.ReplaceAll(string(log), "\n", "\r\n")+"```\r\n") + `,"state":"open"}` + "\n")
	}},
	{name: "tabs between messages", wrap: func(log []byte) []byte { return []byte(strings.Join(rowsOf(log), "\t") + "\n") }},
	{name: "a word processor's lines", wrap: func(log []byte) []byte { return bytes.ReplaceAll(log, []byte{'\n'}, []byte{'\v'}) }},
	{name: "newest first", wrap: newestFirst(func(line string, i int) string { return stamped(line, i, 0) })},
	{name: "newest record first", wrap: newestFirst(func(line string, i int) string {
		return fmt.Sprintf(`{"host":"gpu-7","message":%s,"timestamp":"%s"}`, quoted(line), collected.Add(time.Duration(i)*time.Millisecond).Format(time.RFC3339Nano))
	})},
	{name: "rsyslog's escapes", wrap: lines(func(_ int, line string) string { return "#033[34m" + line + "#033[0m" })},
	{name: "stern's JSON", wrap: records(`{"message":%s,"nodeName":"gpu-7","namespace":"ml","podName":"train-0","containerName":"pytorch"}`)},
	{name: "bunyan", wrap: records(`{"name":"train","hostname":"gpu-7","pid":4711,"level":50,"msg":%s}`)},
	{name: "pino", wrap: records(`{"level":30,"time":%m,"pid":4711,"hostname":"gpu-7","msg":%s}`)},
	{name: "Serilog", wrap: records(`{"@t":"%t","@m":%s,"@l":"Information"}`)},
	// More collectors, launchers and terminals.
	{name: "kubectl --prefix in colors", wrap: before("\x1b[36m[pod/train-0/pytorch]\x1b[0m ")},
	{name: "stern in colors", wrap: before("\x1b[38;5;81mtrain-0\x1b[0m \x1b[38;5;38mpytorch\x1b[0m ")},
	{name: "compose in colors", wrap: before("\x1b[36mtrainer-1  |\x1b[0m ")},
	{name: "SageMaker's hosts", wrap: before("algo-1-k3j9x | ")},
	{name: "AWS Batch", wrap: before("2026-03-01T09:00:00.123000+00:00 train/default/0123456789abcdef0123456789abcdef ")},
	{name: "ts -s", wrap: lines(func(i int, line string) string { return fmt.Sprintf("00:%02d:%02d %s", i/600%60, i/10%60, line) })},
	{name: "ts -i with fractions", wrap: before("00:00:00.000412 ")},
	{name: "parallel --tag", wrap: before("train.yaml\t")},
	{name: "mpirun -output-proctable", wrap: before("[job1234,0]<stderr>: ")},
	{name: "mpirun -tag-output", wrap: before("[1,0]<stderr>:"), rank: "rank=0"},
	{name: "mpirun -tag-output of a task", wrap: before("[1,3]<stderr>:"), rank: "rank=3"},
	{name: "Ray", wrap: behindTask("(Runner pid=815) "), known: "rank=0"},
	{name: "Ray, with node", wrap: behindTask("(Runner pid=815, ip=10.0.0.7) "), known: "rank=0"},
	{name: "Ray twice", wrap: behindTask("(Driver pid=4711) (Runner pid=815) "), known: "rank=0"},
	{name: "hyperlinks", wrap: before("\x1b]8;;file:///work/train.py\x1b\\train.py\x1b]8;;\x1b\\ ")},
	{name: "a bar glued before", wrap: before("\rTraining:  12%|█▏        | 12/100 [00:31<03:48,  2.59s/it]\r")},
	{name: "backspaces", wrap: before("-\b\\\b|\b/\b \b")},
	{name: "tmux", wrap: lines(func(_ int, line string) string { return "\x1b[?2004l\r\x1b(B\x1b[m" + line + "\x1b[K\r" })},
	{name: "nbconvert", wrap: inside("```python\n!python train.py\n```\n\n", before("    "), "\n")},
	{name: "PowerShell's Tee-Object", wrap: func(log []byte) []byte {
		return append([]byte("\xff\xfe"), units(2, bytes.ReplaceAll(log, []byte("\n"), []byte("\r\n")))...)
	}},
	{name: "a byte order mark on every part", wrap: func(log []byte) []byte {
		rows := bytes.SplitAfter(log, []byte("\n"))
		at := len(rows) / 2
		return slices.Concat([]byte("\xef\xbb\xbf"), bytes.Join(rows[:at], nil), []byte("\xef\xbb\xbf"), bytes.Join(rows[at:], nil))
	}},
	// More records of collectors.
	{name: "iLogtail", wrap: records(`{"contents":{"content":%s,"_time_":"%t","_source_":"stderr"},"tags":{"k8s.pod.name":"train-0"},"time":%e}`)},
	{name: "a group of SLS", wrap: records(`{"time":%e,"contents":[{"key":"content","value":%s},{"key":"_source_","value":"stderr"}]}`)},
	{name: "the role of a replica among labels", wrap: records(`{"content":%s,"labels":{"role":"worker"},"time":"%t"}`)},
	{name: "the role of a replica", wrap: records(`{"content":%s,"role":"worker","time":"%t"}`)},
	{name: "Fluent Bit's list", wrap: list("[", `{"date":%e,"log":%s}`, ",", "]\n")},
	{name: "Fluent Bit's list on lines", wrap: list("[\n", `{"date":%e,"log":%s,"stream":"stderr"}`, ",\n", "\n]\n")},
	{name: "Fluent Bit's list of messages", wrap: each(20, list("[", `{"date":%e,"message":%s,"stream":"stderr"}`, ",", "]\n"))},
	{name: "CRI in a record", wrap: lines(func(_ int, line string) string {
		return `{"message":` + quoted("2026-03-01T09:00:00.123456789Z stderr F "+line) + `,"file":"/var/log/pods/train-0/0.log"}`
	})},
	{name: "halves of Docker's messages", wrap: halves(func(i int, piece string, last bool) string {
		return fmt.Sprintf(`{"log":%s,"partial_message":"true","partial_id":"x%d","partial_ordinal":"%d","partial_last":"%t"}`, quoted(piece), i, map[bool]int{false: 1, true: 2}[last], last)
	})},
	{name: "halves in the journal", wrap: halves(func(_ int, piece string, last bool) string {
		return fmt.Sprintf(`{"MESSAGE":%s,"CONTAINER_NAME":"train","__REALTIME_TIMESTAMP":"1772355600000000"%s}`, quoted(piece), map[bool]string{false: `,"CONTAINER_PARTIAL_MESSAGE":"true"`}[last])
	})},
	{name: "a list of strings", wrap: list("[\n", " %s", ",\n", "\n]\n")},
	// What tickets, notebooks and consoles make of a log.
	{name: "a flowed mail", wrap: lines(func(_ int, line string) string { return strings.Join(atBlanks(line, 76), " \n") })},
	{name: "base64", wrap: func(log []byte) []byte {
		rows := strings.Join(cut(base64.StdEncoding.EncodeToString(log), 76), "\r\n")
		return []byte("Subject: died\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n" + rows + "\r\n")
	}},
	{name: "Semaphore", wrap: records(`{"event":"cmd_output","timestamp":%m,"output":%s}`)},
	{name: "Kaggle", wrap: list("[", `{"stream_name":"stderr","time":12.345678,"data":%s}`, "\n,", "\n]\n")},
	{name: "Log Analytics", wrap: list("{\n  \"tables\": [\n    {\n      \"name\": \"PrimaryResult\",\n      \"columns\": [{\"name\": \"TimeGenerated\"}, {\"name\": \"Pod\"}, {\"name\": \"LogMessage\"}],\n      \"rows\": [\n", "        [\n          \"%t\",\n          \"train-0\",\n          %s\n        ]", ",\n", "\n      ]\n    }\n  ]\n}\n")},
	{name: "Zeppelin", wrap: func(log []byte) []byte {
		return []byte("{\n  \"paragraphs\": [\n    {\n      \"text\": \"run()\",\n      \"results\": {\n        \"code\": \"ERROR\",\n        \"msg\": [\n          {\n            \"type\": \"TEXT\",\n            \"data\": " +
			quoted(string(log)) + "\n          }\n        ]\n      }\n    }\n  ]\n}\n")
	}},
	{name: "Jenkins' concealed notes", wrap: before("\x1b[8mha:////4GmRr9yEcxWmz3Lm0Xx+AAAAlx+LCAAAAAAA/5b85aBtbiIQTGjNKU4P08vOT==\x1b[0m")},
	{name: "a table of Insights", wrap: inside("| @timestamp | @message |\n| --- | --- |\n", records("| 2026-03-01 09:00:00.123 | %l |"), "")},
	// What viewers, pages and editors make of every line.
	{name: "line numbers", wrap: lines(func(i int, line string) string { return fmt.Sprintf("%d: %s", i+1, line) })},
	{name: "grep -n of one file", wrap: lines(func(i int, line string) string { return fmt.Sprintf("%d:%s", i+1, line) })},
	{name: "ends of lines that are shown", wrap: lines(func(_ int, line string) string { return strings.ReplaceAll(line, "\t", "^I") + "$" })},
	{name: "a page's table", wrap: lines(func(i int, line string) string {
		return fmt.Sprintf(`<tr><td class="n">%d</td><td>%s</td></tr>`, i+1, html.EscapeString(line))
	})},
	{name: "a page's lines", wrap: lines(func(_ int, line string) string {
		return strings.ReplaceAll(html.EscapeString(line), "  ", "&nbsp; ") + "<br/>"
	})},
	{name: "an editor's escapes", wrap: lines(func(_ int, line string) string { return markdownSigns.ReplaceAllString(line, `\$0`) })},
	{name: "jq", wrap: lines(func(_ int, line string) string { return quoted(line) })},
	{name: "a spreadsheet's column", wrap: lines(func(_ int, line string) string {
		if strings.ContainsAny(line, "\"\t") {
			return `"` + strings.ReplaceAll(line, `"`, `""`) + `"`
		}
		return line
	})},
	// Texts.
	{name: "CR LF", wrap: lines(func(_ int, line string) string { return line + "\r" })},
	{name: "byte order mark", wrap: func(log []byte) []byte { return append([]byte("\xef\xbb\xbf"), log...) }},
	{name: "UTF-16", wrap: func(log []byte) []byte { return append([]byte("\xff\xfe"), units(2, log)...) }},
	{name: "Windows-1252", wrap: before("\x93caf\xe9\x94 ")},
	{name: "GBK", wrap: before("\xd1\xb5\xc1\xb7 ")},
	{name: "a line in Windows-1252", wrap: beforeFailure("Speicher l\xe4uft voll \x96 100\xa0%")},
	{name: "a line in GBK", wrap: beforeFailure("\xd1\xb5\xc1\xb7\xbf\xaa\xca\xbc\xa1\xa3")},
	{name: "padded", wrap: lines(func(_ int, line string) string { return line + strings.Repeat(" ", max(0, 200-len(line))) })},
	{name: "fenced", wrap: inside("My run died:\n\n```\n", bare, "```\n")},
	{name: "details", wrap: inside("<details><summary>log</summary>\n\n```shell\n", bare, "```\n\n</details>\n")},
	{name: "HTML, pre", wrap: inside("<html><body><pre>\n", escapedHTML, "</pre></body></html>\n")},
	{name: "quoted-printable", wrap: func(log []byte) []byte {
		b := bytes.NewBufferString("Subject: died\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n")
		w := quotedprintable.NewWriter(b)
		_, _ = w.Write(log)
		_ = w.Close()
		return b.Bytes()
	}},
	{name: "blanks at which no line is broken", wrap: func(log []byte) []byte { return bytes.ReplaceAll(log, []byte(" "), []byte("\u00a0")) }},
	{name: "carriage returns", wrap: func(log []byte) []byte {
		return bytes.ReplaceAll(bytes.ReplaceAll(log, []byte("\r\n"), []byte{'\n'}), []byte{'\n'}, []byte{'\r'})
	}},
	{name: "typescript", wrap: inside("Script started on 2026-03-01 09:00:00+00:00 [TERM=\"xterm\" TTY=\"/dev/pts/0\" COLUMNS=\"200\" LINES=\"50\"]\n", records("%l\r"), "\nScript done on 2026-03-01 09:30:00+00:00 [COMMAND_EXIT_CODE=\"1\"]\n")},
	// Collectors, pipelines and terminals of which a line, a record or a screen is more than one of those above.
	{name: "CloudWatch's batches", wrap: each(40, list(`{"messageType":"DATA_MESSAGE","owner":"418822670913","logGroup":"/aws/batch/job","logStream":"train","subscriptionFilters":["to-s3"],"logEvents":[`,
		`{"id":"3122","timestamp":%n,"message":%s}`, ",", "]}\n"))},
	{name: "OpenTelemetry's file exporter", wrap: each(40, list(`{"resourceLogs":[{"resource":{"attributes":[{"key":"host.name","value":{"stringValue":"gpu-7"}}]},"scopeLogs":[{"scope":{"name":"filelog"},"logRecords":[`,
		`{"timeUnixNano":"%n","observedTimeUnixNano":"%n","body":{"stringValue":%s},"attributes":[{"key":"log.file.name","value":{"stringValue":"train.log"}}],"traceId":"","spanId":""}`, ",", "]}]}]}\n"))},
	{name: "OpenTelemetry's debug exporter", wrap: each(40, list("2026-03-01T09:00:00.123Z\tinfo\tResourceLog #0\nResource SchemaURL: \nResource attributes:\n     -> host.name: Str(gpu-7)\nScopeLogs #0\nScopeLogs SchemaURL: \nInstrumentationScope  \n",
		"LogRecord #0\nObservedTimestamp: 2026-03-01 09:00:00.123456789 +0000 UTC\nTimestamp: 2026-03-01 09:00:00.123456789 +0000 UTC\nSeverityText: \nSeverityNumber: Unspecified(0)\nBody: Str(%l)\nAttributes:\n     -> log.file.name: Str(train.log)\nTrace ID: \nSpan ID: \nFlags: 0\n",
		"", "\t{\"otelcol.component.id\": \"debug\", \"otelcol.component.kind\": \"exporter\", \"otelcol.signal\": \"logs\"}\n"))},
	{name: "Papertrail's archive", wrap: records("%n\t2026-03-01T09:00:00Z\t2026-03-01T09:00:01Z\t5001\tgpu-7\t203.0.113.9\tUser\tNotice\ttrain\t%l")},
	{name: "Drone", wrap: lines(func(i int, line string) string {
		return fmt.Sprintf(`{"pos":%d,"out":%s,"time":%d}`, i, quoted(line+"\n"), i/10)
	})},
	{name: "Drone's answer", wrap: list("[", `{"pos":7,"out":%s,"time":3}`, ",", "]\n")},
	{name: "journal, export with bytes", wrap: lines(func(_ int, line string) string {
		text := "\x1b[36m" + line + "\x1b[0m"
		return "__CURSOR=s=ab\n__REALTIME_TIMESTAMP=1772355600000000\n_HOSTNAME=gpu-7\nMESSAGE\n" + string(binary.LittleEndian.AppendUint64(nil, uint64(len(text)))) + text + "\n_TRANSPORT=stdout\n"
	})},
	{name: "logcli", wrap: before(`2026-03-01T09:00:00Z {app="train", pod="train-0"} `)},
	{name: "logcli with common labels", wrap: before("2026-03-01T09:00:00+01:00 {} ")},
	{name: "GitHub Actions with groups", wrap: inside("2026-03-01T09:00:00.1234567Z ##[group]Run python train.py\n2026-03-01T09:00:00.1234567Z shell: /usr/bin/bash -e {0}\n2026-03-01T09:00:00.1234567Z ##[endgroup]\n",
		before("2026-03-01T09:00:00.1234567Z "), "2026-03-01T09:00:00.1234567Z ##[error]Process completed with exit code 1.\n")},
	{name: "GitLab CI with sections", wrap: inside("section_start:1772355600:step_script\r\x1b[0K\x1b[0K\x1b[36;1mExecuting \"step_script\" stage of the job script\x1b[0;m\x1b[0;m\n\x1b[32;1m$ python train.py\x1b[0;m\n",
		bare, "\nsection_end:1772355700:step_script\r\x1b[0K\x1b[31;1mERROR: Job failed: exit code 1\n\x1b[0;m\n")},
	{name: "GitLab CI with sections and times", wrap: inside("2026-03-01T09:00:00.123456Z 00O section_start:1772355600:step_script\r\x1b[0K\x1b[0K\x1b[36;1mExecuting\x1b[0;m\x1b[0;m\n",
		lines(func(i int, line string) string {
			return "2026-03-01T09:00:00.123456Z 01" + "OE"[i/3%2:][:1] + " " + line
		}), "2026-03-01T09:00:00.123456Z 00O section_end:1772355700:step_script\r\x1b[0K\n")},
	{name: "stern with times", wrap: before("train-0 pytorch 2026-03-01T09:00:00.123456789Z ")},
	{name: "stern of several pods", wrap: inside("+ train-0 › pytorch\n+ train-1 › pytorch\n", before("train-0 pytorch "), "- train-1 › pytorch\n- train-0 › pytorch\n")},
	{name: "compose with times", wrap: before("trainer-1  | 2026-03-01T09:00:00.123456789Z ")},
	{name: "tmux capture-pane", wrap: shownIn(80, func(piece string, _ bool) string { return strings.TrimRight(piece, " ") })},
	{name: "hardcopy of 80 columns", wrap: shownIn(80, func(piece string, _ bool) string { return fmt.Sprintf("%-80s", piece) })},
	{name: "hardcopy of 132 columns", wrap: shownIn(132, func(piece string, _ bool) string { return fmt.Sprintf("%-132s", piece) })},
	{name: "typescript with backspaces", wrap: inside("Script started on 2026-03-01 09:00:00+00:00 [TERM=\"xterm\"]\n\x1b[?2004h$ pyhton\b\b\b\b\x1b[Kthon train.py\r\n\x1b[?2004l\r", records("|\b/\b%l\r"), "\x1b[?2004h$ exit\r\n\nScript done on 2026-03-01 09:30:00+00:00 [COMMAND_EXIT_CODE=\"1\"]\n")},
	{name: "cat -v", wrap: lines(func(_ int, line string) string { return inSigns("\x1b[31m" + line + "\x1b[0m\r") })},
	{name: "cat -A", wrap: lines(func(_ int, line string) string {
		return strings.ReplaceAll(inSigns("\x1b[31m"+line+"\x1b[0m"), "\t", "^I") + "$"
	})},
	{name: "less", wrap: records("ESC[31m%lESC[0m")},
	{name: "less of another locale", wrap: lines(func(_ int, line string) string {
		for c := 0x80; c <= 0xff; c++ {
			line = strings.ReplaceAll(line, string([]byte{byte(c)}), fmt.Sprintf("<%02X>", c))
		}
		return line
	})},
	{name: "a page's pre in elements", wrap: inside("<!DOCTYPE html>\n<html><head><title>log</title></head><body>\n<pre class=\"console-output\"><span class=\"timestamp\"></span>", escapedHTML, "</pre>\n</body></html>\n")},
	{name: "quoted-printable in a part", wrap: func(log []byte) []byte {
		b := bytes.NewBufferString("MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=\"b7\"\r\n\r\n--b7\r\nContent-Type: text/plain; charset=\"utf-8\"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nIt died:\r\n\r\n")
		w := quotedprintable.NewWriter(b)
		_, _ = w.Write(bytes.ReplaceAll(log, []byte("\n"), []byte("\r\n")))
		_ = w.Close()
		return append(b.Bytes(), "\r\n--b7--\r\n"...)
	}},
	{name: "UTF-16 without a mark", wrap: func(log []byte) []byte { return units(2, log) }},
	{name: "UTF-32 without a mark", wrap: func(log []byte) []byte { return units(4, log) }},
	{name: "syslog, 1,024 bytes", wrap: lines(func(_ int, line string) string {
		line = "Mar  1 09:00:00 gpu-7 train[4242]: " + line
		return line[:min(len(line), 1024)]
	})},
	{name: "a pager that chops lines", wrap: lines(func(_ int, line string) string { return cut(line, 120)[0] }), destroys: "what is right of column 120"},
	{name: "a mail in HTML", wrap: func(log []byte) []byte {
		return []byte(`<div dir="ltr">` + strings.Join(rowsOf([]byte(strings.ReplaceAll(html.EscapeString(string(log)), "  ", "&nbsp; "))), "<br>") + "</div>\n")
	}},
	{name: "a mail in HTML, an element for each line", wrap: func(log []byte) []byte {
		return []byte("<div>" + strings.Join(rowsOf([]byte(strings.ReplaceAll(html.EscapeString(string(log)), "  ", "&nbsp; "))), "</div><div>") + "</div>\n")
	}},
	{name: "Unicode's line separators", wrap: func(log []byte) []byte { return bytes.ReplaceAll(log, []byte{'\n'}, []byte("\u2028")) }},
	{name: "a mainframe's next lines", wrap: func(log []byte) []byte { return bytes.ReplaceAll(log, []byte{'\n'}, []byte("\u0085")) }},
	{name: "a terminal's next lines", wrap: func(log []byte) []byte { return bytes.ReplaceAll(log, []byte{'\n'}, []byte("\x1b[E")) }},
	{name: "the stream of Docker's API", wrap: lines(func(_ int, line string) string {
		return string(binary.BigEndian.AppendUint32([]byte{2, 0, 0, 0}, uint32(len(line)+1))) + line
	})},
	// Lines with the marks of samples before the failure.
	{name: "a template", wrap: beforeFailure(`INFO chat_template="{% for m in messages %}<|im_start|>{{ m.role }}{% endfor %}"`)},
	{name: "special tokens", wrap: beforeFailure(`tokenizer: {'eos_token': '<|im_end|>', 'bos_token': '<|im_start|>'}`)},
	{name: "llama.cpp's example", wrap: beforeFailure(`srv  init: example_format: '<|im_start|>system\nYou are helpful<|im_end|>\n<|im_start|>assistant\n'`)},
	{name: "Mistral's template", wrap: beforeFailure(`chat template: '[INST] {prompt} [/INST]'`)},
	{name: "a response's time", wrap: beforeFailure(`[response] time 1.2s`)},
	{name: "a sample that ends", wrap: beforeFailure("<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\nHi.<|im_end|>")},
}
