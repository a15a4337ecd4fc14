package classifier

import (
	"strconv"

	"oomscan/parser"
)

// Victim is the process or job that an event in a node's log is about. Empty and 0 are unknown.
type Victim struct {
	Job  string // the scheduler's id
	PID  int
	Host string
}

// Deal splits logs of several jobs. For each event, owner names the job that it is about, as a place in the
// caller's list, or a negative number; it is only called for events that name a job or a process. What belongs to such an
// event (details of the same kill) goes with it. The second result has everything without an owner. Both share what they
// hold with c, which must not be added to afterwards.
func (c *Collector) Deal(owner func(Victim) int) (dealt map[int]*Collector, rest *Collector) {
	dealt, rest = map[int]*Collector{}, NewCollector()
	for name, f := range c.files {
		to := f.owners(owner)
		shares := map[int][]*event{}
		for i, e := range f.Events {
			shares[to[i]] = append(shares[to[i]], e)
		}
		for place, events := range shares {
			if place < 0 {
				continue
			}
			if dealt[place] == nil {
				dealt[place] = NewCollector()
			}
			share := dealt[place].file(name)
			share.Events, share.Identities = events, f.Identities
			share.LastTime, share.Clock = f.LastTime, f.Clock
		}
		left := *f
		left.Events = shares[nobody]
		rest.files[name] = &left
	}
	return dealt, rest
}

// nobody marks an event that belongs to no job.
const nobody = -1

// owners returns the owner of each event of a log.
func (f *file) owners(owner func(Victim) int) []int {
	to := make([]int, len(f.Events))
	byPID := map[string]int{} // a kill is reported in several lines, one of which names the job
	for i, e := range f.Events {
		to[i] = nobody
		if v := (Victim{Job: jobOf(e.Fields), Host: e.Header.Host}); v.Job != "" {
			to[i] = owner(v)
		}
		if pid := e.Fields["pid"]; pid != "" && to[i] != nobody {
			byPID[pid] = to[i]
		}
	}
	for i, e := range f.Events {
		pid := e.Fields["pid"]
		if to[i] != nobody || pid == "" || jobOf(e.Fields) != "" {
			continue
		}
		if place, ok := byPID[pid]; ok {
			to[i] = place
		} else if n, err := strconv.Atoi(pid); err == nil && n > 0 {
			to[i] = owner(Victim{PID: n, Host: e.Header.Host})
		}
	}
	at := map[*event]int{}
	for i, e := range f.Events {
		at[e] = i
	}
	for i, e := range f.Events {
		if to[i] == nobody && e.Role == parser.Detail {
			whose := ownerOf(f.Events, e)
			if pid := e.Fields["pid"]; whose != nil && (pid == "" || pid == whose.Fields["pid"]) {
				to[i] = to[at[whose]]
			}
		}
	}
	return to
}
