package classifier

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/parser/messages"
)

func TestFactsAreAboutMessagesThatThereAre(t *testing.T) {
	t.Parallel()
	known := map[string]bool{"elastic.block": true} // a report of several lines, read by package traceback
	for _, p := range messages.All() {
		program, _, _ := strings.Cut(p.Name, ".")
		known[p.Name], known[program] = true, true
	}
	for name, f := range factsByName() {
		assert.True(t, known[name], "no message is called %q", name)
		assert.True(t, f.framework == "" || is(f.framework, Framework), name)
		assert.True(t, f.launcher == "" || is(f.launcher, Launcher), name)
	}
	for _, name := range []string{rayAdvice, rayDeadActor, kubeMemory, kubeLimits, kubeRequests, daskMemory} {
		assert.True(t, known[name], "no message is called %q", name)
	}
}
