package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// disguised are the cases whose logs the disguises are put on: of each kind and of each way to print one.
var disguised = []string{
	"gpu_oom/torch-2.14-minimind-attention-forward", "gpu_oom/slime-ref-logprob-fp32-logits", "gpu_oom/deepspeed-srun-l-rocm-zero2-backward",
	"gpu_oom/torch-fairseq-oversized-batch-survived", "gpu_oom/jax-gpu-bfc-benign-then-fatal", "gpu_oom/nemo-rl-dpo-masterconfig-backward",
	"gpu_driver_oom/verl-vllm-wake-up-cumem", "host_oom/openrlhf-cpu-adam-host-alloc", "kv_cache/openrlhf-colocate-no-cache-blocks",
	"nccl_oom/torch-nccl-2.22-calloc-async-new-group", "oom_kill/verl-ray-memory-monitor-generate", "oom_kill/torch-olmo-lumi-save-checkpoint-oom-kill",
	"shm_exhausted/torch-semlock-enospc-dev-shm", "none/torch-keyerror-childfailed",
}

// srunLabels is the case whose lines have the number of their task before them.
const srunLabels = "gpu_oom/deepspeed-srun-l-rocm-zero2-backward"

// disguise is a way in which a log may be kept.
type disguise struct {
	name string
	wrap func(log []byte) []byte
	// destroyed says why the disguise destroys a part of the answer on a case.
	destroyed map[string]string
}

// collected is when the first line of a log was collected.
var collected = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// lines changes every line of a log.
func lines(change func(i int, line string) string) func([]byte) []byte {
	return func(log []byte) []byte {
		var b bytes.Buffer
		for i, line := range strings.Split(strings.TrimSuffix(string(log), "\n"), "\n") {
			b.WriteString(change(i, line) + "\n")
		}
		return b.Bytes()
	}
}

// before puts a text before every line.
func before(text string) func([]byte) []byte {
	return lines(func(_ int, line string) string { return text + line })
}

// records makes every line a JSON record by a form with %s for the line and %t, %e, %m, %n for its time: as text, and in seconds, milliseconds
// and nanoseconds since 1970.
func records(form string) func([]byte) []byte {
	return lines(func(i int, line string) string {
		at := collected.Add(time.Duration(i) * time.Millisecond)
		return strings.NewReplacer("%s", quoted(line), "%t", at.Format(time.RFC3339Nano), "%e", fmt.Sprintf("%.3f", float64(at.UnixMilli())/1e3),
			"%m", fmt.Sprint(at.UnixMilli()), "%n", fmt.Sprint(at.UnixNano())).Replace(form)
	})
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
		for i, line := range strings.Split(strings.TrimSuffix(string(log), "\n"), "\n") {
			_ = w.Write([]string{collected.Add(time.Duration(i) * time.Millisecond).Format(time.RFC3339Nano), "gpu-7", line})
		}
		w.Flush()
		return b.Bytes()
	}},
	{name: "logfmt", wrap: records(`time="%t" level=info msg=%s`)},
	{name: "HTML", wrap: lines(func(_ int, line string) string { return html.EscapeString(line) })},
	// Prefixes.
	{name: "grep's name", wrap: before("train.log:"), destroyed: map[string]string{srunLabels: "grep -n writes the number of the line there"}},
	{name: "grep's path", wrap: before("logs/run-7/slurm-12.err:"), destroyed: map[string]string{srunLabels: "grep -n writes the number of the line there"}},
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
	{name: "indent 7", wrap: before("       "), destroyed: map[string]string{srunLabels: "numbers are right-aligned for other reasons"}},
	{name: "mail quote", wrap: before("> ")},
	{name: "mail quote of a quote", wrap: before("> > ")},
	{name: "mail quotes together", wrap: before(">> ")},
	{name: "mail quote without blank", wrap: before(">")},
	{name: "GitHub Actions", wrap: lines(func(i int, line string) string {
		return collected.Add(time.Duration(i)*time.Millisecond).Format("2006-01-02T15:04:05.0000000Z") + " " + line
	})},
	{name: "supervisor", wrap: lines(func(i int, line string) string {
		return collected.Add(time.Duration(i)*time.Millisecond).Format("2006-01-02 15:04:05,000") + " " + line
	}), destroyed: map[string]string{srunLabels: "a number behind a logger's stamp is the program's"}},
	// Holes.
	{name: "hole first", wrap: holes(20_000, 0)},
	{name: "holes at any place", wrap: holes(9000, 0.21, 0.43, 0.6, 0.8)},
	{name: "small holes", wrap: holes(1, 0.11, 0.23, 0.35, 0.47, 0.59, 0.71, 0.83, 0.91)},
	{name: "hole last", wrap: holes(20_000, 1)},
	{name: "hole larger than the text", wrap: holes(4<<20, 0.5)},
	// Widths.
	{name: "80 columns", wrap: pieces(80, func(piece string, _ bool) string { return piece })},
	{name: "120 columns", wrap: pieces(120, func(piece string, _ bool) string { return piece }), destroyed: map[string]string{
		"gpu_oom/slime-ref-logprob-fp32-logits": "one row of the beginning breaks a word, which may be chance",
	}},
	{name: "200 columns", wrap: pieces(200, func(piece string, _ bool) string { return piece }), destroyed: map[string]string{
		"oom_kill/verl-ray-memory-monitor-generate": "too few rows of the beginning break a word",
	}},
	{name: "box", wrap: func(log []byte) []byte {
		b := lines(func(_ int, line string) string {
			var rows []string
			for _, row := range atBlanks(line, 96) {
				for _, piece := range cut(row, 96) {
					rows = append(rows, "│ "+piece+strings.Repeat(" ", 96-utf8.RuneCountInString(piece))+" │")
				}
			}
			return strings.Join(rows, "\n")
		})(log)
		bar := strings.Repeat("─", 98)
		return slices.Concat([]byte("╭"+bar+"╮\n"), b, []byte("╰"+bar+"╯\n"))
	}, destroyed: map[string]string{"gpu_oom/nemo-rl-dpo-masterconfig-backward": "the row of a broken word's rest ends before the next word, which would have fit"}},
	{name: "quoted mail of 76 columns", wrap: lines(func(_ int, line string) string { return "> " + strings.Join(atBlanks(line, 76), "\n> ") }), destroyed: map[string]string{
		"gpu_oom/torch-2.14-minimind-attention-forward": "lines of one form go on with the same few words, as lines of their own do",
	}},
	{name: "mail of 72 columns", wrap: lines(func(_ int, line string) string { return strings.Join(atBlanks(line, 72), "\n") }), destroyed: map[string]string{
		"gpu_oom/torch-2.14-minimind-attention-forward": "lines of one form go on with the same few words, as lines of their own do",
	}},
}

// atBlanks breaks a line at blanks, as mail programs do.
func atBlanks(line string, width int) (rows []string) {
	for len(line) > width {
		i := strings.LastIndexByte(line[:width+1], ' ')
		if i <= len(line)-len(strings.TrimLeft(line, " ")) {
			if i = strings.IndexByte(strings.TrimLeft(line, " "), ' '); i < 0 {
				break
			}
			i += len(line) - len(strings.TrimLeft(line, " "))
		}
		rows, line = append(rows, line[:i]), line[i+1:]
	}
	return append(rows, line)
}

// neverWrong says that an answer on a damaged log has no figure and no rank that the log does not have.
func neverWrong(t *testing.T, want, got []string) {
	t.Helper()
	for _, in := range got {
		for _, figure := range strings.Fields(in)[3:] {
			if !strings.HasSuffix(figure, "=<nil>") {
				assert.Contains(t, strings.Join(want, " "), figure)
			}
		}
	}
}

// answers are what must not depend on how a log was kept.
func answers(t *testing.T, dir string, files ...string) []string {
	t.Helper()
	_, r := scan(t, dir, files...)
	var out []string
	for _, in := range r.Incidents {
		x := &in.Root
		out = append(out, fmt.Sprintf("%s %s %s requested=%v free=%v total=%v rank=%v", in.Verdict, in.Kind, in.Phase, value(x.Request), value(x.Free), value(x.Total), value(x.Rank)))
	}
	return out
}

// TestAnswerDoesNotDependOnHowTheLogWasKept compares the answer on a log in each disguise with that on the log itself.
func TestAnswerDoesNotDependOnHowTheLogWasKept(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	same, tried := map[string]int{}, map[string]int{}
	count := func(n map[string]int, name string) {
		mu.Lock()
		n[name]++
		mu.Unlock()
	}
	t.Run("all", func(t *testing.T) {
		for i, name := range disguised {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join("../../fixtures/cases", name)
				files := logs(t, dir)
				require.Len(t, files, 1)
				log, err := os.ReadFile(filepath.Join(dir, files[0]))
				require.NoError(t, err)
				want := answers(t, dir, files[0])
				for _, d := range sample(disguises, i) {
					count(tried, d.name)
					kept := t.TempDir()
					require.NoError(t, os.WriteFile(filepath.Join(kept, files[0]), d.wrap(log), 0o600))
					got := answers(t, kept, files[0])
					if reason, ok := d.destroyed[name]; ok {
						assert.NotEqual(t, want, got, "%s: %s", d.name, reason)
						neverWrong(t, want, got)
					} else if assert.Equal(t, want, got, d.name) {
						count(same, d.name)
					}
				}
			})
		}
	})
	for _, d := range disguises {
		t.Logf("%-28s %d of %d", d.name, same[d.name], tried[d.name])
	}
}

// TestAnswerDoesNotDependOnWhereALogWasRotated cuts each log between two lines before the failure and compares the answer on the parts with
// that on the log. A report that is cut itself is not put together again.
func TestAnswerDoesNotDependOnWhereALogWasRotated(t *testing.T) {
	t.Parallel()
	for _, name := range disguised {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join("../../fixtures/cases", name)
			file := logs(t, dir)[0]
			log, err := os.ReadFile(filepath.Join(dir, file))
			require.NoError(t, err)
			want := answers(t, dir, file)
			rows := bytes.SplitAfter(log, []byte("\n"))
			failed := slices.IndexFunc(rows, func(row []byte) bool {
				return slices.ContainsFunc([]string{"Traceback", "rror", "out of memory"}, func(word string) bool { return bytes.Contains(row, []byte(word)) })
			})
			for _, share := range []float64{0.1, 0.5, 1} {
				at := int(share * float64(max(failed, 1)))
				for _, names := range [][]string{{file + ".1", file}, {file + ".aa", file + ".ab"}} {
					kept := t.TempDir()
					require.NoError(t, os.WriteFile(filepath.Join(kept, names[0]), bytes.Join(rows[:at], nil), 0o600))
					require.NoError(t, os.WriteFile(filepath.Join(kept, names[1]), bytes.Join(rows[at:], nil), 0o600))
					assert.Equal(t, want, answers(t, kept, names...), "%s, cut at line %d", names[0], at)
				}
			}
		})
	}
}
