package source

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes as flags and configurations write it, with a unit of 1024 if any: "64M", "2 TiB".
type Size int64

const units = "KMGTP"

// Type names the values of a flag in its usage.
func (s *Size) Type() string { return "size" }

func (s Size) String() string {
	n, unit := int64(s), ""
	for i := 0; i < len(units) && n >= 1024 && n%1024 == 0; i++ {
		n, unit = n/1024, units[i:i+1]
	}
	return strconv.FormatInt(n, 10) + unit
}

// Set reads a size.
func (s *Size) Set(text string) error {
	text = strings.TrimSpace(text)
	digits := strings.TrimRight(strings.ToUpper(text), "IBKMGTP")
	unit := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(text)[len(digits):], "B"), "I")
	shift := 0
	if unit != "" {
		at := strings.Index(units, unit)
		if at < 0 || len(unit) > 1 {
			return fmt.Errorf("%q has no unit of K, M, G, T or P", text)
		}
		shift = 10 * (at + 1)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64>>shift {
		return fmt.Errorf("%q is no number of bytes", text)
	}
	*s = Size(n << shift)
	return nil
}

// UnmarshalText is [Size.Set].
func (s *Size) UnmarshalText(text []byte) error { return s.Set(string(text)) }

// MarshalText is the inverse.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
