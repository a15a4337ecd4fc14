package cause

import (
	"fmt"
	"slices"

	"oomscan/classifier"
)

// growth returns the growing reading of the memory that ran out.
func (in *Input) growth() (classifier.Trend, bool) {
	names := map[string][]string{"gpu": {"reading.card", "reading.card_named", "reading.gpu", "reading.peak", "verl.peak", "vllm.slept", "slime.memory", "deepspeed.memory", "megatron.memory"}, "host": {"reading.rss", "docker.stats", "reading.host", "reading.node", "deepspeed.host_memory", "roll.rss", "roll.rss_train", "reading.above"}}[in.Resource]
	i := slices.IndexFunc(in.Growth, func(t classifier.Trend) bool { return slices.Contains(names, t.Name) })
	if i < 0 || in.Phase == "init" && !evenly(&in.Growth[i]) || in.LastStep != nil && *in.LastStep < 2 && !evenly(&in.Growth[i]) || in.Phase == "checkpoint" && in.Growth[i].Last < 2*in.Growth[i].First { // gathering adds at once
		return classifier.Trend{}, false
	}
	if t := &in.Growth[i]; t.Name == "docker.stats" && in.HostLimit != nil && t.Last < *in.HostLimit/2 { // of another container
		return classifier.Trend{}, false
	}
	return in.Growth[i], true
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
