package remedies

import (
	"fmt"
	"math"
	"strings"

	"oomscan/classifier"
	"oomscan/remedies/memory"
)

// usualPixels is a limit for each image that Qwen's authors propose, 1280 tokens of 28 x 28 pixels. Most images have fewer than their default
// of 16384 tokens, so that half of it changes nothing.
const usualPixels = 1280 * 28 * 28

// imagesSeen returns how many images a script put into one pass, and how many pixels the largest has at least, by the shape that it prints of
// Qwen's patches; zeros if it prints none.
func imagesSeen(ctx *Context) (images, pixels int64) {
	g, ok := lastReading(ctx.run, "qwen.patches")
	if !ok || g.At.Source != ctx.root.At.Source || g.At.Line > ctx.root.At.Line {
		return 0, 0
	}
	images, _ = g.Fields.Int("count")
	patches, _ := g.Fields.Int("patches")
	const channels = 2 * 3 // of a patch: two frames in three colors
	size, _ := g.Fields.Int("size")
	return max(images, 1), patches * (size / channels)
}

// packsImages reports whether the request is one score for each pair of patches of several images, all of a pass, in each head: a whole
// number of them times their bytes. PyTorch makes them where its kernels refuse the mask that keeps images apart.
func packsImages(ctx *Context, _ string) verdict {
	images, _ := imagesSeen(ctx)
	g, _ := lastReading(ctx.run, "qwen.patches")
	patches, _ := g.Fields.Int("patches")
	if images < 2 || ctx.root.Requested == nil || !ctx.is("vision") {
		return verdict{}
	}
	const most = 64 * 4 // heads, of float32
	pairs := float64(images*patches) * float64(images*patches)
	each := float64(*ctx.root.Requested) / pairs
	whole := math.Round(each)
	if whole < 2 || whole > most || math.Abs(each-whole) > each/500 {
		return verdict{}
	}
	return verdict{yes, fmt.Sprintf("the request is %g bytes for each pair of the %s patches of all %d images", whole, memory.Thousands(images*patches), images)}
}

// fewerPixels lowers the limit of an image's pixels to what is usual, or halves it, or takes as many as fit where the scores of its patches
// failed: those grow with the square.
func fewerPixels(q *paramQuery, n int64) proposedValue {
	const patches = 28 * 28 // pixels that become a token in Qwen's models
	r := q.root
	place, _ := failedPlace(q.Context)
	if place != memory.Attention || r.Requested == nil || r.Free == nil || *r.Free <= 0 || 4**r.Free > *r.Requested {
		if n > 2*usualPixels {
			return proposedValue{to: itoa(usualPixels), how: "1280 x 28 x 28: few images have as many pixels as the limit now allows"}
		}
		return halve(q, n)
	}
	to := int64(float64(n)*math.Sqrt(float64(*r.Free)/float64(*r.Requested))) / patches * patches
	return proposedValue{to: itoa(max(to, q.least())), how: fmt.Sprintf("%s requested, %s free: the scores grow with the square of the pixels", classifier.GiB(*r.Requested), classifier.GiB(*r.Free))}
}

// fewerImages takes as many images as fit where the scores of all their patches failed, which grow with the square of their number, and their
// softmax is as large.
func fewerImages(q *paramQuery, n int64) proposedValue {
	r := q.root
	if r.Requested == nil || r.Free == nil || *r.Free <= 0 || *r.Requested <= *r.Free {
		return halve(q, n)
	}
	to := int64(float64(n) * math.Sqrt(float64(*r.Free)/2/float64(*r.Requested)))
	return proposedValue{to: itoa(max(to, 1)), how: fmt.Sprintf("%s requested for %d images, %s free: the scores grow with the square of their number", classifier.GiB(*r.Requested), n, classifier.GiB(*r.Free))}
}

// belowLimit says that the images which the log shows have fewer pixels than a proposed limit.
func belowLimit(q *question) string {
	_, pixels := imagesSeen(q.Context)
	for i := range q.changes {
		c := &q.changes[i]
		if c.To == nil || pixels <= 0 || !strings.HasSuffix(strings.ToLower(c.Key), "max_pixels") {
			continue
		}
		if n, ok := parseInt(*c.To); ok && n >= pixels {
			return fmt.Sprintf("an image has %s pixels, no more than that", memory.Thousands(pixels))
		}
	}
	return ""
}
