package envelope

import (
	"slices"
	"strconv"
	"strings"

	"oomscan/parser/ascii"
	"oomscan/parser/lazyre"
)

var (
	labelRank = lazyre.New(`(?i)(?:^|[^a-z_])(?:global[_ ]|world[_ ])?rank[\s:=#\[]{0,3}(\d{1,6})\b`)
	labelPID  = lazyre.New(`(?i)(?:^|[^a-z_])pid[\s:=]{0,2}(\d{2,9})\b`)
)

// labelWords are the words of labels. With any other a text is a sentence, which may be about another process.
var labelWords = strings.Fields("rank global world of pid worker host node gpu device process proc trainer train main actor" +
	" dp tp pp ep cp error err warn warning info debug critical stdout stderr")

// ReadLabel completes a header by the rank and the pid in a label of an unknown form: "[rank 3 pid 4711] ", "gpu-7:rank3> ".
func ReadLabel(h *Header, label []byte) {
	text := string(label[:min(len(label), maxLabel)])
	if strings.Contains(strings.ToLower(text), "local") || !isLabel(text) {
		return
	}
	if m := labelRank().FindStringSubmatch(text); m != nil && h.Rank == Unknown {
		h.Rank, _ = strconv.Atoi(m[1])
	}
	if m := labelPID().FindStringSubmatch(text); m != nil && h.PID == 0 {
		h.PID, _ = strconv.Atoi(m[1])
	}
}

// isLabel reports whether a text has no words but those of labels. Names with a digit are of hosts and processes.
func isLabel(text string) bool {
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return c > 0x7f || !ascii.IsWord(byte(c)) && c != '-' && c != '.' }) {
		if !strings.ContainsAny(word, "0123456789") && len(word) > 1 && !slices.Contains(labelWords, strings.ToLower(word)) {
			return false
		}
	}
	return true
}
