package jobs

import (
	"slices"
	"strconv"

	"oomscan/parser/lazyre"
)

var digits = lazyre.New(`\d+`)

// accept decides, for the logs of one folder, which numbers in their names are job ids, and drops the others. A number
// is one when the name says so or ends as a scheduler's files do, when the log tells the same id, or when it is that of
// another log beside it; and when runs begin in several logs whose names differ in it alone. What stands behind an id is
// an array's task unless it is a rank.
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

// sameJob says that logs tell one id: numbers in their names tell processes apart.
func sameJob(list []*entry) bool {
	first := list[0].Jobs
	return len(first) > 0 && !slices.ContainsFunc(list, func(e *entry) bool { return !overlap(e.Jobs, first) })
}

// ranks says of logs with one id that the numbers behind it are not tasks of an array: a log of the job has none, all
// tell the same id (tasks have ids of their own), or each tells of the rank that its number is.
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
