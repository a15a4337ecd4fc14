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
	exp, ok := exponents[strings.TrimSuffix(strings.TrimSuffix(unit, "b"), "i")]
	if !ok {
		return 0, false
	}
	f *= math.Pow(k, exp)
	if math.IsNaN(f) || f > math.MaxInt64 || f < math.MinInt64 {
		return 0, false
	}
	return int64(math.Round(f)), true
}

// exponents are what units mean, without the B or iB behind a prefix.
var exponents = map[string]float64{"": 0, "yte": 0, "ytes": 0, "byte": 0, "bytes": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5, "e": 6}

// scales are what the words behind a count mean.
var scales = map[string]float64{"": 1, "k": 1e3, "m": 1e6, "million": 1e6, "g": 1e9, "b": 1e9, "billion": 1e9, "t": 1e12}

// ParseCount reads a printed number of things, such as "7,615,616,512", "7.62 B", "8030.26 Million" or "6.65e+09", rounded.
func ParseCount(s string) (int64, bool) {
	if f, err := strconv.ParseFloat(s, 64); err == nil && f >= 0 && f < math.MaxInt64 {
		return int64(math.Round(f)), true
	}
	i := 0
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.' || s[i] == ',') {
		i++
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s[:i], ",", ""), 64)
	scale, ok := scales[strings.ToLower(strings.TrimSpace(s[i:]))]
	if f *= scale; err != nil || !ok || f >= math.MaxInt64 {
		return 0, false
	}
	return int64(math.Round(f)), true
}
