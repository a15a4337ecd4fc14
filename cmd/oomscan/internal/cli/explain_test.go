package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier/phase"
	causes "oomscan/remedies/cause"
)

func TestEveryKindPhaseAndCauseIsExplainedInHalfAPage(t *testing.T) {
	t.Parallel()
	byGroup := map[string][]string{}
	for _, e := range explanations() {
		t.Run(e.group+" "+e.word, func(t *testing.T) {
			assert.LessOrEqual(t, strings.Count(e.text, "\n"), 30)
			assert.Regexp(t, `^\w+: [^\n]+[^.\n]\n\n`, e.text)
			assert.Contains(t, e.text, "\nWhat helps: ")
			if e.word != phase.Unknown {
				assert.Contains(t, e.text, "\nRecognized by: ")
			}
			for line := range strings.Lines(e.text) {
				assert.LessOrEqual(t, len(line), 81, line)
			}
		})
		byGroup[e.group] = append(byGroup[e.group], e.word)
	}
	assert.ElementsMatch(t, kindNames, byGroup["kind"])
	assert.ElementsMatch(t, append(phase.Known(), phase.Unknown), byGroup["phase"])
	assert.ElementsMatch(t, causes.IDs(), byGroup["cause"])
}

func TestExplanationsReferToWordsThatAreExplained(t *testing.T) {
	t.Parallel()
	var words []string
	for _, e := range explanations() {
		words = append(words, e.word)
	}
	for _, e := range explanations() {
		_, also, ok := strings.Cut(e.text, "\nSee also: ")
		for word := range strings.SplitSeq(strings.TrimSuffix(also, ".\n"), ", ") {
			assert.True(t, !ok || slices.Contains(words, word), "%s: see also %s", e.word, word)
		}
	}
}

func TestExplainAnswersWithAllThatHasTheName(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	require.Zero(t, Main([]string{"explain", "Weight-Update"}, Streams{Out: &out, Err: &errs}), errs.String())
	assert.Contains(t, out.String(), "phase weight_update: ")
	assert.Contains(t, out.String(), "cause weight_update: ")
}
