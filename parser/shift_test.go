package parser

import (
	"testing"

	"oomscan/parser/traceback"

	"github.com/stretchr/testify/assert"
)

func TestShiftMovesPlacesAndChangesNothing(t *testing.T) {
	t.Parallel()
	place := Position{Source: "a", Line: 5, Offset: 50}
	cause := &traceback.Trace{Line: 1, EndLine: 2}
	trace := &traceback.Trace{Line: 3, EndLine: 0, Cause: cause}
	for _, o := range []Observation{
		Event{At: place, Trace: trace}, Setting{At: place}, Marker{At: place}, Gauge{At: place},
	} {
		moved := Shift(o, 100, 1000)
		switch m := moved.(type) {
		case Event:
			assert.Equal(t, Position{Source: "a", Line: 105, Offset: 1050}, m.At)
			assert.Equal(t, &traceback.Trace{Line: 103, Cause: &traceback.Trace{Line: 101, EndLine: 102}}, m.Trace)
		case Setting:
			assert.Equal(t, Position{Source: "a", Line: 105, Offset: 1050}, m.At)
		case Marker:
			assert.Equal(t, Position{Source: "a", Line: 105, Offset: 1050}, m.At)
		case Gauge:
			assert.Equal(t, Position{Source: "a", Line: 105, Offset: 1050}, m.At)
		}
	}
	assert.Equal(t, &traceback.Trace{Line: 3, Cause: cause}, trace)
	assert.Equal(t, 1, cause.Line)
}
