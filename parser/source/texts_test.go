package source

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRulesAndSettingsAreNoQuotedPrintable(t *testing.T) {
	t.Parallel()
	rule := strings.Repeat("=", 60) + "\n"
	for name, c := range map[string]struct {
		head string
		want bool
	}{
		"a mail":                      {"step=3D1, lr=3D0.1, a long line that is cut =\nhere, and once more =\nthere\n", true},
		"a mail with heads":           {"Content-Type: text/plain; charset=\"UTF-8\"\r\n\r\nstep=3D1, cut =\r\nhere, and =\r\nthere\r\n", true},
		"a mode of 3D between rules":  {"mode=3D\n" + rule + "train.py FAILED\n" + rule, false},
		"settings of 3D convolutions": {"conv=3D pool=3D lr=0.1 batch=2 epochs=9 seed=1\nkey=\nother=\nlast=x size=y n=z\n", false},
		"a mail without signs":        {"Content-Type: text/plain; charset=utf-8\n\n" + strings.Repeat(strings.Repeat("word ", 15)+"=\nend\n", 3), true},
		"no escapes":                  {"a=\nb=\nc=\n", false},
	} {
		assert.Equal(t, c.want, isQuotedPrintable([]byte(c.head)), name)
	}
}
