package classifier

import (
	"strconv"
	"strings"

	"oomscan/parser/envelope"
)

// severalPIDs marks a program that has several processes.
const severalPIDs = -1

// noteRelay notes the pid that a system's log has for a program. The log knows which process has the file open, and the ranks that a
// launcher starts share their launcher's.
func (f *file) noteRelay(h *envelope.Header) {
	if h.PID <= 0 {
		return
	}
	for label := range strings.SplitSeq(h.Stream, "|") {
		words := strings.Fields(label)
		if len(words) != 3 || label[0] != 'h' {
			continue
		}
		pid, err := strconv.Atoi(words[2])
		if err != nil || pid <= 0 {
			continue
		}
		if have, known := f.Relays[words[1]]; known && have != pid {
			pid = severalPIDs
		} else if !known && len(f.Relays) >= maxLaunches {
			continue
		}
		f.Relays[words[1]] = pid
	}
}

// isRelay reports whether a pid is the only one that the system's log has for a program: then it may not be the pid of the
// rank that wrote the line.
func (f *file) isRelay(pid int) bool {
	for _, only := range f.Relays {
		if only == pid && pid > 0 {
			return true
		}
	}
	return false
}

// hasOther reports whether the input names a rank or a device of a process with another pid.
func (f *file) hasOther(pid int) bool {
	for _, id := range f.Identities {
		if id.PID > 0 && id.PID != pid && (id.Rank >= 0 || id.LocalRank >= 0 || id.Device >= 0) {
			return true
		}
	}
	return false
}
