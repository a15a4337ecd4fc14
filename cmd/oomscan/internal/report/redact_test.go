package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWhatIsRedacted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"see /home/alice/src/train.py:7":                                 "see path-1/train.py:7",
		"/a/b/x.log, /a/b/y.log and /c/d/x.log":                          "path-1/x.log, path-1/y.log and path-2/x.log",
		"of home/alice/src/train.py, line 7":                             "of path-1/train.py, line 7",
		`C:\Users\alice\train.py`:                                        `path-1\train.py`,
		"/opt/env/lib/python3.11/site-packages/torch/nn/functional.py":   "path-1/torch/nn/functional.py",
		"mail a.liddell@example.org":                                     "mail [email]",
		"10.0.0.7 called 10.0.0.8, then 10.0.0.7":                        "host-1 called host-2, then host-1",
		"fe80:0:0:0:1:2:3:4 is down":                                     "host-1 is down",
		"fe80::1 is down, c10::Error":                                    "host-1 is down, c10::Error",
		"https://***@git.acme.org/x":                                     "https://***@host-1/x",
		`see \\srv7\home\alice\run.log`:                                  `see path-1\run.log`,
		"h100-n1.cluster.local is down":                                  "host-1 is down",
		"https://wandb.acme.org/team/run?x=1 failed":                     "https://host-1/team/run?x=1 failed",
		"docs: https://docs.pytorch.org/docs/stable/notes/cuda.html":     "docs: https://docs.pytorch.org/docs/stable/notes/cuda.html",
		"gpu_oom@train.log:93":                                           "gpu_oom@train.log:93",
		"15.77/79.11 GiB, actor/entropy 0.2 at 19:24:07, 3 it/s":         "15.77/79.11 GiB, actor/entropy 0.2 at 19:24:07, 3 it/s",
		"/dev/shm is full, 127.0.0.1:8000, /proc/meminfo, torch 2.5.1":   "/dev/shm is full, 127.0.0.1:8000, /proc/meminfo, torch 2.5.1",
		"actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=16": "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=16",
	} {
		assert.Equal(t, want, NewRedactor().text(text))
	}
	x := NewRedactor()
	x.Report(&Report{Inputs: []Input{{Name: "logs/gpu31.err"}}, Incidents: []Incident{{Root: Root{Host: new("gpu31")}}}})
	assert.Equal(t, "host-1 and dmesg-host-1.txt, not gpu310", x.text("gpu31 and dmesg-gpu31.txt, not gpu310"))
	assert.Equal(t, "path-1/host-1.err", x.Name(x.Name("logs/gpu31.err")), "twice is once")
	x.Inputs([]Input{{Name: "bob/\xff\xfe.log"}})
	assert.Equal(t, "path-2/\xff\xfe.log and path-1/gpu.err", x.text("bob/\xff\xfe.log and logs/gpu.err"), "a name that is no UTF-8")
}
