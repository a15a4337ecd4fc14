package envelope

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNextEscapeIsTheFirstPlaceThatBeginsASequence(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	pieces := append([]string{"\x1b", "[", "\\", "^", "#", "m", "36m", "0m", ";", " ", "b", "3", "text", "\x1b]0;t\a"}, spelled[:]...)
	for range 100_000 {
		var b []byte
		for range 1 + r.IntN(8) {
			b = append(b, pieces[r.IntN(len(pieces))]...)
		}
		for _, orphans := range []bool{false, true} {
			want := -1
			for i := range b {
				if (b[i] == 0x1b || b[i] >= 0xe2 || b[i] == '\\' || b[i] == '^' || b[i] == '#' || b[i] == '[') && escapeLen(b[i:], orphans) > 0 {
					want = i
					break
				}
			}
			require.Equal(t, want, nextEscape(b, orphans), "%q %v", b, orphans)
		}
	}
}

func TestWhatATerminalDoesNotShowIsNotRead(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"[rank3]: text": "[rank3]: text", "-\b\\\b|\b[rank3]: text": "[rank3]: text", "\b\btext": "text", "█▏\b\btext\b": "tex", "\x1b[31m1\b2\x1b[0m": "2",
		"\x7fa.\x7f b\x7f": "a. b", "\x7fab\bc\x7f": "ac", "\x1b]52;c;cm0=\a\x1b]8;;http://a.b/\x1b\\text.\x1b]8;;\x1b\\\x7f more": "text. more",
	} {
		require.Equal(t, want, string(clean([]byte(line))), "%q", line)
	}
}

func TestAPeelerAgreesWithPeelHoweverManyLabelsItHasSeen(t *testing.T) {
	t.Parallel()
	var w Peeler
	for i := range 3 * maxWords {
		for _, line := range []string{
			"(WorkerDict pid=" + string(rune('1'+i%9)) + strconv.Itoa(i) + ", ip=10.0.0.1) ERROR 12-03 11:20:10 [core.py:844] text",
			"[rank3]: text", "3: plain", "(a|b pid=12) x", "text",
		} {
			body, h := Peel([]byte(line))
			again, g := w.Peel([]byte(line))
			require.Equal(t, body, again)
			require.Equal(t, h, g)
			require.LessOrEqual(t, len(w.words), maxWords)
		}
	}
}

func TestAPeelerTakesNoMemoryForLabelsThatComeAgain(t *testing.T) {
	var w Peeler
	line := []byte("(WorkerDict pid=51030, ip=10.0.0.1) INFO 12-03 11:20:10 [core.py:844] text")
	require.Zero(t, testing.AllocsPerRun(100, func() { w.Peel(line) }))
}

func TestQuotesAroundALineGo(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`b'a\n'`: "a", `b"it's \x41"`: "it's A", `"  File ""x"", line 1"`: `  File "x", line 1`, "\"a\tb\"": "a\tb",
		`"a"`: `"a"`, `"a" and "b"`: `"a" and "b"`, `"a ""b" c"`: `"a ""b" c"`, `"`: `"`, `""`: `""`, `b'a`: `b'a`,
	} {
		require.Equal(t, want, string(Unrepr([]byte(line))), "%q", line)
	}
}
