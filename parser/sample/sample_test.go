package sample

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSampleMarksAreToldByTheirBrackets(t *testing.T) {
	t.Parallel()
	for _, m := range Marks {
		told := strings.IndexByte("<[", m.Text[0]) >= 0 && strings.IndexByte(seconds, m.Text[1]) >= 0
		assert.True(t, told || m.Text == labelIDs || ofLine(m), m.Text)
	}
}

// ofLine reports whether a line begins or ends with a mark, which is none elsewhere.
func ofLine(m Mark) bool {
	return m.Text == rewarded || m.Text == starts || strings.HasPrefix(m.Text, judged) || strings.HasPrefix(m.Text, ended)
}

func TestTheLastMarkOpensOrCloses(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(11, 12))
	anywhere := slices.DeleteFunc(slices.Clone(Marks), ofLine)
	for range 2000 {
		var b []byte
		for range r.IntN(6) {
			b = append(b, anywhere[r.IntN(len(anywhere))].Text...)
			b = append(b[:len(b)-r.IntN(2)], "user"[:4*r.IntN(2)]...)
			b = append(b, strings.Repeat("[<|_i", r.IntN(3))...)
		}
		last, opens := -1, false
		for _, m := range anywhere {
			role := ""
			if m.Opens && strings.HasSuffix(m.Text, "|>") {
				role = "[a-z]"
			}
			if all := regexp.MustCompile(regexp.QuoteMeta(m.Text)+role).FindAllIndex(b, -1); len(all) > 0 && all[len(all)-1][0] > last {
				last, opens = all[len(all)-1][0], m.Opens
			}
		}
		mark, got := Last(b)
		assert.Equal(t, last, mark, "%q", b)
		assert.Equal(t, opens, got, "%q", b)
	}
}

func TestAMarkInAValueIsNoMark(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`chat_template="<|im_start|>user"`,
		`{'bos': '<|im_start|>user', 'eos': '<|im_end|>'}`,
		"the template `[INST] x [/INST]` is used",
		`texts: ["<|im_start|>user\nsay \"hi\" to <|im_end|>"]`,
		"bos_token = <|im_start|>",
		"it logs Output (Total Reward: 1.0):",
		"it writes ###Feedback:",
		"it ends with (end of prompt on previous line)",
		"the prompt (starting on next line): is long",
	} {
		mark, _ := Last([]byte(line))
		assert.Negative(t, mark, line)
	}
	for line, want := range map[string]bool{
		"I don't know <|im_end|>":                                 false,
		"example_format: '<|im_start|>system":                     true,
		"don't <|im_start|>user can't":                            true,
		"<|im_start|>assistant":                                   true,
		"  Output (Total Reward: 1.0):":                           true,
		"###Reference Answer (Score 5):":                          true,
		"###Feedback:":                                            false,
		"document 0; context prompt (starting on next line):    ": true,
		"(end of prompt on previous line)":                        false,
		"say 'hello' <|eot_id|><|start_header_id|>u":              true,
	} {
		mark, opens := Last([]byte(line))
		assert.GreaterOrEqual(t, mark, 0, line)
		assert.Equal(t, want, opens, line)
	}
}
