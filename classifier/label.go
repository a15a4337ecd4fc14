package classifier

import (
	"strings"

	"oomscan/parser"
	"oomscan/parser/envelope"
	"oomscan/parser/lazyre"
)

// maxLabel bounds the label that a program of a user's own puts before a failure's message.
const maxLabel = 100

// messageBegins is where the message after it begins.
var messageBegins = lazyre.New(`\b(?:[\w.]{0,80}(?:Error|Exception)\b|(?:CUDA|HIP|NPU|XPU)\b|[Oo]ut of memory|OOM\b)`)

// fillByOwnLabel reads rank and pid in a label before the message, of a form that no line prefix is known for.
func (id *identity) fillByOwnLabel(e *event) {
	if e.Role != parser.Evidence || e.Trace != nil && e.Trace.Origin != nil {
		return
	}
	at := messageBegins().FindStringIndex(e.Text[:min(len(e.Text), 2*maxLabel)])
	if at == nil || at[0] > maxLabel {
		return
	}
	label := strings.TrimRight(e.Text[:at[0]], " ")
	if label == "" || !strings.ContainsRune(":|]>)}", rune(label[len(label)-1])) {
		return
	}
	h := envelope.NewHeader()
	envelope.ReadLabel(&h, []byte(label))
	if id.Rank < 0 {
		id.Rank = h.Rank
	}
	if id.PID <= 0 && h.PID > 0 {
		id.PID = h.PID
	}
}
