package pattern

import (
	"math"
	"strconv"
	"strings"
)

// ParseSize reads a printed quantity such as "17.66 GiB", "594.00 MiB", "188. GiB", "0 bytes", "4.97GB" or
// "1,024 KiB" and returns bytes, rounded. With binary set the decimal units KB, MB, GB and TB mean powers of 1024, as
// most programs of this field mean them (PyTorch's MPS allocator, SGLang, Ray, verl); otherwise powers of 1000.
func ParseSize(s string, binary bool) (int64, bool) {
	s = strings.TrimSpace(s)
	i := 0
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.' || s[i] == ',' || i == 0 && s[i] == '-') {
		i++
	}
	num := strings.ReplaceAll(s[:i], ",", "")
	unit := strings.ToLower(strings.TrimSpace(s[i:]))
	f, err := strconv.ParseFloat(num, 64)
	if err != nil {
		return 0, false
	}
	k := 1000.0
	if binary || strings.Contains(unit, "ib") || len(unit) == 1 {
		k = 1024
	}
	var exp float64
	switch strings.TrimSuffix(strings.TrimSuffix(unit, "b"), "i") {
	case "", "yte", "ytes", "byte", "bytes":
		exp = 0
	case "k":
		exp = 1
	case "m":
		exp = 2
	case "g":
		exp = 3
	case "t":
		exp = 4
	case "p":
		exp = 5
	case "e":
		exp = 6
	default:
		return 0, false
	}
	f *= math.Pow(k, exp)
	if math.IsNaN(f) || f > math.MaxInt64 || f < math.MinInt64 {
		return 0, false
	}
	return int64(math.Round(f)), true
}
