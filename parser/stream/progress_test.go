package stream

import (
	"strings"
	"testing"

	"oomscan/parser"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSignsOfProgress reads what trainers print of a step behind a failure.
func TestSignsOfProgress(t *testing.T) {
	t.Parallel()
	const failure = "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity; 6.00 GiB already allocated; 1.00 GiB free; 512.00 MiB cached)\n"
	for line, want := range map[string]string{
		" 40%|████      | 768/1875 [4:33:55<6:34:49, 21.19s/it]":                                 "768",
		"{'loss': 0.9234, 'learning_rate': 0.0001, 'epoch': 1.38}":                               "1380000",
		"[rank0] epoch 1 step 840/4210 loss=2.0667 lr=8.400e-05":                                 "5050",
		"2021-06-02 15:50:59 INFO Iteration: 15/1184, epoch 0, Bif Loss: 0.0056":                 "15",
		"Epoch: [0][  11/5005]\tTime  0.231 ( 0.340)\tLoss 6.9e+00 (7.0e+00)":                    "11",
		"Epoch [1][50/7330]  lr: 2.000e-03, eta: 1:02:03, loss: 1.2034":                          "7380",
		"Epoch:[1/1](12/19994), loss:1.871, lr:0.0005":                                           "20006",
		"Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.305400":                                        "60640",
		"[01/02 10:00:00 d2.utils.events]:  eta: 1:00:00  iter: 19  total_loss: 4.517":           "19",
		`{"step": 40, "train/loss": 1.25}`:                                                       "40",
		"[120] loss=2.310000, steps_per_sec=1.2":                                                 "120",
		"[7]\ttrain-rmse:1.93000\teval-rmse:0.61":                                                "7",
		"epoch: 1 step: 12, loss is 1.960000":                                                    "12",
		"      4/100      12.1G      1.203     640: 100%|███| 500/500 [05:01<00:00,  1.66it/s]":  "4",
		"      4/100      12.1G      1.203     640: 100% ━━━━━ 500/500 1.7it/s 5:01":             "4",
		"[gpu1] 2026-03-01 09:00:07,123 (trainer:721) INFO: 1epoch:train:51-100batch: loss=2.31": "100",
		"INFO distil: 250/2000 answered, 11.3 answers/s":                                         "250",
		"250/2000 answered, 0.0 answers/s":                                                       "",
		"3/8 disks are full, 11.3 MB/s":                                                          "",
		"3/8 pages, 12.5 bytes/s":                                                                "",
		"[3] is the number of the rank":                                                          "",
		"the loss of the last step is not known":                                                 "",
		"loss scale is now 1024 at step 12":                                                      "",
		"Saved the checkpoint of step 40":                                                        "",
	} {
		var counts []string
		_, err := Read("x.log", strings.NewReader(failure+line+"\n"), func(o parser.Observation) {
			if m, ok := o.(parser.Marker); ok && m.Name == "progress" {
				counts = append(counts, m.Fields["count"])
			}
		})
		require.NoError(t, err)
		if want == "" {
			assert.Empty(t, counts, line)
			continue
		}
		assert.Equal(t, []string{want}, counts, line)
	}
}

// TestWorkThatGrowsIsProgress reads how much is done behind a failure, of how much is not said.
func TestWorkThatGrowsIsProgress(t *testing.T) {
	t.Parallel()
	const failure = "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity; 6.00 GiB already allocated; 1.00 GiB free; 512.00 MiB cached)\n"
	for form, want := range map[string]int{
		"INFO f: #5,000 documents read, 5,000 dropped (14.3%)\n": 2,
		"#2 rows written\n":           2,
		"#2 s: 11.3 requests/s\n":     2,
		"#2 s: 0.0 requests/s\n":      0,
		"#2 bytes written\n":          0,
		"#2 workers are ready\n":      0,
		"task #2 has read the file\n": 0,
	} {
		got := 0
		log := failure + strings.ReplaceAll(form, "#", "1") + strings.ReplaceAll(form, "#", "2") + strings.ReplaceAll(form, "#", "3")
		_, err := Read("x.log", strings.NewReader(log), func(o parser.Observation) {
			if m, ok := o.(parser.Marker); ok && m.Name == "progress" {
				got++
			}
		})
		require.NoError(t, err)
		assert.Equal(t, want, got, form)
	}
}

// TestAServerThatGoesOnAnswers reads access logs behind a failure: only who denied a request and then does others' work
// shows that it lives.
func TestAServerThatGoesOnAnswers(t *testing.T) {
	t.Parallel()
	const failure = "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity; 6.00 GiB already allocated; 1.00 GiB free; 512.00 MiB cached)\n"
	const no = `INFO:     10.0.0.7:501 - "POST /v2/layout HTTP/1.1" 500 Internal Server Error` + "\n"
	const raised = "ERROR:    Exception in ASGI application\nTraceback (most recent call last):\n  File \"/py/uvicorn/protocols/http/h11_impl.py\", line 403, in run_asgi\n    result = await app(\n" + failure
	const yes = `10.0.0.7 - - [02/Jan/2026 10:00:00] "POST /predict HTTP/1.1" 200 -` + "\n"
	const health = `INFO:     10.0.0.7:501 - "GET /health HTTP/1.1" 200 OK` + "\n"
	const asked = "2026-11-24T08:41:21+0000 [INFO] [service:Ranker:1] 10.42.3.3:5100 (scheme=http,method=POST,path=/rerank,type=application/json,length=17) "
	const named, denied = asked + "(status=200,type=application/json,length=3) 18.8ms (trace=7,span=5)\n", asked + "(status=500,type=application/json,length=430) 812.2ms (trace=7,span=5)\n"
	for log, want := range map[string]int{
		failure + denied + named + named:                                      2,
		failure + named + named:                                               0,
		failure + denied + strings.ReplaceAll(named, "POST", "GET"):           0,
		failure + strings.ReplaceAll(denied+named, "path=/", "url=http://x/"): 0, // of a client
		failure + denied + denied:                                             0,
		failure + denied + strings.ReplaceAll(named, "status=", "bytes="):     0,
		failure + strings.ReplaceAll(denied, "status=5", "retries=5") + named: 0,
		failure + no + yes + yes + yes:                                        3,
		failure + no + failure + yes + yes:                                    2,
		failure + yes + yes + yes:                                             0,
		failure + no + health + health:                                        0,
		failure + no + no + no:                                                0,
		no + failure + yes + yes:                                              0,
		failure + no + yes + "nothing\n" + health:                             1,
		no + raised + yes + yes:                                               2,
		no + raised + yes + raised + yes:                                      2,
		no + strings.ReplaceAll(raised, "/py/uvicorn/protocols/http", "/srv/app") + yes + yes: 0,
	} {
		got := 0
		_, err := Read("x.log", strings.NewReader(log), func(o parser.Observation) {
			if m, ok := o.(parser.Marker); ok && m.Name == "progress" && m.Fields["served"] != "" {
				got++
			}
		})
		require.NoError(t, err)
		assert.Equal(t, want, got, log)
	}
}

// What a bar counts behind a failure is told for each of its states, whoever else is awaited then.
func TestStatesOfABarAreReadBehindAFailure(t *testing.T) {
	t.Parallel()
	failure := "(Env pid=9) torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n" +
		strings.Repeat("2026-03-09 14:00:00,000 INFO all is well\n", 100) // nobody waits for more of it then
	bar := "Rollout:  10%|#   | 71/512 [23:00<31:31, 14.18it/s]\rRollout:  11%|#   | 72/512 [23:00<31:31, 14.18it/s]\rRollout\r"
	for name, text := range map[string]string{
		"nobody is awaited":  failure + bar + "\n",
		"somebody is":        failure + "(Other pid=1) Traceback (most recent call last):\n" + bar + "\n",
		"in a long line":     failure + bar + strings.Repeat(" and so on\r", DefaultLine/8) + "\n",
		"in one, and awaits": failure + "(Other pid=1) Traceback (most recent call last):\n" + bar + strings.Repeat(" and so on\r", DefaultLine/8) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var counts []string
			text = strings.Repeat("nothing is said here\n", headLines+5) + text
			_, err := Read("in", strings.NewReader(text), func(o parser.Observation) {
				if m, ok := o.(parser.Marker); ok && m.Name == "progress" {
					counts = append(counts, m.Fields["count"])
				}
			})
			require.NoError(t, err)
			assert.Equal(t, []string{"71", "72"}, counts)
		})
	}
}
