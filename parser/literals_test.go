package parser

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/dlclark/regexp2/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
			texts := make([][]byte, len(c))
			for i := range c {
				texts[i] = c[i].text
			}
			got = append(got, string(bytes.Join(texts, []byte("|"))))
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
			assert.True(t, c.in([]byte(text), ofMessage), "%+v in %q by %q", c, text, expr)
			assert.True(t, c.in([]byte(text), ofLine), "%+v in %q by %q", c, text, expr)
		}
	})
}

// TestLiteralsKnowWhatStandsAround refuses texts that hold the words of an expression and not what it has around them.
func TestLiteralsKnowWhatStandsAround(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		expr     string
		yes, no  []string // of messages
		notLines []string // that no line with other messages beside it holds either
	}{
		{
			expr: `^\s*Killed(?: \(core dumped\))?\s*$`,
			yes:  []string{"Killed", "  Killed\t", "Killed (core dumped) "},
			no:   []string{"0: Killed", "Killed by user", "Killed (core"}, notLines: []string{"0: Killed by user", "SubKilled (x)"},
		},
		{
			expr: `: +(?=\d)(?<pid>\d+):? Killed(?: +(?<cmd>\S.*))?`,
			yes:  []string{"line 9:  7582 Killed  python", "x: 7: Killed", "a Killed b: 7 Killed"},
			no:   []string{"process Killed", "a 7 Killed", ": x7 Killed", ":7 Killed"}, notLines: []string{"process Killed", "a 7 Killed"},
		},
		{
			expr: `code {0,2}: (?!(?:-9|0) )(?<n>-?\d{1,3}) \(pid`,
			yes:  []string{"code  : 1 (pid", "code: -11 (pid", "code: -90 (pid"},
			no:   []string{"code: -9 (pid", "code   : 1 (pid", "code: 0 (pid"}, notLines: []string{"code: x (pid"},
		},
		{
			expr: `(?:Größe|size)[^\s:]*: [a-f0-9-]+ bytes`,
			yes:  []string{"Größe_ü: 1a-2f bytes", "size: f bytes"},
			no:   []string{"size x: 1 bytes", "size: g bytes"}, notLines: []string{"size: xyz bytes"},
		},
		{expr: `abcd(?!ef\b)g?`, yes: []string{"abcdefg", "abcd"}},
		{expr: `(?<=x)abcd\w*?[.,]$`, yes: []string{"abcdü,", "abcd_9.\n"}, no: []string{"abcd-.", "abcd. x"}},
	} {
		in := func(text string, of scope) bool {
			for _, one := range literals(c.expr) {
				if !one.in([]byte(text), of) {
					return false
				}
			}
			return true
		}
		for _, text := range c.yes {
			assert.True(t, in(text, ofMessage), "%q by %q", text, c.expr)
			assert.True(t, in("0: "+text+" [repeated 3x across cluster]", ofLine), "%q by %q", text, c.expr)
			assert.True(t, in("[rank1]: "+text+"\r[rank2]: x", ofLine), "%q by %q", text, c.expr)
		}
		for _, text := range c.no {
			assert.False(t, in(text, ofMessage), "%q by %q", text, c.expr)
		}
		for _, text := range c.notLines {
			assert.False(t, in(text, ofLine), "%q by %q", text, c.expr)
		}
	}
}

// TestLiteralsOfHostileTextCostLittle gives up where a text is made to be looked at from every side.
func TestLiteralsOfHostileTextCostLittle(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat(" 1 Killed", MaxMessage/9))
	clauses := literals(`^x\s*\d*\s*\d*\s*\d*\s*Killed\s*\d*\s*\d*\s*\d*$`)
	require.NotEmpty(t, clauses)
	start := time.Now()
	for range 100 {
		assert.True(t, clauses[0].in(text, ofMessage), "that is for the expression to say")
	}
	assert.Less(t, time.Since(start), 5*time.Second)
}
