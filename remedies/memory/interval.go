package memory

import (
	"math"
	"strconv"

	"oomscan/classifier"
	"oomscan/parser/lazyre"
	"oomscan/parser/pattern"
)

// Interval is the range that a printed size may have had before rounding, in bytes.
type Interval struct{ Low, High int64 }

// Holds reports whether n bytes would be printed as the same size.
func (v Interval) Holds(n int64) bool { return v.Low <= n && n <= v.High }

// sizes matches sizes in a message. Their decimals show their precision.
var sizes = lazyre.New(`([0-9][0-9,]{0,18})(?:\.([0-9]{0,9}))? ?((?:[KMGT]i?)?B(?:ytes?)?|bytes?)\b`)

// mostMessage bounds how much of a message is searched for its figures.
const mostMessage = 2 << 10

// Printed returns the range of a size that a message printed as n bytes. If the message does not contain n, it assumes
// PyTorch's format: two decimals of the largest unit that fits (c10, format_size). If that cannot print n, the size is exact.
func Printed(n int64, message string) Interval {
	if len(message) > mostMessage {
		message = message[:mostMessage]
	}
	for _, m := range sizes().FindAllStringSubmatch(message, 20) {
		for _, binary := range []bool{true, false} {
			text := m[1] + "." + m[2] + " " + m[3]
			if got, ok := pattern.ParseSize(text, binary); !ok || got != n {
				continue
			}
			unit, ok := pattern.ParseSize("1 "+m[3], binary)
			if !ok {
				break
			}
			return around(n, float64(unit)/math.Pow(10, float64(len(m[2]))))
		}
	}
	for _, unit := range []float64{1 << 30, 1 << 20, 1 << 10} {
		if float64(n) >= unit {
			step := unit / 100
			if math.Abs(math.Round(float64(n)/step)*step-float64(n)) <= 1 {
				return around(n, step)
			}
			break
		}
	}
	return Interval{n, n}
}

// around returns n plus or minus half of its last digit.
func around(n int64, step float64) Interval {
	half := int64(math.Ceil(step / 2))
	return Interval{max(n-half, 0), n + half}
}

// blockBytes is the multiple to which PyTorch's allocator rounds up requests above ten MiB (c10/cuda/CUDACachingAllocator.cpp,
// kRoundLarge); the size in its message is the rounded one.
const blockBytes = 2 << 20

// leastRequest is where that begins. Smaller requests are served from segments of fixed sizes, which say nothing about the
// tensor.
const leastRequest = 10 << 20

// tensor returns the possible sizes of a tensor whose allocation was printed as v.
func (v Interval) tensor() Interval {
	return Interval{max(v.Low-blockBytes+1, 1), v.High}
}

// count returns how many units can make up the interval; none if low > high.
func (v Interval) count(unit int64) (low, high int64) {
	return (v.Low + unit - 1) / unit, v.High / unit
}

// Thousands prints a number with separators.
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	out := make([]byte, 0, len(s)+len(s)/3)
	for i := range len(s) {
		if i > 0 && (len(s)-i)%3 == 0 && s[i-1] != '-' {
			out = append(out, ',')
		}
		out = append(out, s[i])
	}
	return string(out)
}

// GiB formats bytes.
func GiB(n int64) string { return classifier.GiB(n) }
