package source

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAShortMailBelowItsHeaderIsJoined(t *testing.T) {
	t.Parallel()
	log := []string{
		"start", "Traceback (most recent call last):", `  File "train.py", line 185, in <module>`, "    main(args)",
		`  File "/opt/seg/lib/python3.7/site-packages/torch/tensor.py", line 221, in backward`,
		"    torch.autograd.backward(self, gradient, retain_graph, create_graph)", "    allow_unreachable=True)  # allow_unreachable flag",
		"RuntimeError: CUDA out of memory. Tried to allocate 844.00 MiB (GPU 0; 14.76 GiB total capacity; 9.70 GiB already allocated)",
	}
	header := []string{"From: A <a@b.example>", "To: list@b.example", "References: <1@b.example>", "\t<2@b.example>", "Subject: Re: training dies"}
	mail := append(header[:len(header):len(header)], "")
	for _, line := range log {
		for _, row := range betweenWords(line, 70) {
			mail = append(mail, "> "+row)
		}
	}
	for name, rows := range map[string][]string{"a mail": mail, "in a mailbox": append([]string{"From a@b.example Mon Mar  2 10:00:00 2026"}, mail...)} {
		for _, end := range []string{"\n", "\r\n"} {
			text := strings.Join(joined(strings.Join(append(rows, "", "How about your batch size?"), end)+end), "\n")
			for _, line := range log {
				assert.Contains(t, text, line, name)
			}
		}
	}
	assert.Equal(t, "a\n\nb", string(withoutMailHeader([]byte("a\n\nb"))))
	assert.Equal(t, "Loss: 1\nb\n", string(withoutMailHeader([]byte("Loss: 1\nb\n"))), "no empty row ends it")
}
