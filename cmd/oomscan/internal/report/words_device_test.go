package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/remedies"
	"oomscan/remedies/memory"
)

// TestAnAcceleratorHasItsOwnName looks at a page for a device that is no GPU: no sentence calls it one, and no setting changes.
func TestAnAcceleratorHasItsOwnName(t *testing.T) {
	t.Parallel()
	value, device := "GPU", 1
	for kind, want := range map[string][]string{
		"":    {"GPU 1", "the GPU's share", "across more GPUs", "device: GPU"},
		"NPU": {"NPU 1", "the NPU's share", "across more NPUs", "device: GPU"},
		"TPU": {"TPU 1", "the TPU's share", "across more TPUs", "device: GPU"},
	} {
		in := Incident{
			Verdict: "memory", Kind: "gpu_oom", Resource: "gpu", Checklist: "JAX: GPU memory", Root: Root{Device: &device, Accelerator: str(kind)},
			Cause:     &Why{ID: "x", Confidence: "high", Text: "the GPU's share"},
			Remedies:  []Remedy{{ID: "a", Title: "Spread the model across more GPUs"}},
			Proposals: []Proposal{{Remedies: []string{"a"}, Title: "Move it", Changes: []Change{{Key: "device", To: &value, Snippet: "device: GPU", Syntax: "yaml"}}}},
		}
		in.nameDevices()
		got := text(t, &Report{Incidents: []Incident{in}}, Style{Width: 80})
		for _, w := range want {
			assert.Contains(t, got, w, kind)
		}
		if kind != "" {
			assert.NotContains(t, got, "GPU memory", kind)
		}
	}
}

// TestWhatTheCardHeldOutsidePyTorch names what a context and NCCL take only where it can be that.
func TestWhatTheCardHeldOutsidePyTorch(t *testing.T) {
	t.Parallel()
	const gib = int64(1 << 30)
	for name, c := range map[string]struct {
		rest    int64
		message string
		want    string
	}{
		"a context":        {gib, "CUDA out of memory", "CUDA and NCCL"},
		"an engine's pool": {43 * gib, "CUDA out of memory", wordOutside},
		"an NPU's context": {gib, "NPU out of memory", wordOutside},
	} {
		total, free, allocated, idle, rounding := 80*gib, gib, 78*gib-c.rest, gib, int64(0)
		l := &memory.Ledger{Capacity: &total, Free: &free, Allocated: &allocated, ReservedUnallocated: &idle, ProcessRest: &c.rest, Rounding: rounding}
		_, parts, _ := memoryParts(&Incident{Resource: "gpu", Ledger: l, Root: Root{Message: c.message}})
		var labels []string
		for i := range parts {
			labels = append(labels, parts[i].word())
		}
		assert.Equal(t, []string{"tensors", "reserved but unused", c.want, "free"}, labels, name)
	}
}

// TestWhatBelongsToAKillIsNotWhatFollowed parts the consequences by their lines, and knows the kill again by its pid.
func TestWhatBelongsToAKillIsNotWhatFollowed(t *testing.T) {
	t.Parallel()
	pid := 101
	kill := func(pid *int, followed ...Consequence) string {
		in := Incident{Verdict: "memory", Kind: "oom_kill", Resource: "host", Root: Root{File: "a.log", Line: 10, PID: pid}, Consequences: followed}
		return text(t, &Report{Incidents: []Incident{in}}, Style{Width: 100})
	}
	for name, c := range map[string]struct {
		got       string
		want, not []string
	}{
		"the shell's report before":  {kill(&pid, Consequence{Kind: "oom_kill", File: "a.log", Line: 9, Message: "101 Killed  python x.py"}), []string{"before it", "same kill reported (line", "9)"}, []string{"afterwards"}},
		"the kernel's reaper after":  {kill(&pid, Consequence{Kind: "oom_kill", File: "a.log", Line: 12, Message: "reaped process 101 (python)"}), []string{"afterwards", "same kill reported (line"}, []string{"a process was killed"}},
		"another process":            {kill(&pid, Consequence{Kind: "oom_kill", File: "a.log", Line: 12, Message: "1015 Killed"}), []string{"afterwards", "a process was killed (line"}, []string{"same kill"}},
		"a death before the report":  {kill(nil, Consequence{Kind: "process_exit", File: "a.log", Line: 4, Message: "The actor died"}), []string{"before it", "a process exited (line"}, []string{"afterwards"}},
		"a death in another log":     {kill(nil, Consequence{Kind: "process_exit", File: "b.log", Line: 4, Message: "The actor died"}), []string{"afterwards", "a process exited (b.log:4"}, []string{"before it"}},
		"several lines about deaths": {kill(nil, Consequence{Kind: "process_exit", File: "a.log", Line: 12, Count: 2}), []string{"process exits logged"}, []string{"processes ended"}},
	} {
		for _, w := range c.want {
			assert.Contains(t, plainSpaces(c.got), w, name)
		}
		for _, w := range c.not {
			assert.NotContains(t, plainSpaces(c.got), w, name)
		}
	}
}

// TestTheUseOfAHostIsSaid says what was in use where no process asked for memory.
func TestTheUseOfAHostIsSaid(t *testing.T) {
	t.Parallel()
	gib := func(n int64) *int64 { return new(n << 30) }
	for want, r := range map[string]Root{
		"600 GiB was in use: 100 GiB over the limit.":                                  {Used: gib(600), Limit: gib(500)},
		"At the last reading before it, 60 of 64 GiB of the node's memory was in use.": {NodeUsed: gib(60), NodeTotal: gib(64)},
		"Tried to allocate 256 GiB; the host has 250 GiB.":                             {Request: gib(256), Total: gib(250)},
		"": {Used: gib(400), Limit: gib(500), NodeUsed: gib(60), NodeTotal: gib(64)},
	} {
		assert.Equal(t, want, plainSpaces(requestText(&Incident{Verdict: "memory", Kind: "oom_kill", Resource: "host", Root: r})))
	}
	assert.Empty(t, hostUseText(&Root{NodeUsed: gib(1), NodeTotal: gib(64)}), "a reading from long before")
}

// TestADefaultIsNoFactOfTheRun prints a default as one where the version is unknown.
func TestADefaultIsNoFactOfTheRun(t *testing.T) {
	t.Parallel()
	to := "0.9"
	for from, want := range map[string]string{
		"0.83 by default: + 0.07":                    "# not in the log; default: 0.83",
		"0.83 by default in recent versions: + 0.07": "# not in the log; recent default: 0.83",
	} {
		c := remedies.Change{Key: "--mem-fraction-static", To: &to, Snippet: "--mem-fraction-static 0.9", Syntax: "flag", ComputedFrom: from}
		in := Incident{Verdict: "memory", Kind: "kv_cache", Resource: "gpu", Proposals: []Proposal{{Changes: []Change{c}}}, Remedies: []Remedy{{ID: "a"}}}
		assert.Contains(t, text(t, &Report{Incidents: []Incident{in}}, Style{Width: 80}), want)
	}
}

// plainSpaces is a text with breakable blanks.
func plainSpaces(s string) string { return strings.ReplaceAll(s, string(nbsp), " ") }

// TestACardHasTheNodesNumber reads the list of the cards that a process may use.
func TestACardHasTheNodesNumber(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		key, value, launcher string
		device, want         int
	}{
		"one other card":         {"args.visible_gpus", "3", "", 0, 3},
		"the second of two":      {"CUDA_VISIBLE_DEVICES", "2,5", "", 1, 5},
		"in brackets":            {"visible_devices", "[4, 6]", "torchrun", 1, 6},
		"the same card":          {"CUDA_VISIBLE_DEVICES", "0,1", "", 0, -1},
		"not in the list":        {"CUDA_VISIBLE_DEVICES", "3", "", 3, -1},
		"a list of another kind": {"CUDA_VISIBLE_DEVICES", "GPU-8f2a", "", 0, -1},
		"Ray's workers":          {"CUDA_VISIBLE_DEVICES", "3", "ray", 0, -1},
		"another setting":        {"gpus", "3", "", 0, -1},
	} {
		r := &Report{Run: Run{Launcher: str(c.launcher), Config: map[string]Setting{c.key: {Value: c.value}}}}
		assert.Equal(t, c.want, visibleCard(r, c.device), name)
		in := Incident{Verdict: "memory", Kind: "gpu_oom", Resource: "gpu", Root: Root{Device: &c.device}}
		assert.Equal(t, c.want >= 0, strings.Contains(subject(r, &in), "of the node)"), name)
	}
}
