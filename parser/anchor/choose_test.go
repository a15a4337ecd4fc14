package anchor

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAShapeAsksForTheEntriesOfItsGrams(t *testing.T) {
	t.Parallel()
	const mul = 0x1234567 << gramShift
	for text, format := range map[string]string{": 0.0": ": %d.%d", "0:00,": "%d:%d%d,", "00000": "%d%d%d%d%d", "q: 0\n": "q: %d\n"} {
		shape := shapeOf(text, 1000)
		got, want := &chooser{shapes: []commonShape{shape}}, &chooser{}
		got.expect(mul)
		digits := make([]any, len(shape.digits))
		var grams uint32
		var all func(k int)
		all = func(k int) {
			if k < len(digits) {
				for d := range 10 {
					digits[k] = d
					all(k + 1)
				}
				return
			}
			g := gramOf(fmt.Sprintf(format, digits...))
			require.Equal(t, gramOf(text), withoutDigits(g))
			want.asked[g*mul>>tableShift] += shape.asked
			grams++
		}
		all(0)
		assert.True(t, want.asked == got.asked, text)
		assert.InDelta(t, 1000*part*hitCost, shape.asked*grams, float64(grams), "what the grams of %q cost together", text)
	}
}

// TestPiecesOfNumbersAreLetPass holds that what the chooser knows of shapes is worth its time.
func TestPiecesOfNumbersAreLetPass(t *testing.T) {
	t.Parallel()
	b := healthyBlock(1 << 20)
	hits := func(thorough bool) (n int) {
		c := newChooser(typical, nil, thorough)
		mul := c.multiplier(2000)
		f, err := Planned(typical, nil, Plan{mul, c.plan(mul)})
		require.NoError(t, err)
		for x := 0; x+gramLen <= len(b); x += stride {
			if g := gramAt(b, x); withoutDigits(g) != g && f.table[g*f.mul>>tableShift] != 0 {
				n++
			}
		}
		return n
	}
	require.Less(t, 2*hits(true), hits(false))
}

func TestGramsAreThoseOfAThoroughPlan(t *testing.T) {
	t.Parallel()
	plan := Choose(typical, nil, thoroughTries)
	require.Equal(t, plan.Grams, Grams(typical, nil, plan.Mul))
}
