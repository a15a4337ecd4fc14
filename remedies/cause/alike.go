package cause

import (
	"cmp"
	"fmt"
	"strings"

	"oomscan/classifier"
)

// Copies reports that several processes of one name held about the same before the first step, and most of the limit, or of the machine,
// together: each loaded the model. If they hold more than the node has, they share pages, as forked loaders do.
func Copies(in *Input) string {
	if !in.host() || in.LastStep != nil && *in.LastStep > 0 || in.Phase != "unknown" && in.Phase != "init" || len(in.Holders) < 2 || offloads(in) != "" {
		return ""
	}
	bound := cmp.Or(in.HostLimit, in.NodeRAM)
	first, n, all := in.Holders[0], int64(0), int64(0)
	for _, h := range in.Holders {
		if h.Name == first.Name && h.Bytes >= first.Bytes*3/4 {
			n, all = n+1, all+h.Bytes
		}
	}
	if n < 2 || bound == nil || all < *bound*6/10 || all > *bound*21/20 {
		return ""
	}
	each := "rank"
	if in.HostLimit == nil && in.GPUs < 2 && in.Rank == nil {
		each = "process" // they may be programs of their own
	}
	if strings.Contains(first.Name, "ImplicitFunc") { // Ray Tune's
		each = "trial"
	}
	return fmt.Sprintf("%d processes (%s) held about %s each, %s%s together: every %s has its own copy", n, first.Name, classifier.GiB(all/n), classifier.GiB(all), of(bound), each)
}

// together names the processes of one name that held most of the memory, for an unknown purpose. What they hold beyond the limit they share.
func (in *Input) together() string {
	all, sums, counts := int64(0), map[string]int64{}, map[string]int64{}
	name := ""
	for _, h := range in.Holders {
		all += h.Bytes
		sums[h.Name] += h.Bytes
		counts[h.Name]++
		if name == "" || sums[h.Name] > sums[name] {
			name = h.Name
		}
	}
	most := Processes{Name: name, Count: counts[name], Bytes: sums[name]}
	if in.Biggest.Bytes > most.Bytes { // the holders are the largest few rows of the table
		most = in.Biggest
	}
	bound := cmp.Or(in.HostLimit, in.NodeRAM)
	if bound != nil {
		all = *bound
	}
	if n := most.Bytes; !in.host() || most.Name == "" || most.Count < 2 || n < 1<<30 || n < all/2 || n > all/20*21 {
		return ""
	}
	return fmt.Sprintf("%d processes named %s held %s%s together; the log does not show why", most.Count, most.Name, classifier.GiB(most.Bytes), of(bound))
}
