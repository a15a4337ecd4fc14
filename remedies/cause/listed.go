package cause

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"oomscan/classifier"
	"oomscan/parser/lazyre"
)

// What PyTorch's message and nvidia-smi say of the processes on a card.

// OtherRanksCard reports that a rank failed on another rank's card, next to several other processes: they all opened the same
// one.
func OtherRanksCard(in *Input) string {
	others, ranks := in.neighbors(), in.GPUs
	if in.EngineFailed && ranks < 2 {
		ranks = in.number("tensor_parallel_size", "tp_size")
	}
	if in.RayWorkers || in.Rank == nil || in.Device == nil || ranks < 2 || *in.Device != 0 || int64(*in.Rank)%ranks == 0 || len(others) < 2 {
		return ""
	}
	return fmt.Sprintf("rank %d failed on GPU %d, another rank's, where other processes also hold memory", *in.Rank, *in.Device)
}

// strangers is what other processes hold. Inside a container PyTorch lists its own process among them, so what is left of the card beside
// its own figures is the most.
func (in *Input) strangers() *int64 {
	if in.Total == nil || in.Free == nil || in.Allocated == nil || in.Idle == nil {
		return in.Others
	}
	rest := *in.Total - *in.Free - *in.Allocated - *in.Idle
	if rest <= 0 || rest > *in.Others {
		return in.Others
	}
	return &rest
}

// foreignHolder reports that other processes hold what was missing. The job's own engine and models do not count.
func foreignHolder(in *Input) string {
	if in.Others == nil || in.Shortfall == nil || *in.Others < *in.Shortfall || *in.Others < leastNeighbour || in.SharesCard || in.LessThanDesired || in.modelsShareCards() != "" {
		return ""
	}
	if in.Total != nil && *in.Others < *in.Total/10 || in.ListsItself() {
		return ""
	}
	return fmt.Sprintf("other processes hold %s, and %s was missing", gib(in.Others), gib(in.Shortfall))
}

// listed is a process in PyTorch's message.
var listed = lazyre.New(`process (\d+) has ([\d.]+) ([gm])ib memory in use`)

// holder names the one process that holds most of the others' bytes, as nvidia-smi or PyTorch's message lists it.
func (in *Input) holder(others int64) string {
	if p := in.listedHolder(); p != nil && p.Bytes >= others*8/10 {
		return fmt.Sprintf(": process %d (%s)", p.PID, p.Name)
	}
	if m := listed().FindAllStringSubmatch(in.Message, 2); len(m) == 1 && !in.unknownPID() {
		return ": process " + m[0][1]
	}
	return ""
}

// neighbors returns the memory of each other process that PyTorch's message lists.
func (in *Input) neighbors() []int64 {
	var out []int64
	for _, m := range in.named() {
		out = append(out, m.Bytes)
	}
	return out
}

// named returns the other processes that PyTorch's message lists. Inside a container the failed one is among them.
func (in *Input) named() []Listed {
	var out []Listed
	for _, m := range listed().FindAllStringSubmatch(in.Message, 64) {
		pid, err1 := strconv.Atoi(m[1])
		n, err := strconv.ParseFloat(m[2], 64)
		if err != nil || err1 != nil {
			return nil
		}
		out = append(out, Listed{PID: pid, Bytes: int64(n * float64(map[string]int64{"g": 1 << 30, "m": 1 << 20}[m[3]]))})
	}
	return out
}

// unknownPID reports whether PyTorch does not recognize its own process: inside a container it reports nothing for it, or less
// than it has allocated, and lists it among the others.
func (in *Input) unknownPID() bool {
	return in.Process == nil || in.Allocated != nil && *in.Process < *in.Allocated
}

// ListsItself reports whether the "other" process in the message is the failing one.
func (in *Input) ListsItself() bool {
	return in.unknownPID() && in.Others != nil && in.isOwn(*in.Others)
}

// isOwn reports whether a process of this size can be the failed one: PyTorch's reserved memory plus a context.
func (in *Input) isOwn(bytes int64) bool {
	const context = 2 << 30
	if in.Allocated == nil {
		return true // owner unknown
	}
	own := *in.Allocated
	if in.Idle != nil {
		own += *in.Idle
	}
	return bytes >= own-roundingError && bytes <= own+context
}

// alike reports that several processes hold about the same on one card, so they are ranks of one job that all opened it.
// Either the others match each other, or they match the failing one and the card's own rank holds more.
func alike(in *Input) string {
	held := in.neighbors()
	one := in.GPUs == 1 || in.GPUs == 0 && in.EngineFailed && in.number("tensor_parallel_size", "tp_size") == 1 // there are no other ranks
	if len(held) < 2 || one || in.Device != nil && *in.Device != 0 || in.SharesCard && in.RayWorkers {
		return "" // actor, critic and reference of a colocated run share their cards on purpose
	}
	most := slices.Max(held)
	if own := in.Process; own != nil {
		like := slices.DeleteFunc(slices.Clone(held), func(n int64) bool { return n < *own*9/10 || n > *own*11/10 })
		if len(like) >= 2 {
			return fmt.Sprintf("%d other processes hold as much as the failed one, %s each: ranks of the job that opened the same card", len(like), gib(own))
		}
	}
	if float64(most) > 1.3*float64(slices.Min(held)) {
		return ""
	}
	return fmt.Sprintf("%d other processes hold about %s each on this card: ranks of the job that opened the same one", len(held), classifier.GiB(most))
}

// onFailedCard reports whether nvidia-smi lists a process on the failed card: by its number or, where the answer to a query has the address of
// the card, because PyTorch's message lists a process of that address with as much.
func (in *Input) onFailedCard(p *Listed) bool {
	if p.Bus == "" {
		return in.Device != nil && p.Device == *in.Device
	}
	named := in.named()
	return slices.ContainsFunc(in.Listed, func(l Listed) bool {
		return l.Bus == p.Bus && slices.ContainsFunc(named, func(n Listed) bool {
			return n.PID == l.PID && max(n.Bytes-l.Bytes, l.Bytes-n.Bytes) <= roundingError
		})
	})
}

// card names the card of a process listed by nvidia-smi.
func (p *Listed) card() string {
	if p.Bus != "" {
		return p.Bus
	}
	return strconv.Itoa(p.Device)
}

// listedTwice reports that nvidia-smi lists processes on the failed card that also run on another one: ranks that opened a
// context on the wrong card.
func listedTwice(in *Input) string {
	var most, all int64
	pids, homes := map[int]bool{}, map[int]string{} // those that hold more elsewhere, and where each one is besides
	for i := range in.Listed {
		a := &in.Listed[i]
		if !in.onFailedCard(a) {
			continue
		}
		for j := range in.Listed {
			b := &in.Listed[j]
			if b.PID != a.PID || b.card() == a.card() {
				continue
			}
			homes[a.PID], all = b.card(), max(all, a.Bytes)
			if b.Bytes > a.Bytes {
				pids[a.PID], most = true, max(most, a.Bytes)
			}
		}
	}
	n := len(pids)
	if len(slices.Compact(slices.Sorted(maps.Values(homes)))) > 1 { // one process on several cards may have split its model
		n, most = len(homes), all
	}
	switch n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("nvidia-smi lists a process with %s on this card that works on another one", classifier.GiB(most))
	}
	return fmt.Sprintf("nvidia-smi lists %d processes with up to %s each on this card that work on other cards", n, classifier.GiB(most))
}

// ListedHolder reports that nvidia-smi lists another process on the failed card that holds what was missing.
func ListedHolder(in *Input) string {
	p := in.listedHolder()
	if p == nil {
		return ""
	}
	return fmt.Sprintf("nvidia-smi lists process %d (%s) on this card with %s", p.PID, p.Name, classifier.GiB(p.Bytes))
}

func (in *Input) listedHolder() *Listed {
	if in.SharesCard || listedTwice(in) != "" {
		return nil
	}
	for i := range in.Listed {
		p := &in.Listed[i]
		own := in.PID != nil && p.PID == *in.PID || in.isOwn(p.Bytes) && (!p.Afterwards || in.Allocated == nil && in.runs(p.Name))
		switch {
		case own, p.Bytes < leastNeighbour, p.Device == AnyDevice && !in.covers(p.Bytes):
		case p.Device != AnyDevice && in.Device != nil && p.Device != *in.Device, p.Bus != "" && len(in.named()) > 0 && !in.onFailedCard(p):
		case in.Shortfall != nil && p.Bytes < *in.Shortfall, in.Total != nil && p.Bytes < *in.Total/10:
		default:
			return p
		}
	}
	return nil
}

// OllamaHolds reports that nvidia-smi lists Ollama with a loaded model on the failed card.
func OllamaHolds(in *Input) string {
	i := slices.IndexFunc(in.Listed, func(p Listed) bool {
		return strings.Contains(strings.ToLower(p.Name), "ollama") && p.Bytes >= leastNeighbour && (p.Device == AnyDevice || in.Device == nil || p.Device == *in.Device)
	})
	if i < 0 || in.Application == "ollama" {
		return ""
	}
	return "Ollama keeps a model on this GPU, " + classifier.GiB(in.Listed[i].Bytes)
}

// covers reports whether a process of this size explains the memory that is neither free nor PyTorch's.
func (in *Input) covers(bytes int64) bool {
	if in.Total == nil || in.Free == nil || in.Allocated == nil {
		return false
	}
	rest := *in.Total - *in.Free - *in.Allocated
	if in.Idle != nil {
		rest -= *in.Idle
	}
	return bytes >= rest*8/10 && bytes <= rest+roundingError
}

// runs reports whether a command is of the script that failed.
func (in *Input) runs(command string) bool {
	for word := range strings.FieldsSeq(strings.ToLower(command)) {
		if name := word[strings.LastIndexByte(word, '/')+1:]; strings.HasSuffix(name, ".py") && in.passes(len(in.Stack), "/"+name+" ") {
			return true
		}
	}
	return false
}
