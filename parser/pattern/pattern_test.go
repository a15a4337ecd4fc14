package pattern

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser"
)

func TestGroupsBecomeFields(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		expr, line string
		set        map[string]string
		want       parser.Fields
	}{
		"a name alone":              {expr: `rank (?<rank>\d+)`, line: "rank 3", want: parser.Fields{"rank": "3"}},
		"number and unit":           {expr: `(?<free_sz>[\d.]+ \w+) free`, line: "1.5 GiB free", want: parser.Fields{"free": "1610612736"}},
		"decimal units mean 1024":   {expr: `(?<free_sz>\d+ \w+) free`, line: "2 GB free", want: parser.Fields{"free": "2147483648"}},
		"decimal units mean 1000":   {expr: `(?<free_dsz>\d+ \w+) free`, line: "2 GB free", want: parser.Fields{"free": "2000000000"}},
		"bytes":                     {expr: `(?<free_b>\d+) free`, line: "17 free", want: parser.Fields{"free": "17"}},
		"kibibytes":                 {expr: `(?<free_kib>\d+)kB`, line: "2kB", want: parser.Fields{"free": "2048"}},
		"mebibytes":                 {expr: `(?<free_mib>\d+) free`, line: "2 free", want: parser.Fields{"free": "2097152"}},
		"gibibytes":                 {expr: `(?<free_gib>[\d.]+) free`, line: "0.5 free", want: parser.Fields{"free": "536870912"}},
		"a sum over all captures":   {expr: `(?:held (?<held_sum_sz>\d+ MiB);?)+`, line: "held 1 MiB;held 2 MiB;", want: parser.Fields{"held": "3145728"}},
		"a group that took nothing": {expr: `rank (?<rank>\d*)(?<host>x)?$`, line: "rank ", set: map[string]string{"a": "b"}, want: parser.Fields{"a": "b"}},
		"a size that is none":       {expr: `(?<free_sz>\w+) free`, line: "much free", want: parser.Fields{}},
		"constant fields":           {expr: `x`, line: "x", set: map[string]string{"reason": "signal"}, want: parser.Fields{"reason": "signal"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := Matcher{Pattern: &Pattern{Name: name, Expr: tc.expr, Set: tc.set}}
			got, ok := m.FieldsOf(Runes(nil, []byte(tc.line)))
			require.True(t, ok)
			assert.Equal(t, tc.want, got)
			_, ok = m.FieldsOf([]rune("nothing of it"))
			assert.False(t, ok)
		})
	}
}

func TestAnExpressionThatDoesNotCompileMatchesNothing(t *testing.T) {
	t.Parallel()
	m := Matcher{Pattern: &Pattern{Name: "a.b", Expr: `(`}}
	require.ErrorContains(t, m.Compile(), "pattern a.b: ")
	assert.False(t, m.Matches([]rune("(")))
	_, ok := m.FieldsOf([]rune("("))
	assert.False(t, ok)
}

func TestMayMatch(t *testing.T) {
	t.Parallel()
	assert.True(t, (&Pattern{}).MayMatch([]byte("anything")))
	p := &Pattern{Requires: []string{"role", "<|"}}
	assert.True(t, p.MayMatch([]byte(`"role": "user"`)))
	assert.False(t, p.MayMatch([]byte("no")))
}

func TestRunesReplaceInvalidBytes(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []rune("ab\uFFFDé\uFFFD"), Runes([]rune("a"), []byte("b\xffé\xc3")))
}

func TestParseSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"17.66 GiB": 18962280612, "594.00 MiB": 622854144, "188. GiB": 201863462912, "0 bytes": 0, "4.97GB": 5336496865, "1,024 KiB": 1048576,
		"3": 3, "2 T": 2199023255552, " 1 byte ": 1, "-1 B": -1,
	} {
		got, ok := ParseSize(text, true)
		assert.True(t, ok, text)
		assert.Equal(t, want, got, text)
	}
	got, ok := ParseSize("5 MB", false)
	assert.True(t, ok)
	assert.Equal(t, int64(5_000_000), got)
	for _, text := range []string{"", "GiB", "1 parsec", "1.2.3 GB", "99999999999999 EiB"} {
		_, ok := ParseSize(text, true)
		assert.False(t, ok, text)
	}
}

func TestParseCount(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"7,615,616,512": 7615616512, "7.62 B": 7620000000, "123.59M": 123590000, "8030.261248 Million": 8030261248, "6.738 billion": 6738000000, "12": 12, "6.65e+09": 6650000000,
	} {
		got, ok := ParseCount(text)
		assert.True(t, ok, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "B", "7.62 GiB", "1.2.3 B", "99999999999999 T"} {
		_, ok := ParseCount(text)
		assert.False(t, ok, text)
	}
}

func TestAnExpressionThatRunsOutOfTimeIsGivenUp(t *testing.T) {
	t.Parallel()
	m := Matcher{Pattern: &Pattern{Name: "a.b", Expr: `^(?:a|aa){1,200}b$`}}
	require.NoError(t, m.Compile())
	m.re.MatchTimeout = time.Millisecond
	require.True(t, m.Matches([]rune("ab")))
	for range maxTimeouts {
		assert.False(t, m.Matches([]rune(strings.Repeat("a", 200))))
	}
	assert.False(t, m.Matches([]rune("ab")), "it is tried no more")
}

func TestBounded(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string]bool{
		`pool (?<need_sz>[\d.]{1,9} [KMG]iB)`: true, `a?b{2}c{1,3}`: true, `[*+]\+\*`: true, `^(?:x|y)$`: true,
		`a*`: false, `a+?b`: false, `(?:ab{1,2}){2,}`: false, `(?=.*x)y`: false, `(?:a|(b|c+))`: false, `\d+`: false, `(?>a*)`: false,
	} {
		got, err := Bounded(expr)
		require.NoError(t, err)
		assert.Equal(t, want, got, expr)
	}
	_, err := Bounded(`(`)
	assert.Error(t, err)
}
