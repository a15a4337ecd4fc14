package cause

import (
	"fmt"
	"slices"

	"oomscan/classifier"
)

// usesMemory lists the readings of the memory that ran out.
var usesMemory = map[string][]string{
	"gpu":  {"reading.card", "reading.card_named", "reading.gpu", "reading.device", "reading.peak", "verl.peak", "vllm.slept", "slime.memory", "deepspeed.memory", "megatron.memory", "reading.card_above"},
	"host": {"reading.rss", "docker.stats", "reading.host", "reading.node", "deepspeed.host_memory", "roll.rss", "roll.rss_train", "reading.host_above"},
}

// growth returns the growing reading of the memory that ran out.
func (in *Input) growth() (classifier.Trend, bool) {
	i := slices.IndexFunc(in.Growth, func(t classifier.Trend) bool { return slices.Contains(usesMemory[in.Resource], t.Name) })
	if i < 0 {
		return classifier.Trend{}, false
	}
	t := &in.Growth[i]
	starts := in.Phase == "init" || in.LastStep != nil && *in.LastStep < 2
	switch {
	case starts && !evenly(t):
	case in.host() && in.loading(): // what is loaded fills it
	case in.Phase == "checkpoint" && t.Last < 2*t.First: // gathering adds at once
	case t.Name == "docker.stats" && in.HostLimit != nil && t.Last < *in.HostLimit/2: // of another container
	default:
		return *t, true
	}
	return classifier.Trend{}, false
}

// evenly reports whether the last readings rose by about the same: within a first step, the parts of its memory come one after another, and
// they differ.
func evenly(t *classifier.Trend) bool {
	const last = 4
	n := len(t.Points)
	if n <= last || t.Every > 1 || t.Peak {
		return false
	}
	least, most := int64(0), int64(0)
	for i := n - last; i < n; i++ {
		rise := t.Points[i].Bytes - t.Points[i-1].Bytes
		if i == n-last || rise < least {
			least = rise
		}
		most = max(most, rise)
	}
	return least > 0 && most <= least+least/2
}

// growthFigure states how much a reading grows, per step if the readings name their steps.
func growthFigure(t *classifier.Trend) (string, *int64) {
	from, to := classifier.GiB(t.First), classifier.GiB(t.Last)
	var rises []int64
	steps := 0
	for i := 1; i < len(t.Points); i++ {
		if n := t.Points[i].Step - t.Points[i-1].Step; n > 0 && t.Points[i-1].Step >= 0 {
			rises, steps = append(rises, (t.Points[i].Bytes-t.Points[i-1].Bytes)/int64(n)), steps+n
		}
	}
	if len(rises) >= 2 && len(rises)+1 >= len(t.Points) {
		slices.Sort(rises)
		n := rises[len(rises)/2]
		return fmt.Sprintf("memory grew from %s to %s in %d steps, about %s per step: something is never freed", from, to, steps, classifier.GiB(n)), &n
	}
	n := (t.Last - t.First) / int64(max(t.Rises, 1))
	return fmt.Sprintf("memory grew from %s to %s in %d readings, about %s each time: something is never freed", from, to, t.Rises+t.Falls+1, classifier.GiB(n)), &n
}

// growing reports that memory use grew from reading to reading.
func growing(in *Input) string {
	t, ok := in.growth()
	if !ok {
		return ""
	}
	if t.Name == "vllm.slept" {
		return fmt.Sprintf("memory in use while the engine sleeps grew from %s to %s", classifier.GiB(t.First), classifier.GiB(t.Last))
	}
	return fmt.Sprintf("memory in use never fell in %d readings and grew from %s to %s", t.Count, classifier.GiB(t.First), classifier.GiB(t.Last))
}
