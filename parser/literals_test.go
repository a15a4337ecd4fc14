package parser

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLiteralsOfAnExpression(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string][]string{
		`CUDA out of memory\. Tried to allocate (?<requested_sz>[\d.]+ \w+)`: {"CUDA out of memory. Tried to allocate "},
		`colou?rs`:               {"colo"},
		`abcdx*efgh`:             {"abcd", "efgh"},
		`abcdx{0,3}efgh`:         {"abcd", "efgh"},
		`abcdx{2}efgh`:           {"abcdx", "efgh"},
		`abcdx+efgh`:             {"abcdx", "efgh"},
		`abcd+?efgh`:             {"abcd", "efgh"},
		`(?:abcd|efgh)ijkl`:      {"ijkl"},
		`abcd|efgh`:              {},
		`(?i)abcdefgh`:           {},
		`ab(?i:cdefgh)ijklmn`:    {},
		`[])(]abcd[^]x]efgh`:     {"abcd", "efgh"},
		`\(abcd\) \[efgh\]`:      {"(abcd) [efgh]"},
		`(a(b\)c)[)])defg`:       {"defg"},
		`^abcd\befgh$`:           {"abcd", "efgh"},
		`abc.def`:                {},
		`abcd(unclosed`:          {},
		`Größe: \d`:              {"Größe: "},
		`Größeé?`:                {"Größe"},
		`abcdefg \x41 \u0041bcd`: {},
	} {
		got := []string{}
		for _, lit := range literals(expr) {
			got = append(got, string(lit))
		}
		assert.Equal(t, want, got, expr)
	}
}
