package ascii_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/parser/ascii"
)

func TestClassesAreThoseOfRegularExpressions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		class string
		is    func(byte) bool
	}{
		{"[0-9]", ascii.IsDigit},
		{"[a-z]", ascii.IsLower},
		{"[A-Z]", ascii.IsUpper},
		{"[A-Za-z]", ascii.IsLetter},
		{`[0-9A-Za-z_]`, ascii.IsWord},
		{`[ \t]`, ascii.IsBlank},
	}
	for _, tt := range tests {
		want := regexp.MustCompile("^" + tt.class + "$")
		for c := range 256 {
			assert.Equal(t, want.Match([]byte{byte(c)}), tt.is(byte(c)), "%s %q", tt.class, byte(c))
		}
	}
}
