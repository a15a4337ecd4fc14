package report

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"oomscan/parser/lazyre"
)

// This file has the words for accelerators that are no GPUs.

// gpuWord is how the guides, the causes and this package call the devices.
var gpuWord = lazyre.New(`\bGPU(s?)\b`)

// device is a sentence about the incident's devices under their own name.
func (in *Incident) device(s string) string {
	kind := deref(in.Root.Accelerator)
	if kind == "" {
		return s
	}
	return gpuWord().ReplaceAllString(s, kind+"${1}")
}

// nameDevices renames the devices in what package remedies says. Settings and their values stay as they are.
func (in *Incident) nameDevices() {
	if in.Root.Accelerator == nil {
		return
	}
	in.Summary, in.Checklist = in.device(in.Summary), in.device(in.Checklist)
	for i := range in.Evidence {
		in.Evidence[i].Why = in.device(in.Evidence[i].Why)
	}
	keep := func(field string, _ reflect.Value) bool { return field == "Changes" || field == "Source" }
	for _, said := range []any{in.Cause, &in.Rivals, &in.Findings, &in.Remedies, &in.Proposals} {
		rewriter{in.device, keep}.apply(reflect.ValueOf(said))
	}
}

// visibleLists are settings that list the cards a process may use; it counts them from 0.
var visibleLists = []string{"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "visible_gpus", "visible_devices"}

// visibleCard is a node's own number of the card that a process calls device, -1 where it is the same or unknown: Ray gives each
// process a list of its own.
func visibleCard(r *Report, device int) int {
	found := -1
	for key, x := range r.Run.Config {
		list := strings.Split(strings.Trim(x.Value, `"'[] `), ",")
		if !slices.Contains(visibleLists, key[strings.LastIndexByte(key, '.')+1:]) || device >= len(list) {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSpace(list[device]))
		if err != nil || n < 0 || found >= 0 && found != n {
			return -1
		}
		found = n
	}
	if found == device || deref(r.Run.Launcher) == "ray" {
		return -1
	}
	return found
}

// nodeCard names a card by the node's own number.
func nodeCard(n int) string { return fmt.Sprintf("card %d of the node", n) }
