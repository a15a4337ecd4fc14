package classifier

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/parser/messages"
)

func TestPatternsNameProgramsOfTheRegistry(t *testing.T) {
	t.Parallel()
	for _, p := range messages.All() {
		assert.True(t, p.Framework == "" || is(p.Framework, Framework), p.Name)
		assert.True(t, p.Launcher == "" || is(p.Launcher, Launcher), p.Name)
	}
}

func TestMessagesThatTheClassifierNamesExist(t *testing.T) {
	t.Parallel()
	for _, name := range []string{rayAdvice, rayDeadActor, kubeMemory, kubeLimits, kubeRequests, kernelVictim, cppBackward, daskMemory} {
		assert.NotNil(t, messages.ByName(name), name)
	}
}

func TestReportsOfSeveralLinesHaveTheirProgram(t *testing.T) {
	t.Parallel()
	assert.True(t, patternOf("kernel.report").Node)
	assert.True(t, patternOf("elastic.block").Ends)
	assert.Empty(t, patternOf("elastic.of_a_later_version").Launcher)
}
