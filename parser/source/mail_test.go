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

// TestALogBetweenTheWordsOfAMailIsJoined: who quotes a short log writes a few rows above and below it, at each level of an answer. Only the
// first row of a line has the label of its process.
func TestALogBetweenTheWordsOfAMailIsJoined(t *testing.T) {
	t.Parallel()
	for _, label := range []string{"[rank1]: ", "(WorkerDict pid=4711) ", "3: ", "[1,2]<stderr>:", "2026-03-01 10:00:00,123 "} {
		log := []string{
			label + "step 1 of 20", label + "Traceback (most recent call last):", label + `  File "/opt/train.py", line 185, in <module>`, label + "    main(args)",
			label + allocatorMessage, label + "done",
		}
		for _, mark := range []string{"> ", ">> ", "> > ", ">>> ", "> >> ", "> > > "} {
			for _, width := range []int{70, 80, 100, 120} {
				rows := []string{"Hello,", "", mark[:1] + " here is the end of it", ">"}
				for _, line := range log {
					for _, row := range betweenWords(line, width) {
						rows = append(rows, strings.TrimRight(mark+row, " "))
					}
				}
				rows = append(rows, "> Best, A", "", "I have sent it to the GPU team, who know more about what happened on these nodes.", "How about your batch size?", "B")
				got := joined(strings.Join(rows, "\n") + "\n")
				for _, line := range log {
					assert.Contains(t, got, line, "%q, %d columns", mark, width)
				}
				assert.Contains(t, got, "I have sent it to the GPU team, who know more about what happened on these nodes.", "%q, %d columns", mark, width)
			}
		}
	}
}

// TestRowsBehindASignAreNoQuotedMail: pytest marks the line that failed, and diff those of a file, between others.
func TestRowsBehindASignAreNoQuotedMail(t *testing.T) {
	t.Parallel()
	w := wrapping{left: "> "}
	for name, text := range map[string]string{
		"pytest": "def test():\n>       a = f()\nt.py:3: ValueError\ndef other():\n>       g()\nt.py:9: ValueError\n",
		"diff":   "3c3\n< a b c\n---\n> a b\n7c7\n< d e\n---\n> d\n",
	} {
		rows, _ := w.rows(w.quotedPart([]byte(text)))
		assert.Nil(t, rows, name)
	}
}
