package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/parser"
)

func TestARelayTakesAllInOrder(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, relayLoad - 1, relayLoad, relayLoad + 1, 10*relayLoad + 7} {
		var got []int
		emit, end := relay(func(o parser.Observation) { got = append(got, o.(parser.Marker).At.Line) })
		for i := range n {
			emit(parser.Marker{At: parser.Position{Line: i}})
		}
		end()
		assert.Len(t, got, n)
		for i, line := range got {
			assert.Equal(t, i, line)
		}
	}
}
