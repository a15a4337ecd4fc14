package jobs

import (
	"slices"
	"strconv"

	"oomscan/parser/lazyre"
)

var digits = lazyre.New(`\d+`)

// acceptIDs decides which numbers in the names of a folder's logs are job ids, and drops the others. A number is one
// if the name says so or ends like a scheduler's file, if the log has the same id, or if it is another accepted
// log's; also if runs begin in several logs with names that differ only in it. A number after an id is an array's
// task unless it is a rank.
func acceptIDs(entries []*entry) {
	known := map[string]bool{}
	runs := map[string][]*entry{} // by stem: logs in which a run begins
	for _, e := range entries {
		d := &e.id
		if d.id == "" {
			continue
		}
		if d.certain || streamOf(e.base) && !d.doubtful || slices.Contains(e.Jobs, d.id) {
			known[d.id] = true
		} else if e.Head && len(d.id) >= 5 && !d.doubtful {
			runs[d.stem] = append(runs[d.stem], e)
		}
	}
	for _, list := range runs {
		if several := slices.ContainsFunc(list, func(e *entry) bool { return e.id.id != list[0].id.id }); several && !sameJob(list) {
			for _, e := range list {
				known[e.id.id] = true
			}
		}
	}
	tasks := map[string][]*entry{}
	for _, e := range entries {
		switch {
		case e.id.id == "":
		case !known[e.id.id]:
			e.id = ident{}
		default:
			tasks[e.id.id] = append(tasks[e.id.id], e)
		}
	}
	for _, list := range tasks {
		if areRanks(list) {
			for _, e := range list {
				e.id.task = ""
			}
		}
	}
}

// sameJob reports whether logs have one id in common, so that numbers in their names are processes.
func sameJob(list []*entry) bool {
	first := list[0].Jobs
	return len(first) > 0 && !slices.ContainsFunc(list, func(e *entry) bool { return !overlap(e.Jobs, first) })
}

// areRanks reports whether the numbers after the id of these logs are ranks instead of array tasks: one log has no
// number, all contain the same id (tasks have their own), or each contains only the rank in its name.
func areRanks(list []*entry) bool {
	matching, numbers := 0, map[string]bool{}
	for _, e := range list {
		if e.id.task == "" {
			return true
		}
		numbers[e.id.task] = true
		if n, err := strconv.Atoi(e.id.task); err == nil && len(e.Ranks) == 1 && e.Ranks[0] == n {
			matching++
		} else if len(e.Ranks) > 0 {
			matching = -len(list)
		}
	}
	return len(numbers) > 1 && (sameJob(list) || matching > 1)
}
