package source

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes in flags and configurations, with an optional unit of 1024: "64M", "2 TiB".
type Size int64

const units = "KMGTP"

// Type is the flag's value type in its usage.
func (s *Size) Type() string { return "size" }

func (s Size) String() string {
	n, unit := int64(s), ""
	for i := 0; i < len(units) && n >= 1024 && n%1024 == 0; i++ {
		n, unit = n/1024, units[i:i+1]
	}
	return strconv.FormatInt(n, 10) + unit
}

// Set parses a size.
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

// UnmarshalText parses a size.
func (s *Size) UnmarshalText(text []byte) error { return s.Set(string(text)) }

// MarshalText formats a size.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
