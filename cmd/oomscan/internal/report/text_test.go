package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/parser"
)

// samples are the recorded reports that the goldens are rendered from.
func samples(t testing.TB) map[string]*Report {
	t.Helper()
	files, err := filepath.Glob("testdata/text/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	out := make(map[string]*Report, len(files))
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		r := new(Report)
		require.NoError(t, dec.Decode(r), f)
		out[strings.TrimSuffix(filepath.Base(f), ".json")] = r
	}
	return out
}

func text(t testing.TB, r *Report, st Style) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Text(&b, r, st))
	return b.String()
}

func TestTextLooksLikeItsGoldens(t *testing.T) {
	t.Parallel()
	for name, r := range samples(t) {
		for suffix, st := range map[string]Style{"80": {Width: 80}, "120": {Width: 120}, "pipe": {ASCII: true}, "full": {Width: 100, Full: true}} {
			t.Run(name+"/"+suffix, func(t *testing.T) {
				t.Parallel()
				golden := filepath.Join("testdata", "text", name+"."+suffix+".txt")
				got := text(t, r, st)
				if os.Getenv("UPDATE_GOLDEN") != "" {
					require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
				}
				want, err := os.ReadFile(golden)
				require.NoError(t, err)
				assert.Equal(t, string(want), got)
			})
		}
	}
}

func TestTextNeverExceedsItsWidth(t *testing.T) {
	t.Parallel()
	all := samples(t)
	all["hostile"] = hostile()
	for name, r := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			step := 7
			if name == "hostile" {
				step = 53
			}
			whole := wholes(r)
			for width := minWidth; width <= 200; width += step {
				for n, line := range strings.Split(text(t, r, Style{Width: width}), "\n") {
					long := columns.StringWidth(line) > width && !slices.ContainsFunc(whole, func(s string) bool { return strings.Contains(line, s) })
					require.False(t, long, "width %d, line %d: %s", width, n+1, line)
					require.Equal(t, strings.TrimRight(line, " "), line, "width %d, line %d ends in a space", width, n+1)
				}
			}
		})
	}
}

// wholes is what a report holds to be pasted or clicked, as it is printed: it is never broken over lines.
func wholes(r *Report) []string {
	var texts []string
	for i := range r.Incidents {
		in := &r.Incidents[i]
		for _, c := range checks(r, in) {
			texts = append(texts, c.Command)
		}
		if x := nextStep(r, in); x != nil {
			texts = append(texts, wordNext+x.Command)
		}
		for k := range in.Remedies {
			texts = append(texts, deref(in.Remedies[k].Source.URL))
		}
		for k := range in.Proposals {
			for _, s := range in.Proposals[k].Needs {
				if _, command, ok := strings.Cut(s, "?  "); ok {
					texts = append(texts, command)
				}
			}
			for _, c := range in.Proposals[k].Changes {
				texts = append(append(texts, c.Key), strings.Split(c.Snippet, "\n")...)
			}
		}
	}
	var out []string
	for _, s := range texts {
		var b strings.Builder
		for _, g := range flatten([]span{{plain, s}}) {
			b.WriteRune(g.r)
		}
		if s = strings.TrimSpace(b.String()); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

var sgr = regexp.MustCompile(`\x1b\[[0-9;]*m`)

func TestColourAddsNothingButSGRCodes(t *testing.T) {
	t.Parallel()
	all := samples(t)
	all["hostile"] = hostile()
	for name, r := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, width := range []int{0, 60, 80, 120} {
				plain := text(t, r, Style{Width: width})
				colored := text(t, r, Style{Width: width, Color: true})
				assert.NotContains(t, plain, "\x1b")
				assert.Contains(t, colored, "\x1b[")
				assert.Equal(t, plain, sgr.ReplaceAllString(colored, ""))
			}
		})
	}
}

func TestTextOutsideATerminalIsDrawnWithASCII(t *testing.T) {
	t.Parallel()
	for name, r := range samples(t) {
		for _, st := range []Style{{ASCII: true}, {Width: 80, ASCII: true}, {Width: 80, ASCII: true, Full: true}} {
			for _, c := range text(t, r, st) {
				require.Less(t, c, rune(utf8.RuneSelf), "%s: %q", name, c)
			}
		}
	}
}

// nasty holds what a log may smuggle in: SGR and OSC codes, C1 controls, bidi overrides, zero-width characters, wide
// ones, piles of combining marks, broken UTF-8, very long words.
var nasty = []string{
	"\x1b[31mred\x1b[0m \x1b]0;title\a \x1b]8;;http://x\x1b\\link", "a\u009b31mb\u0085c\u0090d", "\u202eevil\u202c \u2066x\u2069\u200b\u200d\ufeff\u00ad",
	"漢字かな交じり文のとても長い説明が折り返されるかどうか", "e" + strings.Repeat("\u0301", 500), "\xff\xfe\x80 bytes", strings.Repeat("x", 9000),
	"👩‍👩‍👧‍👦 🇩🇪🇫🇷 👍🏽 ❤️", "tab\tnew\nline\rreturn\x00nul\x7fdel", strings.Repeat("/very/long/path", 90), "   ", "",
	"\u2028\u2029\u3000x", "\U000e0041\U000e007f", strings.Repeat("\n", 300), "%s%d%!x(MISSING)",
}

// hostile is a report in which every text is nasty and every number is extreme.
func hostile() *Report {
	next := 0
	s := func() string { next++; return nasty[next%len(nasty)] }
	ps := func() *string { v := s(); return &v }
	numbers := []int64{-1 << 63, -1, 0, 1, 1 << 40, 1<<63 - 1}
	n := func() *int64 { next++; return &numbers[next%len(numbers)] }
	i := func() *int { v := int(*n()); return &v }
	r := &Report{Version: s(), Run: Run{Framework: s(), FrameworkVersion: ps(), Backend: ps(), Engine: ps(), Launcher: ps(), JobID: ps(), WorldSize: i(), Nodes: i(), GPUsPerNode: i(), LastStep: i(), Model: Model{Name: ps()}}}
	for range 40 {
		r.Inputs = append(r.Inputs, Input{Name: s(), Counts: parser.Counts{Bytes: *n(), Lines: *i(), Truncated: *i()}, Error: ps()})
	}
	for k := range nasty {
		in := Incident{ID: s(), Verdict: s(), Kind: s(), Resource: []string{"gpu", "host", s()}[k%3], Phase: s(), Confidence: s(), Summary: s(), PhaseWhy: s(), Repeats: *i(), Shortfall: n(), Checklist: s()}
		if k%2 == 0 {
			in.Kind, in.Verdict = "gpu_oom", "memory"
		}
		in.Root = Root{File: s(), Line: *i(), Host: ps(), Rank: i(), Device: i(), PID: i(), Process: ps(), Message: s(), Request: n(), Total: n(), Free: n(), Alloc: n(), Reserved: n(), OwnBytes: n(), Others: n(), Limit: n()}
		for range 20 {
			in.Root.Trace = append(in.Root.Trace, Frame{File: s(), Line: *i(), Function: s()})
			in.Evidence = append(in.Evidence, Evidence{File: s(), Line: *i(), Text: s(), Why: s()})
			in.Consequences = append(in.Consequences, Consequence{Kind: s(), File: s(), Line: *i(), Rank: i(), Host: ps(), Message: s(), Count: *i()})
			in.Findings = append(in.Findings, s())
			in.Remedies = append(in.Remedies, Remedy{
				Order: *i(), ID: s(), List: s(), Title: s(), Detail: s(), Why: s(), Caution: s(), AppliesWhy: s(), Freed: n(),
				Source: Source{Guide: ps(), Section: s(), URL: ps()}, Changes: []Change{{Key: s(), From: ps(), To: ps(), Direction: s(), Snippet: s(), ComputedFrom: s()}, {Key: s(), Direction: "up"}},
			})
			in.StartWith = append(in.StartWith, s())
			in.Rivals = append(in.Rivals, Why{ID: s(), Confidence: s(), Text: s(), For: []string{s()}, Against: []string{s()}})
			in.Proposals = append(in.Proposals, Proposal{
				Remedies: []string{s()}, Text: s(), WorstCase: s(), Costs: []string{s(), s()}, Needs: []string{s()},
				Changes: []Change{{Key: s(), From: ps(), To: ps(), Snippet: s()}, {Key: s(), Direction: "down", From: ps()}},
			})
			in.Victims = append(in.Victims, Victim{Name: ps(), PID: i(), Resident: n(), Cgroup: ps()})
			in.Budget = append(in.Budget, BudgetPart{Part: s(), Bytes: *n(), Low: *n(), High: *n(), How: s()})
		}
		r.Incidents = append(r.Incidents, in)
	}
	return r
}

func TestHostileTextNeverControlsATerminal(t *testing.T) {
	t.Parallel()
	got := text(t, hostile(), Style{Width: 80})
	for _, c := range got {
		if c != '\n' {
			require.False(t, unicode.Is(unicode.C, c), "%U", c)
		}
	}
	assert.Less(t, len(got), 2<<20, "the text has a bound")
}

func TestEveryFigureOfALedgerMayBeHostile(t *testing.T) {
	t.Parallel()
	base := samples(t)["gpu_oom"]
	values := []int64{-1 << 63, -5, 0, 1, 7 << 30, 1<<63 - 1}
	for i := range 8 * len(values) {
		r, in := *base, base.Incidents[0]
		l := *in.Ledger
		v := values[i%len(values)]
		*[]**int64{&l.Capacity, &l.Allocated, &l.ReservedUnallocated, &l.ProcessRest, &l.OtherProcesses, &l.Free, &l.Unexplained, &l.Requested}[i/len(values)] = &v
		in.Ledger = &l
		r.Incidents = []Incident{in}
		for _, line := range strings.Split(text(t, &r, Style{Width: 72}), "\n") {
			require.LessOrEqual(t, columns.StringWidth(line), 72, line)
		}
	}
}

func TestNothingOfTheAnswerIsPrintedTwice(t *testing.T) {
	t.Parallel()
	for name, r := range samples(t) {
		seen := map[string]bool{}
		for _, line := range strings.Split(text(t, r, Style{Width: 200}), "\n") {
			line = strings.TrimSpace(line)
			if len(line) < 40 || strings.HasPrefix(line, "─") || name == "two" {
				continue
			}
			assert.False(t, seen[line], "%s: %s", name, line)
			seen[line] = true
		}
	}
}

func TestTheFirstLinesAnswer(t *testing.T) {
	t.Parallel()
	lines := strings.SplitN(text(t, samples(t)["gpu_oom"], Style{Width: 80}), "\n", 6)
	head := strings.Join(lines[:5], "\n")
	for _, want := range []string{"OUT OF MEMORY", "GPU 0", "log-prob pass", "rank 5", "10.203.6.21", "13.92 GiB", "7.61 of 79.11 GiB", "6.31 GiB short"} {
		assert.Contains(t, head, want)
	}
}

func TestSharesAddUpAndHideNothing(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		sizes []int64
		cells int
		want  []int
	}{
		{[]int64{50, 50}, 10, []int{5, 5}},
		{[]int64{1, 1_000_000}, 10, []int{1, 9}},
		{[]int64{1_000_000, 1}, 10, []int{9, 1}},
		{[]int64{0, 10}, 10, []int{0, 10}},
		{[]int64{1, 1, 1, 1, 1_000_000}, 8, []int{1, 1, 1, 1, 4}},
		{[]int64{0}, 10, []int{0}},
		{nil, 10, []int{}},
	} {
		parts := make([]part, len(tc.sizes))
		for i, n := range tc.sizes {
			parts[i].bytes = n
		}
		assert.Equal(t, tc.want, share(parts, tc.cells), "%v", tc.sizes)
	}
}

func TestWordsWrapAtTheBestPlace(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text  string
		width int
		want  []string
	}{
		{"one two three", 7, []string{"one two", "three"}},
		{"one twothree", 8, []string{"one", "twothree"}},
		{"x /usr/lib/python3/dist-packages/torch", 20, []string{"x /usr/lib/python3/", "dist-packages/torch"}},
		{"abcdefghij", 4, []string{"abcd", "efgh", "ij"}},
		{"漢字漢字", 5, []string{"漢字", "漢字"}},
		{"5.64\u00a0GiB free", 8, []string{"5.64\u00a0GiB", "free"}},
		{"", 5, nil},
	} {
		var got []string
		for _, l := range wrap(flatten([]span{{plain, tc.text}}), tc.width, tc.width) {
			var b strings.Builder
			for _, g := range l {
				b.WriteRune(g.r)
			}
			got = append(got, strings.TrimRight(b.String(), " "))
		}
		assert.Equal(t, tc.want, got, tc.text)
	}
}

func TestWhatIsToBePastedIsBrokenOnlyBehindItself(t *testing.T) {
	t.Parallel()
	p := newPage(Style{Width: 40})
	p.para(block{indent: 3, hang: 5, full: true}, span{code, "actor.model.use_fused_kernels=True"}, span{dim, unbroken("  # was False")})
	assert.Equal(t, "   actor.model.use_fused_kernels=True\n       # was False\n", p.buf.String())
	p = newPage(Style{Width: 60})
	p.para(block{lines: 1}, span{plain, "this sentence is cut between its words and never inside any of them"})
	assert.Equal(t, "this sentence is cut between its words and never inside …\n", p.buf.String())
	p = newPage(Style{Width: 40})
	p.para(block{}, span{plain, "it is larger than the limit, which is 480 GiB in all"})
	assert.Equal(t, "it is larger than the limit, which is\n480 GiB in all\n", p.buf.String())
}

func TestSizesAreForPeople(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 bytes", 900: "900 bytes", 2048: "2 KiB", 5 << 20: "5 MiB", 1 << 30: "1 GiB", 6055903887: "5.64 GiB", 11 << 29: "5.50 GiB", -1 << 30: "-1 GiB",
	} {
		assert.Equal(t, want, strings.ReplaceAll(size(n), string(nbsp), " "))
	}
	assert.Equal(t, "91,234,567", grouped(91234567))
	assert.Equal(t, "-1,000", grouped(-1000))
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestTextGivesTheWritersError(t *testing.T) {
	t.Parallel()
	require.EqualError(t, Text(brokenPipe{}, &Report{}, Style{}), "broken pipe")
}

func FuzzText(f *testing.F) {
	for i, s := range nasty {
		f.Add(s, uint8(40+10*i))
	}
	f.Fuzz(func(t *testing.T, s string, width uint8) {
		w := max(int(width), minWidth)
		sentences := strings.Join(strings.Fields(s), " ") // two blanks begin a command, which is not broken
		r := &Report{Inputs: []Input{{Name: s, Error: &s}}, Incidents: []Incident{{
			Kind: "gpu_oom", Verdict: "memory", PhaseWhy: s, Findings: []string{s}, Root: Root{File: s, Message: s, Host: &s, Trace: []Frame{{File: s, Line: 1, Function: s}}},
			Remedies: []Remedy{{ID: "a", Title: s, Changes: []Change{{Key: s, From: &s, To: &s, Snippet: s}}}}, StartWith: []string{"a"},
			Proposals: []Proposal{{Title: s, Text: sentences, Changes: []Change{{Key: "k", Direction: "down"}}}},
		}}}
		for _, line := range strings.Split(text(t, r, Style{Width: w}), "\n") {
			require.LessOrEqual(t, columns.StringWidth(line), w, fmt.Sprintf("%q", line))
			require.NotContains(t, line, "\x1b")
		}
	})
}

func BenchmarkText(b *testing.B) {
	r := samples(b)["gpu_oom"]
	b.ReportAllocs()
	for b.Loop() {
		if err := Text(&bytes.Buffer{}, r, Style{Width: 100, Color: true}); err != nil {
			b.Fatal(err)
		}
	}
}
