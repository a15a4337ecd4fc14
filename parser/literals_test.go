package parser

import (
	"bytes"
	"testing"
	"time"

	"github.com/dlclark/regexp2/v2"
	"github.com/stretchr/testify/assert"
)

func TestLiteralsOfAnExpression(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string][]string{
		`CUDA out of memory\. Tried to allocate (?<requested_sz>[\d.]+ \w+)`: {"CUDA out of memory. Tried to allocate "},
		`colou?rs`:                  {"colo"},
		`abcdx*efgh`:                {"abcd", "efgh"},
		`abcdx{0,3}efgh`:            {"abcd", "efgh"},
		`abcdx{2}efgh`:              {"abcdx", "efgh"},
		`abcdx+efgh`:                {"abcdx", "efgh"},
		`abcd+?efgh`:                {"abcd", "efgh"},
		`(?:abcd|efgh)ijkl`:         {"abcdijkl|efghijkl"},
		`(?:ab|c)(d|e) (?<n>fg|h)i`: {"abd fgi|abd hi|abe fgi|abe hi|cd fgi|cd hi|ce fgi|ce hi"},
		`(?:ab|cd)+efgh`:            {"efgh"},
		`(?:abcd|efgh)+ \d`:         {"abcd|efgh"},
		`(?:abcd|efgh)? ijkl`:       {" ijkl"},
		`(?:abcd\d|efgh) ijkl`:      {" ijkl", "abcd|efgh"},
		`(?:abcd\d|ef) ijkl`:        {" ijkl"},
		`abcd|efgh`:                 {"abcd|efgh"},
		`abcd|abcdef`:               {"abcd"},
		`abcd|\d`:                   {},
		`abcd|`:                     {},
		`\bab(?=x)(?<!cd)ef\b$`:     {"abef"},
		`[Uu]nable to`:              {"Unable to|unable to"},
		`[a-z]nable[^a]to it`:       {"nable", "to it"},
		`(?i)abcdefgh`:              {},
		`ab(?i:cdefgh)ijklmn`:       {},
		`(?s)abcdefgh`:              {},
		`[])(]abcd[^]x]efgh`:        {"efgh", "(abcd|)abcd|]abcd"},
		`\(abcd\) \[efgh\]`:         {"(abcd) [efgh]"},
		`(a(b\)c)[)])defg`:          {"ab)c)defg"},
		`^abcd\befgh$`:              {"abcdefgh"},
		`abc.def`:                   {},
		`abcd{|x{00}`:               {},
		`abcd(unclosed`:             {},
		`abcd)efgh`:                 {},
		`Größe: \d`:                 {"Größe: "},
		`Größeé?`:                   {"Größe"},
		`abcdefg \x41 \u0041bcd`:    {},
	} {
		got := []string{}
		for _, c := range literals(expr) {
			got = append(got, string(bytes.Join(c, []byte("|"))))
		}
		assert.Equal(t, want, got, expr)
	}
}

func FuzzLiteralsAreInWhatMatches(f *testing.F) {
	for _, p := range Patterns() {
		for _, s := range p.Match {
			f.Add(p.Expr, s.Line)
		}
	}
	for _, expr := range []string{`(?:ab|cd)+efgh(?:x|y\d)?`, `abcd[xy]{2}(?<n>\w+|) end`, `a|(?:bcde|f)ghij`} {
		f.Add(expr, "abcdefghxy2 abcdxyxy end bcdeghij")
	}
	f.Fuzz(func(t *testing.T, expr, text string) {
		if len(expr) > 300 || len(text) > 300 {
			return
		}
		re, err := regexp2.Compile(expr, regexp2.None)
		if err != nil {
			return
		}
		re.MatchTimeout = 100 * time.Millisecond
		m, err := re.FindStringMatch(text)
		if err != nil || m == nil {
			return
		}
		for _, c := range literals(expr) {
			assert.True(t, c.in([]byte(text)), "%q in %q by %q", c, text, expr)
		}
	})
}
