package anchor

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLoadedFinderIsTheSame(t *testing.T) {
	t.Parallel()
	needles := append([]string{"OOM:", "oom's"}, typical...)
	built := newFinder(t, needles...)
	loaded, err := Load(needles, nil, built.Image())
	require.NoError(t, err)
	require.Equal(t, built, loaded)
	r := rand.New(rand.NewPCG(7, 8))
	for range 20 {
		check(t, loaded, randomText(r, needles, r.IntN(4*blockLen)))
	}
}

func TestLoadRefusesWhatIsNoImage(t *testing.T) {
	t.Parallel()
	whole := newFinder(t, append([]string{"OOM:"}, typical...)...).Image()
	places := len(whole) - placeLen
	noShift := slices.Clone(whole)
	noShift[8] = 0
	noNeedle := slices.Clone(whole)
	noNeedle[headLen+1] = 0xff // the id of a needle of four bytes
	for _, image := range [][]byte{nil, whole[:headLen], whole[:tableLen], whole[:places/2], noShift, noNeedle} {
		_, err := Load(append([]string{"OOM:"}, typical...), nil, image)
		assert.Error(t, err, "%d bytes", len(image))
	}
}
