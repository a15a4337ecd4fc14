package main

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"mime/quotedprintable"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// Logs on which a disguise destroys a part of the answer: whose lines have the number of a task, before which other numbers and blanks
// stand, too; whose progress bars end their states as lines then end; any log in which too few rows may be full to tell their width; and
// those of an engine that counts its own ranks, which are not the job's in an actor of Ray, or of a container, which is in none.
var (
	numbered    = regexp.MustCompile(`(?m)^ *\d+: `)
	bars        = regexp.MustCompile(`\r[^\n]`)
	fewFullRows = regexp.MustCompile(``)
	notRays     = regexp.MustCompile(`\bTP\d|_TP\d|(?m)-1 +(?:\x1b\[0m)?\|`)
)

// disguise is a way in which a log may be kept.
type disguise struct {
	name string
	wrap func(log []byte) []byte
	// destroys finds the logs on which a part of the answer may be lost. What is left must not be wrong.
	destroys *regexp.Regexp
	// rank is what a prefix that names a process says of its rank, or what is known of the rank once the process is.
	rank string
}

// collected is when the first line of a log was collected.
var collected = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// rowsOf are the lines of a log.
func rowsOf(log []byte) []string {
	return strings.Split(strings.TrimSuffix(string(log), "\n"), "\n")
}

// lines changes every line of a log.
func lines(change func(i int, line string) string) func([]byte) []byte {
	return func(log []byte) []byte {
		var b bytes.Buffer
		for i, line := range rowsOf(log) {
			b.WriteString(change(i, line) + "\n")
		}
		return b.Bytes()
	}
}

// before puts a text before every line.
func before(text string) func([]byte) []byte {
	return lines(func(_ int, line string) string { return text + line })
}

// behindTask puts a text before every line, behind the label of srun.
func behindTask(text string) func([]byte) []byte {
	return lines(func(_ int, line string) string {
		return numbered.FindString(line) + text + numbered.ReplaceAllString(line, "")
	})
}

// records makes every line a record by a form with %s for the line in JSON, %l for itself, %y for it in YAML, and %t, %e, %m, %n for its
// time: as text, and in seconds, milliseconds and nanoseconds since 1970.
func records(form string) func([]byte) []byte {
	return lines(func(i int, line string) string {
		at := collected.Add(time.Duration(i) * time.Millisecond)
		return strings.NewReplacer("%s", quoted(line), "%l", line, "%y", "'"+strings.ReplaceAll(line, "'", "''")+"'", "%t", at.Format(time.RFC3339Nano), "%e", fmt.Sprintf("%.3f", float64(at.UnixMilli())/1e3),
			"%m", fmt.Sprint(at.UnixMilli()), "%n", fmt.Sprint(at.UnixNano())).Replace(form)
	})
}

// stamped is a line with its time, which runs on from line to line, in a clock that is behind.
func stamped(line string, i int, behind time.Duration) string {
	return collected.Add(time.Duration(i)*time.Millisecond-behind).Format(time.RFC3339Nano) + " " + line
}

// newestFirst turns a log around whose lines have their times.
func newestFirst(form func(line string, i int) string) func([]byte) []byte {
	return func(log []byte) []byte {
		rows := rowsOf(log)
		for i, row := range rows {
			rows[i] = form(row, i)
		}
		slices.Reverse(rows)
		return []byte(strings.Join(rows, "\n") + "\n")
	}
}

// pythons writes a text as Python shows it between single quotes.
var pythons = strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\t", `\t`, "\r", `\r`, "\x1b", `\x1b`, "\x00", `\x00`)

// markdownSigns are what editors and converters put a backslash before.
var markdownSigns = regexp.MustCompile(`[\[\]*_<>]`)

// fullStamp is a time in a program's own line.
var fullStamp = regexp.MustCompile(`20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d`)

// setBack changes every line of a log by a clock that is set back by two hours in the midst of the failure.
func setBack(change func(line string, i int, back time.Duration) string) func([]byte) []byte {
	return func(log []byte) []byte {
		at := bytes.Count(log[:failureAt(log)], []byte{'\n'}) + 2
		return lines(func(i int, line string) string {
			if i < at {
				return change(line, i, 0)
			}
			return change(line, i, 2*time.Hour)
		})(log)
	}
}

func quoted(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text)
	return strings.TrimSuffix(b.String(), "\n")
}

// cut splits a text into pieces of so many characters.
func cut(line string, width int) (pieces []string) {
	for utf8.RuneCountInString(line) > width {
		n := 0
		for range width {
			_, size := utf8.DecodeRuneInString(line[n:])
			n += size
		}
		pieces, line = append(pieces, line[:n]), line[n:]
	}
	return append(pieces, line)
}

// pieces splits every line at a width and writes each piece by a form, whether it is the last one or not.
func pieces(width int, form func(piece string, last bool) string) func([]byte) []byte {
	return lines(func(_ int, line string) string {
		parts := cut(line, width)
		for i := range parts {
			parts[i] = form(parts[i], i == len(parts)-1)
		}
		return strings.Join(parts, "\n")
	})
}

// holes puts blocks of NULs into a log, at the beginning of a line or wherever they fall.
func holes(size int, places ...float64) func([]byte) []byte {
	return func(log []byte) []byte {
		var b []byte
		at := 0
		for _, p := range places {
			to := int(float64(len(log)) * p)
			b = append(append(b, log[at:to]...), make([]byte, size)...)
			at = to
		}
		return append(b, log[at:]...)
	}
}

var disguises = []disguise{
	{name: "bare", wrap: func(log []byte) []byte { return log }},
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
	{name: "pretty records in a list", wrap: func(log []byte) []byte {
		b := records("  {\n    \"insertId\": \"1a2b\",\n    \"severity\": \"ERROR\",\n    \"textPayload\": %s,\n    \"timestamp\": \"%t\"\n  },")(log)
		return slices.Concat([]byte("[\n"), bytes.TrimSuffix(b, []byte(",\n")), []byte("\n]\n"))
	}},
	{name: "list of records", wrap: func(log []byte) []byte {
		b := records(`{"timestamp":%m,"message":%s},`)(log)
		return slices.Concat([]byte("["), bytes.TrimSuffix(b, []byte(",\n")), []byte("]\n"))
	}},
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
	{name: "HTML", wrap: lines(func(_ int, line string) string { return html.EscapeString(line) })},
	// Prefixes.
	{name: "grep's name", wrap: before("train.log:"), destroys: numbered},
	{name: "grep's path", wrap: before("logs/run-7/slurm-12.err:"), destroys: numbered},
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
	{name: "indent 7", wrap: before("       "), destroys: numbered},
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
	{name: "200 columns", wrap: pieces(200, func(piece string, _ bool) string { return piece }), destroys: fewFullRows},
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
	{name: "quoted mail of 76 columns", wrap: lines(func(_ int, line string) string { return "> " + strings.Join(atBlanks(line, 76), "\n> ") })},
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
	{name: "Kibana's CSV", wrap: func(log []byte) []byte {
		b := lines(func(_ int, line string) string {
			return `"Mar 1, 2026 @ 09:00:00.000","gpu-7","` + strings.ReplaceAll(line, `"`, `""`) + `"`
		})(log)
		return slices.Concat([]byte("\"@timestamp\",\"host\",message\n"), b)
	}},
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
	{name: "Loki's answer", wrap: func(log []byte) []byte {
		b := records(`["%n",%s],`)(log)
		return slices.Concat([]byte(`{"status":"success","data":{"resultType":"streams","result":[{"stream":{"app":"train"},"values":[`), bytes.TrimSuffix(bytes.ReplaceAll(b, []byte("],\n"), []byte("],")), []byte{','}), []byte("]}]}}\n"))
	}},
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
	{name: "CloudWatch's query", wrap: func(log []byte) []byte {
		b := records(`[{"field":"@timestamp","value":"%t"},{"field":"@message","value":%s},{"field":"@ptr","value":"CmEK"}],`)(log)
		return slices.Concat([]byte(`{"results":[`), bytes.TrimSuffix(b, []byte(",\n")), []byte("],\"status\":\"Complete\"}\n"))
	}},
	{name: "a list of lines", wrap: func(log []byte) []byte {
		return slices.Concat([]byte("{\n  \"job\": \"train-7\",\n  \"logs\": [\n"), bytes.TrimSuffix(records("    %s,")(log), []byte(",\n")), []byte("\n  ]\n}\n"))
	}},
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
	{name: "indented in a document", wrap: func(log []byte) []byte { return slices.Concat([]byte("The run died:\n\n"), before("   ")(log)) }},
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
	{name: "Ray", wrap: behindTask("(Runner pid=815) "), rank: "rank=0", destroys: notRays},
	{name: "Ray, with node", wrap: behindTask("(Runner pid=815, ip=10.0.0.7) "), rank: "rank=0", destroys: notRays},
	{name: "Ray twice", wrap: behindTask("(TaskRunner pid=4711) (Runner pid=815) "), rank: "rank=0", destroys: notRays},
	{name: "hyperlinks", wrap: before("\x1b]8;;file:///work/train.py\x1b\\train.py\x1b]8;;\x1b\\ ")},
	{name: "a bar glued before", wrap: before("\rTraining:  12%|█▏        | 12/100 [00:31<03:48,  2.59s/it]\r")},
	{name: "backspaces", wrap: before("-\b\\\b|\b/\b \b")},
	{name: "tmux", wrap: lines(func(_ int, line string) string { return "\x1b[?2004l\r\x1b(B\x1b[m" + line + "\x1b[K\r" })},
	{name: "nbconvert", wrap: func(log []byte) []byte {
		return slices.Concat([]byte("```python\n!python train.py\n```\n\n"), before("    ")(log), []byte("\n"))
	}},
	{name: "PowerShell's Tee-Object", wrap: func(log []byte) []byte {
		b := []byte("\xff\xfe")
		for _, u := range utf16.Encode([]rune(strings.ReplaceAll(string(log), "\n", "\r\n"))) {
			b = append(b, byte(u), byte(u>>8))
		}
		return b
	}},
	{name: "a byte order mark on every part", wrap: func(log []byte) []byte {
		rows := bytes.SplitAfter(log, []byte("\n"))
		at := len(rows) / 2
		return slices.Concat([]byte("\xef\xbb\xbf"), bytes.Join(rows[:at], nil), []byte("\xef\xbb\xbf"), bytes.Join(rows[at:], nil))
	}},
	// What tickets, notebooks and consoles make of a log.
	{name: "a flowed mail", wrap: lines(func(_ int, line string) string { return strings.Join(atBlanks(line, 76), " \n") })},
	{name: "base64", wrap: func(log []byte) []byte {
		rows := strings.Join(cut(base64.StdEncoding.EncodeToString(log), 76), "\r\n")
		return []byte("Subject: died\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n" + rows + "\r\n")
	}},
	{name: "Semaphore", wrap: records(`{"event":"cmd_output","timestamp":%m,"output":%s}`)},
	{name: "Kaggle", wrap: func(log []byte) []byte {
		b := records(`{"stream_name":"stderr","time":12.345678,"data":%s}` + "\n,")(log)
		return slices.Concat([]byte("["), bytes.TrimSuffix(bytes.ReplaceAll(b, []byte("\n,\n"), []byte("\n,")), []byte("\n,")), []byte("\n]\n"))
	}},
	{name: "Log Analytics", wrap: func(log []byte) []byte {
		b := records("        [\n          \"%t\",\n          %s\n        ],")(log)
		return slices.Concat([]byte("{\n  \"tables\": [\n    {\n      \"name\": \"PrimaryResult\",\n      \"rows\": [\n"), bytes.TrimSuffix(b, []byte(",\n")), []byte("\n      ]\n    }\n  ]\n}\n"))
	}},
	{name: "Zeppelin", wrap: func(log []byte) []byte {
		return []byte("{\n  \"paragraphs\": [\n    {\n      \"text\": \"run()\",\n      \"results\": {\n        \"code\": \"ERROR\",\n        \"msg\": [\n          {\n            \"type\": \"TEXT\",\n            \"data\": " +
			quoted(string(log)) + "\n          }\n        ]\n      }\n    }\n  ]\n}\n")
	}},
	{name: "Jenkins' concealed notes", wrap: before("\x1b[8mha:////4GmRr9yEcxWmz3Lm0Xx+AAAAlx+LCAAAAAAA/5b85aBtbiIQTGjNKU4P08vOT==\x1b[0m")},
	{name: "a table of Insights", wrap: func(log []byte) []byte {
		return slices.Concat([]byte("| @timestamp | @message |\n| --- | --- |\n"), lines(func(_ int, line string) string {
			return "| 2026-03-01 09:00:00.123 | " + line + " |"
		})(log))
	}, destroys: numbered},
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
	{name: "UTF-16", wrap: func(log []byte) []byte {
		b := []byte("\xff\xfe")
		for _, u := range utf16.Encode([]rune(string(log))) {
			b = append(b, byte(u), byte(u>>8))
		}
		return b
	}},
	{name: "Windows-1252", wrap: before("\x93caf\xe9\x94 ")},
	{name: "GBK", wrap: before("\xd1\xb5\xc1\xb7 ")},
	{name: "a line in Windows-1252", wrap: beforeFailure("Speicher l\xe4uft voll \x96 100\xa0%")},
	{name: "a line in GBK", wrap: beforeFailure("\xd1\xb5\xc1\xb7\xbf\xaa\xca\xbc\xa1\xa3")},
	{name: "padded", wrap: lines(func(_ int, line string) string { return line + strings.Repeat(" ", max(0, 200-len(line))) })},
	{name: "fenced", wrap: func(log []byte) []byte { return slices.Concat([]byte("My run died:\n\n```\n"), log, []byte("```\n")) }},
	{name: "details", wrap: func(log []byte) []byte {
		return slices.Concat([]byte("<details><summary>log</summary>\n\n```shell\n"), log, []byte("```\n\n</details>\n"))
	}},
	{name: "HTML, pre", wrap: func(log []byte) []byte {
		return []byte("<html><body><pre>\n" + html.EscapeString(string(log)) + "</pre></body></html>\n")
	}},
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
	}, destroys: bars},
	{name: "typescript", wrap: func(log []byte) []byte {
		b := lines(func(_ int, line string) string { return line + "\r" })(log)
		return slices.Concat([]byte("Script started on 2026-03-01 09:00:00+00:00 [TERM=\"xterm\" TTY=\"/dev/pts/0\" COLUMNS=\"200\" LINES=\"50\"]\n"), b, []byte("\nScript done on 2026-03-01 09:30:00+00:00 [COMMAND_EXIT_CODE=\"1\"]\n"))
	}},
	// Lines with the marks of samples before the failure.
	{name: "a template", wrap: beforeFailure(`INFO chat_template="{% for m in messages %}<|im_start|>{{ m.role }}{% endfor %}"`)},
	{name: "special tokens", wrap: beforeFailure(`tokenizer: {'eos_token': '<|im_end|>', 'bos_token': '<|im_start|>'}`)},
	{name: "llama.cpp's example", wrap: beforeFailure(`srv  init: example_format: '<|im_start|>system\nYou are helpful<|im_end|>\n<|im_start|>assistant\n'`)},
	{name: "Mistral's template", wrap: beforeFailure(`chat template: '[INST] {prompt} [/INST]'`)},
	{name: "a response's time", wrap: beforeFailure(`[response] time 1.2s`)},
	{name: "a sample that ends", wrap: beforeFailure("<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\nHi.<|im_end|>")},
}
