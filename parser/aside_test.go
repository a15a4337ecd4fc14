package parser

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// readAtOnce is the table under which no traceback is kept unread.
func readAtOnce() *compiled {
	t := *table()
	t.traceback = -1
	return &t
}

// troubled is a log of several writers who print tracebacks, samples, messages that go on, and now and then a failure.
func troubled(r *rand.Rand, lines int) []byte {
	var b bytes.Buffer
	for range lines {
		who := [...]string{"(RewardWorker pid=7001) ", "(RewardWorker pid=7002) ", "[rank3]: ", "\x1b[36m(Env pid=9)\x1b[0m ", "3: ", "", ""}[r.IntN(7)]
		switch r.IntN(60) {
		case 0, 1, 2:
			fmt.Fprintf(&b, "%[1]sTraceback (most recent call last):\n%[1]s  File \"/srv/rewards/check.py\", line %[2]d, in check\n%[1]s    return verify(answer)\n", who, r.IntN(99))
			switch r.IntN(8) {
			case 0:
				continue // it was killed
			case 1:
				fmt.Fprintf(&b, "(Other pid=1) step:%d - loss:0.1\n", r.IntN(99))
			}
			fmt.Fprintf(&b, "%sValueError: %d is no answer\n", who, r.IntN(9999))
			switch r.IntN(8) {
			case 0:
				fmt.Fprintf(&b, "%[1]sand this goes on\n%[1]s  for two lines\n", who)
			case 1:
				fmt.Fprintf(&b, "%[1]s\n%[1]sDuring handling of the above exception, another exception occurred:\n%[1]s\n", who)
			case 2:
				fmt.Fprintf(&b, "%sCUDA out of memory. Tried to allocate 2.00 GiB.\n", who)
			}
		case 3:
			fmt.Fprintf(&b, "%[1]s[prompt] What is %[2]d? <|im_start|>\n", who, r.IntN(99))
		case 4:
			fmt.Fprintf(&b, "%s[score] 0.5\n", who)
		case 5:
			if r.IntN(4) == 0 {
				fmt.Fprintf(&b, "%storch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.15 GiB of which 1.00 GiB is free.\n", who)
			}
		case 6, 7, 8:
			fmt.Fprintf(&b, "2026-03-09 14:00:%02d,000 INFO all is well\n", r.IntN(60))
		case 9:
			fmt.Fprintf(&b, "%sTraining step %d, loss 0.5\n", who, r.IntN(99))
		default:
			for range r.IntN(40) {
				switch r.IntN(8) {
				case 0:
					fmt.Fprintf(&b, "(WorkerDict pid=%d) After update policy, memory allocated (GB): 8.20, memory reserved (GB): 20.00\n", 6000+r.IntN(60))
				case 1:
					fmt.Fprintf(&b, "(TaskRunner pid=3901) step:%d - actor/entropy:0.5 - critic/score/mean:0.9\n", b.Len())
				case 2:
					fmt.Fprintf(&b, "Rollout:  10%%|####      | %d/512 [23:00<31:31, 14.18it/s]\n", r.IntN(512))
				}
				fmt.Fprintf(&b, "[2026-03-09 14:00:00 TP%d] Decode batch, #running-req: %d, token usage: 0.5, #queue-req: 0\n", r.IntN(8), r.IntN(99))
			}
		}
	}
	return b.Bytes()
}

func TestTracebacksThatStandAloneSayTheSameLater(t *testing.T) {
	t.Parallel()
	head := []byte(strings.Repeat("nothing is said here\n", headLines+5))
	seeds := 60
	if testing.Short() {
		seeds = 2
	}
	kept := 0
	for seed := range seeds {
		text := append(bytes.Clone(head), troubled(rand.New(rand.NewPCG(uint64(seed), 7)), 600)...)
		var b block
		b.text, b.hi, b.maxLine = text, len(text), DefaultLine
		b.survey(newSurveyor(table()), true)
		kept += len(b.asides)
		want := everything(t, func(emit func(Observation)) (Stats, error) {
			s := newScanner("in", readAtOnce(), emit)
			_, _ = s.Write(text)
			return s.Close(), nil
		})
		for _, length := range []int{8 << 10, 1 << 20} {
			got := everything(t, func(emit func(Observation)) (Stats, error) {
				return scanAt(newScanner("in", table(), emit), newFleeting(text), int64(len(text)), 2, length)
			})
			same(t, want, got)
		}
		same(t, want, everything(t, func(emit func(Observation)) (Stats, error) {
			s := NewScanner("in", emit)
			for rest := text; len(rest) > 0; {
				n := min(len(rest), 30_000)
				_, _ = s.Write(rest[:n])
				rest = rest[n:]
			}
			return s.Close(), nil
		}))
	}
	assert.Greater(t, kept, seeds, "no traceback stood alone: this test shows nothing")
}

func TestWhatStandsAlone(t *testing.T) {
	t.Parallel()
	const trace = "(W pid=1) Traceback (most recent call last):\n(W pid=1)   File \"a.py\", line 3, in f\n(W pid=1)     g()\n(W pid=1) ValueError: no\n"
	bare := strings.ReplaceAll(trace, "(W pid=1) ", "")
	quiet := strings.Repeat("(V pid=2) all is well\n", 130)
	for name, tt := range map[string]struct {
		text string
		want int
	}{
		"a writer's only lines":                 {quiet + trace + quiet, 1},
		"two of them":                           {quiet + trace + strings.ReplaceAll(trace, "pid=1", "pid=3") + quiet, 2},
		"nobody is named":                       {quiet + bare + quiet, 1},
		"nobody is named, and a record follows": {quiet + bare + "(V pid=2) x\n2026-03-09 14:00:00,000 INFO x\n" + quiet, 1},
		"nobody is named, and text follows":     {quiet + bare + "x\n2026-03-09 14:00:00,000 INFO x\n" + quiet, 0},
		"somebody else's line is its last":      {quiet + strings.Replace(bare, "ValueError: no\n", "(V pid=2) x\nValueError: no\n2026-03-09 14:00:00,000 INFO x\n", 1) + quiet, 0},
		"the writer prints a sample":            {quiet + "(W pid=1) [prompt] a\n(V pid=2) x\n" + trace + quiet, 0},
		"another writer prints a sample":        {quiet + "(V pid=2) [prompt] a\n" + trace + quiet, 1},
		"the writer printed a sample long ago":  {"(W pid=1) [prompt] a\n" + quiet + trace + quiet, 1},
		"the writer goes on":                    {quiet + trace + "(V pid=2) x\n(W pid=1) more\n" + quiet, 0},
		"somebody is in the middle":             {quiet + strings.Replace(trace, "(W pid=1)     g", "(V pid=2) x\n(W pid=1)     g", 1) + quiet, 0},
		"it never ends":                         {quiet + strings.TrimSuffix(trace, "(W pid=1) ValueError: no\n") + quiet, 0},
		"its exception may be a failure":        {quiet + strings.Replace(trace, "ValueError: no", "torch.OutOfMemoryError: CUDA out of memory", 1) + quiet, 0},
		"a failure follows":                     {quiet + trace + "(V pid=2) CUDA out of memory. Tried to allocate 2.00 GiB.\n" + quiet, 0},
		"the log ends":                          {quiet + trace, 0},
		"a stamp says that no message goes on":  {quiet + strings.ReplaceAll(trace, "(W pid=1) ", "2026-03-09 14:00:00,000 ERROR ") + quiet, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b block
			b.text, b.hi, b.maxLine = []byte(tt.text), len(tt.text), DefaultLine
			b.survey(newSurveyor(table()), true)
			assert.Len(t, b.asides, tt.want)
			for _, a := range b.asides {
				require.Equal(t, byte('\n'), b.text[a.end-1])
				assert.Equal(t, 4, a.lines)
			}
		})
	}
}

func TestTracebacksInLongLinesSayTheSameLater(t *testing.T) {
	t.Parallel()
	head := strings.Repeat("nothing is said here\n", headLines+5)
	begins := []string{"", "(RewardWorker pid=7001) one says this\r", "[rank0]: \r", "2026-03-09 14:00:00,000 INFO (Env pid=9) x", "[2026-03-09 14:00:00 TP0] Decode batch, #running-req: 4\r"}
	limit := LineLimit(LeastLine)
	seeds := 25
	if testing.Short() {
		seeds = 2
	}
	kept := 0
	for seed := range seeds {
		r := rand.New(rand.NewPCG(uint64(seed), 11))
		line := begins[seed%len(begins)] + strings.ReplaceAll(string(troubled(r, 400)), "\n", "\r")
		text := []byte(head + line + "\n" + string(troubled(r, 40)) + line + "\n")
		b := block{text: text, lo: len(head) + 50_000, hi: len(head) + len(line), maxLine: LeastLine}
		b.survey(newSurveyor(table()), true)
		kept += len(b.asides)
		want := everything(t, func(emit func(Observation)) (Stats, error) {
			s := newScanner("in", readAtOnce(), emit, limit)
			_, _ = s.Write(text)
			return s.Close(), nil
		})
		for _, length := range []int{64 << 10, 1 << 20} {
			same(t, want, everything(t, func(emit func(Observation)) (Stats, error) {
				return scanAt(newScanner("in", table(), emit, limit), newFleeting(text), int64(len(text)), 2, length)
			}))
		}
		same(t, want, everything(t, func(emit func(Observation)) (Stats, error) {
			s := NewScanner("in", emit, limit)
			for rest := text; len(rest) > 0; {
				n := min(len(rest), 90_000)
				_, _ = s.Write(rest[:n])
				rest = rest[n:]
			}
			return s.Close(), nil
		}))
	}
	assert.Greater(t, kept, seeds, "no traceback stood alone: this test shows nothing")
}

// TestAWriterWhomOnlyTheBeginningOfALongLineNames reads an exception whose lines leave the name of their writer's node to the
// line's first segment, while others are awaited whose names are in theirs.
func TestAWriterWhomOnlyTheBeginningOfALongLineNames(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("3: nothing is said here\r", 9_000)
	text := strings.Repeat("nothing\n", headLines) +
		"(RewardWorker pid=7001) one says this\r" + filler +
		"3: Traceback (most recent call last):\r3:   File \"/srv/rewards/check.py\", line 50, in check\r3:     return verify(answer)\r3: ValueError: 5 is no answer\r" +
		filler + "3: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
	for name, scan := range map[string]func(func(Observation)) (Stats, error){
		"stream": func(emit func(Observation)) (Stats, error) { return Scan("in", strings.NewReader(text), emit) },
		"file": func(emit func(Observation)) (Stats, error) {
			return ScanAt("in", strings.NewReader(text), int64(len(text)), 2, emit)
		},
		"at once": func(emit func(Observation)) (Stats, error) {
			s := newScanner("in", readAtOnce(), emit)
			_, _ = s.Write([]byte(text))
			return s.Close(), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var texts []string
			_, err := scan(func(o Observation) {
				if e, ok := o.(Event); ok {
					texts = append(texts, e.Text)
				}
			})
			require.NoError(t, err)
			require.Len(t, texts, 2)
			assert.Equal(t, "ValueError: 5 is no answer", texts[0])
		})
	}
}
