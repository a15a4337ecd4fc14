package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/classifier"
	"oomscan/cmd/oomscan/internal/report"
	"oomscan/parser"
)

func TestOfALogInWhichNothingWasFoundNothingIsKept(t *testing.T) {
	t.Parallel()
	p := logResult{input: report.Input{Name: "train.log", Counts: parser.Counts{Lines: 1}}, collector: classifier.NewCollector()}
	p.pack()
	assert.Equal(t, logResult{input: p.input}, p)
	assert.Nil(t, p.facts())
	assert.Nil(t, p.jobClues())
}
